/* What the files of the simulation of schedulers share: schedulers.c owns time, events and the
 * store, schedulers_data.c the objects and their transfers. */
#pragma once
#include "base/array.h"
#include "sim/schedulers.h"
#include "sim/schedulers_cache.h"
#include "sim/queue.h"
#include "store/table.h"

enum schedulers_event {
    EVENT_SUBMIT,   /* a: node */
    EVENT_TIMER,    /* a: mark; b: node * 8 + kind */
    EVENT_ENDED,    /* a: run */
    EVENT_MESSAGES, /* a: parcel */
    EVENT_OPS,      /* a: parcel, at its server */
    EVENT_ANSWERS,  /* a: parcel, at its node */
    EVENT_ARRIVES,  /* a: fetch, at the receiver's interface */
    EVENT_FETCHED,  /* a: fetch */
};

/* Things on their way: messages (`n` heads, then items), operations, or answers and items. */
struct schedulers_parcel {
    uint32_t node, server, n, nitems;
    _Alignas(16) unsigned char data[];
};

struct schedulers_running {
    uint32_t task, slot, node, pending; /* pending: objects that it waits for */
    double started, begun, fetched;
};

struct schedulers_waiter {
    uint32_t run, next;
};

struct schedulers_fetch {
    uint32_t object, source, node, waiters; /* waiters: a list; NONE: fetched ahead */
    uint32_t next;                          /* in its bucket */
    double bytes;
};

#define SCHEDULERS_COPIES 6

struct schedulers_node {
    struct sched *sched;
    double out_free, in_free, server_free; /* when the interfaces and the server are free */
    struct schedulers_cache cache;
    uint32_t range; /* of its share that is being submitted */
    struct workload_range share;
};

/* Slots that are used again. */
#define POOL(T)                                                                                    \
    struct {                                                                                       \
        ARRAY(T) all;                                                                              \
        ARRAY(uint32_t) unused;                                                                    \
    }

#define pool_take(p)                                                                               \
    ({                                                                                             \
        uint32_t pool_index_;                                                                      \
        if ((p)->unused.n) {                                                                       \
            pool_index_ = array_pop(&(p)->unused);                                                 \
        } else {                                                                                   \
            pool_index_ = (uint32_t)(p)->all.n;                                                    \
            array_add(&(p)->all);                                                                  \
        }                                                                                          \
        pool_index_;                                                                               \
    })
#define pool_give(p, index) array_push(&(p)->unused, (index))

struct schedulers {
    struct schedulers_config config;
    const struct workload *dag;
    bool has_data;
    struct schedulers_node *nodes;
    struct store_table table;
    struct answers answers;
    struct queue queue;
    double now;
    uint64_t order;
    struct sched_actions out;
    /* Messages that leave at this instant. While a parcel is delivered they are gathered: a round
     * of stealing asks hundreds, whose replies then are one event and not hundreds. */
    ARRAY(struct sched_message) sends;
    ARRAY(struct meta_item) sent_items;
    bool gathering;

    POOL(struct schedulers_parcel *) parcels;
    POOL(struct schedulers_running) runs;
    POOL(struct schedulers_fetch) fetches;
    POOL(struct schedulers_waiter) waiters;
    uint32_t *flying; /* fetches by node and object: heads of lists, a power of two of them */
    uint32_t flying_size, flying_used;
    /* Objects that nodes have fetched and kept: some of those nodes, the last ones. Open addressing
     * by object; NONE: free. */
    struct schedulers_copies {
        uint32_t object, at[SCHEDULERS_COPIES], next;
    } * copies;
    uint32_t copies_mask, copies_used;

    uint64_t done;
    struct schedulers_result *result;
};

static inline void schedulers_later(struct schedulers *c, double when, enum schedulers_event kind,
                                    uint32_t a, uint32_t b)
{
    queue_push(&c->queue, when, c->order++, (uint64_t)kind << 60 | (uint64_t)b << 32 | a);
}

/* schedulers_data.c */
/* A task was given a core: fetch what it reads. */
void schedulers_data_need(struct schedulers *c, uint32_t run);
/* Fetch ahead for the tasks that will start next. */
void schedulers_data_ahead(struct schedulers *c, uint32_t node);
void schedulers_data_arrives(struct schedulers *c, uint32_t fetch);
void schedulers_data_fetched(struct schedulers *c, uint32_t fetch);
/* schedulers.c: everything is there. */
uint32_t schedulers_cores(const struct schedulers *c, uint32_t node); /* of this node */
void schedulers_begin(struct schedulers *c, uint32_t run);
