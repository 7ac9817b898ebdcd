/* `weft submit`: hand a workflow to the agents of a cluster, and go. */
#include "api/inside_run.h"
#include "base/json.h"
#include "base/plural.h"
#include "cli/run_screen.h"
#include "cli/signals.h"
#include "report/dry_run.h"
#include "report/human.h"

#include <inttypes.h>

/* Those of `weft run` that make sense without following it. */
static const struct cli_option submit_options[] = {
    OPTION_STORE,
    OPTION_STORE_MAY_LOSE,
    OPTION_KEY,
    CLUSTER_WORK_OPTIONS,
    {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},
    {"keep-going", 'k', NULL, "after a failure, run what does not depend on it"},
    {"force", 'f', NULL, "run every task, done or not"},
    {"no-sandbox", 0, NULL, "run every task in the run's folder itself"},
    {"overwrite", 0, NULL, "replace files that weft did not make, also when attach brings them"},
    {"no-limits", 0, NULL, "measure the memory of tasks, but do not enforce it"},
    {"retry-delay", 0, "SECONDS", "before the second attempt, then doubled (default 0.1)"},
    {"no-history", 0, NULL, "predict nothing from past runs"},
    OPTION_WAIT,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    {"plan", 0, "FILE", "follow this plan"},
    {"with", 0, "PLANNER",
     "plan for the agents that are there, on predicted times, and follow that"},
    {"set", 0, "NAME=VALUE", "an option of that planner; may be repeated"},
    OPTION_SEED,
    OPTION_FOLLOW,
    OPTION_RISK,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule submit_rules[] = {
    {"shared no-shared", NULL, "shared no-shared"},
    {"follow", "plan with", NULL}, /* constraints of the workflow's own are followed strictly */
    {"set seed", "with", NULL},
    {"with plan", NULL, "with plan"}, /* there can be one */
    RULES_END,
};

/* --quiet prints the number alone, or nothing when there is nothing to do:
 * `run=$(weft submit flow.yaml -q)`. */
static int submit_report(const struct run_screen *s, const struct weft_forecast *f,
                         const struct weft_submitted *in)
{
    struct strbuf out = {0};
    char size[HUMAN_SIZE];
    const char *name = weft_run_name(s->run);
    uint32_t restored = inside_run(s->run)->keeping.restored;
    if (s->json) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-submitted/1");
        json_put_string(&j, "workflow", name);
        json_write_key(&j, "run");
        if (in->run)
            json_write_unsigned(&j, in->run);
        else
            json_write_null(&j); /* nothing to do */
        json_put_integer(&j, "tasks", f->tasks);
        json_put_integer(&j, "to_run", f->to_run);
        json_put_integer(&j, "agents", in->agents);
        json_put_bool(&j, "shared", in->shared);
        json_put_integer(&j, "files", in->files);
        json_put_integer(&j, "copies", in->copies);
        json_put_number(&j, "bytes", in->bytes);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (s->quiet) {
        if (in->run)
            strbuf_printf(&out, "%" PRIu64 "\n", in->run);
    } else if (!in->run) {
        dry_run_nothing(name, f->tasks, f->tasks - f->done - restored, restored, &out);
    } else {
        strbuf_printf(&out, "run %" PRIu64 ": %u of %u task%s on %u agent%s", in->run, f->to_run,
                      f->tasks, plural(f->tasks), in->agents, plural(in->agents));
        if (!in->shared && in->files)
            strbuf_printf(&out, "; %u file%s handed over, %s in %u cop%s", in->files,
                          plural(in->files), human_bytes(size, in->bytes), in->copies,
                          in->copies == 1 ? "y" : "ies");
        strbuf_printf(&out,
                      "\n`weft attach %" PRIu64 "` follows it and brings the results, `weft "
                      "status %" PRIu64 "` shows it\n",
                      in->run, in->run);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* --plan or --with; the plan is made when the agents are known. False: an error, which is said. */
static bool submit_plan(struct run_screen *s, int *status)
{
    const struct arguments *a = s->a;
    const char *plan = arguments_value(a, "plan"), *with = arguments_value(a, "with");
    struct weft_error error;
    struct error err = {0};
    int64_t seed;
    if (plan && !weft_run_follow_file(s->run, plan, &error)) {
        *status = cli_failed(&error);
        return false;
    }
    if (!with)
        return true;
    const char **options = cli_list(a, "set", &err);
    bool good = options && arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err);
    if (!good)
        *status = cli_fail(&err);
    else if (!(good = weft_run_plan(s->run, with, options, (uint64_t)seed, false, &error)))
        *status = cli_failed(&error);
    free(options);
    return good;
}

/* Opened for a cluster, predicted, handed in; never started here. */
static int submit_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct run_screen s = {0};
    struct weft_run_options o;
    struct weft_forecast forecast;
    struct weft_submitted in;
    if (!run_screen_options(&s, a, &o, &err))
        return run_screen_close(&s, cli_fail(&err));
    run_screen_part(&s, &o, 1);
    o.on = "cluster";
    s.run = weft_run_open(a->operand[0], &o, &error);
    int status = 0;
    if (s.run && !submit_plan(&s, &status))
        return run_screen_close(&s, status);
    bool good = s.run != NULL;
    if (good) {
        signals_stop_run(s.run);
        s.progress = cli_progress("planning"); /* constraints of the workflow's own are, too */
        good = weft_run_forecast(s.run, &forecast, &error) && weft_run_submit(s.run, &in, &error);
        cli_progress_done();
        signals_release();
    }
    status = good ? submit_report(&s, &forecast, &in) : cli_failed(&error);
    return run_screen_close(&s, status);
}

const struct command command_submit = {
    .name = "submit",
    .operands = "FLOW [TARGET...]",
    .parts = true,
    .least = 1,
    .most = SIZE_MAX,
    .summary = "hand a workflow to the agents of a cluster, and go",
    .details =
        "Tasks whose results are here already do not run. The others are shared out among the\n"
        "agents (`weft agent`), which get the files that they read; then the run is open and\n"
        "needs this machine no more. `weft attach RUN` follows it and brings the results, from\n"
        "anywhere and as often as you like; `weft status`, `weft cancel`.\n\n"
        "--submit as in section 2.2 of the MATRIX paper: best gives every agent an equal share,\n"
        "neighbours in the graph together; worst gives all tasks to one agent, from which the\n"
        "others steal; group:a,b gives shares to the agents on these hosts.\n"
        "Files are copied unless all agents see the workflow's folder (which is looked for):\n"
        "then they work in it. --shared and --no-shared decide.\n\n"
        "-q prints the run's number alone. When every task is up to date there is no run:\n"
        "it prints nothing and ends with 0, and `weft attach \"\"` has nothing to do either.\n"
        "Exit status: 0 it is handed in (or nothing is to do), 1 the cluster could not take\n"
        "it, 2 bad input, 3 a task fits no agent.\n\n"
        "examples:\n"
        "  weft submit flow.yaml\n"
        "  weft submit flow.yaml --store rediss://head:6379 --key cluster.key\n"
        "  weft submit flow.yaml --submit worst --policy auto\n"
        "  weft submit flow.yaml --with heft      plan for the agents as they are now\n"
        "  run=$(weft submit flow.yaml -q) && weft attach \"$run\"\n",
    .options = submit_options,
    .rules = submit_rules,
    .run = submit_command,
};
