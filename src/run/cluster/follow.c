/* Following a run: what agents tell goes to the listeners as if it happened here; what was missed
 * (before we came, while a link was down) is read from the store; final outputs are collected. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "run/cluster/client_state.h"
#include "run/sandbox.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READS = 4096 /* at once */, COUNTERS = COUNTER_RUNNING + 1 };
static const double GAP = 3;       /* seconds that more tasks have ended than we were told */
static const double LOADS = 3;     /* seconds between looks ahead */
static const double DESERTED = 10; /* without an agent, until a stopping run is taken as ended */

enum seen { SEEN_NOTHING, SEEN_RUNNING, SEEN_FAILED, SEEN_REMOVED, SEEN_DONE, SEEN_REUSED };

/* The counters of an agent, so that a display sees their sum. */
struct counters {
    uint32_t node;
    double value[COUNTERS];
};

enum phase { PHASE_FOLLOWING, PHASE_READING, PHASE_COLLECTING, PHASE_OVER };

struct follow {
    struct client *c;
    const struct client_following *o;
    const struct workflow *w;
    struct client_followed *out;
    struct run_result *result;
    struct error error;
    enum phase phase;
    enum board_run_state state;
    double created, ended_at; /* server's clock; NAN: not yet */
    bool known;               /* the board has it */

    uint8_t *seen;    /* per task */
    uint32_t *node;   /* per task: where it runs */
    uint8_t *learned; /* per task: on record */
    uint32_t *blamed; /* per task: the last attempt whose failure was told */
    uint8_t *told;    /* per object: where it comes from was told */
    uint32_t told_ended;
    ARRAY(uint32_t) unlearned;
    ARRAY(struct counters) counters;
    bool counters_changed, counter_known[COUNTERS];

    bool counting;
    uint32_t counted;           /* tasks that have ended, by the store */
    double asked_count, behind; /* behind: since when we know of fewer; 0: we do not */

    bool reading;
    uint32_t read_next, read_open; /* tasks from here on; answers to come */

    int handled; /* interrupts */
    int stopping;
    bool said_deserted, ending;
    double deserted, second, loaded;
    struct collect *collect;
};

/* ---- telling ---- */

static void tell(struct follow *f, const struct trace_event *e)
{
    for (size_t i = 0; i < f->o->nsinks; i++)
        f->o->sinks[i]->event(f->o->sinks[i]->context, e);
}

static void tell_file(struct follow *f, const struct trace_file *file)
{
    for (size_t i = 0; i < f->o->nsinks; i++)
        if (f->o->sinks[i]->file)
            f->o->sinks[i]->file(f->o->sinks[i]->context, file);
}

static void ended(struct follow *f, uint32_t task, enum seen how)
{
    f->told_ended += f->seen[task] < SEEN_FAILED;
    f->seen[task] = (uint8_t)how;
    if (how < SEEN_DONE)
        return;
    for (uint32_t o = f->w->object_off[task]; o < f->w->object_off[task + 1]; o++)
        if (how == SEEN_DONE && !workflow_is_intermediate(f->w, o))
            collect_want(f->collect, o);
}

static bool is_over(const struct follow *f, uint32_t task)
{
    return f->seen[task] >= SEEN_DONE;
}

