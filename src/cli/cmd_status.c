/* `weft status`: the agents of a cluster and its runs, once or live. */
#include "api/inside_cluster.h"
#include "base/json.h"
#include "cli/cluster_view.h"
#include "cli/run_screen.h"
#include "cli/status_view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct cli_option status_options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where a `weft run --on` left its note (default: here)"},
    {"watch", 'w', NULL, "again every second, until Ctrl-C"},
    {"all", 'a', NULL, "every agent, run and column, however long and wide it gets"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule status_rules[] = {
    {"all", NULL, "json"}, /* which has all of it */
    {"directory", "RUN", NULL},
    RULES_END,
};

enum { RUNS_SHOWN = 20 };
static const double PATIENCE = 60; /* seconds for a server that restarts */

/* One look, one picture. */
static int status_show(const struct arguments *a, struct weft_cluster *c,
                       const struct weft_cluster_query *query)
{
    struct weft_error error;
    struct strbuf out = {0};
    bool watch = arguments_flag(a, "watch"), all = arguments_flag(a, "all");
    const struct weft_cluster_status *s = weft_cluster_snapshot(c, query, &error);
    if (!s)
        return cli_failed(&error);
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, !watch);
        cluster_status_json(s, weft_cluster_store(c), &j);
        strbuf_add_char(&out, '\n');
    } else {
        /* the picture replaces the one before */
        if (watch && isatty(STDOUT_FILENO))
            strbuf_add(&out, "\033[H\033[J");
        struct status_style style = {.store = weft_cluster_store(c),
                                     .columns = all ? 0 : cli_columns(),
                                     .colour = cli_colour(),
                                     .all = all};
        status_agents_text(s, &style, &out);
        status_runs_text(s, &style, &out);
        status_kept_text(s, &style, &out);
        status_store_text(s, &style, &out);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* --watch asks again every second and waits for a server that restarts; a closed pipe ends it. */
static int status_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct weft_cluster_query query = WEFT_CLUSTER_QUERY_INIT;
    if (a->noperands && !run_screen_number(a->operand[0], &query.run, &err))
        return cli_fail(&err);
    query.latest = arguments_flag(a, "json") || arguments_flag(a, "all") ? 0 : RUNS_SHOWN;
    struct weft_cluster *c = cluster_view_open(a, query.run, &error);
    int status = c ? status_show(a, c, &query) : cli_failed(&error);
    query.patience = PATIENCE;
    while (status == 0 && arguments_flag(a, "watch")) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        status = status_show(a, c, &query);
    }
    weft_cluster_close(c);
    return status;
}

const struct command command_status = {
    .name = "status",
    .operands = "[RUN]",
    .least = 0,
    .most = 1,
    .summary = "show the agents of a cluster and its runs",
    .details = "Agents: tasks that run, that are ready, that wait for others; done and failed\n"
               "here; data held; when it last said that it lives. A wide terminal has more: of\n"
               "the ready ones `local` are better run beside their data, and anybody may steal\n"
               "the `shared`; tasks stolen from others and given to them; bytes fetched and\n"
               "served; the share of inputs that were here when a task wanted them (`hits`).\n"
               "An agent is up, leaving, silent (and soon taken for dead), dead, or has left in\n"
               "order.\n\n"
               "Runs: running, stopping, cancelling; done, failed or cancelled, and their results\n"
               "wait; collected: they were taken. How many of their tasks are done. Each end is "
               "verified with the\n"
               "cluster's key; where that is too much for one look, a * says so, and `weft\n"
               "status RUN` does it. With RUN, only what concerns that one.\n\n"
               "examples:\n"
               "  weft status\n"
               "  weft status 3 --watch\n"
               "  weft status --json | jq '.runs[] | select(.state == \"running\")'\n",
    .options = status_options,
    .rules = status_rules,
    .run = status_command,
};
