/* The store on Redis: entries, opening and closing (state.h draws the whole).
 *
 *   I1. Entries are numbered in the order of submission; head <= next <= tail. Those before `head`
 *       are answered, those before `next` are with their shards, the others wait.
 *   I2. Answers are shown in the order of numbers.
 *   I3. After trouble nothing is sent (the client is paused); what was submitted stays, and retry
 *       goes on unless the trouble is final.
 *   I4. One thread. Nothing blocks but opening, flushing, waiting and closing. */
#include "store/redis/redis.h"
#include "base/clock.h"
#include "model/growth.h"
#include "store/fingerprint.h"
#include "store/redis/state.h"
#include "store/redis/words.h"
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define SHARDS_OF_CLUSTER 64u /* spread over any usual number of masters */
#define GOODBYE_SECONDS 1.0   /* what stays behind is small, and expires */
#define SILENCE_SECONDS 10.0 /* a call takes 5 ms; a server that forks for its file, some seconds */

/* The store is its first member. */
static struct redis *redis_of(const struct store *s)
{
    return (struct redis *)s;
}

/* The first trouble is kept and stops everything; later ones follow from it. Returns false. */
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
    redis_client_pause(r->client); /* until retry */
    error_clear(&r->trouble);
    return error_set(&r->trouble, ERROR_FAILED, "%s", text);
}

/* ---- entries ---- */

/* The ring is full: twice as large, each entry at its number again. */
static void redis_grow_entries(struct redis *r)
{
    uint64_t size = r->mask + 1, bigger = size * 2;
    struct redis_entry *entries = mem_new_zero(struct redis_entry, bigger);
    for (uint64_t i = r->head; i < r->tail; i++)
        entries[i & (bigger - 1)] = r->entries[i & r->mask];
    free(r->entries);
    r->entries = entries;
    r->mask = bigger - 1;
}

/* The answer of an entry, appended to what the next poll hands out; its lists are copied, since the
 * entry is used again. */
static void redis_show_entry(struct redis *r, struct redis_entry *e)
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
    while (e->digests.n && to->digests.n < to->nodes.n) /* at the places of their nodes */
        array_add(&to->digests);
    for (size_t i = 0; i < e->digests.n; i++)
        array_push(&to->digests, e->digests.at[i]);
    for (size_t i = 0; i < e->nodes.n; i++)
        array_push(&to->nodes, e->nodes.at[i]);
    array_push(&to->at, e->answer);
}

/* Answers leave in the order of submission: those that are done behind one that is not wait for
 * it. */
void redis_entry_done(struct redis *r, uint64_t number)
{
    redis_entry_at(r, number)->done = true;
    while (r->head < r->tail && redis_entry_at(r, r->head)->done) {
        redis_show_entry(r, redis_entry_at(r, r->head));
        r->head++;
        r->operations++;
    }
}

/* The client's epoll descriptor is the store's: it must also say that answers wait in memory. Made when they
 * first do: most stores of an agent, one for each run that is open, never need it. */
static bool redis_open_event(struct redis *r)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = REDIS_CLIENT_OTHER};
    if (r->event >= 0)
        return true;
    r->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->event >= 0 &&
        epoll_ctl(redis_client_fd(r->client), EPOLL_CTL_ADD, r->event, &event) != 0) {
        close(r->event);
        r->event = -1;
    }
    return r->event >= 0;
}

/* Encode what may be: one that must wait for an operation before it holds up all behind it, and an
 * ADOPT has the store for itself. */
void redis_dispatch(struct redis *r)
{
    while (r->next < r->tail && !r->exclusive && !r->troubled && redis_encode(r, r->next))
        r->next++;
    if (!r->ready.at.n || r->signalled || r->polled) /* who polls sees them without being told */
        return;
    uint64_t one = 1;
    if (redis_open_event(r))
        r->signalled = write(r->event, &one, sizeof one) > 0;
    else
        redis_client_tick_soon(r->client);
}

/* ---- the store's functions ---- */

