/* Errors: a kind for programs, a text for people.
 *
 * Every fallible function takes a `struct error *` as its last parameter and returns false (or
 * NULL) after filling it. The kind is also the exit status of the program. The text names the place
 * first
 * ("flow.yaml:12: task 'b': ..."), then the cause, then what was expected. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum error_kind {
    ERROR_NONE = 0,
    ERROR_FAILED = 1,     /* the run failed, a plan is not valid */
    ERROR_INPUT = 2,      /* wrong usage or bad input */
    ERROR_INFEASIBLE = 3, /* no plan can meet what was asked */
    ERROR_MEMORY = 4, /* memory ran out inside a boundary (base/mem.h); the program exits with 1 */
};

struct error {
    enum error_kind kind;
    char text[1536];
};

/* Fill `err` (which may be NULL) and return false, so that callers write `return error_set(...)`.
 * A second error does not overwrite the first: the cause is the interesting one. */
bool error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Bad input at a place: "file:line: text". `file` may be NULL, `line` 0 when unknown. */
bool error_at(struct error *err, const char *file, size_t line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

bool error_vat(struct error *err, const char *file, size_t line, const char *fmt, va_list args)
    __attribute__((format(printf, 4, 0)));

/* Forget the error, so that the struct can be used again. */
void error_clear(struct error *err);
