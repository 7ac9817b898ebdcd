/* The other agents, as the board shows them, and the links to them.
 *
 * I1. A link is in its peer's `link` from peer_link() until it was reported closed or given up
 *     here; after that nobody names it.
 * I2. `up` changes only in peer_update(), and every job is notified of each change once; what it has
 *     room for before that it is up.
 * I3. Of every life that is over each job is told, also when this agent never saw it alive: tasks that it
 *     took are otherwise nobody's. Of a number that has not spoken nothing is said but that (not `known`):
 *     whoever takes such a one for dead fences off an agent that begins. */
#include "model/guide.h"
#include "cluster/agent/agent_state.h"

#include "base/clock.h"
#include "cluster/wire/member.h"

#include <math.h>

/* Seconds after a refused connection in which none is tried: longer than a turn, so that a thief
 * does not knock at a dead door in each, shorter than anybody waits. */
static const double refused_pause = 0.2;

struct peer *peer_at(struct agent *a, uint32_t node)
{
    while (a->peers.n <= node)
        array_add(&a->peers);
    return &a->peers.at[node];
}

bool peer_is_up(const struct agent *a, uint32_t node)
{
    return node < a->peers.n && a->peers.at[node].up;
}

/* It takes nothing any more. */
static bool peer_is_going(const struct agent *a, uint32_t node)
{
    const struct peer *p = &a->peers.at[node];
    return node == a->node ? !agent_is_staying(a) : p->known && (!p->up || p->leaving);
}

/* Its attributes, its number among them (model/guide.h). What a plan has placed on an agent that is gone,
 * any other may take in the end (T1 of job_told.c), and who followed the run tells. */
static uint64_t peer_attributes(const struct agent *a, uint32_t node, const char *has,
                                const struct workflow *w, double patience)
{
    uint64_t mask = workflow_agent_mask(w, has, node);
    bool placed = workflow_is_placed(w);
    double since = placed && patience > 0 ? clock_seconds() - patience : INFINITY;
    for (uint32_t other = 0; placed && other < a->peers.n; other++)
        if (peer_is_going(a, other) && a->peers.at[other].gone <= since)
            mask |= workflow_agent_mask(w, NULL, other);
    return mask;
}

struct capacity peer_capacity(const struct agent *a, uint32_t node, const struct workflow *w,
                              double patience)
{
    struct capacity own = {.cores = a->o->cores,
                           .memory = a->memory_now > 0 ? a->memory_now : INFINITY,
                           .has = peer_attributes(a, node, a->o->has, w, patience)};
    capacity_set_things(&own, w, a->o->resources);
    if (node == a->node) {
        own.cores = agent_is_staying(a) ? own.cores : 0;
        own.ends = a->ends;
        return own;
    }
    if (!peer_is_up(a, node))
        return own; /* not known yet; nobody gives anything to one that is down */
    const struct peer *p = &a->peers.at[node];
    struct capacity there = {.cores = p->leaving ? 0 : p->cores,
                             .memory = p->memory > 0 ? p->memory : INFINITY,
                             .has = peer_attributes(a, node, p->has, w, patience),
                             .ends = p->ends};
    capacity_set_things(&there, w, p->resources);
    return there;
}

/* Connecting takes time, but a link takes messages at once and reports later if nobody answers. */
struct link *peer_link(struct agent *a, uint32_t node)
{
    if (!peer_is_up(a, node) || node == a->node)
        return NULL;
    struct peer *p = &a->peers.at[node];
    if (p->link)
        return p->link;
    if (!p->address || (p->refused && clock_seconds() - p->refused < refused_pause))
        return NULL;
    char name[LINK_NAME];
    p->link = link_connect(a->links, p->address, link_agent_name(node, p->life, name));
    if (p->link)
        link_set_data(p->link, (void *)(uintptr_t)(node + 1));
    return p->link;
}

/* I1. */
static void peer_drop_link(struct peer *p, const char *why)
{
    if (p->link)
        link_close(p->link, why);
    p->link = NULL; /* that it is closed will be reported later, and be nobody's */
}

/* Lives are numbered by the second: of a store that was emptied twice in one, two agents may have had the
 * same number and life, and only the attempt to join tells them apart. */
static bool peer_is_same_life(const struct peer *p, const struct board_member *m)
{
    return p->life == m->life && p->attempt == m->attempt;
}

