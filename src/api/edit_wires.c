/* Wires of a workflow's text, and where its boxes may stand (weft/edit.h).
 *
 *     out: "{image}.png"  meets  in: "{x}.png", in: a.png        some value makes them the same
 *                         not    in: "{x}.txt"
 *
 * Where the workflow was read as well (weft_edit_know()), what it has decides: `in: "{file}"` of a table of files would meet all.
 * Names without variables are put in order and find each other; one with variables is compared with all. */
#include "api/edit_handle.h"
#include "base/pool.h"
#include "model/builder.h"
#include "report/layout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A port with its task. */
struct wire_end {
    uint32_t task, port;
    bool varies; /* its name has variables */
    const char *file;
};

struct wire_ends {
    const struct yaml_edit *e;
    uint32_t task, port;
    ARRAY(struct wire_end) at;
};

static bool wire_end_found(void *context, const struct edit_port *port)
{
    struct wire_ends *w = context;
    const char *file = yaml_text(&w->e->y, port->at, NULL);
    struct wire_end end = {w->task, w->port++, strchr(file, '{') != NULL, file};
    array_push(&w->at, end);
    return true;
}

/* A byte of a name: a variable in braces is any text. */
static bool at_variable(const char *name, size_t *length)
{
    const char *end = name[0] == '{' ? strchr(name, '}') : NULL;
    *length = end ? (size_t)(end - name) + 1 : 0;
    return end != NULL;
}

/* Do two names with variables have a value in common? A table over both, row by row: meets[j] says whether
 * what is before this place of `a` and what is before place j of `b` can be the same. */
static bool names_meet(const char *a, const char *b)
{
    size_t n = strlen(b), length, other;
    bool *meets = mem_new_zero(bool, n + 1), *next = mem_new_zero(bool, n + 1);
    meets[0] = true;
    for (;;) {
        for (size_t j = 0; j < n; j++) /* a variable of b may be nothing more */
            if (meets[j] && at_variable(b + j, &other))
                meets[j + other] = true;
        if (!*a)
            break;
        bool any = at_variable(a, &length);
        memset(next, 0, n + 1);
        for (size_t j = 0; j <= n; j++) {
            if (!meets[j])
                continue;
            bool free_b = at_variable(b + j, &other);
            if (any)
                memset(next + j, 1, n + 1 - j);
            else if (free_b)
                next[j] = true;
            else if (b[j] && *a == b[j])
                next[j + 1] = true;
        }
        bool *swap = meets;
        meets = next;
        next = swap;
        a += any ? length : 1;
    }
    bool good = meets[n];
    free(meets);
    free(next);
    return good;
}

/* Tasks by their names; of those with one name, which no workflow may have, the first. */
struct box_names {
    struct intern names;
    ARRAY(uint32_t) task; /* per name */
};

static void box_name(struct box_names *boxes, const struct yaml *y, yaml_ref key, uint32_t task)
{
    size_t n;
    const char *name = yaml_text(y, key, &n);
    if (intern_number(&boxes->names, name, n) == boxes->task.n)
        array_push(&boxes->task, task);
}

/* `after` of a task: a name, or a list of them. */
static void wires_of_order(struct weft_edit *e, yaml_ref key, uint32_t task,
                           const struct box_names *boxes)
{
    const struct yaml *y = &e->edit.y;
    yaml_ref v = yaml_get(y, yaml_value(key), "after");
    if (v == YAML_NONE || yaml_type(y, v) == YAML_MAPPING)
        return;
    yaml_ref name = yaml_type(y, v) == YAML_SCALAR ? v : yaml_first(y, v);
    for (; name != YAML_NONE; name = name == v ? YAML_NONE : yaml_next(y, v, name)) {
        size_t n;
        const char *text = yaml_text(y, name, &n);
        uint32_t found = intern_find(&boxes->names, text, n);
        if (found == UINT32_MAX)
            continue;
        struct weft_edit_wire wire = {boxes->task.at[found], task, WEFT_NONE, WEFT_NONE};
        array_push(&e->wires, wire);
    }
}

