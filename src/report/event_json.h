/* `weft run --json`: what happens as it happens, one JSON object a line (weft-event/1, see
 * docs/reports.md): started, begin, task, reused, skipped, file, grown, agent, done.
 *
 * Written in blocks and given out at least every tenth of a second of the run's own time, as the
 * events tell it; event_json_flush() from a timer does the rest. Calls come from one thread. */
#pragma once
#include "model/record.h"
#include "model/trace.h"
#include "model/workflow.h"
#include <stdio.h>

struct event_json;

/* `out` is not closed. The workflow must outlive it. */
struct event_json *event_json_new(FILE *out, const struct workflow *w);
/* It runs on agents: events say on which node. Before the first. */
void event_json_say_nodes(struct event_json *e);
/* The first line, from what is known before anything runs: run, name, file, folder, host, started,
 * cores, memory, tasks, predicted_*. */
void event_json_started(struct event_json *e, const struct run_record *r);
struct trace_sink event_json_sink(struct event_json *e);
void event_json_flush(struct event_json *e);
/* The last line: outcome, counts, seconds, peaks. */
void event_json_done(struct event_json *e, const struct run_record *r);
/* False: something could not be written (disk full, reader gone), errno says why. NULL is fine. */
bool event_json_free(struct event_json *e);
