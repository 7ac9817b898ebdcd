/* Figures for people: three to four significant digits and a unit. Each writes into `out` (at least
 * HUMAN_SIZE bytes) and returns it, so that a call can stand inside printf's arguments. NaN is "-",
 * infinity "∞". */
#pragma once
#include "base/strbuf.h"
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

enum { HUMAN_SIZE = 32 };

char *human_number(char *out, double value);  /* 12.5, 0.00123, 1234, 12.3k, 4.56M, 7.8e+15 */
char *human_count(char *out, uint64_t value); /* every digit, in groups: 1,234,567 */
char *human_bytes(char *out, double bytes);   /* 512 B, 1.2 GB (powers of 1000) */
char *human_seconds(char *out, double value); /* 3.4 ms, 12.5 s, 3 min 20 s, 2 h 05 min, 3 d 4 h */
char *human_percent(char *out, double share); /* of 1: 0.0312 -> 3.1 % */
char *human_change(char *out, double change); /* of 1: 0.12 -> +12 %, -0.001 -> 0 % */
char *human_when(char *out, double seconds);  /* since 1970: 2026-11-15 12:30:05, local time */

/* Columns that a UTF-8 text takes on a terminal: combining marks take none, East Asian wide ones
 * and emoji two, bytes that are not UTF-8 one each. */
size_t human_width(const char *text);
/* Bytes of the longest prefix that takes at most `columns` columns. */
size_t human_prefix(const char *text, size_t columns);

/* A command to read and to copy, behind so many blanks and a "$", its further lines below the first:
 * whole, but for one that would fill a screen. What steers a terminal is made visible. */
void human_command(struct strbuf *out, int indent, const char *command);
/* What it runs in, a line below the command; nothing for a task that says nothing of it. */
struct workflow;
void human_environment(struct strbuf *out, int indent, const struct workflow *w, uint32_t task);
