/* Rows of lists that agree, and their groups.
 *
 * Rows are told apart by numbering: rows that agree in a set of columns get the same number, found
 * by hashing their cells (open addressing over first rows). A grouping is two numberings, by the
 * bound columns and by bound and free ones together, sorted by counting. */
#include "formats/native/lists.h"

#include <stdlib.h>
#include <string.h>

/* Values are numbers of interned texts, so rows are compared without looking at a text. The hash mixes
 * after every cell: small numbers that stand in a row would else meet each other. */
static uint64_t row_hash(const struct list *x, uint32_t row, column_set columns)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint32_t c = 0; c < x->ncolumns; c++)
        if (columns >> c & 1) {
            h = (h ^ list_cell(x, row, c)) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
    return h;
}

static bool rows_agree(const struct list *x, uint32_t a, uint32_t b, column_set columns)
{
    for (uint32_t c = 0; c < x->ncolumns; c++)
        if (columns >> c & 1 && list_cell(x, a, c) != list_cell(x, b, c))
            return false;
    return true;
}

/* number_rows() of one column whose values have numbers that lie close together, as those of a list that
 * has just been read do: a table by value, without hashing. False: they do not. */
static bool number_values(const struct list *x, uint32_t column, uint32_t *number, uint32_t *count)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t row = 0; row < x->nrows; row++) {
        uint32_t value = list_cell(x, row, column);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (!x->nrows || most - least >= 2 * (uint64_t)x->nrows)
        return false;
    uint32_t *numbered = mem_new_zero(uint32_t, (size_t)(most - least) + 1); /* + 1; 0: not yet */
    *count = 0;
    for (uint32_t row = 0; row < x->nrows; row++) {
        uint32_t *of = &numbered[list_cell(x, row, column) - least];
        if (!*of)
            *of = ++*count;
        number[row] = *of - 1;
    }
    free(numbered);
    return true;
}

/* number[row], from 0 in order of first appearance, equal for rows that agree. How many. */
static uint32_t number_rows(const struct list *x, column_set columns, uint32_t *number)
{
    uint32_t alone;
    if (columns && !(columns & (columns - 1)) &&
        number_values(x, (uint32_t)__builtin_ctzll(columns), number, &alone))
        return alone;
    uint32_t size = 16, count = 0;
    while (size < 2 * (uint64_t)x->nrows)
        size *= 2;
    uint32_t *slot = mem_new_zero(uint32_t, size); /* a first row + 1; 0: free */
    for (uint32_t row = 0; row < x->nrows; row++) {
        uint32_t at = (uint32_t)row_hash(x, row, columns) & (size - 1);
        while (slot[at] && !rows_agree(x, slot[at] - 1, row, columns))
            at = (at + 1) & (size - 1);
        if (!slot[at]) {
            slot[at] = row + 1;
            number[row] = count++;
        } else {
            number[row] = number[slot[at] - 1];
        }
    }
    free(slot);
    return count;
}

uint32_t lists_group(struct lists *l, uint32_t list, column_set bound, column_set free_columns)
{
    for (size_t i = 0; i < l->groupings.n; i++) {
        const struct grouping *g = &l->groupings.at[i];
        if (g->list == list && g->bound == bound && g->free == free_columns)
            return (uint32_t)i;
    }
    const struct list *x = &l->at.at[list];
    struct grouping g = {.list = list, .bound = bound, .free = free_columns};
    g.group_of = mem_new(uint32_t, x->nrows);
    g.ngroups = number_rows(x, bound, g.group_of);
    uint32_t *distinct = mem_new(uint32_t, x->nrows);
    uint32_t count = number_rows(x, bound | free_columns, distinct);
    /* counting sort of the first rows by their group: the order of the list stays */
    g.off = mem_new_zero(uint32_t, (size_t)g.ngroups + 1);
    g.row = mem_new(uint32_t, count);
    uint32_t seen = 0;
    for (uint32_t row = 0; row < x->nrows; row++)
        if (distinct[row] == seen) {
            g.off[g.group_of[row] + 1]++;
            seen++;
        }
    for (uint32_t i = 0; i < g.ngroups; i++)
        g.off[i + 1] += g.off[i];
    uint32_t *next = mem_new(uint32_t, g.ngroups);
    memcpy(next, g.off, g.ngroups * sizeof *next);
    seen = 0;
    for (uint32_t row = 0; row < x->nrows; row++)
        if (distinct[row] == seen) {
            g.row[next[g.group_of[row]]++] = row;
            seen++;
        }
    free(next);
    free(distinct);
    array_push(&l->groupings, g);
    return (uint32_t)l->groupings.n - 1;
}

bool list_find_telling(struct list *x, uint32_t *twice)
{
    uint32_t *number = mem_new(uint32_t, x->nrows);
    bool found = false;
    for (uint32_t c = 1; c <= x->ncolumns && !found; c++) {
        x->telling = c == 64 ? UINT64_MAX : ((column_set)1 << c) - 1;
        found = number_rows(x, x->telling, number) == x->nrows;
    }
    for (uint32_t row = 0, seen = 0; row < x->nrows && !found; row++) {
        if (number[row] != seen) {
            *twice = row;
            break;
        }
        seen++;
    }
    free(number);
    return found;
}
