/* The append-only file of journal.h: frames, each a group commit.
 *
 * I1. `end` is the end of the last frame that is known to be whole; everything behind it is written
 *     over or cut off.
 * I2. A frame is never changed once it is synced.
 * I3. One process has the file at a time (flock()); the lock ends with the process, however it
 *     ends.
 * I4. After a failed sync nothing is trusted: the journal is broken, and the caller must say so. */
#include "base/journal.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of the format, not of the program. ORDER reads differently on a machine of the other byte order.
 */
#define VERSION 1
#define ORDER 0x01020304u
#define MARKER 0x74667277u /* "wrft" */

struct header {
    char magic[8];
    uint32_t version, order;
    uint64_t fingerprint;
    uint32_t tasks, objects;
    uint32_t reserved, crc;
};

struct frame {
    uint32_t marker, length;
    uint64_t number;
    uint32_t payload_crc, crc; /* crc: of the 20 bytes before it */
};

static const char magic[8] = {'w', 'e', 'f', 't', 'j', 'r', 'n', 'l'};

/* ---- writing ---- */

/* All of it at this place, or the errno. */
static int write_all(int fd, const void *data, size_t n, uint64_t at)
{
    const char *p = data;
    while (n) {
        ssize_t done = pwrite(fd, p, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        p += done;
        at += (uint64_t)done;
        n -= (size_t)done;
    }
    return 0;
}

/* FULL: nothing was recorded, and trying again may help; BROKEN: nobody knows what is on the disk.
 */
enum journal_result journal_append(struct journal *j, const void *payload, size_t n, int *reason)
{
    struct frame f = {.marker = MARKER,
                      .length = (uint32_t)n,
                      .number = j->frames,
                      .payload_crc = crc32c(0, payload, n)};
    f.crc = crc32c(0, &f, offsetof(struct frame, crc));
    *reason = write_all(j->fd, &f, sizeof f, j->end);
    if (!*reason)
        *reason = write_all(j->fd, payload, n, j->end + sizeof f);
    if (*reason) {
        bool retry = *reason == ENOSPC || *reason == EFBIG || *reason == EDQUOT;
        return ftruncate(j->fd, (off_t)j->end) == 0 && retry ? JOURNAL_FULL : JOURNAL_BROKEN;
    }
    if (j->sync && fdatasync(j->fd) != 0) {
        /* The kernel may have dropped the pages: a second sync would succeed and mean nothing. */
        *reason = errno;
        return JOURNAL_BROKEN;
    }
    j->end += sizeof f + n;
    j->frames++;
    return JOURNAL_OK;
}

/* A new file survives a power cut only when its folder's entry does too. */
static bool sync_folder(const char *path)
{
    char *copy = mem_copy_string(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0;
    close(fd);
    return good;
}

/* The header, synced before the first frame is taken. */
static bool journal_create(struct journal *j, const struct journal_id *id, struct error *err)
{
    struct header h = {.version = VERSION,
                       .order = ORDER,
                       .fingerprint = id->fingerprint,
                       .tasks = id->tasks,
                       .objects = id->objects};
    memcpy(h.magic, magic, sizeof magic);
    h.crc = crc32c(0, &h, offsetof(struct header, crc));
    int reason = write_all(j->fd, &h, sizeof h, 0);
    if (!reason && j->sync && (fdatasync(j->fd) != 0 || !sync_folder(j->path)))
        reason = errno;
    if (reason)
        return error_set(err, ERROR_FAILED, "%s: cannot write the journal: %s", j->path,
                         strerror(reason));
    j->end = sizeof h;
    return true;
}

/* ---- reading ---- */

/* The frame at `at` when it is whole and right. Frames are not aligned. */
static bool frame_at(const unsigned char *data, uint64_t size, uint64_t at, struct frame *f)
{
    if (size - at < sizeof *f)
        return false;
    memcpy(f, data + at, sizeof *f);
    return f->marker == MARKER && f->crc == crc32c(0, f, offsetof(struct frame, crc)) &&
           f->length <= JOURNAL_FRAME_MAX && f->length <= size - at - sizeof *f &&
           f->payload_crc == crc32c(0, data + at + sizeof *f, f->length);
}

/* Does a valid frame of this or a later number stand anywhere behind? */
static bool frame_behind(const unsigned char *data, uint64_t size, uint64_t at, uint64_t number,
                         uint64_t *found)
{
    const uint32_t marker = MARKER;
    struct frame f;
    while (at < size) {
        const unsigned char *p = memmem(data + at, size - at, &marker, sizeof marker);
        if (!p)
            return false;
        at = (uint64_t)(p - data);
        if (frame_at(data, size, at, &f) && f.number >= number) {
            *found = at;
            return true;
        }
        at++;
    }
    return false;
}

/* In this order: what it is, whether we can read it, whether it is whole, whether it is ours. */
static bool check_header(const struct journal *j, const unsigned char *data,
                         const struct journal_id *id, struct error *err)
{
    struct header h;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return error_set(err, ERROR_INPUT,
                         "%s: this is no weft journal; name another file, or move this one away",
                         j->path);
    if (h.order != ORDER)
        return error_set(err, ERROR_INPUT,
                         "%s: the journal was written on a machine of another byte order", j->path);
    if (h.version != VERSION)
        return error_set(err, ERROR_INPUT,
                         "%s: journal version %u, but this program reads version %u; use the "
                         "program that wrote it, or move the file away to start anew",
                         j->path, h.version, VERSION);
    if (h.crc != crc32c(0, &h, offsetof(struct header, crc)))
        return error_set(err, ERROR_INPUT, "%s: the header of the journal is damaged (checksum)",
                         j->path);
    if (h.fingerprint != id->fingerprint || h.tasks != id->tasks || h.objects != id->objects)
        return error_set(err, ERROR_INPUT,
                         "%s: the journal belongs to another workflow (%u task%s and %u object%s, "
                         "this one has %u and %u); move it away to start anew",
                         j->path, h.tasks, plural(h.tasks), h.objects, plural(h.objects), id->tasks,
                         id->objects);
    return true;
}

/* Every frame in order; the caller's replay() may refuse one. Sets `cut` to the bytes of an
 * unfinished write at the end. */
static bool replay_all(struct journal *j, const unsigned char *data, uint64_t size,
                       journal_replay_f replay, void *context, uint64_t *cut, struct error *err)
{
    uint64_t at = sizeof(struct header), found;
    struct frame f;
    while (at < size) {
        if (!frame_at(data, size, at, &f) || f.number != j->frames) {
            if (frame_behind(data, size, at + 1, j->frames, &found) ||
                (frame_at(data, size, at, &f) && f.number != j->frames))
                return error_set(err, ERROR_INPUT,
                                 "%s: the journal is damaged at byte %llu (frame %llu), and valid "
                                 "frames follow; restore it from a copy, or move it away to "
                                 "start anew",
                                 j->path, (unsigned long long)at, (unsigned long long)j->frames);
            *cut = size - at;
            break;
        }
        struct error inner = {0};
        if (!replay(context, data + at + sizeof f, f.length, &inner))
            return error_set(err, ERROR_INPUT, "%s: frame %llu at byte %llu: %s", j->path,
                             (unsigned long long)j->frames, (unsigned long long)at, inner.text);
        at += sizeof f + f.length;
        j->frames++;
    }
    j->end = at;
    return true;
}

struct journal_mapping {
    unsigned char *at;
    size_t size;
};

static void journal_unmap(void *mapping)
{
    const struct journal_mapping *m = mapping;
    munmap(m->at, m->size);
}

/* Mapped, not read: a journal of gigabytes is gone through once. */
static bool read_existing(struct journal *j, uint64_t size, const struct journal_id *id,
                          journal_replay_f replay, void *context, uint64_t *cut, struct error *err)
{
    unsigned char *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, j->fd, 0);
    if (data == MAP_FAILED)
        return error_set(err, ERROR_FAILED, "%s: cannot read the journal: %s", j->path,
                         strerror(errno));
    struct journal_mapping mapping = {data, size};
    struct mem_guard guard; /* replaying allocates */
    mem_guard_enter(&guard, journal_unmap, &mapping);
    bool good =
        check_header(j, data, id, err) && replay_all(j, data, size, replay, context, cut, err);
    mem_guard_leave(&guard);
    munmap(data, size);
    if (good && *cut && (ftruncate(j->fd, (off_t)j->end) != 0 || (j->sync && fsync(j->fd) != 0)))
        good = error_set(err, ERROR_FAILED, "%s: cannot cut off an unfinished write: %s", j->path,
                         strerror(errno));
    return good;
}

static bool open_locked(struct journal *j, struct error *err)
{
    j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0664);
    if (j->fd < 0)
        return error_set(err, ERROR_FAILED, "%s: cannot open the journal: %s", j->path,
                         errno == ELOOP ? "it is a link" : strerror(errno));
    /* A run that was just killed may have left a child that is about to exec: until then it shares
     * the lock. */
    /* a second, in steps of 20 ms */
    int tries = 50;
    while (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK && --tries)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (!tries || flock(j->fd, LOCK_EX | LOCK_NB) != 0) {
        j->busy = errno == EWOULDBLOCK;
        return error_set(err, ERROR_FAILED,
                         j->busy ? "%s: another weft is using this journal; wait until it has ended"
                                 : "%s: the journal cannot be locked",
                         j->path);
    }
    return true;
}

