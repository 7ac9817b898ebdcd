/* A loop driven from outside: its descriptor tells of timers, of descriptors and of stops. */
#include "exec/stepper.h"
#include "base/clock.h"
#include "tap.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static bool stepper_test_readable(int fd, int ms)
{
    return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ms) == 1;
}

static void stepper_test_count(uv_timer_t *timer)
{
    ++*(int *)timer->data;
}

static void stepper_test_timers(void)
{
    struct stepper s;
    struct error err = {0};
    uv_timer_t timer;
    int fired = 0;
    ok(stepper_open(&s, NULL, &err), "opens");
    uv_timer_init(s.loop, &timer);
    timer.data = &fired;
    int fd = stepper_fd(&s);
    ok(fd >= 0, "has a descriptor");
    stepper_step(&s, 0);
    ok(!stepper_test_readable(fd, 30), "silent while nothing is due");
    uv_timer_start(&timer, stepper_test_count, 50, 0);
    stepper_step(&s, 0);
    is_int(fired, 0, "a step that does not wait does not wait");
    ok(stepper_test_readable(fd, 2000), "a timer makes it readable");
    while (fired == 0 && stepper_test_readable(fd, 2000))
        stepper_step(&s, 0);
    is_int(fired, 1, "and fires in the step");
    double before = clock_seconds();
    stepper_step(&s, 0.05);
    ok(clock_seconds() - before < 2, "a bounded wait ends");
    uv_close((uv_handle_t *)&timer, NULL);
    stepper_close(&s);
}

static void *stepper_test_stop(void *context)
{
    usleep(50000);
    stepper_stop(context);
    return NULL;
}

static struct stepper *stepper_test_target;

static void stepper_test_handler(int number)
{
    (void)number;
    stepper_stop(stepper_test_target);
}

static void stepper_test_never(uv_timer_t *timer)
{
    (void)timer;
}

static void stepper_test_stops(void)
{
    struct stepper s;
    struct error err = {0};
    pthread_t thread;
    uv_timer_t keeps; /* a loop without work does not wait */
    ok(stepper_open(&s, NULL, &err), "opens");
    uv_timer_init(s.loop, &keeps);
    uv_timer_start(&keeps, stepper_test_never, 3600000, 0);
    pthread_create(&thread, NULL, stepper_test_stop, &s);
    while (!stepper_stops(&s))
        stepper_step(&s, -1);
    is_int(stepper_stops(&s), 1, "another thread ends a step that waits");
    pthread_join(thread, NULL);
    stepper_step(&s, 0);
    int fd = stepper_fd(&s);
    ok(!stepper_test_readable(fd, 30), "silent again");
    stepper_test_target = &s;
    signal(SIGUSR1, stepper_test_handler);
    raise(SIGUSR1);
    ok(stepper_test_readable(fd, 2000), "a signal handler makes it readable");
    is_int(stepper_stops(&s), 2, "and counts");
    stepper_forget_stops(&s);
    is_int(stepper_stops(&s), 0, "forgotten");
    signal(SIGUSR1, SIG_DFL);
    uv_close((uv_handle_t *)&keeps, NULL);
    stepper_close(&s);
}

int main(void)
{
    stepper_test_timers();
    stepper_test_stops();
    return tap_done();
}
