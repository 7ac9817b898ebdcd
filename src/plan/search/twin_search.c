/* Tabu search over twins; twin_search.h says what, tabu.c explains ways, gaps and what is forbidden.
 *
 * Of a critical chain each step looks at
 *    moves     a twin to another place: its way there, supplied by those that are best for that node
 *    copies    a consumer that waits for data from elsewhere: the way through a new twin of the producer
 *              on its node, in every gap from the consumer back
 *    removals  a twin that stands in the way of the next: the way through its consumers, supplied by others
 * and takes the shortest way. */
#include "plan/search/twin_search.h"
#include "base/rng.h"
#include "plan/search/tabu.h"
#include "plan/search/twin_window.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TWIN_TENURE = 8,           /* steps for which a change is not undone: so many, */
    TWIN_TENURE_MOST = 24,     /* and one more for 64 tasks each, to so many; to twice as many */
    TWIN_CHAIN = 32,           /* of a longer chain so many are drawn, on average */
    TWIN_NODES = 16,           /* of more nodes so many are drawn, beside those of neighbours */
    TWIN_MARKS = 1 << 16,      /* what is forbidden; two that share a mark do no harm */
    TWIN_PATIENCE = 20000,     /* steps without a new best before it goes on from the best, */
    TWIN_PATIENCE_WINDOW = 60, /* and in a window before the next has its turn */
    TWIN_WINDOW = 16,          /* tasks a node in a window */
    TWIN_LOOKS_A_MOVE = 200,   /* gaps that are judged in the time of a move of annealing, */
    TWIN_LOOKS_A_TIME = 6      /* and in that of a twin whose times are computed */
};

/* A window of more than this part of its share is all of it. */
#define TWIN_WINDOW_WHOLE 0.7

enum twin_change { TWIN_MOVE, TWIN_ADD, TWIN_REMOVE };

struct twin_choice {
    enum twin_change change;
    uint32_t twin, node, after, edge; /* TWIN_ADD: the consumer and its edge */
    double way;
    uint32_t ties;
};

struct twin_searcher {
    const struct problem *problem;
    struct twins *w;
    struct rng rng;
    uint64_t step, looks;
    uint64_t *until; /* by mark: the step from which it may be done again */
    ARRAY(uint32_t) chain;
    uint32_t *cursor;        /* by node: the last that starts no later than who is looked at */
    uint32_t *beside, stamp; /* by node: the stamp of who has a neighbour there */
    uint32_t *nodes, nnodes; /* to look at */
    double best;
    struct twin_window *window;
    bool copies; /* may be added */
    struct twin_choice choice;
};

/* What must not be undone: a task's return to a node (by moving or copying), or its leaving. */
static uint64_t *twin_mark(const struct twin_searcher *s, uint32_t task, uint32_t node, bool leave)
{
    return &s->until[(task * 2654435761U + node * 40503U + leave * 97U) % TWIN_MARKS];
}

static void twin_forbid(struct twin_searcher *s, uint32_t task, uint32_t node, bool leave)
{
    uint32_t tenure = TWIN_TENURE + s->problem->n / 64;
    if (tenure > TWIN_TENURE_MOST)
        tenure = TWIN_TENURE_MOST;
    *twin_mark(s, task, node, leave) = s->step + tenure + rng_below(&s->rng, tenure + 1);
}

static bool twin_draw(struct twin_searcher *s, uint32_t *ties)
{
    return rng_below(&s->rng, ++*ties) == 0;
}

/* ---- the critical chain ---- */

/* Who ends when `t` begins, or whose data come then; any of several. A supplier that could be better is
 * exchanged: then the chain is another. */
static uint32_t twin_waited_for(struct twin_searcher *s, uint32_t t, bool *changed)
{
    const struct problem *p = s->problem;
    const struct twin *all = s->w->all.at, *x = &all[t];
    uint32_t found = NONE, ties = 0;
    if (x->start <= 0 || x->era != TWIN_INSIDE)
        return NONE;
    if (x->before != NONE && all[x->before].finish >= x->start && twin_draw(s, &ties))
        found = x->before;
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++) {
        uint32_t q = twins_supplied_by(s->w, t, e);
        if (all[q].finish + (all[q].node == x->node ? 0 : p->pred_comm[e]) < x->start)
            continue;
        double sooner;
        uint32_t other = twins_supplier(s->w, e, x->node, q, x->start, &sooner);
        if (other != q) {
            twins_resupply(s->w, t, e, other);
            *changed = true;
            return NONE;
        }
        if (twin_draw(s, &ties))
            found = q;
    }
    return found;
}

