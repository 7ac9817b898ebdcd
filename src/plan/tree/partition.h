/* A partition of a tree and its mapping: the quotient tree, changed one cut at a time.
 *
 * A piece is a subtree of the task tree down to the next cuts; pieces are slots 0 .. slots-1 (dead
 * ones have root NONE), slot 0 holds the root of the tree for ever. Each knows its parent and
 * children in the quotient tree, its work, and
 *
 *     below  = the longest (transfer + length) among its children
 *     length = work / speed + below
 *              so MS(i) of equation (1) is the transfer to i + length(i)
 *
 * which are kept right by climbing from the change towards the root, stopping where nothing
 * changes: a change costs the children of the pieces on that path, never the tasks. Work comes from
 * sums over whole subtrees, memory is computed only when asked for. */
#pragma once
#include "plan/tree/setting.h"

struct tree_piece {
    uint32_t root; /* number in the tree; NONE: a dead slot */
    uint32_t proc; /* NONE: not mapped */
    uint32_t parent, first, next, prev;
    uint32_t stamp; /* changes whenever the tasks in it change */
    double work, below, length;
    double memory;   /* least memory; NAN: not computed yet */
    bool stale_work; /* its tasks changed since work was summed */
    double most;     /* an upper bound on it: of the whole subtree, or of a piece it was cut from */
};

enum { PARTITION_STALE = 24 };

struct partition {
    const struct tree_setting *s;
    const double *speed; /* s->speed or s->equal */
    struct tree_piece *at;
    uint32_t slots, capacity, live, unused; /* unused: dead slots through next */
    uint32_t *holder;                       /* processor -> piece, NONE: idle */
    uint32_t idle;
    uint8_t *cut;      /* number -> is a piece's root */
    uint32_t *slot_of; /* number -> piece whose root it is (where cut) */
    struct hill_room *room;
    uint32_t *cuts, cuts_capacity; /* roots handed to hills_piece() */
    uint32_t stamps;
    struct remembered *memories; /* least memories of pieces seen before, by root and children; a
                                    fixed table, collisions replace */
    bool deferred; /* between partition_defer() and partition_settle(): lengths are out of date */
    uint32_t stale[PARTITION_STALE], nstale;
    uint64_t effort; /* tasks looked at for memory so far: what a search counts as its cost */
};

/* One piece, not mapped. With `equal`, processors count as equally fast. */
struct partition *partition_new(const struct tree_setting *s, bool equal);
void partition_free(struct partition *p);
/* Back to one piece. */
void partition_clear(struct partition *p);
void partition_use_speeds(struct partition *p, bool equal);

double partition_makespan(const struct partition *p);
/* Bring lengths up to date from piece i to the root. */
void partition_refresh(struct partition *p, uint32_t i);
/* Several changes, one climb: from here on lengths wait until partition_settle(). */
void partition_defer(struct partition *p);
void partition_settle(struct partition *p);
/* All lengths from scratch. O(pieces log pieces). */
void partition_refresh_all(struct partition *p);

/* The piece that holds task x. O(depth within the piece). */
uint32_t partition_piece_of(const struct partition *p, uint32_t x);
/* Cut task x (not a root of a piece yet) off the piece `from` that holds it: a new unmapped piece.
 */
uint32_t partition_cut(struct partition *p, uint32_t from, uint32_t x);
/* Cut `count` tasks, none below another, off piece `from` at once: the new pieces into
 * slots[count]. O((count + children) log count); the tasks are put in preorder. */
void partition_cut_all(struct partition *p, uint32_t from, uint32_t *tasks, size_t count,
                       uint32_t *slots);
/* Give piece i (not 0) back to its parent; its processor becomes idle. */
void partition_merge(struct partition *p, uint32_t i);
/* Map piece i to a processor that is idle (or NONE: take it away). */
void partition_map(struct partition *p, uint32_t i, uint32_t proc);
/* Exchange two processors, either of which may be idle. */
void partition_swap(struct partition *p, uint32_t a, uint32_t b);

/* The least memory of piece i. O(tasks in it) the first time after a change. */
double partition_memory(struct partition *p, uint32_t i);
/* For hills_piece(): the k-th cut of a piece that is only being thought of. */
void partition_note_cut(struct partition *p, uint32_t k, uint32_t root);
/* Does it fit into `limit`? Often without computing the memory. */
bool partition_fits(struct partition *p, uint32_t i, double limit);
/* The smallest idle processor that holds piece i; NONE. */
uint32_t partition_smallest_fit(struct partition *p, uint32_t i);
/* Every piece mapped? */
bool partition_mapped(const struct partition *p);

/* Pieces with parents before children, slot 0 first: out[live]. */
void partition_order(const struct partition *p, uint32_t *out);
/* Seconds from the start until piece i's own work can begin, for all slots: out[slots]. `order` as
 * above. */
void partition_starts(const struct partition *p, const uint32_t *order, double *out);
/* The critical path from the root down: from a piece always to the child that makes its `below`;
 * ties: the smaller root. Returns its length. */
uint32_t partition_critical(const struct partition *p, uint32_t *out);

/* ---- what is kept of a partition ---- */
struct snapshot {
    uint32_t n, capacity;
    uint32_t *root, *proc;
    double makespan;
};

void snapshot_store(struct snapshot *out, const struct partition *p);
void snapshot_load(struct partition *p, const struct snapshot *in);
void snapshot_copy(struct snapshot *out, const struct snapshot *in);
void snapshot_free(struct snapshot *s);
/* Keep what the partition is now among the `most` best of out[*found], the shortest first, unless one
 * has the same makespan. */
void snapshot_keep(const struct partition *p, struct snapshot *out, uint32_t *found, uint32_t most);

static inline double piece_seconds(const struct partition *p, const struct tree_piece *piece)
{
    return piece->work / (piece->proc == NONE ? p->s->mean_speed : p->speed[piece->proc]);
}
/* Transfer to piece i from its parent. */
static inline double piece_transfer(const struct partition *p, uint32_t i)
{
    const struct tree_piece *piece = &p->at[i];
    if (piece->parent == NONE)
        return p->s->root_transfer;
    return setting_transfer(p->s, p->at[piece->parent].proc, piece->proc, piece->root);
}
