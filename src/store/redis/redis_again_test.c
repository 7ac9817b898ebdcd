/* Calls of the Redis store whose answer is lost, and which are sent again: by the script and by our
 * module. */
#include "store/redis/client_state.h"
#include "store/redis/state.h"
#include "store/redis/testing.h"
#include "tap.h"
#include <poll.h>

/* The server has applied a call, and its answer is lost: we take it out of the socket. */
static void lose_answer(struct server *server, struct store *s)
{
    struct redis *r = (struct redis *)s;
    char bytes[65536];
    struct pollfd fd = {r->client->conns.at[0]->fd, POLLIN, 0};
    ok(poll(&fd, 1, 5000) == 1 && recv(fd.fd, bytes, sizeof bytes, 0) > 0, "an answer is lost");
    tell(server, "CLIENT KILL TYPE normal");
}

static void submit_all(struct store *s, const struct meta_op *ops, size_t n,
                       struct meta_answers *all, struct server *thief)
{
    struct error err = {0};
    store_submit(s, ops, n);
    if (thief)
        lose_answer(thief, s);
    ok(store_flush(s, &err) && store_poll(s, all, &err) && all->n == n, "%zu answers %s", all->n,
       err.text);
}

/* Calls that nobody answered: some were applied, some were not, and the shard knows which. */
static void unanswered(struct server *server, const struct workflow *w)
{
    struct error err = {0};
    struct meta_answers all;
    struct store_redis_config config = {
        .workflow = w, .servers = server->address, .prefix = "unanswered"};
    struct store *s = store_redis_open(&config, NULL, &err);
    if (!ok(s != NULL, "open %s", err.text))
        return;
    for (uint32_t k = 0; k < w->ntasks; k++)
        ask(s, OP(PUT, .task = k, .node = k % 3), NULL);
    /* applied and not answered: each of these would be refused if it were applied again */
    struct meta_op ops[] = {OP(HOLD, .task = 0, .node = 5, .epoch = 1),
                            OP(HOLD, .task = 0, .node = 6, .epoch = 2),
                            OP(REMOVE, .task = 0, .status = META_REMOVED, .time = 5),
                            OP(ADOPT, .node = 1, .other = 2, .limit = 10), OP(COUNT)};
    submit_all(s, ops, 5, &all, server);
    bool granted = true;
    for (size_t i = 0; i < all.n; i++)
        granted &= all.at[i].outcome == META_OK;
    ok(granted, "are those that were given: all granted");
    ok(all.n == 5 && all.at[2].count > 0 && all.at[3].count == 10 && all.at[4].item.waiting == 1,
       "with their children, tasks and counts");
    is_int(ask(s, OP(READ, .task = 0), &all).status, META_REMOVED, "and it was applied");
    is_int(all.records[0].count, 3, "once");
    ok(store_redis_counts(s).resent == 1, "though it was sent twice");
    /* reads are not kept: the answer is from now */
    submit_all(s, &OP(GET, .task = 1), 1, &all, server);
    ok(all.n == 1 && all.at[0].outcome == META_OK, "a question is asked again");

    /* not applied */
    struct meta_op late[] = {OP(REMOVE, .task = 0, .status = META_REMOVED, .time = 5),
                             OP(ADOPT, .node = 1, .other = 0, .limit = 4)};
    kill(server->pid, SIGSTOP);
    store_submit(s, late, 2);
    ok(store_poll(s, &all, &err) && all.n == 0, "the server is silent");
    server_kill(server);
    server_run(server);
    ok(store_flush(s, &err) && store_poll(s, &all, &err) && all.n == 2, "and comes back %s",
       err.text);
    ok(all.n == 2 && all.at[0].outcome == META_ENDED, "another removal of the same comes too late");
    ok(all.n == 2 && all.at[1].outcome == META_OK && all.at[1].count == 4,
       "an adoption that never came there is made");

    /* what is kept for a client goes with its node, and with itself */
    is_str(tell(server, "HLEN {unanswered.0}:A"), "1", "one entry a client");
    struct store *other = store_redis_open(&config, NULL, &err);
    ask(other, OP(JOIN, .node = 7, .life = 1), NULL);
    is_str(tell(server, "HLEN {unanswered.0}:A"), "2", "two clients");
    ask(s, OP(ADOPT, .node = 1, .other = 7, .limit = 4), NULL);
    char client[16];
    memcpy(client, ((struct redis *)other)->name, 8);
    redisContext *c = redisConnect("127.0.0.1", server->port);
    redisReply *kept = redisCommand(c, "HSTRLEN {unanswered.0}:A %b", client, (size_t)8);
    is_int(kept ? kept->integer : -1, 5, "a node that died has only its number left");
    if (kept)
        freeReplyObject(kept);
    redisFree(c);
    ask(s, OP(JOIN, .node = 7, .life = 2), NULL);
    is_str(tell(server, "HLEN {unanswered.0}:A"), "1", "and nothing when it comes back elsewhere");
    store_close(other, &err);
    ok(store_close(s, &err), "closed %s", err.text);
    is_str(tell(server, "EXISTS {unanswered.0}:A"), "0", "who leaves leaves nothing");
    tell(server, "FLUSHALL");
}

int main(void)
{
    struct workflow *w = make_workflow(150, "t");
    char folder[4096];
    if (!has_program("redis-server")) {
        tap_skip("calls that are sent again", "redis-server is not installed");
    } else {
        make_folder(folder, sizeof folder);
        for (int native = 0; native < 2; native++) {
            struct server server = {.native = native};
            server_start(&server, folder, native ? "native" : "script");
            TAP_DO(unanswered(&server, w));
            server_remove(&server);
        }
        remove_folder(folder);
    }
    workflow_free(w);
    return tap_done();
}
