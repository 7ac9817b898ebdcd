/* The functions of JX. A table with the least and most arguments of each; a function gets them
 * evaluated, but for those that evaluate them themselves once for each item (select, project).
 *
 * What looks outside the file: listdir() and fetch(), below the workflow's folder or where an absolute
 * name says; the network never. */
#include "base/file.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "formats/jx/jx.h"

#include <libgen.h>
#include <math.h>
#include <regex.h>
#include <string.h>
#include <sys/stat.h>

typedef const struct jx_node *jx_value;

enum { JX_ARGUMENTS = 32 };

struct jx_arguments {
    struct jx_evaluation *e;
    jx_value call;
    const struct jx_scope *scope;
    uint32_t n;
    const jx_value *at; /* values; trees for those that are lazy */
};

/* Always NULL: "join(): argument 2 is an integer; expected a string". */
static jx_value wrong_argument(const struct jx_arguments *a, uint32_t i, const char *expected)
{
    return jx_error(a->e, a->call, "%s(): argument %u is %s; expected %s", a->call->item[0]->text,
                    i + 1, jx_type_name(a->at[i]), expected);
}

static jx_value made_integer(const struct jx_arguments *a, int64_t value)
{
    struct jx_node *v = jx_make(a->e, JX_INTEGER, a->call);
    if (v)
        v->integer = value;
    return v;
}

static jx_value made_text(const struct jx_arguments *a, struct strbuf *text)
{
    jx_value v = jx_make_string(a->e, strbuf_text(text), text->n, a->call);
    strbuf_free(text);
    return v;
}

static jx_value made_array(const struct jx_arguments *a, jx_items *items)
{
    jx_value v = jx_make_array(a->e, items, a->call);
    array_free(items);
    return v;
}

/* ---- numbers ---- */

/* Counted before it is made. */
static jx_value call_range(const struct jx_arguments *a)
{
    int64_t x[3] = {0, 0, 1};
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->at[i]->type != JX_INTEGER)
            return wrong_argument(a, i, "an integer");
        x[a->n == 1 ? 1 : i] = a->at[i]->integer;
    }
    if (x[2] == 0)
        return jx_error(a->e, a->call, "range(): the step is 0");
    uint64_t span = x[2] > 0 ? (uint64_t)x[1] - (uint64_t)x[0] : (uint64_t)x[0] - (uint64_t)x[1],
             step = x[2] > 0 ? (uint64_t)x[2] : 0 - (uint64_t)x[2],
             count = (x[2] > 0 ? x[1] > x[0] : x[1] < x[0]) ? (span - 1) / step + 1 : 0;
    if (!jx_room(a->e->store, count) || a->e->steps + count > JX_STEPS_MOST)
        return jx_error(
            a->e, a->call, "range(): %llu value%s more are too many; a file makes at most %d",
            (unsigned long long)count, plural((unsigned long long)count), JX_NODES_MOST);
    jx_items items = {0};
    array_reserve(&items, count);
    for (uint64_t i = 0; i < count; i++) {
        jx_value v = made_integer(a, (int64_t)((uint64_t)x[0] + i * (uint64_t)x[2]));
        if (!v) {
            array_free(&items);
            return NULL;
        }
        array_push(&items, v);
    }
    a->e->steps += count;
    return made_array(a, &items);
}

/* A double stays one, as in Makeflow: ceil(1.2) is 2.0 and prints as 2. */
static jx_value rounded(const struct jx_arguments *a, double (*round_by)(double))
{
    if (a->at[0]->type == JX_INTEGER)
        return a->at[0];
    if (a->at[0]->type != JX_NUMBER)
        return wrong_argument(a, 0, "a number");
    struct jx_node *v = jx_make(a->e, JX_NUMBER, a->call);
    if (v)
        v->number = round_by(a->at[0]->number);
    return v;
}

static jx_value call_ceil(const struct jx_arguments *a)
{
    return rounded(a, ceil);
}

static jx_value call_floor(const struct jx_arguments *a)
{
    return rounded(a, floor);
}

/* ---- texts ---- */

