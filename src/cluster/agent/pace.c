/* What an agent tells of how quick it is: the speed of a core, measured once, and how much of its machine others
 * use. For whoever plans for the agents that are there (session/following_agents.c).
 *
 *   P1. Nothing is measured before the agent has nothing to do for a moment: neither its start nor a task waits
 *       for it.
 *   P2. A task of ours counts as busy on each of its cores: what is left of the machine's busy time is others'. So
 *       tasks that wait hide some of it, and none of ours is ever counted as another's.
 *   P3. The memory of its control groups may change while it runs (a job that is resized, systemctl set-property): it is never
 *       taken for more than the agent was given, what runs goes on, and what begins fits into what there is now. */
#include "cluster/agent/agent_state.h"
#include "exec/measure.h"

#include <math.h>
#include <stdlib.h>

/* Of each second in the average: some ten seconds count. */
static const double recent = 0.2;

static double pace_own_cores(const struct agent *a)
{
    double cores = 0;
    for (size_t i = 0; i < a->jobs.n; i++)
        cores += a->jobs.at[i]->executor ? executor_running(a->jobs.at[i]->executor) : 0;
    return cores;
}

/* P3. Tests have control groups of their own. */
static void pace_memory(struct agent *a)
{
    const char *root = getenv("WEFT_LIMITS_ROOT");
    double quota, limit, before = a->memory_now;
    measure_limits(root ? root : "", &quota, &limit);
    if (!(a->o->memory > 0) && !isfinite(limit))
        return;
    a->memory_now = a->o->memory > 0 ? fmin(a->o->memory, limit) : limit;
    if (a->memory_now == before)
        return;
    agent_log(a, "memory for tasks is %.0f MB now (it was %.0f MB)", a->memory_now / 1e6,
              before / 1e6);
    for (size_t i = 0; i < a->jobs.n; i++)
        job_places_changed(a->jobs.at[i]);
}

void pace_second(struct agent *a)
{
    pace_memory(a);
    bool first = !(a->look.whole > 0);
    double busy = measure_busy(&a->look), own = pace_own_cores(a);
    long present = sysconf(_SC_NPROCESSORS_ONLN);
    double others = fmax(busy - own / (double)(present > 0 ? present : 1), 0); /* P2 */
    if (!isnan(busy))
        a->load = first ? others : a->load + recent * (others - a->load);
    if (!(a->speed > 0) && !a->jobs.n && !first) /* P1 */
        a->speed = measure_core();
}
