/* All levels of cuts at once, by dynamic programming over a ladder of deadlines; ladder.h has the
 * contract.
 *
 * A rung j stands for "whatever is cut off below takes at most rung[j] seconds, its transfer
 * counted". Processors have whole prices. For every heavy subtree x (a lot), from the leaves up:
 *
 *     open[j][c]  the least work in the part of x, when the pieces below it end within rung j and
 *                 their processors cost c together
 *     sold[j]     the least cost for which x itself can be cut off and end within rung j: on some
 *                 kind, after some rung below it
 *
 *          x          open[j][c] = own + least sum over the children of
 *         / \                         open of the child at c1   (it stays)
 *        y   z                        0 where c1 >= sold[j]     (it is cut off)
 *
 * Children share c as in a knapsack; costs past sold[j] buy nothing more, so tables are short. The
 * root's part takes the rung and the kind that make it shortest. Kinds that are wanted too often become
 * dearer, the others cheaper, and the next round begins.
 *
 * Only work and transfers are exact up to the rungs; memory is that of whole subtrees for pieces that
 * are not cut further, and of the task alone for others. So each answer is mended afterwards: pieces
 * without a processor join their parents, and what does not fit is refused. */
#include "plan/tree/ladder.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "plan/tree/merge.h"
#include "plan/tree/swap.h"
#include <stdlib.h>
#include <string.h>

enum {
    RUNGS = 64,
    LADDER_KINDS = 8,
    LADDER_LOTS = 2000,
    LADDER_ROUNDS = 16,
    PATIENCE = 5, /* rounds without a shorter mapping */
    DEAREST = 12,
    LADDER_PROCESSORS = 128
};
/* Subtrees with less than this share of a processor's work are never cut off. */
static const double LADDER_LIGHT = 1.0 / 12;
static const double CHEAPEST = 0.25;

struct ladder_kind {
    double speed, memory; /* memory: of the largest */
    double price;         /* a lot asks the whole number below or above it, by chance */
    uint32_t count, wanted;
};

/* How a lot is cut off for a rung: on this kind, with what below. */
struct ladder_sale {
    uint16_t cost, kind, rung, below; /* cost UINT16_MAX: not in time */
};

struct ladder_lot {
    uint32_t task, first, count; /* children: lots first .. first + count - 1 */
    uint32_t room;               /* costs 0 .. room are in open[] */
    double own, transfer;
    float *open;                    /* RUNGS x (room + 1) */
    struct ladder_sale sale[RUNGS]; /* not for the root */
};

/* A lot whose cuts are to be read off. */
struct ladder_visit {
    uint32_t lot, rung, cost;
};

struct ladder_choice {
    uint32_t task, kind;
    double work, memory;
};

struct ladder {
    const struct tree_setting *s;
    struct ladder_kind kind[LADDER_KINDS];
    uint32_t nkinds, *kind_of;
    struct ladder_lot *lot; /* parents before children */
    uint32_t nlots, budget;
    double known, rung[RUNGS];
    struct rng rng;
    float *table, *other; /* room for one merge */
    float *rows;          /* and for a lot's table while its width is not known */
    ARRAY(struct ladder_visit) visits;
    ARRAY(struct ladder_choice) chosen; /* the root's part first */
};

/* ---- kinds and lots ---- */

