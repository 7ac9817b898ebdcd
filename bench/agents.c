/* What a cluster costs: real agents and a real Redis on this machine, beside one agent and Dask.
 *   bench_agents [--json FILE] [--quick] [--repeats N] [--no-peers] [--script]
 *                [--only calls|independent|degree|chain|processes|copies]
 * 4 agents of one core each, then one of two, each with a redis-server of their own, and
 * Dask.distributed with 2 workers (bench/dask_peer.py) in turn in every round. Graphs: independent
 * tasks, a random DAG of degree 4, a chain; each task a function that does nothing, or /bin/true.
 * A time is from the run's creation to the end of its last task, as the store has them: handing in
 * is in it, starting agents and reading the workflow by the submitter are not. Files are in
 * $TMPDIR. Medians of 3; ratios are of the same round.
 * --script: the store's server runs the script instead of our module, as one that weft did not start.
 * "copies" is what comparing the inputs of tasks costs (bench/copies.h). */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/copies.h"
#include "bench/graph.h"
#include "bench/run_peers.h"
#include "formats/format.h"
#include "model/builder.h"
#include "cluster/client/client.h"
#include "session/place.h"
#include "base/tree.h"
#include "store/board.h"
#include "store/redis/redis.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 3, AGENTS = 4, MOST = 600 /* seconds for one run */ };

extern char **environ;
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

/* ---- a cluster ---- */

struct bed {
    uint32_t agents, cores; /* cores: of each */
    struct seal_key key;
    struct store_address address;
    char home[4096], url[64];
    struct client *client;
    struct board *board;
    struct charter charter;
};

/* Ended in any case, also when somebody stops the bench. */
static volatile pid_t processes[1 + AGENTS];

static void end_processes(void)
{
    for (int i = 0; i <= AGENTS; i++)
        if (processes[i] > 0)
            kill(processes[i], SIGKILL);
}

static void on_signal(int number)
{
    end_processes();
    _exit(128 + number);
}

static pid_t spawn_logged(const char *const *words, const char *log)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t pid;
    int reason = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason) {
        fprintf(stderr, "bench_agents: %s: %s\n", words[0], strerror(reason));
        exit(1);
    }
    return pid;
}

static pid_t start_agent(const struct bed *c, uint32_t number)
{
    char state[4200], cores[16], key[4200], log[4300];
    snprintf(state, sizeof state, "%s/agent%u", c->home, number);
    snprintf(log, sizeof log, "%s.log", state);
    snprintf(key, sizeof key, "%s/key", c->home);
    snprintf(cores, sizeof cores, "%u", c->cores);
    const char *const words[] = {WEFT_PROGRAM, "agent", "--store", c->url, "--key", key,
                                 "--state",    state,   "-j",      cores,  NULL};
    return spawn_logged(words, log);
}

static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) < 0) {
        perror("bench_agents: a free port");
        exit(1);
    }
    close(fd);
    return ntohs(a.sin_port);
}

/* As a store that an agent serves: on the disk before it answers, and with our module. */
static void start_server(struct bed *c)
{
    char port[16], log[4200];
    int number = free_port();
    snprintf(port, sizeof port, "%d", number);
    snprintf(log, sizeof log, "%s/store.log", c->home);
    snprintf(c->url, sizeof c->url, "redis://127.0.0.1:%d", number);
    const char *const words[] = {"redis-server",
                                 "--port",
                                 port,
                                 "--bind",
                                 "127.0.0.1",
                                 "--dir",
                                 c->home,
                                 "--appendonly",
                                 "yes",
                                 "--appendfsync",
                                 "always",
                                 "--save",
                                 "",
                                 scripted ? NULL : "--loadmodule",
                                 WEFT_STORE_MODULE,
                                 NULL};
    processes[0] = spawn_logged(words, log);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)number)};
    for (int i = 0; i < 500; i++, usleep(20000)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool up = connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
        close(fd);
        if (up)
            return;
    }
    fprintf(stderr, "bench_agents: redis-server does not start: see %s\n", log);
    exit(1);
}

