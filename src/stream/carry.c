/* Streams without a plan: a pool of workers carries items through all filters, in batches.
 *
 * A worker takes a batch of consecutive items from the source and takes it from filter to filter in the
 * order of the graph. A filter that keeps state has a turnstile: batches pass it in the order of their
 * items, and one that comes too early is parked there, while its worker does something else. The sink is
 * the last turnstile. So nobody waits while there is something to do, and no more items are in work than
 * there are batches.
 *
 *     source ─▶ [0..7] filter ─▶ [8..15] ─┬─▶ filter with state ─▶ sink
 *                                         └ parked: [24..31]
 *
 * A batch is one item where filters take long. Where they take nanoseconds it is some hundred, so that
 * locks, clocks and wake-ups are shared by many items. Nobody waits for a batch to be full. What the source
 * gave for a batch is some megabytes at most: items in work are memory, and should stay in caches.
 *
 * I1. `lock` guards ready, spare, idle, sourcing, ended and in_work. It is held for a few instructions.
 * I2. One worker at a time is with the source; it takes numbers in order.
 * I3. A turnstile's lock guards its parked batches and `next`. Who has passed advances it and takes out
 *     the batch that stands there next, if it is there.
 * I4. Whoever makes a batch ready returns to the pool himself sooner or later: waking another is a
 *     matter of speed alone. */
#include "stream/flow_private.h"

#include "base/clock.h"

#include <string.h>

enum { MOST_ITEMS = 256, BATCHES_A_WORKER = 4 };
static const double batch_short = 20e-6; /* of work: then the next may have twice as many items */
static const double batch_long = 100e-6; /* then half as many */
static const size_t batch_bytes = (size_t)8 << 20; /* from the source: no item more is added then */
static const double worth_waking = 5e-6;           /* about what waking a thread costs */
/* of an item, in all its filters: less is done quicker by one thread than by two that share caches */
static const double worth_sharing = 0.5e-6;

struct batch {
    uint64_t first;
    uint32_t n;             /* items */
    uint32_t duty;          /* that comes next; all of them: the sink */
    double worked;          /* seconds */
    struct record *records; /* MOST_ITEMS */
    struct batch *next;
};

struct turnstile {
    pthread_mutex_t lock;
    uint64_t next; /* the item that may pass */
    struct batch *parked;
    _Atomic uint32_t waiting; /* items */
};

struct carrier {
    struct flow *f;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct batch *ready, *spare, *batches;
    uint32_t nbatches, idle, in_work;
    bool sourcing, ended;
    uint64_t number;              /* of the next item */
    _Atomic uint32_t size;        /* of batches */
    bool shared;                  /* items took long enough for others to help; with `lock` */
    struct turnstile *turnstiles; /* by duty, the sink's last */
    struct berth *slots;
};

/* All memory that items in work need: what comes later is their data alone. */
struct carrier *carrier_new(struct flow *f)
{
    struct carrier *c = mem_new_zero(struct carrier, 1);
    uint32_t holdings = f->lineup.nholdings;
    c->f = f;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    c->nbatches = BATCHES_A_WORKER * f->lineup.nworkers;
    c->batches = mem_new_zero(struct batch, c->nbatches);
    c->slots = mem_new_zero(struct berth, (size_t)c->nbatches * MOST_ITEMS * holdings + 1);
    atomic_init(&c->size, 1);
    for (uint32_t i = 0; i < c->nbatches; i++) {
        struct batch *b = &c->batches[i];
        b->records = mem_new_zero(struct record, MOST_ITEMS);
        for (uint32_t k = 0; k < MOST_ITEMS; k++)
            b->records[k].slots = c->slots + ((size_t)i * MOST_ITEMS + k) * holdings;
        b->next = c->spare;
        c->spare = b;
    }
    c->turnstiles = mem_new_zero(struct turnstile, f->lineup.duties.n + 1);
    for (size_t i = 0; i <= f->lineup.duties.n; i++)
        pthread_mutex_init(&c->turnstiles[i].lock, NULL);
    return c;
}

