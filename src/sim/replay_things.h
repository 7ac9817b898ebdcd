/* Things of nodes (model/things.h) in a replay: placements take them in the planned order, sort by sort,
 * as they take cores, so that a plan carried out without noise ends no later than it says. */
#pragma once
#include "model/plan.h"

struct replay_things;

/* NULL: no task asks for any. */
struct replay_things *replay_things_new(const struct workflow *w, const struct platform *p,
                                        const struct plan *plan);
void replay_things_free(struct replay_things *t); /* NULL is fine */
/* May this placement start? If so it holds its things from now on; else it waits on its node. */
bool replay_things_take(struct replay_things *t, uint32_t placement);
/* It has ended or was lost. */
void replay_things_give(struct replay_things *t, uint32_t placement);
/* One of those that wait on the node and may start now, which then holds its things; NONE: none may. */
uint32_t replay_things_next(struct replay_things *t, uint32_t node);
/* The node is down: nobody waits there any more; whoever is ready asks again when it is back. */
void replay_things_down(struct replay_things *t, uint32_t node);
