/* Reading rows back, shared inside the room. Private. */
#pragma once
#include "history/database.h"

/* Columns from `from` on: object, task, path, digest, key, size, made. Owns its path. */
void reader_read_file(sqlite3_stmt *s, int from, struct record_file *f);
/* Columns from `from` on: pid, born, boot, of a run without an end on `host`. True: its process is gone. On another host nobody
 * can tell. */
bool reader_is_lost(sqlite3_stmt *s, int from, const char *host);
