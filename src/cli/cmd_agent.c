/* `weft agent`: this machine's part of a cluster. */
#include "base/quantity.h"
#include "base/strbuf.h"
#include "cli/run_screen.h"
#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct cli_option agent_command_options[] = {
    OPTION_STORE,
    OPTION_STORE_MAY_LOSE,
    OPTION_KEY,
    {"bind", 0, "HOST:PORT", "where to listen for others (default 127.0.0.1, any free port)"},
    {"tell", 0, "HOST[:PORT]", "where others reach it, when that is not --bind"},
    {"state", 0, "DIR", "its own folder: identity, data of runs, logs (default .weft-agent)"},
    {"scratch", 0, "DIR", "a disk of this machine, for sandboxes and data (default: in --state)"},
    {"jobs", 'j', "N", "cores that tasks may use at once (default: all of this machine)"},
    {"memory", 'm', "SIZE", "memory that tasks may use at once (default: all)"},
    {"has", 0, "WORDS", "attributes of this machine that tasks may need: avx512,ssd (`needs:`)"},
    {"resources", 0, "LIST",
     "things of this machine that tasks may hold: gpu=0,1 licence=4 (`resources:`), gpu=auto; may "
     "be "
     "repeated"},
    {"cache", 0, "SIZE", "most data kept of a run (default: no limit)"},
    {"keep-for", 0, "TIME",
     "how long results of an ended run wait for who takes them (default 14d, at most 30d)"},
    {"keep-size", 0, "SIZE",
     "most data of ended runs, the oldest goes first (default: a fifth of the disk)"},
    {"bandwidth", 0, "RATE", "bytes a second between agents, for placing tasks (default 125M)"},
    {"lease", 0, "SECONDS", "silence after which others take its tasks over (default 5)"},
    {"linger", 0, "SECONDS", "leave after so long without work (default: stay)"},
    {"ends", 0, "TIME",
     "when a batch system takes this machine back: seconds since 1970, or from now (50m); tasks "
     "that "
     "would last longer do not start here (default: what Slurm says)"},
    {"for", 0, "RUN", "work on this run alone, and leave when its results were taken"},
    {"serve-store", 0, "HOST:PORT",
     "start a redis-server here: TLS, password and certificate from the key"},
    {"temporary", 0, NULL, "remove its folder when it has left in order"},
    {"detach", 0, NULL, "go on in the background once it is ready"},
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule agent_rules[] = {
    {"store serve-store", NULL, "store serve-store"},
    {"insecure-store", NULL, "serve-store"}, /* which speaks TLS */
    RULES_END,
};

static const double AGENT_KEEPS_MOST = 30 * 86400.0; /* seconds: as long as a store keeps a run */

struct agent_output {
    FILE *log;
    int ready; /* the end of a pipe to the process that waits for us; -1: none */
    bool quiet;
};

/* With the time: a log is read long after. */
static void agent_put_log(void *context, const char *line)
{
    struct agent_output *o = context;
    char when[32];
    time_t now = time(NULL);
    struct tm parts;
    if (o->quiet)
        return;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    fprintf(o->log, "%s weft agent: %s\n", when, line);
    fflush(o->log);
}

/* The one line that starters wait for; through the pipe when it runs in the background. */
static void agent_put_ready(void *context, uint32_t node, const char *address)
{
    struct agent_output *o = context;
    char line[512];
    int n = snprintf(line, sizeof line, "weft agent: node %u ready at %s\n", node, address);
    if (o->ready >= 0) {
        ssize_t sent = write(o->ready, line, (size_t)n);
        (void)sent; /* nobody waits any more: just as well */
        close(o->ready);
        o->ready = -1;
        snprintf(line, sizeof line, "node %u ready at %s", node, address);
        agent_put_log(o, line);
    } else {
        cli_show(line, (size_t)n);
    }
}

/* ---- settings ---- */

/* 0: not given, and the library's default. */
static bool agent_seconds(const struct arguments *a, const char *name, double *out,
                          struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = 0;
    return !text || (quantity_seconds(text, strlen(text), out) && *out > 0) ||
           error_set(err, ERROR_INPUT, "--%s is '%s'; expected a time such as 5s or 10m", name,
                     text);
}

/* Likewise. */
static bool agent_bytes(const struct arguments *a, const char *name, double *out, struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = 0;
    return !text || (quantity_bytes(text, strlen(text), out) && *out > 0) ||
           error_set(err, ERROR_INPUT, "--%s is '%s'; expected a size such as 500M or 8G", name,
                     text);
}

/* A number so large is a date. */
static bool agent_end_time(const struct arguments *a, double *out, struct error *err)
{
    static const double dates_from = 1e9;
    const char *text = arguments_value(a, "ends");
    *out = 0;
    if (!text)
        return true;
    if (!quantity_seconds(text, strlen(text), out) || !(*out > 0))
        return error_set(
            err, ERROR_INPUT,
            "--ends is '%s'; expected a time from now, such as 50m, or seconds since 1970", text);
    *out += *out < dates_from ? (double)time(NULL) : 0;
    return true;
}

