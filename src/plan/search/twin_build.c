/* List scheduling with recursive copies; twin_build.h says what.
 *
 * A question (where would this task end on that node?) makes its copies in the node's line, notes them,
 * and takes them back; the answer that is taken is asked again and stays. Nodes are asked in an order that
 * finds a good answer early: those where the producers ended first. Another is asked only if the task
 * would end sooner there, did every producer's first end count everywhere. */
#include "plan/search/twin_build.h"
#include "base/clock.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of how many generations copies are. More of them take the place of what would help more (measured). */
enum { BUILD_DEPTH = 2, BUILD_STREAMS = 2 };

struct build_slot {
    double start, finish;
    uint32_t task;
};

struct build_undo {
    double start, soonest;
    uint32_t task;
};

struct twin_builder {
    const struct problem *p;
    struct twins *twins; /* for may_copy, and to tidy plans up */
    struct build_line {
        ARRAY(struct build_slot) slots; /* by start */
    } * line;                           /* by node */
    double *end;                        /* by task and node; INFINITY: no copy there */
    double *soonest;                    /* by task: the first end */
    struct build_rank {
        double priority;
        uint32_t rank;
    } * order;
    ARRAY(struct build_undo) undo;
};

struct twin_builder *twin_builder_new(const struct problem *p)
{
    struct twin_builder *b = mem_new_zero(struct twin_builder, 1);
    b->p = p;
    b->twins = twins_new(p);
    b->line = mem_new_zero(struct build_line, p->m);
    b->end = mem_new(double, (size_t)p->n * p->m);
    b->soonest = mem_new(double, p->n);
    b->order = mem_new(struct build_rank, p->n);
    return b;
}

void twin_builder_free(struct twin_builder *b)
{
    for (uint32_t v = 0; v < b->p->m; v++)
        array_free(&b->line[v].slots);
    twins_free(b->twins);
    free(b->line);
    free(b->end);
    free(b->soonest);
    free(b->order);
    array_free(&b->undo);
    free(b);
}

/* ---- slots ---- */

/* The earliest start from `ready` on, and which slot it comes before. */
static double build_gap(const struct twin_builder *b, uint32_t node, double ready, double seconds,
                        size_t *where)
{
    const struct build_slot *at = b->line[node].slots.at;
    size_t n = b->line[node].slots.n, low = 0, high = n;
    *where = n;
    if (!n || at[n - 1].finish <= ready)
        return ready;
    while (low < high) { /* the first that ends after `ready` */
        size_t middle = (low + high) / 2;
        if (at[middle].finish > ready)
            high = middle;
        else
            low = middle + 1;
    }
    double start = ready;
    for (; low < n && !(start + seconds <= at[low].start); low++)
        start = at[low].finish;
    *where = low;
    return start;
}

static void build_place(struct twin_builder *b, uint32_t task, uint32_t node, double start,
                        size_t where)
{
    struct build_line *line = &b->line[node];
    double finish = start + problem_time(b->p, task, node);
    array_push(&b->undo, (struct build_undo){start, b->soonest[task], task});
    array_push(&line->slots, (struct build_slot){0});
    memmove(line->slots.at + where + 1, line->slots.at + where,
            (line->slots.n - 1 - where) * sizeof *line->slots.at);
    line->slots.at[where] = (struct build_slot){start, finish, task};
    b->end[(size_t)task * b->p->m + node] = finish;
    if (finish < b->soonest[task])
        b->soonest[task] = finish;
}

/* All that was placed on the node since there were so many notes. */
static void build_take_back(struct twin_builder *b, uint32_t node, size_t notes)
{
    struct build_line *line = &b->line[node];
    while (b->undo.n > notes) {
        struct build_undo last = array_pop(&b->undo);
        size_t low = 0, high = line->slots.n;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (line->slots.at[middle].start < last.start)
                low = middle + 1;
            else
                high = middle;
        }
        while (line->slots.at[low].task != last.task)
            low++;
        line->slots.n--;
        memmove(line->slots.at + low, line->slots.at + low + 1,
                (line->slots.n - low) * sizeof *line->slots.at);
        b->end[(size_t)last.task * b->p->m + node] = INFINITY;
        b->soonest[last.task] = last.soonest;
    }
}

/* When the task's data are on the node. */
struct build_inputs {
    double ready, second; /* second: when all others are there than the last producer's */
    uint32_t last;        /* NONE: there are none */
};

