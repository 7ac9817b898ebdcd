/* One run in an agent: its scheduler between the store, the other agents and the processes here. */
#include "base/clock.h"
#include "base/json.h"
#include "run/cluster/agent_state.h"
#include "run/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = 2048, /* in one message */
    LOG_TAIL = 4096,
    STEAL_MOST = 16384, /* tasks: a message holds no more */
};

static const double turn_most = 0.005; /* seconds, before others have their turn */
static const double tell_every = 0.05;

static void say(struct job *j, const char *text)
{
    agent_log(j->agent, "run %llu: %s", (unsigned long long)j->number, text);
}

/* ---- the scheduler ---- */

static void note(struct job *j, const struct sched_note *n)
{
    switch (n->kind) {
    case SCHED_NOTE_DONE:
        j->result.done++;
        break;
    case SCHED_NOTE_FAILED:
        j->result.failed++;
        if (!j->ticket.keep_going && j->state < BOARD_RUN_STOPPING) {
            board_run_state(j->agent->board, j->number, BOARD_RUN_STOPPING, agent_noted, j->agent);
            job_state(j, BOARD_RUN_STOPPING);
        }
        break;
    case SCHED_NOTE_REMOVED:
        j->result.skipped++;
        break;
    default:
        break;
    }
}

static void send_message(struct job *j, const struct sched_message *m)
{
    struct link *l = agent_link(j->agent, m->to);
    if (!l)
        return; /* lost on the way: the schedulers are used to it */
    strbuf_clear(&j->scratch);
    protocol_put_sched(&j->scratch, j->number, m, m->count ? j->run.out.items.at + m->first : NULL);
    link_send(l, MESSAGE_SCHED, j->scratch.at, j->scratch.n, NULL, 0);
}

static void carry_out(struct job *j)
{
    struct sched_actions *out = &j->run.out;
    for (size_t i = 0; i < out->timers.n; i++)
        array_push(&j->run.timers, out->timers.at[i]);
    if (out->ops.n)
        store_submit(j->run.store, out->ops.at, out->ops.n);
    for (size_t i = 0; i < out->sends.n; i++)
        send_message(j, &out->sends.at[i]);
    for (size_t i = 0; i < out->stops.n; i++)
        if (!supply_stop(j, out->stops.at[i].task))
            task_stop(&j->run, out->stops.at[i].task);
    j->run.call_ended = 0;
    for (size_t i = 0; i < out->starts.n; i++)
        supply_start(j, &out->starts.at[i]);
    __typeof__(out->notes) notes = out->notes; /* a note may lead to removals: actions again */
    out->notes = (__typeof__(out->notes)){0};
    sched_actions_clear(out);
    for (size_t i = 0; i < notes.n; i++)
        note(j, &notes.at[i]);
    if (!out->notes.at)
        out->notes = notes, out->notes.n = 0;
    else
        array_free(&notes);
    if (j->run.jobs.n) {
        calls_submit(j->run.calls, j->run.jobs.at, j->run.jobs.n);
        j->run.jobs.n = 0;
    }
}

static void handle(struct job *j, struct sched_event *e)
{
    if (!j->run.sched)
        return;
    e->now = run_now(&j->run);
    sched_handle(j->run.sched, e, &j->run.out);
    carry_out(j);
}

static void flush_ops(struct job *j)
{
    if (j->ops.n && j->has_store) {
        store_submit(j->run.store, j->ops.at, j->ops.n);
        j->ops.n = 0;
    }
}

/* ---- the store ---- */

static void counted(struct job *j, const struct meta_answer *a)
{
    j->counting = false;
    uint64_t ended = (uint64_t)a->item.task + a->item.epoch + a->item.waiting;
    if (a->outcome != META_OK || ended < j->w->ntasks || j->told_end)
        return;
    j->told_end = true;
    board_run_state(j->agent->board, j->number, BOARD_RUN_ENDED, agent_noted, j->agent);
}

static void on_store(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct job *j = poll->data;
    for (;;) {
        struct sched_event e = {.kind = SCHED_EVENT_STORE};
        struct error err;
        error_clear(&err);
        if (!store_poll(j->run.store, &e.store, &err)) {
            if (!j->trouble)
                say(j, err.text);
            j->trouble = true;
            return;
        }
        if (!e.store.n)
            return;
        for (size_t i = 0; i < e.store.n; i++)
            if (e.store.at[i].kind == META_COUNT)
                counted(j, &e.store.at[i]);
        if (j->depot)
            supply_answers(j, &e.store);
        handle(j, &e);
    }
}

