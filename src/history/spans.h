/* The least and the most of each figure in a run. Private to the room. */
#pragma once
#include "history/database.h"

/* The row of a run whose attempts and files are all there. */
bool spans_add(struct history *h, int64_t run, struct error *err);
/* A condition on a row r of `runs` that holds wherever `column test value` can hold of an attempt or a file
 * of it, or nobody knows; in SQL, to be freed. `column` as questions call it: "seconds", "size". NULL: nothing
 * can be said. */
char *spans_condition(const char *column, const char *test, const char *value);
/* The same of attempts that did not end well. */
extern const char spans_bad[];
