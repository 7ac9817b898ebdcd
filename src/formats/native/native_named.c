/* Named inputs and outputs: `in: { genome: ref.fa, reads: "reads/{s}.fq" }` and {in.genome},
 * {in.reads.list} in the command.
 *
 * The model knows files by their place: a name becomes the places of its files, {in[0]} or
 * {in[1:4].list}, when the command is read. A file that stands under two names has two places: the
 * builder finds that they are one. */
#include "base/suggest.h"
#include "base/plural.h"
#include "formats/native/native_reading.h"
#include "model/command.h"
#include "model/condition.h"

#include <stdio.h>
#include <string.h>

/* "0", "1:4", "1:4,7": the places of a name, in its order. */
static void add_places(const struct native_reading *r, const struct native_named *x,
                       struct strbuf *out)
{
    const uint32_t *at = r->named_place.at + x->first;
    strbuf_add(out, x->count ? "" : "0:0");
    for (uint32_t i = 0; i < x->count;) {
        uint32_t end = i + 1;
        while (end < x->count && at[end] == at[end - 1] + 1)
            end++;
        strbuf_printf(out, "%s%u", i ? "," : "", at[i]);
        if (end > i + 1)
            strbuf_printf(out, ":%u", at[end - 1] + 1);
        i = end;
    }
}

static const struct native_named *find_named(const struct native_reading *r, bool out,
                                             const char *name, size_t length)
{
    for (size_t i = 0; i < r->named.n; i++) {
        const struct native_named *x = &r->named.at[i];
        if (x->out == out && strncmp(x->name, name, length) == 0 && !x->name[length])
            return x;
    }
    return NULL;
}

/* Always false. */
static bool unknown_name(const struct native_reading *r, yaml_ref at, const char *what, bool out,
                         const char *name, size_t length)
{
    const char **names = mem_new(const char *, r->named.n + 1), *near;
    char copy[100];
    size_t count = 0;
    for (size_t i = 0; i < r->named.n; i++)
        if (r->named.at[i].out == out)
            names[count++] = r->named.at[i].name;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 90 ? length : 90), name);
    near = suggest_nearest(copy, names, count);
    native_error(&r->file, at, "%s names {%s.%s}, but no %sput is called '%s'%s%s%s", what,
                 out ? "out" : "in", copy, out ? "out" : "in", copy, near ? "; did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
    free(names);
    return false;
}

/* {in.NAME} or {in.NAME.list} at `p`: its length, 0: it is neither. */
static size_t named_mark(const char *p, bool *out, const char **name, size_t *length, bool *list)
{
    *out = strncmp(p, "{out.", 5) == 0;
    if (!*out && strncmp(p, "{in.", 4) != 0)
        return 0;
    *name = p + (*out ? 5 : 4);
    size_t n = strcspn(*name, "{}");
    if ((*name)[n] != '}')
        return 0;
    *length = strcspn(*name, ".{}");
    *list = n == *length + 5 && strncmp(*name + *length, ".list", 5) == 0;
    bool all = n == 4 && strncmp(*name, "list", 4) == 0; /* {in.list}: of all of them */
    return !all && command_is_name(*name, *length) && (n == *length || *list)
               ? (size_t)(*name - p) + n + 1
               : 0;
}

bool native_fill_named(struct native_reading *r, yaml_ref at, const char *text, size_t length,
                       struct strbuf *out)
{
    const char *end = text + length;
    strbuf_clear(out);
    for (const char *p = text; p < end;) {
        size_t plain = strcspn(p, "{"), n = 0, name_length = 0;
        bool output = false, list = false;
        const char *name = NULL;
        strbuf_add_bytes(out, p, plain);
        p += plain;
        if (p >= end)
            break;
        bool ours = p[1] != '{' && !command_behind_dollar(text, p);
        n = ours ? named_mark(p, &output, &name, &name_length, &list) : 0;
        if (!n) {
            size_t skip = p[1] == '{' ? 2 : 1;
            strbuf_add_bytes(out, p, skip);
            p += skip;
            continue;
        }
        const struct native_named *x = find_named(r, output, name, name_length);
        if (!x)
            return unknown_name(r, at, "its command", output, name, name_length);
        if (x->count || list) {
            strbuf_add(out, output ? "{out[" : "{in[");
            add_places(r, x, out);
            strbuf_add(out, list ? "].list}" : "]}");
        }
        p += n;
    }
    strbuf_add(out, "");
    return true;
}

