/* A stream that runs: items from a source through the filters of a workflow into a sink, on threads of
 * this process.
 *
 * With a plan, every replica of its clusters is a worker, and item n goes to replica n mod r. Without
 * one, a pool of workers takes items as they come. Results leave in the order of the items unless they
 * need not. An item whose filter fails is tried again; one that fails too often is given up, and the
 * stream fails at its end. No more items are in work than fit: a slow filter or sink keeps the source
 * waiting. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "model/plan.h"
#include "weft/item.h"

struct flow_options {
    const struct workflow *workflow; /* both must outlive the flow */
    const struct plan *plan;         /* NULL: none */
    const struct platform *platform; /* of the plan */
    const char *folder;              /* of libraries and commands */
    const char *from, *to;           /* stream/ends.h */
    weft_filter_function give, take; /* in place of `from` and `to` */
    void *give_context, *take_context;
    uint64_t items;   /* 0: until the source ends */
    uint32_t threads; /* without a plan; 0: one a core */
    uint32_t tries;   /* of an item at a filter */
    bool unordered;
    bool flood; /* with a plan: items are not paced by its schedule */
    /* Functions and commands run at so many helpers (stream/troop.h); 0: here. */
    uint32_t helpers;
    const char *helper_text, *helper_file, *helper_bind; /* as struct troop_options has them */
    struct seal_key helper_key;
    /* A line for people, of any thread, one at a time. May be NULL. */
    void (*remark)(void *context, const char *text);
    /* Ten times a second, on the thread of flow_run(). May be NULL. */
    void (*tick)(void *context);
    void *context;
};

struct flow_figures {
    uint64_t taken;    /* items that came from the source */
    uint64_t done;     /* that have left */
    uint64_t empty;    /* of them: without any result, because a filter gave none */
    uint64_t given_up; /* of them: a filter failed too often */
    uint64_t retried;  /* tries beyond the first */
    double seconds;    /* from the first item to the last so far */
    double throughput; /* items a second, from the first that left to the last */
    double latency_mean, latency_50, latency_95, latency_99, latency_max; /* seconds */
};
struct flow_task_figures {
    uint64_t items;
    double seconds;   /* in the filter, over all its copies */
    uint64_t waiting; /* items that wait for it now */
};
struct flow_worker_figures {
    uint32_t cluster, replica, node;
    uint64_t items;
    double busy; /* share of the time */
};

struct flow_channel_figures {
    uint32_t from, to; /* nodes of the plan; on helpers: UINT32_MAX and the helper */
    uint64_t items, bytes;
    double busy; /* share of the time */
};

struct flow;
/* A flow may pause and another go on with what is behind it: other clusters, the same ends. Nothing is lost:
 * items in work leave first. */
void flow_pause_at(struct flow *f, uint64_t item); /* before it is taken; 0: the next. Any thread */
bool flow_paused(const struct flow *f); /* after flow_run(): it did, and the source goes on */
void flow_end_paused(struct flow *f);   /* nothing goes on behind it */
/* By this plan, which must outlive it. The old one is good for nothing but figures and closing it; filters
 * that keep state go on, others are started anew. NULL: an error, and the old one is as it was. */
struct flow *flow_next(struct flow *old, const struct plan *plan, const struct platform *platform,
                       struct error *err);
struct flow *flow_open(const struct flow_options *o, struct error *err);
/* Until the source has ended and all items have left. False: the error says what failed first. */
bool flow_run(struct flow *f, struct error *err);
/* Where helpers find it; NULL: it has none. */
const char *flow_helper_addresses(const struct flow *f);
uint32_t flow_helpers(const struct flow *f); /* that live now */
/* A line for people, in its turn among the flow's own. From any thread. */
void flow_remark(struct flow *f, const char *text);
/* None will come any more: the stream ends with this. From any thread. */
void flow_helpers_failed(struct flow *f, const struct error *err);
/* Once: no more items are taken. Twice: all ends. From any thread and from signal handlers. */
void flow_stop(struct flow *f);
bool flow_stopped(const struct flow *f);
const struct plan *flow_plan(const struct flow *f); /* NULL: none */
void flow_close(struct flow *f);                    /* NULL is fine; not while it runs */

/* While it runs, too, from any thread. */
void flow_figures(const struct flow *f, struct flow_figures *out);
void flow_task(const struct flow *f, uint32_t task, struct flow_task_figures *out);
/* Since the flow before it paused. */
void flow_task_now(const struct flow *f, uint32_t task, struct flow_task_figures *out);
bool flow_worker(const struct flow *f, uint32_t i, struct flow_worker_figures *out);
/* The next channel over which something went, both ways together; `at` begins at 0. False: no more. */
bool flow_channel(const struct flow *f, uint32_t *at, struct flow_channel_figures *out);

/* An item that was given up. False: there are no more; the first 1,000 are kept. After flow_run(). */
struct flow_failure {
    uint64_t item;
    uint32_t task;
    char why[512];
};
bool flow_failure(const struct flow *f, size_t i, struct flow_failure *out);
