/* One workflow from skeleton to order and verdict; study.h says what comes out.
 *
 *    phase --> one block of the catalogue? --> linearisation by priority, swept sums --> by atoms
 *                                                                                       |  no
 *             prio's ratios, if better <-- greedy <-- Sidney <-- exact search <---------+
 *
 * Each phase by the first route that settles it. The verdict of the whole is that of its weakest
 * phase, and areas add up (skeleton.h, phases). Sinks come last (Lemma 2.1).
 *
 * Default efforts: 400,000 ideals a search and 800,000 in all, tables of 2^28 entries in all, 2 x
 * 10^8 arc visits of flows: a few seconds at worst. */
#include "plan/order/study.h"
#include "base/mem.h"
#include "base/plural.h"
#include "plan/order/explain.h"
#include "plan/order/greedy.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void study_options_init(struct order_study_options *o)
{
    *o = (struct order_study_options){
        .effort = {.ideals = 400000,
                   .ideals_left = 800000,
                   .tables_left = (uint64_t)1 << 28,
                   .flow_left = 200000000,
                   .flow_arcs = 4000000,
                   .largest = UINT32_MAX},
        .shortcut_budget = 400000000,
    };
}

void study_free(struct order_study *s)
{
    free(s->order);
    strbuf_free(&s->why);
    *s = (struct order_study){0};
}

/* How phases were decided, for the sentence at the end. */
enum study_route {
    BY_BLOCK,
    BY_PRIORITY,
    BY_SWEEP,
    BY_ATOMS,
    BY_SEARCH,
    BY_SIDNEY,
    BY_SUM,
    BY_GREEDY,
    BY_RATIO,
    ROUTES
};

/* The state of one call. */
struct study_run {
    struct order_study *out;
    const struct workflow *w;
    struct order_study_options o;
    struct skeleton *s;
    struct blocks b;
    uint32_t *local;
    uint32_t done;        /* tails ordered */
    uint64_t rendered;    /* heads of the phases so far */
    uint64_t area, bound; /* sums of R(t) */
    uint32_t routes[ROUTES], proofs[4];
    bool all_area; /* every phase so far has its largest area */
};

/* What was found out about one phase. */
struct verdict {
    enum proof proof;
    enum study_route route;
    uint64_t area, bound;
};

static uint32_t phase_tails(const struct study_run *r, uint32_t phase)
{
    return r->s->phase_off[phase + 1] - r->s->phase_off[phase];
}

/* The area of the tails just put at the end of the order: sum of heads rendered after each. */
static uint64_t area_of_phase(struct study_run *r, uint32_t phase)
{
    const struct skeleton *s = r->s;
    uint32_t *missing = r->local, rendered = 0;
    uint64_t area = 0;
    uint32_t first = s->phase_block[phase], end = s->phase_block[phase + 1];
    for (uint32_t i = s->head_off[first]; i < s->head_off[end]; i++)
        missing[s->head[i]] = s->parent_off[s->head[i] + 1] - s->parent_off[s->head[i]];
    for (uint32_t i = 0; i < phase_tails(r, phase); i++) {
        uint32_t t = r->out->order[r->done + i];
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            rendered += --missing[s->child[a]] == 0;
        area += rendered;
    }
    return area;
}

static uint32_t phase_heads(const struct study_run *r, uint32_t phase)
{
    const struct skeleton *s = r->s;
    return s->head_off[s->phase_block[phase + 1]] - s->head_off[s->phase_block[phase]];
}

/* No order of the phase renders more than the concave envelope of its blocks' profiles (of the
 * shares of a block's tails where its best profile is not known). */
static uint64_t block_bound(const struct study_run *r, uint32_t phase)
{
    const struct skeleton *s = r->s;
    ARRAY(struct slope) slopes = {0};
    for (uint32_t b = s->phase_block[phase]; b < s->phase_block[phase + 1]; b++) {
        const struct order_shape *x = blocks_shape(&r->b, b);
        if (r->b.all[b].proof == PROOF_IC) {
            for (uint32_t k = 0; k < x->natoms; k++)
                array_push(&slopes, (struct slope){(double)x->atoms[k].gain / x->atoms[k].length,
                                                   x->atoms[k].length});
            continue;
        }
        for (uint32_t i = s->tail_off[b]; i < s->tail_off[b + 1]; i++) {
            double share = 0;
            for (uint32_t a = s->child_off[s->tail[i]]; a < s->child_off[s->tail[i] + 1]; a++)
                share += 1.0 / (s->parent_off[s->child[a] + 1] - s->parent_off[s->child[a]]);
            array_push(&slopes, (struct slope){share, 1});
        }
    }
    uint64_t bound = slopes_bound(slopes.at, slopes.n, phase_heads(r, phase));
    array_free(&slopes);
    return bound;
}

static void study_take_order(struct study_run *r, const uint32_t *order, uint32_t n)
{
    memcpy(r->out->order + r->done, order, n * sizeof *order);
}

