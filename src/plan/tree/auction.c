/* Subtrees to run side by side, by prices of processors.
 *
 *            root            Work of the top costs what it is: it runs before everything else.
 *           /  |  \          A subtree that a processor of kind k ends in time, its file sent first,
 *          o   A   o         may be cut off for the price of k. So for every task
 *         /|\      |\
 *        B C .     D E           cheapest[x] = least of   price of a kind that ends x in time
 *                                                         work of x + cheapest of its children
 *
 * which one pass from the leaves up finds exactly. Kinds that more subtrees want than there are
 * processors become dearer, the others cheaper, and the next round begins: where work and speeds
 * match exactly, prices find that, and greedy cutting does not.
 *
 * Each round ends with a mapping: the heaviest subtree wanted to the fastest processor that holds
 * it, what is left over joins the top. The shortest is carried out. */
#include "plan/tree/auction.h"
#include "base/clock.h"
#include "base/mem.h"
#include <stdlib.h>

enum {
    AUCTION_ROUNDS = 24,
    AUCTION_FEW_ROUNDS = 10,
    MOST_LOTS = 3000,

    DEADLINES = 24,
    MOST_TOPS = 8,
    LOTS_A_MOVE = 60
};
/* of the work a processor gets on the average: lighter subtrees stay with their parents */
static const double LIGHT = 0.01;
/* Prices differ a little from subtree to subtree: twins would all want the same kind. */
static const double NOISE = 0.02;
/* from one deadline to the next */
static const double COARSE = 1.04, FINE = 1.004;
/* A top whose best comes not so near to what is known is left. */
static const double NEAR = 1.1;

struct auction_kind {
    double speed, memory, price;
    uint32_t count, wanted, left; /* count: of idle processors */
};

/* A subtree that may be cut off. */
struct auction_lot {
    uint32_t task, parent; /* parent: lot of its parent task */
    double transfer;
    double own, inside;    /* work of the task with its light children; of the whole lot */
    double hanging, below; /* the latest end of a piece right below; of any piece below */
    double cheapest;
    uint32_t kind; /* cut off for this kind; NONE: opened */
    bool within;   /* in a lot that is cut off further up */
};

struct auction_choice {
    uint32_t lot, kind;
    double work;
};

struct auction {
    const struct tree_setting *s;
    struct auction_kind *kind; /* fastest first */
    uint32_t nkinds, *kind_of;
    struct auction_lot *lot; /* parents before children; 0 is the root of the piece */
    uint32_t nlots, capacity;
    uint32_t *lot_of;              /* task -> lot, NONE outside a call */
    struct auction_choice *wanted; /* room for every lot */
    struct auction_choice *best;   /* room for every processor */
    uint32_t nwanted, nbest;
    double open_below; /* the latest end of pieces that hang on the top */
    double shortest;
};

static int fastest_kind_first(const void *a, const void *b)
{
    const struct auction_kind *x = a, *y = b;
    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    return x->memory < y->memory ? -1 : x->memory > y->memory; /* the large ones stay longest */
}

struct auction *auction_new(const struct tree_setting *s)
{
    struct auction *a = mem_new_zero(struct auction, 1);
    a->s = s;
    a->kind = mem_new_zero(struct auction_kind, s->nprocs);
    a->kind_of = mem_new_zero(uint32_t, s->nprocs);
    a->lot_of = mem_new(uint32_t, s->t->n);
    a->best = mem_new(struct auction_choice, s->nprocs);
    for (uint32_t x = 0; x < s->t->n; x++)
        a->lot_of[x] = NONE;
    for (uint32_t q = 0; q < s->nprocs; q++)
        a->kind[q] = (struct auction_kind){.speed = s->speed[q], .memory = s->memory[q]};
    qsort(a->kind, s->nprocs, sizeof *a->kind, fastest_kind_first);
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (!a->nkinds || fastest_kind_first(&a->kind[a->nkinds - 1], &a->kind[q]) != 0)
            a->kind[a->nkinds++] = a->kind[q];
    for (uint32_t q = 0; q < s->nprocs; q++) {
        struct auction_kind own = {.speed = s->speed[q], .memory = s->memory[q]};
        while (fastest_kind_first(&a->kind[a->kind_of[q]], &own) != 0)
            a->kind_of[q]++;
    }
    return a;
}

