/* A workflow as bytes, and back: its arrays one after the other, as they stand in memory. Reading it
 * is a copy of each, some twenty times quicker than reading the text that it came from.
 *
 * Only the build that wrote it can read it, on a machine of the same kind, and only bytes that are
 * known to be undamaged: who keeps them keeps a checksum, too (session/image.h). Lengths are checked
 * all the same; what the numbers in the arrays say is believed. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stdio.h>

/* Where it goes: NULL only counts. */
struct image_sink {
    FILE *stream;
    uint64_t bytes; /* so far */
    uint32_t crc;   /* CRC-32C of them */
    bool failed;    /* the stream took less */
};

void workflow_image_write(const struct workflow *w, struct image_sink *to);
/* NULL: that is no image of this build. */
struct workflow *workflow_image_read(const void *data, size_t n);

/* The same for what travels, in an eighth of the bytes: numbers of 4 bytes as what they differ from the
 * one before by, and all of it squeezed (base/squeeze.h). `out` is appended to. */
void workflow_image_squeeze(const struct workflow *w, struct strbuf *out);
struct workflow *workflow_image_unsqueeze(const void *data, size_t n);
