/* What making a plan again needs to know of a run on agents: shared by replan.c (agents that are gone) and repace.c (agents that
 * are slower than planned, or have less memory). Private to them. */
#pragma once
#include "session/following.h"

enum replan_state { REPLAN_WAITS, REPLAN_RUNS, REPLAN_ENDED };

struct replan {
    struct session *s;
    struct following *f;
    double now;            /* seconds of the run */
    bool *gone;            /* by node */
    uint32_t *node;        /* by task: where it is, was, or is to be */
    uint8_t *state;        /* by task */
    struct placement *at;  /* by task: what happened; then what is expected */
    double *stated, *took; /* by task: work as the workflow says it, and as it came to be */
    uint64_t *needs;       /* the workflow's, with words of agents */
};

/* From what is known of the run; `gone` are nodes whose agents are. */
void replan_look(struct replan *a, const struct client *c, const struct client_follow *follow);
void replan_free(struct replan *a);
/* Work is what it came to be, and words of agents are no attributes; then as it was before. */
void replan_dress_workflow(struct replan *a);
void replan_undress_workflow(struct replan *a);
bool replan_has_constraints(const struct session *s, const struct plan *plan);
/* Tasks that wait go where the plan has them; how many do. `to`: by node, those that got some are marked. */
size_t replan_move(struct replan *a, struct client_follow *follow, const struct plan *plan,
                   bool *to);
/* Names of nodes that are marked: "'n1', 'n3'". */
void replan_name_nodes(const struct replan *a, const bool *which, struct strbuf *out);
/* The member that this agent is; NULL: it is dead. One that leaves ends what it runs. */
const struct member *replan_agent(const struct client *c, uint32_t agent);
