/* The graph of a workflow as SVG: every task in layers (layout.c), or, when there are too many, a
 * profile of how many tasks each level has. Linear in tasks and edges after the layout. */
#include "report/graph_svg.h"
#include "report/graph_fold.h"
#include "report/human.h"
#include "report/kinds.h"
#include "report/layout.h"
#include "report/svg.h"
#include "base/mem.h"
#include "model/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: around everything, and for title and subtitle. */
enum { MARGIN = 24, HEAD = 56, NAMED_WIDTH = 2400 };

/* How large tasks are drawn: names inside boxes while a layer fits a page or two, then small
 * squares, then slivers. */
struct look {
    double font, height, gap, bend_gap, least_rise;
    bool labels;
};

struct graph_drawing {
    const struct workflow *w;
    struct strbuf *out;
    struct kinds kinds;
    const double *seconds; /* that each task took; NULL: this is not a run */
    struct layout layout;
    struct look look;
    const struct graph_svg_options *options; /* may be NULL */
    double *width;                           /* per task */
    double *layer_y;                         /* middle of each layer */
    uint8_t *critical;                       /* per task: on the critical path */
    double left;                             /* where x = 0 of the layout is */
};

/* The name, else the file: pictures are often seen without their surroundings. The caller frees. */
static char *title_of(const struct workflow *w, const struct graph_svg_options *options)
{
    if (options && options->title)
        return mem_copy_string(options->title);
    const char *name = workflow_text(w, w->name);
    if (!*name)
        name = workflow_text(w, w->file);
    return mem_copy_string(*name ? name : "workflow");
}

static char *subtitle_of(const struct workflow *w, uint32_t depth, double critical)
{
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    strbuf_printf(&text, "%s %s", human_count(number, w->ntasks),
                  w->ntasks == 1 ? "task" : "tasks");
    strbuf_printf(&text, ", %s %s", human_count(number, w->npairs),
                  w->npairs == 1 ? "edge" : "edges");
    strbuf_printf(&text, ", %s %s", human_count(number, depth), depth == 1 ? "level" : "levels");
    if (critical > 0)
        strbuf_printf(&text, ", critical path %s", human_seconds(number, critical));
    return strbuf_steal(&text);
}

/* On a page the section has its own heading (`bare`). */
static void draw_heading(struct strbuf *out, const struct graph_svg_options *options,
                         const char *title, const char *subtitle, double room)
{
    if (options && options->bare)
        return;
    svg_text_within(out, MARGIN, 28, "h", title, 17, room);
    svg_text(out, MARGIN, 46, "s", subtitle);
}

/* ---- every task ---- */

static const char *graph_label(const struct graph_drawing *d, uint32_t task)
{
    return d->options && d->options->labels ? d->options->labels[task]
                                            : workflow_task_name(d->w, task);
}

/* Tasks that the box stands for. */
static uint32_t graph_folded(const struct graph_drawing *d, uint32_t task)
{
    return d->options && d->options->folded ? d->options->folded[task] : 1;
}

/* A box is at least as wide as high, and never wider than `most`: names beyond that are cut. */
static double label_width(const char *name, double font, double most)
{
    double width = svg_text_width(name, font) + 14;
    return fmin(fmax(width, 2.4 * font), most);
}

/* The widest layer, in pixels, if tasks are as wide as this. */
static double widest_layer(const struct graph_drawing *d, double font, double most, double gap)
{
    const struct layout *l = &d->layout;
    double widest_layer = 0;
    for (uint32_t layer = 0; layer < l->nlayers; layer++) {
        double sum = 0;
        for (uint32_t i = l->layer_off[layer]; i < l->layer_off[layer + 1]; i++)
            if (l->at[i] < l->workflow->ntasks)
                sum += label_width(graph_label(d, l->at[i]), font, most) + gap;
        widest_layer = fmax(widest_layer, sum);
    }
    return widest_layer;
}

/* Full names up to 2400 pixels a layer, short ones up to 4200 (a screen and a half, about), then
 * squares that make the widest layer 3200 pixels wide. */
