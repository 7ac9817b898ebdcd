/* `weft reproduce mos`: the tables and figures of sections 5 and 6 of OSU-CISRC-4/08-TR17, the
 * published numbers beside ours. Graphs are stand-ins (generate/mos_graphs.h); FCP and EXPERT are
 * reconstructed (plan/stream/baselines.h), MOS is the planner itself. */
#include "base/mem.h"
#include "generate/mos_graphs.h"
#include "study/mos_published.h"
#include "plan/stream/baselines.h"
#include "plan/stream/stream.h"
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -e: extended, using the processors that the scheme itself leaves (plan/stream/baselines.h). */
static const char *const scheme_names[SCHEMES] = {"MOS", "FCP", "FCP-e", "EXP", "EXP-e"};
static const double levels[LEVELS] = {1, 0.75, 0.5, 0.25, 0};
static const double ccrs[CCRS] = {0.1, 1, 10};
static const uint32_t ports_of[PORTS] = {2, 4, 8};
static const char *const level_names[LEVELS] = {"1", "0.75", "0.5", "0.25", "~0"};

/* NAN: the report states no number here; 0: it says that the scheme missed the throughput. */
static void count_point(struct mos_study *s, int scheme, bool meets, double ours, double published)
{
    struct mos_tally *t = &s->tally[scheme];
    if (isnan(published))
        return;
    t->missed += !meets && published > 0;
    t->met += meets && !(published > 0);
    if (meets && published > 0) {
        t->ours += ours;
        t->published += published;
        t->points++;
    }
}

/* ---- one run ---- */

/* EXPERT and MOS share a result; FCP has one of its own kind. */
static struct mos_outcome run_scheme(struct stream_problem *q, int scheme)
{
    struct mos_outcome out = {0};
    if (scheme == FCP || scheme == FCP_E) {
        struct fcp_result r;
        fcp_run(q, scheme == FCP_E, 0, &r);
        out = (struct mos_outcome){r.throughput >= q->throughput * (1 - STREAM_TOLERANCE),
                                   r.latency, r.throughput, r.processors, true};
        fcp_result_free(&r);
    } else {
        struct mos_result r = {0};
        if (scheme == MOS)
            mos_run(q, &r);
        else
            expert_run(q, scheme == EXP_E, &r);
        out =
            (struct mos_outcome){r.meets, r.latency, r.throughput, r.state.processors, r.pipelined};
        mos_result_free(&r);
    }
    return out;
}

/* All schemes on one graph at one throughput. */
/* One problem for all schemes: graph, ports and throughput are the same. */
static void run_all(const struct stream_graph *g, uint32_t ports, double throughput,
                    struct mos_outcome *out)
{
    /* Figure 7 asks what duplication is worth: MOS once more without it */
    struct stream_problem q;
    stream_problem_init(&q, g, ports);
    q.throughput = throughput;
    for (int s = 0; s < SCHEMES; s++)
        out[s] = run_scheme(&q, s);
    stream_problem_free(&q);
}

/* Our number with the published one in brackets. */
static void cell_ratio(struct strbuf *md, bool there, double value, double published)
{
    if (there)
        strbuf_printf(md, " %.2f", value);
    else
        strbuf_printf(md, " -");
    if (!isnan(published)) {
        if (published > 0)
            strbuf_printf(md, " (%.2f)", published);
        else
            strbuf_printf(md, " (-)");
    }
    strbuf_add(md, " |");
}

/* A Markdown table with a column a scheme. */
static void table_head(struct strbuf *md, const char *first, const char *second)
{
    strbuf_printf(md, "\n| %s |%s%s", first, second ? second : "", second ? " |" : "");
    for (int s = 0; s < SCHEMES; s++)
        strbuf_printf(md, " %s |", scheme_names[s]);
    strbuf_printf(md, "\n| --- |%s", second ? " --- |" : "");
    for (int s = 0; s < SCHEMES; s++)
        strbuf_add(md, " --- |");
    strbuf_add_char(md, '\n');
}

/* ---- synthetic graphs ---- */

