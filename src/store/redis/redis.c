#include "store/redis/redis.h"
#include "base/clock.h"
#include "store/fingerprint.h"
#include "store/redis/state.h"
#include "store/redis/words.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SHARDS_OF_CLUSTER 64u
#define SHARDS_MOST 4096u
#define GOODBYE_SECONDS 1.0
#define SHARD_TASKS (1u << 21) /* a string of the server holds 512 MB: records of 48 bytes, */
#define SHARD_EDGES (1u << 25) /* sizes of 8 bytes an edge */

static struct redis *self(const struct store *s)
{
    return (struct redis *)s;
}

bool redis_trouble(struct redis *r, bool final, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (r->troubled)
        return false;
    r->troubled = true;
    r->final = final;
    error_clear(&r->trouble);
    return error_set(&r->trouble, ERROR_FAILED, "%s", text);
}

/* ---- entries ---- */

static void grow(struct redis *r)
{
    uint64_t size = r->mask + 1, bigger = size * 2;
    struct redis_entry *entries = mem_new_zero(struct redis_entry, bigger);
    for (uint64_t i = r->head; i < r->tail; i++)
        entries[i & (bigger - 1)] = r->entries[i & r->mask];
    free(r->entries);
    r->entries = entries;
    r->mask = bigger - 1;
}

static void show(struct redis *r, struct redis_entry *e)
{
    struct answers *to = &r->ready;
    e->answer.first = (uint32_t)to->items.n;
    if (e->op.kind == META_WHERE) {
        e->answer.first = (uint32_t)to->nodes.n;
        e->answer.count = (uint32_t)e->nodes.n;
    } else if (e->items.n) {
        e->answer.count = (uint32_t)e->items.n;
        for (size_t i = 0; i < e->items.n; i++)
            array_push(&to->items, e->items.at[i]);
    }
    if (e->record) {
        e->record->first = (uint32_t)to->nodes.n;
        array_push(&to->records, *e->record);
        free(e->record);
        e->record = NULL;
    }
    for (size_t i = 0; i < e->nodes.n; i++)
        array_push(&to->nodes, e->nodes.at[i]);
    array_push(&to->at, e->answer);
}

void redis_entry_done(struct redis *r, uint64_t number)
{
    redis_entry_at(r, number)->done = true;
    while (r->head < r->tail && redis_entry_at(r, r->head)->done) {
        show(r, redis_entry_at(r, r->head));
        r->head++;
        r->counts.operations++;
    }
}

void redis_dispatch(struct redis *r)
{
    while (r->next < r->tail && !r->exclusive && !r->troubled && redis_encode(r, r->next))
        r->next++;
    if (!r->ready.at.n || r->signalled)
        return;
    uint64_t one = 1;
    r->signalled = write(r->event, &one, sizeof one) > 0;
}

/* ---- the store's functions ---- */

static void submit(struct store *s, const struct meta_op *ops, size_t n)
{
    struct redis *r = self(s);
    for (size_t i = 0; i < n; i++) {
        if (r->tail - r->head > r->mask)
            grow(r);
        struct redis_entry *e = redis_entry_at(r, r->tail++);
        e->op = ops[i];
        e->items.n = e->nodes.n = 0;
        e->open = e->lane = 0;
        e->done = e->fresh = e->several = e->scanning = false;
    }
    redis_dispatch(r);
    redis_lanes_kick(r);
}

static bool poll_answers(struct store *s, struct meta_answers *out, struct error *err)
{
    struct redis *r = self(s);
    uint64_t count;
    redis_lanes_pump(r, 0);
    if (r->signalled)
        r->signalled = read(r->event, &count, sizeof count) < 0;
    answers_clear(&r->shown);
    struct answers swap = r->shown;
    r->shown = r->ready;
    r->ready = swap;
    const struct answers *a = &r->shown;
    *out = (struct meta_answers){a->at.at, a->at.n, a->items.at, a->records.at, a->nodes.at};
    return !r->troubled || error_set(err, r->trouble.kind, "%s", r->trouble.text);
}

static void wait_answers(struct store *s)
{
    struct redis *r = self(s);
    while (!r->ready.at.n && r->head < r->tail && !r->troubled)
        redis_lanes_pump(r, -1);
}

static int event_fd(struct store *s)
{
    return self(s)->epoll;
}

static uint64_t durable(struct store *s)
{
    const struct redis *r = self(s);
    return r->has_aof || r->replicas ? r->head : 0;
}

static bool flush(struct store *s, struct error *err)
{
    struct redis *r = self(s);
    while (r->head < r->tail && !r->troubled)
        redis_lanes_pump(r, -1);
    return !r->troubled || error_set(err, r->trouble.kind, "%s", r->trouble.text);
}

