/* The one client of Redis (client.h). Replies come from conn.c; what they mean for a command, which
 * connection a channel uses and when something is tried again is decided here and in
 * client_commands.c.
 *
 * Relies on:
 *   I1. A command is in exactly one channel's queue from ask to release. It leaves the queue by an
 *       answer or a final refusal only, never because a connection ended.
 *   I2. Commands of a channel are sent in the order of asking, and not more than `window` are in
 *       flight. With a window of 1 they are therefore applied in this order, also across MOVED, ASK
 *       and failovers; with a larger one, a refused command may be overtaken by those behind it.
 *   I3. Whoever is in flight has its mark (channel, id) among the open commands of the connection
 *       `sent_on`. A connection that ends forgets all its marks, and no command stays in flight on
 *       it.
 *   I4. A command is marked `resent` exactly if a connection ended while it was in flight: then,
 *       and only then, it may have been applied without our knowing.
 *   I5. While something is not as it should be (a needed connection is down or greeting, a command
 *       waits for its time, a slot has no server), `unwell` is set and the timer ticks every 20 ms;
 *       with commands in flight it ticks every second, so that silence is noticed; else not at all.
 *   I6. The answer of a command that changes something is held back until WAIT has answered too;
 *       the WAIT of a refused command is turned into MARK_IGNORE, so that no other try takes it for
 *       its own.
 *
 * Cost: a kick looks at every channel, a reply at the commands in flight of its channel. */
#include "store/redis/client_state.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define CONNECT_SECONDS 5.0 /* enough for a SYN that is lost twice and sent again */
#define REFRESH_SECONDS 0.1 /* between questions where the slots are: a failover takes seconds */
#define UNWELL_MS 20        /* the timer, see I5 */
#define WATCH_MS 1000       /* likewise */
#define TIMER UINT64_MAX    /* in epoll's events; connections have their index */

/* ---- connections ---- */

/* The connection to an address, known before or not. They are never taken away: a server that left
 * the cluster may come back, and there are few. */
struct redis_conn *redis_client_conn_to(struct redis_client *cl, const char *host, uint16_t port)
{
    for (size_t i = 0; i < cl->conns.n; i++)
        if (cl->conns.at[i]->port == port && strcmp(cl->conns.at[i]->host, host) == 0)
            return cl->conns.at[i];
    struct redis_conn *c = redis_conn_new(host, port, (uint32_t)cl->conns.n, cl->epoll, cl->tls);
    array_push(&cl->conns, c);
    return c;
}

/* The end of a connection. */
static void client_lose(struct redis_client *cl, struct redis_conn *c, double now, const char *why)
{
    redis_conn_stop(c, now, why);
    if (!cl->hopeless) /* else the text that says what is wrong stays */
        snprintf(cl->trouble, sizeof cl->trouble, "redis %s:%u: %s", c->host, c->port, c->why);
    redis_client_put_back(cl, c);
    cl->unwell = true;
}

/* Bytes came, or can go, or the connection is made. Several replies are taken at once; the first
 * that makes the connection useless ends it. */
static void client_conn_event(struct redis_client *cl, struct redis_conn *c, double now)
{
    if (c->fd < 0)
        return; /* ended by an event before this one */
    enum redis_conn_state before = c->state;
    bool good = redis_conn_move(c, now), lost = false;
    if (before < REDIS_CONN_GREETING && c->state == REDIS_CONN_GREETING && good) {
        redis_words_greet(c, cl->user, cl->password, (struct redis_conn_mark){.what = MARK_AUTH},
                          (struct redis_conn_mark){.what = MARK_INFO},
                          (struct redis_conn_mark){.what = MARK_CONFIG});
        redis_client_load_scripts(cl, c, MARK_LOAD);
        good = redis_conn_flush(c);
    }
    struct redis_conn_mark mark;
    redisReply *reply;
    while (!lost && (reply = redis_conn_reply(c, &mark, &lost)))
        if (!redis_client_take_reply(cl, c, mark, reply, now))
            lost = true;
    if (!good || lost)
        client_lose(cl, c, now, NULL);
}

/* A slot of which nobody knows the server. */
static bool client_has_homeless(const struct redis_client *cl)
{
    for (size_t i = 0; i < cl->channels.n; i++)
        if (cl->channels.at[i]->conn == NONE)
            return true;
    return false;
}

bool redis_client_is_idle(const struct redis_client *cl)
{
    for (size_t i = 0; i < cl->channels.n; i++)
        if (cl->channels.at[i]->first)
            return false;
    return true;
}

