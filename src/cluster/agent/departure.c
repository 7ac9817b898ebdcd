/* Leaving: tasks end or are ended, what only we have goes to others, the board is notified. The
 * states are drawn in agent_machine.h.
 *
 * I1. Once it does not stay, nothing new starts here and no run is taken up (supply_pump(),
 *     agent_runs.c); each scheduler knows, and gives what is ready to others (job_leave()); the board
 *     says LEAVING from the next heartbeat on, so nobody counts on it.
 * I2. `handing` holds what others are to keep. An entry goes when somebody keeps it, or when it came to
 *     nothing too often; whoever refuses, or whose link closes, is asked again a little later, or another
 *     is. So waiting for it to be empty ends, and what is left behind is told.
 * I3. Nothing is handed over before the ends of all tasks were handled: only then are their outputs
 *     in the depot. A tick may come between a process's end and that (job_turn()). */
#include "cluster/agent/agent_state.h"

#include "base/clock.h"
#include "base/plural.h"
#include "cluster/agent/watch.h"

enum {
    TAKERS = 64, /* agents that share what we hand over: more would not be quicker */
    HANDING_TRIES =
        3, /* for an object that is not taken, at least; once each, if there are more takers */
};

/* Seconds until an object that was not taken is offered again: longer than refused_pause of peer.c. */
static const double handing_pause = 0.3;

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

/* Each of its objects is to be kept by somebody. */
static void handing_add_job(struct agent *a, const struct job *j)
{
    for (uint32_t o = 0; o < j->w->nobjects; o++)
        if (depot_has(j->depot, o))
            array_push(&a->handing, (struct handing){.run = j->number, .object = o});
}

/* Nobody keeps it yet. */
static void handing_refused(struct handing *h)
{
    h->link = NULL;
    h->refused++;
    h->again = clock_seconds() + handing_pause;
}

/* Objects are dealt out by number: each taker gets its share of every run. One that cannot be
 * reached, or has refused it, leaves its share to the next. */
static void handing_ask(struct agent *a, struct job *j, struct handing *h, const uint32_t *takers,
                        uint32_t n)
{
    struct link *l = NULL;
    for (uint32_t i = 0; i < n && !l; i++)
        l = peer_link(a, takers[(h->object + h->refused + i) % n]);
    if (!l) {
        handing_refused(h);
        return;
    }
    strbuf_clear(&a->scratch);
    bytes_put_u64(&a->scratch, j->number);
    bytes_put_u32(&a->scratch, 1);
    bytes_put_u32(&a->scratch, h->object);
    bytes_put(&a->scratch, depot_digest(j->depot, h->object)->at, sizeof(struct digest));
    h->link = l;
    link_send(l, MESSAGE_KEEP, a->scratch.at, a->scratch.n, NULL, 0);
}

/* Ask for all that nobody is asked to keep now. What came to nothing too often is left behind: whoever
 * needs it computes it again. `n` 0: there is nobody who could be asked. */
static void handing_go_on(struct agent *a, const uint32_t *takers, uint32_t n)
{
    size_t left = 0;
    double now = clock_seconds();
    uint32_t most = n < HANDING_TRIES ? HANDING_TRIES : n;
    for (size_t i = 0; i < a->handing.n; i++) {
        struct handing *h = &a->handing.at[i];
        if (h->link || (n && h->again > now))
            continue;
        struct job *j = agent_job(a, h->run);
        bool here = j && j->depot && depot_has(j->depot, h->object);
        if (here && n && h->refused < most) {
            handing_ask(a, j, h, takers, n);
        } else {
            left += here;
            a->handing.at[i--] = array_pop(&a->handing);
        }
    }
    if (left)
        agent_log(a, "%zu object%s left behind: no other agent takes %s%s%s", left,
                  plural_word(left, " is", "s are"), plural_word(left, "it", "them"),
                  a->refusal[0] ? ": " : "", a->refusal);
}

/* What a run may still need goes to others first: they fetch it, and say when. Ended runs whose results
 * wait are woken for that, some at a time. False: there is nothing more, or nobody to give it to. */
static bool hand_over(struct agent *a)
{
    uint32_t takers[TAKERS] = {0}, n = 0;
    size_t before = a->handing.n;
    for (uint32_t node = 0; node < a->peers.n && n < TAKERS; node++)
        if (node != a->node && peer_is_up(a, node) && !a->peers.at[node].leaving)
            takers[n++] = node;
    for (size_t i = 0; n && i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        if (j->depot && !j->handed)
            handing_add_job(a, j);
        j->handed = true;
    }
    if (a->handing.n > before)
        agent_log(a, "%zu object%s to others", a->handing.n - before,
                  plural_word(a->handing.n - before, " goes", "s go"));
    handing_go_on(a, takers, n);
    return n && ended_wake_to_hand(a);
}

void agent_handed_over(struct agent *a, const struct link *l, uint64_t run, uint32_t object,
                       const char *why)
{
    for (size_t i = 0; i < a->handing.n; i++) {
        struct handing *h = &a->handing.at[i];
        if (h->run != run || h->object != object || h->link != l)
            continue;
        if (why) {
            snprintf(a->refusal, sizeof a->refusal, "%s", why);
            handing_refused(h);
        } else {
            a->handing.at[i--] = array_pop(&a->handing);
        }
    }
    if (!agent_is_staying(a) && !a->handing.n)
        agent_go_on_leaving(a);
}

void agent_handing_closed(struct agent *a, const struct link *l)
{
    for (size_t i = 0; i < a->handing.n; i++)
        if (a->handing.at[i].link == l)
            handing_refused(&a->handing.at[i]);
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
    bool more = false;
    if (may_wait && a->hands_over && agent_is_member(a))
        more = hand_over(a);
    else
        handing_go_on(a, NULL, 0);
    if (may_wait && (more || a->handing.n || is_needed_by_others(a)))
        return;
    if (agent_change_departure(a, AGENT_SIGN_OFF))
        agent_sign_off(a);
}
