/* What has been computed, and the digests of files: all of it in memory, appended to a journal
 * (base/journal.h) that is read whole when it is opened.
 *
 *     journal frame = records, one after the other, in the machine's byte order:
 *
 *     +---+------------------+
 *     | 1 | task_record      | ninputs x memo_input (16) | noutputs x digest (32)
 *     +---+------------------+
 *     | 3 | file_record      |
 *     +---+------------------+
 *       ^ one byte: enum record_kind
 *
 * Kind 2 is a file's record of before there was a time of change in it: it is read, says what a
 * task left, and is no reason to believe that the file is still that.
 *
 * A later record of the same key, name or path takes the place of an earlier one: in the indexes at
 * once, in the file when it is compacted.
 *
 * I1. One process at a time has the journal (it is locked), one thread uses a memo.
 * I2. What memo_flush() has returned for survives the death of the process; memo_close() makes it
 *     survive that of the machine.
 * I3. A frame is written whole or, after a crash, cut off: a record is never half there.
 * I4. A file's digest is believed as long as size, inode, time of modification and time of change
 *     are as they were, unless the file was young when it was read (see `youngest`). The time of
 *     change is the kernel's own: who edits a file and puts its time back changes it all the same.
 *     So does whoever renames, links or chmods it: then it is read once more, and known again.
 * I5. Paths below the workflow's folder are known by what follows it: from wherever weft is called,
 *     they are the same. */
#include "memo/memo_state.h"

#include "base/prefetch.h"
#include "base/tree.h"
#include "memo/folder_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum record_kind { RECORD_TASK = 1, RECORD_OLD_FILE = 2, RECORD_FILE = 3 };

/* A change within the same tick of the clock, of the same size, cannot be seen in a file's times: a
 * file that was that young when it was read is read again. */
static const int64_t youngest = 20000000; /* nanoseconds */

static const int64_t unknown_change = INT64_MIN; /* of a record that has none: equals no file's */

/* "weftmemo" in memory, on a little-endian machine: whose journal it is. */
static const struct journal_id identity = {.fingerprint = 0x6f6d656d74666577, .tasks = 1};

uint64_t memo_hash(const char *text, size_t n)
{
    struct digest d;
    uint64_t hash;
    digest_of(text, n, &d);
    memcpy(&hash, d.at, sizeof hash);
    return hash;
}

/* ---- indexes ---- */

/* Which field it is depends on the index: three over two arrays. */
static uint64_t hash_of(const struct memo *m, const struct memo_index *x, uint32_t entry)
{
    if (x == &m->by_path)
        return m->files.at[entry].path;
    if (x == &m->by_name)
        return m->tasks.at[entry].name;
    uint64_t hash;
    memcpy(&hash, m->tasks.at[entry].key.at, sizeof hash);
    return hash;
}

/* The slot that holds this hash, or the free one where it belongs. */
static struct memo_slot *index_slot(const struct memo *m, const struct memo_index *x, uint64_t hash)
{
    uint32_t i = (uint32_t)(hash ^ hash >> 32) & x->mask, half = (uint32_t)(hash >> 32);
    while (x->slot[i].entry &&
           (x->slot[i].hash != half || hash_of(m, x, x->slot[i].entry - 1) != hash))
        i = (i + 1) & x->mask;
    return &x->slot[i];
}

/* Room for so many entries, half of it free. */
static void index_reserve(struct memo *m, struct memo_index *x, uint32_t count)
{
    struct memo_index old = *x;
    x->mask = old.mask ? old.mask : 1023;
    while (2 * (uint64_t)count > x->mask)
        x->mask = 2 * x->mask + 1;
    if (x->slot && x->mask == old.mask)
        return;
    x->slot = mem_new_zero(struct memo_slot, (size_t)x->mask + 1);
    for (uint32_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].entry)
            *index_slot(m, x, hash_of(m, x, old.slot[i].entry - 1)) = old.slot[i];
    free(old.slot);
}

/* Grows by doubling: O(1) over many. */
static void index_put(struct memo *m, struct memo_index *x, uint32_t entry)
{
    index_reserve(m, x, x->used + 1);
    uint64_t hash = hash_of(m, x, entry);
    struct memo_slot *slot = index_slot(m, x, hash);
    x->used += !slot->entry;
    *slot = (struct memo_slot){entry + 1, (uint32_t)(hash >> 32)}; /* the latest counts */
}

