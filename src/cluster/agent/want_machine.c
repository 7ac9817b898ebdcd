/* The table of a want's states (want_machine.h, where they are drawn). Pure: no want. */
#include "cluster/agent/want_machine.h"

/* One more than the state, so that what is not written here is 0: means nothing. */
#define TO(state) ((uint8_t)((state) + 1))

/* clang-format off */
static const uint8_t want_table[WANT_STATES][WANT_EVENTS] = {
    [WANT_FREE] = {
        [WANT_LOCATE]        = TO(WANT_LOCATING),
    },
    [WANT_LOCATING] = {
        [WANT_FETCH]         = TO(WANT_FETCHING),
        [WANT_CHECK]         = TO(WANT_CHECKING),
        [WANT_ASK_SUBMITTER] = TO(WANT_FROM_SUBMITTER),
        [WANT_ASK_OWNER]     = TO(WANT_FROM_OWNER),
        [WANT_RECOMPUTE]     = TO(WANT_RECOMPUTING),
        [WANT_REST]          = TO(WANT_RESTING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_FETCHING] = {
        [WANT_FETCH]         = TO(WANT_FETCHING),
        [WANT_CHECK]         = TO(WANT_CHECKING),
        [WANT_ASK_SUBMITTER] = TO(WANT_FROM_SUBMITTER),
        [WANT_ASK_OWNER]     = TO(WANT_FROM_OWNER),
        [WANT_RECOMPUTE]     = TO(WANT_RECOMPUTING),
        [WANT_REST]          = TO(WANT_RESTING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_CHECKING] = {
        [WANT_LOCATE]        = TO(WANT_LOCATING),
        [WANT_REST]          = TO(WANT_RESTING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_FROM_SUBMITTER] = {
        [WANT_REST]          = TO(WANT_RESTING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_FROM_OWNER] = {
        [WANT_RECOMPUTE]     = TO(WANT_RECOMPUTING),
        [WANT_REST]          = TO(WANT_RESTING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_RECOMPUTING] = {
        [WANT_OVER]          = TO(WANT_FREE),
    },
    [WANT_RESTING] = {
        [WANT_LOCATE]        = TO(WANT_LOCATING),
        [WANT_OVER]          = TO(WANT_FREE),
    },
};
/* clang-format on */

enum want_state want_next(enum want_state state, enum want_event event)
{
    uint8_t next = want_table[state][event];
    return next ? (enum want_state)(next - 1) : WANT_STATES;
}

const char *want_state_name(enum want_state state)
{
    static const char *const names[WANT_STATES] = {
        [WANT_FREE] = "free",
        [WANT_LOCATING] = "locating",
        [WANT_FETCHING] = "fetching",
        [WANT_CHECKING] = "checking",
        [WANT_FROM_SUBMITTER] = "from submitter",
        [WANT_FROM_OWNER] = "from owner",
        [WANT_RECOMPUTING] = "recomputing",
        [WANT_RESTING] = "resting",
    };
    return names[state];
}
