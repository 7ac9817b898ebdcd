/* now.h: the mapped file. One writer, any number of readers in other processes.
 *
 * I1. The file has its whole size before it is mapped, and is never made smaller: no store can fault.
 * I2. A slot is taken by writing its task last and freed by writing its task first, so that a reader mostly sees whole ones.
 * I3. Slots are probed from the hash of the task on; a freed one is TOMB, so that what stands behind it is still found. When
 *     nothing runs all become free again.
 * I4. Wishes are written by others: each is one atomic word, and what it says is compared with the number of tasks before it is
 *     used. Nothing else that others could have written is ever read by the run. */
#include "session/now.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/strbuf.h"
#include "model/task_kind.h"
#include "report/families.h"
#include "report/kinds.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char now_magic[8] = {'w', 'e', 'f', 't', 'n', 'o', 'w', '3'};

/* A slot's task is stored plus SLOT_FIRST: a file of zeros is an empty table. */
enum { SLOT_FREE = 0, SLOT_TOMB = 1, SLOT_FIRST = 2 };

struct now_file {
    struct now_head head;
    struct now_kind kind[NOW_KINDS];
    _Atomic uint32_t wish[NOW_WISH_KINDS][NOW_WISHES]; /* a task plus 1; 0: none */
    uint32_t
        heard[NOW_WISHES]; /* tasks plus 1 that were to be cancelled: a ring, of `nheard` so far */
    uint32_t nheard;
    struct now_task slot[NOW_SLOTS];
};

struct now {
    struct now_file *file; /* mapped */
    const struct workflow *w;
    uint8_t *kind;  /* per task; NULL: there are too many kinds, or the run has grown */
    uint32_t tasks; /* when it began */
    uint32_t used;  /* slots that are not free, tombs included */
};

static void now_path(const char *state, struct strbuf *out)
{
    strbuf_printf(out, "%s/now", state);
}

/* A name that is too long is cut, not inside a letter. */
static void now_name_kind(struct now_kind *k, const char *name)
{
    size_t n = strnlen(name, NOW_NAME - 1);
    while (n && ((unsigned char)name[n] & 0xC0) == 0x80)
        n--;
    memcpy(k->name, name, n);
}

/* As the history knows it (model/task_kind.h), as far as one task tells: a family and a stated kind by its name, others by
 * their own without its number. */
static uint32_t now_kind_of(struct intern *known, const struct workflow *w, uint32_t task)
{
    const char *kind = workflow_text(w, w->kind[task]), *name = workflow_task_name(w, task);
    if (families_is_member(w, task) || !task_kind_is_usual(w, task))
        return intern_number(known, kind, strlen(kind));
    return intern_number(known, name, kinds_stem(name));
}

/* In one pass; a task of the family of the one before it costs a comparison. */
static void now_number_kinds(struct now *n, const struct workflow *w)
{
    struct intern known;
    struct now_kind *kind = n->file->kind;
    bool member = false; /* was the last one */
    n->kind = mem_new(uint8_t, (size_t)w->ntasks + 1);
    intern_init(&known);
    for (uint32_t t = 0, k = 0; t < w->ntasks && known.n <= NOW_KINDS; t++) {
        bool like = member && w->kind[t] == w->kind[t - 1];
        member = families_is_member(w, t);
        if (!like || !member) {
            uint32_t before = known.n;
            k = now_kind_of(&known, w, t);
            if (k == before && k < NOW_KINDS)
                now_name_kind(&kind[k], intern_text(&known, k));
        }
        n->kind[t] = (uint8_t)k;
        kind[k < NOW_KINDS ? k : 0].counts.tasks++;
    }
    if (known.n <= NOW_KINDS) {
        n->file->head.kinds = known.n;
    } else {
        free(n->kind);
        n->kind = NULL;
    }
    intern_free(&known);
}

/* The file is made anew, not written over: a reader that has the last run's open goes on reading that one, and its number tells it
 * that it is old. Its pages are allocated before it is mapped, since a store into a hole on a full disk is a signal, not an error.
 * Who may not read the folder may not read this either: 0600. */
