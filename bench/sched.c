/* What a task costs in the scheduler and its store, when running it costs nothing.
 *   bench_sched [--json FILE] [--quick]
 * One node: submitted, held, decided, queued, started, completed, committed; the driver here does
 * no more than carry operations, answers and starts around. Many nodes: the same with all tasks
 * submitted to the first one (the paper's worst case), so that the others steal; messages arrive at
 * once. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "sched/sched.h"
#include "store/embedded.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 4096
#define REPEATS 5

struct driver {
    const struct workflow *w;
    struct store *store;
    struct sched **sched;
    uint32_t nodes;
    double now;                     /* virtual: a microsecond a step */
    struct sched_actions out, sent; /* sent: messages on their way */
    ARRAY(struct sched_ended) * ended;
    ARRAY(struct sched_timer) * timers;
    uint64_t done, ops, messages;
};

static void driver_handle(struct driver *d, uint32_t node, struct sched_event *e);

/* Carry out what a scheduler wants; its answers come back at once, so nothing is pending between
 * two calls. */
static void driver_carry_out(struct driver *d, uint32_t node)
{
    struct sched_actions *out = &d->out;
    for (size_t i = 0; i < out->starts.n; i++)
        array_push(&d->ended[node], (struct sched_ended){.task = out->starts.at[i].task,
                                                         .slot = out->starts.at[i].slot,
                                                         .start = d->now,
                                                         .finish = d->now});
    for (size_t i = 0; i < out->timers.n; i++)
        array_push(&d->timers[node], out->timers.at[i]);
    for (size_t i = 0; i < out->notes.n; i++)
        d->done += out->notes.at[i].kind == SCHED_NOTE_DONE;
    for (size_t i = 0; i < out->sends.n; i++) {
        struct sched_message m = out->sends.at[i];
        uint32_t from = m.first;
        m.first = (uint32_t)d->sent.items.n;
        for (uint32_t k = 0; k < m.count; k++)
            array_push(&d->sent.items, out->items.at[from + k]);
        array_push(&d->sent.sends, m);
    }
    if (out->ops.n) {
        d->ops += out->ops.n;
        store_submit(d->store, out->ops.at, out->ops.n);
    }
    sched_actions_clear(out);
}

static void driver_answers(struct driver *d, uint32_t node)
{
    struct error err = {0};
    for (;;) {
        struct sched_event e = {.kind = SCHED_EVENT_STORE, .now = d->now};
        bench_must(store_poll(d->store, &e.store, &err), &err);
        if (!e.store.n)
            return;
        sched_handle(d->sched[node], &e, &d->out);
        driver_carry_out(d, node);
    }
}

static void driver_handle(struct driver *d, uint32_t node, struct sched_event *e)
{
    e->now = d->now;
    sched_handle(d->sched[node], e, &d->out);
    driver_carry_out(d, node);
    driver_answers(d, node);
}

/* One round: every node ends what it runs, then the messages arrive. False: nothing happened. */
static bool driver_step(struct driver *d)
{
    bool any = false;
    for (uint32_t n = 0; n < d->nodes; n++)
        if (d->ended[n].n) {
            struct sched_event e = {
                .kind = SCHED_EVENT_ENDED, .now = d->now, .ended = {d->ended[n].at, d->ended[n].n}};
            any = true;
            sched_handle(d->sched[n], &e, &d->out);
            d->ended[n].n = 0;
            driver_carry_out(d, n);
            driver_answers(d, n);
        }
    static struct sched_actions arriving;
    struct sched_actions swap = arriving;
    arriving = d->sent;
    d->sent = swap;
    sched_actions_clear(&d->sent);
    for (size_t i = 0; i < arriving.sends.n; i++) {
        struct sched_message *m = &arriving.sends.at[i];
        struct sched_event e = {.kind = SCHED_EVENT_MESSAGE,
                                .message = {m, arriving.items.at + m->first}};
        any = true;
        d->messages++;
        driver_handle(d, m->to, &e);
    }
    d->now += 1e-6;
    return any;
}

