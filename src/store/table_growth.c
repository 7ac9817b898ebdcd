/* The tables of a workflow that grows (model/growth.h): longer columns, the new tasks absent. */
#include "store/table.h"

#include <math.h>

/* Columns of tasks with room for more; `first` of them are filled. */
static void table_lengthen_tasks(struct store_table *t, uint32_t first)
{
    uint32_t n = t->workflow->ntasks;
    if (t->task_room < n) {
        size_t room = t->task_room = n + first / 2;
        t->status = mem_resize(t->status, room);
        t->attempts = mem_resize(t->attempts, room);
        t->epoch = mem_resize(t->epoch, room);
        t->holder = mem_resize(t->holder, room);
        t->first_holder = mem_resize(t->first_holder, room);
        t->waiting = mem_resize(t->waiting, room);
        t->submitted = mem_resize(t->submitted, room);
        t->queued = mem_resize(t->queued, room);
        t->started = mem_resize(t->started, room);
        t->ended = mem_resize(t->ended, room);
        if (t->last_move)
            t->last_move = mem_resize(t->last_move, room);
    }
    for (uint32_t i = first; i < n; i++) {
        t->status[i] = META_ABSENT;
        t->attempts[i] = 0;
        t->epoch[i] = 0;
        t->holder[i] = t->first_holder[i] = NONE;
        t->submitted[i] = t->queued[i] = t->started[i] = t->ended[i] = NAN;
        if (t->last_move)
            t->last_move[i] = NONE;
    }
}

/* What joins may come after tasks that are done: it does not wait for those. */
void store_table_grow(struct store_table *t)
{
    const struct workflow *w = t->workflow;
    uint32_t first = t->ntasks, object = t->nobjects;
    table_lengthen_tasks(t, first);
    t->ntasks = w->ntasks;
    for (uint32_t i = first; i < w->ntasks; i++) {
        t->waiting[i] = 0;
        for (uint32_t e = w->pred_off[i]; e < w->pred_off[i + 1]; e++)
            t->waiting[i] += !meta_is_complete(t->status[w->pred_task[e]]);
    }
    if (t->object_room < w->nobjects) {
        t->object_room = w->nobjects + object / 2;
        if (t->size)
            t->size = mem_resize(t->size, t->object_room);
        if (t->last_copy)
            t->last_copy = mem_resize(t->last_copy, t->object_room);
    }
    t->nobjects = w->nobjects;
    for (uint32_t o = object; o < w->nobjects; o++) {
        if (t->size)
            t->size[o] = w->size[o];
        if (t->last_copy)
            t->last_copy[o] = NONE;
    }
}
