/* A file that grows, read as a whole because nobody will run it (`weft sim`, `plan`, `show`): what is
 * assumed of what only a run tells, and which tasks would join later than others.
 *
 *     --assume chunk=20         a list with `after`: so many values; or a,b,c; of a table, a file
 *     --assume solve=7          a task with `repeat`: so many rounds
 *     --assume more=FILE        `tasks: more.yaml`: the tasks of this file
 *     --assume call=no          a task or family with `when`: whether it is taken (native_taken.c)
 *
 * Without such a word a list, a file and rounds are those that stand there from the last run. Of a module
 * names have its prefix, as those of -p: qc/chunk. */
#include "base/file.h"
#include "base/suggest.h"
#include "base/tree.h"
#include "formats/native/native_reading.h"

#include <string.h>

/* ---- what is assumed ---- */

bool native_simulates(const struct native_reading *r)
{
    for (const struct option_value *g = r->given.at; g && g->name; g++)
        if (strcmp(g->name, FORMAT_SIMULATES) == 0)
            return true;
    return false;
}

const char *native_assumed(struct native_reading *r, const char *name)
{
    struct strbuf full = {0};
    strbuf_printf(&full, "%s%s", native_kinds(r), name);
    intern_number(&r->shared->open, full.at, full.n);
    strbuf_free(&full);
    return given_assumed(&r->given, name);
}

/* Every --assume must be of something that only a run tells. */
bool native_check_assumed(const struct native_reading *r)
{
    const struct intern *open = &r->shared->open;
    for (const struct option_value *g = r->given.at; g && g->name; g++) {
        size_t length = strcspn(g->text, "=");
        if (strcmp(g->name, ASSUME_OPTION) != 0 || intern_find(open, g->text, length) != UINT32_MAX)
            continue;
        char *name = mem_copy_bytes(g->text, length);
        const char **names = mem_new(const char *, (size_t)open->n + 1);
        for (uint32_t i = 0; i < open->n; i++)
            names[i] = intern_text(open, i);
        const char *near = suggest_nearest(name, names, open->n);
        error_set(r->file.err, ERROR_INPUT,
                  "%s: --assume %.80s: no list with `after`, no task with `repeat: until`, `tasks` "
                  "or `when` is called so%s%s%s",
                  r->file.y.file, name, near ? "; did you mean '" : "", near ? near : "",
                  near ? "'?" : "");
        free(names);
        free(name);
        return false;
    }
    return true;
}

/* ---- where it stands ---- */

const struct native_reading *native_top(const struct native_reading *r)
{
    while (r->module)
        r = r->module->parent;
    return r;
}

char *native_list_place(const struct native_reading *r, uint32_t list)
{
    const char *source = lists_source(&r->lists, &r->file, list);
    struct strbuf outer = {0}, filled = {0};
    native_fill_parameters(r, source, strlen(source), &filled);
    native_outer_name(r, NULL, strbuf_text(&filled), filled.n, &outer);
    strbuf_free(&filled);
    return strbuf_steal(&outer);
}

char *native_joined_path(struct native_reading *r, yaml_ref key)
{
    yaml_ref v = yaml_get(&r->file.y, yaml_value(key), "tasks");
    const char *file = yaml_text(&r->file.y, v, NULL);
    const char *given = r->lists.waits ? NULL : native_assumed(r, yaml_text(&r->file.y, key, NULL));
    struct strbuf outer = {0}, path = {0};
    if (given)
        return mem_copy_string(given);
    native_outer_name(r, NULL, file, strlen(file), &outer);
    path_in(native_top(r)->beside, outer.at, &path);
    strbuf_free(&outer);
    return strbuf_steal(&path);
}

/* What the tasks of sub-workflows make lies in folders of their own: so that is found out first. */
bool native_read_standing(struct native_reading *r)
{
    const char *folder = native_top(r)->folder;
    bool good = true;
    for (struct native_reading *x = r; x->module; x = x->module->parent)
        if (x->module->instance && (r->lists.at.n || native_tasks(r) != YAML_NONE))
            native_collect_made(r, x);
    for (uint32_t i = 0; i < r->lists.at.n && good; i++) {
        if (!r->lists.at.at[i].pending)
            continue;
        char *place = native_list_place(r, i);
        if (lists_count_pending(&r->lists, &r->file, i, folder, place)) {
            good = lists_read_pending(&r->lists, &r->file, i, folder, place);
            r->lists.at.at[i].later = r->lists.later = true;
        }
        free(place);
    }
    return good;
}

/* ---- who joins when ---- */

void native_note_entry(struct native_reading *r, yaml_ref key, uint32_t first)
{
    uint32_t count = builder_task_count(r->b) - first;
    if (!r->lists.waits && count && (r->lists.later || native_is_joined(r, key)))
        array_push(&r->joining, (struct native_joining){key, first, count});
}

/* The tasks that this file calls so: one, a family, a module. None: {0, 0}. */
static struct task_group named_tasks(struct native_reading *r, const char *name)
{
    const struct task_group *g = native_find_group(r, name, strlen(name));
    uint32_t task = native_find_task(r, name, strlen(name));
    return g ? native_group_hull(r, g) : (struct task_group){task == NONE ? 0 : task, task != NONE};
}

/* What joins comes after who decides, however few edges say so. */
void native_join(struct native_reading *r, struct join row, yaml_ref at)
{
    if (!builder_join(r->b, row, yaml_line(&r->file.y, at)))
        builder_warn(
            r->b, yaml_line(&r->file.y, at),
            "%u tasks join when %u others are done; that are too many edges for a plan, in "
            "which they may start before",
            row.count, row.nby);
}

static bool tell_entry(struct native_reading *r, const struct native_joining *x)
{
    const struct yaml *y = &r->file.y;
    bool *named = mem_new_zero(bool, r->lists.at.n + 1);
    native_lists_named(r, yaml_value(x->key), named);
    for (uint32_t i = 0; i < r->lists.at.n; i++) {
        if (!named[i] || !r->lists.at.at[i].later)
            continue;
        struct task_group by = named_tasks(r, lists_after(&r->lists, &r->file, i));
        if (by.first < x->first + x->count && x->first < by.first + by.count) {
            free(named);
            return native_error(&r->file, x->key,
                                "'%.80s' runs through list '%.80s', which is read when it is done: "
                                "a cycle",
                                yaml_text(y, x->key, NULL),
                                lists_name(&r->lists, r->lists.at.at[i].name));
        }
        native_join(r, (struct join){x->first, x->count, by.first, by.count}, x->key);
    }
    free(named);
    if (native_is_joined(r, x->key)) {
        struct task_group by = named_tasks(r, native_joined_after(r, x->key));
        native_join(r, (struct join){x->first, x->count, by.first, by.count}, x->key);
    }
    return true;
}

bool native_tell_joins(struct native_reading *r)
{
    bool good = !r->lists.later || native_check_deciders(r, native_tasks(r));
    for (size_t i = 0; i < r->joining.n && good; i++)
        good = tell_entry(r, &r->joining.at[i]);
    for (size_t i = 0; i < r->modules.n && good; i++)
        good = native_tell_joins(r->modules.at[i]);
    return good;
}
