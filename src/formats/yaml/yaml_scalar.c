/* The text of YAML scalars, decoded from the source: quoted, plain over several lines, and
 * blocks. Written apart from the parser because libfyaml 0.7.12 loses characters in some folded
 * and escaped texts. The source is followed by a NUL, which ends every loop here. */
#include "formats/yaml/yaml_scalar.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static bool scalar_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_break(char c)
{
    return c == '\n' || c == '\r';
}

/* Past blanks and line breaks; how many breaks there were. "\r\n" is one. */
static const char *skip_breaks(const char *at, size_t *breaks)
{
    for (*breaks = 0; scalar_is_blank(*at) || is_break(*at); at++)
        *breaks += *at == '\n' || (*at == '\r' && at[1] != '\n');
    return at;
}

/* Exactly so many digits. */
static bool read_hex(const char *at, int digits, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < digits; i++) {
        char c = at[i];
        int value = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (value < 0)
            return false;
        *code = *code << 4 | (uint32_t)value;
    }
    return true;
}

/* \xHH, \uHHHH, \UHHHHHHHH; `at` is after the letter. NULL: not one. */
static const char *unescape_code(const char *at, char letter, struct strbuf *out)
{
    int digits = letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
    uint32_t code, low;
    if (!read_hex(at, digits, &code))
        return NULL;
    at += digits;
    if (code >= 0xD800 && code < 0xDC00 && at[0] == '\\' && at[1] == 'u' &&
        read_hex(at + 2, 4, &low) && low >= 0xDC00 &&
        low < 0xE000) { /* a pair, as JSON writes what lies past U+FFFF */
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return NULL;
    char text[4];
    strbuf_add_bytes(out, text, utf8_encode(text, code));
    return at;
}

/* `at` is after the backslash; returns the place after the escape, NULL when it is none. */
static const char *scalar_unescape(const char *at, struct strbuf *out)
{
    static const char letters[] = "0abt\tnvfre \"/\\N_LP";
    static const char *const values[] = {
        "",     "\a", "\b", "\t", "\t", "\n",       "\v",       "\f",           "\r",
        "\x1b", " ",  "\"", "/",  "\\", "\xc2\x85", "\xc2\xa0", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    char c = *at;
    if (is_break(c)) { /* the break is gone; of empty lines after it each is a newline */
        size_t breaks;
        at = skip_breaks(at, &breaks);
        for (size_t i = 1; i < breaks; i++)
            strbuf_add_char(out, '\n');
        return at;
    }
    if (c == 'x' || c == 'u' || c == 'U')
        return unescape_code(at + 1, c, out);
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter)
        return NULL;
    if (c == '0')
        strbuf_add_char(out, 0);
    else
        strbuf_add(out, values[letter - letters]);
    return at + 1;
}

/* At blanks or breaks: copied when within a line, folded when not. */
static const char *scalar_fold_lines(const char *at, struct strbuf *out)
{
    size_t breaks;
    const char *next = skip_breaks(at, &breaks);
    if (!breaks)
        strbuf_add_bytes(out, at, (size_t)(next - at));
    else if (breaks == 1)
        strbuf_add_char(out, ' ');
    for (size_t i = 1; i < breaks; i++)
        strbuf_add_char(out, '\n');
    return next;
}

/* `at` is after the opening quote. Runs without anything special are copied at once. False: a
 * wrong escape, or no end. */
bool yaml_unquote(const char *at, const char *end, char quote, struct strbuf *out)
{
    while (at < end) {
        const char *run = at;
        while (*at && *at != quote && *at != '\\' && !scalar_is_blank(*at) && !is_break(*at))
            at++;
        strbuf_add_bytes(out, run, (size_t)(at - run));
        if (*at == quote) {
            if (quote == '"' || at[1] != quote)
                return true;
            strbuf_add_char(out, quote);
            at += 2;
        } else if (*at == '\\' && quote == '"') {
            at = scalar_unescape(at + 1, out);
            if (!at)
                return false;
        } else if (*at == '\\') {
            strbuf_add_char(out, *at++);
        } else {
            at = scalar_fold_lines(at, out);
        }
    }
    return false;
}

/* A plain scalar over several lines: one break is a blank, each further one a newline. */
void yaml_unfold(const char *at, const char *stop, struct strbuf *out)
{
    while (stop > at && (scalar_is_blank(stop[-1]) || is_break(stop[-1])))
        stop--;
    while (at < stop) {
        const char *run = at;
        while (at < stop && !scalar_is_blank(*at) && !is_break(*at))
            at++;
        strbuf_add_bytes(out, run, (size_t)(at - run));
        if (at < stop)
            at = scalar_fold_lines(at, out);
    }
}

/* ---- blocks ---- */

struct block_head {
    char style;  /* | or > */
    char chomp;  /* + keep, - strip, 0 clip */
    bool indent; /* has an indentation indicator */
};

/* The first | or > of the line after which only indicators and a comment follow. */
static bool find_head(const char *line, const char *stop, struct block_head *head)
{
    for (const char *p = line; p < stop; p++) {
        if ((*p != '|' && *p != '>') || (p > line && !scalar_is_blank(p[-1])))
            continue;
        *head = (struct block_head){.style = *p};
        const char *q = p + 1;
        for (; q < stop && strchr("0123456789+-", *q); q++) {
            if (*q == '+' || *q == '-')
                head->chomp = *q;
            else
                head->indent = true;
        }
        const char *after = q;
        while (q < stop && (scalar_is_blank(*q) || *q == '\r'))
            q++;
        if (q == stop || (*q == '#' && q > after))
            return true;
    }
    return false;
}

/* Up to the break of this line; `*next` is where the next one begins. */
static const char *scalar_line_end(const char *at, const char *end, const char **next)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *next = stop ? stop + 1 : end;
    if (!stop)
        return end;
    return stop > at && stop[-1] == '\r' ? stop - 1 : stop;
}

