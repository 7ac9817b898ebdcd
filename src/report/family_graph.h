/* The graph by family, laid out, for the page's canvas. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"
#include "report/kinds.h"

enum {
    FAMILY_GRAPH_MOST = 1500
}; /* families; a graph in which all tasks differ is told as too large */

/* {"width", "height", "boxes": [{"name", "tasks", "first", "colour", "x", "y", "width", "height", "states": [n...]}],
 * "lines": [[x, y, x, y]...]}: boxes by their middle; `state` is one of `states` numbers per task. "boxes" is empty where there
 * are too many. */
void family_graph_json(const struct workflow *w, const struct kinds *kinds, const uint8_t *state,
                       unsigned states, struct strbuf *out);