/* Encoded and sent at once, as far as the shards' windows have room. */
static void redis_submit(struct store *s, const struct meta_op *ops, size_t n)
{
    struct redis *r = redis_of(s);
    for (size_t i = 0; i < n; i++) {
        if (r->tail - r->head > r->mask)
            redis_grow_entries(r);
        struct redis_entry *e = redis_entry_at(r, r->tail++);
        e->op = ops[i];
        e->items.n = e->nodes.n = e->digests.n = 0;
        e->open = e->shard = 0;
        e->done = e->fresh = e->several = e->scanning = false;
    }
    redis_dispatch(r);
    redis_client_kick(r->client);
}

/* Two sets of answers change places: what was shown stays valid until the next call. */
static bool redis_poll(struct store *s, struct meta_answers *out, struct error *err)
{
    struct redis *r = redis_of(s);
    uint64_t count;
    r->polled = true;
    redis_client_poll(r->client, 0);
    r->polled = false;
    if (r->signalled)
        r->signalled = read(r->event, &count, sizeof count) < 0;
    answers_clear(&r->shown);
    struct answers swap = r->shown;
    r->shown = r->ready;
    r->ready = swap;
    const struct answers *a = &r->shown;
    *out = (struct meta_answers){.at = a->at.at,
                                 .n = a->at.n,
                                 .items = a->items.at,
                                 .records = a->records.at,
                                 .nodes = a->nodes.at,
                                 .digests = a->digests.at,
                                 .forged = r->forged[0] ? r->forged : NULL};
    return !r->troubled || error_set(err, r->trouble.kind, "%s", r->trouble.text);
}

static void redis_wait(struct store *s)
{
    struct redis *r = redis_of(s);
    while (!r->ready.at.n && r->head < r->tail && !r->troubled)
        redis_client_poll(r->client, -1);
}

/* The client's epoll, which also watches `event`: readable when answers wait, too. */
static int redis_fd(struct store *s)
{
    return redis_client_fd(redis_of(s)->client);
}

/* What is answered is in the append-only file, or with a replica; else nobody promises anything. */
static uint64_t redis_durable(struct store *s)
{
    const struct redis *r = redis_of(s);
    return redis_client_has_aof(r->client) || r->replicas ? r->head : 0;
}

static bool redis_flush(struct store *s, struct error *err)
{
    struct redis *r = redis_of(s);
    while (r->head < r->tail && !r->troubled)
        redis_client_poll(r->client, -1);
    return !r->troubled || error_set(err, r->trouble.kind, "%s", r->trouble.text);
}

/* Everything that was submitted is still there; a call that was refused is the first of its
 * queue. */
static bool redis_retry(struct store *s, struct error *err)
{
    struct redis *r = redis_of(s);
    if (!r->troubled)
        return true;
    if (r->final)
        return error_set(err, r->trouble.kind, "%s", r->trouble.text);
    r->troubled = false;
    redis_client_resume(r->client);
    redis_dispatch(r);
    redis_client_kick(r->client);
    return true;
}

static size_t redis_bytes(const struct store *s)
{
    const struct redis *r = redis_of(s);
    size_t n = sizeof *r + (r->mask + 1) * sizeof *r->entries +
               r->nshards * (sizeof *r->shards + sizeof **r->shards) +
               (size_t)r->busy_room * sizeof *r->busy + r->ready.at.cap * sizeof *r->ready.at.at +
               r->shown.at.cap * sizeof *r->shown.at.at;
    n += r->proved_edges ? REDIS_PROVED_EDGES * sizeof *r->proved_edges : 0;
    return n + redis_calls_bytes(r);
}

/* ---- shards ---- */

static void redis_free_shards(struct redis *r)
{
    for (uint32_t i = 0; i < r->nshards; i++) {
        struct redis_shard *shard = r->shards[i];
        for (int k = 0; k < REDIS_SCRIPT_KEYS; k++)
            free(shard->key[k]);
        free(shard->run);
        free(shard->wanted);
        free(shard);
    }
    if (r->client)
        redis_client_drop_channels(r->client);
    free(r->shards);
    r->shards = NULL;
    r->nshards = 0;
}

