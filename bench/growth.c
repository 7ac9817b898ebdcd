/* A run that grows against the same graph known from the start: 100 times 1,000 tasks.
 *
 *     bench_growth [--quick] [--on local:2] [--parts N] [--tasks N] [--rounds N] [--json FILE]
 *
 * --quick: 20 times 200, to see that it works. --on: on agents, for information; the bound is for one machine.
 *
 * A part's tasks read a file that the first task of the part before it made; that task's end adds the part
 * (weft_run_add()). Every task is /bin/true, the first of a part writes its file. The rounds take turns,
 * and the shortest of each count: the ratio is what growing costs. Beside it the processor time of the
 * program itself, without its tasks: what a loaded machine disturbs least. Its halves are told apart: a
 * growth whose cost grew with what is there already would make the second one dearer. */
#include "bench/bench.h"
#include "weft/weft.h"

#include <ftw.h>
#include <math.h>
#include <sys/stat.h>

struct growth_bench {
    uint32_t parts, tasks;
    const char *on;       /* agents; NULL: here */
    struct weft_run *run; /* the one that grows; NULL: all is known from the start */
    uint32_t added, ended;
    double told; /* when it was said how far it is */
    double half; /* processor time when half of the tasks had ended */
};

/* The tasks of one part. */
static void bench_add_part(struct weft_builder *b, uint32_t part, uint32_t tasks)
{
    char name[40], file[40], command[60];
    snprintf(file, sizeof file, "f%u", part - 1);
    for (uint32_t i = 0; i < tasks; i++) {
        snprintf(name, sizeof name, "p%u.%u", part, i);
        uint32_t t = weft_builder_task(b, name);
        if (part)
            weft_builder_reads(b, t, weft_builder_object(b, file));
        snprintf(name, sizeof name, "f%u", part);
        snprintf(command, sizeof command, "cp /dev/null f%u", part);
        weft_builder_command(b, t, i ? "/bin/true" : command);
        if (!i)
            weft_builder_writes(b, t, weft_builder_object(b, name));
    }
}

/* Each ten seconds on standard error, so that nobody takes a slow machine for one that hangs. */
static void bench_say_progress(struct growth_bench *g)
{
    struct timespec now;
    if (g->ended == g->parts * g->tasks / 2)
        g->half = bench_cpu_seconds();
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (g->ended++ && seconds < g->told + 10)
        return;
    if (g->ended > 1)
        fprintf(stderr, "bench_growth: %s, %u of %u tasks\n", g->run ? "grown" : "known", g->ended,
                g->parts * g->tasks);
    g->told = seconds;
}

static void bench_on_event(void *context, const struct weft_event *e)
{
    struct growth_bench *g = context;
    struct weft_error error;
    char name[40];
    if (e->kind == WEFT_EVENT_ENDED)
        bench_say_progress(g);
    snprintf(name, sizeof name, "p%u.0", g->added);
    if (!g->run || e->kind != WEFT_EVENT_ENDED || g->added + 1 >= g->parts ||
        strcmp(e->name, name) != 0)
        return;
    struct weft_builder *b = weft_builder_new("more");
    bench_add_part(b, ++g->added, g->tasks);
    struct weft_workflow *w = weft_builder_finish(b, &error);
    if (!w || !weft_run_add(g->run, w, &error)) {
        fprintf(stderr, "bench_growth: %s\n", error.text);
        exit(1);
    }
    weft_workflow_free(w);
}

