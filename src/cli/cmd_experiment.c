/* `weft experiment`: the combinations of an experiment as one workflow: how much work it is with
 * and without reuse, which combination gives which files, and the run itself. */
#include "api/inside_run.h"
#include "base/mem.h"
#include "cli/run_screen.h"
#include "report/experiment_output.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option experiment_options[] = {
    {"plan-only", 0, NULL, "only say what it takes: combinations, tasks, predicted time"},
    {"list", 0, NULL, "list the combinations, with the files that each gives"},
    {"values", 0, "RESULT", "list the figures in this result instead: its lines are `name value`"},
    {"output", 'o', "FILE", "write the merged workflow (native YAML, or by the suffix)"},
    RUN_OPTIONS,
    OPTION_ON,
    {"with", 0, "PLANNER", "predict with this planner (default auto); a run follows its plan"},
    {"assert", 0, "CONSTRAINT",
     "a constraint on the schedule of the merged workflow, beside those of the files; may be "
     "repeated"},
    OPTION_RISK,
    OPTION_SEED,
    OPTION_LOG,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* Those that run nothing have no use for how a run goes; a run that follows no plan makes none. */
static const struct cli_rule experiment_rules[] = {
    {"in-memory", NULL, "disk"},
    {"jobs memory memory-for-data disk in-memory directory keep-going force dry-run resume "
     "no-sandbox keep-failed "
     "keep-results overwrite "
     "no-limits "
     "retry-delay wait",
     NULL, "plan-only list output"},
    {"verbose", "dry-run", "json"},
    {"log", NULL, "dry-run plan-only list output"},
    {"on seed", "with assert plan-only list output", NULL},
    {"on seed with", NULL, "output=-"},
    {"plan-only", NULL, "output=-"},
    RULES_END,
};

/* Figures stand in the list of combinations, which follows a run unless it is told to be brief. */
static bool experiment_shows_values(const struct arguments *a, struct error *err)
{
    return arguments_given(a, "list") ||
           !(arguments_given(a, "plan-only") || arguments_given(a, "output") ||
             arguments_given(a, "json") || arguments_given(a, "quiet") ||
             arguments_given(a, "dry-run")) ||
           arguments_refuse(a, "values", "this; give --list as well", err);
}

/* A remark while no run goes on. What a format cannot carry is of interest unless --quiet. */
static void experiment_event(void *context, const struct weft_event *e)
{
    const struct run_screen *s = context;
    bool quiet = e->remark == WEFT_REMARK_NOTE ? arguments_flag(s->a, "quiet") : s->quiet;
    if (e->kind == WEFT_EVENT_REMARK && (!quiet || e->remark == WEFT_REMARK_WARNING))
        cli_say("", e->text);
}

/* The line that says how far the prediction is. */
static bool experiment_show_planning(void *context, double fraction, const char *what)
{
    const struct run_screen *s = context;
    return s->progress.report(s->progress.context, fraction, what);
}

/* Run the merged workflow in the folder of the original, then say where the results are. */
static int experiment_follow(struct run_screen *s, struct weft_experiment *x,
                             const struct weft_run_options *o)
{
    struct weft_error error;
    bool show = arguments_flag(s->a, "dry-run");
    /* --with asks for a plan to follow; without it the default planner only predicts */
    s->run = weft_experiment_run(x, arguments_value(s->a, "with") != NULL, o, &error);
    if (!s->run)
        return cli_failed(&error);
    int status = show ? run_screen_show(s) : run_screen_follow(s);
    if (status == 0 && !show && !s->quiet) {
        struct strbuf out = {0};
        strbuf_add_char(&out, '\n');
        experiment_results(inside_experiment(x), cli_colour(), &out);
        status = cli_print(&out);
        strbuf_free(&out);
    }
    return status;
}

