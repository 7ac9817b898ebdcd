/* More of the Database view's answers: files of a run, where a file comes from, a graph as it was, runs for other programs. */
#include "api/inside.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/graph_svg.h"
#include "report/lineage_view.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINEAGE_FILES = 500 }; /* of a run are listed; the record has all */

/* The handle of the history and one run of it; false: `out` says why. Both are the caller's to close. */
static bool lineage_open(const struct request *r, struct weft_history **h,
                         struct weft_record **record, struct reply *out)
{
    struct weft_error error;
    *record = NULL;
    *h = weft_history_open(NULL, &error);
    if (*h)
        *record = weft_history_run(*h, r->run, &error);
    if (*h && *record)
        return true;
    reply_fail(out, 404, error.text);
    weft_history_close(*h);
    return false;
}

/* GET /api/run/#/files: what it made and what it read, with the digests of their contents. */
static void answer_run_files(const struct laboratory *lab, const struct request *r,
                             struct reply *out)
{
    (void)lab;
    struct weft_history *h;
    struct weft_record *record;
    struct weft_record_file file;
    struct weft_run_head head;
    struct json_writer j;
    if (!lineage_open(r, &h, &record, out))
        return;
    weft_record_head(record, &head);
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_text(&j, "folder", head.folder);
    json_put_text(&j, "file", head.file);
    json_write_key(&j, "files");
    json_write_array(&j);
    size_t found = 0;
    for (; weft_record_file(record, found, &file); found++) {
        if (found >= LINEAGE_FILES)
            continue;
        json_write_object(&j);
        json_put_string(&j, "path", file.path);
        json_put_text(&j, "maker", file.maker);
        json_put_number(&j, "bytes", file.bytes);
        json_put_bool(&j, "produced", file.produced);
        json_put_string(&j, "digest", file.digest);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_put_integer(&j, "found", (int64_t)found);
    json_write_end_object(&j);
    weft_record_free(record);
    weft_history_close(h);
}

/* GET /api/lineage?path=PATH[&picture=1]: what `weft history --lineage` tells, or draws. */
static void answer_lineage(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct weft_error error;
    const char *path = request_value(r, "path");
    struct weft_history *h = path ? weft_history_open(NULL, &error) : NULL;
    struct weft_lineage *l = h ? weft_history_lineage(h, path, &error) : NULL;
    if (!path) {
        reply_fail(out, 400, "say which file: ?path=PATH");
    } else if (!l) {
        reply_fail(out, 404, error.text);
    } else if (request_value(r, "picture")) {
        report_graph_svg(inside_workflow(l->graph), &out->body,
                         &(struct graph_svg_options){.no_critical = true});
        out->type = "image/svg+xml";
        out->document = true;
    } else {
        lineage_view_json(inside_workflow(l->graph), l->model.focus, l->model.nback, l->model.cut,
                          l->model.run.at, &out->body);
    }
    weft_lineage_free(l);
    weft_history_close(h);
}

/* POST /api/run/#/open: the graph of a run as it was, as a file of the folder that was not there; {"flow": ITS NAME}. */
static void answer_run_open(const struct laboratory *lab, const struct request *r,
                            struct reply *out)
{
    struct weft_error error;
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_workflow *w = h ? weft_history_workflow(h, r->run, &error) : NULL;
    struct strbuf name = {0}, path = {0};
    bool free_name = false;
    for (unsigned again = 1; w && again < 100 && !free_name; again++) {
        strbuf_clear(&name);
        strbuf_clear(&path);
        strbuf_printf(&name, "run-%lld", (long long)r->run);
        if (again > 1)
            strbuf_printf(&name, "-%u", again);
        strbuf_add(&name, ".yaml");
        strbuf_printf(&path, "%s/%s", lab->folder, name.at);
        free_name = access(path.at, F_OK) != 0;
    }
    if (w && !free_name) {
        reply_fail(out, 500,
                   "every name for it is taken: remove some of the folder's run-N-M.yaml");
    } else if (!w || !weft_workflow_write(w, path.at, NULL, &error)) {
        reply_error(out, &error);
    } else {
        struct json_writer j;
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        json_put_string(&j, "flow", name.at);
        json_write_end_object(&j);
    }
    strbuf_free(&name);
    strbuf_free(&path);
    weft_workflow_free(w);
    weft_history_close(h);
}

/* Formats that a page takes home as one file, and how each is called there. */
static const struct lineage_format {
    const char *name, *file, *type;
} lineage_formats[] = {
    {"csv", "run.csv", "text/csv; charset=utf-8"},
    {"wfformat", "run.json", "application/json"},
    {"crate", "ro-crate-metadata.json",
     "application/json"}, /* the description, without copies of files */
};

/* The library writes files: one in a folder of its own, which is read and removed. */
static void lineage_export(struct weft_history *h, int64_t run, const struct lineage_format *format,
                           struct reply *out)
{
    struct weft_error error;
    struct error err = {0};
    struct text text;
    const char *place = getenv("TMPDIR");
    struct strbuf folder = {0}, path = {0};
    strbuf_printf(&folder, "%s/weft-export-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(folder.at)) {
        reply_fail(out, 500, "there is no place for a temporary file; TMPDIR says where");
        strbuf_free(&folder);
        return;
    }
    strbuf_printf(&path, "%s/%s", folder.at, format->file);
    if (!weft_history_export(h, run, path.at, format->name, NULL, &error)) {
        reply_error(out, &error);
    } else if (!file_read(path.at, &text, &err)) {
        reply_fail(out, 500, err.text);
    } else {
        strbuf_add_bytes(&out->body, text.at, text.n);
        out->type = format->type;
        text_free(&text);
    }
    unlink(path.at);
    rmdir(folder.at);
    strbuf_free(&folder);
    strbuf_free(&path);
}

/* GET /api/run/#/export?format=csv|wfformat|crate: a run for other programs. */
static void answer_run_export(const struct laboratory *lab, const struct request *r,
                              struct reply *out)
{
    (void)lab;
    struct weft_error error;
    const char *name = request_value(r, "format");
    for (size_t i = 0; name && i < sizeof lineage_formats / sizeof *lineage_formats; i++) {
        if (strcmp(lineage_formats[i].name, name) != 0)
            continue;
        struct weft_history *h = weft_history_open(NULL, &error);
        if (h)
            lineage_export(h, r->run, &lineage_formats[i], out);
        else
            reply_error(out, &error);
        weft_history_close(h);
        return;
    }
    reply_fail(out, 400, "say in which format: ?format=csv, wfformat or crate");
}

const struct ui_route lineage_routes[] = {
    {false, "~/api/run/#/files", answer_run_files},
    {false, "~/api/lineage", answer_lineage},
    {true, "/api/run/#/open", answer_run_open},
    {false, "~/api/run/#/export", answer_run_export},
    {0},
};
