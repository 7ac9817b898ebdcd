/* slow.h: one list, one lock. Invariants: 1. a job is in the list from slow_begin() until slow_take(). 2. A thread writes only its
 * own job's reply, and `over` under the lock, last. 3. Only the server's thread takes jobs out, and joins their threads. */
#include "ui/slow.h"
#include "base/mem.h"
#include "ui/laboratory.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct slow_job {
    struct slow_job *next;
    pthread_t thread;
    struct laboratory lab;
    const struct ui_route *route;
    struct request request; /* with texts of its own */
    struct reply reply;
    void *context;
    bool over; /* under the lock */
    bool told; /* slow_ended() gave it */
};

static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t slow_change = PTHREAD_COND_INITIALIZER;
static struct slow_job *slow_jobs;
static int slow_fd = -1;

int slow_open(void)
{
    if (slow_fd < 0)
        slow_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return slow_fd;
}

/* Whoever asked may go away meanwhile: nothing of the request is borrowed. */
static void slow_copy(struct request *to, const struct request *from)
{
    *to = (struct request){.path = mem_copy_string(from->path), .run = from->run};
    for (; to->nvalues < from->nvalues; to->nvalues++) {
        const char *value = from->value[to->nvalues];
        to->name[to->nvalues] = mem_copy_string(from->name[to->nvalues]);
        to->value[to->nvalues] = mem_copy_string(value ? value : "");
    }
    to->body = mem_copy_bytes(from->body ? from->body : "", from->nbody);
    to->nbody = from->nbody;
}

static void slow_free(struct slow_job *job)
{
    free((char *)job->request.path);
    for (size_t i = 0; i < job->request.nvalues; i++) {
        free((char *)job->request.name[i]);
        free((char *)job->request.value[i]);
    }
    free(job->request.body);
    free(job);
}

static void *slow_work(void *context)
{
    struct slow_job *job = context;
    const uint64_t one = 1;
    job->reply.status = 200;
    job->reply.type = "application/json";
    route_answer(job->route, &job->lab, &job->request, &job->reply);
    pthread_mutex_lock(&slow_lock);
    job->over = true;
    pthread_cond_signal(&slow_change);
    pthread_mutex_unlock(&slow_lock);
    /* full only when nobody has looked for 2^64 ends */
    (void)!write(slow_fd, &one, sizeof one);
    return NULL;
}

struct slow_job *slow_begin(const struct laboratory *lab, const struct ui_route *route,
                            const struct request *r, void *context)
{
    if (slow_fd < 0)
        return NULL;
    struct slow_job *job = mem_zero(sizeof *job);
    job->lab = *lab;
    job->route = route;
    job->context = context;
    slow_copy(&job->request, r);
    pthread_mutex_lock(&slow_lock);
    bool good = pthread_create(&job->thread, NULL, slow_work, job) == 0;
    if (good) {
        job->next = slow_jobs;
        slow_jobs = job;
    }
    pthread_mutex_unlock(&slow_lock);
    if (good)
        return job;
    slow_free(job);
    return NULL;
}

void *slow_ended(bool wait)
{
    uint64_t ends;
    void *found = NULL;
    (void)!read(slow_fd, &ends, sizeof ends); /* only wakes; the list says which */
    pthread_mutex_lock(&slow_lock);
    for (;;) {
        bool open = false;
        for (struct slow_job *job = slow_jobs; job && !found; job = job->next) {
            open |= !job->over;
            if (job->over && !job->told) {
                job->told = true;
                found = job->context;
            }
        }
        if (found || !wait || !open)
            break;
        pthread_cond_wait(&slow_change, &slow_lock);
    }
    pthread_mutex_unlock(&slow_lock);
    return found;
}

void slow_take(struct slow_job *job, struct reply *out)
{
    pthread_join(job->thread, NULL);
    pthread_mutex_lock(&slow_lock);
    struct slow_job **at = &slow_jobs;
    while (*at && *at != job)
        at = &(*at)->next;
    if (*at)
        *at = job->next;
    pthread_mutex_unlock(&slow_lock);
    *out = job->reply;
    slow_free(job);
}
