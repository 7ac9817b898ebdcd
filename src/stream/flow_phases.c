/* A stream in phases: a flow pauses between two items, and another goes on with its ends, its filters and what
 * was counted. So a stream can begin without a plan, measure, and go on by one; or go on by another when times
 * have changed.
 *
 * I1. A pause is an end of the source for the flow's threads: all that is in work leaves first. Nothing here
 *     runs beside them.
 * I2. A filter that keeps state goes on in its process: its station moves. Others get new ones, since who has
 *     how many of them is the plan's business. */
#include "stream/flow_private.h"

#include "model/costs.h"

#include <string.h>
#include <unistd.h>

void flow_pause_at(struct flow *f, uint64_t item)
{
    atomic_store_explicit(&f->pause_at, item, memory_order_relaxed);
}

/* A stop, or a failure, ends a stream that also pauses. */
bool flow_paused(const struct flow *f)
{
    return f->paused && f->error.kind == ERROR_NONE && !atomic_load(&f->stopping);
}

/* As flow_run() ends one that does not pause; what failed before is the cause, not what its end says. */
void flow_end_paused(struct flow *f)
{
    struct error ignored = {0};
    flow_end_stations(f);
    sink_close(f->sink, &ignored);
    f->sink = NULL;
}

bool flow_stopped(const struct flow *f)
{
    return atomic_load(&f->stopping);
}

const struct plan *flow_plan(const struct flow *f)
{
    return f->o.plan;
}

/* The one of its home; a plan that duplicates what keeps state is not made in the middle of a stream. */
static struct station *phase_station(struct flow *f, uint32_t task)
{
    for (size_t d = 0; d < f->lineup.duties.n; d++)
        if (f->lineup.duties.at[d].task == task)
            return &f->stations[f->first_station[d]];
    return NULL;
}

/* I2. The rest of the old stations ends in order, and may have something to say about it. */
static void phase_move_stations(struct flow *old, struct flow *f)
{
    for (uint32_t t = 0; t < f->o.workflow->ntasks; t++) {
        struct station *from = phase_station(old, t), *to = phase_station(f, t);
        if (!(f->o.workflow->flags[t] & TASK_NOT_REPLICABLE) || !from || !to)
            continue;
        *to = *from;
        *from = (struct station){0};
    }
    flow_end_stations(old);
}

/* Whatever an item or its user may ask for later. */
static void phase_move_counts(struct flow *old, struct flow *f)
{
    memcpy(&f->latencies, &old->latencies, sizeof f->latencies);
    f->taken = old->taken;
    f->done = old->done;
    f->empty = old->empty;
    f->given_up = old->given_up;
    f->retried = old->retried;
    memcpy(&f->departures, &old->departures, sizeof f->departures);
    f->before = mem_new_zero(struct flow_task_figures, f->o.workflow->ntasks + 1);
    for (uint32_t t = 0; t < f->o.workflow->ntasks; t++)
        flow_task(old, t, &f->before[t]);
    f->failures.at = old->failures.at;
    f->failures.n = old->failures.n;
    f->failures.cap = old->failures.cap;
    old->failures.at = NULL;
    old->failures.n = old->failures.cap = 0;
}

/* The ends, and what they were opened with; the source knows the descriptor by which it is woken. */
static void phase_move_ends(struct flow *old, struct flow *f)
{
    if (f->wake >= 0)
        close(f->wake);
    f->wake = old->wake;
    f->source = old->source;
    f->sink = old->sink;
    sink_heed(f->sink, &f->stopping);
    f->result = old->result;
    f->result_names = old->result_names;
    f->filters = old->filters;
    f->filters.context = f;
    f->good = old->good;
    f->bad = old->bad;
    old->wake = -1;
    old->source = NULL;
    old->sink = NULL;
    old->result = NULL;
    old->result_names = NULL;
    old->filters = (struct filters){0};
    old->good = old->bad = NULL;
}

struct flow *flow_next(struct flow *old, const struct plan *plan, const struct platform *platform,
                       struct error *err)
{
    struct flow_options o = old->o;
    o.plan = plan;
    o.platform = platform;
    struct flow *f = flow_blank(&o, err);
    if (!f)
        return NULL;
    if (!lineup_make(&f->lineup, o.workflow, plan, 1, err)) {
        flow_close(f);
        return NULL;
    }
    f->base = atomic_load(&old->taken);
    f->costs = costs_lenient(o.workflow, platform);
    flow_open_workers(f);
    posts_open(f);
    phase_move_stations(old, f);
    phase_move_counts(old, f);
    phase_move_ends(old, f);
    if (old->error.kind != ERROR_NONE) /* a filter that did not end well */
        flow_fail(f, false, &old->error);
    return f;
}
