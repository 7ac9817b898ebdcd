/* Objects in memory: see data.h.
 *
 * I1. `at` and `size` of an object are its producer's until that ends, then all readers'; the
 *     counters by which a crew releases tasks, or the locks of calls, order the two.
 * I2. `readers` are those whose tasks have not ended well. Who takes it to 0 frees the object; a
 *     reader that finds 1 is the last one, since it is counted itself.
 * I3. Faults, and evicted objects that come back, are under the lock. Nothing else is.
 * I4. Memory that the program lent is used and never freed; it counts nowhere. A block that a task goes
 *     on with in place takes with it whose it is. */
#include "exec/data.h"

#include "base/mem.h"
#include "base/prefetch.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ALIGNED = 64, /* bytes: a cache line, and any vector register */
    GUARD = 64,   /* bytes behind an object that nobody may write, when that is watched */
    GUARD_BYTE = 0xa5,
    KEPT_MOST =
        1 << 16, /* bytes: what is larger goes back, since it would be memory that nobody counts */
    FAULT = INT_MIN + 22, /* the status of a call that returned 0 and is at fault all the same */
};

/* A line of the cache each: readers on two threads count down without disturbing those of other objects. */
struct data_object {
    _Alignas(ALIGNED) void *at;
    size_t size;
    uint64_t sum;   /* of its bytes, when they are watched */
    void *lent;     /* the program's memory for it; NULL: none */
    size_t room;    /* of that */
    char *evicted;  /* the file that it was put into; NULL: never */
    bool in_memory; /* else it is a file, and nothing here is used */
    bool borrowed;  /* `at` is the program's (I4) */
    atomic_bool
        spoiled; /* somebody wrote to it who may only read; who reads it as well finds that, too */
    _Atomic uint32_t calls; /* that read it now, when they are watched */
    _Atomic uint32_t readers;
};

enum data_fault_kind {
    FAULT_NOT_MADE,
    FAULT_PAST_END,
    FAULT_INPUT,
    FAULT_FILE,
    FAULT_SIZE,
    FAULT_SCRATCH,
    FAULT_PAST_SCRATCH,
    FAULT_SHARED_INPUT,
    FAULT_LOST
};

struct data_fault {
    uint32_t task, object;
    enum data_fault_kind kind;
};

struct data {
    const struct workflow *w;
    struct data_object *object;
    void *objects; /* the block that they stand in, from its first line on */
    uint32_t nobjects;
    bool checked, limited, counted;
    _Atomic size_t used, peak;
    pthread_mutex_t lock;
    ARRAY(struct data_fault) faults;
};

/* FNV-1a by words: two contents that differ are not told apart once in 2^64. */
static uint64_t data_sum(const void *at, size_t size)
{
    const unsigned char *byte = at;
    uint64_t sum = 0xcbf29ce484222325u, word;
    size_t i = 0;
    for (; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, byte + i, sizeof word);
        sum = (sum ^ word) * 0x100000001b3u;
    }
    for (; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

struct data *data_new(const struct workflow *w, bool checked)
{
    struct data *d = mem_new_zero(struct data, 1);
    d->w = w;
    d->checked = checked;
    d->nobjects = w->nobjects;
    d->objects = mem_new_zero(struct data_object, (size_t)w->nobjects + 1);
    d->object = (struct data_object *)(((uintptr_t)d->objects + ALIGNED - 1) / ALIGNED * ALIGNED);
    pthread_mutex_init(&d->lock, NULL);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t readers = 0;
        d->object[o].in_memory = workflow_object_is(w, o, OBJECT_IN_MEMORY);
        if (d->object[o].in_memory)
            workflow_consumers(w, o, &readers);
        atomic_init(&d->object[o].readers, readers);
    }
    return d;
}

