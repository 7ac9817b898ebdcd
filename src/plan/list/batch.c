/* Min-min, Max-min, Sufferage, Duplex (Braun et al. 2001; Sufferage: Maheswaran et al. 1999): batch
 * heuristics for independent tasks, applied to the ready tasks of a graph.
 *
 * Of all ready tasks, each with its best node: the one that ends first (Min-min), the one that ends
 * last (Max-min), the one that would lose most without its best node (Sufferage). Duplex runs
 * Min-min and Max-min and keeps the shorter plan; ties: Min-min's.
 *
 * pick.h keeps the answers. Min-min's key only rises and so needs few evaluations a step; the other
 * two ask all that lean on the node that changed: O(tasks x width x nodes) at worst. */
#include "plan/list/pick.h"

/* Key: the earliest end. */
static struct choice evaluate_minmin(struct list_run *l, uint32_t task, const void *context)
{
    (void)context;
    struct schedule_slot best = schedule_best(l->s, task);
    return (struct choice){best, best.finish, 0, NONE, INFINITY};
}

/* Key: the earliest end, largest first. */
static struct choice evaluate_maxmin(struct list_run *l, uint32_t task, const void *context)
{
    (void)context;
    struct schedule_slot best = schedule_best(l->s, task);
    return (struct choice){best, -best.finish, 0, NONE, INFINITY};
}

/* How much later the task would end if it lost its best node. A task that only one node can run
 * suffers most. */
static struct choice evaluate_sufferage(struct list_run *l, uint32_t task, const void *context)
{
    (void)context;
    struct schedule_slot best = {.finish = INFINITY}, next = {.finish = INFINITY, .node = NONE};
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_earliest(l->s, task, n);
        if (slot.finish < best.finish) {
            next = best;
            best = slot;
        } else if (slot.finish < next.finish) {
            next = slot;
        }
    }
    bool alone = !(next.finish < INFINITY);
    return (struct choice){best, alone ? -INFINITY : best.finish - next.finish, 0,
                           alone ? NONE : next.node, INFINITY};
}

static const struct picker minmin = {evaluate_minmin, NULL, true, NULL};
static const struct picker maxmin = {evaluate_maxmin, NULL, false, NULL};
static const struct picker sufferage = {evaluate_sufferage, NULL, false, NULL};

static struct plan *batch_run(const struct plan_request *request, const struct picker *picker,
                              struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    bool done = pick_all(&l, picker, err);
    return list_end(&l, done);
}

static struct plan *run_minmin(const struct plan_request *request, struct error *err)
{
    return batch_run(request, &minmin, err);
}

static struct plan *run_maxmin(const struct plan_request *request, struct error *err)
{
    return batch_run(request, &maxmin, err);
}

static struct plan *run_sufferage(const struct plan_request *request, struct error *err)
{
    return batch_run(request, &sufferage, err);
}

static struct plan *run_duplex(const struct plan_request *request, struct error *err)
{
    struct error first = {0}, second = {0};
    struct plan *a = batch_run(request, &minmin, &first), *b = batch_run(request, &maxmin, &second);
    if (!a && !b) {
        error_set(err, first.kind, "%s", first.text);
        return NULL;
    }
    bool keep_first = !b || (a && plan_objective(a, "makespan") <= plan_objective(b, "makespan"));
    plan_free(keep_first ? b : a);
    struct plan *kept = keep_first ? a : b;
    plan_note(kept, "duplex: %s was better", keep_first ? "minmin" : "maxmin");
    return kept;
}

#define BRAUN                                                                                      \
    "T. D. Braun et al.: A comparison of eleven static heuristics for mapping a class of "         \
    "independent tasks onto heterogeneous distributed computing systems. J. Parallel and "         \
    "Distributed Computing 61(6), 2001"

const struct planner planner_minmin = {
    .name = "minmin",
    .family = "list",
    .summary = "of the ready tasks, the one that can end first, where it does",
    .paper = BRAUN,
    .tie_rule = "equal ends: lowest task, lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_minmin,
};

const struct planner planner_maxmin = {
    .name = "maxmin",
    .family = "list",
    .summary = "of the ready tasks, the one whose earliest end is latest, where it ends first",
    .paper = BRAUN,
    .tie_rule = "equal ends: lowest task, lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_maxmin,
};

const struct planner planner_sufferage = {
    .name = "sufferage",
    .family = "list",
    .summary = "of the ready tasks, the one that would lose most if it lost its best node",
    .paper = "M. Maheswaran, S. Ali, H. J. Siegel, D. Hensgen, R. F. Freund: Dynamic mapping of a "
             "class of independent tasks onto heterogeneous computing systems. J. Parallel and "
             "Distributed Computing 59(2), 1999",
    .tie_rule = "equal sufferage: lowest task; equal ends: lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_sufferage,
};

const struct planner planner_duplex = {
    .name = "duplex",
    .family = "list",
    .summary = "the better of minmin and maxmin",
    .paper = BRAUN,
    .guarantee = "never worse than minmin or maxmin",
    .tie_rule = "equal makespans: minmin",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_duplex,
};
