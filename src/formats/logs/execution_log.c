/* Execution logs of other systems: which it is, and attempts turned into the record of a run.
 *
 *     file ─ sniffed ─▶ its reader ─▶ attempts (name, kind, node, times, memory, bytes, outcome)
 *                                         │
 *                                         ▼  tasks by name, nodes by name, lanes as they were free
 *                                     run_record, as a run of ours leaves it ─▶ history
 *
 * A reader says only what its log says: what is not stated is NAN and stays unknown in the history. */
#include "formats/logs/execution_log.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "formats/registry.h"
#include "formats/wfformat/wfformat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void execution_log_free(struct execution_log *log)
{
    for (size_t i = 0; i < log->attempts.n; i++) {
        free(log->attempts.at[i].name);
        free(log->attempts.at[i].kind);
        free(log->attempts.at[i].node);
    }
    array_free(&log->attempts);
}

/* ---- the record ---- */

static int by_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1)
                                : (x->id > y->id) - (x->id < y->id);
}

/* No log says on which core: the first that is free, so that pictures show what ran at once. O(attempts x
 * cores of a node that were used at once). */
static uint32_t give_lanes(struct run_record *r)
{
    ARRAY(double) free_at = {0}; /* of all lanes of all nodes */
    ARRAY(uint32_t) node_of = {0};
    ARRAY(uint32_t) lane_of = {0};
    for (size_t i = 0; i < r->events.n; i++) {
        struct trace_event *e = &r->events.at[i];
        uint32_t lane = 0;
        size_t k = 0;
        for (; k < free_at.n; k++) {
            if (node_of.at[k] != e->node)
                continue;
            if (free_at.at[k] <= e->start)
                break;
            lane++;
        }
        if (k == free_at.n) {
            array_push(&free_at, 0);
            array_push(&node_of, e->node);
            array_push(&lane_of, lane);
        }
        free_at.at[k] = e->finish;
        e->lane = lane_of.at[k];
    }
    uint32_t lanes = (uint32_t)free_at.n;
    array_free(&free_at);
    array_free(&node_of);
    array_free(&lane_of);
    return lanes;
}

/* The last attempt of a task counts for the totals. */
static void count_tasks(struct run_record *r)
{
    uint32_t n = r->workflow->ntasks;
    int *last = mem_new(int, n + 1);
    for (uint32_t t = 0; t < n; t++)
        last[t] = -1;
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        last[e->id] = e->outcome;
        r->seconds = fmax(r->seconds, e->finish);
        r->peak_memory = isnan(r->peak_memory) ? e->memory : fmax(r->peak_memory, e->memory);
    }
    for (uint32_t t = 0; t < n; t++) {
        r->ran += last[t] == TRACE_DONE;
        r->failed += last[t] >= 0 && last[t] != TRACE_DONE;
        r->skipped += last[t] < 0;
    }
    free(last);
    r->tasks = n;
    r->outcome = r->failed ? RECORD_FAILED : RECORD_DONE;
}

/* Events have absolute starts yet. */
static bool finish_record(const struct format_source *source, const char *system,
                          struct run_record *r, struct error *err)
{
    double first = INFINITY;
    for (size_t i = 0; i < r->events.n; i++)
        first = fmin(first, r->events.at[i].start);
    if (!r->events.n || !isfinite(first))
        return error_at(err, source->path, 0, "it records no task that ran, with its time");
    for (size_t i = 0; i < r->events.n; i++) {
        r->events.at[i].start -= first;
        r->events.at[i].finish -= first;
    }
    qsort(r->events.at, r->events.n, sizeof *r->events.at, by_start);
    r->started = first;
    r->seconds = 0;
    r->speed = 1;
    r->predicted_seconds = r->predicted_memory = r->predicted_disk = NAN;
    r->peak_memory = r->peak_disk = NAN;
    r->cores = give_lanes(r);
    count_tasks(r);
    const char *name = workflow_text(r->workflow, r->workflow->name);
    const char *base = file_basename(source->path);
    r->name = *name ? mem_copy_string(name) : mem_copy_bytes(base, file_stem_length(base));
    if (!r->host)
        r->host = mem_copy_string("unknown");
    r->file = mem_copy_string(source->path);
    r->folder = mem_copy_string("");
    r->planner = mem_copy_string(system);
    return true;
}

