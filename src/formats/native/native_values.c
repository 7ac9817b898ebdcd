/* Parameters and lists of a native workflow: what stands in the file, and what was given in its
 * place from outside (`weft run flow.yaml -p sigma=2`).
 *
 * A parameter that is used in commands alone is the model's: experiments replace it, and `weft show`
 * tells of it. One that stands in a file's name or a setting, too, is fixed while the file is read
 * (struct scope_parameter): replacing it later would change a half. */
#include "base/suggest.h"
#include "formats/native/native_reading.h"
#include "model/command.h"

#include <string.h>

/* What was given for this name; NULL: nothing. The last one counts. */
static const char *given_value(const struct native_reading *r, const char *name)
{
    const char *value = NULL;
    for (const struct option_value *g = r->given; g && g->name; g++)
        if (strcmp(g->name, name) == 0)
            value = g->text;
    return value;
}

/* Values are texts as they stand: 1.40 stays 1.40 in a command. */
static bool read_parameter(struct native_reading *r, yaml_ref k)
{
    const struct yaml *y = &r->file.y;
    const char *name = yaml_text(y, k, NULL), *given;
    yaml_ref v = yaml_value(k);
    if (!*name)
        return native_error(&r->file, k, "a parameter has an empty name");
    if (command_is_file_word(name))
        return native_error(&r->file, k,
                            "a parameter is called '%s', but {%s} stands for files; give it "
                            "another name",
                            name, name);
    if (yaml_type(y, v) != YAML_SCALAR)
        return native_error(&r->file, v, "parameter '%.80s' is a %s; expected a text or a number%s",
                            name, yaml_type(y, v) == YAML_MAPPING ? "mapping" : "list",
                            yaml_type(y, v) == YAML_MAPPING ? ""
                                                            : "; several values stand in `lists`");
    if (yaml_is_null(y, v))
        return native_error(&r->file, v,
                            "parameter '%.80s' has no value; write '' for an empty one", name);
    given = given_value(r, name);
    array_push(&r->scope.parameters,
               (struct scope_parameter){name, given ? given : yaml_text(y, v, NULL), false});
    return true;
}

/* A name is a parameter or a variable, not both. */
static bool check_names(const struct native_reading *r, yaml_ref parameters)
{
    const struct yaml *y = &r->file.y;
    for (yaml_ref k = yaml_first(y, parameters); k != YAML_NONE; k = yaml_next(y, parameters, k)) {
        size_t length;
        const char *name = yaml_text(y, k, &length);
        if (lists_find_variable(&r->lists, name, length) != UINT32_MAX)
            return native_error(&r->file, k, "'%.80s' is a parameter and a variable of a list",
                                name);
    }
    return true;
}

/* Everything that was given must be of use. */
static bool check_given(const struct native_reading *r, yaml_ref lists)
{
    const struct yaml *y = &r->file.y;
    for (const struct option_value *g = r->given; g && g->name; g++) {
        bool known = lists != YAML_NONE && yaml_type(y, lists) == YAML_MAPPING &&
                     yaml_get(y, lists, g->name) != YAML_NONE;
        for (size_t i = 0; i < r->scope.parameters.n && !known; i++)
            known = strcmp(r->scope.parameters.at[i].name, g->name) == 0;
        if (known)
            continue;
        const char **names = mem_new(const char *, r->scope.parameters.n + r->lists.at.n + 1);
        size_t count = 0;
        for (size_t i = 0; i < r->scope.parameters.n; i++)
            names[count++] = r->scope.parameters.at[i].name;
        for (size_t i = 0; i < r->lists.at.n; i++)
            names[count++] = lists_name(&r->lists, r->lists.at.at[i].name);
        const char *near = suggest_nearest(g->name, names, count);
        error_set(r->file.err, ERROR_INPUT,
                  "%s: -p %.80s: there is no parameter and no list of that name%s%s%s", y->file,
                  g->name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        free(names);
        return false;
    }
    return true;
}

/* Is this key's value a command? There, parameters are filled in by the model. */
static bool is_command(const char *key)
{
    return strcmp(key, "run") == 0;
}

static void fix_in(struct native_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    for (yaml_ref i = v; i < y->at[v].next; i++)
        if (yaml_type(y, i) == YAML_SCALAR && strchr(yaml_text(y, i, NULL), '{'))
            scope_fix_parameters(&r->scope, yaml_text(y, i, NULL));
}

/* One look at all that tasks say. O(file), and only if there are parameters. */
static void fix_parameters(struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks"), defaults = yaml_get(y, 0, "defaults");
    if (!r->scope.parameters.n)
        return;
    if (defaults != YAML_NONE)
        fix_in(r, defaults);
    for (yaml_ref t = yaml_first(y, tasks); t != YAML_NONE; t = yaml_next(y, tasks, t)) {
        yaml_ref body = yaml_value(t);
        if (yaml_type(y, body) == YAML_MAPPING)
            for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k))
                if (!is_command(yaml_text(y, k, NULL)))
                    fix_in(r, yaml_value(k));
    }
}

bool native_read_values(struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref parameters = yaml_get(y, 0, "parameters"), lists = yaml_get(y, 0, "lists");
    if (parameters != YAML_NONE && !yaml_is_null(y, parameters)) {
        if (!native_is_mapping(&r->file, parameters, "parameters"))
            return false;
        for (yaml_ref k = yaml_first(y, parameters); k != YAML_NONE;
             k = yaml_next(y, parameters, k))
            if (!read_parameter(r, k))
                return false;
    }
    if (lists != YAML_NONE)
        builder_outside(r->b); /* names, lines or tables of other files */
    if (lists != YAML_NONE && !lists_read(&r->lists, &r->file, lists, r->folder, r->given))
        return false;
    if (parameters != YAML_NONE && !check_names(r, parameters))
        return false;
    if (!check_given(r, lists))
        return false;
    scope_init(&r->scope, &r->lists);
    fix_parameters(r);
    for (size_t i = 0; i < r->scope.parameters.n; i++) {
        const struct scope_parameter *p = &r->scope.parameters.at[i];
        if (!p->fixed)
            builder_parameter(r->b, p->name, p->value);
    }
    return true;
}
