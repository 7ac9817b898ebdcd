/* `weft plan --front`. */
#pragma once
#include "cli/cli.h"

/* `settings`: of the planner, ended by NULL. */
int front_run(const struct arguments *a, const struct weft_problem *problem,
              const char *const *settings, uint64_t seed);
