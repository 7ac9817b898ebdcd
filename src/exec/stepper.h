/* A libuv loop that its owner drives step by step, waits for through one descriptor, and stops from
 * anywhere: what a run on this machine, a run that is followed on a cluster and the agents being
 * started for it have in common.
 *
 *     stepper_open(&s, NULL, &err)           a loop; handles are opened on s.loop
 *     while (!over) stepper_step(&s, -1)     or: poll stepper_fd(&s), then stepper_step(&s, 0)
 *     stepper_close(&s)                      after the owner's handles are closed
 *
 * A loop has two reasons to want attention, a descriptor and a timer; somebody else's event loop
 * takes one descriptor:
 *
 *     stepper_fd ── epoll ─┬── uv_backend_fd    sockets, pipes, children, the wake-up of a stop
 *                          └── timerfd          armed after each step with uv_backend_timeout
 *
 * Everything belongs to the owner's thread except stepper_stop(), which is for any thread and for
 * signal handlers, from stepper_open() until stepper_close(). Nothing of the process is touched: no
 * signal handlers, no output. */
#pragma once
#include "base/error.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

struct stepper {
    uv_loop_t *loop;
    uv_loop_t own;
    uv_async_t wake;  /* unreferenced: does not keep the loop alive */
    int epoll, timer; /* -1: nobody asked for the descriptor */
    atomic_int stops;
};

/* As uv_loop_init(), which aborts where descriptors are short. */
int stepper_loop_init(uv_loop_t *loop);
/* `loop`: another stepper's, which then must outlive this one; NULL: one of its own. False: the
 * process has no descriptors left. */
bool stepper_open(struct stepper *s, uv_loop_t *loop, struct error *err);
/* Closes what stepper_open() made. The owner's handles are closed already, or closing. */
void stepper_close(struct stepper *s);

/* Readable when there is something to do. Made at the first call and kept up to date from then on;
 * -1: the process has no descriptors left. Never read from it. */
int stepper_fd(struct stepper *s);
/* Let happen what is due. wait 0: never blocks; negative: until something happens; else at most so
 * many seconds. */
void stepper_step(struct stepper *s, double wait);

/* The owner has set a timer or an idle handle outside of a step: the descriptor is to know. */
void stepper_rearm(struct stepper *s);

/* Counts, and ends a step that waits. What a count means is the owner's business. */
void stepper_stop(struct stepper *s);
int stepper_stops(const struct stepper *s);
/* Back to none: what was asked to stop has ended. */
void stepper_forget_stops(struct stepper *s);
