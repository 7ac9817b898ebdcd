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
#include "exec/measure.h"
#include "session/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Load that counts, and what the first default constraint takes for unused (plan/constraints/rules.c). */
static const double load_least = 0.1, load_unused = 0.03;
enum { paces_told = 4 }; /* agents that are named */

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

/* The part of its cores that tasks of other runs hold. */
static double following_held(const struct member *m)
{
    double held = 0;
    for (size_t i = 0; i < m->works.n; i++)
        held += m->works.at[i].running / (m->cores ? m->cores : 1);
    return fmin(held, 1);
}

/* Relative to this machine, whose seconds are those of predictions: agents that are on it have its speed, and one
 * that has not measured yet is taken to be like it. Where others use all cores, a task gets half of one. */
static double following_speed(const struct member *m, double load, double *own)
{
    char here[256] = "";
    double speed = 1;
    gethostname(here, sizeof here - 1);
    if (m->speed > 0 && strcmp(m->host, here) != 0) {
        if (!(*own > 0))
            *own = measure_core();
        speed = m->speed / *own;
    }
    return speed * (1 - fmin(load + following_held(m), 1) / 2);
}

/* For constraints, which by default leave agents alone that others use: tasks of other runs, and what its machine
 * does beyond the least of all. Where all machines are busy nobody is better off by leaving them all. Less than a
 * tenth is a machine's own housekeeping. */
static double following_utilization(const struct member *m, double load, double least)
{
    double use = fmin(following_held(m) + fmax(load - least, 0), 1);
    return use < load_least ? 0 : use;
}

/* Agents on one machine see the same load, but each takes its own tasks for busy that may wait: the most of what
 * they say is nearest. O(agents), and for all of them O(agents^2), once a run. */
static double following_machine_load(const struct client *c, const struct member *of)
{
    size_t n;
    double most = of->load;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        if (following_is_there(c, &m[i]) && strcmp(m[i].host, of->host) == 0)
            most = fmax(most, m[i].load);
    return most;
}

static double following_least_load(const struct client *c)
{
    size_t n;
    double least = 1;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        if (following_is_there(c, &m[i]))
            least = fmin(least, following_machine_load(c, &m[i]));
    return least;
}

/* What differs from a machine like this one that nobody else uses: said, since plans rest on it. */
static void following_say_paces(const struct session *s, const struct platform *p)
{
    struct strbuf text = {0};
    uint32_t told = 0;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        bool used = p->utilization[n] > 0, other = fabs(p->speed[n] - 1) >= 0.05;
        if ((!used && !other) || told++ >= paces_told)
            continue;
        strbuf_printf(&text, "%s%s ", text.n ? ", " : "", platform_node_name(p, n));
        if (other)
            strbuf_printf(&text, "%.2f times as fast as this machine alone%s", p->speed[n],
                          used ? " and " : "");
        if (used)
            strbuf_printf(&text, "used %.0f %% by others", 100 * p->utilization[n]);
    }
    if (told > paces_told)
        strbuf_printf(&text, " and %u more", told - paces_told);
    if (told)
        remark(&s->o.remarks, REMARK_INFO, "planned for the agents as they are now: %s",
               strbuf_text(&text));
    strbuf_free(&text);
}

struct plan *following_search(const struct session *s, const struct planner *planner,
                              const struct plan_request *request, struct platform *p,
                              struct error *err)
{
    struct error why = {0};
    uint32_t used = 0;
    struct plan *plan = planner_run(planner, request, &why);
    for (uint32_t n = 0; n < p->nnodes; n++)
        used += p->utilization[n] > load_unused;
    if (plan || !used || strcmp(planner->name, "constraints") != 0) {
        if (!plan)
            error_set(err, why.kind, "%s", why.text);
        return plan;
    }
    for (uint32_t n = 0; n < p->nnodes; n++)
        p->utilization[n] = fmin(p->utilization[n], load_unused);
    plan = planner_run(planner, request, err);
    if (plan && used == p->nnodes)
        remark(&s->o.remarks, REMARK_INFO, "others use every agent: none is left out");
    else if (plan)
        remark(&s->o.remarks, REMARK_WARNING,
               "no schedule fulfils the constraints on agents that nobody else uses: those that "
               "others use are taken, too");
    return plan;
}

struct platform *following_agents(const struct session *s, const struct client *client,
                                  uint32_t **numbers, struct error *err)
{
    size_t n, nodes = 0;
    const struct member *m = client_members(client, &n);
    bool named = following_hosts_differ(client);
    double own = 0; /* of this machine; 0: nobody had to know yet */
    double least = following_least_load(client);
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
        double load = following_machine_load(client, &m[i]);
        platform_builder_speed(b, node, following_speed(&m[i], load, &own), 0);
        platform_builder_utilization(b, node, following_utilization(&m[i], load, least), 0);
        if (m[i].memory > 0 && isfinite(m[i].memory))
            platform_builder_memory(b, node, m[i].memory, 0);
        if (m[i].has && *m[i].has)
            platform_builder_has(b, node, m[i].has, strlen(m[i].has));
        if (m[i].resources && *m[i].resources)
            platform_builder_resources(b, node, m[i].resources, strlen(m[i].resources), 0);
        (*numbers)[nodes++] = m[i].node;
    }
    platform_builder_memory_rule(b, MEMORY_TASKS); /* files are on the disk */
    struct platform *p = platform_builder_finish(b, err);
    if (p)
        following_say_paces(s, p);
    return p;
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

static uint32_t following_agents_there(const struct client *c)
{
    size_t n;
    uint32_t there = 0;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++)
        there += following_is_there(c, &m[i]);
    return there;
}

/* Two nodes of one name would be one agent: platforms have no such nodes. Each node that has tasks becomes an agent; a core that the plan uses is one of its cores. */
static bool following_map(struct following *f, const struct client *c, bool own, struct error *err)
{
    const struct platform *p = f->platform;
    uint32_t turn = 0, *used = mem_new_zero(uint32_t, (size_t)p->nnodes + 1);
    bool good = true;
    /* the second node is the second agent also where the first has nothing to do; a platform of more
     * nodes than there are agents has to do with those that it uses */
    bool enough = p->nnodes <= following_agents_there(c);
    f->agent = mem_new(uint32_t, (size_t)p->nnodes + 1);
    for (size_t i = 0; i < f->plan->placements.n; i++) {
        const struct placement *at = &f->plan->placements.at[i];
        used[at->node] = at->core + 1 > used[at->node] ? at->core + 1 : used[at->node];
    }
    for (uint32_t n = 0; n < p->nnodes && good; n++) {
        f->agent[n] = NONE;
        if (!used[n])
            continue;
        const struct member *m =
            following_agent(c, platform_node_name(p, n), own, enough ? n : turn++);
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
    following_begin_paces(s, client);
    if (!f->guide.edges.n && !f->guide.starts.n && !f->guide.places.n)
        return true;
    place_put_guide(&f->guide, &s->text);
    return workflow_take_guide(s->w, &f->guide, true, err);
}

const uint32_t *following_homes(const struct session *s)
{
    return s->following ? s->following->home : NULL;
}
