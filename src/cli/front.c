/* `weft plan --front`: every trade-off of latency, throughput and processors that the planner finds. */
#include "cli/front.h"
#include "api/inside.h"
#include "base/mem.h"
#include "report/front_view.h"

#include <stdlib.h>

enum { FRONT_POINTS = 65 }; /* throughputs that are planned for: steps of 1/64 of the most */

static int front_show(const struct arguments *a, struct weft_plan **found, size_t n)
{
    const struct plan **plans = mem_new(const struct plan *, n + 1);
    const char *picture = arguments_value(a, "gantt");
    struct error err = {0};
    struct strbuf out = {0};
    for (size_t i = 0; i < n; i++)
        plans[i] = inside_plan(found[i]);
    bool good = true;
    if (picture) {
        front_view_draw(plans, n, &out);
        good = cli_write_text(picture, &out, &err);
        strbuf_clear(&out);
    }
    if (arguments_flag(a, "json"))
        front_view_json(plans, n, &out);
    else
        front_view(plans, n, cli_colour(), &out);
    int status = good ? cli_print(&out) : cli_fail(&err);
    strbuf_free(&out);
    free(plans);
    return status;
}

int front_run(const struct arguments *a, const struct weft_problem *problem,
              const char *const *settings, uint64_t seed)
{
    struct weft_error error;
    struct weft_plan_options o = WEFT_PLAN_INIT;
    const char *with = arguments_value(a, "with");
    size_t n;
    if (!with) /* what is asked for says which planner it takes */
        with = arguments_value(a, "assert") || arguments_value(a, "assert-file") ? "constraints"
                                                                                 : "stream";
    o.options = settings;
    o.seed = seed;
    o.progress = cli_progress_of(a, "front");
    struct weft_plan **found =
        weft_plan_front(problem->workflow, problem->platform, with, FRONT_POINTS, &o, &n, &error);
    cli_progress_done();
    int status = found ? front_show(a, found, n) : cli_failed(&error);
    weft_plans_free(found, n);
    return status;
}
