/* Families: which members a task with `each` stands for, and how they are named. See family.h. A member costs
 * reading its task once more. */
#include "formats/native/family.h"
#include "base/suggest.h"

#include <string.h>

/* The axis of this list, made if it has none yet. */
static struct family_axis *axis_of(struct family *f, uint32_t list)
{
    for (size_t i = 0; i < f->axes.n; i++)
        if (f->axes.at[i].list == list)
            return &f->axes.at[i];
    struct family_axis *a = array_add(&f->axes);
    a->list = list;
    return a;
}

/* False: it varies already. */
static bool add_varying(struct family *f, const struct lists *l, uint32_t list, uint32_t column,
                        bool named)
{
    struct family_axis *a = axis_of(f, list);
    column_set bit = (column_set)1 << column;
    bool fresh = !(a->columns & bit);
    if (named && !(a->named & bit)) {
        a->named |= bit;
        array_push(&f->order, l->at.at[list].first + column);
    }
    a->columns |= bit;
    return fresh;
}

/* Always false. */
static bool unknown_list(const struct lists *l, const struct native *n, yaml_ref v,
                         const char *name)
{
    const char **names = mem_new(const char *, l->at.n + l->variables.n + 1);
    size_t count = 0;
    for (size_t i = 0; i < l->at.n; i++)
        names[count++] = lists_name(l, l->at.at[i].name);
    for (size_t i = 0; i < l->variables.n; i++)
        names[count++] = lists_name(l, l->variables.at[i].name);
    const char *near = suggest_nearest(name, names, count);
    native_error(n, v, "each names '%.80s', which is no list and no variable of one%s%s%s", name,
                 near      ? "; did you mean '"
                 : l->at.n ? ""
                           : "; the file has no `lists`",
                 near ? near : "", near ? "'?" : "");
    free(names);
    return false;
}

static bool read_each_entry(struct family *f, struct lists *l, const struct native *n, yaml_ref v)
{
    const char *name;
    size_t length;
    if (!native_text(n, v, "each", &name, &length))
        return false;
    uint32_t variable = lists_find_variable(l, name, length);
    if (variable != UINT32_MAX) {
        const struct variable *x = &l->variables.at[variable];
        return add_varying(f, l, x->list, x->column, true) ||
               native_error(n, v, "each names '%.80s' twice", name);
    }
    uint32_t list = lists_find_list(l, name, length);
    if (list == UINT32_MAX)
        return unknown_list(l, n, v, name);
    const struct list *x = &l->at.at[list];
    bool fresh = false;
    for (uint32_t c = 0; c < x->ncolumns; c++)
        fresh |= add_varying(f, l, list, c, x->telling >> c & 1);
    return fresh || native_error(n, v, "each names '%.80s' twice", name);
}

