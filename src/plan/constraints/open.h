/* The states that wait to be expanded, best first: smallest key, then deepest, then earliest end of
 * the newest task, then first made. And the set of states seen, by hash. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

struct open_item {
    double key, finish;
    uint32_t depth, state;
};

struct open {
    ARRAY(struct open_item) items;
};

void open_push(struct open *o, struct open_item item);
struct open_item open_pop(struct open *o); /* must not be empty */
/* After the keys were changed. */
void open_rebuild(struct open *o);

struct open_seen {
    uint64_t *slots; /* 0: free */
    size_t mask, used;
};

/* False: it was there. */
bool seen_add(struct open_seen *s, uint64_t hash);
void seen_free(struct open_seen *s);
