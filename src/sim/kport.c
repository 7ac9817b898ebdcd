/* The k-port model: every node has k ports, a message holds one at both ends, and a pair of nodes
 * carries one message at a time.
 *
 * Messages of a pair wait in the pair's own queue; only the first of an idle pair is a candidate,
 * and it sits in the queue of one end that has no port left.
 *
 * I1. Between two settlings a node whose candidate queue holds a valid entry is full.
 * I2. A pair has at most one valid entry in all node queues: `version` makes older ones stale.
 * I3. used[node] is the number of busy pairs of the node, and never above ports[node].
 *
 * So freeing a port costs O(log n) for each candidate inspected, however many messages wait. */
#include "base/array.h"
#include "sim/network_model.h"
#include "sim/pairmap.h"
#include "sim/queue.h"

struct kport_pair {
    uint32_t a, b;
    struct queue waiting; /* messages by (priority, order) */
    uint32_t version;     /* entries of node queues with another version are stale */
    bool busy, touched;   /* touched: listed for the next settling */
};

struct kport_network {
    struct network base;
    uint32_t *ports; /* per node */
    uint32_t *used;
    struct queue *candidates; /* per node: pairs (version << 32 | pair) blocked by this node */
    struct queue arrivals;
    struct pairmap map;
    ARRAY(struct kport_pair) pairs;
    ARRAY(uint32_t) touched; /* pairs with a new first message or just idle */
    ARRAY(uint32_t) freed;   /* nodes that gave back a port */
    struct queue round;      /* during settling: the best candidate of each freed node */
};

/* `ports` of every node, or each node's own; 0 there is no limit. */
static struct network *kport_create(const struct platform *p, uint32_t ports)
{
    struct kport_network *k = mem_new_zero(struct kport_network, 1);
    k->ports = mem_new(uint32_t, p->nnodes);
    for (uint32_t i = 0; i < p->nnodes; i++) {
        uint32_t own = ports ? ports : platform_ports(p, i);
        k->ports[i] = own ? own : UINT32_MAX;
    }
    k->used = mem_new_zero(uint32_t, p->nnodes);
    k->candidates = mem_new_zero(struct queue, p->nnodes);
    return &k->base;
}

static void kport_destroy(struct network *n)
{
    struct kport_network *k = (struct kport_network *)n;
    for (uint32_t i = 0; i < n->platform->nnodes; i++)
        queue_free(&k->candidates[i]);
    for (size_t i = 0; i < k->pairs.n; i++)
        queue_free(&k->pairs.at[i].waiting);
    free(k->ports);
    free(k->used);
    free(k->candidates);
    queue_free(&k->arrivals);
    queue_free(&k->round);
    pairmap_free(&k->map);
    array_free(&k->pairs);
    array_free(&k->touched);
    array_free(&k->freed);
}

/* List a pair for the next settling: its first message is new, or it has just become idle. */
static void kport_touch_pair(struct kport_network *k, uint32_t pair)
{
    if (!k->pairs.at[pair].touched) {
        k->pairs.at[pair].touched = true;
        array_push(&k->touched, pair);
    }
    k->base.unsettled = true;
}

/* Pairs are unordered: a port serves both directions. A message behind others changes nothing now.
 */
static void kport_send(struct network *n, double now, uint32_t message)
{
    (void)now;
    struct kport_network *k = (struct kport_network *)n;
    struct network_message *m = &n->message[message];
    uint32_t a = m->from < m->to ? m->from : m->to, b = m->from < m->to ? m->to : m->from;
    uint32_t id = pairmap_number(&k->map, a, b);
    if (id == k->pairs.n)
        array_push(&k->pairs, (struct kport_pair){.a = a, .b = b});
    struct kport_pair *pair = &k->pairs.at[id];
    m->group = id;
    queue_push(&pair->waiting, m->priority, m->order, message);
    if (!pair->busy && pair->waiting.at[0].value == message)
        kport_touch_pair(k, id);
}

/* The first message of a pair that has not been cancelled; NONE: none. */
static uint32_t first_message(struct network *n, struct kport_pair *pair)
{
    while (pair->waiting.n) {
        uint32_t m = (uint32_t)pair->waiting.at[0].value;
        if (n->message[m].state != MESSAGE_DEAD)
            return m;
        queue_pop(&pair->waiting);
        network_recycle(n, m);
    }
    return NONE;
}

/* Enter the pair's first message at `node`. */
static void kport_enlist_pair(struct kport_network *k, uint32_t id, uint32_t node)
{
    struct kport_pair *pair = &k->pairs.at[id];
    pair->version++;
    const struct queue_item *head = queue_peek(&pair->waiting);
    if (!head)
        return;
    queue_push(&k->candidates[node], head->key, head->order, (uint64_t)pair->version << 32 | id);
}

/* The first valid candidate that waits for this node; stale ones are thrown away on the way, each
 * once. */
