/* What a run keeps to of a plan: a plan as a few more edges.
 *
 *     plan                        guide                      the workflow of the run
 *     core 1   [ a ][  c  ]       a -> c    (same core)      edges without data beside its own;
 *     core 2   [  b  ]  [ d ]     b -> d                     not_before[]; a word that only one
 *     waits    d after c          c -> d                     agent has, for who is placed there
 *              e until 3 s        e: 3 s
 *
 * So nobody who starts tasks knows of plans: the store counts the edges, the scheduler looks at a time,
 * and a task that is placed fits one agent. Local runs, agents and simulated schedulers follow alike. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/plan.h"
#include "model/workflow.h"

enum plan_follow {
    FOLLOW_DEFAULT, /* strict for a plan under constraints, else order */
    FOLLOW_STRICT,  /* placement, the order on each core, waits */
    FOLLOW_ORDER,   /* the order among ready tasks, waits for other tasks; no core idles for more */
    FOLLOW_HINT,    /* priorities only */
};
const char *plan_follow_name(enum plan_follow follow);
/* False: there is no such word. */
bool plan_follow_parse(const char *word, enum plan_follow *out);

struct guide_edge {
    uint32_t from, to; /* `to` starts after the end of `from` */
};

struct guide_start {
    uint32_t task;
    double until; /* seconds of the run */
};

struct guide_place {
    uint32_t task, node; /* node: of the platform; then, on a cluster, the agent's number */
};

struct guide {
    ARRAY(struct guide_edge) edges;
    ARRAY(struct guide_start) starts;
    ARRAY(struct guide_place) places; /* strict: every task, once */
    /* in a workflow: the edges that it had not, sorted; how many attributes it had, and whether needs */
    ARRAY(struct guide_edge) added;
    uint32_t attributes;
    bool needs, in_place;
};

/* False: it cannot be followed so, and `err` says why: a task that it does not place, or places twice,
 * an order that contradicts the workflow's. O(tasks log tasks). */
bool guide_of_plan(struct guide *g, const struct workflow *w, const struct plan *plan,
                   enum plan_follow follow, struct error *err);
void guide_free(struct guide *g);

/* Edges and times become the workflow's, and with `agents` places, too. Numbers of tasks and objects stay.
 * False: edges and workflow make a cycle, or there are too many agents to tell apart; then the workflow is
 * good for nothing. O(tasks + edges). */
bool workflow_take_guide(struct workflow *w, struct guide *g, bool agents, struct error *err);
/* The workflow is as it was before. */
void workflow_drop_guide(struct workflow *w, struct guide *g);
/* Attributes of an agent that are a mask over the workflow's: its own words, and its number. */
uint64_t workflow_agent_mask(const struct workflow *w, const char *has, uint32_t agent);
/* Of a workflow that has such words: the task is this agent's now; NONE: anybody's. False: there is no room
 * for the agent's word, or the task is not there; nothing has changed. */
bool workflow_place(struct workflow *w, uint32_t task, uint32_t agent);
bool workflow_is_placed(const struct workflow *w); /* are there tasks that only one agent has? */

void guide_put(const struct guide *g, struct strbuf *out);
bool guide_take(struct bytes *in, struct guide *g);
