/* Where the commands of a cluster find its key. */
#pragma once
#include "base/error.h"
#include "base/seal.h"

/* $WEFT_KEY, else $XDG_CONFIG_HOME/weft/key, else ~/.config/weft/key. NULL: there is no home. The
 * caller frees. */
char *key_file_standard(void);
/* The key of a command's --key: a file, "-" for a line on standard input, NULL for the standard
 * file. Reads no byte past the line, so that more may follow it. */
bool key_file_get(const char *given, struct seal_key *key, struct error *err);
/* The next line of standard input, and the first of a file that nobody else may read or write:
 * without its end, NUL-terminated. False: there is none, or it does not fit. */
bool key_file_next_line(char *out, size_t size, struct error *err);
bool key_file_private_line(const char *path, char *out, size_t size, struct error *err);
