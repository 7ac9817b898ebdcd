/* Calls to servers: which connection a lane uses, what an error reply means for it, and when to
 * try again. Nothing here blocks but redis_lanes_pump() when it is told to. */
#include "base/clock.h"
#include "store/redis/state.h"
#include "store/redis/words.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CALL_PARTS 1024u        /* most in one call: others wait no longer than for these, 5 ms */
#define CALL_BYTES (256u << 10) /* likewise */
#define HEADER_BYTES (2 + 3 * 4 + REDIS_SCRIPT_CLIENT + 4)
#define CONNECT_SECONDS 5.0
#define REPLY_SECONDS 10.0 /* without a byte from a server that owes us some: the line is dead */
#define REFRESH_SECONDS 0.1
#define RETRY_SECONDS 0.02
#define WAIT_MILLISECONDS "500"
#define LAGGING_SECONDS 2.0 /* replicas that were late or missing are not waited for so long */

enum mark { MARK_AUTH, MARK_INFO, MARK_LOAD, MARK_SLOTS, MARK_CALL, MARK_IGNORE, MARK_WAIT };

/* ---- calls ---- */

struct redis_call *redis_call_new(struct redis *r, struct redis_lane *lane, uint8_t kind)
{
    struct redis_call *c = r->spare;
    if (c)
        r->spare = c->next;
    else
        c = mem_new_zero(struct redis_call, 1);
    c->next = NULL;
    c->kind = kind;
    c->resent = false;
    c->keep = REDIS_KEEP_NOT;
    c->number = lane->numbered++;
    c->parts.n = 0;
    array_reserve(&c->bytes, HEADER_BYTES);
    memset(c->bytes.at, 0, HEADER_BYTES);
    c->bytes.n = HEADER_BYTES;
    if (lane->last)
        lane->last->next = c;
    else
        lane->calls = c;
    lane->last = c;
    return c;
}

struct redis_call *redis_call_filling(struct redis *r, struct redis_lane *lane)
{
    struct redis_call *c = lane->last;
    bool sealed = !c || c->kind != REDIS_CALL_APPLY || (lane->flying && c == lane->calls) ||
                  c->resent || c->parts.n >= CALL_PARTS || c->bytes.n >= CALL_BYTES;
    return sealed ? redis_call_new(r, lane, REDIS_CALL_APPLY) : c;
}

void redis_call_free(struct redis_call *call)
{
    if (call->held)
        freeReplyObject(call->held);
    array_free(&call->bytes);
    array_free(&call->parts);
    free(call);
}

static void call_finished(struct redis *r, struct redis_lane *lane)
{
    struct redis_call *c = lane->calls;
    lane->calls = c->next;
    if (!lane->calls)
        lane->last = NULL;
    if (c->held)
        freeReplyObject(c->held);
    c->held = NULL;
    c->next = r->spare;
    r->spare = c;
    lane->flying = lane->asking = false;
    lane->since = lane->retry_at = 0;
    lane->tries = 0;
}

/* ---- slots ---- */

struct redis_conn *redis_lanes_conn(struct redis *r, const char *host, uint16_t port)
{
    for (size_t i = 0; i < r->conns.n; i++)
        if (r->conns.at[i]->port == port && strcmp(r->conns.at[i]->host, host) == 0)
            return r->conns.at[i];
    struct redis_conn *c = redis_conn_new(host, port, (uint32_t)r->conns.n, r->epoll, r->tls);
    array_push(&r->conns, c);
    return c;
}

static void use_slots(struct redis *r, const struct redis_conn *from, const redisReply *reply)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        struct redis_words_range range;
        if (!redis_words_range(from, reply, i, &range))
            continue;
        uint32_t conn = redis_lanes_conn(r, range.host, range.port)->index;
        for (uint32_t k = 0; k < r->nlanes; k++)
            if (r->lanes[k].slot >= range.first && r->lanes[k].slot <= range.last)
                r->lanes[k].conn = conn;
    }
}

/* ---- sending ---- */

