/* Order replay: the client/server model of IC-scheduling. A server holds the dag and an order;
 * clients come in batches and ask for work; each request takes the first task of the order that is
 * eligible (all predecessors done) and not given away. A request that finds none is lost: that
 * client does not wait.
 *
 *     while unassigned tasks remain:
 *         t += interarrival
 *         tasks that have ended by t end in order of time: children become eligible
 *         k = max(1, ceil(batch size))
 *         assign min(k, eligible) tasks; each runs for Normal(mean, deviation)
 *
 * Clients may be slow, or vanish: a vanished client's task becomes eligible again `timeout` after
 * it was given. Workers (`workers` of them) stay instead: each asks again when its task is done, and
 * waits where nothing is eligible.
 *
 * Common random numbers: arrivals are one stream of the seed, and each task has one of its own. Two
 * orders under one seed meet the same batches and the same times, so that their difference is due
 * to the orders alone: compare them run by run, not mean by mean. */
#pragma once
#include "base/error.h"
#include "model/clients.h"
#include "model/plan.h"
#include "model/trace.h"

enum order_arrivals { ARRIVALS_EXPONENTIAL, ARRIVALS_FIXED, ARRIVALS_UNIFORM };

struct order_options {
    const uint32_t *order; /* every task once, an array of ntasks; NULL: first in, first out
                              (sources in file order) */
    uint64_t seed;
    enum order_arrivals
        arrivals;        /* how time between batches is distributed; uniform: 0 to twice the mean */
    double interarrival; /* mean seconds between batches */
    double batch;        /* mean requests a batch, exponential; fixed when `fixed_batch` */
    bool fixed_batch;
    uint32_t workers; /* so many that stay; then there are no batches. 0: none */
    double run_time;  /* mean seconds a task runs, every task alike; 0: its own work */
    double deviation; /* relative to the mean; normal, cut at 1 % of the mean */
    double slow_share,
        slow_factor;     /* probability that a client is slow, and how many times longer it takes */
    double vanish_share; /* probability that a client never answers */
    double timeout;      /* seconds after which the server gives such a task again */
    uint64_t most_batches;    /* give up after so many; 0: 2^40 */
    struct trace_sink *trace; /* may be NULL; each assignment is a task on node 0 */
};

struct order_result {
    double makespan; /* end of the last task */
    uint64_t batches,
        stalled_batches; /* up to the assignment of the last task; found no eligible task at all */
    uint64_t requests, stalled_requests; /* same span; requests that got nothing */
    double stall_probability;            /* stalled batches / batches */
    double unfilled;                     /* stalled requests / requests */
    double utilization;                  /* assignments / requests; of workers: busy / all time */
    uint64_t assignments, vanished, events;
    double eligible_mean; /* eligible tasks found by a batch or a worker, on average */
};

/* mu_BIT 1, mu_BS 16, run time Normal(1, 0.1), no slow or vanishing clients. */
void order_options_init(struct order_options *o);
/* The same, with clients of this pattern and the tasks' own times (1 s where no task has work). */
void order_options_for(struct order_options *o, const struct clients *c, const struct workflow *w);
/* ERROR_INPUT: impossible options, an order that does not hold every task once. ERROR_FAILED:
 * `most_batches` were not enough. The order cannot block itself: of the eligible tasks the first in
 * the order is taken, whatever stands before it. */
bool order_run(const struct workflow *w, const struct order_options *o, struct order_result *out,
               struct error *err);
