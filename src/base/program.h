/* Programs of this machine: where one is, and whether one succeeds. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* The first file of that name in PATH that may be executed, as execvp() would find it. False: there
 * is none, or its path does not fit. */
bool program_find(const char *name, char *path, size_t size);

/* Run it (looked for in PATH) and take what it writes: `out` and `said` (its errors) are replaced, either
 * may be NULL. True: it exits with 0. Waits for it. */
struct strbuf;
bool program_output(const char *const *words, struct strbuf *out, struct strbuf *said);

/* Run it, with nothing to read and its output thrown away; true: it exits with 0. Waits for it. */
bool program_succeeds(const char *const *words);
