/* An order of a workflow's tasks that needs little memory when one node runs them one after the other. */
#pragma once
#include "model/workflow.h"

/* The most bytes that tasks and files (model/residence.h) take at once in this order on one node. */
double traversal_peak(const struct workflow *w, const uint32_t *order);
/* The best order found; the caller frees it. Of a tree the least possible (Liu 1987), else the best of greedy
 * ones. O(edges + tasks log tasks). */
uint32_t *traversal_best(const struct workflow *w, double *peak);
/* The same order as keys of tasks, 0 first; the caller frees them. */
double *traversal_keys(const struct workflow *w);