/* ---- the theory ---- */

/* The paper's ways. False: not settled; v->proof PROOF_NONE then says that the phase is refuted. */
static bool try_theory(struct study_run *r, uint32_t phase, struct verdict *v)
{
    struct skeleton *s = r->s;
    uint32_t first = s->phase_block[phase], end = s->phase_block[phase + 1];
    bool only_ic = true;
    for (uint32_t b = first; b < end; b++)
        only_ic &= r->b.all[b].proof == PROOF_IC && (r->o.method != METHOD_PAPER || !s->merged[b]);
    if (end - first == 1 && r->o.method != METHOD_PAPER) {
        const struct order_block *b = &r->b.all[first];
        if (b->proof == PROOF_GUESS)
            return false; /* the phase's own attempt may fare better */
        study_take_order(r, s->tail + s->tail_off[first], phase_tails(r, phase));
        bool is_known = b->entry.family != FAMILY_NONE, is_search = b->proof != PROOF_AREA;
        *v = (struct verdict){.proof = b->proof,
                              .route = is_known    ? BY_BLOCK
                                       : is_search ? BY_SEARCH
                                                   : BY_SIDNEY,
                              .bound = b->bound};
        return true;
    }
    if (!only_ic)
        return false;
    struct linear l;
    bool good = linear_by_priority(&r->b, phase, &l);
    if (r->o.explain)
        explain_linear(&r->b, phase, &l, good, r->o.explain);
    bool swept = good && l.elements.n < l.sequence.n, refuted = l.refuted;
    if (good)
        study_take_order(r, l.order.at, (uint32_t)l.order.n);
    linear_free(&l);
    if (!good && !refuted && r->o.method != METHOD_PAPER) {
        good = linear_by_atoms(&r->b, phase, &l);
        if (good) {
            study_take_order(r, l.order.at, (uint32_t)l.order.n);
            if (r->o.explain)
                strbuf_add(r->o.explain, "all atoms by falling slope: an order is found\n");
        }
        linear_free(&l);
        *v = (struct verdict){.proof = PROOF_IC, .route = BY_ATOMS};
    } else {
        *v = (struct verdict){.proof = PROOF_IC, .route = swept ? BY_SWEEP : BY_PRIORITY};
    }
    v->proof = refuted ? PROOF_NONE : PROOF_IC;
    return good;
}

/* ---- searches and heuristics ---- */

static void by_ratio(struct study_run *r, uint32_t phase, struct verdict *v)
{
    struct linear l;
    linear_by_ratio(&r->b, phase, &l);
    study_take_order(r, l.order.at, (uint32_t)l.order.n);
    linear_free(&l);
    *v = (struct verdict){.proof = PROOF_GUESS, .route = BY_RATIO, .bound = block_bound(r, phase)};
}

/* The phase as one piece, by search; where nothing is proved, prio's order competes. */
static void study_search_phase(struct study_run *r, uint32_t phase, struct verdict *v)
{
    struct order_piece *p = skeleton_phase_piece(r->s, phase, r->local);
    struct solution x;
    solve_piece(p, &r->o.effort, &x);
    uint32_t *order = r->out->order + r->done, n = p->ntails;
    const uint32_t *tails = r->s->phase_task + r->s->phase_off[phase];
    for (uint32_t i = 0; i < n; i++)
        order[i] = tails[x.order[i]];
    bool is_search = strncmp(x.route, "exact", 5) == 0,
         is_sidney = strncmp(x.route, "Sidney", 6) == 0;
    *v = (struct verdict){.proof = x.proof,
                          .route = is_search   ? BY_SEARCH
                                   : is_sidney ? BY_SIDNEY
                                               : BY_GREEDY,
                          .area = x.area,
                          .bound = x.bound};
    solution_free(&x);
    piece_free(p);
    if (v->area == v->bound && v->proof == PROOF_GUESS)
        v->proof = PROOF_AREA;
    if (v->area == v->bound)
        return;
    /* not proved: the better of this and the prio order, against the better of two bounds */
    uint64_t bound = block_bound(r, phase);
    v->bound = bound < v->bound ? bound : v->bound;
    uint32_t *kept = mem_new(uint32_t, n);
    memcpy(kept, order, n * sizeof *kept);
    struct verdict other;
    by_ratio(r, phase, &other);
    if (area_of_phase(r, phase) > v->area)
        v->route = BY_RATIO;
    else
        study_take_order(r, kept, n);
    free(kept);
}

