#include "store/redis/pipe.h"
#include "base/clock.h"
#include "store/redis/conn.h"
#include "store/redis/words.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CONNECT_SECONDS 5.0
#define REPLY_SECONDS 5.0 /* without a byte to or from a server that owes us some: a dead line */
#define REFRESH_SECONDS 0.1
#define LOADING_SECONDS 60.0 /* that opening waits for a server that reads its file */
#define RETRY_SECONDS 0.02
#define WAIT_MILLISECONDS "500"
#define LAGGING_SECONDS 2.0
#define LARGE (16u << 20)
#define LOSSES_MOST 4 /* of connections under one large command: the server will not have it */
#define NO_CONN UINT32_MAX

enum mark { MARK_AUTH, MARK_INFO, MARK_LOAD, MARK_SLOTS, MARK_CALL, MARK_IGNORE, MARK_WAIT };

struct request {
    struct request *next;
    uint32_t id, sent_on, asked;
    bool script, changes, flying, asking, refused;
    uint32_t tries, losses;
    double retry_at;
    redisReply *held; /* until enough replicas have it */
    redis_pipe_done done;
    void *context;
    struct redis_pipe_words words; /* `at` into `bytes` */
    char *bytes;
};

struct redis_pipe {
    char *user, *password;
    struct redis_tls_context *tls;
    const char *script;
    void (*forget)(void *context);
    uint32_t replicas;
    uint16_t slot;
    ARRAY(struct redis_conn *) conns;
    ARRAY(uint64_t) moved; /* bytes sent on each, when we last looked */
    uint32_t seeds, home;  /* home: who has the slot; NO_CONN: nobody knows */
    int epoll, timer, pace;
    bool cluster, known_mode, unwell, polling, final;
    double refresh_at, answered;
    char sha[48];
    char trouble[640];
    uint32_t ids;
    struct request *first, **last;
};

/* ---- requests ---- */

void redis_pipe_add(struct redis_pipe_words *w, const void *bytes, size_t n)
{
    w->at[w->n] = n ? bytes : "";
    w->length[w->n++] = n;
}

static void request_free(struct redis_pipe *p, struct request *q)
{
    if (q->held)
        freeReplyObject(q->held);
    free(q->words.last);
    free(q->bytes);
    p->forget(q->context);
    free(q);
}

static struct request *request_new(struct redis_pipe *p, const struct redis_pipe_words *words,
                                   redis_pipe_done done, void *context)
{
    struct request *q = mem_new_zero(struct request, 1);
    size_t size = 0;
    q->id = p->ids++;
    q->done = done;
    q->context = context;
    q->words = *words;
    for (size_t i = 0; i < words->n; i++)
        size += words->length[i];
    q->bytes = mem_alloc(size + 1);
    char *at = q->bytes;
    for (size_t i = 0; i < words->n; i++) {
        memcpy(at, words->at[i], words->length[i]);
        q->words.at[i] = at;
        at += words->length[i];
    }
    *at = 0;
    *p->last = q;
    p->last = &q->next;
    return q;
}

static void unlink_request(struct redis_pipe *p, struct request *q)
{
    struct request **at = &p->first;
    while (*at != q)
        at = &(*at)->next;
    *at = q->next;
    if (!q->next)
        p->last = at;
}

static void finish(struct redis_pipe *p, struct request *q, const redisReply *reply,
                   const char *why)
{
    unlink_request(p, q);
    if (reply) {
        p->answered = clock_seconds();
        p->trouble[0] = 0;
    }
    q->done(q->context, reply, why);
    request_free(p, q);
}

static struct request *request_of(struct redis_pipe *p, const struct redis_conn *c, uint32_t id)
{
    for (struct request *q = p->first; q; q = q->next)
        if (q->id == id && q->flying && q->sent_on == c->index)
            return q;
    return NULL;
}

/* ---- sending ---- */

