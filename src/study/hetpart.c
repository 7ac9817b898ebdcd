/* `weft reproduce hetpart`: HomPart, HetPart1, HetPart2 and `tree` over the nine instance
 * categories of the HetPart paper on the cluster of its Table 2, with its figures 4 to 10 and Table
 * 3 beside ours. */
#include "base/mem.h"
#include "base/tree.h"
#include "study/hetpart_study.h"
#include "formats/format.h"
#include "generate/generate.h"
#include "model/check.h"
#include "model/tree.h"
#include "plan/planner.h"
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is run ---- */

/* Planners and their options; rows in the order of enum hetpart_run_name. */
static const struct hetpart_run {
    const char *title, *planner;
    struct option_value option[2];
} runs[RUNS] = {
    [ASAP_ML] = {"HomPart-ML, ASAP", "hompart", {{"scenario", "ml"}, {"step1", "asap"}}},
    [ASAP_SM] = {"HomPart-SM, ASAP", "hompart", {{"scenario", "sm"}, {"step1", "asap"}}},
    [ASAP_FF] = {"HomPart-FF, ASAP", "hompart", {{"scenario", "ff"}, {"step1", "asap"}}},
    [ML] = {"HomPart-ML", "hompart", {{"scenario", "ml"}}},
    [SM] = {"HomPart-SM", "hompart", {{"scenario", "sm"}}},
    [FF] = {"HomPart-FF", "hompart", {{"scenario", "ff"}}},
    [HET1_ASAP] = {"HetPart1 as published", "hetpart1", {{"step1", "asap"}}},
    [HET1] = {"HetPart1", "hetpart1", {{0}}},
    [HET1_ASAP_SPEEDS] = {"HetPart1 as published, with speeds", "hetpart1", {{"step1", "asap"}}},
    [HET1_SPEEDS] = {"HetPart1 with speeds", "hetpart1", {{0}}},
    [HET2_ASAP] = {"HetPart2 A+B from ASAP", "hetpart2", {{"step1", "asap"}}},
    [HET2_A] = {"HetPart2 A", "hetpart2", {{"phase", "a"}}},
    [HET2_AB] = {"HetPart2 A+B", "hetpart2", {{"phase", "ab"}}},
    [TREE] = {"tree", "tree", {{0}}},
};

const struct hetpart_category hetpart_categories[CATEGORIES] = {
    /* clang-format off */
    {"sparse matrices", NULL, NULL, 1.31, 1.25, 1.422, 0, NAN, NAN, 0.97, {13.5, 1.4, 984.7}, {8.9, 1.35, 189.2}},
    {"random", "random", "random", 1.154, 1.33, 1.867, NAN, NAN, NAN, 1.05, {23.5, 1.1, 305.2}, {8.0, 2.04, 30.0}},
    {"larger fanout", "fanout3", "3_children", NAN, NAN, NAN, 1, NAN, 0.681, NAN, {26.4, 1.2, 407.3}, {5.2, 1.5, 15.7}},
    {"largest fanout", "fanout20", "20_children", NAN, NAN, NAN, 0.5, 0.699, 0.556, 0.75, {4.3, 0.2, 430.4}, {1.9, 0.21, 10.2}},
    {"large m", "large-m", "large_node_weights", 1.212, NAN, NAN, NAN, NAN, NAN, 0.75, {27.2, 0.9, 448.8}, {8.1, 1.7, 32.9}},
    {"large w", "large-w", "large_edge_weights", 1.083, 1.294, 1.827, NAN, NAN, NAN, 1.165, {26.5, 1.2, 238.4}, {9.0, 2.4, 34.6}},
    {"large f", "large-f", "large_makespan_weights", NAN, 0.875, NAN, NAN, NAN, NAN, 1.28, {1.4, 0.1, 120.4}, {1.1, 0.33, 14.1}},
    {"large m, w, f", "large-all", "all_large", 1.172, NAN, NAN, NAN, NAN, NAN, NAN, {23.2, 1.1, 305.1}, {8.3, 1.8, 30.9}},
    {"small m, w, f", "small-all", "all_small", 1.261, NAN, NAN, NAN, NAN, NAN, 1.22, {34.5, 1.9, 462.1}, {8.0, 2.9, 31.3}},
    /* clang-format on */
};
/* Table 2: bandwidth 500, the light nodes hold the most demanding task just so. */
static struct platform *table2_cluster(double dmax, bool speeds, struct error *err)
{
    static const struct {
        const char *stem;
        double memory, speed;
    } kinds[] = {{"extra-light", 0.5, 3}, {"light", 1, 1.5}, {"moderate", 1.5, 1}, {"fat", 3, 0.5}};
    struct platform_builder *b = platform_builder_new("<table 2>");
    platform_builder_network(b, 500, 0, NAN, 0);
    char name[32];
    for (size_t k = 0; k < 4; k++)
        for (int i = 1; i <= 9; i++) {
            int length = snprintf(name, sizeof name, "%s-%d", kinds[k].stem, i);
            uint32_t node = platform_builder_node(b, name, (size_t)length, 0);
            platform_builder_memory(b, node, kinds[k].memory * dmax, 0);
            platform_builder_speed(b, node, speeds ? kinds[k].speed : 1, 0);
        }
    return platform_builder_finish(b, err);
}

