/* Incoming: fetches, from asking to their place. Their states are drawn in depot_fetch.h.
 *
 * A large file that is cut off stays in `partial` with a note of its digest, also over a restart.
 * When it goes on, its beginning is read and hashed again. Large files are hashed by a thread
 * (depot_hash.c) where there is a loop; else as they come, and a beginning a little with each piece.
 *
 * Invariants:
 *   I1. At most one fetch of an object at a time; it is in fetches[object] and in one ring: waiting
 *       while WAITING, begun from then on.
 *   I2. `arrived` is called once for every depot_fetch(), as the last thing, since the owner may
 *       ask for anything then. Only depot_free() gives fetches up without it.
 *   I3. From UNFETCH until UNFETCHED a pair of link and object is `stale`: what comes for it
 *       belongs to the old fetch and is dropped, even when a new one has begun.
 *   I4. Nothing stands under an object's name before all of it came and had the right digest.
 *   I5. nfetches counts fetches by state; only fetch_change(), depot_fetch() and fetch_forget()
 *       touch it. */
#include "cluster/data/depot_state.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "model/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Seconds without a byte while the link is open, until somebody else is asked: longer than a disk
 * that wakes up, shorter than the links' own silence. */
static const double patience = 20;

enum {
    NOTED_FROM = 1 << 20, /* bytes: smaller ones begin again */
    NOTE_SIZE = 8 + 32,
    CATCH_UP = 4 * DEPOT_PIECE, /* hashed again with each piece */
    CATCH_UP_LAST = 64 << 20,   /* when all came */
    CATCH_UP_TICK = 256 << 20,
};

/* FETCH_STATES: the event means nothing in that state. Drawn in depot_fetch.h. */
static const uint8_t fetch_next[FETCH_STATES][FETCH_EVENTS] = {
    [FETCH_WAITING] =
        {
            [FETCH_GETS_TURN] = FETCH_ASKED,
            [FETCH_GETS_LATER] = FETCH_STATES,
            [FETCH_GETS_HEAD] = FETCH_STATES,
            [FETCH_IS_WHOLE] = FETCH_STATES,
        },
    [FETCH_ASKED] =
        {
            [FETCH_GETS_TURN] = FETCH_STATES,
            [FETCH_GETS_LATER] = FETCH_LATER,
            [FETCH_GETS_HEAD] = FETCH_RECEIVING,
            [FETCH_IS_WHOLE] = FETCH_STATES,
        },
    [FETCH_LATER] =
        {
            [FETCH_GETS_TURN] = FETCH_STATES,
            [FETCH_GETS_LATER] = FETCH_STATES,
            [FETCH_GETS_HEAD] = FETCH_RECEIVING,
            [FETCH_IS_WHOLE] = FETCH_STATES,
        },
    [FETCH_RECEIVING] =
        {
            [FETCH_GETS_TURN] = FETCH_STATES,
            [FETCH_GETS_LATER] = FETCH_STATES,
            [FETCH_GETS_HEAD] = FETCH_STATES,
            [FETCH_IS_WHOLE] = FETCH_CHECKING,
        },
    [FETCH_CHECKING] =
        {
            [FETCH_GETS_TURN] = FETCH_STATES,
            [FETCH_GETS_LATER] = FETCH_STATES,
            [FETCH_GETS_HEAD] = FETCH_STATES,
            [FETCH_IS_WHOLE] = FETCH_STATES,
        },
};

/* False: it means nothing now, so that they had no right to say it. */
static bool fetch_change(struct depot *d, struct depot_fetch *f, enum fetch_event event)
{
    uint8_t next = fetch_next[f->state][event];
    if (next == FETCH_STATES)
        return false;
    d->nfetches[f->state]--;
    d->nfetches[next]++;
    f->state = (enum fetch_state)next;
    return true;
}

static bool fetch_is_folder(const struct depot_fetch *f)
{
    return f->form == MESSAGE_FOLDER;
}

