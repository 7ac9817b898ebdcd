/* What a replay will touch soon, asked for now.
 *
 * A plan stands in the order of its starts, and the replay goes through it in about that order. So what is touched
 * next lies a little further on in some thirty arrays, by placement, task, object and demand, in an order that the
 * processor cannot guess. Where they do not fit into the cache each line comes from memory once, and nobody should
 * wait for it. Each step reads what the step before it brought:
 *
 *   done      + 256       + 384      + 512                                + 2048
 *   ─┴──────────┴───────────┴──────────┴────────────────────────────────────┴─────  placements of the plan
 *               demands     objects    columns of the task                  what is kept by placement: its data
 *                                                                           arrive long before it starts
 *
 * The distances are wide enough for a replay that leaves the plan's order by some hundred tasks, and their lines,
 * half a megabyte, stay in the cache of one core until they are needed. Twice or half as far is as good. */
#include "base/prefetch.h"
#include "sim/replay_state.h"

enum { AHEAD_DEMANDS = 256, AHEAD_OBJECTS = 384, AHEAD_TASKS = 512, AHEAD_PLACEMENTS = 2048 };

/* A line of eight numbers, or of two placements. */
static void ahead_placements(const struct replay *r, uint32_t i)
{
    const struct replay_result *out = r->result;
    for (uint32_t k = 0; k < REPLAY_STRIDE; k += 2)
        prefetch_read(&r->plan->placements.at[i + k]);
    prefetch_read(&r->duration[i]);
    prefetch_write(&out->start[i]);
    prefetch_write(&out->finish[i]);
    prefetch_write(&out->data_ready[i]);
    prefetch_write(&r->cause[i]);
    prefetch_write(&r->core_missing[i]);
    prefetch_write(&r->demands.missing[i]);
}

static void ahead_task(const struct replay *r, uint32_t task)
{
    const struct workflow *w = r->workflow;
    prefetch_read(&w->memory[task]);
    prefetch_read(&w->cores[task]);
    prefetch_read(&w->succ_off[task]);
    prefetch_read(&w->object_off[task]);
    prefetch_read(&w->object_end[task]);
    prefetch_read(&r->demands.copy_off[task]);
    prefetch_read(&r->demands.copy[task]);
}

static void ahead_objects(const struct replay *r, uint32_t task)
{
    const struct workflow *w = r->workflow;
    uint32_t object = w->object_off[task];
    prefetch_read(&r->demands.off[object]);
    prefetch_read(&w->size[object]);
    prefetch_read(&w->producer[object]);
    prefetch_read(&w->succ_object[w->succ_off[task]]);
}

/* Mostly there are few: the first and the last of them stand in all their lines. */
static void ahead_demands(const struct replay *r, uint32_t task)
{
    const struct demands *d = &r->demands;
    uint32_t first = d->off[r->workflow->object_off[task]];
    uint32_t end = d->off[r->workflow->object_end[task]];
    prefetch_write(&d->at[first]);
    prefetch_write(&d->at[end]);
    prefetch_write(&d->state[first]);
}

void replay_look_ahead(const struct replay *r, uint32_t done)
{
    if (r->result->nplacements - done < AHEAD_PLACEMENTS + REPLAY_STRIDE)
        return;
    const struct placement *next = &r->plan->placements.at[done];
    ahead_placements(r, done + AHEAD_PLACEMENTS);
    for (uint32_t k = 0; k < REPLAY_STRIDE; k++)
        ahead_task(r, next[AHEAD_TASKS + k].task);
    for (uint32_t k = 0; k < REPLAY_STRIDE; k++)
        ahead_objects(r, next[AHEAD_OBJECTS + k].task);
    for (uint32_t k = 0; k < REPLAY_STRIDE; k++)
        ahead_demands(r, next[AHEAD_DEMANDS + k].task);
}
