/* Everything that summaries and pages say about a run in numbers, computed once from its record:
 * totals, kinds of tasks, slowest attempts, failures, the critical path. O(events log events).
 *
 * Records come from a database and from files: events that make no sense (times that are not
 * finite, tasks that do not exist) are passed over here and nowhere else. */
#include "report/figures.h"
#include "model/task_kind.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a workflow (an old run whose text was not kept) tasks are numbers. */
const char *figures_task_name(const struct run_figures *f, uint32_t task, char *buffer, size_t size)
{
    const struct workflow *w = f->record->workflow;
    if (w && task < w->ntasks)
        return workflow_task_name(w, task);
    snprintf(buffer, size, "task %u", task);
    return buffer;
}

/* Never more cores than the run had: a task that asks for more was given all of them. */
uint32_t figures_cores(const struct run_figures *f, uint32_t task)
{
    const struct workflow *w = f->record->workflow;
    uint32_t cores = w && task < w->ntasks && w->cores[task] ? w->cores[task] : 1;
    return f->record->cores && cores > f->record->cores ? f->record->cores : cores;
}

/* The prediction is for speed 1; NAN: nothing was predicted for the task. */
double figures_predicted(const struct run_figures *f, uint32_t task)
{
    const struct run_record *r = f->record;
    if (!r->predicted || task >= r->tasks || !r->predicted[task].samples ||
        !(r->predicted[task].seconds >= 0))
        return NAN;
    return r->predicted[task].seconds / (r->speed > 0 ? r->speed : 1);
}

static bool figures_usable(const struct trace_event *e)
{
    return isfinite(e->start) && isfinite(e->finish) && e->finish >= e->start;
}

/* How many tasks there are to speak of. Without a workflow, what the events mention; an id out of
 * all proportion (a damaged record) is not believed. */
static uint32_t count_tasks(const struct run_record *r)
{
    if (r->workflow)
        return r->workflow->ntasks;
    /* 128 million tasks are the most that a workflow may have here */
    uint32_t n = r->tasks <= 128000000 ? r->tasks : 0;
    for (size_t i = 0; i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_TASK && r->events.at[i].id < 128000000 &&
            r->events.at[i].id >= n)
            n = r->events.at[i].id + 1;
    return n;
}

/* The kinds that predictions go by: a run and its predictions are compared kind by kind. */
static void name_kinds(struct run_figures *f)
{
    const struct workflow *w = f->record->workflow;
    f->kind_of = mem_new_zero(uint32_t, f->ntasks + 1);
    if (w) {
        struct task_kinds kinds;
        task_kinds_find(w, &kinds);
        memcpy(f->kind_of, kinds.of,
               (w->ntasks < f->ntasks ? w->ntasks : f->ntasks) * sizeof *kinds.of);
        f->kinds = kinds.names;
        free(kinds.of);
    } else {
        intern_init(&f->kinds);
        intern_number(&f->kinds, "task", 4);
    }
    for (uint32_t k = 0; k < f->kinds.n; k++)
        array_add(&f->kind)->name = k;
}

/* An attempt under a sort: `event` keeps equal ones in the order of the record. */
struct timed {
    double seconds;
    uint32_t kind, event;
};

