/* The two schemes that the report measures MOS against, as the specification reconstructs them. */
#pragma once
#include "plan/stream/mos.h"

struct fcp_result {
    struct stream_rotation
        mapping; /* of all instances together: copies in the order they were placed */
    double throughput,
        latency; /* by the report's rule: rates of instances add, the least latency counts */
    uint32_t processors, instances;
};
/* Filter Copy Pipeline; `extended`: run again on unused processors while the rate is missing.
 * ports: for the figures; 0: without limits, as in the report. */
void fcp_run(const struct stream_problem *q, bool extended, uint32_t ports, struct fcp_result *out);
void fcp_result_free(struct fcp_result *r);

/* EXPERT; `extended`: the processors left are shared out among the clusters. */
void expert_run(const struct stream_problem *q, bool extended, struct mos_result *out);

/* EXPERT's merging on other clusters (cluster[t] < nclusters): joined pairs, the heaviest traffic
 * first, as long as their time stays within the cap. Returns how many are left, numbered anew. */
uint32_t expert_coarsen(const struct stream_problem *q, double cap, uint32_t *cluster,
                        uint32_t nclusters);

/* Equal nodes and a throughput: what both take. */
bool baseline_can(const struct stream_problem *q, const struct planner *p,
                  const struct stream_target *target, struct error *err);
