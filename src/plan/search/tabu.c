/* Tabu search; tabu.h says what and why.
 *
 *    node k:   ... a ]        [ x ]        [ b ...
 *                    ready ^       ^ rest
 *              way through x = max(ready, end of a) + time of x on k + max(rest, time of b and its rest)
 *
 * Starts, ends and rests are the decoder's, exact for the current encoding; what leaving its old place
 * changes of them is not looked at. A gap counts if x may stand there in the decoder's order: behind its
 * producers and a, before its consumers and b. That order is sorted by start now and then, so that it
 * forbids little that the graph allows.
 *
 * A task that left a node does not return to it for a while, unless that promises a new best: else the
 * search would go back and forth between two plans. When for long nothing was a new best, it goes on from
 * the best with nothing forbidden. */
#include "plan/search/tabu.h"
#include "base/clock.h"
#include "base/rng.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* They decide nothing but quality, which bench/quality.c measures. */
enum {
    TABU_TENURE = 24,      /* steps for which a task does not return: so many to twice as many */
    TABU_CHAIN = 128,      /* of a longer chain so many tasks are drawn, on average */
    TABU_NODES = 64,       /* of more nodes so many are drawn, beside those of neighbours */
    TABU_MARKS = 1 << 16,  /* who may not return, by task and node; two that share one do no harm */
    TABU_SORT = 64,        /* the order is sorted after so many steps and a 32nd of the tasks */
    TABU_PATIENCE = 20000, /* steps without a new best before it goes on from the best */
    TABU_LOOKS_A_MOVE = 200, /* gaps that are judged in the time of a move of annealing, */
    TABU_LOOKS_A_TIME = 6    /* and in that of a task whose times have changed */
};

/* After this part of its budget it must have made the plan so much shorter: there are graphs with so many
 * critical chains that changing one of them helps nothing, and annealing does. */
#define TABU_TRIAL 0.125
#define TABU_WORTH 0.999

struct tabu_search {
    const struct problem *problem;
    struct decoder *decoder;
    struct rng rng;
    uint64_t step, looks;
    uint64_t *until;         /* by mark: the step from which the task may return */
    uint32_t *chain, nchain; /* critical tasks, the last first */
    uint32_t *cursor;        /* by node: the last that starts no later than who is looked at */
    uint32_t *beside, stamp; /* by node: the stamp of who has a neighbour there */
    uint32_t *nodes, nnodes; /* to look at */
    double best;             /* makespan that a forbidden place must promise to beat */
    double way;              /* of the best place so far in this step; INFINITY: none */
    uint32_t task, node, after, ties; /* that place; after NONE: first on its node */
};

bool tabu_suits(const struct problem *p)
{
    if (p->ports || p->memory_binds || p->n < 2 || p->m < 2)
        return false;
    for (uint32_t v = 0; v < p->m; v++)
        if (p->core_off[v + 1] - p->core_off[v] > 1)
            return false;
    return true;
}

/* fmax() is a call into the library; no time here is a NaN. */
static inline double tabu_later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- the critical chain ---- */

/* True for one of those that are counted, each as likely. */
static bool tabu_draw(struct tabu_search *s, uint32_t *ties)
{
    return rng_below(&s->rng, ++*ties) == 0;
}

/* Who ends when `t` begins, or whose data come then; any of several. NONE: t waited for nobody. */
static uint32_t tabu_waited_for(struct tabu_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    uint32_t found = NONE, ties = 0, before = d->links->before[t];
    if (d->start[t] <= 0)
        return NONE;
    if (before != NONE && d->finish[before] >= d->start[t] && tabu_draw(s, &ties))
        found = before;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t q = p->pred[e];
        if (d->finish[q] + problem_comm(p, e, d->node[q], d->node[t]) >= d->start[t] &&
            tabu_draw(s, &ties))
            found = q;
    }
    return found;
}

static void tabu_find_chain(struct tabu_search *s)
{
    const struct decoder *d = s->decoder;
    uint32_t t = NONE, ties = 0;
    for (uint32_t v = 0; v < s->problem->m; v++) {
        uint32_t last = d->links->last[v];
        s->cursor[v] = last;
        if (last != NONE && d->finish[last] >= d->makespan && tabu_draw(s, &ties))
            t = last;
    }
    s->nchain = 0;
    while (t != NONE && s->nchain < d->n) {
        s->chain[s->nchain++] = t;
        t = tabu_waited_for(s, t);
    }
}

