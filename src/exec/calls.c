/* Functions on a pool of threads: one queue in, one queue out, one lock.
 *
 *     owner ── calls_submit() ──▶ jobs ──▶ worker ×n ──▶ results ── calls_take() ──▶ owner
 *                                                           └── wake(), if the owner found none
 *
 * The cost of handing over is a lock, perhaps a wake-up, and two cache lines that change their
 * core; so jobs are taken in batches while calls are short, and one at a time once they are long
 * enough for another thread to be worth having.
 *
 * I1. `jobs`, `results`, `taken`, `given`, `idle`, `pending`, `ending` and `asleep` belong to the
 *     lock. `function` has fixed room: entries below `nfunctions` are read by threads without it,
 *     and the owner adds only above; a job carries the number of one that was there before it.
 * I2. One thread, the owner, submits, takes and finds functions. Only `wake` runs on others.
 * I3. `asleep` is true from a calls_take() that found nothing until a worker has put results there,
 *     which then wakes, once. So no result is left lying, and nobody is woken for each.
 * I4. A function's mean is written by several threads without a lock: a lost update costs a
 *     little accuracy of what is an estimate.
 * I5. Without a thread the owner makes the calls, in calls_take(), one in each, and is woken for the
 *     next: whoever watches the loop is never kept out for longer than a call.
 * I6. A thread that comes out of a call after `ending` touches nothing but the lock: nobody may be
 *     there any more to be woken. What it used is not freed then. */
#include "exec/calls.h"

#include "base/array.h"
#include "base/calling.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "exec/data.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 64 }; /* jobs taken at once: beyond that the lock is no longer what costs */

static const double worth_handing = 2e-6;  /* seconds: about what a hand-over costs */
static const double worth_sharing = 50e-6; /* longer calls are taken one at a time */

/* One "library:function" that tasks name. */
struct call_function {
    char *command;
    weft_task_function call;
    _Atomic double mean; /* of its recent calls, seconds; 0: never called */
};

enum { MOST_FUNCTIONS = 4096 }; /* I1: room for all is there from the beginning, 96 KiB */

/* What a thread gets when it is created. */
struct call_thread {
    struct calls *calls;
    uint32_t number; /* the lane of what it runs */
};

struct calls {
    pthread_mutex_t lock;
    pthread_cond_t work;
    ARRAY(struct call_job) jobs;
    size_t taken; /* of the jobs */
    ARRAY(struct call_result) results;
    size_t given; /* of the results */
    uint32_t idle, pending;
    bool ending, asleep; /* asleep: the taker found nothing */
    uint32_t calling;    /* threads that are in a call */
    void (*wake)(void *context);
    void *context;

    char *folder;
    uint32_t threads, wanted; /* that there are; that were asked for */
    pthread_t *thread;
    struct call_thread *place;
    struct call_function *function; /* I1 */
    uint32_t nfunctions;
    ARRAY(void *) libraries;
    uint32_t last; /* the function found last: most workflows call few */
};

/* Call it, and learn how long such calls take. One clock reading a call: it begins when the one
 * before it ended, which is `start`; the result is when this one did. */
static double call_one(struct calls *c, const struct call_job *job, double start,
                       struct call_result *out)
{
    struct call_function *f = &c->function[job->function];
    const char *above = calling_task;
    struct data_bare_block *bare = data_bare_begin();
    calling_task = job->with->name;
    int status = f->call(job->with);
    calling_task = above;
    data_bare_end(bare);
    double finish = clock_seconds(), took = finish - start;
    double mean = atomic_load_explicit(&f->mean, memory_order_relaxed);
    /* a long call counts at once, a short one bit by bit: the pool is the safe side */
    double next = mean == 0 || took > 50 * worth_handing ? took : mean + (took - mean) / 8;
    atomic_store_explicit(&f->mean, next, memory_order_relaxed);
    *out = (struct call_result){job->task, job->slot, job->attempt, job->lane,
                                status,    start,     finish,       took};
    return finish;
}

/* A thread: gives results back, waits for jobs, takes some. Holds the lock but while it calls and
 * while it wakes. */