static void go_on(struct job *j)
{
    struct error err = {0};
    if (j->trouble && store_retry(j->run.store, &err)) {
        j->trouble = false;
        say(j, "the store is back");
    }
}

/* ---- watchers ---- */

static void put_files(const struct job *j, struct strbuf *out, size_t from, size_t n)
{
    bytes_put_u64(out, j->number);
    bytes_put_u32(out, (uint32_t)n);
    for (size_t i = from; i < from + n; i++) {
        const struct trace_file *f = &j->run.files.at[i];
        bytes_put_u32(out, f->object);
        bytes_put_u32(out, f->task);
        bytes_put(out, f->digest.at, sizeof f->digest.at);
        bytes_put(out, f->key.at, sizeof f->key.at);
        bytes_put_f64(out, f->size);
        bytes_put_u8(out, f->made);
    }
}

static void log_tail(const char *path, struct strbuf *out)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat s;
    char text[LOG_TAIL];
    if (fd >= 0 && fstat(fd, &s) == 0) {
        off_t from = s.st_size > LOG_TAIL ? s.st_size - LOG_TAIL : 0;
        ssize_t n = pread(fd, text, sizeof text, from);
        if (n > 0)
            strbuf_add_bytes(out, text, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
}

static void tell_failure(struct job *j, struct link *l, const struct run_failure *f)
{
    struct strbuf out = {0}, tail = {0};
    log_tail(f->log, &tail);
    bytes_put_u64(&out, j->number);
    bytes_put_u32(&out, f->task);
    bytes_put_u32(&out, f->attempt);
    bytes_put_u32(&out, (uint32_t)f->outcome);
    bytes_put_u32(&out, (uint32_t)f->status);
    bytes_put_u8(&out, f->last);
    bytes_put_f64(&out, f->limit);
    bytes_put_text(&out, f->text, f->text ? strlen(f->text) : 0);
    bytes_put_text(&out, tail.at, tail.n);
    link_send(l, MESSAGE_FAILED, out.at, out.n, NULL, 0);
    strbuf_free(&out);
    strbuf_free(&tail);
}

static void tell_all(struct job *j, uint8_t kind, const struct strbuf *text)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        link_send(j->watchers.at[i], kind, text->at, text->n, NULL, 0);
}

static void tell(struct job *j)
{
    struct run *r = &j->run;
    for (size_t at = 0; at < r->events.n && j->watchers.n; at += EVENTS) {
        size_t n = r->events.n - at < EVENTS ? r->events.n - at : EVENTS;
        strbuf_clear(&j->scratch);
        bytes_put_u64(&j->scratch, j->number);
        bytes_put_u32(&j->scratch, j->agent->node);
        bytes_put_u32(&j->scratch, (uint32_t)n);
        for (size_t i = at; i < at + n; i++)
            protocol_put_event(&j->scratch, &r->events.at[i]);
        tell_all(j, MESSAGE_EVENTS, &j->scratch);
    }
    for (size_t at = 0; at < r->files.n && j->watchers.n; at += EVENTS) {
        strbuf_clear(&j->scratch);
        put_files(j, &j->scratch, at, r->files.n - at < EVENTS ? r->files.n - at : EVENTS);
        tell_all(j, MESSAGE_FILES, &j->scratch);
    }
    for (; j->failures_told < j->result.failures.n; j->failures_told++)
        for (size_t i = 0; i < j->watchers.n; i++)
            tell_failure(j, j->watchers.at[i], &j->result.failures.at[j->failures_told]);
    r->events.n = r->files.n = 0;
    r->told = run_now(r);
}

static void watch(struct job *j, struct link *l)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        if (j->watchers.at[i] == l)
            return;
    tell(j);
    array_push(&j->watchers, l);
    j->options.nsinks = 1; /* events are kept from now on; tell() sends them */
    for (size_t i = 0; i < j->failures_told; i++)
        tell_failure(j, l, &j->result.failures.at[i]);
}

void job_link_closed(struct job *j, struct link *l)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        if (j->watchers.at[i] == l)
            j->watchers.at[i--] = array_pop(&j->watchers);
    j->options.nsinks = j->watchers.n ? 1 : 0;
    if (j->depot)
        depot_closed(j->depot, l);
}

