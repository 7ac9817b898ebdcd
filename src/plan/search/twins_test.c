/* Twins: after any sequence of changes, in a window or without, the times are those that computing everything anew
 * gives, no twin stays that serves nobody, and the plan is valid. What is built and what the search returns is a valid
 * plan of the makespan that it says; the search is never longer than its start, the same for the same
 * seed, and shorter than plans with one copy of each task where sending is dear. */
#include "plan/search/fixture.h"
#include "plan/search/tabu.h"
#include "plan/search/twin_build.h"
#include "plan/search/twin_team.h"
#include "plan/search/twin_window.h"
#include <inttypes.h>

struct twins_instance {
    struct fixture f;
    struct costs *costs;
    struct problem *p;
    struct twin_list start;
};

static void twins_instance_build(struct twins_instance *x, unsigned depth)
{
    struct twin_builder *b = twin_builder_new(x->p);
    double *priority = mem_new(double, x->p->n);
    for (uint32_t t = 0; t < x->p->n; t++)
        priority[t] = -(double)x->p->rank[t];
    x->start.makespan = twin_build(b, priority, depth, INFINITY);
    twin_builder_list(b, &x->start);
    free(priority);
    twin_builder_free(b);
}

static void twins_instance_make(struct twins_instance *x, const struct fixture_shape *shape,
                                uint64_t seed)
{
    struct error err = {0};
    *x = (struct twins_instance){0};
    fixture_build(&x->f, shape, seed);
    x->costs = costs_new(x->f.workflow, x->f.platform, &err);
    x->p = problem_new(x->costs);
    if (twins_suit(x->p))
        twins_instance_build(x, (unsigned)seed % 4);
}

static void twins_instance_free(struct twins_instance *x)
{
    array_free(&x->start.places);
    problem_free(x->p);
    costs_free(x->costs);
    fixture_free(&x->f);
}

static bool list_holds(const struct twins_instance *x, const struct twin_list *list)
{
    struct plan *plan = twin_list_plan(list, x->p);
    bool holds = fixture_violations(&x->f, plan) == 0 && plan_makespan(plan) == list->makespan;
    plan_free(plan);
    return holds;
}

/* ---- from scratch ---- */

static double start_anew(const struct twins *w, const struct twin *x, const double *finish)
{
    const struct problem *p = w->problem;
    double start = x->before == NONE ? 0 : finish[x->before];
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++) {
        uint32_t s = w->supply.at[x->supply + e - p->pred_off[x->task]];
        start = fmax(start, finish[s] + problem_comm(p, e, w->all.at[s].node, x->node));
    }
    return start;
}

/* Over all twins again and again until nothing changes; false: it does not end. */
static bool finish_anew(const struct twins *w, double *finish)
{
    for (size_t i = 0; i < w->all.n; i++)
        finish[i] = 0;
    for (size_t round = 0; round <= w->all.n; round++) {
        bool changed = false;
        for (size_t i = 0; i < w->all.n; i++) {
            const struct twin *x = &w->all.at[i];
            if (x->node == NONE)
                continue;
            double end = start_anew(w, x, finish) + problem_time(w->problem, x->task, x->node);
            changed |= end != finish[i];
            finish[i] = end;
        }
        if (!changed)
            return true;
    }
    return false;
}

/* rest[i], from those that i is before or supplies. */
static void rest_anew(const struct twins *w, double *rest)
{
    const struct problem *p = w->problem;
    for (size_t i = 0; i < w->all.n; i++)
        rest[i] = 0;
    for (size_t round = 0; round <= w->all.n; round++)
        for (size_t i = 0; i < w->all.n; i++) {
            const struct twin *x = &w->all.at[i];
            if (x->node == NONE)
                continue;
            double own = problem_time(p, x->task, x->node) + rest[i];
            if (x->before != NONE)
                rest[x->before] = fmax(rest[x->before], own);
            for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++) {
                uint32_t s = w->supply.at[x->supply + e - p->pred_off[x->task]];
                double way = own + problem_comm(p, e, w->all.at[s].node, x->node);
                rest[s] = fmax(rest[s], way);
            }
        }
}

