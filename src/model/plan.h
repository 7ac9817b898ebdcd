/* A plan: who runs what, where, when. Planners fill it, the checker judges it, the simulator and
 * the runtime follow it. It refers to a workflow's tasks and objects and a platform's nodes by
 * index, and owns everything else. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/platform.h"
#include "model/workflow.h"

enum plan_kind { PLAN_STATIC, PLAN_PARTITION, PLAN_STREAM, PLAN_ORDER };
const char *plan_kind_name(enum plan_kind kind); /* "static", "partition", "stream", "order" */
/* A plan, but for an order, gives a task one node. False: some task spans several, and no plan can have
 * it (ERROR_INFEASIBLE). */
bool plan_can_place(const struct workflow *w, struct error *err);

/* One copy of a task. A task that needs c cores occupies cores core .. core+c-1 of its node. */
struct placement {
    uint32_t task, copy, node, core;
    double start, finish;
};

struct transfer {
    uint32_t object, from, to;
    double start, finish;
};

/* A part of a tree on one node. `tasks` and `order` index plan->tasks (count entries each). */
struct part {
    uint32_t root, node;
    uint32_t tasks, order, count; /* first entries in plan->tasks; order is NONE when not given */
    double memory;                /* least peak; NAN: not stated */
};

/* The files between two tasks of a part are written to its node's disk before `before` starts, and read again when
 * `to` starts: memory has no room for them in between. */
struct plan_eviction {
    uint32_t from, to, before;
};

/* A cluster of a stream mapping: tasks, then duplicates, in plan->tasks; nodes in plan->nodes. */
struct cluster {
    uint32_t tasks, ntasks, duplicates, nduplicates;
    uint32_t nodes, nnodes;
    double replicas;
};

/* When a copy of a task starts, and when an object leaves one cluster for another: for item 0, in
 * seconds. Item n does the same n periods later, so replica j of r starts at start + j periods and
 * then every r periods. */
struct stream_start {
    uint32_t task, cluster;
    double start;
};
struct stream_send {
    uint32_t object, from, to; /* from, to: clusters */
    double start;
};
/* The schedule that a stream plan promises its throughput by. A plan that is not pipelined has its
 * list schedule here, with the latency as the period. */
struct stream_schedule {
    double period; /* 0: the plan has none (it was made before plans had one, or it rotates) */
    ARRAY(struct stream_start) starts;
    ARRAY(struct stream_send) sends;
};
void stream_schedule_free(struct stream_schedule *s); /* leaves it empty */

/* A task whose node a constraint of the user chose; `constraint` counts from 1. */
struct plan_pin {
    uint32_t task, constraint;
};

/* What a task waits for beside its data and its core, because a constraint asks for it. */
struct plan_wait {
    uint32_t task;
    uint32_t after; /* it does not start before this one has ended; NONE: see `until` */
    double until;   /* it does not start before this time of the run */
};

enum { PLAN_OBJECTIVES = 16 };

struct plan_option {
    char *name, *value;
};

struct plan {
    enum plan_kind kind;
    /* where it comes from */
    char *planner;
    ARRAY(struct plan_option) options;
    uint64_t seed;
    double planning_seconds;
    char *workflow_name, *workflow_file, *platform_name, *platform_file;

    enum memory_rule memory; /* static: what its planner counted; unstated: as plans did before they
                                said it, tasks alone */

    /* objective values it claims, in order of setting: "makespan", "throughput", ... and bounds
     * ("lower_bound") */
    struct {
        char name[32];
        double value;
    } objectives[PLAN_OBJECTIVES];
    uint32_t nobjectives;

    ARRAY(struct placement) placements; /* static: sorted by (start, task, copy) once finished */
    ARRAY(struct transfer) transfers;   /* sorted by (start, object, to) */
    ARRAY(struct plan_pin) pins;        /* few; sorted by task where a planner wrote them */
    ARRAY(struct plan_wait) waits;
    ARRAY(char *) constraints; /* what the pins refer to: where it stands, its text */

    ARRAY(struct part) parts;
    ARRAY(struct plan_eviction) evictions; /* of parts with an order, in that order */
    ARRAY(struct cluster) clusters;
    ARRAY(uint32_t) tasks; /* storage for parts and clusters */
    ARRAY(uint32_t) nodes;
    bool pipelined;
    bool rotating; /* copies of a task share the items: item n goes to copy n mod their number, by
                      cluster number */
    uint32_t ports;
    struct stream_schedule schedule;

    ARRAY(uint32_t) order;    /* order: every task once */
    ARRAY(uint32_t) eligible; /* after 0, 1, ... n executions; may be empty */
    char *verdict, *proof;    /* IC_PROVED ... ; NULL: not stated */

    ARRAY(char *) notes; /* what the planner has to say to the user, a line each */
};

/* Bytes that are written, and read again. */
double plan_eviction_bytes(const struct workflow *w, const struct plan_eviction *x);

struct plan *plan_new(enum plan_kind kind);
void plan_free(struct plan *p); /* NULL is fine */
struct plan *plan_copy(const struct plan *p);
void plan_set_objective(struct plan *p, const char *name, double value);
/* NAN when the plan claims none of that name. */
double plan_objective(const struct plan *p, const char *name);
void plan_set_option(struct plan *p, const char *name, const char *value);
void plan_note(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The parts of a tree as a static plan: each in its order (else topological) on core 0 of its node,
 * with the place in that order as start and finish. Results of a replay of such a partition are
 * numbered by these placements; a run follows them. The caller frees it. */
struct plan *plan_of_parts(const struct plan *plan, const struct workflow *w,
                           const struct platform *p, struct error *err);

/* Per task the constraint that pinned it, 0: none; the caller frees. NULL: the plan has no pins. */
uint32_t *plan_pins_by_task(const struct plan *p, uint32_t ntasks);

/* Do files count when this plan is judged or carried out? The plan's own word, else the platform's, else
 * they do not: a plan that says nothing is from before files counted. */
bool plan_counts_files(const struct plan *p, const struct platform *platform);

/* Put placements and transfers into their canonical order. */
void plan_sort(struct plan *p);
/* Latest finish of a placement, 0 when there is none. */
double plan_makespan(const struct plan *p);
/* Nodes with at least one placement (static), part, or cluster. */
uint32_t plan_nodes_used(const struct plan *p, const struct platform *platform);