static int faster_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* Kinds by speed; neighbours share one where there are too many. */
static void ladder_kinds(struct ladder *l)
{
    const struct tree_setting *s = l->s;
    double *speed = mem_new(double, s->nprocs);
    uint32_t distinct = 0;
    memcpy(speed, s->speed, s->nprocs * sizeof *speed);
    qsort(speed, s->nprocs, sizeof *speed, faster_first);
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (!distinct || speed[distinct - 1] != speed[q])
            speed[distinct++] = speed[q];
    l->nkinds = distinct < LADDER_KINDS ? distinct : LADDER_KINDS;
    l->kind_of = mem_new(uint32_t, s->nprocs);
    for (uint32_t q = 0; q < s->nprocs; q++) {
        uint32_t place = 0;
        while (speed[place] != s->speed[q])
            place++;
        uint32_t k = l->kind_of[q] = (uint32_t)((uint64_t)place * l->nkinds / distinct);
        l->kind[k].count++;
        l->kind[k].speed += s->speed[q];
        l->kind[k].memory = fmax(l->kind[k].memory, s->memory[q]);
    }
    for (uint32_t k = 0; k < l->nkinds; k++) {
        struct ladder_kind *kind = &l->kind[k];
        kind->speed /= kind->count;
        kind->price = 3 * kind->speed / s->mean_speed;
        if (kind->memory < s->least[0] / 2)
            kind->price = 0.5;
        kind->price = fmin(fmax(kind->price, CHEAPEST), DEAREST);
    }
    free(speed);
}

/* The heavy subtrees, breadth first, so that children stand side by side. False: too many. */
static bool ladder_lots(struct ladder *l)
{
    const struct tree_setting *s = l->s;
    const struct tree *t = s->t;
    double light = LADDER_LIGHT * s->work[0] / s->nprocs;
    uint32_t heavy;
    for (;; light *= 1.25) {
        heavy = 1;
        for (uint32_t x = 1; x < t->n; x++)
            heavy += s->work[x] >= light;
        if (heavy <= LADDER_LOTS)
            break;
        if (!(light > 0 && light < s->work[0])) /* a thousand tasks in a row, and no work below */
            return false;
    }
    l->lot = mem_new(struct ladder_lot, heavy);
    l->nlots = 1;
    l->lot[0] = (struct ladder_lot){.task = 0};
    for (uint32_t k = 0; k < l->nlots; k++) {
        struct ladder_lot *lot = &l->lot[k];
        lot->first = l->nlots;
        lot->own = t->work[lot->task];
        lot->transfer = setting_transfer(s, NONE, NONE, lot->task);
        for (uint32_t c = t->child_off[lot->task]; c < t->child_off[lot->task + 1]; c++) {
            if (s->work[c] < light)
                lot->own += s->work[c];
            else
                l->lot[l->nlots++] = (struct ladder_lot){.task = c};
        }
        lot->count = l->nlots - lot->first;
    }
    return true;
}

/* ---- the tables ---- */

static uint32_t rung_of(const struct ladder *l, double seconds)
{
    double place = ceil(seconds / l->rung[1] * (1 - 1e-9));
    return place < RUNGS ? (uint32_t)place : RUNGS;
}

static float *ladder_cell(const struct ladder_lot *lot, uint32_t rung, uint32_t cost)
{
    return &lot->open[(size_t)rung * (lot->room + 1) + cost];
}

/* What child `c` leaves to its parent's part for `cost` at rung j. */
static float left_open(const struct ladder_lot *c, uint32_t j, uint32_t cost)
{
    if (cost >= c->sale[j].cost)
        return 0;
    return *ladder_cell(c, j, cost < c->room ? cost : c->room);
}

/* Past this cost a child has nothing more to give. */
static uint32_t useful_cost(const struct ladder_lot *c, uint32_t j)
{
    return c->sale[j].cost != UINT16_MAX ? c->sale[j].cost : c->room;
}

/* Put a child's table over the one so far: room is the old one's largest cost. Returns the new one. */
static uint32_t merge_child(struct ladder *l, const struct ladder_lot *c, uint32_t j, uint32_t room)
{
    uint32_t most = useful_cost(c, j), all = room + most < l->budget ? room + most : l->budget;
    float *from = l->table, *to = l->other;
    for (uint32_t k = 0; k <= all; k++)
        to[k] = INFINITY;
    for (uint32_t d = 0; d <= most && d <= all; d++) {
        float add = left_open(c, j, d);
        uint32_t end = room < all - d ? room : all - d;
        for (uint32_t k = 0; k <= end; k++) {
            float sum = from[k] + add;
            to[k + d] = sum < to[k + d] ? sum : to[k + d];
        }
    }
    for (uint32_t k = 1; k <= all; k++)
        to[k] = to[k] < to[k - 1] ? to[k] : to[k - 1];
    l->table = to;
    l->other = from;
    return all;
}