static uint32_t differences(const struct twins *w)
{
    double *finish = mem_new(double, w->all.n), *rest = mem_new(double, w->all.n), makespan = 0;
    uint32_t wrong = !finish_anew(w, finish);
    if (!wrong)
        rest_anew(w, rest);
    for (size_t i = 0; !wrong && i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        if (x->node == NONE)
            continue;
        wrong += x->finish != finish[i] || x->start != start_anew(w, x, finish) || x->uses == 0 ||
                 fabs(x->rest - rest[i]) > 1e-9 * (1 + rest[i]);
        makespan = fmax(makespan, finish[i]);
    }
    wrong += makespan != w->makespan;
    free(finish);
    free(rest);
    return wrong;
}

/* ---- random changes, as the search may make them ---- */

static double first_consumer(const struct twins *w, uint32_t twin)
{
    const struct problem *p = w->problem;
    double high = INFINITY;
    for (size_t i = 0; i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        for (uint32_t e = p->pred_off[x->task]; x->node != NONE && e < p->pred_off[x->task + 1];
             e++)
            if (twins_supplied_by(w, (uint32_t)i, e) == twin)
                high = fmin(high, x->start);
    }
    return high;
}

/* -INFINITY: one is not inside. */
static double first_consumer_inside(const struct twins *w, uint32_t twin)
{
    const struct problem *p = w->problem;
    for (size_t i = 0; i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        for (uint32_t e = p->pred_off[x->task]; x->node != NONE && e < p->pred_off[x->task + 1];
             e++)
            if (twins_supplied_by(w, (uint32_t)i, e) == twin && x->era != TWIN_INSIDE)
                return -INFINITY;
    }
    return first_consumer(w, twin);
}

static bool is_there(const struct twins *w, uint32_t task, uint32_t node, uint32_t except)
{
    for (uint32_t c = w->first[task]; c != NONE; c = w->all.at[c].more)
        if (c != except && w->all.at[c].node == node)
            return true;
    return false;
}

/* A random gap of the node behind its suppliers and before `high`, for a twin (NONE: a new one). */
static bool random_gap(const struct twins *w, struct rng *rng, uint32_t twin, uint32_t task,
                       uint32_t node, double before, double high, uint32_t *after)
{
    const struct problem *p = w->problem;
    double low = 0;
    for (uint32_t e = p->pred_off[task]; e < p->pred_off[task + 1]; e++) {
        double arrival;
        uint32_t now = twin == NONE ? NONE : twins_supplied_by(w, twin, e);
        low = fmax(low, w->all.at[twins_supplier(w, e, node, now, before, &arrival)].finish);
    }
    uint32_t found = 0;
    for (uint32_t a = NONE, b = w->head[node];; a = b, b = w->all.at[b].after) {
        if (b != NONE && b == twin)
            b = w->all.at[b].after;
        bool fits =
            (a == NONE || w->all.at[a].start < high) && (b == NONE || w->all.at[b].finish > low);
        /* only beside what is inside, if a window is open */
        fits &= a == NONE || w->all.at[a].era != TWIN_LATER;
        fits &= b == NONE || w->all.at[b].era != TWIN_EARLIER;
        if (fits && rng_below(rng, ++found) == 0)
            *after = a;
        if (b == NONE)
            return found > 0;
    }
}

static void random_change(struct twins *w, struct rng *rng)
{
    const struct problem *p = w->problem;
    uint32_t i = (uint32_t)rng_below(rng, w->all.n), after;
    const struct twin *x = &w->all.at[i];
    if (x->node == NONE || x->era != TWIN_INSIDE)
        return;
    uint32_t node = (uint32_t)rng_below(rng, p->m), edges = p->pred_off[x->task + 1];
    if (rng_below(rng, 2) && edges > p->pred_off[x->task]) {
        uint32_t e = p->pred_off[x->task] + (uint32_t)rng_below(rng, edges - p->pred_off[x->task]);
        if (w->may_copy[p->pred[e]] && !is_there(w, p->pred[e], x->node, NONE) && x->start > 0 &&
            isfinite(problem_time(p, p->pred[e], x->node)) &&
            w->all.at[twins_supplied_by(w, i, e)].start < x->start &&
            random_gap(w, rng, NONE, p->pred[e], x->node, x->start, x->start, &after))
            twins_add(w, i, e, after);
    } else if (rng_below(rng, 4) == 0) {
        /* its consumers start after some other twin of it */
        double high = first_consumer_inside(w, i);
        for (uint32_t c = w->first[x->task]; c != NONE; c = w->all.at[c].more)
            if (c != i && w->all.at[c].start < high && w->all.at[c].era != TWIN_LATER &&
                isfinite(high)) {
                twins_remove(w, i);
                break;
            }
    } else if (isfinite(problem_time(p, x->task, node)) && !is_there(w, x->task, node, i) &&
               random_gap(w, rng, i, x->task, node, x->start, first_consumer(w, i), &after)) {
        twins_move(w, i, node, after);
    }
    twins_settle(w);
}