static void *calls_worker(void *context)
{
    struct calls *c = ((struct call_thread *)context)->calls;
    uint32_t number = ((struct call_thread *)context)->number;
    struct call_job jobs[BATCH];
    struct call_result results[BATCH];
    size_t done = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        for (size_t i = 0; i < done; i++)
            array_push(&c->results, results[i]);
        bool wake = done && c->asleep; /* I3 */
        if (wake)
            c->asleep = false;
        done = 0;
        if (wake) {
            pthread_mutex_unlock(&c->lock);
            c->wake(c->context);
            pthread_mutex_lock(&c->lock);
        }
        while (c->taken == c->jobs.n && !c->ending) {
            c->idle++;
            pthread_cond_wait(&c->work, &c->lock);
            c->idle--;
        }
        if (c->ending)
            break;
        /* half of a fair share, so that threads come to the end together; one alone when calls are
         * long, or when nobody knows yet */
        size_t left = c->jobs.n - c->taken, n = left / (2 * (size_t)c->threads);
        double mean = atomic_load_explicit(&c->function[c->jobs.at[c->taken].function].mean,
                                           memory_order_relaxed);
        n = mean > worth_sharing || mean == 0 || n < 1 ? 1 : n > BATCH ? BATCH : n;
        memcpy(jobs, c->jobs.at + c->taken, n * sizeof *jobs);
        c->taken += n;
        if (c->taken == c->jobs.n)
            c->taken = c->jobs.n = 0;
        c->calling++;
        pthread_mutex_unlock(&c->lock);
        double now = clock_seconds();
        for (; done < n; done++) {
            jobs[done].lane = number;
            now = call_one(c, &jobs[done], now, &results[done]);
        }
        pthread_mutex_lock(&c->lock);
        c->calling--;
        if (c->ending)
            break;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct calls *calls_new(uint32_t threads, const char *folder, void (*wake)(void *context),
                        void *context)
{
    struct calls *c = mem_new_zero(struct calls, 1);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    c->wake = wake;
    c->context = context;
    c->asleep = true; /* until somebody takes, the first result must wake */
    c->folder = mem_copy_string(folder);
    c->wanted = threads ? threads : 1;
    c->function = mem_new_zero(struct call_function, MOST_FUNCTIONS);
    c->thread = mem_new(pthread_t, c->wanted);
    c->place = mem_new(struct call_thread, c->wanted);
    return c;
}

/* A shortage may pass. Under the lock: threads that are there divide by their number. */
uint32_t calls_threads(struct calls *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->threads < c->wanted) {
        uint32_t i = c->threads;
        c->place[i] = (struct call_thread){c, i};
        if (pthread_create(&c->thread[i], NULL, calls_worker, &c->place[i]) != 0)
            break;
        c->threads++;
    }
    uint32_t threads = c->threads;
    pthread_mutex_unlock(&c->lock);
    return threads;
}

/* False: some are still in a call. */
static bool calls_end(struct calls *c, double seconds)
{
    double until = clock_seconds() + seconds;
    bool calling = true;
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    while (isfinite(seconds) && calling) {
        pthread_mutex_lock(&c->lock);
        calling = c->calling > 0;
        pthread_mutex_unlock(&c->lock);
        if (calling && clock_seconds() > until)
            return false;
        if (calling)
            usleep(1000);
    }
    return true;
}

void calls_free(struct calls *c)
{
    calls_free_within(c, INFINITY);
}

bool calls_free_within(struct calls *c, double seconds)
{
    if (!c)
        return true;
    if (!calls_end(c, seconds)) {
        for (uint32_t i = 0; i < c->threads; i++)
            pthread_detach(c->thread[i]);
        return false; /* I6 */
    }
    for (uint32_t i = 0; i < c->threads; i++)
        pthread_join(c->thread[i], NULL);
    for (uint32_t i = 0; i < c->nfunctions; i++)
        free(c->function[i].command);
    for (size_t i = 0; i < c->libraries.n; i++)
        dlclose(c->libraries.at[i]);
    array_free(&c->libraries);
    array_free(&c->jobs);
    array_free(&c->results);
    free(c->function);
    free(c->thread);
    free(c->place);
    free(c->folder);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->work);
    free(c);
    return true;
}

/* Libraries beside the workflow go before those that the system finds. One that was loaded stays
 * until calls_free(): its functions may be running. */
