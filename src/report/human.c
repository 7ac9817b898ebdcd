/* Numbers as people write them, and the width of text on a terminal. Limits such as 999.5 are where
 * rounding to three digits would give "1000". */
#include "report/human.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "model/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* NaN and the infinities; true when `value` was one. */
static bool human_special(char *out, double value)
{
    if (isfinite(value))
        return false;
    snprintf(out, HUMAN_SIZE, "%s", isnan(value) ? "-" : value < 0 ? "-∞" : "∞");
    return true;
}

/* Four significant digits below 1,000 and no more than is there: 12.5, not 12.50. */
static int human_plain(char *out, double value)
{
    int len = snprintf(out, HUMAN_SIZE, "%.*g", fabs(value) < 1e4 ? 4 : 3, value);
    return len;
}

/* Whole numbers up to 99,999 as they are, then three digits and a letter. */
char *human_number(char *out, double value)
{
    if (human_special(out, value))
        return out;
    double size = fabs(value);
    if (value == floor(value) && size < 1e5) {
        snprintf(out, HUMAN_SIZE, "%.0f", value);
        return out;
    }
    if (size < 1e4) {
        human_plain(out, value);
        return out;
    }
    static const char units[] = "kMGT";
    for (int i = 0; i < 4; i++) {
        value /= 1000;
        size /= 1000;
        if (size < 999.5) {
            snprintf(out, HUMAN_SIZE, "%.3g%c", value, units[i]);
            return out;
        }
    }
    snprintf(out, HUMAN_SIZE, "%.3g", value * 1e12);
    return out;
}

/* Groups of three digits; 26 characters at most. */
char *human_count(char *out, uint64_t value)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *to = out;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

/* Powers of 1000, as disks and networks are sold. */
char *human_bytes(char *out, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    if (human_special(out, bytes))
        return out;
    size_t unit = 0;
    while (fabs(bytes) >= 999.5 && unit < 6) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, HUMAN_SIZE, "%.3g %s", bytes, units[unit]);
    return out;
}

/* Two units above two minutes ("3 min 05 s"), one below: nobody reads "185 s". */
char *human_seconds(char *out, double value)
{
    if (human_special(out, value))
        return out;
    double size = fabs(value);
    if (size == 0)
        snprintf(out, HUMAN_SIZE, "0 s");
    else if (size < 999.5e-9)
        snprintf(out, HUMAN_SIZE, "%.3g ns", value * 1e9);
    else if (size < 999.5e-6)
        snprintf(out, HUMAN_SIZE, "%.3g µs", value * 1e6);
    else if (size < 0.9995)
        snprintf(out, HUMAN_SIZE, "%.3g ms", value * 1e3);
    else if (size < 119.95)
        snprintf(out, HUMAN_SIZE, "%.4g s", value);
    else if (size < 3599.5)
        snprintf(out, HUMAN_SIZE, "%.0f min %02.0f s", trunc(round(value) / 60),
                 fmod(round(size), 60));
    else if (size < 86400 - 30)
        snprintf(out, HUMAN_SIZE, "%.0f h %02.0f min", trunc(round(value / 60) / 60),
                 fmod(round(size / 60), 60));
    else if (size < 1e3 * 86400)
        snprintf(out, HUMAN_SIZE, "%.0f d %.0f h", trunc(round(value / 3600) / 24),
                 fmod(round(size / 3600), 24));
    else
        snprintf(out, HUMAN_SIZE, "%.4g d", value / 86400);
    return out;
}

/* One decimal, but "100 %" and not "100.0 %". */
char *human_percent(char *out, double share)
{
    if (human_special(out, share))
        return out;
    double percent = share * 100;
    snprintf(out, HUMAN_SIZE, fabs(percent) >= 99.95 ? "%.0f %%" : "%.1f %%", percent);
    return out;
}

