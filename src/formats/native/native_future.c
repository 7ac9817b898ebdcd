/* The future of a native file: its reading, kept while the workflow runs. When the task that a list is
 * read after is done, the list is read, and what became known by that is built as a part, with the same
 * functions that read the file the first time. Nothing of what was read before is read again.
 *
 *     top ── lists, files, rounds that are pending
 *      ├─ module that grows still ── its own          r->open: the way down; a module that is all
 *      │     └─ module of it ── ...                   known is left out, so that growing costs
 *      └─ module that does not                        what grows, whatever is there
 *
 * I1. Numbers of tasks in groups and chains are the workflow's outside of native_future_expand(); those
 *     of what is being built are the part's, until native_settle().
 * I2. An entry of a file is made once; a module goes on by its own entries, and its tasks of each part
 *     stand beside each other. */
#include "formats/native/native_reading.h"

#include <string.h>

static struct native_future *future_of(struct future *f)
{
    return (struct native_future *)f;
}

static void native_future_discard(struct future *base)
{
    struct native_future *f = future_of(base);
    native_free_reading(&f->r);
    shared_free(&f->shared);
    for (struct option_value *g = f->given; g && g->name; g++) {
        free((char *)g->name);
        free((char *)g->text);
    }
    free(f->given);
    free(f);
}

/* Does a task of the file wait for it? A list that nobody uses is not read. */
static bool is_awaited(const struct native_reading *r, uint32_t list)
{
    for (size_t i = 0; i < r->entry.n; i++)
        if (r->entry.at[i] == ENTRY_LATER && r->waits_for.at[i] == list)
            return true;
    return false;
}

/* What is read when tasks are done. */
struct pending {
    struct native_reading *r;   /* the file, or a module, that it belongs to */
    uint32_t waits;             /* as its waits_for has it */
    struct native_chain *chain; /* whose next round it is; NULL: a list or a file */
};
struct pending_list {
    struct pending *at;
    size_t n, cap;
};

/* The key of a task by its number in the file. */
static yaml_ref entry_key(const struct native_reading *r, size_t entry)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r), k = yaml_first(y, tasks);
    while (entry--)
        k = yaml_next(y, tasks, k);
    return k;
}

static uint32_t entry_number(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r);
    uint32_t entry = 0;
    for (yaml_ref k = yaml_first(y, tasks); k != key; k = yaml_next(y, tasks, k))
        entry++;
    return entry;
}

/* Everything that is pending: lists, files, rounds; then those of modules. The caller frees it with
 * array_free(). */
static void find_pending(struct native_reading *r, struct pending_list *out)
{
    for (uint32_t list = 0; list < r->lists.at.n; list++)
        if (r->lists.at.at[list].pending && is_awaited(r, list))
            array_push(out, (struct pending){r, list, NULL});
    for (size_t entry = 0; entry < r->entry.n; entry++)
        if (r->entry.at[entry] == ENTRY_LATER && r->waits_for.at[entry] == WAITS_FOR_ENTRY(entry))
            array_push(out, (struct pending){r, WAITS_FOR_ENTRY(entry), NULL});
    for (size_t i = 0; i < r->chains.n; i++)
        if (!r->chains.at[i]->over)
            array_push(out,
                       (struct pending){r, WAITS_FOR_ENTRY(entry_number(r, r->chains.at[i]->key)),
                                        r->chains.at[i]});
    for (size_t i = 0; i < r->open.n; i++)
        find_pending(r->modules.at[r->open.at[i]], out);
}

static size_t native_future_items(struct future *base)
{
    struct pending_list all = {0};
    find_pending(&future_of(base)->r, &all);
    size_t n = all.n;
    array_free(&all);
    return n;
}

