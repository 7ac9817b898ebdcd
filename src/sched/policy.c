/* What the rows of policies.c are used for: estimated lengths, the order of the ready queues,
 * the monitor of the LReadyQ (section 4.3) and the switching between policies (section 4.4). The
 * window of throughput counts what completed here lately; half of it is forgotten every ten
 * seconds. */
#include "sched/state.h"
#include <math.h>

#define WINDOW 10.0 /* seconds that throughput is measured over before the past counts half */
#define ENOUGH_TASKS                                                                               \
    16 /* completed in the window before the policy is switched on their evidence */

/* Predicted, else the average of what completed here, else the configured guess. */
double policy_length(const struct sched *s, uint32_t task)
{
    const struct predictor *p = s->config.predictor;
    struct prediction guess;
    if (p && p->predict(p->context, task, s->config.node, &guess) && guess.seconds >= 0)
        return guess.seconds;
    return s->length_count > 0 ? s->length_sum / s->length_count : s->config.default_length;
}

/* What the ready queues sort by: larger first. The paper takes the size of the input data: tasks
 * with large data start first, so that those with small data are left for thieves. */
double policy_key(const struct sched *s, const struct slot *slot)
{
    const struct sched_config *k = &s->config;
    return k->priority      ? k->priority[slot->task]
           : k->priority_of ? k->priority_of(k->priority_context, slot->task)
                            : slot->all_size;
}

/* Move the last `n` tasks of the LReadyQ, those with the least data or the least urgent, to the
 * SReadyQ. */
static void policy_relax(struct sched *s, uint32_t n)
{
    struct slot *slots = s->tasks.slots.at;
    s->scratch.n = 0;
    while (s->local.length > n) {
        uint32_t slot = readyset_peek(&s->local, READY_ALL);
        readyset_remove(&s->local, slots, slot);
        array_push(&s->scratch, slot);
    }
    while (s->local.length) {
        uint32_t slot = readyset_peek(&s->local, READY_ALL);
        place_leave(s, slot);
        place_enter(s, slot, SCHED_SREADYQ);
        s->counts.relaxed++;
    }
    for (size_t i = 0; i < s->scratch.n; i++)
        readyset_push(&s->local, slots, s->scratch.at[i], policy_key(s, &slots[s->scratch.at[i]]));
}

/* A change is noted for the user. Tasks that are queued stay where the old policy put them, but for
 * a policy that binds no task to its node. */
void policy_set(struct sched *s, enum sched_policy policy)
{
    if (policy == s->policy || (unsigned)policy >= SCHED_POLICIES)
        return;
    s->policy = policy;
    s->rules = sched_policy(policy);
    note_add(s, SCHED_NOTE_POLICY, (uint32_t)policy);
    if (s->rules->shares_all)
        policy_relax(s, s->local.length);
}

/* The monitor runs while there are tasks, another node that could take some, and a policy that asks
 * for it. */
void policy_arm(struct sched *s)
{
    if (s->monitor_set || s->config.nodes < 2 || !s->tasks.used ||
        (!s->rules->relax && !s->config.adapt_policy))
        return;
    if (s->window_start < 0) {
        s->window_start = s->now;
        s->window_done = s->window_busy = s->window_fetched = 0;
    }
    s->monitor_set = true;
    timer_add(s, s->config.monitor_every, TIMER_MONITOR, 0);
}

/* "If too much data is transferred, the technique would switch to the MDL policy; on the other hand
 * ... to the MLB policy if few data is transmitted." The way back to FLDS needs twice the evidence,
 * or MDL, which moves nothing, would flap. */
static void policy_switch(struct sched *s)
{
    if (s->window_done < ENOUGH_TASKS || s->window_busy <= 0)
        return;
    double moved = s->window_fetched / s->config.bandwidth / s->window_busy;
    if (s->policy == SCHED_FLDS && moved > s->config.much)
        policy_set(s, SCHED_MDL);
    else if (s->policy == SCHED_FLDS && moved < s->config.little)
        policy_set(s, SCHED_MLB);
    else if ((s->policy == SCHED_MDL && moved < s->config.much / 2) ||
             (s->policy == SCHED_MLB && moved > s->config.little * 2))
        policy_set(s, SCHED_FLDS);
}

/* Once every `monitor_every` seconds: change the policy by the evidence, relax a long queue, and
 * let the past fade. */
void policy_monitor(struct sched *s)
{
    s->monitor_set = false;
    if (!s->tasks.used) {
        s->window_start = -1; /* idle time is no evidence of slowness */
        return;
    }
    if (s->config.adapt_policy)
        policy_switch(s);
    double seconds = s->now - s->window_start;
    if (s->rules->relax) {
        uint32_t n = s->rules->relax(s->local.length, s->window_done, seconds, s->tt);
        if (n) {
            policy_relax(s, n);
            if (s->config.adapt_tt)
                s->tt *= 2;
        }
    }
    /* halved, not cleared: the estimate has no jump */
    if (seconds > WINDOW) {
        s->window_start = s->now - seconds / 2;
        s->window_done /= 2;
        s->window_busy /= 2;
        s->window_fetched /= 2;
    }
}
