/* Strings stored back to back and named by a 32-bit offset: 4 bytes a reference, one free for all.
 * Offset 0 is the empty string. A pool never moves a string's offset; the address may move while
 * adding. */
#pragma once
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

typedef uint32_t str_id;

struct pool {
    char *at;
    size_t n, cap;
};

void pool_init(struct pool *p);
void pool_free(struct pool *p);
/* Append a copy (no search for an equal one). Past 4 GiB of text: as memory that runs out. */
str_id pool_add(struct pool *p, const char *text, size_t len);
/* Room for so many bytes more, a NUL each counted. */
void pool_expect(struct pool *p, size_t more);
static inline const char *pool_text(const struct pool *p, str_id id)
{
    return p->at + id;
}

/* A set of names: text -> a small number given by the caller (a task's or an object's index).
 * Keeps only (hash, number) pairs and asks the caller's array for the text, so that a name is
 * stored once: `names[number]` is the str_id of each number's text in `pool`. Expected O(1);
 * insertion order does not matter. */
struct name_slot {
    uint32_t entry; /* number + 1, 0 = free */
    uint32_t
        hash; /* name_index_hash(): tells most other names apart, and where to go when the table grows, without
                       their text */
};

/* Of a large table the tags are looked at first: a byte a slot stays in a cache that the slots have left
 * long ago, and most names that are looked for while reading are not there yet. Only who adds has them: an
 * index without tags (of an image, of a small table, name_index_settle()) is found by its slots. */
struct name_index {
    struct name_slot *slot;
    uint32_t mask, used;
    uint8_t *tag; /* 0 = free; NULL: none */
};

void name_index_init(struct name_index *x);
void name_index_free(struct name_index *x);
/* Room for so many names at once: they are not moved again and again. */
void name_index_expect(struct name_index *x, uint32_t names);
/* The number whose name is `text`, or UINT32_MAX. */
uint32_t name_index_find(const struct name_index *x, const struct pool *p, const str_id *names,
                         const char *text, size_t len);
/* The same where the hash is known: of who finds nothing and then adds. */
uint32_t name_index_hash(const char *text, size_t len);
uint32_t name_index_find_hashed(const struct name_index *x, const struct pool *p,
                                const str_id *names, const char *text, size_t len, uint32_t hash);
void name_index_add_hashed(struct name_index *x, uint32_t number, uint32_t hash);
/* No more names will come: what only adding needs goes. */
void name_index_settle(struct name_index *x);
/* Every number has another one: number[old]. False: some have none (UINT32_MAX), and nothing is done. */
bool name_index_renumber(struct name_index *x, const uint32_t *number);
/* Enter `number`, whose name is already in names[number]. The name must not be in the index. */
void name_index_add(struct name_index *x, const struct pool *p, const str_id *names,
                    uint32_t number);

/* Interning: the same text gives the same id. */
struct intern {
    struct pool pool;
    str_id *names;
    uint32_t n, cap;
    struct name_index index;
};

void intern_init(struct intern *t);
void intern_free(struct intern *t);
/* Room for so many texts more. */
void intern_expect(struct intern *t, uint32_t more);
/* The number (0, 1, 2 ... in order of first sight) of this text. */
uint32_t intern_number(struct intern *t, const char *text, size_t len);
uint32_t intern_find(const struct intern *t, const char *text, size_t len); /* UINT32_MAX: unseen */
const char *intern_text(const struct intern *t, uint32_t number);

uint64_t hash_bytes(const void *data, size_t len);
