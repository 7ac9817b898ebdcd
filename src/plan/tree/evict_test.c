/* Files on disk against an oracle of its own: every order of the tasks, every set of files on disk, memory added
 * up from the arrays that the test drew.
 *
 * The trees are nearly binary and memories are at most a byte above what the most demanding task needs: where tasks
 * have many children, that one task needs more than anything that waits, and nothing would ever be written out. */
#include "plan/tree/evict.h"
#include "plan/tree/fixture.h"

enum { MOST_TASKS = 8 };

struct drawn_tree {
    uint32_t n, parent[16];
    double memory[16], file[16], room;
    bool in;
};

/* Bytes while task x runs: its own and its neighbours' files, and those that wait between two others. */
static double oracle_bytes(const struct drawn_tree *d, uint32_t done, uint32_t x, uint32_t away)
{
    double bytes = d->memory[x] + d->file[x];
    for (uint32_t f = 1; f < d->n; f++) {
        uint32_t maker = d->in ? f : d->parent[f], reader = d->in ? d->parent[f] : f;
        bool waits = (done >> maker & 1) && !(done >> reader & 1) && reader != x;
        if (d->parent[f] == x)
            bytes += d->file[f];
        else if (f != x && waits && !(away >> f & 1))
            bytes += d->file[f];
    }
    return bytes;
}

/* Can the rest run with these files on disk, in some order? */
static bool oracle_runs(const struct drawn_tree *d, uint32_t done, uint32_t away)
{
    if (done + 1 == 1u << d->n)
        return true;
    for (uint32_t x = 0; x < d->n; x++) {
        bool ready = !(done >> x & 1);
        for (uint32_t f = 1; f < d->n && ready; f++)
            if (d->in ? d->parent[f] == x : f == x)
                ready = done >> (d->in ? f : d->parent[f]) & 1;
        if (ready && oracle_bytes(d, done, x, away) <= d->room &&
            oracle_runs(d, done | 1u << x, away))
            return true;
    }
    return false;
}

static double oracle_volume(const struct drawn_tree *d)
{
    double best = INFINITY;
    for (uint32_t away = 0; away < 1u << d->n; away += 2) {
        double volume = 0;
        for (uint32_t f = 1; f < d->n; f++)
            volume += away >> f & 1 ? d->file[f] : 0;
        if (volume < best && oracle_runs(d, 0, away))
            best = volume;
    }
    return best;
}

static struct drawn_tree draw_tree(struct rng *rng, uint32_t most)
{
    struct drawn_tree d = {.n = 6 + (uint32_t)rng_below(rng, most - 5), .in = rng_below(rng, 2)};
    double need[16] = {0}, least = 0;
    for (uint32_t i = 0; i < d.n; i++) {
        d.parent[i] = i ? (i - 1) / 2 - (uint32_t)rng_below(rng, i > 2 ? 2 : 1) : NONE;
        d.memory[i] = (double)rng_below(rng, 2);
        d.file[i] = i ? (double)(1 + rng_below(rng, 12)) : 0;
        need[i] += d.memory[i] + d.file[i];
        if (i)
            need[d.parent[i]] += d.file[i];
    }
    for (uint32_t i = 0; i < d.n; i++)
        least = fmax(least, need[i]);
    d.room = least + (double)rng_below(rng, 2);
    return d;
}

/* A chain has no direction of its own: weft reads it from its first task on. */
static bool is_chain(const struct drawn_tree *d)
{
    for (uint32_t i = 1; i < d->n; i++)
        for (uint32_t k = i + 1; k < d->n; k++)
            if (d->parent[i] == d->parent[k])
                return false;
    return true;
}

static struct workflow *drawn_workflow(const struct drawn_tree *d)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
        builder_work(b, task, 1, 0);
        builder_memory(b, task, d->memory[i], 0);
    }
    for (uint32_t i = 1; i < d->n; i++)
        builder_data_edge(b, d->in ? i : d->parent[i], d->in ? d->parent[i] : i, d->file[i], 0);
    return builder_finish(b, NULL);
}

/* The checker's word on the plan for one node, and what it writes; NAN: no plan, or not valid. */
static double planned_volume(const struct workflow *w, double memory)
{
    struct platform_builder *b = platform_builder_new("<test>");
    uint32_t node = platform_builder_node(b, "n", 1, 0);
    platform_builder_memory(b, node, memory, 0);
    platform_builder_disk(b, node, 10, 0);
    struct platform *p = platform_builder_finish(b, NULL);
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    struct plan *plan = planner_run(planner_find("tree"), &request, &err);
    struct check_result result;
    double volume = NAN;
    if (plan) {
        check_plan(plan, w, p, &result, &err);
        double written = plan_objective(plan, "written");
        volume = result.total ? NAN : isnan(written) ? 0 : written;
        check_result_free(&result);
    }
    plan_free(plan);
    platform_free(p);
    return volume;
}

static void test_small(void)
{
    struct rng rng;
    rng_seed(&rng, 20);
    uint32_t wrong = 0, wrote = 0, worse = 0;
    for (uint32_t k = 0; k < 200; k++) {
        struct drawn_tree d = draw_tree(&rng, MOST_TASKS);
        d.in &= !is_chain(&d);
        struct workflow *w = drawn_workflow(&d);
        struct tree *t = tree_new(w, NULL);
        double least = oracle_volume(&d);
        wrong += planned_volume(w, d.room) != least;
        wrote += least > 0;
        /* no rule is better than the best */
        struct tree_memory *room = tree_memory_new(t);
        uint8_t *cut = mem_new_zero(uint8_t, t->n), *out = mem_new_zero(uint8_t, t->n);
        uint32_t order[16], count;
        cut[0] = 1;
        tree_least_memory(room, 0, cut, TREE_STRICT, order, &count);
        struct evict_part part = {t, 0, cut, TREE_STRICT, d.room};
        for (int rule = 0; rule < EVICT_RULES; rule++)
            worse += evict_by_rule(&part, order, count, rule, out) < least;
        free(cut);
        free(out);
        tree_memory_free(room);
        tree_free(t);
        workflow_free(w);
    }
    is_int(wrong, 0,
           "200 small trees: as little as any order and any choice of files allow, valid");
    is_int(worse, 0, "no rule writes less than that");
    ok(wrote > 10, "many of them write (%u)", wrote);
}

/* Past what is searched exactly: valid by the checker, down to the least memory that is possible at all. */
static void test_larger(void)
{
    struct rng rng;
    rng_seed(&rng, 21);
    uint32_t bad = 0, wrote = 0;
    for (uint32_t k = 0; k < 30; k++) {
        struct workflow *w = random_tree(&rng, 20 + (uint32_t)rng_below(&rng, 200), 3 + k, k % 2);
        struct tree *t = tree_new(w, NULL);
        double volume = planned_volume(w, tree_largest_need(t) * (1 + 0.01 * (k % 4)));
        bad += isnan(volume);
        wrote += volume > 0;
        tree_free(t);
        workflow_free(w);
    }
    is_int(bad, 0, "30 trees of up to 220 tasks: valid plans");
    ok(wrote > 10, "with files on disk in many (%u)", wrote);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_small), TAP_CASE(test_larger)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
