/* Signals for a run: SIGINT, SIGTERM and SIGHUP once, nothing new starts; twice, everything is ended
 * now. The handlers are the program's, not the library's: they stand here. */
#pragma once
#include "drive/run.h"

/* From now on the signals stop this run; one run at a time. What was set before is put back by
 * signals_release(), to be called before run_close(). */
void signals_stop(struct run *r);
void signals_release(void);

/* run_workflow() that signals stop. */
bool signals_run_workflow(const struct run_options *o, struct run_result *result,
                          struct error *err);
