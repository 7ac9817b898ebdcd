/* The same store on a Redis Cluster of three masters: operations that cross slots, a slot that
 * moves, a client that dies between the two halves of a completion, a master that dies. */
#include "base/clock.h"
#include "base/rng.h"
#include "store/board.h"
#include "store/redis/client_state.h"
#include "store/redis/state.h"
#include "store/redis/testing.h"
#include "store/redis/words.h"
#include "tap.h"

#define MASTERS 3
#define SERVERS 4 /* the last is a replica of the first */

static bool wait_for(struct server *s, const char *command, const char *part, int ms)
{
    for (int i = 0; i < ms / 20; i++) {
        if (strstr(tell(s, "%s", "PING"), "PONG")) {
            redisContext *c = redisConnect("127.0.0.1", s->port);
            redisReply *r = c && !c->err ? redisCommand(c, command) : NULL;
            bool found = r && r->str && strstr(r->str, part);
            if (r)
                freeReplyObject(r);
            if (c)
                redisFree(c);
            if (found)
                return true;
        }
        pause_ms(20);
    }
    return false;
}

static bool start_cluster(struct server *servers, const char *folder)
{
    for (int i = 0; i < SERVERS; i++) {
        char name[16];
        const char *const more[] = {"--cluster-enabled",
                                    "yes",
                                    "--cluster-node-timeout",
                                    "700",
                                    "--cluster-replica-validity-factor",
                                    "0",
                                    "--repl-diskless-sync-delay",
                                    "0",
                                    "--appendfsync",
                                    "no",
                                    "--cluster-require-full-coverage",
                                    "no"};
        snprintf(name, sizeof name, "c%d", i);
        memcpy(servers[i].more, more, sizeof more);
        servers[i].native = i < 2; /* some have our module, and the replica has not */
        server_start(&servers[i], folder, name);
    }
    for (int i = 0; i < MASTERS; i++)
        tell(&servers[i], "CLUSTER ADDSLOTSRANGE %d %d", 16384 * i / MASTERS,
             16384 * (i + 1) / MASTERS - 1);
    for (int i = 1; i < SERVERS; i++)
        tell(&servers[i], "CLUSTER MEET 127.0.0.1 %d %d", servers[0].port, servers[0].bus);
    for (int i = 0; i < SERVERS; i++)
        if (!wait_for(&servers[i], "CLUSTER INFO", "cluster_known_nodes:4", 8000) ||
            !wait_for(&servers[i], "CLUSTER INFO", "cluster_slots_assigned:16384", 8000) ||
            !wait_for(&servers[i], "CLUSTER INFO", "cluster_state:ok", 8000))
            return false;
    char id[64];
    snprintf(id, sizeof id, "%s", tell(&servers[0], "CLUSTER MYID"));
    for (int i = 0; i < 100 && strcmp(tell(&servers[3], "CLUSTER REPLICATE %s", id), "OK") != 0;
         i++)
        pause_ms(20);
    return wait_for(&servers[3], "INFO replication", "master_link_status:up", 8000);
}

static struct store *open_run(const struct server *server, const struct workflow *w,
                              const char *prefix, uint32_t replicas, struct error *err)
{
    return store_redis_open(&(struct store_redis_config){.workflow = w,
                                                         .servers = server->address,
                                                         .prefix = prefix,
                                                         .forget = true,
                                                         .shards = 12,
                                                         .replicas = replicas},
                            NULL, err);
}

