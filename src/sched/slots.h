/* The tasks that one node holds: a record each, found by task number.
 *
 * A scheduler holds few of all tasks when there are many schedulers and all of them when it is
 * alone, so records stand in slots that are used again, and a table of integers leads from task to
 * slot. Groups of 8 neighbouring task numbers share a cache line of it: workflows number what is
 * submitted together alike. */
#pragma once
#include "base/array.h"
#include "model/metadata.h"
#include <stdbool.h>
#include <stdint.h>

#ifndef NONE
#define NONE UINT32_MAX
#endif

enum slot_flag {
    SLOT_PUSHED = 1, /* ARRIVING: its data are here, it goes to the LReadyQ */
    SLOT_LOOKED = 1, /* WAITQ: its inputs are brought here as they are made, so it starts here */
    SLOT_EARLY = 2,  /* ARRIVING: the word that it is ready came before the store's answer */
    SLOT_TAKEN = 4,  /* ARRIVING: it came from another node, which waits for our ACK */
    SLOT_AHEAD =
        2, /* ready, RUNNING, COMPLETEQ: its parents' ends are not committed yet (ahead.c) */
    SLOT_CANCELLED = 8, /* RUNNING: removed; its end will be ignored */
    SLOT_RETURNED = 16, /* ARRIVING: nobody took it; do not push it again */
    SLOT_SETTLED = 32,  /* spans several nodes, and was handed over: it stays here */
    SLOT_DOUBTED = 64,  /* RUNNING: since an earlier life; the store is asked whether it is ours */
    SLOT_LOST = 128,    /* RUNNING: it is another's now, and is being stopped */
};

/* 56 bytes. */
struct slot {
    uint32_t task, epoch;
    uint32_t next, prev; /* in the WaitQ, a bucket of a ready queue, or the list of moving tasks */
    uint32_t
        bucket; /* in a ready queue. Otherwise: the other node (ARRIVING, MOVING); what it waits
                            for (WAITQ, see ahead.c) */
    uint32_t max_node;
    double all_size, max_size;
    /* RUNNING: start; MOVING: when patience ends; WAITQ: for how many parents it waited when the store last
     * said so and this node was idle (look.c) */
    double since;
    uint32_t attempts;
    uint8_t place, flags;
    uint8_t group;  /* in a ready queue: ready_set.h */
    uint8_t passed; /* how often nodes have failed it (aside.c) */
};

struct slots {
    ARRAY(struct slot) slots;
    ARRAY(uint32_t) unused;
    struct slot_entry {
        uint32_t task, slot;
    } * table; /* open addressing; slot NONE: free */
    uint32_t mask, used;
};

void slots_init(struct slots *s);
void slots_free(struct slots *s);
uint32_t slots_find(const struct slots *s, uint32_t task); /* NONE: not here */
/* A zeroed slot for a task that is not here. */
uint32_t slots_add(struct slots *s, uint32_t task);
void slots_drop(struct slots *s, uint32_t slot);
size_t slots_bytes(const struct slots *s);

/* A list threaded through slots (not those in a ready queue). */
struct slot_list {
    uint32_t head, tail, length;
};

void slot_list_add(struct slot_list *l, struct slot *slots, uint32_t slot);
void slot_list_remove(struct slot_list *l, struct slot *slots, uint32_t slot);
