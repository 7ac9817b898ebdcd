/* The worked examples of OSU-CISRC-4/08-TR17: Figures 1 to 3 and section 4.1.3, by our estimates, with the
 * published numbers beside them. The report's drawings are lost: Figure 1 and its mappings are what its text
 * leaves possible; Figure 3 is a graph with the published optima. */
#include "study/mos_study.h"

#include "model/builder.h"
#include "model/stream.h"
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>

enum { EXAMPLE_TASKS = 8, EXAMPLE_CLUSTERS = 4 };

struct example_edge {
    uint32_t from, to;
    double weight;
};

/* Tasks t1, t2 ... are numbers 0, 1 ... here. */
struct example {
    double time[EXAMPLE_TASKS];
    uint32_t ntasks;
    struct example_edge edges[12];
};

/* Which tasks stand in each cluster (bits), where each task is at home, replicas of all. */
struct example_mapping {
    uint32_t tasks[EXAMPLE_CLUSTERS], nclusters;
    uint32_t home[EXAMPLE_TASKS];
    uint32_t replicas;
};

/*      ┌─▶ t2 ───────────┐
 *     t1                 ▼
 *      └─▶ t3 ─▶ t4, t5, t6 ─▶ t7                                                                    */
static const struct example figure_1 = {{10, 10, 10, 10, 10, 10, 10},
                                        7,
                                        {{0, 1, 8},
                                         {0, 2, 8},
                                         {2, 3, 8},
                                         {2, 4, 8},
                                         {2, 5, 8},
                                         {1, 6, 8},
                                         {3, 6, 8},
                                         {4, 6, 8},
                                         {5, 6, 8}}};
static const struct example_mapping mapping_a = {
    {0x53, 0x0d, 0x25}, 3, {0, 0, 1, 1, 0, 2, 0}, 1}; /* {t1 t2 t5 t7} {t1' t3 t4} {t1'' t3' t6} */
static const struct example_mapping mapping_b = {{0x55, 0x0d, 0x25, 0x02},
                                                 4,
                                                 {0, 3, 0, 1, 0, 2, 0},
                                                 1}; /* {t1 t3 t5 t7} {t1' t3' t4} ... {t2} */
static const struct example figure_2 = {
    {10, 10, 10, 10}, 4, {{0, 1, 8}, {0, 2, 5}, {1, 3, 9}, {2, 3, 9}}};
static const struct example_mapping each_apart = {{1, 2, 4, 8}, 4, {0, 1, 2, 3}, 1};
static const struct example figure_3 = {
    {4, 7, 5, 5}, 4, {{0, 1, 4}, {0, 2, 2}, {1, 3, 6}, {2, 3, 3}}};
static const struct example section_413 = {{10, 10}, 2, {{0, 1, 50}}};
static const struct example_mapping two_apart = {{1, 2}, 2, {0, 1}, 1};
static const struct example_mapping two_twice = {{1, 2}, 2, {0, 1}, 2};

static struct workflow *example_graph(const struct example *x, struct error *err)
{
    struct builder *b = builder_new("<example>", "example");
    char name[16];
    for (uint32_t i = 0; i < x->ntasks; i++) {
        uint32_t t = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i + 1), 0);
        builder_work(b, t, x->time[i], 0);
    }
    for (uint32_t i = 0; i < 12 && x->edges[i].weight > 0; i++)
        builder_data_edge(b, x->edges[i].from, x->edges[i].to, x->edges[i].weight, 0);
    return builder_finish(b, err);
}

/* The estimate of one mapping; ports 0: no limit. False: an error. */
static bool example_estimate(const struct mos_study *s, const struct example *x,
                             const struct example_mapping *m, uint32_t ports,
                             struct stream_estimate *out)
{
    uint32_t off[EXAMPLE_TASKS + 1], cluster[EXAMPLE_TASKS * EXAMPLE_CLUSTERS];
    uint32_t procs[EXAMPLE_CLUSTERS], n = 0;
    struct workflow *w = example_graph(x, s->err);
    if (!w)
        return false;
    for (uint32_t t = 0; t < x->ntasks; t++) {
        off[t] = n;
        for (uint32_t c = 0; c < m->nclusters; c++)
            if (m->tasks[c] >> t & 1)
                cluster[n++] = c;
    }
    off[x->ntasks] = n;
    for (uint32_t c = 0; c < m->nclusters; c++)
        procs[c] = m->replicas;
    struct stream_map map = {m->nclusters, off, cluster, m->home, procs, NULL, NULL};
    struct stream_graph *g = stream_graph_new(w, s->platform);
    struct stream_work *work = stream_work_new(g);
    *out = (struct stream_estimate){0};
    stream_estimate(work, &map, ports, INFINITY, NULL, out);
    stream_work_free(work);
    stream_graph_free(g);
    workflow_free(w);
    return true;
}

