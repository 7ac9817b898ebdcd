/* Events as lines of JSON, gathered into blocks. Costs a few hundred bytes of text an event; a reader
 * that has gone costs nothing more. One thread. */
#include "report/event_json.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes, and seconds of the run's own time: a million short tasks should not cost a write each, and a
 * reader should not wait for the 65th kilobyte of a slow run. */
enum { BLOCK = 1 << 16 };
static const double AT_LEAST_EVERY = 0.1;

struct event_json {
    FILE *out;
    const struct workflow *w;
    struct strbuf text; /* lines not written yet */
    struct strbuf command;
    double flushed; /* the run's time of the last flush */
    int failed;     /* errno of the write that failed; 0: none did */
    bool nodes;     /* say where tasks run */
};

/* Nothing is written yet. */
struct event_json *event_json_new(FILE *out, const struct workflow *w)
{
    struct event_json *e = mem_zero(sizeof *e);
    e->out = out;
    e->w = w;
    return e;
}

/* Asked for by who knows where the run goes. */
void event_json_say_nodes(struct event_json *e)
{
    e->nodes = true;
}

void event_json_flush(struct event_json *e)
{
    /* After a failure nothing more is tried: the reader has gone or the disk is full. */
    errno = 0;
    if (e->text.n && !e->failed &&
        (fwrite(e->text.at, 1, e->text.n, e->out) != e->text.n || fflush(e->out) != 0))
        e->failed = errno ? errno : EIO;
    strbuf_clear(&e->text);
}

/* A line begins: its writer stands on the text that end_line() ends. */
static struct json_writer event_line_of(struct event_json *e, const char *event)
{
    struct json_writer j;
    json_write_start(&j, &e->text, false);
    json_write_object_inline(&j);
    json_put_string(&j, "event", event);
    return j;
}

static void end_line(struct event_json *e, struct json_writer *j, double now)
{
    json_write_end_object(j);
    strbuf_add_char(&e->text, '\n');
    if (e->text.n >= BLOCK || now - e->flushed >= AT_LEAST_EVERY) {
        event_json_flush(e);
        e->flushed = now;
    }
}

/* The one line with a schema: the lines that follow are of it. Written at once. */
void event_json_started(struct event_json *e, const struct run_record *r)
{
    struct json_writer j;
    json_write_start(&j, &e->text, false);
    json_write_object_inline(&j);
    json_put_string(&j, "schema", "weft-event/1");
    json_put_string(&j, "event", "started");
    json_put_integer(&j, "run", r->run);
    json_put_text(&j, "workflow", r->name);
    json_put_text(&j, "file", r->file);
    json_put_text(&j, "folder", r->folder);
    json_put_text(&j, "host", r->host);
    json_put_text(&j, "planner", r->planner);
    json_put_text(&j, "given", r->given);
    json_put_number(&j, "started", r->started);
    json_put_integer(&j, "tasks", r->tasks);
    json_put_integer(&j, "cores", r->cores);
    json_put_number(&j, "memory", r->memory);
    json_put_number(&j, "predicted_seconds", r->predicted_seconds);
    json_put_number(&j, "predicted_memory", r->predicted_memory);
    json_put_number(&j, "predicted_disk", r->predicted_disk);
    end_line(e, &j, INFINITY);
    e->flushed = 0;
}

static void put_task(struct event_json *e, struct json_writer *j, uint32_t task)
{
    json_put_string(j, "task", workflow_task_name(e->w, task));
    if (e->w->kind[task])
        json_put_string(j, "kind", workflow_text(e->w, e->w->kind[task]));
}

/* The command as that attempt has it, where a task begins or has failed. */
static void put_command(struct event_json *e, struct json_writer *j, const struct trace_event *t)
{
    strbuf_clear(&e->command);
    if (command_readable(e->w, t->id, t->attempt, &e->command))
        json_put_string(j, "command", strbuf_text(&e->command));
}

/* A run on this machine has one node, and its lines stay as they are. */
static void put_where(const struct event_json *e, struct json_writer *j,
                      const struct trace_event *t)
{
    if (e->nodes)
        json_put_integer(j, "node", t->node);
    json_put_integer(j, "core", t->lane);
}

