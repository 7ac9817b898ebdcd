/* What the files of the scheduler share. Private to the room. */
#pragma once
#include "base/rng.h"
#include "sched/ready_set.h"
#include "sched/sched.h"
#include "sched/slots.h"

enum timer_kind {
    TIMER_STEAL,
    TIMER_REPLY,
    TIMER_MONITOR,
    TIMER_WAIT,
    TIMER_MOVING,
    TIMER_RETRY,
    TIMER_ADOPT,
    TIMER_GANG, /* 7: the simulation keeps a timer's kind in three bits */
};

enum steal_state {
    STEAL_NO,       /* not stealing */
    STEAL_QUERYING, /* asked some neighbours for their load */
    STEAL_ASKED,    /* asked the most loaded one for tasks */
    STEAL_BACKOFF,  /* failed; a timer is set */
    STEAL_DORMANT,  /* the polling interval hit its bound */
};

struct sched_down {
    uint32_t node, life; /* the life that is over; 0: whatever it is; SCHED_NOT_YET */
};

struct sched_failed {
    uint32_t task;
    uint64_t nodes; /* a bit each, by their number modulo 64 */
};

struct sched {
    struct sched_config config;
    struct rng rng;
    double now;
    uint32_t life;
    struct sched_actions *out; /* during sched_handle() */

    /* the tasks: each slot is in exactly the place that it says */
    struct slots tasks;
    struct slot_list wait, moving; /* moving: in the order in which patience ends */
    struct slot_list unfit;
    struct gangs *gangs; /* gang.h; NULL: no task spans several nodes */
    struct ready_set local, shared;
    uint32_t count[SCHED_PLACES];
    uint32_t free_cores;
    double free_memory;
    double free_disk, taken_disk; /* for running tasks: taken off what is free */

    /* what fits where (fit.c) */
    struct capacity own, standard, least; /* of this node now and at first; of the smallest */
    bool uneven;                          /* some node has less than this one had at first */
    ARRAY(struct capacity) others;        /* by node; past the end: as `standard` */
    ARRAY(struct capacity) demands;       /* of the groups from READY_DEMANDS on */
    ARRAY(uint32_t) demand_asks;          /* of the same: rows of `amount`; NONE: mixed */

    /* things that running tasks hold (fit.c); NULL: no task asks for any */
    struct things *things;
    uint64_t lacking;  /* groups whose first task waits for things, when last looked at */
    uint32_t reserved; /* things that those wait for, or that are kept for them: a mask */

    /* policy */
    enum sched_policy policy;
    const struct policy *rules; /* its row, or the configuration's own until the policy changes */
    double t, tt;
    uint32_t kin_here, kin_away; /* lately: tasks whose data were here, or elsewhere, when ready */
    double length_sum, length_count; /* of completed tasks, for the estimated length */
    double window_start, window_done, window_busy, window_fetched; /* lately, for throughput */

    /* stealing */
    enum steal_state steal;
    uint32_t round, pending, best_node, best_load;
    double interval;
    double sending_until; /* the data of tasks that were given to thieves, as far as is known */
    double
        awaited_until; /* the data of tasks that were stolen: when they are here, as those who gave them say */
    ARRAY(struct sched_down) down;        /* nodes known to be dead */
    ARRAY(uint32_t) aside;                /* nodes that others come before */
    bool self_aside;                      /* this one is among them */
    ARRAY(struct sched_failed) failed_at; /* tasks held here that nodes have failed */

    /* Looks at the WaitQ while idle (look.c): the next pause; when the next is, or INFINITY */
    double look_pause, look_next;

    /* a timer of this kind is on its way */
    bool monitor_set, wait_set, moving_set, adopt_set;
    ARRAY(uint32_t) scratch;
    struct sched_counts counts; /* totals; queue lengths are in `count` */
};

static inline struct slot *slot_at(struct sched *s, uint32_t slot)
{
    return &s->tasks.slots.at[slot];
}

/* sched.c */
void place_enter(struct sched *s, uint32_t slot, enum sched_place place);
void place_leave(struct sched *s, uint32_t slot);
void task_forget(struct sched *s, uint32_t slot);          /* leave and drop */
void task_ready(struct sched *s, uint32_t slot);           /* Algorithm 1; the slot is nowhere */
void task_start(struct sched *s, uint32_t slot);           /* there is room for it */
bool start_has_room(const struct sched *s, double length); /* for a task that takes so long */
void task_remove_here(struct sched *s, uint32_t slot);
void item_to_slot(struct slot *slot,
                  const struct meta_item *item); /* sizes and place of the inputs */
/* The slot an answer speaks of, when the task is still there, in that place and with the epoch of
 * the question. */
uint32_t answer_slot(struct sched *s, const struct meta_answer *answer, enum sched_place place);
bool node_is_down(const struct sched *s, uint32_t node);

