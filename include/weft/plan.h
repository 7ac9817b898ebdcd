/* libweft: plans. Who runs what, where and when; planners that make them, and the one checker that
 * judges them. Part of <weft/weft.h>. */
#ifndef WEFT_PLAN_H
#define WEFT_PLAN_H
#include "weft/platform.h"
#include "weft/weft.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_plan;

struct weft_plan_options {
    size_t size;
    const char *const *options; /* of the planner, "name=value", ends with NULL; NULL: none */
    uint64_t seed;              /* of everything random */
    bool explain;               /* planners that can say why say so in the plan's notes */
    /* How far it is, 0..1 (negative: unknown), a few times a second, on the calling thread or
     * another. False: stop early, with the best plan so far where there is one. May be NULL. */
    bool (*progress)(void *context, double fraction, const char *what);
    void *context;
};
#define WEFT_PLAN_INIT                                                                             \
    {                                                                                              \
        sizeof(struct weft_plan_options), NULL, 1, false, NULL, NULL                               \
    }

/* Plan as `weft plan` does. `planner` NULL or "auto": what suits the workflow. The plan passed the
 * checker. It keeps the workflow and the platform, which may be freed before it. */
struct weft_plan *weft_plan_make(const struct weft_workflow *w, const struct weft_platform *p,
                                 const char *planner, const struct weft_plan_options *options,
                                 struct weft_error *error);
/* A plan file that was made for this workflow and platform. */
struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                 const struct weft_platform *p, struct weft_error *error);
bool weft_plan_write(const struct weft_plan *plan, const char *path, struct weft_error *error);
void weft_plan_free(struct weft_plan *plan);
/* NAN when the plan has no objective of that name ("makespan", "lower_bound", ...). */
double weft_plan_objective(const struct weft_plan *plan, const char *name);

/* One copy of a task: it holds the cores `core` to `core` + its cores - 1 of its node. */
struct weft_placement {
    uint32_t task, copy, node, core;
    double start, finish; /* seconds */
};
/* The placements in order of their start; valid as long as the plan. Returns how many. */
size_t weft_plan_placements(const struct weft_plan *plan, const struct weft_placement **placements);

/* Judge a plan by the rules of `weft check`: the number of violations, 0 for a valid plan. The
 * first is described in `error`. */
size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
