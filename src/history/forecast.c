/* What the history says about the tasks of a workflow: a fit of time, of memory and of bytes
 * written for every kind, and the bytes that each task will read.
 *
 *   kinds of the workflow ──▶ samples of each kind, newest first ──▶ three fits
 *   sizes of files on disk ─▶ what each task reads ──(in topological order)──▶ what it writes
 *
 * At most FORECAST_SAMPLES rows are read a kind, by index: the cost does not grow with the history.
 */
#include "history/database.h"
#include "history/fit.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct kind_model {
    str_id name;
    uint32_t tasks;
    int64_t row;       /* 0: the history has no such kind */
    struct intern own; /* the own pasts among its samples, by workflow and task */
    struct fit time, memory, written;
};

struct forecast {
    const struct workflow *workflow;
    struct kind_model *kind;
    uint32_t nkinds;
    uint32_t *task_kind;
    uint32_t *task_own; /* number of the task's own past; NONE: none */
    double *read;       /* bytes; NULL: no kind needs it */
    bool knows;
};

/* As `weft predict` shows it. */
const char *forecast_method_name(enum forecast_method method)
{
    static const char *const names[] = {"default", "few",         "median",
                                        "line",    "median, own", "line, own"};
    return method <= FORECAST_LINE_OWN ? names[method] : "unknown";
}

/* ---- samples ---- */

/* The key of a task's own past. */
static uint32_t own_number(struct intern *own, struct strbuf *key, const char *workflow,
                           const char *task, bool add)
{
    strbuf_clear(key);
    strbuf_printf(key, "%s\n%s", workflow, task);
    return add ? intern_number(own, key->at, key->n) : intern_find(own, key->at, key->n);
}

/* One sample a row for each of the three quantities; buffers are used again for every kind. */
struct samples {
    struct fit_sample *time, *memory, *written;
    uint32_t ntime, nmemory, nwritten;
};

/* Seconds are brought to speed 1; below a microsecond nothing is measured. */
static bool read_samples(struct history *h, sqlite3_stmt *s, struct samples *out,
                         struct intern *own, struct error *err)
{
    struct strbuf key = {0};
    int row;
    out->ntime = out->nmemory = out->nwritten = 0;
    while (out->ntime < FORECAST_SAMPLES && (row = database_step(h, s, err)) == 1) {
        double took = sqlite3_column_double(s, 0) * 1e-6, speed = sqlite3_column_double(s, 5);
        const char *flow = (const char *)sqlite3_column_text(s, 4);
        const char *task = (const char *)sqlite3_column_text(s, 6);
        struct fit_sample sample = {
            .x = log1p(fmax(0, sqlite3_column_double(s, 2))),
            .y = log(fmax(1e-6, took) * (speed > 0 ? speed : 1)),
            .group = flow && task ? own_number(own, &key, flow, task, true) : NONE,
        };
        out->time[out->ntime++] = sample;
        double memory = sqlite3_column_double(s, 1), written = sqlite3_column_double(s, 3);
        if (memory > 0) { /* 0: not measured */
            sample.y = log(memory);
            out->memory[out->nmemory++] = sample;
        }
        sample.y = log1p(fmax(0, written));
        out->written[out->nwritten++] = sample;
    }
    strbuf_free(&key);
    return out->ntime == FORECAST_SAMPLES || row == 0;
}