static void example_row(struct mos_study *s, const char *where, const char *what, double published,
                        double ours)
{
    bool same = fabs(published - ours) < 1e-9 * fabs(published);
    s->examples++;
    s->examples_agree += same;
    strbuf_printf(&s->md, "| %s | %s | %g | %g%s |\n", where, what, published, ours,
                  same ? "" : " **differs**");
}

/* One latency of a mapping beside the published one. */
static bool example_latency(struct mos_study *s, const char *where, const char *what,
                            const struct example *x, const struct example_mapping *m,
                            uint32_t ports, double published)
{
    struct stream_estimate e;
    if (!example_estimate(s, x, m, ports, &e))
        return false;
    example_row(s, where, what, published, e.latency);
    stream_estimate_free(&e);
    return true;
}

/* Figure 2: one channel a processor, so the cycle times are in the order of the processors. */
static bool example_figure_2(struct mos_study *s)
{
    static const double published[] = {13, 17, 18, 18};
    struct stream_estimate e;
    if (!example_estimate(s, &figure_2, &each_apart, 1, &e))
        return false;
    for (uint32_t i = 0; i < 4 && i < e.ports.n; i++) {
        char what[32];
        snprintf(what, sizeof what, "minCT(k%u)", i + 1);
        example_row(s, "Figure 2", what, published[i], e.ports.at[i].cycle);
    }
    example_row(s, "Figure 2", "1 / throughput", 18, 1 / e.throughput);
    example_row(s, "Figure 2", "latency", 56, e.latency);
    stream_estimate_free(&e);
    return true;
}

static bool example_section_413(struct mos_study *s)
{
    struct stream_estimate e;
    if (!example_estimate(s, &section_413, &two_apart, 0, &e))
        return false;
    example_row(s, "4.1.3", "1 / throughput, 1 replica each", 50, 1 / e.throughput);
    stream_estimate_free(&e);
    if (!example_estimate(s, &section_413, &two_twice, 0, &e))
        return false;
    example_row(s, "4.1.3", "1 / throughput, 2 replicas each", 25, 1 / e.throughput);
    stream_estimate_free(&e);
    return true;
}

/* The least latency on so many processors: `stream` goes through all mappings of few tasks. */
static bool example_least(struct mos_study *s, const char *where, const char *what,
                          const struct example *x, const char *processors, const char *planner,
                          const char *ports, bool duplication, double published)
{
    struct platform *p = reproduction_equal_nodes(processors, "1", "0", s->err);
    struct workflow *w = p ? example_graph(x, s->err) : NULL;
    struct option_value options[] = {
        {"throughput", "0"}, {"ports", ports}, {"duplication", duplication ? "on" : "off"}};
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .replayer = s->o->replayer,
                                   .options = options,
                                   .noptions = 3,
                                   .seed = s->o->seed};
    struct plan *plan = w ? planner_run(planner_find(planner), &request, s->err) : NULL;
    if (plan)
        example_row(s, where, what, published, plan_objective(plan, "latency"));
    plan_free(plan);
    workflow_free(w);
    platform_free(p);
    return plan;
}

bool mos_examples(struct mos_study *s)
{
    strbuf_add(
        &s->md,
        "\n## Worked examples (Figures 1 to 3, section 4.1.3)\n\nThe graph and the mappings of "
        "Figure 1 are reconstructed from the text, "
        "the graph of Figure 3 is a stand-in with the published optima. Figure 2 and 4.1.3 are "
        "given in full.\n\n| where | quantity | published | ours |\n| --- | --- | --- | --- |\n");
    return example_latency(s, "Figure 1", "latency of mapping A, k unlimited", &figure_1,
                           &mapping_a, 0, 48) &&
           example_latency(s, "Figure 1", "latency of mapping B, k unlimited", &figure_1,
                           &mapping_b, 0, 48) &&
           example_latency(s, "Figure 1", "latency of mapping A, k = 2", &figure_1, &mapping_a, 2,
                           48) &&
           example_latency(s, "Figure 1", "latency of mapping B, k = 2", &figure_1, &mapping_b, 2,
                           56) &&
           example_least(s, "Figure 1", "latency that `mos` finds, k = 2", &figure_1, "32", "mos",
                         "2", true, 48) &&
           example_figure_2(s) &&
           example_least(s, "Figure 3", "least latency on 2 processors without duplication",
                         &figure_3, "2", "stream", "0", false, 19) &&
           example_least(s, "Figure 3", "least latency on 2 processors with duplication", &figure_3,
                         "2", "stream", "0", true, 17) &&
           example_section_413(s);
}