/* ---- time ---- */

/* A system call only when the pace changes. */
static void client_set_pace(struct redis_client *cl, int milliseconds)
{
    if (milliseconds == cl->pace)
        return;
    cl->pace = milliseconds;
    struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    timerfd_settime(cl->timer, 0, &(struct itimerspec){t, t}, NULL);
}

/* Connections that no channel uses are not kept up: after a resharding they stay as they are, and
 * are not made again when they end. */
static bool client_needs_conn(const struct redis_client *cl, uint32_t conn)
{
    /* mode_by: a server that reads its file tells its mode, and no more */
    if (conn < cl->seeds && (cl->mode_by == NONE || !cl->channels.n || client_has_homeless(cl)))
        return true;
    for (size_t i = 0; i < cl->channels.n; i++) {
        const struct redis_channel *ch = cl->channels.at[i];
        uint32_t room = ch->window;
        if (ch->conn == conn)
            return true;
        for (const struct redis_command *q = ch->first; q && room; q = q->next, room--)
            if (q->asking && q->asked == conn)
                return true;
    }
    return false;
}

/* Ask the cluster where the slots are. */
static void client_refresh(struct redis_client *cl, double now)
{
    if (!cl->cluster || cl->refresh_at > now || cl->paused)
        return;
    struct redis_conn *best = NULL;
    for (size_t i = 0; i < cl->conns.n; i++)
        if (cl->conns.at[i]->state == REDIS_CONN_READY &&
            (!best || cl->conns.at[i]->since > best->since))
            best = cl->conns.at[i]; /* the one that spoke last is the likeliest to live */
    cl->refresh_at = now + REFRESH_SECONDS;
    if (!best) { /* knock at every door */
        for (size_t i = 0; i < cl->conns.n; i++)
            if (cl->conns.at[i]->state == REDIS_CONN_DOWN && cl->conns.at[i]->retry_at <= now)
                redis_conn_start(cl->conns.at[i], now);
        return;
    }
    if (!best->open.n)
        best->since = now;
    redis_words_command(best, (struct redis_conn_mark){.what = MARK_SLOTS}, 2,
                        (const char *const[]){"CLUSTER", "SLOTS"});
}

/* Start what is needed, end what is silent. */
static void client_tend_conns(struct redis_client *cl, double now)
{
    for (size_t i = 0; i < cl->conns.n; i++) {
        struct redis_conn *c = cl->conns.at[i];
        if (c->sent != c->sent_before) { /* a long text is on its way: not silent */
            c->sent_before = c->sent;
            c->since = now;
        }
        if (c->state == REDIS_CONN_DOWN) {
            if (!cl->paused && client_needs_conn(cl, (uint32_t)i)) {
                cl->unwell = true;
                if (c->retry_at <= now)
                    redis_conn_start(c, now);
            }
        } else if (c->state < REDIS_CONN_READY) {
            cl->unwell = true;
            if (now - c->since > CONNECT_SECONDS)
                client_lose(cl, c, now, "no answer: timed out");
        } else if (c->open.n && now - c->since > cl->silence) {
            client_lose(cl, c, now, "the server owes an answer and is silent");
        }
    }
}

/* What hangs is sent as soon as it can be, and its owner learns how long it has been waiting. */
static void client_tend_channels(struct redis_client *cl, double now)
{
    for (size_t i = 0; i < cl->channels.n && !cl->paused; i++) {
        struct redis_channel *ch = cl->channels.at[i];
        redis_channel_refuse_hopeless(cl, ch);
        redis_channel_kick(cl, ch, now);
        if (!ch->first || ch->first->in_flight)
            continue;
        ch->stuck_since = ch->stuck_since > 0 ? ch->stuck_since : now;
        if (cl->ops->stuck)
            cl->ops->stuck(cl->owner, ch, now - ch->stuck_since);
    }
}

/* O(channels + connections). Called by the owner after asking, and at the end of each poll. */
void redis_client_kick(struct redis_client *cl)
{
    if (cl->polling)
        return; /* poll goes on with it */
    double now = clock_seconds();
    for (size_t i = 0; i < cl->channels.n; i++)
        redis_channel_kick(cl, cl->channels.at[i], now);
    for (size_t i = 0; i < cl->conns.n; i++) {
        struct redis_conn *c = cl->conns.at[i];
        if (c->state >= REDIS_CONN_GREETING && c->plain.n && !redis_conn_flush(c))
            client_lose(cl, c, now, NULL);
    }
    if (cl->unwell) {
        client_tend_conns(cl, now);
        client_set_pace(cl, UNWELL_MS);
    } else if (!cl->pace && !redis_client_is_idle(cl)) {
        client_set_pace(cl, WATCH_MS);
    }
}

