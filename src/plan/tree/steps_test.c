/* The steps of HomPart and HetPart one by one: against plain, slow versions of the same rules, and
 * against what each promises. */
#include "plan/tree/again.h"
#include "plan/tree/bound.h"
#include "plan/tree/fit.h"
#include "plan/tree/fixture.h"
#include "plan/tree/merge.h"
#include "plan/tree/split.h"
#include "plan/tree/swap.h"

struct bench {
    struct workflow *w;
    struct tree *t;
    struct platform *platform;
    struct tree_setting *s;
    struct partition *p;
};

static struct bench set_up(struct rng *rng, uint32_t n, uint32_t nodes, enum tree_count counting)
{
    struct bench b;
    b.w = random_tree(rng, n, 1 + (uint32_t)rng_below(rng, n), rng_below(rng, 2));
    b.t = tree_new(b.w, NULL);
    b.platform = random_nodes(rng, nodes, tree_largest_need(b.t), false);
    b.s = setting_new(b.t, b.platform, counting, NULL);
    b.p = partition_new(b.s, true);
    return b;
}

static void clear_away(struct bench *b)
{
    partition_free(b->p);
    setting_free(b->s);
    platform_free(b->platform);
    tree_free(b->t);
    workflow_free(b->w);
}

/* SPLITSUBTREES as it is told, in O(n^2): the makespan of the best prefix. */
static double split_plainly(const struct tree_setting *s, uint32_t pieces)
{
    const struct tree *t = s->t;
    double slow = 1 / s->mean_speed, sequential = 0, best = s->work[0] * slow;
    uint32_t *set = mem_new(uint32_t, t->n), n = 1;
    uint8_t *taken = mem_new(uint8_t, t->n);
    set[0] = 0;
    for (;;) {
        uint32_t at = 0;
        for (uint32_t k = 1; k < n; k++)
            if (setting_transfer(s, NONE, NONE, set[k]) + s->work[set[k]] * slow >
                setting_transfer(s, NONE, NONE, set[at]) + s->work[set[at]] * slow)
                at = k;
        uint32_t x = set[at];
        if (t->child_off[x] == t->child_off[x + 1])
            break;
        sequential += t->work[x];
        set[at] = set[--n];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            set[n++] = c;
        double longest = 0, surplus = 0;
        for (uint32_t k = 0; k < n; k++)
            longest =
                fmax(longest, setting_transfer(s, NONE, NONE, set[k]) + s->work[set[k]] * slow);
        memset(taken, 0, t->n);
        for (uint32_t drop = n + 1 > pieces ? n + 1 - pieces : 0; drop; drop--) {
            uint32_t least = NONE;
            for (uint32_t k = 0; k < n; k++)
                if (!taken[k] && (least == NONE || s->work[set[k]] < s->work[set[least]]))
                    least = k;
            taken[least] = 1;
            surplus += s->work[set[least]];
        }
        best = fmin(best, (sequential + surplus) * slow + longest);
    }
    free(set);
    free(taken);
    return best + s->root_transfer;
}

static void test_split(void)
{
    struct rng rng;
    int longer = 0, other = 0, improved = 0, asap = 0, many = 0;
    rng_seed(&rng, 3);
    for (int round = 0; round < 200; round++) {
        struct bench b = set_up(&rng, 2 + (uint32_t)rng_below(&rng, 60), 5, TREE_STRICT);
        double whole = partition_makespan(b.p), want = split_plainly(b.s, 4);
        split_subtrees(b.p, 0, 4);
        /* The estimate takes the longest of all parallel subtrees, cut or not: what comes out may
         * be shorter. Equal lengths may be taken in another order: a hair longer is possible then.
         */
        longer += partition_makespan(b.p) > want * 1.05 + 1e-9;
        other += partition_makespan(b.p) > whole;
        many += b.p->live > 4;
        partition_clear(b.p);
        split_asap(b.p, 4);
        asap += partition_makespan(b.p) > whole;
        many += b.p->live > 4;
        partition_clear(b.p);
        split_improved(b.p, 4);
        improved += b.p->live > 4;
        clear_away(&b);
    }
    is_int(longer, 0, "splitsubtrees: as short as the plain version");
    is_int(other, 0, "splitsubtrees: never longer than one piece");
    is_int(asap, 0, "asap: never longer than one piece");
    is_int(many, 0, "no more pieces than asked for");
    is_int(improved, 0, "improvedsplit: merged down to the pieces asked for");
}

