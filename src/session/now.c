/* now.h: the mapped file. One writer, any number of readers in other processes.
 *
 * I1. The file has its whole size before it is mapped, and is never made smaller: no store can fault.
 * I2. A slot is taken by writing its task last and freed by writing its task first, so that a reader mostly sees whole ones.
 * I3. Slots are probed from the hash of the task on; a freed one is TOMB, so that what stands behind it is still found. When
 *     nothing runs all become free again. */
#include "session/now.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char now_magic[8] = {'w', 'e', 'f', 't', 'n', 'o', 'w', '1'};

/* A slot's task is stored plus SLOT_FIRST: a file of zeros is an empty table. */
enum { SLOT_FREE = 0, SLOT_TOMB = 1, SLOT_FIRST = 2 };

struct now_file {
    struct now_head head;
    struct now_task slot[NOW_SLOTS];
};

struct now {
    struct now_file *file; /* mapped */
    uint32_t used;         /* slots that are not free, tombs included */
};

static void now_path(const char *state, struct strbuf *out)
{
    strbuf_printf(out, "%s/now", state);
}

/* The file is made anew, not written over: a reader that has the last run's open goes on reading that one, and its number tells it
 * that it is old. Its pages are allocated before it is mapped, since a store into a hole on a full disk is a signal, not an error.
 * Who may not read the folder may not read this either: 0600. */
struct now *now_begin(const char *state, int64_t run, uint32_t tasks, const uint8_t *reasons)
{
    struct strbuf path = {0};
    now_path(state, &path);
    unlink(path.at); /* who reads that of the last run goes on doing so */
    int fd = open(path.at, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void *at = fd >= 0 && posix_fallocate(fd, 0, sizeof(struct now_file)) == 0
                   ? mmap(NULL, sizeof(struct now_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;
    if (at != MAP_FAILED && pwrite(fd, reasons, tasks, sizeof(struct now_file)) != (ssize_t)tasks) {
        munmap(at, sizeof(struct now_file)); /* the disk is full */
        at = MAP_FAILED;
    }
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED) {
        unlink(path.at);
        strbuf_free(&path);
        return NULL;
    }
    struct now *n = mem_new_zero(struct now, 1);
    n->file = at;
    strbuf_free(&path);
    n->file->head.run = run;
    n->file->head.tasks = tasks;
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
    if (e->id >= UINT32_MAX - SLOT_FIRST || n->file->head.running >= NOW_SLOTS / 2)
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

/* An attempt that was tried again begins anew: its end gave its slot back. */
static void now_event(void *context, const struct trace_event *e)
{
    struct now *n = context;
    struct now_head *h = &n->file->head;
    struct now_task *s = NULL;
    switch (e->kind) {
    case TRACE_BEGIN:
        slots_tidy(n);
        slot_take(n, e);
        h->running++;
        break;
    case TRACE_TASK:
        s = slot_find(n, e->id);
        if (s)
            s->task = SLOT_TOMB;
        h->running -= h->running > 0;
        h->done += e->outcome == TRACE_DONE;
        h->failed += trace_is_failure(e->outcome);
        break;
    case TRACE_REUSED:
        h->reused++;
        break;
    case TRACE_SKIPPED:
        h->skipped++;
        break;
    case TRACE_GROWN:
        h->tasks = e->id;
        break;
    case TRACE_TRANSFER:
    case TRACE_FAULT:
    case TRACE_COUNTER:
        break;
    }
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
    n->file->head.running = 0;
    munmap(n->file, sizeof *n->file);
    free(n);
}

/* -1: there is none. */
static int now_open(const char *state)
{
    struct strbuf path = {0};
    now_path(state, &path);
    int fd = open(path.at, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    strbuf_free(&path);
    return fd;
}

bool now_reason(const char *state, int64_t run, uint32_t task, uint8_t *reason)
{
    struct now_head head;
    int fd = now_open(state);
    bool good = fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                memcmp(head.magic, now_magic, sizeof now_magic) == 0 && head.run == run &&
                pread(fd, reason, 1, (off_t)sizeof(struct now_file) + task) == 1;
    if (fd >= 0)
        close(fd);
    return good;
}

/* Read, not mapped: the file may be gone the next moment, and a copy does not change under one's eyes. */
bool now_read(const char *state, int64_t run, struct now_head *head, now_tasks *out)
{
    int fd = now_open(state);
    if (fd < 0)
        return false;
    struct now_file *file = mem_alloc(sizeof *file);
    ssize_t n = read(fd, file, sizeof *file);
    close(fd);
    bool good = n == (ssize_t)sizeof *file && memcmp(file->head.magic, now_magic, 8) == 0 &&
                file->head.run == run;
    for (uint32_t i = 0; good && i < NOW_SLOTS; i++) {
        if (file->slot[i].task <= SLOT_TOMB)
            continue;
        file->slot[i].task -= SLOT_FIRST;
        array_push(out, file->slot[i]);
    }
    if (good)
        *head = file->head;
    free(file);
    return good;
}