static void on_event(struct follow *f, uint32_t node, struct trace_event *e)
{
    e->node = node;
    if (e->kind == TRACE_COUNTER) {
        if (e->id >= COUNTERS)
            return;
        size_t i = 0;
        while (i < f->counters.n && f->counters.at[i].node != node)
            i++;
        if (i == f->counters.n)
            array_push(&f->counters, (struct counters){.node = node});
        f->counters.at[i].value[e->id] = e->amount;
        f->counter_known[e->id] = true;
        f->counters_changed = true;
        return;
    }
    if (e->kind == TRACE_TRANSFER) {
        if (e->id < f->w->nobjects)
            tell(f, e);
        return;
    }
    if (e->id >= f->w->ntasks || is_over(f, e->id))
        return; /* told before, over another link */
    switch (e->kind) {
    case TRACE_BEGIN:
        if (f->seen[e->id] == SEEN_NOTHING)
            f->seen[e->id] = SEEN_RUNNING;
        f->node[e->id] = node;
        tell(f, e);
        break;
    case TRACE_TASK:
        f->result->attempts++;
        f->result->busy += (e->finish - e->start) * f->w->cores[e->id];
        f->result->cpu += e->cpu;
        if (e->outcome == TRACE_DONE)
            ended(f, e->id, SEEN_DONE);
        else if (f->seen[e->id] == SEEN_RUNNING)
            f->seen[e->id] = SEEN_NOTHING;
        tell(f, e);
        break;
    case TRACE_REUSED:
        ended(f, e->id, SEEN_REUSED);
        tell(f, e);
        break;
    default:
        break;
    }
}

/* An agent is gone, and with it what it ran. */
static void lost(struct follow *f, uint32_t node)
{
    double now = client_now(f->c) - f->created;
    for (size_t i = 0; i < f->counters.n; i++)
        if (f->counters.at[i].node == node)
            f->counters.at[i] = (struct counters){.node = node};
    for (uint32_t t = 0; t < f->w->ntasks; t++)
        if (f->seen[t] == SEEN_RUNNING && f->node[t] == node) {
            f->seen[t] = SEEN_NOTHING;
            tell(f, &(struct trace_event){.kind = TRACE_TASK,
                                          .id = t,
                                          .node = node,
                                          .start = now,
                                          .finish = now,
                                          .outcome = TRACE_CANCELLED});
        }
}

static void tell_counters(struct follow *f)
{
    if (!f->counters_changed)
        return;
    f->counters_changed = false;
    double now = client_now(f->c) - f->created;
    for (uint32_t id = 0; id < COUNTERS; id++) {
        double sum = 0;
        if (!f->counter_known[id])
            continue;
        for (size_t i = 0; i < f->counters.n; i++)
            sum += f->counters.at[i].value[id];
        tell(f, &(struct trace_event){
                    .kind = TRACE_COUNTER, .id = id, .start = now, .finish = now, .amount = sum});
    }
}

/* ---- what agents say ---- */

static bool take_events(struct follow *f, struct bytes *in)
{
    uint32_t node = bytes_u32(in), n = bytes_u32(in);
    if (in->bad || (uint64_t)n * PROTOCOL_EVENT_BYTES != in->n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct trace_event e = {0};
        protocol_event(in, &e);
        on_event(f, node, &e);
    }
    return bytes_end(in);
}

static void learn_file(struct follow *f, struct trace_file *file)
{
    struct needs *n = f->o->needs;
    uint32_t o = file->object;
    if (o >= f->w->nobjects || f->w->producer[o] == NONE || f->told[o])
        return;
    f->told[o] = 1;
    file->task = f->w->producer[o];
    file->path = f->w->object_name[o] ? workflow_text(f->w, f->w->object_name[o]) : NULL;
    n->content[o] = file->digest;
    n->bytes[o] = file->size;
    if (!f->learned[file->task]) {
        f->learned[file->task] = 1;
        array_push(&f->unlearned, file->task);
    }
    if (file->path)
        tell_file(f, file);
}

static bool take_files(struct follow *f, struct bytes *in)
{
    for (uint32_t n = bytes_u32(in); n-- && !in->bad;) {
        struct trace_file file = {.object = bytes_u32(in), .task = bytes_u32(in)};
        const void *digest = bytes_take(in, sizeof file.digest.at);
        const void *key = bytes_take(in, sizeof file.key.at);
        file.size = bytes_f64(in);
        file.made = bytes_u8(in);
        if (in->bad)
            return false;
        memcpy(file.digest.at, digest, sizeof file.digest.at);
        memcpy(file.key.at, key, sizeof file.key.at);
        learn_file(f, &file);
    }
    return bytes_end(in);
}

/* What a task wrote before it failed, beside the logs of runs here. The caller frees; NULL: it
 * wrote nothing. */
