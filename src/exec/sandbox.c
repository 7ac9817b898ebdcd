/* Sandboxes: a folder a task, in which only its declared inputs are seen.
 *
 *     STATE/sandbox/LABEL-LANE/
 *         in.txt       ──▶ symlink to FOLDER/in.txt        an input; relative, if that is shorter
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

#include "base/array.h"
#include "base/mem.h"
#include "model/memory_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* NONE: nobody who has a sandbox reads or makes it. */
static uint32_t sandboxed_task_of(const struct workflow *w, uint32_t object)
{
    uint32_t n, made = w->producer[object];
    const uint32_t *readers = workflow_consumers(w, object, &n);
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t t = i < n ? readers[i] : made;
        if (t != NONE && w->command && w->command[t] && !(w->flags[t] & TASK_IN_PLACE))
            return t;
    }
    return NONE;
}

bool sandbox_check_names(const struct workflow *w, struct error *err)
{
    char label[512];
    for (uint32_t o = 0; o < w->nobjects; o++) {
        const char *name = sandbox_object_name(w, o, label, sizeof label);
        if (name[0] != '.' || (name[1] && stays_inside(name)))
            continue;
        uint32_t t = sandboxed_task_of(w, o);
        if (t != NONE)
            return error_at(err, workflow_text(w, w->file), w->line ? w->line[t] : 0,
                            "task '%.200s': '%.200s' %s; %s", workflow_task_name(w, t), name,
                            name[1] ? "lies above the workflow's folder, where a sandbox has no "
                                      "place for it"
                                    : "is the workflow's folder itself, in which all files lie",
                            name[1] ? "give its absolute name" : "name the files");
    }
    return true;
}

/* ---- making ---- */

/* ext4 gives no inode out again within a minute of its file's removal, and passes over all of those one
 * by one whenever it makes a file in their group: with some thousand sandboxes made and removed in one
 * group, a link costs ten times as much. Folders below the "top of a hierarchy" are given groups of
 * their own choosing. Other file systems refuse the mark, and that is fine. */
bool sandbox_make_parent(const char *path, struct error *err)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST &&
        (!make_parents(path, err) || mkdir(path, 0777) != 0))
        return error_set(err, ERROR_FAILED, "%s: cannot make the folder of sandboxes: %s", path,
                         strerror(errno));
    if (!folder_check_owner(path, err)) /* who may write there decides what tasks read */
        return false;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags = 0;
    if (fd < 0)
        return true;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
        flags |= FS_TOPDIR_FL;
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    close(fd);
    return true;
}

/* Was this folder made for links to inputs in it, which were named before the folder itself? Reached
 * through the link of a folder it would be the user's own: that is there already, and stays. */
static bool is_made_folder(const char *at, const char *sandbox)
{
    char here[PATH_MAX], top[PATH_MAX];
    struct stat s;
    if (lstat(at, &s) != 0 || !S_ISDIR(s.st_mode) || !realpath(at, here) || !realpath(sandbox, top))
        return false;
    size_t n = strlen(top);
    return strncmp(here, top, n) == 0 && here[n] == '/';
}

/* Does the folder in which this name stands lie in the sandbox itself, not behind a link? */
static bool is_in_sandbox(const char *at, const char *sandbox)
{
    char above[PATH_MAX], here[PATH_MAX], top[PATH_MAX];
    snprintf(above, sizeof above, "%s", at);
    char *slash = strrchr(above, '/');
    if (!slash || !realpath(sandbox, top))
        return false;
    *slash = 0;
    size_t n = strlen(top);
    return realpath(above, here) && strncmp(here, top, n) == 0 && (here[n] == '/' || !here[n]);
}

/* mkdir is tried before anything is looked at: mostly the folder above is there, and this
 * is not. */
