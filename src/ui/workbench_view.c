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
#include "ui/folder.h"
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
        text = rest && line ? rest + (*rest == ':') : text + n + 1;
        text += strspn(text, " ");
    }
    json_write_object(j);
    json_put_integer(j, "line", (int64_t)line);
    json_put_string(j, "text", text);
    json_write_end_object(j);
}

/* ---- boxes ---- */

/* Of the workflow as it is read: a family's members are counted, not guessed. */
static uint32_t box_count(const struct weft_workflow *w, const char *name)
{
    uint32_t count = 0;
    for (uint32_t t = 0; w && t < weft_workflow_tasks(w); t++)
        count += workbench_is_of(weft_workflow_task_name(w, t), name);
    return count;
}

/* In the order of the text: the form shows them as the author wrote them. */
static void put_keys(struct json_writer *j, struct weft_edit *e, size_t task)
{
    struct weft_edit_key key;
    json_write_key(j, "keys");
    json_write_array(j);
    for (size_t k = 0; weft_edit_task_key(e, task, k, &key); k++)
        workbench_put_key(j, &key);
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

/* Where a box stands and how large it is. */
struct box_place {
    double x, y, height;
};

/* The members that boxes of tasks and of included workflows share. */
static void put_box(struct json_writer *j, const char *name, uint32_t line, uint32_t last,
                    int64_t count, struct box_place at)
{
    json_put_string(j, "name", name);
    json_put_integer(j, "line", line);
    json_put_integer(j, "last", last);
    json_put_integer(j, "count", count);
    json_put_number(j, "x", at.x);
    json_put_number(j, "y", at.y);
    json_put_number(j, "width", BOX_WIDTH);
    json_put_number(j, "height", at.height);
}

/* Below the tasks, side by side: the layout is of tasks, and there are few such boxes. */
static void put_includes(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w,
                         double below)
{
    static const char *const include[] = {"include", NULL};
    struct weft_edit_key key, part;
    for (size_t k = 0; weft_edit_at(e, include, k, &key); k++) {
        char *name = mem_copy_string(key.key);
        unsigned in = workbench_include_side(w, name, false);
        unsigned out = workbench_include_side(w, name, true);
        struct box_place at = {(double)(k * (BOX_WIDTH + COLUMN_GAP)), below,
                               BOX_HEAD + BOX_PORT * (double)(in > out ? in : out)};
        bool alone = !key.yaml; /* the file's name, and nothing else */
        json_write_object(j);
        put_box(j, name, key.line, key.line, w ? (int64_t)box_count(w, name) : 1, at);
        json_put_bool(j, "include", true);
        json_put_bool(j, "alone", alone);
        json_write_key(j, "keys");
        json_write_array(j);
        if (alone) {
            key.key = "file";
            workbench_put_key(j, &key);
        }
        const char *const place[] = {"include", name, NULL};
        for (size_t i = 0; !alone && weft_edit_at(e, place, i, &part); i++)
            workbench_put_key(j, &part);
        json_write_end_array(j);
        workbench_include_ports(j, w, name);
        json_write_end_object(j);
        free(name);
    }
}

/* Wires in a circle have no layout: then boxes stand side by side, and the problem is told. */
static void put_boxes(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w)
{
    struct weft_edit_task task;
    struct weft_error error;
    size_t n = 0;
    double below = 0;
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
        double column = placed ? spots[i].column : (double)i;
        struct box_place at = {column * (BOX_WIDTH + COLUMN_GAP),
                               placed ? spots[i].middle - height[i] / 2 : 0, height[i]};
        below = fmax(below, at.y + at.height + 2 * BOX_GAP);
        json_write_object(j);
        put_box(j, task.name, task.line, task.last, w ? (int64_t)box_count(w, task.name) : 1, at);
        put_keys(j, e, i);
        put_ports(j, e, i);
        json_write_end_object(j);
    }
    put_includes(j, e, w, below);
    json_write_end_array(j);
    free(height);
    free(spots);
}

static void put_wires(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w)
{
    struct weft_edit_wire wire;
    struct weft_edit_task task;
    size_t tasks = 0;
    while (weft_edit_task(e, tasks, &task))
        tasks++;
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
    workbench_include_wires(j, e, w, tasks);
    json_write_end_array(j);
}

