/* What those who follow a run are sent: events as they happen, what was produced, why tasks failed;
 * and what a job says of itself on the board.
 *
 * A watcher is a link: it stays one until it closes, and gets everything from watch_begin() on,
 * with what was known before. Sending twice is harmless, since a client passes over what
 * it knows. */
#include "cluster/agent/watch.h"

#include "cluster/agent/agent_state.h"
#include "cluster/agent/job_failures.h"
#include "base/plural.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVENTS = 2048,        /* in one message */
    LOG_TAIL = 4096,      /* bytes of a failed task's log: its last page */
    LOG_MOST = 16384,     /* of that of one that went well */
    LOGS_MOST = 16 << 20, /* of all of these, of one run at one agent: the others stay here */
    SHOW_MOST = 64 << 10, /* of that of one that runs, in one answer */
};

/* ---- watchers ---- */

/* A part of what is in the outbox, in the form of MESSAGE_FILES. */
static void put_files(const struct job *j, struct strbuf *out, size_t from, size_t n)
{
    bytes_put_u64(out, j->number);
    bytes_put_u32(out, (uint32_t)n);
    for (size_t i = from; i < from + n; i++) {
        const struct trace_file *f = &j->outbox.files.at[i];
        bytes_put_u32(out, f->object);
        bytes_put_u32(out, f->task);
        bytes_put(out, f->digest.at, sizeof f->digest.at);
        bytes_put(out, f->key.at, sizeof f->key.at);
        bytes_put_f64(out, f->size);
        bytes_put_u8(out, f->produced);
    }
}

/* The last `most` bytes. How many stand before them. */
static uint64_t read_log_tail(const char *path, size_t most, struct strbuf *out)
{
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat s;
    char text[LOG_MOST];
    uint64_t before = 0;
    if (fd >= 0 && fstat(fd, &s) == 0) {
        before = s.st_size > (off_t)most ? (uint64_t)s.st_size - most : 0;
        ssize_t n = pread(fd, text, most < sizeof text ? most : sizeof text, (off_t)before);
        if (n > 0)
            strbuf_add_bytes(out, text, (size_t)n);
    }
    if (fd >= 0)
        close(fd);
    return before;
}

