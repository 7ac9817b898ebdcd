#include "formats/scan.h"
#include "base/rng.h"
#include "tap.h"

static double parsed(const char *text)
{
    double value = NAN;
    return scan_parse_number(text, strlen(text), &value) ? value : NAN;
}

static void test_numbers(void)
{
    static const char *const good[] = {
        "0",
        "-0",
        "12",
        "-3.5",
        "+7",
        ".5",
        "5.",
        "-.2788416",
        "1e9",
        "1E-9",
        "2.5e+3",
        "0.34473266000938735",
        "9007199254740993",
        "1e22",
        "1e23",
        "123e-30",
        "0.000666666666666667",
        "1.7976931348623157e308",
        "4.9e-324",
        "00012",
        "0.1",
        "18446744073709551615",
        "123456789012345678901234567890",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        is_dbl(parsed(good[i]), strtod(good[i], NULL), 0, "%s is exact", good[i]);
    static const char *const bad[] = {"",      "-",    ".",    "1e",           "1e+",   "nan",
                                      "inf",   "0x10", "1..2", "1,5",          "1e400", "abc",
                                      "1.2.3", "--1",  "1 2",  "1e99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(isnan(parsed(bad[i])), "'%s' is refused", bad[i]);
    struct rng r;
    rng_seed(&r, 7);
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        double value = rng_uniform(&r, -1, 1) * pow(10, (double)rng_below(&r, 60) - 30);
        snprintf(text, sizeof text, "%.*g", (int)rng_below(&r, 18) + 1, value);
        wrong += parsed(text) != strtod(text, NULL);
    }
    is_int(wrong, 0, "20,000 random decimals equal strtod's");
}

static void test_lines(void)
{
    char text[] = "\xEF\xBB\xBF# first\n\n  12 abc\t-3\r\n# x\n9223372036854775808\n7 8";
    struct format_source source = {.path = "f", .text = text, .length = strlen(text)};
    struct scan s;
    struct error err = {0};
    scan_start(&s, &source, "#%");
    ok(scan_line(&s) && s.line == 3, "comments and blank lines are skipped and counted");
    is_int(scan_words_left(&s), 3, "three words");
    int64_t n = 0;
    ok(scan_integer(&s, "id", 0, 12, &n, &err) && n == 12, "an integer in range");
    double x;
    ok(!scan_number(&s, "work", &x, &err), "a word is not a number");
    is_str(err.text, "f:3: work 'abc' is not a finite number", "the error names the place");
    error_clear(&err);
    ok(!scan_integer(&s, "id", 0, 12, &n, &err), "out of range");
    has_str(err.text, "id -3 is out of range: expected 0 to 12", "says what was expected");
    ok(scan_line_done(&s), "carriage return is blank");
    error_clear(&err);
    ok(!scan_number(&s, "time", &x, &err), "missing");
    has_str(err.text, "f:3: the line ends before its time", "says what is missing");
    error_clear(&err);
    ok(scan_line(&s) && !scan_integer(&s, "count", 0, INT64_MAX, &n, &err), "2^63 is refused");
    has_str(err.text, "f:5: count '9223372036854775808' is not a whole number below 2^63", "named");
    error_clear(&err);
    ok(scan_line(&s) && scan_integer(&s, "a", 0, 9, &n, &err) && !scan_require_done(&s, &err),
       "a word too many, on a last line without newline");
    has_str(err.text, "f:6: '8' is one word too many", "named");
    ok(!scan_line(&s) && !scan_any_line(&s), "the end stays the end");
}

int main(void)
{
    TAP_DO(test_numbers());
    TAP_DO(test_lines());
    int64_t n;
    ok(scan_plain_number("17", &n) && n == 17 && !scan_plain_number("017", &n) &&
           !scan_plain_number("+1", &n) && !scan_plain_number("", &n) && scan_plain_number("0", &n),
       "plain numbers");
    ok(scan_has_suffix("a/B.STG", ".stg") && !scan_has_suffix("stg", ".stg"), "suffixes");
    return tap_done();
}
