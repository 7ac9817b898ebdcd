/* Modules: loading their files, opening a reading for each, and what `include` and `flow` say of
 * them. See native_module.h.
 *
 *     include: { qc: lib/qc.yaml }        align: { each: s, flow: lib/align.yaml, with: ..., in: ... }
 *             │                                   │ once a member
 *             ▼                                   ▼
 *     native_load_module()    the text, parsed once a file, however often it is used
 *             ▼
 *     open_module()           a reading of its own, under the prefix "qc/" or "align@s=a/"
 *             ▼
 *     read_with()             values, and read_mapping() names, filled in by the includer's scope
 *             ▼
 *     the module's own parameters, lists and tasks, by the code that reads any file
 *             ▼
 *     check_with()            what was given is of use, and check_made() what is promised is made
 *
 *   I1. A file is known by device and inode: a link to one of its includers is a circle, too.
 *   I2. Lines of all files stand one after another (yaml.base), so that a place in any of them is one
 *       number, from which messages get file and line again.
 *   I3. A module never sees its includer's variables: what it is to know is given by `with`. */
#include "formats/native/native_module.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/tree.h"
#include "formats/native/native_reading.h"
#include "model/command.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void shared_init(struct native_shared *s)
{
    *s = (struct native_shared){0};
    intern_init(&s->left_out);
    pool_init(&s->families);
    intern_init(&s->group_names);
    intern_init(&s->known);
    intern_init(&s->open);
}

void shared_free(struct native_shared *s)
{
    for (size_t i = 0; i < s->sources.n; i++) {
        yaml_free(&s->sources.at[i]->y);
        free(s->sources.at[i]);
    }
    array_free(&s->sources);
    array_free(&s->left_out_by);
    array_free(&s->made_elsewhere);
    array_free(&s->groups);
    array_free(&s->more_groups);
    array_free(&s->decided);
    intern_free(&s->left_out);
    pool_free(&s->families);
    intern_free(&s->group_names);
    intern_free(&s->known);
    intern_free(&s->open);
}

/* Its reading is freed apart: that needs the module's names to the end. */
static void free_module(struct native_module *m)
{
    for (size_t i = 0; i < m->outer.n; i++)
        free(m->outer.at[i].outer);
    for (size_t i = 0; i < m->with.n; i++) {
        for (size_t k = 0; k < m->with.at[i].values.n; k++)
            free(m->with.at[i].values.at[k]);
        array_free(&m->with.at[i].values);
    }
    array_free(&m->outer);
    array_free(&m->with);
    array_free(&m->asked);
    strbuf_free(&m->when);
    array_free(&m->made_itself);
    intern_free(&m->inner);
    intern_free(&m->made);
    free(m->name);
    free(m->title);
    free(m->prefix);
    free(m->kinds);
    free(m->folder);
    free(m->instance);
    free(m);
}

/* Modules are at most MODULE_DEPTH deep, and so is this. */
void native_close_modules(struct native_reading *r)
{
    for (size_t i = 0; i < r->modules.n; i++) {
        struct native_module *m = r->modules.at[i]->module;
        native_free_reading(r->modules.at[i]);
        free(r->modules.at[i]);
        free_module(m);
    }
    array_free(&r->modules);
}

/* ---- files ---- */

/* Always false: "main.yaml:3 names lib/a.yaml, lib/a.yaml:2 names main.yaml". */
static bool module_circle(const struct native_reading *r, yaml_ref at, const char *path)
{
    const struct native_reading *chain[MODULE_DEPTH + 2];
    yaml_ref places[MODULE_DEPTH + 2];
    size_t n = 0;
    struct strbuf text = {0};
    for (yaml_ref place = at; r; r = r->module ? r->module->parent : NULL) {
        chain[n] = r;
        places[n++] = place;
        place = r->module ? r->module->at : YAML_NONE;
    }
    for (size_t i = n; i--;)
        strbuf_printf(&text, "%s%s:%zu names %s", i == n - 1 ? "" : ", ", chain[i]->file.y.file,
                      yaml_line(&chain[i]->file.y, places[i]) - chain[i]->file.y.base,
                      i ? chain[i - 1]->file.y.file : path);
    native_error(&chain[0]->file, at,
                 "the modules contain themselves: %.800s; one of them must do without", text.at);
    strbuf_free(&text);
    return false;
}

