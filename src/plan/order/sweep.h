/* The Sweep Algorithm (Cordasco, Malewicz, Rosenberg 2008): IC-optimal orders of sums of dags that
 * each have one.
 *
 * Profiles E1[0..n1], E2[0..n2]. Table E(i,j) = E1(i) + E2(j); V(i,j) is YES when E(i,j) is the
 * largest of its diagonal and a YES lies above it or to its left. The sum has an IC-optimal order
 * iff V(n1,n2) is YES; any path of YESes is one: down = the next tail of the first, right = the
 * next of the second. (V has (n1+1) x (n2+1) entries; the paper's n1 x n2 is a misprint.) */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

struct sweep {
    uint32_t n1, n2;
    uint32_t *rise; /* of the sum, 0..n1+n2 */
    uint8_t *path;  /* 0: a tail of the first; 1: of the second; n1+n2 entries */
    bool first_over_second, second_over_first; /* the priorities read off V: an L, a 7 */
};

/* 2-IC-Sweep. False: the sum has no IC-optimal order. `out` may be NULL; otherwise free with
 * sweep_free() (after true only). Time and bits (n1+1)(n2+1). */
bool sweep_two(const uint32_t *e1, uint32_t n1, const uint32_t *e2, uint32_t n2, struct sweep *out);
void sweep_free(struct sweep *s);

/* IC-Sweep over p summands: turn[t] = the summand whose next tail runs at step t (sum of all n
 * entries), to be freed. NULL: no IC-optimal order. */
uint32_t *sweep_all(const uint32_t *const *e, const uint32_t *n, uint32_t p);

/* Table E as the paper prints it, the largest of each diagonal in [brackets]. */
void sweep_table(const uint32_t *e1, uint32_t n1, const uint32_t *e2, uint32_t n2,
                 const char *name1, const char *name2, struct strbuf *out);
