/* The scheduler of one node as a state machine (docs/scheduler.md draws it): events in, actions
 * out. It reads no clock, no socket and no random device; events carry the time, the seed is in the
 * configuration. The same events give the same actions to the bit, so `sim` can drive 100,000 of
 * them and `run` one, and what is simulated is what runs.
 *
 *     struct sched *s = sched_new(&config);
 *     sched_handle(s, &event, &out);       actions are appended to `out`
 *     ... start the tasks, send the messages, do the store operations, set the timers in `out` ...
 *     sched_actions_clear(&out);
 *
 * Messages and timers may come late, twice, out of order or (messages) never. Store answers come
 * once each, in any order. Memory grows only when more tasks are held at once than ever before. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/capacity.h"
#include "model/metadata.h"
#include "model/predictor.h"
#include "sched/policies.h"
#include <stdbool.h>
#include <stdint.h>

struct workflow;

/* Whoever knows the graph may keep a task that fits on the disk from starting now, since what follows would not fit any more.
 * When nothing else is under way, it must let one that is ready start; else the first that fits does. */
struct sched_gate {
    bool (*lets)(void *context, uint32_t task, double left); /* `left`: bytes then free */
    void (*started)(void *context, uint32_t task);
    void *context;
};

/* A zeroed field takes the default in brackets. Arrays belong to the caller, are indexed by task
 * and may be NULL; sched_grow() takes longer ones. */
struct sched_config {
    uint32_t node, nodes; /* this node of how many [1] */
    uint64_t seed;

    uint32_t cores; /* executing threads, or more: tasks that may be started at once [1] */
    /* Threads, where `cores` are more. So many tasks run; what is started beyond them waits for these, so
     * that short tasks are handed over many at a time. Nobody can steal it any more: it lasts no longer than
     * `start_early` seconds [cores; 0.001] */
    uint32_t threads;
    double start_early;
    double memory;              /* bytes [no limit] */
    uint64_t has;               /* attributes (model/capacity.h) [none] */
    const uint32_t *task_cores; /* [1 each] */
    const double *task_memory;  /* [0 each] */
    const uint64_t *task_needs; /* attributes [none each] */
    uint32_t things;            /* of this node: which have ids, and how much there is of each */
    uint32_t thing[THING_SORTS];
    const uint32_t *task_asks; /* what a task holds of them: a row of `amount` [0, nothing, each] */
    const uint32_t *amount;    /* rows of THING_SORTS; the first is all 0 */
    /* Nodes that a task spans, with all that it asks for on each [1 each]. The command runs on the node
     * that starts it; sched_gang() names all */
    const uint32_t *task_nodes;
    bool
        parts_wait; /* a part for a task that spans several nodes is not granted before the driver has
                        found the room for it (SCHED_EVENT_ROOM) [it has, as soon as it is counted] */
    /* What each node has, at first [as this one]; then SCHED_EVENT_CAPACITY. Read by sched_new() alone.
     * A task starts only on a
     * node that has all that it asks for, and is given away or stolen only to one */
    const struct capacity *capacity;
    double ends; /* when this node goes; what would last longer does not start here [it stays] */
    double disk; /* bytes for files that tasks leave [no limit] */
    const double *task_disk; /* what a task will leave [0 each] */
    struct sched_gate gate;  /* [open] */
    const double *priority;  /* larger starts first [the size of the input data, as in the paper] */
    /* The same as a function of the task, where an array of all tasks would be too large [none] */
    double (*priority_of)(const void *context, uint32_t task);
    const void *priority_context;
    const double *not_before;     /* a task that is ready earlier waits [0 each] */
    const uint32_t *task_retries; /* [retries] */
    uint32_t retries;             /* attempts after the first [0] */
    double retry_first; /* seconds before the second attempt, doubled each time [at once] */
    double retry_most;  /* at most this long [no limit] */

