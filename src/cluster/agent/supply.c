/* The inputs of tasks: what the scheduler starts is held until they are here, then started.
 *
 * I1. A task that waits for its inputs takes no core, so what must be computed again for it always
 *     finds one.
 * I2. `used` of an object counts the tasks that are held or run and read it: it is not evicted.
 * I3. A held task whose inputs are here stands in `runnable` once; recomputations before others,
 *     since tasks here and elsewhere wait for what they produce, and so does what spans several nodes:
 *     it holds its room already, which those before it might wait for.
 * I4. The scheduler learns of ends by driver_ended() alone, and never of a recomputation's. */
#include "base/clock.h"
#include "model/growth.h"
#include "cluster/agent/agent_state.h"
#include "cluster/agent/job_failures.h"

#include <stddef.h>

enum {
    RECOMPUTE_TRIES = 3, /* at least: it went well before */
    AHEAD_MOST = 64,     /* wants that prefetching may add to */
    AHEAD_TASKS = 16,    /* tasks looked at ahead: some seconds of work for most machines */
};

/* ---- tasks that wait ---- */

/* Its number stays its own until it is released or abandoned. */
static uint32_t held_new(struct job *j, const struct sched_start *start, bool recomputation)
{
    struct supply *s = &j->supply;
    uint32_t number;
    if (s->free_held.n) {
        number = array_pop(&s->free_held);
    } else {
        number = (uint32_t)s->held.n;
        array_add(&s->held);
    }
    s->held.at[number] = (struct held){.start = *start, .recomputation = recomputation};
    if (recomputation)
        s->held.at[number].start.slot = SLOT_RECOMPUTATION | number;
    return number;
}

/* Its inputs are all here, so no want names it. */
static void held_release(struct job *j, uint32_t number)
{
    j->supply.held.at[number].start.task = NONE;
    array_push(&j->supply.free_held, number);
}

/* Nobody may name it any more when its number is another's. O(wants). */
static void held_abandon(struct job *j, uint32_t number)
{
    for (size_t i = 0; i < j->supply.wants.n; i++) {
        struct want *x = &j->supply.wants.at[i];
        for (size_t k = x->state == WANT_FREE ? 0 : x->waiting.n; k--;)
            if (x->waiting.at[k] == number)
                x->waiting.at[k] = array_pop(&x->waiting);
    }
    for (size_t k = j->supply.checks.n; k--;)
        if (j->supply.checks.at[k].held == number)
            j->supply.checks.at[k] = array_pop(&j->supply.checks);
    held_release(j, number);
}

static bool is_wide(const struct job *j, uint32_t task)
{
    return workflow_span(j->w, task) > 1;
}

static void held_is_runnable(struct job *j, uint32_t number)
{
    struct supply *s = &j->supply;
    if (s->runnable_at == s->runnable.n)
        s->runnable_at = s->runnable.n = 0;
    s->stands_back = false;
    array_push(&s->runnable, number);
    if (s->held.at[number].recomputation ||
        is_wide(j, s->held.at[number].start.task)) { /* first in the row (I3) */
        for (size_t i = s->runnable.n - 1; i > s->runnable_at; i--)
            s->runnable.at[i] = s->runnable.at[i - 1];
        s->runnable.at[s->runnable_at] = number;
    }
}

/* Only what joined a run can read files of a folder alone. */
uint32_t supply_object(const struct job *j, uint32_t reading)
{
    const struct workflow *w = j->w;
    uint32_t object = w->in_object[reading];
    if (object < j->growth.first_object || w->producer[object] != NONE)
        return object; /* or the submitter has handed it in */
    uint32_t folder = growth_folder(w, object);
    return folder != NONE && w->producer[folder] != NONE ? folder : object;
}

/* I2: `by` +1 when it is held, -1 when it has ended. */
static void use_inputs(struct job *j, uint32_t task, int by)
{
    const struct workflow *w = j->w;
    if (!j->depot)
        return;
    double now = job_now(j);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        j->supply.used[supply_object(j, i)] += (uint32_t)by;
        j->supply.touched[supply_object(j, i)] = now;
    }
}

void supply_input_arrived(struct job *j, uint32_t held, double fetched)
{
    struct held *h = &j->supply.held.at[held];
    h->fetched += fetched;
    if (h->missing && --h->missing == 0)
        held_is_runnable(j, held);
}

