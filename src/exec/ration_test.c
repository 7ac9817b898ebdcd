/* A crew that keeps to a limit of memory: random graphs on several threads, every limit from the least to plenty; what
 * is in memory is counted by the objects themselves. Small enough for the thread sanitizer. */
#include "exec/crew.h"
#include "exec/data.h"
#include "exec/ration.h"
#include "model/builder.h"
#include "tap.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-ration-XXXXXX";
static const struct workflow *called; /* whose tasks are called */
enum { MOST = 256 };                  /* tasks */
static double answers[MOST];          /* by task: 1 and those of all that it reads */

/* Every word of an output is the task's answer; inputs must be what their makers answered. */
static int check_and_make(const struct weft_task *t)
{
    double sum = 1;
    for (uint32_t i = 0; i < t->nin; i++) {
        size_t bytes;
        const double *in = weft_task_in(t, i, &bytes);
        uint32_t o = called->in_object[called->in_off[t->number] + i];
        if (!in || (double)bytes != called->size[o])
            return 1;
        for (size_t k = 0; k < bytes / sizeof *in; k++)
            if (in[k] != answers[called->producer[o]])
                return 2;
        sum += in[0];
    }
    for (uint32_t i = 0; i < t->nout; i++) {
        uint32_t o = called->out_object[called->object_off[t->number] + i];
        double *out = weft_task_out(t, i, (size_t)called->size[o]);
        for (size_t k = 0; out && k < (size_t)called->size[o] / sizeof *out; k++)
            out[k] = sum;
        if (!out)
            return 3;
    }
    answers[t->number] = sum;
    return 0;
}

/* `n` tasks in layers of 4, each reading up to 3 of the last dozen: objects have several readers. */
static struct workflow *random_graph(uint32_t n, unsigned seed)
{
    struct builder *b = builder_new("graph", "test");
    char name[16];
    bool read[MOST] = {0};
    srand(seed);
    for (uint32_t t = 0; t < n; t++) {
        size_t length = (size_t)snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, length, 0);
        builder_command(b, t, ":f", 2);
        builder_flag(b, t, TASK_CALL);
        if (t + 1 < n) {
            uint32_t o = builder_object(b, name, length);
            builder_size(b, o, 8.0 * (1 + rand() % 500), 0);
            builder_produces(b, t, o, 0);
            builder_in_memory(b, o);
        }
        bool used[12] = {0};
        for (int k = 0; t > 4 && k < 3; k++) {
            uint32_t back = 1 + (uint32_t)rand() % (t < 12 ? t : 11);
            if (used[back])
                continue;
            if (t + 1 == n)
                continue;
            used[back] = read[t - back] = true;
            builder_consumes(b, t, t - back, 0);
        }
    }
    for (uint32_t t = 0; t + 1 < n; t++) /* the last reads what nobody has, and some more */
        if (!read[t] || t + 3 > n)
            builder_consumes(b, n - 1, t, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    return w;
}

struct outcome {
    bool admitted, good;
    double needed, peak;
    struct ration_figures figures;
};

static void wake(void *context)
{
    (void)context;
}

/* By 3 threads; the order is the tasks' own. */
static struct outcome compute(const struct workflow *w, double limit)
{
    struct outcome out = {0};
    struct data *data = data_new(w, false);
    static uint32_t order[MOST];
    static double priority[MOST];
    static weft_task_function call[MOST];
    struct error err = {0};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        order[t] = t;
        priority[t] = -(double)t;
        call[t] = check_and_make;
    }
    called = w;
    data_limit(data);
    data_count(data);
    struct ration *ration = ration_new(
        &(struct ration_config){
            .workflow = w, .data = data, .limit = limit, .order = order, .folder = folder},
        &err);
    out.admitted = ration != NULL;
    if (ration) {
        struct crew_counts counts;
        out.needed = ration_sequential(ration);
        struct crew *crew = crew_new(&(struct crew_config){.workflow = w,
                                                           .threads = 3,
                                                           .call = call,
                                                           .priority = priority,
                                                           .ordered = true,
                                                           .quiet = true,
                                                           .data = data,
                                                           .ration = ration,
                                                           .wake = wake});
        while (!crew_over(crew))
            usleep(200);
        crew_count(crew, &counts);
        out.good = counts.well == w->ntasks;
        crew_free_within(crew, INFINITY);
        ration_figures(ration, &out.figures);
    }
    out.peak = (double)data_peak(data);
    ration_free(ration);
    data_free(data);
    return out;
}

