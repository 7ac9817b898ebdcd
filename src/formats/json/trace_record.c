/* Reading a trace: one pass over its events, tasks found by name. O(n log n) for the order of time.
 *
 * What is read of the Trace Event Format, which viewers and other programs write, too:
 *
 *     "ph": "X", "cat": "task"      a slice: one attempt, with ts and dur in microseconds, pid the node
 *                                   and tid the core, both from 1 on
 *     "ph": "C"                     a counter: "memory" in bytes, "ready tasks"
 *
 * Everything else is passed over: a trace that somebody has added to is still a trace. */
#include "formats/json/trace_record.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trace_reading {
    struct json j;
    struct run_record *out;
    struct builder *b; /* NULL: the workflow is given */
};

/* Whatever is not a number counts as not given: traces come from other programs, too. */
static double trace_number(const struct trace_reading *r, json_ref object, const char *key,
                           double standard)
{
    json_ref v = json_get(&r->j, object, key);
    return v != JSON_NONE && json_type(&r->j, v) == JSON_NUMBER ? json_number(&r->j, v) : standard;
}

/* Without a workflow a task is made when its name is first seen; NONE: an error. */
static uint32_t trace_find_task(struct trace_reading *r, json_ref event, json_ref name,
                                struct error *err)
{
    size_t length;
    const char *text = json_string(&r->j, name, &length);
    if (!r->b) {
        uint32_t task = workflow_find_task(r->out->workflow, text);
        if (task == NONE)
            json_error(&r->j, name, err,
                       "the workflow has no task '%.200s'; is it the one that ran?", text);
        return task;
    }
    uint32_t task = builder_find_task(r->b, text, length);
    if (task != NONE)
        return task;
    task = builder_task(r->b, text, length, 0);
    json_ref kind = json_get(&r->j, json_get(&r->j, event, "args"), "kind");
    if (kind != JSON_NONE && json_type(&r->j, kind) == JSON_STRING) {
        const char *word = json_string(&r->j, kind, &length);
        if (length)
            builder_kind(r->b, task, word, length);
    }
    return builder_failed(r->b) ? NONE : task;
}

/* A slice of category "task": one attempt. Processes are nodes, threads are cores, both from 1 on;
 * times are microseconds. */
static bool read_slice(struct trace_reading *r, json_ref event, struct error *err)
{
    json_ref name = json_get(&r->j, event, "name");
    double start = trace_number(r, event, "ts", NAN), length = trace_number(r, event, "dur", NAN);
    double node = trace_number(r, event, "pid", 1), lane = trace_number(r, event, "tid", 1);
    if (name == JSON_NONE || json_type(&r->j, name) != JSON_STRING || !(start >= 0) ||
        !(length >= 0) || !(node >= 1 && node <= 1e9) || !(lane >= 1 && lane <= 65536))
        return json_error(&r->j, event, err,
                          "a task's slice needs name, ts, dur, pid and tid from 1 on");
    uint32_t task = trace_find_task(r, event, name, err);
    if (task == NONE)
        return false;
    bool failed = json_get(&r->j, json_get(&r->j, event, "args"), "outcome") != JSON_NONE;
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = task,
                            .node = (uint32_t)node - 1,
                            .lane = (uint32_t)lane - 1,
                            .start = start / 1e6,
                            .finish = (start + length) / 1e6,
                            .outcome = failed ? TRACE_FAILED : TRACE_DONE,
                            .status = failed};
    array_push(&r->out->events, e);
    r->out->seconds = fmax(r->out->seconds, e.finish);
    return true;
}

/* Memory and ready tasks over time; other counters are passed over. */
static void read_counter(struct trace_reading *r, json_ref event)
{
    json_ref name = json_get(&r->j, event, "name"), args = json_get(&r->j, event, "args");
    double at = trace_number(r, event, "ts", NAN);
    bool memory = name != JSON_NONE && json_is_string(&r->j, name, "memory");
    bool ready = name != JSON_NONE && json_is_string(&r->j, name, "ready tasks");
    double amount = trace_number(r, args, memory ? "bytes" : "tasks", NAN);
    if (!(memory || ready) || isnan(at) || isnan(amount))
        return;
    array_push(&r->out->events, (struct trace_event){.kind = TRACE_COUNTER,
                                                     .id = memory ? COUNTER_MEMORY : COUNTER_READY,
                                                     .start = at / 1e6,
                                                     .amount = amount});
    if (memory)
        r->out->peak_memory = fmax(isnan(r->out->peak_memory) ? 0 : r->out->peak_memory, amount);
}

