/* Why tasks of a run failed, in the run's folder: told to who attaches after the job was closed. */
#pragma once

struct job;

/* What cannot be written is said in the log. */
void job_write_failures(const struct job *j);
void job_read_failures(struct job *j); /* what an earlier job of this run wrote */
