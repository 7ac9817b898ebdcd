/* libweft: build, read, plan, check, simulate and run task graphs from your own program.
 *
 *     struct weft_error error;
 *     struct weft_workflow *flow = weft_workflow_read("flow.yaml", NULL, &error);
 *     struct weft_platform *cluster = weft_platform_read("cluster.yaml", NULL, &error);
 *     struct weft_plan *plan = weft_plan_make(flow, cluster, "heft", NULL, &error);
 *     printf("%g\n", weft_plan_objective(plan, "makespan"));
 *
 * Compile with `pkg-config --cflags --libs weft`. This header includes all the others.
 *
 * Rules that hold for every function:
 *
 * - Handles are opaque. What a function returns belongs to the caller, who gives it to the
 *   weft_..._free() of its kind, unless the comment says otherwise. Every weft_..._free() takes
 *   NULL. Texts and arrays that a function shows belong to the handle and live as long.
 * - A function that can fail takes a `struct weft_error *`, which may be NULL, and returns NULL,
 *   false or a negative number. A success clears the error: nothing needs to be set before a call.
 * - Running out of memory is an error like others (WEFT_NO_MEMORY): what the call had allocated is
 *   given back. A handle that was being changed (a builder) is then only good for freeing.
 * - Nothing is printed, no signal handler is installed, the working directory stays, nobody calls
 *   exit. Different threads may work on different handles at once, and any number of threads may
 *   read one workflow, platform or plan. A handle that is changed is used by one thread at a time.
 * - Options are structs with a size field, set by WEFT_..._INIT: a program that was compiled with
 *   an older header has the standard for what was added since. NULL means: all as standard.
 *
 * Functions may be added; none changes its meaning or vanishes while WEFT_API stays. */
#ifndef WEFT_H
#define WEFT_H

/* Moves together with the number in the library's name (libweft.so.2): a program that was linked
 * against one number runs with every library of that number. */
#define WEFT_API 2

#include "weft/common.h"
#include "weft/workflow.h"
#include "weft/platform.h"
#include "weft/plan.h"
#include "weft/sim.h"
#include "weft/run.h"
#include "weft/stream.h"
#include "weft/history.h"
#include "weft/edit.h"
#include "weft/watch.h"
#include "weft/task.h"
#include "weft/compute.h"
#endif
