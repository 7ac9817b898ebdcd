/* Bars on lanes over time, as SVG; plans and runs both use it. Few bars are drawn one by one with
 * tooltips, many are joined where the eye could not tell them apart, so that a picture of a million
 * tasks stays a few hundred kilobytes.
 *
 *   frame    lanes from top to bottom, names left, axis below, in pixels
 *   bars     sorted by lane and start, then drawn or joined */
#include "report/timeline.h"
#include "report/timeline_stack.h"
#include "report/human.h"
#include "report/svg.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 24, HEAD = 54 };

struct timeline_frame {
    struct timeline *t;
    struct strbuf *out;
    double left, top, right, bottom; /* of the lanes */
    double scale;                    /* pixels a second */
    double from, most;               /* beginning and end of the axis in seconds */
    double lane;                     /* height */
    double *lane_y;                  /* top of each */
    uint32_t nlanes;
};

static int by_lane(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Pixels from the left edge of the lanes. */
static double time_x(const struct timeline_frame *f, double time)
{
    return f->left + (time - f->from) * f->scale;
}

/* ---- frame: lanes, names, axis ---- */

/* Fewer pixels a lane the more lanes there are: 512 lanes are about two screens. */
static double lane_height(uint32_t lanes)
{
    static const struct {
        uint32_t lanes;
        double height;
    } steps[] = {{12, 30}, {24, 24}, {48, 18}, {96, 12}, {256, 7}, {512, 4}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (lanes <= steps[i].lanes)
            return steps[i].height;
    return 3;
}

/* A little room between groups, where groups have several lanes. */
static void place_lanes(struct timeline_frame *f)
{
    const uint32_t *group = f->t->lanes.at;
    bool several = false; /* lanes in a group */
    for (uint32_t i = 1; i < f->nlanes; i++)
        several = several || group[i] == group[i - 1];
    double between = several ? fmin(5, f->lane / 3) : 0, y = f->top;
    for (uint32_t i = 0; i < f->nlanes; i++) {
        if (i && group[i] != group[i - 1])
            y += between;
        f->lane_y[i] = y;
        y += f->lane;
    }
    f->bottom = y;
}

/* A band behind each other group, and its name where there is room for one. */
static void draw_lanes(struct timeline_frame *f)
{
    const uint32_t *group = f->t->lanes.at;
    double named = -INFINITY;
    bool odd = false;
    for (uint32_t i = 0; i < f->nlanes;) {
        uint32_t end = i;
        while (end < f->nlanes && group[end] == group[i])
            end++;
        double y = f->lane_y[i], height = f->lane_y[end - 1] + f->lane - y;
        if (odd)
            svg_printf(f->out,
                       "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\" fill=\"#f3f4f6\"/>\n",
                       f->left, y, f->right - f->left, height);
        odd = !odd;
        if (y + height / 2 - named >= 13) {
            named = y + height / 2;
            svg_text_within(f->out, f->left - 8, named + 4, "l e",
                            f->t->group_name(f->t->context, group[i]), 11, f->left - MARGIN - 4);
        }
        i = end;
    }
}

/* Grid lines through all lanes; numbers below, and above too when the picture is taller than a
 * screen. */
static void draw_axis(struct timeline_frame *f)
{
    const char *unit;
    double seconds = svg_time_unit(f->most, &unit);
    double step =
        svg_step((f->most - f->from) / seconds, (unsigned)fmax(2, (f->right - f->left) / 95));
    double first = ceil(f->from / seconds / step * (1 - 1e-9));
    strbuf_add(f->out, "<path stroke=\"#000\" stroke-opacity=\".12\" d=\"");
    uint32_t ticks =
        (uint32_t)fmin(200, fmax(0, floor(f->most / seconds / step * (1 + 1e-9)) - first));
    for (uint32_t k = 0; k <= ticks; k++)
        svg_printf(f->out, "M%f %fV%f", time_x(f, (first + k) * step * seconds), f->top,
                   f->bottom + 5);
    strbuf_add(f->out, "\"/>\n");
    for (uint32_t k = 0; k <= ticks; k++) {
        char text[HUMAN_SIZE];
        double i = first + k;
        human_number(text, i * step);
        svg_text(f->out, time_x(f, i * step * seconds), f->bottom + 18, "t m", text);
        if (f->bottom - f->top > 800)
            svg_text(f->out, time_x(f, i * step * seconds), f->top - 6, "t m", text);
    }
    char name[64];
    snprintf(name, sizeof name, "time (%s)", unit);
    svg_text(f->out, f->left, f->bottom + 36, "t", name);
}

/* The dashed line where it ends, its label kept inside the picture. */
static void draw_end(struct timeline_frame *f)
{
    const struct timeline *t = f->t;
    if (isnan(t->end) || t->end <= f->from || t->end > f->most)
        return;
    double x = time_x(f, t->end);
    svg_printf(f->out,
               "<path stroke=\"#B5420F\" stroke-width=\"1.2\" stroke-dasharray=\"5 3\" d=\"M%f "
               "%fV%f\"/>\n",
               x, f->top - 4, f->bottom + 5);
    char text[96], time[HUMAN_SIZE];
    snprintf(text, sizeof text, "%s %s", t->end_label, human_seconds(time, t->end));
    double half = svg_text_width(text, 11) / 2;
    svg_printf(f->out, "<text class=\"l m\" style=\"fill:#B5420F\" x=\"%f\" y=\"%f\">%s</text>\n",
               fmin(fmax(x, f->left + half), f->right + MARGIN - half), f->bottom + 36, text);
}

/* ---- bars ---- */

/* From its first lane to its last; a task of several cores covers the gaps between. */
static double bar_height(const struct timeline_frame *f, const struct timeline_bar *bar)
{
    /* less air around bars the thinner the lanes are */
    double inset = f->lane >= 12 ? 2 : f->lane >= 6 ? 1 : 0.4;
    uint32_t last = bar->lane + bar->span - 1;
    if (last >= f->nlanes)
        last = f->nlanes - 1;
    return f->lane_y[last] + f->lane - f->lane_y[bar->lane] - 2 * inset;
}

/* A numbered disc with its middle at (x, y). */
static void draw_disc(struct timeline_frame *f, double x, double y, double radius, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    svg_printf(f->out, "<circle cx=\"%f\" cy=\"%f\" r=\"%f\" fill=\"#111\" stroke=\"#fff\"/>", x, y,
               radius);
    svg_printf(f->out, "<text class=\"p m\" x=\"%f\" y=\"%f\">%s</text>", x, y + 3, text);
}

/* With a tooltip; with its name where there is room, with a disc where a constraint pinned it. */
static void draw_bar(struct timeline_frame *f, const struct timeline_bar *bar)
{
    double x = time_x(f, bar->start), width = fmax((bar->finish - bar->start) * f->scale, 0.4);
    double height = bar_height(f, bar), inset = f->lane >= 12 ? 2 : f->lane >= 6 ? 1 : 0.4;
    double y = f->lane_y[bar->lane] + inset;
    struct strbuf text = {0};
    f->t->describe(f->t->context, bar, true, &text);
    svg_printf(f->out, "<g><title>%s</title><rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"%f\"",
               strbuf_text(&text), x, y, width, height);
    svg_printf(f->out, " rx=\"%f\" fill=\"%s\"", width > 6 && f->lane >= 12 ? 2.0 : 0.0,
               svg_fill(bar->colour));
    if (bar->faint)
        strbuf_add(f->out, " fill-opacity=\".4\" stroke-dasharray=\"3 2\"");
    if (bar->mark)
        strbuf_add(f->out, " stroke=\"#111\" stroke-width=\"1.8\"");
    else if (width >= 4)
        strbuf_add(f->out, " stroke=\"#334\" stroke-opacity=\".55\" stroke-width=\".7\"");
    strbuf_add(f->out, "/>");
    strbuf_clear(&text);
    if (height >= 10 && width > 12 && !bar->unlabelled) {
        f->t->describe(f->t->context, bar, false, &text);
        double font = height >= 14 && svg_text_width(strbuf_text(&text), 11) + 4 <= width ? 11 : 9;
        const char *class = font == 11 ? "l m" : "n m";
        /* the beginning of a name tells little: only in wide bars */
        if (svg_text_width(strbuf_text(&text), font) + 3 <= width || width > 70)
            svg_text_within(f->out, x + width / 2, y + height / 2 + font * 0.36, class,
                            strbuf_text(&text), font, width - 3);
    }
    if (bar->mark && height >= 14 && width >= 14)
        draw_disc(f, x + 2, y + 2, 6, bar->mark);
    strbuf_add(f->out, "</g>\n");
    strbuf_free(&text);
}

static uint32_t marks_shown(const struct timeline *t)
{
    return t->marks.n < TIMELINE_MARKS ? (uint32_t)t->marks.n : TIMELINE_MARKS;
}

/* The legend of the discs, a line each, from `y` on. */
static void draw_marks(struct timeline_frame *f, double y, double width)
{
    const struct timeline *t = f->t;
    for (uint32_t i = 0; i < marks_shown(t); i++, y += 18) {
        draw_disc(f, MARGIN + 6, y - 4, 6, t->marks.at[i].number);
        svg_text_within(f->out, MARGIN + 18, y, "s", t->marks.at[i].text, 12, width - 18);
    }
    char text[64];
    if (t->marks.n > TIMELINE_MARKS) {
        snprintf(text, sizeof text, "and %zu more", t->marks.n - TIMELINE_MARKS);
        svg_text(f->out, MARGIN + 18, y, "s", text);
    }
}

/* What is drawn as one when bars are too fine: from the first's start to the last's end. */
struct timeline_run {
    double start, finish, height;
    uint32_t lane;
    uint8_t colour;
};

typedef ARRAY(struct timeline_run) run_list;

/* Bars of a lane joined while gap and width stay under `grain` pixels. The colour is that of the
 * most time. */
static void join_bars(const struct timeline_frame *f, double grain, run_list *runs)
{
    const struct timeline *t = f->t;
    double least = grain / f->scale;
    runs->n = 0;
    for (size_t i = 0; i < t->bars.n;) {
        const struct timeline_bar *first = &t->bars.at[i];
        if (first->lane >= f->nlanes)
            break;
        struct timeline_run run = {first->start, first->finish, bar_height(f, first), first->lane,
                                   first->colour};
        double time[SVG_FAILED + 1] = {0};
        time[first->colour] = first->finish - first->start;
        for (i++; i < t->bars.n; i++) {
            const struct timeline_bar *bar = &t->bars.at[i];
            bool thin = run.finish - run.start < least || bar->finish - bar->start < least;
            bool same = bar->colour == run.colour;
            if (bar->lane != run.lane || bar->span > 1 || first->span > 1 ||
                bar->start - run.finish > least / 2 ||
                (!thin && !(same && bar->start <= run.finish)))
                break;
            run.finish = fmax(run.finish, bar->finish);
            time[bar->colour] += bar->finish - bar->start;
        }
        if (time[SVG_FAILED] > 0)
            run.colour = SVG_FAILED;
        for (int c = 0; c <= SVG_COLOURS && run.colour != SVG_FAILED; c++)
            run.colour = time[c] > time[run.colour] ? (uint8_t)c : run.colour;
        array_push(runs, run);
    }
}

/* Join ever coarser until few enough are left; one path a colour. */
static void draw_runs(struct timeline_frame *f)
{
    run_list runs = {0};
    double grain = 0.5;
    do {
        join_bars(f, grain, &runs);
        grain *= 2;
    } while (runs.n > TIMELINE_RUNS && grain < 4096);
    double inset = f->lane >= 12 ? 2 : f->lane >= 6 ? 1 : 0.4;
    for (int colour = 0; colour <= SVG_FAILED; colour++) {
        bool open = false;
        for (size_t i = 0; i < runs.n; i++) {
            const struct timeline_run *run = &runs.at[i];
            if (run->colour != colour)
                continue;
            if (!open)
                svg_printf(f->out, "<path fill=\"%s\" stroke=\"#fff\" stroke-width=\".25\" d=\"",
                           svg_fill(colour));
            open = true;
            double width = fmax((run->finish - run->start) * f->scale, 0.4);
            svg_printf(f->out, "M%f %fh%fv%fh%fz\n", time_x(f, run->start),
                       f->lane_y[run->lane] + inset, width, run->height, -width);
        }
        if (open)
            strbuf_add(f->out, "\"/>\n");
    }
    array_free(&runs);
}

/* Curves from lane to lane, leaving and arriving at the edges of bars. */
static void draw_arrows(struct timeline_frame *f)
{
    const struct timeline *t = f->t;
    if (!t->arrows.n)
        return;
    strbuf_add(
        f->out,
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 1L8 4L0 7z\" "
        "fill=\"#223\" fill-opacity=\".5\"/></marker></defs>\n<g fill=\"none\" stroke=\"#223\" "
        "stroke-opacity=\".35\" stroke-width=\"1\">\n");
    for (size_t i = 0; i < t->arrows.n; i++) {
        const struct timeline_arrow *a = &t->arrows.at[i];
        if (a->from >= f->nlanes || a->to >= f->nlanes)
            continue;
        bool down = f->lane_y[a->to] > f->lane_y[a->from];
        double inset = f->lane / 2 - 2;
        double x1 = time_x(f, a->start), x2 = time_x(f, a->finish);
        double y1 = f->lane_y[a->from] + f->lane / 2 + (down ? inset : -inset);
        double y2 = f->lane_y[a->to] + f->lane / 2 + (down ? -inset : inset);
        struct strbuf text = {0};
        t->describe_arrow(t->context, a, &text);
        double bend = (x2 - x1) * 0.35;
        svg_printf(f->out,
                   "<path marker-end=\"url(#a)\" d=\"M%f %fC%f %f %f %f %f "
                   "%f\"><title>%s</title></path>\n",
                   x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2, strbuf_text(&text));
        strbuf_free(&text);
    }
    strbuf_add(f->out, "</g>\n");
}

/* What is seen of the stretch that was asked for: bars and arrows outside are left out, those across its edges cut. */
static void timeline_cut(struct timeline *t, double from, double to)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->bars.n; i++) {
        struct timeline_bar bar = t->bars.at[i];
        if (bar.finish <= from || bar.start >= to)
            continue;
        bar.start = fmax(bar.start, from);
        bar.finish = fmin(bar.finish, to);
        t->bars.at[kept++] = bar;
    }
    t->bars.n = kept;
    kept = 0;
    for (size_t i = 0; i < t->arrows.n; i++)
        if (t->arrows.at[i].start >= from && t->arrows.at[i].finish <= to)
            t->arrows.at[kept++] = t->arrows.at[i];
    t->arrows.n = kept;
}

