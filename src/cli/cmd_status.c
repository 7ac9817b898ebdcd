/* `weft status`: the agents of a cluster and its runs, once or live. */
#include "base/json.h"
#include "cli/cluster_view.h"
#include "cli/run_screen.h"
#include "cli/status_view.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
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

/* The counts of an agent's work, by their names in JSON (docs/cluster.md). */
#define WORK(field)                                                                                \
    {                                                                                              \
#field, offsetof(struct weft_agent_work, field)                                            \
    }
/* clang-format off */
static const struct {
    const char *name;
    size_t at;
} work_fields[] = {
    WORK(tt),
    WORK(held),
    WORK(waiting),
    WORK(local),
    WORK(shared),
    WORK(running),
    WORK(fetching),
    WORK(done),
    WORK(failed),
    WORK(lost),
    WORK(steals),
    WORK(failed_steals),
    WORK(stolen),
    WORK(given),
    WORK(pushed),
    WORK(recomputed),
    WORK(fetched),
    WORK(fetched_bytes),
    WORK(served),
    WORK(served_bytes),
    WORK(hits),
    WORK(misses),
    WORK(cache_bytes),
    WORK(busy),
    WORK(dropped),
};
/* clang-format on */

/* By its offset: the table above is the one place that lists them. */
static double work_field(const struct weft_agent_work *w, size_t at)
{
    double x;
    memcpy(&x, (const char *)w + at, sizeof x);
    return x;
}

static void status_work_json(const struct weft_agent_work *w, struct json_writer *j)
{
    json_write_object_inline(j);
    json_put_integer(j, "run", (int64_t)w->run);
    json_put_string(j, "policy", w->policy);
    for (size_t k = 0; k < sizeof work_fields / sizeof *work_fields; k++)
        json_put_number(j, work_fields[k].name, work_field(w, work_fields[k].at));
    json_write_end_object(j);
}

/* All agents that the board knows, dead ones, too: a program decides what it shows. */
static void status_agents_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "agents");
    json_write_array(j);
    for (size_t i = 0; i < s->nagents; i++) {
        const struct weft_agent_info *m = &s->agents[i];
        json_write_object(j);
        json_put_integer(j, "node", m->node);
        json_put_integer(j, "life", m->life);
        json_put_string(j, "state", status_agent_state(m->state));
        if (m->aside)
            json_put_string(j, "aside", m->aside);
        json_put_number(j, "age", m->age);
        json_put_string(j, "host", m->host);
        json_put_string(j, "address", m->address);
        json_put_string(j, "version", m->version);
        json_put_integer(j, "cores", m->cores);
        json_put_number(j, "memory", m->memory);
        json_put_integer(j, "pid", m->pid);
        json_put_number(j, "started", m->started);
        json_put_number(j, "cache_limit", m->cache_limit);
        json_write_key(j, "runs");
        json_write_array(j);
        for (size_t k = 0; k < m->nwork; k++)
            status_work_json(&m->work[k], j);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void status_kept_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "kept");
    json_write_array(j);
    for (size_t i = 0; i < s->nkept; i++) {
        json_write_object_inline(j);
        json_put_integer(j, "node", s->kept[i].node);
        json_put_integer(j, "runs", s->kept[i].runs);
        json_put_number(j, "bytes", s->kept[i].bytes);
        json_put_number(j, "bytes_most", s->kept[i].most);
        json_put_number(j, "seconds", s->kept[i].seconds);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void status_paces_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "paces");
    json_write_array(j);
    for (size_t i = 0; i < s->npaces; i++) {
        json_write_object_inline(j);
        json_put_integer(j, "node", s->paces[i].node);
        json_put_number(j, "speed", s->paces[i].speed > 0 ? s->paces[i].speed : NAN);
        json_put_number(j, "load", s->paces[i].load);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* What is not known is null. */
static void status_runs_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "runs");
    json_write_array(j);
    for (size_t i = 0; i < s->nruns; i++) {
        const struct weft_cluster_run *r = &s->runs[i];
        json_write_object(j);
        json_put_integer(j, "run", (int64_t)r->run);
        json_put_text(j, "workflow", r->workflow);
        json_put_string(j, "state", status_run_state(r->state));
        json_put_number(j, "created", r->created);
        json_put_number(j, "changed", r->changed);
        json_put_text(j, "host", r->host);
        json_put_text(j, "folder", r->folder);
        json_put_bool(j, "shared", r->shared);
        json_put_number(j, "tasks", r->known ? r->tasks : NAN);
        json_put_number(j, "before", r->before);
        json_put_number(j, "done", r->counted ? r->done : NAN);
        json_put_number(j, "failed", r->counted ? r->failed : NAN);
        json_put_number(j, "removed", r->counted ? r->removed : NAN);
        json_put_bool(j, "proved", r->counted && r->proved);
        json_put_number(j, "unproved", r->counted ? r->unproved : NAN);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

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
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-status/1");
        json_put_string(&j, "store", weft_cluster_store(c));
        json_put_number(&j, "now", s->now);
        status_agents_json(s, &j);
        status_runs_json(s, &j);
        status_kept_json(s, &j);
        status_paces_json(s, &j);
        json_put_text(&j, "store_trouble", s->store_trouble);
        json_write_key(&j, "waits");
        json_write_array(&j);
        for (size_t i = 0; i < s->nwaits; i++)
            json_write_string(&j, s->waits[i]);
        json_write_end_array(&j);
        json_write_end_object(&j);
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
