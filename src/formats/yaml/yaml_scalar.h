/* The text of a YAML scalar, from the source.
 *
 * Undone here and not by libfyaml, whose version 0.7.12 goes wrong on two doubled quotes in a row,
 * on an escaped backslash before an escaped line break, on folded blocks with indented lines, and
 * at the end of the file: the text comes out cut, or with bytes of memory that was never written.
 * libfyaml still says where scalars are and of which style. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>

/* All append to `out`; `end` points to the NUL after the source. */

/* `at` is after the opening quote (' or "): up to the closing one, with '' or escapes undone and
 * lines folded. False: no closing quote, or an escape that is none. */
bool yaml_unquote(const char *at, const char *end, char quote, struct strbuf *out);
/* A plain scalar from `at` to `stop`: lines folded. */
void yaml_unfold(const char *at, const char *stop, struct strbuf *out);
/* A block scalar whose first line of content (or a blank one before it) begins at `at`. False: the
 * line above is not its head, or the head says an indentation, which counts from something not
 * known here. */
bool yaml_unblock(const char *source, const char *at, const char *end, struct strbuf *out);