/* `form`, `total` and `digest` are known, and something of it may stand in `partial`. */
static bool fetch_has_form(const struct depot_fetch *f)
{
    return f->state == FETCH_RECEIVING || f->state == FETCH_CHECKING;
}

/* ---- names in `partial` ---- */

/* PARTIAL/OBJECT.part a file, .tree a folder, .note the digest and size of a large file: u64 total,
 * 32 bytes. Until the next call. */
static const char *fetch_partial_path(struct depot *d, uint32_t object, const char *kind)
{
    strbuf_clear(&d->other);
    bool memory = depot_in_memory(d, object); /* then beside its place */
    strbuf_printf(&d->other, "%s/%s%u.%s", memory ? d->folder : d->partial,
                  memory ? MEMORY_FILES "/partial." : "", (unsigned)object, kind);
    return d->other.at;
}

static void fetch_remove_partial(struct depot *d, const struct depot_fetch *f)
{
    unlink(fetch_partial_path(d, f->object, "note"));
    unlink(fetch_partial_path(d, f->object, "part"));
    if (fetch_has_form(f) && fetch_is_folder(f))
        tree_remove(fetch_partial_path(d, f->object, "tree"));
}

/* It was cut off: what cannot go on later is removed. */
static void fetch_remove_unless_noted(struct depot *d, const struct depot_fetch *f)
{
    if (fetch_has_form(f) && (fetch_is_folder(f) || f->total < NOTED_FROM))
        fetch_remove_partial(d, f);
}

/* What a cut left here, if it is of the content that is wanted now. The note is not believed
 * further than that: the other end decides whether it has the same digest, and all bytes are hashed
 * again. */
