/* `weft run`: a workflow of commands, here or on other machines. */
#include "api/inside_run.h"
#include "base/mem.h"
#include "cli/run_screen.h"

#include <stdlib.h>

static const struct cli_option run_command_options[] = {
    RUN_OPTIONS,
    {"why", 0, "TASK", "say why this task (or the maker of this file) would run, and run nothing"},
    {"of", 0, "RUN",
     "instead of FLOW: the graph of this run of the history, as it was and where it was"},
    {"plan", 0, "FILE", "follow this plan"},
    {"spill", 0, "DIR", "with --in-memory: files that the plan writes out of memory go here"},
    {"order", 0, "PLANNER", "follow the order that this planner makes (ic)"},
    {"with", 0, "PLANNER", "plan first, on predicted times, and follow the plan"},
    {"set", 0, "NAME=VALUE", "an option of that planner; may be repeated"},
    OPTION_FOLLOW,
    OPTION_RISK,
    {"on", 0, "WHERE", "run on agents: local:N, ssh:HOST,HOST..., slurm, or cluster (at --store)"},
    {"nodes", 0, "N", "slurm: at most so many nodes (default 1), asked for as tasks get ready"},
    OPTION_STORE,
    OPTION_STORE_MAY_LOSE,
    OPTION_KEY,
    CLUSTER_WORK_OPTIONS,
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_LOG,
    {"json", 0, NULL, "events as they happen, one JSON object a line on standard output"},
    OPTION_QUIET,
    OPTION_END,
};

/* A dry run takes every option of the run that it is about. */
static const struct cli_rule run_rules[] = {
    {"set seed", "with order", NULL},
    {"with plan order", NULL, "with plan order"}, /* each gives an order, and there can be one */
    {"of", NULL, "from read param params"},       /* they are how a file is read */
    {"store-may-lose", "store on=cluster", NULL},
    {"store insecure-store key submit policy shared no-shared later priority", "on", NULL},
    {"insecure-store", "store on=cluster", NULL}, /* own agents have a store of their own */
    {"nodes", "on=slurm", NULL},
    {"shared no-shared", NULL, "shared no-shared"},
    {"disk", NULL, "on"},                               /* agents have --cache */
    {"memory-for-data", NULL, "on in-memory"},          /* agents have WEFT_MEMORY_FOR_DATA */
    {"in-memory", NULL, "on disk"},                     /* --memory bounds files, too */
    {"spill", "in-memory", NULL},                       /* else they are on a disk */
    {"spill", "plan with", NULL},                       /* it says which files leave memory */
    {"keep-failed", NULL, "on no-sandbox dry-run why"}, /* sandboxes of this machine */
    {"keep-results", NULL, "dry-run why"},              /* they keep nothing */
    {"jobs memory has resources", NULL, "on=cluster"},  /* its agents are there already */
    {"why", NULL, "dry-run json"},
    {"verbose", "dry-run", "json"},
    {"log", NULL, "dry-run why"}, /* they run nothing */
    RULES_END,
};

/* Only the workflow says whether there is one without being asked for. */
static int run_has_no_plan(const struct arguments *a)
{
    struct error err = {0};
    if (!arguments_value(a, "follow"))
        return 0;
    error_set(&err, ERROR_INPUT,
              "--follow does nothing without a plan: --plan, --with, --order, or a workflow with "
              "`assert:`");
    return cli_fail(&err);
}

/* --plan, --order or --with, or the workflow's own constraints. The exit status; 0: go on. */
static int run_choose_order(struct run_screen *s)
{
    const struct arguments *a = s->a;
    const char *plan = arguments_value(a, "plan"), *order = arguments_value(a, "order");
    const char *with = arguments_value(a, "with");
    struct weft_error error;
    struct error err = {0};
    int64_t seed;
    if (plan)
        return weft_run_follow_file(s->run, plan, &error) ? 0 : cli_failed(&error);
    if (!order && !with && !inside_run(s->run)->w->nassertions)
        return run_has_no_plan(a);
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err))
        return cli_fail(&err);
    const char **options = cli_list(a, "set", &err);
    if (!options)
        return cli_fail(&err);
    /* shown only when it takes longer than a moment */
    s->progress = cli_progress("planning");
    bool good =
        weft_run_plan(s->run, order ? order : with, options, (uint64_t)seed, order != NULL, &error);
    cli_progress_done();
    free(options);
    return good ? 0 : cli_failed(&error);
}

/* Open, choose an order, then one of: say why, show, run. */
static int run_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct run_screen s = {0};
    struct weft_run_options o;
    const char *why = arguments_value(a, "why");
    if (!run_screen_options(&s, a, &o, &err))
        return run_screen_close(&s, cli_fail(&err));
    const char *of = arguments_value(a, "of");
    if (!of && !a->noperands) {
        error_set(&err, ERROR_INPUT,
                  "weft run needs a FLOW, or --of RUN; usage: weft run FLOW [TARGET...]");
        return run_screen_close(&s, cli_fail(&err));
    }
    run_screen_part(&s, &o, of ? 0 : 1);
    o.on = arguments_value(a, "on");
    s.run = of ? weft_run_open_recorded(of, &o, &error) : weft_run_open(a->operand[0], &o, &error);
    int status = s.run ? run_choose_order(&s) : cli_failed(&error);
    if (status == 0 && why)
        status = run_screen_why(&s, why);
    else if (status == 0 && arguments_flag(a, "dry-run"))
        status = run_screen_show(&s);
    else if (status == 0)
        status = run_screen_follow(&s);
    return run_screen_close(&s, status);
}

const struct command command_run = {
    .name = "run",
    .operands = "FLOW [TARGET...]",
    .parts = true,
    .least = 0,
    .most = SIZE_MAX,
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
        "A plan (--plan, --with, or the workflow's own `assert:`) is followed as --follow says;\n"
        "afterwards every constraint is asked of what happened, and the summary tells.\n"
        "Exit status: 0 all is done, 1 a task failed, the run was stopped or a required "
        "constraint\n"
        "did not hold in what happened, 2 bad input, 3 it cannot be run or followed.\n\n"
        "examples:\n"
        "  weft run flow.yaml\n"
        "  weft run flow.yaml -n                  what would run, and why; -v: commands\n"
        "  weft run flow.yaml --why align         one task\n"
        "  weft run flow.yaml total.txt align     these, and what they need; -f: again\n"
        "  weft run flow.yaml -j 4 --memory 8G --disk 50G\n"
        "  weft run flow.yaml --with heft         plan on predicted times, follow that\n"
        "  weft run --of 17                       the graph of run 17 again, as it was\n"
        "  weft run flow.yaml --json | jq .       events as they happen\n"
        "  weft run flow.yaml -q --log weft.log   in a crontab\n"
        "  weft run flow.yaml --on ssh:a,b,c      on other machines\n"
        "  weft run flow.yaml --on slurm --nodes 8\n",
    .options = run_command_options,
    .rules = run_rules,
    .run = run_command,
};
