/* The graph of twins; twins.h says what it is.
 *
 * Twins to be computed anew wait in buckets, by their old start; the old order is nearly the new one, so
 * nearly every twin is computed once. Where it is not (the moved twin itself, and within a bucket), a twin
 * is computed again: times are right when nobody waits, whatever the order. */
#include "plan/search/twins.h"
#include "plan/search/tabu.h"
#include "plan/search/twin_window.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool twins_suit(const struct problem *p)
{
    if (!tabu_suits(p) || !p->uniform || !p->time)
        return false;
    for (uint32_t e = 0; e < p->pred_off[p->n]; e++)
        if (!isfinite(p->pred_comm[e]))
            return false;
    return true;
}

struct twins *twins_new(const struct problem *p)
{
    const struct workflow *workflow = p->costs->workflow;
    struct twins *w = mem_new_zero(struct twins, 1);
    w->problem = p;
    w->first = mem_new(uint32_t, p->n);
    w->spare = mem_new(uint32_t, p->n);
    w->head = mem_new(uint32_t, p->m);
    w->last = mem_new(uint32_t, p->m);
    w->slot = mem_new(uint32_t, p->pred_off[p->n]);
    w->may_copy = mem_new(bool, p->n);
    w->nbuckets = (4 * p->n / 64 + 1) * 64;
    w->bucket = mem_new(uint32_t, w->nbuckets);
    w->marks = mem_new_zero(uint64_t, w->nbuckets / 64);
    w->low = w->nbuckets / 64;
    for (uint32_t i = 0; i < w->nbuckets; i++)
        w->bucket[i] = NONE;
    uint32_t *used = mem_new_zero(uint32_t, p->n);
    /* edges out of a task are sorted by consumer, as edges into it are by producer */
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
            uint32_t q = p->pred[e];
            w->slot[p->succ_off[q] + used[q]++] = e - p->pred_off[t];
        }
    free(used);
    for (uint32_t t = 0; t < p->n; t++) {
        w->may_copy[t] = true;
        for (uint32_t e = workflow->succ_off[t]; e < workflow->succ_off[t + 1]; e++)
            w->may_copy[t] &= workflow->succ_object[e] != NONE;
    }
    return w;
}

void twins_free(struct twins *w)
{
    array_free(&w->all);
    array_free(&w->supply);
    free(w->first);
    free(w->spare);
    free(w->head);
    free(w->last);
    free(w->slot);
    free(w->may_copy);
    free(w->bucket);
    free(w->marks);
    array_free(&w->stale);
    array_free(&w->loose);
    free(w);
}

/* ---- who must be computed anew ---- */

/* The lowest bucket first; a time beyond all buckets falls into the last one. */
static void queue_add(struct twins *w, uint32_t twin, double bucket)
{
    struct twin *x = &w->all.at[twin];
    if (x->queued)
        return;
    uint32_t at = bucket < w->nbuckets ? (uint32_t)bucket : w->nbuckets - 1;
    x->queued = true;
    x->next = w->bucket[at];
    w->bucket[at] = twin;
    w->marks[at / 64] |= (uint64_t)1 << at % 64;
    if (at / 64 < w->low)
        w->low = at / 64;
}

/* NONE: nobody is left. */
static uint32_t queue_take(struct twins *w)
{
    for (; w->low < w->nbuckets / 64; w->low++) {
        if (!w->marks[w->low])
            continue;
        uint32_t at = w->low * 64 + (uint32_t)__builtin_ctzll(w->marks[w->low]);
        uint32_t twin = w->bucket[at];
        w->bucket[at] = w->all.at[twin].next;
        if (w->bucket[at] == NONE)
            w->marks[w->low] &= w->marks[w->low] - 1;
        w->all.at[twin].queued = false;
        return twin;
    }
    return NONE;
}

static void queue_forward(struct twins *w, uint32_t twin)
{
    if (twin_window_holds(w, &w->all.at[twin])) {
        twin_window_defer_forward(w, twin);
        return;
    }
    queue_add(w, twin, w->all.at[twin].start * w->scale);
}

static void queue_backward(struct twins *w, uint32_t twin)
{
    if (twin_window_holds(w, &w->all.at[twin])) {
        twin_window_defer_backward(w, twin);
        return;
    }
    double bucket = w->nbuckets - 1 - w->all.at[twin].finish * w->scale;
    queue_add(w, twin, bucket > 0 ? bucket : 0);
}