static struct redis_conn *conn_to(struct redis_pipe *p, const char *host, uint16_t port)
{
    for (size_t i = 0; i < p->conns.n; i++)
        if (p->conns.at[i]->port == port && strcmp(p->conns.at[i]->host, host) == 0)
            return p->conns.at[i];
    struct redis_conn *c = redis_conn_new(host, port, (uint32_t)p->conns.n, p->epoll, p->tls);
    array_push(&p->conns, c);
    array_push(&p->moved, 0);
    return c;
}

static void send_request(struct redis_pipe *p, struct request *q, struct redis_conn *c, double now)
{
    const char *args[20];
    size_t lengths[20], n = 0;
    char number[16];
    if (!c->open.n)
        c->since = now;
    if (q->asking)
        redis_words_command(c, (struct redis_conn_mark){MARK_IGNORE, 0}, 1,
                            (const char *const[]){"ASKING"});
    if (q->script) {
        args[n] = "EVALSHA", lengths[n++] = 7;
        args[n] = p->sha, lengths[n++] = strlen(p->sha);
    }
    for (size_t i = 0; i < q->words.n; i++)
        args[n] = q->words.at[i], lengths[n++] = q->words.length[i];
    if (q->words.last)
        args[n] = q->words.last, lengths[n++] = q->words.last_length;
    redis_conn_command(c, (struct redis_conn_mark){MARK_CALL, q->id}, n, args, lengths);
    if (p->replicas && q->changes) {
        snprintf(number, sizeof number, "%u", c->lagging > now ? 0 : p->replicas);
        redis_words_command(c, (struct redis_conn_mark){MARK_WAIT, q->id}, 3,
                            (const char *const[]){"WAIT", number, WAIT_MILLISECONDS});
    }
    q->flying = true;
    q->sent_on = c->index;
}

static void lose(struct redis_pipe *p, struct redis_conn *c, double now, const char *why)
{
    redis_conn_stop(c, now, why);
    snprintf(p->trouble, sizeof p->trouble, "redis %s:%u: %s", c->host, c->port, c->why);
    for (struct request *q = p->first; q; q = q->next)
        if (q->flying && q->sent_on == c->index) {
            q->flying = q->asking = false;
            q->losses++;
            if (q->held)
                freeReplyObject(q->held);
            q->held = NULL;
        }
    p->unwell = true;
}

static void kick(struct redis_pipe *p, double now)
{
    for (struct request *q = p->first; q; q = q->next) {
        if (q->flying || q->refused)
            continue;
        uint32_t index = q->asking ? q->asked : p->home;
        if (index == NO_CONN || p->conns.at[index]->state != REDIS_CONN_READY ||
            q->retry_at > now) {
            p->unwell = true;
            break; /* those behind it wait: order is kept */
        }
        send_request(p, q, p->conns.at[index], now);
    }
    for (size_t i = 0; i < p->conns.n; i++) {
        struct redis_conn *c = p->conns.at[i];
        if (c->state >= REDIS_CONN_GREETING && c->plain.n && !redis_conn_flush(c))
            lose(p, c, now, NULL);
    }
}

static void set_pace(struct redis_pipe *p, int milliseconds)
{
    if (milliseconds == p->pace)
        return;
    p->pace = milliseconds;
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    timerfd_settime(p->timer, 0, &(struct itimerspec){t, t}, NULL);
}

static void asked(struct redis_pipe *p)
{
    if (p->polling)
        return; /* poll goes on with it */
    kick(p, clock_seconds());
    if (p->unwell)
        set_pace(p, 20);
    else if (!p->pace)
        set_pace(p, 1000); /* silence must be noticed */
}

void redis_pipe_ask(struct redis_pipe *p, const struct redis_pipe_words *words, bool changes,
                    redis_pipe_done done, void *context)
{
    request_new(p, words, done, context)->changes = changes;
    asked(p);
}

