/* Two threads when there is a journal. The caller's applies operations to the tables and puts their
 * bytes (and, unless eager, their answers) into the group being filled. The writer's takes that
 * group when it is done with the one before, writes and syncs it, and lets its answers go. While
 * the disk works the next group fills: the slower the disk, the larger the group.
 *
 *     submit ─▶ filling ─ writer ─▶ flying ─ synced ─▶ landed ─ poll ─▶ shown
 *
 * Relies on:
 *   I1. The mutex guards filling, landed, the counters, busy, stop and the trouble. `flying`
 *       belongs to the writer while `busy`, `shown` and `direct` to the caller; the tables are the
 *       caller's alone.
 *   I2. Groups reach the disk in the order of submission, one after the other, each synced before
 *       the next is written: a crash loses a suffix of the operations and nothing in between.
 *   I3. Strict answers leave only with a group that is synced. An eager answer leaves at once, and
 *       its operation may be lost; `durable` says from where on.
 *   I4. A write that failed leaves the file as it was, so the group stays in `flying` and can be
 *       tried again. After a failed sync nobody knows what the disk has: that is final.
 *   I5. The writer's thread allocates nothing (it swaps groups, and journal_append() has no memory of
 *       its own), so it needs no boundary (base/mem.h). The caller allocates while it has the lock:
 *       memory that runs out there gives the lock back first, or the writer would wait for ever, and
 *       whoever closes the store for the writer. */
#include "store/embedded.h"
#include "base/mem.h"
#include "store/fingerprint.h"
#include "base/journal.h"
#include "store/record.h"
#include "store/table.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct embedded_group {
    ARRAY(unsigned char) bytes;
    struct answers answers;
    uint64_t upto; /* operations submitted when it was last filled */
};

struct embedded {
    struct store store;
    struct store_table table;
    bool eager, has_journal;
    uint64_t submitted;
    struct embedded_group shown; /* what the last poll handed out */
    /* answers that wait for nobody: no journal, eager, or landed before `landed` */
    struct embedded_group direct;

    struct journal journal;
    double linger;
    pthread_t writer;
    pthread_mutex_t lock;
    pthread_cond_t work, progress; /* for the writer; for those who wait for it */
    struct embedded_group filling, flying, landed;
    uint64_t durable;
    bool stop, landed_full, busy;
    enum journal_result trouble;
    int reason;
    int event;
};

static void group_clear(struct embedded_group *g)
{
    g->bytes.n = 0;
    answers_clear(&g->answers);
}

static void group_free(struct embedded_group *g)
{
    array_free(&g->bytes);
    answers_free(&g->answers);
}

static void group_swap(struct embedded_group *a, struct embedded_group *b)
{
    struct embedded_group swap = *a;
    *a = *b;
    *b = swap;
}

static bool group_empty(const struct embedded_group *g)
{
    return !g->bytes.n && !g->answers.at.n;
}

static struct embedded *embedded_of(const struct store *s)
{
    return (struct embedded *)s;
}

/* ---- the writer ---- */

/* Both kinds of waiting: a thread in embedded_wait() or embedded_flush(), and a loop on the
 * descriptor. */
static void embedded_wake_caller(struct embedded *e)
{
    uint64_t one = 1;
    pthread_cond_broadcast(&e->progress);
    if (write(e->event, &one, sizeof one) < 0) {
        /* the counter is at its limit: it is readable anyway */
    }
}

static void embedded_pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* The writer's thread. Holds the lock but while it sleeps, lingers or writes. After trouble it
 * waits for retry with the failed group in `flying`; asked to stop it writes what is left, unless
 * there is trouble. */