static void twin_is_stale(struct twins *w, uint32_t twin)
{
    if (twin != NONE)
        array_push(&w->stale, twin);
}

static void twin_is_loose(struct twins *w, uint32_t twin)
{
    if (twin != NONE)
        array_push(&w->loose, twin);
}

/* ---- times ---- */

static double twin_ready(const struct twins *w, const struct twin *x)
{
    const struct problem *p = w->problem;
    const struct twin *all = w->all.at;
    const uint32_t *supply = w->supply.at + x->supply;
    double ready = x->before == NONE ? 0 : all[x->before].finish;
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++) {
        const struct twin *s = &all[*supply++];
        double arrival = s->finish + (s->node == x->node ? 0 : p->pred_comm[e]);
        ready = arrival > ready ? arrival : ready;
    }
    return ready;
}

static double twin_rest(const struct twins *w, uint32_t twin)
{
    const struct problem *p = w->problem;
    const struct twin *all = w->all.at, *x = &all[twin];
    double rest = 0;
    if (x->after != NONE)
        rest = problem_time(p, all[x->after].task, x->node) + all[x->after].rest;
    for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = all[c].more) {
            if (w->supply.at[all[c].supply + w->slot[e]] != twin)
                continue;
            double way = problem_time(p, all[c].task, all[c].node) + all[c].rest;
            if (all[c].node != x->node)
                way += p->succ_comm[e];
            rest = way > rest ? way : rest;
        }
    return rest;
}

static void settle_forward(struct twins *w)
{
    const struct problem *p = w->problem;
    for (size_t i = 0; i < w->stale.n; i++)
        queue_forward(w, w->stale.at[i]);
    w->stale.n = 0;
    for (uint32_t twin; (twin = queue_take(w)) != NONE;) {
        struct twin *x = &w->all.at[twin];
        if (x->node == NONE)
            continue; /* dropped since */
        double start = twin_ready(w, x), finish = start + problem_time(p, x->task, x->node);
        w->timed++;
        if (start == x->start && finish == x->finish)
            continue;
        x->start = start;
        x->finish = finish;
        if (x->after != NONE)
            queue_forward(w, x->after);
        for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
            for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = w->all.at[c].more)
                if (w->supply.at[w->all.at[c].supply + w->slot[e]] == twin)
                    queue_forward(w, c);
    }
}

static void settle_backward(struct twins *w)
{
    const struct problem *p = w->problem;
    for (size_t i = 0; i < w->loose.n; i++)
        queue_backward(w, w->loose.at[i]);
    w->loose.n = 0;
    for (uint32_t twin; (twin = queue_take(w)) != NONE;) {
        struct twin *x = &w->all.at[twin];
        if (x->node == NONE)
            continue;
        double rest = twin_rest(w, twin);
        w->timed++;
        if (rest == x->rest)
            continue;
        x->rest = rest;
        if (x->before != NONE)
            queue_backward(w, x->before);
        uint32_t edges = p->pred_off[x->task + 1] - p->pred_off[x->task];
        for (uint32_t k = 0; k < edges; k++)
            queue_backward(w, w->supply.at[x->supply + k]);
    }
}

void twins_settle(struct twins *w)
{
    settle_forward(w);
    settle_backward(w);
    if (w->window) {
        if (!w->window->closing)
            w->makespan = twin_window_inside(w);
        return;
    }
    w->makespan = 0;
    for (uint32_t v = 0; v < w->problem->m; v++)
        if (w->last[v] != NONE)
            w->makespan = fmax(w->makespan, w->all.at[w->last[v]].finish);
}

/* ---- links ---- */

static void twin_link(struct twins *w, uint32_t twin, uint32_t node, uint32_t after)
{
    struct twin *x = &w->all.at[twin];
    uint32_t next = after == NONE ? w->head[node] : w->all.at[after].after;
    x->node = node;
    x->before = after;
    x->after = next;
    *(after == NONE ? &w->head[node] : &w->all.at[after].after) = twin;
    *(next == NONE ? &w->last[node] : &w->all.at[next].before) = twin;
    twin_is_stale(w, twin);
    twin_is_stale(w, next);
    twin_is_loose(w, twin);
    twin_is_loose(w, after);
}

