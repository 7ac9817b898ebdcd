/* Questions whose answers may take seconds (plans, whole records of large runs, what would run, for which files are read) are answered on
 * threads of their own, so that the server goes on meanwhile: others ask, runs are followed, events are told. Only handlers that touch
 * nothing but their request, the library and their reply may be so (struct ui_route).
 *
 *     server                          thread
 *     slow_begin ── copy of it ─────▶ handler
 *     (the connection sleeps)            │
 *     slow_ended  ◀── descriptor ────────┘
 *     slow_take ──▶ the reply; the job is gone
 */
#pragma once
#include "ui/request.h"

struct slow_job;

/* Readable when some job has ended; -1: there are no threads to be had. Once a process. */
int slow_open(void);
/* `context` is the caller's. NULL: it cannot be started; answer at once instead. */
struct slow_job *slow_begin(const struct laboratory *lab, const struct ui_route *route,
                            const struct request *r, void *context);
/* The context of a job that has ended, each once; NULL: none more. `wait`: for one that is under way, if there is any. */
void *slow_ended(bool wait);
/* The reply, now the caller's. Only after slow_ended() gave it. */
void slow_take(struct slow_job *job, struct reply *out);
