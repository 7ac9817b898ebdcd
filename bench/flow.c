/* Streams that run, beside oneTBB's: functions in memory, and a pipeline of pictures.
 *   bench_flow [--json FILE] [--quick] [--frames N]
 * Pipelines of 8 serial filters and farms of one filter on 2 threads, filters of 0 to 100 microseconds, items
 * of 64 B to 1 MB; results leave in order. The kernel's rounds are calibrated alone first. The best of some
 * runs counts, since others use the machine; contenders take turns. Frames: examples/frames, from a file to
 * a file; what comes out is compared byte by byte. */
#include "bench/bench.h"
#include "bench/metg.h"
#include "stream/chunk.h"
#include "stream/flow.h"
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 2, STAGES = 8, USUAL_FRAMES = 2000 };
enum contender { WEFT, PIPELINE, GRAPH, CONTENDERS };
static const char *const names[CONTENDERS] = {"weft", "oneTBB parallel_pipeline",
                                              "oneTBB flow graph"};

struct setting {
    bool farm;
    double seconds; /* of a filter */
    size_t bytes;
    uint64_t rounds, items;
};

static uint64_t *stage_rounds; /* of bench/flow_filters.c */

/* ---- weft ---- */

/* Tasks in a row; each reads what the one before it has made, the first what the source gives. */
static struct workflow *flow_workflow(const char *library, const char *const *functions, uint32_t n,
                                      bool serial)
{
    struct builder *b = builder_new("<flow>", "bench");
    char name[24], command[1024];
    for (uint32_t i = 0; i <= n; i++)
        builder_object(b, name, (size_t)snprintf(name, sizeof name, "x%u", i));
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "s%u", t), 0);
        builder_command(b, t, command,
                        (size_t)snprintf(command, sizeof command, "%s:%s", library, functions[t]));
        builder_flag(b, t, TASK_CALL);
        if (serial)
            builder_flag(b, t, TASK_NOT_REPLICABLE);
        builder_consumes(b, t, t, 0);
        builder_produces(b, t, t + 1, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

struct ends {
    size_t bytes;
    uint64_t taken;
};

static int ends_give(struct weft_item *item)
{
    struct ends *e = item->context;
    char *data = item->give(item, 0, e->bytes);
    if (!data)
        return 1;
    memcpy(data, &item->number, sizeof item->number);
    return 0;
}

static int ends_take(struct weft_item *item)
{
    struct ends *e = item->context;
    uint64_t number;
    memcpy(&number, item->in[0].at, sizeof number);
    return number == e->taken++ ? 0 : 1;
}

/* Closes it. */
static double flow_timed(struct flow *f)
{
    struct error err = {0};
    double start = metg_seconds();
    bench_must(flow_run(f, &err), &err);
    double seconds = metg_seconds() - start;
    flow_close(f);
    return seconds;
}

static double run_weft(const struct setting *s)
{
    static const char *const functions[STAGES] = {"stage", "stage", "stage", "stage",
                                                  "stage", "stage", "stage", "stage"};
    struct error err = {0};
    struct workflow *w =
        flow_workflow(WEFT_FLOW_FILTERS, functions, s->farm ? 1 : STAGES, !s->farm);
    struct ends ends = {.bytes = s->bytes};
    *stage_rounds = s->rounds;
    struct flow *f = flow_open(&(struct flow_options){.workflow = w,
                                                      .folder = ".",
                                                      .give = ends_give,
                                                      .take = ends_take,
                                                      .give_context = &ends,
                                                      .take_context = &ends,
                                                      .items = s->items,
                                                      .threads = THREADS},
                               &err);
    bench_must(f != NULL, &err);
    double seconds = flow_timed(f);
    workflow_free(w);
    return ends.taken == s->items ? seconds : -1;
}

/* ---- peers ---- */

static double flow_peer(const char *line)
{
    double seconds = -1;
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): a program of ours, by its path */
    if (f && fscanf(f, "%lf", &seconds) != 1)
        seconds = -1;
    if (f)
        pclose(f);
    return seconds;
}

