/* What stands where an output belongs: see standing.h.
 *
 * What a task left is known in two ways: by the name of the file (memo_left()), and by the last
 * record of its task, which memos of before have too. Either will do. */
#include "memo/standing.h"

#include "base/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *standing_path(const struct needs *n, uint32_t object, struct strbuf *path)
{
    char label[512];
    return path_in(n->folder, workflow_object_label(n->w, object, label, sizeof label), path);
}

/* Of the last record under the name of the task that makes it. */
static bool recorded_output(const struct needs *n, uint32_t object, struct digest *out)
{
    const struct workflow *w = n->w;
    uint32_t task = w->producer[object];
    const char *name = workflow_task_name(w, task);
    const struct memo_task *last = memo_last(n->memo, memo_hash(name, strlen(name)));
    uint32_t first = w->object_off[task], count = w->object_end[task] - first;
    if (!last || last->noutputs != count)
        return false;
    for (uint32_t k = 0; k < count; k++)
        if ((w->out_object ? w->out_object[first + k] : first + k) == object) {
            *out = memo_outputs(n->memo, last)[k];
            return true;
        }
    return false;
}

enum standing standing_at(struct needs *n, uint32_t object)
{
    struct strbuf path = {0};
    struct stat s;
    enum standing found = STANDING_FOREIGN;
    if (lstat(standing_path(n, object, &path), &s) != 0) {
        strbuf_free(&path);
        return STANDING_NOTHING;
    }
    struct digest left, recorded, now;
    struct error err = {0};
    double size;
    bool by_name = memo_left(n->memo, path.at, &left);
    bool by_task = recorded_output(n, object, &recorded);
    if (by_name || by_task) {
        bool readable = memo_digest(n->memo, path.at, false, &now, &size, &err);
        bool ours = readable && ((by_name && digest_equal(&now, &left)) ||
                                 (by_task && digest_equal(&now, &recorded)));
        found = ours ? STANDING_OURS : STANDING_CHANGED;
    }
    strbuf_free(&path);
    return found;
}

/* Through a memo of its own: names in a sandbox are not worth remembering. */
bool standing_is_same(struct needs *n, uint32_t object, const char *path)
{
    struct strbuf here = {0};
    struct digest a, b;
    double size_a, size_b;
    struct error err = {0};
    struct stat s, t;
    standing_path(n, object, &here);
    bool same = stat(here.at, &s) == 0 && stat(path, &t) == 0 &&
                (S_ISDIR(s.st_mode) ? S_ISDIR(t.st_mode) : s.st_size == t.st_size);
    struct memo *scratch = same ? memo_open(NULL, NULL, &err) : NULL;
    same = same && memo_digest(scratch, here.at, false, &a, &size_a, &err) &&
           memo_digest(scratch, path, false, &b, &size_b, &err) && digest_equal(&a, &b);
    memo_close(scratch, NULL);
    strbuf_free(&here);
    return same;
}

bool standing_keep(const struct needs *n, uint32_t object, bool copied, struct strbuf *kept,
                   struct error *err)
{
    enum { MOST = 10000 }; /* copies of one name: then something else is wrong */
    struct strbuf path = {0};
    size_t before = kept->n;
    bool good = false;
    standing_path(n, object, &path);
    for (int i = 1; i <= MOST && !good; i++) {
        kept->n = before;
        strbuf_printf(kept, "%s.before-weft", path.at);
        if (i > 1)
            strbuf_printf(kept, ".%d", i);
        const char *name = kept->at + before;
        struct stat s;
        if (lstat(name, &s) == 0)
            continue;
        if (copied ? tree_copy(path.at, name, err)
                   : rename_new(path.at, name) ||
                         (errno != EEXIST &&
                          error_set(err, ERROR_FAILED, "%s: cannot be kept as %s: %s", path.at,
                                    name, strerror(errno))))
            good = true;
        else if (err->kind != ERROR_NONE)
            break;
    }
    if (!good && err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED,
                  "%s: is not weft's to overwrite, and no name is free to keep it; --overwrite "
                  "replaces it",
                  path.at);
    strbuf_free(&path);
    return good;
}
