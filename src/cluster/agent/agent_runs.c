/* Runs on the board become jobs here: their text is asked for, read, and worked on until they have
 * ended. Then they rest (ended.h).
 *
 * I1. A run is at most once among `loading` and `jobs`; one that cannot be worked on here is among
 *     `refused`, and not asked for again.
 * I2. Messages for a run that is being read wait in `early` and are answered, one way or the other,
 *     when it has been.
 * I4. A job whose run the board does not know any more, or whose number it gives to another run, is
 *     closed: nothing would ever come of it.
 * I3. Nothing is done because the board says so: a state counts when it is proved (charter.h), of the
 *     run that is meant (its id), and not behind what this agent remembers of it (spent.h). What is
 *     not believed is told once a run. */
#include "cluster/agent/agent_state.h"

#include "base/clock.h"
#include "cluster/wire/remains.h"

#include <stdio.h>
#include <string.h>

enum { REFUSED_MOST = 64 }; /* that are remembered */

/* O(jobs): an agent has few runs at once. */
struct job *agent_job(struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->number == run)
            return a->jobs.at[i];
    return NULL;
}

static struct loading *find_loading(const struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->loading.n; i++)
        if (a->loading.at[i]->run == run)
            return a->loading.at[i];
    return NULL;
}

bool agent_is_loading(const struct agent *a, uint64_t run)
{
    return find_loading(a, run) != NULL;
}

static const struct refused_run *find_refused(const struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->refused.n; i++)
        if (a->refused.at[i].run == run)
            return &a->refused.at[i];
    return NULL;
}

bool agent_tell_refused(struct agent *a, struct link *l, uint64_t run)
{
    const struct refused_run *r = find_refused(a, run);
    if (!r)
        return false;
    strbuf_clear(&a->scratch);
    bytes_put_u64(&a->scratch, run);
    bytes_put_u32(&a->scratch, a->node);
    bytes_put_text(&a->scratch, r->why, strlen(r->why));
    link_send(l, MESSAGE_REFUSED, a->scratch.at, a->scratch.n, NULL, 0);
    return true;
}

/* For good: others have its tasks from now on. */
static void refuse_run(struct agent *a, uint64_t run, const char *why)
{
    if (a->refused.n == REFUSED_MOST) { /* the oldest is over long since */
        memmove(a->refused.at, a->refused.at + 1, (REFUSED_MOST - 1) * sizeof *a->refused.at);
        a->refused.n--;
    }
    struct refused_run *r = array_add(&a->refused);
    r->run = run;
    snprintf(r->why, sizeof r->why, "%.399s", why);
    for (uint32_t node = 0; node < a->peers.n; node++) {
        struct link *l = peer_link(a, node);
        if (l)
            agent_tell_refused(a, l, run);
    }
}

/* ---- loading ---- */

/* Messages that came before it was there: delivered, or refused (`j` NULL). */
static void deliver_early(struct agent *a, uint64_t run, struct job *j)
{
    for (size_t i = 0; j && i < a->early.n; i++) {
        const struct early *e = &a->early.at[i];
        bool malformed = false; /* it came from one that is trusted with the key: passed over */
        if (e->run == run && e->link)
            job_message(j, e->link, e->kind, e->data, e->n, &malformed);
    }
    for (size_t i = a->early.n; i--;) {
        struct early e = a->early.at[i];
        if (e.run != run)
            continue;
        a->early.at[i] = array_pop(&a->early);
        if (!j && e.link && e.kind == MESSAGE_KEEP)
            agent_refuse_keep(e.link, e.data, e.n);
        if (!j && e.link && e.kind == MESSAGE_FETCH)
            agent_refuse_fetch(e.link, e.data, e.n);
        if (!j && e.link)
            agent_tell_refused(a, e.link, run);
        free(e.data);
    }
}

/* One that leaves takes nothing up, but what it has to hand over. */
static bool may_open(const struct agent *a, const struct loading *l)
{
    return agent_is_staying(a) ||
           (a->departure == AGENT_HANDING_OVER && l->opened && l->state == BOARD_RUN_ENDED);
}

void loading_free(struct loading *l)
{
    for (size_t i = 0; i < l->parts.n; i++)
        strbuf_free(&l->parts.at[i]);
    array_free(&l->parts);
    strbuf_wipe(&l->ticket); /* it may have secrets */
    free(l);
}

/* All that the board has of it is here. A run may have been closed, or the agent begun to leave, since it
 * was asked for. */
