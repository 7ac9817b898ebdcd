/* The board: addresses, members and their leases, runs, and servers that go away meanwhile. */
#include "store/board.h"
#include "base/clock.h"
#include "store/redis/testing.h"
#include "tap.h"
#include <poll.h>

/* ---- addresses ---- */

static void addresses(void)
{
    struct error err = {0};
    struct store_address a;
    char prefix[128];
    ok(store_address_parse("redis://me:a%40b:c@h1,[::1]:7000/run-1?replicas=1&shards=8&insecure=1",
                           &a, &err),
       "an address with everything %s", err.text);
    ok(strcmp(a.servers, "h1,[::1]:7000") == 0 && strcmp(a.prefix, "run-1") == 0,
       "servers, prefix");
    ok(strcmp(a.user, "me") == 0 && strcmp(a.password, "a@b:c") == 0, "user and password");
    is_str(a.text, "redis://me@h1,[::1]:7000/run-1?replicas=1&shards=8&insecure=1",
           "people see no password");
    struct store_redis_config c = store_address_config(&a, 12, &(struct seal_prover){{0}}, prefix);
    ok(strcmp(c.prefix, "run-1.run.12") == 0 && c.replicas == 1 && c.shards == 8 && !c.tls &&
           strcmp(c.password, "a@b:c") == 0,
       "the settings of a run");
    store_address_free(&a);
    ok(store_address_parse("redis://:secret@localhost", &a, &err) && !a.user &&
           strcmp(a.text, "redis://localhost") == 0 && strcmp(a.prefix, "weft") == 0,
       "a password alone: %s", a.text);
    store_address_free(&a);
    ok(store_address_parse("rediss://host:1?ca=/x%20y&name=n&unchecked=1&auth=key", &a, &err) &&
           a.tls && a.auth_key && a.tls_unchecked && strcmp(a.tls_ca, "/x y") == 0,
       "TLS, and a password from the key %s", err.text);
    store_address_free(&a);
    static const struct {
        const char *text, *told;
    } bad[] = {
        {"localhost:6379", "redis://host:port"},
        {"", "redis://host:port"},
        {"redis://", "no server"},
        {"redis://h:99999", "expected host:port"},
        {"redis://h/a{b", "no prefix"},
        {"redis://h/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "1 to 64"},
        {"redis://u:%2@h", "%25"},
        {"redis://u:%00@h", "%25"},
        {"redis://u:@h", "empty password"},
        {"redis://h?ca=x", "rediss://"},
        {"redis://h?color=x", "unknown option 'color'"},
        {"redis://h?shards", "no value"},
        {"redis://h?shards=-1", "a number"},
        {"redis://h?auth=me", "only 'key'"},
        {"redis://:sesame@h?auth=key", "one of"},
        {"redis://:sesame@10.0.0.1:6379", "without TLS"},
        {"redis://127.0.0.1,head", "--insecure-store"},
        {"redis://128.0.0.1", "without TLS"},
        {"redis://[::2]:1", "without TLS"},
        {"redis://127.0.0.1?auth=key", "auth=key without TLS"},
        {"redis://head?insecure=2", "a number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error_clear(&err);
        ok(!store_address_parse(bad[i].text, &a, &err) && !strstr(err.text, "sesame"), "'%s'",
           bad[i].text);
        has_str(err.text, bad[i].told, "says why");
    }
}

/* ---- what comes back ---- */

struct heard {
    int calls;
    bool good;
    uint32_t node, life;
    uint64_t run;
    size_t n;
    char why[512], text[64];
    double now;
    struct board_member members[16];
    char said[16][64];
    size_t nmembers;
    struct board_run runs[16];
    size_t nruns;
};

static void note(struct heard *h, bool good, const char *why)
{
    h->calls++;
    h->good = good;
    snprintf(h->why, sizeof h->why, "%s", why);
}

static void on_done(void *context, bool good, const char *why)
{
    note(context, good, why);
}

static void on_joined(void *context, bool good, uint32_t node, uint32_t life, const char *why)
{
    struct heard *h = context;
    note(h, good, why);
    h->node = node;
    h->life = life;
}

static void on_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct heard *h = context;
    note(h, good, why);
    h->n = n;
    snprintf(h->text, sizeof h->text, "%.*s", (int)(n < 60 ? n : 60), (const char *)data);
}

static void on_number(void *context, bool good, uint64_t run, const char *why)
{
    struct heard *h = context;
    note(h, good, why);
    h->run = run;
}

static void on_view(void *context, const struct board_view *view, const char *why)
{
    struct heard *h = context;
    note(h, view != NULL, why);
    if (!view)
        return;
    h->now = view->now;
    h->nmembers = view->nmembers;
    for (size_t i = 0; i < view->nmembers && i < 16; i++) {
        h->members[i] = view->members[i];
        snprintf(h->said[i], sizeof h->said[i], "%.*s", (int)view->members[i].n,
                 view->members[i].text);
    }
    h->nruns = view->nruns;
    for (size_t i = 0; i < view->nruns && i < 16; i++)
        h->runs[i] = view->runs[i];
}

static struct board *open_board(const struct server *server, const char *more, struct error *err)
{
    struct store_address a;
    char url[200];
    snprintf(url, sizeof url, "redis://%s/%s", server->address, more);
    if (!store_address_parse(url, &a, err))
        return NULL;
    struct board *b = board_open(&a, err);
    store_address_free(&a);
    return b;
}

static struct heard join(struct board *b, const char *who, uint64_t attempt, double lease)
{
    struct heard h = {0};
    board_join(
        b,
        &(struct board_joining){
            .identity = who, .attempt = attempt, .lease = lease, .text = who, .n = strlen(who)},
        on_joined, &h);
    board_wait(b, 10);
    return h;
}

static struct heard beat(struct board *b, uint32_t node, uint32_t life, uint8_t state,
                         const char *text)
{
    struct heard h = {0};
    board_heartbeat(
        b,
        &(struct board_pulse){
            .node = node, .life = life, .state = state, .text = text, .n = strlen(text)},
        on_view, &h);
    board_wait(b, 10);
    return h;
}

static struct heard view(struct board *b)
{
    struct heard h = {0};
    board_view(b, on_view, &h);
    board_wait(b, 10);
    return h;
}

static struct heard bury(struct board *b, uint32_t node, uint32_t life)
{
    struct heard h = {0};
    board_expire(b, node, life, on_done, &h);
    board_wait(b, 10);
    return h;
}

static struct heard set_state(struct board *b, uint64_t run, enum board_run_state state)
{
    struct heard h = {0};
    board_run_state(b, &(struct board_change){.run = run, .state = state, .id = {7}, .proof = {9}},
                    on_done, &h);
    board_wait(b, 10);
    return h;
}

static struct heard new_run(struct board *b, const void *text, size_t n)
{
    struct heard h = {0};
    board_new_run(b, on_number, &h);
    board_wait(b, 60);
    board_set_run_text(b, h.run, text, n, on_done, &h);
    board_wait(b, 60);
    return h;
}

static struct heard run_text(struct board *b, uint64_t run)
{
    struct heard h = {0};
    board_run_text(b, run, on_text, &h);
    board_wait(b, 60);
    return h;
}

/* ---- members ---- */

static void members(const struct server *server)
{
    struct error err = {0};
    struct board *b = open_board(server, "m", &err), *c = open_board(server, "m", &err);
    if (!ok(b && c, "two open the board %s", err.text))
        return;
    is_int(view(b).nmembers, 0, "nobody is there");
    struct heard h = join(b, "a", 11, 5);
    uint32_t first = h.life; /* of node 0 */
    ok(h.good && h.node == 0 && h.life > 200000000, "the first is node 0 %s", h.why);
    h = join(c, "b", 12, 5);
    uint32_t second = h.life; /* of node 1 */
    ok(h.node == 1 && h.life >= first, "the second is node 1");
    h = join(b, "a", 11, 5);
    ok(h.node == 0 && h.life == first, "the same joining again gives the same");
    h = join(b, "a", 13, 5);
    uint32_t again = h.life; /* of node 0 */
    ok(h.node == 0 && h.life > first, "another of the same identity gives a new life");
    h = beat(b, 0, again, BOARD_UP, "hello");
    ok(h.good && h.nmembers == 2, "a beat shows both");
    ok(strcmp(h.said[0], "hello") == 0 && strcmp(h.said[1], "b") == 0, "with their texts");
    ok(h.members[0].age < 2 && h.members[0].lease == 5 && h.now > 1.7e9, "ages by one clock");
    h = beat(b, 0, first, BOARD_UP, "ghost");
    ok(h.good && h.members[0].life == again && strcmp(h.said[0], "hello") == 0,
       "a life that is over says nothing");
    h = beat(c, 1, second, BOARD_LEAVING, "x");
    is_int(h.members[1].state, BOARD_LEAVING, "one wants to leave");
    bury(b, 1, second);
    is_int(view(b).members[1].state, BOARD_LEAVING, "who beats is not buried");
    board_leave(c, 1, second + 9, on_done, &h);
    board_wait(c, 5);
    is_int(view(b).members[1].state, BOARD_LEAVING, "nor leaves another life");
    board_leave(c, 1, second, on_done, &h);
    ok(board_wait(c, 5) && h.good, "it leaves");
    is_int(view(b).members[1].state, BOARD_LEFT, "and has left");
    is_int(beat(c, 1, second, BOARD_UP, "x").members[1].state, BOARD_LEFT,
           "its beats change nothing");
    h = join(c, "d", 14, 0.2);
    uint32_t third = h.life; /* of node 1 */
    ok(h.node == 1 && h.life > second, "a newcomer takes over its number");
    h = join(c, "b", 15, 0.2);
    ok(h.node == 2 && h.life >= first, "the old one comes back as another");
    /* 1 and 2 are silent now */
    pause_ms(60);
    bury(b, 1, third);
    is_int(view(b).members[1].state, BOARD_UP, "a lease that has not run out");
    for (int i = 0; i < 4; i++) {
        pause_ms(60);
        beat(b, 0, again, BOARD_UP, "here");
    }
    bury(b, 1, second);
    is_int(view(b).members[1].state, BOARD_UP, "of another life nothing is known");
    h = bury(b, 1, third);
    ok(h.good, "a lease that has run out");
    h = view(b);
    ok(h.members[1].state == BOARD_DEAD && h.members[2].state == BOARD_UP, "one of them is buried");
    h = join(c, "d", 16, 0.2);
    ok(h.node == 1 && h.life > third, "the buried one joins again");
    struct heard wrong = {0};
    board_join(
        b, &(struct board_joining){.identity = "", .attempt = 1, .lease = 5, .text = "", .n = 0},
        on_joined, &wrong);
    ok(wrong.calls == 0 && board_wait(b, 5) && wrong.calls == 1 && !wrong.good,
       "no identity: refused from within poll: %s", wrong.why);
    board_heartbeat(
        b, &(struct board_pulse){.node = 0, .life = again, .state = BOARD_DEAD, .text = "", .n = 0},
        on_view, &wrong);
    struct pollfd fd = {board_fd(b), POLLIN, 0};
    is_int(poll(&fd, 1, 5000), 1, "a refusal makes the descriptor readable");
    ok(board_wait(b, 5) && wrong.calls == 2 && !wrong.good, "and is told: %s", wrong.why);
    board_close(b);
    board_close(c);
}

/* ---- runs ---- */

static void runs(struct server *server)
{
    struct error err = {0};
    struct board *b = open_board(server, "r", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    struct heard h = new_run(b, "first\0text", 10);
    ok(h.good && h.run == 1, "the first run %s", h.why);
    is_int(view(b).nruns, 0, "is in no view");
    h = new_run(b, "", 0);
    is_int(h.run, 2, "the second");
    ok(set_state(b, 1, BOARD_RUN_OPEN).good, "one is opened");
    h = view(b);
    ok(h.nruns == 1 && h.runs[0].run == 1 && h.runs[0].state == BOARD_RUN_OPEN, "and seen");
    ok(h.runs[0].id[0] == 7 && h.runs[0].proof[0] == 9, "with the words that prove it");
    ok(h.now - h.runs[0].created < 5 && h.runs[0].changed >= h.runs[0].created, "with its times");
    h = run_text(b, 1);
    ok(h.good && h.n == 10 && strcmp(h.text, "first") == 0, "its text is bytes");
    h = run_text(b, 2);
    ok(h.good && h.n == 0, "an empty one too");
    h = run_text(b, 77);
    ok(!h.good, "of no run: %s", h.why);
    h = set_state(b, 77, BOARD_RUN_OPEN);
    ok(!h.good, "no state either");
    is_str(h.why, "there is no run 77 on the board", "says so");
    set_state(b, 1, BOARD_RUN_CANCELLED);
    set_state(b, 1, BOARD_RUN_STOPPING);
    is_int(view(b).runs[0].state, BOARD_RUN_CANCELLED, "states go forward only");
    set_state(b, 2, BOARD_RUN_ENDED);
    h = view(b);
    ok(h.nruns == 2 && h.runs[1].run == 2 && h.runs[1].state == BOARD_RUN_ENDED, "in their order");
    board_forget_run(b, 1, on_done, &h);
    ok(board_wait(b, 5) && h.good && !run_text(b, 1).good, "a text is forgotten");
    /* an hour later */
    char old[BOARD_RUN_RECORD] = {BOARD_RUN_COLLECTED};
    redisContext *c = redisConnect("127.0.0.1", server->port);
    redisReply *reply = redisCommand(c, "HSET {r.board}:R 2 %b", old, sizeof old);
    if (reply)
        freeReplyObject(reply);
    redisFree(c);
    is_int(view(b).nruns, 1, "one that was collected long ago goes");
    ok(!run_text(b, 2).good, "with its text");
    set_state(b, 1, BOARD_RUN_COLLECTED);
    is_int(view(b).nruns, 1, "one that was collected just now stays");

    /* large ones */
    size_t n = 40u << 20;
    char *large = mem_alloc(n);
    memset(large, 'x', n);
    h = new_run(b, large, n);
    ok(h.good && run_text(b, h.run).n == n, "a text of 40 MB %s", h.why);
    h = new_run(b, large, (size_t)600 << 20);
    ok(!h.good, "none of 600 MB");
    has_str(h.why, "512 MB", "says why");
    tell(server, "CONFIG SET maxmemory 30mb");
    h = new_run(b, large, n);
    ok(!h.good, "a server without room: %s", h.why);
    has_str(h.why, "maxmemory", "says what to do");
    h = join(b, "me", 1, 5);
    ok(h.good && beat(b, h.node, h.life, BOARD_UP, "x").good, "lives go on there %s", h.why);
    tell(server, "CONFIG SET maxmemory 0");
    tell(server, "CONFIG SET proto-max-bulk-len 1mb");
    h = new_run(b, large, n);
    ok(!h.good, "a server that takes no long texts");
    has_str(h.why, "proto-max-bulk-len", "says what to do");
    tell(server, "CONFIG SET proto-max-bulk-len 512mb");
    ok(view(b).good, "and goes on");
    board_set_run_text(b, 1, large, n, on_done, &h);
    board_close(b); /* in the middle */
    free(large);
}

/* ---- who writes to the server himself ---- */

static void put(struct server *server, const char *command, const void *bytes, size_t n)
{
    redisContext *c = redisConnect("127.0.0.1", server->port);
    redisReply *reply = redisCommand(c, command, bytes, n);
    if (reply)
        freeReplyObject(reply);
    redisFree(c);
}

static struct heard charter(struct board *b, const char *offer, const char *instead)
{
    struct heard h = {0};
    board_charter(b,
                  &(struct board_charter){.offer = offer,
                                          .noffer = strlen(offer),
                                          .instead = instead,
                                          .ninstead = instead ? strlen(instead) : 0},
                  on_text, &h);
    board_wait(b, 10);
    return h;
}

static void parts(struct server *server)
{
    struct heard h = {0};
    struct error err = {0};
    struct board *b = open_board(server, "parts", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    board_run_part(b, 4, 0, on_text, &h);
    ok(board_wait(b, 5) && h.good && !h.text[0], "there is none at first");
    board_offer_part(b, &(struct board_part){4, 0, "one", NULL, 3, 0, false}, on_text, &h);
    ok(board_wait(b, 5) && h.good && strcmp(h.text, "one") == 0,
       "the first that is offered stands");
    board_offer_part(b, &(struct board_part){4, 0, "two", NULL, 3, 0, false}, on_text, &h);
    ok(board_wait(b, 5) && h.good && strcmp(h.text, "one") == 0, "and stays");
    board_offer_part(b, &(struct board_part){4, 0, "two", "six", 3, 3, false}, on_text, &h);
    ok(board_wait(b, 5) && strcmp(h.text, "one") == 0, "also where another is written over");
    board_offer_part(b, &(struct board_part){4, 0, "two", "one", 3, 3, false}, on_text, &h);
    ok(board_wait(b, 5) && strcmp(h.text, "two") == 0, "what is nobody's word is written over");
    board_run_part(b, 4, 0, on_text, &h);
    ok(board_wait(b, 5) && strcmp(h.text, "two") == 0, "and everybody has that");
    board_run_part(b, 4, 1, on_text, &h);
    ok(board_wait(b, 5) && h.good && !h.text[0], "the next is another");
    board_close(b);
}

static bool end_run(struct board *b, uint32_t parts, bool holds)
{
    struct heard h = {0};
    board_run_state(
        b,
        &(struct board_change){
            .run = 1, .state = BOARD_RUN_ENDED, .id = {7}, .parts = &parts, .holds = holds},
        on_done, &h);
    board_wait(b, 5);
    return h.good && view(b).runs[0].state == BOARD_RUN_ENDED;
}

/* Who adds and who ends: the first one counts. */
static void holds(struct server *server)
{
    struct heard h = {0};
    struct error err = {0};
    struct board *b = open_board(server, "holds", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    struct board_part part = {1, 0, "one", NULL, 3, 0, true};
    new_run(b, "x", 1);
    board_offer_part(b, &part, on_text, &h);
    ok(board_wait(b, 5) && h.good && !h.text[0], "nothing joins a run that is not open yet");
    set_state(b, 1, BOARD_RUN_OPEN);
    board_run_hold(b, 1, on_text, &h);
    ok(board_wait(b, 5) && h.good && !h.text[0], "nobody holds it");
    board_hold_run(b, 1, 60, NULL, NULL);
    board_run_hold(b, 1, on_text, &h);
    ok(board_wait(b, 5) && h.good && h.text[0], "somebody does");
    board_offer_part(b, &part, on_text, &h);
    ok(board_wait(b, 5) && strcmp(h.text, "one") == 0, "a part joins an open run");
    ok(!end_run(b, 0, true), "who does not know of it cannot end the run");
    ok(!end_run(b, 1, false), "nor who does not hold it");
    ok(end_run(b, 1, true), "who holds it and knows all ends it");
    part.number = 1;
    board_offer_part(b, &part, on_text, &h);
    ok(board_wait(b, 5) && h.good && !h.text[0], "then nothing joins any more");
    part.number = 0;
    board_offer_part(b, &part, on_text, &h);
    ok(board_wait(b, 5) && strcmp(h.text, "one") == 0, "an offer that is sent again stands");
    board_hold_run(b, 1, 0, NULL, NULL);
    board_run_hold(b, 1, on_text, &h);
    ok(board_wait(b, 5) && !h.text[0], "nobody holds it any more");
    board_close(b);
}

static void writers(struct server *server)
{
    struct error err = {0};
    struct board *b = open_board(server, "w", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    is_str(charter(b, "first", NULL).text, "first", "a charter");
    is_str(charter(b, "second", NULL).text, "first", "stays");
    is_str(charter(b, "second", "first").text, "second", "unless nobody lives who goes by it");
    join(b, "a", 1, 5);
    is_str(charter(b, "third", "second").text, "second", "a member lives");
    struct heard h = new_run(b, "x", 1);
    set_state(b, 1, BOARD_RUN_OPEN);
    put(server, "HSET {w.board}:R 1 %b", "short", 5);
    h = view(b);
    ok(h.good && h.nruns == 1 && h.runs[0].proof[0] == 0, "a record of the wrong length is shown");
    put(server, "HSET {w.board}:R 1 %b", (char[BOARD_RUN_RECORD]){BOARD_RUN_COLLECTED},
        BOARD_RUN_RECORD);
    set_state(b, 1, BOARD_RUN_ENDED);
    put(server, "HSET {w.board}:R 1 %b", (char[BOARD_RUN_RECORD]){BOARD_RUN_CANCELLED},
        BOARD_RUN_RECORD);
    struct board_run forged = view(b).runs[0];
    struct heard done = {0};
    board_run_state(
        b, &(struct board_change){.run = 1, .state = BOARD_RUN_OPEN, .id = {7}, .over = &forged},
        on_done, &done);
    board_wait(b, 5);
    h = view(b);
    ok(done.good && h.runs[0].state == BOARD_RUN_OPEN && h.runs[0].id[0] == 7,
       "a forged record is written over");
    set_state(b, 1, BOARD_RUN_STOPPING);
    board_run_state(
        b, &(struct board_change){.run = 1, .state = BOARD_RUN_OPEN, .id = {7}, .over = &forged},
        on_done, &done);
    board_wait(b, 5);
    is_int(view(b).runs[0].state, BOARD_RUN_STOPPING, "if it is still that one");
    put(server, "SET {w.board}:C %b", "0", 1);
    is_int(new_run(b, "y", 1).run, 2, "a counter that was put back gives no number twice");
    put(server, "HSET {w.board}:X nonsense %b", "x", 1);
    ok(view(b).good, "what is no member is passed over");
    board_close(b);
}

/* ---- servers that go away ---- */

static void restart(struct server *server)
{
    struct error err = {0};
    struct board *b = open_board(server, "s", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    struct heard a = join(b, "a", 1, 0.4), h[5] = {0}, dead = join(b, "dead", 2, 0.4);
    kill(server->pid, SIGSTOP);
    board_heartbeat(b,
                    &(struct board_pulse){
                        .node = a.node, .life = a.life, .state = BOARD_UP, .text = "1", .n = 1},
                    on_view, &h[0]);
    board_join(
        b, &(struct board_joining){.identity = "c", .attempt = 3, .lease = 5, .text = "c", .n = 1},
        on_joined, &h[1]);
    board_new_run(b, on_number, &h[2]);
    ok(!board_wait(b, 0.1) && h[0].calls + h[1].calls + h[2].calls == 0, "the server is silent");
    server_kill(server);
    ok(!board_wait(b, 0.5), "and gone");
    ok(board_silence(b) > 0.4, "for %.1f s: %s", board_silence(b), board_trouble(b));
    board_run_state(b, &(struct board_change){.run = 1, .state = BOARD_RUN_OPEN}, on_done, &h[3]);
    server_run(server);
    ok(board_wait(b, 10), "it comes back, and everything is answered");
    ok(h[0].calls == 1 && h[0].good && h[0].members[a.node].state == BOARD_UP, "the beat");
    ok(h[1].calls == 1 && h[1].node == 2 && h[1].life > 0, "the joining");
    ok(h[2].calls == 1 && h[2].run == 1, "the new run");
    ok(h[3].calls == 1, "and the state %s", h[3].why);
    ok(board_silence(b) < 1 && !*board_trouble(b), "it is not silent any more");
    ok(h[0].members[dead.node].age > 0.4, "the other's last beat is old");
    bury(b, dead.node, dead.life);
    is_int(view(b).members[dead.node].state, BOARD_UP,
           "but it could not beat: it has a whole lease from now on");
    for (int i = 0; i < 6; i++) {
        pause_ms(100);
        beat(b, a.node, a.life, BOARD_UP, "2");
    }
    bury(b, dead.node, dead.life);
    is_int(view(b).members[dead.node].state, BOARD_DEAD, "and no more");
    tell(server, "SCRIPT FLUSH");
    ok(view(b).good, "a server that forgot the script gets it again");
    tell(server, "CLIENT KILL TYPE normal");
    ok(view(b).good, "a closed connection is opened again");
    tell(server, "FLUSHALL");
    struct heard gone = beat(b, a.node, a.life, BOARD_UP, "x");
    ok(gone.good && gone.nmembers == 0, "a server that lost everything: nobody is there");
    gone = join(b, "a", 9, 5);
    ok(gone.good && gone.node == 0, "and one joins again");
    for (int i = 0; i < 1000; i++)
        board_heartbeat(
            b,
            &(struct board_pulse){
                .node = gone.node, .life = gone.life, .state = BOARD_UP, .text = "x", .n = 1},
            on_view, &h[4]);
    ok(board_wait(b, 20), "many at once");
    is_int(h[4].calls, 1000, "are all answered");
    board_close(b);
}

/* A server that is emptied twice in a second gives a number and a life to two: only the attempt differs. */
static void emptied_twice(struct server *server)
{
    struct error err = {0};
    struct board *b = open_board(server, "e", &err);
    if (!ok(b != NULL, "open %s", err.text))
        return;
    struct heard first = {0}, second = {0};
    for (int i = 0; i < 20 && (!i || first.life != second.life); i++) { /* unless a second ended */
        tell(server, "FLUSHALL");
        first = join(b, "first", 7, 5);
        tell(server, "FLUSHALL");
        second = join(b, "second", 8, 5);
    }
    ok(first.node == second.node && first.life == second.life, "two have one number and life");
    struct board_pulse pulse = {
        .node = first.node, .life = first.life, .state = BOARD_LEAVING, .text = "old", .n = 3};
    struct heard h = {0};
    pulse.attempt = 7;
    board_heartbeat(b, &pulse, on_view, &h);
    board_wait(b, 10);
    ok(h.good && h.members[0].attempt == 8, "the first sees that it is not the one");
    ok(strcmp(h.said[0], "second") == 0 && h.members[0].state == BOARD_UP,
       "and has not spoken for the other");
    pulse.attempt = 8;
    board_heartbeat(b, &pulse, on_view, &h);
    board_wait(b, 10);
    ok(h.good && strcmp(h.said[0], "old") == 0, "who is the one is heard");
    board_close(b);
}

static void refusals(struct server *server)
{
    struct error err = {0};
    struct store_address a;
    struct server nobody = {0};
    snprintf(nobody.address, sizeof nobody.address, "127.0.0.1:%d", free_port());
    ok(store_address_parse("redis://127.0.0.1:1?auth=key&insecure=1", &a, &err) &&
           !board_open(&a, &err),
       "no key: %s", err.text);
    store_address_free(&a);
    error_clear(&err);
    tell(server, "SET {v.board}:I weft-board/0");
    ok(!open_board(server, "v", &err), "a board of another version");
    has_str(err.text, "weft-board/0", "says so");
    error_clear(&err);
    tell(server, "CONFIG SET requirepass sesame");
    ok(!open_board(server, "p", &err), "no password");
    has_str(err.text, "wants a password", "says so");
    error_clear(&err);
    char url[160];
    snprintf(url, sizeof url, "redis://:guess@%s/p", server->address);
    store_address_parse(url, &a, &err);
    ok(!board_open(&a, &err), "a wrong one");
    has_str(err.text, "wrong user or password", "says so");
    store_address_free(&a);
    error_clear(&err);
    snprintf(url, sizeof url, "redis://%s/p?auth=key&insecure=1", server->address);
    store_address_parse(url, &a, &err);
    a.password = mem_copy_string("sesame");
    struct board *b = board_open(&a, &err);
    ok(b && view(b).good, "the right one %s", err.text);
    board_close(b);
    store_address_free(&a);
}

int main(void)
{
    TAP_DO(addresses());
    if (!has_program("redis-server")) {
        tap_skip("the board", "redis-server is not installed");
        return tap_done();
    }
    char folder[4096];
    struct server server = {0};
    make_folder(folder, sizeof folder);
    server_start(&server, folder, "redis");
    TAP_DO(members(&server));
    TAP_DO(runs(&server));
    TAP_DO(parts(&server));
    TAP_DO(holds(&server));
    TAP_DO(writers(&server));
    TAP_DO(restart(&server));
    TAP_DO(emptied_twice(&server));
    TAP_DO(refusals(&server));
    server_remove(&server);
    remove_folder(folder);
    return tap_done();
}