static char *keep_log(struct follow *f, uint32_t task, uint32_t attempt, const char *text, size_t n)
{
    struct strbuf path = {0};
    struct error err = {0};
    if (!n || !f->o->state)
        return NULL;
    strbuf_printf(&path, "%s/logs/%s/", f->o->state, f->o->label ? f->o->label : "cluster");
    const char *name = workflow_task_name(f->w, task);
    for (size_t i = 0; name[i] && i < 180; i++)
        strbuf_add_char(&path, name[i] == '/' || (unsigned char)name[i] < 32 ? '_' : name[i]);
    if (strlen(name) > 180 || strchr(name, '/'))
        strbuf_printf(&path, "-%u", task);
    if (attempt > 1)
        strbuf_printf(&path, ".%u", attempt);
    strbuf_add(&path, ".log");
    if (make_parents(path.at, &err) && file_write(path.at, text, n, &err)) {
        f->result->log_bytes += (double)n;
        return strbuf_steal(&path);
    }
    client_say(f->c, "%s", err.text);
    strbuf_free(&path);
    return NULL;
}

static bool take_failure(struct follow *f, struct bytes *in)
{
    struct run_failure x = {.task = bytes_u32(in), .attempt = bytes_u32(in)};
    x.outcome = (enum trace_outcome)bytes_u32(in);
    x.status = (int)bytes_u32(in);
    x.last = bytes_u8(in);
    x.limit = bytes_f64(in);
    size_t n, nlog;
    const char *text = bytes_text(in, &n), *log = bytes_text(in, &nlog);
    if (!bytes_end(in) || x.task >= f->w->ntasks || x.outcome > TRACE_NOT_STARTED)
        return bytes_end(in);
    if (x.last && !is_over(f, x.task))
        ended(f, x.task, x.outcome == TRACE_CANCELLED ? SEEN_REMOVED : SEEN_FAILED);
    if (x.attempt <= f->blamed[x.task])
        return true; /* told before: an agent tells all of them to whoever comes */
    f->blamed[x.task] = x.attempt;
    x.log = keep_log(f, x.task, x.attempt, log, nlog);
    x.text = n ? mem_copy_bytes(text, n) : NULL;
    if (f->result->failures.n < RUN_FAILURES) {
        array_push(&f->result->failures, x);
    } else {
        free(x.text);
        free(x.log);
    }
    return true;
}

static bool on_message(void *context, struct client_peer *p, uint8_t kind, struct bytes *in)
{
    struct follow *f = context;
    (void)p;
    if (kind < MESSAGE_PROBED)
        return true; /* not for a client that follows */
    if (bytes_u64(in) != f->o->run)
        return true; /* another run's, that is no longer followed */
    switch (kind) {
    case MESSAGE_EVENTS:
        return take_events(f, in);
    case MESSAGE_FILES:
        return take_files(f, in);
    case MESSAGE_FAILED:
        return take_failure(f, in);
    default:
        return true;
    }
}

static void on_opened(void *context, struct client_peer *p)
{
    struct follow *f = context;
    struct strbuf *head = &f->c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, f->o->run);
    link_send(p->link, MESSAGE_WATCH, head->at, head->n, NULL, 0);
}

/* ---- reading the store ---- */

static void read_more(struct follow *f)
{
    struct meta_op *ops = mem_new_zero(struct meta_op, READS);
    size_t n = 0;
    for (; f->read_next < f->w->ntasks && n < READS; f->read_next++)
        if (!is_over(f, f->read_next))
            ops[n++] = (struct meta_op){.kind = META_READ, .task = f->read_next};
    f->reading = n > 0;
    f->read_open = (uint32_t)n;
    if (n)
        client_ask(f->c, ops, n);
    free(ops);
}

static void begin_reading(struct follow *f)
{
    f->read_next = 0;
    read_more(f);
}

