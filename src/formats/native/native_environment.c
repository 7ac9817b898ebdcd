/* What a command runs in, as native YAML says it: env, pass, secret, container, conda, modules.
 *
 *     defaults: { env: { LANG: C, OMP_NUM_THREADS: "{cores}" }, container: debian:12 }
 *     tasks:
 *       a: { env: { LANG: de_DE.UTF-8 }, secret: TOKEN, ... }
 *       b: { container: none, modules: [gcc/12], ... }
 *
 * Of `env` a task's variables stand beside those of the defaults, and win; the others are taken as
 * they stand in one place. Each has a way to take a default back: `env: { LANG: }` without a value,
 * `pass: all`, `secret: []`, `container: none`, `conda: none`, `modules: []`. */
#include "formats/native/native_reading.h"
#include "model/command.h"
#include "model/environment.h"

#include <stdlib.h>
#include <string.h>

/* A variable on its way into the text; value NULL: the task does not want it. */
struct env_entry {
    const char *name;
    char *value;
};

typedef ARRAY(struct env_entry) env_entries;

/* Structure and names; values are looked at when they are filled in. */
static bool check_env_mapping(const struct native_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, v))
        return true;
    if (!native_is_mapping(&r->file, v, "env"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        size_t length;
        const char *name = yaml_text(y, k, &length);
        struct error err = {0};
        struct strbuf line = {0};
        environment_add(&line, name, "");
        bool good = environment_check(COLUMN_env, line.at, &err);
        strbuf_free(&line);
        if (!good || !length)
            return native_error(&r->file, k, "%s", err.text);
        if (yaml_type(y, yaml_value(k)) != YAML_SCALAR)
            return native_error(&r->file, yaml_value(k), "env: %s is a %s; expected a text", name,
                                yaml_type(y, yaml_value(k)) == YAML_MAPPING ? "mapping" : "list");
    }
    return true;
}

/* With variables, parameters and named files filled in; the rest is the model's. */
static bool add_entry(struct native_reading *r, yaml_ref k, env_entries *to)
{
    const struct yaml *y = &r->file.y;
    yaml_ref v = yaml_value(k);
    const char *name = yaml_text(y, k, NULL);
    size_t length;
    const char *text = yaml_text(y, v, &length);
    if (!yaml_is_null(y, v) && scope_concerns(text, length)) {
        if (!scope_fill_value(&r->scope, &r->file, v, "env", text, length))
            return false;
        text = r->scope.text.at;
        length = r->scope.text.n;
        if (r->named.n) {
            if (!native_fill_named(r, v, text, length, &r->command))
                return false;
            text = r->command.at;
        }
    }
    char *value = yaml_is_null(y, v) ? NULL : mem_copy_string(text);
    for (size_t i = 0; i < to->n; i++)
        if (strcmp(to->at[i].name, name) == 0) {
            free(to->at[i].value);
            to->at[i].value = value;
            return true;
        }
    array_push(to, (struct env_entry){name, value});
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct env_entry *)a)->name, ((const struct env_entry *)b)->name);
}

bool native_read_env(struct native_reading *r, uint32_t task, yaml_ref body)
{
    const struct yaml *y = &r->file.y;
    yaml_ref own = yaml_type(y, body) == YAML_MAPPING ? yaml_get(y, body, "env") : YAML_NONE;
    yaml_ref from[] = {r->defaults == YAML_NONE ? YAML_NONE : yaml_get(y, r->defaults, "env"), own};
    env_entries entries = {0};
    struct strbuf text = {0};
    bool good = true;
    for (int i = 0; i < 2; i++)
        for (yaml_ref k = from[i] == YAML_NONE || yaml_is_null(y, from[i]) ? YAML_NONE
                                                                           : yaml_first(y, from[i]);
             k != YAML_NONE && good; k = yaml_next(y, from[i], k))
            good = add_entry(r, k, &entries);
    if (entries.n > 1)
        qsort(entries.at, entries.n, sizeof *entries.at, compare_entries);
    for (size_t i = 0; i < entries.n; i++) {
        if (entries.at[i].value)
            environment_add(&text, entries.at[i].name, entries.at[i].value);
        free(entries.at[i].value);
    }
    if (good && text.n)
        builder_text(r->b, task, COLUMN_env, text.at, text.n,
                     own == YAML_NONE ? 0 : yaml_line(y, own));
    array_free(&entries);
    strbuf_free(&text);
    return good;
}

