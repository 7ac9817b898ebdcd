/* Reading rows back, shared inside the room. Private. */
#pragma once
#include "history/database.h"

/* Rows f of files with the content ?4: the index has six bytes of each digest, the rest is compared. */
#define READER_OF_DIGEST                                                                           \
    " FROM files f INDEXED BY files_by_digest WHERE substr(f.digest, 1, 6) = substr(?4, 1, 6) AND" \
    " f.digest = ?4"

/* Columns from `from` on: object, task, path, digest, key, size, made. Owns its path. */
void reader_read_file(sqlite3_stmt *s, int from, struct record_file *f);
/* Columns from the first on: task, start, took, cpu, memory, read, written, outcome, status, attempt, node, lane. */
void reader_read_attempt(sqlite3_stmt *s, struct trace_event *out);
/* Columns from `from` on: pid, born, boot, of a run without an end on `host`. True: its process is gone. On another host nobody
 * can tell. */
bool reader_is_lost(sqlite3_stmt *s, int from, const char *host);
