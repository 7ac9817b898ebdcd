/* `weft reproduce ic`: the tables of the Sweep paper (Cordasco, Malewicz, Rosenberg 2008), what is
 * proved about its dags and about the scientific ones, and the client/server simulation of orders
 * (Malewicz et al. 2007) over its grid of parameters.
 *
 * Every comparison is paired: in each run all orders meet the same clients and the same times of tasks,
 * and intervals are of what differs within the runs. Where an interval still holds 1 after four times
 * as many runs, the page says that no difference can be seen. */
#include "base/compare.h"
#include "base/mem.h"
#include "study/ic_figures.h"
#include "generate/generate.h"
#include "plan/planner.h"
#include "report/chart.h"
#include "sim/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- dags and orders ---- */

struct ic_dag {
    const char *title, *generator, *option[2], *value[2];
    const char *quick; /* value of the first option with --quick */
};

/* Sizes of the published instances where they are known. */
static const struct ic_dag dags[] = {
    {"AIRSN", "airsn", {"width"}, {"250"}, "40"},
    {"Inspiral", "inspiral", {"templates", "groups"}, {"710", "74"}, "60"},
    {"Montage", "montage", {"images"}, {"1349"}, "30"},
    {"SDSS", "sdss", {"fields", "coalesces"}, {"15004", "3000"}, "300"},
    {"mesh", "stencil", {"rows", "shape"}, {"60", "out-mesh"}, "15"},
    {"FFT", "fft", {"points", "calls"}, {"256", "no"}, "16"},
    {"Laplace", "laplace", {"points"}, {"256"}, "16"},
    {"divide and conquer", "diamond", {"depth"}, {"9"}, "5"},
};
enum { DAGS = sizeof dags / sizeof *dags };

static const char *const orders[] = {"ic",   "prio",         "area",      "fifo",
                                     "lifo", "random-order", "outdegree", "criticalpath"};
enum { ORDERS = sizeof orders / sizeof *orders, FIFO = 3 };

static struct workflow *ic_generate(const struct ic_dag *d, bool quick, struct error *err)
{
    struct option_value values[3] = {{0}};
    size_t n = 0;
    for (; n < 2 && d->option[n]; n++)
        values[n] = (struct option_value){d->option[n], n == 0 && quick ? d->quick : d->value[n]};
    /* all tasks alike: the simulation draws its own times */
    values[n++] = (struct option_value){"ccr", "0"};
    if (quick && strcmp(d->generator, "inspiral") == 0)
        values[1].text = "7";
    if (quick && strcmp(d->generator, "sdss") == 0)
        values[1].text = "60";
    return generator_workflow(generator_find(d->generator), values, n, 1, err);
}

/* One dag with all orders of it. */
struct ic_subject {
    const struct ic_dag *dag;
    struct workflow *w;
    struct plan *plans[ORDERS];
};

static void subject_free(struct ic_subject *s)
{
    for (int i = 0; i < ORDERS; i++)
        plan_free(s->plans[i]);
    workflow_free(s->w);
    *s = (struct ic_subject){0};
}

static bool subject_prepare(struct ic_subject *s, const struct ic_dag *d,
                            const struct reproduction_options *o, struct error *err)
{
    *s = (struct ic_subject){.dag = d, .w = ic_generate(d, o->quick, err)};
    bool ok = s->w != NULL;
    for (int i = 0; i < ORDERS && ok; i++) {
        s->plans[i] = ic_plan_with(orders[i], s->w, false, NULL, o->seed, err);
        ok = s->plans[i] != NULL;
    }
    return ok;
}

