/* Line charts and bar charts as SVG. An axis maps values to pixels and knows how its numbers are
 * written; everything else is placed around the widest number and the legend. O(points). */
#include "report/chart.h"
#include "report/human.h"
#include "report/svg.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels around the picture. Beyond 500 points markers would touch and hide the line. */
enum { MARGIN = 20, MARKERS_MOST = 500 };

/* How the numbers of an axis are written. Seconds take one unit for the whole axis, named in its
 * title, unless the axis is logarithmic: then every tick names its own. */
enum notation { PLAIN, SECONDS, BYTES };

/* From values to pixels. A logarithmic axis works on log10 of the values: low and high are
 * exponents then. */
struct axis {
    double low, high;   /* of the values shown */
    double from, to;    /* pixels of low and high */
    double step;        /* between ticks */
    double unit;        /* values are written divided by this */
    const char *suffix; /* of the title: "s", NULL: none */
    enum notation notation;
    bool log;
};

/* y axes run upwards by having `from` below `to` in pixels. */
static double axis_pixel(const struct axis *a, double value)
{
    if (a->log)
        value = log10(value);
    return a->from + (value - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* What cannot be shown (not finite, or not positive on a logarithmic axis) is left out, not drawn
 * at an edge. */
static bool axis_shows(const struct axis *a, double value)
{
    return isfinite(value) && (!a->log || value > 0);
}

/* Stretch to round ends that hold low .. high. */
static void axis_set(struct axis *a, double low, double high, unsigned parts)
{
    a->unit = 1;
    if (!(low <= high)) { /* nothing to show */
        low = a->log ? 1 : 0;
        high = a->log ? 10 : 1;
    }
    if (a->log) {
        /* 1e-9 keeps a value that is a power of ten, but for rounding, from adding a decade */
        a->low = floor(log10(low) + 1e-9);
        a->high = ceil(log10(high) - 1e-9);
        if (a->high <= a->low)
            a->high = a->low + 1;
        a->step = fmax(1, ceil((a->high - a->low) / parts));
        return;
    }
    /* the unit follows from the largest value, so that ticks are round in that unit */
    if (a->notation == SECONDS)
        a->unit = svg_time_unit(fmax(fabs(low), fabs(high)), &a->suffix);
    /* a constant: a tenth of room around it, so that the line is not at the edge */
    if (high - low <= fabs(high) * 1e-9) {
        double room = high != 0 ? fabs(high) * 0.1 : 1;
        high += room;
        low = low == 0 ? 0 : low - room;
    }
    a->step = svg_step((high - low) / a->unit, parts) * a->unit;
    a->low = floor(low / a->step + 1e-9) * a->step;
    a->high = ceil(high / a->step - 1e-9) * a->step;
}

/* 60 ticks are more than any picture has room for; a guard against rounding, not a choice. */
static unsigned axis_ticks(const struct axis *a)
{
    return (unsigned)fmin(60, floor((a->high - a->low) / a->step + 1e-6)) + 1;
}

/* Rounding must not show as "-1.2e-17" where 0 is meant. */
static double axis_tick(const struct axis *a, unsigned i)
{
    double value = a->low + i * a->step;
    return a->log ? pow(10, value) : fabs(value) < a->step * 1e-9 ? 0 : value;
}

static void axis_text(const struct axis *a, double value, char *out)
{
    if (a->notation == BYTES)
        human_bytes(out, value);
    else if (a->notation == SECONDS && a->log)
        human_seconds(out, value);
    else
        human_number(out, value / a->unit);
}

/* Pixels that the widest number needs: the plot begins to the right of it. */
static double widest_tick(const struct axis *a)
{
    double width = 0;
    for (unsigned i = 0; i < axis_ticks(a); i++) {
        char text[HUMAN_SIZE];
        axis_text(a, axis_tick(a, i), text);
        width = fmax(width, svg_text_width(text, 11));
    }
    return width;
}

static void axis_title(const struct axis *a, const char *title, char *out, size_t size)
{
    if (a->suffix && !a->log)
        snprintf(out, size, "%s (%s)", title ? title : "time", a->suffix);
    else
        snprintf(out, size, "%s", title ? title : "");
}

/* Grid, numbers and name of the vertical axis. */
static void draw_y_axis(struct strbuf *out, const struct axis *y, double left, double right,
                        const char *title)
{
    for (unsigned i = 0; i < axis_ticks(y); i++) {
        char text[HUMAN_SIZE];
        double value = axis_tick(y, i), at = axis_pixel(y, value);
        svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".12\" d=\"M%f %fH%f\"/>\n", left,
                   at, right);
        axis_text(y, value, text);
        svg_text(out, left - 8, at + 4, "t e", text);
    }
    char name[256];
    axis_title(y, title, name, sizeof name);
    if (*name)
        svg_printf(out,
                   "<text class=\"t m\" transform=\"translate(%f %f) rotate(-90)\">%s</text>\n",
                   MARGIN - 4.0, (y->from + y->to) / 2, name);
}

/* The square, its gap, the text and a gap behind it, as svg_legend_entry() draws them. */
static double legend_width(const char *name)
{
    return 16 + svg_text_width(name, 11) + 16;
}

/* Series' names in lines of at most `width`; returns the height. Draws when `out` is not NULL. */
static double draw_legend(struct strbuf *out, const char *const *names, size_t count, double left,
                          double top, double width, bool fills)
{
    double x = left, height = 0;
    for (size_t s = 0; s < count; s++) {
        if (!names[s])
            continue;
        if (height == 0)
            height = 18;
        if (x > left && x + legend_width(names[s]) > left + width) {
            x = left;
            height += 18;
        }
        if (out)
            svg_legend_entry(out, x, top + height - 5,
                             fills ? svg_fill((uint32_t)s % SVG_COLOURS) : svg_stroke((uint32_t)s),
                             names[s]);
        x += legend_width(names[s]);
    }
    return height;
}

/* ---- lines ---- */

/* Path data of a line through the points that can be shown. More than two points a pixel column are
 * thinned to the column's first, least, greatest and last, which looks the same. */
static void line_path(struct strbuf *out, const struct chart_series *s, const double *values,
                      const struct axis *x, const struct axis *y)
{
    bool drawing = false;
    /* four points a column is the point at which thinning halves the file */
    bool thin = s->n > 4 * (size_t)fabs(x->to - x->from);
    double last_x = 0, last_y = 0;
    for (size_t i = 0; i < s->n;) {
        if (!axis_shows(x, s->x[i]) || !axis_shows(y, values[i])) {
            drawing = false;
            i++;
            continue;
        }
        double px = axis_pixel(x, s->x[i]), points[4] = {axis_pixel(y, values[i])};
        size_t count = 1, next = i + 1;
        if (thin) {
            double low = points[0], high = points[0], end = points[0];
            for (; next < s->n && axis_shows(x, s->x[next]) && axis_shows(y, values[next]) &&
                   floor(axis_pixel(x, s->x[next])) == floor(px);
                 next++) {
                end = axis_pixel(y, values[next]);
                low = fmin(low, end);
                high = fmax(high, end);
            }
            points[1] = low, points[2] = high, points[3] = end;
            count = low == high ? 1 : 4;
        }
        for (size_t k = 0; k < count; k++) {
            if (!drawing)
                svg_printf(out, "M%f %f", px, points[k]);
            else if (s->steps && px != last_x && points[k] != last_y)
                svg_printf(out, "H%fV%f", px, points[k]);
            else
                svg_printf(out, "L%f %f", px, points[k]);
            drawing = true;
            last_x = px;
            last_y = points[k];
        }
        i = next;
    }
}

/* The area between low and high: along the upper edge and back along the lower one. At most 2000
 * points an edge, more than there are pixels. */
static void draw_band(struct strbuf *out, const struct chart_series *s, const struct axis *x,
                      const struct axis *y, const char *colour)
{
    struct strbuf path = {0};
    size_t stride = s->n / 2000 + 1, drawn = 0;
    for (size_t i = 0; i < s->n; i += stride)
        if (axis_shows(x, s->x[i]) && axis_shows(y, s->high[i]))
            svg_printf(&path, "%c%f %f", drawn++ ? 'L' : 'M', axis_pixel(x, s->x[i]),
                       axis_pixel(y, s->high[i]));
    for (size_t i = (s->n - 1) / stride * stride + stride; i >= stride;) {
        i -= stride;
        if (axis_shows(x, s->x[i]) && axis_shows(y, s->low[i]))
            svg_printf(&path, "%c%f %f", drawn++ ? 'L' : 'M', axis_pixel(x, s->x[i]),
                       axis_pixel(y, s->low[i]));
    }
    if (drawn)
        svg_printf(out, "<path fill=\"%s\" fill-opacity=\".18\" d=\"%sz\"/>\n", colour, path.at);
    strbuf_free(&path);
}

/* Take a value into the range, if it can be shown at all. */
static void axis_widen(double value, const struct axis *a, double *low, double *high)
{
    if (!axis_shows(a, value))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* limit: least and greatest x, least and greatest y of what is drawn. A point that is missing in
 * one direction counts in neither. */
static void series_limits(const struct chart *c, struct axis *x, struct axis *y, double limit[4])
{
    limit[0] = limit[2] = INFINITY;
    limit[1] = limit[3] = -INFINITY;
    for (size_t s = 0; s < c->nseries; s++)
        for (size_t i = 0; i < c->series[s].n; i++) {
            if (!axis_shows(x, c->series[s].x[i]) || !axis_shows(y, c->series[s].y[i]))
                continue;
            axis_widen(c->series[s].x[i], x, &limit[0], &limit[1]);
            axis_widen(c->series[s].y[i], y, &limit[2], &limit[3]);
            if (c->series[s].low && c->series[s].high) {
                axis_widen(c->series[s].low[i], y, &limit[2], &limit[3]);
                axis_widen(c->series[s].high[i], y, &limit[2], &limit[3]);
            }
        }
    /* a logarithm has no zero to start from */
    if (c->y_from_zero && !c->y_log && limit[2] <= limit[3]) {
        limit[2] = fmin(limit[2], 0);
        limit[3] = fmax(limit[3], 0);
    }
}

/* Axes from the data, margins from the axes, then title, legend, grid, lines, markers, in the order
 * in which they cover each other. */
void report_line_chart(const struct chart *c, struct strbuf *out)
{
    double width = fmax(c->width > 0 ? c->width : 800, 200),
           height = fmax(c->height > 0 ? c->height : 400, 160);
    struct axis x = {.log = c->x_log, .notation = c->x_seconds ? SECONDS : PLAIN};
    struct axis y = {.log = c->y_log,
                     .notation = c->y_seconds ? SECONDS
                                 : c->y_bytes ? BYTES
                                              : PLAIN};
    double limit[4];
    series_limits(c, &x, &y, limit);
    axis_set(&x, limit[0], limit[1], (unsigned)(width / 100) + 1);
    axis_set(&y, limit[2], limit[3], (unsigned)(height / 55) + 1);
    if (!c->x_log && limit[1] > limit[0])
        x.high =
            fmax(limit[1], x.low + x.step); /* time ends where it ends, not at a round number */
    const char **names = mem_new_zero(const char *, c->nseries + 1);
    for (size_t s = 0; s < c->nseries; s++)
        names[s] = c->series[s].name;
    double left = MARGIN + (c->y_title || y.suffix ? 14 : 0) + widest_tick(&y) + 8;
    double right = width - MARGIN - 6, top = c->title ? 42 : 16;
    double legend = draw_legend(NULL, names, c->nseries, left, top, right - left, false);
    x.from = left, x.to = right;
    y.from = height - 46, y.to = top + legend + 8;

    svg_begin(out, width, height, c->title ? c->title : "chart");
    if (c->title)
        svg_text_within(out, MARGIN, 26, "h", c->title, 17, width - 2 * MARGIN);
    draw_legend(out, names, c->nseries, left, top - 4, right - left, false);
    free(names);
    draw_y_axis(out, &y, left, right, c->y_title);
    for (unsigned i = 0; i < axis_ticks(&x); i++) {
        char text[HUMAN_SIZE];
        double at = axis_pixel(&x, axis_tick(&x, i));
        axis_text(&x, axis_tick(&x, i), text);
        svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".35\" d=\"M%f %fv5\"/>\n", at,
                   y.from);
        svg_text(out, at, y.from + 18, "t m", text);
    }
    char name[256];
    axis_title(&x, c->x_title, name, sizeof name);
    svg_text(out, right, y.from + 36, "t e", name);
    svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".45\" d=\"M%f %fH%f\"/>\n", left,
               y.from, right);
    for (size_t s = 0; s < c->nseries; s++) {
        const struct chart_series *series = &c->series[s];
        const char *colour = svg_stroke((uint32_t)s);
        if (series->low && series->high && series->n)
            draw_band(out, series, &x, &y, colour);
        svg_printf(
            out,
            "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"",
            colour);
        line_path(out, series, series->y, &x, &y);
        strbuf_add(out, "\"/>\n");
        for (size_t i = 0; series->points && i < series->n && series->n <= MARKERS_MOST; i++)
            if (axis_shows(&x, series->x[i]) && axis_shows(&y, series->y[i]))
                svg_printf(out,
                           "<circle cx=\"%f\" cy=\"%f\" r=\"3.2\" fill=\"%s\" stroke=\"#fff\"/>\n",
                           axis_pixel(&x, series->x[i]), axis_pixel(&y, series->y[i]), colour);
    }
    svg_end(out);
}