/* An agent measures its core once, when it has nothing to do for a moment: that belongs to its start. */
static bool have_measured(struct client *client)
{
    struct error err = {0};
    size_t n, measured = 0;
    bench_must(client_refresh(client, 60, &err), &err);
    const struct member *at = client_members(client, &n);
    for (size_t i = 0; i < n; i++)
        measured += at[i].speed > 0;
    return measured == n;
}

static void cluster_start(struct bed *c, const char *name, uint32_t agents, uint32_t cores)
{
    struct error err = {0};
    char path[4200];
    *c = (struct bed){.agents = agents, .cores = cores};
    snprintf(c->home, sizeof c->home, "%s", bench_below(folder, name));
    mkdir(c->home, 0777);
    snprintf(path, sizeof path, "%s/key", c->home);
    bench_must(seal_key_make(path, &err) && seal_key_read(path, &c->key, &err), &err);
    start_server(c);
    bench_must(store_address_parse(c->url, &c->address, &err), &err);
    for (uint32_t i = 0; i < agents; i++)
        processes[1 + i] = start_agent(c, i);
    c->client = client_open(&(struct client_config){.address = &c->address, .key = c->key}, &err);
    bench_must(c->client != NULL, &err);
    if (!client_wait_agents(c->client, agents, 0, 60)) {
        fprintf(stderr, "bench_agents: the agents do not start: see %s\n", c->home);
        exit(1);
    }
    for (int i = 0; i < 200 && !have_measured(c->client); i++)
        usleep(50000);
    c->board = board_open(&c->address, &err);
    bench_must(c->board && charter_open(&c->charter, c->board, &c->address, &c->key, NULL, &err),
               &err);
}

