/* HomPart: Gou, Benoit, Marchal, IEEE TPDS 31(7), 2020. Cut for a short makespan, fit into memory,
 * merge to the number of processors, cut again where some are left.
 *
 * All nodes count as equal, so a platform of several memories is used in part: `scenario` says
 * which nodes take part, all counted as having the smallest memory among them, as HetPart's paper
 * compares. The makespan of the answer counts the real speeds. */
#include "plan/tree/bound.h"
#include "plan/tree/pipeline.h"
#include "base/plural.h"
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"scenario", OPTION_CHOICE, "ml", "ml|sm|ff", 0, 0,
     "ff: the nodes of the largest memory; sm: also the next smaller size; ml: also the third; all "
     "at "
     "the smallest memory among them"},
    {"step1", OPTION_CHOICE, "splitsubtrees", "best|asap|splitsubtrees|improvedsplit", 0, 0,
     "how the tree is cut for a short makespan; best: try all, keep the shortest"},
    OPTION_STEP2,
    OPTION_MEMORY_COUNT,
    {0},
};

/* The memory of the k-th largest size among the processors (the smallest size when there are
 * fewer). */
static double memory_class(const struct tree_setting *s, int k)
{
    double limit = s->memory[0];
    for (uint32_t q = 1; q < s->nprocs && k > 1; q++)
        if (s->memory[q] < limit) {
            limit = s->memory[q];
            k--;
        }
    return limit;
}

const struct planner planner_hompart;

/* Planned with equal speeds, judged with the real ones; the shortest of the methods stays. */
static void try_hompart(const struct tree_job *job, const struct tree_setting *setting,
                        struct snapshot *best)
{
    struct partition *p = partition_new(setting, true);
    enum step1 wanted = tree_job_step1(job, &planner_hompart);
    for (enum step1 m = STEP1_ASAP; m < STEP1_NONE; m++) {
        if (wanted != STEP1_BEST && wanted != m)
            continue;
        partition_clear(p);
        partition_use_speeds(p, true);
        if (!pipeline_hompart(p, m, tree_job_step2(job, &planner_hompart)))
            continue;
        partition_use_speeds(p, false);
        if (!best->n || partition_makespan(p) < best->makespan)
            snapshot_store(best, p);
    }
    partition_free(p);
}

/* Where one task alone is too large for what the nodes count as, it is named. */
static void hompart_refuse(const struct tree_job *job, const char *scenario, double limit,
                           struct error *err)
{
    uint32_t most = 0, nodes = job->setting->nprocs;
    for (uint32_t i = 1; i < job->tree->n; i++)
        most = tree_need(job->tree, i) > tree_need(job->tree, most) ? i : most;
    char larger[256] = "";
    if (limit < tree_need(job->tree, most))
        snprintf(larger, sizeof larger, ", and task '%.150s' needs %.10g with its files",
                 workflow_task_name(job->request->workflow, job->tree->task[most]),
                 tree_need(job->tree, most));
    error_set(err, ERROR_INFEASIBLE,
              "hompart found no valid mapping in scenario %s: %u node%s counted as having %.10g "
              "bytes each%s; other scenarios or hetpart1 may",
              scenario, nodes, plural(nodes), limit, larger);
}

static struct plan *run_hompart(const struct plan_request *request, struct error *err)
{
    struct tree_job job;
    if (!tree_job_open(&job, request, &planner_hompart, err))
        return NULL;
    const char *scenario = request_text(request, &planner_hompart, "scenario");
    int classes = !strcmp(scenario, "ff") ? 1 : !strcmp(scenario, "sm") ? 2 : 3;
    double limit = memory_class(job.setting, classes), bound = tree_lower_bound(job.setting);
    struct tree_setting *strict = tree_job_strict(&job);
    struct snapshot best = {0};
    setting_restrict(job.setting, limit);
    try_hompart(&job, job.setting, &best);
    if (strict) {
        setting_restrict(strict, limit);
        try_hompart(&job, strict, &best);
        setting_free(strict);
    }
    struct plan *plan = NULL;
    if (best.n)
        plan = tree_job_plan(&job, &best, bound, err);
    else
        hompart_refuse(&job, scenario, limit, err);
    snapshot_free(&best);
    tree_job_close(&job);
    return plan;
}

const struct planner planner_hompart = {
    .name = "hompart",
    .family = "tree",
    .summary = "cut a tree into parts for equal nodes with limited memory",
    .paper =
        "Gou, Benoit, Marchal: Partitioning tree-shaped task graphs for distributed platforms with "
        "limited memory, IEEE TPDS 31(7), 2020",
    .guarantee = NULL,
    .tie_rule = "the task nearer to the root, then the node with more memory, then the lower index",
    .options = options,
    .accepts = ACCEPTS_TREE,
    .run = run_hompart,
};
