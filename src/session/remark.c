/* Remarks: a formatted line handed to whoever listens. */
#include "session/remark.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void remark(const struct remarks *r, enum remark_kind kind, const char *fmt, ...)
{
    if (!r || !r->say)
        return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n < 0)
        return;
    char *text = mem_new(char, (size_t)n + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    r->say(r->context, kind, text);
    free(text);
}
