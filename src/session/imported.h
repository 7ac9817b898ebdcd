/* Runs of other systems in our history, so that prediction starts with a past. */
#pragma once
#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

struct imported {
    int64_t run; /* its number in the history */
    uint32_t tasks, attempts;
    size_t left_out; /* rows of tasks that did not run or have no time */
    char system[16]; /* "nextflow", "slurm", "wfformat" */
};
/* An execution log (formats/logs) into the history of the user. False: an error, also when it is there
 * already. */
bool imported_add(const char *path, struct imported *out, struct error *err);
/* All runs of another machine's history into that of the user (history_merge()). */
struct history_merged;
bool imported_merge(const char *path, struct history_merged *out, struct error *err);
