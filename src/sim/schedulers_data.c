/* Data in the simulation of schedulers: who has what, transfers over the interfaces, caches.
 *
 *   fetch_start() ── wait for the sender's interface, latency ──▶ schedulers_data_arrives()
 *                 ── wait for the receiver's interface        ──▶ schedulers_data_fetched()
 *
 * A fetch is found by (node, object) while it is on its way (`flying`, chained buckets), so that
 * several tasks of a node that want the same object wait for one transfer. */
#include "sim/schedulers_state.h"

/* Kept for more than the task that asked for it? */
static bool node_keeps(const struct schedulers *c, uint32_t object)
{
    return c->config.cache > 0 && !workload_read_once(c->dag, object);
}

/* Where an object was written: its producer's holder in the store's table; input files have a node.
 */
static uint32_t object_owner(const struct schedulers *c, uint32_t object, uint32_t producer)
{
    return producer == NONE ? workload_file_node(c->dag, object, c->config.nodes)
                            : c->table.holder[producer];
}

/* ---- who else has it ---- */

/* The entry of an object, or the free one where it would go. */
static struct schedulers_copies *copies_of(const struct schedulers *c, uint32_t object)
{
    uint32_t h = object * 0x9E3779B1u, i = (h ^ (h >> 15)) & c->copies_mask;
    while (c->copies[i].object != NONE && c->copies[i].object != object)
        i = (i + 1) & c->copies_mask;
    return &c->copies[i];
}

static void copies_grow(struct schedulers *c)
{
    struct schedulers_copies *old = c->copies;
    uint32_t n = old ? c->copies_mask + 1 : 0, size = n ? n * 2 : 64;
    c->copies = mem_new(struct schedulers_copies, size);
    memset(c->copies, 0xff, size * sizeof *c->copies);
    c->copies_mask = size - 1;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].object != NONE)
            *copies_of(c, old[i].object) = old[i];
    free(old);
}

/* The last SCHEDULERS_COPIES nodes are remembered; older ones are forgotten, not wrong. */
static void copies_add(struct schedulers *c, uint32_t object, uint32_t node)
{
    if (!c->copies || c->copies_used > c->copies_mask / 4 * 3)
        copies_grow(c);
    struct schedulers_copies *k = copies_of(c, object);
    if (k->object == NONE) {
        k->object = object;
        k->next = 0;
        c->copies_used++;
    }
    k->at[k->next++ % SCHEDULERS_COPIES] = node;
}

/* An object may come from any node that fetched and kept it: of the one that wrote it and the last
 * to fetch it, the one whose interface is free first. */
static uint32_t nearest_source(const struct schedulers *c, uint32_t object, uint32_t producer)
{
    uint32_t best = object_owner(c, object, producer);
    const struct schedulers_copies *k = c->copies ? copies_of(c, object) : NULL;
    for (uint32_t i = 0; k && k->object != NONE && i < SCHEDULERS_COPIES && k->at[i] != NONE; i++)
        if (c->links[k->at[i]].out_free < c->links[best].out_free &&
            schedulers_cache_has(&c->nodes[k->at[i]].cache, object))
            best = k->at[i];
    return best;
}

/* ---- transfers ---- */

static uint32_t *flying_bucket(const struct schedulers *c, uint32_t node, uint32_t object)
{
    uint64_t h = ((uint64_t)node << 32 | object) * 0x9E3779B97F4A7C15u;
    return &c->flying[(h >> 32) & (c->flying_size - 1)];
}

static void flying_grow(struct schedulers *c)
{
    uint32_t *old = c->flying, n = c->flying_size;
    c->flying_size = n ? n * 2 : 64;
    c->flying = mem_new(uint32_t, c->flying_size);
    memset(c->flying, 0xff, c->flying_size * sizeof *c->flying);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t f = old[i]; f != NONE;) {
            struct schedulers_fetch *fetch = &c->fetches.all.at[f];
            uint32_t next = fetch->next, *head = flying_bucket(c, fetch->node, fetch->object);
            fetch->next = *head;
            *head = f;
            f = next;
        }
    free(old);
}

/* The fetch of this object to this node that is on its way; NONE: none. */
static uint32_t in_flight(const struct schedulers *c, uint32_t node, uint32_t object)
{
    uint32_t f = c->flying ? *flying_bucket(c, node, object) : NONE;
    while (f != NONE &&
           (c->fetches.all.at[f].object != object || c->fetches.all.at[f].node != node))
        f = c->fetches.all.at[f].next;
    return f;
}

/* Ask the store where it is, ask there, wait for the interface. */
static uint32_t fetch_start(struct schedulers *c, uint32_t node, uint32_t object, uint32_t producer,
                            double bytes)
{
    if (c->flying_used >= c->flying_size)
        flying_grow(c);
    uint32_t index = pool_take(&c->fetches), from = nearest_source(c, object, producer);
    uint32_t *head = flying_bucket(c, node, object);
    c->fetches.all.at[index] = (struct schedulers_fetch){.object = object,
                                                         .source = from,
                                                         .node = node,
                                                         .waiters = NONE,
                                                         .next = *head,
                                                         .bytes = bytes};
    *head = index;
    c->flying_used++;
    /* to the store and back, then to the sender; the data's own latency is added below */
    double asked = c->now + 3 * c->config.latency + c->config.store_service;
    double *free_at = &c->links[from].out_free;
    double start = *free_at > asked ? *free_at : asked;
    *free_at = start + bytes / c->config.bandwidth;
    schedulers_later(c, start + c->config.latency, EVENT_ARRIVES, index, 0);
    c->result->transfers++;
    c->result->bytes_moved += bytes;
    return index;
}

