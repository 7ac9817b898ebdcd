/* Small trees against an oracle of its own: every set of cuts, every mapping, every traversal of
 * every part. The oracle knows the arrays that the test drew, the formula of the makespan and the
 * rule of memory, and nothing of weft's tree code. */
#include "plan/tree/bound.h"
#include "plan/tree/fixture.h"
#include "plan/tree/small.h"

enum { MOST_TASKS = 9, MOST_NODES = 5 };

struct drawn_case {
    uint32_t n, nodes;
    uint32_t parent[16];
    double work[16], memory[16], file[16];
    double speed[16], room[16];
    double bandwidth[16][16];
    bool links, lenient, in;
};

static double pick_of(struct rng *rng, const double *values, uint32_t count)
{
    return values[rng_below(rng, count)];
}

/* Chains, bushes and stars; networks from dear to cheap; nodes that hold half of the most demanding
 * task up to three times as much. */
static struct drawn_case draw_case(struct rng *rng, uint32_t most_tasks, uint32_t most_nodes)
{
    static const double sizes[] = {0.5, 0.7, 1, 1.5, 2, 3}, speeds[] = {0.5, 1, 1.5, 3};
    static const double rates[] = {1, 5, 50, 500};
    static const uint32_t reaches[] = {1, 3, 99}, files[] = {10, 50, 500};
    struct drawn_case d = {.n = 2 + (uint32_t)rng_below(rng, most_tasks - 1),
                           .nodes = 1 + (uint32_t)rng_below(rng, most_nodes),
                           .links = rng_below(rng, 4) == 0,
                           .lenient = rng_below(rng, 3) == 0,
                           .in = rng_below(rng, 2)};
    uint32_t reach = reaches[rng_below(rng, 3)], largest = files[rng_below(rng, 3)];
    double need[16], most = 0, rate = pick_of(rng, rates, 4);
    for (uint32_t i = 0; i < d.n; i++) {
        uint32_t far = i < reach ? i : reach;
        d.parent[i] = i ? i - 1 - (uint32_t)rng_below(rng, far) : NONE;
        d.work[i] = (double)(1 + rng_below(rng, 100));
        d.memory[i] = (double)(1 + rng_below(rng, 50));
        d.file[i] = i ? (double)(1 + rng_below(rng, largest)) : 0;
        need[i] = d.memory[i] + d.file[i];
        if (i)
            need[d.parent[i]] += d.file[i];
    }
    bool chain = true; /* has no direction of its own: weft reads it from its first task on */
    for (uint32_t i = 0; i < d.n; i++) {
        most = fmax(most, need[i]);
        chain &= i == 0 || d.parent[i] == i - 1;
    }
    d.in &= !chain;
    for (uint32_t q = 0; q < d.nodes; q++) {
        d.speed[q] = pick_of(rng, speeds, 4);
        d.room[q] = most * (q ? pick_of(rng, sizes, 6) : pick_of(rng, sizes + 2, 4));
        for (uint32_t r = 0; r < q; r++)
            d.bandwidth[q][r] = d.bandwidth[r][q] = d.links ? pick_of(rng, rates, 4) : rate;
    }
    return d;
}

static struct workflow *drawn_workflow(const struct drawn_case *d)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
        builder_work(b, task, d->work[i], 0);
        builder_memory(b, task, d->memory[i], 0);
    }
    for (uint32_t i = 1; i < d->n; i++) {
        if (d->in)
            builder_data_edge(b, i, d->parent[i], d->file[i], 0);
        else
            builder_data_edge(b, d->parent[i], i, d->file[i], 0);
    }
    return builder_finish(b, NULL);
}

static struct platform *drawn_platform(const struct drawn_case *d)
{
    struct platform_builder *b = platform_builder_new("<test>");
    char name[16];
    platform_builder_network(b, d->nodes > 1 ? d->bandwidth[0][1] : 1, 0, NAN, 0);
    for (uint32_t q = 0; q < d->nodes; q++) {
        uint32_t node =
            platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", q), 0);
        platform_builder_memory(b, node, d->room[q], 0);
        platform_builder_speed(b, node, d->speed[q], 0);
    }
    for (uint32_t q = 0; q < d->nodes && d->links; q++)
        for (uint32_t r = q + 1; r < d->nodes; r++)
            platform_builder_link(b, q, r, d->bandwidth[q][r], NAN, 0);
    return platform_builder_finish(b, NULL);
}

