/* native_edit.h: ports, wires and names. Adding and copying is in native_edit_add.c.
 *
 *     in: a.png                      one port, at {in}
 *     in: [a.png, {name: b.png}]     two: {in, 0} and {in, 1}
 *     in: {left: a.png, right: b.png}  two with names: {in, left} and {in, right}
 *
 * A wire is no thing of its own in the text: it is a name that stands in `out` of one task and in `in` of
 * another. So a wire is drawn by writing the name of the file, and cut by taking it out. */
#include "formats/native/native_edit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct yaml_path task_path(const char *task)
{
    return (struct yaml_path){{"tasks", task}, 2};
}

static struct yaml_path path_below(struct yaml_path p, const char *key)
{
    p.at[p.n++] = key;
    return p;
}

static bool edit_has_task(const struct yaml_edit *e, const char *task, struct error *err)
{
    struct yaml_path p = task_path(task);
    return yaml_edit_find(e, &p) != YAML_NONE ||
           error_at(err, e->file, 0, "there is no task '%.80s'", task);
}

/* ---- ports ---- */

/* One entry: a name, or a mapping with one. */
static bool port_of_entry(const struct yaml_edit *e, yaml_ref v, struct edit_port *port,
                          edit_port_found found, void *context)
{
    const struct yaml *y = &e->y;
    port->at = yaml_type(y, v) == YAML_MAPPING ? yaml_get(y, v, "name") : v;
    if (port->at == YAML_NONE || yaml_type(y, port->at) != YAML_SCALAR || yaml_is_null(y, port->at))
        return true;
    return found(context, port);
}

/* A name alone is a list of one. */
static bool ports_of_list(const struct yaml_edit *e, yaml_ref v, struct yaml_path place,
                          edit_port_found found, void *context)
{
    const struct yaml *y = &e->y;
    unsigned i = 0;
    if (yaml_type(y, v) != YAML_SEQUENCE) {
        struct edit_port port = {.place = place};
        return port_of_entry(e, v, &port, found, context);
    }
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        struct edit_port port;
        snprintf(port.number, sizeof port.number, "%u", i++);
        port.place = path_below(place, port.number);
        if (!port_of_entry(e, k, &port, found, context))
            return false;
    }
    return true;
}

/* `v`: what stands at the place. */
static bool ports_at(const struct yaml_edit *e, yaml_ref v, struct yaml_path place,
                     edit_port_found found, void *context)
{
    const struct yaml *y = &e->y;
    if (v == YAML_NONE || yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) != YAML_MAPPING || yaml_get(y, v, "name") != YAML_NONE)
        return ports_of_list(e, v, place, found, context);
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k))
        if (!ports_of_list(e, yaml_value(k), path_below(place, yaml_text(y, k, NULL)), found,
                           context))
            return false;
    return true;
}

bool edit_ports(const struct yaml_edit *e, const char *task, bool out, edit_port_found found,
                void *context)
{
    struct yaml_path place = path_below(task_path(task), out ? "out" : "in");
    return ports_at(e, yaml_edit_find(e, &place), place, found, context);
}

bool edit_ports_of(const struct yaml_edit *e, yaml_ref task, bool out, edit_port_found found,
                   void *context)
{
    const char *key = out ? "out" : "in";
    struct yaml_path place = path_below(task_path(yaml_text(&e->y, task, NULL)), key);
    return ports_at(e, yaml_get(&e->y, yaml_value(task), key), place, found, context);
}

/* The place of a file in a task's `in` or `out`. */
struct port_search {
    const struct yaml_edit *e;
    const char *file;
    bool found;
    yaml_ref at;
};

static bool port_is(void *context, const struct edit_port *port)
{
    struct port_search *s = context;
    if (strcmp(yaml_text(&s->e->y, port->at, NULL), s->file) != 0)
        return true;
    s->found = true;
    s->at = port->at;
    return false;
}

/* Does the task read (or make) this very name? */
static bool task_names(const struct yaml_edit *e, const char *task, bool out, const char *file)
{
    struct port_search s = {.e = e, .file = file};
    edit_ports(e, task, out, port_is, &s);
    return s.found;
}

