/* Words of other schedulers that come before this run has one here: it is read, and the board has not yet been
 * seen to open it. They wait until it has; else a thief that begins a moment sooner waits for the answer to its
 * first question until it takes it for lost, a second in which it could work. */
#include "cluster/agent/agent_state.h"

enum { EARLY_MOST = 1000 }; /* more are lost on the way: the schedulers are used to it */

bool job_keep_early(struct job *j, const void *data, size_t n)
{
    if (driver_sched(j->driver))
        return false;
    if (j->state == JOB_UNOPENED && j->early.n < EARLY_MOST)
        array_push(&j->early, (struct job_early){mem_copy_bytes(data, n), n});
    return true;
}

void job_deliver_early(struct job *j)
{
    for (size_t i = 0; i < j->early.n; i++) {
        bool malformed = false; /* it came from one that is trusted with the key: passed over */
        job_message(j, NULL, MESSAGE_SCHED, j->early.at[i].data, j->early.at[i].n, &malformed);
    }
    job_free_early(j);
}

void job_free_early(struct job *j)
{
    for (size_t i = 0; i < j->early.n; i++)
        free(j->early.at[i].data);
    array_free(&j->early);
}
