/* The three steps put together, and what the tree planners share around them. */
#pragma once
#include "plan/planner.h"
#include "plan/tree/fit.h"

/* STEP1_NONE: the whole tree goes to step 2 as one piece. It is the way out where the cuts of the
 * others leave no valid mapping. */
enum step1 { STEP1_ASAP, STEP1_SPLITSUBTREES, STEP1_IMPROVEDSPLIT, STEP1_NONE, STEP1_BEST };

/* HetPart1 up to step 3a, on a cleared partition that counts speeds as equal; step 1 makes up to
 * `pieces` pieces (the paper: as many as there are processors). False: some piece found no
 * processor. *one: step 1 made no cut at all. What is left to do is split_again(). */
bool pipeline_map(struct partition *p, enum step1 method, uint32_t pieces, enum fit_method fit,
                  bool *one);
/* HomPart on a cleared partition whose setting was restricted to one limit. */
bool pipeline_hompart(struct partition *p, enum step1 method, enum fit_method fit);

/* ---- options that several planners have ---- */
#define OPTION_MEMORY_COUNT                                                                        \
    {                                                                                              \
        "memory", OPTION_CHOICE, "strict", "strict|lenient", 0, 0,                                 \
            "strict: files for cut children count while their producer runs; lenient: as in the "  \
            "published programs, not at all"                                                       \
    }
#define OPTION_STEP1(standard)                                                                     \
    {                                                                                              \
        "step1", OPTION_CHOICE, standard, "best|asap|splitsubtrees|improvedsplit", 0, 0,           \
            "how the tree is cut for a short makespan; best: try all, keep the shortest"           \
    }
#define OPTION_STEP2                                                                               \
    {                                                                                              \
        "step2", OPTION_CHOICE, "firstfit", "firstfit|largestfirst|immediately", 0, 0,             \
            "what is cut when a part does not fit into memory"                                     \
    }

/* A request's tree and processors. */
struct tree_job {
    const struct plan_request *request;
    struct tree *tree;
    struct tree_setting *setting;
};
bool tree_job_open(struct tree_job *job, const struct plan_request *request,
                   const struct planner *planner, struct error *err);
void tree_job_close(struct tree_job *job);
enum step1 tree_job_step1(const struct tree_job *job, const struct planner *planner);
enum fit_method tree_job_step2(const struct tree_job *job, const struct planner *planner);

/* Lenient jobs only (NULL otherwise, and when no node could hold every task): the same job with memory
 * counted strictly. Its mappings are valid leniently too, so a planner that keeps the shorter of
 * both answers is never longer for being lenient. The caller frees it. */
struct tree_setting *tree_job_strict(const struct tree_job *job);

/* The finished plan: parts with their orders, makespan, lower bound and gap. */
struct plan *tree_job_plan(const struct tree_job *job, const struct snapshot *solution,
                           double bound, struct error *err);
/* "no valid mapping was found", with the piece of the last attempt that found no processor. Always
 * false. */
bool tree_job_unplaced(const struct tree_job *job, struct partition *p, struct error *err);
