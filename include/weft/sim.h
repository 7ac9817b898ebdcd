/* libweft: simulation. A plan in virtual time, by its kind: a static plan task by task, a stream's
 * mapping item by item, an order by a server whose clients come and go; and a cluster of distributed
 * schedulers that runs a graph without a plan. The same options and seed give the same result
 * everywhere. Part of <weft/weft.h>. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H
#include "weft/plan.h"
#include "weft/common.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weft_trace_kind {
    WEFT_TRACE_TASK,     /* task `id` ran on `node`, core `lane`, from start to finish */
    WEFT_TRACE_TRANSFER, /* object `id` went from `node` to `other` */
    WEFT_TRACE_FAULT,    /* `node` failed at start, and was back at finish (INFINITY: never) */
    WEFT_TRACE_COUNTER,  /* `amount` of counter `id` on `node`: memory, ready or running tasks */
};
struct weft_trace {
    enum weft_trace_kind kind;
    uint32_t id, node, other, lane;
    uint32_t copy; /* of the task; of streams the item */
    double start, finish, amount;
};

struct weft_fault {
    uint32_t node;
    double time, repair; /* seconds; repair INFINITY: it stays down */
};

/* From then on the node has this speed and this memory; NAN: as before. */
struct weft_node_change {
    uint32_t node;
    double time; /* seconds */
    double speed, memory;
};

enum weft_arrivals { WEFT_ARRIVE_EXPONENTIAL, WEFT_ARRIVE_FIXED, WEFT_ARRIVE_UNIFORM };

struct weft_sim_options {
    size_t size;
    uint64_t seed;
    const char *network; /* "free", "kport" or "fair"; NULL: as the plan and the platform say */
    uint32_t ports;      /* under kport; 0: the plan's, else the platform's */
    double noise;        /* on task times: lognormal, deviation / mean; 0: none */
    /* so many runs over the cores: means and intervals; results do not depend on `threads` */
    uint32_t repeat;
    unsigned threads; /* 0: one a core */
    double confidence;
    bool keep; /* what happened, for weft_sim_happened() and weft_sim_trace() */
    /* Everything that happens in the first run, as it happens. May be NULL. */
    void (*event)(void *context, const struct weft_trace *event);
    weft_progress progress;
    void *context; /* of both */

    /* static plans */
    bool planned_times; /* tasks take what the plan says, not work / speed */
    const struct weft_fault *faults;
    size_t nfaults;
    double mtbf, repair; /* every node fails at random, so long apart (0: never), for so long */

    /* streams */
    uint32_t items;
    double period;   /* seconds between items; 0: see `fed` */
    uint32_t window; /* most items in the system at once; 0: no limit */

    /* clients */
    enum weft_arrivals arrivals;
    double interarrival;            /* mean seconds between batches of requests */
    double batch;                   /* mean requests of a batch */
    double run_time, deviation;     /* of every task; 0: its own work. Relative deviation */
    double slow_share, slow_factor; /* so many clients are slower, by this */
    double vanish_share, timeout;   /* so many never answer; given again after so long */

    /* streams: "flood" (all items are there at once), "period" (one comes every `period`; where that
     * is 0, at the plan's pace and by its schedule), "window" (`window` in work at once). NULL: as
     * `period` and `window` say, else "period" where the plan promises a throughput, else "flood". */
    const char *fed;

    /* static plans and trees: nodes that change while the plan is carried out. At each change what has not
     * begun is planned again from the state of that moment, for the nodes as they are then, and the new plan
     * is taken where it is shorter or the old one does not fit any more (`stay`: never). Under network
     * "free" without noise and failures. */
    const struct weft_node_change *changes;
    size_t nchanges;
    bool stay;
};
/* <math.h> has INFINITY. */
#define WEFT_SIM_INIT                                                                              \
    {                                                                                              \
        sizeof(struct weft_sim_options), 1, NULL, 0, 0, 1, 0, 0.95, false, NULL, NULL, NULL,       \
            false, NULL, 0, 0, INFINITY, 200, 0, 0, WEFT_ARRIVE_EXPONENTIAL, 1, 16, 1, 0.1, 0, 10, \
            0, 10, NULL, NULL, 0, false                                                            \
    }