static uint32_t index_find(const struct memo *m, const struct memo_index *x, uint64_t hash)
{
    return x->slot ? index_slot(m, x, hash)->entry : 0; /* number + 1 */
}

/* All tasks at once: the table is of the right size from the start, and each slot is asked for some
 * steps before it is needed, for it is not in the cache. */
static void index_tasks(struct memo *m, struct memo_index *x)
{
    enum { AHEAD = 16 };
    uint32_t n = (uint32_t)m->tasks.n;
    index_reserve(m, x, n);
    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            uint64_t hash = hash_of(m, x, i + AHEAD);
            prefetch_write(&x->slot[(uint32_t)(hash ^ hash >> 32) & x->mask]);
        }
        index_put(m, x, i);
    }
}

/* ---- records ---- */

static void memo_put_bytes(struct strbuf *b, const void *data, size_t n)
{
    strbuf_add_bytes(b, data, n);
}

enum { FILE_YOUNG = 1, FILE_LEFT = 2 };

/* As they stand in the journal. */
struct file_record {
    uint64_t path;
    int64_t size, time, change, inode;
    struct digest digest;
    uint64_t flags;
};

struct old_file_record {
    uint64_t path;
    int64_t size, time, inode;
    struct digest digest;
    uint64_t young;
};

struct task_record {
    struct digest key;
    uint64_t name, command;
    uint32_t ninputs, noutputs;
};

size_t memo_task_bytes(const struct memo_task *t)
{
    return 1 + sizeof(struct task_record) + t->ninputs * sizeof(struct memo_input) +
           t->noutputs * sizeof(struct digest);
}

size_t memo_file_bytes(void)
{
    return 1 + sizeof(struct file_record);
}

/* In memory. The lists are copied. */
static void learn_task(struct memo *m, const struct memo_task *t, const struct memo_input *inputs,
                       const struct digest *outputs)
{
    struct memo_task *x = array_add(&m->tasks);
    *x = *t;
    x->inputs = (uint32_t)m->inputs.n;
    x->outputs = (uint32_t)m->outputs.n;
    for (uint32_t i = 0; i < t->ninputs; i++)
        array_push(&m->inputs, inputs[i]);
    for (uint32_t i = 0; i < t->noutputs; i++)
        array_push(&m->outputs, outputs[i]);
    index_put(m, &m->by_key, (uint32_t)m->tasks.n - 1);
    if (m->named)
        index_put(m, &m->by_name, (uint32_t)m->tasks.n - 1);
}

void memo_learn_file(struct memo *m, const struct memo_file *f)
{
    uint32_t known = index_find(m, &m->by_path, f->path);
    if (known) {
        m->files.at[known - 1] = *f;
        return;
    }
    array_push(&m->files, *f);
    index_put(m, &m->by_path, (uint32_t)m->files.n - 1);
}

/* For the journal, at the next flush. */
void memo_write_file(struct memo *m, const struct memo_file *f)
{
    if (!m->kept)
        return;
    struct file_record r = {.path = f->path,
                            .size = f->size,
                            .time = f->time,
                            .change = f->change,
                            .inode = f->inode,
                            .digest = f->digest,
                            .flags = (f->young ? FILE_YOUNG : 0) | (f->left ? FILE_LEFT : 0)};
    strbuf_add_char(&m->frame, RECORD_FILE);
    memo_put_bytes(&m->frame, &r, sizeof r);
}

static void memo_write_task(struct memo *m, const struct memo_task *t,
                            const struct memo_input *inputs, const struct digest *outputs)
{
    if (!m->kept)
        return;
    struct task_record r = {t->key, t->name, t->command, t->ninputs, t->noutputs};
    strbuf_add_char(&m->frame, RECORD_TASK);
    memo_put_bytes(&m->frame, &r, sizeof r);
    memo_put_bytes(&m->frame, inputs, t->ninputs * sizeof *inputs);
    memo_put_bytes(&m->frame, outputs, t->noutputs * sizeof *outputs);
}

