/* Graph algorithms against brute force on small random DAGs, and the model's promises on memory. */
#include "base/bitset.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/graph.h"
#include "tap.h"

static struct workflow *random_dag(struct rng *r, uint32_t n, double density)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        int len = snprintf(name, sizeof name, "t%u", t);
        builder_work(b, builder_task(b, name, (size_t)len, 0), (double)(1 + rng_below(r, 9)), 0);
    }
    /* A random relabelling, so that index order is not a topological order. */
    uint32_t *label = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        label[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(r, i), x = label[i - 1];
        label[i - 1] = label[j];
        label[j] = x;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (rng_unit(r) < density)
                builder_data_edge(b, label[i], label[j], (double)rng_below(r, 3), 0);
    free(label);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        ok(false, "random dag: %s", err.text);
    return w;
}

/* Reachability by Floyd-Warshall, on its own. */
static void naive_closure(const struct workflow *w, bool *reach)
{
    uint32_t n = w->ntasks;
    memset(reach, 0, n * n);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            reach[t * n + w->succ_task[e]] = true;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                reach[i * n + j] |= reach[i * n + k] && reach[k * n + j];
}

/* Largest antichain by trying every subset. */
static uint32_t naive_width(const bool *reach, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t set = 0; set < 1u << n; set++) {
        uint32_t size = (uint32_t)__builtin_popcount(set);
        bool free_set = size > best;
        for (uint32_t i = 0; i < n && free_set; i++)
            for (uint32_t j = 0; j < n && free_set; j++)
                free_set = !((set >> i & 1) && (set >> j & 1) && reach[i * n + j]);
        if (free_set)
            best = size;
    }
    return best;
}

static void test_against_brute_force(void)
{
    struct rng r;
    rng_seed(&r, 42);
    bool topo_ok = true, closure_ok = true, width_ok = true, reduced_ok = true, depth_ok = true;
    for (int round = 0; round < 300; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, 11);
        struct workflow *w = random_dag(&r, n, rng_unit(&r));
        bool reach[11 * 11];
        naive_closure(w, reach);
        uint32_t position[11], depth[11];
        for (uint32_t i = 0; i < n; i++)
            position[w->topo[i]] = i;
        graph_depths(w, depth);
        uint64_t *rows = graph_closure(w);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t longest = 0;
            for (uint32_t j = 0; j < n; j++) {
                topo_ok &= !reach[i * n + j] || position[i] < position[j];
                closure_ok &= bitset_get(rows + i * bitset_words(n), j) == reach[i * n + j];
                closure_ok &= i == j || graph_reaches(w, i, j) == reach[i * n + j];
                if (reach[j * n + i] && depth[j] > longest)
                    longest = depth[j];
            }
            depth_ok &= depth[i] == longest + 1;
        }
        free(rows);
        bool exact, shortcut[11 * 11];
        width_ok &= graph_width(w, UINT64_MAX, &exact) == naive_width(reach, n) && exact;
        reduced_ok &= graph_shortcuts(w, shortcut, 0) == 0;
        for (uint32_t t = 0; t < n; t++)
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
                bool other = false;
                for (uint32_t k = 0; k < n; k++)
                    other |= reach[t * n + k] && reach[k * n + w->succ_task[e]];
                reduced_ok &= shortcut[e] == other;
            }
        workflow_free(w);
    }
    ok(topo_ok, "topological order on 300 random dags");
    ok(depth_ok, "depths");
    ok(closure_ok, "closure and reachability");
    ok(width_ok, "width equals the largest antichain");
    ok(reduced_ok, "shortcuts equal the naive transitive reduction");
}

static void test_levels(void)
{
    /* a(2) -> b(3), c(4); b, c -> d(1); edges of 10 bytes but c -> d pure order */
    struct builder *b = builder_new("<test>", "test");
    uint32_t a = builder_task(b, "a", 1, 0), x = builder_task(b, "b", 1, 0);
    uint32_t c = builder_task(b, "c", 1, 0), d = builder_task(b, "d", 1, 0);
    double work[] = {2, 3, 4, 1};
    for (uint32_t t = 0; t < 4; t++)
        builder_work(b, t, work[t], 0);
    builder_data_edge(b, a, x, 10, 0);
    builder_data_edge(b, a, c, 10, 0);
    builder_data_edge(b, x, d, 10, 0);
    builder_edge(b, c, d, 0);
    struct workflow *w = builder_finish(b, NULL);
    double level[4];
    graph_bottom_levels(w, NULL, 1, 0.5, level);
    is_dbl(level[a], 2 + 6 + 3 + 6 + 1, 0, "bottom level with latency 1 and 0.5 s a byte");
    graph_top_levels(w, NULL, 1, 0.5, level);
    is_dbl(level[d], 2 + 6 + 3 + 6, 0, "top level");
    uint32_t path[4], length;
    is_dbl(graph_critical_path(w, NULL, path, &length), 7, 0, "critical path by work alone");
    ok(length == 3 && path[0] == a && path[1] == c && path[2] == d, "and its tasks");
    ok(graph_tree_shape(w) == TREE_NOT, "a diamond is no tree");
    is_int(graph_components(w, NULL), 1, "one component");
    workflow_free(w);
}

static void test_shapes(void)
{
    for (int direction = 0; direction < 2; direction++) {
        struct builder *b = builder_new("<test>", "test");
        for (int i = 0; i < 7; i++)
            builder_task(b, (char[]){(char)('a' + i)}, 1, 0);
        for (uint32_t i = 1; i < 7; i++)
            builder_data_edge(b, direction ? i : (i - 1) / 2, direction ? (i - 1) / 2 : i, 1, 0);
        struct workflow *w = builder_finish(b, NULL);
        ok(graph_tree_shape(w) == (direction ? TREE_IN : TREE_OUT), "tree shape");
        workflow_free(w);
    }
}

static void test_memory(void)
{
    /* 100,000 tasks, 500,000 edges with an object each: at most 200 bytes a task and 40 an edge. */
    struct rng r;
    rng_seed(&r, 7);
    uint32_t n = 100000, per = 5;
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < per; k++)
            builder_data_edge(b, (uint32_t)rng_below(&r, t), t, 8, 0);
    struct workflow *w = builder_finish(b, NULL);
    size_t bytes = workflow_bytes(w), edges = (size_t)w->nedges * 40;
    printf("# %zu bytes in all: %.1f a task after 40 an edge\n", bytes,
           bytes > edges ? (double)(bytes - edges) / n : 0.0);
    ok(bytes <= edges + (size_t)n * 200, "at most 200 bytes a task and 40 an edge");
    ok((double)w->nedges * 36 + (double)n * 100 > (double)bytes, "in fact 36 an edge, 100 a task");
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_against_brute_force),
        TAP_CASE(test_levels),
        TAP_CASE(test_shapes),
        TAP_CASE(test_memory),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