struct weft_sim;
enum weft_sim_kind { WEFT_SIM_REPLAY, WEFT_SIM_STREAM, WEFT_SIM_CLIENTS };

/* Replay a plan by its kind. The result keeps the plan's workflow and platform; the plan itself must
 * outlive it. A simulation that cannot progress is an error that names who waits for what. */
struct weft_sim *weft_sim_plan(const struct weft_plan *plan, const struct weft_sim_options *options,
                               struct weft_error *error);
/* A server hands the tasks to clients: in the order of `plan` (static plans: by start), or first in,
 * first out when it is NULL. */
struct weft_sim *weft_sim_clients(const struct weft_workflow *w, const struct weft_plan *plan,
                                  const struct weft_sim_options *options, struct weft_error *error);
void weft_sim_free(struct weft_sim *s);

enum weft_sim_kind weft_sim_kind(const struct weft_sim *s);
struct weft_metric {
    const char *name; /* "makespan", "utilization", "throughput", "latency_mean", ... */
    double value;     /* of the first run */
    /* over all runs; half_width: of the mean's interval; INFINITY for one run */
    double mean, deviation, half_width, least, median, most;
};
/* Figure number `i`; false: there are no more. */
bool weft_sim_metric(const struct weft_sim *s, size_t i, struct weft_metric *out);
/* The figure of that name in the first run; NAN: none. */
double weft_sim_value(const struct weft_sim *s, const char *name);
/* What came of a change, in order of time (those of one moment are one: the last of them). */
struct weft_changed {
    double time;
    uint32_t left, moved;   /* tasks that had not begun; those of them that got another node */
    double stays, makespan; /* seconds to the end with the plan as it was (INFINITY: it does not fit
                             * any more), and with what was taken */
};
/* Number `i`; false: there are no more. */
bool weft_sim_change(const struct weft_sim *s, size_t i, struct weft_changed *out);
/* When each placement of a static plan ran, by its number in weft_plan_placements(); 0: the plan
 * has none. */
size_t weft_sim_times(const struct weft_sim *s, const double **start, const double **finish);
/* What happened as a plan (with `keep`), to look at and to draw: the simulation's own, lives as
 * long. NULL: it was not kept. */
const struct weft_plan *weft_sim_happened(const struct weft_sim *s);
/* The same as a trace for Chrome or Perfetto; weft_text_free(). */
char *weft_sim_trace(const struct weft_sim *s, size_t *n, struct weft_error *error);

/* ---- which order for which clients ---- */

struct weft_advice_options {
    size_t size;
    uint32_t repeat;   /* paired runs; 0: as many as take a few seconds, 1,000 at most */
    unsigned threads;  /* 0: one a core; the result does not depend on them */
    double confidence; /* of intervals */
    uint64_t seed;
    weft_progress progress;
    void *context;
};
#define WEFT_ADVICE_INIT                                                                           \
    {                                                                                              \
        sizeof(struct weft_advice_options), 0, 0, 0.95, 1, NULL, NULL                              \
    }

struct weft_advice;
/* Make an order by every planner that may suit and simulate all of them with clients of one pattern:
 * "workers:N", "single[/T]", "batches[:N][/T]" or "poisson[:N][/T]" (docs/order.md). All meet the same
 * clients and the same times of tasks, run by run. */
struct weft_advice *weft_advice_make(const struct weft_workflow *w, const char *clients,
                                     const struct weft_advice_options *options,
                                     struct weft_error *error);
void weft_advice_free(struct weft_advice *a);
/* The pattern in words; how many runs there were. Lives as long as the advice. */
const char *weft_advice_clients(const struct weft_advice *a, uint32_t *runs);
struct weft_advised {
    const char *planner;
    double mean, half_width;        /* seconds until the last task ends */
    double ratio, ratio_half_width; /* of the means: this order's over the best one's, paired */
    bool worse;                     /* the interval of the ratio lies above 1 */
    const struct weft_plan *plan;   /* the order; lives as long as the advice */
};
/* Number `i` by rising mean time; false: there are no more. "fifo" is tasks as they become eligible,
 * what a server does without an order. */
