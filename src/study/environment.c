/* `weft reproduce environment`: the performance studies of section 5 of Ahrens, Shapiro, Tanimoto
 * (HPDC 1997): Figures 5 to 9 and Table 1 on stand-ins for its program graphs, the published
 * numbers beside ours. environment_trials.c runs the studies; here their rows become figures and
 * text. */
#include "base/mem.h"
#include "study/environment_trials.h"
#include "report/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of Table 1 that are shown: the paper shows four of its 47. */
enum { TABLE_ROWS = 6 };

/* ---- figures ---- */

/* All tasks on one processor, over what the execution took. */
static double speedup_of(const struct environment_row *row)
{
    return row->executed > 0 ? row->serial / row->executed : 1;
}

/* As the paper's figures: grouped by scheduled processors, within a group by speedup. */
static int by_speedup(const void *a, const void *b)
{
    const struct environment_row *x = a, *y = b;
    if (x->scheduled != y->scheduled)
        return x->scheduled < y->scheduled ? -1 : 1;
    double p = speedup_of(x), q = speedup_of(y);
    return p != q ? (p < q ? -1 : 1) : strcmp(x->name, y->name);
}

/* Figure 5 is sorted by states; equal ones by name, so that the picture repeats. */
static int by_states(const void *a, const void *b)
{
    const struct environment_row *x = a, *y = b;
    return x->states != y->states ? (x->states < y->states ? -1 : 1) : strcmp(x->name, y->name);
}

/* The paper gives geometric means of speedups and plain ones of everything else. */
static double mean_of(const environment_rows *rows, double (*value)(const struct environment_row *),
                      bool geometric)
{
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += geometric ? log(value(&rows->at[i])) : value(&rows->at[i]);
    double mean = rows->n ? sum / (double)rows->n : NAN;
    return geometric ? exp(mean) : mean;
}

static double scheduled_of(const struct environment_row *row)
{
    return row->scheduled;
}

static double states_of(const struct environment_row *row)
{
    return (double)row->states;
}

static double seconds_of(const struct environment_row *row)
{
    return row->seconds;
}

static double tasks_of(const struct environment_row *row)
{
    return row->tasks;
}

static double plain_tasks_of(const struct environment_row *row)
{
    return row->plain_tasks;
}

static double combinations_of(const struct environment_row *row)
{
    return row->combinations;
}

/* How many rows of a study have a property. */
static size_t count_rows(const environment_rows *rows, bool (*has)(const struct environment_row *))
{
    size_t count = 0;
    for (size_t i = 0; i < rows->n; i++)
        count += has(&rows->at[i]);
    return count;
}

static bool is_fulfilled(const struct environment_row *row)
{
    return row->fulfilled;
}

static bool is_fulfilled_real(const struct environment_row *row)
{
    return row->fulfilled_real;
}

/* It uses every processor that the constraints allow: marked by a dot in the figures. */
static bool is_limited(const struct environment_row *row)
{
    return row->scheduled == row->selected;
}

/* The number of states that the paper names for "most". */
static bool is_below_500(const struct environment_row *row)
{
    return row->states < 500;
}

/* A graph's name, with the dot before it: up to 31 bytes of name. */
struct environment_label {
    char text[40];
};

/* One or two bars for each graph, in the order of the rows. */
/* `dots` marks graphs that use every processor they may. */
static bool environment_draw(const struct environment_study *s, const char *file, const char *title,
                             const char *axis, const environment_rows *rows,
                             const char *const *series, size_t nseries,
                             double (*const *value)(const struct environment_row *), bool dots,
                             struct error *err)
{
    const char **groups = mem_new(const char *, rows->n + 1);
    struct environment_label *names = mem_new_zero(struct environment_label, rows->n + 1);
    double *values = mem_new(double, (rows->n + 1) * nseries);
    for (size_t i = 0; i < rows->n; i++) {
        snprintf(names[i].text, sizeof names[i].text, "%s%s",
                 dots && is_limited(&rows->at[i]) ? "\u2022 " : "", rows->at[i].name);
        groups[i] = names[i].text;
        for (size_t k = 0; k < nseries; k++)
            values[i * nseries + k] = value[k](&rows->at[i]);
    }
    /* 47 groups need a wide picture */
    struct bar_chart chart = {.title = title,
                              .y_title = axis,
                              .width = rows->n > 20 ? 1600 : 0,
                              .groups = groups,
                              .ngroups = rows->n,
                              .series = nseries > 1 ? series : NULL,
                              .nseries = nseries,
                              .value = values,
                              .reference = NAN};
    struct strbuf svg = {0};
    report_bar_chart(&chart, &svg);
    bool good = reproduction_write(s->o, file, &svg, err);
    strbuf_free(&svg);
    free(groups);
    free(names);
    free(values);
    return good;
}

