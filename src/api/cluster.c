/* weft/run.h: clusters. Submitting, what agents and runs there are, cancelling; keys. */
#include "api/inside_cluster.h"
#include "api/run_handle.h"
#include "base/mem.h"
#include "base/seal.h"
#include "base/suggest.h"
#include "session/key_file.h"
#include "session/note.h"
#include "session/place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is known of a run beyond the board: its ticket, read once, or what is left of it. */
struct known_run {
    uint64_t run;
    bool taken; /* its results were: */
    struct run_remains remains;
    struct ticket ticket;
    struct workflow *w; /* NULL: its text cannot be read */
    uint32_t parts;     /* that have joined it */
    struct client_count count;
};

/* Records that one look reads for their proofs: a fraction of a second's work of the server. */
enum { PROOFS_A_LOOK = 20000 };

/* The client speaks to the store when it is asked and not in between: a handle that lies idle costs
 * a connection. */
struct weft_cluster {
    bool broken;
    struct event_target to;
    struct remarks remarks;
    struct cluster_place place;
    struct client *client;
    ARRAY(struct known_run) known;
    struct strbuf said;
    /* of the last look: */
    struct weft_cluster_status status;
    ARRAY(struct weft_agent_info) agents;
    ARRAY(struct weft_agent_work) work;
    ARRAY(struct weft_cluster_run) runs;
    ARRAY(struct weft_agent_kept) kept;
    ARRAY(struct weft_agent_pace) paces;
    ARRAY(char *) waits;
};

/* ---- submitting ---- */

/* Nothing to do needs no cluster: no run is opened, and its number is 0. */
static bool run_submit(struct weft_run *run, struct weft_submitted *out, struct error *err)
{
    struct session *s = &run->session;
    *out = (struct weft_submitted){0};
    if (!run->on_agents || run->started || s->o.look)
        return error_set(err, ERROR_INPUT,
                         "only a run that was opened for a cluster and not "
                         "started can be submitted");
    if (!session_restore(s, err))
        return false;
    if (!s->needs.run)
        return true;
    if (!session_surround(s, err) || !run_plan_asserted(run, err))
        return false;
    session_predict(s);
    if (!remote_connect(&run->remote, s, &run->place, err) || !run_plan_on_agents(run, err) ||
        !remote_submit(&run->remote, err))
        return false;
    const struct client_submitted *in = &run->remote.submitted;
    *out = (struct weft_submitted){.run = in->run,
                                   .agents = in->agents,
                                   .shared = in->shared,
                                   .files = in->files,
                                   .copies = in->copies,
                                   .bytes = in->bytes};
    return true;
}

EXPORT bool weft_run_submit(struct weft_run *run, struct weft_submitted *out,
                            struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    call.good = run_submit(run, out, &call.err);
    return run_call_end(&call);
}

/* ---- the connection ---- */

static void cluster_forget_waits(struct weft_cluster *c)
{
    while (c->waits.n)
        free(array_pop(&c->waits));
}

/* Also after a failed opening: what is not there yet is NULL. */
static void cluster_tidy(struct weft_cluster *c)
{
    for (size_t i = 0; i < c->known.n; i++) {
        run_remains_free(&c->known.at[i].remains);
        ticket_free(&c->known.at[i].ticket);
        workflow_free(c->known.at[i].w);
    }
    array_free(&c->known);
    array_free(&c->agents);
    array_free(&c->work);
    array_free(&c->runs);
    array_free(&c->kept);
    array_free(&c->paces);
    cluster_forget_waits(c);
    array_free(&c->waits);
    strbuf_free(&c->said);
    client_close(c->client);
    place_free(&c->place);
    free(c);
}

EXPORT struct weft_cluster *weft_cluster_open(const struct weft_cluster_options *options,
                                              struct weft_error *error)
{
    struct weft_cluster *volatile opened = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        struct weft_cluster_options o = WEFT_CLUSTER_OPTIONS_INIT;
        if (api_options(&o, options, &call.err)) {
            struct weft_cluster *c = mem_new_zero(struct weft_cluster, 1);
            opened = c;
            /* the remarks point at the target, which therefore lives in the handle */
            c->to = (struct event_target){o.event, o.context};
            c->remarks = api_remarks(&c->to);
            struct place_options where = {.store = o.store, .key = o.key, .folder = o.folder};
            call.good = place_find(&c->place, &where, o.run, &call.err) &&
                        (c->client = place_client(&c->place, NULL, &c->remarks, &call.err));
        }
    }
    if (run_call_end(&call))
        return opened;
    if (opened && !call.boundary.failed)
        cluster_tidy(opened);
    return NULL;
}

