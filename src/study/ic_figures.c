/* The tables of the Sweep paper, and what is proved about its dags: the part of `weft reproduce ic` that
 * needs no simulation. */
#include "study/ic_figures.h"
#include "model/builder.h"
#include "plan/planner.h"

#include <stdio.h>
#include <string.h>

/* ---- the paper's figures ---- */

/* Arcs u>v; the drawings are lost, these have the profiles and every property that the text states
 * of them. */
static const struct {
    const char *name, *what, *says, *arcs; /* says: what the paper says of an IC-optimal order */
} figures[] = {
    {"fig1-matmul", "Figure 1: recursive matrix product", "IC-optimal",
     "0>8 0>11 1>12 1>15 2>9 2>10 3>13 3>14 4>8 4>9 5>10 5>11 6>12 6>13 7>14 7>15 8>16 12>16 9>17 "
     "13>17 "
     "10>18 14>18 11>19 15>19"},
    {"fig3-left", "Figure 3, top left (7 blocks)", "IC-optimal, by interleaving",
     "0>2 0>3 0>4 0>5 0>6 1>6 1>7 8>10 8>11 8>12 8>13 9>13 9>14 2>15 3>15 4>16 5>16 6>17 7>17 "
     "10>17 15>17 "
     "11>18 12>18 16>18 13>19 14>19 17>19 18>19"},
    {"fig3-right", "Figure 3, top right", "IC-optimal, by interleaving",
     "15>0 15>1 15>8 15>9 0>2 0>3 0>4 0>5 0>6 1>6 1>7 8>10 8>11 8>12 8>13 9>13 9>14"},
    {"fig4", "Figure 4: B1 + B2", "IC-optimal, by interleaving",
     "0>2 0>3 0>4 0>5 0>6 1>6 1>7 8>10 8>11 8>12 8>13 9>13 9>14"},
    {"fig5-G3", "Figure 5: G3", "none", "0>3 1>4 1>5 2>4 2>5 3>6 4>6 5>6"},
    {"fig5-G4", "Figure 5: G4", "none",
     "0>3 1>3 1>4 2>4 5>9 6>9 7>9 5>10 6>10 8>10 5>11 7>11 8>11 3>12 4>12 9>12 10>12 11>12"},
    {"fig8", "Figures 3 (bottom) and 8: two halves of the fMRI dag", "IC-optimal, by interleaving",
     "0>6 1>7 2>3 2>4 2>5 2>6 2>7 8>14 9>15 10>11 10>12 10>13 10>14 10>15"},
};

/* Two passes: names of tasks must exist before arcs can name them. */
static struct workflow *ic_paper_figure(size_t i, struct error *err)
{
    struct builder *b = builder_new(figures[i].name, "figure");
    uint32_t n = 0;
    char name[16];
    builder_name(b, figures[i].name, strlen(figures[i].name));
    for (int pass = 0; pass < 2; pass++) {
        const char *at = figures[i].arcs;
        unsigned from, to;
        int used;
        while (sscanf(at, "%u>%u%n", &from, &to, &used) == 2) {
            at += used;
            if (pass)
                builder_edge(b, from, to, 0);
            n = from >= n ? from + 1 : n;
            n = to >= n ? to + 1 : n;
        }
        for (uint32_t t = 0; !pass && t < n; t++)
            builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", t), 0);
    }
    return builder_finish(b, err);
}

/* ---- plans ---- */

/* An order needs no platform; one node will do. `method` NULL: the planner's own. */
struct plan *ic_plan_with(const char *planner, const struct workflow *w, bool explain,
                          const char *method, uint64_t seed, struct error *err)
{
    struct platform *p = reproduction_equal_nodes("1", NULL, NULL, err);
    struct option_value value = {"method", method};
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .options = &value,
                                   .noptions = method != NULL,
                                   .seed = seed,
                                   .explain = explain};
    struct plan *plan = p ? planner_run(planner_find(planner), &request, err) : NULL;
    platform_free(p);
    return plan;
}

/* ---- tables ---- */

/* A cell of a Markdown table: bars of `|>` would end it. */
void ic_add_cell(struct strbuf *md, const char *text)
{
    for (; *text; text++)
        strbuf_printf(md, *text == '|' ? "\\%c" : "%c", *text);
}

