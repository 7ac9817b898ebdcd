/* Editing workflows as text: weft/edit.h over formats/native/native_edit.h. */
#include "api/edit_handle.h"
#include "formats/native/native_edit.h"
#include "model/columns.h"
#include <string.h>

/* The orderly way; a broken account is released block by block. */
static void edit_tidy(void *of)
{
    struct weft_edit *e = of;
    yaml_edit_free(&e->edit);
    strbuf_free(&e->shown);
    strbuf_free(&e->place_text);
    array_free(&e->wires);
    array_free(&e->pairs);
    array_free(&e->known);
}

EXPORT void weft_edit_free(struct weft_edit *e)
{
    if (!e)
        return;
    api_account_close(&e->account, edit_tidy, e);
    free(e);
}

EXPORT struct weft_edit *weft_edit_new(const char *text, size_t n, const char *name,
                                       struct weft_error *error)
{
    API_CALL(call, error)
    call.result = mem_new_zero(struct weft_edit, 1);
    struct weft_edit *e = api_result(&call);
    if (!e)
        return NULL;
    api_account_open(&e->account);
    API_CALL_ON(more, error, &e->account)
    more.good = yaml_edit_new(&e->edit, name ? name : "<text>", text, n, &more.err);
    if (api_end(&more))
        return e;
    weft_edit_free(e);
    return NULL;
}

EXPORT const char *weft_edit_text(const struct weft_edit *e, size_t *n)
{
    if (n)
        *n = e->edit.text.n;
    return strbuf_text(&e->edit.text);
}

/* ---- steps ---- */

EXPORT void weft_edit_begin(struct weft_edit *e)
{
    yaml_edit_begin(&e->edit);
}

/* A call on the edit that can only fail by memory. */
#define EDIT_STEP(what)                                                                            \
    API_CALL_ON(call, NULL, &e->account)                                                           \
    call.good = (what);                                                                            \
    return api_end(&call)

EXPORT bool weft_edit_end(struct weft_edit *e, bool good)
{
    EDIT_STEP(yaml_edit_end(&e->edit, good));
}

EXPORT bool weft_edit_undo(struct weft_edit *e)
{
    EDIT_STEP(yaml_edit_undo(&e->edit));
}

EXPORT bool weft_edit_redo(struct weft_edit *e)
{
    EDIT_STEP(yaml_edit_redo(&e->edit));
}

/* ---- changes ---- */

#define EDIT_CALL(what)                                                                            \
    API_CALL_ON(call, error, &e->account)                                                          \
    call.good = (what);                                                                            \
    return api_end(&call)

static bool place_path(const char *const *place, struct yaml_path *path, struct error *err)
{
    path->n = 0;
    while (place && place[path->n]) {
        if (path->n == 8)
            return error_set(err, ERROR_INPUT, "a place has at most 8 keys");
        path->at[path->n] = place[path->n];
        path->n++;
    }
    return true;
}

/* Of the first `n` keys of a place, those below the top. */
static bool place_change(struct weft_edit *e, const char *const *place, const char *value,
                         bool yaml, struct error *err)
{
    struct yaml_path path;
    if (!place_path(place, &path, err))
        return false;
    if (!path.n)
        return error_set(err, ERROR_INPUT, "no place is named");
    return value ? yaml_edit_set(&e->edit, &path, (struct yaml_new){value, yaml}, err)
                 : yaml_edit_remove(&e->edit, &path, err);
}

EXPORT bool weft_edit_set(struct weft_edit *e, const char *const *place, const char *value,
                          bool yaml, struct weft_error *error)
{
    EDIT_CALL(place_change(e, place, value, yaml, &call.err));
}

EXPORT bool weft_edit_remove(struct weft_edit *e, const char *const *place,
                             struct weft_error *error)
{
    EDIT_CALL(place_change(e, place, NULL, false, &call.err));
}

EXPORT bool weft_edit_replace(struct weft_edit *e, const char *text, size_t n,
                              struct weft_error *error)
{
    EDIT_CALL(yaml_edit_replace(&e->edit, text, n, &call.err));
}

EXPORT bool weft_edit_remove_task(struct weft_edit *e, const char *task, struct weft_error *error)
{
    EDIT_CALL(edit_remove_task(&e->edit, task, &call.err));
}

EXPORT bool weft_edit_rename_task(struct weft_edit *e, const char *from, const char *to,
                                  struct weft_error *error)
{
    EDIT_CALL(edit_rename_task(&e->edit, from, to, &call.err));
}

EXPORT bool weft_edit_rename_file(struct weft_edit *e, const char *from, const char *to,
                                  struct weft_error *error)
{
    EDIT_CALL(edit_rename_file(&e->edit, from, to, &call.err));
}