static void driver_fire_timers(struct driver *d)
{
    double next = d->now + 1e9;
    for (uint32_t n = 0; n < d->nodes; n++)
        for (size_t i = 0; i < d->timers[n].n; i++)
            next = d->timers[n].at[i].when < next ? d->timers[n].at[i].when : next;
    d->now = next > d->now ? next : d->now;
    for (uint32_t n = 0; n < d->nodes; n++)
        for (size_t i = 0; i < d->timers[n].n;) {
            struct sched_timer t = d->timers[n].at[i];
            if (t.when > d->now) {
                i++;
                continue;
            }
            d->timers[n].at[i] = array_pop(&d->timers[n]);
            struct sched_event e = {.kind = SCHED_EVENT_TIMER, .timer = {t.kind, t.mark}};
            driver_handle(d, n, &e);
        }
}

struct sched_figures {
    double seconds, cpu, rate, sched_bytes, store_bytes, ops, messages;
};

struct sched_setting {
    const char *name;
    uint32_t nodes, cores;
    bool starts, journal, eager, no_sync;
};

static struct sched_figures sched_measure(const struct workflow *w, const struct sched_setting *set,
                                          const char *path)
{
    struct error err = {0};
    struct driver d = {.w = w, .nodes = set->nodes};
    unlink(path);
    struct store_embedded_config config = {.workflow = w,
                                           .journal = set->journal ? path : NULL,
                                           .eager = set->eager,
                                           .no_sync = set->no_sync};
    d.store = store_embedded_open(&config, NULL, &err);
    bench_must(d.store != NULL, &err);
    d.sched = mem_new(struct sched *, d.nodes);
    d.ended = (void *)mem_new_zero(struct sched_actions, d.nodes);
    d.timers = (void *)mem_new_zero(struct sched_actions, d.nodes);
    for (uint32_t n = 0; n < d.nodes; n++)
        d.sched[n] = sched_new(&(struct sched_config){.node = n,
                                                      .nodes = d.nodes,
                                                      .cores = set->cores,
                                                      .seed = 1,
                                                      .record_starts = set->starts});
    static struct meta_op puts[CHUNK];
    static uint32_t tasks[CHUNK];
    double start = clock_seconds(), cpu = clock_cpu_seconds();
    for (uint32_t t = 0; t < w->ntasks;) {
        uint32_t n = 0;
        for (; n < CHUNK && t < w->ntasks; n++, t++) {
            puts[n] = (struct meta_op){.kind = META_PUT, .task = t, .node = 0, .time = d.now};
            tasks[n] = t;
        }
        store_submit(d.store, puts, n);
        d.ops += n;
        struct sched_event e = {.kind = SCHED_EVENT_SUBMIT, .submit = {tasks, n}};
        driver_handle(&d, 0, &e);
    }
    double held = (double)sched_bytes(d.sched[0]);
    while (d.done < w->ntasks) {
        if (driver_step(&d))
            continue;
        driver_answers(&d, 0); /* a strict journal answers later */
        if (set->journal && d.done < w->ntasks)
            store_wait(d.store);
        if (d.nodes > 1)
            driver_fire_timers(&d);
    }
    bench_must(store_flush(d.store, &err), &err);
    double seconds = clock_seconds() - start;
    struct sched_figures f = {seconds,
                              clock_cpu_seconds() - cpu,
                              w->ntasks / seconds,
                              held / w->ntasks,
                              (double)store_bytes(d.store) / w->ntasks,
                              (double)d.ops / w->ntasks,
                              (double)d.messages / w->ntasks};
    for (uint32_t n = 0; n < d.nodes; n++) {
        sched_free(d.sched[n]);
        array_free(&d.ended[n]);
        array_free(&d.timers[n]);
    }
    free(d.sched);
    free(d.ended);
    free(d.timers);
    sched_actions_free(&d.out);
    sched_actions_free(&d.sent);
    bench_must(store_close(d.store, &err), &err);
    unlink(path);
    return f;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct sched_figures *)a)->seconds,
           y = ((const struct sched_figures *)b)->seconds;
    return (x > y) - (x < y);
}

