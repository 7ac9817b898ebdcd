/* What WfFormat has no place for, kept in members called "weft", which its schema allows and other
 * programs pass over:
 *
 *     of the document   {"name": "", "parameters": {"sigma": "1.4"}, "assert": ["..."]}
 *     of a task         {"run": "sort {in} > {out}", where the command is a template, "call":
 *                        "lib.so:f", "shell": "sh", "timeout": 600, "sandbox": false, "done": true,
 *                        "rungs": [4e9, 8e9], "times": {"P1": 14}, "work": null}
 *     of a file         {"temporary": true}
 *
 * A task's optional numbers and switches are those of model/column_list.h, under their keys; "work":
 * null says that the 0 of runtimeInSeconds, which the schema wants, was never stated. Unknown members
 * are passed over, so that an older weft reads what a newer one wrote. */
#include "formats/wfformat/wfformat.h"
#include "model/columns.h"
#include "model/command.h"
#include "model/environment.h"

#include <string.h>

/* ---- writing ---- */

/* `priority` has a place of its own in the execution's entry. */
static bool own_generic(const struct workflow *w, uint32_t t, enum column_id id)
{
    return task_column[id].sort != COLUMN_OWN && id != COLUMN_priority && column_is_set(w, t, id);
}

/* The command as the entry of the execution has it, filled in, does not tell all. */
static bool own_template(const struct workflow *w, uint32_t t)
{
    struct strbuf expanded = {0};
    bool has = column_is_set(w, t, COLUMN_run) && !command_is_literal(w, t, &expanded);
    strbuf_free(&expanded);
    return has;
}

bool wfformat_own_needed(const struct workflow *w, uint32_t t, bool has_record)
{
    if (column_is_set(w, t, COLUMN_call) || own_template(w, t) ||
        column_is_set(w, t, COLUMN_times) || column_is_set(w, t, COLUMN_shell) ||
        column_is_set(w, t, COLUMN_needs) || column_is_set(w, t, COLUMN_resources) ||
        column_is_set(w, t, COLUMN_rungs) || environment_is_stated(w, t) ||
        (has_record && !(w->flags[t] & TASK_HAS_WORK)))
        return true;
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++)
        if (own_generic(w, t, id))
            return true;
    return false;
}

/* What is a list or a mapping, and so no row of the table. */
static void own_write_lists(struct json_writer *j, const struct workflow *w, uint32_t t)
{
    if (column_is_set(w, t, COLUMN_rungs)) {
        json_write_key(j, "rungs");
        json_write_array_inline(j);
        for (uint32_t i = w->more_off[t]; i < w->more_off[t + 1]; i++)
            json_write_number(j, w->more_memory[i]);
        json_write_end_array(j);
    }
    if (column_is_set(w, t, COLUMN_times)) {
        json_write_key(j, "times");
        json_write_object_inline(j);
        for (uint32_t i = w->time_off[t]; i < w->time_off[t + 1]; i++)
            json_put_number(j, workflow_text(w, w->time[i].node), w->time[i].seconds);
        json_write_end_object(j);
    }
}

/* Nothing is written for a task that the schema can describe, so that most files have no such
 * member. */
void wfformat_own_write(struct json_writer *j, const struct workflow *w, uint32_t t,
                        bool has_record)
{
    if (!wfformat_own_needed(w, t, has_record))
        return;
    json_write_key(j, "weft");
    json_write_object_inline(j);
    if (column_is_set(w, t, COLUMN_call))
        json_put_string(j, "call", workflow_text(w, w->command[t]));
    if (column_is_set(w, t, COLUMN_shell))
        json_put_string(j, "shell", workflow_text(w, w->shell[t]));
    for (int i = 0; i < TASK_TEXT_COUNT; i++)
        if (column_is_set(w, t, task_text[i]))
            json_put_string(j, task_column[task_text[i]].key, column_text(w, t, task_text[i]));
    if (column_is_set(w, t, COLUMN_needs)) {
        struct strbuf words = {0};
        workflow_needs_text(w, t, &words);
        json_put_string(j, "needs", strbuf_text(&words));
        strbuf_free(&words);
    }
    if (column_is_set(w, t, COLUMN_resources)) {
        struct strbuf words = {0};
        workflow_resources_text(w, t, &words);
        json_put_string(j, "resources", strbuf_text(&words));
        strbuf_free(&words);
    }
    if (own_template(w, t))
        json_put_string(j, "run", workflow_text(w, w->command[t]));
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        if (!own_generic(w, t, id))
            continue;
        if (c->sort == COLUMN_OPTIONAL)
            json_put_number(j, c->key, column_number(w, t, id));
        else
            json_put_bool(j, c->key, !c->usual);
    }
    own_write_lists(j, w, t);
    if (has_record && !(w->flags[t] & TASK_HAS_WORK)) {
        json_write_key(j, "work");
        json_write_null(j);
    }
    json_write_end_object(j);
}