/* Words at blanks; "-" for an empty list of `pass`, which is more than none. */
static bool read_names(struct native_reading *r, enum column_id id, yaml_ref v, struct strbuf *out)
{
    const struct yaml *y = &r->file.y;
    const char *key = task_column[id].key, *text;
    size_t length;
    bool list = yaml_type(y, v) == YAML_SEQUENCE;
    for (yaml_ref e = list ? yaml_first(y, v) : v; e != YAML_NONE;
         e = list ? yaml_next(y, v, e) : YAML_NONE) {
        if (!native_text(&r->file, e, key, &text, &length))
            return false;
        if (!list && id == COLUMN_pass && strcmp(text, "all") == 0)
            return true;
        if (strcspn(text, " ,\t\n") != length)
            return native_error(&r->file, e, "%s has '%.80s'; expected a name, or a list of names",
                                key, text);
        strbuf_printf(out, "%s%s", out->n ? " " : "", text);
    }
    if (!out->n && id == COLUMN_pass)
        strbuf_add(out, "-");
    return true;
}

bool native_read_surroundings(struct native_reading *r, uint32_t task, enum column_id id,
                              yaml_ref v)
{
    const char *key = task_column[id].key, *text;
    size_t length;
    struct strbuf words = {0};
    struct error err = {0};
    if (id == COLUMN_env)
        return check_env_mapping(r, v);
    if (id == COLUMN_container || id == COLUMN_conda) {
        if (!native_text(&r->file, v, key, &text, &length))
            return false;
        if (strcmp(text, "none") != 0 && id == COLUMN_conda && r->module)
            native_outer_name(r, NULL, text, length, &words); /* a file of the module's */
        else if (strcmp(text, "none") != 0)
            strbuf_add_bytes(&words, text, length);
    } else if (!yaml_is_null(&r->file.y, v) && !read_names(r, id, v, &words)) {
        strbuf_free(&words);
        return false;
    }
    /* checked here, too, so that the message names the key's place, in the defaults as well */
    bool good = !words.n || environment_check(id, words.at, &err);
    if (good)
        builder_text(r->b, task, id, strbuf_text(&words), words.n, yaml_line(&r->file.y, v));
    else
        native_error(&r->file, v, "%s", err.text);
    strbuf_free(&words);
    return good;
}

/* ---- writing ---- */

static void write_env(const struct workflow *w, uint32_t t, struct strbuf *out, size_t *broken)
{
    const char *at = column_text(w, t, COLUMN_env);
    struct strbuf name = {0}, value = {0};
    if (at)
        strbuf_add(out, "    env:\n");
    while (at && environment_next(&at, &name, &value)) {
        strbuf_printf(out, "      %s: ", name.at);
        *broken += !(*value.at ? yaml_write_string(out, value.at, YAML_IN_BLOCK)
                               : yaml_write_value(out, "", YAML_IN_BLOCK));
        strbuf_add_char(out, '\n');
    }
    strbuf_free(&name);
    strbuf_free(&value);
}

static void write_names(const struct workflow *w, uint32_t t, enum column_id id, struct strbuf *out,
                        size_t *broken)
{
    const char *at = column_text(w, t, id), *word;
    struct strbuf name = {0};
    size_t n, count = 0;
    if (!at)
        return;
    strbuf_printf(out, "    %s: [", task_column[id].key);
    while ((word = environment_word(&at, &n)))
        if (n != 1 || *word != '-') {
            strbuf_clear(&name);
            strbuf_add_bytes(&name, word, n);
            strbuf_add(out, count++ ? ", " : "");
            *broken += !yaml_write_string(out, name.at, YAML_IN_FLOW);
        }
    strbuf_add(out, "]\n");
    strbuf_free(&name);
}

/* Braces stand for themselves but in values of env, which are templates. */
static void write_one(const struct workflow *w, uint32_t t, enum column_id id, struct strbuf *out,
                      size_t *broken)
{
    const char *text = column_text(w, t, id);
    struct strbuf doubled = {0};
    if (!text)
        return;
    command_add_doubled(&doubled, text);
    strbuf_printf(out, "    %s: ", task_column[id].key);
    *broken += !yaml_write_string(out, doubled.at, YAML_IN_BLOCK);
    strbuf_add_char(out, '\n');
    strbuf_free(&doubled);
}

void native_write_environment(const struct workflow *w, uint32_t t, struct strbuf *out,
                              size_t *broken)
{
    if (!environment_is_stated(w, t))
        return;
    write_env(w, t, out, broken);
    write_names(w, t, COLUMN_pass, out, broken);
    write_names(w, t, COLUMN_secret, out, broken);
    write_one(w, t, COLUMN_container, out, broken);
    write_one(w, t, COLUMN_conda, out, broken);
    write_names(w, t, COLUMN_modules, out, broken);
}
