/* `weft stream`: arguments to weft_stream_open() and weft_stream_run(), and what they found. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "cli/run_screen.h"
#include "cli/signals.h"
#include "cli/stream_view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {"from", 0, "SOURCE",
     "where items come from: a file or - (lines), a folder (files), watch:FOLDER, frames:FILE, "
     "unix:PATH, tcp:HOST:PORT, listen:HOST:PORT, call:LIB:FUNCTION, clock:N (N a second)"},
    {"to", 0, "SINK",
     "where results go: a file or - (lines), a folder with a slash at its end, frames:FILE, "
     "unix:PATH, tcp:HOST:PORT, listen:HOST:PORT, call:LIB:FUNCTION (default: nowhere)"},
    {"items", 0, "N", "stop after so many (default: when the source ends)"},
    {"plan", 0, "FILE", "a plan of kind stream: its clusters, replicas and pace"},
    {"throughput", 0, "T", "measure, then plan for so many items a second, or a share as 0.5Tmax"},
    {"latency", 0, "TIME", "measure, then plan for the most throughput within this latency"},
    {"on", 0, "WHERE",
     "filters run on agents: local:N, ssh:HOST,HOST..., slurm, or cluster (at --store). Anything "
     "else is what is planned for: a platform file, a number of equal nodes, a generator "
     "(default: the cores of this machine, or those of the agents)"},
    {"nodes", 0, "N", "of Slurm (default 1), or of a cluster's agents (default: all)"},
    {"cores", 0, "N", "of each agent (default 1)"},
    {"listen", 0, "HOST:PORT", "where agents find this command (default: any of its addresses)"},
    OPTION_STORE,
    OPTION_KEY,
    {"unordered", 0, NULL, "results leave as they come, not in the order of the items"},
    {"flood", 0, NULL, "with a plan: as fast as the source gives, not at the plan's pace"},
    {"tries", 0, "N", "of an item at a filter that states no `retries`, or 0 (default 3)"},
    {"threads", 'j', "N", "without a plan: that carry items (default: one a core)"},
    {"directory", 'C', "DIR", "of libraries and commands (default: where the workflow's file is)"},
    {"lend", 0, "ADDRESSES",
     "be a helper of a stream elsewhere, whose key comes on standard input: what agents start"},
    {"helper", 0, "N", "its number"},
    {"no-history", 0, NULL, "leave no record of this stream"},
    {"figures", 0, "FILE", "append the figures to this file every second, a line of JSON each"},
    OPTION_READ,
    OPTION_PART,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule stream_rules[] = {
    {"throughput latency", NULL, "plan"},
    {"throughput", NULL, "latency"},
    {"flood", "plan throughput latency", NULL},
    {"threads", NULL, "plan throughput latency"},
    {"cores listen store insecure-store key", "on", NULL},
    {"nodes", "on=slurm on=cluster", NULL},
    {"insecure-store", "store on=cluster", NULL},
    {"helper", "lend", NULL},
    {"lend", "helper", "on from to plan no-history until since"},
    RULES_END,
};

/* ---- while it runs ---- */

struct stream_screen {
    struct weft_stream *stream;
    bool live;
    FILE *figures;
    double told, logged, then; /* seconds */
    uint64_t done;             /* when the line was last told */
    bool shown;
};

/* The line goes before anything else is written: remarks come from other threads, while the tick that
 * draws it waits for its turn. */
static void screen_clear(struct stream_screen *s)
{
    if (s->shown)
        fputs("\r\033[K", stderr);
    s->shown = false;
}

/* A line that is whole when it is there: who follows the file reads it line by line. */
static void screen_log(struct stream_screen *s)
{
    struct strbuf text = {0};
    stream_view_json(s->stream, false, &text);
    fwrite(text.at, 1, text.n, s->figures);
    fflush(s->figures);
    strbuf_free(&text);
}

/* The rate is that of the last half second: since the beginning would hide a filter that has just become
 * slow. */
static void screen_tick(void *context)
{
    struct stream_screen *s = context;
    double now = clock_seconds();
    if (s->figures && now - s->logged >= 1) {
        s->logged = now;
        screen_log(s);
    }
    if (!s->live || now - s->told < 0.5)
        return;
    struct weft_stream_figures f;
    struct strbuf text = {0};
    weft_stream_figures(s->stream, &f);
    stream_view_line(s->stream, s->told ? (double)(f.done - s->done) / (now - s->told) : 0, &text);
    s->told = now;
    s->done = f.done;
    fprintf(stderr, "\r\033[K%.*s", (int)cli_columns() - 1, strbuf_text(&text));
    fflush(stderr);
    s->shown = true;
    strbuf_free(&text);
}

static void screen_remark(void *context, const char *text)
{
    screen_clear(context);
    cli_say("", text);
}

/* ---- arguments ---- */

/* Agents, and not a platform to plan for. */
static bool stream_on_agents(const struct arguments *a)
{
    const char *on = arguments_value(a, "on");
    return on && (strcmp(on, "cluster") == 0 || strcmp(on, "slurm") == 0 ||
                  strncmp(on, "local:", 6) == 0 || strncmp(on, "ssh:", 4) == 0);
}

