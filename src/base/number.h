/* Decimal digits to double, exactly rounded, without the cost of strtod. The way back is
 * number_format() in strbuf.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The double nearest to digits x 10^exponent (ties to even) into *out. False, without touching it:
 * outside -27 .. 27, where the caller asks strtod. */
bool number_from_decimal(uint64_t digits, int64_t exponent, double *out);
