/* Parameters and lists of a native workflow: what stands in the file, and what was given in its
 * place from outside (`weft run flow.yaml -p sigma=2 --params site.yaml`).
 *
 * A parameter that is used in commands alone is the model's: experiments replace it, and `weft show`
 * tells of it. One that stands in a file's name or a setting, too, is fixed while the file is read
 * (struct scope_parameter): replacing it later would change a half. */
#include "base/suggest.h"
#include "base/plural.h"
#include "formats/native/native_reading.h"
#include "model/command.h"

#include <string.h>

#define PARAMS_OPTION "--params" /* no parameter has such a name: `cli` and this file know it */

/* ---- what was given ---- */

const char *given_find(const struct given_values *g, const char *name, yaml_ref *in_file)
{
    const char *value = NULL;
    struct strbuf full = {0};
    if (g->prefix && (g->at || g->file)) {
        strbuf_printf(&full, "%s%s", g->prefix, name);
        name = full.at;
    }
    for (const struct option_value *x = g->at; x && x->name; x++)
        if (strcmp(x->name, name) == 0)
            value = x->text;
    *in_file = g->file && !value ? yaml_get(&g->file->y, 0, name) : YAML_NONE;
    strbuf_free(&full);
    return value;
}

const char *given_assumed(const struct given_values *g, const char *name)
{
    const char *value = NULL, *prefix = g->prefix ? g->prefix : "";
    size_t before = strlen(prefix), length = strlen(name);
    for (const struct option_value *x = g->at; x && x->name; x++)
        if (strcmp(x->name, ASSUME_OPTION) == 0 && strncmp(x->text, prefix, before) == 0 &&
            strncmp(x->text + before, name, length) == 0 && x->text[before + length] == '=')
            value = x->text + before + length + 1;
    return value;
}

struct module_value *given_with(const struct given_values *g, const char *name)
{
    for (size_t i = 0; i < g->nwith; i++)
        if (strcmp(g->with[i].name, name) == 0)
            return &g->with[i];
    return NULL;
}

/* A mapping from names to values and lists; what they mean is found when the workflow's own are
 * read. */
bool native_open_params(struct native_reading *r, const struct option_value *given)
{
    const char *path = NULL;
    struct text text;
    r->given.at = given;
    for (const struct option_value *g = given; g && g->name; g++)
        if (strcmp(g->name, PARAMS_OPTION) == 0)
            path = g->text;
    if (!path)
        return true;
    builder_outside(r->b);
    r->params = (struct native){.err = r->file.err};
    if (!outside_read(r->file.outside, path, &text, r->file.err))
        return false;
    bool good = yaml_load(&r->params.y, path, text.at, text.n, r->file.err);
    text_free(&text);
    if (!good)
        return false;
    r->given.file = &r->params;
    return native_is_mapping(&r->params, 0, "the file of --params");
}

void native_close_params(struct native_reading *r)
{
    if (r->given.file)
        native_close(&r->params);
}

/* In place of what the workflow's file says; NULL: it stands. False: an error. */
static bool given_parameter(const struct native_reading *r, yaml_ref k, struct scope_parameter *p)
{
    yaml_ref in_file;
    char found[80];
    const char *name = p->name, **value = &p->value;
    struct module_value *with = given_with(&r->given, name);
    *value = given_find(&r->given, name, &in_file);
    if (with)
        with->used = true;
    if (*value)
        return true;
    if (with && in_file == YAML_NONE) {
        if (with->is_list || with->values.n != 1)
            return native_error(
                &r->file, k, "%s:%zu gives the parameter '%.80s' %zu value%s; it has one",
                r->module->parent->file.y.file,
                yaml_line(&r->module->parent->file.y, with->at) - r->module->parent->file.y.base,
                name, with->values.n, plural(with->values.n));
        p->outside = with->outside;
        *value = with->values.at[0];
        return true;
    }
    if (in_file == YAML_NONE)
        return true;
    const struct native *n = r->given.file;
    if (yaml_type(&n->y, in_file) != YAML_SCALAR || yaml_is_null(&n->y, in_file))
        return native_error(n, in_file, "parameter '%.80s' is %s; expected a text or a number",
                            name, yaml_found(&n->y, in_file, found, sizeof found));
    *value = yaml_text(&n->y, in_file, NULL);
    return true;
}