static struct build_inputs build_ready(const struct twin_builder *b, uint32_t task, uint32_t node)
{
    const struct problem *p = b->p;
    struct build_inputs in = {.last = NONE};
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++) {
        uint32_t q = p->pred[e];
        double here = b->end[(size_t)q * p->m + node], sent = b->soonest[q] + p->pred_comm[e];
        double arrival = here < sent ? here : sent;
        if (arrival > in.ready) {
            in.second = in.ready;
            in.ready = arrival;
            in.last = q;
        } else if (arrival > in.second) {
            in.second = arrival;
        }
    }
    return in;
}

/* The start of the task on the node with copies of `depth` generations, which stay there, noted. A copy
 * stays if the task starts sooner by it; there are no more of them than it takes to end by `early`. */
static double build_slot(struct twin_builder *b, uint32_t task, uint32_t node, unsigned depth,
                         double early, size_t *where)
{
    const struct problem *p = b->p;
    double seconds = problem_time(p, task, node);
    struct build_inputs in = build_ready(b, task, node);
    double start = build_gap(b, node, in.ready, seconds, where);
    while (depth > 0 && in.last != NONE && start + seconds > early && b->twins->may_copy[in.last] &&
           !isfinite(b->end[(size_t)in.last * p->m + node])) {
        size_t notes = b->undo.n, place;
        double copy = build_slot(b, in.last, node, depth - 1, in.second, &place), sooner = INFINITY;
        if (copy + problem_time(p, in.last, node) < start) {
            build_place(b, in.last, node, copy, place);
            in = build_ready(b, task, node);
            sooner = build_gap(b, node, in.ready, seconds, where);
        }
        if (!(sooner < start)) {
            build_take_back(b, node, notes);
            build_gap(b, node, build_ready(b, task, node).ready, seconds, where);
            break;
        }
        start = sooner;
    }
    return start;
}

/* ---- plans ---- */

static int compare_ranks(const void *a, const void *b)
{
    const struct build_rank *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* By priority, raised to those of all consumers; of equal ones producers come first. */
static void build_sort(struct twin_builder *b, const double *priority)
{
    const struct problem *p = b->p;
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t t = p->topo[i];
        b->order[i] = (struct build_rank){priority[t], i};
        for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
            b->order[i].priority =
                fmax(b->order[i].priority, b->order[p->rank[p->succ[e]]].priority);
    }
    qsort(b->order, p->n, sizeof *b->order, compare_ranks);
}

static void build_clear(struct twin_builder *b)
{
    for (uint32_t v = 0; v < b->p->m; v++)
        b->line[v].slots.n = 0;
    for (size_t i = 0; i < (size_t)b->p->n * b->p->m; i++)
        b->end[i] = INFINITY;
    for (uint32_t t = 0; t < b->p->n; t++)
        b->soonest[t] = INFINITY;
    b->undo.n = 0;
}

struct build_best {
    double finish, least; /* least: no start is before this */
    uint32_t node;
};

static void build_ask(struct twin_builder *b, uint32_t task, uint32_t node, unsigned depth,
                      struct build_best *best)
{
    double seconds = problem_time(b->p, task, node);
    size_t where;
    if (!(best->least + seconds < best->finish) ||
        !(build_gap(b, node, best->least, seconds, &where) + seconds < best->finish))
        return;
    double finish = build_slot(b, task, node, depth, 0, &where) + seconds;
    build_take_back(b, node, 0);
    if (finish < best->finish) {
        best->finish = finish;
        best->node = node;
    }
}

/* Where the task ends first, and when: INFINITY where it can run nowhere. */
static double build_task(struct twin_builder *b, uint32_t task, unsigned depth)
{
    const struct problem *p = b->p;
    struct build_best best = {.finish = INFINITY, .node = NONE};
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++)
        best.least = fmax(best.least, b->soonest[p->pred[e]]);
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++)
        for (uint32_t v = 0; v < p->m; v++)
            if (b->end[(size_t)p->pred[e] * p->m + v] == b->soonest[p->pred[e]]) {
                build_ask(b, task, v, depth, &best);
                break;
            }
    for (uint32_t v = 0; v < p->m; v++)
        build_ask(b, task, v, depth, &best);
    if (best.node == NONE)
        return INFINITY;
    size_t where;
    double start = build_slot(b, task, best.node, depth, 0, &where);
    build_place(b, task, best.node, start, where);
    b->undo.n = 0;
    return best.finish;
}

