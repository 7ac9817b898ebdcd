/* The library of tasks: descriptions in folders, read for who shows or adds them (weft/edit.h). */
#include "api/api.h"
#include "base/array.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "formats/yaml/yaml.h"
#include <dirent.h>
#include <string.h>

struct weft_library {
    ARRAY(struct weft_library_task) tasks; /* their texts are owned */
};

static void library_task_free(struct weft_library_task *t)
{
    const char *texts[] = {t->name, t->group, t->about, t->needs, t->folder, t->text, t->problem};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)texts[i]);
}

EXPORT void weft_library_free(struct weft_library *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->tasks.n; i++)
        library_task_free(&l->tasks.at[i]);
    array_free(&l->tasks);
    free(l);
}

/* The value of "KEY: value;" in a line; owned, `usual` where there is none. */
static char *head_value(const char *line, const char *key, const char *usual)
{
    struct strbuf out = {0};
    size_t end = strcspn(line, "\n"), length = strlen(key);
    for (size_t at = 0; at + length < end && !out.n; at++) {
        if (strncmp(line + at, key, length) != 0 || line[at + length] != ':')
            continue;
        size_t from = at + length + 1;
        from += strspn(line + from, " ");
        strbuf_add_bytes(&out, line + from, strcspn(line + from, ";\n"));
    }
    if (!out.n)
        strbuf_add(&out, usual);
    return strbuf_steal(&out);
}

/* The comments at the top: what it does, then a line with "group:" */
static void head_read(struct weft_library_task *t)
{
    struct strbuf about = {0};
    const char *line = t->text, *facts = "";
    while (*line == '#') {
        const char *begin = line + 1 + strspn(line + 1, " ");
        size_t n = strcspn(begin, "\n");
        if (strncmp(begin, "group:", 6) == 0) {
            facts = begin;
        } else {
            strbuf_add(&about, about.n ? " " : "");
            strbuf_add_bytes(&about, begin, n);
        }
        line = begin + n + (begin[n] == '\n');
    }
    strbuf_add(&about, "");
    t->about = strbuf_steal(&about);
    t->group = head_value(facts, "group", "mine");
    t->needs = head_value(facts, "needs", "");
}

/* What the file says, or why it does not. */
static void task_read(struct weft_library_task *t, const char *path)
{
    struct text text = {0};
    struct error err = {0};
    struct yaml y;
    if (!file_read(path, &text, &err)) {
        t->text = mem_copy_string("");
        t->problem = mem_copy_string(err.text);
        head_read(t);
        return;
    }
    t->text = mem_copy_string(text.at);
    head_read(t);
    if (!yaml_load(&y, path, text.at, text.n, &err)) {
        t->problem = mem_copy_string(err.text);
    } else {
        yaml_ref tasks = yaml_get(&y, 0, "tasks");
        if (tasks == YAML_NONE || yaml_type(&y, tasks) != YAML_MAPPING)
            t->problem = mem_copy_string("it has no tasks");
        yaml_free(&y);
    }
    text_free(&text);
}

/* A user's own task stands before ours of the same name. */
static bool library_has(const struct weft_library *l, const char *name, size_t n)
{
    for (size_t i = 0; i < l->tasks.n; i++)
        if (strlen(l->tasks.at[i].name) == n && memcmp(l->tasks.at[i].name, name, n) == 0)
            return true;
    return false;
}

/* As the palette shows them. */
static int library_compare(const void *a, const void *b)
{
    const struct weft_library_task *s = a, *t = b;
    int order = strcmp(s->group, t->group);
    return order ? order : strcmp(s->name, t->name);
}

/* The entries of a folder, which the C library allocates: given back also when our memory runs out. */
struct folder_listing {
    struct dirent **at;
    int n;
};

static void folder_listing_free(void *of)
{
    struct folder_listing *names = of;
    for (int i = 0; i < names->n; i++)
        free(names->at[i]);
    free(names->at);
}

static void folder_read(struct weft_library *l, const char *folder)
{
    struct folder_listing names = {0};
    struct mem_guard guard;
    names.n = scandir(folder, &names.at, NULL, alphasort);
    mem_guard_enter(&guard, folder_listing_free, &names);
    for (int i = 0; i < names.n; i++) {
        const char *name = names.at[i]->d_name;
        size_t length = strlen(name);
        if (length > 5 && name[0] != '.' && strcmp(name + length - 5, ".yaml") == 0 &&
            !library_has(l, name, length - 5)) {
            struct strbuf path = {0};
            strbuf_printf(&path, "%s/%s", folder, name);
            struct weft_library_task *t = array_add(&l->tasks);
            t->name = mem_copy_bytes(name, length - 5);
            t->folder = mem_copy_string(folder);
            task_read(t, path.at);
            strbuf_free(&path);
        }
    }
    mem_guard_leave(&guard);
    folder_listing_free(&names);
}

EXPORT struct weft_library *weft_library_read(const char *const *folders, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_library *l = mem_new_zero(struct weft_library, 1);
        for (size_t i = 0; folders[i]; i++)
            folder_read(l, folders[i]);
        if (l->tasks.n)
            qsort(l->tasks.at, l->tasks.n, sizeof *l->tasks.at, library_compare);
        call.result = l;
    }
    return api_result(&call);
}

EXPORT bool weft_library_task(const struct weft_library *l, size_t i, struct weft_library_task *out)
{
    if (i >= l->tasks.n)
        return false;
    *out = l->tasks.at[i];
    return true;
}
