/* A run that grows: see job_growth.h.
 *
 * I1. Parts are appended in the order of their numbers on the board, each from the bytes that stand
 *     there: so every agent has the same tasks under the same numbers, up to how far it has come.
 * I2. Nothing is offered before the tasks that decide are DONE, by records that are proved; and a run with
 *     something pending whose deciding tasks are all DONE has not ended. So whoever dies between the two
 *     leaves work for others, and nothing half.
 * I3. Putting a task that is there changes nothing: it may be done again by whoever thinks it necessary. */
#include "cluster/agent/job_growth.h"

#include "base/clock.h"
#include "base/plural.h"
#include "cluster/agent/agent_state.h"
#include "cluster/agent/watch.h"
#include "model/future.h"

#include <stdlib.h>

enum {
    READS_MOST = 1023,  /* deciding tasks that are asked about at once */
    SETTLES_MOST = 256, /* parents that are looked after at once */
};

static bool is_open(const struct job *j)
{
    return !j->growth.broken && workflow_is_open(j->w);
}

/* ---- what stands on the board ---- */

/* x keeps both forms: the sealed one for others, the plain one for this workflow. */
static bool part_unseal(const struct job *j, uint32_t number, const void *data, size_t n,
                        struct joined_part *x)
{
    bool good =
        run_part_unseal(&x->part, &j->agent->charter, j->number, j->ticket.id, number, data, n);
    if (good)
        bytes_put(&x->sealed, data, n);
    return good;
}

static void part_free(struct joined_part *x)
{
    strbuf_free(&x->sealed);
    run_part_free(&x->part);
    array_free(&x->deciders);
}

/* It stays where it is until we have something to offer in its place. */
static void growth_distrust(struct job *j, const void *data, size_t n)
{
    struct job_growth *g = &j->growth;
    strbuf_clear(&g->forged);
    strbuf_add_bytes(&g->forged, data, n);
    if (!g->told)
        job_log(j, "what stands on the board as joining it was written by nobody who has the "
                   "cluster's key; it is not looked at: somebody else can write to the store");
    g->told = true;
}

/* ---- appending ---- */

/* Which tasks decided: before it is appended, since that changes what is pending. */
static void part_note_deciders(const struct job *j, struct joined_part *x)
{
    struct future *f = j->w->future;
    struct bytes in = {x->part.bytes.at, x->part.bytes.n, false};
    size_t items = f ? f->ops->items(f) : 0;
    for (uint32_t n = bytes_u32(&in); n && !in.bad; n--) {
        uint32_t i = bytes_u32(&in);
        struct future_item item = i < items ? f->ops->item(f, i) : (struct future_item){0};
        for (uint32_t t = item.first; t < item.first + item.count; t++)
            array_push(&x->deciders, t);
    }
}

/* The same everywhere: also the reason why it cannot be. */
static bool part_append(struct job *j, struct joined_part *x, struct error *err)
{
    struct future_part p;
    x->first = j->w->ntasks;
    part_note_deciders(j, x);
    bool good = future_play_part(j->w, x->part.bytes.at, x->part.bytes.n, &p, err);
    if (good && p.workflow)
        good = (j->ticket.shared ||
                (depot_check_names(p.workflow, err) && depot_check_folders(p.workflow, err))) &&
               workflow_append(j->w, p.workflow, p.links.at, p.links.n, err);
    future_part_free(&p);
    x->end = j->w->ntasks;
    return good;
}

/* What the ticket says of each task, for those that joined: they come after what was there, in the
 * order of the file, unless the user says otherwise. */
static void ticket_lengthen(struct job *j, uint32_t first)
{
    const struct workflow *w = j->w;
    struct ticket *t = &j->ticket;
    for (uint32_t i = first; i < w->ntasks && t->priority.n; i++)
        array_push(&t->priority, (w->priority ? w->priority[i] : 0) * 4294967296.0 - (double)i);
    for (uint32_t i = (uint32_t)t->seconds.n; i && i < w->ntasks; i++)
        array_push(&t->seconds, i >= first && w->flags[i] & TASK_HAS_WORK ? w->work[i] : 0);
}

/* Before needs, executor, store and scheduler are opened, which then see one workflow that is larger. */
void growth_open(struct job *j, const struct sealed_parts *parts)
{
    struct job_growth *g = &j->growth;
    uint32_t first = j->w->ntasks;
    g->first_object = j->w->nobjects;
    for (size_t i = 0; i < parts->n && !g->broken; i++) {
        struct joined_part x = {0};
        struct error err = {0};
        if (!part_unseal(j, (uint32_t)i, parts->at[i].at, parts->at[i].n, &x)) {
            growth_distrust(j, parts->at[i].at, parts->at[i].n);
            part_free(&x);
            break;
        }
        g->broken = !part_append(j, &x, &err);
        if (g->broken)
            job_log(j, err.text);
        array_push(&g->parts, x);
    }
    ticket_lengthen(j, first);
    g->look = true;
}

