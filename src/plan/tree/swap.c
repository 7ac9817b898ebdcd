/* HetPart2's phases: SWAPUNTILBEST (Algorithm 4), PERTURB (Algorithm 5) and both in turn (Algorithm
 * 6). Cuts stay; processors move.
 *
 * An exchange is made, the makespan read off, and made back: O(depth of the quotient tree) each. On
 * a uniform network only a faster processor can help a piece on the critical path, which leaves few
 * pairs to try. */
#include "plan/tree/swap.h"
#include "base/array.h"

/* Past so many processors an exchange costs what a part with a thousand children costs to look
 * through: their number is limited. */
enum { FIRST_HELPS_FROM = 128, TRIES_A_PROCESSOR = 32 };

bool swap_fits(struct partition *p, uint32_t a, uint32_t b)
{
    uint32_t i = p->holder[a], j = p->holder[b];
    const double *memory = p->s->memory;
    return (i == NONE || memory[b] >= memory[a] || partition_fits(p, i, memory[b])) &&
           (j == NONE || memory[a] >= memory[b] || partition_fits(p, j, memory[a]));
}

/* Would piece j, neither above nor below piece i, on i's processor alone make the makespan as long
 * as `now`? */
static bool is_hopeless(const struct partition *p, uint32_t i, uint32_t j, const double *start,
                        double now)
{
    const struct tree_piece *piece = &p->at[j];
    if (!p->s->uniform || setting_inside(p->s, piece->root, p->at[i].root) ||
        setting_inside(p->s, p->at[i].root, piece->root))
        return false;
    return start[j] + piece->work / p->speed[p->at[i].proc] + piece->below > now * (1 + 1e-12);
}

void swap_until_best(struct partition *p)
{
    uint32_t *critical = mem_new(uint32_t, p->live), *order = mem_new(uint32_t, p->live);
    double *start = mem_new(double, p->slots);
    uint32_t procs = p->s->nprocs;
    bool first_helps = procs > FIRST_HELPS_FROM;
    uint64_t left = first_helps ? (uint64_t)TRIES_A_PROCESSOR * procs : UINT64_MAX;
    while (left) {
        double now = partition_makespan(p), best = now;
        uint32_t best_a = NONE, best_b = NONE;
        uint32_t length = partition_critical(p, critical);
        partition_order(p, order);
        partition_starts(p, order, start);
        for (uint32_t k = 0; k < length && left && !(first_helps && best < now); k++) {
            uint32_t a = p->at[critical[k]].proc;
            for (uint32_t b = 0; b < procs && left && !(first_helps && best < now); b++) {
                /* With links alike only a faster processor helps a piece on the path. */
                if (b == a || (p->s->uniform && p->speed[b] <= p->speed[a]))
                    continue;
                if (p->holder[b] != NONE && is_hopeless(p, critical[k], p->holder[b], start, now))
                    continue;
                if (!swap_fits(p, a, b)) /* known for all pieces after the first round: cheaper */
                    continue;
                left--;
                partition_swap(p, a, b);
                double then = partition_makespan(p);
                partition_swap(p, a, b);
                if (then < best) {
                    best = then;
                    best_a = a;
                    best_b = b;
                }
            }
        }
        if (best_a == NONE)
            break;
        partition_swap(p, best_a, best_b);
    }
    free(critical);
    free(order);
    free(start);
}

/* Two pieces on processors of different speed that would each fit on the other's. */
struct exchange {
    uint32_t i, j; /* pieces */
    bool used;
};

struct count {
    uint32_t piece, exchanges;
};

static int by_exchanges(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    if (x->exchanges != y->exchanges)
        return x->exchanges < y->exchanges ? -1 : 1;
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* If it still fits when its turn comes. */
static void exchange_now(struct partition *p, struct exchange *e)
{
    uint32_t a = p->at[e->i].proc, b = p->at[e->j].proc;
    if (p->speed[a] == p->speed[b] || !swap_fits(p, a, b))
        return;
    /* Lengths are brought up to date once, at the end of the perturbation. */
    p->holder[a] = e->j;
    p->holder[b] = e->i;
    p->at[e->i].proc = b;
    p->at[e->j].proc = a;
    e->used = true;
}

/* Phase B's shake: every exchange between processors of different speed that memory allows is
 * listed; those with a processor of the top speed are made at once, then those of the pieces that
 * have the fewest, so that pieces with many choices keep one. Each is asked again before it is made,
 * since the ones before it moved things. O(processors^2). */
void swap_perturb(struct partition *p)
{
    const struct tree_setting *s = p->s;
    ARRAY(struct exchange) list = {0};
    struct count *counts = mem_new_zero(struct count, p->slots);
    for (uint32_t i = 0; i < p->slots; i++)
        counts[i].piece = i;
    for (uint32_t a = 0; a < s->nprocs; a++)
        for (uint32_t b = a + 1; b < s->nprocs; b++) {
            uint32_t i = p->holder[a], j = p->holder[b];
            if (i == NONE || j == NONE || p->speed[a] == p->speed[b] || !swap_fits(p, a, b))
                continue;
            array_push(&list, (struct exchange){i, j, false});
            counts[i].exchanges++;
            counts[j].exchanges++;
        }
    for (size_t k = 0; k < list.n; k++) {
        struct exchange *e = &list.at[k];
        double si = p->speed[p->at[e->i].proc], sj = p->speed[p->at[e->j].proc];
        if (fmax(si, sj) == s->top_speed)
            exchange_now(p, e);
    }
    qsort(counts, p->slots, sizeof *counts, by_exchanges);
    /* The exchanges of a piece, in the order of the list: offsets by piece, then one pass. */
    uint32_t *from = mem_new_zero(uint32_t, p->slots + 1),
             *mine = mem_new(uint32_t, 2 * list.n + 1);
    for (size_t k = 0; k < list.n; k++) {
        from[list.at[k].i + 1]++;
        from[list.at[k].j + 1]++;
    }
    for (uint32_t i = 0; i < p->slots; i++)
        from[i + 1] += from[i];
    uint32_t *fill = mem_new(uint32_t, p->slots + 1);
    memcpy(fill, from, (p->slots + 1) * sizeof *fill);
    for (size_t k = 0; k < list.n; k++) {
        mine[fill[list.at[k].i]++] = (uint32_t)k;
        mine[fill[list.at[k].j]++] = (uint32_t)k;
    }
    for (uint32_t c = 0; c < p->slots; c++)
        for (uint32_t m = from[counts[c].piece]; m < from[counts[c].piece + 1]; m++)
            if (!list.at[mine[m]].used)
                exchange_now(p, &list.at[mine[m]]);
    partition_refresh_all(p);
    free(fill);
    free(from);
    free(mine);
    free(counts);
    array_free(&list);
}

/* Put the mapping of a snapshot back on the same cuts. */
static void restore_mapping(struct partition *p, const struct snapshot *best)
{
    for (uint32_t k = 0; k < best->n; k++)
        partition_map(p, p->slot_of[best->root[k]], NONE);
    for (uint32_t k = 0; k < best->n; k++)
        partition_map(p, p->slot_of[best->root[k]], best->proc[k]);
}

void swap_phases(struct partition *p, bool with_b)
{
    swap_until_best(p);
    if (!with_b)
        return;
    struct snapshot best = {0};
    snapshot_store(&best, p);
    for (;;) {
        swap_perturb(p);
        swap_until_best(p);
        if (partition_makespan(p) >= best.makespan)
            break;
        snapshot_store(&best, p);
    }
    restore_mapping(p, &best);
    snapshot_free(&best);
}