static void test_changes(const char *what, const struct fixture_shape *shape)
{
    uint32_t wrong = 0, longer = 0, invalid = 0, copied = 0;
    for (uint32_t g = 0; g < 8; g++) {
        static struct twins_instance x;
        struct fixture_shape own = *shape;
        own.density = 0.04 + 0.02 * g;
        own.ccr = g % 2 ? 4 : 0.5;
        twins_instance_make(&x, &own, 300 + g);
        struct twins *w = twins_new(x.p);
        struct twin_list list = {0};
        struct rng rng;
        rng_seed(&rng, g);
        twins_load(w, &x.start);
        longer += !(w->makespan <= x.start.makespan);
        wrong += differences(w);
        for (uint32_t i = 0; i < 300; i++) {
            random_change(w, &rng);
            wrong += differences(w);
        }
        twins_save(w, &list);
        copied += list.places.n > x.p->n;
        double makespan = w->makespan;
        twins_load(w, &list);
        longer += !(w->makespan <= makespan);
        twins_save(w, &list);
        invalid += !list_holds(&x, &list);
        array_free(&list.places);
        twins_free(w);
        twins_instance_free(&x);
    }
    is_int(wrong, 0, "%s: times are those of computing all anew, and every twin serves somebody",
           what);
    is_int(longer, 0, "%s: a plan that is taken over is not longer", what);
    is_int(invalid, 0, "%s: a valid plan of the makespan that is said", what);
    ok(copied > 4, "%s: there were copies (%" PRIu32 " of 8)", what, copied);
}

/* Changes in a stretch of the plan, back to where some of them were made, closed; false: not back there. */
static bool window_change(struct twins *w, struct rng *rng)
{
    double length = w->makespan * rng_unit(rng), from = w->makespan * rng_unit(rng) - length / 2;
    bool back = true;
    twin_window_open(w, from, from + length);
    for (uint32_t i = 0; i < 20; i++)
        random_change(w, rng);
    twin_window_keep(w);
    double makespan = w->makespan;
    for (uint32_t i = 0; i < 10; i++)
        random_change(w, rng);
    if (rng_below(rng, 2)) {
        twin_window_return(w);
        back = w->makespan == makespan && twin_window_inside(w) == makespan;
    }
    twin_window_close(w);
    w->makespan = 0;
    for (size_t i = 0; i < w->all.n; i++)
        if (w->all.at[i].node != NONE)
            w->makespan = fmax(w->makespan, w->all.at[i].finish);
    return back;
}

/* What no window touches stands still, whatever happens inside. */
static uint32_t foreign_differences(const struct twins *w, const struct twins *before)
{
    uint32_t wrong = 0;
    for (size_t i = 0; i < before->all.n; i++) {
        const struct twin *x = &w->all.at[i], *old = &before->all.at[i];
        if (x->foreign && x->node != NONE)
            wrong += x->node != old->node || x->start != old->start;
    }
    return wrong;
}

static void test_windows(void)
{
    uint32_t wrong = 0, invalid = 0, moved = 0, lost = 0;
    for (uint32_t g = 0; g < 12; g++) {
        static struct twins_instance x;
        twins_instance_make(&x,
                            &(struct fixture_shape){.tasks = 60,
                                                    .nodes = 4,
                                                    .cores = 1,
                                                    .density = 0.03 + 0.01 * (g % 5),
                                                    .ccr = g % 2 ? 4 : 0.5,
                                                    .unrelated = g % 3 == 0,
                                                    .fractions = g % 4 != 0},
                            500 + g);
        struct twins *w = twins_new(x.p), *half = twins_new(x.p);
        struct twin_window *window = twin_window_new(x.p);
        struct twin_list list = {0};
        struct rng rng;
        rng_seed(&rng, g);
        twins_load(w, &x.start);
        twin_window_share(w, window, -INFINITY, INFINITY);
        for (uint32_t i = 0; i < 20; i++) {
            size_t twins;
            lost += !window_change(w, &rng);
            wrong += differences(w);
            wrong += fabs(twin_window_longest(w, &twins) - w->makespan) > 1e-9 * w->makespan;
        }
        twins_save(w, &list);
        twins_load(w, &list);
        twins_save(w, &list);
        invalid += !list_holds(&x, &list);
        twins_copy(half, w);
        twin_window_share(half, window, g % 2 ? -INFINITY : w->makespan / 2,
                          g % 2 ? w->makespan / 2 : INFINITY);
        for (uint32_t i = 0; i < 10; i++)
            lost += !window_change(half, &rng);
        moved += foreign_differences(half, w);
        array_free(&list.places);
        twin_window_free(window);
        twins_free(w);
        twins_free(half);
        twins_instance_free(&x);
    }
    is_int(wrong, 0, "windows: when they close the times are those of computing all anew");
    is_int(lost, 0, "while they are open, there is a way back to what was kept");
    is_int(invalid, 0, "and the plan is valid");
    is_int(moved, 0, "what is foreign to a share stands still");
}

