/* CRC-32C (Castagnoli), eight bytes a step: by the processor's own instruction where it has one, else
 * by tables, which are made before main(), so that threads need no lock. */
#include "base/crc32c.h"
#include <string.h>

static uint32_t table[8][256];

/* table[k][b]: the effect of byte b with k more bytes behind it. */
static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82F63B78u : c >> 1;
        table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

/* The bytes are read little-endian in pairs of words; the tail byte by byte. Takes and gives the
 * complement of the checksum, as the instruction does. */
static uint32_t crc32c_by_tables(uint32_t crc, const unsigned char *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint32_t low, high;
        memcpy(&low, p, 4);
        memcpy(&high, p + 4, 4);
        low ^= crc;
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
              table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return crc;
}

static uint32_t (*crc32c_best)(uint32_t, const unsigned char *, size_t) = crc32c_by_tables;

#ifdef __x86_64__
/* Six times as quick as the tables: a memo or an image of a hundred megabytes is read at every start. */
__attribute__((target("sse4.2"))) static uint32_t
crc32c_by_instruction(uint32_t crc, const unsigned char *p, size_t n)
{
    uint64_t wide = crc, word;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n; n--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

__attribute__((constructor)) static void crc32c_choose(void)
{
    make_tables();
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2"))
        crc32c_best = crc32c_by_instruction;
#endif
}

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
    return ~crc32c_best(~crc, data, n);
}
