/* Fair shares on one node: runs whose tasks all are there from some time on, against the fluid in which
 * the cores flow to the runs by weight (generalised processor sharing), reckoned apart. */
#include "base/rng.h"
#include "sched/share.h"
#include "tap.h"

#include <math.h>

enum { MOST_RUNS = 6, MOST_CORES = 16 };

struct shared_run {
    struct run_share share; /* first: the node knows it by this */
    double at, length, spread;
    uint32_t tasks;   /* in all */
    uint32_t started; /* of them */
    uint32_t cores;   /* of each */
    double had, first, finish;
    double lengths[4096];
};

struct shared_core {
    double until;
    struct shared_run *run; /* NULL: free */
    double began;
};

static double test_now;

static bool run_waits(const struct run_share *r)
{
    const struct shared_run *run = (const struct shared_run *)r;
    return run->at <= test_now && run->started < run->tasks;
}

static void make_lengths(struct shared_run *r, struct rng *rng)
{
    for (uint32_t i = 0; i < r->tasks; i++)
        r->lengths[i] = r->length * (1 + r->spread * (2 * rng_unit(rng) - 1));
}

/* The test's own node: cores, and a list of ends. Every run's tasks take one core each. */
static void node_start(struct node_shares *n, struct shared_core *core, uint32_t cores)
{
    for (struct run_share *next; (next = share_next(n, test_now));) {
        struct shared_run *r = (struct shared_run *)next;
        uint32_t k = 0;
        while (k < cores && core[k].run)
            k++;
        if (k == cores)
            return;
        share_competes(n, &r->share, test_now);
        share_takes(&r->share, test_now, 1);
        if (!r->started)
            r->first = test_now;
        core[k] = (struct shared_core){test_now + r->lengths[r->started++], r, test_now};
    }
}

static void node_run(struct shared_run *runs, uint32_t nruns, uint32_t cores)
{
    struct node_shares n = {.waits = run_waits};
    struct shared_core core[MOST_CORES] = {{0}};
    test_now = 0;
    for (uint32_t i = 0; i < nruns; i++)
        share_joins(&n, &runs[i].share, log2(runs[i].share.weight));
    for (;;) {
        for (uint32_t i = 0; i < nruns; i++)
            if (run_waits(&runs[i].share))
                share_competes(&n, &runs[i].share, test_now);
        node_start(&n, core, cores);
        double next = INFINITY;
        uint32_t k = 0;
        for (uint32_t i = 0; i < cores; i++)
            if (core[i].run && core[i].until < next) {
                next = core[i].until;
                k = i;
            }
        bool arrival = false;
        for (uint32_t i = 0; i < nruns; i++)
            if (runs[i].at > test_now && runs[i].at < next) {
                next = runs[i].at;
                arrival = true;
            }
        if (!isfinite(next))
            break;
        test_now = next;
        if (arrival)
            continue;
        struct shared_run *r = core[k].run;
        double seconds = core[k].until - core[k].began;
        share_gives(&r->share, test_now, 1, seconds);
        r->had += seconds;
        r->finish = test_now;
        core[k].run = NULL;
        r->share.competes = r->share.busy || run_waits(&r->share);
    }
    array_free(&n.runs);
}

/* The fluid: cores in proportion to the weights, what one cannot use (it has fewer tasks left than
 * cores) to the others. Returns when each run is through. */
static void fluid(const struct shared_run *runs, uint32_t n, double cores, double *finish)
{
    double left[MOST_RUNS], now = 0;
    for (uint32_t i = 0; i < n; i++) {
        left[i] = 0;
        for (uint32_t t = 0; t < runs[i].tasks; t++)
            left[i] += runs[i].lengths[t];
    }
    for (;;) {
        double weight = 0, step = INFINITY;
        for (uint32_t i = 0; i < n; i++)
            weight += left[i] > 1e-9 && runs[i].at <= now ? runs[i].share.weight : 0;
        for (uint32_t i = 0; i < n; i++) {
            if (left[i] <= 1e-9)
                continue;
            step = fmin(step, runs[i].at > now ? runs[i].at - now
                                               : left[i] / (cores * runs[i].share.weight / weight));
        }
        if (!isfinite(step))
            return;
        for (uint32_t i = 0; i < n; i++)
            if (left[i] > 1e-9 && runs[i].at <= now) {
                left[i] -= step * cores * runs[i].share.weight / weight;
                if (left[i] <= 1e-9)
                    finish[i] = now + step;
            }
        now += step;
    }
}

static struct shared_run *new_runs(void)
{
    return mem_new_zero(struct shared_run, MOST_RUNS);
}

