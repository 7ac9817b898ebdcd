/* A server and its clients in virtual time, for searches over orders.
 *
 * The eligible tasks are a set of ranks (places in the order), kept as a tree of 64-bit words, so
 * that the first one is found in log64(tasks) steps:
 *
 *     level 1                 ...1 0 1          which words of level 0 are not empty
 *     level 0    ...0 1 1 0   ...0 0   ...0 1 0 0    which ranks are eligible
 *
 * Everything that has ended by the time of a request is handled before it, so the order of events
 * in one instant does not matter. */
#include "plan/order/rehearsal.h"
#include "base/heap.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Five levels hold 2^30 ranks; six hold every uint32_t. */
enum { RANK_LEVELS = 6 };
/* Times of tasks are kept for all scenarios up to so many (32 MB), and drawn each time beyond. */
enum { KEPT_TIMES = 4000000 };

struct rank_set {
    uint64_t *word[RANK_LEVELS];
    uint32_t levels;
};

struct rehearsal {
    const struct workflow *w;
    struct clients clients;
    bool has_work;
    uint32_t scenarios;
    uint64_t *seeds;
    double *times;     /* by scenario and task; NULL: too many to keep */
    double *tails;     /* the same: from a task's start over its longest way to a sink; made late */
    uint32_t *parents; /* of each task, counted */
    uint32_t *missing; /* parents that have not ended */
    uint32_t *rank;    /* place of a task in the order; NONE: not known */
    const uint32_t *at;        /* the order */
    uint32_t unknown_eligible; /* of bounds: eligible, and not in the order */
    uint32_t left;             /* not given yet */
    struct rank_set eligible;
    struct heap running;
    uint64_t steps;
};

/* ---- sets of ranks ---- */

static void rank_set_init(struct rank_set *s, uint32_t n)
{
    size_t bits = n ? n : 1;
    do {
        bits = (bits + 63) / 64;
        s->word[s->levels++] = mem_new_zero(uint64_t, bits);
    } while (bits > 1);
}

static void rank_set_add(struct rank_set *s, uint32_t rank)
{
    for (uint32_t l = 0; l < s->levels; l++, rank /= 64) {
        uint64_t *word = &s->word[l][rank / 64], before = *word;
        *word |= (uint64_t)1 << (rank % 64);
        if (before)
            return;
    }
}

/* The lowest rank, taken out; NONE: the set is empty. */
static uint32_t rank_set_take(struct rank_set *s)
{
    uint32_t rank = 0, top = s->levels - 1;
    if (!s->word[top][0])
        return NONE;
    for (uint32_t l = s->levels; l-- > 0;)
        rank = rank * 64 + (uint32_t)__builtin_ctzll(s->word[l][rank]);
    uint32_t at = rank;
    for (uint32_t l = 0; l < s->levels; l++, at /= 64) {
        uint64_t *word = &s->word[l][at / 64];
        *word &= ~((uint64_t)1 << (at % 64));
        if (*word)
            break;
    }
    return rank;
}

/* ---- scenarios ---- */

static double rehearsal_draw(const struct rehearsal *r, uint32_t scenario, uint32_t task)
{
    struct rng rng;
    clients_task_rng(&rng, r->seeds[scenario], task, 0);
    return clients_task_time(&rng, clients_mean_time(r->w, task, r->has_work),
                             r->clients.deviation);
}

static double task_time(const struct rehearsal *r, uint32_t scenario, uint32_t task)
{
    return r->times ? r->times[(size_t)scenario * r->w->ntasks + task]
                    : rehearsal_draw(r, scenario, task);
}

/* Times of tasks are drawn once and kept, as long as that is not too much: an order is rehearsed
 * thousands of times with the same scenarios. Each is a function of its seed, scenario and task, so
 * that drawing it again gives the same. */