static double run_tbb(enum contender who, const struct setting *s)
{
#ifdef WEFT_FLOW_TBB
    char line[1200];
    snprintf(line, sizeof line, "'%s' %s %s %d %llu %zu %llu %d", WEFT_FLOW_TBB,
             who == GRAPH ? "graph" : "pipeline", s->farm ? "farm" : "serial", s->farm ? 1 : STAGES,
             (unsigned long long)s->rounds, s->bytes, (unsigned long long)s->items, THREADS);
    return flow_peer(line);
#else
    (void)who;
    (void)s;
    return -1;
#endif
}

/* ---- in memory ---- */

static double kernel_round(void)
{
    enum { ROUNDS = 1000000 };
    double best = INFINITY;
    for (int k = 0; k < 5; k++) {
        double start = metg_seconds();
        metg_kernel(ROUNDS, 1);
        best = fmin(best, (metg_seconds() - start) / ROUNDS);
    }
    return best;
}

/* Items a second of each; a contender that is not there has none. */
static void measure_setting(struct json_writer *j, struct setting s, double round, int tries,
                            double *worst)
{
    double stages = s.farm ? 1 : STAGES, rate[CONTENDERS] = {0};
    double most = s.bytes > 100000 ? 20000 : 1e6 / stages;
    s.rounds = (uint64_t)(s.seconds / round);
    s.items = (uint64_t)fmin(most, 0.3 * THREADS / (stages * (s.seconds + 60e-9)));
    for (int k = 0; k < tries; k++)
        for (enum contender who = 0; who < CONTENDERS; who++) {
            double seconds = who == WEFT ? run_weft(&s) : run_tbb(who, &s);
            rate[who] = seconds > 0 ? fmax(rate[who], (double)s.items / seconds) : rate[who];
        }
    printf("%-8s %6.0f us %8zu B", s.farm ? "farm" : "serial", 1e6 * s.seconds, s.bytes);
    for (enum contender who = 0; who < CONTENDERS; who++)
        printf(" %14.0f", rate[who]);
    double overhead = 1e9 * (1 / rate[WEFT] - s.seconds * stages / THREADS) / stages;
    double share = rate[PIPELINE] > 0 ? rate[WEFT] / rate[PIPELINE] : NAN;
    printf(" %8.3f %10.0f\n", share, overhead);
    fflush(stdout);
    if (s.seconds > 0 && !isnan(share))
        *worst = fmin(*worst, share);
    json_write_object_inline(j);
    json_put_string(j, "shape", s.farm ? "farm" : "serial");
    json_put_number(j, "filter_us", 1e6 * s.seconds);
    json_put_integer(j, "bytes", (int64_t)s.bytes);
    for (enum contender who = 0; who < CONTENDERS; who++)
        if (rate[who] > 0)
            json_put_number(j, names[who], rate[who]);
    json_put_number(j, "overhead_ns", overhead);
    json_write_end_object(j);
}

static void measure_memory(struct json_writer *j, bool quick)
{
    static const double seconds[] = {0, 1e-6, 10e-6, 100e-6};
    static const size_t bytes[] = {64, 65536, 1048576};
    double round = kernel_round(), worst = INFINITY;
    printf("%-31s %14s %14s %14s %8s %10s\n", "items a second", "weft", "pipeline", "flow graph",
           "of pipe", "overhead");
    json_write_key(j, "memory");
    json_write_array(j);
    for (int farm = 0; farm < 2; farm++)
        for (int b = 0; b < (quick ? 1 : 3); b++)
            for (int i = 0; i < (quick ? 2 : 4); i++)
                measure_setting(
                    j, (struct setting){.farm = farm, .seconds = seconds[i], .bytes = bytes[b]},
                    round, quick ? 2 : 3, &worst);
    json_write_end_array(j);
    if (worst < INFINITY)
        printf("least share of parallel_pipeline's rate, filters of 1 us and more: %.3f\n", worst);
}

/* ---- frames ---- */

