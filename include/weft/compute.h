/* libweft: a workflow of functions, carried out by threads of this program, at once and without a folder.
 *
 *     static int square(const struct weft_task *t) { ... }
 *
 *     weft_builder_call(b, task, ":square");                        a function of this program
 *     static const struct weft_function functions[] = {{"square", square}, {0}};
 *     struct weft_compute_options o = WEFT_COMPUTE_INIT;
 *     o.functions = functions;
 *     o.lent = (struct weft_lent[]){{object, matrix, bytes}}, o.nlent = 1;
 *     if (!weft_compute(workflow, &o, &figures, &error)) ...
 *
 * Nothing is recorded, looked up or left behind: the next call does all of it again. For what shall be
 * on record, reused and resumed there is weft/run.h. Part of <weft/weft.h>. */
#ifndef WEFT_COMPUTE_H
#define WEFT_COMPUTE_H
#include "weft/plan.h"
#include "weft/common.h"
#include "weft/task.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the program: tasks call it as ":name". */
struct weft_function {
    const char *name;
    weft_task_function call;
};

/* Memory of the program that is an object of the workflow. One that nobody makes has its contents from the
 * beginning, and a task that goes on with it in place (weft_task_pass()) writes there. One that a task makes
 * is written there, and is at most so large. Several objects may be the same memory where the order of tasks
 * allows it: the versions of a matrix block that is changed in place. */
struct weft_lent {
    uint32_t object; /* of the finished workflow: weft_workflow_find_object() */
    void *at;
    size_t bytes;
};

struct weft_compute_options {
    size_t size;
    uint32_t threads;                      /* [all cores of this machine]; see weft_compute() */
    const struct weft_function *functions; /* ends with a NULL name; NULL: none */
    void *context;                         /* `context` of struct weft_task */
    const struct weft_lent *lent;
    size_t nlent;
    /* Most bytes of objects and scratch memory at once, by the sizes and memories that the workflow states
     * [no limit]. Tasks are then begun in the order of `follow` [an order that needs little memory; of a
     * tree the least], side by side where that fits. Where not even one after the other does, objects
     * that are read last are put into files and come back. What the program lent does not count. */
    double memory;
    const char *folder; /* for those files [$TMPDIR, else /tmp] */
    const struct weft_plan
        *follow; /* an order, a part of a tree with its order, or a plan with times [none] */
    bool look;   /* nothing is called: only whether it could be, and `needed` */
    /* Each thread stays on a core of its own, spread over those that the program may use (hwloc), and what it is the first to
     * write lies in the memory beside that core [the system moves threads]. An error where that cannot be had, and where
     * a function asks for it: the threads are not its own. */
    bool pin;
};
#define WEFT_COMPUTE_INIT                                                                          \
    {                                                                                              \
        .size = sizeof(struct weft_compute_options)                                                \
    }

struct weft_compute_figures {
    uint32_t done;        /* tasks */
    double seconds, busy; /* from beginning to end; of all threads together in tasks */
    double peak;          /* most bytes of objects and scratch memory at once, as they were */
    double needed;      /* with a limit: what the order needs one after the other, all in memory */
    double evicted;     /* bytes that were put into files */
    uint32_t evictions; /* and how often */
};

/* Call every task's function, each after those that it waits for. Every object is in memory
 * (weft_builder_in_memory()) or lent. False: a function failed, which `error` names, and what had not begun
 * by then is not called; or it cannot be done at all (WEFT_INFEASIBLE: a task does not fit into `memory`
 * alone). `figures` may be NULL. With WEFT_CHECK_DATA=1 in the environment functions are watched, as in
 * runs. May be called by any number of threads at once.
 * A function may call it as well: its tasks are then carried out by the threads that carry out the function's own
 * graph, at most `threads` of them at once [all]. The calling thread does not sleep meanwhile: it calls tasks of the new
 * graph, and when others have the last of them in hand, other tasks that are ready, on its own stack. So it must
 * not hold a lock that a task could want. (So in weft_compute() and in runs of functions without files; a function
 * that a run calls otherwise gets threads of its own.) */
bool weft_compute(const struct weft_workflow *w, const struct weft_compute_options *options,
                  struct weft_compute_figures *figures, struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
