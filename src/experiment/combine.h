/* Which combinations of alternatives an experiment tries. */
#pragma once
#include "base/error.h"
#include "model/experiment.h"

enum { MOST_COMBINATIONS = 1000000 };

/* How many there are in all; INFINITY-like counts past 2^63 come out as UINT64_MAX. */
uint64_t combinations_of_all(const struct experiment *x);

/* The combinations that the experiment asks for: rows of alternative numbers (CHOICE_ORIGINAL: none
 * of them), one column a substitution, the last column turning fastest; a sample in the order of
 * all. Equal rows come once. More than MOST_COMBINATIONS are an error. `*rows` is the caller's to
 * free, also when there are no columns. */
bool combinations_make(const struct experiment *x, uint32_t **rows, uint32_t *count,
                       struct error *err);

/* Append "image=a,filter=sobel" of a row: the substitutions in `only` (a bit each, NULL: all) whose
 * choice is not CHOICE_ORIGINAL, in the order of the file. */
struct strbuf;
void combination_label(const struct experiment *x, const uint32_t *row, const uint64_t *only,
                       struct strbuf *out);
