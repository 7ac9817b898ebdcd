/* What the benchmark programs share: failing, medians, processor time, a folder of one's own, the
 * random graph, and the figures as one JSON object.
 *
 *     struct bench_report r = {.file = json};            NULL: nothing is written
 *     struct json_writer *j = bench_report_begin(&r, "weft-bench-x/1");
 *     json_write_key(j, "rows"); ...
 *     return bench_report_end(&r);                       the exit status
 *
 * Header only, since every program is one executable. */
#pragma once
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "bench/graph.h"
#include "model/builder.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* End the program, with the reason, unless it is `good`: a benchmark that goes on after a failure
 * would report nonsense. */
static inline void bench_must(bool good, const struct error *err)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->text);
    exit(1);
}

/* The upper middle of n > 0 values, which stay as they are. */
static inline double bench_median(const double *values, int n)
{
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        exit(1);
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    double middle = sorted[n / 2];
    free(sorted);
    return middle;
}

/* Processor seconds of all threads of this process, without its children. */
static inline double bench_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "PREFIX-PID" in the folder for temporary files; the caller makes and removes it. */
static inline void bench_temporary_name(char *out, size_t size, const char *prefix)
{
    const char *base = getenv("TMPDIR");
    snprintf(out, size, "%s/%s-%d", base ? base : P_tmpdir, prefix, (int)getpid());
}

/* A new folder "PREFIX-xxxxxx" there; ends the program when it cannot be made. */
static inline void bench_make_folder(char *out, size_t size, const char *prefix)
{
    const char *base = getenv("TMPDIR");
    snprintf(out, size, "%s/%s-XXXXXX", base ? base : P_tmpdir, prefix);
    if (!mkdtemp(out)) {
        perror(out);
        exit(1);
    }
}

/* "FOLDER/NAME" in one of four buffers that take turns. */
static inline char *bench_below(const char *folder, const char *name)
{
    static char path[4][4096];
    static unsigned next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

/* n tasks without commands, each after `degree` of the `window` before it, by seed 1. */
static inline struct workflow *bench_random_graph(uint32_t n, uint32_t degree, uint32_t window)
{
    struct builder *b = builder_new("<bench>", "bench");
    struct rng r;
    rng_seed(&r, 1);
    char name[24];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < degree; k++) {
            uint32_t parent;
            graph_parents(&r, t, 1, window, &parent);
            builder_edge(b, parent, t, 0);
        }
    return builder_finish(b, NULL);
}

/* ---- figures as JSON ---- */

struct bench_report {
    const char *file; /* of --json; NULL: the figures are printed only */
    struct strbuf text;
    struct json_writer json;
};

/* `schema` NULL: an object without one. */
static inline struct json_writer *bench_report_begin(struct bench_report *r, const char *schema)
{
    json_write_start(&r->json, &r->text, true);
    json_write_object(&r->json);
    if (schema)
        json_put_string(&r->json, "schema", schema);
    return &r->json;
}

/* Writes the file, if one was asked for, and frees. The status for main() to return. */
static inline int bench_report_end(struct bench_report *r)
{
    struct error err = {0};
    json_write_end_object(&r->json);
    bool good = !r->file || file_write(r->file, strbuf_text(&r->text), r->text.n, &err);
    if (!good)
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
    strbuf_free(&r->text);
    return good ? 0 : 1;
}

/* One line, and one element of an array: what was to be reached, and whether it was. */
static inline void bench_goal(struct json_writer *j, const char *what, double value,
                              const char *unit, const char *want, bool met)
{
    printf("%-66s %8.3g %-12s %-16s %s\n", what, value, unit, want, met ? "yes" : "NO");
    json_write_object_inline(j);
    json_put_string(j, "goal", what);
    json_put_number(j, "value", value);
    json_put_string(j, "want", want);
    json_put_bool(j, "met", met);
    json_write_end_object(j);
}
