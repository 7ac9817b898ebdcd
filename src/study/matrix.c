/* `weft reproduce matrix`: Figures 5 to 13, Table 4 and section 4.4 of the MATRIX paper, the published
 * numbers beside ours. Every figure is a set of simulations (sim/schedulers.h) of benchmark graphs
 * (sim/workload.h); the same seed gives the same report, but for Figure 13, which is measured. Here stand
 * the study and the applications of section 4.1. */
#include "study/matrix_study.h"
#include "report/chart.h"
#include "report/utilization.h"

#include <stdio.h>
#include <string.h>

/* In the order of Table 4. */
const char *const matrix_dag_names[DAGS] = {"BOT", "Pipeline", "Fan-Out", "Fan-In"};
/* As printed there: the average share of the bound. */
const double matrix_table4[DAGS] = {0.99139636, 0.88238118, 0.85690323, 0.90605218};

/* ---- one run ---- */

/* One run; what a manner leaves open takes the simulation's default. */
bool matrix_simulate(struct matrix_study *s, struct workload *d, uint32_t nodes,
                     struct matrix_manner m, struct schedulers_result *r)
{
    d->seed = s->o->seed;
    struct schedulers_config c = {.dag = d,
                                  .nodes = nodes,
                                  .seed = s->o->seed,
                                  .policy = m.policy,
                                  .submit = m.one                    ? WORKLOAD_SUBMIT_WORST
                                            : m.paper || m.scattered ? WORKLOAD_SUBMIT_HASH
                                            : m.even                 ? WORKLOAD_SUBMIT_EVEN
                                                                     : WORKLOAD_SUBMIT_BEST,
                                  .adapt = m.adapt,
                                  .rigid_steal = m.paper,
                                  .prefetch = m.paper || m.no_cache ? SCHEDULERS_NO_PREFETCH : 0,
                                  .cache = m.no_cache ? -1 : 0,
                                  .progress = s->o->progress};
    return workload_init(d, s->err) && schedulers_run(&c, r, s->err);
}

/* Kodiak's gigabit network; a kilobyte is what a task's own description weighs when it moves. */
bool matrix_bound(struct matrix_study *s, struct workload *d, uint32_t nodes, enum bound_wait wait,
                  struct bound_result *r)
{
    d->seed = s->o->seed;
    struct bound_config c = {.dag = d,
                             .cores = (uint64_t)nodes * 2,
                             .bandwidth = 125e6,
                             .task_bytes = 1024,
                             .wait = wait};
    return workload_init(d, s->err) && bound_compute(&c, r, s->err);
}

/* A benchmark with the paper's setting on so many nodes of two cores; small when quick. */
/* Small enough for a test when `quick`: two hundred tasks a node. */
struct workload matrix_benchmark(const struct matrix_study *s, enum workload_kind kind,
                                 uint32_t nodes)
{
    struct workload d;
    workload_benchmark(&d, kind, (uint64_t)nodes * 2);
    if (s->o->quick && kind == WORKLOAD_ALL_PAIRS)
        d.files = 40;
    else if (s->o->quick && kind == WORKLOAD_STACKING)
        d.ntasks = 601, d.files = 20;
    else if (s->o->quick)
        d.ntasks = nodes * 200;
    return d;
}

/* Write the picture and show it in the report. */
bool matrix_write_chart(struct matrix_study *s, const char *file, const struct chart *c)
{
    struct strbuf svg = {0};
    report_line_chart(c, &svg);
    bool good = reproduction_write(s->o, file, &svg, s->err);
    strbuf_free(&svg);
    strbuf_printf(&s->md, "\n![%s](%s)\n", c->title, file);
    return good;
}

/* Cores over time of one run. */
static bool matrix_write_utilization(struct matrix_study *s, const char *file, const char *title,
                                     const struct schedulers_result *r, double cores)
{
    struct strbuf svg = {0};
    report_utilization_chart(&(struct utilization_chart){.title = title,
                                                         .cores = cores,
                                                         .makespan = r->makespan,
                                                         .bin_width = r->bin_width,
                                                         .nbins = r->nbins,
                                                         .running = r->running,
                                                         .fetching = r->fetching,
                                                         .moves_data = r->bytes_moved > 0},
                             &svg);
    bool good = reproduction_write(s->o, file, &svg, s->err);
    strbuf_free(&svg);
    strbuf_printf(&s->md, "\n![%s](%s)\n", title, file);
    return good;
}

