/* What agents and the store tell of a run that is followed, and how it is passed on.
 *
 * Invariants:
 *   I1. seen[task] only grows from FOLLOW_SEEN_DONE on: reports may come twice and out of order,
 *       over an old link and a new one, from an agent and from the store.
 *   I2. Numbers in messages are checked against the workflow before they index anything.
 *   I3. A task's log is kept here (STATE/logs/LABEL) as a run on this machine keeps it. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cluster/client/follow.h"
#include "base/tree.h"
#include "memo/decide.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { READS = 4096 }; /* at once */

/* Seconds for an agent to tell of files when the run has ended: a link is tried again every second, and
 * who is still cut off then may be so for hours. */
static const double UNHEARD = 6;
enum { UNTOLD = 64 }; /* failures whose reasons are waited for at once: nobody reads more */
#define UNHEARD_MARK                                                                               \
    0x80000000u /* of a question about files: `slot` has the object in the other bits */
static const double CLOCKS_APART = 2; /* seconds, of the folder's server and the store */

/* ---- telling ---- */

/* To every listener, in the order in which they were given. */
void follow_report(struct client_follow *f, const struct trace_event *e)
{
    for (size_t i = 0; i < f->o.nsinks; i++)
        f->o.sinks[i]->event(f->o.sinks[i]->context, e);
}

void follow_report_file(struct client_follow *f, const struct trace_file *file)
{
    for (size_t i = 0; i < f->o.nsinks; i++)
        if (f->o.sinks[i]->file)
            f->o.sinks[i]->file(f->o.sinks[i]->context, file);
}

/* Once: follow_record_learned() tries until it can. */
void follow_learn_task(struct client_follow *f, uint32_t task)
{
    if (!f->learned[task]) {
        f->learned[task] = 1;
        array_push(&f->unlearned, task);
    }
}

/* Final outputs of a task that ran are wanted; those of one that was reused are here. */
void follow_task_ended(struct client_follow *f, uint32_t task, enum follow_seen how)
{
    /* told both ways, whichever comes first: the store is asked at the end */
    if (f->seen[task] >= FOLLOW_SEEN_FAILED && how == FOLLOW_SEEN_DONE)
        f->marks[task] |= FOLLOW_MARK_CONTRADICTED;
    f->reported_ended += f->seen[task] < FOLLOW_SEEN_FAILED;
    f->seen[task] = (uint8_t)how;
    client_hurry(f->c, f->reported_ended >= f->w->ntasks);
    if (how >= FOLLOW_SEEN_SKIPPED)
        need_without_outputs(f->o.needs, task);
    if (how < FOLLOW_SEEN_DONE)
        return;
    if (how == FOLLOW_SEEN_DONE && f->w->object_off[task] == f->w->object_end[task])
        follow_learn_task(f, task); /* nobody tells of its files: it has none */
    for (uint32_t o = f->w->object_off[task]; o < f->w->object_end[task]; o++)
        if (how == FOLLOW_SEEN_DONE && !workflow_is_intermediate(f->w, o))
            collect_want(f->collect, o);
}

bool follow_is_done(const struct client_follow *f, uint32_t task)
{
    return f->seen[task] >= FOLLOW_SEEN_DONE;
}

/* It may be gone before the board is looked at again: then what it runs is lost with it. */
static void follow_sees_at_work(const struct client_follow *f, uint32_t node)
{
    struct client_peer *p = client_peer(f->c, node);
    if (p)
        p->at_work = true;
}

/* The end of a task of which the store has told, and now an agent: taken out. NULL: it is none of them. */
static const struct trace_event *follow_take_untold(struct client_follow *f, uint32_t task,
                                                    struct trace_event *out)
{
    for (size_t i = 0; i < f->untold.n; i++)
        if (f->untold.at[i].id == task) {
            *out = f->untold.at[i];
            f->untold.at[i] = array_pop(&f->untold);
            return out;
        }
    return NULL;
}

/* One event of an agent. The same may come twice, over an old and a new link: a task that is done
 * stays done. Counters are kept by agent, since a display wants their sum. */