static void test_builder(void)
{
    uint32_t invalid = 0, copied[3] = {0};
    for (uint32_t g = 0; g < 12; g++) {
        static struct twins_instance x;
        twins_instance_make(&x,
                            &(struct fixture_shape){.tasks = 60,
                                                    .nodes = 6,
                                                    .cores = 1,
                                                    .density = 0.06,
                                                    .ccr = 5,
                                                    .unrelated = g % 2,
                                                    .restricted = g % 3 == 0,
                                                    .fractions = true},
                            60 + g);
        for (unsigned depth = 0; depth < 3; depth++) {
            twins_instance_build(&x, depth);
            copied[depth] += (uint32_t)x.start.places.n - x.p->n;
            invalid += !list_holds(&x, &x.start);
        }
        twins_instance_free(&x);
    }
    is_int(invalid, 0, "what is built is a valid plan of the makespan that is said");
    ok(copied[0] == 0 && copied[1] > 0 && copied[2] > copied[1],
       "copies of no, one and two generations: %" PRIu32 " < %" PRIu32 " < %" PRIu32, copied[0],
       copied[1], copied[2]);
}

static struct twin_list searched(const struct twins_instance *x, bool copies, unsigned streams,
                                 uint64_t moves)
{
    struct anneal_limits limits = {.moves = moves, .deadline = INFINITY};
    struct twin_list best = {0};
    twin_list_copy(&best, &x->start);
    twin_team_search(x->p, &best, copies, streams, 1, &limits);
    return best;
}

/* Tabu search with one copy of each task, from a plan without copies. */
static double searched_without(struct twins_instance *x)
{
    struct anneal_limits limits = {.moves = 8000, .deadline = INFINITY};
    struct encoding start = encoding_new(x->p->n), best = encoding_new(x->p->n);
    twins_instance_build(x, 0);
    struct plan *plan = twin_list_plan(&x->start, x->p);
    encoding_from_plan(&start, x->p, plan);
    struct decoder *d = decoder_new(x->p);
    start.makespan = decoder_load(d, &start);
    decoder_free(d);
    encoding_copy(&best, &start, x->p->n);
    tabu_search(x->p, &best, &start, 1, 7, &limits);
    double makespan = best.makespan;
    plan_free(plan);
    encoding_free(&start);
    encoding_free(&best);
    return makespan;
}

static void test_search(void)
{
    uint32_t invalid = 0, longer = 0, other = 0;
    double ratio = 1;
    for (uint32_t g = 0; g < 12; g++) {
        static struct twins_instance x;
        twins_instance_make(&x,
                            &(struct fixture_shape){.tasks = 60,
                                                    .nodes = 6,
                                                    .cores = 1,
                                                    .density = 0.02 + 0.002 * g,
                                                    .ccr = 5,
                                                    .fractions = g % 4 != 0},
                            80 + g);
        struct twin_list a = searched(&x, true, 1, 8000), b = searched(&x, true, 1, 8000);
        invalid += !list_holds(&x, &a);
        longer += !(a.makespan <= x.start.makespan);
        other += a.makespan != b.makespan || a.places.n != b.places.n ||
                 memcmp(a.places.at, b.places.at, a.places.n * sizeof *a.places.at) != 0;
        ratio *= pow(a.makespan / searched_without(&x), 1.0 / 12);
        array_free(&a.places);
        array_free(&b.places);
        twins_instance_free(&x);
    }
    is_int(invalid, 0, "the search returns a valid plan of the makespan that is said");
    is_int(longer, 0, "never longer than its start");
    is_int(other, 0, "the same for the same seed");
    ok(ratio < 1, "and with copies it is shorter than without, where sending is dear (%.4f)",
       ratio);
}

