/* A tree to be partitioned and the processors for it: everything that stays fixed while partitions
 * change.
 *
 * Processors are the platform's nodes that are up, by decreasing memory, then decreasing speed,
 * then index: the largest comes first, and the smallest that fits is found from the end. */
#pragma once
#include "base/error.h"
#include "model/platform.h"
#include "model/tree.h"
#include "plan/tree/hills.h"

struct tree_setting {
    const struct tree *t;
    const struct platform *platform;
    enum tree_count counting;

    uint32_t nprocs;
    uint32_t *node; /* processor -> node of the platform */
    double *speed;  /* as the platform says */
    double *equal;  /* every processor at the mean speed: what HomPart and HetPart1 plan with. The
                       harmonic mean:  the mean time of a unit of work (1 in Table 2 of the paper,
                       which says "normalized to 1") */
    double *memory;
    double mean_speed; /* for parts that have no processor yet */
    double top_speed, all_speeds;

    bool uniform;             /* all links alike */
    double latency, per_byte; /* of every link, or their means */
    double root_transfer;     /* what the root's own file costs, as equation (1) counts it */

    /* per number of the tree */
    uint32_t *enter, *leave; /* preorder: the subtree of x is enter[x] .. leave[x]-1 */
    double *work;            /* of the whole subtree */
    double *least; /* least memory of the whole subtree: of any part with this root at most */
    struct hills *hills;
    double *need; /* of the task alone, by the way of counting (lenient: without its children's
                     files) */
};

/* Borrow `t` and `platform`. Error: no node is up. O(n + p log p) plus one least-memory pass. */
struct tree_setting *setting_new(const struct tree *t, const struct platform *platform,
                                 enum tree_count counting, struct error *err);
/* Only processors with at least `limit` bytes, each counted as having exactly `limit` (HomPart's
 * scenarios). */
void setting_restrict(struct tree_setting *s, double limit);
/* Only the processors with their flag set (one at least), and the mean of the links among them. */
void setting_keep(struct tree_setting *s, const uint8_t *keep);
void setting_free(struct tree_setting *s);

static inline bool setting_inside(const struct tree_setting *s, uint32_t x, uint32_t root)
{
    return s->enter[x] >= s->enter[root] && s->enter[x] < s->leave[root];
}
/* Seconds for the file of x from processor a to b; either may be NONE. */
static inline double setting_transfer(const struct tree_setting *s, uint32_t a, uint32_t b,
                                      uint32_t x)
{
    if (s->uniform || a == NONE || b == NONE)
        return s->latency + s->t->file[x] * s->per_byte;
    return platform_transfer(s->platform, s->node[a], s->node[b], s->t->file[x]);
}