static int by_pair(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Does the second follow the first, in the workflow as it was read? What nobody has read may. */
static bool tasks_meet(const struct weft_edit *e, uint32_t from, uint32_t to)
{
    uint64_t pair = (uint64_t)from << 32 | to;
    if (!e->known.n || !e->known.at[from] || !e->known.at[to])
        return true;
    return e->pairs.n && bsearch(&pair, e->pairs.at, e->pairs.n, sizeof pair, by_pair);
}

/* The task of the text whose member (name@i=1) or part (name/inner) this is; UINT32_MAX: of none. */
static uint32_t box_of(const struct intern *boxes, const char *name)
{
    uint32_t found = intern_find(boxes, name, strlen(name));
    for (const char *c = name; found == UINT32_MAX && *c; c++)
        if (*c == '@' || *c == '/')
            found = intern_find(boxes, name, (size_t)(c - name));
    return found;
}

/* Linear in tasks and edges of the workflow, but for the sort of the pairs, which are few when families are large: neighbours that
 * are the same are noted once. */
static void pairs_find(struct weft_edit *e, const struct workflow *w, const struct intern *boxes)
{
    uint32_t *box = mem_new(uint32_t, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        box[t] = box_of(boxes, workflow_task_name(w, t));
        if (box[t] != UINT32_MAX)
            e->known.at[box[t]] = true;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t i = w->succ_off[t]; i < w->succ_off[t + 1]; i++) {
            uint64_t pair = (uint64_t)box[t] << 32 | box[w->succ_task[i]];
            if (!e->pairs.n || e->pairs.at[e->pairs.n - 1] != pair)
                array_push(&e->pairs, pair);
        }
    if (e->pairs.n)
        qsort(e->pairs.at, e->pairs.n, sizeof *e->pairs.at, by_pair);
    free(box);
}

static void edit_know(struct weft_edit *e, const struct workflow *w)
{
    const struct yaml *y = &e->edit.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    struct intern boxes;
    e->pairs.n = e->known.n = 0;
    if (!w || tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING)
        return;
    intern_init(&boxes);
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k)) {
        size_t n;
        const char *name = yaml_text(y, k, &n);
        if (intern_number(&boxes, name, n) != e->known.n)
            continue; /* a name that stands there twice: the text could not have been read */
        array_push(&e->known, false);
    }
    pairs_find(e, w, &boxes);
    intern_free(&boxes);
}

EXPORT bool weft_edit_know(struct weft_edit *e, const struct weft_workflow *w,
                           struct weft_error *error)
{
    API_CALL_ON(call, error, &e->account)
    {
        edit_know(e, w ? w->model : NULL);
        call.good = true;
    }
    return api_end(&call);
}

/* Those with variables first, then by name: ends of one name stand together. */
static int by_file(const void *a, const void *b)
{
    const struct wire_end *x = a, *y = b;
    return x->varies != y->varies ? y->varies - x->varies : strcmp(x->file, y->file);
}

/* As the text has them: who makes it, then who reads it. */
static int by_ends(const void *a, const void *b)
{
    const struct weft_edit_wire *x = a, *y = b;
    const uint32_t of_x[] = {x->from, x->made, x->to, x->read},
                   of_y[] = {y->from, y->made, y->to, y->read};
    size_t i = 0;
    while (i < 3 && of_x[i] == of_y[i])
        i++;
    return (of_x[i] > of_y[i]) - (of_x[i] < of_y[i]);
}

/* The first of the ends in order, none of which varies, whose name is not before this one. */
static size_t ends_from(const struct wire_end *ends, size_t n, const char *file)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (strcmp(ends[middle].file, file) < 0)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static void wire_lay(struct weft_edit *e, const struct wire_end *from, const struct wire_end *to)
{
    struct weft_edit_wire wire = {from->task, to->task, from->port, to->port};
    if (from->task != to->task)
        array_push(&e->wires, wire);
}