/* What the table says about a task, and what the store says. */
static bool same_tasks(struct store *s, struct store_table *t)
{
    struct answers want = {0};
    struct meta_answers got;
    for (uint32_t k = 0; k < t->ntasks; k++) {
        struct meta_op op = OP(READ, .task = k), get = OP(GET, .task = k);
        answers_clear(&want);
        store_table_apply(t, &op, &want);
        store_table_apply(t, &get, &want);
        ask(s, op, &got);
        const struct meta_record *a = &want.records.at[0], *b = got.n ? got.records : NULL;
        bool same = b && a->status == b->status && a->epoch == b->epoch && a->holder == b->holder &&
                    a->waiting_parents == b->waiting_parents && a->attempts == b->attempts &&
                    a->all_size == b->all_size && a->count == b->count &&
                    memcmp(&a->submitted, &b->submitted, 4 * sizeof(double)) == 0;
        struct meta_answer x = ask(s, get, NULL), y = want.at.at[1];
        same = same && x.outcome == y.outcome && x.doomed == y.doomed &&
               x.item.waiting == y.item.waiting && x.item.max_node == y.item.max_node;
        if (!same) {
            printf("# task %u differs: status %u, %u; waiting %u, %u; epoch %u, %u\n", k, y.status,
                   x.status, y.item.waiting, x.item.waiting, y.item.epoch, x.item.epoch);
            answers_free(&want);
            return false;
        }
    }
    answers_free(&want);
    return true;
}

struct progress {
    uint64_t due, got, refused;
    uint8_t *ready;
};

static bool collect(struct store *s, struct progress *p, uint64_t until, struct error *err)
{
    struct meta_answers all;
    while (p->got < until) {
        store_wait(s);
        if (!store_poll(s, &all, err))
            return false;
        p->got += all.n;
        for (size_t k = 0; k < all.n; k++) {
            p->refused += all.at[k].outcome != META_OK;
            for (uint32_t c = 0; c < all.at[k].count; c++)
                p->ready[all.items[all.at[k].first + c].task] = 1;
        }
    }
    return true;
}

/* Give the slot of shard 3 to another master, in the way resharding does it. */
static void move_slot(struct server *servers, uint32_t wave)
{
    if (wave != 1 && wave != 3)
        return;
    int slot = redis_slot("{moving.3}:R", 12), owner = -1;
    char ids[MASTERS][64];
    for (int i = 0; i < MASTERS; i++) {
        snprintf(ids[i], sizeof ids[i], "%s", tell(&servers[i], "CLUSTER MYID"));
        if (!strstr(tell(&servers[i], "GET {moving.3}:I"), "MOVED"))
            owner = i;
    }
    if (owner < 0)
        return;
    int to = (owner + 1) % MASTERS;
    int begun[2];
    char byte;
    fflush(stdout);
    if (pipe(begun) != 0)
        return;
    if (fork() != 0) { /* it goes on while the store asks, but has begun before the next wave */
        close(begun[1]);
        ok(read(begun[0], &byte, 1) == 1, "the slot begins to move");
        close(begun[0]);
        return;
    }
    tell(&servers[to], "CLUSTER SETSLOT %d IMPORTING %s", slot, ids[owner]);
    tell(&servers[owner], "CLUSTER SETSLOT %d MIGRATING %s", slot, ids[to]);
    for (const char *k = "RESNMCKZPIDA"; *k; k++) {
        char key[32];
        pause_ms(10);
        snprintf(key, sizeof key, "{moving.3}:%c", *k);
        tell(&servers[owner], "MIGRATE 127.0.0.1 %d %s 0 2000", servers[to].port, key);
        if (*k == 'R' && write(begun[1], k, 1) != 1)
            _exit(1);
    }
    pause_ms(20);
    for (int i = 0; i < MASTERS; i++)
        tell(&servers[(to + i) % MASTERS], "CLUSTER SETSLOT %d NODE %s", slot, ids[to]);
    _exit(0);
}

/* Every task is put first, then completed by waves of `batch` in topological order; `disturb` is
 * called in the middle of each. */
