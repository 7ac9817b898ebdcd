/* JSON, read into a flat tape and written by calls.
 *
 * Why not a DOM library: every error must name the line of the value at fault, which DOMs forget,
 * and workflow files of a hundred megabytes must read at memory speed. The tape is one array of
 * 16-byte values in document order; a container knows where it ends, so skipping it is one step.
 * Positions are byte offsets; lines are counted only when an error needs one. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* 16 bytes. Containers use `size` and `next`, strings `length`, numbers `number`; read them with
 * the functions below. */
struct json_value {
    uint64_t type : 4, has_newline : 1,
        offset : 59; /* offset of its first byte in the text; strings: of the byte after the
                        quote. has_newline: unescaping put a line end into this string */
    union {
        struct {
            uint32_t size; /* members or elements */
            uint32_t next; /* index of the value after this one (past its whole content) */
        };
        uint64_t length;
        double number;
    };
};

/* A parsed document. Strings are unescaped in place, so the text is changed and must live as long.
 * Index 0 is the root. */
struct json {
    struct json_value *at;
    size_t n;
    const char *file; /* for messages; not owned */
    char *text;       /* not owned */
    size_t length;
    bool has_newlines; /* some string has_newline: counting lines must skip it */
};

/* Strict JSON (RFC 8259), UTF-8 checked, at most 512 levels deep, duplicate keys allowed (the last
 * is found), at most 2^32 - 2 values. A byte order mark is skipped. Strings with \u0000 are
 * refused, so that they are C strings. Numbers past the range of double are refused. `text` must be
 * followed by a NUL, and is changed. On failure there is nothing to free. */
bool json_parse(struct json *j, const char *file, char *text, size_t length, struct error *err);
void json_free(struct json *j);

typedef uint32_t json_ref; /* index of a value; JSON_NONE: absent */
#define JSON_NONE UINT32_MAX

static inline enum json_type json_type(const struct json *j, json_ref v)
{
    return (enum json_type)j->at[v].type;
}
const char *json_type_name(enum json_type type); /* "a string", "an object" ... for messages */

/* Elements: for (json_ref v = json_first(j, array); v != JSON_NONE; v = json_next_element(j, array,
 * v)) Members: for (json_ref k = json_first(j, object); k != JSON_NONE; k = json_next_member(j,
 * object, k)) the key is value k (a string), its value is json_member_value(j, k). A scalar has
 * none. */
static inline json_ref json_after(const struct json *j, json_ref v)
{
    return j->at[v].type >= JSON_ARRAY ? j->at[v].next : v + 1;
}
static inline json_ref json_first(const struct json *j, json_ref container)
{
    return j->at[container].type >= JSON_ARRAY && j->at[container].size ? container + 1 : JSON_NONE;
}
static inline json_ref json_member_value(const struct json *j, json_ref key)
{
    (void)j;
    return key + 1;
}
static inline json_ref json_next_element(const struct json *j, json_ref array, json_ref element)
{
    json_ref after = json_after(j, element);
    return after < j->at[array].next ? after : JSON_NONE;
}
static inline json_ref json_next_member(const struct json *j, json_ref object, json_ref key)
{
    return json_next_element(j, object, key + 1);
}
static inline uint32_t json_size(const struct json *j, json_ref container)
{
    return j->at[container].type >= JSON_ARRAY ? j->at[container].size : 0;
}

/* The value under `key` of an object, JSON_NONE if absent or if `object` is not an object (or
 * JSON_NONE). */
json_ref json_get(const struct json *j, json_ref object, const char *key);

/* Text of a string (NUL-terminated, in place) and its length (may be NULL); valid for strings only.
 */
static inline const char *json_string(const struct json *j, json_ref v, size_t *length)
{
    if (length)
        *length = j->at[v].length;
    return j->text + j->at[v].offset;
}
/* Is it a string, and this one? */
bool json_is_string(const struct json *j, json_ref v, const char *text);
/* A number as double (correctly rounded); for integers past 2^53 precision is lost. Valid for
 * numbers only. */
static inline double json_number(const struct json *j, json_ref v)
{
    return j->at[v].number;
}

/* Line (from 1) of a value, for messages. */
size_t json_line(const struct json *j, json_ref v);
/* Lines of many values asked in document order: linear over all calls together. Start with {0};
 * asking for an earlier value starts over. */
struct json_cursor {
    json_ref value;
    size_t offset, line;
};
size_t json_cursor_line(const struct json *j, struct json_cursor *cursor, json_ref v);
/* error_at() at the line of `v`. */
bool json_error(const struct json *j, json_ref v, struct error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- writing: into a strbuf, pretty-printed with two spaces, one line for containers opened
 * `inline` ---- At most 63 levels. A pretty document ends with a line end. */

struct json_writer {
    struct strbuf *out;
    uint32_t depth;
    bool pretty;
    bool first[64];     /* nothing written yet at this depth */
    bool is_inline[64]; /* this container stays on one line */
    bool after_key;
};

void json_write_start(struct json_writer *w, struct strbuf *out, bool pretty);
void json_write_object(struct json_writer *w);        /* { */
void json_write_object_inline(struct json_writer *w); /* { on one line, with everything in it */
void json_write_array(struct json_writer *w);
void json_write_array_inline(struct json_writer *w);
void json_write_end_object(struct json_writer *w);
void json_write_end_array(struct json_writer *w);
void json_write_key(struct json_writer *w, const char *key);
void json_write_string(struct json_writer *w, const char *text); /* invalid UTF-8 becomes U+FFFD */
void json_write_number(struct json_writer *w, double value); /* NaN and infinities become null */
void json_write_integer(struct json_writer *w, int64_t value);
void json_write_unsigned(struct json_writer *w, uint64_t value);
void json_write_bool(struct json_writer *w, bool value);
void json_write_null(struct json_writer *w);
/* key and value in one call */
void json_put_string(struct json_writer *w, const char *key, const char *text);
void json_put_text(struct json_writer *w, const char *key, const char *text); /* NULL is null */
void json_put_number(struct json_writer *w, const char *key, double value);
void json_put_integer(struct json_writer *w, const char *key, int64_t value);
void json_put_bool(struct json_writer *w, const char *key, bool value);
