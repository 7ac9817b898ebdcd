/* The board: joining, heartbeats, and what their answers show.
 *
 * I1. At most one heartbeat is open, and none is sent before the agent has a number and a life.
 * I2. Nobody is declared dead by an agent that could not see the board itself: ages count only
 *     after a whole lease of answered heartbeats (`steady`).
 * I4. Once its lease may be over, others may have its tasks: until it knows, it puts no results where they
 *     look (agent_is_certain(), job_holds()).
 * I3. With the first answer the agent knows whether it is at the right place; before that it is
 *     ready for nobody. */
#include "cluster/agent/agent_state.h"

#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <unistd.h>

enum { RUNS_SAID = 64 }; /* some 600 bytes each; a board takes 64 KB of a member */

/* The one place where it changes. False: the event means nothing in this state. */
static bool agent_change_membership(struct agent *a, enum agent_membership_event event)
{
    enum agent_membership next = agent_membership_next(a->membership, event);
    if (next == AGENT_MEMBERSHIPS)
        return false;
    agent_trace(a, "membership: %s -> %s", agent_membership_name(a->membership),
                agent_membership_name(next));
    a->membership = next;
    return true;
}

bool agent_is_member(const struct agent *a)
{
    return a->membership == AGENT_NEW || a->membership == AGENT_MEMBER;
}

bool agent_is_certain(const struct agent *a)
{
    return agent_is_member(a) && clock_seconds() - a->certain < a->lease;
}

bool agent_has_seen_runs(const struct agent *a)
{
    return a->membership >= AGENT_MEMBER;
}

/* Not of all, should there be hundreds: the text has a limit, and is in everybody's view. Those that do
 * something first; those that were closed last. */
static void describe_runs(struct agent *a, struct json_writer *out)
{
    struct member_work work;
    uint32_t said = 0;
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < a->jobs.n && said < RUNS_SAID; i++) {
            if (job_is_idle(a->jobs.at[i]) != (turn == 1))
                continue;
            job_work(a->jobs.at[i], &work);
            member_work_json(&work, out);
            said++;
        }
    for (size_t i = a->past.n; i-- && said < RUNS_SAID;)
        if (!agent_job(a, a->past.at[i].run)) {
            member_work_json(&a->past.at[i], out);
            said++;
        }
}

/* What it says of itself, sealed: the board's other readers have the key, the store has not. */
static void describe_agent(struct agent *a, struct strbuf *sealed)
{
    struct strbuf text = {0};
    struct json_writer j;
    double bytes;
    json_write_start(&j, &text, false);
    json_write_object(&j);
    json_put_string(&j, "host", a->o->host);
    json_put_string(&j, "address", a->address);
    json_put_integer(&j, "cores", a->o->cores);
    json_put_number(&j, "memory", a->memory_now);
    json_put_number(&j, "speed", a->speed);
    json_put_number(&j, "load", a->load);
    json_put_string(&j, "has", a->o->has ? a->o->has : "");
    json_put_string(&j, "resources", a->o->resources ? a->o->resources : "");
    if (a->aside.is)
        json_put_string(&j, "aside", a->aside.why);
    json_put_string(&j, "version", WEFT_VERSION);
    json_put_integer(&j, "pid", getpid());
    json_put_number(&j, "started", a->started);
    json_put_number(&j, "cache_limit", a->o->cache > 0 ? a->o->cache : NAN);
    json_put_integer(&j, "kept_runs", ended_count(a, &bytes));
    json_put_number(&j, "kept_bytes", bytes);
    json_put_number(&j, "keep_for", a->keep_for);
    json_put_number(&j, "keep_size", a->keep_size);
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->store_trouble[0]) {
            json_put_string(&j, "store_trouble", a->jobs.at[i]->store_trouble);
            break;
        }
    json_put_integer(&j, "jobs", (int64_t)a->jobs.n);
    if (a->ends > 0) {
        json_put_number(&j, "left", a->ends - clock_seconds());
        json_put_number(&j, "lasts", a->lasts);
    }
    json_write_key(&j, "runs");
    json_write_array(&j);
    describe_runs(a, &j);
    json_write_end_array(&j);
    json_write_end_object(&j);
    charter_seal(&a->charter, "member", charter_member(a->node, a->life), text.at, text.n, sealed);
    strbuf_free(&text);
}