/* Fits of every kind of the workflow that the history knows. */
/* One query, newest first, for every kind that the history knows. */
static bool make_fits(struct history *h, struct forecast *f, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s =
        database_query(h, &guard,
                       "SELECT a.took, a.memory, a.read, a.written, r.name, r.speed, t.name"
                       " FROM attempts a JOIN runs r ON r.id = a.id >> 32"
                       " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + a.task"
                       " WHERE a.kind = ? ORDER BY a.id DESC",
                       err);
    if (!s)
        return false;
    struct samples samples = {mem_new(struct fit_sample, FORECAST_SAMPLES),
                              mem_new(struct fit_sample, FORECAST_SAMPLES),
                              mem_new(struct fit_sample, FORECAST_SAMPLES),
                              0,
                              0,
                              0};
    bool ok = true;
    for (uint32_t k = 0; ok && k < f->nkinds; k++) {
        struct kind_model *m = &f->kind[k];
        if (!m->row)
            continue;
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, m->row);
        intern_init(&m->own);
        ok = read_samples(h, s, &samples, &m->own, err);
        if (!ok || !samples.ntime)
            continue;
        fit_make(&m->time, samples.time, samples.ntime, m->own.n);
        fit_make(&m->memory, samples.memory, samples.nmemory, m->own.n);
        fit_make(&m->written, samples.written, samples.nwritten, m->own.n);
        f->knows = true;
    }
    free(samples.time);
    free(samples.memory);
    free(samples.written);
    database_close_query(s, &guard);
    return ok;
}

/* ---- kinds and tasks ---- */

/* The kinds of the workflow and their rows in the history. Neighbours mostly have the same kind, so
 * one comparison saves most look-ups. */
static bool find_kinds(struct history *h, struct forecast *f, struct error *err)
{
    const struct workflow *w = f->workflow;
    struct intern kinds;
    intern_init(&kinds);
    ARRAY(struct kind_model) models = {0};
    f->task_kind = mem_new(uint32_t, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_text(w, w->kind[t]);
        uint32_t k = t && w->kind[t] == w->kind[t - 1] ? f->task_kind[t - 1]
                                                       : intern_number(&kinds, name, strlen(name));
        if (k == models.n)
            array_push(&models, (struct kind_model){.name = w->kind[t]});
        models.at[k].tasks++;
        f->task_kind[t] = k;
    }
    f->kind = models.at;
    f->nkinds = (uint32_t)models.n;
    /* One pass over the kinds that the history has: a workflow may have a million of its own. */
    sqlite3_stmt *s = database_prepare(h, "SELECT id, name FROM kinds", err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        uint32_t k = name ? intern_find(&kinds, name, strlen(name)) : NONE;
        if (k < f->nkinds)
            f->kind[k].row = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    intern_free(&kinds);
    return row == 0;
}

/* Whether a task of this name in a workflow of this name has run before. */
static void find_own(struct forecast *f, const char *name)
{
    const struct workflow *w = f->workflow;
    struct strbuf key = {0};
    f->task_own = mem_new(uint32_t, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct kind_model *m = &f->kind[f->task_kind[t]];
        f->task_own[t] = name && m->time.samples
                             ? own_number(&m->own, &key, name, workflow_task_name(w, t), false)
                             : NONE;
    }
    strbuf_free(&key);
}

/* ---- sizes ---- */

/* NAN: not there, not a file, or without a name. */
static double size_on_disk(const struct workflow *w, uint32_t object, const char *folder,
                           struct strbuf *path)
{
    if (!w->object_name[object])
        return NAN;
    const char *name = workflow_text(w, w->object_name[object]);
    strbuf_clear(path);
    if (folder && *name != '/')
        strbuf_printf(path, "%s/", folder);
    strbuf_add(path, name);
    struct stat st;
    return stat(strbuf_text(path), &st) == 0 && S_ISREG(st.st_mode) ? (double)st.st_size : NAN;
}

/* Bytes that each task reads: a file that is there counts as it is; else the size that the workflow
 * states; else its share of what its producer is predicted to write, all shares being equal. */
static void find_sizes(struct forecast *f, const char *folder)
{
    const struct workflow *w = f->workflow;
    bool needed = false;
    for (uint32_t k = 0; k < f->nkinds; k++)
        needed = needed || f->kind[k].time.slope > 0 || f->kind[k].memory.slope > 0;
    /* no kind depends on sizes: not one stat() for nothing */
    if (!needed)
        return;
    double *size = mem_new(double, w->nobjects + 1);
    struct strbuf path = {0};
    for (uint32_t o = 0; o < w->nobjects; o++) {
        size[o] = w->object_edge[o] != NONE ? size_on_disk(w, o, folder, &path) : NAN;
        if (isnan(size[o]) && w->size[o] > 0)
            size[o] = w->size[o];
    }
    strbuf_free(&path);
    f->read = mem_new(double, w->ntasks + 1);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        double read = 0;
        uint32_t before = NONE;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
                before = w->pred_object[e];
                read += size[before];
            }
        for (uint32_t e = w->input_off ? w->input_off[t] : 0;
             w->input_off && e < w->input_off[t + 1]; e++)
            read += size[w->input_object[e]];
        f->read[t] = read; /* NAN when one of them is */
        uint32_t first = w->object_off[t], last = w->object_end[t];
        double y, low, high;
        if (first < last &&
            fit_predict(&f->kind[f->task_kind[t]].written, isnan(read) ? NAN : log1p(read),
                        f->task_own[t], &y, &low, &high))
            for (uint32_t o = first; o < last; o++)
                if (isnan(size[o]))
                    size[o] = expm1(y) / (last - first);
    }
    free(size);
}

