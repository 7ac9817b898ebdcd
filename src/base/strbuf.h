/* A growing text buffer. Always NUL-terminated once something was added; strbuf_text() never
 * returns NULL. */
#pragma once
#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *at;
    size_t n, cap;
};

void strbuf_add(struct strbuf *b, const char *text);
void strbuf_add_bytes(struct strbuf *b, const char *text, size_t len);
void strbuf_add_char(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The shortest decimal text that reads back as the same double ("0.1", "1e+30", "12"). Not for NaN.
 */
void strbuf_add_number(struct strbuf *b, double value);
/* Room for so many bytes more, which the caller writes at `at + n` and counts in `n` himself. */
void strbuf_reserve(struct strbuf *b, size_t more);
const char *strbuf_text(const struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_free(struct strbuf *b);
void strbuf_wipe(struct strbuf *b); /* as free, of what nobody may find in memory afterwards */
/* Take the text; the buffer is empty afterwards. The caller frees. */
char *strbuf_steal(struct strbuf *b);

/* The same shortest form into a caller's buffer of at least 32 bytes; returns its length. */
int number_format(char *out, double value);
