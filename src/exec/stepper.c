/* A libuv loop with one descriptor and a stop (stepper.h).
 *
 * Invariants:
 *   I1. stepper_stop() uses an atomic counter and uv_async_send() only: both may be called by a
 *       signal handler. The count is raised before the wake-up, so a step that was woken sees it.
 *   I2. After every step, and after stepper_fd(), the timerfd is due no later than the loop's next
 *       timer, so that the descriptor is never silent while something is due.
 *   I3. libuv hands new watchers to its epoll set only when it polls. A watcher that a callback
 *       started would be missed by stepper_fd(); a second turn without waiting hands it over. */
#include "exec/stepper.h"

#include "base/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void stepper_woken(uv_async_t *wake)
{
    (void)wake; /* the step has ended, and its caller looks at the count */
}

int stepper_loop_init(uv_loop_t *loop)
{
    enum { OF_A_LOOP = 8 }; /* epoll, two pipes, an eventfd, and some */
    int reason = descriptors_wanting(OF_A_LOOP);
    return reason ? uv_translate_sys_error(reason) : uv_loop_init(loop);
}

bool stepper_open(struct stepper *s, uv_loop_t *loop, struct error *err)
{
    *s = (struct stepper){.loop = loop ? loop : &s->own, .epoll = -1, .timer = -1};
    int bad = loop ? 0 : stepper_loop_init(&s->own);
    if (bad == 0) {
        bad = uv_async_init(s->loop, &s->wake, stepper_woken);
        if (bad != 0 && !loop)
            uv_loop_close(&s->own);
    }
    if (bad != 0)
        return error_set(err, ERROR_FAILED, "no event loop: %s", uv_strerror(bad));
    uv_unref((uv_handle_t *)&s->wake);
    return true;
}

static void stepper_wake_closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

void stepper_close(struct stepper *s)
{
    bool closed = false;
    s->wake.data = &closed;
    uv_close((uv_handle_t *)&s->wake, stepper_wake_closed);
    while (!closed)
        uv_run(s->loop, UV_RUN_NOWAIT);
    if (s->loop == &s->own) {
        uv_run(&s->own, UV_RUN_DEFAULT); /* what is closing wants its last turns */
        uv_loop_close(&s->own);
    }
    if (s->epoll >= 0)
        close(s->epoll);
    if (s->timer >= 0)
        close(s->timer);
    s->epoll = s->timer = -1;
}

/* The timerfd after what the loop's timers say (I2). */
static void stepper_arm(struct stepper *s)
{
    /* a loop with nothing in it says 0, meaning that uv_run() returns, not that something is due */
    int ms = uv_loop_alive(s->loop) ? uv_backend_timeout(s->loop) : -1;
    struct itimerspec at = {0}; /* all zero: never */
    if (ms > 0)
        at.it_value = (struct timespec){ms / 1000, ms % 1000 * 1000000L};
    else if (ms == 0)
        at.it_value.tv_nsec = 1; /* at once; zero would disarm it */
    timerfd_settime(s->timer, 0, &at, NULL);
}

void stepper_rearm(struct stepper *s)
{
    if (s->epoll < 0)
        return;
    uv_update_time(s->loop); /* the owner's work took time, which timers count from the last turn */
    stepper_arm(s);
}

int stepper_fd(struct stepper *s)
{
    if (s->epoll >= 0)
        return s->epoll;
    int set = epoll_create1(EPOLL_CLOEXEC);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int inner = uv_backend_fd(s->loop);
    if (set < 0 || timer < 0 ||
        epoll_ctl(set, EPOLL_CTL_ADD, inner, &(struct epoll_event){.events = EPOLLIN}) != 0 ||
        epoll_ctl(set, EPOLL_CTL_ADD, timer, &(struct epoll_event){.events = EPOLLIN}) != 0) {
        if (set >= 0)
            close(set);
        if (timer >= 0)
            close(timer);
        return -1;
    }
    s->epoll = set;
    s->timer = timer;
    uv_run(s->loop, UV_RUN_NOWAIT); /* I3 */
    stepper_arm(s);
    return set;
}

void stepper_step(struct stepper *s, double wait)
{
    if (wait < 0) {
        uv_run(s->loop, UV_RUN_ONCE);
    } else {
        /* rounded up: a caller that waits for a moment must not spin just before it */
        if (wait > 0 && stepper_fd(s) >= 0)
            poll(&(struct pollfd){.fd = s->epoll, .events = POLLIN}, 1,
                 wait < 1e6 ? (int)(wait * 1000) + 1 : 1000000000);
        uv_run(s->loop, UV_RUN_NOWAIT);
    }
    if (s->epoll < 0)
        return;
    uv_run(s->loop, UV_RUN_NOWAIT); /* I3 */
    stepper_arm(s);
}

void stepper_stop(struct stepper *s)
{
    atomic_fetch_add(&s->stops, 1);
    uv_async_send(&s->wake);
}

int stepper_stops(const struct stepper *s)
{
    return atomic_load(&s->stops);
}

void stepper_forget_stops(struct stepper *s)
{
    atomic_store(&s->stops, 0);
}
