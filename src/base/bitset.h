/* Bits in 64-bit words; the caller owns the words. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t bitset_words(size_t bits)
{
    return (bits + 63) / 64;
}
static inline bool bitset_get(const uint64_t *set, size_t i)
{
    return set[i / 64] >> (i % 64) & 1;
}
static inline void bitset_set(uint64_t *set, size_t i)
{
    set[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline void bitset_clear(uint64_t *set, size_t i)
{
    set[i / 64] &= ~((uint64_t)1 << (i % 64));
}
