/* Platforms. Speed and bandwidth are 1 unless asked otherwise, so that a generated workflow's ccr
 * is the ratio of times. */
#include "generate/generators.h"
#include "generate/sketch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Nodes that fit in memory with ease; pairs of nodes are quadratic, so fewer of those. */
enum { NODES_MOST = 1000000, PAIRS_MOST = 2000 };

#define NETWORK_OPTIONS                                                                            \
    {"latency", OPTION_SECONDS, "0", NULL, 0, 1e6, "seconds a message takes however small"},       \
    {                                                                                              \
        "ports", OPTION_INTEGER, "0", NULL, 0, 1000000,                                            \
            "partners a node can talk to at once; 0: no limit"                                     \
    }
#define NODE_OPTIONS                                                                               \
    {"cores", OPTION_INTEGER, "1", NULL, 1, 65536, "cores of a node"},                             \
    {                                                                                              \
        "memory", OPTION_BYTES, "0", NULL, 0, 1e18, "memory of a node; 0: no limit"                \
    }

/* A node "stem" + number with these figures; not drawn ones are the platform's defaults. */
static void platform_add_node(struct platform_builder *b, const char *stem, uint32_t number,
                              double speed, double cores, double memory)
{
    char name[64];
    int len = snprintf(name, sizeof name, "%s%u", stem, number);
    uint32_t node = platform_builder_node(b, name, (size_t)len, 0);
    platform_builder_speed(b, node, speed, 0);
    platform_builder_cores(b, node, cores, 0);
    if (memory > 0)
        platform_builder_memory(b, node, memory, 0);
}

/* The network's own figures; bandwidth 0: the pairs state theirs. */
static struct platform_builder *platform_begin(const struct generator_request *r, double bandwidth)
{
    struct platform_builder *b = platform_builder_new("<generated>");
    platform_builder_name(b, r->generator->name, strlen(r->generator->name));
    platform_builder_network(b, bandwidth > 0 ? bandwidth : NAN, generator_real(r, "latency"),
                             generator_real(r, "ports"), 0);
    return b;
}

/* ---- homogeneous ---- */

/* Equal nodes: speeds and bandwidth are what the options say, nothing is drawn. */
static const struct option homogeneous_options[] = {
    {"n", OPTION_INTEGER, "8", NULL, 1, NODES_MOST, "nodes"},
    {"speed", OPTION_NUMBER, "1", NULL, 1e-9, 1e18, "operations a second"},
    {"bandwidth", OPTION_BYTES, "1", NULL, 0, 1e18, "bytes a second; 0: no limit"},
    NETWORK_OPTIONS,
    NODE_OPTIONS,
    {0},
};

static struct platform *make_homogeneous(const struct generator_request *r, struct error *err)
{
    struct platform_builder *b = platform_begin(r, generator_real(r, "bandwidth"));
    uint32_t n = (uint32_t)generator_whole(r, "n");
    double speed = generator_real(r, "speed"), cores = generator_real(r, "cores");
    double memory = generator_real(r, "memory");
    for (uint32_t i = 1; i <= n; i++)
        platform_add_node(b, "n", i, speed, cores, memory);
    return platform_builder_finish(b, err);
}

const struct generator generator_homogeneous = {
    .name = "homogeneous",
    .summary = "nodes that are all alike",
    .kind = GENERATES_PLATFORM,
    .options = homogeneous_options,
    .platform = make_homogeneous,
};

/* ---- fourfold ---- */

static const struct option fourfold_options[] = {
    {"dmax", OPTION_BYTES, "1G", NULL, 1e-9, 1e18,
     "memory of a light node: what the most demanding task needs"},
    {"per-kind", OPTION_INTEGER, "9", NULL, 1, NODES_MOST / 4, "nodes of each of the four kinds"},
    {"bandwidth", OPTION_BYTES, "500", NULL, 0, 1e18, "bytes a second; 0: no limit"},
    NETWORK_OPTIONS,
    {0},
};

