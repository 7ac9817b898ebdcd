/* Tables of text: cells first, widths when printing. Cells are made printable when they come in, so
 * no name from a file can move the cursor. */
#include "report/table.h"
#include "report/human.h"
#include "base/array.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct column {
    char *title;
    enum table_align align;
    unsigned rank; /* table_rank() */
};

/* A row or a rule between rows. */
struct table_line {
    size_t first, count; /* cells */
    bool rule, bold;
};

struct table {
    ARRAY(struct column) columns;
    ARRAY(struct table_line) rows;
    ARRAY(char *) cells;
};

struct table *table_new(void)
{
    return mem_new_zero(struct table, 1);
}

void table_free(struct table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->columns.n; i++)
        free(t->columns.at[i].title);
    for (size_t i = 0; i < t->cells.n; i++)
        free(t->cells.at[i]);
    array_free(&t->columns);
    array_free(&t->rows);
    array_free(&t->cells);
    free(t);
}

static char *table_printable(const char *text)
{
    struct strbuf out = {0};
    strbuf_add(&out, "");
    utf8_add_visible(&out, text);
    return strbuf_steal(&out);
}

void table_column(struct table *t, const char *title, enum table_align align)
{
    array_push(&t->columns, (struct column){table_printable(title), align, 0});
}

void table_rank(struct table *t, unsigned rank)
{
    if (t->columns.n)
        array_last(&t->columns).rank = rank;
}

void table_row(struct table *t)
{
    array_push(&t->rows, (struct table_line){.first = t->cells.n});
}

void table_rule(struct table *t)
{
    array_push(&t->rows, (struct table_line){.first = t->cells.n, .rule = true});
}

/* Cells beyond the last column are ignored: a row cannot break the table. */
void table_cell(struct table *t, const char *text)
{
    struct table_line *row = t->rows.n ? &array_last(&t->rows) : NULL;
    if (!row || row->rule || row->count == t->columns.n)
        return;
    array_push(&t->cells, table_printable(text));
    row->count++;
}

/* Out of memory: the cell is left out. */
void table_printf(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *text = NULL;
    if (vasprintf(&text, fmt, args) >= 0)
        table_cell(t, text);
    va_end(args);
    free(text);
}

void table_number(struct table *t, double value)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_number(text, value));
}

void table_seconds(struct table *t, double value)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_seconds(text, value));
}

void table_bytes(struct table *t, double value)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_bytes(text, value));
}

void table_emphasise(struct table *t)
{
    if (t->rows.n)
        array_last(&t->rows).bold = true;
}

/* Rules do not count. */
size_t table_rows(const struct table *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->rows.n; i++)
        count += !t->rows.at[i].rule;
    return count;
}

/* ---- printing ---- */

static void add_blanks(struct strbuf *out, size_t count)
{
    while (count--)
        strbuf_add_char(out, ' ');
}

/* How wide each column is on the screen; TABLE_HIDDEN: there is no room for it. */
enum { TABLE_GAP = 2, TABLE_LEAST_TEXT = 6 };
static const size_t TABLE_HIDDEN = SIZE_MAX;

/* Only text is cut (left-aligned cells); a number that is cut would be another number. */
static size_t natural_width(const char *text, enum table_align align,
                            const struct table_style *style)
{
    size_t width = human_width(text);
    bool cut = align == TABLE_LEFT && style->max_cell && width > style->max_cell;
    return cut ? style->max_cell : width;
}

/* Blanks, columns that are shown, and the gaps between them. */
static size_t table_width(const struct table *t, const size_t *width, unsigned indent)
{
    size_t sum = indent, shown = 0;
    for (size_t c = 0; c < t->columns.n; c++)
        if (width[c] != TABLE_HIDDEN) {
            sum += width[c];
            shown++;
        }
    return sum + (shown ? TABLE_GAP * (shown - 1) : 0);
}

/* The column that goes next: of the largest rank, the last; its number, or that of all: none goes. */
static size_t table_next_to_go(const struct table *t, const size_t *width)
{
    size_t next = t->columns.n;
    for (size_t c = 0; c < t->columns.n; c++)
        if (width[c] != TABLE_HIDDEN && t->columns.at[c].rank &&
            (next == t->columns.n || t->columns.at[c].rank >= t->columns.at[next].rank))
            next = c;
    return next;
}

/* Whole columns go while there are some to go; then the widest text is cut, down to a few letters. */
static void table_fit(const struct table *t, size_t *width, const struct table_style *style)
{
    while (style->columns && table_width(t, width, style->indent) > style->columns) {
        size_t go = table_next_to_go(t, width), widest = t->columns.n;
        if (go < t->columns.n) {
            width[go] = TABLE_HIDDEN;
            continue;
        }
        for (size_t c = 0; c < t->columns.n; c++)
            if (width[c] != TABLE_HIDDEN && t->columns.at[c].align == TABLE_LEFT &&
                width[c] > TABLE_LEAST_TEXT && (widest == t->columns.n || width[c] > width[widest]))
                widest = c;
        if (widest == t->columns.n)
            return; /* a screen for which nothing more can be done */
        size_t over = table_width(t, width, style->indent) - style->columns;
        size_t least = TABLE_LEAST_TEXT;
        for (size_t c = 0; c < t->columns.n;
             c++) /* not below the next widest: they share the loss */
            if (c != widest && width[c] != TABLE_HIDDEN && t->columns.at[c].align == TABLE_LEFT &&
                width[c] > least && width[c] < width[widest])
                least = width[c];
        size_t give = width[widest] - least;
        width[widest] -= give < over && give ? give : over < give ? over : 1;
    }
}

