/* Folders of a sandbox that is over, for the next one in its place. Where a file system frees the block of a
 * folder at once, and discards it, removing four folders costs a task as much as everything else that is done
 * about it: so of a family, whose members have the same folders, they stay, and are empty.
 *
 *   I1. What the next task finds is what it would find in a sandbox that was made anew: every folder has the
 *       mode and the owner that weft gave it, and those stay that hold a link or will hold an output.
 *   I2. Nobody is left who could still write into them: who empties a sandbox has looked for that. */
#include "exec/sandbox.h"

#include "base/path.h"
#include "base/tree.h"
#include "model/memory_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    REUSED_FOLDERS = 16, /* more are a tree of the task's own: it goes */
    REUSED_DEPTH = 8,
    REUSED_FILES = 64, /* of the next task: each is compared with each folder */
};

struct emptying {
    mode_t mode;
    uint32_t count;
    struct strbuf at;   /* the folder at hand, below the sandbox; with a slash behind it */
    struct strbuf *all; /* those below the sandbox, outer ones first, a NUL behind each */
};

/* Takes the descriptor. At most REUSED_DEPTH deep. */
static bool empty_folder(struct emptying *e, int fd, int depth)
{
    struct stat s;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    bool good = d && depth < REUSED_DEPTH && ++e->count <= REUSED_FOLDERS && fstat(fd, &s) == 0 &&
                (s.st_mode & 07777) == e->mode && s.st_uid == geteuid();
    struct dirent *x;
    while (good && (x = readdir(d)) != NULL) {
        if (strcmp(x->d_name, ".") == 0 || strcmp(x->d_name, "..") == 0)
            continue;
        if (x->d_type != DT_DIR) {
            good = x->d_type != DT_UNKNOWN && unlinkat(fd, x->d_name, 0) == 0;
            continue;
        }
        size_t before = e->at.n;
        strbuf_add(&e->at, x->d_name);
        strbuf_add_bytes(e->all, e->at.at, e->at.n + 1);
        strbuf_add_char(&e->at, '/');
        good = empty_folder(
            e, openat(fd, x->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), depth + 1);
        e->at.n = before;
    }
    if (d)
        closedir(d);
    return good;
}

bool sandbox_empty(const char *path, mode_t mode, struct strbuf *folders)
{
    struct emptying e = {.mode = mode, .all = folders};
    strbuf_clear(folders);
    bool good = empty_folder(&e, open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), 0);
    strbuf_free(&e.at);
    return good;
}

/* Would a sandbox of this task have the folder? */
static bool is_folder_of(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    return strncmp(name, folder, n) == 0 && name[n] == '/' && name[n + 1];
}

static bool is_needed(const char *folder, const struct workflow *w, uint32_t task,
                      const uint8_t *absent)
{
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (!(absent && absent[o]) && !workflow_stays_in_memory(w, o) && w->object_name[o] &&
            is_folder_of(folder, pool_text(&w->text, w->object_name[o])))
            return true;
    }
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++) {
        uint32_t o = w->out_object[i];
        if (!workflow_object_is(w, o, OBJECT_INSIDE) && w->object_name[o] &&
            is_folder_of(folder, pool_text(&w->text, w->object_name[o])))
            return true;
    }
    return false;
}

bool sandbox_make_in(const char *path, const char *folder, const struct strbuf *folders,
                     const struct workflow *w, uint32_t task, const uint8_t *absent,
                     struct error *err)
{
    struct strbuf at = {0};
    bool good = w->in_off[task + 1] - w->in_off[task] + w->object_end[task] - w->object_off[task] <=
                REUSED_FILES;
    for (size_t i = 0; good && i < folders->n; i += strlen(folders->at + i) + 1)
        if (!is_needed(folders->at + i, w, task, absent)) /* one in it went with it: that is fine */
            good = tree_remove(path_in(path, folders->at + i, &at));
    strbuf_free(&at);
    return good ? sandbox_fill(path, folder, w, task, absent, err)
                : sandbox_make(path, folder, w, task, absent, err);
}
