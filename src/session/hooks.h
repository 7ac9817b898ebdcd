/* Hooks of a workflow: commands that are run when a task has failed for good and when the run is over,
 * with what happened as JSON on their standard input (docs/running.md#hooks).
 *
 * They run in the workflow's folder, here, wherever the tasks run; what they write goes into
 * hooks.log beside the logs of the tasks. A hook that fails, or is still at it after HOOK_SECONDS, is
 * a remark: the run and its exit status are what they are without it. */
#pragma once
#include "base/error.h"
#include <stdbool.h>

struct session;
struct hooks;

/* When a run begins: listens for failures. NULL: the workflow has no hooks, which costs nothing. */
struct hooks *hooks_begin(struct session *s);
/* Now and then: ends of those that run, starts those that wait. NULL is fine. */
void hooks_poll(struct hooks *h);
/* The run is over and recorded: the last hook is run, and all are waited for. Frees. */
void hooks_end(struct hooks *h);
/* Frees without another hook; those that run go on. */
void hooks_abandon(struct hooks *h);