static bool read_events(struct trace_reading *r, struct error *err)
{
    json_ref events = json_type(&r->j, 0) == JSON_ARRAY ? 0 : json_get(&r->j, 0, "traceEvents");
    if (events == JSON_NONE || json_type(&r->j, events) != JSON_ARRAY)
        return json_error(&r->j, 0, err,
                          "no traceEvents: expected a trace as `weft sim --trace` writes it");
    for (json_ref e = json_first(&r->j, events); e != JSON_NONE;
         e = json_next_element(&r->j, events, e)) {
        json_ref phase = json_get(&r->j, e, "ph"), category = json_get(&r->j, e, "cat");
        if (phase == JSON_NONE)
            continue;
        if (json_is_string(&r->j, phase, "C"))
            read_counter(r, e);
        else if (json_is_string(&r->j, phase, "X") && category != JSON_NONE &&
                 json_is_string(&r->j, category, "task") && !read_slice(r, e, err))
            return false;
    }
    return true;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    double s = x->kind == TRACE_TASK ? x->finish : x->start;
    double t = y->kind == TRACE_TASK ? y->finish : y->start;
    return (s > t) - (s < t);
}

/* Counts that a record has and a trace does not: cores are the lanes that were used; a task that was
 * done in any attempt is done. */
static void trace_complete_record(struct run_record *r)
{
    uint64_t *keys = mem_new(uint64_t, r->events.n + 1);
    uint8_t *state = mem_new_zero(uint8_t, (size_t)r->workflow->ntasks + 1);
    size_t n = 0;
    if (r->events.n)
        qsort(r->events.at, r->events.n, sizeof *r->events.at, by_time);
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK)
            continue;
        keys[n++] = (uint64_t)e->node << 32 | e->lane;
        state[e->id] = e->outcome == TRACE_DONE || state[e->id] == 1 ? 1 : 2;
    }
    if (n)
        qsort(keys, n, sizeof *keys, by_key);
    for (size_t i = 0; i < n; i++)
        r->cores += i == 0 || keys[i] != keys[i - 1];
    r->tasks = r->workflow->ntasks;
    for (uint32_t t = 0; t < r->tasks; t++) {
        r->ran += state[t] == 1;
        r->failed += state[t] == 2;
        r->skipped += state[t] == 0;
    }
    r->outcome = r->failed ? RECORD_FAILED : RECORD_DONE;
    free(keys);
    free(state);
}

bool trace_record_read(const char *path, struct workflow *w, struct run_record *out,
                       struct error *err)
{
    const char *base = file_basename(path);
    size_t stem = strcspn(base, ".");
    *out = (struct run_record){.name = mem_copy_bytes(base, stem ? stem : strlen(base)),
                               .file = mem_copy_string(path),
                               .speed = 1,
                               .memory = INFINITY,
                               .predicted_seconds = NAN,
                               .predicted_memory = NAN,
                               .predicted_disk = NAN,
                               .peak_memory = NAN,
                               .peak_disk = NAN,
                               .workflow = w};
    struct trace_reading r = {.out = out, .b = w ? NULL : builder_new(path, "trace")};
    struct text text;
    bool good = false;
    if (file_read(path, &text, err)) {
        if (json_parse(&r.j, path, text.at, text.n, err)) {
            good = read_events(&r, err);
            json_free(&r.j);
        }
        text_free(&text);
    }
    if (good && r.b) {
        out->workflow = builder_finish(r.b, err);
        good = out->workflow != NULL;
    } else {
        builder_free(r.b);
    }
    if (good && w && w->name) {
        free(out->name);
        out->name = mem_copy_string(workflow_text(w, w->name));
    }
    if (good)
        trace_complete_record(out);
    else
        record_free(out);
    return good;
}
