/* The two machines of an agent, and what leads from one state to the next. Only
 * agent_change_membership() and agent_change_departure() set a state; they look here.
 *
 * Membership: is this agent known to the others, by its node's number and its life?
 *
 *     JOINING ── joined ──▶ NEW ── welcomed ──▶ MEMBER ── expired ──▶ REJOINING
 *        ▲                   │                     ▲                      │
 *        └───── expired ─────┘                     └────── joined ────────┘
 *
 * NEW: it has a number, but has not seen the others yet, whose key may be another. Expired: the
 * others took it for dead, since no heartbeat came for longer than its lease.
 *
 * Departure: how it ends, independent of membership, which may be lost and found on the way.
 *
 *     STAYING ── leave ──▶ DRAINING ── drained ──▶ HANDING_OVER ── sign off ──▶ SIGNING_OFF
 *        │                    │                         ▲                         ▲    │
 *        │                leave now ──▶ KILLING ── drained                        │  signed off
 *        └──────────────────── refused (the others have another key) ─────────────┘    ▼
 *                                                                                     GONE
 *
 * DRAINING: nothing new starts, running tasks may end. KILLING: they are ended. HANDING_OVER:
 * others fetch what only we have; who serves the store waits until the others have left.
 * SIGNING_OFF: the board is notified. GONE: the loop ends. */
#pragma once
#include <stdint.h>

enum agent_membership {
    AGENT_JOINING,
    AGENT_NEW,
    AGENT_MEMBER,
    AGENT_REJOINING,
    AGENT_MEMBERSHIPS,
};

enum agent_membership_event {
    AGENT_JOINED,
    AGENT_WELCOMED,
    AGENT_EXPIRED,
    AGENT_MEMBERSHIP_EVENTS,
};

enum agent_departure {
    AGENT_STAYING,
    AGENT_DRAINING,
    AGENT_KILLING,
    AGENT_HANDING_OVER,
    AGENT_SIGNING_OFF,
    AGENT_GONE,
    AGENT_DEPARTURES,
};

enum agent_departure_event {
    AGENT_LEAVE,
    AGENT_LEAVE_NOW,
    AGENT_DRAINED, /* no task runs any more */
    AGENT_SIGN_OFF,
    AGENT_SIGNED_OFF, /* the board has it, or does not answer */
    AGENT_REFUSED,
    AGENT_DEPARTURE_EVENTS,
};

/* The state that follows; the number of states: the event means nothing in this one. */
enum agent_membership agent_membership_next(enum agent_membership state,
                                            enum agent_membership_event event);
enum agent_departure agent_departure_next(enum agent_departure state,
                                          enum agent_departure_event event);
const char *agent_membership_name(enum agent_membership state);
const char *agent_departure_name(enum agent_departure state);
