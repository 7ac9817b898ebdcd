/* Following a run in a terminal: every word of it that is printed.
 *
 * The library reports events and remarks; the live display and the JSON of events get the run's own
 * trace through api/inside_run.h. Remarks: INFO unless --quiet or --json, NOTE unless --json, WARNING
 * always; above the display while there is one. */
#include "cli/run_screen.h"

#include "api/inside_run.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "cli/signals.h"
#include "model/command.h"
#include "report/dry_run.h"
#include "report/event_json.h"
#include "report/human.h"
#include "report/live_display.h"
#include "report/run_log.h"
#include "report/summary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options ---- */

static bool screen_size_option(const struct arguments *a, const char *name, double *out,
                               struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = 0;
    if (!text || (quantity_bytes(text, strlen(text), out) && *out > 0))
        return true;
    return error_set(err, ERROR_INPUT, "--%s is '%s'; expected a size such as 500M or 8G", name,
                     text);
}

/* How the run may use this machine; 0 leaves it to the library, which knows the machine. */
static bool screen_machine_options(const struct arguments *a, struct weft_run_options *o,
                                   struct error *err)
{
    int64_t jobs, nodes;
    const char *delay = arguments_value(a, "retry-delay");
    if (delay && !quantity_seconds(delay, strlen(delay), &o->retry_delay))
        return error_set(err, ERROR_INPUT, "--retry-delay is '%s'; expected a time such as 2s",
                         delay);
    if (delay && o->retry_delay == 0)
        o->retry_delay = -1; /* the library's 0 means its default */
    if (!arguments_integer(a, "jobs", 0, 1, 4096, &jobs, err) ||
        !arguments_integer(a, "nodes", 0, 1, 1000000, &nodes, err) ||
        !screen_size_option(a, "memory", &o->memory, err) ||
        !screen_size_option(a, "memory-for-data", &o->data_memory, err) ||
        !screen_size_option(a, "disk", &o->disk, err))
        return false;
    o->in_memory = arguments_flag(a, "in-memory");
    o->spill = arguments_value(a, "spill");
    o->cores = (uint32_t)jobs;
    o->nodes = (uint32_t)nodes;
    return true;
}

static bool screen_planning(void *context, double fraction, const char *what)
{
    const struct run_screen *s = context;
    return s->progress.report(s->progress.context, fraction, what);
}

const char **run_screen_names(const struct arguments *a, const char *option, size_t first)
{
    const char **names = mem_new_zero(const char *, a->noperands + a->ngiven + 1);
    size_t n = 0, at = 0;
    for (size_t i = first; i < a->noperands; i++)
        names[n++] = a->operand[i];
    for (const char *name; (name = arguments_next(a, option, &at));)
        names[n++] = name;
    return names;
}

void run_screen_part(struct run_screen *s, struct weft_run_options *o, size_t first)
{
    o->targets = s->targets = run_screen_names(s->a, "until", first);
    o->since = s->since = run_screen_names(s->a, "since", s->a->noperands);
}

/* Options that a command does not have are simply not given: one function serves all commands. */
bool run_screen_options(struct run_screen *s, const struct arguments *a, struct weft_run_options *o,
                        struct error *err)
{
    *s = (struct run_screen){.a = a, .json = arguments_flag(a, "json")};
    s->quiet = arguments_flag(a, "quiet") || s->json;
    /* agents run the very program that starts them: versions must agree */
    ssize_t n = readlink("/proc/self/exe", s->program, sizeof s->program - 1);
    s->program[n > 0 ? n : 0] = 0;
    *o = (struct weft_run_options)WEFT_RUN_OPTIONS_INIT;
    if (!screen_machine_options(a, o, err) || !cli_format(a, &o->format, err) ||
        !(s->read = cli_read_list(a, err)))
        return false;
    const char *log = arguments_value(a, "log");
    if (log && !(s->log = run_log_open(log, err)))
        return false;
    cli_log(s->log);
    o->folder = arguments_value(a, "directory");
    o->read = s->read;
    o->keep_going = arguments_flag(a, "keep-going");
    o->force = arguments_flag(a, "force");
    o->resume = arguments_flag(a, "resume");
    o->no_sandbox = arguments_flag(a, "no-sandbox");
    o->overwrite = arguments_flag(a, "overwrite");
    o->keep_failed = arguments_flag(a, "keep-failed");
    o->keep_results = arguments_flag(a, "keep-results");
    o->no_limits = arguments_flag(a, "no-limits");
    o->no_history = arguments_flag(a, "no-history");
    if (!cli_risk(a, &o->risk, err))
        return false;
    o->look = arguments_flag(a, "dry-run") || arguments_flag(a, "why");
    o->wait = arguments_flag(a, "wait") ? INFINITY : 0;
    o->store = cli_store(a);
    o->key = arguments_value(a, "key");
    o->submit = arguments_value(a, "submit");
    o->policy = arguments_value(a, "policy");
    o->shared = arguments_flag(a, "shared");
    o->not_shared = arguments_flag(a, "no-shared");
    o->later = arguments_flag(a, "later");
    int64_t priority;
    if (!arguments_integer(a, "priority", 0, -20, 20, &priority, err))
        return false;
    o->priority = (double)priority;
    o->follow = arguments_value(a, "follow");
    o->has = arguments_value(a, "has");
    o->resources = cli_joined(a, "resources", &s->resources);
    o->program = s->program;
    o->event = run_screen_event;
    o->planning = s->quiet ? NULL : screen_planning;
    o->context = s;
    return true;
}