/* A guard's: without memory to replay into, the lock is given up with the descriptor. */
static void journal_abandon(void *journal)
{
    journal_close(journal);
}

bool journal_open(struct journal *j, const char *path, const struct journal_id *id, bool sync,
                  journal_replay_f replay, void *context, bool *existed, uint64_t *cut,
                  struct error *err)
{
    *j = (struct journal){.fd = -1, .path = mem_copy_string(path), .sync = sync};
    *cut = 0;
    struct stat st;
    struct mem_guard guard;
    mem_guard_enter(&guard, journal_abandon, j);
    bool good = open_locked(j, err);
    if (good && fstat(j->fd, &st) != 0)
        good = error_set(err, ERROR_FAILED, "%s: %s", path, strerror(errno));
    if (good && !S_ISREG(st.st_mode))
        good = error_set(err, ERROR_INPUT, "%s: the journal must be a regular file", path);
    if (good) {
        uint64_t size = (uint64_t)st.st_size;
        *existed = size >= sizeof(struct header);
        if (*existed) {
            good = read_existing(j, size, id, replay, context, cut, err);
        } else {
            /* Killed while creating it: nothing was recorded yet. Anything else this short is not
             * ours. */
            char start[sizeof magic] = {0};
            ssize_t n = pread(j->fd, start, sizeof start, 0);
            if (n > 0 && memcmp(start, magic, (size_t)n) != 0)
                good = error_set(err, ERROR_INPUT,
                                 "%s: this is no weft journal; name another file, or move this "
                                 "one away",
                                 path);
            else
                good = journal_create(j, id, err);
            *cut = good ? size : 0;
        }
    }
    mem_guard_leave(&guard);
    if (!good)
        journal_close(j);
    return good;
}

/* Read, not mapped: whoever writes may cut off the end of the file, and the pages with it. What is
 * behind the last whole frame is somebody's write that goes on, or was cut off: it does not count. */
bool journal_look(const char *path, const struct journal_id *id, journal_replay_f replay,
                  void *context, struct error *err)
{
    struct journal j = {.fd = -1, .path = (char *)path};
    struct text text;
    uint64_t cut = 0;
    if (!file_exists(path))
        return true;
    if (!file_read(path, &text, err))
        return false;
    const unsigned char *data = (const unsigned char *)text.at;
    bool good = text.n < sizeof(struct header) || /* it is just being made */
                (check_header(&j, data, id, err) &&
                 replay_all(&j, data, text.n, replay, context, &cut, err));
    text_free(&text);
    return good;
}

/* Gives up the lock with the descriptor. Harmless when it never opened. */
void journal_close(struct journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    free(j->path);
    j->path = NULL;
}
