/* Depth-first branch and bound; exact.h says what is searched and why an optimum is found.
 *
 * Children of a state are sorted by bound, so that the first dive gives a good schedule and a frame
 * is left as soon as its next child reaches the cut. All children of all frames stand on one stack:
 *
 *    children  [ depth 0 .... | depth 1 ...... | depth 2 .. ]
 *               begin next end  begin next  end
 *
 * Memory is O(depth x children), time is exponential; limits are looked at every 64 states. */
#include "plan/search/exact.h"
#include "plan/search/exact_state.h"
#include "base/clock.h"
#include <math.h>
#include <string.h>

/* ---- children ---- */

/* By bound, then start; task, node and core make the order total: the search repeats exactly. */
static int compare_child(const void *a, const void *b)
{
    const struct exact_child *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->core < y->core ? -1 : x->core > y->core;
}

/* The earliest time from `from` on at which the node has the memory. Everything placed so far has
 * started by then. */
static double memory_from(const struct exact_state *s, uint32_t task, uint32_t node, double from)
{
    const struct problem *p = s->problem;
    double room = p->costs->platform->memory[node] - p->memory[task];
    for (;;) {
        double used = 0, next = INFINITY;
        for (uint32_t i = 0; i < s->depth; i++) {
            uint32_t t = s->placed[i];
            if (s->node[t] != node || s->finish[t] <= from)
                continue;
            used += p->memory[t];
            next = fmin(next, s->finish[t]);
        }
        if (used <= room || isinf(next))
            return from;
        from = next;
    }
}

/* Add the child unless it breaks the key order, is the worse of two orders of a swappable pair, or
 * its bound reaches the cut. */
static void exact_add_child(struct exact_state *s, uint32_t t, uint32_t v, uint32_t core,
                            double start, double cut)
{
    const struct problem *p = s->problem;
    if (p->memory_binds)
        start = memory_from(s, t, v, start);
    struct exact_child child = {t, v, core, start, start + problem_time(p, t, v), 0};
    uint32_t last = s->last[core];
    if (!exact_in_order(s, &child))
        return;
    if (last != NONE && start == s->finish[last] && (s->not_after[last] >> t & 1))
        return;
    child.bound = fmax(s->bound[s->depth], child.finish + p->tail[t]);
    if (child.bound < cut)
        array_push(&s->children, child);
}

/* The children that put task t on node v; see exact.h for why one core is enough when no task is
 * wide. */
static void expand_on(struct exact_state *s, uint32_t t, uint32_t v, double cut)
{
    const struct problem *p = s->problem;
    double ready = s->ready[(size_t)t * p->m + v];
    uint32_t first = p->core_off[v], end = p->core_off[v + 1], wide = p->cores[t];
    if (p->wide) {
        for (uint32_t c = first; c + wide <= end; c++) {
            double start = ready;
            for (uint32_t k = 0; k < wide; k++)
                start = fmax(start, s->available[c + k]);
            exact_add_child(s, t, v, c, start, cut);
        }
        return;
    }
    uint32_t best = first;
    double best_start = INFINITY, best_free = -1;
    for (uint32_t c = first; c < end; c++) {
        double start = fmax(ready, s->available[c]);
        if (start < best_start || (start == best_start && s->available[c] > best_free)) {
            best = c;
            best_start = start;
            best_free = s->available[c];
        }
    }
    if (isfinite(best_start))
        exact_add_child(s, t, v, best, best_start, cut);
}

/* All children of the present state: ready tasks, of twins the first, of empty nodes that are alike
 * the first. */
static void exact_expand(struct exact_state *s, double cut)
{
    const struct problem *p = s->problem;
    struct exact_frame *frame = &s->frames[s->depth];
    frame->begin = frame->next = s->children.n;
    for (uint32_t t = 0; t < p->n; t++) {
        if ((s->done >> t & 1) || s->waiting[t])
            continue;
        if (s->twin[t] != NONE && !(s->done >> s->twin[t] & 1))
            continue;
        for (uint32_t v = 0; v < p->m; v++)
            if (s->representative[v] == v && isfinite(problem_time(p, t, v)))
                expand_on(s, t, v, cut);
    }
    frame->end = s->children.n;
    if (frame->end > frame->begin)
        qsort(s->children.at + frame->begin, frame->end - frame->begin, sizeof *s->children.at,
              compare_child);
}

/* ---- the search ---- */

