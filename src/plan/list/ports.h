/* Booking of transfers on a platform with a port limit: every node has k channels that serve
 * sending and receiving alike; a transfer holds one channel at each end, and the pair of nodes for
 * itself, from start to finish. Gaps are filled.
 *
 * Bookings can be taken back to a mark, which is how estimates leave no trace. */
#pragma once
#include "model/platform.h"
#include "plan/list/timeline.h"

struct ports_booking {
    struct timeline_booking done;
    uint32_t line; /* channel number, or nnodes x limit + pair number */
};

struct ports {
    const struct platform *platform;
    uint32_t nnodes;
    uint32_t limit; /* channels kept a node; 0: more than partners, only the pairs can be busy */
    bool single;    /* every node has one channel: the pairs add nothing */
    struct timeline_store store;
    struct core_timeline *channel; /* nnodes x limit */
    /* pairs that have talked: an open-addressed table of (pair key + 1, number of its timeline) */
    uint64_t *pair_key;
    uint32_t *pair_number;
    uint32_t pair_mask;
    ARRAY(struct core_timeline) pairs;
    ARRAY(struct ports_booking) journal;
    bool journaling;
};

struct ports_slot {
    double start, finish;              /* INFINITY: never */
    uint32_t from_channel, to_channel; /* NONE: the node has no limit */
};

void ports_init(struct ports *p, const struct platform *platform);
void ports_free(struct ports *p);
void ports_clear(struct ports *p);

/* The earliest slot for `duration` seconds from node a to node b, not before `ready`. */
struct ports_slot ports_find(struct ports *p, uint32_t a, uint32_t b, double ready,
                             double duration);
void ports_book(struct ports *p, uint32_t a, uint32_t b, const struct ports_slot *slot);

/* While journaling, bookings can be taken back: everything booked since the mark. */
static inline size_t ports_mark(const struct ports *p)
{
    return p->journal.n;
}
void ports_rollback(struct ports *p, size_t mark);
