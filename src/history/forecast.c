/* What the history says about the tasks of a workflow: a fit of time, of memory, of bytes written and
 * of the processor's share for every kind, and the bytes that each task will read.
 *
 *   kinds of the workflow ──▶ samples of each kind, newest first ──▶ four fits
 *   sizes of files on disk ─▶ what each task reads ──(in topological order)──▶ what it writes
 *
 * At most FORECAST_SAMPLES rows are read a kind, by index: the cost does not grow with the history.
 */
#include "history/samples.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "model/task_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct kind_model {
    uint32_t tasks;
    int64_t row;       /* 0: the history has no such kind */
    int64_t old;       /* its program's, as older weft and logs have it; 0: none */
    bool tells;        /* which is no interpreter */
    struct intern own; /* the own pasts among its samples, by workflow and task */
    bool has_own;
    sample_hosts hosts;
    struct fit time, memory, written, busy;
};

struct forecast {
    const struct workflow *workflow;
    struct task_kinds kinds;
    struct kind_model *kind;
    uint32_t nkinds;
    uint32_t *task_own; /* number of the task's own past; NONE: none */
    double *read;       /* bytes; NULL: no kind needs it */
    double link_speed;  /* bytes a second between machines; NAN: never measured */
    bool knows;
};

/* As `weft predict` shows it. */
const char *forecast_method_name(enum forecast_method method)
{
    static const char *const names[] = {"unknown", "few",         "median",
                                        "line",    "median, own", "line, own"};
    return method <= FORECAST_LINE_OWN ? names[method] : "unknown";
}

/* ---- fits ---- */

/* Fits of every kind of the workflow that the history knows. */
static bool make_fits(struct history *h, struct forecast *f, struct error *err)
{
    struct samples samples;
    bool ok = samples_open(&samples, h, err);
    for (uint32_t k = 0; ok && k < f->nkinds; k++) {
        struct kind_model *m = &f->kind[k];
        if (!m->row && !m->old)
            continue;
        intern_init(&m->own);
        m->has_own = true;
        ok = samples_read(&samples, h,
                          &(struct samples_request){.row = m->row,
                                                    .old = m->old,
                                                    .tells = m->tells,
                                                    .workflow = f->workflow,
                                                    .kinds = f->kinds.of,
                                                    .number = k,
                                                    .kind = intern_text(&f->kinds.names, k),
                                                    .own = &m->own,
                                                    .hosts = &m->hosts},
                          err);
        if (!ok || !samples.ntime)
            continue;
        fit_make(&m->time, samples.time, samples.ntime, m->own.n);
        fit_make(&m->memory, samples.memory, samples.nmemory, m->own.n);
        fit_make(&m->written, samples.written, samples.nwritten, m->own.n);
        fit_make(&m->busy, samples.busy, samples.nbusy, m->own.n);
        f->knows = true;
    }
    samples_close(&samples);
    if (ok && f->knows)
        f->link_speed = samples_link_speed(h, err);
    return ok;
}

/* ---- kinds and tasks ---- */

/* One pass over the kinds that the history has: a workflow may have a million of its own. A kind that no
 * file states may be there under the first word of its command, from an older weft. */
static bool find_rows(struct history *h, struct forecast *f, const struct intern *words,
                      const uint32_t *word, struct error *err)
{
    int64_t *old = mem_new_zero(int64_t, (size_t)words->n + 1);
    sqlite3_stmt *s = database_prepare(h, "SELECT id, name FROM kinds", err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        uint32_t k = name ? intern_find(&f->kinds.names, name, strlen(name)) : NONE;
        uint32_t o = name ? intern_find(words, name, strlen(name)) : NONE;
        if (k < f->nkinds)
            f->kind[k].row = sqlite3_column_int64(s, 0);
        if (o < words->n)
            old[o] = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    for (uint32_t k = 0; k < f->nkinds; k++)
        if (word[k] != NONE && old[word[k]] != f->kind[k].row)
            f->kind[k].old = old[word[k]];
    free(old);
    return row == 0;
}

static bool find_kinds(struct history *h, struct forecast *f, struct error *err)
{
    const struct workflow *w = f->workflow;
    struct intern words;
    task_kinds_find(w, &f->kinds);
    f->nkinds = f->kinds.names.n;
    f->kind = mem_new_zero(struct kind_model, (size_t)f->nkinds + 1);
    uint32_t *word = mem_new(uint32_t, (size_t)f->nkinds + 1);
    intern_init(&words);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t k = f->kinds.of[t];
        const char *text = workflow_text(w, w->kind[t]);
        if (f->kind[k].tasks++)
            continue;
        f->kind[k].tells = !task_kind_is_interpreter(text, strlen(text));
        word[k] = w->flags[t] & TASK_KIND_STATED ? NONE : intern_number(&words, text, strlen(text));
    }
    bool ok = find_rows(h, f, &words, word, err);
    intern_free(&words);
    free(word);
    return ok;
}

