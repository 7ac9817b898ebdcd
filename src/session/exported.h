/* A run on record for other programs: as a Workflow Run RO-Crate (formats/crate/crate.h), or as a
 * WfFormat document with its execution. */
#pragma once
#include "base/error.h"
#include "history/history.h"

struct exported {
    uint32_t files;   /* described */
    uint32_t missing; /* of them: wanted in the crate, and neither there as they were nor kept */
    double bytes;     /* copied into the crate */
};

/* Into the folder, which is made, or has nothing of these names in it. `data`: with what the run read and
 * left. After an error the folder may have some of it. */
bool exported_crate(struct history *h, int64_t run, const char *folder, bool data,
                    struct exported *out, struct error *err);
/* Into a file, whole or not at all. */
bool exported_wfformat(struct history *h, int64_t run, const char *path, struct exported *out,
                       struct error *err);
