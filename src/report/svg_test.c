#include "report/svg.h"
#include "report/wellformed_test.h"
#include "tap.h"

int main(void)
{
    struct strbuf out = {0};
    svg_escape(&out, "<a href=\"x\">&'\x01\x1B\t\xFF ok ü \xE2\x80\xAE \xEF\xBF\xBF");
    is_str(strbuf_text(&out),
           "&lt;a href=&quot;x&quot;&gt;&amp;&#39; \xEF\xBF\xBD ok ü \xE2\x80\xAE ", "escaped");
    static const struct {
        double value;
        const char *text;
    } numbers[] = {
        {0, "0"},       {7, "7"},        {-0.25, "-0.25"}, {12.5, "12.5"},  {0.004, "0"},
        {-0.004, "0"},  {99.999, "100"}, {NAN, "0"},       {INFINITY, "0"}, {1e12, "1000000000000"},
        {0.05, "0.05"}, {10.1, "10.1"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        strbuf_clear(&out);
        svg_number(&out, numbers[i].value);
        is_str(strbuf_text(&out), numbers[i].text, "number %g", numbers[i].value);
    }
    strbuf_clear(&out);
    svg_begin(&out, 100, 50.5, "<&>");
    svg_text(&out, 1, 2, "l", "a<b");
    ok(svg_text_within(&out, 1, 2, "l", "a very long text indeed", 11, 60),
       "a long text is shortened");
    has_str(strbuf_text(&out), "a very…", "with an ellipsis, after a whole word");
    ok(!svg_text_within(&out, 1, 2, "l", "long", 11, 8), "no room, no text");
    static const char *const shortened[][2] = {{"call-of-a-family-name", "call-of-a-family…"},
                                               {"alignReadsToReference", "alignReadsTo…"},
                                               {"abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopq…"},
                                               {"exactly-18-letters", "exactly-18-letters"}};
    for (size_t i = 0; i < sizeof shortened / sizeof *shortened; i++) {
        struct strbuf name = {0};
        svg_shorten(&name, shortened[i][0], 18);
        is_str(strbuf_text(&name), shortened[i][1], "no word is broken: %s", shortened[i][0]);
        strbuf_free(&name);
    }
    svg_printf(&out, "<rect x=\"%f\" class=\"%s\" y=\"%d\" width=\"%u\"/>", 1.5, "\"'", -3, 4u);
    svg_end(&out);
    ok(wellformed(strbuf_text(&out)), "well-formed");
    has_str(strbuf_text(&out), "viewBox=\"0 0 100 50.5\"", "has its size");
    ok(!wellformed("<a><b></a>") && !wellformed("<a x='1'/>") && !wellformed("<a>&nbsp;</a>") &&
           !wellformed("<a/><b/>") && !wellformed("<a"),
       "the check itself finds faults");
    static const double steps[][3] = {{80, 8, 10},  {100, 10, 10}, {1, 5, 0.2},
                                      {7, 10, 0.5}, {0, 5, 1},     {1e-7, 4, 2e-8}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        is_dbl(svg_step(steps[i][0], (unsigned)steps[i][1]), steps[i][2], steps[i][2] * 1e-9,
               "step of %g", steps[i][0]);
    const char *unit;
    is_dbl(svg_time_unit(0, &unit), 1, 0, "nothing: seconds");
    is_dbl(svg_time_unit(0.5, &unit), 1e-3, 0, "half a second in ms");
    is_str(unit, "ms", "its name");
    is_dbl(svg_time_unit(86400.0 * 30, &unit), 86400, 0, "a month in days");
    ok(svg_text_width("WWW", 11) > svg_text_width("iii", 11), "wide letters are wider");
    strbuf_free(&out);
    return tap_done();
}
