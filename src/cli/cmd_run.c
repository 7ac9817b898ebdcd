#include "base/mem.h"
#include "cli/cli.h"
#include "cli/run_on.h"
#include "cli/run_session.h"
#include "plan/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    RUN_OPTIONS,
    {"why", 0, "TASK", "say why this task (or the maker of this file) would run, and run nothing"},
    {"plan", 0, "FILE", "follow the order of this plan"},
    {"order", 0, "PLANNER", "follow the order that this planner makes (ic)"},
    {"with", 0, "PLANNER", "plan first, on predicted times, and follow the plan"},
    {"set", 0, "NAME=VALUE", "an option of that planner; may be repeated"},
    RUN_ON_OPTIONS,
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    {"json", 0, NULL, "events as they happen, one JSON object a line on standard output"},
    OPTION_QUIET,
    OPTION_END,
};

static bool one_order(const struct arguments *a, struct error *err)
{
    int n = (arguments_value(a, "plan") != NULL) + (arguments_value(a, "order") != NULL) +
            (arguments_value(a, "with") != NULL);
    return n <= 1 || error_set(err, ERROR_INPUT, "--plan, --order and --with: one of them");
}

/* The workflow; with a plan file, the one that it names unless another is given. */
static struct workflow *read_flow(const struct arguments *a, struct error *err)
{
    struct format_file *f = cli_open(a, a->operand[0], err);
    if (!f)
        return NULL;
    struct workflow *w = NULL;
    if (format_file_is_plan(f))
        error_set(err, ERROR_INPUT, "%s is a plan; `weft run FLOW --plan %s` runs it",
                  a->operand[0], a->operand[0]);
    else
        w = format_file_workflow(f, err);
    format_file_close(f);
    if (w)
        cli_warnings(a, w);
    return w;
}

static struct platform *run_platform(const struct session *s, struct error *err)
{
    struct platform_builder *b = platform_builder_new("this-machine");
    platform_builder_name(b, "this machine", strlen("this machine"));
    uint32_t node = platform_builder_node(b, "localhost", strlen("localhost"), 0);
    platform_builder_cores(b, node, s->cores, 0);
    platform_builder_memory(b, node, s->memory, 0);
    return platform_builder_finish(b, err);
}

static bool follow_file(struct session *s, const char *path, struct error *err)
{
    struct plan_file *f = plan_file_open(path, err);
    if (!f)
        return false;
    /* the order counts, not the nodes: any platform that the plan names will do */
    const char *on = plan_file_platform(f);
    struct platform *p = on ? machine_named(on, err) : run_platform(s, err);
    struct plan *plan = p ? plan_file_read(f, s->w, p, err) : NULL;
    plan_file_close(f);
    if (plan)
        session_follow(s, plan);
    bool good = plan != NULL;
    if (good && plan->kind == PLAN_STREAM)
        good = error_set(err, ERROR_INPUT,
                         "%s: a plan for a stream of items; `weft run` runs a workflow once", path);
    plan_free(plan);
    platform_free(p);
    return good;
}

static bool follow_planner(struct session *s, const char *name, bool order, struct error *err)
{
    const struct planner *planner = planner_find(name);
    int64_t seed;
    size_t count = 0;
    if (!planner)
        return planner_unknown(name, err);
    if (planner->accepts & ACCEPTS_STREAM)
        return error_set(err, ERROR_INPUT, "'%s' plans a stream of items; a run takes one", name);
    if (order && !(planner->accepts & ACCEPTS_ORDER))
        return error_set(err, ERROR_INPUT,
                         "--order %s: that planner makes plans, not orders; --with %s", name, name);
    if (!arguments_integer(s->a, "seed", 1, 0, INT64_MAX, &seed, err))
        return false;
    struct pair *pairs = arguments_pairs(s->a, "set", &count, err);
    if (!pairs)
        return false;
    struct option_value *values = mem_new_zero(struct option_value, count + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct option_value){pairs[i].name, pairs[i].text};
    session_predict(s);
    workflow_set_work(s->w, s->seconds, NULL);
    struct platform *p = run_platform(s, err);
    struct progress progress = cli_progress("planning");
    struct plan *plan =
        p ? planner_run(planner,
                        &(struct plan_request){.workflow = s->w,
                                               .platform = p,
                                               .options = values,
                                               .noptions = count,
                                               .seed = (uint64_t)seed,
                                               .progress = s->quiet ? NULL : &progress},
                        err)
          : NULL;
    cli_progress_done();
    if (plan)
        session_follow(s, plan);
    bool good = plan != NULL;
    plan_free(plan);
    platform_free(p);
    free(values);
    pairs_free(pairs);
    return good;
}

static bool choose_order(struct session *s, struct error *err)
{
    const char *plan = arguments_value(s->a, "plan"), *order = arguments_value(s->a, "order");
    const char *with = arguments_value(s->a, "with");
    if (plan)
        return follow_file(s, plan, err);
    if (order || with)
        return follow_planner(s, order ? order : with, order != NULL, err);
    return true;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct session s = {0};
    const char *why = arguments_value(a, "why"), *on = arguments_value(a, "on");
    int status;
    bool good = one_order(a, &err) && run_on_check(a, &err);
    if (good)
        session_begin(&s, a, a->operand[0]);
    if (good && on)
        session_elsewhere(&s, NULL, NULL);
    if (!good || !session_open(&s, read_flow(a, &err), &err) || !choose_order(&s, &err))
        status = cli_fail(&err);
    else if (why)
        status = session_why(&s, why);
    else if (arguments_flag(a, "dry-run"))
        status = session_show(&s);
    else
        status = on ? run_on(&s, on) : session_run(&s);
    session_close(&s);
    return status;
}

const struct command command_run = {
    .name = "run",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "run a workflow of commands, here or on other machines",
    .details =
        "Tasks run as soon as their inputs are there and cores and memory allow it, each in a\n"
        "sandbox of its own. What has been computed is not computed again: a task runs when its\n"
        "command, its parameters or the content of its inputs changed, or its output is gone.\n"
        "weft's own files are in .weft beside the workflow: records, logs, sandboxes.\n\n"
        "--on runs the tasks elsewhere and brings the results: local:N, ssh:HOST,HOST... and "
        "slurm\n"
        "start agents for this run and end them after it; cluster uses those that are at --store.\n"
        "-j and -m are then an agent's. If this command dies, the run goes on: `weft attach`.\n\n"
        "Ctrl-C once: nothing new starts. Twice: everything is ended now. `weft run` again goes "
        "on.\n"
        "Exit status: 0 all is done, 1 a task failed or the run was stopped, 2 bad input.\n\n"
        "examples:\n"
        "  weft run flow.yaml\n"
        "  weft run flow.yaml -n                  what would run, and why\n"
        "  weft run flow.yaml --why align         one task\n"
        "  weft run flow.yaml -j 4 --memory 8G --disk 50G\n"
        "  weft run flow.yaml --with heft         plan on predicted times, follow the plan\n"
        "  weft run flow.yaml --json | jq .       events as they happen\n"
        "  weft run flow.yaml --on ssh:a,b,c      on other machines\n"
        "  weft run flow.yaml --on slurm --nodes 8\n",
    .options = options,
    .run = run,
};
