/* The metadata of every task in memory, column by column, and what each operation does to it. About
 * 50 bytes a task; edges cost nothing, since the graph is the workflow's. */
#pragma once
#include "base/array.h"
#include "model/metadata.h"
#include "model/workflow.h"
#include "store/graph.h"
#include <stdbool.h>

struct store_table_link {
    uint32_t node, before; /* before: the link before this one, or NONE */
};

struct store_table_node {
    uint32_t life;
    bool fenced;
};

struct store_table {
    const struct workflow *workflow; /* NULL: `graph` it is */
    const struct store_graph *graph;
    uint32_t ntasks, nobjects;
    uint32_t task_room, object_room; /* entries that the columns have room for; 0: just as many */
    uint32_t done, failed, removed, skipped, excused; /* tasks that have ended so */
    uint8_t *status;
    uint16_t *attempts;
    uint32_t *epoch, *holder;
    uint32_t *waiting; /* edges whose producer is not done */
    /* history; NULL over a graph by arithmetic, where it would cost 36 bytes a task */
    uint32_t *first_holder;
    double *submitted, *queued, *started, *ended;
    double *size;        /* of objects; NULL until one differs from the workflow's */
    uint32_t *last_move; /* a task's last entry in `moves`; NULL until a task moves */
    uint32_t *last_copy; /* an object's last entry in `copies`; likewise */
    ARRAY(struct store_table_link) moves;
    ARRAY(struct store_table_link) copies;
    ARRAY(struct store_table_node) nodes; /* those that joined or were fenced */
};

/* Where answers go. One batch of them. */
struct answers {
    ARRAY(struct meta_answer) at;
    ARRAY(struct meta_item) items;
    ARRAY(struct meta_record) records;
    ARRAY(uint32_t) nodes;
    ARRAY(struct digest) digests; /* of some of `nodes`, at the same places */
};

void answers_clear(struct answers *a);
void answers_free(struct answers *a);

void store_table_init(struct store_table *t, const struct workflow *w);
/* The workflow has grown (model/growth.h). O(new), expected. */
void store_table_grow(struct store_table *t);
/* Over a graph by arithmetic, without timestamps and history: 15 bytes a task. */
void store_table_init_graph(struct store_table *t, const struct store_graph *g);
void store_table_free(struct store_table *t);
size_t store_table_bytes(const struct store_table *t);

/* Apply one operation and append its answer (`out` may be NULL: replay). True: the tables changed,
 * so it belongs in the journal. */
bool store_table_apply(struct store_table *t, const struct meta_op *op, struct answers *out);
