/* Which files of a part are written to its node's disk when memory has no room for them: the least volume
 * (MinIO; Jacquelin, Marchal, Robert, Ucar 2011, "On optimal tree traversals for sparse matrix factorization").
 *
 * A file waits in memory between the two tasks that make and read it. One that is written out waits on the disk, and
 * takes memory only while one of these two runs. For an order of the tasks, the files that are written out must
 * leave every task enough room:
 *
 *     order     1   2   3   4   5        a file is an interval; at each task those that wait, without the ones that
 *     files     ├───────────┤            are written out, and what the task needs itself are at most the memory
 *                   ├───────────┤
 *                       ├───┤            the least sum of sizes for the best order is wanted
 */
#pragma once
#include "base/array.h"
#include "model/tree.h"

struct evict_part {
    const struct tree *t;
    uint32_t root;      /* of the part */
    const uint8_t *cut; /* number -> is the root of a part */
    enum tree_count counting;
    double memory; /* of its node */
};

struct evict_result {
    double
        volume; /* bytes written, and read again; INFINITY: a task alone needs more than the memory */
    bool proven;            /* no order and no choice of files has less */
    uint32_t *order, count; /* numbers, as they run */
    uint8_t *out;           /* number -> the file between it and its parent is written out */
    const char *rule;       /* by which it was found */
};

/* Up to EVICT_EXACT tasks exactly; else the best of the published rules (LSNF, first fit, best fit, first fill,
 * best fill, best K combination) on orders that need little memory, less what turns out not to be needed.
 * O(tasks x files that wait) a rule. */
enum { EVICT_EXACT = 10 };
void evict_part(const struct evict_part *part, struct tree_memory *room, struct evict_result *out);
void evict_result_free(struct evict_result *r);

/* One rule on one order, for tests and tables; returns the volume. `out` (a flag a number) is overwritten. */
enum evict_rule {
    EVICT_LSNF,
    EVICT_FIRST_FIT,
    EVICT_BEST_FIT,
    EVICT_FIRST_FILL,
    EVICT_BEST_FILL,
    EVICT_BEST_K,
    EVICT_RULES
};
extern const char *const evict_rule_names[EVICT_RULES];
double evict_by_rule(const struct evict_part *part, const uint32_t *order, uint32_t count,
                     enum evict_rule rule, uint8_t *out);