/* Bytes of it; 0: it is none, or one that is cut short. */
static size_t memo_replay_file(struct memo *m, const unsigned char *at, size_t left)
{
    if (*at == RECORD_FILE && left >= sizeof(struct file_record)) {
        struct file_record r;
        memcpy(&r, at + 1, sizeof r);
        memo_learn_file(m, &(struct memo_file){.path = r.path,
                                               .size = r.size,
                                               .time = r.time,
                                               .change = r.change,
                                               .inode = r.inode,
                                               .digest = r.digest,
                                               .young = r.flags & FILE_YOUNG,
                                               .left = r.flags & FILE_LEFT});
        return 1 + sizeof r;
    }
    if (*at == RECORD_OLD_FILE && left >= sizeof(struct old_file_record)) {
        struct old_file_record r;
        memcpy(&r, at + 1, sizeof r);
        memo_learn_file(m, &(struct memo_file){.path = r.path,
                                               .size = r.size,
                                               .time = r.time,
                                               .change = unknown_change,
                                               .inode = r.inode,
                                               .digest = r.digest,
                                               .young = true});
        return 1 + sizeof r;
    }
    return 0;
}

/* Tasks are entered into the index when all are read (index_tasks): nobody asks before.
 * A frame that passed its checksum is ours; lengths are checked all the same. */
static bool memo_replay_frame(void *context, const unsigned char *at, size_t n, struct error *err)
{
    struct memo *m = context;
    const unsigned char *end = at + n;
    while (at < end) {
        size_t left = (size_t)(end - at) - 1;
        size_t file = memo_replay_file(m, at, left);
        if (file) {
            at += file;
            continue;
        }
        /* a task's is followed by its lists, copied in one piece: opening is bound by this */
        struct task_record r = {0};
        if (*at == RECORD_TASK && left >= sizeof r)
            memcpy(&r, at + 1, sizeof r);
        size_t more = (size_t)r.ninputs * sizeof(struct memo_input) +
                      (size_t)r.noutputs * sizeof(struct digest);
        if (*at != RECORD_TASK || left < sizeof r || left - sizeof r < more)
            return error_set(err, ERROR_FAILED, "%s: a record that this version does not know",
                             m->path);
        at += 1 + sizeof r;
        struct memo_task t = {.key = r.key,
                              .name = r.name,
                              .command = r.command,
                              .inputs = (uint32_t)m->inputs.n,
                              .ninputs = r.ninputs,
                              .outputs = (uint32_t)m->outputs.n,
                              .noutputs = r.noutputs};
        array_push(&m->tasks, t);
        array_reserve(&m->inputs, m->inputs.n + r.ninputs);
        array_reserve(&m->outputs, m->outputs.n + r.noutputs);
        if (r.ninputs)
            memcpy(m->inputs.at + m->inputs.n, at, r.ninputs * sizeof(struct memo_input));
        at += r.ninputs * sizeof(struct memo_input);
        if (r.noutputs)
            memcpy(m->outputs.at + m->outputs.n, at, r.noutputs * sizeof(struct digest));
        at += r.noutputs * sizeof(struct digest);
        m->inputs.n += r.ninputs;
        m->outputs.n += r.noutputs;
    }
    return true;
}

static void memo_free(struct memo *m)
{
    array_free(&m->tasks);
    array_free(&m->inputs);
    array_free(&m->outputs);
    array_free(&m->files);
    free(m->by_key.slot);
    free(m->by_name.slot);
    free(m->by_path.slot);
    strbuf_free(&m->frame);
    free(m->path);
    free(m->folder);
    free(m);
}

void memo_set_folder(struct memo *m, const char *folder)
{
    free(m->folder);
    m->folder = mem_copy_string(folder);
}

static void memo_give_up(void *memo)
{
    memo_abandon(memo);
}

struct memo *memo_open(const char *path, struct memo_opened *found, struct error *err)
{
    struct memo *m = mem_new_zero(struct memo, 1);
    struct memo_opened ignored;
    found = found ? found : &ignored;
    *found = (struct memo_opened){0};
    if (!path)
        return m;
    m->path = mem_copy_string(path);
    if (!journal_open(&m->journal, path, &identity, false, memo_replay_frame, m, &found->existed,
                      &found->cut, err)) {
        found->busy = m->journal.busy;
        memo_free(m);
        return NULL;
    }
    m->kept = true;
    struct mem_guard guard; /* without memory for the index, the lock is given up */
    mem_guard_enter(&guard, memo_give_up, m);
    index_tasks(m, &m->by_key);
    mem_guard_leave(&guard);
    return m;
}

