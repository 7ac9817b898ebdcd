/* The lineage of a file: back to the inputs that it was made of, forward to all that was made of it,
 * over all runs on record. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "history/history.h"

#define LINEAGE_MOST 2000 /* tasks in one lineage where nobody says more: 0.1 s */

struct lineage {
    struct workflow *graph; /* tasks "name (run 3)"; objects are files */
    uint32_t focus;         /* the object that was asked for */
    uint32_t nback;     /* tasks 0 .. nback - 1 made it, the others read it or what came of it */
    ARRAY(int64_t) run; /* of each task */
    bool cut;
};

/* Of a record that history_file() found. At most so many tasks, the nearest; 0: all. Free with
 * lineage_free() in any case. */
bool lineage_find(struct history *h, const struct history_origin *of, size_t most,
                  struct lineage *out, struct error *err);
void lineage_free(struct lineage *l);
