/* `weft sim --schedulers N`: a cluster of distributed schedulers in virtual time. */
#pragma once
#include "cli/cli.h"
#include "sim/schedulers.h"

int sim_schedulers_run(const struct arguments *a);