static void blame(struct follow *f, const struct meta_record *r)
{
    if (f->blamed[r->task])
        return;
    f->blamed[r->task] = r->attempts ? r->attempts : 1;
    if (f->result->failures.n < RUN_FAILURES)
        array_push(&f->result->failures,
                   (struct run_failure){.task = r->task,
                                        .attempt = r->attempts,
                                        .outcome = TRACE_FAILED,
                                        .status = 1,
                                        .last = true,
                                        .text = mem_copy_string("it failed while nobody "
                                                                "followed; its agent has the "
                                                                "log")});
}

static void take_record(struct follow *f, const struct meta_record *r)
{
    uint32_t t = r->task;
    if (t >= f->w->ntasks || is_over(f, t))
        return;
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
        ended(f, t, SEEN_REUSED);
        tell(f, &e);
    } else if (r->status == META_DONE) {
        f->result->attempts++;
        f->result->busy += (e.finish - e.start) * f->w->cores[t];
        ended(f, t, SEEN_DONE);
        tell(f, &e);
    } else if (r->status == META_FAILED) {
        if (f->seen[t] != SEEN_FAILED && !f->blamed[t]) {
            e.outcome = TRACE_FAILED;
            e.status = 1;
            tell(f, &e);
        }
        blame(f, r);
        ended(f, t, SEEN_FAILED);
    } else if (r->status == META_REMOVED) {
        ended(f, t, SEEN_REMOVED);
    }
}

static void ask_count(struct follow *f)
{
    if (f->counting)
        return;
    f->counting = true;
    f->asked_count = clock_seconds();
    client_ask(f->c, &(struct meta_op){.kind = META_COUNT}, 1);
}

static void on_answers(void *context, const struct meta_answers *answers)
{
    struct follow *f = context;
    size_t record = 0;
    for (size_t i = 0; i < answers->n; i++) {
        const struct meta_answer *a = &answers->at[i];
        if (a->kind == META_READ) {
            take_record(f, &answers->records[record++]);
            if (f->read_open && --f->read_open == 0)
                read_more(f);
        } else if (a->kind == META_WHERE) {
            collect_answer(f->collect, a, answers->nodes);
        } else if (a->kind == META_COUNT) {
            struct client_progress p = client_progress_of(a);
            f->counting = false;
            f->counted = p.done + p.failed + p.removed;
        }
    }
}

/* ---- what becomes of the run ---- */

/* Tasks that could start now, and those that only wait for some that run: for whoever brings more
 * agents. O(V + E), so once every few seconds. */
static void look_ahead(const struct follow *f, struct client_load *load)
{
    const struct workflow *w = f->w;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (f->seen[t] >= SEEN_FAILED)
            continue;
        if (f->seen[t] == SEEN_RUNNING) {
            load->running++;
            continue;
        }
        enum seen worst = SEEN_DONE;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1] && worst != SEEN_NOTHING; e++) {
            enum seen parent = (enum seen)f->seen[w->pred_task[e]];
            if (parent < SEEN_DONE)
                worst = parent == SEEN_RUNNING ? SEEN_RUNNING : SEEN_NOTHING;
        }
        load->ready += worst == SEEN_DONE;
        load->soon += worst == SEEN_RUNNING;
    }
}

static void ignore(void *context, bool good, const char *why)
{
    (void)context;
    (void)good;
    (void)why;
}

static void set_state(struct follow *f, enum board_run_state state)
{
    board_run_state(f->c->board, f->o->run, state, ignore, NULL);
    client_tell_all(f->c, MESSAGE_LOOK, f->o->run);
}

static uint32_t agents_that_live(const struct follow *f, struct client_load *load)
{
    size_t n;
    const struct member *m = client_members(f->c, &n);
    for (size_t i = 0; i < n; i++) {
        if (!client_lives(f->c, &m[i]))
            continue;
        load->agents++;
        load->cores += m[i].cores;
    }
    return load->agents;
}