/* The receiver's interface takes transfers one after the other, in the order of arrival. */
void schedulers_data_arrives(struct schedulers *c, uint32_t index)
{
    const struct schedulers_fetch *f = &c->fetches.all.at[index];
    double *free_at = &c->links[f->node].in_free;
    double start = *free_at > c->now ? *free_at : c->now;
    *free_at = start + f->bytes / c->config.bandwidth;
    schedulers_later(c, *free_at, EVENT_FETCHED, index, 0);
}

void schedulers_data_fetched(struct schedulers *c, uint32_t index)
{
    struct schedulers_fetch f = c->fetches.all.at[index];
    uint32_t *link = flying_bucket(c, f.node, f.object);
    while (*link != index)
        link = &c->fetches.all.at[*link].next;
    *link = f.next;
    c->flying_used--;
    pool_give(&c->fetches, index);
    bool kept = node_keeps(c, f.object);
    /* what was fetched ahead must be kept somewhere, even where nothing is cached */
    if (kept || f.waiters == NONE)
        schedulers_cache_add(&c->nodes[f.node].cache, f.object, f.bytes,
                             c->config.cache > 0 ? c->config.cache : 8e9);
    if (kept)
        copies_add(c, f.object, f.node);
    for (uint32_t w = f.waiters; w != NONE;) {
        struct schedulers_waiter waiter = c->waiters.all.at[w];
        pool_give(&c->waiters, w);
        w = waiter.next;
        if (--c->runs.all.at[waiter.run].pending == 0)
            schedulers_begin(c, waiter.run);
    }
}

/* What is here costs nothing, what is on its way is waited for, the rest is fetched. The last
 * arrival begins the task. */
void schedulers_data_need(struct schedulers *c, uint32_t run)
{
    uint32_t task = c->runs.all.at[run].task, node = c->runs.all.at[run].node;
    uint32_t n = c->has_data ? workload_needs(c->dag, task) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t producer, object = workload_need(c->dag, task, i, &producer);
        double bytes = object == NONE ? 0 : workload_size(c->dag, object);
        if (!(bytes > 0))
            continue;
        c->result->reads++;
        if (object_owner(c, object, producer) == node) {
            c->result->local_reads++;
            continue;
        }
        c->runs.all.at[run].fetched += bytes;
        if (schedulers_cache_has(&c->nodes[node].cache, object)) {
            /* fetched ahead for this one reader, who has it now */
            if (!node_keeps(c, object))
                schedulers_cache_drop(&c->nodes[node].cache, object, bytes);
            continue;
        }
        uint32_t f = c->config.cache > 0 || workload_read_once(c->dag, object)
                         ? in_flight(c, node, object)
                         : NONE;
        if (f == NONE)
            f = fetch_start(c, node, object, producer, bytes);
        uint32_t w = pool_take(&c->waiters);
        c->waiters.all.at[w] = (struct schedulers_waiter){run, c->fetches.all.at[f].waiters};
        c->fetches.all.at[f].waiters = w;
        c->runs.all.at[run].pending++;
    }
    if (!c->runs.all.at[run].pending)
        schedulers_begin(c, run);
}

/* A question for each input that is not here: its server of the store has one more operation to do. What it
 * knows, it knows now; fetch_start() counts the way there and back. */
void schedulers_data_look(struct schedulers *c, uint32_t node, uint32_t task)
{
    uint32_t asked = 0, n = workload_needs(c->dag, task);
    for (uint32_t i = 0; i < n && asked < SCHED_LOOK_MOST; i++) {
        uint32_t producer, object = workload_need(c->dag, task, i, &producer);
        double bytes = object == NONE ? 0 : workload_size(c->dag, object);
        if (!(bytes > 0) || object_owner(c, object, producer) == node ||
            schedulers_cache_has(&c->nodes[node].cache, object) ||
            in_flight(c, node, object) != NONE)
            continue;
        schedulers_asked(c, node, producer);
        asked++;
        if (producer == NONE || meta_is_complete(c->table.status[producer]))
            fetch_start(c, node, object, producer, bytes);
    }
}

/* Tasks asked for at once; enough for 32 cores of two tasks each. */
#define AHEAD_MOST 64

/* Fetch for tasks that are likely to start here next. They may be stolen: then the transfer was in
 * vain, as it would be in reality. */
void schedulers_data_ahead(struct schedulers *c, uint32_t node)
{
    uint32_t tasks[AHEAD_MOST], most = c->config.prefetch * schedulers_cores(&c->config, node);
    most = sched_upcoming(c->nodes[node].sched, tasks, most < AHEAD_MOST ? most : AHEAD_MOST);
    for (uint32_t k = 0; k < most; k++)
        for (uint32_t i = 0, n = workload_needs(c->dag, tasks[k]); i < n; i++) {
            uint32_t producer, object = workload_need(c->dag, tasks[k], i, &producer);
            double bytes = object == NONE ? 0 : workload_size(c->dag, object);
            if (bytes > 0 && object_owner(c, object, producer) != node &&
                !schedulers_cache_has(&c->nodes[node].cache, object) &&
                in_flight(c, node, object) == NONE)
                fetch_start(c, node, object, producer, bytes);
        }
}
