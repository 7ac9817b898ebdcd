/* The views, a file each (VIEW.c): what each exports is a row of routes.c. */
#pragma once
#include "ui/request.h"

struct weft_error;

/* workbench.c: workflows of the folder, edited. */
extern const struct ui_route workbench_routes[];
/* database.c: runs on record. */
extern const struct ui_route database_routes[];
void database_look(const struct laboratory *lab);

/* lineage.c: files of runs and where they come from. */
extern const struct ui_route lineage_routes[];

/* plan.c: plans made, judged, compared, simulated. experiments.c: combinations and what they gave. folder.c: files of the
 * folder. */
extern const struct ui_route plan_routes[], experiment_routes[], folder_routes[];

/* run.c, run_graph.c: a run that goes on, or is over. */
extern const struct ui_route run_routes[], run_graph_routes[];

/* cluster.c: agents and runs of a cluster. */
extern const struct ui_route cluster_routes[];
void cluster_look(const struct laboratory *lab);

/* The library's error, with the status of HTTP that fits. */
void reply_error(struct reply *out, const struct weft_error *error);
