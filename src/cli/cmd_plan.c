/* `weft plan`: arguments to weft_plan_make(), and its plan as text, JSON and pictures. */
#include "api/inside.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "cli/front.h"
#include "cli/keys.h"
#include "report/gantt.h"
#include "report/human.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_ON,
    {"with", 0, "PLANNER", "the planner (default auto, or tree for trees that must fit in memory)"},
    {"set", 0, "NAME=VALUE", "an option of the planner; may be repeated"},
    {"output", 'o', "FILE", "write the plan (JSON) here"},
    {"gantt", 0, "FILE", "draw the plan (SVG)"},
    OPTION_ZOOM,
    {"trace", 0, "FILE", "write the plan as a Chrome/Perfetto trace"},
    {"front", 0, NULL,
     "streams: every trade-off of latency, throughput and processors; --gantt draws it"},
    {"assert", 0, "CONSTRAINT",
     "with constraints: one more (docs/constraints.md); may be repeated"},
    {"assert-file", 0, "FILE", "with constraints: read these instead of the default ones"},
    {"explain", 0, NULL, "say how the plan came about"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_ASSUME,
    OPTION_RISK,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule plan_rules[] = {
    {"output trace explain", NULL, "front"}, /* many plans, none of them the one */
    {"zoom", "gantt", "front"},
    {"risk", NULL, "no-predict"},
    RULES_END,
};

/* Objectives in the planner's order, then what only placements have, then the chart. */
static void plan_summarise(const struct weft_plan *handle, struct strbuf *out)
{
    const struct plan *plan = inside_plan(handle);
    const struct workflow *w = inside_workflow(weft_plan_workflow(handle));
    const struct platform *p = inside_platform(weft_plan_platform(handle));
    char name[256], a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s task%s, %s edge%s, on %u node%s (%s)\n",
                  cli_workflow_title(weft_plan_workflow(handle), name, sizeof name),
                  human_count(a, w->ntasks), plural(w->ntasks), human_count(b, w->npairs),
                  plural(w->npairs), p->nnodes, plural(p->nnodes),
                  weft_platform_name(weft_plan_platform(handle)));
    strbuf_printf(out, "planned with %s in %s\n\n", plan->planner,
                  human_seconds(a, plan->planning_seconds));
    for (uint32_t i = 0; i < plan->nobjectives; i++)
        strbuf_printf(out, "  %-18s %.10g\n", plan->objectives[i].name, plan->objectives[i].value);
    if (plan->kind == PLAN_STATIC) {
        double bytes = 0;
        for (size_t i = 0; i < plan->transfers.n; i++)
            bytes += w->size[plan->transfers.at[i].object];
        strbuf_printf(out, "  %-18s %u of %u\n", "nodes used", weft_plan_nodes_used(handle),
                      p->nnodes);
        strbuf_printf(out, "  %-18s %s, %s\n", "transfers", human_count(a, plan->transfers.n),
                      human_bytes(b, bytes));
    }
    if (plan->verdict)
        strbuf_printf(out, "  %-18s %s\n", "verdict", plan->verdict);
    for (size_t i = 0; i < plan->notes.n; i++) {
        strbuf_add(out, "  note: ");
        utf8_add_visible(out, plan->notes.at[i]);
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
    struct gantt_text_options style = {.columns = cli_columns(), .colour = cli_colour()};
    report_gantt_text(plan, w, p, out, &style);
}

/* How many results were asked for on standard output. */
static unsigned plan_results(const struct arguments *a)
{
    static const char *const results[] = {"output", "gantt", "trace"};
    unsigned n = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *path = arguments_value(a, results[i]);
        n += path && strcmp(path, "-") == 0;
    }
    return n;
}

/* Two texts on one stream can be read by nobody. */
static bool plan_one_result(const struct arguments *a, struct error *err)
{
    const char *output = arguments_value(a, "output");
    /* --json is the plan as -o writes it, so that these two ask for the same. */
    bool also_json = arguments_flag(a, "json") && !(output && strcmp(output, "-") == 0);
    if (plan_results(a) + also_json <= 1 || !plan_results(a))
        return true;
    return error_set(err, ERROR_INPUT,
                     "only one result can go to standard output; write the others to files");
}

/* The exit status; 0: all was written. */
static int plan_write_outputs(const struct arguments *a, const struct weft_plan *plan)
{
    const char *output = arguments_value(a, "output"), *gantt = arguments_value(a, "gantt");
    const char *path = arguments_value(a, "trace");
    struct weft_error error;
    struct error err = {0};
    if (output && !weft_plan_write(plan, output, &error))
        return cli_failed(&error);
    if (gantt && !cli_write_gantt(a, gantt, plan, &err))
        return cli_fail(&err);
    if (!path)
        return 0;
    size_t n;
    char *text = weft_plan_trace(plan, &n, &error);
    if (!text)
        return cli_failed(&error);
    bool good = file_write(path, text, n, &err);
    weft_text_free(text);
    return good ? 0 : cli_fail(&err);
}