/* Sizes rise evenly over the graphs of a set: 10 to 50 tasks, as in section 5.1. */
struct workflow *mos_study_graph(const struct mos_study *s, const struct mos_config *c,
                                 uint32_t index, uint32_t count)
{
    uint32_t most = s->o->quick ? 16 : 50;
    uint32_t n = count > 1 ? 10 + index * (most - 10) / (count - 1) : 10;
    return mos_graph_synthetic(n, c->mean_degree ? 4 : 0, c->ccr, s->o->seed * 1000 + index,
                               s->err);
}

/* Every scheme on every graph of the set at every share of the largest throughput. */
static bool mos_average(struct mos_study *s, const struct mos_config *c, uint32_t count,
                        struct mos_averages *a)
{
    *a = (struct mos_averages){.graphs = count};
    for (uint32_t i = 0; i < count; i++) {
        struct workflow *w = mos_study_graph(s, c, i, count);
        if (!w)
            return false;
        struct stream_graph *g = stream_graph_new(w, s->platform);
        a->edges += w->nedges;
        a->tasks += w->ntasks;
        for (int k = 0; k < LEVELS; k++) {
            struct mos_outcome out[SCHEMES];
            /* Tmax: all processors busy all the time */
            double throughput = levels[k] * PROCESSORS / g->total;
            run_all(g, c->ports, throughput, out);
            s->claims.runs[c->mean_degree][k]++;
            s->claims.missed[c->mean_degree] += !out[MOS].meets;
            s->claims.flat[c->mean_degree][k] += !out[MOS].pipelined;
            for (int x = 0; x < SCHEMES; x++) {
                if (!out[x].meets)
                    continue;
                a->met[k][x]++;
                a->latency[k][x] += out[x].latency / out[MOS].latency;
                a->bound[k][x] += out[x].latency / g->longest;
                a->use[k][x] += out[x].processors / (double)PROCESSORS;
            }
            struct stream_problem q;
            struct mos_result plain;
            stream_problem_init(&q, g, c->ports);
            q.throughput = throughput;
            q.duplication = false;
            mos_run(&q, &plain);
            double gain = plain.latency / out[MOS].latency;
            a->duplication[k] += gain / count;
            a->most_duplication = fmax(a->most_duplication, gain);
            a->plain_use[k] += plain.state.processors / (double)PROCESSORS / count;
            mos_result_free(&plain);
            stream_problem_free(&q);
        }
        stream_graph_free(g);
        workflow_free(w);
    }
    for (int k = 0; k < LEVELS; k++)
        for (int x = 0; x < SCHEMES; x++)
            if (a->met[k][x]) {
                a->latency[k][x] /= a->met[k][x];
                a->bound[k][x] /= a->met[k][x];
                a->use[k][x] /= a->met[k][x];
            }
    return true;
}

/* Bars by share of the largest throughput, beside the line of MOS. */
static bool write_picture(struct mos_study *s, const char *file, const char *title,
                          const double *value, const char *y_title, const char *const *series,
                          size_t nseries)
{
    struct strbuf svg = {0};
    struct bar_chart chart = {.title = title,
                              .y_title = y_title,
                              .groups = level_names,
                              .ngroups = LEVELS,
                              .series = series,
                              .nseries = nseries,
                              .value = value,
                              .reference = 1};
    report_bar_chart(&chart, &svg);
    bool ok = reproduction_write(s->o, file, &svg, s->err);
    strbuf_free(&svg);
    strbuf_printf(&s->md, "\n![%s](%s)\n", title, file);
    return ok;
}

const double mos_figure_4b[LEVELS][SCHEMES] = {{1, 0, 0, 0, 0},
                                               {0.96, 0.97, 0.97, 1, 1},
                                               {0.82, 0.89, 0.89, 0.72, 0.94},
                                               {0.70, 0.79, 0.79, 0.42, 0.98},
                                               {0.36, 0.71, 0.71, 0.03, 1}};

/* Figure 4 was drawn for CCR 0.1 and two ports, Figure 5 for CCR 1 and four. */
static bool is_figure_4(const struct mos_config *c)
{
    return c->ccr == 0.1 && c->ports == 2;
}

static bool is_figure_5(const struct mos_config *c)
{
    return c->ccr == 1 && c->ports == 4;
}