static bool retry(struct store *s, struct error *err)
{
    struct redis *r = self(s);
    if (!r->troubled)
        return true;
    if (r->final)
        return error_set(err, r->trouble.kind, "%s", r->trouble.text);
    r->troubled = false;
    for (uint32_t i = 0; i < r->nlanes; i++)
        r->lanes[i].since = r->lanes[i].retry_at = 0;
    r->unwell = true;
    redis_dispatch(r);
    redis_lanes_kick(r);
    return true;
}

static size_t bytes(const struct store *s)
{
    const struct redis *r = self(s);
    size_t n = sizeof *r + (r->mask + 1) * sizeof *r->entries + r->nlanes * sizeof *r->lanes +
               (r->busy ? (size_t)r->w->ntasks * sizeof *r->busy : 0) +
               r->ready.at.cap * sizeof *r->ready.at.at + r->shown.at.cap * sizeof *r->shown.at.at;
    for (uint32_t i = 0; i < r->nlanes; i++)
        for (const struct redis_call *c = r->lanes[i].calls; c; c = c->next)
            n += c->bytes.cap + c->parts.cap * sizeof *c->parts.at;
    return n;
}

/* ---- lanes ---- */

static void free_lanes(struct redis *r)
{
    for (uint32_t i = 0; i < r->nlanes; i++) {
        struct redis_lane *lane = &r->lanes[i];
        while (lane->calls) {
            struct redis_call *c = lane->calls;
            lane->calls = c->next;
            redis_call_free(c);
        }
        for (int k = 0; k < REDIS_SCRIPT_KEYS; k++)
            free(lane->key[k]);
        free(lane->run);
    }
    free(r->lanes);
    r->lanes = NULL;
    r->nlanes = 0;
}

static void make_lanes(struct redis *r, uint32_t shards)
{
    const struct workflow *w = r->w;
    free_lanes(r);
    r->per_lane = w->ntasks / shards + (w->ntasks % shards != 0);
    r->per_lane = r->per_lane ? r->per_lane : 1;
    r->nlanes = shards;
    r->lanes = mem_new_zero(struct redis_lane, shards);
    for (uint32_t i = 0; i < shards; i++) {
        struct redis_lane *lane = &r->lanes[i];
        uint64_t first = (uint64_t)i * r->per_lane, end = first + r->per_lane;
        first = first < w->ntasks ? first : w->ntasks;
        end = end < w->ntasks ? end : w->ntasks;
        lane->index = i;
        lane->first = (uint32_t)first;
        lane->count = (uint32_t)(end - first);
        lane->first_edge = w->pred_off[first];
        lane->edges = w->pred_off[end] - lane->first_edge;
        lane->conn = r->cluster ? NONE : 0;
        lane->touched = clock_seconds();
        for (int k = 0; k < REDIS_SCRIPT_KEYS; k++) {
            char name[320];
            lane->key_size =
                (size_t)snprintf(name, sizeof name, "{%s.%u}:%c", r->prefix, i, "RESNMCKZPIDA"[k]);
            lane->key[k] = mem_copy_string(name);
        }
        lane->slot = redis_slot(lane->key[0], lane->key_size);
    }
    free(r->busy);
    r->busy = shards > 1 ? mem_new_zero(uint32_t, w->ntasks) : NULL;
}

/* Until no lane has a call, or the time is over. */
static bool settle(struct redis *r, double until)
{
    for (;;) {
        bool busy = false;
        for (uint32_t i = 0; i < r->nlanes; i++)
            busy |= r->lanes[i].calls != NULL;
        if (!busy || r->troubled || clock_seconds() > until)
            return !busy && !r->troubled;
        redis_lanes_kick(r);
        redis_lanes_pump(r, 20);
    }
}

/* ---- closing ---- */

static void free_store(struct redis *r)
{
    free_lanes(r);
    for (size_t i = 0; i < r->conns.n; i++)
        redis_conn_free(r->conns.at[i]);
    array_free(&r->conns);
    while (r->spare) {
        struct redis_call *c = r->spare;
        r->spare = c->next;
        redis_call_free(c);
    }
    for (uint64_t i = 0; r->entries && i <= r->mask; i++) {
        free(r->entries[i].record);
        array_free(&r->entries[i].items);
        array_free(&r->entries[i].nodes);
    }
    free(r->entries);
    free(r->busy);
    array_free(&r->repairs);
    answers_free(&r->ready);
    answers_free(&r->shown);
    redis_tls_context_free(r->tls);
    if (r->epoll >= 0)
        close(r->epoll);
    if (r->event >= 0)
        close(r->event);
    if (r->timer >= 0)
        close(r->timer);
    free(r->prefix);
    free(r->user);
    if (r->password)
        explicit_bzero(r->password, strlen(r->password));
    free(r->password);
    free(r);
}

