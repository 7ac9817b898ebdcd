/* Questions in SQL from outside: `sigma > 1 and f1 > 0.9`. Private to the room. */
#pragma once
#include "base/strbuf.h"
#include "history/database.h"

struct where {
    struct strbuf condition; /* on a row r of `runs` */
    ARRAY(int64_t) names;    /* numbers of the facts that it names */
};

/* The question as a condition in SQL. ERROR_INPUT: a name that no run has, with the nearest one. */
bool where_translate(struct history *h, const char *text, struct where *out, struct error *err);
void where_free(struct where *w);
/* Prepare a statement that contains what somebody wrote: it may read our tables, with functions that
 * always give the same answer, and do nothing else; it is stopped when it takes too long. where_end()
 * afterwards, in any case. */
sqlite3_stmt *where_query(struct history *h, struct mem_guard *g, const char *sql,
                          struct error *err);
void where_end(struct history *h, sqlite3_stmt *s, struct mem_guard *g);
