/* What every reader may ask of its source: options, line numbers, whether the text is UTF-8. */
#include "base/utf8.h"
#include "formats/format.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *format_option(const struct format_source *source, const char *name)
{
    const char *value = NULL; /* the last one given counts, as on a command line */
    for (const struct option_value *o = source->options; o && o->name; o++) {
        if (strcmp(o->name, name) == 0)
            value = o->text;
    }
    return value;
}

bool format_check_options(const struct format *format, const struct option_value *options,
                          struct error *err)
{
    char owner[96];
    size_t n = 0;
    while (options && options[n].name && strcmp(options[n].name, FORMAT_SIMULATES) != 0)
        n++;
    snprintf(owner, sizeof owner, "the reader of %s", format->name);
    return options_check(format->options, owner, options, n, err);
}

/* Counts from the start: for errors, not for every value of a large file. */
size_t format_line(const char *text, const char *at)
{
    size_t line = 1;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        line++;
    return line;
}

/* Readers that trust their text check it once, here, and may then print any part of it. */
bool format_require_utf8(const struct format_source *source, struct error *err)
{
    const unsigned char *s = (const unsigned char *)source->text;
    size_t n = source->length;
    if (n >= 2 && ((s[0] == 0xFF && s[1] == 0xFE) || (s[0] == 0xFE && s[1] == 0xFF)))
        return error_at(err, source->path, 1,
                        "this is UTF-16 text; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
    size_t good = utf8_valid(source->text, n);
    const char *nul = memchr(source->text, '\0', good);
    if (nul)
        return error_at(err, source->path, format_line(source->text, nul),
                        "a NUL byte: not a text file, or UTF-16; expected UTF-8 text");
    if (good < n)
        return error_at(err, source->path, format_line(source->text, source->text + good),
                        "byte 0x%02X is not valid UTF-8; expected UTF-8 text", s[good]);
    return true;
}

size_t format_json_head(const char *text, size_t length)
{
    size_t head = length < 4096 ? length : 4096, i = 0;
    if (head >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        i = 3;
    while (i < head && isspace((unsigned char)text[i]))
        i++;
    return i < head && text[i] == '{' ? head : 0;
}