static double sched_row(struct json_writer *j, const char *graph, const struct workflow *w,
                        struct sched_setting set, const char *path, int repeats)
{
    struct sched_figures f[REPEATS];
    for (int i = 0; i < repeats; i++)
        f[i] = sched_measure(w, &set, path);
    qsort(f, (size_t)repeats, sizeof *f, by_seconds);
    struct sched_figures m = f[repeats / 2];
    printf("%-12s %9u  %-26s %10.0f %8.0f %8.0f %7.0f %7.0f %6.1f %6.2f\n", graph, w->ntasks,
           set.name, m.rate, 1e9 * m.seconds / w->ntasks, 1e9 * m.cpu / w->ntasks, m.sched_bytes,
           m.store_bytes, m.ops, m.messages);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph);
    json_put_integer(j, "tasks", w->ntasks);
    json_put_string(j, "setting", set.name);
    json_put_integer(j, "nodes", set.nodes);
    json_put_number(j, "tasks_per_second", m.rate);
    json_put_number(j, "cpu_ns_per_task", 1e9 * m.cpu / w->ntasks);
    json_put_number(j, "scheduler_bytes_per_task", m.sched_bytes);
    json_put_number(j, "store_bytes_per_task", m.store_bytes);
    json_put_number(j, "operations_per_task", m.ops);
    json_put_number(j, "messages_per_task", m.messages);
    json_write_end_object(j);
    return m.rate;
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    uint32_t n = 1000000;
    int repeats = REPEATS;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            n = 100000;
            repeats = 1;
        } else {
            fprintf(stderr, "usage: bench_sched [--json FILE] [--quick]\n");
            return 2;
        }
    }
    char path[4096];
    bench_temporary_name(path, sizeof path, "weft-bench-journal");
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-sched/1");
    json_write_key(j, "rows");
    json_write_array(j);
    printf("%-12s %9s  %-26s %10s %8s %8s %7s %7s %6s %6s\n", "graph", "tasks", "setting",
           "tasks/s", "ns/task", "CPU ns", "sched B", "store B", "ops", "msgs");
    struct workflow *bag = bench_random_graph(n, 0, 1), *dag = bench_random_graph(n, 4, 1000),
                    *chain = bench_random_graph(n, 1, 1);
    struct sched_setting memory = {"memory", 1, 2, false, false, false, false};
    double headline = sched_row(j, "independent", bag, memory, path, repeats);
    sched_row(j, "independent", bag,
              (struct sched_setting){"memory, 64 cores", 1, 64, false, false, false, false}, path,
              repeats);
    sched_row(j, "independent", bag,
              (struct sched_setting){"memory, starts recorded", 1, 2, true, false, false, false},
              path, repeats);
    sched_row(j, "degree 4", dag, memory, path, repeats);
    sched_row(j, "chain", chain, memory, path, repeats);
    struct sched_setting eager = {"journal, eager", 1, 2, false, true, true, false};
    double journal = sched_row(j, "independent", bag, eager, path, repeats);
    sched_row(j, "degree 4", dag, eager, path, repeats);
    sched_row(j, "chain", chain, eager, path, repeats);
    sched_row(
        j, "independent", bag,
        (struct sched_setting){"journal, strict, 4096 cores", 1, 4096, false, true, false, false},
        path, 1);
    sched_row(
        j, "independent", bag,
        (struct sched_setting){"64 nodes, stolen from one", 64, 2, false, false, false, false},
        path, 1);
    sched_row(
        j, "degree 4", dag,
        (struct sched_setting){"64 nodes, stolen from one", 64, 2, false, false, false, false},
        path, 1);
    json_write_end_array(j);
    printf("\nindependent no-op tasks: %.2f million/s (at least 2); with journal %.2f of that (at "
           "least 0.33)\n",
           headline / 1e6, journal / headline);
    json_put_number(j, "independent_per_second", headline);
    json_put_number(j, "journal_ratio", journal / headline);
    workflow_free(bag);
    workflow_free(dag);
    workflow_free(chain);
    return bench_report_end(&report);
}
