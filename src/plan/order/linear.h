/* From blocks to an IC-optimal order of a phase: the paper's linearisation of the super-dag
 * (section 4.2), and the order by atoms. */
#pragma once
#include "plan/order/blocks.h"

/* An element of the linearisation: one block, or a swept sum of several. */
struct linear_element {
    uint32_t first, count; /* in `sequence` */
};

struct linear {
    ARRAY(struct linear_element) elements;
    ARRAY(uint32_t) sequence; /* blocks */
    ARRAY(uint32_t) order;    /* tails (tasks); complete when the procedure succeeded */
    const char *failure;      /* why it stopped; static text */
    uint32_t blame[2];        /* blocks it failed on; NONE */
    bool refuted; /* the phase is a sum of blocks of which two cannot be swept: it has no IC-optimal
                     order */
    uint64_t spent, budget;
};

/* Section 4.2 for the blocks of one phase: append a source block that has priority over all other
 * source blocks, else the swept sum of all source blocks when that has priority over what it
 * exposes. Failure proves nothing. Blocks must all be PROOF_IC. Every super-arc X -> Y needs X |>
 * Y, which is tested first; then newly exposed blocks never spoil a choice, and all blocks of a
 * chosen shape can go in a row. Linear but for tests by pair of shapes present. */
bool linear_by_priority(struct blocks *b, uint32_t phase, struct linear *out);
/* All atoms of all blocks by falling slope, each when its tails are eligible in turn. It attains
 * the sum of the block profiles at every step, which no order exceeds; needs every two shapes
 * sweepable. */
bool linear_by_atoms(struct blocks *b, uint32_t phase, struct linear *out);
/* What the prio tool does: always an order, nothing proved. */
void linear_by_ratio(struct blocks *b, uint32_t phase, struct linear *out);
void linear_free(struct linear *l);