bool weft_advice_order(const struct weft_advice *a, size_t i, struct weft_advised *out);

/* ---- a cluster of distributed schedulers ---- */

struct weft_schedulers_options {
    size_t size;
    const char *dag; /* without a workflow: "bot", "fan-out", "fan-in", "pipeline", "stacking",
                        "all-pairs", as large as the MATRIX paper has them for so many cores */
    uint32_t schedulers, cores;  /* nodes; cores of each */
    const char *policy;          /* "mlb", "mdl", "rlds", "flds", "auto" */
    const char *submit;          /* "best", "hash", "worst", "even" (docs/cluster-simulation.md) */
    const char *const *settings; /* "name=value": tasks, degree, length, latency ...; NULL: none */
    const char *wait;            /* of the bound: "last" or "mean", equation (1) */
    uint64_t seed;
    weft_progress progress;
    void *context;
    /* Nodes as a platform has them, for a workflow: cores, memory, speed, attributes and things of each,
     * bandwidth and latency of its network. `schedulers`: the first so many that are up, 0: all of them;
     * `cores` is not looked at. NULL: nodes are alike */
    const struct weft_platform *platform;
};
#define WEFT_SCHEDULERS_INIT                                                                       \
    {                                                                                              \
        sizeof(struct weft_schedulers_options), NULL, 100, 2, "flds", "best", NULL, "last", 1,     \
            NULL, NULL, NULL                                                                       \
    }
/* Name of policy number `i`, "auto" among them; NULL: there are no more. */
const char *weft_policy(size_t i);

struct weft_schedulers;
/* `w` NULL: options->dag. */
struct weft_schedulers *weft_sim_schedulers(const struct weft_workflow *w,
                                            const struct weft_schedulers_options *options,
                                            struct weft_error *error);
void weft_schedulers_free(struct weft_schedulers *s);
struct weft_schedulers_figures {
    uint64_t tasks;
    double work, makespan, efficiency, throughput; /* seconds; tasks a second */
    uint64_t messages, store_operations, stolen, transfers;
    double bytes_moved, hit_rate;
};
void weft_schedulers_figures(const struct weft_schedulers *s, struct weft_schedulers_figures *out);
/* Several runs on the same nodes, submitted one by one. Their cores are shared as real agents share them:
 * each more of priority doubles the share of a run. */
struct weft_sim_run {
    const struct weft_workflow *workflow;
    double at, priority; /* seconds; -20 to 20 */
};
struct weft_schedulers *weft_sim_runs(const struct weft_sim_run *runs, size_t n,
                                      const struct weft_schedulers_options *options,
                                      struct weft_error *error);
struct weft_run_figures {
    uint64_t tasks;
    double first, finish; /* when its first task began, and its last one ended */
    double core_seconds;  /* that its tasks had */
    double alone;         /* seconds that it takes with the nodes to itself */
    double slowdown;      /* from submission to end, over `alone` */
};
/* Run number `i` of weft_sim_runs(); false: there are no more. */
bool weft_schedulers_run(const struct weft_schedulers *s, size_t i, struct weft_run_figures *out);
/* Jain's index of the runs' speeds (1 / slowdown): 1 when all are slowed down alike. */
double weft_schedulers_fairness(const struct weft_schedulers *s);
struct weft_bound {
    double recursion, area, path; /* seconds */
    double timespan;              /* no schedule is much shorter */
    double throughput;            /* nor has more tasks a second */
    double work;                  /* of all tasks together */
    double bandwidth;             /* bytes a second, as the settings say */
    uint64_t tasks, cores;
    uint32_t levels;
};
/* The analytical bound for the same graph and cluster. */
bool weft_schedulers_bound(const struct weft_workflow *w,
                           const struct weft_schedulers_options *options, struct weft_bound *out,
                           struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