void redis_pipe_call(struct redis_pipe *p, const struct redis_pipe_words *words, bool changes,
                     redis_pipe_done done, void *context)
{
    struct request *q = request_new(p, words, done, context);
    q->changes = changes;
    q->script = true;
    asked(p);
}

void redis_pipe_refuse(struct redis_pipe *p, const char *why, redis_pipe_done done, void *context)
{
    struct redis_pipe_words words = {0};
    redis_pipe_add(&words, why, strlen(why));
    request_new(p, &words, done, context)->refused = true;
    p->unwell = true;
    set_pace(p, 1);
}

/* ---- replies ---- */

static void load_script(struct redis_pipe *p, struct redis_conn *c, enum mark mark)
{
    redis_words_command(c, (struct redis_conn_mark){mark, 0}, 3,
                        (const char *const[]){"SCRIPT", "LOAD", p->script});
}

static void tell_refusal(struct redis_pipe *p, struct request *q, const struct redis_conn *c,
                         const char *text)
{
    char why[700];
    const char *remedy = "";
    if (redis_words_start(text, "OOM"))
        remedy = ": raise the server's maxmemory, or remove old runs";
    else if (redis_words_start(text, "MISCONF"))
        remedy = ": the server cannot write its disk; make space there";
    else if (redis_words_start(text, "ERR Protocol error"))
        remedy = ": it is too long for this server; raise its proto-max-bulk-len";
    if (redis_words_start(text, "WEFT "))
        snprintf(why, sizeof why, "%s", text + 5);
    else
        snprintf(why, sizeof why, "redis %s:%u: %s%s", c->host, c->port, text, remedy);
    finish(p, q, NULL, why);
}

static void call_refused(struct redis_pipe *p, struct request *q, struct redis_conn *c,
                         const char *text, double now)
{
    char host[256];
    uint16_t port;
    q->flying = q->asking = false;
    if (p->replicas) /* its WAIT must not be taken for another try's */
        for (size_t i = c->open_at; i < c->open.n; i++)
            if (c->open.at[i].what == MARK_WAIT && c->open.at[i].which == q->id)
                c->open.at[i].what = MARK_IGNORE;
    if (redis_words_start(text, "NOSCRIPT") && q->tries++ < 4) {
        load_script(p, c, MARK_IGNORE);
        return;
    }
    bool ask = redis_words_start(text, "ASK ");
    if ((ask || redis_words_start(text, "MOVED ")) && redis_words_redirect(c, text, host, &port)) {
        uint32_t to = conn_to(p, host, port)->index;
        q->asking = ask;
        if (ask)
            q->asked = to;
        else
            p->home = to;
        if (q->tries++ > 4)
            q->retry_at = now + RETRY_SECONDS; /* they send us in circles: wait */
        p->unwell = true;
        return;
    }
    if (redis_words_later(text)) {
        snprintf(p->trouble, sizeof p->trouble, "redis %s:%u: %.300s", c->host, c->port, text);
        q->retry_at = now + RETRY_SECONDS;
        p->unwell = true;
        return;
    }
    tell_refusal(p, q, c, text);
}

/* False: the connection is of no use now. */
static bool greeted(struct redis_pipe *p, struct redis_conn *c, struct redis_conn_mark mark,
                    const redisReply *reply)
{
    struct redis_words_server server;
    if (reply->type == REDIS_REPLY_ERROR) {
        snprintf(c->why, sizeof c->why, "%s", reply->str);
        p->final |= redis_words_refused(c, mark.what == MARK_AUTH, reply->str, p->trouble,
                                        sizeof p->trouble);
        return false;
    }
    if (mark.what == MARK_INFO) {
        if (!redis_words_info(c, reply, &server, p->trouble, sizeof p->trouble)) {
            p->final = true;
            return false;
        }
        p->cluster = server.cluster;
        p->known_mode = true;
        if (!p->cluster)
            p->home = c->index;
    }
    if (mark.what == MARK_LOAD && reply->type == REDIS_REPLY_STRING) {
        snprintf(p->sha, sizeof p->sha, "%s", reply->str);
        c->state = REDIS_CONN_READY;
        c->back_off = 0;
    }
    return true;
}

