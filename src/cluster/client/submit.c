/* Handing a run in: the ticket on the board, tasks in the store, inputs to agents, and only then
 * the run is opened. A submitter that dies before leaves nothing that runs. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"
#include "base/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4096, COPIES = 2, TRIES = 8 };
static const double CONNECTING = 10, PROBING = 5; /* seconds */
static const double STANDSTILL = 120;             /* without a byte or an answer: given up */

/* One copy of an input on its way to an agent. */
enum parcel_state { PARCEL_NEW, PARCEL_ASKED, PARCEL_KEPT, PARCEL_LOST };

struct parcel {
    uint32_t object, node;
    uint8_t state, tries;
};

struct submit {
    struct client *c;
    const struct client_work *work;
    struct client_submitted *out;
    uint64_t run;
    bool numbered, numbered_good;
    char why[256];

    ARRAY(uint32_t) nodes; /* agents that get tasks */
    uint32_t *home;        /* per task */
    uint8_t *skip;         /* per task: done */

    uint64_t mark; /* of the probe */
    uint32_t probed, seen;

    ARRAY(struct parcel) parcels; /* those of an object one after the other */
    uint32_t *parcel_of;          /* per object: the first; NONE */
    uint32_t copies, open_parcels;
    double moved, moved_bytes; /* when something last arrived */
    struct error error;
};

/* ---- who ---- */

static bool in_group(const char *group, const char *host)
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

static bool choose_agents(struct submit *s, struct error *err)
{
    struct client *c = s->c;
    size_t n;
    uint32_t living = 0;
    const struct member *m = client_members(c, &n);
    const char *why = "";
    for (size_t i = 0; i < n; i++) {
        if (!client_lives(c, &m[i]) || m[i].state != BOARD_UP)
            continue;
        living++;
        struct client_peer *p = client_peer(c, m[i].node);
        if (!p || !p->open) {
            why = p && p->why[0] ? p->why : "no answer";
            continue;
        }
        if (!s->work->group || in_group(s->work->group, m[i].host))
            array_push(&s->nodes, m[i].node);
    }
    if (s->nodes.n)
        return true;
    if (!living)
        return error_set(err, ERROR_FAILED,
                         "no agent is up at %s; `weft agent --store %s` on each machine starts one",
                         c->o.address->text, c->o.address->text);
    if (why[0])
        return error_set(err, ERROR_FAILED, "no agent of %u at %s can be reached: %s", living,
                         c->o.address->text, why);
    return error_set(err, ERROR_INPUT, "no agent is on '%s'; `weft status` lists them",
                     s->work->group);
}

/* ---- do all agents see our folder? ---- */

static bool probe_is_over(void *context)
{
    struct submit *s = context;
    return s->probed >= s->nodes.n || client_stops(s->c);
}