EXPORT void weft_cluster_close(struct weft_cluster *c)
{
    if (c && !c->broken)
        cluster_tidy(c);
}

EXPORT const char *weft_cluster_store(const struct weft_cluster *c)
{
    return c->place.address.text;
}

EXPORT void weft_cluster_stop(struct weft_cluster *c)
{
    client_stop(c->client);
}

uint64_t *cluster_noted_runs(const char *folder, size_t *n)
{
    struct strbuf state = {0};
    strbuf_printf(&state, "%s/.weft", folder);
    uint64_t *runs = notes_list(state.at, n);
    strbuf_free(&state);
    return runs;
}

/* ---- looking ---- */

/* Neither changes: each is asked for once, however often one looks. What cannot be read is remembered as
 * such. The array may move: use the result before the next call. */
static struct known_run *cluster_know(struct weft_cluster *c, uint64_t run, bool taken)
{
    size_t at = 0;
    while (at < c->known.n && c->known.at[at].run != run)
        at++;
    if (at == c->known.n)
        array_push(&c->known, (struct known_run){.run = run});
    else if (!taken || c->known.at[at].taken) {
        struct known_run *before = &c->known.at[at];
        if (before->w && !taken) /* what joined it since */
            client_grow(c->client, run, before->ticket.id, before->w, &before->parts, NULL);
        return before;
    }
    struct known_run *k = &c->known.at[at];
    k->taken = taken;
    if (taken) {
        client_remains(c->client, run, &k->remains);
        return k;
    }
    if (client_ticket(c->client, run, &k->ticket, NULL))
        k->w = place_read_workflow(k->ticket.workflow.at, k->ticket.workflow.n, NULL);
    if (k->w)
        client_grow(c->client, run, k->ticket.id, k->w, &k->parts, NULL);
    strbuf_free(&k->ticket.workflow); /* the workflow is all that is wanted of it */
    return k;
}

/* Field by field: the public struct must not follow when the private one is arranged anew. */
static struct weft_agent_work agent_work(const struct member_work *w)
{
    return (struct weft_agent_work){.run = w->run,
                                    .policy = w->policy,
                                    .tt = w->tt,
                                    .held = w->held,
                                    .waiting = w->waiting,
                                    .local = w->local,
                                    .shared = w->shared,
                                    .running = w->running,
                                    .fetching = w->fetching,
                                    .done = w->done,
                                    .failed = w->failed,
                                    .lost = w->lost,
                                    .steals = w->steals,
                                    .failed_steals = w->failed_steals,
                                    .stolen = w->stolen,
                                    .given = w->given,
                                    .pushed = w->pushed,
                                    .recomputed = w->recomputed,
                                    .dropped = w->dropped,
                                    .fetched = w->fetched,
                                    .fetched_bytes = w->fetched_bytes,
                                    .served = w->served,
                                    .served_bytes = w->served_bytes,
                                    .hits = w->hits,
                                    .misses = w->misses,
                                    .cache_bytes = w->cache_bytes,
                                    .busy = w->busy};
}

/* Dead and silent ones, too: who looks wants to see what is missing. */
static void cluster_fill_agents(struct weft_cluster *c, uint64_t only)
{
    size_t n;
    const struct member *m = client_members(c->client, &n);
    c->agents.n = c->work.n = c->kept.n = c->paces.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct weft_agent_info a = {.node = m[i].node,
                                    .life = m[i].life,
                                    .state = m[i].state == BOARD_LEFT   ? WEFT_AGENT_LEFT
                                             : m[i].state == BOARD_DEAD ? WEFT_AGENT_DEAD
                                             : !client_is_alive(c->client, &m[i])
                                                 ? WEFT_AGENT_SILENT
                                             : m[i].state == BOARD_LEAVING ? WEFT_AGENT_LEAVING
                                             : m[i].state == BOARD_ASIDE   ? WEFT_AGENT_ASIDE
                                                                           : WEFT_AGENT_UP,
                                    .age = m[i].age,
                                    .known = m[i].text != NULL,
                                    .host = m[i].host,
                                    .address = m[i].address,
                                    .version = m[i].version,
                                    .cores = m[i].cores,
                                    .memory = m[i].memory,
                                    .started = m[i].started,
                                    .cache_limit = m[i].cache_limit,
                                    .pid = m[i].pid,
                                    .aside = m[i].aside};
        for (size_t k = 0; k < m[i].works.n; k++)
            if (!only || m[i].works.at[k].run == only) {
                array_push(&c->work, agent_work(&m[i].works.at[k]));
                a.nwork++;
            }
        array_push(&c->agents, a);
        if (a.known && client_is_alive(c->client, &m[i]))
            array_push(&c->paces, (struct weft_agent_pace){a.node, m[i].speed, m[i].load});
        if (a.known && a.state != WEFT_AGENT_DEAD)
            array_push(&c->kept, (struct weft_agent_kept){.node = a.node,
                                                          .runs = (uint32_t)m[i].kept_runs,
                                                          .bytes = m[i].kept_bytes,
                                                          .most = m[i].keep_size,
                                                          .seconds = m[i].keep_for});
    }
    /* Only now do agents point at their work: the array may have moved while it grew. */
    size_t at = 0;
    for (size_t i = 0; i < c->agents.n; i++) {
        c->agents.at[i].work = c->work.at + at;
        at += c->agents.at[i].nwork;
    }
}

