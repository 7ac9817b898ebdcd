/* WfFormat 1.6, written: a workflow, or a run with what happened. What its schema has no place for goes
 * into members called "weft" (wfformat_own.c), so that reading gives the same workflow back. */
#include "base/instant.h"
#include "base/mem.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "formats/wfformat/wfformat.h"
#include "model/command.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A document being written. `scratch` holds one made-up text at a time. */
struct wfformat_writer {
    const struct workflow *w;
    struct json_writer j;
    uint32_t *mark; /* per task: last task + 1 whose list has it */
    struct strbuf scratch, expanded;
    const struct run_record *run; /* what happened; NULL: nothing did */
    uint32_t *last;               /* of a run, per task: its event that ended well; NONE: none */
    bool several;                 /* it has machines beside the first */
};

/* Anonymous objects are named by their ends; valid until the next call. */
static const char *object_id(struct wfformat_writer *s, uint32_t object)
{
    const struct workflow *w = s->w;
    if (w->object_name[object])
        return workflow_text(w, w->object_name[object]);
    uint32_t n;
    const uint32_t *consumer = workflow_consumers(w, object, &n);
    strbuf_clear(&s->scratch);
    strbuf_printf(&s->scratch, "%s--%s", workflow_task_name(w, w->producer[object]),
                  n ? workflow_task_name(w, consumer[0]) : "");
    return s->scratch.at;
}

/* Can the line be split at its blanks and joined again by the reader without a change? */
static bool is_plain_line(const char *command)
{
    char before = ' ';
    for (const char *p = command; *p; p++) {
        if (*p == ' ' ? before == ' '
                      : !isalnum((unsigned char)*p) && !strchr("_-./=:,+@%^", *p) &&
                            (unsigned char)*p < 0x80)
            return false;
        before = *p;
    }
    return before != ' ';
}

/* Split into program and arguments where joining gives the line back; else the whole line is the
 * program, which the reader takes as it stands. */
static void write_command(struct wfformat_writer *s, const char *command)
{
    json_write_key(&s->j, "command");
    json_write_object_inline(&s->j);
    bool split = is_plain_line(command);
    size_t n = split ? strcspn(command, " ") : strlen(command);
    strbuf_clear(&s->scratch);
    strbuf_add_bytes(&s->scratch, command, n);
    json_put_string(&s->j, "program", s->scratch.at);
    json_write_key(&s->j, "arguments");
    json_write_array_inline(&s->j);
    while (command[n]) {
        command += n + 1;
        n = strcspn(command, " ");
        strbuf_clear(&s->scratch);
        strbuf_add_bytes(&s->scratch, command, n);
        json_write_string(&s->j, s->scratch.at);
    }
    json_write_end_array(&s->j);
    json_write_end_object(&s->j);
}

/* Calls of functions are no programs: they go into "weft". */
static bool wfformat_has_command(const struct workflow *w, uint32_t task)
{
    return w->command && w->command[task] && !(w->flags[task] & TASK_CALL);
}

/* With everything filled in, since other programs know no {in}; the template goes into "weft". Valid
 * until the next call. */
static const char *wfformat_command_of(struct wfformat_writer *s, uint32_t task)
{
    strbuf_clear(&s->expanded);
    if (wfformat_has_command(s->w, task))
        command_expand(s->w, task, &s->expanded, NULL);
    return strbuf_text(&s->expanded);
}

/* Would the reader find this kind by itself? */
static bool kind_is_derived(struct wfformat_writer *s, uint32_t task)
{
    const struct workflow *w = s->w;
    const char *name = workflow_task_name(w, task), *command = wfformat_command_of(s, task);
    const char *kind = workflow_text(w, w->kind[task]);
    size_t program = is_plain_line(command) ? strcspn(command, " ") : strlen(command), n;
    const char *derived = wfformat_kind(name, strlen(name), command, program, &n);
    return strlen(kind) == n && memcmp(kind, derived, n) == 0;
}

/* Each neighbour once, however many objects join the two; `mark` is different for every list. */
static void write_neighbours(struct wfformat_writer *s, const char *key, const uint32_t *tasks,
                             uint32_t from, uint32_t to, uint32_t mark)
{
    json_write_key(&s->j, key);
    json_write_array_inline(&s->j);
    for (uint32_t e = from; e < to; e++) {
        if (s->mark[tasks[e]] == mark)
            continue;
        s->mark[tasks[e]] = mark;
        json_write_string(&s->j, workflow_task_name(s->w, tasks[e]));
    }
    json_write_end_array(&s->j);
}