/* ahead.c */
/* Into the WaitQ, from nowhere: the store said this of it. */
void ahead_wait(struct sched *s, uint32_t slot, const struct meta_item *item);
/* Well, here, and made so many bytes: its children may run. */
void ahead_ended(struct sched *s, uint32_t task, double bytes);
void ahead_refused(struct sched *s, uint32_t task); /* its end does not count */
/* The end of this task was refused since that of a parent is not committed: it waits again. */
bool ahead_is_early(struct sched *s, uint32_t slot, const struct meta_answer *answer);

/* fit.c */
void fit_begin(struct sched *s);
void fit_grow(struct sched *s, const struct sched_config *config);
bool fit_things(const struct sched *s, uint32_t task, const struct capacity *c);
bool lasts_long_enough(const struct sched *s, uint32_t task, const struct capacity *c);
/* O(1), and with the usual NULL arrays two comparisons. */
static inline bool fit_within(const struct sched *s, uint32_t task, const struct capacity *c)
{
    const struct sched_config *k = &s->config;
    return (k->task_cores ? k->task_cores[task] : 1) <= c->cores &&
           (!k->task_memory || k->task_memory[task] <= c->memory) &&
           (!k->task_needs || !(k->task_needs[task] & ~c->has)) &&
           (!k->task_asks || !k->task_asks[task] || fit_things(s, task, c)) &&
           (!(c->ends > 0) || lasts_long_enough(s, task, c));
}
static inline bool fit_here(const struct sched *s, uint32_t task)
{
    return fit_within(s, task, &s->own);
}
bool fit_at(const struct sched *s, uint32_t task, uint32_t node);
uint8_t fit_group(struct sched *s,
                  uint32_t task); /* of a task that fits here; where nodes are uneven */
/* The group of a ready task: ready_set.h. Where all nodes are alike and it holds nothing, 0. */
static inline uint8_t fit_ready_group(struct sched *s, const struct slot *task)
{
    if (task->passed)
        return READY_PASSED;
    return s->uneven || (s->config.task_asks && s->config.task_asks[task->task])
               ? fit_group(s, task->task)
               : 0;
}
/* Groups that all fit there and ask for none of the things in `without`, a mask. */
uint64_t fit_groups_of(const struct sched *s, uint32_t node, uint32_t without);
/* May a ready task have its things now? If not, its group is taken out of `groups`: others go on. Those
 * that come after it in the order do not take what it waits for. */
bool fit_may_hold(struct sched *s, const struct slot *task, uint64_t *groups);
static inline const uint32_t *fit_demand(const struct sched *s, uint32_t task)
{
    const struct sched_config *k = &s->config;
    return k->task_asks && k->task_asks[task] ? k->amount + (size_t)k->task_asks[task] * THING_SORTS
                                              : NULL;
}
/* Ready tasks that do not wait for things. */
static inline uint32_t fit_startable(const struct sched *s, const struct ready_set *set)
{
    return s->lacking ? readyset_length(set, ~s->lacking) : set->length;
}
/* Ready, and nowhere: into this ready queue if it fits here, else to a node where it does; if there is
 * none, it waits (UNFIT). */
void task_enqueue(struct sched *s, uint32_t slot, enum sched_place place);
/* The slot is nowhere, and the task does not fit here: to a node where it does, or UNFIT. */
void fit_send_on(struct sched *s, uint32_t slot);
void fit_capacity_changed(struct sched *s, uint32_t node, const struct capacity *has);
void fit_look_again(struct sched *s, uint32_t node); /* it is there: tasks may have waited for it */

/* lasts.c */
double lasts_length(const struct sched *s, uint32_t task); /* seconds; 0: nobody knows */
double lasts_class(const struct sched *s, uint32_t task);  /* 0 where no node goes */
/* A ready task that there is no time for here any more goes on, to another node or into UNFIT. */
bool lasts_no_more(struct sched *s, uint32_t slot);

/* room.c */
/* What it will leave on the disk. */
double room_taken(const struct sched *s, uint32_t task);
/* Onto the disk, beside what running tasks will leave; `gated`: and so that what follows does. */
bool room_fits(const struct sched *s, uint32_t task, bool gated);
/* The first ready task may not start for want of room: one that may, or NONE. */
uint32_t room_other_that_fits(struct sched *s);

/* aside.c */
bool node_is_aside(const struct sched *s, uint32_t node);
/* Another node that lives, is not set aside, and that it fits. */
bool aside_is_usable(const struct sched *s, uint32_t task, uint32_t node);
bool aside_has_others(const struct sched *s, uint32_t task); /* such, as many as it needs */
static inline bool aside_is_better_elsewhere(const struct sched *s, uint32_t task)
{
    return s->self_aside && aside_has_others(s, task);
}
/* This node has failed it, and there is one that has not: also when that one did not take it in time. */
bool aside_is_for_another(const struct sched *s, const struct slot *task);
void aside_pass_on(struct sched *s, uint32_t slot, uint32_t cost);
/* Which nodes have failed it: a bit each, by their number modulo 64. Only of a task with `passed`. */
uint64_t aside_failed_at(const struct sched *s, uint32_t task);
void aside_note_failed(struct sched *s, uint32_t task, uint64_t nodes);
void aside_forget_failed(struct sched *s, uint32_t task); /* it is held here no more */
static inline bool aside_has_failed(const struct sched *s, const struct slot *task, uint32_t node)
{
    return task->passed && aside_failed_at(s, task->task) >> node % 64 & 1;
}
void aside_changed(struct sched *s, uint32_t node, bool aside);
void aside_give_ready(struct sched *s);

