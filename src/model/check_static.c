/* Static plans: copies, nodes, times, cores. Memory is in check_memory.c, transfers and precedence in
 * check_network.c. */
#include "model/check_rules.h"

#include <string.h>

static const char *task_name(const struct check *c, uint32_t task)
{
    return workflow_task_name(c->w, task);
}

/* Every placement: a time that exists, a node that can run the task, the duration that the costs
 * say, cores that the node has. */
static void check_times(struct check *c, const struct costs *costs)
{
    for (size_t i = 0; i < c->plan->placements.n; i++) {
        const struct placement *x = &c->plan->placements.at[i];
        const char *node = platform_node_name(c->p, x->node);
        if (!isfinite(x->start) || !isfinite(x->finish) || x->start < -c->tolerance ||
            x->finish < x->start - c->tolerance) {
            check_say(c, VIOLATION_TIME, x->task, "'%s' runs from %g to %g", task_name(c, x->task),
                      x->start, x->finish);
            continue;
        }
        double needs = costs_time(costs, x->task, x->node), takes = x->finish - x->start;
        if (isinf(needs))
            check_say(c, VIOLATION_NODE, x->task, "'%s' cannot run on '%s'%s",
                      task_name(c, x->task), node, c->p->up[x->node] ? "" : ", which is down");
        else if (fabs(takes - needs) > c->tolerance + 1e-9 * needs)
            check_say(c, VIOLATION_DURATION, x->task,
                      "'%s' takes %.10g on '%s'; it should take %.10g", task_name(c, x->task),
                      takes, node, needs);
        if (x->core >= c->p->cores[x->node] ||
            c->w->cores[x->task] > c->p->cores[x->node] - x->core)
            check_say(c, VIOLATION_CORE, x->task, "'%s' needs cores %u to %u of '%s', which has %u",
                      task_name(c, x->task), x->core, x->core + c->w->cores[x->task] - 1, node,
                      c->p->cores[x->node]);
    }
}

static int compare_copies(const void *a, const void *b)
{
    const struct placement *x = *(const struct placement *const *)a;
    const struct placement *y = *(const struct placement *const *)b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* Every task is placed; copies of a task are on different nodes and have different numbers. */
static void check_copies(struct check *c)
{
    size_t n = c->plan->placements.n;
    const struct placement **sorted = mem_new(const struct placement *, n);
    uint8_t *placed = mem_new_zero(uint8_t, c->w->ntasks);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &c->plan->placements.at[i];
        placed[sorted[i]->task] = 1;
    }
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        if (!placed[t])
            check_say(c, VIOLATION_MISSING_TASK, t, "'%s' is not placed", task_name(c, t));
    if (n)
        qsort(sorted, n, sizeof *sorted, compare_copies);
    /* Copies of one task stand together; there are few, so compare all pairs for a number used
     * twice. */
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && sorted[end]->task == sorted[i]->task)
            end++;
        for (size_t k = i + 1; k < end; k++) {
            if (sorted[k]->node == sorted[k - 1]->node)
                check_say(c, VIOLATION_COPY, sorted[k]->task, "'%s' has two copies on '%s'",
                          task_name(c, sorted[k]->task), platform_node_name(c->p, sorted[k]->node));
            for (size_t j = i; j < k; j++)
                if (sorted[j]->copy == sorted[k]->copy) {
                    check_say(c, VIOLATION_COPY, sorted[k]->task, "'%s' has copy %u twice",
                              task_name(c, sorted[k]->task), sorted[k]->copy);
                    break;
                }
        }
        i = end;
    }
    free(sorted);
    free(placed);
}

/* ---- cores ---- */

/* A task on one of its cores. */
struct core_use {
    uint32_t node, core, task;
    double start, finish;
};

static int compare_uses(const void *a, const void *b)
{
    const struct core_use *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->finish < y->finish ? -1 : x->finish > y->finish;
}

/* No core runs two tasks at once. Sorted by core and start, each use is compared with the one
 * that ends last so far: O(n log n), and a long task hides no later clash. */
