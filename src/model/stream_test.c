/* The worked examples of the report: Figures 1, 2 and 3, and the two tasks of section 4.1.3. */
#include "model/stream.h"
#include "model/builder.h"
#include "tap.h"

struct example {
    const char *name;
    uint32_t ntasks;
    double time[8];
    double edges[10][3]; /* from, to, seconds; a row of zeros ends them */
    uint32_t nclusters;
    const char *clusters[8]; /* tasks A, B ... of each; a duplicate in lower case */
    uint32_t procs, ports;
    double throughput, latency, cycle[5];
};

#define FIGURE_1                                                                                   \
    7, {10, 10, 10, 10, 10, 10, 10},                                                               \
    {                                                                                              \
        {0, 1, 8}, {0, 2, 8}, {2, 3, 8}, {2, 4, 8}, {2, 5, 8}, {1, 6, 8}, {3, 6, 8}, {4, 6, 8},    \
        {                                                                                          \
            5, 6, 8                                                                                \
        }                                                                                          \
    }

static const struct example examples[] = {
    {"Figure 1, mapping A, k = 2", FIGURE_1, 3, {"ABEG", "aCD", "acF"}, 1, 2, 1.0 / 40, 48, {0}},
    {"Figure 1, mapping A, k unlimited",
     FIGURE_1,
     3,
     {"ABEG", "aCD", "acF"},
     1,
     0,
     1.0 / 40,
     48,
     {0}},
    {"Figure 1, mapping B, k = 2",
     FIGURE_1,
     4,
     {"ACEG", "acD", "acF", "B"},
     1,
     2,
     1.0 / 40,
     56,
     {0}},
    {"Figure 1, mapping B, k unlimited",
     FIGURE_1,
     4,
     {"ACEG", "acD", "acF", "B"},
     1,
     0,
     1.0 / 40,
     48,
     {0}},
    {"Figure 2, k = 1",
     4,
     {10, 10, 10, 10},
     {{0, 1, 8}, {0, 2, 5}, {1, 3, 9}, {2, 3, 9}},
     4,
     {"A", "B", "C", "D"},
     1,
     1,
     1.0 / 18,
     56,
     {13, 17, 18, 18}},
    {"Figure 3 without duplication",
     4,
     {4, 7, 5, 5},
     {{0, 1, 4}, {0, 2, 2}, {1, 3, 6}, {2, 3, 3}},
     2,
     {"ABD", "C"},
     1,
     0,
     1.0 / 16,
     19,
     {0}},
    {"Figure 3 with duplication",
     4,
     {4, 7, 5, 5},
     {{0, 1, 4}, {0, 2, 2}, {1, 3, 6}, {2, 3, 3}},
     2,
     {"ABD", "aC"},
     1,
     0,
     1.0 / 16,
     17,
     {0}},
    {"section 4.1.3, one replica",
     2,
     {10, 10},
     {{0, 1, 50}},
     2,
     {"A", "B"},
     1,
     1,
     1.0 / 50,
     70,
     {50, 50}},
    {"section 4.1.3, two replicas",
     2,
     {10, 10},
     {{0, 1, 50}},
     2,
     {"A", "B"},
     2,
     1,
     2.0 / 50,
     70,
     {50, 50}},
};

