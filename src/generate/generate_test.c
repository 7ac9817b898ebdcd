#include "generate/generate.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/graph.h"
#include "tap.h"

/* "n=10 fat=0.3" as values, split in place. */
static size_t split(char *text, struct option_value *values)
{
    size_t count = 0;
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        *equals = 0;
        values[count++] = (struct option_value){at, equals + 1};
    }
    return count;
}

static struct workflow *make(const char *name, const char *options, uint64_t seed,
                             struct error *err)
{
    char text[512];
    struct option_value values[32];
    snprintf(text, sizeof text, "%s", options);
    size_t count = split(text, values);
    return generator_workflow(generator_find(name), values, count, seed, err);
}

static struct platform *make_platform(const char *name, const char *options, uint64_t seed,
                                      struct error *err)
{
    char text[512];
    struct option_value values[32];
    snprintf(text, sizeof text, "%s", options);
    size_t count = split(text, values);
    return generator_platform(generator_find(name), values, count, seed, err);
}

struct facts {
    const char *name, *options;
    uint32_t tasks, edges, depth, sources, sinks;
    enum tree_shape tree;
};

/* Counts that follow from the structure alone. */
static const struct facts known[] = {
    {"fft", "points=8", 2 * 8 - 1 + 8 * 3, 14 + 2 * 8 * 3, 4 + 3, 1, 8, TREE_NOT},
    {"fft", "points=1024", 2047 + 10240, 2046 + 20480, 21, 1, 1024, TREE_NOT},
    {"fft", "points=8 calls=no", 4 * 8, 2 * 8 * 3, 4, 8, 8, TREE_NOT},
    {"gauss", "size=5", 14, 4 + 3 + 2 + 1 + 4 + 3 + 2, 8, 1, 1, TREE_NOT},
    {"gauss", "size=2", 2, 1, 2, 1, 1, TREE_CHAIN},
    {"cholesky", "tiles=1", 1, 0, 1, 1, 1, TREE_CHAIN},
    {"cholesky", "tiles=2", 4, 3, 4, 1, 1, TREE_CHAIN},
    {"cholesky", "tiles=4", 20, 30, 10, 1, 1, TREE_NOT},
    {"cholesky", "tiles=10", 220, 0, 28, 1, 1, TREE_NOT},
    {"stencil", "rows=4 cols=6", 24, 3 * 6 + 4 * 5, 9, 1, 1, TREE_NOT},
    {"stencil", "rows=4 cols=6 shape=steps", 24, 3 * (3 * 6 - 2), 4, 6, 6, TREE_NOT},
    {"stencil", "rows=5 shape=out-mesh", 15, 20, 5, 1, 5, TREE_NOT},
    {"stencil", "rows=5 shape=in-mesh", 15, 20, 5, 5, 1, TREE_NOT},
    {"forkjoin", "stages=3 width=4", 16, 24, 7, 1, 1, TREE_NOT},
    {"intree", "depth=4 arity=3", 40, 39, 4, 27, 1, TREE_IN},
    {"outtree", "depth=4 arity=3", 40, 39, 4, 1, 27, TREE_OUT},
    {"outtree", "n=6 arity=2", 6, 5, 3, 1, 3, TREE_OUT},
    {"chain", "n=17", 17, 16, 17, 1, 1, TREE_CHAIN},
    {"chain", "n=1", 1, 0, 1, 1, 1, TREE_CHAIN},
    {"montage", "images=12 diffs=28", 58, 3 * 28 + 1 + 4 * 12 + 3, 9, 12, 1, TREE_NOT},
    {"montage", "images=12 diffs=28 add-reads=no", 58, 3 * 28 + 1 + 3 * 12 + 3, 9, 12, 1, TREE_NOT},
    {"montage", "images=9", 2 * 9 + 20 + 6, 3 * 20 + 1 + 4 * 9 + 3, 9, 9, 1, TREE_NOT},
    {"airsn", "", 773, 20 + 5 * 250, 25, 251, 1, TREE_NOT},
    {"airsn", "width=3 handle=4", 15, 18, 8, 4, 1, TREE_NOT},
    {"inspiral", "", 2988, 5 * 710, 6, 710, 74, TREE_NOT},
    {"inspiral", "groups=2 templates=5", 24, 25, 6, 5, 2, TREE_NOT},
    {"sdss", "", 48013, 15004 + 3 * 15004 - 2 + 15004 + 3000, 5, 15004, 1, TREE_NOT},
    {"diamond", "", 22, 28, 7, 1, 1, TREE_NOT},
    {"diamond", "depth=2 arity=3", 4 + 9 + 4, 24, 5, 1, 1, TREE_NOT},
    {"laplace", "", 39, 8 * 3 + 7 + 6 + 4 + 14, 7, 8, 1, TREE_NOT},
    {"random", "n=30 p=1", 30, 435, 30, 1, 1, TREE_NOT},
    {"random", "n=30 edges=40", 30, 40, 0, 0, 0, TREE_NOT},
    {"random", "n=10 p=0", 10, 0, 1, 10, 10, TREE_NOT},
    {"layered", "n=100 regular=1 density=0", 100, 90, 10, 10, 0, TREE_NOT},
    {"layered", "n=100 fat=0 density=0", 100, 99, 100, 1, 1, TREE_CHAIN},
    {"layered", "n=100 fat=1 regular=1", 100, 0, 1, 100, 100, TREE_NOT},
    {"bag", "", 1000, 0, 1, 1000, 1000, TREE_NOT},
    {"fanin", "cores=2", 2000, 1999, 5, 0, 1, TREE_IN},
    {"fanout", "per-core=111", 111, 110, 3, 1, 100, TREE_OUT},
    {"pipeline", "cores=3", 3000, 2700, 10, 300, 300, TREE_NOT},
    {"prufer", "n=1", 1, 0, 1, 1, 1, TREE_CHAIN},
    {"prufer", "n=2", 2, 1, 2, 1, 1, TREE_CHAIN},
    {"prufer", "n=500", 500, 499, 0, 1, 0, TREE_OUT},
    {"tgff", "n=1", 1, 0, 1, 1, 1, TREE_CHAIN},
};