/* Plan, check, note. Only a mapping that the checker refuses is an error. */
/* `row->bound` is that of the last run, which is `tree`. */
static bool run_one(const struct hetpart_study *s, enum hetpart_run_name r,
                    const struct workflow *w, const struct platform *p, struct hetpart_row *row,
                    struct error *err)
{
    struct option_value values[4] = {{"memory", "lenient"}};
    size_t count = 1;
    for (size_t k = 0; k < 2 && runs[r].option[k].name; k++)
        values[count++] = runs[r].option[k];
    if (r == TREE && s->o->quick)
        values[count++] = (struct option_value){"budget", "20000moves"};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = values, .noptions = count, .seed = s->o->seed};
    struct error why = {0};
    struct plan *plan = planner_run(planner_find(runs[r].planner), &request, &why);
    row->makespan[r] = row->seconds[r] = NAN;
    if (!plan)
        return why.kind == ERROR_INFEASIBLE || error_set(err, why.kind, "%s", why.text);
    struct check_result result;
    bool good = check_plan(plan, w, p, &result, err);
    if (good && result.total)
        good = error_set(err, ERROR_FAILED, "%s returned a mapping that is not valid: %s",
                         runs[r].title, result.violations.at[0].detail);
    row->makespan[r] = plan_objective(plan, "makespan");
    row->seconds[r] = plan->planning_seconds;
    row->bound = plan_objective(plan, "lower_bound");
    check_result_free(&result);
    plan_free(plan);
    return good;
}

/* All runs on one tree: the cluster's memories follow from the tree's most demanding task. */
static bool run_tree(struct hetpart_study *s, size_t category, const struct workflow *w,
                     struct error *err)
{
    struct tree *t = tree_new(w, err);
    if (!t)
        return false;
    double dmax = tree_largest_need(t);
    tree_free(t);
    struct hetpart_row row = {.category = category, .tasks = w->ntasks, .bound = NAN};
    struct platform *equal = table2_cluster(dmax, false, err),
                    *fast = table2_cluster(dmax, true, err);
    bool good = equal && fast;
    for (enum hetpart_run_name r = 0; r < RUNS && good; r++)
        good = run_one(s, r, w, r < HET1_ASAP_SPEEDS ? equal : fast, &row, err);
    if (good)
        array_push(&s->rows, row);
    platform_free(equal);
    platform_free(fast);
    return good;
}

/* ---- where trees come from ---- */

/* Five trees of each category and size, as in Table 1; the seed of a tree depends on its size and
 * number only. */
