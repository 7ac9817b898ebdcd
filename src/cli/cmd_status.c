/* `weft status`: the agents of a cluster and its runs, once or live. */
#include "base/json.h"
#include "cli/cluster_view.h"
#include "cli/run_screen.h"
#include "report/human.h"
#include "report/table.h"

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
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

enum { RUNS_SHOWN = 20 };
/* Seconds: a dead agent is of interest for a while; a server that restarts is waited for. */
static const double FORGOTTEN = 600, PATIENCE = 60;

/* "silent": its lease has run out, and nobody has said so on the board yet. */
static const char *agent_state_name(enum weft_agent_state state)
{
    static const char *const names[] = {"up", "leaving", "silent", "dead"};
    return names[state];
}

static const char *run_state_name(enum weft_cluster_run_state state)
{
    static const char *const names[] = {"running", "stopping",  "cancelled",
                                        "ended",   "collected", "forged"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}

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

/* An agent's work on all runs that are shown. */
static struct weft_agent_work status_sum_work(const struct weft_agent_info *m)
{
    struct weft_agent_work sum = {0};
    for (size_t i = 0; i < m->nwork; i++)
        for (size_t k = 0; k < sizeof work_fields / sizeof *work_fields; k++) {
            double x =
                work_field(&sum, work_fields[k].at) + work_field(&m->work[i], work_fields[k].at);
            memcpy((char *)&sum + work_fields[k].at, &x, sizeof x);
        }
    return sum;
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

static void status_count_cell(struct table *t, double x)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_count(text, (uint64_t)(x > 0 ? x : 0)));
}

/* What an agent has now counts only while it lives; what it did stays. */
static void status_agents_text(const struct weft_cluster_status *s, const char *store,
                               struct strbuf *out)
{
    static const struct {
        const char *name;
        enum table_align align;
    } columns[] = {{"node", TABLE_RIGHT},    {"host", TABLE_LEFT},     {"state", TABLE_LEFT},
                   {"cores", TABLE_RIGHT},   {"running", TABLE_RIGHT}, {"local", TABLE_RIGHT},
                   {"shared", TABLE_RIGHT},  {"waiting", TABLE_RIGHT}, {"done", TABLE_RIGHT},
                   {"failed", TABLE_RIGHT},  {"stolen", TABLE_RIGHT},  {"given", TABLE_RIGHT},
                   {"fetched", TABLE_RIGHT}, {"served", TABLE_RIGHT},  {"hits", TABLE_RIGHT},
                   {"data", TABLE_RIGHT},    {"beat", TABLE_RIGHT}};
    size_t shown = 0;
    struct table *t = table_new();
    char text[HUMAN_SIZE];
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].name, columns[i].align);
    /* agents that died long ago, or of which nothing is known, are left out */
    for (size_t i = 0; i < s->nagents; i++) {
        const struct weft_agent_info *m = &s->agents[i];
        bool dead = m->state == WEFT_AGENT_DEAD, lives = !dead && m->state != WEFT_AGENT_SILENT;
        if (dead && (!m->known || m->age > FORGOTTEN))
            continue;
        struct weft_agent_work w = status_sum_work(m);
        table_row(t);
        status_count_cell(t, m->node);
        table_cell(t, m->host);
        table_cell(t, agent_state_name(m->state));
        status_count_cell(t, m->cores);
        status_count_cell(t, lives ? w.running : 0);
        status_count_cell(t, lives ? w.local : 0);
        status_count_cell(t, lives ? w.shared : 0);
        status_count_cell(t, lives ? w.waiting : 0);
        status_count_cell(t, w.done);
        status_count_cell(t, w.failed);
        status_count_cell(t, w.stolen);
        status_count_cell(t, w.given);
        table_bytes(t, w.fetched_bytes);
        table_bytes(t, w.served_bytes);
        if (w.hits + w.misses > 0)
            snprintf(text, sizeof text, "%.0f %%", 100 * w.hits / (w.hits + w.misses));
        table_cell(t, w.hits + w.misses > 0 ? text : "-");
        table_bytes(t, w.cache_bytes);
        snprintf(text, sizeof text, "%.1f s", m->age);
        table_cell(t, text);
        shown++;
    }
    if (shown)
        table_print(t, out, &(struct table_style){.colour = cli_colour()});
    else
        strbuf_printf(out, "no agents at %s; `weft agent --store URL` starts one\n", store);
    table_free(t);
}

