/* Options by name: what planners, generators and simulated clusters take with --set NAME=VALUE, and
 * readers of files with --read. One row an option, from which checks, error texts, help and documentation follow. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPTION_BOOL,
    OPTION_INTEGER,
    OPTION_NUMBER,
    OPTION_SECONDS, /* 50ms */
    OPTION_CHOICE,
    OPTION_TEXT,
    OPTION_BYTES, /* 12M, 1.5Gi */
    OPTION_COUNT, /* a whole number with a unit where one is handy: 20k */
    OPTION_TYPES,
};

struct option {
    const char *name;
    enum option_type type;
    const char *standard; /* default, as the user would write it; NULL: it depends */
    const char *choices;  /* for OPTION_CHOICE: "a|b|c" */
    double least, most;   /* for numbers, inclusive; both 0: no limit */
    const char *help;     /* one line */
};
/* Tables of them end with a NULL name; a table that is NULL has none. */

/* An option as the user gave it. */
struct option_value {
    const char *name, *text;
};

/* "bool", "integer", ...: as lists of options show it. */
const char *option_type_name(enum option_type type);
/* NULL: there is none of that name. */
const struct option *option_find(const struct option *table, const char *name);

/* Type, limits and choices of a value. `before` stands in front of the error's NAME=VALUE. */
bool option_check(const struct option *o, const char *before, const char *text, struct error *err);
/* Help, a line an option: "name=a|b   what it does". Cut off at `size` as by snprintf(), without an
 * end of line after the last. */
void option_describe(const struct option *table, char *out, size_t size);
/* Names and values of a list. `owner`: whose they are, for error texts ("planner 'heft'"). */
bool options_check(const struct option *table, const char *owner, const struct option_value *values,
                   size_t n, struct error *err);

/* ---- values that were checked: the last one given, else the default ---- */

/* NULL: there is no such option. */
const char *option_text(const struct option *table, const struct option_value *values, size_t n,
                        const char *name);
/* The number in a text of the option's type; 0 for texts and choices, 1 for yes. */
double option_number(const struct option *o, const char *text);
