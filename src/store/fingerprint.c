/* One number for a graph with its names: edges by task and object, and each task's name, mixed
 * in order (the multiplier is 2^64 / the golden ratio). Sizes, times and commands are not part
 * of it: a journal or a run on Redis stays valid when only those were changed. O(tasks + edges). */
#include "store/fingerprint.h"
#include <string.h>

uint64_t store_fingerprint(const struct workflow *w, uint32_t first, uint32_t end)
{
    size_t edge = w->pred_off[first], edges = w->pred_off[end] - edge;
    uint64_t h = hash_bytes(w->pred_off + first, ((size_t)(end - first) + 1) * sizeof *w->pred_off);
    h = h * 0x9E3779B97F4A7C15u ^ hash_bytes(w->pred_task + edge, edges * sizeof *w->pred_task);
    h = h * 0x9E3779B97F4A7C15u ^ hash_bytes(w->pred_object + edge, edges * sizeof *w->pred_object);
    for (uint32_t t = first; t < end; t++) {
        const char *name = workflow_task_name(w, t);
        h = h * 0x9E3779B97F4A7C15u ^ hash_bytes(name, strlen(name));
    }
    return h;
}
