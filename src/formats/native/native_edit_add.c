/* native_edit.h: tasks from one text to another, with what they need.
 *
 *     from                              to
 *     parameters: sigma: 2     ──▶      parameters: sigma: 1.4, sigma2: 2     another value, another name
 *     tasks: blur: run: ... {sigma}     tasks: blur: ...
 *              out: soft.png                   blur2: run: ... {sigma2}, out: soft2.png
 *
 * Whatever clashes is renamed in `from` first, by the same edits that a person would make there; then its
 * lines are put in as they are. */
#include "formats/native/native_edit.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static yaml_ref member_of(const struct yaml_edit *e, const char *section, const char *name)
{
    struct yaml_path p = {{section, name}, 2};
    return yaml_edit_find(e, &p);
}

/* The lines of a member, as far left as they go, its key first. One that stands in brackets is written anew. */
static void member_lines(const struct yaml_edit *e, yaml_ref section, yaml_ref key,
                         struct strbuf *out)
{
    const struct yaml *y = &e->y;
    size_t start = y->mark[key].start, end = y->mark[yaml_value(key)].end, line = start;
    while (line && e->text.at[line - 1] == ' ')
        line--;
    bool own = y->mark[section].start != YAML_NONE && e->text.at[y->mark[section].start] != '{' &&
               end != (size_t)YAML_NONE && (!line || e->text.at[line - 1] == '\n');
    if (!own) {
        yaml_write_string(out, yaml_text(y, key, NULL), YAML_IN_BLOCK);
        strbuf_add(out, ": ");
        yaml_edit_write(y, yaml_value(key), out);
        strbuf_add_char(out, '\n');
        return;
    }
    size_t indent = start - line;
    while (end < e->text.n && e->text.at[end] != '\n')
        end++;
    for (size_t at = line; at < end;) {
        size_t n = strcspn(e->text.at + at, "\n"), skip = 0;
        if (at + n > end)
            n = end - at;
        while (skip < n && skip < indent && e->text.at[at + skip] == ' ')
            skip++;
        strbuf_add_bytes(out, e->text.at + at + skip, n - skip);
        strbuf_add_char(out, '\n');
        at += n + 1;
    }
}

/* {name} stands somewhere in these lines, or `each` has it as a word. */
static bool lines_name(const char *lines, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = lines; (p = strstr(p, name)); p += n) {
        bool left = p > lines && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '-');
        bool right = isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '-';
        if (!left && !right)
            return true;
    }
    return false;
}

/* Two columns to the right; empty lines stay empty. */
static void lines_indent(const char *lines, struct strbuf *out)
{
    for (const char *p = lines; *p;) {
        size_t n = strcspn(p, "\n");
        if (n)
            strbuf_add(out, "  ");
        strbuf_add_bytes(out, p, n);
        strbuf_add_char(out, '\n');
        p += n + (p[n] == '\n');
    }
}

/* Members of a section of which the lines speak; a list of rows is kept for its columns, too. */
static void section_copy(const struct yaml_edit *e, const char *section, const char *lines,
                         struct strbuf *out)
{
    const struct yaml *y = &e->y;
    yaml_ref s = yaml_get(y, 0, section);
    bool first = true;
    if (s == YAML_NONE || yaml_type(y, s) != YAML_MAPPING)
        return;
    for (yaml_ref k = yaml_first(y, s); k != YAML_NONE; k = yaml_next(y, s, k)) {
        struct strbuf member = {0};
        member_lines(e, s, k, &member);
        bool needed =
            lines_name(lines, yaml_text(y, k, NULL)) || yaml_type(y, yaml_value(k)) == YAML_MAPPING;
        if (needed && first)
            strbuf_printf(out, "%s:\n", section);
        if (needed)
            lines_indent(strbuf_text(&member), out);
        first = first && !needed;
        strbuf_free(&member);
    }
}

/* The author's own lines, comments inside included. */
bool edit_copy(const struct yaml_edit *e, const char *const *tasks, size_t n, struct strbuf *out,
               struct error *err)
{
    const struct yaml *y = &e->y;
    yaml_ref section = yaml_get(y, 0, "tasks");
    struct strbuf lines = {0};
    for (size_t i = 0; i < n; i++) {
        yaml_ref v = member_of(e, "tasks", tasks[i]);
        if (v == YAML_NONE) {
            strbuf_free(&lines);
            return error_at(err, e->file, 0, "there is no task '%.80s'", tasks[i]);
        }
        member_lines(e, section, v - 1, &lines);
    }
    strbuf_add(out, "weft: 1\n");
    section_copy(e, "parameters", strbuf_text(&lines), out);
    section_copy(e, "lists", strbuf_text(&lines), out);
    strbuf_add(out, n ? "tasks:\n" : "tasks: {}\n");
    lines_indent(strbuf_text(&lines), out);
    strbuf_free(&lines);
    return true;
}

