/* The fast decoder for nodes of one core: links.h says the idea.
 *
 *    node A:   t1 <-> t4 <-> t7        before/after
 *    node B:   t2 <-> t3               edges of the workflow go between them
 *                      \__ data __> t7
 *
 * A trial relinks a few tasks and marks those whose start may have changed, by position in the
 * order: one bit each. Taking marks from low to high positions visits every task after all it waits
 * for, so each is computed once: O(tasks that really change x degree). Keeping a trial does the
 * same backwards for `rest`.
 *
 * Invariants between trials: marks are all clear; rest[] is exact for the current encoding; trial_*
 * equals the current times. */
#include "plan/search/links.h"
#include "plan/search/decoder.h"
#include <math.h>
#include <string.h>

struct search_links *search_links_new(const struct problem *p)
{
    struct search_links *l = mem_new_zero(struct search_links, 1);
    l->before = mem_new(uint32_t, p->n);
    l->after = mem_new(uint32_t, p->n);
    l->head = mem_new(uint32_t, p->m);
    l->last = mem_new(uint32_t, p->m);
    l->rest = mem_new(double, p->n);
    l->marks = mem_new_zero(uint64_t, p->n / 64 + 1);
    l->low = UINT32_MAX;
    return l;
}

void search_links_free(struct search_links *l)
{
    if (!l)
        return;
    free(l->before);
    free(l->after);
    free(l->head);
    free(l->last);
    free(l->rest);
    free(l->marks);
    array_free(&l->log);
    array_free(&l->stale);
    array_free(&l->loose);
    array_free(&l->moved);
    free(l);
}

/* ---- changing links ---- */

/* Every change is logged, so that a dropped trial is undone in reverse. */
static void set_link(struct search_links *l, uint32_t *where, uint32_t value)
{
    array_push(&l->log, (struct link_change){where, *where});
    *where = value;
}

/* Everybody whose times depend on where and when this task runs. */
static void mark_disturbed(struct decoder *d, uint32_t task)
{
    const struct problem *p = d->problem;
    struct search_links *l = d->links;
    array_push(&l->stale, task);
    for (uint32_t e = p->succ_off[task]; e < p->succ_off[task + 1]; e++)
        array_push(&l->stale, p->succ[e]);
    array_push(&l->loose, task);
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++)
        array_push(&l->loose, p->pred[e]);
}

void links_unlink(struct decoder *d, uint32_t task)
{
    struct search_links *l = d->links;
    uint32_t b = l->before[task], a = l->after[task], node = d->node[task];
    set_link(l, b == NONE ? &l->head[node] : &l->after[b], a);
    set_link(l, a == NONE ? &l->last[node] : &l->before[a], b);
    if (a != NONE)
        array_push(&l->stale, a);
    if (b != NONE)
        array_push(&l->loose, b);
    if (d->position[task] + 1 > l->settled)
        l->settled = d->position[task] + 1;
}

/* The task before `place` on the node: the nearest one in either direction tells. */
static uint32_t task_before(const struct decoder *d, uint32_t place, uint32_t node)
{
    const struct search_links *l = d->links;
    if (l->head[node] == NONE || d->position[l->head[node]] > place)
        return NONE;
    if (d->position[l->last[node]] < place)
        return l->last[node];
    for (uint32_t k = 1;;
         k++) { /* head is before and last is after: one is found within the order */
        if (k <= place && d->node[d->order[place - k]] == node)
            return d->order[place - k];
        if (place + k < d->n && d->node[d->order[place + k]] == node)
            return l->before[d->order[place + k]];
    }
}

void links_link(struct decoder *d, uint32_t task)
{
    struct search_links *l = d->links;
    uint32_t node = d->node[task];
    uint32_t b = task_before(d, d->position[task], node);
    uint32_t a = b == NONE ? l->head[node] : l->after[b];
    set_link(l, &l->before[task], b);
    set_link(l, &l->after[task], a);
    set_link(l, b == NONE ? &l->head[node] : &l->after[b], task);
    set_link(l, a == NONE ? &l->last[node] : &l->before[a], task);
    if (a != NONE)
        array_push(&l->stale, a);
    if (b != NONE)
        array_push(&l->loose, b);
    if (d->position[task] + 1 > l->settled)
        l->settled = d->position[task] + 1;
    mark_disturbed(d, task);
}

/* ---- marks ---- */

static inline void mark_position(struct search_links *l, uint32_t position)
{
    uint32_t word = position / 64;
    l->marks[word] |= (uint64_t)1 << (position % 64);
    if (word < l->low)
        l->low = word;
    if (word > l->high || l->high == UINT32_MAX)
        l->high = word;
}

/* Only the words in use: a trial that is refused early must not pay for the whole order. */
static void forget_marks(struct search_links *l)
{
    if (l->low != UINT32_MAX)
        memset(l->marks + l->low, 0, (l->high - l->low + 1) * sizeof *l->marks);
    l->low = l->high = UINT32_MAX;
}

/* ---- times ---- */

/* The end of the task before it on its node, or the last arrival. */
static inline double ready_time(const struct decoder *d, uint32_t t)
{
    const struct problem *p = d->problem;
    uint32_t node = d->node[t], b = d->links->before[t];
    double ready = b == NONE ? 0 : d->trial_finish[b];
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t from = p->pred[e];
        double arrival = d->trial_finish[from];
        if (d->node[from] != node)
            arrival += p->uniform ? p->pred_comm[e]
                                  : problem_far(p, p->pred_bytes[e], d->node[from], node);
        ready = arrival > ready ? arrival : ready;
    }
    return ready;
}

