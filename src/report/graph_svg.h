/* A picture of a workflow.
 *
 * Up to GRAPH_SVG_TASKS tasks (and GRAPH_SVG_EDGES edges) every task is drawn: our own layered
 * layout (levels by longest path, dummy points on long edges, barycentre sweeps, coordinates by
 * alignment with neighbours), because Graphviz takes minutes past a few thousand nodes and drags a
 * graphics stack in. Where names do not fit, wide fans are folded (graph_fold.h). What is still too large
 * becomes a profile: a bar a level (or group of levels), its length the number of tasks, coloured by
 * kind. The output is a few MB at most, and the same for the same workflow. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"
#include "report/kinds.h"

enum { GRAPH_SVG_TASKS = 2500, GRAPH_SVG_EDGES = 12000 };

struct graph_svg_options {
    const char *title;    /* NULL: the workflow's name */
    const char *subtitle; /* NULL: its sizes */
    bool profile;         /* the profile even for a small graph */
    bool no_critical;     /* do not emphasise the critical path */
    bool counts; /* the size of what goes along an edge is a number, written beside it; no legend */
    bool bare;   /* no title and subtitle in the picture: the page around it has them */
    /* For a run: colours by time instead of kind, the path that really happened (npath tasks), and
     * the seconds that each task took (NAN: did not run). Not owned; any may be NULL. */
    const struct kinds *shades;
    const uint32_t *path;
    uint32_t npath;
    const double *seconds;
    uint8_t
        wins; /* of `shades`, plus 1: the colour of a folded box with one such task in it; 0: none */
    /* For folded boxes: what stands in each, and how many tasks it is. */
    const char *const *labels;
    const uint32_t *folded;
};

/* How the graph will be drawn. */
enum graph_svg_manner { GRAPH_SVG_WHOLE, GRAPH_SVG_FOLDED, GRAPH_SVG_PROFILE };
enum graph_svg_manner graph_svg_manner(const struct workflow *w);

/* `options` may be NULL. Appends one whole SVG document to `out`. */
void report_graph_svg(const struct workflow *w, struct strbuf *out,
                      const struct graph_svg_options *options);
