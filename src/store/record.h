/* Operations as bytes: what a frame of the journal holds. Each kind keeps only the fields that it
 * uses; numbers are little-endian as in memory (the journal's header refuses a machine of the other
 * kind). */
#pragma once
#include "model/metadata.h"
#include <stdbool.h>

#define RECORD_MAX 64 /* bytes of the longest */

/* Write the operation to `out` (RECORD_MAX bytes are there) and return its length. */
size_t record_write(const struct meta_op *op, unsigned char *out);

/* Read one from `n` bytes; returns its length, 0 when these are none. */
size_t record_read(const unsigned char *data, size_t n, struct meta_op *op);