/* ---- the forecast ---- */

struct forecast *history_forecast(struct history *h, const struct workflow *w, const char *name,
                                  const char *folder, struct error *err)
{
    struct forecast *f = mem_new_zero(struct forecast, 1);
    f->workflow = w;
    if (find_kinds(h, f, err) && make_fits(h, f, err)) {
        find_own(f, name);
        find_sizes(f, folder);
        return f;
    }
    forecast_free(f);
    return NULL;
}

void forecast_free(struct forecast *f)
{
    if (!f)
        return;
    for (uint32_t k = 0; k < f->nkinds; k++) {
        if (f->kind[k].row)
            intern_free(&f->kind[k].own);
        fit_free(&f->kind[k].time);
        fit_free(&f->kind[k].memory);
        fit_free(&f->kind[k].written);
    }
    free(f->kind);
    free(f->task_kind);
    free(f->task_own);
    free(f->read);
    free(f);
}

bool forecast_knows(const struct forecast *f)
{
    return f->knows;
}

/* Without any past: a default that says so (samples 0). */
void forecast_task(const struct forecast *f, uint32_t task, struct forecast_task *out)
{
    const struct kind_model *m = &f->kind[f->task_kind[task]];
    double read = f->read ? f->read[task] : NAN, x = isnan(read) ? NAN : log1p(read);
    double y, low, high;
    *out = (struct forecast_task){
        .prediction = {FORECAST_DEFAULT_SECONDS, 0, INFINITY, NAN, 0},
        .method = FORECAST_NONE,
        .read = read,
    };
    if (!fit_predict(&m->time, x, f->task_own[task], &y, &low, &high))
        return;
    out->method = m->time.method;
    out->prediction = (struct prediction){exp(y), exp(low), exp(high), NAN, m->time.samples};
    if (fit_predict(&m->memory, x, f->task_own[task], &y, &low, &high))
        /* memory is reserved, not averaged: the upper end, so that 19 of 20 fit */
        out->prediction.memory = exp(high);
}

static bool forecast_predict(void *context, uint32_t task, uint32_t node, struct prediction *out)
{
    (void)node; /* the answer is at speed 1 */
    struct forecast_task t;
    forecast_task(context, task, &t);
    if (t.method == FORECAST_NONE)
        return false;
    *out = t.prediction;
    return true;
}

struct predictor history_predictor(struct forecast *f)
{
    return (struct predictor){forecast_predict, f};
}

uint32_t forecast_kinds(const struct forecast *f)
{
    return f->nkinds;
}

void forecast_kind(const struct forecast *f, uint32_t kind, struct forecast_kind *out)
{
    const struct kind_model *m = &f->kind[kind];
    *out = (struct forecast_kind){
        .name = workflow_text(f->workflow, m->name),
        .tasks = m->tasks,
        .samples = m->time.samples,
        .method = m->time.method,
        .slope = m->time.slope,
        .error = m->time.samples ? m->time.error : NAN,
        .error90 = m->time.samples ? m->time.error90 : NAN,
        .memory_error = m->memory.samples ? m->memory.error : NAN,
    };
}
