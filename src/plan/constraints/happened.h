/* Constraints on what happened: the same SQL as of a plan, over the times and processors of a run. */
#pragma once
#include "base/array.h"
#include "plan/planner.h"

struct constraint_outcome {
    char *text; /* where it stands, and what it says; owned */
    bool requirement, held;
    bool wish;      /* a preference that holds or does not; others are more or less well met */
    double measure; /* of a value constraint its value, else its failed tests; NAN: unknown */
};
typedef ARRAY(struct constraint_outcome) constraint_outcomes;

/* The user's own constraints (of the request's options and the workflow), each on the schedule `at`, which
 * has every task once. False: one cannot be read or evaluated. Those that only say how to search are
 * left out. */
bool constraints_judge(const struct plan_request *request, const struct placement *at, size_t n,
                       constraint_outcomes *out, struct error *err);
void constraint_outcomes_free(constraint_outcomes *o);
/* Can they be read? No schedule is asked for. */
bool constraints_read(const struct plan_request *request, struct error *err);
/* Has the request constraints of the user's own? */
bool constraints_are_given(const struct plan_request *request);
