/* A value of the constraint language: SQLite's, without blobs. UNKNOWN is SQL's NULL. */
#pragma once
#include <stdbool.h>
#include <string.h>

enum value_kind { VALUE_UNKNOWN, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT };

struct value {
    enum value_kind kind;
    double number;    /* integers too: ids and counts stay far below 2^53 */
    const char *text; /* borrowed from whoever made the value */
};

enum test { TEST_LESS, TEST_AT_MOST, TEST_EQUAL, TEST_DIFFERENT, TEST_AT_LEAST, TEST_MORE };

enum truth { TRUTH_FALSE, TRUTH_TRUE, TRUTH_UNKNOWN };

static inline struct value value_unknown(void)
{
    return (struct value){.kind = VALUE_UNKNOWN};
}
static inline struct value value_integer(double number)
{
    return (struct value){.kind = VALUE_INTEGER, .number = number};
}
static inline struct value value_real(double number)
{
    /* as SQLite: what is no number is unknown */
    return (struct value){.kind = number == number ? VALUE_REAL : VALUE_UNKNOWN, .number = number};
}
static inline struct value value_text(const char *text)
{
    return (struct value){.kind = text ? VALUE_TEXT : VALUE_UNKNOWN, .text = text};
}

/* Less than 0, 0, more than 0; both known. Numbers come before texts, as in SQLite. */
static inline int value_compare(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_TEXT || b->kind == VALUE_TEXT) {
        if (a->kind != b->kind)
            return a->kind == VALUE_TEXT ? 1 : -1;
        return strcmp(a->text, b->text);
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static inline enum truth value_test(const struct value *a, enum test test, const struct value *b)
{
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return TRUTH_UNKNOWN;
    int order = value_compare(a, b);
    switch (test) {
    case TEST_LESS:
        return order < 0;
    case TEST_AT_MOST:
        return order <= 0;
    case TEST_EQUAL:
        return order == 0;
    case TEST_DIFFERENT:
        return order != 0;
    case TEST_AT_LEAST:
        return order >= 0;
    case TEST_MORE:
        return order > 0;
    }
    return TRUTH_UNKNOWN;
}
