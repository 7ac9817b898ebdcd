/* What metadata cost on a Redis server, beside the embedded store.
 *   bench_store [--json FILE] [--quick]
 * First operations alone, in batches of 4096; then no-op tasks through a scheduler and the store,
 * as in bench_sched: how many a second, and how many operations and round trips each. The server is
 * this machine's redis-server, started here on a free port. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "sched/sched.h"
#include "store/redis/testing.h"

#define CHUNK 4096

struct store_setting {
    const char *name;
    struct server *server; /* NULL: embedded */
    uint32_t shards, clients;
};

static struct store *open_store(const struct store_setting *set, const struct workflow *w,
                                bool forget)
{
    struct error err = {0};
    struct store *s;
    if (set->server)
        s = store_redis_open(&(struct store_redis_config){.workflow = w,
                                                          .servers = set->server->address,
                                                          .prefix = "bench",
                                                          .shards = set->shards,
                                                          .forget = forget},
                             NULL, &err);
    else
        s = store_embedded_open(&(struct store_embedded_config){.workflow = w}, NULL, &err);
    bench_must(s != NULL, &err);
    return s;
}

/* ---- operations alone ---- */

static double operations_rate(struct store *s, uint8_t kind, const struct workflow *w)
{
    static struct meta_op ops[CHUNK];
    struct meta_answers all;
    struct error err = {0};
    double start = clock_seconds();
    uint64_t got = 0;
    for (uint32_t i = 0; i < w->ntasks;) {
        uint32_t n = 0;
        for (; n < CHUNK && i < w->ntasks; n++, i++)
            ops[n] = (struct meta_op){
                .kind = kind, .task = w->topo[i], .node = 1, .epoch = kind != META_HOLD};
        store_submit(s, ops, n);
        bench_must(store_poll(s, &all, &err), &err);
        got += all.n;
    }
    while (got < w->ntasks) {
        store_wait(s);
        bench_must(store_poll(s, &all, &err), &err);
        got += all.n;
    }
    return w->ntasks / (clock_seconds() - start);
}

static void operations_row(struct json_writer *j, const char *graph, const struct workflow *w,
                           struct store_setting set)
{
    static const uint8_t kinds[] = {META_PUT, META_HOLD, META_GET, META_COMPLETE};
    static const char *const names[] = {"put", "hold", "get", "complete"};
    struct error err = {0};
    struct store *s = open_store(&set, w, true);
    printf("%-12s %9u  %-24s", graph, w->ntasks, set.name);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph);
    json_put_integer(j, "tasks", w->ntasks);
    json_put_string(j, "setting", set.name);
    for (int i = 0; i < 4; i++) {
        double rate = operations_rate(s, kinds[i], w);
        printf(" %10.0f", rate);
        json_put_number(j, names[i], rate);
    }
    printf("\n");
    fflush(stdout);
    json_write_end_object(j);
    bench_must(store_close(s, &err), &err);
}

/* ---- with a scheduler ---- */

struct store_figures {
    double seconds;
    uint64_t ops;
    struct store_redis_counts counts;
};

