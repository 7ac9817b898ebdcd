/* Tasks that change nodes.
 *
 *     giver    LReadyQ, SReadyQ ──▶ MOVING ── ACK ──▶ forgotten
 *                                     │
 *                                     └─ no ACK in time ──▶ ARRIVING (HOLD for itself)
 *                                                              ├─ granted ──▶ SReadyQ
 *                                                              └─ refused: it is the taker's ──▶ gone
 *
 *     taker    TASKS or PUSH ──▶ ARRIVING (HOLD)
 *                                   ├─ granted ──▶ ready, ACK to the giver
 *                                   └─ refused ──▶ forgotten
 *
 * Both HOLDs name the epoch at which the task left, so the store grants one of them: lost, late and
 * doubled messages cost time and never a task. Nothing runs at the taker before the store has
 * answered. */
#include "sched/state.h"

/* A dead node's tasks in one answer: survivors take turns and share them. */
#define ADOPT_LIMIT 1024

/* A task as it goes into a message: with the epoch at which it leaves. */
static struct meta_item move_item_of(const struct sched *s, const struct slot *slot)
{
    struct meta_item item = {
        .task = slot->task,
        .epoch = slot->epoch,
        .holder = NONE,
        .max_node = slot->max_node,
        .attempts = (uint16_t)(slot->attempts < UINT16_MAX ? slot->attempts : UINT16_MAX),
        .passed = slot->passed,
        .all_size = slot->all_size,
        .max_size = slot->max_size};
    if (slot->passed)
        meta_item_set_failed_at(&item, aside_failed_at(s, slot->task));
    return item;
}

/* Ask the store for it. The life goes along: should we be thought dead and begin another, this
 * question is refused. */
void move_hold(struct sched *s, uint32_t slot)
{
    place_enter(s, slot, SCHED_ARRIVING);
    op_for_slot(s, META_HOLD, slot)->life = s->life;
}

/* The task stays here in MOVING until the taker has acknowledged it. All wait equally long, so the
 * list is in the order in which patience ends and one timer serves all. */
void move_give(struct sched *s, uint32_t slot, enum sched_message_kind kind, uint32_t to,
               uint32_t round)
{
    struct slot *task = slot_at(s, slot);
    task->bucket = to;
    task->since = s->now + s->config.reply_timeout;
    place_enter(s, slot, SCHED_MOVING);
    struct meta_item item = move_item_of(s, task);
    send_item(s, kind, to, round, &item);
    if (!s->moving_set) {
        s->moving_set = true;
        timer_add(s, s->config.reply_timeout, TIMER_MOVING, 0);
    }
}

/* A task comes by PUSH or TASKS. It does not count as ours, and is not acknowledged, before the
 * store has granted the HOLD. */
void move_accept(struct sched *s, uint32_t from, const struct meta_item *item, bool pushed)
{
    uint32_t slot = slots_find(&s->tasks, item->task);
    if (slot == NONE) {
        slot = slots_add(&s->tasks, item->task);
    } else {
        /* It may come back before the ACK for sending it off did. Anything else we have is as new,
         * or a message twice. */
        struct slot *old = slot_at(s, slot);
        if (item->epoch <= old->epoch ||
            (old->place != SCHED_MOVING && old->place != SCHED_ARRIVING))
            return;
        place_leave(s, slot);
    }
    struct slot *task = slot_at(s, slot);
    item_to_slot(task, item);
    task->epoch = item->epoch;
    task->attempts = item->attempts;
    task->passed = (uint8_t)item->passed;
    if (item->passed)
        aside_note_failed(s, item->task, meta_item_failed_at(item));
    task->bucket = from;
    task->flags = (uint8_t)(SLOT_TAKEN | (pushed ? SLOT_PUSHED : 0));
    move_hold(s, slot);
}

/* The taker holds it. An ACK for an earlier journey has another epoch, and is passed over. */
void move_acknowledged(struct sched *s, const struct meta_item *item)
{
    uint32_t slot = slots_find(&s->tasks, item->task);
    if (slot != NONE && slot_at(s, slot)->place == SCHED_MOVING &&
        slot_at(s, slot)->epoch == item->epoch)
        task_forget(s, slot);
}