/* --set, --assert and --assert-file as options of the planner: a list, and the texts behind it. */
struct plan_settings {
    const char **list;
    struct strbuf statements, rules, rules_name;
};

static void plan_settings_free(struct plan_settings *s)
{
    free(s->list);
    strbuf_free(&s->statements);
    strbuf_free(&s->rules);
    strbuf_free(&s->rules_name);
}

/* Statements of the command line are one text, so that lines in messages count through. */
static bool plan_settings_read(const struct arguments *a, struct plan_settings *s,
                               struct error *err)
{
    *s = (struct plan_settings){.list = cli_list(a, "set", err)};
    if (!s->list)
        return false;
    size_t n = 0, at = 0;
    while (s->list[n])
        n++;
    s->list = mem_resize(s->list, n + 4);
    for (const char *text; (text = arguments_next(a, "assert", &at));)
        strbuf_printf(&s->statements, "%s%s\n", s->statements.n ? "" : "assert=", text);
    if (s->statements.n)
        s->list[n++] = strbuf_text(&s->statements);
    const char *path = arguments_value(a, "assert-file");
    if (path) {
        struct text file;
        if (!file_read(path, &file, err))
            return false;
        bool text = strlen(file.at) == file.n;
        strbuf_printf(&s->rules, "rules=%s", file.at);
        strbuf_printf(&s->rules_name, "rules-name=%s", path);
        text_free(&file);
        if (!text)
            return error_set(err, ERROR_INPUT,
                             "%s: a NUL byte among the constraints, expected text", path);
        s->list[n++] = strbuf_text(&s->rules);
        s->list[n++] = strbuf_text(&s->rules_name);
    }
    s->list[n] = NULL;
    return true;
}

/* How often + was pressed: each says that the best plan so far will soon do. */
static unsigned plan_hurry(void *keys)
{
    return keys_urgency(keys);
}

/* Plans, writes files, and shows what has no file. The exit status. */
static int plan_make(const struct arguments *a, const struct weft_problem *problem,
                     const char *const *settings, uint64_t seed)
{
    struct weft_error error;
    struct weft_plan_options o = WEFT_PLAN_INIT;
    struct keys keys;
    o.options = settings;
    o.seed = seed;
    o.explain = arguments_flag(a, "explain");
    o.progress = cli_progress_of(a, "planning");
    o.hurry = plan_hurry;
    o.context = &keys;
    keys_listen(&keys, !o.progress);
    struct weft_plan *plan = weft_plan_make(problem->workflow, problem->platform,
                                            arguments_value(a, "with"), &o, &error);
    keys_leave(&keys);
    cli_progress_done();
    int status = plan ? plan_write_outputs(a, plan) : cli_failed(&error);
    if (!status && !plan_results(a)) { /* else it is there already, and nothing may follow it */
        struct strbuf out = {0};
        size_t n;
        char *json = arguments_flag(a, "json") ? weft_plan_write_text(plan, &n, &error) : NULL;
        if (!json)
            plan_summarise(plan, &out);
        status = json ? cli_show(json, n) : cli_print(&out);
        weft_text_free(json);
        strbuf_free(&out);
    }
    weft_plan_free(plan);
    return status;
}

static int plan_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct weft_problem problem;
    const char *with = arguments_value(a, "with");
    int64_t seed;
    /* What can be wrong with the options is said before a large file is read. */
    if (with && weft_planner_find(with, &error) == SIZE_MAX)
        return cli_failed(&error);
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) || !plan_one_result(a, &err))
        return cli_fail(&err);
    if (!cli_problem(a, a->operand[0], NULL, &problem, &error))
        return cli_failed(&error);
    struct plan_settings settings;
    int status = !plan_settings_read(a, &settings, &err) ? cli_fail(&err)
                 : arguments_flag(a, "front")
                     ? front_run(a, &problem, settings.list, (uint64_t)seed)
                     : plan_make(a, &problem, settings.list, (uint64_t)seed);
    plan_settings_free(&settings);
    weft_problem_free(&problem);
    return status;
}

const struct command command_plan = {
    .name = "plan",
    .operands = "FLOW [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "map a workflow onto a platform",
    .details =
        "Without --on, the platform in the workflow's own file is used if it has one, else this\n"
        "machine. The plan is checked by the same rules as `weft check` before it is shown.\n\n"
        "examples:\n"
        "  weft plan flow.yaml --on cluster.yaml --gantt plan.svg -o plan.json\n"
        "  weft plan graph.dot --on homogeneous:n=4,bandwidth=1 --with heft\n"
        "  weft plan flow.json --on 16 --with auto --set budget=5s\n"
        "  weft plan video.yaml --on 32 --with mos --set throughput=0.5Tmax\n"
        "  weft plan video.yaml --on 32 --with stream --front --gantt front.svg\n",
    .options = options,
    .rules = plan_rules,
    .run = plan_command,
};
