/* The models behind the handles, for the apps of this house: views (tables, pictures) read them.
 * No program outside can include this, and nothing here decides anything. */
#pragma once
#include "api/api.h"
#include "history/changes.h"
#include "model/check.h"
#include "report/history_view.h"
#include "session/lineage.h"
#include "sim/order.h"
#include "sim/queue.h"
#include "sim/repeat.h"
#include "sim/replay.h"
#include "sim/schedulers.h"
#include "sim/stream.h"

static inline const struct workflow *inside_workflow(const struct weft_workflow *w)
{
    return w->model;
}
/* The model alone, for a struct that owns one; the handle is gone, and was the only one. */
static inline struct workflow *inside_take_workflow(struct weft_workflow *w)
{
    struct workflow *model = w ? w->model : NULL;
    free(w);
    return model;
}
static inline const struct platform *inside_platform(const struct weft_platform *p)
{
    return p->model;
}
static inline const struct plan *inside_plan(const struct weft_plan *p)
{
    return p->model;
}

struct weft_check {
    struct check_result result;
};

struct weft_history {
    struct history *model; /* owned */
};
struct weft_runs {
    history_runs list;
};
struct weft_findings {
    history_findings model;
    bool files; /* else tasks */
};
/* A content by 64 hexadecimal digits, or as a file has it. False: it is neither. */
bool api_digest(const char *text, struct digest *out, struct error *err);
struct weft_record {
    struct run_record run;
    struct history_tasks tasks;
    uint32_t *attempts; /* which of run.events are attempts; NULL: whoever asks looks */
    size_t nattempts;
};
/* Cause number `i` of its failures; false: there are no more. */
bool api_cause(const struct run_record *r, size_t i, struct weft_cause *out);
struct weft_changes {
    struct history_changes model;
};
struct weft_story {
    struct file_story model;
};
struct weft_lineage {
    struct lineage model;        /* but for the graph */
    struct weft_workflow *graph; /* has it */
};
struct weft_predictions {
    struct forecast *model; /* owned */
    uint32_t tasks;
};

/* A simulation that ended: which of the results is filled, `kind` says. */
struct weft_sim {
    enum weft_sim_kind kind;
    struct weft_sim_options options;
    struct progress progress;
    struct weft_workflow *workflow; /* references of its own */
    struct weft_platform *platform; /* of clients: one of theirs, where it was kept, else NULL */
    struct weft_platform *clients;
    const struct plan *plan; /* the caller's, or `sequences`; NULL: first in, first out */
    struct plan *sequences;  /* of a partition, or with what changes made of it; owned */
    const char *network;     /* NULL: none */
    double seconds;          /* real time of everything, repeats included */

    struct replay_options replay_options;
    struct stream_options stream_options;
    struct order_options order_options;
    struct fault *faults;
    ARRAY(struct node_change) changes;
    ARRAY(struct replay_hold) holds;
    ARRAY(struct weft_changed) changed;
    uint32_t *order_of_plan;

    struct replay_result replay;
    struct stream_result stream;
    struct order_result order;
    const char *const *metrics; /* names of `values` */
    uint32_t nmetrics;
    double values[REPEAT_METRICS]; /* of the first run */
    bool repeated;
    struct repeat_result repeat;

    struct weft_plan happened;        /* its model is NULL when it was not kept */
    ARRAY(struct trace_event) events; /* for the trace, which shows more than a plan can */
    struct queue lanes;               /* clients by when they are free */
    uint32_t nlanes;
};

struct weft_schedulers {
    const char *policy; /* its name */
    struct schedulers_result result;
    double seconds; /* real */
    uint32_t nodes;
    double cores;   /* of all nodes */
    uint32_t nruns; /* of weft_sim_runs(); 0: one alone */
    struct schedulers_run *runs;
};
