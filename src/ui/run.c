/* The Run view's answers, and which part of the view asks for them:
 *
 *     /live    counts, families, what runs     once a second while the run goes on, and when the server tells of changes;
 *                                              counts by kind alone where more would cost the run too much (thrift.h)
 *     /gantt   boxes or columns, curves        after each /live that has tasks, and for another part when somebody zooms
 *     /graph   families with states, laid out  after each /live
 *     /tasks   200 of them, by name and state  after each /live, for the table
 *     /next    what is ready                   after each /live, while the run goes on and no task is chosen
 *     /transfers  data between nodes           after each /live of a run on agents
 *     /task    one: command, what it waits for while it is chosen
 *     /log     what it wrote since a byte      while it is chosen
 *
 * The answers are of one moment each, not of the same one: a page that shows a task as running in one place and as done in
 * another is right again a second later.
 *
 * A run that goes on or is over, as the library's watch sees it. Runs that are looked at are kept open, so
 * that a look costs what is new; the one that was not asked for longest gives way. */
#include "api/inside_watch.h"
#include "base/json.h"
#include "report/lanes_json.h"
#include "ui/events.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/run.h"
#include "ui/starting.h"
#include "ui/thrift.h"
#include "weft/weft.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { WATCHES = 3, TASKS_AT_ONCE = 200, LOG_AT_ONCE = 256 * 1024, FAMILIES_AT_ONCE = 400 };

/* One server a process, one thread: the watches are its own. */
static struct {
    struct weft_watch *watch;
    int64_t run;
    uint64_t asked; /* when, in questions */
} watches[WATCHES];
static uint64_t watches_questions;

/* As it is now. NULL: `out` says why.
 * A watch that is open is looked at again; one that is not takes the place of the one that was asked for longest ago.
 * Questions of one page come in bursts (live, Gantt, graph, tasks, log), so that each of the burst looks once more: a look
 * without news costs a question to SQLite by primary key, three times.
 */
static struct weft_watch *watch_of_request(const struct request *r, struct reply *out)
{
    struct weft_error error;
    size_t at = 0;
    for (size_t i = 0; i < WATCHES; i++) {
        if (watches[i].watch && watches[i].run == r->run) {
            at = i;
            break;
        }
        if (watches[i].asked < watches[at].asked)
            at = i;
    }
    if (watches[at].run != r->run || !watches[at].watch) {
        weft_watch_close(watches[at].watch);
        watches[at].watch = weft_watch_open(r->run, &error);
        watches[at].run = r->run;
        if (!watches[at].watch) {
            reply_fail(out, error.status == WEFT_BAD_INPUT ? 404 : 500, error.text);
            return NULL;
        }
    } else if (!weft_watch_look(watches[at].watch, NULL, &error)) {
        reply_error(out, &error);
        return NULL;
    }
    watches[at].asked = ++watches_questions;
    return watches[at].watch;
}

/* Numbers of the state that go to the page under their own names: a row each, instead of a line of code each. */
static const struct {
    const char *name;
    size_t at;
} watch_counts[] = {
    {"tasks", offsetof(struct weft_watch_state, tasks)},
    {"waiting", offsetof(struct weft_watch_state, waiting)},
    {"running", offsetof(struct weft_watch_state, running)},
    {"done", offsetof(struct weft_watch_state, done)},
    {"failed", offsetof(struct weft_watch_state, failed)},
    {"reused", offsetof(struct weft_watch_state, reused)},
    {"skipped", offsetof(struct weft_watch_state, skipped)},
    {"cores", offsetof(struct weft_watch_state, cores)},
};

/* The colour is the kind's, as in every other picture; the number is what /tasks?family= takes. */
static void put_family(const struct weft_watch *w, uint32_t i, const struct weft_watch_family *f,
                       struct json_writer *j)
{
    json_write_object(j);
    json_put_string(j, "name", f->name);
    json_put_integer(j, "family", i);
    json_put_integer(j, "colour", w->model.kinds.colour[w->model.families.at.at[i].first]);
    json_put_integer(j, "tasks", f->tasks);
    json_put_integer(j, "waiting", f->waiting);
    json_put_integer(j, "running", f->running);
    json_put_integer(j, "done", f->done);
    json_put_integer(j, "failed", f->failed);
    json_put_integer(j, "reused", f->reused);
    json_put_integer(j, "skipped", f->skipped);
    json_put_number(j, "seconds", f->seconds);
    json_put_number(j, "predicted", f->predicted);
    json_write_end_object(j);
}

