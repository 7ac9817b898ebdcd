/* Records: run_record (model/record.h) filled from a session, and its way into the history.
 *
 * The history is a help, never a condition: whatever goes wrong with it becomes a remark, and the
 * run goes on without. */
#include "session/recording.h"

#include "base/mem.h"
#include "formats/format.h"
#include "model/command.h"
#include "model/growth.h"
#include "session/causes.h"
#include "session/hints.h"
#include "session/log_tail.h"
#include "session/machine.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void recording_open_history(struct session *s)
{
    struct error err = {0};
    char *path = s->o.no_history ? NULL : history_default_path();
    if (!path)
        return;
    s->history = s->o.look ? history_open_existing(path, &err) : history_open(path, &err);
    if (!s->history && s->o.look && err.kind != ERROR_NONE)
        remark(&s->o.remarks, REMARK_WARNING, "nothing is predicted from past runs: %s", err.text);
    else if (!s->history && !s->o.look)
        remark(&s->o.remarks, REMARK_WARNING, "this run is not recorded: %s", err.text);
    free(path);
}

/* The folder as an absolute path: the history outlives the current one. */
void recording_stamp(struct run_record *r, const char *name, const char *file, const char *folder)
{
    char host[256] = "localhost", whole[PATH_MAX];
    gethostname(host, sizeof host - 1);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *r = (struct run_record){
        .name = mem_copy_string(name),
        .file = file ? mem_copy_string(file) : NULL,
        .folder = mem_copy_string(realpath(folder, whole) ? whole : folder),
        .host = mem_copy_string(host),
        .version = mem_copy_string(WEFT_VERSION),
        .system = machine_system(),
        .started = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec,
        .seconds = NAN,
        .speed = machine_speed(),
        .predicted_seconds = NAN,
        .predicted_memory = NAN,
        .predicted_disk = NAN,
        .peak_memory = NAN,
        .peak_disk = NAN,
    };
}

void recording_fill_head(struct session *s)
{
    struct run_record *r = &s->record;
    int64_t earlier = r->run; /* whoever followed this run before us has begun its record */
    double began = r->started;
    recording_stamp(r, s->name, s->flow, s->ws.folder);
    if (earlier) {
        r->run = earlier;
        r->started = began;
    }
    r->planner = s->planner ? mem_copy_string(s->planner) : NULL;
    r->given = s->o.given ? mem_copy_string(s->o.given) : NULL;
    r->place = s->o.place ? mem_copy_string(s->o.place) : NULL;
    r->cores = s->cores;
    r->memory = s->memory;
    r->tasks = s->w->ntasks;
    /* what is not known of some task is not known of the run */
    r->predicted_seconds = s->ahead.no_time ? NAN : s->ahead.seconds;
    r->predicted_memory = s->ahead.no_memory ? NAN : s->ahead.memory;
    r->predicted_disk = s->ahead.no_size ? NAN : s->ahead.disk;
    r->workflow = s->w;
    r->predicted = s->predicted;
}

/* For the summary: every attempt, in order of time. A beginning is told again by its end. */
static void recording_keep_event(void *context, const struct trace_event *e)
{
    struct run_record *r = context;
    if (e->kind != TRACE_BEGIN && e->kind != TRACE_GROWN)
        array_push(&r->events, *e);
}

static void recording_text(const struct session *s, struct strbuf *text, struct error *err)
{
    struct workflow *whole = growth_whole(s->w);
    format_find("native")->write_workflow(whole ? whole : s->w, text, NULL, err);
    workflow_free(whole);
}

/* What the workflow of a run that grew is at its end. */
static void recording_grown(struct session *s)
{
    struct error err = {0};
    struct strbuf text = {0};
    s->record.tasks = s->w->ntasks;
    if (!s->history || !s->record.run || !s->grew)
        return;
    recording_text(s, &text, &err);
    if (!history_set_workflow(s->history, &s->record, text.at, text.n, &err))
        remark(&s->o.remarks, REMARK_WARNING, "the record of this run is not complete: %s",
               err.text);
    strbuf_free(&text);
}

/* Without a number in the history nothing is recorded there, and it is closed; the record in memory is
 * kept either way, for the summary. */
void recording_begin(struct session *s)
{
    if (s->history) {
        struct error err = {0};
        /* the text is what a report will read the workflow from, years later */
        struct strbuf text = {0};
        recording_text(s, &text, &err);
        s->record.reasons = s->needs.task;
        s->record.run = history_begin(s->history, &s->record, text.at, text.n, &err);
        s->record.reasons = NULL; /* they move when the run grows */
        strbuf_free(&text);
        if (s->record.run) {
            listeners_add(&s->listeners, history_sink(s->history));
            s->now = now_begin(s->ws.state, s->record.run, s->w, s->executor != NULL);
            if (s->now)
                listeners_add(&s->listeners, now_sink(s->now));
        } else {
            remark(&s->o.remarks, REMARK_WARNING, "this run is not recorded: %s", err.text);
            history_close(s->history);
            s->history = NULL;
        }
    } else {
        s->record.run = 0; /* whoever followed this run before us may have recorded it; we do not */
    }
    listeners_add(&s->listeners,
                  (struct trace_sink){.event = recording_keep_event, .context = &s->record});
}

/* A task begins to use something (memory, cores), or ends. */
struct use_moment {
    double when, amount;
};