static void choose_look(struct graph_drawing *d)
{
    const struct layout *l = &d->layout;
    uint32_t most = 0;
    for (uint32_t layer = 0; layer < l->nlayers; layer++) {
        uint32_t count = l->layer_off[layer + 1] - l->layer_off[layer];
        most = count > most ? count : most;
    }
    double square = fmin(12, fmax(2, 3200.0 / (most ? most : 1) * 0.7)), width = square;
    d->look = (struct look){
        0, fmax(square, 6), fmax(square * 0.45, 0.8), fmax(square * 0.3, 0.5), 20, false};
    double most_wide = 0;
    double widest_name = d->options && d->options->labels ? 340 : 170;
    if (widest_layer(d, 11, widest_name, 14) <= NAMED_WIDTH) {
        d->look = (struct look){11, 26, 14, 9, 30, true};
        most_wide = widest_name;
    } else if (widest_layer(d, 9, 70, 8) <= 4200) {
        d->look = (struct look){9, 19, 8, 6, 26, true};
        most_wide = 70;
    }
    if (l->nlayers > 150)
        d->look.least_rise = 12;
    for (uint32_t t = 0; t < d->w->ntasks; t++)
        d->width[t] =
            d->look.labels ? label_width(graph_label(d, t), d->look.font, most_wide) : width;
}

/* Layers further apart where edges run far sideways, so that they do not become flat. */
static double place_layers(struct graph_drawing *d, double top)
{
    const struct layout *l = &d->layout;
    double *reach = mem_new_zero(double, l->nlayers + 1);
    for (size_t i = 0; i < l->segments.n; i++) {
        struct layout_segment s = l->segments.at[i];
        double *r = &reach[l->layer[s.to]];
        *r = fmax(*r, fabs(l->x[s.from] - l->x[s.to]));
    }
    double y = top + d->look.height / 2;
    for (uint32_t layer = 0; layer < l->nlayers; layer++) {
        /* tasks without edges: rows close together, since nothing runs between them */
        if (layer > l->alone)
            y += d->look.height + fmin(d->look.gap * 1.3, d->look.least_rise);
        else if (layer)
            y += d->look.height + fmin(fmax(d->look.least_rise, reach[layer] * 0.09), 170);
        d->layer_y[layer] = y;
    }
    free(reach);
    return y + d->look.height / 2;
}

/* Middle of a task or bend in the picture. */
static double node_x(const struct graph_drawing *d, uint32_t v)
{
    return d->left + d->layout.x[v];
}

/* How far sideways a long edge moves per pixel down where it passes a bend: along its way, but not
 * so flat that it would touch the boxes beside it, and upright where the way turns back. */
static double slope_at(const struct graph_drawing *d, double before, double x, double after,
                       double drop)
{
    double in = x - before, on = after - x, limit = 1.6 * d->look.bend_gap / d->look.height;
    if (in * on <= 0)
        return 0;
    double slope = (in + on) / drop;
    return fmin(fmax(slope, -limit), limit);
}

/* The way of one edge as path data: out of the task's bottom, through its bends, into the top of
 * `to`. */
static void add_way(const struct graph_drawing *d, struct strbuf *out, uint32_t from, uint32_t to)
{
    const struct layout *l = &d->layout;
    double half = d->look.height / 2;
    uint32_t span = l->layer[to] - l->layer[from];
    /* edges longer than any with bends go straight */
    uint32_t bends = span <= l->longest ? span - 1 : 0;
    double x = node_x(d, from), y = d->layer_y[l->layer[from]] + half, slope = 0;
    double end_x = node_x(d, to), end_y = d->layer_y[l->layer[to]] - half;
    end_y -= d->look.labels ? 4 : 1; /* room for the arrow head */
    svg_printf(out, "M%f %f", x, y);
    for (uint32_t i = 0; i <= bends; i++) {
        uint32_t v = l->chain[from] + i;
        double next_x = i < bends ? node_x(d, v) : end_x;
        double next_y = i < bends ? d->layer_y[l->layer[v]] : end_y, next_slope = 0;
        if (i < bends) {
            double after_x = i + 1 < bends ? node_x(d, v + 1) : end_x;
            double after_y = i + 1 < bends ? d->layer_y[l->layer[v + 1]] : end_y;
            next_slope = slope_at(d, x, next_x, after_x, after_y - y);
        }
        double drop = (next_y - y) * 0.45;
        if (fabs(next_x - x) < 0.3 && fabs(slope) + fabs(next_slope) < 0.01)
            svg_printf(out, "L%f %f", next_x, next_y);
        else
            svg_printf(out, "C%f %f %f %f %f %f", x + slope * drop, y + drop,
                       next_x - next_slope * drop, next_y - drop, next_x, next_y);
        x = next_x;
        y = next_y;
        slope = next_slope;
    }
}

