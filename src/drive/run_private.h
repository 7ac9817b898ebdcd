/* What the files of a run share: run.c (from beginning to end), run_grow.c (tasks that join),
 * run_cancel.c (tasks that nobody wants any more), run_crew.c (workflows of functions alone). Private to
 * them; the invariants stand in run.c. */
#pragma once
#include "drive/disk.h"
#include "drive/driver.h"
#include "drive/executor.h"
#include "drive/outbox.h"
#include "drive/run.h"
#include "exec/stepper.h"

struct run {
    struct run_options o;
    const struct workflow *w;
    struct run_result result;
    struct error error;          /* what stops the run and is not a task's fault */
    uint32_t total, ended_tasks; /* ended: done, failed or removed */
    int stopping;                /* 0: no, 1: nothing new, 2: everything ends now */
    bool over;
    bool crew_began;

    struct driver *driver;
    struct executor *executor;
    struct disk *disk;
    struct outbox outbox;
    double flushed;        /* when everything was last on record */
    double worked_flushed; /* driver_worked() then: what was done since, a crash now would lose */

    bool grows;            /* something has become known, or is to join */
    uint8_t *lost;         /* by task: failed or removed; NULL: none is, or it cannot grow */
    ARRAY(uint32_t) never; /* joined below such a task: to be removed when they are submitted */

    ARRAY(uint32_t) wishes; /* to be cancelled, once they are submitted */
    uint8_t *gone;          /* by task: CANCELLED_*; NULL: nobody has cancelled any */

    uint32_t submitted; /* tasks that the scheduler knows: those below */
    bool windowed;      /* the others may wait for them */
    struct meta_op *puts;
    uint32_t *chunk;

    struct stepper stepper; /* the loop */
    uv_timer_t ticker;
    uv_idle_t spin;  /* active while there is more to do at once */
    uint32_t rounds; /* of calls that end at once, since the world was looked at */
    int stops_seen;  /* of stepper_stops() */
    bool loop_open;  /* stepper and the two handles */
};

enum run_turn {
    TURN_MORE,  /* something is to be done at once */
    TURN_WAITS, /* for a task to end, or a timer */
    TURN_OVER,
};

enum { CANCELLED_ASKED = 1, CANCELLED_GONE = 2 }; /* by name; it or what depends on it, really */

enum { RUN_EVENTS = 4096 }; /* given to sinks at once */

/* run.c */
void run_flush(struct run *r);
bool run_must_flush(const struct run *r, double now); /* there is much that is not on record */
bool run_schedule(struct run *r, struct error *err);  /* from now on there is a scheduler */
void run_broken(void *run, const struct error *err);

void run_report_inputs(struct run *r, uint32_t first); /* objects from that one on */
void run_more_to_do(struct run *r);                    /* at once: run_fd() says so */

/* run_grow.c: a task failed or was removed; one ended, which may decide what joins; what became known joins. */
void run_lost(struct run *r, uint32_t task);
void run_decide(struct run *r, uint32_t task, bool done);
void run_grow(struct run *r);

/* run_cancel.c: wishes that are due go to the scheduler; a task is removed, for whatever reason. */
void run_take_out(struct run *r);
void run_removed(struct run *r, uint32_t task);

/* run_crew.c: a turn of a run that a crew carries out (executor_is_crewed()). */
enum run_turn run_crew_turn(struct run *r);
