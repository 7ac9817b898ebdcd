/* The graphs by arithmetic: edges both ways agree, shares are a partition, and the store's tables
 * over them answer like tables over the same graph written down. */
#include "sim/workload.h"
#include "base/rng.h"
#include "model/builder.h"
#include "store/table.h"
#include "tap.h"
#include <math.h>

static struct workload make(enum workload_kind kind, uint32_t n, uint32_t degree)
{
    return (struct workload){.kind = kind,
                             .ntasks = n,
                             .degree = degree,
                             .files = 7,
                             .length = 1,
                             .spread = 1,
                             .size = 100,
                             .file_size = 50,
                             .seed = 3};
}

static bool edges_agree(const struct workload *d)
{
    uint64_t in = 0, out = 0;
    for (uint32_t t = 0; t < d->ntasks; t++) {
        in += workload_parents(d, t);
        for (uint32_t i = 0, n = workload_parents(d, t); i < n; i++)
            if (workload_parent(d, t, i) >= t)
                return false;
        for (uint32_t i = 0, n = workload_children(d, t); i < n; i++) {
            uint32_t child = workload_child(d, t, i), found = 0;
            out++;
            if (child >= d->ntasks)
                return false;
            for (uint32_t k = 0, m = workload_parents(d, child); k < m; k++)
                found += workload_parent(d, child, k) == t;
            if (found != 1)
                return false;
        }
    }
    return in == out;
}

static bool shares_are_a_partition(const struct workload *d, enum workload_submit how,
                                   uint32_t nodes, uint32_t *largest)
{
    uint8_t *seen = mem_new_zero(uint8_t, d->ntasks);
    struct workload_division v = workload_divide(d, how, nodes);
    bool good = true;
    *largest = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        struct workload_range r;
        uint32_t share = 0;
        for (uint32_t k = 0; workload_share(d, &v, n, k, &r); k++)
            for (uint64_t p = r.first; p < r.end; p += r.step) {
                uint32_t t = workload_task(d, how, (uint32_t)p);
                good &= !seen[t]++ && workload_home(d, &v, t) == n;
                share++;
            }
        *largest = share > *largest ? share : *largest;
    }
    for (uint32_t t = 0; t < d->ntasks; t++)
        good &= seen[t] == 1;
    free(seen);
    workload_division_free(&v);
    return good;
}

static void shapes(void)
{
    static const uint32_t sizes[] = {2, 3, 10, 11, 12, 111, 1000, 2345};
    for (int kind = 0; kind < WORKLOAD_WORKFLOW; kind++) {
        bool edges = true, shares = true, even = true;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (uint32_t degree = 2; degree <= 10; degree += 4) {
                struct workload d = make((enum workload_kind)kind, sizes[i], degree);
                struct error err = {0};
                if (!ok(workload_init(&d, &err), "%s of %u, %u: %s", workload_name(d.kind),
                        sizes[i], degree, err.text))
                    return;
                edges &= edges_agree(&d);
                for (uint32_t nodes = 1; nodes <= 64; nodes += 9)
                    for (int how = 0; how <= WORKLOAD_SUBMIT_EVEN; how++) {
                        uint32_t largest;
                        shares &=
                            shares_are_a_partition(&d, (enum workload_submit)how, nodes, &largest);
                        uint32_t grain = kind == WORKLOAD_PIPELINE ? degree : 1;
                        even &=
                            how >= WORKLOAD_SUBMIT_WORST || largest <= d.ntasks / nodes + 2 * grain;
                    }
            }
        ok(edges, "%s: edges in and out agree, parents come first", workload_name(kind));
        ok(shares, "%s: every task has one home", workload_name(kind));
        ok(even, "%s: shares are equal", workload_name(kind));
    }
}

/* Whether nodes other than the task's have something below it in the tree, by looking at all of it. */
static bool is_cut_below(const struct workload *d, const struct workload_division *v, uint32_t task,
                         uint32_t home)
{
    bool in = d->kind == WORKLOAD_FAN_IN;
    if (workload_home(d, v, task) != home)
        return true;
    for (uint32_t i = 0, n = in ? workload_parents(d, task) : workload_children(d, task); i < n;
         i++)
        if (is_cut_below(d, v, in ? workload_parent(d, task, i) : workload_child(d, task, i), home))
            return true;
    return false;
}