static void fetch_find_partial(struct depot *d, struct depot_fetch *f)
{
    struct stat s;
    uint8_t note[NOTE_SIZE + 1];
    int fd = open(fetch_partial_path(d, f->object, "note"), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    ssize_t n = read(fd, note, sizeof note);
    close(fd);
    struct bytes in = {note, n > 0 ? (size_t)n : 0, false};
    uint64_t total = bytes_u64(&in);
    const void *digest = bytes_take(&in, sizeof f->asked.at);
    if (!bytes_end(&in) || stat(fetch_partial_path(d, f->object, "part"), &s) != 0 ||
        s.st_size <= 0 || (uint64_t)s.st_size > total)
        return;
    memcpy(f->asked.at, digest, sizeof f->asked.at);
    if (digest_is_zero(&f->expected) || digest_equal(&f->expected, &f->asked))
        f->asked_offset = (uint64_t)s.st_size;
    else
        memset(&f->asked, 0, sizeof f->asked);
}

/* ---- beginning and ending ---- */

/* Its turn has come: ask for it, from where we are. */
static void fetch_begin(struct depot *d, struct depot_fetch *f)
{
    depot_ring_remove(&f->ring);
    depot_ring_add(&d->begun, &f->ring);
    fetch_change(d, f, FETCH_GETS_TURN);
    f->silent = -1;
    fetch_find_partial(d, f);
    struct strbuf *m = depot_begin_message(d, f->object);
    bytes_put_u64(m, f->asked_offset);
    bytes_put(m, f->asked.at, sizeof f->asked.at);
    bytes_put_u8(m, f->make);
    depot_send(d, f->from, MESSAGE_FETCH);
}

/* In the order in which they were asked for. */
static void fetch_begin_waiting(struct depot *d)
{
    while (depot_turns_taken(d) < d->config.most && !depot_ring_is_empty(&d->waiting))
        fetch_begin(d, (struct depot_fetch *)d->waiting.next);
}

/* Free it; the files in `partial` are the caller's business. */
static void fetch_forget(struct depot *d, struct depot_fetch *f)
{
    depot_ring_remove(&f->ring);
    d->fetches[f->object] = NULL;
    d->nfetches[f->state]--;
    if (f->fd >= 0)
        close(f->fd);
    depot_hash_free(f->apart);
    depot_unpack_free(&f->unpack);
    free(f);
}

bool depot_was_refused(const struct depot *d)
{
    return d->refused;
}

const struct depot_came *depot_came(const struct depot *d)
{
    return d->came;
}

/* The last thing that is done with a fetch: `arrived` may do anything. */
static void fetch_end(struct depot *d, struct depot_fetch *f, bool good, const char *why)
{
    uint32_t object = f->object;
    fetch_forget(d, f);
    d->counts.fetched += good;
    d->counts.failed += !good;
    fetch_begin_waiting(d);
    d->config.arrived(d->config.context, object, good, why);
}

/* They may have sent megabytes already: until UNFETCHED comes, what is about this object over this
 * link is dropped (I3). */
static void fetch_send_unfetch(struct depot *d, const struct depot_fetch *f, bool damaged)
{
    if (f->state == FETCH_WAITING)
        return;
    bytes_put_u8(depot_begin_message(d, f->object), damaged);
    depot_send(d, f->from, MESSAGE_UNFETCH);
    array_push(&d->stale, (struct depot_stale){f->from, f->object});
}

/* It will come to nothing, and they need not go on; the partial is of no use. */
static void fetch_give_up(struct depot *d, struct depot_fetch *f, bool damaged, const char *why)
{
    fetch_send_unfetch(d, f, damaged);
    fetch_remove_partial(d, f);
    fetch_end(d, f, false, why);
}

/* `tell`: it stands here now, so the owner hears that it arrived. Else the depot ends, and nobody
 * does; a large file may go on another time. */
void depot_fetch_cancel(struct depot *d, uint32_t object, bool tell)
{
    struct depot_fetch *f = d->fetches[object];
    fetch_send_unfetch(d, f, false);
    if (tell) {
        fetch_remove_partial(d, f);
        fetch_end(d, f, true, "");
    } else {
        fetch_remove_unless_noted(d, f);
        fetch_forget(d, f);
    }
}

void depot_fetch(struct depot *d, uint32_t object, struct link *from, const struct digest *expected,
                 bool make)
{
    char label[DEPOT_LABEL];
    if (d->fetches[object])
        return;
    const char *name = depot_label(d, object, label);
    if (!depot_name_is_safe(name)) {
        struct error err = {0};
        error_set(&err, ERROR_FAILED, "'%.300s' is not fetched: %s", name,
                  name[0] == '/' ? "its name is absolute, so every machine must have it"
                                 : "its name leads out of the folder");
        d->counts.failed++;
        d->config.arrived(d->config.context, object, false, err.text);
        return;
    }
    if (depot_has(d, object) && (!expected || digest_equal(expected, &d->objects[object].digest))) {
        d->config.arrived(d->config.context, object, true, "");
        return;
    }
    struct depot_fetch *f = mem_new_zero(struct depot_fetch, 1);
    f->object = object;
    f->from = from;
    f->make = make;
    f->fd = -1;
    if (expected)
        f->expected = *expected;
    depot_ring_add(&d->waiting, &f->ring);
    d->nfetches[FETCH_WAITING]++;
    d->fetches[object] = f;
    fetch_begin_waiting(d);
}

/* ---- into place ---- */

/* Atomic: readers see the old, or the whole new one. A folder cannot be renamed over a full one:
 * then the old is removed first, which is the one moment without either. */
static bool fetch_move_into_place(const char *from, const char *to, struct error *err)
{
    if (rename(from, to) == 0)
        return true;
    if (errno == ENOENT && !make_parents(to, err))
        return false;
    if (rename(from, to) == 0)
        return true;
    /* something else stands there: another content's folder, or a file */
    if ((errno == ENOTEMPTY || errno == EEXIST || errno == EISDIR || errno == ENOTDIR) &&
        tree_remove(to) && rename(from, to) == 0)
        return true;
    return error_set(err, ERROR_FAILED, "%s: cannot be moved into place%s: %s", to,
                     errno == EXDEV ? " from another file system" : "", strerror(errno));
}

/* Its digest is known now: tasks that read it need not hash it again. */
static void fetch_tell_memo(struct depot *d, struct depot_fetch *f, const char *path)
{
    if (!fetch_is_folder(f)) {
        memo_learn_digest(d->config.memo, path, &f->digest);
        return;
    }
    struct strbuf below = {0};
    for (size_t i = 0; i < f->unpack.files.n; i++) {
        const struct depot_received *r = &f->unpack.files.at[i];
        strbuf_clear(&below);
        strbuf_printf(&below, "%s/%s", path, f->unpack.text.at + r->path);
        memo_learn_digest(d->config.memo, below.at, &r->digest);
    }
    strbuf_free(&below);
    memo_learn_folder(d->config.memo, path, &f->digest);
}

/* They are told when it is their fault, so that they look at their copy (OBJECT_DOUBTED). */
static void fetch_damaged(struct depot *d, struct depot_fetch *f, const char *how)
{
    char label[DEPOT_LABEL];
    struct error err = {0};
    error_set(&err, ERROR_FAILED, "'%.300s' from %s is damaged: %s",
              depot_label(d, f->object, label), link_address(f->from), how);
    /* of a resumed one the beginning may be to blame, which they did not send */
    fetch_give_up(d, f, !f->resumed, err.text);
}

/* Everything came and is hashed. */
static void fetch_finish(struct depot *d, struct depot_fetch *f)
{
    struct error err = {0};
    struct digest digest;
    double bytes = (double)f->total;
    bool whole = true;
    if (fetch_is_folder(f))
        whole = depot_unpack_end(&f->unpack, &digest, &bytes, &err);
    else
        digest_end(&f->hash, &digest);
    if (!whole || !digest_equal(&digest, &f->digest)) {
        fetch_damaged(
            d, f,
            whole ? "its content has not the digest it should have; another copy is needed, or "
                    "it must be made again"
                  : err.text);
        return;
    }
    /* nobody else could read it until now */
    bool private = f->fd >= 0 && fchmod(f->fd, f->mode) != 0;
    if ((f->fd >= 0 && close(f->fd) != 0) || private) {
        f->fd = -1;
        depot_write_error(d->partial, errno, &err);
        fetch_give_up(d, f, false, err.text);
        return;
    }
    f->fd = -1;
    const char *to = depot_path(d, f->object);
    const char *from = fetch_partial_path(d, f->object, fetch_is_folder(f) ? "tree" : "part");
    struct stat s;
    if ((d->config.clear && lstat(to, &s) == 0 &&
         !d->config.clear(d->config.context, f->object, from, &err)) ||
        !fetch_move_into_place(from, to, &err)) {
        fetch_remove_partial(d, f);
        fetch_end(d, f, false, err.text);
        return;
    }
    if (fetch_is_folder(f)) /* in its place: one that cannot be written cannot be moved */
        (void)!chmod(to, f->mode);
    if (f->total >= NOTED_FROM)
        unlink(fetch_partial_path(d, f->object, "note"));
    fetch_tell_memo(d, f, to);
    uint32_t object = f->object;
    depot_put_here(d, object, &f->digest, bytes);
    depot_serve_added(d, object);
    if (d->fetches[object] != f)
        return;
    struct depot_came came = {f->from, (double)f->total, clock_seconds() - f->began};
    d->came = &came;
    fetch_end(d, f, true, "");
    d->came = NULL;
}

/* Hash what was there before, at most so many bytes. */
static bool fetch_catch_up(struct depot *d, struct depot_fetch *f, uint64_t most)
{
    for (uint64_t done = 0; done < most && f->hashed < f->written;) {
        uint64_t want = f->written - f->hashed;
        ssize_t n = pread(f->fd, d->piece, want < DEPOT_PIECE ? (size_t)want : DEPOT_PIECE,
                          (off_t)f->hashed);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fetch_give_up(d, f, false, "what had come of it cannot be read again");
            return false;
        }
        digest_bytes(&f->hash, d->piece, (size_t)n);
        f->hashed += (uint64_t)n;
        done += (uint64_t)n;
    }
    return true;
}