static void check_cores(struct check *c)
{
    ARRAY(struct core_use) uses = {0};
    for (size_t i = 0; i < c->plan->placements.n; i++) {
        const struct placement *x = &c->plan->placements.at[i];
        if (!(x->finish - x->start > c->tolerance))
            continue; /* a task without time is in nobody's way */
        uint32_t last = c->p->cores[x->node];
        for (uint32_t k = x->core; k < last && k - x->core < c->w->cores[x->task]; k++)
            array_push(&uses, (struct core_use){x->node, k, x->task, x->start, x->finish});
    }
    if (uses.n)
        qsort(uses.at, uses.n, sizeof *uses.at, compare_uses);
    size_t longest = 0; /* of the same core, the one that ends last so far */
    for (size_t i = 1; i < uses.n; i++) {
        const struct core_use *before = &uses.at[longest], *x = &uses.at[i];
        bool same = before->node == x->node && before->core == x->core;
        if (same && x->start < before->finish - c->tolerance)
            check_say(c, VIOLATION_CORE, x->task,
                      "'%s' starts at %.10g on core %u of '%s', where '%s' runs until %.10g",
                      task_name(c, x->task), x->start, x->core, platform_node_name(c->p, x->node),
                      task_name(c, before->task), before->finish);
        if (!same || x->finish > before->finish)
            longest = i;
    }
    array_free(&uses);
}

/* A deadline is kept when the first copy of the task ends in time. */
static void count_missed_deadlines(struct check *c)
{
    if (!c->w->deadline)
        return;
    double *finish = mem_new(double, c->w->ntasks);
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        finish[t] = INFINITY;
    for (size_t i = 0; i < c->plan->placements.n; i++) {
        const struct placement *x = &c->plan->placements.at[i];
        finish[x->task] = fmin(finish[x->task], x->finish);
    }
    uint32_t missed = 0;
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        missed += finish[t] > c->w->deadline[t] + c->tolerance;
    free(finish);
    check_objective(c, "missed_deadlines", missed);
}

/* Every copy starts after what its task waits for: the first copy of it that ends. */
static void check_waits(struct check *c)
{
    const struct plan *plan = c->plan;
    if (!plan->waits.n)
        return;
    uint32_t n = c->w->ntasks;
    double *ended = mem_new(double, n), *started = mem_new(double, n);
    for (uint32_t t = 0; t < n; t++)
        ended[t] = started[t] = INFINITY;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        ended[x->task] = fmin(ended[x->task], x->finish);
        started[x->task] = fmin(started[x->task], x->start);
    }
    for (size_t i = 0; i < plan->waits.n; i++) {
        const struct plan_wait *x = &plan->waits.at[i];
        double from = x->after == NONE ? x->until : ended[x->after];
        if (started[x->task] < from - c->tolerance)
            check_say(c, VIOLATION_PRECEDENCE, x->task,
                      "task '%s' starts at %.10g, but the plan says that it waits %s%s until %.10g",
                      workflow_task_name(c->w, x->task), started[x->task],
                      x->after == NONE ? "" : "for ",
                      x->after == NONE ? "" : workflow_task_name(c->w, x->after), from);
    }
    free(ended);
    free(started);
}

/* Lenient costs: a task that can run nowhere is a violation to report, not a reason to give up. */
void check_static(struct check *c)
{
    struct costs *costs = costs_lenient(c->w, c->p);
    check_times(c, costs);
    costs_free(costs);
    check_copies(c);
    check_cores(c);
    check_memory(c);
    check_things(c);
    check_waits(c);
    count_missed_deadlines(c);
    double makespan = plan_makespan(c->plan), bound = plan_objective(c->plan, "lower_bound");
    check_objective(c, "makespan", makespan);
    if (bound > makespan + c->tolerance)
        check_say(c, VIOLATION_OBJECTIVE, NONE,
                  "claims a lower bound of %.10g on a makespan of %.10g", bound, makespan);
}
