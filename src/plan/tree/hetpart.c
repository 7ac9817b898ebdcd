/* HetPart1 and HetPart2: Kulagina, Meyerhenke, Benoit, CCPE 35(25), 2023.
 *
 *    step 1 split.c     cut for a short makespan        asap | splitsubtrees | improvedsplit
 *    step 2 fit.c       cut until it fits               BIGGESTFIT
 *    step 3a merge.c    too many pieces: merge          HETERMERGE
 *    step 3b again.c    processors left: cut again      SPLITAGAIN
 *    phases A, B swap.c exchange processors             HetPart2 only, with the real speeds
 *
 * With step1=best all three methods are tried, each for up to four numbers of pieces, and the
 * shortest mappings are kept (`tree` starts from several). HetPart1 counts all speeds as their
 * harmonic mean; its answer is measured with the real ones. */
#include "plan/tree/hetpart.h"
#include "base/mem.h"
#include "plan/tree/again.h"
#include "plan/tree/bound.h"
#include "plan/tree/swap.h"
#include <string.h>

enum { MOST_COUNTS = 4 };

/* Past this many tasks times processors (a million on a thousand are half of it: 11 s) only half of
 * the variants are tried. */
static bool is_large(const struct tree_setting *s)
{
    return (double)s->t->n * s->nprocs > 2e9;
}

/* How many processors have at least the k-th largest memory, for up to four sizes: all of them
 * first. Cutting into fewer pieces leaves the processors of small memory to what does not fit on
 * the others. */
static uint32_t piece_counts(const struct tree_setting *s, uint32_t counts[MOST_COUNTS])
{
    uint32_t n = 0;
    counts[n++] = s->nprocs;
    uint32_t most = is_large(s) ? MOST_COUNTS / 2 : MOST_COUNTS;
    for (uint32_t q = s->nprocs - 1; q > 0 && n < most; q--)
        if (s->memory[q - 1] > s->memory[q] && q <= counts[n - 1] * 4 / 5)
            counts[n++] = q;
    return n;
}

/* One run over methods and numbers of pieces, with what was best so far. */
struct trial {
    struct partition *p;
    enum fit_method fit;
    enum phases phases;
    bool whole_tried;        /* the tree as one piece went through already */
    struct snapshot start;   /* after step 3a */
    struct snapshot planned; /* the shortest of the method, speeds counted as equal */
    struct snapshot *best;   /* best[most], the shortest first */
    struct snapshot *every;  /* the shortest of all */
    uint32_t most, found;
};

/* What HetPart2 adds, with the real speeds. */
static void exchange_nodes(struct trial *t)
{
    partition_use_speeds(t->p, false);
    if (t->phases != PHASES_NONE)
        swap_phases(t->p, t->phases == PHASES_AB);
    if (!t->every->n || partition_makespan(t->p) < t->every->makespan)
        snapshot_store(t->every, t->p);
}

/* Step 3b, speeds equal; the method keeps its shortest. */
static void finish_mapping(struct trial *t, bool largest)
{
    split_again(t->p, largest);
    if (!t->planned.n || partition_makespan(t->p) < t->planned.makespan)
        snapshot_store(&t->planned, t->p);
    if (t->phases != PHASES_NONE)
        exchange_nodes(t);
}

/* Steps 1 to 3 with so many pieces in step 1. False: no valid mapping. */
static bool try_pieces(struct trial *t, enum step1 method, uint32_t pieces)
{
    struct partition *p = t->p;
    bool one;
    partition_clear(p);
    partition_use_speeds(p, true);
    bool valid = pipeline_map(p, method, pieces, t->fit, &one);
    if (!valid || (one && t->whole_tried))
        return valid;
    t->whole_tried |= one;
    bool idle = p->idle > 0;
    snapshot_store(&t->start, p);
    finish_mapping(t, false);
    if (idle && !is_large(p->s)) {
        partition_use_speeds(p, true);
        snapshot_load(p, &t->start);
        finish_mapping(t, true);
    }
    /* HetPart1 stops cutting when equal speeds say so. Where the top of the tree sits on a large
     * slow node, going on pays: HetPart2 also starts from two-level splits whose step 3b counts the
     * real speeds. */
    if (idle && t->phases != PHASES_NONE && method == STEP1_SPLITSUBTREES) {
        snapshot_load(p, &t->start);
        partition_use_speeds(p, false);
        split_again(p, false);
        exchange_nodes(t);
        snapshot_keep(p, t->best, &t->found, t->most);
    }
    return true;
}

/* One method with every number of pieces, then the exchanges from the shortest of them. False: no
 * valid mapping. */
