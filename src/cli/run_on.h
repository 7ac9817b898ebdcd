/* `weft run --on`: the same run on agents, those of a cluster or some of its own. */
#pragma once
#include "cli/cluster_session.h"

#define RUN_ON_OPTIONS                                                                             \
    {"on", 0, "WHERE",                                                                             \
     "run on agents: local:N, ssh:HOST,HOST..., slurm, or cluster (at --store)"},                  \
        {"nodes", 0, "N",                                                                          \
         "slurm: at most so many nodes (default 1), asked for as tasks get ready"},                \
        OPTION_STORE, OPTION_KEY, CLUSTER_WORK_OPTIONS

/* The options that belong to --on, and are nonsense without it. */
bool run_on_check(const struct arguments *a, struct error *err);
/* An open session, marked as elsewhere. */
int run_on(struct session *s, const char *where);
