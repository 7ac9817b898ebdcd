/* The experiment that replaces things in the workflow on the canvas: found by what it says, told with its substitutions. The page changes
 * it by the same edits and the same saving as the workflow itself, so that it stays as its author wrote it.
 *
 *     edges.yaml ◀── workflow: ── edges-experiment.yaml       found: the first by name, in the same folder, that names the workflow
 *                                   substitute:
 *                                     sobel:                  a substitution: what it replaces ("task", "data", "parameter"),
 *                                       task: sobel           the target,
 *                                       by:                   and the alternatives by their labels; {} is things as they are
 *                                         sobel: {}
 *                                         canny: convert …
 *
 * Nothing is kept here: the page has the text and its digest, as with workflows. While there is no such file, the answer has the text
 * that one would begin with and an empty digest, so that the first substitution makes the file, and nobody else's is written over. */
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/workbench.h"
#include "weft/weft.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIAL_LARGEST = 1 << 20 }; /* bytes; an experiment that people edit is a page */

/* The file's name in its folder: "lib/edges.yaml" is "edges.yaml" below "lib/". */
static size_t name_folder(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash + 1 - name) : 0;
}

/* Is this text an experiment in that workflow, which lies beside it? */
static bool text_is_trial(const struct text *text, const char *path, const char *workflow)
{
    static const char *const place[] = {"workflow", NULL};
    struct weft_error error;
    struct weft_edit_key key;
    if (text->n > TRIAL_LARGEST || !strstr(text->at, "substitute:"))
        return false;
    struct weft_edit *e = weft_edit_new(text->at, text->n, path, &error);
    bool is = e && weft_edit_at(e, place, 0, &key) &&
              strcmp(strncmp(key.value, "./", 2) == 0 ? key.value + 2 : key.value, workflow) == 0;
    weft_edit_free(e);
    return is;
}

/* The first by name in the workflow's folder; false: there is none. `name` gets its name as pages give it. */
static bool trial_find(const char *flow_path, const char *flow, struct strbuf *name,
                       struct text *text)
{
    char *folder = file_beside(flow_path, ".");
    struct dirent **entries = NULL;
    struct error err = {0};
    int n = scandir(folder, &entries, NULL, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        const char *one = entries[i]->d_name;
        size_t length = strlen(one);
        bool yaml = one[0] != '.' && length > 5 && strcmp(one + length - 5, ".yaml") == 0;
        char *path = yaml && !found ? file_beside(flow_path, one) : NULL;
        if (path && file_read(path, text, &err)) {
            found = text_is_trial(text, path, flow + name_folder(flow));
            if (!found)
                text_free(text);
            else
                strbuf_printf(name, "%.*s%s", (int)name_folder(flow), flow, one);
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return found;
}

/* What one would begin with: "edges-experiment.yaml", in the folder of the workflow. */
static void trial_begin(const char *flow, struct strbuf *name, struct strbuf *text)
{
    const char *base = flow + name_folder(flow), *dot = strrchr(base, '.');
    int stem = dot ? (int)(dot - base) : (int)strlen(base);
    strbuf_printf(name, "%.*s%.*s-experiment.yaml", (int)name_folder(flow), flow, stem, base);
    strbuf_printf(text, "weft: 1\nexperiment: %.*s\nworkflow: %s\nsubstitute:\n", stem, base, base);
}

/* {"name", "what": "task" | "data" | "parameter", "target", "listed": written as a list, "by": alternatives} */
static void put_substitution(struct json_writer *j, struct weft_edit *e, const char *name)
{
    static const char *const whats[] = {"task", "data", "parameter"};
    const char *const by[] = {"substitute", name, "by", NULL};
    struct weft_edit_key key;
    bool listed = true;
    json_write_object(j);
    json_put_string(j, "name", name);
    for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
        const char *const target[] = {"substitute", name, whats[i], NULL};
        if (!weft_edit_at(e, target, 0, &key))
            continue;
        json_put_string(j, "what", whats[i]);
        json_put_string(j, "target", key.value);
    }
    json_write_key(j, "by");
    json_write_array(j);
    for (size_t k = 0; weft_edit_at(e, by, k, &key); k++) {
        listed = listed && !*key.key;
        workbench_put_key(j, &key);
    }
    json_write_end_array(j);
    json_put_bool(j, "listed", listed);
    json_write_end_object(j);
}

static void put_trial(struct json_writer *j, const char *name, const char *text, size_t n)
{
    static const char *const substitute[] = {"substitute", NULL};
    struct weft_error error;
    struct weft_edit_key key;
    struct weft_edit *e = weft_edit_new(text, n, name, &error);
    json_put_string(j, "text", text);
    json_write_key(j, "substitutions");
    json_write_array(j);
    for (size_t k = 0; e && weft_edit_at(e, substitute, k, &key); k++) {
        char *one = mem_copy_string(key.key);
        put_substitution(j, e, one);
        free(one);
    }
    json_write_end_array(j);
    weft_edit_free(e);
}

/* ?file=WORKFLOW: its experiment's file, text, digest ("": it would be new) and substitutions. */
void answer_trial(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    const char *flow = request_value(r, "file");
    char *path = workbench_path(lab, flow, out);
    struct strbuf name = {0}, begin = {0};
    struct text text = {0};
    struct json_writer j;
    if (!path)
        return;
    bool there = trial_find(path, flow, &name, &text);
    if (!there)
        trial_begin(flow, &name, &begin);
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_string(&j, "file", name.at);
    if (there)
        workbench_put_digest(&j, text.at, text.n);
    else
        json_put_string(&j, "digest", "");
    put_trial(&j, name.at, there ? text.at : begin.at, there ? text.n : begin.n);
    json_write_end_object(&j);
    if (there)
        text_free(&text);
    strbuf_free(&name);
    strbuf_free(&begin);
    free(path);
}