/* ---- the oracle ---- */

/* The least peak over all traversals of the tasks in `part`, by sets of tasks done. */
static double oracle_peak(const struct drawn_case *d, uint32_t part)
{
    double best[1 << MOST_TASKS];
    for (uint32_t done = 0; done <= part; done++)
        best[done] = INFINITY;
    best[0] = 0;
    double peak = INFINITY;
    for (uint32_t done = 0; done <= part; done++) {
        if ((done & ~part) || isinf(best[done]))
            continue;
        if (done == part)
            peak = best[done];
        double waiting = 0; /* files of tasks that could run now */
        for (uint32_t i = 0; i < d->n; i++) {
            bool top = i == 0 || !(part >> d->parent[i] & 1);
            if ((part >> i & 1) && !(done >> i & 1) && (top || (done >> d->parent[i] & 1)))
                waiting += d->file[i];
        }
        for (uint32_t i = 0; i < d->n; i++) {
            bool top = i == 0 || !(part >> d->parent[i] & 1);
            if (!(part >> i & 1) || (done >> i & 1) || (!top && !(done >> d->parent[i] & 1)))
                continue;
            double now = waiting + d->memory[i];
            for (uint32_t c = 1; c < d->n; c++)
                if (d->parent[c] == i && ((part >> c & 1) || !d->lenient))
                    now += d->file[c];
            double then = fmax(best[done], now);
            best[done | 1u << i] = fmin(best[done | 1u << i], then);
        }
    }
    return peak;
}

struct oracle {
    const struct drawn_case *d;
    double peak[1 << MOST_TASKS]; /* NAN: not known yet */
    uint32_t roots[MOST_TASKS], nparts, part_of[MOST_TASKS];
    uint32_t node[MOST_TASKS];
    double work[MOST_TASKS], memory[MOST_TASKS], best;
};

static double oracle_makespan(const struct oracle *o)
{
    double end[MOST_TASKS], last = 0;
    for (uint32_t k = 0; k < o->nparts; k++) { /* parents first: roots rise */
        uint32_t root = o->roots[k], q = o->node[k];
        double start = 0;
        if (root) {
            uint32_t above = o->part_of[o->d->parent[root]];
            start = end[above] + o->d->file[root] / o->d->bandwidth[o->node[above]][q];
        }
        end[k] = start + o->work[k] / o->d->speed[q];
        last = fmax(last, end[k]);
    }
    return last;
}

static void oracle_map(struct oracle *o, uint32_t k, uint32_t used)
{
    if (k == o->nparts) {
        o->best = fmin(o->best, oracle_makespan(o));
        return;
    }
    for (uint32_t q = 0; q < o->d->nodes; q++)
        if (!(used >> q & 1) && o->memory[k] <= o->d->room[q]) {
            o->node[k] = q;
            oracle_map(o, k + 1, used | 1u << q);
        }
}

/* The shortest makespan of all; INFINITY: no mapping is valid. */
static double oracle_best(const struct drawn_case *d)
{
    struct oracle o = {.d = d, .best = INFINITY};
    for (uint32_t k = 0; k < 1u << MOST_TASKS; k++)
        o.peak[k] = NAN;
    for (uint32_t cuts = 0; cuts < 1u << (d->n - 1); cuts++) {
        uint32_t tasks[MOST_TASKS] = {0};
        o.nparts = 0;
        for (uint32_t i = 0; i < d->n; i++) {
            bool cut = i == 0 || (cuts >> (i - 1) & 1);
            if (cut) {
                o.work[o.nparts] = 0;
                o.roots[o.nparts] = i;
            }
            uint32_t k = o.part_of[i] = cut ? o.nparts++ : o.part_of[d->parent[i]];
            tasks[k] |= 1u << i;
            o.work[k] += d->work[i];
        }
        if (o.nparts > d->nodes)
            continue;
        for (uint32_t k = 0; k < o.nparts; k++) {
            if (isnan(o.peak[tasks[k]]))
                o.peak[tasks[k]] = oracle_peak(d, tasks[k]);
            o.memory[k] = o.peak[tasks[k]];
        }
        oracle_map(&o, 0, 0);
    }
    return o.best;
}

/* ---- the planner ---- */

struct small_answer {
    double makespan; /* INFINITY: proven that there is none; NAN: not found, or not valid */
    bool proven;
};