static bool run_method(struct trial *t, enum step1 method)
{
    uint32_t counts[MOST_COUNTS], ncounts = piece_counts(t->p->s, counts);
    bool valid = false;
    t->planned.n = 0;
    for (uint32_t k = 0; k < ncounts; k++)
        valid |= try_pieces(t, method, counts[k]);
    if (t->planned.n) {
        snapshot_load(t->p, &t->planned);
        exchange_nodes(t);
        snapshot_keep(t->p, t->best, &t->found, t->most);
    }
    return valid;
}

uint32_t hetpart_best(struct partition *p, enum step1 method, enum fit_method fit,
                      enum phases phases, struct snapshot *out, uint32_t most,
                      struct snapshot *every)
{
    struct trial t = {
        .p = p, .fit = fit, .phases = phases, .best = out, .most = most, .every = every};
    bool valid = false;
    for (enum step1 m = STEP1_ASAP; m < STEP1_NONE; m++)
        if (method == STEP1_BEST || method == m)
            valid |= run_method(&t, m);
    if (!valid)
        run_method(&t, STEP1_NONE);
    snapshot_free(&t.start);
    snapshot_free(&t.planned);
    return t.found;
}

static void hetpart_shortest(struct partition *p, enum step1 step1, enum fit_method step2,
                             enum phases phases, struct snapshot *best)
{
    struct snapshot first = {0};
    hetpart_best(p, step1, step2, phases, &first, 1, best);
    snapshot_free(&first);
}

static struct plan *run_hetpart(const struct plan_request *request, const struct planner *planner,
                                enum phases phases, struct error *err)
{
    struct tree_job job;
    if (!tree_job_open(&job, request, planner, err))
        return NULL;
    struct partition *p = partition_new(job.setting, true);
    struct tree_setting *strict = tree_job_strict(&job);
    struct snapshot best = {0};
    struct plan *plan = NULL;
    enum step1 step1 = tree_job_step1(&job, planner);
    enum fit_method step2 = tree_job_step2(&job, planner);
    hetpart_shortest(p, step1, step2, phases, &best);
    if (strict) {
        struct partition *other = partition_new(strict, true);
        struct snapshot also = {0};
        hetpart_shortest(other, step1, step2, phases, &also);
        if (also.n && (!best.n || also.makespan < best.makespan))
            snapshot_copy(&best, &also);
        snapshot_free(&also);
        partition_free(other);
        setting_free(strict);
    }
    if (best.n)
        plan = tree_job_plan(&job, &best, tree_lower_bound(job.setting), err);
    else
        tree_job_unplaced(&job, p, err);
    snapshot_free(&best);
    partition_free(p);
    tree_job_close(&job);
    return plan;
}

/* ---- HetPart1 ---- */

static const struct option hetpart1_options[] = {
    OPTION_STEP1("best"),
    OPTION_STEP2,
    OPTION_MEMORY_COUNT,
    {0},
};

const struct planner planner_hetpart1;
static struct plan *run_hetpart1(const struct plan_request *request, struct error *err)
{
    return run_hetpart(request, &planner_hetpart1, PHASES_NONE, err);
}

const struct planner planner_hetpart1 = {
    .name = "hetpart1",
    .family = "tree",
    .summary = "cut a tree into parts for nodes of different memory; speeds count as equal",
    .paper =
        "Kulagina, Meyerhenke, Benoit: Mapping tree-shaped workflows on systems with different "
        "memory sizes and processor speeds, CCPE 35(25), 2023",
    .guarantee = NULL,
    .tie_rule = "the task nearer to the root, then the node with more memory, then the lower index",
    .options = hetpart1_options,
    .accepts = ACCEPTS_TREE,
    .run = run_hetpart1,
};

/* ---- HetPart2 ---- */

static const struct option hetpart2_options[] = {
    {"phase", OPTION_CHOICE, "ab", "a|ab", 0, 0,
     "a: exchange nodes while it helps; ab: also perturb and repeat"},
    OPTION_STEP1("best"),
    OPTION_STEP2,
    OPTION_MEMORY_COUNT,
    {0},
};

const struct planner planner_hetpart2;
static struct plan *run_hetpart2(const struct plan_request *request, struct error *err)
{
    bool both = strcmp(request_text(request, &planner_hetpart2, "phase"), "ab") == 0;
    return run_hetpart(request, &planner_hetpart2, both ? PHASES_AB : PHASE_A, err);
}

const struct planner planner_hetpart2 = {
    .name = "hetpart2",
    .family = "tree",
    .summary = "hetpart1, then exchange nodes so that heavy parts get fast ones",
    .paper =
        "Kulagina, Meyerhenke, Benoit: Mapping tree-shaped workflows on systems with different "
        "memory sizes and processor speeds, CCPE 35(25), 2023",
    .guarantee = "never longer than hetpart1, or than phase A alone, with the same options",
    .tie_rule = "the task nearer to the root, then the node with more memory, then the lower index",
    .options = hetpart2_options,
    .accepts = ACCEPTS_TREE,
    .run = run_hetpart2,
};
