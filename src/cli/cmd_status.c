/* `weft status`: the agents of a cluster and its runs, once or live. */
#include "base/array.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/cluster_options.h"
#include "report/human.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct cli_option options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where a `weft run --on` left its note (default: here)"},
    {"watch", 'w', NULL, "again every second, until Ctrl-C"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

enum { RUNS_SHOWN = 20 };

/* What is known of a run beyond the board: read once. */
struct known {
    uint64_t run;
    struct ticket ticket;
    struct workflow *w; /* NULL: its text cannot be read */
    char why[200];
    bool good; /* the last count */
    struct client_progress progress;
};

struct status {
    const struct arguments *a;
    struct client *client;
    const char *store;
    uint64_t only; /* 0: all runs */
    ARRAY(struct known) known;
};

static struct known *know(struct status *s, uint64_t run)
{
    for (size_t i = 0; i < s->known.n; i++)
        if (s->known.at[i].run == run)
            return &s->known.at[i];
    struct known k = {.run = run};
    struct error err = {0};
    if (client_ticket(s->client, run, &k.ticket, &err))
        k.w = cluster_read_workflow(k.ticket.workflow.at, k.ticket.workflow.n, &err);
    if (!k.w)
        snprintf(k.why, sizeof k.why, "%.190s", err.text);
    strbuf_free(&k.ticket.workflow); /* the workflow is all that is wanted of it */
    array_push(&s->known, k);
    return &array_last(&s->known);
}

static void count(struct status *s, struct known *k)
{
    struct error err = {0};
    k->good = k->w && client_count(s->client, k->run, k->w, &k->progress, &err);
    if (k->w && !k->good)
        snprintf(k->why, sizeof k->why, "%.190s", err.text);
}

/* An agent's work on the run asked for, or on all. */
static struct member_work sum_of(const struct status *s, const struct member *m)
{
    struct member_work sum = {0};
    for (size_t i = 0; i < m->works.n; i++) {
        const struct member_work *w = &m->works.at[i];
        if (s->only && w->run != s->only)
            continue;
        memcpy(sum.policy, w->policy, sizeof sum.policy);
        sum.waiting += w->waiting;
        sum.local += w->local;
        sum.shared += w->shared;
        sum.running += w->running;
        sum.fetching += w->fetching;
        sum.done += w->done;
        sum.failed += w->failed;
        sum.stolen += w->stolen;
        sum.given += w->given;
        sum.pushed += w->pushed;
        sum.recomputed += w->recomputed;
        sum.fetched_bytes += w->fetched_bytes;
        sum.served_bytes += w->served_bytes;
        sum.hits += w->hits;
        sum.misses += w->misses;
        sum.cache_bytes += w->cache_bytes;
    }
    return sum;
}

static const char *agent_state(const struct status *s, const struct member *m)
{
    return m->state == BOARD_DEAD        ? "dead"
           : !client_lives(s->client, m) ? "silent"
           : m->state == BOARD_LEAVING   ? "leaving"
                                         : "up";
}

static void count_cell(struct table *t, double x)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_count(text, (uint64_t)(x > 0 ? x : 0)));
}

static void show_agents(const struct status *s, struct strbuf *out)
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
    size_t n, shown = 0;
    const struct member *m = client_members(s->client, &n);
    struct table *t = table_new();
    char text[HUMAN_SIZE];
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].name, columns[i].align);
    for (size_t i = 0; i < n; i++) {
        if (m[i].state == BOARD_DEAD && !m[i].text) /* nothing is known of it */
            continue;
        if (m[i].state == BOARD_DEAD && m[i].age > 600)
            continue;
        struct member_work w = sum_of(s, &m[i]);
        bool lives = client_lives(s->client, &m[i]);
        table_row(t);
        count_cell(t, m[i].node);
        table_cell(t, m[i].host);
        table_cell(t, agent_state(s, &m[i]));
        count_cell(t, m[i].cores);
        count_cell(t, lives ? w.running : 0);
        count_cell(t, lives ? w.local : 0);
        count_cell(t, lives ? w.shared : 0);
        count_cell(t, lives ? w.waiting : 0);
        count_cell(t, w.done);
        count_cell(t, w.failed);
        count_cell(t, w.stolen);
        count_cell(t, w.given);
        table_bytes(t, w.fetched_bytes);
        table_bytes(t, w.served_bytes);
        if (w.hits + w.misses > 0)
            snprintf(text, sizeof text, "%.0f %%", 100 * w.hits / (w.hits + w.misses));
        table_cell(t, w.hits + w.misses > 0 ? text : "-");
        table_bytes(t, w.cache_bytes);
        snprintf(text, sizeof text, "%.1f s", m[i].age);
        table_cell(t, text);
        shown++;
    }
    if (shown)
        table_print(t, out, &(struct table_style){.colour = cli_colour()});
    else
        strbuf_printf(out, "no agents at %s; `weft agent --store URL` starts one\n", s->store);
    table_free(t);
}