/* A name that -p and --params may have. */
static void native_note_known(struct native_reading *r, const char *name)
{
    struct strbuf full = {0};
    strbuf_printf(&full, "%s%s", native_kinds(r), name);
    intern_number(&r->shared->known, full.at, full.n);
    strbuf_free(&full);
}

/* Values are texts as they stand: 1.40 stays 1.40 in a command. */
static bool read_parameter(struct native_reading *r, yaml_ref k)
{
    const struct yaml *y = &r->file.y;
    const char *name = yaml_text(y, k, NULL);
    struct scope_parameter p = {.name = name, .fixed = r->module != NULL};
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
    if (!given_parameter(r, k, &p))
        return false;
    p.value = p.value ? p.value : yaml_text(y, v, NULL);
    array_push(&r->scope.parameters, p);
    native_note_known(r, name);
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

static bool is_known(const struct native_reading *r, const char *name)
{
    return intern_find(&r->shared->known, name, strlen(name)) != UINT32_MAX;
}

/* "there is no parameter and no list of that name; did you mean 'sigma'?" The caller frees. */
static char *unknown_given(const struct native_reading *r, const char *name)
{
    const struct intern *known = &r->shared->known;
    const char **names = mem_new(const char *, (size_t)known->n + 1);
    for (uint32_t i = 0; i < known->n; i++)
        names[i] = intern_text(known, i);
    const char *near = suggest_nearest(name, names, known->n);
    struct strbuf out = {0};
    uint32_t column = lists_find_variable(&r->lists, name, strlen(name));
    if (column != UINT32_MAX) {
        const char *list =
            lists_name(&r->lists, r->lists.at.at[r->lists.variables.at[column].list].name);
        strbuf_printf(
            &out,
            "it is a variable of the list '%s', whose variables go together: give all of it, "
            "by --params and a file with `%s: { table: FILE }` or `%s: { rows: [...] }`",
            list, list, list);
    } else {
        strbuf_printf(&out, FORMAT_UNKNOWN_PARAMETER "%s%s%s", near ? "; did you mean '" : "",
                      near ? near : "", near ? "'?" : "");
    }
    free(names);
    return strbuf_steal(&out);
}

bool native_check_given(const struct native_reading *r)
{
    const struct native *file = r->given.file;
    for (const struct option_value *g = r->given.at; g && g->name; g++) {
        if (strcmp(g->name, PARAMS_OPTION) == 0 || strcmp(g->name, ASSUME_OPTION) == 0 ||
            strcmp(g->name, FORMAT_SIMULATES) == 0 || is_known(r, g->name))
            continue;
        char *why = unknown_given(r, g->name);
        error_set(r->file.err, ERROR_INPUT, "%s: -p %.80s: %s", r->file.y.file, g->name, why);
        free(why);
        return false;
    }
    for (yaml_ref k = file ? yaml_first(&file->y, 0) : YAML_NONE; k != YAML_NONE;
         k = yaml_next(&file->y, 0, k)) {
        const char *name = yaml_text(&file->y, k, NULL);
        if (is_known(r, name))
            continue;
        char *why = unknown_given(r, name);
        native_error(file, k, "'%.80s': %s (in %.200s)", name, why, r->file.y.file);
        free(why);
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

/* One look at all that tasks and lists say. O(file), and only if there are parameters. */
static void fix_parameters(struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks"), defaults = yaml_get(y, 0, "defaults");
    yaml_ref include = yaml_get(y, 0, "include"), lists = yaml_get(y, 0, "lists");
    if (!r->scope.parameters.n)
        return;
    if (lists != YAML_NONE)
        fix_in(r, lists);
    if (defaults != YAML_NONE)
        fix_in(r, defaults);
    if (include != YAML_NONE)
        fix_in(r, include);
    bool some = tasks != YAML_NONE && yaml_type(y, tasks) == YAML_MAPPING; /* else it is refused */
    for (yaml_ref t = some ? yaml_first(y, tasks) : YAML_NONE; t != YAML_NONE;
         t = yaml_next(y, tasks, t)) {
        yaml_ref body = yaml_value(t);
        if (yaml_type(y, body) == YAML_MAPPING)
            for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k))
                if (!is_command(yaml_text(y, k, NULL)))
                    fix_in(r, yaml_value(k));
    }
}

/* A list with `after`: --assume may name it, and a simulation says what it takes. */
static void tell_assumed(struct native_reading *r, uint32_t list)
{
    const struct list *l = &r->lists.at.at[list];
    const char *name = lists_name(&r->lists, l->name);
    native_assumed(r, name);
    if (l->later && !l->assumed && native_simulates(r))
        builder_warn(r->b, l->line,
                     "list '%.80s' is assumed as it stands from the last run: %u value%s; --assume "
                     "%.80s=N takes others",
                     name, l->nrows, plural(l->nrows), name);
}

/* {n} of a parameter; other braces stay: those of a pattern are variables, those of values are data. */
void native_fill_parameters(const struct native_reading *r, const char *text, size_t length,
                            struct strbuf *out)
{
    const char *from = text, *p = text;
    strbuf_clear(out);
    for (size_t n; (n = scope_next_word(text, &p)) > 0; p += n)
        for (size_t i = 0; i < r->scope.parameters.n; i++) {
            const struct scope_parameter *x = &r->scope.parameters.at[i];
            if (strncmp(x->name, p, n) != 0 || x->name[n])
                continue;
            strbuf_add_bytes(out, from, (size_t)(p - 1 - from));
            strbuf_add(out, x->value);
            from = p + n + 1;
            break;
        }
    strbuf_add_bytes(out, from, length - (size_t)(from - text));
}

static const char *fill_list(void *context, yaml_ref v, size_t *length)
{
    struct native_reading *r = context;
    const char *text = yaml_text(&r->file.y, v, length);
    native_fill_parameters(r, text, *length, &r->scope.text);
    *length = r->scope.text.n;
    return strbuf_text(&r->scope.text);
}

/* A value that the command line put into a list is data in commands, as if it were the list's own. */
static void mark_outside_lists(struct native_reading *r, yaml_ref lists)
{
    const struct yaml *y = &r->file.y;
    struct list *x = r->lists.at.at; /* one for each key, in their order */
    for (yaml_ref k = yaml_first(y, lists); k != YAML_NONE && r->scope.parameters.n;
         k = yaml_next(y, lists, k), x++)
        for (yaml_ref v = yaml_value(k); v < y->at[yaml_value(k)].next; v++)
            if (yaml_type(y, v) == YAML_SCALAR &&
                scope_is_outside(&r->scope, yaml_text(y, v, NULL)))
                x->outside = true;
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
    struct native filled = r->file;
    filled.fill = r->scope.parameters.n ? fill_list : NULL;
    filled.fill_context = r;
    if (lists != YAML_NONE && !lists_read(&r->lists, &filled, lists, r->folder, &r->given))
        return false;
    for (size_t i = 0; i < r->lists.variables.n; i++)
        builder_variable(r->b, lists_name(&r->lists, r->lists.variables.at[i].name));
    if (parameters != YAML_NONE && !check_names(r, parameters))
        return false;
    for (size_t i = 0; i < r->lists.at.n; i++) {
        native_note_known(r, lists_name(&r->lists, r->lists.at.at[i].name));
        if (r->lists.at.at[i].later || r->lists.at.at[i].pending)
            tell_assumed(r, (uint32_t)i);
    }
    scope_init(&r->scope, &r->lists);
    r->scope.closed = r->module != NULL;
    if (lists != YAML_NONE)
        mark_outside_lists(r, lists);
    fix_parameters(r);
    native_keep_parameters(r);
    return true;
}

void native_keep_parameters(struct native_reading *r)
{
    for (size_t i = 0; i < r->scope.parameters.n; i++) {
        const struct scope_parameter *p = &r->scope.parameters.at[i];
        if (!p->fixed)
            builder_parameter(r->b, p->name, p->value);
    }
}