/* ---- messages ---- */

static void keep(struct job *j, struct link *l, struct bytes *in, bool *malformed)
{
    uint32_t n = bytes_u32(in);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t object = bytes_u32(in);
        if (in->bad || object >= j->w->nobjects) {
            *malformed = true;
            return;
        }
        array_push(&j->agent->keeps, (struct keep){j->number, object, l});
        if (!j->depot || depot_has(j->depot, object))
            agent_kept(j->agent, j->number, object, true, "");
        else
            depot_fetch(j->depot, object, l, NULL, false);
    }
    *malformed |= !bytes_end(in);
}

void job_message(struct job *j, struct link *l, uint8_t kind, const void *data, size_t n,
                 bool *malformed)
{
    struct bytes in = {data, n, false};
    bytes_u64(&in);
    switch (kind) {
    case MESSAGE_SCHED: {
        struct sched_message m;
        static const struct sched_event none;
        if (!protocol_sched(&in, &m, &j->agent->items)) {
            *malformed = true;
            return;
        }
        for (size_t i = 0; i < j->agent->items.n; i++)
            if (j->agent->items.at[i].task >= j->w->ntasks) {
                *malformed = true;
                return;
            }
        struct sched_event e = none;
        e.kind = SCHED_EVENT_MESSAGE;
        e.message.head = &m;
        e.message.items = j->agent->items.at;
        handle(j, &e);
        break;
    }
    case MESSAGE_KEEP:
        keep(j, l, &in, malformed);
        break;
    case MESSAGE_WATCH:
        watch(j, l);
        break;
    default:
        if (j->depot)
            *malformed = !depot_message(j->depot, l, kind, data, n);
        break;
    }
}

/* ---- turns ---- */

static void handle_ended(struct job *j)
{
    struct run *r = &j->run;
    __typeof__(r->ended) batch = r->ended;
    r->ended = r->handled;
    r->handled = batch;
    size_t kept = 0;
    for (size_t i = 0; i < batch.n; i++)
        if (!supply_ended(j, &batch.at[i]))
            batch.at[kept++] = batch.at[i];
    struct error err = {0};
    if (j->memo && !memo_flush(j->memo, &err)) /* what is committed is on record here */
        say(j, err.text);
    flush_ops(j);
    if (kept)
        handle(j, &(struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {batch.at, kept}});
    r->handled.n = 0;
    for (size_t i = 0; i < r->hungry.n; i++)
        task_more_memory(r, r->hungry.at[i]);
    r->hungry.n = 0;
}

static void on_waker(uv_timer_t *timer)
{
    (void)timer;
}

static void fire_timers(struct job *j)
{
    struct run *r = &j->run;
    double now = run_now(r), next = INFINITY;
    for (size_t i = 0; i < r->timers.n;) {
        struct sched_timer t = r->timers.at[i];
        if (t.when > now) {
            next = t.when < next ? t.when : next;
            i++;
            continue;
        }
        r->timers.at[i] = array_pop(&r->timers);
        handle(j, &(struct sched_event){.kind = SCHED_EVENT_TIMER, .timer = {t.kind, t.mark}});
        now = run_now(r);
    }
    if (isfinite(next))
        uv_timer_start(&r->waker, on_waker, (uint64_t)((next - now) * 1000) + 1, 0);
}

bool job_turn(struct job *j)
{
    struct run *r = &j->run;
    if (j->closing || !j->scheduling)
        return false;
    double until = clock_seconds() + turn_most;
    do {
        if (r->ended.n)
            handle_ended(j);
        if (r->timers.n)
            fire_timers(j);
        supply_pump(j);
    } while (r->ended.n && clock_seconds() < until);
    supply_prefetch(j);
    flush_ops(j);
    if (run_now(r) - r->told > tell_every || r->events.n > EVENTS)
        tell(j);
    return r->ended.n > 0;
}

void job_tick(struct job *j)
{
    if (j->has_setup)
        children_tick(j->run.children);
    if (j->scheduling)
        supply_tick(j);
    if (j->watchers.n && j->scheduling) {
        struct sched_counts now;
        sched_look(j->run.sched, &now);
        double at = run_now(&j->run);
        run_tell(&j->run,
                 &(struct trace_event){.kind = TRACE_COUNTER,
                                       .id = COUNTER_READY,
                                       .start = at,
                                       .finish = at,
                                       .amount = now.at[SCHED_LREADYQ] + now.at[SCHED_SREADYQ]});
    }
    flush_ops(j);
}

