/* Step 3b, SPLITAGAIN: idle processors are left, so cut where it shortens the critical path (Gou et
 * al. 2020; with HetPart's check that the new piece fits an idle processor).
 *
 * Candidates are all tasks of the pieces on the critical path, by estimated gain; the makespan
 * after each cut is exact, and a cut that does not shorten it is taken back. A cut of the last
 * piece helps only when two sibling subtrees leave it together, because a single one would run
 * after it instead of in it.
 *
 * O(tasks on the path) a look, and at most TRIES cuts tried before giving up. */
#include "plan/tree/again.h"
#include "base/heap.h"
#include "base/mem.h"
#include <stdlib.h>

/* Candidates looked at before giving up: those after them gain less, and fail for the same lack of
 * memory. */
enum { TRIES = 200, FEW_TRIES = 16, IDLE_A_CUT = 64 };

struct again {
    struct partition *p;
    uint32_t *nodes;
    double *inside,
        *under; /* as in split.c: work and longest wait below a task, inside its piece */
    uint8_t *on_path;
    uint32_t *critical;
    double largest, second; /* memory of the two largest idle processors */
    struct heap candidates; /* -gain; value: the task, and its sibling in the upper half or NONE */
};

/* The tasks of piece i, parents first; their work and waits. */
static uint32_t again_survey(struct again *a, uint32_t i)
{
    const struct partition *p = a->p;
    const struct tree *t = p->s->t;
    uint32_t n = 0;
    a->nodes[n++] = p->at[i].root;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t c = t->child_off[a->nodes[k]]; c < t->child_off[a->nodes[k] + 1]; c++)
            if (!p->cut[c])
                a->nodes[n++] = c;
    for (uint32_t k = n; k--;) {
        uint32_t x = a->nodes[k];
        a->inside[x] = t->work[x];
        a->under[x] = 0;
        a->on_path[x] = 0;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (p->cut[c]) {
                uint32_t j = p->slot_of[c];
                a->under[x] = fmax(a->under[x], piece_transfer(p, j) + p->at[j].length);
            } else {
                a->inside[x] += a->inside[c];
                a->under[x] = fmax(a->under[x], a->under[c]);
            }
        }
    }
    return n;
}

/* Can it fit an idle processor of so much memory? A subtree without cuts needs exactly what the
 * whole subtree needs. */
static bool may_fit(const struct again *a, uint32_t x, double memory)
{
    const struct tree_setting *s = a->p->s;
    return (a->under[x] > 0 ? s->need[x] : s->least[x]) <= memory;
}

/* A candidate that cannot gain is not worth a try. */
static void again_offer(struct again *a, double gain, uint32_t x, uint32_t y)
{
    if (gain > 0)
        heap_push(&a->candidates, -gain, (uint64_t)y << 32 | x);
}

/* One subtree of a piece on the path: the path gets shorter by its work, or its own way becomes the
 * longest. The published code adds the piece's own transfer to what waits below (section 5). */
static void offer_singles(struct again *a, uint32_t i, uint32_t next)
{
    const struct partition *p = a->p;
    const struct tree_piece *piece = &p->at[i];
    double speed = piece->proc == NONE ? p->s->mean_speed : p->speed[piece->proc];
    uint32_t n = again_survey(a, i);
    for (uint32_t x = p->s->t->parent[p->at[next].root];; x = p->s->t->parent[x]) {
        a->on_path[x] = 1;
        if (x == piece->root)
            break;
    }
    for (uint32_t k = 1; k < n; k++) {
        uint32_t x = a->nodes[k];
        if (a->on_path[x] || !may_fit(a, x, a->largest))
            continue;
        double transfer = setting_transfer(p->s, NONE, NONE, x);
        again_offer(a, fmin(a->inside[x] / speed, piece->below - transfer - a->under[x]), x, NONE);
    }
}