/* The keys of one have one hash tag, {PREFIX.SHARD}, hence one slot. */
struct redis_shard *redis_shard_new(struct redis *r, uint32_t i, uint32_t first, uint32_t end)
{
    const struct workflow *w = r->w;
    struct redis_shard *shard = mem_new_zero(struct redis_shard, 1);
    shard->first = first;
    shard->count = end - first;
    shard->first_edge = w->pred_off[first];
    shard->edges = w->pred_off[end] - shard->first_edge;
    shard->touched = clock_seconds();
    for (int k = 0; k < REDIS_SCRIPT_KEYS; k++) {
        char name[320];
        shard->key_size =
            (size_t)snprintf(name, sizeof name, "{%s.%u}:%c", r->prefix, i, "RESNMCKZPIDA"[k]);
        shard->key[k] = mem_copy_string(name);
    }
    shard->channel = redis_client_channel(r->client, shard->key[0], 1);
    return shard;
}

/* Shards are ranges of equal length, of the workflow as it began; what joined has its own (growth.c). */
static void redis_make_shards(struct redis *r, uint32_t shards)
{
    uint32_t tasks = r->base_tasks;
    redis_free_shards(r);
    /* rounded up, and at least 1: a task's shard is a division away, also with more shards than
     * tasks */
    r->per_shard = tasks / shards + (tasks % shards != 0);
    r->per_shard = r->per_shard ? r->per_shard : 1;
    r->nshards = r->base_shards = shards;
    r->parts = 0;
    r->shards = mem_new_zero(struct redis_shard *, shards);
    for (uint32_t i = 0; i < shards; i++) {
        uint64_t first = (uint64_t)i * r->per_shard, end = first + r->per_shard;
        first = first < tasks ? first : tasks;
        end = end < tasks ? end : tasks;
        r->shards[i] = redis_shard_new(r, i, (uint32_t)first, (uint32_t)end);
    }
    free(r->busy);
    /* with one shard, children are notified in the step that completes their parent */
    r->busy = shards > 1 ? mem_new_zero(uint32_t, tasks) : NULL;
    r->busy_room = shards > 1 ? tasks : 0;
}

/* Until no shard has a call under way, or the time is over. For opening and closing only, which may
 * block. */
static bool redis_settle(struct redis *r, double until)
{
    for (;;) {
        bool idle = redis_client_is_idle(r->client);
        if (idle || r->troubled || clock_seconds() > until)
            return idle && !r->troubled;
        redis_client_kick(r->client);
        redis_client_poll(r->client, 20);
    }
}

/* ---- closing ---- */

static void redis_free(struct redis *r)
{
    redis_free_shards(r);
    redis_client_free(r->client);
    while (r->spare) {
        struct redis_call *c = r->spare;
        r->spare = c->next_spare;
        redis_call_free(c);
    }
    for (uint64_t i = 0; r->entries && i <= r->mask; i++) {
        free(r->entries[i].record);
        array_free(&r->entries[i].items);
        array_free(&r->entries[i].nodes);
        array_free(&r->entries[i].digests);
    }
    free(r->entries);
    free(r->busy);
    array_free(&r->repairs);
    answers_free(&r->ready);
    answers_free(&r->shown);
    if (r->event >= 0)
        close(r->event);
    free(r->prefix);
    free(r->proved_edges);
    free(r);
}

/* Nobody will ask again for what the shards keep for us; when that does not reach them, little
 * stays. */
static void redis_say_goodbye(struct redis *r)
{
    for (uint32_t i = 0; i < r->nshards; i++)
        if (r->shards[i]->kept)
            redis_call_new(r, r->shards[i], REDIS_CALL_APPLY)->keep = REDIS_KEEP_BYE;
    redis_settle(r, clock_seconds() + GOODBYE_SECONDS);
}

