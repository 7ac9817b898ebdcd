/* What the files of the cluster simulation share. */
#pragma once
#include "base/array.h"
#include "sim/cluster.h"
#include "sim/cluster_cache.h"
#include "sim/queue.h"
#include "store/table.h"

enum cluster_event {
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
struct cluster_parcel {
    uint32_t node, server, n, nitems;
    _Alignas(16) unsigned char data[];
};

struct cluster_running {
    uint32_t task, slot, node, pending; /* pending: objects that it waits for */
    double started, begun, fetched;
};

struct cluster_waiter {
    uint32_t run, next;
};

struct cluster_fetch {
    uint32_t object, source, node, waiters; /* waiters: a list; NONE: fetched ahead */
    uint32_t next;                          /* in its bucket */
    double bytes;
};

#define CLUSTER_COPIES 6

struct cluster_node {
    struct sched *sched;
    double out_free, in_free, server_free; /* when the interfaces and the server are free */
    struct cluster_cache cache;
    uint32_t range; /* of its share that is being submitted */
    struct cluster_range share;
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

struct cluster {
    struct cluster_config config;
    const struct cluster_dag *dag;
    bool has_data;
    struct cluster_node *nodes;
    struct table table;
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

    POOL(struct cluster_parcel *) parcels;
    POOL(struct cluster_running) runs;
    POOL(struct cluster_fetch) fetches;
    POOL(struct cluster_waiter) waiters;
    uint32_t *flying; /* fetches by node and object: heads of lists, a power of two of them */
    uint32_t flying_size, flying_used;
    /* Objects that nodes have fetched and kept: some of those nodes, the last ones. Open addressing
     * by object; NONE: free. */
    struct cluster_copies {
        uint32_t object, at[CLUSTER_COPIES], next;
    } * copies;
    uint32_t copies_mask, copies_used;

    uint64_t done;
    struct cluster_result *result;
};

static inline void cluster_later(struct cluster *c, double when, enum cluster_event kind,
                                 uint32_t a, uint32_t b)
{
    queue_push(&c->queue, when, c->order++, (uint64_t)kind << 60 | (uint64_t)b << 32 | a);
}

/* cluster_data.c */
/* A task was given a core: fetch what it reads. */
void cluster_data_need(struct cluster *c, uint32_t run);
/* Fetch ahead for the tasks that will start next. */
void cluster_data_ahead(struct cluster *c, uint32_t node);
void cluster_data_arrives(struct cluster *c, uint32_t fetch);
void cluster_data_fetched(struct cluster *c, uint32_t fetch);
/* cluster.c: everything is there. */
void cluster_begin(struct cluster *c, uint32_t run);