/* No ACK in time: claim the task for ourselves, at the epoch at which it left. */
void move_timer(struct sched *s)
{
    s->moving_set = false;
    while (s->moving.length && slot_at(s, s->moving.head)->since <= s->now) {
        uint32_t slot = s->moving.head;
        place_leave(s, slot);
        slot_at(s, slot)->flags = SLOT_RETURNED;
        move_hold(s, slot);
    }
    if (s->moving.length) {
        s->moving_set = true;
        timer_add(s, slot_at(s, s->moving.head)->since - s->now, TIMER_MOVING, 0);
    }
}

/* The answer to a HOLD. The store knows best: who holds the task, what it still waits for, how
 * often it was tried. */
void move_held(struct sched *s, const struct meta_answer *answer)
{
    uint32_t slot = answer_slot(s, answer, SCHED_ARRIVING);
    if (slot == NONE)
        return;
    struct slot *task = slot_at(s, slot);
    if (answer->outcome != META_OK) {
        if (answer->outcome == META_UNKNOWN)
            note_add(s, SCHED_NOTE_UNKNOWN, task->task);
        task_forget(s, slot);
        return;
    }
    /* the epoch of the journey, by which the giver knows it; not the new one */
    if (task->flags & SLOT_TAKEN) {
        struct meta_item ack = {.task = task->task, .epoch = task->epoch, .max_node = NONE};
        send_item(s, SCHED_ACK, task->bucket, 0, &ack);
    }
    task->epoch = answer->item.epoch;
    bool ready = answer->item.waiting == 0 || (task->flags & SLOT_EARLY);
    if (answer->item.waiting == 0)
        item_to_slot(task,
                     &answer->item); /* the truth; an EARLY word may be newer than the answer */
    if (task->attempts < answer->item.attempts)
        task->attempts = answer->item.attempts;
    place_leave(s, slot);
    uint8_t flags = task->flags;
    task->flags = flags & (SLOT_TAKEN | SLOT_RETURNED) ? SLOT_SETTLED : 0;
    /* where it goes was decided by whoever gave it; deciding anew could send it to and fro */
    if (!ready) {
        ahead_wait(s, slot, &answer->item);
    } else if (flags & SLOT_PUSHED) {
        task_enqueue(s, slot, SCHED_LREADYQ);
    } else if (flags & SLOT_RETURNED) {
        task->max_node =
            NONE; /* nobody there took it: if it does not fit here, let others be tried */
        task_enqueue(s, slot, SCHED_SREADYQ);
    } else if (flags & SLOT_TAKEN) {
        task_enqueue(s, slot, SCHED_SREADYQ); /* stolen; the giver's Algorithm 1 said so */
    } else {
        task_ready(s, slot);
    }
}

/* Others may have taken this node for dead, and hold by now what it thinks is its own. What has not begun
 * is forgotten, as by a node that starts anew: the adoption that follows brings what is still ours. What
 * runs goes on, and the store is asked who holds it. O(tasks held), and rare. */
void move_ask_again(struct sched *s)
{
    for (uint32_t slot = 0; slot < s->tasks.slots.n; slot++) {
        struct slot *task = slot_at(s, slot);
        switch ((enum sched_place)task->place) {
        case SCHED_WAITQ:
        case SCHED_LREADYQ:
        case SCHED_SREADYQ:
        case SCHED_BACKOFF:
        case SCHED_UNFIT:
        case SCHED_WIDEQ:
        case SCHED_GATHERING:
            task_forget(s, slot);
            break;
        case SCHED_RUNNING:
            if (task->flags & (SLOT_CANCELLED | SLOT_LOST))
                break;
            task->flags |= SLOT_DOUBTED;
            op_for_slot(s, META_GET, slot);
            break;
        default: /* its own question to the store is on its way */
            break;
        }
    }
}

