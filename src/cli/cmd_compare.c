#include "base/array.h"
#include "base/json.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "model/check.h"
#include "model/graph.h"
#include "plan/planner.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SMALL_TASKS = 24, SLOW_TASKS = 20000 };

static const struct cli_option options[] = {
    OPTION_ON,
    {"with", 0, "A,B,C", "only these planners"},
    {"budget", 0, "TIME", "what each searching planner may spend (default 1s)"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

struct row {
    const struct planner *planner;
    double makespan, seconds;
    uint32_t nodes_used;
    bool valid;
    char *failure; /* why there is no plan; NULL: there is one */
};

/* What every makespan is measured against. */
struct yardstick {
    double sequential; /* all tasks on the one node that is fastest for them */
    double critical;   /* the longest chain, every task at its best */
    double cores;
};

static struct yardstick measure(const struct workflow *w, const struct platform *p,
                                const struct costs *costs)
{
    struct yardstick y = {.sequential = INFINITY};
    double *least = mem_new(double, w->ntasks), sum = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        sum += least[t] = costs_least(costs, t, NULL);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        double total = 0;
        for (uint32_t t = 0; t < w->ntasks && total < y.sequential; t++)
            total += costs_time(costs, t, n);
        if (total < y.sequential)
            y.sequential = total;
        y.cores += p->up[n] ? p->cores[n] : 0;
    }
    if (isinf(y.sequential))
        y.sequential = sum; /* no node can run them all: each at its best */
    y.critical = graph_critical_path(w, least, NULL, NULL);
    free(least);
    return y;
}

static struct row evaluate(const struct planner *planner, const struct plan_request *request)
{
    struct row row = {.planner = planner, .makespan = NAN};
    struct error err = {0};
    struct plan *plan = planner_run(planner, request, &err);
    if (!plan) {
        row.failure = mem_copy_string(err.text);
        return row;
    }
    struct check_result result;
    row.valid =
        check_plan(plan, request->workflow, request->platform, &result, &err) && !result.total;
    check_result_free(&result);
    row.makespan = plan_objective(plan, "makespan");
    row.seconds = plan->planning_seconds;
    row.nodes_used = plan_nodes_used(plan, request->platform);
    plan_free(plan);
    return row;
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    bool none_x = isnan(x->makespan), none_y = isnan(y->makespan);
    if (none_x != none_y)
        return none_x - none_y;
    if (!none_x && x->makespan != y->makespan)
        return x->makespan < y->makespan ? -1 : 1;
    if (!none_x && x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->planner->name, y->planner->name);
}

struct comparison {
    ARRAY(const struct planner *) planners;
    ARRAY(struct row) rows;
    size_t left_out;
};

/* Those asked for by name, or all that suit the workflow and end in sensible time. */
static bool choose(const struct arguments *a, const struct workflow *w, const struct platform *p,
                   struct comparison *c, struct error *err)
{
    const char *with = arguments_value(a, "with");
    if (with) {
        char *names = mem_copy_string(with), *rest = NULL;
        for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
            const struct planner *planner = planner_find(name);
            if (!planner || !planner_suits(planner, w, p, err)) {
                if (!planner)
                    planner_unknown(name, err);
                free(names);
                return false;
            }
            array_push(&c->planners, planner);
        }
        free(names);
        return c->planners.n || error_set(err, ERROR_INPUT, "--with names no planner");
    }
    for (size_t i = 0; planner_registry[i]; i++) {
        const struct planner *planner = planner_registry[i];
        if (!planner_suits(planner, w, p, NULL) ||
            planner->accepts & (ACCEPTS_STREAM | ACCEPTS_ORDER))
            continue;
        if ((planner->accepts & ACCEPTS_SMALL && w->ntasks > SMALL_TASKS) ||
            (planner->accepts & ACCEPTS_SLOW && w->ntasks > SLOW_TASKS))
            c->left_out++;
        else
            array_push(&c->planners, planner);
    }
    return true;
}