/* Events, the owner's turn, then time: only if the timer ticked or something is wrong. */
void redis_client_poll(struct redis_client *cl, int timeout)
{
    struct epoll_event events[32];
    int n = epoll_wait(cl->epoll, events, 32, timeout);
    double now = clock_seconds();
    bool tick = false;
    cl->polling = true;
    for (int i = 0; i < n; i++) {
        uint64_t ignored;
        if (events[i].data.u64 < cl->conns.n)
            client_conn_event(cl, cl->conns.at[events[i].data.u64], now);
        else if (events[i].data.u64 == TIMER)
            tick = read(cl->timer, &ignored, sizeof ignored) > 0;
    }
    if (cl->ops->turn)
        cl->ops->turn(cl->owner);
    if (tick || cl->unwell) {
        cl->unwell = false;
        client_tend_conns(cl, now);
        client_tend_channels(cl, now);
        if (cl->unwell || client_has_homeless(cl))
            client_refresh(cl, now);
        client_set_pace(cl, cl->unwell ? UNWELL_MS : redis_client_is_idle(cl) ? 0 : WATCH_MS);
    }
    cl->polling = false;
    redis_client_kick(cl);
}

void redis_client_refuse(struct redis_client *cl, struct redis_channel *ch, struct redis_command *c,
                         const char *why)
{
    redis_client_ask(cl, ch, c);
    c->verdict = mem_copy_string(why);
    redis_client_tick_soon(cl); /* the owner waits for our descriptor */
}

void redis_client_tick_soon(struct redis_client *cl)
{
    cl->unwell = true;
    client_set_pace(cl, 1);
}

void redis_client_pause(struct redis_client *cl)
{
    cl->paused = true;
}

void redis_client_resume(struct redis_client *cl)
{
    cl->paused = false;
    cl->unwell = true;
    for (size_t i = 0; i < cl->channels.n; i++) {
        cl->channels.at[i]->stuck_since = 0;
        for (struct redis_command *q = cl->channels.at[i]->first; q; q = q->next)
            q->retry_at = 0;
    }
}

/* ---- questions about it ---- */

int redis_client_fd(const struct redis_client *cl)
{
    return cl->epoll;
}

double redis_client_silence(const struct redis_client *cl)
{
    return clock_seconds() - cl->answered;
}

const char *redis_client_trouble(const struct redis_client *cl)
{
    return cl->trouble;
}

bool redis_client_is_hopeless(const struct redis_client *cl)
{
    return cl->hopeless;
}

bool redis_client_is_cluster(const struct redis_client *cl)
{
    return cl->cluster;
}

bool redis_client_has_aof(const struct redis_client *cl)
{
    return cl->has_aof;
}

const struct redis_client_promise *redis_client_promise(const struct redis_client *cl)
{
    return &cl->promise;
}

const struct redis_conn *redis_client_server(const struct redis_client *cl,
                                             const struct redis_channel *ch)
{
    return cl->conns.at[ch->conn == NONE ? 0 : ch->conn];
}

struct redis_client_counts redis_client_counts(const struct redis_client *cl)
{
    struct redis_client_counts counts = cl->counts;
    for (size_t i = 0; i < cl->conns.n; i++) {
        counts.sent += cl->conns.at[i]->sent;
        counts.received += cl->conns.at[i]->received;
    }
    return counts;
}

/* ---- opening and closing ---- */

/* From the most certain cause to the vaguest. */
bool redis_client_unreachable(const struct redis_client *cl, struct error *err)
{
    const struct redis_conn *c = cl->conns.at[0];
    const struct redis_channel *ch = cl->channels.n ? cl->channels.at[0] : NULL;
    if (cl->hopeless)
        return error_set(err, ERROR_FAILED, "%s", cl->trouble);
    if (ch && cl->cluster && ch->conn == NONE)
        return error_set(err, ERROR_FAILED, "redis %s:%u: the cluster has nobody for slot %u",
                         c->host, c->port, ch->slot);
    if (c->state != REDIS_CONN_READY)
        return error_set(err, ERROR_FAILED,
                         "redis %s:%u: %s; is redis-server running there, and does it listen on "
                         "this address?",
                         c->host, c->port, c->why[0] ? c->why : "no answer");
    return error_set(err, ERROR_FAILED, "redis %s:%u: %s", c->host, c->port,
                     ch && ch->why[0] ? ch->why : "no answer in time");
}