void auction_free(struct auction *a)
{
    if (!a)
        return;
    free(a->kind);
    free(a->kind_of);
    free(a->lot);
    free(a->lot_of);
    free(a->wanted);
    free(a->best);
    free(a);
}

/* ---- lots ---- */

static void add_lot(struct auction *a, uint32_t x, uint32_t parent)
{
    if (a->nlots == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 256;
        a->lot = mem_resize(a->lot, a->capacity);
        a->wanted = mem_resize(a->wanted, a->capacity);
    }
    a->lot_of[x] = a->nlots;
    a->lot[a->nlots++] = (struct auction_lot){.task = x,
                                              .parent = parent,
                                              .transfer = setting_transfer(a->s, NONE, NONE, x),
                                              .own = a->s->t->work[x]};
}

/* The heavy subtrees of piece i. A parent weighs no less than its child, so lots hang together. */
static void list_lots(struct auction *a, const struct partition *p, uint32_t i, double light)
{
    const struct tree *t = a->s->t;
    a->nlots = 0;
    add_lot(a, p->at[i].root, NONE);
    for (uint32_t k = 0; k < a->nlots; k++) {
        uint32_t x = a->lot[k].task;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (p->cut[c])
                continue;
            if (a->s->work[c] < light)
                a->lot[k].own += a->s->work[c];
            else
                add_lot(a, c, k);
        }
    }
    /* pieces below: a light subtree with one in it was counted whole */
    for (uint32_t c = p->at[i].first; c != NONE; c = p->at[c].next) {
        uint32_t x = t->parent[p->at[c].root];
        bool direct = a->lot_of[x] != NONE;
        while (a->lot_of[x] == NONE)
            x = t->parent[x];
        struct auction_lot *lot = &a->lot[a->lot_of[x]];
        if (!direct)
            lot->own = fmax(0, lot->own - a->s->work[p->at[c].root]);
        lot->hanging = fmax(lot->hanging, piece_transfer(p, c) + p->at[c].length);
    }
    for (uint32_t k = 0; k < a->nlots; k++) {
        a->lot[k].inside = a->lot[k].own;
        a->lot[k].below = a->lot[k].hanging;
    }
    for (uint32_t k = a->nlots; k-- > 1;) {
        struct auction_lot *above = &a->lot[a->lot[k].parent];
        above->inside += a->lot[k].inside;
        above->below = fmax(above->below, a->lot[k].below);
        a->lot_of[a->lot[k].task] = NONE;
    }
    a->lot_of[a->lot[0].task] = NONE;
}

/* ---- bids ---- */

/* The cheapest kind that ends the lot in time; NONE. */
static uint32_t cheapest_kind(const struct auction *a, const struct auction_lot *lot,
                              double seconds)
{
    uint32_t best = NONE;
    double left = seconds - lot->transfer - lot->below, least = a->s->least[lot->task];
    for (uint32_t k = 0; k < a->nkinds; k++)
        if (a->kind[k].count && lot->inside <= a->kind[k].speed * left &&
            least <= a->kind[k].memory && (best == NONE || a->kind[k].price < a->kind[best].price))
            best = k;
    return best;
}

/* One round: which lots are cut off, and how many want each kind. */
static void auction_round(struct auction *a, double seconds, struct rng *rng)
{
    for (uint32_t k = 0; k < a->nkinds; k++)
        a->kind[k].wanted = 0;
    for (uint32_t i = 0; i < a->nlots; i++)
        a->lot[i].cheapest = a->lot[i].own;
    for (uint32_t i = a->nlots; i-- > 1;) {
        struct auction_lot *lot = &a->lot[i];
        lot->kind = cheapest_kind(a, lot, seconds);
        double price = INFINITY;
        if (lot->kind != NONE)
            price = a->kind[lot->kind].price * (1 + NOISE * rng_unit(rng));
        if (price < lot->cheapest)
            lot->cheapest = price;
        else
            lot->kind = NONE;
        a->lot[lot->parent].cheapest += lot->cheapest;
    }
    a->nwanted = 0;
    a->lot[0].within = false;
    a->open_below = a->lot[0].hanging;
    for (uint32_t i = 1; i < a->nlots; i++) {
        struct auction_lot *lot = &a->lot[i];
        const struct auction_lot *above = &a->lot[lot->parent];
        lot->within = above->within || (lot->parent && above->kind != NONE);
        if (lot->within)
            continue;
        if (lot->kind == NONE) {
            a->open_below = fmax(a->open_below, lot->hanging);
            continue;
        }
        a->kind[lot->kind].wanted++;
        a->wanted[a->nwanted++] = (struct auction_choice){.lot = i, .work = lot->inside};
    }
}

