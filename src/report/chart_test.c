#include "report/chart.h"
#include "report/wellformed_test.h"
#include "base/mem.h"
#include "tap.h"

static char *line(const struct chart *c)
{
    struct strbuf out = {0};
    report_line_chart(c, &out);
    return strbuf_steal(&out);
}

static char *bars(const struct bar_chart *c)
{
    struct strbuf out = {0};
    report_bar_chart(c, &out);
    return strbuf_steal(&out);
}

static void lines(void)
{
    double x[] = {0, 1, 2, 3}, y[] = {1, 4, NAN, 2}, low[] = {0, 3, 3, 1}, high[] = {2, 5, 5, 3};
    struct chart_series series[] = {
        {.name = "a<b", .x = x, .y = y, .n = 4, .points = true},
        {.name = "band", .x = x, .y = high, .low = low, .high = high, .n = 4, .steps = true},
    };
    struct chart c = {.title = "T & t",
                      .x_title = "x",
                      .y_title = "y",
                      .x_seconds = true,
                      .y_from_zero = true,
                      .series = series,
                      .nseries = 2};
    char *a = line(&c);
    ok(wellformed(a), "well-formed");
    has_str(a, "T &amp; t", "title");
    has_str(a, "a&lt;b", "legend");
    has_str(a, "x (s)", "unit");
    size_t circles = 0;
    for (const char *at = a; (at = strstr(at, "<circle")); at++)
        circles++;
    is_int(circles, 3, "a marker at each point that is a number");
    free(a);
    c = (struct chart){0};
    a = line(&c);
    ok(wellformed(a), "no series");
    free(a);
    double same[] = {5, 5}, zero[] = {0, 0}, huge[] = {-1e308, 1e308}, negative[] = {-1, -2},
           bad[] = {INFINITY, NAN};
    double *const odd[] = {same, zero, huge, negative, bad};
    for (size_t i = 0; i < 5; i++)
        for (int log = 0; log < 2; log++) {
            struct chart_series one = {.x = x, .y = odd[i], .n = 2};
            c = (struct chart){.series = &one, .nseries = 1, .y_log = log, .y_bytes = true};
            a = line(&c);
            ok(wellformed(a) && !strstr(a, "nan") && !strstr(a, "inf"), "odd values %zu, log %d", i,
               log);
            free(a);
        }
    size_t n = 300000;
    double *many_x = mem_new(double, n), *many_y = mem_new(double, n);
    for (size_t i = 0; i < n; i++) {
        many_x[i] = (double)i;
        many_y[i] = (double)(i * 7919 % 1000);
    }
    struct chart_series one = {
        .x = many_x, .y = many_y, .low = many_y, .high = many_y, .n = n, .points = true};
    c = (struct chart){.series = &one, .nseries = 1};
    a = line(&c);
    ok(wellformed(a) && strlen(a) < 200000, "300,000 points: %zu bytes", strlen(a));
    free(a);
    free(many_x);
    free(many_y);
}

static void bar_charts(void)
{
    static const char *const groups[] = {"small", "a group with a very long name indeed & more"};
    static const char *const names[] = {"ours", "theirs"};
    double value[] = {1, 1.2, 0.8, NAN}, low[] = {0.9, 1.1, 0.7, NAN},
           high[] = {1.1, 1.3, 0.9, NAN};
    struct bar_chart c = {.title = "ratio",
                          .y_title = "x",
                          .groups = groups,
                          .ngroups = 2,
                          .series = names,
                          .nseries = 2,
                          .value = value,
                          .low = low,
                          .high = high,
                          .reference = 1};
    char *a = bars(&c);
    ok(wellformed(a), "bars: well-formed");
    has_str(a, "<title>1.2</title>", "bars: tooltip");
    has_str(a, "stroke-dasharray", "bars: reference");
    has_str(a, "rotate(-35)", "bars: long names slant");
    free(a);
    c.y_log = true;
    c.reference = NAN;
    a = bars(&c);
    ok(wellformed(a) && !strstr(a, "stroke-dasharray"), "bars: logarithmic, no reference");
    free(a);
    c = (struct bar_chart){.reference = NAN};
    a = bars(&c);
    ok(wellformed(a), "bars: none");
    free(a);
    double below[] = {-1, 2};
    c = (struct bar_chart){
        .groups = groups, .ngroups = 2, .nseries = 1, .value = below, .reference = NAN};
    a = bars(&c);
    ok(wellformed(a) && !strstr(a, "height=\"-"), "bars: below zero");
    free(a);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(lines),
        TAP_CASE(bar_charts),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
