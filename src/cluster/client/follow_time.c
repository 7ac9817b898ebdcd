/* Agents that go at a known time (allocations of a batch system), as whoever follows a run sees them: which
 * go soon, so that others are asked for in time; and how long tasks ran that were lost with one, which
 * all agents are told, so that they start only where there is more time. What no such agent ever has the
 * time for is said, and ends a run whose agents are all alike.
 *
 * I1. `ran` only grows: it is the longest that an attempt went on without coming to its end, and so less
 *     than what the task takes, whatever took its node away.
 * I2. An attempt that had all the time of a node sets `ran` beyond that: agents keep a part of their time
 *     for handing over, and end tasks later than they would start them. So a task that is too long is
 *     found out, after a few nodes at most. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/follow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A node that goes within a tenth of its time, in seconds at least and at most, is replaced: batch systems
 * let one wait. But not in the first two thirds of its time, however short that is: nodes that go soon from
 * their first moment would have others asked for without an end. */
static const double renewed_part = 0.1, renewed_least = 15, renewed_most = 300, renewed_last = 3;

/* Seconds between looks ahead, at most, and as a part of the longest time that an agent has: who is to be
 * replaced is seen long before it goes. */
static const double look_most = 3, look_part = 1.0 / 16;

static void follow_tell_length(const struct client_follow *f, struct link *l, uint32_t task)
{
    struct strbuf *head = &f->c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, f->o.run);
    bytes_put_u32(head, task);
    bytes_put_f64(head, f->ran[task]);
    link_send(l, MESSAGE_LASTS, head->at, head->n, NULL, 0);
}

void follow_tell_lengths(const struct client_follow *f, struct link *l)
{
    for (uint32_t t = 0; f->ran && t < f->w->ntasks; t++)
        if (f->ran[t] > 0 && f->seen[t] < FOLLOW_SEEN_FAILED)
            follow_tell_length(f, l, t);
}

void follow_attempt_lost(struct client_follow *f, uint32_t task, double seconds)
{
    if (f->stopping || !(seconds > 0) || !(f->longest > 0))
        return;
    if (!f->ran)
        f->ran = mem_new_zero(double, f->task_room + 1);
    if (seconds <= f->ran[task])
        return;
    f->ran[task] = seconds; /* I1 */
    for (size_t i = 0; i < f->c->peers.n; i++)
        if (f->c->peers.at[i]->open)
            follow_tell_length(f, f->c->peers.at[i]->link, task);
    if (f->most_ran == NONE || seconds > f->ran[f->most_ran])
        f->most_ran = task;
}

/* Seconds that are left to it now. */
static double follow_left(const struct client_follow *f, const struct member *m)
{
    return m->left - m->age - (clock_seconds() - f->c->looked);
}

static bool follow_goes_soon(const struct client_follow *f, const struct member *m)
{
    double soon = fmin(fmax(m->lasts * renewed_part, renewed_least), renewed_most);
    return m->lasts > 0 && follow_left(f, m) < fmin(soon, m->lasts / renewed_last);
}

double follow_look_pause(const struct client_follow *f)
{
    return f->longest > 0 ? fmin(look_most, f->longest * look_part) : look_most;
}

void follow_count_going(const struct client_follow *f, struct client_load *load)
{
    size_t n;
    bool stuck = false;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        const struct member_work *work = member_work(&m[i], f->o.run);
        if (!client_is_alive(f->c, &m[i]))
            continue;
        bool soon = follow_goes_soon(f, &m[i]);
        load->going += soon;
        /* it has not the time for what is left: another is asked for before its own is over */
        stuck |= !soon && m[i].lasts > 0 && work && work->unfit > 0;
    }
    load->going += stuck;
}

/* The longest that an agent has: INFINITY when one stays. While none lives, as before. */
static void follow_learn_longest(struct client_follow *f)
{
    size_t n;
    double longest = 0;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++)
        if (client_is_alive(f->c, &m[i]))
            longest = fmax(longest, m[i].lasts > 0 ? m[i].lasts : INFINITY);
    f->longest = longest > 0 ? longest : f->longest;
}

void follow_check_time(struct client_follow *f)
{
    follow_learn_longest(f);
    uint32_t t = f->most_ran;
    if (t == NONE || f->seen[t] >= FOLLOW_SEEN_FAILED || f->ran[t] <= f->longest ||
        f->said_too_long)
        return;
    f->said_too_long = true;
    const char *name = workflow_task_name(f->w, t);
    if (!f->o.renewed) {
        client_say(f->c,
                   "task '%s' ran for %.0f s and its node was taken back before it ended; no agent "
                   "stays that long: it waits for one that does",
                   name, f->ran[t]);
        return;
    }
    follow_set_state(f, BOARD_RUN_CANCELLED);
    error_set(
        &f->error, ERROR_INFEASIBLE,
        "task '%s' ran for %.0f s and its node was taken back before it ended; the nodes stay for "
        "%.0f s: ask for longer (Slurm: WEFT_SBATCH=--time=%.0f, in minutes), or make the task "
        "shorter",
        name, f->ran[t], f->longest, ceil(f->ran[t] * 2 / 60) + 1);
}
