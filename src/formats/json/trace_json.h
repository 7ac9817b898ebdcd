/* Chrome / Perfetto trace JSON, written event by event: a process a node, a thread a core, more
 * threads for what the node sends and receives (as many as run at once), arrows from sends to
 * receives, counters. Times in microseconds. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "model/platform.h"
#include "model/trace.h"
#include "model/workflow.h"
#include <stdio.h>

struct trace_json;

/* Into `stream`, flushed as it grows, or with stream NULL into `out`. The workflow and platform
 * must live until the close. */
struct trace_json *trace_json_open(const struct workflow *w, const struct platform *p, FILE *stream,
                                   struct strbuf *out);
/* Give events to this sink. Their order is free; in order of start, transfers take the fewest
 * threads. Not thread-safe. */
struct trace_sink trace_json_sink(struct trace_json *t);
/* Complete the document and free. */
void trace_json_close(struct trace_json *t);
