/* What the paper shows: blocks with their profiles, priorities, the linearisation, and the tables
 * of the Sweep. */
#pragma once
#include "base/strbuf.h"
#include "plan/order/linear.h"

void explain_blocks(const struct blocks *b, const struct workflow *w, struct strbuf *out);
/* After linear_by_priority() on the phase, whether it succeeded or not. */
void explain_linear(struct blocks *b, uint32_t phase, const struct linear *l, bool good,
                    struct strbuf *out);
