/* HEFT and MinMin that count files: the memory-aware list planners.
 *
 * heft-mem: tasks by falling upward rank, as HEFT, but a task takes the slot that ends first of those in which
 * it, its files and all that waits there fit (keep.h). Four times: with and without a reserve for the largest
 * task to come, in an order that needs little memory, and in that order node after node, as DagHetMem. minmin-mem: of the ready tasks the one that ends first, or that
 * order.
 *
 * A greedy order can run into a standstill, where every node is full of files that wait for tasks that fit nowhere.
 * Then tasks are taken in an order that needs little memory (traversal.h), with less and less regard
 * to time: earliest end, reserve, the roomiest node, node after node. */
#include "model/graph.h"
#include "plan/list/list.h"
#include "plan/memory/fill.h"
#include "plan/memory/traversal.h"
#include "plan/memory/within.h"
#include <math.h>

/* Keep the shorter of two; of equal ones the later, so that the order of the ranks decides where memory is
 * plenty. */
static void take_shorter(struct plan **best, struct keep_schedule *k, bool made)
{
    if (!made || (*best && plan_makespan(*best) < keep_makespan(k)))
        return;
    plan_free(*best);
    *best = keep_plan(k);
}

/* In the order of a traversal, until some way works. */
static struct plan *fill_by_traversal(struct keep_schedule *k, const double *key, uint32_t *stuck)
{
    static const struct fill ways[] = {
        {.choice = FILL_EARLIEST},
        {.choice = FILL_RESERVE},
        {.choice = FILL_RESERVE, .strict = true},
        {.choice = FILL_ROOMIEST, .strict = true},
        {.choice = FILL_IN_TURN, .strict = true},
    };
    struct plan *plan = NULL;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !plan; i++) {
        struct fill f = ways[i];
        f.key = key;
        keep_reset(k);
        if (fill_schedule(k, &f, stuck))
            plan = keep_plan(k);
    }
    return plan;
}

/* By rank, and by a traversal: ranks begin as much as possible at once, and where memory is short all of it
 * fills with files that wait (a layered graph of 100,000 tasks took 4.4 times as long as by traversal).
 * The reserve costs time where memory is plenty and saves it where it is not. Node after node is best where sending is
 * dear: on Montage with 36 nodes ranks spread the tasks, and took 20 times as long as DagHetMem. Each is given up when it is longer
 * than the best so far, so that all of them cost little more than one. */
static struct plan *fill_by_rank(struct keep_schedule *k, const struct costs *costs,
                                 const double *order, uint32_t *stuck)
{
    double *times = rank_times(costs), *rank = rank_upward(costs, times);
    for (uint32_t t = 0; t < costs->workflow->ntasks; t++)
        rank[t] = -rank[t];
    struct plan *best = NULL;
    const struct fill ways[] = {
        {.key = order, .choice = FILL_IN_TURN, .strict = true},
        {.key = order, .choice = FILL_EARLIEST},
        {.key = rank, .choice = FILL_RESERVE},
        {.key = rank, .choice = FILL_EARLIEST},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fill f = ways[i];
        f.longest = best ? plan_makespan(best) : 0;
        keep_reset(k);
        take_shorter(&best, k, fill_schedule(k, &f, stuck));
    }
    free(times);
    free(rank);
    return best;
}

/* MinMin, too, begins much at once: where that is longer than an order that needs little memory, it is not
 * taken. */
static struct plan *fill_by_end(struct keep_schedule *k, const double *order, uint32_t *stuck)
{
    struct plan *best = NULL;
    take_shorter(&best, k, fill_smallest_end(k, stuck));
    struct fill f = {.key = order, .longest = best ? plan_makespan(best) * (1 - 1e-9) : 0};
    keep_reset(k);
    take_shorter(&best, k, fill_schedule(k, &f, stuck));
    return best;
}

/* Ports and things are known to the list planners only; the gate behind them keeps to memory. */
extern const struct planner planner_heft, planner_minmin;
struct plan *within_plain_list(const struct plan_request *request, bool minmin, struct error *err)
{
    const struct planner *plain = minmin ? &planner_minmin : &planner_heft;
    struct plan *plan = plain->run(request, err);
    if (plan)
        plan_note(plan, "ports or resources count: planned as %s", plain->name);
    return plan;
}

static struct plan *memory_list(const struct plan_request *request, bool minmin, struct error *err)
{
    const struct workflow *w = request->workflow;
    if (platform_limits_ports(request->platform) || w->asks)
        return within_plain_list(request, minmin, err);
    struct costs *costs = costs_new(w, request->platform, err);
    if (!costs)
        return NULL;
    struct plan *plan = NULL;
    uint32_t stuck = NONE;
    bool possible = !within_asked(request) || within_possible(w, costs, err);
    struct keep_schedule *k = keep_new(costs);
    double *order = possible ? traversal_keys(w) : NULL;
    if (possible && minmin)
        plan = fill_by_end(k, order, &stuck);
    else if (possible)
        plan = fill_by_rank(k, costs, order, &stuck);
    if (possible && !plan) {
        plan = fill_by_traversal(k, order, &stuck);
        if (plan)
            plan_note(plan, "planned in an order that needs little memory: the usual one came to a "
                            "standstill");
        else
            error_set(
                err, ERROR_INFEASIBLE,
                "no plan within memory found: files that wait leave no node with room for task "
                "'%s', which needs %.10g bytes with its files",
                stuck == NONE ? "" : workflow_task_name(w, stuck),
                stuck == NONE ? 0 : keep_needs(k, stuck));
    }
    free(order);
    keep_free(k);
    costs_free(costs);
    return plan;
}

static struct plan *run_heft_mem(const struct plan_request *request, struct error *err)
{
    return memory_list(request, false, err);
}

static struct plan *run_minmin_mem(const struct plan_request *request, struct error *err)
{
    return memory_list(request, true, err);
}

const struct planner planner_heft_mem = {
    .name = "heft-mem",
    .family = "memory",
    .summary = "HEFT that keeps tasks and the files that wait for them within the memory of nodes",
    .paper =
        "S. Kulagina, H. Meyerhenke, A. Benoit: Mapping large memory-constrained workflows onto "
        "heterogeneous platforms. ICPP Workshops 2024 (the model); reserve, moves and the order "
        "after a standstill are weft's own",
    .tie_rule = "equal ranks: first to become ready; equal ends: lowest node, lowest core",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_heft_mem,
};

const struct planner planner_minmin_mem = {
    .name = "minmin-mem",
    .family = "memory",
    .summary = "of the ready tasks that fit into memory with their files, the one that ends first",
    .paper = "as heft-mem; MinMin: T. D. Braun et al., J. Parallel and Distributed Computing "
             "61(6), 2001",
    .tie_rule = "equal ends: first to become ready, lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_minmin_mem,
};