static bool sandbox_make_folder(const char *path, struct error *err)
{
    if (mkdir(path, 0777) == 0)
        return true;
    bool good = false;
    if (errno == EEXIST)
        good = tree_remove(path) && mkdir(path, 0777) == 0;
    else if (errno == ENOENT)
        good = make_parents(path, err) && mkdir(path, 0777) == 0;
    return good || error_set(err, ERROR_FAILED, "%s: cannot make the task's folder: %s", path,
                             strerror(errno));
}

/* Where links lead. A file system keeps a short target in the link itself, and needs a block of the
 * disk for a longer one, which costs ten times as much and, where freed blocks are discarded, a
 * hundred times: 3,000 inputs took seconds. So a long absolute target is written relative to its
 * link, if that is short. */
struct link_base {
    const char *sandbox;
    char here[PATH_MAX]; /* the workflow's folder, absolute */
    char up[PATH_MAX];   /* from the sandbox to it, "../../../"; "": not known */
    bool looked;         /* for `up`: only long targets need it */
};

enum { SHORT_TARGET = 59 }; /* bytes that ext4 keeps in the inode; others keep as many or more */

/* "../" for every folder of the sandbox's path below the part that both share, then the rest of
 * the workflow's. */
static void link_base_look(struct link_base *b)
{
    char from[PATH_MAX];
    b->looked = true;
    if (!realpath(b->sandbox, from))
        return;
    size_t common = 0, i = 0;
    for (; from[i] && from[i] == b->here[i]; i++)
        common = from[i] == '/' ? i : common;
    if ((!from[i] || from[i] == '/') && (!b->here[i] || b->here[i] == '/'))
        common = i;
    size_t n = 0;
    for (const char *c = from + common; *c && n + 4 < sizeof b->up; c++)
        if (*c == '/')
            n += (size_t)snprintf(b->up + n, 4, "../");
    const char *rest = b->here + common + (b->here[common] == '/');
    if (n + strlen(rest) + 2 < sizeof b->up)
        snprintf(b->up + n, sizeof b->up - n, "%s%s", rest, *rest ? "/" : "");
    else
        b->up[0] = 0;
}

static void link_target(struct link_base *b, const char *name, struct strbuf *out)
{
    path_in(b->here, name, out);
    if (out->n <= SHORT_TARGET)
        return;
    if (!b->looked)
        link_base_look(b);
    size_t depth = 0;
    for (const char *c = name; *c; c++)
        depth += *c == '/';
    if (!b->up[0] || 3 * depth + strlen(b->up) + strlen(name) > SHORT_TARGET)
        return;
    strbuf_clear(out);
    while (depth--)
        strbuf_add(out, "../");
    strbuf_printf(out, "%s%s", b->up, name);
}

static bool sandbox_link_inputs(const char *path, const char *folder, const struct workflow *w,
                                uint32_t task, const uint8_t *absent, struct error *err)
{
    struct strbuf at = {0}, target = {0};
    struct link_base base;
    base.sandbox = path;
    base.looked = false;
    base.up[0] = 0;
    char label[512], plain[PATH_MAX];
    bool good = realpath(folder, base.here) ||
                error_set(err, ERROR_FAILED, "%s: the workflow's folder is gone: %s", folder,
                          strerror(errno));
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && good; i++) {
        const char *name = sandbox_object_name(w, w->in_object[i], label, sizeof label);
        if (name[0] == '/' || (absent && absent[w->in_object[i]]) ||
            workflow_stays_in_memory(w, w->in_object[i]))
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
        size_t length = strlen(name);
        if (name[length - 1] == '/') { /* a folder: the link to it has the name without the slash */
            snprintf(plain, sizeof plain, "%.*s", (int)(length - 1), name);
            name = plain;
        }
        path_in(path, name, &at);
        link_target(&base, name, &target);
        int made = symlink(target.at, at.at);
        if (made != 0 && errno == ENOENT)
            made = make_parents(at.at, err) ? symlink(target.at, at.at) : -1;
        int why = made != 0 ? errno : 0;
        if (why == EEXIST && is_made_folder(at.at, path) &&
            (!tree_remove(at.at) || symlink(target.at, at.at) != 0))
            why = errno;
        if (why && why != EEXIST)
            good =
                error_set(err, ERROR_FAILED, "%s: cannot link an input: %s", at.at, strerror(why));
    }
    strbuf_free(&at);
    strbuf_free(&target);
    return good;
}

