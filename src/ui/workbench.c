/* The Workbench's answers: workflows of the folder, the library of tasks, edits, saving. The page holds the text that is edited; each
 * edit is asked of the library, which gives back the text with the change in it, so that nothing is lost here when this process
 * ends. Saving writes beside the file and renames. */
#include "ui/workbench.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/folder.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A hidden part of a name leads to .weft or to what users hide; ".." leads out. */
static bool name_is_plain(const char *name)
{
    if (!*name || *name == '/' || strlen(name) >= PATH_MAX / 2)
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (*part == '.' || (!*part && part == name))
            return false;
    }
    return true;
}

char *workbench_path(const struct laboratory *lab, const char *name, struct reply *out)
{
    char real[PATH_MAX];
    struct strbuf path = {0};
    if (!name || !name_is_plain(name)) {
        reply_fail(out, 400, "expected the name of a file in this folder");
        return NULL;
    }
    strbuf_printf(&path, "%s/%s", lab->folder, name);
    /* a file that is not there yet is judged by the folder that it will be in */
    bool there = realpath(path.at, real) != NULL;
    if (!there && errno == ENOENT) {
        char *above = file_beside(path.at, ".");
        there = realpath(above, real) != NULL;
        free(above);
    }
    if (there && folder_holds(lab->folder, real))
        return strbuf_steal(&path);
    strbuf_free(&path);
    reply_fail(out, there ? 403 : 404,
               there ? "this file is not in the folder" : "there is no such folder");
    return NULL;
}

const char *workbench_text(const struct json *j, json_ref object, const char *key)
{
    json_ref v = json_get(j, object, key);
    size_t n;
    const char *text =
        v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, &n) : NULL;
    return text && strlen(text) == n ? text : NULL; /* not a part of it, as if that were all */
}

/* ---- files ---- */

/* What a page gives back when it saves: whether the file is still the one that it has read. */
void workbench_put_digest(struct json_writer *j, const char *text, size_t n)
{
    struct digest d;
    char hex[DIGEST_TEXT];
    digest_of(text, n, &d);
    json_put_string(j, "digest", digest_text(&d, hex));
}

/* Does the file look like a native workflow? Its first 4 KiB say so. */
static bool file_is_flow(const char *path)
{
    char head[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        fclose(f);
    head[n] = 0;
    const char *weft = strncmp(head, "weft:", 5) == 0 ? head : strstr(head, "\nweft:");
    return weft && !strstr(head, "\nsubstitute:") && !strstr(head, "\nnodes:");
}

/* Is this the name of a workflow's file, or of an experiment's? */
static bool name_is_yaml(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name && dot[-1] != '/' &&
           (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* Sorted by name, folders among them. */
static void put_flows(struct json_writer *j, const char *folder, const char *below)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        struct strbuf path = {0}, shown = {0};
        struct stat s;
        strbuf_printf(&path, "%s/%s", folder, name);
        strbuf_printf(&shown, "%s%s", below, name);
        bool there = name[0] != '.' && stat(path.at, &s) == 0;
        if (there && S_ISREG(s.st_mode) && name_is_yaml(name) && file_is_flow(path.at)) {
            json_write_string(j, shown.at);
        } else if (there && S_ISDIR(s.st_mode) && !*below && strcmp(name, "tasks") != 0) {
            strbuf_add_char(&shown, '/'); /* one level: a project's parts, not its data */
            put_flows(j, path.at, shown.at);
        }
        strbuf_free(&path);
        strbuf_free(&shown);
        free(names[i]);
    }
    free(names);
}

/* Names of workflows in the folder, and in the folders in it. */
static void answer_flows(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    struct json_writer j;
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    put_flows(&j, lab->folder, "");
    json_write_end_array(&j);
}

/* ?file=NAME: its text, its digest (for saving) and what stands in it. */
static void answer_flow(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *name = request_value(r, "file");
    struct text text = {0};
    struct error err = {0};
    char *path = workbench_path(lab, name, out);
    if (!path)
        return;
    struct stat s;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) { /* who reads a pipe waits for its writer */
        reply_fail(out, 400, "this is no file: expected a workflow");
    } else if (!file_read(path, &text, &err)) {
        reply_fail(out, 404, err.text);
    } else if (utf8_valid(text.at, text.n) < text.n || strlen(text.at) < text.n) {
        /* what cannot be shown as it is would be saved as something else */
        struct strbuf why = {0};
        size_t good = utf8_valid(text.at, text.n), zero = strlen(text.at);
        strbuf_printf(&why,
                      "%s: byte %zu is no text in UTF-8; change it in an editor, or by `iconv`",
                      name, (good < zero ? good : zero) + 1);
        reply_fail(out, 400, why.at);
        strbuf_free(&why);
        text_free(&text);
    } else {
        struct json_writer j;
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        json_put_string(&j, "file", name);
        json_put_string(&j, "text", text.at);
        workbench_put_digest(&j, text.at, text.n);
        workbench_view(&j, name, text.at, text.n);
        json_write_end_object(&j);
        text_free(&text);
    }
    free(path);
}