void growth_close(struct job *j)
{
    for (size_t i = 0; i < j->growth.parts.n; i++)
        part_free(&j->growth.parts.at[i]);
    array_free(&j->growth.parts);
    array_free(&j->growth.deciders);
    strbuf_free(&j->growth.forged);
}

/* Everything that the job keeps by task and object. */
static void job_lengthen(struct job *j, uint32_t first, uint32_t object)
{
    struct agent *a = j->agent;
    ticket_lengthen(j, first);
    j->options.priority = j->ticket.priority.n ? j->ticket.priority.at : NULL;
    j->options.has = peer_capacity(a, a->node, j->w, 0).has;
    needs_extend(&j->needs, first, object);
    supply_grow(j, first, object);
    if (j->depot)
        depot_grow(j->depot);
    executor_grow(j->executor, first, j->options.priority);
    struct sched_config config = executor_sched_config(j->executor);
    driver_grow(j->driver, &config);
    for (uint32_t node = 0; driver_sched(j->driver) && node < a->peers.n; node++)
        job_capacity_changed(j, node); /* they may ask for what nobody has asked for so far */
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Parents that were there before: how they ended is looked up, since who ended them may not know of
 * their new children. */
static void settle_parents(struct job *j, uint32_t first, uint32_t end)
{
    const struct workflow *w = j->w;
    ARRAY(uint32_t) parents = {0};
    for (uint32_t e = w->pred_off[first]; e < w->pred_off[end]; e++)
        if (w->pred_task[e] < first)
            array_push(&parents, w->pred_task[e]);
    if (parents.n)
        qsort(parents.at, parents.n, sizeof *parents.at, by_number);
    for (size_t i = 0; i < parents.n; i++)
        if (!i || parents.at[i] != parents.at[i - 1])
            job_ask(j, META_SETTLE, parents.at[i], SLOT_DECIDES);
    array_free(&parents);
}

/* By who offered it: the tasks are ours, until others steal them. */
static void put_tasks(struct job *j, struct joined_part *x)
{
    ARRAY(uint32_t) tasks = {0};
    settle_parents(j, x->first, x->end);
    for (uint32_t t = x->first; t < x->end; t++) {
        job_ask(j, META_PUT, t, NONE)->time = job_now(j);
        array_push(&tasks, t);
    }
    job_flush_ops(j);
    x->put = true;
    if (tasks.n)
        driver_handle(j->driver, &(struct sched_event){.kind = SCHED_EVENT_SUBMIT,
                                                       .submit = {tasks.at, (uint32_t)tasks.n}});
    array_free(&tasks);
}

/* For who is gone. When all are answered, the scheduler takes what is its own. */
static void put_again(struct job *j, struct joined_part *x)
{
    settle_parents(j, x->first, x->end);
    for (uint32_t t = x->first; t < x->end; t++, j->growth.puts++)
        job_ask(j, META_PUT, t, SLOT_PUT_AGAIN)->time = job_now(j);
    x->put = true;
}

/* ---- telling ---- */

/* One that does not fit into a message is only named: who hears it asks the board. */
static void part_message(const struct job *j, uint32_t number, struct strbuf *out)
{
    const struct strbuf *sealed = &j->growth.parts.at[number].sealed;
    bytes_put_u64(out, j->number);
    bytes_put_u32(out, number);
    if (sealed->n + 64 < LINK_MESSAGE_MAX)
        bytes_put(out, sealed->at, sealed->n);
}

/* To one who comes: all of them, in their order, and before anything about their tasks. */
void growth_tell(struct job *j, struct link *l)
{
    for (uint32_t i = 0; i < j->growth.parts.n; i++) {
        struct strbuf out = {0};
        part_message(j, i, &out);
        link_send(l, MESSAGE_GREW, out.at, out.n, NULL, 0);
        strbuf_free(&out);
    }
}

/* Watchers by everyone who has it, since each tells of its own tasks; agents by who offered it. */
static void tell_everybody(struct job *j, uint32_t number)
{
    struct agent *a = j->agent;
    struct strbuf out = {0};
    part_message(j, number, &out);
    for (size_t i = 0; i < j->watchers.n; i++)
        link_send(j->watchers.at[i], MESSAGE_GREW, out.at, out.n, NULL, 0);
    for (uint32_t node = 0; j->growth.parts.at[number].part.node == a->node && node < a->peers.n;
         node++) {
        struct link *l = peer_link(a, node);
        if (l)
            link_send(l, MESSAGE_GREW, out.at, out.n, NULL, 0);
    }
    strbuf_free(&out);
}

/* ---- a part comes ---- */

/* What joins cannot join: the run ends, everywhere, and who follows it finds the same reason. */
static void growth_break(struct job *j, const struct error *err)
{
    j->growth.broken = true;
    job_log(j, err->text);
    if (j->state < JOB_STOPPING && job_is_scheduling(j))
        j->stop_due = true;
}

/* I1: the next one. */
static void growth_take(struct job *j, const void *data, size_t n)
{
    struct job_growth *g = &j->growth;
    struct joined_part x = {0};
    struct error err = {0};
    uint32_t number = (uint32_t)g->parts.n, object = j->w->nobjects;
    if (g->broken)
        return;
    if (!part_unseal(j, number, data, n, &x)) {
        growth_distrust(j, data, n);
        part_free(&x);
        return;
    }
    strbuf_clear(&g->forged);
    g->none = false;
    watch_flush(j); /* events point into texts that move */
    bool good = part_append(j, &x, &err);
    if (x.end > x.first)
        job_lengthen(j, x.first, object);
    array_push(&g->parts, x);
    g->look = true;
    agent_trace(j->agent, "run %llu: part %u, %u task%s", (unsigned long long)j->number, number,
                x.end - x.first, plural(x.end - x.first));
    tell_everybody(j, number);
    struct joined_part *own = &g->parts.at[number];
    if (own->part.node == j->agent->node && own->part.life == j->agent->life &&
        driver_sched(j->driver)) /* else we died, and are another now */
        put_tasks(j, own);
    if (!good)
        growth_break(j, &err);
}

struct growth_question {
    struct agent *agent;
    uint64_t run;
    uint8_t id[SEAL_ID];
    uint32_t number;
};

static struct growth_question *question_new(const struct job *j)
{
    struct growth_question *q = mem_new(struct growth_question, 1);
    *q = (struct growth_question){
        .agent = j->agent, .run = j->number, .number = (uint32_t)j->growth.parts.n};
    memcpy(q->id, j->ticket.id, sizeof q->id);
    return q;
}

/* What stands there now; the job may be gone, or further. */
static void growth_answered(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct growth_question q = *(struct growth_question *)context;
    struct job *j = agent_job(q.agent, q.run);
    free(context);
    if (!j || memcmp(j->ticket.id, q.id, sizeof q.id) != 0)
        return;
    struct job_growth *g = &j->growth;
    g->asked = false;
    if (!good)
        job_log(j, why);
    else if (q.number == g->parts.n && n)
        growth_take(j, data, n);
    else if (q.number == g->parts.n)
        g->none = true;
    if (g->ask_again)
        growth_ask(j);
}

/* One question at a time: a second one while it is open is asked when it was answered. */
void growth_ask(struct job *j)
{
    struct job_growth *g = &j->growth;
    g->ask_again = g->asked;
    if (g->asked || !is_open(j))
        return;
    g->asked = true;
    board_run_part(j->agent->board, j->number, (uint32_t)g->parts.n, growth_answered,
                   question_new(j));
}

/* What comes over a link is sealed as on the board, and verified in the same way. */
void growth_message(struct job *j, struct bytes *in)
{
    uint32_t number = bytes_u32(in);
    if (in->bad || number < j->growth.parts.n || !is_open(j))
        return;
    if (number == j->growth.parts.n && in->n)
        growth_take(j, in->at, in->n);
    else
        growth_ask(j);
}

/* ---- deciding ---- */

/* Tasks that decide are few: the array is only as long as the last of them. */
static struct decider *decider_of(struct job *j, uint32_t task)
{
    struct job_growth *g = &j->growth;
    while (g->deciders.n <= task)
        array_push(&g->deciders, (struct decider){0});
    return &g->deciders.at[task];
}

void growth_task_ended(struct job *j, uint32_t task, enum meta_status status)
{
    if (!is_open(j))
        return;
    decider_of(j, task)->status = (uint8_t)status;
    j->growth.look = true;
}

void growth_look_again(struct job *j)
{
    j->growth.look = true;
}

void growth_took_record(struct job *j, const struct meta_record *r)
{
    struct job_growth *g = &j->growth;
    g->reads -= g->reads > 0;
    if (r->status < META_DONE || r->task >= j->w->ntasks) {
        g->batch = 0; /* who ends it will ask */
        return;
    }
    if (!g->reads)
        g->batch = g->batch < READS_MOST ? 2 * g->batch + 1 : READS_MOST;
    decider_of(j, r->task)->status = r->status;
    g->look = true;
}

/* Does a task that ended so decide it? */
static bool item_is_decided_by(const struct future_item *item, uint8_t status)
{
    return item->by_ended ? meta_is_complete(status) : status == META_DONE;
}

/* Have all that decide? Of those that we do not know of, the store is asked, a few first, since who ends
 * the last of them asks about all. `lost`: one ended otherwise, so that this is never read. What was
 * found to have decided in front is not looked at again. */
static bool item_is_due(struct job *j, const struct future_item *item, bool *lost)
{
    struct job_growth *g = &j->growth;
    bool asks = g->reads == 0;
    *lost = item->count == 0;
    if (*lost)
        return false;
    uint32_t front = decider_of(j, item->first)->front, at = front;
    for (; at < item->count && !*lost; at++) {
        uint8_t status = decider_of(j, item->first + at)->status;
        front += at == front && item_is_decided_by(item, status);
        *lost = status >= META_DONE && !item_is_decided_by(item, status);
        if (status)
            continue;
        if (!asks || g->reads > g->batch)
            break;
        job_ask(j, META_READ, item->first + at, SLOT_DECIDES);
        g->reads++;
    }
    decider_of(j, item->first)->front = front;
    return front == item->count;
}

/* What it made is looked at here: so it must be here. */
static bool outputs_are_here(struct job *j, const struct future_item *item)
{
    const struct workflow *w = j->w;
    bool here = true;
    for (uint32_t t = item->first; j->depot && t < item->first + item->count; t++)
        for (uint32_t o = w->object_off[t];
             decider_of(j, t)->status == META_DONE && o < w->object_end[t]; o++)
            here = want_object(j, o, NONE) && here;
    return here;
}

static void growth_offer(struct job *j, const bool *ready)
{
    struct job_growth *g = &j->growth;
    const struct agent *a = j->agent;
    struct run_part p = {.number = (uint32_t)g->parts.n, .node = a->node, .life = a->life};
    struct strbuf sealed = {0};
    future_note_part(j->w, ready, j->options.folder, &p.bytes);
    run_part_seal(&p, &a->charter, j->number, j->ticket.id, &sealed);
    g->asked = true;
    board_offer_part(a->board,
                     &(struct board_part){.run = j->number,
                                          .number = (uint32_t)g->parts.n,
                                          .offer = sealed.at,
                                          .noffer = sealed.n,
                                          .instead = g->forged.n ? g->forged.at : NULL,
                                          .ninstead = g->forged.n},
                     growth_answered, question_new(j));
    run_part_free(&p);
    strbuf_free(&sealed);
}

/* Cheap when nothing was done: one look at a flag. */
void growth_turn(struct job *j)
{
    struct job_growth *g = &j->growth;
    struct future *f = j->w->future;
    if (!g->look || g->asked || j->state != JOB_OPEN || !is_open(j) || !agent_is_member(j->agent))
        return;
    size_t items = f->ops->items(f);
    bool *ready = mem_new_zero(bool, items), any = false, waits = false, lost;
    for (size_t i = 0; i < items; i++) {
        struct future_item item = f->ops->item(f, i);
        if (!item_is_due(j, &item, &lost))
            continue;
        ready[i] = outputs_are_here(j, &item);
        any |= ready[i];
        waits |= !ready[i];
    }
    g->look = waits;
    if (any)
        growth_offer(j, ready);
    free(ready);
}

/* ---- who holds it open ---- */

static void hold_answered(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct growth_question q = *(struct growth_question *)context;
    struct job *j = agent_job(q.agent, q.run);
    (void)data;
    free(context);
    if (!j || memcmp(j->ticket.id, q.id, sizeof q.id) != 0)
        return;
    j->growth.hold_asked = false;
    j->growth.unheld = good && !n;
    if (!good)
        job_log(j, why);
}

/* A program that may add tasks ends its run itself. When it is gone we do: it is asked for on the board, and
 * each answer is good for one end. */
static bool nobody_holds(struct job *j)
{
    struct job_growth *g = &j->growth;
    bool unheld = g->unheld || !j->ticket.adds;
    g->unheld = false;
    if (unheld || g->hold_asked)
        return unheld;
    g->hold_asked = true;
    board_run_hold(j->agent->board, j->number, hold_answered, question_new(j));
    return false;
}

/* Refused: somebody holds it again, or tasks have joined; it goes on. */
static void end_answered(void *context, bool good, const char *why)
{
    struct growth_question q = *(struct growth_question *)context;
    struct job *j = agent_job(q.agent, q.run);
    (void)why;
    free(context);
    if (j && !good && memcmp(j->ticket.id, q.id, sizeof q.id) == 0)
        j->end_reported = false;
}

void growth_end_run(struct job *j)
{
    const struct agent *a = j->agent;
    struct board_change change =
        charter_change(&a->charter, j->number, j->ticket.id, BOARD_RUN_ENDED);
    uint32_t parts = (uint32_t)j->growth.parts.n;
    change.parts = &parts;
    board_run_state(a->board, &change, end_answered, question_new(j));
}

/* I2. Asked when the store has counted all known tasks as ended. */
bool growth_is_final(struct job *j)
{
    struct job_growth *g = &j->growth;
    struct future *f = j->w->future;
    bool final = true, lost;
    if (!is_open(j))
        return true;
    if (j->state >= JOB_STOPPING) { /* nothing is offered any more; what was, is counted */
        bool none = g->none;
        growth_ask(j);
        return none;
    }
    for (size_t i = 0, items = f->ops->items(f); i < items; i++) {
        struct future_item item = f->ops->item(f, i);
        if (item_is_due(j, &item, &lost))
            g->look = true;
        final = final && lost;
    }
    return final && nobody_holds(j);
}

/* ---- what is left undone ---- */

static bool is_first_that_lives(const struct agent *a)
{
    for (uint32_t node = 0; node < a->node; node++)
        if (peer_is_up(a, node))
            return false;
    return true;
}

/* Does somebody else see to it that this part is put? What is ours and was not put when it came was found when
 * the job was opened: a program named us before we had the run, or we died. */
static bool is_others_to_put(const struct job *j, const struct joined_part *x)
{
    const struct agent *a = j->agent;
    const struct run_part *p = &x->part;
    if (p->node == a->node)
        return p->life != a->life && !is_first_that_lives(a);
    return !is_first_that_lives(a) ||
           (p->node < a->peers.n && peer_is_up(a, p->node) &&
            a->peers.at[p->node].life == p->life && !job_is_without(j, p->node));
}

/* I2 and I3, for whoever died: the first that lives does it, so that not all do. */
void growth_second(struct job *j)
{
    struct job_growth *g = &j->growth;
    const struct agent *a = j->agent;
    growth_ask(j);
    if (!agent_is_member(a))
        return;
    /* somebody may have died before he looked */
    g->look |= is_open(j) && j->idle > 0 && is_first_that_lives(a);
    for (size_t i = 0; i < g->parts.n && !g->puts; i++)
        if (!g->parts.at[i].put && !is_others_to_put(j, &g->parts.at[i]))
            put_again(j, &g->parts.at[i]);
}

/* A joined task that waits for parents which were there before. */
static void look_after(struct job *j, uint32_t task, uint32_t *settles)
{
    const struct workflow *w = j->w;
    const struct joined_part *x = NULL;
    for (size_t i = j->growth.parts.n; i-- && !x;)
        if (task >= j->growth.parts.at[i].first)
            x = &j->growth.parts.at[i];
    for (uint32_t e = w->pred_off[task]; x && e < w->pred_off[task + 1]; e++)
        if (w->pred_task[e] < x->first && *settles < SETTLES_MOST) {
            job_ask(j, META_SETTLE, w->pred_task[e], SLOT_DECIDES);
            ++*settles;
        }
}

void growth_answers(struct job *j, const struct meta_answers *answers)
{
    struct job_growth *g = &j->growth;
    uint32_t settles = 0;
    if (!g->parts.n)
        return;
    for (size_t i = 0; i < answers->n; i++) {
        const struct meta_answer *a = &answers->at[i];
        if (a->kind == META_GET && a->item.waiting && a->item.task >= g->parts.at[0].first)
            look_after(j, a->item.task, &settles);
        if (a->kind != META_PUT || a->slot != SLOT_PUT_AGAIN || !g->puts || --g->puts)
            continue;
        job_log(j,
                "tasks that joined it were put for an agent that is gone, or did not have the run");
        if (driver_sched(j->driver))
            job_rejoined(j);
    }
}

/* Each part remembers who decided; few parts, and asked only when data was lost. */
bool growth_is_same(struct job *j, uint32_t task)
{
    const struct job_growth *g = &j->growth;
    for (size_t i = 0; i < g->parts.n; i++)
        for (size_t k = 0; k < g->parts.at[i].deciders.n; k++)
            if (g->parts.at[i].deciders.at[k] == task)
                return future_part_is_same(g->parts.at[i].part.bytes.at,
                                           g->parts.at[i].part.bytes.n, j->options.folder);
    return true;
}