/* What the store says of a task that runs here since an earlier life. */
void move_checked(struct sched *s, uint32_t slot, const struct meta_answer *answer)
{
    struct slot *task = slot_at(s, slot);
    task->flags &= (uint8_t)~SLOT_DOUBTED;
    if (answer->outcome == META_OK && answer->item.holder == s->config.node &&
        answer->item.epoch == task->epoch)
        return;
    s->counts.lost++;
    note_add(s, SCHED_NOTE_LOST, task->task);
    task->flags |= SLOT_LOST;
    task_remove_here(s, slot);
}

bool sched_is_lost(const struct sched *s, uint32_t task)
{
    uint32_t slot = slots_find(&s->tasks, task);
    return slot != NONE &&
           (s->tasks.slots.at[slot].flags & SLOT_LOST || (s->gangs && gang_is_broken(s, slot)));
}

bool sched_is_doubted(const struct sched *s, uint32_t task)
{
    uint32_t slot = slots_find(&s->tasks, task);
    return slot != NONE && s->tasks.slots.at[slot].place == SCHED_RUNNING &&
           s->tasks.slots.at[slot].flags & SLOT_DOUBTED;
}

/* Take a dead node's tasks from number `from` on; or our own, after a restart. `bytes` carries the
 * life that is over (metadata.h). A node that came back while its tasks were taken, turn by turn, has the
 * rest itself: taking them without a life would fence off one that lives, and nobody would tell it. */
void move_adopt(struct sched *s, uint32_t node, uint32_t from)
{
    size_t i = 0;
    while (i < s->down.n && s->down.at[i].node != node)
        i++;
    if (node != s->config.node && (i == s->down.n || s->down.at[i].life == SCHED_NOT_YET))
        return;
    struct meta_op *op = op_add(s, META_ADOPT, from);
    op->other = node;
    op->limit = ADOPT_LIMIT;
    op->epoch = s->life;
    op->bytes = i < s->down.n ? s->down.at[i].life : 0;
}

void move_adopt_all(struct sched *s)
{
    s->adopt_set = false;
    move_adopt(s, s->config.node, 0);
    for (size_t i = 0; i < s->down.n; i++)
        move_adopt(s, s->down.at[i].node, 0);
}

/* The store has made these tasks ours. Each is confirmed by a HOLD like any other arrival, at the
 * epoch before the one that the adoption gave: if the answer is so late that the task went on, the
 * HOLD is refused. */
void move_adopted(struct sched *s, const struct meta_answer *answer, const struct meta_item *items)
{
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct meta_item *item = &items[answer->first + i];
        uint32_t slot = slots_find(&s->tasks, item->task);
        if (slot == NONE) {
            slot = slots_add(&s->tasks, item->task);
        } else {
            struct slot *old = slot_at(s, slot);
            if (old->epoch >= item->epoch)
                continue;
            if (old->place == SCHED_RUNNING) {
                /* ours before we were taken for dead: let it count. One that was being stopped, since
                 * another had it, is ours again: its end is that of any attempt */
                old->epoch = item->epoch;
                old->flags &= (uint8_t) ~(
                    SLOT_DOUBTED | (old->flags & SLOT_LOST ? SLOT_LOST | SLOT_CANCELLED : 0));
                continue;
            }
            place_leave(s, slot);
        }
        /* The answer may be so late that the task has come here by another way and is done: the
         * store knows. */
        struct slot *task = slot_at(s, slot);
        item_to_slot(task, item);
        task->epoch = item->epoch - 1;
        task->attempts = item->attempts;
        task->flags = 0;
        move_hold(s, slot);
    }
    if (answer->count)
        steal_wake(s);
    if (answer->outcome != META_OK) {
        /* Refused, because others think us dead and we have not joined again; or perhaps done, and
         * the answer lost. */
        if (!s->adopt_set) {
            s->adopt_set = true;
            timer_add(s, s->config.reply_timeout, TIMER_ADOPT, 0);
        }
    } else if (answer->item.task != NONE) {
        move_adopt(s, answer->item.holder, answer->item.task);
    }
}