/* Finish times of the two processors of Figure 8, executed. */
static double oddvar_of(const struct environment_row *row)
{
    return row->early_real[0];
}

static double norge_of(const struct environment_row *row)
{
    return row->early_real[1];
}

/* Figures 5 to 9; each has its own order of graphs. */
static bool environment_draw_all(const struct environment_study *s, struct error *err)
{
    static const char *const speed[] = {"speedup", "scheduled processors"};
    static const char *const finish[] = {"oddvar", "norge"};
    static double (*const speed_value[])(const struct environment_row *) = {speedup_of,
                                                                            scheduled_of};
    static double (*const finish_value[])(const struct environment_row *) = {oddvar_of, norge_of};
    static double (*const states_value[])(const struct environment_row *) = {states_of};
    environment_rows sorted = {0};
    for (size_t i = 0; i < s->plain.n; i++)
        array_push(&sorted, s->plain.at[i]);
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, by_states);
    bool good = environment_draw(s, "fig5.svg", "Figure 5: states explored", "states", &sorted,
                                 NULL, 1, states_value, false, err);
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, by_speedup);
    good = good && environment_draw(s, "fig6.svg", "Figure 6: speedup with the default constraints",
                                    "speedup", &sorted, speed, 2, speed_value, true, err);
    sorted.n = 0;
    for (size_t i = 0; i < s->experiments.n; i++)
        array_push(&sorted, s->experiments.at[i]);
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, by_speedup);
    good = good && environment_draw(s, "fig7.svg", "Figure 7: speedup of experiments", "speedup",
                                    &sorted, speed, 2, speed_value, true, err);
    array_free(&sorted);
    return good &&
           environment_draw(s, "fig8.svg", "Figure 8: finish times of oddvar and norge", "seconds",
                            &s->early, finish, 2, finish_value, false, err) &&
           reproduction_write(s->o, "fig9.svg", &s->gantt, err);
}

/* ---- the report ---- */

/* What the numbers stand on, before any of them. */
static void report_head(const struct environment_study *s, struct strbuf *out)
{
    double tasks = 0, dependencies = 0;
    for (size_t i = 0; i < s->plain.n; i++) {
        tasks += s->plain.at[i].tasks;
        dependencies += s->plain.at[i].dependencies;
    }
    strbuf_printf(
        out,
        "# The environment of Ahrens, Shapiro and Tanimoto, reproduced\n\n"
        "*A distributed computing environment with support for constraint-based task scheduling "
        "and\n"
        "scientific experimentation*, HPDC 1997, section 5. Seed %llu.\n\n"
        "**Stand-ins.** The paper scheduled the %d program graphs of a course in image processing "
        "on\n"
        "nine SPARCstations. Neither graphs nor measured times are published, so %zu graphs are\n"
        "drawn from the seed: %.1f tasks and %.1f dependencies on average (paper: 18 and 18), "
        "kinds of\n"
        "tasks as in its Figure 9, tasks of a few seconds, images of 0.6 to 9.4 MB on an Ethernet "
        "of 10\n"
        "Mbit/s, nine equal processors of which others use one in four. *Executed* means: replayed "
        "in the\n"
        "simulator with task times that vary by %g %%. Compare shapes and magnitudes, not "
        "graphs.\n\n",
        (unsigned long long)s->o->seed, IMAGE_GRAPHS, s->plain.n, tasks / (double)s->plain.n,
        dependencies / (double)s->plain.n, 100 * environment_noise);
}