/* Empty lines of a block. */
static void add_breaks(struct strbuf *out, size_t n)
{
    while (n--)
        strbuf_add_char(out, '\n');
}

/* The indentation is that of the first line with text. In a folded block lines that begin with a
 * blank keep their breaks. Chomping decides about the last break and the empty lines after it. */
static void copy_block(const char *at, const char *end, const struct block_head *head,
                       struct strbuf *out)
{
    size_t indent = 0, breaks = 0; /* breaks: empty lines since the last one with text */
    bool any = false, was_spaced = false, terminated = true;
    for (const char *next; at < end; at = next) {
        const char *stop = scalar_line_end(at, end, &next), *text = at;
        while (text < stop && *text == ' ' && (!indent || (size_t)(text - at) < indent))
            text++;
        size_t column = (size_t)(text - at);
        if (text == stop) { /* nothing, or blanks up to the indentation */
            breaks += next > stop;
            continue;
        }
        if (!indent) {
            if (!column)
                break; /* a block in a mapping or list is indented */
            indent = column;
        }
        if (column < indent)
            break;
        bool spaced = head->style == '|' || scalar_is_blank(*text);
        if (!any)
            add_breaks(out, breaks);
        else if (spaced || was_spaced)
            add_breaks(out, breaks + 1);
        else if (breaks)
            add_breaks(out, breaks);
        else
            strbuf_add_char(out, ' ');
        strbuf_add_bytes(out, text, (size_t)(stop - text));
        breaks = 0;
        any = true;
        was_spaced = spaced;
        terminated = next > stop;
    }
    if (head->chomp == '+')
        add_breaks(out, breaks + (any && terminated));
    else if (head->chomp != '-' && any && terminated)
        strbuf_add_char(out, '\n');
}

/* `at` is where the parser says the content begins; the head (| or >) stands on a line above it.
 * False: it cannot be found, or states its indentation; then the parser's own text is taken. */
bool yaml_unblock(const char *source, const char *at, const char *end, struct strbuf *out)
{
    struct block_head head;
    /* up from `at` over blank lines to the head */
    while (at > source) {
        if (at[-1] != '\n')
            return false;
        const char *stop = at - 1, *line = stop;
        while (line > source && line[-1] != '\n')
            line--;
        if (find_head(line, stop, &head)) {
            if (head.indent)
                return false;
            copy_block(at, end, &head, out);
            return true;
        }
        for (const char *p = line; p < stop; p++)
            if (!scalar_is_blank(*p) && *p != '\r')
                return false;
        at = line;
    }
    return false;
}
