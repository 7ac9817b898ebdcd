/* Texts by number: a pool holds each text once after the other, an index finds a number by its
 * text. For names of millions of tasks: five bytes of overhead a text and 8 bytes an index slot. */
#include "base/pool.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t hash_bytes(const void *data, size_t len)
{
    /* A multiply-and-fold hash over 8-byte words: names are short, so set-up cost matters more than
     * bulk speed. Not for hostile keys: a crafted file can only slow its own reading down. */
    const unsigned char *p = data;
    uint64_t h = 0x9E3779B97F4A7C15ull ^ (len * 0xD6E8FEB86659FD93ull);
    while (len >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 32;
        p += 8;
        len -= 8;
    }
    uint64_t tail = 0;
    memcpy(&tail, p, len);
    h = (h ^ tail) * 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 29);
}

/* The empty text stands first, so that number 0 is always valid. */
void pool_init(struct pool *p)
{
    p->cap = 256;
    p->at = mem_alloc(p->cap);
    p->at[0] = 0;
    p->n = 1;
}

void pool_free(struct pool *p)
{
    free(p->at);
    *p = (struct pool){0};
}

/* Numbers are offsets: they stay valid when the pool moves. 0 is the empty text. */
str_id pool_add(struct pool *p, const char *text, size_t len)
{
    if (!len)
        return 0;
    size_t want = p->n + len + 1;
    if (want > UINT32_MAX)
        mem_fail(want);
    if (want > p->cap) {
        size_t cap = p->cap;
        while (cap < want)
            cap += cap / 2;
        p->at = mem_grow(p->at, cap);
        p->cap = cap;
    }
    str_id id = (str_id)p->n;
    memcpy(p->at + id, text, len);
    p->at[id + len] = 0;
    p->n = want;
    return id;
}

void name_index_init(struct name_index *x)
{
    *x = (struct name_index){.mask = 15, .slot = mem_new_zero(struct name_slot, 16)};
}

void name_index_free(struct name_index *x)
{
    free(x->slot);
    free(x->tag);
    *x = (struct name_index){0};
}

void name_index_settle(struct name_index *x)
{
    free(x->tag);
    x->tag = NULL;
}

/* From the end of the hash that does not choose the slot. */
static inline uint8_t name_tag(uint32_t hash)
{
    return hash >> 24 ? (uint8_t)(hash >> 24) : 1;
}

static inline bool name_slot_is(const struct name_slot *s, const struct pool *p,
                                const str_id *names, const char *text, size_t len, uint32_t hash)
{
    if (s->hash != hash)
        return false;
    const char *name = pool_text(p, names[s->entry - 1]);
    return strncmp(name, text, len) == 0 && name[len] == 0;
}

/* The hash is kept in the slot, so that a miss seldom reads the text. */
uint32_t name_index_find(const struct name_index *x, const struct pool *p, const str_id *names,
                         const char *text, size_t len)
{
    return name_index_find_hashed(x, p, names, text, len, (uint32_t)hash_bytes(text, len));
}

uint32_t name_index_find_hashed(const struct name_index *x, const struct pool *p,
                                const str_id *names, const char *text, size_t len, uint32_t hash)
{
    if (!x->slot)
        return UINT32_MAX;
    uint32_t i = hash & x->mask;
    uint8_t tag = name_tag(hash);
    if (x->tag) {
        for (; x->tag[i]; i = (i + 1) & x->mask)
            if (x->tag[i] == tag && name_slot_is(&x->slot[i], p, names, text, len, hash))
                return x->slot[i].entry - 1;
        return UINT32_MAX;
    }
    for (; x->slot[i].entry; i = (i + 1) & x->mask)
        if (name_slot_is(&x->slot[i], p, names, text, len, hash))
            return x->slot[i].entry - 1;
    return UINT32_MAX;
}

/* Linear probing; the caller knows that there is room and that the name is new. */
static void name_index_place(struct name_index *x, struct name_slot s)
{
    uint32_t i = s.hash & x->mask;
    if (x->tag) {
        while (x->tag[i])
            i = (i + 1) & x->mask;
        x->tag[i] = name_tag(s.hash);
    } else {
        while (x->slot[i].entry)
            i = (i + 1) & x->mask;
    }
    x->slot[i] = s;
}

