/* Parts of runs on the board: see run_part.h. */
#include "cluster/wire/run_part.h"

#include "base/bytes.h"

#include <string.h>

void run_part_seal(const struct run_part *p, const struct charter *c, uint64_t run,
                   const uint8_t id[static SEAL_ID], struct strbuf *out)
{
    struct strbuf plain = {0};
    bytes_put(&plain, id, SEAL_ID);
    bytes_put_u32(&plain, p->number);
    bytes_put_u32(&plain, p->node);
    bytes_put_u32(&plain, p->life);
    bytes_put(&plain, p->bytes.at, p->bytes.n);
    charter_seal(c, "part", run, plain.at, plain.n, out);
    strbuf_free(&plain);
}

bool run_part_unseal(struct run_part *p, const struct charter *c, uint64_t run,
                     const uint8_t id[static SEAL_ID], uint32_t number, const void *data, size_t n)
{
    struct strbuf plain = {0};
    bool good = charter_unseal(c, "part", run, data, n, &plain);
    struct bytes in = {plain.at, plain.n, !good};
    const void *own = bytes_take(&in, SEAL_ID);
    *p = (struct run_part){.number = bytes_u32(&in)};
    p->node = bytes_u32(&in);
    p->life = bytes_u32(&in);
    good = !in.bad && memcmp(own, id, SEAL_ID) == 0 && p->number == number;
    if (good)
        bytes_put(&p->bytes, in.at, in.n);
    strbuf_free(&plain);
    return good;
}

void run_part_free(struct run_part *p)
{
    strbuf_free(&p->bytes);
    *p = (struct run_part){0};
}
