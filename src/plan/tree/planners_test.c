/* The four tree planners: valid, ordered by quality, never below the optimum found by trying
 * everything, the same twice. */
#include "plan/tree/bound.h"
#include "plan/tree/fixture.h"
#include "plan/tree/partition.h"

static struct plan *plan_with(const char *name, const char *option, const char *value,
                              const struct workflow *w, const struct platform *p, struct error *err)
{
    const struct planner *planner = planner_find(name);
    struct option_value options[2] = {{option, value}, {"budget", "4000moves"}};
    bool search = strcmp(name, "tree") == 0;
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .options = option ? options : options + 1,
                                   .noptions = (option ? 1u : 0u) + search,
                                   .seed = 1};
    error_clear(err);
    return planner_run(planner, &request, err);
}

/* The makespan, NAN when there is none; counts what the checker refuses. */
static double makespan_with(const char *name, const char *option, const char *value,
                            const struct workflow *w, const struct platform *p, int *refused)
{
    struct error err = {0};
    struct plan *plan = plan_with(name, option, value, w, p, &err);
    if (!plan) {
        *refused += err.kind != ERROR_INFEASIBLE;
        return NAN;
    }
    struct check_result result;
    if (!check_plan(plan, w, p, &result, &err) || result.total) {
        printf("# %s: %s\n", name, result.total ? result.violations.at[0].detail : err.text);
        ++*refused;
    }
    double makespan = plan_objective(plan, "makespan");
    *refused += !(plan_objective(plan, "lower_bound") <= makespan);
    check_result_free(&result);
    plan_free(plan);
    return makespan;
}

static void test_order(void)
{
    static const char *const names[] = {"hompart", "hetpart1", "hetpart2", "tree"};
    struct rng rng;
    int refused = 0, worse = 0, none = 0, homogeneous = 0;
    rng_seed(&rng, 77);
    for (int round = 0; round < 60; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&rng, 80);
        uint32_t reach = round % 5 == 0 ? 1 : 1 + (uint32_t)rng_below(&rng, n);
        struct workflow *w = random_tree(&rng, n, reach, round % 2);
        struct tree *t = tree_new(w, NULL);
        struct platform *p = random_nodes(&rng, 1 + (uint32_t)rng_below(&rng, 8),
                                          tree_largest_need(t), round % 3 == 0);
        const char *memory = round % 4 ? "strict" : "lenient";
        double made[4];
        for (int k = 0; k < 4; k++)
            made[k] = makespan_with(names[k], "memory", memory, w, p, &refused);
        worse += made[2] > made[1] * (1 + 1e-12) || made[3] > made[2] * (1 + 1e-12);
        none += isnan(made[3]);
        homogeneous += isnan(made[0]);
        tree_free(t);
        platform_free(p);
        workflow_free(w);
    }
    is_int(refused, 0, "every plan passes the checker");
    is_int(worse, 0, "hetpart2 is never longer than hetpart1, nor tree than hetpart2");
    ok(none < 6, "a mapping is nearly always found (not in %d of 60)", none);
    ok(homogeneous < 30, "hompart finds one in most cases (not in %d of 60)", homogeneous);
}

/* Lenient is never longer than strict, and HetPart2 neither than HetPart1 nor than its phase A, with
 * the same options. */
static void test_promises(void)
{
    static const char *const names[] = {"hompart", "hetpart1", "hetpart2", "tree"};
    static const char *const methods[] = {"best", "asap", "splitsubtrees", "improvedsplit"};
    struct rng rng;
    int refused = 0, lenient = 0, phases = 0;
    rng_seed(&rng, 208);
    for (int round = 0; round < 40; round++) {
        struct workflow *w = random_tree(&rng, 20 + (uint32_t)rng_below(&rng, 200), 30, round % 2);
        struct tree *t = tree_new(w, NULL);
        struct platform *p = random_nodes(&rng, 2 + (uint32_t)rng_below(&rng, 10),
                                          tree_largest_need(t), round % 4 == 0);
        for (int k = 0; k < 4; k++) {
            double one = makespan_with(names[k], "memory", "strict", w, p, &refused);
            double two = makespan_with(names[k], "memory", "lenient", w, p, &refused);
            lenient += isfinite(one) && !(two <= one * (1 + 1e-12));
        }
        for (int k = 0; k < 4; k++) {
            double one = makespan_with("hetpart1", "step1", methods[k], w, p, &refused);
            double two = makespan_with("hetpart2", "step1", methods[k], w, p, &refused);
            phases += isfinite(one) && !(two <= one * (1 + 1e-12));
        }
        double a = makespan_with("hetpart2", "phase", "a", w, p, &refused);
        double ab = makespan_with("hetpart2", "phase", "ab", w, p, &refused);
        phases += isfinite(a) && !(ab <= a * (1 + 1e-12));
        platform_free(p);
        tree_free(t);
        workflow_free(w);
    }
    is_int(refused, 0, "every plan passes the checker");
    is_int(lenient, 0, "no planner is longer with memory counted leniently");
    is_int(phases, 0, "hetpart2 is never longer than hetpart1 or than its phase A");
}

