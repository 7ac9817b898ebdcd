/* List scheduling that counts idle time; pack.h says what for.
 *
 *    order:  [ stands: as in the best plan ][ from here on by new priorities ]
 *
 * A pass takes the tasks by priority, the highest first: a random weight of each task's own time, and the
 * longest way that follows, so that producers come first whatever the weights. It begins anywhere in the order
 * of the best plan, more often near its end, and is given up once it is longer. */
#include "plan/search/pack.h"
#include "base/clock.h"
#include "base/rng.h"
#include "plan/search/tabu.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PACK_PATIENCE = 400,     /* passes in a row that find nothing shorter */
    PACK_TASK_TRIES = 16,    /* what a task costs, beside being tried on each core, in tries */
    PACK_TRIES_A_MOVE = 512, /* tries in the time of a move of annealing */
    PACK_TRIES_SECOND = 100000000, /* at least; today's cores do twice as many */
    PACK_CHECK = 1024              /* tasks between two looks at the clock */
};

/* Weights of a node's waiting: at most 2 to this power. */
#define PACK_MOST_WEIGHT 6
/* A pass that begins so much longer than the best plan is not for this graph. */
#define PACK_WORTH 1.02

struct pack_task {
    double priority;
    uint32_t position, task;
};

struct pack_place {
    double finish;
    uint32_t node, core; /* core: in the list of all cores */
};

struct packer {
    const struct problem *problem;
    struct rng rng;
    uint32_t ncores;
    double mean_speed; /* of a core */
    /* the plan so far, and the pass */
    uint32_t *order, *trial_order;
    struct pack_place *placed, *trial; /* by task */
    double makespan;
    double *available; /* by core */
    double *ready;     /* by node: when the data of a task are there */
    double *priority;  /* by task */
    struct pack_task *sorted;
    double idle, sending; /* weights of this pass: of a node's waiting, and of transfers in ways */
    uint64_t tried;       /* tasks on a node each */
};

bool pack_suits(const struct problem *p)
{
    return !p->ports && !p->memory_binds && !p->wide && p->n > 1 && p->m > 1;
}

/* ---- a pass ---- */

static double pack_arrival(const struct packer *s, uint32_t edge, uint32_t node)
{
    const struct pack_place *at = &s->trial[s->problem->pred[edge]];
    return at->finish + problem_comm(s->problem, edge, at->node, node);
}

/* When all data of the task are on each node. */
static void pack_find_ready(struct packer *s, uint32_t t)
{
    const struct problem *p = s->problem;
    uint32_t begin = p->pred_off[t], end = p->pred_off[t + 1];
    if (!p->uniform) {
        for (uint32_t v = 0; v < p->m; v++)
            s->ready[v] = 0;
        for (uint32_t e = begin; e < end; e++)
            for (uint32_t v = 0; v < p->m; v++)
                s->ready[v] = fmax(s->ready[v], pack_arrival(s, e, v));
        return;
    }
    double far = 0;
    for (uint32_t e = begin; e < end; e++)
        far = fmax(far, s->trial[p->pred[e]].finish + p->pred_comm[e]);
    for (uint32_t v = 0; v < p->m; v++)
        s->ready[v] = far;
    for (uint32_t e = begin; e < end; e++) {
        uint32_t v = s->trial[p->pred[e]].node;
        s->ready[v] = 0;
        for (uint32_t k = begin; k < end; k++)
            s->ready[v] = fmax(s->ready[v], pack_arrival(s, k, v));
    }
}

static double pack_place(struct packer *s, uint32_t t)
{
    const struct problem *p = s->problem;
    double best = INFINITY;
    struct pack_place place = {.finish = INFINITY};
    pack_find_ready(s, t);
    for (uint32_t v = 0; v < p->m; v++) {
        double own = problem_time(p, t, v), weight = s->idle * p->speed[v] / s->mean_speed;
        for (uint32_t c = p->core_off[v]; c < p->core_off[v + 1]; c++) {
            double free = s->available[c], begin = s->ready[v] > free ? s->ready[v] : free;
            double cost = begin + own + weight * (begin - free);
            if (!(cost < best))
                continue;
            best = cost;
            place = (struct pack_place){begin + own, v, c};
        }
    }
    s->trial[t] = place;
    if (place.finish < INFINITY)
        s->available[place.core] = place.finish;
    return place.finish;
}

