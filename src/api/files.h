/* Reading and writing for workflows and platforms alike: the caller's options as the formats want
 * them, and files that may hold either. */
#pragma once
#include "api/api.h"
#include "base/strbuf.h"
#include "formats/format.h"

/* The file, read, with the caller's options applied to what is taken from it. NULL: an error. */
struct format_file *api_file_open(const char *path, const struct weft_read_options *options,
                                  struct error *err);
/* The same for a text, which it takes. */
struct format_file *api_file_of(const char *name, struct text text,
                                const struct weft_read_options *options, struct error *err);

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

/* A buffer as a text of the caller's (weft_text_free); `n` may be NULL. */
char *api_text(struct strbuf *text, size_t *n);

/* A generator by name with the caller's options; api_generated_free() in any case. */
struct generator;
struct api_generated {
    const struct generator *generator;
    struct api_pairs pairs;
};
bool api_generator(const char *name, const char *const *options, struct api_generated *out,
                   struct error *err);
void api_generated_free(struct api_generated *g);
