/* Staging in (stage_in.h). Agents fetch: each is sent the list of objects that it should keep
 * (MESSAGE_KEEP), takes them from the client's depot, and answers for each (MESSAGE_KEPT).
 *
 * A copy's life, one of `copies` for each object:
 *
 *     NEW ── list sent ──▶ ASKED ── kept ──▶ KEPT
 *      ▲                     │
 *      └── another agent ────┤ refused, or its link closed
 *                            └── nobody left to ask ──▶ LOST
 *
 * Invariants:
 *   I1. The copies of an object stand one after the other, from first_copy[object].
 *   I2. Two copies of an object that are not LOST are on different agents.
 *   I3. `open` counts the copies that are NEW or ASKED.
 *   I4. An object whose copies are all LOST sets `error`, and the submission fails: a run is never
 *       opened that could not be computed. */
#include "cluster/client/stage_in.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    STAGE_IN_COPIES = 2,   /* so that one agent may be lost */
    STAGE_IN_TRIES = 8,    /* agents that are asked to keep one copy */
    STAGE_IN_READERS = 64, /* whose homes are looked at: a first input may have thousands */
    STAGE_IN_LIST = 25000, /* objects in one message: 900 kB, below LINK_MESSAGE_MAX (1 MB) */
};
static const double STAGE_IN_STANDSTILL = 120; /* seconds without a byte or an answer: given up */

enum copy_state { COPY_NEW, COPY_ASKED, COPY_KEPT, COPY_LOST };

struct stage_copy {
    uint32_t object, node;
    uint8_t state; /* enum copy_state */
    uint8_t tries;
};

struct stage_in {
    struct stage_in_config o;
    ARRAY(struct stage_copy) all;
    uint32_t *first_copy; /* per object; NONE: nobody needs it */
    uint32_t copies;      /* of each object */
    uint32_t open, files;
    double moved, moved_bytes; /* when something last arrived; bytes sent until then */
    struct error error;
};

bool stage_in_is_read(const struct workflow *w, const uint32_t *home, uint32_t object)
{
    uint32_t count;
    if (w->producer[object] != NONE && home[w->producer[object]] != NONE)
        return false;
    const uint32_t *reader = workflow_consumers(w, object, &count);
    for (uint32_t i = 0; i < count; i++)
        if (home[reader[i]] != NONE)
            return true;
    return false;
}

/* For I2. */
static bool stage_is_at(const struct stage_in *s, uint32_t object, uint32_t node)
{
    for (uint32_t i = 0; i < s->copies; i++) {
        const struct stage_copy *p = &s->all.at[s->first_copy[object] + i];
        if (p->node == node && p->state != COPY_LOST)
            return true;
    }
    return false;
}

/* Where readers of the object are at home comes first, then whoever can be reached, from another
 * one each time. */
static uint32_t stage_choose_agent(const struct stage_in *s, uint32_t object, uint32_t turn)
{
    uint32_t count;
    const uint32_t *reader = workflow_consumers(s->o.work->workflow, object, &count);
    for (uint32_t i = 0; i < count && i < STAGE_IN_READERS; i++) {
        uint32_t node = s->o.home[reader[i]];
        struct client_peer *p = node == NONE ? NULL : client_peer(s->o.client, node);
        if (p && p->open && !stage_is_at(s, object, node))
            return node;
    }
    for (size_t i = 0; i < s->o.nnodes; i++) {
        uint32_t node = s->o.nodes[(object + turn + i) % s->o.nnodes];
        struct client_peer *p = client_peer(s->o.client, node);
        if (p && p->open && !stage_is_at(s, object, node))
            return node;
    }
    return NONE;
}

/* Every machine has it, by what the name says: it is not copied. */
static bool stage_is_absolute(const struct workflow *w, uint32_t object)
{
    char label[512];
    return workflow_object_label(w, object, label, sizeof label)[0] == '/';
}

static bool stage_is_kept(const struct stage_in *s, uint32_t object)
{
    for (uint32_t i = 0; i < s->copies; i++)
        if (s->all.at[s->first_copy[object] + i].state == COPY_KEPT)
            return true;
    return false;
}

/* It did not get there: to another agent, or, if there is a copy already, to nobody. */
static void stage_copy_failed(struct stage_in *s, struct stage_copy *p, const char *why)
{
    char label[512];
    p->state = COPY_LOST;
    uint32_t node = ++p->tries < STAGE_IN_TRIES ? stage_choose_agent(s, p->object, p->tries) : NONE;
    if (node != NONE) {
        p->node = node;
        p->state = COPY_NEW;
        return;
    }
    s->open--;
    bool waiting = false;
    for (uint32_t i = 0; i < s->copies; i++)
        waiting |= s->all.at[s->first_copy[p->object] + i].state <= COPY_ASKED;
    if (!waiting && !stage_is_kept(s, p->object))
        error_set(&s->error, ERROR_FAILED, "'%.300s' cannot be handed to any agent: %s",
                  workflow_object_label(s->o.work->workflow, p->object, label, sizeof label), why);
}

