/* The gate behind every planner: a plan that breaks the memory of a node is repaired or refused.
 *
 * Repaired: its tasks in the order of their starts, each on its node, each as soon as memory allows; if
 * that comes to a standstill, tasks may go elsewhere. A plan with pins, of constraints, is not touched:
 * what the user asked for would be lost. */
#include "plan/memory/within.h"
#include "model/check.h"
#include "model/costs.h"
#include "plan/memory/fill.h"
#include <math.h>
#include <string.h>

bool within_asked(const struct plan_request *request)
{
    return platform_counts_files(request->platform, request->workflow);
}

bool within_possible(const struct workflow *w, const struct costs *costs, struct error *err)
{
    const struct platform *p = costs->platform;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double need = keep_task_bytes(w, t), most = 0;
        bool fits = false;
        for (uint32_t n = 0; n < p->nnodes && !fits; n++) {
            bool runs = costs_time(costs, t, n) < INFINITY;
            fits = runs && need <= p->memory[n] * (1 + 1e-9);
            most = runs && p->memory[n] > most ? p->memory[n] : most;
        }
        if (!fits)
            return error_set(
                err, ERROR_INFEASIBLE,
                "task '%s' needs %.10g bytes with its files; the largest node that can "
                "run it has %.10g (`memory: tasks` in the platform counts no files)",
                workflow_task_name(w, t), need, most);
    }
    return true;
}

/* The starts of the first copies as keys, and their nodes. NULL: it comes to a standstill, or ends after `longest` (0: any end). */
static struct plan *retime(const struct costs *costs, const struct plan *plan, bool move,
                           double longest)
{
    const struct workflow *w = costs->workflow;
    double *key = mem_new_zero(double, w->ntasks);
    uint32_t *node = mem_new(uint32_t, w->ntasks), stuck;
    for (uint32_t t = 0; t < w->ntasks; t++)
        node[t] = NONE;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (node[x->task] == NONE || x->copy == 0) {
            node[x->task] = x->node;
            key[x->task] = x->start;
        }
    }
    struct keep_schedule *k = keep_new(costs);
    struct fill f = {.key = key,
                     .choice = move ? FILL_RESERVE : FILL_EARLIEST,
                     .node = node,
                     .prefer = move,
                     .longest = longest};
    struct plan *made = fill_schedule(k, &f, &stuck) ? keep_plan(k) : NULL;
    keep_free(k);
    free(key);
    free(node);
    return made;
}

/* The whole judge, since ports and things are not known here. */
static bool within_valid(const struct plan *plan, const struct plan_request *request)
{
    struct check_result result;
    bool good =
        check_plan(plan, request->workflow, request->platform, &result, NULL) && result.total == 0;
    check_result_free(&result);
    return good;
}

/* First with every task where it was, then wherever it fits. */
static struct plan *repair(const struct plan_request *request, const struct plan *plan,
                           struct error *err)
{
    struct costs *costs = costs_new(request->workflow, request->platform, err);
    if (!costs)
        return NULL;
    struct plan *made = NULL;
    if (within_possible(request->workflow, costs, err) && !plan->pins.n && !plan->constraints.n)
        for (int move = 0; move < 2 && !made; move++) {
            made = retime(costs, plan, move, 0);
            if (made && !within_valid(made, request)) {
                plan_free(made);
                made = NULL;
            }
        }
    costs_free(costs);
    return made;
}

struct plan *within_shorter(const struct costs *costs, const struct plan *plan, double longest)
{
    struct plan *made = retime(costs, plan, false, longest);
    return made ? made : retime(costs, plan, true, longest);
}

/* Bounds of the planner still hold: memory only takes plans away. */
static void keep_claims(struct plan *made, const struct plan *plan)
{
    double bound = plan_objective(plan, "lower_bound");
    for (size_t i = 0; i < plan->notes.n; i++)
        if (strcmp(plan->notes.at[i], "proven optimal") != 0)
            plan_note(made, "%s", plan->notes.at[i]);
    plan_set_objective(made, "makespan", plan_makespan(made));
    if (!isnan(bound))
        plan_set_objective(made, "lower_bound", bound);
}

struct plan *within_memory(const struct plan_request *request, struct plan *plan, struct error *err)
{
    struct error wrong = {0}, why = {0};
    plan->memory = MEMORY_FILES;
    if (check_plan_memory(plan, request->workflow, request->platform, &wrong))
        return plan;
    struct plan *made = repair(request, plan, &why);
    if (made) {
        keep_claims(made, plan);
        plan_note(made,
                  "the planner counts no files; delayed and moved to keep to memory: %.10g became "
                  "%.10g",
                  plan_makespan(plan), plan_makespan(made));
    } else if (why.text[0]) {
        error_set(err, why.kind, "%s", why.text);
    } else {
        error_set(err, ERROR_INFEASIBLE, "planner '%s' found no plan within memory: %s; %s",
                  request->planner ? request->planner->name : "", wrong.text, WITHIN_REMEDY);
    }
    plan_free(plan);
    return made;
}
