/* Pieces of data. They come and go on any thread, millions a second, and belong to no call of the
 * library: so they are the C library's blocks, and no ledger (base/mem.h) is asked about them.
 *
 * Large ones are kept for the next item of about their size: the C library gives their pages back to the
 * kernel and takes fresh ones, which costs microseconds, and stops the other cores to tell them.
 *
 *     shelf 1: 4 kB   ─▶ block ─▶ block          at most so much larger than asked for: a quarter
 *     shelf 2: 5 kB                              the last that came is the first to go: it is in a cache
 *     ...
 *     shelf 57: 64 MB ─▶ block
 *
 * I1. A shelf's lock guards its list; nothing else is done under it.
 * I2. `kept` counts the bytes on all shelves, before they are put there and after they are taken: it is
 *     never below the truth, so no more than MOST_KEPT are there.
 * I3. Nothing is put on a shelf while nobody holds the stock. */
#include "stream/chunk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

enum { LARGE = 4096, LINE = 64, STEPS = 4, DOUBLINGS = 14, SHELVES = STEPS * DOUBLINGS + 1 };
enum { UNSHELVED = SHELVES + 1 }; /* of chunks that are larger than any shelf's */
static const size_t most_kept = (size_t)64 << 20;
_Static_assert(sizeof(struct chunk) == 16, "the bytes behind it are aligned for any type");

struct chunk_shelf {
    _Alignas(LINE) pthread_mutex_t lock;
    struct chunk *first; /* the next one's address is in its bytes */
};
static struct chunk_shelf chunk_shelves[SHELVES] = {
    [0 ... SHELVES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static _Atomic size_t chunk_kept;
static atomic_uint chunk_holders;

/* ---- shelves ---- */

/* Bytes of its blocks' data; `shelf` from 1. */
static size_t chunk_shelf_bytes(uint32_t shelf)
{
    uint32_t doubling = (shelf - 1) / STEPS, step = (shelf - 1) % STEPS;
    return ((size_t)LARGE << doubling) / STEPS * (STEPS + step);
}

/* The least shelf whose blocks are that large. */
static uint32_t chunk_shelf_of(size_t size)
{
    if (size > chunk_shelf_bytes(SHELVES))
        return UNSHELVED;
    uint32_t doubling = 63 - (uint32_t)__builtin_clzll(size / LARGE);
    size_t unit = ((size_t)LARGE << doubling) / STEPS;
    return 1 + doubling * STEPS + (uint32_t)((size + unit - 1) / unit) - STEPS;
}

static struct chunk **chunk_next(struct chunk *p)
{
    return (struct chunk **)(void *)chunk_bytes(p);
}

static struct chunk *chunk_shelf_take(uint32_t shelf)
{
    struct chunk_shelf *s = &chunk_shelves[shelf - 1];
    pthread_mutex_lock(&s->lock);
    struct chunk *p = s->first;
    if (p) {
        ASAN_UNPOISON_MEMORY_REGION(chunk_bytes(p), chunk_shelf_bytes(shelf));
        s->first = *chunk_next(p);
    }
    pthread_mutex_unlock(&s->lock);
    if (p)
        atomic_fetch_sub_explicit(&chunk_kept, chunk_shelf_bytes(shelf), memory_order_relaxed);
    return p;
}

/* False: there is no room, or nobody would take it. */
static bool chunk_shelf_put(struct chunk *p)
{
    size_t bytes = chunk_shelf_bytes(p->large);
    struct chunk_shelf *s = &chunk_shelves[p->large - 1];
    bool room =
        atomic_fetch_add_explicit(&chunk_kept, bytes, memory_order_relaxed) + bytes <= most_kept;
    if (room) {
        pthread_mutex_lock(&s->lock);
        room = atomic_load_explicit(&chunk_holders, memory_order_relaxed); /* I3 */
        if (room) {
            *chunk_next(p) = s->first;
            s->first = p;
            ASAN_POISON_MEMORY_REGION(chunk_bytes(p), bytes);
        }
        pthread_mutex_unlock(&s->lock);
    }
    if (!room)
        atomic_fetch_sub_explicit(&chunk_kept, bytes, memory_order_relaxed);
    return room;
}

void chunk_stock_hold(void)
{
    atomic_fetch_add(&chunk_holders, 1);
}

/* Whoever puts looks at the holders under the shelf's lock: what came before this is found here, what
 * comes after stays with him. */
void chunk_stock_release(void)
{
    if (atomic_fetch_sub(&chunk_holders, 1) > 1)
        return;
    for (uint32_t shelf = 1; shelf <= SHELVES; shelf++)
        for (struct chunk *p; (p = chunk_shelf_take(shelf));)
            (free)(p);
}

/* ---- chunks ---- */

static struct chunk *chunk_new_large(size_t size)
{
    uint32_t shelf = chunk_shelf_of(size);
    struct chunk *p = shelf == UNSHELVED ? NULL : chunk_shelf_take(shelf);
    if (!p) {
        size_t bytes = shelf == UNSHELVED ? size : chunk_shelf_bytes(shelf);
        /* aligned_alloc wants a multiple of the alignment */
        p = aligned_alloc(LINE, (LINE + bytes + LINE - 1) / LINE * LINE);
    }
    if (p)
        p->large = shelf;
    return p;
}

/* Small ones from the heap as it is: aligning them costs more than they are worth. */
struct chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - 2 * LINE)
        return NULL;
    struct chunk *p = size < LARGE ? malloc(sizeof *p + size) : chunk_new_large(size);
    if (!p)
        return NULL;
    atomic_init(&p->readers, 1);
    if (size < LARGE)
        p->large = 0;
    p->size = size;
    return p;
}

void chunk_free(struct chunk *p)
{
    /* who is alone needs no write that others would have to see */
    if (!p || (atomic_load_explicit(&p->readers, memory_order_acquire) != 1 &&
               atomic_fetch_sub_explicit(&p->readers, 1, memory_order_acq_rel) != 1))
        return;
    if (p->large == 0 || p->large == UNSHELVED || !chunk_shelf_put(p))
        (free)(p);
}

struct chunk *chunk_of(const void *bytes, size_t size)
{
    struct chunk *p = chunk_new(size);
    if (p && size)
        memcpy(chunk_bytes(p), bytes, size);
    return p;
}
