/* The gangs of a scheduler: see gang.c. Private to the room. */
#pragma once
#include "sched/state.h"

#include <math.h>
#include <string.h>

/* One try of one task to get its nodes (G4). */
struct gang_key {
    uint32_t task, owner, epoch, round;
};

enum gang_state {
    GANG_CHOOSING, /* the candidates are asked how busy they are */
    GANG_ASKING,   /* one node after the other is asked for its part */
    GANG_RUNNING,
};

struct gang {
    struct gang_key key;
    uint32_t slot;
    enum gang_state state;
    bool broken;           /* RUNNING: a node was lost, and the task is being stopped */
    uint32_t granted;      /* ASKING: so many of `nodes`, from the first on */
    double due, pause;     /* when something is said again, and how long after that */
    ARRAY(uint32_t) nodes; /* CHOOSING: candidates; then its nodes, in order */
    ARRAY(uint32_t) loads; /* CHOOSING: what they offered */
};

/* What this node gives to a gang, its own or another's. */
enum part_state {
    PART_WAITS,
    PART_ROOM, /* its cores and memory are taken; the driver finds the room (sched_config.parts_wait) */
    PART_GRANTED,
};

struct gang_part {
    struct gang_key key;
    enum part_state state;
    uint32_t cores;
    double memory;
    uint64_t holder; /* of its things, unless it WAITS: past all slots */
    double due, pause;
};

#define OFFER_ASIDE (1u << 24)         /* a load: behind all that are not set aside */
#define OFFER_REFUSED (UINT32_MAX - 1) /* a load: it does not fit there */
#define PAUSE_MOST 8                   /* reply timeouts between two calls */

struct gangs {
    ARRAY(struct gang) all;        /* of tasks here; few: one gathers, the others run */
    ARRAY(struct gang_part) parts; /* in the order in which they were asked for */
    struct ready_queue wide;       /* WIDEQ */
    uint32_t waiting;              /* parts in PART_WAITS */
    uint32_t round;
    uint64_t holders; /* numbers that were given to parts */
    bool gathers;     /* one of `all` does not run yet */
    double timer;     /* the next one that is set; INFINITY: none */
};

static inline bool gang_key_is(const struct gang_key *a, const struct gang_key *b)
{
    return a->task == b->task && a->owner == b->owner && a->epoch == b->epoch &&
           a->round == b->round;
}

/* gang.c */
struct sched_message *gang_send(struct sched *s, enum sched_message_kind kind, uint32_t to,
                                const struct gang_key *key);
void gang_granted(struct sched *s, const struct gang_key *key, uint32_t node); /* by that node */

/* gang_part.c */
struct gang_part *part_find(const struct sched *s, const struct gang_key *key); /* NULL: none */
void part_add(struct sched *s, const struct gang_key *key);
void part_remove(struct sched *s, struct gang_part *p); /* its room is free, or another's */
void part_end(struct sched *s, struct gang_part *p);
void parts_serve(struct sched *s);
void parts_call(struct sched *s); /* those that are due */
void gang_asked(struct sched *s, const struct gang_key *key);
/* Could a part of this task begin here at once? 0: yes; more: the longer the line. */
uint32_t gang_load(const struct sched *s, uint32_t task);
double gang_pause_longer(const struct sched *s, double pause);