struct rehearsal *rehearsal_new(const struct workflow *w, const struct clients *c, uint64_t seed,
                                uint32_t scenarios)
{
    struct rehearsal *r = mem_new_zero(struct rehearsal, 1);
    uint32_t n = w->ntasks;
    struct rng rng;
    r->w = w;
    r->clients = *c;
    r->has_work = clients_have_work(w);
    r->scenarios = scenarios;
    r->seeds = mem_new(uint64_t, scenarios);
    rng_seed(&rng, seed);
    for (uint32_t i = 0; i < scenarios; i++)
        r->seeds[i] = rng_next(&rng);
    if ((uint64_t)n * scenarios <= KEPT_TIMES) {
        double *times = mem_new(double, (size_t)n *scenarios);
        for (uint32_t i = 0; i < scenarios; i++)
            for (uint32_t t = 0; t < n; t++)
                times[(size_t)i * n + t] = rehearsal_draw(r, i, t);
        r->times = times;
    }
    r->parents = mem_new(uint32_t, n);
    r->missing = mem_new(uint32_t, n);
    r->rank = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++)
        r->parents[t] = w->pred_off[t + 1] - w->pred_off[t];
    rank_set_init(&r->eligible, n);
    return r;
}

void rehearsal_free(struct rehearsal *r)
{
    if (!r)
        return;
    for (uint32_t l = 0; l < r->eligible.levels; l++)
        free(r->eligible.word[l]);
    heap_free(&r->running);
    free(r->seeds);
    free(r->times);
    free(r->tails);
    free(r->parents);
    free(r->missing);
    free(r->rank);
    free(r);
}

uint64_t rehearsal_seed(const struct rehearsal *r, uint32_t scenario)
{
    return r->seeds[scenario];
}

uint64_t rehearsal_steps(const struct rehearsal *r)
{
    return r->steps;
}

/* ---- one run ---- */

static void rehearsal_make_eligible(struct rehearsal *r, uint32_t task)
{
    if (r->rank[task] == NONE)
        r->unknown_eligible++;
    else
        rank_set_add(&r->eligible, r->rank[task]);
}

static void rehearsal_begin(struct rehearsal *r)
{
    uint32_t n = r->w->ntasks;
    while (rank_set_take(&r->eligible) != NONE) /* what a bound left behind */
        ;
    heap_clear(&r->running);
    memcpy(r->missing, r->parents, n * sizeof *r->missing);
    r->left = n;
    r->unknown_eligible = 0;
    for (uint32_t t = 0; t < n; t++)
        if (!r->parents[t])
            rehearsal_make_eligible(r, t);
}

/* The earliest task that runs has ended. */
static void rehearsal_end_task(struct rehearsal *r)
{
    const struct workflow *w = r->w;
    uint32_t task = (uint32_t)heap_pop(&r->running).value;
    for (uint32_t k = w->succ_off[task]; k < w->succ_off[task + 1]; k++)
        if (--r->missing[w->succ_task[k]] == 0)
            rehearsal_make_eligible(r, w->succ_task[k]);
}

/* One request is met with the first eligible task of the order: 1. Nothing is eligible: 0. Only
 * tasks of which the order is not known are: -1. */
static int rehearsal_give(struct rehearsal *r, uint32_t scenario, double now, double *makespan)
{
    uint32_t rank = rank_set_take(&r->eligible);
    if (rank == NONE)
        return r->unknown_eligible ? -1 : 0;
    uint32_t task = r->at[rank];
    double end = now + task_time(r, scenario, task);
    r->left--;
    r->steps++;
    *makespan = end > *makespan ? end : *makespan;
    heap_push(&r->running, end, task);
    return 1;
}

/* Until all tasks are given, or (of bounds) somebody would get an unknown one: then *stopped is the
 * time of that request. */
static double run_batches(struct rehearsal *r, uint32_t scenario, double *stopped)
{
    struct rng arrivals;
    double now = 0, makespan = 0;
    uint64_t requests;
    rng_seed(&arrivals, r->seeds[scenario]);
    while (r->left) {
        now += clients_next_batch(&r->clients, &arrivals, &requests);
        r->steps++;
        while (heap_peek(&r->running) && heap_peek(&r->running)->key <= now)
            rehearsal_end_task(r);
        for (int given = 1; requests && given > 0; requests--) {
            given = rehearsal_give(r, scenario, now, &makespan);
            if (given < 0) {
                *stopped = now;
                return makespan;
            }
        }
    }
    return makespan;
}