static void twin_unlink(struct twins *w, uint32_t twin)
{
    struct twin *x = &w->all.at[twin];
    *(x->before == NONE ? &w->head[x->node] : &w->all.at[x->before].after) = x->after;
    *(x->after == NONE ? &w->last[x->node] : &w->all.at[x->after].before) = x->before;
    twin_is_stale(w, x->after);
    twin_is_loose(w, x->before);
}

/* All that wait for its data, or that it waits for. */
static void twin_disturbs(struct twins *w, uint32_t twin)
{
    const struct problem *p = w->problem;
    const struct twin *x = &w->all.at[twin];
    for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = w->all.at[c].more)
            if (w->supply.at[w->all.at[c].supply + w->slot[e]] == twin)
                twin_is_stale(w, c);
    for (uint32_t k = 0; k < p->pred_off[x->task + 1] - p->pred_off[x->task]; k++)
        twin_is_loose(w, w->supply.at[x->supply + k]);
}

/* A twin of the task, linked to nobody; its suppliers are NONE. */
static uint32_t twin_new(struct twins *w, uint32_t task)
{
    uint32_t twin = w->spare[task];
    if (twin != NONE) {
        w->spare[task] = w->all.at[twin].more;
    } else {
        twin = (uint32_t)w->all.n;
        uint32_t edges = w->problem->pred_off[task + 1] - w->problem->pred_off[task];
        array_push(&w->all, (struct twin){.supply = (uint32_t)w->supply.n});
        for (uint32_t k = 0; k < edges; k++)
            array_push(&w->supply, NONE);
    }
    struct twin *x = &w->all.at[twin];
    *x = (struct twin){.task = task, .supply = x->supply, .more = w->first[task]};
    w->first[task] = twin;
    if (w->window)
        array_push(&w->window->inside, twin);
    return twin;
}

/* Nobody draws on it: it goes, and with it suppliers that supply nobody else. */
static void twin_drop(struct twins *w, uint32_t twin)
{
    struct twin *x = &w->all.at[twin];
    uint32_t task = x->task, edges = w->problem->pred_off[task + 1] - w->problem->pred_off[task];
    twin_unlink(w, twin);
    uint32_t *link = &w->first[task];
    while (*link != twin)
        link = &w->all.at[*link].more;
    *link = x->more;
    x->more = w->spare[task];
    w->spare[task] = twin;
    x->node = NONE;
    for (uint32_t k = 0; k < edges; k++) {
        uint32_t s = w->supply.at[x->supply + k];
        w->supply.at[x->supply + k] = NONE;
        twin_is_loose(w, s);
        if (--w->all.at[s].uses == 0)
            twin_drop(w, s);
    }
}

/* ---- changes ---- */

uint32_t twins_supplier(const struct twins *w, uint32_t edge, uint32_t node, uint32_t now,
                        double before, double *arrival)
{
    const struct problem *p = w->problem;
    double best = INFINITY;
    uint32_t found = NONE;
    for (uint32_t s = w->first[p->pred[edge]]; s != NONE; s = w->all.at[s].more) {
        const struct twin *x = &w->all.at[s];
        if (s != now && (!(x->start < before) || x->era == TWIN_LATER))
            continue;
        double there = x->finish + (x->node == node ? 0 : p->pred_comm[edge]);
        if (there < best || (there == best && s == now)) {
            best = there;
            found = s;
        }
    }
    *arrival = best;
    return found;
}

void twins_resupply(struct twins *w, uint32_t consumer, uint32_t edge, uint32_t supplier)
{
    const struct problem *p = w->problem;
    struct twin *x = &w->all.at[consumer];
    uint32_t *place = &w->supply.at[x->supply + edge - p->pred_off[x->task]], old = *place;
    if (old == supplier)
        return;
    *place = supplier;
    w->all.at[supplier].uses++;
    twin_is_stale(w, consumer);
    twin_is_loose(w, supplier);
    if (old == NONE)
        return;
    twin_is_loose(w, old);
    if (--w->all.at[old].uses == 0)
        twin_drop(w, old);
}

/* From those that start before `before`, the best for where it is now. */
static void twin_choose_suppliers(struct twins *w, uint32_t twin, double before)
{
    const struct problem *p = w->problem;
    uint32_t task = w->all.at[twin].task;
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++) {
        double arrival;
        uint32_t now = twins_supplied_by(w, twin, e);
        twins_resupply(w, twin, e,
                       twins_supplier(w, e, w->all.at[twin].node, now, before, &arrival));
    }
}