static struct workflow *graph_of(const struct example *x)
{
    struct builder *b = builder_new("<example>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < x->ntasks; t++)
        builder_work(b, builder_task(b, name, (size_t)sprintf(name, "t%u", t + 1), 0), x->time[t],
                     0);
    for (int e = 0; e < 10 && x->edges[e][2] > 0; e++)
        builder_data_edge(b, (uint32_t)x->edges[e][0], (uint32_t)x->edges[e][1], x->edges[e][2], 0);
    return builder_finish(b, &err);
}

static struct platform *nodes(void)
{
    struct platform_builder *b = platform_builder_new("<equal>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, 1, 0, NAN, 0);
    for (int i = 0; i < 8; i++)
        platform_builder_node(b, name, (size_t)sprintf(name, "n%d", i), 0);
    return platform_builder_finish(b, &err);
}

static void test_example(const struct example *x, const struct platform *p)
{
    struct workflow *w = graph_of(x);
    struct stream_graph *g = stream_graph_new(w, p);
    struct stream_work *work = stream_work_new(g);
    struct stream_estimate e = {0};
    uint32_t off[9], cluster[32], home[8] = {0}, procs[8], copies = 0;
    for (uint32_t t = 0; t < x->ntasks; t++) {
        off[t] = copies;
        for (uint32_t c = 0; c < x->nclusters; c++) {
            bool at_home = strchr(x->clusters[c], 'A' + (int)t);
            if (!at_home && !strchr(x->clusters[c], 'a' + (int)t))
                continue;
            if (at_home)
                home[t] = c;
            cluster[copies++] = c;
        }
    }
    off[x->ntasks] = copies;
    for (uint32_t c = 0; c < x->nclusters; c++)
        procs[c] = x->procs;
    struct stream_map map = {x->nclusters, off, cluster, home, procs, NULL, NULL};
    ok(stream_estimate(work, &map, x->ports, INFINITY, NULL, &e), "%s", x->name);
    is_dbl(e.throughput, x->throughput, 1e-12, "%s: throughput", x->name);
    is_dbl(e.latency, x->latency, 1e-9, "%s: latency", x->name);
    for (uint32_t c = 0; c < x->nclusters && x->cycle[c] > 0; c++)
        is_dbl(e.ports.at[c].cycle, x->cycle[c], 1e-9, "%s: minimum cycle time of k%u", x->name,
               c + 1);
    ok(!stream_estimate(work, &map, x->ports, x->latency * 0.9, NULL, &e),
       "%s: not within nine tenths of it", x->name);
    stream_estimate_free(&e);
    stream_work_free(work);
    stream_graph_free(g);
    workflow_free(w);
}

/* Figure 2 where one node has two ports and the others one, by hand. With two at P1: e1,2 [0, 8)
 * and e1,3 [0, 5) side by side, e2,4 [8, 17), e3,4 [17, 26) (the gap of 8 before e2,4 on P4 is too
 * short): P3's channel lasts 26, and one item still waits for P4. With two at P4: e1,2 [0, 8), e1,3
 * [8, 13), e2,4 [8, 17), e3,4 [13, 22): P2's 17 is the longest. An item alone sends e3,4 [25, 34)
 * before e2,4 with two at P1. */
static void test_own_ports(void)
{
    static const struct {
        uint32_t node;
        double throughput, latency, item;
    } cases[] = {{0, 1.0 / 26, 56, 53}, {3, 1.0 / 17, 52, 52}};
    const struct example *x = NULL;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (strcmp(examples[i].name, "Figure 2, k = 1") == 0)
            x = &examples[i];
    struct workflow *w = graph_of(x);
    uint32_t off[] = {0, 1, 2, 3, 4}, each[] = {0, 1, 2, 3}, procs[] = {1, 1, 1, 1};
    for (size_t i = 0; i < 2; i++) {
        struct platform_builder *b = platform_builder_new("<ports>");
        struct error err = {0};
        platform_builder_network(b, 1, 0, 1, 0);
        for (uint32_t k = 0; k < 4; k++)
            platform_builder_node(b, (const char[]){(char)('a' + k)}, 1, 0);
        platform_builder_ports(b, cases[i].node, 2, 0);
        struct platform *p = platform_builder_finish(b, &err);
        struct stream_graph *g = stream_graph_new(w, p);
        struct stream_work *work = stream_work_new(g);
        struct stream_estimate e = {0};
        struct stream_map map = {4, off, each, each, procs, off, each};
        ok(!g->uniform, "nodes with other ports are not alike");
        stream_estimate(work, &map, 0, INFINITY, NULL, &e);
        is_dbl(e.throughput, cases[i].throughput, 1e-12, "two ports at P%u: throughput",
               cases[i].node + 1);
        is_dbl(e.latency, cases[i].latency, 1e-9, "two ports at P%u: latency", cases[i].node + 1);
        stream_estimate(work, &map, 1, INFINITY, NULL, &e);
        is_dbl(e.throughput, 1.0 / 18, 1e-12, "one everywhere, when asked for");
        map.nodes = map.node_off = NULL;
        stream_estimate(work, &map, 0, INFINITY, NULL, &e);
        is_dbl(e.throughput, 1.0 / 18, 1e-12, "the fewest, where nodes are not said");
        uint32_t processor[] = {0, 1, 2, 3};
        is_dbl(stream_item(work, 4, each, 0, processor), cases[i].item, 1e-9,
               "one item alone, two ports at P%u", cases[i].node + 1);
        stream_estimate_free(&e);
        stream_work_free(work);
        stream_graph_free(g);
        platform_free(p);
    }
    workflow_free(w);
}

int main(void)
{
    TAP_DO(test_own_ports());
    struct platform *p = nodes();
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        TAP_DO(test_example(&examples[i], p));
    platform_free(p);
    return tap_done();
}
