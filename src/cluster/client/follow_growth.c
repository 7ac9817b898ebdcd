/* A run that grows, followed: what joins is told by agents before they tell of its tasks, and asked for at
 * the board when the run has ended. It joins the workflow, which is the owner's, and what is kept here by
 * task and object.
 *
 *   I1. Parts join in their order, from the bytes that stand on the board: numbers are those of agents.
 *   I2. A run has not ended here before the board has said that no more joined it. */
#include "base/mem.h"
#include "base/tree.h"
#include "cluster/client/follow.h"
#include "cluster/wire/run_part.h"
#include "model/future.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Arrays by task and object, zeroed: with room for half as many more. */
static void follow_lengthen(struct client_follow *f, uint32_t first, uint32_t object)
{
    uint32_t tasks = f->w->ntasks, objects = f->w->nobjects;
    if (f->task_room < tasks) {
        f->task_room = tasks + first / 2;
        f->seen = mem_resize(f->seen, f->task_room + 1);
        f->node = mem_resize(f->node, f->task_room + 1);
        f->learned = mem_resize(f->learned, f->task_room + 1);
        f->marks = mem_resize(f->marks, f->task_room + 1);
        f->blamed = mem_resize(f->blamed, f->task_room + 1);
        f->logged = mem_resize(f->logged, f->task_room + 1);
        if (f->ran)
            f->ran = mem_resize(f->ran, f->task_room + 1);
        if (f->gone)
            f->gone = mem_resize(f->gone, f->task_room + 1);
    }
    if (f->object_room < objects) {
        f->object_room = objects + object / 2;
        f->reported = mem_resize(f->reported, f->object_room + 1);
    }
    for (uint32_t t = first; t <= tasks; t++) {
        f->seen[t] = f->learned[t] = f->marks[t] = 0;
        f->node[t] = f->blamed[t] = f->logged[t] = 0;
        if (f->ran)
            f->ran[t] = 0;
        if (f->gone)
            f->gone[t] = 0;
    }
    for (uint32_t o = object; o <= objects; o++)
        f->reported[o] = 0;
}

/* Nobody would ever have it: the run ends as it does on one machine. Who came later may be elsewhere, and only says
 * so. */
static void follow_misses_input(struct client_follow *f, uint32_t object)
{
    char label[512];
    uint32_t reader = NONE;
    const struct workflow *w = f->w;
    for (uint32_t t = 0; t < w->ntasks && reader == NONE; t++)
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++)
            if (w->in_object[i] == object && !(w->in_optional && w->in_optional[i]))
                reader = t;
    if (reader == NONE || growth_folder(w, object) != NONE)
        return; /* all can do without; or it comes with the folder that it lies in */
    const char *name = workflow_object_label(w, object, label, sizeof label);
    if (f->o.late) {
        client_say(f->c, "'%s', which '%s' reads, is not in %s: it is waited for", name,
                   workflow_task_name(w, reader), f->o.folder);
        return;
    }
    error_set(&f->broken, ERROR_INPUT,
              "task '%s' reads '%s', which is not in %s and which no task makes",
              workflow_task_name(w, reader), name, f->o.folder);
    client_say(f->c, "run %" PRIu64 " ends: %s", f->o.run, f->broken.text);
    if (f->state < BOARD_RUN_STOPPING)
        follow_set_state(f, BOARD_RUN_STOPPING);
}

void follow_offer_joined(struct client_follow *f, uint32_t first)
{
    struct strbuf path = {0};
    char label[512];
    for (uint32_t o = first; o < f->w->nobjects; o++) {
        struct error err = {0};
        struct digest now;
        double size;
        const char *name = workflow_object_label(f->w, o, label, sizeof label);
        if (f->w->producer[o] != NONE || name[0] == '/' ||
            !digest_is_zero(&f->o.needs->content[o])) /* handed in with the ticket */
            continue;
        if (memo_digest(f->o.needs->memo, path_in(f->o.folder, name, &path), false, &now, &size,
                        &err)) {
            f->o.needs->content[o] = now;
            f->o.needs->bytes[o] = size;
            depot_added(f->c->depot, o, &now, size);
        } else if (f->broken.kind == ERROR_NONE) {
            follow_misses_input(f, o);
        }
    }
    strbuf_free(&path);
}