/* Of a sub-workflow that grows itself: when nothing of it is to come, all that it has. */
static struct future_item chain_item(struct native_future *f, struct native_reading *r,
                                     const struct native_chain *c)
{
    struct strbuf title = {0};
    struct task_group range = {c->first, c->count};
    native_round_title(c, c->round, &title);
    if (native_is_flow(r, c->key)) {
        const struct task_group *g = native_find_group(r, title.at, title.n);
        range = g ? native_group_hull(r, g) : range;
        if (native_is_open(r->modules.at[c->module]))
            range.count = 0;
    }
    snprintf(f->text, sizeof f->text, "rounds of '%s%.60s', asked when '%s%.60s' is done",
             native_prefix(r), c->name, native_prefix(r), title.at);
    strbuf_free(&title);
    return (struct future_item){.name = f->text,
                                .first = range.first,
                                .count = range.count,
                                .last_time = c->last_time,
                                .by_ended = true};
}

/* The tasks of this name, or all of a family or a module that does not grow any more. */
static struct task_group find_deciders(struct native_future *f, struct native_reading *r,
                                       const char *after)
{
    const struct task_group *group = native_find_group(r, after, strlen(after));
    struct strbuf full = {0};
    strbuf_printf(&full, "%s%s", native_prefix(r), after);
    uint32_t task = workflow_find_task(f->w, full.at);
    strbuf_free(&full);
    for (size_t i = 0; i < r->open.n; i++)
        if (strcmp(r->modules.at[r->open.at[i]]->module->name, after) == 0 ||
            strcmp(r->modules.at[r->open.at[i]]->module->title, after) == 0)
            return (struct task_group){0, 0};
    return group ? native_group_hull(r, group) : (struct task_group){task, task != NONE};
}

/* A task by its name, or all members of a family. */
static struct future_item native_future_item(struct future *base, size_t i)
{
    struct native_future *f = future_of(base);
    struct pending_list all = {0};
    find_pending(&f->r, &all);
    struct pending p = all.at[i];
    struct native_reading *r = p.r;
    array_free(&all);
    if (p.chain)
        return chain_item(f, r, p.chain);
    bool is_list = p.waits < r->lists.at.n;
    yaml_ref key = is_list ? YAML_NONE : entry_key(r, WAITS_FOR_ENTRY(p.waits));
    const char *after =
        is_list ? lists_after(&r->lists, &r->file, p.waits) : native_joined_after(r, key);
    struct task_group deciders = find_deciders(f, r, after);
    snprintf(f->text, sizeof f->text, "%s '%s%.60s', read when '%s%.60s' is done",
             is_list ? "list" : "file", native_prefix(r),
             is_list ? lists_name(&r->lists, r->lists.at.at[p.waits].name)
                     : yaml_text(&r->file.y, yaml_get(&r->file.y, yaml_value(key), "tasks"), NULL),
             native_prefix(r), after);
    char *place = is_list ? native_list_place(r, p.waits) : NULL;
    struct future_item item = {
        .name = f->text,
        .first = deciders.first,
        .count = deciders.count,
        .last_time =
            is_list ? lists_count_pending(&r->lists, &r->file, p.waits, f->r.folder, place) : 0,
    };
    free(place);
    return item;
}

/* What was read now is made. Modules that do not grow any more are not looked at again. */
static void settle_reading(struct native_reading *r, uint32_t offset)
{
    native_note_open(r);
    r->first_family = (uint32_t)r->families.n;
    r->first_module = (uint32_t)r->modules.n;
    r->continued.n = 0;
    for (size_t i = 0; i < r->entry.n; i++) {
        if (r->entry.at[i] == ENTRY_NOW)
            r->entry.at[i] = ENTRY_MADE;
        r->pass.at[i] = 0;
    }
    for (size_t i = 0; i < r->chains.n; i++) {
        struct native_chain *c = r->chains.at[i];
        c->first += c->settled == c->round ? 0 : offset;
        c->settled = c->round;
    }
    size_t open = 0;
    for (size_t i = 0; i < r->open.n; i++) {
        struct native_reading *child = r->modules.at[r->open.at[i]];
        settle_reading(child, offset);
        if (native_is_open(child))
            r->open.at[open++] = r->open.at[i];
    }
    r->open.n = open;
}

