/* A glance at a run that goes on: what it says of itself, by kind. Costs as much for a million tasks as for ten, since no row of the
 * history is read but the run's own; who wants single tasks watches it (watching.h). */
#pragma once
#include "history/history.h"
#include "session/now.h"

struct glance {
    struct run_record head; /* without tasks, predictions and events */
    struct now_counts all;
    now_kinds kinds; /* empty: it tells none */
    double seconds;  /* so far */
    double expected; /* altogether, as it looks now; NAN: not known */
};

/* `told` false: the run is over, or tells nothing: it has to be watched. Free with glance_free() when true is returned. */
bool glance_take(struct glance *g, int64_t run, bool *told, struct error *err);
void glance_free(struct glance *g);