static bool run_generated(struct hetpart_study *s, struct error *err)
{
    /* Table 1's sizes; two small ones for tests */
    static const uint32_t sizes[] = {2000, 4000, 10000, 20000, 30000, 50000}, small[] = {300, 800};
    size_t nsizes = s->o->quick ? 2 : 6;
    uint32_t each = s->o->runs ? s->o->runs : s->o->quick ? 1 : 5;
    size_t done = 0, all = (CATEGORIES - 1) * nsizes * each;
    for (size_t c = 0; c < CATEGORIES; c++)
        for (size_t k = 0; hetpart_categories[c].generator && k < nsizes; k++)
            for (uint32_t i = 0; i < each; i++, done++) {
                char n[16];
                snprintf(n, sizeof n, "%u", s->o->quick ? small[k] : sizes[k]);
                struct option_value values[] = {{"n", n},
                                                {"category", hetpart_categories[c].generator}};
                progress_report(s->o->progress, (double)done / (double)all,
                                hetpart_categories[c].title);
                struct workflow *w = generator_workflow(generator_find("prufer"), values, 2,
                                                        s->o->seed + 1000 * k + i, err);
                bool good = w && run_tree(s, c, w, err);
                workflow_free(w);
                if (!good)
                    return false;
            }
    return true;
}

/* By the names of the published folders; anything else is an elimination tree. */
/* Folders of the published data have names that say what is in them. */
static size_t category_of(const char *file)
{
    for (size_t c = 0; c < CATEGORIES; c++)
        if (hetpart_categories[c].folder &&
            strncmp(file, hetpart_categories[c].folder, strlen(hetpart_categories[c].folder)) == 0)
            return c;
    return 0;
}

/* What cannot be read as a tree is counted and passed over: folders hold notes and archives too. */
static bool run_file(struct hetpart_study *s, const char *folder, const char *name,
                     struct error *err)
{
    struct strbuf path = {0};
    struct error why = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    struct workflow *w = format_read_workflow(strbuf_text(&path), NULL, NULL, &why);
    struct tree *t = w ? tree_new(w, &why) : NULL;
    /* a small version looks at small trees only */
    bool usable = t && t->n > 1 && (!s->o->quick || t->n <= 2500);
    tree_free(t);
    s->skipped += !usable;
    bool good = !usable || run_tree(s, category_of(name), w, err);
    workflow_free(w);
    strbuf_free(&path);
    return good;
}

static bool run_folder(struct hetpart_study *s, const char *folder, struct error *err)
{
    folder_names names = {0};
    if (!folder_list(folder, &names))
        return error_set(err, ERROR_INPUT, "--data %s: cannot be opened", folder);
    bool good = true;
    for (size_t k = 0; k < names.n && good; k++) {
        if (names.at[k][0] == '.')
            continue;
        progress_report(s->o->progress, (double)k / (double)names.n, names.at[k]);
        good = run_file(s, folder, names.at[k], err);
    }
    folder_names_free(&names);
    return good;
}

/* The folders of --data, one after the other, before generated trees. */
static bool run_folders(struct hetpart_study *s, struct error *err)
{
    char *list = mem_copy_string(s->o->data), *rest = NULL;
    bool good = true;
    for (char *one = strtok_r(list, ":", &rest); one && good; one = strtok_r(NULL, ":", &rest))
        good = run_folder(s, one, err);
    free(list);
    return good;
}

/* ---- figures ---- */

struct hetpart_mean hetpart_ratio(const struct hetpart_study *s, size_t category,
                                  enum hetpart_run_name a, enum hetpart_run_name b, bool seconds)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->rows.n; k++) {
        const struct hetpart_row *row = &s->rows.at[k];
        double x = seconds ? row->seconds[a] : row->makespan[a];
        double y = seconds ? row->seconds[b] : row->makespan[b];
        if ((category != CATEGORIES && row->category != category) || !(x > 0) || !(y > 0))
            continue;
        double value = log(x / y);
        sum += value;
        squares += value * value;
        n++;
    }
    if (!n)
        return (struct hetpart_mean){NAN, NAN, NAN, 0};
    /* 1.96 standard errors in logarithms: a 95 % interval */
    double mean = sum / (double)n, spread = 0;
    if (n > 1)
        spread = 1.96 * sqrt(fmax(0, squares - (double)n * mean * mean) / (double)(n - 1)) /
                 sqrt((double)n);
    return (struct hetpart_mean){exp(mean), exp(mean - spread), exp(mean + spread), n};
}

