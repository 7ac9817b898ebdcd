/* The forecast: the scheduler's rule in virtual time, with every task as long and as large as it is
 * expected to be. Needs a workflow without cycles; O(n log n) in tasks, O(n) in edges. */
#include "session/run_forecast.h"

#include "base/compare.h"
#include "base/heap.h"
#include "base/mem.h"
#include "model/growth.h"

#include <math.h>
#include <stdlib.h>

/* The run in virtual time. Both heaps hold task numbers: ready ones by falling priority (the key is
 * its negative), running ones by when they end. */
struct forecast_state {
    const struct run_forecast_request *q;
    struct heap ready, running;
    uint32_t *left;    /* parents that have not ended, per task */
    uint32_t *readers; /* consumers that have not ended, per object */
    double *size;      /* bytes, per object */
    uint32_t cores;
    double memory, used, live;
    struct run_forecast out;
};

/* A task whose result is there passes through in no time and takes nothing. */
static bool forecast_task_runs(const struct run_forecast_request *q, uint32_t task)
{
    return !q->needs || need_runs(q->needs, task);
}

/* Intermediate files come (positive) and go; the peak is what is wanted. */
static void forecast_take_disk(struct forecast_state *s, double bytes)
{
    s->live += bytes;
    s->out.disk = s->live > s->out.disk ? s->live : s->out.disk;
}

static double known_or_none(double value)
{
    return isnan(value) ? 0 : value;
}

/* As found on disk where it is there, else as stated, else its share of what its task is expected to
 * write. What nobody knows is counted, and has no size. */
static void forecast_find_sizes(struct forecast_state *s)
{
    const struct workflow *w = s->q->workflow;
    const struct needs *needs = s->q->needs;
    s->size = mem_new(double, (size_t)w->nobjects + 1);
    for (uint32_t o = 0; o < w->nobjects; o++)
        s->size[o] = needs && needs->present[o] ? needs->bytes[o] : w->size[o];
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool unknown = false;
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++) {
            if (s->size[o] > 0 || (needs && needs->present[o]) || !workflow_is_intermediate(w, o))
                continue;
            double share =
                s->q->written ? s->q->written[t] / (w->object_end[t] - w->object_off[t]) : NAN;
            unknown = unknown || isnan(share);
            s->size[o] = known_or_none(share);
        }
        s->out.no_size += unknown && forecast_task_runs(s->q, t);
    }
}

static void forecast_count_unknown(struct forecast_state *s)
{
    const struct run_forecast_request *q = s->q;
    for (uint32_t t = 0; t < q->workflow->ntasks; t++) {
        bool runs = forecast_task_runs(q, t);
        s->out.no_time += runs && isnan(q->seconds[t]);
        s->out.no_memory += runs && isnan(q->memory[t]);
    }
}

/* A task that wants more cores than there are gets all: the scheduler does the same. */
static void forecast_task_begins(struct forecast_state *s, uint32_t task, double now)
{
    const struct workflow *w = s->q->workflow;
    double seconds = 0;
    if (forecast_task_runs(s->q, task)) {
        uint32_t cores = w->cores[task] < s->q->cores ? w->cores[task] : s->q->cores;
        seconds = known_or_none(s->q->seconds[task]);
        s->cores -= cores;
        s->used += known_or_none(s->q->memory[task]);
        s->out.memory = s->used > s->out.memory ? s->used : s->out.memory;
    }
    heap_push(&s->running, now + seconds, task);
}

static void forecast_task_ends(struct forecast_state *s, uint32_t task)
{
    const struct workflow *w = s->q->workflow;
    if (forecast_task_runs(s->q, task)) {
        s->cores += w->cores[task] < s->q->cores ? w->cores[task] : s->q->cores;
        s->used -= known_or_none(s->q->memory[task]);
        /* its outputs appear, and temporary inputs that nobody reads any more go */
        for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
            if (workflow_is_intermediate(w, o))
                forecast_take_disk(s, s->size[o]);
        for (uint32_t i = w->in_off ? w->in_off[task] : 0; w->in_off && i < w->in_off[task + 1];
             i++) {
            uint32_t o = w->in_object[i];
            if (--s->readers[o] == 0 && workflow_is_temporary(w, o))
                forecast_take_disk(s, -s->size[o]);
        }
    }
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        if (--s->left[w->succ_task[e]] == 0)
            heap_push(&s->ready, -s->q->priority[w->succ_task[e]], w->succ_task[e]);
    const struct later_edge *later;
    growth_each_later(w, task, later) if (--s->left[later->task] == 0)
        heap_push(&s->ready, -s->q->priority[later->task], later->task);
}

/* Does it fit beside what runs? A machine that is idle takes anything, or nothing would go on. */
static bool forecast_task_fits(const struct forecast_state *s, uint32_t task)
{
    const struct workflow *w = s->q->workflow;
    uint32_t cores = w->cores[task] < s->q->cores ? w->cores[task] : s->q->cores;
    return !forecast_task_runs(s->q, task) || s->cores == s->q->cores ||
           (cores <= s->cores && s->used + known_or_none(s->q->memory[task]) <= s->q->total_memory);
}

struct run_forecast run_forecast(const struct run_forecast_request *q)
{
    const struct workflow *w = q->workflow;
    struct forecast_state s = {.q = q, .cores = q->cores};
    s.left = mem_new(uint32_t, (size_t)w->ntasks + 1);
    s.readers = mem_new_zero(uint32_t, (size_t)w->nobjects + 1);
    forecast_find_sizes(&s);
    forecast_count_unknown(&s);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        s.left[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!s.left[t])
            heap_push(&s.ready, -q->priority[t], t);
        if (forecast_task_runs(q, t))
            for (uint32_t i = w->in_off ? w->in_off[t] : 0; w->in_off && i < w->in_off[t + 1]; i++)
                s.readers[w->in_object[i]]++;
    }
    /* what lies there already counts from the beginning */
    for (uint32_t o = 0; q->needs && o < w->nobjects; o++)
        if (q->needs->present[o] && workflow_is_intermediate(w, o))
            forecast_take_disk(&s, q->needs->bytes[o]);
    /* The first of the ready tasks starts as soon as it fits and none overtakes it: what runs must
     * end first. So `running` cannot be empty while `ready` is not. */
    double now = 0;
    while (s.ready.n || s.running.n) {
        while (s.ready.n && forecast_task_fits(&s, (uint32_t)heap_peek(&s.ready)->value))
            forecast_task_begins(&s, (uint32_t)heap_pop(&s.ready).value, now);
        struct heap_item next = heap_pop(&s.running);
        now = next.key;
        forecast_task_ends(&s, (uint32_t)next.value);
    }
    s.out.seconds = now;
    heap_free(&s.ready);
    heap_free(&s.running);
    free(s.left);
    free(s.readers);
    free(s.size);
    return s.out;
}

double *run_forecast_guesses(const double *seconds, uint32_t n)
{
    uint32_t known = 0;
    double *guess = mem_new(double, (size_t)n + 1), *sorted = mem_new(double, (size_t)n + 1);
    for (uint32_t t = 0; t < n; t++)
        if (seconds[t] > 0)
            sorted[known++] = seconds[t];
    if (known)
        qsort(sorted, known, sizeof *sorted, compare_doubles);
    for (uint32_t t = 0; t < n; t++)
        guess[t] = !isnan(seconds[t]) ? seconds[t] : known ? sorted[known / 2] : 1;
    free(sorted);
    return guess;
}
