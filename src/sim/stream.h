/* Stream replay: a mapping of a streaming workflow (clusters, replicas, duplicates, as in the MOS
 * report) processing items.
 *
 * Item n of cluster C runs on replica n mod replicas(C). A processor runs one task at a time: of
 * the tasks that are ready, the oldest item first, then by decreasing bottom level, then
 * topological position. So a processor interleaves items when the older one waits for data. An
 * object that a cluster needs and does not make itself comes once per item from the home of its
 * producer (the cluster that lists it under tasks, not under duplicates), to the concrete replica,
 * under the network model; transfers are served oldest item first, then by decreasing bottom level.
 * Ordering edges cost nothing.
 *
 * How items are fed:
 *
 *     flood     all are there at time 0
 *     period    one comes every so often. Without a period of one's own, that is the plan's, and tasks
 *               and transfers start when its schedule says (built here if the plan brings none)
 *     window    so many are in work at once
 *
 * A mapping that is not pipelined takes an item when the one before is done, and follows its list
 * schedule however it is fed. */
#pragma once
#include "base/progress.h"
#include "model/plan.h"
#include "model/trace.h"

enum stream_feed { FEED_FLOOD, FEED_PERIOD, FEED_WINDOW };
extern const char *const stream_feed_names[]; /* by enum, ending with NULL */

struct stream_options {
    const char *network; /* NULL: kport */
    uint32_t ports;      /* 0: the plan's, else the platform's, else no limit */
    uint32_t items;
    enum stream_feed fed;
    double period; /* FEED_PERIOD: seconds between items; 0: the plan's, and its schedule */
    uint32_t
        window;   /* most items between their arrival and their end; 0: no limit. Not of a flood */
    double noise; /* coefficient of variation of task times; 0: none */
    uint64_t seed;
    struct trace_sink *trace; /* may be NULL; trace_event.copy is the item */
    const struct progress *progress;
};

struct stream_processor {
    uint32_t node, cluster;
    double busy;          /* seconds computing */
    double occupancy;     /* busy / makespan */
    double communication; /* message-seconds per port / makespan; per partner when ports are
                             unlimited: may exceed 1 */
};

struct stream_channel {
    uint32_t from, to; /* nodes */
    uint64_t messages;
    double busy, bytes, occupancy;
};

struct stream_result {
    uint32_t items;
    /* how they were fed */
    enum stream_feed fed;
    bool scheduled;  /* tasks and transfers kept to the plan's schedule */
    double period;   /* FEED_PERIOD */
    uint32_t window; /* 0: no limit */
    double makespan;
    double throughput; /* steady state: least-squares slope of the second half of the completions
                          before the last item entered (of all when fewer than 16); 1 / makespan for
                          one item */
    double overall;    /* items / makespan */
    /* of an item: from its arrival (FEED_PERIOD), else from the start of its first task, to the end
     * of its last sink */
    double latency_mean, latency_p50, latency_p95, latency_p99, latency_max, latency_first;
    double *latency;    /* per item */
    double *completion; /* per item */
    struct stream_processor *processors;
    uint32_t nprocessors;
    struct stream_channel *channels; /* by first use */
    uint32_t nchannels;
    double utilization; /* mean occupancy of the processors */
    double predicted_throughput,
        predicted_latency; /* the plan's claims, the latency of an item as it is fed here; NAN: none */
    double bytes_moved;
    uint64_t events, tasks, transfers;
    double seconds; /* real */
};

void stream_options_init(struct stream_options *o); /* 200 items, a flood */
bool stream_run(const struct workflow *w, const struct platform *p, const struct plan *plan,
                const struct stream_options *o, struct stream_result *out, struct error *err);
void stream_result_free(struct stream_result *r);