/* Drawn later and thicker, so not with the others. */
static bool is_critical_edge(const struct graph_drawing *d, const uint32_t *next, uint32_t from,
                             uint32_t to)
{
    return d->critical[from] && next[from] == to;
}

/* Edges of one task are one path: a tenth of the elements. Fainter and thinner the more there are.
 * Several objects between two tasks are one line; critical edges come last, on top. */
static void draw_edges(struct graph_drawing *d, const uint32_t *next_critical)
{
    const struct workflow *w = d->w;
    double opacity = w->npairs <= 300 ? 0.75 : w->npairs <= 2000 ? 0.5 : 0.3;
    double stroke = !d->look.labels ? 0.6 : w->npairs <= 300 ? 1.1 : 0.8;
    uint32_t *joined = mem_new_zero(uint32_t, w->ntasks + 1);
    svg_printf(d->out,
               "<g fill=\"none\" stroke=\"#667\" stroke-opacity=\"%f\" stroke-width=\"%f\">\n",
               opacity, stroke);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool open = false;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e];
            if (joined[to] == t + 1 || is_critical_edge(d, next_critical, t, to))
                continue;
            joined[to] = t + 1;
            if (!open)
                strbuf_add(d->out, "<path d=\"");
            open = true;
            add_way(d, d->out, t, to);
        }
        if (open)
            strbuf_add(d->out, "\"/>\n");
    }
    free(joined);
    strbuf_add(d->out, "</g>\n");
    struct strbuf path = {0};
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (d->critical[t] && next_critical[t] != NONE)
            add_way(d, &path, t, next_critical[t]);
    if (path.n)
        svg_printf(d->out,
                   "<path fill=\"none\" stroke=\"#B5420F\" stroke-width=\"%f\" d=\"%s\"/>\n",
                   d->look.labels ? 2.2 : 1.4, path.at);
    strbuf_free(&path);
}

/* Halfway, on a ground of its own: lines may pass below it. */
static void draw_counts(const struct graph_drawing *d)
{
    const struct workflow *w = d->w;
    char text[HUMAN_SIZE];
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e];
            /* between two tasks there is one edge, and nothing to count */
            if (w->succ_object[e] == NONE ||
                (graph_folded(d, t) == 1 && graph_folded(d, to) == 1 && d->options->folded))
                continue;
            human_count(text, (uint64_t)w->size[w->succ_object[e]]);
            double x = (node_x(d, t) + node_x(d, to)) / 2, half = svg_text_width(text, 11) / 2;
            double y = (d->layer_y[d->layout.layer[t]] + d->layer_y[d->layout.layer[to]]) / 2;
            svg_printf(d->out,
                       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"13\" fill=\"#fff\" "
                       "fill-opacity=\".85\"/>\n",
                       x - half - 2, y - 7, 2 * half + 4);
            svg_text(d->out, x, y + 4, "t m", text);
        }
}

/* Two sheets that look out from behind the box: it is many. */
static void graph_draw_stack(struct graph_drawing *d, uint32_t t, double x, double y)
{
    double half = d->look.height / 2, step = d->look.labels ? 3 : 1.5;
    for (int sheet = 2; sheet > 0; sheet--)
        svg_printf(d->out,
                   "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" rx=\"4\" fill=\"%s\" "
                   "stroke=\"#445\" stroke-opacity=\".5\"/>\n",
                   x - d->width[t] / 2 + sheet * step, y - half + sheet * step, d->width[t],
                   d->look.height, kinds_fill(&d->kinds, d->kinds.colour[t]));
}

