/* A checksum that tells damage (not malice): CRC-32C. */
#pragma once
#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t n); /* start with 0 */