/* Nobody will ask again for what the shards keep for us; when they do not hear it, little stays. */
static void say_goodbye(struct redis *r)
{
    for (uint32_t i = 0; i < r->nlanes; i++)
        if (r->lanes[i].kept)
            redis_call_new(r, &r->lanes[i], REDIS_CALL_APPLY)->keep = REDIS_KEEP_BYE;
    settle(r, clock_seconds() + GOODBYE_SECONDS);
}

static bool close_store(struct store *s, struct error *err)
{
    struct redis *r = self(s);
    bool good = flush(s, err);
    if (good && (r->forget || r->expire)) {
        for (uint32_t i = 0; i < r->nlanes; i++) {
            r->lanes[i].touched = -1e9;
            redis_call_new(r, &r->lanes[i], r->forget ? REDIS_CALL_FORGET : REDIS_CALL_APPLY);
        }
    }
    /* what nobody waits for (children know, the run is removed) is waited for here */
    if (good && !settle(r, clock_seconds() + r->patience))
        good = r->troubled
                   ? error_set(err, r->trouble.kind, "%s", r->trouble.text)
                   : error_set(err, ERROR_FAILED,
                               "redis: run '%s': everything is recorded, but the server did "
                               "not answer the last words",
                               r->prefix);
    if (good && !r->forget)
        say_goodbye(r);
    free_store(r);
    return good;
}

static const struct store_ops redis_ops = {
    .name = "redis",
    .submit = submit,
    .poll = poll_answers,
    .wait = wait_answers,
    .fd = event_fd,
    .durable = durable,
    .flush = flush,
    .retry = retry,
    .bytes = bytes,
    .close = close_store,
};

void store_redis_closing(struct store *s, bool forget, double patience)
{
    struct redis *r = self(s);
    r->forget = forget;
    r->patience = patience;
}

struct store_redis_counts store_redis_counts(const struct store *s)
{
    const struct redis *r = self(s);
    struct store_redis_counts c = r->counts;
    for (size_t i = 0; i < r->conns.n; i++) {
        c.sent += r->conns.at[i]->sent;
        c.received += r->conns.at[i]->received;
    }
    return c;
}

/* ---- opening ---- */

static void add_server(void *context, const char *host, uint16_t port)
{
    struct redis *r = context;
    redis_lanes_conn(r, host, port);
    r->seeds = (uint32_t)r->conns.n;
}

static bool no_server(struct redis *r, struct error *err)
{
    const struct redis_conn *c = r->conns.at[0];
    if (r->troubled)
        return error_set(err, r->trouble.kind, "%s", r->trouble.text);
    if (c->state != REDIS_CONN_READY)
        return error_set(err, ERROR_FAILED,
                         "redis %s:%u: %s; is redis-server running there, and does it listen on "
                         "this address?",
                         c->host, c->port, c->why[0] ? c->why : "no answer");
    return error_set(err, ERROR_FAILED, "redis %s:%u: %s", c->host, c->port,
                     r->nlanes && r->lanes[0].why[0] ? r->lanes[0].why : "no answer in time");
}

/* Connect to the first server that answers, and learn what it is. */
static bool find_server(struct redis *r, double until, struct error *err)
{
    bool resolved = false;
    double most = clock_seconds() + r->patience;
    for (uint32_t i = 0; i < r->seeds; i++)
        resolved |= redis_conn_resolve(r->conns.at[i]);
    if (!resolved)
        return error_set(err, ERROR_INPUT, "redis %s: %s", r->conns.at[0]->host,
                         r->conns.at[0]->why);
    r->unwell = true;
    for (;;) {
        for (uint32_t i = 0; i < r->seeds; i++)
            if (r->conns.at[i]->state == REDIS_CONN_READY) {
                if (!r->cluster && r->seeds > 1)
                    return error_set(err, ERROR_INPUT,
                                     "redis: several servers are named, but %s:%u is no cluster",
                                     r->conns.at[i]->host, r->conns.at[i]->port);
                return true;
            }
        if (r->conns.at[0]->stranger)
            return error_set(err, ERROR_FAILED, "redis %s:%u: %s", r->conns.at[0]->host,
                             r->conns.at[0]->port, r->conns.at[0]->why);
        double now = clock_seconds();
        if (redis_words_loading(r->conns.at[0]) && now < most)
            until = now + 1; /* it is there, and reads what it knew: worth the whole patience */
        if (r->troubled || now > until)
            return no_server(r, err);
        redis_lanes_kick(r);
        redis_lanes_pump(r, 20);
        r->unwell = true;
    }
}