    enum sched_policy policy; /* [FLDS] */
    const struct policy
        *own_policy;       /* a row that is in no table, for studies and tests [of `policy`] */
    double t;              /* Algorithm 1: transfer time / task length that is still shared [0.5] */
    double tt;             /* FLDS: most seconds of work in the LReadyQ [10] */
    double bandwidth;      /* bytes a second [1e9] */
    double default_length; /* seconds, until a task has completed or is predicted [1] */
    const struct predictor *predictor; /* task lengths; without it the average of completed tasks */
    bool share_local;    /* FLDS: a thief also gets tasks of the LReadyQ that would wait there for
                            longer than their data take to move */
    bool adapt_tt;       /* tt doubles after a move, halves after a failed steal */
    bool adapt_policy;   /* MDL when much is transferred, MLB when little, FLDS between */
    double much, little; /* transfer time / execution time [0.5, 0.01] */

    double steal_first, steal_bound; /* polling interval: first and last, seconds [0.001, 50] */
    double tt_small;      /* stealing goes on past the bound while tt is at most this [1] */
    double reply_timeout; /* seconds for an answer to a query, a steal or a task sent [1] */
    uint32_t steal_most;  /* tasks in one message [65536] */
    double monitor_every; /* seconds between looks at the LReadyQ [1] */
    double
        wait_poll; /* seconds between looks of P1 at the WaitQ; negative: never [1 as soon as there is
                         another node] */
    uint32_t wait_batch; /* tasks looked at each time [1024] */
    bool record_starts;  /* write a START operation for every task */
    /* The graph, which does not grow: tasks start when their parents have ended here, before the store has
     * said that these ends count [they wait for its word] */
    const struct workflow *ahead;
};

/* ---- messages between schedulers ---- */

enum sched_message_kind {
    SCHED_LOAD_QUERY,
    SCHED_LOAD_REPLY,
    SCHED_STEAL,
    SCHED_TASKS, /* answer to STEAL: the tasks, perhaps none */
    SCHED_PUSH,  /* tasks whose data stand at the receiver */
    SCHED_ACK,   /* the receiver holds these tasks now */
    SCHED_READY, /* tasks whose last parent completed elsewhere */
    SCHED_DROP,  /* tasks that were removed */
    /* about a task that spans several nodes (gang.c); its item has the owner as holder */
    SCHED_GANG_QUERY, /* could a part of it begin at once? */
    SCHED_GANG_OFFER, /* the answer, in `load` */
    SCHED_GANG_ASK,   /* give it a part */
    SCHED_GANG_GRANT, /* it has it */
    SCHED_GANG_FREE,  /* it needs it no more */
    SCHED_GANG_CALL,  /* have you your side of it? */
    SCHED_GANG_HERE,  /* the answer: `load` 1, or 0 */
    SCHED_MESSAGE_KINDS
};

struct sched_message {
    uint8_t kind;
    uint32_t from, to;
    uint32_t round; /* of stealing; a reply carries the query's */
    /* LOAD_REPLY: length of the SReadyQ. LOAD_QUERY, STEAL: things that the thief has none left of, a
     * mask: tasks that ask for them stay. TASKS: microseconds until the thief has their data, since what
     * others were given is sent first */
    uint32_t load;
    uint32_t first, count; /* its tasks in `items` of the actions (or of the event) */
};

/* ---- events ---- */

enum sched_event_kind {
    SCHED_EVENT_START,  /* first event of a node that may have lived before, or that others thought
                           dead: begin a new life, larger than the one before, and take back what it
                           held */
    SCHED_EVENT_SUBMIT, /* tasks that were PUT into the store for this node */
    SCHED_EVENT_MESSAGE,
    SCHED_EVENT_TIMER,
    SCHED_EVENT_ENDED,
    SCHED_EVENT_STORE,
    SCHED_EVENT_NODE_DOWN,
    SCHED_EVENT_NODE_UP, /* it lives (again); numbers past the last so far are newcomers. Wakes a
                            thief that has given up */
    SCHED_EVENT_REMOVE,  /* a task and its subtree, wherever they are */
    SCHED_EVENT_POLICY,  /* change policy, t, tt while running */
    SCHED_EVENT_DISK,    /* so much is free now: files were deleted, or are larger than expected */
    /* The most that one task may ask for on a node, this one included. 0 cores: it takes nothing any
     * more (it leaves), and what is ready there goes to others */
    SCHED_EVENT_CAPACITY,
    /* A node, this one included, fails what is run there (its disk is full), or does no more: others
     * come first (aside.c). Whoever says it also says when another life of it is better */
    SCHED_EVENT_ASIDE,
    SCHED_EVENT_ROOM, /* a part that was to begin has its room (sched_config.parts_wait) */
};

