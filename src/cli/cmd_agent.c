/* `weft agent`: this machine's part of a cluster. */
#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "cli/cluster_options.h"
#include "cluster/agent/agent.h"
#include "cluster/launch/store_server.h"
#include "exec/child.h"
#include "exec/measure.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct cli_option options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"bind", 0, "HOST:PORT", "where to listen for others (default 127.0.0.1, any free port)"},
    {"tell", 0, "HOST", "the name by which others reach it, when it is not that of --bind"},
    {"state", 0, "DIR", "its own folder: identity, data of runs, logs (default .weft-agent)"},
    {"jobs", 'j', "N", "cores that tasks may use at once (default: all of this machine)"},
    {"memory", 'm', "SIZE", "memory that tasks may use at once (default: all)"},
    {"cache", 0, "SIZE", "most data kept of a run (default: no limit)"},
    {"bandwidth", 0, "RATE", "bytes a second between agents, for placing tasks (default 125M)"},
    {"lease", 0, "SECONDS", "silence after which others take its tasks over (default 5)"},
    {"linger", 0, "SECONDS", "leave after so long without work (default: stay)"},
    {"for", 0, "RUN", "work on this run alone, and leave when its results were taken"},
    {"serve-store", 0, "HOST:PORT",
     "start a redis-server here: TLS, password and certificate from the key"},
    {"temporary", 0, NULL, "remove its folder when it has left in order"},
    {"detach", 0, NULL, "go on in the background once it is ready"},
    OPTION_QUIET,
    OPTION_END,
};

struct output {
    FILE *log;
    int ready; /* the end of a pipe to the process that waits for us; -1: none */
    bool quiet, was_ready;
};

static void put_log(void *context, const char *line)
{
    struct output *o = context;
    char when[32];
    time_t now = time(NULL);
    struct tm parts;
    if (o->quiet)
        return;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    fprintf(o->log, "%s weft agent: %s\n", when, line);
    fflush(o->log);
}

static void put_ready(void *context, uint32_t node, const char *address)
{
    struct output *o = context;
    char line[512];
    o->was_ready = true;
    int n = snprintf(line, sizeof line, "weft agent: node %u ready at %s\n", node, address);
    if (o->ready >= 0) {
        ssize_t sent = write(o->ready, line, (size_t)n);
        (void)sent; /* nobody waits any more: just as well */
        close(o->ready);
        o->ready = -1;
        snprintf(line, sizeof line, "node %u ready at %s", node, address);
        put_log(o, line);
    } else {
        fputs(line, stdout);
        fflush(stdout);
    }
}

/* ---- settings ---- */

static bool seconds(const struct arguments *a, const char *name, double standard, double *out,
                    struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    return !text || (quantity_seconds(text, strlen(text), out) && *out > 0) ||
           error_set(err, ERROR_INPUT, "--%s is '%s'; expected a time such as 5s or 10m", name,
                     text);
}

static bool bytes(const struct arguments *a, const char *name, double standard, double *out,
                  struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    return !text || (quantity_bytes(text, strlen(text), out) && *out > 0) ||
           error_set(err, ERROR_INPUT, "--%s is '%s'; expected a size such as 500M or 8G", name,
                     text);
}

static bool settings(const struct arguments *a, struct agent_options *o, struct error *err)
{
    struct machine m;
    int64_t jobs, only;
    measure_inventory(&m);
    o->bind = arguments_value(a, "bind");
    o->tell = arguments_value(a, "tell");
    const char *state = arguments_value(a, "state");
    o->state = state ? state : ".weft-agent";
    if (!arguments_integer(a, "jobs", m.cores, 1, 4096, &jobs, err) ||
        !arguments_integer(a, "for", 0, 0, INT64_MAX, &only, err) ||
        !bytes(a, "memory", m.memory, &o->memory, err) || !bytes(a, "cache", 0, &o->cache, err) ||
        !bytes(a, "bandwidth", 1.25e8, &o->bandwidth, err) ||
        !seconds(a, "lease", 5, &o->lease, err) || !seconds(a, "linger", 0, &o->linger, err))
        return false;
    o->cores = (uint32_t)jobs;
    o->only = (uint64_t)only;
    return true;
}

/* Folders of an agent are its owner's alone: tasks' data and logs lie there. */
static bool make_state(const char *path, struct error *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return true;
    if (errno == ENOENT) {
        char *part = mem_copy_string(path);
        for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
            *slash = 0;
            mkdir(part, 0700);
            *slash = '/';
        }
        free(part);
        if (mkdir(path, 0700) == 0)
            return true;
    }
    return error_set(err, ERROR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
}