/* actions.c */
struct meta_op *op_add(struct sched *s, enum meta_kind kind, uint32_t task);
struct meta_op *op_for_slot(struct sched *s, enum meta_kind kind, uint32_t slot);
void timer_add(struct sched *s, double after, enum timer_kind kind, uint32_t mark);
void note_add(struct sched *s, enum sched_note_kind kind, uint32_t task);
/* A message of its own. */
struct sched_message *send_begin(struct sched *s, enum sched_message_kind kind, uint32_t to,
                                 uint32_t round);
/* One more task for this node: in the last message when that is of the same kind, to the same node,
 * of the same round. */
void send_item(struct sched *s, enum sched_message_kind kind, uint32_t to, uint32_t round,
               const struct meta_item *item);

/* answers.c */
void answers_handle(struct sched *s, const struct meta_answers *answers);
/* Word that the last parent of a task held here has completed. */
void answers_ready(struct sched *s, const struct meta_item *item);
void answers_poll_waiting(struct sched *s); /* P1 */
void answers_poll_list(struct sched *s, struct slot_list *list, uint32_t most);

/* look.c */
enum { LOOK_MARK = 1 }; /* of its timer: TIMER_WAIT, too */
/* Something was done here, or made elsewhere: the first pause again. */
void look_soon(struct sched *s);
void look_arm(struct sched *s);
void look_timer(struct sched *s);
/* The store says how many parents a task of the WaitQ waits for. */
void look_answered(struct sched *s, uint32_t slot, const struct meta_item *item);

/* move.c */
void move_give(struct sched *s, uint32_t slot, enum sched_message_kind kind, uint32_t to,
               uint32_t round);
void move_accept(struct sched *s, uint32_t from, const struct meta_item *item, bool pushed);
void move_acknowledged(struct sched *s, const struct meta_item *item);
void move_timer(struct sched *s);
void move_held(struct sched *s, const struct meta_answer *answer);
void move_hold(struct sched *s, uint32_t slot); /* the slot is nowhere */
void move_ask_again(struct sched *s);           /* a life begins: what is still ours? */
void move_checked(struct sched *s, uint32_t slot, const struct meta_answer *answer);
void move_adopt(struct sched *s, uint32_t node, uint32_t from);
void move_adopt_all(struct sched *s); /* our own from before, and those of all dead nodes */
void move_adopted(struct sched *s, const struct meta_answer *answer, const struct meta_item *items);

/* gang.c */
void gangs_init(struct sched *s);
void gangs_free(struct sched *s);
static inline bool gang_is_wide(const struct sched *s, uint32_t task)
{
    return s->gangs && s->config.task_nodes[task] > 1;
}
bool gang_fits(const struct sched *s, uint32_t task); /* there are as many nodes that it fits */
bool gang_is_waited_for(const struct sched *s);       /* what becomes free is kept for a part */
bool gang_gives(const struct sched *s);               /* some part has cores here */
void gang_enqueue(struct sched *s, uint32_t slot);    /* task_enqueue() of a wide task */
/* place_enter() and place_leave() of WIDEQ; its slot has left GATHERING or RUNNING. */
void gang_queue(struct sched *s, uint32_t slot, bool enters);
void gang_left(struct sched *s, uint32_t slot, enum sched_place place);
bool gang_is_broken(const struct sched *s, uint32_t slot);      /* RUNNING: a node was lost */
void gang_abandon(struct sched *s, uint32_t slot);              /* GATHERING: later again */
void gang_node_lost(struct sched *s, uint32_t node, bool down); /* down, or has less than it had */
void gang_refuse_parts(struct sched *s);                        /* this one has less than it had */
void gang_room(struct sched *s, const struct sched_part *has);
void gang_message(struct sched *s, const struct sched_message *m, const struct meta_item *items);
void gang_timer(struct sched *s);
void gang_advance(struct sched *s);
/* Cores of parts, and whether what is counted along the way is right. For sched_check(). */
bool gang_check(const struct sched *s, uint32_t *cores);
uint32_t gang_upcoming(const struct sched *s, uint32_t *tasks, uint32_t most);

/* steal.c */
void steal_maybe(struct sched *s);
bool steal_is_in_vain(const struct sched *s); /* idle, and the last round found nothing */
void steal_wake(struct sched *s);             /* there is work again: stealing may be worth while */
void steal_message(struct sched *s, const struct sched_message *m, const struct meta_item *items);
void steal_timer(struct sched *s, enum timer_kind kind, uint32_t mark);

/* policy.c */
double policy_length(const struct sched *s, uint32_t task);
double policy_key(const struct sched *s, const struct slot *slot);
void policy_set(struct sched *s, enum sched_policy policy);
void policy_arm(struct sched *s);
void policy_monitor(struct sched *s);
