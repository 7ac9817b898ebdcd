/* Setting this agent aside.
 *
 *                       IN_A_ROW failures of the machine in a row
 *     well ──────────────────────────────────────────────────────────▶ aside
 *       ▲                                                                │
 *       └── room on the disk again; or a pause, longer each time ────────┘
 *
 * I1. Only what the machine is to blame for counts (executor_blame.c); a task that goes well begins the
 *     count anew. A missing shell does not count: it may be what a workflow alone asks for.
 * I2. One that comes back after a pause is on probation: the next failure sets it aside again.
 * I3. It stays a member, serves its data, and runs what nobody else can: with no agent better than it,
 *     its tasks fail here, with the reason. The board says ASIDE, and its text why. */
#include "cluster/agent/aside.h"

#include "base/clock.h"
#include "cluster/agent/agent_state.h"
#include "exec/health.h"

#include <math.h>
#include <stdio.h>

enum { IN_A_ROW = 3 };

static const double first_pause = 10, longest_pause = 600; /* seconds */

bool aside_is(const struct agent *a, uint32_t node)
{
    if (node == a->node)
        return a->aside.is;
    return peer_is_up(a, node) && a->peers.at[node].aside;
}

void aside_tell_job(struct job *j, uint32_t node, bool is)
{
    driver_handle(j->driver, &(struct sched_event){.kind = SCHED_EVENT_ASIDE, .aside = {node, is}});
}

/* Tasks that wait for their inputs first: the scheduler then gives them to others, with what is ready.
 * The others are told at once. */
static void aside_set(struct agent *a, bool is)
{
    a->aside.is = is;
    if (is)
        agent_log(a, "set aside: %s; tasks go to others first", a->aside.why);
    else
        agent_log(a, "back: tasks are taken again");
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        if (is)
            supply_give_back(j);
        aside_tell_job(j, a->node, is);
        driver_handle_ended(j->driver);
    }
    agent_send_heartbeat(a);
}

void aside_count_trouble(struct agent *a, enum trace_trouble trouble, const char *place,
                         const char *text)
{
    struct aside *s = &a->aside;
    if (trouble == TROUBLE_SHELL || trouble == TROUBLE_NONE) /* I1 */
        return;
    if (place)
        snprintf(s->why, sizeof s->why, "no space left on the disk of %.300s", place);
    else
        snprintf(s->why, sizeof s->why, "%s%s%.300s", trace_trouble_text(trouble),
                 text && *text ? ": " : "", text ? text : "");
    snprintf(s->place, sizeof s->place, "%s", place ? place : "");
    agent_log(a, "this machine failed a task: %s", s->why);
    s->in_a_row++;
    if (s->is || s->in_a_row < IN_A_ROW)
        return;
    double pause = first_pause * exp2(s->times < 16 ? s->times : 16);
    s->until = clock_seconds() + (pause < longest_pause ? pause : longest_pause);
    s->times++;
    s->due = true;
}

void aside_now(struct agent *a, enum trace_trouble trouble, const char *text)
{
    a->aside.in_a_row = IN_A_ROW;
    aside_count_trouble(a, trouble, health_is_full(a->data) ? a->data : NULL, text);
}

void aside_count_success(struct agent *a)
{
    struct aside *s = &a->aside;
    s->in_a_row = 0;
    if (!s->is)
        s->times = 0;
}

/* Not while the scheduler is in the middle of an event. */
void aside_turn(struct agent *a)
{
    if (!a->aside.due)
        return;
    a->aside.due = false;
    /* what tasks filled is free again when they are gone, and would be filled again */
    a->aside.seen_full = a->aside.place[0] && health_is_full(a->aside.place);
    aside_set(a, true);
}

void aside_second(struct agent *a)
{
    struct aside *s = &a->aside;
    if (!s->is)
        return;
    bool room = s->seen_full ? health_has_room(s->place) : clock_seconds() > s->until;
    if (!room)
        return;
    s->in_a_row = IN_A_ROW - 1; /* I2 */
    s->why[0] = 0;
    aside_set(a, false);
}

/* Why nobody else takes it, and what helps. */
static void explain_failure(const struct job *j, uint32_t task, enum trace_trouble trouble,
                            const char *place, const char *text, struct strbuf *why)
{
    const struct agent *a = j->agent;
    uint32_t others = 0, aside = 0;
    for (uint32_t node = 0; node < a->peers.n; node++) {
        bool there = node != a->node && peer_is_up(a, node) && !a->peers.at[node].leaving;
        others += there;
        aside += there && a->peers.at[node].aside;
    }
    strbuf_printf(why, "%s on %s", trace_trouble_text(trouble), a->o->host);
    if (place)
        strbuf_printf(why, " (%s)", place);
    else if (text && *text)
        strbuf_printf(why, " (%.300s)", text);
    if (!others)
        strbuf_add(why, ", and no other agent is there");
    else if (aside == others)
        strbuf_add(why, ", and every other agent is set aside, too (`weft status` says why)");
    else if (sched_may_pass_on(driver_sched(j->driver), task, 0))
        strbuf_add(why, ", and other agents have failed it, too");
    else
        strbuf_add(why, ", and no other agent has what it asks for");
    strbuf_add(why, "; mend it there, or start another agent, and run again: what is done is kept");
}

bool aside_node_failed(void *job, uint32_t task, enum trace_trouble trouble, const char *place,
                       uint32_t cost, const char *text, struct strbuf *why)
{
    struct job *j = job;
    aside_count_trouble(j->agent, trouble, place, text);
    if (sched_may_pass_on(driver_sched(j->driver), task, cost))
        return true;
    explain_failure(j, task, trouble, place, text, why);
    return false;
}
