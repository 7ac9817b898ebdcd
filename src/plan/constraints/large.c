/* Large workflows: one construction that never remembers a state it leaves, then a local search
 * that moves single tasks. Constraints that are not incremental are asked of the few most promising
 * successors only, and not at all while they would use up the time. */
#include "plan/constraints/search.h"
#include "base/clock.h"
#include "base/rng.h"
#include <stdio.h>

enum {
    CANDIDATES = 4, /* ready tasks looked at, longest path first */
    ASKED = 4,      /* successors that slow constraints are asked about */
    RESTARTS = 6,   /* after a dead end */
};

/* One run. slow_seconds is what constraints that are not incremental have cost so far: a third of
 * the time may go into them while constructing, half in all. */
struct large {
    struct space *s;
    const struct constraints_limits *limits;
    struct search_result r;
    struct rng rng;
    bool slow; /* some constraint is not incremental */
    double slow_seconds;
    bool late;              /* past the deadline: only the next task is looked at */
    uint32_t *order, *node; /* the best schedule so far */
    double g;               /* its complete_worth() */
};

static bool time_is_up(const struct large *l)
{
    return clock_seconds() >= l->limits->deadline;
}

/* Smaller F, then the earlier end. */
static bool better_state(const struct space *s, const struct space_state *a,
                         const struct space_state *b)
{
    double x = space_f(s, a), y = space_f(s, b);
    return x != y ? x < y : a->slot.finish < b->slot.finish;
}

/* The best child into *out, which is taken from the list; false: none is left. With `shake`, one in
 * eight times the best is passed over. */
static bool take_best(struct large *l, bool shake, struct space_state *out)
{
    struct space *s = l->s;
    if (!s->children.n)
        return false;
    size_t best = 0;
    for (size_t i = 1; i < s->children.n; i++)
        if (better_state(s, &s->children.at[i], &s->children.at[best]))
            best = i;
    if (shake && s->children.n > 1 && rng_below(&l->rng, 8) == 0)
        best = (size_t)rng_below(&l->rng, s->children.n);
    *out = s->children.at[best];
    s->children.at[best] = s->children.at[--s->children.n];
    return true;
}

/* Among the best few, the one that the slow constraints like most; false: all are refused. */
static bool take_asked(struct large *l, bool shake, struct space_state *out)
{
    struct space *s = l->s;
    struct space_state candidate;
    bool found = false;
    double begun = clock_seconds();
    bool goal = s->relations->depth + 1 == s->w->ntasks;
    for (int asked = 0; (asked < ASKED || !found) && take_best(l, shake, &candidate); asked++) {
        query_push(s->query, candidate.task, candidate.slot.node, candidate.slot.start,
                   candidate.slot.finish);
        bool fine = space_allows(s, false, goal);
        candidate.g = fine ? space_g(s, false) : 0;
        query_pop(s->query);
        if (fine && (!found || better_state(s, &candidate, out))) {
            *out = candidate;
            found = true;
        }
    }
    l->slow_seconds += clock_seconds() - begun;
    return found;
}

/* From the empty schedule to a goal; false: a dead end, or the user stops. */
static bool large_construct(struct large *l, bool shake)
{
    struct space *s = l->s;
    uint32_t n = s->w->ntasks;
    space_reset(s);
    while (s->relations->depth < n) {
        bool late = s->relations->depth % 64 == 0 ? time_is_up(l) : l->late;
        bool ask = l->slow && !late && l->slow_seconds < l->limits->seconds / 3;
        l->late = late;
        struct space_state child;
        bool found = false;
        for (uint32_t most = late ? 1 : CANDIDATES; !found; most = 0) {
            space_expand(s, most, true);
            l->r.states += s->children.n;
            l->r.expanded++;
            found = ask ? take_asked(l, shake, &child) : take_best(l, shake, &child);
            if (!most)
                break;
        }
        if (!found || query_failed(s->query, NULL))
            return false;
        space_push(s, child.task, child.slot);
        if (s->relations->depth % 256 == 0 &&
            !progress_report(s->request->progress, (double)s->relations->depth / n,
                             "constructing a schedule"))
            return false;
    }
    return space_allows(s, false, true) && !query_failed(s->query, NULL);
}

