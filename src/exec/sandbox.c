/* Sandboxes: a folder a task, in which only its declared inputs are seen.
 *
 *     STATE/sandbox/LABEL-LANE/
 *         in.txt       ──▶ symlink to FOLDER/in.txt        an input
 *         sub/                                             the folder of an output sub/out.txt
 *         sub/out.txt  ── rename ──▶ FOLDER/sub/out.txt    when the task has ended well
 *
 * I1. Outputs are looked at before one is moved: either all are there, or none is touched.
 * I2. Each is moved by one rename, so a reader sees the old file or the new one, never a half.
 *     Where the sandbox is on another file system it is copied beside its place first. What weft
 *     did not make is not replaced before its owner was asked (struct sandbox_way).
 * I3. A crash between two renames leaves some outputs new and some old; the record (memo) does not
 *     have the task then, and it runs again.
 * I4. Names are those of the workflow, not to be trusted: one that leads out of the folder is
 *     refused; an absolute one is not the sandbox's business.
 *
 * Inputs are linked, so a task can write through a link to the file itself. What keeps it from
 * counting is a comparison before and after (memo/inputs.h), for all users, places and file systems
 * alike. What else was tried, and why it is not done:
 *
 *   - files between tasks without write bits: `cp {in} {out}` hands the bits on, and the next
 *     `>> {out}` of the same command fails. Ordinary commands do that; root is not kept out anyway.
 *   - a read-only bind mount of the folder for the thread that spawns: works for root, costs
 *     nothing a task, and `chmod +x {in}`, outputs by absolute names and tools that write beside
 *     what realpath() shows them fail. For others than root it needs a user namespace, without
 *     their groups and set-uid programs.
 *   - reflink copies: only on some file systems, and a script that looks for its neighbours through
 *     its own path does not find them any more.
 *   - Landlock: a list of what is allowed. Denying one file takes a rule for each of its neighbours,
 *     and files that come into being later (mktemp) are denied with it. */
#include "exec/sandbox.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name that stays below the sandbox: no "..", not absolute. */
static bool stays_inside(const char *name)
{
    if (name[0] == '/')
        return false;
    for (const char *at = name; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            return false;
        if (!strchr(at, '/'))
            break;
    }
    return true;
}

static const char *sandbox_object_name(const struct workflow *w, uint32_t object, char *label,
                                       size_t size)
{
    return workflow_object_label(w, object, label, size);
}

/* mkdir is tried before anything is looked at: mostly the folder above is there, and this
 * is not. */
bool sandbox_make(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  struct error *err)
{
    struct strbuf at = {0}, target = {0};
    char label[512], here[PATH_MAX];
    bool good = true;
    if (mkdir(path, 0777) != 0) {
        if (errno == EEXIST)
            good = tree_remove(path) && mkdir(path, 0777) == 0;
        else if (errno == ENOENT)
            good = make_parents(path, err) && mkdir(path, 0777) == 0;
        else
            good = false;
        if (!good) {
            error_set(err, ERROR_FAILED, "%s: cannot make the task's folder: %s", path,
                      strerror(errno));
            goto out;
        }
    }
    /* links must be absolute, since the task may look at them from anywhere below */
    if (!realpath(folder, here)) {
        good = error_set(err, ERROR_FAILED, "%s: the workflow's folder is gone: %s", folder,
                         strerror(errno));
        goto out;
    }
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && good; i++) {
        const char *name = sandbox_object_name(w, w->in_object[i], label, sizeof label);
        if (name[0] == '/')
            continue;
        if (!stays_inside(name)) {
            good =
                error_set(err, ERROR_INPUT,
                          "task '%.200s': input '%.200s' lies above the workflow's folder, where "
                          "a sandbox cannot link it; give its absolute path, or say `sandbox: "
                          "false`",
                          workflow_task_name(w, task), name);
            break;
        }
        path_in(path, name, &at);
        path_in(here, name, &target);
        int made = symlink(target.at, at.at);
        if (made != 0 && errno == ENOENT)
            made = make_parents(at.at, err) ? symlink(target.at, at.at) : -1;
        if (made != 0 && errno != EEXIST)
            good = error_set(err, ERROR_FAILED, "%s: cannot link an input: %s", at.at,
                             strerror(errno));
    }
    for (uint32_t i = w->object_off[task]; i < w->object_off[task + 1] && good; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (!stays_inside(name) && name[0] != '/')
            good =
                error_set(err, ERROR_INPUT,
                          "task '%.200s': output '%.200s' lies above the workflow's folder; give "
                          "its absolute path, or say `sandbox: false`",
                          workflow_task_name(w, task), name);
        else if (strchr(name, '/'))
            good = make_parents(path_in(path, name, &at), err);
    }
out:
    strbuf_free(&at);
    strbuf_free(&target);
    return good;
}

/* ---- taking outputs ---- */