/* ---- computing again ---- */

/* O(held). */
static bool is_being_recomputed(const struct job *j, uint32_t task)
{
    for (size_t i = 0; i < j->supply.held.n; i++)
        if (j->supply.held.at[i].start.task == task && j->supply.held.at[i].recomputation)
            return true;
    return false;
}

/* Those who wait for what it would have produced cannot be served. */
static void supply_cannot_make(struct job *j, uint32_t task, const char *why)
{
    const struct workflow *w = j->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        if (j->supply.want_of[o] != NONE)
            want_fail(j, j->supply.want_of[o], why);
        else
            depot_unavailable(j->depot, o, why);
}

/* Its inputs may be gone too: they are wanted in turn, so a whole chain is restored from below. */
void supply_recompute(struct job *j, uint32_t task)
{
    const struct workflow *w = j->w;
    if (is_being_recomputed(j, task))
        return;
    if (is_wide(j, task)) {
        supply_cannot_make(
            j, task,
            "its producer spans several nodes, the two that had its results are gone, "
            "and it is not computed again within a run: run the workflow once more");
        return;
    }
    uint32_t number = held_new(j, &(struct sched_start){.task = task, .attempt = 1}, true);
    uint32_t missing = 0;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
        missing += !want_object(j, supply_object(j, i), number);
    use_inputs(j, task, 1);
    j->supply.held.at[number].missing = missing;
    agent_log(j->agent, "run %llu: '%s' is computed again: its results died with their agent",
              (unsigned long long)j->number, workflow_task_name(w, task));
    if (!missing)
        held_is_runnable(j, number);
}

void supply_held_failed(struct job *j, uint32_t held, const char *why)
{
    struct sched_start start = j->supply.held.at[held].start;
    bool recomputation = j->supply.held.at[held].recomputation;
    if (start.task == NONE)
        return;
    if (recomputation) /* another's end gives them back (supply_ended) */
        use_inputs(j, start.task, -1);
    held_abandon(j, held);
    if (!recomputation) {
        struct error err = {0};
        error_set(&err, ERROR_FAILED, "an input could not be brought here: %s", why);
        executor_refuse(j->executor, &start, &err);
        return;
    }
    supply_cannot_make(j, start.task, why);
}

/* ---- starting ---- */

static bool is_call(const struct job *j, uint32_t task)
{
    return j->w->flags[task] & TASK_CALL;
}

static bool supply_waits(const struct job *j)
{
    return job_starts_tasks(j) && !j->supply.stands_back &&
           j->supply.runnable_at < j->supply.runnable.n;
}

bool supply_share_waits(const struct run_share *share)
{
    const size_t inside = offsetof(struct job, supply) + offsetof(struct supply, share);
    return supply_waits((const struct job *)((const char *)share - inside));
}

bool supply_fits(const struct job *j, uint32_t cores, double memory)
{
    const struct agent *a = j->agent;
    return a->busy + cores <= a->o->cores && memory_files_leave(j->agent, memory);
}

void supply_take_room(struct job *j, uint32_t cores, double memory)
{
    struct agent *a = j->agent;
    share_takes(&j->supply.share, clock_seconds(), cores);
    j->supply.busy_memory += memory;
    a->busy += cores;
    a->busy_memory += memory;
}

/* Sums of doubles do not drift: nothing is nothing. */
void supply_give_room(struct job *j, uint32_t cores, double memory, double seconds)
{
    struct agent *a = j->agent;
    struct run_share *share = &j->supply.share;
    cores = cores < share->busy ? cores : share->busy;
    share_gives(share, clock_seconds(), cores, seconds);
    j->supply.busy_memory = share->busy ? j->supply.busy_memory - memory : 0;
    a->busy -= cores < a->busy ? cores : a->busy;
    a->busy_memory = a->busy ? a->busy_memory - memory : 0;
}

/* Does a run that has had less of this machine wait for some of these things? */
static bool is_kept_for_another(const struct job *j, uint64_t things)
{
    const struct agent *a = j->agent;
    double now = clock_seconds(), had = share_had(&j->supply.share, now);
    for (size_t i = 0; i < a->jobs.n; i++) {
        const struct job *other = a->jobs.at[i];
        if (other != j && other->supply.lacking & things &&
            share_had(&other->supply.share, now) < had)
            return true;
    }
    return false;
}