/* A million names are looked up all over their table: in pages of 4 KiB almost each of them misses the
 * translation, too. Only a wish, and the memory is touched all over anyway. */
static void wish_large_pages(void *at, size_t bytes)
{
    const uintptr_t large = 2u << 20;
    uintptr_t first = ((uintptr_t)at + large - 1) & -large, end = ((uintptr_t)at + bytes) & -large;
    if (end > first)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
}

enum { TAGGED_SLOTS = 1 << 16 }; /* 512 KiB of slots: a core's own cache holds fewer */

static void name_index_grow(struct name_index *x, uint32_t mask)
{
    struct name_slot *old = x->slot;
    uint32_t old_mask = x->mask;
    x->mask = mask;
    free(x->tag);
    x->tag = mask >= TAGGED_SLOTS ? mem_new_zero(uint8_t, (size_t)mask + 1) : NULL;
    x->slot = mem_new_zero(struct name_slot, (size_t)mask + 1);
    wish_large_pages(x->slot, ((size_t)mask + 1) * sizeof *x->slot);
    if (x->tag)
        wish_large_pages(x->tag, (size_t)mask + 1);
    for (size_t i = 0; old && i <= old_mask; i++)
        if (old[i].entry)
            name_index_place(x, old[i]);
    free(old);
}

void name_index_expect(struct name_index *x, uint32_t names)
{
    uint32_t mask = x->mask;
    while (mask < UINT32_MAX / 2 && (uint64_t)names * 4 > ((uint64_t)mask + 1) * 3)
        mask = mask * 2 + 1;
    if (mask > x->mask)
        name_index_grow(x, mask);
}

void name_index_add(struct name_index *x, const struct pool *p, const str_id *names,
                    uint32_t number)
{
    const char *name = pool_text(p, names[number]);
    name_index_add_hashed(x, number, (uint32_t)hash_bytes(name, strlen(name)));
}

void name_index_add_hashed(struct name_index *x, uint32_t number, uint32_t hash)
{
    /* at most three quarters full */
    if (((uint64_t)x->used + 1) * 4 > ((uint64_t)x->mask + 1) * 3)
        name_index_grow(x, x->mask * 2 + 1);
    name_index_place(x, (struct name_slot){number + 1, hash});
    x->used++;
}

bool name_index_renumber(struct name_index *x, const uint32_t *number)
{
    for (size_t i = 0; x->slot && i <= x->mask; i++)
        if (x->slot[i].entry && number[x->slot[i].entry - 1] == UINT32_MAX)
            return false;
    for (size_t i = 0; x->slot && i <= x->mask; i++)
        if (x->slot[i].entry)
            x->slot[i].entry = number[x->slot[i].entry - 1] + 1;
    return true;
}

void intern_init(struct intern *t)
{
    *t = (struct intern){0};
    pool_init(&t->pool);
    name_index_init(&t->index);
}

void intern_free(struct intern *t)
{
    pool_free(&t->pool);
    name_index_free(&t->index);
    free(t->names);
    *t = (struct intern){0};
}

uint32_t intern_find(const struct intern *t, const char *text, size_t len)
{
    return name_index_find(&t->index, &t->pool, t->names, text, len);
}

/* The number of a text, a new one on first sight: 0, 1, 2 ... in that order. */
uint32_t intern_number(struct intern *t, const char *text, size_t len)
{
    uint32_t hash = (uint32_t)hash_bytes(text, len);
    uint32_t found = name_index_find_hashed(&t->index, &t->pool, t->names, text, len, hash);
    if (found != UINT32_MAX)
        return found;
    if (t->n == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 16;
        t->names = mem_resize(t->names, t->cap);
    }
    t->names[t->n] = pool_add(&t->pool, text, len);
    name_index_add_hashed(&t->index, t->n, hash);
    return t->n++;
}

/* Valid until the next text is added. */
const char *intern_text(const struct intern *t, uint32_t number)
{
    return pool_text(&t->pool, t->names[number]);
}