bool run_screen_number(const char *text, uint64_t *run, struct error *err)
{
    int64_t n;
    if (!quantity_integer(text, strlen(text), &n) || n < 1)
        return error_set(err, ERROR_INPUT,
                         "'%.100s' is not the number of a run; `weft status` lists them", text);
    *run = (uint64_t)n;
    return true;
}

/* ---- while it goes on ---- */

static void screen_remark(struct run_screen *s, const struct weft_event *e)
{
    run_log_say(s->log, e->text);
    if ((e->remark == WEFT_REMARK_INFO && s->quiet) || (e->remark == WEFT_REMARK_NOTE && s->json))
        return;
    if (s->display)
        live_display_say(s->display, e->text);
    else
        cli_say("", e->text);
}

/* Before the first task: the display and the JSON must see every event. The history and the record
 * listen already. */
static void screen_started(struct run_screen *s)
{
    const struct session *run = inside_run(s->run);
    run_log_started(s->log, &run->record, run->needs.run);
    if (!run->needs.run)
        return;
    if (s->log)
        inside_listen(s->run, run_log_sink(s->log));
    s->display = live_display_new(&(struct live_display_options){.workflow = run->w,
                                                                 .name = run->name,
                                                                 .cores = run->cores,
                                                                 .memory = run->memory,
                                                                 .expected = run->seconds,
                                                                 .quiet = s->quiet});
    inside_listen(s->run, live_display_sink(s->display));
    if (s->json) {
        s->events = event_json_new(stdout, run->w);
        if (run->o.elsewhere)
            event_json_say_nodes(s->events);
        event_json_started(s->events, &run->record);
        inside_listen(s->run, event_json_sink(s->events));
    }
}

/* Progress comes ten times a second: it moves the display and gives out what JSON is waiting. */
void run_screen_event(void *context, const struct weft_event *e)
{
    struct run_screen *s = context;
    if (e->kind == WEFT_EVENT_REMARK)
        screen_remark(s, e);
    else if (e->kind == WEFT_EVENT_STARTED)
        screen_started(s);
    if (e->kind != WEFT_EVENT_PROGRESS || !s->display)
        return;
    /* said once: the display shows it from then on */
    if (e->counts.stopping && !s->stopping) {
        s->stopping = true;
        live_display_stopping(s->display);
        run_log_say(s->log, "stopping: nothing new starts");
    }
    live_display_tick(s->display);
    if (s->events)
        event_json_flush(s->events);
}

/* ---- at its end ---- */

/* What failed stands in the record, by its cause. */
static void screen_summary(const struct run_screen *s)
{
    const struct weft_result *x = weft_run_result(s->run);
    struct strbuf out = {0};
    /* the record has what happened, the options what only this place knows */
    report_summary(&inside_run(s->run)->record,
                   &(struct summary_options){.colour = cli_colour(),
                                             .columns = cli_columns(),
                                             .outputs = weft_run_folder(s->run),
                                             .logs = x->log_bytes > 0 ? x->logs : NULL,
                                             .flow = s->flow ? s->flow : inside_run(s->run)->flow},
                   &out);
    for (size_t i = 0; i < x->nremarks; i++)
        cli_say("note: ", x->remarks[i]);
    if (x->orphans)
        fprintf(stderr, "weft: note: %u process%s outlived the task that started %s and %s ended\n",
                x->orphans, x->orphans == 1 ? "" : "es", x->orphans == 1 ? "it" : "them",
                x->orphans == 1 ? "was" : "were");
    cli_print(&out);
    strbuf_free(&out);
}