/* Figures 5 and 6: states, time to schedule, speedup. */
static void report_default(const struct environment_study *s, struct strbuf *out)
{
    const environment_rows *rows = &s->plain;
    uint64_t most = 0;
    double longest = 0;
    for (size_t i = 0; i < rows->n; i++) {
        most = rows->at[i].states > most ? rows->at[i].states : most;
        longest = fmax(longest, rows->at[i].seconds);
    }
    strbuf_printf(out,
                  "## Figure 5: states explored with the default constraints\n\n"
                  "| | ours | paper |\n|---|---|---|\n"
                  "| graphs with fewer than 500 states | %zu of %zu | most of 47 |\n"
                  "| states on average | %.0f | - |\n"
                  "| most states | %llu | - |\n"
                  "| time to schedule, on average | %.2f ms | - |\n"
                  "| longest time to schedule | %.2f ms | a few seconds to a few minutes |\n\n"
                  "![](fig5.svg)\n\n",
                  count_rows(rows, is_below_500), rows->n, mean_of(rows, states_of, false),
                  (unsigned long long)most, 1e3 * mean_of(rows, seconds_of, false), 1e3 * longest);
    strbuf_printf(out,
                  "## Figure 6: speedup with the default constraints\n\n"
                  "| | ours | paper |\n|---|---|---|\n"
                  "| speedup (geometric mean) | %.2f | 1.4 |\n"
                  "| scheduled processors on average | %.1f | 2.8 |\n"
                  "| graphs that use all selected processors (\u2022) | %zu | marked in the figure "
                  "|\n\n"
                  "![](fig6.svg)\n\n",
                  mean_of(rows, speedup_of, true), mean_of(rows, scheduled_of, false),
                  count_rows(rows, is_limited));
}

/* Figures 4 and 7: what reuse saves, and the speedup of merged experiments. */
static void report_experiments(const struct environment_study *s, struct strbuf *out)
{
    const environment_rows *rows = &s->experiments;
    strbuf_printf(
        out,
        "## Figure 4: the edge-detection experiment\n\n"
        "Two images, three edge detectors. The paper's picture executes everything for each "
        "combination; its\nenvironment, and weft, read each image once.\n\n"
        "| | ours | paper |\n|---|---|---|\n"
        "| instances | %llu | 6 |\n"
        "| tasks, each instance by itself | %llu | 18 |\n"
        "| tasks, results reused | %llu | each image read once |\n\n",
        (unsigned long long)s->edges_instances, (unsigned long long)s->edges_plain,
        (unsigned long long)s->edges_reused);
    strbuf_printf(
        out,
        "## Figure 7: experiments\n\n"
        "In each graph an input task and another task are drawn, and four versions of both "
        "are tried:\n16 combinations, merged into one graph that computes each distinct "
        "result once.\n\n"
        "| | ours | paper |\n|---|---|---|\n"
        "| speedup (geometric mean) | %.2f | 3.4 |\n"
        "| scheduled processors on average | %.1f | 5.5 |\n"
        "| speedup for each scheduled processor | %.2f | 0.62 |\n"
        "| instances on average | %.0f | 16 |\n"
        "| tasks on average, each instance by itself | %.0f | - |\n"
        "| tasks on average, results reused | %.0f | - |\n",
        mean_of(rows, speedup_of, true), mean_of(rows, scheduled_of, false),
        mean_of(rows, speedup_of, true) / mean_of(rows, scheduled_of, false),
        mean_of(rows, combinations_of, false), mean_of(rows, plain_tasks_of, false),
        mean_of(rows, tasks_of, false));
    strbuf_printf(out,
                  "| time to schedule, on average | %.1f ms | - |\n"
                  "| graphs that use all selected processors (\u2022) | %zu | marked in the figure "
                  "|\n\n![](fig7.svg)\n\n",
                  1e3 * mean_of(rows, seconds_of, false), count_rows(rows, is_limited));
}

/* Graphs with at least five outputs, as in the paper's table, then the paper's own rows. */
static void report_table(const struct environment_study *s, struct strbuf *out)
{
    static const char *const paper[] = {
        "| combine-zoom-number (paper) | 20 | 29 | 29 | 42 | 43 |\n",
        "| detect-edges (paper) | 19 | 19 | 20 | 28 | 29 |\n",
        "| label-display-area (paper) | 9 | 16 | 34 | 34 | 51 |\n",
        "| spatial-resolution (paper) | 15 | 17 | 18 | 19 | 27 |\n",
    };
    size_t shown = 0;
    for (size_t i = 0; i < s->ordered.n && shown < TABLE_ROWS; i++) {
        const struct environment_row *row = &s->ordered.at[i];
        if (row->outputs < ENVIRONMENT_OUTPUTS)
            continue;
        strbuf_printf(out, "| %s |", row->name);
        for (int k = 0; k < ENVIRONMENT_OUTPUTS; k++)
            strbuf_printf(out, " %.1f |", row->finish[k]);
        strbuf_add(out, "\n");
        shown++;
    }
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++)
        strbuf_add(out, paper[i]);
}