bool job_is_idle(const struct job *j)
{
    struct sched_counts now;
    if (!j->scheduling)
        return true;
    if (j->run.running || j->held.n > j->free_held.n)
        return false;
    sched_look(j->run.sched, &now);
    for (int i = SCHED_ARRIVING; i < SCHED_PLACES; i++)
        if (now.at[i])
            return false;
    return true;
}

/* Where a failed, stopped or cancelled run stands: what does not run is taken out, everywhere, and
 * so the run ends like any other. */
void job_remove(struct job *j, uint32_t task)
{
    if (!j->run.sched)
        return;
    if (task != NONE) {
        handle(j, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = task});
        return;
    }
    bool all = j->state >= BOARD_RUN_CANCELLED;
    for (uint32_t t = 0; t < j->w->ntasks; t++) {
        enum sched_place place = sched_place(j->run.sched, t, NULL);
        bool runs = place == SCHED_RUNNING || place == SCHED_COMPLETEQ;
        for (size_t i = 0; runs && !all && i < j->held.n; i++) /* only waits for its inputs */
            runs = j->held.at[i].start.task != t || j->held.at[i].again;
        if (place != SCHED_NOWHERE && (all ? place != SCHED_COMPLETEQ : !runs))
            handle(j, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = t});
    }
}

void job_second(struct job *j)
{
    struct sched_counts now;
    if (j->closing || !j->has_store)
        return;
    if (j->trouble)
        go_on(j);
    if (j->depot)
        depot_tick(j->depot, clock_seconds());
    if (!j->scheduling)
        return;
    if (j->state >= BOARD_RUN_STOPPING && j->state < BOARD_RUN_ENDED)
        job_remove(j, NONE);
    if (!j->counting && !j->told_end && job_is_idle(j)) {
        j->counting = true;
        array_push(&j->ops, (struct meta_op){.kind = META_COUNT, .slot = NONE});
    }
    sched_look(j->run.sched, &now);
    if (now.dormant && j->state == BOARD_RUN_OPEN) /* a thief that gave up: try again */
        for (uint32_t node = 0; node < j->agent->peers.n; node++)
            if (agent_is_up(j->agent, node)) {
                handle(j, &(struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = node});
                break;
            }
    flush_ops(j);
}

/* ---- the world ---- */

void job_peer(struct job *j, uint32_t node, bool up)
{
    handle(j, &(struct sched_event){.kind = up ? SCHED_EVENT_NODE_UP : SCHED_EVENT_NODE_DOWN,
                                    .node = node,
                                    .over = j->agent->peers.at[node].life});
}

void job_rejoined(struct job *j)
{
    handle(j, &(struct sched_event){.kind = SCHED_EVENT_START, .life = j->agent->life});
}

static void begin_scheduling(struct job *j)
{
    struct agent *a = j->agent;
    struct sched_config config = run_sched_config(&j->run);
    config.node = a->node;
    config.nodes = a->peers.n > a->node ? (uint32_t)a->peers.n : a->node + 1;
    config.seed = j->number * 1000003u + a->node;
    config.policy = j->ticket.shared ? SCHED_MLB : (enum sched_policy)j->ticket.policy;
    config.t = j->ticket.t;
    config.tt = j->ticket.tt;
    config.adapt_policy = config.adapt_tt = j->ticket.adapt;
    config.share_local = true;
    config.bandwidth = a->o->bandwidth > 0 ? a->o->bandwidth : 1.25e8;
    config.steal_first = 0.002;
    config.steal_bound = 0.5;
    config.steal_most = STEAL_MOST;
    config.record_starts = true;
    if (j->ticket.seconds.n)
        config.predictor = &j->predictor;
    j->run.sched = sched_new(&config);
    j->scheduling = true;
    job_rejoined(j);
    for (uint32_t node = 0; node < a->peers.n; node++)
        if (node != a->node && !a->peers.at[node].up)
            job_peer(j, node, false);
}

