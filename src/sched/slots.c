/* See slots.h: records that are used again, and an open-addressed table from task to slot with
 * linear probing. Dropping a task closes the gap, so there are no tombstones and the table never
 * degrades. */
#include "sched/slots.h"

void slots_init(struct slots *s)
{
    *s = (struct slots){.mask = 15};
    s->table = mem_new(struct slot_entry, s->mask + 1);
    memset(s->table, 0xff, sizeof *s->table * (s->mask + 1));
}

void slots_free(struct slots *s)
{
    array_free(&s->slots);
    array_free(&s->unused);
    free(s->table);
}

/* Eight neighbours together, the groups scattered by Fibonacci hashing (2^32 / the golden ratio),
 * the high bits folded down, since the mask takes the low ones. */
static uint32_t slots_home(const struct slots *s, uint32_t task)
{
    uint32_t group = (task >> 3) * 0x9E3779B1u;
    group ^= group >> 15;
    return (group << 3 | (task & 7)) & s->mask;
}

uint32_t slots_find(const struct slots *s, uint32_t task)
{
    for (uint32_t i = slots_home(s, task);; i = (i + 1) & s->mask) {
        if (s->table[i].slot == NONE)
            return NONE;
        if (s->table[i].task == task)
            return s->table[i].slot;
    }
}

/* The task is not there, and there is room. */
static void slots_insert(struct slots *s, struct slot_entry entry)
{
    uint32_t i = slots_home(s, entry.task);
    while (s->table[i].slot != NONE)
        i = (i + 1) & s->mask;
    s->table[i] = entry;
}

/* Twice as large. 0xff: slot NONE, free. */
static void slots_grow(struct slots *s)
{
    struct slot_entry *old = s->table;
    uint32_t n = s->mask + 1;
    s->mask = n * 2 - 1;
    s->table = mem_new(struct slot_entry, (size_t)n * 2);
    memset(s->table, 0xff, sizeof *s->table * n * 2);
    for (uint32_t i = 0; i < n; i++)
        if (old[i].slot != NONE)
            slots_insert(s, old[i]);
    free(old);
}

uint32_t slots_add(struct slots *s, uint32_t task)
{
    uint32_t slot;
    if (s->unused.n) {
        slot = array_pop(&s->unused);
        memset(&s->slots.at[slot], 0, sizeof *s->slots.at);
    } else {
        slot = (uint32_t)s->slots.n;
        array_add(&s->slots);
    }
    struct slot *new = &s->slots.at[slot];
    new->task = task;
    new->next = new->prev = new->bucket = new->max_node = NONE;
    /* three quarters full: a search looks at two or three entries then */
    if (++s->used > s->mask / 4 * 3)
        slots_grow(s);
    slots_insert(s, (struct slot_entry){task, slot});
    return slot;
}

void slots_drop(struct slots *s, uint32_t slot)
{
    uint32_t task = s->slots.at[slot].task, i = slots_home(s, task);
    while (s->table[i].slot != slot)
        i = (i + 1) & s->mask;
    /* Close the gap: an entry may move back to it unless its home lies between the two. */
    for (uint32_t j = (i + 1) & s->mask; s->table[j].slot != NONE; j = (j + 1) & s->mask) {
        uint32_t h = slots_home(s, s->table[j].task);
        if (((j - h) & s->mask) >= ((j - i) & s->mask)) {
            s->table[i] = s->table[j];
            i = j;
        }
    }
    s->table[i].slot = NONE;
    s->used--;
    s->slots.at[slot].place = 0;
    s->slots.at[slot].task = NONE;
    array_push(&s->unused, slot);
}

size_t slots_bytes(const struct slots *s)
{
    return s->slots.cap * sizeof *s->slots.at + s->unused.cap * sizeof *s->unused.at +
           (s->mask + (size_t)1) * sizeof *s->table;
}

void slot_list_add(struct slot_list *l, struct slot *slots, uint32_t slot)
{
    slots[slot].prev = l->tail;
    slots[slot].next = NONE;
    if (l->tail == NONE)
        l->head = slot;
    else
        slots[l->tail].next = slot;
    l->tail = slot;
    l->length++;
}

void slot_list_remove(struct slot_list *l, struct slot *slots, uint32_t slot)
{
    struct slot *s = &slots[slot];
    if (s->prev == NONE)
        l->head = s->next;
    else
        slots[s->prev].next = s->next;
    if (s->next == NONE)
        l->tail = s->prev;
    else
        slots[s->next].prev = s->prev;
    s->next = s->prev = NONE;
    l->length--;
}