/* ---- bars ---- */

/* Bars begin at 0, so 0 is always in the range of a linear axis. */
static void bar_limits(const struct bar_chart *c, const struct axis *y, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < c->ngroups * c->nseries; i++) {
        axis_widen(c->value[i], y, low, high);
        if (c->low && c->high && isfinite(c->value[i])) {
            axis_widen(c->low[i], y, low, high);
            axis_widen(c->high[i], y, low, high);
        }
    }
    axis_widen(c->reference, y, low, high);
    if (!c->y_log && *low <= *high) {
        *low = fmin(*low, 0);
        *high = fmax(*high, 0);
    }
}

/* With its interval as a line with two caps, where there is one. */
static void draw_one_bar(struct strbuf *out, const struct bar_chart *c, const struct axis *y,
                         size_t index, double x, double width, uint32_t colour)
{
    double value = c->value[index];
    if (!axis_shows(y, value))
        return;
    double base = y->log ? y->from : axis_pixel(y, 0), top = axis_pixel(y, value);
    char number[HUMAN_SIZE];
    svg_printf(out,
               "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" fill=\"%s\" stroke=\"#334\" "
               "stroke-opacity=\".5\" "
               "stroke-width=\".7\"><title>%s</title></rect>\n",
               x, fmin(top, base), width, fabs(base - top), svg_fill(colour),
               human_number(number, value));
    if (!c->low || !c->high || !axis_shows(y, c->low[index]) || !axis_shows(y, c->high[index]))
        return;
    double middle = x + width / 2, cap = fmin(width / 4, 5);
    double y1 = axis_pixel(y, c->low[index]), y2 = axis_pixel(y, c->high[index]);
    svg_printf(out,
               "<path stroke=\"#222\" stroke-width=\"1.2\" d=\"M%f %fV%fM%f %fh%fM%f %fh%f\"/>\n",
               middle, y1, y2, middle - cap, y1, 2 * cap, middle - cap, y2, 2 * cap);
}

