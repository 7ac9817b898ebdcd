/* Targets that a run did not make, since they are skipped. */
#pragma once
#include "session/session.h"

/* A remark for each target (a task, or a file's maker) that was not taken, and why. After the run, and
 * where nothing had to run. */
void session_remark_skipped(struct session *s);