/* Tasks of the tree that are as far from the root as this one. */
static uint32_t level_width(const struct workload *d, uint32_t task)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < d->ntasks; t++)
        n += workload_depth(d, t) == workload_depth(d, task);
    return n;
}

/* Up from the task: the first branch that is cut, unless its level has fewer tasks than there are nodes. */
static uint32_t slow_urgency(const struct workload *d, const struct workload_division *v,
                             uint32_t task)
{
    if (d->kind == WORKLOAD_FAN_OUT)
        return is_cut_below(d, v, task, workload_home(d, v, task));
    uint32_t levels = workload_depth(d, d->ntasks - 1) + 1;
    if (level_width(d, task) < v->nodes)
        return WORKLOAD_LEVELS;
    for (uint32_t t = task; level_width(d, t) >= v->nodes; t = workload_child(d, t, 0)) {
        if (is_cut_below(d, v, t, workload_home(d, v, t)))
            return levels - workload_depth(d, t);
        if (!workload_children(d, t))
            break;
    }
    return 0;
}

static void urgencies(void)
{
    static const enum workload_kind kinds[] = {WORKLOAD_FAN_OUT, WORKLOAD_FAN_IN, WORKLOAD_BOT};
    for (size_t i = 0; i < 3; i++) {
        bool good = true;
        uint32_t urgent = 0;
        for (uint32_t degree = 2; degree <= 10; degree += 4)
            for (uint32_t nodes = 1; nodes <= 40; nodes += 13)
                for (int how = 0; how <= WORKLOAD_SUBMIT_EVEN; how++) {
                    struct workload d = make(kinds[i], 345, degree);
                    struct error err = {0};
                    good &= workload_init(&d, &err);
                    struct workload_division v =
                        workload_divide(&d, (enum workload_submit)how, nodes);
                    bool together = how == WORKLOAD_SUBMIT_BEST || how == WORKLOAD_SUBMIT_EVEN;
                    for (uint32_t t = 0; t < d.ntasks; t++) {
                        uint32_t is = workload_urgency(&d, &v, t);
                        bool tree = together && d.kind != WORKLOAD_BOT;
                        good &= is == (tree ? slow_urgency(&d, &v, t) : 0);
                        urgent += is > 0;
                    }
                    workload_division_free(&v);
                }
        ok(good && (urgent > 0) == (kinds[i] != WORKLOAD_BOT),
           "%s: urgent is what other nodes wait for (%u tasks)", workload_name(kinds[i]), urgent);
    }
}

/* The most work that a node is given, over the mean of all. */
static double worst_share(const struct workload *d, enum workload_submit how, uint32_t nodes)
{
    struct workload_division v = workload_divide(d, how, nodes);
    double *work = mem_new_zero(double, nodes), total = 0, most = 0;
    for (uint32_t t = 0; t < d->ntasks; t++) {
        work[workload_home(d, &v, t)] += workload_length(d, t);
        total += workload_length(d, t);
    }
    for (uint32_t n = 0; n < nodes; n++)
        most = fmax(most, work[n]);
    free(work);
    workload_division_free(&v);
    return most / (total / nodes);
}

static void even_work(void)
{
    static const enum workload_kind kinds[] = {WORKLOAD_BOT, WORKLOAD_FAN_OUT, WORKLOAD_FAN_IN,
                                               WORKLOAD_PIPELINE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct workload d;
        struct error err = {0};
        workload_benchmark(&d, kinds[i], 256);
        workload_init(&d, &err);
        double count = worst_share(&d, WORKLOAD_SUBMIT_BEST, 128),
               work = worst_share(&d, WORKLOAD_SUBMIT_EVEN, 128);
        /* 2,000 tasks of 0 to 100 ms a node: equal counts differ by 1.3 % in one standard deviation */
        ok(work < 1.01 && count > 1.02,
           "%s: the largest share has %.4f of the mean by work, %.4f by count",
           workload_name(kinds[i]), work, count);
    }
}

