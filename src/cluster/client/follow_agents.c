/* The agents of a run that is followed: who is there, who has gone, and what follows from that.
 *
 * Invariants:
 *   I1. A peer's `followed` is the life in which listeners were told that it joined; 0: it is not there
 *       for them. Each life is told to begin once and to end once.
 *   I2. Those that died between two looks are one line for people, however many they are. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cluster/client/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double DESERTED = 10; /* without an agent, until a stopping run is taken as ended */
/* Until one whose agents were its own is: a machine that slept has them back in a second. */
static const double FORSAKEN = 30;
enum { HOSTS_NAMED = 3 };

/* Those that went between two looks. */
struct follow_gone {
    uint32_t agents, running, needed;
    struct strbuf names; /* "node 1 on vm, node 2 on vm" */
};

/* As the last look shows it, dead or alive. Linear: asked when somebody came or went. */
static const struct member *follow_member(const struct client_follow *f, uint32_t node)
{
    size_t n;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++)
        if (m[i].node == node)
            return &m[i];
    return NULL;
}

/* Listeners hear that what it ran has ended so. */
static uint32_t follow_end_running(struct client_follow *f, uint32_t node, double now)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < f->w->ntasks; t++)
        if (f->seen[t] == FOLLOW_SEEN_RUNNING && f->node[t] == node) {
            count++;
            f->seen[t] = FOLLOW_SEEN_NOTHING;
            follow_report(f, &(struct trace_event){.kind = TRACE_TASK,
                                                   .id = t,
                                                   .node = node,
                                                   .start = now,
                                                   .finish = now,
                                                   .outcome = TRACE_CANCELLED});
        }
    return count;
}

/* Tasks done there whose outputs somebody still reads, or are not here yet. In a shared folder nothing
 * is lost with a node. O(V + E), for an agent that died. */
static uint32_t follow_count_needed(const struct client_follow *f, uint32_t node)
{
    const struct workflow *w = f->w;
    uint32_t count = 0;
    for (uint32_t t = 0; t < w->ntasks && !f->o.ticket->shared; t++) {
        bool needed = false;
        if (f->seen[t] != FOLLOW_SEEN_DONE || f->node[t] != node)
            continue;
        for (uint32_t o = w->object_off[t]; o < w->object_end[t] && !needed; o++) {
            uint32_t n = 0;
            const uint32_t *readers = workflow_consumers(w, o, &n);
            for (uint32_t i = 0; i < n && !needed; i++)
                needed = f->seen[readers[i]] < FOLLOW_SEEN_FAILED;
        }
        count += needed;
    }
    return count;
}

/* Its counters go with it, so that a display does not add them up for ever. */
static void follow_agent_gone(struct client_follow *f, const struct client_peer *p,
                              struct follow_gone *died)
{
    const struct member *m = follow_member(f, p->node);
    bool left = m && m->state == BOARD_LEFT && m->life == p->followed;
    double now = client_now(f->c) - f->created;
    for (size_t i = 0; i < f->counters.n; i++)
        if (f->counters.at[i].node == p->node)
            f->counters.at[i] = (struct follow_counters){.node = p->node};
    struct trace_node n = {.node = p->node,
                           .change = left ? TRACE_NODE_LEFT : TRACE_NODE_DIED,
                           .time = now,
                           .host = m ? m->host : "?",
                           .cores = m ? m->cores : 0,
                           .running = follow_end_running(f, p->node, now)};
    n.needed = left ? 0 : follow_count_needed(f, p->node);
    follow_report_node(f, &n);
    if (left)
        return;
    died->running += n.running;
    died->needed += n.needed;
    if (died->agents++ < HOSTS_NAMED)
        strbuf_printf(&died->names, "%snode %u on %s", died->names.n ? ", " : "", p->node, n.host);
}