static void twin_find_chain(struct twin_searcher *s)
{
    struct twins *w = s->w;
    for (bool changed = true; changed;) {
        changed = false;
        uint32_t t = w->window->way_end;
        for (uint32_t v = 0; v < s->problem->m; v++)
            s->cursor[v] = twin_window_last(w, v);
        s->chain.n = 0;
        while (t != NONE && s->chain.n < w->all.n && w->all.at[t].era == TWIN_INSIDE) {
            array_push(&s->chain, t);
            t = twin_waited_for(s, t, &changed);
        }
        if (changed)
            twins_settle(w);
    }
}

/* ---- places ---- */

/* Around a twin that is looked at, on one node. */
struct twin_view {
    uint32_t twin, task, node;
    double low, high; /* when its last supplier ends and its first consumer starts */
    double ready, rest, own;
    double latest; /* it must end before; INFINITY: whenever */
};

static void twin_offer(struct twin_searcher *s, const struct twin_choice *offer, bool forbidden)
{
    struct twin_choice *c = &s->choice;
    if (offer->way > c->way || (forbidden && !(offer->way < s->best)))
        return;
    uint32_t ties = offer->way < c->way ? 0 : c->ties;
    bool taken = twin_draw(s, &ties);
    if (taken)
        *c = *offer;
    c->ties = ties;
}

/* When what it needs is on the node. */
static void twin_view_inputs(const struct twin_searcher *s, struct twin_view *v, double before)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    v->low = v->ready = 0;
    for (uint32_t e = p->pred_off[v->task]; e < p->pred_off[v->task + 1]; e++) {
        double arrival;
        uint32_t now = v->twin == NONE ? NONE : twins_supplied_by(w, v->twin, e);
        uint32_t q = twins_supplier(w, e, v->node, now, before, &arrival);
        if (w->all.at[q].finish > v->low)
            v->low = w->all.at[q].finish;
        if (arrival > v->ready)
            v->ready = arrival;
    }
}

/* From its end on the node to the end of all, by its consumers. */
static void twin_view_outputs(const struct twin_searcher *s, struct twin_view *v)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    v->rest = 0;
    v->high = INFINITY;
    for (uint32_t e = p->succ_off[v->task]; e < p->succ_off[v->task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = w->all.at[c].more) {
            const struct twin *x = &w->all.at[c];
            if (w->supply.at[x->supply + w->slot[e]] != v->twin)
                continue;
            double way = problem_time(p, x->task, x->node) + x->rest;
            if (x->node != v->node)
                way += p->succ_comm[e];
            if (way > v->rest)
                v->rest = way;
            if (x->start < v->high && x->era != TWIN_LATER)
                v->high = x->start;
        }
}

/* The neighbours on a node, as if `x` stood on none; x NONE: a new one does not yet. */
static uint32_t twin_before_without(const struct twin *all, uint32_t i, uint32_t x)
{
    uint32_t before = all[i].before;
    return before == x && x != NONE ? all[x].before : before;
}

static uint32_t twin_after_without(const struct twins *w, uint32_t i, uint32_t x, uint32_t node)
{
    uint32_t after = i == NONE ? w->head[node] : w->all.at[i].after;
    return after == x && x != NONE ? w->all.at[x].after : after;
}