/* ---- names that are free ---- */

struct taken {
    const struct yaml_edit *e, *other;
    const char *name;
    bool is;
};

static bool made_is(void *context, const struct edit_port *port)
{
    struct taken *t = context;
    t->is = strcmp(yaml_text(&t->e->y, port->at, NULL), t->name) == 0;
    return !t->is;
}

/* Does a task make this file? */
static bool file_is_made(const struct yaml_edit *e, const char *file)
{
    const struct yaml *y = &e->y;
    struct taken t = {.e = e, .name = file};
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    if (tasks == YAML_NONE || yaml_type(y, tasks) != YAML_MAPPING)
        return false;
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE && !t.is; k = yaml_next(y, tasks, k))
        edit_ports(e, yaml_text(y, k, NULL), true, made_is, &t);
    return t.is;
}

/* "a/b2.png" of "a/b.png" */
static void name_number(const char *name, unsigned number, bool file, struct strbuf *out)
{
    size_t n = strlen(name), tail = 0;
    if (file) {
        const char *slash = strrchr(name, '/');
        if (slash && !slash[1]) {
            tail = 1;
        } else {
            const char *base = slash ? slash + 1 : name,
                       *dot = strchr(*base ? base + 1 : base, '.');
            tail = dot ? strlen(dot) : 0;
        }
    }
    strbuf_clear(out);
    strbuf_add_bytes(out, name, n - tail);
    strbuf_printf(out, "%u", number);
    strbuf_add(out, name + n - tail);
}

struct clash_search {
    const struct yaml_edit *to, *from;
    char *found;
};

static bool file_clashes(void *context, const struct edit_port *port)
{
    struct clash_search *s = context;
    const char *file = yaml_text(&s->from->y, port->at, NULL);
    if (!file_is_made(s->to, file))
        return true;
    s->found = mem_copy_string(file);
    return false;
}

/* A file that tasks of both make; owned, NULL: none. */
static char *clashing_file(const struct yaml_edit *to, const struct yaml_edit *from)
{
    const struct yaml *y = &from->y;
    struct clash_search s = {to, from, NULL};
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE && !s.found; k = yaml_next(y, tasks, k))
        edit_ports(from, yaml_text(y, k, NULL), true, file_clashes, &s);
    return s.found;
}

/* What two tasks make must have two names; who reads it in what is added reads the new one. */
static bool free_files(const struct yaml_edit *to, struct yaml_edit *from, struct error *err)
{
    struct strbuf name = {0};
    bool good = true;
    char *file;
    while (good && (file = clashing_file(to, from))) {
        unsigned number = 2;
        do {
            name_number(file, number++, true, &name);
        } while (file_is_made(to, name.at) || file_is_made(from, name.at));
        good = edit_rename_file(from, file, name.at, err);
        free(file);
    }
    strbuf_free(&name);
    return good;
}

/* Every {old} of a text is {new}. */
static bool rename_in_braces(struct yaml_edit *e, const char *old, const char *new,
                             struct error *err)
{
    struct strbuf pattern = {0}, text = {0};
    strbuf_printf(&pattern, "{%s}", old);
    const char *at = strbuf_text(&e->text), *hit;
    while ((hit = strstr(at, pattern.at))) {
        strbuf_add_bytes(&text, at, (size_t)(hit - at));
        strbuf_printf(&text, "{%s}", new);
        at = hit + pattern.n;
    }
    strbuf_add(&text, at);
    bool good = yaml_edit_replace(e, text.at, text.n, err);
    strbuf_free(&pattern);
    strbuf_free(&text);
    return good;
}

/* By meaning, not by how it is written. */
static bool same_value(const struct yaml_edit *a, yaml_ref v, const struct yaml_edit *b, yaml_ref w)
{
    struct strbuf one = {0}, two = {0};
    yaml_edit_write(&a->y, v, &one);
    yaml_edit_write(&b->y, w, &two);
    bool same = strcmp(one.at, two.at) == 0;
    strbuf_free(&one);
    strbuf_free(&two);
    return same;
}