/* One %x of a format. False: an error. */
static bool add_formatted(const struct jx_arguments *a, char c, uint32_t i, struct strbuf *out)
{
    static const char letters[] = "eEfFgG";
    static const char *const forms[] = {"%e", "%E", "%f", "%F", "%g", "%G"};
    const char *letter = strchr(letters, c);
    enum jx_type wanted = c == 's' ? JX_STRING : c == 'd' || c == 'i' ? JX_INTEGER : JX_NUMBER;
    if (!c || (wanted == JX_NUMBER && !letter))
        return jx_error(
                   a->e, a->call,
                   "format(): '%%%.1s' means nothing; expected %%s, %%d, %%i, %%f, %%e, %%g or "
                   "%%%%, without a width",
                   c ? &c : "") != NULL;
    if (i >= a->n)
        return jx_error(a->e, a->call, "format(): there is no value for '%%%c'", c) != NULL;
    if (a->at[i]->type != wanted)
        return wrong_argument(a, i,
                              wanted == JX_STRING ? "a string for %s"
                              : wanted == JX_INTEGER
                                  ? "an integer for %d"
                                  : "a number with a point for %f, %e or %g") != NULL;
    if (wanted == JX_STRING)
        strbuf_add_bytes(out, a->at[i]->text, a->at[i]->n);
    else if (wanted == JX_INTEGER)
        jx_add_number(out, a->at[i]);
    else
        strbuf_printf(out, forms[letter - letters], a->at[i]->number);
    return true;
}

/* As many values as places: one too many is a slip, too. */
static jx_value call_format(const struct jx_arguments *a)
{
    struct strbuf out = {0};
    uint32_t next = 1;
    bool good = true;
    if (a->at[0]->type != JX_STRING)
        return wrong_argument(a, 0, "a string");
    for (const char *p = a->at[0]->text; *p && good; p++) {
        if (*p != '%') {
            strbuf_add_char(&out, *p);
        } else if (*++p == '%') {
            strbuf_add_char(&out, '%');
        } else {
            good = add_formatted(a, *p, next++, &out);
            p -= !*p;
        }
    }
    if (good && next < a->n)
        good = jx_error(a->e, a->call, "format(): %u value%s, but %u place%s for them", a->n - 1,
                        plural(a->n - 1), next - 1, plural(next - 1)) != NULL;
    if (good)
        return made_text(a, &out);
    strbuf_free(&out);
    return NULL;
}

/* A blank between them, if nothing is said. Numbers are refused, as by Makeflow: "" + i makes a text
 * of one. */
static jx_value call_join(const struct jx_arguments *a)
{
    if (a->at[0]->type != JX_ARRAY)
        return wrong_argument(a, 0, "an array");
    if (a->n > 1 && a->at[1]->type != JX_STRING)
        return wrong_argument(a, 1, "a string");
    jx_value list = a->at[0];
    struct strbuf out = {0};
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->item[i]->type != JX_STRING) {
            strbuf_free(&out);
            return jx_error(a->e, a->call, "join(): item %u is %s; expected strings", i,
                            jx_type_name(list->item[i]));
        }
        if (i)
            strbuf_add(&out, a->n > 1 ? a->at[1]->text : " ");
        strbuf_add_bytes(&out, list->item[i]->text, list->item[i]->n);
        if (out.n > JX_TEXT_MOST)
            break;
    }
    return made_text(a, &out);
}

/* POSIX: of "a/" it is "a", of "" it is ".". A suffix that it has goes. */
static jx_value call_basename(const struct jx_arguments *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->at[i]->type != JX_STRING)
            return wrong_argument(a, i, "a string");
    char *copy = mem_copy_string(a->at[0]->text), *name = basename(copy);
    size_t n = strlen(name), suffix = a->n > 1 ? a->at[1]->n : 0;
    if (suffix && suffix <= n && strcmp(name + n - suffix, a->at[1]->text) == 0)
        n -= suffix;
    jx_value v = jx_make_string(a->e, name, n, a->call);
    free(copy);
    return v;
}

/* POSIX: of "b" it is ".", of "/b" it is "/". */
static jx_value call_dirname(const struct jx_arguments *a)
{
    if (a->at[0]->type != JX_STRING)
        return wrong_argument(a, 0, "a string");
    char *copy = mem_copy_string(a->at[0]->text), *name = dirname(copy);
    jx_value v = jx_make_string(a->e, name, strlen(name), a->call);
    free(copy);
    return v;
}

/* One word of a shell, in double quotes. */
static jx_value call_escape(const struct jx_arguments *a)
{
    if (a->at[0]->type != JX_STRING)
        return wrong_argument(a, 0, "a string");
    struct strbuf out = {0};
    strbuf_add_char(&out, '"');
    for (const char *p = a->at[0]->text; *p; p++) {
        if (strchr("\"\\$`", *p))
            strbuf_add_char(&out, '\\');
        strbuf_add_char(&out, *p);
    }
    strbuf_add_char(&out, '"');
    return made_text(a, &out);
}

