/* Texts for shells. The scripts themselves stand in files of their own (*.sh, embedded at build)
 * and take parameters as positional arguments; these two functions are all that puts values into
 * a command line. */
#pragma once
#include "base/strbuf.h"

/* `text` in single quotes, appended: one word for any shell, whatever is in it. */
void shell_quote(struct strbuf *out, const char *text);
/* A script as one line, appended: lines of comments are left out, the others joined by blanks. For
 * shells that know no line breaks in quotes (csh at the other end of an ssh); the script ends every
 * command with a semicolon. */
void shell_one_line(struct strbuf *out, const char *script);
