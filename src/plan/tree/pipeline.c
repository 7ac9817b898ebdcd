/* The steps of HomPart and HetPart1 put together, and what all tree planners share: opening a
 * request as a tree with processors, reading the options of the steps, and making the plan of a
 * mapping, or the error that says which part fits nowhere. */
#include "plan/tree/pipeline.h"
#include "base/mem.h"
#include "base/plural.h"
#include "plan/tree/again.h"
#include "plan/tree/merge.h"
#include "plan/tree/split.h"
#include <string.h>

/* Step 1 by name; STEP1_NONE leaves one piece. */
static void cut_for_makespan(struct partition *p, enum step1 method, uint32_t pieces)
{
    if (method == STEP1_ASAP)
        split_asap(p, pieces);
    else if (method == STEP1_SPLITSUBTREES)
        split_subtrees(p, 0, pieces);
    else if (method == STEP1_IMPROVEDSPLIT)
        split_improved(p, pieces);
}

bool pipeline_map(struct partition *p, enum step1 method, uint32_t pieces, enum fit_method fit,
                  bool *one)
{
    cut_for_makespan(p, method, pieces);
    *one = p->live == 1;
    fit_biggest(p, fit);
    return merge_heterogeneous(p);
}

bool pipeline_hompart(struct partition *p, enum step1 method, enum fit_method fit)
{
    double limit = p->s->memory[0];
    uint32_t task;
    cut_for_makespan(p, method, p->s->nprocs);
    if (!fit_all(p, fit, limit, &task) || !merge_homogeneous(p, p->s->nprocs, limit))
        return false;
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE)
            partition_map(p, i, next++);
    split_again(p, false);
    return true;
}

/* ---- jobs ---- */

static uint32_t most_demanding(const struct tree_setting *s)
{
    uint32_t worst = 0;
    for (uint32_t x = 1; x < s->t->n; x++)
        if (s->need[x] > s->need[worst])
            worst = x;
    return worst;
}

/* A task that no memory holds makes every mapping impossible. */
static bool tasks_fit(const struct tree_job *job, struct error *err)
{
    const struct tree_setting *s = job->setting;
    uint32_t worst = most_demanding(s);
    if (s->need[worst] <= s->memory[0])
        return true;
    const struct workflow *w = job->request->workflow;
    return error_set(
        err, ERROR_INFEASIBLE,
        "no mapping exists: task '%s' needs %.10g bytes with its files, and the largest memory is "
        "%.10g ('%s')",
        workflow_task_name(w, s->t->task[worst]), s->need[worst], s->memory[0],
        platform_node_name(s->platform, s->node[0]));
}

bool tree_job_open(struct tree_job *job, const struct plan_request *request,
                   const struct planner *planner, struct error *err)
{
    *job = (struct tree_job){.request = request};
    bool lenient = strcmp(request_text(request, planner, "memory"), "lenient") == 0;
    job->tree = tree_new(request->workflow, err);
    if (job->tree)
        job->setting =
            setting_new(job->tree, request->platform, lenient ? TREE_LENIENT : TREE_STRICT, err);
    if (job->setting && tasks_fit(job, err))
        return true;
    tree_job_close(job);
    return false;
}

struct tree_setting *tree_job_strict(const struct tree_job *job)
{
    if (job->setting->counting == TREE_STRICT)
        return NULL;
    struct tree_setting *s = setting_new(job->tree, job->request->platform, TREE_STRICT, NULL);
    if (s && s->need[most_demanding(s)] > s->memory[0]) {
        setting_free(s);
        return NULL;
    }
    return s;
}

void tree_job_close(struct tree_job *job)
{
    setting_free(job->setting);
    tree_free(job->tree);
    *job = (struct tree_job){0};
}

enum step1 tree_job_step1(const struct tree_job *job, const struct planner *planner)
{
    const char *text = request_text(job->request, planner, "step1");
    return !strcmp(text, "asap")            ? STEP1_ASAP
           : !strcmp(text, "splitsubtrees") ? STEP1_SPLITSUBTREES
           : !strcmp(text, "improvedsplit") ? STEP1_IMPROVEDSPLIT
                                            : STEP1_BEST;
}

