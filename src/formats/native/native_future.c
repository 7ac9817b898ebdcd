/* The future of a native file: its reading, kept while the workflow runs. When the task that a list is
 * read after is done, the list is read, and what became known by that is built as a part, with the same
 * functions that read the file the first time. Nothing of what was read before is read again. */
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
    uint32_t waits;             /* as waits_for has it */
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
    yaml_ref tasks = yaml_get(y, 0, "tasks"), k = yaml_first(y, tasks);
    while (entry--)
        k = yaml_next(y, tasks, k);
    return k;
}

static uint32_t entry_number(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    uint32_t entry = 0;
    for (yaml_ref k = yaml_first(y, tasks); k != key; k = yaml_next(y, tasks, k))
        entry++;
    return entry;
}

/* Everything that is pending: lists, files, rounds. The caller frees with array_free(). */
static void find_pending(const struct native_reading *r, struct pending_list *out)
{
    for (uint32_t list = 0; list < r->lists.at.n; list++)
        if (r->lists.at.at[list].pending && is_awaited(r, list))
            array_push(out, (struct pending){list, NULL});
    for (size_t entry = 0; entry < r->entry.n; entry++)
        if (r->entry.at[entry] == ENTRY_LATER && r->waits_for.at[entry] == WAITS_FOR_ENTRY(entry))
            array_push(out, (struct pending){WAITS_FOR_ENTRY(entry), NULL});
    for (size_t i = 0; i < r->chains.n; i++)
        if (!r->chains.at[i]->over)
            array_push(out, (struct pending){WAITS_FOR_ENTRY(entry_number(r, r->chains.at[i]->key)),
                                             r->chains.at[i]});
}

static size_t native_future_items(struct future *base)
{
    struct pending_list all = {0};
    find_pending(&future_of(base)->r, &all);
    size_t n = all.n;
    array_free(&all);
    return n;
}

static struct future_item chain_item(struct native_future *f, const struct native_chain *c)
{
    struct strbuf title = {0};
    native_round_title(c, c->round, &title);
    snprintf(f->text, sizeof f->text, "rounds of '%.60s', asked when '%.60s' is done", c->name,
             title.at);
    strbuf_free(&title);
    return (struct future_item){
        .name = f->text, .first = c->first, .count = c->count, .last_time = c->last_time};
}

/* A task by its name, or all members of a family. */
static struct future_item native_future_item(struct future *base, size_t i)
{
    struct native_future *f = future_of(base);
    struct native_reading *r = &f->r;
    struct pending_list all = {0};
    find_pending(r, &all);
    uint32_t list = all.at[i].waits;
    const struct native_chain *chain = all.at[i].chain;
    array_free(&all);
    if (chain)
        return chain_item(f, chain);
    bool is_list = list < r->lists.at.n;
    yaml_ref key = is_list ? YAML_NONE : entry_key(r, WAITS_FOR_ENTRY(list));
    const char *after =
        is_list ? lists_after(&r->lists, &r->file, list) : native_joined_after(r, key);
    const struct task_group *group = native_find_group(r, after, strlen(after));
    uint32_t task = workflow_find_task(f->w, after);
    snprintf(f->text, sizeof f->text, "%s '%.60s', read when '%.60s' is done",
             is_list ? "list" : "file",
             is_list ? lists_name(&r->lists, r->lists.at.at[list].name)
                     : yaml_text(&r->file.y, yaml_get(&r->file.y, yaml_value(key), "tasks"), NULL),
             after);
    return (struct future_item){
        .name = f->text,
        .first = group ? group->first : task,
        .count = group ? group->count : task != NONE,
        .last_time = is_list ? lists_count_pending(&r->lists, &r->file, list, r->folder) : 0,
    };
}

