/* SQLite over the relations: one private database in memory without tables of its own, three
 * read-only virtual tables, and nothing allowed but SELECT. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "query/relations.h"

struct sql;           /* the database */
struct sql_statement; /* a prepared query with one column */

struct sql *sql_open(struct relations *r, struct error *err);
/* An evaluation that runs at this time of the clock is stopped (INFINITY, at first: after about a
 * minute of its own). */
void sql_set_deadline(struct sql *s, double deadline);
void sql_close(struct sql *s); /* after all its statements; NULL is fine */

/* NULL with SQLite's message in `message` (at least 256 bytes) and the byte of `text` at which it
 * stands in *offset (-1: unknown). */
struct sql_statement *sql_prepare(struct sql *s, const char *text, char *message, size_t size,
                                  int *offset);
void sql_finish(struct sql_statement *s); /* NULL is fine */

struct values {
    ARRAY(struct value) list;
    ARRAY(char *) texts; /* copies that the list points into */
};
void values_clear(struct values *v);
void values_free(struct values *v);

/* All rows of the query on the state laid out now, added to `out`. */
bool sql_rows(struct sql_statement *s, struct values *out, struct error *err);
