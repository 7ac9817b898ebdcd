/* Texts of the columns in environment.h: checked, walked through, expanded, and what of them a key
 * has. Nothing here asks the machine. */
#include "model/environment.h"

#include "base/digest.h"
#include "base/mem.h"
#include "model/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static bool is_word(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length && !isdigit((unsigned char)name[0]);
}

/* WEFT_ is what weft itself tells a task. */
bool environment_is_name(const char *name, size_t length)
{
    return is_word(name, length) && !(length >= 5 && strncmp(name, "WEFT_", 5) == 0);
}

/* The text of `env` is a line a variable, with \n and \\ for what would end it. */
bool environment_next(const char **at, struct strbuf *name, struct strbuf *value)
{
    size_t n = strcspn(*at, "=\n");
    strbuf_clear(name);
    strbuf_clear(value);
    if (!**at)
        return false;
    strbuf_add_bytes(name, *at, n);
    strbuf_add(value, "");
    *at += n + ((*at)[n] == '=');
    for (; **at && **at != '\n'; ++*at) {
        bool escaped = **at == '\\' && (*at)[1];
        *at += escaped;
        strbuf_add_char(value, escaped && **at == 'n' ? '\n' : **at);
    }
    *at += **at == '\n';
    return true;
}

/* The other way round; equal lists are equal texts, since readers sort them. */
void environment_add(struct strbuf *text, const char *name, const char *value)
{
    strbuf_printf(text, "%s%s=", text->n ? "\n" : "", name);
    for (; *value; value++)
        if (*value == '\n')
            strbuf_add(text, "\\n");
        else if (*value == '\\')
            strbuf_add(text, "\\\\");
        else
            strbuf_add_char(text, *value);
}

const char *environment_word(const char **at, size_t *length)
{
    *at += strspn(*at, " ");
    *length = strcspn(*at, " ");
    const char *word = *at;
    *at += *length;
    return *length ? word : NULL;
}

static bool check_name(const char *key, const char *name, size_t length, struct error *err)
{
    if (environment_is_name(name, length))
        return true;
    if (is_word(name, length))
        return error_set(err, ERROR_INPUT,
                         "%s has '%.*s'; variables that begin with WEFT_ are "
                         "weft's own",
                         key, (int)length, name);
    return error_set(err, ERROR_INPUT,
                     "%s has '%.*s', which cannot be the name of a variable; expected letters, "
                     "digits and _",
                     key, (int)length, name);
}

static bool environment_check_names(const char *text, struct error *err)
{
    struct strbuf name = {0}, value = {0};
    bool good = true;
    while (good && environment_next(&text, &name, &value))
        good = check_name("env", strbuf_text(&name), name.n, err);
    strbuf_free(&name);
    strbuf_free(&value);
    return good;
}

static bool check_words(enum column_id id, const char *text, struct error *err)
{
    const char *word, *key = task_column[id].key;
    size_t n;
    if (id == COLUMN_pass && strcmp(text, "-") == 0)
        return true;
    while ((word = environment_word(&text, &n)))
        if (id != COLUMN_modules
                ? !check_name(key, word, n, err)
                : *word == '-' && !error_set(err, ERROR_INPUT,
                                             "modules has '%.*s', which is an "
                                             "option; expected names, as in gcc/12",
                                             (int)n, word))
            return false;
    return true;
}

/* One place for all readers and for the library: what a format could not have checked is checked here. */
bool environment_check(enum column_id id, const char *text, struct error *err)
{
    if (id == COLUMN_env)
        return environment_check_names(text, err);
    if (id == COLUMN_pass || id == COLUMN_secret || id == COLUMN_modules)
        return check_words(id, text, err);
    if (!*text || *text == '-' || strpbrk(text, "\n\t") ||
        (id == COLUMN_container && strchr(text, ' ')))
        return error_set(err, ERROR_INPUT, "%s is '%.80s'; expected %s", task_column[id].key, text,
                         id == COLUMN_conda ? "a file, as in tools.yaml"
                                            : "an image, as in debian:12 or tools.sif");
    return true;
}

/* As posix_spawn() wants it: name=value, each ended by a NUL. */
size_t environment_expand(const struct workflow *w, uint32_t task,
                          const struct command_attempt *attempt, struct strbuf *out)
{
    const char *at = column_text(w, task, COLUMN_env);
    struct strbuf name = {0}, value = {0};
    size_t count = 0;
    for (; at && environment_next(&at, &name, &value); count++) {
        strbuf_printf(out, "%s=", name.at);
        command_expand_value(w, task, value.at, attempt, out);
        strbuf_add_char(out, 0);
    }
    strbuf_free(&name);
    strbuf_free(&value);
    return count;
}