/* Nobody works on it any more: who would say that it has ended? */
static void look_after_the_deserted(struct follow *f, uint32_t agents)
{
    double now = clock_seconds();
    if (agents) {
        if (f->said_deserted)
            client_say(f->c, "an agent has joined; the run goes on");
        f->deserted = 0;
        f->said_deserted = false;
        return;
    }
    if (f->deserted == 0)
        f->deserted = now;
    if (f->state == BOARD_RUN_OPEN && !f->said_deserted && now - f->deserted > 2) {
        f->said_deserted = true;
        client_say(f->c, "no agent is left; the run waits until one joins at %s",
                   f->c->o.address->text);
    }
    if (f->state != BOARD_RUN_OPEN && now - f->deserted > DESERTED && !f->ending) {
        f->ending = true;
        set_state(f, BOARD_RUN_ENDED);
    }
}

static void on_looked(void *context)
{
    struct follow *f = context;
    const struct board_run *r = client_run(f->c, f->o->run);
    if (!r) {
        if (f->known && f->phase == PHASE_FOLLOWING)
            error_set(&f->error, ERROR_FAILED, "run %" PRIu64 " has vanished from the board",
                      f->o->run);
        return;
    }
    f->known = true;
    f->created = r->created;
    f->state = (enum board_run_state)r->state;
    for (size_t i = 0; i < f->c->peers.n; i++) {
        struct client_peer *p = f->c->peers.at[i];
        uint32_t life = p->lives ? p->life : 0;
        if (p->followed && p->followed != life)
            lost(f, p->node);
        p->followed = life;
    }
    struct client_load load = {.ending = f->state != BOARD_RUN_OPEN};
    uint32_t agents = agents_that_live(f, &load);
    if (f->state >= BOARD_RUN_ENDED) {
        if (isnan(f->ended_at))
            f->ended_at = r->changed;
        load.ending = true;
    } else {
        look_after_the_deserted(f, agents);
    }
    if (f->state == BOARD_RUN_STOPPING && f->stopping < 1)
        f->stopping = 1;
    if (f->state == BOARD_RUN_CANCELLED && f->stopping < 2)
        f->stopping = 2;
    double now = clock_seconds();
    if (f->o->load && now - f->loaded >= LOADS) {
        f->loaded = now;
        look_ahead(f, &load);
        f->o->load(f->o->load_context, &load);
    }
}

static void heed_signals(struct follow *f)
{
    struct client *c = f->c;
    if (c->hung_up || (c->interrupts && f->o->interrupt == CLIENT_INTERRUPT_DETACHES)) {
        f->out->detached = true;
        f->phase = PHASE_OVER;
        return;
    }
    for (; f->handled < c->interrupts && f->phase != PHASE_OVER; f->handled++) {
        f->result->interrupted = true;
        if (f->handled == 0) {
            set_state(f, BOARD_RUN_STOPPING);
            f->stopping = f->stopping > 1 ? f->stopping : 1;
        } else if (f->handled == 1) {
            set_state(f, BOARD_RUN_CANCELLED);
            f->stopping = 2;
        } else {
            f->out->detached = true;
            f->phase = PHASE_OVER;
        }
    }
}

/* What is known now of tasks whose inputs were told before or after them. */
static void record_learned(struct follow *f)
{
    struct error err = {0};
    for (size_t i = 0; i < f->unlearned.n;) {
        if (need_learn(f->o->needs, f->unlearned.at[i]))
            f->unlearned.at[i] = array_pop(&f->unlearned);
        else
            i++;
    }
    if (!memo_flush(f->o->needs->memo, &err))
        client_say(f->c, "%s", err.text);
}

static void each_second(struct follow *f, double now)
{
    f->second = now;
    record_learned(f);
    if (f->phase != PHASE_FOLLOWING)
        return;
    ask_count(f);
    if (f->counted >= f->w->ntasks && f->state < BOARD_RUN_ENDED && !f->ending && f->known) {
        f->ending = true;
        set_state(f, BOARD_RUN_ENDED);
    }
    if (f->counted <= f->told_ended)
        f->behind = 0;
    else if (f->behind == 0)
        f->behind = now;
    else if (now - f->behind > GAP && !f->reading) {
        f->behind = 0;
        begin_reading(f);
    }
}

