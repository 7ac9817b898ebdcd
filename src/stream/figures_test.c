/* Throughput is that of items that follow each other, and of all where none do. */
#include "stream/figures.h"
#include "tap.h"

#include <math.h>

static void is_rate(double got, double expected, const char *what)
{
    ok(fabs(got - expected) < 1e-9 * expected, "%s: %g, expected %g", what, got, expected);
}

static void test_throughput(void)
{
    struct departures steady = {.first_items = 1, .first_in = 5, .first_out = 7, .last_out = 11};
    is_rate(departures_throughput(&steady, 41, 2, false), 10,
            "forty items behind the first in 4 s");
    struct departures batches = {.first_items = 250, .first_in = 0, .first_out = 1, .last_out = 4};
    is_rate(departures_throughput(&batches, 1000, 1, false), 250,
            "what left with the first is not behind it");
    struct departures two = {.first_items = 1, .first_in = 0, .first_out = 1, .last_out = 1.00001};
    is_rate(departures_throughput(&two, 2, 1, false), 2 / 1.00001,
            "two items on two threads are two in their time, not 100,000 a second");
    struct departures paced = {.first_items = 1, .first_in = 0, .first_out = 10, .last_out = 14};
    is_rate(departures_throughput(&paced, 3, 10, true), 0.5,
            "a pace is one from the first item on");
    is_rate(departures_throughput(&paced, 3, 10, false), 3 / 14.0, "without it nothing says so");
    struct departures one = {.first_items = 1, .first_in = 0, .first_out = 4, .last_out = 4};
    is_rate(departures_throughput(&one, 1, 4, true), 0.25, "one item");
    struct departures none = {0};
    ok(departures_throughput(&none, 0, 0, false) == 0 && departures_seconds(&none) == 0, "no item");
    struct departures lost = {.first_items = 5, .first_in = 0, .first_out = 1, .last_out = 2};
    is_rate(departures_throughput(&lost, 3, 0.5, false), 1.5,
            "some of the first were lost on the way");
}

static void test_departures(void)
{
    struct departures d = {0};
    departures_add(&d, 3, 10, 12);
    departures_add(&d, 2, 11, 13);
    departures_add(&d, 4, 12, 15);
    is_rate(departures_throughput(&d, 9, 2, false), 2, "six behind the three that left first");
    is_rate(departures_seconds(&d), 5, "from the first item's entry");
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_throughput), TAP_CASE(test_departures)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
