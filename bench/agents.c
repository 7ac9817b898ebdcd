/* What a cluster costs: real agents and a real Redis on this machine, beside one agent and Dask.
 *   bench_agents [--json FILE] [--quick] [--repeats N] [--no-peers] [--script]
 *                [--only calls|independent|degree|chain|processes|copies|metg] [--chart FILE.svg]
 * 4 agents of one core each, then one of two, each with a redis-server of their own, and
 * Dask.distributed with 2 workers (bench/dask_peer.py) in turn in every round. Graphs: independent
 * tasks, a random DAG of degree 4, a chain; each task a function that does nothing, or /bin/true.
 * A time is from the run's creation to the end of its last task, as the store has them: handing in
 * is in it, starting agents and reading the workflow by the submitter are not. Files are in
 * $TMPDIR. Medians of 3; ratios are of the same round.
 * --script: the store's server runs the script instead of our module, as one that weft did not start.
 * "copies" is what comparing the inputs of tasks costs (bench/copies.h); "metg" the smallest task that is worth
 * handing in (bench/metg_agents.h), and --chart draws it. */
#include "bench/bench.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/bed.h"
#include "bench/copies.h"
#include "bench/graph.h"
#include "bench/metg_agents.h"
#include "bench/run_peers.h"
#include "formats/format.h"
#include "model/builder.h"
#include "session/place.h"
#include "base/tree.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 3, AGENTS = 4 };

static char folder[1024]; /* of everything that is made here */
static struct json_writer *j;
static bool scripted; /* the server has no module: it runs the script, as any other than ours */

/* ---- graphs ---- */

enum graph { INDEPENDENT, RANDOM, CHAIN, GRAPHS };
static const char *const graph_names[] = {"independent", "degree 4", "chain"};
enum work { NOTHING, TRUE };
static const char *const work_names[] = {"call of nothing", "/bin/true"};

static uint32_t degree_of(enum graph graph)
{
    return graph == RANDOM ? GRAPH_DEGREE : graph == CHAIN;
}

/* As text, for the agents, and the workflow that is read out of it. */
static struct workflow *agents_workflow(enum graph graph, uint32_t n, enum work work,
                                        struct strbuf *text)
{
    struct builder *b = builder_new("<bench>", "bench");
    struct rng r;
    struct error err = {0};
    uint32_t parents[GRAPH_DEGREE];
    const char *command = work == NOTHING ? WEFT_NOTHING ":nothing" : "/bin/true";
    char name[24];
    rng_seed(&r, 1);
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_command(b, t, command, strlen(command));
        if (work == NOTHING)
            builder_flag(b, t, TASK_CALL);
    }
    for (uint32_t t = 1; t < n; t++) {
        graph_parents(&r, t, degree_of(graph), graph == CHAIN ? 1 : GRAPH_WINDOW, parents);
        for (uint32_t k = 0; k < degree_of(graph); k++)
            builder_edge(b, parents[k], t, 0);
    }
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    const struct format *native = format_find("native");
    bench_must(native->write_workflow(w, text, NULL, &err), &err);
    workflow_free(w);
    w = native->read_workflow(&(struct format_source){.path = "<bench>",
                                                      .text = mem_copy_bytes(text->at, text->n),
                                                      .length = text->n},
                              &err);
    bench_must(w != NULL, &err);
    place_put_image(w, text); /* as `weft submit` does */
    return w;
}

