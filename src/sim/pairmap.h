/* Pairs of nodes to small numbers 0, 1, 2 ... in order of first sight. Memory goes with the pairs
 * seen, not with the square of the nodes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct pairmap {
    uint64_t *key; /* (a << 32 | b) + 1, 0: free */
    uint32_t *number;
    size_t mask;
    uint32_t used;
};

void pairmap_free(struct pairmap *m);
/* The number of (a, b); a new one, equal to the count before, when the pair was not seen yet. */
uint32_t pairmap_number(struct pairmap *m, uint32_t a, uint32_t b);