/* Another name for a member of `from`, wherever it stands there. */
typedef bool (*member_rename)(struct yaml_edit *from, const char *old, const char *new,
                              struct error *err);

static bool parameter_rename(struct yaml_edit *from, const char *old, const char *new,
                             struct error *err)
{
    struct yaml_path p = {{"parameters", old}, 2};
    return yaml_edit_rename(from, &p, new, err) && rename_in_braces(from, old, new, err);
}

/* The first member of `from` whose name `to` has for something else (`alike`: for the same, too); owned, NULL: none. */
static char *clashing_member(const struct yaml_edit *to, const struct yaml_edit *from,
                             const char *section, bool alike)
{
    const struct yaml *y = &from->y;
    yaml_ref all = yaml_get(y, 0, section);
    if (all == YAML_NONE || yaml_type(y, all) != YAML_MAPPING)
        return NULL;
    for (yaml_ref k = yaml_first(y, all); k != YAML_NONE; k = yaml_next(y, all, k)) {
        yaml_ref there = member_of(to, section, yaml_text(y, k, NULL));
        if (there != YAML_NONE && (alike || !same_value(to, there, from, yaml_value(k))))
            return mem_copy_string(yaml_text(y, k, NULL));
    }
    return NULL;
}

/* Members of `from` that clash get a number. Each renaming makes another text, so the search begins anew. */
static bool free_members(const struct yaml_edit *to, struct yaml_edit *from, const char *section,
                         bool alike, member_rename rename, struct error *err)
{
    struct strbuf name = {0};
    bool good = true;
    char *old;
    while (good && (old = clashing_member(to, from, section, alike))) {
        unsigned number = 2;
        do {
            name_number(old, number++, false, &name);
        } while (member_of(to, section, name.at) != YAML_NONE ||
                 member_of(from, section, name.at) != YAML_NONE);
        good = rename(from, old, name.at, err);
        free(old);
    }
    strbuf_free(&name);
    return good;
}

/* ---- adding ---- */

/* At the end of the file, where it disturbs nobody. */
static bool section_make(struct yaml_edit *e, const char *section, struct error *err)
{
    struct yaml_path top = {{section}, 1}, root = {{NULL}, 0};
    struct strbuf lines = {0};
    if (yaml_edit_find(e, &top) != YAML_NONE)
        return true;
    strbuf_printf(&lines, "%s:\n", section);
    bool good = yaml_edit_insert_lines(e, &root, lines.at, err);
    strbuf_free(&lines);
    return good;
}

/* Members of a section that are not there. One that is, and says something else, is an error. */
static bool section_add(struct yaml_edit *to, const struct yaml_edit *from, const char *section,
                        struct strbuf *names, struct error *err)
{
    const struct yaml *y = &from->y;
    struct yaml_path top = {{section}, 1};
    yaml_ref s = yaml_get(y, 0, section);
    bool good = true;
    if (s == YAML_NONE || yaml_type(y, s) != YAML_MAPPING)
        return true;
    for (yaml_ref k = yaml_first(y, s); k != YAML_NONE && good; k = yaml_next(y, s, k)) {
        const char *name = yaml_text(y, k, NULL);
        yaml_ref there = member_of(to, section, name);
        if (there != YAML_NONE) {
            good = same_value(to, there, from, yaml_value(k)) ||
                   error_at(err, to->file, yaml_line(&to->y, there),
                            "'%.80s' of %s is another one than what is added needs", name, section);
            continue;
        }
        struct strbuf lines = {0};
        member_lines(from, s, k, &lines);
        good = section_make(to, section, err) &&
               yaml_edit_insert_lines(to, &top, strbuf_text(&lines), err);
        strbuf_free(&lines);
        if (names)
            strbuf_printf(names, "%s\n", name);
    }
    return good;
}

/* First names are made free in what is added, a text of its own, then its members move over. */
bool edit_add(struct yaml_edit *e, const char *text, size_t n, bool own, struct strbuf *names,
              struct error *err)
{
    struct yaml_edit from;
    if (!yaml_edit_new(&from, "what is added", text, n, err))
        return false;
    yaml_ref tasks = yaml_get(&from.y, 0, "tasks");
    bool good = tasks != YAML_NONE && yaml_type(&from.y, tasks) == YAML_MAPPING;
    if (!good)
        error_set(err, ERROR_INPUT, "what is added has no tasks");
    bool alone = !e->open;
    if (alone)
        yaml_edit_begin(e);
    good = good && free_members(e, &from, "parameters", own, parameter_rename, err) &&
           free_members(e, &from, "tasks", true, edit_rename_task, err) &&
           free_files(e, &from, err) && section_add(e, &from, "parameters", NULL, err) &&
           section_add(e, &from, "lists", NULL, err) && section_add(e, &from, "tasks", names, err);
    yaml_edit_free(&from);
    return alone ? yaml_edit_end(e, good) : good;
}