/* Latencies and processors by share of the largest throughput. */
static void synthetic_tables(const struct mos_config *c, const struct mos_averages *a,
                             struct strbuf *md)
{
    bool published = is_figure_4(c);
    strbuf_printf(md,
                  "\n### %s, CCR %g, k = %u\n\nMean latency / latency of MOS, over the graphs "
                  "where the scheme met "
                  "the throughput; in brackets how many of %u did.\n",
                  c->mean_degree ? "4 edges a task" : "TGFF's method", c->ccr, c->ports, a->graphs);
    table_head(md, "T / Tmax", NULL);
    for (int k = 0; k < LEVELS; k++) {
        strbuf_printf(md, "| %s |", level_names[k]);
        for (int x = 0; x < SCHEMES; x++) {
            if (a->met[k][x])
                strbuf_printf(md, " %.3f (%u) |", a->latency[k][x], a->met[k][x]);
            else
                strbuf_add(md, " - |");
        }
        strbuf_add_char(md, '\n');
    }
    strbuf_printf(md, "\nMean processors used / 32%s.\n",
                  published ? "; published (Figure 4(b)) in brackets" : "");
    table_head(md, "T / Tmax", NULL);
    for (int k = 0; k < LEVELS; k++) {
        strbuf_printf(md, "| %s |", level_names[k]);
        for (int x = 0; x < SCHEMES; x++)
            cell_ratio(md, a->met[k][x], a->use[k][x], published ? mos_figure_4b[k][x] : NAN);
        strbuf_add_char(md, '\n');
    }
    strbuf_add(md, "\nMOS without duplication:");
    for (int k = 0; k < LEVELS; k++)
        strbuf_printf(md, " %.2f at %s%s", a->plain_use[k], level_names[k],
                      k + 1 < LEVELS ? "," : ".\n");
}

/* What the report says in words about these settings. */
static void synthetic_remarks(const struct mos_config *c, const struct mos_averages *a,
                              struct strbuf *md)
{
    bool published = is_figure_4(c);
    if (published)
        strbuf_add(md, "\nPublished of the latencies here (Figure 4(a)): FCP up to 1.07; EXP up to "
                       "1.16 at 0.25 Tmax, \"large\" at "
                       "~0; the modified schemes like the original ones.\n");
    if (is_figure_5(c))
        strbuf_printf(md, "\nPublished (Figure 5(a)) at 0.25 Tmax: FCP 1.30, EXP 1.37; at Tmax and "
                          "0.75 Tmax only MOS meets the "
                          "throughput.\n");
    if ((published || (is_figure_5(c))) && a->met[3][EXP])
        strbuf_printf(md,
                      "\nAt 0.25 Tmax, against the longest path with free edges (no latency is "
                      "below it): MOS %.3f, FCP %.3f, EXP %.3f, EXP-e %.3f.\n",
                      a->bound[3][MOS], a->bound[3][FCP], a->bound[3][EXP], a->bound[3][EXP_E]);
    strbuf_add(md, "\nDuplication (Figure 7): latency without / with it:");
    for (int k = 0; k < LEVELS; k++)
        strbuf_printf(md, " %.3f at %s%s", a->duplication[k], level_names[k],
                      k + 1 < LEVELS ? "," : ".");
    strbuf_add(
        md, c->ccr == 1
                ? " Published: up to 1.13 (conclusions: 1.18), none at Tmax, most near 0.5 Tmax.\n"
                : " Published: less than at CCR 1.\n");
}

/* The points of Figures 4(a) and 5(a) that have a number, into the tally. */
static void synthetic_tally(struct mos_study *s, const struct mos_config *c,
                            const struct mos_averages *a)
{
    if (c->mean_degree) /* the report used TGFF's method */
        return;
    if (is_figure_4(c)) {
        double worst = 0;
        for (int k = 0; k < LEVELS; k++)
            if (a->met[k][FCP])
                worst = fmax(worst, a->latency[k][FCP]);
        count_point(s, FCP, worst > 0, worst, 1.07);
        count_point(s, EXP, a->met[3][EXP], a->latency[3][EXP], 1.16);
    }
    if (is_figure_5(c)) {
        count_point(s, FCP, a->met[3][FCP], a->latency[3][FCP], 1.30);
        count_point(s, EXP, a->met[3][EXP], a->latency[3][EXP], 1.37);
    }
}

