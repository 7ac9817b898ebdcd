/* What the files of the fault simulation share. */
#pragma once
#include "base/array.h"
#include "base/heap.h"
#include "base/rng.h"
#include "model/growth.h"
#include "model/workflow.h"
#include "sched/sched.h"
#include "world.h"
#include "store/embedded.h"

#define FAULTS_NODES 9
#define FAULTS_TASKS 120
#define FAULTS_PARTS 6   /* of a graph that grows, with what is there at first */
#define FAULTS_DEMANDS 6 /* for things of nodes, the empty one among them */

enum faults_event {
    EVENT_SUBMIT,
    EVENT_MESSAGE,
    EVENT_TIMER,
    EVENT_ENDED,
    EVENT_OPS,
    EVENT_ANSWERS,
    EVENT_CONTROL,
    EVENT_CRASH,
    EVENT_RESTART,
    EVENT_REJOIN,
    EVENT_CUT,
    EVENT_HEAL,
    EVENT_STORE_DOWN,
    EVENT_STORE_UP,
    EVENT_LEAVE,
    EVENT_STAY,
    EVENT_ASIDE,
    EVENT_BACK,
    EVENT_EXODUS,
    EVENT_ROOM,
    EVENT_GROW, /* `n`: a part, which joins */
    EVENT_GREW, /* this node learns of all that has joined, and is to begin with `tasks` */
};

/* Tasks that join (world_growth.c). */
struct faults_part {
    uint32_t first, end; /* ids */
    uint32_t parent;     /* the part that it hangs on, by the id that decides: */
    uint32_t decider;
    bool joined;
};
struct faults_demand {
    struct capacity asks;
    uint32_t row, nodes;
};
struct future_links {
    struct growth_link *at;
    size_t n, cap;
};
enum faults_kind { FAULTS_RUNS, FAULTS_IS_SKIPPED, FAULTS_MAY_FAIL };

struct faults_pending {
    enum faults_event kind;
    uint32_t node, life; /* of the receiver; in another life it is lost */
    struct sched_message head;
    struct meta_item *items;
    struct meta_op *ops; /* answers keep theirs: they may have to be sent again */
    struct meta_answer *answers;
    uint32_t *tasks;
    uint32_t n;
    bool resent;
    struct sched_timer timer;
    struct sched_ended ended;
    uint32_t gang[FAULTS_NODES], gang_life[FAULTS_NODES],
        ngang; /* ENDED: the others that give parts */
    struct sched_part room;
    struct sched_event control;
};

struct fault_world {
    const struct fault_world_options *options;
    struct fault_world_result *result;
    struct rng rng;
    double now;
    double lose, twice, late; /* chances; longest delay */

    /* the graph and the store */
    struct workflow *workflow;
    struct store *store;
    char journal[300];
    bool store_down;

    /* the cluster */
    uint32_t nodes, tasks, faults, immortal;
    struct sched *sched[FAULTS_NODES]; /* NULL: dead */
    uint32_t life[FAULTS_NODES];
    uint32_t born[FAULTS_NODES]; /* the number of its present life, as it has told the store */
    double slow[FAULTS_NODES];
    bool cut[FAULTS_NODES]; /* from the store and from those that are not cut */
    struct sched_config config[FAULTS_NODES];
    /* what there is and what is asked for, and what runs take of it: the oracle's own count */
    struct capacity capacity[FAULTS_NODES], asks[FAULTS_TASKS];
    uint32_t task_cores[FAULTS_TASKS];
    double task_memory[FAULTS_TASKS];
    uint64_t task_needs[FAULTS_TASKS];
    uint32_t task_asks[FAULTS_TASKS];
    uint32_t amount[FAULTS_DEMANDS * THING_SORTS];
    uint32_t busy_things[FAULTS_NODES][THING_SORTS];
    uint32_t busy_cores[FAULTS_NODES];
    double busy_memory[FAULTS_NODES];
    bool wide, parts_wait; /* some tasks span several nodes; parts of them wait for their room */
    uint32_t task_nodes[FAULTS_TASKS];
    uint32_t part_cores[FAULTS_NODES];
    double part_memory[FAULTS_NODES];
    uint32_t part_things[FAULTS_NODES][THING_SORTS];
    bool leaves[FAULTS_NODES]; /* its own scheduler was told, and starts nothing more */
    bool aside[FAULTS_NODES];  /* fails most of what is run there, and its scheduler was told */
    struct rng sick;  /* a generator of its own: worlds without sick nodes are what they were */
    struct rng meets; /* likewise, for who has heard of whom */
    bool meet_late;   /* schedulers that begin may not have heard of all others */
    uint32_t lives;
    struct heap queue;
    ARRAY(struct faults_pending *) pool;
    ARRAY(uint32_t) unused;
    struct sched_actions out;

    /* what the store must say, gathered from its answers; and witnesses */
    uint8_t status[FAULTS_TASKS];
    uint32_t holder[FAULTS_TASKS], epoch[FAULTS_TASKS];
    uint32_t commits[FAULTS_TASKS], reported[FAULTS_TASKS], owed[FAULTS_TASKS];
    bool ahead; /* schedulers run ahead of the store */
    bool early; /* they have one thread each, whatever cores, and start short tasks early */
    bool ended_here[FAULTS_NODES][FAULTS_TASKS]; /* well, in the present life */
    bool suspected;                              /* a living node's tasks were given to others */

