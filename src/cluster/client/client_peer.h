/* An agent that a client speaks to. Private to the client. */
#pragma once
#include "cluster/client/client.h"
#include "cluster/wire/message.h"

/* An agent that we speak to. */
struct client_peer {
    uint32_t node, life;
    uint32_t followed; /* the life in which it was last seen at work; 0: none */
    char *address;
    struct link *link; /* NULL: none now */
    double again;      /* clock_seconds() when it may be tried again */
    bool open, lives;
    bool at_work;             /* it has begun a task of the run that is followed */
    bool told;                /* to leave */
    char why[160];            /* the last link's end; "": none failed */
    uint64_t refuses;         /* this run; 0: none */
    char refusal[400];        /* why */
    bool refusal_told, aside; /* its user knows */
    bool leaving;             /* it takes nothing any more, and whoever plans knows */
};

/* Links to every agent that lives, from now on. */
void client_connect(struct client *c);
/* Each of them is open or has failed. */
bool client_all_decided(const struct client *c);
/* Likewise since then; if nobody who lives can be reached, they were tried again for a while. */
bool client_is_connected(const struct client *c, double since);
/* Wait until each of them is open or has failed, at most so many seconds. How many are open. */
uint32_t client_connected(struct client *c, double seconds);
struct client_peer *client_peer(const struct client *c, uint32_t node); /* NULL: none */
/* A message without a body to all that are open. */
void client_send_all(struct client *c, uint8_t kind, uint64_t run);
static inline struct client_peer *client_peer_of(const struct message_in *m)
{
    return link_data(m->from);
}
/* The reports that were kept for this run, as if they came now, to the listener. */
void client_replay_early(struct client *c, uint64_t run);
void client_forget_early(struct client *c);
/* As the last look at the board says: new ones, dead ones, others' lives. */
void client_refresh_peers(struct client *c);
struct links *client_links(struct client *c, struct error *err);
