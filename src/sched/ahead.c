/* Running ahead: a task whose parents have all ended here starts at once, while the store is still told of
 * their ends. A chain then costs the store its operations, many at a time, and no round trip a task.
 *
 *     parent    RUNNING ── ended ──▶ COMPLETEQ ── OK ──────▶ done
 *                             │          └─────── refused ──▶ lost: children go back to the WaitQ
 *     child     WAITQ ────────┴──▶ ready ──▶ RUNNING ──▶ COMPLETEQ (SLOT_AHEAD)
 *                 ▲                                          │
 *                 └─────────────── STALE, and still ours ────┘
 *
 *   A1. `bucket` of a task in the WaitQ is at least the number of edges into it whose producer has not
 *       ended, or NONE: nobody knows. It is what the store said when it granted the task, less the edges
 *       from tasks that have ended well here since. Such a task ran here, so nobody else had completed it
 *       when the store spoke: else we would have been fenced off, and have begun a new life, which forgets
 *       the WaitQ and doubts what runs.
 *   A2. An end that the store refuses may happen again: what its children know is forgotten with it.
 *   A3. The end of a task that ran ahead says so, and the store refuses it unless its parents are complete
 *       (meta_op.ahead). So nothing is committed before what it was made from, whatever becomes of us.
 *   A4. At most AHEAD_MOST ends wait for the store's word: a store that is away stops us soon. */
#include "sched/state.h"

#include "model/workflow.h"

#include <math.h>

enum { AHEAD_MOST = 4096 };

void ahead_wait(struct sched *s, uint32_t slot, const struct meta_item *item)
{
    const struct workflow *w = s->config.ahead;
    struct slot *task = slot_at(s, slot);
    /* all its data will be here, or it has none: where it runs is then no question */
    bool here = w && (item->waiting == w->pred_off[task->task + 1] - w->pred_off[task->task] ||
                      !(item->all_size > 0));
    task->since = item->waiting;
    task->bucket = here && !gang_is_wide(s, task->task) ? item->waiting : NONE;
    place_enter(s, slot, SCHED_WAITQ);
}

/* Its data are here from this end on. Of several outputs a child may read fewer: it is bound no less for it. */
static void ahead_add_data(const struct sched *s, struct slot *child, double bytes)
{
    child->all_size += bytes;
    if (bytes > child->max_size) {
        child->max_size = bytes;
        child->max_node = s->config.node;
    }
}

void ahead_ended(struct sched *s, uint32_t task, double bytes)
{
    const struct workflow *w = s->config.ahead;
    if (!w || s->count[SCHED_COMPLETEQ] > AHEAD_MOST)
        return; /* they know less than there is to know: A1 */
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t slot = slots_find(&s->tasks, w->succ_task[e]);
        struct slot *child = slot == NONE ? NULL : slot_at(s, slot);
        if (!child || child->place != SCHED_WAITQ || child->bucket == NONE)
            continue;
        ahead_add_data(s, child, bytes);
        if (--child->bucket)
            continue;
        place_leave(s, slot);
        child->flags |= SLOT_AHEAD;
        task_ready(s, slot); /* the policy says whether thieves may have it */
    }
}

static void ahead_go_back(struct sched *s, uint32_t slot)
{
    struct slot *task = slot_at(s, slot);
    place_leave(s, slot);
    task->flags &= (uint8_t)~SLOT_AHEAD;
    task->bucket = NONE;
    task->since = INFINITY;
    place_enter(s, slot, SCHED_WAITQ);
}

void ahead_refused(struct sched *s, uint32_t task)
{
    const struct workflow *w = s->config.ahead;
    for (uint32_t e = w ? w->succ_off[task] : 0; w && e < w->succ_off[task + 1]; e++) {
        uint32_t slot = slots_find(&s->tasks, w->succ_task[e]);
        struct slot *child = slot == NONE ? NULL : slot_at(s, slot);
        if (child && child->place == SCHED_WAITQ)
            child->bucket = NONE;
        else if (child && child->flags & SLOT_AHEAD &&
                 (child->place == SCHED_LREADYQ || child->place == SCHED_SREADYQ))
            ahead_go_back(s, slot);
    }
}

bool ahead_is_early(struct sched *s, uint32_t slot, const struct meta_answer *answer)
{
    struct slot *task = slot_at(s, slot);
    if (!(task->flags & SLOT_AHEAD) || answer->outcome != META_STALE ||
        answer->item.holder != s->config.node)
        return false;
    task->attempts -= task->attempts > 0; /* it counts for nothing */
    note_add(s, SCHED_NOTE_LOST, task->task);
    ahead_go_back(s, slot);
    op_for_slot(s, META_GET, slot); /* word that it is ready may have come and gone */
    return true;
}

bool sched_ran_ahead(const struct sched *s, uint32_t task)
{
    uint32_t slot = slots_find(&s->tasks, task);
    const struct slot *at = slot == NONE ? NULL : &s->tasks.slots.at[slot];
    return at && at->flags & SLOT_AHEAD &&
           (at->place == SCHED_RUNNING || at->place == SCHED_COMPLETEQ);
}
