/* The ready tasks of one place (LReadyQ, SReadyQ), apart by what they ask for: a thief must be given
 * only what fits it, without looking through what does not.
 *
 *     group 0       fits every node that is known; anybody may take it
 *     group 1       a node has failed it, whatever it asks for: for no thief (aside.c)
 *     group 2 ...   a demand that some node cannot meet (fit.c has the demands); a queue each
 *
 * A set of groups is a mask. While everything fits everywhere there is group 0 alone, and nothing here
 * costs more than the one queue. Of equal keys the picky groups come first: others can run the rest. */
#pragma once
#include "sched/ready.h"
#include "sched/slots.h"

#define READY_GROUPS 64
#define READY_PASSED 1
#define READY_DEMANDS 2 /* the first of them */
#define READY_ALL UINT64_MAX

struct ready_set {
    struct ready_queue any;          /* group 0 */
    ARRAY(struct ready_queue) picky; /* group 1 and on */
    uint32_t length;                 /* over all groups */
};

void readyset_init(struct ready_set *set);
void readyset_free(struct ready_set *set);
struct ready_queue *readyset_picky(struct ready_set *set, uint32_t group); /* group 1 and on */
/* Into the group that the slot says. */
static inline void readyset_push(struct ready_set *set, struct slot *slots, uint32_t slot,
                                 double key)
{
    uint32_t group = slots[slot].group;
    readyq_push(group ? readyset_picky(set, group) : &set->any, slots, slot, key);
    set->length++;
}
static inline void readyset_remove(struct ready_set *set, struct slot *slots, uint32_t slot)
{
    uint32_t group = slots[slot].group;
    readyq_remove(group ? readyset_picky(set, group) : &set->any, slots, slot);
    set->length--;
}
uint32_t readyset_peek_all(struct ready_set *set, uint64_t groups); /* with picky groups, too */
/* As readyq_peek() and readyq_tail(), of these groups alone. NONE: they are empty. */
static inline uint32_t readyset_peek(struct ready_set *set, uint64_t groups)
{
    if (set->picky.n)
        return readyset_peek_all(set, groups);
    return groups & 1 ? readyq_peek(&set->any) : NONE;
}
uint32_t readyset_tail(struct ready_set *set, uint64_t groups);
uint32_t readyset_length(const struct ready_set *set, uint64_t groups);
/* The first tasks, group by group; the picky ones first. */
uint32_t readyset_first(const struct ready_set *set, const struct slot *slots, uint32_t *out,
                        uint32_t most);
size_t readyset_bytes(const struct ready_set *set);
bool readyset_check(const struct ready_set *set, const struct slot *slots);