static void structure(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct facts *k = &known[i];
        struct error err = {0};
        struct workflow *w = make(k->name, k->options, 7, &err);
        if (!ok(w != NULL, "%s %s%s%s", k->name, k->options, w ? "" : ": ", err.text))
            continue;
        struct statistics s;
        graph_statistics(w, &s);
        is_int(s.tasks, k->tasks, "%s %s: tasks", k->name, k->options);
        if (k->edges || k->tasks == 1)
            is_int(s.edges, k->edges, "%s %s: edges", k->name, k->options);
        if (k->depth)
            is_int(s.depth, k->depth, "%s %s: depth", k->name, k->options);
        if (k->sources)
            is_int(s.sources, k->sources, "%s %s: sources", k->name, k->options);
        if (k->sinks)
            is_int(s.sinks, k->sinks, "%s %s: sinks", k->name, k->options);
        is_int(s.tree, k->tree, "%s %s: tree", k->name, k->options);
        workflow_free(w);
    }
}

/* Every generator with its defaults: something is there, the same seed repeats, another seed
 * differs. */
static void conformance(void)
{
    for (const struct generator *const *g = generator_registry; *g; g++) {
        struct error err = {0}, why = {0};
        ok((*g)->summary && (*g)->options && generator_find((*g)->name) == *g, "%s: found",
           (*g)->name);
        for (const struct option *o = (*g)->options; o->name; o++) {
            struct option_value standard = {o->name, o->standard};
            ok(o->help && generator_check_options(*g, &standard, 1, &err),
               "%s: default %s=%s is allowed %s", (*g)->name, o->name, o->standard, err.text);
        }
        if ((*g)->kind == GENERATES_PLATFORM) {
            struct platform *a = generator_platform(*g, NULL, 0, 3, &err);
            struct platform *b = generator_platform(*g, NULL, 0, 3, &err);
            ok(a && b && platform_equal(a, b, &why), "%s: same seed, same platform %s%s",
               (*g)->name, err.text, why.text);
            ok(!generator_workflow(*g, NULL, 0, 3, &err), "%s: no workflow", (*g)->name);
            has_str(err.text, "makes a platform", "%s: says so", (*g)->name);
            platform_free(a);
            platform_free(b);
            continue;
        }
        struct workflow *a = generator_workflow(*g, NULL, 0, 3, &err);
        struct workflow *b = generator_workflow(*g, NULL, 0, 3, &err);
        struct workflow *c = generator_workflow(*g, NULL, 0, 4, &err);
        ok(a && b && a->ntasks && workflow_equal(a, b, &why), "%s: same seed, same graph %s%s",
           (*g)->name, err.text, why.text);
        ok(a && c && !workflow_equal(a, c, NULL), "%s: other seed, other graph", (*g)->name);
        is_int(a ? a->nwarnings : 1, 0, "%s: no warnings", (*g)->name);
        workflow_free(a);
        workflow_free(b);
        workflow_free(c);
    }
}

