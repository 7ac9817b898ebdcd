/* Handing a run in: the ticket on the board, tasks in the store, inputs to agents, and only then
 * the run is opened. A submission is a list of stages (submit_stages), each begun, waited for and
 * ended; nothing in it blocks but opening the run's store.
 *
 * Invariants:
 *   I1. A run is opened in the last stage only. A submitter that dies or is stopped before leaves
 *       nothing that runs: a ticket, and perhaps files, that `weft clean` finds.
 *   I2. While `asked`, the board has the address of this submission: it is not freed before the
 *       answer has come or the board is closed.
 *   I3. Tasks that are done are completed in the store before the run is opened: no agent ever sees
 *       one of them ready. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"
#include "cluster/client/stage_in.h"
#include "base/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUBMIT_CHUNK = 4096,                /* operations handed to the store at once */
    SUBMIT_PENDING = 64 * SUBMIT_CHUNK, /* unanswered: more would only fill buffers */
};
static const double SUBMIT_LOOKING = 30, SUBMIT_CONNECTING = 10, SUBMIT_PROBING = 5; /* seconds */
static const double SUBMIT_PATIENT = 1e12; /* only an answer or a stop ends it */

struct client_submit {
    struct client *c;
    struct client_work work;
    struct client_submitted out;
    struct error error;
    size_t stage;           /* of submit_stages; their number: over */
    double began, deadline; /* of the stage, clock_seconds() */
    uint64_t run;           /* 0: not numbered yet */
    uint8_t id[SEAL_ID];

    bool asked;         /* a request to the board is on its way, with this as its context */
    bool answered_good; /* the last one */
    char why[256];      /* not */

    ARRAY(uint32_t) nodes;             /* agents that get tasks */
    ARRAY(struct capacity) capacities; /* and what each has */
    uint32_t *home;                    /* per task; NONE: it is done */

    uint64_t mark; /* of the probe */
    char *probe;   /* its file; NULL: none */
    uint32_t probed, seen;

    uint64_t put_next; /* what the store is given next: see submit_task_op() */
    struct stage_in *stage_in;
    uint32_t copy_next;
};

/* ---- who ---- */

static bool submit_is_in_group(const char *group, const char *host)
{
    size_t n = strlen(host);
    for (const char *at = group; at && *at;) {
        size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, host, n) == 0)
            return true;
        at += length;
        at += *at == ',';
    }
    return false;
}

/* Those in this state that can be reached and are in the group. How many there are; `why` one of them
 * cannot be. */
static uint32_t submit_add_agents(struct client_submit *s, enum board_state state, const char **why)
{
    struct client *c = s->c;
    size_t n;
    uint32_t living = 0;
    const struct member *m = client_members(c, &n);
    for (size_t i = 0; i < n; i++) {
        if (!client_is_alive(c, &m[i]) || m[i].state != state)
            continue;
        living++;
        struct client_peer *p = client_peer(c, m[i].node);
        if (!p || !p->open) {
            *why = p && p->why[0] ? p->why : "no answer";
            continue;
        }
        if (!s->work.group || submit_is_in_group(s->work.group, m[i].host)) {
            array_push(&s->nodes, m[i].node);
            array_push(&s->capacities, member_capacity(&m[i], s->work.workflow));
        }
    }
    return living;
}

/* Those that live, stay, can be reached and are in the group; those that are set aside when there are no
 * others. The error says which of these was missing. */
static bool submit_choose_agents(struct client_submit *s, struct error *err)
{
    struct client *c = s->c;
    const char *why = "";
    uint32_t living = submit_add_agents(s, BOARD_UP, &why);
    if (!s->nodes.n)
        living += submit_add_agents(s, BOARD_ASIDE, &why);
    s->out.agents = (uint32_t)s->nodes.n;
    if (s->nodes.n)
        return true;
    if (!living)
        return error_set(err, ERROR_FAILED,
                         "no agent is up at %s; `weft agent --store %s` on each machine starts one",
                         c->o.address->text, c->o.address->text);
    if (why[0])
        return error_set(err, ERROR_FAILED,
                         "no agent at %s answers (%u should): %s; `weft status` shows them",
                         c->o.address->text, living, why);
    return error_set(err, ERROR_INPUT, "no agent is on '%s'; `weft status` lists them",
                     s->work.group);
}