/* What this node gives to a task that spans several: its cores and memory. `owner` is the node that
 * runs its command, perhaps this one. */
struct sched_part {
    uint32_t task, owner, epoch, round; /* which together name it */
    bool begins;                        /* find the room for it; false: it is over */
};

/* One look at a task that ended. `slot` is that of its start action. */
struct sched_ended {
    uint32_t task, slot;
    bool failed;
    bool returned; /* it did not begin, and goes back: no attempt was made. Nothing below counts */
    /* Of one that is returned: its node has failed it, and another is to try. What it counts for
     * (sched_may_pass_on()); 0: it has not */
    uint8_t passed_on;
    bool skipped; /* it was not taken: it ends without outputs, and its children go on */
    bool last;    /* of a failure: no attempt follows, whatever the retries */
    bool excused; /* of a failure: if no attempt follows, its children go on */
    double start, finish;
    double bytes;   /* of its outputs */
    double fetched; /* bytes that had to come from other nodes */
};

#define SCHED_NOT_YET UINT32_MAX

struct sched_event {
    enum sched_event_kind kind;
    double now;     /* seconds; going back is taken as standing still */
    double sending; /* MESSAGE: bytes that others wait for from this node, as far as is known [0] */
    uint32_t over;  /* NODE_DOWN: its life that is over [whatever it is]: a new one is not touched;
                       SCHED_NOT_YET: nobody has heard of it yet. It gets nothing, and what it holds is
                       left alone: it may be about to begin */
    union {
        struct {
            const uint32_t *tasks;
            size_t n;
        } submit;
        struct {
            const struct sched_message *head;
            const struct meta_item *items; /* head->count of them; `first` is not looked at */
        } message;
        struct {
            uint32_t kind, mark;
        } timer;
        struct {
            const struct sched_ended *at;
            size_t n;
        } ended;
        struct meta_answers store;
        uint32_t life; /* START */
        uint32_t node; /* NODE_DOWN, NODE_UP */
        uint32_t task; /* REMOVE */
        double disk;   /* DISK: bytes free, what running tasks will leave not yet taken off */
        struct {
            uint32_t node;
            struct capacity has;
        } capacity;
        struct {
            uint32_t node;
            bool is;
        } aside;
        struct sched_part room; /* ROOM */
        struct {
            enum sched_policy policy;
            double t, tt; /* negative: as it is */
        } policy;
    };
};

/* ---- actions ---- */

struct sched_start {
    uint32_t task, slot, attempt; /* attempt 1 is the first */
};

struct sched_timer {
    double when;
    uint32_t kind, mark; /* to be given back in the event */
};

enum sched_note_kind {
    SCHED_NOTE_DONE,    /* committed in the store */
    SCHED_NOTE_FAILED,  /* out of attempts */
    SCHED_NOTE_SKIPPED, /* committed: it was not taken */
    SCHED_NOTE_EXCUSED, /* committed: out of attempts, and may be */
    SCHED_NOTE_REMOVED, /* by request, or below a failed or removed task */
    SCHED_NOTE_KEPT,    /* a removal came too late: it is done */
    SCHED_NOTE_LOST, /* ran here, but another node was faster or took it over, or its parents' ends do
                           not count: not committed */
    SCHED_NOTE_POLICY,  /* `task` is the new policy */
    SCHED_NOTE_UNKNOWN, /* submitted here, but the store does not know it */
};

struct sched_note {
    uint32_t kind, task;
};

struct sched_actions {
    ARRAY(struct sched_message) sends;
    ARRAY(struct meta_item) items; /* of the messages */
    ARRAY(struct sched_part)
    parts; /* with parts_wait. This node's own part of a task that starts is
                                       not over: its room is the task's from then on */
    ARRAY(struct sched_start) starts;
    ARRAY(struct sched_start) stops; /* end this attempt; its ENDED event is still due */
    ARRAY(struct meta_op) ops;       /* one batch for the store */
    ARRAY(struct sched_timer) timers;
    ARRAY(struct sched_note) notes;
    /* Tasks that wait here while this node has nothing to do, and nobody has anything for it: bring those
     * of their inputs that are made. They start here, then. Ask about SCHED_LOOK_MOST inputs of each that
     * are not here, not about thousands */
    ARRAY(uint32_t) looks;
};