void job_state(struct job *j, enum board_run_state state)
{
    if (j->closing || (j->scheduling && state <= j->state))
        return;
    j->state = state;
    if (!j->scheduling && j->has_store && state < BOARD_RUN_COLLECTED)
        begin_scheduling(j);
    if (state == BOARD_RUN_STOPPING || state == BOARD_RUN_CANCELLED) {
        say(j, state == BOARD_RUN_STOPPING ? "is being stopped" : "was cancelled");
        job_remove(j, NONE);
    }
    if (state == BOARD_RUN_ENDED) {
        tell(j);
        say(j, "has ended");
    }
}

/* ---- about itself ---- */

void job_say(const struct job *j, struct json_writer *out)
{
    struct sched_counts c = {0};
    struct depot_counts d = {0};
    if (j->scheduling)
        sched_look(j->run.sched, &c);
    if (j->depot)
        d = depot_look(j->depot);
    uint32_t held = 0;
    for (int i = SCHED_ARRIVING; i < SCHED_PLACES; i++)
        held += c.at[i];
    json_write_object_inline(out);
    json_put_integer(out, "run", (int64_t)j->number);
    json_put_string(out, "policy", j->scheduling ? sched_policy_name(c.policy) : "");
    json_put_number(out, "tt", c.tt);
    json_put_integer(out, "held", held);
    json_put_integer(out, "waiting", c.at[SCHED_WAITQ]);
    json_put_integer(out, "local", c.at[SCHED_LREADYQ]);
    json_put_integer(out, "shared", c.at[SCHED_SREADYQ]);
    json_put_integer(out, "running", j->run.running);
    json_put_integer(out, "fetching", d.under_way + d.waiting);
    json_put_integer(out, "done", (int64_t)c.done);
    json_put_integer(out, "failed", j->result.failed);
    json_put_integer(out, "lost", (int64_t)c.lost);
    json_put_integer(out, "steals", (int64_t)c.steals);
    json_put_integer(out, "failed_steals", (int64_t)c.failed_steals);
    json_put_integer(out, "stolen", (int64_t)c.stolen);
    json_put_integer(out, "given", (int64_t)c.given);
    json_put_integer(out, "pushed", (int64_t)c.pushed);
    json_put_integer(out, "recomputed", (int64_t)j->recomputed);
    json_put_integer(out, "dropped", (int64_t)j->dropped);
    json_put_integer(out, "fetched", (int64_t)d.fetched);
    json_put_number(out, "fetched_bytes", d.fetched_bytes);
    json_put_integer(out, "served", (int64_t)d.served);
    json_put_number(out, "served_bytes", d.served_bytes);
    json_put_integer(out, "hits", (int64_t)j->hits);
    json_put_integer(out, "misses", (int64_t)j->misses);
    json_put_number(out, "cache_bytes", d.bytes);
    json_put_number(out, "busy", c.busy);
    json_write_end_object(out);
}

/* ---- opening ---- */

static void on_arrived(void *context, uint32_t object, bool good, const char *why)
{
    supply_arrived(context, object, good, why);
}

static void on_lost(void *context, uint32_t object, const char *why)
{
    struct job *j = context;
    say(j, why);
    j->needs.present[object] = 0;
    array_push(&j->ops, (struct meta_op){.kind = META_COPY,
                                         .task = object,
                                         .slot = NONE,
                                         .node = j->agent->node});
}

static bool on_make(void *context, uint32_t object)
{
    return supply_make(context, object);
}

static bool predict(void *context, uint32_t task, uint32_t node, struct prediction *out)
{
    (void)node;
    const struct job *j = context;
    *out = (struct prediction){.seconds = j->ticket.seconds.at[task], .samples = 1};
    return out->seconds > 0;
}

static char *path_of(const char *folder, const char *name)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    return strbuf_steal(&path);
}

static bool check_ticket(struct job *j, struct error *err)
{
    const struct ticket *t = &j->ticket;
    const struct workflow *w = j->w;
    struct stat s;
    bool good = (!t->priority.n || t->priority.n == w->ntasks) &&
                (!t->seconds.n || t->seconds.n == w->ntasks) && t->policy < SCHED_POLICIES;
    for (size_t i = 0; i < t->files.n; i++)
        good &= t->files.at[i].object < w->nobjects;
    if (!good || !w->command)
        return error_set(err, ERROR_FAILED, "its ticket does not fit its workflow");
    if (t->shared && (stat(t->folder, &s) != 0 || !S_ISDIR(s.st_mode)))
        return error_set(err, ERROR_FAILED,
                         "it runs in %.300s, a folder that is not here: %s; this agent cannot take "
                         "part in it",
                         t->folder, strerror(errno));
    return depot_check_names(w, err);
}

