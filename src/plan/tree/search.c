/* Simulated annealing over cuts and mapping together; search.h has the contract.
 *
 * Every state is valid. A move is made on the partition, the makespan read off, and taken back
 * unless it is accepted; only then is memory looked at, and only of pieces that grew or changed
 * their processor. Moves start at the critical path: nothing else shortens the makespan.
 *
 * A move is a few steps (cut, merge, swap), logged and undone in reverse. The limit is drawn before
 * the move is judged (Metropolis' rule turned around), so that most moves end with one comparison.
 */
#include "plan/tree/search.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/rng.h"
#include "plan/tree/auction.h"
#include "plan/tree/swap.h"
#include <math.h>

/* Measured on the published trees: 0 and 0.3 are both worse. */
static const double SIDE_WEIGHT = 0.1;

enum {
    MOST_LEVELS = 16,
    LEVEL_STEP = 3,
    MOST_TOUCHED = 8,
    SIZE_A_MOVE = 16,
    MOVES_A_LOOK = 64,
    PIECES_A_MOVE = 128,
    POLISH = 320
};
/* An overhaul so much longer than what it must beat is not polished. */
static const double POLISH_WORTH = 1.1;

struct cut_levels {
    uint32_t count;
    uint32_t size[MOST_LEVELS];
    uint32_t *task[MOST_LEVELS]; /* in preorder */
};

struct cut_levels *cut_levels_new(const struct tree_setting *s)
{
    struct cut_levels *levels = mem_new_zero(struct cut_levels, 1);
    uint32_t n = s->t->n, *preorder = mem_new(uint32_t, n);
    for (uint32_t x = 0; x < n; x++)
        preorder[s->enter[x]] = x;
    double least = s->work[0] / 4;
    while (levels->count < MOST_LEVELS) {
        bool last = levels->count == MOST_LEVELS - 1;
        uint32_t kept = 0, *task = mem_new(uint32_t, n);
        for (uint32_t k = 0; k < n; k++)
            if (last || s->work[preorder[k]] >= least)
                task[kept++] = preorder[k];
        levels->task[levels->count] = mem_resize(task, kept ? kept : 1);
        levels->size[levels->count++] = kept;
        if (kept == n)
            break;
        least /= LEVEL_STEP;
    }
    free(preorder);
    return levels;
}

void cut_levels_free(struct cut_levels *levels)
{
    if (!levels)
        return;
    for (uint32_t k = 0; k < levels->count; k++)
        free(levels->task[k]);
    free(levels);
}

/* ---- one move and its undoing ---- */

enum step_kind { STEP_CUT, STEP_MERGE, STEP_SWAP };

struct step {
    enum step_kind kind;
    uint32_t a,
        b; /* cut: new piece and the one it came from; merge: former parent; swap: processors */
    uint32_t root, proc; /* merge: what was */
};

/* What was known of a piece's memory before the move. */
struct touched {
    uint32_t piece;
    double memory, most;
};

struct tree_search {
    const struct tree_setting *s;
    const struct cut_levels *levels;
    struct partition *p;
    struct rng rng;
    struct step step[8];
    uint32_t nsteps;
    struct touched touched[MOST_TOUCHED];
    uint32_t ntouched;
    uint32_t *critical, ncritical;
    uint32_t *order;
    double *start;
    struct auction *auction;
    struct snapshot current; /* what an overhaul changes, and what comes back when it fails */
};

/* Note what is known of a piece's memory, once a move, for taking back. */
static void touch_piece(struct tree_search *s, uint32_t piece)
{
    for (uint32_t k = 0; k < s->ntouched; k++)
        if (s->touched[k].piece == piece)
            return;
    s->touched[s->ntouched++] =
        (struct touched){piece, s->p->at[piece].memory, s->p->at[piece].most};
}

static void do_merge(struct tree_search *s, uint32_t i)
{
    struct tree_piece piece = s->p->at[i];
    touch_piece(s, piece.parent);
    touch_piece(s, i);
    s->step[s->nsteps++] = (struct step){STEP_MERGE, piece.parent, 0, piece.root, piece.proc};
    partition_merge(s->p, i);
}

