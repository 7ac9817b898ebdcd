/* A first-in, first-out cache of object numbers: open addressing with deletion by shifting back,
 * and the order of arrival as an array with a head. All O(1) on average; nothing is allocated until
 * the first object is kept, since most nodes of a large run keep none. */
#include "sim/schedulers_cache.h"

#define FREE UINT32_MAX

void schedulers_cache_free(struct schedulers_cache *c)
{
    free(c->table);
    array_free(&c->order);
    *c = (struct schedulers_cache){0};
}

static uint32_t cache_home_slot(const struct schedulers_cache *c, uint32_t object)
{
    uint32_t h = object * 0x9E3779B1u;
    return (h ^ (h >> 15)) & c->mask;
}

static uint32_t cache_find_slot(const struct schedulers_cache *c, uint32_t object)
{
    uint32_t i = cache_home_slot(c, object);
    while (c->table[i] != FREE && c->table[i] != object)
        i = (i + 1) & c->mask;
    return i;
}

bool schedulers_cache_has(const struct schedulers_cache *c, uint32_t object)
{
    return c->used && c->table[cache_find_slot(c, object)] == object;
}

static void cache_resize(struct schedulers_cache *c, uint32_t size)
{
    uint32_t *old = c->table, n = old ? c->mask + 1 : 0;
    c->table = mem_new(uint32_t, size);
    memset(c->table, 0xff, size * sizeof *c->table);
    c->mask = size - 1;
    for (uint32_t i = 0; i < n; i++)
        if (old[i] != FREE)
            c->table[cache_find_slot(c, old[i])] = old[i];
    free(old);
}

/* Entries behind the gap move up when their home lies at or before it: no tombstones, so lookups
 * stay short however often objects come and go. */
void schedulers_cache_drop(struct schedulers_cache *c, uint32_t object, double bytes)
{
    if (!c->used)
        return;
    uint32_t i = cache_find_slot(c, object);
    if (c->table[i] == FREE)
        return;
    for (uint32_t j = (i + 1) & c->mask; c->table[j] != FREE; j = (j + 1) & c->mask)
        if (((j - cache_home_slot(c, c->table[j])) & c->mask) >= ((j - i) & c->mask)) {
            c->table[i] = c->table[j];
            i = j;
        }
    c->table[i] = FREE;
    c->used--;
    c->bytes = c->used ? c->bytes - bytes : 0;
}

/* Forget the age of what has left. */
static void cache_compact_order(struct schedulers_cache *c)
{
    size_t n = 0;
    for (size_t i = c->head; i < c->order.n; i++)
        if (schedulers_cache_has(c, c->order.at[i].object))
            c->order.at[n++] = c->order.at[i];
    c->order.n = n;
    c->head = 0;
}

void schedulers_cache_add(struct schedulers_cache *c, uint32_t object, double bytes, double limit)
{
    while (c->used && c->bytes + bytes > limit && c->head < c->order.n) {
        struct schedulers_cached *oldest = &c->order.at[c->head++];
        schedulers_cache_drop(c, oldest->object, oldest->bytes);
    }
    if (bytes > limit)
        return;
    /* objects dropped out of turn stay in the order; do not let them outnumber those that are there
     */
    if (c->order.n > 2 * (size_t)c->used + 64)
        cache_compact_order(c);
    if (!c->table)
        cache_resize(c, 16);
    else if (c->used >= c->mask / 4 * 3)
        cache_resize(c, (c->mask + 1) * 2);
    c->table[cache_find_slot(c, object)] = object;
    c->used++;
    c->bytes += bytes;
    array_push(&c->order, (struct schedulers_cached){object, bytes});
}