static bool look_shared(struct submit *s)
{
    struct error err = {0};
    struct strbuf path = {0}, message = {0};
    char folder[4096], token[33];
    uint8_t random[24];
    if (!realpath(s->work->state, folder))
        return false;
    seal_random(random, sizeof random);
    for (int i = 0; i < 16; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    memcpy(&s->mark, random + 16, 8);
    strbuf_printf(&path, "%s/probe-%.8s", folder, token);
    if (file_write(path.at, token, 32, &err)) {
        bytes_put_u64(&message, s->mark);
        bytes_put_text(&message, path.at, path.n);
        bytes_put_text(&message, token, 32);
        for (size_t i = 0; i < s->nodes.n; i++)
            link_send(client_peer(s->c, s->nodes.at[i])->link, MESSAGE_PROBE, message.at, message.n,
                      NULL, 0);
        client_drive(s->c, probe_is_over, s, PROBING);
        unlink(path.at);
    }
    strbuf_free(&path);
    strbuf_free(&message);
    return s->seen == s->nodes.n;
}

/* ---- the ticket ---- */

/* An input, or made by a task that is done, and read by one that must run. */
static bool is_wanted(const struct submit *s, uint32_t object)
{
    const struct workflow *w = s->work->workflow;
    uint32_t count;
    if (w->producer[object] != NONE && !s->skip[w->producer[object]])
        return false;
    const uint32_t *reader = workflow_consumers(w, object, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!s->skip[reader[i]])
            return true;
    return false;
}

static void fill_ticket(const struct submit *s, struct ticket *t)
{
    const struct client_work *k = s->work;
    const struct workflow *w = k->workflow;
    char host[256] = "localhost", folder[4096];
    gethostname(host, sizeof host - 1);
    *t = (struct ticket){
        .name = mem_copy_string(k->name),
        .host = mem_copy_string(host),
        .folder = mem_copy_string(realpath(k->folder, folder) ? folder : k->folder),
        .program = mem_copy_string(WEFT_VERSION),
        .shared = s->out->shared,
        .keep_going = k->keep_going,
        .no_sandbox = k->no_sandbox,
        .unlimited = k->unlimited,
        .adapt = k->adapt,
        .policy = (uint8_t)k->policy,
        .t = k->t,
        .tt = k->tt,
        .retry_first = k->retry_first,
        .retry_most = k->retry_most,
    };
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (is_wanted(s, o) && !digest_is_zero(&k->needs->content[o]))
            array_push(&t->files, (struct ticket_file){.object = o,
                                                       .bytes = k->needs->bytes[o],
                                                       .digest = k->needs->content[o]});
    for (uint32_t task = 0; task < w->ntasks; task++) {
        if (s->skip[task])
            array_push(&t->done, task);
        if (k->priority)
            array_push(&t->priority, k->priority[task]);
        if (k->seconds)
            array_push(&t->seconds, k->seconds[task]);
    }
    strbuf_add_bytes(&t->workflow, k->text->at, k->text->n);
}

static void on_number(void *context, bool good, uint64_t run, const char *why)
{
    struct submit *s = context;
    s->numbered = true;
    s->numbered_good = good;
    s->run = run;
    snprintf(s->why, sizeof s->why, "%s", why ? why : "");
}

static bool is_numbered(void *context)
{
    struct submit *s = context;
    return s->numbered || client_stops(s->c);
}

static bool interrupted(struct submit *s, struct error *err)
{
    return error_set(err, ERROR_FAILED, "stopped before the run was opened%s; nothing runs",
                     s->run ? " (its text stays on the board until it is cleaned)" : "");
}

static bool post_ticket(struct submit *s, struct error *err)
{
    struct ticket t;
    struct strbuf plain = {0}, sealed = {0};
    struct client *c = s->c;
    fill_ticket(s, &t);
    ticket_put(&t, &plain);
    seal_piece(&c->o.key, "ticket", plain.at, plain.n, &sealed);
    board_new_run(c->board, sealed.at, sealed.n, on_number, s);
    ticket_free(&t);
    strbuf_free(&plain);
    strbuf_free(&sealed);
    client_drive(c, is_numbered, s, 1e9);
    if (!s->numbered) {
        board_close(c->board); /* its answer would find us gone */
        c->board = NULL;
        return interrupted(s, err);
    }
    return s->numbered_good || error_set(err, ERROR_FAILED, "the store at %s takes no new run: %s",
                                         c->o.address->text, s->why);
}

/* ---- tasks ---- */

static bool ask_chunk(struct submit *s, struct meta_op *ops, size_t *n, size_t full,
                      struct error *err)
{
    if (*n < full || !*n)
        return true;
    client_ask(s->c, ops, *n);
    *n = 0;
    if (s->c->pending > 64 * CHUNK || full == 0)
        return client_answered(s->c, err);
    return true;
}

/* Every task to its home; those that are done belong to us, and are completed before any agent
 * looks. */
static bool put_tasks(struct submit *s, struct error *err)
{
    const struct client_work *k = s->work;
    const struct workflow *w = k->workflow;
    struct meta_op *ops = mem_new_zero(struct meta_op, CHUNK + 8);
    size_t n = 0;
    bool good = true;
    ops[n++] = (struct meta_op){.kind = META_JOIN, .node = TICKET_CLIENT_NODE, .life = 1};
    for (uint32_t t = 0; t < w->ntasks && good; t++) {
        ops[n++] = (struct meta_op){
            .kind = META_PUT, .task = t, .node = s->skip[t] ? TICKET_CLIENT_NODE : s->home[t]};
        good = ask_chunk(s, ops, &n, CHUNK, err);
    }
    for (uint32_t o = 0; o < w->nobjects && good; o++) {
        if (k->needs->present[o] && k->needs->bytes[o] != w->size[o])
            ops[n++] =
                (struct meta_op){.kind = META_OBJECT, .task = o, .bytes = k->needs->bytes[o]};
        good = ask_chunk(s, ops, &n, CHUNK, err);
    }
    for (uint32_t i = 0; i < w->ntasks && good; i++) {
        uint32_t t = w->topo[i];
        if (!s->skip[t])
            continue;
        ops[n++] = (struct meta_op){
            .kind = META_COMPLETE, .task = t, .node = TICKET_CLIENT_NODE, .epoch = 1};
        good = ask_chunk(s, ops, &n, CHUNK, err);
    }
    good = good && ask_chunk(s, ops, &n, 0, err) && client_answered(s->c, err);
    free(ops);
    return good;
}

/* ---- inputs ---- */

static bool has_parcel(const struct submit *s, uint32_t object, uint32_t node)
{
    for (uint32_t i = 0; i < s->copies; i++) {
        const struct parcel *p = &s->parcels.at[s->parcel_of[object] + i];
        if (p->node == node && p->state != PARCEL_LOST)
            return true;
    }
    return false;
}

/* Where readers of the object are at home comes first, then whoever can be reached, from another
 * one each time. */
static uint32_t choose_keeper(const struct submit *s, uint32_t object, uint32_t turn)
{
    uint32_t count;
    const uint32_t *reader = workflow_consumers(s->work->workflow, object, &count);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        uint32_t node = s->home[reader[i]];
        struct client_peer *p = node == NONE ? NULL : client_peer(s->c, node);
        if (p && p->open && !has_parcel(s, object, node))
            return node;
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        uint32_t node = s->nodes.at[(object + turn + i) % s->nodes.n];
        struct client_peer *p = client_peer(s->c, node);
        if (p && p->open && !has_parcel(s, object, node))
            return node;
    }
    return NONE;
}

