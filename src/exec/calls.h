/* Tasks that are functions, on a pool of threads.
 *
 * Jobs go in and results come out in batches under one lock, so that handing over costs little when
 * there are many. Handing over at all costs more than a very short call: calls that have proved to
 * take less than that are made by the caller's own thread (calls_inline()). */
#pragma once
#include "base/error.h"
#include "weft/task.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;

struct call_job {
    uint32_t task, slot, attempt, lane;
    uint32_t function;            /* from calls_find() */
    const struct weft_task *with; /* stays until the result is taken */
};

struct call_result {
    uint32_t task, slot, attempt, lane;
    int status;
    double start, finish, cpu; /* clock_seconds() */
};

/* `wake` is called from any thread when results are there and the taker may be asleep. Libraries
 * are looked for in `folder` first. Threads are started by the first calls_threads(): where the system
 * gives fewer than asked for, those will do; without any, calls_take() makes the calls itself, one at a
 * time (calls_threads() is 0). */
struct calls *calls_new(uint32_t threads, const char *folder, void (*wake)(void *context),
                        void *context);
void calls_free(struct calls *c); /* waits for calls that run; NULL is fine */
/* In its place when a call does not return: waits no longer than `seconds` for those that run. Then
 * what they may still use is left to them, lost: false. */
bool calls_free_within(struct calls *c, double seconds);

/* Threads that there are, after trying once more to have all. */
uint32_t calls_threads(struct calls *c);

/* The number of the function that "lib.so:name" stands for, loaded on first use. */
bool calls_find(struct calls *c, const char *command, uint32_t *function, struct error *err);

weft_task_function calls_function(const struct calls *c, uint32_t function);

/* Has this function proved to be shorter than handing it over? */
bool calls_inline(const struct calls *c, uint32_t function);
/* Run it here and now. `start`: clock_seconds() of late, or 0: reading it costs as much as a short
 * call. */
void calls_run(struct calls *c, const struct call_job *job, double start,
               struct call_result *result);

void calls_submit(struct calls *c, const struct call_job *jobs, size_t n);
/* What has come back; at most `most`. With nothing, the next result wakes. */
size_t calls_take(struct calls *c, struct call_result *out, size_t most);
/* Those that no thread has taken yet are not made: their number. */
uint32_t calls_cancel(struct calls *c);
uint32_t calls_pending(const struct calls *c); /* submitted and not taken */
