/* Which functions of SQL a question from outside may call. */
#pragma once
#include <stdbool.h>

/* Does the function of SQLite depend on its arguments alone? No clock, no file, no die. */
bool repeatable_function(const char *name);
