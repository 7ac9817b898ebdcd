/* kept.h. The file is the report, which is read without a script, with the Run view in it: the very code of the page, and for its
 * questions the very answers of the server (run.c), asked here and written down.
 *
 *     <head>   … a policy: no script but this one, nothing from elsewhere
 *     <main>   <section id="run-view">            where the view appears; hidden while no script runs
 *     …        the report
 *     <style media="not all">                     the page's, for the view alone
 *     <script type="application/json">            {"run", "live", "gantt", "graph", "transfers", "tasks", "commands", "logs"}
 *     <script nonce>                              the view
 *
 * Names and outputs of tasks are hostile. In the report they are escaped; in the JSON every "<" is written as \u003c, so that no
 * text of a run can end the element that it stands in; and the policy lets nothing run but what has the nonce, a digest of the
 * whole, which no text in it can foretell.
 *
 * What is kept is bounded: KEPT_TASKS rows, those that failed first; KEPT_COMMANDS commands; the ends of KEPT_LOGS logs. */
#include "ui/kept.h"
#include "api/inside_watch.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/command.h"
#include "ui/asset.h"
#include "ui/laboratory.h"
#include "ui/request.h"
#include "weft/weft.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_TASKS = 10000, KEPT_COMMANDS = 2000, KEPT_LOGS = 100, KEPT_LOG_BYTES = 8192 };

/* An answer of the server, as a member of the object. False: `err` says what it said. */
static bool kept_ask(struct strbuf *out, int64_t run, const char *what, struct error *err)
{
    struct laboratory lab = {.folder = "."};
    struct reply reply = {0};
    char asked[64];
    struct request r = {.path = asked,
                        .nvalues = 3,
                        .name = {"most", "columns", "all"},
                        .value = {"20000", "3000", "1"}}; /* a file cannot ask again for a part */
    snprintf(asked, sizeof asked, "/api/run/%" PRId64 "/%s", run, what);
    route_request(&lab, false, &r, &reply);
    bool good = reply.status == 200;
    if (good)
        strbuf_printf(out, "\"%s\":%s,", what, strbuf_text(&reply.body));
    else
        error_set(err, ERROR_FAILED, "%s: %.300s", what, strbuf_text(&reply.body));
    strbuf_free(&reply.body);
    return good;
}

/* Failed ones, what runs, then the others by number: whoever opens the file years later looks for what went wrong. */
static size_t kept_choose(const struct watching *w, uint32_t *task)
{
    size_t n = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t < w->names->ntasks && n < KEPT_TASKS; t++) {
            bool first = w->state[t] == WATCH_FAILED || w->state[t] == WATCH_RUNNING;
            if (first == (round == 0))
                task[n++] = t;
        }
    return n;
}

static void kept_member(struct strbuf *out, bool first, uint32_t task, const char *text)
{
    struct json_writer j;
    strbuf_printf(out, "%s\"%u\":", first ? "" : ",", task);
    json_write_start(&j, out, false);
    json_write_string(&j, text);
}

/* Commands and ends of logs, by the task's number. */
static void kept_details(struct strbuf *out, struct weft_watch *w, const uint32_t *task, size_t n)
{
    const struct workflow *graph = watching_graph(&w->model, NULL);
    struct strbuf command = {0};
    strbuf_add(out, ",\"commands\":{");
    for (size_t i = 0; graph && i < n && i < KEPT_COMMANDS; i++) {
        strbuf_clear(&command);
        command_readable(graph, task[i], 1, &command);
        kept_member(out, i == 0, task[i], strbuf_text(&command));
    }
    strbuf_free(&command);
    strbuf_add(out, "},\"logs\":{");
    for (size_t i = 0, kept = 0; i < n && i < KEPT_COMMANDS && kept < KEPT_LOGS; i++) {
        uint64_t end = 0;
        weft_text_free(weft_watch_log(w, task[i], 0, 1, &end)); /* how long is it? */
        char *text =
            end ? weft_watch_log(w, task[i], end > KEPT_LOG_BYTES ? end - KEPT_LOG_BYTES : 0,
                                 KEPT_LOG_BYTES, &end)
                : NULL;
        if (text)
            kept_member(out, kept++ == 0, task[i], text);
        weft_text_free(text);
    }
    strbuf_add(out, "}");
}