/* Each client has a range of the tasks, and is the node of that number. */
static struct store_figures client_drive(const struct store_setting *set, const struct workflow *w,
                                         uint32_t client, uint32_t cores, struct store *store)
{
    struct error err = {0};
    struct sched_actions out = {0};
    ARRAY(struct sched_ended) ended = {0};
    static uint32_t tasks[CHUNK];
    struct sched *sched = sched_new(&(struct sched_config){
        .node = client, .nodes = 1 + client, .cores = cores, .seed = 1, .wait_poll = -1});
    struct store_figures f = {0};
    double start = clock_seconds(), now = 0;
    uint32_t next = (uint32_t)((uint64_t)w->ntasks * client / set->clients);
    uint32_t end = (uint32_t)((uint64_t)w->ntasks * (client + 1) / set->clients);
    uint32_t left = end - next;
    ARRAY(struct sched_ended) ending = {0};
    while (left) {
        if (next < end) {
            uint32_t n = 0;
            for (; n < CHUNK && next < end; next++) {
                array_push(
                    &out.ops,
                    (struct meta_op){.kind = META_PUT, .task = next, .node = client, .slot = NONE});
                tasks[n++] = next;
            }
            f.ops += out.ops.n;
            store_submit(store, out.ops.at, out.ops.n);
            sched_actions_clear(&out);
            struct sched_event e = {.kind = SCHED_EVENT_SUBMIT, .now = now, .submit = {tasks, n}};
            sched_handle(sched, &e, &out);
        }
        ending.n = 0;
        for (size_t i = 0; i < ended.n; i++)
            array_push(&ending, ended.at[i]);
        ended.n = 0;
        if (ending.n) {
            struct sched_event e = {
                .kind = SCHED_EVENT_ENDED, .now = now, .ended = {ending.at, ending.n}};
            sched_handle(sched, &e, &out);
        }
        struct sched_event e = {.kind = SCHED_EVENT_STORE, .now = now};
        if (!out.ops.n && !ending.n)
            store_wait(store);
        bench_must(store_poll(store, &e.store, &err), &err);
        if (e.store.n)
            sched_handle(sched, &e, &out);
        for (size_t i = 0; i < out.starts.n; i++)
            array_push(&ended, (struct sched_ended){.task = out.starts.at[i].task,
                                                    .slot = out.starts.at[i].slot,
                                                    .start = now,
                                                    .finish = now});
        for (size_t i = 0; i < out.notes.n; i++)
            left -= out.notes.at[i].kind == SCHED_NOTE_DONE;
        f.ops += out.ops.n;
        if (out.ops.n)
            store_submit(store, out.ops.at, out.ops.n);
        sched_actions_clear(&out);
        now += 1e-6;
    }
    f.seconds = clock_seconds() - start;
    if (set->server)
        f.counts = store_redis_counts(store);
    sched_free(sched);
    sched_actions_free(&out);
    array_free(&ended);
    array_free(&ending);
    return f;
}

/* Seconds that the server's thread has worked: what counts when the machine is shared. */
static double server_seconds(struct server *server)
{
    const char *info = server ? tell(server, "INFO cpu") : "";
    const char *user = strstr(info, "used_cpu_user_main_thread:");
    const char *sys = strstr(info, "used_cpu_sys_main_thread:");
    return user && sys ? strtod(user + 26, NULL) + strtod(sys + 25, NULL) : 0;
}

/* Several clients are processes of their own, as agents are. */
static struct store_figures drive_all(const struct store_setting *set, const struct workflow *w,
                                      uint32_t cores)
{
    struct error err = {0};
    struct store *keeper = open_store(set, w, true);
    struct store_figures f = {0};
    if (set->clients == 1) {
        f = client_drive(set, w, 0, cores, keeper);
        bench_must(store_close(keeper, &err), &err);
        return f;
    }
    int results[2];
    if (pipe(results) < 0)
        exit(1);
    fflush(stdout);
    double start = clock_seconds();
    for (uint32_t c = 0; c < set->clients; c++)
        if (fork() == 0) {
            struct store *s = open_store(set, w, false);
            struct store_figures own = client_drive(set, w, c, cores, s);
            bool good = write(results[1], &own, sizeof own) == sizeof own;
            _exit(store_close(s, &err) && good ? 0 : 1);
        }
    for (uint32_t c = 0; c < set->clients; c++) {
        struct store_figures own;
        int status = 1;
        if (wait(&status) < 0 || status || read(results[0], &own, sizeof own) != sizeof own)
            exit(1);
        f.ops += own.ops;
        f.counts.calls += own.counts.calls;
        f.counts.round_trips += own.counts.round_trips;
        f.counts.sent += own.counts.sent;
        f.counts.received += own.counts.received;
    }
    f.seconds = clock_seconds() - start;
    close(results[0]);
    close(results[1]);
    bench_must(store_close(keeper, &err), &err);
    return f;
}

