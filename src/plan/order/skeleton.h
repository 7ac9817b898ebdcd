/* The skeleton of a workflow: its dag without repeated arcs and shortcuts, cut into phases, and
 * parsed into blocks.
 *
 * Phases: where every nonsink of one part precedes every nonsink of the next (a series cut), orders
 * of the parts are independent, so the dag has an IC-optimal order iff every phase has, and the
 * AREAs add up. A node belongs as a head to the phase of its latest parent; arcs from earlier
 * phases are satisfied by then and dropped.
 *
 * Blocks: arcs with a common tail or a common head are in one block. Where that relation makes a
 * block depend on itself (the dag does not parse into bipartite blocks), the blocks of such a cycle
 * are merged into one that is not bipartite. Everything is linear in tasks and arcs, but for the
 * search of shortcuts, which has a budget. */
#pragma once
#include "plan/order/piece.h"

struct skeleton {
    uint32_t n, nonsinks, sources;
    const uint32_t *topo; /* the workflow's */
    uint32_t *place;      /* of a task in topo */
    size_t shortcuts,
        undecided; /* removed; not examined within the budget (kept: harmless, only coarser) */
    uint32_t *child_off, *child, *parent_off, *parent; /* what is left */

    uint32_t nphases;
    uint32_t *phase;                  /* of a nonsink; NONE for sinks */
    uint32_t *phase_off, *phase_task; /* nonsinks by phase, in topological order */

    uint32_t nblocks;                  /* numbered by phase, then by first tail */
    uint32_t *tail_block, *head_block; /* NONE: neither tail nor head */
    uint32_t *tail_off,
        *tail; /* per block, in topological order; solved blocks: in schedule order */
    uint32_t *head_off, *head; /* per block, in topological order */
    uint32_t *phase_block;     /* nphases + 1: first block of a phase */
    bool *merged;              /* the block is not bipartite */
    uint32_t nmerged;
};

/* `budget`: arc visits of the search for shortcuts; 0: no limit. */
struct skeleton *skeleton_new(const struct workflow *w, bool use_phases, uint64_t budget);
void skeleton_free(struct skeleton *s);

/* ---- steps of skeleton_new() ---- */
void skeleton_drop_arcs(struct skeleton *s, const bool *marked); /* by index into child */
void skeleton_remove_shortcuts(struct skeleton *s, uint64_t budget);

/* The piece of these tails (all of a block, or all of a phase); local tail i is tails[i], which
 * must be in topological order. `heads` are its heads in topological order. `local` is scratch of n
 * entries. */
struct order_piece *skeleton_piece(const struct skeleton *s, const uint32_t *tails, uint32_t ntails,
                                   const uint32_t *heads, uint32_t nheads, uint32_t *local);
struct order_piece *skeleton_phase_piece(const struct skeleton *s, uint32_t phase, uint32_t *local);