/* The gaps of the node between suppliers and consumers, from the last to the first. */
static void twin_look(struct twin_searcher *s, const struct twin_view *v, struct twin_choice offer,
                      bool forbidden)
{
    const struct problem *p = s->problem;
    const struct twin *all = s->w->all.at;
    uint32_t x = v->twin, a = s->cursor[v->node], b;
    s->looks++;
    if (!(v->ready + v->own + v->rest <= s->choice.way))
        return;
    if (a == x && x != NONE)
        a = all[x].before;
    while (a != NONE && all[a].era == TWIN_INSIDE && all[a].start >= v->high)
        a = twin_before_without(all, a, x);
    while ((b = twin_after_without(s->w, a, x, v->node)) != NONE && all[b].era == TWIN_INSIDE &&
           all[b].start < v->high)
        a = b;
    for (;; b = a, a = twin_before_without(all, a, x)) {
        if (b != NONE && all[b].era != TWIN_LATER && !(all[b].finish > v->low))
            return; /* b may come before a supplier */
        double begin = v->ready, end = v->rest;
        if (a != NONE && all[a].finish > begin)
            begin = all[a].finish;
        if (b != NONE) {
            double way = problem_time(p, all[b].task, v->node) + all[b].rest;
            end = way > end ? way : end;
        }
        s->looks++;
        offer.after = a;
        offer.way = begin + v->own + end;
        if (offer.change == TWIN_ADD ? begin + v->own < v->latest
                                     : all[x].node != v->node || all[x].before != a)
            twin_offer(s, &offer, forbidden);
        if (a == NONE || all[a].era != TWIN_INSIDE ||
            v->ready + v->own + problem_time(p, all[a].task, v->node) + all[a].rest > s->choice.way)
            return;
    }
}

static bool twin_has_other(const struct twin_searcher *s, uint32_t task, uint32_t node,
                           uint32_t except)
{
    for (uint32_t c = s->w->first[task]; c != NONE; c = s->w->all.at[c].more)
        if (c != except && s->w->all.at[c].node == node)
            return true;
    return false;
}

/* Chains are looked at from their end: cursors go one way. */
static void twin_advance(struct twin_searcher *s, uint32_t node, double start)
{
    const struct twin *all = s->w->all.at;
    uint32_t *at = &s->cursor[node];
    for (; *at != NONE && all[*at].era == TWIN_INSIDE && all[*at].start > start; s->looks++)
        *at = all[*at].before;
}

/* `far`: what holds on a node where no neighbour is. */
static void twin_look_at_node(struct twin_searcher *s, const struct twin_view *far, uint32_t node)
{
    const struct twin *x = &s->w->all.at[far->twin];
    struct twin_view v = *far;
    twin_advance(s, node, x->start);
    v.node = node;
    v.own = problem_time(s->problem, v.task, node);
    if (s->beside[node] == s->stamp) {
        twin_view_inputs(s, &v, x->start);
        twin_view_outputs(s, &v);
    }
    if (!(v.ready + v.own + v.rest <= s->choice.way) || !(v.own < INFINITY) ||
        twin_has_other(s, v.task, node, v.twin))
        return;
    struct twin_choice offer = {.change = TWIN_MOVE, .twin = v.twin, .node = node};
    twin_look(s, &v, offer, *twin_mark(s, v.task, node, false) > s->step);
}

/* A view from a node that is none, and a stamp for the nodes where it is another. */
static struct twin_view twin_view_far(struct twin_searcher *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    const struct twin *x = &w->all.at[t];
    struct twin_view v = {.twin = t, .task = x->task, .node = NONE};
    twin_view_inputs(s, &v, x->start);
    twin_view_outputs(s, &v);
    s->stamp++;
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++)
        for (uint32_t q = w->first[p->pred[e]]; q != NONE; q = w->all.at[q].more)
            s->beside[w->all.at[q].node] = s->stamp;
    for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = w->all.at[c].more)
            s->beside[w->all.at[c].node] = s->stamp;
    return v;
}

/* A new twin of a producer, for a consumer that waits for its data. */
static void twin_look_at_copies(struct twin_searcher *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    const struct twin *x = &w->all.at[t];
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++) {
        const struct twin *q = &w->all.at[twins_supplied_by(w, t, e)];
        /* what takes no time may start with its consumer: then its own suppliers may, too */
        if (q->node == x->node || q->finish + p->pred_comm[e] < x->start ||
            !(q->start < x->start) || !w->may_copy[q->task] ||
            twin_has_other(s, q->task, x->node, NONE))
            continue;
        struct twin_view v = {.twin = NONE, .task = q->task, .node = x->node};
        v.own = problem_time(p, q->task, x->node);
        if (!(v.own < INFINITY))
            continue;
        twin_advance(s, x->node, x->start);
        twin_view_inputs(s, &v, x->start);
        v.high = v.latest = x->start;
        v.rest = problem_time(p, x->task, x->node) + x->rest;
        struct twin_choice offer = {.change = TWIN_ADD, .twin = t, .node = x->node, .edge = e};
        twin_look(s, &v, offer, *twin_mark(s, q->task, x->node, false) > s->step);
    }
}