static bool is_absolute(const struct workflow *w, uint32_t object)
{
    char label[512];
    return workflow_object_label(w, object, label, sizeof label)[0] == '/';
}

static void make_parcels(struct submit *s)
{
    const struct client_work *k = s->work;
    const struct workflow *w = k->workflow;
    uint32_t most = k->copies ? k->copies : COPIES;
    s->copies = most < s->nodes.n ? most : (uint32_t)s->nodes.n;
    s->parcel_of = mem_new(uint32_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        s->parcel_of[o] = NONE;
        if (!k->needs->present[o] || is_absolute(w, o))
            continue;
        depot_made(s->c->depot, o, &k->needs->content[o], k->needs->bytes[o]);
        if (!is_wanted(s, o))
            continue;
        s->parcel_of[o] = (uint32_t)s->parcels.n;
        for (uint32_t i = 0; i < s->copies; i++)
            array_push(&s->parcels,
                       (struct parcel){.object = o, .node = NONE, .state = PARCEL_LOST});
        s->out->files++;
    }
    for (size_t i = 0; i < s->parcels.n; i++) {
        struct parcel *p = &s->parcels.at[i];
        p->node = choose_keeper(s, p->object, (uint32_t)(i % s->copies));
        p->state = PARCEL_NEW;
    }
    s->open_parcels = (uint32_t)s->parcels.n;
}

static bool is_kept_somewhere(const struct submit *s, uint32_t object)
{
    for (uint32_t i = 0; i < s->copies; i++)
        if (s->parcels.at[s->parcel_of[object] + i].state == PARCEL_KEPT)
            return true;
    return false;
}

