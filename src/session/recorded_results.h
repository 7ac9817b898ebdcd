/* Kept results of past runs: keep them, put them back (memo/objects.h), by what the history knows of their
 * contents. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "history/history.h"

struct recorded_result {
    char *path, *text;
    bool good;
    double bytes;
};
typedef ARRAY(struct recorded_result) recorded_results;

/* A file that a run left: as its workflow calls it, and what it was. */
struct recorded_output {
    char *path, *task;
    struct digest digest;
    double size;
};
typedef ARRAY(struct recorded_output) recorded_outputs;

/* What tasks of the run left, also those that it found done. Free with recorded_outputs_free(). */
bool recorded_outputs_of(struct history *h, int64_t run, recorded_outputs *out, char **folder,
                         struct error *err);
void recorded_outputs_free(recorded_outputs *o);

/* A line each is in `out`, also after an error. */
bool recorded_keep(struct history *h, const char *run_or_file, recorded_results *out,
                   struct error *err);
bool recorded_restore(struct history *h, int64_t run, const char *name, const char *into,
                      recorded_results *out, struct error *err);
/* Copies of these files of `folder`, as they were, into another: from what is kept, else as they stand
 * if they are still that. A line each, in their order. */
void recorded_gather(const char *folder, const recorded_outputs *files, const char *into,
                     recorded_results *out);
void recorded_results_free(recorded_results *r);
