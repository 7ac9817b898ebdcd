/* Failures of a run's tasks here: which of them count, and why they happened, in the run's folder: told to
 * who attaches after the job was closed. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct job;
struct run_failure;

/* What has failed here for good, and the store has not said yet whether that counts, stays in j->failing.
 * While there is any, nothing starts: if it counts, nothing is to. */
void job_look_for_verdicts(struct job *j);
/* Does what is ready start here, if there is room? */
bool job_starts_tasks(const struct job *j);
/* Is this one of which the store has not said so? Nobody is told of it yet. */
bool job_failure_is_open(const struct job *j, const struct run_failure *f);
/* It does not count: others have taken the task over. */
void job_drop_failure(struct job *j, uint32_t task);

/* What cannot be written is said in the log. */
void job_write_failures(const struct job *j);
void job_read_failures(struct job *j); /* what an earlier job of this run wrote */
