/* What running costs: a real run on this machine beside a bare loop and other tools.
 *   bench_run [--json FILE] [--quick] [--only million|processes|calls|inputs]
 * Processes: 10,000 times /bin/true on 2 slots, then as a chain, each in turn in every round, so
 * that whatever else the machine does falls on all of them. Calls: functions that do nothing on 2
 * threads, beside StarPU. A million of them from a file with the real program: memory, and the time
 * of a run that finds nothing to do. Inputs: what 3,000 of them add to the start of a task. Files are
 * in $TMPDIR. Medians of 5. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/graph.h"
#include "bench/run_peers.h"
#include "history/history.h"
#include "model/builder.h"
#include "drive/run.h"
#include "base/tree.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 5, SLOTS = 2 };

static char folder[1024]; /* of everything that is made here */
static struct json_writer *j;

/* What a run leaves: the next one starts afresh. */
static void wipe_records(void)
{
    static const char *const names[] = {".weft", "history.db", "history.db-wal", "history.db-shm",
                                        "journal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tree_remove(bench_below(folder, names[i]));
}

/* ---- weft from inside ---- */

enum graph { INDEPENDENT, RANDOM, CHAIN };
static const char *const graph_names[] = {"independent", "degree 4", "chain"};

static struct workflow *bench_workflow(enum graph graph, uint32_t n, const char *command, bool call)
{
    struct builder *b = builder_new("<bench>", "bench");
    struct rng r;
    uint32_t parents[GRAPH_DEGREE];
    uint32_t degree = graph == RANDOM ? GRAPH_DEGREE : graph == CHAIN;
    char name[24];
    rng_seed(&r, 1);
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_command(b, t, command, strlen(command));
        if (call)
            builder_flag(b, t, TASK_CALL);
    }
    for (uint32_t t = 1; t < n; t++) {
        graph_parents(&r, t, degree, graph == CHAIN ? 1 : GRAPH_WINDOW, parents);
        for (uint32_t k = 0; k < degree; k++)
            builder_edge(b, parents[k], t, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

struct inside {
    bool memo, history, journal;
};

/* Seconds from opening the records to closing them. */
static double run_inside(const struct workflow *w, struct inside with)
{
    struct error err = {0};
    struct memo *memo = NULL;
    struct needs needs;
    struct history *history = NULL;
    struct trace_sink sink;
    const struct trace_sink *sinks[] = {&sink};
    struct run_record record = {.name = (char *)"bench",
                                .folder = folder,
                                .tasks = w->ntasks,
                                .cores = SLOTS,
                                .speed = 1,
                                .predicted_seconds = NAN,
                                .predicted_memory = NAN,
                                .predicted_disk = NAN,
                                .peak_memory = NAN,
                                .peak_disk = NAN,
                                .workflow = (struct workflow *)w};
    wipe_records();
    mkdir(bench_below(folder, ".weft"), 0777);
    double start = clock_seconds();
    struct run_options o = {.workflow = w,
                            .folder = folder,
                            .state = bench_below(folder, ".weft"),
                            .label = "bench",
                            .cores = SLOTS,
                            .journal = with.journal ? bench_below(folder, "journal") : NULL,
                            .journal_eager = with.journal};
    if (with.memo) {
        memo = memo_open(bench_below(folder, ".weft/memo"), NULL, &err);
        bench_must(memo != NULL, &err);
        bench_must(needs_find(&needs, w, folder, memo, &(struct need_options){0}, &err), &err);
        o.needs = &needs;
    }
    if (with.history) {
        history = history_open(bench_below(folder, "history.db"), &err);
        bench_must(history != NULL, &err);
        bench_must(history_begin(history, &record, NULL, 0, &err) != 0, &err);
        sink = history_sink(history);
        o.sinks = sinks;
        o.nsinks = 1;
    }
    struct run_result result;
    bool good = run_workflow(&o, &result, &err);
    for (size_t i = 0; i < result.failures.n; i++)
        fprintf(stderr, "bench_run: outcome %d, status %d: %s\n",
                (int)result.failures.at[i].outcome, result.failures.at[i].status,
                result.failures.at[i].text ? result.failures.at[i].text : "");
    bench_must(good, &err);
    if (result.done != w->ntasks) {
        fprintf(stderr, "bench_run: %u of %u tasks done\n", result.done, w->ntasks);
        exit(1);
    }
    run_result_free(&result);
    if (history) {
        record.outcome = RECORD_DONE;
        record.ran = w->ntasks;
        bench_must(history_end(history, &record, &err), &err);
        history_close(history);
    }
    if (memo) {
        needs_free(&needs);
        bench_must(memo_close(memo, &err), &err);
    }
    return clock_seconds() - start;
}

/* ---- processes ---- */

enum who { LOOP, INSIDE, INSIDE_HISTORY, WEFT, WEFT_PLAIN, MAKE, XARGS, NINJA, PARALLEL, WHO };

static const struct {
    const char *name, *program; /* program: a peer that may not be installed */
    uint32_t share;             /* runs 1 / share of the tasks */
    bool chains;
} contender[WHO] = {
    [LOOP] = {"bare posix_spawn loop", NULL, 1, true},
    [INSIDE] = {"run_workflow(), memo", NULL, 1, true},
    [INSIDE_HISTORY] = {"run_workflow(), memo and history", NULL, 1, true},
    [WEFT] = {"weft run", NULL, 1, true},
    [WEFT_PLAIN] = {"weft run --no-history", NULL, 1, true},
    [MAKE] = {"make -j2", "make", 2, true},
    [XARGS] = {"xargs -P2 -n1", "xargs", 2, false},
    [NINJA] = {"ninja -j2", "ninja", 5, true},
    [PARALLEL] = {"parallel -j2", "parallel", 20, false},
};

static double run_contender(enum who who, const struct workflow *w, uint32_t n, bool chain)
{
    static const char *const make_words[] = {"make", "-s", "-j2", "all", NULL};
    static const char *const xargs_words[] = {"xargs", "-a",        "lines", "-P2",
                                              "-n1",   "/bin/true", NULL};
    static const char *const ninja_words[] = {"ninja", "-j2", "--quiet", NULL};
    static const char *const parallel_words[] = {"parallel", "-a",        "lines",
                                                 "-j2",      "/bin/true", NULL};
    const char *const weft_words[] = {WEFT_PROGRAM, "run", "flow.yaml", "-q", "-j2", NULL};
    const char *const plain_words[] = {WEFT_PROGRAM, "run",          "flow.yaml", "-q",
                                       "-j2",        "--no-history", NULL};
    switch (who) {
    case LOOP:
        return peer_loop(n, chain ? 1 : SLOTS);
    case INSIDE:
    case INSIDE_HISTORY:
        return run_inside(w, (struct inside){.memo = true, .history = who == INSIDE_HISTORY});
    case WEFT:
    case WEFT_PLAIN:
        wipe_records();
        return peer_run(who == WEFT ? weft_words : plain_words, folder).seconds;
    case MAKE:
        peer_makefile(folder, n, chain);
        return peer_run(make_words, folder).seconds;
    case XARGS:
        peer_lines(folder, n);
        return peer_run(xargs_words, folder).seconds;
    case NINJA:
        unlink(bench_below(folder, ".ninja_log"));
        unlink(bench_below(folder, ".ninja_deps"));
        peer_ninja(folder, n, chain);
        return peer_run(ninja_words, folder).seconds;
    case PARALLEL:
        peer_lines(folder, n);
        return peer_run(parallel_words, folder).seconds;
    case WHO:
        break;
    }
    return -1;
}

/* Ratios to the loop of the same round. */
static void measure_processes(bool chain, uint32_t n, int repeats, double ratio[WHO],
                              double *overhead)
{
    double rate[WHO][REPEATS] = {0}, cpu[WHO][REPEATS] = {0}, against[REPEATS], costs[REPEATS];
    bool there[WHO];
    struct workflow *w = bench_workflow(chain ? CHAIN : INDEPENDENT, n, "/bin/true", false);
    peer_weft(folder, "flow.yaml", n, chain, "run: /bin/true");
    for (enum who i = 0; i < WHO; i++)
        there[i] = (contender[i].chains || !chain) &&
                   (!contender[i].program || peer_there(contender[i].program));
    for (int round = 0; round < repeats; round++)
        for (enum who i = 0; i < WHO; i++) {
            uint32_t count = n / contender[i].share;
            double before = bench_cpu_seconds();
            double seconds = there[i] ? run_contender(i, w, count, chain) : -1;
            cpu[i][round] = i <= INSIDE_HISTORY ? 1e6 * (bench_cpu_seconds() - before) / count : 0;
            rate[i][round] = seconds > 0 ? count / seconds : 0;
        }
    printf("\n%s of /bin/true, %s\n%-34s %8s %10s %8s %10s\n",
           chain ? "a chain" : "independent tasks", chain ? "the loop on 1 slot" : "2 slots", "",
           "tasks", "tasks/s", "to loop", "own CPU us");
    for (enum who i = 0; i < WHO; i++) {
        ratio[i] = 0;
        if (!there[i])
            continue;
        for (int round = 0; round < repeats; round++)
            against[round] = rate[i][round] / rate[LOOP][round];
        ratio[i] = bench_median(against, repeats);
        double middle = bench_median(rate[i], repeats);
        double own = bench_median(cpu[i], repeats);
        printf("%-34s %8u %10.0f %8.3f", contender[i].name, n / contender[i].share, middle,
               ratio[i]);
        printf(own > 0 ? " %10.0f\n" : "\n", own);
        json_write_object_inline(j);
        json_put_string(j, "graph", chain ? "chain" : "independent");
        json_put_string(j, "work", "/bin/true");
        json_put_string(j, "setting", contender[i].name);
        json_put_integer(j, "tasks", n / contender[i].share);
        json_put_number(j, "tasks_per_second", middle);
        json_put_number(j, "to_loop", ratio[i]);
        if (own > 0)
            json_put_number(j, "own_cpu_us_per_task", own);
        json_write_end_object(j);
    }
    for (int round = 0; round < repeats; round++)
        costs[round] = rate[WEFT_PLAIN][round] / rate[WEFT][round] - 1;
    *overhead = bench_median(costs, repeats);
    fflush(stdout);
    workflow_free(w);
}

/* ---- calls ---- */

static double measure_starpu(enum graph graph, uint32_t n)
{
#ifdef WEFT_PEER_STARPU
    char count[16], degree[16], window[16], out[256];
    snprintf(count, sizeof count, "%u", n);
    snprintf(degree, sizeof degree, "%d", graph == RANDOM ? GRAPH_DEGREE : graph == CHAIN);
    snprintf(window, sizeof window, "%d", graph == CHAIN ? 1 : GRAPH_WINDOW);
    const char *const words[] = {WEFT_PEER_STARPU, count, degree, window, NULL};
    if (peer_read(words, folder, out, sizeof out).seconds < 0)
        return 0;
    double seconds = strtod(out, NULL);
    return seconds > 0 ? n / seconds : 0;
#else
    (void)graph;
    (void)n;
    return 0;
#endif
}

static void call_row(enum graph graph, const char *setting, uint32_t n, double rate, double cpu)
{
    if (!(rate > 0))
        return;
    printf("%-12s %-34s %9u %10.0f %8.0f", graph_names[graph], setting, n, rate, 1e9 / rate);
    printf(cpu > 0 ? " %8.0f\n" : "\n", cpu);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph_names[graph]);
    json_put_string(j, "work", "call of nothing");
    json_put_string(j, "setting", setting);
    json_put_integer(j, "tasks", n);
    json_put_number(j, "tasks_per_second", rate);
    if (cpu > 0)
        json_put_number(j, "cpu_ns_per_task", cpu);
    json_write_end_object(j);
}

struct call_rates {
    double plain, journal, starpu, to_starpu;
};

static void measure_calls(enum graph graph, uint32_t n, int repeats, struct call_rates *out)
{
    static const struct {
        const char *name;
        struct inside with;
    } setting[] = {{"weft, store in memory", {0}},
                   {"weft, store with journal", {.journal = true}},
                   {"weft, every task in the memo", {.memo = true}}};
    enum { SETTINGS = sizeof setting / sizeof *setting };
    double rate[SETTINGS][REPEATS], cpu[SETTINGS][REPEATS], peer[REPEATS], against[REPEATS];
    struct workflow *w = bench_workflow(graph, n, WEFT_NOTHING ":nothing", true);
    for (int round = 0; round < repeats; round++) {
        for (int i = 0; i < SETTINGS; i++) {
            double before = bench_cpu_seconds();
            rate[i][round] = n / run_inside(w, setting[i].with);
            cpu[i][round] = 1e9 * (bench_cpu_seconds() - before) / n;
        }
        peer[round] = measure_starpu(graph, n / 5);
        against[round] = peer[round] > 0 ? rate[0][round] / peer[round] : 0;
    }
    for (int i = 0; i < SETTINGS; i++)
        call_row(graph, setting[i].name, n, bench_median(rate[i], repeats),
                 bench_median(cpu[i], repeats));
    *out = (struct call_rates){bench_median(rate[0], repeats), bench_median(rate[1], repeats),
                               bench_median(peer, repeats), bench_median(against, repeats)};
    call_row(graph, "StarPU", n / 5, out->starpu, 0);
    workflow_free(w);
}

/* ---- a million from a file ---- */

struct million {
    double seconds, bytes, again;
};

static struct million measure_million(uint32_t n, int repeats)
{
    const char *const words[] = {WEFT_PROGRAM, "run", "million.yaml", "-q", "-j2", NULL};
    double seconds[REPEATS], bytes[REPEATS], again[REPEATS];
    peer_weft(folder, "million.yaml", n, false, "call: '" WEFT_NOTHING ":nothing'");
    for (int round = 0; round < repeats; round++) {
        wipe_records();
        struct peer_use first = peer_run(words, folder), second = peer_run(words, folder);
        seconds[round] = first.seconds;
        bytes[round] = (first.peak > second.peak ? first.peak : second.peak) / n;
        again[round] = second.seconds;
    }
    unlink(bench_below(folder, "million.yaml"));
    return (struct million){bench_median(seconds, repeats), bench_median(bytes, repeats),
                            bench_median(again, repeats)};
}

/* ---- one task with many inputs ---- */

enum { MANY_INPUTS = 3000 };

/* A task that reads the first n of the files. */
static void write_reader(const char *name, uint32_t n)
{
    FILE *f = fopen(bench_below(folder, name), "we");
    if (!f)
        abort();
    fprintf(f, "weft: 1\ntasks:\n  reader:\n    run: /bin/true\n    in: [");
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%sinputs/%u", i ? ", " : "", i);
    fprintf(f, "]\n");
    fclose(f);
}

/* Seconds that MANY_INPUTS add to a run of one task whose inputs are known: reading the list, looking
 * at the files, links in the sandbox, looking again when it has ended. */
static double measure_inputs(int repeats)
{
    const char *const one[] = {WEFT_PROGRAM, "run", "one.yaml", "-q", "--force", NULL};
    const char *const many[] = {WEFT_PROGRAM, "run", "many.yaml", "-q", "--force", NULL};
    double more[REPEATS];
    char name[40];
    wipe_records();
    mkdir(bench_below(folder, "inputs"), 0777);
    for (uint32_t i = 0; i < MANY_INPUTS; i++) {
        snprintf(name, sizeof name, "inputs/%u", i);
        FILE *f = fopen(bench_below(folder, name), "we");
        if (!f)
            abort();
        fprintf(f, "%u\n", i);
        fclose(f);
    }
    write_reader("one.yaml", 1);
    write_reader("many.yaml", MANY_INPUTS);
    peer_run(many, folder); /* reads and remembers them */
    for (int round = 0; round < repeats; round++) {
        double base = peer_run(one, folder).seconds;
        more[round] = peer_run(many, folder).seconds - base;
    }
    tree_remove(bench_below(folder, "inputs"));
    return bench_median(more, repeats);
}

/* ---- */

struct run_bench_figures {
    struct million m;
    double inputs;
    double flat[WHO], chain[WHO], overhead;
    struct call_rates call[3];
};

static void state_goals(const struct run_bench_figures *f)
{
    const double *flat = f->flat, *chain = f->chain, overhead = f->overhead;
    const struct call_rates *call = f->call;
    const struct million *m = &f->m;
    double peers = 0, chained = fmax(chain[MAKE], chain[NINJA]);
    for (enum who i = MAKE; i < WHO; i++)
        peers = fmax(peers, flat[i]);
    printf("\n%-66s %8s %-12s %-16s met\n", "goal", "value", "", "want");
    json_write_end_array(j);
    json_write_key(j, "goals");
    json_write_array(j);
    bench_goal(j, "10,000 processes with memo and history, of the loop's rate",
               flat[INSIDE_HISTORY], "", ">= 0.9", flat[INSIDE_HISTORY] >= 0.9);
    bench_goal(j, "the same by `weft run`, start and report included", flat[WEFT], "", ">= 0.9",
               flat[WEFT] >= 0.9);
    bench_goal(j, "`weft run` against the best of make, xargs, ninja, parallel", flat[WEFT] / peers,
               "times", "> 1", flat[WEFT] > peers);
    bench_goal(j, "a chain of processes by `weft run`, of the loop's rate", chain[WEFT], "",
               ">= 0.85", chain[WEFT] >= 0.85);
    bench_goal(j, "against the better of make and ninja", chain[WEFT] / chained, "times", "> 1",
               chain[WEFT] > chained);
    bench_goal(j, "recording history, more time", 100 * overhead, "%", "<= 5", overhead <= 0.05);
    bench_goal(j, "calls, independent", call[INDEPENDENT].plain, "tasks/s", ">= 2e6",
               call[INDEPENDENT].plain >= 2e6);
    bench_goal(j, "calls, random DAG of degree 4", call[RANDOM].plain, "tasks/s", ">= 1e6",
               call[RANDOM].plain >= 1e6);
    for (enum graph g = INDEPENDENT; g <= CHAIN; g++)
        if (call[g].starpu > 0) {
            char what[80];
            snprintf(what, sizeof what, "calls, %s, against StarPU", graph_names[g]);
            bench_goal(j, what, call[g].to_starpu, "times", ">= 5", call[g].to_starpu >= 5);
        }
    bench_goal(j, "with the journal, independent", call[INDEPENDENT].journal / 2e6, "of 2e6/s",
               ">= 1/3", call[INDEPENDENT].journal >= 2e6 / 3);
    bench_goal(j, "with the journal, degree 4", call[RANDOM].journal / 1e6, "of 1e6/s", ">= 1/3",
               call[RANDOM].journal >= 1e6 / 3);
    bench_goal(j, "a million calls from a file: peak memory", m->bytes, "bytes/task", "<= 1024",
               m->bytes <= 1024);
    bench_goal(j, "the same again, nothing to do", m->again, "s", "<= 1", m->again <= 1);
    bench_goal(j, "a task of 3,000 inputs starts later by", f->inputs, "s", "<= 0.1",
               f->inputs <= 0.1);
}

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL;
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: bench_run [--json FILE] [--quick] [--only "
                            "million|processes|calls|inputs]\n");
            return 2;
        }
    }
    bench_make_folder(folder, sizeof folder, "weft-bench-run");
    setenv("WEFT_HISTORY", bench_below(folder, "history.db"), 1);
    setenv("STARPU_HOME", folder, 1);
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_NCUDA", "0", 1);
    setenv("STARPU_NOPENCL", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    uint32_t processes_n = quick ? 1000 : 10000, calls_n = quick ? 100000 : 1000000;
    int repeats = quick ? 3 : REPEATS;
    struct bench_report report = {.file = json};
    j = bench_report_begin(&report, "weft-bench-run/1");
    json_write_key(j, "rows");
    json_write_array(j);
    struct run_bench_figures f = {0};
    /* first, while this process is small: a child's peak is never told as less than its parent's */
    if (!only || strcmp(only, "million") == 0) {
        f.m = measure_million(calls_n, repeats);
        printf("%u calls from a file by `weft run`: %.2f s, %.0f bytes a task at the peak; again: "
               "%.2f s\n",
               calls_n, f.m.seconds, f.m.bytes, f.m.again);
        fflush(stdout);
    }
    if (!only || strcmp(only, "inputs") == 0) {
        f.inputs = measure_inputs(repeats);
        printf("a task of %d inputs starts %.3f s later than one of 1\n", MANY_INPUTS, f.inputs);
        fflush(stdout);
    }
    if (!only || strcmp(only, "processes") == 0) {
        double ignored;
        measure_processes(false, processes_n, repeats, f.flat, &f.overhead);
        measure_processes(true, processes_n, repeats, f.chain, &ignored);
    }
    if (!only || strcmp(only, "calls") == 0) {
        printf("\n%-12s %-34s %9s %10s %8s %8s\n", "calls", "2 threads", "tasks", "tasks/s",
               "ns/task", "CPU ns");
        for (enum graph g = INDEPENDENT; g <= CHAIN; g++)
            measure_calls(g, calls_n, repeats, &f.call[g]);
    }
    if (!only)
        state_goals(&f);
    json_write_end_array(j);
    tree_remove(folder);
    return bench_report_end(&report);
}
