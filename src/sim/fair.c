/* Max-min fair sharing of uplinks and downlinks.
 *
 * All messages of one ordered pair of nodes meet the same limits, so they move at the same rate:
 * they form a class. A class counts the bytes that each of its messages has received since it
 * became busy (`served`); a message is done when that count reaches the value it had on joining
 * plus its size. A change therefore costs nothing per message, only a new rate for the classes of
 * the connected component (classes joined by a shared uplink or downlink) in which something came
 * or went, once an instant.
 *
 * Rates by progressive filling: the tightest limit (what is left of it / messages not yet fixed on
 * it) fixes its messages, and so on. A limit's share never falls while others are fixed, so a lazy
 * queue finds the tightest in O(log). */
#include "base/array.h"
#include "sim/network_model.h"
#include "sim/pairmap.h"
#include "sim/queue.h"

struct class
{
    uint32_t from, to;
    double limit; /* of the pair, bytes a second */
    double latency;
    /* while busy */
    struct queue messages; /* by `served` at which they are done */
    uint32_t live;         /* messages that are not cancelled */
    double served, since, rate;
    double due;
    uint32_t heap_place; /* in `due` heap, NONE: not there */
    uint32_t index[2];   /* where it stands in the lists of its two sides */
    bool fixed, visited;
};

/* An uplink (node) or a downlink (nnodes + node). */
struct fair_side {
    double capacity;
    ARRAY(uint32_t) classes; /* busy ones */
    bool visited, dirty;
    /* during filling */
    double left;
    uint64_t open; /* messages without a rate */
};

struct fair_network {
    struct network base;
    uint32_t nsides;
    struct fair_side *sides;
    struct pairmap map;
    ARRAY(struct class) classes;
    struct queue latency;  /* messages whose latency passes */
    ARRAY(uint32_t) heap;  /* busy classes by `due`, then number */
    ARRAY(uint32_t) dirty; /* sides where something came or went */
    ARRAY(uint32_t) part_sides, part_classes;
    struct queue filling;
};

/* Ports mean nothing here: sharing takes their place. */
static struct network *fair_create(const struct platform *p, uint32_t ports)
{
    (void)ports;
    struct fair_network *f = mem_new_zero(struct fair_network, 1);
    f->nsides = 2 * p->nnodes;
    f->sides = mem_new_zero(struct fair_side, f->nsides);
    /* As fast as its fastest pair. The network's own bandwidth counts unless every pair of the node
     * is listed. */
    uint32_t *listed = mem_new_zero(uint32_t, p->nnodes);
    for (size_t i = 0; i < p->nlinks; i++) {
        const struct platform_link *link = &p->links[i];
        uint32_t ends[2] = {link->a, link->b};
        for (int e = 0; e < 2; e++) {
            listed[ends[e]]++;
            if (f->sides[ends[e]].capacity < link->bandwidth)
                f->sides[ends[e]].capacity = link->bandwidth;
        }
    }
    for (uint32_t i = 0; i < p->nnodes; i++) {
        if (listed[i] + 1 < p->nnodes && f->sides[i].capacity < p->bandwidth)
            f->sides[i].capacity = p->bandwidth;
        f->sides[p->nnodes + i].capacity = f->sides[i].capacity;
    }
    free(listed);
    return &f->base;
}

static void fair_destroy(struct network *n)
{
    struct fair_network *f = (struct fair_network *)n;
    for (uint32_t i = 0; i < f->nsides; i++)
        array_free(&f->sides[i].classes);
    free(f->sides);
    for (size_t i = 0; i < f->classes.n; i++)
        queue_free(&f->classes.at[i].messages);
    pairmap_free(&f->map);
    array_free(&f->classes);
    queue_free(&f->latency);
    array_free(&f->heap);
    array_free(&f->dirty);
    array_free(&f->part_sides);
    array_free(&f->part_classes);
    queue_free(&f->filling);
}

/* ---- the heap of classes by the time of their next arrival ---- */

/* Equal times are taken in the order of class numbers, that is of first use: repeatable. */
static bool due_before(const struct fair_network *f, uint32_t a, uint32_t b)
{
    double x = f->classes.at[a].due, y = f->classes.at[b].due;
    return x < y || (x == y && a < b);
}

static void heap_put(struct fair_network *f, size_t place, uint32_t class)
{
    f->heap.at[place] = class;
    f->classes.at[class].heap_place = (uint32_t)place;
}