static bool synthetic_pictures(struct mos_study *s, const struct mos_config *c,
                               const struct mos_averages *a)
{
    double value[LEVELS * SCHEMES];
    char file[64], title[96];
    for (int k = 0; k < LEVELS; k++)
        for (int x = 0; x < SCHEMES; x++)
            value[k * SCHEMES + x] = a->met[k][x] ? a->latency[k][x] : NAN;
    snprintf(file, sizeof file, "mos-latency-ccr%g-k%u.svg", c->ccr, c->ports);
    snprintf(title, sizeof title, "latency / MOS, CCR %g, k = %u, by T / Tmax", c->ccr, c->ports);
    if (!write_picture(s, file, title, value, "latency ratio", scheme_names, SCHEMES))
        return false;
    static const char *const one[] = {"without / with duplication"};
    snprintf(file, sizeof file, "mos-duplication-ccr%g-k%u.svg", c->ccr, c->ports);
    snprintf(title, sizeof title, "benefit of duplication, CCR %g, k = %u, by T / Tmax", c->ccr,
             c->ports);
    return write_picture(s, file, title, a->duplication, "latency ratio", one, 1);
}

static bool synthetic_section(struct mos_study *s, const struct mos_config *c, uint32_t count)
{
    struct mos_averages a;
    if (!mos_average(s, c, count, &a))
        return false;
    synthetic_tables(c, &a, &s->md);
    synthetic_remarks(c, &a, &s->md);
    synthetic_tally(s, c, &a);
    for (int i = 0; i < CCRS; i++)
        for (int k = 0; k < PORTS; k++)
            if (ccrs[i] == c->ccr && ports_of[k] == c->ports)
                s->claims.set[c->mean_degree][i][k] = a;
    return c->mean_degree || synthetic_pictures(s, c, &a);
}

/* ---- applications ---- */

/* Tables 1 to 6: latencies and processors of one application. */
static bool application_section(struct mos_study *s, const char *name, const char *title,
                                uint32_t ports, const struct mos_published *p,
                                struct mos_outcome (*keep)[SCHEMES])
{
    struct workflow *w = mos_graph(name, s->err);
    if (!w)
        return false;
    struct strbuf *md = &s->md;
    struct stream_graph *g = stream_graph_new(w, s->platform);
    struct mos_outcome out[LEVELS][SCHEMES];
    for (int k = 0; k < LEVELS; k++)
        run_all(g, ports, levels[k] * PROCESSORS / g->total, out[k]);
    memcpy(keep, out, sizeof out);
    strbuf_printf(md,
                  "\n### %s, k = %u\n\nLatency / latency of MOS (published in brackets; - the "
                  "throughput was missed).\n",
                  title, ports);
    table_head(md, "T / Tmax", NULL);
    for (int k = 0; k < LEVELS; k++) {
        strbuf_printf(md, "| %s |", level_names[k]);
        for (int x = 0; x < SCHEMES; x++) {
            double ratio = out[k][x].latency / out[k][MOS].latency;
            cell_ratio(md, out[k][x].meets, ratio, p->latency[k][x]);
            count_point(s, x, out[k][x].meets, ratio, p->latency[k][x]);
        }
        strbuf_add_char(md, '\n');
    }
    strbuf_add(md, "\nProcessors used (published in brackets).\n");
    table_head(md, "T / Tmax", NULL);
    for (int k = 0; k < LEVELS; k++) {
        strbuf_printf(md, "| %s |", level_names[k]);
        for (int x = 0; x < SCHEMES; x++) {
            double said = p->processors[k][x];
            strbuf_printf(md, out[k][x].meets ? " %u" : " -", out[k][x].processors);
            if (!isnan(said) && said > 0)
                strbuf_printf(md, " (%.0f)", said);
            else if (!isnan(said))
                strbuf_add(md, " (-)");
            strbuf_add(md, " |");
        }
        strbuf_add_char(md, '\n');
    }
    stream_graph_free(g);
    workflow_free(w);
    return true;
}

