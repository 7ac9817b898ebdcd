/* Numbers for pairs of nodes in the order of first use: open addressing, at most half full, linear
 * probing. A key is the pair plus one, so that 0 means free. */
#include "sim/pairmap.h"
#include "base/mem.h"
#include <stdlib.h>

void pairmap_free(struct pairmap *m)
{
    free(m->key);
    free(m->number);
    *m = (struct pairmap){0};
}

static size_t pairmap_find_slot(const struct pairmap *m, uint64_t key)
{
    /* the low half of a product knows nothing of the high half of the key: fold before the second
     * one */
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15u;
    size_t i = (size_t)(hash >> 24) & m->mask;
    while (m->key[i] && m->key[i] != key)
        i = (i + 1) & m->mask;
    return i;
}

/* Twice the size, every key to its new place. Numbers stay. */
static void pairmap_grow(struct pairmap *m)
{
    struct pairmap old = *m;
    size_t size = old.mask ? (old.mask + 1) * 2 : 64;
    m->key = mem_new_zero(uint64_t, size);
    m->number = mem_new(uint32_t, size);
    m->mask = size - 1;
    for (size_t i = 0; old.key && i <= old.mask; i++)
        if (old.key[i]) {
            size_t slot = pairmap_find_slot(m, old.key[i]);
            m->key[slot] = old.key[i];
            m->number[slot] = old.number[i];
        }
    free(old.key);
    free(old.number);
}

uint32_t pairmap_number(struct pairmap *m, uint32_t a, uint32_t b)
{
    if (2 * ((size_t)m->used + 1) > m->mask + 1 || !m->key)
        pairmap_grow(m);
    uint64_t key = ((uint64_t)a << 32 | b) + 1;
    size_t slot = pairmap_find_slot(m, key);
    if (!m->key[slot]) {
        m->key[slot] = key;
        m->number[slot] = m->used++;
    }
    return m->number[slot];
}