/* It goes, and its consumers are supplied by other twins. */
static void twin_look_at_removal(struct twin_searcher *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    const struct twin *x = &w->all.at[t];
    double longest = 0;
    if (w->first[x->task] == t && x->more == NONE)
        return;
    for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
        for (uint32_t c = w->first[p->succ[e]]; c != NONE; c = w->all.at[c].more) {
            const struct twin *y = &w->all.at[c];
            if (w->supply.at[y->supply + w->slot[e]] != t)
                continue;
            if (y->era != TWIN_INSIDE)
                return;
            double soonest = INFINITY;
            for (uint32_t o = w->first[x->task]; o != NONE; o = w->all.at[o].more) {
                const struct twin *z = &w->all.at[o];
                double there = z->finish + (z->node == y->node ? 0 : p->succ_comm[e]);
                if (o != t && z->era != TWIN_LATER && z->start < y->start && there < soonest)
                    soonest = there;
            }
            double way = soonest + problem_time(p, y->task, y->node) + y->rest;
            if (way > longest)
                longest = way;
        }
    s->looks++;
    struct twin_choice offer = {.change = TWIN_REMOVE, .twin = t, .way = longest};
    if (longest < INFINITY)
        twin_offer(s, &offer, *twin_mark(s, x->task, x->node, true) > s->step);
}

static void twin_look_at(struct twin_searcher *s, uint32_t t)
{
    const struct problem *p = s->problem;
    const struct twins *w = s->w;
    const struct twin *x = &w->all.at[t];
    twin_look_at_removal(s, t);
    if (s->copies)
        twin_look_at_copies(s, t);
    struct twin_view v = twin_view_far(s, t);
    for (uint32_t i = 0; i < s->nnodes; i++)
        twin_look_at_node(s, &v, s->nodes[i]);
    if (s->nnodes == p->m)
        return;
    for (uint32_t e = p->pred_off[x->task]; e < p->pred_off[x->task + 1]; e++)
        twin_look_at_node(s, &v, w->all.at[twins_supplied_by(w, t, e)].node);
    for (uint32_t e = p->succ_off[x->task]; e < p->succ_off[x->task + 1]; e++)
        twin_look_at_node(s, &v, w->all.at[w->first[p->succ[e]]].node);
    twin_look_at_node(s, &v, x->node);
}

/* ---- steps ---- */

static void twin_carry_out(struct twin_searcher *s)
{
    struct twins *w = s->w;
    const struct twin_choice *c = &s->choice;
    const struct twin *x = &w->all.at[c->twin];
    uint32_t task = x->task;
    switch (c->change) {
    case TWIN_MOVE:
        twin_forbid(s, task, x->node, false);
        twins_move(w, c->twin, c->node, c->after);
        return;
    case TWIN_ADD:
        twin_forbid(s, s->problem->pred[c->edge], c->node, true);
        twin_forbid(s, s->problem->pred[c->edge], c->node, false);
        twins_add(w, c->twin, c->edge, c->after);
        return;
    case TWIN_REMOVE:
        twin_forbid(s, task, x->node, false);
        twins_remove(w, c->twin);
        return;
    }
}

static bool twin_step(struct twin_searcher *s)
{
    s->step++;
    twin_find_chain(s);
    s->choice = (struct twin_choice){.way = INFINITY};
    for (uint32_t i = 0; i < s->nnodes && s->nnodes < s->problem->m; i++)
        s->nodes[i] = (uint32_t)rng_below(&s->rng, s->problem->m);
    for (size_t i = 0; i < s->chain.n; i++)
        if (s->chain.n <= TWIN_CHAIN || rng_below(&s->rng, s->chain.n) < TWIN_CHAIN)
            twin_look_at(s, s->chain.at[i]);
    s->looks += s->chain.n;
    if (!isfinite(s->choice.way))
        return false;
    twin_carry_out(s);
    twins_settle(s->w);
    return true;
}

static uint64_t twin_moves(const struct twin_searcher *s)
{
    return s->step + (s->looks + TWIN_LOOKS_A_TIME * s->w->timed) / TWIN_LOOKS_A_MOVE;
}