static double frames_weft(const char *from, const char *to)
{
    static const char *const functions[] = {"frame_read", "frame_blur", "frame_edges",
                                            "frame_encode"};
    struct error err = {0};
    struct workflow *w = flow_workflow(WEFT_FLOW_PICTURES, functions, 4, false);
    char source[1100], sink[1100];
    snprintf(source, sizeof source, "frames:%s", from);
    snprintf(sink, sizeof sink, "frames:%s", to);
    struct flow *f = flow_open(
        &(struct flow_options){
            .workflow = w, .folder = ".", .from = source, .to = sink, .threads = THREADS},
        &err);
    bench_must(f != NULL, &err);
    double seconds = flow_timed(f);
    workflow_free(w);
    return seconds;
}

static double frames_line(const char *line)
{
    double start = metg_seconds();
    if (system(line) != 0) /* NOLINT(cert-env33-c): programs of ours, by their paths */
        return -1;
    return metg_seconds() - start;
}

static void frames_say(struct json_writer *j, const char *who, double seconds, int frames)
{
    printf("  %-28s %8.1f frames/s\n", who, seconds > 0 ? frames / seconds : 0);
    json_put_number(j, who, seconds > 0 ? frames / seconds : NAN);
}

/* All from the same file to files that must be equal. */
static void measure_frames(struct json_writer *j, int frames, int tries)
{
    char folder[1024], line[8192];
    double weft = INFINITY, shell = INFINITY, tbb = INFINITY;
    bench_make_folder(folder, sizeof folder, "weft-bench-flow");
    snprintf(line, sizeof line, "'%s' make %d > '%s/in'", WEFT_FLOW_FRAMES, frames, folder);
    frames_line(line);
    for (int k = 0; k < tries; k++) {
        weft = fmin(weft, frames_weft(bench_below(folder, "in"), bench_below(folder, "weft")));
        snprintf(
            line, sizeof line,
            "cd '%s' && p='%s' && \"$p\" read <in | \"$p\" blur | \"$p\" edges | \"$p\" encode "
            ">shell",
            folder, WEFT_FLOW_FRAMES);
        shell = fmin(shell, frames_line(line));
#ifdef WEFT_FLOW_TBB
        snprintf(line, sizeof line, "'%s' frames '%s/in' '%s/tbb' 0 0 %d %d", WEFT_FLOW_TBB, folder,
                 folder, frames, THREADS);
        tbb = fmin(tbb, flow_peer(line));
#endif
    }
    printf("\n%d frames of 320 x 240: read, blur, edges, encode\n", frames);
    json_write_key(j, "frames");
    json_write_object(j);
    frames_say(j, "weft", weft, frames);
    frames_say(j, "shell pipeline", shell, frames);
    if (tbb < INFINITY)
        frames_say(j, "oneTBB parallel_pipeline", tbb, frames);
    snprintf(line, sizeof line, "cd '%s' && cmp weft shell && { [ ! -f tbb ] || cmp weft tbb; }",
             folder);
    bool same = frames_line(line) >= 0;
    printf("  what they made is %s\n", same ? "the same, byte by byte" : "NOT the same");
    json_put_bool(j, "same", same);
    json_write_end_object(j);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    frames_line(line);
}

int main(int argc, char **argv)
{
    const char *output = NULL;
    bool quick = false;
    int frames = USUAL_FRAMES;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            output = argv[++i];
        else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc)
            frames = atoi(argv[++i]);
        else if (strcmp(argv[i], "--quick") == 0)
            quick = true;
    }
    void *library = dlopen(WEFT_FLOW_FILTERS, RTLD_NOW | RTLD_LOCAL);
    stage_rounds = library ? dlsym(library, "stage_rounds") : NULL;
    if (!stage_rounds) {
        fprintf(stderr, "bench_flow: %s\n", dlerror());
        return 1;
    }
    struct bench_report report = {.file = output};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-flow/1");
    measure_memory(j, quick);
    measure_frames(j, quick ? 100 : frames, quick || frames >= USUAL_FRAMES ? 1 : 2);
    return bench_report_end(&report);
}
