/* How long work tells how far it is. The receiver decides whether and how to show it. */
#pragma once
#include <stdbool.h>

struct progress {
    /* `fraction` in 0..1, negative when unknown; `what` is a short text ("planning", "12 of 40
     * repeats"). Called at most a few times a second by well-behaved workers. Returns false when
     * the user wants the work to stop early. */
    bool (*report)(void *context, double fraction, const char *what);
    void *context;
};

static inline bool progress_report(const struct progress *p, double fraction, const char *what)
{
    return p && p->report ? p->report(p->context, fraction, what) : true;
}