static void follow_event(struct client_follow *f, uint32_t node, struct trace_event *e)
{
    e->node = node;
    if (e->kind == TRACE_COUNTER) {
        if (e->id >= FOLLOW_COUNTERS)
            return;
        size_t i = 0;
        while (i < f->counters.n && f->counters.at[i].node != node)
            i++;
        if (i == f->counters.n)
            array_push(&f->counters, (struct follow_counters){.node = node});
        f->counters.at[i].value[e->id] = e->amount;
        f->counter_known[e->id] = true;
        f->counters_changed = true;
        return;
    }
    if (e->kind == TRACE_TRANSFER) { /* told by who got it */
        e->node = e->other;
        e->other = node;
        if (e->id < f->w->nobjects)
            follow_report(f, e);
        return;
    }
    if (e->id >= f->w->ntasks || follow_is_done(f, e->id))
        return; /* told before, over another link */
    switch (e->kind) {
    case TRACE_BEGIN:
        if (f->seen[e->id] == FOLLOW_SEEN_RUNNING && f->node[e->id] == node)
            break; /* an agent tells it again when others come to follow */
        if (f->seen[e->id] == FOLLOW_SEEN_NOTHING)
            f->seen[e->id] = FOLLOW_SEEN_RUNNING;
        follow_sees_at_work(f, node);
        f->node[e->id] = node;
        follow_report(f, e);
        break;
    case TRACE_TASK:
        f->node[e->id] = node;
        follow_hide(f, e->id);
        f->result.attempts++;
        f->result.busy += (e->finish - e->start) * f->w->cores[e->id];
        f->result.cpu += e->cpu;
        if (e->outcome == TRACE_DONE)
            follow_task_ended(f, e->id, FOLLOW_SEEN_DONE);
        else if (f->seen[e->id] == FOLLOW_SEEN_RUNNING)
            f->seen[e->id] = FOLLOW_SEEN_NOTHING;
        if (e->outcome == TRACE_CANCELLED && !follow_ended_by_wish(f, e->id))
            follow_attempt_lost(f, e->id, e->finish - e->start);
        if (e->outcome != TRACE_DONE) {
            follow_take_untold(f, e->id, &(struct trace_event){0});
            f->marks[e->id] |= FOLLOW_MARK_FAILED_LIVE;
        }
        follow_report(f, e);
        break;
    case TRACE_REUSED: /* it ran there before, and was not believed then: the results are there, not here */
    case TRACE_SKIPPED:
        f->node[e->id] = node;
        follow_task_ended(f, e->id,
                          e->kind == TRACE_REUSED ? FOLLOW_SEEN_DONE : FOLLOW_SEEN_SKIPPED);
        follow_report(f, e);
        break;
    default:
        break;
    }
}

void follow_report_node(struct client_follow *f, const struct trace_node *n)
{
    for (size_t i = 0; i < f->o.nsinks; i++)
        if (f->o.sinks[i]->node)
            f->o.sinks[i]->node(f->o.sinks[i]->context, n);
}

/* Ten times a second at most, not with every change. */
void follow_report_counters(struct client_follow *f)
{
    if (!f->counters_changed)
        return;
    f->counters_changed = false;
    double now = client_now(f->c) - f->created;
    for (uint32_t id = 0; id < FOLLOW_COUNTERS; id++) {
        double sum = 0;
        if (!f->counter_known[id])
            continue;
        for (size_t i = 0; i < f->counters.n; i++)
            sum += f->counters.at[i].value[id];
        follow_report(
            f, &(struct trace_event){
                   .kind = TRACE_COUNTER, .id = id, .start = now, .finish = now, .amount = sum});
    }
}

/* ---- what agents say ---- */