void wfformat_own_write_document(struct json_writer *j, const struct workflow *w)
{
    bool unnamed = !*workflow_text(w, w->name), hooks = false;
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        hooks |= w->hook[i] != 0;
    if (!unnamed && !w->nparameters && !w->nassertions && !hooks)
        return;
    json_write_key(j, "weft");
    json_write_object(j);
    if (unnamed)
        json_put_string(j, "name", "");
    if (w->nparameters) {
        json_write_key(j, "parameters");
        json_write_object(j);
        for (uint32_t i = 0; i < w->nparameters; i++)
            json_put_string(j, workflow_text(w, w->parameter_name[i]),
                            workflow_text(w, w->parameter_value[i]));
        json_write_end_object(j);
    }
    if (w->nassertions) {
        json_write_key(j, "assert");
        json_write_array(j);
        for (uint32_t i = 0; i < w->nassertions; i++)
            json_write_string(j, workflow_text(w, w->assertion[i]));
        json_write_end_array(j);
    }
    if (hooks) {
        json_write_key(j, "hooks");
        json_write_object(j);
        for (int i = 0; i < WORKFLOW_HOOKS; i++)
            if (w->hook[i])
                json_put_string(j, workflow_hook_name[i], workflow_text(w, w->hook[i]));
        json_write_end_object(j);
    }
    json_write_end_object(j);
}

/* ---- reading ---- */

struct own_reading {
    const struct json *j;
    struct builder *b;
    uint32_t task;
};

static bool own_wrong(const struct own_reading *r, json_ref v, const char *what,
                      const char *expected)
{
    return builder_error(r->b, json_line(r->j, v), "task '%s': %s is %s; expected %s",
                         builder_task_name(r->b, r->task), what, json_type_name(json_type(r->j, v)),
                         expected);
}

static bool own_read_rungs(const struct own_reading *r, json_ref v)
{
    const struct json *j = r->j;
    if (json_type(j, v) != JSON_ARRAY)
        return own_wrong(r, v, "rungs", "an array of numbers");
    for (json_ref e = json_first(j, v); e != JSON_NONE; e = json_next_element(j, v, e)) {
        if (json_type(j, e) != JSON_NUMBER)
            return own_wrong(r, e, "an entry of rungs", "a number");
        builder_more_memory(r->b, r->task, json_number(j, e), json_line(j, e));
    }
    return true;
}

static bool own_read_times(const struct own_reading *r, json_ref v)
{
    const struct json *j = r->j;
    if (json_type(j, v) != JSON_OBJECT)
        return own_wrong(r, v, "times", "an object");
    for (json_ref k = json_first(j, v); k != JSON_NONE; k = json_next_member(j, v, k)) {
        json_ref seconds = json_member_value(j, k);
        size_t n;
        const char *node = json_string(j, k, &n);
        if (json_type(j, seconds) != JSON_NUMBER)
            return own_wrong(r, seconds, "an entry of times", "a number");
        builder_time(r->b, r->task, node, n, json_number(j, seconds), json_line(j, k));
    }
    return true;
}

/* Found by its key in the table; an unknown one is of a later version, and passed over. */
static bool own_read_generic(const struct own_reading *r, const char *key, json_ref v)
{
    enum json_type type = json_type(r->j, v);
    for (int i = 0; i < TASK_TEXT_COUNT; i++) {
        size_t n;
        if (strcmp(task_column[task_text[i]].key, key) != 0)
            continue;
        if (type != JSON_STRING)
            return own_wrong(r, v, key, "a string");
        const char *text = json_string(r->j, v, &n);
        builder_text(r->b, r->task, task_text[i], text, n, json_line(r->j, v));
        return true;
    }
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++) {
        const struct column_row *c = &task_column[id];
        if (c->sort == COLUMN_OWN || strcmp(c->key, key) != 0)
            continue;
        if (c->sort == COLUMN_OPTIONAL && type != JSON_NUMBER)
            return own_wrong(r, v, c->key, "a number");
        if (c->sort == COLUMN_SWITCH && type != JSON_TRUE && type != JSON_FALSE)
            return own_wrong(r, v, c->key, "true or false");
        if (c->sort == COLUMN_OPTIONAL)
            builder_number(r->b, r->task, id, json_number(r->j, v), json_line(r->j, v));
        else if ((type == JSON_TRUE) != c->usual)
            builder_flag(r->b, r->task, c->flag);
        return true;
    }
    return true; /* of a later version */
}

