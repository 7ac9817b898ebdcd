/* A client's links to agents, and what comes over them. One peer an agent, kept from look to look;
 * its link is opened again a second after it closed, as long as the agent lives.
 *
 * Invariants:
 *   I1. A link's data is its peer, for as long as the link lives; peers are freed with the client,
 *       after the links.
 *   I2. peer->link is NULL or a link whose `closed` has not been called yet.
 *   I3. An agent that was started again has another life: its old link is closed, and the peer's
 *       address is the new one. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TRYING = 3; /* seconds, while all that live cannot be reached: links are cut */
static const double RECONNECT = 1; /* seconds from the end of a link to the next attempt */

/* Linear: called for each copy of an input at most, not for each message. */
struct client_peer *client_peer(const struct client *c, uint32_t node)
{
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->node == node)
            return c->peers.at[i];
    return NULL;
}

/* The handshake is over: what the last link's end was does not matter any more. */
static void peer_opened(void *context, struct link *l)
{
    struct client *c = context;
    struct client_peer *p = link_data(l);
    if (!p)
        return;
    p->open = true;
    p->why[0] = 0;
    if (c->listener.opened)
        c->listener.opened(c->listener.context, p);
}

/* `why` is kept for people: it says why no agent can be reached. A peer that has another link by
 * now (I3) keeps that. */
static void peer_closed(void *context, struct link *l, const char *why)
{
    struct client *c = context;
    struct client_peer *p = link_data(l);
    if (c->depot)
        depot_closed(c->depot, l);
    if (!p || p->link != l)
        return;
    p->link = NULL;
    p->open = false;
    p->again = clock_seconds() + RECONNECT;
    snprintf(p->why, sizeof p->why, "%s", why ? why : "");
    if (c->listener.closed)
        c->listener.closed(c->listener.context, p);
}

/* The depot may have more to send over this link. */
static void peer_drained(void *context, struct link *l)
{
    struct client *c = context;
    if (c->depot)
        depot_drained(c->depot, l);
}

static bool peer_take_data(void *context, struct message_in *m)
{
    struct client *c = context;
    return !c->depot || depot_message(c->depot, m->from, m->kind, m->data, m->n);
}

/* For what is under way; reports of a run that is about to be followed are kept until it is. */
static bool peer_take_other(void *context, struct message_in *m)
{
    struct client *c = context;
    message_handler *handler = c->listener.handlers ? c->listener.handlers[m->kind] : NULL;
    if (handler)
        return handler(c->listener.context, m);
    if (c->watched && message_family(m->kind) == MESSAGE_FAMILY_REPORT)
        array_push(&c->early, (struct client_early){client_peer_of(m)->node, m->kind,
                                                    mem_copy_bytes(m->data, m->n), m->n});
    return true;
}

static const struct message_receiver peer_receiver = {
    .end = MESSAGE_CLIENT,
    .handler =
        {
            [MESSAGE_FETCH] = peer_take_data,
            [MESSAGE_HEAD] = peer_take_data,
            [MESSAGE_DATA] = peer_take_data,
            [MESSAGE_ABSENT] = peer_take_data,
            [MESSAGE_LATER] = peer_take_data,
            [MESSAGE_UNFETCH] = peer_take_data,
            [MESSAGE_UNFETCHED] = peer_take_data,
        },
    .otherwise = peer_take_other,
};

static void peer_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    if (link_data(l) && !message_dispatch(&peer_receiver, context, l, kind, data, n))
        link_close(l, "a message that is not understood");
}

/* At once for a new address, else not before RECONNECT has passed. */
static void peer_connect(struct client *c, struct client_peer *p)
{
    if (p->link || !p->lives || !p->address[0] || clock_seconds() < p->again)
        return;
    char name[LINK_NAME];
    struct link *l = link_connect(c->links, p->address, link_agent_name(p->node, p->life, name));
    p->open = false;
    p->link = l;
    if (l)
        link_set_data(l, p);
}

/* Every agent that lives has a peer; one that died keeps it, without a link, in case it comes back.
 */
void client_refresh_peers(struct client *c)
{
    for (size_t i = 0; i < c->peers.n; i++)
        c->peers.at[i]->lives = false;
    for (size_t i = 0; i < c->members.n; i++) {
        const struct member *m = &c->members.at[i];
        if (!client_is_alive(c, m))
            continue;
        struct client_peer *p = client_peer(c, m->node);
        if (!p) {
            p = mem_new_zero(struct client_peer, 1);
            p->node = m->node;
            p->address = mem_copy_string("");
            array_push(&c->peers, p);
        }
        if (p->life != m->life || strcmp(p->address, m->address) != 0) {
            if (p->link)
                link_close(p->link, "");
            free(p->address);
            p->address = mem_copy_string(m->address);
            p->life = m->life;
            p->again = 0;
        }
        p->lives = true;
    }
    for (size_t i = 0; i < c->peers.n; i++) {
        struct client_peer *p = c->peers.at[i];
        if (!p->lives && p->link)
            link_close(p->link, "");
        else if (c->connects)
            peer_connect(c, p);
    }
}

void client_connect(struct client *c)
{
    c->connects = true;
    client_refresh_peers(c);
}

/* A link that failed has a reason; one that is still being made has none yet. */
bool client_all_decided(const struct client *c)
{
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->lives && !c->peers.at[i]->open && !c->peers.at[i]->why[0])
            return false;
    return true;
}

bool client_is_connected(const struct client *c, double since)
{
    bool open = false, living = false;
    for (size_t i = 0; i < c->peers.n; i++) {
        open |= c->peers.at[i]->open;
        living |= c->peers.at[i]->lives;
    }
    return client_all_decided(c) && (open || !living || clock_seconds() - since > TRYING);
}

static bool peers_decided(void *context)
{
    return client_all_decided(context);
}

uint32_t client_connected(struct client *c, double seconds)
{
    client_connect(c);
    client_drive(c, peers_decided, c, seconds);
    uint32_t n = 0;
    for (size_t i = 0; i < c->peers.n; i++)
        n += c->peers.at[i]->open;
    return n;
}

/* Over links that are still being made too: messages wait there until the handshake is over. */
void client_send_all(struct client *c, uint8_t kind, uint64_t run)
{
    struct strbuf *head = &c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, run);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->link)
            link_send(c->peers.at[i]->link, kind, head->at, head->n, NULL, 0);
}

void client_replay_early(struct client *c, uint64_t run)
{
    for (size_t i = 0; i < c->early.n && c->watched == run; i++) {
        const struct client_early *e = &c->early.at[i];
        struct client_peer *p = client_peer(c, e->node);
        if (p) /* its link may have closed since: handlers of reports do not need it */
            message_dispatch(&peer_receiver, c, p->link, e->kind, e->data, e->n);
    }
}

void client_forget_early(struct client *c)
{
    for (size_t i = 0; i < c->early.n; i++)
        free(c->early.at[i].data);
    array_free(&c->early);
    c->watched = 0;
}

struct links *client_links(struct client *c, struct error *err)
{
    struct links_config config = {.loop = c->stepper.loop,
                                  .key = c->o.key,
                                  .self = LINK_CLIENT_NAME,
                                  .open = peer_opened,
                                  .message = peer_message,
                                  .closed = peer_closed,
                                  .drained = peer_drained,
                                  .context = c};
    memcpy(config.cluster, c->charter.id, sizeof config.cluster);
    return links_new(&config, err);
}