static void use_slots(struct redis_pipe *p, const struct redis_conn *from, const redisReply *reply)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; i++) {
        struct redis_words_range range;
        if (!redis_words_range(from, reply, i, &range))
            continue;
        uint32_t conn = conn_to(p, range.host, range.port)->index; /* a door to knock at */
        if (p->slot >= range.first && p->slot <= range.last)
            p->home = conn;
    }
}

static bool replied(struct redis_pipe *p, struct redis_conn *c, struct redis_conn_mark mark,
                    redisReply *reply, double now)
{
    struct request *q =
        mark.what == MARK_CALL || mark.what == MARK_WAIT ? request_of(p, c, mark.which) : NULL;
    bool good = true;
    switch ((enum mark)mark.what) {
    case MARK_SLOTS:
        use_slots(p, c, reply);
        break;
    case MARK_CALL:
        if (q && reply->type == REDIS_REPLY_ERROR) {
            call_refused(p, q, c, reply->str, now);
        } else if (q && p->replicas && q->changes) {
            q->held = reply;
            return true;
        } else if (q) {
            finish(p, q, reply, "");
        }
        break;
    case MARK_WAIT:
        if (reply->type != REDIS_REPLY_INTEGER || reply->integer < (long long)p->replicas)
            c->lagging = c->lagging > now ? c->lagging : now + LAGGING_SECONDS;
        if (q && q->held)
            finish(p, q, q->held, "");
        break;
    case MARK_IGNORE:
        break;
    default:
        good = greeted(p, c, mark, reply);
    }
    freeReplyObject(reply);
    return good;
}

static void conn_event(struct redis_pipe *p, struct redis_conn *c, double now)
{
    if (c->fd < 0)
        return; /* ended by an event before this one */
    enum redis_conn_state before = c->state;
    bool good = redis_conn_move(c, now), lost = false;
    if (before < REDIS_CONN_GREETING && c->state == REDIS_CONN_GREETING && good) {
        redis_words_greet(c, p->user, p->password, (struct redis_conn_mark){MARK_AUTH, 0},
                          (struct redis_conn_mark){MARK_INFO, 0});
        load_script(p, c, MARK_LOAD);
        good = redis_conn_flush(c);
    }
    struct redis_conn_mark mark;
    redisReply *reply;
    while (!lost && (reply = redis_conn_reply(c, &mark, &lost)))
        if (!replied(p, c, mark, reply, now))
            lost = true;
    if (!good || lost) {
        char said[sizeof p->trouble];
        snprintf(said, sizeof said, "%s", p->trouble);
        lose(p, c, now, NULL);
        if (p->final) /* the better text */
            snprintf(p->trouble, sizeof p->trouble, "%s", said);
    }
}

/* ---- time ---- */

static void refresh(struct redis_pipe *p, double now)
{
    if (!p->cluster || p->refresh_at > now)
        return;
    struct redis_conn *best = NULL;
    for (size_t i = 0; i < p->conns.n; i++)
        if (p->conns.at[i]->state == REDIS_CONN_READY &&
            (!best || p->conns.at[i]->since > best->since))
            best = p->conns.at[i]; /* the one that spoke last is the likeliest to live */
    p->refresh_at = now + REFRESH_SECONDS;
    if (!best) { /* knock at every door */
        for (size_t i = 0; i < p->conns.n; i++)
            if (p->conns.at[i]->state == REDIS_CONN_DOWN && p->conns.at[i]->retry_at <= now)
                redis_conn_start(p->conns.at[i], now);
        return;
    }
    if (!best->open.n)
        best->since = now;
    redis_words_command(best, (struct redis_conn_mark){MARK_SLOTS, 0}, 2,
                        (const char *const[]){"CLUSTER", "SLOTS"});
}