/* ---- renaming ---- */

/* Exchange one scalar wherever it stands: its path is found from the top. */
static bool scalar_set(struct yaml_edit *e, const struct edit_port *port, const char *text,
                       struct error *err)
{
    struct yaml_path place = port->place;
    yaml_ref v = yaml_edit_find(e, &place);
    if (v != port->at)
        place = path_below(place, "name");
    return yaml_edit_set(e, &place, (struct yaml_new){text, false}, err);
}

struct port_change {
    struct yaml_edit *e;
    const char *from, *to;
    struct error *err;
    bool good, changed;
};

/* Stops after the first: the text is another one then, and is walked anew. */
static bool port_rename(void *context, const struct edit_port *port)
{
    struct port_change *c = context;
    if (strcmp(yaml_text(&c->e->y, port->at, NULL), c->from) != 0)
        return true;
    c->good = scalar_set(c->e, port, c->to, c->err);
    c->changed = true;
    return false;
}

/* The names of all tasks, which stay while the text changes. */
struct name_list {
    char **at;
    size_t n;
};

/* Owned copies: every edit reads the text anew. */
static struct name_list task_list(const struct yaml_edit *e)
{
    const struct yaml *y = &e->y;
    struct name_list l = {0};
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    if (tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING)
        return l;
    l.at = mem_new(char *, (size_t)yaml_size(y, tasks) + 1);
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k))
        l.at[l.n++] = mem_copy_string(yaml_text(y, k, NULL));
    return l;
}

static void name_list_free(struct name_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->at[i]);
    free(l->at);
}

/* Names are compared as they stand: `{a}.txt` of a family is one name. */
bool edit_rename_file(struct yaml_edit *e, const char *from, const char *to, struct error *err)
{
    if (!*to)
        return error_at(err, e->file, 0, "the name of a file is empty");
    struct name_list tasks = task_list(e);
    struct port_change c = {e, from, to, err, true, true};
    bool alone = !e->open;
    if (alone)
        yaml_edit_begin(e);
    for (size_t i = 0; i < tasks.n && strcmp(from, to) != 0; i++)
        for (int out = 0; out < 2; out++)
            do {
                c.changed = false;
                edit_ports(e, tasks.at[i], out, port_rename, &c);
            } while (c.changed && c.good);
    name_list_free(&tasks);
    return alone ? yaml_edit_end(e, c.good) : c.good;
}

/* `after` of every task: what names `from` names `to`; to NULL: it is taken out. */
static bool after_change(struct yaml_edit *e, const char *task, const char *from, const char *to,
                         struct error *err)
{
    struct yaml_path place = path_below(task_path(task), "after");
    yaml_ref v = yaml_edit_find(e, &place);
    if (v == YAML_NONE)
        return true;
    if (yaml_type(&e->y, v) == YAML_SCALAR) {
        if (strcmp(yaml_text(&e->y, v, NULL), from) != 0)
            return true;
        return to ? yaml_edit_set(e, &place, (struct yaml_new){to, false}, err)
                  : yaml_edit_remove(e, &place, err);
    }
    unsigned i = 0;
    for (yaml_ref k = yaml_first(&e->y, v); k != YAML_NONE; k = yaml_next(&e->y, v, k), i++) {
        if (strcmp(yaml_text(&e->y, k, NULL), from) != 0)
            continue;
        char number[12];
        snprintf(number, sizeof number, "%u", i);
        struct yaml_path element = path_below(place, number);
        if (to)
            return yaml_edit_set(e, &element, (struct yaml_new){to, false}, err);
        return yaml_size(&e->y, v) == 1 ? yaml_edit_remove(e, &place, err)
                                        : yaml_edit_remove(e, &element, err);
    }
    return true;
}

static bool after_change_all(struct yaml_edit *e, const char *from, const char *to,
                             struct error *err)
{
    struct name_list tasks = task_list(e);
    bool good = true;
    for (size_t i = 0; i < tasks.n && good; i++)
        good = after_change(e, tasks.at[i], from, to, err);
    name_list_free(&tasks);
    return good;
}