/* Until it is computed it has no end, so that nobody waits for where it was, and a start that puts it in
 * its turn: behind those that it waits for. */
static void twin_take_turn(struct twins *w, uint32_t twin)
{
    struct twin *x = &w->all.at[twin];
    uint32_t edges = w->problem->pred_off[x->task + 1] - w->problem->pred_off[x->task];
    x->start = x->before == NONE ? 0 : w->all.at[x->before].start;
    for (uint32_t k = 0; k < edges; k++)
        x->start = fmax(x->start, w->all.at[w->supply.at[x->supply + k]].start);
    x->finish = 0;
}

/* It is linked to its new place first: who supplied it before, and is dropped, may stand beside it. */
void twins_move(struct twins *w, uint32_t twin, uint32_t node, uint32_t after)
{
    twin_unlink(w, twin);
    twin_link(w, twin, node, after);
    twin_disturbs(w, twin);
    twin_choose_suppliers(w, twin, w->all.at[twin].start);
    twin_take_turn(w, twin);
}

uint32_t twins_add(struct twins *w, uint32_t consumer, uint32_t edge, uint32_t after)
{
    double before = w->all.at[consumer].start;
    uint32_t twin = twin_new(w, w->problem->pred[edge]);
    twin_link(w, twin, w->all.at[consumer].node, after);
    twin_choose_suppliers(w, twin, before);
    twins_resupply(w, consumer, edge, twin);
    twin_take_turn(w, twin);
    return twin;
}

void twins_remove(struct twins *w, uint32_t twin)
{
    const struct problem *p = w->problem;
    uint32_t task = w->all.at[twin].task;
    for (uint32_t e = p->succ_off[task]; e < p->succ_off[task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]], more; c != NONE; c = more) {
            const struct twin *x = &w->all.at[c];
            more = x->more;
            if (w->supply.at[x->supply + w->slot[e]] != twin)
                continue;
            uint32_t edge = p->pred_off[x->task] + w->slot[e], other = NONE;
            double best = INFINITY;
            for (uint32_t s = w->first[task]; s != NONE; s = w->all.at[s].more) {
                const struct twin *y = &w->all.at[s];
                double there = y->finish + (y->node == x->node ? 0 : p->pred_comm[edge]);
                if (s == twin || y->era == TWIN_LATER || !(y->start < x->start) || !(there < best))
                    continue;
                best = there;
                other = s;
            }
            twins_resupply(w, c, edge, other);
        }
}

/* ---- plans at rest ---- */

struct twin_by_start {
    double start, finish;
    uint32_t rank, node;
};