/* Figure 8: nothing may be replicated, so the largest task decides the throughput. */
static bool mpeg_section(struct mos_study *s)
{
    static const unsigned divisions[] = {2, 4, 8, 16};
    static const double latency[4] = {1.21, 1.36, 1.35, 1.12};
    static const int processors[4][3] = {{4, 7, 3}, {8, 13, 7}, {16, 25, 15}, {32, 32, 32}};
    struct strbuf *md = &s->md;
    strbuf_add(md,
               "\n### MPEG compression (Figure 8), k = 4, no replication, T = 1 / largest task\n\n"
               "| divisions | latency FCP | latency EXP | processors MOS | FCP | EXP |\n| --- | "
               "--- | --- | --- | --- | --- |\n");
    for (int i = 0; i < 4; i++) {
        struct workflow *w = mos_graph_mpeg(divisions[i], s->err);
        if (!w)
            return false;
        struct stream_graph *g = stream_graph_new(w, s->platform);
        struct mos_outcome out[SCHEMES];
        run_all(g, 4, divisions[i] / 700.0, out);
        memcpy(s->claims.mpeg[i], out, sizeof out);
        strbuf_printf(md, "| %u |", divisions[i]);
        cell_ratio(md, out[FCP].meets, out[FCP].latency / out[MOS].latency, 1);
        cell_ratio(md, out[EXP].meets, out[EXP].latency / out[MOS].latency, latency[i]);
        count_point(s, FCP, out[FCP].meets, out[FCP].latency / out[MOS].latency, 1);
        count_point(s, EXP, out[EXP].meets, out[EXP].latency / out[MOS].latency, latency[i]);
        static const int columns[] = {MOS, FCP, EXP};
        for (int k = 0; k < 3; k++)
            strbuf_printf(md, " %u (%d)%s |", out[columns[k]].processors, processors[i][k],
                          out[columns[k]].meets ? "" : " missed");
        strbuf_add_char(md, '\n');
        stream_graph_free(g);
        workflow_free(w);
    }
    return true;
}

/* ---- the inverse (section 6) ---- */

enum { SCAN = 16 };
static const double shares[SHARES] = {0, 0.25, 0.5, 0.75, 1};

/* One graph: MOS^-1 finds the throughput at a latency; the others have no inverse, so the best of a
 * scan over throughputs stands for it. */
static void inverse_measure(struct stream_graph *g, uint32_t ports, struct inverse_totals *t)
{
    struct stream_problem q;
    stream_problem_init(&q, g, ports);
    double most = stream_problem_most(&q);
    struct mos_outcome others[SCAN + 1][SCHEMES];
    for (int k = 0; k <= SCAN; k++) {
        q.throughput = most * k / SCAN;
        for (int x = FCP; x < SCHEMES; x++)
            others[k][x] = run_scheme(&q, x);
    }
    for (int l = 0; l < SHARES; l++) {
        /* between the longest path with free edges and the sum of all tasks */
        double limit = g->longest + shares[l] * (g->total - g->longest), least;
        struct mos_result r;
        if (!mos_inverse(&q, limit, &r, &least))
            continue;
        t->sum[l][MOS] += r.throughput / most;
        t->found[l][MOS]++;
        for (int x = FCP; x < SCHEMES; x++) {
            double best = 0;
            for (int k = 0; k <= SCAN; k++)
                if (others[k][x].latency <= limit * (1 + STREAM_TOLERANCE))
                    best = fmax(best, others[k][x].throughput);
            t->sum[l][x] += best / r.throughput;
            t->found[l][x] += best > 0;
        }
        mos_result_free(&r);
    }
    stream_problem_free(&q);
}

