/* Runs that somebody else has started, watched: while they go on, and afterwards.
 *
 *     struct weft_watch *w = weft_watch_open(17, &error);
 *     struct weft_watch_state s = WEFT_WATCH_STATE_INIT;
 *     do {
 *         sleep(1);
 *         weft_watch_look(w, NULL, &error);
 *         weft_watch_state(w, &s);
 *         printf("%u of %u\n", s.done, s.tasks);
 *     } while (strcmp(s.outcome, "running") == 0);
 *     weft_watch_close(w);
 *
 * A look reads what is new in the history, and in the folder what runs at the moment: it costs the run nothing. A run without a
 * record cannot be watched. For one thread at a time. Texts belong to the watch and are valid until the next look. */
#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include "weft/common.h"
#include "weft/history.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_watch;

/* A run of the standard history, by its number. */
struct weft_watch *weft_watch_open(int64_t run, struct weft_error *error);
void weft_watch_close(struct weft_watch *w); /* NULL is fine */
/* Read what is new. `changed` (may be NULL): whether there was something, or the run goes on. */
bool weft_watch_look(struct weft_watch *w, bool *changed, struct weft_error *error);

struct weft_watch_state {
    size_t size;
    int64_t run;
    const char *workflow, *file, *folder;
    const char *outcome; /* "running", "done", "failed", "cancelled", "lost" */
    double started;      /* seconds since 1970 */
    double seconds;      /* so far, or altogether */
    double expected;     /* seconds altogether, as it looks now; NAN: not known */
    double predicted;    /* seconds, before it began; NAN: not known */
    uint32_t cores, tasks, waiting, running, done, failed, reused, skipped;
    const char *given; /* parameters and lists of the command line: "sigma=2; n=3"; NULL: none */
};
#define WEFT_WATCH_STATE_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(struct weft_watch_state)                                                    \
    }
void weft_watch_state(const struct weft_watch *w, struct weft_watch_state *out);

/* Tasks of a kind together. */
struct weft_watch_family {
    size_t size;
    const char *name;
    uint32_t tasks, waiting, running, done, failed, reused, skipped;
    double seconds;   /* of those that are done, each in the mean; NAN: none is */
    double predicted; /* of all, each in the mean; NAN: not known */
};
#define WEFT_WATCH_FAMILY_INIT                                                                     \
    {                                                                                              \
        .size = sizeof(struct weft_watch_family)                                                   \
    }
/* Number `i`; false: there are no more. */
bool weft_watch_family(const struct weft_watch *w, uint32_t i, struct weft_watch_family *out);

struct weft_watch_task {
    size_t size;
    const char *name, *kind;
    const char *state;    /* "waiting", "running", "done", "failed", "reused", "skipped" */
    const char *reason;   /* why it had to run, in a word; NULL: not known */
    uint32_t attempt;     /* the last one; 0: none yet */
    double start, finish; /* of that one, seconds since the run began; NAN: not yet */
    uint32_t node, core;
    int status;                  /* exit status, or 128 + signal */
    double cpu, memory;          /* seconds; bytes at its peak */
    double predicted, low, high; /* seconds; NAN: not known */
};
#define WEFT_WATCH_TASK_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(struct weft_watch_task)                                                     \
    }
/* False: there is no such task. */
bool weft_watch_task(const struct weft_watch *w, uint32_t task, struct weft_watch_task *out);
/* Number `i` of what runs at the moment: the task. False: there are no more. */
bool weft_watch_running(const struct weft_watch *w, size_t i, uint32_t *task);
/* What the last attempt of a task has written so far, from byte `from` on, at most `most` bytes: to be given back with
 * weft_text_free(). `end`: where it ends now. NULL: it has written nothing, or its log is gone; or it
 * runs and is given secrets, which are masked when it has ended. Of a task that runs on an agent the call asks for what is new,
 * which comes with a later one. */
char *weft_watch_log(const struct weft_watch *w, uint32_t task, uint64_t from, size_t most,
                     uint64_t *end);
/* Ask the run to cancel a task that waits or runs, and all that depends on it; the rest goes on. The run hears of it within some
 * tenths of a second and will not end well: what was cancelled is told with its result. So does a run on agents, while the program
 * that began it follows it; weft_cluster_cancel() reaches every one. */
bool weft_watch_cancel(struct weft_watch *w, uint32_t task, struct weft_error *error);
/* As Ctrl-C in its terminal. Once: nothing new starts, what runs may end. Twice: everything is ended now. */
bool weft_watch_stop(struct weft_watch *w, struct weft_error *error);

/* A number that changes whenever a run of the history begins or ends: for who shows a list. */
bool weft_history_stamp(struct weft_history *h, uint64_t *stamp, struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