static void make_lines(const char *path, enum graph graph, uint32_t n)
{
    FILE *f = fopen(path, "we");
    struct rng r;
    uint32_t parents[GRAPH_DEGREE];
    rng_seed(&r, 1);
    for (uint32_t t = 0; f && t < n; t++) {
        if (t)
            graph_parents(&r, t, degree_of(graph), graph == CHAIN ? 1 : GRAPH_WINDOW, parents);
        for (uint32_t k = 0; t && k < degree_of(graph); k++)
            fprintf(f, "%u ", parents[k]);
        fputc('\n', f);
    }
    if (!f || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* What the server counts: calls of its functions, and how often a socket gave it something. */
struct server_counts {
    double calls, reads, in, out, cpu;
    double agents; /* CPU seconds of all of them */
    double client; /* and of this process */
};

/* CPU seconds of a process, its threads included. */
static double cpu_of(pid_t pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    const char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (at)
        sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
    if (f)
        fclose(f);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

static struct server_counts count_server(const struct bed *c)
{
    char text[65536];
    const char *const words[] = {"redis-cli", "-p",  strrchr(c->address.servers, ':') + 1,
                                 "INFO",      "all", NULL};
    struct peer_use use = peer_read(words, folder, text, sizeof text);
    if (use.seconds < 0 || !strstr(text, "redis_version")) {
        fprintf(stderr, "bench_agents: redis-cli learns nothing of %s\n", c->address.servers);
        exit(1);
    }
    double agents = 0;
    for (uint32_t i = 0; i < c->agents; i++)
        agents += cpu_of(bed_agent(i));
    return (struct server_counts){
        .agents = agents,
        .client = (double)clock() / CLOCKS_PER_SEC,
        .calls = field(text, "cmdstat_evalsha:calls=") + field(text, "cmdstat_weft.apply:calls=") +
                 field(text, "cmdstat_weft.look:calls="),
        .reads = field(text, "total_reads_processed:"),
        .in = field(text, "total_net_input_bytes:"),
        .out = field(text, "total_net_output_bytes:"),
        .cpu = field(text, "used_cpu_sys:") + field(text, "used_cpu_user:")};
}

/* ---- a run ---- */

struct measured {
    double seconds;       /* from creation to the last task's end */
    double handing;       /* of them, until the first task started */
    double calls, reads;  /* of and by the server, a task */
    double bytes, server; /* through the server, and its CPU in microseconds, a task */
    double agents;        /* CPU of all agents in microseconds, a task */
    double client;        /* of who submits, likewise */
    double steals, failed_steals, moved; /* moved: tasks stolen or pushed */
};

static struct measured run_weft(struct bed *c, const struct workflow *w, const struct strbuf *text)
{
    struct error err = {0};
    struct measured m = {0};
    struct server_counts before = count_server(c);
    struct board_run r = bed_run(c, w, text, folder);
    struct server_counts after = count_server(c);
    double n = w->ntasks;
    m.calls = (after.calls - before.calls) / n;
    m.reads = (after.reads - before.reads) / n;
    m.bytes = (after.in - before.in + after.out - before.out) / n;
    m.server = 1e6 * (after.cpu - before.cpu) / n;
    m.agents = 1e6 * (after.agents - before.agents) / n;
    m.client = 1e6 * (after.client - before.client) / n;
    usleep(1100000); /* agents have said how it went */
    bench_must(client_refresh(c->client, 60, &err), &err);
    size_t members;
    const struct member *at = client_members(c->client, &members);
    for (size_t i = 0; i < members; i++) {
        const struct member_work *k = member_work(&at[i], r.run);
        if (!k)
            continue;
        m.steals += k->steals;
        m.failed_steals += k->failed_steals;
        m.moved += k->stolen + k->pushed;
    }
    struct bed_times times = bed_read_times(c, w, &r);
    m.seconds = times.last;
    m.handing = times.first;
    bed_collect(c, &r);
    return m;
}

/* ---- Dask ---- */

static struct {
    enum graph graph;
    enum work work;
    uint32_t n;
    double rate[REPEATS];
} dask[GRAPHS + 1];
static size_t ndask;

static void dask_round(int round)
{
    const char *words[3 + 2 * (GRAPHS + 1)] = {"/usr/bin/python3", WEFT_DASK_PEER};
    char path[GRAPHS + 1][4096], out[4096];
    for (size_t i = 0; i < ndask; i++) {
        snprintf(path[i], sizeof path[i], "%s/dask%zu", folder, i);
        make_lines(path[i], dask[i].graph, dask[i].n);
        words[2 + 2 * i] = dask[i].work == NOTHING ? "nothing" : "true";
        words[3 + 2 * i] = path[i];
        dask[i].rate[round] = 0;
    }
    if (!ndask || peer_read(words, folder, out, sizeof out).seconds < 0)
        return;
    char *at = out;
    for (size_t i = 0; i < ndask && at; i++) {
        static const char name[] = "\"tasks_per_second\": ";
        at = strstr(at, name);
        if (at)
            dask[i].rate[round] = strtod(at += sizeof name - 1, NULL);
    }
}

static bool dask_there(void)
{
    const char *const words[] = {"/usr/bin/python3", "-c", "import distributed", NULL};
    char out[64];
    return peer_read(words, folder, out, sizeof out).seconds >= 0;
}

/* ---- */

struct agents_row {
    enum graph graph;
    enum work work;
    uint32_t n;
    struct measured many[REPEATS], one[REPEATS];
    double loop[REPEATS]; /* tasks/s of a bare posix_spawn loop on 2 slots, for processes */
    double to_one, to_dask, to_loop;
};

static void put_row(const struct agents_row *r, const char *setting, const struct measured *all,
                    int repeats, double cores)
{
    double rate[REPEATS] = {0};
    int at = 0;
    for (int i = 0; i < repeats; i++)
        rate[i] = r->n / all[i].seconds;
    double middle = bench_median(rate, repeats);
    for (int i = 0; i < repeats; i++)
        if (rate[i] == middle)
            at = i;
    const struct measured *m = &all[at];
    double running = r->n / (m->seconds - m->handing);
    printf("%-12s %-16s %-18s %7u %9.0f %9.0f %7.3f %7.3f %7.0f %7.1f %7.1f %7.1f %6.0f %6.0f\n",
           graph_names[r->graph], work_names[r->work], setting, r->n, middle, running, m->calls,
           m->reads, m->bytes, m->server, m->agents, m->client, m->steals, m->moved);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph_names[r->graph]);
    json_put_string(j, "work", work_names[r->work]);
    json_put_string(j, "setting", setting);
    json_put_number(j, "cores", cores);
    json_put_integer(j, "tasks", r->n);
    json_put_number(j, "tasks_per_second", middle);
    json_put_number(j, "tasks_per_second_once_handed_in", running);
    json_put_number(j, "handing_in_seconds", m->handing);
    json_put_number(j, "store_calls_per_task", m->calls);
    json_put_number(j, "store_round_trips_per_task", m->reads);
    json_put_number(j, "store_bytes_per_task", m->bytes);
    json_put_number(j, "store_cpu_us_per_task", m->server);
    json_put_number(j, "agents_cpu_us_per_task", m->agents);
    json_put_number(j, "client_cpu_us_per_task", m->client);
    json_put_number(j, "steals", m->steals);
    json_put_number(j, "failed_steals", m->failed_steals);
    json_put_number(j, "tasks_moved", m->moved);
    json_write_end_object(j);
}

static void put_peer(const struct agents_row *r, const char *setting, uint32_t n, double rate)
{
    printf("%-12s %-16s %-18s %7u %9.0f\n", graph_names[r->graph], work_names[r->work], setting, n,
           rate);
    json_write_object_inline(j);
    json_put_string(j, "graph", graph_names[r->graph]);
    json_put_string(j, "work", work_names[r->work]);
    json_put_string(j, "setting", setting);
    json_put_integer(j, "tasks", n);
    json_put_number(j, "tasks_per_second", rate);
    json_write_end_object(j);
}

static void weft_round(struct agents_row *rows, size_t nrows, int round, uint32_t agents)
{
    struct bed c = {.scripted = scripted};
    bed_start(&c, bench_below(folder, "cluster"), agents, agents == 1 ? 2 : 1);
    for (size_t i = 0; i < nrows; i++) {
        struct strbuf text = {0};
        struct workflow *w = agents_workflow(rows[i].graph, rows[i].n, rows[i].work, &text);
        *(agents == 1 ? &rows[i].one[round] : &rows[i].many[round]) = run_weft(&c, w, &text);
        workflow_free(w);
        strbuf_free(&text);
    }
    bed_end(&c);
}

/* The rows after all rounds: medians of ratios within a round, so that what else the machine did
 * falls on both sides of a ratio. */
static void print_rows(struct agents_row *rows, size_t nrows, int repeats)
{
    for (size_t i = 0; i < nrows; i++) {
        struct agents_row *r = &rows[i];
        double one[REPEATS], peer[REPEATS], loop[REPEATS];
        for (int round = 0; round < repeats; round++) {
            one[round] = r->one[round].seconds / r->many[round].seconds;
            loop[round] = r->loop[round] > 0 ? r->n / r->many[round].seconds / r->loop[round] : 0;
            peer[round] = ndask ? r->n / r->many[round].seconds / dask[i].rate[round] : 0;
        }
        r->to_one = bench_median(one, repeats);
        r->to_dask = bench_median(peer, repeats);
        r->to_loop = bench_median(loop, repeats);
        put_row(r, "weft, 4 agents", r->many, repeats, 1);
        if (r->one[0].seconds > 0)
            put_row(r, "weft, 1 agent", r->one, repeats, 2);
        if (r->work == TRUE)
            put_peer(r, "posix_spawn loop", r->n, bench_median(r->loop, repeats));
        if (ndask)
            put_peer(r, "Dask, 2 workers", dask[i].n, bench_median(dask[i].rate, repeats));
    }
}

static void print_goals(const struct agents_row *rows, size_t nrows, int repeats)
{
    for (size_t i = 0; i < nrows; i++) {
        const struct agents_row *r = &rows[i];
        char what[80];
        if (ndask && r->work == NOTHING) {
            snprintf(what, sizeof what, "calls of nothing, %s, 4 agents against Dask",
                     graph_names[r->graph]);
            bench_goal(j, what, r->to_dask, "times", ">= 10", r->to_dask >= 10);
        }
        if (r->work == TRUE) {
            bench_goal(j, "/bin/true, 4 agents, of one agent's rate", r->to_one, "", ">= 0.85",
                       r->to_one >= 0.85);
            if (ndask) /* a process costs all of them the same: it cannot be 10 times */
                bench_goal(j, "the same against Dask", r->to_dask, "times", "> 1", r->to_dask > 1);
            bench_goal(j, "the same, of a bare loop's rate", r->to_loop, "", "(for a look)", true);
        }
        if (r->work == NOTHING) {
            static const double least[] = {200000, 60000, 15000};
            double rate[REPEATS] = {0};
            char want[32];
            for (int round = 0; round < repeats; round++)
                rate[round] = r->n / r->many[round].seconds;
            snprintf(what, sizeof what, "calls of nothing, %s, 4 agents", graph_names[r->graph]);
            snprintf(want, sizeof want, ">= %.0f", least[r->graph]);
            bench_goal(j, what, bench_median(rate, repeats), "tasks/s", want,
                       bench_median(rate, repeats) >= least[r->graph]);
        }
    }
}

static bool is_part(const char *name)
{
    static const char *const parts[] = {"calls",     "independent", "degree", "chain",
                                        "processes", "copies",      "metg"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(name, parts[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL, *chart = NULL;
    bool quick = false, peers = true;
    int wanted = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
            wanted = atoi(argv[++i]);
            if (wanted < 1 || wanted > REPEATS) {
                fprintf(stderr, "bench_agents: --repeats %s: expected 1 to %d\n", argv[i], REPEATS);
                return 2;
            }
        } else if (strcmp(argv[i], "--no-peers") == 0) {
            peers = false;
        } else if (strcmp(argv[i], "--script") == 0) {
            scripted = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
            if (!is_part(only)) {
                fprintf(stderr, "bench_agents: --only %s: there is no such part\n", only);
                return 2;
            }
        } else if (strcmp(argv[i], "--chart") == 0 && i + 1 < argc) {
            chart = argv[++i];
        } else {
            fprintf(stderr, "usage: bench_agents [--json FILE] [--quick] [--only "
                            "calls|independent|degree|chain|processes|copies|metg] [--repeats N] "
                            "[--no-peers] [--script] [--chart FILE.svg]\n");
            return 2;
        }
    }
    bench_make_folder(folder, sizeof folder, "weft-bench-agents");
    uint32_t calls_n = quick ? 20000 : 100000, processes_n = quick ? 1000 : 5000;
    int repeats = wanted ? wanted : quick ? 1 : REPEATS;
    struct agents_row rows[] = {{.graph = INDEPENDENT, .work = NOTHING, .n = calls_n},
                                {.graph = RANDOM, .work = NOTHING, .n = calls_n},
                                {.graph = CHAIN, .work = NOTHING, .n = calls_n / 20},
                                {.graph = INDEPENDENT, .work = TRUE, .n = processes_n}};
    size_t first = only && strcmp(only, "processes") == 0 ? 3 : 0;
    size_t last = only && strcmp(only, "calls") == 0 ? 3 : 4;
    static const char *const graphs[] = {"independent", "degree", "chain"};
    for (size_t i = 0; only && i < GRAPHS; i++)
        if (strcmp(only, graphs[i]) == 0)
            last = (first = i) + 1;
    bool only_copies = only && strcmp(only, "copies") == 0;
    bool only_metg = only && strcmp(only, "metg") == 0;
    if (only_copies || only_metg)
        last = first;
    bool beside_dask = peers && !only_copies && dask_there();
    if (beside_dask)
        for (size_t i = first; i < last; i++) {
            dask[ndask].graph = rows[i].graph;
            dask[ndask].work = rows[i].work;
            dask[ndask++].n =
                rows[i].work == TRUE || rows[i].graph == CHAIN ? rows[i].n / 5 : rows[i].n / 20;
        }
    struct bench_report report = {.file = json};
    j = bench_report_begin(&report, "weft-bench-agents/1");
    json_write_key(j, "rows");
    json_write_array(j);
    for (int round = 0; round < repeats && first < last; round++) {
        weft_round(rows + first, last - first, round, AGENTS);
        if (peers)
            weft_round(rows + first, last - first, round, 1);
        for (size_t i = first; i < last; i++)
            if (rows[i].work == TRUE)
                rows[i].loop[round] = rows[i].n / peer_loop(rows[i].n, 2);
        dask_round(round);
    }
    if (first < last)
        printf("%-12s %-16s %-18s %7s %9s %9s %7s %7s %7s %7s %7s %7s %6s %6s\n", "graph", "work",
               "setting", "tasks", "tasks/s", "handed in", "calls", "trips", "bytes", "CPU us",
               "agents", "client", "steals", "moved");
    print_rows(rows + first, last - first, repeats);
    json_write_end_array(j);
    json_write_key(j, "goals");
    json_write_array(j);
    if (first < last)
        printf("\n%-66s %8s %-12s %-16s met\n", "goal", "value", "", "want");
    print_goals(rows + first, last - first, repeats);
    json_write_end_array(j);
    if (!only || only_copies)
        copies_measure(folder, quick, j);
    if (!only || only_metg)
        metg_agents_measure(&(struct metg_agents){.folder = folder,
                                                  .quick = quick,
                                                  .peers = beside_dask,
                                                  .chart = chart,
                                                  .scripted = scripted},
                            j);
    tree_remove(folder);
    return bench_report_end(&report);
}