static enum weft_cluster_run_state cluster_run_state(const struct board_run *r)
{
    static const enum weft_cluster_run_state states[BOARD_RUN_STATES] = {
        [BOARD_RUN_OPEN] = WEFT_CLUSTER_RUNNING,
        [BOARD_RUN_STOPPING] = WEFT_CLUSTER_STOPPING,
        [BOARD_RUN_CANCELLED] = WEFT_CLUSTER_CANCELLED,
        [BOARD_RUN_ENDED] = WEFT_CLUSTER_ENDED,
        [BOARD_RUN_COLLECTED] = WEFT_CLUSTER_COLLECTED,
        [BOARD_RUN_EXPIRED] = WEFT_CLUSTER_EXPIRED,
    };
    return r->forged || r->state >= BOARD_RUN_STATES ? WEFT_CLUSTER_FORGED : states[r->state];
}

/* Of a run whose results were taken: what its taker left on the board. A run of which nothing is left
 * has no names. */
static struct weft_cluster_run cluster_taken_run(const struct board_run *r,
                                                 const struct known_run *k)
{
    const struct run_remains *m = &k->remains;
    bool known = m->name != NULL;
    return (struct weft_cluster_run){.run = r->run,
                                     .state = cluster_run_state(r),
                                     .created = r->created,
                                     .changed = known ? r->created + m->seconds : r->changed,
                                     .workflow = m->name,
                                     .host = m->host,
                                     .folder = m->folder,
                                     .shared = m->shared,
                                     .known = known,
                                     .tasks = m->tasks,
                                     .counted = known,
                                     .proved = known,
                                     .done = m->done,
                                     .failed = m->failed,
                                     .removed = m->removed};
}

/* Counting asks the store of each run, a round trip and the proofs; `reads` is what is left of these. */
static struct weft_cluster_run cluster_open_run(struct weft_cluster *c, const struct board_run *r,
                                                struct known_run *k, uint32_t *reads)
{
    struct client_count *n = &k->count;
    bool counted = k->w && client_count(c->client, k->run, k->ticket.id, k->w, *reads, n, NULL);
    if (counted && n->proved)
        *reads -= k->w->ntasks < *reads ? k->w->ntasks : *reads;
    return (struct weft_cluster_run){.run = r->run,
                                     .state = cluster_run_state(r),
                                     .created = r->created,
                                     .changed = r->changed,
                                     .workflow = k->ticket.name,
                                     .host = k->ticket.host,
                                     .folder = k->ticket.folder,
                                     .shared = k->ticket.shared,
                                     .known = k->w != NULL,
                                     .tasks = k->w ? k->w->ntasks : 0,
                                     .before = (uint32_t)k->ticket.done.n,
                                     .counted = counted,
                                     .proved = n->proved,
                                     .done = n->is.done + n->is.skipped,
                                     .failed = n->is.failed + n->is.excused,
                                     .removed = n->is.removed,
                                     .unproved = n->forged};
}

/* A record that nobody proves says nothing, this neither. */
static bool cluster_is_taken(const struct board_run *r)
{
    return !r->forged && r->state >= BOARD_RUN_COLLECTED;
}

