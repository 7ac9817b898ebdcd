/* What a node has fetched and kept: objects by number, the oldest leave first when the bytes exceed
 * the limit. Owned data are not in here, so nothing that leaves is the last copy. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

struct schedulers_cached {
    uint32_t object;
    double bytes;
};

struct schedulers_cache {
    uint32_t *table; /* open addressing; UINT32_MAX: free. NULL until something is kept */
    uint32_t mask, used;
    double bytes;
    ARRAY(struct schedulers_cached) order; /* oldest from `head` on */
    size_t head;
};

void schedulers_cache_free(struct schedulers_cache *c);
bool schedulers_cache_has(const struct schedulers_cache *c, uint32_t object);
/* One that is not there; the oldest make room. */
void schedulers_cache_add(struct schedulers_cache *c, uint32_t object, double bytes, double limit);
void schedulers_cache_drop(struct schedulers_cache *c, uint32_t object, double bytes);
