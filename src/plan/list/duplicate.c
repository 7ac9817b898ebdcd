/* Copies of late predecessors; duplicate.h says which.
 *
 * Only the critical parent (whose data arrives last) is worth a copy, and only one whose copy ends
 * before the task could have started. Copies are tried with schedule_try() and taken back, node by
 * node, and the best node's are made again for good. schedule_plan() leaves out copies that serve
 * nobody in the end. */
#include "plan/list/duplicate.h"

struct duplicator *duplicator_new(const struct list_run *l)
{
    const struct workflow *w = l->w;
    struct duplicator *d = mem_new_zero(struct duplicator, 1);
    d->l = *l;
    d->may_copy = mem_new(bool, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        d->may_copy[t] = true;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            d->may_copy[t] &= w->succ_object[e] != NONE;
    }
    return d;
}

void duplicator_free(struct duplicator *d)
{
    free(d->may_copy);
    array_free(&d->copied);
    array_free(&d->best_copied);
    free(d);
}

/* The predecessor whose data reaches the node last; NONE when that is no message or the task may
 * not be copied. */
static uint32_t critical_parent(const struct duplicator *d, uint32_t task, uint32_t node)
{
    const struct workflow *w = d->l.w;
    uint32_t last = NONE;
    double latest = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        double there = schedule_arrival(d->l.s, w->pred_task[e], w->pred_object[e], node);
        if (there > latest) {
            latest = there;
            last = w->pred_task[e];
        }
    }
    if (last == NONE || !d->may_copy[last] || schedule_has_copy(d->l.s, last, node))
        return NONE;
    return last;
}

/* The earliest slot of the task on the node with the help of copies, which are listed in d->copied.
 * Leaves no trace. */
static struct schedule_slot slot_with_copies(struct duplicator *d, uint32_t task, uint32_t node)
{
    struct schedule *s = d->l.s;
    d->copied.n = 0;
    struct schedule_slot slot = schedule_earliest(s, task, node);
    if (!(costs_time(d->l.costs, task, node) < INFINITY) || critical_parent(d, task, node) == NONE)
        return slot;
    schedule_try(s);
    for (;;) {
        uint32_t parent = critical_parent(d, task, node);
        if (parent == NONE)
            break;
        struct schedule_slot copy = schedule_earliest(s, parent, node);
        if (!(copy.finish < slot.start))
            break;
        schedule_duplicate(s, parent, copy);
        struct schedule_slot sooner = schedule_earliest(s, task, node);
        if (!(sooner.finish < slot.finish))
            break;
        slot = sooner;
        array_push(&d->copied, parent);
    }
    schedule_undo(s);
    return slot;
}

struct schedule_slot duplicator_place(struct duplicator *d, uint32_t task, uint32_t only)
{
    struct schedule_slot best = {.finish = INFINITY};
    uint32_t first = only == NONE ? 0 : only;
    uint32_t end = only == NONE ? d->l.p->nnodes : only + 1;
    d->best_copied.n = 0;
    for (uint32_t n = first; n < end; n++) {
        struct schedule_slot slot = slot_with_copies(d, task, n);
        if (!(slot.finish < best.finish))
            continue;
        best = slot;
        d->best_copied.n = 0;
        for (size_t i = 0; i < d->copied.n; i++)
            array_push(&d->best_copied, d->copied.at[i]);
    }
    /* the same questions on the same state give the same slots */
    for (size_t i = 0; i < d->best_copied.n; i++) {
        uint32_t parent = d->best_copied.at[i];
        schedule_duplicate(d->l.s, parent, schedule_earliest(d->l.s, parent, best.node));
    }
    return best;
}