    /* what grows and what decides: by id, as drawn (world_growth.c) */
    struct rng growth_rng;
    bool grows, decides;
    uint32_t total, nparts, joining; /* ids; parts, and those of them that are about to join */
    struct faults_part part[FAULTS_PARTS];
    uint64_t above[FAULTS_TASKS][2]; /* parents: a mask of ids */
    uint8_t kind[FAULTS_TASKS];      /* enum faults_kind */
    bool tolerant[FAULTS_TASKS];     /* it goes on without what a parent has not written */
    struct faults_demand drawn[FAULTS_TASKS];
    uint32_t number[FAULTS_TASKS]; /* of an id; NONE: it has not joined */
    uint32_t id[FAULTS_TASKS];     /* of a number */
    uint32_t knows[FAULTS_NODES];  /* tasks that this node has heard of */
};

void faults_trouble(struct fault_world *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool faults_ended(const struct fault_world *w, uint32_t task)
{
    return w->status[task] >= META_DONE;
}

static inline bool faults_chance(struct fault_world *w, double p)
{
    return p > 0 && rng_unit(&w->rng) < p;
}

static inline bool faults_has(const struct fault_world *w, enum fault fault)
{
    return w->faults & fault;
}

/* world_sizes.c */
void faults_draw(struct fault_world *w, uint64_t seed);
void faults_make_nodes(struct fault_world *w, uint64_t seed);
struct sched_event faults_capacity_event(const struct fault_world *w, uint32_t node); /* now */

void faults_fail_on_sick_node(struct fault_world *w, uint32_t node, struct sched_ended *e);

/* world_gangs.c */
void faults_make_spans(struct fault_world *w, uint64_t seed);
void faults_check_use(struct fault_world *w, uint32_t node, uint32_t task);
/* A task starts: if it spans several nodes, `p`, its end, remembers who gives it parts. */
void faults_gang_begins(struct fault_world *w, uint32_t node, uint32_t task,
                        struct faults_pending *p);
void faults_gang_ends(struct fault_world *w, struct faults_pending *p);
/* False: what it says is over. */
bool faults_is_news(const struct fault_world *w, struct sched_event *e);
void faults_gangs_crash(struct fault_world *w, uint32_t node); /* before its life is another */

/* world_growth.c */
void faults_draw_growth(struct fault_world *w, uint64_t seed);
bool faults_make_graph(struct fault_world *w);
void faults_keep_demands(struct fault_world *w);
void faults_learn(struct fault_world *w, uint32_t node); /* of all that has joined */
bool faults_knows_items(const struct fault_world *w, uint32_t node, const struct meta_item *items,
                        uint32_t n);
/* The next part after `after` (0: the first) that this task decides; NONE: no more. */
uint32_t faults_next_part(const struct fault_world *w, uint32_t task, uint32_t after);
void faults_join(struct fault_world *w, uint32_t part, struct faults_pending *const *to);
void faults_decide(const struct fault_world *w, uint32_t node, uint32_t task,
                   struct sched_ended *e);
void faults_check_results(struct fault_world *w);

/* world.c */
double faults_delay(struct fault_world *w, uint32_t node); /* of its words */
struct faults_pending *faults_later(struct fault_world *w, double after, enum faults_event kind,
                                    uint32_t node);
void faults_deliver(struct fault_world *w, uint32_t node, struct sched_event *e);
void faults_grow_later(struct fault_world *w, uint32_t part);

/* world_nodes.c */
void faults_control(struct fault_world *w, double after, uint32_t node, struct sched_event e);
void faults_tell_others(struct fault_world *w, double after, uint32_t node,
                        enum sched_event_kind kind);
void faults_begin_life(struct fault_world *w, uint32_t node);
void faults_end_life(struct fault_world *w, uint32_t node);
void faults_crash(struct fault_world *w, uint32_t node);
void faults_restart(struct fault_world *w, uint32_t node);
void faults_leave(struct fault_world *w, uint32_t node, bool leaves);
void faults_exodus(struct fault_world *w);
void faults_set_aside(struct fault_world *w, uint32_t node, bool is);
void faults_cut(struct fault_world *w);

/* world_check.c */
/* What an applied operation's answer says about the task, against what was known. */
void faults_check_answer(struct fault_world *w, const struct meta_op *op,
                         const struct meta_answer *a, const struct meta_item *items);
void faults_check_start(struct fault_world *w, uint32_t node, uint32_t task);
void faults_check_room(struct fault_world *w, uint32_t node, uint32_t task);
void faults_check_note(struct fault_world *w, const struct sched_note *note);
void faults_check_world(struct fault_world *w); /* after every event */
void faults_check_store(struct fault_world *w); /* the store says what its answers said */
bool faults_finished(const struct fault_world *w);
void faults_check_end(struct fault_world *w);