/* The count must fit the length to the byte. */
static bool follow_take_events(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    struct bytes *in = &m->in;
    if (m->run != f->o.run)
        return true; /* another run's, that is no longer followed */
    uint32_t node = bytes_u32(in), n = bytes_u32(in);
    if (in->bad || (uint64_t)n * PROTOCOL_EVENT_BYTES != in->n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct trace_event e = {0};
        protocol_event(in, &e);
        follow_event(f, node, &e);
    }
    return bytes_end(in);
}

/* An object's content, once. With the contents of all that it read and wrote a task can be put on
 * record (need_learn). */
static void follow_learn_file(struct client_follow *f, struct trace_file *file)
{
    struct needs *n = f->o.needs;
    uint32_t o = file->object;
    if (o >= f->w->nobjects || f->w->producer[o] == NONE || f->reported[o])
        return;
    f->reported[o] = 1;
    file->task = f->w->producer[o];
    file->path = f->w->object_name[o] ? workflow_text(f->w, f->w->object_name[o]) : NULL;
    n->content[o] = file->digest;
    n->bytes[o] = file->size;
    follow_learn_task(f, file->task);
    if (file->path)
        follow_report_file(f, file);
}

static bool follow_take_files(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    struct bytes *in = &m->in;
    if (m->run != f->o.run)
        return true; /* another run's, that is no longer followed */
    for (uint32_t n = bytes_u32(in); n-- && !in->bad;) {
        struct trace_file file = {.object = bytes_u32(in), .task = bytes_u32(in)};
        const void *digest = bytes_take(in, sizeof file.digest.at);
        const void *key = bytes_take(in, sizeof file.key.at);
        file.size = bytes_f64(in);
        file.produced = bytes_u8(in);
        if (in->bad)
            return false;
        memcpy(file.digest.at, digest, sizeof file.digest.at);
        memcpy(file.key.at, key, sizeof file.key.at);
        follow_learn_file(f, &file);
    }
    return bytes_end(in);
}

/* What a task wrote, beside the logs of runs here. The caller frees; NULL: it wrote nothing. */
static char *follow_keep_log(struct client_follow *f, uint32_t task, uint32_t attempt,
                             const char *text, size_t n)
{
    struct strbuf path = {0};
    struct error err = {0};
    if (!n || !f->o.state)
        return NULL;
    strbuf_printf(&path, "%s/logs/%s/", f->o.state, f->o.label ? f->o.label : "cluster");
    const char *name = workflow_task_name(f->w, task);
    for (size_t i = 0; name[i] && i < 180; i++)
        strbuf_add_char(&path, name[i] == '/' || (unsigned char)name[i] < 32 ? '_' : name[i]);
    if (strlen(name) > 180 || strchr(name, '/'))
        strbuf_printf(&path, "-%u", task);
    if (attempt > 1)
        strbuf_printf(&path, ".%u", attempt);
    strbuf_add(&path, ".log");
    if (make_parents(path.at, &err) && file_write(path.at, text, n, &err)) {
        f->result.log_bytes += (double)n;
        return strbuf_steal(&path);
    }
    client_say(f->c, "%s", err.text);
    strbuf_free(&path);
    return NULL;
}

/* Failures are told again to everybody who comes: each attempt counts once. At most RUN_FAILURES
 * are kept. */