/* Node numbers by name; the host is the first one's, as there is one a run. */
static uint32_t node_number(struct intern *nodes, struct run_record *r, const char *name)
{
    if (!name)
        return 0;
    if (!r->host)
        r->host = mem_copy_string(name);
    return intern_number(nodes, name, strlen(name));
}

/* ---- logs without a graph ---- */

/* How often a task was tried, and whether that ended well. */
struct logged_task {
    int tries;
    bool done;
    uint32_t twins, newest; /* tasks of the same name, this one counted; the last of them */
};
typedef ARRAY(struct logged_task) logged_tasks;

static uint32_t logged_task_new(struct builder *b, logged_tasks *tasks, const char *name, size_t n,
                                const char *kind)
{
    uint32_t task = builder_task(b, name, n, 0);
    if (task != NONE) {
        builder_kind(b, task, kind, strlen(kind));
        array_push(tasks, (struct logged_task){.twins = 1, .newest = task});
    }
    return task;
}

/* The task of an attempt, new or known; NONE: an error of the builder's. One that was tried twice stands
 * twice under one name; where names are no ids (Nextflow's tags), one that is through already is another. */
static uint32_t task_of_attempt(struct builder *b, logged_tasks *tasks,
                                const struct logged_attempt *a, bool ids)
{
    uint32_t first = builder_find_task(b, a->name, strlen(a->name)), task;
    if (first == NONE)
        return logged_task_new(b, tasks, a->name, strlen(a->name), a->kind);
    if (ids || !tasks->at[tasks->at[first].newest].done)
        return tasks->at[first].newest;
    struct strbuf name = {0};
    do {
        strbuf_clear(&name);
        strbuf_printf(&name, "%s #%u", a->name, ++tasks->at[first].twins);
    } while (builder_find_task(b, name.at, name.n) != NONE);
    task = logged_task_new(b, tasks, name.at, name.n, a->kind);
    if (task != NONE)
        tasks->at[first].newest = task;
    strbuf_free(&name);
    return task;
}

/* Attempts of which no time is known cannot be told from what did not run: both are counted. */
static bool record_of_log(const struct format_source *source, struct execution_log *log,
                          struct run_record *r, struct error *err)
{
    struct builder *b = builder_new(source->path, "log");
    struct intern nodes;
    logged_tasks tasks = {0};
    intern_init(&nodes);
    for (size_t i = 0; i < log->attempts.n; i++) {
        const struct logged_attempt *a = &log->attempts.at[i];
        if (isnan(a->start) || !(a->seconds >= 0)) {
            log->left_out++;
            continue;
        }
        uint32_t task = task_of_attempt(b, &tasks, a, log->ids);
        if (task == NONE)
            break;
        tasks.at[task].done = a->outcome == TRACE_DONE;
        array_push(&r->events, (struct trace_event){.kind = TRACE_TASK,
                                                    .id = task,
                                                    .node = node_number(&nodes, r, a->node),
                                                    .other = NONE,
                                                    .start = a->start,
                                                    .finish = a->start + a->seconds,
                                                    .outcome = a->outcome,
                                                    .status = a->status,
                                                    .attempt = ++tasks.at[task].tries,
                                                    .cpu = isnan(a->cpu) ? 0 : a->cpu,
                                                    .memory = a->memory,
                                                    .read = a->read,
                                                    .written = a->written});
    }
    array_free(&tasks);
    intern_free(&nodes);
    r->workflow = builder_finish(b, err);
    return r->workflow != NULL;
}

/* ---- WfFormat ---- */

/* Bytes of the files, where the entry states none. */
static double files_read(const struct workflow *w, uint32_t t)
{
    double bytes = 0;
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        bytes += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
    for (uint32_t i = w->input_off ? w->input_off[t] : 0; w->input_off && i < w->input_off[t + 1];
         i++)
        bytes += w->size[w->input_object[i]];
    return bytes;
}

