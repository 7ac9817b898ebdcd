/* What comes of a large file is hashed by a thread, which reads it behind the writes: opening what is sealed
 * takes a core by itself, hashing takes another.
 *
 *     depot_hash_written() ── a step of it ──▶ hash_read()     on a thread; touches `at`, `state`, `bad` alone
 *              ▲                                   │
 *              └────────── more was written ── hash_done()     on the loop; all: depot_fetch_hashed()
 *
 * I1. At most one step at a time: `under_way`. Between steps the loop has all of it.
 * I2. A fetch that ends lets go of it (d NULL): hash_done() frees it, or depot_hash_free() when no step is
 *     under way. It has a descriptor of its own, so that the fetch may close the file. */
#include "cluster/data/depot_state.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

/* Bytes: enough that waking a thread costs nothing, few enough that they are still in the cache. */
enum { HASH_STEP = 1 << 20 };

struct depot_hash {
    uv_work_t work;
    struct depot *d; /* NULL: nobody waits for it any more */
    uint32_t object;
    int fd;
    uint64_t at, until, written, total; /* at: hashed; until: of this step */
    bool under_way, bad;
    struct digest_state state;
    char piece[DEPOT_PIECE];
};

static void hash_read(uv_work_t *work)
{
    struct depot_hash *h = work->data;
    while (h->at < h->until) {
        uint64_t want = h->until - h->at;
        ssize_t n =
            pread(h->fd, h->piece, want < DEPOT_PIECE ? (size_t)want : DEPOT_PIECE, (off_t)h->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            h->bad = true;
            return;
        }
        digest_bytes(&h->state, h->piece, (size_t)n);
        h->at += (uint64_t)n;
    }
}

static void hash_release(struct depot_hash *h)
{
    close(h->fd);
    free(h);
}

static void hash_done(uv_work_t *work, int status)
{
    struct depot_hash *h = work->data;
    h->under_way = false;
    h->bad |= status != 0;
    if (!h->d)
        hash_release(h); /* I2 */
    else if (h->bad || h->at == h->total)
        depot_fetch_hashed(h->d, h->object, h->bad ? NULL : &h->state);
    else
        depot_hash_written(h, h->written);
}

struct depot_hash *depot_hash_new(struct depot *d, uint32_t object, int fd, uint64_t total)
{
    int own = d->config.loop ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0)
        return NULL;
    struct depot_hash *h = mem_new(struct depot_hash, 1);
    h->d = d;
    h->object = object;
    h->fd = own;
    h->at = h->until = h->written = 0;
    h->total = total;
    h->under_way = h->bad = false;
    h->work.data = h;
    digest_begin(&h->state);
    return h;
}

void depot_hash_written(struct depot_hash *h, uint64_t written)
{
    h->written = written;
    if (h->under_way || (written - h->at < HASH_STEP && written < h->total))
        return;
    h->until = written;
    h->under_way = true; /* it fails only without a function to call */
    uv_queue_work(h->d->config.loop, &h->work, hash_read, hash_done);
}

void depot_hash_free(struct depot_hash *h)
{
    if (!h)
        return;
    h->d = NULL;
    if (!h->under_way)
        hash_release(h);
}
