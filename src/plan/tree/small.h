/* Small trees: the shortest valid mapping of all, by branch and bound. */
#pragma once
#include "plan/tree/partition.h"

enum { SMALL_TREE_TASKS = 32 };

/* Tree and processors are few enough to try. */
bool small_tree(const struct tree_setting *s);

/* Replace `best` by the shortest valid mapping if that is shorter (best->makespan INFINITY: none is
 * known yet). True: nothing shorter exists, all was tried or shown to be no shorter (and if the
 * makespan is still INFINITY, no valid mapping exists). False: gave up after `steps` decisions.
 * The same answer on every machine. */
bool small_tree_search(const struct tree_setting *s, struct snapshot *best, uint64_t steps);
