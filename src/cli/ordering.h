/* Orders as commands make them: by a planner of the family order, for `weft order` and --order. */
#pragma once
#include "cli/cli.h"

/* The order of the tasks by that planner, with its settings ("name=value", ends with NULL; NULL: none),
 * and priorities in the workflow by it. What `option` asked for is named in errors. NULL: an error. */
struct weft_plan *ordering_make(const char *option, const char *planner,
                                const char *const *settings, uint64_t seed, struct weft_workflow *w,
                                struct weft_error *error);
/* What is proved of it, on standard error. */
void ordering_tell(const char *planner, const struct weft_plan *order);

/* Copies of Slurm job scripts with a --nice of their own. `pattern`: their names, with {task} for the
 * task's; the copies go to the folder `out`, under their own names. False: an error. */
bool ordering_slurm(const struct weft_workflow *w, const char *pattern, const char *out, bool quiet,
                    struct error *err);
/* A Snakefile that uses the rules of another with priorities: of a rule, by the mean place of its jobs. */
bool ordering_snakemake(const struct weft_workflow *w, const char *snakefile, const char *out,
                        bool quiet, struct error *err);

/* `weft order --for`: what was simulated with clients of one pattern, as a table and a sentence. `repeat`
 * 0: as many runs as take a few seconds. NULL: an error. */
struct weft_advice *ordering_advise(const struct weft_workflow *w, const char *clients,
                                    uint32_t repeat, uint64_t seed, struct weft_error *error);
void ordering_show_advice(const struct weft_advice *a, struct strbuf *out);
/* A line for each of the usual patterns: `weft order --for all`. False: an error. */
bool ordering_advise_all(const struct weft_workflow *w, uint32_t repeat, uint64_t seed,
                         struct strbuf *out, struct weft_error *error);
