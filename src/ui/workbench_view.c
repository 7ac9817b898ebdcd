/* What the Workbench draws: boxes and wires of a text, and the light under each box.
 *
 *        ┌ name ×count ──┐
 *      ○ in          out ○       a box is as high as it has ports on its fuller side
 *      ○ in              │
 *        └───────────────┘
 *          light
 *
 * Nothing is decided here: places come from workbench_places.c, lights from a dry run. */
#include "api/inside.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "report/kinds.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/workbench.h"
#include "weft/weft.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What the workflow, as it is read, has of each box: a family's members are counted, not guessed, and colours are those of its runs and
 * plans; a box of several kinds has that of its first. A task counts for every beginning of its name that may be a box
 * (workbench_is_of()), so that one walk over the tasks finds all. */
struct box_fact {
    uint32_t count, colour;
};

struct box_facts {
    struct intern names;
    ARRAY(struct box_fact) of; /* per name */
    bool known;                /* false: the workflow cannot be read */
};

static void box_fact_add(struct box_facts *f, const char *name, size_t n, uint32_t colour)
{
    uint32_t at = intern_number(&f->names, name, n);
    struct box_fact first = {0, colour};
    if (at == f->of.n)
        array_push(&f->of, first);
    f->of.at[at].count++;
}

static void box_facts_take(struct box_facts *f, const struct weft_workflow *w)
{
    struct kinds kinds;
    *f = (struct box_facts){.known = w != NULL};
    intern_init(&f->names);
    if (!w)
        return;
    kinds_of_record(&kinds, inside_workflow(w));
    for (uint32_t t = 0; t < weft_workflow_tasks(w); t++) {
        const char *name = weft_workflow_task_name(w, t);
        size_t n = 0;
        for (; name[n]; n++)
            if (name[n] == '@' || name[n] == '/')
                box_fact_add(f, name, n, kinds.colour[t]);
        box_fact_add(f, name, n, kinds.colour[t]);
    }
    kinds_free(&kinds);
}

