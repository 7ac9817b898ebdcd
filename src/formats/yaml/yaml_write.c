/* Strings as YAML: the other half of yaml.h. */
#include "base/quantity.h"
#include "base/utf8.h"
#include "formats/yaml/yaml.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* What some YAML reader, of 1.1 or 1.2, would take for a truth value or for nothing. */
static bool is_keyword(const char *text)
{
    static const char *const words[] = {"null", "~", "true", "false", "yes", "no", "on",
                                        "off",  "y", "n",    "=",     "<<",  NULL};
    for (const char *const *w = words; *w; w++)
        if (strcasecmp(text, *w) == 0)
            return true;
    return false;
}

/* Numbers, dates and times of any YAML version begin like this; a few harmless texts too. */
static bool looks_like_number(const char *text)
{
    const char *p = text + (*text == '-' || *text == '+');
    if (*p == '.' && (strncasecmp(p, ".inf", 4) == 0 || strncasecmp(p, ".nan", 4) == 0))
        return true;
    p += *p == '.';
    if (!isdigit((unsigned char)*p))
        return false;
    return !text[strspn(text, "0123456789abcdefABCDEFxXoO.+-_:TtZz ")];
}

/* Does every reader take this, unquoted, for one scalar? */
static bool may_be_plain(const char *text, enum yaml_place place)
{
    size_t n = strlen(text);
    if (!n || text[0] == ' ' || text[n - 1] == ' ' || text[n - 1] == ':')
        return false;
    if (strchr("-?:,[]{}#&*!|>'\"%@`", text[0])) {
        bool word = text[0] == '-' && isalnum((unsigned char)text[1]);
        if (!word)
            return false;
    }
    if (strncmp(text, "...", 3) == 0)
        return false;
    for (const char *p = text; *p; p++) {
        if ((p[0] == ':' && p[1] == ' ') || (p[0] == ' ' && p[1] == '#'))
            return false;
        if (place == YAML_IN_FLOW && strchr(",[]{}?", *p)) /* PyYAML minds the ? too */
            return false;
        /* "a:b" in [ ] is fine by the standard, but readers differ on ":" before a bracket or comma
         */
        if (place == YAML_IN_FLOW && *p == ':' && !isalnum((unsigned char)p[1]) && p[1] != '/')
            return false;
    }
    return true;
}

/* Only an escape can carry it: control characters, line separators of other alphabets, the byte
 * order mark, broken bytes. */
static bool needs_escape(const char *text, const char *allowed)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80) {
            if ((c < 0x20 || c == 0x7f) && !strchr(allowed, c))
                return true;
            i++;
            continue;
        }
        size_t bytes = utf8_character(text + i, n - i);
        const unsigned char *p = (const unsigned char *)text + i;
        if (!bytes || (p[0] == 0xC2 && p[1] < 0xA0) || /* C1 controls and NEL */
            (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9)) ||
            (p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) ||
            (p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE))
            return true;
        i += bytes;
    }
    return false;
}

/* Double quotes can carry anything. Bytes that are not UTF-8 become U+FFFD and the result is
 * false. */
static bool write_double_quoted(struct strbuf *out, const char *text)
{
    bool good = true;
    size_t n = strlen(text);
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) {
            size_t bytes = utf8_character(text + i, n - i);
            char one[5] = {0};
            memcpy(one, text + i, bytes ? bytes : 1);
            if (!bytes) {
                strbuf_add(out, "\\uFFFD");
                good = false;
            } else if (needs_escape(one, "")) {
                unsigned code = bytes == 2 ? (unsigned)(c & 0x1F) << 6 | (one[1] & 0x3F)
                                           : (unsigned)(c & 0x0F) << 12 | (one[1] & 0x3F) << 6 |
                                                 (one[2] & 0x3F);
                strbuf_printf(out, "\\u%04X", code);
            } else {
                strbuf_add_bytes(out, one, bytes);
            }
            i += bytes ? bytes : 1;
            continue;
        }
        if (c == '"' || c == '\\')
            strbuf_printf(out, "\\%c", c);
        else if (c == '\n')
            strbuf_add(out, "\\n");
        else if (c == '\t')
            strbuf_add(out, "\\t");
        else if (c == '\r')
            strbuf_add(out, "\\r");
        else if (c < 0x20 || c == 0x7f)
            strbuf_printf(out, "\\x%02X", c);
        else
            strbuf_add_char(out, (char)c);
        i++;
    }
    strbuf_add_char(out, '"');
    return good;
}

/* The simplest of plain, 'single' and "double" that every reader understands alike. */
static bool write_scalar(struct strbuf *out, const char *text, enum yaml_place place, bool quote)
{
    quote |= !may_be_plain(text, place);
    if (needs_escape(text, "") || (quote && strchr(text, '\'')))
        return write_double_quoted(out, text);
    strbuf_printf(out, quote ? "'%s'" : "%s", text);
    return true;
}

bool yaml_write_string(struct strbuf *out, const char *text, enum yaml_place place)
{
    return write_scalar(out, text, place, is_keyword(text) || looks_like_number(text));
}

/* A parameter's value: numbers stay bare, since they are texts and numbers at once. */
bool yaml_write_value(struct strbuf *out, const char *text, enum yaml_place place)
{
    return write_scalar(out, text, place, strcasecmp(text, "null") == 0 || strcmp(text, "~") == 0);
}

/* A literal block gives back exactly these lines: no line of blanks only, none that starts the text
 * with a blank, no tabs where indentation is counted, at most one newline at the end. */
static bool may_be_literal(const char *text)
{
    if (!strchr(text, '\n') || strchr(" \t\n", text[0]) || needs_escape(text, "\n\t"))
        return false;
    size_t n = strlen(text);
    if (n >= 2 && text[n - 1] == '\n' && text[n - 2] == '\n')
        return false;
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, "\n"), blanks = strspn(p, " \t");
        if (*p == '\t' || (length && blanks == length))
            return false;
        p += length + (p[length] == '\n');
    }
    return true;
}

/*  keeps the last newline, |- says that there is none. */
bool yaml_write_block(struct strbuf *out, const char *text, size_t indent)
{
    if (!may_be_literal(text))
        return yaml_write_string(out, text, YAML_IN_BLOCK);
    size_t n = strlen(text);
    strbuf_add(out, text[n - 1] == '\n' ? "|" : "|-");
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, "\n");
        strbuf_add_char(out, '\n');
        for (size_t i = 0; length && i < indent + 2; i++)
            strbuf_add_char(out, ' ');
        strbuf_add_bytes(out, p, length);
        p += length + (p[length] == '\n');
    }
    return true;
}
