/* The little of SVG that the pictures need: escaping, numbers, estimates of text widths, colours,
 * round steps. svg_printf() is the only way text gets into a picture, and it escapes. */
#include "report/svg.h"
#include "report/human.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Title for those who do not see the picture, and a style of few classes: h heading, s subtitle, l
 * label, t tick, m middle, e end. */
void svg_begin(struct strbuf *out, double width, double height, const char *title)
{
    svg_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %f %f\" width=\"%f\" "
               "height=\"%f\" role=\"img\">\n<title>%s</title>\n",
               width, height, width, height, title);
    strbuf_add(out,
               "<style>text{font-family:'Helvetica Neue',Helvetica,Arial,'DejaVu "
               "Sans',sans-serif;fill:#222}.h{font-size:16px;font-weight:600}.s{font-size:12px;"
               "fill:#555}.l{font-size:11px}.t{font-size:11px;fill:#555}.m{text-anchor:middle}"
               ".e{text-anchor:end}</style>\n");
    svg_printf(out, "<rect width=\"%f\" height=\"%f\" fill=\"#fff\"/>\n", width, height);
}

void svg_end(struct strbuf *out)
{
    strbuf_add(out, "</svg>\n");
}

/* Also safe inside HTML and inside attributes. Bytes that are no UTF-8 become U+FFFD. */
void svg_escape(struct strbuf *out, const char *text)
{
    size_t left = strlen(text);
    while (left) {
        size_t bytes = utf8_character(text, left);
        const unsigned char *s = (const unsigned char *)text;
        if (bytes == 0)
            strbuf_add(out, "\xEF\xBF\xBD");
        else if (*s == '<')
            strbuf_add(out, "&lt;");
        else if (*s == '>')
            strbuf_add(out, "&gt;");
        else if (*s == '&')
            strbuf_add(out, "&amp;");
        else if (*s == '"')
            strbuf_add(out, "&quot;");
        else if (*s == '\'')
            strbuf_add(out, "&#39;");
        else if (*s == '\t' || *s == '\n')
            strbuf_add_char(out, ' ');
        else if (*s < 0x20 || *s == 0x7F || (bytes == 2 && s[0] == 0xC2 && s[1] < 0xA0) ||
                 (bytes == 3 && s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE))
            ; /* not allowed in XML, or of no use: dropped */
        else
            strbuf_add_bytes(out, text, bytes);
        bytes = bytes ? bytes : 1;
        text += bytes;
        left -= bytes;
    }
}

/* At most two decimals, no exponent, no "-0". */
void svg_number(struct strbuf *out, double value)
{
    if (!isfinite(value))
        value = 0;
    if (fabs(value) < 1e9) {
        /* by hand: pictures have a hundred thousand of them, and printf is slow and follows the
         * locale */
        int64_t hundredths = (int64_t)llround(value * 100);
        char text[32], *at = text + sizeof text;
        bool negative = hundredths < 0;
        uint64_t rest = (uint64_t)(negative ? -hundredths : hundredths);
        unsigned fraction = (unsigned)(rest % 100);
        rest /= 100;
        if (fraction % 10)
            *--at = (char)('0' + fraction % 10);
        if (fraction) {
            *--at = (char)('0' + fraction / 10);
            *--at = '.';
        }
        do
            *--at = (char)('0' + rest % 10);
        while (rest /= 10);
        if (negative)
            *--at = '-';
        strbuf_add_bytes(out, at, (size_t)(text + sizeof text - at));
        return;
    }
    strbuf_printf(out, "%.0f", value);
}

/* A format of our own: %s escapes, %f has at most two decimals, and no locale matters. */
void svg_printf(struct strbuf *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    for (const char *at = fmt; *at; at++) {
        const char *next = strchrnul(at, '%');
        strbuf_add_bytes(out, at, (size_t)(next - at));
        if (!*next)
            break;
        at = next + 1;
        switch (*at) {
        case 's':
            svg_escape(out, va_arg(args, const char *));
            break;
        case 'c':
            strbuf_add_char(out, (char)va_arg(args, int));
            break;
        case 'd':
            strbuf_printf(out, "%d", va_arg(args, int));
            break;
        case 'u':
            strbuf_printf(out, "%u", va_arg(args, unsigned));
            break;
        case 'f':
            svg_number(out, va_arg(args, double));
            break;
        default:
            abort(); /* a mistake in the caller */
        }
    }
    va_end(args);
}

void svg_text(struct strbuf *out, double x, double y, const char *class, const char *text)
{
    svg_printf(out, "<text class=\"%s\" x=\"%f\" y=\"%f\">%s</text>\n", class, x, y, text);
}

