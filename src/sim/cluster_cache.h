/* What a node has fetched and kept: objects by number, the oldest leave first when the bytes exceed
 * the limit. Owned data are not in here, so nothing that leaves is the last copy. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

struct cluster_cached {
    uint32_t object;
    double bytes;
};

struct cluster_cache {
    uint32_t *table; /* open addressing; UINT32_MAX: free. NULL until something is kept */
    uint32_t mask, used;
    double bytes;
    ARRAY(struct cluster_cached) order; /* oldest from `head` on */
    size_t head;
};

void cluster_cache_free(struct cluster_cache *c);
bool cluster_cache_has(const struct cluster_cache *c, uint32_t object);
/* One that is not there; the oldest make room. */
void cluster_cache_add(struct cluster_cache *c, uint32_t object, double bytes, double limit);
void cluster_cache_drop(struct cluster_cache *c, uint32_t object, double bytes);
