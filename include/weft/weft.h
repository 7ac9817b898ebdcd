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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves together with the number in the library's name (libweft.so.2): a program that was linked
 * against one number runs with every library of that number. */
#define WEFT_API 2

/* No such task, object, node ...: what functions that look for one return. */
#define WEFT_NONE UINT32_MAX

/* The exit statuses of the program, too (there, memory counts as WEFT_FAILED). */
enum weft_status {
    WEFT_DONE = 0,
    WEFT_FAILED = 1, /* the work itself: a task failed, a plan is not valid, a file not writable */
    WEFT_BAD_INPUT = 2,  /* wrong arguments, a file that does not say what it should */
    WEFT_INFEASIBLE = 3, /* no plan can meet what was asked */
    WEFT_NO_MEMORY = 4,
};

struct weft_error {
    enum weft_status status;
    char text[1536]; /* place, cause, remedy: a line for people, without a line feed at its end */
};

/* "0.1.0": of the library that runs, which may be newer than the header. */
const char *weft_version(void);
/* WEFT_API of the library that runs. */
unsigned weft_api(void);
/* Give back a text that a function made for the caller. */
void weft_text_free(char *text);

/* An option of a planner or a generator, as their lists tell it. */
struct weft_option {
    const char *name;
    const char *type;     /* "bool", "integer", "number", "seconds", "bytes", "choice" or "text" */
    const char *standard; /* what it is when not given, as the user would write it */
    const char *choices;  /* of a choice: "a|b|c"; NULL: none */
    double least, most;   /* of numbers, inclusive; both 0: no limit */
    const char *help;     /* a line */
};

/* How far long work is: `fraction` 0..1 (negative: unknown), `what` a short text. Called a few
 * times a second, on the calling thread or a worker's, one at a time. False: stop early. */
typedef bool (*weft_progress)(void *context, double fraction, const char *what);

#ifdef __cplusplus
}
#endif

#include "weft/workflow.h"
#include "weft/platform.h"
#include "weft/plan.h"
#include "weft/sim.h"
#include "weft/run.h"
#include "weft/history.h"
#include "weft/task.h"
#endif