/* It did not get there: to another agent, or, if there is a copy already, to nobody. */
static void parcel_failed(struct submit *s, struct parcel *p, const char *why)
{
    char label[512];
    p->state = PARCEL_LOST;
    uint32_t node = ++p->tries < TRIES ? choose_keeper(s, p->object, p->tries) : NONE;
    if (node != NONE) {
        p->node = node;
        p->state = PARCEL_NEW;
        return;
    }
    s->open_parcels--;
    bool waiting = false;
    for (uint32_t i = 0; i < s->copies; i++)
        waiting |= s->parcels.at[s->parcel_of[p->object] + i].state <= PARCEL_ASKED;
    if (!waiting && !is_kept_somewhere(s, p->object))
        error_set(&s->error, ERROR_FAILED, "'%.300s' cannot be handed to any agent: %s",
                  workflow_object_label(s->work->workflow, p->object, label, sizeof label), why);
}

static void send_parcels(struct submit *s)
{
    struct strbuf list = {0}, head = {0};
    for (size_t n = 0; n < s->nodes.n; n++) {
        struct client_peer *to = client_peer(s->c, s->nodes.at[n]);
        uint32_t count = 0;
        strbuf_clear(&list);
        for (size_t i = 0; i < s->parcels.n; i++) {
            struct parcel *p = &s->parcels.at[i];
            if (p->state != PARCEL_NEW || p->node != s->nodes.at[n] || count == 100000)
                continue;
            p->state = PARCEL_ASKED;
            bytes_put_u32(&list, p->object);
            count++;
        }
        if (!count)
            continue;
        strbuf_clear(&head);
        bytes_put_u64(&head, s->run);
        bytes_put_u32(&head, count);
        if (to && to->link)
            link_send(to->link, MESSAGE_KEEP, head.at, head.n, list.at, list.n);
    }
    strbuf_free(&list);
    strbuf_free(&head);
}

static bool hand_over_is_done(void *context)
{
    struct submit *s = context;
    bool fresh = false;
    for (size_t i = 0; i < s->parcels.n && !fresh; i++)
        fresh = s->parcels.at[i].state == PARCEL_NEW;
    if (fresh)
        send_parcels(s);
    double bytes = depot_look(s->c->depot).served_bytes;
    if (bytes != s->moved_bytes) {
        s->moved_bytes = bytes;
        s->moved = clock_seconds();
    }
    return !s->open_parcels || s->error.kind != ERROR_NONE || client_stops(s->c) ||
           clock_seconds() - s->moved > STANDSTILL;
}

static bool hand_over(struct submit *s, struct error *err)
{
    const struct client_work *k = s->work;
    struct strbuf partial = {0};
    strbuf_printf(&partial, "%s/partial", k->state);
    s->c->depot = depot_new(&(struct depot_config){.workflow = k->workflow,
                                                   .run = s->run,
                                                   .folder = k->folder,
                                                   .partial = partial.at,
                                                   .memo = k->needs->memo});
    strbuf_free(&partial);
    make_parcels(s);
    client_tell_all(s->c, MESSAGE_LOOK, s->run);
    s->moved = clock_seconds();
    client_drive(s->c, hand_over_is_done, s, 1e9);
    if (s->error.kind != ERROR_NONE)
        return error_set(err, s->error.kind, "%s", s->error.text);
    if (client_stops(s->c))
        return interrupted(s, err);
    if (s->open_parcels)
        return error_set(err, ERROR_FAILED,
                         "the inputs do not reach the agents: nothing moved for %.0f seconds",
                         STANDSTILL);
    size_t n = 0;
    struct meta_op *ops = mem_new_zero(struct meta_op, CHUNK + 1);
    bool good = true;
    for (size_t i = 0; i < s->parcels.n && good; i++) {
        const struct parcel *p = &s->parcels.at[i];
        if (p->state != PARCEL_KEPT)
            continue;
        s->out->copies++;
        s->out->bytes += k->needs->bytes[p->object];
        ops[n++] =
            (struct meta_op){.kind = META_COPY, .task = p->object, .node = p->node, .status = 1};
        good = ask_chunk(s, ops, &n, CHUNK, err);
    }
    good = good && ask_chunk(s, ops, &n, 0, err) && client_answered(s->c, err);
    free(ops);
    return good;
}

/* ---- what comes in meanwhile ---- */

