/* Tasks that join while others run: what the executor keeps by task gets longer. What an array needs
 * that no task has had so far is made when the first comes that has it. O(new), expected. */
#include "drive/executor_private.h"

#include "exec/limit.h"

#include <math.h>

/* Arrays that are there already; the others are made with room for all when they are needed. */
static void lengthen_arrays(struct executor *x, uint32_t first)
{
    if (x->room >= x->w->ntasks)
        return;
    x->room = x->w->ntasks + first / 2;
    x->priority = mem_resize(x->priority, x->room);
    if (x->cores)
        x->cores = mem_resize(x->cores, x->room);
    if (x->memory) {
        x->memory = mem_resize(x->memory, x->room);
        x->rung = mem_resize(x->rung, x->room);
    }
    if (x->retries)
        x->retries = mem_resize(x->retries, x->room);
    if (x->task_disk)
        x->task_disk = mem_resize(x->task_disk, x->room);
}

/* The first tasks with memory, or that differ from what the workflow says of them. */
static void make_arrays(struct executor *x, uint32_t first)
{
    const struct workflow *w = x->w;
    bool memory = x->memory, cores = x->cores, retries = x->retries;
    for (uint32_t t = first; t < w->ntasks; t++) {
        memory |= w->memory[t] > 0;
        cores |= w->cores[t] > 1 && !executor_takes_room(x, t);
        retries |=
            (w->retries && w->retries[t]) || (w->more_off && w->more_off[t + 1] > w->more_off[t]);
    }
    if (memory && !x->memory) {
        x->memory = mem_new_zero(double, x->room);
        x->rung = mem_new_zero(uint8_t, x->room);
        x->limits = x->o->unlimited ? NULL : limits_new("weft", x->o->cores);
        children_limit(x->children, x->limits);
    }
    if (cores && !x->cores) {
        x->cores = mem_new(uint32_t, x->room);
        for (uint32_t t = 0; t < first; t++)
            x->cores[t] = w->cores[t];
    }
    if (retries && !x->retries)
        x->retries = mem_new_zero(uint32_t, x->room);
}

void executor_grow(struct executor *x, uint32_t first, const double *priority)
{
    const struct workflow *w = x->w;
    const struct needs *n = x->o->needs;
    bool has_calls = false;
    x->has_grown = true;
    executor_drop_sequel(x); /* more may follow than it knows */
    lengthen_arrays(x, first);
    make_arrays(x, first);
    for (uint32_t t = first; t < w->ntasks; t++) {
        bool room = executor_takes_room(x, t), done = n && n->task[t] == NEED_NOT;
        uint32_t rungs = w->more_off ? w->more_off[t + 1] - w->more_off[t] : 0;
        uint32_t retries = w->retries ? w->retries[t] : 0;
        x->priority[t] = done ? INFINITY : priority ? priority[t] : -(double)t;
        if (x->cores)
            x->cores[t] = room ? w->cores[t] : 1;
        if (x->memory) {
            x->memory[t] = room ? w->memory[t] : 0;
            x->rung[t] = 0;
        }
        if (x->retries)
            x->retries[t] = retries > rungs ? retries : rungs;
        if (x->task_disk)
            x->task_disk[t] = done ? 0 : executor_room_needed(x, t);
        has_calls |= w->flags[t] & TASK_CALL;
    }
    executor_grow_decisions(x);
    executor_hide_more(x, first);
    executor_grow_things(x, first);
    if (has_calls && !x->calls)
        executor_open_calls(x);
    else if (has_calls && !x->data) /* those before had no objects */
        executor_prepare_data(x, &(struct error){0});
}
