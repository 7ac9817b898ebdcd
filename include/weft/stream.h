/* libweft: streams that run. Items go from a source through the tasks of a workflow, its filters, into a
 * sink; every task is done once for every item, and different items are in work at once. Part of
 * <weft/weft.h>.
 *
 *     struct weft_stream_options o = WEFT_STREAM_INIT;
 *     o.from = "frames";
 *     o.to = "edges/";
 *     struct weft_stream *s = weft_stream_open(flow, NULL, &o, &error);
 *     if (s && weft_stream_run(s, &error))
 *         puts("all items are through");
 *     weft_stream_close(s);
 *
 * A task is a function of a shared library (`call`, weft/item.h), a command that stays and takes items
 * as frames (`run`), a command that is started for each item with files (`run` and `per_item: true`), or
 * lets its time pass (neither): with a plan, that rehearses the plan. Files that no task makes are what
 * the source gives; files that no task reads are the results.
 *
 * With a plan of kind stream, every replica of its clusters is a thread, item n goes to replica n mod r,
 * and items are paced by the plan's schedule. Without one, `threads` threads take items as they come.
 * Results leave in the order of the items. A filter that fails or crashes is tried again with the same
 * item; an item that fails too often is given up, the others go on, and weft_stream_run() says so.
 *
 * The process is left alone: no signal handlers, no working folder, no output but what commands write to
 * standard error. Threads of a stream block all signals. A stream is used by one thread at a time, but
 * for weft_stream_stop() and the figures. */
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H
#include "weft/common.h"
#include "weft/item.h"
#include "weft/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_stream;