/* Offer everything that is here, and decide who keeps what. O(objects × agents) at worst. */
static void stage_plan_copies(struct stage_in *s)
{
    const struct client_work *k = s->o.work;
    const struct workflow *w = k->workflow;
    uint32_t most = k->copies ? k->copies : STAGE_IN_COPIES;
    s->copies = most < s->o.nnodes ? most : s->o.nnodes;
    s->first_copy = mem_new(uint32_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        s->first_copy[o] = NONE;
        if (!k->needs->present[o] || stage_is_absolute(w, o))
            continue;
        depot_added(s->o.client->depot, o, &k->needs->content[o], k->needs->bytes[o]);
        const struct needs *needs = s->o.work->needs;
        if (!stage_in_is_read(w, s->o.home, o) || (needs->absent && needs->absent[o]))
            continue;
        s->first_copy[o] = (uint32_t)s->all.n;
        for (uint32_t i = 0; i < s->copies; i++)
            array_push(&s->all, (struct stage_copy){.object = o, .node = NONE, .state = COPY_LOST});
        s->files++;
    }
    s->open = (uint32_t)s->all.n;
    for (size_t i = 0; i < s->all.n; i++) {
        struct stage_copy *p = &s->all.at[i];
        p->node = stage_choose_agent(s, p->object, (uint32_t)(i % s->copies));
        if (p->node != NONE)
            p->state = COPY_NEW;
        else /* links have closed since the agents were chosen */
            stage_copy_failed(s, p, "no agent can be reached");
    }
}

/* One message an agent, with all that it should keep. */
static void stage_send_lists(struct stage_in *s)
{
    struct strbuf list = {0}, head = {0};
    for (size_t n = 0; n < s->o.nnodes; n++) {
        struct client_peer *to = client_peer(s->o.client, s->o.nodes[n]);
        uint32_t count = 0;
        strbuf_clear(&list);
        for (size_t i = 0; i < s->all.n; i++) {
            struct stage_copy *p = &s->all.at[i];
            if (p->state != COPY_NEW || p->node != s->o.nodes[n] || count == STAGE_IN_LIST)
                continue;
            p->state = COPY_ASKED;
            const struct digest *content = &s->o.work->needs->content[p->object];
            bytes_put_u32(&list, p->object);
            bytes_put(&list, content->at, sizeof content->at);
            count++;
        }
        if (!count)
            continue;
        strbuf_clear(&head);
        bytes_put_u64(&head, s->o.run);
        bytes_put_u32(&head, count);
        if (to && to->link)
            link_send(to->link, MESSAGE_KEEP, head.at, head.n, list.at, list.n);
    }
    strbuf_free(&list);
    strbuf_free(&head);
}

/* The depot offers everything that is here, also what nobody is asked to keep: an agent may want it
 * later. */
struct stage_in *stage_in_new(const struct stage_in_config *config)
{
    struct stage_in *s = mem_new_zero(struct stage_in, 1);
    s->o = *config;
    s->moved = clock_seconds();
    stage_plan_copies(s);
    return s;
}

void stage_in_free(struct stage_in *s)
{
    if (!s)
        return;
    array_free(&s->all);
    free(s->first_copy);
    free(s);
}

/* "Moved" is any byte that the depot sent: one large file may take longer than STAGE_IN_STANDSTILL.
 */
bool stage_in_advance(struct stage_in *s)
{
    bool fresh = false;
    for (size_t i = 0; i < s->all.n && !fresh; i++)
        fresh = s->all.at[i].state == COPY_NEW;
    if (fresh)
        stage_send_lists(s);
    double bytes = depot_counts(s->o.client->depot).served_bytes;
    if (bytes != s->moved_bytes) {
        s->moved_bytes = bytes;
        s->moved = clock_seconds();
    }
    return !s->open || s->error.kind != ERROR_NONE ||
           clock_seconds() - s->moved > STAGE_IN_STANDSTILL;
}

bool stage_in_check(const struct stage_in *s, struct error *err)
{
    if (s->error.kind != ERROR_NONE)
        return error_set(err, s->error.kind, "%s", s->error.text);
    return !s->open || error_set(err, ERROR_FAILED,
                                 "the inputs do not reach the agents: nothing moved for %.0f "
                                 "seconds",
                                 STAGE_IN_STANDSTILL);
}

/* Only the agent that was asked counts, and only while it is asked: an answer may come after its
 * link closed and another was asked. */
bool stage_in_kept(struct stage_in *s, const struct client_peer *from, struct bytes *in)
{
    uint32_t object = bytes_u32(in);
    bool good = bytes_u8(in);
    size_t n;
    const char *why = bytes_text(in, &n);
    if (!bytes_end(in))
        return false;
    if (object >= s->o.work->workflow->nobjects || s->first_copy[object] == NONE)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(n < 255 ? n : 255), why ? why : "");
    for (uint32_t i = 0; i < s->copies; i++) {
        struct stage_copy *p = &s->all.at[s->first_copy[object] + i];
        if (p->node != from->node || p->state != COPY_ASKED)
            continue;
        s->moved = clock_seconds();
        if (good) {
            p->state = COPY_KEPT;
            s->open--;
        } else {
            stage_copy_failed(s, p, text);
        }
    }
    return true;
}

void stage_in_peer_closed(struct stage_in *s, const struct client_peer *peer)
{
    for (size_t i = 0; i < s->all.n; i++) {
        struct stage_copy *p = &s->all.at[i];
        if (p->node == peer->node && (p->state == COPY_NEW || p->state == COPY_ASKED))
            stage_copy_failed(s, p, peer->why[0] ? peer->why : "the agent is gone");
    }
}

uint32_t stage_in_files(const struct stage_in *s)
{
    return s->files;
}

uint32_t stage_in_copies(const struct stage_in *s)
{
    return (uint32_t)s->all.n;
}

uint32_t stage_in_copy(const struct stage_in *s, uint32_t i, uint32_t *node)
{
    const struct stage_copy *p = &s->all.at[i];
    *node = p->node;
    return p->state == COPY_KEPT ? p->object : NONE;
}