static uint32_t do_cut(struct tree_search *s, uint32_t from, uint32_t x, uint32_t proc)
{
    touch_piece(s, from);
    uint32_t k = partition_cut(s->p, from, x);
    partition_map(s->p, k, proc);
    /* A slot may come back within the move; what it held before is remembered already. */
    touch_piece(s, k);
    s->step[s->nsteps++] = (struct step){.kind = STEP_CUT, .a = k, .b = from};
    return k;
}

static void do_swap(struct tree_search *s, uint32_t a, uint32_t b)
{
    if (s->p->holder[a] != NONE)
        touch_piece(s, s->p->holder[a]);
    if (s->p->holder[b] != NONE)
        touch_piece(s, s->p->holder[b]);
    s->step[s->nsteps++] = (struct step){.kind = STEP_SWAP, .a = a, .b = b};
    partition_swap(s->p, a, b);
}

/* Slots are reused last in, first out, so the pieces get their old slots back. */
static void take_back_move(struct tree_search *s)
{
    struct partition *p = s->p;
    partition_defer(p);
    while (s->nsteps) {
        struct step step = s->step[--s->nsteps];
        if (step.kind == STEP_CUT) {
            partition_merge(p, step.a);
        } else if (step.kind == STEP_MERGE) {
            uint32_t k = partition_cut(p, step.a, step.root);
            partition_map(p, k, step.proc);
        } else {
            partition_swap(p, step.a, step.b);
        }
    }
    partition_settle(p);
    for (uint32_t k = 0; k < s->ntouched; k++) {
        struct tree_piece *piece = &p->at[s->touched[k].piece];
        if (piece->root != NONE) {
            piece->memory = s->touched[k].memory;
            piece->most = s->touched[k].most;
        }
    }
}

/* Do all pieces that the move touched fit where they are? */
static bool touched_fit(struct tree_search *s)
{
    struct partition *p = s->p;
    for (uint32_t k = 0; k < s->ntouched; k++) {
        const struct tree_piece *piece = &p->at[s->touched[k].piece];
        if (piece->root != NONE &&
            !partition_fits(p, s->touched[k].piece, s->s->memory[piece->proc]))
            return false;
    }
    return true;
}

/* ---- proposals ---- */

static uint32_t search_below(struct tree_search *s, uint32_t bound)
{
    return (uint32_t)rng_below(&s->rng, bound);
}

/* Slots are nearly all live, so a few draws suffice. */
static uint32_t random_piece(struct tree_search *s)
{
    uint32_t i;
    do
        i = search_below(s, s->p->slots);
    while (s->p->at[i].root == NONE);
    return i;
}

