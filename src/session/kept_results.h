/* The results that a session keeps and restores (memo/keeping.h), within WEFT_KEEP_RESULTS. */
#pragma once
#include "session/session.h"

/* For the session's needs; the workspace is open. NULL never. */
struct keeping *kept_results_begin(struct session *s);
/* All is over: keep what is to be kept and is not yet, let go what is too much, say what happened. */
void kept_results_end(struct session *s);
void kept_results_free(struct session *s);
