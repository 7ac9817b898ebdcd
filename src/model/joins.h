/* Which tasks of a workflow that was read as a whole join it while it runs, and when.
 *
 *     lists: { chunk: { files: "parts/{chunk}", after: split } }
 *
 *     a run         `train` over chunk is not there before `split` is done (model/future.h)
 *     a simulation  all is read at once, as things stand or as the user assumes; a row here says that
 *                   the members of `train` join when `split` is done
 *
 * Each row is also an ordering edge from who decides to who joins, as long as those are not too many:
 * planners and replays, which know nothing of this, have the right order by that. */
#pragma once
#include "base/array.h"
#include <stdint.h>

/* Tasks first .. first + count - 1 join when the tasks by .. by + nby - 1 are done. */
struct join {
    uint32_t first, count, by, nby;
};

struct joins {
    ARRAY(struct join) at;
};

enum { JOIN_EDGES = 1000000 }; /* of one row; with more it has none, and the reader says so */