static void on_tick(void *context)
{
    struct follow *f = context;
    double now = clock_seconds();
    heed_signals(f);
    if (f->c->store_error.kind != ERROR_NONE)
        error_set(&f->error, f->c->store_error.kind, "%s", f->c->store_error.text);
    if (f->phase == PHASE_OVER || f->error.kind != ERROR_NONE)
        return;
    if (now - f->second >= 1)
        each_second(f, now);
    if (f->phase == PHASE_FOLLOWING && f->state >= BOARD_RUN_ENDED && f->known && !f->reading) {
        f->phase = PHASE_READING;
        begin_reading(f);
    }
    if (f->phase == PHASE_READING && !f->reading)
        f->phase = PHASE_COLLECTING;
    collect_tick(f->collect);
    if (f->phase == PHASE_COLLECTING && collect_is_idle(f->collect))
        f->phase = PHASE_OVER;
    tell_counters(f);
    if (f->o->tick && f->o->tick(f->o->context, f->stopping))
        f->c->interrupts++;
}

static bool over(void *context)
{
    const struct follow *f = context;
    return f->phase == PHASE_OVER || f->error.kind != ERROR_NONE;
}

/* ---- from beginning to end ---- */

static void on_arrived(void *context, uint32_t object, bool good, const char *why)
{
    struct follow *f = context;
    collect_arrived(f->collect, object, good, why);
}

/* A final output is here: with it its maker may be on record, if nobody told of it. */
static void on_here(void *context, uint32_t object)
{
    struct follow *f = context;
    uint32_t task = f->w->producer[object];
    if (!f->learned[task]) {
        f->learned[task] = 1;
        array_push(&f->unlearned, task);
    }
}

static void tell_beginning(struct follow *f)
{
    const struct needs *n = f->o->needs;
    for (size_t i = 0; i < f->o->ticket->done.n; i++) {
        uint32_t t = f->o->ticket->done.at[i];
        if (t >= f->w->ntasks || is_over(f, t))
            continue;
        ended(f, t, SEEN_REUSED);
        tell(f, &(struct trace_event){.kind = TRACE_REUSED, .id = t});
    }
    for (uint32_t o = f->w->nobjects; o-- && f->w->producer[o] == NONE;)
        if (n->present[o] && f->w->object_name[o])
            tell_file(f, &(struct trace_file){.object = o,
                                              .task = NONE,
                                              .path = workflow_text(f->w, f->w->object_name[o]),
                                              .digest = n->content[o],
                                              .size = n->bytes[o]});
}

static void fill_result(struct follow *f)
{
    struct run_result *r = f->result;
    for (uint32_t t = 0; t < f->w->ntasks; t++) {
        r->done += f->seen[t] == SEEN_DONE;
        r->reused += f->seen[t] == SEEN_REUSED;
        r->failed += f->seen[t] == SEEN_FAILED;
    }
    r->skipped = f->w->ntasks - r->done - r->reused - r->failed;
    r->interrupted |= f->stopping > 1 && r->skipped;
    double end = isnan(f->ended_at) ? client_now(f->c) : f->ended_at;
    r->seconds = end > f->created ? end - f->created : 0;
    collect_count(f->collect, &f->out->collected, &f->out->bytes, &f->out->missing);
}

static bool judge(struct follow *f, struct error *err)
{
    const struct run_result *r = f->result;
    if (f->error.kind != ERROR_NONE)
        return error_set(err, f->error.kind, "%s", f->error.text);
    if (f->out->detached)
        return true;
    if (f->out->missing)
        return error_set(
            err, ERROR_FAILED,
            "%u result%s could not be brought home (%s); `weft attach %" PRIu64 "` tries again",
            f->out->missing, f->out->missing == 1 ? "" : "s", collect_why(f->collect), f->o->run);
    if (r->failed)
        return error_set(err, ERROR_FAILED, "%u task%s failed, %u not run because of that",
                         r->failed, r->failed == 1 ? "" : "s", r->skipped);
    if (r->skipped)
        return error_set(err, ERROR_FAILED, "stopped; %u of %u tasks are left", r->skipped,
                         f->w->ntasks);
    return true;
}

