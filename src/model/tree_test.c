/* Least memory against exhaustive search over all traversals of thousands of small trees, and on
 * paths that would overflow a stack. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/graph.h"
#include "model/tree.h"
#include "tap.h"

static struct workflow *random_tree(struct rng *r, uint32_t n, bool in, uint32_t range)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_memory(b, t, (double)rng_below(r, range), 0);
        builder_work(b, t, 1, 0);
    }
    uint32_t window = 1 + (uint32_t)rng_below(r, n); /* small: deep trees; large: bushy ones */
    for (uint32_t t = 1; t < n; t++) {
        uint32_t p = t - 1 - (uint32_t)rng_below(r, t < window ? t : window);
        double bytes = (double)rng_below(r, range);
        builder_data_edge(b, in ? t : p, in ? p : t, bytes, 0);
    }
    if (!in) { /* the root's own input */
        uint32_t o = builder_object(b, "input", 5);
        builder_size(b, o, (double)rng_below(r, range), 0);
        builder_consumes(b, 0, o, 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        ok(false, "%s", err.text);
    return w;
}

/* Least peak over all traversals from the root down, by dynamic programming over executed sets. */
static double exhaustive(const struct tree *t, uint32_t root, const uint8_t *cut, bool strict)
{
    uint32_t n = t->n, member = 0;
    bool inside[16] = {0};
    for (uint32_t x = root; x < n; x++) {
        inside[x] = x == root || (t->parent[x] != NONE && inside[t->parent[x]] && !cut[x]);
        member |= inside[x] ? 1u << x : 0;
    }
    double *best = mem_new(double, 1u << n);
    for (uint32_t set = 0; set < 1u << n; set++)
        best[set] = INFINITY;
    best[0] = 0;
    for (uint32_t set = 0; set < 1u << n; set++) {
        if (isinf(best[set]) || set & ~member)
            continue;
        double pending = set & 1u << root ? 0 : t->file[root];
        for (uint32_t x = 0; x < n; x++)
            if (inside[x] && x != root && !(set >> x & 1) && set >> t->parent[x] & 1)
                pending += t->file[x];
        for (uint32_t x = 0; x < n; x++) {
            bool ready = inside[x] && !(set >> x & 1) && (x == root || set >> t->parent[x] & 1);
            if (!ready)
                continue;
            double needs = pending + t->memory[x];
            for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
                needs += inside[c] || strict ? t->file[c] : 0;
            uint32_t after = set | 1u << x;
            best[after] = fmin(best[after], fmax(best[set], needs));
        }
    }
    double least = best[member];
    free(best);
    return least;
}

static void test_small(void)
{
    struct rng r;
    rng_seed(&r, 2023);
    int rounds = 4000, wrong = 0, wrong_order = 0, wrong_post = 0;
    for (int i = 0; i < rounds; i++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, 10);
        struct workflow *w = random_tree(&r, n, i & 1, i & 2 ? 4 : 100);
        struct tree *t = tree_new(w, NULL);
        struct tree_memory *m = tree_memory_new(t);
        uint8_t cut[16] = {0};
        for (uint32_t x = 1; x < n; x++)
            cut[x] = i & 4 ? rng_below(&r, 4) == 0 : 0;
        uint32_t root = (uint32_t)rng_below(&r, n), order[16], count;
        for (int strict = 0; strict < 2; strict++) {
            enum tree_count counting = strict ? TREE_STRICT : TREE_LENIENT;
            double want = exhaustive(t, root, cut, strict);
            double got = tree_least_memory(m, root, cut, counting, order, &count);
            wrong += got != want;
            if (t->in) /* reversed for the judge, which goes from the root down */
                for (uint32_t k = 0; k < count / 2; k++) {
                    uint32_t swap = order[k];
                    order[k] = order[count - 1 - k];
                    order[count - 1 - k] = swap;
                }
            wrong_order += tree_peak_of_order(t, order, count, counting) != want;
            double post = tree_best_postorder(m, root, cut, counting, order, &count);
            if (t->in)
                for (uint32_t k = 0; k < count / 2; k++) {
                    uint32_t swap = order[k];
                    order[k] = order[count - 1 - k];
                    order[count - 1 - k] = swap;
                }
            wrong_post += post < want || tree_peak_of_order(t, order, count, counting) != post;
        }
        tree_memory_free(m);
        tree_free(t);
        workflow_free(w);
    }
    is_int(wrong, 0, "least memory equals exhaustive search on %d parts of random trees",
           2 * rounds);
    is_int(wrong_order, 0, "and its order reaches it");
    is_int(wrong_post, 0, "the best postorder is never less, and is what it says");
}

static void test_large(void)
{
    /* A path of 1,000,000 and a random tree of 50,000: no recursion, a moment each. */
    struct rng r;
    rng_seed(&r, 3);
    uint32_t sizes[] = {1000000, 50000};
    for (int i = 0; i < 2; i++) {
        struct builder *b = builder_new("<test>", "test");
        char name[16];
        for (uint32_t t = 0; t < sizes[i]; t++) {
            builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", t), 0);
            builder_memory(b, t, (double)rng_below(&r, 1000), 0);
        }
        for (uint32_t t = 1; t < sizes[i]; t++)
            builder_data_edge(b, i ? (uint32_t)rng_below(&r, t) : t - 1, t,
                              1 + (double)rng_below(&r, 1000), 0);
        struct workflow *w = builder_finish(b, NULL);
        struct tree *t = tree_new(w, NULL);
        struct tree_memory *m = tree_memory_new(t);
        uint32_t *order = mem_new(uint32_t, sizes[i]), count;
        double start = clock_seconds();
        double peak = tree_least_memory(m, 0, NULL, TREE_STRICT, order, &count);
        printf("# %u nodes: %.4f s\n", sizes[i], clock_seconds() - start);
        ok(count == sizes[i] && tree_peak_of_order(t, order, count, TREE_STRICT) == peak,
           "a tree of %u nodes", sizes[i]);
        ok(peak >= tree_largest_need(t), "its peak is at least its largest need");
        free(order);
        tree_memory_free(m);
        tree_free(t);
        workflow_free(w);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_small),
        TAP_CASE(test_large),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
