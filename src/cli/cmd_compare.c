/* `weft compare`: weft_compare_new() as a table or JSON. */
#include "base/json.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "report/human.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_ON,
    {"with", 0, "A,B,C", "only these planners"},
    {"budget", 0, "TIME", "what each searching planner may spend (default 1s)"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_RISK,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static void compare_head(const struct weft_problem *problem, struct strbuf *out)
{
    char name[256], count[HUMAN_SIZE], edges[HUMAN_SIZE];
    uint32_t nodes = weft_platform_nodes(problem->platform);
    strbuf_printf(out, "%s: %s task%s, %s edge%s, on %u node%s\n\n",
                  cli_workflow_title(problem->workflow, name, sizeof name),
                  human_count(count, weft_workflow_tasks(problem->workflow)),
                  plural(weft_workflow_tasks(problem->workflow)),
                  human_count(edges, weft_workflow_edges(problem->workflow)),
                  plural(weft_workflow_edges(problem->workflow)), nodes, plural(nodes));
}

/* A planner that refused has its reason in place of its figures. */
static void compare_row(struct table *t, const struct weft_compare_row *r)
{
    table_row(t);
    table_cell(t, r->planner);
    if (r->failure) {
        for (int k = 0; k < 6; k++)
            table_cell(t, "-");
        table_cell(t, r->failure);
        return;
    }
    table_printf(t, "%.6g", r->makespan);
    table_printf(t, "%.3f", r->speedup);
    table_printf(t, "%.3f", r->efficiency);
    table_printf(t, "%.3f", r->slr);
    table_printf(t, "%u", r->nodes_used);
    table_seconds(t, r->seconds);
    table_cell(t, r->valid ? "" : "NOT VALID: please report this bug");
}

/* The scale stands below the table: a speedup means nothing without its base. */
static void compare_text(const struct weft_compare *c, const struct weft_problem *problem,
                         struct strbuf *out)
{
    static const char *const titles[] = {"makespan", "speedup", "efficiency",
                                         "slr",      "nodes",   "planned in"};
    struct table *t = table_new();
    struct weft_compare_row r;
    double sequential, critical;
    size_t left_out;
    compare_head(problem, out);
    table_column(t, "planner", TABLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(t, titles[i], TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (size_t i = 0; weft_compare_row(c, i, &r); i++)
        compare_row(t, &r);
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    weft_compare_scale(c, &sequential, &critical, &left_out);
    strbuf_printf(out,
                  "\nspeedup: against all tasks on one node (%.6g); slr: against the longest chain "
                  "(%.6g)\n",
                  sequential, critical);
    if (left_out)
        strbuf_printf(out,
                      "%zu planner%s too slow for this size %s left out; name them with --with\n",
                      left_out, plural(left_out), left_out == 1 ? "was" : "were");
}

static void compare_json(const struct weft_compare *c, struct strbuf *out)
{
    struct json_writer j;
    struct weft_compare_row r;
    double sequential, critical;
    size_t left_out;
    weft_compare_scale(c, &sequential, &critical, &left_out);
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-compare/1");
    json_put_number(&j, "sequential", sequential);
    json_put_number(&j, "critical_path", critical);
    json_write_key(&j, "rows");
    json_write_array(&j);
    for (size_t i = 0; weft_compare_row(c, i, &r); i++) {
        json_write_object_inline(&j);
        json_put_string(&j, "planner", r.planner);
        json_put_number(&j, "makespan", r.makespan);
        json_put_number(&j, "speedup", r.speedup);
        json_put_number(&j, "efficiency", r.efficiency);
        json_put_number(&j, "slr", r.slr);
        json_put_integer(&j, "nodes_used", r.nodes_used);
        json_put_number(&j, "seconds", r.seconds);
        json_put_bool(&j, "valid", r.valid);
        if (r.failure)
            json_put_string(&j, "failure", r.failure);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* A plan that the checker refuses is a fault of ours, and the exit status says so. */
static bool compare_all_valid(const struct weft_compare *c)
{
    struct weft_compare_row r;
    for (size_t i = 0; weft_compare_row(c, i, &r); i++)
        if (!r.valid && !r.failure)
            return false;
    return true;
}

/* "a,b,c" as a list that ends with NULL, in one block with its texts. */
static const char **compare_names(const char *with)
{
    size_t most = strlen(with) / 2 + 2, n = 0;
    const char **names = mem_alloc(most * sizeof *names + strlen(with) + 1);
    char *text = (char *)(names + most), *rest = NULL;
    memcpy(text, with, strlen(with) + 1);
    for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        names[n++] = name;
    names[n] = NULL;
    return names;
}

static int compare_show(const struct arguments *a, const struct weft_problem *problem)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_compare_options o = WEFT_COMPARE_INIT;
    const char *with = arguments_value(a, "with"), *budget = arguments_value(a, "budget");
    const char **names = with ? compare_names(with) : NULL;
    int64_t seed;
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err)) {
        free(names);
        return cli_fail(&err);
    }
    o.planners = names;
    if (budget)
        o.budget = budget;
    o.seed = (uint64_t)seed;
    o.progress = cli_progress_of(a, "comparing");
    struct weft_compare *c = weft_compare_new(problem->workflow, problem->platform, &o, &error);
    cli_progress_done();
    free(names);
    if (!c)
        return cli_failed(&error);
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        compare_json(c, &out);
    else
        compare_text(c, problem, &out);
    int status = cli_print(&out);
    if (!status && !compare_all_valid(c))
        status = WEFT_FAILED;
    strbuf_free(&out);
    weft_compare_free(c);
    return status;
}

static int compare_command(const struct arguments *a)
{
    struct weft_error error;
    struct weft_problem problem;
    if (!cli_problem(a, a->operand[0], NULL, &problem, &error))
        return cli_failed(&error);
    int status = compare_show(a, &problem);
    weft_problem_free(&problem);
    return status;
}

const struct command command_compare = {
    .name = "compare",
    .operands = "FLOW [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
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
    .run = compare_command,
};
