/* The states of a want: an object that somebody here needs and that is not here. Only want_change()
 * sets one; it looks here.
 *
 *                 ┌───────────────────────── locate ─────────────────────────┐
 *                 ▼                                                          │
 *     FREE ─▶ LOCATING ─ fetch ─▶ FETCHING ⟲ (the next holder)               │
 *              │  ▲  │               │  │                                    │
 *              │  │  └──── rest ─────┼──┴──────────── rest ────────────▶ RESTING
 *              │ locate              │                                       ▲
 *              │  │                  │ nobody has it                         │
 *              ▼  │                  ▼                                       │
 *            CHECKING ◀─ check ── (nobody) ─ ask submitter ─▶ FROM_SUBMITTER ┤ rest
 *              │                     ├────── ask owner ─────▶ FROM_OWNER ────┤
 *              └──────── rest ───────│───────────────────────────┼───────────┘
 *                                    └────── recompute ──────────┴─▶ RECOMPUTING
 *
 *     any of them ── over ──▶ FREE        it is here, or cannot be had
 *
 * LOCATING: the store is asked who has it. FETCHING: one of them is. CHECKING: nobody has it who
 * lives, so the store is asked whether its producer is done at all; if so it is located once more,
 * since that may just have happened. FROM_SUBMITTER: no task produces it, so a client who follows
 * the run is asked. FROM_OWNER: the agent that restores it, by a rule that all share, is asked to
 * produce it. RECOMPUTING: that agent is this one. RESTING: it is tried again after a while. */
#pragma once
#include <stdint.h>

enum want_state {
    WANT_FREE,
    WANT_LOCATING,
    WANT_FETCHING,
    WANT_CHECKING,
    WANT_FROM_SUBMITTER,
    WANT_FROM_OWNER,
    WANT_RECOMPUTING,
    WANT_RESTING,
    WANT_STATES,
};

enum want_event {
    WANT_LOCATE,
    WANT_FETCH,
    WANT_CHECK,
    WANT_ASK_SUBMITTER,
    WANT_ASK_OWNER,
    WANT_RECOMPUTE,
    WANT_REST,
    WANT_OVER,
    WANT_EVENTS,
};

/* The state that follows; WANT_STATES: the event means nothing in this one. */
enum want_state want_next(enum want_state state, enum want_event event);
const char *want_state_name(enum want_state state);