/* A complete schedule that is shorter: as an encoding, and as a plan with its cores. */
static void record_solution(struct exact_state *s, struct encoding *best,
                            struct exact_result *result)
{
    const struct problem *p = s->problem;
    double makespan = 0;
    for (uint32_t i = 0; i < s->depth; i++) {
        uint32_t t = s->placed[i];
        best->order[i] = t;
        best->node[t] = s->node[t];
        makespan = fmax(makespan, s->finish[t]);
    }
    best->makespan = makespan;
    result->improved = true;
    plan_free(result->plan);
    result->plan = problem_plan(p, s->node, s->core, s->start, s->finish);
}

/* What is still open when the search stops: the cheapest child not yet tried on every level. */
static double open_bound(const struct exact_state *s, double makespan)
{
    double bound = makespan;
    for (uint32_t d = 0; d <= s->depth; d++)
        if (s->frames[d].next < s->frames[d].end)
            bound = fmin(bound, s->children.at[s->frames[d].next].bound);
    return bound;
}

/* States with a bound of this or more cannot lead to anything better. With whole numbers only a
 * makespan shorter by 1 is better, which cuts far more. */
static double cut_of(const struct problem *p, double makespan)
{
    if (!isfinite(makespan))
        return INFINITY;
    return p->whole && makespan > 0 ? makespan - 1 + 1e-6 : makespan * (1 - 1e-9);
}

/* The clock and the user are asked every 64 states, the user told at most four times a second. */
static bool out_of_limits(const struct exact_limits *limits, struct exact_result *result,
                          double deadline, double *told)
{
    if (limits->states && result->states >= limits->states)
        return true;
    if (result->states % 64)
        return false;
    double now = clock_seconds();
    if (now > deadline)
        return true;
    if (limits->progress && now - *told > 0.25) {
        *told = now;
        double done = isfinite(deadline) ? 1 - (deadline - now) / limits->seconds : 0;
        double fraction =
            limits->progress_from + (limits->progress_to - limits->progress_from) * done;
        result->interrupted = !progress_report(limits->progress, fraction, "exact search");
    }
    return result->interrupted;
}

/* Depth first: a frame a depth, whose children stand in one array sorted by their bounds, so that
 * the first child that is not below the cut ends its frame. The cut falls with each plan that is
 * found. A state is left when its bound reaches the cut, or when one that dominates it was seen.
 * Stopped before the end, what is still open gives a bound that is nearly always better than the
 * root's. */
struct exact_result exact_search(const struct problem *p, struct encoding *best,
                                 const struct exact_limits *limits)
{
    struct exact_result result = {0};
    result.bound = problem_bound(p);
    if (p->n == 0 || result.bound >= cut_of(p, best->makespan)) {
        result.proven = true;
        result.bound = p->n ? best->makespan : 0;
        return result;
    }
    double told = clock_seconds(), deadline = told + limits->seconds;
    struct exact_state *s = exact_state_new(p, result.bound);
    double cut = cut_of(p, best->makespan);
    bool stopped = false;
    exact_state_bound(s, cut); /* strengthens the root's bound */
    exact_expand(s, cut);
    for (;;) {
        struct exact_frame *frame = &s->frames[s->depth];
        if (frame->next == frame->end || s->children.at[frame->next].bound >= cut) {
            s->children.n = frame->begin;
            frame->next = frame->end = frame->begin;
            if (s->depth == 0)
                break;
            exact_state_pop(s);
            continue;
        }
        if (out_of_limits(limits, &result, deadline, &told)) {
            stopped = true;
            break;
        }
        result.states++;
        exact_state_push(s, &s->children.at[frame->next++]);
        if (s->depth == p->n) {
            double makespan = 0;
            for (uint32_t t = 0; t < p->n; t++)
                makespan = fmax(makespan, s->finish[t]);
            if (makespan < best->makespan) {
                record_solution(s, best, &result);
                cut = cut_of(p, makespan);
            }
            exact_state_pop(s);
            continue;
        }
        if (exact_state_bound(s, cut) >= cut || !exact_state_is_new(s)) {
            exact_state_pop(s);
            continue;
        }
        exact_expand(s, cut);
    }
    result.proven = !stopped && isfinite(best->makespan);
    result.bound = result.proven ? best->makespan
                   : stopped     ? fmax(result.bound, open_bound(s, best->makespan))
                                 : INFINITY;
    if (p->whole && isfinite(result.bound))
        result.bound = ceil(result.bound - 1e-6);
    exact_state_free(s);
    return result;
}
