/* The record of a session's run: begun with what is known before, kept up while it goes on,
 * completed with what came of it, and written into the history where one is wanted. */
#pragma once
#include "session/session.h"

/* The history of $WEFT_HISTORY or the home folder, for prediction and recording. Without one the
 * session goes on (and says why, when that is not the user's wish). */
void recording_open_history(struct session *s);
/* What any record begins with: its names, this machine, this moment; nothing is predicted or measured.
 * `file` may be NULL. */
void recording_stamp(struct run_record *r, const char *name, const char *file, const char *folder);
/* s->record from what is known before anything runs. */
void recording_fill_head(struct session *s);
/* Give it a number in the history, if there is one, and keep events from here on. */
void recording_begin(struct session *s);
/* `good`: every task is done. Completes s->record from s->result. */
void recording_end(struct session *s, bool good);
