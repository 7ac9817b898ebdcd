/* Removing arcs that another way replaces, on the arcs that are left of a skeleton. Only arcs that
 * skip a level can be shortcuts; they are tested 64 tails at a time, one bit each, by a sweep over
 * the topological places between the first tail and the last head. O(long arcs / 64 x window); what
 * the budget does not reach is kept, which makes blocks coarser and nothing wrong. */
#include "base/mem.h"
#include "plan/order/skeleton.h"
#include <stdlib.h>
#include <string.h>

/* An arc to the next level is none (another way has two arcs or more). The others are tested 64
 * tails at a time: a sweep over topological places marks what each tail reaches by one arc or more,
 * and by two or more. */
struct sweeper {
    struct skeleton *s;
    uint32_t *level;
    uint64_t *one, *two;   /* by place */
    uint64_t *arcs_before; /* arcs out of all earlier places */
    bool *shortcut;        /* by arc */
};

/* Does it skip a level? */
static bool is_long(const struct sweeper *x, uint32_t t, uint32_t arc)
{
    return x->level[x->s->child[arc]] > x->level[t] + 1;
}

/* What the sweep of these tails would visit, and where it ends. */
static uint64_t window_cost(const struct sweeper *x, const uint32_t *tails, uint32_t count,
                            uint32_t *end)
{
    const struct skeleton *s = x->s;
    *end = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t a = s->child_off[tails[i]]; a < s->child_off[tails[i] + 1]; a++)
            if (is_long(x, tails[i], a) && s->place[s->child[a]] > *end)
                *end = s->place[s->child[a]];
    uint32_t from = s->place[tails[0]];
    return x->arcs_before[*end] - x->arcs_before[from] + (*end - from);
}

/* Bit i of one[]: tail i reaches this place by one arc or more; of two[]: by two or more. An arc is
 * a shortcut when its head is reached by two. */
static void sweep_window(struct sweeper *x, const uint32_t *tails, uint32_t count, uint32_t end)
{
    struct skeleton *s = x->s;
    uint32_t from = s->place[tails[0]], next = 0;
    for (uint32_t at = from; at <= end; at++) {
        uint32_t t = s->topo[at];
        uint64_t reached = x->one[at], own = 0;
        if (next < count && tails[next] == t)
            own = (uint64_t)1 << next++;
        if (!(reached | own))
            continue;
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++) {
            uint32_t to = s->place[s->child[a]];
            if (to > end)
                continue;
            x->two[to] |= reached;
            x->one[to] |= reached | own;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t a = s->child_off[tails[i]]; a < s->child_off[tails[i] + 1]; a++)
            if (is_long(x, tails[i], a) && x->two[s->place[s->child[a]]] >> i & 1) {
                x->shortcut[a] = true;
                s->shortcuts++;
            }
    memset(x->one + from, 0, ((size_t)end - from + 1) * sizeof *x->one);
    memset(x->two + from, 0, ((size_t)end - from + 1) * sizeof *x->two);
}

/* Tails with long arcs are gathered in topological order, 64 at a time, and their window swept if
 * the budget allows. */
void skeleton_remove_shortcuts(struct skeleton *s, uint64_t budget)
{
    uint32_t n = s->n, tails[64], count = 0;
    struct sweeper x = {.s = s, .level = mem_new_zero(uint32_t, n)};
    size_t longs = 0;
    if (!budget)
        budget = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = s->topo[i];
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            if (x.level[s->child[a]] < x.level[t] + 1)
                x.level[s->child[a]] = x.level[t] + 1;
    }
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            longs += is_long(&x, t, a);
    if (longs) {
        x.one = mem_new_zero(uint64_t, n);
        x.two = mem_new_zero(uint64_t, n);
        x.shortcut = mem_new_zero(bool, s->child_off[n]);
        x.arcs_before = mem_new(uint64_t, (size_t)n + 1);
        x.arcs_before[0] = 0;
        for (uint32_t i = 0; i < n; i++)
            x.arcs_before[i + 1] =
                x.arcs_before[i] + s->child_off[s->topo[i] + 1] - s->child_off[s->topo[i]];
        for (uint32_t i = 0; i <= n; i++) {
            uint32_t t = i < n ? s->topo[i] : NONE;
            bool has_long = false;
            for (uint32_t a = i < n ? s->child_off[t] : 0; i < n && a < s->child_off[t + 1]; a++)
                has_long |= is_long(&x, t, a);
            if (has_long)
                tails[count++] = t;
            if (!count || (count < 64 && i < n))
                continue;
            uint32_t end;
            uint64_t cost = window_cost(&x, tails, count, &end);
            if (cost <= budget) {
                sweep_window(&x, tails, count, end);
                budget -= cost;
            } else {
                for (uint32_t k = 0; k < count; k++)
                    for (uint32_t a = s->child_off[tails[k]]; a < s->child_off[tails[k] + 1]; a++)
                        s->undecided += is_long(&x, tails[k], a);
            }
            count = 0;
        }
        skeleton_drop_arcs(s, x.shortcut);
    }
    free(x.level);
    free(x.one);
    free(x.two);
    free(x.arcs_before);
    free(x.shortcut);
}