/* Width from the number of bars unless one is asked for, at most 4000 pixels. Names of groups are
 * cut at 170 pixels. */
void report_bar_chart(const struct bar_chart *c, struct strbuf *out)
{
    double nbars = (double)c->ngroups * (double)c->nseries;
    double width =
        c->width > 0 ? c->width : fmin(fmax(360, 120 + nbars * 22 + (double)c->ngroups * 18), 4000);
    double height = fmax(c->height > 0 ? c->height : 400, 160);
    struct axis y = {.log = c->y_log};
    double low, high, longest = 0;
    bar_limits(c, &y, &low, &high);
    axis_set(&y, low, high, (unsigned)(height / 55) + 1);
    double left = MARGIN + (c->y_title ? 14 : 0) + widest_tick(&y) + 8, right = width - MARGIN;
    double pitch = c->ngroups ? (right - left) / (double)c->ngroups : right - left;
    for (size_t g = 0; g < c->ngroups; g++)
        longest = fmax(longest, fmin(svg_text_width(c->groups[g], 11), 170));
    /* names that do not fit below their group are turned */
    bool slanted = longest > pitch - 6;
    double top = c->title ? 42 : 16;
    double legend =
        c->series ? draw_legend(NULL, c->series, c->nseries, left, top, right - left, true) : 0;
    y.to = top + legend + 8;
    y.from = height - (slanted ? 26 + longest * 0.6 : 34);
    if (y.from < y.to + 60) { /* long names: the picture grows, the bars stay */
        height += y.to + 60 - y.from;
        y.from = y.to + 60;
    }

    svg_begin(out, width, height, c->title ? c->title : "chart");
    if (c->title)
        svg_text_within(out, MARGIN, 26, "h", c->title, 17, width - 2 * MARGIN);
    if (c->series)
        draw_legend(out, c->series, c->nseries, left, top - 4, right - left, true);
    draw_y_axis(out, &y, left, right, c->y_title);
    /* bars fill four fifths of a group's width, so that groups stay apart */
    double room = pitch * 0.78, bar = c->nseries ? room / (double)c->nseries : room;
    for (size_t g = 0; g < c->ngroups; g++) {
        double x = left + pitch * (double)g + pitch * 0.11;
        for (size_t s = 0; s < c->nseries; s++)
            draw_one_bar(out, c, &y, g * c->nseries + s, x + bar * (double)s, bar * 0.94,
                         (uint32_t)s % SVG_COLOURS);
        double middle = left + pitch * ((double)g + 0.5);
        if (!slanted) {
            svg_text(out, middle, y.from + 18, "l m", c->groups[g]);
        } else {
            svg_printf(out, "<g transform=\"translate(%f %f) rotate(-35)\">", middle + 4,
                       y.from + 14);
            svg_text_within(out, 0, 0, "l e", c->groups[g], 11, 170);
            strbuf_add(out, "</g>\n");
        }
    }
    double base = y.log ? y.from : axis_pixel(&y, 0);
    svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".45\" d=\"M%f %fH%f\"/>\n", left, base,
               right);
    if (axis_shows(&y, c->reference))
        svg_printf(out,
                   "<path stroke=\"#B5420F\" stroke-width=\"1.3\" stroke-dasharray=\"6 4\" d=\"M%f "
                   "%fH%f\"/>\n",
                   left, axis_pixel(&y, c->reference), right);
    svg_end(out);
}
