/* Conditions that are waited for until a time of clock_seconds(): a clock that is set does not move it. */
#pragma once
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

static inline void cond_init(pthread_cond_t *c)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* The same time for calls of the system. */
static inline struct timespec cond_time(double seconds)
{
    return (struct timespec){(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
}

/* False: the time has come. */
static inline bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, double seconds)
{
    struct timespec at = cond_time(seconds);
    return pthread_cond_timedwait(c, lock, &at) == 0;
}