/* Two siblings of the last piece of the path, the heaviest two below each task. */
static void offer_pairs(struct again *a, uint32_t i)
{
    const struct partition *p = a->p;
    const struct tree *t = p->s->t;
    const struct tree_piece *piece = &p->at[i];
    double speed = piece->proc == NONE ? p->s->mean_speed : p->speed[piece->proc];
    uint32_t n = again_survey(a, i);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t x = a->nodes[k], first = NONE, second = NONE;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (first == NONE || a->inside[c] > a->inside[first]) {
                second = first;
                first = c;
            } else if (second == NONE || a->inside[c] > a->inside[second]) {
                second = c;
            }
        }
        if (second == NONE || !may_fit(a, first, a->largest) || !may_fit(a, second, a->largest) ||
            (!may_fit(a, first, a->second) && !may_fit(a, second, a->second)))
            continue;
        double one = a->inside[first] / speed - setting_transfer(p->s, NONE, NONE, second);
        double other = a->inside[second] / speed - setting_transfer(p->s, NONE, NONE, first);
        again_offer(a, fmin(one, other), first, second);
    }
}

/* Cut x off and map it; NONE when no idle processor takes it. */
static uint32_t cut_and_map(struct partition *p, uint32_t x, bool largest)
{
    uint32_t k = partition_cut(p, partition_piece_of(p, x), x), q = NONE;
    if (largest) {
        for (q = 0; q < p->s->nprocs && p->holder[q] != NONE;)
            q++;
        if (q == p->s->nprocs || !partition_fits(p, k, p->s->memory[q]))
            q = NONE;
    } else {
        q = partition_smallest_fit(p, k);
    }
    if (q == NONE) {
        partition_merge(p, k);
        return NONE;
    }
    partition_map(p, k, q);
    return k;
}

/* Cut and map one or two subtrees; keep them only if the makespan falls. */
static bool try_cut(struct partition *p, uint32_t x, uint32_t y, bool largest)
{
    double before = partition_makespan(p);
    /* The more demanding of two goes first: the smallest processor that holds it may not be the
     * other's last resort. */
    if (y != NONE && p->s->least[y] > p->s->least[x]) {
        uint32_t swap = x;
        x = y;
        y = swap;
    }
    uint32_t k = cut_and_map(p, x, largest);
    if (k == NONE)
        return false;
    /* The second is checked against what is idle after the first (the published code checks both
     * against the same processors). */
    uint32_t other = y == NONE ? NONE : cut_and_map(p, y, largest);
    if ((y == NONE || other != NONE) && partition_makespan(p) < before)
        return true;
    if (other != NONE)
        partition_merge(p, other);
    partition_merge(p, k);
    return false;
}

/* Processors go by decreasing memory: the first two idle ones are the largest. */
static void find_idle(struct again *a)
{
    const struct partition *p = a->p;
    uint32_t found = 0;
    a->largest = a->second = 0;
    for (uint32_t q = 0; q < p->s->nprocs && found < 2; q++)
        if (p->holder[q] == NONE)
            *(found++ ? &a->second : &a->largest) = p->s->memory[q];
}

/* While processors are idle, a look at the critical path offers cuts by what each would save: one
 * subtree of a piece on the path, or two of the last piece at once, where a single cut would only
 * make the other subtree critical. The best few are tried in earnest. */
void split_again(struct partition *p, bool largest)
{
    uint32_t n = p->s->t->n;
    struct again a = {.p = p};
    a.nodes = mem_new(uint32_t, n);
    a.inside = mem_new(double, n);
    a.under = mem_new(double, n);
    a.on_path = mem_new(uint8_t, n);
    a.critical = mem_new(uint32_t, p->s->nprocs + p->live);
    for (bool helped = true; helped && p->idle;) {
        find_idle(&a);
        uint32_t length = partition_critical(p, a.critical);
        heap_clear(&a.candidates);
        for (uint32_t k = 0; k + 1 < length; k++)
            offer_singles(&a, a.critical[k], a.critical[k + 1]);
        if (p->idle >= 2)
            offer_pairs(&a, a.critical[length - 1]);
        helped = false;
        /* With hundreds of idle processors several cuts come from one look; each is checked by
         * itself. */
        uint32_t wanted = 1 + p->idle / IDLE_A_CUT;
        for (int tries = 0; a.candidates.n && tries < (helped ? FEW_TRIES : TRIES) && wanted;) {
            uint64_t value = heap_pop(&a.candidates).value;
            uint32_t x = (uint32_t)value, y = (uint32_t)(value >> 32);
            tries++;
            if (p->cut[x] || (y != NONE && p->cut[y]) || !try_cut(p, x, y, largest))
                continue;
            helped = true;
            tries = 0;
            wanted--;
        }
    }
    heap_free(&a.candidates);
    free(a.nodes);
    free(a.inside);
    free(a.under);
    free(a.on_path);
    free(a.critical);
}
