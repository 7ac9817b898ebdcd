/* The history of the library: a run for other programs. */
#include "api/inside.h"
#include "base/file.h"
#include "formats/crate/crate.h"
#include "formats/format.h"
#include "session/exported.h"
#include "session/recorded.h"

#include <string.h>

/* A name without a suffix, or one that ends with a slash, is a folder; so is the one that the
 * description stands in. */
static const char *export_format(const char *path)
{
    const char *name = file_basename(path), *dot = strrchr(name, '.');
    if (strcmp(name, CRATE_METADATA) == 0 || !*name || !dot)
        return "crate";
    return strcmp(dot, ".csv") == 0 ? "csv" : strcmp(dot, ".json") == 0 ? "json" : NULL;
}

/* Of a description alone the folder that it stands in. */
static bool export_crate(struct history *h, int64_t run, const char *path, struct exported *x,
                         struct error *err)
{
    bool alone = strcmp(file_basename(path), CRATE_METADATA) == 0;
    struct strbuf folder = {0};
    strbuf_add(&folder, path);
    if (alone) {
        size_t n = folder.n - strlen(CRATE_METADATA);
        strbuf_clear(&folder);
        strbuf_add_bytes(&folder, path, n);
        if (!n)
            strbuf_add_char(&folder, '.');
    }
    bool good = exported_crate(h, run, strbuf_text(&folder), !alone, x, err);
    strbuf_free(&folder);
    return good;
}

/* Attempts, as `weft history RUN` has them. */
static bool export_attempts(struct history *h, int64_t run, const char *path, bool csv,
                            struct error *err)
{
    struct run_record r;
    struct history_tasks tasks = {0};
    struct strbuf out = {0};
    if (!recorded_load(h, run, &r, err))
        return false;
    bool good = history_tasks(h, r.run, &tasks, err);
    if (good) {
        (csv ? history_view_run_csv : history_view_run_json)(&r, &tasks, &out);
        good = file_write(path, strbuf_text(&out), out.n, err);
    }
    strbuf_free(&out);
    history_tasks_free(&tasks);
    record_free(&r);
    return good;
}

/* By the format's own rules: a suffix that none has is its error. */
static bool export_graph(struct history *h, int64_t run, const char *path, const char *name,
                         struct error *err)
{
    char *folder = NULL;
    struct strbuf dropped = {0};
    const struct format *format = name ? format_find(name) : format_for_path(path, err);
    if (name && !format)
        error_set(err, ERROR_INPUT,
                  "'%s' is no format of runs (crate, wfformat, csv, json), and none of workflows "
                  "(weft formats)",
                  name);
    struct workflow *w = format ? recorded_graph(h, run, &folder, err) : NULL;
    bool good = w && format_write_workflow(path, format, w, &dropped, err);
    workflow_free(w);
    strbuf_free(&dropped);
    free(folder);
    return good;
}

/* What is asked by name comes first; a suffix decides only where no name does. */
EXPORT bool weft_history_export(struct weft_history *h, int64_t run, const char *path,
                                const char *format, struct weft_exported *out,
                                struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct exported x = {0};
        const char *as = format ? format : export_format(path);
        struct weft_exported own = WEFT_EXPORTED_INIT;
        call.good = !out || api_options(&own, out, &call.err);
        if (!call.good)
            ;
        else if (as && strcmp(as, "crate") == 0)
            call.good = export_crate(h->model, run, path, &x, &call.err);
        else if (as && strcmp(as, "wfformat") == 0)
            call.good = exported_wfformat(h->model, run, path, &x, &call.err);
        else if (as && (strcmp(as, "csv") == 0 || strcmp(as, "json") == 0))
            call.good = export_attempts(h->model, run, path, *as == 'c', &call.err);
        else
            call.good = export_graph(h->model, run, path, as, &call.err);
        if (call.good && out) {
            out->files = x.files;
            out->missing = x.missing;
            out->bytes = x.bytes;
        }
    }
    return api_end(&call);
}
