/* Questions in SQL from outside: `sigma > 1 and f1 > 0.9`. Private to the room. */
#pragma once
#include "base/strbuf.h"
#include "history/database.h"

/* What is asked for, and the rows of SQL that a condition on it may name:
 *   runs    r of `runs`
 *   tasks   r, an attempt `a`, its task `t`, its kind `k`, its command `c`
 *   files   r, a file `f`, its path `p`, its maker `t` and `k` */
enum where_subject { WHERE_RUNS, WHERE_TASKS, WHERE_FILES };

struct where {
    enum where_subject subject;
    struct strbuf condition; /* on a row of the subject; empty: nothing is asked of it */
    struct strbuf runs; /* tasks and files: on its run r, " AND ...": what cannot hold elsewhere */
    struct strbuf rows; /* likewise on the row, with ?1 its run: cheaper than the condition */
    ARRAY(int64_t) names; /* numbers of the facts that it names */
    bool own, of_run;     /* it names a column of the subject's own, of the run */
    bool other_than_path; /* and one of its own that is not the path of a file */
};

/* The question as a condition in SQL, on the subject that `out` names. ERROR_INPUT: a name that no run has,
 * with the nearest one. */
/* Files whose path is among few, found by the index of paths. */
enum {
    WHERE_RARE = 20000,   /* so many files at most */
    WHERE_PATHS = 1000000 /* and only if there are not more paths than this to look through */
};
bool where_translate(struct history *h, const char *text, enum where_subject subject,
                     struct where *out, struct error *err);
void where_free(struct where *w);
/* Prepare a statement that contains what somebody wrote: it may read our tables, with functions that
 * always give the same answer, and do nothing else; it is stopped when it takes too long. where_end()
 * afterwards, in any case. */
sqlite3_stmt *where_query(struct history *h, struct mem_guard *g, const char *sql,
                          struct error *err);
void where_end(struct history *h, sqlite3_stmt *s, struct mem_guard *g);
