/* Reading and writing for workflows and platforms alike: the caller's options as the formats want
 * them. */
#pragma once
#include "api/api.h"
#include "formats/format.h"

/* The file, read, with the caller's options applied to what is taken from it. NULL: an error. */
struct format_file *api_file_open(const char *path, const struct weft_read_options *options,
                                  struct error *err);

/* What a writer needs: api_writing_begin(), the writer, api_writing_end() in any case. */
struct api_writing {
    struct weft_write_options options;
    const struct format *format; /* NULL: by the path */
    struct strbuf dropped;       /* lines */
};
bool api_writing_begin(struct api_writing *w, const struct weft_write_options *options,
                       struct error *err);
/* Tells the caller what was dropped when the writing went well. */
void api_writing_end(struct api_writing *w, bool good);