struct weft_stream_options {
    size_t size;
    const char *folder; /* of libraries and commands [the one of the workflow's file] */
    /* Where items come from: a file or "-" (a line each), a folder (a file each), "watch:FOLDER" (and
     * those that appear), "frames:FILE", "unix:PATH", "tcp:HOST:PORT", "listen:HOST:PORT" (frames),
     * "call:lib.so:name", "clock:N" (N a second). NULL: `give`, else items without bytes. */
    const char *from;
    const char
        *to; /* where results go, the same but for watch and clock. NULL: `take`, else nowhere */
    weft_filter_function give; /* an item at output 0; none: the stream ends */
    weft_filter_function
        take; /* results as inputs, in the order of the file; NULL: there is none */
    void *give_context, *take_context; /* item->context */
    uint64_t items;                    /* at most; 0: until the source ends */
    uint32_t threads;                  /* without a plan; 0: one a core */
    uint32_t tries; /* of an item at a filter that states no `retries`, or 0; 0: 3 */
    bool unordered; /* results leave as they come */
    bool flood;     /* with a plan: as fast as the source gives, not at the plan's pace */
    /* A line for people: an item is tried again, or given up. From any thread, one at a time. */
    void (*remark)(void *context, const char *text);
    /* Ten times a second, from within weft_stream_run(). It may ask for figures, and stop. */
    void (*tick)(void *context);
    void *context; /* of both */
    /* Functions and commands run on other machines: "local:3", "ssh:a,b", "slurm" start agents for this
     * stream alone, "cluster" uses those at `store`; as in struct weft_run_options. Each agent has a helper
     * of the stream, which gets items and gives results; an item whose helper dies is done again at
     * another. NULL: here. */
    const char *on;
    uint32_t nodes;          /* of Slurm, and of a cluster's agents: so many helpers [1; all] */
    uint32_t cores;          /* of each agent, and of a helper on it [1] */
    const char *store, *key; /* of the cluster */
    const char *program;     /* of agents that are started: weft [the one in PATH] */
    const char
        *listen; /* "HOST:PORT" where helpers find this program [all addresses of its machine] */
    /* Without a plan, and here: the first items are measured, then the stream goes on by a plan for this many
     * items a second ("25", "0.5Tmax"), or this most latency ("40ms"); and by another, which a remark says,
     * when times have left those. No item is lost [it has no plan]. */
    const char *throughput, *latency;
    const struct weft_platform *platform; /* of these plans */
    bool
        no_history; /* leave no record. Else the stream is a run of the history, with its figures */
};
#define WEFT_STREAM_INIT                                                                           \
    {                                                                                              \
        sizeof(struct weft_stream_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0,     \
            false, false, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  \
            false                                                                                  \
    }

/* Keeps the workflow, and the plan with its own workflow and platform if there is one (`w` may be NULL
 * then). Opens the two ends and loads functions; starts nothing. */
struct weft_stream *weft_stream_open(const struct weft_workflow *w, const struct weft_plan *plan,
                                     const struct weft_stream_options *options,
                                     struct weft_error *error);
/* Until the source has ended and every item has left. False: an item was given up, or something failed. */
bool weft_stream_run(struct weft_stream *s, struct weft_error *error);
/* Once: no more items are taken, those in work leave. Twice: all ends, but for a function that does not
 * return. Safe in signal handlers. */
void weft_stream_stop(struct weft_stream *s);
void weft_stream_close(struct weft_stream *s);

/* Be helper `number` of a stream elsewhere, until it ends: what agents start. `addresses` and `key` (the
 * text of its file) are what the stream gave them. */
bool weft_stream_lend(const char *addresses, const char *key, uint32_t number,
                      struct weft_error *error);
/* Helpers that are at work now; 0 where the stream has none. */
uint32_t weft_stream_helpers(const struct weft_stream *s);

struct weft_stream_figures {
    uint64_t taken;    /* items that came from the source */
    uint64_t done;     /* that have left */
    uint64_t empty;    /* of them: without a result, because a filter gave none */
    uint64_t given_up; /* of them: a filter failed too often */
    uint64_t retried;  /* tries beyond the first */
    double seconds;    /* from the first item to the last that has left */
    double throughput; /* items a second */
    double latency_mean, latency_50, latency_95, latency_99, latency_max; /* seconds */
    double promised_throughput, promised_latency; /* of the plan at its pace; NAN: none */
};
struct weft_stream_task {
    const char *name;
    uint64_t items;   /* that its copies have done */
    double seconds;   /* that they took, together */
    uint64_t waiting; /* items that wait for it */
};
struct weft_stream_worker {
    uint32_t cluster, replica; /* of the plan; without one the number of the thread */
    const char *node;          /* NULL without a plan */
    uint64_t items;
    double busy; /* share of the time */
};
/* Between two nodes of the plan, both ways together, or to a helper and back. In one process only
 * rehearsals take time on it: what functions and commands make is handed on in memory. */
struct weft_stream_channel {
    const char *from, *to; /* nodes; NULL: the stream, and helper `helper` */
    uint32_t helper;
    uint64_t transfers, bytes;
    double busy; /* share of the time */
};
/* While it runs, too, from any thread. Texts live as long as the stream. */
void weft_stream_figures(const struct weft_stream *s, struct weft_stream_figures *out);
/* Task, worker, failure number `i`; false: there are no more. Failures: items that were given up, the
 * first 1,000, after weft_stream_run(). */
bool weft_stream_task(const struct weft_stream *s, size_t i, struct weft_stream_task *out);
bool weft_stream_worker(const struct weft_stream *s, size_t i, struct weft_stream_worker *out);
/* The next channel over which something went; `*at` is 0 at first. False: there are no more. */
bool weft_stream_channel(const struct weft_stream *s, size_t *at, struct weft_stream_channel *out);
/* Its number in the history, while it runs and afterwards; 0: none. */
int64_t weft_stream_recorded(const struct weft_stream *s);
struct weft_stream_failure {
    uint64_t item;
    const char *task;
    char why[512];
};
bool weft_stream_failure(const struct weft_stream *s, size_t i, struct weft_stream_failure *out);

#ifdef __cplusplus
}
#endif
#endif
