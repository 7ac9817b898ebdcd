/* The table of a job's states (job_machine.h, where they are drawn). Pure: no job. */
#include "cluster/agent/job_machine.h"

/* One more than the state, so that what is not written here is 0: means nothing. */
#define TO(state) ((uint8_t)((state) + 1))

/* clang-format off */
static const uint8_t job_table[JOB_STATES][JOB_EVENTS] = {
    [JOB_UNOPENED] = {
        [JOB_EVENT_OPEN]   = TO(JOB_OPEN),
        [JOB_EVENT_STOP]   = TO(JOB_STOPPING),
        [JOB_EVENT_CANCEL] = TO(JOB_CANCELLED),
        [JOB_EVENT_END]    = TO(JOB_ENDED),
        [JOB_EVENT_CLOSE]  = TO(JOB_CLOSING),
    },
    [JOB_OPEN] = {
        [JOB_EVENT_STOP]   = TO(JOB_STOPPING),
        [JOB_EVENT_CANCEL] = TO(JOB_CANCELLED),
        [JOB_EVENT_END]    = TO(JOB_ENDED),
        [JOB_EVENT_CLOSE]  = TO(JOB_CLOSING),
    },
    [JOB_STOPPING] = {
        [JOB_EVENT_CANCEL] = TO(JOB_CANCELLED),
        [JOB_EVENT_END]    = TO(JOB_ENDED),
        [JOB_EVENT_CLOSE]  = TO(JOB_CLOSING),
    },
    [JOB_CANCELLED] = {
        [JOB_EVENT_END]    = TO(JOB_ENDED),
        [JOB_EVENT_CLOSE]  = TO(JOB_CLOSING),
    },
    [JOB_ENDED] = {
        [JOB_EVENT_CLOSE]  = TO(JOB_CLOSING),
    },
};
/* clang-format on */

enum job_state job_next(enum job_state state, enum job_event event)
{
    uint8_t next = job_table[state][event];
    return next ? (enum job_state)(next - 1) : JOB_STATES;
}

const char *job_state_name(enum job_state state)
{
    static const char *const names[JOB_STATES] = {
        [JOB_UNOPENED] = "unopened",   [JOB_OPEN] = "open",   [JOB_STOPPING] = "stopping",
        [JOB_CANCELLED] = "cancelled", [JOB_ENDED] = "ended", [JOB_CLOSING] = "closing",
    };
    return names[state];
}