static int heaviest_choice_first(const void *a, const void *b)
{
    const struct auction_choice *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->lot < y->lot ? -1 : x->lot > y->lot;
}

/* Give out processors; what finds none joins the top. Remember the mapping if it is the shortest. */
static void auction_settle(struct auction *a, double seconds, double speed)
{
    const struct tree_setting *s = a->s;
    double top = a->lot[0].inside, latest = 0, below = a->open_below;
    uint32_t given = 0, left = 0;
    qsort(a->wanted, a->nwanted, sizeof *a->wanted, heaviest_choice_first);
    for (uint32_t k = 0; k < a->nkinds; k++)
        left += a->kind[k].left = a->kind[k].count;
    for (uint32_t i = 0; i < a->nwanted; i++) {
        struct auction_choice one = a->wanted[i];
        const struct auction_lot *lot = &a->lot[one.lot];
        uint32_t k = 0;
        while (k < a->nkinds &&
               (!left || !a->kind[k].left || a->kind[k].memory < s->least[lot->task]))
            k++;
        double end = INFINITY;
        if (k < a->nkinds)
            end = lot->transfer + one.work / a->kind[k].speed + lot->below;
        /* on a processor too slow for the deadline it may be worse than in the top */
        if (end - fmax(latest, seconds) > one.work / speed) {
            below = fmax(below, lot->below);
            continue;
        }
        a->kind[k].left--;
        left--;
        latest = fmax(latest, end);
        top -= one.work;
        one.kind = k;
        a->wanted[given++] = one;
    }
    double length = fmax(0, top) / speed + fmax(latest, below);
    if (given && length < a->shortest) {
        a->shortest = length;
        a->nbest = given;
        for (uint32_t i = 0; i < given; i++)
            a->best[i] = a->wanted[i];
    }
}

/* Dearer where more were wanted than there are. */
static void change_prices(struct auction *a, uint32_t round, double reserve, double seconds)
{
    for (uint32_t k = 0; k < a->nkinds; k++) {
        struct auction_kind *kind = &a->kind[k];
        if (!kind->count)
            continue;
        double over = ((double)kind->wanted - kind->count) / kind->count;
        kind->price *= 1 + 0.5 / (1 + 0.2 * round) * fmax(-0.6, fmin(1, over));
        kind->price = fmax(kind->price, reserve * kind->speed * seconds);
    }
}

/* Rounds for one deadline, from prices at half of what a processor can do in time. */
static void hold_auction(struct auction *a, const struct auction_terms *terms, uint64_t *cost)
{
    double seconds = terms->seconds, speed = a->s->speed[terms->top];
    for (uint32_t k = 0; k < a->nkinds; k++)
        a->kind[k].price = fmax(0.5, terms->reserve) * a->kind[k].speed * seconds;
    for (uint32_t round = 0; round < terms->rounds; round++) {
        auction_round(a, seconds, terms->rng);
        auction_settle(a, seconds, speed);
        change_prices(a, round, terms->reserve, seconds);
    }
    *cost += terms->rounds * (1 + a->nlots / LOTS_A_MOVE);
}

/* ---- carrying out ---- */

/* Idle processors by kind, with the piece's own unless it is the top's. */
static uint32_t count_idle(struct auction *a, const struct partition *p, uint32_t i, uint32_t top)
{
    uint32_t idle = 0;
    for (uint32_t k = 0; k < a->nkinds; k++)
        a->kind[k].count = 0;
    for (uint32_t q = 0; q < a->s->nprocs; q++)
        if ((p->holder[q] == NONE || q == p->at[i].proc) && q != top) {
            a->kind[a->kind_of[q]].count++;
            idle++;
        }
    return idle;
}