/* It is new, or has begun another life: perhaps elsewhere, perhaps with another key. */
static void peer_begin_life(struct agent *a, struct peer *p, const struct board_member *m)
{
    struct member text;
    member_read(m, &a->charter, &text);
    p->stranger = text.sealed;
    if (text.sealed)
        agent_log(a,
                  "node %u: what stands on the board as its words was not written by it with this "
                  "cluster's key; it is left alone",
                  m->node);
    free(p->address);
    free(p->has);
    free(p->host);
    free(p->resources);
    p->host = text.host ? mem_copy_string(text.host) : NULL;
    p->address = text.address ? mem_copy_string(text.address) : NULL;
    p->cores = text.cores;
    p->memory = text.memory;
    p->ends = text.lasts > 0 ? clock_seconds() - m->age + text.left : 0;
    p->has = text.has ? mem_copy_string(text.has) : NULL;
    p->resources = text.resources ? mem_copy_string(text.resources) : NULL;
    member_free(&text);
    peer_drop_link(p, "the agent there has a new life");
    p->refused = 0;
    p->life = m->life;
    p->attempt = m->attempt;
}

static void peer_say_gone(struct agent *a, const struct peer *p, const struct board_member *m)
{
    const char *host = p->host ? p->host : "?";
    if (m->state == BOARD_LEFT)
        agent_log(a, "node %u on %s has left", m->node, host);
    else
        agent_log(a,
                  "node %u on %s is taken for dead: no sign of life for %.0f s; what it held is "
                  "taken over",
                  m->node, host, m->age);
}

/* It has come, or is gone: all jobs are told. */
static void peer_changed(struct agent *a, uint32_t node)
{
    struct peer *p = &a->peers.at[node];
    if (!p->up)
        peer_drop_link(p, "its agent is gone");
    for (size_t i = 0; i < a->jobs.n; i++)
        job_peer_changed(a->jobs.at[i], node, p->up);
    /* who has come or gone has or leaves tasks that a plan placed there */
    for (size_t i = 0; i < a->jobs.n; i++)
        if (workflow_is_placed(a->jobs.at[i]->w))
            job_places_changed(a->jobs.at[i]);
}

void peer_vanished(struct agent *a, uint32_t node)
{
    struct peer *p = &a->peers.at[node];
    if (node == a->node || !p->known || !p->up)
        return;
    agent_log(a, "node %u on %s is not on the board any more", node, p->host ? p->host : "?");
    p->up = false;
    p->gone = clock_seconds();
    peer_changed(a, node);
}

/* Another life under the same number: the one before is over, though the board never showed it gone. What
 * it held is the new one's as soon as that works on the run; it may never do so. */
static void peer_end_life(struct agent *a, struct peer *p, const struct board_member *m)
{
    if (!p->known || peer_is_same_life(p, m) || !p->up)
        return;
    p->up = false;
    peer_changed(a, m->node);
}

void peer_update(struct agent *a, const struct board_member *m, bool steady)
{
    if (m->node == a->node)
        return;
    struct peer *p = peer_at(a, m->node);
    peer_end_life(a, p, m);
    /* any agent may say so; the first to is believed */
    if (!board_is_gone(m->state) && steady && m->age > (m->lease > 0 ? m->lease : a->lease))
        board_expire(a->board, m->node, m->life, agent_recorded, a);
    if (!m->n && !board_is_gone(m->state))
        return; /* it has just joined, and says who it is in a moment; or died in that moment */
    bool news = !p->known || !peer_is_same_life(p, m);
    bool changed = news || p->leaving != (m->state == BOARD_LEAVING);
    if (news)
        peer_begin_life(a, p, m);
    bool was_up = p->known && p->up, up = !board_is_gone(m->state) && !p->stranger;
    p->known = true;
    p->beaten = clock_seconds() - m->age;
    p->up = up;
    p->leaving = m->state == BOARD_LEAVING;
    if (p->up && !p->leaving)
        p->gone = 0;
    else if (!(p->gone > 0))
        p->gone = clock_seconds();
    bool was_aside = p->aside;
    p->aside = m->state == BOARD_ASIDE;
    for (size_t i = 0; up && changed && i < a->jobs.n; i++)
        job_capacity_changed(a->jobs.at[i], m->node);
    for (size_t i = 0; was_aside != p->aside && i < a->jobs.n; i++)
        aside_tell_job(a->jobs.at[i], m->node, p->aside);
    if (was_up && !up)
        peer_say_gone(a, p, m);
    if (up != was_up ||
        (news && !up)) /* a life that was over before we saw it may hold tasks, too */
        peer_changed(a, m->node);
}

void peer_link_opened(struct agent *a, const struct link *l)
{
    for (size_t i = 0; i < a->peers.n; i++)
        if (a->peers.at[i].link == l)
            a->peers.at[i].refused = 0;
}

void peer_link_closed(struct agent *a, const struct link *l)
{
    for (size_t i = 0; i < a->peers.n; i++)
        if (a->peers.at[i].link == l) {
            a->peers.at[i].link = NULL;
            a->peers.at[i].refused = clock_seconds();
        }
}

void peers_free(struct agent *a)
{
    for (size_t i = 0; i < a->peers.n; i++) {
        free(a->peers.at[i].address);
        free(a->peers.at[i].has);
        free(a->peers.at[i].host);
        free(a->peers.at[i].resources);
    }
    array_free(&a->peers);
}