/* Is the file one of those that it would stand in? Links are looked through. */
static bool check_module_chain(const struct native_reading *r, yaml_ref at, const char *path,
                               const struct stat *s)
{
    int depth = 0;
    for (const struct native_reading *x = r; x; x = x->module ? x->module->parent : NULL) {
        dev_t device = x->module ? x->module->source->device : r->shared->device;
        ino_t inode = x->module ? x->module->source->inode : r->shared->inode;
        if (device == s->st_dev && inode == s->st_ino)
            return module_circle(r, at, path);
        if (++depth > MODULE_DEPTH)
            return native_error(&r->file, at, "modules stand more than %d deep in each other",
                                MODULE_DEPTH);
    }
    if (r->shared->modules >= MODULES_MOST)
        return native_error(&r->file, at, "more than %d modules and sub-workflows", MODULES_MOST);
    return true;
}

/* When a run goes on elsewhere (on an agent, after a restart) files are played from what was noted, and
 * nothing of the disk counts: then a name stands for the file, since there is no inode. */
struct module_source *native_load_module(struct native_reading *r, yaml_ref at, const char *path)
{
    struct native_shared *shared = r->shared;
    struct stat s = {0};
    struct error err = {0};
    struct text text;
    struct outside *outside = r->file.outside;
    bool played = outside && outside->plays;
    bool there = played ? outside_number(outside, path) : stat(path, &s) == 0;
    if (played) /* by its name: who noted it has looked for circles */
        s.st_ino = (ino_t)hash_bytes(path, strlen(path));
    if (!played && there && !S_ISREG(s.st_mode)) {
        native_error(&r->file, at, "%.200s is no regular file; a workflow's text is expected",
                     path);
        return NULL;
    }
    if (there && !check_module_chain(r, at, path, &s))
        return NULL;
    for (size_t i = 0; there && i < shared->sources.n; i++)
        if (shared->sources.at[i]->device == s.st_dev && shared->sources.at[i]->inode == s.st_ino)
            return shared->sources.at[i];
    if (!outside_read(outside, path, &text, &err)) {
        native_error(&r->file, at, "%.400s", err.text);
        return NULL;
    }
    struct native n;
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    bool good = native_open(&n, &source, "tasks", r->file.err);
    text_free(&text);
    if (!good)
        return NULL;
    size_t lines = n.y.n ? n.y.at[n.y.n - 1].line + 1 : 1;
    if (shared->lines + lines > UINT32_MAX / 2) {
        native_error(&r->file, at, "the modules have too many lines together");
        native_close(&n);
        return NULL;
    }
    struct module_source *x = mem_new_zero(struct module_source, 1);
    *x = (struct module_source){s.st_dev, s.st_ino, n.y, GROWTH_UNKNOWN};
    x->y.base = shared->lines;
    shared->lines += lines;
    builder_source(r->b, path, x->y.base);
    array_push(&shared->sources, x);
    return x;
}

/* The caller frees. */
static char *join_texts(const char *a, const char *b, const char *c)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s%s", a, b, c);
    return strbuf_steal(&text);
}

/* Without the slash at its end; the caller frees. */
static char *folder_of(const char *path)
{
    size_t n = (size_t)(file_basename(path) - path);
    return n ? mem_copy_bytes(path, n > 1 ? n - 1 : n) : mem_copy_string(".");
}

/* A reading of `file` for module `name`, whose kinds and parameters are those of `title`. It is
 * r's, and nothing of it was read yet. `stands`: where, if a task wrote it; else NULL. NULL: an error. */
static struct native_reading *open_module(struct native_reading *r, yaml_ref at, const char *title,
                                          const char *name, const char *file, const char *stands)
{
    struct strbuf path = {0};
    path_in(r->beside, file, &path);
    if (stands)
        strbuf_clear(&path), strbuf_add(&path, stands);
    if (strcmp(path.at, "-") == 0)
        path_in("./", "-", &path); /* a file of that name, and not the standard input */
    const struct module_source *source = native_load_module(r, at, path.at);
    if (!source) {
        strbuf_free(&path);
        return NULL;
    }
    struct native_module *m = mem_new_zero(struct native_module, 1);
    *m = (struct native_module){.parent = r, .at = at, .source = source};
    m->name = mem_copy_string(name);
    m->title = mem_copy_string(title);
    m->prefix = join_texts(native_prefix(r), name, "/");
    m->kinds = join_texts(r->module ? r->module->kinds : "", title, "/");
    m->folder = mem_copy_bytes(file, (size_t)(file_basename(file) - file));
    intern_init(&m->inner);
    intern_init(&m->made);
    struct native_reading *child = mem_new_zero(struct native_reading, 1);
    *child = (struct native_reading){.b = r->b,
                                     .defaults = YAML_NONE,
                                     .family = NONE,
                                     .shared = r->shared,
                                     .module = m,
                                     .is_file = r->is_file,
                                     .given = r->given};
    child->file = (struct native){.y = source->y, .err = r->file.err, .outside = r->file.outside};
    child->beside = folder_of(path.at);
    path_in(r->folder, file, &path);
    child->folder = folder_of(path.at);
    lists_init(&child->lists);
    child->lists.waits = r->lists.waits;
    strbuf_free(&path);
    r->shared->modules++;
    builder_outside(r->b);
    array_push(&r->modules, child);
    return child;
}