/* Is row k among the ten smallest (or biggest) trees of its category? Ties: the earlier row. */
static bool is_of_size(const struct hetpart_study *s, size_t k, enum hetpart_sizes sizes)
{
    size_t before = 0;
    const struct hetpart_row *row = &s->rows.at[k];
    for (size_t j = 0; j < s->rows.n && sizes != ALL_SIZES; j++) {
        const struct hetpart_row *other = &s->rows.at[j];
        bool first = sizes == SMALL_TEN ? other->tasks < row->tasks : other->tasks > row->tasks;
        before +=
            other->category == row->category && (first || (other->tasks == row->tasks && j < k));
    }
    return before < 10;
}

double hetpart_seconds(const struct hetpart_study *s, size_t category, enum hetpart_run_name r,
                       enum hetpart_sizes sizes)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->rows.n; k++)
        if (s->rows.at[k].category == category && s->rows.at[k].seconds[r] > 0 &&
            is_of_size(s, k, sizes)) {
            sum += log(s->rows.at[k].seconds[r]);
            n++;
        }
    return n ? exp(sum / (double)n) : NAN;
}

double hetpart_unsolved(const struct hetpart_study *s, size_t category, enum hetpart_run_name r)
{
    size_t all = 0, none = 0;
    for (size_t k = 0; k < s->rows.n; k++)
        if (category == CATEGORIES || s->rows.at[k].category == category) {
            all++;
            none += isnan(s->rows.at[k].makespan[r]);
        }
    return all ? (double)none / (double)all : NAN;
}

/* "-" for what is not known. */
static void hetpart_add_value(struct strbuf *out, double value, const char *fmt)
{
    char text[32] = "-";
    if (!isnan(value))
        snprintf(text, sizeof text, fmt, value);
    strbuf_printf(out, " %s |", text);
}

/* Ours and the paper's, side by side. */
static void add_pair(struct strbuf *out, double ours, double paper)
{
    hetpart_add_value(out, ours, "%.3f");
    hetpart_add_value(out, paper, "%.3f");
}

/* Bars of runs a[] over b by category, and of all together. */
static bool hetpart_draw(const struct hetpart_study *s, const char *file, const char *title,
                         const enum hetpart_run_name *a, size_t count, enum hetpart_run_name b,
                         bool seconds, struct error *err)
{
    const char *groups[CATEGORIES + 1], *series[RUNS];
    double value[(CATEGORIES + 1) * RUNS], low[(CATEGORIES + 1) * RUNS],
        high[(CATEGORIES + 1) * RUNS];
    for (size_t c = 0; c <= CATEGORIES; c++) {
        groups[c] = c < CATEGORIES ? hetpart_categories[c].title : "all";
        for (size_t k = 0; k < count; k++) {
            struct hetpart_mean m = hetpart_ratio(s, c, a[k], b, seconds);
            series[k] = runs[a[k]].title;
            value[c * count + k] = m.mean;
            low[c * count + k] = m.low;
            high[c * count + k] = m.high;
        }
    }
    struct bar_chart chart = {.title = title,
                              .y_title = seconds ? "ratio of run times" : "ratio of makespans",
                              .groups = groups,
                              .ngroups = CATEGORIES + 1,
                              .series = series,
                              .nseries = count,
                              .value = value,
                              .low = low,
                              .high = high,
                              .reference = 1,
                              .y_log = seconds};
    struct strbuf svg = {0};
    report_bar_chart(&chart, &svg);
    bool good = reproduction_write(s->o, file, &svg, err);
    strbuf_free(&svg);
    return good;
}

