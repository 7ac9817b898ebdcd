/* What `weft experiment` prints. */
#pragma once
#include "cli/cli.h"
#include "experiment/merge.h"
#include "plan/planner.h"

struct study {
    struct experiment x;
    struct workflow *original;
    struct platform *platform;
    struct merged *merged;
    const struct known_results *known; /* what has been run before; NULL: nothing */
    const struct planner *planner;
    uint64_t seed;
    double work, work_without; /* of all tasks, with and without reuse */
    double time, time_without; /* predicted; NAN: not */
    double seconds;            /* that merging took */
    uint32_t remaining;        /* tasks that a run would still compute */
    uint32_t measured;         /* tasks whose time comes from past runs */
    const char *values;        /* show the figures in this result; NULL: the names of the results */
};

void experiment_text(const struct study *s, bool list, struct strbuf *out);
void experiment_json(const struct study *s, bool list, struct strbuf *out);

/* A row a combination: what was chosen, and the files that it gives, or the figures in one of them:
 * lines "name value" (also with ':', '=' or a comma between) become columns. */
void experiment_results(const struct study *s, struct strbuf *out);

/* Is `values` the name of a result? If not, the error says which there are. */
bool experiment_has_values(const struct study *s, struct error *err);