/* False, and all as it was: the top does not fit. */
static bool carry_out(struct auction *a, struct partition *p, uint32_t i, uint32_t top)
{
    uint32_t own = p->at[i].proc;
    double most = p->at[i].most, memory = p->at[i].memory;
    if (top != own)
        partition_swap(p, own, top);
    partition_defer(p);
    for (uint32_t k = 0; k < a->nbest; k++) {
        uint32_t piece = partition_cut(p, i, a->lot[a->best[k].lot].task), q = 0;
        while (p->holder[q] != NONE || a->kind_of[q] != a->best[k].kind)
            q++;
        partition_map(p, piece, q);
    }
    partition_settle(p);
    if (partition_fits(p, i, a->s->memory[top]))
        return true;
    partition_defer(p);
    for (uint32_t k = 0; k < a->nbest; k++)
        partition_merge(p, p->slot_of[a->lot[a->best[k].lot].task]);
    partition_settle(p);
    if (top != own)
        partition_swap(p, top, own);
    p->at[i].most = most;
    p->at[i].memory = memory;
    return false;
}

bool auction_piece(struct auction *a, struct partition *p, uint32_t i,
                   const struct auction_terms *terms, uint64_t *cost)
{
    uint32_t idle = count_idle(a, p, i, terms->top);
    a->shortest = terms->limit;
    a->nbest = 0;
    if (!idle)
        return false;
    list_lots(a, p, i, LIGHT * p->at[i].work / (idle + 1));
    hold_auction(a, terms, cost);
    return a->nbest && carry_out(a, p, i, terms->top);
}

/* ---- mappings of the whole tree ---- */

/* Deadlines for one top: from the least possible up, then finer around the best. */
static bool auction_tree(struct auction *a, struct partition *p, struct auction_terms *terms,
                         double known)
{
    const struct tree_setting *s = a->s;
    double best = INFINITY, at = 0;
    uint64_t cost = 0;
    partition_clear(p);
    partition_map(p, 0, terms->top);
    count_idle(a, p, 0, terms->top);
    double light = LIGHT * s->work[0] / s->nprocs;
    do
        list_lots(a, p, 0, light);
    while (a->nlots > MOST_LOTS && (light *= 2) < s->work[0]);
    a->shortest = INFINITY;
    a->nbest = 0;
    terms->seconds = s->work[0] / s->all_speeds;
    for (uint32_t d = 0, since = 0; d < DEADLINES && since < 8; d++, since++) {
        hold_auction(a, terms, &cost);
        if (a->shortest < best) {
            best = a->shortest;
            at = terms->seconds;
            since = 0;
        }
        terms->seconds *= COARSE;
    }
    if (best > known * NEAR)
        return false;
    terms->seconds = at / COARSE;
    terms->rounds = AUCTION_ROUNDS;
    while ((terms->seconds *= FINE) < at * COARSE)
        hold_auction(a, terms, &cost);
    return a->nbest && carry_out(a, p, 0, terms->top);
}

/* The critical path cut on while that helps. */
static void auction_critical(struct auction *a, struct partition *p, uint32_t *critical,
                             struct auction_terms terms)
{
    uint64_t cost = 0;
    for (bool helped = true; helped && p->idle;) {
        helped = false;
        for (uint32_t k = partition_critical(p, critical); k-- && !helped;) {
            const struct tree_piece *piece = &p->at[critical[k]];
            terms.top = piece->proc;
            terms.limit = piece->length * (1 - 1e-9);
            terms.seconds = piece->length * 0.6;
            helped = auction_piece(a, p, critical[k], &terms, &cost);
        }
    }
}

void auction_mappings(const struct tree_setting *s, double known, double deadline,
                      struct snapshot *out, uint32_t *found, uint32_t most)
{
    if (s->nprocs < 2 || s->t->n < 2)
        return;
    struct auction *a = auction_new(s);
    struct partition *p = partition_new(s, false);
    uint32_t *critical = mem_new(uint32_t, s->nprocs + 1);
    struct rng rng;
    rng_seed(&rng, 1);
    for (uint32_t k = 0; k < a->nkinds && k < MOST_TOPS && clock_seconds() < deadline; k++) {
        struct auction_terms terms = {.rounds = AUCTION_FEW_ROUNDS, .rng = &rng};
        while (a->kind_of[terms.top] != k)
            terms.top++;
        if (!auction_tree(a, p, &terms, known))
            continue;
        auction_critical(a, p, critical, terms);
        snapshot_keep(p, out, found, most);
    }
    free(critical);
    partition_free(p);
    auction_free(a);
}