/* open[j] of a lot into l->table; returns its room. */
static uint32_t open_table(struct ladder *l, const struct ladder_lot *lot, uint32_t j,
                           uint32_t children)
{
    uint32_t room = 0;
    l->table[0] = (float)lot->own;
    for (uint32_t k = 0; k < children; k++)
        room = merge_child(l, &l->lot[lot->first + k], j, room);
    return room;
}

/* Where and for how much the lot can be cut off. */
static void sell_lot(struct ladder *l, struct ladder_lot *lot)
{
    for (uint32_t j = 0; j < RUNGS; j++)
        lot->sale[j] = (struct ladder_sale){.cost = UINT16_MAX};
    for (uint32_t k = 0; k < l->nkinds; k++) {
        const struct ladder_kind *kind = &l->kind[k];
        uint32_t price = (uint32_t)(kind->price + rng_unit(&l->rng));
        if (l->s->least[lot->task] > kind->memory)
            continue;
        for (uint32_t below = 0; below < RUNGS; below++)
            for (uint32_t c = 0; c <= lot->room; c++) {
                float work = *ladder_cell(lot, below, c);
                uint32_t cost = c + price;
                uint32_t j = rung_of(l, lot->transfer + work / kind->speed + l->rung[below]);
                if (j >= RUNGS || cost >= lot->sale[j].cost || cost > l->budget)
                    continue;
                lot->sale[j] =
                    (struct ladder_sale){(uint16_t)cost, (uint16_t)k, (uint16_t)below, (uint16_t)c};
            }
    }
    for (uint32_t j = 1; j < RUNGS; j++)
        if (lot->sale[j - 1].cost <= lot->sale[j].cost)
            lot->sale[j] = lot->sale[j - 1];
}

static void fill_tables(struct ladder *l)
{
    size_t width = (size_t)l->budget + 1;
    for (uint32_t i = l->nlots; i--;) {
        struct ladder_lot *lot = &l->lot[i];
        uint32_t room[RUNGS];
        lot->room = 0;
        for (uint32_t j = 0; j < RUNGS; j++) {
            room[j] = open_table(l, lot, j, lot->count);
            memcpy(l->rows + j * width, l->table, (room[j] + 1) * sizeof *l->rows);
            lot->room = room[j] > lot->room ? room[j] : lot->room;
        }
        free(lot->open);
        lot->open = mem_new(float, (size_t)RUNGS *(lot->room + 1));
        for (uint32_t j = 0; j < RUNGS; j++)
            for (uint32_t c = 0; c <= lot->room; c++)
                *ladder_cell(lot, j, c) = l->rows[j * width + (c < room[j] ? c : room[j])];
        if (i)
            sell_lot(l, lot);
    }
}

/* ---- reading the answer off ---- */

/* The cuts below one lot: children from the last to the first, each with its share of the cost. */
static void visit_lot(struct ladder *l, struct ladder_visit at)
{
    const struct ladder_lot *lot = &l->lot[at.lot];
    uint32_t cost = at.cost;
    for (uint32_t k = lot->count; k-- && cost;) {
        const struct ladder_lot *child = &l->lot[lot->first + k];
        uint32_t room = open_table(l, lot, at.rung, k), best = 0;
        uint32_t most = useful_cost(child, at.rung);
        float least = INFINITY;
        for (uint32_t d = 0; d <= most && d <= cost; d++) {
            float sum = l->table[cost - d < room ? cost - d : room] + left_open(child, at.rung, d);
            if (sum < least) {
                least = sum;
                best = d;
            }
        }
        cost -= best;
        const struct ladder_sale *sale = &child->sale[at.rung];
        if (best >= sale->cost) {
            double work = *ladder_cell(child, sale->rung, sale->below);
            array_push(&l->chosen, (struct ladder_choice){child->task, sale->kind, work, 0});
            array_push(&l->visits, (struct ladder_visit){lot->first + k, sale->rung, sale->below});
        } else if (best) {
            array_push(&l->visits, (struct ladder_visit){lot->first + k, at.rung, best});
        }
    }
}

