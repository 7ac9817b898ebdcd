/* Graph algorithms over a frozen workflow. All linear unless said otherwise; none recurses. */
#pragma once
#include "model/costs.h"
#include "model/workflow.h"

/* depth[t] = tasks on the longest chain ending in t (sources: 1). Returns the largest, 0 for an
 * empty graph. */
uint32_t graph_depths(const struct workflow *w, uint32_t *depth);

/* Bottom level: task_weight[t] + the heaviest way from t's end to a sink, edges weighing object
 * size x seconds_per_byte + latency (ordering edges nothing). Any weight array may be NULL: work is
 * used. */
void graph_bottom_levels(const struct workflow *w, const double *task_weight, double latency,
                         double seconds_per_byte, double *bottom);
/* Top level: the heaviest way from a source to t's start. */
void graph_top_levels(const struct workflow *w, const double *task_weight, double latency,
                      double seconds_per_byte, double *top);
/* Heaviest chain by task weight (NULL: work) alone, edges free. Fills `path` (ntasks entries) if
 * not NULL. */
double graph_critical_path(const struct workflow *w, const double *task_weight, uint32_t *path,
                           uint32_t *path_length);

/* Can data or order flow from a to b (a != b)? Searches only between them. */
bool graph_reaches(const struct workflow *w, uint32_t from, uint32_t to);
/* All of it: bit `v` of row `u` says u reaches v. ntasks^2 / 8 bytes; the caller frees. */
uint64_t *graph_closure(const struct workflow *w);

/* Transitive reduction: shortcut[e] = true for every edge e (index into succ_*) that another way
 * replaces. Stops after about `budget` edge visits (0: no limit) and returns the number of edges
 * left undecided (kept). */
size_t graph_shortcuts(const struct workflow *w, bool *shortcut, uint64_t budget);

/* Largest set of tasks none of which reaches another. Exact by a minimum chain cover, unless that
 * would take more than `budget` edge visits: then the largest level, a lower bound, and *exact =
 * false. */
uint32_t graph_width(const struct workflow *w, uint64_t budget, bool *exact);

uint32_t graph_components(const struct workflow *w,
                          uint32_t *component); /* component may be NULL */

enum tree_shape { TREE_NOT, TREE_OUT, TREE_IN, TREE_CHAIN };
/* One connected tree: every task but the root has one parent (out) or one child (in). A chain is
 * both. */
enum tree_shape graph_tree_shape(const struct workflow *w);

struct statistics {
    uint32_t tasks, edges, objects, sources, sinks, depth, width, components;
    bool width_exact;
    double work, data, critical_path, ccr, memory;
    enum tree_shape tree;
};
/* ccr = mean edge size / mean task work, each at speed and bandwidth 1; 0 without work or edges.
 * `data` sums each object once. Edges count distinct pairs of tasks. */
void graph_statistics(const struct workflow *w, struct statistics *out);