/* Are the things there that it asks for? `kept`: those that tasks before it wait for, which it does not
 * take; if it has to wait, too, so does what it asks for. */
static bool has_things_for(const struct job *j, uint32_t task, uint64_t *kept)
{
    if (!j->w->asks || !j->w->asks[task])
        return true;
    if (gang_has_lent(j->agent) || is_wide(j, task)) /* they go back first; its part holds them */
        return !gang_has_lent(j->agent);
    uint64_t wanted = holding_wanted(j->agent->holding, j->w, task);
    if (!(wanted & *kept) && executor_has_things(j->executor, task) &&
        !is_kept_for_another(j, wanted))
        return true;
    *kept |= wanted;
    return false;
}

/* What is computed again stands behind nobody: parts that wait for it lend what they hold. */
static bool has_things_to_restore(const struct job *j, uint32_t task)
{
    return !j->w->asks || !j->w->asks[task] || executor_has_things(j->executor, task) ||
           gang_lend_things(j->agent, j, task);
}

/* Has it a lane of its own, and the machine, which jobs share, its cores and memory? Calls have their
 * threads. What spans several nodes has its room already. What is computed again is not kept waiting by
 * parts of such tasks, whichever run's: these may wait for the very data, or for those who do. */
static bool has_room_for(const struct job *j, uint32_t task, bool recomputation)
{
    const struct agent *a = j->agent;
    if (is_call(j, task) || !j->w->command[task])
        return true;
    if (is_wide(j, task) || (recomputation && gang_parts_are_here(a)))
        return executor_has_lane(j->executor);
    if (a->jobs.n > 1 && share_is_turn_of_another(&a->shares, &j->supply.share, clock_seconds()))
        return false;
    return executor_has_lane(j->executor) &&
           supply_fits(j, j->w->cores[task], executor_task_memory(j->executor, task)) &&
           !gang_waits_for_room(a);
}

/* The machine's cores and memory are counted over all jobs, calls not among them. */
static void supply_start_now(struct job *j, const struct sched_start *s)
{
    if (is_wide(j, s->task))
        gang_hand_over_things(j, s->task);
    memory_files_make_room(j, s->task);
    if (executor_start(j->executor, s) && !is_wide(j, s->task))
        supply_take_room(j, j->w->cores[s->task], executor_task_memory(j->executor, s->task));
}

void supply_release(struct job *j)
{
    supply_give_room(j, j->supply.share.busy, j->supply.busy_memory, 0);
}

/* Are inputs waited for? In a shared folder they are there, but for those that nobody makes. */
static bool supply_asks(const struct job *j)
{
    return j->depot || j->needs.absent;
}

void supply_start(struct job *j, const struct sched_start *s)
{
    const struct workflow *w = j->w;
    share_competes(&j->agent->shares, &j->supply.share, clock_seconds());
    bool inputs = supply_asks(j) && w->in_off[s->task] < w->in_off[s->task + 1];
    /* the short way, for tasks without inputs: nothing waits before it (I3) */
    if (!inputs && job_starts_tasks(j) && agent_is_staying(j->agent) &&
        (j->supply.runnable_at == j->supply.runnable.n || is_wide(j, s->task)) &&
        has_room_for(j, s->task, false) && has_things_for(j, s->task, &(uint64_t){0})) {
        supply_start_now(j, s);
        return;
    }
    uint32_t number = held_new(j, s, false), missing = 0;
    for (uint32_t i = w->in_off[s->task]; inputs && i < w->in_off[s->task + 1]; i++) {
        bool is_here = want_object(j, supply_object(j, i), number);
        missing += !is_here;
        j->supply.hits += is_here;
        j->supply.misses += !is_here;
    }
    use_inputs(j, s->task, 1);
    j->supply.held.at[number].missing = missing;
    if (!missing)
        held_is_runnable(j, number);
}

/* A held task goes back to the scheduler without having begun. Its end comes to supply_ended(), which
 * gives its inputs back. */
static void held_give_back(struct job *j, uint32_t number, bool failed)
{
    struct supply *s = &j->supply;
    struct sched_start start = s->held.at[number].start;
    double now = job_now(j);
    driver_ended(j->driver, &(struct sched_ended){.task = start.task,
                                                  .slot = start.slot,
                                                  .failed = failed,
                                                  .returned = !failed,
                                                  .start = now,
                                                  .finish = now});
    for (size_t k = s->runnable_at; k < s->runnable.n; k++)
        if (s->runnable.at[k] == number)
            s->runnable.at[k] = NONE;
    held_abandon(j, number);
}

