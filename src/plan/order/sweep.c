/* The Sweep Algorithm of Cordasco, Malewicz and Rosenberg (2008), section 3: 2-IC-Sweep by its
 * tables E and V, IC-Sweep by folding summands in one after the other. sweep.h defines the tables.
 *
 *    V   0    1    2  -> tails of the second      Y: E is the largest of its diagonal, and a Y lies
 *    0   Y    .    .                               above or to the left
 *    1   Y    Y    Y      a path of Ys from (0,0)
 *    2   .    Y    Y      to (n1,n2) is an order   down: next tail of the first, right: of the
 *                                                 second
 * / */
#include "plan/order/sweep.h"
#include "base/bitset.h"
#include "base/mem.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* most[t] = the largest E1(i) + E2(j) on the diagonal i + j = t. */
static uint32_t *best_on_diagonals(const uint32_t *e1, uint32_t n1, const uint32_t *e2, uint32_t n2)
{
    uint32_t *most = mem_new_zero(uint32_t, (size_t)n1 + n2 + 1);
    for (uint32_t i = 0; i <= n1; i++)
        for (uint32_t j = 0; j <= n2; j++)
            if (e1[i] + e2[j] > most[i + j])
                most[i + j] = e1[i] + e2[j];
    return most;
}

/* Backwards from the corner, from above where possible: ties run the first summand late. */
static void read_path(const uint64_t *v, uint32_t n1, uint32_t n2, size_t row, uint8_t *path)
{
    for (uint32_t i = n1, j = n2; i + j > 0;) {
        bool from_above = i > 0 && bitset_get(v, (i - 1) * row + j);
        path[i + j - 1] = !from_above;
        if (from_above)
            i--;
        else
            j--;
    }
}

bool sweep_two(const uint32_t *e1, uint32_t n1, const uint32_t *e2, uint32_t n2, struct sweep *out)
{
    size_t row = (size_t)n2 + 1;
    uint32_t *most = best_on_diagonals(e1, n1, e2, n2);
    uint64_t *v = mem_new_zero(uint64_t, bitset_words(((size_t)n1 + 1) * row));
    bitset_set(v, 0);
    for (uint32_t i = 0; i <= n1; i++) {
        bool any = false;
        for (uint32_t j = 0; j <= n2; j++) {
            bool yes = (i == 0 && j == 0) || (i > 0 && bitset_get(v, (i - 1) * row + j)) ||
                       (j > 0 && bitset_get(v, i * row + j - 1));
            if (yes && e1[i] + e2[j] == most[i + j]) {
                bitset_set(v, i * row + j);
                any = true;
            }
        }
        if (!any)
            break; /* a row of NOs: nothing below it can be reached */
    }
    bool yes = bitset_get(v, n1 * row + n2);
    if (yes && out) {
        *out = (struct sweep){.n1 = n1, .n2 = n2, .rise = most};
        out->first_over_second = out->second_over_first = true;
        for (uint32_t i = 0; i <= n1; i++) {
            out->first_over_second &= bitset_get(v, i * row);
            out->second_over_first &= bitset_get(v, i * row + n2);
        }
        for (uint32_t j = 0; j <= n2; j++) {
            out->first_over_second &= bitset_get(v, n1 * row + j);
            out->second_over_first &= bitset_get(v, j);
        }
        out->path = mem_new(uint8_t, (size_t)n1 + n2);
        read_path(v, n1, n2, row, out->path);
        most = NULL;
    }
    free(most);
    free(v);
    return yes;
}

void sweep_free(struct sweep *s)
{
    free(s->rise);
    free(s->path);
    *s = (struct sweep){0};
}

/* The sum so far is one summand of the next sweep: turn[] is merged along. */
uint32_t *sweep_all(const uint32_t *const *e, const uint32_t *n, uint32_t p)
{
    size_t total = 0, so_far = p ? n[0] : 0;
    for (uint32_t k = 0; k < p; k++)
        total += n[k];
    uint32_t *turn = mem_new_zero(uint32_t, total), *merged = mem_new(uint32_t, total);
    uint32_t *rise = mem_new_zero(uint32_t, so_far + 1);
    if (p)
        memcpy(rise, e[0], (so_far + 1) * sizeof *rise);
    for (uint32_t k = 1; k < p; k++) {
        struct sweep s;
        if (!sweep_two(rise, (uint32_t)so_far, e[k], n[k], &s)) {
            free(turn);
            turn = NULL;
            break;
        }
        size_t from = 0;
        for (size_t t = 0; t < so_far + n[k]; t++)
            merged[t] = s.path[t] ? k : turn[from++];
        so_far += n[k];
        memcpy(turn, merged, so_far * sizeof *turn);
        free(rise);
        rise = s.rise;
        free(s.path);
    }
    free(rise);
    free(merged);
    return turn;
}

void sweep_table(const uint32_t *e1, uint32_t n1, const uint32_t *e2, uint32_t n2,
                 const char *name1, const char *name2, struct strbuf *out)
{
    uint32_t *most = best_on_diagonals(e1, n1, e2, n2);
    strbuf_printf(out, "%s down, %s right\n", name1, name2);
    strbuf_printf(out, "%6s", "");
    for (uint32_t j = 0; j <= n2; j++)
        strbuf_printf(out, " %6u", j);
    for (uint32_t i = 0; i <= n1; i++) {
        strbuf_printf(out, "\n%6u", i);
        for (uint32_t j = 0; j <= n2; j++) {
            char cell[24];
            bool is_most = e1[i] + e2[j] == most[i + j];
            snprintf(cell, sizeof cell, is_most ? "[%u]" : "%u ", e1[i] + e2[j]);
            strbuf_printf(out, " %6s", cell);
        }
        while (out->at[out->n - 1] == ' ')
            out->at[--out->n] = '\0';
    }
    strbuf_add_char(out, '\n');
    free(most);
}