static int compare_twins(const void *a, const void *b)
{
    const struct twin_by_start *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* By start; where these are equal, producers before consumers. */
static struct twin_by_start *twin_list_sort(const struct twin_list *list, const struct problem *p)
{
    struct twin_by_start *sorted = mem_new(struct twin_by_start, list->places.n);
    for (size_t i = 0; i < list->places.n; i++) {
        const struct twin_place *x = &list->places.at[i];
        sorted[i] = (struct twin_by_start){x->start, x->start + problem_time(p, x->task, x->node),
                                           p->rank[x->task], x->node};
    }
    qsort(sorted, list->places.n, sizeof *sorted, compare_twins);
    return sorted;
}

static void twins_clear(struct twins *w)
{
    const struct problem *p = w->problem;
    w->all.n = w->supply.n = w->stale.n = w->loose.n = 0;
    w->window = NULL;
    for (uint32_t t = 0; t < p->n; t++)
        w->first[t] = w->spare[t] = NONE;
    for (uint32_t v = 0; v < p->m; v++)
        w->head[v] = w->last[v] = NONE;
}

/* Of a task without consumers the twin that ends first is used; the others are not. */
static void twins_use_ends(struct twins *w)
{
    const struct problem *p = w->problem;
    for (uint32_t t = 0; t < p->n; t++) {
        if (p->succ_off[t] != p->succ_off[t + 1])
            continue;
        uint32_t soonest = w->first[t];
        for (uint32_t c = soonest; c != NONE; c = w->all.at[c].more)
            if (w->all.at[c].finish < w->all.at[soonest].finish)
                soonest = c;
        w->all.at[soonest].uses++;
    }
}

void twins_load(struct twins *w, const struct twin_list *list)
{
    const struct problem *p = w->problem;
    struct twin_by_start *sorted = twin_list_sort(list, p);
    double end = 0;
    for (size_t i = 0; i < list->places.n; i++)
        end = fmax(end, sorted[i].finish);
    w->scale = end > 0 ? w->nbuckets / (1.1 * end) : 0;
    twins_clear(w);
    for (size_t i = 0; i < list->places.n; i++) {
        uint32_t twin = twin_new(w, p->topo[sorted[i].rank]);
        twin_link(w, twin, sorted[i].node, w->last[sorted[i].node]);
        twin_choose_suppliers(w, twin, INFINITY); /* all that are there come before it */
        struct twin *x = &w->all.at[twin];
        x->start = twin_ready(w, x);
        x->finish = x->start + problem_time(p, x->task, x->node);
    }
    free(sorted);
    twins_use_ends(w);
    for (uint32_t i = (uint32_t)w->all.n; i-- > 0;)
        if (w->all.at[i].node != NONE && w->all.at[i].uses == 0)
            twin_drop(w, i);
    for (uint32_t i = (uint32_t)w->all.n; i-- > 0;)
        if (w->all.at[i].node != NONE)
            twin_is_loose(w, i);
    twins_settle(w);
}

void twins_save(const struct twins *w, struct twin_list *list)
{
    list->places.n = 0;
    list->makespan = w->makespan;
    for (uint32_t v = 0; v < w->problem->m; v++)
        for (uint32_t i = w->head[v]; i != NONE; i = w->all.at[i].after)
            array_push(&list->places,
                       (struct twin_place){w->all.at[i].start, w->all.at[i].task, v});
}

/* None of nowhere is none: a graph without edges has no suppliers. */
static void twins_copy_numbers(uint32_t *to, const uint32_t *from, size_t count)
{
    if (count)
        memcpy(to, from, count * sizeof *to);
}

void twins_copy_state(struct twins *to, const struct twins *from)
{
    const struct problem *p = from->problem;
    array_reserve(&to->all, from->all.n);
    array_reserve(&to->supply, from->supply.n);
    to->all.n = from->all.n;
    to->supply.n = from->supply.n;
    memcpy(to->all.at, from->all.at, from->all.n * sizeof *from->all.at);
    twins_copy_numbers(to->supply.at, from->supply.at, from->supply.n);
    twins_copy_numbers(to->first, from->first, p->n);
    twins_copy_numbers(to->spare, from->spare, p->n);
    twins_copy_numbers(to->head, from->head, p->m);
    twins_copy_numbers(to->last, from->last, p->m);
    to->makespan = from->makespan;
}

void twins_copy(struct twins *to, const struct twins *from)
{
    twins_copy_state(to, from);
    to->scale = from->scale;
    to->window = NULL;
}

void twin_list_from_encoding(struct twin_list *list, const struct problem *p,
                             const struct encoding *s)
{
    struct decoder *d = decoder_new(p);
    list->makespan = decoder_load(d, s);
    list->places.n = 0;
    for (uint32_t t = 0; t < p->n; t++)
        array_push(&list->places, (struct twin_place){d->start[t], t, d->node[t]});
    decoder_free(d);
}

void twin_list_from_plan(struct twin_list *list, const struct plan *plan)
{
    list->makespan = plan_makespan(plan);
    list->places.n = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *at = &plan->placements.at[i];
        array_push(&list->places, (struct twin_place){at->start, at->task, at->node});
    }
}

void twin_list_copy(struct twin_list *to, const struct twin_list *from)
{
    array_reserve(&to->places, from->places.n);
    to->places.n = from->places.n;
    to->makespan = from->makespan;
    if (from->places.n)
        memcpy(to->places.at, from->places.at, from->places.n * sizeof *from->places.at);
}

struct plan *twin_list_plan(const struct twin_list *list, const struct problem *p)
{
    struct twin_by_start *sorted = twin_list_sort(list, p);
    struct schedule *s = schedule_new(p->costs);
    for (size_t i = 0; i < list->places.n; i++) {
        const struct twin_by_start *x = &sorted[i];
        struct schedule_slot slot = {x->node, 0, x->start, x->finish};
        uint32_t task = p->topo[x->rank];
        if (schedule_is_placed(s, task))
            schedule_duplicate(s, task, slot);
        else
            schedule_place(s, task, slot);
    }
    free(sorted);
    struct plan *plan = schedule_plan(s);
    schedule_free(s);
    return plan;
}
