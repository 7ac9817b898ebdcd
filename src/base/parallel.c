#include "base/parallel.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct loop {
    atomic_size_t next;
    size_t count;
    void (*body)(void *, size_t);
    void *context;
};

static void *parallel_worker(void *argument)
{
    struct loop *loop = argument;
    for (;;) {
        size_t i = atomic_fetch_add(&loop->next, 1);
        if (i >= loop->count)
            return NULL;
        loop->body(loop->context, i);
    }
}

unsigned parallel_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

void parallel_for(size_t count, unsigned threads, void (*body)(void *context, size_t i),
                  void *context)
{
    struct loop loop = {.count = count, .body = body, .context = context};
    if (!threads)
        threads = parallel_cores();
    if (threads > count)
        threads = (unsigned)count;
    pthread_t *thread = mem_new(pthread_t, threads);
    unsigned started = 0;
    /* The caller's thread works too, so a failed pthread_create only costs speed. */
    while (started + 1 < threads &&
           pthread_create(&thread[started], NULL, parallel_worker, &loop) == 0)
        started++;
    parallel_worker(&loop);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
}