/* The schedule laid out becomes the best. */
static void large_remember(struct large *l)
{
    const struct relations *r = l->s->relations;
    for (uint32_t i = 0; i < r->depth; i++) {
        l->order[i] = r->stack[i];
        l->node[r->stack[i]] = r->proc[r->stack[i]];
    }
}

/* Lay out the remembered schedule with `task` on `node` instead. False: cannot be done. */
static bool large_replay(struct large *l, uint32_t task, uint32_t node)
{
    struct space *s = l->s;
    space_reset(s);
    for (uint32_t i = 0; i < s->w->ntasks; i++) {
        uint32_t t = l->order[i];
        struct schedule_slot slot = space_slot(s, t, t == task ? node : l->node[t]);
        if (!(slot.finish < INFINITY))
            return false;
        space_push(s, t, slot);
    }
    return true;
}

/* g of the schedule laid out, but for preferences that look at the order of scheduling: those say
 * how to construct (the newest task should start early) and of a complete schedule nothing. */
static double complete_worth(struct space *s)
{
    double g = 0;
    for (size_t i = 0; i < s->preferences.n; i++) {
        const struct constraint_info *info = &s->info[s->preferences.at[i]];
        if (!info->sees_order)
            g += info->priority * query_scaled(s->query, s->preferences.at[i]);
    }
    return g;
}

/* Who presses + wants an answer, not a better one. */
static bool is_hurried(const struct large *l)
{
    const struct plan_request *r = l->s->request;
    return r->urgency && r->urgency(r->urgency_context) > 0;
}

/* Move one task at a time to another node, and stay where that is better. */
static void large_improve(struct large *l)
{
    struct space *s = l->s;
    uint32_t n = s->w->ntasks;
    /* a replay is linear in the tasks: about a million placements in all */
    uint64_t moves = 1000000 / n < 10 ? 10 : 1000000 / n;
    bool dirty = false;
    for (uint64_t i = 0; i < moves && l->g > 0; i++) {
        if (time_is_up(l) || is_hurried(l) || query_failed(s->query, NULL) ||
            (l->slow && l->slow_seconds > l->limits->seconds / 2) ||
            !progress_report(s->request->progress, (double)i / (double)moves, "improving")) {
            l->r.stopped = true;
            break;
        }
        uint32_t task = (uint32_t)rng_below(&l->rng, n);
        uint32_t node = (uint32_t)rng_below(&l->rng, s->p->nnodes);
        if (node == l->node[task] || !space_may(s, task, node) ||
            !(costs_time(s->costs, task, node) < INFINITY))
            continue;
        dirty = true;
        l->r.moves++;
        if (!large_replay(l, task, node))
            continue;
        double begun = clock_seconds();
        if (space_allows(s, false, true)) {
            double g = complete_worth(s);
            if (g < l->g && !query_failed(s->query, NULL)) {
                l->g = g;
                large_remember(l);
            }
        }
        if (l->slow)
            l->slow_seconds += clock_seconds() - begun;
    }
    if (dirty)
        large_replay(l, NONE, 0);
}

/* Construct, with up to RESTARTS shaken constructions after dead ends, then improve. */
struct search_result search_large(struct space *s, const struct constraints_limits *limits)
{
    struct large l = {.s = s, .limits = limits};
    l.order = mem_new(uint32_t, s->w->ntasks);
    l.node = mem_new(uint32_t, s->w->ntasks);
    rng_seed(&l.rng, s->request->seed);
    for (size_t i = 0; i < query_size(s->query); i++)
        l.slow |= !s->info[i].incremental;
    for (int i = 0; i < RESTARTS && !l.r.found && (!i || !time_is_up(&l)); i++)
        l.r.found = large_construct(&l, i > 0);
    if (l.r.found) {
        l.g = complete_worth(s);
        large_remember(&l);
        large_improve(&l);
        l.r.g = space_g(s, false);
    }
    free(l.order);
    free(l.node);
    return l.r;
}
