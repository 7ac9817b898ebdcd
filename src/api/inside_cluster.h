/* A cluster's status as the command line and the page show it. */
#pragma once
#include "weft/run.h"
#include <stddef.h>
#include <stdint.h>

struct json_writer;

/* Words of docs/formats/results.md, not for people's eyes alone. */
const char *cluster_agent_state_name(enum weft_agent_state state);
const char *cluster_run_state_name(enum weft_cluster_run_state state);
/* The whole object, schema weft-status/1. `store`: its address, without its password. */
void cluster_status_json(const struct weft_cluster_status *s, const char *store,
                         struct json_writer *j);
/* Runs that go on on a cluster of which a note stands in this folder (weft_cluster_options.run), in no order; the caller frees. */
uint64_t *cluster_noted_runs(const char *folder, size_t *n);
