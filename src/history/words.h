/* Runs by free words. Private to the room. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>

/* The next word after `at`, which moves behind it, as a pattern of LIKE in quotes. False: there is none. */
bool words_next(const char **at, struct strbuf *pattern);
/* Append a condition: a row r of `runs` has the pattern in what is known of it as a whole: columns and facts,
 * not the text of its workflow. */
void words_of_run(const char *pattern, struct strbuf *sql);
/* Append " AND ..." for each word (at blanks): a row r of `runs` has it, in any case of its letters, in the
 * workflow's name, file, folder, host, planner or what was given; in a name or value of a fact (parameters,
 * labels, values, tags, notes); or in the text of its workflow, where tasks, commands and files are named.
 * NULL: nothing is appended. No attempt is looked at; a workflow's text is read once for all runs of it. */
void words_condition(const char *words, struct strbuf *sql);