static bool calls_load_function(struct calls *c, const char *command, struct call_function *f,
                                struct error *err)
{
    const char *colon = strrchr(command, ':');
    if (!colon)
        return error_set(err, ERROR_FAILED, "call '%.200s': expected library:function", command);
    struct strbuf path = {0};
    char *library = mem_copy_bytes(command, (size_t)(colon - command));
    strbuf_printf(&path, "%s%s/%s", c->folder[0] == '/' ? "" : "./", c->folder, library);
    bool beside = library[0] != '/' && access(path.at, F_OK) == 0;
    void *handle = dlopen(beside ? path.at : library, RTLD_NOW | RTLD_LOCAL);
    bool good = true;
    if (!handle) {
        good = error_set(err, ERROR_FAILED, "call '%.200s': cannot load the library: %.400s",
                         command, dlerror());
    } else {
        array_push(&c->libraries, handle);
        *(void **)&f->call = dlsym(handle, colon + 1);
        if (!f->call)
            good =
                error_set(err, ERROR_FAILED, "call '%.200s': the library has no function '%.80s'",
                          command, colon + 1);
    }
    free(library);
    strbuf_free(&path);
    return good;
}

/* O(functions) at worst; O(1) for the one found last, which most workflows ask for again. */
bool calls_find(struct calls *c, const char *command, uint32_t *function, struct error *err)
{
    *function = c->last;
    if (c->last < c->nfunctions && strcmp(c->function[c->last].command, command) == 0)
        return true;
    for (uint32_t i = 0; i < c->nfunctions; i++)
        if (strcmp(c->function[i].command, command) == 0) {
            *function = c->last = i;
            return true;
        }
    if (c->nfunctions == MOST_FUNCTIONS)
        return error_set(err, ERROR_FAILED, "more than %d different functions are called",
                         MOST_FUNCTIONS);
    struct call_function *f = &c->function[c->nfunctions];
    if (!calls_load_function(c, command, f, err))
        return false;
    f->command = mem_copy_string(command);
    *function = c->last = c->nfunctions++;
    return true;
}

weft_task_function calls_function(const struct calls *c, uint32_t function)
{
    return c->function[function].call;
}

/* Only what was called once can be known to be short: the first calls go to the threads. */
bool calls_inline(const struct calls *c, uint32_t function)
{
    double mean = atomic_load_explicit(&c->function[function].mean, memory_order_relaxed);
    return mean > 0 && mean < worth_handing;
}

void calls_run(struct calls *c, const struct call_job *job, double start,
               struct call_result *result)
{
    call_one(c, job, start > 0 ? start : clock_seconds(), result);
}

void calls_submit(struct calls *c, const struct call_job *jobs, size_t n)
{
    if (!n)
        return;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < n; i++)
        array_push(&c->jobs, jobs[i]);
    c->pending += (uint32_t)n;
    bool sleeping = c->idle > 0; /* signalled without the lock: who wakes can have it at once */
    bool alone = !c->threads;
    pthread_mutex_unlock(&c->lock);
    if (alone)
        c->wake(c->context); /* I5 */
    if (sleeping && n == 1)
        pthread_cond_signal(&c->work);
    else if (sleeping)
        pthread_cond_broadcast(&c->work);
}

/* I5. The lane is 0, as the first thread's would be. */
static size_t calls_take_alone(struct calls *c, struct call_result *out)
{
    if (c->taken == c->jobs.n)
        return 0;
    struct call_job job = c->jobs.at[c->taken++];
    job.lane = 0;
    call_one(c, &job, clock_seconds(), out);
    if (c->taken == c->jobs.n)
        c->taken = c->jobs.n = 0;
    else
        c->wake(c->context);
    c->pending--;
    return 1;
}

size_t calls_take(struct calls *c, struct call_result *out, size_t most)
{
    pthread_mutex_lock(&c->lock);
    if (!c->threads) { /* nobody else is there: the lock is for form */
        pthread_mutex_unlock(&c->lock);
        return calls_take_alone(c, out);
    }
    size_t n = c->results.n - c->given;
    n = n < most ? n : most;
    if (n)
        memcpy(out, c->results.at + c->given, n * sizeof *out);
    c->given += n;
    if (c->given == c->results.n)
        c->given = c->results.n = 0;
    c->asleep = n == 0;
    c->pending -= (uint32_t)n;
    pthread_mutex_unlock(&c->lock);
    return n;
}

uint32_t calls_cancel(struct calls *c)
{
    pthread_mutex_lock(&c->lock);
    uint32_t n = (uint32_t)(c->jobs.n - c->taken);
    c->taken = c->jobs.n = 0;
    c->pending -= n;
    pthread_mutex_unlock(&c->lock);
    return n;
}

uint32_t calls_pending(const struct calls *c)
{
    return c->pending;
}