static double tasks_row(struct json_writer *j, const char *graph, const struct workflow *w,
                        uint32_t cores, struct store_setting set)
{
    double before = server_seconds(set.server);
    struct store_figures f = drive_all(&set, w, cores);
    double n = w->ntasks, rate = n / f.seconds, busy = server_seconds(set.server) - before;
    printf("%-12s %9u  %-24s %5u %10.0f %6.2f %8.4f %7.0f %7.0f %7.2f\n", graph, w->ntasks,
           set.name, cores, rate, (double)f.ops / n, (double)f.counts.round_trips / n,
           (double)f.counts.sent / n, (double)f.counts.received / n, 1e6 * busy / n);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph);
    json_put_integer(j, "tasks", w->ntasks);
    json_put_string(j, "setting", set.name);
    json_put_integer(j, "cores", cores);
    json_put_number(j, "tasks_per_second", rate);
    json_put_number(j, "operations_per_task", (double)f.ops / n);
    json_put_number(j, "round_trips_per_task", (double)f.counts.round_trips / n);
    json_put_number(j, "bytes_sent_per_task", (double)f.counts.sent / n);
    json_put_number(j, "bytes_received_per_task", (double)f.counts.received / n);
    json_put_number(j, "server_cpu_us_per_task", 1e6 * busy / n);
    json_write_end_object(j);
    return rate;
}

static void measure_operations(struct json_writer *j, const struct store_setting *settings,
                               int nsettings, const struct workflow *bag,
                               const struct workflow *dag)
{
    printf("operations a second, one client, batches of %u\n%-12s %9s  %-24s %10s %10s %10s %10s\n",
           CHUNK, "graph", "tasks", "setting", "PUT", "HOLD", "GET", "COMPLETE");
    json_write_key(j, "operations");
    json_write_array(j);
    for (int i = 0; i < nsettings && i < 4; i++) {
        operations_row(j, "independent", bag, settings[i]);
        operations_row(j, "degree 4", dag, settings[i]);
    }
    json_write_end_array(j);
}

/* Returns the rate of the setting with several clients; 0: there was none. */
static double measure_tasks(struct json_writer *j, const struct store_setting *settings,
                            int nsettings, const struct workflow *bag, const struct workflow *dag,
                            const struct workflow *chain)
{
    printf("\nno-op tasks through a scheduler and the store\n%-12s %9s  %-24s %5s %10s %6s %8s %7s "
           "%7s %7s\n",
           "graph", "tasks", "setting", "cores", "tasks/s", "ops", "trips", "B out", "B in",
           "srv us");
    json_write_key(j, "tasks");
    json_write_array(j);
    double four = 0;
    for (int i = 0; i < nsettings; i++) {
        double rate = tasks_row(j, "independent", bag, 64, settings[i]);
        four = settings[i].clients > 1 ? rate : four;
        if (settings[i].clients > 1)
            continue; /* tasks that wait for another client's need messages, which are `run`'s */
        tasks_row(j, "degree 4", dag, 64, settings[i]);
        tasks_row(j, "chain", chain, 2, settings[i]);
    }
    json_write_end_array(j);
    return four;
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    uint32_t n = 100000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            n = 20000;
        } else {
            fprintf(stderr, "usage: bench_store [--json FILE] [--quick]\n");
            return 2;
        }
    }
    bool redis = has_program("redis-server");
    struct server plain = {.more = {"--appendonly", "no"}},
                  safe = {.more = {"--appendfsync", "everysec"}};
    char folder[4096];
    make_folder(folder, sizeof folder);
    if (redis) {
        server_start(&plain, folder, "plain");
        server_start(&safe, folder, "safe");
    } else {
        printf("redis-server is not installed: the embedded store only\n");
    }
    struct store_setting settings[] = {{"embedded", NULL, 0, 1},
                                       {"redis, no file", &plain, 1, 1},
                                       {"redis, AOF everysec", &safe, 1, 1},
                                       {"redis, AOF, 16 shards", &safe, 16, 1},
                                       {"redis, AOF, 4 clients", &safe, 1, 4}};
    int nsettings = redis ? 5 : 1;
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-store/1");
    struct workflow *bag = bench_random_graph(n, 0, 1), *dag = bench_random_graph(n, 4, 1000),
                    *chain = bench_random_graph(n / 10, 1, 1);
    measure_operations(j, settings, nsettings, bag, dag);
    double four = measure_tasks(j, settings, nsettings, bag, dag, chain);
    if (redis) {
        printf("\nfour clients and the server on this machine: %.0f tasks/s (at least 50000)\n",
               four);
        json_put_number(j, "four_clients_per_second", four);
        server_remove(&plain);
        server_remove(&safe);
    }
    remove_folder(folder);
    workflow_free(bag);
    workflow_free(dag);
    workflow_free(chain);
    return bench_report_end(&report);
}