static int pack_compare(const void *a, const void *b)
{
    const struct pack_task *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* The order from `first` on, by new priorities. */
static void pack_sort(struct packer *s, uint32_t first, double noise)
{
    const struct problem *p = s->problem;
    for (uint32_t i = p->n; i-- > first;) {
        uint32_t t = s->order[i];
        double rest = 0;
        for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
            rest = fmax(rest, s->priority[p->succ[e]] + s->sending * p->succ_comm[e]);
        double factor = noise > 0 ? rng_uniform(&s->rng, 1 - noise, 1 + noise) : 1;
        s->priority[t] = p->least[t] * factor + rest;
        s->sorted[i] = (struct pack_task){s->priority[t], i, t};
    }
    qsort(s->sorted + first, p->n - first, sizeof *s->sorted, pack_compare);
    for (uint32_t i = first; i < p->n; i++)
        s->trial_order[i] = s->sorted[i].task;
}

/* What the tasks before `first` leave of the cores. */
static void pack_begin_at(struct packer *s, uint32_t first)
{
    for (uint32_t c = 0; c < s->ncores; c++)
        s->available[c] = 0;
    for (uint32_t i = 0; i < first; i++) {
        uint32_t t = s->order[i];
        s->trial[t] = s->placed[t];
        s->available[s->placed[t].core] = s->placed[t].finish;
    }
}

/* The makespan of the pass; INFINITY: longer than `limit`, or out of time. */
static double pack_run(struct packer *s, uint32_t first, double noise, double limit,
                       double deadline)
{
    double makespan = 0;
    pack_sort(s, first, noise);
    pack_begin_at(s, first);
    for (uint32_t c = 0; c < s->ncores; c++)
        makespan = fmax(makespan, s->available[c]);
    for (uint32_t i = first; i < s->problem->n; i++) {
        makespan = fmax(makespan, pack_place(s, s->trial_order[i]));
        s->tried += s->ncores + PACK_TASK_TRIES;
        if (makespan > limit)
            return INFINITY;
        if (i % PACK_CHECK == 0 && clock_seconds() > deadline)
            return INFINITY;
    }
    return makespan;
}

static void pack_take(struct packer *s, uint32_t first, double makespan)
{
    for (uint32_t i = first; i < s->problem->n; i++) {
        uint32_t t = s->trial_order[i];
        s->order[i] = t;
        s->placed[t] = s->trial[t];
    }
    s->makespan = makespan;
}

/* ---- the search ---- */

static uint64_t pack_moves(const struct packer *s)
{
    return s->tried / PACK_TRIES_A_MOVE;
}

static uint64_t pack_pass_tries(const struct packer *s)
{
    return (uint64_t)s->problem->n * (s->ncores + PACK_TASK_TRIES);
}

/* Is there time for one pass over all tasks? A large graph on many nodes may take longer than its budget. */
static bool pack_has_time(const struct packer *s, const struct anneal_limits *limits)
{
    if (limits->moves)
        return pack_pass_tries(s) / PACK_TRIES_A_MOVE <= limits->moves;
    return (double)pack_pass_tries(s) / PACK_TRIES_SECOND < limits->deadline - clock_seconds();
}

/* Waiting counts a little, and more, and nearly alone; the best of these is where the search begins. */
static void pack_start(struct packer *s, const struct anneal_limits *limits)
{
    const double sending[] = {0.5, 1};
    for (size_t k = 0; k < 2; k++)
        for (s->idle = 4; s->idle <= 64; s->idle *= 4) {
            if (limits->moves && s->tried + pack_pass_tries(s) > limits->moves * PACK_TRIES_A_MOVE)
                return;
            s->sending = sending[k];
            double makespan = pack_run(s, 0, 0, s->makespan, limits->deadline);
            if (makespan < s->makespan)
                pack_take(s, 0, makespan);
        }
}

/* From anywhere in the order on, more often near the end. */
static bool pack_again(struct packer *s, const struct anneal_limits *limits)
{
    const struct problem *p = s->problem;
    double most = log2(p->n), least = fmin(log2(s->ncores), most - 1);
    double tail = exp2(rng_uniform(&s->rng, fmax(least, 1), most));
    uint32_t first = p->n - (uint32_t)fmin(tail, p->n);
    s->idle = exp2(rng_uniform(&s->rng, 0, PACK_MOST_WEIGHT));
    s->sending = rng_unit(&s->rng);
    double noise = exp2(rng_uniform(&s->rng, -6, 0));
    double before = s->makespan, makespan = pack_run(s, first, noise, before, limits->deadline);
    if (makespan <= before)
        pack_take(s, first, makespan);
    return makespan < before;
}

static void pack_finish(struct packer *s, struct encoding *best)
{
    const struct problem *p = s->problem;
    struct encoding found = encoding_new(p->n);
    struct decoder *d = decoder_new(p);
    memcpy(found.order, s->order, p->n * sizeof *s->order);
    for (uint32_t t = 0; t < p->n; t++)
        found.node[t] = s->placed[t].node;
    found.makespan = decoder_load(d, &found);
    if (found.makespan < best->makespan)
        encoding_copy(best, &found, p->n);
    decoder_free(d);
    encoding_free(&found);
}

static void packer_init(struct packer *s, const struct problem *p)
{
    *s = (struct packer){.problem = p, .ncores = p->core_off[p->m], .makespan = INFINITY};
    s->order = mem_new(uint32_t, p->n);
    s->trial_order = mem_new(uint32_t, p->n);
    s->placed = mem_new(struct pack_place, p->n);
    s->trial = mem_new(struct pack_place, p->n);
    s->available = mem_new(double, s->ncores);
    s->ready = mem_new(double, p->m);
    s->priority = mem_new(double, p->n);
    s->sorted = mem_new(struct pack_task, p->n);
    memcpy(s->order, p->topo, p->n * sizeof *s->order);
    for (uint32_t v = 0; v < p->m; v++)
        s->mean_speed += p->speed[v] / p->m;
}

static void packer_clear(struct packer *s)
{
    free(s->order);
    free(s->trial_order);
    free(s->placed);
    free(s->trial);
    free(s->available);
    free(s->ready);
    free(s->priority);
    free(s->sorted);
}

uint64_t pack_search(const struct problem *p, struct encoding *best, uint64_t seed, uint64_t stream,
                     const struct anneal_limits *limits)
{
    struct packer s;
    if (!pack_suits(p) || best->makespan <= limits->target)
        return 0;
    struct tabu_pace pace = tabu_begin(limits, best->makespan);
    packer_init(&s, p);
    rng_seed_stream(&s.rng, seed, stream);
    if (pack_has_time(&s, limits))
        pack_start(&s, limits);
    for (uint32_t vain = 0; s.makespan < PACK_WORTH * best->makespan && vain < PACK_PATIENCE;
         vain++) {
        if (s.makespan <= limits->target || tabu_is_over(&pace, pack_moves(&s)))
            break;
        if (pack_again(&s, limits))
            vain = 0;
    }
    if (s.makespan < best->makespan)
        pack_finish(&s, best);
    packer_clear(&s);
    return pack_moves(&s);
}
