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

const char *native_family_name(const struct native_reading *r, const struct family *f)
{
    return yaml_text(&r->file.y, f->key, NULL);
}

const struct family *native_find_family(const struct native_reading *r, const char *name)
{
    for (size_t i = 0; i < r->families.n; i++)
        if (strcmp(native_family_name(r, &r->families.at[i]), name) == 0)
            return &r->families.at[i];
    return NULL;
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

static bool make_members(struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    struct family f;
    struct strbuf member = {0};
    const char *name = yaml_text(y, key, NULL);
    bool good = family_read(&f, &r->lists, &r->file, key);
    f.first = builder_task_count(r->b);
    for (uint64_t i = 0; good && i < f.combinations; i++)
        if (family_bind(&f, &r->scope, i)) {
            family_member_name(&f, &r->scope, name, &member);
            good = builder_task(r->b, member.at, member.n, yaml_line(y, key)) != NONE;
            f.count++;
        }
    family_unbind(&f, &r->scope);
    strbuf_free(&member);
    array_push(&r->families, f);
    return good;
}

static bool make_tasks(struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    bool good = true;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE && good; k = yaml_next(y, tasks, k)) {
        size_t length;
        const char *name = yaml_text(y, k, &length);
        name_place(&r->file, name, length);
        if (is_family(r, k))
            good = make_members(r, k);
        else
            builder_task(r->b, name, length, yaml_line(y, k));
    }
    return good;
}

/* ---- 2. what is left out ---- */

struct output_walk {
    struct native_reading *r;
    bool leave_out; /* enter the names; false: they are made */
};

static bool walk_name(void *context, const char *name, size_t length)
{
    const struct output_walk *walk = context;
    struct native_reading *r = walk->r;
    struct strbuf spelled = {0}; /* as others may spell it */
    path_add_canonical(name, length, &spelled);
    if (walk->leave_out) {
        intern_number(&r->left_out, spelled.at, spelled.n);
    } else {
        uint32_t i = intern_find(&r->left_out, spelled.at, spelled.n);
        if (i != UINT32_MAX)
            r->made_elsewhere.at[i] = true;
    }
    strbuf_free(&spelled);
    return true;
}

/* The names of the outputs of a task, as the scope has them. What is wrong with them is said when
 * the task is read. */
static void walk_outputs(struct output_walk *walk, yaml_ref body)
{
    struct native_reading *r = walk->r;
    const struct yaml *y = &r->file.y;
    yaml_ref out = yaml_type(y, body) == YAML_MAPPING ? yaml_get(y, body, "out") : YAML_NONE;
    if (out == YAML_NONE || yaml_is_null(y, out))
        return;
    struct error ignored = {0}, *err = r->file.err;
    r->file.err = &ignored;
    bool list = yaml_type(y, out) == YAML_SEQUENCE;
    for (yaml_ref e = list ? yaml_first(y, out) : out; e != YAML_NONE;
         e = list ? yaml_next(y, out, e) : YAML_NONE) {
        yaml_ref name = yaml_type(y, e) == YAML_MAPPING ? yaml_get(y, e, "name") : e;
        if (name != YAML_NONE && yaml_type(y, name) == YAML_SCALAR)
            scope_fill(&r->scope, &r->file, name, "out", false, walk_name, walk);
    }
    r->file.err = err;
}

static void walk_family(struct output_walk *walk, const struct family *f)
{
    struct variable_scope *s = &walk->r->scope;
    for (uint64_t i = 0; i < f->combinations; i++)
        if (family_bind(f, s, i) != walk->leave_out)
            walk_outputs(walk, yaml_value(f->key));
    family_unbind(f, s);
}

/* Only where a family has exceptions: what they would make, then what is made in spite of them. */
static void note_left_out(struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    struct output_walk walk = {r, true};
    for (size_t i = 0; i < r->families.n; i++)
        if (r->families.at[i].exceptions.n)
            walk_family(&walk, &r->families.at[i]);
    if (!r->left_out.n)
        return;
    for (uint32_t i = 0; i < r->left_out.n; i++)
        array_push(&r->made_elsewhere, false);
    walk.leave_out = false;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k))
        if (!is_family(r, k))
            walk_outputs(&walk, yaml_value(k));
    for (size_t i = 0; i < r->families.n; i++)
        walk_family(&walk, &r->families.at[i]);
}

const struct family *native_left_out(const struct native_reading *r, const char *file,
                                     size_t length)
{
    if (!r->left_out.n)
        return NULL;
    struct strbuf spelled = {0};
    path_add_canonical(file, length, &spelled);
    uint32_t i = intern_find(&r->left_out, spelled.at, spelled.n);
    strbuf_free(&spelled);
    if (i == UINT32_MAX || r->made_elsewhere.at[i])
        return NULL;
    for (size_t k = 0; k < r->families.n; k++) /* for the message: the first that leaves out */
        if (r->families.at[k].exceptions.n)
            return &r->families.at[k];
    return NULL;
}

/* ---- 3. what they say ---- */

static bool read_body(struct native_reading *r, uint32_t task, yaml_ref body, const char *kind)
{
    const char *name = builder_task_name(r->b, task);
    name_place(&r->file, name, strlen(name));
    r->scope.task = name;
    r->scope.kind = kind;
    return (yaml_is_null(&r->file.y, body) ||
            native_is_mapping(&r->file, body, "its description")) &&
           native_read_task(r, task, body);
}

static bool read_members(struct native_reading *r, uint32_t number)
{
    const struct family *f = &r->families.at[number];
    const char *name = native_family_name(r, f);
    uint32_t task = f->first;
    bool good = true;
    r->family = number;
    for (uint64_t i = 0; i < f->combinations && good && !builder_failed(r->b); i++)
        if (family_bind(f, &r->scope, i)) {
            builder_kind(r->b, task, name, strlen(name));
            good = read_body(r, task++, yaml_value(f->key), name);
        }
    family_unbind(f, &r->scope);
    r->family = NONE;
    return good;
}

bool native_read_tasks(struct native_reading *r, yaml_ref tasks)
{
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, tasks))
        return true;
    if (!native_is_mapping(&r->file, tasks, "tasks"))
        return false;
    builder_expect(r->b, yaml_size(y, tasks), 0);
    if (!make_tasks(r, tasks))
        return false;
    note_left_out(r, tasks);
    uint32_t task = 0, family = 0;
    bool good = true;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE && good && !builder_failed(r->b);
         k = yaml_next(y, tasks, k)) {
        if (is_family(r, k)) {
            task += r->families.at[family].count;
            good = read_members(r, family++);
        } else {
            good = read_body(r, task++, yaml_value(k), NULL);
        }
    }
    r->scope.task = r->scope.kind = NULL;
    r->file.where[0] = 0;
    return good;
}