void data_free(struct data *d)
{
    if (!d)
        return;
    for (uint32_t o = 0; o < d->nobjects; o++) {
        if (!d->object[o].borrowed)
            (free)(d->object[o].at);
        if (d->object[o].evicted)
            unlink(d->object[o].evicted);
        free(d->object[o].evicted);
    }
    free(d->objects);
    array_free(&d->faults);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Memory of the program's: read where it lies, written where it lies, freed by nobody here (I4). */
void data_lend(struct data *d, uint32_t object, void *at, size_t bytes)
{
    struct data_object *o = &d->object[object];
    uint32_t readers;
    workflow_consumers(d->w, object, &readers);
    atomic_init(&o->readers, readers);
    o->in_memory = true;
    o->lent = at;
    o->room = bytes;
    if (d->w->producer[object] != NONE)
        return;
    o->at = at;
    o->size = bytes;
    o->borrowed = true;
    o->sum = d->checked ? data_sum(at, bytes) : 0;
}

bool data_is_lent(const struct data *d, uint32_t object)
{
    return d->object[object].lent != NULL;
}

void data_limit(struct data *d)
{
    d->limited = true;
}

/* A block that is not cached by a thread, since a slot is not at hand: it goes back to the system's allocator. What was
 * written once is not written again, since nobody changes an object that has readers. Nothing makes no room: memory that the
 * program lent, with which a task went on in place, stays where it is (I4); and what is not there was given to a task that
 * failed, or was to be brought back for one that never began. */
bool data_evict(struct data *d, uint32_t object, const char *path, bool *written)
{
    struct data_object *o = &d->object[object];
    *written = o->at && !o->borrowed && !o->evicted;
    if (!o->at || o->borrowed)
        return true;
    int fd = *written ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    size_t done = 0;
    for (ssize_t n = 1; fd >= 0 && n > 0 && done<o->size; done += n> 0 ? (size_t)n : 0)
        n = write(fd, (char *)o->at + done, o->size - done);
    if (fd >= 0 && close(fd) != 0)
        done = 0;
    if (*written && (fd < 0 || done < o->size)) {
        unlink(path);
        return false;
    }
    if (*written)
        o->evicted = mem_copy_string(path);
    if (d->counted)
        atomic_fetch_sub_explicit(&d->used, o->size, memory_order_relaxed);
    (free)(o->at);
    o->at = NULL;
    return true;
}

bool data_holds(const struct data *d, uint32_t object)
{
    return object < d->nobjects && d->object[object].in_memory;
}

void data_count(struct data *d)
{
    d->counted = true;
}

size_t data_peak(const struct data *d)
{
    return atomic_load(&((struct data *)d)->peak);
}

/* ---- blocks ---- */

static size_t data_room(const struct data *d, size_t size)
{
    return (size + (d->checked ? GUARD : 0) + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED;
}

/* Counted from the moment that a function has it, if anybody asked: all threads count in one place. NULL: there is no memory. */
static void *data_take_block(struct data_slot *s, size_t size)
{
    struct data *d = s->data;
    size_t room = data_room(d, size);
    void *at = NULL;
    if (room < size) /* it overflows */
        return NULL;
    for (uint32_t i = s->nkept; i-- && !at;)
        if (s->kept[i].room == room) {
            at = s->kept[i].at;
            s->kept[i] = s->kept[--s->nkept];
        }
    if (!at)
        at = aligned_alloc(ALIGNED, room);
    if (!at)
        return NULL;
    if (d->checked)
        memset((char *)at + size, GUARD_BYTE, GUARD);
    if (!d->counted)
        return at;
    size_t used = atomic_fetch_add_explicit(&d->used, size, memory_order_relaxed) + size;
    size_t peak = atomic_load_explicit(&d->peak, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak(&d->peak, &peak, used))
        ;
    return at;
}

static void data_give_block(struct data_slot *s, void *at, size_t size)
{
    struct data *d = s->data;
    if (!at)
        return;
    if (d->counted)
        atomic_fetch_sub_explicit(&d->used, size, memory_order_relaxed);
    if (s->keeps && s->nkept < DATA_KEPT && size <= KEPT_MOST)
        s->kept[s->nkept++] = (struct data_block){at, data_room(d, size)};
    else
        (free)(at);
}

/* An object's memory is used no more. */
static void data_drop(struct data_slot *s, struct data_object *o)
{
    if (!o->borrowed)
        data_give_block(s, o->at, o->size);
    o->at = NULL;
    o->borrowed = false;
}

static bool data_guard_stands(const void *at, size_t size)
{
    const unsigned char *guard = (const unsigned char *)at + size;
    for (size_t i = 0; i < GUARD; i++)
        if (guard[i] != GUARD_BYTE)
            return false;
    return true;
}

/* ---- what functions ask for ---- */

static struct data_slot *data_slot_of(const struct weft_task *task)
{
    return (struct data_slot *)task->data; /* `asks` is first */
}

/* NONE: it has no such input. */
static uint32_t data_input(const struct data_slot *s, uint32_t i)
{
    return i < s->nin ? s->in[i] : NONE;
}

static uint32_t data_output(const struct data_slot *s, uint32_t i)
{
    return i < s->nout ? s->out[i] : NONE;
}

static int data_blame(struct data_slot *s, uint32_t object, enum data_fault_kind kind)
{
    pthread_mutex_lock(&s->data->lock);
    array_push(&s->data->faults, ((struct data_fault){s->task, object, kind}));
    pthread_mutex_unlock(&s->data->lock);
    return FAULT;
}

/* A file that is an input, mapped until the call is over; an empty one has an address, too. Where functions are watched it
 * may be written to: one that does so is to be named, not to take the process with it. The file stays as it is. */
static const void *data_map(struct data_slot *s, const char *path, uint32_t place, size_t *bytes)
{
    static const char nothing[1];
    struct stat st;
    for (size_t i = 0; i < s->files.n; i++)
        if (!s->files.at[i].out && s->files.at[i].place == place) {
            *bytes = s->files.at[i].size;
            return s->files.at[i].at;
        }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    bool good = fstat(fd, &st) == 0;
    *bytes = good ? (size_t)st.st_size : 0;
    if (good && *bytes)
        at = mmap(NULL, *bytes, s->data->checked ? PROT_READ | PROT_WRITE : PROT_READ, MAP_PRIVATE,
                  fd, 0);
    close(fd);
    if (good && !*bytes)
        return nothing;
    if (at == MAP_FAILED)
        return NULL;
    array_push(&s->files, ((struct data_file){at, *bytes, place, false,
                                              s->data->checked ? data_sum(at, *bytes) : 0}));
    return at;
}

static const void *data_ask_in(const struct weft_task *task, uint32_t i, size_t *bytes)
{
    struct data_slot *s = data_slot_of(task);
    size_t ignored;
    uint32_t object = data_input(s, i);
    bytes = bytes ? bytes : &ignored;
    *bytes = 0;
    if (object == NONE)
        return NULL;
    if (!data_holds(s->data, object))
        return data_map(s, task->in[i], i, bytes);
    *bytes = s->data->object[object].size;
    return s->data->object[object].at;
}

/* Than what the program lent for it, or than the workflow states where memory is limited? Of tasks that joined no object is in
 * the table. */
static bool data_is_too_large(const struct data_slot *s, uint32_t object, size_t bytes)
{
    const struct data *d = s->data;
    if (data_holds(d, object) && d->object[object].lent)
        return bytes > d->object[object].room;
    return d->limited && (double)bytes > d->w->size[object];
}

/* Another size than before: what was written is lost. */
static void *data_ask_out(const struct weft_task *task, uint32_t i, size_t bytes)
{
    struct data_slot *s = data_slot_of(task);
    uint32_t object = data_output(s, i);
    if (object == NONE)
        return NULL;
    if (!data_holds(s->data, object)) {
        for (size_t k = 0; k < s->files.n; k++) {
            struct data_file *f = &s->files.at[k];
            if (!f->out || f->place != i)
                continue;
            if (f->size == bytes)
                return f->at;
            data_give_block(s, f->at, f->size);
            *f = s->files.at[--s->files.n];
            break;
        }
        if (data_is_too_large(s, object, bytes)) {
            data_blame(s, object, FAULT_SIZE);
            return NULL;
        }
        void *at = data_take_block(s, bytes);
        if (at)
            array_push(&s->files, ((struct data_file){at, bytes, i, true, 0}));
        return at;
    }
    struct data_object *o = &s->data->object[object];
    if (o->at && o->size == bytes)
        return o->at;
    data_drop(s, o);
    o->size = 0;
    if (data_is_too_large(s, object, bytes)) {
        data_blame(s, object, FAULT_SIZE);
        return NULL;
    }
    o->borrowed = o->lent != NULL;
    o->at = o->lent ? o->lent : data_take_block(s, bytes);
    o->size = o->at ? bytes : 0;
    return o->at;
}

/* In place, when nobody else will read it and no attempt may follow that would. */
static void *data_ask_pass(const struct weft_task *task, uint32_t in, uint32_t out, size_t *bytes)
{
    struct data_slot *s = data_slot_of(task);
    uint32_t from = data_input(s, in), to = data_output(s, out);
    size_t size;
    const void *old = data_ask_in(task, in, &size);
    if (bytes)
        *bytes = size;
    if (!old || to == NONE)
        return NULL;
    struct data_object *f = s->data->object + from, *t = s->data->object + to;
    if (s->in_place && data_holds(s->data, from) && data_holds(s->data, to) &&
        (!t->lent || t->lent == f->at) && !data_is_too_large(s, to, size) &&
        atomic_load_explicit(&f->readers, memory_order_acquire) == 1) {
        data_drop(s, t);
        t->at = f->at;
        t->size = f->size;
        t->borrowed = f->borrowed;
        f->at = NULL;
        f->borrowed = false;
        f->size = 0;
        return t->at;
    }
    void *copy = data_ask_out(task, out, size);
    if (copy)
        memcpy(copy, old, size);
    return copy;
}

/* Listed with the files of the call, so that it ends with them. */
static void *data_ask_scratch(const struct weft_task *task, size_t bytes)
{
    struct data_slot *s = data_slot_of(task);
    double sum = (double)bytes;
    for (size_t i = 0; i < s->files.n; i++)
        sum += s->files.at[i].place == DATA_SCRATCH ? (double)s->files.at[i].size : 0;
    if (s->data->limited && sum > s->data->w->memory[s->task]) {
        data_blame(s, NONE, FAULT_SCRATCH);
        return NULL;
    }
    void *at = data_take_block(s, bytes);
    if (at)
        array_push(&s->files, ((struct data_file){at, bytes, DATA_SCRATCH, true, 0}));
    return at;
}

void data_slot_init(struct data_slot *s, struct data *d, bool keeps)
{
    *s = (struct data_slot){.asks = {data_ask_in, data_ask_out, data_ask_pass, data_ask_scratch},
                            .data = d,
                            .task = NONE,
                            .keeps = keeps};
}

void data_slot_free(struct data_slot *s)
{
    for (uint32_t i = 0; i < s->nkept; i++)
        (free)(s->kept[i].at);
    s->nkept = 0;
    array_free(&s->files);
    free(s->own);
    s->own = NULL;
}

/* ---- around a call ---- */

/* Another reader may do the same at this moment (I3). What cannot be read fails the task, whatever it makes without it. */
static void data_bring_back(struct data_slot *s, uint32_t number)
{
    struct data_object *o = &s->data->object[number];
    pthread_mutex_lock(&s->data->lock);
    int fd = o->at ? -1 : open(o->evicted, O_RDONLY | O_CLOEXEC);
    void *at = fd < 0 ? NULL : data_take_block(s, o->size);
    size_t done = 0;
    for (ssize_t n = 1; at && n > 0 && done<o->size; done += n> 0 ? (size_t)n : 0)
        n = read(fd, (char *)at + done, o->size - done);
    if (fd >= 0)
        close(fd);
    if (at && done == o->size)
        o->at = at;
    else
        data_give_block(s, at, o->size);
    bool lost = !o->at;
    pthread_mutex_unlock(&s->data->lock);
    if (lost)
        data_blame(s, number, FAULT_LOST);
    s->lost |= lost;
}

/* Calls are watched: from now on (+1) or no longer, this one reads its inputs. */
static void data_count_calls(struct data_slot *s, uint32_t more)
{
    for (uint32_t i = 0; s->data->checked && i < s->nin; i++)
        if (data_holds(s->data, s->in[i]))
            atomic_fetch_add(&s->data->object[s->in[i]].calls, more);
}

/* A crew's slots point into the workflow: it stays as it is while a crew works. Others have a copy,
 * since the workflow may grow, and move, while the function runs. */
void data_begin(struct data_slot *s, struct weft_task *task, uint32_t number)
{
    const struct workflow *w = s->data->w;
    s->task = number;
    s->in_place = !w->retries || !w->retries[number];
    s->lost = false;
    s->nin = task->nin = w->in_off[number + 1] - w->in_off[number];
    s->nout = task->nout = w->object_end[number] - w->object_off[number];
    s->in = w->in_object + w->in_off[number];
    s->out = w->out_object + w->object_off[number];
    task->data = &s->asks;
    /* all of them are asked for soon, and counted down later: other threads give their lines up at once, not one by one */
    for (uint32_t i = 0; i < s->nin; i++)
        prefetch_write(&s->data->object[s->in[i]]);
    for (uint32_t i = 0; s->data->limited && i < s->nin; i++)
        if (s->data->object[s->in[i]].evicted)
            data_bring_back(s, s->in[i]);
    data_count_calls(s, 1);
    if (s->keeps)
        return;
    s->own = mem_resize(s->own, (size_t)s->nin + s->nout + 1);
    memcpy(s->own, s->in, s->nin * sizeof *s->own);
    memcpy(s->own + s->nin, s->out, s->nout * sizeof *s->own);
    s->in = s->own;
    s->out = s->own + s->nin;
}

/* Files: inputs are unmapped, outputs written. */
static bool data_end_files(struct data_slot *s, const struct weft_task *task, bool write_them,
                           uint32_t *which)
{
    bool good = true;
    for (size_t i = 0; i < s->files.n; i++) {
        struct data_file *f = &s->files.at[i];
        if (!f->out) {
            munmap(f->at, f->size);
            continue;
        }
        if (f->place == DATA_SCRATCH) {
            data_give_block(s, f->at, f->size);
            continue;
        }
        int fd = write_them && good
                     ? open(task->out[f->place], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                     : -1;
        for (size_t done = 0; fd >= 0 && good && done < f->size;) {
            ssize_t n = write(fd, (char *)f->at + done, f->size - done);
            good = n > 0;
            done += good ? (size_t)n : 0;
        }
        good = good && (!write_them || fd >= 0);
        if (fd >= 0 && close(fd) != 0)
            good = false;
        if (!good)
            *which = f->place;
        data_give_block(s, f->at, f->size);
    }
    s->files.n = 0;
    return good;
}

/* What it had for the time of the call: inputs that are files, and what lies behind outputs that are, and behind scratch
 * memory. */
static int data_check_files(struct data_slot *s)
{
    for (size_t i = 0; i < s->files.n; i++) {
        const struct data_file *f = &s->files.at[i];
        if (!f->out && data_sum(f->at, f->size) != f->sum)
            return data_blame(s, data_input(s, f->place), FAULT_INPUT);
        if (!f->out || data_guard_stands(f->at, f->size))
            continue;
        return f->place == DATA_SCRATCH ? data_blame(s, NONE, FAULT_PAST_SCRATCH)
                                        : data_blame(s, data_output(s, f->place), FAULT_PAST_END);
    }
    return 0;
}

/* Of the calls that read it: those of this task, which may name it twice. */
static uint32_t data_own_calls(const struct data_slot *s, uint32_t object)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->nin; i++)
        n += s->in[i] == object;
    return n;
}

/* Were bytes written behind its outputs, or to its inputs? While others read an input as well, it may be one of them
 * who wrote to it. */
static int data_check(struct data_slot *s, const struct weft_task *task)
{
    struct data *d = s->data;
    int status = data_check_files(s);
    if (status)
        return status;
    for (uint32_t i = 0; i < task->nout; i++) {
        uint32_t o = data_output(s, i);
        if (!data_holds(d, o) || !d->object[o].at)
            continue;
        if (!d->object[o].borrowed && !data_guard_stands(d->object[o].at, d->object[o].size))
            return data_blame(s, o, FAULT_PAST_END);
        d->object[o].sum = data_sum(d->object[o].at, d->object[o].size);
    }
    for (uint32_t i = 0; i < task->nin; i++) {
        uint32_t o = data_input(s, i);
        struct data_object *in = d->object + o;
        if (!data_holds(d, o) || !in->at ||
            ((in->borrowed || data_guard_stands(in->at, in->size)) &&
             data_sum(in->at, in->size) == in->sum))
            continue;
        bool shared =
            atomic_exchange(&in->spoiled, true) || atomic_load(&in->calls) > data_own_calls(s, o);
        return data_blame(s, o, shared ? FAULT_SHARED_INPUT : FAULT_INPUT);
    }
    return 0;
}

static int data_judge(struct data_slot *s, const struct weft_task *task)
{
    struct data *d = s->data;
    if (s->lost)
        return FAULT; /* data_bring_back() said of what */
    for (uint32_t i = 0; i < task->nout; i++) {
        uint32_t o = data_output(s, i);
        if (data_holds(d, o) && !d->object[o].at)
            return data_blame(s, o, FAULT_NOT_MADE);
    }
    return d->checked ? data_check(s, task) : 0;
}

void data_skip(struct data_slot *s, uint32_t number)
{
    struct data *d = s->data;
    const struct workflow *w = d->w;
    for (uint32_t i = w->in_off[number]; i < w->in_off[number + 1]; i++) {
        struct data_object *o = d->object + w->in_object[i];
        if (!data_holds(d, w->in_object[i]) ||
            atomic_fetch_sub_explicit(&o->readers, 1, memory_order_acq_rel) != 1)
            continue;
        data_drop(s, o); /* I2 */
        if (o->evicted)
            unlink(o->evicted);
    }
}

int data_end(struct data_slot *s, struct weft_task *task, int status)
{
    struct data *d = s->data;
    uint32_t place = 0;
    if (!status)
        status = data_judge(s, task);
    data_count_calls(s, UINT32_MAX); /* one less */
    if (s->files.n && !data_end_files(s, task, !status, &place) && !status)
        status = data_blame(s, data_output(s, place), FAULT_FILE);
    task->data = NULL;
    if (!status) {
        data_skip(s, s->task);
        return 0;
    }
    for (uint32_t i = 0; i < task->nout; i++) { /* another attempt makes them anew */
        uint32_t o = data_output(s, i);
        if (!data_holds(d, o))
            continue;
        data_drop(s, &d->object[o]);
    }
    return status;
}

void data_explain(struct data *d, uint32_t number, struct strbuf *out)
{
    static const char *const text[] = {
        [FAULT_NOT_MADE] = "it returned 0, but never asked for its output '%s' (weft_task_out())",
        [FAULT_PAST_END] = "it wrote past the end of its output '%s'",
        [FAULT_INPUT] = "it wrote to its input '%s', which is read-only: others may read it "
                        "(weft_task_pass() gives one to write to)",
        [FAULT_SHARED_INPUT] = "its input '%s', which is read-only, was written to while it ran: "
                               "by it, or by another that reads it (with one "
                               "thread it is this one; weft_task_pass() gives one to write to)",
        [FAULT_FILE] = "its output '%s' could not be written",
        [FAULT_SIZE] = "it asked for more bytes for '%s' than the workflow states (or the program "
                       "has lent)",
        [FAULT_SCRATCH] = "it asked for more scratch memory than the workflow states",
        [FAULT_PAST_SCRATCH] = "it wrote past the end of its scratch memory (weft_task_scratch())",
        [FAULT_LOST] = "its input '%s' had to make room, and could not be read again",
    };
    char label[512];
    pthread_mutex_lock(&d->lock);
    for (size_t i = d->faults.n; i--;)
        if (d->faults.at[i].task == number) {         /* the newest: that of this attempt */
            uint32_t object = d->faults.at[i].object; /* NONE: the text has no place for its name */
            strbuf_printf(
                out, text[d->faults.at[i].kind],
                object == NONE ? "" : workflow_object_label(d->w, object, label, sizeof label));
            break;
        }
    pthread_mutex_unlock(&d->lock);
}
