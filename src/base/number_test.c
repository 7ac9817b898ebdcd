#include "base/number.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "tap.h"

/* What number_format() promises, said slowly. */
static void reference(char *out, double value)
{
    if (value == floor(value) && fabs(value) < 1e15) {
        sprintf(out, "%lld", (long long)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        sprintf(out, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static int wrong;

static void check_format(double value)
{
    char got[40], want[40];
    int n = number_format(got, value);
    reference(want, value);
    if ((strcmp(got, want) != 0 || n != (int)strlen(got)) && wrong++ < 5)
        printf("# %.17g: got '%s', expected '%s'\n", value, got, want);
}

static void check_decimal(uint64_t digits, int exponent)
{
    char text[64];
    double got = -1;
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    if ((!number_from_decimal(digits, exponent, &got) || got != strtod(text, NULL)) && wrong++ < 5)
        printf("# %s: got %.17g\n", text, got);
}

int main(void)
{
    static const double some[] = {0,
                                  1,
                                  -1,
                                  0.5,
                                  0.1,
                                  0.2,
                                  0.3,
                                  0.1 + 0.2,
                                  1e-4,
                                  9.999e-5,
                                  1e-5,
                                  123e-7,
                                  1e14,
                                  999999999999999.9,
                                  1e15,
                                  1e16,
                                  1e300,
                                  5e-324,
                                  1e-15,
                                  9.9e-16,
                                  2.5,
                                  1.0 / 3,
                                  2.0 / 3,
                                  100.25,
                                  0.0625,
                                  1e14 + 0.5,
                                  123456.789,
                                  99.99999999999999,
                                  0.99999999999999989,
                                  9.9999999999999995e-5,
                                  4503599627370496.5,
                                  70368744177664.02};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        check_format(some[i]);
        check_format(-some[i]);
        check_format(nextafter(some[i], INFINITY));
        check_format(nextafter(some[i], -INFINITY));
    }
    is_int(wrong, 0, "chosen numbers");
    for (int e = -60; e <= 60; e++) {
        double power = ldexp(1, e), ten = pow(10, e / 4);
        double near[] = {power, nextafter(power, 0), nextafter(power, INFINITY),
                         ten,   nextafter(ten, 0),   nextafter(ten, INFINITY)};
        for (int i = 0; i < 6; i++)
            check_format(near[i]);
    }
    is_int(wrong, 0, "powers of two and ten, and their neighbours");
    struct rng r;
    rng_seed(&r, 3);
    for (int i = 0; i < 60000; i++) {
        check_format(rng_uniform(&r, -1000, 1000));
        check_format(ldexp(rng_unit(&r), (int)rng_below(&r, 120) - 60));
        check_format((double)rng_below(&r, 100000000) / pow(10, (double)rng_below(&r, 9)));
    }
    is_int(wrong, 0, "random numbers in their shortest form");
    for (int i = 0; i < 60000; i++) {
        uint64_t digits = rng_next(&r) >> rng_below(&r, 64);
        check_decimal(digits, (int)rng_below(&r, 55) - 27);
        check_decimal(digits | 1, (int)rng_below(&r, 20) - 19);
    }
    for (int e = -27; e <= 27; e++) {
        check_decimal(UINT64_MAX, e);
        check_decimal((uint64_t)1 << 53, e);
        check_decimal(((uint64_t)1 << 53) + 1, e);
        check_decimal(((uint64_t)1 << 54) + 2, e); /* a tie */
        check_decimal(1, e);
        check_decimal(0, e);
    }
    is_int(wrong, 0, "decimals are read as strtod reads them");
    double untouched = 7;
    ok(!number_from_decimal(1, 28, &untouched) && !number_from_decimal(1, -28, &untouched) &&
           untouched == 7,
       "larger exponents are left to strtod");
    return tap_done();
}
