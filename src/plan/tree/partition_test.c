/* The quotient tree under random changes against the same from scratch, and the memory of its
 * pieces against the exact algorithm of the model. */
#include "plan/tree/partition.h"
#include "plan/tree/fixture.h"

/* MS of the piece with this root by equation (1), from the cuts and the mapping alone. */
static double span_from_scratch(const struct partition *p, uint32_t x, uint32_t from_proc)
{
    const struct tree *t = p->s->t;
    uint32_t *nodes = mem_new(uint32_t, t->n), n = 0, proc = p->at[p->slot_of[x]].proc;
    double work = 0, longest = 0;
    nodes[n++] = x;
    for (uint32_t k = 0; k < n; k++) {
        work += t->work[nodes[k]];
        for (uint32_t c = t->child_off[nodes[k]]; c < t->child_off[nodes[k] + 1]; c++) {
            if (p->cut[c])
                longest = fmax(longest, span_from_scratch(p, c, proc)); /* tests: few pieces */
            else
                nodes[n++] = c;
        }
    }
    free(nodes);
    double transfer = x == 0 ? p->s->root_transfer : setting_transfer(p->s, from_proc, proc, x);
    return transfer + work / (proc == NONE ? p->s->mean_speed : p->speed[proc]) + longest;
}

struct outcome {
    int makespan, memory, upper, lists, snapshots;
};

static void compare(struct partition *p, struct tree_memory *exact, struct outcome *wrong)
{
    double want = span_from_scratch(p, 0, NONE), got = partition_makespan(p);
    wrong->makespan += !(fabs(got - want) <= 1e-9 * fmax(1, want));
    uint32_t *order = mem_new(uint32_t, p->live);
    partition_order(p, order);
    for (uint32_t k = 0; k < p->live; k++) {
        uint32_t i = order[k];
        double least = tree_least_memory(exact, p->at[i].root, p->cut, p->s->counting, NULL, NULL);
        wrong->upper += !(p->at[i].most >= least * (1 - 1e-12));
        wrong->memory += fabs(partition_memory(p, i) - least) > 1e-9 * least;
        uint32_t above = i == 0 ? NONE : partition_piece_of(p, p->s->t->parent[p->at[i].root]);
        wrong->lists += p->at[i].parent != above;
    }
    free(order);
}

static void change(struct partition *p, struct rng *rng)
{
    const struct tree_setting *s = p->s;
    uint32_t x = (uint32_t)rng_below(rng, s->t->n), a = (uint32_t)rng_below(rng, s->nprocs),
             b = (uint32_t)rng_below(rng, s->nprocs);
    switch (rng_below(rng, 4)) {
    case 0:
    case 1:
        if (p->cut[x])
            break;
        uint32_t k = partition_cut(p, partition_piece_of(p, x), x);
        if (p->holder[a] == NONE)
            partition_map(p, k, a);
        break;
    case 2:
        if (p->cut[x] && x != 0)
            partition_merge(p, p->slot_of[x]);
        break;
    default:
        if (a != b)
            partition_swap(p, a, b);
    }
}

static void test_changes(bool links, enum tree_count counting)
{
    struct rng rng;
    struct outcome wrong = {0};
    rng_seed(&rng, 11 + links);
    for (int round = 0; round < 30; round++) {
        uint32_t n = 2 + (uint32_t)rng_below(&rng, 40);
        struct workflow *w = random_tree(&rng, n, 1 + (uint32_t)rng_below(&rng, n), round % 2);
        struct tree *t = tree_new(w, NULL);
        struct platform *platform = random_nodes(&rng, 6, tree_largest_need(t), links);
        struct tree_setting *s = setting_new(t, platform, counting, NULL);
        struct partition *p = partition_new(s, false), *other = partition_new(s, false);
        struct tree_memory *exact = tree_memory_new(t);
        struct snapshot kept = {0};
        for (int i = 0; i < 40; i++) {
            change(p, &rng);
            if (i % 4 == 0)
                compare(p, exact, &wrong);
        }
        snapshot_store(&kept, p);
        snapshot_load(other, &kept);
        wrong.snapshots += other->live != p->live || other->idle != p->idle ||
                           fabs(partition_makespan(other) - partition_makespan(p)) > 1e-9;
        snapshot_free(&kept);
        tree_memory_free(exact);
        partition_free(p);
        partition_free(other);
        setting_free(s);
        platform_free(platform);
        tree_free(t);
        workflow_free(w);
    }
    const char *how = counting == TREE_STRICT ? "strict" : "lenient";
    is_int(wrong.makespan, 0, "%s%s: the makespan is equation (1)", how, links ? ", links" : "");
    is_int(wrong.memory, 0, "%s%s: the memory of a piece is exact", how, links ? ", links" : "");
    is_int(wrong.upper, 0, "%s%s: bounds on it hold", how, links ? ", links" : "");
    is_int(wrong.lists, 0, "%s%s: pieces hang where their roots do", how, links ? ", links" : "");
    is_int(wrong.snapshots, 0, "%s%s: snapshots come back", how, links ? ", links" : "");
}

/* Many cuts at once do what the same cuts one by one do. */
static void test_many_cuts(void)
{
    struct rng rng;
    int wrong = 0;
    rng_seed(&rng, 5);
    for (int round = 0; round < 40; round++) {
        struct workflow *w = random_tree(&rng, 60, 8, false);
        struct tree *t = tree_new(w, NULL);
        struct platform *platform = random_nodes(&rng, 4, tree_largest_need(t), false);
        struct tree_setting *s = setting_new(t, platform, TREE_STRICT, NULL);
        struct partition *a = partition_new(s, true), *b = partition_new(s, true);
        uint32_t early[8], nearly = 0, tasks[60], slots[60], n = 0;
        for (int k = 0; k < 8; k++) { /* deep cuts first, which the new pieces must take over */
            uint32_t x = 30 + (uint32_t)rng_below(&rng, 30);
            if (!a->cut[x]) {
                partition_cut(a, partition_piece_of(a, x), x);
                partition_cut(b, partition_piece_of(b, x), x);
                early[nearly++] = x;
            }
        }
        for (uint32_t x = 1; x < 30; x++) { /* disjoint tasks of the root's piece */
            bool free_of = !a->cut[x] && partition_piece_of(a, x) == 0 && rng_below(&rng, 3) == 0;
            for (uint32_t k = 0; k < n && free_of; k++)
                free_of = !setting_inside(s, x, tasks[k]) && !setting_inside(s, tasks[k], x);
            if (free_of)
                tasks[n++] = x;
        }
        partition_cut_all(a, 0, tasks, n, slots);
        for (uint32_t k = 0; k < n; k++)
            partition_cut(b, 0, tasks[k]);
        wrong += a->live != b->live || a->live != 1 + nearly + n ||
                 fabs(partition_makespan(a) - partition_makespan(b)) > 1e-9;
        for (uint32_t k = 0; k < nearly; k++) {
            uint32_t x = early[k];
            wrong +=
                a->at[a->at[a->slot_of[x]].parent].root != b->at[b->at[b->slot_of[x]].parent].root;
        }
        partition_free(a);
        partition_free(b);
        setting_free(s);
        platform_free(platform);
        tree_free(t);
        workflow_free(w);
    }
    is_int(wrong, 0, "many cuts at once are the same cuts");
}

int main(void)
{
    TAP_DO(test_changes(false, TREE_STRICT));
    TAP_DO(test_changes(false, TREE_LENIENT));
    TAP_DO(test_changes(true, TREE_STRICT));
    TAP_DO(test_many_cuts());
    return tap_done();
}