/* The shortest mapping that the tables have. False: none. */
static bool read_answer(struct ladder *l)
{
    const struct ladder_lot *root = &l->lot[0];
    double best = INFINITY;
    struct ladder_visit top = {0};
    uint32_t top_kind = 0;
    for (uint32_t k = 0; k < l->nkinds; k++) {
        const struct ladder_kind *kind = &l->kind[k];
        if (fmin(l->s->least[0], l->s->memory[0]) > kind->memory)
            continue;
        for (uint32_t j = 0; j < RUNGS; j++)
            for (uint32_t c = 0; c <= root->room && c <= l->budget - kind->price; c++) {
                double seconds = *ladder_cell(root, j, c) / kind->speed + l->rung[j];
                if (seconds < best) {
                    best = seconds;
                    top_kind = k;
                    top = (struct ladder_visit){0, j, c};
                }
            }
    }
    l->chosen.n = l->visits.n = 0;
    if (isinf(best))
        return false;
    double work = *ladder_cell(root, top.rung, top.cost);
    array_push(&l->chosen, (struct ladder_choice){0, top_kind, work, 0});
    array_push(&l->visits, top);
    while (l->visits.n) {
        struct ladder_visit next = l->visits.at[--l->visits.n];
        visit_lot(l, next);
    }
    return true;
}

/* ---- carrying it out ---- */

