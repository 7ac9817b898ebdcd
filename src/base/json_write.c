/* JSON out, into a buffer: the writer knows where commas, newlines and blanks go, the caller says
 * what comes. Bytes that are no UTF-8 become U+FFFD, so the output is always valid. */
#include "base/json.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Nothing of ours nests deeper; a mistake in the caller, not in the input, would. */
enum { JSON_WRITE_DEPTH = 64 };

void json_write_start(struct json_writer *w, struct strbuf *out, bool pretty)
{
    *w = (struct json_writer){.out = out, .pretty = pretty};
    w->first[0] = true;
}

/* Two blanks a level. */
static void new_line(struct json_writer *w)
{
    static const char spaces[2 * JSON_WRITE_DEPTH + 1] =
        "                                                                "
        "                                                                ";
    strbuf_add_char(w->out, '\n');
    strbuf_add_bytes(w->out, spaces, 2 * (size_t)w->depth);
}

/* What must stand before the next value or key. */
static void json_write_separator(struct json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return;
    }
    if (w->depth == 0)
        return;
    bool first = w->first[w->depth];
    w->first[w->depth] = false;
    if (!first)
        strbuf_add_char(w->out, ',');
    if (w->pretty && !w->is_inline[w->depth])
        new_line(w);
    else if (w->pretty && !first)
        strbuf_add_char(w->out, ' ');
}

/* What stands in an inline container is inline too. */
static void json_begin_container(struct json_writer *w, char bracket, bool is_inline)
{
    json_write_separator(w);
    strbuf_add_char(w->out, bracket);
    assert(w->depth + 1 < JSON_WRITE_DEPTH);
    bool outer = w->depth && w->is_inline[w->depth];
    w->depth++;
    w->first[w->depth] = true;
    w->is_inline[w->depth] = is_inline || outer;
}

/* An empty container stays on one line. */
static void json_end_container(struct json_writer *w, char bracket)
{
    bool empty = w->first[w->depth], on_lines = !w->is_inline[w->depth];
    w->depth--;
    if (w->pretty && on_lines && !empty)
        new_line(w);
    strbuf_add_char(w->out, bracket);
    if (w->pretty && w->depth == 0)
        strbuf_add_char(w->out, '\n');
}

void json_write_object(struct json_writer *w)
{
    json_begin_container(w, '{', false);
}

void json_write_object_inline(struct json_writer *w)
{
    json_begin_container(w, '{', true);
}

void json_write_array(struct json_writer *w)
{
    json_begin_container(w, '[', false);
}

void json_write_array_inline(struct json_writer *w)
{
    json_begin_container(w, '[', true);
}

void json_write_end_object(struct json_writer *w)
{
    json_end_container(w, '}');
}

void json_write_end_array(struct json_writer *w)
{
    json_end_container(w, ']');
}

/* The short form where there is one. */
static void add_escaped(struct strbuf *out, unsigned char c)
{
    static const char letter[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                  ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    if (c < sizeof letter && letter[c]) {
        char two[2] = {'\\', letter[c]};
        strbuf_add_bytes(out, two, 2);
    } else {
        strbuf_printf(out, "\\u%04x", c);
    }
}

/* Runs of plain bytes are copied in one piece. */
static void add_string(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    size_t n = strlen(text), from = 0, i = 0;
    while (i < n) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80 && c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) {
            i++;
            continue;
        }
        size_t bytes = c >= 0x80 ? utf8_character(text + i, n - i) : 0;
        if (bytes) {
            i += bytes;
            continue;
        }
        strbuf_add_bytes(out, text + from, i - from);
        if (c >= 0x80)
            strbuf_add(out, "\xEF\xBF\xBD");
        else
            add_escaped(out, c);
        from = ++i;
    }
    strbuf_add_bytes(out, text + from, i - from);
    strbuf_add_char(out, '"');
}

void json_write_key(struct json_writer *w, const char *key)
{
    json_write_separator(w);
    add_string(w->out, key);
    strbuf_add_bytes(w->out, ": ", w->pretty ? 2 : 1);
    w->after_key = true;
}

/* A document of one value ends with a newline, as others do. */
static void scalar_done(struct json_writer *w)
{
    if (w->pretty && w->depth == 0)
        strbuf_add_char(w->out, '\n');
}

void json_write_string(struct json_writer *w, const char *text)
{
    json_write_separator(w);
    add_string(w->out, text);
    scalar_done(w);
}

/* JSON has no infinity and no NAN: null. */
void json_write_number(struct json_writer *w, double value)
{
    json_write_separator(w);
    if (isfinite(value))
        strbuf_add_number(w->out, value);
    else
        strbuf_add(w->out, "null");
    scalar_done(w);
}

/* By hand: the largest outputs are mostly integers, and printf() is slow. */
static void add_integer(struct json_writer *w, bool negative, uint64_t rest)
{
    json_write_separator(w);
    char digits[24], *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (negative)
        *--p = '-';
    strbuf_add_bytes(w->out, p, (size_t)(digits + sizeof digits - p));
    scalar_done(w);
}

void json_write_integer(struct json_writer *w, int64_t value)
{
    add_integer(w, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_write_unsigned(struct json_writer *w, uint64_t value)
{
    add_integer(w, false, value);
}

void json_write_bool(struct json_writer *w, bool value)
{
    json_write_separator(w);
    strbuf_add(w->out, value ? "true" : "false");
    scalar_done(w);
}

void json_write_null(struct json_writer *w)
{
    json_write_separator(w);
    strbuf_add(w->out, "null");
    scalar_done(w);
}

void json_put_string(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    json_write_string(w, text);
}

/* NULL is null; json_put_string() must not get it. */
void json_put_text(struct json_writer *w, const char *key, const char *text)
{
    json_write_key(w, key);
    if (text)
        json_write_string(w, text);
    else
        json_write_null(w);
}

void json_put_number(struct json_writer *w, const char *key, double value)
{
    json_write_key(w, key);
    json_write_number(w, value);
}

void json_put_integer(struct json_writer *w, const char *key, int64_t value)
{
    json_write_key(w, key);
    json_write_integer(w, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
    json_write_key(w, key);
    json_write_bool(w, value);
}
