/* The states of a job, which is one run in one agent. Only job_change() sets one; it looks here.
 *
 *     UNOPENED ─ open ─▶ OPEN ─ stop ─▶ STOPPING ─ cancel ─▶ CANCELLED ─ end ─▶ ENDED
 *
 * Every state is also reached at once from any state before it: the board's news may be late, and
 * an agent may come when all is over. Nothing leads back. CLOSING is reached from all.
 *
 * UNOPENED: read, so that data may be staged in, but the board has not shown it yet. OPEN to ENDED:
 * it has a scheduler. STOPPING: what does not run is taken out. CANCELLED: what runs, too. ENDED:
 * its data is still served. CLOSING: its handles are being closed by the loop. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum job_state {
    JOB_UNOPENED,
    JOB_OPEN,
    JOB_STOPPING,
    JOB_CANCELLED,
    JOB_ENDED,
    JOB_CLOSING,
    JOB_STATES,
};

enum job_event {
    JOB_EVENT_OPEN,
    JOB_EVENT_STOP,
    JOB_EVENT_CANCEL,
    JOB_EVENT_END,
    JOB_EVENT_CLOSE,
    JOB_EVENTS,
};

/* The state that follows; JOB_STATES: the event means nothing in this one. */
enum job_state job_next(enum job_state state, enum job_event event);
const char *job_state_name(enum job_state state);
