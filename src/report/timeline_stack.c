/* timeline_stack.h: bars are spread over columns of two pixels; an area a colour, the one with most time below. */
#include "report/timeline_stack.h"
#include "base/mem.h"
#include "report/human.h"
#include "report/svg.h"
#include <math.h>
#include <stdlib.h>

enum { STACK_COLOURS = SVG_FAILED + 1, STACK_FEW = 300, STACK_AREA = 96 };

/* Narrower than this no name fits and neighbours run together. */
static const double stack_narrow = 7;

bool timeline_stack_wanted(const struct timeline *t, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < t->bars.n; i++)
        sum += (t->bars.at[i].finish - t->bars.at[i].start) * scale;
    return t->bars.n > STACK_FEW && sum / (double)t->bars.n < stack_narrow;
}

/* Means over columns, so that a task shorter than a column counts by its share of it:
 *
 *     cores ▲      ┌──────┐ b
 *           │ ┌────┘      └──┐
 *           │ │ a            │ a
 *           └─┴──────────────┴──▶ time
 *
 * Colours beyond the kinds' are those of "other" and of failures. */
struct timeline_stack {
    uint32_t columns;
    double width;  /* of a column in seconds */
    double *cores; /* columns + 1 of each colour: means over the columns */
    double time[STACK_COLOURS];
    double most;
};

/* A bar's share of the columns at its ends, and a difference array for those between. */
static void stack_add(double *level, double *slope, uint32_t columns, double from, double to,
                      double amount)
{
    from = fmin(fmax(from, 0), columns);
    to = fmin(fmax(to, 0), columns);
    uint32_t first = (uint32_t)fmin(from, columns - 1), last = (uint32_t)fmin(to, columns - 1);
    if (first == last) {
        level[first] += amount * (to - from);
        return;
    }
    level[first] += amount * (first + 1 - from);
    level[last] += amount * (to - last);
    slope[first + 1] += amount;
    slope[last] -= amount;
}

/* All bars into the columns: bars + columns x colours. Bars outside the stretch that is shown add nothing. */
static void stack_count(struct timeline_stack *s, const struct timeline *t, double from)
{
    size_t row = s->columns + 1;
    double *slope = mem_new_zero(double, row *STACK_COLOURS);
    for (size_t i = 0; i < t->bars.n; i++) {
        const struct timeline_bar *b = &t->bars.at[i];
        uint32_t c = b->colour < STACK_COLOURS ? b->colour : SVG_COLOURS;
        stack_add(s->cores + c * row, slope + c * row, s->columns, (b->start - from) / s->width,
                  (b->finish - from) / s->width, b->span);
        s->time[c] += (b->finish - b->start) * b->span;
    }
    for (uint32_t x = 0; x < s->columns; x++) {
        double sum = 0;
        for (uint32_t c = 0; c < STACK_COLOURS; c++) {
            double *up = slope + c * row + x;
            up[1] += up[0];
            s->cores[c * row + x] += up[0];
            sum += s->cores[c * row + x];
        }
        s->most = fmax(s->most, sum);
    }
    free(slope);
}

/* The colour with most time that is not drawn yet; STACK_COLOURS: none. */
static uint32_t stack_next(const struct timeline_stack *s, const bool *drawn)
{
    uint32_t next = STACK_COLOURS;
    for (uint32_t c = 0; c < STACK_COLOURS; c++)
        if (!drawn[c] && s->time[c] > 0 && (next == STACK_COLOURS || s->time[c] > s->time[next]))
            next = c;
    return next;
}

/* One area on what is below it (`base`), which it raises. */
static void stack_area(const struct timeline_stack *s, uint32_t colour, const struct timeline *t,
                       double left, double pixel, double bottom, double *base, struct strbuf *out)
{
    const double *cores = s->cores + colour * (s->columns + 1);
    double height = STACK_AREA / s->most;
    svg_printf(out, "<path fill=\"%s\" d=\"M%f %f",
               t->kinds ? kinds_fill(t->kinds, colour) : svg_fill(colour), left,
               bottom - base[0] * height);
    for (uint32_t x = 0; x < s->columns; x++)
        svg_printf(out, "V%fh%f", bottom - (base[x] + cores[x]) * height, pixel);
    for (uint32_t x = s->columns; x-- > 0;)
        svg_printf(out, "V%fh%f", bottom - base[x] * height, -pixel);
    const char *name = colour == SVG_FAILED ? "failed"
                       : t->kinds && colour <= KINDS_SHOWN && t->kinds->name[colour]
                           ? t->kinds->name[colour]
                           : "tasks";
    char time[HUMAN_SIZE];
    svg_printf(out, "z\"><title>%s: %s of the cores' time</title></path>\n", name,
               human_seconds(time, s->time[colour]));
    for (uint32_t x = 0; x < s->columns; x++)
        base[x] += cores[x];
}

void timeline_stack_draw(const struct timeline *t, double left, double right, double top,
                         double from, double most, struct strbuf *out)
{
    uint32_t columns = (uint32_t)fmax(1, (right - left) / 2);
    struct timeline_stack s = {.columns = columns, .width = (most - from) / columns};
    s.cores = mem_new_zero(double, (size_t)(columns + 1) * STACK_COLOURS);
    stack_count(&s, t, from);
    double bottom = top + STACK_AREA, *base = mem_new_zero(double, columns + 1);
    bool drawn[STACK_COLOURS] = {false};
    if (s.most > 0) {
        for (uint32_t c; (c = stack_next(&s, drawn)) < STACK_COLOURS; drawn[c] = true)
            stack_area(&s, c, t, left, (right - left) / columns, bottom, base, out);
        double step = svg_step(s.most, 3);
        for (double v = 0; v <= s.most * (1 + 1e-9); v += step) {
            char text[HUMAN_SIZE];
            double y = bottom - v / s.most * STACK_AREA;
            svg_printf(out, "<path stroke=\"#000\" stroke-opacity=\".12\" d=\"M%f %fH%f\"/>\n",
                       left, y, right);
            svg_text(out, left - 8, y + 4, "t e", human_number(text, v));
        }
        svg_text(out, left, top - 6, "t", "cores in use, by kind");
    }
    free(base);
    free(s.cores);
}