/* Members of the object that is open: "problems", and if the text is YAML, what stands in it. */
void workbench_view(struct json_writer *j, const char *file, const char *text, size_t n)
{
    struct weft_error error, unreadable;
    struct weft_workflow *w = weft_workflow_read_text(text, n, file, NULL, &unreadable);
    struct weft_edit *e = weft_edit_new(text, n, file, &error);
    if (e)
        weft_edit_know(e, w, &error);
    json_write_key(j, "problems");
    json_write_array(j);
    if (!w || !weft_workflow_constraints(w, &unreadable))
        put_problem(j, file, unreadable.text);
    json_write_end_array(j);
    json_put_bool(j, "readable", e != NULL);
    if (e) {
        put_boxes(j, e, w);
        put_wires(j, e, w);
        workbench_around(j, e);
    }
    weft_edit_free(e);
    weft_workflow_free(w);
}

/* ---- lights ---- */

/* Lights are made of two sources:
 *
 *     a dry run       would it run, and why (the files as they are now)
 *     the last run    what became of it there (the watch of weft/watch.h, which costs a run nothing)
 *
 *     running there                      ◐ runs        whatever the files say: it is writing them
 *     need not run, its `when` is false  – skipped
 *     need not run                       ● up to date
 *     failed there                       ✕ failed
 *     the last run goes on               · waits
 *     else                               ○ would run */

/* The newest run of this workflow, as it goes on or as it ended: what a dry run cannot know (runs, failed, skipped). */
struct last_run {
    struct weft_watch *watch; /* NULL: there is none */
    uint32_t next;            /* where the search for a name begins */
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
    *l = (struct last_run){0};
    struct weft_history *history = weft_history_open(NULL, &error);
    struct weft_runs *runs = history ? weft_history_runs(history, &filter, &error) : NULL;
    for (size_t i = 0; runs && weft_runs_get(runs, i, &head); i++) {
        if (!head.folder || !folder_holds(lab->folder, head.folder))
            continue;
        l->going = head.outcome && strcmp(head.outcome, "running") == 0;
        l->watch = weft_watch_open(head.run, &error);
        if (l->watch && !weft_watch_look(l->watch, NULL, &error)) {
            weft_watch_close(l->watch);
            l->watch = NULL;
        }
        break;
    }
    weft_runs_free(runs);
    weft_history_close(history);
}

/* What became of a task there; "": it was not in that run. Tasks are asked in the order that they had, so that a search
 * seldom goes far. */
static const char *last_run_state(struct last_run *l, const char *task)
{
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    struct weft_watch_state s = WEFT_WATCH_STATE_INIT;
    if (!l->watch)
        return "";
    weft_watch_state(l->watch, &s);
    for (uint32_t i = 0; i < s.tasks; i++) {
        uint32_t at = (l->next + i) % s.tasks;
        if (!weft_watch_task(l->watch, at, &t) || strcmp(t.name, task) != 0)
            continue;
        l->next = at + 1;
        return t.state;
    }
    return "";
}

/* Its `when` does not hold, in words; NULL: it does, or it has none. A dry run knows; asked only where the last run left it
 * out, since a word for each task would cost. */
static const char *skipped_because(struct weft_run *run, const char *name)
{
    struct weft_error error;
    const char *why = weft_run_why(run, name, &error),
               *is = why ? strstr(why, " is skipped") : NULL;
    return is && (size_t)(is - why) == strlen(name) ? is + strlen(" is ") : NULL;
}

/* A dry run knows whether it would run. That it runs now, failed, or was not taken, is known from the last run. */
static void put_light(struct json_writer *j, struct weft_run *run, uint32_t task,
                      struct last_run *last)
{
    struct weft_error error;
    struct weft_need need;
    const char *name = weft_workflow_task_name(weft_run_workflow(run), task), *skipped = NULL;
    if (!weft_run_need(run, task, &need, &error))
        return;
    const char *was = last_run_state(last, name);
    if (!need.runs && strcmp(was, "skipped") == 0)
        skipped = skipped_because(run, name);
    const char *state = strcmp(was, "running") == 0  ? "running"
                        : skipped                    ? "skipped"
                        : !need.runs                 ? "fresh"
                        : strcmp(was, "failed") == 0 ? "failed"
                        : last->going                ? "waits"
                                                     : "stale";
    json_write_object(j);
    json_put_string(j, "task", name);
    json_put_string(j, "state", state);
    json_put_text(j, "why", skipped ? skipped : need.reason);
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
    weft_watch_close(last.watch);
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
