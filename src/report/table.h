/* Aligned tables for terminals.
 *
 *     struct table *t = table_new();
 *     table_column(t, "planner", TABLE_LEFT);
 *     table_column(t, "makespan", TABLE_RIGHT);
 *     table_row(t);
 *     table_cell(t, "heft");
 *     table_printf(t, "%.2f", 80.0);
 *     table_print(t, &out, NULL);
 *     table_free(t);
 *
 * Missing cells of a row are empty, cells past the last column are ignored. Control characters in
 * cells are shown as '?', so that names from files cannot move the cursor. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_style {
    bool colour;       /* terminal escapes: bold header, dim rule */
    bool ascii;        /* rule of '-' instead of '─' */
    bool plain;        /* no rule under the header */
    unsigned indent;   /* blanks before every line */
    unsigned max_cell; /* longer left-aligned cells are cut with an ellipsis; 0: no limit */
    unsigned columns;  /* of the screen, which no line exceeds: see table_rank(); 0: no limit */
};

struct table;

struct table *table_new(void);
void table_free(struct table *t); /* NULL is fine */
void table_column(struct table *t, const char *title,
                  enum table_align align); /* before the first row */
/* Where the screen is too narrow, columns with the largest rank go first, the last of them before the
 * others; those with rank 0 stay, and their text is cut. Of the column that was added last. */
void table_rank(struct table *t, unsigned rank);
void table_row(struct table *t);  /* begins a row */
void table_rule(struct table *t); /* a rule between the rows before and after */
/* Append the next cell of the row; the text is copied. */
void table_cell(struct table *t, const char *text);
void table_printf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_number(struct table *t, double value);  /* human_number */
void table_seconds(struct table *t, double value); /* human_seconds */
void table_bytes(struct table *t, double value);   /* human_bytes */
void table_emphasise(struct table *t);             /* the current row is bold when colour is on */
size_t table_rows(const struct table *t);
/* `style` may be NULL: no colour, UTF-8, a rule. No line has trailing blanks. */
void table_print(const struct table *t, struct strbuf *out, const struct table_style *style);

/* A line "  name               text" of a summary: names stand in a column of 18. For results that
 * are no table. */
void report_line(struct strbuf *out, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
