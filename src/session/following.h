/* A plan that a run keeps to (model/guide.h), from when it is chosen until what happened was judged.
 *
 *     following_take()        before the start: can it be followed at all?
 *     following_begin_...()   the guide becomes edges of the session's workflow; nothing has started
 *     following_end()         the workflow is as it was; every constraint is asked of what happened
 *
 * The history has the workflow without the guide: a plan is how it ran, not what it is. */
#pragma once
#include "cluster/client/client.h"
#include "model/guide.h"
#include "plan/constraints/happened.h"
#include "session/session.h"

struct following {
    struct plan *plan;         /* owned */
    struct platform *platform; /* that it was made for */
    bool lent;                 /* the platform is somebody else's */
    enum plan_follow follow;   /* never the default */
    struct guide guide;
    uint32_t *agent;     /* by node: the number of the agent; NULL: all of it is this machine */
    uint32_t *home;      /* by task: its agent, once that is known; NULL: not on agents */
    bool begun;          /* the guide is in the workflow */
    struct paces *paces; /* how its agents turn out (repace.c); NULL: that is of no account */
    ARRAY(struct run_spilled) spilled;
    struct run_spill spill; /* the same, of a run here: files that leave memory for a while */
};

/* Takes plan and platform (unless that is `lent`) over, also when it fails; one that was chosen before is
 * forgotten. False: it cannot be followed so. */
bool following_take(struct session *s, struct plan *plan, struct platform *platform, bool lent,
                    enum plan_follow follow, struct error *err);
void following_free(struct following *f); /* NULL is fine */

/* On this machine. Without a plan nothing happens, here and below. */
bool following_begin_here(struct session *s, struct error *err);
/* On agents, before the run is handed in: nodes of the plan are those of their name, or for agents that
 * were started for this run on this machine (`own`) in turn. False: one is not there, or has too little. */
bool following_begin_on(struct session *s, const struct client *client, bool own,
                        struct error *err);
/* Per task the agent that the plan places it on; NULL: it places none. Valid as long as the plan. */
const uint32_t *following_homes(const struct session *s);
/* The agents that live, for a plan of a run on them; `numbers`: theirs, by node. The caller frees both. */
struct platform *following_agents(const struct session *s, const struct client *client,
                                  uint32_t **numbers, struct error *err);
/* Agents are gone, or one that the plan names was not there when the run was handed in (replan.c).
 *
 *     gone      what it had to do still is planned again, on the nodes that are left, under the same
 *               constraints; what has happened is given. A plan without constraints: anybody does it.
 *     False     no schedule fulfils the requirements any more, and the plan is strict */
bool following_gone(struct session *s, const struct client *client, struct client_follow *follow,
                    struct error *err);
/* Every few seconds: are agents of a strict plan without constraints slower or quicker than planned, or have they another memory
 * than when the run began? Then what has not begun is planned again from the present state, and goes elsewhere if that is worth
 * it, which is said (repace.c). */
void following_look_at_paces(struct session *s, const struct client *client,
                             struct client_follow *follow);
/* When the run is handed in: as its agents are now, they were planned for. */
void following_begin_paces(struct session *s, const struct client *client);
void paces_free(struct paces *p); /* NULL is fine */
/* In place of a plan that names `why` an agent that is not there. False: an error, or (`why`) it has no
 * constraints that another plan could fulfil. */
bool following_plan_anew(struct session *s, const struct client *client, const struct error *why,
                         struct error *err);
/* What happened so far as a schedule, by task: of each the attempt that ended last; task NONE: it has not. How
 * many have. */
uint32_t following_happened(const struct session *s, struct placement *at);
/* Plans, and where the constraints leave no schedule on agents that nobody else uses (`p->utilization`, the first
 * default constraint), with all of them, which is said. `p` is the request's platform. NULL: there is none. */
struct plan *following_search(const struct session *s, const struct planner *planner,
                              const struct plan_request *request, struct platform *p,
                              struct error *err);
/* The run is over (`good`: all is done): did the constraints hold? False: a requirement did not. What is
 * found goes into the record. */
bool following_end(struct session *s, bool good, struct error *err);

/* Nodes for a plan of a run on this machine: one with all cores, or for constraints, which speak of
 * processors, one for each core. */
struct platform *following_platform(const struct session *s, bool processors, struct error *err);
/* Do the constraints of the workflow and of the options name only processors that are there? One that is not
 * would be a wish about nothing, and hold. False: ERROR_INFEASIBLE, with the name. */
bool following_names_nodes(const struct session *s, const struct plan_request *r,
                           const struct platform *p, struct error *err);
