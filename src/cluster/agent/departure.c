/* Leaving: tasks end or are ended, what only we have goes to others, the board is notified. The
 * states are drawn in agent_machine.h.
 *
 * I1. Once it does not stay, nothing new starts here and no run is taken up (supply_pump(),
 *     agent_runs.c); each scheduler knows, and gives what is ready to others (job_leave()); the board
 *     says LEAVING from the next heartbeat on, so nobody counts on it.
 * I2. `handing` holds what others were asked to keep and have not answered; a link that closes
 *     takes its entries along, so waiting for it to be empty ends.
 * I3. Nothing is handed over before the ends of all tasks were handled: only then are their outputs
 *     in the depot. A tick may come between a process's end and that (job_turn()). */
#include "cluster/agent/agent_state.h"

#include "base/clock.h"
#include "base/plural.h"
#include "cluster/agent/watch.h"

enum { TAKERS = 64 }; /* agents that share what we hand over: more would not be quicker */

/* Seconds for others to take what only we have; who serves the store waits as long for the others.
 * After that somebody who stops us would have done so the hard way. */
static const double hand_over_most = 120;

/* Seconds, once tasks died with this node, for those that did not: the batch system kills them, and us,
 * a little later, and what we have must be with others by then. */
static const double survivors_most = 3;

bool agent_is_staying(const struct agent *a)
{
    return a->departure == AGENT_STAYING;
}

bool agent_change_departure(struct agent *a, enum agent_departure_event event)
{
    enum agent_departure next = agent_departure_next(a->departure, event);
    if (next == AGENT_DEPARTURES)
        return false;
    agent_trace(a, "departure: %s -> %s", agent_departure_name(a->departure),
                agent_departure_name(next));
    a->departure = next;
    return true;
}

void agent_leave(struct agent *a, bool now)
{
    if (agent_change_departure(a, AGENT_LEAVE)) {
        agent_log(a, "leaving");
        peer_at(a, a->node)->gone = clock_seconds();
        for (size_t i = 0; i < a->jobs.n; i++)
            job_leave(a->jobs.at[i]);
    }
    if (now)
        a->hands_over = false; /* of what it has not begun to */
    if (now && agent_change_departure(a, AGENT_LEAVE_NOW))
        for (size_t i = 0; i < a->jobs.n; i++)
            executor_lose_all(a->jobs.at[i]->executor);
}

void agent_end_survivors(struct agent *a)
{
    if (a->dying > 0 && clock_seconds() - a->dying > survivors_most)
        agent_leave(a, true);
}

/* ---- what only we have ---- */

/* Objects are dealt out by number: each taker gets its share of every run. One that cannot be
 * reached leaves its share to the next. */
static void hand_over_job(struct agent *a, struct job *j, const uint32_t *takers, uint32_t n)
{
    for (uint32_t o = 0; o < j->w->nobjects; o++) {
        struct link *l = NULL;
        if (!depot_has(j->depot, o))
            continue;
        for (uint32_t i = 0; i < n && !l; i++)
            l = peer_link(a, takers[(o + i) % n]);
        if (!l)
            return; /* nobody can be reached */
        strbuf_clear(&a->scratch);
        bytes_put_u64(&a->scratch, j->number);
        bytes_put_u32(&a->scratch, 1);
        bytes_put_u32(&a->scratch, o);
        bytes_put(&a->scratch, depot_digest(j->depot, o)->at, sizeof(struct digest));
        link_send(l, MESSAGE_KEEP, a->scratch.at, a->scratch.n, NULL, 0);
        array_push(&a->handing, (struct keep){j->number, o, l});
    }
}

/* What a run may still need goes to others first: they fetch it, and say when. Ended runs whose results
 * wait are woken for that, some at a time. False: there is nothing more, or nobody to give it to. */
static bool hand_over(struct agent *a)
{
    uint32_t takers[TAKERS], n = 0;
    size_t before = a->handing.n;
    for (uint32_t node = 0; node < a->peers.n && n < TAKERS; node++)
        if (node != a->node && peer_is_up(a, node) && !a->peers.at[node].leaving)
            takers[n++] = node;
    if (!n)
        return false;
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        if (j->depot && !j->handed)
            hand_over_job(a, j, takers, n);
        j->handed = true;
    }
    if (a->handing.n > before)
        agent_log(a, "%zu object%s to others", a->handing.n - before,
                  plural_word(a->handing.n - before, " goes", "s go"));
    return ended_wake_to_hand(a);
}

void agent_handed_over(struct agent *a, const struct link *l, uint64_t run, uint32_t object)
{
    for (size_t i = 0; i < a->handing.n; i++) {
        const struct keep *k = &a->handing.at[i];
        if (k->run == run && k->object == object && k->link == l)
            a->handing.at[i--] = array_pop(&a->handing);
    }
    if (!agent_is_staying(a) && !a->handing.n)
        agent_go_on_leaving(a);
}

/* ---- signing off ---- */

/* The end of it all: agent_run() returns when the loop does. */
static void departure_signed_off(void *context, bool good, const char *why)
{
    struct agent *a = context;
    agent_recorded(a, good, why);
    agent_change_departure(a, AGENT_SIGNED_OFF);
    uv_stop(&a->loop);
}

void agent_give_up_signing_off(struct agent *a)
{
    departure_signed_off(a, true, "");
}

void agent_sign_off(struct agent *a)
{
    for (size_t i = 0; i < a->jobs.n; i++) /* the last words: what died here, too */
        watch_flush(a->jobs.at[i]);
    a->signed_off = clock_seconds();
    if (agent_is_member(a))
        board_leave(a->board, a->node, a->life, departure_signed_off, a);
    else
        departure_signed_off(a, true, "");
}

/* Who serves the store is needed by the others until they have left. */
static bool is_needed_by_others(const struct agent *a)
{
    for (uint32_t node = 0; a->o->serves && node < a->peers.n; node++)
        if (node != a->node && peer_is_up(a, node))
            return true;
    return false;
}

void agent_go_on_leaving(struct agent *a)
{
    if (agent_is_staying(a) || a->departure >= AGENT_SIGNING_OFF)
        return;
    for (size_t i = 0; i < a->jobs.n; i++)
        if (executor_running(a->jobs.at[i]->executor) ||
            (gang_gives_parts(a->jobs.at[i]) && a->departure == AGENT_DRAINING) ||
            driver_ended_waiting(a->jobs.at[i]->driver))
            return; /* I3 */
    bool in_order = a->departure == AGENT_DRAINING || a->o->allocated;
    if (agent_change_departure(a, AGENT_DRAINED)) {
        a->leave_since = clock_seconds();
        a->hands_over = in_order && agent_is_member(a);
    }
    bool may_wait = clock_seconds() - a->leave_since < hand_over_most;
    bool more = may_wait && a->hands_over && agent_is_member(a) && hand_over(a);
    if (may_wait && (more || a->handing.n || is_needed_by_others(a)))
        return;
    if (agent_change_departure(a, AGENT_SIGN_OFF))
        agent_sign_off(a);
}
