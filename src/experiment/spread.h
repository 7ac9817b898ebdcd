/* Which of the values that a workflow's file was read with a computation depends on: those without
 * which it would not be there. A computation that stands in every reading that differs in one value
 * alone does not depend on that value. */
#pragma once
#include "base/array.h"
#include "model/experiment.h"

/* Who was met in which reading: pairs, and per task the last reading + 1. */
struct spread {
    ARRAY(uint32_t) task, reading, last;
};

void spread_note(struct spread *s, uint32_t task, uint32_t reading);
void spread_free(struct spread *s);

/* Sets of substitutions, `words` words for each of `ntasks`; the caller frees. `row`: a combination of
 * each reading, whose choices of those that are `with_file` the reading was made with. */
uint64_t *spread_narrow(const struct spread *s, const struct experiment *x,
                        const uint32_t *const *row, uint32_t nreadings, uint32_t ntasks,
                        size_t words);
