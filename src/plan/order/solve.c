/* The best order of one piece by what can be afforded: exact search, else Sidney's decomposition
 * with exact search inside components, else greedy. solve.h says what a proof means.
 *
 * Sidney's components are solved alone; that the whole is then AREA-maximal follows from Sidney's
 * theorem, that it is IC-optimal needs the certificates of 7.3 (is_certified()). */
#include "plan/order/solve.h"
#include "base/mem.h"
#include "plan/order/greedy.h"
#include "plan/order/ideals.h"
#include "plan/order/sidney.h"
#include <stdlib.h>
#include <string.h>

void solution_free(struct solution *s)
{
    free(s->order);
    *s = (struct solution){0};
}

/* Exact search within what is left of the effort, which all pieces share. */
static bool search_piece(const struct order_piece *p, struct effort *effort, struct ideals *out)
{
    if (p->ntails > effort->largest)
        return false;
    uint64_t cap = effort->ideals < effort->ideals_left ? effort->ideals : effort->ideals_left;
    uint32_t smaller = p->ntails < p->nheads ? p->ntails : p->nheads;
    uint64_t table = smaller <= IDEALS_TABLE ? (uint64_t)1 << smaller : 0;
    if (table > effort->tables_left || (!table && !cap))
        return false;
    bool done = ideals_solve(p, cap, out);
    if (table) {
        effort->tables_left -= table;
    } else {
        uint64_t used = done ? out->visited : cap;
        effort->ideals_left -= used < effort->ideals_left ? used : effort->ideals_left;
    }
    return done;
}

bool solve_exactly(const struct order_piece *p, struct effort *effort, struct solution *out)
{
    struct ideals i;
    if (!search_piece(p, effort, &i))
        return false;
    *out = (struct solution){.proof = i.is_ic ? PROOF_IC : PROOF_NONE,
                             .route = "exact search",
                             .order = i.order,
                             .area = i.area,
                             .bound = i.area};
    i.order = NULL;
    ideals_free(&i);
    return true;
}

static uint64_t area_of(const struct order_piece *p, const uint32_t *order)
{
    uint32_t *rise = mem_new(uint32_t, (size_t)p->ntails + 1);
    piece_rise(p, order, rise);
    uint64_t area = rise_area(rise, p->ntails);
    free(rise);
    return area;
}

/* ---- Sidney ---- */

/* A component between ideals, searched exactly if that was possible. */
struct component {
    struct ideals exact;
    bool is_exact;
    uint32_t tails, heads;
};

/* floor of a fraction with a positive denominator */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && a < 0);
}

/* No ideal of any size around component c reaches more than M_c inside it (7.3 of the
 * specification): then chains through all components are IC-optimal. */
static bool is_certified(const struct component *all, uint32_t count, uint32_t c)
{
    const struct component *x = &all[c];
    const uint32_t *m = x->exact.most;
    for (uint32_t t = 0; t <= x->tails; t++) {
        for (uint32_t k = 1; c > 0 && t + k <= x->tails; k++) {
            const struct component *y = &all[c - 1];
            int64_t bound =
                floor_div((int64_t)m[t + k] * y->tails - (int64_t)k * y->heads, y->tails);
            if (bound > m[t])
                return false;
        }
        for (uint32_t k = 1; c + 1 < count && k <= t; k++) {
            const struct component *y = &all[c + 1];
            int64_t bound =
                floor_div((int64_t)m[t - k] * y->tails + (int64_t)k * y->heads, y->tails);
            if (bound > m[t])
                return false;
        }
    }
    return true;
}

/* The concave envelope inside a component, rounded down at every step. */
static uint64_t envelope_bound(uint32_t tails, uint32_t heads)
{
    uint64_t sum = 0;
    for (uint64_t t = 1; t <= tails; t++)
        sum += t * heads / tails;
    return sum;
}

/* Components in order of density; the bound adds up exact areas, or envelopes where one was too
 * large. */
static bool solve_by_sidney(const struct order_piece *p, struct effort *effort,
                            struct solution *out)
{
    struct sidney s;
    if (piece_arcs(p) > effort->flow_arcs || !sidney_decompose(p, &effort->flow_left, &s))
        return false;
    uint32_t *position = mem_new(uint32_t, p->ntails), *last = mem_new_zero(uint32_t, p->nheads);
    uint32_t *order = mem_new(uint32_t, p->ntails), done = 0, inexact = 0;
    struct component *all = mem_new_zero(struct component, s.count);
    bool some_none = false, certified = true;
    uint64_t area = 0, bound = 0, rendered = 0;
    for (uint32_t i = 0; i < p->ntails; i++)
        position[s.order[i]] = i;
    for (uint32_t h = 0; h < p->nheads; h++)
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            last[h] = position[p->parent[a]] > last[h] ? position[p->parent[a]] : last[h];
    for (uint32_t c = 0; c < s.count; c++) {
        uint32_t from = s.off[c], tails = s.off[c + 1] - from;
        /* the component by itself: what came before is done */
        struct order_piece *inner = piece_between(p, s.order + from, tails, position, last, from);
        struct component *x = &all[c];
        x->tails = tails;
        x->heads = s.heads[c];
        x->is_exact = search_piece(inner, effort, &x->exact);
        uint32_t *local = order + done;
        if (x->is_exact) {
            memcpy(local, x->exact.order, tails * sizeof *local);
            some_none |= !x->exact.is_ic;
            bound += x->exact.area + rendered * tails;
        } else {
            greedy_order(inner, local);
            inexact++;
            bound += envelope_bound(tails, x->heads) + rendered * tails;
        }
        area += area_of(inner, local) + rendered * tails;
        rendered += x->heads;
        for (uint32_t i = 0; i < tails; i++)
            local[i] = s.order[from + local[i]];
        done += tails;
        piece_free(inner);
    }
    /* IC-optimal as a whole only with a certificate for each component */
    for (uint32_t c = 0; c < s.count && certified && !inexact; c++)
        certified = is_certified(all, s.count, c);
    out->proof = some_none ? PROOF_NONE : inexact ? PROOF_GUESS : certified ? PROOF_IC : PROOF_AREA;
    out->route = inexact ? "Sidney decomposition, greedy inside large components"
                         : "Sidney decomposition, exact inside components";
    out->order = order;
    out->area = area;
    out->bound = bound;
    for (uint32_t c = 0; c < s.count; c++)
        ideals_free(&all[c].exact);
    free(all);
    free(position);
    free(last);
    sidney_free(&s);
    return true;
}

/* Always an order. */
void solve_piece(const struct order_piece *p, struct effort *effort, struct solution *out)
{
    *out = (struct solution){0};
    if (solve_exactly(p, effort, out) || solve_by_sidney(p, effort, out))
        return;
    struct slope *shares = mem_new(struct slope, p->ntails);
    greedy_shares(p, shares);
    out->proof = PROOF_GUESS;
    out->route = "greedy";
    out->order = mem_new(uint32_t, p->ntails);
    greedy_order(p, out->order);
    out->area = area_of(p, out->order);
    out->bound = slopes_bound(shares, p->ntails, p->nheads);
    free(shares);
}
