/* What happened, or would have: the events that simulation and real runs report. They write a
 * trace_sink; history, report and the page supply one and cannot tell simulated from real. */
#pragma once
#include <stdint.h>

enum trace_kind {
    TRACE_TASK,     /* task `id` ran on `node`, core `lane`, from start to finish */
    TRACE_TRANSFER, /* object `id` went from `node` to `other` */
    TRACE_FAULT,    /* node `node` failed at start (finish: back up, or INFINITY) */
    TRACE_COUNTER,  /* value `amount` of counter `id` on `node` at start: see enum trace_counter */
};

enum trace_counter { COUNTER_MEMORY, COUNTER_READY, COUNTER_RUNNING };

struct trace_event {
    enum trace_kind kind;
    uint32_t id, node, other, lane, copy;
    double start, finish, amount;
    int outcome; /* 0 done, 1 failed or lost */
};

struct trace_sink {
    void (*event)(void *context, const struct trace_event *event);
    void *context;
};