enum { SCHED_LOOK_MOST = 64 };

void sched_actions_clear(struct sched_actions *a);
void sched_actions_free(struct sched_actions *a);

/* ---- the machine ---- */

struct sched;

struct sched *sched_new(const struct sched_config *config);
void sched_free(struct sched *s);
/* There are more tasks: the arrays of `config` that are indexed by task take the place of those that it
 * was made with. What they say of tasks that it holds must be the same. O(1). */
void sched_grow(struct sched *s, const struct sched_config *config);
void sched_handle(struct sched *s, const struct sched_event *event, struct sched_actions *out);

enum sched_place {
    SCHED_NOWHERE,
    SCHED_ARRIVING, /* here, but the store has not yet said that it is ours */
    SCHED_WAITQ,
    SCHED_LREADYQ,
    SCHED_SREADYQ,
    SCHED_RUNNING,
    SCHED_COMPLETEQ, /* ran; the store has not yet said that this counts */
    SCHED_MOVING,    /* sent to another node that has not yet said that it holds it */
    SCHED_BACKOFF,   /* failed; will be tried again. Or its time has not come (not_before) */
    SCHED_UNFIT,     /* ready, and no node that is there has what it asks for: waits for one */
    SCHED_WIDEQ,     /* ready, and spans several nodes: waits for its turn to gather them */
    SCHED_GATHERING, /* its nodes are asked for, one after the other */
    SCHED_PLACES
};

struct sched_counts {
    uint32_t at[SCHED_PLACES]; /* lengths of the queues */
    uint64_t done, failed_attempts, lost;
    uint64_t pushed, stolen, given; /* tasks: pushed away, got by stealing, given to thieves */
    uint64_t steals, failed_steals; /* rounds */
    uint64_t relaxed;               /* moved from LReadyQ to SReadyQ */
    uint64_t passed_on;             /* attempts that failed for their node's sake */
    uint32_t parts;                 /* given to tasks that span several nodes, or asked for */
    double busy, fetched;           /* seconds of execution, bytes from other nodes */
    double tt, interval;            /* present values */
    enum sched_policy policy;
    bool dormant; /* does not steal any more until something happens */
};

void sched_snapshot(const struct sched *s, struct sched_counts *out);
/* Where this node keeps the task, and with which epoch (may be NULL). */
enum sched_place sched_place(const struct sched *s, uint32_t task, uint32_t *epoch);
/* Its node has failed an attempt that ends now: may another node try, without an attempt of the task's?
 * False: none is better, or it was passed on too often. `cost`: 1 when the node is to blame for certain,
 * more when it may have been the task. */
bool sched_may_pass_on(const struct sched *s, uint32_t task, uint32_t cost);
/* The first that waits in UNFIT; UINT32_MAX: none does. */
uint32_t sched_unfit(const struct sched *s);
/* The nodes of a task that runs here and spans several, in the order of their numbers, this one among
 * them; NULL: none does. Valid until the next event. */
const uint32_t *sched_gang(const struct sched *s, uint32_t task, uint32_t *n);
/* Has this node granted a part to that task of that node? */
bool sched_gives(const struct sched *s, uint32_t task, uint32_t owner);
/* Is it being stopped because one of them was lost, or because it is another node's by now? Its end is
 * then no failure. */
bool sched_is_lost(const struct sched *s, uint32_t task);
/* It runs since an earlier life, and the store has not yet said that it is still this node's. */
bool sched_is_doubted(const struct sched *s, uint32_t task);
/* It runs or has run before the store knew that its parents had ended, and the store has not yet said that
 * its end counts. */
bool sched_ran_ahead(const struct sched *s, uint32_t task);
/* The ready tasks that start next as things stand, in order: for fetching their data ahead. At most
 * `most`, a small number. */
uint32_t sched_upcoming(const struct sched *s, uint32_t *tasks, uint32_t most);
size_t sched_bytes(const struct sched *s);
/* Count and compare everything that is kept twice. O(tasks held); for tests. */
bool sched_check(const struct sched *s, struct error *err);