/* What a thread hashes is finished by depot_fetch_hashed(). Else a file that came in one go is hashed
 * already; one that was resumed catches up, at most
 * CATCH_UP_LAST bytes now and the rest by the ticks, so that the loop is not held up. */
static void fetch_finish_if_whole(struct depot *d, struct depot_fetch *f)
{
    if (f->written < f->total)
        return;
    if (!fetch_is_folder(f)) {
        fetch_change(d, f, FETCH_IS_WHOLE);
        if (f->apart || !fetch_catch_up(d, f, CATCH_UP_LAST) || f->hashed < f->total)
            return;
    }
    fetch_finish(d, f);
}

void depot_fetch_hashed(struct depot *d, uint32_t object, const struct digest_state *hash)
{
    struct depot_fetch *f = d->fetches[object];
    if (!hash) {
        fetch_give_up(d, f, false, "what had come of it cannot be read again");
        return;
    }
    f->hash = *hash;
    fetch_finish(d, f);
}

/* ---- messages ---- */

bool depot_fetch_is_stale(const struct depot *d, const struct link *l, uint32_t object)
{
    for (size_t i = 0; i < d->stale.n; i++)
        if (d->stale.at[i].link == l && d->stale.at[i].object == object)
            return true;
    return false;
}

struct depot_fetch *depot_fetch_find(const struct depot *d, const struct link *l, uint32_t object)
{
    struct depot_fetch *f = d->fetches[object];
    return f && f->from == l && f->state != FETCH_WAITING ? f : NULL;
}

