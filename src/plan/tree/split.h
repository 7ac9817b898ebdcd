/* Step 1 of HomPart and HetPart1: cut for a short makespan, without looking at memory, for
 * processors of equal speed. All start from the partition as it is (one piece, or pieces cut
 * before) and leave new pieces unmapped. */
#pragma once
#include "plan/tree/partition.h"

/* Two levels: the piece's top runs alone, then up to pieces-1 subtrees side by side. Cuts inside
 * piece `from` only; returns how many cuts were made. O(m log m) for a piece of m tasks. */
uint32_t split_subtrees(struct partition *p, uint32_t from, uint32_t pieces);

/* Many levels: split the piece, then its longest subtrees, then its top again, as long as it helps;
 * then merge down to `pieces`. */
void split_improved(struct partition *p, uint32_t pieces);

/* Cut the heaviest subtrees nearest to the root, up to pieces-1 of them; keep the best prefix of
 * the cuts. O(n log n). */
void split_asap(struct partition *p, uint32_t pieces);