/* "out.{i}.txt": {name} at p, after its brace. NULL: an error. Returns what is behind it. */
static const char *add_template_word(const struct jx_arguments *a, const char *p,
                                     struct strbuf *out)
{
    char name[128];
    p += strspn(p, " \t\n");
    size_t n = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    const char *close = p + n + strspn(p + n, " \t\n");
    if (!n || n >= sizeof name || (*p >= '0' && *p <= '9') || *close != '}') {
        jx_error(a->e, a->call,
                 "template(): '{%.40s' is no name in braces; write {{ for a brace itself", p);
        return NULL;
    }
    memcpy(name, p, n);
    name[n] = 0;
    bool found = true;
    jx_value v = a->n > 1 ? jx_member(a->at[1], name) : NULL;
    if (!v)
        v = jx_find(a->e, a->scope, name, &found);
    if (!v)
        return found ? NULL
                     : (const char *)jx_error(a->e, a->call,
                                              "template(): {%s} stands for nothing; write {{%s}} "
                                              "if the braces belong to the text",
                                              name, name);
    if (v->type == JX_STRING)
        strbuf_add_bytes(out, v->text, v->n);
    else if (v->type == JX_INTEGER || v->type == JX_NUMBER)
        jx_add_number(out, v);
    else
        return (const char *)jx_error(a->e, a->call,
                                      "template(): {%s} is %s; expected a string or "
                                      "a number",
                                      name, jx_type_name(v));
    return close + 1;
}

/* Its names are looked for in its own object first, then where it stands. */
static jx_value call_template(const struct jx_arguments *a)
{
    struct strbuf out = {0};
    if (a->at[0]->type != JX_STRING)
        return wrong_argument(a, 0, "a string");
    if (a->n > 1 && a->at[1]->type != JX_OBJECT)
        return wrong_argument(a, 1, "an object");
    for (const char *p = a->at[0]->text; p && *p;) {
        if (*p != '{' && *p != '}') {
            strbuf_add_char(&out, *p++);
        } else if (p[1] == *p) {
            strbuf_add_char(&out, *p);
            p += 2;
        } else if (*p == '}') {
            jx_error(a->e, a->call, "template(): a '}' without its '{'; write }} for a brace");
            p = NULL;
        } else {
            p = add_template_word(a, p + 1, &out);
        }
        if (!p || out.n > JX_TEXT_MOST) {
            strbuf_free(&out);
            return p ? jx_error(a->e, a->call, "template(): the text is too long") : NULL;
        }
    }
    return made_text(a, &out);
}

/* POSIX extended, somewhere in the string. */
static jx_value call_like(const struct jx_arguments *a)
{
    regex_t r;
    for (uint32_t i = 0; i < 2; i++)
        if (a->at[i]->type != JX_STRING)
            return wrong_argument(a, i, "a string");
    /* x{1000}{1000} takes all memory, a back reference all time: the library has no bounds */
    const char *back = strpbrk(a->at[1]->text, "\\{");
    while (back && *back == '\\' && !(back[1] >= '0' && back[1] <= '9'))
        back = strpbrk(back + 1 + (back[1] != 0), "\\{");
    if (a->at[1]->n > 200 || back)
        return jx_error(a->e, a->call,
                        "like(): the pattern is longer than 200 characters, counts with {} or "
                        "refers back");
    if (regcomp(&r, a->at[1]->text, REG_EXTENDED | REG_NOSUB) != 0)
        return jx_error(a->e, a->call, "like(): '%.80s' is no regular expression", a->at[1]->text);
    struct jx_node *v = jx_make(a->e, JX_BOOLEAN, a->call);
    a->e->steps += a->at[0]->n;
    if (v)
        v->truth = regexec(&r, a->at[0]->text, 0, NULL, 0) == 0;
    regfree(&r);
    return v;
}

/* ---- arrays and objects ---- */

static jx_value call_len(const struct jx_arguments *a)
{
    if (a->at[0]->type != JX_ARRAY)
        return wrong_argument(a, 0, "an array");
    return made_integer(a, a->at[0]->n);
}

/* In the order in which they are written. */
static jx_value members_of(const struct jx_arguments *a, bool keys, bool values)
{
    jx_items items = {0};
    jx_value object = a->at[0];
    if (object->type != JX_OBJECT)
        return wrong_argument(a, 0, "an object");
    a->e->steps += object->n;
    for (uint32_t i = 0; i < object->n; i += 2) {
        jx_items pair = {0};
        if (keys && values) {
            array_push(&pair, object->item[i]);
            array_push(&pair, object->item[i + 1]);
            jx_value v = made_array(a, &pair);
            if (!v) {
                array_free(&items);
                return NULL;
            }
            array_push(&items, v);
        } else {
            array_push(&items, object->item[i + values]);
        }
    }
    return made_array(a, &items);
}