/* Pins the draws: a change of these breaks everybody's seeds. */
static void pinned(void)
{
    struct error err = {0};
    struct workflow *w = make("layered", "n=20", 1, &err);
    uint64_t hash = 0;
    for (uint32_t t = 0; w && t < w->ntasks; t++) {
        hash = hash * 1000003 + (uint64_t)llround(w->work[t] * 1e6);
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            hash = hash * 1000003 + w->succ_task[e] +
                   (uint64_t)llround(w->size[w->succ_object[e]] * 1e6);
    }
    ok(hash == 12721334819312411860ull, "layered n=20 seed 1 is what it was");
    workflow_free(w);
}

static void costs(void)
{
    static const char *const names[] = {"layered",  "tgff",    "random",   "fft",    "gauss",
                                        "cholesky", "stencil", "forkjoin", "intree", "montage"};
    static const double ratios[] = {0.1, 1, 10};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char options[64];
        double want = ratios[i % 3];
        snprintf(options, sizeof options, "ccr=%g work-min=5 work-max=15", want);
        struct error err = {0};
        struct workflow *w = make(names[i], options, 11, &err);
        if (!ok(w != NULL, "%s: made %s", names[i], err.text))
            continue;
        struct statistics s;
        graph_statistics(w, &s);
        is_dbl(s.ccr, want, want * 1e-4, "%s: ccr", names[i]);
        ok(s.work / s.tasks > 8 && s.work / s.tasks < 12, "%s: mean work %g", names[i],
           s.work / s.tasks);
        workflow_free(w);
    }
    struct error err = {0};
    struct workflow *w = make("tgff", "ccr=0 n=200 work-min=3 work-max=3 memory=1K", 1, &err);
    ok(w && w->nobjects == 0 && w->npairs > 0, "ccr=0: edges without data");
    bool same = w, memory = w;
    for (uint32_t t = 0; w && t < w->ntasks; t++) {
        same = same && w->work[t] == 3;
        memory = memory && w->memory[t] >= 500 && w->memory[t] <= 1500;
    }
    ok(same && memory, "work-min = work-max gives that work; memory around its mean");
    workflow_free(w);
    w = make("layered", "n=400 costs=n3 data-min=2048 data-max=4096", 1, &err);
    bool cubes = w;
    for (uint32_t t = 0; w && t < w->ntasks; t++) {
        double d = round(cbrt(w->work[t]));
        cubes = cubes && (d == 2048 || d == 3072);
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            cubes = cubes && w->size[w->succ_object[e]] == 8 * d * d;
    }
    ok(cubes, "daggen's costs: d^3 operations, 8 d^2 bytes %s", err.text);
    workflow_free(w);
}

static void layered(void)
{
    struct error err = {0};
    struct workflow *w = make("layered", "n=2000 fat=0.5 regular=0.5 density=0.3 jump=3", 5, &err);
    uint32_t *depth = mem_new(uint32_t, w->ntasks);
    double depths = graph_depths(w, depth), parents = 0, most = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double in = w->pred_off[t + 1] - w->pred_off[t];
        parents += in;
        most = fmax(most, in);
    }
    /* width 44 +- 22: about 45 levels, of which jumps may skip some; parents 1 + U(0, 0.3 x width)
     */
    ok(depths > 20 && depths < 60, "jump=3: depth %g", depths);
    ok(parents / w->ntasks > 5 && parents / w->ntasks < 9.5, "density 0.3: %g parents",
       parents / w->ntasks);
    ok(most <= 1 + 0.3 * 66, "at most %g parents", most);
    free(depth);
    workflow_free(w);
    w = make("layered", "n=500 density=1 parents=3", 5, &err);
    most = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, w->pred_off[t + 1] - w->pred_off[t]);
    is_int(most, 3, "parents=3 limits the parents");
    workflow_free(w);
}