/* ---- places ---- */

/* When what a task needs is on a node. */
static double tabu_ready(const struct tabu_search *s, uint32_t t, uint32_t node)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    double ready = 0;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
        ready = tabu_later(ready,
                           d->finish[p->pred[e]] + problem_comm(p, e, d->node[p->pred[e]], node));
    return ready;
}

/* From a task's end on a node to the end of all, by its consumers. */
static double tabu_rest(const struct tabu_search *s, uint32_t t, uint32_t node)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    double rest = 0;
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++) {
        uint32_t to = p->succ[e], there = d->node[to];
        double way = problem_time(p, to, there) + d->links->rest[to];
        if (there != node)
            way += p->uniform ? p->succ_comm[e] : problem_far(p, p->succ_bytes[e], node, there);
        rest = tabu_later(rest, way);
    }
    return rest;
}

/* Around a task that is looked at: its neighbours in the graph. */
struct tabu_view {
    uint32_t task, low, high; /* places of its last producer (NONE: no one) and first consumer */
    double ready, rest;       /* on a node without neighbours, where all links are alike */
};

static struct tabu_view tabu_view_of(struct tabu_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    struct tabu_view v = {.task = t, .low = NONE, .high = d->n};
    s->stamp++;
    s->beside[d->node[t]] = s->stamp;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t q = p->pred[e];
        if (v.low == NONE || d->position[q] > v.low)
            v.low = d->position[q];
        v.ready = tabu_later(v.ready, d->finish[q] + p->pred_comm[e]);
        s->beside[d->node[q]] = s->stamp;
    }
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++) {
        uint32_t q = p->succ[e];
        if (d->position[q] < v.high)
            v.high = d->position[q];
        v.rest = tabu_later(v.rest,
                            p->succ_comm[e] + problem_time(p, q, d->node[q]) + d->links->rest[q]);
        s->beside[d->node[q]] = s->stamp;
    }
    return v;
}

static uint64_t *tabu_mark(const struct tabu_search *s, uint32_t task, uint32_t node)
{
    return &s->until[(task * 2654435761U + node * 40503U) % TABU_MARKS];
}

/* A gap is taken if its way is the shortest so far; of equal ones any. */
static void tabu_offer(struct tabu_search *s, uint32_t task, uint32_t node, uint32_t after,
                       double way)
{
    if (way > s->way || (*tabu_mark(s, task, node) > s->step && !(way < s->best)))
        return;
    if (way < s->way)
        s->ties = 0;
    if (!tabu_draw(s, &s->ties))
        return;
    s->way = way;
    s->task = task;
    s->node = node;
    s->after = after;
}

/* The neighbours on a node, as if `x` stood on none. */
static uint32_t before_without(const struct search_links *l, uint32_t t, uint32_t x)
{
    uint32_t b = l->before[t];
    return b == x ? l->before[x] : b;
}

static uint32_t after_without(const struct search_links *l, uint32_t t, uint32_t x, uint32_t node)
{
    uint32_t a = t == NONE ? l->head[node] : l->after[t];
    return a == x && a != NONE ? l->after[x] : a;
}

/* The gaps of a node between the task's producers and consumers, from the last to the first. */
static void tabu_look(struct tabu_search *s, const struct tabu_view *v, uint32_t node, double ready,
                      double rest)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    const struct search_links *l = d->links;
    uint32_t x = v->task;
    double own = problem_time(p, x, node);
    s->looks++;
    if (!(ready + own + rest < s->way))
        return;
    uint32_t a = s->cursor[node] == x ? l->before[x] : s->cursor[node];
    while (a != NONE && d->position[a] >= v->high)
        a = before_without(l, a, x);
    uint32_t b = after_without(l, a, x, node);
    for (; b != NONE && d->position[b] < v->high; b = after_without(l, a, x, node))
        a = b;
    for (;; b = a, a = before_without(l, a, x)) {
        double begin = a == NONE ? ready : tabu_later(ready, d->finish[a]);
        double end = b == NONE ? rest : tabu_later(rest, problem_time(p, b, node) + l->rest[b]);
        s->looks++;
        if (d->node[x] != node || l->before[x] != a)
            tabu_offer(s, x, node, a, begin + own + end);
        if (a == NONE || (v->low != NONE && d->position[a] <= v->low) ||
            ready + own + problem_time(p, a, node) + l->rest[a] > s->way)
            return;
    }
}