static void show_runs(struct status *s, struct strbuf *out)
{
    size_t n, shown = 0;
    const struct board_run *all = client_runs(s->client, &n);
    struct board_run *r = mem_new(struct board_run, n + 1); /* asking for tickets looks again */
    if (n)
        memcpy(r, all, n * sizeof *r);
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
    for (size_t i = n > RUNS_SHOWN && !s->only ? n - RUNS_SHOWN : 0; i < n; i++) {
        if (s->only && r[i].run != s->only)
            continue;
        struct known *k = know(s, r[i].run);
        if (r[i].state != BOARD_RUN_COLLECTED || s->only)
            count(s, k);
        table_row(t);
        snprintf(text, sizeof text, "%" PRIu64, r[i].run);
        table_cell(t, text);
        table_cell(t, k->ticket.name ? k->ticket.name : "?");
        table_cell(t, cluster_state_name((enum board_run_state)r[i].state));
        double end = r[i].state >= BOARD_RUN_ENDED ? r[i].changed : client_now(s->client);
        table_seconds(t, fmax(end - r[i].created, 0));
        if (k->good) {
            snprintf(text, sizeof text, "%s of %s", human_count(a, k->progress.done),
                     human_count(b, k->w->ntasks));
            table_cell(t, text);
            count_cell(t, k->progress.failed);
            count_cell(t, k->progress.removed);
        } else {
            table_cell(t, k->w ? "-" : "?");
            table_cell(t, "-");
            table_cell(t, "-");
        }
        struct strbuf from = {0};
        strbuf_printf(&from, "%s:%s", k->ticket.host ? k->ticket.host : "?",
                      k->ticket.folder ? k->ticket.folder : "?");
        table_cell(t, from.at);
        strbuf_free(&from);
        shown++;
    }
    if (shown) {
        strbuf_add_char(out, '\n');
        table_print(t, out, &(struct table_style){.colour = cli_colour()});
    } else {
        strbuf_add(out, "no runs\n");
    }
    table_free(t);
    free(r);
}

static void json_agents(const struct status *s, struct json_writer *j)
{
    size_t n;
    const struct member *m = client_members(s->client, &n);
    json_write_key(j, "agents");
    json_write_array(j);
    for (size_t i = 0; i < n; i++) {
        json_write_object(j);
        json_put_integer(j, "node", m[i].node);
        json_put_integer(j, "life", m[i].life);
        json_put_string(j, "state", agent_state(s, &m[i]));
        json_put_number(j, "age", m[i].age);
        json_put_string(j, "host", m[i].host);
        json_put_string(j, "address", m[i].address);
        json_put_string(j, "version", m[i].version);
        json_put_integer(j, "cores", m[i].cores);
        json_put_number(j, "memory", m[i].memory);
        json_put_integer(j, "pid", m[i].pid);
        json_put_number(j, "started", m[i].started);
        json_put_number(j, "cache_limit", m[i].cache_limit);
        json_write_key(j, "runs");
        json_write_array(j);
        for (size_t k = 0; k < m[i].works.n; k++)
            if (!s->only || m[i].works.at[k].run == s->only)
                member_work_json(&m[i].works.at[k], j);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void json_runs(struct status *s, struct json_writer *j)
{
    size_t n;
    const struct board_run *all = client_runs(s->client, &n);
    struct board_run *r = mem_new(struct board_run, n + 1);
    if (n)
        memcpy(r, all, n * sizeof *r);
    json_write_key(j, "runs");
    json_write_array(j);
    for (size_t i = 0; i < n; i++) {
        if (s->only && r[i].run != s->only)
            continue;
        struct known *k = know(s, r[i].run);
        count(s, k);
        json_write_object(j);
        json_put_integer(j, "run", (int64_t)r[i].run);
        json_put_text(j, "workflow", k->ticket.name);
        json_put_string(j, "state", cluster_state_name((enum board_run_state)r[i].state));
        json_put_number(j, "created", r[i].created);
        json_put_number(j, "changed", r[i].changed);
        json_put_text(j, "host", k->ticket.host);
        json_put_text(j, "folder", k->ticket.folder);
        json_put_bool(j, "shared", k->ticket.shared);
        json_put_number(j, "tasks", k->w ? k->w->ntasks : NAN);
        json_put_number(j, "before", (double)k->ticket.done.n);
        json_put_number(j, "done", k->good ? k->progress.done : NAN);
        json_put_number(j, "failed", k->good ? k->progress.failed : NAN);
        json_put_number(j, "removed", k->good ? k->progress.removed : NAN);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    free(r);
}

static int show(struct status *s)
{
    struct strbuf out = {0};
    bool watch = arguments_flag(s->a, "watch");
    if (arguments_flag(s->a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, !watch);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-status/1");
        json_put_string(&j, "store", s->store);
        json_put_number(&j, "now", client_now(s->client));
        json_agents(s, &j);
        json_runs(s, &j);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else {
        if (watch && isatty(STDOUT_FILENO))
            strbuf_add(&out, "\033[H\033[J");
        show_agents(s, &out);
        show_runs(s, &out);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct cluster_place place = {0};
    struct status s = {.a = a};
    bool good = (!a->noperands || cluster_run_number(a->operand[0], &s.only, &err)) &&
                cluster_place(a, s.only, &place, &err) &&
                (s.client = cluster_client(a, &place, NULL, &err));
    if (good && s.only && !client_run(s.client, s.only))
        good = client_unknown(s.client, s.only, &err);
    s.store = good ? place.address.text : "";
    int status = good ? show(&s) : cli_fail(&err);
    while (status == 0 && arguments_flag(a, "watch")) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        client_look(s.client, 60, NULL); /* a server that restarts is waited for */
        status = show(&s);
    }
    for (size_t i = 0; i < s.known.n; i++) {
        ticket_free(&s.known.at[i].ticket);
        workflow_free(s.known.at[i].w);
    }
    array_free(&s.known);
    client_close(s.client);
    cluster_place_free(&place);
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
    .options = options,
    .run = run,
};
