/* Reading and writing for workflows and platforms alike. */
#include "api/files.h"

#include <string.h>

/* NULL without an error: none was named. */
static bool files_format(const char *name, const struct format **format, struct error *err)
{
    *format = name ? format_find(name) : NULL;
    if (name && !*format)
        return error_set(err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them",
                         name);
    return true;
}

struct format_file *api_file_open(const char *path, const struct weft_read_options *options,
                                  struct error *err)
{
    struct weft_read_options own = WEFT_READ_INIT;
    const struct format *format;
    struct api_pairs pairs = {0};
    struct format_file *f = NULL;
    if (api_options(&own, options, err) && files_format(own.format, &format, err) &&
        api_pairs_split(&pairs, own.options, err)) {
        struct format_option *set = mem_new_zero(struct format_option, pairs.n + 1);
        for (size_t i = 0; i < pairs.n; i++)
            set[i] = (struct format_option){pairs.at[i].name, pairs.at[i].text};
        f = format_file_open(path, format, set, err);
        free(set);
    }
    api_pairs_free(&pairs);
    return f;
}

bool api_writing_begin(struct api_writing *w, const struct weft_write_options *options,
                       struct error *err)
{
    *w = (struct api_writing){.options = WEFT_WRITE_INIT};
    return api_options(&w->options, options, err) &&
           files_format(w->options.format, &w->format, err);
}

void api_writing_end(struct api_writing *w, bool good)
{
    char *rest = NULL;
    char *line = good && w->dropped.n ? strtok_r(w->dropped.at, "\n", &rest) : NULL;
    for (; line && w->options.dropped; line = strtok_r(NULL, "\n", &rest))
        w->options.dropped(w->options.context, line);
    strbuf_free(&w->dropped);
}
