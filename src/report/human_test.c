#include "report/human.h"
#include "tap.h"

int main(void)
{
    char out[HUMAN_SIZE];
    static const struct {
        double value;
        const char *number, *bytes, *seconds;
    } rows[] = {
        {0, "0", "0 B", "0 s"},
        {80, "80", "80 B", "80 s"},
        {12.5, "12.5", "12.5 B", "12.5 s"},
        {0.00123456, "0.001235", "0.00123 B", "1.23 ms"},
        {3.4e-6, "3.4e-06", "3.4e-06 B", "3.4 µs"},
        {5e-10, "5e-10", "5e-10 B", "0.5 ns"},
        {0.99996, "1", "1 B", "1 s"},
        {119.99, "120", "120 B", "2 min 00 s"},
        {200, "200", "200 B", "3 min 20 s"},
        {12345.6, "12.3k", "12.3 kB", "3 h 26 min"},
        {1234, "1234", "1.23 kB", "20 min 34 s"},
        {3599.7, "3600", "3.6 kB", "1 h 00 min"},
        {86399, "86399", "86.4 kB", "1 d 0 h"},
        {1.2e9, "1.2G", "1.2 GB", "1.389e+04 d"},
        {99999999, "100M", "100 MB", "1157 d"},
        {7.8e18, "7.8e+18", "7.8 EB", "9.028e+13 d"},
        {-2500000, "-2.5M", "-2.5 MB", "-28 d 22 h"},
        {INFINITY, "∞", "∞", "∞"},
        {-INFINITY, "-∞", "-∞", "-∞"},
        {NAN, "-", "-", "-"},
        {1e300, "1e+300", "1e+282 EB", "1.157e+295 d"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        is_str(human_number(out, rows[i].value), rows[i].number, "number %g", rows[i].value);
        is_str(human_bytes(out, rows[i].value), rows[i].bytes, "bytes %g", rows[i].value);
        is_str(human_seconds(out, rows[i].value), rows[i].seconds, "seconds %g", rows[i].value);
    }
    is_str(human_count(out, 0), "0", "count 0");
    is_str(human_count(out, 999), "999", "count 999");
    is_str(human_count(out, 1234567), "1,234,567", "count in groups");
    is_str(human_count(out, UINT64_MAX), "18,446,744,073,709,551,615", "the largest count");
    is_str(human_percent(out, 0.0312), "3.1 %", "percent");
    is_str(human_percent(out, 1), "100 %", "all");
    is_str(human_change(out, 0.123), "+12 %", "more");
    is_str(human_change(out, -0.5), "-50 %", "less");
    is_str(human_change(out, -0.001), "0 %", "nearly the same has no sign");
    is_int(human_width("abc"), 3, "ASCII");
    is_int(human_width("größe"), 5, "umlauts take one column");
    is_int(human_width("e\xCC\x81"), 1, "a combining mark takes none");
    is_int(human_width("日本"), 4, "wide characters take two");
    is_int(human_width("\xFF\xFE"), 2, "bytes that are no UTF-8 take one each");
    is_int(human_width(""), 0, "empty");
    is_int(human_prefix("größe", 3), 4, "prefix ends after whole characters");
    is_int(human_prefix("日本", 3), 3, "half a wide character does not fit");
    is_int(human_prefix("ab", 9), 2, "all of it");
    return tap_done();
}
