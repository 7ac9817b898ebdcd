/* The planner `constraints`: emulates Wu and Gajski, finds optima, keeps requirements, says which
 * one cannot be kept, and grows to large workflows. */
#include "base/file.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/constraints/rules.h"
#include "plan/planner.h"
#include "tap.h"

static const char makespan_only[] = "assert value preference (opt-type = minimize, priority = 1,"
                                    " function = (select max(task-finish-time) from task),"
                                    " min = 0, max = (select sum(task-exec-time) from task) +"
                                    " (select sum(non-local-comm-time) from dep))";

static struct workflow *random_workflow(struct rng *rng, uint32_t ntasks, double density)
{
    struct error err = {0};
    struct builder *b = builder_new("<random>", "test");
    char name[16];
    for (uint32_t t = 0; t < ntasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, (double)(1 + rng_below(rng, 20)), 0);
        builder_kind(b, task, t % 3 ? "filter" : "fft", t % 3 ? 6 : 3);
        for (uint32_t u = t > 30 ? t - 30 : 0; u < t; u++)
            if (rng_unit(rng) < density)
                builder_data_edge(b, u, task, (double)(1 + rng_below(rng, 20)), 0);
    }
    return builder_finish(b, &err);
}

static struct platform *platform_of(uint32_t nnodes, struct rng *rng, uint32_t busy)
{
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("<random>");
    char name[16];
    platform_builder_network(b, 2, 0, NAN, 0);
    for (uint32_t n = 0; n < nnodes; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        if (rng)
            platform_builder_speed(b, node, (double)(1 + rng_below(rng, 3)), 0);
        if (n < busy)
            platform_builder_utilization(b, node, 0.5, 0);
    }
    return platform_builder_finish(b, &err);
}

static struct plan *plan_with(const char *planner, const struct workflow *w,
                              const struct platform *p, const struct option_value *options,
                              size_t count, struct error *err)
{
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .options = options,
                                   .noptions = count,
                                   .seed = 1,
                                   .explain = true};
    error_clear(err);
    return planner_run(planner_find(planner), &request, err);
}

static bool is_valid(const struct plan *plan, const struct workflow *w, const struct platform *p)
{
    struct check_result result;
    struct error err = {0};
    bool good = plan && check_plan(plan, w, p, &result, &err) && result.total == 0;
    if (plan)
        check_result_free(&result);
    return good;
}

