/* Runs for other programs: see exported.h.
 *
 * What a run found done is what the newest run up to it had left at that path (recorded_results.c); it
 * belongs to the crate, and the run did not make it. */
#include "session/exported.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/tree.h"
#include "formats/crate/crate.h"
#include "formats/registry.h"
#include "formats/wfformat/wfformat.h"
#include "session/recorded.h"
#include "session/recorded_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A run with its graph, and what is known of each of its objects. */
struct export_run {
    struct run_record r;
    struct crate_file *file; /* by object */
};

static void export_free(struct export_run *x)
{
    for (uint32_t o = 0; x->file && o < x->r.workflow->nobjects; o++)
        free(x->file[o].path);
    free(x->file);
    record_free(&x->r);
}

/* By its name: a text that is read again may number objects otherwise. */
static void export_note(struct export_run *x, const struct intern *names, const uint32_t *object,
                        const char *path, struct crate_file what)
{
    uint32_t at = path ? intern_find(names, path, strlen(path)) : NONE;
    if (at == NONE)
        return;
    struct crate_file *f = &x->file[object[at]];
    free(f->path);
    *f = what;
    f->path = mem_copy_string(path);
    x->r.workflow->size[object[at]] = what.size; /* as it was; the workflow is ours alone */
}

/* What was found done first, what this run itself has on record over it. */
static bool export_files(struct history *h, struct export_run *x, struct error *err)
{
    const struct workflow *w = x->r.workflow;
    struct intern names;
    uint32_t *object = mem_new(uint32_t, (size_t)w->nobjects + 1);
    recorded_outputs left = {0};
    char *folder = NULL;
    intern_init(&names);
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->object_name[o]) {
            const char *name = workflow_text(w, w->object_name[o]);
            object[intern_number(&names, name, strlen(name))] = o;
        }
    bool good = recorded_outputs_of(h, x->r.run, &left, &folder, err);
    for (size_t i = 0; good && i < left.n; i++)
        export_note(x, &names, object, left.at[i].path,
                    (struct crate_file){.digest = left.at[i].digest, .size = left.at[i].size});
    for (size_t i = 0; good && i < x->r.files.n; i++) {
        const struct record_file *f = &x->r.files.at[i];
        export_note(x, &names, object, f->path,
                    (struct crate_file){.digest = f->digest,
                                        .size = f->size,
                                        .made = f->task != NONE && f->produced});
    }
    recorded_outputs_free(&left);
    intern_free(&names);
    free(object);
    free(folder);
    return good;
}

/* Free with export_free() in any case. A run without its graph cannot be told: names of tasks alone say
 * nothing of who read what. */
static bool export_load(struct history *h, int64_t run, struct export_run *x, struct error *err)
{
    *x = (struct export_run){0};
    if (!recorded_load(h, run, &x->r, err))
        return false;
    if (!x->r.workflow)
        return error_set(
            err, ERROR_INPUT,
            "the graph of run %lld was not kept: its text is longer than %zu MB, or it "
            "came from another system",
            (long long)x->r.run, HISTORY_TEXT_LIMIT >> 20);
    x->file = mem_new_zero(struct crate_file, (size_t)x->r.workflow->nobjects + 1);
    return export_files(h, x, err);
}

static void export_count(const struct export_run *x, struct exported *out)
{
    for (uint32_t o = 0; o < x->r.workflow->nobjects; o++)
        out->files += x->file[o].path != NULL;
}

bool exported_wfformat(struct history *h, int64_t run, const char *path, struct exported *out,
                       struct error *err)
{
    struct export_run x;
    struct strbuf text = {0};
    *out = (struct exported){0};
    bool good = export_load(h, run, &x, err);
    if (good) {
        wfformat_write_run(&x.r, &text);
        export_count(&x, out);
        good = file_write(path, text.at, text.n, err);
    }
    strbuf_free(&text);
    export_free(&x);
    return good;
}

/* ---- the crate ---- */

/* What is there is somebody's: nothing of it is written over. */
static bool export_is_free(const char *folder, const char *name, struct error *err)
{
    struct strbuf path = {0};
    struct stat s;
    path_in(folder, name, &path);
    bool good = lstat(path.at, &s) != 0;
    if (!good)
        error_set(err, ERROR_INPUT,
                  "%s: it is there already; an export goes into a folder of its own", path.at);
    strbuf_free(&path);
    return good;
}

/* Made where it is not there; one with other things in it is fine. */
static bool export_folder(const char *folder, struct error *err)
{
    static const char *const names[] = {CRATE_METADATA, CRATE_WORKFLOW, CRATE_FILES};
    struct strbuf inside = {0};
    path_in(folder, CRATE_METADATA, &inside);
    bool good = make_parents(inside.at, err);
    strbuf_free(&inside);
    for (size_t i = 0; good && i < sizeof names / sizeof *names; i++)
        good = export_is_free(folder, names[i], err);
    return good;
}

/* What is still as it was, or kept; what is not is named where it was. */
static void export_data(struct export_run *x, const char *folder, struct exported *out)
{
    recorded_outputs wanted = {0};
    recorded_results results = {0};
    struct strbuf into = {0};
    struct stat s;
    ARRAY(uint32_t) object = {0};
    for (uint32_t o = 0; o < x->r.workflow->nobjects; o++)
        if (x->file[o].path && digest_is_zero(&x->file[o].digest)) {
            out->missing++;
        } else if (x->file[o].path) {
            array_push(&object, o);
            array_push(&wanted, (struct recorded_output){mem_copy_string(x->file[o].path), NULL,
                                                         x->file[o].digest, x->file[o].size});
        }
    path_in(folder, CRATE_FILES, &into);
    recorded_gather(x->r.folder ? x->r.folder : "", &wanted, into.at, &results);
    for (size_t i = 0; i < results.n && i < object.n; i++) {
        struct crate_file *f = &x->file[object.at[i]];
        f->inside = results.at[i].good;
        f->folder = f->inside && stat(results.at[i].path, &s) == 0 && S_ISDIR(s.st_mode);
        out->missing += !f->inside;
        out->bytes += f->inside && isfinite(f->size) ? f->size : 0;
    }
    array_free(&object);
    strbuf_free(&into);
    recorded_results_free(&results);
    recorded_outputs_free(&wanted);
}

/* The description comes last: a folder that has one is whole. */
static bool export_write(struct export_run *x, const char *folder, struct error *err)
{
    struct strbuf text = {0}, dropped = {0}, path = {0};
    bool good = format_native.write_workflow(x->r.workflow, &text, &dropped, err) &&
                file_write(path_in(folder, CRATE_WORKFLOW, &path), text.at, text.n, err);
    strbuf_clear(&text);
    if (good) {
        crate_write(&x->r, x->file, &text);
        good = file_write(path_in(folder, CRATE_METADATA, &path), text.at, text.n, err);
    }
    strbuf_free(&text);
    strbuf_free(&dropped);
    strbuf_free(&path);
    return good;
}

bool exported_crate(struct history *h, int64_t run, const char *folder, bool data,
                    struct exported *out, struct error *err)
{
    struct export_run x;
    *out = (struct exported){0};
    bool good = export_load(h, run, &x, err) && export_folder(folder, err);
    if (good) {
        export_count(&x, out);
        if (data)
            export_data(&x, folder, out);
        good = export_write(&x, folder, err);
    }
    export_free(&x);
    return good;
}