static void send_call(struct redis *r, struct redis_lane *lane, struct redis_conn *c, double now)
{
    struct redis_call *call = lane->calls;
    const char *args[REDIS_SCRIPT_KEYS + 8];
    size_t lengths[REDIS_SCRIPT_KEYS + 8], n = 0;
    char numbers[3][24];
    bool idle = !c->open.n;
    if (idle) {
        c->since = now;
        r->counts.round_trips++;
    }
    if (lane->asking)
        redis_words_command(c, (struct redis_conn_mark){MARK_IGNORE, 0}, 1,
                            (const char *const[]){"ASKING"});
    if (call->kind == REDIS_CALL_FORGET) {
        args[n] = "UNLINK", lengths[n++] = 6;
    } else {
        args[n] = "EVALSHA", lengths[n++] = 7;
        args[n] = r->sha[call->kind == REDIS_CALL_OPEN], lengths[n] = strlen(args[n]), n++;
        args[n] = "12", lengths[n++] = 2;
    }
    for (int k = 0; k < REDIS_SCRIPT_KEYS; k++)
        args[n] = lane->key[k], lengths[n++] = lane->key_size;
    if (call->kind == REDIS_CALL_APPLY) {
        bool renew = r->expire && now - lane->touched > r->expire / 4.0;
        uint32_t header[3] = {renew ? r->expire : 0, lane->count, lane->edges};
        if (renew)
            lane->touched = now;
        call->bytes.at[0] = call->resent;
        call->bytes.at[1] = call->keep;
        memcpy(call->bytes.at + 2, header, sizeof header);
        memcpy(call->bytes.at + 14, r->client, sizeof r->client);
        memcpy(call->bytes.at + 14 + sizeof r->client, &call->number, 4);
        lane->kept |= call->keep == REDIS_KEEP_ANSWER;
        args[n] = (const char *)call->bytes.at, lengths[n++] = call->bytes.n;
        r->counts.calls++;
    } else if (call->kind == REDIS_CALL_OPEN) {
        args[n] = (const char *)call->bytes.at + HEADER_BYTES;
        lengths[n++] = call->bytes.n - HEADER_BYTES;
        snprintf(numbers[0], sizeof numbers[0], "%zu", (size_t)lane->count * REDIS_SCRIPT_RECORD);
        snprintf(numbers[1], sizeof numbers[1], "%zu", (size_t)lane->edges * 4);
        snprintf(numbers[2], sizeof numbers[2], "%u", r->expire);
        for (int k = 0; k < 3; k++)
            args[n] = numbers[k], lengths[n++] = strlen(numbers[k]);
    }
    redis_conn_command(c, (struct redis_conn_mark){MARK_CALL, lane->index}, n, args, lengths);
    if (r->replicas && call->kind == REDIS_CALL_APPLY) {
        snprintf(numbers[0], sizeof numbers[0], "%u", c->lagging > now ? 0 : r->replicas);
        redis_words_command(c, (struct redis_conn_mark){MARK_WAIT, lane->index}, 3,
                            (const char *const[]){"WAIT", numbers[0], WAIT_MILLISECONDS});
    }
    lane->flying = true;
    lane->sent_on = c->index;
}

static void be_unwell(struct redis *r)
{
    r->unwell = true;
}

static void kick(struct redis *r, struct redis_lane *lane, double now)
{
    if (!lane->calls || lane->flying || r->troubled)
        return;
    uint32_t index = lane->asking ? lane->asked : lane->conn;
    if (index == NONE || r->conns.at[index]->state != REDIS_CONN_READY || lane->retry_at > now) {
        be_unwell(r);
        return;
    }
    send_call(r, lane, r->conns.at[index], now);
}

/* ---- replies ---- */

static void greet(struct redis *r, struct redis_conn *c)
{
    redis_words_greet(c, r->user, r->password, (struct redis_conn_mark){MARK_AUTH, 0},
                      (struct redis_conn_mark){MARK_INFO, 0});
    for (uint32_t i = 0; i < 2; i++)
        redis_words_command(
            c, (struct redis_conn_mark){MARK_LOAD, i}, 3,
            (const char *const[]){"SCRIPT", "LOAD",
                                  i ? store_redis_open_lua : store_redis_apply_lua});
}

