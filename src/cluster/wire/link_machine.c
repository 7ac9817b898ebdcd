/* The table of a link's states (link_machine.h, where it is drawn). Pure: no link, no loop. */
#include "cluster/wire/link_machine.h"

/* One more than the state, so that what is not written here is 0: ignored. */
#define TO(state) ((uint8_t)((state) + 1))

/* clang-format off */
static const uint8_t link_table[LINK_STATES][LINK_EVENTS] = {
    [LINK_NEW] = {
        [LINK_LOOKUP]    = TO(LINK_RESOLVING),
        [LINK_ADDRESS]   = TO(LINK_CONNECTING),
        [LINK_CONNECTED] = TO(LINK_HANDSHAKING),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_RESOLVING] = {
        [LINK_ADDRESS]   = TO(LINK_CONNECTING),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_CONNECTING] = {
        [LINK_ADDRESS]   = TO(LINK_CONNECTING),
        [LINK_CONNECTED] = TO(LINK_HANDSHAKING),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_HANDSHAKING] = {
        [LINK_SHAKEN]    = TO(LINK_OPEN),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_OPEN] = {
        [LINK_CLOSE]     = TO(LINK_DRAINING),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_DRAINING] = {
        [LINK_FLUSHED]   = TO(LINK_HALF_CLOSED),
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_HALF_CLOSED] = {
        [LINK_END]       = TO(LINK_CLOSING),
    },
    [LINK_CLOSING] = {
        [LINK_RELEASED]  = TO(LINK_CLOSED),
    },
};
/* clang-format on */

enum link_state link_next(enum link_state state, enum link_event event)
{
    uint8_t next = link_table[state][event];
    return next ? (enum link_state)(next - 1) : LINK_STATES;
}

/* For traces and tests. */
const char *link_state_name(enum link_state state)
{
    static const char *const names[LINK_STATES] = {
        [LINK_NEW] = "new",
        [LINK_RESOLVING] = "resolving",
        [LINK_CONNECTING] = "connecting",
        [LINK_HANDSHAKING] = "handshaking",
        [LINK_OPEN] = "open",
        [LINK_DRAINING] = "draining",
        [LINK_HALF_CLOSED] = "half closed",
        [LINK_CLOSING] = "closing",
        [LINK_CLOSED] = "closed",
    };
    return names[state];
}

const char *link_event_name(enum link_event event)
{
    static const char *const names[LINK_EVENTS] = {
        [LINK_LOOKUP] = "lookup", [LINK_ADDRESS] = "address",   [LINK_CONNECTED] = "connected",
        [LINK_SHAKEN] = "shaken", [LINK_CLOSE] = "close",       [LINK_FLUSHED] = "flushed",
        [LINK_END] = "end",       [LINK_RELEASED] = "released",
    };
    return names[event];
}
