/* A module as its text shows it, before it is made: could it grow while it runs, what do its tasks read
 * and make? The including file needs to know before its own tasks are made, because a task that needs
 * what a module will make must not be made before the module is known.
 *
 * Both answers may say too much: a name of a file that depends on a variable could be any file. Who waits
 * for a module that turns out not to grow is made in the next pass (native_make_tasks), so that too much
 * costs time and nothing else. Each text is looked at once. */
#include "base/file.h"
#include "base/path.h"
#include "base/tree.h"
#include "formats/native/native_reading.h"

#include <string.h>

/* ---- does it grow? ---- */

static bool source_may_grow(struct native_reading *r, yaml_ref at, struct module_source *source,
                            int depth);

/* `file` is seen from the folder that `beside` lies in. What cannot be loaded is told when it is made. */
static bool file_may_grow(struct native_reading *r, yaml_ref at, const char *beside,
                          const char *file, int depth)
{
    struct strbuf path = {0};
    struct error ignored = {0}, *err = r->file.err;
    if (strpbrk(file, "{}") || depth > MODULE_DEPTH)
        return true;
    path_in(beside, file, &path);
    r->file.err = &ignored;
    struct module_source *source = native_load_module(r, at, path.at);
    r->file.err = err;
    strbuf_free(&path);
    return source && source_may_grow(r, at, source, depth + 1);
}

/* A list with `after`, rounds until a condition holds, tasks of a file to come; or a module with them. */
static bool text_may_grow(struct native_reading *r, yaml_ref at, const struct yaml *y, int depth)
{
    yaml_ref lists = yaml_get(y, 0, "lists"), tasks = yaml_get(y, 0, "tasks"),
             includes = yaml_get(y, 0, "include");
    char *beside = file_beside(y->file, ".");
    bool grows = false;
    for (yaml_ref k = lists == YAML_NONE ? YAML_NONE : yaml_first(y, lists); k != YAML_NONE;
         k = yaml_next(y, lists, k))
        grows = grows || (yaml_type(y, yaml_value(k)) == YAML_MAPPING &&
                          yaml_get(y, yaml_value(k), "after") != YAML_NONE);
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks);
         k != YAML_NONE && !grows; k = yaml_next(y, tasks, k)) {
        yaml_ref body = yaml_value(k);
        if (yaml_type(y, body) != YAML_MAPPING)
            continue;
        yaml_ref repeat = yaml_get(y, body, "repeat"), flow = yaml_get(y, body, "flow");
        grows =
            yaml_get(y, body, "tasks") != YAML_NONE ||
            (repeat != YAML_NONE && yaml_type(y, repeat) == YAML_MAPPING &&
             yaml_get(y, repeat, "until") != YAML_NONE) ||
            (flow != YAML_NONE && file_may_grow(r, at, beside, yaml_text(y, flow, NULL), depth));
    }
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes);
         k != YAML_NONE && !grows; k = yaml_next(y, includes, k)) {
        yaml_ref v = yaml_value(k);
        yaml_ref file = yaml_type(y, v) == YAML_MAPPING ? yaml_get(y, v, "file") : v;
        grows = file != YAML_NONE && file_may_grow(r, at, beside, yaml_text(y, file, NULL), depth);
    }
    free(beside);
    return grows;
}

static bool source_may_grow(struct native_reading *r, yaml_ref at, struct module_source *source,
                            int depth)
{
    if (source->grows == GROWTH_UNKNOWN) {
        source->grows = GROWTH_NONE; /* should it contain itself, which is told when it is made */
        source->grows = text_may_grow(r, at, &source->y, depth) ? GROWTH_MAYBE : GROWTH_NONE;
    }
    return source->grows == GROWTH_MAYBE;
}

bool native_may_grow(struct native_reading *r, yaml_ref at, const char *file)
{
    return file_may_grow(r, at, r->beside, file, 0);
}

/* ---- what does it read and make? ---- */

struct peek_walk {
    struct native_reading *r;
    yaml_ref at;
    bool out;
    struct peeked_files *files;
};

