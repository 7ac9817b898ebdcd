/* The SQLite side of the history: opening, the tables and their versions, errors. Private. */
#pragma once
#include "base/mem.h"
#include "history/history.h"
#include <sqlite3.h>

#define DATABASE_VERSION 10
#define DATABASE_WAIT 5000 /* milliseconds that a locked database is waited for */

struct recorder;
struct history_board; /* board.c */

/* Statements that one question asks thousands of times: prepared once, as that is most of their time. */
enum database_kept { KEPT_FILE_AT, KEPT_HOLDERS, KEPT_NUMBER, DATABASE_KEPT };

struct history {
    sqlite3 *db;
    char *path;
    struct recorder *recorder; /* NULL: no run is being recorded */
    bool busy;                 /* the last error was a lock that another program holds */
    double deadline;           /* of a question from outside, on the clock (where.c) */
    sqlite3_stmt *kept[DATABASE_KEPT];
    struct history_board *board; /* what a run tells of itself, until it is written */
};

/* Rows of a run are numbered run * 2^32 + n, so that they lie together and need no index. */
static inline int64_t database_row(int64_t owner, uint32_t n)
{
    return (int64_t)((uint64_t)owner << 32 | n);
}

/* 32 bits of a path under a folder; part of the file, as the column paths.hash. */
int64_t database_path_hash(int64_t folder, const char *path);

/* Bring the tables from the version they have (0: an empty file) to `to`. */
bool database_migrate(struct history *h, int to, struct error *err);

bool database_exec(struct history *h, const char *sql, struct error *err);
/* NULL: an error. The caller calls sqlite3_finalize(). */
sqlite3_stmt *database_prepare(struct history *h, const char *sql, struct error *err);
void database_finalize(void *statement); /* a guard's `clean` */
/* The same for statements between whose rows memory is allocated: `g` finalizes it when that fails.
 * database_close_query() ends both; a statement that is NULL is fine. */
sqlite3_stmt *database_query(struct history *h, struct mem_guard *g, const char *sql,
                             struct error *err);
void database_close_query(sqlite3_stmt *s, struct mem_guard *g);
/* The same for one that stays prepared until the history is closed. `sql` is the same every time. */
sqlite3_stmt *database_kept(struct history *h, struct mem_guard *g, enum database_kept which,
                            const char *sql, struct error *err);
void database_end_kept(sqlite3_stmt *s, struct mem_guard *g);
void database_close(struct history *h); /* the connection and what is kept on it */
/* A guard's `clean`: ends the transaction that is open on the sqlite3 `db`, if one is. */
void database_roll_back(void *db);
/* The one number that a statement answers with. */
bool database_integer(struct history *h, const char *sql, int64_t *out, struct error *err);
/* One step of a statement that returns nothing, then ready for the next. */
bool database_run(struct history *h, sqlite3_stmt *s, struct error *err);
/* One step: 1 a row, 0 the end, -1 an error. */
int database_step(struct history *h, sqlite3_stmt *s, struct error *err);
/* Of a row: a time, stored in whole microseconds. */
double database_seconds(sqlite3_stmt *s, int column);
/* What SQLite says about the last call, as an error that names the database and the remedy. */
bool database_error(struct history *h, struct error *err);

/* NULL binds NULL; the text must stay until the statement is done. */
void database_bind_text(sqlite3_stmt *s, int at, const char *text);
void database_bind_number(sqlite3_stmt *s, int at, double value); /* NaN binds NULL */
char *database_text(sqlite3_stmt *s, int column);                 /* a copy; NULL stays NULL */
double database_number(sqlite3_stmt *s, int column);              /* NULL is NAN */
