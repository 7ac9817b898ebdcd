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
#include <stddef.h>
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
    const struct weft_task_data *data; /* for the functions below */
    uint32_t number;                   /* of the task in its workflow */
    void *context;                     /* of weft_compute() (weft/compute.h); else NULL */
};

/* Not to be used but by the functions below: they need no library. */
struct weft_task_data {
    const void *(*in)(const struct weft_task *task, uint32_t i, size_t *bytes);
    void *(*out)(const struct weft_task *task, uint32_t i, size_t bytes);
    void *(*pass)(const struct weft_task *task, uint32_t in, uint32_t out, size_t *bytes);
    void *(*scratch)(const struct weft_task *task, size_t bytes);
};

/* ---- data in memory ----
 * Inputs and outputs are numbered from 0 in the order of the workflow. An object that was declared with
 * weft_builder_in_memory() has no file, and its entry of `in` or `out` is "". Any other is a file,
 * which these functions read and write: a function need not know which it is. Addresses are good until
 * the function returns. With WEFT_CHECK_DATA=1 in the environment a function that writes past the end of
 * an output or of its scratch memory, or to an input, fails, and weft names it. */

/* Input number `i` and its size in bytes (NULL: not asked). Read-only: others read the same bytes at
 * the same time. Of memory it is aligned to 64 bytes. NULL: there is no such input, or its file cannot
 * be read. */
static inline const void *weft_task_in(const struct weft_task *task, uint32_t i, size_t *bytes)
{
    return task->data->in(task, i, bytes);
}

/* Room for output number `i`, aligned to 64 bytes, contents undefined; handed over when the function
 * returns 0. A function that returns 0 without having asked for each of its outputs in memory has
 * failed. Asked again with the same size it is the same room, with another size a new one; what the old
 * one held is lost. NULL: there is no memory, or no such output. */
static inline void *weft_task_out(const struct weft_task *task, uint32_t i, size_t bytes)
{
    return task->data->out(task, i, bytes);
}

/* Output number `out` with the contents and size of input number `in`, to be changed. Where this task
 * is the last to read the input, these are its very bytes and the input is gone; else a copy. NULL as
 * above. */
static inline void *weft_task_pass(const struct weft_task *task, uint32_t in, uint32_t out,
                                   size_t *bytes)
{
    return task->data->pass(task, in, out, bytes);
}

/* Memory for the time of the call, aligned to 64 bytes, contents undefined. It counts like an object;
 * where memory is limited a task has of it what weft_builder_memory() states, and no more. NULL: there
 * is none. */
static inline void *weft_task_scratch(const struct weft_task *task, size_t bytes)
{
    return task->data->scratch(task, bytes);
}

typedef int (*weft_task_function)(const struct weft_task *task);

#ifdef __cplusplus
}
#endif
