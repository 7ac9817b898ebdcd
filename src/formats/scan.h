/* Reading text by lines of blank-separated words and numbers: what the numeric formats (STG, trees,
 * HyperDAG, Matrix Market, TGFF, daggen) share. Nothing is copied; a word points into the text. The
 * text must be followed by a NUL. */
#pragma once
#include "base/error.h"
#include "formats/format.h"
#include <stdint.h>

struct scan {
    const char *file;
    const char *at;  /* the next unread byte of the current line */
    const char *end; /* of the text */
    const char *next_line;
    size_t line; /* number of the current line, from 1; 0 before the first */
    const char
        *comment; /* a line whose first word starts with one of these is skipped; "" for none */
};

void scan_start(struct scan *s, const struct format_source *source, const char *comment);
/* Go to the next line, whatever is on it; false at the end of the text. */
bool scan_any_line(struct scan *s);
/* Go to the next line that is neither blank nor a comment; false at the end of the text. */
bool scan_line(struct scan *s);
/* Nothing but blanks left on this line? */
bool scan_line_done(struct scan *s);
/* The next word of this line; false when there is none. */
bool scan_word(struct scan *s, const char **word, size_t *length);
/* How many words are left on this line? Reads nothing. */
size_t scan_words_left(const struct scan *s);

/* The next word as a number. `what` names it in the error ("work", "number of predecessors"):
 * missing, not a number, or past the range of a double. Exact (correctly rounded), and quick for
 * the numbers that files mostly hold. */
bool scan_number(struct scan *s, const char *what, double *out, struct error *err);
/* The next word as a whole number in lo..hi. */
bool scan_integer(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out,
                  struct error *err);
/* Nothing may follow on this line. */
bool scan_require_done(struct scan *s, struct error *err);
/* error_at() at the current line. */
bool scan_error(const struct scan *s, struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The words' own parsers, for words found otherwise. Only decimal digits, sign, point and exponent:
 * no hexadecimal, no NaN. */
bool scan_parse_number(const char *word, size_t length, double *out);
bool scan_parse_integer(const char *word, size_t length, int64_t *out);

/* Write a number, 0 or more, in plain decimal; `out` has at least 24 bytes. Returns the length.
 * (Half the time of reading a tree list went into snprintf.) */
size_t scan_print_number(char *out, int64_t value);

/* The end of a reader: builder_finish() when all went well or the builder has the error; otherwise
 * `err` has it already, the builder is freed and the result NULL. */
struct workflow *scan_finish(struct builder *b, bool good, struct error *err);

/* Is a task's name the plain decimal text of a whole number ("0", "17"; not "07", "+1")? Then the
 * number. */
bool scan_plain_number(const char *name, int64_t *out);
/* Does the path end with this suffix, in any case? */
bool scan_has_suffix(const char *path, const char *suffix);
