/* The Experiments view's answers: an experiment of the folder with its combinations, a run of it, a row as a workflow. A run is
 * `weft experiment`, a process of its own that goes on when this server ends. */
#include "api/inside_run.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/experiment_output.h"
#include "ui/folder.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/starting.h"
#include "weft/weft.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL: `out` says why. */
static struct weft_experiment *experiment_of(const struct laboratory *lab, const char *name,
                                             struct reply *out)
{
    struct weft_error error;
    char *path = name ? folder_file(lab, name, out) : NULL;
    if (!name)
        reply_fail(out, 400, "say which experiment: ?file=NAME");
    struct weft_experiment *x = path ? weft_experiment_open(path, NULL, &error) : NULL;
    if (path && !x)
        reply_error(out, &error);
    free(path);
    return x;
}

/* GET /api/experiment?file=NAME&values=RESULT: what `weft experiment --list --json` prints, with the figures in that
 * result. */
static void answer_experiment(const struct laboratory *lab, const struct request *r,
                              struct reply *out)
{
    struct weft_error error;
    struct weft_experiment_figures figures;
    struct weft_experiment *x = experiment_of(lab, request_value(r, "file"), out);
    if (!x)
        return;
    if (!weft_experiment_predict(x, &figures, &error)) {
        reply_error(out, &error);
    } else {
        struct error err = {0};
        inside_experiment(x)->values = request_value(r, "values");
        if (experiment_has_values(inside_experiment(x), &err))
            experiment_json(inside_experiment(x), true, &out->body);
        else
            reply_fail(out, 400, err.text);
        inside_experiment(x)->values = NULL;
    }
    weft_experiment_close(x);
}

/* A text of the body, NULL: there is none of that name. */
static const char *experiment_text_of(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : NULL;
}

/* POST /api/experiment/run {"file": NAME} */
static void answer_experiment_run(const struct laboratory *lab, const struct request *r,
                                  struct reply *out)
{
    struct json j;
    struct error err = {0};
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *name = experiment_text_of(&j, "file");
    char *path = name ? folder_file(lab, name, out) : NULL;
    if (!name)
        reply_fail(out, 400, "expected {\"file\": \"experiment.yaml\"}");
    else if (path)
        starting_experiment(lab, path, out);
    json_free(&j);
}

/* Beside the experiment's workflow, under a name that nothing has yet: "edges-3.yaml". */
static bool experiment_write_row(struct weft_workflow *w, const char *beside, uint32_t row,
                                 struct strbuf *path, struct weft_error *error)
{
    const char *stem = file_basename(beside), *dot = strrchr(stem, '.');
    size_t folder = (size_t)(stem - beside);
    for (unsigned again = 0; again < 100; again++) {
        strbuf_clear(path);
        strbuf_add_bytes(path, beside, folder);
        strbuf_add_bytes(path, stem, dot ? (size_t)(dot - stem) : strlen(stem));
        strbuf_printf(path, "-%u", row + 1);
        if (again)
            strbuf_printf(path, "-%u", again + 1);
        strbuf_add(path, ".yaml");
        if (access(path->at, F_OK) != 0)
            return weft_workflow_write(w, path->at, NULL, error);
    }
    *error = (struct weft_error){.status = WEFT_FAILED, .text = "every name for it is taken"};
    return false;
}

/* POST /api/experiment/open {"file": NAME, "row": N}: the row as a workflow of its own; {"flow": ITS NAME}. */
static void answer_experiment_open(const struct laboratory *lab, const struct request *r,
                                   struct reply *out)
{
    struct json j;
    struct error err = {0};
    struct weft_error error;
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    json_ref number = json_get(&j, 0, "row");
    const char *name = experiment_text_of(&j, "file");
    bool numbered = number != JSON_NONE && json_type(&j, number) == JSON_NUMBER &&
                    json_number(&j, number) >= 0 && json_number(&j, number) < UINT32_MAX;
    struct weft_experiment *x = name && numbered ? experiment_of(lab, name, out) : NULL;
    if (!name || !numbered)
        reply_fail(out, 400, "expected {\"file\": \"experiment.yaml\", \"row\": 0}");
    uint32_t row = numbered ? (uint32_t)json_number(&j, number) : 0;
    struct weft_workflow *w = x ? weft_experiment_workflow(x, row, &error) : NULL;
    struct strbuf path = {0};
    if (x &&
        (!w || !experiment_write_row(w, inside_experiment(x)->x.workflow, row, &path, &error))) {
        reply_error(out, &error);
    } else if (x) {
        struct json_writer answer;
        char folder[PATH_MAX];
        size_t n = realpath(lab->folder, folder) ? strlen(folder) : 0;
        bool inside = n && strncmp(path.at, folder, n) == 0 && path.at[n] == '/';
        json_write_start(&answer, &out->body, false);
        json_write_object(&answer);
        json_put_string(&answer, "flow", inside ? path.at + n + 1 : path.at);
        json_write_end_object(&answer);
    }
    strbuf_free(&path);
    weft_workflow_free(w);
    weft_experiment_close(x);
    json_free(&j);
}

const struct ui_route experiment_routes[] = {
    {false, "~/api/experiment", answer_experiment},
    {true, "/api/experiment/run", answer_experiment_run},
    {true, "/api/experiment/open", answer_experiment_open},
    {0},
};