/* Links to inputs, and folders for outputs. */
bool sandbox_fill(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const uint8_t *absent, struct error *err)
{
    struct strbuf at = {0};
    char label[512];
    bool good = sandbox_link_inputs(path, folder, w, task, absent, err);
    for (uint32_t i = w->object_off[task]; i < w->object_end[task] && good; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (!stays_inside(name) && name[0] != '/')
            good =
                error_set(err, ERROR_INPUT,
                          "task '%.200s': output '%.200s' lies above the workflow's folder; give "
                          "its absolute path, or say `sandbox: false`",
                          workflow_task_name(w, task), name);
        else if (strchr(name, '/') && !workflow_object_is(w, w->out_object[i], OBJECT_INSIDE))
            good = make_parents(path_in(path, name, &at), err);
    }
    strbuf_free(&at);
    return good;
}

bool sandbox_make(const char *path, const char *folder, const struct workflow *w, uint32_t task,
                  const uint8_t *absent, struct error *err)
{
    return sandbox_make_folder(path, err) && sandbox_fill(path, folder, w, task, absent, err);
}

/* The task may have put something in place of an input: that goes. What lies in a folder which is an
 * input, too, is reached through its link, and is not ours. */
bool sandbox_make_again(const char *path, const char *folder, const struct workflow *w,
                        uint32_t task, const uint8_t *absent, struct error *err)
{
    struct strbuf at = {0};
    char label[512];
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return sandbox_make(path, folder, w, task, absent, err);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        const char *name = sandbox_object_name(w, w->in_object[i], label, sizeof label);
        struct stat s;
        if (!stays_inside(name))
            continue;
        path_in(path, name, &at);
        if (at.at[at.n - 1] == '/')
            at.at[--at.n] = 0;
        if (lstat(at.at, &s) == 0 && is_in_sandbox(at.at, path))
            tree_remove(at.at);
    }
    strbuf_free(&at);
    return sandbox_fill(path, folder, w, task, absent, err);
}

/* ---- taking outputs ---- */

