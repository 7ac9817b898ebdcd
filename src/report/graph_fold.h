/* Wide fans folded: 500 tasks of one kind side by side tell no more than one box that says how many they are.
 * Tasks of one kind on one level become a box when there are at least FOLD_LEAST of them; everything else
 * stays as it is. Levels rise along every edge, so that folding makes no cycle. */
#pragma once
#include "model/workflow.h"
#include "report/graph_svg.h"

enum { FOLD_LEAST = 8 };

struct graph_fold {
    struct workflow *drawn;  /* a task a box; what goes along an edge is the number of pairs */
    uint32_t *of;            /* per task: its box */
    uint32_t *count, *first; /* per box: its tasks, and the first of them */
    char **label;            /* per box: "count × 118"; of a single task its name */
};

/* False: nothing is gained (fewer than a third of the tasks would go), and there is nothing to free. O(tasks log
 * tasks + edges). */
bool graph_fold(struct graph_fold *f, const struct workflow *w);
void graph_fold_free(struct graph_fold *f);

/* Draw the boxes as report_graph_svg() draws tasks, with the options of the whole graph. `subtitle` is of the
 * whole graph, too. */
void graph_fold_svg(const struct graph_fold *f, const struct workflow *w, struct strbuf *out,
                    const struct graph_svg_options *options, const char *subtitle);
