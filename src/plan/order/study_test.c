/* IC-scheduling against a brute force of the test's own, which knows only the definition: eligible
 * = not run, all parents run. */
#include "base/rng.h"
#include "model/builder.h"
#include "plan/order/study.h"
#include "tap.h"

enum { MOST = 32, MOST_NONSINKS = 14 };

struct graph {
    uint32_t n;
    uint32_t parents[MOST]; /* masks; arcs go from lower to higher */
};

/* ---- the oracle ---- */

struct truth {
    uint32_t nonsinks, all;  /* mask of nonsinks */
    uint32_t most[MOST + 1]; /* largest eligible count after t */
    uint64_t area, sum_most;
    bool is_ic;
};

static uint32_t eligible_after(const struct graph *g, uint32_t run)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < g->n; v++)
        count += !(run >> v & 1) && (g->parents[v] & ~run) == 0;
    return count;
}

static void brute_force(const struct graph *g, struct truth *out)
{
    uint32_t nonsink[MOST], n = 0, all = 0;
    for (uint32_t v = 0; v < g->n; v++)
        all |= g->parents[v];
    for (uint32_t v = 0; v < g->n; v++)
        if (all >> v & 1)
            nonsink[n++] = v;
    *out = (struct truth){.nonsinks = n, .all = all};
    int64_t *best = malloc(sizeof *best << n);
    bool *chain = calloc((size_t)1 << n, 1);
    uint32_t *count = malloc(sizeof *count << n);
    for (uint32_t x = 0; x < 1u << n; x++) {
        uint32_t run = 0, size = 0;
        best[x] = -1;
        for (uint32_t i = 0; i < n; i++)
            if (x >> i & 1) {
                run |= 1u << nonsink[i];
                size++;
            }
        bool closed = true;
        for (uint32_t i = 0; i < n; i++)
            closed &= !(x >> i & 1) || (g->parents[nonsink[i]] & ~run) == 0;
        if (!closed)
            continue;
        count[x] = eligible_after(g, run);
        if (count[x] > out->most[size])
            out->most[size] = count[x];
        best[x] = x ? -1 : (int64_t)count[0];
        for (uint32_t i = 0; i < n; i++)
            if (x >> i & 1 && best[x ^ 1u << i] >= 0 && best[x ^ 1u << i] + count[x] > best[x])
                best[x] = best[x ^ 1u << i] + count[x];
    }
    chain[0] = true;
    for (uint32_t x = 1; x < 1u << n; x++)
        if (best[x] >= 0 && count[x] == out->most[__builtin_popcount(x)])
            for (uint32_t i = 0; i < n; i++)
                if (x >> i & 1 && chain[x ^ 1u << i])
                    chain[x] = true;
    out->is_ic = chain[(1u << n) - 1];
    out->area = (uint64_t)best[(1u << n) - 1];
    for (uint32_t t = n + 1; t <= g->n; t++) {
        out->most[t] = g->n - t;
        out->area += g->n - t;
    }
    for (uint32_t t = 0; t <= g->n; t++)
        out->sum_most += out->most[t];
    free(best);
    free(chain);
    free(count);
}

/* ---- random dags ---- */

static void random_pairs(struct graph *g, struct rng *r, uint32_t n, double density)
{
    g->n = n;
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (rng_unit(r) < density)
                g->parents[v] |= 1u << u;
}

static void layered(struct graph *g, struct rng *r)
{
    uint32_t before = 0, from = 0;
    for (uint32_t layer = 0; layer < 4 && g->n < 22; layer++) {
        uint32_t size = 2 + (uint32_t)rng_below(r, 4);
        for (uint32_t i = 0; i < size; i++, g->n++)
            for (uint32_t u = from; u < from + before; u++)
                if (rng_unit(r) < 0.45)
                    g->parents[g->n] |= 1u << u;
        from = g->n - size;
        before = size;
    }
}

/* Bipartite blocks glued by making sources of one sinks of those before. */
static void glued(struct graph *g, struct rng *r)
{
    for (uint32_t block = 0; block < 5 && g->n < 18; block++) {
        uint32_t tails[4], ntails = 1 + (uint32_t)rng_below(r, 4),
                           nheads = 1 + (uint32_t)rng_below(r, 4);
        for (uint32_t i = 0; i < ntails; i++) {
            tails[i] = g->n && rng_below(r, 3) ? (uint32_t)rng_below(r, g->n) : g->n++;
        }
        for (uint32_t h = 0; h < nheads && g->n < MOST - 4; h++) {
            uint32_t v = g->n++;
            g->parents[v] = 1u << tails[rng_below(r, ntails)];
            for (uint32_t i = 0; i < ntails; i++)
                if (rng_below(r, 2))
                    g->parents[v] |= 1u << tails[i];
        }
    }
}

/* A sum of small bipartite dags: what the Sweep is for. */
static void sum(struct graph *g, struct rng *r)
{
    for (uint32_t block = 0; block < 4; block++) {
        uint32_t first = g->n, ntails = 1 + (uint32_t)rng_below(r, 3),
                 nheads = 1 + (uint32_t)rng_below(r, 4);
        g->n += ntails;
        for (uint32_t h = 0; h < nheads; h++) {
            g->parents[g->n] = 1u << (first + rng_below(r, ntails));
            for (uint32_t i = 0; i < ntails; i++)
                if (rng_below(r, 3) == 0)
                    g->parents[g->n] |= 1u << (first + i);
            g->n++;
        }
    }
}

