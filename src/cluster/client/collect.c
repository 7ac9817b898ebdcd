/* Final outputs come home: the store knows who has one, a living one of these sends it, and when
 * none has it any more an agent computes it again.
 *
 *     NOTHING ─ wanted ─▶ QUEUED ─ its turn ─▶ ASKED ─ the store says who ─▶ COMING ─▶ HERE
 *                           ▲                    └───────┬──────────────────────┘
 *                           └── RESTING ◀── a pause ─────┴── too often ──▶ MISSING
 *
 * From QUEUED, ASKED, COMING and RESTING back to NOTHING: forgotten. Entries of `queue` and `resting` whose
 * object is in another stage are passed over.
 *
 * Invariants:
 *   I1. under_way counts the objects that are ASKED or COMING; at most AT_ONCE.
 *   I2. An object is wanted once; HERE and MISSING are final.
 *   I3. Without an agent to ask, nothing is tried in vain: ALONE seconds are waited for one. */
#include "cluster/client/collect.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    AT_ONCE = 64, /* asked for or on their way */
    TRIES = 12,   /* with pauses: about 40 seconds */
};
static const double ALONE =
    30; /* seconds without an agent to ask, until what is left is given up */

enum collect_stage {
    STAGE_NOTHING,
    STAGE_QUEUED,
    STAGE_ASKED,
    STAGE_COMING,
    STAGE_RESTING,
    STAGE_HERE,
    STAGE_MISSING
};

struct collect_resting {
    uint32_t object;
    double until;
};

struct collect {
    struct collect_config o;
    uint8_t *stage, *tries; /* per object */
    uint32_t room;          /* entries of these */
    ARRAY(uint32_t) queue;
    size_t next; /* of the queue */
    ARRAY(struct collect_resting) resting;
    uint32_t under_way, here, missing;
    double bytes, alone; /* alone: since when; 0: not */
    char why[256];
};

/* Two bytes an object; nothing is asked for before collect_want(). */
struct collect *collect_new(const struct collect_config *config)
{
    struct collect *c = mem_new_zero(struct collect, 1);
    c->o = *config;
    c->stage = mem_new_zero(uint8_t, config->workflow->nobjects + 1);
    c->tries = mem_new_zero(uint8_t, config->workflow->nobjects + 1);
    c->room = config->workflow->nobjects + 1;
    return c;
}

void collect_grow(struct collect *c)
{
    uint32_t old = c->room, objects = c->o.workflow->nobjects;
    if (old > objects)
        return;
    c->room = objects + objects / 2 + 1;
    c->stage = mem_resize(c->stage, c->room);
    c->tries = mem_resize(c->tries, c->room);
    memset(c->stage + old, 0, c->room - old);
    memset(c->tries + old, 0, c->room - old);
}

void collect_free(struct collect *c)
{
    if (!c)
        return;
    free(c->stage);
    free(c->tries);
    array_free(&c->queue);
    array_free(&c->resting);
    free(c);
}

/* needs is told too: what is present need not be computed by the next run. */
static void collect_is_here(struct collect *c, uint32_t object)
{
    c->stage[object] = STAGE_HERE;
    c->o.needs->present[object] = 1;
    if (c->o.here)
        c->o.here(c->o.context, object);
}

void collect_want(struct collect *c, uint32_t object)
{
    char label[512];
    if (c->stage[object] != STAGE_NOTHING)
        return;
    const char *name = workflow_object_label(c->o.workflow, object, label, sizeof label);
    if (c->o.shared || name[0] == '/') {
        collect_is_here(c, object);
        return;
    }
    c->stage[object] = STAGE_QUEUED;
    array_push(&c->queue, object);
}

void collect_forget(struct collect *c, uint32_t object)
{
    if (c->stage[object] == STAGE_HERE || c->stage[object] == STAGE_MISSING)
        return;
    c->under_way -= c->stage[object] == STAGE_ASKED || c->stage[object] == STAGE_COMING;
    c->stage[object] = STAGE_NOTHING;
}

/* The queue is looked at by collect_tick(), ten times a second: finer pauses would be of no use. */
static void collect_retry_later(struct collect *c, uint32_t object, double seconds)
{
    c->stage[object] = STAGE_RESTING;
    array_push(&c->resting, (struct collect_resting){object, clock_seconds() + seconds});
}

/* The last reason is kept, for the error of the whole run. */
static void collect_give_up(struct collect *c, uint32_t object, const char *why)
{
    char label[512];
    c->stage[object] = STAGE_MISSING;
    c->missing++;
    snprintf(c->why, sizeof c->why, "'%.120s': %.120s",
             workflow_object_label(c->o.workflow, object, label, sizeof label), why);
}

/* Pauses of 0.5, 1, 1.5 ... seconds, later 4: an agent that restarts needs a few. */
static void collect_failed(struct collect *c, uint32_t object, const char *why)
{
    if (++c->tries[object] >= TRIES)
        collect_give_up(c, object, why);
    else
        collect_retry_later(c, object, c->tries[object] < 8 ? 0.5 * c->tries[object] : 4);
}

/* Whoever is asked makes it; asking the same one again finds it at work. So it is chosen by the task: one
 * whose outputs were all lost would be computed by each that is asked for one of them. */