/* Why an attempt failed, with the end of its log: a client has no other way to see it. */
static void send_failure(struct job *j, struct link *l, const struct run_failure *f)
{
    struct strbuf out = {0}, tail = {0};
    read_log_tail(f->log, LOG_TAIL, &tail);
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

/* A log of a task that went well, as a message. Its bytes. */
static size_t put_log(const struct job *j, const struct outbox_log *log, struct strbuf *out)
{
    struct strbuf path = {0}, tail = {0};
    executor_log_path(j->executor, log->task, log->attempt, &path);
    uint64_t before = read_log_tail(path.at, LOG_MOST, &tail);
    size_t n = tail.n;
    strbuf_clear(out);
    bytes_put_u64(out, j->number);
    bytes_put_u32(out, log->task);
    bytes_put_u32(out, log->attempt);
    bytes_put_u64(out, before);
    bytes_put_text(out, tail.at, n);
    strbuf_free(&path);
    strbuf_free(&tail);
    return n;
}

/* Where the logs are that do not come. */
static void put_logs_full(const struct job *j, struct strbuf *out)
{
    struct strbuf folder = {0};
    strbuf_printf(&folder, "%s:%s/logs", j->agent->o->host, j->options.state);
    strbuf_clear(out);
    bytes_put_u64(out, j->number);
    bytes_put_u32(out, NONE);
    bytes_put_u32(out, 0);
    bytes_put_u64(out, 0);
    bytes_put_text(out, folder.at, folder.n);
    strbuf_free(&folder);
}

/* From where the asker is; what is too much for one answer is left out before its end, which is what people want to see. Of a task that
 * is over, and of one whose log is to be masked first, it is nothing. */
void watch_show(struct job *j, struct link *l, struct bytes *in, bool *malformed)
{
    uint32_t task = bytes_u32(in), attempt = 0;
    uint64_t from = bytes_u64(in);
    if (!bytes_end(in)) {
        *malformed = true;
        return;
    }
    struct stat s;
    const char *path = j->executor ? executor_live_log(j->executor, task, &attempt) : NULL;
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    uint64_t size = fd >= 0 && fstat(fd, &s) == 0 ? (uint64_t)s.st_size : 0;
    from = from <= size && size - from > SHOW_MOST ? size - SHOW_MOST : from;
    char *text = from < size ? mem_alloc(size - from) : NULL;
    ssize_t n = text ? pread(fd, text, size - from, (off_t)from) : 0;
    strbuf_clear(&j->scratch);
    bytes_put_u64(&j->scratch, j->number);
    bytes_put_u32(&j->scratch, task);
    bytes_put_u32(&j->scratch, attempt);
    bytes_put_u64(&j->scratch, from);
    bytes_put_text(&j->scratch, text, n > 0 ? (size_t)n : 0);
    link_send(l, MESSAGE_SHOWN, j->scratch.at, j->scratch.n, NULL, 0);
    free(text);
    if (fd >= 0)
        close(fd);
}

/* ---- what ran ahead ----
 * A task may run before the store has taken the ends of its parents (sched/ahead.c). Should the store refuse
 * one of those, what came after it has never been: whoever follows must not hear of it.
 *
 *     ended ──▶ outbox ──▶ ran ahead, not taken: `ahead` ──▶ taken: sent
 *                     └──▶ sent                          └──▶ refused (SCHED_NOTE_LOST), forgotten: dropped */

static bool watch_is_taken(const struct job *j, uint32_t task)
{
    return !j->taken || j->taken[task];
}

/* `held`: it was kept back before. */
enum watch_fate { WATCH_SENT, WATCH_HELD, WATCH_DROPPED };
static enum watch_fate watch_fate(const struct job *j, uint32_t task, bool held)
{
    const struct sched *sched = driver_sched(j->driver);
    if (watch_is_taken(j, task))
        return WATCH_SENT;
    if (sched && sched_ran_ahead(sched, task))
        return WATCH_HELD;
    return held ? WATCH_DROPPED : WATCH_SENT;
}

/* From one box to the other; what stays in `from` keeps its order. */
static void watch_sort(struct job *j, struct outbox *from, struct outbox *to, enum watch_fate stays)
{
    size_t events = 0, files = 0;
    bool held = from == &j->ahead;
    for (size_t i = 0; i < from->events.n; i++) {
        struct trace_event e = from->events.at[i];
        enum watch_fate fate = e.kind == TRACE_TASK ? watch_fate(j, e.id, held) : WATCH_SENT;
        if (fate == stays)
            from->events.at[events++] = e;
        else if (fate != WATCH_DROPPED)
            array_push(&to->events, e);
    }
    for (size_t i = 0; i < from->files.n; i++) {
        struct trace_file f = from->files.at[i];
        enum watch_fate fate = watch_fate(j, f.task, held);
        if (fate == stays)
            from->files.at[files++] = f;
        else if (fate != WATCH_DROPPED)
            array_push(&to->files, f);
    }
    from->events.n = events;
    from->files.n = files;
}

static void watch_sort_ahead(struct job *j)
{
    if (!j->taken)
        return;
    watch_sort(j, &j->ahead, &j->outbox, WATCH_HELD);
    watch_sort(j, &j->outbox, &j->ahead, WATCH_SENT);
}

/* Its end counts for nothing: not a word of it. */
static void watch_forget(struct outbox *box, uint32_t task)
{
    size_t events = 0, files = 0;
    for (size_t i = 0; i < box->events.n; i++)
        if (box->events.at[i].kind != TRACE_TASK || box->events.at[i].id != task)
            box->events.at[events++] = box->events.at[i];
    for (size_t i = 0; i < box->files.n; i++)
        if (box->files.at[i].task != task)
            box->files.at[files++] = box->files.at[i];
    box->events.n = events;
    box->files.n = files;
}

void watch_noted(struct job *j, const struct sched_note *note)
{
    switch (note->kind) {
    case SCHED_NOTE_LOST:
        watch_forget(&j->outbox, note->task);
        watch_forget(&j->ahead, note->task);
        break;
    case SCHED_NOTE_DONE:
    case SCHED_NOTE_SKIPPED:
    case SCHED_NOTE_EXCUSED:
    case SCHED_NOTE_FAILED:
        if (j->taken)
            j->taken[note->task] = 1;
        break;
    default:
        break;
    }
}

static void send_to_all(struct job *j, uint8_t kind, const struct strbuf *text)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        link_send(j->watchers.at[i], kind, text->at, text->n, NULL, 0);
}