static void ask_run(struct redis *r, const char *run)
{
    for (uint32_t i = 0; i < r->nlanes; i++) {
        struct redis_call *c = redis_call_new(r, &r->lanes[i], REDIS_CALL_OPEN);
        for (const char *p = run; *p; p++)
            array_push(&c->bytes, (unsigned char)*p);
    }
    r->unwell = true;
}

static bool open_run(struct redis *r, uint32_t shards, double until, bool *existed,
                     struct error *err)
{
    const struct workflow *w = r->w;
    uint32_t least = w->ntasks / SHARD_TASKS + w->nedges / SHARD_EDGES + 1, have = 0;
    char run[160];
    make_lanes(r, 1);
    ask_run(r, "");
    if (!settle(r, until))
        return no_server(r, err);
    const char *was = r->lanes[0].run ? r->lanes[0].run : "";
    const char *told = strrchr(was, ' ');
    *existed = *was;
    if (told)
        have = (uint32_t)strtoul(told + 1, NULL, 10);
    shards = have ? have : shards ? shards : r->cluster ? SHARDS_OF_CLUSTER : 1;
    shards = shards > least || have ? shards : least;
    shards = shards <= SHARDS_MOST ? shards : SHARDS_MOST;
    snprintf(run, sizeof run, "weft-store/2 %016llx %u %u %u",
             (unsigned long long)store_fingerprint(w), w->ntasks, w->nobjects, shards);
    if (*was && strcmp(was, run) != 0)
        return error_set(err, ERROR_INPUT,
                         "redis %s:%u: run '%s' is of another workflow or version of weft (%.80s): "
                         "take another prefix, or remove that run",
                         r->conns.at[0]->host, r->conns.at[0]->port, r->prefix, was);
    make_lanes(r, shards);
    ask_run(r, run);
    if (!settle(r, until))
        return no_server(r, err);
    for (uint32_t i = 0; i < shards; i++)
        if (!r->lanes[i].run || strcmp(r->lanes[i].run, run) != 0)
            return error_set(
                err, ERROR_INPUT,
                "redis: run '%s' is half there, or was opened by another version or "
                "with other shards at the same time: remove it, or take another prefix",
                r->prefix);
    return true;
}

static bool open_events(struct redis *r, struct error *err)
{
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX - 1};
    struct epoll_event timer = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    if (r->epoll < 0 || r->event < 0 || r->timer < 0 ||
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->event, &event) < 0 ||
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->timer, &timer) < 0)
        return error_set(err, ERROR_FAILED, "redis: no event descriptors: %s", strerror(errno));
    return true;
}

struct store *store_redis_open(const struct store_redis_config *config, bool *existed,
                               struct error *err)
{
    const char *prefix = config->prefix ? config->prefix : "weft";
    const char *servers = config->servers ? config->servers : "127.0.0.1:6379";
    bool ignored;
    if (!redis_words_prefix(prefix, 200, err))
        return NULL;
    if (config->shards > SHARDS_MOST) {
        error_set(err, ERROR_INPUT, "redis: %u shards: at most %u", config->shards, SHARDS_MOST);
        return NULL;
    }
    struct redis *r = mem_new_zero(struct redis, 1);
    r->store.ops = &redis_ops;
    r->w = config->workflow;
    r->prefix = mem_copy_string(prefix);
    r->user = config->user ? mem_copy_string(config->user) : NULL;
    r->password = config->password ? mem_copy_string(config->password) : NULL;
    r->replicas = config->replicas;
    r->expire = config->expire;
    r->forget = config->forget;
    r->patience = config->patience > 0 ? config->patience : 60;
    r->epoll = r->event = r->timer = -1;
    r->mask = 1023;
    r->entries = mem_new_zero(struct redis_entry, r->mask + 1);
    double until = clock_seconds() + (r->patience > 5 ? r->patience / 10 : 0.5);
    bool good = open_events(r, err);
    if (good && getrandom(r->client, sizeof r->client, 0) != sizeof r->client)
        good = error_set(err, ERROR_FAILED, "redis: the system has no random numbers");
    if (good && config->tls) {
        struct redis_tls_options o = {.ca = config->tls_ca,
                                      .cert = config->tls_cert,
                                      .key = config->tls_key,
                                      .name = config->tls_name,
                                      .pin = config->tls_pin,
                                      .unchecked = config->tls_unchecked};
        r->tls = redis_tls_context_new(&o, err);
        good = r->tls != NULL;
    }
    good = good && redis_words_servers(servers, add_server, r, err) && find_server(r, until, err);
    if (good && clock_seconds() + 1 > until) /* found late: it was loading */
        until = clock_seconds() + 5;
    good = good && open_run(r, config->shards, until, existed ? existed : &ignored, err);
    if (good)
        return &r->store;
    free_store(r);
    return NULL;
}