static struct client_peer *collect_choose_maker(const struct collect *c, uint32_t object)
{
    const struct client *client = c->o.client;
    uint32_t task = c->o.workflow->producer[object];
    uint32_t open = 0;
    for (size_t i = 0; i < client->peers.n; i++)
        open += client->peers.at[i]->open;
    if (!open)
        return NULL;
    uint32_t chosen = (uint32_t)((task * 2654435761u) % open);
    for (size_t i = 0; i < client->peers.n; i++)
        if (client->peers.at[i]->open && !chosen--)
            return client->peers.at[i];
    return NULL;
}

/* Who has it, by the store. The holders are tried one after the other, one with each try; when none
 * is left, or none lives, an agent is asked to compute it again. One that lives but cannot be
 * reached is given half of the tries to come back first. */
void collect_answer(struct collect *c, const struct meta_answer *a, const struct meta_answers *all)
{
    uint32_t object = a->slot;
    if (object >= c->o.workflow->nobjects || c->stage[object] != STAGE_ASKED)
        return;
    struct client_peer *from = NULL;
    uint32_t able = 0;
    bool unreached = false;
    const struct digest *expected = NULL;
    for (uint32_t i = 0; i < a->count; i++) {
        struct client_peer *p = client_peer(c->o.client, all->nodes[a->first + i]);
        const struct digest *content = &c->o.needs->content[object];
        if (all->digests && !digest_is_zero(&all->digests[a->first + i]))
            content = &all->digests[a->first + i];
        if (!p || !p->lives || digest_is_zero(content))
            continue; /* nothing is fetched without knowing what it must be */
        unreached |= !p->open;
        if (p->open && able++ == c->tries[object]) {
            from = p;
            expected = content;
        }
    }
    bool make = !from && !(unreached && c->tries[object] < TRIES / 2);
    if (make)
        from = collect_choose_maker(c, object);
    if (!from) {
        c->under_way--;
        if (unreached)
            collect_failed(c, object, "the agents that have it cannot be reached");
        else
            collect_retry_later(c, object,
                                1); /* nobody lives: collect_tick() loses patience, not we */
        return;
    }
    c->stage[object] = STAGE_COMING;
    /* what is made again need not be the same to the bit: its maker's word counts, over a link that
     * proves who it is */
    depot_fetch(c->o.client->depot, object, from->link, expected, make);
}

/* What came is what was expected, by its digest, unless it was computed again. */
void collect_arrived(struct collect *c, uint32_t object, bool good, const char *why)
{
    if (object >= c->o.workflow->nobjects || c->stage[object] != STAGE_COMING)
        return;
    c->under_way--;
    if (!good) {
        collect_failed(c, object, why);
        return;
    }
    const struct digest *digest = depot_digest(c->o.client->depot, object);
    double bytes = depot_bytes(c->o.client->depot, object);
    if (digest)
        c->o.needs->content[object] = *digest;
    c->o.needs->bytes[object] = bytes;
    c->here++;
    c->bytes += bytes;
    collect_is_here(c, object);
}

/* While the server is silent nobody knows who lives: then nothing is given up. */
static void collect_lose_patience(struct collect *c, double now)
{
    bool open = false;
    for (size_t i = 0; i < c->o.client->peers.n && !open; i++)
        open = c->o.client->peers.at[i]->open;
    if (open || c->o.client->said_silent)
        c->alone = 0;
    else if (c->alone == 0)
        c->alone = now;
    if (c->alone == 0 || now - c->alone < ALONE)
        return;
    static const char why[] = "no agent is there that could send it";
    for (; c->next < c->queue.n; c->next++)
        if (c->stage[c->queue.at[c->next]] == STAGE_QUEUED)
            collect_give_up(c, c->queue.at[c->next], why);
    for (size_t i = 0; i < c->resting.n; i++)
        if (c->stage[c->resting.at[i].object] == STAGE_RESTING)
            collect_give_up(c, c->resting.at[i].object, why);
    c->resting.n = 0;
}

/* What has rested goes back into the queue; then as many are asked for as AT_ONCE allows, all in
 * one request to the store. */
void collect_tick(struct collect *c)
{
    double now = clock_seconds();
    struct meta_op ops[AT_ONCE];
    size_t n = 0;
    for (size_t i = 0; i < c->resting.n;) {
        if (c->resting.at[i].until > now) {
            i++;
            continue;
        }
        uint32_t object = c->resting.at[i].object;
        if (c->stage[object] == STAGE_RESTING) {
            c->stage[object] = STAGE_QUEUED;
            array_push(&c->queue, object);
        }
        c->resting.at[i] = array_pop(&c->resting);
    }
    while (c->next < c->queue.n && c->under_way < AT_ONCE && n < AT_ONCE) {
        uint32_t object = c->queue.at[c->next++];
        if (c->stage[object] != STAGE_QUEUED)
            continue;
        c->stage[object] = STAGE_ASKED;
        c->under_way++;
        ops[n++] = (struct meta_op){.kind = META_WHERE, .task = object, .slot = object};
    }
    if (c->next == c->queue.n)
        c->next = c->queue.n = 0;
    if (n)
        client_ask(c->o.client, ops, n);
    collect_lose_patience(c, now);
}

bool collect_is_idle(const struct collect *c)
{
    return !c->under_way && !c->resting.n && c->next == c->queue.n;
}

void collect_count(const struct collect *c, uint32_t *here, double *bytes, uint32_t *missing)
{
    *here = c->here;
    *bytes = c->bytes;
    *missing = c->missing;
}

const char *collect_why(const struct collect *c)
{
    return c->why;
}
