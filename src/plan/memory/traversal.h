/* An order of a workflow's tasks that needs little memory when one node runs them one after the other. */
#pragma once
#include "model/workflow.h"

/* The most bytes that tasks and files (model/residence.h) take at once in this order on one node. */
double traversal_peak(const struct workflow *w, const uint32_t *order);
/* The best order found; the caller frees it. The least possible of a tree (Liu 1987), and of a series-parallel graph whose
 * files have one reader each (series.h); else the best of a few. */
uint32_t *traversal_best(const struct workflow *w, double *peak);
/* The one in which branches are finished before others are begun; the caller frees it. */
uint32_t *traversal_deep(const struct workflow *w);
/* The order of traversal_best() as keys of tasks, 0 first; the caller frees them. */
double *traversal_keys(const struct workflow *w);
