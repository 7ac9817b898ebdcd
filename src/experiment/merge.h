/* All combinations of an experiment as one workflow in which every distinct computation stands
 * once.
 *
 * A computation is known by its key: a digest of its command with the parameters that it names
 * filled in, the kind of call, and its inputs in their order: a file that nobody makes by its name,
 * a produced one by the key of its producer and which output it is. Names of produced files do not
 * count, so two branches that do the same meet again, within a combination and across them. A task
 * without a command is known by its own name and its alternative's instead.
 *
 * Combinations are visited in an order in which little changes from one to the next, and only tasks
 * behind a change are looked at: combinations x edges steps of a comparison each, and one digest a
 * task behind a change. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/experiment.h"
#include "model/workflow.h"

/* A workflow's file, read with some values of the parameters that make it another graph. */
struct merged_reading {
    const struct workflow *original; /* the caller's */
    /* What a combination is for: tasks of the original with an output that nobody reads, or with
     * none. */
    uint32_t nleaves, *leaf;
};

/* All readings of an experiment's workflow. Most have one. */
struct readings {
    uint32_t n;
    struct workflow *const *at;
    const uint32_t *of; /* per combination (combinations_make()): which; NULL: the first */
};

struct merged {
    struct workflow *workflow; /* owned */
    struct digest *key;        /* per task of the merged workflow */
    uint32_t *origin;          /* per task: which task of the original that it was first met in */
    uint32_t ncombinations, nsubstitutions;
    uint32_t *choice; /* rows of alternative numbers, see experiment/combine.h */
    uint32_t nreadings;
    struct merged_reading *reading;
    uint32_t *reading_of; /* per combination */
    /* leaf l of its reading in combination c is instance[first[c] + l]; NONE: left out there */
    size_t *first;
    uint32_t *instance;
    uint64_t tasks_without_reuse; /* of all combinations together */
    uint32_t nfiles;              /* distinct input files */
};

/* `reuse` false: every combination computes everything for itself, as a yardstick. NULL: an error
 * that names the experiment's line (an unknown target, more than MOST_COMBINATIONS ...). */
struct merged *experiment_merge(const struct experiment *x, const struct workflow *w, bool reuse,
                                struct error *err);
/* The same over several readings of the workflow's file, for substitutions that are `with_file`. */
struct merged *experiment_merge_readings(const struct experiment *x, const struct readings *r,
                                         bool reuse, struct error *err);
void merged_free(struct merged *m); /* NULL is fine */

/* Append the label of a combination: "image=region_a,filter=sobel". */
void merged_label(const struct merged *m, const struct experiment *x, uint32_t combination,
                  struct strbuf *out);

/* The results of a combination: for each leaf its outputs that nobody reads. Writes objects of the
 * merged workflow into `out` and what they are in the original into `original_object` (both with
 * room for merged_most_results(); the second may be NULL), in the order of the original file;
 * returns how many. */
uint32_t merged_results(const struct merged *m, uint32_t combination, uint32_t *out,
                        uint32_t *original_object);
uint32_t merged_most_results(const struct merged *m);
/* The reading that a combination is of. */
const struct workflow *merged_original(const struct merged *m, uint32_t combination);

/* How many tasks, and of which work together, a run would still have to compute. */
uint32_t merged_remaining(const struct merged *m, const struct known_results *known, double *work);
