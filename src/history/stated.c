/* What a result states. Read by the thread that records, for small files that a task made: a run
 * whose tasks make none pays nothing.
 *
 * A text is taken whole or not at all: of a file in which one line is no statement, the lines that
 * look like one are chance. */
#include "history/stated.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " \t:=," /* a name and its value; as `weft experiment --values` has it */

void stated_free(stated_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->at[i].name);
        free(list->at[i].value);
    }
    array_free(list);
}

/* Takes copies. Past STATED_MOST it is a table, and more of it would be data. */
static void stated_add(stated_list *out, const char *name, size_t n, const char *value,
                       size_t length)
{
    if (out->n < STATED_MOST)
        array_push(out, ((struct stated){mem_copy_bytes(name, n), mem_copy_bytes(value, length)}));
}

/* As people write them; "12M" and "nan" are words. */
static bool stated_is_number(const char *text, size_t n)
{
    double ignored;
    return n && quantity_number(text, n, &ignored);
}

/* May a question name it as it is? */
static bool stated_is_name(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
            return false;
    return n && n <= 100 && (isalpha((unsigned char)*text) || *text == '_');
}

/* The stem of a file's name: "out/f1.txt" is f1. */
static size_t stated_stem(const char *path, const char **stem)
{
    *stem = file_basename(path);
    const char *dot = strrchr(*stem, '.');
    return dot && dot > *stem ? (size_t)(dot - *stem) : strlen(*stem);
}

/* Every line a name and a number, or the whole a number. False: it is something else. */
static bool stated_lines(const char *path, const char *text, stated_list *out)
{
    for (size_t line = 0; *text; line++) {
        text += strspn(text, " \t\r\n");
        size_t n = strcspn(text, "\r\n");
        const char *end = text + n;
        while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        size_t name = strcspn(text, BETWEEN "\r\n");
        const char *value = text + name + strspn(text + name, BETWEEN);
        if (!n)
            break;
        if (!line && stated_is_number(text, (size_t)(end - text)) &&
            !text[n + strspn(text + n, " \t\r\n")]) {
            const char *stem;
            size_t length = stated_stem(path, &stem);
            /* of "sigma=2.txt" the number belongs to the result, which its folder names */
            if (stated_is_name(stem, length))
                stated_add(out, stem, length, text, (size_t)(end - text));
            return true;
        }
        if (value >= end || !stated_is_name(text, name) ||
            !stated_is_number(value, (size_t)(end - value)))
            return false;
        stated_add(out, text, name, value, (size_t)(end - value));
        text += n;
    }
    return true;
}

/* Members of members under "outer.inner"; elements of arrays are data. The depth is the reader's. */
static void stated_object(const struct json *j, json_ref object, struct strbuf *prefix,
                          stated_list *out)
{
    size_t before = prefix->n;
    for (json_ref k = json_first(j, object); k != JSON_NONE; k = json_next_member(j, object, k)) {
        json_ref v = json_member_value(j, k);
        size_t n;
        const char *key = json_string(j, k, &n);
        strbuf_printf(prefix, "%s%s", before ? "." : "", key);
        struct strbuf value = {0};
        switch (json_type(j, v)) {
        case JSON_NUMBER:
            strbuf_add_number(&value, json_number(j, v));
            break;
        case JSON_STRING:
            key = json_string(j, v, &n);
            if (n <= 200) /* longer is text, not a value */
                strbuf_add(&value, key);
            break;
        case JSON_TRUE:
        case JSON_FALSE:
            strbuf_add(&value, json_type(j, v) == JSON_TRUE ? "1" : "0");
            break;
        case JSON_OBJECT:
            stated_object(j, v, prefix, out);
            break;
        default:
            break;
        }
        if (value.n && prefix->n <= 200)
            stated_add(out, prefix->at, prefix->n, value.at, value.n);
        strbuf_free(&value);
        prefix->n = before;
        prefix->at[before] = 0;
    }
}

/* Whatever is wrong with the file is no error: it then states nothing, and the run goes on. */
void stated_read(const char *path, stated_list *out)
{
    struct text text;
    struct json j;
    if (!file_read(path, &text, NULL))
        return;
    const char *first = text.at + strspn(text.at, " \t\r\n");
    if (text.n > STATED_BYTES || strlen(text.at) != text.n) {
        /* it grew since, or is binary */
    } else if (*first == '{' && json_parse(&j, path, text.at, text.n, NULL)) {
        struct strbuf prefix = {0};
        stated_object(&j, 0, &prefix, out);
        strbuf_free(&prefix);
        json_free(&j);
    } else if (*first != '{' && !stated_lines(path, text.at, out)) {
        stated_free(out);
        memset(out, 0, sizeof *out);
    }
    text_free(&text);
}

/* FNV-1a over all labels: equal sets in equal order are one item, whichever file has them. */
uint32_t stated_labels(const char *path, stated_list *out)
{
    uint32_t hash = 2166136261u;
    while (*path) {
        size_t part = strcspn(path, "/"), length = part;
        if (!path[part]) { /* the suffix of the file; a dot inside a number is none */
            const char *dot = memrchr(path, '.', part);
            if (dot && !isdigit((unsigned char)dot[1]))
                length = (size_t)(dot - path);
        }
        for (size_t at = 0; at < length;) {
            size_t n = 0;
            while (at + n < length && path[at + n] != ',')
                n++;
            const char *equal = memchr(path + at, '=', n);
            size_t name = equal ? (size_t)(equal - path) - at : 0;
            if (equal && stated_is_name(path + at, name) && name + 1 < n) {
                stated_add(out, path + at, name, equal + 1, n - name - 1);
                for (size_t i = 0; i <= n; i++) /* with an end, so that a,b and ab differ */
                    hash = (hash ^ (i < n ? (unsigned char)path[at + i] : 0)) * 16777619u;
            }
            at += n + 1;
        }
        path += part + (path[part] == '/');
    }
    return out->n ? hash | 1 : 0;
}