/* Of 150 tasks on two nodes three streams have shares of their own. */
static void test_team(void)
{
    uint32_t invalid = 0, longer = 0, other = 0;
    double ratio = 1;
    for (uint32_t g = 0; g < 6; g++) {
        static struct twins_instance x;
        twins_instance_make(&x,
                            &(struct fixture_shape){.tasks = 150,
                                                    .nodes = 2,
                                                    .cores = 1,
                                                    .density = 0.01 + 0.004 * g,
                                                    .ccr = g % 2 ? 5 : 1,
                                                    .unrelated = g % 3 == 1,
                                                    .fractions = g % 2},
                            700 + g);
        struct twin_list a = searched(&x, true, 3, 6000), b = searched(&x, true, 3, 6000);
        struct twin_list none = searched(&x, true, 3, 1);
        invalid += !list_holds(&x, &a) + !list_holds(&x, &none);
        longer += !(a.makespan <= x.start.makespan) + !(none.makespan <= x.start.makespan);
        other += a.makespan != b.makespan || a.places.n != b.places.n ||
                 memcmp(a.places.at, b.places.at, a.places.n * sizeof *a.places.at) != 0;
        ratio *= pow(a.makespan / x.start.makespan, 1.0 / 6);
        array_free(&a.places);
        array_free(&b.places);
        array_free(&none.places);
        twins_instance_free(&x);
    }
    is_int(invalid, 0, "several streams: what their shares are joined to is valid");
    is_int(longer, 0, "never longer than the start, also with a move for all of them");
    is_int(other, 0, "the same for the same seed, whoever is done first");
    ok(ratio < 0.95, "and shorter than what was built (%.4f)", ratio);
}

static void test_single(void)
{
    uint32_t invalid = 0, longer = 0, copied = 0;
    double ratio = 1;
    for (uint32_t g = 0; g < 6; g++) {
        static struct twins_instance x;
        twins_instance_make(
            &x,
            &(struct fixture_shape){.tasks = 150,
                                    .nodes = 2 + 4 * (g % 2),
                                    .cores = 1,
                                    .density = 0.004 * g, /* the first has no edges */
                                    .ccr = 1,
                                    .fractions = true},
            800 + g);
        twins_instance_build(&x, 0);
        struct twin_list a = searched(&x, false, 2, 6000);
        invalid += !list_holds(&x, &a);
        longer += !(a.makespan <= x.start.makespan);
        copied += a.places.n != x.p->n;
        ratio *= pow(a.makespan / x.start.makespan, 1.0 / 6);
        array_free(&a.places);
        twins_instance_free(&x);
    }
    is_int(invalid, 0, "one copy of each task: valid plans");
    is_int(longer, 0, "never longer than the start");
    is_int(copied, 0, "and none is copied");
    ok(ratio < 0.98, "shorter than what was built (%.4f)", ratio);
}

static void test_suits(void)
{
    static struct twins_instance x;
    twins_instance_make(
        &x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 4, .wide = true}, 3);
    ok(!twins_suit(x.p), "not asked on nodes of several cores");
    twins_instance_free(&x);
    twins_instance_make(
        &x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 1, .ports = 1}, 3);
    ok(!twins_suit(x.p), "nor with ports");
    twins_instance_free(&x);
    twins_instance_make(
        &x, &(struct fixture_shape){.tasks = 10, .nodes = 5, .cores = 1, .links = true}, 3);
    ok(!twins_suit(x.p), "nor where links differ");
    twins_instance_free(&x);
}

int main(void)
{
    test_changes("whole times", &(struct fixture_shape){.tasks = 40, .nodes = 4, .cores = 1});
    test_changes("speeds, tasks that run on few nodes", &(struct fixture_shape){.tasks = 50,
                                                                                .nodes = 6,
                                                                                .cores = 1,
                                                                                .unrelated = true,
                                                                                .restricted = true,
                                                                                .fractions = true});
    test_windows();
    test_builder();
    test_search();
    test_team();
    test_single();
    test_suits();
    return tap_done();
}
