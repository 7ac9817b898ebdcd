/* Decoding of encodings; decoder.h says what and why, links.c is the fast way for nodes of one
 * core.
 *
 * With several cores a trial is decoded from the first changed position on. What the cores held
 * there is found from the nearest snapshot before it:
 *
 *    order      t0 t1 t2 t3 | t4 t5 t6 t7 | t8 t9 ..
 *    snapshots  ^ stride 0    ^ stride 1     ^ stride 2      available[] of all cores
 *                                   ^ first: copy snapshot 1, replay t4 t5, decode from t6 on
 *
 * Invariant between trials: trial_* equals start, finish, core for every task, so that a trial that
 * touches few tasks has nothing to copy. */
#include "plan/search/decoder.h"
#include <math.h>
#include <string.h>

struct encoding encoding_new(uint32_t n)
{
    return (struct encoding){mem_new(uint32_t, n), mem_new(uint32_t, n), INFINITY};
}

void encoding_free(struct encoding *s)
{
    free(s->order);
    free(s->node);
    *s = (struct encoding){0};
}

void encoding_copy(struct encoding *to, const struct encoding *from, uint32_t n)
{
    if (n) {
        memcpy(to->order, from->order, n * sizeof *to->order);
        memcpy(to->node, from->node, n * sizeof *to->node);
    }
    to->makespan = from->makespan;
}

struct by_start {
    double start, finish;
    uint32_t rank, task;
};

static int compare_start(const void *a, const void *b)
{
    const struct by_start *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Plans hold their times to within rounding, so a consumer may stand a hair before its producer: a
 * task is emitted only after its producers, by a pass over the sorted list that pulls late
 * producers forward. */
static void repair_order(const struct problem *p, uint32_t *order, const struct by_start *sorted)
{
    uint32_t used = 0;
    uint8_t *done = mem_new_zero(uint8_t, p->n);
    uint32_t *stack = mem_new(uint32_t, p->n), *edge = mem_new(uint32_t, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        if (done[sorted[i].task])
            continue;
        uint32_t depth = 0;
        stack[depth] = sorted[i].task;
        edge[depth] = p->pred_off[sorted[i].task];
        for (;;) {
            uint32_t t = stack[depth];
            while (edge[depth] < p->pred_off[t + 1] && done[p->pred[edge[depth]]])
                edge[depth]++;
            if (edge[depth] < p->pred_off[t + 1]) {
                /* a producer that comes later in the sorted order goes first */
                uint32_t late = p->pred[edge[depth]];
                stack[++depth] = late;
                edge[depth] = p->pred_off[late];
                continue;
            }
            done[t] = 1;
            order[used++] = t;
            if (depth-- == 0)
                break;
        }
    }
    free(done);
    free(stack);
    free(edge);
}

void encoding_from_plan(struct encoding *s, const struct problem *p, const struct plan *plan)
{
    struct by_start *sorted = mem_new_zero(struct by_start, p->n);
    for (uint32_t t = 0; t < p->n; t++)
        sorted[t] = (struct by_start){INFINITY, INFINITY, p->rank[t], t};
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *at = &plan->placements.at[i];
        if (at->copy != 0)
            continue;
        sorted[at->task].start = at->start;
        sorted[at->task].finish = at->finish;
        s->node[at->task] = at->node;
    }
    qsort(sorted, p->n, sizeof *sorted, compare_start);
    repair_order(p, s->order, sorted);
    s->makespan = INFINITY;
    free(sorted);
}

static bool one_core_each(const struct problem *p)
{
    for (uint32_t v = 0; v < p->m; v++)
        if (p->core_off[v + 1] - p->core_off[v] > 1)
            return false;
    return true;
}

struct decoder *decoder_new(const struct problem *p)
{
    struct decoder *d = mem_new_zero(struct decoder, 1);
    uint32_t n = d->n = p->n;
    d->problem = p;
    d->ncores = p->core_off[p->m];
    d->order = mem_new(uint32_t, n);
    d->position = mem_new(uint32_t, n);
    d->node = mem_new(uint32_t, n);
    d->start = mem_new(double, n);
    d->finish = mem_new(double, n);
    d->core = mem_new(uint32_t, n);
    d->trial_start = mem_new(double, n);
    d->trial_finish = mem_new(double, n);
    d->trial_core = mem_new(uint32_t, n);
    d->old_order = mem_new(uint32_t, n);
    d->old_node = mem_new(uint32_t, n);
    d->changed = mem_new(uint32_t, n);
    d->available = mem_new(double, d->ncores);
    d->longest = mem_new(double, (size_t)n + 1);
    /* at most about 2^20 stored times, and at least 16 positions apart: redoing 16 known positions
     * is cheap */
    size_t stride = 16;
    while ((n / stride + 1) * d->ncores > 1 << 20 && stride < n)
        stride *= 2;
    d->stride = (uint32_t)stride;
    if (p->ports || p->memory_binds)
        d->schedule = schedule_new(p->costs);
    else if (one_core_each(p))
        d->links = search_links_new(p);
    else
        d->snapshots = mem_new(double, (n / stride + 1) * d->ncores);
    d->moved_first = UINT32_MAX;
    return d;
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    free(d->order);
    free(d->position);
    free(d->node);
    free(d->start);
    free(d->finish);
    free(d->core);
    free(d->trial_start);
    free(d->trial_finish);
    free(d->trial_core);
    free(d->old_order);
    free(d->old_node);
    free(d->changed);
    free(d->available);
    free(d->snapshots);
    free(d->longest);
    search_links_free(d->links);
    if (d->schedule)
        schedule_free(d->schedule);
    free(d);
}

