/* Lower bounds of the exact search, for one partial schedule. Everything still to come starts at
 * `now` (the start of the last placed task) or later.
 *
 * Two bounds, the cheap one first. The path bound: earliest finishes with everything already
 * placed, plus the tail. The load bound: the work of all tasks with a tail of q or more must be
 * done q before the end. Both hold for every completion because they only drop constraints: other
 * tasks' occupation of nodes, contention, and whole tasks instead of fluid work.
 *
 * O(n x m x degree) and O(n x (n + cores)). */
#include "plan/search/exact_state.h"
#include <math.h>

/* Producers of `t` that are not placed: when their data arrives if they run elsewhere, and what
 * they take here. */
struct producer {
    double away, time;
};

/* The earliest that all unplaced producers can have delivered to node v: those with the latest
 * arrivals from elsewhere run on v itself, one after the other from open[v] on; k of them do, for
 * the best k. */
static double earliest_gathered(const struct exact_state *s, uint32_t t, uint32_t v)
{
    const struct problem *p = s->problem;
    struct producer list[64]; /* EXACT_TASKS */
    uint32_t count = 0;
    double ready = 0;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t q = p->pred[e];
        if (s->done >> q & 1) {
            ready = fmax(ready, s->finish[q] + problem_comm(p, e, s->node[q], v));
            continue;
        }
        double away = s->early_least[q] + p->pred_comm[e];
        double here = s->early[(size_t)q * p->m + v];
        ready = fmax(ready, fmin(away, here));
        uint32_t at = count++;
        for (; at > 0 && list[at - 1].away < away; at--)
            list[at] = list[at - 1];
        list[at] = (struct producer){away, problem_time(p, q, v)};
    }
    if (count < 2)
        return ready;
    double cores = p->core_off[v + 1] - p->core_off[v];
    double best = INFINITY, sum = 0;
    for (uint32_t k = 0; k <= count; k++) {
        double here = k ? s->open[v] + sum / cores : 0;
        double away = k < count ? list[k].away : 0;
        best = fmin(best, fmax(here, away));
        if (here >= best || k == count)
            break;
        sum += list[k].time;
    }
    return fmax(ready, best);
}

/* Earliest finish of every unplaced task on every node, producers first. Returns the longest way
 * through them. */
static double early_finishes(struct exact_state *s, double cut)
{
    const struct problem *p = s->problem;
    double bound = 0;
    for (uint32_t i = 0; i < p->n && bound < cut; i++) {
        uint32_t t = p->topo[i];
        if (s->done >> t & 1)
            continue;
        double *early = s->early + (size_t)t * p->m, least = INFINITY;
        for (uint32_t v = 0; v < p->m; v++) {
            double time = problem_time(p, t, v);
            /* empty nodes of a class are alike */
            if (s->representative[v] != v) {
                early[v] = early[s->representative[v]];
                continue;
            }
            if (!isfinite(time)) {
                early[v] = INFINITY;
                continue;
            }
            double ready =
                s->waiting[t] ? earliest_gathered(s, t, v) : s->ready[(size_t)t * p->m + v];
            early[v] = fmax(ready, s->open[v]) + time;
            least = fmin(least, early[v]);
        }
        s->early_least[t] = least;
        bound = fmax(bound, least + p->tail[t]);
    }
    return bound;
}

/* When the cores have done `load` at the earliest, each from its base on. Cores that open later
 * than that take no part; leaving one out can only lower the answer, so this ends. */
static double cores_filled_at(const struct exact_state *s, double load)
{
    const struct problem *p = s->problem;
    double level = INFINITY;
    for (;;) {
        double sum = load, speed = 0;
        for (uint32_t v = 0; v < p->m; v++)
            for (uint32_t c = p->core_off[v]; c < p->core_off[v + 1]; c++)
                if (s->base[c] < level) {
                    sum += p->speed[v] * s->base[c];
                    speed += p->speed[v];
                }
        if (speed <= 0)
            return 0;
        double next = sum / speed;
        if (next >= level)
            return level;
        level = next;
    }
}

/* For each q among the tails: the load with tail >= q fills the cores from their bases on like
 * water, then q. */
static double load_bound(struct exact_state *s, double now)
{
    const struct problem *p = s->problem;
    for (uint32_t v = 0; v < p->m; v++) {
        double first = INFINITY; /* nothing more can start on v before */
        for (uint32_t t = 0; t < p->n; t++)
            if (!(s->done >> t & 1)) {
                double time = problem_time(p, t, v);
                if (isfinite(time))
                    first = fmin(first, s->early[(size_t)t * p->m + v] - time);
            }
        first = fmax(first, now);
        for (uint32_t c = p->core_off[v]; c < p->core_off[v + 1]; c++)
            s->base[c] = fmax(first, s->available[c]);
    }
    /* all tasks with a tail of q or more are done q before the end, for every q */
    double bound = 0, load = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t t = s->by_tail[i];
        if (s->done >> t & 1)
            continue;
        load += p->load[t];
        uint32_t next = i + 1;
        while (next < p->n && (s->done >> s->by_tail[next] & 1))
            next++;
        if (next < p->n && p->tail[s->by_tail[next]] == p->tail[t])
            continue;
        bound = fmax(bound, cores_filled_at(s, load) + p->tail[t]);
    }
    return bound;
}

/* Raises bound[depth]; never lowers it, because a child's schedules are among its parent's. */
double exact_state_bound(struct exact_state *s, double cut)
{
    const struct problem *p = s->problem;
    double now = s->depth ? s->frames[s->depth].entry.start : 0;
    for (uint32_t v = 0; v < p->m; v++) {
        double first = INFINITY;
        for (uint32_t c = p->core_off[v]; c < p->core_off[v + 1]; c++)
            first = fmin(first, s->available[c]);
        s->open[v] = fmax(first, now);
    }
    double *bound = &s->bound[s->depth];
    *bound = fmax(*bound, early_finishes(s, cut));
    if (*bound < cut)
        *bound = fmax(*bound, load_bound(s, now));
    return *bound;
}
