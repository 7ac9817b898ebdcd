/* A plan that is made anew while its run goes on, since agents are gone: whoever made it is asked, and agents are
 * told where tasks are placed now.
 *
 * P1. An agent that comes is told all that was placed anew: it has read the plan with which the run began. Of two
 *     words on one task the later counts, and comes later.
 * P2. Links keep the order of messages, so that no agent hears an older plan after a newer one. */
#include "cluster/client/follow.h"

#include "cluster/wire/message.h"

enum { PLACES_MOST = 100000 }; /* in one message, of 8 bytes each */

static void follow_send_places(const struct client_follow *f, struct link *l,
                               const struct guide_place *at, size_t n)
{
    for (size_t from = 0; from < n; from += PLACES_MOST) {
        size_t count = n - from < PLACES_MOST ? n - from : PLACES_MOST;
        struct strbuf *head = &f->c->scratch;
        strbuf_clear(head);
        bytes_put_u64(head, f->o.run);
        bytes_put_u32(head, (uint32_t)count);
        for (size_t i = from; i < from + count; i++) {
            bytes_put_u32(head, at[i].task);
            bytes_put_u32(head, at[i].node);
        }
        link_send(l, MESSAGE_PLACED, head->at, head->n, NULL, 0);
    }
}

/* P1. */
void follow_tell_places(const struct client_follow *f, struct link *l)
{
    if (f->placed.n)
        follow_send_places(f, l, f->placed.at, f->placed.n);
}

/* P2. */
void client_follow_place(struct client_follow *f, const struct guide_place *at, size_t n)
{
    for (size_t i = 0; i < f->c->peers.n && n; i++)
        if (f->c->peers.at[i]->open)
            follow_send_places(f, f->c->peers.at[i]->link, at, n);
    for (size_t i = 0; i < n; i++)
        array_push(&f->placed, at[i]);
}

bool client_follow_began(const struct client_follow *f, uint32_t task, uint32_t *node, bool *ended)
{
    enum follow_seen seen = (enum follow_seen)f->seen[task];
    *node = f->node[task];
    *ended = seen >= FOLLOW_SEEN_FAILED;
    return seen != FOLLOW_SEEN_NOTHING;
}

double client_follow_now(const struct client_follow *f)
{
    return client_now(f->c) - f->created;
}

void follow_ask_plan(struct client_follow *f)
{
    struct error err = {0};
    if (!f->o.gone || f->phase != PHASE_FOLLOWING || f->state != BOARD_RUN_OPEN || !f->known ||
        f->broken.kind != ERROR_NONE || f->o.gone(f->o.gone_context, &err))
        return;
    f->broken = err;
    follow_set_state(f, BOARD_RUN_STOPPING);
}
