/* Another agent, by its number on the board: what the board says of it, and the link to it. */
#pragma once
#include "cluster/wire/link.h"
#include "model/capacity.h"
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct board_member;

struct peer {
    /* facts, as the board showed them last */
    uint32_t life;
    uint64_t attempt; /* by which it began that life */
    bool known;       /* the board has shown it at all */
    bool up;          /* it lives and has our key */
    bool leaving;
    bool aside;    /* others come before it (aside.h) */
    bool stranger; /* it has another key: we cannot speak to it, nor it to us */
    uint32_t cores;
    double memory;
    double ends;     /* clock_seconds() when it goes; 0: it stays */
    char *host;      /* its name for people; NULL: none */
    double beaten;   /* clock_seconds() of its last heartbeat, or a little later */
    char *has;       /* its attributes, "avx512,ssd"; NULL: none */
    char *resources; /* its things, "gpu=[0,1]"; NULL: none */
    char *address;
    struct link *link; /* NULL: none; the links', cleared before they free it */
    double gone;       /* clock_seconds() when it was found gone or leaving; 0: it is here */
    double refused;    /* clock_seconds() when the last connection failed; 0: it did not */
};

/* Room for it in the agent's list. Valid until the next call. */
struct peer *peer_at(struct agent *a, uint32_t node);
bool peer_is_up(const struct agent *a, uint32_t node);
/* What one task of this workflow may ask for there, and until when (clock_seconds()); nothing of one that
 * leaves. This agent is a peer, too. `patience`: seconds that tasks which a plan placed on an agent that is gone
 * wait for another plan; then they are anybody's. */
struct capacity peer_capacity(const struct agent *a, uint32_t node, const struct workflow *w,
                              double patience);
/* The link to it, connected if there is none; NULL: it is not up, is this agent itself, or has just
 * refused a connection. */
struct link *peer_link(struct agent *a, uint32_t node);
/* The board's news of it. `steady`: ages on the board mean something (others had time to beat). */
void peer_update(struct agent *a, const struct board_member *m, bool steady);
/* The board has lost it. */
void peer_vanished(struct agent *a, uint32_t node);
void peer_link_opened(struct agent *a, const struct link *l);
void peer_link_closed(struct agent *a, const struct link *l);
void peers_free(struct agent *a);
