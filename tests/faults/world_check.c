/* The invariants of docs/scheduler.md, seen from outside. */
#include "world_state.h"
#include <stdarg.h>
#include <stdio.h>

void faults_trouble(struct fault_world *w, const char *fmt, ...)
{
    if (w->result->trouble[0])
        return;
    char what[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    snprintf(w->result->trouble, sizeof w->result->trouble, "at %.6f s, event %llu: %s", w->now,
             (unsigned long long)w->result->events, what);
}

static void took(struct fault_world *w, const struct meta_item *item)
{
    if (item->epoch < w->epoch[item->task])
        faults_trouble(w, "the epoch of task %u went from %u to %u", item->task,
                       w->epoch[item->task], item->epoch);
    w->holder[item->task] = item->holder;
    w->epoch[item->task] = item->epoch;
}

static void committed(struct fault_world *w, const struct meta_op *op)
{
    uint32_t t = op->task;
    if (meta_is_complete(w->status[t])) {
        if (w->holder[t] != op->node || w->epoch[t] != op->epoch)
            faults_trouble(w, "task %u was committed by node %u and again by node %u", t,
                           w->holder[t], op->node);
        return; /* the same word again */
    }
    if (w->commits[t]++ || faults_ended(w, t))
        faults_trouble(w, "task %u was committed in status %u", t, w->status[t]);
    if (w->holder[t] != op->node || w->epoch[t] != op->epoch)
        faults_trouble(w, "node %u committed task %u, which node %u holds", op->node, t,
                       w->holder[t]);
    const struct workflow *f = w->workflow;
    for (uint32_t e = f->pred_off[t]; e < f->pred_off[t + 1]; e++)
        if (!meta_is_complete(w->status[f->pred_task[e]]))
            faults_trouble(w, "node %u committed task %u before its parent %u was complete",
                           op->node, t, f->pred_task[e]);
    if (op->status < META_SKIPPED)
        for (uint32_t k = 0; (k = faults_next_part(w, t, k)) != NONE;)
            faults_grow_later(w, k);
}

void faults_check_answer(struct fault_world *w, const struct meta_op *op,
                         const struct meta_answer *a, const struct meta_item *items)
{
    if (op->kind == META_JOIN)
        return;
    if (op->kind == META_ADOPT) {
        for (uint32_t i = 0; i < a->count; i++) {
            const struct meta_item *item = &items[a->first + i];
            if (faults_ended(w, item->task))
                faults_trouble(w, "task %u was adopted after its end", item->task);
            if (item->holder != op->node || item->epoch != w->epoch[item->task] + 1)
                faults_trouble(w, "task %u was adopted by node %u at epoch %u", item->task,
                               item->holder, item->epoch);
            took(w, item);
            w->status[item->task] = META_QUEUED;
            w->owed[item->task]++;
        }
        return;
    }
    if (op->kind == META_HOLD && a->outcome == META_OK)
        took(w, &a->item);
    if (op->kind == META_COMPLETE && a->outcome == META_OK)
        committed(w, op);
    if (faults_ended(w, op->task) && a->status != w->status[op->task])
        faults_trouble(w, "task %u went from status %u to %u", op->task, w->status[op->task],
                       a->status);
    w->status[op->task] = a->status;
}

void faults_check_start(struct fault_world *w, uint32_t node, uint32_t task)
{
    const struct workflow *f = w->workflow;
    if (task >= w->knows[node])
        faults_trouble(w, "node %u started task %u, which it has not heard of", node, task);
    bool early = false;
    for (uint32_t e = f->pred_off[task]; e < f->pred_off[task + 1]; e++) {
        uint32_t parent = f->pred_task[e];
        early |= !meta_is_complete(w->status[parent]);
        if (!meta_is_complete(w->status[parent]) && !(w->ahead && w->ended_here[node][parent]))
            faults_trouble(w, "node %u started task %u before its parent %u was done", node, task,
                           parent);
    }
    w->result->ahead += early;
}

/* No task ever starts on a node that lacks what it asks for, nor beside others that leave it too
 * little, nor on one that leaves. In numbers of its own: the schedulers' are what is judged. Memory is
 * drawn in whole numbers, so that sums are exact. */
void faults_check_room(struct fault_world *w, uint32_t node, uint32_t task)
{
    const struct capacity *asks = &w->asks[task], *there = &w->capacity[node];
    if (asks->cores > there->cores || asks->memory > there->memory || (asks->has & ~there->has))
        faults_trouble(
            w,
            "task %u (%u cores, %g bytes, attributes %llx) started on node %u, which has "
            "%u, %g, %llx",
            task, asks->cores, asks->memory, (unsigned long long)asks->has, node, there->cores,
            there->memory, (unsigned long long)there->has);
    w->busy_cores[node] += asks->cores;
    w->busy_memory[node] += asks->memory;
    for (uint32_t i = 0; i < 2; i++)
        w->busy_things[node][i] += asks->thing[i];
    faults_check_use(w, node, task);
    if (w->leaves[node])
        faults_trouble(w, "task %u started on node %u, which leaves", task, node);
}

void faults_check_note(struct fault_world *w, const struct sched_note *note)
{
    static const uint8_t status[] = {[SCHED_NOTE_DONE] = META_DONE,
                                     [SCHED_NOTE_SKIPPED] = META_SKIPPED,
                                     [SCHED_NOTE_EXCUSED] = META_EXCUSED};
    bool ends = note->kind == SCHED_NOTE_DONE || note->kind == SCHED_NOTE_SKIPPED ||
                note->kind == SCHED_NOTE_EXCUSED;
    if (ends && w->reported[note->task]++)
        faults_trouble(w, "task %u was reported done twice", note->task);
    if (ends && w->status[note->task] != status[note->kind])
        faults_trouble(w, "task %u was reported done in status %u", note->task,
                       w->status[note->task]);
    if (note->kind == SCHED_NOTE_UNKNOWN)
        faults_trouble(w, "task %u is unknown to the store", note->task);
}

static bool executable(enum sched_place p)
{
    return p == SCHED_LREADYQ || p == SCHED_SREADYQ || p == SCHED_RUNNING || p == SCHED_COMPLETEQ ||
           p == SCHED_BACKOFF || p == SCHED_WIDEQ || p == SCHED_GATHERING;
}

void faults_check_world(struct fault_world *w)
{
    uint32_t unsafe = FAULT_CRASH | FAULT_SUSPECT | FAULT_PARTITION | FAULT_FAILOVER | FAULT_EXODUS;
    for (uint32_t t = 0; t < w->tasks; t++) {
        if (faults_ended(w, t))
            continue;
        uint32_t copies = 0, h = w->holder[t];
        for (uint32_t n = 0; n < w->nodes; n++)
            copies += w->sched[n] && executable(sched_place(w->sched[n], t, NULL));
        if (copies > 1 && !w->suspected)
            faults_trouble(w, "task %u can run on %u nodes", t, copies);
        if (!(w->faults & unsafe) && w->sched[h] && !w->owed[t] &&
            sched_place(w->sched[h], t, NULL) == SCHED_NOWHERE)
            faults_trouble(w, "task %u is held by node %u, which does not know it", t, h);
    }
}

void faults_check_store(struct fault_world *w)
{
    struct meta_op ops[FAULTS_TASKS];
    struct meta_answers answers;
    struct error err = {0};
    for (uint32_t t = 0; t < w->tasks; t++)
        ops[t] = (struct meta_op){.kind = META_READ, .task = t};
    store_submit(w->store, ops, w->tasks);
    if (!store_flush(w->store, &err) || !store_poll(w->store, &answers, &err)) {
        faults_trouble(w, "%s", err.text);
        return;
    }
    for (uint32_t t = 0; t < w->tasks && t < answers.n; t++) {
        const struct meta_record *r = &answers.records[t];
        uint32_t waiting = 0, last = NONE;
        for (uint32_t e = w->workflow->pred_off[t]; e < w->workflow->pred_off[t + 1]; e++) {
            uint32_t parent = w->workflow->pred_task[e];
            waiting += parent != last && !meta_is_complete(w->status[parent]);
            last = parent;
        }
        if (r->status != w->status[t] || r->holder != w->holder[t] || r->epoch != w->epoch[t] ||
            r->waiting_parents != waiting)
            faults_trouble(w,
                           "the store says of task %u: status %u, node %u, epoch %u, %u parents; "
                           "it answered %u, %u, %u, %u",
                           t, r->status, r->holder, r->epoch, r->waiting_parents, w->status[t],
                           w->holder[t], w->epoch[t], waiting);
        const uint32_t *held = r->count ? answers.nodes + r->first : NULL;
        if (r->count > r->epoch || (r->epoch && !r->count) ||
            (r->count && held[r->count - 1] != r->holder))
            faults_trouble(w, "task %u had %u holders in %u epochs", t, r->count, r->epoch);
        for (uint32_t i = 1; i < r->count; i++)
            if (held[i] == held[i - 1])
                faults_trouble(w, "node %u took task %u from itself", held[i], t);
    }
    if (answers.n != w->tasks)
        faults_trouble(w, "the store gave %zu answers for %u reads", answers.n, w->tasks);
}

bool faults_finished(const struct fault_world *w)
{
    if (w->joining)
        return false;
    for (uint32_t t = 0; t < w->tasks; t++)
        if (!faults_ended(w, t))
            return false;
    for (uint32_t n = 0; n < w->nodes; n++) {
        struct sched_counts c;
        if (!w->sched[n])
            continue;
        sched_snapshot(w->sched[n], &c);
        for (int p = 1; p < SCHED_PLACES; p++)
            if (c.at[p])
                return false;
        if (c.parts)
            return false;
    }
    return true;
}

void faults_check_end(struct fault_world *w)
{
    const struct workflow *f = w->workflow;
    for (uint32_t t = 0; t < w->tasks; t++) {
        if (!faults_ended(w, t))
            faults_trouble(w, "task %u has not ended (status %u, held by node %u)", t, w->status[t],
                           w->holder[t]);
        if (w->commits[t] != (uint32_t)meta_is_complete(w->status[t]))
            faults_trouble(w, "task %u has status %u and %u commits", t, w->status[t],
                           w->commits[t]);
        bool doomed = false;
        for (uint32_t e = f->pred_off[t]; e < f->pred_off[t + 1]; e++)
            doomed |= !meta_is_complete(w->status[f->pred_task[e]]);
        if (doomed && w->status[t] != META_REMOVED)
            faults_trouble(w, "task %u has status %u below one that did not complete", t,
                           w->status[t]);
        w->result->done += w->status[t] == META_DONE;
        w->result->ended_otherwise += w->status[t] > META_DONE;
    }
    for (uint32_t n = 0; n < w->nodes; n++)
        for (uint32_t t = 0; w->sched[n] && t < w->tasks; t++)
            if (sched_place(w->sched[n], t, NULL) != SCHED_NOWHERE)
                faults_trouble(w, "node %u still holds task %u in place %d", n, t,
                               (int)sched_place(w->sched[n], t, NULL));
    faults_check_results(w);
    faults_check_store(w);
}
