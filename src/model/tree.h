/* A workflow that is a tree, numbered so that linear passes are enough, and the least memory its
 * traversals need.
 *
 * Index 0 is the root and numbers go level by level, so a parent's number is below its children's
 * and the children of i are the numbers child_off[i] .. child_off[i+1]-1. An in-tree (elimination
 * trees) is stored the same way, upside down: whatever holds for an order from the root down holds,
 * with the same memory, for the reversed order from the leaves up. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"

struct tree {
    uint32_t n;
    bool in;             /* the root is the last task, not the first */
    uint32_t *task;      /* number -> task */
    uint32_t *number;    /* task -> number */
    uint32_t *parent;    /* NONE for the root */
    uint32_t *child_off; /* n + 1 */
    double *work, *memory;
    double *file; /* bytes between a task and its parent; the root's: its own input (out) or final
                     output (in) */
};

/* NULL with an error (bad input) when the workflow is not one connected tree. */
struct tree *tree_new(const struct workflow *w, struct error *err);
void tree_free(struct tree *t);

/* req(i): what executing i alone needs: its file, its memory, its children's files. D_max is the
 * largest. */
double tree_need(const struct tree *t, uint32_t i);
double tree_largest_need(const struct tree *t);

/* ---- least memory ---- */

/* Room for the computation, reusable for any number of parts of one tree. */
struct tree_memory;
struct tree_memory *tree_memory_new(const struct tree *t);
void tree_memory_free(struct tree_memory *m);

/* How files to children outside the part count: while their producer executes (strict), or not at
 * all (as the published programs). */
enum tree_count { TREE_STRICT, TREE_LENIENT };

/* The least peak memory of a traversal of the part rooted in `root`: root and its descendants down
 * to, but without, numbers whose cut[] is set (cut may be NULL: the whole subtree; the root's own
 * mark does not matter). Liu's exact algorithm by hill-valley segments. If `order` is not NULL it
 * receives the numbers of a traversal that reaches it, root first (leaves first for in-trees), and
 * *count their number. */
double tree_least_memory(struct tree_memory *m, uint32_t root, const uint8_t *cut,
                         enum tree_count counting, uint32_t *order, uint32_t *count);
/* The same for the best postorder (a subtree is finished before its sibling begins): never less,
 * simpler to follow. */
double tree_best_postorder(struct tree_memory *m, uint32_t root, const uint8_t *cut,
                           enum tree_count counting, uint32_t *order, uint32_t *count);
/* The peak of a given traversal of a part (numbers, root first even for in-trees). NAN when it is
 * not one. */
double tree_peak_of_order(const struct tree *t, const uint32_t *order, uint32_t count,
                          enum tree_count counting);
