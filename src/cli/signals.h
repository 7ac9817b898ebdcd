/* Signals while something is under way that can be stopped: SIGINT and SIGTERM stop it (a little
 * more each time), SIGHUP (the terminal is gone) leaves it. The handlers are the program's, not the
 * library's: they stand here. One thing at a time; without one the signals do what they did before. */
#pragma once
#include "weft/run.h"
#include "weft/stream.h"

void signals_stop_run(struct weft_run *run);
void signals_stop_stream(struct weft_stream *stream);
void signals_stop_cluster(struct weft_cluster *cluster);
/* SIGINT and SIGTERM alone; a third one ends the program, should the agent not get to leaving. */
void signals_stop_agent(struct weft_agent *agent);
/* Before the thing is closed. Nothing set is fine. */
void signals_release(void);
