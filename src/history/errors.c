/* How well past runs were predicted: what was expected of each task before its run (table `predictions`)
 * beside what it took, by run and kind. One pass over the first ATTEMPTS_MOST attempts of a run. */
#include "history/database.h"

#include "base/compare.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a large run the first ones are enough to judge by, and 20 runs stay below 0.2 s. */
#define ATTEMPTS_MOST 20000

/* What an attempt of a kind was off by. */
struct error_sample {
    uint32_t kind;
    float ratio; /* predicted by real */
    bool inside; /* the interval */
};

static int error_sample_order(const void *a, const void *b)
{
    const struct error_sample *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* Texts are copies: the database may change. */
void history_errors_free(history_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        free(errors->at[i].workflow);
        free(errors->at[i].kind);
    }
    array_free(errors);
}

/* Rows first .. last of the sorted samples are of one kind. */
static void errors_add(history_errors *out, const struct history_error *head, const char *kind,
                       const struct error_sample *s, size_t n)
{
    struct history_error e = *head;
    double *off = mem_new(double, n);
    size_t inside = 0;
    for (size_t i = 0; i < n; i++) {
        off[i] = fabs((double)s[i].ratio - 1);
        inside += s[i].inside;
    }
    qsort(off, n, sizeof *off, compare_doubles);
    e.workflow = head->workflow ? mem_copy_string(head->workflow) : NULL;
    e.kind = mem_copy_string(kind);
    e.attempts = (uint32_t)n;
    e.error = off[n / 2];
    e.ratio = (double)s[n / 2].ratio;
    e.inside = (double)inside / (double)n;
    free(off);
    array_push(out, e);
}

/* Five 32-bit words a task (head.c): seconds, low, high, memory, samples. */
static bool errors_read(struct history *h, sqlite3_stmt *s, const char *words, uint32_t ntasks,
                        double speed, const struct history_error *head, history_errors *out,
                        struct error *err)
{
    struct intern kinds;
    ARRAY(struct error_sample) samples = {0};
    int row;
    intern_init(&kinds);
    while ((row = database_step(h, s, err)) == 1) {
        int64_t task = sqlite3_column_int64(s, 0);
        const char *kind = (const char *)sqlite3_column_text(s, 2);
        double real = sqlite3_column_double(s, 1) * 1e-6 * speed;
        float figures[4];
        uint32_t seen;
        if (task < 0 || task >= ntasks || !kind)
            continue;
        memcpy(figures, words + 20 * task, sizeof figures);
        memcpy(&seen, words + 20 * task + 16, sizeof seen);
        if (!seen || !(figures[0] > 0) || !isfinite(figures[0]))
            continue;
        array_push(&samples, (struct error_sample){
                                 .kind = intern_number(&kinds, kind, strlen(kind)),
                                 .ratio = (float)((double)figures[0] / real),
                                 .inside = real >= (double)figures[1] && real <= (double)figures[2],
                             });
    }
    if (samples.n)
        qsort(samples.at, samples.n, sizeof *samples.at, error_sample_order);
    for (size_t i = 0, k; i < samples.n; i = k) {
        for (k = i + 1; k < samples.n && samples.at[k].kind == samples.at[i].kind; k++)
            ;
        errors_add(out, head, intern_text(&kinds, samples.at[i].kind), samples.at + i, k - i);
    }
    array_free(&samples);
    intern_free(&kinds);
    return row == 0;
}

/* Runs of which nothing was predicted have no row: they would say nothing. */
bool history_predicted(struct history *h, size_t runs, history_errors *out, struct error *err)
{
    struct mem_guard outer, inner;
    *out = (history_errors){0};
    sqlite3_stmt *s = database_query(h, &outer,
                                     "SELECT r.id, r.started, r.name, r.speed, r.workflow, p.tasks"
                                     " FROM predictions p JOIN runs r ON r.id = p.run"
                                     " ORDER BY p.run DESC LIMIT ?",
                                     err);
    if (!s)
        return false;
    sqlite3_stmt *a = database_query(
        h, &inner,
        "SELECT a.task, a.took, k.name FROM attempts a"
        " JOIN tasks t ON t.id = (?2 << 32) + a.task JOIN kinds k ON k.id = t.kind"
        " WHERE a.id >= ?1 << 32 AND a.id < (?1 << 32) + ?3 AND a.outcome = 0 AND a.took > 0",
        err);
    sqlite3_bind_int64(s, 1, (int64_t)runs);
    int row = a ? 0 : -1;
    while (a && (row = database_step(h, s, err)) == 1) {
        struct history_error head = {.run = sqlite3_column_int64(s, 0),
                                     .started = sqlite3_column_double(s, 1),
                                     .workflow = (char *)sqlite3_column_text(s, 2)};
        double speed = sqlite3_column_double(s, 3);
        const char *words = sqlite3_column_blob(s, 5);
        uint32_t ntasks = (uint32_t)(sqlite3_column_bytes(s, 5) / 20);
        sqlite3_reset(a);
        sqlite3_bind_int64(a, 1, head.run);
        sqlite3_bind_int64(a, 2, sqlite3_column_int64(s, 4));
        sqlite3_bind_int64(a, 3, ATTEMPTS_MOST);
        if (!errors_read(h, a, words, ntasks, speed > 0 ? speed : 1, &head, out, err)) {
            row = -1;
            break;
        }
    }
    database_close_query(a, &inner);
    database_close_query(s, &outer);
    if (row < 0)
        history_errors_free(out);
    return row == 0;
}
