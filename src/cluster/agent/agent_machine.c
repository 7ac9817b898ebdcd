/* The tables of an agent's states (agent_machine.h, where they are drawn). Pure: no agent. */
#include "cluster/agent/agent_machine.h"

/* One more than the state, so that what is not written here is 0: means nothing. */
#define TO(state) ((uint8_t)((state) + 1))

/* clang-format off */
static const uint8_t membership_table[AGENT_MEMBERSHIPS][AGENT_MEMBERSHIP_EVENTS] = {
    [AGENT_JOINING] = {
        [AGENT_JOINED]   = TO(AGENT_NEW),
    },
    [AGENT_NEW] = {
        [AGENT_WELCOMED] = TO(AGENT_MEMBER),
        [AGENT_EXPIRED]  = TO(AGENT_JOINING),
    },
    [AGENT_MEMBER] = {
        [AGENT_EXPIRED]  = TO(AGENT_REJOINING),
    },
    [AGENT_REJOINING] = {
        [AGENT_JOINED]   = TO(AGENT_MEMBER),
    },
};

static const uint8_t departure_table[AGENT_DEPARTURES][AGENT_DEPARTURE_EVENTS] = {
    [AGENT_STAYING] = {
        [AGENT_LEAVE]      = TO(AGENT_DRAINING),
        [AGENT_REFUSED]    = TO(AGENT_SIGNING_OFF),
    },
    [AGENT_DRAINING] = {
        [AGENT_LEAVE_NOW]  = TO(AGENT_KILLING),
        [AGENT_DRAINED]    = TO(AGENT_HANDING_OVER),
        [AGENT_REFUSED]    = TO(AGENT_SIGNING_OFF),
    },
    [AGENT_KILLING] = {
        [AGENT_DRAINED]    = TO(AGENT_HANDING_OVER),
        [AGENT_REFUSED]    = TO(AGENT_SIGNING_OFF),
    },
    [AGENT_HANDING_OVER] = {
        [AGENT_SIGN_OFF]   = TO(AGENT_SIGNING_OFF),
        [AGENT_REFUSED]    = TO(AGENT_SIGNING_OFF),
    },
    [AGENT_SIGNING_OFF] = {
        [AGENT_SIGNED_OFF] = TO(AGENT_GONE),
    },
};
/* clang-format on */

enum agent_membership agent_membership_next(enum agent_membership state,
                                            enum agent_membership_event event)
{
    uint8_t next = membership_table[state][event];
    return next ? (enum agent_membership)(next - 1) : AGENT_MEMBERSHIPS;
}

enum agent_departure agent_departure_next(enum agent_departure state,
                                          enum agent_departure_event event)
{
    uint8_t next = departure_table[state][event];
    return next ? (enum agent_departure)(next - 1) : AGENT_DEPARTURES;
}

const char *agent_membership_name(enum agent_membership state)
{
    static const char *const names[AGENT_MEMBERSHIPS] = {
        [AGENT_JOINING] = "joining",
        [AGENT_NEW] = "new",
        [AGENT_MEMBER] = "member",
        [AGENT_REJOINING] = "rejoining",
    };
    return names[state];
}

const char *agent_departure_name(enum agent_departure state)
{
    static const char *const names[AGENT_DEPARTURES] = {
        [AGENT_STAYING] = "staying",         [AGENT_DRAINING] = "draining",
        [AGENT_KILLING] = "killing",         [AGENT_HANDING_OVER] = "handing over",
        [AGENT_SIGNING_OFF] = "signing off", [AGENT_GONE] = "gone",
    };
    return names[state];
}
