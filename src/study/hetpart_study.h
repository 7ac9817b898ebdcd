/* What the parts of `weft reproduce hetpart` share: hetpart.c (instances, tables and figures) and hetpart_head.c
 * (what agrees, what differs and why, and where the paper's figures and tables are). */
#pragma once
#include "base/array.h"
#include "study/reproduction.h"

enum hetpart_run_name {
    ASAP_ML,
    ASAP_SM,
    ASAP_FF,
    ML,
    SM,
    FF,
    HET1_ASAP, /* HetPart1 as published: ASAP alone */
    HET1,      /* speeds all 1, as the paper compares these */
    HET1_ASAP_SPEEDS,
    HET1_SPEEDS,
    HET2_ASAP,
    HET2_A,
    HET2_AB,
    TREE, /* the speeds of Table 2 */
    RUNS
};

/* What the paper's text says of each category; NAN: it does not. Ratios of makespans; `a`: phase A
 * alone over HetPart1; `nine`: figure 9, run times of A+B over HetPart1 (the text exchanges the numbers
 * of categories 6 and 7, not their names: we go by the names). Seconds are those of Table 3: all, the
 * ten smallest, the ten biggest trees. */
struct hetpart_category {
    const char *title, *generator; /* NULL: from files */
    const char *folder;            /* how the published trees of this category are named */
    double ml, sm, ff, unsolved, a, ab, nine;
    double seconds1[3], seconds2[3];
};
enum { CATEGORIES = 9 };
extern const struct hetpart_category hetpart_categories[CATEGORIES];

/* One tree under all runs. */
struct hetpart_row {
    size_t category;
    uint32_t tasks;
    double makespan[RUNS], seconds[RUNS], bound; /* NAN: no valid mapping */
};

struct hetpart_study {
    const struct reproduction_options *o;
    ARRAY(struct hetpart_row) rows;
    size_t skipped;
};

/* A geometric mean with its interval, as the paper gives them. */
struct hetpart_mean {
    double mean, low, high; /* geometric, 95 % interval; NAN: no instance has both */
    size_t count;
};

/* Of run a over run b, makespans or run times; category CATEGORIES: all of them. */
struct hetpart_mean hetpart_ratio(const struct hetpart_study *s, size_t category,
                                  enum hetpart_run_name a, enum hetpart_run_name b, bool seconds);

enum hetpart_sizes { ALL_SIZES, SMALL_TEN, BIG_TEN };

/* Geometric mean of planning times; NAN: the category has no trees. */
double hetpart_seconds(const struct hetpart_study *s, size_t category, enum hetpart_run_name r,
                       enum hetpart_sizes sizes);
/* Share of trees for which the run found no valid mapping. */
double hetpart_unsolved(const struct hetpart_study *s, size_t category, enum hetpart_run_name r);

/* The first words of the page (hetpart_head.c). */
void hetpart_head(const struct hetpart_study *s, struct strbuf *out);