static struct small_answer plan_small(const struct workflow *w, const struct platform *p,
                                      bool lenient)
{
    struct option_value options[] = {{"budget", "1000moves"},
                                     {"memory", lenient ? "lenient" : "strict"}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = options, .noptions = 2, .seed = 1};
    struct error err = {0};
    struct check_result result;
    struct plan *plan = planner_run(planner_find("tree"), &request, &err);
    if (!plan)
        return (struct small_answer){strstr(err.text, "no mapping exists") ? INFINITY : NAN, true};
    struct small_answer answer = {plan_objective(plan, "makespan"), false};
    if (!check_plan(plan, w, p, &result, &err) || result.total)
        answer.makespan = NAN;
    answer.proven = plan_objective(plan, "lower_bound") >= answer.makespan * (1 - 1e-9);
    bool said = false;
    for (size_t k = 0; k < plan->notes.n; k++)
        said |= strstr(plan->notes.at[k], "proven optimal") != NULL;
    answer.proven &= said;
    check_result_free(&result);
    plan_free(plan);
    return answer;
}

static bool is_close(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_against_oracle(void)
{
    struct rng rng;
    int wrong = 0, unproven = 0, above = 0, none = 0;
    const int rounds = 400;
    rng_seed(&rng, 20);
    for (int round = 0; round < rounds; round++) {
        struct drawn_case d = draw_case(&rng, MOST_TASKS, MOST_NODES);
        struct workflow *w = drawn_workflow(&d);
        struct platform *p = drawn_platform(&d);
        struct tree *t = tree_new(w, NULL);
        struct tree_setting *s = setting_new(t, p, d.lenient ? TREE_LENIENT : TREE_STRICT, NULL);
        double best = oracle_best(&d);
        struct small_answer answer = plan_small(w, p, d.lenient);
        if (!is_close(answer.makespan, best)) {
            printf("# round %d: %u tasks, %u nodes: %.10g, the oracle has %.10g\n", round, d.n,
                   d.nodes, answer.makespan, best);
            wrong++;
        }
        unproven += !answer.proven;
        above += tree_lower_bound(s) > best * (1 + 1e-9);
        none += isinf(best);
        setting_free(s);
        tree_free(t);
        platform_free(p);
        workflow_free(w);
    }
    is_int(wrong, 0, "%d trees of up to %d tasks: as short as the oracle's (%d have no mapping)",
           rounds, MOST_TASKS, none);
    is_int(unproven, 0, "each proven, and said so");
    is_int(above, 0, "the lower bound is never above the optimum");
}

/* What the oracle has no time for. Steps, not seconds, are counted: 400,000 take a tenth of one. */
static void test_thirteen_tasks(void)
{
    struct rng rng;
    int unproven = 0, longer = 0, invalid = 0;
    const int rounds = 600;
    rng_seed(&rng, 13);
    for (int round = 0; round < rounds; round++) {
        struct drawn_case d = draw_case(&rng, 13, 8);
        struct workflow *w = drawn_workflow(&d);
        struct platform *p = drawn_platform(&d);
        struct small_answer strict = plan_small(w, p, false), lenient = plan_small(w, p, true);
        unproven += !strict.proven || !lenient.proven;
        invalid += isnan(strict.makespan) || isnan(lenient.makespan);
        longer += lenient.makespan > strict.makespan * (1 + 1e-12);
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "%d trees of up to 13 tasks on up to 8 nodes: valid", rounds);
    is_int(unproven, 0, "and proven");
    is_int(longer, 0, "counted leniently never longer than strictly");
}

/* Past the number of steps it gives up, and says so by not claiming a proof. */
static void test_gives_up(void)
{
    struct rng rng;
    rng_seed(&rng, 5);
    struct workflow *w = random_tree(&rng, 30, 8, false);
    struct tree *t = tree_new(w, NULL);
    struct platform *p = random_nodes(&rng, 12, tree_largest_need(t), false);
    struct tree_setting *s = setting_new(t, p, TREE_STRICT, NULL);
    struct snapshot best = {.makespan = INFINITY};
    ok(small_tree(s), "thirty tasks may be tried");
    ok(!small_tree_search(s, &best, 1000), "and a thousand steps prove nothing");
    snapshot_free(&best);
    setting_free(s);
    tree_free(t);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_against_oracle),
        TAP_CASE(test_thirteen_tasks),
        TAP_CASE(test_gives_up),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
