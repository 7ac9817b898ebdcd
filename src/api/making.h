/* Planning as every app does it: the caller's options as a planner wants them, with everything
 * wired that flows left (the replayer of streams). */
#pragma once
#include "api/api.h"
#include "plan/planner.h"

/* A saturated stream of 1,000 items through the simulator. */
extern const struct replayer api_replayer;

/* Do not move: the request points into it. making_end() in any case. */
struct making {
    struct weft_plan_options options;
    struct api_pairs pairs;
    struct progress progress;
    struct plan_request request;
};
bool making_begin(struct making *m, const struct weft_workflow *w, const struct weft_platform *p,
                  const struct weft_plan_options *options, struct error *err);
void making_end(struct making *m);
/* A checked plan by the planner of that name, NULL: by planner_choose(). */
struct plan *making_run(struct making *m, const char *name, struct error *err);