/* AREA: the sum of eligible tasks over the execution (the quality that IC-scheduling maximises). */
static void write_areas(const struct ic_subject *subjects, struct strbuf *md)
{
    strbuf_add(md, "## What is proved, and the AREA of every order\n\nAREA relative to that of "
                   "`ic`.\n\n| dag | tasks | verdict |");
    for (int i = 1; i < ORDERS; i++)
        strbuf_printf(md, " %s |", orders[i]);
    strbuf_add(md, " how |\n|---|---|---|");
    for (int i = 0; i < ORDERS; i++)
        strbuf_add(md, "---|");
    strbuf_add_char(md, '\n');
    for (int d = 0; d < DAGS; d++) {
        const struct ic_subject *s = &subjects[d];
        double area = plan_objective(s->plans[0], "area");
        strbuf_printf(md, "| %s | %u | %s |", s->dag->title, s->w->ntasks, s->plans[0]->verdict);
        for (int i = 1; i < ORDERS; i++)
            strbuf_printf(md, " %.3f |", plan_objective(s->plans[i], "area") / area);
        strbuf_add_char(md, ' ');
        ic_add_cell(md, s->plans[0]->proof);
        strbuf_add(md, " |\n");
    }
    strbuf_add_char(md, '\n');
}

/* ---- paired runs ---- */

/* All orders, or a few of them, at one point of the grid; results by place in `orders` here. */
static bool run_point(const struct ic_subject *s, const int *which, uint32_t n, double interarrival,
                      double batch, uint32_t runs, const struct reproduction_options *o,
                      struct repeat_result *r, struct error *err)
{
    struct order_options options;
    struct contest c = {.w = s->w, .o = &options, .norders = n};
    struct repeat_options repeat = {.count = runs, .seed = o->seed, .confidence = 0.95};
    order_options_init(&options);
    options.interarrival = interarrival;
    options.batch = batch;
    for (uint32_t i = 0; i < n; i++)
        c.orders[i] = which[i] == FIFO ? NULL : s->plans[which[i]]->order.at;
    return contest_run(&c, &repeat, r, err);
}

static struct repeat_ratio time_over(const struct repeat_result *r, uint32_t a, uint32_t b)
{
    return repeat_ratio(r, contest_column(a, CONTEST_TIME), contest_column(b, CONTEST_TIME), 0.95);
}

/* What the points of all grids say of ic against FIFO. */
struct ic_points {
    int faster, slower, alike;
    uint64_t runs;
};

/* Time of `ic` over FIFO's. Where it is not clear which is faster, and the interval is wider than half
 * a percent either way, four times as many runs decide. */
static bool ic_over_fifo(const struct ic_subject *s, double interarrival, double batch,
                         uint32_t runs, const struct reproduction_options *o,
                         struct ic_points *points, struct repeat_ratio *out, struct error *err)
{
    static const int both[] = {0, FIFO};
    struct repeat_result r;
    for (int round = 0; round < 2; round++, runs *= 4) {
        if (!run_point(s, both, 2, interarrival, batch, runs, o, &r, err))
            return false;
        *out = time_over(&r, 0, 1);
        points->runs += 2 * (uint64_t)runs;
        repeat_result_free(&r);
        if (repeat_differs(*out) || out->half_width < 0.005)
            break;
    }
    points->alike += !repeat_differs(*out);
    points->faster += repeat_differs(*out) && out->value < 1;
    points->slower += repeat_differs(*out) && out->value > 1;
    return true;
}

/* A ratio in a table: "=" where no difference can be seen. */
static void add_ratio(struct strbuf *md, struct repeat_ratio r)
{
    strbuf_printf(md, " %.3f ±%.3f%s |", r.value, r.half_width, repeat_differs(r) ? "" : " =");
}

/* The grid of the priority tool's paper: interarrival 10^-3 .. 10^3, batches 2^0 .. 2^16. */
enum { MOST_POINTS = 17, GRID_SERIES = 7 };

/* One series a time between batches, one point a batch size. */
struct ic_grid {
    double batches[MOST_POINTS];
    double value[GRID_SERIES][MOST_POINTS], low[GRID_SERIES][MOST_POINTS],
        high[GRID_SERIES][MOST_POINTS];
    struct chart_series series[GRID_SERIES];
    char names[GRID_SERIES][48];
    size_t nbatches, nseries;
};