/* Every set of cuts, every mapping. */
static double best_of_all(const struct tree_setting *s)
{
    struct partition *p = partition_new(s, false);
    double best = INFINITY;
    for (uint32_t cuts = 0; cuts < 1u << (s->t->n - 1); cuts++) {
        struct snapshot one = {0};
        uint32_t roots[8], procs[8], n = 1, total = 1;
        roots[0] = 0;
        for (uint32_t x = 1; x < s->t->n; x++)
            if (cuts >> (x - 1) & 1)
                roots[n++] = x;
        if (n > s->nprocs)
            continue;
        for (uint32_t k = 0; k < n; k++)
            total *= s->nprocs;
        for (uint32_t code = 0; code < total; code++) {
            uint32_t rest = code, used = 0;
            bool good = true;
            for (uint32_t k = 0; k < n; k++, rest /= s->nprocs) {
                procs[k] = rest % s->nprocs;
                good &= !(used >> procs[k] & 1);
                used |= 1u << procs[k];
            }
            if (!good)
                continue;
            one = (struct snapshot){.n = n, .root = roots, .proc = procs};
            snapshot_load(p, &one);
            for (uint32_t i = 0; i < p->slots && good; i++)
                good = p->at[i].root == NONE || partition_memory(p, i) <= s->memory[p->at[i].proc];
            if (good)
                best = fmin(best, partition_makespan(p));
        }
    }
    partition_free(p);
    return best;
}

static void test_optimum(void)
{
    struct rng rng;
    int below = 0, bound = 0, reached = 0, missed = 0, refused = 0;
    const int rounds = 60;
    rng_seed(&rng, 101);
    for (int round = 0; round < rounds; round++) {
        struct workflow *w = random_tree(&rng, 2 + (uint32_t)rng_below(&rng, 6), 6, round % 2);
        struct tree *t = tree_new(w, NULL);
        struct platform *p = random_nodes(&rng, 3, tree_largest_need(t), round % 3 == 0);
        struct tree_setting *s = setting_new(t, p, TREE_STRICT, NULL);
        double best = best_of_all(s), made = makespan_with("tree", NULL, NULL, w, p, &refused);
        below += made < best * (1 - 1e-9);
        bound += tree_lower_bound(s) > best * (1 + 1e-9);
        reached += made <= best * (1 + 1e-9);
        missed += isfinite(best) && isnan(made);
        setting_free(s);
        tree_free(t);
        platform_free(p);
        workflow_free(w);
    }
    is_int(refused, 0, "tree on small trees: valid");
    is_int(below, 0, "never below the optimum over all cuts and mappings");
    is_int(bound, 0, "the lower bound is none above the optimum");
    is_int(missed, 0, "where a mapping exists one is found");
    ok(reached >= rounds * 9 / 10, "the optimum is reached in %d of %d", reached, rounds);
}

static void test_refusals(void)
{
    struct rng rng;
    struct error err = {0};
    rng_seed(&rng, 4);
    struct workflow *w = random_tree(&rng, 20, 5, false);
    struct platform_builder *pb = platform_builder_new("<test>");
    uint32_t node = platform_builder_node(pb, "tiny", 4, 0);
    platform_builder_memory(pb, node, 1, 0);
    struct platform *p = platform_builder_finish(pb, NULL);
    static const char *const names[] = {"hompart", "hetpart1", "hetpart2", "tree"};
    for (int k = 0; k < 4; k++) {
        struct plan *plan = plan_with(names[k], NULL, NULL, w, p, &err);
        ok(!plan && err.kind == ERROR_INFEASIBLE, "%s: no memory, no plan", names[k]);
        has_str(err.text, "'tiny'", "and it says what the largest memory is");
        plan_free(plan);
    }
    struct plan *plan = plan_with("tree", "memory", "often", w, p, &err);
    ok(!plan && err.kind == ERROR_INPUT, "an unknown way of counting is refused");
    struct option_value value = {"budget", "soon"};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = &value, .noptions = 1, .seed = 1};
    error_clear(&err);
    plan = planner_run(planner_find("tree"), &request, &err);
    ok(!plan && err.kind == ERROR_INPUT, "so is a budget that is none");
    has_str(err.text, "budget=soon", "by name");
    workflow_free(w);
    struct builder *b = builder_new("<test>", "test");
    for (char name = 'a'; name < 'e'; name++)
        builder_task(b, &name, 1, 0);
    builder_edge(b, 0, 1, 0);
    builder_edge(b, 0, 2, 0);
    builder_edge(b, 1, 3, 0);
    builder_edge(b, 2, 3, 0);
    w = builder_finish(b, NULL);
    plan = plan_with("tree", NULL, NULL, w, p, &err);
    ok(!plan && err.kind == ERROR_INPUT, "a diamond is no tree");
    workflow_free(w);
    platform_free(p);
}

static bool same(const struct plan *a, const struct plan *b)
{
    bool equal = a && b && a->parts.n == b->parts.n && a->tasks.n == b->tasks.n;
    for (size_t i = 0; equal && i < a->parts.n; i++)
        equal = a->parts.at[i].root == b->parts.at[i].root &&
                a->parts.at[i].node == b->parts.at[i].node;
    for (size_t i = 0; equal && i < a->tasks.n; i++)
        equal = a->tasks.at[i] == b->tasks.at[i];
    return equal;
}

static void test_repeats(void)
{
    struct rng rng;
    struct error err = {0};
    rng_seed(&rng, 9);
    struct workflow *w = random_tree(&rng, 300, 40, false);
    struct tree *t = tree_new(w, NULL);
    struct platform *p = random_nodes(&rng, 12, tree_largest_need(t), false);
    struct plan *one = plan_with("tree", NULL, NULL, w, p, &err);
    struct plan *two = plan_with("tree", NULL, NULL, w, p, &err);
    ok(same(one, two), "a budget in moves gives the same plan every time");
    bool noted = false;
    for (size_t i = 0; one && i < one->notes.n; i++)
        noted |= strstr(one->notes.at[i], "longer than the shortest possible (lower bound") != NULL;
    ok(noted, "the gap to the lower bound is noted");
    plan_free(one);
    plan_free(two);
    tree_free(t);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_order),    TAP_CASE(test_promises), TAP_CASE(test_optimum),
        TAP_CASE(test_refusals), TAP_CASE(test_repeats),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
