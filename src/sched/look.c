/* Looking ahead while there is nothing to do: inputs of tasks that wait here are brought as they are made,
 * one after the other, and not all at once when the last of them is. At the end of a tree of joins, that is
 * most of what a join takes.
 *
 *     idle, nobody has anything,    ── pause ──▶ GET of some that wait ──▶ fewer parents than before:
 *     and tasks wait here                 ▲                                `looks`, and it starts here
 *                                         └── doubled, or the first again after news
 *
 *   L1. A look changes nothing but where the task starts, and what is fetched: a task that turns out to start
 *       elsewhere after all costs a transfer in vain, as with anything that is fetched ahead.
 *   L2. It costs the store an operation for each task that is asked about, so the pauses are longer than those
 *       between steals, and end where P1's own looks at the WaitQ take over. */
#include "sched/state.h"

#include <math.h>

/* Tasks that are asked about at a time; the next time it is others' turn. And the first pause over that
 * between two steals. */
enum { LOOK_MOST = 16, LOOK_PAUSE = 10 };

static double look_first(const struct sched *s)
{
    return LOOK_PAUSE * s->config.steal_first;
}

static double look_bound(const struct sched *s)
{
    return s->config.wait_poll > 0 ? s->config.wait_poll : s->config.steal_bound;
}

static bool look_is_due(const struct sched *s)
{
    return s->wait.length && s->config.share_local && s->rules->relax && steal_is_in_vain(s);
}

/* A timer that is on its way already comes too late, and is then passed over. */
void look_soon(struct sched *s)
{
    s->look_pause = look_first(s);
    s->look_next = INFINITY;
}

void look_arm(struct sched *s)
{
    if (s->look_next < INFINITY || s->look_pause > look_bound(s) || !look_is_due(s))
        return;
    s->look_next = s->now + s->look_pause;
    timer_add(s, s->look_pause, TIMER_WAIT, LOOK_MARK);
    s->look_pause *= 2;
}

void look_timer(struct sched *s)
{
    if (s->now < s->look_next)
        return;
    s->look_next = INFINITY;
    if (look_is_due(s))
        answers_poll_list(s, &s->wait, LOOK_MOST);
}

void look_answered(struct sched *s, uint32_t slot, const struct meta_item *item)
{
    struct slot *task = slot_at(s, slot);
    if (item->waiting >= task->since || !look_is_due(s))
        return;
    task->since = item->waiting;
    task->flags |= SLOT_LOOKED;
    array_push(&s->out->looks, task->task);
    look_soon(s);
}