static bool write_grid_chart(const struct ic_subject *s, const struct ic_grid *g,
                             const struct reproduction_options *o, struct strbuf *md,
                             struct error *err)
{
    char title[96], file[64];
    snprintf(title, sizeof title, "%s: time over FIFO's", s->dag->title);
    snprintf(file, sizeof file, "ic-%s.svg", s->dag->generator);
    struct chart chart = {.title = title,
                          .x_title = "mean batch of requests",
                          .y_title = "time of ic / time of FIFO",
                          .x_log = true,
                          .series = g->series,
                          .nseries = g->nseries};
    struct strbuf svg = {0};
    report_line_chart(&chart, &svg);
    bool ok = reproduction_write(o, file, &svg, err);
    strbuf_printf(md, "\n![%s](%s)\n\n", title, file);
    strbuf_free(&svg);
    return ok;
}

/* How often the grid is looked at: runs of a point, and steps of both exponents. */
struct ic_effort {
    uint32_t runs;
    int bit_step, batch_step;
};

/* Time of `ic` over that of FIFO at every point, as a table and a chart with intervals. */
static bool write_grid(const struct ic_subject *s, const struct reproduction_options *o,
                       struct ic_effort effort, struct ic_points *points, struct strbuf *md,
                       struct error *err)
{
    struct ic_grid *g = mem_new_zero(struct ic_grid, 1);
    bool ok = true;
    for (int b = 0; b <= 16; b += effort.batch_step)
        g->batches[g->nbatches++] = ldexp(1, b);
    strbuf_printf(md,
                  "### %s: time of `ic` over FIFO's, %u paired runs a point, %u where it is not "
                  "clear\n\n| mean time between batches |",
                  s->dag->title, effort.runs, 4 * effort.runs);
    for (size_t b = 0; b < g->nbatches; b++)
        strbuf_printf(md, " batch %g |", g->batches[b]);
    strbuf_add(md, "\n|---|");
    for (size_t b = 0; b < g->nbatches; b++)
        strbuf_add(md, "---|");
    strbuf_add_char(md, '\n');
    for (int e = -3; e <= 3 && ok; e += effort.bit_step) {
        size_t k = g->nseries++;
        strbuf_printf(md, "| %g |", pow(10, e));
        for (size_t b = 0; b < g->nbatches && ok; b++) {
            struct repeat_ratio r;
            ok = ic_over_fifo(s, pow(10, e), g->batches[b], effort.runs, o, points, &r, err);
            if (!ok)
                break;
            g->value[k][b] = r.value;
            g->low[k][b] = r.value - r.half_width;
            g->high[k][b] = r.value + r.half_width;
            add_ratio(md, r);
        }
        strbuf_add_char(md, '\n');
        snprintf(g->names[k], sizeof g->names[k], "every %g", pow(10, e));
        g->series[k] = (struct chart_series){.name = g->names[k],
                                             .x = g->batches,
                                             .y = g->value[k],
                                             .low = g->low[k],
                                             .high = g->high[k],
                                             .n = g->nbatches,
                                             .points = true};
    }
    ok = ok && write_grid_chart(s, g, o, md, err);
    free(g);
    return ok;
}

/* ---- every order ---- */

/* Gains of `ic` over the heuristics, one a dag and heuristic, where the dag has an IC-optimal order. */
struct ic_gains {
    double gain[DAGS * ORDERS];
    int n, seen, behind; /* how many differ, and of those how many to ic's disadvantage */
    double most;
    const char *dag, *order; /* of the largest */
};

/* Yardsticks that know nothing of eligibility: what Hall et al. call popular heuristics. */
static bool is_heuristic(int order)
{
    return order >= FIFO;
}

static void gains_add(struct ic_gains *g, const struct ic_subject *s, int order,
                      struct repeat_ratio ic_over)
{
    double gain = 1 - ic_over.value;
    g->gain[g->n++] = gain;
    g->seen += repeat_differs(ic_over);
    g->behind += repeat_differs(ic_over) && gain < 0;
    if (g->n == 1 || gain > g->most) {
        g->most = gain;
        g->dag = s->dag->title;
        g->order = orders[order];
    }
}

static double gains_median(struct ic_gains *g)
{
    qsort(g->gain, (size_t)g->n, sizeof *g->gain, compare_doubles);
    return g->n ? g->gain[g->n / 2] : 0;
}

