/* Where sandboxes stand, and what becomes of them.
 *
 *     STATE/sandbox/LABEL-LANE     of an attempt that runs; removed when it is over, or emptied for
 *                                  the next one of the lane (exec/sandbox_reuse.c)
 *     STATE/kept/TASK-KEY          of a task with `keep`: removed when it is done, found by the next
 *                                  attempt, also in another run. KEY is that of its computation: with
 *                                  other inputs or another command it begins anew
 *     STATE/sandbox/LABEL-lLANE    what {in.list} names, of a task without a sandbox; goes with it
 *     STATE/failed/TASK            with --keep-failed: of a task that failed for good
 *
 * Runs that share a state at once do not share tasks with `keep`: the key has the name of what they
 * make, and two makers of one file in one folder are refused elsewhere. */
#include "drive/executor_private.h"

#include "base/file.h"
#include "base/tree.h"
#include "exec/sandbox.h"
#include "model/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_kept(const struct executor *x, uint32_t task)
{
    return x->w->flags[task] & TASK_KEEP;
}

/* Those of this task that other inputs or another command left. */
static void drop_other_kept(const char *folder, const char *prefix, const char *name)
{
    struct strbuf path = {0};
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && strcmp(e->d_name, name) != 0)
            tree_remove(path_in(folder, e->d_name, &path));
    if (d)
        closedir(d);
    strbuf_free(&path);
}

/* Named by the task and by its key: 16 digits of each. */
static bool make_kept(struct executor *x, uint32_t task, struct strbuf *path, struct error *err)
{
    struct needs *n = x->o->needs;
    const char *task_name = workflow_task_name(x->w, task);
    struct digest key = {0};
    char prefix[24], name[48];
    uint64_t digits = 0;
    if (n && need_key(n, task, &key))
        memcpy(&digits, key.at, sizeof digits);
    snprintf(prefix, sizeof prefix, "%016llx-",
             (unsigned long long)memo_hash(task_name, strlen(task_name)));
    snprintf(name, sizeof name, "%s%016llx", prefix, (unsigned long long)digits);
    strbuf_printf(path, "%s/kept", x->o->state);
    if (!sandbox_make_parent(path->at, err))
        return false;
    drop_other_kept(path->at, prefix, name);
    strbuf_printf(path, "/%s", name);
    return sandbox_make_again(path->at, x->o->folder, x->w, task, x->absent, err);
}

/* ---- emptied ones ---- */

struct executor_emptied {
    char *path;
    struct strbuf folders;
    struct executor_emptied *next; /* few: one a lane */
};

static struct executor_emptied *emptied_take(struct executor *x, const char *path)
{
    for (struct executor_emptied **e = &x->emptied; *e; e = &(*e)->next)
        if (strcmp((*e)->path, path) == 0) {
            struct executor_emptied *found = *e;
            *e = found->next;
            return found;
        }
    return NULL;
}

static void emptied_free(struct executor_emptied *e)
{
    strbuf_free(&e->folders);
    free(e->path);
    free(e);
}

void executor_drop_emptied(struct executor *x)
{
    for (struct executor_emptied *e; (e = x->emptied);) {
        x->emptied = e->next;
        tree_remove(e->path);
        emptied_free(e);
    }
}

/* On agents transfers and other runs start processes, too: nobody could say that none is left. */
static bool empty_sandbox(struct executor *x, uint32_t task, const char *sandbox)
{
    if (is_kept(x, task) || x->o->node || !x->sandbox_mode || x->w->flags[task] & TASK_CALL ||
        !x->children || !children_are_alone(x->children))
        return false;
    struct executor_emptied *e = mem_new_zero(struct executor_emptied, 1);
    if (!sandbox_empty(sandbox, x->sandbox_mode, &e->folders)) {
        emptied_free(e);
        return false;
    }
    e->path = mem_copy_string(sandbox);
    e->next = x->emptied;
    x->emptied = e;
    return true;
}

