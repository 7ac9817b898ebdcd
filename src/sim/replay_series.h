/* Views of a finished replay for tables and pictures: arrays of (time, value), stretches. All are
 * computed on demand from the result, so that a replay of a million tasks carries none of it. */
#pragma once
#include "sim/replay.h"

struct series_point {
    double time, value;
};

struct series {
    struct series_point *at;
    size_t n;
};

void series_free(struct series *s);

/* Memory of the tasks running on `node`, a step function: value from its time to the next point's.
 * O(placements log). */
void replay_memory_series(const struct replay_result *r, const struct workflow *w,
                          const struct plan *plan, uint32_t node, struct series *out);
/* Busy cores of all nodes together, a step function (lost runs count as busy). */
void replay_running_series(const struct replay_result *r, const struct workflow *w,
                           const struct plan *plan, struct series *out);
/* Share of the cores of the nodes in use that compute, averaged over `bins` equal spans; a point
 * per bin at its start. */
void replay_utilization_series(const struct replay_result *r, const struct workflow *w,
                               const struct platform *p, const struct plan *plan, uint32_t bins,
                               struct series *out);

/* stretch[i] = (finish - the moment the last predecessor of the task ended) / time it computed: 1
 * when a copy started the moment its predecessors were done and was never lost; tasks of no
 * duration count as 1. NAN for copies that did not run. */
void replay_stretch(const struct replay_result *r, const struct workflow *w,
                    const struct plan *plan, double *stretch);
struct stretch_summary {
    double mean, median, p95, max;
    uint32_t worst; /* placement */
};
void replay_stretch_summary(const struct replay_result *r, const struct workflow *w,
                            const struct plan *plan, struct stretch_summary *out);