/* Times are seconds since the run began. Unknown ones are null: the page shows nothing rather than a nought. */
void run_put_task(const struct weft_watch *w, uint32_t task, struct json_writer *j)
{
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    weft_watch_task(w, task, &t);
    json_write_object(j);
    json_put_integer(j, "task", task);
    json_put_string(j, "name", t.name);
    json_put_string(j, "state", t.state);
    json_put_integer(j, "colour", w->model.kinds.colour[task]);
    json_put_integer(j, "family", w->model.families.of[task]);
    json_put_integer(j, "attempt", t.attempt);
    json_put_number(j, "start", t.start);
    json_put_number(j, "finish", t.finish);
    json_put_integer(j, "node", t.node);
    json_put_integer(j, "core", t.core);
    json_put_integer(j, "status", t.status);
    json_put_number(j, "cpu", t.cpu);
    json_put_number(j, "memory", t.memory);
    json_put_number(j, "predicted", t.predicted);
    json_put_number(j, "low", t.low);
    json_put_number(j, "high", t.high);
    json_put_text(j, "reason", t.reason);
    json_write_end_object(j);
}

/* The head of both answers. `later`: seconds until single tasks are told; NAN: they are. */
static void put_live_head(const struct weft_watch_state *s, double later, struct json_writer *j)
{
    json_put_integer(j, "run", s->run);
    json_put_text(j, "workflow", s->workflow);
    json_put_text(j, "file", s->file);
    json_put_text(j, "folder", s->folder);
    json_put_text(j, "given", s->given);
    json_put_string(j, "outcome", s->outcome);
    json_put_number(j, "started", s->started);
    json_put_number(j, "seconds", s->seconds);
    json_put_number(j, "expected", s->expected);
    json_put_number(j, "predicted", s->predicted);
    json_put_number(j, "later", later);
    for (size_t i = 0; i < sizeof watch_counts / sizeof *watch_counts; i++)
        json_put_integer(j, watch_counts[i].name,
                         *(const uint32_t *)((const char *)s + watch_counts[i].at));
}

/* A kind of a glance as the page has families. Its number among the families is not known (-1): the page knows it by its name. The
 * colour is what kinds_of() gives: the more tasks, the lower, and of equals the first. */
static void put_kind(const struct glance *g, size_t i, struct json_writer *j)
{
    const struct now_kind *k = &g->kinds.at[i];
    const struct now_counts *c = &k->counts;
    uint32_t colour = 0, over = c->running + c->done + c->failed + c->reused + c->skipped;
    for (size_t o = 0; o < g->kinds.n; o++) {
        uint32_t other = g->kinds.at[o].counts.tasks;
        colour += other > c->tasks || (other == c->tasks && o < i);
    }
    json_write_object(j);
    json_put_string(j, "name", k->name);
    json_put_integer(j, "family", -1);
    json_put_integer(j, "colour", colour < KINDS_SHOWN ? colour : KINDS_SHOWN);
    json_put_integer(j, "tasks", c->tasks);
    json_put_integer(j, "waiting", c->tasks > over ? c->tasks - over : 0);
    json_put_integer(j, "running", c->running);
    json_put_integer(j, "done", c->done);
    json_put_integer(j, "failed", c->failed);
    json_put_integer(j, "reused", c->reused);
    json_put_integer(j, "skipped", c->skipped);
    json_put_number(j, "seconds", c->done ? k->seconds / c->done : NAN);
    json_put_number(j, "predicted", NAN);
    json_write_end_object(j);
}

