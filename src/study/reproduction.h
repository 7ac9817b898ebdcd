/* Published studies, repeated: each reads or generates the paper's instances, runs our planners and
 * simulations over them, and writes a report in which the published numbers stand beside ours.
 *
 *     options ──▶ study.run() ──▶ FOLDER/NAME.md, pictures   the report, for people
 *                     │
 *                     ├─────────▶ `out`                      what a command prints at the end
 *                     └─────────▶ options.progress           how far it is; may be NULL
 *
 * A study prints nothing by itself and knows no command line. The same options give the same
 * report, except for lines that state what was measured: how long a planner took, what a plan that was
 * executed reached. */
#pragma once
#include "base/error.h"
#include "base/progress.h"
#include "base/strbuf.h"
#include "model/platform.h"
#include "model/replayer.h"
#include <stdint.h>

/* Runs a plan for real, on agents of this machine: what a study may not do by itself. */
struct reproduction_runner {
    /* The workflow's file, whose tasks are commands, by the plan's: one agent for each node, strictly. Of
     * each task when it ended (seconds since the start) and on which agent; room for `ntasks`. */
    bool (*run)(const char *workflow, const char *plan, uint32_t agents, uint32_t ntasks,
                double *finish, uint32_t *agent, struct error *err);
};

struct reproduction_options {
    const char *folder; /* where report and pictures go; it exists */
    bool quick;         /* a small version that takes seconds, for tests */
    uint64_t seed;
    uint32_t runs;                   /* repeats of a simulation; 0: as many as the study needs */
    const char *data;                /* folders of instances, separated by colons; NULL: none */
    const struct progress *progress; /* NULL: nobody watches */
    const struct replayer *replayer; /* confirms the promises of stream planners; not NULL */
    const struct reproduction_runner *runner; /* NULL: nothing is really executed */
};

struct reproduction {
    const char *name, *summary;
    const char *working_on; /* what a line of progress begins with: "trees" */
    const char *ignores;    /* options that it has no use for, with blanks between; NULL: none */
    /* Write NAME.md and pictures into the folder; what goes into `out` is for the user to read.
     * False with an error: the folder may hold some of the files. */
    bool (*run)(const struct reproduction_options *o, struct strbuf *out, struct error *err);
};

extern const struct reproduction *const reproduction_registry[]; /* by name; ends with NULL */
/* NULL with an error that lists the names there are. */
const struct reproduction *reproduction_find(const char *name, struct error *err);

/* ---- for studies ---- */

/* The first words of a report: every comparison is a sentence in one of two halves, by what was found, so that
 * they are true of a small version and of another seed, too. Zero it. */
struct findings {
    struct strbuf agrees, differs;
};

__attribute__((format(printf, 3, 4))) void findings_say(struct findings *f, bool agrees,
                                                        const char *format, ...);
/* "WHAT: ours, published paper.": they agree within that share of the paper's. Not a number: nothing. */
void findings_compare(struct findings *f, const char *what, double ours, double paper,
                      double within);
/* What agrees, what differs and why (`why` may be empty), what cannot be known; `f` is empty afterwards. */
void findings_write(struct findings *f, struct strbuf *md, const char *why, const char *unknown);

/* Write a file of the report into the folder. */
bool reproduction_write(const struct reproduction_options *o, const char *file,
                        const struct strbuf *text, struct error *err);
/* So many equal nodes of speed 1, by the generator `homogeneous`; NULL for bandwidth or latency
 * takes the generator's own. The caller frees. */
struct platform *reproduction_equal_nodes(const char *count, const char *bandwidth,
                                          const char *latency, struct error *err);