/* As wide as their widest cell, then as the screen allows. The caller frees. */
static size_t *table_widths(const struct table *t, const struct table_style *style)
{
    size_t *width = mem_new_zero(size_t, t->columns.n + 1);
    for (size_t c = 0; c < t->columns.n; c++)
        width[c] = natural_width(t->columns.at[c].title, t->columns.at[c].align, style);
    for (size_t r = 0; r < t->rows.n; r++)
        for (size_t c = 0; c < t->rows.at[r].count; c++) {
            size_t w =
                natural_width(t->cells.at[t->rows.at[r].first + c], t->columns.at[c].align, style);
            width[c] = w > width[c] ? w : width[c];
        }
    table_fit(t, width, style);
    return width;
}

/* The last cell is not padded: no blanks at the ends of lines. */
static void table_add_cell(struct strbuf *out, const char *text, enum table_align align,
                           size_t width, bool last, const struct table_style *style)
{
    size_t full = human_width(text), shown = full < width ? full : width;
    if (align == TABLE_RIGHT)
        add_blanks(out, width - shown);
    if (shown < full) {
        size_t bytes = human_prefix(text, shown - 1);
        char *kept = mem_copy_bytes(text, bytes);
        size_t columns = human_width(kept); /* a wide character that does not fit leaves a column */
        strbuf_add(out, kept);
        free(kept);
        strbuf_add(out, style->ascii ? "." : "…");
        add_blanks(out, shown - 1 - columns);
    } else {
        strbuf_add(out, text);
    }
    if (align == TABLE_LEFT && !last)
        add_blanks(out, width - shown);
}

/* A line under the titles, or between rows, as wide as the columns. */
static void add_rule(struct strbuf *out, const size_t *width, size_t columns,
                     const struct table_style *style)
{
    bool first = true;
    add_blanks(out, style->indent);
    if (style->colour)
        strbuf_add(out, "\033[2m");
    for (size_t c = 0; c < columns; c++) {
        if (width[c] == TABLE_HIDDEN)
            continue;
        if (!first)
            add_blanks(out, TABLE_GAP);
        first = false;
        for (size_t i = 0; i < width[c]; i++)
            strbuf_add(out, style->ascii ? "-" : "─");
    }
    strbuf_add(out, style->colour ? "\033[0m\n" : "\n");
}

/* A row, or (NULL) the titles. */
static void table_add_line(const struct table *t, const struct table_line *row, const size_t *width,
                           struct strbuf *out, const struct table_style *style)
{
    size_t count = row ? row->count : t->columns.n;
    bool bold = style->colour && (!row || row->bold), first = true;
    struct strbuf line = {0};
    for (size_t c = 0; c < count; c++) {
        if (width[c] == TABLE_HIDDEN)
            continue;
        if (!first)
            add_blanks(&line, TABLE_GAP);
        first = false;
        table_add_cell(&line, row ? t->cells.at[row->first + c] : t->columns.at[c].title,
                       t->columns.at[c].align, width[c], c + 1 == count, style);
    }
    while (line.n && line.at[line.n - 1] == ' ')
        line.at[--line.n] = 0;
    if (line.n)
        add_blanks(out, style->indent);
    if (bold)
        strbuf_add(out, "\033[1m");
    strbuf_add(out, strbuf_text(&line));
    strbuf_add(out, bold ? "\033[0m\n" : "\n");
    strbuf_free(&line);
}

/* Two passes: widths, then lines. A missing cell at the end of a row is empty. */
void table_print(const struct table *t, struct strbuf *out, const struct table_style *style)
{
    static const struct table_style standard = {0};
    if (!style)
        style = &standard;
    size_t *width = table_widths(t, style);
    bool titles = false;
    for (size_t c = 0; c < t->columns.n; c++)
        titles = titles || *t->columns.at[c].title;
    size_t ruled = t->columns.n; /* a last column without a word has no rule either */
    while (ruled && !width[ruled - 1])
        ruled--;
    if (titles)
        table_add_line(t, NULL, width, out, style);
    if (titles && !style->plain)
        add_rule(out, width, ruled, style);
    for (size_t r = 0; r < t->rows.n; r++)
        if (t->rows.at[r].rule)
            add_rule(out, width, ruled, style);
        else
            table_add_line(t, &t->rows.at[r], width, out, style);
    free(width);
}

void report_line(struct strbuf *out, const char *name, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) >= 0)
        strbuf_printf(out, "  %-18s %s\n", name, text);
    va_end(args);
    free(text);
}
