/* Planners that look at all ready tasks at every step and place the one that suits best now (ETF,
 * DLS, Min-min ...).
 *
 * The planner says what a task's best slot is and how urgent that makes it; the loop here keeps
 * those answers up to date with few new evaluations: placing a task on a node spoils only the
 * answers that lean on that node, and never for the better. (With port limits any answer may
 * change, so then all are asked again at every step.) */
#pragma once
#include "plan/list/list.h"

struct choice {
    struct schedule_slot slot;
    double key;         /* least first */
    double tie;         /* equal keys: least first; then lowest task */
    uint32_t next_node; /* another node whose state the key depends on; NONE: only slot.node */
    double settled;     /* with picker.floor: once the floor is here, the key equals the floor;
                           INFINITY: never sure */
};

struct picker {
    struct choice (*evaluate)(struct list_run *l, uint32_t task, const void *context);
    const void *context;
    /* The key of a ready task never falls as others are placed. Then only candidates for the next
     * place are asked again. */
    bool rising;
    /* May be NULL: no key is below this now. Tasks that wait for nothing but a free node all stand
     * at the floor, and need not be asked one by one. */
    double (*floor)(const struct list_run *l);
};

bool pick_all(struct list_run *l, const struct picker *picker, struct error *err);
