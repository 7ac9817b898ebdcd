/* The trade-offs of latency, throughput and processors: plans for `points` throughputs from 0 to Tmax on all nodes, for half as
 * many on half of the nodes, and so on; of those what no other beats. Costs twice `points` runs of the planner, and a few for each
 * halving. */
#include "plan/stream/stream.h"

#include <stdio.h>

/* On few nodes at least the ends and the middle. */
enum { FEWEST_POINTS = 3 };

/* By rising processors, then rising throughput, then rising latency. */
static int compare_plans(const void *a, const void *b)
{
    static const char *const keys[] = {"processors", "throughput", "latency"};
    const struct plan *x = *(struct plan *const *)a, *y = *(struct plan *const *)b;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double vx = plan_objective(x, keys[i]), vy = plan_objective(y, keys[i]);
        if (vx != vy)
            return vx < vy ? -1 : 1;
    }
    return 0;
}

/* Is `x` as good in all three? */
static bool front_is_as_good(const struct plan *x, const struct plan *y)
{
    return plan_objective(x, "processors") <= plan_objective(y, "processors") &&
           plan_objective(x, "latency") <= plan_objective(y, "latency") * (1 + STREAM_TOLERANCE) &&
           plan_objective(x, "throughput") >=
               plan_objective(y, "throughput") * (1 - STREAM_TOLERANCE);
}

/* Of plans that are alike the first stays. O(plans^2): a few hundred. */
static void front_keep_best(struct stream_front *out)
{
    size_t kept = 0, n = out->plans.n;
    struct plan **plans = out->plans.at;
    if (n)
        qsort(plans, n, sizeof *plans, compare_plans);
    bool *beaten = mem_new_zero(bool, n + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n && !beaten[i]; k++)
            beaten[i] = k != i && !beaten[k] && front_is_as_good(plans[k], plans[i]) &&
                        (k < i || !front_is_as_good(plans[i], plans[k]));
    for (size_t i = 0; i < n; i++)
        if (beaten[i])
            plan_free(plans[i]);
        else
            plans[kept++] = plans[i];
    out->plans.n = kept;
    free(beaten);
}

/* A front under way: runs of the planner, those that were made and all. */
struct front_making {
    const struct planner *planner;
    struct stream_front *out;
    const struct progress *progress;
    uint32_t made, all;
};

/* How many throughputs on 1/2^level of the nodes. */
static uint32_t front_points(uint32_t points, uint32_t level)
{
    uint32_t share = level < 32 ? points >> level : 0;
    return level && share < FEWEST_POINTS ? FEWEST_POINTS : share;
}

/* Plans for `points` throughputs. */
static bool front_plan_points(struct front_making *m, const struct plan_request *request,
                              uint32_t points, struct error *err)
{
    struct option_value options[32];
    size_t count = 1;
    for (size_t i = 0; i < request->noptions && count < 32; i++)
        if (strcmp(request->options[i].name, "throughput") &&
            strcmp(request->options[i].name, "latency"))
            options[count++] = request->options[i];
    for (uint32_t k = 0; k < points; k++) {
        char text[64];
        snprintf(text, sizeof text, "%.9gTmax", points > 1 ? (double)k / (points - 1) : 0.0);
        options[0] = (struct option_value){"throughput", text};
        struct plan_request at = *request;
        struct error why = {0};
        at.options = options;
        at.noptions = count;
        struct plan *plan = planner_run(m->planner, &at, &why);
        if (plan)
            array_push(&m->out->plans, plan);
        else if (why.kind != ERROR_INFEASIBLE)
            return error_set(err, why.kind, "%s", why.text);
        progress_report(m->progress, (double)++m->made / m->all, "front");
    }
    return true;
}

/* Leave `count` nodes up, the fastest; of equal ones the first. */
static void front_switch_off(const struct platform *p, uint8_t *up, uint32_t count)
{
    uint32_t on = 0;
    for (uint32_t i = 0; i < p->nnodes; i++)
        on += up[i];
    for (; on > count; on--) {
        uint32_t slowest = NONE;
        for (uint32_t i = 0; i < p->nnodes; i++)
            if (up[i] && (slowest == NONE || p->speed[i] <= p->speed[slowest]))
                slowest = i;
        up[slowest] = 0;
    }
}

bool stream_front(const struct planner *planner, const struct plan_request *request,
                  uint32_t points, struct stream_front *out, struct error *err)
{
    const struct platform *all = request->platform;
    struct platform some = *all; /* differs in which nodes are up */
    struct plan_request at = *request;
    struct front_making m = {.planner = planner, .out = out, .progress = request->progress};
    uint32_t nodes = 0;
    bool good = true;
    *out = (struct stream_front){0};
    some.up = mem_new(uint8_t, all->nnodes);
    memcpy(some.up, all->up, all->nnodes);
    for (uint32_t i = 0; i < all->nnodes; i++)
        nodes += all->up[i];
    for (uint32_t n = nodes, level = 0; n; n /= 2)
        m.all += front_points(points, level++);
    at.platform = &some;
    for (uint32_t level = 0; nodes && good; level++, nodes /= 2) {
        front_switch_off(all, some.up, nodes);
        good = front_plan_points(&m, &at, front_points(points, level), err);
    }
    free(some.up);
    if (good && !out->plans.n)
        good = error_set(err, ERROR_INFEASIBLE, "no throughput can be met at all");
    if (good)
        front_keep_best(out);
    return good;
}

void stream_front_free(struct stream_front *f)
{
    for (size_t i = 0; i < f->plans.n; i++)
        plan_free(f->plans.at[i]);
    array_free(&f->plans);
}