/* Ready to work: every channel has a server that greeted us. */
static bool client_is_connected(const struct redis_client *cl)
{
    for (size_t i = 0; i < cl->channels.n; i++)
        if (cl->channels.at[i]->conn == NONE ||
            cl->conns.at[cl->channels.at[i]->conn]->state != REDIS_CONN_READY)
            return false;
    for (uint32_t i = 0; i < cl->seeds && !cl->channels.n; i++)
        if (cl->conns.at[i]->state == REDIS_CONN_READY)
            return true;
    return cl->channels.n > 0;
}

bool redis_client_connect(struct redis_client *cl, double until, double loading, struct error *err)
{
    const struct redis_conn *first = cl->conns.at[0];
    double most = clock_seconds() + loading;
    bool resolved = false;
    for (uint32_t i = 0; i < cl->seeds; i++)
        resolved |= redis_conn_resolve(cl->conns.at[i]);
    if (!resolved)
        return error_set(err, ERROR_INPUT, "redis %s: %s", first->host, first->why);
    for (;;) {
        if (cl->mode_by != NONE && !cl->cluster && cl->seeds > 1)
            return error_set(err, ERROR_INPUT,
                             "redis: several servers are named, but %s:%u is no cluster",
                             cl->conns.at[cl->mode_by]->host, cl->conns.at[cl->mode_by]->port);
        if (client_is_connected(cl))
            return true;
        if (first->stranger)
            return error_set(err, ERROR_FAILED, "redis %s:%u: %s", first->host, first->port,
                             first->why);
        double now = clock_seconds();
        if (redis_words_loading(first) && now < most)
            until = now + 1; /* it is there, and reads what it knew: worth the whole patience */
        if (cl->hopeless || now > until)
            return redis_client_unreachable(cl, err);
        cl->unwell = true; /* nothing is as it should be before the first greeting */
        redis_client_kick(cl);
        redis_client_poll(cl, UNWELL_MS);
    }
}

static void client_add_seed(void *context, const char *host, uint16_t port)
{
    struct redis_client *cl = context;
    redis_client_conn_to(cl, host, port);
    cl->seeds = (uint32_t)cl->conns.n;
}

static bool client_open_events(struct redis_client *cl, struct error *err)
{
    cl->epoll = epoll_create1(EPOLL_CLOEXEC);
    cl->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event timer = {.events = EPOLLIN, .data.u64 = TIMER};
    return (cl->epoll >= 0 && cl->timer >= 0 &&
            epoll_ctl(cl->epoll, EPOLL_CTL_ADD, cl->timer, &timer) == 0) ||
           error_set(err, ERROR_FAILED, "redis: no event descriptors: %s", strerror(errno));
}

static bool client_open_tls(struct redis_client *cl, const struct redis_tls_options *options,
                            struct error *err)
{
    if (options)
        cl->tls = redis_tls_context_new(options, err);
    return !options || cl->tls;
}

struct redis_client *redis_client_new(const struct redis_client_config *config, struct error *err)
{
    struct redis_client *cl = mem_new_zero(struct redis_client, 1);
    cl->ops = config->ops;
    cl->owner = config->owner;
    cl->user = config->user ? mem_copy_string(config->user) : NULL;
    cl->password = config->password ? mem_copy_string(config->password) : NULL;
    cl->scripts = config->scripts;
    cl->nscripts = config->nscripts;
    cl->replicas = config->replicas;
    cl->silence = config->silence;
    cl->mode_by = NONE;
    cl->epoll = cl->timer = -1;
    cl->answered = clock_seconds();
    if (client_open_events(cl, err) && client_open_tls(cl, config->tls, err) &&
        redis_words_servers(config->servers, client_add_seed, cl, err))
        return cl;
    redis_client_free(cl);
    return NULL;
}

void redis_client_free(struct redis_client *cl)
{
    if (!cl)
        return;
    redis_client_drop_channels(cl);
    array_free(&cl->channels);
    for (size_t i = 0; i < cl->conns.n; i++)
        redis_conn_free(cl->conns.at[i]);
    array_free(&cl->conns);
    redis_tls_context_free(cl->tls);
    if (cl->epoll >= 0)
        close(cl->epoll);
    if (cl->timer >= 0)
        close(cl->timer);
    free(cl->user);
    if (cl->password)
        explicit_bzero(cl->password, strlen(cl->password));
    free(cl->password);
    free(cl);
}