static void tgff(void)
{
    struct error err = {0};
    struct workflow *w = make("tgff", "n=3000 max-in=3 max-out=5", 2, &err);
    uint32_t in = 0, out = 0, sources = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t i = w->pred_off[t + 1] - w->pred_off[t], o = w->succ_off[t + 1] - w->succ_off[t];
        in = i > in ? i : in;
        out = o > out ? o : out;
        sources += i == 0;
    }
    is_int(in, 3, "in-degree up to max-in");
    is_int(out, 5, "out-degree up to max-out");
    is_int(sources, 1, "one source");
    workflow_free(w);
    w = make("tgff", "n=3000 mean-degree=4", 2, &err);
    ok(fabs(w->npairs / 3000.0 - 4) < 0.2, "mean-degree=4: %g edges a task", w->npairs / 3000.0);
    workflow_free(w);
    w = make("tgff", "n=50", 9, &err);
    ok(w->npairs >= 49 && w->npairs <= 150, "n=50: %u edges", w->npairs);
    workflow_free(w);
}

/* Table 1 of HetPart: ranges of m, w, f per category, and the fanout. */
static void prufer(void)
{
    static const struct {
        const char *category;
        double m_low, m_high, m_spread, w_low, w_high, f_low, f_high, f_spread, fanout_low,
            fanout_high;
    } rows[] = {
        {"random", 11, 200, 10, 0.01, 0.9, 1000, 5000, 500, 1.5, 1.7},
        {"large-all", 1100, 20000, 1000, 1, 90, 100000, 500000, 50000, 1.5, 1.7},
        {"small-all", 1, 20, 1, 0.001, 0.09, 100, 500, 5, 1.5, 1.7},
        {"large-m", 1100, 20000, 1000, 0.01, 0.9, 1000, 5000, 500, 1.5, 1.7},
        {"large-w", 11, 200, 10, 1, 90, 1000, 5000, 500, 1.5, 1.7},
        {"large-f", 11, 200, 10, 0.01, 0.9, 100000, 500000, 50000, 1.5, 1.7},
        {"fanout3", 11, 200, 10, 0.01, 0.9, 1000, 5000, 500, 2.8, 3.2},
        {"fanout20", 11, 200, 10, 0.01, 0.9, 1000, 5000, 500, 18, 22},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char options[64];
        snprintf(options, sizeof options, "n=4000 category=%s", rows[i].category);
        struct error err = {0};
        struct workflow *w = make("prufer", options, i + 1, &err);
        double m[2] = {INFINITY, 0}, work[2] = {INFINITY, 0}, f[2] = {INFINITY, 0}, inner = 0;
        for (uint32_t t = 0; t < w->ntasks; t++) {
            m[0] = fmin(m[0], w->memory[t]), m[1] = fmax(m[1], w->memory[t]);
            work[0] = fmin(work[0], w->work[t]), work[1] = fmax(work[1], w->work[t]);
            inner += w->succ_off[t + 1] > w->succ_off[t];
        }
        for (uint32_t o = 0; o < w->nobjects; o++)
            f[0] = fmin(f[0], w->size[o]), f[1] = fmax(f[1], w->size[o]);
        is_int(graph_tree_shape(w), TREE_OUT, "%s: a tree", rows[i].category);
        is_dbl(m[1] - m[0], 2 * rows[i].m_spread, rows[i].m_spread * 0.02,
               "%s: m within its spread", rows[i].category);
        ok(m[0] >= rows[i].m_low - rows[i].m_spread && m[1] <= rows[i].m_high + rows[i].m_spread,
           "%s: m in %g .. %g", rows[i].category, m[0], m[1]);
        is_dbl(f[1] - f[0], 2 * rows[i].f_spread, rows[i].f_spread * 0.02,
               "%s: f within its spread", rows[i].category);
        ok(f[0] >= rows[i].f_low - rows[i].f_spread && f[1] <= rows[i].f_high + rows[i].f_spread,
           "%s: f in %g .. %g", rows[i].category, f[0], f[1]);
        ok(work[0] >= rows[i].w_low && work[0] < 2 * rows[i].w_low && work[1] <= rows[i].w_high &&
               work[1] > 0.98 * rows[i].w_high,
           "%s: w in %g .. %g", rows[i].category, work[0], work[1]);
        double fanout = (w->ntasks - 1) / inner;
        ok(fanout > rows[i].fanout_low && fanout < rows[i].fanout_high, "%s: fanout %g",
           rows[i].category, fanout);
        is_int(w->ninputs, 1, "%s: one input", rows[i].category);
        is_int(w->pred_off[1], 0, "%s: the root is the first task", rows[i].category);
        ok(workflow_find_object(w, "root-input") != NONE, "%s: root-input", rows[i].category);
        workflow_free(w);
    }
}

