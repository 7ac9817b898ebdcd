/* The one judge of plans. It knows the model and nothing of any planner: whoever made the plan,
 * these are the rules.
 *
 * Static plans: every task has a copy; a copy's data is on its node before it starts (a local copy
 * of the producer, or a transfer that ends in time); its time is what the node's speed says; one
 * task at a time per core, memory and things of running tasks within the node, files too where they count
 * (residence.h); transfers take at least latency
 * + size / bandwidth, start when their source has the object, join different nodes, and respect the
 * ports; claimed objectives are what is recomputed. Inputs of the workflow (objects without
 * producer) are everywhere. Missed deadlines do not make a plan invalid: they are counted as the
 * objective "missed_deadlines". Times compare with a tolerance of 1e-9 relative to the makespan. */
#pragma once
#include "model/plan.h"

enum violation_kind {
    VIOLATION_MISSING_TASK, /* "missing-task": no copy */
    VIOLATION_COPY,         /* "copy": same copy number twice, or two copies on one node */
    VIOLATION_NODE,         /* "node": down, or the task cannot run there */
    VIOLATION_TIME,         /* "time": negative, NaN, finish before start */
    VIOLATION_DURATION,     /* "duration": not the time that the node's speed gives */
    VIOLATION_PRECEDENCE,   /* "precedence": starts before its data or its predecessor's end */
    VIOLATION_CORE,         /* "core": two at once on one core, or a core the node does not have */
    VIOLATION_MEMORY,       /* "memory" */
    VIOLATION_RESOURCES,    /* "resources": more things in use than the node has */
    VIOLATION_TRANSFER,     /* "transfer": missing, from a node without the object, on one node */
    VIOLATION_TRANSFER_EARLY, /* "transfer-early": before its object exists at the source */
    VIOLATION_TRANSFER_SHORT, /* "transfer-short": faster than the network */
    VIOLATION_PORTS, /* "ports": more partners at once than ports, or two messages at once on one
                        pair */
    VIOLATION_OBJECTIVE, /* "objective": claims what is not so */
    VIOLATION_PARTITION, /* "partition": tasks twice or missing, parts not connected, a node twice
                          */
    VIOLATION_STREAM, /* "stream": tasks twice or missing, replicas of what may not be replicated,
                         too few nodes */
    VIOLATION_ORDER,  /* "order": not every task once, or a task before its predecessor */
};
const char *violation_name(enum violation_kind kind);

struct violation {
    enum violation_kind kind;
    uint32_t task; /* NONE: not about one task */
    char *detail;  /* one sentence with names and numbers */
};

/* The least time after which the transfers of one channel of a cluster can repeat. */
struct cycle_time {
    uint32_t cluster, channel;
    double seconds;
};

enum { CHECK_MOST = 1000 }; /* violations kept; more are only counted */

struct check_result {
    ARRAY(struct violation) violations;
    size_t total;                         /* also those past CHECK_MOST */
    struct plan *recomputed;              /* its objectives are the recomputed ones */
    ARRAY(struct cycle_time) cycle_times; /* streams: by cluster, channel */
};

/* Judge; false only when the plan cannot be judged at all (sizes that do not fit). `result` is
 * filled in any case and freed by check_result_free(). The plan is valid when result->total is 0.
 */
bool check_plan(const struct plan *plan, const struct workflow *w, const struct platform *p,
                struct check_result *result, struct error *err);
void check_result_free(struct check_result *r);
/* Only whether tasks hold more things than nodes have; `err` names the first that does. */
bool check_plan_things(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct error *err);
/* Only whether the memory of some node is exceeded, by the rule that the plan states; `err` names the
 * node, the time and what is there. */
bool check_plan_memory(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct error *err);