static void graph_draw_task(struct graph_drawing *d, uint32_t t)
{
    const struct workflow *w = d->w;
    double x = node_x(d, t), y = d->layer_y[d->layout.layer[t]], half = d->look.height / 2;
    char work[HUMAN_SIZE];
    const char *name = graph_label(d, t), *kind = workflow_text(w, w->kind[t]);
    if (d->options && d->options->labels)
        kind = ""; /* the label says it */
    /* an arrow head for every task with predecessors: one serves all its edges */
    bool critical = d->critical[t];
    if (d->look.labels && w->pred_off[t] != w->pred_off[t + 1])
        svg_printf(d->out, "<path fill=\"%s\" d=\"M%f %fl-3.2 -5.5h6.4z\"/>\n",
                   critical ? "#B5420F" : "#667", x, y - half);
    if (graph_folded(d, t) > 1)
        graph_draw_stack(d, t, x, y);
    svg_printf(d->out, "<g><title>%s", name);
    if (*kind && strcmp(kind, name) != 0)
        svg_printf(d->out, " (%s)", kind);
    if (!d->seconds)
        svg_printf(d->out, ": work %s", human_seconds(work, w->work[t]));
    else if (!isnan(d->seconds[t]))
        svg_printf(d->out, ": %s", human_seconds(work, d->seconds[t]));
    else
        strbuf_add(d->out, ": did not run");
    if (w->memory[t] > 0)
        svg_printf(d->out, ", memory %s", human_bytes(work, w->memory[t]));
    svg_printf(d->out,
               "%s</title><rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" rx=\"%f\" fill=\"%s\"",
               critical ? ", on the critical path" : "", x - d->width[t] / 2, y - half, d->width[t],
               d->look.height, d->look.labels ? 4.0 : fmin(2, d->width[t] / 4),
               kinds_fill(&d->kinds, d->kinds.colour[t]));
    if (critical)
        svg_printf(d->out, " stroke=\"#B5420F\" stroke-width=\"%f\"/>", d->look.labels ? 2.0 : 1.2);
    else if (d->look.labels)
        strbuf_add(d->out, " stroke=\"#445\" stroke-opacity=\".5\"/>");
    else
        strbuf_add(d->out, "/>");
    if (d->look.labels)
        svg_text_within(d->out, x, y + d->look.font * 0.36, d->look.font < 11 ? "n m" : "l m", name,
                        d->look.font, d->width[t] - 6);
    strbuf_add(d->out, "</g>\n");
}

/* Colours: those of the options, or the kinds'. kinds_free() only what is not the options'. */
static void take_kinds(struct kinds *k, const struct workflow *w,
                       const struct graph_svg_options *options)
{
    if (options && options->shades)
        *k = *options->shades;
    else
        kinds_of(k, w);
}

/* The path to point at, and which task follows which where an edge joins them. Its length in
 * seconds. */
static double mark_critical_path(struct graph_drawing *d, const struct graph_svg_options *options,
                                 uint32_t *next)
{
    const struct workflow *w = d->w;
    uint32_t *own = mem_new(uint32_t, w->ntasks + 1), length = 0;
    double seconds = graph_critical_path(w, NULL, own, &length);
    const uint32_t *path = own;
    if (options && options->path) {
        path = options->path;
        length = options->npath;
    }
    /* In a chain everything is critical: nothing to point at. */
    bool emphasise = !(options && options->no_critical) && length > 1 && length < w->ntasks &&
                     (seconds > 0 || path != own);
    for (uint32_t i = 0; emphasise && i < length; i++) {
        d->critical[path[i]] = 1;
        for (uint32_t e = w->succ_off[path[i]]; i + 1 < length && e < w->succ_off[path[i] + 1]; e++)
            if (w->succ_task[e] == path[i + 1])
                next[path[i]] = path[i + 1];
    }
    free(own);
    return seconds;
}

static void draw_graph(const struct workflow *w, struct strbuf *out,
                       const struct graph_svg_options *options)
{
    struct graph_drawing d = {
        .w = w, .out = out, .options = options, .seconds = options ? options->seconds : NULL};
    /* layers and crossings first; their sizes depend on how many there are; places come last */
    take_kinds(&d.kinds, w, options);
    layout_new(&d.layout, w);
    d.width = mem_new_zero(double, w->ntasks + 1);
    d.layer_y = mem_new_zero(double, d.layout.nlayers + 1);
    d.critical = mem_new_zero(uint8_t, w->ntasks + 1);
    choose_look(&d);
    layout_place(&d.layout, d.width, d.look.gap, d.look.bend_gap);

    uint32_t *next = mem_new(uint32_t, w->ntasks + 1);
    memset(next, 0xff, (w->ntasks + 1) * sizeof *next);
    double critical = mark_critical_path(&d, options, next);

    /* the picture is at least as wide as its heading, up to 700 pixels */
    char *title = title_of(w, options), *subtitle = options && options->subtitle
                                                        ? mem_copy_string(options->subtitle)
                                                        : subtitle_of(w, d.layout.depth, critical);
    double heading = fmax(svg_text_width(title, 16) * 1.05, svg_text_width(subtitle, 12));
    double content = fmax(d.layout.width, fmin(fmax(heading, 320), 700));
    bool counts = options && options->counts;
    double legend = counts ? 0 : kinds_legend_height(&d.kinds, content);
    double width = content + 2 * MARGIN;
    d.left = MARGIN + (content - d.layout.width) / 2;
    double head = options && options->bare ? 4 : HEAD;
    double bottom = place_layers(&d, head + legend + 10);
    svg_begin(out, width, bottom + MARGIN, title);
    strbuf_add(out, "<style>.n{font-size:9px}</style>\n");
    draw_heading(out, options, title, subtitle, content);
    if (!counts)
        kinds_legend(&d.kinds, out, MARGIN, head - 2, content);
    draw_edges(&d, next);
    if (counts || (options && options->folded))
        draw_counts(&d);
    for (uint32_t t = 0; t < w->ntasks; t++)
        graph_draw_task(&d, t);
    svg_end(out);

    free(title);
    free(subtitle);
    free(next);
    free(d.width);
    free(d.layer_y);
    free(d.critical);
    layout_free(&d.layout);
    if (!(options && options->shades))
        kinds_free(&d.kinds);
}

