/* Streams that run, beside oneTBB's: functions in memory, and a pipeline of pictures.
 *   bench_flow [--json FILE] [--quick] [--frames N] [--only serial|farm:MICROSECONDS:BYTES]
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
#include <sys/resource.h>
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

/* By the clock, and of processors; negative: it did not happen. */
struct spent {
    double seconds, cpu;
};
static const struct spent not_there = {-1, -1};

/* Closes it. */
static struct spent flow_timed(struct flow *f)
{
    struct error err = {0};
    double start = metg_seconds(), cpu = bench_cpu_seconds();
    bench_must(flow_run(f, &err), &err);
    struct spent spent = {metg_seconds() - start, bench_cpu_seconds() - cpu};
    flow_close(f);
    return spent;
}

static struct spent run_weft(const struct setting *s)
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
    struct spent spent = flow_timed(f);
    workflow_free(w);
    return ends.taken == s->items ? spent : not_there;
}

/* ---- peers ---- */

#ifdef WEFT_FLOW_TBB
static struct spent flow_peer(const char *line)
{
    struct spent spent;
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): a program of ours, by its path */
    if (!f || fscanf(f, "%lf %lf", &spent.seconds, &spent.cpu) != 2)
        spent = not_there;
    if (f)
        pclose(f);
    return spent;
}
#endif

static struct spent run_tbb(enum contender who, const struct setting *s)
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
    return not_there;
#endif
}

/* ---- in memory ---- */

/* By processor time: others that use the machine must not make filters shorter than they are said to be. */
static double kernel_round(void)
{
    enum { ROUNDS = 1000000 };
    double best = INFINITY;
    for (int k = 0; k < 5; k++) {
        double start = bench_cpu_seconds();
        metg_kernel(ROUNDS, 1);
        best = fmin(best, (bench_cpu_seconds() - start) / ROUNDS);
    }
    return best;
}

/* The best of some tries, of one contender. */
struct flow_row {
    double rate; /* items a second; 0: it is not there */
    double cpu;  /* seconds an item */
};

static void setting_try(const struct setting *s, enum contender who, struct flow_row *row)
{
    struct spent spent = who == WEFT ? run_weft(s) : run_tbb(who, s);
    if (spent.seconds <= 0)
        return;
    double items = (double)s->items;
    row->cpu = row->rate > 0 ? fmin(row->cpu, spent.cpu / items) : spent.cpu / items;
    row->rate = fmax(row->rate, items / spent.seconds);
}

/* What remains of an item's time without that of the filters, by stage, in nanoseconds: by the clock and
 * of processors, which others that use the machine disturb less. */
static double setting_overhead(const struct setting *s, double item, double threads)
{
    double stages = s->farm ? 1 : STAGES;
    return 1e9 * (item / stages - s->seconds / threads);
}

static void setting_put(struct json_writer *j, const struct setting *s, const struct flow_row *row,
                        double overhead, double cpu_overhead)
{
    json_write_object_inline(j);
    json_put_string(j, "shape", s->farm ? "farm" : "serial");
    json_put_number(j, "filter_us", 1e6 * s->seconds);
    json_put_integer(j, "bytes", (int64_t)s->bytes);
    for (enum contender who = 0; who < CONTENDERS; who++) {
        char key[48];
        if (row[who].rate <= 0)
            continue;
        json_put_number(j, names[who], row[who].rate);
        snprintf(key, sizeof key, "%s cpu_ns", names[who]);
        json_put_number(j, key, 1e9 * row[who].cpu);
    }
    json_put_number(j, "overhead_ns", overhead);
    json_put_number(j, "cpu_overhead_ns", cpu_overhead);
    json_write_end_object(j);
}

/* The least shares of oneTBB's rates that were seen, filters of 1 us and more. */
struct flow_least {
    double pipeline, graph;
};

