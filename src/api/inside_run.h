/* The model behind the handles of runs, for views: the command shows them in tables and JSON. Not
 * for logic, and not for programs: it is not installed. */
#pragma once
#include "experiment/expansion.h"
#include "session/session.h"
#include "weft/run.h"

/* Valid as long as the run. */
const struct session *inside_run(const struct weft_run *run);
/* Every event of the run, too; from WEFT_EVENT_STARTED on. */
void inside_listen(struct weft_run *run, struct trace_sink sink);
/* How to come back to a run that goes on, and how to end it: a line for people. Before its release. */
void inside_explain_detached(const struct weft_run *run, struct strbuf *out);
/* `values` may be set: which result's figures a list shows. */
struct expansion *inside_experiment(struct weft_experiment *x);