/* Lines or frames: standard input of a source, standard output of a sink. */
static bool stream_is_standard(const char *end)
{
    return end && (strcmp(end, "-") == 0 || strcmp(end, "frames:-") == 0);
}

/* What the library cannot know: two things that would both write to standard output, or read standard input. */
static bool stream_options(const struct arguments *a, struct weft_stream_options *o,
                           struct error *err)
{
    int64_t items, tries, threads, nodes, cores;
    o->from = arguments_value(a, "from");
    o->to = arguments_value(a, "to");
    o->folder = arguments_value(a, "directory");
    o->unordered = arguments_flag(a, "unordered");
    o->flood = arguments_flag(a, "flood");
    o->no_history = arguments_flag(a, "no-history");
    if (!arguments_integer(a, "items", 0, 1, INT64_MAX, &items, err) ||
        !arguments_integer(a, "tries", 3, 1, 1000000, &tries, err) ||
        !arguments_integer(a, "threads", 0, 1, 4096, &threads, err) ||
        !arguments_integer(a, "nodes", 0, 1, 4096, &nodes, err) ||
        !arguments_integer(a, "cores", 0, 1, 4096, &cores, err))
        return false;
    o->nodes = (uint32_t)nodes;
    o->cores = (uint32_t)cores;
    o->listen = arguments_value(a, "listen");
    if (stream_on_agents(a))
        o->store = cli_store(a);
    o->key = arguments_value(a, "key");
    if (stream_on_agents(a))
        o->on = arguments_value(a, "on");
    else if (nodes || cores || o->listen || arguments_value(a, "store") || o->key)
        return error_set(
            err, ERROR_INPUT,
            "--nodes, --cores, --listen, --store and --key are for agents: --on local:N, "
            "ssh:HOST,HOST..., slurm or cluster");
    else if (arguments_value(a, "on") && !arguments_value(a, "plan") &&
             !arguments_value(a, "throughput") && !arguments_value(a, "latency"))
        return error_set(
            err, ERROR_INPUT,
            "--on %.200s is a platform, and nothing is planned; say --throughput, "
            "--latency or --plan, or agents: local:N, ssh:HOST,HOST..., slurm, cluster",
            arguments_value(a, "on"));
    o->items = (uint64_t)items;
    o->tries = (uint32_t)tries;
    o->threads = (uint32_t)threads;
    if (stream_is_standard(o->from) && o->key && strcmp(o->key, "-") == 0)
        return error_set(
            err, ERROR_INPUT,
            "--from %s and --key - both read standard input; put the key or the items into a file",
            o->from);
    if (arguments_flag(a, "json") && stream_is_standard(o->to))
        return error_set(
            err, ERROR_INPUT,
            "--json and --to %s both write to standard output; send the results to a file "
            "or a folder",
            o->to);
    return true;
}

/* Something that takes the time that it takes: the stream measures it. */
static bool stream_has_commands(const struct weft_workflow *w)
{
    struct weft_task_info task;
    for (uint32_t i = 0; i < weft_workflow_tasks(w); i++)
        if (weft_workflow_task(w, i, &task) && task.command)
            return true;
    return false;
}

/* The plan of --plan, or one that is made for --throughput or --latency; without either there is none,
 * and that is fine. */
