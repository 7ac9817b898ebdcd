/* An experiment with its combinations merged into one workflow, and what is known about the work
 * that this is. Filled by session/expand.h, shown by report/experiment_output.h. */
#pragma once
#include "experiment/merge.h"
#include "model/platform.h"

struct expansion {
    struct experiment x;
    struct workflow *original; /* as its file is without the experiment */
    struct workflow **reading; /* with values of what makes it another graph; NULL: none does */
    uint32_t nreadings, *reading_of; /* per combination */
    struct merged *merged;
    struct platform *platform; /* on which times are predicted */
    const char *planner;       /* by which planner; static text */
    uint64_t seed;
    double seconds; /* that merging took */

    /* figures, from expansion_predict() */
    double work, work_without; /* of all tasks, with and without reuse; NAN: too many to tell */
    double time, time_without; /* predicted; NAN: not */
    uint32_t remaining;        /* tasks that a run would still compute */
    uint32_t measured;         /* tasks whose time comes from past runs */
    const char *values;        /* show the figures in this result; NULL: the names of the results */
};