/* Always false: `except` names a value that the variable does not have. */
static bool never_that_value(const struct lists *l, const struct list *list,
                             const struct variable *x, const struct native *n, yaml_ref at,
                             const char *value)
{
    const char **values = mem_new(const char *, list->nrows);
    for (uint32_t row = 0; row < list->nrows; row++)
        values[row] = lists_value(l, list_cell(list, row, x->column));
    const char *near = suggest_nearest(value, values, list->nrows);
    native_error(n, at, "except names {%s} '%.80s', which it never is%s%.80s%s",
                 lists_name(l, x->name), value, near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    free(values);
    return false;
}

/* {std: c99, test: sum}: every condition of a row must hold. */
static bool read_exception(struct family *f, const struct lists *l, const struct native *n,
                           yaml_ref v)
{
    if (!native_is_mapping(n, v, "an entry of except"))
        return false;
    if (yaml_first(&n->y, v) == YAML_NONE)
        return native_error(n, v, "an entry of except is empty; it would leave out everything");
    for (yaml_ref k = yaml_first(&n->y, v); k != YAML_NONE;) {
        size_t length, value_length;
        const char *name = yaml_text(&n->y, k, &length), *value;
        uint32_t variable = lists_find_variable(l, name, length), number = UINT32_MAX;
        const struct variable *x = variable == UINT32_MAX ? NULL : &l->variables.at[variable];
        bool varies = false;
        for (size_t i = 0; x && i < f->axes.n; i++)
            varies |= f->axes.at[i].list == x->list && f->axes.at[i].columns >> x->column & 1;
        if (!varies)
            return native_error(n, k, "except names '%.80s', which is not in the task's each",
                                name);
        if (!native_text(n, yaml_value(k), "a value of except", &value, &value_length))
            return false;
        number = intern_find(&l->values, value, value_length);
        bool known = false;
        const struct list *list = &l->at.at[x->list];
        for (uint32_t row = 0; row < list->nrows && !known; row++)
            known = list_cell(list, row, x->column) == number;
        if (!known)
            return never_that_value(l, list, x, n, yaml_value(k), value);
        k = yaml_next(&n->y, v, k);
        array_push(&f->exceptions, (struct family_exception){.list = x->list,
                                                             .row_column = x->column,
                                                             .value = number,
                                                             .more = k != YAML_NONE});
    }
    return true;
}

static bool read_list_of(const struct native *n, yaml_ref v, struct family *f, struct lists *l,
                         bool exceptions)
{
    bool list = yaml_type(&n->y, v) == YAML_SEQUENCE;
    if (list && yaml_first(&n->y, v) == YAML_NONE && !exceptions)
        return native_error(n, v, "each is an empty list");
    for (yaml_ref e = list ? yaml_first(&n->y, v) : v; e != YAML_NONE;
         e = list ? yaml_next(&n->y, v, e) : YAML_NONE)
        if (!(exceptions ? read_exception(f, l, n, e) : read_each_entry(f, l, n, e)))
            return false;
    return true;
}

bool family_read(struct family *f, struct lists *l, const struct native *n, yaml_ref key)
{
    yaml_ref body = yaml_value(key), each = yaml_get(&n->y, body, "each"),
             except = yaml_get(&n->y, body, "except");
    *f = (struct family){.key = key, .combinations = 1};
    if (!read_list_of(n, each, f, l, false))
        return false;
    for (size_t i = 0; i < f->axes.n; i++) {
        struct family_axis *a = &f->axes.at[i];
        a->grouping = lists_group(l, a->list, 0, a->columns);
        f->combinations *= l->groupings.at[a->grouping].off[1];
        if (f->combinations > FAMILY_MOST)
            return native_error(n, each,
                                "each makes more than %d tasks; let one take several of the values",
                                FAMILY_MOST);
    }
    return except == YAML_NONE || yaml_is_null(&n->y, except) ||
           read_list_of(n, except, f, l, true);
}

void family_free(struct family *f)
{
    array_free(&f->axes);
    array_free(&f->order);
    array_free(&f->exceptions);
}

static bool is_exception(const struct family *f, const struct variable_scope *s)
{
    bool holds = true;
    for (size_t i = 0; i < f->exceptions.n; i++) {
        const struct family_exception *x = &f->exceptions.at[i];
        holds &= list_cell(&s->lists->at.at[x->list], s->row[x->list], x->row_column) == x->value;
        if (!x->more) {
            if (holds)
                return true;
            holds = true;
        }
    }
    return false;
}

/* The last axis turns fastest. */
bool family_bind(const struct family *f, struct variable_scope *s, uint64_t i)
{
    for (size_t k = f->axes.n; k--;) {
        const struct family_axis *a = &f->axes.at[k];
        const struct grouping *g = &s->lists->groupings.at[a->grouping];
        s->row[a->list] = g->row[i % g->off[1]];
        s->bound[a->list] = a->columns;
        i /= g->off[1];
    }
    return !is_exception(f, s);
}

void family_unbind(const struct family *f, struct variable_scope *s)
{
    for (size_t k = 0; k < f->axes.n; k++) {
        s->row[f->axes.at[k].list] = UINT32_MAX;
        s->bound[f->axes.at[k].list] = 0;
    }
}

void family_member_name(const struct family *f, const struct variable_scope *s, const char *name,
                        struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_add(out, name);
    for (size_t i = 0; i < f->order.n; i++) {
        const struct variable *v = &s->lists->variables.at[f->order.at[i]];
        strbuf_add_char(out, i ? ',' : '@');
        strbuf_add(out, lists_name(s->lists, v->name));
        strbuf_add_char(out, '=');
        strbuf_add(out, scope_bound_value(s, v));
    }
}