/* Read also when nobody follows, since they count: what comes later is limited, too. */
static void watch_flush_logs(struct job *j)
{
    struct outbox *box = &j->outbox;
    while (j->logs_sent < box->logs.n && !j->logs_full) {
        j->log_bytes += (double)put_log(j, &box->logs.at[j->logs_sent++], &j->scratch);
        send_to_all(j, MESSAGE_LOG, &j->scratch);
        if (j->log_bytes < LOGS_MOST)
            continue;
        j->logs_full = true;
        box->lists_logs = false;
        box->logs.n = j->logs_sent;
        put_logs_full(j, &j->scratch);
        send_to_all(j, MESSAGE_LOG, &j->scratch);
    }
}

/* In pieces that a message can hold. Logs before the ends of their tasks: with the last of these the
 * reader may go. Without watchers it is thrown away: who comes later is sent
 * what is known then. */
void watch_flush(struct job *j)
{
    struct outbox *box = &j->outbox;
    watch_flush_logs(j);
    watch_sort_ahead(j);
    for (size_t at = 0; at < box->events.n && j->watchers.n; at += EVENTS) {
        size_t n = box->events.n - at < EVENTS ? box->events.n - at : EVENTS;
        strbuf_clear(&j->scratch);
        bytes_put_u64(&j->scratch, j->number);
        bytes_put_u32(&j->scratch, j->agent->node);
        bytes_put_u32(&j->scratch, (uint32_t)n);
        for (size_t i = at; i < at + n; i++)
            protocol_put_event(&j->scratch, &box->events.at[i]);
        send_to_all(j, MESSAGE_EVENTS, &j->scratch);
    }
    for (size_t at = 0; at < box->files.n && j->watchers.n; at += EVENTS) {
        strbuf_clear(&j->scratch);
        put_files(j, &j->scratch, at, box->files.n - at < EVENTS ? box->files.n - at : EVENTS);
        send_to_all(j, MESSAGE_FILES, &j->scratch);
    }
    for (; j->failures_sent < j->result.failures.n &&
           !job_failure_is_open(j, &j->result.failures.at[j->failures_sent]);
         j->failures_sent++)
        for (size_t i = 0; i < j->watchers.n; i++)
            send_failure(j, j->watchers.at[i], &j->result.failures.at[j->failures_sent]);
    outbox_clear(box);
    j->sent = job_now(j);
}

/* To one who comes late: every file that a task left here, also what was dropped since, for without its
 * content what read it cannot be put on record. Told as if it were new; who knows it already passes it
 * over. */
static void send_known_files(struct job *j, struct link *l)
{
    const struct workflow *w = j->w;
    struct strbuf out = {0};
    j->outbox.files.n = 0; /* watch_flush() has just sent them */
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t task = w->producer[o];
        if (task == NONE || digest_is_zero(&j->needs.content[o]) ||
            watch_fate(j, task, false) == WATCH_HELD)
            continue;
        struct trace_file f = {.object = o,
                               .task = task,
                               .digest = j->needs.content[o],
                               .size = j->needs.bytes[o],
                               .produced = true};
        need_key(&j->needs, task, &f.key);
        array_push(&j->outbox.files, f);
    }
    for (size_t at = 0; at < j->outbox.files.n; at += EVENTS) {
        strbuf_clear(&out);
        put_files(j, &out, at, j->outbox.files.n - at < EVENTS ? j->outbox.files.n - at : EVENTS);
        link_send(l, MESSAGE_FILES, out.at, out.n, NULL, 0);
    }
    j->outbox.files.n = 0;
    strbuf_free(&out);
}

