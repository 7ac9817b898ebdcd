/* Nodes that are set aside: they live, keep their data and serve it, and fail whatever is run there (a
 * full disk). Others come first; one that is set aside gets what fits nowhere else.
 *
 *     a task ends ── its node failed it ──▶ another node takes it, and no attempt was made
 *          │                                 │
 *          │                                 └── none that fits, or passed on too often: it has failed
 *          └── enough of them: the driver says ASIDE ──▶ what is ready here goes to others
 *
 *   A1. Nothing waits for a node that is set aside: with nobody better, it runs what it holds. So a
 *       cluster of sick nodes fails its tasks, and does not hang.
 *   A2. A task is passed on at most PASSED_MOST times, and the count goes with it: one that makes nodes
 *       sick comes to an end. Where only a node can be to blame, what may have been the task's before does
 *       not count against it.
 *   A3. What a node has failed stays with whom it was passed on to, and does not come back to who failed
 *       it while there is another: the one that could run it is busy, those that cannot are idle, and
 *       would steal it until it may be passed on no more. So no thief gets it (READY_PASSED), and the
 *       nodes that failed it go with it. */
#include "sched/gang.h"

enum {
    PASSED_MOST = 10, /* what one that the nodes are to blame for costs is 1 */
};

/* O(nodes that are set aside): few. */
bool node_is_aside(const struct sched *s, uint32_t node)
{
    for (size_t i = 0; i < s->aside.n; i++)
        if (s->aside.at[i] == node)
            return true;
    return false;
}

bool aside_is_usable(const struct sched *s, uint32_t task, uint32_t node)
{
    return node != s->config.node && fit_at(s, task, node) && !node_is_down(s, node) &&
           !node_is_aside(s, node);
}

bool aside_has_others(const struct sched *s, uint32_t task)
{
    uint32_t wanted = gang_is_wide(s, task) ? s->config.task_nodes[task] : 1;
    for (uint32_t node = 0; node < s->config.nodes && wanted; node++)
        wanted -= aside_is_usable(s, task, node);
    return !wanted;
}

bool sched_may_pass_on(const struct sched *s, uint32_t task, uint32_t cost)
{
    uint32_t slot = slots_find(&s->tasks, task);
    uint32_t most = cost > 1 ? PASSED_MOST : 2 * PASSED_MOST;
    return slot != NONE && s->tasks.slots.at[slot].passed + cost <= most &&
           aside_has_others(s, task);
}

/* ---- who has failed it ---- */

/* O(such tasks held): few. NONE: no node has. */
static size_t find_failed(const struct sched *s, uint32_t task)
{
    for (size_t i = 0; i < s->failed_at.n; i++)
        if (s->failed_at.at[i].task == task)
            return i;
    return SIZE_MAX;
}

uint64_t aside_failed_at(const struct sched *s, uint32_t task)
{
    size_t i = find_failed(s, task);
    return i == SIZE_MAX ? 0 : s->failed_at.at[i].nodes;
}

void aside_note_failed(struct sched *s, uint32_t task, uint64_t nodes)
{
    size_t i = find_failed(s, task);
    if (i != SIZE_MAX)
        s->failed_at.at[i].nodes |= nodes;
    else
        array_push(&s->failed_at, ((struct sched_failed){task, nodes}));
}

void aside_forget_failed(struct sched *s, uint32_t task)
{
    size_t i = find_failed(s, task);
    if (i != SIZE_MAX)
        s->failed_at.at[i] = array_pop(&s->failed_at);
}

bool aside_is_for_another(const struct sched *s, const struct slot *task)
{
    if (!task->passed || !aside_has_failed(s, task, s->config.node))
        return false;
    for (uint32_t node = 0; node < s->config.nodes; node++)
        if (aside_is_usable(s, task->task, node) && !aside_has_failed(s, task, node))
            return true;
    return false;
}

/* The node failed it. The slot is nowhere. */
void aside_pass_on(struct sched *s, uint32_t slot, uint32_t cost)
{
    struct slot *task = slot_at(s, slot);
    task->passed = (uint8_t)(task->passed + cost < UINT8_MAX ? task->passed + cost : UINT8_MAX);
    aside_note_failed(s, task->task, UINT64_C(1) << s->config.node % 64);
    if (!gang_is_wide(s, task->task) && aside_has_others(s, task->task))
        fit_send_on(s, slot);
    else
        task_enqueue(s, slot, SCHED_SREADYQ);
}

void aside_changed(struct sched *s, uint32_t node, bool aside)
{
    size_t i = 0;
    while (i < s->aside.n && s->aside.at[i] != node)
        i++;
    if (aside == (i < s->aside.n))
        return;
    if (aside)
        array_push(&s->aside, node);
    else
        s->aside.at[i] = array_pop(&s->aside);
    if (node == s->config.node)
        s->self_aside = aside;
    if (s->self_aside)
        aside_give_ready(s);
    else if (!aside)
        steal_wake(s); /* it takes again */
}

/* What is ready here, and others can take. O(tasks held), and rare. */
void aside_give_ready(struct sched *s)
{
    for (uint32_t slot = 0; s->self_aside && slot < s->tasks.slots.n; slot++) {
        const struct slot *task = slot_at(s, slot);
        enum sched_place place = task->place;
        if ((place != SCHED_LREADYQ && place != SCHED_SREADYQ) || !aside_has_others(s, task->task))
            continue;
        place_leave(s, slot);
        task_enqueue(s, slot, place);
    }
}