static void *embedded_writer_main(void *context)
{
    struct embedded *e = context;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        /* A group that could not be written stays in `flying`, before all others. */
        while (e->trouble != JOURNAL_OK
                   ? !e->stop
                   : !(e->busy || (!group_empty(&e->filling) && !e->landed_full)) && !e->stop)
            pthread_cond_wait(&e->work, &e->lock);
        if (e->trouble != JOURNAL_OK || (!e->busy && group_empty(&e->filling)))
            break; /* stopping */
        if (!e->busy) {
            if (e->linger > 0 && !e->stop) {
                pthread_mutex_unlock(&e->lock);
                embedded_pause_for(e->linger);
                pthread_mutex_lock(&e->lock);
            }
            group_swap(&e->filling, &e->flying);
            e->busy = true;
        }
        pthread_mutex_unlock(&e->lock);
        int reason = 0;
        enum journal_result result = JOURNAL_OK;
        if (e->flying.bytes.n)
            result = journal_append(&e->journal, e->flying.bytes.at, e->flying.bytes.n, &reason);
        pthread_mutex_lock(&e->lock);
        e->trouble = result;
        e->reason = reason;
        if (result == JOURNAL_OK) {
            e->busy = false;
            e->durable = e->flying.upto;
            if (e->flying.answers.at.n) {
                group_swap(&e->flying, &e->landed);
                e->landed_full = true;
            }
            group_clear(&e->flying);
        }
        embedded_wake_caller(e);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* ---- the caller's side ---- */

/* The guard's: what was taken in so far goes to the writer, who may be asleep. */
static void embedded_unlock(void *embedded)
{
    struct embedded *e = embedded;
    e->filling.upto = e->submitted;
    pthread_cond_signal(&e->work);
    pthread_mutex_unlock(&e->lock);
}

/* I5. Between these two the caller has the lock and may allocate. */
static void embedded_lock_guarded(struct embedded *e, struct mem_guard *guard)
{
    pthread_mutex_lock(&e->lock);
    mem_guard_enter(guard, embedded_unlock, e);
}

static void embedded_unlock_guarded(struct embedded *e, struct mem_guard *guard)
{
    mem_guard_leave(guard);
    pthread_mutex_unlock(&e->lock);
}

/* Strict answers that landed and were not polled are kept: the writer then needs room, so they move
 * behind each other. */
static void embedded_make_room(struct embedded *e)
{
    if (!e->landed_full)
        return;
    struct answers *to = &e->direct.answers, *from = &e->landed.answers;
    uint32_t items = (uint32_t)to->items.n, nodes = (uint32_t)to->nodes.n;
    for (size_t i = 0; i < from->at.n; i++) {
        struct meta_answer a = from->at.at[i];
        a.first += a.kind == META_WHERE ? nodes : items;
        array_push(&to->at, a);
    }
    for (size_t i = 0; i < from->items.n; i++)
        array_push(&to->items, from->items.at[i]);
    for (size_t i = 0; i < from->records.n; i++) {
        struct meta_record r = from->records.at[i];
        r.first += nodes;
        array_push(&to->records, r);
    }
    for (size_t i = 0; i < from->nodes.n; i++)
        array_push(&to->nodes, from->nodes.at[i]);
    group_clear(&e->landed);
    e->landed_full = false;
    pthread_cond_signal(&e->work);
}

/* Bytes at which submit waits for the disk: memory must not grow without bound. */
#define GROUP_SPLIT (64u << 20)

/* Applied at once, answered when the group is on disk (or at once: eager, no journal). */
static void embedded_submit(struct store *s, const struct meta_op *ops, size_t n)
{
    struct embedded *e = embedded_of(s);
    if (!e->has_journal) {
        for (size_t i = 0; i < n; i++)
            store_table_apply(&e->table, &ops[i], &e->direct.answers);
        e->submitted += n;
        return;
    }
    struct mem_guard guard;
    embedded_lock_guarded(e, &guard);
    for (size_t i = 0; i < n; i++) {
        if (store_table_apply(&e->table, &ops[i],
                              e->eager ? &e->direct.answers : &e->filling.answers)) {
            array_reserve(&e->filling.bytes, e->filling.bytes.n + RECORD_MAX);
            e->filling.bytes.n += record_write(&ops[i], e->filling.bytes.at + e->filling.bytes.n);
        }
        e->submitted++;
        if (e->filling.bytes.n > GROUP_SPLIT) {
            e->filling.upto = e->submitted;
            pthread_cond_signal(&e->work);
            /* the writer swaps the group away when it is done with the one before */
            while (e->filling.bytes.n > GROUP_SPLIT && e->trouble == JOURNAL_OK) {
                embedded_make_room(e);
                pthread_cond_wait(&e->progress, &e->lock);
            }
        }
    }
    e->filling.upto = e->submitted;
    if (!group_empty(&e->filling))
        pthread_cond_signal(&e->work);
    embedded_unlock_guarded(e, &guard);
}

/* A full disk can be mended, and everything waits in memory; a failed sync cannot (I4). */
static bool embedded_report_trouble(const struct embedded *e, struct error *err)
{
    if (e->trouble == JOURNAL_OK)
        return true;
    if (e->trouble == JOURNAL_FULL)
        return error_set(
            err, ERROR_FAILED,
            "%s: cannot write the journal: %s; %llu operations are recorded, %llu wait "
            "in memory: make space, then go on",
            e->journal.path, strerror(e->reason), (unsigned long long)e->durable,
            (unsigned long long)(e->submitted - e->durable));
    return error_set(err, ERROR_FAILED,
                     "%s: cannot write the journal: %s; the disk or its connection fails. %llu "
                     "operations are recorded; start again when it is repaired",
                     e->journal.path, strerror(e->reason), (unsigned long long)e->durable);
}

/* `direct` before `landed`: what embedded_make_room() moved there is older. */
static bool embedded_poll(struct store *s, struct meta_answers *out, struct error *err)
{
    struct embedded *e = embedded_of(s);
    bool good = true;
    group_clear(&e->shown);
    if (e->has_journal) {
        uint64_t count;
        while (read(e->event, &count, sizeof count) < 0 && errno == EINTR)
            ;
        pthread_mutex_lock(&e->lock);
        if (e->landed_full && !e->direct.answers.at.n) {
            group_swap(&e->landed, &e->shown);
            e->landed_full = false;
            pthread_cond_signal(&e->work);
        }
        good = embedded_report_trouble(e, err);
        pthread_mutex_unlock(&e->lock);
    }
    if (e->direct.answers.at.n) /* older than what landed */
        group_swap(&e->direct, &e->shown);
    const struct answers *a = &e->shown.answers;
    *out = (struct meta_answers){.at = a->at.at,
                                 .n = a->at.n,
                                 .items = a->items.at,
                                 .records = a->records.at,
                                 .nodes = a->nodes.at};
    return good;
}

static void embedded_wait(struct store *s)
{
    struct embedded *e = embedded_of(s);
    if (!e->has_journal || e->direct.answers.at.n)
        return;
    pthread_mutex_lock(&e->lock);
    while (!e->landed_full && e->trouble == JOURNAL_OK && (e->busy || !group_empty(&e->filling)))
        pthread_cond_wait(&e->progress, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static int embedded_fd(struct store *s)
{
    return embedded_of(s)->has_journal ? embedded_of(s)->event : -1;
}

/* Operations that changed nothing need no disk: with nothing under way, all are as good as
 * there. */
static uint64_t embedded_durable(struct store *s)
{
    struct embedded *e = embedded_of(s);
    if (!e->has_journal)
        return 0; /* nothing survives */
    pthread_mutex_lock(&e->lock);
    if (!e->busy && group_empty(&e->filling) && e->trouble == JOURNAL_OK)
        e->durable = e->submitted; /* the last ones needed no disk */
    uint64_t n = e->durable;
    pthread_mutex_unlock(&e->lock);
    return n;
}

/* Waits for the writer; strict answers that land meanwhile are set aside, or it would stop for want
 * of room. */
static bool embedded_flush(struct store *s, struct error *err)
{
    struct embedded *e = embedded_of(s);
    if (!e->has_journal)
        return true;
    struct mem_guard guard;
    embedded_lock_guarded(e, &guard);
    for (;;) {
        embedded_make_room(e);
        if (e->trouble != JOURNAL_OK || (!e->busy && group_empty(&e->filling)))
            break;
        pthread_cond_wait(&e->progress, &e->lock);
    }
    bool good = embedded_report_trouble(e, err);
    embedded_unlock_guarded(e, &guard);
    return good;
}

/* The writer takes the failed group up again. */
static bool embedded_retry(struct store *s, struct error *err)
{
    struct embedded *e = embedded_of(s);
    if (!e->has_journal)
        return true;
    pthread_mutex_lock(&e->lock);
    bool good =
        e->trouble == JOURNAL_OK || e->trouble == JOURNAL_FULL || embedded_report_trouble(e, err);
    if (e->trouble == JOURNAL_FULL)
        e->trouble = JOURNAL_OK;
    pthread_cond_signal(&e->work);
    pthread_mutex_unlock(&e->lock);
    return good;
}

/* A journal is of one workflow: with one, nothing can join. */
static void embedded_grow(struct store *s)
{
    store_table_grow(&embedded_of(s)->table);
}

static size_t group_bytes(const struct embedded_group *g)
{
    return g->bytes.cap + g->answers.at.cap * sizeof *g->answers.at.at +
           g->answers.items.cap * sizeof *g->answers.items.at;
}

/* `flying` is the writer's and not counted. */
static size_t embedded_bytes(const struct store *s)
{
    const struct embedded *e = embedded_of(s);
    size_t n =
        sizeof *e + store_table_bytes(&e->table) + group_bytes(&e->shown) + group_bytes(&e->direct);
    if (!e->has_journal)
        return n;
    pthread_mutex_lock((pthread_mutex_t *)&e->lock);
    n += group_bytes(&e->filling) + group_bytes(&e->landed);
    pthread_mutex_unlock((pthread_mutex_t *)&e->lock);
    return n;
}

/* What was submitted is written first; after trouble it is lost, and the caller is told so. */
static bool embedded_close(struct store *s, struct error *err)
{
    struct embedded *e = embedded_of(s);
    bool good = embedded_flush(s, err);
    if (e->has_journal) {
        pthread_mutex_lock(&e->lock);
        e->stop = true;
        pthread_cond_signal(&e->work);
        pthread_mutex_unlock(&e->lock);
        pthread_join(e->writer, NULL);
        pthread_mutex_destroy(&e->lock);
        pthread_cond_destroy(&e->work);
        pthread_cond_destroy(&e->progress);
        journal_close(&e->journal);
        close(e->event);
    }
    store_table_free(&e->table);
    group_free(&e->shown);
    group_free(&e->direct);
    group_free(&e->filling);
    group_free(&e->flying);
    group_free(&e->landed);
    free(e);
    return good;
}

static const struct store_ops embedded_ops = {
    .name = "embedded",
    .submit = embedded_submit,
    .poll = embedded_poll,
    .wait = embedded_wait,
    .fd = embedded_fd,
    .durable = embedded_durable,
    .flush = embedded_flush,
    .retry = embedded_retry,
    .grow = embedded_grow,
    .bytes = embedded_bytes,
    .close = embedded_close,
};

/* ---- opening ---- */

struct embedded_replay {
    struct store_table *table;
    uint64_t operations;
};

/* The journal holds only operations that changed something: one that changes nothing now does not
 * belong to this history. */
static bool embedded_replay_frame(void *context, const unsigned char *payload, size_t n,
                                  struct error *err)
{
    struct embedded_replay *r = context;
    for (size_t at = 0; at < n;) {
        struct meta_op op;
        size_t used = record_read(payload + at, n - at, &op);
        if (!used || !store_table_apply(r->table, &op, NULL))
            return error_set(err, ERROR_INPUT,
                             "operation %llu does not follow from those before it; the journal was "
                             "changed by something else: restore it, or move it away to start anew",
                             (unsigned long long)r->operations + 1);
        at += used;
        r->operations++;
    }
    return true;
}

/* Everything that can fail comes before the thread; then nothing does. */
static bool embedded_open_journal(struct embedded *e, const struct store_embedded_config *config,
                                  struct store_opened *found, struct error *err)
{
    const struct workflow *w = config->workflow;
    struct journal_id id = {store_fingerprint(w, 0, w->ntasks), w->ntasks, w->nobjects};
    struct embedded_replay replay = {&e->table, 0};
    if (!journal_open(&e->journal, config->journal, &id, !config->no_sync, embedded_replay_frame,
                      &replay, &found->existed, &found->cut, err))
        return false;
    found->operations = replay.operations;
    e->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->event < 0) {
        journal_close(&e->journal);
        return error_set(err, ERROR_FAILED, "%s: no event counter: %s", config->journal,
                         strerror(errno));
    }
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->work, NULL);
    pthread_cond_init(&e->progress, NULL);
    int failed = pthread_create(&e->writer, NULL, embedded_writer_main, e);
    if (failed) {
        close(e->event);
        journal_close(&e->journal);
        return error_set(err, ERROR_FAILED, "%s: no thread for the journal: %s", config->journal,
                         strerror(failed));
    }
    e->has_journal = true;
    return true;
}

struct store *store_embedded_open(const struct store_embedded_config *config,
                                  struct store_opened *found, struct error *err)
{
    struct embedded *e = mem_new_zero(struct embedded, 1);
    struct store_opened ignored;
    found = found ? found : &ignored;
    *found = (struct store_opened){0};
    e->store.ops = &embedded_ops;
    e->eager = config->eager;
    e->linger = config->linger;
    store_table_init(&e->table, config->workflow);
    if (config->journal && !embedded_open_journal(e, config, found, err)) {
        store_table_free(&e->table);
        free(e);
        return NULL;
    }
    return &e->store;
}