/* Names without variables, which most are, find each other in order; one with variables is compared with all. */
static void wires_of_files(struct weft_edit *e, const struct wire_ends *made,
                           struct wire_ends *read)
{
    const struct wire_end *ends = read->at.at;
    size_t n = read->at.n, varying = 0;
    if (!n)
        return;
    qsort(read->at.at, n, sizeof *ends, by_file);
    while (varying < n && ends[varying].varies)
        varying++;
    for (size_t i = 0; i < made->at.n; i++) {
        const struct wire_end *from = &made->at.at[i];
        for (size_t j = 0; j < (from->varies ? n : varying); j++)
            if (names_meet(from->file, ends[j].file) && tasks_meet(e, from->task, ends[j].task))
                wire_lay(e, from, &ends[j]);
        if (from->varies)
            continue;
        size_t j = varying + ends_from(ends + varying, n - varying, from->file);
        for (; j < n && strcmp(ends[j].file, from->file) == 0; j++)
            wire_lay(e, from, &ends[j]);
    }
    if (e->wires.n)
        qsort(e->wires.at, e->wires.n, sizeof *e->wires.at, by_ends);
}

static void wires_find(struct weft_edit *e)
{
    const struct yaml *y = &e->edit.y;
    struct wire_ends made = {.e = &e->edit}, read = {.e = &e->edit};
    struct box_names boxes = {0};
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    e->wires.n = 0;
    if (tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING)
        return;
    intern_init(&boxes.names);
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k)) {
        read.port = 0;
        edit_ports_of(&e->edit, k, false, wire_end_found, &read);
        made.port = read.port; /* outputs are numbered behind inputs */
        edit_ports_of(&e->edit, k, true, wire_end_found, &made);
        box_name(&boxes, y, k, read.task++);
        made.task++;
    }
    wires_of_files(e, &made, &read);
    uint32_t task = 0;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k))
        wires_of_order(e, k, task++, &boxes);
    array_free(&made.at);
    array_free(&read.at);
    array_free(&boxes.task);
    intern_free(&boxes.names);
}

EXPORT bool weft_edit_wire(struct weft_edit *e, size_t k, struct weft_edit_wire *out)
{
    if (!k) {
        API_CALL_ON(call, NULL, &e->account)
        {
            wires_find(e);
            call.good = true;
        }
        if (!api_end(&call))
            return false;
    }
    if (k >= e->wires.n)
        return false;
    *out = e->wires.at[k];
    return true;
}

/* The boxes as a graph of their own: a task each, named by its number. */
static struct workflow *boxes_graph(struct weft_edit *e, uint32_t ntasks, struct error *err)
{
    struct builder *b = builder_new("<boxes>", "boxes");
    char name[16];
    for (uint32_t t = 0; t < ntasks; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "%u", t), 0);
    wires_find(e);
    for (size_t i = 0; i < e->wires.n; i++)
        builder_edge(b, e->wires.at[i].from, e->wires.at[i].to, 0);
    return builder_finish(b, err);
}

static bool boxes_place(struct weft_edit *e, const double *extent, double gap,
                        struct weft_edit_spot *spots, struct error *err)
{
    yaml_ref tasks = yaml_get(&e->edit.y, 0, "tasks");
    uint32_t n = tasks == YAML_NONE ? 0 : yaml_size(&e->edit.y, tasks);
    if (!n || yaml_type(&e->edit.y, tasks) != YAML_MAPPING)
        return true;
    struct workflow *w = boxes_graph(e, n, err);
    if (!w)
        return false;
    struct layout l;
    layout_new(&l, w);
    layout_place(&l, extent, gap, gap);
    for (uint32_t t = 0; t < n; t++)
        spots[t] = (struct weft_edit_spot){l.layer[t], l.x[t]};
    layout_free(&l);
    workflow_free(w);
    return true;
}

EXPORT bool weft_edit_layout(struct weft_edit *e, const double *extent, double gap,
                             struct weft_edit_spot *spots, struct weft_error *error)
{
    API_CALL_ON(call, error, &e->account)
    call.good = boxes_place(e, extent, gap, spots, &call.err);
    return api_end(&call);
}
