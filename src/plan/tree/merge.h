/* Step 3a: too many pieces. Merges are taken by the longest path through the merged piece, computed
 * exactly on the quotient tree (the papers' "estimated increase"; tree-algorithms, section 4): a
 * piece into its parent, or a leaf and its only sibling into their parent. */
#pragma once
#include "plan/tree/partition.h"

/* MERGE of Gou et al.: down to `pieces` unmapped pieces, each merged one within `limit` bytes.
 * False: no merge is left that fits. */
bool merge_homogeneous(struct partition *p, uint32_t pieces, double limit);
/* The same without a limit. */
void merge_down(struct partition *p, uint32_t pieces);

/* HETERMERGE: until every piece is mapped. Pieces that fit an idle processor are mapped at once, to
 * the smallest one. False: some piece is left that no processor takes and no merge can place. */
bool merge_heterogeneous(struct partition *p);

/* CHOOSEPROCESSOR for pieces i, j and k (k may be NONE) merged, which need `memory`: of their own
 * processors the smallest that fits, else the smallest idle one, else NONE. */
uint32_t merge_choose_processor(const struct partition *p, uint32_t i, uint32_t j, uint32_t k,
                                double memory);
