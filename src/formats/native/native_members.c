/* Which tasks a native file has: those that stand in it, and the members of families.
 *
 *     1. every task and every member gets its number, so that `after` can name later ones
 *     2. files that `except` leaves out are noted, unless another task makes them
 *     3. what each task says is read, a family's body once for each member
 *
 * Without lists the second does nothing, and the others are two walks over the tasks. */
#include "base/path.h"
#include "formats/native/native_reading.h"

#include <string.h>

/* ---- groups ---- */

/* Its own name as the whole workflow has it. Without modules it is the same, and not copied. */
static const char *full_name(struct native_reading *r, const char *name, size_t *length)
{
    if (!r->module)
        return name;
    strbuf_clear(&r->full);
    strbuf_add(&r->full, r->module->prefix);
    strbuf_add_bytes(&r->full, name, *length);
    *length = r->full.n;
    return r->full.at;
}

bool native_add_group(struct native_reading *r, const char *name, uint32_t first)
{
    struct native_shared *s = r->shared;
    size_t length = strlen(name);
    const char *full = full_name(r, name, &length);
    struct task_group range = {first, builder_task_count(r->b) - first};
    uint32_t i = intern_number(&s->group_names, full, length);
    if (i == s->groups.n)
        array_push(&s->groups, range);
    else /* a module that goes on; or a task of that name is there, too, and the builder says so */
        array_push(&s->more_groups, (struct group_more){i, range});
    return true;
}

struct task_group native_group_hull(const struct native_reading *r, const struct task_group *g)
{
    const struct native_shared *s = r->shared;
    struct task_group hull = *g;
    for (size_t i = 0; i < s->more_groups.n; i++) {
        const struct task_group *x = &s->more_groups.at[i].range;
        if (s->more_groups.at[i].group != (uint32_t)(g - s->groups.at))
            continue;
        uint32_t end = hull.first + hull.count, to = x->first + x->count;
        hull.first = x->first < hull.first ? x->first : hull.first;
        hull.count = (to > end ? to : end) - hull.first;
    }
    return hull;
}

yaml_ref native_tasks(const struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    return tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING ? YAML_NONE : tasks;
}

uint32_t native_find_base(struct native_reading *r, const char *name, size_t length)
{
    const char *full = full_name(r, name, &length); /* names end with a NUL, there and here */
    return r->shared->base ? workflow_find_task(r->shared->base, full) : NONE;
}

uint32_t native_find_task(struct native_reading *r, const char *name, size_t length)
{
    const char *full = full_name(r, name, &length);
    return builder_find_task(r->b, full, length);
}

const struct task_group *native_find_group(struct native_reading *r, const char *name,
                                           size_t length)
{
    const char *full = full_name(r, name, &length);
    uint32_t i = intern_find(&r->shared->group_names, full, length);
    return i == UINT32_MAX ? NULL : &r->shared->groups.at[i];
}

void native_name_place(struct native_reading *r, const char *name)
{
    snprintf(r->file.where, sizeof r->file.where, "task '%s%.100s'", native_prefix(r), name);
}

/* "task 'NAME'" for messages; by hand, because a million tasks pass here and hardly one is wrong.
 */
static void name_place(struct native *f, const char *name, size_t length)
{
    length = length < 120 ? length : 120;
    memcpy(f->where, "task '", 6);
    memcpy(f->where + 6, name, length);
    memcpy(f->where + 6 + length, "'", 2);
}

static bool is_family(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(key);
    return yaml_type(y, body) == YAML_MAPPING && yaml_get(y, body, "each") != YAML_NONE;
}

/* ---- 1. numbers ---- */

bool native_add_task(struct native_reading *r, yaml_ref key, const char *name, size_t length)
{
    const char *full = full_name(r, name, &length);
    return builder_task(r->b, full, length, yaml_line(&r->file.y, key)) != NONE;
}