/* A run that is over loses nothing any more. */
static void follow_say_died(struct client_follow *f, struct follow_gone *died)
{
    struct strbuf line = {0};
    bool one = died->agents == 1;
    if (died->agents && f->state < BOARD_RUN_ENDED && f->reported_ended < f->w->ntasks) {
        strbuf_add(&line, died->names.at);
        if (died->agents > HOSTS_NAMED)
            strbuf_printf(&line, " and %u more", died->agents - HOSTS_NAMED);
        strbuf_printf(&line, " %s died: ", one ? "has" : "have");
        if (died->running)
            strbuf_printf(&line, "%u task%s that %s ran begin%s again elsewhere", died->running,
                          plural(died->running), one ? "it" : "they",
                          died->running == 1 ? "s" : "");
        if (died->needed)
            strbuf_printf(&line,
                          "%sof %u result%s that others still need, those that nobody else has are "
                          "made again",
                          died->running ? "; " : "", died->needed, plural(died->needed));
        if (!died->running && !died->needed)
            strbuf_add(&line, "nothing of this run is lost with that");
        client_say(f->c, "%s", line.at);
    }
    strbuf_free(&line);
    strbuf_free(&died->names);
}

/* Also for those that were there from the start: listeners learn which host a node is. */
static void follow_agent_joined(struct client_follow *f, const struct client_peer *p)
{
    const struct member *m = follow_member(f, p->node);
    follow_report_node(f, &(struct trace_node){.node = p->node,
                                               .change = TRACE_NODE_JOINED,
                                               .time = client_now(f->c) - f->created,
                                               .host = m ? m->host : "?",
                                               .cores = m ? m->cores : 0});
}

/* What a display divides by. */
static void follow_report_cores(struct client_follow *f)
{
    struct client_load load = {0};
    double now = client_now(f->c) - f->created;
    follow_count_agents(f, &load);
    if (load.cores == f->cores || f->state >= BOARD_RUN_ENDED)
        return;
    f->cores = load.cores;
    follow_report(f, &(struct trace_event){.kind = TRACE_COUNTER,
                                           .id = COUNTER_CORES,
                                           .start = now,
                                           .finish = now,
                                           .amount = load.cores});
}

/* What agents computed a second time, as they say themselves: of those that died their last word. */
static void follow_count_again(struct client_follow *f)
{
    size_t n;
    double again = 0;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        const struct member_work *work = member_work(&m[i], f->o.run);
        again += work ? work->recomputed : 0;
    }
    f->again = again > f->again ? (uint32_t)again : f->again;
}

/* At the end, since only then is it known how much it was; as a note of the summary. */
void follow_remark_again(struct client_follow *f)
{
    struct strbuf line = {0};
    if (!f->again || f->result.remarks.n >= RUN_REMARKS)
        return;
    strbuf_printf(&line,
                  "%u result%s made again, since the data had died with an agent or was damaged",
                  f->again, f->again == 1 ? " was" : "s were");
    array_push(&f->result.remarks, strbuf_steal(&line));
}

/* Those that have begun to leave since the last look: what they have not begun others do. */
static bool follow_some_leave(const struct client_follow *f)
{
    size_t n;
    bool news = false;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        struct client_peer *p = client_peer(f->c, m[i].node);
        bool leaving = m[i].state == BOARD_LEAVING;
        news |= p && leaving && !p->leaving;
        if (p)
            p->leaving = leaving;
    }
    return news;
}

void follow_check_agents(struct client_follow *f)
{
    struct follow_gone died = {0};
    bool gone = follow_some_leave(f);
    for (size_t i = 0; i < f->c->peers.n; i++) {
        struct client_peer *p = f->c->peers.at[i];
        uint32_t life = p->lives ? p->life : 0;
        if (!life && !p->followed && p->at_work) { /* gone before the board was looked at once */
            follow_end_running(f, p->node, client_now(f->c) - f->created);
            p->at_work = false;
        }
        if (p->followed == life)
            continue;
        gone |= p->followed != 0;
        if (p->followed)
            follow_agent_gone(f, p, &died);
        p->followed = life; /* I1 */
        if (life)
            follow_agent_joined(f, p);
    }
    follow_say_died(f, &died);
    if (gone)
        follow_ask_plan(f);
    follow_count_again(f);
    follow_report_cores(f);
}

/* Also their cores, for whoever brings more. */
uint32_t follow_count_agents(const struct client_follow *f, struct client_load *load)
{
    size_t n;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        if (!client_is_alive(f->c, &m[i]))
            continue;
        load->agents++;
        load->cores += m[i].cores;
    }
    return load->agents;
}

