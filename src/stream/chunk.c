/* Pieces of data. They come and go on any thread, millions a second, and belong to no call of the
 * library: so they are the C library's blocks, and no ledger (base/mem.h) is asked about them. */
#include "stream/chunk.h"

#include <stdlib.h>
#include <string.h>

enum { LARGE = 4096, LINE = 64 };
_Static_assert(sizeof(struct chunk) == 16, "the bytes behind it are aligned for any type");

/* Small ones from the heap as it is: aligning them costs more than they are worth. */
struct chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - 2 * LINE)
        return NULL;
    struct chunk *p;
    if (size < LARGE)
        p = malloc(sizeof *p + size);
    else /* aligned_alloc wants a multiple of the alignment */
        p = aligned_alloc(LINE, (LINE + size + LINE - 1) / LINE * LINE);
    if (!p)
        return NULL;
    atomic_init(&p->readers, 1);
    p->large = size >= LARGE;
    p->size = size;
    return p;
}

void chunk_free(struct chunk *p)
{
    /* who is alone needs no write that others would have to see */
    if (p && (atomic_load_explicit(&p->readers, memory_order_acquire) == 1 ||
              atomic_fetch_sub_explicit(&p->readers, 1, memory_order_acq_rel) == 1))
        (free)(p);
}

struct chunk *chunk_of(const void *bytes, size_t size)
{
    struct chunk *p = chunk_new(size);
    if (p && size)
        memcpy(chunk_bytes(p), bytes, size);
    return p;
}