struct memo *memo_look(const char *path, struct error *err)
{
    struct memo *m = mem_new_zero(struct memo, 1);
    m->path = mem_copy_string(path);
    if (!journal_look(path, &identity, memo_replay_frame, m, err)) {
        memo_free(m);
        return NULL;
    }
    index_tasks(m, &m->by_key);
    return m;
}

bool memo_flush(struct memo *m, struct error *err)
{
    if (!m->kept || !m->frame.n)
        return true;
    int reason = 0;
    if (journal_append(&m->journal, m->frame.at, m->frame.n, &reason) != JOURNAL_OK)
        return error_set(err, ERROR_FAILED, "%s: cannot record what has been computed: %s", m->path,
                         strerror(reason));
    strbuf_clear(&m->frame);
    return true;
}

void memo_abandon(struct memo *m)
{
    if (m && m->kept)
        journal_close(&m->journal);
    if (m)
        m->kept = false;
}

bool memo_close(struct memo *m, struct error *err)
{
    if (!m)
        return true;
    bool good = memo_flush(m, err);
    if (m->kept) {
        if (good && fdatasync(m->journal.fd) != 0 && errno != EINVAL)
            good = error_set(err, ERROR_FAILED, "%s: cannot record what has been computed: %s",
                             m->path, strerror(errno));
        journal_close(&m->journal);
    }
    memo_free(m);
    return good;
}

/* 64 bits of the key find it, all of the key decide. */
const struct memo_task *memo_find(const struct memo *m, const struct digest *key)
{
    uint64_t hash;
    memcpy(&hash, key->at, sizeof hash);
    uint32_t found = index_find(m, &m->by_key, hash);
    return found && digest_equal(&m->tasks.at[found - 1].key, key) ? &m->tasks.at[found - 1] : NULL;
}

const struct memo_task *memo_last(struct memo *m, uint64_t name)
{
    if (!m->named)
        index_tasks(m, &m->by_name);
    m->named = true;
    uint32_t found = index_find(m, &m->by_name, name);
    return found ? &m->tasks.at[found - 1] : NULL;
}

const struct memo_input *memo_inputs(const struct memo *m, const struct memo_task *t)
{
    return t->ninputs ? m->inputs.at + t->inputs : NULL;
}

const struct digest *memo_outputs(const struct memo *m, const struct memo_task *t)
{
    return t->noutputs ? m->outputs.at + t->outputs : NULL;
}

/* Is this what its record says already, and is that the last one of its name? A run that is forced
 * computes what is known: a second record would say nothing, and the journal would be written anew
 * after every second such run. */
static bool memo_repeats(struct memo *m, const struct memo_task *task,
                         const struct memo_input *inputs, const struct digest *outputs)
{
    const struct memo_task *known = memo_find(m, &task->key);
    if (!known || known->name != task->name || known->command != task->command ||
        known->ninputs != task->ninputs || known->noutputs != task->noutputs)
        return false;
    for (uint32_t i = 0; i < task->ninputs; i++) {
        const struct memo_input *old = &memo_inputs(m, known)[i];
        if (old->name != inputs[i].name || old->content != inputs[i].content)
            return false;
    }
    for (uint32_t i = 0; i < task->noutputs; i++)
        if (!digest_equal(&memo_outputs(m, known)[i], &outputs[i]))
            return false;
    return memo_last(m, task->name) == known;
}

void memo_add(struct memo *m, const struct memo_task *task, const struct memo_input *inputs,
              const struct digest *outputs)
{
    if (memo_repeats(m, task, inputs, outputs))
        return;
    learn_task(m, task, inputs, outputs);
    memo_write_task(m, task, inputs, outputs);
}

size_t memo_count(const struct memo *m)
{
    return m->tasks.n;
}

size_t memo_bytes(const struct memo *m)
{
    return m->tasks.cap * sizeof *m->tasks.at + m->inputs.cap * sizeof *m->inputs.at +
           m->outputs.cap * sizeof *m->outputs.at + m->files.cap * sizeof *m->files.at +
           sizeof(struct memo_slot) * ((size_t)m->by_key.mask + m->by_name.mask + m->by_path.mask);
}

/* ---- digests of files ---- */