/* What was read now is made; groups have the numbers that the workflow will have. */
static void native_settle(struct native_reading *r, uint32_t offset)
{
    struct native_shared *s = r->shared;
    for (size_t i = s->first_group; i < s->groups.n; i++)
        s->groups.at[i].first += offset;
    s->first_group = (uint32_t)s->groups.n;
    r->first_family = (uint32_t)r->families.n;
    r->first_module = (uint32_t)r->modules.n;
    for (size_t i = 0; i < r->entry.n; i++)
        if (r->entry.at[i] == ENTRY_NOW)
            r->entry.at[i] = ENTRY_MADE;
    for (size_t i = 0; i < r->chains.n; i++) {
        struct native_chain *c = r->chains.at[i];
        c->first += c->settled == c->round ? 0 : offset;
        c->settled = c->round;
    }
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

/* The tasks of a file that joins, read by themselves: what that reads is noted. What is wrong with them
 * is said when they join. */
static void look_at_joined(struct native_reading *r, size_t entry, struct outside *into)
{
    yaml_ref file = yaml_get(&r->file.y, yaml_value(entry_key(r, entry)), "tasks");
    struct strbuf path = {0};
    struct text text;
    struct error ignored = {0};
    path_in(r->beside, yaml_text(&r->file.y, file, NULL), &path);
    if (outside_read(into, path.at, &text, &ignored)) {
        workflow_free(native_read_workflow(&(struct format_source){.path = path.at,
                                                                   .text = text.at,
                                                                   .length = text.n,
                                                                   .folder = r->folder,
                                                                   .outside = into},
                                           &ignored));
        text_free(&text);
    }
    strbuf_free(&path);
}

static void native_future_look(struct future *base, const bool *ready, struct outside *into)
{
    struct native_reading *r = &future_of(base)->r;
    struct pending_list all = {0};
    into->folder = r->folder;
    r->file.outside = into;
    find_pending(r, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct error ignored = {0};
        bool holds;
        const struct native_chain *c = all.at[i].chain;
        if (!ready[i])
            continue;
        if (c)
            native_round_holds(r, c, c->round, c->condition, &holds, &ignored);
        else if (all.at[i].waits < r->lists.at.n)
            lists_count_pending(&r->lists, &r->file, all.at[i].waits, r->folder);
        else
            look_at_joined(r, WAITS_FOR_ENTRY(all.at[i].waits), into);
    }
    array_free(&all);
    r->file.outside = NULL;
    into->folder = NULL;
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
    r->file.outside = from;
    find_pending(r, &all); /* reading one changes the numbers of the others */
    for (size_t i = 0; i < all.n && good; i++) {
        uint32_t list = all.at[i].waits;
        if (!ready[i])
            continue;
        if (all.at[i].chain)
            native_decide_rounds(r, all.at[i].chain);
        else if (list < r->lists.at.n)
            good = lists_read_pending(&r->lists, &r->file, list, r->folder);
        else
            r->released.at[WAITS_FOR_ENTRY(list)] = true;
    }
    array_free(&all);
    good = good && native_read_part(f, w, out);
    r->file.outside = NULL;
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

/* Is something of the entry not known? Its rounds may be, or itself. */
static bool is_unknown(const struct native_reading *r, size_t entry, yaml_ref key)
{
    return native_entry_of(r, entry) == ENTRY_LATER ||
           (native_is_repeated(r, key) && native_goes_on(r, key));
}

static const char *native_future_unknown(struct future *base, size_t i, size_t *item)
{
    const struct native_reading *r = &future_of(base)->r;
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    struct pending_list all = {0};
    size_t entry = 0;
    find_pending(r, &all);
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k), entry++)
        if (is_unknown(r, entry, k) && i-- == 0) {
            uint32_t waits = native_entry_of(r, entry) == ENTRY_LATER ? r->waits_for.at[entry]
                                                                      : WAITS_FOR_ENTRY(entry);
            *item = 0;
            while (*item < all.n && all.at[*item].waits != waits)
                ++*item;
            array_free(&all);
            return yaml_text(y, k, NULL);
        }
    array_free(&all);
    return NULL;
}

/* By its name, as a member of a family, or by a file that it makes. */
static bool native_future_may_make(struct future *base, const char *name)
{
    const struct native_reading *r = &future_of(base)->r;
    const struct yaml *y = &r->file.y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    size_t entry = 0;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE; k = yaml_next(y, tasks, k), entry++) {
        if (!is_unknown(r, entry, k))
            continue;
        size_t length;
        const char *task = yaml_text(y, k, &length);
        yaml_ref out = yaml_get(y, yaml_value(k), "out");
        if (strncmp(name, task, length) == 0 && (!name[length] || name[length] == '@'))
            return true;
        for (yaml_ref o = out; out != YAML_NONE && o < y->at[out].next; o++)
            if (yaml_type(y, o) == YAML_SCALAR && native_may_meet(yaml_text(y, o, NULL), name))
                return true;
    }
    return false;
}

static const struct future_ops native_future_ops = {
    .discard = native_future_discard,
    .items = native_future_items,
    .item = native_future_item,
    .expand = native_future_expand,
    .look = native_future_look,
    .unknown = native_future_unknown,
    .may_make = native_future_may_make,
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

struct workflow *native_begin_future(struct native_future *f, struct error *err)
{
    struct native_reading *r = &f->r;
    f->base.ops = &native_future_ops;
    f->given = copy_given(r->given.at);
    f->w = builder_finish(r->b, err);
    r->b = NULL;
    /* values that were given stand in the scope by address: of our copies from now on */
    for (size_t i = 0; i < r->scope.parameters.n; i++)
        for (size_t g = 0; f->given[g].name; g++)
            if (r->scope.parameters.at[i].value == r->given.at[g].text)
                r->scope.parameters.at[i].value = f->given[g].text;
    r->given.at = f->given;
    r->file.outside = NULL;
    native_settle(r, 0);
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
    yaml_ref tasks = yaml_get(y, 0, "tasks");
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
                     "list '%.80s' is not known before '%.80s' has run: %s%s %s left out here",
                     lists_name(&r->lists, l->name), lists_after(&r->lists, &r->file, i),
                     strbuf_text(&names), count > 10 ? " and others" : "",
                     count == 1 ? "is" : "are");
        strbuf_free(&names);
    }
    for (size_t entry = 0; entry < r->entry.n; entry++)
        if (r->entry.at[entry] == ENTRY_LATER && r->waits_for.at[entry] == WAITS_FOR_ENTRY(entry)) {
            yaml_ref k = entry_key(r, entry);
            builder_warn(
                r->b, yaml_line(y, k),
                "the tasks of '%.80s' are not known before '%.80s' has run, and what comes "
                "after them: they are left out here",
                yaml_text(y, k, NULL), native_joined_after(r, k));
        }
}