double twin_build(struct twin_builder *b, const double *priority, unsigned depth, double deadline)
{
    double makespan = 0;
    build_sort(b, priority);
    build_clear(b);
    for (uint32_t i = 0; i < b->p->n; i++) {
        makespan = fmax(makespan, build_task(b, b->p->topo[b->order[i].rank], depth));
        if (!isfinite(makespan) ||
            (i % 64 == 63 && isfinite(deadline) && clock_seconds() >= deadline))
            return INFINITY;
    }
    return makespan;
}

void twin_builder_list(const struct twin_builder *b, struct twin_list *list)
{
    list->places.n = 0;
    for (uint32_t v = 0; v < b->p->m; v++)
        for (size_t i = 0; i < b->line[v].slots.n; i++)
            array_push(&list->places, (struct twin_place){b->line[v].slots.at[i].start,
                                                          b->line[v].slots.at[i].task, v});
}

/* ---- one after the other ---- */

/* From a task's start to the end of all, everything at its mean time and nothing sent. */
static double *build_mean_ranks(const struct problem *p)
{
    double *rank = mem_new_zero(double, p->n);
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t t = p->topo[i], nodes = 0;
        double sum = 0;
        for (uint32_t v = 0; v < p->m; v++)
            if (isfinite(problem_time(p, t, v))) {
                sum += problem_time(p, t, v);
                nodes++;
            }
        for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
            rank[t] = fmax(rank[t], rank[p->succ[e]]);
        rank[t] += nodes ? sum / nodes : 0;
    }
    return rank;
}

/* From a task's end to the end of all, in the plan. */
static double build_rest(const struct twins *w, uint32_t task)
{
    double rest = 0;
    for (uint32_t c = w->first[task]; c != NONE; c = w->all.at[c].more)
        rest = fmax(rest, w->all.at[c].rest);
    return rest;
}

/* Who ended late in the last plan, for how little follows it, is less urgent in the next. What follows is
 * the mean of its rank and of what did follow in the last plan; every stream weighs them otherwise. */
static void build_stream(const struct problem *p, unsigned stream, unsigned plans, double deadline,
                         const atomic_bool *stop, struct twin_list *best)
{
    struct twin_list list = {0};
    struct twin_builder *b = twin_builder_new(p);
    struct twins *w = b->twins;
    double *rank = build_mean_ranks(p), *priority = mem_new(double, p->n);
    double weight = 0.5 / (stream + 1);
    memcpy(priority, rank, p->n * sizeof *rank);
    for (unsigned pass = 0; pass < plans; pass++) {
        list.makespan = twin_build(b, priority, BUILD_DEPTH, deadline);
        if (!isfinite(list.makespan) || atomic_load_explicit(stop, memory_order_relaxed))
            break;
        twin_builder_list(b, &list);
        twins_load(w, &list);
        if (w->makespan < best->makespan)
            twins_save(w, best);
        for (uint32_t t = 0; t < p->n; t++)
            priority[t] = weight * build_rest(w, t) + (1 - weight) * rank[t] - b->soonest[t];
    }
    array_free(&list.places);
    free(rank);
    free(priority);
    twin_builder_free(b);
}

struct twin_building {
    const struct problem *problem;
    unsigned plans;
    double deadline;
    const atomic_bool *stop;
    struct twin_list found[BUILD_STREAMS];
};

static void build_one_stream(void *context, size_t i)
{
    struct twin_building *b = context;
    b->found[i] = (struct twin_list){.makespan = INFINITY};
    build_stream(b->problem, (unsigned)i, b->plans, b->deadline, b->stop, &b->found[i]);
}

/* Of equal ones the first stream's. */
void twin_build_several(const struct problem *p, unsigned plans, double deadline,
                        const atomic_bool *stop, struct twin_list *best)
{
    struct twin_building b = {.problem = p, .plans = plans, .deadline = deadline, .stop = stop};
    parallel_for(BUILD_STREAMS, 0, build_one_stream, &b);
    for (unsigned i = 0; i < BUILD_STREAMS; i++) {
        struct twin_list *found = &b.found[i];
        if (found->makespan < best->makespan) {
            struct twin_list old = *best;
            *best = *found;
            *found = old;
        }
        array_free(&found->places);
    }
}
