/* Decoding a change must give what decoding everything gives, whether trials are kept or dropped.
 */
#include "plan/search/decoder.h"
#include "plan/search/fixture.h"

struct trial_counts {
    uint32_t trials, kept, stopped, wrong_times, wrong_stops;
};

/* A few random changes that keep producers before consumers. */
static void change(struct decoder *d, const struct fixture *f, struct rng *rng)
{
    uint32_t changes = 1 + (uint32_t)rng_below(rng, 4);
    for (uint32_t k = 0; k < changes; k++) {
        uint32_t t = (uint32_t)rng_below(rng, f->n), v = (uint32_t)rng_below(rng, f->m);
        if (rng_below(rng, 2)) {
            if (isfinite(f->time[t][v]))
                decoder_reassign(d, t, v);
            continue;
        }
        uint32_t low = 0, high = f->n - 1;
        for (uint32_t q = 0; q < f->n; q++) {
            if (f->bytes[q][t] != -1 && d->position[q] + 1 > low)
                low = d->position[q] + 1;
            if (f->bytes[t][q] != -1 && d->position[q] - 1 < high)
                high = d->position[q] - 1;
        }
        decoder_shift(d, t, low + (uint32_t)rng_below(rng, high - low + 1));
    }
}

static bool same_times(const struct decoder *a, const struct decoder *b)
{
    for (uint32_t t = 0; t < a->n; t++)
        if (a->start[t] != b->start[t] || a->finish[t] != b->finish[t] ||
            a->node[t] != b->node[t] || a->core[t] != b->core[t] ||
            a->position[t] != b->position[t])
            return false;
    return a->makespan == b->makespan;
}

static void try_changes(const struct fixture *f, uint64_t seed, struct trial_counts *counts,
                        uint32_t trials)
{
    struct rng rng;
    rng_seed(&rng, seed);
    struct error err = {0};
    struct costs *costs = costs_new(f->workflow, f->platform, &err);
    struct problem *p = problem_new(costs);
    struct decoder *d = decoder_new(p), *fresh = decoder_new(p);
    struct encoding now = encoding_new(p->n), trial = encoding_new(p->n);
    for (uint32_t t = 0; t < p->n; t++) {
        now.order[t] = p->topo[t];
        for (now.node[t] = 0; !isfinite(f->time[t][now.node[t]]); now.node[t]++)
            ;
    }
    double bound = problem_bound(p);
    decoder_load(d, &now);
    for (uint32_t i = 0; i < trials; i++) {
        change(d, f, &rng);
        memcpy(trial.order, d->order, p->n * sizeof *trial.order);
        memcpy(trial.node, d->node, p->n * sizeof *trial.node);
        double truth = decoder_load(fresh, &trial);
        double limit = d->makespan * rng_uniform(&rng, 0.9, 1.2);
        double got = decoder_run(d, limit);
        counts->trials++;
        counts->wrong_times += truth < bound * (1 - 1e-9);
        if (isinf(got)) {
            counts->stopped++;
            counts->wrong_stops += truth <= limit * (1 - 1e-9);
        } else {
            counts->wrong_times += got != truth;
        }
        if (isfinite(got) && rng_below(&rng, 3)) {
            decoder_keep(d, got);
            counts->kept++;
            counts->wrong_times += !same_times(d, fresh);
        } else {
            decoder_drop(d);
            decoder_save(d, &now);
            decoder_load(fresh, &now);
            counts->wrong_times += !same_times(d, fresh);
        }
    }
    struct plan *plan = decoder_plan(d);
    counts->wrong_times += fixture_violations(f, plan) != 0 || plan_makespan(plan) != d->makespan;
    encoding_from_plan(
        &now, p,
        plan); /* by start time: never longer, unless a task of several cores lands elsewhere */
    counts->wrong_times +=
        !p->ports && !p->wide && !(decoder_load(fresh, &now) <= d->makespan * (1 + 1e-12));
    plan_free(plan);
    encoding_free(&now);
    encoding_free(&trial);
    decoder_free(d);
    decoder_free(fresh);
    problem_free(p);
    costs_free(costs);
}

static void compare(const char *what, const struct fixture_shape *shape, uint32_t trials)
{
    struct trial_counts counts = {0};
    for (uint32_t g = 0; g < 4; g++) {
        struct fixture_shape own = *shape;
        own.density = 0.04 + 0.06 * g;
        own.ccr = g % 2 ? 4 : 0.5;
        static struct fixture f;
        fixture_build(&f, &own, 500 + g);
        try_changes(&f, g, &counts, trials);
        fixture_free(&f);
    }
    is_int(counts.wrong_times, 0, "%s: %u trials, %u kept: the same times as decoding all", what,
           counts.trials, counts.kept);
    is_int(counts.wrong_stops, 0, "%s: none of %u stopped trials was short enough", what,
           counts.stopped);
    ok(counts.stopped > counts.trials / 50 && counts.kept > counts.trials / 50, "%s: both happen",
       what);
}

int main(void)
{
    TAP_DO(compare("one core a node", &(struct fixture_shape){.tasks = 50, .nodes = 4, .cores = 1},
                   400));
    compare("links that differ, unrelated times",
            &(struct fixture_shape){.tasks = 50,
                                    .nodes = 5,
                                    .cores = 1,
                                    .links = true,
                                    .unrelated = true,
                                    .restricted = true,
                                    .fractions = true},
            400);
    compare("several cores",
            &(struct fixture_shape){.tasks = 50, .nodes = 3, .cores = 4, .wide = true}, 400);
    compare("memory", &(struct fixture_shape){.tasks = 25, .nodes = 3, .cores = 4, .memory = true},
            60);
    TAP_DO(compare("ports",
                   &(struct fixture_shape){.tasks = 25, .nodes = 3, .cores = 1, .ports = 1}, 60));
    return tap_done();
}
