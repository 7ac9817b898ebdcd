/* A connection to the cluster that --store, --key and -C name, for commands that look at one. */
#pragma once
#include "cli/cli.h"
#include "weft/run.h"

/* `run`: whose note in .weft/cluster may say where it is; 0: none. NULL: an error. */
struct weft_cluster *cluster_view_open(const struct arguments *a, uint64_t run,
                                       struct weft_error *error);
