/* A layered layout (Sugiyama's): levels, crossings, coordinates.
 *
 * Nodes are the tasks 0 .. ntasks-1, then bends: points where an edge passes a layer that it does
 * not end in. All long edges of a task share one chain of bends, from which they branch off. Levels
 * by longest path; sources move down to their first consumer. Crossings by barycentre sweeps and
 * neighbour exchanges from a depth-first order, the best found is kept. Coordinates by least
 * squares towards the neighbours under the order and the distances (isotonic regression a layer),
 * so that chains become straight and parents stand over the middle of their children.
 * Deterministic; about 40 passes over nodes and segments. */
#pragma once
#include "base/array.h"
#include "model/workflow.h"

enum {
    LAYOUT_BENDS = 60000
}; /* at most; past it, the longest edges get none and are drawn straight */

struct layout_segment {
    uint32_t from, to; /* nodes in neighbouring layers */
};

struct layout {
    const struct workflow *workflow;
    uint32_t nnodes, nlayers;
    uint32_t depth;      /* tasks on the longest chain */
    uint32_t alone;      /* first of the layers below the others, with the tasks without edges */
    uint32_t *layer;     /* per node */
    uint32_t *at;        /* nodes by layer, in order from left to right */
    uint32_t *layer_off; /* nlayers + 1 */
    uint32_t *place;     /* of each node in its layer */
    uint32_t
        *chain; /* per task: its first bend; its bends are consecutive, one a layer downwards */
    uint32_t *chain_length;
    uint32_t longest; /* edges over more layers have no bends */
    double *x;        /* middle of each node */
    double width;
    ARRAY(struct layout_segment) segments;
};

/* Levels and order. The workflow must outlive the layout. */
void layout_new(struct layout *l, const struct workflow *w);
void layout_free(struct layout *l);
/* Coordinates: `width` per task, `gap` between tasks, `bend_gap` around bends. Leftmost edge at 0,
 * rightmost at l->width. */
void layout_place(struct layout *l, const double *width, double gap, double bend_gap);
/* Crossings of segments in the present order. */
uint64_t layout_crossings(const struct layout *l);
