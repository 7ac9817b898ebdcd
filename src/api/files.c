/* Reading and writing for workflows and platforms alike, and files that may hold either. */
#include "api/files.h"

#include <pthread.h>
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

/* A file (`path`), or a text under a name, with the caller's options. */
static struct format_file *files_open(const char *path, const struct text *text,
                                      const struct weft_read_options *options, struct error *err)
{
    struct weft_read_options own = WEFT_READ_INIT;
    const struct format *format;
    struct api_pairs pairs = {0};
    struct format_file *f = NULL;
    if (api_options(&own, options, err) && files_format(own.format, &format, err) &&
        api_pairs_split(&pairs, own.options, err))
        f = text ? format_file_of(path, *text, format, pairs.at)
                 : format_file_open(path, format, pairs.at, err);
    api_pairs_free(&pairs);
    return f;
}

struct format_file *api_file_open(const char *path, const struct weft_read_options *options,
                                  struct error *err)
{
    return files_open(path, NULL, options, err);
}

struct format_file *api_file_of(const char *name, struct text text,
                                const struct weft_read_options *options, struct error *err)
{
    struct format_file *f = files_open(name ? name : "<text>", &text, options, err);
    if (!f)
        text_free(&text);
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

char *api_text(struct strbuf *text, size_t *n)
{
    if (n)
        *n = text->n;
    return strbuf_steal(text);
}

EXPORT void weft_text_free(char *text)
{
    free(text);
}

/* The help of all readers' options, made once: the list lends texts that live for ever. */
enum { FILES_FORMATS = 64, FILES_HELP = 768 }; /* twice as many, twice as long as any there is */
static char files_help[FILES_FORMATS][FILES_HELP];
static pthread_once_t files_help_once = PTHREAD_ONCE_INIT;

static void files_make_help(void)
{
    for (size_t i = 0; i < FILES_FORMATS && format_registry[i]; i++)
        option_describe(format_registry[i]->options, files_help[i], FILES_HELP);
}

EXPORT bool weft_format(size_t i, struct weft_format *out)
{
    for (size_t k = 0; k < i; k++)
        if (!format_registry[k])
            return false;
    const struct format *f = format_registry[i];
    if (!f)
        return false;
    pthread_once(&files_help_once, files_make_help);
    *out = (struct weft_format){
        .name = f->name,
        .summary = f->summary,
        .suffixes = f->suffixes,
        .reader_options = i < FILES_FORMATS && *files_help[i] ? files_help[i] : NULL,
        .reads_workflow = f->read_workflow != NULL,
        .writes_workflow = f->write_workflow != NULL,
        .reads_platform = f->read_platform != NULL,
        .writes_platform = f->write_platform != NULL,
    };
    return true;
}

EXPORT const char *weft_format_for(const char *format, const char *path, struct weft_error *error)
{
    API_CALL(call, error)
    {
        const struct format *found;
        if (files_format(format, &found, &call.err) && !found)
            found = format_for_path(path, &call.err);
        call.result = found ? (char *)(uintptr_t)found->name : NULL;
    }
    return api_result(&call);
}

/* ---- files that may hold a workflow, a platform or a plan ---- */

EXPORT struct weft_file *weft_file_open(const char *path, const struct weft_read_options *options,
                                        struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct format_file *file = api_file_open(path, options, &call.err);
        if (file) {
            struct weft_file *f = mem_new_zero(struct weft_file, 1);
            f->file = file;
            call.result = f;
        }
    }
    return api_result(&call);
}

EXPORT void weft_file_close(struct weft_file *f)
{
    if (!f)
        return;
    format_file_close(f->file);
    free(f);
}

EXPORT bool weft_file_to_annotate(struct weft_file *f, struct weft_error *error)
{
    API_CALL(call, error)
    call.good = format_file_to_annotate(f->file, &call.err);
    return api_end(&call);
}

EXPORT bool weft_file_annotate(struct weft_file *f, const struct weft_workflow *w, const char *path,
                               void (*wrote)(void *context, const char *path), void *context,
                               size_t *overridden, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct format_copies copies = {0};
        call.good = format_file_annotate(f->file, w->model, path, &copies, &call.err);
        for (size_t i = 0; call.good && wrote && i < copies.files.n; i++)
            wrote(context, copies.files.at[i].path);
        if (overridden)
            *overridden = copies.overridden;
        format_copies_free(&copies);
    }
    return api_end(&call);
}

EXPORT enum weft_file_kind weft_file_kind(const struct weft_file *f)
{
    return format_file_is_plan(f->file)       ? WEFT_FILE_PLAN
           : format_file_is_platform(f->file) ? WEFT_FILE_PLATFORM
                                              : WEFT_FILE_WORKFLOW;
}

/* Taking changes the file's text in place: after a failure it is only good for closing, which the
 * ledger of the call must not have done already. So what was taken is the call's, the rest is the
 * handle's, as format_file_take() divides them. */
EXPORT struct weft_workflow *weft_file_workflow(struct weft_file *f, struct weft_error *error)
{
    API_CALL(call, error)
    call.result = api_workflow(format_file_workflow(f->file, &call.err));
    return api_result(&call);
}

EXPORT struct weft_platform *weft_file_platform(struct weft_file *f, struct weft_error *error)
{
    API_CALL(call, error)
    call.result = api_platform(format_file_platform(f->file, &call.err));
    return api_result(&call);
}