static void whole_run(struct server *servers, const struct workflow *w, const char *prefix,
                      uint32_t replicas, uint32_t batch,
                      void (*disturb)(struct server *servers, uint32_t wave))
{
    struct error err = {0};
    struct store_table t;
    struct progress p = {.ready = mem_new_zero(uint8_t, w->ntasks)};
    double start = clock_seconds();
    struct store *s = open_run(&servers[1], w, prefix, replicas, &err);
    store_table_init(&t, w);
    if (!ok(s != NULL, "open %s %s", prefix, err.text)) {
        free(p.ready);
        store_table_free(&t);
        return;
    }
    bool good = true, all_ready = true;
    for (uint32_t k = 0; k < w->ntasks; k++) {
        struct meta_op op = OP(PUT, .task = k, .node = k % 4, .time = k);
        store_table_apply(&t, &op, NULL);
        store_submit(s, &op, 1);
        p.due++;
    }
    good = collect(s, &p, p.due, &err);
    for (uint32_t i = 0, wave = 0; good && i < w->ntasks; wave++) {
        for (uint32_t k = 0; k < batch && i < w->ntasks; k++, i++) {
            uint32_t task = w->topo[i];
            struct meta_op ops[2] = {OP(HOLD, .task = task, .node = 9, .epoch = 1, .time = i),
                                     OP(COMPLETE, .task = task, .node = 9, .epoch = 2, .attempt = 1,
                                        .start = i, .time = i + 0.5, .bytes = 3)};
            store_table_apply(&t, &ops[0], NULL);
            store_table_apply(&t, &ops[1], NULL);
            store_submit(s, ops, 2);
            p.due += 2;
        }
        if (disturb)
            disturb(servers, wave);
        good = collect(s, &p, p.due, &err);
        if (disturb == move_slot)
            while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
    }
    struct store_redis_counts c = store_redis_counts(s);
    printf("# %.1f s\n", clock_seconds() - start);
    ok(good && p.got == p.due, "%s: every operation is answered %s", prefix, err.text);
    is_int(p.refused, 0, "and granted");
    for (uint32_t k = 0; k < w->ntasks; k++)
        all_ready &= p.ready[k] || w->pred_off[k] == w->pred_off[k + 1] || batch > 1;
    ok(all_ready, "every task was said to be ready");
    ok(good && same_tasks(s, &t), "and all is as in the table");
    printf("# %llu calls, %llu round trips, %llu sent again, %llu redirected, %llu connections, "
           "%llu unconfirmed\n",
           (unsigned long long)c.calls, (unsigned long long)c.round_trips,
           (unsigned long long)c.resent, (unsigned long long)c.redirected,
           (unsigned long long)c.connects, (unsigned long long)c.unconfirmed);
    if (disturb)
        ok(c.resent > 0, "it was disturbed");
    ok(store_close(s, &err), "closed %s", err.text);
    store_table_free(&t);
    free(p.ready);
}

static void kill_master(struct server *servers, uint32_t wave)
{
    if (wave == 2)
        server_kill(&servers[0]);
}

/* The first half of a completion is in, the second was never sent: whoever adopts says it. */
static void half_told(struct server *servers, const struct workflow *w)
{
    struct error err = {0};
    struct store_table t;
    struct meta_answers all;
    struct store *s = open_run(&servers[1], w, "half", 0, &err), *dead;
    if (!ok(s != NULL, "open %s", err.text))
        return;
    dead = open_run(&servers[1], w, "half", 0, &err);
    store_table_init(&t, w);
    for (uint32_t k = 0; k < w->ntasks; k++) {
        struct meta_op op = OP(PUT, .task = k, .node = k % 2, .time = k);
        store_table_apply(&t, &op, NULL);
        ask(s, op, NULL);
    }
    uint32_t first = w->topo[0], node = first % 2;
    struct meta_op op =
        OP(COMPLETE, .task = first, .node = node, .epoch = 1, .start = 1, .time = 2, .bytes = 5);
    store_table_apply(&t, &op, NULL);
    struct redis *r = (struct redis *)dead;
    store_submit(dead, &op, 1);
    /* A store in trouble hears the answer to the first half and sends nothing more. */
    r->troubled = true;
    redis_client_pause(r->client);
    double until = clock_seconds() + 5;
    while (!redis_entry_at(r, 0)->fresh && clock_seconds() < until)
        redis_client_poll(r->client, 1);
    ok(redis_entry_at(r, 0)->fresh && redis_entry_at(r, 0)->open > 0, "the first half is in");
    ok(redis_entry_at(r, 0)->several, "its children stand in several shards");
    r->forget = false;
    for (size_t k = 0; k < r->client->conns.n; k++)
        redis_conn_stop(r->client->conns.at[k], 0, "died");
    ok(!store_close(dead, NULL), "a client dies in between");
    uint32_t child = w->succ_task[w->succ_off[first]];
    uint32_t edges = w->pred_off[child + 1] - w->pred_off[child];
    is_int(ask(s, OP(GET, .task = first), NULL).status, META_DONE, "the task is done");
    is_int(ask(s, OP(GET, .task = child), NULL).item.waiting, edges, "its child does not know it");
    struct meta_op adopt = OP(ADOPT, .node = 1 - node, .other = node, .limit = 1000, .time = 7);
    struct answers want = {0};
    store_table_apply(&t, &adopt, &want);
    struct meta_answer a = ask(s, adopt, &all);
    is_int(a.outcome, META_OK, "another node adopts its tasks");
    is_int(a.count, want.at.at[0].count, "all of them");
    ok(same_tasks(s, &t), "and says what the dead could not say");
    ok(store_close(s, &err), "closed %s", err.text);
    answers_free(&want);
    store_table_free(&t);
}