static bool follow_take_failure(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    struct bytes *in = &m->in;
    if (m->run != f->o.run)
        return true; /* another run's, that is no longer followed */
    struct run_failure x = {.task = bytes_u32(in), .attempt = bytes_u32(in)};
    x.outcome = (enum trace_outcome)bytes_u32(in);
    x.status = (int)bytes_u32(in);
    x.last = bytes_u8(in);
    x.limit = bytes_f64(in);
    size_t n, nlog;
    const char *text = bytes_text(in, &n), *log = bytes_text(in, &nlog);
    if (!bytes_end(in) || x.task >= f->w->ntasks || x.outcome > TRACE_NOT_STARTED)
        return bytes_end(in);
    if (x.last && f->seen[x.task] == FOLLOW_SEEN_DONE)
        f->marks[x.task] |= FOLLOW_MARK_CONTRADICTED;
    if (x.last && !follow_is_done(f, x.task))
        follow_task_ended(f, x.task,
                          x.outcome == TRACE_CANCELLED          ? FOLLOW_SEEN_REMOVED
                          : f->w->flags[x.task] & TASK_MAY_FAIL ? FOLLOW_SEEN_EXCUSED
                                                                : FOLLOW_SEEN_FAILED);
    if (x.attempt <= f->blamed[x.task])
        return true; /* told before: an agent tells all of them to whoever comes */
    f->blamed[x.task] = x.attempt;
    double now = client_now(f->c) - f->created;
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = x.task,
                            .node = client_peer_of(m)->node,
                            .start = now,
                            .finish = now,
                            .attempt = x.attempt};
    bool live = !f->o.late || f->marks[x.task] & FOLLOW_MARK_FAILED_LIVE; /* as an event */
    if (x.last && (follow_take_untold(f, x.task, &e) || !live)) {
        e.outcome = x.outcome;
        e.status = x.status;
        follow_report(f, &e);
    }
    x.log = follow_keep_log(f, x.task, x.attempt, log, nlog);
    x.text = n ? mem_copy_bytes(text, n) : NULL;
    if (f->result.failures.n < RUN_FAILURES) {
        array_push(&f->result.failures, x);
    } else {
        free(x.text);
        free(x.log);
    }
    return true;
}

/* Of a task that went well. An agent tells all of them to whoever comes; each is kept once. */
static bool follow_take_log(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    struct bytes *in = &m->in;
    struct strbuf text = {0};
    size_t n;
    if (m->run != f->o.run)
        return true; /* another run's, that is no longer followed */
    uint32_t task = bytes_u32(in), attempt = bytes_u32(in);
    uint64_t before = bytes_u64(in);
    const char *log = bytes_text(in, &n);
    if (!bytes_end(in))
        return false;
    if (task == NONE && !f->said_logs) {
        f->said_logs = true;
        client_say(f->c,
                   "tasks that went well have written more than is brought here; the other logs "
                   "are at %.*s while the run is there",
                   (int)n, log);
    }
    if (task >= f->w->ntasks || attempt <= f->logged[task])
        return true;
    f->logged[task] = attempt;
    if (before)
        strbuf_printf(&text, "[the first %" PRIu64 " bytes are left out]\n", before);
    strbuf_add_bytes(&text, log, n);
    free(follow_keep_log(f, task, attempt, text.at, text.n));
    strbuf_free(&text);
    return true;
}

/* It does not take part; when no agent does, this is the end (follow.c). */
static bool follow_take_refused(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    uint32_t node = bytes_u32(&m->in);
    size_t n;
    const char *why = bytes_text(&m->in, &n);
    struct client_peer *p = client_peer(f->c, node);
    if (!bytes_end(&m->in))
        return false;
    if (m->run != f->o.run || !p)
        return true;
    p->refuses = m->run;
    snprintf(p->refusal, sizeof p->refusal, "%.*s", (int)(n < 399 ? n : 399), why ? why : "");
    return true;
}

message_handler *const follow_handlers[MESSAGES] = {
    [MESSAGE_LOG] = follow_take_log,         [MESSAGE_EVENTS] = follow_take_events,
    [MESSAGE_FILES] = follow_take_files,     [MESSAGE_FAILED] = follow_take_failure,
    [MESSAGE_REFUSED] = follow_take_refused, [MESSAGE_GREW] = follow_take_part,
    [MESSAGE_RESULT] = follow_take_result,   [MESSAGE_SHOWN] = follow_take_shown,
};

/* ---- what the board says ---- */

/* The board's word counts when somebody with the key wrote it, of this very run, and when it does not
 * take back what was seen before. What is not believed is said once; agents put right what they know,
 * and when nobody does for FOLLOW_FORGED seconds this is the end: what follows cannot be known. */