/* ---- the profile of a large graph ---- */

enum { PROFILE_ROWS = 300, PROFILE_WIDTH = 900 };

/* Tasks of every level by colour; neighbouring levels share a row when there are too many, and a
 * row then shows their mean. */
struct graph_profile {
    uint32_t levels, rows, colours;
    double *count;    /* rows x colours */
    uint32_t *in_row; /* levels in each row */
    double most;      /* tasks in the longest row, at least 1 */
};

static void profile_count(struct graph_profile *f, const struct workflow *w,
                          const struct kinds *kinds)
{
    uint32_t *depth = mem_new_zero(uint32_t, w->ntasks + 1);
    f->levels = graph_depths(w, depth);
    f->rows = f->levels < PROFILE_ROWS ? f->levels : PROFILE_ROWS;
    f->colours = KINDS_SHOWN + 1;
    f->count = mem_new_zero(double, (size_t)(f->rows + 1) * f->colours);
    f->in_row = mem_new_zero(uint32_t, f->rows + 1);
    for (uint32_t level = 0; level < f->levels; level++)
        f->in_row[(uint64_t)level * f->rows / f->levels]++;
    for (uint32_t t = 0; t < w->ntasks; t++)
        f->count[(uint64_t)(depth[t] - 1) * f->rows / f->levels * f->colours + kinds->colour[t]]++;
    f->most = 1;
    for (uint32_t r = 0; r < f->rows; r++) {
        double sum = 0;
        for (uint32_t c = 0; c < f->colours; c++)
            sum += f->count[r * f->colours + c] /= f->in_row[r];
        f->most = fmax(f->most, sum);
    }
    free(depth);
}

/* One row: its colours side by side, and what it stands for when pointed at. */
static void profile_draw_row(const struct graph_profile *f, const struct kinds *kinds, uint32_t row,
                             uint32_t level, double left, double y, double pitch, double scale,
                             struct strbuf *out)
{
    char text[HUMAN_SIZE], number[HUMAN_SIZE];
    double x = left;
    strbuf_add(out, "<g>");
    for (uint32_t c = 0; c < f->colours; c++) {
        double length = f->count[row * f->colours + c] * scale;
        if (length > 0)
            svg_printf(out, "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" fill=\"%s\"/>", x,
                       y, fmax(length, 0.3), fmax(pitch * 0.88, 1.5), kinds_fill(kinds, c));
        x += length;
    }
    if (f->in_row[row] == 1)
        svg_printf(out, "<title>level %s: %s tasks</title></g>\n", human_count(text, level + 1),
                   human_number(number, (x - left) / scale));
    else
        svg_printf(out, "<title>levels from %s: %s tasks each</title></g>\n",
                   human_count(text, level + 1), human_number(number, (x - left) / scale));
}

