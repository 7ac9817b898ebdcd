/* Tasks that die with this node. A batch system that takes its node back signals everything in it: the
 * agent, and the tasks that it runs. Such an end is no failure of the task's: it goes back to the
 * scheduler, which gives it to others, and no attempt was made.
 *
 *     ended badly ── the agent was told to leave, and it was killed ──▶ lost
 *          │         (in an allocation: or it failed after that, since it got the signal, too)
 *          ├─ in an allocation, and the agent was not told (yet) ──▶ held for a moment
 *          │                                                           ├─ told meanwhile ──▶ lost
 *          │                                                           └─ not told ──▶ a failure
 *          └─ else ──▶ a failure: whoever ends a task by hand means the task
 *
 * And tasks that are others' by now, since they took this node for dead (job_holds()).
 *
 * Invariants:
 *   I1. A task that is held here is parked in its executor (executor_judge()), once.
 *   I2. One that spans several nodes is held by its gang (job_gang.c), which also asks the others. */
#include "cluster/agent/agent_state.h"

#include "base/clock.h"

/* Seconds. Signals to one node's processes go out one after the other, on a machine that may be busy:
 * one that was killed by one waits longer than one that ended by itself, which may have had the signal
 * and a handler for it. */
static const double killed_wait = 2, failed_wait = 0.2;

enum run_blame job_blame(void *job, uint32_t task, bool killed)
{
    struct job *j = job;
    struct agent *a = j->agent;
    double now = clock_seconds();
    if (a->told && (killed || a->o->allocated)) {
        if (a->o->allocated && killed && a->dying == 0)
            a->dying = now;
        return RUN_BLAMES_NODE;
    }
    if (workflow_span(j->w, task) > 1)
        return gang_doubt(j, task) ? RUN_BLAMES_NOBODY : RUN_BLAMES_TASK;
    if (!a->o->allocated)
        return RUN_BLAMES_TASK;
    array_push(&j->doubts, (struct job_doubt){task, now + (killed ? killed_wait : failed_wait)});
    return RUN_BLAMES_NOBODY;
}

/* In a folder that all share, what it made would take the place of what another has made, and others
 * read. Elsewhere it is a copy like any other; but a failure would stop the run. */
enum run_holding job_holds(void *job, uint32_t task, bool good)
{
    const struct job *j = job;
    const struct sched *sched = driver_sched(j->driver);
    if (!sched || (good && !j->ticket.shared))
        return RUN_HOLDS;
    if (sched_is_lost(sched, task))
        return RUN_LOST;
    return agent_is_certain(j->agent) && !sched_is_doubted(sched, task) ? RUN_HOLDS : RUN_DOUBTS;
}

void job_blame_tick(struct job *j)
{
    double now = clock_seconds();
    for (size_t i = j->doubts.n; i--;) {
        struct job_doubt d = j->doubts.at[i];
        if (now < d.until)
            continue;
        j->doubts.at[i] = array_pop(&j->doubts);
        executor_judge(j->executor, d.task, false);
    }
}

void job_blame_told(struct job *j)
{
    while (j->doubts.n) {
        struct job_doubt d = array_pop(&j->doubts);
        if (executor_judge(j->executor, d.task, true) && j->agent->o->allocated &&
            j->agent->dying == 0)
            j->agent->dying = clock_seconds();
    }
    for (size_t i = 0; i < j->gangs.running.n; i++) {
        struct job_gang *x = &j->gangs.running.at[i];
        if (!(x->doubted > 0))
            continue;
        x->doubted = 0;
        executor_judge(j->executor, x->task, true);
    }
}