/* Restore the heap around place i after its class became earlier or later. */
static void heap_fix(struct fair_network *f, size_t i)
{
    uint32_t class = f->heap.at[i];
    while (i > 0 && due_before(f, class, f->heap.at[(i - 1) / 2])) {
        heap_put(f, i, f->heap.at[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= f->heap.n)
            break;
        if (child + 1 < f->heap.n && due_before(f, f->heap.at[child + 1], f->heap.at[child]))
            child++;
        if (!due_before(f, f->heap.at[child], class))
            break;
        heap_put(f, i, f->heap.at[child]);
        i = child;
    }
    heap_put(f, i, class);
}

static void heap_remove(struct fair_network *f, uint32_t class)
{
    uint32_t place = f->classes.at[class].heap_place;
    uint32_t last = array_pop(&f->heap);
    f->classes.at[class].heap_place = NONE;
    if (last != class) {
        heap_put(f, place, last);
        heap_fix(f, place);
    }
}

/* ---- classes ---- */

/* Something came or went at this side: its component needs new rates at the end of the instant. */
static void side_mark(struct fair_network *f, uint32_t side)
{
    f->base.unsettled = true;
    if (!f->sides[side].dirty) {
        f->sides[side].dirty = true;
        array_push(&f->dirty, side);
    }
}

/* Index of a class's uplink (end 0) or downlink (end 1) among the sides. */
static uint32_t side_of(const struct fair_network *f, const struct class *c, int end)
{
    return end == 0 ? c->from : f->nsides / 2 + c->to;
}

static void mark_both(struct fair_network *f, uint32_t id)
{
    side_mark(f, side_of(f, &f->classes.at[id], 0));
    side_mark(f, side_of(f, &f->classes.at[id], 1));
}

/* Classes are made on first use and stay: a pair that talked once will talk again. */
static uint32_t class_of(struct fair_network *f, uint32_t from, uint32_t to)
{
    uint32_t id = pairmap_number(&f->map, from, to);
    if (id == f->classes.n) {
        struct class c = {.from = from, .to = to, .heap_place = NONE};
        platform_link(f->base.platform, from, to, &c.limit, &c.latency);
        array_push(&f->classes, c);
    }
    return id;
}

/* Count what the class received since the last change of its rate. Must be called before any change
 * of rate, and before a message joins or leaves. */
static void bring_up_to_date(struct class *c, double now)
{
    if (c->rate > 0 && now > c->since)
        c->served += (now - c->since) * c->rate;
    c->since = now;
}

/* Enter a class that became busy into the lists of its two sides; class_leave() takes it out in
 * O(1), by the places remembered in `index`. */
static void class_enter(struct fair_network *f, uint32_t id)
{
    for (int end = 0; end < 2; end++) {
        struct fair_side *side = &f->sides[side_of(f, &f->classes.at[id], end)];
        f->classes.at[id].index[end] = (uint32_t)side->classes.n;
        array_push(&side->classes, id);
    }
}

static void class_leave(struct fair_network *f, uint32_t id)
{
    for (int end = 0; end < 2; end++) {
        struct fair_side *side = &f->sides[side_of(f, &f->classes.at[id], end)];
        uint32_t place = f->classes.at[id].index[end], last = array_pop(&side->classes);
        if (last != id) {
            side->classes.at[place] = last;
            f->classes.at[last].index[end] = place;
        }
    }
}

/* Cancelled messages leave a class's queue only when they come to its front. */
static void drop_dead(struct fair_network *f, struct class *c)
{
    struct network *n = &f->base;
    while (c->messages.n && n->message[c->messages.at[0].value].state == MESSAGE_DEAD)
        network_recycle(n, (uint32_t)queue_pop(&c->messages).value);
}

/* When the first message of the class arrives at the present rate. */
static void set_due(struct fair_network *f, uint32_t id)
{
    struct class *c = &f->classes.at[id];
    drop_dead(f, c);
    double left = c->messages.n ? c->messages.at[0].key - c->served : INFINITY;
    c->due = c->since + (left > 0 ? left / c->rate : 0); /* rate 0, not settled yet: INFINITY */
    if (c->heap_place == NONE) {
        array_push(&f->heap, id);
        c->heap_place = (uint32_t)f->heap.n - 1;
    }
    heap_fix(f, c->heap_place);
}

/* The latency of a message is over: it begins to flow. An idle class starts its count anew, which
 * keeps `served` small and so exact. */
static void join_class(struct fair_network *f, double now, uint32_t message)
{
    struct network_message *m = &f->base.message[message];
    struct class *c = &f->classes.at[m->group];
    m->state = MESSAGE_MOVING;
    m->start = now;
    if (c->live++ == 0) {
        drop_dead(f, c);
        if (!c->messages.n)
            c->served = 0;
        c->since = now;
        c->rate = 0;
        class_enter(f, m->group);
    }
    bring_up_to_date(c, now);
    queue_push(&c->messages, c->served + m->bytes, m->order, message);
    set_due(f, m->group);
    mark_both(f, m->group);
}

/* A message arrived or was cancelled. */
static void leave_class(struct fair_network *f, double now, uint32_t id)
{
    struct class *c = &f->classes.at[id];
    bring_up_to_date(c, now);
    if (--c->live == 0) {
        class_leave(f, id);
        heap_remove(f, id);
        c->rate = 0;
    } else
        set_due(f, id);
    mark_both(f, id);
}

/* ---- rates ---- */

static void visit_side(struct fair_network *f, uint32_t side)
{
    if (f->sides[side].visited || f->sides[side].capacity == INFINITY)
        return;
    f->sides[side].visited = true;
    array_push(&f->part_sides, side);
}

/* The classes and sides that the dirty sides can influence. A side without limit joins nobody, but
 * its own changes count. */
static void collect_component(struct fair_network *f)
{
    f->part_sides.n = f->part_classes.n = 0;
    for (size_t i = 0; i < f->dirty.n; i++) {
        uint32_t side = f->dirty.at[i];
        f->sides[side].dirty = false;
        f->sides[side].visited = true;
        array_push(&f->part_sides, side);
    }
    f->dirty.n = 0;
    for (size_t i = 0; i < f->part_sides.n; i++) {
        struct fair_side *side = &f->sides[f->part_sides.at[i]];
        for (size_t j = 0; j < side->classes.n; j++) {
            uint32_t id = side->classes.at[j];
            struct class *c = &f->classes.at[id];
            if (c->visited)
                continue;
            c->visited = true;
            c->fixed = false;
            array_push(&f->part_classes, id);
            visit_side(f, side_of(f, c, 0));
            visit_side(f, side_of(f, c, 1));
        }
    }
}

/* Progressive filling has found the rate of a class: take it off both sides. Rounding may leave a
 * side a little below 0. */
static void fix_rate(struct fair_network *f, double now, uint32_t id, double rate)
{
    struct class *c = &f->classes.at[id];
    c->fixed = true;
    for (int end = 0; end < 2; end++) {
        struct fair_side *side = &f->sides[side_of(f, c, end)];
        side->left -= rate * c->live;
        if (side->left < 0)
            side->left = 0;
        side->open -= c->live;
    }
    if (c->rate != rate) {
        bring_up_to_date(c, now);
        c->rate = rate;
        set_due(f, id);
    }
}

/* What each message without a rate would get of a side now. */
static double side_share(const struct fair_side *side)
{
    return side->open ? side->left / (double)side->open : INFINITY;
}

/* New rates for all components in which something changed in this instant. O(classes of the
 * components x log), nothing for the others. */
static void fair_settle(struct network *n, double now)
{
    struct fair_network *f = (struct fair_network *)n;
    collect_component(f);
    for (size_t i = 0; i < f->part_sides.n; i++) {
        struct fair_side *side = &f->sides[f->part_sides.at[i]];
        side->left = side->capacity;
        side->open = 0;
    }
    for (size_t i = 0; i < f->part_classes.n; i++) {
        const struct class *c = &f->classes.at[f->part_classes.at[i]];
        for (int end = 0; end < 2; end++)
            f->sides[side_of(f, c, end)].open += c->live;
    }
    /* limits in the queue: sides by number, then classes (the pair's own limit) */
    for (size_t i = 0; i < f->part_sides.n; i++) {
        uint32_t s = f->part_sides.at[i];
        if (f->sides[s].capacity < INFINITY)
            queue_push(&f->filling, side_share(&f->sides[s]), s, s);
    }
    for (size_t i = 0; i < f->part_classes.n; i++) {
        uint32_t id = f->part_classes.at[i];
        const struct class *c = &f->classes.at[id];
        if (c->limit < f->sides[side_of(f, c, 0)].capacity ||
            c->limit < f->sides[side_of(f, c, 1)].capacity)
            queue_push(&f->filling, c->limit / c->live, (uint64_t)f->nsides + id,
                       (uint64_t)f->nsides + id);
    }
    /* the tightest limit first; what it fixes loosens, never tightens, the others */
    while (f->filling.n) {
        struct queue_item item = queue_pop(&f->filling);
        if (item.value >= f->nsides) {
            uint32_t id = (uint32_t)(item.value - f->nsides);
            if (!f->classes.at[id].fixed)
                fix_rate(f, now, id, item.key);
            continue;
        }
        struct fair_side *side = &f->sides[item.value];
        if (!side->open)
            continue;
        double present = side_share(side);
        if (present > item.key) { /* grew since it was entered */
            queue_push(&f->filling, present, item.order, item.value);
            continue;
        }
        for (size_t j = 0; j < side->classes.n; j++)
            if (!f->classes.at[side->classes.at[j]].fixed)
                fix_rate(f, now, side->classes.at[j], item.key);
    }
    for (size_t i = 0; i < f->part_sides.n; i++)
        f->sides[f->part_sides.at[i]].visited = false;
    for (size_t i = 0; i < f->part_classes.n; i++)
        f->classes.at[f->part_classes.at[i]].visited = false;
}

/* ---- the model ---- */

static void fair_send(struct network *n, double now, uint32_t message)
{
    struct fair_network *f = (struct fair_network *)n;
    struct network_message *m = &n->message[message];
    m->group = class_of(f, m->from, m->to);
    queue_push(&f->latency, now + f->classes.at[m->group].latency, m->order, message);
}

/* The next thing to happen: a latency is over, or a message has all its bytes. */
static double fair_next(struct network *n)
{
    struct fair_network *f = (struct fair_network *)n;
    while (f->latency.n && n->message[f->latency.at[0].value].state == MESSAGE_DEAD)
        network_recycle(n, (uint32_t)queue_pop(&f->latency).value);
    double first = f->latency.n ? f->latency.at[0].key : INFINITY;
    if (f->heap.n && f->classes.at[f->heap.at[0]].due < first)
        first = f->classes.at[f->heap.at[0]].due;
    return first;
}

/* Arrivals before latencies of the same instant: who leaves makes room first. */
static bool fair_step(struct network *n, double now, struct network_message *out)
{
    struct fair_network *f = (struct fair_network *)n;
    if (f->heap.n && f->classes.at[f->heap.at[0]].due <= now) {
        uint32_t id = f->heap.at[0];
        struct class *c = &f->classes.at[id];
        struct queue_item item = queue_pop(&c->messages); /* alive: set_due() dropped the dead */
        network_deliver(n, now, (uint32_t)item.value, out);
        c->served = item.key; /* exactly, whatever rounding says */
        c->since = now;
        leave_class(f, now, id);
        return true;
    }
    uint32_t message = (uint32_t)queue_pop(&f->latency).value;
    struct network_message *m = &n->message[message];
    const struct class *c = &f->classes.at[m->group];
    bool unlimited = c->limit == INFINITY && f->sides[c->from].capacity == INFINITY &&
                     f->sides[f->nsides / 2 + c->to].capacity == INFINITY;
    if (m->bytes == 0 || unlimited) {
        m->start = m->asked;
        network_deliver(n, now, message, out);
        return true;
    }
    join_class(f, now, message);
    return false;
}

static void fair_cancel(struct network *n, double now, uint32_t message)
{
    struct fair_network *f = (struct fair_network *)n;
    struct network_message *m = &n->message[message];
    if (m->state == MESSAGE_MOVING) {
        m->state =
            MESSAGE_DEAD; /* so that the next arrival of the class is looked for among the others */
        leave_class(f, now, m->group);
    }
}

const struct network_ops network_fair_ops = {
    .name = "fair",
    .summary = "max-min fair sharing of every node's uplink and downlink",
    .create = fair_create,
    .destroy = fair_destroy,
    .send = fair_send,
    .next = fair_next,
    .step = fair_step,
    .settle = fair_settle,
    .cancel = fair_cancel,
};