bool edit_rename_task(struct yaml_edit *e, const char *from, const char *to, struct error *err)
{
    struct yaml_path p = task_path(from);
    if (!edit_has_task(e, from, err))
        return false;
    if (!*to)
        return error_at(err, e->file, 0, "the name of a task is empty");
    bool alone = !e->open;
    if (alone)
        yaml_edit_begin(e);
    bool good = yaml_edit_rename(e, &p, to, err) && after_change_all(e, from, to, err);
    return alone ? yaml_edit_end(e, good) : good;
}

/* Its files may be read by others, who then wait for somebody to put them there. */
bool edit_remove_task(struct yaml_edit *e, const char *task, struct error *err)
{
    struct yaml_path p = task_path(task);
    if (!edit_has_task(e, task, err))
        return false;
    bool alone = !e->open;
    if (alone)
        yaml_edit_begin(e);
    bool good = yaml_edit_remove(e, &p, err) && after_change_all(e, task, NULL, err);
    return alone ? yaml_edit_end(e, good) : good;
}

/* ---- wires ---- */

/* Does `task` come before `target`, by files and `after`? Tasks are few: who edits by hand has no
 * thousands. */
static bool leads_to(const struct yaml_edit *e, const struct name_list *tasks, const char *task,
                     const char *target);

struct reach {
    const struct yaml_edit *e;
    const struct name_list *tasks;
    bool *seen;
    const char *file;
    size_t reader;
};

/* Who reads this file comes after. */
static bool reach_file(void *context, const struct edit_port *port)
{
    struct reach *r = context;
    const char *file = yaml_text(&r->e->y, port->at, NULL);
    for (size_t i = 0; i < r->tasks->n; i++)
        if (!r->seen[i] && task_names(r->e, r->tasks->at[i], false, file))
            r->seen[i] = true;
    return true;
}

/* By `after` alone. */
static bool task_comes_after(const struct yaml_edit *e, const char *task, const char *before)
{
    struct yaml_path place = path_below(task_path(task), "after");
    yaml_ref v = yaml_edit_find(e, &place);
    if (v == YAML_NONE)
        return false;
    if (yaml_type(&e->y, v) == YAML_SCALAR)
        return strcmp(yaml_text(&e->y, v, NULL), before) == 0;
    for (yaml_ref k = yaml_first(&e->y, v); k != YAML_NONE; k = yaml_next(&e->y, v, k))
        if (strcmp(yaml_text(&e->y, k, NULL), before) == 0)
            return true;
    return false;
}

static bool leads_to(const struct yaml_edit *e, const struct name_list *tasks, const char *task,
                     const char *target)
{
    bool *seen = mem_new_zero(bool, tasks->n + 1), *done = mem_new_zero(bool, tasks->n + 1);
    struct reach r = {.e = e, .tasks = tasks, .seen = seen};
    bool found = false, more = true;
    for (size_t i = 0; i < tasks->n; i++)
        seen[i] = strcmp(tasks->at[i], task) == 0;
    while (more) {
        more = false;
        for (size_t i = 0; i < tasks->n; i++) {
            if (!seen[i] || done[i])
                continue;
            done[i] = more = true;
            found |= strcmp(tasks->at[i], target) == 0;
            edit_ports(e, tasks->at[i], true, reach_file, &r);
            for (size_t k = 0; k < tasks->n; k++)
                seen[k] |= task_comes_after(e, tasks->at[k], tasks->at[i]);
        }
    }
    free(seen);
    free(done);
    return found;
}

/* ".png" of "a/b.png"; "" where there is none. */
static const char *name_suffix(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    return dot && dot != name && !strpbrk(dot, "{}") ? dot : "";
}

/* A wire is typed by the suffix of what stands at its end. */
static bool suffixes_fit(const struct yaml_edit *e, const char *file, const char *there,
                         struct error *err)
{
    const char *a = name_suffix(file), *b = name_suffix(there);
    if (!*a || !*b || strcmp(a, b) == 0)
        return true;
    return error_at(err, e->file, 0,
                    "'%.80s' is %s, and this input is %s ('%.80s'); put a task between them that "
                    "converts it, or rename the input",
                    file, a + 1, b + 1, there);
}