/* ---- the board ---- */

struct seen {
    int calls;
    bool good;
    uint32_t node, life;
    uint64_t run;
    size_t nmembers, nruns, length;
    char why[200];
};

static void on_joined(void *context, bool good, uint32_t node, uint32_t life, const char *why)
{
    struct seen *s = context;
    s->calls++;
    s->good = good;
    s->node = node;
    s->life = life;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void on_view(void *context, const struct board_view *view, const char *why)
{
    struct seen *s = context;
    s->calls++;
    s->good = view != NULL;
    s->nmembers = view ? view->nmembers : 0;
    s->nruns = view ? view->nruns : 0;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void on_number(void *context, bool good, uint64_t run, const char *why)
{
    struct seen *s = context;
    s->calls++;
    s->good = good;
    s->run = run;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void on_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct seen *s = context;
    (void)data;
    s->calls++;
    s->good = good;
    s->length = n;
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* A board whose slot is with the master that will die. */
static struct board *open_board(struct server *servers, char *prefix, size_t size)
{
    struct error err = {0};
    struct store_address a;
    char url[256], key[64];
    for (int i = 0, slot = 16384; slot >= 16384 / MASTERS; i++) {
        snprintf(prefix, size, "b%d", i);
        int n = snprintf(key, sizeof key, "{%s.board}:B", prefix);
        slot = redis_slot(key, (size_t)n);
    }
    snprintf(url, sizeof url, "redis://%s,%s/%s?replicas=1", servers[1].address, servers[2].address,
             prefix);
    if (!store_address_parse(url, &a, &err))
        return NULL;
    struct board *b = board_open(&a, &err);
    ok(b != NULL, "a board in the cluster %s", err.text);
    store_address_free(&a);
    return b;
}

/* One key of a slot; false: there is none any more. */
static bool migrate_one(struct server *from, struct server *to, int slot)
{
    redisContext *c = redisConnect("127.0.0.1", from->port);
    redisReply *r = c && !c->err ? redisCommand(c, "CLUSTER GETKEYSINSLOT %d 1", slot) : NULL;
    bool found = r && r->type == REDIS_REPLY_ARRAY && r->elements == 1;
    if (found)
        tell(from, "MIGRATE 127.0.0.1 %d %s 0 2000", to->port, r->element[0]->str);
    if (r)
        freeReplyObject(r);
    if (c)
        redisFree(c);
    return found;
}

/* Its slot moves to another master, and back, while questions are on their way. */
static void moved_board(struct server *servers, struct board *b, const char *prefix)
{
    char ids[2][64], key[96];
    int n = snprintf(key, sizeof key, "{%s.board}:B", prefix), slot = redis_slot(key, (size_t)n);
    for (int i = 0; i < 2; i++)
        snprintf(ids[i], sizeof ids[i], "%s", tell(&servers[i], "CLUSTER MYID"));
    for (int back = 0; back < 2; back++) {
        struct server *from = &servers[back], *to = &servers[1 - back];
        struct seen s = {0};
        int asked = 2;
        tell(to, "CLUSTER SETSLOT %d IMPORTING %s", slot, ids[back]);
        tell(from, "CLUSTER SETSLOT %d MIGRATING %s", slot, ids[1 - back]);
        for (; asked < 50 && migrate_one(from, to, slot); asked++) {
            board_view(b, on_view, &s);
            board_wait(b, 0.02);
        }
        board_run_text(b, 1, on_text, &s);
        board_wait(b, 0.1);
        for (int i = 0; i < MASTERS; i++)
            tell(&servers[(1 - back + i) % MASTERS], "CLUSTER SETSLOT %d NODE %s", slot,
                 ids[1 - back]);
        board_view(b, on_view, &s);
        ok(board_wait(b, 10), "a slot moves %s", board_trouble(b));
        is_int(s.calls, asked, "all that was asked meanwhile is answered");
        ok(s.good && s.nmembers == 1 && s.length == 4, "and sees the same %s", s.why);
    }
}

static void board_after(struct board *b, struct seen joined)
{
    struct seen s = {0};
    board_heartbeat(
        b,
        &(struct board_pulse){
            .node = joined.node, .life = joined.life, .state = BOARD_UP, .text = "x", .n = 1},
        on_view, &s);
    ok(board_wait(b, 10) && s.good && s.nmembers == 1, "its board lives on the replica %s", s.why);
    board_run_text(b, 1, on_text, &s);
    ok(board_wait(b, 10) && s.good && s.length == 4, "with its texts %s", s.why);
    board_new_run(b, on_number, &s);
    ok(board_wait(b, 10) && s.good && s.run == 2, "and takes more %s", s.why);
}

int main(void)
{
    is_int(redis_slot("123456789", 9), 12739, "slots are those of Redis");
    is_int(redis_slot("a{foo}b", 7), redis_slot("foo", 3), "by what stands in braces");
    if (!has_program("redis-server")) {
        tap_skip("the cluster", "redis-server is not installed");
        return tap_done();
    }
    struct workflow *w = make_workflow(240, "t");
    struct server servers[SERVERS] = {0};
    char folder[4096];
    make_folder(folder, sizeof folder);
    double start = clock_seconds();
    if (ok(start_cluster(servers, folder), "three masters and a replica")) {
        printf("# %.1f s\n", clock_seconds() - start);
        struct workflow *small = make_workflow(24, "t");
        TAP_DO(half_told(servers, small));
        workflow_free(small);
        TAP_DO(whole_run(servers, w, "one", 0, 1, NULL));
        TAP_DO(whole_run(servers, w, "many", 0, 50, NULL));
        TAP_DO(whole_run(servers, w, "moving", 0, 25, move_slot));
        char prefix[32];
        struct board *b = open_board(servers, prefix, sizeof prefix);
        struct seen joined = {0}, run = {0};
        if (b) {
            board_join(b,
                       &(struct board_joining){
                           .identity = "me", .attempt = 1, .lease = 5, .text = "", .n = 0},
                       on_joined, &joined);
            board_new_run(b, on_number, &run);
            board_set_run_text(b, 1, "text", 4, NULL, NULL);
            ok(board_wait(b, 10) && joined.good && run.run == 1, "a member and a run %s%s",
               joined.why, run.why);
            moved_board(servers, b, prefix);
        }
        TAP_DO(whole_run(servers, w, "failover", 1, 40, kill_master));
        if (b)
            board_after(b, joined);
        board_close(b);
    }
    printf("# %.1f s\n", clock_seconds() - start);
    for (int i = 0; i < SERVERS; i++)
        server_remove(&servers[i]);
    remove_folder(folder);
    workflow_free(w);
    return tap_done();
}