static bool stream_plan(const struct arguments *a, const struct weft_read_options *read,
                        struct weft_stream_options *o, struct weft_problem *problem,
                        struct weft_error *error)
{
    const char *file = arguments_value(a, "plan"), *on = arguments_value(a, "on");
    const char *throughput = arguments_value(a, "throughput");
    const char *latency = arguments_value(a, "latency");
    struct weft_problem_options p = WEFT_PROBLEM_INIT;
    *problem = (struct weft_problem){0};
    p.read = *read;
    on = stream_on_agents(a) ? NULL : on;
    if (file) {
        p.platform = on;
        p.workflow = a->operand[0];
        p.plans = p.only_plans = true;
        return weft_problem_read(file, &p, problem, error);
    }
    if (!throughput && !latency) {
        problem->workflow = weft_workflow_read(a->operand[0], read, error);
        return problem->workflow;
    }
    char cores[32];
    snprintf(cores, sizeof cores, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    p.platform = on ? on : cores;
    if (!weft_problem_read(a->operand[0], &p, problem, error))
        return false;
    if (!stream_on_agents(a) && stream_has_commands(problem->workflow)) {
        o->throughput = throughput;
        o->latency = latency;
        o->platform = problem->platform;
        return true;
    }
    struct strbuf setting = {0};
    strbuf_printf(&setting, "%s=%s", throughput ? "throughput" : "latency",
                  throughput ? throughput : latency);
    struct weft_plan_options options_of_plan = WEFT_PLAN_INIT;
    const char *set[] = {setting.at, NULL};
    options_of_plan.options = set;
    problem->plan =
        weft_plan_make(problem->workflow, problem->platform, "stream", &options_of_plan, error);
    strbuf_free(&setting);
    return problem->plan;
}

/* ---- the command ---- */

/* Figures are shown of a stream that failed, too: how far it came is what its user wants to know. */
static int stream_show(const struct arguments *a, const struct weft_stream *s,
                       const struct weft_stream_options *o)
{
    struct strbuf out = {0};
    bool json = arguments_flag(a, "json");
    int status = 0;
    if (json)
        stream_view_json(s, true, &out);
    else if (!arguments_flag(a, "quiet"))
        stream_view_summary(s, &out);
    if (out.n && stream_is_standard(o->to))
        fputs(out.at, stderr); /* standard output has the results */
    else if (out.n)
        status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* Signals stop this stream and nothing else while it runs. */
static int stream_run_open(const struct arguments *a, struct stream_screen *screen,
                           const struct weft_stream_options *o)
{
    struct weft_error error;
    signals_stop_stream(screen->stream);
    bool good = weft_stream_run(screen->stream, &error);
    signals_release();
    screen_clear(screen);
    if (screen->figures)
        screen_log(screen);
    int status = stream_show(a, screen->stream, o);
    return good ? status : cli_failed(&error);
}

static int stream_of(const struct arguments *a, const struct weft_problem *problem,
                     struct weft_stream_options *o)
{
    struct weft_error error;
    struct stream_screen screen = {.live = isatty(2) && !arguments_flag(a, "quiet") &&
                                           !arguments_flag(a, "json")};
    const char *figures = arguments_value(a, "figures");
    struct error err = {0};
    if (figures && !(screen.figures = fopen(figures, "ae"))) {
        error_set(&err, ERROR_INPUT, "--figures %s: cannot write: %m", figures);
        return cli_fail(&err);
    }
    char self[4096]; /* agents run the very program that starts them: versions must agree */
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    o->program = length > 0 ? self : NULL;
    o->tick = screen_tick;
    o->remark = arguments_flag(a, "quiet") ? NULL : screen_remark;
    o->context = &screen;
    screen.stream = weft_stream_open(problem->workflow, problem->plan, o, &error);
    int status = screen.stream ? stream_run_open(a, &screen, o) : cli_failed(&error);
    weft_stream_close(screen.stream);
    if (screen.figures)
        fclose(screen.figures);
    return status;
}

/* A helper: the key comes on standard input, as an agent's does. */
static int stream_lend(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct text key;
    int64_t number;
    if (!arguments_integer(a, "helper", 0, 0, 4095, &number, &err) || !file_read("-", &key, &err))
        return cli_fail(&err);
    bool good = weft_stream_lend(arguments_value(a, "lend"), key.at, (uint32_t)number, &error);
    explicit_bzero(key.at, key.n);
    text_free(&key);
    return good ? 0 : cli_failed(&error);
}

static int stream_command(const struct arguments *a)
{
    if (arguments_value(a, "lend"))
        return stream_lend(a);
    if (!a->noperands) {
        struct error missing = {0};
        error_set(&missing, ERROR_INPUT,
                  "weft stream needs a FLOW; usage: weft stream FLOW [TARGET...]");
        return cli_fail(&missing);
    }
    struct weft_error error;
    struct error err = {0};
    struct weft_problem problem;
    struct weft_stream_options o = WEFT_STREAM_INIT;
    struct weft_read_options read = WEFT_READ_INIT;
    if (!stream_options(a, &o, &err))
        return cli_fail(&err);
    const char **list = cli_read_list(a, &err);
    if (!list)
        return cli_fail(&err);
    read.options = list;
    int status;
    if (stream_plan(a, &read, &o, &problem, &error)) {
        cli_warnings(a, problem.workflow);
        status = stream_of(a, &problem, &o);
    } else {
        status = cli_failed(&error);
    }
    weft_problem_free(&problem);
    free(list);
    return status;
}

const struct command command_stream = {
    .name = "stream",
    .operands = "FLOW [TARGET...]",
    .least = 0,
    .most = SIZE_MAX,
    .summary = "process a stream of items: every task is a filter",
    .details =
        "Items go from a source through all tasks into a sink. A task is a function (call), a "
        "command that stays and takes items as frames (run), a command for each item with files "
        "(run, per_item: true), or lets its time pass (work alone). Results leave in order. A "
        "filter "
        "that fails gets the item again; an item that fails too often is given up, and the exit "
        "status is 1. The first SIGINT takes no more items, the second ends all. Of a "
        "part, items enter at its first tasks and leave behind its last.\n\n"
        "examples:\n"
        "  weft stream edges.yaml --from frames/ --to edges/\n"
        "  zcat log.gz | weft stream words.yaml --from - --to -\n"
        "  weft stream video.yaml --plan plan.json --items 1000\n"
        "  weft stream video.yaml --from clock:25 --throughput 25 --on 8\n"
        "  weft stream edges.yaml --from frames/ --to edges/ --on ssh:a,b,c   filters on agents\n",
    .options = options,
    .rules = stream_rules,
    .run = stream_command,
};