/* A number in the planner's first remark: the one before `word`. */
static long number_before(const struct plan *plan, const char *word)
{
    const char *at = plan && plan->notes.n ? strstr(plan->notes.at[0], word) : NULL;
    if (!at)
        return -1;
    at--;
    while (at > plan->notes.at[0] && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return atol(at);
}

static void test_default_rules(void)
{
    struct text file = {0};
    struct error err = {0};
    if (!file_read(WEFT_SOURCE_DIR "/examples/constraints/default.sql", &file, &err)) {
        ok(false, "the default rules can be read: %s", err.text);
        return;
    }
    ok(strcmp(file.at, constraints_default_rules) == 0,
       "the default constraints are those of examples/constraints/default.sql");
    text_free(&file);
    static const char *const files[] = {"wu-gajski.sql", "soft-order.sql", "on-one-processor.sql"};
    for (int i = 0; i < 3; i++) {
        char path[1024];
        struct rng rng;
        rng_seed(&rng, 5);
        snprintf(path, sizeof path, WEFT_SOURCE_DIR "/examples/constraints/%s", files[i]);
        struct workflow *w = random_workflow(&rng, 8, 0.3);
        struct platform_builder *b = platform_builder_new("<test>");
        static const char *const names[] = {"lillith", "calvin", "hobbes"};
        for (int n = 0; n < 3; n++)
            platform_builder_node(b, names[n], strlen(names[n]), 0);
        struct platform *p = platform_builder_finish(b, &err);
        bool there = file_read(path, &file, &err);
        struct option_value options[] = {
            {"rules", there ? file.at : ""}, {"defaults", i == 2 ? "yes" : "no"}, {"limit", "2s"}};
        struct plan *plan = plan_with("constraints", w, p, options, 3, &err);
        ok(there && is_valid(plan, w, p), "examples/constraints/%s plans: %s", files[i], err.text);
        plan_free(plan);
        text_free(&file);
        platform_free(p);
        workflow_free(w);
    }
}

static void test_wu_gajski(void)
{
    struct rng rng;
    struct error err = {0};
    int longer = 0, invalid = 0, many = 0;
    rng_seed(&rng, 1988);
    for (int i = 0; i < 200; i++) {
        /* every other of the size of the paper's, and one past the switch to local search */
        uint32_t ntasks = i == 199 ? 450 : i % 2 ? 18 : 2 + (uint32_t)rng_below(&rng, 50);
        struct workflow *w = random_workflow(&rng, ntasks, 0.12);
        struct platform *p =
            platform_of(i % 2 ? 9 : 1 + (uint32_t)rng_below(&rng, 9), i % 3 ? &rng : NULL, 0);
        struct option_value quick = {"limit", "1s"};
        struct plan *ours = plan_with("constraints", w, p, &quick, 1, &err);
        struct plan *list = plan_with("wu-gajski", w, p, NULL, 0, &err);
        invalid += !is_valid(ours, w, p);
        longer += ours && plan_makespan(ours) > plan_makespan(list) * (1 + 1e-9);
        many += ntasks == 18 && number_before(ours, " states") > 500;
        plan_free(ours);
        plan_free(list);
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "the default constraints give valid plans");
    is_int(longer, 0, "never longer than those of the list planner wu-gajski");
    is_int(many, 0, "18 tasks on 9 processors take at most 500 states");
}

static void test_optimum(void)
{
    struct rng rng;
    struct error err = {0};
    int differ = 0, differ_bound = 0, compared = 0;
    rng_seed(&rng, 8);
    for (int i = 0; i < 40; i++) {
        uint32_t ntasks = 2 + (uint32_t)rng_below(&rng, 7);
        struct workflow *w = random_workflow(&rng, ntasks, i % 4 ? 0.3 : 0.6);
        struct platform *p = platform_of(2 + (uint32_t)(i % 2), i % 3 ? &rng : NULL, 0);
        struct option_value options[] = {
            {"rules", makespan_only}, {"p1", "0"}, {"limit", "20s"}, {"optimal", "true"}};
        struct plan *best = plan_with("constraints", w, p, options, 3, &err);
        struct plan *proven = plan_with("constraints", w, p, options, 4, &err);
        struct plan *optimal = plan_with("optimal", w, p, NULL, 0, &err);
        if (best && optimal && proven) {
            compared++;
            double least = plan_makespan(optimal) * (1 + 1e-9);
            differ += plan_makespan(best) > least;
            differ_bound += plan_makespan(proven) > least || number_before(proven, "stopped") >= 0;
        }
        plan_free(best);
        plan_free(proven);
        plan_free(optimal);
        platform_free(p);
        workflow_free(w);
    }
    is_int(compared, 40, "40 graphs of up to 8 tasks were compared");
    is_int(differ, 0, "p1 = 0 finds the optimum of `optimal`");
    is_int(differ_bound, 0, "and so does branch and bound");
}

static void test_requirements(void)
{
    struct rng rng;
    struct error err = {0};
    rng_seed(&rng, 3);
    struct workflow *w = random_workflow(&rng, 15, 0.15);
    struct platform *p = platform_of(4, NULL, 1);
    struct plan *plan = plan_with("constraints", w, p, NULL, 0, &err);
    int on_busy = 0, elsewhere = 0;
    for (size_t i = 0; plan && i < plan->placements.n; i++)
        on_busy += plan->placements.at[i].node == 0;
    ok(is_valid(plan, w, p) && on_busy == 0, "a busy processor gets nothing by default");
    ok(plan && !plan->pins.n && !plan->constraints.n, "which pins nobody");
    plan_free(plan);

    struct option_value assign = {
        "assert", "assert relationship requirement ((select task-assigned-proc-id from task where "
                  "task-kind = 'fft') = (select proc-id from proc where proc-name = 'n2'))"};
    plan = plan_with("constraints", w, p, &assign, 1, &err);
    for (size_t i = 0; plan && i < plan->placements.n; i++)
        elsewhere += plan->placements.at[i].task % 3 == 0 && plan->placements.at[i].node != 2;
    ok(is_valid(plan, w, p) && elsewhere == 0, "tasks of a kind stay on their processor");
    uint32_t *pinned = plan ? plan_pins_by_task(plan, w->ntasks) : NULL;
    bool marked = pinned != NULL;
    for (uint32_t t = 0; marked && t < w->ntasks; t++)
        marked = (t % 3 == 0) == (pinned[t] == 6);
    ok(marked && plan->constraints.n == 6 && strstr(plan->constraints.at[5], "task-kind"),
       "and are marked as pinned by the sixth constraint, no others");
    free(pinned);
    bool told = false;
    for (size_t i = 0; plan && i < plan->notes.n; i++)
        told |= strstr(plan->notes.at[i], "--assert:1:1:") && strstr(plan->notes.at[i], "holds");
    ok(told, "and the explanation says that it holds");
    plan_free(plan);

    assign.text = "assert relationship requirement ((select task-assigned-proc-id from task where "
                  "task-kind = 'fft') = (select proc-id from proc where proc-name = 'n0'))";
    plan = plan_with("constraints", w, p, &assign, 1, &err);
    ok(!plan && err.kind == ERROR_INFEASIBLE, "a busy processor and no other: infeasible");
    has_str(err.text, "assert relationship requirement", "and a requirement is named");
    plan_free(plan);

    struct option_value never[] = {
        {"assert", "assert value requirement (function = (select count(*) from task where "
                   "task-start-time >= 0 and task-name like 't1%'), max = 2)"},
        {"states", "2000"}};
    plan = plan_with("constraints", w, p, never, 2, &err);
    ok(!plan && err.kind == ERROR_FAILED, "what was not found is not called impossible");
    has_str(err.text, "--assert:1:1:", "and what the best so far breaks is named");
    plan_free(plan);
    never[0].text =
        "assert value requirement (function = (select max(task-finish-time) from task), max = 1)";
    plan = plan_with("constraints", w, p, never, 1, &err);
    ok(!plan && err.kind == ERROR_INFEASIBLE, "what no schedule can keep is infeasible");
    has_str(err.text, "all there are", "and that is said to be proved");
    plan_free(plan);
    platform_free(p);
    workflow_free(w);

    /* the load of one processor at least twice that of another, asked of the goal */
    p = platform_of(2, NULL, 0);
    w = random_workflow(&rng, 10, 0.1);
    struct option_value twice[] = {
        {"rules", "assert relationship requirement (2 * (select proc-total-running-time from proc "
                  "where proc-name = 'n0') <= (select proc-total-running-time from proc where "
                  "proc-name = 'n1')); assert value preference (maximize, 100, (select count(*) "
                  "from task where task-assigned-proc-id <> UNKNOWN), 0, (select count(*) from "
                  "task)); assert value preference (minimize, 1, (select max(task-finish-time) "
                  "from task), 0, (select sum(task-exec-time) from task))"},
        {"requirements", "goal"}};
    for (size_t k = 1; k <= 2; k++) {
        plan = plan_with("constraints", w, p, twice, k, &err);
        double load[2] = {0};
        for (size_t i = 0; plan && i < plan->placements.n; i++) {
            const struct placement *x = &plan->placements.at[i];
            load[x->node] += x->finish - x->start;
        }
        ok(is_valid(plan, w, p) && 2 * load[0] <= load[1] + 1e-9, "twice the load (%s): %s",
           k == 1 ? "in every state" : "at the goal", err.text);
        plan_free(plan);
    }
    platform_free(p);
    workflow_free(w);
}

static unsigned pressed(void *context)
{
    return ++*(unsigned *)context;
}

static void test_search(void)
{
    struct rng rng;
    struct error err = {0};
    rng_seed(&rng, 12);
    struct workflow *w = random_workflow(&rng, 8, 0.2);
    struct platform *equal = platform_of(3, NULL, 0);
    struct option_value options[] = {
        {"rules", makespan_only}, {"limit", "20s"}, {"states", "400000"}};
    struct plan *alike = plan_with("constraints", w, equal, options, 3, &err);
    char told[1024];
    snprintf(told, sizeof told,
             "%s; assert value preference (minimize, 0, (select sum(task-assigned-proc-id) from "
             "task), 0, 1)",
             makespan_only);
    options[0].text = told;
    struct plan *apart = plan_with("constraints", w, equal, options, 3, &err);
    long few = number_before(alike, " states"), more = number_before(apart, " states");
    ok(few > 0 && few < more, "equal processors are searched once: %ld states instead of %ld", few,
       more);
    ok(number_before(apart, " met again") > 0, "and states are recognised when met again");
    is_dbl(alike ? plan_makespan(alike) : 0, apart ? plan_makespan(apart) : 1, 1e-9,
           "with the same result");
    plan_free(alike);
    plan_free(apart);

    options[0].text = makespan_only;
    options[2].text = "50";
    struct workflow *wide = random_workflow(&rng, 30, 0.05);
    struct plan *early = plan_with("constraints", wide, equal, options, 3, &err);
    ok(is_valid(early, wide, equal) && strstr(early->notes.at[0], "stopped early"),
       "a budget of states ends with the best so far");
    plan_free(early);

    unsigned pluses = 0;
    options[2].text = "400000";
    struct plan_request request = {.workflow = wide,
                                   .platform = equal,
                                   .options = options,
                                   .noptions = 3,
                                   .urgency = pressed,
                                   .urgency_context = &pluses};
    struct plan *hurried = planner_run(planner_find("constraints"), &request, &err);
    ok(is_valid(hurried, wide, equal) && !strstr(hurried->notes.at[0], "stopped"),
       "pressing + ends a search that would take for ever");
    plan_free(hurried);
    workflow_free(wide);
    platform_free(equal);
    workflow_free(w);
}

static void test_large(void)
{
    struct rng rng;
    struct error err = {0};
    rng_seed(&rng, 500);
    struct workflow *w = random_workflow(&rng, 500, 0.08);
    struct platform *p = platform_of(8, &rng, 1);
    struct option_value options[] = {
        {"assert", "assert value preference (minimize, 5, (select count(*) from task t join proc p "
                   "on t.task-assigned-proc-id = p.proc-id where p.proc-speed < 2), 0, 500)"},
        {"limit", "3s"}};
    struct plan *plain = plan_with("constraints", w, p, NULL, 0, &err);
    ok(is_valid(plain, w, p), "500 tasks by construction and local search: %s", err.text);
    struct plan *joined = plan_with("constraints", w, p, options, 2, &err);
    ok(is_valid(joined, w, p), "also with a constraint that needs SQLite: %s", err.text);
    plan_free(plain);
    plan_free(joined);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_default_rules), TAP_CASE(test_wu_gajski), TAP_CASE(test_optimum),
        TAP_CASE(test_requirements),  TAP_CASE(test_search),    TAP_CASE(test_large),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