static bool is_needed(const struct redis_pipe *p, uint32_t conn)
{
    if ((!p->known_mode || p->home == NO_CONN) && conn < p->seeds)
        return true; /* one that reads its file tells its mode, and no more */
    for (const struct request *q = p->first; q; q = q->next)
        if (q->asking && q->asked == conn)
            return true;
    return conn == p->home;
}

static void look_after_conns(struct redis_pipe *p, double now)
{
    for (size_t i = 0; i < p->conns.n; i++) {
        struct redis_conn *c = p->conns.at[i];
        if (c->sent != p->moved.at[i]) { /* a long text is on its way: not silent */
            p->moved.at[i] = c->sent;
            c->since = now;
        }
        if (c->state == REDIS_CONN_DOWN) {
            if (is_needed(p, (uint32_t)i)) {
                p->unwell = true;
                if (c->retry_at <= now)
                    redis_conn_start(c, now);
            }
        } else if (c->state < REDIS_CONN_READY) {
            p->unwell = true;
            if (now - c->since > CONNECT_SECONDS)
                lose(p, c, now, "no answer: timed out");
        } else if (c->open.n && now - c->since > REPLY_SECONDS) {
            lose(p, c, now, "the server owes an answer and is silent");
        }
    }
}

static void look_after_requests(struct redis_pipe *p)
{
    for (struct request *q = p->first, *next; q; q = next) {
        next = q->next;
        if (q->refused) {
            finish(p, q, NULL, q->words.at[0]);
            next = p->first; /* the callback may have asked, but takes nothing away */
        } else if (q->losses > LOSSES_MOST && q->words.last_length > LARGE && !q->flying) {
            char why[400];
            snprintf(why, sizeof why,
                     "the server closed the connection %u times while it was given %.0f MB: it is "
                     "too long for it (raise proto-max-bulk-len, at most 512 MB, and memory)",
                     q->losses, (double)q->words.last_length / 1e6);
            finish(p, q, NULL, why);
            next = p->first;
        }
    }
}

void redis_pipe_poll(struct redis_pipe *p, int timeout)
{
    struct epoll_event events[16];
    int n = epoll_wait(p->epoll, events, 16, timeout);
    double now = clock_seconds();
    bool tick = false;
    uint64_t ignored;
    p->polling = true;
    for (int i = 0; i < n; i++)
        if (events[i].data.u64 < p->conns.n)
            conn_event(p, p->conns.at[events[i].data.u64], now);
        else
            tick = read(p->timer, &ignored, sizeof ignored) > 0;
    if (tick || p->unwell) {
        p->unwell = false;
        look_after_conns(p, now);
        look_after_requests(p);
        kick(p, now);
        if (p->unwell || p->home == NO_CONN)
            refresh(p, now);
    }
    kick(p, now);
    p->polling = false;
    set_pace(p, p->unwell ? 20 : p->first ? 1000 : 0);
}

bool redis_pipe_is_idle(const struct redis_pipe *p)
{
    return !p->first;
}

int redis_pipe_fd(const struct redis_pipe *p)
{
    return p->epoll;
}

double redis_pipe_silence(const struct redis_pipe *p)
{
    return clock_seconds() - p->answered;
}

const char *redis_pipe_trouble(const struct redis_pipe *p)
{
    return p->trouble;
}

/* ---- opening and closing ---- */

static void add_server(void *context, const char *host, uint16_t port)
{
    struct redis_pipe *p = context;
    conn_to(p, host, port);
    p->seeds = (uint32_t)p->conns.n;
}

static bool open_events(struct redis_pipe *p, struct error *err)
{
    p->epoll = epoll_create1(EPOLL_CLOEXEC);
    p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event timer = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    return (p->epoll >= 0 && p->timer >= 0 &&
            epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->timer, &timer) == 0) ||
           error_set(err, ERROR_FAILED, "redis: no event descriptors: %s", strerror(errno));
}

