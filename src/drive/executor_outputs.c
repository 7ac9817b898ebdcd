/* Outputs at whose place something stands that weft did not make (memo/standing.h): kept beside before
 * it is replaced. A task in a sandbox is asked for when its outputs are moved into place; one that
 * works in the folder itself, or writes to an absolute name, before it starts. */
#include "drive/executor_private.h"

#include "base/tree.h"
#include "memo/standing.h"

#include <sys/stat.h>

static bool keep_one(struct executor *x, uint32_t object, bool copied, struct error *err)
{
    char label[512];
    struct strbuf kept = {0};
    bool good = standing_keep(x->o->needs, object, copied, &kept, err);
    if (good)
        run_result_kept(x->result, workflow_object_label(x->w, object, label, sizeof label),
                        kept.at);
    strbuf_free(&kept);
    return good;
}

/* A task that an agent computes again for one lost output makes them all, and others may be reading those
 * that were not lost: another file in their place would void what they do. So it is with whatever came
 * from elsewhere while a task that makes it ran on here. Not what is damaged. On one machine who reads
 * them waits for whoever makes them. */
static bool stands_well(struct executor *x, uint32_t object)
{
    struct needs *n = x->o->needs;
    char label[512];
    struct digest now;
    double size;
    struct error err = {0};
    if (!x->o->node || !n->present[object] || digest_is_zero(&n->content[object]))
        return false;
    path_in(x->o->folder, workflow_object_label(x->w, object, label, sizeof label), &x->path);
    return memo_digest(n->memo, x->path.at, false, &now, &size, &err) &&
           digest_equal(&now, &n->content[object]);
}

/* What weft made is replaced, and what has the same content; the rest is moved out of the way. */
enum sandbox_verdict executor_clear_way(void *executor, uint32_t object, const char *from,
                                        struct error *err)
{
    struct executor *x = executor;
    if (stands_well(x, object))
        return SANDBOX_LEAVES;
    bool clear = x->o->overwrite || standing_at(x->o->needs, object) < STANDING_CHANGED ||
                 standing_is_same(x->o->needs, object, from) || keep_one(x, object, false, err);
    return clear ? SANDBOX_REPLACES : SANDBOX_FAILS;
}

/* Does the task write it itself, at its place? */
static bool is_written_in_place(const struct executor *x, uint32_t object, bool sandboxed)
{
    char label[512];
    return !sandboxed || workflow_object_label(x->w, object, label, sizeof label)[0] == '/';
}

/* It may be written over from now on. */
static void own_output(struct executor *x, uint32_t object)
{
    char label[512];
    struct digest d;
    double size;
    struct error err = {0};
    struct stat s;
    struct memo *memo = x->o->needs->memo;
    path_in(x->o->folder, workflow_object_label(x->w, object, label, sizeof label), &x->path);
    if (memo_digest(memo, x->path.at, true, &d, &size, &err) && stat(x->path.at, &s) == 0 &&
        S_ISDIR(s.st_mode))
        memo_learn_folder(memo, x->path.at, &d);
}

/* As a copy, since the task may go on from what is there. Then it is known as kept: one that is tried
 * again keeps no second copy. */
bool executor_keep_standing(struct executor *x, uint32_t task, bool sandboxed, struct error *err)
{
    const struct workflow *w = x->w;
    bool good = true;
    if (!x->o->needs || x->o->overwrite)
        return true;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task] && good; o++)
        if (is_written_in_place(x, o, sandboxed) &&
            standing_at(x->o->needs, o) >= STANDING_CHANGED) {
            good = keep_one(x, o, true, err);
            if (good)
                own_output(x, o);
        }
    return good;
}

/* What a failed attempt left of its outputs is no user's. */
void executor_own_leftovers(struct executor *x, uint32_t task, bool sandboxed)
{
    const struct workflow *w = x->w;
    for (uint32_t o = w->object_off[task]; x->o->needs && o < w->object_end[task]; o++)
        if (is_written_in_place(x, o, sandboxed))
            own_output(x, o);
}
