/* Where the values of a list come from when they do not stand in the workflow's file. Private to the
 * lists of native files.
 *
 * Each function fills rows: first the names of the columns, then cells, row by row. It says itself
 * what is wrong; `at` is the place in the workflow's file, `title` the list's name. */
#pragma once
#include "formats/native/lists.h"

struct list_rows {
    struct lists *lists;
    ARRAY(str_id) columns;
    ARRAY(uint32_t) cells; /* numbers of values, row by row */
    ARRAY(uint32_t) lines; /* of rows, in the file that they come from; empty: in none */
    bool outside;          /* than the workflow's own file */
    bool awaited;          /* `after: TASK`: a task makes what it is read from */
    const char *given;     /* the text of -p that it is read from; NULL: none */
    const char *source; /* that a list is read from, in place of what the file says; NULL: that */
};

void list_column(struct list_rows *rows, const char *name, size_t length);
/* False: there are too many. */
bool list_value(struct list_rows *rows, const char *text, size_t length);
bool list_too_many(const struct native *n, yaml_ref at, const char *title); /* always false */
void list_rows_free(struct list_rows *rows);

/* The files that are there and match a pattern ("reads/{s}_{lane}.fq"): what stands
 * for its variables, sorted. */
bool list_from_files(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *pattern, const char *folder);
/* The variables of such a pattern become the columns. False: it has none, which is said. */
bool list_pattern_columns(struct list_rows *rows, const struct native *n, yaml_ref at,
                          const char *title, const char *pattern);
/* A value a line; empty lines are passed over. */
bool list_from_lines(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *file, const char *folder);
/* A table with a header, separated by tabs, or by commas if the header has no tab; "quoted" cells
 * may hold the separator. */
bool list_from_table(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *file, const char *folder);