struct now *now_begin(const char *state, int64_t run, const struct workflow *w, bool away)
{
    struct strbuf path = {0};
    uint32_t tasks = w->ntasks;
    now_path(state, &path);
    unlink(path.at); /* who reads that of the last run goes on doing so */
    int fd = open(path.at, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *at = fd >= 0 && posix_fallocate(fd, 0, sizeof(struct now_file)) == 0
                   ? mmap(NULL, sizeof(struct now_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED) {
        unlink(path.at);
        strbuf_free(&path);
        return NULL;
    }
    struct now *n = mem_new_zero(struct now, 1);
    n->file = at;
    n->w = w;
    strbuf_free(&path);
    n->file->head.run = run;
    n->file->head.all.tasks = n->tasks = tasks;
    n->file->head.away = away;
    now_number_kinds(n, w);
    memcpy(n->file->head.magic, now_magic, sizeof now_magic);
    return n;
}

/* Tasks that run at once mostly have neighbouring numbers; the multiplication spreads them over the table. */
static uint32_t slot_place(uint32_t task)
{
    return task * UINT32_C(2654435761) >> 20; /* Knuth's: 12 bits, NOW_SLOTS */
}

/* Of the attempt that runs; NULL: it is not told. */
/* An attempt that began while the table was half full was never told, and is not found: its end changes the counts alone.
 */
static struct now_task *slot_find(struct now *n, uint32_t task)
{
    for (uint32_t i = 0, at = slot_place(task); i < NOW_SLOTS; i++, at = (at + 1) % NOW_SLOTS) {
        struct now_task *s = &n->file->slot[at];
        if (s->task == task + SLOT_FIRST)
            return s;
        if (s->task == SLOT_FREE)
            return NULL;
    }
    return NULL;
}

static void slot_take(struct now *n, const struct trace_event *e)
{
    if (e->id >= UINT32_MAX - SLOT_FIRST || n->file->head.all.running >= NOW_SLOTS / 2)
        return; /* half empty, so that probing stays short */
    for (uint32_t i = 0, at = slot_place(e->id); i < NOW_SLOTS; i++, at = (at + 1) % NOW_SLOTS) {
        struct now_task *s = &n->file->slot[at];
        if (s->task > SLOT_TOMB)
            continue;
        n->used += s->task == SLOT_FREE;
        s->node = e->node;
        s->lane = e->lane;
        s->attempt = e->attempt;
        s->since = e->start;
        s->secrets = n->w->secret && e->id < n->w->ntasks && n->w->secret[e->id];
        s->task = e->id + SLOT_FIRST;
        return;
    }
}

/* Tombs lengthen every search: when most of the table is made of them and little runs, it is written anew. */
static void slots_tidy(struct now *n)
{
    if (n->used < NOW_SLOTS * 3 / 4)
        return;
    struct now_task kept[NOW_SLOTS / 2 + 1];
    uint32_t k = 0;
    for (uint32_t i = 0; i < NOW_SLOTS; i++) {
        if (n->file->slot[i].task > SLOT_TOMB && k < NOW_SLOTS / 2)
            kept[k++] = n->file->slot[i];
    }
    memset(n->file->slot, 0, sizeof n->file->slot);
    n->used = 0;
    for (uint32_t i = 0; i < k; i++) {
        struct trace_event e = {.id = kept[i].task - SLOT_FIRST,
                                .node = kept[i].node,
                                .lane = kept[i].lane,
                                .attempt = kept[i].attempt,
                                .start = kept[i].since};
        slot_take(n, &e);
    }
}

/* Counts of all, or of a kind. */
static void now_count(struct now_counts *c, const struct trace_event *e)
{
    switch (e->kind) {
    case TRACE_BEGIN:
        c->running++;
        break;
    case TRACE_TASK:
        c->running -= c->running > 0;
        c->done += e->outcome == TRACE_DONE;
        c->failed += trace_is_failure(e->outcome);
        c->skipped += e->outcome == TRACE_CANCELLED;
        break;
    case TRACE_REUSED:
        c->reused++;
        break;
    case TRACE_SKIPPED:
        c->skipped++;
        break;
    case TRACE_GROWN:
        c->tasks = e->id;
        break;
    case TRACE_TRANSFER:
    case TRACE_FAULT:
    case TRACE_COUNTER:
        break;
    }
}

/* An attempt that was tried again begins anew: its end gave its slot back. */
static void now_event(void *context, const struct trace_event *e)
{
    struct now *n = context;
    struct now_task *s = NULL;
    if (e->kind == TRACE_BEGIN) {
        slots_tidy(n);
        slot_take(n, e);
    } else if (e->kind == TRACE_TASK && (s = slot_find(n, e->id))) {
        s->task = SLOT_TOMB;
    } else if (e->kind == TRACE_GROWN) {
        n->file->head.kinds = 0; /* of which kind the new ones are is not known here */
        free(n->kind);
        n->kind = NULL;
    }
    now_count(&n->file->head.all, e);
    bool of_task = e->kind == TRACE_BEGIN || e->kind == TRACE_TASK || e->kind == TRACE_REUSED ||
                   e->kind == TRACE_SKIPPED;
    if (!n->kind || !of_task || e->id >= n->tasks)
        return;
    struct now_kind *k = &n->file->kind[n->kind[e->id]];
    now_count(&k->counts, e);
    if (e->kind == TRACE_TASK && e->outcome == TRACE_DONE)
        k->seconds += e->finish - e->start;
}

struct trace_sink now_sink(struct now *n)
{
    return (struct trace_sink){.event = now_event, .context = n};
}

void now_end(struct now *n)
{
    if (!n)
        return;
    memset(n->file->slot, 0, sizeof n->file->slot);
    n->file->head.all.running = 0;
    munmap(n->file, sizeof *n->file);
    free(n->kind);
    free(n);
}

/* What is to be cancelled stays readable after it was taken: it takes a moment until it is over. */
static void now_hear(struct now *n, uint32_t task)
{
    n->file->heard[n->file->nheard % NOW_WISHES] = task + 1;
    n->file->nheard++;
}

uint32_t now_take_wish(struct now *n, enum now_wish wish)
{
    for (size_t i = 0; n && i < NOW_WISHES; i++) {
        if (atomic_load_explicit(&n->file->wish[wish][i], memory_order_relaxed) == 0)
            continue;
        uint32_t task = atomic_exchange(&n->file->wish[wish][i], 0);
        if (!task || task > n->file->head.all.tasks) /* I4 */
            continue;
        if (wish == NOW_CANCEL)
            now_hear(n, task - 1);
        return task - 1;
    }
    return NONE;
}

/* -1: there is none. */
static int now_open(const char *state, int flags)
{
    struct strbuf path = {0};
    now_path(state, &path);
    int fd = open(path.at, flags | O_CLOEXEC | O_NOFOLLOW);
    strbuf_free(&path);
    return fd;
}

static bool now_is_of(const struct now_head *head, int64_t run)
{
    return memcmp(head->magic, now_magic, sizeof now_magic) == 0 && head->run == run;
}

/* Read, not mapped: the file may be gone the next moment, and a copy does not change under one's eyes. NULL: it tells nothing. */
static struct now_file *now_copy(const char *state, int64_t run)
{
    int fd = now_open(state, O_RDONLY);
    if (fd < 0)
        return NULL;
    struct now_file *file = mem_alloc(sizeof *file);
    ssize_t n = read(fd, file, sizeof *file);
    close(fd);
    if (n == (ssize_t)sizeof *file && now_is_of(&file->head, run))
        return file;
    free(file);
    return NULL;
}

bool now_read(const char *state, int64_t run, struct now_head *head, now_tasks *out)
{
    struct now_file *file = now_copy(state, run);
    for (uint32_t i = 0; file && i < NOW_SLOTS; i++) {
        if (file->slot[i].task <= SLOT_TOMB)
            continue;
        file->slot[i].task -= SLOT_FIRST;
        array_push(out, file->slot[i]);
    }
    bool told = file != NULL;
    if (told)
        *head = file->head;
    free(file);
    return told;
}

bool now_read_kinds(const char *state, int64_t run, struct now_head *head, now_kinds *out)
{
    struct now_file *file = now_copy(state, run);
    for (uint32_t i = 0; file && i < file->head.kinds && i < NOW_KINDS; i++) {
        file->kind[i].name[NOW_NAME - 1] = 0;
        array_push(out, file->kind[i]);
    }
    bool told = file != NULL;
    if (told)
        *head = file->head;
    free(file);
    return told;
}

void now_read_cancelled(const char *state, int64_t run, now_numbers *out)
{
    struct now_file *file = now_copy(state, run);
    uint32_t n = file ? file->nheard : 0;
    for (uint32_t i = n < NOW_WISHES ? 0 : n - NOW_WISHES; i < n; i++) {
        if (file->heard[i % NOW_WISHES])
            array_push(out, file->heard[i % NOW_WISHES] - 1);
    }
    for (uint32_t i = 0; file && i < NOW_WISHES; i++) {
        uint32_t task = atomic_load_explicit(&file->wish[NOW_CANCEL][i], memory_order_relaxed);
        if (task)
            array_push(out, task - 1);
    }
    free(file);
}

/* The run has the file mapped: a free word is taken by whoever is first. */
enum now_answer now_ask(const char *state, int64_t run, enum now_wish wish, uint32_t task)
{
    struct stat st;
    int fd = now_open(state, O_RDWR);
    bool whole = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 st.st_size >= (off_t)sizeof(struct now_file);
    struct now_file *file =
        whole ? mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (file == MAP_FAILED)
        return NOW_SILENT;
    enum now_answer answer = now_is_of(&file->head, run) ? NOW_FULL : NOW_SILENT;
    for (size_t i = 0; answer == NOW_FULL && i < NOW_WISHES; i++) {
        if (atomic_load_explicit(&file->wish[wish][i], memory_order_relaxed) == task + 1)
            answer = NOW_ASKED;
    }
    for (size_t i = 0; answer == NOW_FULL && i < NOW_WISHES; i++) {
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&file->wish[wish][i], &none, task + 1))
            answer = NOW_ASKED;
    }
    munmap(file, sizeof *file);
    return answer;
}
