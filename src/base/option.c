/* Options by name: finding, checking and reading values against a table of rows. Tables have a
 * handful of rows, so everything is linear; nothing is kept, so any thread may ask. */
#include "base/option.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a type is called in lists, what its values look like in error texts, and what stands for one
 * in help. */
static const struct {
    const char *name, *expected, *stands;
} option_types[OPTION_TYPES] = {
    [OPTION_BOOL] = {"bool", "yes or no", "yes|no"},
    [OPTION_INTEGER] = {"integer", "a whole number", "N"},
    [OPTION_NUMBER] = {"number", "a number", "NUMBER"},
    [OPTION_SECONDS] = {"seconds", "a time such as 10, 50ms or 2h", "TIME"},
    [OPTION_CHOICE] = {"choice", "one of ", ""},
    [OPTION_TEXT] = {"text", "a text", "TEXT"},
    [OPTION_BYTES] = {"bytes", "a size such as 200, 12M or 1.5Gi", "SIZE"},
    [OPTION_COUNT] = {"count", "a whole number", "N"},
};

const char *option_type_name(enum option_type type)
{
    return option_types[type].name;
}

const struct option *option_find(const struct option *table, const char *name)
{
    for (; table && table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static const char *option_stands(const struct option *o)
{
    return o->choices ? o->choices : option_types[o->type].stands;
}

void option_describe(const struct option *table, char *out, size_t size)
{
    size_t widest = 0, used = 0;
    for (const struct option *o = table; o && o->name; o++) {
        size_t width = strlen(o->name) + 1 + strlen(option_stands(o));
        widest = width > widest ? width : widest;
    }
    *out = 0;
    for (const struct option *o = table; o && o->name && used < size; o++) {
        int pad = (int)(widest - strlen(o->name) - 1);
        used += (size_t)snprintf(out + used, size - used, "%s%s=%-*s   %s", used ? "\n" : "",
                                 o->name, pad, option_stands(o), o->help);
    }
}

/* Always false; with the nearest name, else all of them. */
static bool option_unknown(const struct option *table, const char *owner, const char *name,
                           struct error *err)
{
    struct strbuf known = {0};
    const char *names[64]; /* more than any table has; what is beyond is only not suggested */
    size_t count = 0;
    for (const struct option *o = table; o && o->name && count < 64; o++) {
        strbuf_printf(&known, "%s%s", count ? ", " : "", o->name);
        names[count++] = o->name;
    }
    const char *near = count ? suggest_nearest(name, names, count) : NULL;
    if (!count)
        error_set(err, ERROR_INPUT, "%s has no option '%s': it has none at all", owner, name);
    else if (near)
        error_set(err, ERROR_INPUT, "%s has no option '%s'; did you mean '%s'?", owner, name, near);
    else
        error_set(err, ERROR_INPUT, "%s has no option '%s'; it has: %s", owner, name,
                  strbuf_text(&known));
    strbuf_free(&known);
    return false;
}

static bool option_is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; length && at;) {
        const char *end = strchrnul(at, '|');
        if ((size_t)(end - at) == length && memcmp(at, text, length) == 0)
            return true;
        at = *end ? end + 1 : NULL;
    }
    return false;
}

/* Yes and no as people type them. */
static bool option_parse_truth(const char *text, double *out)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    return false;
}

static bool option_parse(const struct option *o, const char *text, double *out)
{
    size_t length = strlen(text);
    int64_t whole;
    *out = 0;
    switch (o->type) {
    case OPTION_BOOL:
        return option_parse_truth(text, out);
    case OPTION_INTEGER:
        if (!quantity_integer(text, length, &whole))
            return false;
        *out = (double)whole;
        return true;
    case OPTION_NUMBER:
        return quantity_number(text, length, out);
    case OPTION_SECONDS:
        return quantity_seconds(text, length, out);
    case OPTION_BYTES:
        return quantity_bytes(text, length, out);
    case OPTION_COUNT:
        return quantity_bytes(text, length, out) && *out == floor(*out);
    case OPTION_CHOICE:
        return option_is_choice(o->choices, text);
    case OPTION_TEXT:
    case OPTION_TYPES:
        break;
    }
    return true;
}

bool option_check(const struct option *o, const char *before, const char *text, struct error *err)
{
    double value;
    if (!option_parse(o, text, &value))
        return error_set(err, ERROR_INPUT, "%s%s=%s: expected %s%s", before, o->name, text,
                         option_types[o->type].expected,
                         o->type == OPTION_CHOICE ? o->choices : "");
    if ((o->least != 0 || o->most != 0) && (value < o->least || value > o->most))
        return error_set(err, ERROR_INPUT, "%s%s=%s is out of range: expected %.12g to %.12g",
                         before, o->name, text, o->least, o->most);
    return true;
}

/* All of them before anything is done: a mistake in the last one costs nothing. */
bool options_check(const struct option *table, const char *owner, const struct option_value *values,
                   size_t n, struct error *err)
{
    char before[128];
    snprintf(before, sizeof before, "%s: ", owner);
    for (size_t i = 0; i < n; i++) {
        const struct option *o = option_find(table, values[i].name);
        if (!o)
            return option_unknown(table, owner, values[i].name, err);
        if (!option_check(o, before, values[i].text, err))
            return false;
    }
    return true;
}

const char *option_text(const struct option *table, const struct option_value *values, size_t n,
                        const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (strcmp(values[i].name, name) == 0)
            return values[i].text;
    const struct option *o = option_find(table, name);
    return o ? o->standard : NULL;
}

double option_number(const struct option *o, const char *text)
{
    double value;
    return option_parse(o, text, &value) ? value : 0;
}