/* From the end of t to the end of all: through the next task on its node, or a consumer. */
static inline double rest_of(const struct decoder *d, uint32_t t)
{
    const struct problem *p = d->problem;
    const struct search_links *l = d->links;
    uint32_t node = d->node[t], a = l->after[t];
    double rest = a == NONE ? 0 : problem_time(p, a, node) + l->rest[a];
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++) {
        uint32_t to = p->succ[e];
        double way = problem_time(p, to, d->node[to]) + l->rest[to];
        if (d->node[to] != node)
            way +=
                p->uniform ? p->succ_comm[e] : problem_far(p, p->succ_bytes[e], node, d->node[to]);
        rest = way > rest ? way : rest;
    }
    return rest;
}

/* The makespan: nodes run their tasks in order, so the last ones tell. */
static double longest_way(const struct decoder *d)
{
    double makespan = 0;
    for (uint32_t v = 0; v < d->problem->m; v++)
        if (d->links->last[v] != NONE)
            makespan = fmax(makespan, d->trial_finish[d->links->last[v]]);
    return makespan;
}

static void clear_trial(struct search_links *l)
{
    l->log.n = l->stale.n = l->loose.n = l->moved.n = 0;
    l->settled = 0;
}

double links_load(struct decoder *d)
{
    const struct problem *p = d->problem;
    struct search_links *l = d->links;
    forget_marks(l);
    clear_trial(l);
    for (uint32_t v = 0; v < p->m; v++)
        l->head[v] = l->last[v] = NONE;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t t = d->order[i], node = d->node[t], b = l->last[node];
        l->before[t] = b;
        l->after[t] = NONE;
        *(b == NONE ? &l->head[node] : &l->after[b]) = t;
        l->last[node] = t;
        double start = ready_time(d, t);
        d->start[t] = d->trial_start[t] = start;
        d->finish[t] = d->trial_finish[t] = start + problem_time(p, t, node);
        d->core[t] = p->core_off[node];
    }
    for (uint32_t i = d->n; i-- > 0;)
        l->rest[d->order[i]] = rest_of(d, d->order[i]);
    return longest_way(d);
}

/* From `settled` on no link changed, so there rest[] still holds and tells at once that a trial is
 * too long; before that only the problem's tail is safe. */
double links_run(struct decoder *d, double limit)
{
    const struct problem *p = d->problem;
    struct search_links *l = d->links;
    double rounded =
        limit + 1e-12 * fabs(limit); /* `rest` sums in another order than the starts do */
    for (size_t i = 0; i < l->stale.n; i++)
        mark_position(l, d->position[l->stale.at[i]]);
    for (uint32_t word = l->low; l->low != UINT32_MAX && word <= l->high; word++)
        while (l->marks[word]) {
            uint32_t position = word * 64 + (uint32_t)__builtin_ctzll(l->marks[word]);
            l->marks[word] &= l->marks[word] - 1;
            uint32_t t = d->order[position];
            d->computed++;
            double start = ready_time(d, t), finish = start + problem_time(p, t, d->node[t]);
            if (start == d->trial_start[t] && finish == d->trial_finish[t])
                continue;
            array_push(&l->moved, t);
            bool later = finish != d->trial_finish[t];
            d->trial_start[t] = start;
            d->trial_finish[t] = finish;
            double end = position >= l->settled ? finish + l->rest[t] : finish + p->tail[t];
            if (!(end <= rounded)) {
                forget_marks(l);
                return INFINITY;
            }
            if (!later)
                continue;
            if (l->after[t] != NONE)
                mark_position(l, d->position[l->after[t]]);
            for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
                mark_position(l, d->position[p->succ[e]]);
        }
    l->low = l->high = UINT32_MAX;
    return longest_way(d);
}

/* The trial's times become the current ones; `rest` is brought up to date backwards, high positions
 * first. */
void links_keep(struct decoder *d)
{
    const struct problem *p = d->problem;
    struct search_links *l = d->links;
    for (size_t i = 0; i < l->moved.n; i++) {
        uint32_t t = l->moved.at[i];
        d->start[t] = d->trial_start[t];
        d->finish[t] = d->trial_finish[t];
    }
    for (uint32_t i = 0; i < d->nchanged; i++)
        d->core[d->changed[i]] = p->core_off[d->node[d->changed[i]]];
    for (size_t i = 0; i < l->loose.n; i++)
        mark_position(l, d->position[l->loose.at[i]]);
    if (l->low != UINT32_MAX)
        for (uint32_t word = l->high;; word--) {
            while (l->marks[word]) {
                uint32_t bit = 63 - (uint32_t)__builtin_clzll(l->marks[word]);
                l->marks[word] ^= (uint64_t)1 << bit;
                uint32_t t = d->order[word * 64 + bit];
                d->computed++;
                double rest = rest_of(d, t);
                if (rest == l->rest[t])
                    continue;
                l->rest[t] = rest;
                if (l->before[t] != NONE)
                    mark_position(l, d->position[l->before[t]]);
                for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
                    mark_position(l, d->position[p->pred[e]]);
            }
            if (word == 0 || word <= l->low)
                break;
        }
    l->low = l->high = UINT32_MAX;
    clear_trial(l);
}

void links_drop(struct decoder *d)
{
    struct search_links *l = d->links;
    for (size_t i = l->moved.n; i-- > 0;) {
        uint32_t t = l->moved.at[i];
        d->trial_start[t] = d->start[t];
        d->trial_finish[t] = d->finish[t];
    }
    for (size_t i = l->log.n; i-- > 0;)
        *l->log.at[i].where = l->log.at[i].old;
    clear_trial(l);
}
