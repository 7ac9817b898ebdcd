/* Wires of a workflow's text, and where its boxes may stand (weft/edit.h).
 *
 *     out: "{image}.png"  meets  in: "{x}.png", in: a.png        some value makes them the same
 *                         not    in: "{x}.txt"
 *
 * Where the workflow was read as well (weft_edit_know()), what it has decides: `in: "{file}"` of a table of files would meet all.
 * Every name that is made is compared with every name that is read: quadratic, for files that people edit. */
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
    bool out;
    bool varies; /* its name has variables */
    const char *file;
};

struct wire_ends {
    const struct yaml_edit *e;
    uint32_t task, port;
    bool out;
    ARRAY(struct wire_end) at;
};

static bool wire_end_found(void *context, const struct edit_port *port)
{
    struct wire_ends *w = context;
    const char *file = yaml_text(&w->e->y, port->at, NULL);
    struct wire_end end = {w->task, w->port++, w->out, strchr(file, '{') != NULL, file};
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

/* Names without variables, which most are, are compared and nothing else: there are as many pairs as boxes squared. */
static bool ends_meet(const struct wire_end *a, const struct wire_end *b)
{
    return a->varies || b->varies ? names_meet(a->file, b->file) : strcmp(a->file, b->file) == 0;
}

static const char *wire_task_name(const struct yaml *y, uint32_t task)
{
    yaml_ref tasks = yaml_get(y, 0, "tasks"), k = yaml_first(y, tasks);
    while (task--)
        k = yaml_next(y, tasks, k);
    return yaml_text(y, k, NULL);
}

/* `after` of a task: a name, or a list of them. */
static void wires_of_order(struct weft_edit *e, uint32_t task, uint32_t ntasks)
{
    const struct yaml *y = &e->edit.y;
    struct yaml_path place = {{"tasks", wire_task_name(y, task), "after"}, 3};
    yaml_ref v = yaml_edit_find(&e->edit, &place);
    if (v == YAML_NONE || yaml_type(y, v) == YAML_MAPPING)
        return;
    yaml_ref name = yaml_type(y, v) == YAML_SCALAR ? v : yaml_first(y, v);
    for (; name != YAML_NONE; name = name == v ? YAML_NONE : yaml_next(y, v, name))
        for (uint32_t from = 0; from < ntasks; from++)
            if (strcmp(wire_task_name(y, from), yaml_text(y, name, NULL)) == 0) {
                struct weft_edit_wire wire = {from, task, WEFT_NONE, WEFT_NONE};
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

static void wires_find(struct weft_edit *e)
{
    const struct yaml *y = &e->edit.y;
    struct wire_ends ends = {.e = &e->edit};
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    uint32_t ntasks = 0;
    e->wires.n = 0;
    if (tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING)
        return;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k)) {
        ends.task = ntasks++;
        ends.port = 0;
        for (int out = 0; out < 2; out++) {
            ends.out = out;
            edit_ports(&e->edit, yaml_text(y, k, NULL), out, wire_end_found, &ends);
        }
    }
    for (size_t i = 0; i < ends.at.n; i++)
        for (size_t j = 0; j < ends.at.n && ends.at.at[i].out; j++) {
            const struct wire_end *from = &ends.at.at[i], *to = &ends.at.at[j];
            if (to->out || from->task == to->task || !ends_meet(from, to) ||
                ((from->varies || to->varies) && !tasks_meet(e, from->task, to->task)))
                continue;
            struct weft_edit_wire wire = {from->task, to->task, from->port, to->port};
            array_push(&e->wires, wire);
        }
    for (uint32_t t = 0; t < ntasks; t++)
        wires_of_order(e, t, ntasks);
    array_free(&ends.at);
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
