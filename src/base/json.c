/* A JSON reader that parses in place: values become a tape (an array in document order), strings
 * stay where they are in the text and are unescaped there. No recursion on the document's depth but
 * for JSON_DEPTH open containers; nothing is allocated besides the tape.
 *
 *   {"a": [1, 2]}  ──▶  object next=5 │ "a" │ array next=5 │ 1 │ 2
 *
 * The text belongs to the caller, is changed, and must outlive the tape. RFC 8259 to the letter,
 * with line numbers in errors. */
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any real document, and small enough for the parser to stand on the stack. */
enum { JSON_DEPTH = 512 };

/* What a byte can begin or be, outside and inside of strings. */
enum {
    C_SPACE = 1,
    C_DIGIT = 2,
    C_PLAIN = 4, /* stands for itself inside a string: printable ASCII but quote and backslash */
};

static const uint8_t class_of[256] = {
    ['\t'] = C_SPACE,
    ['\n'] = C_SPACE,
    ['\r'] = C_SPACE,
    [' '] = C_SPACE | C_PLAIN,
    ['!'] = C_PLAIN,
    ['#' ... '/'] = C_PLAIN,
    ['0' ... '9'] = C_DIGIT | C_PLAIN,
    [':' ... '['] = C_PLAIN,
    [']' ... 127] = C_PLAIN,
};

struct json_parser {
    struct json *j;
    struct error *err;
    char *p, *end; /* *end is the NUL after the text */
    size_t cap;
    uint32_t depth;
    uint32_t open[JSON_DEPTH]; /* the containers around p */
};

/* ---- lines ---- */

/* Eight bytes at a time: error texts of a large file need its line, and this is all that keeps it.
 */
static size_t count_newlines(const char *from, const char *to)
{
    size_t n = 0;
    while (to - from >= 8) {
        uint64_t word, ones = 0x0101010101010101u;
        memcpy(&word, from, 8);
        word ^= ones * '\n';
        /* exactly the high bits of the zero bytes */
        uint64_t low = (word & ~(ones << 7)) + ~(ones << 7);
        n += (size_t)__builtin_popcountll(~(low | word) & (ones << 7));
        from += 8;
    }
    for (; from < to; from++)
        n += *from == '\n';
    return n;
}

/* Newlines of the document between two places; values from .. to-1 of the tape are the strings that
 * may hide some. */
static size_t lines_between(const struct json *j, size_t from_offset, size_t to_offset, size_t from,
                            size_t to)
{
    size_t lines = count_newlines(j->text + from_offset, j->text + to_offset);
    for (size_t v = from; j->has_newlines && v < to; v++) {
        const struct json_value *s = &j->at[v];
        if (s->has_newline)
            lines -= count_newlines(j->text + s->offset, j->text + s->offset + s->length);
    }
    return lines;
}

size_t json_line(const struct json *j, json_ref v)
{
    return 1 + lines_between(j, 0, j->at[v].offset, 0, v);
}

/* Lines of values that are asked for in order: linear in the document, not quadratic. */
size_t json_cursor_line(const struct json *j, struct json_cursor *cursor, json_ref v)
{
    if (cursor->line == 0 || v < cursor->value)
        *cursor = (struct json_cursor){.line = 1};
    cursor->line += lines_between(j, cursor->offset, j->at[v].offset, cursor->value, v);
    cursor->offset = j->at[v].offset;
    cursor->value = v;
    return cursor->line;
}

bool json_error(const struct json *j, json_ref v, struct error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(err, j->file, json_line(j, v), fmt, args);
    va_end(args);
    return false;
}

/* ---- parsing ---- */

