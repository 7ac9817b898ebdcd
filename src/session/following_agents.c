/* Following a plan on agents: following.h.
 *
 * What agents are told is the guide, with their numbers, before the text of the workflow (place.h): they
 * read it as everybody does who reads the run's workflow, and keep to it without knowing of plans.
 *
 * F1. Numbers of agents are looked up once, when the run is handed in. An agent that dies and comes back has
 *     its number again, and its tasks; another in its place has not.
 * F2. The session's workflow takes the same guide as the text: both sides count the same edges, by place.
 * F3. A strict plan never begins with a node left out: under constraints another is made for the nodes that are
 *     there, else it is refused. One whose order alone counts begins with those that are
 *     there: tasks of the others are shared out as without a plan. */
#include "session/following.h"

#include "base/mem.h"
#include "base/plural.h"
#include "session/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those that live, and take tasks. One that leaves would hand them on at once, and one that has just come
 * and said nothing yet has no name to be found by. */
static bool following_is_there(const struct client *c, const struct member *m)
{
    return client_is_alive(c, m) && m->state != BOARD_LEAVING && m->host;
}

/* Agents on one host have no names of their own: a constraint or a plan that named the host would mean any
 * of them. O(agents^2), once a run. */
static bool following_hosts_differ(const struct client *c)
{
    size_t n;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (following_is_there(c, &m[i]) && following_is_there(c, &m[k]) &&
                strcmp(m[i].host, m[k].host) == 0)
                return false;
    return true;
}

struct platform *following_agents(const struct session *s, const struct client *client,
                                  uint32_t **numbers, struct error *err)
{
    size_t n, nodes = 0;
    const struct member *m = client_members(client, &n);
    bool named = following_hosts_differ(client);
    struct platform_builder *b = platform_builder_new("agents");
    platform_builder_name(b, "the agents", strlen("the agents"));
    *numbers = mem_new(uint32_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!following_is_there(client, &m[i]))
            continue;
        char name[32];
        snprintf(name, sizeof name, "n%zu", nodes + 1);
        const char *host = named ? m[i].host : name;
        uint32_t node = platform_builder_node(b, host, strlen(host), 0);
        platform_builder_cores(b, node, m[i].cores ? m[i].cores : 1, 0);
        if (m[i].memory > 0 && isfinite(m[i].memory))
            platform_builder_memory(b, node, m[i].memory, 0);
        if (m[i].has && *m[i].has)
            platform_builder_has(b, node, m[i].has, strlen(m[i].has));
        if (m[i].resources && *m[i].resources)
            platform_builder_resources(b, node, m[i].resources, strlen(m[i].resources), 0);
        (*numbers)[nodes++] = m[i].node;
    }
    (void)s;
    platform_builder_memory_rule(b, MEMORY_TASKS); /* files are on the disk */
    return platform_builder_finish(b, err);
}

/* The agent of a node of the plan: by its name, else the next. NULL: there is none. */
static const struct member *following_agent(const struct client *c, const char *name, bool own,
                                            uint32_t turn)
{
    size_t n;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        if (following_is_there(c, &m[i]) && strcmp(m[i].host, name) == 0 &&
            following_hosts_differ(c))
            return &m[i];
    for (size_t i = 0; i < n && own; i++)
        if (following_is_there(c, &m[i]) && !turn--)
            return &m[i];
    return NULL;
}

/* Two nodes of one name would be one agent: platforms have no such nodes. Each node that has tasks becomes an agent; a core that the plan uses is one of its cores. */
static bool following_map(struct following *f, const struct client *c, bool own, struct error *err)
{
    const struct platform *p = f->platform;
    uint32_t turn = 0, *used = mem_new_zero(uint32_t, (size_t)p->nnodes + 1);
    bool good = true;
    f->agent = mem_new(uint32_t, (size_t)p->nnodes + 1);
    for (size_t i = 0; i < f->plan->placements.n; i++) {
        const struct placement *at = &f->plan->placements.at[i];
        used[at->node] = at->core + 1 > used[at->node] ? at->core + 1 : used[at->node];
    }
    for (uint32_t n = 0; n < p->nnodes && good; n++) {
        f->agent[n] = NONE;
        if (!used[n])
            continue;
        const struct member *m = following_agent(c, platform_node_name(p, n), own, turn++);
        if (!m)
            good =
                error_set(err, ERROR_INFEASIBLE,
                          "node '%.100s' of the plan is no agent that is there (`weft status` "
                          "lists them); start one, plan for those that are (--with), or take its "
                          "order alone with --follow order",
                          platform_node_name(p, n));
        else if (m->cores < used[n])
            good = error_set(err, ERROR_INFEASIBLE,
                             "the plan uses %u core%s of '%.100s', and agent %u there has %u; "
                             "--follow order takes its order alone",
                             used[n], plural(used[n]), platform_node_name(p, n), m->node, m->cores);
        else
            f->agent[n] = m->node;
    }
    free(used);
    return good;
}

bool following_begin_on(struct session *s, const struct client *client, bool own, struct error *err)
{
    struct following *f = s->following;
    if (!f || f->begun || f->plan->kind != PLAN_STATIC || f->follow == FOLLOW_HINT)
        return true;
    struct error why = {0};
    /* a plan that was made for these agents knows their numbers; one from a file knows names */
    if (!f->agent && !following_map(f, client, own, &why)) {
        free(f->agent);
        f->agent = NULL;
        if (f->follow == FOLLOW_STRICT && !following_plan_anew(s, client, &why, err))
            return false;
        f = s->following;
    }
    /* backwards: of a task with copies the first placement counts */
    f->home = mem_new(uint32_t, (size_t)s->w->ntasks + 1);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        f->home[t] = NONE;
    for (size_t i = f->plan->placements.n; f->agent && i-- > 0;)
        f->home[f->plan->placements.at[i].task] = f->agent[f->plan->placements.at[i].node];
    for (size_t i = 0; i < f->guide.places.n; i++)
        f->guide.places.at[i].node = f->home[f->guide.places.at[i].task];
    f->begun = true;
    if (!f->guide.edges.n && !f->guide.starts.n && !f->guide.places.n)
        return true;
    place_put_guide(&f->guide, &s->text);
    return workflow_take_guide(s->w, &f->guide, true, err);
}

const uint32_t *following_homes(const struct session *s)
{
    return s->following ? s->following->home : NULL;
}
