/* What is idle on one core or channel: the gaps between bookings, and the time after the last one.
 *
 * The gaps stand in a small B+-tree, sorted by time; every inner entry knows the longest gap below
 * it, so the earliest gap that is long enough after a given time is found in O(log gaps). Booking
 * after the last gap costs O(1) but for the gap it leaves. Gaps shorter than `least` can serve
 * nobody and are not kept; with `least` 0 even the point between two bookings is kept, because a
 * task that takes no time may happen there.
 *
 * All timelines of a schedule share one store of pages, which owns the memory. */
#pragma once
#include "base/array.h"
#include <float.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAGE_ENTRIES = 32, TIMELINE_DEPTH = 16 };

struct timeline_page {
    double start[PAGE_ENTRIES]; /* of the gap, or a lower bound of the starts below */
    double value[PAGE_ENTRIES]; /* leaf: end of the gap; inner: the longest gap below */
    uint32_t child[PAGE_ENTRIES];
    uint16_t n;
    bool leaf;
};

struct timeline_store {
    ARRAY(struct timeline_page) pages;
    ARRAY(uint32_t) spare;
};

struct core_timeline {
    double tail;     /* end of the last booking */
    double gaps_end; /* end of the last gap; -1: no gap */
    double longest;  /* gap */
    double least;
    uint32_t root; /* UINT32_MAX: no gap */
};

/* What a booking did, so that it can be taken back (last booked, first taken back). */
struct timeline_booking {
    enum { BOOKED_NOTHING, BOOKED_TAIL, BOOKED_GAP } kind;
    bool left,
        right;     /* BOOKED_GAP: pieces that remained; BOOKED_TAIL: left, a gap was left behind */
    double finish; /* of the booking: where the right piece starts */
    double start, end; /* BOOKED_GAP: the gap as it was; BOOKED_TAIL: start is the old tail */
};

void timeline_store_free(struct timeline_store *store);
void timeline_store_clear(
    struct timeline_store *store); /* empties it; its timelines must be initialised again */

void timeline_init(struct core_timeline *t, double least);

/* The earliest start >= `ready` of an idle stretch of `duration`. */
double timeline_search(const struct timeline_store *store, const struct core_timeline *t,
                       double ready, double duration);
static inline double timeline_find(const struct timeline_store *store,
                                   const struct core_timeline *t, double ready, double duration)
{
    /* Nearly always the answer is behind everything. The slack covers the rounding of end - start.
     */
    if (ready > t->gaps_end || t->longest + t->tail * 4 * DBL_EPSILON < duration)
        return ready > t->tail ? ready : t->tail;
    return timeline_search(store, t, ready, duration);
}
/* Occupy start .. finish, which must be idle. */
struct timeline_booking timeline_book(struct timeline_store *store, struct core_timeline *t,
                                      double start, double finish);
void timeline_unbook(struct timeline_store *store, struct core_timeline *t,
                     const struct timeline_booking *booking);