static void add_peeked(const struct peek_walk *walk, const char *prefix, const char *name)
{
    struct strbuf spelled = {0}, plain = {0};
    bool absolute = *name == '/' || strstr(name, "://");
    strbuf_printf(&spelled, "%s%s", absolute ? "" : prefix, name);
    path_add_canonical(spelled.at, spelled.n, &plain);
    strbuf_add(&plain, "");
    array_push(walk->files, strbuf_steal(&plain));
    strbuf_free(&spelled);
}

static void peek_file(const struct peek_walk *walk, const char *beside, const char *file,
                      const char *prefix, int depth);

/* Names below the folder `prefix`, as the including file has them. */
static void peek_text(const struct peek_walk *walk, const struct yaml *y, const char *prefix,
                      int depth)
{
    yaml_ref tasks = yaml_get(y, 0, "tasks"), includes = yaml_get(y, 0, "include");
    char *beside = file_beside(y->file, ".");
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k)) {
        yaml_ref body = yaml_value(k);
        yaml_ref v = yaml_type(y, body) == YAML_MAPPING
                         ? yaml_get(y, body, walk->out ? "out" : "in")
                         : YAML_NONE;
        for (yaml_ref e = v; v != YAML_NONE && e < y->at[v].next; e++)
            if (yaml_type(y, e) == YAML_SCALAR)
                add_peeked(walk, prefix, yaml_text(y, e, NULL));
        if (v != YAML_NONE && walk->out && yaml_get(y, body, "flow") != YAML_NONE) {
            struct strbuf inside = {0}; /* what stays in the folders of instances */
            strbuf_printf(&inside, "%s{x}/{y}", yaml_text(y, k, NULL));
            add_peeked(walk, prefix, inside.at);
            strbuf_free(&inside);
        }
    }
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes); k != YAML_NONE;
         k = yaml_next(y, includes, k)) {
        yaml_ref v = yaml_value(k), file = v;
        if (yaml_type(y, v) == YAML_MAPPING)
            file = yaml_get(y, v, "file");
        if (file != YAML_NONE)
            peek_file(walk, beside, yaml_text(y, file, NULL), prefix, depth);
    }
    free(beside);
}

static void peek_file(const struct peek_walk *walk, const char *beside, const char *file,
                      const char *prefix, int depth)
{
    struct native_reading *r = walk->r;
    struct strbuf path = {0}, folder = {0};
    struct error ignored = {0}, *err = r->file.err;
    if (depth > MODULE_DEPTH)
        return;
    path_in(beside, file, &path);
    r->file.err = &ignored;
    const struct module_source *source =
        strpbrk(file, "{}") ? NULL : native_load_module(r, walk->at, path.at);
    r->file.err = err;
    strbuf_printf(&folder, "%s%.*s", prefix, (int)(file_basename(file) - file), file);
    if (source)
        peek_text(walk, &source->y, strbuf_text(&folder), depth + 1);
    else
        add_peeked(walk, "", "{x}"); /* any file */
    strbuf_free(&path);
    strbuf_free(&folder);
}

void native_peek_files(struct native_reading *r, yaml_ref include, bool out,
                       struct peeked_files *files)
{
    const struct yaml *y = &r->file.y;
    struct peek_walk walk = {r, include, out, files};
    yaml_ref v = yaml_value(include), file = v, as = YAML_NONE;
    if (yaml_type(y, v) == YAML_MAPPING) {
        file = yaml_get(y, v, "file");
        as = yaml_get(y, v, "as");
    }
    if (file == YAML_NONE)
        return;
    peek_file(&walk, r->beside, yaml_text(y, file, NULL), "", 0);
    /* what is mapped has our name; whether it is read or made, its tasks know */
    for (yaml_ref k = as == YAML_NONE ? YAML_NONE : yaml_first(y, as); k != YAML_NONE;
         k = yaml_next(y, as, k))
        if (yaml_type(y, yaml_value(k)) == YAML_SCALAR)
            add_peeked(&walk, "", yaml_text(y, yaml_value(k), NULL));
}