/* Does the task need an entry in the execution? Of a run those that ran and ended well: the schema has no
 * word for failures. */
static bool has_record(const struct wfformat_writer *s, uint32_t t)
{
    const struct workflow *w = s->w;
    if (s->run)
        return s->last[t] != NONE;
    return w->work[t] != 0 || (w->flags[t] & TASK_HAS_WORK) || w->memory[t] > 0 ||
           w->cores[t] != 1 || wfformat_has_command(w, t) || (w->priority && w->priority[t] != 0);
}

/* Where commands use {in}, in their order; else by producer, the workflow's inputs last. */
static void write_inputs(struct wfformat_writer *s, uint32_t t)
{
    const struct workflow *w = s->w;
    if (w->in_off) {
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            json_write_string(&s->j, object_id(s, w->in_object[i]));
        return;
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE)
            json_write_string(&s->j, object_id(s, w->pred_object[e]));
    for (uint32_t i = w->input_off ? w->input_off[t] : 0; w->input_off && i < w->input_off[t + 1];
         i++)
        json_write_string(&s->j, object_id(s, w->input_object[i]));
}

/* What the specification says of a task. */
static void wfformat_write_task(struct wfformat_writer *s, uint32_t t)
{
    const struct workflow *w = s->w;
    const char *name = workflow_task_name(w, t);
    json_write_object(&s->j);
    json_put_string(&s->j, "name", name);
    json_put_string(&s->j, "id", name);
    if (!kind_is_derived(s, t))
        json_put_string(&s->j, "category", workflow_text(w, w->kind[t]));
    write_neighbours(s, "parents", w->pred_task, w->pred_off[t], w->pred_off[t + 1], 2 * t + 1);
    write_neighbours(s, "children", w->succ_task, w->succ_off[t], w->succ_off[t + 1], 2 * t + 2);
    json_write_key(&s->j, "inputFiles");
    json_write_array_inline(&s->j);
    write_inputs(s, t);
    json_write_end_array(&s->j);
    json_write_key(&s->j, "outputFiles");
    json_write_array_inline(&s->j);
    for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
        json_write_string(&s->j, object_id(s, w->out_object ? w->out_object[o] : o));
    json_write_end_array(&s->j);
    wfformat_own_write(&s->j, w, t, has_record(s, t));
    json_write_end_object(&s->j);
}

/* The schema wants a makespan and a date of the execution. A workflow has neither: the sum of the
 * runtimes (one after the other) and the beginning of time stand in. */
static void write_execution(struct wfformat_writer *s)
{
    const struct workflow *w = s->w;
    bool any = false;
    double total = 0, recorded = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        any |= has_record(s, t);
        total += w->work[t];
        recorded += has_record(s, t) ? w->work[t] : 0;
    }
    if (!any)
        return;
    json_write_key(&s->j, "execution");
    json_write_object(&s->j);
    json_put_number(&s->j, "makespanInSeconds", isfinite(total) ? total : 0);
    json_put_string(&s->j, "executedAt", "1970-01-01T00:00:00+00:00");
    json_write_key(&s->j, "tasks");
    json_write_array(&s->j);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!has_record(s, t))
            continue;
        json_write_object_inline(&s->j);
        json_put_string(&s->j, "id", workflow_task_name(w, t));
        json_put_number(&s->j, "runtimeInSeconds", w->work[t]);
        if (wfformat_has_command(w, t))
            write_command(s, wfformat_command_of(s, t));
        if (w->cores[t] != 1)
            json_put_integer(&s->j, "coreCount", w->cores[t]);
        if (w->memory[t] > 0)
            json_put_number(&s->j, "memoryInBytes", w->memory[t]);
        if (w->priority && w->priority[t] != 0)
            json_put_number(&s->j, "priority", w->priority[t]);
        json_write_end_object(&s->j);
    }
    json_write_end_array(&s->j);
    if (isfinite(recorded)) {
        json_write_key(&s->j, "metrics");
        json_write_object_inline(&s->j);
        json_put_number(&s->j, "sumTaskRuntimesInSeconds", recorded);
        json_write_end_object(&s->j);
    }
    json_write_end_object(&s->j);
}