static int bench_remove(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

/* Of a run: from opening to the end. */
struct growth_cost {
    double seconds, processor; /* on the wall; of this process alone */
    double half;               /* of the latter, for the first half of the tasks */
};

static void bench_keep_least(struct growth_cost *least, const struct growth_cost *c)
{
    least->seconds = fmin(least->seconds, c->seconds);
    if (c->processor < least->processor) {
        least->processor = c->processor;
        least->half = c->half;
    }
}

static struct growth_cost bench_run_once(struct growth_bench g, bool grows)
{
    struct weft_error error;
    struct timespec from, to;
    char folder[200];
    bench_temporary_name(folder, sizeof folder, "weft-bench-growth");
    mkdir(folder, 0700);
    struct weft_builder *b = weft_builder_new("growth");
    for (uint32_t i = 0; i < (grows ? 1 : g.parts); i++)
        bench_add_part(b, i, g.tasks);
    struct weft_workflow *w = weft_builder_finish(b, &error);
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    o.folder = folder;
    o.no_history = true;
    o.no_sandbox = true;
    o.on = g.on;
    o.adds = g.on && grows;
    o.program = getenv("WEFT");
    o.event = bench_on_event;
    o.context = &g;
    clock_gettime(CLOCK_MONOTONIC, &from);
    double begun = bench_cpu_seconds();
    struct weft_run *run = w ? weft_run_open_workflow(w, &o, &error) : NULL;
    g.run = grows ? run : NULL;
    if (!run || !weft_run_start(run, &error) || !weft_run_wait(run, &error) ||
        weft_run_result(run)->done != g.parts * g.tasks) {
        fprintf(stderr, "bench_growth: %s\n", error.text);
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ended = bench_cpu_seconds();
    weft_run_close(run);
    weft_workflow_free(w);
    nftw(folder, bench_remove, 16, FTW_DEPTH | FTW_PHYS);
    return (struct growth_cost){.seconds = (double)(to.tv_sec - from.tv_sec) +
                                           1e-9 * (double)(to.tv_nsec - from.tv_nsec),
                                .processor = ended - begun,
                                .half = g.half - begun};
}

int main(int argc, char **argv)
{
    struct growth_bench g = {.parts = 100, .tasks = 1000};
    int rounds = 3;
    const char *json = NULL;
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        g.parts = 20;
        g.tasks = 200;
        argc--;
        argv++;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--on") == 0)
            g.on = argv[i + 1];
        else if (strcmp(argv[i], "--parts") == 0)
            g.parts = (uint32_t)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--tasks") == 0)
            g.tasks = (uint32_t)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
    }
    struct growth_cost known = {INFINITY, INFINITY, 0}, grown = known;
    for (int i = 0; i < rounds; i++) {
        struct growth_cost a = bench_run_once(g, false);
        fprintf(stderr, "bench_growth: round %d of %d: known %.2f s\n", i + 1, rounds, a.seconds);
        struct growth_cost b = bench_run_once(g, true);
        fprintf(stderr, "bench_growth: round %d of %d: grown %.2f s\n", i + 1, rounds, b.seconds);
        bench_keep_least(&known, &a);
        bench_keep_least(&grown, &b);
    }
    double ratio = grown.seconds / known.seconds;
    printf(
        "%u growths of %u tasks: %.3f s, known from the start %.3f s, ratio %.3f (at most 1.1)\n",
        g.parts, g.tasks, grown.seconds, known.seconds, ratio);
    printf("weft's own processor time: %.3f s, known from the start %.3f s, ratio %.3f\n",
           grown.processor, known.processor, grown.processor / known.processor);
    printf("its halves: %.3f and %.3f s, known from the start %.3f and %.3f s\n", grown.half,
           grown.processor - grown.half, known.half, known.processor - known.half);
    struct bench_report r = {.file = json};
    struct json_writer *j = bench_report_begin(&r, "weft-bench-growth/1");
    json_put_integer(j, "parts", g.parts);
    json_put_integer(j, "tasks", g.tasks);
    json_put_number(j, "known_seconds", known.seconds);
    json_put_number(j, "grown_seconds", grown.seconds);
    json_put_number(j, "ratio", ratio);
    json_put_number(j, "known_processor_seconds", known.processor);
    json_put_number(j, "grown_processor_seconds", grown.processor);
    json_put_number(j, "known_first_half_seconds", known.half);
    json_put_number(j, "grown_first_half_seconds", grown.half);
    return bench_report_end(&r);
}