static void cluster_end(struct bed *c)
{
    client_shut_down(c->client, NULL, 0, true, 20);
    for (uint32_t i = 1; i <= c->agents; i++) {
        kill(processes[i], SIGTERM);
        waitpid(processes[i], NULL, 0);
        processes[i] = 0;
    }
    client_close(c->client);
    board_close(c->board);
    charter_free(&c->charter);
    kill(processes[0], SIGKILL);
    waitpid(processes[0], NULL, 0);
    processes[0] = 0;
    store_address_free(&c->address);
    tree_remove(c->home);
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
    for (uint32_t i = 1; i <= c->agents; i++)
        agents += cpu_of(processes[i]);
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

static void read_times(struct bed *c, const struct workflow *w, uint64_t run,
                       const uint8_t id[static SEAL_ID], struct measured *m)
{
    struct error err = {0};
    char prefix[128];
    struct seal_prover prover = charter_prover(&c->charter, run, id);
    struct store_redis_config config = store_address_config(&c->address, run, &prover, prefix);
    config.workflow = w;
    config.forget = true;
    struct store *s = store_redis_open(&config, NULL, &err);
    bench_must(s != NULL, &err);
    struct meta_op *ops = mem_new_zero(struct meta_op, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        ops[t] = (struct meta_op){.kind = META_READ, .task = t, .slot = t};
    store_submit(s, ops, w->ntasks);
    double first = INFINITY, last = 0;
    uint32_t done = 0;
    for (uint32_t answered = 0; answered < w->ntasks;) {
        struct meta_answers all;
        store_wait(s);
        bench_must(store_poll(s, &all, &err), &err);
        answered += (uint32_t)all.n;
        for (size_t i = 0; i < all.n; i++) {
            const struct meta_record *r = &all.records[i];
            done += r->status == META_DONE;
            first = fmin(first, r->started);
            last = fmax(last, r->ended);
        }
    }
    free(ops);
    store_close(s, &err);
    if (done != w->ntasks) {
        fprintf(stderr, "bench_agents: %u of %u tasks done\n", done, w->ntasks);
        exit(1);
    }
    m->seconds = last;
    m->handing = first;
}

static struct measured run_weft(struct bed *c, const struct workflow *w, const struct strbuf *text)
{
    struct error err = {0};
    struct measured m = {0};
    struct needs needs;
    needs_blank(&needs, w, folder, NULL, NULL, 0);
    struct server_counts before = count_server(c);
    struct client_submitted in;
    bench_must(client_submit(c->client,
                             &(struct client_work){.workflow = w,
                                                   .text = text,
                                                   .needs = &needs,
                                                   .folder = folder,
                                                   .state = folder,
                                                   .name = "bench",
                                                   .shared = CLIENT_SHARED_NO,
                                                   .policy = SCHED_FLDS},
                             &in, &err),
               &err);
    const struct board_run *r = NULL;
    for (double start = clock_seconds(); !r || r->state < BOARD_RUN_ENDED;) {
        usleep(50000);
        bench_must(client_refresh(c->client, 60, &err), &err);
        r = client_run(c->client, in.run);
        if (clock_seconds() - start > MOST) {
            fprintf(stderr, "bench_agents: the run does not end: see %s\n", c->home);
            exit(1);
        }
    }
    uint8_t id[SEAL_ID];
    memcpy(id, r->id, sizeof id);
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
        const struct member_work *k = member_work(&at[i], in.run);
        if (!k)
            continue;
        m.steals += k->steals;
        m.failed_steals += k->failed_steals;
        m.moved += k->stolen + k->pushed;
    }
    read_times(c, w, in.run, id, &m);
    struct board_change collected = charter_change(&c->charter, in.run, id, BOARD_RUN_COLLECTED);
    board_run_state(c->board, &collected, NULL, NULL);
    board_wait(c->board, 10);
    needs_free(&needs);
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
    double rate[REPEATS];
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
    struct bed c;
    cluster_start(&c, "cluster", agents, agents == 1 ? 2 : 1);
    for (size_t i = 0; i < nrows; i++) {
        struct strbuf text = {0};
        struct workflow *w = agents_workflow(rows[i].graph, rows[i].n, rows[i].work, &text);
        *(agents == 1 ? &rows[i].one[round] : &rows[i].many[round]) = run_weft(&c, w, &text);
        workflow_free(w);
        strbuf_free(&text);
    }
    cluster_end(&c);
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
            double rate[REPEATS];
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

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL;
    bool quick = false, peers = true;
    int wanted = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
            wanted = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--no-peers") == 0) {
            peers = false;
        } else if (strcmp(argv[i], "--script") == 0) {
            scripted = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: bench_agents [--json FILE] [--quick] [--only "
                            "calls|independent|degree|chain|processes|copies] [--repeats N] "
                            "[--no-peers] [--script]\n");
            return 2;
        }
    }
    atexit(end_processes);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    bench_make_folder(folder, sizeof folder, "weft-bench-agents");
    uint32_t calls_n = quick ? 20000 : 100000, processes_n = quick ? 1000 : 5000;
    int repeats = wanted > 0 && wanted <= REPEATS ? wanted : quick ? 1 : REPEATS;
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
    if (only_copies)
        last = first;
    if (!only_copies && peers && dask_there())
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
    for (int round = 0; round < repeats && !only_copies; round++) {
        weft_round(rows + first, last - first, round, AGENTS);
        if (peers)
            weft_round(rows + first, last - first, round, 1);
        for (size_t i = first; i < last; i++)
            if (rows[i].work == TRUE)
                rows[i].loop[round] = rows[i].n / peer_loop(rows[i].n, 2);
        dask_round(round);
    }
    printf("%-12s %-16s %-18s %7s %9s %9s %7s %7s %7s %7s %7s %7s %6s %6s\n", "graph", "work",
           "setting", "tasks", "tasks/s", "handed in", "calls", "trips", "bytes", "CPU us",
           "agents", "client", "steals", "moved");
    print_rows(rows + first, last - first, repeats);
    json_write_end_array(j);
    json_write_key(j, "goals");
    json_write_array(j);
    printf("\n%-66s %8s %-12s %-16s met\n", "goal", "value", "", "want");
    if (!only_copies)
        print_goals(rows + first, last - first, repeats);
    json_write_end_array(j);
    if (!only || only_copies)
        copies_measure(folder, quick, j);
    tree_remove(folder);
    return bench_report_end(&report);
}