/* For `--why` and summaries: values of secrets are not known here, their names are. */
bool environment_readable(const struct workflow *w, uint32_t task, uint32_t attempt,
                          struct strbuf *out)
{
    static const struct {
        enum column_id id;
        const char *word;
    } said[] = {{COLUMN_container, "in "},
                {COLUMN_conda, "in the environment of "},
                {COLUMN_modules, "modules "},
                {COLUMN_secret, "secret "},
                {COLUMN_pass, "passing "}};
    struct strbuf block = {0};
    size_t before = out->n;
    if (!environment_is_stated(w, task))
        return false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *text = column_text(w, task, said[i].id);
        if (text)
            strbuf_printf(out, "%s%s%s", out->n > before ? ", " : "", said[i].word,
                          strcmp(text, "-") == 0 ? "nothing" : text);
    }
    environment_expand(w, task, &(struct command_attempt){.number = attempt ? attempt : 1}, &block);
    for (size_t at = 0; at < block.n; at += strlen(block.at + at) + 1) {
        size_t name = strcspn(block.at + at, "=");
        strbuf_add(out, at ? " " : out->n > before ? ", with " : "with ");
        strbuf_add_bytes(out, block.at + at, name + 1);
        command_add_quoted(out, block.at + at + name + 1);
    }
    strbuf_free(&block);
    return true;
}

/* ---- what a run takes along ---- */

void run_environment_add(struct run_environment *e, enum along_kind kind, const char *name,
                         const char *value)
{
    for (size_t i = 0; i < e->at.n; i++)
        if (e->at.at[i].kind == kind && strcmp(e->at.at[i].name, name) == 0) {
            explicit_bzero(e->at.at[i].value, strlen(e->at.at[i].value));
            free(e->at.at[i].value);
            e->at.at[i].value = mem_copy_string(value);
            return;
        }
    array_push(&e->at, (struct along){kind, mem_copy_string(name), mem_copy_string(value)});
}

const char *run_environment_find(const struct run_environment *e, enum along_kind kind,
                                 const char *name, size_t length)
{
    for (size_t i = 0; e && i < e->at.n; i++) {
        const struct along *a = &e->at.at[i];
        if (a->kind == kind && strncmp(a->name, name, length) == 0 && !a->name[length])
            return a->value;
    }
    return NULL;
}

/* Secrets are wiped: memory that is given back is read by whoever gets it. */
void run_environment_free(struct run_environment *e)
{
    for (size_t i = 0; i < e->at.n; i++) {
        explicit_bzero(e->at.at[i].value, strlen(e->at.at[i].value));
        free(e->at.at[i].value);
        free(e->at.at[i].name);
    }
    array_free(&e->at);
    *e = (struct run_environment){0};
}

/* ---- the key ---- */

static void add_env_to_key(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    const char *at = column_text(w, task, COLUMN_env);
    struct strbuf name = {0}, value = {0}, filled = {0};
    while (at && environment_next(&at, &name, &value)) {
        strbuf_clear(&filled);
        command_value_template(w, task, value.at, &filled);
        strbuf_add(out, "env ");
        struct strbuf line = {0};
        environment_add(&line, name.at, strbuf_text(&filled));
        strbuf_add(out, line.at);
        strbuf_free(&line);
        strbuf_add_char(out, '\n');
    }
    strbuf_free(&name);
    strbuf_free(&value);
    strbuf_free(&filled);
}

/* What is not known has no place in the record: then its name stands here, which no digest is. */
void environment_in_key(const struct workflow *w, uint32_t task, const struct run_environment *e,
                        struct strbuf *out)
{
    if (!environment_is_stated(w, task))
        return;
    const char *image = column_text(w, task, COLUMN_container),
               *conda = column_text(w, task, COLUMN_conda),
               *modules = column_text(w, task, COLUMN_modules), *found;
    add_env_to_key(w, task, out);
    if (image) {
        found = run_environment_find(e, ALONG_IMAGE, image, strlen(image));
        strbuf_printf(out, "container %s\n", found ? found : image);
    }
    if (conda) {
        char hex[DIGEST_TEXT];
        struct digest d;
        found = run_environment_find(e, ALONG_CONDA, conda, strlen(conda));
        digest_of(found ? found : "", found ? strlen(found) : 0, &d);
        strbuf_printf(out, "conda %s\n", found ? digest_text(&d, hex) : conda);
    }
    if (modules)
        strbuf_printf(out, "modules %s\n", modules);
}