/* All of them before anything is opened: a mistake leaves no folder behind. */
static bool agent_settings(const struct arguments *a, struct weft_agent_options *o,
                           struct strbuf *joined, struct error *err)
{
    int64_t jobs, only;
    *o = (struct weft_agent_options)WEFT_AGENT_OPTIONS_INIT;
    o->store = cli_store(a);
    o->key = arguments_value(a, "key");
    o->serve_store = arguments_value(a, "serve-store");
    o->bind = arguments_value(a, "bind");
    o->reached_as = arguments_value(a, "tell");
    o->state = arguments_value(a, "state");
    o->has = arguments_value(a, "has");
    o->scratch = arguments_value(a, "scratch");
    o->resources = cli_joined(a, "resources", joined);
    o->temporary = arguments_flag(a, "temporary");
    if (!arguments_integer(a, "jobs", 0, 1, 4096, &jobs, err) ||
        !arguments_integer(a, "for", 0, 1, INT64_MAX, &only, err) ||
        !agent_bytes(a, "memory", &o->memory, err) || !agent_bytes(a, "cache", &o->cache, err) ||
        !agent_bytes(a, "bandwidth", &o->bandwidth, err) ||
        !agent_bytes(a, "keep-size", &o->keep_size, err) ||
        !agent_seconds(a, "keep-for", &o->keep_for, err) || !agent_end_time(a, &o->ends, err) ||
        !agent_seconds(a, "lease", &o->lease, err) || !agent_seconds(a, "linger", &o->linger, err))
        return false;
    if (o->keep_for > AGENT_KEEPS_MOST)
        return error_set(err, ERROR_INPUT,
                         "--keep-for is '%s'; expected at most 30d: then the store forgets a run",
                         arguments_value(a, "keep-for"));
    o->cores = (uint32_t)jobs;
    o->only = (uint64_t)only;
    return true;
}

/* ---- in the background ---- */

/* The parent waits for the line and passes it on; the child goes on alone. In the parent: -1 and
 * the exit status in *status. */
static int agent_detach(const char *state, struct agent_output *out, int *status)
{
    int ends[2];
    struct strbuf log = {0};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *status = ERROR_FAILED;
        return -1;
    }
    fflush(NULL); /* or the child would print our buffers a second time */
    pid_t pid = fork();
    if (pid != 0) {
        char line[2048];
        close(ends[1]);
        *status = ERROR_FAILED;
        /* the parent passes on what the child says until it is ready or has failed (the pipe closes) */
        FILE *said = pid > 0 ? fdopen(ends[0], "r") : NULL;
        while (said && fgets(line, sizeof line, said)) {
            if (strstr(line, " ready at "))
                *status = 0;
            if (strncmp(line, "weft agent: ", 12) == 0)
                cli_show(line, strlen(line));
            else
                fputs(line, stderr);
        }
        if (said)
            fclose(said);
        return -1;
    }
    close(ends[0]);
    /* from here on nobody's terminal reaches it; its log is a file in its own folder */
    setsid();
    strbuf_printf(&log, "%s/agent.log", state);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int file = open(log.at, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    dup2(null, 0);
    dup2(file >= 0 ? file : null, 1);
    dup2(file >= 0 ? file : null, 2);
    strbuf_free(&log);
    out->ready = ends[1];
    return 0;
}

/* Before the agent is ready: who starts several gives the address to the others. */
static void agent_put_store(void *context, const char *url)
{
    const struct agent_output *out = context;
    char line[512];
    int n = snprintf(line, sizeof line, "weft agent: store at %s\n", url);
    if (out->ready >= 0) {
        ssize_t sent = write(out->ready, line, (size_t)n);
        (void)sent;
    } else {
        cli_show(line, (size_t)n);
    }
}

/* ---- the command ---- */

/* The key is read before going into the background, where there is no standard input any more. */
static int agent_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct agent_output out = {.log = stderr, .ready = -1, .quiet = arguments_flag(a, "quiet")};
    struct weft_agent_options o;
    struct strbuf joined = {0};
    if (!agent_settings(a, &o, &joined, &err)) {
        strbuf_free(&joined);
        return cli_fail(&err);
    }
    o.store_ready = agent_put_store;
    o.ready = agent_put_ready;
    o.log = agent_put_log;
    o.context = &out;
    struct weft_agent *agent = weft_agent_open(&o, &error);
    strbuf_free(&joined); /* what the agent keeps of it is its own */
    if (!agent)
        return cli_failed(&error);
    int status = 0;
    bool here =
        !arguments_flag(a, "detach") || agent_detach(weft_agent_state(agent), &out, &status) == 0;
    if (here) {
        weft_adopt_orphans();
        signals_stop_agent(agent);
        if (!weft_agent_run(agent, &error)) {
            if (out.ready >= 0) { /* the one who waits is told why */
                dprintf(out.ready, "weft: %s\n", error.text);
                close(out.ready);
            }
            status = cli_failed(&error);
        }
    }
    signals_release();
    weft_agent_close(agent);
    return status;
}

const struct command command_agent = {
    .name = "agent",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "work for a cluster: one on every machine",
    .details =
        "Joins the cluster whose notice board stands in the Redis store and works on every run "
        "that\n"
        "is open there, until it is told to leave: by SIGTERM or Ctrl-C (running tasks may end; a\n"
        "second one ends them), `--linger`, or `weft run` when it started the agent itself.\n"
        "Data of runs stays in its folder and goes to other agents over encrypted links; only who\n"
        "has the cluster's key can join, submit or read. Results of an ended run wait there until\n"
        "`weft attach` has taken them, for --keep-for and up to --keep-size; `weft status` "
        "tells.\n\n"
        "When it is ready it prints one line: `weft agent: node 3 ready at 10.0.0.7:41234`.\n"
        "Exit status: 0 it has left, 1 it could not go on, 2 bad input.\n\n"
        "examples:\n"
        "  weft key && weft agent              a cluster on this machine alone\n"
        "  weft agent --store rediss://head:6379 --bind 10.0.0.7:7411 --key cluster.key\n"
        "  weft agent --serve-store 10.0.0.1:6390 --bind 10.0.0.1:7411 --detach\n",
    .options = agent_command_options,
    .rules = agent_rules,
    .run = agent_command,
};