/* What comes for one transfer shows that the others on its link are only waiting for their turn. */
static void fetch_link_alive(struct depot *d, const struct link *l)
{
    for (struct depot_ring *r = d->begun.next; r != &d->begun; r = r->next)
        if (((struct depot_fetch *)r)->from == l)
            ((struct depot_fetch *)r)->silent = -1;
}

/* Better to refuse at once than to fill the disk for all. What is small is just tried. */
static bool fetch_has_room(struct depot *d, const struct depot_fetch *f, struct error *err)
{
    struct statvfs s;
    char label[DEPOT_LABEL];
    uint64_t want = f->total - f->written;
    if (want < NOTED_FROM || statvfs(d->partial, &s) != 0)
        return true;
    double there = (double)s.f_bavail * (double)s.f_frsize;
    return (double)want <= there ||
           error_set(err, ERROR_FAILED,
                     "'%.300s' needs %.0f bytes more, and the disk with %s has %.0f: it is full; "
                     "free some space there, give the agent a smaller --cache, or its --state "
                     "another place (%s)",
                     depot_label(d, f->object, label), (double)want, d->partial, there,
                     strerror(ENOSPC));
}

/* Where it grows: the file as far as it is there, or from the beginning. */
static bool fetch_open_partial(struct depot *d, struct depot_fetch *f, struct error *err)
{
    bool made = d->partial_made || depot_in_memory(d, f->object); /* whose folder is there */
    if (!made && !make_parents(fetch_partial_path(d, f->object, "part"), err))
        return false;
    d->partial_made |= !made;
    if (!fetch_has_room(d, f, err))
        return false;
    if (fetch_is_folder(f))
        return depot_unpack_begin(&f->unpack, fetch_partial_path(d, f->object, "tree"), err);
    digest_begin(&f->hash);
    const char *path = fetch_partial_path(d, f->object, "part");
    if (f->resumed) {
        f->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (f->fd < 0 || ftruncate(f->fd, (off_t)f->written) != 0 ||
            lseek(f->fd, (off_t)f->written, SEEK_SET) < 0)
            return depot_write_error(path, errno, err);
        return true;
    }
    unlink(fetch_partial_path(d, f->object, "note"));
    path = fetch_partial_path(d, f->object, "part");
    unlink(path);
    f->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (f->fd < 0)
        return depot_write_error(path, errno, err);
    if (f->total < NOTED_FROM)
        return true;
    struct strbuf note = {0};
    bytes_put_u64(&note, f->total);
    bytes_put(&note, f->digest.at, sizeof f->digest.at);
    bool good = file_write(fetch_partial_path(d, f->object, "note"), note.at, note.n, err);
    strbuf_free(&note);
    return good;
}