EXPORT bool weft_edit_connect(struct weft_edit *e, const char *from, const char *file,
                              const char *to, const char *const *port, struct weft_error *error)
{
    API_CALL_ON(call, error, &e->account)
    {
        struct yaml_path path;
        call.good = place_path(port, &path, &call.err) &&
                    edit_connect(&e->edit, from, file, to, &path, &call.err);
    }
    return api_end(&call);
}

EXPORT bool weft_edit_disconnect(struct weft_edit *e, const char *task, const char *file,
                                 struct weft_error *error)
{
    EDIT_CALL(edit_disconnect(&e->edit, task, file, &call.err));
}

/* A text for the caller, who frees it when the handle may be gone: not of the handle's account. */
static char *text_out(const struct strbuf *text, struct weft_error *error)
{
    API_CALL(call, error)
    call.result = mem_copy_string(strbuf_text(text));
    return api_result(&call);
}

EXPORT char *weft_edit_add(struct weft_edit *e, const char *text, size_t n, bool own,
                           struct weft_error *error)
{
    API_CALL_ON(call, error, &e->account)
    {
        strbuf_clear(&e->shown);
        call.good = edit_add(&e->edit, text, n, own, &e->shown, &call.err);
    }
    return api_end(&call) ? text_out(&e->shown, error) : NULL;
}

static size_t names_count(const char *const *names)
{
    size_t n = 0;
    while (names[n])
        n++;
    return n;
}

EXPORT char *weft_edit_copy(const struct weft_edit *e, const char *const *tasks,
                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf out = {0};
        if (edit_copy(&e->edit, tasks, names_count(tasks), &out, &call.err))
            call.result = mem_copy_string(strbuf_text(&out));
        strbuf_free(&out);
    }
    return api_result(&call);
}

EXPORT char *weft_edit_group(struct weft_edit *e, const char *const *tasks, const char *name,
                             const char *path, struct weft_error *error)
{
    API_CALL_ON(call, error, &e->account)
    {
        strbuf_clear(&e->shown);
        call.good =
            edit_group(&e->edit, tasks, names_count(tasks), name, path, &e->shown, &call.err);
    }
    return api_end(&call) ? text_out(&e->shown, error) : NULL;
}

/* ---- what stands there ---- */

/* A walk: a task has few keys. */
static yaml_ref member_number(const struct yaml *y, yaml_ref mapping, size_t i)
{
    if (mapping == YAML_NONE || yaml_type(y, mapping) != YAML_MAPPING)
        return YAML_NONE;
    yaml_ref k = yaml_first(y, mapping);
    while (k != YAML_NONE && i--)
        k = yaml_next(y, mapping, k);
    return k;
}

/* From the task that was asked for last, if this one comes behind it: who goes through thousands of tasks walks once. No handle is
 * const where it was made, and where a walk has come to is no part of what an edit says. */
static yaml_ref task_number(const struct weft_edit *e, size_t i)
{
    const struct yaml *y = &e->edit.y;
    struct edit_walk *walk = &((struct weft_edit *)e)->walk;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    bool onward = walk->at && walk->reading == e->edit.readings && walk->i <= i;
    yaml_ref k = onward ? walk->at : member_number(y, tasks, 0);
    size_t at = onward ? walk->i : 0;
    for (; k != YAML_NONE && at < i; at++)
        k = yaml_next(y, tasks, k);
    if (k != YAML_NONE)
        *walk = (struct edit_walk){e->edit.readings, at, k};
    return k;
}

/* The line in which a value ends; where it begins is known, so that only its own text is gone through. */
static uint32_t last_line(const struct weft_edit *e, yaml_ref key)
{
    struct yaml_mark mark = e->edit.y.mark[yaml_value(key)];
    uint32_t line = (uint32_t)yaml_line(&e->edit.y, key);
    size_t at = e->edit.y.mark[key].start;
    if (mark.end == YAML_NONE || at == YAML_NONE)
        return line;
    for (; at < mark.end && at < e->edit.text.n; at++)
        line += e->edit.text.at[at] == '\n';
    return line;
}

EXPORT bool weft_edit_task(const struct weft_edit *e, size_t i, struct weft_edit_task *out)
{
    const struct yaml *y = &e->edit.y;
    yaml_ref k = task_number(e, i);
    if (k == YAML_NONE)
        return false;
    *out =
        (struct weft_edit_task){yaml_text(y, k, NULL), (uint32_t)yaml_line(y, k), last_line(e, k)};
    return true;
}