/* No font is at hand: three classes of letters, by the widths of Helvetica, a little generous. */
double svg_text_width(const char *text, double size)
{
    double width = 0;
    for (const char *at = text; *at;) {
        size_t bytes = utf8_character(at, strnlen(at, 4));
        unsigned char c = (unsigned char)*at;
        if (bytes > 1) {
            char one[5] = {0};
            memcpy(one, at, bytes);
            width += (double)human_width(one) * 0.62;
            at += bytes;
            continue;
        }
        if (strchr("ijltfrI|.,:;'!()[]/ -", c))
            width += 0.36;
        else if (strchr("mwMW@%", c))
            width += 0.88;
        else if (c >= 'A' && c <= 'Z')
            width += 0.70;
        else
            width += 0.575;
        at++;
    }
    return width * size;
}

/* Where to cut a text so that no word is broken: after the last whole word of the first `n` bytes, if that leaves
 * at least a third of them; a name without words is cut anywhere. */
static size_t svg_word_end(const char *text, size_t n)
{
    static const char joints[] = " _-./@=,:;+";
    for (size_t at = n; at > n / 3 && at > 1; at--) {
        unsigned char last = (unsigned char)text[at - 1], next = (unsigned char)text[at];
        if (strchr(joints, next) && !strchr(joints, last)) /* a joint after it, or the end */
            return at;
        if (islower(last) && isupper(next)) /* mProjectPP: words begin with capitals */
            return at;
    }
    return n;
}

void svg_shorten(struct strbuf *out, const char *text, size_t columns)
{
    if (human_width(text) <= columns) {
        strbuf_add(out, text);
        return;
    }
    strbuf_add_bytes(out, text, svg_word_end(text, human_prefix(text, columns - 1)));
    strbuf_add(out, "…");
}

/* False: not even two characters and an ellipsis fit; nothing is drawn. */
bool svg_text_within(struct strbuf *out, double x, double y, const char *class, const char *text,
                     double size, double room)
{
    if (svg_text_width(text, size) <= room) {
        svg_text(out, x, y, class, text);
        return true;
    }
    /* the longest beginning that fits together with the ellipsis */
    size_t low = 0, high = human_width(text);
    char *copy = NULL;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        free(copy);
        copy = mem_copy_bytes(text, human_prefix(text, middle));
        if (svg_text_width(copy, size) + 0.9 * size <= room)
            low = middle;
        else
            high = middle - 1;
    }
    free(copy);
    if (low < 2)
        return false;
    size_t cut = svg_word_end(text, human_prefix(text, low));
    copy = mem_copy_bytes(text, cut);
    svg_printf(out, "<text class=\"%s\" x=\"%f\" y=\"%f\">%s…</text>\n", class, x, y, copy);
    free(copy);
    return true;
}

const char *svg_fill(uint32_t colour)
{
    /* Paul Tol's "light" scheme, made for fills behind black text */
    static const char *const fills[SVG_COLOURS] = {"#77AADD", "#EE8866", "#EEDD88", "#44BB99",
                                                   "#FFAABB", "#BBCC33", "#99DDFF", "#AAAA00"};
    return colour < SVG_COLOURS ? fills[colour] : colour == SVG_FAILED ? "#F0525A" : "#D4D4D4";
}

const char *svg_stroke(uint32_t colour)
{
    /* Okabe and Ito's, without the yellow that white swallows */
    static const char *const strokes[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                          "#E69F00", "#56B4E9", "#444444"};
    return strokes[colour % 7];
}

/* 1, 2 or 5 times a power of ten, so that the range has about `parts` steps. */
double svg_step(double range, unsigned parts)
{
    if (!(range > 0) || !isfinite(range) || !parts)
        return 1;
    double raw = range / parts, power = pow(10, floor(log10(raw)));
    double digit = raw / power;
    double step = (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
    return step > 0 && isfinite(step) ? step : range;
}

/* The unit in which the largest time is between 1 and a few hundred. */
double svg_time_unit(double most, const char **name)
{
    static const struct {
        double below, unit;
        const char *name;
    } units[] = {{1e-6, 1e-9, "ns"},    {1e-3, 1e-6, "µs"},    {1, 1e-3, "ms"},
                 {600, 1, "s"},         {3 * 3600, 60, "min"}, {3 * 86400, 3600, "h"},
                 {INFINITY, 86400, "d"}};
    size_t i = 3; /* nothing to show: seconds */
    if (most > 0)
        for (i = 0; most >= units[i].below && i < 6; i++)
            ;
    *name = units[i].name;
    return units[i].unit;
}

double svg_legend_entry(struct strbuf *out, double x, double y, const char *fill, const char *text)
{
    svg_printf(out,
               "<rect x=\"%f\" y=\"%f\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\" "
               "stroke=\"#333\" stroke-opacity=\".45\" stroke-width=\".6\"/>\n",
               x, y - 9.5, fill);
    svg_text(out, x + 16, y, "l", text);
    return x + 16 + svg_text_width(text, 11) + 16;
}
