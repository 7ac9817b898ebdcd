/* UTF-8: is it, and if not, where does it stop being. */
#pragma once
#include "base/strbuf.h"
#include <stddef.h>
#include <stdint.h>

/* How many leading bytes of `text` are whole, valid UTF-8 characters (no surrogates, no overlong
 * forms): `length` when all of it is. NUL bytes count as valid. Eight ASCII bytes a step. */
size_t utf8_valid(const char *text, size_t length);

/* Bytes (1 to 4) of the valid character at `text`, 0 when it is none. `length` >= 1 are there. */
size_t utf8_character(const char *text, size_t length);

/* Write the code point (not a surrogate, at most 0x10FFFF) and return its bytes, 1 to 4. */
size_t utf8_encode(char *out, uint32_t code);

/* Append what a terminal can show of `text`: control characters (also those of Latin-1, and what
 * turns the writing direction) and bytes that are no UTF-8 become '?'. Names in files are
 * anybody's. */
void utf8_add_visible(struct strbuf *out, const char *text);