static bool make_task(struct native_reading *r, yaml_ref key, const char *name, size_t length)
{
    if (native_is_repeated(r, key))
        return native_make_chain(r, key, name);
    if (native_is_flow(r, key))
        return native_make_flow(r, key, name);
    if (native_is_joined(r, key))
        return native_make_joined(r, key);
    return native_add_task(r, key, name, length);
}

static bool make_members(struct native_reading *r, yaml_ref key)
{
    struct family f;
    struct strbuf member = {0};
    const char *name = yaml_text(&r->file.y, key, NULL);
    bool good = family_read(&f, &r->lists, &r->file, key), repeated = native_is_repeated(r, key);
    f.first = builder_task_count(r->b);
    if (good)
        builder_expect(r->b, f.first + f.combinations, 0);
    for (uint64_t i = 0; good && i < f.combinations; i++)
        if (family_bind(&f, &r->scope, i)) {
            family_member_name(&f, &r->scope, name, &member);
            r->combination = i;
            struct builder_counts before = builder_counts_now(r->b);
            good = make_task(r, key, member.at, member.n);
            if (i == 0)
                builder_expect_alike(r->b, &before, (size_t)f.combinations);
        }
    family_unbind(&f, &r->scope);
    f.count = builder_task_count(r->b) - f.first;
    if (good && !f.count && f.exceptions.n && !native_is_flow(r, key) && !repeated)
        good = native_error(&r->file, key, "its except leaves nothing of its each");
    strbuf_free(&member);
    array_push(&r->families, f);
    return good && (repeated || native_add_group(r, name, f.first));
}

/* May it be made in this pass? It is noted then. */
static bool takes_entry(struct native_reading *r, size_t entry)
{
    if (native_entry_of(r, entry) != ENTRY_NOW || (entry < r->pass.n && r->pass.at[entry]))
        return false;
    if (entry < r->pass.n)
        r->pass.at[entry] = r->passes;
    return true;
}

/* Tasks of the file that can be made now, then what it includes. False: an error; *any: some were. */
static bool make_entries(struct native_reading *r, bool *any)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r), includes = native_includes(r);
    bool good = true;
    size_t entry = 0;
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE && good;
         k = yaml_next(y, tasks, k)) {
        if (!takes_entry(r, entry++))
            continue;
        size_t length;
        const char *name = yaml_text(y, k, &length);
        size_t whole = length;
        const char *full = full_name(r, name, &whole);
        name_place(&r->file, full, whole);
        *any = true;
        uint32_t first = builder_task_count(r->b);
        if (is_family(r, k))
            good = make_members(r, k);
        else
            good = make_task(r, k, name, length) || builder_failed(r->b);
        native_note_entry(r, k, first);
    }
    r->file.where[0] = 0;
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes);
         k != YAML_NONE && good; k = yaml_next(y, includes, k))
        if (takes_entry(r, entry++)) {
            *any = true;
            good = native_include_module(r, k);
        }
    r->file.where[0] = 0;
    return good;
}

/* Modules that were there, and grow: what has become known of them. Before the file's own tasks, so that
 * those who waited for a module that is all known now are made with it. */
static bool continue_modules(struct native_reading *r)
{
    bool good = true;
    r->continued.n = 0;
    for (size_t i = 0; i < r->open.n && good; i++) {
        struct native_reading *child = r->modules.at[r->open.at[i]];
        const struct native_module *m = child->module;
        array_push(&r->continued, r->open.at[i]);
        child->b = r->b;
        child->file.err = r->file.err;
        good = native_make_tasks(child);
        if (good && m->instance)
            native_collect_made(child, child);
        if (good && child->ntasks)
            good = native_add_group(r, m->name, child->first) &&
                   (strcmp(m->name, m->title) == 0 || native_add_group(r, m->title, child->first));
    }
    return good;
}