static void as_text(const struct comparison *c, const struct yardstick *y, const struct workflow *w,
                    const struct platform *p, struct strbuf *out)
{
    char name[256], count[HUMAN_SIZE], edges[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s tasks, %s edges, on %u node%s\n\n",
                  cli_workflow_title(w, name, sizeof name), human_count(count, w->ntasks),
                  human_count(edges, w->npairs), p->nnodes, p->nnodes == 1 ? "" : "s");
    struct table *t = table_new();
    static const char *const titles[] = {"makespan", "speedup", "efficiency",
                                         "slr",      "nodes",   "planned in"};
    table_column(t, "planner", TABLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(t, titles[i], TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *r = &c->rows.at[i];
        table_row(t);
        table_cell(t, r->planner->name);
        if (r->failure) {
            for (int k = 0; k < 6; k++)
                table_cell(t, "-");
            table_cell(t, r->failure);
            continue;
        }
        table_printf(t, "%.6g", r->makespan);
        table_printf(t, "%.3f", r->makespan > 0 ? y->sequential / r->makespan : 1);
        table_printf(t, "%.3f", r->makespan > 0 ? y->sequential / r->makespan / y->cores : 1);
        table_printf(t, "%.3f", y->critical > 0 ? r->makespan / y->critical : 1);
        table_printf(t, "%u", r->nodes_used);
        table_seconds(t, r->seconds);
        table_cell(t, r->valid ? "" : "NOT VALID: please report this bug");
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    strbuf_printf(out,
                  "\nspeedup: against all tasks on one node (%.6g); slr: against the longest chain "
                  "(%.6g)\n",
                  y->sequential, y->critical);
    if (c->left_out)
        strbuf_printf(out,
                      "%zu planner%s too slow for this size %s left out; name them with --with\n",
                      c->left_out, c->left_out == 1 ? "" : "s", c->left_out == 1 ? "was" : "were");
}

static void as_json(const struct comparison *c, const struct yardstick *y, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-compare/1");
    json_put_number(&j, "sequential", y->sequential);
    json_put_number(&j, "critical_path", y->critical);
    json_write_key(&j, "rows");
    json_write_array(&j);
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *r = &c->rows.at[i];
        json_write_object_inline(&j);
        json_put_string(&j, "planner", r->planner->name);
        json_put_number(&j, "makespan", r->makespan);
        json_put_number(&j, "speedup", r->makespan > 0 ? y->sequential / r->makespan : 1);
        json_put_number(&j, "efficiency",
                        r->makespan > 0 ? y->sequential / r->makespan / y->cores : 1);
        json_put_number(&j, "slr", y->critical > 0 ? r->makespan / y->critical : 1);
        json_put_integer(&j, "nodes_used", r->nodes_used);
        json_put_number(&j, "seconds", r->seconds);
        json_put_bool(&j, "valid", r->valid);
        if (r->failure)
            json_put_string(&j, "failure", r->failure);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

static bool has_option(const struct planner *planner, const char *name)
{
    for (const struct planner_option *o = planner->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

/* The option by which a searching planner is told how long it may take; NULL: it does not search.
 */
static const char *time_option(const struct planner *planner)
{
    return has_option(planner, "budget") ? "budget" : has_option(planner, "limit") ? "limit" : NULL;
}

static int compare(const struct arguments *a, const struct workflow *w, const struct platform *p,
                   struct error *err)
{
    struct comparison c = {0};
    int64_t seed;
    const char *budget = arguments_value(a, "budget");
    double seconds;
    if (!budget)
        budget = "1s";
    if (!quantity_seconds(budget, strlen(budget), &seconds) || !(seconds > 0)) {
        error_set(err, ERROR_INPUT, "--budget is '%s'; expected a time such as 1s or 500ms",
                  budget);
        return cli_fail(err);
    }
    struct costs *costs = costs_new(w, p, err);
    if (!costs || !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, err) ||
        !choose(a, w, p, &c, err)) {
        costs_free(costs);
        array_free(&c.planners);
        return cli_fail(err);
    }
    struct yardstick y = measure(w, p, costs);
    costs_free(costs);
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json"), all_valid = true;
    struct progress progress = cli_progress("comparing");
    for (size_t i = 0; i < c.planners.n; i++) {
        const struct planner *planner = c.planners.at[i];
        struct option_value value = {time_option(planner), budget};
        struct plan_request request = {.workflow = w,
                                       .platform = p,
                                       .seed = (uint64_t)seed,
                                       .options = &value,
                                       .noptions = value.name != NULL};
        if (!quiet)
            progress_tell(&progress, (double)i / (double)c.planners.n, planner->name);
        array_push(&c.rows, evaluate(planner, &request));
        all_valid &= c.rows.at[i].valid || c.rows.at[i].failure;
    }
    cli_progress_done();
    if (c.rows.n)
        qsort(c.rows.at, c.rows.n, sizeof *c.rows.at, compare_rows);
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        as_json(&c, &y, &out);
    else
        as_text(&c, &y, w, p, &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    for (size_t i = 0; i < c.rows.n; i++)
        free(c.rows.at[i].failure);
    array_free(&c.rows);
    array_free(&c.planners);
    return status ? status : all_valid ? 0 : ERROR_FAILED;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct workflow *w;
    struct platform *p;
    cli_read_problem(a, a->operand[0], NULL, &w, &p, &err);
    int status = p ? compare(a, w, p, &err) : cli_fail(&err);
    platform_free(p);
    workflow_free(w);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "every suitable planner side by side, best first",
    .details =
        "Every plan is checked. Columns: makespan; speedup against all tasks on one node; "
        "efficiency =\n"
        "speedup / cores; slr = makespan / longest chain with every task at its best; nodes used;\n"
        "time to plan.\n\n"
        "examples:\n"
        "  weft compare flow.yaml --on cluster.yaml\n"
        "  weft compare graph.json --with heft,peft,auto --json\n",
    .options = options,
    .run = run,
};