static jx_value call_keys(const struct jx_arguments *a)
{
    return members_of(a, true, false);
}

static jx_value call_values(const struct jx_arguments *a)
{
    return members_of(a, false, true);
}

static jx_value call_items(const struct jx_arguments *a)
{
    return members_of(a, true, true);
}

/* The types of the keys of an object, or of an array of objects together. */
static jx_value call_schema(const struct jx_arguments *a)
{
    static const char *const names[] = {"null",   "boolean", "integer", "float",
                                        "string", "array",   "object"};
    jx_value of = a->at[0];
    jx_items items = {0};
    if (of->type != JX_OBJECT)
        return wrong_argument(a, 0, "an object");
    for (uint32_t i = 0; i < of->n; i += 2) {
        const char *name = names[of->item[i + 1]->type];
        jx_value type = jx_make_string(a->e, name, strlen(name), a->call);
        if (!type) {
            array_free(&items);
            return NULL;
        }
        array_push(&items, of->item[i]);
        array_push(&items, type);
    }
    jx_value v = made_array(a, &items);
    if (v)
        ((struct jx_node *)v)->type = JX_OBJECT;
    return v;
}

/* select(list, condition) and project(list, expression): the keys of each object are names in it. */
static jx_value for_each_object(const struct jx_arguments *a, bool select)
{
    jx_value list = jx_evaluate(a->e, a->at[0], a->scope);
    jx_items items = {0};
    if (!list)
        return NULL;
    const char *name = a->call->item[0]->text;
    if (list->type != JX_ARRAY)
        return jx_error(a->e, a->call, "%s(): argument 1 is %s; expected an array of objects", name,
                        jx_type_name(list));
    for (uint32_t i = 0; i < list->n; i++) {
        jx_value v = NULL;
        if (list->item[i]->type != JX_OBJECT) {
            jx_error(a->e, a->call, "%s(): item %u is %s; expected objects", name, i,
                     jx_type_name(list->item[i]));
        } else {
            struct jx_scope inner = {a->scope, NULL, list->item[i]};
            v = jx_evaluate(a->e, a->at[1], &inner);
        }
        if (v && select && v->type != JX_BOOLEAN)
            v = jx_error(a->e, a->call, "%s(): the condition is %s; expected a boolean", name,
                         jx_type_name(v));
        if (!v) {
            array_free(&items);
            return NULL;
        }
        if (!select || v->truth)
            array_push(&items, select ? list->item[i] : v);
    }
    return made_array(a, &items);
}

static jx_value call_select(const struct jx_arguments *a)
{
    return for_each_object(a, true);
}

static jx_value call_project(const struct jx_arguments *a)
{
    return for_each_object(a, false);
}

/* A file may say itself what is wrong with what it was given. */
static jx_value call_error(const struct jx_arguments *a)
{
    struct strbuf text = {0};
    if (a->at[0]->type == JX_STRING)
        strbuf_add(&text, a->at[0]->text);
    else if (a->at[0]->type == JX_INTEGER || a->at[0]->type == JX_NUMBER)
        jx_add_number(&text, a->at[0]);
    jx_error(a->e, a->call, "error(): %.300s", strbuf_text(&text));
    strbuf_free(&text);
    return NULL;
}

/* ---- outside ---- */

/* The path of the first argument; NULL: an error. */
static const char *jx_outside_path(const struct jx_arguments *a, struct strbuf *path)
{
    if (a->at[0]->type != JX_STRING)
        return (const char *)wrong_argument(a, 0, "a string");
    if (strstr(a->at[0]->text, "://"))
        return (const char *)jx_error(a->e, a->call,
                                      "%s(): weft fetches nothing from the network; bring '%.100s' "
                                      "here first",
                                      a->call->item[0]->text, a->at[0]->text);
    if (!a->e->folder)
        return (const char *)jx_error(a->e, a->call, "%s(): this text may look at no files",
                                      a->call->item[0]->text);
    a->e->outside = true;
    return path_in(a->e->folder, a->at[0]->text, path);
}

