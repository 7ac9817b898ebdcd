/* A Gantt chart for the terminal: a line a core, a character cell a stretch of time, shaded by how
 * busy it is. O(placements x cells that they cover). */
#include "report/gantt.h"
#include "report/gantt_kinds.h"
#include "report/human.h"
#include "report/kinds.h"
#include "report/svg.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gantt_span {
    double start, finish;
    uint32_t node, core, task;
    uint8_t colour;
};

typedef ARRAY(struct gantt_span) span_list;

/* Spans of a lane side by side, in order of time. */
static int gantt_text_by_lane(const void *a, const void *b)
{
    const struct gantt_span *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* A task of many cores is drawn on each, up to 64: a terminal has no more lines. */
static void static_spans(const struct plan *plan, const struct workflow *w,
                         const struct platform *p, const struct kinds *kinds, span_list *spans)
{
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *pl = &plan->placements.at[i];
        if (!gantt_usable(pl, w, p))
            continue;
        uint32_t cores = gantt_cores(pl, w, p);
        for (uint32_t c = 0; c < cores && c < 64; c++)
            array_push(spans, (struct gantt_span){pl->start, pl->finish, pl->node, pl->core + c,
                                                  pl->task, kinds->colour[pl->task]});
    }
}

/* A part is named after its root. */
static void part_spans(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       span_list *spans)
{
    size_t n = plan->parts.n;
    double *start = mem_new(double, n + 1), *arrived = mem_new(double, n + 1),
           *finish = mem_new(double, n + 1);
    gantt_part_times(plan, w, p, start, arrived, finish);
    for (size_t i = 0; i < n; i++)
        if (plan->parts.at[i].node < p->nnodes && plan->parts.at[i].root < w->ntasks)
            array_push(spans,
                       (struct gantt_span){arrived[i], finish[i], plan->parts.at[i].node, 0,
                                           plan->parts.at[i].root, (uint8_t)(i % SVG_COLOURS)});
    free(start);
    free(arrived);
    free(finish);
}

/* One character cell of a lane. */
struct gantt_cell {
    double busy;      /* share of the cell's time */
    double most;      /* of the one that has most of it */
    uint32_t owner;   /* its index in spans + 1 */
    const char *text; /* overwrites the block; `bytes` of it */
    uint8_t bytes;
};

/* Shares of one lane's cells: a cell belongs to the task that has most of it. */
static void fill_cells(struct gantt_cell *cells, unsigned width, double per_cell,
                       const struct gantt_span *spans, size_t first, size_t end)
{
    memset(cells, 0, width * sizeof *cells);
    for (size_t i = first; i < end; i++) {
        double from = spans[i].start / per_cell, to = spans[i].finish / per_cell;
        unsigned last = (unsigned)fmin(ceil(to), width);
        for (unsigned c = (unsigned)fmin(from, width - 1); c < last; c++) {
            double share = fmin(to, c + 1) - fmax(from, c);
            cells[c].busy += share;
            if (share > cells[c].most) {
                cells[c].most = share;
                cells[c].owner = (uint32_t)i + 1;
            }
        }
    }
}

/* Task names into the cells they own, where they fit with a block on the left and one on the right.
 */
static void gantt_text_write_names(struct gantt_cell *cells, unsigned width,
                                   const struct gantt_span *spans, const struct workflow *w)
{
    for (unsigned c = 0; c < width;) {
        unsigned end = c;
        while (end < width && cells[end].owner == cells[c].owner && cells[end].busy > 0)
            end++;
        if (end == c) {
            c++;
            continue;
        }
        const char *name = workflow_task_name(w, spans[cells[c].owner - 1].task);
        size_t columns = human_width(name);
        bool plain =
            columns == strlen(name); /* ASCII, or nearly: others are not written into cells */
        for (const char *at = name; *at; at++)
            plain = plain && (unsigned char)*at > 0x20 && (unsigned char)*at < 0x7F;
        if (plain && columns + 2 <= end - c) {
            unsigned at = c + 1 + (end - c - 2 - (unsigned)columns) / 2;
            for (size_t k = 0; k < columns; k++) {
                cells[at + k].text = name + k;
                cells[at + k].bytes = 1;
            }
        }
        c = end;
    }
}

static void print_cells(struct strbuf *out, const struct gantt_cell *cells, unsigned width,
                        const struct gantt_span *spans, const struct gantt_text_options *o)
{
    /* shades for partly busy cells; a half block where another task follows at once */
    static const char *const blocks[] = {" ", "░", "▒", "▓", "█"}, *const ascii[] = {" ", ".", ":",
                                                                                     "=", "#"};
    /* the nearest of the 16 colours that every terminal has */
    static const uint8_t terminal[SVG_COLOURS + 1] = {4, 1, 3, 2, 5, 6, 12, 11, 7};
    int colour = -1;
    unsigned used = width;
    while (used && cells[used - 1].busy < 0.02)
        used--;
    for (unsigned c = 0; c < used; c++) {
        const struct gantt_cell *cell = &cells[c];
        int want = o->colour && cell->owner ? terminal[spans[cell->owner - 1].colour] : -1;
        if (want != colour) {
            if (want < 0)
                strbuf_add(out, "\033[0m");
            else
                strbuf_printf(out, "\033[38;5;%dm", want);
            colour = want;
        }
        bool seam = c + 1 < used && cell->owner != cells[c + 1].owner && cells[c + 1].busy > 0.5;
        /* shades as far apart as four steps allow; below 2 % a cell counts as empty */
        int level = cell->busy > 0.87   ? 4
                    : cell->busy > 0.6  ? 3
                    : cell->busy > 0.35 ? 2
                    : cell->busy > 0.02 ? 1
                                        : 0;
        if (cell->text)
            strbuf_add_bytes(out, cell->text, cell->bytes);
        else if (level >= 3 && seam)
            strbuf_add(out, o->ascii ? "|" : "▌");
        else
            strbuf_add(out, (o->ascii ? ascii : blocks)[level]);
    }
    if (colour >= 0)
        strbuf_add(out, "\033[0m");
    strbuf_add(out, "\n");
}