/* The names of a task's files, sorted: each of many is looked for among many. */
struct declared {
    ARRAY(const char *) out, in;
    ARRAY(char *) labels; /* of files without a name: the texts are ours */
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *declared_name(struct declared *d, const struct workflow *w, uint32_t object)
{
    char label[512];
    const char *name = sandbox_object_name(w, object, label, sizeof label);
    if (name != label)
        return name;
    array_push(&d->labels, mem_copy_string(label));
    return array_last(&d->labels);
}

static void declared_find(struct declared *d, const struct workflow *w, uint32_t task)
{
    *d = (struct declared){0};
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        array_push(&d->out, declared_name(d, w, w->out_object[i]));
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
        array_push(&d->in, declared_name(d, w, w->in_object[i]));
    if (d->out.n)
        qsort(d->out.at, d->out.n, sizeof *d->out.at, compare_texts);
    if (d->in.n)
        qsort(d->in.at, d->in.n, sizeof *d->in.at, compare_texts);
}

static void declared_free(struct declared *d)
{
    for (size_t i = 0; i < d->labels.n; i++)
        free(d->labels.at[i]);
    array_free(&d->labels);
    array_free(&d->out);
    array_free(&d->in);
}

/* Is a name, or something inside the folder of that name, among these? `name` ends at `n`. */
static bool is_among(const char *const *names, size_t count, const char *name, size_t n, bool below)
{
    size_t low = 0, high = count;
    while (low < high) { /* the first that is not before `name`; with `below`, not before name/ */
        size_t middle = (low + high) / 2;
        int c = strncmp(names[middle], name, n);
        bool before = c ? c < 0 : below && (unsigned char)names[middle][n] < '/';
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < count && strncmp(names[low], name, n) == 0 && names[low][n] == (below ? '/' : 0);
}

/* Is the name that of an input or output, a folder above one, or inside of an output that
 * is one? O(log files). */
static bool is_declared(const struct declared *d, const char *name)
{
    size_t n = strlen(name);
    for (int below = 0; below < 2; below++)
        if (is_among(d->out.at, d->out.n, name, n, below) ||
            is_among(d->in.at, d->in.n, name, n, below))
            return true;
    while (n--)
        if (name[n] == '/' && is_among(d->out.at, d->out.n, name, n, false))
            return true;
    return false;
}

/* What else lies in the sandbox, its top two levels, at most ten. */
static void list_below(const char *path, const char *below, const struct declared *d, int depth,
                       uint32_t *count, struct strbuf *out)
{
    struct strbuf at = {0}, name = {0};
    DIR *folder = opendir(path_in(path, below, &at));
    struct dirent *e;
    while (folder && (e = readdir(folder)) != NULL && *count < 10) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strncmp(e->d_name, ".weft-list-", 11) == 0) /* ours: {in.list} */
            continue;
        strbuf_clear(&name);
        if (strcmp(below, ".") != 0)
            strbuf_printf(&name, "%s/", below);
        strbuf_add(&name, e->d_name);
        if (!is_declared(d, name.at)) {
            strbuf_printf(out, "%s%s", *count ? ", " : "", name.at);
            ++*count;
        } else if (depth < 2 && e->d_type == DT_DIR) {
            list_below(path, name.at, d, depth + 1, count, out);
        }
    }
    if (folder)
        closedir(folder);
    strbuf_free(&at);
    strbuf_free(&name);
}

static void list_undeclared(const char *path, const struct workflow *w, uint32_t task,
                            uint32_t *count, struct strbuf *out)
{
    struct declared d;
    declared_find(&d, w, task);
    list_below(path, ".", &d, 0, count, out);
    declared_free(&d);
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
    enum sandbox_verdict verdict =
        way && lstat(to, &s) == 0 ? way->clear(way->context, object, from, err) : SANDBOX_REPLACES;
    if (verdict == SANDBOX_LEAVES) /* else it would count as left undeclared */
        tree_remove(from);
    return verdict == SANDBOX_REPLACES ? replace_by(from, to, err) : verdict == SANDBOX_LEAVES;
}

/* Always false: the message guesses at a misspelt name by showing what else is there. */
static bool sandbox_missing_output(const char *path, const struct workflow *w, uint32_t task,
                                   const char *name, struct error *err)
{
    struct strbuf others = {0};
    uint32_t count = 0;
    if (path)
        list_undeclared(path, w, task, &count, &others);
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
    for (uint32_t i = w->object_off[task]; i < w->object_end[task] && good; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (!workflow_stays_in_memory(w, w->out_object[i]) &&
            stat(path_in(path ? path : folder, name, &from), &s) != 0)
            good = sandbox_missing_output(path, w, task, name, err);
    }
    /* I2 */
    for (uint32_t i = w->object_off[task]; i < w->object_end[task] && good && path; i++) {
        const char *name = sandbox_object_name(w, w->out_object[i], label, sizeof label);
        if (name[0] != '/' && !workflow_object_is(w, w->out_object[i], OBJECT_INSIDE) &&
            !workflow_stays_in_memory(w, w->out_object[i]))
            good = move_one(path_in(path, name, &from), path_in(folder, name, &to),
                            w->out_object[i], way, err);
    }
    if (good && path && remarks) {
        uint32_t count = 0;
        list_undeclared(path, w, task, &count, remarks);
    }
    strbuf_free(&from);
    strbuf_free(&to);
    return good;
}