/* The core (first of `wide` neighbours) on which a task that has its data at `ready` starts first;
 * of those that start together the one that became free last, which leaves the others for tasks
 * that can start earlier. */
static uint32_t choose_core(const double *available, uint32_t first, uint32_t end, uint32_t wide,
                            double ready, double *start)
{
    uint32_t best = first;
    double best_start = INFINITY, best_free = -1;
    for (uint32_t c = first; c + wide <= end; c++) {
        double open = available[c];
        for (uint32_t k = 1; k < wide; k++)
            open = fmax(open, available[c + k]);
        double begin = fmax(ready, open);
        if (begin < best_start || (begin == best_start && open > best_free)) {
            best = c;
            best_start = begin;
            best_free = open;
        }
    }
    *start = best_start;
    return best;
}

/* The next task of the order: its data, the core, its times. The inner loop on nodes of several
 * cores. */
static inline void decode_next(struct decoder *d, uint32_t t, uint32_t node)
{
    const struct problem *p = d->problem;
    double ready = 0;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t from = p->pred[e];
        double arrival = d->trial_finish[from];
        if (d->node[from] != node)
            arrival += p->uniform ? p->pred_comm[e]
                                  : problem_far(p, p->pred_bytes[e], d->node[from], node);
        ready = arrival > ready ? arrival : ready;
    }
    uint32_t core = p->core_off[node], end = p->core_off[node + 1], wide = p->cores[t];
    double start;
    if (end - core == 1)
        start = ready > d->available[core] ? ready : d->available[core];
    else
        core = choose_core(d->available, core, end, wide, ready, &start);
    double finish = start + problem_time(p, t, node);
    for (uint32_t k = 0; k < wide; k++)
        d->available[core + k] = finish;
    d->trial_start[t] = start;
    d->trial_finish[t] = finish;
    d->trial_core[t] = core;
}

/* With ports or memory: all of it, through the common schedule. */
static double run_schedule(struct decoder *d, double limit)
{
    const struct problem *p = d->problem;
    schedule_reset(d->schedule);
    double makespan = 0;
    d->first = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t t = d->order[i], node = d->node[t];
        struct schedule_slot slot = schedule_append(d->schedule, t, node);
        d->touched = i + 1;
        d->trial_start[t] = slot.start;
        d->trial_finish[t] = slot.finish;
        d->trial_core[t] = p->core_off[node] + slot.core;
        if (!isfinite(slot.finish) || slot.finish + p->tail[t] > limit)
            return INFINITY;
        schedule_place(d->schedule, t, slot);
        makespan = fmax(makespan, slot.finish);
    }
    return makespan;
}

double decoder_run(struct decoder *d, double limit)
{
    if (d->links)
        return links_run(d, limit);
    if (d->schedule) {
        d->computed += d->n;
        return run_schedule(d, limit);
    }
    const struct problem *p = d->problem;
    uint32_t snapshot = d->first / d->stride;
    if (d->ncores)
        memcpy(d->available, d->snapshots + (size_t)snapshot * d->ncores,
               d->ncores * sizeof *d->available);
    for (uint32_t i = snapshot * d->stride; i < d->first; i++) {
        uint32_t t = d->order[i];
        for (uint32_t k = 0; k < p->cores[t]; k++)
            d->available[d->core[t] + k] = d->finish[t];
    }
    /* what stands before the first change keeps its times */
    double makespan = d->longest[d->first];
    for (uint32_t i = d->first; i < d->n; i++) {
        uint32_t t = d->order[i];
        d->computed++;
        decode_next(d, t, d->node[t]);
        double finish = d->trial_finish[t];
        if (!(finish + p->tail[t] <= limit)) {
            d->touched = i + 1;
            return INFINITY;
        }
        makespan = finish > makespan ? finish : makespan;
    }
    d->touched = d->n;
    return makespan;
}

/* No trial is open: nothing touched, changed or moved. */
static void close_trial(struct decoder *d)
{
    d->first = d->touched = d->n;
    d->nchanged = 0;
    d->moved_first = UINT32_MAX;
    d->moved_last = 0;
}

