/* Objects in memory: see data.h.
 *
 * I1. `at` and `size` of an object are its producer's until that ends, then all readers'; the
 *     counters by which a crew releases tasks, or the locks of calls, order the two.
 * I2. `readers` are those whose tasks have not ended well. Who takes it to 0 frees the object; a
 *     reader that finds 1 is the last one, since it is counted itself.
 * I3. Faults are under the lock. Nothing else is. */
#include "exec/data.h"

#include "base/mem.h"

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
    FAULT = INT_MIN + 22, /* the status of a call that returned 0 and is at fault all the same */
};

struct data_object {
    void *at;
    size_t size;
    uint64_t sum;   /* of its bytes, when they are watched */
    bool in_memory; /* else it is a file, and nothing here is used */
    _Atomic uint32_t readers;
};

enum data_fault_kind { FAULT_NOT_MADE, FAULT_PAST_END, FAULT_INPUT, FAULT_FILE };

struct data_fault {
    uint32_t task, object;
    enum data_fault_kind kind;
};

struct data {
    const struct workflow *w;
    struct data_object *object;
    uint32_t nobjects;
    bool checked;
    _Atomic size_t used, peak;
    pthread_mutex_t lock;
    ARRAY(struct data_fault) faults;
};

struct data *data_new(const struct workflow *w, bool checked)
{
    struct data *d = mem_new_zero(struct data, 1);
    d->w = w;
    d->checked = checked;
    d->nobjects = w->nobjects;
    d->object = mem_new_zero(struct data_object, w->nobjects);
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
    for (uint32_t o = 0; o < d->nobjects; o++)
        (free)(d->object[o].at);
    free(d->object);
    array_free(&d->faults);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

bool data_holds(const struct data *d, uint32_t object)
{
    return object < d->nobjects && d->object[object].in_memory;
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

/* Counted from the moment that a function has it. NULL: there is no memory. */
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
    atomic_fetch_sub_explicit(&d->used, size, memory_order_relaxed);
    if (s->keeps && s->nkept < DATA_KEPT)
        s->kept[s->nkept++] = (struct data_block){at, data_room(d, size)};
    else
        (free)(at);
}

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

/* A file that is an input, mapped until the call is over; an empty one has an address, too. */
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
        at = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (good && !*bytes)
        return nothing;
    if (at == MAP_FAILED)
        return NULL;
    array_push(&s->files, ((struct data_file){at, *bytes, place, false}));
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

/* Another size than before: what was written is lost. */
static void *data_ask_out(const struct weft_task *task, uint32_t i, size_t bytes)
{
    struct data_slot *s = data_slot_of(task);
    uint32_t object = data_output(s, i);
    if (object == NONE)
        return NULL;
    if (!data_holds(s->data, object)) {
        for (size_t k = 0; k < s->files.n; k++)
            if (s->files.at[k].out && s->files.at[k].place == i)
                return s->files.at[k].size == bytes ? s->files.at[k].at : NULL;
        void *at = data_take_block(s, bytes);
        if (at)
            array_push(&s->files, ((struct data_file){at, bytes, i, true}));
        return at;
    }
    struct data_object *o = &s->data->object[object];
    if (o->at && o->size == bytes)
        return o->at;
    data_give_block(s, o->at, o->size);
    o->at = data_take_block(s, bytes);
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
        atomic_load_explicit(&f->readers, memory_order_acquire) == 1) {
        data_give_block(s, t->at, t->size);
        t->at = f->at;
        t->size = f->size;
        f->at = NULL;
        f->size = 0;
        return t->at;
    }
    void *copy = data_ask_out(task, out, size);
    if (copy)
        memcpy(copy, old, size);
    return copy;
}

void data_slot_init(struct data_slot *s, struct data *d, bool keeps)
{
    *s = (struct data_slot){.asks = {data_ask_in, data_ask_out, data_ask_pass},
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

static int data_blame(struct data_slot *s, uint32_t object, enum data_fault_kind kind)
{
    pthread_mutex_lock(&s->data->lock);
    array_push(&s->data->faults, ((struct data_fault){s->task, object, kind}));
    pthread_mutex_unlock(&s->data->lock);
    return FAULT;
}

/* A crew's slots point into the workflow: it stays as it is while a crew works. Others have a copy,
 * since the workflow may grow, and move, while the function runs. */
void data_begin(struct data_slot *s, struct weft_task *task, uint32_t number)
{
    const struct workflow *w = s->data->w;
    s->task = number;
    s->in_place = !w->retries || !w->retries[number];
    s->nin = task->nin = w->in_off[number + 1] - w->in_off[number];
    s->nout = task->nout = w->object_end[number] - w->object_off[number];
    s->in = w->in_object + w->in_off[number];
    s->out = w->out_object + w->object_off[number];
    task->data = &s->asks;
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

/* Were bytes written behind its outputs, or to its inputs? */
static int data_check(struct data_slot *s, const struct weft_task *task)
{
    struct data *d = s->data;
    for (uint32_t i = 0; i < task->nout; i++) {
        uint32_t o = data_output(s, i);
        if (!data_holds(d, o) || !d->object[o].at)
            continue;
        if (!data_guard_stands(d->object[o].at, d->object[o].size))
            return data_blame(s, o, FAULT_PAST_END);
        d->object[o].sum = data_sum(d->object[o].at, d->object[o].size);
    }
    for (uint32_t i = 0; i < task->nin; i++) {
        uint32_t o = data_input(s, i);
        struct data_object *in = d->object + o;
        if (data_holds(d, o) && in->at &&
            (!data_guard_stands(in->at, in->size) || data_sum(in->at, in->size) != in->sum))
            return data_blame(s, o, FAULT_INPUT);
    }
    return 0;
}

static int data_judge(struct data_slot *s, const struct weft_task *task)
{
    struct data *d = s->data;
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
        data_give_block(s, o->at, o->size); /* I2 */
        o->at = NULL;
    }
}

int data_end(struct data_slot *s, struct weft_task *task, int status)
{
    struct data *d = s->data;
    uint32_t place = 0;
    if (!status)
        status = data_judge(s, task);
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
        data_give_block(s, d->object[o].at, d->object[o].size);
        d->object[o].at = NULL;
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
        [FAULT_FILE] = "its output '%s' could not be written",
    };
    char label[512];
    pthread_mutex_lock(&d->lock);
    for (size_t i = d->faults.n; i--;)
        if (d->faults.at[i].task == number) { /* the newest: that of this attempt */
            strbuf_printf(out, text[d->faults.at[i].kind],
                          workflow_object_label(d->w, d->faults.at[i].object, label, sizeof label));
            break;
        }
    pthread_mutex_unlock(&d->lock);
}