/* ---- joining ---- */

/* The board gave us a number and a life. The number is the same as before unless we were away so
 * long that another has it: then what we held is others' by now, and the jobs begin anew. */
static void membership_joined(void *context, bool good, uint32_t node, uint32_t life,
                              const char *why)
{
    struct agent *a = context;
    if (!good) {
        error_set(&a->error, ERROR_FAILED, "cannot join the cluster: %s", why);
        uv_stop(&a->loop);
        return;
    }
    if (a->membership == AGENT_REJOINING && node != a->node) { /* another took our number */
        agent_log(a, "this agent is node %u now", node);
        while (a->jobs.n) {
            ended_add(a, array_last(&a->jobs), true); /* unless the board shows that it goes on */
            agent_close_job(a, a->jobs.n - 1, false);
        }
    }
    char name[LINK_NAME];
    a->node = node;
    a->life = life;
    a->attempt = a->asked;
    links_rename(a->links, link_agent_name(node, life, name));
    agent_change_membership(a, AGENT_JOINED);
    peer_at(a, node); /* the list covers our own number too */
    a->steady = a->answered = clock_seconds();
    a->certain = a->sent;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_rejoined(a->jobs.at[i]);
    agent_send_heartbeat(a);
}

/* Without a text: that is sealed for the number and the life which this gives, and goes with the first
 * heartbeat. */
void agent_join(struct agent *a)
{
    a->sent = clock_seconds();
    seal_random(&a->asked,
                sizeof a->asked); /* tells a request that is sent again from another one */
    board_join(a->board,
               &(struct board_joining){
                   .identity = a->identity, .attempt = a->asked, .lease = a->lease, .text = ""},
               membership_joined, a);
}

/* ---- heartbeats ---- */

static void membership_restored(void *context, bool good, const void *data, size_t n,
                                const char *why)
{
    (void)data;
    (void)n;
    agent_recorded(context, good, why);
}

/* The first look at the others: with another key than theirs this agent is at the wrong place. */
static bool is_welcome(struct agent *a, const struct board_view *view)
{
    for (size_t i = 0; i < view->nmembers; i++) {
        const struct board_member *m = &view->members[i];
        if (m->node == a->node || board_is_gone(m->state) || m->age > a->lease ||
            m->node >= a->peers.n || !a->peers.at[m->node].stranger)
            continue;
        char name[9];
        seal_key_name(&a->o->key, name);
        error_set(&a->error, ERROR_FAILED,
                  "the agents at %s have another cluster key than this one (%s); --key names the "
                  "key's file",
                  a->o->store->text, name);
        return false;
    }
    return true;
}

/* False: this is another cluster than the one that was joined. One whose id was removed or written over
 * gets it back from whoever knows it. */
static bool is_same_cluster(struct agent *a, const struct board_view *view)
{
    uint8_t id[SEAL_ID];
    char was[CHARTER_NAME], is[CHARTER_NAME];
    switch (charter_standing(&a->charter, a->o->store, view, id)) {
    case CHARTER_STANDS:
        a->charter_put_back = false;
        break;
    case CHARTER_GONE:
        if (!a->charter_put_back)
            agent_log(
                a, "the cluster's id is gone from the store: it was emptied, or somebody without "
                   "the key wrote to it; it is put back");
        a->charter_put_back = true;
        a->refused.n = a->doubted.n = a->past.n = 0; /* of runs that are gone */
        board_charter(a->board,
                      &(struct board_charter){.offer = a->charter.sealed.at,
                                              .noffer = a->charter.sealed.n,
                                              .instead = view->charter,
                                              .ninstead = view->ncharter,
                                              .restore = true,
                                              .last_run = a->last_run},
                      membership_restored, a);
        break;
    case CHARTER_CHANGED:
        charter_name(a->charter.id, was);
        charter_name(id, is);
        error_set(
            &a->error, ERROR_FAILED,
            "the cluster at %s has another id now (%s, was %s): its store was emptied or put back "
            "to an earlier state, and another cluster was founded there; what this agent did for "
            "the old one stays in %s, and started again it joins the new one",
            a->o->store->text, is, was, a->o->state);
        return false;
    }
    return true;
}