/* The same part on every side; a reason why it cannot join is the same, too, and ends the run there. */
static void follow_join_part(struct client_follow *f, const struct run_part *p)
{
    struct client *c = f->c;
    uint32_t first = f->w->ntasks, object = f->w->nobjects;
    f->parts++;
    if (f->broken.kind != ERROR_NONE)
        return;
    if (!f->o.grow(f->o.grow_context, p->bytes.at, p->bytes.n, &f->broken)) {
        client_say(c, "run %" PRIu64 " ends: %s", f->o.run, f->broken.text);
        if (f->broken.kind == ERROR_INFEASIBLE && f->state < BOARD_RUN_STOPPING)
            follow_set_state(f, BOARD_RUN_STOPPING); /* agents would wait for one that has room */
    }
    if (f->w->ntasks == first)
        return;
    follow_lengthen(f, first, object);
    collect_grow(f->collect);
    depot_grow(c->depot);
    c->store->ops->grow(c->store);
    if (!f->o.ticket->shared)
        follow_offer_joined(f, object);
    double now = client_now(c) - f->created;
    follow_report(f, &(struct trace_event){.kind = TRACE_GROWN,
                                           .id = f->w->ntasks,
                                           .start = now,
                                           .finish = now,
                                           .amount = f->w->ntasks - first});
}

/* False: it is not the next one, or nobody's. */
static bool follow_open_part(struct client_follow *f, const void *data, size_t n)
{
    struct run_part p;
    if (!run_part_unseal(&p, &f->c->charter, f->o.run, f->o.ticket->id, f->parts, data, n))
        return false;
    follow_adds_joined(f, data, n);
    follow_join_part(f, &p);
    run_part_free(&p);
    return true;
}

/* `context` is the client: the answer may come when nobody follows any more. */
void follow_part_came(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct client *c = context;
    struct client_part *p = &c->part;
    snprintf(p->why, sizeof p->why, "%s", why ? why : "");
    p->come = true;
    p->good = good;
    strbuf_clear(&p->text);
    if (good && n)
        strbuf_add_bytes(&p->text, data, n);
    if (c->listener.handlers ==
        follow_handlers) /* who waits for it to go on need not wait for a tick */
        follow_growth_tick(c->listener.context);
}

/* One question at a time. */
static void follow_ask_part(struct client_follow *f)
{
    struct client *c = f->c;
    if (c->part.run || !f->o.grow)
        return;
    strbuf_free(&c->part.text);
    c->part = (struct client_part){.run = f->o.run, .number = f->parts};
    board_run_part(c->board, f->o.run, f->parts, follow_part_came, c);
}

/* Over each link all parts come in their order: those that are known are passed over. */
bool follow_take_part(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    uint32_t number = bytes_u32(&m->in);
    if (m->run != f->o.run || !f->o.grow || number < f->parts)
        return !m->in.bad;
    if (number > f->parts || !m->in.n || !follow_open_part(f, m->in.at, m->in.n))
        follow_ask_part(f);
    return !m->in.bad;
}

/* The answer lies in the client until somebody looks. */
void follow_growth_tick(struct client_follow *f)
{
    struct client_part *p = &f->c->part;
    if (!p->run || !p->come)
        return;
    bool ours = p->run == f->o.run && p->number == f->parts, none = p->good && !p->text.n;
    p->run = 0;
    if (!ours)
        return;
    if (p->offers && (!p->good || none))
        follow_adds_refused(f, p->good, p->why);
    else if (p->text.n && follow_open_part(f, p->text.at, p->text.n))
        f->adds.n ? follow_adds_tick(f) : follow_ask_part(f);
    else if (p->offers)
        follow_adds_distrust(f, &p->text);
    else if (f->state >= BOARD_RUN_ENDED && (none || p->text.n)) /* what is nobody's is none */
        f->parts_final = true;
}

/* I2. What joins no more because its deciding task failed is never read, and is no reason to wait. */
bool follow_has_all_parts(struct client_follow *f)
{
    if (!f->o.grow || !workflow_is_open(f->w) || f->broken.kind != ERROR_NONE || f->parts_final)
        return true;
    follow_ask_part(f);
    return false;
}
