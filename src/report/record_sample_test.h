/* A run to look at, for the tests of the summary and the page: two cores, seven tasks of three
 * kinds, one of them reused, one failing twice. */
#pragma once
#include "model/builder.h"
#include "model/record.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

__attribute__((unused)) static uint32_t sample_task(struct builder *b, const char *name,
                                                    const char *kind)
{
    uint32_t t = builder_task(b, name, strlen(name), 0);
    builder_kind(b, t, kind, strlen(kind));
    return t;
}

__attribute__((unused)) static void sample_edge(struct builder *b, uint32_t from, uint32_t to)
{
    builder_edge(b, from, to, 0);
}

static void sample_attempt(struct run_record *r, uint32_t task, uint32_t lane, double start,
                           double finish, int outcome, int status, uint32_t attempt)
{
    array_push(&r->events, (struct trace_event){.kind = TRACE_TASK,
                                                .id = task,
                                                .lane = lane,
                                                .start = start,
                                                .finish = finish,
                                                .outcome = outcome,
                                                .status = status,
                                                .attempt = attempt,
                                                .cpu = (finish - start) * 0.9,
                                                .memory = 1e8 * (task + 1),
                                                .read = 1e6,
                                                .written = 2e6});
}

/* `names`: 7 of them, or NULL for read_a read_b filter_a filter_b detect merge publish. */
__attribute__((unused)) static void sample_record(struct run_record *r, const char *const *names)
{
    static const char *const usual[] = {"read_a", "read_b", "filter_a", "filter_b",
                                        "detect", "merge",  "publish"};
    static const char *const kinds[] = {"read",   "read", "filter", "filter",
                                        "detect", "join", "join"};
    struct builder *b = builder_new("edges.yaml", "native");
    uint32_t t[7];
    for (int i = 0; i < 7; i++)
        t[i] = sample_task(b, names ? names[i] : usual[i], names ? names[i] : kinds[i]);
    sample_edge(b, t[0], t[2]);
    sample_edge(b, t[1], t[3]);
    sample_edge(b, t[2], t[4]);
    sample_edge(b, t[3], t[5]);
    sample_edge(b, t[4], t[5]);
    sample_edge(b, t[5], t[6]);
    struct error err = {0};
    *r = (struct run_record){.run = 12,
                             .name = mem_copy_string(names ? names[0] : "edges"),
                             .file = mem_copy_string("edges.yaml"),
                             .folder = mem_copy_string("/home/ada/edges"),
                             .host = mem_copy_string("engine"),
                             .started = 1700000000,
                             .seconds = 20,
                             .cores = 2,
                             .memory = 4e9,
                             .speed = 1,
                             .outcome = RECORD_FAILED,
                             .tasks = 7,
                             .ran = 5,
                             .reused = 1,
                             .failed = 1,
                             .skipped = 0,
                             .predicted_seconds = 16,
                             .predicted_memory = 1e9,
                             .predicted_disk = 5e6,
                             .peak_memory = 1.1e9,
                             .peak_disk = 6e6};
    r->workflow = builder_finish(b, &err);
    if (!r->workflow)
        printf("# %s\n", err.text);
    r->predicted = mem_new_zero(struct prediction, 7);
    for (int i = 0; i < 7; i++)
        r->predicted[i] = (struct prediction){2.0 + i, 1, 10, 1e8, 5};
    array_push(&r->events, (struct trace_event){.kind = TRACE_REUSED, .id = 1});
    sample_attempt(r, 0, 0, 0.1, 2.1, TRACE_DONE, 0, 1);
    sample_attempt(r, 3, 1, 0.1, 6.1, TRACE_DONE, 0, 1);
    sample_attempt(r, 2, 0, 2.1, 7.1, TRACE_DONE, 0, 1);
    for (int i = 0; i <= 20; i++)
        array_push(&r->events, (struct trace_event){.kind = TRACE_COUNTER,
                                                    .id = COUNTER_MEMORY,
                                                    .start = i,
                                                    .amount = 1e8 * (i % 11)});
    sample_attempt(r, 4, 0, 7.1, 12.6, TRACE_DONE, 0, 1);
    sample_attempt(r, 5, 1, 13, 15.5, TRACE_DONE, 0, 1);
    sample_attempt(r, 6, 0, 15.5, 16.5, TRACE_FAILED, 127, 1);
    sample_attempt(r, 6, 0, 17.5, 20, TRACE_FAILED, 127, 2);
    array_push(&r->files, (struct record_file){.object = 0,
                                               .task = 5,
                                               .path = mem_copy_string("edges.pgm"),
                                               .size = 2e6,
                                               .produced = true});
}