/* It ends as a failed attempt that took no time; the scheduler, which asked for it, knows why. */
bool supply_stop(struct job *j, uint32_t task)
{
    for (uint32_t i = 0; i < j->supply.held.n; i++) {
        const struct held *h = &j->supply.held.at[i];
        if (h->start.task != task || h->recomputation)
            continue;
        held_give_back(j, i, true);
        return true;
    }
    return false;
}

void supply_give_back(struct job *j)
{
    for (uint32_t i = 0; i < j->supply.held.n; i++)
        if (j->supply.held.at[i].start.task != NONE && !j->supply.held.at[i].recomputation)
            held_give_back(j, i, false);
}

/* Before a task that waited for its inputs starts: copies that are not what they were have been
 * dropped when this returns false, and it waits for others. */
static bool inputs_are_sound(struct job *j, uint32_t number)
{
    const struct workflow *w = j->w;
    uint32_t task = j->supply.held.at[number].start.task, missing = 0;
    for (uint32_t i = w->in_off[task]; j->depot && i < w->in_off[task + 1]; i++) {
        uint32_t object = supply_object(j, i);
        if (j->needs.absent && j->needs.absent[object])
            continue;
        enum depot_verdict verdict = depot_verify(j->depot, object);
        if (verdict == DEPOT_LOST)
            missing += !want_object(j, object, number);
        else if (verdict == DEPOT_LATER)
            array_push(&j->supply.checks, (struct held_check){object, number});
        missing += verdict == DEPOT_LATER;
    }
    j->supply.held.at[number].missing = missing;
    return !missing;
}

void supply_checked(struct job *j, uint32_t object)
{
    ARRAY(uint32_t) waiting = {0};
    for (size_t k = j->supply.checks.n; k--;)
        if (j->supply.checks.at[k].object == object) {
            array_push(&waiting, j->supply.checks.at[k].held);
            j->supply.checks.at[k] = array_pop(&j->supply.checks);
        }
    for (size_t i = 0; i < waiting.n; i++)
        if (want_object(j, object, waiting.at[i]))
            supply_input_arrived(j, waiting.at[i], 0);
    array_free(&waiting);
}

/* What was started out of the row leaves a hole. O(row). */
static void close_row(struct supply *s)
{
    size_t n = s->runnable_at;
    for (size_t i = s->runnable_at; i < s->runnable.n; i++)
        if (s->runnable.at[i] != NONE)
            s->runnable.at[n++] = s->runnable.at[i];
    s->runnable.n = n;
}

/* It leaves the row and starts, if its inputs are what they were. */
static void start_held(struct job *j, size_t at)
{
    struct supply *s = &j->supply;
    uint32_t number = s->runnable.at[at];
    if (at == s->runnable_at)
        s->runnable_at++;
    else
        s->runnable.at[at] = NONE;
    if (!inputs_are_sound(j, number))
        return;
    const struct held *h = &s->held.at[number];
    if (!h->recomputation && !job_has_time_for(j, h->start.task)) { /* its inputs took too long */
        held_give_back(j, number, false);
        return;
    }
    struct sched_start start = h->start;
    if (h->recomputation) { /* stays held until it has ended: it may be tried again */
        j->needs.task[start.task] = NEED_RESTORE; /* whatever the record says: it is wanted */
    } else {
        if (j->depot)
            s->fetched[start.task] = h->fetched;
        held_release(j, number);
    }
    supply_start_now(j, &start);
}

/* In order, until one finds no room: what needs many cores must not be overtaken for ever. What waits
 * for things is passed by, and stays at the front of the row. */
