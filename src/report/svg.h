/* What the pictures share: a document with plain styling on white (readable on light and dark pages
 * alike), escaping of everything that comes from files, colours that colour-blind people can tell
 * apart, and round numbers for axes. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum { SVG_COLOURS = 8, SVG_FAILED = 9 }; /* fills before the grey one (8) for "other"; failures */

/* `title` is what a browser shows for the whole picture. Closed by svg_end(). */
void svg_begin(struct strbuf *out, double width, double height, const char *title);
void svg_end(struct strbuf *out);

/* Text for element content and attributes: markup escaped, control characters dropped, bytes that
 * are not UTF-8 as U+FFFD. */
void svg_escape(struct strbuf *out, const char *text);
/* A coordinate with at most two decimals: "12.5", "-0.25", "7". */
void svg_number(struct strbuf *out, double value);
/* printf for markup in which %s is escaped. Only %s, %c, %d, %u and %f (written by svg_number) are
 * known. */
void svg_printf(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line of text; `class` is one of the sheet's: "h" title, "s" subtitle, "l" label, "t" tick; a
 * second class adds "m" (centred) or "e" (ends at x): "l m". */
void svg_text(struct strbuf *out, double x, double y, const char *class, const char *text);
/* The same, shortened with an ellipsis to `room` pixels at `size` pixels of font; nothing when not
 * even two characters fit. */
bool svg_text_within(struct strbuf *out, double x, double y, const char *class, const char *text,
                     double size, double room);
/* Adds a text of at most so many columns: a longer one ends after a whole word, with an ellipsis. */
void svg_shorten(struct strbuf *out, const char *text, size_t columns);
/* Pixels that a text takes in a usual sans-serif font; an estimate on the safe side. */
double svg_text_width(const char *text, double size);

/* Light fills for dark text: 0 .. SVG_COLOURS - 1; SVG_FAILED a red one; any other the grey. */
const char *svg_fill(uint32_t colour);
/* Dark enough for lines on white; repeats after 7. */
const char *svg_stroke(uint32_t colour);

/* A round step (1, 2, 5 x 10^k) that divides `range` into about `parts`. */
double svg_step(double range, unsigned parts);

/* Seconds for an axis up to `most`: how many make the unit, and its name ("ms", "s", "min", "h",
 * "d"). */
double svg_time_unit(double most, const char **name);

/* One entry of a legend at (x, y); returns the x after it. */
double svg_legend_entry(struct strbuf *out, double x, double y, const char *fill, const char *text);