/* ---- do all agents see our folder? ---- */

/* A file with a random content, for which every agent is asked. */
static bool submit_begin_probe(struct client_submit *s, struct error *err)
{
    struct strbuf path = {0}, message = {0};
    struct error unwritten = {0};
    char folder[4096], token[33];
    uint8_t random[24];
    (void)err; /* a probe that cannot be written is a folder that is not shared */
    if (s->work.shared != CLIENT_SHARED_LOOK || !realpath(s->work.state, folder))
        return true;
    seal_random(random, sizeof random);
    for (int i = 0; i < 16; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    memcpy(&s->mark, random + 16, 8);
    strbuf_printf(&path, "%s/probe-%.8s", folder, token);
    if (file_write(path.at, token, 32, &unwritten)) {
        bytes_put_u64(&message, s->mark);
        bytes_put_text(&message, path.at, path.n);
        bytes_put_text(&message, token, 32);
        for (size_t i = 0; i < s->nodes.n; i++)
            link_send(client_peer(s->c, s->nodes.at[i])->link, MESSAGE_PROBE, message.at, message.n,
                      NULL, 0);
        s->probe = strbuf_steal(&path);
    }
    strbuf_free(&path);
    strbuf_free(&message);
    return true;
}

static bool submit_probed(struct client_submit *s)
{
    return !s->probe || s->probed >= s->nodes.n;
}

/* Also when the submission is given up. */
static void submit_remove_probe(struct client_submit *s)
{
    if (s->probe)
        unlink(s->probe);
    free(s->probe);
    s->probe = NULL;
}

/* Who works where is known: share the tasks out. */
static bool submit_end_probe(struct client_submit *s, struct error *err)
{
    const struct client_work *k = &s->work;
    const struct workflow *w = k->workflow;
    s->out.shared = k->shared == CLIENT_SHARED_YES || (s->probe && s->seen == s->nodes.n);
    submit_remove_probe(s);
    if (s->out.shared ? !submit_keep_standing(s->c, &s->work, err)
                      : !depot_check_names(w, err) || !depot_check_folders(w, err))
        return false;
    uint8_t *skip = mem_new_zero(uint8_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        skip[t] = !need_runs(k->needs, t);
    s->home = mem_new(uint32_t, w->ntasks);
    share_tasks(
        w, k->share,
        &(struct share_agents){s->nodes.at, (uint32_t)s->nodes.n, s->capacities.at, k->seconds},
        skip, s->home);
    for (uint32_t t = 0; k->home && t < w->ntasks; t++)
        if (s->home[t] != NONE && k->home[t] != NONE)
            s->home[t] = k->home[t];
    free(skip);
    return true;
}

/* ---- the ticket ---- */

/* The ticket owns copies of everything: it is sealed and freed at once. */
static void submit_fill_ticket(const struct client_submit *s, struct ticket *t)
{
    const struct client_work *k = &s->work;
    const struct workflow *w = k->workflow;
    char host[256] = "localhost", folder[4096];
    gethostname(host, sizeof host - 1);
    *t = (struct ticket){
        .name = mem_copy_string(k->name),
        .host = mem_copy_string(host),
        .folder = mem_copy_string(realpath(k->folder, folder) ? folder : k->folder),
        .program = mem_copy_string(WEFT_VERSION),
        .shared = s->out.shared,
        .keep_going = k->keep_going,
        .no_sandbox = k->no_sandbox,
        .unlimited = k->unlimited,
        .adapt = k->adapt,
        .adds = k->adds,
        .policy = (uint8_t)k->policy,
        .t = k->t,
        .tt = k->tt,
        .retry_first = k->retry_first,
        .retry_most = k->retry_most,
        .priority_of_run = k->priority_of_run,
    };
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (stage_in_is_read(w, s->home, o) && !digest_is_zero(&k->needs->content[o]) &&
            !(k->needs->absent && k->needs->absent[o]))
            array_push(&t->files, (struct ticket_file){.object = o,
                                                       .bytes = k->needs->bytes[o],
                                                       .digest = k->needs->content[o]});
    for (uint32_t task = 0; task < w->ntasks; task++) {
        if (k->needs->task[task] == NEED_SKIPPED)
            array_push(&t->skipped, task);
        else if (s->home[task] == NONE)
            array_push(&t->done, task);
        if (k->priority)
            array_push(&t->priority, k->priority[task]);
        if (k->seconds)
            array_push(&t->seconds, k->seconds[task]);
    }
    memcpy(t->id, s->id, sizeof t->id);
    for (size_t i = 0; k->environment && i < k->environment->at.n; i++) {
        const struct along *a = &k->environment->at.at[i];
        run_environment_add(&t->environment, a->kind, a->name, a->value);
    }
    strbuf_add_bytes(&t->workflow, k->text->at, k->text->n);
}

/* The board has let go of us (I2). */
static void submit_answered(void *context, bool good, const char *why)
{
    struct client_submit *s = context;
    s->asked = false;
    s->answered_good = good;
    snprintf(s->why, sizeof s->why, "%s", why ? why : "");
}

/* Sealed for its number: under another it does not open. */
static void submit_seal_ticket(struct client_submit *s)
{
    struct ticket t;
    struct strbuf plain = {0}, sealed = {0};
    struct client *c = s->c;
    submit_fill_ticket(s, &t);
    ticket_put(&t, &plain);
    charter_seal(&c->charter, "ticket", s->run, plain.at, plain.n, &sealed);
    s->asked = true;
    board_set_run_text(c->board, s->run, sealed.at, sealed.n, submit_answered, s);
    ticket_free(&t);
    strbuf_wipe(&plain); /* it may have secrets */
    strbuf_free(&sealed);
}

static void submit_numbered(void *context, bool good, uint64_t run, const char *why)
{
    struct client_submit *s = context;
    submit_answered(s, good, why);
    s->run = run;
    if (good)
        submit_seal_ticket(s);
}

/* The number of the run is the board's to give; the run is not open yet, and no agent looks at it.
 */
static bool submit_post_ticket(struct client_submit *s, struct error *err)
{
    (void)err;
    seal_random(s->id, sizeof s->id);
    s->asked = true;
    board_new_run(s->c->board, submit_numbered, s);
    return true;
}

static bool submit_is_answered(struct client_submit *s)
{
    return !s->asked;
}

static bool submit_check_number(struct client_submit *s, struct error *err)
{
    return s->answered_good || error_set(err, ERROR_FAILED, "the store at %s takes no new run: %s",
                                         s->c->o.address->text, s->why);
}

/* ---- tasks ---- */

/* The ticket stands: agents read it while we put the tasks. They begin when the run is opened. */
static bool submit_open_store(struct client_submit *s, struct error *err)
{
    if (!client_store(s->c, s->run, s->id, s->work.workflow, err))
        return false;
    client_send_all(s->c, MESSAGE_RUN_CHANGED, s->run);
    return true;
}

/* The operations that put a run's tasks into its store, by number, so that they can be made as the
 * store takes them:
 *
 *     0                JOIN     us: tasks that are done are ours
 *     1 ..             PUT      every task, to its home
 *     1 + T ..         OBJECT   every object whose size is another than the workflow says
 *     1 + T + O ..     COMPLETE every task that is done, parents first, before any agent looks
 *     1 + 2 T + O      the end
 *
 * False: nothing is to be done for this number. */
static bool submit_task_op(const struct client_submit *s, uint64_t at, struct meta_op *op)
{
    const struct needs *n = s->work.needs;
    const struct workflow *w = s->work.workflow;
    if (at == 0) {
        *op = (struct meta_op){.kind = META_JOIN, .node = TICKET_CLIENT_NODE, .life = 1};
        return true;
    }
    if (--at < w->ntasks) {
        *op = (struct meta_op){.kind = META_PUT,
                               .task = (uint32_t)at,
                               .node = s->home[at] == NONE ? TICKET_CLIENT_NODE : s->home[at]};
        return true;
    }
    at -= w->ntasks;
    if (at < w->nobjects) {
        *op = (struct meta_op){.kind = META_OBJECT, .task = (uint32_t)at, .bytes = n->bytes[at]};
        return n->present[at] && n->bytes[at] != w->size[at];
    }
    uint32_t task = w->topo[at - w->nobjects];
    *op = (struct meta_op){.kind = META_COMPLETE,
                           .status = n->task[task] == NEED_SKIPPED ? META_SKIPPED : META_DONE,
                           .task = task,
                           .node = TICKET_CLIENT_NODE,
                           .epoch = 1};
    return s->home[task] == NONE;
}

/* Everything was put and answered, or the store cannot go on. */
static bool submit_put_tasks(struct client_submit *s)
{
    const struct workflow *w = s->work.workflow;
    uint64_t end = 1 + 2 * (uint64_t)w->ntasks + w->nobjects;
    struct meta_op *ops = mem_new_zero(struct meta_op, SUBMIT_CHUNK);
    while (s->put_next < end && s->c->pending < SUBMIT_PENDING) {
        size_t n = 0;
        while (s->put_next < end && n < SUBMIT_CHUNK)
            n += submit_task_op(s, s->put_next++, &ops[n]);
        if (n)
            client_ask(s->c, ops, n);
    }
    free(ops);
    return (s->put_next == end && !s->c->pending) || s->c->store_error.kind != ERROR_NONE;
}

static bool submit_check_store(struct client_submit *s, struct error *err)
{
    const struct error *e = &s->c->store_error;
    return e->kind == ERROR_NONE || error_set(err, e->kind, "%s", e->text);
}

/* ---- inputs ---- */

static bool submit_begin_staging(struct client_submit *s, struct error *err)
{
    const struct client_work *k = &s->work;
    struct strbuf partial = {0};
    (void)err;
    if (s->out.shared)
        return true; /* agents work in the folder itself */
    strbuf_printf(&partial, "%s/partial", k->state);
    s->c->depot = depot_new(&(struct depot_config){.workflow = k->workflow,
                                                   .run = s->run,
                                                   .folder = k->folder,
                                                   .partial = partial.at,
                                                   .memo = k->needs->memo});
    strbuf_free(&partial);
    s->stage_in = stage_in_new(&(struct stage_in_config){.client = s->c,
                                                         .work = k,
                                                         .run = s->run,
                                                         .nodes = s->nodes.at,
                                                         .nnodes = (uint32_t)s->nodes.n,
                                                         .home = s->home});
    s->out.files = stage_in_files(s->stage_in);
    return true;
}

static bool submit_staged(struct client_submit *s)
{
    return !s->stage_in || stage_in_advance(s->stage_in);
}

static bool submit_check_staging(struct client_submit *s, struct error *err)
{
    return !s->stage_in || stage_in_check(s->stage_in, err);
}

/* Where the copies are goes into the store: agents look there. */
static bool submit_put_copies(struct client_submit *s)
{
    uint32_t end = s->stage_in ? stage_in_copies(s->stage_in) : 0;
    struct meta_op *ops = mem_new_zero(struct meta_op, SUBMIT_CHUNK);
    while (s->copy_next < end && s->c->pending < SUBMIT_PENDING) {
        size_t n = 0;
        for (; s->copy_next < end && n < SUBMIT_CHUNK; s->copy_next++) {
            uint32_t node, object = stage_in_copy(s->stage_in, s->copy_next, &node);
            if (object == NONE)
                continue;
            s->out.copies++;
            s->out.bytes += s->work.needs->bytes[object];
            ops[n++] = (struct meta_op){.kind = META_COPY,
                                        .task = object,
                                        .node = node,
                                        .status = 1,
                                        .digest = &s->work.needs->content[object]};
        }
        if (n)
            client_ask(s->c, ops, n);
    }
    free(ops);
    return (s->copy_next == end && !s->c->pending) || s->c->store_error.kind != ERROR_NONE;
}

/* ---- the run is opened ---- */

static bool submit_open_run(struct client_submit *s, struct error *err)
{
    struct client *c = s->c;
    (void)err;
    if (s->work.opening)
        s->work.opening(s->work.context, s->run, s->id);
    if (s->work.watch) { /* before anything can happen */
        client_forget_early(c);
        c->watched = s->run;
        client_send_all(c, MESSAGE_WATCH, s->run);
    }
    if (s->work.adds) /* likewise: one answer after the other, in the order of asking */
        board_hold_run(c->board, s->run, CLIENT_HOLDS, NULL, NULL);
    s->asked = true;
    struct board_change change = charter_change(&c->charter, s->run, s->id, BOARD_RUN_OPEN);
    board_run_state(c->board, &change, submit_answered, s);
    return true;
}

static bool submit_check_open(struct client_submit *s, struct error *err)
{
    if (!s->answered_good)
        return error_set(err, ERROR_FAILED, "the store at %s refuses: %s", s->c->o.address->text,
                         s->why);
    client_send_all(s->c, MESSAGE_RUN_CHANGED, s->run);
    s->out.run = s->run;
    return true;
}

/* ---- the stages ---- */

static bool submit_look(struct client_submit *s, struct error *err)
{
    (void)err;
    client_ask_refresh(s->c);
    return true;
}

static bool submit_looked(struct client_submit *s)
{
    return s->c->looked > s->began;
}

static bool submit_check_look(struct client_submit *s, struct error *err)
{
    return submit_looked(s) ||
           error_set(err, ERROR_FAILED, "the store at %s does not answer", s->c->o.address->text);
}

static bool submit_connect(struct client_submit *s, struct error *err)
{
    (void)err;
    client_connect(s->c);
    return true;
}

static bool submit_connected(struct client_submit *s)
{
    return client_is_connected(s->c, s->began);
}

/* One stage of a submission: `begin` it, wait until `done` or so many seconds have passed, `end`
 * it. `done` may do more of the work each time that it is asked, after every turn of the loop. */
struct submit_stage {
    const char *name;
    bool (*begin)(struct client_submit *s, struct error *err); /* NULL: nothing */
    bool (*done)(struct client_submit *s);
    bool (*end)(struct client_submit *s, struct error *err);
    double seconds;
};

static const struct submit_stage submit_stages[] = {
    {
        .name = "look at the board",
        .begin = submit_look,
        .done = submit_looked,
        .end = submit_check_look,
        .seconds = SUBMIT_LOOKING,
    },
    {
        .name = "connect to agents",
        .begin = submit_connect,
        .done = submit_connected,
        .end = submit_choose_agents,
        .seconds = SUBMIT_CONNECTING,
    },
    {
        .name = "probe the folder",
        .begin = submit_begin_probe,
        .done = submit_probed,
        .end = submit_end_probe,
        .seconds = SUBMIT_PROBING,
    },
    {
        .name = "post the ticket",
        .begin = submit_post_ticket,
        .done = submit_is_answered,
        .end = submit_check_number,
        .seconds = SUBMIT_PATIENT,
    },
    {
        .name = "put the tasks",
        .begin = submit_open_store,
        .done = submit_put_tasks,
        .end = submit_check_store,
        .seconds = SUBMIT_PATIENT,
    },
    {
        .name = "stage the inputs",
        .begin = submit_begin_staging,
        .done = submit_staged,
        .end = submit_check_staging,
        .seconds = SUBMIT_PATIENT,
    },
    {
        .name = "record the copies",
        .done = submit_put_copies,
        .end = submit_check_store,
        .seconds = SUBMIT_PATIENT,
    },
    {
        .name = "open the run",
        .begin = submit_open_run,
        .done = submit_is_answered,
        .end = submit_check_open,
        .seconds = SUBMIT_PATIENT,
    },
};
enum { SUBMIT_STAGES = sizeof submit_stages / sizeof *submit_stages };

static bool submit_is_over(const struct client_submit *s)
{
    return s->stage == SUBMIT_STAGES || s->error.kind != ERROR_NONE;
}

/* A stage that cannot begin sets the error; submit_advance() sees it. */
static void submit_begin_stage(struct client_submit *s, size_t stage)
{
    s->stage = stage;
    if (stage == SUBMIT_STAGES)
        return;
    s->began = clock_seconds();
    s->deadline = s->began + submit_stages[stage].seconds;
    if (submit_stages[stage].begin)
        submit_stages[stage].begin(s, &s->error);
}

/* From stage to stage, as far as it goes without waiting. */
static void submit_advance(struct client_submit *s)
{
    while (!submit_is_over(s)) {
        const struct submit_stage *at = &submit_stages[s->stage];
        bool done = at->done(s);
        bool last = s->stage + 1 == SUBMIT_STAGES; /* then it may be open already */
        if (client_stops(s->c) && !last) {
            error_set(&s->error, ERROR_FAILED, "stopped before the run was opened%s; nothing runs",
                      s->run ? " (its text stays on the board until it is cleaned)" : "");
            return;
        }
        if (client_stops(s->c) && !done) {
            error_set(&s->error, ERROR_FAILED, "stopped while waiting for the store at %s",
                      s->c->o.address->text);
            return;
        }
        if (!done && clock_seconds() <= s->deadline)
            return;
        if (at->end(s, &s->error))
            submit_begin_stage(s, s->stage + 1);
    }
}

/* ---- what comes in meanwhile ---- */

static bool submit_take_probed(void *context, struct message_in *m)
{
    struct client_submit *s = context;
    bool yes = bytes_u8(&m->in);
    if (m->run == s->mark) {
        s->probed++;
        s->seen += yes;
    }
    return bytes_end(&m->in);
}

static bool submit_take_kept(void *context, struct message_in *m)
{
    struct client_submit *s = context;
    if (m->run != s->run || !s->stage_in)
        return true; /* of another run, that is followed */
    return stage_in_kept(s->stage_in, client_peer_of(m), &m->in);
}

static message_handler *const submit_handlers[MESSAGES] = {
    [MESSAGE_PROBED] = submit_take_probed,
    [MESSAGE_KEPT] = submit_take_kept,
};

static void submit_peer_closed(void *context, struct client_peer *peer)
{
    struct client_submit *s = context;
    if (s->stage_in)
        stage_in_peer_closed(s->stage_in, peer);
}

/* ---- from beginning to end ---- */

struct client_submit *client_submit_open(struct client *c, const struct client_work *work)
{
    struct client_submit *s = mem_new_zero(struct client_submit, 1);
    s->c = c;
    s->work = *work;
    c->listener = (struct client_listener){
        .handlers = submit_handlers, .closed = submit_peer_closed, .context = s};
    submit_begin_stage(s, 0);
    return s;
}

bool client_submit_step(struct client_submit *s, double wait)
{
    if (!submit_is_over(s))
        stepper_step(&s->c->stepper, wait);
    submit_advance(s);
    return !submit_is_over(s);
}

/* Everything that the stages took from the client is given back, in whatever stage it ends. */
bool client_submit_close(struct client_submit *s, struct client_submitted *out, struct error *err)
{
    struct client *c = s->c;
    bool good = s->stage == SUBMIT_STAGES && s->error.kind == ERROR_NONE;
    if (s->asked) { /* the answer would find us gone; nothing but closing follows */
        board_close(c->board);
        c->board = NULL;
    }
    if (!good && s->error.kind == ERROR_NONE)
        error_set(&s->error, ERROR_FAILED, "left before the run was opened");
    if (!good)
        error_set(err, s->error.kind, "%s", s->error.text);
    if (!good) /* else a stop that came too late is for who follows the run */
        client_settle(c);
    *out = s->out;
    c->listener = (struct client_listener){0};
    depot_free(c->depot);
    c->depot = NULL;
    client_store_close(c);
    submit_remove_probe(s);
    stage_in_free(s->stage_in);
    array_free(&s->nodes);
    array_free(&s->capacities);
    free(s->home);
    free(s);
    return good;
}

bool client_submit(struct client *c, const struct client_work *work, struct client_submitted *out,
                   struct error *err)
{
    struct client_submit *s = client_submit_open(c, work);
    while (client_submit_step(s, -1))
        ;
    return client_submit_close(s, out, err);
}
