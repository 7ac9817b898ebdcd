/* Slots for transfers: lists of busy blocks for each channel of a cluster and each link between
 * two.
 *
 *     channel 0   [====A====]      [==B==]           blocks that touch are joined,
 *     channel 1        [====C====]                   so the lists stay short
 *     link a-b    [====A====]
 *                      ^ the earliest start at which the link and one channel of each end are idle
 *
 * A slot is found by going round link, sender and receiver until none of them moves the start any
 * further. Comparisons allow for a hair, 1e-12 of the time: sums of durations touch without being
 * equal. Not for several threads: each has its own stream_work. */
#include "model/stream_slots.h"

/* ---- links by pair ---- */

/* Their pairs fit into the processor's second cache: 128 kB. */
enum { NEAR_CLUSTERS = 128 };

/* Doubles the table of pairs. Entries of an earlier epoch are dead: clearing the table is adding
 * one to the epoch. */
static void grow_pairs(struct stream_work *work)
{
    uint64_t *pair = work->pair;
    uint32_t *link = work->pair_link, *epoch = work->pair_epoch, old = pair ? work->mask + 1 : 0;
    uint32_t size = old ? old * 2 : 64;
    work->pair = mem_new(uint64_t, size);
    work->pair_link = mem_new(uint32_t, size);
    work->pair_epoch = mem_new_zero(uint32_t, size);
    work->mask = size - 1;
    for (uint32_t i = 0; i < old; i++) {
        if (epoch[i] != work->epoch)
            continue;
        uint32_t at = (uint32_t)(pair[i] * 0x9e3779b97f4a7c15u >> 40) & work->mask;
        while (work->pair_epoch[at] == work->epoch)
            at = (at + 1) & work->mask;
        work->pair[at] = pair[i];
        work->pair_link[at] = link[i];
        work->pair_epoch[at] = work->epoch;
    }
    free(pair);
    free(link);
    free(epoch);
}

/* Links are reused with the memory of their lists. */
static uint32_t new_link(struct stream_work *work)
{
    if (work->links.n == work->links_made) {
        array_push(&work->links, (struct stream_link){.message = NONE});
        work->links_made++;
        return (uint32_t)work->links.n - 1;
    }
    struct stream_link *l = &work->links.at[work->links.n++];
    l->busy.n = 0;
    l->busy.last = 0;
    l->channels[0].n = l->channels[1].n = 0;
    l->message = NONE;
    return (uint32_t)work->links.n - 1;
}

/* At most half of the table is full. */
static uint32_t link_of_many(struct stream_work *work, uint32_t a, uint32_t b)
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    if ((work->links.n + 1) * 2 > work->mask)
        grow_pairs(work);
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & work->mask;
    while (work->pair_epoch[at] == work->epoch) {
        if (work->pair[at] == key)
            return work->pair_link[at];
        at = (at + 1) & work->mask;
    }
    work->pair[at] = key;
    work->pair_epoch[at] = work->epoch;
    return work->pair_link[at] = new_link(work);
}

static inline uint32_t slots_link(struct stream_work *work, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (high >= NEAR_CLUSTERS)
        return link_of_many(work, a, b);
    struct stream_near *n = &work->near[low * NEAR_CLUSTERS + high];
    if (n->epoch != work->epoch)
        *n = (struct stream_near){work->epoch, new_link(work)};
    return n->link;
}

uint32_t stream_slots_link(struct stream_work *work, uint32_t a, uint32_t b)
{
    return slots_link(work, a, b);
}

void stream_slots_clear_side(struct stream_work *work, uint32_t cluster)
{
    struct stream_side *side = &work->sides[cluster];
    for (size_t i = 0; i < side->lanes.n; i++) {
        side->lanes.at[i].busy.n = 0;
        side->lanes.at[i].busy.last = 0;
        side->lanes.at[i].message = NONE;
    }
}

void stream_slots_clear(struct stream_work *work, uint32_t nclusters)
{
    for (uint32_t c = 0; c < nclusters; c++)
        stream_slots_clear_side(work, c);
    stream_slots_clear_links(work);
}

/* After 2^32 estimates the epoch comes round: then the table is really cleared. */
void stream_slots_clear_links(struct stream_work *work)
{
    work->links.n = 0;
    work->journal.n = 0;
    if (!work->near)
        work->near = mem_new_zero(struct stream_near, (size_t)NEAR_CLUSTERS * NEAR_CLUSTERS);
    if (++work->epoch == 0) {
        if (work->pair)
            memset(work->pair_epoch, 0, ((size_t)work->mask + 1) * sizeof(uint32_t));
        memset(work->near, 0, sizeof *work->near * NEAR_CLUSTERS * NEAR_CLUSTERS);
        work->epoch = 1;
    }
}

