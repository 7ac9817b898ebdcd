/* Beyond MOS: any platform, and promises that a replay confirms. */
#pragma once
#include "plan/stream/assignment.h"

struct stream_solution {
    struct assignment assignment;
    bool pipelined;
    double latency, throughput;
    double asked;
    bool meets;
};

/* The best mapping for space->q->throughput: never worse than mos_run() where that applies.
 * `effort` scales the search. */
void stream_solve(struct assignment_space *space, double effort, uint64_t seed,
                  struct stream_solution *out);
/* starts.c: the best of EXPERT, FCP and list schedules, each repaired to the throughput. Equal nodes. */
void stream_start_others(struct stream_solution *best, struct assignment_space *space);
void stream_solution_free(struct stream_solution *s);
/* The largest throughput for which a mapping is known to exist. */
double stream_most(const struct assignment_space *space);

/* The front of latency, throughput and processors: mappings none of which is beaten in all three, from no throughput to the most.
 * The planner (mos or stream) runs at `points` throughputs, and on 1/2, 1/4 ... of the nodes at fewer. Plans belong to the
 * caller. */
struct stream_front {
    ARRAY(struct plan *) plans; /* by rising processors, then throughput */
};
bool stream_front(const struct planner *planner, const struct plan_request *request,
                  uint32_t points, struct stream_front *out, struct error *err);
void stream_front_free(struct stream_front *f);