/* ---- what the includer says: values ---- */

static bool add_with_value(void *context, const char *text, size_t length)
{
    struct module_value *x = context;
    if (x->values.n >= LIST_VALUES_MOST)
        return true; /* the list says so */
    array_push(&x->values, mem_copy_bytes(text, length));
    return true;
}

/* `n: 5`, `docs: [a, b]`, `docs: "{doc}"`, which stands for all values where {doc} is free. */
static bool read_with_value(struct native_reading *r, struct native_module *m, yaml_ref k)
{
    const struct yaml *y = &r->file.y;
    yaml_ref v = yaml_value(k);
    char found[80];
    array_push(&m->with, (struct module_value){.name = yaml_text(y, k, NULL), .at = k});
    struct module_value *x = &array_last(&m->with);
    x->is_list = yaml_type(y, v) == YAML_SEQUENCE;
    for (yaml_ref e = x->is_list ? yaml_first(y, v) : v; e != YAML_NONE;
         e = x->is_list ? yaml_next(y, v, e) : YAML_NONE) {
        if (yaml_type(y, e) != YAML_SCALAR || yaml_is_null(y, e))
            return native_error(&r->file, e, "with: '%.80s' is %s; expected a value or [values]",
                                x->name, yaml_found(y, e, found, sizeof found));
        x->outside |= scope_is_outside(&r->scope, yaml_text(y, e, NULL));
        if (!scope_fill(&r->scope, &r->file, e, "with", true, add_with_value, x))
            return false;
    }
    return true;
}

/* Values are filled in by the includer's scope, before the module's own exists. */
static bool read_with(struct native_reading *r, struct native_module *m, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (v == YAML_NONE || yaml_is_null(y, v))
        return true;
    if (!native_is_mapping(&r->file, v, "with"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k))
        if (!read_with_value(r, m, k))
            return false;
    return true;
}

/* Everything that `with` says must be of use. */
static bool check_with(const struct native_reading *r, const struct native_reading *child)
{
    const struct native_module *m = child->module;
    for (size_t i = 0; i < m->with.n; i++) {
        const struct module_value *x = &m->with.at[i];
        if (x->used)
            continue;
        size_t count = 0;
        const char **names =
            mem_new(const char *, child->scope.parameters.n + child->lists.at.n + 1);
        for (size_t k = 0; k < child->scope.parameters.n; k++)
            names[count++] = child->scope.parameters.at[k].name;
        for (size_t k = 0; k < child->lists.at.n; k++)
            names[count++] = lists_name(&child->lists, child->lists.at.at[k].name);
        const char *near = suggest_nearest(x->name, names, count);
        native_error(&r->file, x->at, "with: %.200s has no parameter and no list '%.80s'%s%s%s",
                     child->file.y.file, x->name, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
        free(names);
        return false;
    }
    return true;
}

/* ---- what the includer says: files ---- */

struct mapped_entry {
    struct native_reading *r;
    struct native_module *m;
    yaml_ref at;
    enum module_use use;
    const char *inner; /* NULL: the module calls it as we do */
    uint32_t count;
};

static bool add_mapped(void *context, const char *text, size_t length)
{
    struct mapped_entry *e = context;
    char *kept = NULL; /* what both call the same, before a round gives it another name */
    if (e->r->round && e->use != MODULE_AS) {
        kept = e->inner ? NULL : mem_copy_bytes(text, length);
        text = native_round_name(e->r, e->use == MODULE_OUT, text, &length);
    }
    const char *inner = e->inner ? e->inner : kept ? kept : text;
    if (!length || !*inner) {
        free(kept);
        return native_error(&e->r->file, e->at, "the name of a file is empty");
    }
    if (e->count++ && e->inner)
        return native_error(&e->r->file, e->at,
                            "'%.200s' would be several files; name one, or list them by themselves",
                            e->inner);
    struct module_name x = {mem_copy_bytes(text, length), e->at, e->use, false};
    bool good = module_map(e->m, inner, e->inner || kept ? strlen(inner) : length, x);
    if (!good) {
        free(x.outer);
        native_error(&e->r->file, e->at, "'%.200s' of the module is named twice", inner);
    }
    free(kept);
    return good;
}

/* A name, the same here and there; or, with `k`, `its name: ours`. */
static bool read_mapped(struct mapped_entry *e, yaml_ref k, yaml_ref v, const char *what)
{
    const struct native *f = &e->r->file;
    const char *text;
    size_t length;
    if (!native_plain_text(f, v, what, &text, &length))
        return false;
    struct native_filled inner = {0};
    char *kept = NULL;
    if (k != YAML_NONE) {
        if (!scope_fill(&e->r->scope, f, k, what, false, native_keep_filled, &inner))
            return false;
        kept = mem_copy_bytes(inner.text, inner.length);
    }
    e->inner = kept;
    e->at = v;
    e->count = 0;
    bool good = scope_fill(&e->r->scope, f, v, what, e->use == MODULE_IN, add_mapped, e);
    free(kept);
    return good;
}

/* `as` is a mapping; `in` and `out` may be names alone, which are the same in both files. */
static bool read_mapping(struct native_reading *r, struct native_module *m, yaml_ref v,
                         enum module_use use, const char *what)
{
    const struct yaml *y = &r->file.y;
    struct mapped_entry e = {.r = r, .m = m, .use = use};
    if (v == YAML_NONE || yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) == YAML_SCALAR && use != MODULE_AS)
        return read_mapped(&e, YAML_NONE, v, what);
    if (use == MODULE_AS && !native_is_mapping(&r->file, v, what))
        return false;
    bool map = yaml_type(y, v) == YAML_MAPPING;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k))
        if (!read_mapped(&e, map ? k : YAML_NONE, map ? yaml_value(k) : k, what))
            return false;
    return true;
}

