/* What a run's attempts and files lie between, so that a question for the few that took an hour does not
 * read the ten million that did not: one row a run, written at its end.
 *
 *     seconds > 3600      is asked only of runs with most_took > 3600e6
 *
 * A run without a row (it goes on, was lost, or an older weft recorded it) is asked in full; search.c adds
 * the row of one that it has read. */
#include "history/spans.h"

#include "base/strbuf.h"

#include <string.h>

const char spans_bad[] = "NOT EXISTS (SELECT 1 FROM spans s WHERE s.run = r.id AND s.bad = 0)";

bool spans_add(struct history *h, int64_t run, struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "INSERT OR REPLACE INTO spans SELECT ?3, a.n, a.bad, f.n, a.t, a.tt, a.c, a.cc, a.m, a.mm,"
        " a.r, a.rr, a.w, a.ww, f.s, f.ss FROM (SELECT count(*) AS n, ifnull(sum(outcome <> 0), 0)"
        " AS bad, min(took) AS t, max(took) AS tt, min(cpu) AS c, max(cpu) AS cc, min(memory) AS m,"
        " max(memory) AS mm, min(read) AS r, max(read) AS rr, min(written) AS w, max(written) AS ww"
        " FROM attempts WHERE id BETWEEN ?1 AND ?2) a, (SELECT count(*) AS n, min(size) AS s,"
        " max(size) AS ss FROM files WHERE id BETWEEN ?1 AND ?2) f",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_row(run, 0));
    sqlite3_bind_int64(s, 2, database_row(run, UINT32_MAX));
    sqlite3_bind_int64(s, 3, run);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}

/* As questions call them, and in which unit the table has them. */
static const struct span_column {
    const char *name, *column;
    const char *scale; /* of a value in a question */
} span_columns[] = {
    {"seconds", "took", " * 1e6"}, {"cpu", "cpu", " * 1e6"},   {"memory", "memory", ""},
    {"read", "read", ""},          {"written", "written", ""}, {"size", "size", ""},
};

/* More than a value is the most, less than it the least; equal to it lies between. What is not known is
 * NULL in both, and no comparison holds of it. Times were rounded to microseconds: a little more room. */
char *spans_condition(const char *column, const char *test, const char *value)
{
    struct strbuf sql = {0};
    const struct span_column *c = span_columns, *end = c + sizeof span_columns / sizeof *c;
    while (c < end && strcmp(c->name, column) != 0)
        c++;
    bool more = *test == '>', less = *test == '<' && test[1] != '>';
    bool equal = strcmp(test, "=") == 0 || strcmp(test, "==") == 0;
    if (c == end || !(more || less || equal))
        return NULL;
    strbuf_add(&sql, "ifnull((SELECT 1");
    if (more || equal)
        strbuf_printf(&sql, " AND s.most_%s >= %s%s - 1", c->column, value, c->scale);
    if (less || equal)
        strbuf_printf(&sql, " AND s.least_%s <= %s%s + 1", c->column, value, c->scale);
    strbuf_add(&sql, " FROM spans s WHERE s.run = r.id), NOT EXISTS"
                     " (SELECT 1 FROM spans s WHERE s.run = r.id))");
    return strbuf_steal(&sql);
}