static void loading_end(struct loading *l, bool good, const char *why)
{
    struct agent *a = l->agent;
    bool again = false; /* the store is away: it is tried when the board shows the run again */
    for (size_t i = 0; i < a->loading.n; i++)
        if (a->loading.at[i] == l)
            a->loading.at[i--] = array_pop(&a->loading);
    if (!good)
        agent_log(a, "run %llu: %s", (unsigned long long)l->run, why);
    bool opens = good && may_open(a, l) && !agent_job(a, l->run);
    struct error err = {0};
    struct job *j = opens ? job_open(a, l, &again, &err) : NULL;
    if (j) {
        array_push(&a->jobs, j);
        share_joins(&a->shares, &j->supply.share, j->ticket.priority_of_run);
        if (l->opened)
            job_board_state(j, l->state);
    } else if (opens && !again) {
        refuse_run(a, l->run, err.text);
    }
    deliver_early(a, l->run, j);
    loading_free(l);
}

/* One after the other, until there is none. */
static void loading_got_part(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct loading *l = context;
    if (!good || !n) {
        loading_end(l, good, why);
        return;
    }
    array_push(&l->parts, (struct strbuf){0});
    strbuf_add_bytes(&l->parts.at[l->parts.n - 1], data, n);
    board_run_part(l->agent->board, l->run, (uint32_t)l->parts.n, loading_got_part, l);
}

/* The board's answer: the sealed ticket. It may be large: it is unsealed where it came in. */
static void loading_got_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct loading *l = context;
    if (!good) {
        loading_end(l, false, why);
        return;
    }
    const struct charter *charter = &l->agent->charter;
    if (!charter_unseal(charter, "ticket", l->run, data, n, &l->ticket)) {
        struct run_remains left = {0}; /* what stands there when its results were taken */
        l->is_over = run_remains_unseal(&left, charter, l->run, data, n);
        run_remains_free(&left);
    }
    board_run_part(l->agent->board, l->run, 0, loading_got_part, l);
}

/* Unless it is here, on its way, refused, or not ours to work on. Of one that is on its way the board's word
 * is kept until it is here: it was asked for early, and has been opened since. */
static void agent_load(struct agent *a, struct loading run)
{
    struct loading *known = find_loading(a, run.run);
    if (known && run.opened) {
        known->opened = true;
        known->state = run.state;
        known->created = run.created;
        memcpy(known->id, run.id, sizeof known->id);
    }
    if (known || agent_job(a, run.run) || find_refused(a, run.run) || !may_open(a, &run) ||
        (a->o->only && a->o->only != run.run))
        return;
    a->last_run = run.run > a->last_run ? run.run : a->last_run;
    struct loading *l = mem_new(struct loading, 1);
    *l = run;
    l->agent = a;
    array_push(&a->loading, l);
    board_run_text(a->board, run.run, loading_got_text, l);
}

void agent_load_early(struct agent *a, uint64_t run)
{
    if (ended_run(a, run))
        return; /* who wants something of it says what */
    agent_load(a, (struct loading){.run = run, .created = a->server_offset + clock_seconds()});
}

bool agent_wake_run(struct agent *a, uint64_t run)
{
    const struct ended_run *e = ended_run(a, run);
    if (!e || !e->on_board)
        return false;
    struct loading l = {
        .run = run, .created = e->created, .opened = true, .state = BOARD_RUN_ENDED};
    memcpy(l.id, e->id, sizeof l.id);
    agent_load(a, l);
    return true;
}

/* ---- what the board shows ---- */

/* What was to be handed over of it is not waited for any more. The order of jobs is kept: the
 * oldest run has its turn first. */
void agent_close_job(struct agent *a, size_t at, bool remove_data)
{
    struct job *j = a->jobs.at[at];
    for (size_t i = 0; i < a->handing.n; i++)
        if (a->handing.at[i].run == j->number)
            a->handing.at[i--] = array_pop(&a->handing);
    memmove(&a->jobs.at[at], &a->jobs.at[at + 1], (a->jobs.n - at - 1) * sizeof *a->jobs.at);
    a->jobs.n--;
    share_leaves(&a->shares, &j->supply.share);
    job_close(j, remove_data);
}

/* I4. Its tasks are ended; its data stays, since somebody who cannot know the key may have deleted the
 * record, and goes by age. */
static void close_lost_job(struct agent *a, size_t at)
{
    struct job *j = a->jobs.at[at];
    agent_log(
        a,
        "run %llu: the store does not know it any more: it lost its data, or somebody deleted "
        "it there; what runs of it is ended here",
        (unsigned long long)j->number);
    a->only_collected |= a->o->only == j->number;
    ended_add(a, j, true);
    agent_close_job(a, at, false);
}