static void prepare(struct follow *f)
{
    struct strbuf partial = {0};
    const struct client_following *o = f->o;
    f->seen = mem_new_zero(uint8_t, f->w->ntasks + 1);
    f->node = mem_new_zero(uint32_t, f->w->ntasks + 1);
    f->learned = mem_new_zero(uint8_t, f->w->ntasks + 1);
    f->blamed = mem_new_zero(uint32_t, f->w->ntasks + 1);
    f->told = mem_new_zero(uint8_t, f->w->nobjects + 1);
    for (size_t i = 0; i < o->ticket->files.n; i++) {
        const struct ticket_file *t = &o->ticket->files.at[i];
        if (t->object < f->w->nobjects) { /* as it was when it was handed in */
            o->needs->content[t->object] = t->digest;
            o->needs->bytes[t->object] = t->bytes;
        }
    }
    strbuf_printf(&partial, "%s/partial", o->state);
    f->c->depot = depot_new(&(struct depot_config){.workflow = f->w,
                                                   .run = o->run,
                                                   .folder = o->folder,
                                                   .partial = partial.at,
                                                   .memo = o->needs->memo,
                                                   .most = 16,
                                                   .arrived = on_arrived,
                                                   .context = f});
    strbuf_free(&partial);
    f->collect = collect_new(&(struct collect_config){.client = f->c,
                                                      .workflow = f->w,
                                                      .needs = o->needs,
                                                      .folder = o->folder,
                                                      .shared = o->ticket->shared,
                                                      .here = on_here,
                                                      .context = f});
}

static void follow_free(struct follow *f)
{
    struct client *c = f->c;
    c->listener = (struct client_listener){0};
    depot_free(c->depot);
    c->depot = NULL;
    struct strbuf partial = {0};
    strbuf_printf(&partial, "%s/partial", f->o->state);
    rmdir(partial.at); /* what is in there can go on another time */
    strbuf_free(&partial);
    client_store_close(c);
    collect_free(f->collect);
    free(f->seen);
    free(f->node);
    free(f->learned);
    free(f->blamed);
    free(f->told);
    array_free(&f->unlearned);
    array_free(&f->counters);
}

bool client_follow(struct client *c, const struct client_following *o, struct client_followed *out,
                   struct run_result *result, struct error *err)
{
    *out = (struct client_followed){0};
    *result = (struct run_result){0};
    struct follow f = {.c = c,
                       .o = o,
                       .w = o->workflow,
                       .out = out,
                       .result = result,
                       .ended_at = NAN,
                       .created = client_now(c)};
    if (!client_store(c, o->run, o->workflow, err))
        return false;
    prepare(&f);
    tell_beginning(&f);
    c->listener = (struct client_listener){.opened = on_opened,
                                           .message = on_message,
                                           .answers = on_answers,
                                           .looked = on_looked,
                                           .tick = on_tick,
                                           .context = &f};
    client_signals(c, true);
    client_connect(c);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->open && c->watched != o->run)
            on_opened(&f, c->peers.at[i]);
    for (size_t i = 0; i < c->early.n && c->watched == o->run; i++) {
        const struct client_early *e = &c->early.at[i];
        struct client_peer *p = client_peer(c, e->node);
        if (p)
            on_message(&f, p, e->kind, &(struct bytes){e->data, e->n, false});
    }
    client_forget_early(c);
    if (o->late)
        begin_reading(&f);
    client_drive(c, over, &f, 1e12);
    record_learned(&f);
    fill_result(&f);
    bool good = judge(&f, err);
    if (!out->detached && f.error.kind == ERROR_NONE && !out->missing) {
        c->listener = (struct client_listener){0};
        struct error late = {0};
        if (!client_set_state(c, o->run, BOARD_RUN_COLLECTED, &late))
            client_say(c, "%s", late.text);
        client_tell_all(c, MESSAGE_LOOK, o->run);
    }
    client_signals(c, false);
    follow_free(&f);
    return good;
}