static const struct queue_item *best_candidate(struct kport_network *k, uint32_t node)
{
    struct queue *q = &k->candidates[node];
    while (q->n) {
        struct kport_pair *pair = &k->pairs.at[(uint32_t)q->at[0].value];
        if (pair->version == (uint32_t)(q->at[0].value >> 32))
            return q->at;
        queue_pop(q);
    }
    return NULL;
}

static bool has_port(const struct kport_network *k, uint32_t node)
{
    return k->used[node] < k->ports[node];
}

/* Enter a node with a free port into the round, under the rank of its best candidate. */
static void kport_offer_pair(struct kport_network *k, uint32_t node)
{
    const struct queue_item *best = has_port(k, node) ? best_candidate(k, node) : NULL;
    if (best)
        queue_push(&k->round, best->key, best->order, node);
}

/* Both ends have a port: the message holds them until it arrives. */
static void kport_start_message(struct kport_network *k, double now, uint32_t id)
{
    struct network *n = &k->base;
    struct kport_pair *pair = &k->pairs.at[id];
    uint32_t message = (uint32_t)queue_pop(&pair->waiting).value;
    struct network_message *m = &n->message[message];
    m->state = MESSAGE_MOVING;
    m->start = now;
    pair->busy = true;
    pair->version++;
    k->used[pair->a]++;
    k->used[pair->b]++;
    queue_push(&k->arrivals, now + platform_transfer(n->platform, m->from, m->to, m->bytes),
               m->order, message);
}

/* Give out the ports that became free in this instant, best message first over all nodes, so that
 * the result does not depend on the order of events within the instant. */
static void kport_settle(struct network *n, double now)
{
    struct kport_network *k = (struct kport_network *)n;
    for (size_t i = 0; i < k->touched.n; i++) {
        uint32_t id = k->touched.at[i];
        struct kport_pair *pair = &k->pairs.at[id];
        pair->touched = false;
        if (pair->busy || first_message(n, pair) == NONE)
            continue;
        kport_enlist_pair(k, id, pair->a);
        array_push(&k->freed, pair->a);
    }
    k->touched.n = 0;
    /* Of all candidates at nodes with a port left, the best goes first; one whose other end is full
     * moves there. */
    for (size_t i = 0; i < k->freed.n; i++)
        kport_offer_pair(k, k->freed.at[i]);
    k->freed.n = 0;
    while (k->round.n) {
        struct queue_item turn = queue_pop(&k->round);
        uint32_t node = (uint32_t)turn.value;
        const struct queue_item *best = has_port(k, node) ? best_candidate(k, node) : NULL;
        if (!best || best->order != turn.order)
            continue; /* a node is listed twice; its present best is listed too */
        uint32_t id = (uint32_t)queue_pop(&k->candidates[node]).value;
        struct kport_pair *pair = &k->pairs.at[id];
        uint32_t other = pair->a == node ? pair->b : pair->a;
        if (first_message(n, pair) != NONE) {
            if (has_port(k, other))
                kport_start_message(k, now, id);
            else
                kport_enlist_pair(k, id, other);
        }
        kport_offer_pair(k, node);
    }
}

/* Cancelled messages that were moving have given their ports back already; they are only forgotten
 * here. */
static double kport_next(struct network *n)
{
    struct kport_network *k = (struct kport_network *)n;
    while (k->arrivals.n && n->message[k->arrivals.at[0].value].state == MESSAGE_DEAD)
        network_recycle(n, (uint32_t)queue_pop(&k->arrivals).value);
    return k->arrivals.n ? k->arrivals.at[0].key : INFINITY;
}

/* Both ends may now take somebody else, and the pair its own next message. */
static void kport_release_ports(struct kport_network *k, uint32_t id)
{
    struct kport_pair *pair = &k->pairs.at[id];
    pair->busy = false;
    k->used[pair->a]--;
    k->used[pair->b]--;
    array_push(&k->freed, pair->a);
    array_push(&k->freed, pair->b);
    kport_touch_pair(k, id);
}

static bool kport_step(struct network *n, double now, struct network_message *out)
{
    struct kport_network *k = (struct kport_network *)n;
    uint32_t message = (uint32_t)queue_pop(&k->arrivals).value;
    uint32_t pair = n->message[message].group;
    network_deliver(n, now, message, out);
    kport_release_ports(k, pair);
    return true;
}

static void kport_cancel(struct network *n, double now, uint32_t message)
{
    (void)now;
    struct kport_network *k = (struct kport_network *)n;
    struct network_message *m = &n->message[message];
    if (m->state == MESSAGE_MOVING)
        kport_release_ports(k, m->group);
    else
        kport_touch_pair(k, m->group); /* its entry may stand for a message that is gone */
}

const struct network_ops network_kport_ops = {
    .name = "kport",
    .summary = "at most k partners at once per node, one message at a time per pair",
    .create = kport_create,
    .destroy = kport_destroy,
    .send = kport_send,
    .next = kport_next,
    .step = kport_step,
    .settle = kport_settle,
    .cancel = kport_cancel,
};
