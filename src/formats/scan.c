/* Lines, words and numbers of plain text, for formats that are little else. Nothing is copied and
 * nothing is changed: a word is a pointer and a length. The text ends with a NUL, which stops
 * every number parser. */
#include "formats/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A byte order mark is passed over. */
void scan_start(struct scan *s, const struct format_source *source, const char *comment)
{
    const char *text = source->text;
    if (source->length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    *s = (struct scan){.file = source->path,
                       .at = text,
                       .end = source->text + source->length,
                       .next_line = text,
                       .comment = comment};
}

/* next_line is one past the newline, or the end of the text. */
bool scan_any_line(struct scan *s)
{
    if (s->next_line == s->end)
        return false;
    s->at = s->next_line;
    const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->next_line = newline ? newline + 1 : s->end;
    s->line++;
    return true;
}

static void skip_blanks(struct scan *s)
{
    while (s->at < s->next_line && is_blank(*s->at))
        s->at++;
}

bool scan_line_done(struct scan *s)
{
    skip_blanks(s);
    return s->at == s->next_line || *s->at == '\n';
}

bool scan_line(struct scan *s)
{
    while (scan_any_line(s)) {
        if (!scan_line_done(s) && !(*s->at && strchr(s->comment, *s->at)))
            return true;
    }
    return false;
}

/* Words end at blanks and at the end of the line. */
bool scan_word(struct scan *s, const char **word, size_t *length)
{
    if (scan_line_done(s))
        return false;
    const char *p = s->at;
    while (p < s->next_line && *p != '\n' && !is_blank(*p))
        p++;
    *word = s->at;
    *length = (size_t)(p - s->at);
    s->at = p;
    return true;
}

/* On a copy of the state: the line is read twice, which is cheaper than keeping its words. */
size_t scan_words_left(const struct scan *s)
{
    struct scan copy = *s;
    const char *word;
    size_t length, count = 0;
    while (scan_word(&copy, &word, &length))
        count++;
    return count;
}

/* A decimal of up to 19 digits is an integer times a power of ten; when the integer is below 2^53
 * and the power at most 10^22, both are exact doubles and one multiplication or division rounds
 * once, so the result is exact (Clinger). All else goes to strtod, which is exact too, and some ten
 * times slower. */
bool scan_parse_number(const char *word, size_t length, double *out)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *p = word, *end = word + length;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t mantissa = 0;
    int digits = 0, exponent = 0;
    bool exact = true, any = false;
    for (int after_point = 0; p < end && (is_digit(*p) || (*p == '.' && !after_point)); p++) {
        if (*p == '.') {
            after_point = 1;
            continue;
        }
        any = true;
        if (digits < 19) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            digits += mantissa != 0;
            exponent -= after_point;
        } else {
            exact = false;
        }
    }
    if (!any)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool minus = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        if (p == end || !is_digit(*p))
            return false;
        int value = 0;
        for (; p < end && is_digit(*p); p++)
            value = value < 100000 ? value * 10 + (*p - '0') : value;
        exponent += minus ? -value : value;
    }
    if (p != end)
        return false;
    /* Clinger's fast path */
    if (exact && mantissa <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22) {
        double value = exponent < 0 ? (double)mantissa / powers[-exponent]
                                    : (double)mantissa * powers[exponent];
        *out = negative ? -value : value;
        return true;
    }
    /* The syntax is checked, and what follows the word (a blank, a newline, the final NUL, a comma)
     * is no part of a number. */
    double value = strtod(word, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

/* Overflow is refused, not wrapped: an id of 20 digits is not another task's id. */
bool scan_parse_integer(const char *word, size_t length, int64_t *out)
{
    const char *p = word, *end = word + length;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    int64_t value = 0;
    for (; p < end; p++) {
        if (!is_digit(*p) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p - '0', &value))
            return false;
    }
    *out = negative ? -value : value;
    return true;
}

bool scan_error(const struct scan *s, struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(err, s->file, s->line, fmt, args);
    va_end(args);
    return false;
}

/* A word for a message: not longer than a person wants to read. */
static int scan_shown_length(size_t length)
{
    return length < 40 ? (int)length : 40;
}

bool scan_number(struct scan *s, const char *what, double *out, struct error *err)
{
    const char *word;
    size_t length;
    if (!scan_word(s, &word, &length))
        return scan_error(s, err, "the line ends before its %s", what);
    if (!scan_parse_number(word, length, out))
        return scan_error(s, err, "%s '%.*s' is not a finite number", what,
                          scan_shown_length(length), word);
    return true;
}

/* `what` stands in the message: "predecessor 7 is out of range". */
bool scan_integer(struct scan *s, const char *what, int64_t lo, int64_t hi, int64_t *out,
                  struct error *err)
{
    const char *word;
    size_t length;
    if (!scan_word(s, &word, &length))
        return scan_error(s, err, "the line ends before its %s", what);
    int64_t value;
    if (!scan_parse_integer(word, length, &value))
        return scan_error(s, err, "%s '%.*s' is not a whole number below 2^63", what,
                          scan_shown_length(length), word);
    if (value < lo || value > hi)
        return scan_error(s, err, "%s %lld is out of range: expected %lld to %lld", what,
                          (long long)value, (long long)lo, (long long)hi);
    *out = value;
    return true;
}

bool scan_require_done(struct scan *s, struct error *err)
{
    const char *word;
    size_t length;
    if (!scan_word(s, &word, &length))
        return true;
    return scan_error(s, err, "'%.*s' is one word too many on this line", scan_shown_length(length),
                      word);
}

size_t scan_print_number(char *out, int64_t value)
{
    char reversed[24];
    size_t n = 0;
    do {
        reversed[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++)
        out[i] = reversed[n - 1 - i];
    out[n] = 0;
    return n;
}

struct workflow *scan_finish(struct builder *b, bool good, struct error *err)
{
    if (good || builder_failed(b))
        return builder_finish(b, err);
    builder_free(b);
    return NULL;
}

/* "07" and "+7" would not come back as written, so they are names, not numbers. */
bool scan_plain_number(const char *name, int64_t *out)
{
    size_t length = strlen(name);
    if (!is_digit(name[0]) || (name[0] == '0' && length > 1))
        return false;
    return scan_parse_integer(name, length, out);
}

bool scan_has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcasecmp(path + n - m, suffix) == 0;
}
