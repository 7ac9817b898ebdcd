/* See record.h. A table of fields a kind instead of a function a kind: what is written and what is
 * read cannot differ. The order of `layout` is the format: a change needs another version of the
 * journal.
 *
 *     byte 0   1 ...
 *     kind     the fields that fields_of[kind] names, in the order of `layout`, packed */
#include "store/record.h"
#include <string.h>

enum field {
    STATUS = 1,
    ATTEMPT = 2,
    TASK = 4,
    EPOCH = 8,
    NODE = 16,
    OTHER = 32, /* or life */
    START = 64, /* or limit */
    TIME = 128,
    BYTES = 256,
};

/* META_GET, READ, WHERE, COUNT and SETTLE change nothing and are never written. */
static const uint16_t fields_of[META_KINDS] = {
    [META_PUT] = TASK | NODE | TIME,
    [META_HOLD] = TASK | EPOCH | NODE | OTHER | TIME,
    [META_START] = ATTEMPT | TASK | EPOCH | NODE | TIME,
    [META_RETRY] = ATTEMPT | TASK | EPOCH | NODE | TIME,
    [META_COMPLETE] = STATUS | ATTEMPT | TASK | EPOCH | NODE | START | TIME | BYTES,
    [META_REMOVE] = STATUS | TASK | EPOCH | NODE | TIME,
    [META_ADOPT] = TASK | EPOCH | NODE | OTHER | START | TIME | BYTES,
    [META_JOIN] = NODE | OTHER,
    [META_OBJECT] = TASK | BYTES,
    [META_COPY] = STATUS | TASK | NODE,
};

/* Where each field stands in the operation, in the order in which it is written. */
static const struct {
    uint16_t field;
    uint8_t offset, size;
} layout[] = {
#define AT(f, m)                                                                                   \
    {                                                                                              \
        f, offsetof(struct meta_op, m), sizeof(((struct meta_op *)0)->m)                           \
    }
    AT(STATUS, status), AT(ATTEMPT, attempt), AT(TASK, task), AT(EPOCH, epoch), AT(NODE, node),
    AT(OTHER, other),   AT(START, start),     AT(TIME, time), AT(BYTES, bytes),
#undef AT
};
#define LAYOUT (sizeof layout / sizeof *layout)

/* The kind, then its fields in the order of the layout. */
size_t record_write(const struct meta_op *op, unsigned char *out)
{
    size_t n = 0;
    out[n++] = op->kind;
    for (size_t i = 0; i < LAYOUT; i++)
        if (fields_of[op->kind] & layout[i].field) {
            memcpy(out + n, (const char *)op + layout[i].offset, layout[i].size);
            n += layout[i].size;
        }
    return n;
}

/* A kind that is never written, or too few bytes: 0, no record. */
size_t record_read(const unsigned char *data, size_t n, struct meta_op *op)
{
    memset(op, 0, sizeof *op);
    if (!n || data[0] >= META_KINDS || !fields_of[data[0]])
        return 0;
    op->kind = data[0];
    op->slot = UINT32_MAX;
    size_t used = 1;
    for (size_t i = 0; i < LAYOUT; i++)
        if (fields_of[op->kind] & layout[i].field) {
            if (n - used < layout[i].size)
                return 0;
            memcpy((char *)op + layout[i].offset, data + used, layout[i].size);
            used += layout[i].size;
        }
    return used;
}
