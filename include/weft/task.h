/* A task that is a function: `call: lib.so:name` in a workflow file.
 *
 *     #include <weft/task.h>
 *     int name(const struct weft_task *task) { ... return 0; }
 *     cc -shared -fPIC -o lib.so lib.c
 *
 * It runs on a thread of the process that runs the workflow: for work of microseconds, where
 * starting a process would cost a thousand times more. It must be safe to call from several threads
 * at once, must not change the working directory, and must not exit: what it breaks, it breaks for
 * all. Anything but 0 is a failure. */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_task {
    const char *name;                   /* of the task */
    uint32_t attempt;                   /* 1 is the first */
    uint32_t nin, nout;                 /* its declared files, in the order of the workflow file */
    const char *const *in, *const *out; /* paths to open; write only to `out` */
    const char *folder;                 /* the workflow's */
    /* ids of things that it holds (`resources:`): "WEFT_GPU=0,1" ..., ends with NULL. NULL: none. A
     * process has one environment for all threads, so a call finds them here */
    const char *const *variables;
};

typedef int (*weft_task_function)(const struct weft_task *task);

#ifdef __cplusplus
}
#endif
