/* Repairing a complete schedule that breaks requirements or leaves wishes open: tasks move to other
 * processors, change places in the order of scheduling, and wait. */
#pragma once
#include "plan/constraints/verdict.h"

/* Better `best` within the limits, in `s`, which must not keep orders or weigh otherwise than the
 * user does. Stops when everything is fulfilled. Returns the number of schedules that were tried. */
uint64_t repair_candidate(struct space *s, struct schedule_found *best,
                          const struct constraints_limits *limits);