/* Is the file still the one that the page has read (`digest`; "": there was none)? */
static bool file_is_as_read(const char *path, const char *digest)
{
    struct text text = {0};
    struct error err = {0};
    struct digest d;
    char hex[DIGEST_TEXT];
    struct stat s;
    if (stat(path, &s) != 0)
        return !*digest;
    if (!S_ISREG(s.st_mode) || !file_read(path, &text, &err))
        return false;
    digest_of(text.at, text.n, &d);
    bool same = strcmp(digest_text(&d, hex), digest) == 0;
    text_free(&text);
    return same;
}

/* {"file", "text", "digest" of what the page has read}: whole or not at all. 409: somebody else has changed it. */
static void answer_save(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct json body;
    struct error err = {0};
    if (!json_parse(&body, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *name = workbench_text(&body, 0, "file"), *text = workbench_text(&body, 0, "text");
    const char *digest = workbench_text(&body, 0, "digest");
    char *path = workbench_path(lab, name, out);
    struct json_writer j;
    if (!path) {
        ; /* it was said */
    } else if (!text || !digest || !name_is_yaml(name)) {
        reply_fail(out, 400,
                   "expected {\"file\": \"NAME.yaml\", \"text\": ..., \"digest\": ...}: a text "
                   "without the character 0");
    } else if (!file_is_as_read(path, digest)) {
        reply_fail(out, 409, "the file was changed by somebody else since you opened it");
    } else if (!file_write(path, text, strlen(text), &err)) {
        reply_fail(out, 500, err.text);
    } else {
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        workbench_put_digest(&j, text, strlen(text));
        json_write_end_object(&j);
    }
    free(path);
    json_free(&body);
}

/* ---- edits ---- */

enum { STEP_NAMES = 512 };

/* A list of texts of a step, ending with NULL. */
static bool step_list(const struct json *j, json_ref step, const char *key, const char **list,
                      size_t room)
{
    json_ref array = json_get(j, step, key);
    size_t n = 0;
    list[0] = NULL;
    if (array == JSON_NONE || json_type(j, array) != JSON_ARRAY)
        return false;
    for (json_ref v = json_first(j, array); v != JSON_NONE; v = json_next_element(j, array, v)) {
        if (n + 1 >= room || json_type(j, v) != JSON_STRING)
            return false;
        list[n++] = json_string(j, v, NULL);
        list[n] = NULL;
    }
    return true;
}

/* What steps give back beside the text. */
struct step_results {
    char *names, *copied, *module;
    const char *path;
};

/* A step is a function of weft/edit.h with its arguments. Returns false with the error when it is refused. */
static bool step_texts(struct weft_edit *e, const char *op, const struct json *j, json_ref step,
                       struct step_results *out, struct weft_error *error)
{
    const char *list[STEP_NAMES];
    const char *name = workbench_text(j, step, "name"), *text = workbench_text(j, step, "text");
    if (strcmp(op, "add") == 0 && text) {
        json_ref own = json_get(j, step, "own");
        bool alone = own != JSON_NONE && json_type(j, own) == JSON_TRUE;
        weft_text_free(out->names);
        return (out->names = weft_edit_add(e, text, strlen(text), alone, error)) != NULL;
    }
    if (!step_list(j, step, "tasks", list, STEP_NAMES))
        return false;
    if (strcmp(op, "copy") == 0) {
        weft_text_free(out->copied);
        return (out->copied = weft_edit_copy(e, list, error)) != NULL;
    }
    if (strcmp(op, "group") == 0 && name && (out->path = workbench_text(j, step, "path"))) {
        weft_text_free(out->module);
        return (out->module = weft_edit_group(e, list, name, out->path, error)) != NULL;
    }
    return false;
}

/* An error is there before anything is tried: whatever is not known falls through to it. */
static bool step_do(struct weft_edit *e, const struct json *j, json_ref step,
                    struct step_results *out, struct weft_error *error)
{
    const char *place[16], *op = workbench_text(j, step, "op");
    const char *from = workbench_text(j, step, "from"), *to = workbench_text(j, step, "to");
    const char *file = workbench_text(j, step, "file"), *task = workbench_text(j, step, "task");
    const char *value = workbench_text(j, step, "value");
    json_ref yaml = json_get(j, step, "yaml");
    bool has_place = step_list(j, step, "place", place, 16);
    error->status = WEFT_BAD_INPUT;
    snprintf(error->text, sizeof error->text, "this step is not known, or lacks something: %.80s",
             op ? op : "it has no \"op\"");
    if (!op)
        return false;
    if (strcmp(op, "set") == 0 && has_place && value)
        return weft_edit_set(e, place, value, yaml != JSON_NONE && json_type(j, yaml) == JSON_TRUE,
                             error);
    if (strcmp(op, "remove") == 0 && has_place)
        return weft_edit_remove(e, place, error);
    if (strcmp(op, "remove-task") == 0 && task)
        return weft_edit_remove_task(e, task, error);
    if (strcmp(op, "rename-task") == 0 && from && to)
        return weft_edit_rename_task(e, from, to, error);
    if (strcmp(op, "rename-file") == 0 && from && to)
        return weft_edit_rename_file(e, from, to, error);
    if (strcmp(op, "connect") == 0 && from && to && file)
        return weft_edit_connect(e, from, file, to, has_place && place[0] ? place : NULL, error);
    if (strcmp(op, "disconnect") == 0 && task && file)
        return weft_edit_disconnect(e, task, file, error);
    return step_texts(e, op, j, step, out, error);
}

/* The view comes along: an edit is one question, not two. */
static void put_edited(struct json_writer *j, const char *name, struct weft_edit *e,
                       const struct step_results *results)
{
    size_t n;
    const char *text = weft_edit_text(e, &n);
    json_write_object(j);
    json_put_string(j, "text", text);
    json_put_text(j, "names", results->names);
    json_put_text(j, "copied", results->copied);
    json_put_text(j, "module", results->module);
    workbench_view(j, name, text, n);
    json_write_end_object(j);
}

/* {"file", "text", "steps": [{"op": "connect", ...}]}: the text after all of them, and what stands in it. */
static void answer_edit(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct json body;
    struct error err = {0};
    struct weft_error error = {.status = WEFT_BAD_INPUT};
    (void)lab;
    if (!json_parse(&body, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *name = workbench_text(&body, 0, "file"), *text = workbench_text(&body, 0, "text");
    json_ref steps = json_get(&body, 0, "steps");
    struct step_results results = {0};
    struct weft_edit *e = NULL;
    struct json_writer j;
    bool good = name && text && steps != JSON_NONE && json_type(&body, steps) == JSON_ARRAY;
    if (!good)
        snprintf(error.text, sizeof error.text, "expected \"file\", \"text\" and \"steps\"");
    else
        good = (e = weft_edit_new(text, strlen(text), name, &error)) != NULL;
    for (json_ref s = good ? json_first(&body, steps) : JSON_NONE; s != JSON_NONE && good;
         s = json_next_element(&body, steps, s))
        good = step_do(e, &body, s, &results, &error);
    if (good) {
        json_write_start(&j, &out->body, false);
        put_edited(&j, name, e, &results);
    } else {
        reply_error(out, &error);
    }
    weft_edit_free(e);
    weft_text_free(results.names);
    weft_text_free(results.copied);
    weft_text_free(results.module);
    json_free(&body);
}

/* {"file", "text"}: what stands in a text that somebody types. */
static void answer_look(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct json body;
    struct error err = {0};
    (void)lab;
    if (!json_parse(&body, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *name = workbench_text(&body, 0, "file"), *text = workbench_text(&body, 0, "text");
    struct json_writer j;
    if (name && text) {
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        workbench_view(&j, name, text, strlen(text));
        json_write_end_object(&j);
    } else {
        reply_fail(out, 400, "expected \"file\" and \"text\"");
    }
    json_free(&body);
}

/* ---- the library ---- */

/* Beside this program in a build, in share of an installation. */
static void shipped_folder(struct strbuf *out)
{
    static const char *const places[] = {"tasks", "../../share/weft/tasks", "../share/weft/tasks"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    for (size_t i = 0; n > 0 && i < sizeof places / sizeof *places && !out->n; i++) {
        self[n] = 0;
        char *path = file_beside(self, places[i]);
        if (file_exists(path))
            strbuf_add(out, path);
        free(path);
    }
}

/* Of the user, for all projects (docs/tasks.md). */
static void own_folder(struct strbuf *out)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config == '/')
        strbuf_printf(out, "%s/weft/tasks", config);
    else if (home)
        strbuf_printf(out, "%s/.config/weft/tasks", home);
}

/* Tasks of the project before the user's, the user's before ours. */
static void answer_library(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    struct strbuf here = {0}, own = {0}, shipped = {0};
    struct weft_error error;
    struct weft_library_task t;
    strbuf_printf(&here, "%s/tasks", lab->folder);
    own_folder(&own);
    shipped_folder(&shipped);
    const char *const folders[] = {here.at, strbuf_text(&own), strbuf_text(&shipped), NULL};
    struct weft_library *l = weft_library_read(folders, &error);
    struct json_writer j;
    if (!l) {
        reply_error(out, &error);
    } else {
        json_write_start(&j, &out->body, false);
        json_write_array(&j);
        for (size_t i = 0; weft_library_task(l, i, &t); i++) {
            json_write_object(&j);
            json_put_string(&j, "name", t.name);
            json_put_string(&j, "group", t.group);
            json_put_string(&j, "about", t.about);
            json_put_string(&j, "needs", t.needs);
            json_put_string(&j, "text", t.text);
            json_put_text(&j, "problem", t.problem);
            json_write_end_object(&j);
        }
        json_write_end_array(&j);
    }
    weft_library_free(l);
    strbuf_free(&here);
    strbuf_free(&own);
    strbuf_free(&shipped);
}

/* The language's own table: what the inspector makes its form of. */
static void answer_keys(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab, (void)r;
    struct weft_task_key key;
    struct json_writer j;
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (size_t i = 0; weft_task_key(i, &key); i++) {
        json_write_object(&j);
        json_put_string(&j, "name", key.name);
        json_put_string(&j, "type", key.type);
        json_put_string(&j, "standard", key.standard);
        json_put_string(&j, "summary", key.summary);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
}

const struct ui_route workbench_routes[] = {
    {false, "/api/workbench/flows", answer_flows},
    {false, "/api/workbench/flow", answer_flow},
    {false, "/api/workbench/library", answer_library},
    {false, "/api/workbench/keys", answer_keys},
    {false, "~/api/workbench/lights", answer_lights},
    {false, "/api/workbench/trial", answer_trial},
    {false, "/api/workbench/members", answer_members},
    {false, "/api/workbench/data", answer_data},
    {false, "/api/workbench/picture", answer_picture},
    {true, "/api/workbench/look", answer_look},
    {true, "/api/workbench/edit", answer_edit},
    {true, "/api/workbench/save", answer_save},
    {0},
};
