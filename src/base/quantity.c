/* Numbers with units as people write them: "12M", "1.5Gi", "50ms", "2h". Texts need not end with a
 * NUL. Anything that is not wholly a number is refused: "12 apples" is not 12. */
#include "base/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parse a decimal number at the start of text; returns the bytes used, 0 if there is none. */
static size_t leading_number(const char *text, size_t len, double *out)
{
    char buffer[64];
    size_t n = len < sizeof buffer - 1 ? len : sizeof buffer - 1;
    memcpy(buffer, text, n);
    buffer[n] = 0;
    /* strtod also takes hexadecimal, "inf" and leading blanks: none of them is a number in our
     * files. */
    const char *p = buffer + (*buffer == '-' || *buffer == '+');
    if (!(isdigit((unsigned char)p[0]) || (p[0] == '.' && isdigit((unsigned char)p[1]))))
        return 0;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return 0;
    char *end;
    double value = strtod(buffer, &end);
    if (!isfinite(value))
        return 0;
    *out = value;
    return (size_t)(end - buffer);
}

bool quantity_number(const char *text, size_t len, double *out)
{
    double value;
    if (!len || leading_number(text, len, &value) != len)
        return false;
    *out = value;
    return true;
}

/* Decimal digits with a sign; overflow is a refusal, not a wrap. */
bool quantity_integer(const char *text, size_t len, int64_t *out)
{
    bool negative = len && *text == '-';
    size_t i = negative || (len && *text == '+');
    if (i == len)
        return false;
    int64_t value = 0;
    for (; i < len; i++) {
        if (!isdigit((unsigned char)text[i]))
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    }
    *out = negative ? -value : value;
    return true;
}

/* K, M, G, T, P are powers of 1000, Ki ... of 1024; a B at the end says nothing. */
bool quantity_bytes(const char *text, size_t len, double *out)
{
    double value;
    size_t used = leading_number(text, len, &value);
    if (!used || value < 0)
        return false;
    text += used;
    len -= used;
    while (len && *text == ' ')
        text++, len--;
    if (len && (text[len - 1] == 'B' || text[len - 1] == 'b'))
        len--;
    if (len) {
        static const char prefixes[] = "KMGTP";
        const char *at = strchr(prefixes, toupper((unsigned char)text[0]));
        bool binary = len == 2 && text[1] == 'i';
        if (!*text || !at || (len != 1 && !binary))
            return false;
        value *= pow(binary ? 1024 : 1000, (double)(at - prefixes + 1));
    }
    *out = value;
    return isfinite(value);
}

/* "m" is a minute; a month would be nobody's unit here. */
bool quantity_seconds(const char *text, size_t len, double *out)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
                 {"m", 60}, {"min", 60}, {"h", 3600},  {"d", 86400}};
    double value;
    size_t used = leading_number(text, len, &value);
    if (!used || value < 0)
        return false;
    text += used;
    len -= used;
    while (len && *text == ' ')
        text++, len--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].unit) == len && memcmp(units[i].unit, text, len) == 0) {
            *out = value * units[i].seconds;
            return true;
        }
    return false;
}