static void test_against_fluid(void)
{
    struct shared_run *runs = new_runs();
    uint32_t wrong = 0, cases = 400;
    double worst = 0;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        uint32_t n = 2 + (uint32_t)rng_below(&rng, MOST_RUNS - 1),
                 cores = 1 + (uint32_t)rng_below(&rng, MOST_CORES);
        double longest = 0, finish[MOST_RUNS] = {0}, most_weight = 0, least_weight = INFINITY;
        for (uint32_t i = 0; i < n; i++) {
            runs[i] = (struct shared_run){.at = i ? rng_uniform(&rng, 0, 30) : 0,
                                          .length = rng_uniform(&rng, 0.1, 3),
                                          .spread = rng_unit(&rng),
                                          .tasks = 50 + (uint32_t)rng_below(&rng, 1000)};
            runs[i].share.weight = share_weight((double)rng_below(&rng, 4) - 1);
            make_lengths(&runs[i], &rng);
            longest = fmax(longest, runs[i].length * (1 + runs[i].spread));
            most_weight = fmax(most_weight, runs[i].share.weight);
            least_weight = fmin(least_weight, runs[i].share.weight);
        }
        node_run(runs, n, cores);
        fluid(runs, n, cores, finish);
        /* Nothing is taken from a task that runs: a run may be ahead or behind by a round of tasks, its
         * own and one of each other. */
        double slack = longest * (1 + n * most_weight / least_weight / 2);
        for (uint32_t i = 0; i < n; i++) {
            wrong += fabs(runs[i].finish - finish[i]) > slack;
            worst = fmax(worst, fabs(runs[i].finish - finish[i]) / slack);
        }
    }
    is_int(wrong, 0,
           "%u random sets of runs end when the fluid does, but for tasks that run (%.2f)", cases,
           worst);
    free(runs);
}

static void test_shares(void)
{
    struct shared_run *runs = new_runs();
    struct rng rng;
    rng_seed(&rng, 1);
    for (int high = 1; high <= 3; high++) {
        for (int i = 0; i < 2; i++) {
            runs[i] = (struct shared_run){.length = 0.5 + i, .spread = 0.5, .tasks = 4000};
            runs[i].share.weight = share_weight(i ? high : 0);
            make_lengths(&runs[i], &rng);
        }
        node_run(runs, 2, 8);
        /* until the first is through, both wait all the time */
        struct shared_run *first = runs[0].finish < runs[1].finish ? &runs[0] : &runs[1];
        double other = first->finish * 8 - first->had, ratio = first->had / other;
        double wanted = first == &runs[1] ? 1 << high : 1.0 / (1 << high);
        ok(fabs(ratio / wanted - 1) < 0.03, "priority %d: %.3f times the cores of priority 0", high,
           first == &runs[1] ? ratio : 1 / ratio);
    }
    free(runs);
}

/* Two tasks beside hours, of any priority: they wait for one core to become free, no more. */
static void test_starvation(void)
{
    struct shared_run *runs = new_runs();
    struct rng rng;
    rng_seed(&rng, 1);
    for (int low = -20; low <= 0; low += 10) {
        runs[0] = (struct shared_run){.length = 10, .tasks = 4000};
        runs[1] = (struct shared_run){.length = 1, .tasks = 2, .at = 1000};
        runs[0].share.weight = 1;
        runs[1].share.weight = share_weight(low);
        for (int i = 0; i < 2; i++)
            make_lengths(&runs[i], &rng);
        node_run(runs, 2, 4);
        ok(runs[1].first <= 1010.001, "priority %d: the first of two tasks starts at %g", low,
           runs[1].first);
        ok(low < 0 || runs[1].finish < 1025, "and both are through at %g", runs[1].finish);
        ok(runs[1].finish < runs[0].finish || low < -10, "before the long run is");
    }
    free(runs);
}

/* Nobody knows how long its tasks are: it may not have all cores because of that. */
static void test_unknown_lengths(void)
{
    struct shared_run *runs = new_runs();
    struct rng rng;
    rng_seed(&rng, 1);
    runs[0] = (struct shared_run){.length = 1, .tasks = 4000};
    runs[1] = (struct shared_run){.length = 500, .tasks = 20, .at = 50};
    for (int i = 0; i < 2; i++) {
        runs[i].share.weight = 1;
        make_lengths(&runs[i], &rng);
    }
    node_run(runs, 2, 8);
    /* alone it takes 500 s; with half of the cores from 50 s on, 950 s */
    ok(runs[0].finish < 1000, "short tasks go on beside hours: through at %g", runs[0].finish);
    free(runs);
}

/* Time in which it wanted nothing is no credit. */
static void test_no_credit(void)
{
    struct shared_run *runs = new_runs();
    struct rng rng;
    rng_seed(&rng, 1);
    runs[0] = (struct shared_run){.length = 1, .tasks = 4000};
    runs[1] = (struct shared_run){.length = 1, .tasks = 400, .at = 500};
    for (int i = 0; i < 2; i++) {
        runs[i].share.weight = 1;
        make_lengths(&runs[i], &rng);
    }
    node_run(runs, 2, 4);
    ok(fabs(runs[1].finish - 700) < 5, "a late run gets half, not all: through at %g",
       runs[1].finish);
    free(runs);
}

int main(void)
{
    TAP_DO(test_against_fluid());
    TAP_DO(test_shares());
    TAP_DO(test_starvation());
    TAP_DO(test_unknown_lengths());
    TAP_DO(test_no_credit());
    return tap_done();
}
