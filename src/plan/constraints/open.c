/* A binary heap of open states (24 bytes each) and a set of state hashes (8 bytes, at most half
 * full); open.h has the contract. Ties are total, so that the search repeats exactly.
 *
 * A 64-bit hash is taken for the state: among 10^7 states two are mistaken for each other with a
 * chance of about 3 in 10^6, and one of them is then not looked at. */
#include "plan/constraints/open.h"

static bool open_before(const struct open_item *a, const struct open_item *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if (a->depth != b->depth)
        return a->depth > b->depth;
    if (a->finish != b->finish)
        return a->finish < b->finish;
    return a->state < b->state;
}

static void open_sift_down(struct open *o, size_t i)
{
    struct open_item item = o->items.at[i];
    for (size_t child; (child = 2 * i + 1) < o->items.n; i = child) {
        if (child + 1 < o->items.n && open_before(&o->items.at[child + 1], &o->items.at[child]))
            child++;
        if (!open_before(&o->items.at[child], &item))
            break;
        o->items.at[i] = o->items.at[child];
    }
    o->items.at[i] = item;
}

void open_push(struct open *o, struct open_item item)
{
    array_push(&o->items, item);
    size_t i = o->items.n - 1;
    for (; i && open_before(&item, &o->items.at[(i - 1) / 2]); i = (i - 1) / 2)
        o->items.at[i] = o->items.at[(i - 1) / 2];
    o->items.at[i] = item;
}

struct open_item open_pop(struct open *o)
{
    struct open_item best = o->items.at[0];
    o->items.at[0] = o->items.at[--o->items.n];
    if (o->items.n)
        open_sift_down(o, 0);
    return best;
}

void open_rebuild(struct open *o)
{
    for (size_t i = o->items.n / 2; i > 0; i--)
        open_sift_down(o, i - 1);
}

/* Open addressing, doubled when half full; 0 is the free slot, so that hash 0 becomes 1. */
bool seen_add(struct open_seen *s, uint64_t hash)
{
    hash += !hash;
    if (2 * (s->used + 1) > s->mask) {
        struct open_seen old = *s;
        s->mask = old.slots ? 2 * (old.mask + 1) - 1 : 1023;
        s->slots = mem_new_zero(uint64_t, s->mask + 1);
        for (size_t i = 0; old.slots && i <= old.mask; i++) {
            if (!old.slots[i])
                continue;
            size_t at = old.slots[i] & s->mask;
            while (s->slots[at])
                at = (at + 1) & s->mask;
            s->slots[at] = old.slots[i];
        }
        free(old.slots);
    }
    size_t at = hash & s->mask;
    for (; s->slots[at]; at = (at + 1) & s->mask)
        if (s->slots[at] == hash)
            return false;
    s->slots[at] = hash;
    s->used++;
    return true;
}

void seen_free(struct open_seen *s)
{
    free(s->slots);
    *s = (struct open_seen){0};
}