/* A number is left out where it would touch the one before. */
static void print_axis(struct strbuf *out, size_t names, unsigned width, double end,
                       const struct gantt_text_options *o)
{
    const char *unit;
    double seconds = svg_time_unit(end, &unit), step = svg_step(end / seconds, width / 14 + 1);
    char *line = mem_new(char, width + 64), *numbers = mem_new(char, width + 64);
    memset(line, '-', width);
    memset(numbers, ' ', width + 40);
    size_t written = 0;
    for (unsigned i = 0; i * step * seconds <= end * (1 + 1e-9) && i < 100; i++) {
        size_t at = (size_t)fmin(i * step * seconds / end * width, width - 1);
        line[at] = '+';
        char text[HUMAN_SIZE];
        size_t len = strlen(human_number(text, i * step));
        if (at < written || at + len > width + 4)
            continue;
        memcpy(numbers + at, text, len);
        written = at + len + 1;
    }
    strbuf_printf(out, "%*s ", (int)names, "");
    for (unsigned c = 0; c < width; c++)
        strbuf_add(out, o->ascii ? (line[c] == '+' ? "+" : "-") : (line[c] == '+' ? "┴" : "─"));
    strbuf_printf(out, "\n%*s ", (int)names, "");
    strbuf_add_bytes(out, numbers, written ? written : 0);
    strbuf_printf(out, "%s\n", o->ascii && strcmp(unit, "µs") == 0 ? "us" : unit);
    free(line);
    free(numbers);
}

static void print_chart(const struct workflow *w, const struct platform *p, span_list *spans,
                        struct strbuf *out, const struct gantt_text_options *o)
{
    qsort(spans->at, spans->n, sizeof *spans->at, gantt_text_by_lane);
    double end = 0;
    size_t names = 4;
    for (size_t i = 0; i < spans->n; i++) {
        end = fmax(end, spans->at[i].finish);
        names = fmax(names, human_width(platform_node_name(p, spans->at[i].node)));
    }
    /* the chart needs the columns more than long node names do */
    names = names > 20 ? 20 : names;
    unsigned columns = o->columns ? o->columns : 80, most = o->max_rows ? o->max_rows : 24;
    /* a terminal that is too narrow gets ten cells and wraps */
    unsigned width = columns > names + 12 ? columns - (unsigned)names - 2 : 10, rows = 0;
    if (end <= 0)
        end = 1;
    struct gantt_cell *cells = mem_new(struct gantt_cell, width);
    uint32_t hidden = 0, last_node = NONE;
    for (size_t i = 0; i < spans->n;) {
        size_t stop = i;
        /* one lane: spans are sorted by node and core */
        while (stop < spans->n && spans->at[stop].node == spans->at[i].node &&
               spans->at[stop].core == spans->at[i].core)
            stop++;
        /* further lanes are counted, so that nobody takes the part for the whole */
        if (rows++ >= most) {
            hidden++;
        } else {
            const char *name =
                spans->at[i].node == last_node ? "" : platform_node_name(p, spans->at[i].node);
            size_t bytes = human_prefix(name, names);
            char *shown = mem_copy_bytes(name, bytes);
            for (char *at = shown; *at; at++)
                if ((unsigned char)*at < 0x20 || *at == 0x7F)
                    *at = '?';
            strbuf_add(out, shown);
            for (size_t k = human_width(shown); k < names; k++)
                strbuf_add_char(out, ' ');
            free(shown);
            strbuf_add_char(out, ' ');
            fill_cells(cells, width, end / width, spans->at, i, stop);
            gantt_text_write_names(cells, width, spans->at, w);
            print_cells(out, cells, width, spans->at, o);
            last_node = spans->at[i].node;
        }
        i = stop;
    }
    free(cells);
    if (hidden)
        strbuf_printf(out, "%*s ... and %u more %s\n", (int)names, "", hidden,
                      hidden == 1 ? "lane" : "lanes");
    print_axis(out, names, width, end, o);
}

void report_gantt_text(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct strbuf *out, const struct gantt_text_options *options)
{
    static const struct gantt_text_options standard = {0};
    if (!options)
        options = &standard;
    char text[HUMAN_SIZE];
    /* orders and streams have no time axis to draw: a line says what they are */
    if (plan->kind == PLAN_ORDER) {
        strbuf_printf(out, "an order of %s task%s", human_count(text, plan->order.n),
                      plural(plan->order.n));
        if (plan->verdict)
            strbuf_printf(out, " (%s)", plan->verdict);
        strbuf_add(out, "\n");
        return;
    }
    if (plan->kind == PLAN_STREAM) {
        strbuf_printf(out, "%zu cluster%s for a stream", plan->clusters.n,
                      plural(plan->clusters.n));
        if (plan_objective(plan, "throughput") > 0)
            strbuf_printf(out, ", %s items a second",
                          human_number(text, plan_objective(plan, "throughput")));
        strbuf_add(out, "\n");
        return;
    }
    span_list spans = {0};
    struct kinds kinds;
    kinds_of(&kinds, w);
    if (plan->kind == PLAN_STATIC)
        static_spans(plan, w, p, &kinds, &spans);
    else
        part_spans(plan, w, p, &spans);
    if (spans.n)
        print_chart(w, p, &spans, out, options);
    else
        strbuf_add(out, "nothing is placed\n");
    array_free(&spans);
    kinds_free(&kinds);
}