void supply_pump(struct job *j)
{
    struct supply *s = &j->supply;
    if (j->w->nodes && agent_is_staying(j->agent))
        gang_pump(j);
    size_t passed = 0, holes = 0;
    bool stuck = false;
    s->lacking = 0;
    while (s->runnable_at + passed < s->runnable.n && agent_is_staying(j->agent) && !stuck) {
        size_t at = s->runnable_at + passed;
        uint32_t number = s->runnable.at[at];
        if (number == NONE) { /* stopped meanwhile, or started before those that it passed */
            s->runnable_at += !passed;
            passed += passed > 0;
            holes += passed > 0;
            continue;
        }
        const struct held *h = &s->held.at[number];
        if (!job_starts_tasks(j) && !h->recomputation) {
            stuck = true;
        } else if (h->recomputation ? !has_things_to_restore(j, h->start.task)
                                    : !has_things_for(j, h->start.task, &s->lacking)) {
            passed++;
        } else if (!has_room_for(j, h->start.task, h->recomputation)) {
            stuck = true;
        } else {
            start_held(j, at);
            holes += passed > 0;
            passed += passed > 0;
        }
    }
    s->stands_back = passed > holes && !stuck;
    if (holes)
        close_row(s);
    s->share.competes = s->share.busy || s->runnable_at < s->runnable.n;
    executor_hand_over(j->executor);
}

/* ---- ending ---- */

/* What a task has produced is here. Its first place is the store's business (COMPLETE), a restored
 * one is a copy. */
static void supply_produced(struct job *j, uint32_t task, bool copies)
{
    const struct workflow *w = j->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        if (!j->needs.present || !j->needs.present[o])
            continue;
        want_tell_copy(j, o, j->agent->node);
        if (copies)
            evict_never(j, o);
        if (!copies && j->needs.bytes[o] != w->size[o])
            job_ask(j, META_OBJECT, o, NONE)->bytes = j->needs.bytes[o];
        j->supply.touched[o] = job_now(j);
        depot_added(j->depot, o, &j->needs.content[o], j->needs.bytes[o]);
        want_arrived(j, o);
    }
}

/* Restored, tried again, or given up: then those who wait fail with it. */
static void recomputation_ended(struct job *j, const struct sched_ended *e)
{
    uint32_t number = e->slot & ~SLOT_RECOMPUTATION;
    struct held *h = &j->supply.held.at[number];
    uint32_t retries = j->w->retries ? j->w->retries[e->task] : 0;
    j->needs.task[e->task] = NEED_PARENT;
    if (!e->failed) {
        use_inputs(j, e->task, -1);
        if (!growth_is_same(j, e->task)) {
            supply_held_failed(
                j, number,
                "a task that decides what else runs was computed again for data that "
                "was lost, and decides otherwise now");
            return;
        }
        held_release(j, number);
        j->supply.recomputed++;
        supply_produced(j, e->task, true);
    } else if (e->returned || ++h->tries < RECOMPUTE_TRIES || h->tries <= retries) {
        h->start.attempt = 1 + h->tries; /* a task may do otherwise when it is tried again */
        h->missing = 0;
        held_is_runnable(j, number);
    } else {
        supply_held_failed(j, number,
                           "a task whose results were lost failed when it was computed again");
    }
}

bool supply_ended(struct job *j, struct sched_ended *e)
{
    /* It took cores if it took time: what was reused or refused ended when it began. What spans several
     * nodes has them as parts. Before it is settled how much memory its next attempt gets. */
    if (!is_call(j, e->task) && j->w->command[e->task] && e->finish > e->start &&
        !is_wide(j, e->task))
        supply_give_room(j, j->w->cores[e->task], executor_task_memory(j->executor, e->task),
                         e->finish - e->start);
    uint32_t other = is_wide(j, e->task) ? gang_other_node(j, e->task) : NONE;
    if (is_wide(j, e->task))
        gang_task_ended(j, e->task);
    if (e->slot & SLOT_RECOMPUTATION) {
        recomputation_ended(j, e);
        return true;
    }
    if (j->depot) {
        use_inputs(j, e->task, -1);
        e->fetched = j->supply.fetched[e->task];
        j->supply.fetched[e->task] = 0;
        if (!e->failed && !e->returned)
            supply_produced(j, e->task, false);
        if (!e->failed && !e->returned && other != NONE)
            gang_leave_copies(j, e->task, other);
    }
    return false;
}

/* ---- data that comes ---- */

void supply_arrived(struct job *j, uint32_t object, bool good, const char *why)
{
    if (!good) {
        want_not_fetched(j, object, why);
        return;
    }
    j->needs.content[object] = *depot_digest(j->depot, object);
    j->needs.bytes[object] = depot_bytes(j->depot, object);
    j->needs.present[object] = 1;
    j->supply.touched[object] = job_now(j);
    want_tell_copy(j, object, j->agent->node); /* others may fetch it here now */
    agent_answer_keep(j->agent, j->number, object, true, "");
    want_arrived(j, object);
}