/* By method; then the areas are summed over phases. */
static void decide_phase(struct study_run *r, uint32_t phase)
{
    struct verdict v = {0};
    bool refuted = false;
    if (r->o.method == METHOD_PRIO) {
        by_ratio(r, phase, &v);
    } else if (r->o.method == METHOD_AREA) {
        study_search_phase(r, phase, &v);
    } else if (!try_theory(r, phase, &v)) {
        refuted = v.proof == PROOF_NONE;
        if (r->o.method == METHOD_PAPER)
            by_ratio(r, phase, &v);
        else
            study_search_phase(r, phase, &v);
        if (refuted) {
            v.proof = PROOF_NONE;
            r->routes[BY_SUM]++;
        }
    }
    uint64_t area = area_of_phase(r, phase), tails = phase_tails(r, phase);
    if (v.proof == PROOF_IC || v.proof == PROOF_AREA)
        v.bound = area;
    r->all_area &= v.bound == area;
    if (v.bound == area && v.proof == PROOF_GUESS)
        v.proof = PROOF_AREA;
    r->routes[v.route]++;
    r->proofs[v.proof]++;
    r->area += area + r->rendered * tails;
    r->bound += v.bound + r->rendered * tails;
    r->rendered += phase_heads(r, phase);
    r->done += (uint32_t)tails;
}

/* ---- the whole ---- */

static const char *const route_names[ROUTES] = {
    "a block of the catalogue",
    "|>-linearisation of the super-dag",
    "|>-linearisation with swept sums",
    "atoms by falling slope",
    "exact search",
    "Sidney decomposition",
    "a sum that cannot be swept",
    "greedy",
    "prio's ratios",
};

/* From sums of R(t) to the AREA of eligible counts, and the proof as a sentence. */
static void study_conclude(struct study_run *r)
{
    struct order_study *out = r->out;
    uint64_t n = r->s->n, m = r->s->nonsinks, sources = r->s->sources;
    /* eligible(t) = S + R(t) - t up to m, then n - t */
    uint64_t base = sources * (m + 1) - m * (m + 1) / 2 + (n - m) * (n - m - (n > m)) / 2;
    if (n == m)
        base = sources * (m + 1) - m * (m + 1) / 2;
    out->area = base + r->area;
    out->bound = base + r->bound;
    out->area_proved = r->all_area;
    out->proof = r->proofs[PROOF_NONE]    ? PROOF_NONE
                 : r->proofs[PROOF_GUESS] ? PROOF_GUESS
                 : r->proofs[PROOF_AREA]  ? PROOF_AREA
                                          : PROOF_IC;
    struct strbuf *why = &out->why;
    strbuf_printf(why, "%u phase%s, %u block%s", out->nphases, plural(out->nphases), out->nblocks,
                  plural(out->nblocks));
    if (out->nmerged)
        strbuf_printf(why, " (%u not bipartite)", out->nmerged);
    for (uint32_t i = 0, any = 0; i < ROUTES; i++)
        if (r->routes[i]) {
            strbuf_printf(why, "%s%s", any++ ? ", " : "; by ", route_names[i]);
            if (out->nphases > 1)
                strbuf_printf(why, " (%u)", r->routes[i]);
        }
    if (out->proof == PROOF_NONE)
        strbuf_printf(why, "; %u phase%s no IC-optimal order", r->proofs[PROOF_NONE],
                      r->proofs[PROOF_NONE] == 1 ? " has" : "s have");
    if (out->proof != PROOF_IC && out->area_proved)
        strbuf_add(why, "; the AREA is the largest");
    if (!out->area_proved && out->bound)
        strbuf_printf(why, "; the AREA is at least %.4f of the largest",
                      floor(1e4 * (double)out->area / (double)out->bound) / 1e4);
}

/* Sinks last (Lemma 2.1), in topological order. */
static void add_sinks(struct study_run *r)
{
    uint32_t at = r->done;
    for (uint32_t i = 0; i < r->s->n; i++)
        if (r->s->phase[r->w->topo[i]] == NONE)
            r->out->order[at++] = r->w->topo[i];
}

/* Never fails: where nothing is proved, an order comes out with what is known about it. */
void study_run(struct order_study *out, const struct workflow *w,
               const struct order_study_options *options)
{
    struct study_run r = {.out = out, .w = w, .o = *options, .all_area = true};
    *out = (struct order_study){.order = mem_new(uint32_t, w->ntasks)};
    progress_report(options->progress, -1, "parsing into blocks");
    bool use_phases = options->method == METHOD_ALL || options->method == METHOD_AREA;
    r.s = skeleton_new(w, use_phases, options->shortcut_budget);
    blocks_solve(&r.b, r.s, &r.o.effort);
    r.local = mem_new_zero(uint32_t, w->ntasks);
    out->nphases = r.s->nphases;
    out->nblocks = r.s->nblocks;
    out->nmerged = r.s->nmerged;
    out->shortcuts = r.s->shortcuts;
    out->undecided = r.s->undecided;
    if (r.o.explain)
        explain_blocks(&r.b, w, r.o.explain);
    for (uint32_t q = 0; q < r.s->nphases; q++) {
        if (q % 1024 == 0)
            progress_report(options->progress, (double)q / r.s->nphases, "ordering phases");
        decide_phase(&r, q);
    }
    add_sinks(&r);
    study_conclude(&r);
    blocks_free(&r.b);
    skeleton_free(r.s);
    free(r.local);
}