bool follow_believes(struct client_follow *f, const struct board_run *r)
{
    double now = clock_seconds();
    if (f->c->changed.kind != ERROR_NONE) {
        error_set(&f->error, f->c->changed.kind, "%s", f->c->changed.text);
        return false;
    }
    bool own = memcmp(r->id, f->o.ticket->id, sizeof r->id) == 0;
    if (!r->forged && own && (!f->known || r->state >= f->state)) {
        f->forged = 0;
        return true;
    }
    const char *what = r->forged ? "was written by nobody who has the cluster's key"
                       : own
                           ? "is an earlier state of it than was seen before: the store went back"
                           : "is of another run: the store lost its data and gave the number again";
    if (f->forged == 0) {
        f->forged = now;
        client_say(f->c, "what the board at %s says of run %" PRIu64 " %s; it is not believed",
                   f->c->o.address->text, f->o.run, what);
    } else if (now - f->forged > FOLLOW_FORGED) {
        error_set(&f->error, ERROR_FAILED,
                  "what the board at %s says of run %" PRIu64
                  " %s; its results stay with the agents, and nothing was deleted",
                  f->c->o.address->text, f->o.run, what);
    }
    return false;
}

/* ---- reading the store ---- */

/* READS at a time, so that a million tasks do not fill the connection. */
static void follow_read_more(struct client_follow *f)
{
    struct meta_op *ops = mem_new_zero(struct meta_op, READS);
    size_t n = 0;
    for (; f->read_next < f->w->ntasks && n < READS; f->read_next++)
        if (!follow_is_done(f, f->read_next) || f->marks[f->read_next] & FOLLOW_MARK_CONTRADICTED ||
            (f->doubts_ends && f->seen[f->read_next] == FOLLOW_SEEN_DONE))
            ops[n++] = (struct meta_op){.kind = META_READ, .task = f->read_next};
    f->reading = n > 0;
    f->read_open = (uint32_t)n;
    if (n)
        client_ask(f->c, ops, n);
    free(ops);
}

void follow_read_store(struct client_follow *f)
{
    f->read_next = 0;
    follow_read_more(f);
}

/* For a failure of which only the store knows. */
static void follow_record_blame(struct client_follow *f, const struct meta_record *r)
{
    if (f->blamed[r->task])
        return;
    f->blamed[r->task] = r->attempts ? r->attempts : 1;
    if (f->result.failures.n < RUN_FAILURES)
        array_push(&f->result.failures,
                   (struct run_failure){.task = r->task,
                                        .attempt = r->attempts,
                                        .outcome = TRACE_FAILED,
                                        .status = 1,
                                        .last = true,
                                        .text = mem_copy_string("it failed while nobody "
                                                                "followed, and its agent does "
                                                                "not say why")});
}

/* Who attaches when a task has failed learns of it from the store, which knows neither status nor log; its
 * agent tells them a moment later. Without
 * waiting for that the log would go with the run's data, unread. True: it is not taken yet. */
static bool follow_awaits_agent(struct client_follow *f, const struct trace_event *e)
{
    struct trace_event known;
    if (!f->o.late || f->blamed[e->id] || !client_peer(f->c, e->node))
        return false;
    if (f->untold_since == 0)
        f->untold_since = clock_seconds();
    follow_take_untold(f, e->id, &known);
    if (f->untold.n >= UNTOLD || clock_seconds() - f->untold_since >= UNHEARD)
        return false;
    array_push(&f->untold, *e);
    return true;
}

bool follow_heard_failures(struct client_follow *f)
{
    if (!f->untold.n)
        return true;
    if (clock_seconds() - f->untold_since < UNHEARD)
        return false;
    /* taken as the store has them: asked for by name, since a word that contradicts it may have come */
    struct meta_op ops[UNTOLD] = {0};
    size_t n = f->untold.n;
    for (size_t i = 0; i < n; i++)
        ops[i] = (struct meta_op){.kind = META_READ, .task = f->untold.at[i].id};
    f->untold.n = 0;
    f->reading = true;
    f->read_open = (uint32_t)n;
    f->read_next = f->w->ntasks;
    client_ask(f->c, ops, n);
    return false;
}