static void draw_profile(const struct workflow *w, struct strbuf *out,
                         const struct graph_svg_options *options)
{
    struct kinds kinds;
    struct graph_profile f;
    take_kinds(&kinds, w, options);
    profile_count(&f, w, &kinds);
    char *title = title_of(w, options),
         *subtitle = subtitle_of(w, f.levels, graph_critical_path(w, NULL, NULL, NULL));
    double left = MARGIN + 64, legend = kinds_legend_height(&kinds, PROFILE_WIDTH),
           head = options && options->bare ? 4 : HEAD, top = head + legend + 34;
    double pitch = f.rows ? fmin(fmax(640.0 / f.rows, 2.5), 40) : 40, bottom = top + pitch * f.rows;
    svg_begin(out, left + PROFILE_WIDTH + 2 * MARGIN, bottom + MARGIN, title);
    draw_heading(out, options, title, subtitle, PROFILE_WIDTH);
    kinds_legend(&kinds, out, MARGIN, head - 2, PROFILE_WIDTH);
    double step = svg_step(f.most, 8), scale = PROFILE_WIDTH / (ceil(f.most / step) * step);
    for (double v = 0; v <= ceil(f.most / step) * step * 1.0001; v += step) {
        char text[HUMAN_SIZE];
        svg_printf(out, "<path stroke=\"#ddd\" d=\"M%f %fV%f\"/>\n", left + v * scale, top - 4,
                   bottom);
        svg_text(out, left + v * scale, top - 10, "t m", human_number(text, v));
    }
    svg_text(out, left - 10, top - 10, "t e", "level");
    svg_text(out, left + PROFILE_WIDTH, top - 24, "t e",
             f.rows < f.levels ? "tasks in a level (mean of neighbouring levels)"
                               : "tasks in a level");
    double labelled = -INFINITY;
    for (uint32_t r = 0, level = 0; r < f.rows; level += f.in_row[r], r++) {
        double y = top + r * pitch;
        char text[HUMAN_SIZE];
        if (y - labelled >= 14) { /* a line of text needs so many pixels */
            svg_text(out, left - 10, y + fmin(pitch / 2 + 4, 14), "t e",
                     human_count(text, level + 1));
            labelled = y;
        }
        profile_draw_row(&f, &kinds, r, level, left, y, pitch, scale, out);
    }
    svg_end(out);
    free(title);
    free(subtitle);
    free(f.count);
    free(f.in_row);
    if (!(options && options->shades))
        kinds_free(&kinds);
}

/* ---- which of them ---- */

/* Would names fit? By level, which the layout changes little: good enough to choose. */
static bool graph_is_wide(const struct workflow *w)
{
    uint32_t *depth = mem_new_zero(uint32_t, w->ntasks + 1), levels = graph_depths(w, depth);
    double *sum = mem_new_zero(double, levels + 1), widest = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double *level = &sum[depth[t] - 1];
        *level += label_width(workflow_task_name(w, t), 11, 170) + 14;
        widest = fmax(widest, *level);
    }
    free(depth);
    free(sum);
    return widest > NAMED_WIDTH;
}

static bool graph_is_large(const struct workflow *w)
{
    return w->ntasks > GRAPH_SVG_TASKS || w->npairs > GRAPH_SVG_EDGES;
}

/* `f` is to be freed when the graph is drawn folded. */
static enum graph_svg_manner graph_choose(const struct workflow *w, struct graph_fold *f)
{
    bool large = graph_is_large(w);
    if (!large && !graph_is_wide(w))
        return GRAPH_SVG_WHOLE;
    if (graph_fold(f, w)) {
        if (!graph_is_large(f->drawn))
            return GRAPH_SVG_FOLDED;
        graph_fold_free(f);
    }
    return large ? GRAPH_SVG_PROFILE : GRAPH_SVG_WHOLE;
}

enum graph_svg_manner graph_svg_manner(const struct workflow *w)
{
    struct graph_fold f;
    enum graph_svg_manner manner = graph_choose(w, &f);
    if (manner == GRAPH_SVG_FOLDED)
        graph_fold_free(&f);
    return manner;
}

void report_graph_svg(const struct workflow *w, struct strbuf *out,
                      const struct graph_svg_options *options)
{
    struct graph_fold f;
    enum graph_svg_manner manner = options && options->profile  ? GRAPH_SVG_PROFILE
                                   : options && options->folded ? GRAPH_SVG_WHOLE
                                                                : graph_choose(w, &f);
    if (manner == GRAPH_SVG_PROFILE) {
        draw_profile(w, out, options);
    } else if (manner == GRAPH_SVG_WHOLE) {
        draw_graph(w, out, options);
    } else {
        uint32_t *depth = mem_new_zero(uint32_t, w->ntasks + 1);
        char *subtitle =
            subtitle_of(w, graph_depths(w, depth), graph_critical_path(w, NULL, NULL, NULL));
        graph_fold_svg(&f, w, out, options, subtitle);
        free(subtitle);
        free(depth);
        graph_fold_free(&f);
    }
}
