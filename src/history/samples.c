/* Samples for prediction: see samples.h. Rows are found by the index over kinds, so that the cost does
 * not grow with the history. */
#include "history/samples.h"

#include "base/compare.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/task_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of an old kind that are looked at: most of `python` are of other kinds. */
#define OLD_MOST (20 * FORECAST_SAMPLES)
/* Transfers and counters stand in one table: so many of its newest rows are looked at. */
#define EVENTS_LOOKED_AT 20000

uint32_t samples_own(struct intern *own, struct strbuf *key, const char *workflow, const char *task,
                     bool add)
{
    strbuf_clear(key);
    strbuf_printf(key, "%s\n%s", workflow, task);
    return add ? intern_number(own, key->at, key->n) : intern_find(own, key->at, key->n);
}

bool samples_open(struct samples *s, struct history *h, struct error *err)
{
    *s = (struct samples){
        .time = mem_new(struct fit_sample, FORECAST_SAMPLES),
        .memory = mem_new(struct fit_sample, FORECAST_SAMPLES),
        .written = mem_new(struct fit_sample, FORECAST_SAMPLES),
        .busy = mem_new(struct fit_sample, FORECAST_SAMPLES),
    };
    s->statement = database_query(h, &s->guard,
                                  "SELECT a.took, a.memory, a.read, a.written, r.name, r.speed,"
                                  " t.name, r.host, a.cpu"
                                  " FROM attempts a JOIN runs r ON r.id = a.id >> 32"
                                  " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + a.task"
                                  " WHERE a.kind = ? ORDER BY a.id DESC",
                                  err);
    return s->statement != NULL;
}

void samples_close(struct samples *s)
{
    database_close_query(s->statement, &s->guard);
    free(s->time);
    free(s->memory);
    free(s->written);
    free(s->busy);
    *s = (struct samples){0};
}

/* The newest speed of a host counts: it was measured last. */
static void samples_count_host(sample_hosts *hosts, const char *name, double speed)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (strcmp(hosts->at[i].name, name) == 0) {
            hosts->at[i].samples++;
            return;
        }
    array_push(hosts, (struct sample_host){mem_copy_string(name), speed, 1});
}

void sample_hosts_free(sample_hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        free(hosts->at[i].name);
    array_free(hosts);
}

/* A row of the statement. Seconds are brought to speed 1; below a microsecond nothing
 * is measured. */
static void samples_add(struct samples *out, sqlite3_stmt *s, const struct samples_request *q,
                        struct strbuf *key)
{
    double took = sqlite3_column_double(s, 0) * 1e-6, speed = sqlite3_column_double(s, 5);
    const char *flow = (const char *)sqlite3_column_text(s, 4);
    const char *task = (const char *)sqlite3_column_text(s, 6);
    const char *host = (const char *)sqlite3_column_text(s, 7);
    double cpu = sqlite3_column_double(s, 8) * 1e-6;
    double memory = sqlite3_column_double(s, 1), written = sqlite3_column_double(s, 3);
    speed = speed > 0 && isfinite(speed) ? speed : 0;
    struct fit_sample sample = {
        .x = log1p(fmax(0, sqlite3_column_double(s, 2))),
        .y = log(fmax(1e-6, took) * (speed > 0 ? speed : 1)),
        .group = flow && task ? samples_own(q->own, key, flow, task, true) : NONE,
    };
    samples_count_host(q->hosts, host ? host : "", speed);
    out->time[out->ntime++] = sample;
    if (memory > 0) { /* 0: not measured */
        sample.y = log(memory);
        out->memory[out->nmemory++] = sample;
    }
    sample.y = log1p(fmax(0, written));
    out->written[out->nwritten++] = sample;
    if (cpu > 0 && took > 0) { /* of a call in memory nobody knows */
        sample.x = 0;          /* a share: it does not grow with sizes */
        sample.y = log(cpu / took);
        out->busy[out->nbusy++] = sample;
    }
}

/* Is a sample of an old kind one of this? `python` was all its scripts: its name decides, that of a task
 * of the workflow or one that is alike. */
static bool samples_is_of(const struct samples_request *q, const char *task)
{
    if (!task)
        return false;
    uint32_t same = workflow_find_task(q->workflow, task);
    return same != NONE ? q->kinds[same] == q->number : task_kind_fits(q->kind, task);
}

static bool samples_read_kind(struct samples *out, struct history *h,
                              const struct samples_request *q, int64_t kind, bool all,
                              struct error *err)
{
    sqlite3_stmt *s = out->statement;
    struct strbuf key = {0};
    int row = 0;
    uint32_t looked = 0;
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, kind);
    while (kind && out->ntime < FORECAST_SAMPLES && looked++ < OLD_MOST &&
           (row = database_step(h, s, err)) == 1) {
        const char *task = (const char *)sqlite3_column_text(s, 6);
        if (all || kind == q->row || samples_is_of(q, task))
            samples_add(out, s, q, &key);
    }
    strbuf_free(&key);
    return row >= 0;
}

bool samples_read(struct samples *s, struct history *h, const struct samples_request *q,
                  struct error *err)
{
    s->ntime = s->nmemory = s->nwritten = s->nbusy = 0;
    if (!samples_read_kind(s, h, q, q->row, false, err) ||
        !samples_read_kind(s, h, q, q->old, false, err))
        return false;
    /* nothing under its name: what the program did elsewhere is more than nothing */
    return s->ntime || !q->tells || samples_read_kind(s, h, q, q->old, true, err);
}

double samples_link_speed(struct history *h, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT amount / took FROM (SELECT type, amount, took FROM events ORDER BY id DESC LIMIT ?)"
        " WHERE type = ? AND took > 0 AND amount > 0",
        err);
    if (!s)
        return NAN;
    sqlite3_bind_int64(s, 1, EVENTS_LOOKED_AT);
    sqlite3_bind_int64(s, 2, TRACE_TRANSFER);
    ARRAY(double) speeds = {0};
    while (database_step(h, s, err) == 1)
        array_push(&speeds, sqlite3_column_double(s, 0) * 1e6); /* microseconds */
    database_close_query(s, &guard);
    if (speeds.n)
        qsort(speeds.at, speeds.n, sizeof *speeds.at, compare_doubles);
    double middle = speeds.n ? speeds.at[speeds.n / 2] : NAN;
    array_free(&speeds);
    return middle;
}
