#include "sched/decide.h"
#include <math.h>
#include <strings.h>

static const char *const policy_names[SCHED_POLICIES] = {
    [SCHED_FLDS] = "flds", [SCHED_RLDS] = "rlds", [SCHED_MLB] = "mlb", [SCHED_MDL] = "mdl"};

const char *sched_policy_name(enum sched_policy policy)
{
    return (unsigned)policy < SCHED_POLICIES ? policy_names[policy] : NULL;
}

enum sched_policy sched_policy_find(const char *name)
{
    for (unsigned i = 0; i < SCHED_POLICIES; i++)
        if (strcasecmp(name, policy_names[i]) == 0)
            return (enum sched_policy)i;
    return SCHED_POLICIES;
}

double decide_threshold(enum sched_policy policy, double t)
{
    return policy == SCHED_MLB ? INFINITY : policy == SCHED_MDL ? 0 : t;
}

/* size / bandwidth / length <= t, multiplied out so that zeros need no cases. */
static int negligible(double size, double bandwidth, double length, double t)
{
    return size <= 0 || t == INFINITY || size <= t * bandwidth * length;
}

enum decision decide(double all_size, double max_size, uint32_t max_node, uint32_t self,
                     double bandwidth, double length, double t)
{
    if (negligible(all_size, bandwidth, length, t) || negligible(max_size, bandwidth, length, t) ||
        max_node == UINT32_MAX)
        return DECIDE_SHARED;
    return max_node == self ? DECIDE_LOCAL : DECIDE_PUSH;
}

enum decision decide_vectors(const double *data_size, const uint32_t *parent_node, size_t n,
                             uint32_t self, double bandwidth, double length, double t)
{
    double all = 0, max_size = 0;
    uint32_t max_node = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        all += data_size[i];
        if (i == 0 || data_size[i] > max_size) {
            max_size = data_size[i];
            max_node = parent_node[i];
        }
    }
    return decide(all, max_size, max_node, self, bandwidth, length, t);
}

uint32_t decide_relax(uint32_t queued, double done, double seconds, double tt)
{
    if (!queued || seconds <= 0)
        return 0;
    if (done <= 0) {
        if (seconds <= tt)
            return 0;
        done = 1;
    }
    double throughput = done / seconds;
    double run_time = queued / throughput;
    if (run_time <= tt)
        return 0;
    /* Rounded up, since the rest must be below tt; the small step back keeps 40 % of 5000 at 2000
     * in floating point. */
    double move = ceil((run_time - tt) / run_time * queued - 1e-6);
    return move < 0 ? 0 : move > queued ? queued : (uint32_t)move;
}