/* Every order at one point, on one dag. */
static bool write_orders(const struct ic_subject *s, const struct reproduction_options *o,
                         uint32_t runs, double batch, double *bars, struct ic_gains *gains,
                         struct strbuf *md, struct error *err)
{
    static const int all[ORDERS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct repeat_result r;
    if (!run_point(s, all, ORDERS, 1, batch, runs, o, &r, err))
        return false;
    for (uint32_t i = 0; i < ORDERS; i++) {
        const struct repeat_metric *m = &r.metrics[contest_column(i, CONTEST_TIME)];
        struct repeat_ratio fifo = time_over(&r, i, FIFO), ic = time_over(&r, 0, i);
        bars[i] = fifo.value;
        strbuf_printf(md, "| %s | %g | %s | %.1f ±%.1f |", i ? "" : s->dag->title, batch, orders[i],
                      m->mean, m->half_width);
        add_ratio(md, fifo);
        strbuf_printf(md, " %.3f | %.3f |\n", r.metrics[contest_column(i, CONTEST_STALLS)].mean,
                      r.metrics[contest_column(i, CONTEST_USE)].mean);
        if (is_heuristic((int)i) && strcmp(s->plans[0]->verdict, "IC_PROVED") == 0)
            gains_add(gains, s, (int)i, ic);
    }
    repeat_result_free(&r);
    return true;
}

/* One point for every dag, where batches come about once a task's time. */
static bool write_comparison(const struct ic_subject *subjects,
                             const struct reproduction_options *o, uint32_t runs,
                             struct ic_gains *gains, struct strbuf *md, struct error *err)
{
    double bars[DAGS * ORDERS];
    const char *groups[DAGS];
    strbuf_printf(
        md,
        "## Every order\n\n%u paired runs; batches about once a task's time. A batch is "
        "stalled when it finds nothing eligible; utilisation is tasks over requests. \"=\": no "
        "difference to FIFO can be seen.\n\n| dag | batch | order | time | over FIFO's | "
        "stalled | utilisation |\n|---|---|---|---|---|---|---|\n",
        runs);
    for (int d = 0; d < DAGS; d++) {
        groups[d] = subjects[d].dag->title;
        /* batches in proportion to the dag, as 16 is to AIRSN's 773 tasks */
        double batch = fmax(2, exp2(round(log2(subjects[d].w->ntasks / 48.0))));
        progress_report(o->progress, 0.75 + 0.2 * d / DAGS, groups[d]);
        if (!write_orders(&subjects[d], o, runs, batch, bars + d * ORDERS, gains, md, err))
            return false;
    }
    struct bar_chart chart = {.title = "Time over FIFO's",
                              .y_title = "time / time of FIFO",
                              .groups = groups,
                              .ngroups = DAGS,
                              .series = orders,
                              .nseries = ORDERS,
                              .value = bars,
                              .reference = 1};
    struct strbuf svg = {0};
    report_bar_chart(&chart, &svg);
    bool ok = reproduction_write(o, "ic-orders.svg", &svg, err);
    strbuf_add(md, "\n![Time over FIFO's](ic-orders.svg)\n\n");
    strbuf_free(&svg);
    return ok;
}

/* ---- the head ---- */

/* Everything that the head and the command's last lines state. */
struct ic_findings {
    struct ic_figures figures;
    struct ic_points points;
    struct ic_gains gains;
    struct repeat_ratio airsn;
    uint32_t airsn_runs;
};

/* The two numbers that the papers state, beside ours. */
static void write_published(const struct ic_findings *f, const struct ic_subject *airsn,
                            const struct reproduction_options *o, double median, struct strbuf *md,
                            struct strbuf *out)
{
    const char *width = o->quick ? airsn->dag->quick : airsn->dag->value[0];
    double least = 100 * (1 - f->airsn.value - f->airsn.half_width);
    strbuf_printf(
        md,
        "## The published gains\n\n| source | claim | ours |\n|---|---|---|\n"
        "| Malewicz et al. 2007 | AIRSN (width 250) at least 13 %% faster than FIFO, 95 %% "
        "confidence | width %s, batches of 16 every 1: %.1f %% faster (ratio %.3f ±%.3f, %u paired "
        "runs), so at least %.1f %% |\n"
        "| Hall et al. 2007 | IC-optimal orders beat popular heuristics by as much as 10-20 %% | "
        "at most "
        "%.1f %% (%s against %s), median %.1f %%, over %d pairs of dag and heuristic: %d differ, "
        "of "
        "these %d to `ic`'s disadvantage |\n\n",
        width, 100 * (1 - f->airsn.value), f->airsn.value, f->airsn.half_width, f->airsn_runs,
        least, 100 * f->gains.most, f->gains.dag ? f->gains.dag : "none",
        f->gains.order ? f->gains.order : "none", 100 * median, f->gains.n, f->gains.seen,
        f->gains.behind);
    strbuf_printf(out,
                  "AIRSN, batches of 16 every 1: %.1f %% faster than FIFO (ratio %.3f ±%.3f; "
                  "published: at least 13 %%)\n"
                  "IC-optimal orders against heuristics: at most %.1f %% faster, median %.1f %% "
                  "(published: as much as 10-20 %%)\n",
                  100 * (1 - f->airsn.value), f->airsn.value, f->airsn.half_width,
                  100 * f->gains.most, 100 * median);
}

static void write_head(const struct ic_findings *f, const struct reproduction_options *o,
                       struct strbuf *md)
{
    double least = 100 * (1 - f->airsn.value - f->airsn.half_width);
    strbuf_printf(
        md,
        "# IC-scheduling, reproduced\n\nCordasco, Malewicz, Rosenberg: Extending IC-Scheduling via "
        "the Sweep Algorithm (2008); simulation model of Malewicz, Foster, Rosenberg, Wilde "
        "(2007). "
        "weft %s, seed %llu%s.\n\n",
        WEFT_VERSION, (unsigned long long)o->seed, o->quick ? ", small version" : "");
    char airsn[256];
    bool holds = least >= 13;
    snprintf(airsn, sizeof airsn,
             "AIRSN%s is at least %.1f %% faster than with FIFO at 95 %% confidence; published for "
             "width 250: at least 13 %%. ",
             o->quick ? " of width 40" : "", least);
    strbuf_printf(md,
                  "**What agrees.** %d of %d statements of the paper about its own dags (an "
                  "IC-optimal order exists, or none does) come out as it says; Tables 2 and 3 "
                  "agree in every cell (tests/plan compares them). %s\n\n",
                  f->figures.agree, f->figures.count, holds ? airsn : "");
    strbuf_printf(
        md,
        "**What differs, and why.** %sOver the grids `ic` is faster than FIFO at %d points, slower "
        "at %d, "
        "and at %d no difference can be seen (%llu simulated runs): where requests are so many or "
        "so few "
        "that whatever is eligible is taken, the order cannot matter, and ratios there are noise "
        "around "
        "1; neighbouring ratios whose intervals overlap are one value, not a trend. The gain over "
        "heuristics is at most %.1f %%; Hall et al. state as much as 10-20 %% over dags and "
        "clients of "
        "their own, which are not ours. All tasks are alike here; with times of their own, orders "
        "that "
        "know them are better (`weft order --for`, docs/order.md).\n\n",
        holds ? "" : airsn, f->points.faster, f->points.slower, f->points.alike,
        (unsigned long long)f->points.runs, 100 * f->gains.most);
    strbuf_add(
        md,
        "**What cannot be known.** The drawings are lost: the dags of Figures 1, 3, 4, 5 and 8 are "
        "witnesses with the profiles of the paper's tables and every property that its text "
        "states. AIRSN's "
        "arcs, and the point (batches of 16, once a task's time) of the published 13 %, are "
        "recollections. "
        "Inspiral and Montage are made by public generators to the published numbers of jobs "
        "(2,988 and "
        "7,881); of SDSS (48,013 jobs) only the kinds of tasks are known. Hall's dags, client "
        "model and "
        "second metric are not described in what we have.\n\n"
        "| in the paper | here |\n|---|---|\n"
        "| Figure 1 | matrix product: The paper's dags; the other four: the table of AREAs |\n"
        "| Figure 2 | not here: neither the drawing nor the arcs of its three dags have come down "
        "to us |\n"
        "| Figure 3 | The paper's dags: top left, top right, bottom (two halves, as Figure 8) |\n"
        "| Figures 4, 5, 8 | The paper's dags |\n"
        "| Figures 6, 7 | blocks and linearisations under Figure 3 |\n"
        "| Table 1 | under its own name |\n"
        "| Table 2 | under Figure 4 (left), Figure 5 (centre and right) |\n"
        "| Table 3 | under Figure 3, top left, and Figure 8 |\n\n");
}

/* ---- the study ---- */

/* `all` for the published claim, `many` for AIRSN's grid, `few` for the others, which are for
 * comparison. */
struct ic_runs {
    uint32_t all, many, few;
};

static struct ic_runs ic_runs_of(const struct reproduction_options *o)
{
    if (o->runs)
        return (struct ic_runs){o->runs, o->runs, o->runs};
    return o->quick ? (struct ic_runs){20, 10, 5} : (struct ic_runs){1000, 200, 20};
}

static bool write_simulations(const struct ic_subject *subjects,
                              const struct reproduction_options *o, struct ic_findings *f,
                              struct strbuf *md, struct error *err)
{
    struct ic_runs runs = ic_runs_of(o);
    struct ic_points one = {0};
    bool ok = ic_over_fifo(&subjects[0], 1, 16, runs.all, o, &one, &f->airsn, err);
    f->airsn_runs = one.runs > 2 * (uint64_t)runs.all ? 4 * runs.all : runs.all;
    strbuf_add(
        md, "## The simulation over its parameters\n\nWhere a cell ends with \"=\", its interval "
            "holds 1: no difference can be seen.\n\n");
    for (int d = 0; d < DAGS && ok; d++) {
        progress_report(o->progress, 0.1 + 0.65 * d / DAGS, dags[d].title);
        struct ic_effort effort = {d ? runs.few : runs.many, d ? 2 : 1, d ? 4 : 2};
        if (o->quick)
            effort = (struct ic_effort){effort.runs, 3, 8};
        ok = write_grid(&subjects[d], o, effort, &f->points, md, err);
    }
    return ok && write_comparison(subjects, o, runs.few * 2, &f->gains, md, err);
}

/* The head states what was found, so it is written last and stands first. */
static bool ic_reproduce(const struct reproduction_options *o, struct strbuf *out,
                         struct error *err)
{
    struct strbuf md = {0}, figures = {0}, simulations = {0};
    struct ic_subject subjects[DAGS] = {{0}};
    struct ic_findings f = {0};
    bool ok = ic_write_figures(o, &figures, &f.figures, err);
    for (int d = 0; d < DAGS && ok; d++) {
        progress_report(o->progress, 0.1 * d / DAGS, dags[d].title);
        ok = subject_prepare(&subjects[d], &dags[d], o, err);
    }
    ok = ok && write_simulations(subjects, o, &f, &simulations, err);
    if (ok) {
        write_head(&f, o, &md);
        write_published(&f, &subjects[0], o, gains_median(&f.gains), &md, out);
        strbuf_add(&md, strbuf_text(&figures));
        write_areas(subjects, &md);
        strbuf_add(&md, strbuf_text(&simulations));
        ok = reproduction_write(o, "ic.md", &md, err);
    }
    if (ok)
        strbuf_printf(out, "report: %s/ic.md\n", o->folder);
    for (int d = 0; d < DAGS; d++)
        subject_free(&subjects[d]);
    strbuf_free(&md);
    strbuf_free(&figures);
    strbuf_free(&simulations);
    return ok;
}

const struct reproduction reproduction_ic = {
    .name = "ic",
    .summary =
        "IC-scheduling: tables of the Sweep paper, verdicts, and orders against FIFO in simulation",
    .working_on = "reproducing",
    .ignores = "data",
    .run = ic_reproduce,
};
