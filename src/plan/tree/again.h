/* Step 3b: idle processors are left. SPLITAGAIN of Gou et al., with the check of HetPart that the
 * new piece fits an idle processor. */
#pragma once
#include "plan/tree/partition.h"

/* While a processor is idle: cut where it shortens the critical path most - one subtree of a piece
 * on the path other than the last, or two sibling subtrees of the last - and map what was cut to
 * the smallest idle processors that hold it (with `largest`: to the largest, as the published code
 * does; the better start for exchanges now and then). Every cut kept makes the makespan shorter.
 * O(tasks on the critical path) a cut. */
void split_again(struct partition *p, bool largest);