static bool redis_close(struct store *s, struct error *err)
{
    struct redis *r = redis_of(s);
    bool good = redis_flush(s, err);
    if (good && (r->forget || r->expire)) {
        for (uint32_t i = 0; i < r->nshards; i++) {
            /* long ago: the last call renews the run's expiry, which counts from now */
            r->shards[i]->touched = -1e9;
            redis_call_new(r, r->shards[i], r->forget ? REDIS_CALL_FORGET : REDIS_CALL_APPLY);
        }
    }
    /* what nobody waits for (children know, the run is removed) is waited for here */
    if (good && !redis_settle(r, clock_seconds() + r->patience))
        good = r->troubled
                   ? error_set(err, r->trouble.kind, "%s", r->trouble.text)
                   : error_set(err, ERROR_FAILED,
                               "redis: run '%s': everything is recorded, but the server did "
                               "not answer the last words",
                               r->prefix);
    if (good && !r->forget)
        redis_say_goodbye(r);
    redis_free(r);
    return good;
}

/* What joined has shards of its own; what was asked before about other tasks goes on meanwhile. */
static void redis_grow(struct store *s)
{
    struct redis *r = redis_of(s);
    redis_make_part_shards(r);
    redis_client_kick(r->client);
}

static const struct store_ops redis_ops = {
    .name = "redis",
    .submit = redis_submit,
    .poll = redis_poll,
    .wait = redis_wait,
    .fd = redis_fd,
    .durable = redis_durable,
    .flush = redis_flush,
    .retry = redis_retry,
    .grow = redis_grow,
    .bytes = redis_bytes,
    .close = redis_close,
};

void store_redis_closing(struct store *s, bool forget, double patience)
{
    struct redis *r = redis_of(s);
    r->forget = forget;
    r->patience = patience;
}

struct store_redis_counts store_redis_counts(const struct store *s)
{
    const struct redis *r = redis_of(s);
    struct redis_client_counts c = redis_client_counts(r->client);
    return (struct store_redis_counts){.operations = r->operations,
                                       .calls = r->calls,
                                       .round_trips = c.round_trips,
                                       .sent = c.sent,
                                       .received = c.received,
                                       .resent = c.resent,
                                       .redirected = c.redirected,
                                       .connects = c.connects,
                                       .unconfirmed = c.unconfirmed};
}

/* ---- opening ---- */

static bool redis_no_answer(struct redis *r, struct error *err)
{
    return r->troubled ? error_set(err, r->trouble.kind, "%s", r->trouble.text)
                       : redis_client_unreachable(r->client, err);
}

/* An empty text only asks: what stands there is not changed. */
static void redis_ask_run(struct redis *r, const char *run)
{
    for (uint32_t i = 0; i < r->nshards; i++) {
        struct redis_call *c = redis_call_new(r, r->shards[i], REDIS_CALL_OPEN);
        for (const char *p = run; *p; p++)
            array_push(&c->bytes, (unsigned char)*p);
    }
}

/* Shard 0 first: it says whether the run exists and how many shards it has; then all are created or
 * checked. Two clients that open at once ask for the same, and the first one's word counts. */
static bool redis_open_run(struct redis *r, uint32_t shards, double until, bool *existed,
                           struct error *err)
{
    const struct workflow *w = r->w;
    /* so many that no string of the server passes its limit */
    uint32_t edges = w->pred_off[r->base_tasks];
    uint32_t least = r->base_tasks / REDIS_SHARD_TASKS + edges / REDIS_SHARD_EDGES + 1, have = 0;
    char run[160];
    redis_make_shards(r, 1);
    redis_ask_run(r, "");
    if (!redis_settle(r, until))
        return redis_no_answer(r, err);
    const char *was = r->shards[0]->run ? r->shards[0]->run : "";
    /* the last word of "weft-store/5 FINGERPRINT TASKS OBJECTS SHARDS" */
    const char *count = strrchr(was, ' ');
    *existed = *was;
    if (count)
        have = (uint32_t)strtoul(count + 1, NULL, 10);
    shards = have                                 ? have
             : shards                             ? shards
             : redis_client_is_cluster(r->client) ? SHARDS_OF_CLUSTER
                                                  : 1;
    shards = shards > least || have ? shards : least;
    shards = shards <= REDIS_SHARDS_MOST ? shards : REDIS_SHARDS_MOST;
    snprintf(run, sizeof run, "weft-store/5 %016llx %u %u %u",
             (unsigned long long)store_fingerprint(w, 0, r->base_tasks), r->base_tasks,
             r->base_objects, shards);
    const struct redis_conn *server = redis_client_server(r->client, r->shards[0]->channel);
    if (*was && strcmp(was, run) != 0)
        return error_set(err, ERROR_INPUT,
                         "redis %s:%u: run '%s' is of another workflow or version of weft (%.80s): "
                         "take another prefix, or remove that run",
                         server->host, server->port, r->prefix, was);
    redis_make_shards(r, shards);
    redis_ask_run(r, run);
    if (!redis_settle(r, until))
        return redis_no_answer(r, err);
    for (uint32_t i = 0; i < shards; i++)
        if (!r->shards[i]->run || strcmp(r->shards[i]->run, run) != 0)
            return error_set(
                err, ERROR_INPUT,
                "redis: run '%s' is half there, or was opened by another version or "
                "with other shards at the same time: remove it, or take another prefix",
                r->prefix);
    redis_make_part_shards(r);
    if (r->nshards > shards && !redis_settle(r, until))
        return redis_no_answer(r, err);
    return true;
}