/* Per object: what is known of its content. Without files there is nothing to know. */
static void open_needs(struct job *j)
{
    const struct workflow *w = j->w;
    struct needs *n = &j->needs;
    *n = (struct needs){.w = w, .folder = j->options.folder, .memo = j->memo};
    n->task = mem_new(uint8_t, w->ntasks);
    memset(n->task, NEED_PARENT, w->ntasks); /* unless this very computation is on record here */
    n->content = mem_new_zero(struct digest, w->nobjects);
    n->bytes = mem_new(double, w->nobjects);
    memcpy(n->bytes, w->size, w->nobjects * sizeof *n->bytes);
    n->present = mem_new_zero(uint8_t, w->nobjects);
    n->run = w->ntasks;
    for (size_t i = 0; i < j->ticket.files.n; i++) {
        const struct ticket_file *f = &j->ticket.files.at[i];
        n->content[f->object] = f->digest;
        n->bytes[f->object] = f->bytes;
    }
    j->options.needs = n;
}

/* What an earlier life of this agent left: files that were renamed into place are whole. A task
 * that works in the folder itself may have been cut off: there the record must say so too. */
static void find_data(struct job *j)
{
    struct strbuf path = {0};
    char label[512];
    struct stat s;
    for (uint32_t o = 0; o < j->w->nobjects; o++) {
        const char *name = workflow_object_label(j->w, o, label, sizeof label);
        struct digest digest;
        double bytes;
        struct error err = {0};
        if (name[0] == '/' || lstat(path_in(j->files, name, &path), &s) != 0)
            continue;
        uint32_t producer = j->w->producer[o];
        bool in_place = producer != NONE && (j->w->flags[producer] & TASK_IN_PLACE);
        if ((in_place && !memo_known(j->memo, path.at, &s, &digest)) ||
            !memo_digest(j->memo, path.at, false, &digest, &bytes, &err)) {
            tree_remove(path.at);
            continue;
        }
        j->needs.content[o] = digest;
        j->needs.bytes[o] = bytes;
        j->needs.present[o] = 1;
        depot_made(j->depot, o, &digest, bytes);
    }
    strbuf_free(&path);
}

static bool open_data(struct job *j, bool existed, struct error *err)
{
    const struct workflow *w = j->w;
    char *memo = path_of(j->home, "memo");
    j->memo = memo_open(memo, NULL, err);
    free(memo);
    if (!j->memo)
        return false;
    open_needs(j);
    if (j->ticket.shared)
        return true;
    j->used = mem_new_zero(uint32_t, w->nobjects);
    j->touched = mem_new_zero(double, w->nobjects);
    j->want_of = mem_new(uint32_t, w->nobjects);
    memset(j->want_of, 0xff, w->nobjects * sizeof *j->want_of);
    j->depot = depot_new(&(struct depot_config){.workflow = w,
                                                .run = j->number,
                                                .folder = j->files,
                                                .partial = j->partial,
                                                .memo = j->memo,
                                                .arrived = on_arrived,
                                                .make = on_make,
                                                .lost = on_lost,
                                                .context = j});
    if (existed)
        find_data(j);
    return true;
}

static bool open_store(struct job *j, struct error *err)
{
    char prefix[128];
    struct store_redis_config config = store_address_config(j->agent->o->store, j->number, prefix);
    config.workflow = j->w;
    j->run.store = store_redis_open(&config, NULL, err);
    if (!j->run.store)
        return false;
    j->has_store = true;
    uv_poll_init(&j->agent->loop, &j->store_ready, store_fd(j->run.store));
    j->store_ready.data = j;
    uv_poll_start(&j->store_ready, UV_READABLE, on_store);
    j->open_handles++;
    return true;
}