static bool on_message(void *context, struct client_peer *from, uint8_t kind, struct bytes *in)
{
    struct submit *s = context;
    struct bytes whole = *in;
    uint64_t first = bytes_u64(in);
    if (s->c->watched && kind >= MESSAGE_EVENTS && kind <= MESSAGE_FAILED) {
        client_keep_early(s->c, from, kind, &whole);
        return true;
    }
    if (kind == MESSAGE_PROBED) {
        bool yes = bytes_u8(in);
        if (first == s->mark && bytes_end(in)) {
            s->probed++;
            s->seen += yes;
        }
        return bytes_end(in);
    }
    if (kind != MESSAGE_KEPT)
        return true; /* of another run that is followed, or of a later version */
    uint32_t object = bytes_u32(in);
    bool good = bytes_u8(in);
    size_t n;
    const char *why = bytes_text(in, &n);
    if (!bytes_end(in))
        return false;
    if (first != s->run || !s->parcel_of || object >= s->work->workflow->nobjects ||
        s->parcel_of[object] == NONE)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)(n < 255 ? n : 255), why ? why : "");
    for (uint32_t i = 0; i < s->copies; i++) {
        struct parcel *p = &s->parcels.at[s->parcel_of[object] + i];
        if (p->node != from->node || p->state != PARCEL_ASKED)
            continue;
        s->moved = clock_seconds();
        if (good) {
            p->state = PARCEL_KEPT;
            s->open_parcels--;
        } else {
            parcel_failed(s, p, text);
        }
    }
    return true;
}

static void on_closed(void *context, struct client_peer *peer)
{
    struct submit *s = context;
    for (size_t i = 0; i < s->parcels.n; i++) {
        struct parcel *p = &s->parcels.at[i];
        if (p->node == peer->node && (p->state == PARCEL_NEW || p->state == PARCEL_ASKED))
            parcel_failed(s, p, peer->why[0] ? peer->why : "the agent is gone");
    }
}

/* ---- all of it ---- */

static bool submit(struct submit *s, struct error *err)
{
    struct client *c = s->c;
    const struct client_work *k = s->work;
    const struct workflow *w = k->workflow;
    if (!client_look(c, 30, err))
        return false;
    client_connected(c, CONNECTING);
    if (!choose_agents(s, err))
        return false;
    s->out->agents = (uint32_t)s->nodes.n;
    s->out->shared =
        k->shared == CLIENT_SHARED_YES || (k->shared == CLIENT_SHARED_LOOK && look_shared(s));
    if (!s->out->shared && !depot_check_names(w, err))
        return false;
    s->skip = mem_new_zero(uint8_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        s->skip[t] = k->needs->task[t] == NEED_NOT;
    s->home = mem_new(uint32_t, w->ntasks);
    share_tasks(w, k->share, s->nodes.at, (uint32_t)s->nodes.n, s->skip, s->home);
    if (!post_ticket(s, err) || !client_store(c, s->run, w, err) || !put_tasks(s, err))
        return false;
    if (!s->out->shared && !hand_over(s, err))
        return false;
    if (client_stops(c))
        return interrupted(s, err);
    if (k->watch) { /* before anything can happen */
        client_forget_early(c);
        c->watched = s->run;
        client_tell_all(c, MESSAGE_WATCH, s->run);
    }
    if (!client_set_state(c, s->run, BOARD_RUN_OPEN, err))
        return false;
    client_tell_all(c, MESSAGE_LOOK, s->run);
    s->out->run = s->run;
    return true;
}

bool client_submit(struct client *c, const struct client_work *work, struct client_submitted *out,
                   struct error *err)
{
    *out = (struct client_submitted){0};
    struct submit s = {.c = c, .work = work, .out = out};
    c->listener =
        (struct client_listener){.message = on_message, .closed = on_closed, .context = &s};
    bool good = submit(&s, err);
    if (!good) /* else one that came too late is for client_follow_open() */
        client_settle(c);
    c->listener = (struct client_listener){0};
    depot_free(c->depot);
    c->depot = NULL;
    client_store_close(c);
    array_free(&s.nodes);
    array_free(&s.parcels);
    free(s.parcel_of);
    free(s.home);
    free(s.skip);
    return good;
}