static void manytask(void)
{
    struct error err = {0};
    struct workflow *w = make("fanout", "cores=20", 3, &err);
    double time = 0, size = 0, most = 0;
    uint32_t degree = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        time += w->work[t];
        most = fmax(most, w->work[t]);
        uint32_t out = w->succ_off[t + 1] - w->succ_off[t];
        degree = out > degree ? out : degree;
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        size += w->size[o];
    is_int(w->ntasks, 20000, "1,000 tasks a core");
    is_int(w->nobjects, 20000, "an output a task");
    is_int(degree, 10, "out-degree 10");
    is_dbl(time / 20000, 0.05, 0.001, "50 ms on average");
    ok(most <= 0.1 && most > 0.099, "at most 100 ms");
    is_dbl(size / 20000, 5e6, 1e5, "5 MB on average");
    workflow_free(w);
    w = make("bag", "per-core=10 time=2s size=0 memory=1G", 3, &err);
    ok(w && w->memory[0] == 1e9 && w->ntasks == 10, "scaled bag %s", err.text);
    workflow_free(w);
}

static void platforms(void)
{
    struct error err = {0};
    struct platform *p = make_platform("fourfold", "dmax=100", 1, &err);
    is_int(p->nnodes, 36, "4 x 9 nodes");
    is_dbl(p->bandwidth, 500, 0, "bandwidth 500");
    const struct {
        const char *node;
        double memory, speed;
    } kinds[] = {
        {"extra-light1", 50, 3}, {"light9", 100, 1.5}, {"moderate5", 150, 1}, {"fat9", 300, 0.5}};
    for (size_t i = 0; i < 4; i++) {
        uint32_t node = platform_find_node(p, kinds[i].node);
        ok(node != NONE && p->memory[node] == kinds[i].memory && p->speed[node] == kinds[i].speed,
           "%s", kinds[i].node);
    }
    platform_free(p);
    p = make_platform("homogeneous",
                      "n=5 speed=2 bandwidth=10M latency=1ms cores=4 memory=2G ports=3", 1, &err);
    ok(p && p->nnodes == 5 && p->speed[4] == 2 && p->cores[4] == 4 && p->memory[4] == 2e9 &&
           p->bandwidth == 1e7 && p->latency == 1e-3 && p->ports == 3 && platform_is_uniform(p),
       "homogeneous as asked %s", err.text);
    platform_free(p);
    p = make_platform("homogeneous", "bandwidth=0", 1, &err);
    ok(p && isinf(p->bandwidth) && isinf(p->memory[0]), "0: no limit");
    platform_free(p);
    p = make_platform("heterogeneous", "n=100 speed=10 heterogeneity=0.5 links=pairs cores=8", 1,
                      &err);
    double low = INFINITY, high = 0, bandwidth, latency, bottom = INFINITY, top = 0;
    uint32_t cores = 0;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        low = fmin(low, p->speed[i]);
        high = fmax(high, p->speed[i]);
        cores = p->cores[i] > cores ? p->cores[i] : cores;
        for (uint32_t j = 0; j < i; j++) {
            platform_link(p, i, j, &bandwidth, &latency);
            bottom = fmin(bottom, bandwidth);
            top = fmax(top, bandwidth);
        }
    }
    ok(low >= 7.5 && low < 8 && high <= 12.5 && high > 12, "speeds %g .. %g", low, high);
    ok(bottom >= 0.5 && bottom < 0.51 && top <= 1.5 && top > 1.49, "links %g .. %g", bottom, top);
    is_int(cores, 8, "cores up to 8");
    platform_free(p);
}

