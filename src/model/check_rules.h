/* Shared by the files of the checker; private to it. */
#pragma once
#include "model/check.h"
#include "model/costs.h"

struct check {
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p;
    struct check_result *result;
    double tolerance; /* absolute, from the plan's makespan */
    bool first;       /* one violation is enough */
};

/* Note a violation; `task` may be NONE. */
void check_say(struct check *c, enum violation_kind kind, uint32_t task, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Compare what the plan claims with what was recomputed, and keep the recomputed value. A plan that
 * claims nothing is fine. */
void check_objective(struct check *c, const char *name, double recomputed);

/* One rule alone, of a static plan; false: broken, with the first violation as the error. */
bool check_one_rule(const struct plan *plan, const struct workflow *w, const struct platform *p,
                    void (*rule)(struct check *), struct error *err);

void check_static(struct check *c);  /* check_static.c */
void check_memory(struct check *c);  /* check_memory.c */
void check_things(struct check *c);  /* check_things.c */
void check_network(struct check *c); /* check_network.c: transfers and ports */
/* Part i of a tree with its files on disk: false if it has none. Else its order is carried out, what is in
 * memory is compared with the node's, and *written is what goes to disk. */
struct tree;
bool check_part_evictions(struct check *c, const struct tree *t, uint32_t i, bool strict,
                          double *written);
void check_partition(struct check *c); /* check_partition.c */
void check_stream(struct check *c);    /* check_stream.c */
struct stream_graph;
struct stream_map;
/* check_schedule.c: of a plan whose clusters are sound */
void check_stream_schedule(struct check *c, const struct stream_graph *g,
                           const struct stream_map *map);
void check_order(struct check *c); /* check_shapes.c */
