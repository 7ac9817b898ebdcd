/* Booking of transfers under a port limit; ports.h says the rules.
 *
 * One timeline a channel, nnodes x limit of them, and one for every pair of nodes that has talked
 * (made on first use: of a thousand nodes few pairs do). A transfer needs a time at which a channel
 * of the sender, a channel of the receiver and the pair are idle together: each in turn is asked
 * for the earliest from the others' answer on, until nobody moves it. Every round moves the start
 * to the end of some booking, so this ends.
 *
 * Gaps shorter than DBL_MIN are not kept: a transfer without bytes takes no channel. */
#include "plan/list/ports.h"
#include "base/pool.h"
#include <math.h>

/* Channels of a node; 0: it has more than there are partners. */
static uint32_t channels_of(const struct platform *platform, uint32_t node)
{
    uint32_t ports = platform_ports(platform, node);
    return ports < platform->nnodes - 1 ? ports : 0;
}

void ports_init(struct ports *p, const struct platform *platform)
{
    uint32_t nnodes = platform->nnodes;
    *p = (struct ports){.platform = platform, .nnodes = nnodes, .single = true};
    for (uint32_t i = 0; i < nnodes; i++) {
        uint32_t channels = channels_of(platform, i);
        p->limit = channels > p->limit ? channels : p->limit;
        p->single &= channels == 1;
    }
    p->channel = mem_new(struct core_timeline, (size_t)nnodes * p->limit);
    p->pair_mask = 63;
    p->pair_key = mem_new_zero(uint64_t, p->pair_mask + 1u);
    p->pair_number = mem_new(uint32_t, p->pair_mask + 1u);
    ports_clear(p);
}

void ports_free(struct ports *p)
{
    timeline_store_free(&p->store);
    free(p->channel);
    free(p->pair_key);
    free(p->pair_number);
    array_free(&p->pairs);
    array_free(&p->journal);
}

void ports_clear(struct ports *p)
{
    timeline_store_clear(&p->store);
    for (size_t i = 0; i < (size_t)p->nnodes * p->limit; i++)
        timeline_init(&p->channel[i], DBL_MIN);
    for (size_t i = 0; i < p->pairs.n; i++)
        timeline_init(&p->pairs.at[i], DBL_MIN);
    p->journal.n = 0;
    p->journaling = false;
}

/* Linear probing; the table is at most half full. Keys are pair + 1, 0 is free. */
static uint32_t pair_slot(const struct ports *p, uint64_t key)
{
    uint32_t i = (uint32_t)hash_bytes(&key, sizeof key) & p->pair_mask;
    while (p->pair_key[i] && p->pair_key[i] != key)
        i = (i + 1) & p->pair_mask;
    return i;
}

/* The number of the pair's timeline, which is made on first sight. */
static uint32_t pair_line(struct ports *p, uint32_t a, uint32_t b)
{
    uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
    uint32_t i = pair_slot(p, key);
    if (p->pair_key[i])
        return p->pair_number[i];
    /* half full: twice the table */
    if (p->pairs.n * 2 > p->pair_mask) {
        uint32_t old_mask = p->pair_mask;
        uint64_t *old_key = p->pair_key;
        uint32_t *old_number = p->pair_number;
        p->pair_mask = old_mask * 2 + 1;
        p->pair_key = mem_new_zero(uint64_t, (size_t)p->pair_mask + 1);
        p->pair_number = mem_new(uint32_t, (size_t)p->pair_mask + 1);
        for (uint32_t k = 0; k <= old_mask; k++)
            if (old_key[k]) {
                uint32_t to = pair_slot(p, old_key[k]);
                p->pair_key[to] = old_key[k];
                p->pair_number[to] = old_number[k];
            }
        free(old_key);
        free(old_number);
        i = pair_slot(p, key);
    }
    p->pair_key[i] = key;
    p->pair_number[i] = (uint32_t)p->pairs.n;
    timeline_init(array_add(&p->pairs), DBL_MIN);
    return p->pair_number[i];
}

/* The channel of the node that is free first; ties: the lowest. */
static double channel_find(const struct ports *p, uint32_t node, double ready, double duration,
                           uint32_t *channel)
{
    uint32_t channels = channels_of(p->platform, node);
    *channel = NONE;
    if (!channels)
        return ready;
    double best = INFINITY;
    for (uint32_t c = 0; c < channels; c++) {
        double start =
            timeline_find(&p->store, &p->channel[(size_t)node * p->limit + c], ready, duration);
        if (start < best) {
            best = start;
            *channel = c;
            if (best == ready)
                break;
        }
    }
    return best;
}

struct ports_slot ports_find(struct ports *p, uint32_t a, uint32_t b, double ready, double duration)
{
    struct ports_slot slot = {.start = ready, .from_channel = NONE, .to_channel = NONE};
    if (duration > 0 && duration < INFINITY) {
        /* With one channel a node talks to one partner at a time anyway. */
        uint32_t line = p->single ? 0 : pair_line(p, a, b); /* may move the pairs */
        const struct core_timeline *pair = p->single ? NULL : &p->pairs.at[line];
        for (double before = -1; slot.start > before;) {
            before = slot.start;
            slot.start = channel_find(p, a, slot.start, duration, &slot.from_channel);
            slot.start = channel_find(p, b, slot.start, duration, &slot.to_channel);
            if (pair)
                slot.start = timeline_find(&p->store, pair, slot.start, duration);
        }
    }
    slot.finish = slot.start + duration;
    return slot;
}

/* `line` is the number under which the journal knows the timeline. */
static void book_line(struct ports *p, struct core_timeline *t, uint32_t line, double start,
                      double finish)
{
    struct timeline_booking done = timeline_book(&p->store, t, start, finish);
    if (p->journaling)
        array_push(&p->journal, (struct ports_booking){done, line});
}

void ports_book(struct ports *p, uint32_t a, uint32_t b, const struct ports_slot *slot)
{
    if (!(slot->finish > slot->start))
        return;
    if (slot->from_channel != NONE) {
        uint32_t from = a * p->limit + slot->from_channel;
        book_line(p, &p->channel[from], from, slot->start, slot->finish);
    }
    if (slot->to_channel != NONE) {
        uint32_t to = b * p->limit + slot->to_channel;
        book_line(p, &p->channel[to], to, slot->start, slot->finish);
    }
    if (!p->single) {
        uint32_t pair = pair_line(p, a, b);
        book_line(p, &p->pairs.at[pair], p->nnodes * p->limit + pair, slot->start, slot->finish);
    }
}

void ports_rollback(struct ports *p, size_t mark)
{
    uint32_t channels = p->nnodes * p->limit;
    while (p->journal.n > mark) {
        struct ports_booking last = array_pop(&p->journal);
        struct core_timeline *t =
            last.line < channels ? &p->channel[last.line] : &p->pairs.at[last.line - channels];
        timeline_unbook(&p->store, t, &last.done);
    }
}