/* Root with three heavy children: the two-level split is known. */
static void test_split_known(void)
{
    struct builder *b = builder_new("<test>", "test");
    static const double work[] = {1, 10, 10, 9, 1};
    for (uint32_t i = 0; i < 5; i++) {
        char name = (char)('a' + i);
        builder_work(b, builder_task(b, &name, 1, 0), work[i], 0);
        if (i)
            builder_data_edge(b, 0, i, 4, 0);
    }
    struct workflow *w = builder_finish(b, NULL);
    struct tree *t = tree_new(w, NULL);
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 2, 0, NAN, 0);
    platform_builder_node(pb, "x", 1, 0);
    platform_builder_node(pb, "y", 1, 0);
    platform_builder_node(pb, "z", 1, 0);
    struct platform *platform = platform_builder_finish(pb, NULL);
    struct tree_setting *s = setting_new(t, platform, TREE_STRICT, NULL);
    struct partition *p = partition_new(s, true);
    split_subtrees(p, 0, 3);
    /* a, d and e stay (1 + 9 + 1); b and c run beside each other after a transfer of 2 */
    is_int(p->live, 3, "three processors, three pieces");
    is_dbl(partition_makespan(p), 1 + 9 + 1 + 2 + 10, 1e-9, "the two heaviest are cut");
    partition_clear(p);
    split_subtrees(p, 0, 5);
    is_dbl(partition_makespan(p), 1 + 2 + 10, 1e-9, "with enough processors all are");
    partition_free(p);
    setting_free(s);
    platform_free(platform);
    tree_free(t);
    workflow_free(w);
}

static void test_fit(enum tree_count counting)
{
    struct rng rng;
    int over = 0, root = 0, uncut = 0;
    rng_seed(&rng, 8);
    for (int round = 0; round < 300; round++) {
        struct bench b = set_up(&rng, 2 + (uint32_t)rng_below(&rng, 50), 3, counting);
        double limit = b.s->need[0] + rng_unit(&rng) * (b.s->least[0] - b.s->need[0]);
        struct fitter *f = fitter_new(b.p, (enum fit_method)(round % 3));
        bool fitted = fitter_fit(f, 0, limit);
        root += !fitted; /* the limit holds the root task */
        over += partition_memory(b.p, 0) > limit;
        size_t count;
        fitter_new_pieces(f, &count);
        uncut += count + 1 != b.p->live || (count == 0 && b.s->least[0] > limit);
        root += fitter_fit(f, 0, b.s->need[0] * 0.9 - 1);
        fitter_free(f);
        clear_away(&b);
    }
    const char *how = counting == TREE_STRICT ? "strict" : "lenient";
    is_int(over, 0, "%s: what stays fits", how);
    is_int(root, 0, "%s: it fails when, and only when, the root task alone is too large", how);
    is_int(uncut, 0, "%s: the new pieces are told", how);
}

static void test_fit_whole(void)
{
    struct rng rng;
    int over = 0, twice = 0, refused = 0;
    rng_seed(&rng, 21);
    for (int round = 0; round < 100; round++) {
        struct bench b = set_up(&rng, 40, 6, TREE_STRICT);
        uint32_t task = NONE;
        double limit = tree_largest_need(b.t) * (1 + 1e-9);
        refused += !fit_all(b.p, (enum fit_method)(round % 3), limit, &task);
        for (uint32_t i = 0; i < b.p->slots; i++)
            if (b.p->at[i].root != NONE)
                over += partition_memory(b.p, i) > limit;
        refused += fit_all(b.p, FIT_FIRST, limit / 2, &task) || task == NONE;
        partition_clear(b.p);
        split_subtrees(b.p, 0, 6);
        fit_biggest(b.p, FIT_FIRST);
        for (uint32_t q = 0; q < b.s->nprocs; q++) {
            uint32_t i = b.p->holder[q];
            if (i == NONE)
                continue;
            over += partition_memory(b.p, i) > b.s->memory[q];
            twice += b.p->at[i].proc != q;
        }
        clear_away(&b);
    }
    is_int(refused, 0, "a limit that holds every task is enough, half of it is not");
    is_int(over, 0, "every piece fits its limit or its processor");
    is_int(twice, 0, "a piece has one processor");
}

