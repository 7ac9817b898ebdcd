/* When the data of a task is on a node: the input half of every estimate of a schedule.
 *
 * Contention-free (no port limit) the answer is a maximum over the incoming edges, kept as two
 * numbers or as a row over the nodes (struct arrival). With ports the transfers are really booked
 * into the earliest slots in which the pair and a channel of each side are idle, and taken back if
 * it was only a question; which node is asked is therefore decided by the contention-free answer
 * first (best_limited() in schedule.c).
 *
 * Relies on the predecessors being placed; those that are not are ignored. */
#include "plan/list/schedule_state.h"
#include <string.h>

double arrival_of_object(const struct schedule *s, uint32_t producer, uint32_t object,
                         uint32_t node)
{
    double best = INFINITY;
    for (uint32_t c = producer; c != NONE; c = s->copies.at[c].more) {
        const struct schedule_copy *copy = &s->copies.at[c];
        double there = copy->finish;
        if (object != NONE && copy->node != node)
            there += object_transfer_time(s, copy->node, node, object);
        best = fmin(best, there);
    }
    return best;
}

void arrival_compute(struct schedule *s, uint32_t task)
{
    struct arrival *a = &s->arrival;
    const struct workflow *w = s->w;
    *a = (struct arrival){.task = task, .version = s->version, .top_node = NONE};
    a->in_row = arrival_needs_row(s);
    if (a->in_row)
        memset(s->row, 0, s->p->nnodes * sizeof *s->row);
    double latency = s->p->latency, bandwidth = s->p->bandwidth;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        const struct schedule_copy *copy = &s->copies.at[from];
        if (copy->node == NONE)
            continue;
        if (a->in_row) {
            for (uint32_t n = 0; n < s->p->nnodes; n++)
                s->row[n] = fmax(s->row[n], arrival_of_object(s, from, object, n));
            continue;
        }
        if (copy->finish > a->floor)
            a->floor = copy->finish;
        if (object == NONE)
            continue;
        /* keep the largest two of different senders: a node does not wait for what it sends itself
         */
        double seconds = latency + w->size[object] / bandwidth;
        double there = copy->finish + (seconds == seconds ? seconds : INFINITY);
        if (copy->node == a->top_node) {
            a->top = there > a->top ? there : a->top;
        } else if (there > a->top) {
            a->second = a->top;
            a->top = there;
            a->top_node = copy->node;
        } else if (there > a->second) {
            a->second = there;
        }
    }
}

uint32_t arrival_find_delivery(const struct schedule *s, uint32_t object, uint32_t node)
{
    uint32_t d = s->delivered[object];
    while (d != NONE && s->deliveries.at[d].to != node)
        d = s->deliveries.at[d].more;
    return d;
}

/* Who can leave first is sent first; the object number makes the order total. */
static int compare_needs(const void *a, const void *b)
{
    const struct input_need *x = a, *y = b;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* The inputs that have to be sent to the node, into s->needs, each with the copy from which it
 * would arrive first. *ready: when those are there that need no sending (a copy or an earlier
 * delivery on the node). False: some input cannot get there at all. */
static bool collect_needs(struct schedule *s, uint32_t task, uint32_t node, double *ready)
{
    const struct workflow *w = s->w;
    s->needs.n = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        if (s->copies.at[from].node == NONE)
            continue;
        if (object == NONE) {
            *ready = fmax(*ready, arrival_of_object(s, from, NONE, node));
            continue;
        }
        /* is it on the node already, by a copy or an earlier delivery? If not, which copy gets it
         * there first? */
        double here = INFINITY, soonest = INFINITY;
        uint32_t source = NONE;
        for (uint32_t c = from; c != NONE; c = s->copies.at[c].more) {
            const struct schedule_copy *copy = &s->copies.at[c];
            if (copy->node == node)
                here = fmin(here, copy->finish);
            double there = copy->finish + object_transfer_time(s, copy->node, node, object);
            if (there < soonest) {
                soonest = there;
                source = c;
            }
        }
        uint32_t d = arrival_find_delivery(s, object, node);
        if (d != NONE)
            here = fmin(here, s->deliveries.at[d].finish);
        if (here < INFINITY)
            *ready = fmax(*ready, here);
        else if (source == NONE)
            return false;
        else
            array_push(&s->needs, (struct input_need){s->copies.at[source].finish, object, source});
    }
    return true;
}

double arrival_book_inputs(struct schedule *s, uint32_t task, uint32_t node, bool keep)
{
    double ready = 0;
    if (!collect_needs(s, task, node, &ready))
        return INFINITY;
    if (s->needs.n > 1)
        qsort(s->needs.at, s->needs.n, sizeof *s->needs.at, compare_needs);
    /* an estimate books in the same way, journaled, and takes everything back */
    bool journaling = s->ports.journaling;
    size_t mark = ports_mark(&s->ports);
    s->ports.journaling |= !keep;
    for (size_t i = 0; i < s->needs.n; i++) {
        const struct input_need *need = &s->needs.at[i];
        uint32_t from = s->copies.at[need->source].node;
        double seconds = object_transfer_time(s, from, node, need->object);
        struct ports_slot slot = ports_find(&s->ports, from, node, need->finish, seconds);
        ready = fmax(ready, slot.finish);
        ports_book(&s->ports, from, node, &slot);
        if (!keep)
            continue;
        array_push(&s->deliveries,
                   (struct schedule_delivery){need->object, from, node, s->delivered[need->object],
                                              need->source, slot.start, slot.finish});
        s->delivered[need->object] = (uint32_t)s->deliveries.n - 1;
    }
    if (!keep)
        ports_rollback(&s->ports, mark);
    s->ports.journaling = journaling;
    return ready;
}