/* What is still to be sent goes to the others first: the newcomer gets it with what is known. */
void watch_begin(struct job *j, struct link *l)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        if (j->watchers.at[i] == l)
            return;
    watch_flush(j);
    if (!j->taken && job_runs_ahead(j)) /* what has ended before is known by its end */
        j->taken = mem_new_zero(uint8_t, j->w->ntasks);
    array_push(&j->watchers, l);
    j->outbox.wanted = true; /* events are kept from now on; watch_flush() sends them */
    growth_tell(j, l);
    if (j->executor)
        executor_tell_running(j->executor); /* whoever knows of them passes them over */
    send_known_files(j, l);
    for (size_t i = 0; i < j->failures_sent; i++)
        send_failure(j, l, &j->result.failures.at[i]);
    for (size_t i = 0; i < j->logs_sent; i++) {
        put_log(j, &j->outbox.logs.at[i], &j->scratch);
        link_send(l, MESSAGE_LOG, j->scratch.at, j->scratch.n, NULL, 0);
    }
    if (j->logs_full) {
        put_logs_full(j, &j->scratch);
        link_send(l, MESSAGE_LOG, j->scratch.at, j->scratch.n, NULL, 0);
    }
}

void watch_end(struct job *j, const struct link *l)
{
    for (size_t i = 0; i < j->watchers.n; i++)
        if (j->watchers.at[i] == l)
            j->watchers.at[i--] = array_pop(&j->watchers);
    j->outbox.wanted = j->watchers.n > 0;
}

/* ---- about itself ---- */

/* What a task that no agent has room for asks for, for people. */
static void work_asks(const struct job *j, uint32_t task, char *text, size_t size)
{
    uint32_t span = workflow_span(j->w, task);
    struct capacity asks = capacity_demand(j->w, task);
    capacity_text(j->w, &asks, text, size);
    size_t n = strlen(text);
    if (span > 1)
        n += (size_t)snprintf(text + n, size - n, " on each of %u node%s", span, plural(span));
    if (j->agent->ends > 0 && task < j->ticket.seconds.n && n < size)
        snprintf(text + n, size - n, ", for %.0f s", ceil(j->ticket.seconds.at[task]));
}

/* Goes with every heartbeat: `weft status` shows it. */
void job_work(const struct job *j, struct member_work *out)
{
    struct sched_counts c = {0};
    struct depot_counts d = {0};
    if (job_is_scheduling(j))
        sched_snapshot(driver_sched(j->driver), &c);
    if (j->depot)
        d = depot_counts(j->depot);
    *out = (struct member_work){
        .run = j->number,
        .tt = c.tt,
        .waiting = c.at[SCHED_WAITQ],
        .local = c.at[SCHED_LREADYQ],
        .shared = c.at[SCHED_SREADYQ] + c.at[SCHED_WIDEQ] + c.at[SCHED_GATHERING],
        .running = executor_running(j->executor),
        .fetching = d.under_way + d.waiting,
        .done = (double)c.done,
        .failed = j->result.failed,
        .lost = (double)c.lost,
        .steals = (double)c.steals,
        .failed_steals = (double)c.failed_steals,
        .stolen = (double)c.stolen,
        .given = (double)c.given,
        .pushed = (double)c.pushed,
        .recomputed = (double)j->supply.recomputed,
        .dropped = (double)j->eviction.dropped,
        .fetched = (double)d.fetched,
        .fetched_bytes = d.fetched_bytes,
        .served = (double)d.served,
        .served_bytes = d.served_bytes,
        .hits = (double)j->supply.hits,
        .misses = (double)j->supply.misses,
        .cache_bytes = d.bytes,
        .busy = c.busy,
    };
    want_awaits_submitter(j, out->awaits, sizeof out->awaits);
    for (int i = SCHED_ARRIVING; i < SCHED_PLACES; i++)
        out->held += c.at[i];
    if (job_is_scheduling(j))
        snprintf(out->policy, sizeof out->policy, "%s", sched_policy_name(c.policy));
    uint32_t task = NONE, lost = want_unfit(j, &task);
    if (c.at[SCHED_UNFIT])
        task = sched_unfit(driver_sched(j->driver));
    if (task != NONE && agent_is_staying(j->agent)) {
        work_asks(j, task, out->asks, sizeof out->asks);
        out->unfit = c.at[SCHED_UNFIT] + lost;
    }
}
