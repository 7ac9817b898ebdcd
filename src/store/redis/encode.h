/* What encode.c and runs.c share: bytes into a call, and operations that become one. */
#pragma once
#include "store/redis/state.h"

/* A call is filled for as long as it waits: amortised O(1) a byte. */
static inline void encode_bytes(struct redis_call *c, const void *data, size_t n)
{
    array_reserve(&c->bytes, c->bytes.n + n);
    memcpy(c->bytes.at + c->bytes.n, data, n);
    c->bytes.n += n;
}

static inline void encode_u8(struct redis_call *c, uint8_t v)
{
    encode_bytes(c, &v, 1);
}

static inline void encode_u32(struct redis_call *c, uint32_t v)
{
    encode_bytes(c, &v, 4);
}

static inline void encode_double(struct redis_call *c, double v)
{
    encode_bytes(c, &v, 8);
}

/* It joins the operation before it in the call, if that is its like: it is written. */
bool redis_run_joins(struct redis *r, struct redis_call *c, uint64_t number, uint32_t task);
/* The operation that was just written began at `at`: the next may join it. */
void redis_run_begins(struct redis_call *c, const struct workflow *w, uint32_t task, size_t at);
