/* thrift.h: a few runs are looked at at once; what was spent on each is kept until another takes its place. */
#include "ui/thrift.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

enum { THRIFT_RUNS = 8 };
static const double THRIFT_SHARE = 0.02; /* of a core */
static const double THRIFT_FIRST =
    0.02; /* seconds that nobody has to wait for: some thousand tasks */
/* Seconds a task, measured at a million of them: to open (names, families, graph), to draw again, and to read an attempt
 * (twice: the graph has a watch of its own). What it really took is counted afterwards. */
static const double OPEN_TASK = 2.2e-6, DRAW_TASK = 3e-7, READ_ATTEMPT = 1.6e-6;

static pthread_mutex_t thrift_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thrift {
    int64_t run;
    double spent;
    uint32_t read; /* tasks that were over when it was read last */
    bool opened;
    uint64_t asked;     /* when, in questions */
} thrifts[THRIFT_RUNS]; /* guarded by thrift_lock */
static uint64_t thrift_questions;

double thrift_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* With the lock held. */
static struct thrift *thrift_of(int64_t run)
{
    struct thrift *oldest = &thrifts[0];
    for (size_t i = 0; i < THRIFT_RUNS; i++) {
        if (thrifts[i].asked && thrifts[i].run == run) {
            oldest = &thrifts[i];
            break;
        }
        if (thrifts[i].asked < oldest->asked)
            oldest = &thrifts[i];
    }
    if (!oldest->asked || oldest->run != run)
        *oldest = (struct thrift){.run = run};
    oldest->asked = ++thrift_questions;
    return oldest;
}

void thrift_spent(int64_t run, double seconds)
{
    pthread_mutex_lock(&thrift_lock);
    thrift_of(run)->spent += seconds;
    pthread_mutex_unlock(&thrift_lock);
}

double thrift_wait(int64_t run, double elapsed, uint32_t tasks, uint32_t over)
{
    pthread_mutex_lock(&thrift_lock);
    struct thrift *t = thrift_of(run);
    uint32_t fresh = over > t->read ? over - t->read : 0;
    double estimate =
        (t->opened ? DRAW_TASK : OPEN_TASK + DRAW_TASK) * tasks + READ_ATTEMPT * fresh;
    double missing = t->spent + estimate - THRIFT_FIRST - THRIFT_SHARE * fmax(0, elapsed);
    if (missing <= 0) {
        t->opened = true;
        t->read = over;
    }
    pthread_mutex_unlock(&thrift_lock);
    return missing > 0 ? missing / THRIFT_SHARE : 0;
}