/* A run whose workflow cannot be read, or whose store is silent, shows "?" and "-". */
static void status_runs_text(const struct weft_cluster_status *s, struct strbuf *out)
{
    struct table *t = table_new();
    char a[HUMAN_SIZE], b[HUMAN_SIZE], text[2 * HUMAN_SIZE + 8];
    table_column(t, "run", TABLE_RIGHT);
    table_column(t, "workflow", TABLE_LEFT);
    table_column(t, "state", TABLE_LEFT);
    table_column(t, "age", TABLE_RIGHT);
    table_column(t, "done", TABLE_RIGHT);
    table_column(t, "failed", TABLE_RIGHT);
    table_column(t, "removed", TABLE_RIGHT);
    table_column(t, "from", TABLE_LEFT);
    for (size_t i = 0; i < s->nruns; i++) {
        const struct weft_cluster_run *r = &s->runs[i];
        table_row(t);
        snprintf(text, sizeof text, "%" PRIu64, r->run);
        table_cell(t, text);
        table_cell(t, r->workflow ? r->workflow : "?");
        table_cell(t, run_state_name(r->state));
        /* a run that goes on is as old as the server's clock says, not ours */
        double end = r->state >= WEFT_CLUSTER_ENDED ? r->changed : s->now;
        table_seconds(t, fmax(end - r->created, 0));
        if (r->counted) {
            snprintf(text, sizeof text, "%s of %s", human_count(a, r->done),
                     human_count(b, r->tasks));
            table_cell(t, text);
            status_count_cell(t, r->failed);
            status_count_cell(t, r->removed);
        } else {
            table_cell(t, r->known ? "-" : "?");
            table_cell(t, "-");
            table_cell(t, "-");
        }
        struct strbuf from = {0};
        strbuf_printf(&from, "%s:%s", r->host ? r->host : "?", r->folder ? r->folder : "?");
        table_cell(t, from.at);
        strbuf_free(&from);
    }
    if (s->nruns) {
        strbuf_add_char(out, '\n');
        table_print(t, out, &(struct table_style){.colour = cli_colour()});
    } else {
        strbuf_add(out, "no runs\n");
    }
    table_free(t);
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
        json_put_string(j, "state", agent_state_name(m->state));
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
        json_put_string(j, "state", run_state_name(r->state));
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
    bool watch = arguments_flag(a, "watch");
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
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else {
        /* the picture replaces the one before */
        if (watch && isatty(STDOUT_FILENO))
            strbuf_add(&out, "\033[H\033[J");
        status_agents_text(s, weft_cluster_store(c), &out);
        status_runs_text(s, &out);
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
    query.count_collected = arguments_flag(a, "json");
    query.latest = arguments_flag(a, "json") ? 0 : RUNS_SHOWN;
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
    .details =
        "Agents: tasks that run, that are ready (local: wait for their data's node; shared:\n"
        "anybody may steal them), that wait for others; done and failed here; stolen from others\n"
        "and given to them; bytes fetched and served; the share of inputs that were here when a\n"
        "task wanted them; data held; seconds since it last said that it lives.\n"
        "Runs: how many of their tasks are done. With RUN, only what concerns that one.\n\n"
        "examples:\n"
        "  weft status\n"
        "  weft status 3 --watch\n"
        "  weft status --json | jq '.runs[] | select(.state == \"running\")'\n",
    .options = status_options,
    .run = status_command,
};
