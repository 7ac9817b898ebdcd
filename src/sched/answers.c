/* What the store says: P1 (a waiting task is ready), P2 (children of a completed task), removal
 * of subtrees. Every answer is matched by slot, place and epoch (answer_slot): the task may have
 * gone on since the question, and then the answer says nothing about it. */
#include "sched/state.h"

/* Its last parent is done, says the answer to that parent's COMPLETE, a READY message or P1. Said
 * twice it changes nothing, since the task is not in the WaitQ any more. */
void answers_ready(struct sched *s, const struct meta_item *item)
{
    uint32_t slot = slots_find(&s->tasks, item->task);
    if (slot == NONE)
        return; /* its HOLD will say that it is ready, or it is no longer ours */
    struct slot *task = slot_at(s, slot);
    if (task->place == SCHED_WAITQ) {
        item_to_slot(task, item);
        place_leave(s, slot);
        task_ready(s, slot);
    } else if (task->place == SCHED_ARRIVING) {
        item_to_slot(task, item);
        task->flags |= SLOT_EARLY;
    } else if (task->place != SCHED_COMPLETEQ) {
        task->flags &= (uint8_t)~SLOT_AHEAD; /* its parents are complete */
    }
}

/* P2. Done, or lost: another node was taken for the holder meanwhile, and what ran here does not
 * count. The children are notified either way: a repeated COMPLETE lists them again, in case the
 * first answer was lost. */
static void answer_completed(struct sched *s, const struct meta_answer *answer,
                             const struct meta_item *items)
{
    uint32_t slot = answer_slot(s, answer, SCHED_COMPLETEQ);
    if (slot != NONE && !ahead_is_early(s, slot, answer)) {
        bool counts = answer->outcome == META_OK;
        if (counts)
            s->counts.done++;
        else
            s->counts.lost++;
        note_add(s,
                 !counts                          ? SCHED_NOTE_LOST
                 : answer->status == META_SKIPPED ? SCHED_NOTE_SKIPPED
                 : answer->status == META_EXCUSED ? SCHED_NOTE_EXCUSED
                                                  : SCHED_NOTE_DONE,
                 answer->item.task);
        task_forget(s, slot);
    }
    if (answer->outcome != META_OK)
        ahead_refused(s, answer->item.task);
    for (uint32_t i = 0; i < answer->count; i++) {
        const struct meta_item *child = &items[answer->first + i];
        if (child->holder == s->config.node)
            answers_ready(s, child);
        else if (child->holder != NONE)
            send_item(s, SCHED_READY, child->holder, 0, child);
    }
}

/* One step down the subtree: its children follow, each by an operation of its own. A diamond is
 * entered once, since the store lists children only for the operation that removed the task. */
static void answer_removed(struct sched *s, const struct meta_answer *answer,
                           const struct meta_item *items)
{
    uint32_t asked = answer_slot(s, answer, SCHED_COMPLETEQ); /* out of attempts here */
    if (answer->outcome != META_OK) {
        if (asked !=
            NONE) { /* as in answer_completed(): another has it, or had; or it ran too early */
            if (!ahead_is_early(s, asked, answer)) {
                note_add(s, SCHED_NOTE_LOST, answer->item.task);
                s->counts.lost++;
                task_forget(s, asked);
            }
        }
        if (answer->outcome == META_ENDED && meta_is_complete(answer->status))
            note_add(s, SCHED_NOTE_KEPT, answer->item.task);
        else if (answer->outcome == META_UNKNOWN)
            note_add(s, SCHED_NOTE_UNKNOWN, answer->item.task);
        return;
    }
    note_add(s, answer->status == META_FAILED ? SCHED_NOTE_FAILED : SCHED_NOTE_REMOVED,
             answer->item.task);
    uint32_t slot = slots_find(&s->tasks, answer->item.task);
    if (slot != NONE)
        task_remove_here(s, slot);
    /* whoever holds it must stop it; if the message is lost, its COMPLETE will be refused */
    uint32_t holder = answer->item.holder;
    if (holder != NONE && holder != s->config.node)
        send_item(s, SCHED_DROP, holder, 0, &answer->item);
    for (uint32_t i = 0; i < answer->count; i++)
        op_add(s, META_REMOVE, items[answer->first + i].task)->status = META_REMOVED;
}

/* P1's look at one waiting task: word of it may have been lost. Or a look at one that runs. */
static void answer_polled(struct sched *s, const struct meta_answer *answer)
{
    uint32_t slot = answer_slot(s, answer, SCHED_RUNNING);
    if (slot != NONE && slot_at(s, slot)->flags & SLOT_DOUBTED) {
        move_checked(s, slot, answer);
        return;
    }
    slot = answer_slot(s, answer, SCHED_WAITQ);
    if (slot == NONE)
        slot = answer_slot(s, answer, SCHED_UNFIT);
    if (slot == NONE)
        return;
    /* it is not ours any more; the store has the last word */
    if (answer->outcome != META_OK || answer->item.holder != s->config.node ||
        answer->item.epoch != slot_at(s, slot)->epoch) {
        task_forget(s, slot);
    } else if (answer->doomed) {
        op_add(s, META_REMOVE, answer->item.task)->status = META_REMOVED;
    } else if (!answer->item.waiting) {
        answers_ready(s, &answer->item);
    } else if (slot_at(s, slot)->place == SCHED_WAITQ) {
        look_answered(s, slot, &answer->item);
    }
}

/* Ask for the oldest of a list, and put them behind the others: each has its turn. */
void answers_poll_list(struct sched *s, struct slot_list *list, uint32_t most)
{
    uint32_t n = list->length < most ? list->length : most;
    while (n--) {
        uint32_t slot = list->head;
        slot_list_remove(list, s->tasks.slots.at, slot);
        slot_list_add(list, s->tasks.slots.at, slot);
        op_for_slot(s, META_GET, slot);
    }
}

/* The WaitQ, for words that were lost; and what waits for a node that it fits, since it may have been
 * removed meanwhile and no end of it here would tell. */
void answers_poll_waiting(struct sched *s)
{
    s->wait_set = false;
    answers_poll_list(s, &s->wait, s->config.wait_batch);
    answers_poll_list(s, &s->unfit, s->config.wait_batch);
}

/* Answers come in the order of their operations within a batch, batches in any order. */
void answers_handle(struct sched *s, const struct meta_answers *answers)
{
    for (size_t i = 0; i < answers->n; i++) {
        const struct meta_answer *a = &answers->at[i];
        switch (a->kind) {
        case META_HOLD:
            move_held(s, a);
            break;
        case META_COMPLETE:
            answer_completed(s, a, answers->items);
            break;
        case META_GET:
            answer_polled(s, a);
            break;
        case META_REMOVE:
            answer_removed(s, a, answers->items);
            break;
        case META_ADOPT:
            move_adopted(s, a, answers->items);
            break;
        case META_JOIN:
            if (a->asked_epoch == s->life)
                move_adopt_all(s);
            break;
        default: /* START, RETRY: nothing depends on them */
            break;
        }
    }
}