static void lose(struct redis *r, struct redis_conn *c, double now, const char *why)
{
    redis_conn_stop(c, now, why);
    for (uint32_t i = 0; i < r->nlanes; i++) {
        struct redis_lane *lane = &r->lanes[i];
        if (lane->flying && lane->sent_on == c->index) {
            lane->flying = lane->asking = false;
            lane->calls->resent = true; /* nobody knows whether it was applied */
            if (lane->calls->held)
                freeReplyObject(lane->calls->held);
            lane->calls->held = NULL;
            r->counts.resent++;
        }
    }
    be_unwell(r);
}

/* "MOVED 3999 127.0.0.1:6381": the connection it names, NULL when this is no address. */
static struct redis_conn *redirected(struct redis *r, const struct redis_conn *from,
                                     const char *text)
{
    char host[256];
    uint16_t port;
    return redis_words_redirect(from, text, host, &port) ? redis_lanes_conn(r, host, port) : NULL;
}

static void call_refused(struct redis *r, struct redis_lane *lane, struct redis_conn *c,
                         const char *text, double now)
{
    struct redis_conn *to;
    lane->flying = lane->asking = false;
    r->counts.resent++;
    snprintf(lane->why, sizeof lane->why, "%s", text);
    if (redis_words_start(text, "NOSCRIPT")) {
        for (uint32_t i = 0; i < 2; i++)
            redis_words_command(
                c, (struct redis_conn_mark){MARK_IGNORE, 0}, 3,
                (const char *const[]){"SCRIPT", "LOAD",
                                      i ? store_redis_open_lua : store_redis_apply_lua});
        if (lane->tries++ < 3)
            return; /* kicked again by the caller, behind the load */
    }
    if ((redis_words_start(text, "MOVED ") || redis_words_start(text, "ASK ")) &&
        (to = redirected(r, c, text))) {
        r->counts.redirected++;
        if (redis_words_start(text, "ASK ")) {
            lane->asking = true;
            lane->asked = to->index;
        } else {
            lane->conn = to->index;
            r->refresh_at = r->refresh_at > 0 ? r->refresh_at : now;
        }
        if (lane->tries++ > 4)
            lane->retry_at = now + RETRY_SECONDS; /* they send us in circles: wait */
        be_unwell(r);
        return;
    }
    if (redis_words_later(text)) {
        lane->retry_at = now + RETRY_SECONDS;
        be_unwell(r);
        return;
    }
    if (strstr(text, "WEFTGONE"))
        redis_trouble(r, true,
                      "redis %s:%u: the metadata of run '%s' are gone: the server lost or dropped "
                      "them (no append-only file? FLUSHALL? expired?); start the run again",
                      c->host, c->port, r->prefix);
    else if (redis_words_start(text, "OOM"))
        redis_trouble(
            r, false,
            "redis %s:%u: the server's memory is full (%s): raise its maxmemory or remove "
            "old runs, then go on",
            c->host, c->port, text);
    else if (redis_words_start(text, "MISCONF"))
        redis_trouble(r, false,
                      "redis %s:%u: the server cannot write its disk (%s): make space, "
                      "then go on",
                      c->host, c->port, text);
    else
        redis_trouble(r, false, "redis %s:%u: %s", c->host, c->port, text);
}

static void call_answered(struct redis *r, struct redis_lane *lane, const redisReply *reply)
{
    struct redis_call *call = lane->calls;
    if (call->kind == REDIS_CALL_OPEN && reply->type == REDIS_REPLY_STRING) {
        free(lane->run);
        lane->run = mem_copy_bytes(reply->str, reply->len);
    } else if (call->kind == REDIS_CALL_APPLY) {
        if (reply->type != REDIS_REPLY_STRING ||
            !redis_decode(r, lane, call, (const unsigned char *)reply->str, reply->len)) {
            redis_trouble(r, true,
                          "redis: the server's answer is not what our script says; does "
                          "another version of weft write to run '%s'?",
                          r->prefix);
            return;
        }
    }
    call_finished(r, lane);
}

static void info_arrived(struct redis *r, struct redis_conn *c, const redisReply *reply)
{
    struct redis_words_server server;
    char why[200];
    if (!redis_words_info(c, reply, &server, why, sizeof why)) {
        redis_trouble(r, true, "%s", why);
        return;
    }
    r->cluster = server.cluster;
    r->has_aof = server.has_aof;
    r->known_mode = true;
}