/* Does the sub-workflow make what it should, and does it not make what it should be given? */
static bool check_made(const struct native_reading *r, const struct native_reading *child)
{
    const struct native_module *m = child->module;
    for (uint32_t i = 0; i < m->inner.n; i++) {
        const char *name = intern_text(&m->inner, i);
        bool made = module_is_made(m, name);
        if (m->outer.at[i].use == MODULE_OUT && !made)
            return native_error(&r->file, m->outer.at[i].at,
                                "out: no task of %.200s makes '%.200s'; write `ITS NAME: ours` "
                                "where the names differ",
                                child->file.y.file, name);
        uint32_t itself = intern_find(&m->made, name, strlen(name));
        if (m->outer.at[i].use == MODULE_IN && itself != UINT32_MAX && m->made_itself.at[itself])
            return native_error(&r->file, m->outer.at[i].at,
                                "in: '%.200s' is made by a task of %.200s; it belongs to out", name,
                                child->file.y.file);
    }
    return true;
}

bool native_check_module(const struct native_reading *child)
{
    const struct native_module *m = child->module;
    if (native_is_open(child))
        return true; /* what is not known yet may name the rest */
    snprintf(m->parent->file.where, sizeof m->parent->file.where, "%s '%.120s'",
             m->instance ? "task" : "module", m->name);
    static const char *const key[] = {"as", "in", "out"};
    for (uint32_t i = 0; i < m->inner.n; i++)
        if (!m->outer.at[i].named)
            return native_error(&m->parent->file, m->outer.at[i].at,
                                "%s: no task of %.200s names a file '%.200s'; write `ITS NAME: "
                                "ours` where the names differ",
                                key[m->outer.at[i].use], child->file.y.file,
                                intern_text(&m->inner, i));
    return true;
}

/* ---- include ---- */

bool native_include_module(struct native_reading *r, yaml_ref k)
{
    static const char *const keys[] = {"file", "as", "with", NULL};
    const struct yaml *y = &r->file.y;
    yaml_ref v = yaml_value(k), file = v, as = YAML_NONE, with = YAML_NONE;
    size_t length;
    const char *name = yaml_text(y, k, &length);
    struct native_filled text = {0};
    snprintf(r->file.where, sizeof r->file.where, "module '%.100s'", name);
    if (!command_is_name(name, length))
        return native_error(&r->file, k,
                            "'%.80s' cannot be the name of a module; expected letters, digits, _ "
                            "and -",
                            name);
    if (yaml_get(y, yaml_get(y, 0, "tasks"), name) != YAML_NONE)
        return native_error(&r->file, k, "'%.80s' is a task and a module; choose another name",
                            name);
    if (yaml_type(y, v) == YAML_MAPPING) {
        for (yaml_ref i = yaml_first(y, v); i != YAML_NONE; i = yaml_next(y, v, i))
            if (native_key(&r->file, i, keys) < 0)
                return false;
        file = yaml_get(y, v, "file");
        as = yaml_get(y, v, "as");
        with = yaml_get(y, v, "with");
        if (file == YAML_NONE)
            return native_error(&r->file, v, "the key 'file' is missing");
    }
    const char *plain;
    if (!native_plain_text(&r->file, file, "file", &plain, &length) ||
        !scope_fill(&r->scope, &r->file, file, "file", false, native_keep_filled, &text))
        return false;
    char *path = mem_copy_bytes(text.text, text.length);
    struct native_reading *child = open_module(r, k, name, name, path, NULL);
    free(path);
    if (!child)
        return false;
    child->module->key = k;
    child->first = builder_task_count(r->b);
    return read_with(r, child->module, with) &&
           read_mapping(r, child->module, as, MODULE_AS, "as") && native_prepare(child) &&
           check_with(r, child) && native_add_group(r, name, child->first);
}