/* What the store says of a task, told as an event if agents have not. Tasks that we completed
 * ourselves when submitting were reused. */
static void follow_take_record(struct client_follow *f, const struct meta_record *r)
{
    uint32_t t = r->task;
    if (t >= f->w->ntasks)
        return;
    bool ended_otherwise =
        r->status == META_FAILED || r->status == META_EXCUSED || r->status == META_REMOVED;
    /* the store has the last word; while the run goes on, an end may be on its way there */
    if (f->seen[t] == FOLLOW_SEEN_DONE &&
        (ended_otherwise ||
         (f->state >= BOARD_RUN_ENDED && r->status != META_DONE && !r->forged))) {
        f->seen[t] = FOLLOW_SEEN_NOTHING;
        f->reported_ended--;
        for (uint32_t o = f->w->object_off[t]; o < f->w->object_end[t]; o++)
            collect_forget(f->collect, o);
    }
    if (follow_is_done(f, t))
        return;
    f->unproved |= r->forged;
    double finish = isfinite(r->ended) ? r->ended : 0;
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = t,
                            .node = r->ran_on != NONE ? r->ran_on : 0,
                            .start = isfinite(r->started) ? r->started : finish,
                            .finish = finish,
                            .attempt = r->attempts ? r->attempts : 1};
    if (r->status == META_DONE && r->ran_on == TICKET_CLIENT_NODE) {
        e.kind = TRACE_REUSED;
        e.node = 0;
        follow_task_ended(f, t, FOLLOW_SEEN_REUSED);
        follow_report(f, &e);
    } else if (r->status == META_DONE) {
        f->node[t] = r->ran_on;
        f->result.attempts++;
        f->result.busy += (e.finish - e.start) * f->w->cores[t];
        follow_task_ended(f, t, FOLLOW_SEEN_DONE);
        follow_report(f, &e);
    } else if (r->status == META_SKIPPED) {
        e.kind = TRACE_SKIPPED;
        e.other = NONE; /* nobody is there any more who knows why */
        follow_task_ended(f, t, FOLLOW_SEEN_SKIPPED);
        follow_report(f, &e);
    } else if (r->status == META_FAILED || r->status == META_EXCUSED) {
        if (follow_awaits_agent(f, &e))
            return;
        if (f->seen[t] != FOLLOW_SEEN_FAILED && !f->blamed[t]) {
            e.outcome = TRACE_FAILED;
            e.status = 1;
            follow_report(f, &e);
        }
        follow_record_blame(f, r);
        follow_task_ended(f, t,
                          r->status == META_FAILED ? FOLLOW_SEEN_FAILED : FOLLOW_SEEN_EXCUSED);
    } else if (r->status == META_REMOVED) {
        follow_report_removed(f, t);
        follow_task_ended(f, t, FOLLOW_SEEN_REMOVED);
    }
}

/* ---- files of which nobody has told ---- */

/* Its outputs, of a task that ran, and of which no agent has told. NONE: no more from `o` on. */
static uint32_t follow_next_unheard(const struct client_follow *f, uint32_t o)
{
    const struct workflow *w = f->w;
    for (; o < w->nobjects; o++)
        if (w->producer[o] != NONE && !f->reported[o] && w->object_name[o] &&
            f->seen[w->producer[o]] == FOLLOW_SEEN_DONE)
            return o;
    return NONE;
}

/* As it stands in the folder that all share, unless somebody has changed it since the run's end. */
static void follow_read_unheard(struct client_follow *f, uint32_t o)
{
    struct strbuf path = {0};
    struct trace_file file = {.object = o, .produced = true};
    struct error err = {0};
    struct stat s;
    path_in(f->o.folder, workflow_text(f->w, f->w->object_name[o]), &path);
    if (stat(path.at, &s) == 0 && !((double)s.st_mtim.tv_sec > f->ended_at + CLOCKS_APART) &&
        memo_digest(f->o.needs->memo, path.at, false, &file.digest, &file.size, &err))
        follow_learn_file(f, &file);
    strbuf_free(&path);
}