static void put_glance(const struct glance *g, double later, struct reply *out)
{
    struct json_writer j;
    const struct now_counts *c = &g->all;
    uint32_t over = c->running + c->done + c->failed + c->reused + c->skipped;
    struct weft_watch_state s = {
        .run = g->head.run,
        .workflow = g->head.name,
        .file = g->head.file,
        .folder = g->head.folder,
        .outcome = record_outcome_name(g->head.outcome),
        .started = g->head.started,
        .seconds = g->seconds,
        .expected = g->expected,
        .predicted = g->head.predicted_seconds,
        .cores = g->head.cores,
        .tasks = c->tasks,
        .waiting = c->tasks > over ? c->tasks - over : 0,
        .running = c->running,
        .done = c->done,
        .failed = c->failed,
        .reused = c->reused,
        .skipped = c->skipped,
    };
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    put_live_head(&s, later, &j);
    json_write_key(&j, "families");
    json_write_array(&j);
    for (size_t i = 0; i < g->kinds.n; i++)
        put_kind(g, i, &j);
    json_write_end_array(&j);
    json_write_key(&j, "now");
    json_write_array(&j);
    json_write_end_array(&j);
    json_write_key(&j, "cancelled");
    json_write_array(&j);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* Counts by kind, where reading single tasks would take too much from the run (thrift.h). False: single tasks are read. */
static bool answered_at_a_glance(const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct glance g;
    bool told;
    if (request_value(r, "all") || !watch_glance(r->run, &g, &told, &error))
        return false; /* of a run that is not there the watch says so */
    const struct now_counts *c = &g.all;
    double later = told ? thrift_wait(r->run, g.seconds, c->tasks,
                                      c->done + c->failed + c->reused + c->skipped)
                        : 0;
    if (later > 0)
        put_glance(&g, later, out);
    glance_free(&g);
    return later > 0;
}

/* What is being cancelled: asked for, by whomever, and not over yet. */
static void put_cancelled(const struct watching *w, struct json_writer *j)
{
    now_numbers cancelled = {0};
    watching_cancelled(w, &cancelled);
    json_write_key(j, "cancelled");
    json_write_array(j);
    for (size_t i = 0; i < cancelled.n; i++)
        json_write_string(j, workflow_task_name(w->names, cancelled.at[i]));
    json_write_end_array(j);
    array_free(&cancelled);
}

/* Bytes that are free where the run works, while it does, and whether it is on agents. */
static void put_room(const struct watching *w, struct json_writer *j)
{
    struct statvfs disk;
    bool known =
        w->head.outcome == RECORD_RUNNING && w->head.folder && statvfs(w->head.folder, &disk) == 0;
    json_put_number(j, "disk", known ? (double)disk.f_bavail * (double)disk.f_frsize : NAN);
    json_put_bool(j, "away", w->away || w->transfers.n);
}

/* Head, families, what runs. ?all=1: whatever it takes. */
static void answer_live(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct json_writer j;
    struct weft_watch_state s = WEFT_WATCH_STATE_INIT;
    struct weft_watch_family f = WEFT_WATCH_FAMILY_INIT;
    if (answered_at_a_glance(r, out))
        return;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    weft_watch_state(w, &s);
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    put_live_head(&s, NAN, &j);
    json_write_key(&j, "families");
    json_write_array(&j);
    for (uint32_t i = 0; i < FAMILIES_AT_ONCE && weft_watch_family(w, i, &f); i++)
        put_family(w, i, &f, &j);
    json_write_end_array(&j);
    json_write_key(&j, "now");
    json_write_array(&j);
    uint32_t task;
    for (size_t i = 0; i < TASKS_AT_ONCE && weft_watch_running(w, i, &task); i++)
        run_put_task(w, task, &j);
    json_write_end_array(&j);
    put_cancelled(&w->model, &j);
    put_room(&w->model, &j);
    json_put_text(&j, "place", w->model.head.place);
    json_put_integer(&j, "untaken", w->model.head.untaken);
    json_write_end_object(&j);
}

/* A number of the address; what is none, or not finite, is the standard: an address that somebody typed shows something. */
double run_request_number(const struct request *r, const char *name, double standard)
{
    const char *text = request_value(r, name);
    char *end = NULL;
    double value = text ? strtod(text, &end) : standard;
    return text && (*end || !isfinite(value)) ? standard : value;
}

/* Attempts that ended and what runs, as lanes_json() wants them; the caller frees. */
static struct lanes_attempt *gantt_attempts(const struct watching *w, size_t *n)
{
    struct lanes_attempt *at = calloc(w->attempts.n + w->running.n + 1, sizeof *at);
    *n = 0;
    for (size_t i = 0; at && i < w->attempts.n; i++) {
        const struct history_attempt *a = &w->attempts.at[i];
        at[(*n)++] = (struct lanes_attempt){.start = a->start,
                                            .finish = a->finish,
                                            .memory = a->memory,
                                            .written = a->written,
                                            .task = a->task,
                                            .node = a->node,
                                            .lane = a->lane,
                                            .colour = w->kinds.colour[a->task],
                                            .state = a->outcome == TRACE_DONE       ? 0
                                                     : trace_is_failure(a->outcome) ? 1
                                                                                    : 3};
    }
    for (size_t i = 0; at && i < w->running.n; i++) {
        const struct now_task *a = &w->running.at[i];
        at[(*n)++] = (struct lanes_attempt){.start = a->since,
                                            .finish = fmax(w->seconds, a->since),
                                            .task = a->task,
                                            .node = a->node,
                                            .lane = a->lane,
                                            .colour = w->kinds.colour[a->task],
                                            .state = 2};
    }
    return at;
}

/* Data between nodes, likewise; NULL: there was none. */
static struct lanes_transfer *gantt_transfers(const struct watching *w)
{
    struct lanes_transfer *at =
        w->transfers.n ? calloc(w->transfers.n, sizeof(struct lanes_transfer)) : NULL;
    for (size_t i = 0; at && i < w->transfers.n; i++) {
        const struct history_transfer *t = &w->transfers.at[i];
        at[i] = (struct lanes_transfer){t->start, t->finish, t->bytes, t->object, t->from, t->to};
    }
    return at;
}

/* ?from=SECONDS&to=SECONDS&columns=PIXELS&most=BOXES */
static void answer_gantt(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    size_t n;
    double columns = run_request_number(r, "columns", 1000);
    struct lanes_options o = {.end = w->model.seconds,
                              .columns = (uint32_t)fmin(4000, fmax(50, columns)),
                              .names = w->model.names,
                              .most = (size_t)fmin(1e5, fmax(0, run_request_number(r, "most", 0)))};
    struct lanes_attempt *at = gantt_attempts(&w->model, &n);
    struct lanes_transfer *moved = gantt_transfers(&w->model);
    o.transfer = moved;
    o.transfers = moved ? w->model.transfers.n : 0;
    for (size_t i = 0; at && i < n; i++)
        o.end = fmax(o.end, at[i].finish);
    o.from = fmax(0, run_request_number(r, "from", 0));
    o.to = fmin(o.end, run_request_number(r, "to", o.end));
    if (!(o.to > o.from))
        o.to = o.from + 1e-6;
    lanes_json(at, at ? n : 0, &o, &out->body);
    free(moved);
    free(at);
}

/* Every condition that was given holds. Words are a part of the name, as people type it; no pattern, so that nothing of a name
 * has a meaning. */
static bool task_wanted(const struct watching *w, uint32_t t, const char *state, const char *words,
                        double family)
{
    return (!state || strcmp(state, watch_state_names[w->state[t]]) == 0) &&
           (family < 0 || (double)w->families.of[t] == family) &&
           (!words || strstr(workflow_task_name(w->names, t), words));
}

/* ?state=failed&family=N&words=PART&from=N: some of the tasks, and how many there are. */
static void answer_tasks(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct json_writer j;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    const char *state = request_value(r, "state"), *words = request_value(r, "words");
    double family = run_request_number(r, "family", -1), from = run_request_number(r, "from", 0);
    uint32_t found = 0;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_write_key(&j, "tasks");
    json_write_array(&j);
    for (uint32_t t = 0; t < w->model.names->ntasks; t++) {
        if (!task_wanted(&w->model, t, state, words, family))
            continue;
        if (found >= from && found < from + TASKS_AT_ONCE)
            run_put_task(w, t, &j);
        found++;
    }
    json_write_end_array(&j);
    json_put_integer(&j, "found", found);
    json_write_end_object(&j);
}

/* ?task=N&from=BYTE: {"text", "end"}. */
/* From where the page has read on: a log of gigabytes costs what is new, and at first its end. Bytes that are no UTF-8 become
 * U+FFFD on the way out, so nothing that a task writes can break the answer. */
static void answer_log(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct json_writer j;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    uint64_t end = 0;
    double task = run_request_number(r, "task", -1), from = run_request_number(r, "from", 0);
    char *text = task >= 0 && task < UINT32_MAX && from >= 0 && from < 1e15
                     ? weft_watch_log(w, (uint32_t)task, (uint64_t)from, LOG_AT_ONCE, &end)
                     : NULL;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_text(&j, "text", text);
    json_put_number(&j, "end", (double)end);
    if (task >= 0 && task < UINT32_MAX && watching_is_masked(&w->model, (uint32_t)task))
        json_put_bool(&j, "masked", true);
    json_write_end_object(&j);
    weft_text_free(text);
}

/* As Ctrl-C. A second press ends everything, which the page says after the first. */
static void answer_stop(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    if (weft_watch_stop(w, &error)) {
        strbuf_add(&out->body, "{}");
        event_hub_tell(lab->hub, "runs", "{}");
    } else {
        reply_error(out, &error);
    }
}

/* {"task": N} */
static void answer_cancel(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct error err = {0};
    struct json j;
    struct weft_watch *w = watch_of_request(r, out);
    if (!w)
        return;
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    json_ref v = json_get(&j, 0, "task");
    double task = v != JSON_NONE && json_type(&j, v) == JSON_NUMBER ? json_number(&j, v) : -1;
    json_free(&j);
    if (!(task >= 0) || task >= UINT32_MAX) {
        reply_fail(out, 400, "which task? {\"task\": its number}");
    } else if (weft_watch_cancel(w, (uint32_t)task, &error)) {
        strbuf_add(&out->body, "{}");
        event_hub_tell(lab->hub, "runs", "{}");
    } else {
        reply_error(out, &error);
    }
}

const struct ui_route run_routes[] = {
    {false, "/api/run/#/live", answer_live},   {false, "/api/run/#/gantt", answer_gantt},
    {false, "/api/run/#/tasks", answer_tasks}, {false, "/api/run/#/log", answer_log},
    {true, "/api/run/#/stop", answer_stop},    {true, "/api/run/#/cancel", answer_cancel},
    {false, "~/api/dry", answer_dry},          {false, "/api/started", answer_started},
    {true, "/api/start", answer_start},        {0},
};