/* And the folder that it shares with others of its launch, once it is the last. */
static void remove_state(const char *path)
{
    char *above = mem_copy_string(path), *slash = strrchr(above, '/');
    tree_remove(path);
    if (slash && slash > above) {
        *slash = 0;
        rmdir(above);
    }
    free(above);
}

/* ---- in the background ---- */

/* The parent waits for the line and passes it on; the child goes on alone. In the parent: -1 and
 * the exit status in *status. */
static int detach(const char *state, struct output *out, int *status)
{
    int ends[2];
    struct strbuf log = {0};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *status = ERROR_FAILED;
        return -1;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) {
        char line[2048];
        close(ends[1]);
        *status = ERROR_FAILED;
        FILE *said = pid > 0 ? fdopen(ends[0], "r") : NULL;
        while (said && fgets(line, sizeof line, said)) {
            if (strstr(line, " ready at "))
                *status = 0;
            fputs(line, strncmp(line, "weft agent: ", 12) == 0 ? stdout : stderr);
            fflush(stdout);
        }
        if (said)
            fclose(said);
        return -1;
    }
    close(ends[0]);
    setsid();
    strbuf_printf(&log, "%s/agent.log", state);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int file = open(log.at, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    dup2(null, 0);
    dup2(file >= 0 ? file : null, 1);
    dup2(file >= 0 ? file : null, 2);
    strbuf_free(&log);
    out->ready = ends[1];
    return 0;
}

static void put_store(const struct output *out, const char *url)
{
    char line[512];
    int n = snprintf(line, sizeof line, "weft agent: store at %s\n", url);
    if (out->ready >= 0) {
        ssize_t sent = write(out->ready, line, (size_t)n);
        (void)sent;
    } else {
        fputs(line, stdout);
        fflush(stdout);
    }
}

/* ---- the command ---- */

static bool open_store(const struct arguments *a, const struct agent_options *o,
                       const struct output *out, const char *folder, struct store_address *address,
                       pid_t *pid, struct error *err)
{
    const char *serve = arguments_value(a, "serve-store"), *given = arguments_value(a, "store");
    struct strbuf url = {0};
    if (serve && given)
        return error_set(err, ERROR_INPUT, "--store and --serve-store: one of them");
    if (serve && !store_server_start(folder, serve, &o->key, &url, pid, err))
        return false;
    if (serve)
        put_store(out, url.at);
    if (!given)
        given = serve ? url.at : getenv("WEFT_STORE");
    bool good = cluster_address(given ? given : "redis://127.0.0.1:6379", &o->key, address, err);
    strbuf_free(&url);
    return good;
}

static int serve(const struct arguments *a, struct agent_options *o, struct output *out)
{
    struct error err = {0};
    struct store_address address = {0};
    struct strbuf folder = {0};
    strbuf_printf(&folder, "%s/store", o->state);
    o->store = &address;
    o->serves = arguments_value(a, "serve-store") != NULL;
    pid_t server = 0, before = store_server_running(folder.at);
    bool good = open_store(a, o, out, folder.at, &address, &server, &err) && agent_run(o, &err);
    if (good || (!out->was_ready && server != before))
        store_server_stop(server);
    if (good && arguments_flag(a, "temporary"))
        remove_state(o->state);
    store_address_free(&address);
    strbuf_free(&folder);
    if (good)
        return 0;
    if (out->ready >= 0) { /* the one who waits is told why */
        dprintf(out->ready, "weft: %s\n", err.text);
        close(out->ready);
    }
    return cli_fail(&err);
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct output out = {.log = stderr, .ready = -1, .quiet = arguments_flag(a, "quiet")};
    struct agent_options o = {.read = cluster_read_workflow, .ready = put_ready, .log = put_log};
    char host[256] = "?";
    gethostname(host, sizeof host - 1);
    o.host = host;
    o.context = &out;
    if (!settings(a, &o, &err) || !make_state(o.state, &err) ||
        !key_file_get(arguments_value(a, "key"), &o.key, &err))
        return cli_fail(&err);
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (arguments_flag(a, "detach") && detach(o.state, &out, &status) < 0)
        return status;
    children_adopt_orphans();
    return serve(a, &o, &out);
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
        "has the cluster's key can join, submit or read.\n\n"
        "When it is ready it prints one line: `weft agent: node 3 ready at 10.0.0.7:41234`.\n"
        "Exit status: 0 it has left, 1 it could not go on, 2 bad input.\n\n"
        "examples:\n"
        "  weft key && weft agent                              a cluster on this machine alone\n"
        "  weft agent --store redis://head:6379 --bind 10.0.0.7:7411 --key cluster.key\n"
        "  weft agent --serve-store 10.0.0.1:6390 --bind 10.0.0.1:7411 --detach\n",
    .options = options,
    .run = run,
};
