/* What whoever follows a run tells its agents: how long tasks take, and where a plan that was made anew
 * places them.
 *
 * T1. What a plan placed on an agent that is gone nobody takes for `plan_patience`, while somebody follows the
 *     run who may plan anew; then anybody does: late and elsewhere is better than never. Whoever began the run
 *     may not have reached this agent yet: a young run counts as followed.
 * T2. Each agent looks at its own word for a task. Two that differ for a moment pass it on once more than
 *     needed, and nobody starts what is not his by his own view. */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"
#include "model/future.h"
#include "model/guide.h"

#include <math.h>

/* Seconds for a client to hear of it, to plan (5 s at most, session/replan.c) and to tell. */
static const double plan_patience = 12;

bool job_runs_ahead(const struct job *j)
{
    return !workflow_is_open(j->w) && !j->w->growth && !workflow_decides(j->w);
}

double job_patience(const struct job *j)
{
    bool young = clock_seconds() - j->loaded < plan_patience;
    return j->watchers.n || young ? plan_patience : 0;
}

/* What the ticket says of it was too little. */
void job_lasts(struct job *j, struct bytes *in, bool *malformed)
{
    uint32_t task = bytes_u32(in);
    double seconds = bytes_f64(in);
    *malformed = !bytes_end(in) || !isfinite(seconds);
    if (*malformed || task >= j->w->ntasks)
        return;
    while (j->ticket.seconds.n <= task)
        array_push(&j->ticket.seconds, 0);
    if (seconds > j->ticket.seconds.at[task])
        j->ticket.seconds.at[task] = seconds;
}

bool job_has_time_for(const struct job *j, uint32_t task)
{
    const struct agent *a = j->agent;
    return !(a->ends > 0) || task >= j->ticket.seconds.n ||
           clock_seconds() + j->ticket.seconds.at[task] <= a->ends;
}

/* Everybody's words: those of agents that are gone may have become others'. */
void job_places_changed(struct job *j)
{
    const struct agent *a = j->agent;
    if (!job_is_scheduling(j) || !driver_sched(j->driver))
        return;
    for (uint32_t node = 0; node < a->peers.n || node == a->node; node++)
        if (node == a->node || peer_is_up(a, node))
            job_capacity_changed(j, node);
}

/* All of it is looked at before anything is changed. */
void job_placed(struct job *j, struct bytes *in, bool *malformed)
{
    uint32_t n = bytes_u32(in);
    *malformed = in->bad || in->n != (size_t)n * 8;
    if (*malformed || !workflow_is_placed(j->w))
        return;
    for (; n; n--) {
        uint32_t task = bytes_u32(in), agent = bytes_u32(in);
        if (!workflow_place(j->w, task, agent))
            job_log(j, "a plan that was made anew cannot be kept to here");
    }
    job_log(j, "the plan was made anew: tasks of agents that are gone have others");
    job_places_changed(j);
}

/* T1: the time is over for one that went. Cheap: few workflows are placed. */
void job_look_at_places(struct job *j)
{
    const struct agent *a = j->agent;
    if (!workflow_is_placed(j->w))
        return;
    uint64_t has = peer_capacity(a, a->node, j->w, job_patience(j)).has;
    if (has != j->had)
        job_places_changed(j);
    j->had = has;
}