static void numbers(void)
{
    struct workload d = make(WORKLOAD_FAN_OUT, 111, 10);
    struct error err = {0};
    workload_init(&d, &err);
    is_int(d.nlevels, 3, "a fan-out of 111 has three levels");
    is_int(workload_children(&d, 0), 10, "its root has ten children");
    is_int(workload_parent(&d, 110, 0), 10, "the last task hangs below the tenth");
    d = make(WORKLOAD_FAN_IN, 111, 10);
    workload_init(&d, &err);
    is_int(workload_parents(&d, 110), 10, "a fan-in ends in one task with ten parents");
    is_int(workload_child(&d, 0, 0), 100, "the first leaf feeds the first of the next level");
    d = make(WORKLOAD_ALL_PAIRS, 0, 0);
    workload_init(&d, &err);
    is_int(d.ntasks, 49, "seven files against seven");
    bool seen[7][7] = {{false}};
    int pairs = 0;
    for (uint32_t t = 0; t < d.ntasks; t++) {
        uint32_t producer, a = workload_need(&d, t, 0, &producer) - d.ntasks,
                           b = workload_need(&d, t, 1, &producer) - d.ntasks - 7;
        pairs += a < 7 && b < 7 && !seen[a][b];
        seen[a][b] = true;
    }
    is_int(pairs, 49, "each pair once");
    double sum = 0;
    d = make(WORKLOAD_BOT, 10000, 0);
    workload_init(&d, &err);
    for (uint32_t t = 0; t < d.ntasks; t++)
        sum += workload_length(&d, t);
    is_dbl(sum / d.ntasks, 1, 0.02, "lengths are uniform around the mean");
    is_dbl(workload_mean_length(&d), sum / d.ntasks, 1e-12, "which is known exactly");

    d = make(WORKLOAD_FAN_IN, 5, 1);
    ok(!workload_init(&d, &err), "a tree of degree 1 is refused");
    has_str(err.text, "degree 1", "with its degree");
    d = make(WORKLOAD_ALL_PAIRS, 0, 0);
    d.files = 60000;
    ok(!workload_init(&d, &err), "and too many tasks");
    d = make(WORKLOAD_BOT, 0, 0);
    ok(!workload_init(&d, &err), "and none");
}

static struct workflow *written_down(const struct workload *d)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < d->ntasks; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        uint32_t o = builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", t));
        builder_size(b, o, workload_size(d, t), 0);
        builder_produces(b, t, o, 0);
        for (uint32_t i = 0, n = workload_parents(d, t); i < n; i++)
            builder_consumes(b, t, workload_parent(d, t, i), 0);
    }
    return builder_finish(b, NULL);
}

static bool same_item(const struct meta_item *a, const struct meta_item *b)
{
    return a->task == b->task && a->epoch == b->epoch && a->holder == b->holder &&
           a->waiting == b->waiting && a->max_node == b->max_node && a->attempts == b->attempts &&
           fabs(a->all_size - b->all_size) < 1e-9 && a->max_size == b->max_size;
}

static bool same_answers(const struct answers *a, const struct answers *b)
{
    if (a->at.n != b->at.n || a->items.n != b->items.n)
        return false;
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.at[i].outcome != b->at.at[i].outcome ||
            a->at.at[i].status != b->at.at[i].status || a->at.at[i].doomed != b->at.at[i].doomed ||
            a->at.at[i].count != b->at.at[i].count ||
            !same_item(&a->at.at[i].item, &b->at.at[i].item))
            return false;
    for (size_t i = 0; i < a->items.n; i++)
        if (!same_item(&a->items.at[i], &b->items.at[i]))
            return false;
    return true;
}