static bool inverse_section(struct mos_study *s, int number, int at, uint32_t count)
{
    double ccr = ccrs[number];
    uint32_t ports = ports_of[at];
    struct mos_config c = {false, ccr, ports};
    struct strbuf *md = &s->md;
    struct inverse_totals total = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct workflow *w = mos_study_graph(s, &c, i, count);
        if (!w)
            return false;
        struct stream_graph *g = stream_graph_new(w, s->platform);
        inverse_measure(g, ports, &total);
        stream_graph_free(g);
        workflow_free(w);
    }
    strbuf_printf(
        md,
        "\n### Throughput at a latency (Figure 9), CCR %g, k = %u, %u graphs\n\nThe latency lies "
        "at this share of the "
        "way from the longest path with free edges to the sum of all tasks (at 0 often nobody can "
        "keep it). MOS⁻¹: mean throughput / Tmax; the others: "
        "mean throughput / "
        "that of MOS⁻¹ (their best of a scan of 17), in brackets how many kept the latency.\n",
        ccr, ports, count);
    table_head(md, "latency", NULL);
    for (int l = 0; l < SHARES; l++) {
        strbuf_printf(md, "| %.2f |", shares[l]);
        for (int x = 0; x < SCHEMES; x++)
            strbuf_printf(md, " %.3f (%u) |",
                          total.found[l][MOS] ? total.sum[l][x] / total.found[l][MOS] : 0,
                          total.found[l][x]);
        strbuf_add_char(md, '\n');
    }
    s->claims.inverse[number][at] = total;
    strbuf_add(md, "\nPublished: MOS⁻¹ up to 60 % more throughput than the others (that is, 0.63 "
                   "in this table or above).\n");
    return true;
}

/* ---- promises and the replay ---- */

/* Does a replay of 1,000 items at the plan's pace reach what the planners promised? */
static bool replay_section(struct mos_study *s, uint32_t count)
{
    struct strbuf *md = &s->md;
    const struct replayer *replayer = s->o->replayer;
    static const char *const names[] = {"mos", "stream"};
    double least[2] = {INFINITY, INFINITY}, sum[2] = {0}, latency = 0;
    double used[2][LEVELS] = {{0}};
    uint32_t runs = 0, short_of[2] = {0};
    /* as the planners' option wants them */
    static const char *const at[] = {"Tmax", "0.75Tmax", "0.5Tmax", "0.25Tmax", "0"};
    for (uint32_t i = 0; i < count; i++) {
        struct mos_config c = {false, i % 2 ? 1 : 0.1, 4};
        struct workflow *w = mos_study_graph(s, &c, i, count);
        if (!w)
            return false;
        for (int k = 0; k < LEVELS; k++) {
            double found[2];
            for (int x = 0; x < 2; x++) {
                struct option_value options[] = {
                    {"throughput", at[k]}, {"ports", "4"}, {"effort", "0.2"}};
                struct plan_request request = {.workflow = w,
                                               .platform = s->platform,
                                               .replayer = s->o->replayer,
                                               .options = options,
                                               .noptions = x ? 3 : 2,
                                               .seed = s->o->seed};
                struct plan *plan = planner_run(planner_find(names[x]), &request, s->err);
                struct replayed reached;
                if (!plan)
                    return workflow_free(w), false;
                if (replayer->run(replayer->context, w, s->platform, plan, &reached)) {
                    double ratio = reached.throughput / plan_objective(plan, "throughput");
                    least[x] = fmin(least[x], ratio);
                    sum[x] += ratio;
                    short_of[x] += ratio < 1 - 1e-6;
                }
                found[x] = plan_objective(plan, "latency");
                used[x][k] += plan_objective(plan, "processors") / PROCESSORS / count;
                plan_free(plan);
            }
            latency += found[1] / found[0];
            runs++;
        }
        workflow_free(w);
    }
    strbuf_printf(
        md,
        "\n## Promise and replay\n\nThroughput of a replay of 1,000 items at the plan's pace / "
        "promised throughput, %u runs "
        "(k = 4, CCR 0.1 and 1, all T).\n\n| planner | least | mean | runs below the "
        "promise |\n| --- | --- | --- | --- "
        "|\n",
        runs);
    for (int x = 0; x < 2; x++)
        strbuf_printf(md, "| %s | %.4f | %.4f | %u |\n", names[x], least[x], sum[x] / runs,
                      short_of[x]);
    strbuf_printf(md, "\nLatency of `stream` / latency of `mos`: %.4f on average.\n",
                  latency / runs);
    strbuf_add(md, "\nProcessors used / 32 by T / Tmax, 1 to ~0 (`stream` takes the fewest at its "
                   "latency):");
    for (int x = 0; x < 2; x++)
        for (int k = 0; k < LEVELS; k++)
            strbuf_printf(md, "%s%s %.2f%s",
                          k   ? ""
                          : x ? "; "
                              : " ",
                          k ? "" : names[x], used[x][k], k + 1 < LEVELS ? "," : "");
    strbuf_add(md, ".\n");
    return true;
}