static void test_merge(void)
{
    struct rng rng;
    int unmapped = 0, over = 0, limit_broken = 0, count = 0, failed = 0;
    rng_seed(&rng, 34);
    for (int round = 0; round < 150; round++) {
        struct bench b = set_up(&rng, 60, 6, round % 2 ? TREE_STRICT : TREE_LENIENT);
        split_subtrees(b.p, 0, 6);
        fit_biggest(b.p, FIT_FIRST);
        bool placed = merge_heterogeneous(b.p);
        unmapped += placed != partition_mapped(b.p);
        failed += !placed;
        for (uint32_t i = 0; i < b.p->slots; i++)
            if (b.p->at[i].root != NONE && b.p->at[i].proc != NONE)
                over += partition_memory(b.p, i) > b.s->memory[b.p->at[i].proc];
        partition_clear(b.p);
        uint32_t task;
        double limit = 1.2 * tree_largest_need(b.t);
        fit_all(b.p, FIT_IMMEDIATELY, limit, &task);
        if (merge_homogeneous(b.p, 4, limit))
            count += b.p->live > 4;
        for (uint32_t i = 0; i < b.p->slots; i++)
            if (b.p->at[i].root != NONE)
                limit_broken += partition_memory(b.p, i) > limit;
        clear_away(&b);
    }
    is_int(unmapped, 0, "hetermerge says whether all pieces are mapped");
    is_int(over, 0, "and every piece fits its processor");
    ok(failed < 15, "it rarely fails (%d of 150)", failed);
    is_int(limit_broken, 0, "merge keeps the limit");
    is_int(count, 0, "and comes down to the pieces asked for");
}

static void test_choose(void)
{
    struct rng rng;
    rng_seed(&rng, 1);
    struct bench b = set_up(&rng, 30, 1, TREE_STRICT);
    clear_away(&b);
    struct workflow *w = random_tree(&rng, 10, 10, false);
    struct tree *t = tree_new(w, NULL);
    struct platform_builder *pb = platform_builder_new("<test>");
    static const double memory[] = {100, 50, 20, 10};
    for (uint32_t i = 0; i < 4; i++) {
        char name = (char)('a' + i);
        platform_builder_memory(pb, platform_builder_node(pb, &name, 1, 0), memory[i], 0);
    }
    struct platform *platform = platform_builder_finish(pb, NULL);
    struct tree_setting *s = setting_new(t, platform, TREE_STRICT, NULL);
    struct partition *p = partition_new(s, true);
    uint32_t x = partition_cut(p, 0, t->child_off[0]), y = NONE;
    partition_map(p, 0, 1);
    partition_map(p, x, 3);
    is_int(merge_choose_processor(p, x, 0, y, 5), 3, "the smallest of its own that fits");
    is_int(merge_choose_processor(p, x, 0, y, 15), 1, "its own before a smaller idle one");
    is_int(merge_choose_processor(p, x, 0, y, 60), 0, "an idle one when none of its own fits");
    is_int(merge_choose_processor(p, x, 0, y, 200), NONE, "none is large enough");
    partition_free(p);
    setting_free(s);
    platform_free(platform);
    tree_free(t);
    workflow_free(w);
}

static void test_again_and_swap(void)
{
    struct rng rng;
    int longer = 0, invalid = 0, left = 0, worse = 0, phase_b = 0;
    rng_seed(&rng, 55);
    for (int round = 0; round < 120; round++) {
        struct bench b = set_up(&rng, 50, 6, TREE_STRICT);
        split_subtrees(b.p, 0, 3);
        fit_biggest(b.p, FIT_FIRST);
        if (!merge_heterogeneous(b.p)) {
            clear_away(&b);
            continue;
        }
        double before = partition_makespan(b.p);
        split_again(b.p, round % 2);
        longer += partition_makespan(b.p) > before * (1 + 1e-12);
        partition_use_speeds(b.p, false);
        before = partition_makespan(b.p);
        swap_until_best(b.p);
        double best = partition_makespan(b.p);
        worse += best > before * (1 + 1e-12);
        for (uint32_t x = 0; x < b.s->nprocs; x++)
            for (uint32_t y = x + 1; y < b.s->nprocs; y++) {
                if (!swap_fits(b.p, x, y))
                    continue;
                partition_swap(b.p, x, y);
                left += partition_makespan(b.p) < best * (1 - 1e-9);
                partition_swap(b.p, x, y);
            }
        swap_phases(b.p, true);
        phase_b += partition_makespan(b.p) > best * (1 + 1e-12);
        invalid += !partition_mapped(b.p);
        for (uint32_t i = 0; i < b.p->slots; i++)
            if (b.p->at[i].root != NONE)
                invalid += partition_memory(b.p, i) > b.s->memory[b.p->at[i].proc];
        clear_away(&b);
    }
    is_int(longer, 0, "splitagain never makes it longer");
    is_int(worse, 0, "nor do exchanges");
    is_int(left, 0, "after phase A no exchange of two processors helps");
    is_int(phase_b, 0, "phase B returns the best mapping it saw");
    is_int(invalid, 0, "every mapping is valid");
}

int main(void)
{
    TAP_DO(test_split_known());
    TAP_DO(test_split());
    TAP_DO(test_fit(TREE_STRICT));
    TAP_DO(test_fit(TREE_LENIENT));
    TAP_DO(test_fit_whole());
    TAP_DO(test_merge());
    TAP_DO(test_choose());
    TAP_DO(test_again_and_swap());
    return tap_done();
}
