/* Options that `weft sim --schedulers` and `weft bound` share: which graph, on which cluster. */
#pragma once
#include "cli/cli.h"
#include "sim/bound.h"
#include "sim/schedulers.h"

struct cluster_settings {
    struct workflow *workflow; /* owned; NULL: a benchmark DAG */
    struct workload dag;
    struct schedulers_config config; /* points at `dag`: do not move */
    struct bound_config bound;
    char name[128]; /* of the graph, for people */
};

/* --dag NAME or a workflow as operand, --schedulers, --cores, --submit, --set, --seed. */
bool cluster_settings_read(struct cluster_settings *s, const struct arguments *a,
                           struct error *err);
void cluster_settings_free(struct cluster_settings *s);