/* Nobody works on it any more: who would say that it has ended? */
void follow_check_deserted(struct client_follow *f, uint32_t agents)
{
    double now = clock_seconds();
    if (agents) {
        if (f->said_deserted)
            client_say(f->c, "an agent has joined; the run goes on");
        f->deserted = 0;
        f->said_deserted = false;
        return;
    }
    if (f->deserted == 0)
        f->deserted = now;
    if (f->state == BOARD_RUN_OPEN && !f->said_deserted && now - f->deserted > 2) {
        f->said_deserted = true;
        if (f->o.orphaned)
            client_say(f->c,
                       "no agent is left, and the command that would ask for others is gone: `weft "
                       "cancel %llu` ends the run, and `weft run` goes on with what is done",
                       (unsigned long long)f->o.run);
        else if (f->o.deserted)
            client_say(f->c,
                       "no agent is left; the run ends in half a minute unless one comes back");
        else
            client_say(f->c, "no agent is left; the run waits until one joins at %s",
                       f->c->o.address->text);
    }
    if (f->state == BOARD_RUN_OPEN && f->o.deserted && now - f->deserted > FORSAKEN &&
        !f->o.deserted(f->o.gone_context, &f->error))
        follow_set_state(f, BOARD_RUN_ENDED);
    if (f->state != BOARD_RUN_OPEN && now - f->deserted > DESERTED && !f->ending) {
        f->ending = true;
        follow_set_state(f, BOARD_RUN_ENDED);
    }
}

/* Tasks that wait for an agent which has room for them: said once, and again when they wait for
 * another. */
void follow_check_unfit(struct client_follow *f)
{
    size_t n;
    uint32_t tasks = 0;
    const char *asks = "";
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        const struct member_work *work = member_work(&m[i], f->o.run);
        if (!work || !(work->unfit > 0) || !client_is_alive(f->c, &m[i]))
            continue;
        tasks += (uint32_t)work->unfit;
        asks = work->asks;
    }
    if (tasks && f->state == BOARD_RUN_OPEN && strcmp(asks, f->said_unfit) != 0) {
        client_say(f->c, "%u task%s wait%s until an agent joins that has room: %s asks for %s",
                   tasks, plural(tasks), tasks == 1 ? "s" : "", tasks == 1 ? "it" : "one of them",
                   asks);
        snprintf(f->said_unfit, sizeof f->said_unfit, "%s", asks);
    }
    if (!tasks)
        f->said_unfit[0] = 0;
}

/* Agents that cannot work on it, each said once; when all that are there cannot, nobody will. */
void follow_check_refused(struct client_follow *f)
{
    size_t n;
    uint32_t there = 0, refuse = 0;
    struct strbuf why = {0};
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        struct client_peer *p = client_peer(f->c, m[i].node);
        if (!client_is_alive(f->c, &m[i]) || m[i].state == BOARD_LEAVING)
            continue;
        there++;
        if (!p || p->refuses != f->o.run || p->life != m[i].life)
            continue;
        strbuf_printf(&why, "%s%s: %s", refuse++ ? "; " : "", m[i].host, p->refusal);
        if (!p->refusal_told)
            client_say(f->c, "agent %u on %s does not take part: %s", m[i].node, m[i].host,
                       p->refusal);
        p->refusal_told = true;
    }
    if (there && refuse == there && f->state == BOARD_RUN_OPEN && f->known) {
        follow_set_state(f, BOARD_RUN_ENDED);
        error_set(&f->error, ERROR_FAILED,
                  "no agent can work on run %" PRIu64
                  ": %s; mend it there, or start another agent, "
                  "and run again",
                  f->o.run, why.at);
    }
    strbuf_free(&why);
}

/* Agents whose machines fail tasks: said when it begins and when it is over. */
void follow_check_aside(struct client_follow *f)
{
    size_t n;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        struct client_peer *p = client_peer(f->c, m[i].node);
        bool aside = m[i].state == BOARD_ASIDE;
        if (!p || !client_is_alive(f->c, &m[i]) || p->aside == aside)
            continue;
        p->aside = aside;
        follow_report_node(
            f, &(struct trace_node){.node = p->node,
                                    .change = aside ? TRACE_NODE_ASIDE : TRACE_NODE_BACK,
                                    .time = client_now(f->c) - f->created,
                                    .host = m[i].host,
                                    .why = aside ? m[i].aside : NULL,
                                    .cores = m[i].cores});
        if (aside)
            client_say(f->c, "agent %u on %s is set aside: %s; tasks go to others first", m[i].node,
                       m[i].host, m[i].aside ? m[i].aside : "it does not say why");
        else
            client_say(f->c, "agent %u on %s is back", m[i].node, m[i].host);
    }
}
