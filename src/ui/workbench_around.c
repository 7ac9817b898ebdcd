/* What stands around the boxes of a workflow: frames and notes, constraints, and the workflows that it includes, which are boxes as well.
 *
 *     include: { qc: lib/qc.yaml }        ╔ qc ═════════╗      its ports are the files that cross its border, as the
 *                                       ○ ║ raw    count ║ ○    whole workflow is read: a file of another
 *                                         ╚═════════════╝      folder has the name that it has here
 *
 * A workflow with a mistake has no graph to look at: then such a box has no ports. */
#include "base/array.h"
#include "base/json.h"
#include "ui/workbench.h"
#include "weft/weft.h"
#include <stdlib.h>
#include <string.h>

enum { INCLUDE_PORTS = 12 }; /* of a side; a box with more is read in its own file */

void workbench_put_key(struct json_writer *j, const struct weft_edit_key *key)
{
    json_write_object(j);
    json_put_string(j, "key", key->key);
    json_put_string(j, "value", key->value);
    json_put_bool(j, "yaml", key->yaml);
    json_put_integer(j, "line", key->line);
    json_write_end_object(j);
}

/* Members or elements of a place, as the form shows them. */
static void put_place(struct json_writer *j, struct weft_edit *e, const char *name,
                      const char *const *place)
{
    struct weft_edit_key key;
    json_write_key(j, name);
    json_write_array(j);
    for (size_t k = 0; weft_edit_at(e, place, k, &key); k++)
        workbench_put_key(j, &key);
    json_write_end_array(j);
}

/* {"name": TITLE, "tasks": [...]} each: frames hold tasks by name, so that they follow them. */
static void put_frames(struct json_writer *j, struct weft_edit *e)
{
    static const char *const frames[] = {"canvas", "frames", NULL};
    struct weft_edit_key frame, task;
    json_write_key(j, "frames");
    json_write_array(j);
    for (size_t k = 0; weft_edit_at(e, frames, k, &frame); k++) {
        const char *const members[] = {"canvas", "frames", frame.key, NULL};
        json_write_object(j);
        json_put_string(j, "name", frame.key);
        json_write_key(j, "tasks");
        json_write_array(j);
        for (size_t i = 0; weft_edit_at(e, members, i, &task); i++)
            json_write_string(j, task.value);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* {"name", "text", "beside"} each; a note that is a text alone stands beside nothing. */
static void put_notes(struct json_writer *j, struct weft_edit *e)
{
    static const char *const notes[] = {"canvas", "notes", NULL};
    struct weft_edit_key note, part;
    json_write_key(j, "notes");
    json_write_array(j);
    for (size_t k = 0; weft_edit_at(e, notes, k, &note); k++) {
        const char *const text[] = {"canvas", "notes", note.key, "text", NULL};
        const char *const beside[] = {"canvas", "notes", note.key, "beside", NULL};
        json_write_object(j);
        json_put_string(j, "name", note.key);
        json_put_bool(j, "alone", !note.yaml);
        if (!note.yaml)
            json_put_string(j, "text", note.value);
        else
            json_put_string(j, "text", weft_edit_at(e, text, 0, &part) ? part.value : "");
        json_put_string(j, "beside", weft_edit_at(e, beside, 0, &part) ? part.value : "");
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

void workbench_around(struct json_writer *j, struct weft_edit *e)
{
    put_place(j, e, "parameters", (const char *const[]){"parameters", NULL});
    put_place(j, e, "lists", (const char *const[]){"lists", NULL});
    put_place(j, e, "include", (const char *const[]){"include", NULL});
    put_place(j, e, "assert", (const char *const[]){"assert", NULL});
    put_frames(j, e);
    put_notes(j, e);
}

/* ---- included workflows ---- */

bool workbench_is_of(const char *task, const char *box)
{
    size_t n = strlen(box);
    return strncmp(task, box, n) == 0 && (!task[n] || task[n] == '@' || task[n] == '/');
}

static bool task_is_inside(const struct weft_workflow *w, uint32_t task, const char *box)
{
    return task != WEFT_NONE && workbench_is_of(weft_workflow_task_name(w, task), box);
}

/* Does the file cross the border of this box, inwards or (`out`) outwards? What is made inside and read by nobody there is a
 * result, so it does. */
static bool object_crosses(const struct weft_workflow *w, const struct weft_object_info *o,
                           const char *box, bool out)
{
    bool made = task_is_inside(w, o->producer, box), inside = false, outside = false;
    for (size_t i = 0; i < o->nconsumers; i++)
        *(task_is_inside(w, o->consumers[i], box) ? &inside : &outside) = true;
    return out ? made && (outside || !inside) : !made && inside;
}

/* Number `k` of the box's files, inputs first as with tasks; NULL: there are no more. */
static const char *include_port(const struct weft_workflow *w, const char *box, size_t k, bool *out)
{
    struct weft_object_info o;
    for (int side = 0; side < 2 && w; side++) {
        size_t shown = 0;
        for (uint32_t i = 0; weft_workflow_object(w, i, &o) && shown < INCLUDE_PORTS; i++) {
            if (!*o.name || !object_crosses(w, &o, box, side))
                continue;
            shown++;
            *out = side;
            if (k-- == 0)
                return o.name;
        }
    }
    return NULL;
}

unsigned workbench_include_side(const struct weft_workflow *w, const char *box, bool outs)
{
    unsigned n = 0;
    bool out;
    for (size_t k = 0; include_port(w, box, k, &out); k++)
        n += out == outs;
    return n;
}

void workbench_include_ports(struct json_writer *j, const struct weft_workflow *w, const char *box)
{
    bool out;
    const char *name;
    json_write_key(j, "ports");
    json_write_array(j);
    for (size_t k = 0; (name = include_port(w, box, k, &out)); k++) {
        json_write_object(j);
        json_put_bool(j, "out", out);
        json_put_string(j, "file", name);
        json_write_key(j, "place");
        json_write_array(j);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Wires between box number `at` (an included workflow) and the tasks: by the name of the file, and by `after`. */
static void include_wires(struct weft_edit *e, const struct weft_workflow *w, const char *box,
                          uint32_t at, workbench_wires *wires)
{
    struct weft_edit_task task;
    struct weft_edit_port port;
    struct weft_edit_key after;
    const char *name;
    bool out;
    for (uint32_t i = 0; weft_edit_task(e, i, &task); i++) {
        for (uint32_t p = 0; (name = include_port(w, box, p, &out)); p++)
            for (uint32_t k = 0; weft_edit_port(e, i, k, &port); k++)
                if (port.out != out && strcmp(port.file, name) == 0)
                    array_push(wires, (struct weft_edit_wire){out ? at : i, out ? i : at,
                                                              out ? p : k, out ? k : p});
        const char *const place[] = {"tasks", task.name, "after", NULL};
        for (size_t k = 0; weft_edit_at(e, place, k, &after); k++)
            if (strcmp(after.value, box) == 0)
                array_push(wires, (struct weft_edit_wire){at, i, WEFT_NONE, WEFT_NONE});
    }
}

void workbench_include_wires(struct weft_edit *e, const struct weft_workflow *w, uint32_t first,
                             workbench_wires *wires)
{
    static const char *const include[] = {"include", NULL};
    struct weft_edit_key key;
    for (size_t k = 0; weft_edit_at(e, include, k, &key); k++)
        include_wires(e, w, key.key, first + (uint32_t)k, wires);
}
