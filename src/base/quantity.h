/* Numbers as people write them in files and options. All return false without touching `out` when
 * the text is not exactly one such number; NaN, infinities and overflow are refused. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool quantity_number(const char *text, size_t len, double *out);   /* 12, -3.5, 1e9 */
bool quantity_integer(const char *text, size_t len, int64_t *out); /* no fraction, fits 63 bits */
/* 12M, 1.5G, 200: K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024; an optional B follows. Not
 * negative. */
bool quantity_bytes(const char *text, size_t len, double *out);
/* 10, 1.5s, 3ms, 20us, 10m, 2h, 1d; a bare number is seconds. Not negative. */
bool quantity_seconds(const char *text, size_t len, double *out);
