/* What a large workflow was read as, kept beside the memo, so that the next run copies some arrays
 * instead of reading the text again: a million tasks in a tenth of the time.
 *
 *     STATE/image-NAME      NAME: of the workflow's file
 *
 *     head    "weftimag", digest of what it was read from (formats/format.h), bytes and CRC-32C of
 *             the body, CRC-32C of the head
 *     body    model/image.h
 *
 * The text is read and hashed at every start: times and sizes of files are not believed. An image
 * that is of another text, path, option or build of weft, or that is damaged, is as good as none.
 * Losing one costs time only, so nothing is synced and no failure is told. */
#pragma once
#include "base/digest.h"
#include "formats/format.h"
#include "model/workflow.h"
#include <stdbool.h>

struct image {
    char *path;        /* NULL: none is wanted */
    struct digest key; /* of what the workflow was read from */
    bool stands;       /* it is there and is this one */
};

/* The workflow in `file`, from the image in the folder `state` or from the text, which is taken
 * either way. NULL: an error. Free the image in the end. */
struct workflow *image_read_workflow(struct image *i, const char *state, struct format_file *file,
                                     struct error *err);
/* Write what was read, if it is worth it and not there. `w` is as the reader returned it. */
void image_keep(struct image *i, const struct workflow *w);
void image_free(struct image *i);
