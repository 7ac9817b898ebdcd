/* METG through agents beside Dask: the grids of bench/metg.h, 64 bytes from point to point, objects in memory on weft's
 * side. 2 agents of one core against 2 workers of one thread, and 4 agents on the same two cores; the
 * servers (redis-server, Dask's scheduler) share those. A time is from handing in, packing included, to the
 * last task's end. Each contender's bytes are compared with a serial evaluation, once a pattern. */
#pragma once
#include "base/json.h"
#include <stdbool.h>

struct metg_agents {
    const char *folder; /* for files that it makes */
    bool quick;         /* one try a length */
    bool peers;         /* Dask, too */
    const char
        *chart;    /* efficiency over the length of a task of stencil_1d, as this file; or NULL */
    bool scripted; /* as in struct bed */
};

/* Printed, and as "metg" in `j`. */
void metg_agents_measure(const struct metg_agents *how, struct json_writer *j);
