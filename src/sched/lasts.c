/* Nodes that go at a known time (an allocation that ends): a task is not started where it would not come
 * to its end. How long it takes is what the predictor says; of one that nobody knows nothing is said, and
 * it starts until the node goes.
 *
 *   L1. What fits may not fit a moment later: it is looked at when a task becomes ready (fit_within())
 *       and again before it starts. So a ready queue may have tasks that this node has no time for any
 *       more: they go on when their turn comes.
 *   L2. Thieves get by groups (fit.c), and a group is a class of lengths: each is at most 1.42 times the one
 *       before it. A thief may be refused what it just had time for, and never gets what it has not. */
#include "sched/state.h"

#include <math.h>

double lasts_length(const struct sched *s, uint32_t task)
{
    const struct predictor *p = s->config.predictor;
    struct prediction guess;
    return p && p->predict(p->context, task, s->config.node, &guess) && guess.seconds > 0
               ? guess.seconds
               : 0;
}

bool lasts_long_enough(const struct sched *s, uint32_t task, const struct capacity *c)
{
    return s->now + lasts_length(s, task) <= c->ends;
}

/* Rounded up to a power of the square root of 2; 1 for what is shorter. */
double lasts_class(const struct sched *s, uint32_t task)
{
    double seconds = s->least.ends > 0 ? lasts_length(s, task) : 0;
    return seconds > 1 ? exp2(ceil(2 * log2(seconds)) / 2) : seconds > 0;
}

/* L1. */
bool lasts_no_more(struct sched *s, uint32_t slot)
{
    if (!(s->own.ends > 0) || lasts_long_enough(s, slot_at(s, slot)->task, &s->own))
        return false;
    place_leave(s, slot);
    fit_send_on(s, slot);
    return true;
}
