/* What the parts of `weft reproduce mos` share: mos.c (tables and figures of sections 5 and 6), mos_examples.c
 * (the worked examples, Figures 1 to 3), mos_claims.c with mos_claims_applications.c (what the report says in words) and mos_trials.c
 * (fluctuating times, and plans that are executed). */
#pragma once
#include "generate/mos_graphs.h"
#include "study/reproduction.h"

enum { MOS, FCP, FCP_E, EXP, EXP_E, SCHEMES, LEVELS = 5, PROCESSORS = 32 };
/* Of the synthetic graphs: CCR 0.1, 1, 10 and k 2, 4, 8. SHARES: of the way between two latencies, Figure 9. */
enum { CCRS = 3, PORTS = 3, SHARES = 5 };

/* What a scheme did with one graph at one throughput. */
struct mos_outcome {
    bool meets;
    double latency, throughput;
    uint32_t processors;
    bool pipelined;
};

/* How often both a published latency ratio and one of ours exist, and their sums. */
struct mos_tally {
    double published, ours;
    uint32_t points, missed, met; /* missed: by us only; met: by us only */
};

/* A setting of the synthetic graphs: how edges are drawn, communication to computation, ports. */
struct mos_config {
    bool mean_degree;
    double ccr;
    uint32_t ports;
};

/* Over the graphs of a setting, where the scheme met the throughput. */
struct mos_averages {
    double latency[LEVELS][SCHEMES], use[LEVELS][SCHEMES]; /* ratios */
    uint32_t met[LEVELS][SCHEMES], graphs;                 /* graphs 0: the setting was left out */
    double duplication[LEVELS];                            /* latency of MOS without / with it */
    double most_duplication;                               /* the same, of one graph */
    double plain_use[LEVELS];      /* processors of MOS without duplication, ratio */
    uint32_t edges, tasks;         /* of all graphs */
    double bound[LEVELS][SCHEMES]; /* latency / longest path with free edges: the ratio to the best
                                      that there could be is not above it */
};

/* Over all graphs, by the share of the way between the least and the greatest latency. */
struct inverse_totals {
    double sum[SHARES][SCHEMES];
    uint32_t found[SHARES][SCHEMES];
};

/* What the sections found, for the comparison with the report's words. */
struct mos_found {
    struct mos_averages set[2][CCRS][PORTS]; /* [0]: TGFF's method, [1]: 4 edges a task */
    struct mos_outcome dvb[PORTS][LEVELS][SCHEMES], video[LEVELS][SCHEMES];
    struct mos_outcome placenta[LEVELS][SCHEMES], mpeg[4][SCHEMES];
    struct inverse_totals inverse[CCRS][PORTS];
    /* runs of MOS, by how edges are drawn as in `set`: those that missed their throughput; flat: the
     * schedule that is not pipelined won */
    uint32_t missed[2], runs[2][LEVELS], flat[2][LEVELS];
    uint32_t words,
        held; /* statements of the report that were judged; that hold with every kind of graph */
};

struct mos_study {
    const struct reproduction_options *o;
    struct strbuf md;
    struct platform *platform;
    struct error *err;
    struct mos_tally tally[SCHEMES];
    uint32_t examples, examples_agree; /* quantities of Figures 1 to 3 and 4.1.3 */
    struct mos_found claims;
};

/* Synthetic graphs of each setting. */
static inline uint32_t mos_graph_count(const struct mos_study *s)
{
    return s->o->quick ? 3 : 30;
}

/* Read off Figure 4(b): processors used / 32, by share and scheme. */
extern const double mos_figure_4b[LEVELS][SCHEMES];

/* Graph number `index` of a set of `count`. */
struct workflow *mos_study_graph(const struct mos_study *s, const struct mos_config *c,
                                 uint32_t index, uint32_t count);

bool mos_examples(struct mos_study *s);                            /* mos_examples.c */
void mos_write_head(const struct mos_study *s, struct strbuf *md); /* mos_head.c */
bool mos_claims(struct mos_study *s);                              /* mos_claims.c */
bool mos_fluctuating(struct mos_study *s);                         /* mos_trials.c */
bool mos_executed(struct mos_study *s);
