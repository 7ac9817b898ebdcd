/* Two pictures of a run's page: the graph coloured by how long tasks took, and predicted against
 * real time, a point a task. */
#include "report/families.h"
#include "report/graph_svg.h"
#include "report/human.h"
#include "report/page_parts.h"
#include "report/svg.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* ---- the graph, coloured by time ---- */

enum { SHADES = 6, SHADE_REUSED = 6, SHADE_FAILED = 7, NOT_RUN = KINDS_SHOWN };

/* From strong to pale, all light enough for dark text and apart from the red of failures. */
static const char *const palette[KINDS_SHOWN + 1] = {"#CB8B2A", "#DDA84E", "#EBC57B",
                                                     "#F4DDA8", "#FAEDD0", "#FFF9EC",
                                                     "#BFD9EE", "#F0525A", "#F4F4F4"};

/* Half of the longest and more is the strongest, then each shade reaches down to half. */
static uint8_t shade_of(double seconds, double longest)
{
    uint8_t shade = 0;
    for (double from = longest / 2; shade + 1 < SHADES && seconds < from; from /= 2)
        shade++;
    return shade;
}

/* Shades are labelled with the time they begin at; each is half of the one before. */
static void name_shades(struct kinds *k, double longest)
{
    char a[HUMAN_SIZE];
    double from = longest / 2;
    for (int i = 0; i < SHADES; i++, from /= 2) {
        struct strbuf text = {0};
        strbuf_printf(&text, i + 1 < SHADES ? "from %s" : "less than %s",
                      human_seconds(a, i + 1 < SHADES ? from : 2 * from));
        k->name[i] = strbuf_steal(&text);
    }
    k->name[SHADE_REUSED] = mem_copy_string("reused");
    k->name[SHADE_FAILED] = mem_copy_string("failed");
    k->name[NOT_RUN] = mem_copy_string("did not run");
    k->shown = KINDS_SHOWN;
}

/* Shades that no task has would only fill the legend. */
static void pack_shades(struct kinds *k, uint32_t ntasks, const char *packed[KINDS_SHOWN + 1])
{
    uint8_t to[KINDS_SHOWN + 1];
    uint32_t n = 0;
    for (uint32_t i = 0; i < KINDS_SHOWN; i++) {
        to[i] = (uint8_t)n;
        if (!k->count[i]) {
            free(k->name[i]);
            k->name[i] = NULL;
            continue;
        }
        char *name = k->name[i];
        k->name[i] = NULL;
        k->name[n] = name;
        k->count[n] = k->count[i];
        packed[n++] = palette[i];
    }
    for (uint32_t i = n; i < KINDS_SHOWN; i++)
        k->count[i] = 0;
    to[NOT_RUN] = NOT_RUN;
    packed[NOT_RUN] = palette[NOT_RUN];
    for (uint32_t t = 0; t < ntasks; t++)
        k->colour[t] = to[k->colour[t]];
    k->shown = n ? n : 1;
    if (!k->name[0])
        k->name[0] = mem_copy_string("ran");
    k->palette = packed;
}

/* What stands in the file as one thing is one box; a workflow without families has its graph alone. */
static void page_families(struct page *p, const struct workflow *w)
{
    bool any = false;
    for (uint32_t t = 0; t < w->ntasks && !any; t++)
        any = families_is_member(w, t);
    if (!any)
        return;
    page_section(p, "families", "Families",
                 "Tasks that the workflow's file describes once are one box. Beside an arrow: how "
                 "many edges it stands for.");
    page_figure(p, "graph", "Families");
    families_svg(w, FAMILIES_BY_KIND, true, p->out);
    page_figure_end(p);
    page_section_end(p);
}

void page_graph(struct page *p)
{
    const struct workflow *w = p->r->workflow;
    if (!w || !w->ntasks)
        return;
    double *seconds = mem_new(double, w->ntasks), longest = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const struct trace_event *e = p->f.last[t] == NONE ? NULL : &p->r->events.at[p->f.last[t]];
        seconds[t] = e ? e->finish - e->start : NAN;
        longest = fmax(longest, e ? seconds[t] : 0);
    }
    /* outcomes take the place of kinds: the same legend, other names and colours */
    struct kinds k = {.colour = mem_new_zero(uint8_t, w->ntasks + 1)};
    name_shades(&k, longest);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint8_t *c = &k.colour[t];
        int outcome = p->f.last[t] == NONE ? -1 : p->r->events.at[p->f.last[t]].outcome;
        if (outcome == TRACE_DONE)
            *c = shade_of(seconds[t], longest);
        else if (outcome == -1 || !trace_is_failure(outcome))
            *c = p->f.reused[t] ? SHADE_REUSED : NOT_RUN;
        else
            *c = SHADE_FAILED;
        k.count[*c]++;
    }
    const char *packed[KINDS_SHOWN + 1] = {0};
    pack_shades(&k, w->ntasks, packed);
    uint8_t failed = 0;
    for (uint32_t i = 0; i < k.shown; i++)
        failed = packed[i] == palette[SHADE_FAILED] ? (uint8_t)(i + 1) : failed;
    struct graph_svg_options options = {.title = "The graph, coloured by time",
                                        .bare = true,
                                        .shades = &k,
                                        .path = p->f.npath ? p->f.path : NULL,
                                        .npath = p->f.npath,
                                        .seconds = seconds,
                                        .wins = failed,
                                        .no_critical = !p->f.npath};
    page_families(p, w);
    static const char *const notes[] = {
        [GRAPH_SVG_WHOLE] = "The stronger the colour, the longer a task took. Framed in red: the "
                            "critical path that really happened.",
        [GRAPH_SVG_FOLDED] =
            "Many tasks of a kind side by side are one box, in the colour of the one that took "
            "longest; red, if one failed. Framed in red: the critical path that really happened.",
        [GRAPH_SVG_PROFILE] = "Too large to draw every task: a bar is a level of the graph, as "
                              "long as it has tasks.",
    };
    enum graph_svg_manner manner = graph_svg_manner(w);
    page_section(p, "graph", "The graph, coloured by time", notes[manner]);
    page_figure(p, manner == GRAPH_SVG_PROFILE ? "time" : "graph", "The graph, coloured by time");
    report_graph_svg(w, p->out, &options);
    page_figure_end(p);
    page_section_end(p);
    kinds_free(&k);
    free(seconds);
}