/* Figures 8 and 9, Table 1: wishes that schedules fulfil, and whether the execution kept them. */
static void report_constraints(const struct environment_study *s, struct strbuf *out)
{
    strbuf_printf(out,
                  "## Figure 8: a processor that finishes early\n\n"
                  "Only oddvar and norge may be used, and oddvar should finish at least twice as "
                  "late as norge.\n\n"
                  "```sql\n%s```\n\n"
                  "| | ours | paper |\n|---|---|---|\n"
                  "| fulfilled in the schedule | %zu of %zu | - |\n"
                  "| fulfilled when executed | %zu of %zu | all shown |\n\n"
                  "![](fig8.svg)\n\n",
                  environment_early_rules, count_rows(&s->early, is_fulfilled), s->early.n,
                  count_rows(&s->early, is_fulfilled_real), s->early.n);
    strbuf_printf(out,
                  "## Table 1: an order of outputs\n\n"
                  "The outputs of each graph in a random order: a dependency between each and the "
                  "next, in\naddition to the default constraints, as preferences (what the paper "
                  "did) and as requirements.\n\n"
                  "| | ours | paper |\n|---|---|---|\n"
                  "| graphs ordered as asked, in the schedule | %zu of %zu | - |\n"
                  "| graphs ordered as asked, executed | %zu of %zu | all |\n"
                  "| as requirements, in the schedule | %zu of %zu | - |\n"
                  "| as requirements, executed | %zu of %zu | - |\n\n"
                  "Finish times in seconds, executed:\n\n"
                  "| program graph | 1st | 2nd | 3rd | 4th | 5th |\n|---|---|---|---|---|---|\n",
                  count_rows(&s->ordered, is_fulfilled), s->ordered.n,
                  count_rows(&s->ordered, is_fulfilled_real), s->ordered.n,
                  count_rows(&s->required, is_fulfilled), s->required.n,
                  count_rows(&s->required, is_fulfilled_real), s->required.n);
    report_table(s, out);
    strbuf_printf(out,
                  "\n## Figure 9: tasks on a processor of their own\n\n"
                  "All \"Display Image\" tasks should run on willow.\n\n```sql\n%s```\n\n"
                  "| | ours | paper |\n|---|---|---|\n"
                  "| graphs with all of them on willow | %zu of %zu | all |\n"
                  "| speedup (geometric mean) | %.2f | - |\n"
                  "| scheduled processors on average | %.1f | 5 in its example |\n\n"
                  "The schedule of %s; numbered bars are pinned by the constraint:\n\n"
                  "![](fig9.svg)\n\n",
                  environment_assigned_rules, count_rows(&s->assigned, is_fulfilled), s->assigned.n,
                  mean_of(&s->assigned, speedup_of, true),
                  mean_of(&s->assigned, scheduled_of, false), s->gantt_name);
}

/* What a reader must know before he compares: which numbers were fitted, and which were not. */
static const char reasons[] =
    "Why, and what was chosen by hand:\n\n"
    "- The graphs, task times and image sizes are drawn, not the course's. How like chains they "
    "are,\n"
    "  and how many tasks show results, is set by hand so that the speedup of Figure 6 comes out "
    "near\n"
    "  the paper's: that number is fitted. The processors used, Figures 5 and 7 to 9 and Table 1 "
    "are\n"
    "  not.\n"
    "- The default constraints are not printed in the paper; ours are written from its\n"
    "  description (`examples/constraints/default.sql`). They look at one task at a time, so the\n"
    "  number of states is at most tasks x selected processors.\n"
    "- The wishes of Figure 8 and Table 1 stand in the paper's words. It says nothing of what a "
    "processor\n"
    "  without tasks finishes at: 0 here once the schedule is complete, or leaving oddvar empty "
    "would\n"
    "  fulfil the wish. Its search alone, as printed, leaves most of them open with any order of\n"
    "  scheduling as a requirement; the searches that follow it fulfil them (docs/constraints.md)."
    "\n"
    "- Executed means simulated (`executed.md` has what agents really executed): the paper's\n"
    "  workstations had users and one shared cable. By how much\n"
    "  task times vary is a choice, the paper does not say. It decides how many wishes survive "
    "the\n"
    "  execution; with seed 1 and 2, 5 and 10 %: 47, 46 and 45 graphs in Figure 8. The orders of "
    "Table 1\n"
    "  hold in all 47 at each: the plan lets an output wait for the one before it, which is the "
    "paper's\n"
    "  \"dependency between a pair of output tasks\".\n";

