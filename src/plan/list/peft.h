/* The optimistic cost table of PEFT: ntasks rows of nnodes seconds; the caller frees. O(edges x
 * nodes). */
#pragma once
#include "plan/list/list.h"

double *peft_table(const struct costs *c);