/* What the largest task takes with its inputs: below it nothing can be done. */
static double largest(const struct workflow *w)
{
    double most = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double bytes = 0;
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            bytes += w->size[w->in_object[i]];
        for (uint32_t i = w->object_off[t]; i < w->object_end[t]; i++)
            bytes += workflow_object_is(w, w->out_object[i], OBJECT_IN_MEMORY)
                         ? w->size[w->out_object[i]]
                         : 0;
        most = fmax(most, bytes);
    }
    return most;
}

static void test_random_graphs(void)
{
    uint32_t bad = 0, above = 0, refused = 0, written = 0, idle = 0;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct workflow *w = random_graph(40 + 10 * (seed % 4), seed);
        double least = largest(w), needed = compute(w, 1e12).needed;
        for (int k = 0; k <= 4; k++) {
            double limit = least + (needed - least) * k / 4;
            struct outcome x = compute(w, limit);
            bad += !x.admitted || !x.good;
            above += x.peak > limit || x.figures.peak > limit;
            written += x.figures.files;
            idle += k == 4 && x.figures.files;
        }
        refused += !compute(w, least - 1).admitted;
        workflow_free(w);
    }
    is_int(bad, 0, "every graph ends under every limit, and all data are right");
    is_int(above, 0, "no more is in memory, or booked, than the limit");
    is_int(refused, 12, "below what the largest task takes each is refused");
    is_int(idle, 0, "nothing is put out where all fits");
    ok(written > 20, "where it does not, objects are: %u", written);
}

/* Goes on with its input in place, and fails: the input is gone, and has a reader that never ended well. */
static int pass_and_fail(const struct weft_task *t)
{
    return weft_task_pass(t, 0, 0, NULL) ? 1 : 2;
}

static int make(const struct weft_task *t)
{
    for (uint32_t i = 0; i < t->nout; i++)
        if (!weft_task_out(t, i, 1000))
            return 1;
    return 0;
}

static int nothing(const struct weft_task *t)
{
    (void)t;
    return 0;
}

/* t0 ─▶ t1, which fails ─▶ t2; t3 ─▶ t4 ─▶ t5 go on, in memory for two of the objects. */
static void test_failed_in_place(void)
{
    enum { TASKS = 6 };
    static const uint32_t order[TASKS] = {0, 1, 2, 3, 4, 5};
    static const double priority[TASKS] = {6, 5, 4, 3, 2, 1};
    static const weft_task_function call[TASKS] = {make, pass_and_fail, nothing,
                                                   make, make,          nothing};
    static const bool reads[TASKS] = {false, true, true, false, true, true};
    struct builder *b = builder_new("failed", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < TASKS; t++) {
        size_t length = (size_t)snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, length, 0);
        builder_command(b, t, ":f", 2);
        builder_flag(b, t, TASK_CALL);
        if (call[t] != nothing) { /* what nobody reads is no object in memory */
            uint32_t o = builder_object(b, name, length);
            builder_size(b, o, 1000, 0);
            builder_produces(b, t, o, 0);
            builder_in_memory(b, o);
        }
        if (reads[t]) {
            length = (size_t)snprintf(name, sizeof name, "t%u", t - 1);
            builder_consumes(b, t, builder_object(b, name, length), 0);
        }
    }
    struct workflow *w = builder_finish(b, &err);
    struct data *data = data_new(w, false);
    data_limit(data);
    struct ration *ration = ration_new(
        &(struct ration_config){
            .workflow = w, .data = data, .limit = 2000, .order = order, .folder = folder},
        &err);
    struct crew *crew = crew_new(&(struct crew_config){.workflow = w,
                                                       .threads = 1,
                                                       .call = call,
                                                       .priority = priority,
                                                       .ordered = true,
                                                       .keep_going = true,
                                                       .quiet = true,
                                                       .data = data,
                                                       .ration = ration,
                                                       .wake = wake});
    while (!crew_over(crew))
        usleep(200);
    ok(crew_verdict(crew, 1) == CREW_FAILED && crew_verdict(crew, 5) == CREW_DONE &&
           !ration_trouble(ration),
       "an input that went with a task that failed makes room like any other");
    crew_free_within(crew, INFINITY);
    ration_free(ration);
    data_free(data);
    workflow_free(w);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    TAP_DO(test_random_graphs());
    TAP_DO(test_failed_in_place());
    is_int(rmdir(folder), 0, "and no file is left");
    return tap_done();
}