enum fit_method tree_job_step2(const struct tree_job *job, const struct planner *planner)
{
    const char *text = request_text(job->request, planner, "step2");
    return !strcmp(text, "largestfirst")  ? FIT_LARGEST
           : !strcmp(text, "immediately") ? FIT_IMMEDIATELY
                                          : FIT_FIRST;
}

/* Each part with its best traversal as its order, computed anew: the steps only needed its peak. */
struct plan *tree_job_plan(const struct tree_job *job, const struct snapshot *solution,
                           double bound, struct error *err)
{
    const struct tree_setting *s = job->setting;
    const struct tree *t = job->tree;
    if (!isfinite(solution->makespan)) {
        error_set(err, ERROR_INFEASIBLE,
                  "no valid mapping was found: every one tried sends a file between nodes that "
                  "cannot talk");
        return NULL;
    }
    struct plan *plan = plan_new(PLAN_PARTITION);
    struct tree_memory *room = tree_memory_new(t);
    uint8_t *cut = mem_new_zero(uint8_t, t->n);
    uint32_t *order = mem_new(uint32_t, t->n);
    for (uint32_t k = 0; k < solution->n; k++)
        cut[solution->root[k]] = 1;
    array_reserve(&plan->tasks, t->n);
    for (uint32_t k = 0; k < solution->n; k++) {
        uint32_t count, first = (uint32_t)plan->tasks.n;
        double memory = tree_least_memory(room, solution->root[k], cut, s->counting, order, &count);
        for (uint32_t i = 0; i < count; i++)
            array_push(&plan->tasks, t->task[order[i]]);
        array_push(&plan->parts, (struct part){.root = t->task[solution->root[k]],
                                               .node = s->node[solution->proc[k]],
                                               .tasks = first,
                                               .order = first,
                                               .count = count,
                                               .memory = memory});
    }
    free(order);
    free(cut);
    tree_memory_free(room);
    bound = fmin(bound, solution->makespan); /* equal up to rounding */
    plan_set_objective(plan, "makespan", solution->makespan);
    plan_set_objective(plan, "lower_bound", bound);
    plan_set_objective(plan, "parts", solution->n);
    if (bound > 0 && solution->makespan > bound * (1 + 1e-9))
        plan_note(plan, "at most %.1f %% longer than the shortest possible (lower bound %.6g)",
                  100 * (solution->makespan / bound - 1), bound);
    else
        plan_note(plan, "proven optimal");
    return plan;
}

/* The most demanding piece without a processor is the one to tell about. */
bool tree_job_unplaced(const struct tree_job *job, struct partition *p, struct error *err)
{
    const struct tree_setting *s = job->setting;
    const struct workflow *w = job->request->workflow;
    uint32_t worst = NONE, waiting = 0;
    for (uint32_t i = 0; i < p->slots; i++) {
        if (p->at[i].root == NONE || p->at[i].proc != NONE)
            continue;
        waiting++;
        if (worst == NONE || partition_memory(p, i) > partition_memory(p, worst))
            worst = i;
    }
    if (worst == NONE)
        return error_set(err, ERROR_INFEASIBLE, "no valid mapping was found");
    double need = partition_memory(p, worst);
    uint32_t q = 0;
    while (q < s->nprocs && p->holder[q] != NONE)
        q++;
    if (q == s->nprocs)
        return error_set(
            err, ERROR_INFEASIBLE,
            "no valid mapping was found: %u part%s left, each of %u node%s has one, and "
            "no two parts fit together; the largest left, of task '%s', needs %.10g "
            "bytes (largest memory: %.10g)",
            waiting, plural_word(waiting, " is", "s are"), s->nprocs, plural(s->nprocs),
            workflow_task_name(w, s->t->task[p->at[worst].root]), need, s->memory[0]);
    return error_set(err, ERROR_INFEASIBLE,
                     "no valid mapping was found: the part of task '%s' needs %.10g bytes, and the "
                     "largest node still free, '%s', has %.10g (largest of all: %.10g)",
                     workflow_task_name(w, s->t->task[p->at[worst].root]), need,
                     platform_node_name(s->platform, s->node[q]), s->memory[q], s->memory[0]);
}