void stream_slots_free(struct stream_work *work)
{
    for (uint32_t c = 0; c < work->nsides; c++) {
        for (size_t i = 0; i < work->sides[c].lanes.n; i++)
            free(work->sides[c].lanes.at[i].busy.at);
        array_free(&work->sides[c].lanes);
    }
    for (size_t i = 0; i < work->links_made; i++) {
        free(work->links.at[i].busy.at);
        array_free(&work->links.at[i].channels[0]);
        array_free(&work->links.at[i].channels[1]);
    }
    array_free(&work->links);
    array_free(&work->journal);
    free(work->near);
    free(work->pair);
    free(work->pair_link);
    free(work->pair_epoch);
}

/* ---- searching ---- */

enum { FEW_BLOCKS = 8 };

/* The first block that ends after `time`. */
static uint32_t first_after(const struct stream_blocks *list, double time)
{
    uint32_t low = 0, high = list->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (list->at[middle].finish > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* A time to look at: blocks that end before `from` or begin after `to` do not matter. A hair's breadth
 * of overlap is rounding. */
struct slots_span {
    double start, from, to;
};

static inline struct slots_span slots_span(double start, double duration)
{
    double finish = start + duration, hair = 1e-12 * finish;
    return (struct slots_span){start, start + hair, finish - hair};
}

/* next_idle() of a list that is not idle for good from the start on. */
static inline double idle_between(const struct stream_blocks *list, struct slots_span span,
                                  double duration)
{
    const struct stream_block *b = list->at, *end = b + list->n;
    /* few blocks are passed by quicker than halved */
    if (list->n > FEW_BLOCKS)
        b += first_after(list, span.start);
    for (; b < end; b++) {
        if (b->finish <= span.from)
            continue;
        if (b->start >= span.to)
            break;
        span = slots_span(b->finish, duration);
    }
    return span.start;
}

/* The earliest start from this one on at which the list is idle for `duration`. */
static inline double next_idle(const struct stream_blocks *list, struct slots_span span,
                               double duration)
{
    return list->last <= span.start ? span.start : idle_between(list, span, duration);
}

/* Is it idle then? The same as next_idle() == start, without the way on. */
static inline bool is_idle(const struct stream_blocks *list, struct slots_span span)
{
    if (list->last <= span.start)
        return true;
    uint32_t i = list->n > FEW_BLOCKS ? first_after(list, span.start) : 0, n = list->n;
    while (i < n && list->at[i].finish <= span.from)
        i++;
    return i == n || list->at[i].start >= span.to;
}

/* The same for the best of a cluster's channels: the first `ports` of them, or any number. *first:
 * the lowest that is idle at the start; NONE: not known. (Of a later start the one that brought it
 * need not be the lowest: others may be idle but for a hair.) */
static inline double next_side(const struct stream_side *side, struct slots_span span,
                               double duration, uint32_t ports, uint32_t *first)
{
    const struct stream_lane *lanes = side->lanes.at;
    double best = INFINITY;
    *first = NONE;
    if (!ports || side->lanes.n < ports)
        return span.start;
    for (uint32_t i = 0; i < ports; i++) {
        double idle = next_idle(&lanes[i].busy, span, duration);
        if (idle == span.start) {
            *first = i;
            return idle;
        }
        best = idle < best ? idle : best;
    }
    return best;
}

/* The lowest idle channel that already carries this link, else the lowest idle one: `first`, where
 * next_side() has found it. */
static inline uint32_t choose_channel(const struct stream_side *side, const uint32_t *carriers,
                                      size_t count, uint32_t first, struct slots_span span)
{
    const struct stream_lane *lanes = side->lanes.at;
    uint32_t best = NONE, n = (uint32_t)side->lanes.n;
    for (size_t i = 0; i < count; i++)
        if (carriers[i] < best && (carriers[i] == first || is_idle(&lanes[carriers[i]].busy, span)))
            best = carriers[i];
    if (best != NONE)
        return best;
    if (first != NONE)
        return first;
    for (best = 0; best < n; best++)
        if (is_idle(&lanes[best].busy, span))
            break;
    return best;
}

/* Link, sender and receiver: each confirms the start, or moves it and is asked again after the
 * others. Ends, because each round moves the start to the end of some block, and there are finitely
 * many. */
static inline struct stream_slot slots_search(const struct stream_work *work, uint32_t a,
                                              uint32_t b, uint32_t link_number, double ready,
                                              double duration)
{
    const struct stream_side *x = &work->sides[a], *y = &work->sides[b];
    const struct stream_link *link = &work->links.at[link_number];
    uint32_t first[2] = {NONE, NONE}, confirmed = 0;
    struct slots_span span = slots_span(ready, duration);
    for (uint32_t turn = 0;; turn = turn == 2 ? 0 : turn + 1) {
        double start = turn == 0   ? next_idle(&link->busy, span, duration)
                       : turn == 1 ? next_side(x, span, duration, work->limit[a], &first[0])
                                   : next_side(y, span, duration, work->limit[b], &first[1]);
        confirmed++;
        if (start != span.start) {
            confirmed = 1;
            span = slots_span(start, duration);
        }
        if (confirmed == 3)
            break;
    }
    return (struct stream_slot){
        .start = span.start,
        .link = link_number,
        .from_channel =
            choose_channel(x, link->channels[a > b].at, link->channels[a > b].n, first[0], span),
        .to_channel =
            choose_channel(y, link->channels[a < b].at, link->channels[a < b].n, first[1], span)};
}

struct stream_slot stream_slot_find(struct stream_work *work, uint32_t a, uint32_t b, double ready,
                                    double duration)
{
    return slots_search(work, a, b, slots_link(work, a, b), ready, duration);
}

/* ---- booking ---- */

static void slots_grow(struct stream_blocks *list)
{
    list->cap = list->cap ? list->cap * 2 : 8;
    list->at = mem_resize(list->at, list->cap);
}

/* Insert a block, joined with those it touches. The list was idle there. `undo` (may be NULL) gets
 * what taking it back needs. */
static void slots_insert_between(struct stream_blocks *list, double start, double finish,
                                 struct stream_undo *undo)
{
    uint32_t at = first_after(list, start);
    double hair = 1e-12 * finish;
    if (at < list->n && list->at[at].start <= start)
        at++; /* overlaps by a hair */
    bool left = at && list->at[at - 1].finish >= start - hair;
    bool right = at < list->n && list->at[at].start <= finish + hair;
    uint32_t first = at - left, removed = (uint32_t)left + right;
    if (undo) {
        *undo = (struct stream_undo){.side = NONE, .at = first, .removed = removed};
        for (uint32_t i = 0; i < removed; i++)
            undo->old[i] = list->at[first + i];
    }
    /* fmin() and fmax() of the library are calls, and every transfer of every estimate comes here */
    if (left && list->at[at - 1].start < start)
        start = list->at[at - 1].start;
    if (right && list->at[at].finish > finish)
        finish = list->at[at].finish;
    if (left && list->at[at - 1].finish > finish)
        finish = list->at[at - 1].finish;
    if (!removed) {
        if (list->n == list->cap)
            slots_grow(list);
        memmove(list->at + at + 1, list->at + at, (list->n - at) * sizeof *list->at);
        list->n++;
    } else if (removed == 2) {
        memmove(list->at + at, list->at + at + 1, (list->n - 1 - at) * sizeof *list->at);
        list->n--;
    }
    list->at[first] = (struct stream_block){start, finish};
    list->last = list->at[list->n - 1].finish;
}

/* The same. Most blocks come behind all others: then there is nothing to search for. */
static inline void slots_insert_block(struct stream_blocks *list, double start, double finish)
{
    uint32_t n = list->n;
    if (list->last > start) {
        slots_insert_between(list, start, finish, NULL);
        return;
    }
    if (n && list->last >= start - 1e-12 * finish) {
        list->at[n - 1].finish = finish;
    } else {
        if (n == list->cap)
            slots_grow(list);
        list->at[n] = (struct stream_block){start, finish};
        list->n = n + 1;
    }
    list->last = finish;
}

/* `message` is the last one by number, not by time: predecessors are asked in the order of
 * booking. Returns the one before it. */
static inline uint32_t slots_last_message(uint32_t *last, uint32_t message)
{
    uint32_t before = *last;
    if (before == NONE || before < message)
        *last = message;
    return before;
}

static void slots_add_lanes(struct stream_side *side, uint32_t count)
{
    while (side->lanes.n < count)
        array_push(&side->lanes, (struct stream_lane){.message = NONE});
}

static inline struct stream_lane *slots_lane(struct stream_work *work, uint32_t cluster,
                                             uint32_t channel)
{
    struct stream_side *side = &work->sides[cluster];
    if (side->lanes.n <= channel)
        slots_add_lanes(side, channel + 1);
    return &side->lanes.at[channel];
}

void stream_slot_book_side(struct stream_work *work, uint32_t cluster, uint32_t channel,
                           double start, double finish, uint32_t message)
{
    struct stream_lane *lane = slots_lane(work, cluster, channel);
    slots_last_message(&lane->message, message);
    if (!work->journaling) {
        slots_insert_block(&lane->busy, start, finish);
        return;
    }
    struct stream_undo undo;
    slots_insert_between(&lane->busy, start, finish, &undo);
    undo.side = cluster;
    undo.channel = channel;
    array_push(&work->journal, undo);
}

/* Lists of a handful of channels. */
static bool slots_list_holds(const uint32_t *list, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* Notes which channels carry this link: the next message prefers them. */
static inline void slots_note_carriers(struct stream_link *link, uint32_t a, uint32_t b,
                                       const struct stream_slot *slot)
{
    uint32_t ends[2] = {a < b ? slot->from_channel : slot->to_channel,
                        a < b ? slot->to_channel : slot->from_channel};
    for (int k = 0; k < 2; k++)
        if (!slots_list_holds(link->channels[k].at, link->channels[k].n, ends[k]))
            array_push(&link->channels[k], ends[k]);
}

void stream_slot_book_link(struct stream_work *work, uint32_t a, uint32_t b,
                           const struct stream_slot *slot, double duration, uint32_t message)
{
    struct stream_link *link = &work->links.at[slot->link];
    double finish = slot->start + duration;
    if (work->journaling) {
        struct stream_undo undo;
        slots_insert_between(&link->busy, slot->start, finish, &undo);
        undo.link = slot->link;
        undo.channels[0] = (uint32_t)link->channels[0].n;
        undo.channels[1] = (uint32_t)link->channels[1].n;
        array_push(&work->journal, undo);
    } else {
        slots_insert_block(&link->busy, slot->start, finish);
    }
    slots_last_message(&link->message, message);
    slots_note_carriers(link, a, b, slot);
}

struct stream_slot stream_slot_take(struct stream_work *work, uint32_t a, uint32_t b,
                                    double duration, uint32_t message,
                                    struct stream_forerunners *before)
{
    uint32_t number = slots_link(work, a, b);
    struct stream_slot slot = slots_search(work, a, b, number, 0, duration);
    struct stream_link *link = &work->links.at[number];
    struct stream_lane *from = slots_lane(work, a, slot.from_channel),
                       *to = slots_lane(work, b, slot.to_channel);
    double finish = slot.start + duration;
    slots_insert_block(&link->busy, slot.start, finish);
    slots_insert_block(&from->busy, slot.start, finish);
    slots_insert_block(&to->busy, slot.start, finish);
    slots_note_carriers(link, a, b, &slot);
    *before = (struct stream_forerunners){slots_last_message(&link->message, message),
                                          slots_last_message(&from->message, message),
                                          slots_last_message(&to->message, message)};
    return slot;
}

void stream_slot_book(struct stream_work *work, uint32_t a, uint32_t b,
                      const struct stream_slot *slot, double duration, uint32_t message)
{
    double finish = slot->start + duration;
    stream_slot_book_link(work, a, b, slot, duration, message);
    stream_slot_book_side(work, a, slot->from_channel, slot->start, finish, message);
    stream_slot_book_side(work, b, slot->to_channel, slot->start, finish, message);
}

/* In reverse order of booking, so that places in the lists are those of the moment they were
 * noted. */
void stream_slots_undo(struct stream_work *work, size_t mark)
{
    while (work->journal.n > mark) {
        struct stream_undo *u = &work->journal.at[--work->journal.n];
        bool of_link = u->side == NONE;
        struct stream_blocks *list = of_link ? &work->links.at[u->link].busy
                                             : &work->sides[u->side].lanes.at[u->channel].busy;
        if (of_link) {
            work->links.at[u->link].channels[0].n = u->channels[0];
            work->links.at[u->link].channels[1].n = u->channels[1];
        }
        if (!u->removed) {
            memmove(list->at + u->at, list->at + u->at + 1,
                    (list->n - 1 - u->at) * sizeof *list->at);
            list->n--;
        } else if (u->removed == 2) {
            if (list->n == list->cap)
                slots_grow(list);
            memmove(list->at + u->at + 1, list->at + u->at, (list->n - u->at) * sizeof *list->at);
            list->n++;
        }
        for (uint32_t i = 0; i < u->removed; i++)
            list->at[u->at + i] = u->old[i];
        list->last = list->n ? list->at[list->n - 1].finish : 0;
    }
}
