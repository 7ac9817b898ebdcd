/* Those who listen to a run: trace sinks that get every event, in the order in which they were
 * added. One thread. */
#pragma once
#include "base/array.h"
#include "model/trace.h"

struct listeners {
    ARRAY(struct trace_sink) sinks;
};

void listeners_add(struct listeners *l, struct trace_sink sink);
/* One sink that passes on to all; valid as long as the listeners stay where they are. */
struct trace_sink listeners_sink(struct listeners *l);
void listeners_free(struct listeners *l);
