/* Elasticity: how many nodes of Slurm a run should have. As many as there are tasks that run, are
 * ready or will be once something that runs has ended, divided by the cores of a node; never more
 * than the user allows. Nodes are only ever asked for: agents without work leave by themselves
 * (their `linger`), which gives the node back.
 *
 *     struct elastic e = {.most = 40, .cores = 0};
 *     fleet_want(f, elastic_first(&e, elastic_ready_tasks(w, &needs, &e.least)));  before the run
 *     elastic_learn(&e, load->agents, load->cores);                         every few seconds
 *     e.least = load->widest;
 *     fleet_want(f, elastic_nodes(&e, load->ready + load->running + load->soon)); */
#pragma once
#include "memo/need.h"

struct elastic {
    uint32_t most;  /* nodes that the user allows */
    uint32_t least; /* nodes that one task spans, of those that run, are ready or will be */
    uint32_t cores; /* of a node; 0: not known yet */
};

/* Tasks that may start at once: they have to run, and nothing that they need has. `widest`: the most
 * nodes that one of them spans. O(V + E). */
uint32_t elastic_ready_tasks(const struct workflow *w, const struct needs *needs, uint32_t *widest);
/* Nodes to begin with, for so many tasks. One while nobody knows how large a node is: the first
 * agent tells. */
uint32_t elastic_first(const struct elastic *e, uint64_t tasks);
/* So many agents live, with so many cores together. */
void elastic_learn(struct elastic *e, uint32_t agents, uint32_t cores);
/* Nodes for so many tasks; 0: none are needed. As for elastic_first(): all that were there may be gone
 * before anybody knew their size. */
uint32_t elastic_nodes(const struct elastic *e, uint64_t tasks);
