/* A crew: threads that carry out a whole graph of functions by themselves.
 *
 * Who hands every task over pays for it (exec/calls.h: two microseconds). A crew is given the graph
 * once. Each thread takes ready tasks from a deque of its own, or steals from the others'; whoever
 * ends the last task that another waits for makes that one ready. The owner hears of ends in
 * batches, about in the order in which they ended, and of none before those that it waited for.
 *
 *     struct crew *c = crew_new(&config);
 *     ... `wake` is called ...            n = crew_take(c, ends, room); crew_over(c)?
 *     crew_free_within(c, INFINITY);
 *
 * A task that fails releases nobody: what lies below it is never called. */
#pragma once
#include "model/workflow.h"
#include "weft/task.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew;
struct data;
struct pins;
struct ration;

/* What it points to must stay until the crew is freed. */
struct crew_config {
    const struct workflow *workflow;
    uint32_t threads;
    const weft_task_function *call; /* by task; NULL entries: nothing is called */
    const char *folder;             /* of struct weft_task */
    const double *priority;  /* by task, larger first; among those that become ready together */
    bool ordered;            /* among all that are ready: one queue, slower */
    bool keep_going;         /* after a failure what does not depend on it goes on */
    bool quiet;              /* of ends that are well only their number and time are wanted */
    struct data *data;       /* objects in memory (exec/data.h); NULL: there are none */
    struct ration *ration;   /* memory to keep to (exec/ration.h), with `ordered`; NULL: none */
    const struct pins *pins; /* thread i stays in place i (exec/pins.h); NULL: anywhere */
    void *given;             /* `context` of struct weft_task */
    /* From any thread: there may be something to take, or it is over. */
    void (*wake)(void *context);
    void *context;
};

struct crew_end {
    uint32_t task, lane; /* lane: the thread */
    int status;
    double start, finish; /* clock_seconds() */
};

struct crew_counts {
    uint64_t well;   /* of the quiet: calls that ended well */
    uint64_t passed; /* of the quiet: tasks without a call */
    double busy;     /* seconds of both */
    uint32_t active; /* threads that are not asleep */
};

/* NULL: not a single thread could be had. */
struct crew *crew_new(const struct crew_config *config);

/* A graph that a function brings while a crew calls it, for the threads of that crew: at most
 * `threads` of them at once (0: all). The others see it at once; the caller works on it, and on other
 * things while nothing of it is left for it, until it is over. Only of a `quiet` crew that does not keep
 * going. A function that holds a lock here may find itself called again above itself. */
bool crew_is_inside(void); /* is this thread in a crew's call? */
struct crew *crew_new_guest(const struct crew_config *config);
void crew_attend(struct crew *guest);
void crew_free_guest(struct crew *guest); /* after crew_attend() */

/* Nothing new starts; what runs ends and is told. */
void crew_stop(struct crew *c);
/* Ends, at most `most`. 0: there is none at the moment. The owner is woken when there
 * are many, when one is some milliseconds old as the next one ends, and when a thread has nothing
 * left to do: who wants to hear of each in time looks now and then. */
size_t crew_take(struct crew *c, struct crew_end *out, size_t most);
void crew_count(struct crew *c, struct crew_counts *out);
/* No end will come any more but those that crew_take() still has. */
bool crew_over(struct crew *c);
/* How a task ended; when it is over. */
enum crew_verdict { CREW_NOT_BEGUN, CREW_DONE, CREW_FAILED };
enum crew_verdict crew_verdict(const struct crew *c, uint32_t task);
/* Waits no longer than so many seconds for calls that run. False: some still do, and what they use
 * is left to them, lost. NULL is fine. */
bool crew_free_within(struct crew *c, double seconds);