static int by_kind(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int by_seconds(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int by_total(const void *a, const void *b)
{
    const struct figures_kind *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* Into the totals and into its kind. Only attempts that ended well say anything about a kind's
 * length and about predictions. */
static void add_attempt(struct run_figures *f, const struct trace_event *e)
{
    struct figures_kind *k = &f->kind.at[f->kind_of[e->id]];
    double seconds = e->finish - e->start, expected = figures_predicted(f, e->id);
    f->attempts++;
    f->end = fmax(f->end, e->finish);
    f->busy += seconds * figures_cores(f, e->id);
    f->cpu += e->cpu > 0 ? e->cpu : 0;
    f->read += e->read > 0 ? e->read : 0;
    f->written += e->written > 0 ? e->written : 0;
    /* a lane beyond that is a damaged record, not a core */
    f->lanes = e->lane < 65536 && e->lane + 1 > f->lanes ? e->lane + 1 : f->lanes;
    f->measured_memory = f->measured_memory || e->memory > 0;
    k->total += seconds;
    k->cpu += e->cpu > 0 ? e->cpu : 0;
    k->memory = e->memory > k->memory ? e->memory : k->memory;
    if (e->outcome != TRACE_DONE) {
        k->failed += trace_is_failure(e->outcome);
        return;
    }
    k->ran++;
    k->longest = fmax(k->longest, seconds);
    if (!isnan(expected)) {
        k->predicted++;
        k->expected += expected;
        k->real += seconds;
    }
}

/* Medians of the kinds, and the slowest attempts: two sorts of the attempts. */
static void figures_rank(struct run_figures *f)
{
    const struct run_record *r = f->record;
    struct timed *list = mem_new(struct timed, (size_t)f->attempts + 1);
    uint32_t n = 0, ended = 0;
    /* First pass: totals, and the attempt that decides about each task. */
    for (uint32_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || e->id >= f->ntasks || !figures_usable(e))
            continue;
        list[n++] = (struct timed){e->finish - e->start, f->kind_of[e->id], i};
    }
    if (n)
        qsort(list, n, sizeof *list, by_seconds);
    for (uint32_t i = 0; i < n && i < FIGURES_SLOWEST; i++)
        array_push(&f->slowest, list[i].event);
    for (uint32_t i = 0; i < n; i++)
        if (r->events.at[list[i].event].outcome == TRACE_DONE)
            list[ended++] = list[i];
    if (ended)
        qsort(list, ended, sizeof *list, by_kind);
    /* one stretch of the sorted list a kind: its middle is the median */
    for (uint32_t i = 0, end; i < ended; i = end) {
        for (end = i; end < ended && list[end].kind == list[i].kind; end++)
            ;
        uint32_t half = (end - i) / 2;
        f->kind.at[list[i].kind].median =
            (end - i) % 2 ? list[i + half].seconds
                          : (list[i + half - 1].seconds + list[i + half].seconds) / 2;
    }
    free(list);
}

/* How long the tasks of the path ran, and how long the path stood still between them. */
static void measure_path(struct run_figures *f)
{
    const struct run_record *r = f->record;
    f->path = mem_new(uint32_t, (size_t)f->ntasks + 1);
    /* record_critical_path() sizes by the ids it finds: only believable ones, see count_tasks() */
    for (size_t i = 0; !r->workflow && i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_TASK && r->events.at[i].id >= f->ntasks)
            return;
    f->npath = record_critical_path(r, f->path);
    double start = NAN, finish = NAN;
    for (uint32_t i = 0; i < f->npath; i++) {
        if (f->last[f->path[i]] == NONE)
            continue;
        const struct trace_event *e = &r->events.at[f->last[f->path[i]]];
        start = isnan(start) ? e->start : fmin(start, e->start);
        finish = isnan(finish) ? e->finish : fmax(finish, e->finish);
        f->path_running += e->finish - e->start;
    }
    /* the path begins with the run, so its waiting counts from 0 */
    f->path_waiting = isnan(finish) ? 0 : fmax(finish - f->path_running, 0);
}

/* The record must outlive the figures. */
void figures_of(struct run_figures *f, const struct run_record *r)
{
    *f = (struct run_figures){.record = r, .ntasks = count_tasks(r), .used = NAN, .computed = NAN};
    name_kinds(f);
    f->last = mem_new(uint32_t, (size_t)f->ntasks + 1);
    f->reused = mem_new_zero(uint8_t, (size_t)f->ntasks + 1);
    for (uint32_t t = 0; t < f->ntasks; t++)
        f->last[t] = NONE;
    f->end = r->seconds > 0 && isfinite(r->seconds) ? r->seconds : 0;
    /* Second pass, when the deciding attempts are known: a task that failed first and then ran did
     * not fail. */
    for (uint32_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->id >= f->ntasks)
            continue;
        if (e->kind == TRACE_REUSED)
            f->reused[e->id] = 1;
        if (e->kind != TRACE_TASK || !figures_usable(e))
            continue;
        add_attempt(f, e);
        /* the attempt that ended last decides what became of the task */
        if (f->last[e->id] == NONE || e->finish >= r->events.at[f->last[e->id]].finish)
            f->last[e->id] = i;
    }
    for (uint32_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind == TRACE_TASK && e->id < f->ntasks && f->last[e->id] == i &&
            trace_is_failure(e->outcome))
            array_push(&f->failures, i);
    }
    figures_rank(f);
    measure_path(f);
    uint32_t kinds = 0; /* those of which something ran */
    for (uint32_t k = 0; k < f->kind.n; k++)
        if (f->kind.at[k].ran + f->kind.at[k].failed)
            f->kind.at[kinds++] = f->kind.at[k];
    f->kind.n = kinds;
    if (kinds)
        qsort(f->kind.at, kinds, sizeof *f->kind.at, by_total);
    if (r->cores && f->end > 0) {
        f->used = f->busy / (r->cores * f->end);
        f->computed = f->cpu > 0 ? f->cpu / (r->cores * f->end) : NAN;
    }
}

void figures_free(struct run_figures *f)
{
    intern_free(&f->kinds);
    array_free(&f->kind);
    array_free(&f->slowest);
    array_free(&f->failures);
    free(f->kind_of);
    free(f->last);
    free(f->reused);
    free(f->path);
    *f = (struct run_figures){0};
}
