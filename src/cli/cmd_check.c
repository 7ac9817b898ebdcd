/* `weft check`: weft_check_new(), and what it found. */
#include "api/inside.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "cli/cli.h"

#include <stdio.h>

static const struct cli_option options[] = {
    {"workflow", 0, "FILE", "judge against this workflow instead of the one that the plan names"},
    OPTION_ON,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART_ONLY,
    OPTION_RISK,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static void check_json(const struct check_result *r, const struct workflow *w, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-check/1");
    json_put_bool(&j, "valid", r->total == 0);
    json_put_integer(&j, "total", (int64_t)r->total);
    json_write_key(&j, "violations");
    json_write_array(&j);
    for (size_t i = 0; i < r->violations.n; i++) {
        const struct violation *v = &r->violations.at[i];
        json_write_object_inline(&j);
        json_put_string(&j, "kind", violation_name(v->kind));
        json_write_key(&j, "task");
        if (v->task == NONE)
            json_write_null(&j);
        else
            json_write_string(&j, workflow_task_name(w, v->task));
        json_put_string(&j, "detail", v->detail);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_key(&j, "objectives");
    json_write_object_inline(&j);
    for (uint32_t i = 0; i < r->recomputed->nobjectives; i++)
        json_put_number(&j, r->recomputed->objectives[i].name, r->recomputed->objectives[i].value);
    json_write_end_object(&j);
    if (r->cycle_times.n) { /* streams: cluster, channel, seconds */
        json_write_key(&j, "min_cycle_times");
        json_write_array(&j);
        for (size_t i = 0; i < r->cycle_times.n; i++) {
            json_write_array_inline(&j);
            json_write_integer(&j, r->cycle_times.at[i].cluster);
            json_write_integer(&j, r->cycle_times.at[i].channel);
            json_write_number(&j, r->cycle_times.at[i].seconds);
            json_write_end_array(&j);
        }
        json_write_end_array(&j);
    }
    json_write_end_object(&j);
}

static void check_text(const struct check_result *r, const struct plan *plan, struct strbuf *out)
{
    if (r->total)
        strbuf_printf(out, "not valid: %zu violation%s\n", r->total, plural(r->total));
    else
        strbuf_printf(out, "valid: a %s plan%s%s\n", plan_kind_name(plan->kind),
                      plan->planner ? " by " : "", plan->planner ? plan->planner : "");
    size_t shown = r->violations.n < 50 ? r->violations.n : 50;
    for (size_t i = 0; i < shown; i++) {
        strbuf_printf(out, "  %-15s ", violation_name(r->violations.at[i].kind));
        utf8_add_visible(out, r->violations.at[i].detail);
        strbuf_add_char(out, '\n');
    }
    if (shown < r->total)
        strbuf_printf(out, "  and %zu more; --json lists up to %d\n", r->total - shown, CHECK_MOST);
    for (uint32_t i = 0; i < r->recomputed->nobjectives; i++)
        strbuf_printf(out, "  %-15s %.10g (recomputed)\n", r->recomputed->objectives[i].name,
                      r->recomputed->objectives[i].value);
    for (size_t i = 0; i < plan->notes.n; i++) {
        strbuf_add(out, "  note: ");
        utf8_add_visible(out, plan->notes.at[i]);
        strbuf_add_char(out, '\n');
    }
}

static int check_show(const struct arguments *a, const struct weft_plan *plan)
{
    struct weft_error error;
    struct weft_check *c = weft_check_new(plan, &error);
    if (!c)
        return cli_failed(&error);
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        check_json(&c->result, inside_workflow(weft_plan_workflow(plan)), &out);
    else
        check_text(&c->result, inside_plan(plan), &out);
    int status = cli_print(&out);
    if (!status && weft_check_total(c))
        status = WEFT_FAILED;
    strbuf_free(&out);
    weft_check_free(c);
    return status;
}

static int check_command(const struct arguments *a)
{
    struct weft_error error;
    struct weft_problem problem;
    struct weft_file *file = weft_file_open(a->operand[0], NULL, &error);
    bool good = file && cli_problem(a, NULL, file, &problem, &error);
    weft_file_close(file);
    if (!good)
        return cli_failed(&error);
    int status = check_show(a, problem.plan);
    weft_problem_free(&problem);
    return status;
}

const struct command command_check = {
    .name = "check",
    .operands = "PLAN",
    .least = 1,
    .most = 1,
    .summary = "validate a plan against its workflow and platform",
    .details = "Exit status 0: valid; 1: not valid, with each violation named.\n\n"
               "examples:\n"
               "  weft check plan.json\n"
               "  weft check plan.json --workflow flow.yaml --on cluster.yaml --json\n",
    .options = options,
    .run = check_command,
};
