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