/* Those that need most memory choose first: what is left then holds as much as it can. */
static int largest_choice_first(const void *a, const void *b)
{
    const struct ladder_choice *x = a, *y = b;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static int ladder_heaviest_first(const void *a, const void *b)
{
    const struct ladder_choice *x = a, *y = b;
    if (x->work != y->work)
        return x->work > y->work ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* The smallest idle processor of the kind that holds so much; NONE. */
static uint32_t smallest_of_kind(const struct ladder *l, const struct partition *p,
                                 const struct ladder_choice *one)
{
    for (uint32_t q = l->s->nprocs; q--;)
        if (p->holder[q] == NONE && l->kind_of[q] == one->kind && l->s->memory[q] >= one->memory)
            return q;
    return NONE;
}

/* The fastest idle one of any kind; NONE. */
static uint32_t fastest_idle(const struct ladder *l, const struct partition *p, double memory)
{
    const struct tree_setting *s = l->s;
    uint32_t best = NONE;
    for (uint32_t q = s->nprocs; q--;)
        if (p->holder[q] == NONE && s->memory[q] >= memory &&
            (best == NONE || s->speed[q] > s->speed[best]))
            best = q;
    return best;
}

/* Cut, and give out processors; pieces that find none are merged. False: something fits nowhere. */
static bool ladder_carry_out(struct ladder *l, struct partition *p)
{
    partition_clear(p);
    for (size_t k = 1; k < l->chosen.n; k++) {
        uint32_t x = l->chosen.at[k].task;
        partition_cut(p, partition_piece_of(p, x), x);
    }
    for (size_t k = 0; k < l->chosen.n; k++)
        l->chosen.at[k].memory = partition_memory(p, k ? p->slot_of[l->chosen.at[k].task] : 0);
    qsort(l->chosen.at, l->chosen.n, sizeof *l->chosen.at, largest_choice_first);
    for (int any = 0; any < 2; any++) {
        for (size_t k = 0; k < l->chosen.n; k++) {
            const struct ladder_choice *one = &l->chosen.at[k];
            uint32_t i = one->task ? p->slot_of[one->task] : 0;
            if (p->at[i].proc != NONE)
                continue;
            uint32_t q = any ? fastest_idle(l, p, one->memory) : smallest_of_kind(l, p, one);
            if (q != NONE)
                partition_map(p, i, q);
        }
        qsort(l->chosen.at, l->chosen.n, sizeof *l->chosen.at, ladder_heaviest_first);
    }
    if (!partition_mapped(p) && !merge_heterogeneous(p))
        return false;
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE && !partition_fits(p, i, l->s->memory[p->at[i].proc]))
            return false;
    return true;
}

/* How often each kind was wanted. */
static void count_wanted(struct ladder *l)
{
    for (uint32_t k = 0; k < l->nkinds; k++)
        l->kind[k].wanted = 0;
    for (size_t k = 0; k < l->chosen.n; k++)
        l->kind[l->chosen.at[k].kind].wanted++;
}

/* Dearer where more were wanted than there are. */
static void ladder_prices(struct ladder *l, uint32_t round)
{
    count_wanted(l);
    for (uint32_t k = 0; k < l->nkinds; k++) {
        struct ladder_kind *kind = &l->kind[k];
        double over = ((double)kind->wanted - kind->count) / kind->count;
        kind->price *= 1 + 0.5 / (1 + 0.3 * round) * fmax(-0.6, fmin(1, over));
        kind->price = fmin(fmax(kind->price, CHEAPEST), DEAREST);
    }
}

static uint32_t ladder_budget(const struct ladder *l)
{
    double sum = 0;
    for (uint32_t k = 0; k < l->nkinds; k++)
        sum += l->kind[k].count * l->kind[k].price;
    return (uint32_t)sum;
}

static void ladder_round(struct ladder *l, struct partition *p, struct snapshot *out,
                         uint32_t *found, uint32_t most)
{
    for (uint32_t j = 0; j < RUNGS; j++)
        l->rung[j] = l->known * j / RUNGS;
    l->budget = ladder_budget(l);
    fill_tables(l);
    if (!read_answer(l) || !ladder_carry_out(l, p))
        return;
    swap_until_best(p);
    snapshot_keep(p, out, found, most);
    l->known = fmin(l->known, partition_makespan(p));
}

void ladder_mappings(const struct tree_setting *s, double known, double deadline,
                     struct snapshot *out, uint32_t *found, uint32_t most)
{
    /* tables of every lot; processors by the hundred have no room for them */
    uint32_t dearest = (uint32_t)(fmin(s->nprocs, LADDER_PROCESSORS) * DEAREST);
    if (s->nprocs < 2 || s->nprocs > LADDER_PROCESSORS || s->t->n < 2 ||
        !(known > 0 && known < INFINITY))
        return;
    struct ladder l = {.s = s, .known = known};
    rng_seed(&l.rng, 1);
    if (!ladder_lots(&l))
        return;
    ladder_kinds(&l);
    l.table = mem_new(float, dearest + 1);
    l.other = mem_new(float, dearest + 1);
    l.rows = mem_new(float, (size_t)RUNGS *(dearest + 1));
    struct partition *p = partition_new(s, false);
    double best = known;
    for (uint32_t round = 0, since = 0;
         round < LADDER_ROUNDS && since < PATIENCE && clock_seconds() < deadline;
         round++, since++) {
        ladder_round(&l, p, out, found, most);
        ladder_prices(&l, round);
        if (l.known < best * (1 - 1e-3))
            since = 0;
        best = l.known;
    }
    for (uint32_t i = 0; i < l.nlots; i++)
        free(l.lot[i].open);
    free(l.lot);
    free(l.table);
    free(l.other);
    free(l.rows);
    partition_free(p);
    free(l.kind_of);
    array_free(&l.visits);
    array_free(&l.chosen);
}