bool native_make_tasks(struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    r->first = builder_task_count(r->b);
    if (tasks != YAML_NONE && !yaml_is_null(y, tasks) &&
        !native_is_mapping(&r->file, tasks, "tasks"))
        return false;
    tasks = native_tasks(r);
    if (!r->entry.n && !native_find_joined(r, tasks))
        return false;
    if (tasks != YAML_NONE)
        builder_expect(r->b, r->first + (size_t)yaml_size(y, tasks), 0);
    bool good = continue_modules(r), any = true;
    for (r->passes = 0; good && any;) {
        any = false;
        if (r->entry.n || native_has_pending(r))
            good = native_find_later(r, tasks);
        r->passes++;
        good = good && make_entries(r, &any);
        any = any && r->opens && r->passes < UINT8_MAX;
    }
    good = good && (!r->repeats || native_make_rounds(r));
    native_note_open(r);
    r->file.where[0] = 0;
    r->ntasks = builder_task_count(r->b) - r->first;
    return good;
}

/* ---- 2. what is left out ---- */

struct output_walk {
    struct native_reading *r;
    enum { WALK_LEFT_OUT, WALK_MADE, WALK_COLLECT } what; /* enter; strike out; tell `top` */
    struct native_reading *top;
    str_id family; /* who leaves out */
};

static bool walk_name(void *context, const char *name, size_t length)
{
    const struct output_walk *walk = context;
    struct native_shared *s = walk->r->shared;
    struct strbuf spelled = {0}; /* as others may spell it */
    native_outer_name(walk->r, walk->what == WALK_COLLECT ? walk->top : NULL, name, length,
                      &spelled);
    if (walk->what == WALK_COLLECT) {
        module_makes(walk->top->module, spelled.at);
    } else if (walk->what == WALK_LEFT_OUT) {
        if (intern_number(&s->left_out, spelled.at, spelled.n) == s->left_out_by.n)
            array_push(&s->left_out_by, walk->family);
    } else {
        uint32_t i = intern_find(&s->left_out, spelled.at, spelled.n);
        if (i != UINT32_MAX)
            s->made_elsewhere.at[i] = true;
    }
    strbuf_free(&spelled);
    return true;
}

/* A name, {name, size}, a list of them, or a mapping of names to them: at most three levels. */
static void walk_output(struct output_walk *walk, yaml_ref v)
{
    struct native_reading *r = walk->r;
    const struct yaml *y = &r->file.y;
    yaml_ref name = yaml_type(y, v) == YAML_MAPPING ? yaml_get(y, v, "name") : YAML_NONE;
    if (name != YAML_NONE && yaml_type(y, name) == YAML_SCALAR)
        v = name;
    if (yaml_type(y, v) == YAML_SCALAR) {
        if (!yaml_is_null(y, v))
            scope_fill(&r->scope, &r->file, v, "out", false, walk_name, walk);
        return;
    }
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e))
        walk_output(walk, yaml_type(y, v) == YAML_MAPPING ? yaml_value(e) : e);
}

/* The names of the outputs of a task, as the scope has them. What is wrong with them is said when
 * the task is read. */
static void walk_outputs(struct output_walk *walk, yaml_ref body)
{
    struct native_reading *r = walk->r;
    const struct yaml *y = &r->file.y;
    yaml_ref out = yaml_type(y, body) == YAML_MAPPING ? yaml_get(y, body, "out") : YAML_NONE;
    if (out == YAML_NONE)
        return;
    struct error ignored = {0}, *err = r->file.err;
    r->file.err = &ignored;
    walk_output(walk, out);
    r->file.err = err;
}

static void walk_family(struct output_walk *walk, const struct family *f)
{
    struct variable_scope *s = &walk->r->scope;
    for (uint64_t i = 0; i < f->combinations; i++)
        if (family_bind(f, s, i) != (walk->what == WALK_LEFT_OUT))
            walk_outputs(walk, yaml_value(f->key));
    family_unbind(f, s);
}

