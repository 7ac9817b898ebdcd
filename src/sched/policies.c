/* The rows of the policies (policies.h; MATRIX, section 4.2). Each is a function of its input
 * alone, without state, so that the paper's numbers can be tested directly (policy_test.c); the
 * machinery that calls them, the monitor and the switching of section 4.4, stands in policy.c. */
#include "sched/policies.h"
#include <math.h>
#include <strings.h>

#define POLICY_DECLARED(NUMBER, name) extern const struct policy policy_##name;
SCHED_POLICY_LIST(POLICY_DECLARED)

/* Algorithm 1 with the configured threshold. */
static enum decision policy_by_threshold(const struct decide_input *in)
{
    return decide(in, in->t);
}

/* Algorithm 1 with t = infinity: no data are so large that they bind a task. */
static enum decision policy_share_all(const struct decide_input *in)
{
    return decide(in, INFINITY);
}

/* Algorithm 1 with t = 0: any data bind it. */
static enum decision policy_stay_with_data(const struct decide_input *in)
{
    return decide(in, 0);
}

const struct policy policy_flds = {
    .name = "flds",
    .meaning = "flexible load balancing and data-locality segregation",
    .summary = "as rlds, and a queue that would last longer than tt gives tasks away",
    .decide = policy_by_threshold,
    .relax = decide_relax,
};

const struct policy policy_rlds = {
    .name = "rlds",
    .meaning = "rigid load balancing and data-locality segregation",
    .summary = "a task stays with data that take longer than t times its length to move",
    .decide = policy_by_threshold,
};

const struct policy policy_mlb = {
    .name = "mlb",
    .meaning = "maximized load balancing",
    .summary = "anybody may take any task: t is infinite",
    .decide = policy_share_all,
    .shares_all = true,
};

const struct policy policy_mdl = {
    .name = "mdl",
    .meaning = "maximized data-locality",
    .summary = "each task runs where the largest of its inputs is: t is 0",
    .decide = policy_stay_with_data,
};

#define POLICY_ROW(NUMBER, name) [SCHED_##NUMBER] = &policy_##name,
static const struct policy *const policies[SCHED_POLICIES] = {SCHED_POLICY_LIST(POLICY_ROW)};

const struct policy *sched_policy(enum sched_policy policy)
{
    return (unsigned)policy < SCHED_POLICIES ? policies[policy] : NULL;
}

const char *sched_policy_name(enum sched_policy policy)
{
    return (unsigned)policy < SCHED_POLICIES ? policies[policy]->name : NULL;
}

enum sched_policy sched_policy_find(const char *name)
{
    for (unsigned i = 0; i < SCHED_POLICIES; i++)
        if (strcasecmp(name, policies[i]->name) == 0)
            return (enum sched_policy)i;
    return SCHED_POLICIES;
}

struct sched_policy_choice sched_policy_choice(unsigned i)
{
    if (i < SCHED_POLICIES)
        return (struct sched_policy_choice){policies[i]->name, (enum sched_policy)i, false};
    return (struct sched_policy_choice){"auto", (enum sched_policy)0, true};
}

bool sched_policy_choose(const char *name, struct sched_policy_choice *out)
{
    for (unsigned i = 0; i < SCHED_POLICY_CHOICES; i++) {
        *out = sched_policy_choice(i);
        if (!name || strcasecmp(name, out->name) == 0)
            return true;
    }
    return false;
}
