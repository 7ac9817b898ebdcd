/* MOS: least latency at a required throughput (Vydyanathan et al., OSU-CISRC-4/08-TR17, Algorithms
 * 1 to 4). */
#pragma once
#include "plan/planner.h"
#include "plan/stream/state.h"

/* Estimates by fingerprint: a merge that swallows a duplicate is what the merge before it was. */
struct mos_memo {
    struct mos_known {
        uint64_t state; /* 0: free */
        double latency, rate;
        double
            beyond; /* not estimated to the end: the latency exceeds this, or the rate is missed */
    } * at;
    size_t n, mask;
};

/* A candidate move: state and estimate, reused. */
struct mos_bench {
    struct stream_state current, best, trial, choice, step, deeper;
    struct stream_estimate now, look[2];
    uint64_t tried; /* estimates of LMH */
    struct mos_memo memo;
    bool fresh; /* mos_estimate_trial() left its estimate in look[0] */
    /* an estimate that a move may need once more, and the fingerprint of its state; 0: none */
    struct stream_estimate kept;
    uint64_t kept_state;
};

/* x->trial is estimated from x->now, or was before; `rate` must always be the same. x->fresh says which. */
bool mos_estimate_trial(const struct stream_problem *q, struct mos_bench *x, double limit,
                        double rate);

/* The phases, each on `s`. */
void mos_satisfy_throughput(const struct stream_problem *q,
                            struct stream_state *s); /* Algorithm 1 */
/* Algorithm 2. A merge may miss the throughput: then its clusters keep their replicas, to be merged
 * further, or get those that meet it. True: it happened, and `other` is the result of the second
 * way. */
bool mos_reduce_processors(const struct stream_problem *q, struct stream_state *s,
                           struct stream_state *other);
void mos_reduce_replicating(const struct stream_problem *q,
                            struct stream_state *s);                               /* second way */
void mos_minimise_latency(const struct stream_problem *q, struct stream_state *s); /* Algorithm 3 */

/* What MOS returns: a mapping, pipelined or not. */
struct mos_result {
    struct stream_state state; /* not pipelined: one cluster per processor used */
    bool pipelined, meets;
    double latency, throughput;
    double asked; /* the throughput that the replicas were counted for */
};
void mos_run(const struct stream_problem *q, struct mos_result *out);
void mos_result_free(struct mos_result *r);

/* Algorithm 4: the most throughput with a latency of at most `limit`. False: none found; *least is
 * the least latency seen. */
bool mos_inverse(struct stream_problem *q, double limit, struct mos_result *out, double *least);

/* Moves shared by the phases. `rate`: the throughput before. Ancestors follow while the rate is
 * missed; with `deeper` (memory for one more state) a few more do, those whose data comes last
 * first, and the least latency counts. `e`: memory for two estimates; without `deeper` the first is
 * that of the result. False: it cannot be done. */
bool mos_duplicate(const struct stream_problem *q, struct stream_state *s, uint32_t task,
                   uint32_t cluster, double rate, double limit, struct stream_state *deeper,
                   const struct stream_estimate *base, struct stream_estimate e[2]);

/* Options of the planners. */
#define STREAM_OPTIONS                                                                             \
    {"throughput",                                                                                 \
     OPTION_TEXT,                                                                                  \
     "0",                                                                                          \
     NULL,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     "items a second, or a fraction of the most there can be: 0.5Tmax"},                           \
        {"latency",                                                                                \
         OPTION_TEXT,                                                                              \
         "",                                                                                       \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "most latency; then the throughput is what is maximised"},                                \
        {"ports",                                                                                  \
         OPTION_INTEGER,                                                                           \
         "0",                                                                                      \
         NULL,                                                                                     \
         0,                                                                                        \
         1000000,                                                                                  \
         "partners at once per node (0: as the platform says)"},                                   \
    {                                                                                              \
        "duplication", OPTION_BOOL, "on", NULL, 0, 0, "copies of tasks in several clusters"        \
    }
struct stream_target {
    double throughput; /* NAN: not given */
    double fraction;   /* of the most; NAN: not given */
    double latency;    /* NAN: not given */
};
bool stream_target_read(const struct plan_request *r, const struct planner *p,
                        struct stream_target *out, struct error *err);
/* A graph and a problem for the request, with the required throughput in it. False: input the
 * planner cannot take. */
bool stream_problem_open(const struct plan_request *r, const struct planner *p,
                         struct stream_problem *q, struct stream_graph **g,
                         struct stream_target *target, struct error *err);
struct plan *stream_plan(const struct stream_problem *q, const struct mos_result *r);
