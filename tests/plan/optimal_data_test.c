/* The graphs of data/optimal carry proven optima: no planner is below one, and the searches come
 * close. */
#include "formats/dot/dot.h"
#include "model/check.h"
#include "plan/planner.h"
#include "tap.h"
#include <dirent.h>

struct graph {
    struct workflow *workflow;
    struct platform *platform;
    double optimum;
};

static struct platform *identical(uint32_t count)
{
    struct platform_builder *b = platform_builder_new("<identical>");
    platform_builder_network(b, 1, 0, NAN, 0);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        platform_builder_node(b, name, strlen(name), 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

static bool read_graph(const char *path, struct graph *g)
{
    struct error err = {0};
    struct text text = {0};
    uint32_t processors = 0;
    *g = (struct graph){0};
    if (!file_read(path, &text, &err)) {
        printf("# %s\n", err.text);
        return false;
    }
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    bool good = dot_read_optimum(&source, &processors, &g->optimum, &err);
    text_free(&text);
    if (good) {
        g->workflow = format_read_workflow(path, NULL, NULL, &err);
        g->platform = identical(processors);
    }
    if (!g->workflow)
        printf("# %s\n", err.text);
    return g->workflow != NULL;
}

static struct plan *plan_with(const struct planner *planner, const struct graph *g,
                              const char *name, const char *value)
{
    /* the optima are those of plans with one copy of each task, so `auto` is asked for such */
    struct option_value option[] = {{name, value}, {"duplication", "false"}};
    struct plan_request request = {.workflow = g->workflow,
                                   .platform = g->platform,
                                   .options = name ? option : NULL,
                                   .noptions = !name                             ? 0
                                               : planner->accepts & ACCEPTS_META ? 2
                                                                                 : 1,
                                   .seed = 1};
    struct error err = {0};
    struct plan *plan = planner_run(planner, &request, &err);
    if (!plan)
        printf("# %s: %s\n", planner->name, err.text);
    return plan;
}

static bool is_valid(const struct plan *plan, const struct graph *g)
{
    struct check_result result = {0};
    struct error err = {0};
    bool valid = check_plan(plan, g->workflow, g->platform, &result, &err) && result.total == 0;
    check_result_free(&result);
    return valid;
}

struct figures {
    uint32_t plans, below, invalid, exact;
    double sum, worst;
};

static void count_plan(struct figures *f, const struct plan *plan, const struct graph *g)
{
    double ratio = plan_makespan(plan) / g->optimum;
    f->plans++;
    f->below += ratio < 1 - 1e-9;
    f->exact += ratio < 1 + 1e-9;
    f->invalid += !is_valid(plan, g);
    f->sum += ratio;
    f->worst = fmax(f->worst, ratio);
}

enum { PLANNERS = 64 };

int main(void)
{
    const char *shared = tap_shared();
    if (!shared) {
        tap_skip("graphs with proven optima", "no shared data");
        return tap_done();
    }
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/data/optimal", shared);
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), graphs = 0;
    static struct figures figures[PLANNERS];
    uint32_t above = 0, bound_wrong = 0, proven = 0, proven_wrong = 0;
    for (int i = 0; i < count; i++) {
        char path[8400];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        size_t length = strlen(names[i]->d_name);
        bool graph = length > 4 && strcmp(names[i]->d_name + length - 4, ".dot") == 0;
        free(names[i]);
        struct graph g;
        if (!graph)
            continue;
        if (!read_graph(path, &g)) {
            ok(false, "%s reads", path);
            continue;
        }
        graphs++;
        for (size_t k = 0; planner_registry[k] && k < PLANNERS; k++) {
            const struct planner *planner = planner_registry[k];
            if (!(planner->accepts & ACCEPTS_DAG))
                continue;
            bool exact = planner->accepts & ACCEPTS_SMALL, meta = planner->accepts & ACCEPTS_META;
            struct plan *plan = plan_with(planner, &g,
                                          exact  ? "states"
                                          : meta ? "budget"
                                                 : NULL,
                                          exact ? "500" : "5000moves");
            if (!plan)
                continue;
            /* a plan that runs a task twice may be shorter than the optimum of one copy each */
            if (plan->kind == PLAN_STATIC && plan->placements.n == g.workflow->ntasks)
                count_plan(&figures[k], plan, &g);
            if (meta)
                above += !(plan_objective(plan, "lower_bound") <= g.optimum * (1 + 1e-9));
            if (exact) {
                double bound = plan_objective(plan, "lower_bound");
                bound_wrong += !(bound <= g.optimum * (1 + 1e-9));
                if (bound >= plan_makespan(plan) * (1 - 1e-9)) {
                    proven++;
                    proven_wrong += fabs(bound - g.optimum) > 1e-9 * g.optimum;
                }
            }
            plan_free(plan);
        }
        workflow_free(g.workflow);
        platform_free(g.platform);
    }
    if (count >= 0)
        free(names);
    is_int(graphs, 59, "59 graphs");
    for (size_t k = 0; planner_registry[k] && k < PLANNERS; k++) {
        const struct figures *f = &figures[k];
        if (!f->plans)
            continue;
        const char *name = planner_registry[k]->name;
        printf("# %s: %.4f times the optimum on average, %.4f at worst, optimal on %u of %u\n",
               name, f->sum / f->plans, f->worst, f->exact, f->plans);
        is_int(f->below, 0, "%s is never below the optimum", name);
        is_int(f->invalid, 0, "%s: all its plans are valid", name);
        double mean = f->sum / f->plans;
        /* A public library's HEFT has 1.161 on average over 527 such graphs. Of the 59 here one
         * alone (8 processors, 10 tasks, CCR 10: a producer of a join on a node of its own) is
         * at 7.17 with any tie rule, and adds 0.10. */
        if (strcmp(name, "heft") == 0)
            ok(mean - f->worst / f->plans + 1.0 / f->plans <= 1.17 && mean <= 1.22,
               "heft: %.4f of the optimum on average, at most 1.22, and 1.17 without its worst "
               "graph",
               mean);
        if (strcmp(name, "auto") == 0 || strcmp(name, "optimal") == 0)
            ok(mean <= 1.02 && f->worst <= 1.10,
               "%s: %.4f on average, at most 1.02; worst %.4f, at most 1.10", name, mean, f->worst);
    }
    is_int(above, 0, "no bound that auto prints is above the optimum");
    is_int(bound_wrong, 0, "no bound of the exact search is above the optimum");
    ok(proven >= 35, "it proves %u graphs within 500 states", proven);
    is_int(proven_wrong, 0, "and what it proves is the optimum");
    return tap_done();
}
