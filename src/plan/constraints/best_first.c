/* Best-first search, A* and branch and bound over the space of schedules (Ahrens, Shapiro, Tanimoto
 * 1997, section 3.3); search.h has the contract.
 *
 *    p1 = 0       best-first by g: thorough  F = (G + p1 H) / (sum of priorities)
 *    p1 large     nearly depth first: fast     G: preferences, H: share of tasks not scheduled
 *    optimal      by a lower bound of g; a goal ends the search only when no open state is below it
 *
 * States are kept for good (a parent and one task each), at most MOST_STATES, about
 * 1 GB; duplicates are recognised by hash. Stopped early, the most promising open states are
 * completed greedily, so that a schedule comes out. The limits are looked at every 64 states. */
#include "plan/constraints/search.h"
#include "base/clock.h"
#include "base/plural.h"
#include "plan/constraints/open.h"
#include <stdio.h>

/* About 1 GB of states; dives that are tried when the search stops without a goal. */
enum { MOST_STATES = 8000000, DIVES = 64 };

struct best_first {
    struct space *s;
    const struct constraints_limits *limits;
    bool optimal;
    struct open open;
    struct open_seen seen;
    struct search_result r;
    uint32_t goal; /* the best so far; NONE: none */
    double goal_g;
    unsigned urgency;
};

/* What open states are sorted by. */
static double key_of(const struct best_first *b, const struct space_state *state)
{
    return b->optimal ? state->bound : space_f(b->s, state);
}

static void best_first_enter(struct best_first *b, uint32_t state)
{
    const struct space_state *x = &b->s->states.at[state];
    open_push(&b->open, (struct open_item){key_of(b, x), x->slot.finish, x->depth, state});
}

/* The user presses +: more weight on finishing, twice as much each time. */
static void raise_priority(struct best_first *b)
{
    const struct plan_request *request = b->s->request;
    unsigned asked = request->urgency ? request->urgency(request->urgency_context) : 0;
    if (asked == b->urgency)
        return;
    for (; b->urgency < asked; b->urgency++)
        b->s->p1 = b->s->p1 > 0 ? 2 * b->s->p1 : b->s->weights > 0 ? b->s->weights : 1;
    b->optimal = false; /* who is in a hurry wants a goal, not a proof */
    for (size_t i = 0; i < b->open.items.n; i++)
        b->open.items.at[i].key = key_of(b, &b->s->states.at[b->open.items.at[i].state]);
    open_rebuild(&b->open);
}

/* Limits, memory, the clock, the user, a constraint that SQLite gave up on. */
static bool must_stop(struct best_first *b)
{
    if (b->limits->states && b->r.states >= b->limits->states)
        return true;
    if (query_failed(b->s->query, NULL))
        return true;
    if (b->s->states.n >= MOST_STATES)
        return true;
    if (b->r.expanded % 64)
        return false;
    raise_priority(b);
    char what[96];
    snprintf(what, sizeof what, "searching: %llu states, %u of %u task%s",
             (unsigned long long)b->r.states, b->s->relations->depth, b->s->w->ntasks,
             plural(b->s->w->ntasks));
    if (b->r.expanded % 1024 == 0 && !progress_report(b->s->request->progress, -1, what))
        return true;
    return clock_seconds() >= b->limits->deadline;
}

/* Keep a successor of `parent` unless it is known or hopeless. */
static void keep_successor(struct best_first *b, uint32_t parent, const struct space_state *child)
{
    struct space *s = b->s;
    uint32_t depth = s->states.at[parent].depth + 1;
    if (b->goal != NONE && b->optimal && child->bound >= b->goal_g * (1 - 1e-12))
        return;
    if (!seen_add(&b->seen, child->hash)) {
        b->r.duplicates++;
        return;
    }
    b->r.states++;
    array_push(&s->states, *child);
    uint32_t id = (uint32_t)s->states.n - 1;
    s->states.at[id].parent = parent;
    s->states.at[id].depth = depth;
    if (b->optimal && depth == s->w->ntasks) {
        if (b->goal == NONE || child->g < b->goal_g) {
            b->goal = id;
            b->goal_g = child->g;
        }
        return;
    }
    best_first_enter(b, id);
}