/* Figures 4 to 10, one file each. */
static bool draw_all(const struct hetpart_study *s, struct error *err)
{
    static const enum hetpart_run_name hom[] = {ML, SM, FF},
                                       hom_all[] = {ASAP_SM, ASAP_FF, ML, SM, FF}, ab[] = {HET2_AB},
                                       both[] = {HET2_A, HET2_AB, TREE};
    return hetpart_draw(s, "fig4.svg", "Fig. 4: HomPart over HomPart-ML with ASAP", hom_all, 5,
                        ASAP_ML, false, err) &&
           hetpart_draw(s, "fig5.svg", "Fig. 5: HomPart over HetPart1", hom, 3, HET1, false, err) &&
           hetpart_draw(s, "fig6.svg", "Fig. 6: HetPart2 A+B over HetPart1", ab, 1, HET1_SPEEDS,
                        false, err) &&
           hetpart_draw(s, "fig7.svg", "Fig. 7: HetPart2 A, A+B and tree over HetPart1", both, 3,
                        HET1_SPEEDS, false, err) &&
           hetpart_draw(s, "fig8.svg", "Fig. 8: run time of HomPart over HetPart1", hom, 3, HET1,
                        true, err) &&
           hetpart_draw(s, "fig9.svg", "Fig. 9: run time of HetPart2 A+B over HetPart1", ab, 1,
                        HET1_SPEEDS, true, err) &&
           hetpart_draw(s, "fig10.svg", "Fig. 10: run time of HetPart2 A+B over A", ab, 1, HET2_A,
                        true, err);
}

/* HetPart1 with ASAP as its step 1, as the text of the paper has it, beside ours. */
static void report_as_published(const struct hetpart_study *s, struct strbuf *out)
{
    strbuf_add(out,
               "### HetPart1 as published\n\n"
               "Step 1 by ASAP alone, as the paper's text says; the same paper's ratios. "
               "The last columns are ours over it, and\nHetPart2 A+B from it.\n\n"
               "| trees | ML | paper | SM | paper | FF | paper | HetPart1 (ours) | with speeds "
               "| A+B from ASAP | paper A+B |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c <= CATEGORIES; c++) {
        bool one = c < CATEGORIES;
        strbuf_printf(out, "| %s |", one ? hetpart_categories[c].title : "all");
        add_pair(out, hetpart_ratio(s, c, ML, HET1_ASAP, false).mean,
                 one ? hetpart_categories[c].ml : 1.158);
        add_pair(out, hetpart_ratio(s, c, SM, HET1_ASAP, false).mean,
                 one ? hetpart_categories[c].sm : 1.255);
        add_pair(out, hetpart_ratio(s, c, FF, HET1_ASAP, false).mean,
                 one ? hetpart_categories[c].ff : NAN);
        hetpart_add_value(out, hetpart_ratio(s, c, HET1, HET1_ASAP, false).mean, "%.3f");
        hetpart_add_value(out, hetpart_ratio(s, c, HET1_SPEEDS, HET1_ASAP_SPEEDS, false).mean,
                          "%.3f");
        add_pair(out, hetpart_ratio(s, c, HET2_ASAP, HET1_ASAP_SPEEDS, false).mean,
                 one ? hetpart_categories[c].ab : 0.467);
        strbuf_add(out, "\n");
    }
    strbuf_add(out, "\n");
}