enum { KINDS = 6 };
static const char *const kind_names[KINDS] = {"random, sparse", "random, dense", "random, larger",
                                              "layered",        "glued blocks",  "sums"};

static struct graph make(int kind, struct rng *r)
{
    struct graph g = {0};
    switch (kind) {
    case 0:
        random_pairs(&g, r, 6 + (uint32_t)rng_below(r, 6), 0.2);
        break;
    case 1:
        random_pairs(&g, r, 6 + (uint32_t)rng_below(r, 8), 0.35);
        break;
    case 2:
        random_pairs(&g, r, 14 + (uint32_t)rng_below(r, 6), 0.12);
        break;
    case 3:
        layered(&g, r);
        break;
    case 4:
        glued(&g, r);
        break;
    case 5:
        sum(&g, r);
        break;
    }
    return g;
}

static struct workflow *workflow_of(const struct graph *g)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t v = 0; v < g->n; v++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", v), 0);
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t u = 0; u < g->n; u++)
            if (g->parents[v] >> u & 1)
                builder_edge(b, u, v, 0);
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

/* Eligible counts of an order by the definition; false: it runs a task too early. */
static bool counts_of(const struct graph *g, const uint32_t *order, uint32_t *counts,
                      uint64_t *area)
{
    uint32_t run = 0;
    *area = counts[0] = eligible_after(g, 0);
    for (uint32_t i = 0; i < g->n; i++) {
        if (run >> order[i] & 1 || g->parents[order[i]] & ~run)
            return false;
        run |= 1u << order[i];
        counts[i + 1] = eligible_after(g, run);
        *area += counts[i + 1];
    }
    return true;
}

struct tally {
    int dags, with_ic, found, by_paper, wrong, proved_none, without;
};

static const char *judge(const struct graph *g, const struct truth *t, const struct order_study *s)
{
    uint32_t counts[MOST + 2];
    uint64_t area;
    if (!counts_of(g, s->order, counts, &area))
        return "the order is not one";
    if (area != s->area)
        return "it claims another area than it has";
    if (s->bound < t->area)
        return "the bound is below the largest area";
    bool is_optimal = area == t->sum_most;
    if (s->proof == PROOF_IC && !is_optimal)
        return "claims IC-optimality falsely";
    if (s->proof == PROOF_NONE && t->is_ic)
        return "claims falsely that no IC-optimal order exists";
    if (s->area_proved && area != t->area)
        return "claims the largest area falsely";
    return NULL;
}

static void compare(const struct graph *g, struct tally *tally, const struct order_study_options *o)
{
    struct truth t;
    struct order_study s, paper;
    struct order_study_options by_paper = *o;
    brute_force(g, &t);
    struct workflow *w = workflow_of(g);
    study_run(&s, w, o);
    by_paper.method = METHOD_PAPER;
    study_run(&paper, w, &by_paper);
    const char *wrong = judge(g, &t, &s);
    if (!wrong)
        wrong = judge(g, &t, &paper);
    if (wrong && tally->wrong++ < 3) {
        printf("# %s:", wrong);
        for (uint32_t v = 0; v < g->n; v++)
            for (uint32_t u = 0; u < g->n; u++)
                if (g->parents[v] >> u & 1)
                    printf(" %u>%u", u, v);
        printf(" (%s)\n", strbuf_text(&s.why));
    }
    tally->dags++;
    tally->with_ic += t.is_ic;
    tally->without += !t.is_ic;
    tally->found += t.is_ic && s.proof == PROOF_IC;
    tally->proved_none += !t.is_ic && s.proof == PROOF_NONE;
    tally->by_paper += paper.proof == PROOF_IC;
    study_free(&s);
    study_free(&paper);
    workflow_free(w);
}

/* `restrained`: without exact search of whole phases, so that theory and certificates must carry
 * the claims. */
static void test_random(int cases, bool restrained)
{
    struct rng r;
    rng_seed(&r, restrained ? 77 : 20260607);
    struct order_study_options o;
    study_options_init(&o);
    if (restrained)
        o.effort.largest = 6;
    for (int kind = 0; kind < KINDS; kind++) {
        struct tally tally = {0};
        while (tally.dags < cases) {
            struct graph g = make(kind, &r);
            uint32_t all = 0;
            for (uint32_t v = 0; v < g.n; v++)
                all |= g.parents[v];
            if (__builtin_popcount(all) <= MOST_NONSINKS)
                compare(&g, &tally, &o);
        }
        is_int(tally.wrong, 0, "%s: every claim is true%s", kind_names[kind],
               restrained ? " without search of more than six tails" : "");
        if (restrained) {
            printf("# %s: %d of %d found, %d of %d refuted\n", kind_names[kind], tally.found,
                   tally.with_ic, tally.proved_none, tally.without);
            continue;
        }
        is_int(tally.found, tally.with_ic,
               "%s: %d of %d dags have an IC-optimal order, all found (the paper's procedure "
               "alone: %d)",
               kind_names[kind], tally.with_ic, tally.dags, tally.by_paper);
        is_int(tally.proved_none, tally.without, "%s: and the %d others are proved to have none",
               kind_names[kind], tally.without);
    }
}

int main(void)
{
    TAP_DO(test_random(600, false));
    TAP_DO(test_random(400, true));
    return tap_done();
}