/* Whether a task of this name in a workflow of this name has run before. */
static void find_own(struct forecast *f, const char *name)
{
    const struct workflow *w = f->workflow;
    struct strbuf key = {0};
    f->task_own = mem_new(uint32_t, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct kind_model *m = &f->kind[f->kinds.of[t]];
        f->task_own[t] = name && m->time.samples
                             ? samples_own(&m->own, &key, name, workflow_task_name(w, t), false)
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
static void find_sizes(struct forecast *f, const char *folder, bool needed)
{
    const struct workflow *w = f->workflow;
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
            fit_predict(&f->kind[f->kinds.of[t]].written, isnan(read) ? NAN : log1p(read),
                        f->task_own[t], &y, &low, &high))
            for (uint32_t o = first; o < last; o++)
                if (isnan(size[o]))
                    size[o] = expm1(y) / (last - first);
    }
    free(size);
}

/* ---- the forecast ---- */

struct forecast *history_forecast(struct history *h, const struct forecast_request *q,
                                  struct error *err)
{
    struct forecast *f = mem_new_zero(struct forecast, 1);
    f->workflow = q->workflow;
    f->link_speed = NAN;
    if (find_kinds(h, f, err) && make_fits(h, f, err)) {
        find_own(f, q->name);
        find_sizes(f, q->folder, q->sizes);
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
        struct kind_model *m = &f->kind[k];
        if (m->has_own)
            intern_free(&m->own);
        sample_hosts_free(&m->hosts);
        fit_free(&m->time);
        fit_free(&m->memory);
        fit_free(&m->written);
        fit_free(&m->busy);
    }
    free(f->kind);
    task_kinds_free(&f->kinds);
    free(f->task_own);
    free(f->read);
    free(f);
}

bool forecast_knows(const struct forecast *f)
{
    return f->knows;
}

/* Without any past nothing is known, and nothing is said. */
void forecast_task(const struct forecast *f, uint32_t task, struct forecast_task *out)
{
    uint32_t own = f->task_own[task];
    const struct kind_model *m = &f->kind[f->kinds.of[task]];
    double read = f->read ? f->read[task] : NAN, x = isnan(read) ? NAN : log1p(read);
    double y, low, high;
    *out = (struct forecast_task){
        .prediction = {NAN, NAN, NAN, NAN, 0},
        .kind = intern_text(&f->kinds.names, f->kinds.of[task]),
        .method = FORECAST_NONE,
        .read = read,
        .written = NAN,
        .disk = NAN,
        .busy = NAN,
        .transfer = isnan(read) ? NAN : read / f->link_speed,
    };
    if (!fit_predict(&m->time, x, own, &y, &low, &high))
        return;
    out->method = m->time.method;
    out->prediction = (struct prediction){exp(y), exp(low), exp(high), NAN, m->time.samples};
    if (fit_predict(&m->memory, x, own, &y, &low, &high))
        /* memory is reserved, not averaged: the upper end, so that 19 of 20 fit */
        out->prediction.memory = exp(high);
    if (fit_predict(&m->written, x, own, &y, &low, &high)) {
        out->written = round(expm1(y));
        out->disk = round(expm1(high)); /* reserved, too */
    }
    if (fit_predict(&m->busy, NAN, own, &y, &low, &high))
        out->busy = exp(y);
}

double forecast_seconds(const struct forecast *f, uint32_t task, double risk)
{
    const struct kind_model *m = &f->kind[f->kinds.of[task]];
    double read = f->read ? f->read[task] : NAN;
    return exp(fit_quantile(&m->time, isnan(read) ? NAN : log1p(read), f->task_own[task], risk));
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
        .name = intern_text(&f->kinds.names, kind),
        .tasks = m->tasks,
        .samples = m->time.samples,
        .method = m->time.method,
        .slope = m->time.slope,
        .error = m->time.samples ? m->time.error : NAN,
        .error90 = m->time.samples ? m->time.error90 : NAN,
        .memory_error = m->memory.samples ? m->memory.error : NAN,
        .hosts = (uint32_t)m->hosts.n,
    };
}

void forecast_host(const struct forecast *f, uint32_t kind, uint32_t i, struct forecast_host *out)
{
    const struct sample_host *at = &f->kind[kind].hosts.at[i];
    *out = (struct forecast_host){at->name, at->speed, at->samples};
}
