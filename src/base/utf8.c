/* UTF-8: validity, encoding, and text made safe to show. Strict: no overlong forms, no surrogates,
 * nothing past U+10FFFF. */
#include "base/utf8.h"
#include <stdbool.h>
#include <string.h>

/* Bytes of the character at `text`; 0: not valid, or cut off. length > 0. */
size_t utf8_character(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    size_t n = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (length < n)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    }
    /* The second byte decides between valid and overlong, surrogate or past U+10FFFF. */
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

/* Bytes that are valid, from the front; ASCII goes eight at a time. */
size_t utf8_valid(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length) {
        uint64_t word;
        if (length - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if (!(word & 0x8080808080808080u)) {
                i += sizeof word;
                continue;
            }
        }
        size_t n = utf8_character(text + i, length - i);
        if (n == 0)
            return i;
        i += n;
    }
    return i;
}

/* One to four bytes for a code point up to U+10FFFF; `out` needs four. */
size_t utf8_encode(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Control characters, and those that turn the direction of writing: both can make a terminal show
 * something that is not there. */
static bool is_control(const unsigned char *s, size_t bytes)
{
    switch (bytes) {
    case 1:
        return *s < 0x20 || *s == 0x7F;
    case 2:
        return s[0] == 0xC2 && s[1] < 0xA0;
    case 3:
        return s[0] == 0xE2 && ((s[1] == 0x80 && s[2] >= 0xAA && s[2] <= 0xAE) ||
                                (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9));
    default:
        return bytes == 0;
    }
}

/* What could steer a terminal becomes '?'. */
void utf8_add_visible(struct strbuf *out, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        size_t bytes = utf8_character(text, left);
        if (is_control((const unsigned char *)text, bytes))
            strbuf_add_char(out, '?');
        else
            strbuf_add_bytes(out, text, bytes);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
}