/* Chains are looked at from their end: cursors go one way. */
static void tabu_look_at_node(struct tabu_search *s, const struct tabu_view *v, uint32_t node)
{
    const struct decoder *d = s->decoder;
    uint32_t *at = &s->cursor[node];
    for (; *at != NONE && d->start[*at] > d->start[v->task]; s->looks++)
        *at = d->links->before[*at];
    bool near = !s->problem->uniform || s->beside[node] == s->stamp;
    tabu_look(s, v, node, near ? tabu_ready(s, v->task, node) : v->ready,
              near ? tabu_rest(s, v->task, node) : v->rest);
}

static void tabu_look_at_task(struct tabu_search *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct decoder *d = s->decoder;
    struct tabu_view v = tabu_view_of(s, t);
    s->looks += p->pred_off[t + 1] - p->pred_off[t] + p->succ_off[t + 1] - p->succ_off[t];
    for (uint32_t i = 0; i < s->nnodes; i++)
        tabu_look_at_node(s, &v, s->nodes[i]);
    if (s->nnodes == p->m)
        return;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
        tabu_look_at_node(s, &v, d->node[p->pred[e]]);
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
        tabu_look_at_node(s, &v, d->node[p->succ[e]]);
    tabu_look_at_node(s, &v, d->node[t]);
}

static void tabu_choose_nodes(struct tabu_search *s)
{
    if (s->problem->m <= TABU_NODES)
        return;
    for (uint32_t i = 0; i < s->nnodes; i++)
        s->nodes[i] = (uint32_t)rng_below(&s->rng, s->problem->m);
}

/* ---- steps ---- */

/* Behind `after` and its producers in the order: the gap says that consumers and the next task on the node
 * come later. */
static void tabu_move(struct tabu_search *s)
{
    const struct problem *p = s->problem;
    struct decoder *d = s->decoder;
    uint32_t t = s->task, behind = s->after == NONE ? NONE : d->position[s->after];
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
        if (behind == NONE || d->position[p->pred[e]] > behind)
            behind = d->position[p->pred[e]];
    uint32_t place = d->position[t], first = d->links->head[s->node];
    if (behind != NONE)
        place = behind < place ? behind + 1 : behind;
    else if (first != NONE && d->position[first] < place) /* first on its node, without producers */
        place = d->position[first];
    *tabu_mark(s, t, d->node[t]) = s->step + TABU_TENURE + rng_below(&s->rng, TABU_TENURE + 1);
    decoder_reassign(d, t, s->node);
    decoder_shift(d, t, place);
}

/* True: a task has moved. */
static bool tabu_step(struct tabu_search *s)
{
    struct decoder *d = s->decoder;
    s->step++;
    s->way = INFINITY;
    s->ties = 0;
    tabu_find_chain(s);
    tabu_choose_nodes(s);
    for (uint32_t i = 0; i < s->nchain; i++)
        if (s->nchain <= TABU_CHAIN || rng_below(&s->rng, s->nchain) < TABU_CHAIN)
            tabu_look_at_task(s, s->chain[i]);
    s->looks += s->nchain;
    if (!isfinite(s->way))
        return false;
    tabu_move(s);
    double makespan = decoder_run(d, INFINITY);
    s->looks += TABU_LOOKS_A_TIME * (uint64_t)d->links->moved.n;
    if (!isfinite(makespan)) {
        decoder_drop(d);
        return false;
    }
    decoder_keep(d, makespan);
    return true;
}

struct tabu_place {
    double start;
    uint32_t position, task;
};

