/* Experiments (experiment/expansion.h): read one, merge its combinations, say how much work it is.
 * Running it is a session on the merged workflow. */
#pragma once
#include "base/progress.h"
#include "experiment/expansion.h"
#include "formats/format.h"
#include "session/remark.h"

struct expand_options {
    const char *planner;         /* that predicts [auto] */
    const char *platform;        /* by name, as machine_named() takes it [this-machine] */
    uint64_t seed;               /* of the planner */
    const struct format *format; /* of the workflow [by its content] */
    const struct option_value *read;
    const char *const *assertions;   /* more constraints on the schedule, ends with NULL [none] */
    const struct progress *progress; /* while planning; may be NULL */
    bool no_history;                 /* predict from what the file states alone */
    double risk;                     /* tasks stay below their time so probably; 0: as predicted */
    struct remarks remarks;
};

/* `path`: the experiment's file. False: an error; free all the same. */
bool expansion_open(struct expansion *e, const char *path, const struct expand_options *o,
                    struct error *err);
/* The figures of e: what has been computed already, work and time with and without reuse. */
bool expansion_predict(struct expansion *e, const struct expand_options *o, struct error *err);
/* A plan of the merged workflow `w` (e->merged->workflow, wherever it is now). NULL: an error. */
struct plan *expansion_plan(const struct expansion *e, const struct workflow *w, struct error *err);
void expansion_free(struct expansion *e);