/* Groups have the numbers that the workflow will have. */
static void native_settle(struct native_reading *r, uint32_t offset)
{
    struct native_shared *s = r->shared;
    for (size_t i = s->first_group; i < s->groups.n; i++)
        s->groups.at[i].first += offset;
    for (size_t i = s->first_more; i < s->more_groups.n; i++)
        s->more_groups.at[i].range.first += offset;
    s->first_group = (uint32_t)s->groups.n;
    s->first_more = (uint32_t)s->more_groups.n;
    settle_reading(r, offset);
}

/* The tasks that are known now, into a builder of their own. */
static bool native_read_part(struct native_future *f, const struct workflow *w,
                             struct future_part *out)
{
    struct native_reading *r = &f->r;
    r->b = builder_new(r->file.y.file, "native");
    for (size_t i = 0; i < f->shared.sources.n; i++)
        builder_source(r->b, f->shared.sources.at[i]->y.file, f->shared.sources.at[i]->y.base);
    builder_home(r->b, r->is_file ? r->folder : NULL);
    native_keep_parameters(r);
    f->shared.base = w;
    f->shared.part = out;
    bool good = native_make_tasks(r);
    if (good) {
        native_note_left_out(r);
        good = native_read_bodies(r);
    }
    f->shared.base = NULL;
    f->shared.part = NULL;
    return good;
}

/* The tasks of a file, read by themselves: what that reads is noted. What is wrong with them is said when
 * they join. */
static void look_at_workflow(const struct native_reading *r, const char *path, struct outside *into)
{
    struct text text;
    struct error ignored = {0};
    if (outside_read(into, path, &text, &ignored)) {
        workflow_free(native_read_workflow(&(struct format_source){.path = path,
                                                                   .text = text.at,
                                                                   .length = text.n,
                                                                   .folder = r->folder,
                                                                   .outside = into},
                                           &ignored));
        text_free(&text);
    }
}

/* Of the file and its modules: other files are read through it; NULL: from the disk. */
static void set_outside(struct native_reading *r, struct outside *o)
{
    r->file.outside = o;
    for (size_t i = 0; i < r->open.n; i++)
        set_outside(r->modules.at[r->open.at[i]], o);
}

static void native_future_look(struct future *base, const bool *ready, struct outside *into)
{
    struct native_future *f = future_of(base);
    struct pending_list all = {0};
    into->folder = f->r.folder;
    set_outside(&f->r, into);
    find_pending(&f->r, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct error ignored = {0};
        bool holds;
        struct native_reading *r = all.at[i].r;
        const struct native_chain *c = all.at[i].chain;
        if (!ready[i])
            continue;
        if (c) {
            native_round_holds(r, c, c->round, c->condition, &holds, &ignored);
            if (native_is_flow(r, c->key)) /* the next round reads it again */
                look_at_workflow(r, r->modules.at[c->module]->file.y.file, into);
        } else if (all.at[i].waits < r->lists.at.n) {
            char *place = native_list_place(r, all.at[i].waits);
            lists_count_pending(&r->lists, &r->file, all.at[i].waits, f->r.folder, place);
            free(place);
        } else {
            char *path = native_joined_path(r, entry_key(r, WAITS_FOR_ENTRY(all.at[i].waits)));
            look_at_workflow(r, path, into);
            free(path);
        }
    }
    array_free(&all);
    set_outside(&f->r, NULL);
}

/* The tasks that decide are done. */
static bool release_pending(struct native_future *f, const struct pending *p)
{
    struct native_reading *r = p->r;
    bool good = true;
    r->file.err = f->r.file.err;
    if (p->chain) {
        native_decide_rounds(r, p->chain);
    } else if (p->waits < r->lists.at.n) {
        char *place = native_list_place(r, p->waits);
        good = lists_read_pending(&r->lists, &r->file, p->waits, f->r.folder, place);
        free(place);
    } else {
        r->released.at[WAITS_FOR_ENTRY(p->waits)] = true;
    }
    return good;
}

