/* Text that grows. Always ends with a NUL once something was added; a zeroed one is empty and owns
 * nothing. Growth is half as much again, so n bytes cost O(n). */
#include "base/strbuf.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One more for the NUL. */
void strbuf_reserve(struct strbuf *b, size_t more)
{
    size_t want = b->n + more + 1;
    if (want <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < want)
        cap += cap / 2;
    b->at = mem_grow(b->at, cap);
    b->cap = cap;
}

void strbuf_add_bytes(struct strbuf *b, const char *text, size_t len)
{
    strbuf_reserve(b, len);
    if (len)
        memcpy(b->at + b->n, text, len);
    b->n += len;
    b->at[b->n] = 0;
}

void strbuf_add(struct strbuf *b, const char *text)
{
    strbuf_add_bytes(b, text, strlen(text));
}

void strbuf_add_char(struct strbuf *b, char c)
{
    strbuf_add_bytes(b, &c, 1);
}

/* Measured first, written second: the format may be any length. */
void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (need > 0) {
        strbuf_reserve(b, (size_t)need);
        vsnprintf(b->at + b->n, (size_t)need + 1, fmt, again);
        b->n += (size_t)need;
    }
    va_end(again);
}

void strbuf_add_number(struct strbuf *b, double value)
{
    char text[32];
    int len = number_format(text, value);
    strbuf_add_bytes(b, text, (size_t)len);
}

const char *strbuf_text(const struct strbuf *b)
{
    return b->at ? b->at : "";
}

/* Keeps its memory for the next text. */
void strbuf_clear(struct strbuf *b)
{
    b->n = 0;
    if (b->at)
        b->at[0] = 0;
}

void strbuf_free(struct strbuf *b)
{
    free(b->at);
    *b = (struct strbuf){0};
}

void strbuf_wipe(struct strbuf *b)
{
    if (b->at)
        explicit_bzero(b->at, b->n);
    strbuf_free(b);
}

/* The caller frees; never NULL. */
char *strbuf_steal(struct strbuf *b)
{
    char *text = b->at ? b->at : mem_copy_string("");
    *b = (struct strbuf){0};
    return text;
}
