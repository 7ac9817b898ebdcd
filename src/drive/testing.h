/* A workflow run in a folder of its own, for tests of this room and those above it. */
#pragma once
#include "base/tree.h"
#include "drive/run.h"
#include "folder_testing.h"
#include "memo/need.h"

/* Run with records in the folder, as the command does. */
static inline bool run_here(const struct bench_folder *f, const struct workflow *w,
                            struct run_options o, struct run_result *result, struct error *err)
{
    char memo_path[256], state[128];
    snprintf(state, sizeof state, "%s/.weft", f->path);
    snprintf(memo_path, sizeof memo_path, "%s/memo", state);
    if (!make_parents(memo_path, err))
        return false;
    struct memo *memo = memo_open(memo_path, NULL, err);
    if (!memo)
        return false;
    struct needs needs;
    *result = (struct run_result){0};
    bool good = needs_find(&needs, w, f->path, memo, &(struct need_options){0}, err);
    if (good) {
        o.workflow = w;
        o.folder = f->path;
        o.state = state;
        o.label = "t";
        o.needs = &needs;
        o.cores = o.cores ? o.cores : 2;
        good = run_workflow(&o, result, err);
        needs_free(&needs);
    }
    struct error last = {0};
    return memo_close(memo, &last) && good;
}