/* Counters are for displays; what is left are beginnings, ends and reuse of tasks. */
static void event_on_event(void *context, const struct trace_event *event)
{
    struct event_json *e = context;
    if (event->kind == TRACE_GROWN) {
        struct json_writer j = event_line_of(e, "grown");
        json_put_number(&j, "time", event->start);
        json_put_integer(&j, "added", (int64_t)event->amount);
        json_put_integer(&j, "tasks", event->id);
        end_line(e, &j, event->start);
        return;
    }
    if (event->kind == TRACE_COUNTER || event->id >= e->w->ntasks)
        return;
    if (event->kind == TRACE_BEGIN) {
        struct json_writer j = event_line_of(e, "begin");
        json_put_number(&j, "time", event->start);
        put_task(e, &j, event->id);
        json_put_integer(&j, "attempt", event->attempt);
        put_where(e, &j, event);
        put_command(e, &j, event);
        end_line(e, &j, event->start);
    } else if (event->kind == TRACE_REUSED) {
        struct json_writer j = event_line_of(e, "reused");
        json_put_number(&j, "time", event->start);
        put_task(e, &j, event->id);
        end_line(e, &j, event->start);
    } else if (event->kind == TRACE_SKIPPED) {
        struct json_writer j = event_line_of(e, "skipped");
        json_put_number(&j, "time", event->start);
        put_task(e, &j, event->id);
        if (event->other < e->w->ntasks) /* else its own condition */
            json_put_string(&j, "because", workflow_task_name(e->w, event->other));
        strbuf_clear(&e->command);
        workflow_when_text(e->w, event->id, &e->command);
        if (event->other >= e->w->ntasks && e->command.n)
            json_put_string(&j, "when", strbuf_text(&e->command));
        end_line(e, &j, event->start);
    } else if (event->kind == TRACE_TASK) {
        struct json_writer j = event_line_of(e, "task");
        json_put_number(&j, "time", event->finish);
        put_task(e, &j, event->id);
        json_put_string(&j, "outcome", trace_outcome_name(event->outcome));
        json_put_integer(&j, "status", event->status);
        if (event->outcome == TRACE_NODE_FAILED)
            json_put_string(&j, "trouble", trace_trouble_text(event->status));
        json_put_integer(&j, "attempt", event->attempt);
        put_where(e, &j, event);
        json_put_number(&j, "start", event->start);
        json_put_number(&j, "seconds", event->finish - event->start);
        json_put_number(&j, "cpu", event->cpu);
        json_put_number(&j, "memory", event->memory);
        json_put_number(&j, "read", event->read);
        json_put_number(&j, "written", event->written);
        if (event->outcome != TRACE_DONE)
            put_command(e, &j, event);
        end_line(e, &j, event->finish);
    }
}

/* Digests that are not known are left out, not written as zeros. */
static void on_file(void *context, const struct trace_file *file)
{
    struct event_json *e = context;
    char text[DIGEST_TEXT];
    struct json_writer j = event_line_of(e, "file");
    json_put_string(&j, "path", file->path ? file->path : "");
    if (file->task < e->w->ntasks)
        json_put_string(&j, "task", workflow_task_name(e->w, file->task));
    json_put_number(&j, "size", file->size);
    json_put_bool(&j, "made", file->produced);
    if (!digest_is_zero(&file->digest))
        json_put_string(&j, "digest", digest_text(&file->digest, text));
    if (!digest_is_zero(&file->key))
        json_put_string(&j, "key", digest_text(&file->key, text));
    end_line(e, &j, e->flushed);
}

/* Which host a node is, and what its end costs. */
static void on_node(void *context, const struct trace_node *n)
{
    static const char *const changes[] = {"joined", "left", "died", "aside", "back"};
    struct event_json *e = context;
    struct json_writer j = event_line_of(e, "agent");
    json_put_number(&j, "time", n->time);
    json_put_integer(&j, "node", n->node);
    json_put_string(&j, "host", n->host ? n->host : "");
    json_put_string(&j, "change", changes[n->change]);
    json_put_integer(&j, "cores", n->cores);
    if (n->why)
        json_put_string(&j, "why", n->why);
    if (n->change == TRACE_NODE_LEFT || n->change == TRACE_NODE_DIED) {
        json_put_integer(&j, "running", n->running);
        json_put_integer(&j, "needed", n->needed);
    }
    end_line(e, &j, n->time);
}

struct trace_sink event_json_sink(struct event_json *e)
{
    return (struct trace_sink){event_on_event, e, on_file, on_node};
}

static void event_constraint(struct json_writer *j, const struct record_constraint *c)
{
    json_write_object(j);
    json_put_string(j, "text", c->text);
    json_put_bool(j, "required", c->requirement);
    json_put_bool(j, "held", c->held);
    json_put_number(j, "measure", c->measure);
    json_write_end_object(j);
}

void event_json_done(struct event_json *e, const struct run_record *r)
{
    struct json_writer j = event_line_of(e, "done");
    json_put_integer(&j, "run", r->run);
    json_put_string(&j, "outcome", record_outcome_name(r->outcome));
    json_put_number(&j, "seconds", r->seconds);
    json_put_integer(&j, "tasks", r->tasks);
    json_put_integer(&j, "ran", r->ran);
    json_put_integer(&j, "reused", r->reused);
    json_put_integer(&j, "failed", r->failed);
    json_put_integer(&j, "skipped", r->skipped);
    json_put_integer(&j, "untaken", r->untaken);
    json_put_integer(&j, "excused", r->excused);
    json_put_number(&j, "peak_memory", r->peak_memory);
    json_put_number(&j, "peak_disk", r->peak_disk);
    json_put_number(&j, "predicted_seconds", r->predicted_seconds);
    json_put_number(&j, "predicted_memory", r->predicted_memory);
    json_put_number(&j, "predicted_disk", r->predicted_disk);
    if (r->constraints.n) {
        json_write_key(&j, "constraints");
        json_write_array(&j);
        for (size_t i = 0; i < r->constraints.n; i++)
            event_constraint(&j, &r->constraints.at[i]);
        json_write_end_array(&j);
    }
    end_line(e, &j, INFINITY);
}

bool event_json_free(struct event_json *e)
{
    if (!e)
        return true;
    event_json_flush(e);
    int failed = e->failed;
    strbuf_free(&e->text);
    strbuf_free(&e->command);
    free(e);
    errno = failed;
    return !failed;
}
