/* What the Workbench draws: boxes and wires of a text, and the light under each box.
 *
 *        ┌ name ×count ──┐
 *      ○ in          out ○       a box is as high as it has ports on its fuller side
 *      ○ in              │
 *        └───────────────┘
 *          light
 *
 * Nothing is decided here: places come from the library's layout, lights from a dry run. */
#include "base/mem.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/workbench.h"
#include "weft/weft.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOX_WIDTH = 190, BOX_HEAD = 48, BOX_PORT = 22, BOX_GAP = 34, COLUMN_GAP = 90 };

/* ---- problems ---- */

/* "flow.yaml:12: task 'b': ..." as {"line": 12, "text": "task 'b': ..."}. */
static void put_problem(struct json_writer *j, const char *file, const char *text)
{
    size_t n = strlen(file);
    unsigned long line = 0;
    char *rest = NULL;
    if (strncmp(text, file, n) == 0 && text[n] == ':') {
        line = strtoul(text + n + 1, &rest, 10);
        text = rest && *rest == ':' && line ? rest + 1 : text + n + 1;
        text += strspn(text, " ");
    }
    json_write_object(j);
    json_put_integer(j, "line", (int64_t)line);
    json_put_string(j, "text", text);
    json_write_end_object(j);
}

/* ---- boxes ---- */

/* The tasks of a box: itself, the members of a family, what is in a sub-workflow. */
static bool name_is_of(const char *task, const char *box)
{
    size_t n = strlen(box);
    return strncmp(task, box, n) == 0 && (!task[n] || task[n] == '@' || task[n] == '/');
}

/* Of the workflow as it is read: a family's members are counted, not guessed. */
static uint32_t box_count(const struct weft_workflow *w, const char *name)
{
    uint32_t count = 0;
    for (uint32_t t = 0; w && t < weft_workflow_tasks(w); t++)
        count += name_is_of(weft_workflow_task_name(w, t), name);
    return count;
}

