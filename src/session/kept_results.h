/* The results that a session keeps and restores (memo/keeping.h), within WEFT_KEEP_RESULTS. */
#pragma once
#include "session/session.h"

/* For the session's needs; the workspace is open. NULL never. */
struct keeping *kept_results_begin(struct session *s);
/* On record: files that were restored, which are others than the run before left. */
void kept_results_record(struct session *s);
/* A run that does nothing else, from begin to end; the head of its record is filled. */
void kept_results_record_alone(struct session *s);
/* All is over: keep what is to be kept and is not yet, let go what is too much, say what happened. */
void kept_results_end(struct session *s);
void kept_results_free(struct session *s);