/* The trial becomes the current encoding; snapshots behind the first change are taken anew. */
void decoder_keep(struct decoder *d, double makespan)
{
    const struct problem *p = d->problem;
    d->makespan = makespan;
    if (d->links) {
        links_keep(d);
        close_trial(d);
        return;
    }
    uint32_t begin = d->first;
    d->computed += d->n - begin;
    double *available = d->available;
    if (d->snapshots) { /* recompute the snapshots behind the change */
        uint32_t snapshot = begin / d->stride;
        begin = snapshot * d->stride;
        if (d->ncores)
            memcpy(available, d->snapshots + (size_t)snapshot * d->ncores,
                   d->ncores * sizeof *available);
    }
    for (uint32_t i = begin; i < d->n; i++) {
        uint32_t t = d->order[i];
        if (d->snapshots && i % d->stride == 0 && d->ncores)
            memcpy(d->snapshots + (size_t)(i / d->stride) * d->ncores, available,
                   d->ncores * sizeof *available);
        d->start[t] = d->trial_start[t];
        d->finish[t] = d->trial_finish[t];
        d->core[t] = d->trial_core[t];
        d->longest[i + 1] = fmax(d->longest[i], d->finish[t]);
        if (d->snapshots)
            for (uint32_t k = 0; k < p->cores[t]; k++)
                available[d->core[t] + k] = d->finish[t];
    }
    close_trial(d);
}

/* Everything back as it was: times, nodes in reverse order of change, order. */
void decoder_drop(struct decoder *d)
{
    if (d->links)
        links_drop(d);
    for (uint32_t i = d->first; i < d->touched && !d->links; i++) {
        uint32_t t = d->order[i];
        d->trial_start[t] = d->start[t];
        d->trial_finish[t] = d->finish[t];
        d->trial_core[t] = d->core[t];
    }
    for (uint32_t i = d->nchanged; i-- > 0;)
        d->node[d->changed[i]] = d->old_node[i];
    if (d->moved_first != UINT32_MAX)
        for (uint32_t i = d->moved_first; i <= d->moved_last; i++) {
            d->order[i] = d->old_order[i];
            d->position[d->order[i]] = i;
        }
    close_trial(d);
}

void decoder_reassign(struct decoder *d, uint32_t task, uint32_t node)
{
    if (d->node[task] == node || d->nchanged == d->n)
        return;
    d->old_node[d->nchanged] = d->node[task];
    d->changed[d->nchanged++] = task;
    if (d->links)
        links_unlink(d, task);
    d->node[task] = node;
    if (d->links)
        links_link(d, task);
    if (d->position[task] < d->first)
        d->first = d->position[task];
}

/* Remember the order in [low, high] as it was before the trial. */
static void remember_order(struct decoder *d, uint32_t low, uint32_t high)
{
    if (d->moved_first == UINT32_MAX) {
        memcpy(d->old_order + low, d->order + low, (high - low + 1) * sizeof *d->order);
        d->moved_first = low;
        d->moved_last = high;
        return;
    }
    for (; d->moved_first > low; d->moved_first--)
        d->old_order[d->moved_first - 1] = d->order[d->moved_first - 1];
    for (; d->moved_last < high; d->moved_last++)
        d->old_order[d->moved_last + 1] = d->order[d->moved_last + 1];
}

void decoder_shift(struct decoder *d, uint32_t task, uint32_t place)
{
    uint32_t from = d->position[task];
    if (from == place)
        return;
    uint32_t low = from < place ? from : place, high = from < place ? place : from;
    remember_order(d, low, high);
    if (d->links)
        links_unlink(d, task);
    if (from < place)
        for (uint32_t i = from; i < place; i++) {
            d->order[i] = d->order[i + 1];
            d->position[d->order[i]] = i;
        }
    else
        for (uint32_t i = from; i > place; i--) {
            d->order[i] = d->order[i - 1];
            d->position[d->order[i]] = i;
        }
    d->order[place] = task;
    d->position[task] = place;
    if (d->links)
        links_link(d, task);
    if (low < d->first)
        d->first = low;
}

double decoder_load(struct decoder *d, const struct encoding *s)
{
    if (d->n) {
        memcpy(d->order, s->order, d->n * sizeof *d->order);
        memcpy(d->node, s->node, d->n * sizeof *d->node);
    }
    for (uint32_t i = 0; i < d->n; i++)
        d->position[d->order[i]] = i;
    close_trial(d);
    if (d->links)
        return d->makespan = links_load(d);
    d->first = 0;
    d->longest[0] = 0;
    if (d->snapshots)
        memset(d->snapshots, 0, d->ncores * sizeof *d->snapshots);
    double makespan = decoder_run(d, INFINITY);
    decoder_keep(d, makespan);
    return makespan;
}

void decoder_save(struct decoder *d, struct encoding *s)
{
    d->computed += d->n / 16; /* copied, which is quicker */
    if (d->n) {
        memcpy(s->order, d->order, d->n * sizeof *d->order);
        memcpy(s->node, d->node, d->n * sizeof *d->node);
    }
    s->makespan = d->makespan;
}

/* With ports or memory the schedule itself knows the transfers. */
static struct plan *schedule_of(struct decoder *d)
{
    schedule_reset(d->schedule);
    for (uint32_t i = 0; i < d->n; i++)
        schedule_place(d->schedule, d->order[i],
                       schedule_append(d->schedule, d->order[i], d->node[d->order[i]]));
    return schedule_plan(d->schedule);
}

struct plan *decoder_plan(struct decoder *d)
{
    if (d->schedule)
        return schedule_of(d);
    return problem_plan(d->problem, d->node, d->core, d->start, d->finish);
}