/* What they announce is checked against what was asked before anything is opened. */
bool depot_fetch_head(struct depot *d, struct depot_fetch *f, struct bytes *in)
{
    uint64_t offset = bytes_u64(in), total = bytes_u64(in);
    const void *digest = bytes_take(in, sizeof(struct digest));
    uint8_t form = bytes_u8(in);
    uint32_t mode = bytes_u32(in);
    if (!bytes_end(in) || mode > MESSAGE_MODE)
        return false;
    struct digest whole;
    memcpy(whole.at, digest, sizeof whole.at);
    if (offset > total || total > INT64_MAX || digest_is_zero(&whole) || form > MESSAGE_FOLDER)
        return false;
    if (offset &&
        (form == MESSAGE_FOLDER || offset != f->asked_offset || !digest_equal(&whole, &f->asked)))
        return false;
    if (!fetch_change(d, f, FETCH_GETS_HEAD))
        return false;
    fetch_link_alive(d, f->from);
    f->began = clock_seconds();
    f->digest = whole;
    f->form = form;
    f->mode = mode;
    f->total = total;
    f->written = offset;
    f->resumed = offset > 0;
    d->counts.resumed += f->resumed;
    struct error err = {0};
    char label[DEPOT_LABEL];
    if (!digest_is_zero(&f->expected) && !digest_equal(&f->expected, &whole)) {
        error_set(&err, ERROR_FAILED, "'%.300s' at %s has another content than the one wanted",
                  depot_label(d, f->object, label), link_address(f->from));
        fetch_send_unfetch(d, f, false);
        fetch_end(d, f, false, err.text);
    } else if (!fetch_open_partial(d, f, &err)) {
        fetch_give_up(d, f, false, err.text);
    } else {
        if (f->fd >= 0 && f->total >= NOTED_FROM)
            f->apart = depot_hash_new(d, f->object, f->fd, f->total);
        if (f->apart)
            depot_hash_written(f->apart, f->written); /* from before a cut */
        fetch_finish_if_whole(d, f);
    }
    return true;
}

/* The bytes go into the file as they come. Hashing goes along unless a thread does it, or the beginning
 * still has to be caught up with. */
bool depot_fetch_data(struct depot *d, struct depot_fetch *f, struct bytes *in)
{
    if (f->state != FETCH_RECEIVING || !in->n || in->n > f->total - f->written)
        return false;
    fetch_link_alive(d, f->from);
    d->counts.fetched_bytes += (double)in->n;
    struct error err = {0};
    if (fetch_is_folder(f)) {
        f->written += in->n;
        if (!depot_unpack_feed(&f->unpack, in->at, in->n, &err)) {
            fetch_give_up(d, f, false, err.text);
            return true;
        }
    } else {
        if (!depot_write_all(f->fd, in->at, in->n)) {
            depot_write_error(fetch_partial_path(d, f->object, "part"), errno, &err);
            fetch_give_up(d, f, false, err.text);
            return true;
        }
        bool level = f->hashed == f->written;
        f->written += in->n;
        if (f->apart) {
            depot_hash_written(f->apart, f->written);
        } else if (level) {
            digest_bytes(&f->hash, in->at, in->n);
            f->hashed += in->n;
        } else if (!fetch_catch_up(d, f, CATCH_UP)) {
            return true;
        }
    }
    fetch_finish_if_whole(d, f);
    return true;
}

/* Also in the middle: they deleted it, or found it damaged. Control characters of their text are
 * blanked before people see it. */