/* False: the connection is of no use now. */
static bool greeted(struct redis *r, struct redis_conn *c, struct redis_conn_mark mark,
                    const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR) {
        char why[512];
        snprintf(c->why, sizeof c->why, "%s", reply->str);
        if (redis_words_refused(c, mark.what == MARK_AUTH, reply->str, why, sizeof why))
            redis_trouble(r, true, "%s", why);
        return false;
    }
    if (mark.what == MARK_INFO)
        info_arrived(r, c, reply);
    if (mark.what == MARK_LOAD && reply->type == REDIS_REPLY_STRING) {
        snprintf(r->sha[mark.which], sizeof r->sha[0], "%s", reply->str);
        if (mark.which == 1) {
            c->state = REDIS_CONN_READY;
            c->back_off = 0;
            r->counts.connects++;
        }
    }
    return !r->troubled;
}

static bool replied(struct redis *r, struct redis_conn *c, struct redis_conn_mark mark,
                    redisReply *reply, double now)
{
    struct redis_lane *lane = &r->lanes[mark.which < r->nlanes ? mark.which : 0];
    bool good = true;
    switch ((enum mark)mark.what) {
    case MARK_SLOTS:
        r->refreshing = false;
        if (reply->type != REDIS_REPLY_ERROR)
            use_slots(r, c, reply);
        break;
    case MARK_CALL:
        if (reply->type == REDIS_REPLY_ERROR) {
            call_refused(r, lane, c, reply->str, now);
            if (r->replicas) /* its WAIT must not be taken for another call's */
                for (size_t i = c->open_at; i < c->open.n; i++)
                    if (c->open.at[i].what == MARK_WAIT && c->open.at[i].which == lane->index)
                        c->open.at[i].what = MARK_IGNORE;
        } else if (r->replicas && lane->calls->kind == REDIS_CALL_APPLY) {
            lane->calls->held = reply;
            return true;
        } else {
            call_answered(r, lane, reply);
        }
        break;
    case MARK_WAIT: {
        redisReply *held = lane->calls->held;
        lane->calls->held = NULL;
        if (reply->type != REDIS_REPLY_INTEGER || reply->integer < (long long)r->replicas) {
            r->counts.unconfirmed++;
            if (c->lagging <= now)
                c->lagging = now + LAGGING_SECONDS;
        }
        call_answered(r, lane, held);
        freeReplyObject(held);
        break;
    }
    case MARK_IGNORE:
        break;
    default:
        good = greeted(r, c, mark, reply);
    }
    freeReplyObject(reply);
    return good;
}

static void conn_event(struct redis *r, struct redis_conn *c, double now)
{
    if (c->fd < 0)
        return; /* ended by an event before this one */
    enum redis_conn_state before = c->state;
    bool good = redis_conn_move(c, now), lost = false;
    if (before < REDIS_CONN_GREETING && c->state == REDIS_CONN_GREETING && good) {
        greet(r, c);
        good = redis_conn_flush(c);
    }
    struct redis_conn_mark mark;
    redisReply *reply;
    while (!lost && (reply = redis_conn_reply(c, &mark, &lost)))
        if (!replied(r, c, mark, reply, now))
            lost = true;
    if (!good || lost)
        lose(r, c, now, NULL);
}

/* ---- time ---- */

static void set_pace(struct redis *r, int milliseconds)
{
    if (milliseconds == r->pace)
        return;
    r->pace = milliseconds;
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    timerfd_settime(r->timer, 0, &(struct itimerspec){t, t}, NULL);
}

static bool is_needed(const struct redis *r, uint32_t conn)
{
    if (!r->known_mode || !r->nlanes) /* one that reads its file tells its mode, and no more */
        return conn < r->seeds;
    for (uint32_t i = 0; i < r->nlanes; i++)
        if (r->lanes[i].conn == conn || (r->lanes[i].asking && r->lanes[i].asked == conn))
            return true;
    return false;
}

