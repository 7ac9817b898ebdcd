/* Reading rows back, shared inside the room. Private. */
#pragma once
#include "history/database.h"

/* Columns from `from` on: object, task, path, digest, key, size, made. Owns its path. */
void reader_read_file(sqlite3_stmt *s, int from, struct record_file *f);