static bool native_future_expand(struct future *base, const struct workflow *w, const bool *ready,
                                 struct outside *from, struct future_part *out, struct error *err)
{
    struct native_future *f = future_of(base);
    struct native_reading *r = &f->r;
    struct pending_list all = {0};
    bool good = true;
    *out = (struct future_part){0};
    r->file.err = r->params.err = err;
    set_outside(r, from);
    find_pending(r, &all); /* reading one changes the numbers of the others */
    for (size_t i = 0; i < all.n && good; i++)
        if (ready[i])
            good = release_pending(f, &all.at[i]);
    array_free(&all);
    good = good && native_read_part(f, w, out);
    set_outside(r, NULL);
    if (!good) {
        const struct error *first = r->b ? builder_first_error(r->b) : NULL;
        if (err->kind == ERROR_NONE && first)
            error_set(err, first->kind, "%s", first->text);
        builder_free(r->b);
        r->b = NULL;
        future_part_free(out);
        return false;
    }
    native_settle(r, w->ntasks);
    if (builder_task_count(r->b) || builder_failed(r->b)) {
        out->workflow = builder_finish(r->b, err);
        r->b = NULL;
        return out->workflow != NULL;
    }
    builder_free(r->b);
    r->b = NULL;
    return true;
}

/* ---- what is not known ---- */

/* Is something of the entry not known? Its rounds may be, or itself. */
static bool is_unknown(const struct native_reading *r, size_t entry, yaml_ref key)
{
    return native_entry_of(r, entry) == ENTRY_LATER ||
           (native_is_repeated(r, key) && native_has_rounds(r, key));
}

/* The first item that an entry waits for: its own, or one of the module whose end it waits for. */
static size_t item_of(const struct pending_list *all, const struct native_reading *r, size_t entry)
{
    uint32_t waits =
        native_entry_of(r, entry) == ENTRY_LATER ? r->waits_for.at[entry] : WAITS_FOR_ENTRY(entry);
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].r == r && all->at[i].waits == waits)
            return i;
    for (size_t i = 0; i < all->n; i++)
        for (const struct native_reading *x = all->at[i].r; x->module; x = x->module->parent)
            if (x->module->parent == r)
                return i;
    return 0;
}

struct unknown_walk {
    const struct pending_list *all;
    size_t left, *item; /* left: entries to pass over */
    struct native_future *f;
};

/* The name of the entry, in f->unknown; NULL: it is not among these. */
static const char *walk_unknown(struct unknown_walk *walk, struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r);
    size_t entry = 0;
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k), entry++)
        if (is_unknown(r, entry, k) && walk->left-- == 0) {
            *walk->item = item_of(walk->all, r, entry);
            snprintf(walk->f->unknown, sizeof walk->f->unknown, "%s%.120s", native_prefix(r),
                     yaml_text(y, k, NULL));
            return walk->f->unknown;
        }
    for (; entry < r->entry.n; entry++) /* what it includes */
        if (r->entry.at[entry] == ENTRY_LATER && walk->left-- == 0) {
            yaml_ref includes = native_includes(r), k = yaml_first(y, includes);
            for (size_t i = tasks == YAML_NONE ? 0 : yaml_size(y, tasks); i < entry; i++)
                k = yaml_next(y, includes, k);
            *walk->item = item_of(walk->all, r, entry);
            snprintf(walk->f->unknown, sizeof walk->f->unknown, "%s%.120s", native_prefix(r),
                     yaml_text(y, k, NULL));
            return walk->f->unknown;
        }
    for (size_t i = 0; i < r->open.n; i++) {
        const char *name = walk_unknown(walk, r->modules.at[r->open.at[i]]);
        if (name)
            return name;
    }
    return NULL;
}

