/* Plans within memory for the searches: the plan without memory repaired, the planners of this folder,
 * then moves, then for small graphs proof.
 *
 *     the plan without memory  ──fits──▶ it, with its proof
 *            │ does not                        a change of one task's place in the order or of its node;
 *            ▼                                 what is not longer is kept
 *     repaired, heft-mem, minmin-mem, ... ──▶ shortest ──▶ moves ──▶ prove_shortest (a handful of tasks)
 *
 * What was proved without memory holds with it: no plan is shorter than that lower bound. */
#include "plan/memory/improve.h"
#include "base/clock.h"
#include "base/rng.h"
#include "model/check.h"
#include "plan/memory/fill.h"
#include "plan/memory/prove.h"
#include "plan/memory/within.h"
#include "plan/own.h"
#include "plan/search/portfolio.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

extern const struct planner planner_heft_mem, planner_minmin_mem;

/* Larger graphs have heft-mem, which tries several orders itself, and a repair that is given up when it is longer: 100,000 tasks
 * in a few seconds. */
enum { REPAIR_TASKS = 20000 };

struct improvement {
    const struct plan_request *request;
    struct costs *costs;
    struct plan *best;   /* with one copy of each task */
    struct plan *copied; /* one that runs some task twice: moves and proofs know none */
    const char *from, *copied_from;
    double begun;
    struct improve_budget budget;
    uint64_t moves;
};

/* Takes the plan; one that breaks memory (ports and things are not known to moves) is dropped. */
static void improve_with(struct improvement *m, struct plan *plan, const char *name)
{
    if (!plan)
        return;
    bool copies = plan->placements.n > m->request->workflow->ntasks;
    plan->memory = MEMORY_FILES; /* with ports or things heft-mem is heft, and counts no files */
    struct plan **place = copies ? &m->copied : &m->best;
    if ((!copies || m->budget.copies) &&
        check_plan_memory(plan, m->request->workflow, m->request->platform, NULL) &&
        (!*place || plan_makespan(plan) < plan_makespan(*place))) {
        plan_free(*place);
        *place = plan;
        *(copies ? &m->copied_from : &m->from) = name;
    } else {
        plan_free(plan);
    }
}

static bool improve_over(const struct improvement *m, double share)
{
    if (m->budget.moves)
        return (double)m->moves >= share * (double)m->budget.moves;
    return clock_seconds() - m->begun >= share * m->budget.seconds;
}

/* A new key between those of the latest predecessor and the earliest successor, or another node. */
static void improve_change(const struct improvement *m, struct rng *rng, double *key,
                           uint32_t *node, uint32_t task)
{
    const struct workflow *w = m->request->workflow;
    if (rng_below(rng, 2)) {
        node[task] =
            rng_below(rng, 4) ? (uint32_t)rng_below(rng, m->request->platform->nnodes) : NONE;
        return;
    }
    double low = -1, high = plan_makespan(m->best);
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        low = fmax(low, key[w->pred_task[e]]);
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        high = fmin(high, key[w->succ_task[e]]);
    key[task] = high > low ? rng_uniform(rng, low, high) : key[task];
}

/* Hill climbing that goes sideways. A move fills the whole schedule anew: O(tasks x nodes). */
static void improve_by_moves(struct improvement *m, double share, double bound)
{
    const struct workflow *w = m->request->workflow;
    if (!m->best || !w->ntasks)
        return;
    double *key = mem_new(double, w->ntasks), *old_key = mem_new(double, w->ntasks);
    uint32_t *node = mem_new(uint32_t, w->ntasks), *old_node = mem_new(uint32_t, w->ntasks), stuck;
    for (size_t i = 0; i < m->best->placements.n; i++) {
        const struct placement *x = &m->best->placements.at[i];
        key[x->task] = x->start;
        node[x->task] = x->node;
    }
    struct rng rng;
    rng_seed(&rng, m->request->seed);
    struct keep_schedule *k = keep_new(m->costs);
    double present = INFINITY;
    while (!improve_over(m, share) && plan_makespan(m->best) > bound * (1 + 1e-9)) {
        memcpy(old_key, key, w->ntasks * sizeof *key);
        memcpy(old_node, node, w->ntasks * sizeof *node);
        for (uint32_t i = m->moves ? 1 + (uint32_t)rng_below(&rng, 3) : 0; i > 0; i--)
            improve_change(m, &rng, key, node, (uint32_t)rng_below(&rng, w->ntasks));
        m->moves++;
        keep_reset(k);
        struct fill f = {.key = key, .choice = FILL_EARLIEST, .node = node, .prefer = true};
        bool good = fill_schedule(k, &f, &stuck);
        if (good && keep_makespan(k) <= present) {
            present = keep_makespan(k);
            if (present < plan_makespan(m->best))
                improve_with(m, keep_plan(k), "moves");
        } else {
            memcpy(key, old_key, w->ntasks * sizeof *key);
            memcpy(node, old_node, w->ntasks * sizeof *node);
        }
    }
    keep_free(k);
    free(key);
    free(old_key);
    free(node);
    free(old_node);
}