/* Sorted, as no two file systems have the same order. */
static jx_value call_listdir(const struct jx_arguments *a)
{
    struct strbuf path = {0};
    folder_names names = {0};
    jx_items items = {0};
    const char *folder = jx_outside_path(a, &path);
    bool good = folder != NULL;
    if (good && !folder_list(folder, &names))
        good =
            jx_error(a->e, a->call, "listdir(): the folder %.200s cannot be read", folder) != NULL;
    for (size_t i = 0; good && i < names.n; i++) {
        size_t n = strlen(names.at[i]);
        jx_value v =
            utf8_valid(names.at[i], n) == n
                ? jx_make_string(a->e, names.at[i], n, a->call)
                : jx_error(a->e, a->call, "listdir(): a name in %.200s is no UTF-8", folder);
        good = v != NULL;
        array_push(&items, v);
    }
    folder_names_free(&names);
    strbuf_free(&path);
    if (good)
        return made_array(a, &items);
    array_free(&items);
    return NULL;
}

/* A file of JSON: its values, no names. */
static jx_value call_fetch(const struct jx_arguments *a)
{
    struct strbuf path = {0};
    struct text text;
    struct stat s;
    jx_value v = NULL;
    const char *file = jx_outside_path(a, &path);
    struct error err = {0};
    if (file && (stat(file, &s) != 0 || !S_ISREG(s.st_mode) || !file_read(file, &text, &err))) {
        jx_error(a->e, a->call, "fetch(): %.200s is no file that can be read", file);
    } else if (file) {
        struct jx_evaluation inner = {.store = a->e->store,
                                      .file = file,
                                      .err = a->e->err,
                                      .steps = a->e->steps,
                                      .depth = a->e->depth};
        if (utf8_valid(text.at, text.n) != text.n || strlen(text.at) != text.n)
            jx_error(a->e, a->call, "fetch(): %.200s is no text in UTF-8", file);
        else
            v = jx_parse(a->e->store, file, text.at, text.n, a->e->err);
        v = v ? jx_evaluate(&inner, v, NULL) : NULL;
        a->e->steps = inner.steps;
        text_free(&text);
    }
    strbuf_free(&path);
    return v;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    uint32_t least, most;
    jx_value (*call)(const struct jx_arguments *a);
    bool lazy; /* gets trees */
} functions[] = {
    {"range", 1, 3, call_range, false},       {"format", 1, JX_ARGUMENTS, call_format, false},
    {"join", 1, 2, call_join, false},         {"ceil", 1, 1, call_ceil, false},
    {"floor", 1, 1, call_floor, false},       {"basename", 1, 2, call_basename, false},
    {"dirname", 1, 1, call_dirname, false},   {"escape", 1, 1, call_escape, false},
    {"template", 1, 2, call_template, false}, {"len", 1, 1, call_len, false},
    {"keys", 1, 1, call_keys, false},         {"values", 1, 1, call_values, false},
    {"items", 1, 1, call_items, false},       {"like", 2, 2, call_like, false},
    {"schema", 1, 1, call_schema, false},     {"select", 2, 2, call_select, true},
    {"where", 2, 2, call_select, true},       {"project", 2, 2, call_project, true},
    {"listdir", 1, 1, call_listdir, false},   {"fetch", 1, 1, call_fetch, false},
    {"error", 1, 1, call_error, false},
};
enum { JX_FUNCTIONS = sizeof functions / sizeof *functions };

/* Always NULL: what it could have been. */
static jx_value unknown_function(const struct jx_evaluation *e, jx_value call)
{
    const char *names[JX_FUNCTIONS];
    for (size_t i = 0; i < JX_FUNCTIONS; i++)
        names[i] = functions[i].name;
    const char *name = call->item[0]->text, *near = suggest_nearest(name, names, JX_FUNCTIONS);
    return jx_error(e, call, "there is no function '%.80s' in JX, or weft does not know it%s%s%s",
                    name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Arguments are evaluated from the left; the number of them is checked before. */
jx_value jx_call(struct jx_evaluation *e, jx_value call, const struct jx_scope *scope)
{
    const char *name = call->item[0]->text;
    jx_value values[JX_ARGUMENTS];
    size_t f = 0;
    while (f < JX_FUNCTIONS && strcmp(functions[f].name, name) != 0)
        f++;
    if (f == JX_FUNCTIONS)
        return unknown_function(e, call);
    struct jx_arguments a = {e, call, scope, call->n - 1, values};
    if (a.n < functions[f].least || a.n > functions[f].most)
        return jx_error(e, call, "%s() has %u argument%s; expected %u to %u", name, a.n,
                        plural(a.n), functions[f].least, functions[f].most);
    for (uint32_t i = 0; i < a.n; i++) {
        values[i] =
            functions[f].lazy ? call->item[i + 1] : jx_evaluate(e, call->item[i + 1], scope);
        if (!values[i])
            return NULL;
    }
    return functions[f].call(&a);
}
