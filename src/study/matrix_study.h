/* What the two halves of `weft reproduce matrix` share: matrix.c (the study, the applications of section 4.1)
 * and matrix_benchmarks.c (benchmark graphs, bounds, empty tasks, adapting). */
#pragma once
#include "sim/bound.h"
#include "sim/schedulers.h"
#include "study/reproduction.h"

struct chart;

/* Rooms for scales in the tables; the four graphs of Table 3. */
enum { SCALES_MOST = 20, DAGS = 4 };

/* How a workload is run. */
struct matrix_manner {
    enum sched_policy policy;
    bool
        paper; /* as section 2 describes: tasks by hash, thieves get the SReadyQ only, ready tasks by the
                   size of their data, no fetching ahead, data from where they were written or are cached */
    bool no_cache;
    bool scattered; /* tasks by hash, all else as we do it */
    bool one;       /* with `paper`: all tasks to one scheduler, section 2.2.2's worst case */
    bool even;      /* connected shares of equal work, not of equal number */
    bool adapt;     /* section 4.4 */
};

/* What the head of the report says in words: shares, but `longest` and efficiencies in percent. */
struct matrix_findings {
    double longest;                  /* Figure 5 (a): ms a task, the most of all localities */
    double even, drawn;              /* Figure 5 (b): files dealt out evenly, drawn */
    double empty;                    /* Figure 13: tasks a second of the most instances, */
    uint32_t instances;              /* which are so many */
    double daws;                     /* Figure 6 (a): as described */
    double policies[3][SCALES_MOST]; /* Figure 6 (b): MLB, MDL, FLDS */
    double caching[2][SCALES_MOST];  /* Figure 7: with, without */
    double growth[DAGS]; /* Figure 9: throughput over cores, the last scale over the first */
    double described[DAGS], ours[DAGS]; /* Table 4: as described by hash; ours */
    double bound[DAGS]; /* Figure 12, the last scale: tasks a second for each core */
};

struct matrix_study {
    struct matrix_findings findings;
    const struct reproduction_options *o;
    struct strbuf md;
    struct error *err;
    uint32_t nodes[SCALES_MOST], nscales; /* of two cores each */
    double of_bound[DAGS][SCALES_MOST];
};

extern const char *const matrix_dag_names[DAGS];
extern const double matrix_table4[DAGS]; /* published: the average share of the bound */
extern const double
    matrix_figure12[DAGS]; /* published: the bound at 131,072 cores, tasks a second */

/* matrix.c */
bool matrix_simulate(struct matrix_study *s, struct workload *d, uint32_t nodes,
                     struct matrix_manner m, struct schedulers_result *r);
bool matrix_bound(struct matrix_study *s, struct workload *d, uint32_t nodes, enum bound_wait wait,
                  struct bound_result *r);
struct workload matrix_benchmark(const struct matrix_study *s, enum workload_kind kind,
                                 uint32_t nodes);
bool matrix_write_chart(struct matrix_study *s, const char *file, const struct chart *c);
static inline double matrix_percent(double share)
{
    return 100 * share;
}

/* matrix_head.c */
/* What agrees, what differs and why, what cannot be known: by what was found. And where everything stands. */
void matrix_write_head(const struct matrix_study *s, struct strbuf *md);
void matrix_comment_6b(struct matrix_study *s); /* how far the policies are apart */
/* matrix_benchmarks.c */
bool matrix_figures_9_to_12(struct matrix_study *s); /* and Table 4 */
/* matrix_costs.c */
bool matrix_figure_13(struct matrix_study *s);
bool matrix_section_4_4(struct matrix_study *s);