/* ---- image stacking ---- */

/* Locality: tasks and files, from the data-diffusion paper that this one takes them from. */
static const struct {
    double locality;
    uint32_t tasks, files;
} stacking[] = {{1, 111700, 111700}, {1.38, 154345, 111699}, {2, 97999, 49000},
                {3, 88857, 29620},   {4, 76575, 19145},      {5, 60590, 12120},
                {10, 46480, 4650},   {20, 40460, 2025},      {30, 23695, 790}};

/* Cores over time where files stand evenly, and what is left of it where chance dealt them out, as section
 * 4.1.1 says that it did ("randomly distributed"). */
static bool matrix_figure_5b(struct matrix_study *s)
{
    uint32_t nodes = s->o->quick ? 4 : 100;
    struct workload d = matrix_benchmark(s, WORKLOAD_STACKING, nodes);
    struct schedulers_result even, drawn;
    struct matrix_manner manner = {.policy = SCHED_MDL, .paper = true};
    if (!matrix_simulate(s, &d, nodes, manner, &even))
        return false;
    d.drawn_files = 1;
    if (!matrix_simulate(s, &d, nodes, manner, &drawn))
        return false;
    uint32_t *count = mem_new_zero(uint32_t, nodes), most = 0;
    for (uint32_t i = 0; i < d.files; i++) {
        uint32_t n = ++count[workload_file_node(&d, d.ntasks + i, nodes)];
        most = n > most ? n : most;
    }
    free(count);
    s->findings.even = matrix_percent(even.efficiency);
    s->findings.drawn = matrix_percent(drawn.efficiency);
    bool between = s->findings.drawn < 75 && s->findings.even > 75;
    strbuf_printf(
        &s->md,
        "\n(b) Utilisation at %u cores, locality 30: published 75 %%, with a long tail because MDL "
        "never steals.\n\n| files on the nodes | most on one node | ours |\n| --- | --- | --- |\n"
        "| dealt out evenly | %u | %.1f %% |\n| drawn at random | %u | %.1f %% |\n\n"
        "A task runs where its file stands, so the node with the most files ends last: of %u files "
        "on %u nodes a node has %.1f on average. The paper says both \"randomly distributed\" and "
        "\"uniformly distributed\"; its 75 %% %s between our two. How its files stood cannot be "
        "known.\n",
        nodes * 2, (d.files + nodes - 1) / nodes, s->findings.even, most, s->findings.drawn,
        d.files, nodes, (double)d.files / nodes, between ? "lies" : "does not lie");
    return matrix_write_utilization(s, "figure5b.svg",
                                    "Figure 5 (b): utilisation, locality 30, MDL, files drawn",
                                    &drawn, nodes * 2.0);
}

/* Time per task per CPU at several localities, then the utilisation of one of them. */
static bool matrix_figure_5(struct matrix_study *s)
{
    enum { N = sizeof stacking / sizeof *stacking };
    double x[N], y[N], ideal[N];
    uint32_t nodes = s->o->quick ? 4 : 64;
    strbuf_printf(
        &s->md,
        "\n## Figure 5: image stacking\n\nTasks of 158 ms, each reads a file of 2 MB, "
        "policy MDL. (a) Average time per task per CPU at %u cores; published (a "
        "drawing): \"almost constant\" and \"close to the ideal\" of 158 ms.\n\n"
        "Tasks and files are those of the data-diffusion paper [34], which this one takes them "
        "from%s; locality is their ratio.\n\n"
        "| locality | tasks | files | tasks / files | ours, ms | ideal |\n| --- | --- | --- | "
        "--- | --- | --- |\n",
        nodes * 2, s->o->quick ? ", a two-hundredth of them" : "");
    for (size_t i = 0; i < N; i++) {
        struct workload d = matrix_benchmark(s, WORKLOAD_STACKING, nodes);
        struct schedulers_result r;
        /* a two-hundredth of every workload keeps its locality */
        uint32_t less = s->o->quick ? 200 : 1;
        d.ntasks = stacking[i].tasks / less + 1;
        d.files = stacking[i].files / less ? stacking[i].files / less : 1;
        if (!matrix_simulate(s, &d, nodes,
                             (struct matrix_manner){.policy = SCHED_MDL, .paper = true}, &r))
            return false;
        x[i] = stacking[i].locality;
        y[i] = r.makespan * nodes * 2 / r.tasks * 1000;
        ideal[i] = 158;
        s->findings.longest = y[i] > s->findings.longest ? y[i] : s->findings.longest;
        strbuf_printf(&s->md, "| %g | %u | %u | %.2f | %.1f | 158 |\n", x[i], d.ntasks - 1, d.files,
                      (double)(d.ntasks - 1) / d.files, y[i]);
    }
    struct chart_series series[] = {
        {.name = "MATRIX's schedulers (ours)", .x = x, .y = y, .n = N, .points = true},
        {.name = "ideal", .x = x, .y = ideal, .n = N}};
    if (!matrix_write_chart(s, "figure5a.svg",
                            &(struct chart){.title = "Figure 5 (a): time per task per CPU",
                                            .x_title = "locality",
                                            .y_title = "ms",
                                            .y_from_zero = true,
                                            .series = series,
                                            .nseries = 2}))
        return false;
    return matrix_figure_5b(s);
}