void carrier_free(struct carrier *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->nbatches; i++) {
        for (uint32_t k = 0; k < MOST_ITEMS; k++) {
            struct record *r = &c->batches[i].records[k];
            (free)(r->name); /* a stream that was stopped has left things behind */
            for (uint32_t h = 0; h < c->f->lineup.nholdings; h++)
                chunk_free(r->slots[h].chunk);
        }
        free(c->batches[i].records);
    }
    for (size_t i = 0; i <= c->f->lineup.duties.n; i++)
        pthread_mutex_destroy(&c->turnstiles[i].lock);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    free(c->turnstiles);
    free(c->slots);
    free(c->batches);
    free(c);
}

void carrier_wake(struct carrier *c)
{
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
}

uint64_t carrier_waiting(const struct carrier *c, uint32_t duty)
{
    return atomic_load_explicit(&c->turnstiles[duty].waiting, memory_order_relaxed);
}

/* ---- turnstiles ---- */

/* False: it was too early, and is parked. */
static bool turnstile_enter(struct turnstile *t, struct batch *b)
{
    pthread_mutex_lock(&t->lock);
    bool good = t->next == b->first;
    if (!good) {
        b->next = t->parked;
        t->parked = b;
        atomic_fetch_add_explicit(&t->waiting, b->n, memory_order_relaxed);
    }
    pthread_mutex_unlock(&t->lock);
    return good;
}

/* The batch that may pass now, if it waits here. */
static struct batch *turnstile_leave(struct turnstile *t, uint64_t next)
{
    pthread_mutex_lock(&t->lock);
    t->next = next;
    struct batch **at = &t->parked;
    while (*at && (*at)->first != next)
        at = &(*at)->next;
    struct batch *b = *at;
    if (b) {
        *at = b->next;
        atomic_fetch_sub_explicit(&t->waiting, b->n, memory_order_relaxed);
    }
    pthread_mutex_unlock(&t->lock);
    return b;
}

/* ---- the pool ---- */

static void carrier_put_ready(struct carrier *c, struct batch *b, bool wake)
{
    pthread_mutex_lock(&c->lock);
    b->next = c->ready;
    c->ready = b;
    if (wake && c->idle)
        pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
}

/* What the source gave for it. */
static size_t carrier_bytes(const struct flow *f, const struct record *r)
{
    if (!f->lineup.inputs.n)
        return 0;
    const struct chunk *chunk = r->slots[f->lineup.inputs.at[0].holding].chunk;
    return chunk ? chunk->size : 0;
}

/* Without the lock; I2. True: the source has no more. Taking the first may be waiting; what taking the
 * others takes is work. */
static bool carrier_fill(struct carrier *c, struct batch *b)
{
    struct flow *f = c->f;
    uint32_t size = atomic_load_explicit(&c->size, memory_order_relaxed);
    size_t bytes = 0;
    double began = 0;
    bool ended = false;
    b->first = c->number;
    b->n = b->duty = 0;
    while (b->n < size && bytes < batch_bytes && !ended) {
        f->paused = c->number >= atomic_load_explicit(&f->pause_at, memory_order_relaxed);
        if (f->paused || (f->o.items && c->number >= f->o.items)) {
            ended = true;
            break;
        }
        enum source_answer answer = flow_take(f, b->n == 0, c->number, &b->records[b->n]);
        if (answer == SOURCE_LATER)
            break;
        ended = answer != SOURCE_ITEM;
        if (ended)
            break;
        bytes += carrier_bytes(f, &b->records[b->n]);
        if (!b->n++)
            began = clock_seconds();
        c->number++;
    }
    double now = b->n > 1 ? clock_seconds() : began;
    b->worked = now - began;
    for (uint32_t i = 0; i < b->n; i++)
        b->records[i].entered = now;
    return ended;
}