/* Only as many as help: what is fetched for nobody displaces what is fetched for somebody. */
void supply_prefetch(struct job *j)
{
    uint32_t next[AHEAD_TASKS];
    const struct workflow *w = j->w;
    if (!j->depot || j->supply.wants.n - j->supply.free_wants.n > AHEAD_MOST)
        return;
    uint32_t n = sched_upcoming(driver_sched(j->driver), next, AHEAD_TASKS);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = w->in_off[next[i]]; k < w->in_off[next[i] + 1]; k++)
            want_object(j, supply_object(j, k), NONE);
}

/* Answers to our own questions; the scheduler asks no READ and no WHERE. Records stand in the order
 * of the READs. */
void supply_answers(struct job *j, const struct meta_answers *all)
{
    size_t record = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct meta_answer *a = &all->at[i];
        if (a->kind != META_READ && a->kind != META_WHERE)
            continue;
        uint32_t number = a->slot & SLOT_NUMBER;
        if (a->slot == SLOT_DECIDES)
            growth_took_record(j, &all->records[record]);
        else if (a->slot & SLOT_EVICTION)
            evict_answer(j, a, all, record);
        else if (a->slot == SLOT_LOOK)
            want_seen(j, a);
        else if (number < j->supply.wants.n && a->kind == META_WHERE)
            want_located(j, number, a, all);
        else if (number < j->supply.wants.n)
            want_producer_checked(j, number, &all->records[record]);
        record += a->kind == META_READ;
    }
}

void supply_tick(struct job *j)
{
    if (!supply_asks(j))
        return;
    want_tick(j);
    if (!j->depot)
        return;
    if (!j->eviction.candidates.n && j->agent->o->cache > 0 &&
        depot_counts(j->depot).bytes > j->agent->o->cache)
        evict_begin(j);
}

bool supply_is_idle(const struct job *j)
{
    return j->supply.held.n == j->supply.free_held.n;
}

/* ---- from beginning to end ---- */

void supply_init(struct job *j)
{
    struct supply *s = &j->supply;
    uint32_t objects = j->w->nobjects;
    s->used = mem_new_zero(uint32_t, objects);
    s->touched = mem_new_zero(double, objects);
    s->fetched = mem_new_zero(double, j->w->ntasks);
    s->want_of = mem_new(uint32_t, objects);
    memset(s->want_of, 0xff, objects * sizeof *s->want_of); /* NONE */
    s->object_room = objects;
    s->task_room = j->w->ntasks;
}

void supply_grow(struct job *j, uint32_t first, uint32_t object)
{
    struct supply *s = &j->supply;
    uint32_t objects = j->w->nobjects, tasks = j->w->ntasks;
    if (!s->want_of)
        return;
    if (s->object_room < objects) {
        s->object_room = objects + object / 2;
        s->used = mem_resize(s->used, s->object_room);
        s->touched = mem_resize(s->touched, s->object_room);
        s->want_of = mem_resize(s->want_of, s->object_room);
    }
    if (s->task_room < tasks) {
        s->task_room = tasks + first / 2;
        s->fetched = mem_resize(s->fetched, s->task_room);
    }
    for (uint32_t o = object; o < objects; o++) {
        s->used[o] = 0;
        s->touched[o] = 0;
        s->want_of[o] = NONE;
    }
    for (uint32_t t = first; t < tasks; t++)
        s->fetched[t] = 0;
}

void supply_free(struct job *j)
{
    struct supply *s = &j->supply;
    for (size_t i = 0; i < s->wants.n; i++) {
        array_free(&s->wants.at[i].waiting);
        array_free(&s->wants.at[i].places);
    }
    array_free(&s->wants);
    array_free(&s->free_wants);
    array_free(&s->held);
    array_free(&s->free_held);
    array_free(&s->runnable);
    array_free(&s->checks);
    array_free(&s->ops);
    for (size_t i = 0; i < s->said.n; i++)
        free(s->said.at[i]);
    array_free(&s->said);
    free(s->want_of);
    free(s->used);
    free(s->touched);
    free(s->fetched);
}