static bool json_parse_fail(struct json_parser *s, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
static bool json_parse_fail(struct json_parser *s, const char *at, const char *fmt, ...)
{
    const struct json *j = s->j;
    size_t line = 1 + lines_between(j, 0, (size_t)(at - j->text), 0, j->n);
    va_list args;
    va_start(args, fmt);
    error_vat(s->err, j->file, line, fmt, args);
    va_end(args);
    return false;
}

/* The text does not go on as it should. */
/* What was expected, and what stands there; at the end of the text, in which container. */
static bool fail_expected(struct json_parser *s, const char *expected) __attribute__((cold));
static bool fail_expected(struct json_parser *s, const char *expected)
{
    struct json *j = s->j;
    if (s->p >= s->end) {
        if (s->depth == 0)
            return json_parse_fail(s, s->end, "the file ends where %s was expected", expected);
        json_ref open = s->open[s->depth - 1];
        return json_parse_fail(
            s, s->end,
            "the file ends inside %s that began in line %zu: %s was expected (is it truncated?)",
            json_type_name(json_type(j, open)), json_line(j, open), expected);
    }
    unsigned char c = (unsigned char)*s->p;
    if (c >= 0x20 && c < 0x7F)
        return json_parse_fail(s, s->p, "%s was expected, found '%c'", expected, c);
    return json_parse_fail(s, s->p, "%s was expected, found byte 0x%02X", expected, c);
}

/* Half as much again; the first guess is nearly always enough. */
static bool json_parse_grow(struct json_parser *s)
{
    struct json *j = s->j;
    if (j->n >= JSON_NONE - 1)
        return json_parse_fail(s, s->p, "more than 2^32 values are not supported");
    s->cap += s->cap / 2;
    j->at = mem_resize(j->at, s->cap);
    return true;
}

static inline struct json_value *json_parse_push(struct json_parser *s, enum json_type type,
                                                 size_t offset)
{
    struct json *j = s->j;
    if (j->n == s->cap && !json_parse_grow(s))
        return NULL;
    struct json_value *v = &j->at[j->n++];
    v->type = type;
    v->has_newline = 0;
    v->offset = offset;
    return v;
}

/* Four hexadecimal digits, or -1. */
static int32_t json_parse_hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* `in` is at the u of \u. Writes the character to *out and returns the place after the escape;
 * NULL: refused. */
static char *unescape_unicode(struct json_parser *s, char *in, char **out, const char *start)
{
    int32_t code = json_parse_hex4(in + 1, s->end);
    in += 5;
    if (code < 0) {
        json_parse_fail(s, start, "\\u in a string needs four hexadecimal digits");
        return NULL;
    }
    if (code >= 0xDC00 && code <= 0xDFFF) {
        json_parse_fail(
            s, start,
            "\\u%04X in a string is the second half of a surrogate pair without the first",
            (unsigned)code);
        return NULL;
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
        int32_t low = s->end - in >= 6 && in[0] == '\\' && in[1] == 'u'
                          ? json_parse_hex4(in + 2, s->end)
                          : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            json_parse_fail(
                s, start,
                "\\u%04X in a string is the first half of a surrogate pair without the second",
                (unsigned)code);
            return NULL;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        in += 6;
    }
    if (code == 0) {
        json_parse_fail(s, start,
                        "\\u0000 in a string: a NUL character cannot be used in names and texts");
        return NULL;
    }
    *out += utf8_encode(*out, (uint32_t)code);
    return in;
}

/* `in` is after a backslash: writes what the escape stands for and returns the place behind it;
 * NULL: refused. An escape is never shorter than what it stands for, so writing cannot overtake
 * reading. */
static char *unescape_one(struct json_parser *s, char *in, char **out, const char *start)
{
    static const char meaning[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                      ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    if (*in == 'u')
        return unescape_unicode(s, in, out, start);
    char c = meaning[(unsigned char)*in];
    if (c) {
        *(*out)++ = c;
        return in + 1;
    }
    if (in >= s->end)
        json_parse_fail(s, start, "the file ends inside a string (is it truncated?)");
    else
        json_parse_fail(s, start,
                        "unknown escape in a string: \\ must be followed by one of \" \\ / b f "
                        "n r t u");
    return NULL;
}

/* The rest of a string from its first byte that does not stand for itself; pushes the value. */
static bool string_slow(struct json_parser *s, char *start, char *in)
{
    char *out = in;
    bool newline = false;
    for (;;) {
        unsigned char c = (unsigned char)*in;
        if (class_of[c] & C_PLAIN) {
            *out++ = *in++;
        } else if (c == '"') {
            break;
        } else if (c == '\\') {
            const char *before = out;
            in = unescape_one(s, in + 1, &out, start);
            if (!in)
                return false;
            newline |= *before == '\n';
        } else if (c >= 0x80) {
            size_t n = utf8_character(in, (size_t)(s->end - in));
            if (n == 0)
                return json_parse_fail(s, start, "byte 0x%02X in a string is not valid UTF-8", c);
            memmove(out, in, n);
            out += n;
            in += n;
        } else if (in >= s->end) {
            return json_parse_fail(s, start, "the file ends inside a string (is it truncated?)");
        } else {
            return json_parse_fail(s, start,
                                   "control character 0x%02X in a string: write \\u%04x%s", c, c,
                                   c == '\n' ? " or \\n (is the closing quote missing?)" : "");
        }
    }
    /* the closing quote becomes the string's NUL: there is always room */
    struct json_value *v = json_parse_push(s, JSON_STRING, (size_t)(start - s->j->text));
    if (!v)
        return false;
    v->length = (uint64_t)(out - start);
    v->has_newline = newline;
    s->j->has_newlines |= newline;
    *out = 0;
    s->p = in + 1;
    return true;
}

/* p is after the opening quote. */
static inline bool json_parse_string(struct json_parser *s)
{
    char *start = s->p, *p = start;
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    while (s->end - p >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        uint64_t quote = word ^ (ones * '"'), slash = word ^ (ones * '\\');
        /* High bit set where a byte is a quote, a backslash, below 0x20 or above 0x7F. The first
         * such byte from below is right, those above it may be false alarms by a borrow. */
        uint64_t stop =
            (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | (word - ones * 0x20) | word) &
            high;
        if (stop) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            p += __builtin_ctzll(stop) / 8;
#endif
            break;
        }
        p += 8;
    }
    while (class_of[(unsigned char)*p] & C_PLAIN)
        p++;
    if (*p != '"')
        return string_slow(s, start, p);
    struct json_value *v = json_parse_push(s, JSON_STRING, (size_t)(start - s->j->text));
    if (!v)
        return false;
    v->length = (uint64_t)(p - start);
    *p = 0;
    s->p = p + 1;
    return true;
}

/* *p is at the e: adds what is stated to the exponent. Past 100,000 more digits change nothing: the
 * number is 0 or beyond the range whatever they are. */
static bool json_parse_exponent(struct json_parser *s, char **p, int64_t *exponent)
{
    char *at = *p + 1;
    bool down = *at == '-';
    at += *at == '-' || *at == '+';
    if (!(class_of[(unsigned char)*at] & C_DIGIT)) {
        s->p = at;
        return fail_expected(s, "a digit of the exponent");
    }
    int64_t stated = 0;
    for (; class_of[(unsigned char)*at] & C_DIGIT; at++)
        stated = stated < 100000 ? stated * 10 + (*at - '0') : stated;
    *exponent += down ? -stated : stated;
    *p = at;
    return true;
}

static bool json_parse_number(struct json_parser *s)
{
    char *start = s->p, *p = start;
    bool negative = *p == '-';
    p += negative;
    uint64_t mantissa = 0;
    int digits = 0; /* significant ones in the mantissa; more than 19 do not fit */
    int64_t exponent = 0;
    if (!(class_of[(unsigned char)*p] & C_DIGIT)) {
        s->p = p;
        return fail_expected(s, "a digit");
    }
    if (*p == '0') {
        p++;
        if (class_of[(unsigned char)*p] & C_DIGIT)
            return json_parse_fail(s, start, "a number must not begin with 0 and another digit");
    } else {
        char *first = p;
        for (; class_of[(unsigned char)*p] & C_DIGIT; p++)
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
        digits = p - first < 20 ? (int)(p - first) : 20;
    }
    if (*p == '.') {
        char *first = ++p;
        for (; class_of[(unsigned char)*p] & C_DIGIT; p++) {
            mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            digits += (digits || mantissa) && digits < 20;
        }
        if (p == first) {
            s->p = p;
            return fail_expected(s, "a digit after the decimal point");
        }
        exponent = first - p;
    }
    if ((*p == 'e' || *p == 'E') && !json_parse_exponent(s, &p, &exponent))
        return false;
    /* Small integers are most numbers; up to 19 digits fit the mantissa; the rest is for strtod. */
    double value;
    if (digits <= 15 && exponent == 0) {
        value = (double)mantissa;
    } else if (digits > 19 || !number_from_decimal(mantissa, exponent, &value)) {
        value = fabs(strtod(start, NULL));
        if (isinf(value))
            return json_parse_fail(s, start, "the number %.*s%s is beyond the range of double",
                                   p - start > 40 ? 40 : (int)(p - start), start,
                                   p - start > 40 ? "..." : "");
    }
    struct json_value *v = json_parse_push(s, JSON_NUMBER, (size_t)(start - s->j->text));
    if (!v)
        return false;
    v->number = negative ? -value : value;
    s->p = p;
    return true;
}

/* true, false and null need no content: the type says it all */
static bool json_parse_literal(struct json_parser *s, const char *word, enum json_type type)
{
    size_t n = strlen(word);
    if (strncmp(s->p, word, n) != 0)
        return fail_expected(s, "a value");
    struct json_value *v = json_parse_push(s, type, (size_t)(s->p - s->j->text));
    if (!v)
        return false;
    v->length = 0;
    s->p += n;
    return true;
}

static inline void skip_space(struct json_parser *s)
{
    char *p = s->p;
    while (class_of[(unsigned char)*p] & C_SPACE)
        p++;
    s->p = p;
}

/* `next` is filled in when it closes: one step then skips the whole container. */
static bool json_parse_open_container(struct json_parser *s, enum json_type type)
{
    if (s->depth == JSON_DEPTH)
        return json_parse_fail(s, s->p, "nested more than %d levels deep", JSON_DEPTH);
    s->open[s->depth++] = (uint32_t)s->j->n;
    struct json_value *v = json_parse_push(s, type, (size_t)(s->p - s->j->text));
    if (!v)
        return false;
    v->size = 0;
    v->next = 0;
    s->p++;
    return true;
}

static inline void json_parse_close_container(struct json_parser *s)
{
    s->j->at[s->open[--s->depth]].next = (uint32_t)s->j->n;
    s->p++;
}

/* Key and colon of the next member. */
static inline bool json_parse_key(struct json_parser *s)
{
    skip_space(s);
    if (*s->p != '"')
        return fail_expected(s, "a key in double quotes");
    s->p++;
    if (!json_parse_string(s))
        return false;
    skip_space(s);
    if (*s->p != ':')
        return fail_expected(s, "':' after a key");
    s->p++;
    return true;
}

static bool json_parse_value(struct json_parser *s)
{
    switch (*s->p) {
    case '"':
        s->p++;
        return json_parse_string(s);
    case 't':
        return json_parse_literal(s, "true", JSON_TRUE);
    case 'f':
        return json_parse_literal(s, "false", JSON_FALSE);
    case 'n':
        return json_parse_literal(s, "null", JSON_NULL);
    case '-':
    case '0' ... '9':
        return json_parse_number(s);
    default:
        return fail_expected(s, "a value");
    }
}

/* A loop with a stack of its own: two states, "a value is due" and "a value is complete". */
static bool json_parse_document(struct json_parser *s)
{
    struct json *j = s->j;
    for (;;) {
        /* A value is due. */
        skip_space(s);
        if (*s->p == '[') {
            if (!json_parse_open_container(s, JSON_ARRAY))
                return false;
            skip_space(s);
            if (*s->p != ']') {
                j->at[j->n - 1].size = 1;
                continue;
            }
            json_parse_close_container(s);
        } else if (*s->p == '{') {
            if (!json_parse_open_container(s, JSON_OBJECT))
                return false;
            skip_space(s);
            if (*s->p != '}') {
                j->at[j->n - 1].size = 1;
                if (!json_parse_key(s))
                    return false;
                continue;
            }
            json_parse_close_container(s);
        } else if (!json_parse_value(s)) {
            return false;
        }
        /* A value is complete: close what ends here, up to a comma. */
        for (;;) {
            skip_space(s);
            if (s->depth == 0)
                return s->p == s->end ||
                       json_parse_fail(s, s->p, "unexpected text after the end of the document");
            struct json_value *around = &j->at[s->open[s->depth - 1]];
            if (*s->p == ',') {
                s->p++;
                around->size++;
                if (around->type == JSON_OBJECT && !json_parse_key(s))
                    return false;
                break;
            }
            bool is_object = around->type == JSON_OBJECT;
            if (*s->p != (is_object ? '}' : ']'))
                return fail_expected(s, is_object ? "',' or '}'" : "',' or ']'");
            json_parse_close_container(s);
        }
    }
}

/* A byte order mark, or zeros where ASCII would have none. */
static bool refuse_utf16(const char *text, size_t length)
{
    const unsigned char *t = (const unsigned char *)text;
    return length >= 2 &&
           ((t[0] == 0xFF && t[1] == 0xFE) || (t[0] == 0xFE && t[1] == 0xFF) || (t[0] && !t[1]) ||
            (!t[0] && t[1]) || (length >= 4 && !t[0] && !t[1] && (t[2] || t[3])));
}

bool json_parse(struct json *j, const char *file, char *text, size_t length, struct error *err)
{
    *j = (struct json){.file = file, .text = text, .length = length};
    if (refuse_utf16(text, length))
        return error_at(err, file, 1,
                        "this is UTF-16 or UTF-32 text; JSON must be UTF-8 (convert with iconv)");
    struct json_parser s = {.j = j, .err = err, .p = text, .end = text + length};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        s.p += 3;
    skip_space(&s);
    if (s.p == s.end)
        return error_at(err, file, 0, "the file is empty; expected JSON");
    /* Real files have a value for every 12 to 20 bytes; untouched pages cost nothing. */
    s.cap = length / 12 + 16;
    j->at = mem_new(struct json_value, s.cap);
    if (!json_parse_document(&s)) {
        json_free(j);
        return false;
    }
    return true;
}

void json_free(struct json *j)
{
    free(j->at);
    j->at = NULL;
    j->n = 0;
}

/* ---- asking ---- */

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[type];
}

/* The last of equal keys counts, as in most readers. */
json_ref json_get(const struct json *j, json_ref object, const char *name)
{
    if (object == JSON_NONE || json_type(j, object) != JSON_OBJECT)
        return JSON_NONE;
    json_ref found = JSON_NONE;
    for (json_ref k = json_first(j, object); k != JSON_NONE; k = json_next_member(j, object, k)) {
        if (json_is_string(j, k, name))
            found = json_member_value(j, k);
    }
    return found;
}

bool json_is_string(const struct json *j, json_ref v, const char *text)
{
    return v != JSON_NONE && json_type(j, v) == JSON_STRING &&
           strcmp(j->text + j->at[v].offset, text) == 0;
}
