/* The super-dag of one phase being taken apart: blocks whose predecessors are all gone wait in one
 * queue per shape. */
#pragma once
#include "plan/order/linear.h"

struct order_line {
    struct blocks *b;
    struct skeleton *s;
    struct linear *out;
    uint32_t first, count; /* blocks of the phase */
    uint32_t *waiting;     /* tails of a block that are not rendered yet, by block - first */
    uint32_t *next;        /* queue of the same shape */
    uint32_t *shape_id;    /* shapes present in the phase, numbered 0.. */
    uint32_t *number;      /* of a block: its shape's number */
    uint32_t *queue_head, *queue_tail, *queued; /* by number */
    ARRAY(uint32_t) present;                    /* numbers with queued blocks */
    uint32_t *at;                               /* place in present; NONE */
    uint32_t nshapes;
};

void line_begin(struct order_line *l, struct blocks *b, uint32_t phase,
                struct linear *out); /* exposes nothing yet */
void line_end(struct order_line *l);
void line_expose(struct order_line *l, uint32_t block);
void line_expose_sources(struct order_line *l);
uint32_t line_take(struct order_line *l, uint32_t number); /* the next block of that shape */
/* Remove a taken block: what waited for it alone is exposed. Appends it to the sequence. */
void line_remove(struct order_line *l, uint32_t block);
/* The other block of the same phase that has head h of `block` as a tail; NONE. */
uint32_t line_waiting_block(const struct skeleton *s, uint32_t h, uint32_t block);
bool line_fail(struct linear *l, const char *why, uint32_t a, uint32_t b);

/* An atom of a block, and the order by falling slope (then by block, then along it). */
struct block_atom {
    struct atom atom;
    uint32_t block, from; /* first tail, within the block */
};
int block_atom_falling(const void *a, const void *b); /* for qsort */