static bool open_run(struct job *j, double created, struct error *err)
{
    struct agent *a = j->agent;
    j->options.workflow = j->w;
    j->options.folder = j->ticket.shared ? j->ticket.folder : j->files;
    j->options.state = j->home;
    j->options.cores = a->o->cores;
    j->options.memory = a->o->memory;
    j->options.keep_going = j->ticket.keep_going;
    j->options.no_sandbox = j->ticket.no_sandbox;
    j->options.unlimited = j->ticket.unlimited;
    j->options.retry_first = j->ticket.retry_first;
    j->options.retry_most = j->ticket.retry_most;
    j->options.priority = j->ticket.priority.n ? j->ticket.priority.at : NULL;
    j->predictor = (struct predictor){predict, j};
    struct stat s;
    bool existed = stat(j->home, &s) == 0;
    if (!make_parents(j->partial, err) || (mkdir(j->files, 0777) != 0 && errno != EEXIST))
        return error_set(err, ERROR_FAILED, "%s: cannot be made: %s", j->files, strerror(errno));
    if (j->w->nobjects && !open_data(j, existed, err))
        return false;
    j->run = (struct run){.o = &j->options,
                          .w = j->w,
                          .result = &j->result,
                          .loop = &a->loop,
                          .total = j->w->ntasks,
                          .free_arguments = NONE};
    j->run.began = created - a->server_offset;
    run_prepare(&j->run);
    uv_timer_init(&a->loop, &j->run.waker);
    j->run.waker.data = j;
    j->open_handles++;
    bool good = run_setup(&j->run, err);
    j->has_setup = j->run.children != NULL;
    j->open_handles += 1 + j->has_setup;
    return good && open_store(j, err);
}

struct job *job_open(struct agent *a, uint64_t run, double created, const void *text, size_t n)
{
    struct job *j = mem_new_zero(struct job, 1);
    struct error err = {0};
    struct strbuf plain = {0}, name = {0};
    j->agent = a;
    j->number = run;
    j->loaded = clock_seconds();
    strbuf_printf(&name, "%s/runs/%llu", a->o->state, (unsigned long long)run);
    j->home = strbuf_steal(&name);
    j->files = path_of(j->home, "files");
    j->partial = path_of(j->home, "partial");
    bool good = seal_open_piece(&a->o->key, "ticket", text, n, &plain);
    if (!good)
        error_set(&err, ERROR_FAILED, "was submitted with another key, and is not looked at");
    good = good && ticket_read(plain.at, plain.n, &j->ticket, &err);
    if (good)
        j->w = a->o->read(strbuf_text(&j->ticket.workflow), j->ticket.workflow.n, &err);
    good = good && j->w && check_ticket(j, &err) && open_run(j, created, &err);
    strbuf_free(&plain);
    if (good) {
        strbuf_free(&j->ticket.workflow);
        agent_log(a, "run %llu: '%s', %u tasks, from %s", (unsigned long long)run, j->ticket.name,
                  j->w->ntasks, j->ticket.host);
        return j;
    }
    agent_log(a, "run %llu: %s", (unsigned long long)run, err.text);
    job_close(j, false);
    return NULL;
}

/* ---- closing ---- */

static void free_job(struct job *j)
{
    struct error err = {0};
    if (j->has_setup || j->run.active)
        run_release(&j->run);
    sched_free(j->run.sched);
    sched_actions_free(&j->run.out);
    array_free(&j->run.handled);
    array_free(&j->run.timers);
    if (j->has_store && !store_close(j->run.store, &err))
        say(j, err.text);
    depot_free(j->depot);
    needs_free(&j->needs);
    error_clear(&err);
    if (!memo_close(j->memo, &err))
        say(j, err.text);
    supply_free(j);
    run_result_free(&j->result);
    array_free(&j->watchers);
    ticket_free(&j->ticket);
    workflow_free(j->w);
    strbuf_free(&j->scratch);
    if (j->remove_data)
        tree_remove(j->home);
    free(j->home);
    free(j->files);
    free(j->partial);
    free(j);
}

static void handle_closed(uv_handle_t *handle)
{
    struct job *j = handle->data;
    if (--j->open_handles == 0)
        free_job(j);
}

static void end_handle(struct job *j, uv_handle_t *handle)
{
    handle->data = j; /* run_setup() has it point to the run */
    uv_close(handle, handle_closed);
}

void job_close(struct job *j, bool remove_data)
{
    j->closing = true;
    j->remove_data = remove_data;
    if (!j->open_handles) {
        free_job(j);
        return;
    }
    calls_free(j->run.calls); /* no thread may wake what is closed */
    j->run.calls = NULL;
    if (j->has_store)
        end_handle(j, (uv_handle_t *)&j->store_ready);
    if (j->has_setup)
        end_handle(j, (uv_handle_t *)&j->run.children_ready);
    end_handle(j, (uv_handle_t *)&j->run.calls_ready);
    end_handle(j, (uv_handle_t *)&j->run.waker);
}
