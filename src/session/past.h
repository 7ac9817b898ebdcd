/* What became of tasks when they last ran here, for who asks why they would run: of those that ended
 * well the memo tells, of those that failed the history. */
#pragma once
#include "session/session.h"

/* Into s->needs.note: a sentence for each task that must run and did not end well when it last ran in
 * this folder. Once; without a history nothing is added. */
void session_recall_failures(struct session *s);