/* A member of the wrong type is an error: weft wrote it, so somebody has broken it. */
bool wfformat_own_read(const struct json *j, json_ref own, struct builder *b, uint32_t task,
                       struct wfformat_own *said)
{
    struct own_reading r = {j, b, task};
    if (json_type(j, own) != JSON_OBJECT)
        return own_wrong(&r, own, "weft", "an object");
    for (json_ref k = json_first(j, own); k != JSON_NONE; k = json_next_member(j, own, k)) {
        const char *key = json_string(j, k, NULL);
        json_ref v = json_member_value(j, k);
        bool good = true;
        if (strcmp(key, "rungs") == 0) {
            good = own_read_rungs(&r, v);
        } else if (strcmp(key, "times") == 0) {
            good = own_read_times(&r, v);
        } else if (strcmp(key, "work") == 0) {
            said->unstated = json_type(j, v) == JSON_NULL;
        } else if (strcmp(key, "call") == 0 || strcmp(key, "run") == 0) {
            size_t n = 0;
            if (json_type(j, v) != JSON_STRING)
                return own_wrong(&r, v, key, "a string");
            const char *text = json_string(j, v, &n);
            builder_command(b, task, text, n);
            builder_command_line(b, task, json_line(j, v));
            said->command = true;
            if (*key == 'c')
                builder_flag(b, task, TASK_CALL);
        } else if (strcmp(key, "shell") == 0 || strcmp(key, "needs") == 0 ||
                   strcmp(key, "resources") == 0) {
            size_t n = 0;
            if (json_type(j, v) != JSON_STRING)
                return own_wrong(&r, v, key, "a string");
            const char *text = json_string(j, v, &n);
            (*key == 's'   ? builder_shell
             : *key == 'n' ? builder_needs
                           : builder_resources)(b, task, text, n, json_line(j, v));
        } else {
            good = own_read_generic(&r, key, v);
        }
        if (!good || builder_failed(b))
            return false;
    }
    return true;
}

bool wfformat_own_read_document(const struct json *j, json_ref own, struct builder *b)
{
    if (own == JSON_NONE)
        return true;
    json_ref name = json_get(j, own, "name");
    if (name != JSON_NONE && json_is_string(j, name, ""))
        builder_name(b, "", 0);
    json_ref parameters = json_get(j, own, "parameters"), assertions = json_get(j, own, "assert");
    if (parameters != JSON_NONE && json_type(j, parameters) == JSON_OBJECT)
        for (json_ref k = json_first(j, parameters); k != JSON_NONE;
             k = json_next_member(j, parameters, k)) {
            json_ref v = json_member_value(j, k);
            if (json_type(j, v) != JSON_STRING)
                return builder_error(b, json_line(j, v), "parameter '%s' is %s; expected a string",
                                     json_string(j, k, NULL), json_type_name(json_type(j, v)));
            builder_parameter(b, json_string(j, k, NULL), json_string(j, v, NULL));
        }
    if (assertions != JSON_NONE && json_type(j, assertions) == JSON_ARRAY)
        for (json_ref v = json_first(j, assertions); v != JSON_NONE;
             v = json_next_element(j, assertions, v)) {
            size_t n;
            if (json_type(j, v) != JSON_STRING)
                return builder_error(b, json_line(j, v), "a constraint is %s; expected a string",
                                     json_type_name(json_type(j, v)));
            const char *text = json_string(j, v, &n);
            builder_assertion(b, text, n, 0);
        }
    json_ref hooks = json_get(j, own, "hooks");
    for (int i = 0; hooks != JSON_NONE && i < WORKFLOW_HOOKS; i++) {
        json_ref v = json_get(j, hooks, workflow_hook_name[i]);
        size_t n;
        if (v == JSON_NONE)
            continue;
        if (json_type(j, v) != JSON_STRING)
            return builder_error(b, json_line(j, v), "hook '%s' is %s; expected a string",
                                 workflow_hook_name[i], json_type_name(json_type(j, v)));
        const char *text = json_string(j, v, &n);
        builder_hook(b, (enum workflow_hook)i, text, n);
    }
    return true;
}