/* In the order of the text: the form shows them as the author wrote them. */
static void put_keys(struct json_writer *j, struct weft_edit *e, size_t task)
{
    struct weft_edit_key key;
    json_write_key(j, "keys");
    json_write_array(j);
    for (size_t k = 0; weft_edit_task_key(e, task, k, &key); k++) {
        json_write_object(j);
        json_put_string(j, "key", key.key);
        json_put_string(j, "value", key.value);
        json_put_bool(j, "yaml", key.yaml);
        json_put_integer(j, "line", key.line);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Inputs first; wires name them by their numbers. */
static void put_ports(struct json_writer *j, struct weft_edit *e, size_t task)
{
    struct weft_edit_port port;
    json_write_key(j, "ports");
    json_write_array(j);
    for (size_t k = 0; weft_edit_port(e, task, k, &port); k++) {
        json_write_object(j);
        json_put_bool(j, "out", port.out);
        json_put_string(j, "file", port.file);
        json_write_key(j, "place");
        json_write_array(j);
        for (size_t i = 0; port.place[i]; i++)
            json_write_string(j, port.place[i]);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* As the page draws it; the layout must know before. */
static double box_height(struct weft_edit *e, size_t task)
{
    struct weft_edit_port port;
    unsigned sides[2] = {0, 0};
    for (size_t k = 0; weft_edit_port(e, task, k, &port); k++)
        sides[port.out]++;
    return BOX_HEAD + BOX_PORT * (double)(sides[0] > sides[1] ? sides[0] : sides[1]);
}

/* Wires in a circle have no layout: then boxes stand side by side, and the problem is told. */
static void put_boxes(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w)
{
    struct weft_edit_task task;
    struct weft_error error;
    size_t n = 0;
    while (weft_edit_task(e, n, &task))
        n++;
    double *height = mem_new(double, n + 1);
    struct weft_edit_spot *spots = mem_new_zero(struct weft_edit_spot, n + 1);
    for (size_t i = 0; i < n; i++)
        height[i] = box_height(e, i);
    bool placed = n && weft_edit_layout(e, height, BOX_GAP, spots, &error);
    json_write_key(j, "tasks");
    json_write_array(j);
    for (size_t i = 0; weft_edit_task(e, i, &task); i++) {
        json_write_object(j);
        json_put_string(j, "name", task.name);
        json_put_integer(j, "line", task.line);
        json_put_integer(j, "last", task.last);
        json_put_integer(j, "count", w ? (int64_t)box_count(w, task.name) : 1);
        json_put_number(j, "x",
                        placed ? spots[i].column * (double)(BOX_WIDTH + COLUMN_GAP)
                               : (double)(i * (BOX_WIDTH + COLUMN_GAP)));
        json_put_number(j, "y", placed ? spots[i].middle - height[i] / 2 : 0);
        json_put_number(j, "width", BOX_WIDTH);
        json_put_number(j, "height", height[i]);
        put_keys(j, e, i);
        put_ports(j, e, i);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    free(height);
    free(spots);
}

static void put_wires(struct json_writer *j, struct weft_edit *e)
{
    struct weft_edit_wire wire;
    json_write_key(j, "wires");
    json_write_array(j);
    for (size_t k = 0; weft_edit_wire(e, k, &wire); k++) {
        json_write_object(j);
        json_put_integer(j, "from", wire.from);
        json_put_integer(j, "to", wire.to);
        json_put_integer(j, "made", wire.made == WEFT_NONE ? -1 : (int64_t)wire.made);
        json_put_integer(j, "read", wire.read == WEFT_NONE ? -1 : (int64_t)wire.read);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void put_section(struct json_writer *j, struct weft_edit *e, const char *section)
{
    struct weft_edit_key key;
    json_write_key(j, section);
    json_write_array(j);
    for (size_t k = 0; weft_edit_member(e, section, k, &key); k++) {
        json_write_object(j);
        json_put_string(j, "key", key.key);
        json_put_string(j, "value", key.value);
        json_put_bool(j, "yaml", key.yaml);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Members of the object that is open: "problems", and if the text is YAML, what stands in it. */
void workbench_view(struct json_writer *j, const char *file, const char *text, size_t n)
{
    struct weft_error error, unreadable;
    struct weft_workflow *w = weft_workflow_read_text(text, n, file, NULL, &unreadable);
    struct weft_edit *e = weft_edit_new(text, n, file, &error);
    json_write_key(j, "problems");
    json_write_array(j);
    if (!w)
        put_problem(j, file, unreadable.text);
    json_write_end_array(j);
    json_put_bool(j, "readable", e != NULL);
    if (e) {
        put_boxes(j, e, w);
        put_wires(j, e);
        put_section(j, e, "parameters");
        put_section(j, e, "lists");
    }
    weft_edit_free(e);
    weft_workflow_free(w);
}

/* ---- lights ---- */

/* How the newest run of this workflow ended for the tasks of a box: failures are told, and a run that goes on. */
struct last_run {
    struct weft_history *history;
    struct weft_record *record;
    bool going;
};

/* By name and folder: two workflows of one name may stand in two folders. */
static void last_run_find(struct last_run *l, const struct laboratory *lab, const char *name)
{
    struct weft_error error;
    struct weft_run_head head;
    struct weft_runs_filter filter = WEFT_RUNS_INIT;
    filter.workflow = name;
    filter.limit = 20;
    *l = (struct last_run){.history = weft_history_open(NULL, &error)};
    struct weft_runs *runs = l->history ? weft_history_runs(l->history, &filter, &error) : NULL;
    for (size_t i = 0; runs && weft_runs_get(runs, i, &head); i++) {
        if (!head.folder || strncmp(head.folder, lab->folder, strlen(lab->folder)) != 0)
            continue;
        l->going = head.outcome && strcmp(head.outcome, "running") == 0;
        l->record = weft_history_run(l->history, head.run, &error);
        break;
    }
    weft_runs_free(runs);
}

static void last_run_free(struct last_run *l)
{
    weft_record_free(l->record);
    weft_history_close(l->history);
}

/* Attempts are in order of time: the last word counts. */
static bool last_run_failed(const struct last_run *l, const char *task)
{
    struct weft_attempt a;
    bool failed = false;
    for (size_t i = 0; l->record && weft_record_attempt(l->record, i, &a); i++)
        if (strcmp(a.name, task) == 0)
            failed = strcmp(a.outcome, "done") != 0;
    return failed;
}

/* A dry run knows whether it would run; whether it failed, only the last run does. */
static void put_light(struct json_writer *j, struct weft_run *run, uint32_t task,
                      const struct last_run *last)
{
    struct weft_error error;
    struct weft_need need;
    const char *name = weft_workflow_task_name(weft_run_workflow(run), task);
    if (!weft_run_need(run, task, &need, &error))
        return;
    const char *state = !need.runs                    ? "fresh"
                        : last->going                 ? "running"
                        : last_run_failed(last, name) ? "failed"
                                                      : "stale";
    json_write_object(j);
    json_put_string(j, "task", name);
    json_put_string(j, "state", state);
    json_put_text(j, "why", need.reason);
    json_write_end_object(j);
}

enum { LIGHTS_MOST = 20000 }; /* tasks; a run of more is looked at in its own view */

static void put_lights(struct json_writer *j, const struct laboratory *lab, struct weft_run *run,
                       const struct weft_forecast *f)
{
    struct last_run last;
    uint32_t n = weft_workflow_tasks(weft_run_workflow(run));
    last_run_find(&last, lab, weft_run_name(run));
    json_write_object(j);
    json_put_integer(j, "tasks", f->tasks);
    json_put_integer(j, "run", f->to_run);
    json_put_number(j, "seconds", f->seconds);
    json_put_bool(j, "going", last.going);
    json_write_key(j, "lights");
    json_write_array(j);
    for (uint32_t t = 0; t < n && n <= LIGHTS_MOST; t++)
        put_light(j, run, t, &last);
    json_write_end_array(j);
    json_write_end_object(j);
    last_run_free(&last);
}

/* ?file=NAME: what a dry run says of each task, as the file stands on disk. */
void answer_lights(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct weft_forecast forecast;
    struct weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.look = true;
    char *path = workbench_path(lab, request_value(r, "file"), out);
    if (!path)
        return;
    struct weft_run *run = weft_run_open(path, &options, &error);
    struct json_writer j;
    if (run && weft_run_forecast(run, &forecast, &error)) {
        json_write_start(&j, &out->body, false);
        put_lights(&j, lab, run, &forecast);
    } else {
        reply_error(out, &error);
    }
    weft_run_close(run);
    free(path);
}