static bool open_tls(struct redis_pipe *p, const struct store_address *a, struct error *err)
{
    if (!a->tls)
        return true;
    p->tls = redis_tls_context_new(&(struct redis_tls_options){.ca = a->tls_ca,
                                                               .cert = a->tls_cert,
                                                               .key = a->tls_key,
                                                               .name = a->tls_name,
                                                               .pin = a->tls_pin,
                                                               .unchecked = a->tls_unchecked},
                                   err);
    return p->tls != NULL;
}

static bool find_home(struct redis_pipe *p, double until, struct error *err)
{
    bool resolved = false;
    double most = clock_seconds() + LOADING_SECONDS;
    for (uint32_t i = 0; i < p->seeds; i++)
        resolved |= redis_conn_resolve(p->conns.at[i]);
    const struct redis_conn *first = p->conns.at[0];
    if (!resolved)
        return error_set(err, ERROR_INPUT, "redis %s: %s", first->host, first->why);
    for (;;) {
        p->unwell = true;
        redis_pipe_poll(p, p->pace ? 20 : 0);
        if (p->known_mode && !p->cluster && p->seeds > 1)
            return error_set(err, ERROR_INPUT,
                             "redis: several servers are named, but %s:%u is no cluster",
                             first->host, first->port);
        if (p->home != NO_CONN && p->conns.at[p->home]->state == REDIS_CONN_READY)
            return true;
        if (p->final)
            return error_set(err, ERROR_FAILED, "%s", p->trouble);
        if (first->stranger)
            return error_set(err, ERROR_FAILED, "redis %s:%u: %s", first->host, first->port,
                             first->why);
        double now = clock_seconds();
        if (redis_words_loading(first) && now < most)
            until = now + 1;
        if (now <= until)
            continue;
        if (p->known_mode)
            return error_set(err, ERROR_FAILED, "redis %s:%u: %s", first->host, first->port,
                             p->cluster ? "the cluster has nobody for the slot of the board"
                                        : "no answer in time");
        return error_set(err, ERROR_FAILED,
                         "redis %s:%u: %s; is redis-server running there, and does it listen on "
                         "this address?",
                         first->host, first->port, first->why[0] ? first->why : "no answer");
    }
}

void redis_pipe_free(struct redis_pipe *p)
{
    if (!p)
        return;
    while (p->first) {
        struct request *q = p->first;
        p->first = q->next;
        request_free(p, q);
    }
    for (size_t i = 0; i < p->conns.n; i++)
        redis_conn_free(p->conns.at[i]);
    array_free(&p->conns);
    array_free(&p->moved);
    redis_tls_context_free(p->tls);
    if (p->epoll >= 0)
        close(p->epoll);
    if (p->timer >= 0)
        close(p->timer);
    free(p->user);
    if (p->password)
        explicit_bzero(p->password, strlen(p->password));
    free(p->password);
    free(p);
}

struct redis_pipe *redis_pipe_open(const struct redis_pipe_config *config, struct error *err)
{
    const struct store_address *a = config->address;
    struct redis_pipe *p = mem_new_zero(struct redis_pipe, 1);
    p->user = a->user ? mem_copy_string(a->user) : NULL;
    p->password = a->password ? mem_copy_string(a->password) : NULL;
    p->script = config->script;
    p->forget = config->forget;
    p->replicas = a->replicas;
    p->slot = redis_slot(config->key, strlen(config->key));
    p->home = NO_CONN;
    p->epoll = p->timer = -1;
    p->last = &p->first;
    p->answered = clock_seconds();
    if (open_events(p, err) && open_tls(p, a, err) &&
        redis_words_servers(a->servers, add_server, p, err) &&
        find_home(p, clock_seconds() + config->patience, err))
        return p;
    redis_pipe_free(p);
    return NULL;
}