/* A value under a key. False when memory ran out, too: then there is nothing to show. */
static bool value_show(struct weft_edit *e, const char *key, yaml_ref v, struct weft_edit_key *out)
{
    const struct yaml *y = &e->edit.y;
    bool yaml = yaml_type(y, v) != YAML_SCALAR;
    API_CALL_ON(call, NULL, &e->account)
    {
        strbuf_clear(&e->shown);
        if (yaml)
            yaml_edit_write(y, v, &e->shown);
        else
            strbuf_add(&e->shown, yaml_is_null(y, v) ? "" : yaml_text(y, v, NULL));
        call.good = true;
    }
    if (!api_end(&call))
        return false;
    *out = (struct weft_edit_key){key, strbuf_text(&e->shown), yaml, (uint32_t)yaml_line(y, v)};
    return true;
}

static bool key_show(struct weft_edit *e, yaml_ref k, struct weft_edit_key *out)
{
    const struct yaml *y = &e->edit.y;
    if (k == YAML_NONE || !value_show(e, yaml_text(y, k, NULL), yaml_value(k), out))
        return false;
    out->line = (uint32_t)yaml_line(y, k);
    return true;
}

EXPORT bool weft_edit_task_key(struct weft_edit *e, size_t i, size_t k, struct weft_edit_key *out)
{
    yaml_ref task = task_number(e, i);
    return task != YAML_NONE && key_show(e, member_number(&e->edit.y, yaml_value(task), k), out);
}

EXPORT bool weft_edit_member(struct weft_edit *e, const char *section, size_t k,
                             struct weft_edit_key *out)
{
    return key_show(e, member_number(&e->edit.y, yaml_get(&e->edit.y, 0, section), k), out);
}

/* Elements of lists are walked as members are: lists that people edit are short. */
EXPORT bool weft_edit_at(struct weft_edit *e, const char *const *place, size_t k,
                         struct weft_edit_key *out)
{
    const struct yaml *y = &e->edit.y;
    struct yaml_path path;
    struct error err = {0};
    yaml_ref v = place_path(place, &path, &err) ? yaml_edit_find(&e->edit, &path) : YAML_NONE;
    if (v == YAML_NONE || yaml_is_null(y, v))
        return false;
    if (yaml_type(y, v) == YAML_MAPPING)
        return key_show(e, member_number(y, v, k), out);
    if (yaml_type(y, v) == YAML_SCALAR)
        return k == 0 && value_show(e, "", v, out);
    yaml_ref element = yaml_first(y, v);
    while (element != YAML_NONE && k--)
        element = yaml_next(y, v, element);
    return element != YAML_NONE && value_show(e, "", element, out);
}

struct port_number {
    struct weft_edit *e;
    size_t left;
    bool found;
    struct weft_edit_port *out;
};

/* The port that was asked for is copied: the walk ends with it. */
static bool port_counted(void *context, const struct edit_port *port)
{
    struct port_number *p = context;
    if (p->left--)
        return true;
    struct weft_edit *e = p->e;
    strbuf_clear(&e->place_text);
    for (size_t i = 2; i < port->place.n; i++) {
        strbuf_add(&e->place_text, port->place.at[i]);
        strbuf_add_char(&e->place_text, 0);
    }
    const char *at = strbuf_text(&e->place_text);
    size_t n = 0;
    for (size_t i = 2; i < port->place.n && n < 5; i++, at += strlen(at) + 1)
        p->out->place[n++] = at;
    p->out->place[n] = NULL;
    p->out->file = yaml_text(&e->edit.y, port->at, NULL);
    p->found = true;
    return false;
}

EXPORT bool weft_edit_port(struct weft_edit *e, size_t i, size_t k, struct weft_edit_port *out)
{
    yaml_ref task = task_number(e, i);
    if (task == YAML_NONE)
        return false;
    API_CALL_ON(call, NULL, &e->account)
    {
        struct port_number p = {e, k, false, out};
        out->out = false;
        edit_ports_of(&e->edit, task, false, port_counted, &p);
        if (!p.found) {
            out->out = true;
            edit_ports_of(&e->edit, task, true, port_counted, &p);
        }
        call.good = p.found;
    }
    return api_end(&call);
}

EXPORT bool weft_task_key(size_t i, struct weft_task_key *out)
{
    static const struct weft_task_key of_families[] = {
        {"each", "list or lists", "none", "one member for every value: a family"},
        {"except", "list of mappings", "none", "combinations that a family leaves out"},
        {"repeat", "mapping `until`, `most`", "none", "rounds until a condition holds"},
        {"flow", "file", "none", "a sub-workflow: the file that it is"},
        {"with", "mapping", "none", "parameters and lists of the sub-workflow"},
    };
    size_t columns = 0;
    while (columns < TASK_COLUMN_COUNT && task_column[columns].type)
        columns++;
    if (i < columns) {
        const struct column_row *c = &task_column[i];
        *out = (struct weft_task_key){c->key, c->type, c->fallback, c->summary};
        return true;
    }
    if (i - columns >= sizeof of_families / sizeof *of_families)
        return false;
    *out = of_families[i - columns];
    return true;
}