/* Of those to be shown: the last ones, those that go on or whose results wait before the others. */
static size_t cluster_choose_runs(struct board_run *r, size_t n, const struct weft_cluster_query *q)
{
    size_t open = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        open += !cluster_is_taken(&r[i]);
    size_t most = q->latest && !q->run ? q->latest : n;
    size_t most_taken = most > open ? most - open : 0, taken = n - open;
    for (size_t i = 0; i < n; i++) {
        bool is_taken = cluster_is_taken(&r[i]);
        size_t after = is_taken ? --taken : --open; /* of its like that follow */
        if (q->run ? r[i].run == q->run : after < (is_taken ? most_taken : most))
            r[kept++] = r[i];
    }
    return kept;
}

/* One run may be read whole; of a list each look has a budget of proofs, so that `--watch` does not keep the
 * server busy. */
static void cluster_fill_runs(struct weft_cluster *c, const struct weft_cluster_query *q)
{
    size_t n;
    uint32_t reads = q->run ? UINT32_MAX : PROOFS_A_LOOK;
    const struct board_run *all = client_runs(c->client, &n);
    struct board_run *r = mem_new(struct board_run, n + 1); /* asking for tickets looks again */
    if (n)
        memcpy(r, all, n * sizeof *r);
    c->runs.n = 0;
    n = cluster_choose_runs(r, n, q);
    for (size_t i = 0; i < n; i++) {
        bool taken = cluster_is_taken(&r[i]);
        struct known_run *k = cluster_know(c, r[i].run, taken);
        array_push(&c->runs,
                   taken ? cluster_taken_run(&r[i], k) : cluster_open_run(c, &r[i], k, &reads));
    }
    free(r);
}

/* A sentence a run, with the remedy: the first agent's that says so. */
static void cluster_fill_waits(struct weft_cluster *c)
{
    size_t n;
    const struct member *m = client_members(c->client, &n);
    cluster_forget_waits(c);
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct weft_cluster_run *r = &c->runs.at[i];
        const struct member_work *w = NULL;
        for (size_t k = 0; k < n && r->state <= WEFT_CLUSTER_STOPPING && !(w && *w->awaits); k++)
            w = client_is_alive(c->client, &m[k]) ? member_work(&m[k], r->run) : NULL;
        if (!w || !*w->awaits)
            continue;
        struct strbuf line = {0};
        strbuf_printf(&line,
                      "run %" PRIu64 " waits for '%s', which lies where it was submitted%s%s%s%s: "
                      "`weft attach %" PRIu64 "` there brings it",
                      r->run, w->awaits, r->host ? ", " : "", r->host ? r->host : "",
                      r->folder ? ":" : "", r->folder ? r->folder : "", r->run);
        array_push(&c->waits, strbuf_steal(&line));
    }
    c->status.waits = (const char *const *)c->waits.at;
    c->status.nwaits = c->waits.n;
}

/* `patience` 0 uses what the last look saw; opening looked once. */
EXPORT const struct weft_cluster_status *
weft_cluster_snapshot(struct weft_cluster *c, const struct weft_cluster_query *query,
                      struct weft_error *error)
{
    RUN_CALL(call, error, &c->broken)
    {
        struct weft_cluster_query q = WEFT_CLUSTER_QUERY_INIT;
        if (api_options(&q, query, &call.err)) {
            if (q.patience > 0)
                client_refresh(c->client, q.patience, NULL); /* else what opening saw */
            if (q.run && !client_run(c->client, q.run)) {
                client_no_such_run(c->client, q.run, &call.err);
            } else {
                double now = client_now(c->client);
                size_t all_runs;
                client_runs(c->client, &all_runs);
                cluster_fill_runs(c, &q);
                cluster_fill_agents(c, q.run); /* after the runs: they look at the board again */
                c->status = (struct weft_cluster_status){.now = now,
                                                         .agents = c->agents.at,
                                                         .nagents = c->agents.n,
                                                         .runs = c->runs.at,
                                                         .nruns = c->runs.n,
                                                         .all_runs = all_runs,
                                                         .kept = c->kept.at,
                                                         .nkept = c->kept.n,
                                                         .paces = c->paces.at,
                                                         .npaces = c->paces.n};
                const char *trouble = client_store_trouble(c->client);
                c->status.store_trouble = *trouble ? trouble : NULL;
                cluster_fill_waits(c);
                call.good = true;
            }
        }
    }
    return run_call_end(&call) ? &c->status : NULL;
}

/* ---- cancelling ---- */