/* ---- predicted against real, a point a task ---- */

/* Beyond 1,500 points a scatter is a blot; every n-th is drawn then. */
enum { POINTS = 1500 };

/* Both axes are the same logarithmic one, so that the diagonal is "as predicted". */
struct square {
    double low, high; /* exponents of 10 */
    double left, top, side;
};

static double square_at(const struct square *q, double value)
{
    return (log10(value) - q->low) / (q->high - q->low) * q->side;
}

static void draw_square(const struct square *q, struct strbuf *out)
{
    for (double exponent = q->low; exponent <= q->high + 0.1; exponent++) {
        char text[HUMAN_SIZE];
        double at = square_at(q, pow(10, exponent)), x = q->left + at, y = q->top + q->side - at;
        svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".12\" d=\"M%f %fH%fM%f %fV%f\"/>\n",
                   q->left, y, q->left + q->side, x, q->top, q->top + q->side);
        human_seconds(text, pow(10, exponent));
        svg_text(out, q->left - 8, y + 4, "t e", text);
        svg_text(out, x, q->top + q->side + 18, "t m", text);
    }
    svg_printf(out, "<path stroke=\"#778\" stroke-dasharray=\"5 4\" d=\"M%f %fL%f %f\"/>\n",
               q->left, q->top + q->side, q->left + q->side, q->top);
    svg_text(out, q->left + q->side / 2, q->top + q->side + 38, "t m", "predicted");
    svg_printf(out, "<text class=\"t m\" transform=\"translate(16 %f) rotate(-90)\">real</text>\n",
               q->top + q->side / 2);
}

/* Nothing with fewer than two points: the tables say it already. */
void page_scatter(struct page *p)
{
    const struct run_figures *f = &p->f;
    double low = INFINITY, high = 0;
    uint32_t n = 0;
    for (uint32_t t = 0; t < f->ntasks; t++) {
        if (f->last[t] == NONE || p->r->events.at[f->last[t]].outcome != TRACE_DONE)
            continue;
        const struct trace_event *e = &p->r->events.at[f->last[t]];
        double predicted = figures_predicted(f, t), real = e->finish - e->start;
        if (!(predicted > 0 && real > 0 && isfinite(predicted)))
            continue;
        low = fmin(low, fmin(predicted, real));
        high = fmax(high, fmax(predicted, real));
        n++;
    }
    if (n < 2)
        return;
    struct square q = {.low = floor(log10(low)), .high = ceil(log10(high)), .left = 70, .top = 12};
    if (q.high <= q.low)
        q.high = q.low + 1;
    q.side = 340;
    strbuf_add(p->out, "<div><h3>Each task</h3>\n");
    page_figure(p, "chart", "Predicted and real time of each task");
    double legend = f->kind.n > 1 && p->kinds.colour ? kinds_legend_height(&p->kinds, 540) : 0;
    svg_begin(p->out, 580, q.top + q.side + 52 + legend, "Predicted and real time of each task");
    draw_square(&q, p->out);
    /* every n-th task: tasks of a kind are neighbours, so all kinds stay represented */
    uint32_t stride = n / POINTS + 1, seen = 0;
    for (uint32_t t = 0; t < f->ntasks; t++) {
        if (f->last[t] == NONE || p->r->events.at[f->last[t]].outcome != TRACE_DONE)
            continue;
        const struct trace_event *e = &p->r->events.at[f->last[t]];
        double predicted = figures_predicted(f, t), real = e->finish - e->start;
        if (!(predicted > 0 && real > 0 && isfinite(predicted)) || seen++ % stride)
            continue;
        svg_printf(p->out,
                   "<circle cx=\"%f\" cy=\"%f\" r=\"3.4\" fill=\"%s\" fill-opacity=\".8\" "
                   "stroke=\"#334\" stroke-opacity=\".6\" stroke-width=\".6\"/>",
                   q.left + square_at(&q, predicted), q.top + q.side - square_at(&q, real),
                   svg_fill(p->kinds.colour ? p->kinds.colour[t] : 0));
    }
    strbuf_add_char(p->out, '\n');
    if (legend > 0)
        kinds_legend(&p->kinds, p->out, 20, q.top + q.side + 44, 540);
    svg_end(p->out);
    page_figure_end(p);
    strbuf_add(p->out, "<p class=\"note\">On the dashed line: as predicted. Above it: slower.</p>"
                       "</div>\n");
}
