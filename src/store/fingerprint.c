/* One number for a graph with its names: edges by task and object, and each task's name, mixed
 * in order (the multiplier is 2^64 / the golden ratio). Sizes, times and commands are not part
 * of it: a journal or a run on Redis stays valid when only those were changed. O(tasks + edges). */
#include "store/fingerprint.h"
#include <string.h>

uint64_t store_fingerprint(const struct workflow *w)
{
    uint64_t h = hash_bytes(w->pred_off, ((size_t)w->ntasks + 1) * sizeof *w->pred_off);
    h = h * 0x9E3779B97F4A7C15u ^
        hash_bytes(w->pred_task, (size_t)w->nedges * sizeof *w->pred_task);
    h = h * 0x9E3779B97F4A7C15u ^
        hash_bytes(w->pred_object, (size_t)w->nedges * sizeof *w->pred_object);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t);
        h = h * 0x9E3779B97F4A7C15u ^ hash_bytes(name, strlen(name));
    }
    return h;
}