static int tabu_compare(const void *a, const void *b)
{
    const struct tabu_place *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* By start, and where these are equal as it was: producers stay before consumers, and nodes keep their
 * sequences. */
static void tabu_sort(struct tabu_search *s, struct tabu_place *place, struct encoding *sorted)
{
    struct decoder *d = s->decoder;
    for (uint32_t i = 0; i < d->n; i++)
        place[i] = (struct tabu_place){d->start[d->order[i]], i, d->order[i]};
    qsort(place, d->n, sizeof *place, tabu_compare);
    decoder_save(d, sorted);
    for (uint32_t i = 0; i < d->n; i++)
        sorted->order[i] = place[i].task;
    decoder_load(d, sorted);
    s->looks += 8 * (uint64_t)d->n;
}

struct tabu_pace tabu_begin(const struct anneal_limits *limits, double makespan)
{
    double now = clock_seconds();
    return (struct tabu_pace){.limits = limits, .started = now, .told = now, .first = makespan};
}

/* Asked once, after a part of the budget: has it hardly made the plan shorter? */
static bool tabu_is_in_vain(struct tabu_pace *pace, double makespan)
{
    if (pace->judged || pace->done <= TABU_TRIAL)
        return false;
    pace->judged = true;
    return makespan > TABU_WORTH * pace->first;
}

bool tabu_is_over(struct tabu_pace *pace, uint64_t moves)
{
    const struct anneal_limits *limits = pace->limits;
    if (limits->moves && moves >= limits->moves)
        return true;
    if (limits->stop && atomic_load_explicit(limits->stop, memory_order_relaxed))
        return true;
    pace->done = limits->moves ? (double)moves / (double)limits->moves : 0;
    if (isinf(limits->deadline) && !limits->progress)
        return false;
    double now = clock_seconds();
    if (now >= limits->deadline)
        return true;
    if (!limits->moves)
        pace->done = (now - pace->started) / (limits->deadline - pace->started);
    if (!limits->progress || now - pace->told < 0.25)
        return false;
    pace->told = now;
    double from = limits->progress_from, whole = limits->progress_to - from;
    if (progress_report(limits->progress, from + whole * pace->done, "local search"))
        return false;
    if (limits->stop)
        atomic_store(limits->stop, true);
    return true;
}

static void tabu_run(struct tabu_search *s, struct encoding *best,
                     const struct anneal_limits *limits)
{
    const struct problem *p = s->problem;
    struct decoder *d = s->decoder;
    struct tabu_place *place = mem_new(struct tabu_place, p->n);
    struct encoding sorted = encoding_new(p->n);
    struct tabu_pace pace = tabu_begin(limits, best->makespan);
    uint64_t last = 0;
    while (!tabu_is_over(&pace, s->step + s->looks / TABU_LOOKS_A_MOVE)) {
        if (tabu_is_in_vain(&pace, best->makespan))
            break;
        if (s->step % (TABU_SORT + p->n / 32) == 0)
            tabu_sort(s, place, &sorted);
        s->best = best->makespan * TABU_TRULY;
        if (tabu_step(s) && d->makespan < best->makespan) {
            decoder_save(d, best);
            last = s->step;
            if (best->makespan <= limits->target)
                break;
        }
        if (s->step - last > TABU_PATIENCE) {
            memset(s->until, 0, TABU_MARKS * sizeof *s->until);
            decoder_load(d, best);
            last = s->step;
        }
    }
    encoding_free(&sorted);
    free(place);
}

uint64_t tabu_search(const struct problem *p, struct encoding *best, const struct encoding *start,
                     uint64_t seed, uint64_t stream, const struct anneal_limits *limits)
{
    struct tabu_search s = {.problem = p};
    if (!tabu_suits(p) || best->makespan <= limits->target)
        return 0;
    s.decoder = decoder_new(p);
    s.until = mem_new_zero(uint64_t, TABU_MARKS);
    s.chain = mem_new(uint32_t, p->n);
    s.cursor = mem_new(uint32_t, p->m);
    s.beside = mem_new_zero(uint32_t, p->m);
    s.nnodes = p->m <= TABU_NODES ? p->m : TABU_NODES;
    s.nodes = mem_new(uint32_t, s.nnodes);
    for (uint32_t i = 0; i < s.nnodes; i++)
        s.nodes[i] = i;
    rng_seed_stream(&s.rng, seed, stream);
    s.decoder->makespan = decoder_load(s.decoder, start);
    if (s.decoder->makespan < best->makespan)
        decoder_save(s.decoder, best);
    tabu_run(&s, best, limits);
    decoder_free(s.decoder);
    free(s.until);
    free(s.chain);
    free(s.cursor);
    free(s.beside);
    free(s.nodes);
    return s.step + s.looks / TABU_LOOKS_A_MOVE;
}