/* ---- all-pairs ---- */

/* One setting, three ways: as described, with data fetched ahead, and with tasks beside their
 * files. */
static bool matrix_figure_6a(struct matrix_study *s, uint32_t nodes)
{
    struct schedulers_result paper, ahead, ours;
    struct workload d = matrix_benchmark(s, WORKLOAD_ALL_PAIRS, nodes);
    if (!matrix_simulate(s, &d, nodes, (struct matrix_manner){.paper = true}, &paper) ||
        !matrix_simulate(s, &d, nodes, (struct matrix_manner){.scattered = true}, &ahead) ||
        !matrix_simulate(s, &d, nodes, (struct matrix_manner){0}, &ours))
        return false;
    s->findings.daws = paper.efficiency;
    strbuf_printf(
        &s->md,
        "\n## Figure 6: all-pairs\n\n%u x %u files of 12 MB, tasks of 100 ms, FLDS, %u cores.\n\n"
        "| (a) efficiency | published | ours |\n| --- | --- | --- |\n"
        "| DAWS as the paper describes it (tasks by hash) | 85.9 %% | %.1f %% |\n"
        "| the same with data fetched ahead | | %.1f %% |\n"
        "| and tasks submitted beside their files | | %.1f %% |\n"
        "| active storage: all files in memory | 91 %% | |\n| Falkon data diffusion | 75 %% | |\n"
        "| best case parallel file system | < 20 %% | |\n",
        d.files, d.files, nodes * 2, matrix_percent(paper.efficiency),
        matrix_percent(ahead.efficiency), matrix_percent(ours.efficiency));
    return true;
}

/* Efficiency over the scales, one line a manner. */
/* One table row a scale, one line of the chart a manner; `hits` adds the cache's share to the
 * table. */
static bool scales_of_pairs(struct matrix_study *s, const char *file, const char *title,
                            const struct matrix_manner *manners, const char *const *names, size_t n,
                            bool hits, double y[][SCALES_MOST])
{
    double x[SCALES_MOST], hit[4][SCALES_MOST];
    struct chart_series series[4];
    for (uint32_t i = 0; i < s->nscales; i++) {
        x[i] = s->nodes[i] * 2;
        strbuf_printf(&s->md, "| %u |", s->nodes[i] * 2);
        for (size_t k = 0; k < n; k++) {
            struct workload d = matrix_benchmark(s, WORKLOAD_ALL_PAIRS, s->nodes[i]);
            struct schedulers_result r;
            if (!matrix_simulate(s, &d, s->nodes[i], manners[k], &r))
                return false;
            y[k][i] = matrix_percent(r.efficiency);
            hit[k][i] = r.hit_rate;
            strbuf_printf(&s->md, " %.1f %% |", y[k][i]);
            if (hits)
                strbuf_printf(&s->md, " %.1f %% |", matrix_percent(hit[k][i]));
        }
        strbuf_add_char(&s->md, '\n');
    }
    for (size_t k = 0; k < n; k++)
        series[k] = (struct chart_series){
            .name = names[k], .x = x, .y = y[k], .n = s->nscales, .points = true};
    return matrix_write_chart(s, file,
                              &(struct chart){.title = title,
                                              .x_title = "cores",
                                              .y_title = "efficiency, %",
                                              .y_from_zero = true,
                                              .series = series,
                                              .nseries = n});
}