/* JSON has its two lines all the same: who reads it waits for "done". */
static int screen_nothing_to_do(const struct run_screen *s)
{
    const struct session *run = inside_run(s->run);
    struct strbuf out = {0};
    int status = 0;
    if (s->json) {
        struct event_json *j = event_json_new(stdout, run->w);
        event_json_started(j, &run->record);
        event_json_done(j, &run->record);
        status = event_json_free(j) ? 0 : cli_output_failed(errno);
    } else if (!s->quiet) {
        dry_run_nothing(run->name, run->w->ntasks, run->needs.untaken, run->keeping.restored, &out);
        status = cli_print(&out);
    }
    strbuf_free(&out);
    return status;
}

/* The run is over; `error` says how, when it did not end well. */
static int screen_end(struct run_screen *s, bool good, const struct weft_error *error)
{
    bool detached = weft_run_result(s->run)->detached;
    int status = good ? 0 : error->status == WEFT_NO_MEMORY ? WEFT_FAILED : (int)error->status;
    /* the display goes before anything else is printed: it owns the lower lines of the screen */
    live_display_free(s->display);
    s->display = NULL;
    if (s->events) {
        event_json_done(s->events, &inside_run(s->run)->record);
        if (!event_json_free(s->events)) {
            int failed = cli_output_failed(errno);
            status = status ? status : failed;
        }
        s->events = NULL;
    } else if (!detached && (!s->quiet || !good)) {
        screen_summary(s);
    }
    run_log_done(s->log, &inside_run(s->run)->record, good ? NULL : error->text);
    if (!good)
        cli_say("", error->text);
    if (detached) {
        struct strbuf line = {0};
        inside_explain_detached(s->run, &line);
        cli_say("", strbuf_text(&line));
        run_log_say(s->log, strbuf_text(&line));
        strbuf_free(&line);
    }
    return status;
}

/* Signals stop the run from its start until its agents are released. */
int run_screen_follow(struct run_screen *s)
{
    struct weft_error error;
    if (!inside_run(s->run)->o.elsewhere) /* agents that we start must not become our children */
        weft_adopt_orphans();
    signals_stop_run(s->run);
    int status;
    if (!weft_run_start(s->run, &error)) {
        status = cli_failed(&error);
    } else {
        bool good = weft_run_wait(s->run, &error);
        status =
            inside_run(s->run)->needs.run ? screen_end(s, good, &error) : screen_nothing_to_do(s);
    }
    weft_run_release(s->run);
    signals_release();
    return status;
}

/* ---- without running ---- */

/* The forecast fills what the views show: times, memory, reasons. */
int run_screen_show(struct run_screen *s)
{
    struct weft_error error;
    struct weft_forecast ahead;
    struct strbuf out = {0};
    if (!weft_run_forecast(s->run, &ahead, &error))
        return cli_failed(&error);
    const struct session *run = inside_run(s->run);
    struct dry_run d = {.name = run->name,
                        .workflow = run->w,
                        .needs = &run->needs,
                        .seconds = run->seconds,
                        .memory = run->task_memory,
                        .cores = ahead.cores,
                        .known = ahead.known,
                        .commands = arguments_flag(s->a, "verbose"),
                        .total = run->ahead.seconds,
                        .peak = run->ahead.memory,
                        .disk = run->ahead.disk,
                        .no_time = run->ahead.no_time,
                        .no_memory = run->ahead.no_memory,
                        .no_size = run->ahead.no_size};
    if (s->json)
        dry_run_json(&d, &out);
    else
        dry_run_text(&d, cli_colour(), &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* The option stands before the library's text, which does not know what it was asked by. */
int run_screen_why(struct run_screen *s, const char *task)
{
    struct weft_error error;
    const char *why = weft_run_why(s->run, task, &error);
    if (!why) {
        struct error err = {0};
        error_set(&err, ERROR_INPUT, "--why: %s", error.text);
        return cli_fail(&err);
    }
    struct strbuf out = {0}, command = {0};
    const struct session *run = inside_run(s->run);
    strbuf_printf(&out, "%s\n", why);
    uint32_t number = session_find_task(run, task, NULL);
    if (command_readable(run->w, number, 1, &command)) {
        human_command(&out, 2, strbuf_text(&command));
        human_environment(&out, 2, run->w, number);
    }
    strbuf_free(&command);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

int run_screen_close(struct run_screen *s, int status)
{
    struct error err = {0};
    weft_run_close(s->run);
    s->run = NULL;
    free(s->read);
    free(s->targets);
    free(s->since);
    strbuf_free(&s->resources);
    s->read = s->targets = s->since = NULL;
    cli_log(NULL);
    bool written = run_log_close(s->log, &err);
    s->log = NULL;
    if (written)
        return status;
    cli_say("", err.text);
    return status ? status : WEFT_FAILED;
}
