/* The first error wins: a caller that goes on after a failure cannot hide its cause. All functions
 * return false, so that they can end a function in one line. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

bool error_set(struct error *err, enum error_kind kind, const char *fmt, ...)
{
    if (!err || err->kind != ERROR_NONE)
        return false;
    err->kind = kind;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    return false;
}

bool error_vat(struct error *err, const char *file, size_t line, const char *fmt, va_list args)
{
    if (!err || err->kind != ERROR_NONE)
        return false;
    err->kind = ERROR_INPUT;
    int used = 0;
    if (file && line)
        used = snprintf(err->text, sizeof err->text, "%s:%zu: ", file, line);
    else if (file)
        used = snprintf(err->text, sizeof err->text, "%s: ", file);
    /* a path that fills the whole text would leave no room for what is wrong */
    if (used < 0 || (size_t)used >= sizeof err->text)
        used = 0;
    vsnprintf(err->text + used, sizeof err->text - (size_t)used, fmt, args);
    return false;
}

/* "FILE:LINE: text"; line 0 names the file only. Always ERROR_INPUT: a place in a file is the
 * user's. */
bool error_at(struct error *err, const char *file, size_t line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(err, file, line, fmt, args);
    va_end(args);
    return false;
}

void error_clear(struct error *err)
{
    err->kind = ERROR_NONE;
    err->text[0] = 0;
}
