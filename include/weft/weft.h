/* libweft: plan, check and look at task graphs from your own program.
 *
 * The handles are opaque; every function that can fail takes a `struct weft_error *` (which may be
 * NULL) and returns NULL or false. Nothing is printed, nothing is global: several threads may work
 * on handles of their own at once, and any number may read one workflow or platform. What a
 * function returns belongs to the caller unless its comment says otherwise. Running out of memory
 * ends the program with a message.
 *
 *     struct weft_error error = {0};
 *     struct weft_workflow *flow = weft_workflow_read("flow.yaml", &error);
 *     struct weft_platform *cluster = weft_platform_read("cluster.yaml", &error);
 *     struct weft_plan *plan = weft_plan_make(flow, cluster, "heft", NULL, 1, &error);
 *     printf("%g\n", weft_plan_objective(plan, "makespan"));
 *
 * Compile with `pkg-config --cflags --libs weft`. Functions may be added; none changes its meaning
 * while WEFT_API stays. */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_API 1

/* The exit statuses of the program, too. */
enum weft_status { WEFT_DONE = 0, WEFT_FAILED = 1, WEFT_BAD_INPUT = 2, WEFT_INFEASIBLE = 3 };

struct weft_error {
    enum weft_status status;
    char text[1536]; /* place, cause, remedy */
};

struct weft_workflow;
struct weft_platform;
struct weft_plan;

const char *weft_version(void);

/* ---- workflows and platforms: any format that `weft formats` lists ---- */
struct weft_workflow *weft_workflow_read(const char *path, struct weft_error *error);
bool weft_workflow_write(const struct weft_workflow *w, const char *path, struct weft_error *error);
void weft_workflow_free(struct weft_workflow *w);
uint32_t weft_workflow_tasks(const struct weft_workflow *w);
uint32_t weft_workflow_edges(const struct weft_workflow *w); /* distinct pairs of tasks */
/* Valid as long as the workflow; tasks count from 0. */
const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task);
uint32_t weft_workflow_find_task(const struct weft_workflow *w,
                                 const char *name); /* UINT32_MAX: none */

struct weft_platform *weft_platform_read(const char *path, struct weft_error *error);
void weft_platform_free(struct weft_platform *p);
uint32_t weft_platform_nodes(const struct weft_platform *p);
const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node);

/* ---- plans ---- */
/* `options` is NULL or a list of "name=value" that ends with NULL. The result passed the checker.
 */
struct weft_plan *weft_plan_make(const struct weft_workflow *w, const struct weft_platform *p,
                                 const char *planner, const char *const *options, uint64_t seed,
                                 struct weft_error *error);
struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                 const struct weft_platform *p, struct weft_error *error);
bool weft_plan_write(const struct weft_plan *plan, const char *path, struct weft_error *error);
void weft_plan_free(struct weft_plan *plan);
/* NAN when the plan has no objective of that name ("makespan", "lower_bound", ...). */
double weft_plan_objective(const struct weft_plan *plan, const char *name);

struct weft_placement {
    uint32_t task, copy, node, core;
    double start, finish;
};
/* The placements in order of their start; valid as long as the plan. */
size_t weft_plan_placements(const struct weft_plan *plan, const struct weft_placement **placements);

/* Judge a plan by the rules of `weft check`: the number of violations, 0 for a valid plan. The
 * first is described in `error`. */
size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