/* Notes, order and eligible counts of one figure. */
static void add_details(struct strbuf *out, size_t i, const struct workflow *w,
                        const struct plan *plan)
{
    strbuf_printf(out, "### %s\n\n```\n", figures[i].what);
    for (size_t k = 0; k < plan->notes.n; k++)
        strbuf_printf(out, "%s\n", plan->notes.at[k]);
    strbuf_add(out, "order:");
    for (size_t k = 0; k < plan->order.n; k++)
        strbuf_printf(out, " %s", workflow_task_name(w, plan->order.at[k]));
    strbuf_add(out, "\neligible:");
    for (size_t k = 0; k < plan->eligible.n; k++)
        strbuf_printf(out, " %u", plan->eligible.at[k]);
    strbuf_add(out, "\n```\n\n");
}

/* The verdict of the planner and of the paper's procedure alone, beside what the paper says; details
 * behind. */
static bool write_figure(const struct reproduction_options *o, size_t i, struct strbuf *md,
                         struct strbuf *details, struct ic_figures *found, struct error *err)
{
    struct workflow *w = ic_paper_figure(i, err);
    struct plan *plan = w ? ic_plan_with("ic", w, true, NULL, o->seed, err) : NULL;
    struct plan *paper = plan ? ic_plan_with("ic", w, false, "paper", o->seed, err) : NULL;
    bool none = strcmp(figures[i].says, "none") == 0;
    if (paper) {
        found->count++;
        found->agree += strcmp(plan->verdict, none ? "IC_NONE" : "IC_PROVED") == 0;
        strbuf_printf(md, "| %s | %u | %s | %s | %.0f | %s | ", figures[i].what, w->ntasks,
                      plan->verdict, paper->verdict, plan_objective(plan, "area"), figures[i].says);
        ic_add_cell(md, plan->proof);
        strbuf_add(md, " |\n");
        add_details(details, i, w, plan);
    }
    bool good = paper != NULL;
    plan_free(plan);
    plan_free(paper);
    workflow_free(w);
    return good;
}

/* Table 1 is no result but the form of all tables: a sum in every cell. */
static const char table_1[] =
    "## Table 1\n\nTable 1 defines what Algorithm 2-IC-Sweep fills in for two dags with the "
    "profiles E1 and "
    "E2; every table below is of this form. Its instance for B1 and B2 of Figure 4, whose profiles "
    "are "
    "0, 4, 6 and 0, 3, 5, is Table 2, left.\n\n"
    "| E | 0 | 1 | ... | n2 |\n|---|---|---|---|---|\n"
    "| 0 | E1(0) + E2(0) | E1(0) + E2(1) | ... | E1(0) + E2(n2) |\n"
    "| 1 | E1(1) + E2(0) | E1(1) + E2(1) | ... | E1(1) + E2(n2) |\n"
    "| ... | | | | |\n"
    "| n1 | E1(n1) + E2(0) | E1(n1) + E2(1) | ... | E1(n1) + E2(n2) |\n\n";

bool ic_write_figures(const struct reproduction_options *o, struct strbuf *md,
                      struct ic_figures *found, struct error *err)
{
    struct strbuf details = {0};
    bool ok = true;
    strbuf_add(md, "## The paper's dags\n\n"
                   "| dag | tasks | verdict | the paper's procedure alone | AREA | the paper: an "
                   "IC-optimal order | how |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof figures / sizeof *figures && ok; i++)
        ok = write_figure(o, i, md, &details, found, err);
    strbuf_add(
        md, "\nThe other four dags of Figure 1 (wavefront, FFT, discrete Laplace transform, divide "
            "and conquer) are larger, and stand in the table of AREAs below.\n\n");
    strbuf_add(md, table_1);
    strbuf_add(md,
               "## Blocks, linearisations and tables\n\n"
               "Table 2 of the paper is under Figure 4 (left) and Figure 5 (centre, right); "
               "Table 3 under Figure 3, top left, and Figure 8. Figures 6 and 7 are the blocks and "
               "their linearisation under Figure 3. The largest entries of a diagonal are in "
               "brackets.\n\n");
    strbuf_add(md, strbuf_text(&details));
    strbuf_free(&details);
    return ok;
}
