/* Is `stream` optimal on small graphs, with duplicates? Judged by all mappings there are: every home
 * of every task, and every set of further copies, read or not. Past 5 tasks, copies of ancestors
 * only: others cannot be read. What a mapping is worth is judged apart from the planner
 * (mapping_judge.h). More and larger graphs with STREAM_TASKS=7 STREAM_GRAPHS=50. */
#include "plan/stream/mapping_judge.h"
#include "plan/stream/stream.h"
#include "plan/stream/stream_fixture.h"
#include "tap.h"

#include <math.h>

enum { TASKS = 7 };

struct brute {
    struct judge judge;
    double throughput, best;
    uint32_t n, nnodes, code[TASKS], nbits;
    struct {
        uint32_t task, cluster;
    } bit[TASKS * TASKS];
    uint32_t above[TASKS];
};

/* The latency of the mapping with these further copies, if it has the throughput. */
static void judge_copies(struct brute *b, uint32_t m, uint64_t copies)
{
    uint32_t in[TASKS];
    double latency;
    for (uint32_t t = 0; t < b->n; t++)
        in[t] = 1u << b->code[t];
    for (uint32_t k = 0; k < b->nbits; k++)
        if (copies >> k & 1)
            in[b->bit[k].task] |= 1u << b->bit[k].cluster;
    if (judge_mapping(&b->judge, m, in, b->code, b->throughput, b->nnodes, b->best, &latency))
        b->best = fmin(b->best, latency);
}

static void judge_homes(struct brute *b, bool duplication)
{
    uint32_t m = 0;
    for (uint32_t t = 0; t < b->n; t++)
        m = b->code[t] + 1 > m ? b->code[t] + 1 : m;
    b->nbits = 0;
    for (uint32_t t = 0; t < b->n && duplication; t++)
        for (uint32_t c = 0; c < m; c++) {
            bool useful = b->n <= 5 && b->code[t] != c;
            for (uint32_t u = 0; u < b->n; u++)
                useful |= b->code[u] == c && b->code[t] != c && b->above[u] >> t & 1;
            if (useful) {
                b->bit[b->nbits].task = t;
                b->bit[b->nbits++].cluster = c;
            }
        }
    for (uint64_t copies = 0; copies < (uint64_t)1 << b->nbits; copies++)
        judge_copies(b, m, copies);
}

/* Tasks one by one: each in a cluster that is there, or in a new one. */
static void choose_homes(struct brute *b, uint32_t t, uint32_t used, bool duplication)
{
    if (t == b->n) {
        judge_homes(b, duplication);
        return;
    }
    for (uint32_t c = 0; c <= used && c < b->n; c++) {
        b->code[t] = c;
        choose_homes(b, t + 1, c == used ? used + 1 : used, duplication);
    }
}

static double best_mapping(const struct workflow *w, const struct platform *p, double throughput,
                           bool duplication)
{
    struct brute b = {.judge = judge_of(w, p->ports), .throughput = throughput, .best = INFINITY};
    b.n = w->ntasks;
    b.nnodes = p->nnodes;
    for (uint32_t i = 0; i < b.n; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            b.above[t] |= b.above[w->pred_task[e]] | 1u << w->pred_task[e];
    }
    choose_homes(&b, 0, 0, duplication);
    double item = judge_item(&b.judge, p->nnodes);
    if (item * throughput <= 1 + 1e-9)
        b.best = fmin(b.best, item);
    return b.best;
}

static int number_of(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void test_all_mappings(void)
{
    static const double fractions[] = {1, 0.75, 0.5, 0.25, 0}, ccr[] = {0.1, 1, 10};
    int graphs = number_of("STREAM_GRAPHS", 150), most = number_of("STREAM_TASKS", 4);
    int runs = 0, exact[2] = {0}, below = 0, gains = 0;
    struct rng rng;
    rng_seed(&rng, (uint64_t)number_of("STREAM_SEED", 5));
    for (int round = 0; round < graphs; round++) {
        uint32_t n = 3 + (uint32_t)rng_below(&rng, (uint64_t)most - 2);
        struct workflow *w = random_stream(&rng, n, ccr[round % 3], true, round % 4 == 3);
        struct platform *p =
            equal_nodes(2 + (uint32_t)rng_below(&rng, 6), 1u << rng_below(&rng, 3));
        double total = 0, k = fractions[round % 5], best[2];
        char text[32];
        for (uint32_t t = 0; t < w->ntasks; t++)
            total += w->work[t];
        snprintf(text, sizeof text, "%gTmax", k);
        runs++;
        for (int copies = 0; copies < 2; copies++) {
            struct option_value options[] = {{"throughput", text},
                                             {"duplication", copies ? "on" : "off"}};
            struct plan_request request = {
                .workflow = w, .platform = p, .options = options, .noptions = 2, .seed = 1};
            struct error err = {0};
            struct plan *plan = planner_run(planner_find("stream"), &request, &err);
            double latency = plan ? plan_objective(plan, "latency") : INFINITY;
            best[copies] = best_mapping(w, p, k * p->nnodes / total, copies);
            exact[copies] += latency <= best[copies] * (1 + 1e-9);
            below += latency < best[copies] * (1 - 1e-9);
            if (latency > best[copies] * (1 + 1e-9))
                printf("# round %d: %u tasks, %u nodes, %s, copies %d: %g, best %g\n", round, n,
                       p->nnodes, text, copies, latency, best[copies]);
            plan_free(plan);
        }
        gains += best[1] < best[0] * (1 - 1e-9);
        platform_free(p);
        workflow_free(w);
    }
    is_int(below, 0, "nothing is below the optimum");
    is_int(exact[0], runs, "stream is optimal without duplicates (%d graphs)", runs);
    is_int(exact[1], runs, "and with them, which shorten %d of the graphs", gains);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_all_mappings)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
