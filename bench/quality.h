/* What the two halves of bench_quality share: quality.c (optima, a public library, large graphs) and
 * best_known.c (the table of best known plans, and what small graphs say of the bounds). */
#pragma once
#include "bench/bench.h"
#include "plan/planner.h"
#include <inttypes.h>

/* Generated graphs where nothing is proven. */
struct quality_size {
    uint32_t tasks, nodes, width;
    double ccr;
};
extern const struct quality_size quality_sizes[];
extern const size_t quality_nsizes;

/* Layers of `width` tasks, each with 1 to 5 edges from the layers above. */
struct workflow *quality_layered(uint32_t tasks, uint32_t width, double ccr, struct rng *rng);
/* Nodes of one core, bandwidth 1; with `rng` of speeds from 1 to `fastest`. */
struct platform *quality_nodes(uint32_t count, double fastest, struct rng *rng);
/* The bound for plans with one copy of each task, without any search. */
double quality_bound(const struct workflow *w, const struct platform *p);

/* Plan the graphs of the page at `path` again and say which best known plans are beaten. */
int quality_table(const char *path, const char *shared, const char *moves, bool write);
void quality_evidence(void);