/* Items a second of each, in turns; a contender that is not there has none. */
static void measure_setting(struct json_writer *j, struct setting s, double round, int tries,
                            struct flow_least *least)
{
    double stages = s.farm ? 1 : STAGES;
    struct flow_row row[CONTENDERS] = {0};
    double most = s.bytes > 100000 ? 20000 : 1e6 / stages;
    s.rounds = (uint64_t)(s.seconds / round);
    s.items = (uint64_t)fmin(most, 0.3 * THREADS / (stages * (s.seconds + 60e-9)));
    for (int k = 0; k < tries; k++)
        for (enum contender who = 0; who < CONTENDERS; who++)
            setting_try(&s, who, &row[who]);
    const struct flow_row *weft = &row[WEFT], *pipeline = &row[PIPELINE], *graph = &row[GRAPH];
    double overhead = setting_overhead(&s, 1 / weft->rate, THREADS);
    double cpu_overhead = setting_overhead(&s, weft->cpu, 1);
    printf("%-6s %4.0f us %8zu B", s.farm ? "farm" : "serial", 1e6 * s.seconds, s.bytes);
    for (enum contender who = 0; who < CONTENDERS; who++)
        printf(" %10.0f", row[who].rate);
    printf(" %7.3f %7.3f %8.0f |", weft->rate / pipeline->rate, weft->rate / graph->rate, overhead);
    for (enum contender who = 0; who < CONTENDERS; who++)
        printf(" %9.0f", 1e9 * row[who].cpu);
    printf(" %8.0f\n", cpu_overhead);
    fflush(stdout);
    if (s.seconds > 0 && pipeline->rate > 0 && graph->rate > 0) {
        least->pipeline = fmin(least->pipeline, weft->rate / pipeline->rate);
        least->graph = fmin(least->graph, weft->rate / graph->rate);
    }
    setting_put(j, &s, row, overhead, cpu_overhead);
}

static void memory_head(void)
{
    printf("%-25s %10s %10s %10s %7s %7s %8s | %9s %9s %9s %8s\n", "items a second; ns an item |",
           "weft", "pipeline", "graph", "of pipe", "of graph", "overhead", "weft CPU", "pipe CPU",
           "graph CPU", "overhead");
}

/* One row, for who looks at it with a profiler; --only has said which. */
static void measure_one(struct json_writer *j, struct setting s)
{
    struct flow_least least = {INFINITY, INFINITY};
    memory_head();
    json_write_key(j, "memory");
    json_write_array(j);
    measure_setting(j, s, kernel_round(), 3, &least);
    json_write_end_array(j);
}

static bool setting_read(const char *text, struct setting *s)
{
    char shape[8], end;
    double us;
    if (sscanf(text, "%7[a-z]:%lf:%zu%c", shape, &us, &s->bytes, &end) != 3)
        return false;
    s->farm = strcmp(shape, "farm") == 0;
    s->seconds = us * 1e-6;
    return us >= 0 && s->bytes >= sizeof(uint64_t) && (s->farm || strcmp(shape, "serial") == 0);
}

static void measure_memory(struct json_writer *j, bool quick)
{
    static const double seconds[] = {0, 1e-6, 10e-6, 100e-6};
    static const size_t bytes[] = {64, 65536, 1048576};
    double round = kernel_round();
    struct flow_least least = {INFINITY, INFINITY};
    memory_head();
    json_write_key(j, "memory");
    json_write_array(j);
    for (int farm = 0; farm < 2; farm++)
        for (int b = 0; b < (quick ? 1 : 3); b++)
            for (int i = 0; i < (quick ? 2 : 4); i++)
                measure_setting(
                    j, (struct setting){.farm = farm, .seconds = seconds[i], .bytes = bytes[b]},
                    round, quick ? 2 : 3, &least);
    json_write_end_array(j);
    if (least.pipeline < INFINITY)
        printf(
            "least share, filters of 1 us and more: of parallel_pipeline's rate %.3f, of the flow "
            "graph's %.3f\n",
            least.pipeline, least.graph);
}

/* ---- frames ---- */

static struct spent frames_weft(const char *from, const char *to)
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
    struct spent spent = flow_timed(f);
    workflow_free(w);
    return spent;
}

/* Of programs that have ended. */
static double children_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static struct spent frames_line(const char *line)
{
    double start = metg_seconds(), cpu = children_cpu();
    if (system(line) != 0) /* NOLINT(cert-env33-c): programs of ours, by their paths */
        return not_there;
    return (struct spent){metg_seconds() - start, children_cpu() - cpu};
}

static void frames_best(struct spent *best, struct spent spent)
{
    if (spent.seconds <= 0)
        return;
    bool first = best->seconds < 0;
    best->seconds = first ? spent.seconds : fmin(best->seconds, spent.seconds);
    best->cpu = first ? spent.cpu : fmin(best->cpu, spent.cpu);
}

