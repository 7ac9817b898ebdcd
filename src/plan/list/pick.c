/* The loop of the planners that look at all ready tasks at every step: see pick.h for what a
 * planner supplies.
 *
 * Two ways. Keys that only rise stand in a lazy heap (as Minoux' accelerated greedy): an outdated
 * key is a lower bound, so whoever is first after being asked again is first for good. Other keys
 * stand in a set; at each step only those are asked again that lean on the node where the last task
 * went.
 *
 *   fresh --> open: heap by key (lower bounds) --- floor reaches `settled` ---> flat: heap by tie
 *              |  first after asking again                                       |  first
 *              +------------------------> placed <-----------------------------+
 *
 * Tasks whose data is everywhere wait for nothing but a free node: they all have the same key, the
 * floor, and stand in `flat`, where nobody is asked at all. Without it wide graphs would ask every
 * ready task at every step. */
#include "plan/list/pick.h"

struct pick_candidate {
    struct choice choice;
    uint32_t task;
    uint32_t step; /* the step for which the choice was computed */
};

struct candidates {
    ARRAY(struct pick_candidate) all; /* a binary heap, or just a set */
};

/* A total order: key, tie, task number. */
static bool pick_precedes(const struct pick_candidate *a, const struct pick_candidate *b)
{
    if (a->choice.key != b->choice.key)
        return a->choice.key < b->choice.key;
    if (a->choice.tie != b->choice.tie)
        return a->choice.tie < b->choice.tie;
    return a->task < b->task;
}

