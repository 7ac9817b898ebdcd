/* Those who follow a run, over links: clients that submitted it or attached to it. */
#pragma once
#include "cluster/agent/job.h"

/* From now on this link is sent what happens; first, what is known so far. */
void watch_begin(struct job *j, struct link *l);
void watch_end(struct job *j, const struct link *l);
/* A SHOW: what a task that runs has written. */
void watch_show(struct job *j, struct link *l, struct bytes *in, bool *malformed);
/* What the scheduler says of a task's end: whether it counts. */
void watch_noted(struct job *j, const struct sched_note *note);
/* Send what has happened since the last time. */
void watch_flush(struct job *j);