/* By its name in the run's own workflow, which may differ from the file by now. */
static bool cluster_find_task(const struct workflow *w, const char *name, uint32_t *task,
                              struct error *err)
{
    *task = workflow_find_task(w, name);
    if (*task != NONE)
        return true;
    const char **names = mem_new(const char *, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        names[t] = workflow_task_name(w, t);
    const char *near = suggest_nearest(name, names, w->ntasks);
    error_set(err, ERROR_INPUT, "the run has no task '%.200s'%s%.200s%s", name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return false;
}

/* A run that has ended cannot be cancelled; one whose results wait can only be taken. */
static bool cluster_cancel(struct weft_cluster *c, uint64_t run, const char *name,
                           struct error *err)
{
    const struct board_run *r = client_run(c->client, run);
    uint32_t task = NONE;
    if (!r)
        return client_no_such_run(c->client, run, err);
    if (!r->forged && !place_is_of(&c->place, run, r->id, err))
        return false;
    if (!r->forged && r->state >= BOARD_RUN_ENDED)
        return error_set(err, ERROR_FAILED,
                         r->state == BOARD_RUN_COLLECTED
                             ? "run %" PRIu64 " has ended already, and its results were taken"
                             : "run %" PRIu64
                               " has ended already; `weft attach` brings its results",
                         run);
    if (name) {
        struct ticket ticket = {0};
        struct workflow *w = NULL;
        bool good = client_ticket(c->client, run, &ticket, err) &&
                    (w = place_read_workflow(ticket.workflow.at, ticket.workflow.n, err)) &&
                    client_grow(c->client, run, ticket.id, w, &(uint32_t){0}, err) &&
                    cluster_find_task(w, name, &task, err);
        workflow_free(w);
        ticket_free(&ticket);
        if (!good)
            return false;
    }
    strbuf_clear(&c->said);
    return client_cancel(c->client, run, task, &c->said, err);
}

EXPORT bool weft_cluster_cancel(struct weft_cluster *c, uint64_t run, const char *task,
                                const char **said, struct weft_error *error)
{
    RUN_CALL(call, error, &c->broken)
    call.good = cluster_cancel(c, run, task, &call.err);
    bool good = run_call_end(&call);
    if (said)
        *said = strbuf_text(&c->said);
    return good;
}

/* One that is gone already cannot be told anything: what became of it is said instead. */
static bool cluster_drain(struct weft_cluster *c, uint32_t node, bool now, struct error *err)
{
    size_t n;
    const struct member *members = client_members(c->client, &n);
    const struct member *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (members[i].node == node)
            found = &members[i];
    if (!found)
        return error_set(err, ERROR_INPUT, "there is no node %u; `weft status` shows who is there",
                         node);
    if (board_is_gone(found->state))
        return error_set(err, ERROR_FAILED, "node %u %s", node,
                         found->state == BOARD_LEFT ? "has left already" : "is dead already");
    strbuf_clear(&c->said);
    return client_drain(c->client, node, now, &c->said, err);
}

EXPORT bool weft_cluster_drain(struct weft_cluster *c, uint32_t node, bool now, const char **said,
                               struct weft_error *error)
{
    RUN_CALL(call, error, &c->broken)
    call.good = cluster_drain(c, node, now, &call.err);
    bool good = run_call_end(&call);
    if (said)
        *said = strbuf_text(&c->said);
    return good;
}

/* ---- keys ---- */

EXPORT char *weft_key_file(void)
{
    return key_file_standard();
}

/* The folders it stands in, each for its owner alone; those that are there stay as they are. A key in
 * the open would be worse than none. */
static bool key_make_folders(const char *path, struct error *err)
{
    char *part = mem_copy_string(path);
    bool good = true;
    for (char *slash = strchr(part + (*part == '/'), '/'); good && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            good = error_set(err, ERROR_INPUT, "%s: cannot make the folder: %s", part,
                             strerror(errno));
        *slash = '/';
    }
    free(part);
    return good;
}

EXPORT bool weft_key_make(const char *path, struct weft_error *error)
{
    API_CALL(call, error)
    call.good = key_make_folders(path, &call.err) && seal_key_make(path, &call.err);
    return api_end(&call);
}

/* The key is wiped from our memory: only its name leaves. */
EXPORT bool weft_key_name(const char *path, char name[WEFT_KEY_NAME], struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct seal_key key;
        call.good = seal_key_read(path, &key, &call.err);
        if (call.good)
            seal_key_name(&key, name);
        explicit_bzero(&key, sizeof key);
    }
    return api_end(&call);
}