/* One more input, however those that are there are written. */
static bool input_add(struct yaml_edit *e, const char *task, const char *file, struct error *err)
{
    const struct yaml *y = &e->y;
    struct yaml_path place = path_below(task_path(task), "in");
    yaml_ref v = yaml_edit_find(e, &place);
    struct yaml_new value = {file, false};
    if (v == YAML_NONE || yaml_is_null(y, v))
        return yaml_edit_set(e, &place, value, err);
    if (yaml_type(y, v) == YAML_SEQUENCE)
        return yaml_edit_append(e, &place, value, err);
    if (yaml_type(y, v) == YAML_MAPPING && yaml_get(y, v, "name") == YAML_NONE) {
        char name[24] = "more";
        for (unsigned i = 2; yaml_get(y, v, name) != YAML_NONE; i++)
            snprintf(name, sizeof name, "more%u", i);
        struct yaml_path named = path_below(place, name);
        return yaml_edit_set(e, &named, value, err);
    }
    struct strbuf both = {0};
    strbuf_add_char(&both, '[');
    yaml_edit_write(y, v, &both);
    strbuf_add(&both, ", ");
    yaml_write_string(&both, file, YAML_IN_FLOW);
    strbuf_add_char(&both, ']');
    bool good = yaml_edit_set(e, &place, (struct yaml_new){both.at, true}, err);
    strbuf_free(&both);
    return good;
}

bool edit_connect(struct yaml_edit *e, const char *from, const char *file, const char *to,
                  const struct yaml_path *port, struct error *err)
{
    if (!edit_has_task(e, from, err) || !edit_has_task(e, to, err))
        return false;
    if (!task_names(e, from, true, file))
        return error_at(err, e->file, 0, "'%.80s' does not make '%.80s'", from, file);
    if (task_names(e, to, false, file))
        return error_at(err, e->file, 0, "'%.80s' reads '%.80s' already", to, file);
    struct name_list tasks = task_list(e);
    bool circle = leads_to(e, &tasks, to, from);
    name_list_free(&tasks);
    if (circle)
        return error_at(err, e->file, 0,
                        "'%.80s' comes after '%.80s' already: this wire would close a circle", from,
                        to);
    if (!port->n)
        return input_add(e, to, file, err);
    struct yaml_path place = task_path(to);
    for (size_t i = 0; i < port->n && place.n < 10; i++)
        place = path_below(place, port->at[i]);
    yaml_ref v = yaml_edit_find(e, &place);
    if (v != YAML_NONE && yaml_type(&e->y, v) == YAML_MAPPING) {
        place = path_below(place, "name");
        v = yaml_edit_find(e, &place);
    }
    if (v == YAML_NONE || yaml_type(&e->y, v) != YAML_SCALAR)
        return error_at(err, e->file, 0, "'%.80s' has no such input", to);
    if (!suffixes_fit(e, file, yaml_text(&e->y, v, NULL), err))
        return false;
    return yaml_edit_set(e, &place, (struct yaml_new){file, false}, err);
}

struct port_removal {
    struct yaml_edit *e;
    const char *file;
    struct error *err;
    bool good, found;
};

/* The last input of a list takes the whole key along. */
static bool port_remove(void *context, const struct edit_port *port)
{
    struct port_removal *r = context;
    if (strcmp(yaml_text(&r->e->y, port->at, NULL), r->file) != 0)
        return true;
    struct yaml_path place = port->place;
    r->found = true;
    while (place.n > 3) {
        struct yaml_path up = place;
        up.n--;
        if (yaml_size(&r->e->y, yaml_edit_find(r->e, &up)) > 1)
            break;
        place = up;
    }
    r->good = yaml_edit_remove(r->e, &place, r->err);
    return false;
}

/* The last input takes `in` itself along: an empty key says nothing. */
bool edit_disconnect(struct yaml_edit *e, const char *task, const char *file, struct error *err)
{
    struct port_removal r = {e, file, err, false, false};
    if (!edit_has_task(e, task, err))
        return false;
    edit_ports(e, task, false, port_remove, &r);
    if (!r.found)
        return error_at(err, e->file, 0, "'%.80s' does not read '%.80s'", task, file);
    return r.good;
}