/* The axis: everything, or the stretch that was asked for as far as there is something in it. */
static void timeline_span(struct timeline_frame *f)
{
    struct timeline *t = f->t;
    f->most = isnan(t->end) ? 0 : t->end;
    for (size_t i = 0; i < t->bars.n; i++)
        f->most = fmax(f->most, t->bars.at[i].finish);
    if (t->to > t->from && t->from >= 0 && t->from < f->most) {
        f->from = t->from;
        f->most = fmin(t->to, f->most);
        timeline_cut(t, f->from, f->most);
    }
    f->scale = f->most > f->from ? (f->right - f->left) / (f->most - f->from) : 1;
}

/* The picture owns its texts: whoever makes a timeline hands them over. */
static void free_timeline(struct timeline *t)
{
    free(t->title);
    free(t->subtitle);
    free(t->note);
    array_free(&t->lanes);
    array_free(&t->bars);
    array_free(&t->arrows);
    for (size_t i = 0; i < t->marks.n; i++)
        free(t->marks.at[i].text);
    array_free(&t->marks);
}

void timeline_svg(struct timeline *t, struct strbuf *out)
{
    struct timeline_frame f = {.t = t, .out = out};
    double width = fmin(fmax(t->width > 0 ? t->width : 1200, 320), 20000);
    f.nlanes = t->lanes.n < TIMELINE_LANES ? (uint32_t)t->lanes.n : TIMELINE_LANES;
    f.lane = lane_height(f.nlanes);
    /* room for the longest name of a lane, up to 170 pixels */
    double names = 0;
    for (uint32_t i = 0; i < f.nlanes; i++)
        names = fmax(names, svg_text_width(t->group_name(t->context, t->lanes.at[i]), 11));
    f.left = MARGIN + fmin(names, 170) + 12;
    f.right = width - MARGIN - 8;
    double legend = t->kinds ? kinds_legend_height(t->kinds, width - 2 * MARGIN) : 0;
    double head = t->bare ? 4 : HEAD;
    f.top = head + legend + 16;
    f.lane_y = mem_new_zero(double, f.nlanes + 1);
    timeline_span(&f);
    bool stacked = timeline_stack_wanted(t, f.scale);
    double stack_top = f.top + 14;
    f.top += stacked ? STACK_HEIGHT : 0;
    place_lanes(&f);
    if (t->bars.n) /* qsort of nothing may not be asked for with NULL */
        qsort(t->bars.at, t->bars.n, sizeof *t->bars.at, by_lane);

    uint32_t hidden = (uint32_t)t->lanes.n - f.nlanes;
    double foot = hidden || t->note ? 18 : 0;
    double legend_of_marks = 18. * (marks_shown(t) + (t->marks.n > TIMELINE_MARKS));
    svg_begin(out, width, f.bottom + 50 + foot + legend_of_marks, t->title);
    strbuf_add(out, "<style>.n{font-size:9px}.p{font-size:9px;fill:#fff}</style>\n");
    if (!t->bare) {
        svg_text_within(out, MARGIN, 28, "h", t->title, 17, width - 2 * MARGIN);
        svg_text_within(out, MARGIN, 46, "s", t->subtitle, 12, width - 2 * MARGIN);
    }
    if (t->kinds)
        kinds_legend(t->kinds, out, MARGIN, head - 2, width - 2 * MARGIN);
    if (stacked)
        timeline_stack_draw(t, f.left, f.right, stack_top, f.from, f.most, out);
    draw_lanes(&f);
    if (f.most > 0)
        draw_axis(&f);
    if (t->bars.n <= TIMELINE_BARS) {
        for (size_t i = 0; i < t->bars.n; i++)
            if (t->bars.at[i].lane < f.nlanes)
                draw_bar(&f, &t->bars.at[i]);
        draw_arrows(&f);
    } else {
        draw_runs(&f);
    }
    draw_end(&f);
    if (!t->bars.n)
        svg_text(out, f.left, f.top + 14, "t", "nothing is placed");
    struct strbuf note = {0};
    char number[HUMAN_SIZE];
    if (hidden)
        strbuf_printf(&note, "and %s more lanes that are not shown. ", human_count(number, hidden));
    if (t->note)
        strbuf_add(&note, t->note);
    if (note.n)
        svg_text_within(out, MARGIN, f.bottom + 56, "s", strbuf_text(&note), 12,
                        width - 2 * MARGIN);
    strbuf_free(&note);
    draw_marks(&f, f.bottom + 56 + foot, width - 2 * MARGIN);
    svg_end(out);
    free(f.lane_y);
    free_timeline(t);
}
