/* What a replay of a stream mapping reaches: filled by the caller of a planner (the simulator lives
 * in another room), received by planners that promise only what the replay confirms. */
#pragma once
#include "model/plan.h"

struct replayed {
    double throughput; /* steady, items a second */
    double latency;    /* of an item among others, the mean */
};

struct replayer {
    /* A stream at the plan's pace; false: it cannot be replayed. */
    bool (*run)(void *context, const struct workflow *w, const struct platform *p,
                const struct plan *plan, struct replayed *out);
    void *context;
};