/* Figures 4 to 7 as tables. */
static void report_makespans(const struct hetpart_study *s, struct strbuf *out)
{
    strbuf_add(out, "## Figure 4: step 1 of HomPart\n\n"
                    "Makespans over HomPart-ML with ASAP, all trees (geometric means).\n\n"
                    "| | ML | SM | FF |\n|---|---|---|---|\n| ASAP | 1 |");
    hetpart_add_value(out, hetpart_ratio(s, CATEGORIES, ASAP_SM, ASAP_ML, false).mean, "%.3f");
    hetpart_add_value(out, hetpart_ratio(s, CATEGORIES, ASAP_FF, ASAP_ML, false).mean, "%.3f");
    strbuf_add(out, "\n| SplitSubtrees |");
    hetpart_add_value(out, hetpart_ratio(s, CATEGORIES, ML, ASAP_ML, false).mean, "%.3f");
    hetpart_add_value(out, hetpart_ratio(s, CATEGORIES, SM, ASAP_ML, false).mean, "%.3f");
    hetpart_add_value(out, hetpart_ratio(s, CATEGORIES, FF, ASAP_ML, false).mean, "%.3f");
    strbuf_add(out,
               "\n\n![](fig4.svg)\n\n## Figure 5: HomPart over HetPart1\n\n"
               "Speeds all 1. The paper's numbers are those its text states; of unsolved trees it\n"
               "says besides: 2 to 5 of 30 in the categories without a number, 0.07 to 0.17.\n\n"
               "| trees | n | ML | paper | SM | paper | FF | paper | ML unsolved | paper |\n"
               "|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c <= CATEGORIES; c++) {
        static const struct hetpart_category all = {
            .title = "all", .ml = 1.158, .sm = 1.255, .ff = NAN, .unsolved = 0.218};
        const struct hetpart_category *k = c < CATEGORIES ? &hetpart_categories[c] : &all;
        strbuf_printf(out, "| %s | %zu |", k->title, hetpart_ratio(s, c, HET1, HET1, false).count);
        add_pair(out, hetpart_ratio(s, c, ML, HET1, false).mean, k->ml);
        add_pair(out, hetpart_ratio(s, c, SM, HET1, false).mean, k->sm);
        add_pair(out, hetpart_ratio(s, c, FF, HET1, false).mean, k->ff);
        add_pair(out, hetpart_unsolved(s, c, ML), k->unsolved);
        strbuf_add(out, "\n");
    }
    strbuf_add(out, "\n![](fig5.svg)\n\n");
    report_as_published(s, out);
    strbuf_add(
        out,
        "## Figures 6 and 7: HetPart2 over HetPart1\n\n"
        "Speeds of Table 2. The last columns are what goes beyond the paper: planner `tree` over\n"
        "HetPart2 A+B, and over the lower bound.\n\n"
        "| trees | A | paper | A+B | paper | A+B over A | tree over A+B | tree over bound |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c <= CATEGORIES; c++) {
        double sum = 0;
        size_t n = 0;
        for (size_t k = 0; k < s->rows.n; k++) {
            const struct hetpart_row *row = &s->rows.at[k];
            if ((c == CATEGORIES || row->category == c) && row->makespan[TREE] > 0 &&
                row->bound > 0) {
                sum += log(row->makespan[TREE] / row->bound);
                n++;
            }
        }
        strbuf_printf(out, "| %s |", c < CATEGORIES ? hetpart_categories[c].title : "all");
        add_pair(out, hetpart_ratio(s, c, HET2_A, HET1_SPEEDS, false).mean,
                 c < CATEGORIES ? hetpart_categories[c].a : NAN);
        add_pair(out, hetpart_ratio(s, c, HET2_AB, HET1_SPEEDS, false).mean,
                 c < CATEGORIES ? hetpart_categories[c].ab : 0.467);
        hetpart_add_value(out, hetpart_ratio(s, c, HET2_AB, HET2_A, false).mean, "%.3f");
        hetpart_add_value(out, hetpart_ratio(s, c, TREE, HET2_AB, false).mean, "%.3f");
        hetpart_add_value(out, n ? exp(sum / (double)n) : NAN, "%.2f");
        strbuf_add(out, "\n");
    }
    strbuf_add(
        out,
        "\nThe paper besides: A+B 0.393 to 0.421 but for fanouts and large f; A+B over A 0.838"
        "\n(largest fanout), 0.910 (sparse matrices), 0.95 to 0.975 (others). B's time over A's: "
        "1.117 (sparse matrices), 0.8 to 1.\n"
        "\n![](fig6.svg)\n\n![](fig7.svg)\n\n");
}

/* Seconds by category: all trees, the ten smallest, the ten biggest. */
static void report_table3(const struct hetpart_study *s, struct strbuf *out)
{
    static const char *const titles[] = {"All", "Small 10", "Big 10"};
    strbuf_add(
        out,
        "\nTable 3, seconds (geometric means; of a category with fewer than ten trees Small and "
        "Big are all of them):\n\n"
        "| trees | size | HetPart1 | paper | HetPart2 A+B | paper | tree |\n"
        "|---|---|---|---|---|---|---|\n");
    for (size_t c = 0; c < CATEGORIES; c++)
        for (enum hetpart_sizes z = ALL_SIZES; z <= BIG_TEN; z++) {
            strbuf_printf(out, "| %s | %s |", hetpart_categories[c].title, titles[z]);
            hetpart_add_value(out, hetpart_seconds(s, c, HET1_SPEEDS, z), "%.4f");
            hetpart_add_value(out, hetpart_categories[c].seconds1[z], "%.1f");
            hetpart_add_value(out, hetpart_seconds(s, c, HET2_AB, z), "%.4f");
            hetpart_add_value(out, hetpart_categories[c].seconds2[z], "%.1f");
            hetpart_add_value(out, hetpart_seconds(s, c, TREE, z), "%.3f");
            strbuf_add(out, "\n");
        }
}