/* What starts in this stretch, until so many steps have not shortened the longest way through it. */
static void twin_search_window(struct twin_searcher *s, double from, double to, uint64_t patience,
                               struct tabu_pace *pace)
{
    struct twins *w = s->w;
    twin_window_open(w, from, to);
    double best = w->makespan;
    bool at_best = true;
    uint64_t last = s->step;
    while (w->window->inside.n && s->step - last < patience && !tabu_is_over(pace, twin_moves(s))) {
        if (at_best)
            twin_window_keep(w);
        at_best = false;
        s->best = best * TABU_TRULY;
        if (!twin_step(s) || !(w->makespan < best))
            continue;
        if (w->makespan < s->best)
            last = s->step;
        best = w->makespan;
        at_best = true;
    }
    if (!at_best)
        twin_window_return(w);
    twin_window_close(w);
}

/* Windows of this length over the share, each half over the one before, from anywhere on and around. */
static void twin_sweep(struct twin_searcher *s, double begin, double end, double length,
                       struct tabu_pace *pace)
{
    double span = end - begin + length / 2, at = span * rng_unit(&s->rng);
    for (double gone = 0; gone < span && !tabu_is_over(pace, twin_moves(s)); gone += length / 2) {
        double from = begin + at - length / 2;
        twin_search_window(s, from, from + length, TWIN_PATIENCE_WINDOW, pace);
        at += length / 2;
        at -= at > span ? span : 0;
    }
}

double twin_window_tasks(const struct problem *p)
{
    return TWIN_WINDOW * (double)p->m;
}

/* Where a sweep has brought nothing windows become longer, up to the whole share. By so much its longest way is
 * shorter in the end. */
static double twin_search_windows(struct twin_searcher *s, const struct twin_share *share,
                                  struct tabu_pace *pace)
{
    struct twins *w = s->w;
    size_t all;
    double first = twin_window_longest(w, &all), longest = first;
    double window = twin_window_tasks(s->problem);
    double begin = fmax(share->from, 0), end = fmin(share->to, share->plan->makespan);
    while (all && !tabu_is_over(pace, twin_moves(s))) {
        if (window > TWIN_WINDOW_WHOLE * (double)all || !(end > begin)) {
            twin_search_window(s, -INFINITY, INFINITY, TWIN_PATIENCE, pace);
            memset(s->until, 0, TWIN_MARKS * sizeof *s->until);
            continue;
        }
        double before = longest;
        twin_sweep(s, begin, end, (end - begin) * window / (double)all, pace);
        longest = twin_window_longest(w, &all);
        if (!(longest < before * TABU_TRULY))
            window *= 2;
    }
    return first - twin_window_longest(w, &all);
}

uint64_t twin_search(struct twin_searcher *s, struct twin_share *share,
                     const struct anneal_limits *limits)
{
    struct twins *w = s->w;
    uint64_t before = twin_moves(s);
    s->copies = share->copies;
    struct anneal_limits own = *limits;
    own.moves += own.moves ? before : 0;
    struct tabu_pace pace = tabu_begin(&own, share->plan->makespan);
    twins_copy(w, share->plan);
    twin_window_share(w, s->window, share->from, share->to);
    share->gained = twin_search_windows(s, share, &pace);
    share->found.n = 0;
    for (uint32_t i = 0; i < w->all.n; i++) {
        const struct twin *x = &w->all.at[i];
        if (x->node != NONE && !x->foreign)
            array_push(&share->found, (struct twin_place){x->start, x->task, x->node});
    }
    return twin_moves(s) - before;
}

struct twin_searcher *twin_searcher_new(const struct problem *p, uint64_t seed, uint64_t stream)
{
    struct twin_searcher *s = mem_new_zero(struct twin_searcher, 1);
    s->problem = p;
    s->w = twins_new(p);
    s->window = twin_window_new(p);
    s->until = mem_new_zero(uint64_t, TWIN_MARKS);
    s->cursor = mem_new(uint32_t, p->m);
    s->beside = mem_new_zero(uint32_t, p->m);
    s->nnodes = p->m <= TWIN_NODES ? p->m : TWIN_NODES;
    s->nodes = mem_new(uint32_t, s->nnodes);
    for (uint32_t i = 0; i < s->nnodes; i++)
        s->nodes[i] = i;
    rng_seed_stream(&s->rng, seed, stream);
    return s;
}

void twin_searcher_free(struct twin_searcher *s)
{
    twins_free(s->w);
    twin_window_free(s->window);
    array_free(&s->chain);
    free(s->until);
    free(s->cursor);
    free(s->beside);
    free(s->nodes);
    free(s);
}
