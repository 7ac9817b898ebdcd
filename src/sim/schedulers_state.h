/* What the files of the simulation of schedulers share: schedulers.c owns events and the store,
 * schedulers_data.c the objects and their transfers, schedulers_open.c the beginning and the end of a
 * run, schedulers_rooms.c the cores that several runs share, schedulers_runs.c time. */
#pragma once
#include "base/array.h"
#include "model/costs.h"
#include "model/joins.h"
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
    EVENT_ROOM,     /* a: part of its node, as `told` has it; b: node */
    EVENT_JOIN,     /* a: offer of tasks that join; b: node */
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

/* When the interfaces of a node and its server of the store are free. All runs have the same. */
struct schedulers_link {
    double out_free, in_free, server_free;
};

struct schedulers_node {
    struct sched *sched;
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

struct schedulers_rooms;

/* One run on the cluster. */
struct schedulers {
    struct schedulers_config config;
    struct workload_division division; /* who is given which task */
    const struct workload *dag;
    double at; /* when it is submitted */
    bool has_data;
    struct costs *costs; /* of its tasks on the nodes of the platform; NULL: they are all alike */
    struct schedulers_node *nodes;
    struct schedulers_link *links; /* by node */
    struct schedulers_rooms
        *rooms;      /* cores that it shares with other runs; NULL: they are its own */
    uint32_t number; /* among them */
    ARRAY(struct sched_part) told; /* parts that have room, until their scheduler knows */
    struct store_table table;
    struct answers answers;
    struct queue queue;
    struct schedulers_growth *growth; /* NULL: all tasks are there from the beginning */
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
    double first, used; /* when its first task began; core seconds that its tasks had */
    struct schedulers_result *result; /* of this run */
    struct schedulers_result *total;  /* of all: cores over time */
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
/* Ask which inputs of a task that waits there are made, and fetch those. */
void schedulers_data_look(struct schedulers *c, uint32_t node, uint32_t task);
void schedulers_data_arrives(struct schedulers *c, uint32_t fetch);
void schedulers_data_fetched(struct schedulers *c, uint32_t fetch);
/* schedulers.c */
/* A question about a task, which changes nothing, takes its server's time. */
void schedulers_asked(struct schedulers *c, uint32_t node, uint32_t task);
void schedulers_begin(struct schedulers *c, uint32_t run); /* everything that it reads is there */
void schedulers_step(struct schedulers *c);                /* the next event */

/* schedulers_open.c */
/* Defaults; is there a node for each task? */
bool schedulers_check(struct schedulers_config *k, struct error *err);
/* Tables and schedulers. `links`, `rooms` and `total` are there, and stay the caller's. */
bool schedulers_open(struct schedulers *c, struct error *err);
void schedulers_close(struct schedulers *c); /* what the schedulers counted is in its result */
static inline uint32_t schedulers_platform_node(const struct schedulers_config *k, uint32_t node)
{
    return k->platform_node ? k->platform_node[node] : node;
}
uint32_t schedulers_cores(const struct schedulers_config *k, uint32_t node); /* of this node */
double schedulers_memory(const struct schedulers_config *k, uint32_t node);
double schedulers_all_cores(const struct schedulers_config *k); /* times their speed */

/* All schedulers learn that there are more tasks. */
void schedulers_grow(struct schedulers *c);

/* schedulers_growth.c */
void schedulers_growth_open(struct schedulers *c);
void schedulers_growth_close(struct schedulers *c);
bool schedulers_is_first(const struct schedulers *c, uint32_t task); /* there from the beginning? */
/* A task is done, by this node; only of a run that grows. */
void schedulers_growth_done(struct schedulers *c, uint32_t task, uint32_t node);
/* What was offered is PUT; fills the event for the scheduler of `node`. */
void schedulers_growth_submit(struct schedulers *c, uint32_t offer, uint32_t node,
                              struct sched_event *e);

/* schedulers_rooms.c */
struct schedulers_rooms *schedulers_rooms_new(const struct schedulers_config *k,
                                              struct schedulers *runs, const double *priority,
                                              uint32_t n);
void schedulers_rooms_free(struct schedulers_rooms *r);
/* The scheduler has started it: it begins when its run has its turn and there is room. */
void schedulers_room_wait(struct schedulers *c, uint32_t run);
/* It has ended. Who comes next is decided when its scheduler has seen that. */
void schedulers_room_leave(struct schedulers *c, const struct schedulers_running *r);
void schedulers_room_part(struct schedulers *c, uint32_t node, const struct sched_part *part);
void schedulers_room_advance(struct schedulers *c, uint32_t node);
void schedulers_room_over(struct schedulers *c); /* all its tasks are done */
