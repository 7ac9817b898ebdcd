/* Exact search by table, by layers and on the dual agree; Sidney's decomposition keeps the largest
 * area; duals of best orders are best. */
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "plan/order/greedy.h"
#include "plan/order/ideals.h"
#include "plan/order/sidney.h"
#include "plan/order/skeleton.h"
#include "plan/order/solve.h"
#include "tap.h"

static struct workflow *random_workflow(struct rng *r, uint32_t n, double density)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t v = 1; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (rng_unit(r) < density)
                builder_edge(b, u, v, 0);
    return builder_finish(b, &err);
}

struct tally {
    int pieces, dual, sidney, order, bound, memo, solved;
};

static uint64_t area_of(const struct order_piece *p, const uint32_t *order, struct tally *tally)
{
    uint32_t *rise = mem_new(uint32_t, (size_t)p->ntails + 1);
    tally->order += !piece_rise(p, order, rise);
    uint64_t area = rise_area(rise, p->ntails);
    free(rise);
    return area;
}

static void compare(const struct order_piece *p, struct tally *tally)
{
    struct ideals mine, theirs;
    tally->pieces++;
    if (!ideals_solve(p, 1000000, &mine)) {
        tally->order++;
        return;
    }
    tally->order += area_of(p, mine.order, tally) != mine.area;
    /* the dual's best order, turned round, is as good */
    struct order_piece *dual = piece_dual(p);
    if (ideals_solve(dual, 1000000, &theirs)) {
        uint32_t *order = mem_new(uint32_t, p->ntails);
        piece_from_dual(p, dual, theirs.order, order);
        tally->dual += area_of(p, order, tally) != mine.area || theirs.is_ic != mine.is_ic;
        free(order);
        ideals_free(&theirs);
    }
    piece_free(dual);
    /* nothing searched but components */
    struct effort effort = {.ideals = 100000,
                            .ideals_left = 10000000,
                            .tables_left = 1u << 26,
                            .flow_left = 10000000,
                            .flow_arcs = 100000,
                            .largest = p->ntails > 1 ? p->ntails - 1 : 1};
    struct solution s;
    solve_piece(p, &effort, &s);
    tally->sidney += s.area > mine.area || s.bound < mine.area ||
                     area_of(p, s.order, tally) != s.area || (s.proof == PROOF_IC && !mine.is_ic) ||
                     (s.proof == PROOF_NONE && mine.is_ic) ||
                     ((s.proof == PROOF_IC || s.proof == PROOF_AREA) && s.area != mine.area);
    tally->solved += s.area == mine.area;
    solution_free(&s);
    struct slope *shares = mem_new(struct slope, p->ntails);
    greedy_shares(p, shares);
    tally->bound += slopes_bound(shares, p->ntails, p->nheads) < mine.area;
    free(shares);
    ideals_free(&mine);
}

static void test_random(uint32_t least, uint32_t range, double density, int cases)
{
    struct rng r;
    struct tally tally = {0};
    rng_seed(&r, least);
    while (tally.pieces < cases) {
        struct workflow *w = random_workflow(&r, least + (uint32_t)rng_below(&r, range), density);
        struct skeleton *s = skeleton_new(w, true, 0);
        uint32_t *local = mem_new_zero(uint32_t, w->ntasks);
        for (uint32_t q = 0; q < s->nphases; q++) {
            struct order_piece *p = skeleton_phase_piece(s, q, local);
            compare(p, &tally);
            piece_free(p);
        }
        free(local);
        skeleton_free(s);
        workflow_free(w);
    }
    is_int(tally.order, 0, "%u tasks and more: orders are orders, with the area they claim", least);
    is_int(tally.dual, 0, "the dual's best order is the best of the piece, turned round");
    is_int(tally.sidney, 0,
           "Sidney's decomposition claims nothing false (%d of %d reach the largest area)",
           tally.solved, tally.pieces);
    is_int(tally.bound, 0, "no area exceeds the bound by shares");
}

int main(void)
{
    TAP_DO(test_random(6, 8, 0.25, 400));
    test_random(16, 6, 0.15, 150); /* both the table and the layers are at work */
    return tap_done();
}