/* What the answer to a heartbeat shows: members, runs, and whether we are still thought to live. */
static void membership_take_view(struct agent *a, const struct board_view *view, const char *why)
{
    double now = clock_seconds();
    if (!view) {
        agent_log(a, "the board: %s", why);
        return;
    }
    /* while the store was away nobody could beat: ages say nothing until all had time to (I2) */
    if (now - a->answered > a->lease / 2)
        a->steady = now;
    a->answered = now;
    a->server_offset = view->now - view->arrived;
    if (!is_same_cluster(a, view)) {
        if (agent_change_departure(a, AGENT_REFUSED))
            agent_sign_off(a);
        return;
    }
    bool alive = false;
    for (size_t i = 0; i < view->nmembers; i++) {
        const struct board_member *m = &view->members[i];
        if (m->node == a->node)
            alive = m->life == a->life && m->attempt == a->attempt && !board_is_gone(m->state);
        peer_update(a, m, now - a->steady > a->lease);
    }
    for (uint32_t node = (uint32_t)view->nmembers; node < a->peers.n; node++)
        peer_vanished(a, node);
    if (!alive && a->departure < AGENT_SIGNING_OFF) {
        agent_log(a, "others took this agent for dead; joining again");
        if (agent_change_membership(a, AGENT_EXPIRED))
            agent_join(a);
        return;
    }
    if (alive)
        a->certain = a->sent;
    if (a->membership == AGENT_NEW) { /* I3 */
        if (!is_welcome(a, view)) {
            if (agent_change_departure(a, AGENT_REFUSED))
                agent_sign_off(a);
            return;
        }
        if (a->o->ready)
            a->o->ready(a->o->context, a->node, a->address);
        agent_change_membership(a, AGENT_WELCOMED);
    }
    ended_begin_view(a);
    for (size_t i = 0; i < view->nruns; i++)
        agent_see_run(a, &view->runs[i]);
    ended_end_view(a);
    agent_drop_lost_runs(a, view);
}

/* The answer is of the moment in which the board saw the heartbeat. Who said meanwhile that there is news may
 * mean what came after it. */
static void membership_seen(void *context, const struct board_view *view, const char *why)
{
    struct agent *a = context;
    bool again = a->look_again;
    a->heartbeat_open = a->look_again = false;
    membership_take_view(a, view, why);
    if (again)
        agent_send_heartbeat(a);
}

void agent_look(struct agent *a)
{
    a->look_again = a->heartbeat_open;
    agent_send_heartbeat(a);
}

void agent_send_heartbeat(struct agent *a)
{
    if (!agent_is_member(a) || a->heartbeat_open || a->departure >= AGENT_SIGNING_OFF)
        return;
    struct strbuf text = {0};
    describe_agent(a, &text);
    a->heartbeat_open = true;
    a->sent = clock_seconds();
    board_heartbeat(a->board,
                    &(struct board_pulse){.node = a->node,
                                          .life = a->life,
                                          .attempt = a->attempt,
                                          .state = !agent_is_staying(a) ? BOARD_LEAVING
                                                   : a->aside.is        ? BOARD_ASIDE
                                                                        : BOARD_UP,
                                          .text = text.at,
                                          .n = text.n},
                    membership_seen, a);
    strbuf_free(&text);
}