/* Both are in the order of numbers; jobs need not be. */
static bool view_has_run(const struct board_view *view, const struct job *j)
{
    size_t low = 0, high = view->nruns;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (view->runs[middle].run < j->number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->nruns && view->runs[low].run == j->number;
}

void agent_drop_lost_runs(struct agent *a, const struct board_view *view)
{
    for (size_t i = 0; i < a->jobs.n; i++)
        if (job_is_scheduling(a->jobs.at[i]) && a->jobs.at[i]->state < JOB_ENDED &&
            !view_has_run(view, a->jobs.at[i]))
            close_lost_job(a, i--);
}

/* ---- what is believed ---- */

/* Once a run. */
static void doubt_run(struct agent *a, uint64_t run, const char *why)
{
    for (size_t i = 0; i < a->doubted.n; i++)
        if (a->doubted.at[i] == run)
            return;
    array_push(&a->doubted, run);
    agent_log(a, "run %llu: %s", (unsigned long long)run, why);
}

void agent_set_run_state(struct agent *a, const struct job *j, enum board_run_state state)
{
    struct board_change change = charter_change(&a->charter, j->number, j->ticket.id, state);
    board_run_state(a->board, &change, agent_recorded, a);
}

/* The record of a run that is worked on here was written by somebody who has not the key: what we know
 * of it takes its place, unless somebody else has put it right. */
static void restore_run(struct agent *a, const struct job *j, const struct board_run *forged)
{
    const struct ended_run *e = j ? NULL : ended_run(a, forged->run);
    static const enum board_run_state states[JOB_STATES] = {
        [JOB_OPEN] = BOARD_RUN_OPEN,
        [JOB_STOPPING] = BOARD_RUN_STOPPING,
        [JOB_CANCELLED] = BOARD_RUN_CANCELLED,
        [JOB_ENDED] = BOARD_RUN_ENDED,
    };
    if (j ? !job_is_scheduling(j) : !e || !e->here || e->expiring)
        return;
    struct board_change change =
        j ? charter_change(&a->charter, j->number, j->ticket.id, states[j->state])
          : charter_change(&a->charter, e->run, e->id, BOARD_RUN_ENDED);
    change.over = forged;
    board_run_state(a->board, &change, agent_recorded, a);
}

/* I3. The state that counts, in *state. */
static bool believe_run(struct agent *a, const struct job *j, const struct board_run *r,
                        enum board_run_state *state)
{
    struct error err = {0};
    if (!charter_proves(&a->charter, r)) {
        doubt_run(
            a, r->run,
            "what the board says of it was written by nobody who has the cluster's key; it is "
            "not believed");
        restore_run(a, j, r);
        return false;
    }
    enum board_run_state before = spent_state(&a->spent, r->id);
    if (before > r->state)
        doubt_run(
            a, r->run,
            "it had come further before than the board says now: somebody wrote to the store, or "
            "it was put back to an earlier state; nothing of it runs again");
    *state = before > r->state ? before : (enum board_run_state)r->state;
    if (r->state > BOARD_RUN_OPEN && !spent_note(&a->spent, r->id, r->state, &err))
        agent_log(a, "%s", err.text);
    return true;
}

/* Its results were taken, or it has expired. */
static void run_is_over(struct agent *a, const struct job *j, const struct board_run *r,
                        enum board_run_state state)
{
    if (j && state == BOARD_RUN_COLLECTED)
        agent_log(a, "run %llu: its results were taken; its data goes", (unsigned long long)r->run);
    for (size_t i = 0; j && i < a->jobs.n; i++)
        if (a->jobs.at[i] == j) {
            agent_close_job(a, i, true);
            break;
        }
    ended_drop(a, r->run, r->id);
    a->only_collected |= a->o->only == r->run;
}

/* The number's job is of another run: the store lost its data, and gave the number again (I4). */
static bool is_of_another(struct agent *a, const struct job *j, const struct board_run *r)
{
    if (!j || memcmp(j->ticket.id, r->id, sizeof r->id) == 0)
        return false;
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i] == j) {
            close_lost_job(a, i);
            break;
        }
    return true;
}

void agent_see_run(struct agent *a, const struct board_run *r)
{
    struct job *j = agent_job(a, r->run);
    enum board_run_state state;
    if (!believe_run(a, j, r, &state))
        return;
    if (is_of_another(a, j, r))
        j = NULL;
    a->last_run = r->run > a->last_run ? r->run : a->last_run;
    if (state >= BOARD_RUN_COLLECTED) {
        run_is_over(a, j, r, state);
    } else if (state == BOARD_RUN_ENDED && !j) { /* it rests: who wants something of it asks */
        ended_see(a, r);
    } else if (!j) {
        struct loading run = {.run = r->run, .created = r->created, .opened = true, .state = state};
        memcpy(run.id, r->id, sizeof run.id);
        ended_not(a, r);
        agent_load(a, run);
    } else {
        if (j->state ==
            JOB_UNOPENED) /* it was loaded before it was opened: now its time is known */
            driver_set_began(j->driver, r->created - a->server_offset);
        if (state == BOARD_RUN_ENDED)
            ended_see(a, r);
        job_board_state(j, state);
    }
}