static int use_moment_order(const void *a, const void *b)
{
    const struct use_moment *x = a, *y = b;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    return (x->amount > y->amount) -
           (x->amount < y->amount); /* what ends at once makes room first */
}

/* A sweep over beginnings and ends in order of time. */
static double recording_peak(struct use_moment *m, size_t n)
{
    double now = 0, peak = 0;
    qsort(m, n, sizeof *m, use_moment_order);
    for (size_t i = 0; i < n; i++) {
        now += m[i].amount;
        peak = now > peak ? now : peak;
    }
    return peak;
}

/* The largest sum of the peaks of tasks that ran at the same time: what the run may have needed.
 * O(n log n) in attempts. */
static double recording_peak_memory(const struct run_record *r)
{
    ARRAY(struct use_moment) m = {0};
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || !(e->memory > 0))
            continue;
        array_push(&m, (struct use_moment){e->start, e->memory});
        array_push(&m, (struct use_moment){e->finish, -e->memory});
    }
    double peak = m.n ? recording_peak(m.at, m.n) : NAN;
    array_free(&m);
    return peak;
}

/* Agents come and go, and whoever attaches late sees only those that are still there: a run had at least
 * as many cores as its tasks held at once, and as any moment of it counted. O(n log n). */
static uint32_t recording_most_cores(const struct session *s)
{
    const struct run_record *r = &s->record;
    uint32_t most = r->cores;
    ARRAY(struct use_moment) m = {0};
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind == TRACE_COUNTER && e->id == COUNTER_CORES && e->amount > most)
            most = (uint32_t)e->amount;
        if (e->kind != TRACE_TASK || e->id >= s->w->ntasks || !(e->finish > e->start))
            continue;
        double cores = s->w->cores[e->id] ? s->w->cores[e->id] : 1;
        array_push(&m, (struct use_moment){e->start, cores});
        array_push(&m, (struct use_moment){e->finish, -cores});
    }
    double peak = m.n ? recording_peak(m.at, m.n) : 0;
    array_free(&m);
    return peak > most ? (uint32_t)peak : most;
}

/* What is to be known of each failure later: its command, its last words, a hint. Those that another
 * attempt followed are told by their events; a task that was stopped has not failed. */
static void recording_failures(struct session *s)
{
    struct run_record *r = &s->record;
    const struct run_result *x = &s->result;
    for (size_t i = 0; i < x->failures.n; i++) {
        const struct run_failure *f = &x->failures.at[i];
        struct strbuf command = {0};
        char log[PATH_MAX]; /* absolute: it is read from elsewhere, later */
        if (!f->last || f->outcome == TRACE_CANCELLED)
            continue;
        array_push(&r->failures,
                   (struct record_failure){.task = f->task,
                                           .attempt = f->attempt,
                                           .outcome = f->outcome,
                                           .status = f->status,
                                           .limit = f->limit,
                                           .reason = f->text ? mem_copy_string(f->text) : NULL,
                                           .log = !f->log                 ? NULL
                                                  : realpath(f->log, log) ? mem_copy_string(log)
                                                                          : mem_copy_string(f->log),
                                           .tail = log_tail(f->log)});
        if (command_readable(s->w, f->task, f->attempt, &command))
            array_last(&r->failures).command = strbuf_steal(&command);
    }
    causes_group(r);
    enum { HINTS_MOST = 50 }; /* each may look through PATH; nobody reads more */
    for (size_t i = 0, hints = 0; i < r->failures.n && hints < HINTS_MOST; i++) {
        struct record_failure *f = &r->failures.at[i];
        /* a task without files has no sandbox */
        bool sandboxed = !s->o.no_sandbox && !(s->w->flags[f->task] & TASK_IN_PLACE) &&
                         (s->w->in_off[f->task] < s->w->in_off[f->task + 1] ||
                          s->w->object_off[f->task] < s->w->object_end[f->task]);
        if (f->cause != i)
            continue;
        f->hint = hint_for(s->w, f, s->ws.folder, sandboxed);
        hints++;
    }
}

/* The events are all there: both sinks were called from the thread that steps the run. */
void recording_end(struct session *s, bool good)
{
    struct run_record *r = &s->record;
    const struct run_result *x = &s->result;
    r->seconds = x->seconds;
    r->ran = x->done;
    r->reused = x->reused;
    r->failed = x->failed;
    r->skipped = x->skipped;
    r->untaken = x->untaken;
    r->excused = x->excused;
    r->peak_disk = x->peak_disk;
    r->peak_memory = recording_peak_memory(r);
    if (s->o.elsewhere)
        r->cores = recording_most_cores(s);
    /* a detached run ends in the record of whoever attaches */
    r->outcome = s->detached                                                   ? RECORD_CANCELLED
                 : good                                                        ? RECORD_DONE
                 : x->interrupted || (x->cancelled && x->failed == x->excused) ? RECORD_CANCELLED
                                                                               : RECORD_FAILED;
    recording_failures(s);
    recording_grown(s);
    now_end(s->now);
    s->now = NULL;
    struct error err = {0};
    if (!r->run || !s->history)
        return;
    if (!history_end(s->history, r, &err))
        remark(&s->o.remarks, REMARK_WARNING, "the record of this run is not complete: %s",
               err.text);
    else
        retention_prune_history(s);
}