static const char *native_future_unknown(struct future *base, size_t i, size_t *item)
{
    struct native_future *f = future_of(base);
    struct pending_list all = {0};
    find_pending(&f->r, &all);
    struct unknown_walk walk = {&all, i, item, f};
    const char *name = walk_unknown(&walk, &f->r);
    array_free(&all);
    return name;
}

/* Could a file of the task at `body` have this name? */
static bool output_may_be(const struct native_reading *r, yaml_ref body, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref out = yaml_type(y, body) == YAML_MAPPING ? yaml_get(y, body, "out") : YAML_NONE;
    struct strbuf outer = {0};
    bool meets = false;
    for (yaml_ref o = out; out != YAML_NONE && o < y->at[out].next && !meets; o++) {
        if (yaml_type(y, o) != YAML_SCALAR)
            continue;
        const char *text = yaml_text(y, o, NULL);
        native_outer_name(r, NULL, text, strlen(text), &outer);
        meets = native_may_meet(outer.at, name);
    }
    strbuf_free(&outer);
    return meets;
}

/* By its name, as a member of a family, or by a file that it makes. */
static bool reading_may_make(const struct native_reading *r, const char *name)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r);
    size_t entry = 0, prefix = strlen(native_prefix(r));
    bool inside = strncmp(name, native_prefix(r), prefix) == 0;
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks); k != YAML_NONE;
         k = yaml_next(y, tasks, k), entry++) {
        size_t length;
        const char *task = yaml_text(y, k, &length);
        if (!is_unknown(r, entry, k))
            continue;
        if (inside && strncmp(name + prefix, task, length) == 0 &&
            (!name[prefix + length] || strchr("@/", name[prefix + length])))
            return true;
        if (output_may_be(r, yaml_value(k), name))
            return true;
    }
    for (size_t i = 0; i < r->open.n; i++) {
        const struct native_reading *child = r->modules.at[r->open.at[i]];
        size_t length = strlen(child->module->prefix) - 1;
        if ((strncmp(name, child->module->prefix, length) == 0 && !name[length]) ||
            reading_may_make(child, name))
            return true;
    }
    for (; entry < r->entry.n; entry++) /* a module whose names nobody knows yet */
        if (r->entry.at[entry] == ENTRY_LATER)
            return true;
    return false;
}

static bool native_future_may_make(struct future *base, const char *name)
{
    return reading_may_make(&future_of(base)->r, name);
}

static bool native_future_may_read(struct future *base, const char *name)
{
    return native_may_read(&future_of(base)->r, name);
}

/* A name or a list of them: what stands in it one after the other. */
static const char *nth_scalar(const struct yaml *y, yaml_ref v, size_t *i)
{
    for (yaml_ref o = v; v != YAML_NONE && o < y->at[v].next; o++)
        if (yaml_type(y, o) == YAML_SCALAR && (*i)-- == 0)
            return yaml_text(y, o, NULL);
    return NULL;
}

/* Also of the modules in which something is not known yet. */
static const char *reading_secret(const struct native_reading *r, size_t *i)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    size_t entry = 0;
    const char *name = nth_scalar(y, yaml_get(y, yaml_get(y, 0, "defaults"), "secret"), i);
    for (yaml_ref k = tasks == YAML_NONE ? YAML_NONE : yaml_first(y, tasks);
         k != YAML_NONE && !name; k = yaml_next(y, tasks, k), entry++)
        if (is_unknown(r, entry, k) && yaml_type(y, yaml_value(k)) == YAML_MAPPING)
            name = nth_scalar(y, yaml_get(y, yaml_value(k), "secret"), i);
    for (size_t m = 0; m < r->open.n && !name; m++)
        name = reading_secret(r->modules.at[r->open.at[m]], i);
    return name;
}

