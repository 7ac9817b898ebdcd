/* A tree that no nodes can hold together, planned with files on disks. */
#pragma once
#include "plan/tree/pipeline.h"

/* Of the mappings tried the one that writes the fewest bytes, of those the shortest: the whole tree on one node
 * with a disk, and hetpart2's mappings for nodes whose memory is taken for larger than it is. NULL, without an
 * error: no node has a disk, or some task alone is too large for those that do. */
struct plan *evict_plan(const struct tree_job *job);