/* What to do next; NULL: nothing any more. */
static struct batch *carrier_next(struct carrier *c)
{
    struct batch *b = NULL;
    pthread_mutex_lock(&c->lock);
    while (!b && !flow_halted(c->f) && !(c->ended && !c->in_work)) {
        if ((b = c->ready)) {
            c->ready = b->next;
        } else if (!c->ended && !c->sourcing && c->spare) {
            b = c->spare;
            c->spare = b->next;
            c->sourcing = true;
            c->in_work++;
            pthread_mutex_unlock(&c->lock);
            bool ended = carrier_fill(c, b);
            pthread_mutex_lock(&c->lock);
            c->sourcing = false;
            c->ended |= ended;
            if (!b->n) {
                b->next = c->spare;
                c->spare = b;
                c->in_work--;
                b = NULL;
            }
            /* the next may go to the source, if what he does there is worth it */
            if (c->idle && (c->ended || c->shared ||
                            atomic_load_explicit(&c->size, memory_order_relaxed) == 1))
                pthread_cond_signal(&c->work);
        } else {
            c->idle++;
            pthread_cond_wait(&c->work, &c->lock);
            c->idle--;
        }
    }
    if (c->ended && !c->in_work)
        pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    return b;
}

/* The size of batches follows what they took; the item that is measured is the one at hand, so it follows
 * within a few batches when filters become slower. */
static void carrier_recycle(struct carrier *c, struct batch *b)
{
    uint32_t size = atomic_load_explicit(&c->size, memory_order_relaxed);
    if (b->n == size && b->worked < batch_short && size < MOST_ITEMS)
        atomic_store_explicit(&c->size, size * 2, memory_order_relaxed);
    else if (b->worked > batch_long && size > 1)
        atomic_store_explicit(&c->size, size / 2, memory_order_relaxed);
    pthread_mutex_lock(&c->lock);
    c->shared = b->worked > worth_sharing * b->n;
    b->next = c->spare;
    c->spare = b;
    c->in_work--;
    if (c->idle && (c->ended || !b->next)) /* somebody may have waited for room */
        pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
}

/* ---- a worker ---- */

/* All items of the batch through one filter, or out; the seconds that it took. */
static double carry_through(struct worker *w, struct batch *b, double began)
{
    struct flow *f = w->flow;
    if (b->duty == f->lineup.duties.n) {
        pthread_mutex_lock(&f->leaving);
        flow_leave(f, b->records, b->n, began);
        flow_flush(f);
        pthread_mutex_unlock(&f->leaving);
        return clock_seconds();
    }
    const struct duty *d = &f->lineup.duties.at[b->duty];
    for (uint32_t i = 0; i < b->n && !flow_halted(f); i++) {
        if (d->kind == DUTY_WAITS && !b->records[i].failed)
            flow_sleep_until(f, clock_seconds() + f->lineup.w->work[d->task]);
        duty_run(w, d, &b->records[i], 0);
        duty_drop(&f->lineup, d, &b->records[i]);
    }
    double now = clock_seconds();
    labour_add(&w->tallies[b->duty], b->n, now - began);
    return now;
}

/* From where it stands to the sink, or to a turnstile that is not its turn. */
static void carry_batch(struct worker *w, struct batch *b)
{
    struct flow *f = w->flow;
    struct carrier *c = f->carrier;
    uint32_t sink = (uint32_t)f->lineup.duties.n;
    double now = clock_seconds();
    for (; b->duty <= sink && !flow_halted(f); b->duty++) {
        bool in_turn = b->duty == sink ? !f->o.unordered : f->lineup.duties.at[b->duty].serial;
        struct turnstile *t = &c->turnstiles[b->duty];
        if (in_turn && !turnstile_enter(t, b))
            return;
        double began = now;
        now = carry_through(w, b, now);
        b->worked += now - began;
        struct batch *released = in_turn ? turnstile_leave(t, b->first + b->n) : NULL;
        if (released)
            carrier_put_ready(c, released, now - began > worth_waking);
    }
    carrier_recycle(c, b);
}

void *carrier_work(void *worker)
{
    struct worker *w = worker;
    struct flow *f = w->flow;
    for (struct batch *b; (b = carrier_next(f->carrier));)
        carry_batch(w, b);
    carrier_wake(f->carrier); /* what ended this worker ends the others */
    flow_thread_ends(f);
    return NULL;
}