/* ---- conditions ---- */

/* A value in a condition: by itself a word of it, in quotes a part of their text. */
static void add_condition_value(struct strbuf *out, const char *value, char quote)
{
    if (!quote) {
        condition_add_value(out, value);
        return;
    }
    for (const char *c = value; *c; c++) {
        if (*c == '\\' || *c == '"' || *c == '\'')
            strbuf_add_char(out, '\\');
        if (*c == '{' || *c == '}')
            strbuf_add_char(out, *c);
        strbuf_add_char(out, *c);
    }
}

/* What stands at the brace `p`: passed over. False: an error. */
static bool fill_condition_mark(struct native_reading *r, yaml_ref v, const char *what, char quote,
                                const char **p, struct strbuf *out)
{
    bool output, list = false;
    const char *name = NULL, *from = *p;
    size_t length = 0, n = named_mark(from, &output, &name, &length, &list);
    if (r->names_files && strncmp(from, "{in.", 4) == 0) {
        output = list = false;
        name = from + 4;
        length = strcspn(name, "{}");
        n = name[length] == '}' ? length + 5 : 0;
    }
    const struct native_named *x = n && !list ? find_named(r, output, name, length) : NULL;
    size_t word = strcspn(from + 1, "{}");
    bool file = !n && word >= 2 &&
                (strncmp(from + 1, "in", 2) == 0 || strncmp(from + 1, "out", 3) == 0) &&
                from[1 + word] == '}' && !command_is_name(from + 1, word);
    file |= word == 2 && strncmp(from + 1, "in}", 3) == 0;
    file |= word == 3 && strncmp(from + 1, "out}", 4) == 0;
    if (n && !list && !x)
        return unknown_name(r, v, what, output, name, length);
    if (quote && (n || file))
        return native_error(&r->file, v, "%s: a file stands within quotes; there it is no file",
                            what);
    if (x && x->count != 1)
        return native_error(&r->file, v,
                            "%s: {%.*s} stands for %u file%s, and a condition asks one", what,
                            (int)(n - 2), from + 1, x->count, plural(x->count));
    if (x) {
        strbuf_printf(out, "{%s[%u]}", output ? "out" : "in", r->named_place.at[x->first]);
    } else if (file && (word == 2 || word == 3) && r->places[word == 3] == 1) {
        strbuf_add(out, word == 3 ? "{out[0]}" : "{in[0]}");
        n = word + 2;
    } else if (file || n) { /* the condition's parser tells what is wrong with it, if anything is */
        strbuf_add_bytes(out, from, word + 2);
        n = word + 2;
    } else {
        const char *value = NULL;
        if (from[1 + word] != '}' || !command_is_name(from + 1, word))
            return native_error(&r->file, v,
                                "%s: '%.40s' is neither a file nor a value; expected {in}, "
                                "{in.NAME} or the name of a variable or parameter",
                                what, from);
        value = scope_value(&r->scope, &r->file, v, what, from + 1, word);
        if (!value)
            return false;
        add_condition_value(out, value, quote);
        n = word + 2;
    }
    *p += n;
    return true;
}

bool native_fill_condition(struct native_reading *r, yaml_ref v, const char *what,
                           struct strbuf *out)
{
    const char *text;
    size_t length;
    char quote = 0;
    if (!native_plain_text(&r->file, v, what, &text, &length))
        return false;
    strbuf_clear(out);
    for (const char *p = text; *p;) {
        if (*p == '\\' && quote && p[1]) {
            strbuf_add_bytes(out, p, 2);
            p += 2;
        } else if ((*p == '{' || *p == '}') && p[1] == *p) {
            strbuf_add_bytes(out, p, 2);
            p += 2;
        } else if (*p == '{') {
            if (!fill_condition_mark(r, v, what, quote, &p, out))
                return false;
        } else {
            quote = quote ? (*p == quote ? 0 : quote) : *p == '"' || *p == '\'' ? *p : 0;
            strbuf_add_char(out, *p++);
        }
    }
    strbuf_add(out, "");
    return true;
}
