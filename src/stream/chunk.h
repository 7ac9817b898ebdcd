/* The data of one item at one port: bytes that several may read, gone with the last of them. */
#pragma once
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct chunk {
    atomic_uint readers;
    uint32_t large; /* 0: aligned to 16 bytes; above: to 64, and the number of its shelf, from 1 */
    size_t size;
};

/* One reader, the caller. Unlike everything else in this house it may be NULL: items are data, and one
 * that finds no memory fails alone. */
struct chunk *chunk_new(size_t size);
void chunk_free(struct chunk *p); /* one reader less; NULL is fine */

/* Between them, large blocks that nobody reads any more are kept for the next items, up to 64 MB in all.
 * Every flow and every helper holds; with the last one all is given back. Any thread. */
void chunk_stock_hold(void);
void chunk_stock_release(void);

static inline void *chunk_bytes(struct chunk *p)
{
    return (char *)p + (p->large ? 64 : sizeof *p);
}
static inline struct chunk *chunk_share(struct chunk *p)
{
    if (p)
        atomic_fetch_add_explicit(&p->readers, 1, memory_order_relaxed);
    return p;
}
/* A chunk that holds these bytes. */
struct chunk *chunk_of(const void *bytes, size_t size);
