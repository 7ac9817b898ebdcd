/* What has happened and is still to be sent on: events and files of tasks, kept until what they say
 * is on record. Plain data, one thread: whoever fills it (executor, run, job) pushes, whoever sends
 * it on (drive/run.c to sinks, cluster/agent/watch.c to links) empties it. */
#pragma once
#include "base/array.h"
#include "model/trace.h"
#include <stdbool.h>

/* What an attempt that went well wrote is in its log (executor_log_path()). */
struct outbox_log {
    uint32_t task, attempt;
};

struct outbox {
    bool wanted;     /* somebody listens; otherwise nothing is kept */
    bool lists_logs; /* its owner sends them elsewhere; here they are where they are */
    ARRAY(struct outbox_log) logs; /* of tasks that went well; stay when the rest was sent */
    ARRAY(struct trace_event) events;
    ARRAY(struct trace_file) files; /* paths belong to the workflow */
};

static inline void outbox_event(struct outbox *b, const struct trace_event *e)
{
    if (b->wanted)
        array_push(&b->events, *e);
}

static inline void outbox_counter(struct outbox *b, double now, enum trace_counter counter,
                                  double amount)
{
    outbox_event(
        b,
        &(struct trace_event){
            .kind = TRACE_COUNTER, .id = counter, .start = now, .finish = now, .amount = amount});
}

static inline void outbox_clear(struct outbox *b)
{
    b->events.n = b->files.n = 0;
}

static inline void outbox_free(struct outbox *b)
{
    array_free(&b->events);
    array_free(&b->files);
    array_free(&b->logs);
}
