/* A loop over the cores: threads that take the next index from one counter.
 *
 * I1. The counter only grows; whoever takes an index runs it, so that each runs once.
 * I2. The caller's account of memory (base/mem.h) is the workers' too: what an iteration allocates
 *     belongs to the call that asked for the loop. A worker whose memory runs out stops the loop;
 *     the caller fails in its stead, after all workers were joined.
 * I3. `asked` is written before `failed` is set, and read after the joins. */
#include "base/parallel.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct parallel_loop {
    atomic_size_t next;
    size_t count;
    void (*body)(void *, size_t);
    void *context;
    struct mem_ledger *account; /* NULL: the caller has no boundary, nor have the workers */
    atomic_size_t asked;
    atomic_bool failed;
};

static void parallel_iterate(void *argument)
{
    struct parallel_loop *loop = argument;
    for (;;) {
        size_t i = atomic_fetch_add(&loop->next, 1);
        if (i >= loop->count || atomic_load_explicit(&loop->failed, memory_order_relaxed))
            return;
        loop->body(loop->context, i);
    }
}

static void *parallel_worker(void *argument)
{
    struct parallel_loop *loop = argument;
    size_t asked;
    if (!loop->account) {
        parallel_iterate(loop);
    } else if (!mem_try(loop->account, parallel_iterate, loop, &asked)) {
        atomic_store(&loop->asked, asked);
        atomic_store(&loop->failed, true);
    }
    return NULL;
}

unsigned parallel_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

void parallel_for(size_t count, unsigned threads, void (*body)(void *context, size_t i),
                  void *context)
{
    struct parallel_loop loop = {
        .count = count, .body = body, .context = context, .account = mem_boundary_ledger()};
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
    parallel_worker(&loop); /* with a boundary of its own: no jump before the joins */
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    if (atomic_load(&loop.failed))
        mem_fail(atomic_load(&loop.asked));
}