/* The store knows what agents had, whoever has gone since: READS at a time. True: of all that it could
 * tell it has. */
static bool follow_ask_unheard(struct client_follow *f)
{
    uint32_t o;
    if (f->unheard_open || (o = follow_next_unheard(f, f->unheard_next)) == NONE)
        return !f->unheard_open;
    struct meta_op *ops = mem_new_zero(struct meta_op, READS);
    size_t n = 0;
    for (; o != NONE && n < READS; o = follow_next_unheard(f, o + 1)) {
        ops[n++] = (struct meta_op){.kind = META_WHERE, .task = o, .slot = UNHEARD_MARK | o};
        f->unheard_next = o + 1;
    }
    f->unheard_open = (uint32_t)n;
    client_ask(f->c, ops, n);
    free(ops);
    return false;
}

/* Of copies that differ nobody knows which one was read. */
static void follow_take_unheard(struct client_follow *f, const struct meta_answer *a,
                                const struct meta_answers *all)
{
    struct trace_file file = {
        .object = a->slot & ~UNHEARD_MARK, .produced = true, .size = a->item.all_size};
    f->unheard_open -= f->unheard_open > 0;
    for (uint32_t i = 0; all->digests && i < a->count; i++) {
        const struct digest *d = &all->digests[a->first + i];
        if (digest_is_zero(d))
            continue;
        if (!digest_is_zero(&file.digest) && !digest_equal(d, &file.digest))
            return;
        file.digest = *d;
    }
    if (a->status == META_DONE && !digest_is_zero(&file.digest))
        follow_learn_file(f, &file);
}

/* Whoever ran tasks may be cut off from us, or have gone, before it told us what they made; then they
 * would not be on record, and run again. The store is asked. In a folder that all share it knows nothing:
 * the agent's word is waited for, since it alone knows files that are gone by now; then the folder is
 * looked at. */
bool follow_heard_all(struct client_follow *f, double now)
{
    uint32_t o = follow_next_unheard(f, 0);
    if (o == NONE)
        return true;
    if (f->unheard == 0)
        f->unheard = now;
    if (!f->o.ticket->shared)
        return follow_ask_unheard(f) || now - f->unheard > UNHEARD;
    if (now - f->unheard < UNHEARD)
        return false;
    for (; o != NONE; o = follow_next_unheard(f, o + 1))
        follow_read_unheard(f, o);
    return true;
}

void follow_record_decisions(struct client_follow *f)
{
    for (uint32_t t = 0; f->w->when && t < f->w->ntasks; t++)
        if (f->w->when[t] && (f->seen[t] == FOLLOW_SEEN_DONE || f->seen[t] == FOLLOW_SEEN_SKIPPED))
            need_decided(f->o.needs, t, f->seen[t] == FOLLOW_SEEN_DONE);
}

/* One question at a time. */
void follow_ask_count(struct client_follow *f)
{
    if (f->counting)
        return;
    f->counting = true;
    client_ask(f->c, &(struct meta_op){.kind = META_COUNT}, 1);
}

/* All answers come here; each kind has its owner. */
void follow_answers(void *context, const struct meta_answers *answers)
{
    struct client_follow *f = context;
    size_t record = 0;
    if (answers->forged && !f->said_forged) {
        f->said_forged = true;
        client_say(f->c, "run %" PRIu64 ": %s", f->o.run, answers->forged);
    }
    for (size_t i = 0; i < answers->n; i++) {
        const struct meta_answer *a = &answers->at[i];
        if (a->kind == META_READ) {
            follow_take_record(f, &answers->records[record++]);
            if (f->read_open && --f->read_open == 0)
                follow_read_more(f);
        } else if (a->kind == META_WHERE && a->slot & UNHEARD_MARK) {
            follow_take_unheard(f, a, answers);
        } else if (a->kind == META_WHERE) {
            collect_answer(f->collect, a, answers);
        } else if (a->kind == META_COUNT) {
            f->counting = false;
            f->progress = client_progress_of(a);
        }
    }
}