static bool redis_open_client(struct redis *r, const struct store_redis_config *config,
                              struct error *err)
{
    struct redis_tls_options tls = {.ca = config->tls_ca,
                                    .cert = config->tls_cert,
                                    .key = config->tls_key,
                                    .name = config->tls_name,
                                    .pin = config->tls_pin,
                                    .unchecked = config->tls_unchecked};
    r->client = redis_client_new(&(struct redis_client_config){.servers = config->servers
                                                                              ? config->servers
                                                                              : "127.0.0.1:6379",
                                                               .user = config->user,
                                                               .password = config->password,
                                                               .tls = config->tls ? &tls : NULL,
                                                               .scripts = redis_scripts,
                                                               .nscripts = REDIS_SCRIPTS,
                                                               .replicas = config->replicas,
                                                               .silence = SILENCE_SECONDS,
                                                               .ops = &redis_calls_ops,
                                                               .owner = r},
                                 err);
    if (!r->client)
        return false;
    return getrandom(r->name, sizeof r->name, 0) == sizeof r->name ||
           error_set(err, ERROR_FAILED, "redis: the system has no random numbers");
}

struct store *store_redis_open(const struct store_redis_config *config, bool *existed,
                               struct error *err)
{
    const char *prefix = config->prefix ? config->prefix : "weft";
    bool ignored;
    if (!redis_words_prefix(prefix, 200, err))
        return NULL;
    if (config->shards > REDIS_SHARDS_MOST) {
        error_set(err, ERROR_INPUT, "redis: %u shards: at most %u", config->shards,
                  REDIS_SHARDS_MOST);
        return NULL;
    }
    struct redis *r = mem_new_zero(struct redis, 1);
    r->store.ops = &redis_ops;
    r->w = config->workflow;
    const struct growth *g = r->w->growth;
    r->base_tasks = g && g->parts.n ? g->parts.at[0].task : r->w->ntasks;
    r->base_objects = g && g->parts.n ? g->parts.at[0].object : r->w->nobjects;
    r->prover = config->prover;
    r->prefix = mem_copy_string(prefix);
    r->replicas = config->replicas;
    r->expire = config->expire;
    r->forget = config->forget;
    r->patience = config->patience > 0 ? config->patience : 60;
    r->event = -1;
    r->mask = 1023;
    r->entries = mem_new_zero(struct redis_entry, r->mask + 1);
    /* a server that is there answers at once: a tenth of the patience is enough to find out that it
     * is not */
    double until = clock_seconds() + (r->patience > 5 ? r->patience / 10 : 0.5);
    bool good = redis_open_client(r, config, err) &&
                redis_client_connect(r->client, until, r->patience, err);
    if (good && clock_seconds() + 1 > until) /* found late: it was loading */
        until = clock_seconds() + 5;
    good = good && redis_open_run(r, config->shards, until, existed ? existed : &ignored, err);
    if (good)
        return &r->store;
    redis_free(r);
    return NULL;
}