/* ---- what happened ---- */

/* Agents have no names on record. */
static const char *machine_of(struct wfformat_writer *s, uint32_t node)
{
    const char *host = s->run->host && *s->run->host ? s->run->host : "localhost";
    if (!s->several)
        return host;
    strbuf_clear(&s->scratch);
    strbuf_printf(&s->scratch, "%s-agent%u", host, node + 1);
    return s->scratch.at;
}

/* One entry of the execution. Share of processor, memory and bytes are left out where nothing was
 * measured: a zero would be a claim. */
static void write_happened(struct wfformat_writer *s, uint32_t t)
{
    const struct workflow *w = s->w;
    const struct trace_event *e = &s->run->events.at[s->last[t]];
    char when[INSTANT_TEXT];
    double took = e->finish - e->start;
    json_write_object_inline(&s->j);
    json_put_string(&s->j, "id", workflow_task_name(w, t));
    json_put_number(&s->j, "runtimeInSeconds", took);
    json_put_string(&s->j, "executedAt", instant_text(s->run->started + e->start, when));
    if (wfformat_has_command(w, t))
        write_command(s, wfformat_command_of(s, t));
    json_put_integer(&s->j, "coreCount", w->cores[t]);
    if (e->cpu > 0 && took > 0)
        json_put_number(&s->j, "avgCPU", 100 * e->cpu / took);
    if (e->memory > 0)
        json_put_number(&s->j, "memoryInBytes", e->memory);
    json_put_number(&s->j, "readBytes", e->read);
    json_put_number(&s->j, "writtenBytes", e->written);
    json_write_key(&s->j, "machines");
    json_write_array_inline(&s->j);
    json_write_string(&s->j, machine_of(s, e->node));
    json_write_end_array(&s->j);
    json_write_end_object(&s->j);
}

/* Each machine that an entry names. Cores and memory are on record of a run on one. */
static void write_machines(struct wfformat_writer *s)
{
    uint32_t most = 0;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        if (s->last[t] != NONE && s->run->events.at[s->last[t]].node + 1 > most)
            most = s->run->events.at[s->last[t]].node + 1;
    json_write_key(&s->j, "machines");
    json_write_array(&s->j);
    for (uint32_t n = 0; n < most; n++) {
        json_write_object_inline(&s->j);
        json_put_string(&s->j, "nodeName", machine_of(s, n));
        if (!s->several && s->run->cores) {
            json_write_key(&s->j, "cpu");
            json_write_object_inline(&s->j);
            json_put_integer(&s->j, "coreCount", s->run->cores);
            json_write_end_object(&s->j);
        }
        if (!s->several && s->run->memory > 0 && isfinite(s->run->memory))
            json_put_number(&s->j, "memoryInBytes", floor(s->run->memory));
        json_write_end_object(&s->j);
    }
    json_write_end_array(&s->j);
}

/* The makespan is the run's own, with what it did beside its tasks; of a run that was lost the end of its
 * last task. */
static void write_run(struct wfformat_writer *s)
{
    const struct run_record *r = s->run;
    char when[INSTANT_TEXT];
    double sum = 0, read = 0, written = 0, end = 0;
    uint32_t n = 0;
    for (uint32_t t = 0; t < s->w->ntasks; t++) {
        if (s->last[t] == NONE)
            continue;
        const struct trace_event *e = &r->events.at[s->last[t]];
        n++;
        sum += e->finish - e->start;
        read += e->read;
        written += e->written;
        end = fmax(end, e->finish);
    }
    if (!n) /* an execution of nothing is not one */
        return;
    json_write_key(&s->j, "execution");
    json_write_object(&s->j);
    json_put_number(&s->j, "makespanInSeconds", isfinite(r->seconds) ? r->seconds : end);
    json_put_string(&s->j, "executedAt", instant_text(r->started, when));
    json_write_key(&s->j, "tasks");
    json_write_array(&s->j);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        if (s->last[t] != NONE)
            write_happened(s, t);
    json_write_end_array(&s->j);
    write_machines(s);
    json_write_key(&s->j, "metrics");
    json_write_object_inline(&s->j);
    json_put_number(&s->j, "sumTaskRuntimesInSeconds", sum);
    json_put_number(&s->j, "totalNumBytesRead", read);
    json_put_number(&s->j, "totalNumBytesWritten", written);
    json_write_end_object(&s->j);
    json_write_end_object(&s->j);
}

