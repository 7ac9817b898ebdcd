/* Texts by number: a pool holds each text once after the other, an index finds a number by its
 * text. For names of millions of tasks: five bytes of overhead a text and 8 bytes an index slot. */
#include "base/pool.h"
#include "base/mem.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A multiply-and-fold hash over 8-byte words: names are short, so set-up cost matters more than bulk
 * speed. Not for hostile keys: a crafted file can only slow its own reading down. */
static inline uint64_t hash_begin(size_t len)
{
    return 0x9E3779B97F4A7C15ull ^ (len * 0xD6E8FEB86659FD93ull);
}

static inline uint64_t hash_step(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 32);
}

static inline uint64_t hash_end(uint64_t h)
{
    h *= 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 29);
}

/* The next bytes, at most 8. */
static inline uint64_t hash_word(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

uint64_t hash_bytes(const void *data, size_t len)
{
    const char *p = data;
    uint64_t h = hash_begin(len);
    for (; len >= 8; p += 8, len -= 8)
        h = hash_step(h, hash_word(p, 8));
    return hash_end(hash_step(h, hash_word(p, len)));
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

void pool_expect(struct pool *p, size_t more)
{
    if (more > UINT32_MAX - p->n || p->n + more <= p->cap)
        return;
    p->cap = p->n + more;
    p->at = mem_grow(p->at, p->cap);
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

/* Where names are looked for. Members of a family and their files differ in a number, and come one after the
 * other: names that differ in its last digit alone are neighbours, so that ten of them cost one look into
 * memory. That digit is in the highest four bits of a name's hash, everything else in the others:
 *
 *     b/1230.txt  b/1231.txt ... b/1239.txt      the same home, tags that differ in their upper half
 *
 * A small table lies in a core's cache anyway: there they are spread, and few are probed. */
enum {
    NAME_SPREAD = 28,       /* bits below the digit */
    NAME_LOOKED = 24,       /* bytes from the end in which the digit is looked for */
    TAGGED_SLOTS = 1 << 16, /* 512 KiB of slots: a core's own cache holds fewer */
    TAG_WORD = 8,           /* tags that are looked at together */
};

static bool name_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool name_is_letter(char c)
{
    return (unsigned char)((c | 32) - 'a') < 26;
}

/* The last digit of a name, but for one in an extension ("17.mp4"); len: it has none. */
static size_t name_digit_at(const char *text, size_t len)
{
    size_t least = len > NAME_LOOKED ? len - NAME_LOOKED : 0, i = len;
    while (i > least) {
        if (!name_is_digit(text[--i]))
            continue;
        size_t before = i;
        while (before > least && name_is_letter(text[before - 1]))
            before--;
        if (before == i || before == least || text[before - 1] != '.')
            return i;
        i = before - 1;
    }
    return len;
}

/* `text` without the byte at `at`, if it is among these `n`. */
static inline uint64_t name_word(const char *text, size_t from, size_t n, size_t at)
{
    uint64_t word = hash_word(text + from, n);
    if (at - from < 8)
        ((char *)&word)[at - from] = 0;
    return word;
}

uint32_t name_index_hash(const char *text, size_t len)
{
    size_t at = name_digit_at(text, len), from = 0;
    uint64_t h = hash_begin(len);
    for (; from + 8 <= len; from += 8)
        h = hash_step(h, name_word(text, from, 8, at));
    h = hash_end(hash_step(h, name_word(text, from, len - from, at)));
    return (uint32_t)h ^ (at < len ? (uint32_t)(text[at] - '0') << NAME_SPREAD : 0);
}

/* The digit and some of what does not choose the slot. */
static inline uint8_t name_tag(uint32_t hash)
{
    return hash >> 24 ? (uint8_t)(hash >> 24) : 1;
}

static inline uint32_t name_home(const struct name_index *x, uint32_t hash)
{
    if (x->mask < TAGGED_SLOTS)
        return (hash + (hash >> NAME_SPREAD) * 0x9E3779B1u) & x->mask;
    return hash & x->mask & ~(uint32_t)(TAG_WORD - 1);
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
    return name_index_find_hashed(x, p, names, text, len, name_index_hash(text, len));
}

/* A bit for each byte of `tags` that is `tag`, at its upper end; bytes stand as in memory, the first lowest. */
static inline uint64_t tags_equal(uint64_t tags, uint8_t tag)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7Full;
    uint64_t other = tags ^ (tag * 0x0101010101010101ull);
    return ~(((other & low) + low) | other | low);
}

static inline uint64_t tags_at(const struct name_index *x, uint32_t slot)
{
    uint64_t tags;
    memcpy(&tags, x->tag + slot, sizeof tags);
    return le64toh(tags);
}

static uint32_t tags_find(const struct name_index *x, const struct pool *p, const str_id *names,
                          const char *text, size_t len, uint32_t hash)
{
    uint8_t tag = name_tag(hash);
    for (uint32_t i = name_home(x, hash);; i = (i + TAG_WORD) & x->mask) {
        uint64_t tags = tags_at(x, i);
        for (uint64_t same = tags_equal(tags, tag); same; same &= same - 1) {
            const struct name_slot *s = &x->slot[i + (uint32_t)__builtin_ctzll(same) / 8];
            if (name_slot_is(s, p, names, text, len, hash))
                return s->entry - 1;
        }
        if (tags_equal(tags, 0)) /* names stand in the first free slot from their home on */
            return UINT32_MAX;
    }
}

uint32_t name_index_find_hashed(const struct name_index *x, const struct pool *p,
                                const str_id *names, const char *text, size_t len, uint32_t hash)
{
    if (!x->slot)
        return UINT32_MAX;
    if (x->tag)
        return tags_find(x, p, names, text, len, hash);
    for (uint32_t i = name_home(x, hash); x->slot[i].entry; i = (i + 1) & x->mask)
        if (name_slot_is(&x->slot[i], p, names, text, len, hash))
            return x->slot[i].entry - 1;
    return UINT32_MAX;
}

/* Linear probing; the caller knows that there is room and that the name is new. */
static void name_index_place(struct name_index *x, struct name_slot s)
{
    uint32_t i = name_home(x, s.hash);
    if (x->tag) {
        uint64_t free_tags;
        while (!(free_tags = tags_equal(tags_at(x, i), 0)))
            i = (i + TAG_WORD) & x->mask;
        i += (uint32_t)__builtin_ctzll(free_tags) / 8;
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

/* At most three quarters full; five eighths where names stand in tens. */
static bool name_index_is_full(uint32_t mask, uint64_t names)
{
    return names * 8 > ((uint64_t)mask + 1) * (mask < TAGGED_SLOTS ? 6 : 5);
}

void name_index_expect(struct name_index *x, uint32_t names)
{
    uint32_t mask = x->mask;
    while (mask < UINT32_MAX / 2 && name_index_is_full(mask, names))
        mask = mask * 2 + 1;
    if (mask > x->mask)
        name_index_grow(x, mask);
}

void name_index_add(struct name_index *x, const struct pool *p, const str_id *names,
                    uint32_t number)
{
    const char *name = pool_text(p, names[number]);
    name_index_add_hashed(x, number, name_index_hash(name, strlen(name)));
}

void name_index_add_hashed(struct name_index *x, uint32_t number, uint32_t hash)
{
    if (name_index_is_full(x->mask, x->used + (uint64_t)1))
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

void intern_expect(struct intern *t, uint32_t more)
{
    if (more > UINT32_MAX / 2 - t->n)
        return;
    name_index_expect(&t->index, t->n + more);
    if (t->n + more <= t->cap)
        return;
    t->cap = t->n + more;
    t->names = mem_resize(t->names, t->cap);
}

uint32_t intern_find(const struct intern *t, const char *text, size_t len)
{
    return name_index_find(&t->index, &t->pool, t->names, text, len);
}

/* The number of a text, a new one on first sight: 0, 1, 2 ... in that order. */
uint32_t intern_number(struct intern *t, const char *text, size_t len)
{
    uint32_t hash = name_index_hash(text, len);
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