static void candidates_push(struct candidates *c, struct pick_candidate candidate)
{
    array_push(&c->all, candidate);
    size_t i = c->all.n - 1;
    while (i > 0 && pick_precedes(&candidate, &c->all.at[(i - 1) / 2])) {
        c->all.at[i] = c->all.at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    c->all.at[i] = candidate;
}

static struct pick_candidate candidates_pop(struct candidates *c)
{
    struct pick_candidate top = c->all.at[0], last = array_pop(&c->all);
    size_t i = 0;
    for (size_t child = 1; child < c->all.n; child = 2 * i + 1) {
        if (child + 1 < c->all.n && pick_precedes(&c->all.at[child + 1], &c->all.at[child]))
            child++;
        if (!pick_precedes(&c->all.at[child], &last))
            break;
        c->all.at[i] = c->all.at[child];
        i = child;
    }
    if (c->all.n)
        c->all.at[i] = last;
    return top;
}

static struct pick_candidate pick_evaluate(struct list_run *l, const struct picker *picker,
                                           uint32_t task, uint32_t step)
{
    return (struct pick_candidate){picker->evaluate(l, task, picker->context), task, step};
}

/* For keys that only rise. */
struct rising {
    struct candidates open; /* a heap; keys may be outdated, and then are lower bounds */
    struct candidates flat; /* a heap of tasks whose key is the floor, by tie and task */
    struct heap waiting;    /* tasks of `open` by the floor at which they become flat */
    bool *is_flat;          /* per task */
};

static void rising_push(struct rising *r, const struct picker *picker,
                        struct pick_candidate candidate)
{
    candidates_push(&r->open, candidate);
    if (picker->floor)
        heap_push(&r->waiting, candidate.choice.settled, candidate.task);
}

/* The first of `open` that is still first when asked again, unless its bound is beyond `flat`,
 * which is at the floor. */
static bool pick_open(struct list_run *l, const struct picker *picker, struct rising *r,
                      uint32_t step, const struct pick_candidate *flat,
                      struct pick_candidate *picked)
{
    while (r->open.all.n) {
        if (flat && !pick_precedes(&r->open.all.at[0], flat))
            return false;
        struct pick_candidate first = candidates_pop(&r->open);
        if (r->is_flat[first.task])
            continue;
        if (first.step != step)
            first = pick_evaluate(l, picker, first.task, step);
        bool is_first = !r->open.all.n || pick_precedes(&first, &r->open.all.at[0]);
        if (is_first && (!flat || pick_precedes(&first, flat))) {
            *picked = first;
            return true;
        }
        candidates_push(&r->open, first);
    }
    return false;
}

/* One step with rising keys: move to `flat` who has become settled, then the better of `flat` and
 * `open`. */
static struct pick_candidate pick_rising(struct list_run *l, const struct picker *picker,
                                         struct rising *r, uint32_t step)
{
    double floor = picker->floor ? picker->floor(l) : 0;
    const struct heap_item *top;
    while (picker->floor && (top = heap_peek(&r->waiting)) && top->key <= floor) {
        struct pick_candidate flat = {.task = (uint32_t)heap_pop(&r->waiting).value, .step = step};
        if (schedule_is_placed(l->s, flat.task))
            continue;
        flat.choice = picker->evaluate(l, flat.task, picker->context);
        flat.choice.key = -INFINITY; /* in this heap only tie and task matter */
        r->is_flat[flat.task] = true;
        candidates_push(&r->flat, flat);
    }
    struct pick_candidate picked, flat = {0};
    if (!r->flat.all.n) {
        pick_open(l, picker, r, step, NULL, &picked);
        return picked;
    }
    flat = r->flat.all.at[0];
    flat.choice.key = floor;
    if (pick_open(l, picker, r, step, &flat, &picked))
        return picked;
    candidates_pop(&r->flat);
    return pick_evaluate(l, picker, flat.task, step);
}

/* One step with other keys: ask again who leans on the changed node, take the least. O(ready
 * tasks). */
static struct pick_candidate pick_from_set(struct list_run *l, const struct picker *picker,
                                           struct candidates *c, uint32_t step, uint32_t changed)
{
    bool all_change = platform_limits_ports(l->p);
    size_t best = 0;
    for (size_t i = 0; i < c->all.n; i++) {
        struct pick_candidate *one = &c->all.at[i];
        if (one->step != step &&
            (all_change || one->choice.slot.node == changed || one->choice.next_node == changed))
            *one = pick_evaluate(l, picker, one->task, step);
        if (pick_precedes(one, &c->all.at[best]))
            best = i;
    }
    struct pick_candidate picked = c->all.at[best];
    c->all.at[best] = c->all.at[c->all.n - 1];
    c->all.n--;
    return picked;
}

/* Steps until all tasks are placed; a task that cannot be placed ends it with its error. */
bool pick_all(struct list_run *l, const struct picker *picker, struct error *err)
{
    struct ready ready;
    struct candidates candidates = {0};
    struct rising rising = {.is_flat = mem_new_zero(bool, l->w->ntasks)};
    bool use_heap = picker->rising && !platform_limits_ports(l->p), good = true;
    uint32_t changed = NONE, left = l->w->ntasks;
    ready_init(&ready, l->w);
    /* who became ready by the last placement is evaluated once */
    for (uint32_t step = 0; good && left; step++, left--) {
        for (size_t i = 0; i < ready.fresh.n; i++) {
            struct pick_candidate fresh = pick_evaluate(l, picker, ready.fresh.at[i], step);
            if (use_heap)
                rising_push(&rising, picker, fresh);
            else
                array_push(&candidates.all, fresh);
        }
        ready.fresh.n = 0;
        struct pick_candidate picked = use_heap
                                           ? pick_rising(l, picker, &rising, step)
                                           : pick_from_set(l, picker, &candidates, step, changed);
        good = list_place(l, picked.task, picked.choice.slot, err);
        changed = picked.choice.slot.node;
        ready_done(&ready, picked.task);
    }
    array_free(&candidates.all);
    array_free(&rising.open.all);
    array_free(&rising.flat.all);
    heap_free(&rising.waiting);
    free(rising.is_flat);
    ready_free(&ready);
    return good;
}
