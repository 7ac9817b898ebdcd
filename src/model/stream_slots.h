/* Booking of transfers between clusters: shared by the periodic schedule and the schedule of one
 * item; private to them.
 *
 * A cluster has channels, two clusters have a link; each is a list of busy blocks in order of time.
 * Transfers that touch are one block, and channels fill from the left, so the lists stay short
 * however many transfers there are. Bookings can be taken back in reverse order. */
#pragma once
#include "model/stream.h"

struct stream_block {
    double start, finish;
};

/* In order of time, none touches the next. */
struct stream_blocks {
    struct stream_block *at;
    uint32_t n, cap;
    double last; /* the end of the last; 0: there is none */
};

struct stream_lane { /* one channel */
    struct stream_blocks busy;
    uint32_t message; /* the last one booked */
};

struct stream_side { /* a cluster's channels; those past n keep their memory */
    ARRAY(struct stream_lane) lanes;
};

struct stream_link {
    struct stream_blocks busy;
    ARRAY(uint32_t) channels[2]; /* that have carried it, at the lower and the higher cluster */
    uint32_t message;            /* the last one booked */
};

struct stream_slot {
    double start;
    uint32_t from_channel, to_channel, link;
};

/* Who had link and channels before: the messages; NONE. */
struct stream_forerunners {
    uint32_t link, from, to;
};

/* What one booking did to one list. */
struct stream_undo {
    uint32_t side, channel; /* side NONE: the link's list */
    uint32_t link, channels[2];
    uint32_t at, removed;
    struct stream_block old[2];
};

struct stream_work {
    const struct stream_graph *g;
    uint32_t nsides;
    struct stream_side *sides;       /* per cluster */
    ARRAY(struct stream_link) links; /* links.n in use; those past it keep their memory */
    size_t links_made;
    /* (a, b) -> link, valid where the epoch is the current one: a table of all pairs of few clusters, open addressing for many */
    struct stream_near {
        uint32_t epoch, link;
    } * near; /* NEAR_CLUSTERS^2 */
    uint64_t *pair;
    uint32_t *pair_link, *pair_epoch, epoch, mask;
    ARRAY(struct stream_undo) journal;
    bool journaling; /* keep what stream_slots_undo() needs */
    /* per copy */
    double *ready, *end, *latest;
    uint32_t *chain, ncopies;
    /* per cluster */
    uint32_t *last_copy;
    uint8_t *dirty;         /* its messages differ from those of the base */
    uint8_t *booked;        /* its messages are on its lanes; else a search enters them first */
    uint32_t *last_message; /* of its messages; NONE */
    uint32_t *limit;        /* channels it has; 0: any number */
    /* per message */
    ARRAY(uint8_t) linked;    /* it is on its link */
    ARRAY(uint32_t) waiting;  /* messages of a cluster while they are entered, the last first */
    ARRAY(uint32_t) renumber; /* of the base: the same message now */
    uint32_t *parent, *least_procs;
    double *cluster_time;
};

/* Room for so many clusters and copies. */
void stream_work_fit(struct stream_work *work, uint32_t nclusters, uint32_t ncopies);
/* stream_bound.c: a latency that the mapping's is not below; gives up once it exceeds `limit`. work->latest gets, per copy, what
 * must follow its end at least. Equal nodes only. */
double stream_bound_tails(struct stream_work *work, const struct stream_map *map, double limit);
/* stream_origin.c: the first step at which the mapping differs from that of an estimate; and the mapping, noted. O(copies). */
uint32_t stream_origin_common(const struct stream_graph *g, const struct stream_origin *of,
                              const struct stream_map *map);
void stream_origin_note(const struct stream_graph *g, struct stream_origin *of,
                        const struct stream_map *map);
/* Nothing booked on these clusters. */
void stream_slots_clear(struct stream_work *work, uint32_t nclusters);
/* The same, but what is on the clusters' lanes stays until stream_slots_clear_side(). */
void stream_slots_clear_links(struct stream_work *work);
void stream_slots_clear_side(struct stream_work *work, uint32_t cluster);
void stream_slots_free(struct stream_work *work);
/* The link of two clusters, made on first use. */
uint32_t stream_slots_link(struct stream_work *work, uint32_t a, uint32_t b);
/* The earliest start, not before `ready`, at which the link and a channel at each end (of
 * work->limit there) are idle for `duration`. */
struct stream_slot stream_slot_find(struct stream_work *work, uint32_t a, uint32_t b, double ready,
                                    double duration);
void stream_slot_book(struct stream_work *work, uint32_t a, uint32_t b,
                      const struct stream_slot *slot, double duration, uint32_t message);
/* Find and book, from time 0 on and not while journaling. */
struct stream_slot stream_slot_take(struct stream_work *work, uint32_t a, uint32_t b,
                                    double duration, uint32_t message,
                                    struct stream_forerunners *before);
/* Its parts: the link, and the channel of one end. */
void stream_slot_book_link(struct stream_work *work, uint32_t a, uint32_t b,
                           const struct stream_slot *slot, double duration, uint32_t message);
void stream_slot_book_side(struct stream_work *work, uint32_t cluster, uint32_t channel,
                           double start, double finish, uint32_t message);
/* While journaling: take everything back that was booked since journal.n was `mark`. */
void stream_slots_undo(struct stream_work *work, size_t mark);

/* ---- contention components ---- */

/* Union-find with path halving: clusters that exchange messages are one contention component. */
static inline uint32_t stream_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The component's rate is bounded by its fewest processors at one end of a transfer: returned. */
static inline uint32_t stream_join_components(struct stream_work *work, uint32_t a, uint32_t b,
                                              uint32_t procs)
{
    a = stream_root(work->parent, a);
    b = stream_root(work->parent, b);
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    if (root != other) {
        work->parent[other] = root;
        if (work->least_procs[other] < work->least_procs[root])
            work->least_procs[root] = work->least_procs[other];
    }
    if (procs < work->least_procs[root])
        work->least_procs[root] = procs;
    return work->least_procs[root];
}
