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
    array_push(&t->columns, (struct column){table_printable(title), align});
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

/* Only text is cut (left-aligned cells); a number that is cut would be another number. */
static size_t shown_width(const char *text, enum table_align align, const struct table_style *style)
{
    size_t width = human_width(text);
    bool cut = align == TABLE_LEFT && style->max_cell && width > style->max_cell;
    return cut ? style->max_cell : width;
}

static void add_blanks(struct strbuf *out, size_t count)
{
    while (count--)
        strbuf_add_char(out, ' ');
}

/* The last cell is not padded: no blanks at the ends of lines. */
static void table_add_cell(struct strbuf *out, const char *text, enum table_align align,
                           size_t width, bool last, const struct table_style *style)
{
    size_t shown = shown_width(text, align, style), full = human_width(text);
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
    add_blanks(out, style->indent);
    if (style->colour)
        strbuf_add(out, "\033[2m");
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < width[c]; i++)
            strbuf_add(out, style->ascii ? "-" : "─");
        if (c + 1 < columns)
            strbuf_add(out, "  ");
    }
    strbuf_add(out, style->colour ? "\033[0m\n" : "\n");
}

/* Two passes: widths, then lines. A missing cell at the end of a row is empty. */
void table_print(const struct table *t, struct strbuf *out, const struct table_style *style)
{
    static const struct table_style standard = {0};
    if (!style)
        style = &standard;
    size_t columns = t->columns.n;
    size_t *width = mem_new_zero(size_t, columns + 1);
    bool titles = false;
    for (size_t c = 0; c < columns; c++) {
        width[c] = shown_width(t->columns.at[c].title, t->columns.at[c].align, style);
        titles = titles || width[c];
    }
    for (size_t r = 0; r < t->rows.n; r++)
        for (size_t c = 0; c < t->rows.at[r].count; c++) {
            size_t w =
                shown_width(t->cells.at[t->rows.at[r].first + c], t->columns.at[c].align, style);
            width[c] = w > width[c] ? w : width[c];
        }
    size_t ruled = columns; /* a last column without a word has no rule either */
    while (ruled && !width[ruled - 1])
        ruled--;
    for (size_t r = titles ? 0 : 1; r <= t->rows.n; r++) { /* row 0: the titles */
        const struct table_line *row = r ? &t->rows.at[r - 1] : NULL;
        if (row && row->rule) {
            add_rule(out, width, ruled, style);
            continue;
        }
        size_t count = row ? row->count : columns;
        bool bold = style->colour && (!row || row->bold);
        struct strbuf line = {0};
        for (size_t c = 0; c < count; c++) {
            const char *text = row ? t->cells.at[row->first + c] : t->columns.at[c].title;
            if (c)
                strbuf_add(&line, "  ");
            table_add_cell(&line, text, t->columns.at[c].align, width[c], c + 1 == count, style);
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
        if (!row && !style->plain)
            add_rule(out, width, ruled, style);
    }
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