/* The last attempt of each task that ended well counts. */
static void wfformat_take_run(struct wfformat_writer *s, const struct run_record *r)
{
    s->run = r;
    s->last = mem_new(uint32_t, (size_t)s->w->ntasks + 1);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        s->last[t] = NONE;
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || e->outcome != TRACE_DONE || e->id >= s->w->ntasks)
            continue;
        s->last[e->id] = (uint32_t)i;
        s->several |= e->node > 0;
    }
}

/* ---- the document ---- */

/* Sizes of a run are as they were; of a workflow as it states them. */
static void write_files(struct wfformat_writer *s)
{
    const struct workflow *w = s->w;
    json_write_key(&s->j, "files");
    json_write_array(&s->j);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        json_write_object_inline(&s->j);
        json_put_string(&s->j, "id", object_id(s, o));
        json_put_number(&s->j, "sizeInBytes", w->size[o]);
        if (workflow_is_temporary(w, o)) {
            json_write_key(&s->j, "weft");
            json_write_object_inline(&s->j);
            json_put_bool(&s->j, "temporary", true);
            json_write_end_object(&s->j);
        }
        json_write_end_object(&s->j);
    }
    json_write_end_array(&s->j);
}

/* The whole document in memory; a million tasks are some hundred megabytes of text. */
static void wfformat_write_document(const struct workflow *w, const struct run_record *r,
                                    struct strbuf *out)
{
    struct wfformat_writer s = {.w = w, .mark = mem_new_zero(uint32_t, (size_t)w->ntasks + 1)};
    if (r)
        wfformat_take_run(&s, r);
    json_write_start(&s.j, out, true);
    json_write_object(&s.j);
    const char *name = workflow_text(w, w->name);
    json_put_string(&s.j, "name", *name ? name : "workflow");
    json_put_string(&s.j, "schemaVersion", "1.6");
    wfformat_own_write_document(&s.j, w);
    json_write_key(&s.j, "workflow");
    json_write_object(&s.j);
    json_write_key(&s.j, "specification");
    json_write_object(&s.j);
    json_write_key(&s.j, "tasks");
    json_write_array(&s.j);
    for (uint32_t t = 0; t < w->ntasks; t++)
        wfformat_write_task(&s, t);
    json_write_end_array(&s.j);
    write_files(&s);
    wfformat_metrics_write(&s.j, w);
    json_write_end_object(&s.j);
    if (r)
        write_run(&s);
    else
        write_execution(&s);
    json_write_end_object(&s.j);
    json_write_end_object(&s.j);
    strbuf_free(&s.scratch);
    strbuf_free(&s.expanded);
    free(s.mark);
    free(s.last);
}

/* Does the schema allow it as the id of a task or file? */
static bool is_schema_id(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') && !(*p >= '0' && *p <= '9') &&
            !strchr("_.#:/-", *p))
            return false;
    return *name != 0;
}

/* They stay as they are, for whoever reads them; a validator would refuse them. */
static void report_ids(const struct workflow *w, struct strbuf *dropped)
{
    size_t tasks = 0, files = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        tasks += !is_schema_id(workflow_task_name(w, t));
    for (uint32_t o = 0; o < w->nobjects; o++)
        files += w->object_name[o] && !is_schema_id(workflow_text(w, w->object_name[o]));
    dropped_count(dropped, tasks,
                  "validity (the schema allows ids of letters, digits and _.#:/- only)", "task");
    dropped_count(dropped, files,
                  "validity (the schema allows ids of letters, digits and _.#:/- only)", "file");
}

bool wfformat_write(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                    struct error *err)
{
    (void)err;
    wfformat_write_document(w, NULL, out);
    dropped_report(w, format_wfformat.carries, dropped);
    if (dropped)
        report_ids(w, dropped);
    return true;
}

void wfformat_write_run(const struct run_record *r, struct strbuf *out)
{
    wfformat_write_document(r->workflow, r, out);
}