/* The first task of the level whose preorder number is at least `place`. */
static uint32_t first_from(const struct tree_search *s, uint32_t level, uint32_t place)
{
    const uint32_t *task = s->levels->task[level];
    uint32_t low = 0, high = s->levels->size[level];
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (s->s->enter[task[middle]] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A task inside piece i, not its root: any weight alike likely. NONE: none was met. */
static uint32_t random_task(struct tree_search *s, uint32_t i)
{
    const struct partition *p = s->p;
    uint32_t root = p->at[i].root;
    for (int tries = 0; tries < 4; tries++) {
        uint32_t level = search_below(s, s->levels->count);
        uint32_t from = first_from(s, level, s->s->enter[root] + 1);
        uint32_t to = first_from(s, level, s->s->leave[root]);
        if (from >= to)
            continue;
        uint32_t x = s->levels->task[level][from + search_below(s, to - from)];
        bool inside = true;
        for (uint32_t c = p->at[i].first; c != NONE && inside; c = p->at[c].next)
            inside = !setting_inside(s->s, x, p->at[c].root);
        if (inside)
            return x;
    }
    return NONE;
}

static uint32_t random_idle(struct tree_search *s)
{
    uint32_t skip = search_below(s, s->p->idle), q = 0;
    for (;; q++)
        if (s->p->holder[q] == NONE && skip-- == 0)
            return q;
}

/* Cut a new piece off i, on an idle processor or on one that another piece gives up by joining its
 * parent. */
static bool propose_cut(struct tree_search *s, uint32_t i)
{
    struct partition *p = s->p;
    uint32_t x = random_task(s, i), proc;
    if (x == NONE)
        return false;
    if (p->idle && (p->live < 3 || search_below(s, 4))) {
        proc = random_idle(s);
    } else {
        uint32_t victim = random_piece(s);
        if (victim == 0 || victim == i)
            return false;
        proc = p->at[victim].proc;
        do_merge(s, victim);
    }
    do_cut(s, i, x, proc);
    if (search_below(s, 3) == 0)
        do_swap(s, p->at[i].proc, proc);
    return true;
}

/* Move the root of piece i a few tasks towards the tree's root or away from it. */
static bool propose_shift(struct tree_search *s, uint32_t i)
{
    struct partition *p = s->p;
    const struct tree *t = s->s->t;
    if (i == 0)
        return false;
    uint32_t x = p->at[i].root, parent = p->at[i].parent, proc = p->at[i].proc;
    /* mostly a few tasks, now and then up to 64 */
    uint32_t steps = 1;
    while (steps < 64 && search_below(s, 3))
        steps *= 2;
    steps = 1 + search_below(s, steps);
    /* up: part of the parent joins the piece */
    if (search_below(s, 2)) {
        for (; steps && !p->cut[t->parent[x]]; steps--)
            x = t->parent[x];
    } else {
        for (; steps; steps--) {
            uint32_t from = t->child_off[x], children = t->child_off[x + 1] - from, next = NONE;
            if (children && search_below(s, 4) == 0) {
                next = from + search_below(s, children);
            } else {
                for (uint32_t c = from; c < from + children; c++)
                    if (next == NONE || s->s->work[c] > s->s->work[next])
                        next = c;
            }
            if (next == NONE || p->cut[next])
                break;
            x = next;
        }
    }
    if (x == p->at[i].root)
        return false;
    do_merge(s, i);
    do_cut(s, parent, x, proc);
    return true;
}

/* Exchange the processors of i and of anybody, or move i to an idle one. */
static bool propose_swap(struct tree_search *s, uint32_t i)
{
    uint32_t a = s->p->at[i].proc, b = search_below(s, s->s->nprocs);
    if (a == b || !swap_fits(s->p, a, b))
        return false;
    do_swap(s, a, b);
    return true;
}

/* Put i into its parent, on either's processor. */
static bool propose_merge(struct tree_search *s, uint32_t i)
{
    struct partition *p = s->p;
    if (i == 0)
        return false;
    uint32_t proc = p->at[i].proc, parent = p->at[i].parent;
    do_merge(s, i);
    if (search_below(s, 2))
        do_swap(s, p->at[parent].proc, proc);
    return true;
}

/* Seven times out of eight on the critical path. The shares decide quality only.
 */
static bool draw_move(struct tree_search *s)
{
    struct partition *p = s->p;
    s->nsteps = s->ntouched = 0;
    uint32_t i = search_below(s, 8) ? s->critical[search_below(s, s->ncritical)] : random_piece(s);
    switch (search_below(s, 8)) {
    case 0:
    case 1:
    case 2:
        return propose_cut(s, i);
    case 3:
    case 4:
        return propose_shift(s, i);
    case 5:
        /* a child of the piece on the path takes more from it */
        for (uint32_t skip = search_below(s, 8), c = p->at[i].first; c != NONE; c = p->at[c].next)
            if (skip-- == 0 || p->at[c].next == NONE)
                return propose_shift(s, c);
        return false;
    case 6:
        return propose_swap(s, i);
    default:
        return search_below(s, 4) ? propose_swap(s, i) : propose_merge(s, i);
    }
}

static bool propose_move(struct tree_search *s)
{
    partition_defer(s->p);
    bool made = draw_move(s);
    partition_settle(s->p);
    return made;
}

/* What the search makes small: the makespan, and beside it how long the other paths are - the
 * fourth power, so that nearly critical ones count. Without it the paths off the critical one would
 * drift until they are critical too. */
static double mapping_energy(struct tree_search *s, double makespan)
{
    const struct partition *p = s->p;
    double sum = 0, scale = 1 / makespan;
    if (!isfinite(makespan)) /* nodes that cannot talk */
        return makespan;
    partition_order(p, s->order);
    partition_starts(p, s->order, s->start);
    for (uint32_t k = 0; k < p->live; k++) {
        uint32_t i = s->order[k];
        double share = (s->start[i] + p->at[i].length) * scale;
        share *= share;
        sum += share * share;
    }
    return makespan * (1 + SIDE_WEIGHT * sum / p->s->nprocs);
}

/* Is the move good enough, and does everything it touched fit? Cheap questions first. */
static bool accept_move(struct tree_search *s, double limit, double *now)
{
    double makespan = partition_makespan(s->p);
    if (!(makespan <= limit))
        return false;
    double then = mapping_energy(s, makespan);
    if (!(then <= limit) || !touched_fit(s))
        return false;
    *now = then;
    return true;
}

/* ---- overhauls: several pieces at once ---- */

/* A piece whose joining its parent would lengthen paths least, of a few drawn; NONE: none was met. */
static uint32_t draw_victim(struct tree_search *s, uint32_t keep)
{
    const struct partition *p = s->p;
    double makespan = partition_makespan(p), least = INFINITY;
    uint32_t victim = NONE;
    for (int tries = 0; tries < 4; tries++) {
        uint32_t i = random_piece(s), parent = p->at[i].parent;
        if (i == 0 || i == keep || parent == keep)
            continue;
        double slack = makespan - s->start[parent] - p->at[parent].length;
        double harm = p->at[i].work / p->speed[p->at[parent].proc] - slack;
        if (harm < least) {
            least = harm;
            victim = i;
        }
    }
    return victim;
}

/* Take pieces away: some below i, and some elsewhere that give up their processors. False: a piece
 * that took one in does not fit any more. */
static bool ruin_pieces(struct tree_search *s, uint32_t i)
{
    struct partition *p = s->p;
    uint32_t mode = search_below(s, 4), victims = search_below(s, 4);
    if (mode == 1) {
        for (uint32_t c = p->at[i].first, next; c != NONE; c = next) {
            next = p->at[c].next;
            if (search_below(s, 2))
                partition_merge(p, c);
        }
    } else if (mode) {
        while (p->at[i].first != NONE)
            partition_merge(p, p->at[i].first);
    }
    partition_order(p, s->order);
    partition_starts(p, s->order, s->start);
    while (victims-- && p->live > 2) {
        uint32_t victim = draw_victim(s, i), parent;
        if (victim == NONE)
            continue;
        parent = p->at[victim].parent;
        partition_merge(p, victim);
        if (!partition_fits(p, parent, s->s->memory[p->at[parent].proc]))
            return false;
    }
    return true;
}

/* Cut piece i anew with what is idle, on its own processor or another; what follows it should take
 * about `seconds`. */
static bool recut_piece(struct tree_search *s, uint32_t i, double seconds, uint64_t *cost)
{
    static const double reserves[] = {0, 0.05, 0.1, 0.2};
    struct partition *p = s->p;
    struct auction_terms terms = {.top = p->at[i].proc,
                                  .seconds = seconds * (0.85 + 0.25 * rng_unit(&s->rng)),
                                  .reserve = reserves[search_below(s, 4)],
                                  .limit = p->at[i].length * (1 - 1e-9),
                                  .rounds = 8,
                                  .rng = &s->rng};
    if (p->idle && search_below(s, 2))
        terms.top = random_idle(s);
    if (s->s->memory[terms.top] < s->s->need[p->at[i].root])
        terms.top = p->at[i].proc;
    return auction_piece(s->auction, p, i, &terms, cost);
}

/* A neighbour far away: pieces taken away, and the critical path cut anew until nothing helps.
 * False: it is not valid. */
static bool overhaul(struct tree_search *s, uint64_t *cost)
{
    struct partition *p = s->p;
    uint32_t i = s->critical[search_below(s, s->ncritical)];
    if (search_below(s, 8) == 0)
        i = random_piece(s);
    double seconds = p->at[i].below > 0 ? p->at[i].below : 0.6 * p->at[i].length;
    if (!ruin_pieces(s, i))
        return false;
    recut_piece(s, i, seconds, cost);
    for (uint32_t tries = 0; tries < 4 && p->idle; tries++) {
        s->ncritical = partition_critical(p, s->critical);
        uint32_t k = s->ncritical - 1 - (tries & 1 ? search_below(s, s->ncritical) : 0);
        const struct tree_piece *piece = &p->at[s->critical[k]];
        recut_piece(s, s->critical[k], piece->below > 0 ? piece->below : 0.6 * piece->length, cost);
    }
    for (uint32_t k = 0; k < p->slots; k++)
        if (p->at[k].root != NONE && !partition_fits(p, k, s->s->memory[p->at[k].proc]))
            return false;
    s->ncritical = partition_critical(p, s->critical);
    return true;
}

/* ---- searching ---- */

/* So many moves at this heat. */
static void anneal_moves(struct tree_search *s, uint32_t count, double heat, double *now,
                         struct snapshot *best)
{
    struct partition *p = s->p;
    for (uint32_t k = 0; k < count; k++) {
        if (propose_move(s) && accept_move(s, *now - heat * log(1 - rng_unit(&s->rng)), now)) {
            s->ncritical = partition_critical(p, s->critical);
            if (partition_makespan(p) < best->makespan)
                snapshot_store(best, p);
        } else {
            take_back_move(s);
        }
    }
}

static void load_mapping(struct tree_search *s, const struct snapshot *from)
{
    struct partition *p = s->p;
    snapshot_load(p, from);
    for (uint32_t i = 0; i < p->slots; i++) /* it fits: no need to compute how well */
        p->at[i].most = fmin(p->at[i].most, s->s->memory[p->at[i].proc]);
    s->ncritical = partition_critical(p, s->critical);
}

/* An overhaul, polished; kept if it is good enough, else taken back. */
static void overhaul_step(struct tree_search *s, double heat, double *now, struct snapshot *best,
                          uint64_t *cost)
{
    struct partition *p = s->p;
    double before = *now, limit = before - heat * log(1 - rng_unit(&s->rng));
    bool valid = overhaul(s, cost);
    if (valid) {
        *now = mapping_energy(s, partition_makespan(p));
        if (partition_makespan(p) < best->makespan)
            snapshot_store(best, p);
        for (uint32_t k = 0; k < POLISH && *now < limit * POLISH_WORTH; k += MOVES_A_LOOK) {
            anneal_moves(s, MOVES_A_LOOK, heat / 10, now, best);
            *cost += MOVES_A_LOOK * (1 + p->live / PIECES_A_MOVE);
        }
    }
    if (valid && *now <= limit) {
        snapshot_store(&s->current, p);
        return;
    }
    load_mapping(s, &s->current);
    *now = before;
}

uint64_t tree_search(const struct tree_setting *setting, const struct cut_levels *levels,
                     struct snapshot *best, uint64_t seed, uint64_t stream,
                     const struct tree_search_limits *limits)
{
    struct tree_search s = {.s = setting, .levels = levels};
    s.p = partition_new(setting, false);
    s.auction = limits->overhauls ? auction_new(setting) : NULL;
    s.critical = mem_new(uint32_t, setting->nprocs + 1);
    s.order = mem_new(uint32_t, setting->nprocs + 1);
    s.start = mem_new(double, setting->nprocs + 1);
    rng_seed_stream(&s.rng, seed, stream);
    load_mapping(&s, best);
    snapshot_store(&s.current, s.p);
    struct partition *p = s.p;
    double begun = clock_seconds(), share = 0, told = 0,
           now = mapping_energy(&s, partition_makespan(p));
    uint64_t cost = 0, moves = 0, effort = p->effort;
    bool wanted = true;
    while (share < 1 && wanted && best->makespan > limits->target) {
        /* from `heat` down to a hundredth of it */
        double heat = limits->heat * best->makespan * pow(0.01, share);
        if (limits->overhauls) {
            overhaul_step(&s, heat, &now, best, &moves);
        } else {
            moves += MOVES_A_LOOK * (1 + p->live / PIECES_A_MOVE);
            anneal_moves(&s, MOVES_A_LOOK, heat, &now, best);
        }
        cost = moves + (p->effort - effort) / SIZE_A_MOVE;
        share = limits->moves ? (double)cost / (double)limits->moves
                              : (clock_seconds() - begun) / (limits->deadline - begun);
        if (limits->progress && share - told >= 0.02) {
            told = share;
            wanted = progress_report(
                limits->progress, limits->progress_from + fmin(share, 1) * limits->progress_share,
                "searching");
        }
    }
    free(s.critical);
    free(s.order);
    free(s.start);
    snapshot_free(&s.current);
    auction_free(s.auction);
    partition_free(p);
    return cost;
}