static int64_t memo_nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* I5. */
static uint64_t memo_path_hash(const struct memo *m, const char *path)
{
    size_t n = m->folder ? strlen(m->folder) : 0;
    if (n && strncmp(path, m->folder, n) == 0 && path[n] == '/')
        path += n + 1;
    return memo_hash(path, strlen(path));
}

/* What tells one version of a file from another without reading it. */
static struct memo_file memo_describe_file(const struct memo *m, const char *path,
                                           const struct stat *s)
{
    return (struct memo_file){.path = memo_path_hash(m, path),
                              .size = s->st_size,
                              .time = memo_nanoseconds(s->st_mtim),
                              .change = memo_nanoseconds(s->st_ctim),
                              .inode = (int64_t)s->st_ino};
}

static bool same_file(const struct memo_file *a, const struct memo_file *b)
{
    return a->size == b->size && a->time == b->time && a->change == b->change &&
           a->inode == b->inode;
}

/* I4. A folder's own times say nothing about what is in its files. */
bool memo_known(const struct memo *m, const char *path, const struct stat *s, struct digest *out)
{
    struct memo_file f = memo_describe_file(m, path, s);
    uint32_t known = index_find(m, &m->by_path, f.path);
    if (!known || m->files.at[known - 1].young || !same_file(&m->files.at[known - 1], &f) ||
        S_ISDIR(s->st_mode))
        return false;
    m->files.at[known - 1].used = true;
    *out = m->files.at[known - 1].digest;
    return true;
}

/* A later look at the file, which finds it as a task left it, does not take that from it. */
static void memo_put_file(struct memo *m, struct memo_file *f)
{
    uint32_t known = index_find(m, &m->by_path, f->path);
    if (known && m->files.at[known - 1].left &&
        digest_equal(&m->files.at[known - 1].digest, &f->digest))
        f->left = true;
    f->used = true;
    memo_learn_file(m, f);
    memo_write_file(m, f);
}

bool memo_digest(struct memo *m, const char *path, bool fresh, struct digest *out, double *size,
                 struct error *err)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? false
                   : error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    *size = (double)s.st_size;
    if (S_ISDIR(s.st_mode))
        return memo_digest_folder(m, path, fresh, out, size, err);
    if (!S_ISREG(s.st_mode))
        return error_set(err, ERROR_FAILED, "%s: neither a file nor a folder", path);
    struct memo_file f = memo_describe_file(m, path, &s);
    if (memo_known(m, path, &s, out)) {
        uint32_t known = index_find(m, &m->by_path, f.path) - 1;
        if (fresh && !m->files.at[known].left) { /* a task left it as it found it */
            m->files.at[known].left = true;
            memo_write_file(m, &m->files.at[known]);
        }
        return true;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    struct timespec now; /* before it is read: a change while we read must make it young */
    clock_gettime(CLOCK_REALTIME, &now);
    bool good = digest_of_fd(fd, path, &f.digest, err);
    close(fd);
    if (!good)
        return false;
    f.young = !fresh && f.change > memo_nanoseconds(now) - youngest;
    f.left = fresh;
    *out = f.digest;
    memo_put_file(m, &f);
    return true;
}

bool memo_recorded(const struct memo *m, const char *path, struct digest *out)
{
    uint32_t known = index_find(m, &m->by_path, memo_path_hash(m, path));
    if (known)
        *out = m->files.at[known - 1].digest;
    return known != 0;
}

/* ---- what tasks left ---- */

bool memo_left(const struct memo *m, const char *path, struct digest *out)
{
    uint32_t known = index_find(m, &m->by_path, memo_path_hash(m, path));
    if (!known || !m->files.at[known - 1].left)
        return false;
    *out = m->files.at[known - 1].digest;
    return true;
}

/* A folder has no times that would say anything about its files: memo_known() passes it over. */
void memo_learn_folder(struct memo *m, const char *path, const struct digest *digest)
{
    struct digest before;
    if (memo_left(m, path, &before) && digest_equal(&before, digest))
        return;
    memo_put_file(m, &(struct memo_file){.path = memo_path_hash(m, path),
                                         .change = unknown_change,
                                         .digest = *digest,
                                         .young = true,
                                         .left = true});
}

void memo_learn_digest(struct memo *m, const char *path, const struct digest *digest)
{
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return;
    struct memo_file f = memo_describe_file(m, path, &s);
    f.digest = *digest;
    f.left = true;
    memo_put_file(m, &f);
}
