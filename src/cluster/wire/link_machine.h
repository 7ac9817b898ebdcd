/* The states of a link and what leads from one to the next. link.c calls link_change(), which looks
 * here; nothing else sets a link's state.
 *
 *     NEW ─ lookup ─▶ RESOLVING ─ address ─▶ CONNECTING ─ connected ─▶ HANDSHAKING
 *      │                                      ▲     ▲ │                ▲     │
 *      ├─── address ──────────────────────────┘     └─┘ next address   │   shaken
 *      └─── connected (accepted) ──────────────────────────────────────┘     ▼
 *                            HALF_CLOSED ◀─ flushed ─ DRAINING ◀─ close ─ OPEN
 *
 *     (any of them) ─ end ─▶ CLOSING ─ released ─▶ CLOSED
 *
 * DRAINING: we close in order; what is queued and a sealed goodbye are being written.
 * HALF_CLOSED: the end of our stream is written; what still comes is thrown away until theirs
 * ends. CLOSING: the handle is being closed by the loop. CLOSED: the owner was notified; the
 * memory goes as soon as the resolver has let go of it. */
#pragma once
#include <stdint.h>

enum link_state {
    LINK_NEW,
    LINK_RESOLVING,
    LINK_CONNECTING,
    LINK_HANDSHAKING,
    LINK_OPEN,
    LINK_DRAINING,
    LINK_HALF_CLOSED,
    LINK_CLOSING,
    LINK_CLOSED,
    LINK_STATES,
};

enum link_event {
    LINK_LOOKUP,    /* a name is given to the resolver */
    LINK_ADDRESS,   /* an address is tried, the first or the next */
    LINK_CONNECTED, /* or accepted */
    LINK_SHAKEN,    /* both ends have proved the key */
    LINK_CLOSE,     /* we want to end it, in order */
    LINK_FLUSHED,   /* all that was queued has gone to the system */
    LINK_END,       /* anything that goes wrong, their goodbye, the end of their stream */
    LINK_RELEASED,  /* the loop has let go of the handle */
    LINK_EVENTS,
};

/* The state that follows; LINK_STATES: the event means nothing in this state, and is ignored. */
enum link_state link_next(enum link_state state, enum link_event event);
const char *link_state_name(enum link_state state);
const char *link_event_name(enum link_event event);
