/* How much of a node's memory is taken, over time: a step function. Kept only for nodes whose
 * memory can run short. */
#pragma once
#include "base/array.h"

struct profile_step {
    double time, used; /* from `time` to the next step */
};

struct memory_profile {
    ARRAY(struct profile_step) steps;
};

void profile_free(struct memory_profile *p);
/* The earliest time >= ready from which `amount` fits under `limit` for `duration`. amount must not
 * exceed the limit. O(log steps + steps passed over). */
double profile_find(const struct memory_profile *p, double limit, double ready, double duration,
                    double amount);
/* Take `amount` from start to finish; a negative one gives it back. */
void profile_add(struct memory_profile *p, double start, double finish, double amount);
