/* Doubles from and to decimal text, exactly and quickly: what is written is the shortest text that
 * reads back as the same double, in any locale.
 *
 * 128-bit integers hold every product that is needed for 19 digits and powers of ten up to 27;
 * whatever does not fit goes to strtod() and printf(). */
#include "base/number.h"
#include "base/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

enum { MOST_FIVES = 27 }; /* 5^27 is the last power that fits 64 bits */

static const uint64_t power_of_five[MOST_FIVES + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* digits x 10^exponent, correctly rounded. Powers of two are exact, so only powers of five are
 * multiplied or divided. False: out of range for this; nothing is wrong with the number. */
bool number_from_decimal(uint64_t digits, int64_t exponent, double *out)
{
    if (exponent < -MOST_FIVES || exponent > MOST_FIVES)
        return false;
    if (digits == 0) {
        *out = 0;
    } else if (exponent >= 0) {
        wide product = (wide)digits * power_of_five[exponent];
        *out = ldexp((double)product, (int)exponent);
    } else {
        /* A quotient of 63 or 64 bits; what is left over only matters as "a bit more", in the last
         * bit. */
        uint64_t divisor = power_of_five[-exponent];
        int shift = 63 + __builtin_clzll(digits) - __builtin_clzll(divisor);
        wide dividend = (wide)digits << shift;
        uint64_t quotient = (uint64_t)(dividend / divisor);
        quotient |= (wide)quotient * divisor != dividend;
        *out = ldexp((double)quotient, (int)exponent - shift);
    }
    return true;
}

/* ---- the shortest decimal ---- */

/* Returns the length; `out` ends with a NUL. */
static int put_integer(char *out, int64_t value)
{
    char digits[24], *p = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        *--p = '-';
    int n = (int)(digits + sizeof digits - p);
    memcpy(out, p, (size_t)n);
    out[n] = 0;
    return n;
}

/* digits x 10^(exponent - count + 1) in the notation of %g: `exponent` is that of the first digit.
 */
static int put_decimal(char *out, bool negative, uint64_t digits, int exponent)
{
    char text[24], *p = out;
    int count = put_integer(text, (int64_t)digits);
    while (count > 1 && text[count - 1] == '0')
        count--;
    if (negative)
        *p++ = '-';
    if (exponent < -4) {
        *p++ = text[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, text + 1, (size_t)count - 1);
            p += count - 1;
        }
        p += sprintf(p, "e-%02d", -exponent);
        return (int)(p - out);
    }
    if (exponent < 0) {
        memcpy(p, "0.000", 5);
        p += 1 - exponent;
        memcpy(p, text, (size_t)count);
        p += count;
    } else {
        int whole = exponent + 1 < count ? exponent + 1 : count;
        memcpy(p, text, (size_t)whole);
        p += whole;
        for (int i = whole; i <= exponent; i++)
            *p++ = '0';
        if (count > whole) {
            *p++ = '.';
            memcpy(p, text + whole, (size_t)(count - whole));
            p += count - whole;
        }
    }
    *p = 0;
    return (int)(p - out);
}

/* For 1e-15 <= value < 1e15: the fewest of 15, 16 or 17 significant digits that read back as
 * `value`, by exact arithmetic:
 *
 *     value = m 2^e,  value 10^k = m 5^k 2^(e+k),  and m 5^k < 2^128 for k <= 32
 *
 * so that the rounded digits are a shift away, and reading back is a comparison with half a unit in
 * the last place, 5^k / 2. 17 digits always do. */
static int put_shortest(char *out, bool negative, double value)
{
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(value, &e), 53);
    e -= 53;
    int exponent = (int)floor(log10(value)); /* may be one too large or small at a power of ten */
    for (int count = 15; count <= 17; count++) {
        static const uint64_t ten_to[] = {100000000000000u, 1000000000000000u, 10000000000000000u,
                                          100000000000000000u};
        int k = count - 1 - exponent, shift = -(e + k);
        if (k < 0 || k > 32 || shift <= 0 || shift > 120)
            return 0; /* too large or small for this: the slow way */
        wide five = k <= MOST_FIVES
                        ? power_of_five[k]
                        : (wide)power_of_five[MOST_FIVES] * power_of_five[k - MOST_FIVES];
        wide exact = m * five;
        if (exact >> shift < ten_to[count - 15]) { /* log10 was too large by one */
            exponent--;
            count--;
            continue;
        }
        if (exact >> shift >= ten_to[count - 14]) {
            exponent++;
            count--;
            continue;
        }
        wide half = (wide)1 << (shift - 1);
        wide digits = (exact + half) >> shift;
        if ((digits << shift) - exact == half && (digits & 1)) /* a tie goes to the even digit */
            digits--;
        wide rounded = digits << shift;
        wide off = rounded > exact ? rounded - exact : exact - rounded;
        /* Below a power of two the doubles are twice as dense. */
        bool dense = m == (uint64_t)1 << 52 && rounded < exact;
        if (count == 17 || (dense ? off * 4 : off * 2) < five)
            return put_decimal(out, negative, (uint64_t)digits,
                               exponent + (digits == ten_to[count - 14])); /* 99.9 rounded to 100 */
    }
    return 0;
}

int number_format(char *out, double value)
{
    /* Most numbers in workflow files are small integers. */
    if (value == floor(value) && fabs(value) < 1e15)
        return put_integer(out, (int64_t)value);
    double size = fabs(value);
    if (size >= 1e-15 && size < 1e15) {
        int n = put_shortest(out, value < 0, size);
        if (n)
            return n;
    }
    /* very large and very small numbers, by trial: rare, so slow is fine */
    for (int digits = 15; digits < 17; digits++) {
        int len = sprintf(out, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return len;
    }
    return sprintf(out, "%.17g", value);
}
