/* The elimination tree or assembly tree of a sparse symmetric pattern, as a workflow. The one user
 * of SuiteSparse.
 *
 * Costs are those of the multifrontal method, in the form of the published tree collections of
 * HomPart and HetPart. A task eliminates eta columns (1 in an elimination tree); mu is the column
 * count of the last of them, its diagonal included, so that its front has order eta + mu - 1 and
 * leaves a contribution block of order mu - 1 to its parent:
 *
 *     memory of the task   8 (eta^2 + 2 eta (mu - 1)) bytes: the front without the
 *                          contribution block
 *     size of its edge     8 (mu - 1)^2 bytes: the contribution block
 *     work                 2/3 eta^3 + eta^2 (mu - 1) + eta (mu - 1)^2 operations
 *
 * (the published files count 8-byte numbers and thousands of operations). Edges go from child to
 * parent. A task is named by the matrix's own number (from 1) of the first column that it
 * eliminates, and tasks are numbered in elimination order, a postorder. When the matrix falls into
 * several pieces, a task "root" without work follows all their roots, so that the result is one
 * tree. */
#pragma once
#include "base/error.h"
#include "model/builder.h"

/* A stored entry off the diagonal, counted from 0; in any order, repeated or given from both sides.
 */
struct etree_entry {
    uint32_t row, column;
};

struct etree_options {
    int ordering; /* index into etree_ordering_names */
    bool assembly;
    bool relax;
};

extern const char *const etree_ordering_names[]; /* "amd", "metis", "nesdis", "natural", NULL */

/* Add the tree's tasks and edges to the builder. `file` is for messages. Memory and time as
 * CHOLMOD's symbolic analysis. */
bool etree_build(struct builder *b, size_t order, const struct etree_entry *entries, size_t count,
                 const struct etree_options *options, const char *file, struct error *err);