/* Figures 8 to 10 and Table 3. */
static void report_times(const struct hetpart_study *s, struct strbuf *out)
{
    strbuf_add(
        out, "## Figures 8 to 10 and Table 3: run times\n\n"
             "Ours are of whole runs: hetpart2 includes the mappings it starts from, hetpart1 and\n"
             "hetpart2 try all step-1 methods. The paper's HetPart2 counts the exchanges only.\n\n"
             "| over HetPart1 | ours | paper |\n|---|---|---|\n| HomPart-ML |");
    add_pair(out, hetpart_ratio(s, CATEGORIES, ML, HET1, true).mean, 3.98);
    strbuf_add(out, "\n| HomPart-SM |");
    add_pair(out, hetpart_ratio(s, CATEGORIES, SM, HET1, true).mean, 1.6);
    strbuf_add(out, "\n| HomPart-FF |");
    add_pair(out, hetpart_ratio(s, CATEGORIES, FF, HET1, true).mean, 1.4);
    strbuf_add(out, "\n| HetPart2 A+B |");
    add_pair(out, hetpart_ratio(s, CATEGORIES, HET2_AB, HET1_SPEEDS, true).mean, NAN);
    strbuf_add(out, "\n| A+B over A |");
    add_pair(out, hetpart_ratio(s, CATEGORIES, HET2_AB, HET2_A, true).mean, NAN);
    strbuf_add(out, "\n\n![](fig8.svg)\n\n![](fig9.svg)\n\n![](fig10.svg)\n\n"
                    "Figures 9 and 10 by category, run times:\n\n"
                    "| trees | A+B over HetPart1 | paper | A+B over A |\n|---|---|---|---|\n");
    for (size_t c = 0; c < CATEGORIES; c++) {
        strbuf_printf(out, "| %s |", hetpart_categories[c].title);
        add_pair(out, hetpart_ratio(s, c, HET2_AB, HET1_SPEEDS, true).mean,
                 hetpart_categories[c].nine);
        hetpart_add_value(out, hetpart_ratio(s, c, HET2_AB, HET2_A, true).mean, "%.3f");
        strbuf_add(out, "\n");
    }
    report_table3(s, out);
}

/* Trees from --data first, then generated ones; the report is printed as well. */
static bool hetpart_reproduce(const struct reproduction_options *o, struct strbuf *out,
                              struct error *err)
{
    struct hetpart_study s = {.o = o};
    struct strbuf report = {0};
    bool good = (!o->data || run_folders(&s, err)) && run_generated(&s, err);
    if (good) {
        strbuf_printf(
            &report,
            "# HetPart, reproduced\n\nKulagina, Meyerhenke, Benoit, CCPE 2023. %zu trees, the "
            "cluster of Table 2\n(36 processors), bandwidth 500, seed %llu.",
            s.rows.n, (unsigned long long)o->seed);
        if (s.skipped)
            strbuf_printf(&report, " %zu files of --data were no trees%s.", s.skipped,
                          o->quick ? " or too large for --quick" : "");
        if (!o->data)
            strbuf_add(&report, " No sparse matrix trees: give --data FOLDER.");
        strbuf_add(&report, "\n\n");
        hetpart_head(&s, &report);
        report_makespans(&s, &report);
        report_times(&s, &report);
        good = draw_all(&s, err) && reproduction_write(o, "hetpart.md", &report, err);
        strbuf_add_bytes(out, report.at, report.n);
    }
    strbuf_free(&report);
    array_free(&s.rows);
    return good;
}

const struct reproduction reproduction_hetpart = {
    .name = "hetpart",
    .summary = "HomPart, HetPart1 and HetPart2 on trees (CCPE 2023), and planner tree",
    .working_on = "trees",
    .run = hetpart_reproduce,
};
