/* Least memory of pieces of one tree, fast when most of the piece is whole subtrees.
 *
 * The same segments as model/tree_memory.c (Liu), but kept: the segments of every whole subtree are
 * computed once and never changed. A piece differs from a whole subtree only on the ways from its
 * root to its cuts; only the tasks on these ways are done again, over the kept segments of what
 * hangs on them. Only the peak comes out, no order. */
#pragma once
#include "model/tree.h"

/* Segments of all whole subtrees: shared, read-only once made. O(n log n), 32 bytes a segment. */
struct hills;
struct hills *hills_new(const struct tree *t);
void hills_free(struct hills *h);
double hills_whole(const struct hills *h, uint32_t x); /* least memory of the whole subtree of x */

/* Room for computing, one a thread. */
struct hill_room;
struct hill_room *hill_room_new(const struct hills *h);
void hill_room_free(struct hill_room *r);

/* The least memory of the piece with this root, whose cuts are the `count` tasks of `cuts` (cut[]
 * is set for them). *seen grows by the number of tasks looked at. */
double hills_piece(struct hill_room *r, uint32_t root, const uint32_t *cuts, uint32_t count,
                   const uint8_t *cut, enum tree_count counting, uint64_t *seen);