/* ---- a group ---- */

struct group_files {
    const struct yaml_edit *e;
    const char *const *tasks;
    size_t n;
    struct strbuf map; /* "{a.txt: a.txt, ...}" */
    bool out;
};

static bool group_has(const struct group_files *g, const char *task)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->tasks[i], task) == 0)
            return true;
    return false;
}

/* Is this file made (or read) by a task inside (or outside)? */
static bool group_uses(const struct group_files *g, const char *file, bool inside, bool out)
{
    const struct yaml *y = &g->e->y;
    yaml_ref tasks = yaml_get(y, 0, "tasks");
    struct taken t = {.e = g->e, .name = file};
    for (yaml_ref k = yaml_first(y, tasks); k != YAML_NONE && !t.is; k = yaml_next(y, tasks, k))
        if (group_has(g, yaml_text(y, k, NULL)) == inside)
            edit_ports(g->e, yaml_text(y, k, NULL), out, made_is, &t);
    return t.is;
}

/* What crosses the border is mapped to its own name; what nobody outside reads, but is a result, too. */
static bool group_map(void *context, const struct edit_port *port)
{
    struct group_files *g = context;
    const char *file = yaml_text(&g->e->y, port->at, NULL);
    bool crosses = g->out ? group_uses(g, file, false, false) || !group_uses(g, file, true, false)
                          : !group_uses(g, file, true, true);
    struct strbuf entry = {0};
    yaml_write_string(&entry, file, YAML_IN_FLOW);
    strbuf_add(&entry, ": ");
    if (crosses && !strstr(strbuf_text(&g->map), entry.at)) {
        strbuf_add(&g->map, g->map.n ? ", " : "{");
        strbuf_add(&g->map, entry.at);
        yaml_write_string(&g->map, file, YAML_IN_FLOW);
    }
    strbuf_free(&entry);
    return true;
}

/* `in` or `out` of the box: what crosses its border. */
static void group_put(struct group_files *g, bool out, struct strbuf *lines)
{
    g->out = out;
    strbuf_clear(&g->map);
    for (size_t i = 0; i < g->n; i++)
        edit_ports(g->e, g->tasks[i], out, group_map, g);
    if (g->map.n)
        strbuf_printf(lines, "  %s: %s}\n", out ? "out" : "in", g->map.at);
}

/* Families stay outside: a sub-workflow does not see the lists of who uses it. */
bool edit_group(struct yaml_edit *e, const char *const *tasks, size_t n, const char *name,
                const char *path, struct strbuf *module, struct error *err)
{
    if (!n)
        return error_at(err, e->file, 0, "no task is chosen");
    if (member_of(e, "tasks", name) != YAML_NONE)
        return error_at(err, e->file, 0, "there is a task '%.80s' already", name);
    for (size_t i = 0; i < n; i++) {
        yaml_ref v = member_of(e, "tasks", tasks[i]);
        if (v != YAML_NONE && yaml_get(&e->y, v, "each") != YAML_NONE)
            return error_at(err, e->file, yaml_line(&e->y, v),
                            "'%.80s' is a family; a group has single tasks", tasks[i]);
    }
    if (!edit_copy(e, tasks, n, module, err))
        return false;
    struct group_files g = {.e = e, .tasks = tasks, .n = n};
    struct strbuf lines = {0};
    yaml_write_string(&lines, name, YAML_IN_BLOCK);
    strbuf_add(&lines, ":\n  flow: ");
    yaml_write_string(&lines, path, YAML_IN_BLOCK);
    strbuf_add_char(&lines, '\n');
    group_put(&g, false, &lines);
    group_put(&g, true, &lines);
    struct yaml_path top = {{"tasks"}, 1};
    bool alone = !e->open;
    if (alone)
        yaml_edit_begin(e);
    bool good = yaml_edit_insert_lines(e, &top, lines.at, err);
    for (size_t i = 0; i < n && good; i++)
        good = edit_remove_task(e, tasks[i], err);
    strbuf_free(&lines);
    strbuf_free(&g.map);
    return alone ? yaml_edit_end(e, good) : good;
}