/* What all tasks of the file make; sub-workflows say it themselves. */
static void walk_made(struct output_walk *walk)
{
    const struct native_reading *r = walk->r;
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    size_t entry = 0;
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k)) {
        enum native_entry state = native_entry_of(r, entry++);
        bool to_come = state == ENTRY_LATER && walk->what == WALK_COLLECT;
        if (to_come || (state == ENTRY_NOW && !is_family(r, k) &&
                        (!native_is_flow(r, k) || native_is_repeated(r, k))))
            walk_outputs(walk, yaml_value(k));
    }
    for (size_t i = r->first_family; i < r->families.n; i++)
        if (!native_is_flow(r, r->families.at[i].key))
            walk_family(walk, &r->families.at[i]);
}

/* Modules are few deep: MODULE_DEPTH. */
void native_collect_made(struct native_reading *r, struct native_reading *top)
{
    struct output_walk walk = {.r = r, .what = WALK_COLLECT, .top = top};
    walk_made(&walk);
    for (size_t i = 0; i < r->modules.n; i++)
        native_collect_made(r->modules.at[i], top);
}

static void enter_left_out(struct native_reading *r)
{
    struct output_walk walk = {.r = r, .what = WALK_LEFT_OUT};
    for (size_t i = r->first_family; i < r->families.n; i++)
        if (r->families.at[i].exceptions.n) {
            const char *name = yaml_text(&r->file.y, r->families.at[i].key, NULL);
            size_t length = strlen(name);
            name = full_name(r, name, &length);
            walk.family = pool_add(&r->shared->families, name, length);
            walk_family(&walk, &r->families.at[i]);
        }
    for (size_t i = r->first_module; i < r->modules.n; i++)
        enter_left_out(r->modules.at[i]);
    for (size_t i = 0; i < r->continued.n; i++)
        enter_left_out(r->modules.at[r->continued.at[i]]);
}

static void strike_out_made(struct native_reading *r)
{
    struct output_walk walk = {.r = r, .what = WALK_MADE};
    walk_made(&walk);
    for (size_t i = r->first_module; i < r->modules.n; i++)
        strike_out_made(r->modules.at[i]);
    for (size_t i = 0; i < r->continued.n; i++)
        strike_out_made(r->modules.at[r->continued.at[i]]);
}

/* Only where a family has exceptions: what they would make, then what is made in spite of them. */
void native_note_left_out(struct native_reading *r)
{
    struct native_shared *s = r->shared;
    enter_left_out(r);
    if (!s->left_out.n)
        return;
    for (uint32_t i = (uint32_t)s->made_elsewhere.n; i < s->left_out.n; i++) {
        uint32_t there =
            s->base ? workflow_find_object(s->base, intern_text(&s->left_out, i)) : NONE;
        array_push(&s->made_elsewhere, there != NONE && s->base->producer[there] != NONE);
    }
    strike_out_made(r);
}

const char *native_left_out(struct native_reading *r, const char *file, size_t length)
{
    const struct native_shared *s = r->shared;
    if (!s->left_out.n)
        return NULL;
    struct strbuf spelled = {0};
    native_outer_name(r, NULL, file, length, &spelled);
    uint32_t i = intern_find(&s->left_out, spelled.at, spelled.n);
    strbuf_free(&spelled);
    return i == UINT32_MAX || s->made_elsewhere.at[i]
               ? NULL
               : pool_text(&s->families, s->left_out_by.at[i]);
}

/* ---- 3. what they say ---- */

bool native_read_body(struct native_reading *r, uint32_t task, yaml_ref body, const char *kind)
{
    const char *name = builder_task_name(r->b, task);
    name_place(&r->file, name, strlen(name));
    r->scope.task = name;
    r->scope.kind = kind;
    r->key = body - 1; /* it stands before what it says */
    if (yaml_type(&r->file.y, body) == YAML_SCALAR && !yaml_is_null(&r->file.y, body))
        return native_error(&r->file, body,
                            "its description is '%.80s'; expected a mapping (key: value): write "
                            "%.80s: { run: COMMAND }",
                            yaml_text(&r->file.y, body, NULL), name);
    return (yaml_is_null(&r->file.y, body) ||
            native_is_mapping(&r->file, body, "its description")) &&
           native_read_task(r, task, body);
}

