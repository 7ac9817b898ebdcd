/* The live display of a run: counts what the runtime reports and shows it on standard error.
 *
 * On a terminal: a few lines redrawn in place at most 10 times a second, the cursor hidden
 * meanwhile. Into a pipe: a plain line every 5 seconds, and each failure at once. Quiet: nothing.
 *
 * An event costs a few counters (no clock, no text): a million a second may pass. Events and
 * calls come from one thread. Memory: 5 bytes a task, 24 a running one. */
#pragma once
#include "model/trace.h"
#include "model/workflow.h"

struct live_display;

struct live_display_options {
    const struct workflow *workflow; /* must outlive the display */
    const char *name;                /* for people; NULL: the workflow's */
    uint32_t cores;                  /* that tasks share */
    double memory;                   /* bytes that tasks share; NAN or INFINITY: no limit */
    const double *expected;          /* seconds of each task, to estimate the time left; NULL: the
                                        workflow's work, or all alike. Must outlive the display */
    bool quiet;
};

struct live_display *live_display_new(const struct live_display_options *options);
/* For TRACE_BEGIN, TRACE_TASK, TRACE_REUSED and TRACE_COUNTER; others are ignored. */
struct trace_sink live_display_sink(struct live_display *d);
/* Redraw if it is time. Call it from a timer of the loop (every 100 ms), so that times go on when
 * nothing ends; the sink looks at the clock itself only every few hundred events. */
void live_display_tick(struct live_display *d);
/* A line for the user ("weft: TEXT") that stays, above the display. Shown even when quiet. */
void live_display_say(struct live_display *d, const char *text);
/* The user asked to stop: the display says so. */
void live_display_stopping(struct live_display *d);
/* The lines vanish and the cursor is back: before the summary, before anything else is printed. A
 * later tick shows them again. Safe to call twice. */
void live_display_hide(struct live_display *d);
/* The cursor only, from a signal handler that is about to end the program: async-signal-safe. */
void live_display_restore(void);
void live_display_free(struct live_display *d); /* hides; NULL is fine */