static void refused(void)
{
    static const struct {
        const char *name, *options, *text;
    } wrong[] = {
        {"layered", "m=3", "has no option 'm'"},
        {"layered", "densty=0.3", "did you mean 'density'"},
        {"layered", "n=0", "out of range: expected 1 to"},
        {"layered", "n=1e3", "expected a whole number"},
        {"layered", "fat=1.5", "out of range"},
        {"layered", "fat=nan", "expected a number"},
        {"layered", "n=1000000 density=1", "lower density"},
        {"layered", "costs=n4", "one of uniform|mixed|n2|nlogn|n3"},
        {"layered", "costs=n2 data-min=9000 data-max=8000", "exchange them"},
        {"layered", "n=99999999999999999999", "expected a whole number"},
        {"tgff", "work-min=5 work-max=3", "exchange them"},
        {"random", "n=1000000", "lower p"},
        {"random", "n=3 edges=4", "more than the 3 pairs"},
        {"fft", "points=12", "not a power of two; try 8"},
        {"fft", "calls=perhaps", "expected yes or no"},
        {"stencil", "rows=100000 cols=100000", "lower rows or cols"},
        {"outtree", "depth=100", "lower depth"},
        {"montage", "images=4 diffs=7", "more than the 6 pairs"},
        {"bag", "time=5x", "a time such as"},
        {"bag", "size=5x", "a size such as"},
        {"bag", "per-core=20000000 cores=20000000", "lower per-core"},
        {"prufer", "category=medium", "one of random|"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error err = {0};
        struct workflow *w = make(wrong[i].name, wrong[i].options, 1, &err);
        ok(!w && err.kind == ERROR_INPUT, "%s %s: refused", wrong[i].name, wrong[i].options);
        has_str(err.text, wrong[i].text, "%s %s: says why", wrong[i].name, wrong[i].options);
        workflow_free(w);
    }
    struct error err = {0};
    ok(!make_platform("heterogeneous", "n=3000 links=pairs", 1, &err), "too many pairs: refused");
    has_str(err.text, "2000 nodes", "says why");
    error_clear(&err);
    ok(!make_platform("layered", "", 1, &err), "a workflow is no platform");
    error_clear(&err);
    ok(!generator_find("montag") && !generator_unknown("montag", &err), "unknown generator");
    has_str(err.text, "did you mean 'montage'", "suggests");
    error_clear(&err);
    generator_unknown("zzzzzz", &err);
    has_str(err.text, "no generator 'zzzzzz'", "names it");
}

/* Large ones: only that they come, the seconds are for reading. */
static void large(void)
{
    static const char *const rows[][2] = {
        {"layered", "n=100000 parents=5"},   {"tgff", "n=100000"},   {"prufer", "n=100000"},
        {"random", "n=100000 edges=200000"}, {"fanin", "cores=100"}, {"fft", "points=4096"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        double start = clock_seconds();
        struct workflow *w = make(rows[i][0], rows[i][1], 1, &err);
        ok(w != NULL, "%s %s: made %s", rows[i][0], rows[i][1], err.text);
        if (w)
            printf("# %u tasks, %u edges in %.2f s\n", w->ntasks, w->npairs,
                   clock_seconds() - start);
        workflow_free(w);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(conformance), TAP_CASE(structure), TAP_CASE(pinned), TAP_CASE(costs),
        TAP_CASE(layered),     TAP_CASE(tgff),      TAP_CASE(prufer), TAP_CASE(manytask),
        TAP_CASE(platforms),   TAP_CASE(refused),   TAP_CASE(large),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