static void put_facts(struct json_writer *j, const struct box_facts *f, const char *name)
{
    uint32_t at = intern_find(&f->names, name, strlen(name));
    bool found = at != UINT32_MAX;
    json_put_integer(j, "count", found ? f->of.at[at].count : !f->known);
    if (found)
        json_put_integer(j, "colour", f->of.at[at].colour);
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

/* The members that boxes of tasks and of included workflows share. */
static void put_box(struct json_writer *j, const char *name, uint32_t line, uint32_t last,
                    const struct box_facts *facts, struct box_place at)
{
    json_put_string(j, "name", name);
    json_put_integer(j, "line", line);
    json_put_integer(j, "last", last);
    put_facts(j, facts, name);
    json_put_number(j, "x", (double)at.column * BOX_COLUMN);
    json_put_number(j, "y", at.y);
    json_put_number(j, "width", BOX_WIDTH);
    json_put_number(j, "height", at.height);
}

static void put_includes(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w,
                         const struct box_facts *facts, const struct box_place *at)
{
    static const char *const include[] = {"include", NULL};
    struct weft_edit_key key, part;
    for (size_t k = 0; weft_edit_at(e, include, k, &key); k++) {
        char *name = mem_copy_string(key.key);
        bool alone = !key.yaml; /* the file's name, and nothing else */
        json_write_object(j);
        put_box(j, name, key.line, key.line, facts, at[k]);
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

static void put_boxes(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w,
                      const workbench_wires *wires, size_t tasks)
{
    struct weft_edit_task task;
    struct box_facts facts;
    struct box_place *at = workbench_places(e, w, wires, tasks);
    box_facts_take(&facts, w);
    json_write_key(j, "tasks");
    json_write_array(j);
    for (size_t i = 0; weft_edit_task(e, i, &task); i++) {
        json_write_object(j);
        put_box(j, task.name, task.line, task.last, &facts, at[i]);
        put_keys(j, e, i);
        put_ports(j, e, i);
        json_write_end_object(j);
    }
    put_includes(j, e, w, &facts, at + tasks);
    json_write_end_array(j);
    array_free(&facts.of);
    intern_free(&facts.names);
    free(at);
}

static void put_wires(struct json_writer *j, const workbench_wires *wires)
{
    json_write_key(j, "wires");
    json_write_array(j);
    for (size_t k = 0; k < wires->n; k++) {
        const struct weft_edit_wire *wire = &wires->at[k];
        json_write_object(j);
        json_put_integer(j, "from", wire->from);
        json_put_integer(j, "to", wire->to);
        json_put_integer(j, "made", wire->made == WEFT_NONE ? -1 : (int64_t)wire->made);
        json_put_integer(j, "read", wire->read == WEFT_NONE ? -1 : (int64_t)wire->read);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void put_graph(struct json_writer *j, struct weft_edit *e, const struct weft_workflow *w)
{
    workbench_wires wires = {0};
    struct weft_edit_wire wire;
    struct weft_edit_task task;
    uint32_t tasks = 0;
    while (weft_edit_task(e, tasks, &task))
        tasks++;
    for (size_t k = 0; weft_edit_wire(e, k, &wire); k++)
        array_push(&wires, wire);
    workbench_include_wires(e, w, tasks, &wires);
    put_boxes(j, e, w, &wires, tasks);
    put_wires(j, &wires);
    array_free(&wires);
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
        put_graph(j, e, w);
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
    struct intern names;      /* of its tasks, once they were needed */
    uint32_t next;            /* behind the task that was asked for last */
    bool going;
};

/* Was it a run of this file? Folders of one project often have a workflow of one name each, and the name of one may be a part of another's. */
static bool head_is_of(const struct weft_run_head *head, const char *folder, const char *path)
{
    return head->folder && head->file && strcmp(head->folder, folder) == 0 &&
           strcmp(file_basename(head->file), file_basename(path)) == 0;
}

/* `path`: the workflow's file; `name`: what its runs are called. */
static void last_run_find(struct last_run *l, const char *path, const char *name)
{
    struct weft_error error;
    struct weft_run_head head;
    struct weft_runs_filter filter = WEFT_RUNS_INIT;
    char folder[PATH_MAX];
    filter.workflow = name;
    filter.limit = 500;
    *l = (struct last_run){0};
    intern_init(&l->names);
    char *above = file_beside(path, ".");
    bool there = realpath(above, folder) != NULL;
    free(above);
    if (!there)
        return;
    struct weft_history *history = weft_history_open(NULL, &error);
    struct weft_runs *runs = history ? weft_history_runs(history, &filter, &error) : NULL;
    for (size_t i = 0; runs && weft_runs_get(runs, i, &head); i++) {
        if (!head_is_of(&head, folder, path))
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

/* The number of a task there; UINT32_MAX: it was not in that run. Tasks are asked in the order that they had: names are put in a table only
 * when one is not where it was. */
static uint32_t last_run_number(struct last_run *l, const char *task)
{
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    struct weft_watch_state s = WEFT_WATCH_STATE_INIT;
    if (weft_watch_task(l->watch, l->next, &t) && strcmp(t.name, task) == 0)
        return l->next;
    weft_watch_state(l->watch, &s);
    for (uint32_t i = l->names.n; i < s.tasks && weft_watch_task(l->watch, i, &t); i++)
        intern_number(&l->names, t.name, strlen(t.name)); /* no two tasks have one name */
    return intern_find(&l->names, task, strlen(task));
}

/* What became of a task there; "": it was not in that run. */
static const char *last_run_state(struct last_run *l, const char *task)
{
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    uint32_t at = l->watch ? last_run_number(l, task) : UINT32_MAX;
    if (at == UINT32_MAX || !weft_watch_task(l->watch, at, &t))
        return "";
    l->next = at + 1;
    return t.state;
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

static void put_lights(struct json_writer *j, const char *path, struct weft_run *run,
                       const struct weft_forecast *f)
{
    struct last_run last;
    uint32_t n = weft_workflow_tasks(weft_run_workflow(run));
    last_run_find(&last, path, weft_run_name(run));
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
    intern_free(&last.names);
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
        put_lights(&j, path, run, &forecast);
    } else {
        reply_error(out, &error);
    }
    weft_run_close(run);
    free(path);
}