static void refresh(struct redis *r, double now)
{
    if (!r->cluster || r->refresh_at > now || r->troubled)
        return;
    struct redis_conn *best = NULL;
    for (size_t i = 0; i < r->conns.n; i++)
        if (r->conns.at[i]->state == REDIS_CONN_READY &&
            (!best || r->conns.at[i]->since > best->since))
            best = r->conns.at[i]; /* the one that spoke last is the likeliest to live */
    r->refresh_at = now + REFRESH_SECONDS;
    if (!best) { /* knock at every door */
        for (size_t i = 0; i < r->conns.n; i++)
            if (r->conns.at[i]->state == REDIS_CONN_DOWN && r->conns.at[i]->retry_at <= now)
                redis_conn_start(r->conns.at[i], now);
        return;
    }
    if (!best->open.n)
        best->since = now;
    redis_words_command(best, (struct redis_conn_mark){MARK_SLOTS, 0}, 2,
                        (const char *const[]){"CLUSTER", "SLOTS"});
    r->refreshing = true;
}

static void look_after_conns(struct redis *r, double now)
{
    for (size_t i = 0; i < r->conns.n; i++) {
        struct redis_conn *c = r->conns.at[i];
        if (c->state == REDIS_CONN_DOWN) {
            if (is_needed(r, (uint32_t)i) && !r->troubled) {
                be_unwell(r);
                if (c->retry_at <= now)
                    redis_conn_start(c, now);
            }
        } else if (c->state < REDIS_CONN_READY && now - c->since > CONNECT_SECONDS) {
            lose(r, c, now, "no answer: timed out");
        } else if (c->open.n && now - c->since > REPLY_SECONDS) {
            lose(r, c, now, "the server owes an answer and is silent");
        }
    }
}

static void look_after_lanes(struct redis *r, double now)
{
    for (uint32_t i = 0; i < r->nlanes && !r->troubled; i++) {
        struct redis_lane *lane = &r->lanes[i];
        if (!lane->calls || lane->flying)
            continue;
        kick(r, lane, now);
        if (lane->flying)
            continue;
        lane->since = lane->since > 0 ? lane->since : now;
        if (now - lane->since <= r->patience)
            continue;
        const struct redis_conn *c = lane->conn == NONE ? r->conns.at[0] : r->conns.at[lane->conn];
        const char *why = c->state != REDIS_CONN_READY ? c->why : lane->why;
        redis_trouble(r, false,
                      "redis %s:%u: %s, for %.0f s; %llu operations are recorded, %llu wait in "
                      "memory: bring the server back, then go on",
                      c->host, c->port, why, now - lane->since, (unsigned long long)r->head,
                      (unsigned long long)(r->tail - r->head));
    }
}

static void flush_conns(struct redis *r, double now)
{
    for (size_t i = 0; i < r->conns.n; i++) {
        struct redis_conn *c = r->conns.at[i];
        if (c->state >= REDIS_CONN_GREETING && c->plain.n && !redis_conn_flush(c))
            lose(r, c, now, NULL);
    }
}

static bool has_calls(const struct redis *r)
{
    for (uint32_t i = 0; i < r->nlanes; i++)
        if (r->lanes[i].calls)
            return true;
    return false;
}

void redis_lanes_kick(struct redis *r)
{
    double now = clock_seconds();
    for (uint32_t i = 0; i < r->nlanes; i++)
        kick(r, &r->lanes[i], now);
    flush_conns(r, now);
    if (r->unwell) {
        look_after_conns(r, now);
        set_pace(r, 20);
    } else if (!r->pace && r->head < r->tail) {
        set_pace(r, 1000); /* silence must be noticed */
    }
}

void redis_lanes_pump(struct redis *r, int timeout)
{
    struct epoll_event events[32];
    int n = epoll_wait(r->epoll, events, 32, timeout);
    double now = clock_seconds();
    bool tick = false;
    for (int i = 0; i < n; i++) {
        uint64_t ignored;
        if (events[i].data.u64 < r->conns.n) {
            conn_event(r, r->conns.at[events[i].data.u64], now);
        } else if (events[i].data.u64 == UINT64_MAX) {
            tick = read(r->timer, &ignored, sizeof ignored) > 0;
        }
    }
    redis_dispatch(r);
    if (tick || r->unwell) {
        r->unwell = false;
        look_after_conns(r, now);
        look_after_lanes(r, now);
        if (r->unwell)
            refresh(r, now);
        set_pace(r, r->unwell ? 20 : r->head < r->tail || has_calls(r) ? 1000 : 0);
    }
    redis_lanes_kick(r);
}