/* Is the name that of an input or output, a folder above one, or inside of an output that
 * is one? */
static bool is_declared(const struct workflow *w, uint32_t task, const char *name)
{
    char label[512];
    for (uint32_t i = w->object_off[task]; i < w->object_off[task + 1]; i++) {
        const char *known = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        size_t n = strlen(known);
        if (strcmp(known, name) == 0 ||
            (strncmp(known, name, strlen(name)) == 0 && known[strlen(name)] == '/') ||
            (strncmp(known, name, n) == 0 && name[n] == '/'))
            return true;
    }
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        const char *known = sandbox_object_name(w, w->in_object[i], label, sizeof label);
        if (strcmp(known, name) == 0 ||
            (strncmp(known, name, strlen(name)) == 0 && known[strlen(name)] == '/'))
            return true;
    }
    return false;
}

/* What else lies in the sandbox, its top two levels, at most ten. */
static void list_undeclared(const char *path, const char *below, const struct workflow *w,
                            uint32_t task, int depth, uint32_t *count, struct strbuf *out)
{
    struct strbuf at = {0}, name = {0};
    DIR *d = opendir(path_in(path, below, &at));
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL && *count < 10) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        strbuf_clear(&name);
        if (strcmp(below, ".") != 0)
            strbuf_printf(&name, "%s/", below);
        strbuf_add(&name, e->d_name);
        if (!is_declared(w, task, name.at)) {
            strbuf_printf(out, "%s%s", *count ? ", " : "", name.at);
            ++*count;
        } else if (depth < 2 && e->d_type == DT_DIR) {
            list_undeclared(path, name.at, w, task, depth + 1, count, out);
        }
    }
    if (d)
        closedir(d);
    strbuf_free(&at);
    strbuf_free(&name);
}

/* Whatever stands there is replaced: also a folder, also from another file system. */
static bool replace_by(const char *from, const char *to, struct error *err)
{
    if (rename(from, to) == 0)
        return true;
    if (errno == ENOTEMPTY || errno == EEXIST || errno == EISDIR || errno == ENOTDIR) {
        if (tree_remove(to) && rename(from, to) == 0)
            return true;
    }
    if (errno != EXDEV)
        return error_set(err, ERROR_FAILED, "%s: cannot be moved into place: %s", to,
                         strerror(errno));
    struct strbuf beside = {0};
    strbuf_printf(&beside, "%s.weft-%d", to, (int)getpid());
    tree_remove(beside.at);
    bool good = tree_copy(from, beside.at, err) && replace_by(beside.at, to, err);
    if (!good)
        tree_remove(beside.at);
    strbuf_free(&beside);
    return good;
}

/* One output into place by a rename. Mostly nothing stands there, which the rename tells. */
static bool move_one(const char *from, const char *to, uint32_t object,
                     const struct sandbox_way *way, struct error *err)
{
    struct stat s;
    if (rename_new(from, to))
        return true;
    if (errno == ENOENT) { /* its folder is not there, or was removed meanwhile */
        if (!make_parents(to, err))
            return false;
        if (rename_new(from, to))
            return true;
    }
    if (way && lstat(to, &s) == 0 && !way->clear(way->context, object, from, err))
        return false;
    return replace_by(from, to, err);
}

/* Always false: the message guesses at a misspelt name by showing what else is there. */
static bool sandbox_missing_output(const char *path, const struct workflow *w, uint32_t task,
                                   const char *name, struct error *err)
{
    struct strbuf others = {0};
    uint32_t count = 0;
    if (path)
        list_undeclared(path, ".", w, task, 0, &count, &others);
    error_set(err, ERROR_FAILED,
              "output '%.200s' is missing after the command ended well%s%.400s%s", name,
              count ? "; it left undeclared: " : "", strbuf_text(&others),
              count ? "" : "; is it written somewhere else?");
    strbuf_free(&others);
    return false;
}

bool sandbox_take(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const struct sandbox_way *way, struct strbuf *remarks, struct error *err)
{
    struct strbuf from = {0}, to = {0};
    char label[512];
    struct stat s;
    bool good = true;
    /* I1 */
    for (uint32_t i = w->object_off[task]; i < w->object_off[task + 1] && good; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (stat(path_in(path ? path : folder, name, &from), &s) != 0)
            good = sandbox_missing_output(path, w, task, name, err);
    }
    /* I2 */
    for (uint32_t i = w->object_off[task]; i < w->object_off[task + 1] && good && path; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (name[0] != '/')
            good = move_one(path_in(path, name, &from), path_in(folder, name, &to),
                            w->out_object[i], way, err);
    }
    if (good && path && remarks) {
        uint32_t count = 0;
        list_undeclared(path, ".", w, task, 0, &count, remarks);
    }
    strbuf_free(&from);
    strbuf_free(&to);
    return good;
}
