/* A DOT file as nodes and edges with the attributes that weft understands. Nothing here knows about
 * workflows but for the names of columns. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/column_list.h"
#include <stdbool.h>
#include <stdint.h>

/* Where each tool puts what: daggen and SimGrid `size` and `alpha`, SimGrid `category`, Sinnen
 * `Weight`, "Start time", Processor, OneStopParallel `work_weight`, `comm_weight`, `mem_weight`,
 * `type`; Snakemake and Nextflow label, shape, style, xlabel; the rest is weft's own. Names are
 * case-sensitive: Graphviz' own edge attribute `weight` is for layout, not data. */
enum dot_attribute {
    DOT_WORK,
    DOT_MEMORY,
    DOT_CORES,
    DOT_KIND,
    DOT_COMMAND,
    DOT_CALL,
    DOT_SHELL,
    DOT_NEEDS,
    DOT_RESOURCES,
    DOT_RUNGS,
    DOT_INPUTS,
    DOT_OUTPUTS,
    DOT_TEMPORARY_OUTPUTS,
    DOT_IN_ORDER,
    DOT_OUT_ORDER,
    DOT_TEMPORARY, /* of an edge's object */
    DOT_NAME,      /* weft_name: the task's name where the id cannot be it */
    DOT_OBJECT,
    DOT_SIZE,
    DOT_ALPHA,
    DOT_CATEGORY,
    DOT_WEIGHT,
    DOT_START,
    DOT_PROCESSOR,
    DOT_WORK_WEIGHT,
    DOT_COMM_WEIGHT,
    DOT_MEM_WEIGHT,
    DOT_TYPE,
    DOT_LABEL,
    DOT_XLABEL,
    DOT_SHAPE,
    DOT_STYLE,
    DOT_PROCESSORS, /* graph: "Number of processors" */
    DOT_LENGTH,     /* graph: "Total schedule length" */
/* DOT_env, DOT_pass ...: texts */
#define DOT_TEXT(name) DOT_##name,
    TASK_TEXTS(DOT_TEXT)
#undef DOT_TEXT
/* DOT_timeout, DOT_replicable ...: the columns that need no code of their own (column_list.h) */
#define DOT_COLUMN(name, ...) DOT_##name,
        TASK_KEYS(COLUMN_SKIP, DOT_COLUMN, DOT_COLUMN)
#undef DOT_COLUMN
            DOT_ATTRIBUTES,
};

struct dot_value {
    const char *text; /* NULL: not given; not NUL-terminated */
    uint32_t len, line;
};

struct dot_setting {
    uint32_t attribute, node; /* node: of a node's setting only */
    struct dot_value value;
};

struct dot_edge {
    uint32_t from, to, line;
    uint32_t first, count; /* its settings in edge_settings; of equal attributes the last counts */
};

struct dot_graph {
    bool strict;
    struct dot_value name; /* text NULL: none */
    struct intern ids;     /* nodes in order of first mention */
    ARRAY(uint32_t) node_line;
    ARRAY(struct dot_setting)
    node_settings; /* in file order; dot_group_settings() sorts them by node */
    ARRAY(struct dot_edge) edges;
    ARRAY(struct dot_setting) edge_settings;
    struct dot_value attribute[DOT_ATTRIBUTES]; /* of the graph */
    bool more;                                  /* something follows the graph */
};

/* Parse the first graph of a text, which is changed and must outlive the result. On false nothing
 * needs freeing. */
bool dot_parse(struct dot_graph *g, const char *file, char *text, size_t length, struct error *err);
void dot_graph_free(struct dot_graph *g);

/* Sort the nodes' settings by node (stable). offset[] gets one entry a node and one more; the
 * caller frees it. */
uint32_t *dot_group_settings(struct dot_graph *g);