static struct platform *make_fourfold(const struct generator_request *r, struct error *err)
{
    static const struct {
        const char *stem;
        double memory, speed;
    } kinds[] = {{"extra-light", 0.5, 3}, {"light", 1, 1.5}, {"moderate", 1.5, 1}, {"fat", 3, 0.5}};
    struct platform_builder *b = platform_begin(r, generator_real(r, "bandwidth"));
    double dmax = generator_real(r, "dmax");
    uint32_t count = (uint32_t)generator_whole(r, "per-kind");
    for (size_t k = 0; k < 4; k++)
        for (uint32_t i = 1; i <= count; i++)
            platform_add_node(b, kinds[k].stem, i, kinds[k].speed, 1, kinds[k].memory * dmax);
    return platform_builder_finish(b, err);
}

const struct generator generator_fourfold = {
    .name = "fourfold",
    .summary = "the 4-fold cluster of HetPart's Table 2: the more memory, the slower",
    .kind = GENERATES_PLATFORM,
    .options = fourfold_options,
    .platform = make_fourfold,
};

/* ---- heterogeneous ---- */

static const struct option heterogeneous_options[] = {
    {"n", OPTION_INTEGER, "8", NULL, 1, NODES_MOST, "nodes"},
    {"speed", OPTION_NUMBER, "1", NULL, 1e-9, 1e18, "mean operations a second"},
    {"heterogeneity", OPTION_NUMBER, "1", NULL, 0, 1.99,
     "h: speeds are uniform in mean x (1 - h/2 .. 1 + h/2)"},
    {"bandwidth", OPTION_BYTES, "1", NULL, 1e-9, 1e18, "mean bytes a second"},
    {"links", OPTION_CHOICE, "alike", "alike|pairs", 0, 0,
     "pairs: every pair of nodes has a bandwidth of its own (up to 2,000 nodes)"},
    {"link-heterogeneity", OPTION_NUMBER, "1", NULL, 0, 1.99, "the same for links=pairs"},
    NETWORK_OPTIONS,
    {"cores", OPTION_INTEGER, "1", NULL, 1, 65536, "most cores of a node, drawn from 1"},
    {"memory", OPTION_BYTES, "0", NULL, 0, 1e18,
     "mean memory of a node, drawn like the speeds but on its own; 0: no limit"},
    {0},
};

static double draw_around(struct rng *rng, double mean, double heterogeneity)
{
    return sketch_round(mean * rng_uniform(rng, 1 - heterogeneity / 2, 1 + heterogeneity / 2));
}

static struct platform *make_heterogeneous(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n");
    bool pairs = strcmp(generator_text(r, "links"), "pairs") == 0;
    if (pairs && n > PAIRS_MOST) {
        error_set(
            err, ERROR_INPUT,
            "generator 'heterogeneous': links=pairs is for up to %d nodes, not %u; leave it out",
            PAIRS_MOST, n);
        return NULL;
    }
    struct rng rng;
    rng_seed(&rng, r->seed);
    double bandwidth = generator_real(r, "bandwidth"), h = generator_real(r, "heterogeneity");
    double speed = generator_real(r, "speed"), memory = generator_real(r, "memory");
    uint64_t cores = (uint64_t)generator_whole(r, "cores");
    struct platform_builder *b = platform_begin(r, bandwidth);
    for (uint32_t i = 1; i <= n; i++) {
        double own = draw_around(&rng, speed, h), ncores = 1 + (double)rng_below(&rng, cores);
        platform_add_node(b, "n", i, own, ncores,
                          memory > 0 ? fmax(1, draw_around(&rng, memory, h)) : 0);
    }
    double link = generator_real(r, "link-heterogeneity");
    for (uint32_t i = 0; pairs && i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            platform_builder_link(b, i, j, draw_around(&rng, bandwidth, link), NAN, 0);
    return platform_builder_finish(b, err);
}

const struct generator generator_heterogeneous = {
    .name = "heterogeneous",
    .summary = "nodes of random speeds, and links of random bandwidths if wanted",
    .kind = GENERATES_PLATFORM,
    .options = heterogeneous_options,
    .platform = make_heterogeneous,
};