static void frames_say(struct json_writer *j, const char *who, struct spent best, int frames)
{
    char key[48];
    if (best.seconds <= 0)
        return;
    printf("  %-28s %8.1f frames/s %8.0f us of CPU a frame\n", who, frames / best.seconds,
           1e6 * best.cpu / frames);
    json_put_number(j, who, frames / best.seconds);
    snprintf(key, sizeof key, "%s cpu_us", who);
    json_put_number(j, key, 1e6 * best.cpu / frames);
}

/* All from the same file to files that must be equal. */
static void measure_frames(struct json_writer *j, int frames, int tries)
{
    char folder[1024], line[8192];
    struct spent weft = not_there, shell = not_there, tbb = not_there;
    bench_make_folder(folder, sizeof folder, "weft-bench-flow");
    snprintf(line, sizeof line, "'%s' make %d > '%s/in'", WEFT_FLOW_FRAMES, frames, folder);
    frames_line(line);
    for (int k = 0; k < tries; k++) {
        frames_best(&weft, frames_weft(bench_below(folder, "in"), bench_below(folder, "weft")));
        snprintf(
            line, sizeof line,
            "cd '%s' && p='%s' && \"$p\" read <in | \"$p\" blur | \"$p\" edges | \"$p\" encode "
            ">shell",
            folder, WEFT_FLOW_FRAMES);
        frames_best(&shell, frames_line(line));
#ifdef WEFT_FLOW_TBB
        snprintf(line, sizeof line, "'%s' frames '%s/in' '%s/tbb' 0 0 %d %d", WEFT_FLOW_TBB, folder,
                 folder, frames, THREADS);
        frames_best(&tbb, flow_peer(line));
#endif
    }
    printf("\n%d frames of 320 x 240: read, blur, edges, encode\n", frames);
    json_write_key(j, "frames");
    json_write_object(j);
    frames_say(j, "weft", weft, frames);
    frames_say(j, "shell pipeline", shell, frames);
    frames_say(j, "oneTBB parallel_pipeline", tbb, frames);
    snprintf(line, sizeof line, "cd '%s' && cmp weft shell && { [ ! -f tbb ] || cmp weft tbb; }",
             folder);
    bool same = frames_line(line).seconds >= 0;
    printf("  what they made is %s\n", same ? "the same, byte by byte" : "NOT the same");
    json_put_bool(j, "same", same);
    json_write_end_object(j);
    snprintf(line, sizeof line, "rm -rf '%s'", folder);
    frames_line(line);
}

struct flow_arguments {
    const char *output;
    bool quick, one;
    int frames;
    struct setting only;
};

static bool flow_arguments_read(int argc, char **argv, struct flow_arguments *a)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc, good = true;
        if (strcmp(argv[i], "--quick") == 0)
            a->quick = true;
        else if (more && strcmp(argv[i], "--json") == 0)
            a->output = argv[++i];
        else if (more && strcmp(argv[i], "--frames") == 0)
            good = (a->frames = atoi(argv[++i])) > 0;
        else if (more && strcmp(argv[i], "--only") == 0)
            good = a->one = setting_read(argv[++i], &a->only);
        else
            good = false;
        if (!good) {
            fprintf(stderr,
                    "bench_flow: %s: unknown; [--json FILE] [--quick] [--frames N] "
                    "[--only serial|farm:MICROSECONDS:BYTES]\n",
                    argv[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct flow_arguments a = {0};
    if (!flow_arguments_read(argc, argv, &a))
        return 2;
    if (!a.frames)
        a.frames = a.quick ? 100 : USUAL_FRAMES;
    void *library = dlopen(WEFT_FLOW_FILTERS, RTLD_NOW | RTLD_LOCAL);
    stage_rounds = library ? dlsym(library, "stage_rounds") : NULL;
    if (!stage_rounds) {
        fprintf(stderr, "bench_flow: %s\n", dlerror());
        return 1;
    }
    struct bench_report report = {.file = a.output};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-flow/1");
    if (a.one) {
        measure_one(j, a.only);
        return bench_report_end(&report);
    }
    measure_memory(j, a.quick);
    measure_frames(j, a.frames, a.quick || a.frames >= USUAL_FRAMES ? 1 : 2);
    return bench_report_end(&report);
}