static double run_workers(struct rehearsal *r, uint32_t scenario, double *stopped)
{
    double now = 0, makespan = 0;
    uint64_t idle = (uint64_t)r->clients.count;
    while (r->left) {
        for (int given = 1; idle && given > 0; idle -= given > 0) {
            given = rehearsal_give(r, scenario, now, &makespan);
            if (given < 0) {
                *stopped = now;
                return makespan;
            }
        }
        const struct heap_item *next = heap_peek(&r->running);
        if (!r->left || !next) /* while tasks are left, some run: a dag cannot stand still */
            break;
        now = next->key;
        for (; heap_peek(&r->running) && heap_peek(&r->running)->key <= now; idle++)
            rehearsal_end_task(r);
    }
    return makespan;
}

static double rehearsal_run(struct rehearsal *r, uint32_t scenario, double *stopped)
{
    rehearsal_begin(r);
    return r->clients.kind == CLIENTS_WORKERS ? run_workers(r, scenario, stopped)
                                              : run_batches(r, scenario, stopped);
}

static void rehearsal_take_order(struct rehearsal *r, const uint32_t *order, uint32_t n)
{
    if (n < r->w->ntasks)
        for (uint32_t t = 0; t < r->w->ntasks; t++)
            r->rank[t] = NONE;
    for (uint32_t i = 0; i < n; i++)
        r->rank[order[i]] = i;
    r->at = order;
}

double rehearsal_time(struct rehearsal *r, const uint32_t *order, uint32_t scenario)
{
    double never = INFINITY;
    rehearsal_take_order(r, order, r->w->ntasks);
    return rehearsal_run(r, scenario, &never);
}

double rehearsal_mean(struct rehearsal *r, const uint32_t *order, double *each)
{
    double sum = 0, never = INFINITY;
    rehearsal_take_order(r, order, r->w->ntasks);
    for (uint32_t i = 0; i < r->scenarios; i++) {
        double time = rehearsal_run(r, i, &never);
        if (each)
            each[i] = time;
        sum += time;
    }
    return sum / r->scenarios;
}

/* ---- bounds ---- */

static void rehearsal_make_tails(struct rehearsal *r)
{
    const struct workflow *w = r->w;
    uint32_t n = w->ntasks;
    r->tails = mem_new(double, (size_t)n * r->scenarios);
    for (uint32_t s = 0; s < r->scenarios; s++)
        for (uint32_t i = n; i-- > 0;) {
            uint32_t t = w->topo[i];
            double *tail = r->tails + (size_t)s * n, longest = 0;
            for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
                longest = fmax(longest, tail[w->succ_task[k]]);
            tail[t] = longest + task_time(r, s, t);
        }
}

/* Whoever was not given when the scenario stopped starts no earlier, and its longest way to a sink
 * follows; what waits for a task that runs starts no earlier than that ends. Workers also share what
 * work is left. */
static double bound_of_rest(struct rehearsal *r, uint32_t scenario, double stopped,
                            const uint8_t *given)
{
    const struct workflow *w = r->w;
    const double *tail = r->tails + (size_t)scenario * w->ntasks;
    double bound = 0, work = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!given[t]) {
            bound = fmax(bound, stopped + tail[t]);
            work += task_time(r, scenario, t);
        }
    for (size_t i = 0; i < r->running.n; i++) {
        const struct heap_item *run = &r->running.at[i];
        uint32_t task = (uint32_t)run->value;
        if (run->key > stopped)
            work += run->key - stopped;
        bound = fmax(bound, run->key + tail[task] - task_time(r, scenario, task));
    }
    if (r->clients.kind == CLIENTS_WORKERS)
        bound = fmax(bound, stopped + work / r->clients.count);
    return bound;
}

double rehearsal_bound(struct rehearsal *r, const uint32_t *first, uint32_t n)
{
    double sum = 0;
    uint8_t *given = mem_new(uint8_t, r->w->ntasks);
    if (!r->tails)
        rehearsal_make_tails(r);
    rehearsal_take_order(r, first, n);
    for (uint32_t i = 0; i < r->scenarios; i++) {
        double stopped = INFINITY, time = rehearsal_run(r, i, &stopped);
        if (isfinite(stopped)) {
            /* of the known ones, those still eligible or not yet were not given */
            memset(given, 0, r->w->ntasks);
            for (uint32_t k = 0; k < n; k++)
                given[first[k]] = r->missing[first[k]] == 0;
            time = fmax(time, bound_of_rest(r, i, stopped, given));
        }
        sum += time;
    }
    free(given);
    return sum / r->scenarios;
}
