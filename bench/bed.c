/* A cluster of the benchmarks' own (bed.h). One thread; the processes that it starts stand in one table, for the
 * handler of signals. */
#include "bench/bed.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/tree.h"
#include "bench/bench.h"

#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BED_MOST = 600 /* seconds for one run */ };

extern char **environ;

/* ---- a cluster ---- */

/* Ended in any case, also when somebody stops the bench. */
static volatile pid_t bed_processes[1 + BED_AGENTS];

static void bed_end_processes(void)
{
    for (int i = 0; i <= BED_AGENTS; i++)
        if (bed_processes[i] > 0)
            kill(bed_processes[i], SIGKILL);
}

static void bed_on_signal(int number)
{
    bed_end_processes();
    _exit(128 + number);
}

pid_t bed_agent(uint32_t number)
{
    return bed_processes[1 + number];
}

static pid_t bed_spawn(const char *const *words, const char *log)
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
        fprintf(stderr, "bed: %s: %s\n", words[0], strerror(reason));
        exit(1);
    }
    return pid;
}

static pid_t bed_start_agent(const struct bed *c, uint32_t number)
{
    char state[4200], cores[16], key[4200], log[4300];
    snprintf(state, sizeof state, "%s/agent%u", c->home, number);
    snprintf(log, sizeof log, "%s.log", state);
    snprintf(key, sizeof key, "%s/key", c->home);
    snprintf(cores, sizeof cores, "%u", c->cores);
    const char *const words[] = {WEFT_PROGRAM, "agent", "--store", c->url, "--key", key,
                                 "--state",    state,   "-j",      cores,  NULL};
    return bed_spawn(words, log);
}

static int bed_free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) < 0) {
        perror("bed: a free port");
        exit(1);
    }
    close(fd);
    return ntohs(a.sin_port);
}

/* As a store that an agent serves: on the disk before it answers, and with our module. */
static void bed_start_server(struct bed *c)
{
    char port[16], log[4200];
    int number = bed_free_port();
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
                                 c->scripted ? NULL : "--loadmodule",
                                 WEFT_STORE_MODULE,
                                 NULL};
    bed_processes[0] = bed_spawn(words, log);
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
    fprintf(stderr, "bed: redis-server does not start: see %s\n", log);
    exit(1);
}

/* An agent measures its core once, when it has nothing to do for a moment: that belongs to its start. */
static bool bed_has_measured(struct client *client)
{
    struct error err = {0};
    size_t n, measured = 0;
    bench_must(client_refresh(client, 60, &err), &err);
    const struct member *at = client_members(client, &n);
    for (size_t i = 0; i < n; i++)
        measured += at[i].speed > 0;
    return measured == n;
}

void bed_start(struct bed *c, const char *home, uint32_t agents, uint32_t cores)
{
    struct error err = {0};
    char path[4200];
    static bool guarded;
    if (!guarded && atexit(bed_end_processes) == 0) {
        signal(SIGINT, bed_on_signal);
        signal(SIGTERM, bed_on_signal);
        guarded = true;
    }
    *c = (struct bed){.agents = agents, .cores = cores, .scripted = c->scripted};
    snprintf(c->home, sizeof c->home, "%s", home);
    mkdir(c->home, 0777);
    snprintf(path, sizeof path, "%s/key", c->home);
    bench_must(seal_key_make(path, &err) && seal_key_read(path, &c->key, &err), &err);
    bed_start_server(c);
    bench_must(store_address_parse(c->url, &c->address, &err), &err);
    for (uint32_t i = 0; i < agents; i++)
        bed_processes[1 + i] = bed_start_agent(c, i);
    c->client = client_open(&(struct client_config){.address = &c->address, .key = c->key}, &err);
    bench_must(c->client != NULL, &err);
    if (!client_wait_agents(c->client, agents, 0, 60)) {
        fprintf(stderr, "bed: the agents do not start: see %s\n", c->home);
        exit(1);
    }
    for (int i = 0; i < 200 && !bed_has_measured(c->client); i++)
        usleep(50000);
    c->board = board_open(&c->address, &err);
    bench_must(c->board && charter_open(&c->charter, c->board, &c->address, &c->key, NULL, &err),
               &err);
}

void bed_end(struct bed *c)
{
    client_shut_down(c->client, NULL, 0, true, 20);
    for (uint32_t i = 1; i <= c->agents; i++) {
        kill(bed_processes[i], SIGTERM);
        waitpid(bed_processes[i], NULL, 0);
        bed_processes[i] = 0;
    }
    client_close(c->client);
    board_close(c->board);
    charter_free(&c->charter);
    kill(bed_processes[0], SIGKILL);
    waitpid(bed_processes[0], NULL, 0);
    bed_processes[0] = 0;
    store_address_free(&c->address);
    tree_remove(c->home);
}

/* ---- a run ---- */

struct bed_times bed_read_times(struct bed *c, const struct workflow *w, const struct board_run *r)
{
    struct error err = {0};
    char prefix[128];
    struct seal_prover prover = charter_prover(&c->charter, r->run, r->id);
    struct store_redis_config config = store_address_config(&c->address, r->run, &prover, prefix);
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
            const struct meta_record *m = &all.records[i];
            done += m->status == META_DONE;
            first = fmin(first, m->started);
            last = fmax(last, m->ended);
        }
    }
    free(ops);
    store_close(s, &err);
    if (done != w->ntasks) {
        fprintf(stderr, "bed: %u of %u tasks done\n", done, w->ntasks);
        exit(1);
    }
    return (struct bed_times){.first = first, .last = last};
}

/* Looking often would cost what is measured; times are the store's. */
static const struct board_run *bed_wait(struct bed *c, uint64_t run)
{
    struct error err = {0};
    double start = clock_seconds();
    for (;;) {
        double waited = clock_seconds() - start;
        usleep(waited < 0.2 ? 10000 : 50000);
        bench_must(client_refresh(c->client, 60, &err), &err);
        const struct board_run *r = client_run(c->client, run);
        if (r && r->state >= BOARD_RUN_ENDED)
            return r;
        if (waited > BED_MOST) {
            fprintf(stderr, "bed: the run does not end: see %s\n", c->home);
            exit(1);
        }
    }
}

struct board_run bed_run(struct bed *c, const struct workflow *w, const struct strbuf *text,
                         const char *folder)
{
    struct error err = {0};
    struct needs needs;
    struct client_submitted in;
    needs_blank(&needs, w, folder, NULL, NULL, 0);
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
    struct board_run r = *bed_wait(c, in.run);
    needs_free(&needs);
    return r;
}

void bed_collect(struct bed *c, const struct board_run *r)
{
    struct board_change collected = charter_change(&c->charter, r->run, r->id, BOARD_RUN_COLLECTED);
    board_run_state(c->board, &collected, NULL, NULL);
    board_wait(c->board, 10);
}