/* Every numbered figure and table of the paper. */
static const char contents[] =
    "| in the paper | here |\n| --- | --- |\n"
    "| Figure 1 | a drawing of the environment's parts: graphs, constraints, experiments, "
    "scheduler; ours "
    "are commands (docs/constraints.md, docs/experiments.md) |\n"
    "| Figure 2 | a drawing of a program graph; `examples/constraints` has such graphs |\n"
    "| Figure 3 | the substitutions of the experiment of Figure 4 |\n"
    "| Figure 4 | below: instances, tasks, results used again |\n"
    "| Figures 5 to 9, Table 1 | below; the paper shows 4 rows of 47 of Table 1 |\n\n";

/* How many graphs fulfil a wish; the paper shows that all do. */
static void find_wish(struct findings *f, const char *what, const environment_rows *rows,
                      bool (*has)(const struct environment_row *))
{
    size_t n = count_rows(rows, has);
    findings_say(f, n == rows->n, "%s: %zu of %zu graphs, published: all.", what, n, rows->n);
}

static void report_findings(const struct environment_study *s, struct strbuf *out)
{
    struct findings f = {0};
    const environment_rows *one = &s->plain, *many = &s->experiments;
    double speedup = mean_of(many, speedup_of, true), used = mean_of(many, scheduled_of, false);
    findings_compare(&f, "Figure 4: instances", (double)s->edges_instances, 6, 0);
    findings_compare(&f, "Figure 4: tasks, each instance by itself", (double)s->edges_plain, 18, 0);
    findings_say(&f, 2 * count_rows(one, is_below_500) > one->n,
                 "Figure 5: %zu of %zu graphs need fewer than 500 states, published: most.",
                 count_rows(one, is_below_500), one->n);
    findings_compare(&f, "Figure 6: speedup", mean_of(one, speedup_of, true), 1.4, 0.1);
    findings_compare(&f, "Figure 6: processors used", mean_of(one, scheduled_of, false), 2.8, 0.1);
    findings_compare(&f, "Figure 7: speedup of experiments", speedup, 3.4, 0.1);
    findings_compare(&f, "Figure 7: processors used", used, 5.5, 0.1);
    findings_compare(&f, "Figure 7: speedup for each processor", speedup / used, 0.62, 0.1);
    find_wish(&f, "Figure 8, executed", &s->early, is_fulfilled_real);
    find_wish(&f, "Table 1, executed", &s->ordered, is_fulfilled_real);
    find_wish(&f, "Figure 9", &s->assigned, is_fulfilled);
    strbuf_add(out, "Averages agree here when they are within 10 %.\n\n");
    findings_write(&f, out, reasons,
                   "The program graphs, their measured times, and how busy the workstations and "
                   "their cable were; the default constraints as they were written.");
}

/* It depends on the machine, and stands apart: a file of its own, told in the same breath. One that could
 * not be executed (no redis-server, no processes) is no failure of the study, and says why. */
static bool environment_report_executed(struct environment_study *s, struct strbuf *out,
                                        struct error *err)
{
    struct strbuf section = {0};
    struct error why = {0};
    if (!s->o->runner)
        return true;
    if (!environment_execute(s, &section, &why)) {
        strbuf_clear(&section);
        strbuf_printf(&section, "## Executed by agents of this machine\n\nNot executed: %s\n",
                      why.text);
    }
    bool good = reproduction_write(s->o, "executed.md", &section, err);
    strbuf_add_char(out, '\n');
    strbuf_add_bytes(out, section.at, section.n);
    strbuf_free(&section);
    return good;
}

/* The report is also what the command prints. */
static bool environment_report(const struct reproduction_options *o, struct strbuf *out,
                               struct error *err)
{
    struct environment_study s = {0};
    struct strbuf report = {0};
    bool good = environment_run(&s, o, err) && environment_draw_all(&s, err);
    if (good) {
        report_head(&s, &report);
        report_findings(&s, &report);
        strbuf_add(&report, contents);
        report_default(&s, &report);
        report_experiments(&s, &report);
        report_constraints(&s, &report);
        good = reproduction_write(o, "environment.md", &report, err);
        strbuf_add_bytes(out, report.at, report.n);
        good = good && environment_report_executed(&s, out, err);
    }
    strbuf_free(&report);
    environment_free(&s);
    return good;
}

const struct reproduction reproduction_environment = {
    .name = "environment",
    .summary = "constraint-based scheduling and experiments (HPDC 1997) on program graphs",
    .working_on = "program graphs",
    .ignores = "runs data",
    .run = environment_report,
};