static double files_written(const struct workflow *w, uint32_t t)
{
    double bytes = 0;
    for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
        bytes += w->size[w->out_object ? w->out_object[o] : o];
    return bytes;
}

/* Where no start is stated, a task starts when the last of its parents is through. */
static void wfformat_events(const struct workflow *w, const struct platform *p,
                            const struct wfformat_execution *x, struct run_record *r)
{
    double *finish = mem_new_zero(double, (size_t)w->ntasks + 1);
    double base = isfinite(x->first) ? x->first : 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i], node = x->machine_of_task[t];
        double start = x->start[t];
        for (uint32_t e = w->pred_off[t]; isnan(x->start[t]) && e < w->pred_off[t + 1]; e++)
            start = fmax(start, finish[w->pred_task[e]]);
        start = isnan(start) ? 0 : start;
        finish[t] = start + (x->runtime[t] >= 0 ? x->runtime[t] : 0);
        if (!(x->runtime[t] >= 0))
            continue;
        if (node != NONE && !r->host)
            r->host = mem_copy_string(platform_node_name(p, node));
        array_push(&r->events,
                   (struct trace_event){.kind = TRACE_TASK,
                                        .id = t,
                                        .node = node == NONE ? 0 : node,
                                        .other = NONE,
                                        .start = base + start,
                                        .finish = base + finish[t],
                                        .attempt = 1,
                                        .cpu = x->cpu[t] >= 0 ? x->cpu[t] : 0,
                                        .memory = w->memory[t],
                                        .read = x->read[t] >= 0 ? x->read[t] : files_read(w, t),
                                        .written = x->written[t] >= 0 ? x->written[t]
                                                                      : files_written(w, t)});
    }
    free(finish);
}

/* The format's own readers, each on a text of its own. A task without a runtime is left out. */
static bool record_of_wfformat(const struct format_source *source, struct run_record *r,
                               size_t *left_out, struct error *err)
{
    char *copies[2]; /* readers change the text */
    struct format_source own[2] = {*source, *source};
    for (int i = 0; i < 2; i++)
        own[i].text = copies[i] = mem_copy_bytes(source->text, source->length);
    struct wfformat_execution x = {0};
    struct platform *p = wfformat_read_platform(&own[0], NULL);
    if (!p) { /* no machines are stated: it is still an execution */
        struct platform_builder *b = platform_builder_new(source->path);
        platform_builder_node(b, "recorded", 8, 0);
        p = platform_builder_finish(b, err);
    }
    r->workflow = p ? wfformat_read_workflow(&own[1], err) : NULL;
    bool good = r->workflow && wfformat_read_execution(source, r->workflow, p, &x, err);
    if (good)
        wfformat_events(r->workflow, p, &x, r);
    *left_out = good ? r->workflow->ntasks - r->events.n : 0;
    wfformat_execution_free(&x);
    platform_free(p);
    for (int i = 0; i < 2; i++)
        free(copies[i]);
    return good;
}

/* ---- which it is ---- */

bool execution_log_read(const struct format_source *source, struct run_record *out,
                        size_t *left_out, struct error *err)
{
    struct execution_log log = {0};
    const char *system = NULL;
    bool good = format_require_utf8(source, err);
    *out = (struct run_record){0};
    *left_out = 0;
    if (good && nextflow_sniff(source->text, source->length)) {
        system = "nextflow";
        good = nextflow_read(source, &log, err) && record_of_log(source, &log, out, err);
    } else if (good && sacct_sniff(source->text, source->length)) {
        system = "slurm";
        good = sacct_read(source, &log, err) && record_of_log(source, &log, out, err);
    } else if (good && format_wfformat.sniff(source->path, source->text, source->length)) {
        system = "wfformat";
        good = record_of_wfformat(source, out, &log.left_out, err);
    } else if (good) {
        good =
            error_at(err, source->path, 0,
                     "no execution log that is known: a WfFormat file with an execution, a trace "
                     "of Nextflow (trace.txt), or what `sacct -P` prints");
    }
    *left_out = log.left_out;
    execution_log_free(&log);
    good = good && finish_record(source, system, out, err);
    if (!good)
        record_free(out);
    return good;
}