/* True: the best is proven. */
static bool improve_by_proof(struct improvement *m, double share, double bound)
{
    if (!prove_suits(m->costs))
        return false;
    struct prove_limits limits = {
        .seconds = INFINITY, .bound = bound, .upper = m->best ? plan_makespan(m->best) : INFINITY};
    if (m->budget.moves)
        limits.states = (uint64_t)(share * (double)m->budget.moves) + 1;
    else
        limits.seconds = fmax(0.01, m->begun + share * m->budget.seconds - clock_seconds());
    struct prove_result result = prove_shortest(m->costs, &limits);
    m->moves += m->budget.moves ? result.states : 0;
    improve_with(m, result.plan, "exact search");
    return result.complete && m->best;
}

/* One that searches and counts its states gets so many, and no time: the same everywhere. */
static const struct option_value improve_states = {"states", "20000"};

/* What is shortest without memory need not be so within it, and where one finds a plan others do not. Larger
 * graphs would wait too long. */
static void improve_with_planners(struct improvement *m, const struct plan_request *own)
{
    const struct planner *planner;
    for (size_t i = 0; (planner = planner_at(i)) != NULL; i++) {
        /* searches of their own, orders and streams are not asked */
        int others = ACCEPTS_SMALL | ACCEPTS_META | ACCEPTS_ORDER | ACCEPTS_STREAM;
        if (!(planner->accepts & ACCEPTS_DAG) || planner->accepts & others)
            continue;
        struct plan_request asked = *own;
        if (option_find(planner->options, improve_states.name)) {
            asked.options = &improve_states;
            asked.noptions = 1;
        }
        struct plan *plan = planner_run(planner, &asked, NULL);
        if (plan && plan->kind == PLAN_STATIC)
            improve_with(m, plan, planner->name);
        else
            plan_free(plan);
    }
}

/* Options, progress and budget are the search's, not theirs. */
static void improve_start(struct improvement *m, struct plan *plan)
{
    static const char repaired[] = "the plan without memory, repaired";
    struct plan_request own = *m->request;
    own.options = NULL;
    own.noptions = 0;
    own.progress = NULL;
    improve_with(m, planner_heft_mem.run(&own, NULL), "heft-mem");
    if (m->request->workflow->ntasks <= REPAIR_TASKS)
        improve_with(m, planner_minmin_mem.run(&own, NULL), "minmin-mem");
    if (m->budget.planners && own.workflow->ntasks <= PORTFOLIO_TINY_TASKS)
        improve_with_planners(m, &own);
    if (!plan)
        return;
    if (!m->best || own.workflow->ntasks <= REPAIR_TASKS) {
        improve_with(m, within_memory(&own, plan, NULL), repaired);
        return;
    }
    if (!own.workflow->asks && !platform_limits_ports(own.platform))
        improve_with(m, within_shorter(m->costs, plan, plan_makespan(m->best)), repaired);
    plan_free(plan);
}

/* Notes of the planner that it came from would speak of other figures. */
static void improve_note(struct improvement *m, double bound, bool proven)
{
    double makespan = plan_makespan(m->best);
    while (m->best->notes.n)
        free(array_pop(&m->best->notes));
    plan_note(m->best, "files count: within memory from %s, in %" PRIu64 " moves", m->from,
              m->moves);
    if (proven)
        bound = makespan;
    plan_set_objective(m->best, "makespan", makespan);
    if (bound > 0)
        plan_set_objective(m->best, "lower_bound", fmin(bound, makespan));
    if (makespan <= bound * (1 + 1e-9))
        plan_note(m->best, "proven optimal");
}

/* A plan that keeps to memory is left alone. Else three tenths of the budget go to a proof, which ends
 * at once on small graphs, half to moves, and what is left to another proof, which now begins with a
 * shorter plan to beat. */
struct plan *improve_within_memory(const struct plan_request *request, struct plan *plan,
                                   const struct improve_budget *budget, struct error *err)
{
    if (plan) {
        plan->memory = MEMORY_FILES;
        if (check_plan_memory(plan, request->workflow, request->platform, NULL))
            return plan;
    }
    struct improvement m = {.request = request, .begun = clock_seconds(), .budget = *budget};
    double bound = plan ? plan_objective(plan, "lower_bound") : 0;
    bound = isnan(bound) ? 0 : bound;
    bool of_copies = plan && plan->placements.n > request->workflow->ntasks;
    m.costs = costs_new(request->workflow, request->platform, err);
    bool possible = m.costs && within_possible(request->workflow, m.costs, err);
    bool proven = false;
    if (possible) {
        improve_start(&m, plan);
        plan = NULL;
        if (request->workflow->asks || platform_limits_ports(request->platform))
            m.budget.moves = 1; /* moves know neither */
        proven = improve_by_proof(&m, 0.3, bound);
        if (!proven) {
            improve_by_moves(&m, 0.8, bound);
            proven = improve_by_proof(&m, 1, bound);
        }
        if (m.copied && (!m.best || plan_makespan(m.copied) < plan_makespan(m.best))) {
            plan_free(m.best);
            m.best = m.copied;
            m.from = m.copied_from;
            m.copied = NULL;
            proven = false; /* among plans with one copy of each task, as may be the bound */
            bound = of_copies ? bound : 0;
        }
        if (m.best)
            improve_note(&m, bound, proven);
        else
            error_set(
                err, ERROR_INFEASIBLE,
                "no plan within memory found; give nodes more memory, or say `memory: tasks` in "
                "the platform if files are on disks");
    }
    plan_free(plan);
    plan_free(m.copied);
    costs_free(m.costs);
    return m.best;
}