bool depot_fetch_absent(struct depot *d, struct depot_fetch *f, struct bytes *in)
{
    size_t n;
    const char *text = bytes_text(in, &n);
    if (!bytes_end(in) || f->state == FETCH_CHECKING) /* they have sent everything */
        return false;
    char why[1024];
    n = n < sizeof why - 1 ? n : sizeof why - 1;
    for (size_t i = 0; i < n; i++)
        why[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? ' ' : text[i];
    why[n] = 0;
    fetch_remove_unless_noted(d, f);
    d->refused = true;
    fetch_end(d, f, false, why);
    d->refused = false;
    return true;
}

/* It is being computed: may take hours, and takes no turn meanwhile. Only who said `make` is told
 * so. */
bool depot_fetch_later(struct depot *d, struct depot_fetch *f, struct bytes *in)
{
    if (!bytes_end(in) || !f->make || !fetch_change(d, f, FETCH_GETS_LATER))
        return false;
    fetch_begin_waiting(d); /* its turn is free */
    return true;
}

/* Nothing more of the old fetch is on its way: I3 ends here. */
bool depot_fetch_unfetched(struct depot *d, struct link *l, uint32_t object, struct bytes *in)
{
    if (!bytes_end(in))
        return false;
    for (size_t i = 0; i < d->stale.n; i++)
        if (d->stale.at[i].link == l && d->stale.at[i].object == object) {
            d->stale.at[i] = array_pop(&d->stale);
            return true;
        }
    return false;
}

/* ---- time and links that end ---- */

/* Order matters: all of the link's fetches are forgotten first, then others begin, then the owner
 * hears; he may ask somebody else for the same object at once. */
void depot_fetch_closed(struct depot *d, struct link *l)
{
    for (size_t i = d->stale.n; i-- > 0;)
        if (d->stale.at[i].link == l) {
            d->stale.at[i] = array_last(&d->stale);
            d->stale.n--;
        }
    /* first found, then ended: `arrived` may change the rings */
    ARRAY(uint32_t) objects = {0};
    struct depot_ring *rings[2] = {&d->begun, &d->waiting};
    for (int k = 0; k < 2; k++)
        for (struct depot_ring *r = rings[k]->next; r != rings[k]; r = r->next)
            if (((struct depot_fetch *)r)->from == l)
                array_push(&objects, ((struct depot_fetch *)r)->object);
    struct error err = {0};
    error_set(&err, ERROR_FAILED, "the connection to %s ended", link_address(l));
    for (size_t i = 0; i < objects.n; i++) { /* all, before the next begins or anybody is told */
        struct depot_fetch *f = d->fetches[objects.at[i]];
        fetch_remove_unless_noted(d, f);
        fetch_forget(d, f);
        d->counts.failed++;
    }
    fetch_begin_waiting(d);
    for (size_t i = 0; i < objects.n; i++)
        d->config.arrived(d->config.context, objects.at[i], false, err.text);
    array_free(&objects);
}

/* First found, then acted on: what is done for one may change the ring. A fetch may have ended
 * meanwhile, so each is looked up again. */
void depot_fetch_tick(struct depot *d, double now)
{
    ARRAY(uint32_t) objects = {0};
    for (struct depot_ring *r = d->begun.next; r != &d->begun; r = r->next) {
        struct depot_fetch *f = (struct depot_fetch *)r;
        if (f->state == FETCH_CHECKING && !f->apart)
            array_push(&objects, f->object);
        else if (f->state == FETCH_CHECKING || f->state == FETCH_LATER || !link_is_open(f->from))
            f->silent = -1;
        else if (f->silent < 0)
            f->silent = now;
        else if (now - f->silent > patience)
            array_push(&objects, f->object);
    }
    for (size_t i = 0; i < objects.n; i++) {
        struct depot_fetch *f = d->fetches[objects.at[i]];
        if (!f || f->state == FETCH_WAITING || f->state == FETCH_LATER)
            continue;
        if (f->state == FETCH_CHECKING) {
            if (fetch_catch_up(d, f, CATCH_UP_TICK) && f->hashed == f->total)
                fetch_finish(d, f);
        } else if (f->silent >= 0 && now - f->silent > patience) {
            struct error err = {0};
            error_set(&err, ERROR_FAILED, "%s has sent nothing for %.0f seconds",
                      link_address(f->from), patience);
            fetch_send_unfetch(d, f, false);
            fetch_remove_unless_noted(d, f);
            fetch_end(d, f, false, err.text);
        }
    }
    array_free(&objects);
}