/* What rounds to nothing has no sign. */
char *human_change(char *out, double change)
{
    if (human_special(out, change))
        return out;
    double percent = round(change * 100);
    snprintf(out, HUMAN_SIZE, percent == 0 ? "0 %%" : "%+.0f %%", percent);
    return out;
}

/* ---- width ---- */

/* The code point of a character that utf8_character() has found to be whole. */
static uint32_t human_decode(const unsigned char *s, size_t bytes)
{
    switch (bytes) {
    case 1:
        return s[0];
    case 2:
        return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F);
    case 3:
        return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    default:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
               (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
    }
}

/* Own table of ranges, not wcwidth(): that one depends on the user's locale. */
static size_t columns_of(uint32_t code)
{
    static const uint32_t none[][2] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
        {0x0E34, 0x0E3A}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F}, {0x202A, 0x202E},
        {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
    };
    static const uint32_t wide[][2] = {
        {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
        {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
        {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (code >= none[i][0] && code <= none[i][1])
            return 0;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (code >= wide[i][0] && code <= wide[i][1])
            return 2;
    return 1;
}

/* The character at `text` (not empty): its bytes, and its columns. */
static size_t next_character(const char *text, size_t *columns)
{
    size_t bytes = utf8_character(text, strnlen(text, 4));
    *columns = bytes ? columns_of(human_decode((const unsigned char *)text, bytes)) : 1;
    return bytes ? bytes : 1;
}

/* Columns on a terminal; a byte that is no UTF-8 counts as one. */
size_t human_width(const char *text)
{
    size_t width = 0, columns;
    for (; *text; width += columns)
        text += next_character(text, &columns);
    return width;
}

/* Bytes of the longest beginning that fits `limit` columns, never within a character. */
size_t human_prefix(const char *text, size_t limit)
{
    size_t used = 0, width = 0, columns;
    while (text[used]) {
        size_t bytes = next_character(text + used, &columns);
        if (width + columns > limit)
            break;
        used += bytes;
        width += columns;
    }
    return used;
}

char *human_when(char *out, double seconds)
{
    time_t whole = (time_t)seconds;
    struct tm tm;
    if (!localtime_r(&whole, &tm) || !strftime(out, HUMAN_SIZE, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(out, HUMAN_SIZE, "-");
    return out;
}

void human_command(struct strbuf *out, int indent, const char *command)
{
    enum { COMMAND_MOST = 1500 }; /* bytes: about a screen */
    size_t n = strlen(command), shown = n > COMMAND_MOST ? COMMAND_MOST : n;
    while (shown && (command[shown - 1] == '\n' || (command[shown] & 0xc0) == 0x80))
        shown--;
    for (size_t at = 0, end; at < shown; at = end + 1) {
        end = at + strcspn(command + at, "\n");
        end = end < shown ? end : shown;
        char *line = mem_copy_bytes(command + at, end - at);
        strbuf_printf(out, "%*s%s", indent, "", at ? "  " : "$ ");
        utf8_add_visible(out, line);
        strbuf_add_char(out, '\n');
        free(line);
    }
    if (n > COMMAND_MOST)
        strbuf_printf(out, "%*s  ... (%zu character%s; --json has them all)\n", indent, "", n,
                      plural(n));
}

void human_environment(struct strbuf *out, int indent, const struct workflow *w, uint32_t task)
{
    enum { ENVIRONMENT_MOST = 400 };
    struct strbuf text = {0};
    if (w && task < w->ntasks && environment_readable(w, task, 1, &text)) {
        if (text.n > ENVIRONMENT_MOST) { /* not in the middle of a character */
            for (text.n = ENVIRONMENT_MOST; (text.at[text.n] & 0xc0) == 0x80;)
                text.n--;
            text.at[text.n] = 0;
            strbuf_add(&text, " ...");
        }
        strbuf_printf(out, "%*s  ", indent, "");
        utf8_add_visible(out, text.at);
        strbuf_add_char(out, '\n');
    }
    strbuf_free(&text);
}
