/* Plan replay: a static plan executed in virtual time.
 *
 * The plan gives every task copy its node, its core(s) and its place in the order of that core; its
 * times are only predictions. In the simulation a copy starts as soon as its data is on its node,
 * its predecessor on each of its cores is done and the node is up. Objects leave for every node
 * that needs them as soon as their producer is done, under a network model. With copies, data comes
 * from where the plan's transfer says, else from a copy on the same node, else from the copy that
 * is done first. Ordering edges are satisfied by the first copy that is done, wherever it is, at
 * once. Objects without producer are everywhere.
 *
 * Where files count (model/residence.h) nothing begins before its planned time, since an early file could
 * be one too many; memory is counted with them.
 *
 * Without noise and faults, under `free`, no task of a valid plan starts later than planned (each
 * waits for a subset of what the plan made it wait for); under `kport` and `fair` it may.
 *
 * Partition plans without placements are replayed as one sequence per part on core 0 of its node:
 * plan_of_parts(). */
#pragma once
#include "base/progress.h"
#include "model/plan.h"
#include "model/trace.h"

struct fault {
    uint32_t node;
    double time;
    double repair; /* seconds until it is back; INFINITY: never */
};

/* From then on a node is so fast and has so much memory; NAN: as before. What it runs goes on at the new speed. */
struct node_change {
    uint32_t node;
    double time, speed, memory;
};

/* The object does not leave for that node before then: nobody knew that it would be wanted there. */
struct replay_hold {
    uint32_t object, node;
    double time;
};

struct replay_options {
    const char *network; /* "free", "kport", "fair"; NULL: kport when the plan or the platform
                            limits ports, else free */
    uint32_t ports;      /* for kport; 0: the plan's, else the platform's, else no limit */
    uint64_t seed;
    double noise;       /* coefficient of variation of task times (lognormal, mean 1); 0: none */
    bool planned_times; /* a task takes what the plan says (finish - start), not what work and speed
                           say */

    /* A failed node loses what it runs and whatever it sends or receives; finished results survive
     * on its disk. The tasks start again there when the node is back. */
    const struct fault *faults;
    size_t nfaults;
    double mtbf;   /* mean seconds between a node's failures, exponential; 0: none */
    double repair; /* seconds a node stays down after such a failure; INFINITY: for good */

    const struct node_change *changes; /* by time */
    size_t nchanges;
    const struct replay_hold *holds;
    size_t nholds;

    struct trace_sink *trace;        /* may be NULL */
    const struct progress *progress; /* may be NULL */
};

/* A run that a failure ended. */
struct lost_run {
    uint32_t placement;
    double start, finish;
};

struct outage {
    uint32_t node;
    double start, finish; /* INFINITY: never came back before the end */
};

struct replay_result {
    double makespan;  /* simulated */
    double predicted; /* the plan's own: its claim, else its latest finish */
    uint64_t events, transfers, failures, tasks_lost;
    double bytes_moved;
    double seconds; /* real time it took */

    /* where the time went, over all copies: core-seconds computing (and lost), task-seconds with
     * the core free but data missing, task-seconds with data there but the core busy or the node
     * down */
    double compute, lost, wait_data, wait_node;
    /* the same along the chain of waits that ends with the last task; the four add up to the
     * makespan */
    double chain_compute, chain_data, chain_fault, chain_idle;
    uint32_t *chain; /* placements, first to last */
    uint32_t nchain;

    double utilization; /* compute / (cores of the nodes in use x makespan) */

    uint32_t nplacements, nnodes;
    double *start, *finish; /* per placement: its last, successful run */
    double *data_ready;     /* per placement: when its last input was there */

    double *node_busy; /* core-seconds computing */
    double *node_peak; /* most memory at once: of running tasks, and of files where they count */
    double *node_peak_time;
    uint32_t
        *node_exceeded_by; /* placement with which memory first went over the node's; NONE: never */
    double *node_limit;    /* the memory that it went over; else what it has at the end */
    double
        exceeded_last; /* when memory rose past what a node has for the last time; -INFINITY: never */
    double *node_sending, *node_receiving; /* message-seconds */

    ARRAY(struct lost_run) lost_runs;
    ARRAY(struct outage) outages;
};

void replay_options_init(struct replay_options *o);
/* Simulate. False with ERROR_INPUT (the plan does not fit workflow or platform, impossible options)
 * or ERROR_FAILED (it cannot progress; the text names waiting tasks and what they wait for).
 * `result` is freed by replay_result_free() in any case. */
bool replay_run(const struct workflow *w, const struct platform *p, const struct plan *plan,
                const struct replay_options *options, struct replay_result *result,
                struct error *err);
void replay_result_free(struct replay_result *r);

/* Which network a replay of this plan uses when the options name none. */
const char *replay_network(const struct plan *plan, const struct platform *p);
