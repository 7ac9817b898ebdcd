/* Trees with a mapping planted into them: 36 parts that all end at the same time on nodes of four
 * speeds, on two levels or three. Single moves end far above it; the auction or the ladder finds it,
 * or a shorter one. */
#include "plan/tree/auction.h"
#include "plan/tree/fixture.h"
#include "plan/tree/ladder.h"
#include <math.h>

enum { PARTS = 36 };
static const double speeds[] = {3, 1.5, 1, 0.5};
static const double planted = 111, bandwidth = 500;

/* Part 0 works 10 s at speed 3, then the others, hung anywhere below it, 100 s each; a second for
 * every transfer. With `inner` parts between: those work 15 s, and what hangs below them 84 s. `each`
 * tasks a part. */
static struct workflow *planted_tree(struct rng *rng, uint32_t each, uint32_t inner)
{
    struct builder *b = builder_new("<test>", "test");
    double *share = mem_new(double, each);
    char name[16];
    for (uint32_t part = 0; part < PARTS; part++) {
        uint32_t above = 0;
        if (part > inner) /* each inner one has somebody below it */
            above = part <= 2 * inner ? part - inner : (uint32_t)rng_below(rng, inner + 1);
        double seconds = part == 0 ? 10 : part <= inner ? 15 : above ? 84 : 100;
        double sum = 0, work = seconds * speeds[part / 9];
        for (uint32_t k = 0; k < each; k++)
            sum += share[k] = 0.02 + rng_unit(rng);
        for (uint32_t k = 0; k < each; k++) {
            uint32_t i = part * each + k;
            uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
            builder_work(b, task, share[k] * work / sum, 0);
            if (k)
                builder_data_edge(b, part * each + (uint32_t)rng_below(rng, k), task,
                                  rng_uniform(rng, 1, 30), 0);
            else if (part)
                builder_data_edge(b, above * each + (uint32_t)rng_below(rng, each), task, bandwidth,
                                  0);
        }
    }
    free(share);
    return builder_finish(b, NULL);
}

static struct platform *planted_nodes(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    char name[16];
    platform_builder_network(b, bandwidth, 0, NAN, 0);
    for (uint32_t i = 0; i < PARTS; i++) {
        uint32_t node =
            platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
        platform_builder_speed(b, node, speeds[i / 9], 0);
        platform_builder_memory(b, node, 1e9, 0);
    }
    return platform_builder_finish(b, NULL);
}

/* With next to no moves: what the starts alone reach. */
static void plant_and_find(uint32_t inner)
{
    static const uint32_t sizes[] = {4, 10, 40, 280, 1390};
    struct platform *p = planted_nodes();
    size_t count =
        sizeof sizes / sizeof *sizes - (inner ? 1 : 0); /* the largest once: it takes long */
    for (size_t k = 0; k < count; k++) {
        int longer = 0, refused = 0;
        const int rounds = sizes[k] > 100 ? 1 : 2;
        for (int round = 0; round < rounds; round++) {
            struct rng rng;
            rng_seed_stream(&rng, 20, (uint64_t)round * 100 + k);
            struct workflow *w = planted_tree(&rng, sizes[k], inner);
            struct option_value option = {"budget", "1000moves"};
            struct plan_request request = {
                .workflow = w, .platform = p, .options = &option, .noptions = 1, .seed = 1};
            struct error err = {0};
            struct plan *plan = planner_run(planner_find("tree"), &request, &err);
            struct check_result result;
            refused += !plan || !check_plan(plan, w, p, &result, &err) || result.total;
            longer += plan && plan_objective(plan, "makespan") > 1.03 * planted;
            if (plan)
                check_result_free(&result);
            plan_free(plan);
            workflow_free(w);
        }
        is_int(refused, 0, "%u tasks, %u parts between: valid", sizes[k] * PARTS, inner);
        is_int(longer, 0, "and within 1.03 of what was planted");
    }
    platform_free(p);
}

static void test_two_levels(void)
{
    plant_and_find(0);
}

static void test_three_levels(void)
{
    plant_and_find(3);
}

/* Whatever the auction and the ladder make of any tree is valid. */
static void test_starts_valid(void)
{
    struct rng rng;
    int invalid = 0, made = 0;
    rng_seed(&rng, 31);
    for (int round = 0; round < 120; round++) {
        struct workflow *w = random_tree(&rng, 2 + (uint32_t)rng_below(&rng, 300), 40, round % 2);
        struct tree *t = tree_new(w, NULL);
        struct platform *p = random_nodes(&rng, 2 + (uint32_t)rng_below(&rng, 12),
                                          tree_largest_need(t), round % 3 == 0);
        struct tree_setting *s = setting_new(t, p, round % 4 ? TREE_STRICT : TREE_LENIENT, NULL);
        struct snapshot out[4] = {0};
        double alone = s->work[0] / s->speed[0]; /* the whole on the largest */
        uint32_t found = 0;
        if (round % 2)
            auction_mappings(s, INFINITY, INFINITY, out, &found, 4);
        else
            ladder_mappings(s, alone, INFINITY, out, &found, 4);
        for (uint32_t k = 0; k < found; k++) {
            struct partition *q = partition_new(s, false);
            snapshot_load(q, &out[k]);
            bool good = partition_mapped(q) &&
                        fabs(partition_makespan(q) - out[k].makespan) <= 1e-9 * out[k].makespan;
            for (uint32_t i = 0; i < q->slots; i++)
                good &= q->at[i].root == NONE || partition_memory(q, i) <= s->memory[q->at[i].proc];
            invalid += !good;
            made++;
            partition_free(q);
        }
        for (uint32_t k = 0; k < 4; k++)
            snapshot_free(&out[k]);
        setting_free(s);
        platform_free(p);
        tree_free(t);
        workflow_free(w);
    }
    is_int(invalid, 0,
           "every mapping of auction and ladder is whole, fits, and takes what it says");
    ok(made > 60, "and it makes some (%d)", made);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_two_levels),
        TAP_CASE(test_three_levels),
        TAP_CASE(test_starts_valid),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