yaml_ref native_includes(const struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref v = yaml_get(y, 0, "include");
    return v == YAML_NONE || yaml_type(y, v) != YAML_MAPPING ? YAML_NONE : v;
}

/* ---- sub-workflows ---- */

bool native_is_flow(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(key);
    return !r->no_flows && yaml_type(y, body) == YAML_MAPPING &&
           yaml_get(y, body, "flow") != YAML_NONE;
}

/* What stands for a sub-workflow alone; its tasks have keys of their own. */
static bool check_flow_keys(const struct native_reading *r, yaml_ref body)
{
    static const char *const keys[] = {"flow", "with",   "in",     "out",  "after",
                                       "each", "except", "repeat", "when", NULL};
    const struct yaml *y = &r->file.y;
    for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k)) {
        const char *name = yaml_text(y, k, NULL);
        int i = 0;
        while (keys[i] && strcmp(keys[i], name) != 0)
            i++;
        if (!keys[i])
            return native_error(&r->file, k,
                                "'%.80s' says nothing of a sub-workflow, whose tasks have keys of "
                                "their own; expected one of: flow, with, in, out, after, each, "
                                "except, repeat, when",
                                name);
    }
    return true;
}

bool native_make_joined(struct native_reading *r, yaml_ref key)
{
    const char *name = yaml_text(&r->file.y, key, NULL), *file;
    yaml_ref v = yaml_get(&r->file.y, yaml_value(key), "tasks");
    size_t length;
    if (!native_plain_text(&r->file, v, "tasks", &file, &length))
        return false;
    char *stands = native_joined_path(r, key);
    struct native_reading *child = open_module(r, v, name, name, file, stands);
    free(stands);
    if (!child)
        return false;
    child->module->key = key;
    child->first = builder_task_count(r->b);
    return native_prepare(child) && native_add_group(r, name, child->first);
}

/* Everything that depends on the instance's variables is read now, while they are bound. */
bool native_make_flow(struct native_reading *r, yaml_ref key, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(key), flow = yaml_get(y, body, "flow");
    const char *title = yaml_text(y, key, NULL), *plain;
    struct native_filled text = {0};
    size_t length;
    if (!check_flow_keys(r, body) || !native_plain_text(&r->file, flow, "flow", &plain, &length) ||
        !scope_fill(&r->scope, &r->file, flow, "flow", false, native_keep_filled, &text))
        return false;
    char *path = mem_copy_bytes(text.text, text.length);
    struct native_reading *child = open_module(r, flow, title, name, path, NULL);
    free(path);
    if (!child)
        return false;
    struct native_module *m = child->module;
    m->key = key;
    struct strbuf folder = {0};
    module_add_folder(name, &folder);
    m->instance = strbuf_steal(&folder);
    child->first = builder_task_count(r->b);
    if (!read_with(r, m, yaml_get(y, body, "with")) ||
        !read_mapping(r, m, yaml_get(y, body, "in"), MODULE_IN, "in") ||
        !read_mapping(r, m, yaml_get(y, body, "out"), MODULE_OUT, "out") ||
        !native_read_gate(r, m, yaml_get(y, body, "when")) || !native_prepare(child) ||
        !check_with(r, child))
        return false;
    native_collect_made(child, child);
    return check_made(r, child) && native_add_group(r, name, child->first);
}

/* What comes before the sub-workflow comes before each of its tasks. */
bool native_read_flow(struct native_reading *r, yaml_ref key, struct native_reading *module)
{
    yaml_ref after = yaml_get(&r->file.y, yaml_value(key), "after");
    if (r->round && r->round->number > 1)
        after = YAML_NONE; /* it comes after the first */
    for (uint32_t t = module->first; after != YAML_NONE && t < module->first + module->ntasks; t++)
        if (!native_read_after(r, t, after))
            return false;
    return native_read_bodies(module) && native_check_module(module);
}
