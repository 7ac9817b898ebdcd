/* Intermediate files: how much of the disk they take, and the end of those that are temporary. */
#include "base/tree.h"
#include "drive/state.h"

/* A temporary file that nobody reads is a result, and stays. */
static bool may_go(const struct workflow *w, uint32_t object)
{
    return workflow_is_temporary(w, object) && workflow_is_intermediate(w, object);
}

double disk_expected(const struct workflow *w, uint32_t task)
{
    double sum = 0;
    for (uint32_t o = w->object_off[task]; o < w->object_off[task + 1]; o++)
        sum += workflow_is_intermediate(w, o) ? w->size[o] : 0;
    return sum;
}

void disk_begin(struct run *r)
{
    const struct workflow *w = r->w;
    const struct needs *n = r->o->needs;
    if (!n || !w->nobjects)
        return;
    r->left = mem_new_zero(uint32_t, w->nobjects);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (n->task[t] == NEED_NOT)
            continue;
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            r->left[w->in_object[i]]++;
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (n->present[o] && workflow_is_intermediate(w, o))
            r->live += n->bytes[o];
    r->result->peak_disk = r->live;
}

static void remove_temporary(struct run *r, uint32_t object)
{
    struct needs *n = r->o->needs;
    char label[512];
    const char *name = workflow_object_label(r->w, object, label, sizeof label);
    if (!n->present[object] || !tree_remove(path_in(r->o->folder, name, &r->path)))
        return;
    n->present[object] = 0;
    r->live -= n->bytes[object];
    r->disk_changed = true;
}

void disk_task_done(struct run *r, uint32_t task, bool made)
{
    const struct workflow *w = r->w;
    struct needs *n = r->o->needs;
    if (!r->left)
        return;
    if (made)
        for (uint32_t o = w->object_off[task]; o < w->object_off[task + 1]; o++)
            if (workflow_is_intermediate(w, o)) {
                r->live += n->bytes[o];
                r->disk_changed = true;
            }
    if (r->live > r->result->peak_disk)
        r->result->peak_disk = r->live;
    if (n->task[task] == NEED_NOT)
        return; /* was not counted among the consumers */
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t object = w->in_object[i];
        if (--r->left[object] == 0 && may_go(w, object))
            remove_temporary(r, object);
    }
}

/* Temporary files that an interrupted run left, and that nobody will read any more. */
void disk_end(struct run *r)
{
    const struct workflow *w = r->w;
    if (!r->left || !w->object_flags)
        return;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        if (!may_go(w, o) || r->left[o])
            continue;
        remove_temporary(r, o);
    }
}