static const char *native_future_secret(struct future *base, size_t i)
{
    return reading_secret(&future_of(base)->r, &i);
}

static const struct future_ops native_future_ops = {
    .discard = native_future_discard,
    .items = native_future_items,
    .item = native_future_item,
    .expand = native_future_expand,
    .look = native_future_look,
    .unknown = native_future_unknown,
    .may_make = native_future_may_make,
    .may_read = native_future_may_read,
    .secret = native_future_secret,
};

static struct option_value *copy_given(const struct option_value *given)
{
    size_t n = 0;
    while (given && given[n].name)
        n++;
    struct option_value *copy = mem_new_zero(struct option_value, n + 1);
    for (size_t i = 0; i < n; i++) {
        copy[i].name = mem_copy_string(given[i].name);
        copy[i].text = mem_copy_string(given[i].text);
    }
    return copy;
}

/* Values that were given stand in scopes by address: of our copies from now on. */
static void keep_given(struct native_future *f, struct native_reading *r,
                       const struct option_value *given)
{
    for (size_t i = 0; i < r->scope.parameters.n; i++)
        for (size_t g = 0; f->given[g].name; g++)
            if (r->scope.parameters.at[i].value == given[g].text)
                r->scope.parameters.at[i].value = f->given[g].text;
    r->given.at = f->given;
    for (size_t i = 0; i < r->modules.n; i++)
        keep_given(f, r->modules.at[i], given);
}

struct workflow *native_begin_future(struct native_future *f, struct error *err)
{
    struct native_reading *r = &f->r;
    f->base.ops = &native_future_ops;
    f->given = copy_given(r->given.at);
    f->w = builder_finish(r->b, err);
    r->b = NULL;
    keep_given(f, r, r->given.at);
    native_settle(r, 0);
    set_outside(r, NULL);
    if (f->w) {
        f->w->future = &f->base;
        return f->w;
    }
    native_future_discard(&f->base);
    return NULL;
}

/* Nobody is to plan half a workflow without knowing. */
void native_tell_unknown(struct native_reading *r)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = native_tasks(r);
    for (size_t i = 0; i < r->open.n; i++)
        native_tell_unknown(r->modules.at[r->open.at[i]]);
    if (tasks == YAML_NONE)
        return;
    for (uint32_t i = 0; i < r->lists.at.n; i++) {
        const struct list *l = &r->lists.at.at[i];
        struct strbuf names = {0};
        size_t entry = 0, count = 0;
        if (!l->pending)
            continue;
        for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k), entry++)
            if (native_entry_of(r, entry) == ENTRY_LATER && r->waits_for.at[entry] == i &&
                count++ < 10)
                strbuf_printf(&names, "%s'%.80s'", count > 1 ? ", " : "", yaml_text(y, k, NULL));
        builder_warn(r->b, l->line,
                     "list '%.80s' is" FORMAT_NOT_KNOWN "'%.80s' has run: %s%s %s left out here; "
                     "--assume %s%.80s=20 takes 20 values of it",
                     lists_name(&r->lists, l->name), lists_after(&r->lists, &r->file, i),
                     strbuf_text(&names), count > 10 ? " and others" : "",
                     count == 1 ? "is" : "are", native_kinds(r), lists_name(&r->lists, l->name));
        strbuf_free(&names);
    }
    for (size_t entry = 0; entry < r->entry.n; entry++)
        if (r->entry.at[entry] == ENTRY_LATER && r->waits_for.at[entry] == WAITS_FOR_ENTRY(entry)) {
            yaml_ref k = entry_key(r, entry);
            builder_warn(
                r->b, yaml_line(y, k),
                "the tasks of '%.80s' are" FORMAT_NOT_KNOWN "'%.80s' has run, and what comes "
                "after them: they are left out here; --assume %s%.80s=FILE takes those of FILE",
                yaml_text(y, k, NULL), native_joined_after(r, k), native_kinds(r),
                yaml_text(y, k, NULL));
        }
}