/* A row a task, without the names of columns: "fields" has them once. */
static void kept_tasks(struct strbuf *out, const struct weft_watch *w, const uint32_t *task,
                       size_t n)
{
    struct json_writer j;
    strbuf_add(out, "\"tasks\":{\"fields\":[\"task\",\"name\",\"state\",\"colour\",\"family\","
                    "\"attempt\",\"start\",\"finish\",\"node\",\"core\",\"status\",\"cpu\","
                    "\"memory\",\"predicted\",\"low\",\"high\",\"reason\"],\"rows\":");
    json_write_start(&j, out, false);
    json_write_array(&j);
    for (size_t i = 0; i < n; i++) {
        struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
        weft_watch_task(w, task[i], &t);
        const double numbers[] = {t.cpu, t.memory, t.predicted, t.low, t.high};
        json_write_array(&j);
        json_write_integer(&j, task[i]);
        json_write_string(&j, t.name);
        json_write_string(&j, t.state);
        json_write_integer(&j, w->model.kinds.colour[task[i]]);
        json_write_integer(&j, w->model.families.of[task[i]]);
        json_write_integer(&j, t.attempt);
        json_write_number(&j, t.start);
        json_write_number(&j, t.finish);
        json_write_integer(&j, t.node);
        json_write_integer(&j, t.core);
        json_write_integer(&j, t.status);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            json_write_number(&j, numbers[k]);
        if (t.reason)
            json_write_string(&j, t.reason);
        else
            json_write_null(&j);
        json_write_end_array(&j);
    }
    json_write_end_array(&j);
    strbuf_add(out, "}");
}

/* Everything that the view may ask for. */
static bool kept_data(struct strbuf *out, int64_t run, struct error *err)
{
    struct weft_error error;
    struct weft_watch *w = weft_watch_open(run, &error);
    if (!w)
        return error_set(err, ERROR_FAILED, "%s", error.text);
    uint32_t *task = mem_new(uint32_t, KEPT_TASKS);
    size_t n = kept_choose(&w->model, task);
    strbuf_printf(out, "{\"run\":%" PRId64 ",", run);
    bool good = kept_ask(out, run, "live", err) && kept_ask(out, run, "gantt", err) &&
                kept_ask(out, run, "graph", err) && kept_ask(out, run, "transfers", err);
    if (good) {
        kept_tasks(out, w, task, n);
        kept_details(out, w, task, n);
    }
    strbuf_add(out, "}");
    free(task);
    weft_watch_close(w);
    return good;
}

static const struct ui_asset *kept_asset(const char *path)
{
    for (const struct ui_asset *a = ui_assets; a->path; a++)
        if (strcmp(a->path, path) == 0)
            return a;
    return NULL;
}

/* Every "<" of JSON stands in a text: there it may be written as six letters. */
static void kept_add_json(struct strbuf *out, const struct strbuf *json)
{
    const char *at = strbuf_text(json);
    for (size_t n; *at; at += n + (at[n] == '<')) {
        n = strcspn(at, "<");
        strbuf_add_bytes(out, at, n);
        if (at[n] == '<')
            strbuf_add(out, "\\u003c");
    }
}

/* Head, a place for the view, the report, and then what makes the view. */
static bool kept_compose(const struct text *report, const struct strbuf *data, struct strbuf *out,
                         struct error *err)
{
    static const char head[] = "<meta charset=\"utf-8\"/>\n", main[] = "<main id=\"main\">\n",
                      end[] = "</body></html>\n";
    const struct ui_asset *script = kept_asset("/report.js"), *style = kept_asset("/page.css");
    const char *from = report->at, *at = strstr(from, head), *body = at ? strstr(at, main) : NULL,
               *last = body ? strstr(body, end) : NULL;
    if (!script || !style || !last)
        return error_set(err, ERROR_FAILED, "the report is not one that this weft wrote");
    struct digest_state hash;
    struct digest whole;
    char nonce[2 * sizeof whole + 1];
    digest_begin(&hash);
    digest_bytes(&hash, script->at, script->n);
    digest_bytes(&hash, data->at, data->n);
    digest_end(&hash, &whole);
    digest_text(&whole, nonce);
    at += sizeof head - 1;
    body += sizeof main - 1;
    strbuf_add_bytes(out, from, (size_t)(at - from));
    strbuf_printf(out,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "script-src 'nonce-%s'; style-src 'unsafe-inline'; img-src data:; base-uri "
                  "'none'; form-action 'none'\"/>\n",
                  nonce);
    strbuf_add_bytes(out, at, (size_t)(body - at));
    strbuf_add(out, "<section id=\"run-view\" aria-label=\"the run\" hidden></section>\n");
    strbuf_add_bytes(out, body, (size_t)(last - body));
    strbuf_add(out, "<style id=\"weft-style\" media=\"not all\">");
    strbuf_add_bytes(out, (const char *)style->at, style->n);
    strbuf_add(out, "</style>\n<script type=\"application/json\" id=\"weft-run\">");
    kept_add_json(out, data);
    strbuf_printf(out, "</script>\n<script nonce=\"%s\">", nonce);
    strbuf_add_bytes(out, (const char *)script->at, script->n);
    strbuf_add(out, "</script>\n");
    strbuf_add(out, end);
    return true;
}

bool kept_write(int64_t run, const char *file, struct error *err)
{
    struct strbuf data = {0}, out = {0};
    struct text report = {0};
    bool good = file_read(file, &report, err) && kept_data(&data, run, err) &&
                kept_compose(&report, &data, &out, err) && file_write(file, out.at, out.n, err);
    text_free(&report);
    strbuf_free(&data);
    strbuf_free(&out);
    return good;
}
