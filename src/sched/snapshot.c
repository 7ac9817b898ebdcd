/* Looking at a scheduler from outside; nothing here changes it. */
#include "sched/gang.h"

#include <math.h>

void sched_snapshot(const struct sched *s, struct sched_counts *out)
{
    *out = s->counts;
    memcpy(out->at, s->count, sizeof out->at);
    out->parts = s->gangs ? (uint32_t)s->gangs->parts.n : 0;
    out->tt = s->tt;
    out->interval = s->interval;
    out->policy = s->policy;
    out->dormant = s->steal == STEAL_DORMANT;
}

enum sched_place sched_place(const struct sched *s, uint32_t task, uint32_t *epoch)
{
    uint32_t slot = slots_find(&s->tasks, task);
    if (slot == NONE)
        return SCHED_NOWHERE;
    if (epoch)
        *epoch = s->tasks.slots.at[slot].epoch;
    return s->tasks.slots.at[slot].place;
}

uint32_t sched_unfit(const struct sched *s)
{
    return s->unfit.length ? s->tasks.slots.at[s->unfit.head].task : NONE;
}

/* In the order of start_tasks(): the LReadyQ first. */
uint32_t sched_upcoming(const struct sched *s, uint32_t *tasks, uint32_t most)
{
    uint32_t n = gang_upcoming(s, tasks, most);
    n += readyset_first(&s->local, s->tasks.slots.at, tasks + n, most - n);
    return n + readyset_first(&s->shared, s->tasks.slots.at, tasks + n, most - n);
}

size_t sched_bytes(const struct sched *s)
{
    return sizeof *s + slots_bytes(&s->tasks) + readyset_bytes(&s->local) +
           readyset_bytes(&s->shared) + s->down.cap * sizeof *s->down.at +
           s->aside.cap * sizeof *s->aside.at + s->failed_at.cap * sizeof *s->failed_at.at +
           s->others.cap * sizeof *s->others.at + (s->gangs ? sizeof *s->gangs : 0) +
           s->scratch.cap * sizeof *s->scratch.at;
}

/* Links both ways, the length, and that each says it is in this place. */
static bool list_holds(const struct sched *s, const struct slot_list *l, enum sched_place place)
{
    uint32_t n = 0, previous = NONE;
    for (uint32_t i = l->head; i != NONE; i = s->tasks.slots.at[i].next) {
        const struct slot *slot = &s->tasks.slots.at[i];
        if (slot->place != place || slot->prev != previous || n++ > l->length)
            return false;
        previous = i;
    }
    return n == l->length && l->tail == previous && n == s->count[place];
}

static uint64_t held_of(const struct things *t, uint32_t thing)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < t->holds.n; i++)
        sum += t->holds.at[i].thing == thing ? t->holds.at[i].amount : 0;
    return sum;
}

/* O(tasks held): tests call it after every event, programs never. */
bool sched_check(const struct sched *s, struct error *err)
{
    uint32_t count[SCHED_PLACES] = {0}, held = 0, cores = 0;
    uint64_t things[THING_SORTS] = {0};
    double disk = 0, least = INFINITY; /* of what runs; of what is ready and leaves least */
    for (size_t i = 0; i < s->tasks.slots.n; i++) {
        const struct slot *slot = &s->tasks.slots.at[i];
        if (slot->place >= SCHED_PLACES)
            return error_set(err, ERROR_FAILED, "slot %zu is in place %u", i, slot->place);
        count[slot->place]++;
        if (slot->place == SCHED_NOWHERE)
            continue;
        held++;
        if (slots_find(&s->tasks, slot->task) != i)
            return error_set(err, ERROR_FAILED, "task %u is not found in its slot", slot->task);
        double leaves = s->config.task_disk ? s->config.task_disk[slot->task] : 0;
        bool ready = slot->place == SCHED_LREADYQ || slot->place == SCHED_SREADYQ;
        if (ready && leaves < least)
            least = leaves;
        struct capacity here = s->own;
        here.ends = ready ? 0 : here.ends; /* it may have had time when it became ready */
        bool fits = gang_is_wide(s, slot->task) ? gang_fits(s, slot->task)
                                                : fit_within(s, slot->task, &here);
        if (ready != fits && (ready || slot->place == SCHED_UNFIT))
            return error_set(err, ERROR_FAILED, "task %u is in place %u and %s", slot->task,
                             slot->place, ready ? "does not fit here" : "fits here");
        if (slot->place == SCHED_RUNNING) {
            disk += leaves;
            cores += s->config.task_cores ? s->config.task_cores[slot->task] : 1;
            for (uint32_t k = 0; k < THING_SORTS && fit_demand(s, slot->task); k++)
                things[k] += fit_demand(s, slot->task)[k];
        }
    }
    for (size_t i = 0; s->gangs && i < s->gangs->parts.n; i++) {
        const struct gang_part *p = &s->gangs->parts.at[i];
        for (uint32_t k = 0; k < THING_SORTS && fit_demand(s, p->key.task); k++)
            things[k] += p->state == PART_WAITS ? 0 : fit_demand(s, p->key.task)[k];
    }
    for (uint32_t k = 0; s->things && k < THING_SORTS; k++)
        if (things[k] != held_of(s->things, k) || things[k] > s->things->stock[k].amount)
            return error_set(err, ERROR_FAILED, "of thing %u %llu are in use, %llu held, of %u", k,
                             (unsigned long long)things[k],
                             (unsigned long long)held_of(s->things, k), s->things->stock[k].amount);
    /* what was counted along the way against the recount */
    for (int p = SCHED_NOWHERE + 1; p < SCHED_PLACES; p++)
        if (count[p] != s->count[p])
            return error_set(err, ERROR_FAILED, "place %d has %u tasks, counted as %u", p, count[p],
                             s->count[p]);
    if (held != s->tasks.used || count[SCHED_NOWHERE] != s->tasks.unused.n)
        return error_set(err, ERROR_FAILED, "%u tasks in slots, %u in the table, %zu slots unused",
                         held, s->tasks.used, s->tasks.unused.n);
    if (!gang_check(s, &cores))
        return error_set(err, ERROR_FAILED, "the gangs are not as counted");
    if (cores + s->free_cores != s->config.cores)
        return error_set(err, ERROR_FAILED, "%u cores used, %u free, of %u", cores, s->free_cores,
                         s->config.cores);
    if (s->local.length != s->count[SCHED_LREADYQ] || s->shared.length != s->count[SCHED_SREADYQ] ||
        !readyset_check(&s->local, s->tasks.slots.at) ||
        !readyset_check(&s->shared, s->tasks.slots.at))
        return error_set(err, ERROR_FAILED, "a ready queue is broken");
    if (!list_holds(s, &s->wait, SCHED_WAITQ) || !list_holds(s, &s->moving, SCHED_MOVING) ||
        !list_holds(s, &s->unfit, SCHED_UNFIT))
        return error_set(err, ERROR_FAILED, "a list of tasks is broken");
    /* sums of doubles in another order: equal but for rounding */
    if (fabs(disk - s->taken_disk) > 1e-9 * disk)
        return error_set(err, ERROR_FAILED, "running tasks take %g of the disk, counted as %g",
                         disk, s->taken_disk);
    /* invariant 2 of docs/scheduler.md, in a form that is always true: all cores idle, a task
     * fits */
    if (s->free_cores == s->config.cores && least < INFINITY && least <= s->free_disk &&
        !s->config.gate.lets) /* which waits for tasks that are about to be ready */
        return error_set(err, ERROR_FAILED, "idle with ready tasks");
    return true;
}
