/* What a replay of a stream mapping reaches: filled by the caller of a planner (the simulator lives
 * in another room), received by planners that promise only what the replay confirms. */
#pragma once
#include "model/plan.h"

struct replayer {
    /* Steady items a second of a saturated stream through the mapping; false: it cannot be
     * replayed. */
    bool (*throughput)(void *context, const struct workflow *w, const struct platform *p,
                       const struct plan *plan, double *out);
    void *context;
};