bool executor_make_sandbox(struct executor *x, uint32_t task, const char *kind, uint32_t number,
                           struct strbuf *path, struct error *err)
{
    if (is_kept(x, task))
        return make_kept(x, task, path, err);
    strbuf_printf(path, "%s/sandbox", x->o->state);
    x->has_sandboxes = x->has_sandboxes || sandbox_make_parent(path->at, err);
    strbuf_printf(path, "/%s-%s%u", x->o->label ? x->o->label : "run", kind, number);
    if (!x->has_sandboxes)
        return false;
    struct executor_emptied *e = emptied_take(x, path->at);
    bool good = e ? sandbox_make_in(path->at, x->o->folder, &e->folders, x->w, task, x->absent, err)
                  : sandbox_make(path->at, x->o->folder, x->w, task, x->absent, err);
    struct stat s;
    if (good && !x->sandbox_mode && stat(path->at, &s) == 0)
        x->sandbox_mode = s.st_mode & 07777;
    if (e)
        emptied_free(e);
    return good;
}

void executor_drop_sandbox(struct executor *x, uint32_t task, const char *sandbox)
{
    int before = errno; /* whoever failed wants to say why */
    if (!is_kept(x, task))
        tree_remove(sandbox);
    errno = before;
}

/* The name of a task as a folder's. */
static void failed_path(const struct executor *x, uint32_t task, struct strbuf *out)
{
    enum { NAME_MOST = 180 }; /* bytes: a name in a folder holds 255 */
    const char *name = workflow_task_name(x->w, task);
    strbuf_printf(out, "%s/failed/", x->o->state);
    for (size_t i = 0; name[i] && i < NAME_MOST; i++)
        strbuf_add_char(
            out, name[i] == '/' || name[i] == '.' || (unsigned char)name[i] < 32 ? '_' : name[i]);
    if (strlen(name) > NAME_MOST || strpbrk(name, "/."))
        strbuf_printf(out, "-%u", task);
}

static void remark_sandbox(struct executor *x, uint32_t task, const char *path)
{
    struct strbuf line = {0};
    if (x->result->remarks.n >= RUN_REMARKS)
        return;
    strbuf_printf(&line, "the sandbox of task '%s' is kept: %s", workflow_task_name(x->w, task),
                  path);
    array_push(&x->result->remarks, strbuf_steal(&line));
}

/* Its links to inputs are relative to where it stood, or absolute: the folder that it is moved to is
 * as deep as the one that it was made in. */
void executor_leave_sandbox(struct executor *x, uint32_t task, const char *sandbox, bool done,
                            bool last)
{
    if (!done && is_kept(x, task)) {
        if (last && x->o->keep_failed)
            remark_sandbox(x, task, sandbox);
        return;
    }
    if (!done && last && x->o->keep_failed) {
        struct strbuf path = {0};
        failed_path(x, task, &path);
        tree_remove(path.at);
        struct error ignored = {0};
        if (make_parents(path.at, &ignored) && rename(sandbox, path.at) == 0) {
            remark_sandbox(x, task, path.at);
            strbuf_free(&path);
            return;
        }
        strbuf_free(&path);
    }
    if (!done || !empty_sandbox(x, task, sandbox))
        tree_remove(sandbox);
}

/* ---- {in.list} ---- */

bool executor_make_lists(const struct executor *x, uint32_t task, const char *folder,
                         struct error *err)
{
    if (x->w->flags[task] & TASK_CALL || !command_has_lists(x->w, task))
        return true;
    struct strbuf name = {0}, names = {0}, path = {0};
    bool good = true;
    for (size_t at = 0; good && command_next_list(x->w, task, x->absent, &at, &name, &names);)
        good = file_write(path_in(folder, name.at, &path), names.at, names.n, err);
    strbuf_free(&name);
    strbuf_free(&names);
    strbuf_free(&path);
    return good;
}

bool executor_list_apart(struct executor *x, uint32_t task, uint32_t lane, char **folder,
                         struct error *err)
{
    *folder = NULL;
    if (x->w->flags[task] & TASK_CALL || !command_has_lists(x->w, task))
        return true;
    if (!x->o->state)
        return error_set(err, ERROR_INPUT,
                         "its command names {in.list}, a file that has no place in a run without a "
                         "sandbox and without a state");
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/sandbox", x->o->state);
    bool good = sandbox_make_parent(path.at, err);
    strbuf_printf(&path, "/%s-l%u", x->o->label ? x->o->label : "run", lane);
    tree_remove(path.at); /* of a run that was killed */
    if (good && (mkdir(path.at, 0777) != 0 || !(*folder = realpath(path.at, NULL))))
        good = error_set(err, ERROR_FAILED, "%s: cannot make the folder of lists: %s", path.at,
                         strerror(errno));
    good = good && executor_make_lists(x, task, *folder, err);
    strbuf_free(&path);
    return good;
}