/* All-pairs under policies and with and without caching. */
static bool matrix_figures_6_to_8(struct matrix_study *s)
{
    static const struct matrix_manner policies[] = {{.policy = SCHED_MLB, .paper = true},
                                                    {.policy = SCHED_MDL, .paper = true},
                                                    {.policy = SCHED_FLDS, .paper = true}};
    static const char *const policy_names[] = {"MLB", "MDL", "FLDS"};
    static const struct matrix_manner caching[] = {{.paper = true},
                                                   {.paper = true, .no_cache = true}};
    static const char *const caching_names[] = {"caching", "no caching"};
    uint32_t nodes = s->o->quick ? 5 : 100;
    if (!matrix_figure_6a(s, nodes))
        return false;
    strbuf_add(&s->md, "\n(b) Policies, as the paper describes them. Published (a drawing): MLB "
                       "worst, MDL moderate, FLDS best.\n\n| cores | MLB | MDL | FLDS |\n| --- | "
                       "--- | --- | --- |\n");
    if (!scales_of_pairs(s, "figure6b.svg", "Figure 6 (b): policies, all-pairs", policies,
                         policy_names, 3, false, s->findings.policies))
        return false;
    matrix_comment_6b(s);
    strbuf_add(
        &s->md,
        "\n## Figure 7: caching\n\nPublished at 200 cores: less than 50 % without, more than "
        "85 % with caching; more than 80 % hits.\n\n| cores | caching | hits | no caching "
        "| hits |\n| --- | --- | --- | --- | --- |\n");
    if (!scales_of_pairs(s, "figure7.svg", "Figure 7: caching, all-pairs, FLDS", caching,
                         caching_names, 2, true, s->findings.caching))
        return false;
    strbuf_add(&s->md, "\n## Figure 8: utilisation of FLDS and MDL, all-pairs\n");
    for (int k = 2; k > 0; k--) {
        struct workload d = matrix_benchmark(s, WORKLOAD_ALL_PAIRS, nodes);
        struct schedulers_result r;
        char file[32], title[80];
        if (!matrix_simulate(s, &d, nodes, policies[k], &r))
            return false;
        snprintf(file, sizeof file, "figure8-%s.svg", k == 2 ? "flds" : "mdl");
        snprintf(title, sizeof title, "Figure 8: %s, %u cores, %.1f %% used", policy_names[k],
                 nodes * 2, matrix_percent(r.efficiency));
        if (!matrix_write_utilization(s, file, title, &r, nodes * 2.0))
            return false;
    }
    return true;
}

/* ---- the study ---- */

/* 1 to 100 nodes of two cores, as on Kodiak; three scales will do for a test. */
static bool matrix_reproduce(const struct reproduction_options *o, struct strbuf *out,
                             struct error *err)
{
    static const uint32_t scales[] = {1, 2, 4, 8, 16, 32, 64, 100}, quick[] = {1, 3, 10};
    struct matrix_study s = {.o = o, .err = err};
    s.nscales = o->quick ? 3 : 8;
    memcpy(s.nodes, o->quick ? quick : scales, s.nscales * sizeof *s.nodes);
    struct strbuf md = {0};
    bool good = matrix_figure_5(&s) && matrix_figures_6_to_8(&s) && matrix_figures_9_to_12(&s) &&
                matrix_figure_13(&s) && matrix_section_4_4(&s);
    if (good) { /* what a reader wants to know first is known last */
        matrix_write_head(&s, &md);
        strbuf_add(&md, s.md.at);
        good = reproduction_write(o, "matrix.md", &md, err);
    }
    strbuf_free(&md);
    if (good) {
        strbuf_printf(out, "%s/matrix.md\n", o->folder);
        for (int k = 0; k < DAGS; k++)
            strbuf_printf(out, "  %-9s %5.1f %% of the bound at %u cores (published: %.1f %%)\n",
                          matrix_dag_names[k], matrix_percent(s.of_bound[k][s.nscales - 1]),
                          s.nodes[s.nscales - 1] * 2, matrix_percent(matrix_table4[k]));
    }
    strbuf_free(&s.md);
    return good;
}

const struct reproduction reproduction_matrix = {
    .name = "matrix",
    .summary = "MATRIX: distributed data-aware scheduling (Figures 5 to 13, Table 4, section 4.4)",
    .working_on = "simulating",
    .ignores = "runs data",
    .run = matrix_reproduce,
};