/* --plan-only, --list, -o: what it takes, without running. */
static int experiment_report(struct run_screen *s, struct weft_experiment *x)
{
    struct error err = {0};
    struct weft_error error;
    struct weft_experiment_figures figures;
    const char *output = arguments_value(s->a, "output");
    bool to_stdout = output && strcmp(output, "-") == 0, list = arguments_flag(s->a, "list");
    if (to_stdout && (s->json || list)) {
        error_set(&err, ERROR_INPUT,
                  "only one result can go to standard output; write the others to files");
        return cli_fail(&err);
    }
    if (output && !weft_experiment_write(x, output, &error))
        return cli_failed(&error);
    if (to_stdout)
        return 0;
    /* planning all combinations may take seconds */
    s->progress = cli_progress("predicting");
    bool good = weft_experiment_predict(x, &figures, &error);
    cli_progress_done();
    if (!good)
        return cli_failed(&error);
    struct strbuf out = {0};
    if (s->json)
        experiment_json(inside_experiment(x), list, &out);
    else
        experiment_text(inside_experiment(x), list, cli_colour(), &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* As they were given, ends with NULL; the caller frees the list. */
static const char **experiment_assertions(const struct arguments *a)
{
    const char **list = mem_new_zero(const char *, a->ngiven + 1);
    size_t n = 0, at = 0;
    for (const char *text; (text = arguments_next(a, "assert", &at));)
        list[n++] = text;
    return list;
}

/* Read and merged first: every way of asking needs that. Then either figures or the run. */
static int experiment_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct run_screen s = {0};
    struct weft_run_options o;
    int64_t seed;
    if (!experiment_shows_values(a, &err) || !run_screen_options(&s, a, &o, &err) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err)) {
        return run_screen_close(&s, cli_fail(&err));
    }
    struct weft_experiment_options xo = WEFT_EXPERIMENT_OPTIONS_INIT;
    xo.format = o.format;
    xo.read = o.read;
    xo.planner = arguments_value(a, "with");
    xo.platform = arguments_value(a, "on");
    xo.seed = (uint64_t)seed;
    xo.no_history = o.no_history;
    xo.risk = o.risk;
    const char **assertions = experiment_assertions(a);
    xo.assertions = assertions;
    xo.event = experiment_event;
    xo.planning = s.quiet ? NULL : experiment_show_planning;
    xo.context = &s;
    struct weft_experiment *x = weft_experiment_open(a->operand[0], &xo, &error);
    free(assertions);
    int status;
    if (x)
        inside_experiment(x)->values = arguments_value(a, "values");
    if (!x)
        status = cli_failed(&error);
    else if (!experiment_has_values(inside_experiment(x), &err))
        status = cli_fail(&err);
    else if (arguments_flag(a, "plan-only") || arguments_flag(a, "list") ||
             arguments_value(a, "output"))
        status = experiment_report(&s, x);
    else
        status = experiment_follow(&s, x, &o);
    status = run_screen_close(&s, status);
    weft_experiment_close(x);
    return status;
}

const struct command command_experiment = {
    .name = "experiment",
    .operands = "EXP [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "try every combination of substitutions, computing nothing twice",
    .details =
        "EXP names a workflow and what is replaced in it: data, tasks or parameters. All\n"
        "combinations become one workflow in which each distinct computation stands once\n"
        "(docs/experiments.md). --plan-only, --list and -o run nothing. Targets, --until and\n"
        "--since name a part of that workflow, which is then what every combination is of.\n\n"
        "examples:\n"
        "  weft experiment edges.exp.yaml --plan-only --on 9\n"
        "  weft experiment edges.exp.yaml --list\n"
        "  weft experiment edges.exp.yaml --assert 'assert value requirement (\n"
        "      function = (select max(task-finish-time) from task), max = 60)'\n"
        "  weft experiment edges.exp.yaml -o merged.yaml\n",
    .options = experiment_options,
    .rules = experiment_rules,
    .run = experiment_command,
};
