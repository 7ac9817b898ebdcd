/* Appending to the buffer of actions. */
#include "sched/state.h"

/* The memory stays for the next event. */
void sched_actions_clear(struct sched_actions *a)
{
    a->sends.n = a->items.n = a->parts.n = a->starts.n = a->stops.n = a->ops.n = a->timers.n =
        a->notes.n = a->looks.n = 0;
}

void sched_actions_free(struct sched_actions *a)
{
    array_free(&a->sends);
    array_free(&a->items);
    array_free(&a->parts);
    array_free(&a->starts);
    array_free(&a->stops);
    array_free(&a->ops);
    array_free(&a->timers);
    array_free(&a->notes);
    array_free(&a->looks);
}

/* An operation of this node, at this time; its kind's own fields are the caller's to set. Valid
 * until the next. */
struct meta_op *op_add(struct sched *s, enum meta_kind kind, uint32_t task)
{
    struct meta_op *op = array_add(&s->out->ops);
    op->kind = (uint8_t)kind;
    op->task = task;
    op->slot = NONE;
    op->node = s->config.node;
    op->time = s->now;
    return op;
}

/* The same about a task that is held: the slot comes back with the answer, and the epoch shows by
 * then whether it is still the same stay. */
struct meta_op *op_for_slot(struct sched *s, enum meta_kind kind, uint32_t slot)
{
    struct meta_op *op = op_add(s, kind, slot_at(s, slot)->task);
    op->slot = slot;
    op->epoch = slot_at(s, slot)->epoch;
    return op;
}

void timer_add(struct sched *s, double after, enum timer_kind kind, uint32_t mark)
{
    array_push(&s->out->timers, (struct sched_timer){s->now + after, (uint32_t)kind, mark});
}

void note_add(struct sched *s, enum sched_note_kind kind, uint32_t task)
{
    array_push(&s->out->notes, (struct sched_note){(uint32_t)kind, task});
}

struct sched_message *send_begin(struct sched *s, enum sched_message_kind kind, uint32_t to,
                                 uint32_t round)
{
    struct sched_message *m = array_add(&s->out->sends);
    m->kind = (uint8_t)kind;
    m->from = s->config.node;
    m->to = to;
    m->round = round;
    m->first = (uint32_t)s->out->items.n;
    return m;
}

void send_item(struct sched *s, enum sched_message_kind kind, uint32_t to, uint32_t round,
               const struct meta_item *item)
{
    struct sched_message *m = s->out->sends.n ? &array_last(&s->out->sends) : NULL;
    if (!m || m->kind != kind || m->to != to || m->round != round ||
        m->first + m->count != s->out->items.n || m->count >= s->config.steal_most)
        m = send_begin(s, kind, to, round);
    array_push(&s->out->items, *item);
    m->count++;
}
