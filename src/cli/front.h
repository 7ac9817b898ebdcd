/* What `weft plan` needs for streams: the replay that confirms promises, and the front. */
#pragma once
#include "cli/cli.h"
#include "plan/planner.h"

extern const struct replayer cli_replayer; /* 1,000 items, saturated */

/* `weft plan --front`: print every latency/throughput trade-off, draw it to --gantt. Returns the
 * exit status. */
int front_run(const struct arguments *a, const struct planner *planner, uint64_t seed,
              const struct workflow *w, const struct platform *p);
