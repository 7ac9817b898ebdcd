/* Step 2: cut pieces until they fit into memory. */
#pragma once
#include "plan/tree/partition.h"

/* What goes when the next task of a piece's best traversal finds too little room (Gou et al.):
 *
 *   FIT_FIRST        of the waiting subtrees the one needed last whose file alone makes room,
 *                    else those needed last until there is room
 *   FIT_LARGEST      waiting subtrees by decreasing file until there is room
 *   FIT_IMMEDIATELY  the task itself */
enum fit_method { FIT_FIRST, FIT_LARGEST, FIT_IMMEDIATELY };

struct fitter;
struct fitter *fitter_new(struct partition *p, enum fit_method method);
void fitter_free(struct fitter *f);

/* Cut piece i so that what stays with its root fits into `limit`. The new pieces are unmapped:
 * fitter_new_pieces(). False, and nothing cut: its root task alone needs more. O(m log m) for m
 * tasks. */
bool fitter_fit(struct fitter *f, uint32_t i, double limit);
const uint32_t *fitter_new_pieces(const struct fitter *f, size_t *count);

/* Every piece into the same limit (HomPart). False: a task needs more; *task says which. */
bool fit_all(struct partition *p, enum fit_method method, double limit, uint32_t *task);

/* BIGGESTFIT (Algorithm 1 of HetPart): the piece that needs most to the largest processor left, cut
 * to fit; when processors run out, what is left is cut for the smallest processor and stays
 * unmapped. */
void fit_biggest(struct partition *p, enum fit_method method);
