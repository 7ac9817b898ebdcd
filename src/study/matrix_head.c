/* The head of `weft reproduce matrix`: every sentence that compares follows from what was found, so that it is
 * true of the small version and of another seed, too. */
#include "study/matrix_study.h"

#include <math.h>

/* Points of a hundred within which two shares are called alike. */
static const double alike = 5;

static void matrix_say_applications(const struct matrix_study *s, struct findings *h)
{
    const struct matrix_findings *f = &s->findings;
    uint32_t last = s->nscales - 1, cores = s->nodes[last] * 2;
    double mlb = f->policies[0][last], mdl = f->policies[1][last], flds = f->policies[2][last];
    findings_say(
        h, f->longest < 1.1 * 158,
        "Figure 5 (a): a task takes at most %.0f ms, published as \"close to the ideal\" of "
        "158%s.",
        f->longest,
        f->longest < 1.1 * 158 ? "" : ": with few tasks for each file, a node waits for its last");
    findings_say(
        h, fabs(f->even - 75) < alike || fabs(f->drawn - 75) < alike,
        "Figure 5 (b): %.1f %% are used with files dealt out evenly and %.1f %% with files "
        "drawn, published 75 %%.",
        f->even, f->drawn);
    findings_say(h, fabs(100 * f->daws - 85.9) < alike,
                 "Figure 6 (a): DAWS as described is at %.1f %%, published 85.9 %%.",
                 100 * f->daws);
    findings_say(
        h, mlb < mdl && mdl < flds,
        "Figure 6 (b): at %u cores MLB, MDL, FLDS are at %.1f, %.1f and %.1f %%; the paper "
        "has them in this order%s.",
        cores, mlb, mdl, flds,
        mlb < mdl && mdl < flds ? "" : ", and equal tasks leave FLDS little to give away");
    findings_say(h, f->caching[0][last] > 85 && f->caching[1][last] < 50,
                 "Figure 7: at %u cores %.1f %% with caching and %.1f %% without; published at 200 "
                 "cores: more than 85 and less than 50.",
                 cores, f->caching[0][last], f->caching[1][last]);
}

static void matrix_say_benchmarks(const struct matrix_study *s, struct findings *h)
{
    const struct matrix_findings *f = &s->findings;
    double least = INFINITY, higher = INFINITY;
    bool same_order = true;
    for (int k = 0; k < DAGS; k++) {
        least = fmin(least, f->growth[k]);
        higher = fmin(higher, f->bound[k] * 131072 / matrix_figure12[k]);
        same_order &= k == 0 || f->bound[k] <= f->bound[k - 1];
    }
    findings_say(h, least > 0.9,
                 "Figure 9: from %u to %u cores the throughput of a core keeps at least %.0f %%; "
                 "published: linear.",
                 s->nodes[0] * 2, s->nodes[s->nscales - 1] * 2, 100 * least);
    for (int k = 0; k < DAGS; k++) {
        double points = 100 * (f->described[k] - matrix_table4[k]);
        bool near = fabs(points) < alike;
        findings_say(
            h, near,
            "Table 4: %s as described, tasks by hash, is at %.1f %% of the bound, published "
            "%.1f %%%s.",
            matrix_dag_names[k], 100 * f->described[k], 100 * matrix_table4[k],
            near         ? ""
            : points < 0 ? "; below the table stands why"
                         : "; what held it back on Kodiak is not known");
    }
    int ahead = 0;
    for (int k = 0; k < DAGS; k++)
        ahead += f->ours[k] > matrix_table4[k];
    findings_say(h, false,
                 "Our own schedulers, with six changes, are above Table 4 in %d of its %d rows.",
                 ahead, DAGS);
    findings_say(h, same_order, "Figure 12: the bounds of the four graphs %s published order.",
                 same_order ? "are in the" : "are not in the");
    findings_say(h, false,
                 "Figure 13: %.0f empty tasks a second on each of %u instances, published about "
                 "1,050 on each of 64; these are processors of today.",
                 f->empty / f->instances, f->instances);
    findings_say(
        h, false,
        "For each core our bounds are at least %.2f times the published ones; below Figure 12 "
        "stands why.",
        higher);
}

void matrix_write_head(const struct matrix_study *s, struct strbuf *md)
{
    struct findings h = {0};
    matrix_say_applications(s, &h);
    matrix_say_benchmarks(s, &h);
    strbuf_printf(
        md,
        "# MATRIX: data-aware work stealing\n\nWang et al., Load-balanced and locality-aware "
        "scheduling for data-intensive workloads at extreme scales, 2015. The paper measured "
        "MATRIX on up to 100 nodes of Kodiak (two cores each); these figures are the same "
        "schedulers (`src/sched`), two cores a node, in virtual time over a modelled gigabit "
        "network and store (docs/cluster-simulation.md). Where the paper prints a number it stands "
        "beside ours. Seed %llu%s. Shares agree here when they are within %.0f points.\n\n",
        (unsigned long long)s->o->seed,
        s->o->quick ? ", small version: a fifth of the tasks or less, on up to 10 nodes" : "",
        alike);
    findings_write(
        &h, md, "",
        "What Kodiak's nodes, disks and network did besides what the text says; how the waiting "
        "time of equation (1) entered the published bound; the values behind Figures 5 to 9 and "
        "11, which are drawings in the paper and not in the text that we have; how CloudKon and "
        "Sparrow would do here.");
    strbuf_add(
        md,
        "| in the paper | here |\n| --- | --- |\n"
        "| Figures 1 to 4, Algorithm 1, Tables 1 and 2 | drawings, the algorithm, words and "
        "notations: what they describe is `src/sched` and `weft bound` (docs/scheduler.md), and "
        "Algorithm 1's numbers are its tests |\n"
        "| Figures 5 to 8 | below |\n| Table 3 | the setting of Figures 9, 11, 12 and Table 4 |\n"
        "| Figures 9 and 11, Table 4 | below |\n"
        "| Figure 10 | a drawing; its workflow is run below |\n| Figure 12 | below |\n"
        "| Figure 13 | below; MATRIX's side measured, the others' as published |\n"
        "| section 4.4 | below; it has no numbers. The last table of the text that we have is "
        "Table 4, and it "
        "does not compare with YARN |\n");
}

void matrix_comment_6b(struct matrix_study *s)
{
    const struct matrix_findings *f = &s->findings;
    uint32_t worst = 0;
    double least = INFINITY, most = -INFINITY;
    for (uint32_t i = 0; i < s->nscales; i++) {
        double ahead = f->policies[2][i] - f->policies[1][i];
        worst += f->policies[0][i] <= fmin(f->policies[1][i], f->policies[2][i]);
        least = fmin(least, ahead);
        most = fmax(most, ahead);
    }
    strbuf_printf(&s->md,
                  "\nMLB is worst at %u of %u scales, for the paper's reason: every task fetches "
                  "its files. FLDS is ahead of MDL by %.1f to %.1f points: it gives tasks away at "
                  "the end of the run, when MDL's queues empty at different times. Here files and "
                  "tasks are spread evenly and all tasks last equally long, which leaves little to "
                  "give away; the paper's drawing has them further apart.\n",
                  worst, s->nscales, least, most);
}
