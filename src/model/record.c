/* One run as it is remembered, and the chain of attempts that made it as long as it was. Owned by
 * whoever reads it from the history or collects it from a trace. */
#include "model/record.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void record_free(struct run_record *r)
{
    free(r->name);
    free(r->file);
    free(r->folder);
    free(r->host);
    free(r->planner);
    free(r->given);
    free(r->place);
    free(r->version);
    free(r->system);
    workflow_free(r->workflow);
    free(r->predicted);
    array_free(&r->events);
    for (size_t i = 0; i < r->files.n; i++)
        free(r->files.at[i].path);
    array_free(&r->files);
    for (size_t i = 0; i < r->facts.n; i++) {
        free(r->facts.at[i].name);
        free(r->facts.at[i].value);
    }
    array_free(&r->facts);
    for (size_t i = 0; i < r->failures.n; i++) {
        struct record_failure *f = &r->failures.at[i];
        char *const texts[] = {f->reason, f->command, f->hint, f->log, f->tail};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    array_free(&r->failures);
    for (size_t i = 0; i < r->constraints.n; i++)
        free(r->constraints.at[i].text);
    array_free(&r->constraints);
    *r = (struct run_record){0};
}

const char *fact_sort_name(enum fact_sort sort)
{
    static const char *const names[FACT_SORTS] = {"parameter", "label", "value",
                                                  "tag",       "note",  "name"};
    return sort < FACT_SORTS ? names[sort] : "fact";
}

const char *record_outcome_name(enum record_outcome outcome)
{
    static const char *const names[] = {"running", "done", "failed", "cancelled", "lost"};
    return outcome <= RECORD_LOST ? names[outcome] : "unknown";
}

const char *trace_outcome_name(int outcome)
{
    static const char *const names[] = {"done",   "failed",    "killed",      "timeout",
                                        "memory", "cancelled", "not-started", "node-failed"};
    return outcome >= 0 && outcome <= TRACE_NODE_FAILED ? names[outcome] : "failed";
}

const char *trace_trouble_text(int trouble)
{
    static const char *const texts[TROUBLES] = {
        [TROUBLE_NONE] = "nobody knows why",
        [TROUBLE_DISK] = "no space left on a disk",
        [TROUBLE_IO] = "reading or writing a disk fails",
        [TROUBLE_PROCESSES] = "no process can be started",
        [TROUBLE_MEMORY] = "the machine is out of memory",
        [TROUBLE_SHELL] = "a shell or interpreter is missing",
    };
    return texts[trouble > 0 && trouble < TROUBLES ? trouble : TROUBLE_NONE];
}

/* qsort_r's order of event numbers by the end of the event. */
static int by_finish(const void *a, const void *b, void *context)
{
    const struct trace_event *at = context;
    const struct trace_event *x = &at[*(const uint32_t *)a], *y = &at[*(const uint32_t *)b];
    return (x->finish > y->finish) - (x->finish < y->finish);
}

/* The last attempt of each task is what its consumers waited for; the lane's attempt before (of any
 * task) is what it may have waited for itself. One pass over the attempts in order of their end. */
uint32_t record_critical_path(const struct run_record *r, uint32_t *out)
{
    const struct workflow *w = r->workflow;
    uint32_t *order = mem_new(uint32_t, r->events.n + 1), n = 0;
    for (uint32_t i = 0; i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_TASK && r->events.at[i].outcome == TRACE_DONE &&
            (!w || r->events.at[i].id < w->ntasks))
            order[n++] = i;
    if (!n) {
        free(order);
        return 0;
    }
    qsort_r(order, n, sizeof *order, by_finish, r->events.at);
    uint32_t lanes = 0, nodes = 0, tasks = w ? w->ntasks : 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct trace_event *e = &r->events.at[order[k]];
        lanes = e->lane + 1 > lanes && e->lane < 65536 ? e->lane + 1 : lanes;
        nodes = e->node + 1 > nodes && e->node < 65536 ? e->node + 1 : nodes;
        tasks = e->id + 1 > tasks ? e->id + 1 : tasks;
    }
    /* lanes come from files; 16 million cores bound the memory */
    if ((uint64_t)lanes * nodes > 1 << 24) /* no such machine: go by inputs alone */
        lanes = nodes = 0;
    uint32_t *attempt = mem_new(uint32_t, tasks + 1), *lane = mem_new(uint32_t, lanes * nodes + 1);
    uint32_t *before = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < tasks; t++)
        attempt[t] = NONE;
    for (uint32_t l = 0; l < lanes * nodes; l++)
        lane[l] = NONE;
    for (uint32_t k = 0; k < n; k++) {
        const struct trace_event *e = &r->events.at[order[k]];
        bool placed = e->lane < lanes && e->node < nodes;
        uint32_t core = placed ? e->node * lanes + e->lane : 0;
        before[k] = placed ? lane[core] : NONE;
        if (before[k] != NONE && r->events.at[order[before[k]]].finish > e->start)
            before[k] = NONE; /* shared the lane: did not wait for it */
        if (w)
            for (uint32_t i = w->pred_off[e->id]; i < w->pred_off[e->id + 1]; i++) {
                uint32_t p = attempt[w->pred_task[i]];
                if (p != NONE && (before[k] == NONE || p >= before[k]))
                    before[k] = p;
            }
        attempt[e->id] = k;
        if (placed)
            lane[core] = k;
    }
    /* from the last end backwards along what each waited for, then turned round */
    uint32_t count = 0;
    for (uint32_t k = n - 1; k != NONE && count < tasks; k = before[k])
        out[count++] = r->events.at[order[k]].id;
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t t = out[i];
        out[i] = out[count - 1 - i];
        out[count - 1 - i] = t;
    }
    free(order);
    free(attempt);
    free(lane);
    free(before);
    return count;
}

enum { LOG_NAME = 180 }; /* bytes of a task's name in its log's: a file's name holds 255 */

/* What a folder cannot hold becomes '_'. */
void record_log_name(const char *task_name, uint32_t task, uint32_t attempt, struct strbuf *out)
{
    for (size_t i = 0; task_name[i] && i < LOG_NAME; i++)
        strbuf_add_char(
            out, task_name[i] == '/' || (unsigned char)task_name[i] < 32 ? '_' : task_name[i]);
    if (strlen(task_name) > LOG_NAME || strchr(task_name, '/'))
        strbuf_printf(out, "-%u", task); /* two names may have become one */
    if (attempt > 1)
        strbuf_printf(out, ".%u", attempt);
    strbuf_add(out, ".log");
}
