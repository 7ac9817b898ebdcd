/* A node's memory over time as sorted steps; profile.h has the contract.
 *
 * An array, not a tree: only nodes whose memory can run short have one, and tasks are mostly booked
 * near its end, so that little is moved. */
#include "plan/list/profile.h"
#include <math.h>

/* Sums of taken and returned memory drift by rounding; far below what anybody would call a byte. */
#define DRIFT 1e-12

void profile_free(struct memory_profile *p)
{
    array_free(&p->steps);
}

/* Number of steps at or before `time`. */
static size_t steps_until(const struct memory_profile *p, double time)
{
    size_t low = 0, high = p->steps.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->steps.at[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double profile_find(const struct memory_profile *p, double limit, double ready, double duration,
                    double amount)
{
    if (!(duration > 0) || amount <= 0)
        return ready;
    double allowed = limit * (1 + DRIFT) - amount;
    double start = ready;
    size_t next = steps_until(p, ready);
    for (size_t i = next ? next - 1 : 0; i < p->steps.n; i++) {
        double from = p->steps.at[i].time;
        if (from >= start + duration)
            break;
        if (p->steps.at[i].used > allowed)
            /* the last step is always back to nothing, so there is a next one */
            start = i + 1 < p->steps.n ? p->steps.at[i + 1].time : from;
    }
    return start > ready ? start : ready;
}

/* The step at exactly this time, made if there is none: it continues what was used before it. */
static size_t add_step(struct memory_profile *p, double time)
{
    size_t i = steps_until(p, time);
    if (i && p->steps.at[i - 1].time == time)
        return i - 1;
    double used = i ? p->steps.at[i - 1].used : 0;
    (void)array_add(&p->steps);
    for (size_t k = p->steps.n - 1; k > i; k--)
        p->steps.at[k] = p->steps.at[k - 1];
    p->steps.at[i] = (struct profile_step){time, used};
    return i;
}

/* A step that changes nothing any more goes, so that the profile does not grow with what was taken
 * back. */
static void drop_step(struct memory_profile *p, size_t i)
{
    double before = i ? p->steps.at[i - 1].used : 0;
    if (fabs(p->steps.at[i].used - before) > DRIFT * fmax(1, before))
        return;
    for (size_t k = i; k + 1 < p->steps.n; k++)
        p->steps.at[k] = p->steps.at[k + 1];
    p->steps.n--;
}

void profile_add(struct memory_profile *p, double start, double finish, double amount)
{
    if (!(finish > start) || amount == 0)
        return;
    size_t from = add_step(p, start), to = add_step(p, finish);
    for (size_t i = from; i < to; i++)
        p->steps.at[i].used += amount;
    drop_step(p, to);
    drop_step(p, from);
}