/* Lay the state out, make all successors. Those of an evaluation that was stopped are nothing: what
 * is unknown there forbids nothing. */
static void best_first_expand(struct best_first *b, uint32_t state)
{
    space_go(b->s, state);
    space_expand(b->s, 0, false);
    b->r.expanded++;
    if (query_failed(b->s->query, NULL))
        return;
    for (size_t i = 0; i < b->s->children.n; i++)
        keep_successor(b, state, &b->s->children.at[i]);
}

/* From a state straight down to a goal: the best successor each time. NONE: a dead end. */
static uint32_t best_first_dive(struct best_first *b, uint32_t state)
{
    struct space *s = b->s;
    while (s->states.at[state].depth < s->w->ntasks) {
        space_go(s, state);
        space_expand(s, 0, false);
        b->r.expanded++;
        if (!s->children.n || query_failed(s->query, NULL))
            return NONE;
        size_t best = 0;
        for (size_t i = 1; i < s->children.n; i++) {
            const struct space_state *x = &s->children.at[i], *y = &s->children.at[best];
            if (x->g < y->g || (x->g == y->g && x->slot.finish < y->slot.finish))
                best = i;
        }
        struct space_state child = s->children.at[best];
        child.parent = state;
        child.depth = s->states.at[state].depth + 1;
        array_push(&s->states, child);
        b->r.states++;
        state = (uint32_t)s->states.n - 1;
    }
    return state;
}

static void take_goal(struct best_first *b, uint32_t goal)
{
    if (goal == NONE || (b->goal != NONE && b->s->states.at[goal].g >= b->goal_g))
        return;
    b->goal = goal;
    b->goal_g = b->s->states.at[goal].g;
}

/* Stopped without a goal: complete the most promising states, the deepest first where p1 says so.
 */
static void complete_some(struct best_first *b)
{
    for (int i = 0; i < DIVES && b->goal == NONE && b->open.items.n; i++)
        take_goal(b, best_first_dive(b, open_pop(&b->open).state));
}

/* Until a goal is taken from the open states, they run out, or the limits stop it. */
static void best_first_search(struct best_first *b)
{
    struct space *s = b->s;
    if (b->optimal)
        take_goal(b, best_first_dive(b, 0)); /* something to beat */
    best_first_enter(b, 0);
    while (b->open.items.n) {
        if (must_stop(b)) {
            b->r.stopped = true;
            break;
        }
        struct open_item best = open_pop(&b->open);
        if (b->optimal && b->goal != NONE && best.key >= b->goal_g * (1 - 1e-12)) {
            b->open.items.n = 0;
            break;
        }
        if (s->states.at[best.state].depth == s->w->ntasks) {
            take_goal(b, best.state);
            break;
        }
        best_first_expand(b, best.state);
    }
    b->r.complete = !b->r.stopped && (b->optimal || b->goal == NONE);
    if (b->r.stopped && b->open.items.n)
        b->r.bound = b->optimal ? b->open.items.at[0].key : 0;
    if (b->r.stopped && b->goal == NONE)
        complete_some(b);
}

struct search_result search_best_first(struct space *s, const struct constraints_limits *limits,
                                       bool optimal)
{
    struct best_first b = {.s = s, .limits = limits, .optimal = optimal, .goal = NONE};
    best_first_search(&b);
    b.r.found = b.goal != NONE;
    if (b.r.found) {
        space_go(s, b.goal);
        b.r.g = b.goal_g;
        if (b.r.complete)
            b.r.bound = b.goal_g;
    }
    array_free(&b.open.items);
    seen_free(&b.seen);
    return b.r;
}
