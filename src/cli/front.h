/* `weft plan --front`. */
#pragma once
#include "cli/cli.h"

int front_run(const struct arguments *a, const struct weft_problem *problem, uint64_t seed);