/* Random operations, most of them sensible, on both. */
static void tables(enum workload_kind kind)
{
    struct workload d = make(kind, 60, 3);
    struct error err = {0};
    workload_init(&d, &err);
    struct workflow *w = written_down(&d);
    struct store_table a, b;
    struct answers x = {0}, y = {0};
    struct rng rng;
    rng_seed(&rng, 5);
    store_table_init(&a, w);
    store_table_init_graph(&b, &d.graph);
    bool same = true, changed = true;
    for (int i = 0; i < 4000; i++) {
        static const uint8_t kinds[] = {META_PUT,      META_HOLD,     META_HOLD,  META_COMPLETE,
                                        META_COMPLETE, META_COMPLETE, META_START, META_RETRY,
                                        META_GET,      META_REMOVE,   META_ADOPT, META_JOIN,
                                        META_COPY,     META_WHERE,    META_OBJECT};
        struct meta_op op = {.kind = kinds[rng_below(&rng, i < 200 ? 3 : sizeof kinds)],
                             .task = (uint32_t)rng_below(&rng, d.ntasks + 1),
                             .node = (uint32_t)rng_below(&rng, 3),
                             .time = i};
        if (op.kind == META_REMOVE && rng_below(&rng, 20))
            continue;
        if (op.task < d.ntasks && op.kind != META_JOIN && op.kind != META_ADOPT) {
            op.epoch = a.epoch[op.task];
            if (rng_below(&rng, 8) && a.holder[op.task] != NONE && op.kind != META_HOLD)
                op.node = a.holder[op.task];
        }
        if (op.kind == META_COMPLETE && op.task < d.ntasks && a.waiting[op.task])
            continue;
        if (op.kind == META_REMOVE || op.kind == META_COPY)
            op.status = op.kind == META_COPY ? (uint8_t)rng_below(&rng, 2) : META_REMOVED;
        if (op.kind == META_ADOPT) {
            op.other = (uint32_t)rng_below(&rng, 3);
            op.limit = 5;
        }
        if (op.kind == META_OBJECT)
            op.bytes = (double)rng_below(&rng, 100);
        answers_clear(&x);
        answers_clear(&y);
        bool here = store_table_apply(&a, &op, &x), there = store_table_apply(&b, &op, &y);
        changed &= here == there;
        same &= same_answers(&x, &y);
    }
    uint32_t done = 0;
    for (uint32_t t = 0; t < d.ntasks; t++)
        done += a.status[t] == META_DONE;
    ok(same, "%s: the tables answer as over a workflow", workload_name(kind));
    ok(changed, "%s: and change when those do", workload_name(kind));
    ok(done > 5, "%s: %u tasks got done", workload_name(kind), done);
    ok(store_table_bytes(&b) < store_table_bytes(&a), "%s: in less memory", workload_name(kind));
    answers_free(&x);
    answers_free(&y);
    store_table_free(&a);
    store_table_free(&b);
    workflow_free(w);
}

/* Evenly: no node has two files more than another. Drawn: the same for a seed, another for another, every node within
 * range, and some have more than their share. */
static void files(void)
{
    enum { NODES = 100, FILES = 790 };
    struct workload d = make(WORKLOAD_STACKING, 1000, 0);
    d.files = FILES;
    ok(workload_init(&d, NULL), "stacking of 790 files");
    uint32_t count[2][NODES] = {{0}}, most[2] = {0}, least = FILES, moved = 0;
    bool inside = true;
    for (d.drawn_files = 0; d.drawn_files < 2; d.drawn_files++)
        for (uint32_t i = 0; i < FILES; i++) {
            uint32_t node = workload_file_node(&d, d.ntasks + i, NODES), k = d.drawn_files;
            inside &= node < NODES;
            if (node < NODES && ++count[k][node] > most[k])
                most[k] = count[k][node];
        }
    for (uint32_t n = 0; n < NODES; n++)
        least = count[0][n] < least ? count[0][n] : least;
    d.drawn_files = 1;
    struct workload other = d;
    other.seed++;
    for (uint32_t i = 0; i < FILES; i++)
        moved += workload_file_node(&d, d.ntasks + i, NODES) !=
                 workload_file_node(&other, d.ntasks + i, NODES);
    ok(inside, "every file stands on a node");
    ok(most[0] == 8 && least == 7, "dealt out, a node has 7 or 8");
    ok(most[1] > 11 && most[1] < 24, "drawn, some node has %u", most[1]);
    ok(moved > FILES / 2, "another seed draws others");
}

int main(void)
{
    TAP_DO(shapes());
    TAP_DO(files());
    TAP_DO(numbers());
    TAP_DO(even_work());
    TAP_DO(urgencies());
    TAP_DO(tables(WORKLOAD_BOT));
    TAP_DO(tables(WORKLOAD_FAN_OUT));
    TAP_DO(tables(WORKLOAD_FAN_IN));
    TAP_DO(tables(WORKLOAD_PIPELINE));
    return tap_done();
}
