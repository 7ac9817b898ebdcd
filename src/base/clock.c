/* Clocks in seconds. The monotonic one is for measuring and for timers: it does not jump when
 * somebody sets the time of day. */
#include "base/clock.h"

#include <time.h>

static double clock_seconds_of(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_seconds(void)
{
    return clock_seconds_of(CLOCK_MONOTONIC);
}

double clock_cpu_seconds(void)
{
    return clock_seconds_of(CLOCK_THREAD_CPUTIME_ID);
}