/* What the next of the file's tasks is: they come as they were made. */
struct bodies_cursor {
    uint32_t task, family, module;
};

const char *native_full_kind(struct native_reading *r, const char *kind)
{
    strbuf_clear(&r->kind);
    strbuf_printf(&r->kind, "%s%s", native_kinds(r), kind);
    return r->kind.at;
}

/* The task or instance `key`, or one member of it. */
static bool read_one(struct native_reading *r, yaml_ref key, const char *kind,
                     struct bodies_cursor *at)
{
    if (native_is_repeated(r, key))
        return true; /* its rounds follow */
    if (!native_is_flow(r, key) && !native_is_joined(r, key)) {
        /* a sub-workflow is one thing: its kinds are known by its name */
        if (r->module && (kind || r->module->instance))
            kind = native_full_kind(r, kind ? kind : yaml_text(&r->file.y, key, NULL));
        if (kind)
            builder_kind(r->b, at->task, kind, strlen(kind));
        return native_read_body(r, at->task++, yaml_value(key), kind);
    }
    struct native_reading *module = r->modules.at[at->module++];
    name_place(&r->file, module->module->name, strlen(module->module->name));
    at->task += module->ntasks;
    return native_read_flow(r, key, module);
}

static bool read_members(struct native_reading *r, struct bodies_cursor *at)
{
    const struct family *f = &r->families.at[at->family];
    const char *name = yaml_text(&r->file.y, f->key, NULL);
    bool good = true;
    r->family = at->family++;
    uint32_t task = at->task;
    struct builder_counts before = builder_counts_now(r->b);
    for (uint64_t i = 0; i < f->combinations && good && !builder_failed(r->b); i++) {
        if (!family_bind(f, &r->scope, i))
            continue;
        bool first = at->task == task;
        good = read_one(r, f->key, name, at);
        if (first)
            builder_expect_alike(r->b, &before, (size_t)f->combinations);
    }
    family_unbind(f, &r->scope);
    r->family = NONE;
    return good;
}

/* Those that were made in this pass, as make_entries() made them: families and modules are found by the
 * order in which they were made, and not by their names. */
static bool read_entries(struct native_reading *r, uint8_t pass, struct bodies_cursor *at)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r), includes = native_includes(r);
    size_t entry = 0;
    bool good = true;
#define READ_NOW(e)                                                                                \
    ((e) < r->pass.n ? r->entry.at[e] == ENTRY_NOW && r->pass.at[e] == pass : pass == 1)
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks);
         k != YAML_NONE && good && !builder_failed(r->b); k = yaml_next(y, tasks, k), entry++)
        if (READ_NOW(entry))
            good = is_family(r, k) ? read_members(r, at) : read_one(r, k, NULL, at);
    r->scope.task = r->scope.kind = NULL;
    r->file.where[0] = 0;
    for (yaml_ref k = includes == YAML_NONE ? YAML_NONE : yaml_first(y, includes);
         k != YAML_NONE && good && !builder_failed(r->b); k = yaml_next(y, includes, k), entry++)
        if (READ_NOW(entry)) {
            struct native_reading *module = r->modules.at[at->module++];
            at->task += module->ntasks;
            good = native_read_bodies(module) && native_check_module(module);
        }
#undef READ_NOW
    return good;
}

bool native_read_bodies(struct native_reading *r)
{
    bool good = true;
    struct bodies_cursor at = {
        .task = r->first, .family = r->first_family, .module = r->first_module};
    for (size_t i = 0; i < r->continued.n && good && !builder_failed(r->b); i++) {
        struct native_reading *module = r->modules.at[r->continued.at[i]];
        at.task += module->ntasks;
        good = native_read_bodies(module) && native_check_module(module);
    }
    for (uint8_t pass = 1; pass <= r->passes && good && !builder_failed(r->b); pass++)
        good = read_entries(r, pass, &at);
    good = good && (!r->repeats || native_read_rounds(r, &at.module));
    r->scope.task = r->scope.kind = NULL;
    r->file.where[0] = 0;
    return good;
}