/* ---- the report ---- */

/* One number for the whole reproduction: MOS's advantage where both have a number. */
static void tally_section(struct mos_study *s)
{
    struct strbuf *md = &s->md;
    strbuf_add(md, "\n## MOS's advantage, all published points together\n\nMean latency / latency "
                   "of MOS over the points that have a published number and where both met the "
                   "throughput (Tables 1, 3, 5, Figure 8; Figures 4(a) and 5(a) with graphs by "
                   "TGFF's method).\n\n| scheme | points | published | ours | published but "
                   "missed here | met here only |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int x = FCP; x < SCHEMES; x++) {
        const struct mos_tally *t = &s->tally[x];
        strbuf_printf(md, "| %s | %u | %.3f | %.3f | %u | %u |\n", scheme_names[x], t->points,
                      t->points ? t->published / t->points : 0, t->points ? t->ours / t->points : 0,
                      t->missed, t->met);
    }
}

/* Applications, synthetic graphs, the tally, the inverse, the replay: sections 5.2, 5.1 and 6. */
static bool write_report(struct mos_study *s)
{
    bool quick = s->o->quick;
    uint32_t count = mos_graph_count(s);
    struct strbuf *md = &s->md;
    if (!mos_examples(s))
        return false;
    strbuf_add(md, "\n## Applications (section 5.2)\n");
    if (!application_section(s, "dvb", "DARPA Vision Benchmark (Tables 1, 2)", 2, &dvb_2,
                             s->claims.dvb[0]) ||
        !application_section(s, "dvb", "DARPA Vision Benchmark (Tables 1, 2)", 4, &dvb_4,
                             s->claims.dvb[1]) ||
        !application_section(s, "dvb", "DARPA Vision Benchmark (Tables 1, 2)", 8, &dvb_8,
                             s->claims.dvb[2]) ||
        !application_section(s, "video", "Video surveillance (Tables 3, 4)", 4, &video,
                             s->claims.video) ||
        !mpeg_section(s) ||
        !application_section(s, "placenta", "Placenta (Tables 5, 6)", 4, &placenta,
                             s->claims.placenta))
        return false;
    strbuf_add(md, "\n## Synthetic graphs (section 5.1)\n");
    for (int m = 0; m < (quick ? 1 : 2); m++)
        for (int i = 0; i < (quick ? 2 : 3); i++)
            for (int k = 0; k < (quick ? 1 : 3); k++)
                if (!synthetic_section(s, &(struct mos_config){m, ccrs[i], ports_of[k]}, count))
                    return false;
    tally_section(s);
    strbuf_add(md, "\n## The inverse (section 6)\n");
    for (int i = 0; i < (quick ? 1 : 2); i++)
        for (int k = 1; k < (quick ? 2 : 3); k++)
            if (!inverse_section(s, i, k, quick ? 2 : 30))
                return false;
    return mos_claims(s) && replay_section(s, quick ? 2 : 10) && mos_fluctuating(s) &&
           mos_executed(s);
}

static bool mos_reproduce(const struct reproduction_options *o, struct strbuf *out,
                          struct error *err)
{
    struct mos_study *s = mem_new_zero(struct mos_study, 1); /* tens of kilobytes */
    s->o = o;
    s->err = err;
    s->platform = reproduction_equal_nodes("32", "1", "0", err);
    struct strbuf md = {0};
    bool ok = s->platform && write_report(s);
    if (ok) { /* what a reader wants to know first is known last */
        mos_write_head(s, &md);
        strbuf_add(&md, s->md.at);
        ok = reproduction_write(o, "mos.md", &md, err);
    }
    if (ok)
        strbuf_printf(out, "%s\n%s/mos.md\n", strbuf_text(&md), o->folder);
    strbuf_free(&md);
    platform_free(s->platform);
    strbuf_free(&s->md);
    free(s);
    return ok;
}

const struct reproduction reproduction_mos = {
    .name = "mos",
    .summary =
        "latency and throughput of streams: MOS against FCP and EXPERT (OSU-CISRC-4/08-TR17)",
    .working_on = "streams",
    .ignores = "runs data",
    .run = mos_reproduce,
};
