/* yaml_edit.h: how a change looks in the text.
 *
 *     mappings and lists in lines:      a line is added below the last entry, or lines are taken out
 *     in brackets:                      ", entry" behind the last one, or the entry with its comma
 *     a value:                          its bytes are exchanged; what stands behind it in the line stays */
#include "formats/yaml/yaml_edit.h"
#include "formats/yaml/yaml_editing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

yaml_ref yaml_edit_find(const struct yaml_edit *e, const struct yaml_path *path)
{
    const struct yaml *y = &e->y;
    yaml_ref at = 0;
    for (size_t i = 0; i < path->n && at != YAML_NONE; i++) {
        if (yaml_type(y, at) != YAML_SEQUENCE) {
            at = yaml_get(y, at, path->at[i]);
            continue;
        }
        char *end;
        unsigned long number = strtoul(path->at[i], &end, 10);
        yaml_ref element = *end || !*path->at[i] ? YAML_NONE : yaml_first(y, at);
        while (element != YAML_NONE && number--)
            element = yaml_next(y, at, element);
        at = element;
    }
    return at;
}

static yaml_ref edit_parent(const struct yaml_edit *e, const struct yaml_path *path)
{
    struct yaml_path up = *path;
    up.n--;
    return yaml_edit_find(e, &up);
}

static bool edit_no_place(const struct yaml_edit *e, const struct yaml_path *path,
                          struct error *err)
{
    char text[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < path->n && n < sizeof text - 1; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.40s", i ? " / " : "", path->at[i]);
    return error_at(err, e->file, 0, "there is no '%s' here", text);
}

/* The parser or we do not know where it begins and ends: then we do not touch it. */
static bool edit_unknown_place(const struct yaml_edit *e, yaml_ref v, struct error *err)
{
    return error_at(err, e->file, yaml_line(&e->y, v),
                    "this place is written in a way that cannot be changed by itself; change it in "
                    "the text");
}

static size_t text_line_begin(const struct yaml_edit *e, size_t at)
{
    while (at && e->text.at[at - 1] != '\n')
        at--;
    return at;
}

static size_t text_line_end(const struct yaml_edit *e, size_t at)
{
    while (at < e->text.n && e->text.at[at] != '\n')
        at++;
    return at;
}

/* Brackets and braces, or lines. */
static bool node_is_flow(const struct yaml_edit *e, yaml_ref v)
{
    char c = e->text.at[e->y.mark[v].start];
    return yaml_type(&e->y, v) != YAML_SCALAR && (c == '{' || c == '[');
}

/* Inside brackets somewhere? Then everything must be. */
static bool path_in_flow(const struct yaml_edit *e, const struct yaml_path *path, size_t depth)
{
    for (size_t i = 0; i <= depth && i <= path->n; i++) {
        struct yaml_path up = *path;
        up.n = i;
        yaml_ref v = yaml_edit_find(e, &up);
        if (v != YAML_NONE && e->y.mark[v].start != YAML_NONE && node_is_flow(e, v))
            return true;
    }
    return false;
}

/* ---- values ---- */

/* As it will stand in brackets, and so as it will be read; false: it is no YAML. */
static bool new_read(const struct yaml_new *value, struct strbuf *out, struct error *err)
{
    struct yaml y;
    struct strbuf text = {0};
    if (value->is_yaml)
        strbuf_add(&text, value->text);
    else
        yaml_write_value(&text, value->text, YAML_IN_FLOW);
    bool blank = !text.n || !text.at[strspn(text.at, " \t\r\n")];
    bool good = blank || yaml_load(&y, "the new value", text.at, text.n, err);
    strbuf_free(&text);
    if (blank)
        strbuf_add(out, "null");
    else if (good) {
        yaml_edit_write(&y, 0, out);
        yaml_free(&y);
    }
    return good;
}

/* As it stands in the text: a command of several lines keeps them, where there is room for lines. */
static void new_write(const struct yaml_new *value, const char *flow, bool in_flow, bool room,
                      size_t column, struct strbuf *out)
{
    bool lines = !value->is_yaml && strchr(value->text, '\n');
    if (lines && room && !in_flow)
        yaml_write_block(out, value->text, column);
    else if (!value->is_yaml && !in_flow && !lines)
        yaml_write_value(out, value->text, YAML_IN_BLOCK);
    else
        strbuf_add(out, flow);
}

/* Blanks before a place in its line, or whatever stands there. */
static size_t text_column(const struct yaml_edit *e, size_t at)
{
    return at - text_line_begin(e, at);
}

/* Is there nothing but blanks from here to the line's end? */
static bool text_rest_is_blank(const struct yaml_edit *e, size_t at)
{
    size_t end = text_line_end(e, at);
    while (at < end && (e->text.at[at] == ' ' || e->text.at[at] == '\t' || e->text.at[at] == '\r'))
        at++;
    return at == end;
}

/* Exchange the value of node v. Its key, if it has one, ends at `key_end`. */
static bool value_replace(struct yaml_edit *e, const struct yaml_path *path, yaml_ref v,
                          struct yaml_new value, struct error *err)
{
    struct yaml_mark mark = e->y.mark[v];
    yaml_ref parent = path->n ? edit_parent(e, path) : YAML_NONE;
    bool member = parent != YAML_NONE && yaml_type(&e->y, parent) == YAML_MAPPING;
    if (mark.start == YAML_NONE || parent == YAML_NONE)
        return edit_unknown_place(e, v, err);
    struct strbuf flow = {0}, text = {0};
    bool good = new_read(&value, &flow, err);
    if (good) {
        bool nothing = mark.start == mark.end;
        bool lines = yaml_type(&e->y, v) != YAML_SCALAR && !node_is_flow(e, v);
        size_t from = mark.start;
        bool in_flow = path_in_flow(e, path, path->n - 1);
        size_t column = member ? text_column(e, e->y.mark[v - 1].start) : text_column(e, from);
        bool room = text_rest_is_blank(e, mark.end) && member;
        if (lines && member) { /* up to the key's line, whose comment stays behind the new value */
            from = e->y.mark[v - 1].end;
            while (e->text.at[from] != ':')
                from++;
            from++;
            size_t end = text_line_end(e, from);
            room = text_rest_is_blank(e, from);
            strbuf_add_char(&text, ' ');
            new_write(&value, flow.at, in_flow, room, column, &text);
            if (!room)
                strbuf_add_bytes(&text, e->text.at + from, end - from);
        } else {
            if (nothing)
                strbuf_add_char(&text, ' ');
            new_write(&value, flow.at, in_flow, room, column, &text);
        }
        struct edit_change change = {EDIT_REPLACE, v, NULL, flow.at};
        good = edit_patch(e, from, mark.end - from, &text, &change, err);
    }
    strbuf_free(&flow);
    strbuf_free(&text);
    return good;
}

/* ---- adding ---- */

/* "key: value" or "- value" below the last entry of a container in lines. */
static bool entry_add_line(struct yaml_edit *e, yaml_ref v, const char *entry,
                           const struct edit_change *change, struct error *err)
{
    size_t column = text_column(e, e->y.mark[v].start);
    size_t at = text_line_end(e, e->y.mark[v].end);
    struct strbuf text = {0};
    if (at == e->text.n)
        strbuf_add_char(&text, '\n');
    else
        at++;
    for (const char *p = entry; *p;) {
        size_t n = strcspn(p, "\n");
        for (size_t i = 0; n && i < column; i++)
            strbuf_add_char(&text, ' ');
        strbuf_add_bytes(&text, p, n);
        strbuf_add_char(&text, '\n');
        p += n + (p[n] == '\n');
    }
    bool good = edit_patch(e, at, 0, &text, change, err);
    strbuf_free(&text);
    return good;
}

/* Behind the last entry in brackets, or as the first. */
static bool entry_add_flow(struct yaml_edit *e, yaml_ref v, const char *entry,
                           const struct edit_change *change, struct error *err)
{
    const struct yaml *y = &e->y;
    yaml_ref last = YAML_NONE;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k))
        last = yaml_type(y, v) == YAML_MAPPING ? yaml_value(k) : k;
    size_t at = last == YAML_NONE ? y->mark[v].start + 1 : y->mark[last].end;
    struct strbuf text = {0};
    if (last != YAML_NONE)
        strbuf_add(&text, ", ");
    strbuf_add(&text, entry);
    bool good = edit_patch(e, at, 0, &text, change, err);
    strbuf_free(&text);
    return good;
}

/* A member for a mapping (or for nothing, which becomes one). `lines`: how it looks in lines, its key
 * first; NULL: as on one line. */
static bool member_add(struct yaml_edit *e, const struct yaml_path *mapping, const char *key,
                       const char *flow, const char *lines, struct error *err)
{
    yaml_ref v = yaml_edit_find(e, mapping);
    struct yaml_mark mark = e->y.mark[v];
    struct edit_change change = {EDIT_INSERT, v, key, flow};
    struct strbuf one = {0};
    bool good, nothing = yaml_type(&e->y, v) == YAML_SCALAR;
    yaml_write_string(&one, key, YAML_IN_FLOW);
    strbuf_add(&one, ": ");
    strbuf_add(&one, flow);
    if (mark.start == YAML_NONE || (nothing && mark.start != mark.end)) {
        good = edit_unknown_place(e, v, err);
    } else if (!nothing && node_is_flow(e, v)) {
        good = entry_add_flow(e, v, one.at, &change, err);
    } else if (!nothing) {
        good = entry_add_line(e, v, lines ? lines : one.at, &change, err);
    } else if (path_in_flow(e, mapping, mapping->n - 1)) {
        struct strbuf braces = {0};
        strbuf_printf(&braces, " {%s}", one.at);
        good = edit_patch(e, mark.start, 0, &braces, &change, err);
        strbuf_free(&braces);
    } else { /* below its key, two columns in */
        size_t at = text_line_end(e, mark.end), column = text_column(e, e->y.mark[v - 1].start) + 2;
        struct strbuf text = {0};
        for (const char *p = lines ? lines : one.at; *p;) {
            size_t n = strcspn(p, "\n");
            strbuf_add_char(&text, '\n');
            for (size_t i = 0; n && i < column; i++)
                strbuf_add_char(&text, ' ');
            strbuf_add_bytes(&text, p, n);
            p += n + (p[n] == '\n');
        }
        good = edit_patch(e, at, 0, &text, &change, err);
        strbuf_free(&text);
    }
    strbuf_free(&one);
    return good;
}

bool yaml_edit_set(struct yaml_edit *e, const struct yaml_path *path, struct yaml_new value,
                   struct error *err)
{
    yaml_ref v = yaml_edit_find(e, path);
    if (v != YAML_NONE)
        return value_replace(e, path, v, value, err);
    struct yaml_path up = *path; /* the deepest place that is there */
    while (up.n && yaml_edit_find(e, &up) == YAML_NONE)
        up.n--;
    yaml_ref parent = yaml_edit_find(e, &up);
    if (yaml_type(&e->y, parent) == YAML_SEQUENCE ||
        (yaml_type(&e->y, parent) == YAML_SCALAR && !yaml_is_null(&e->y, parent)))
        return edit_no_place(e, path, err);
    struct strbuf flow = {0}, lines = {0};
    bool good = new_read(&value, &flow, err);
    const char *key = path->at[up.n];
    for (size_t i = up.n; good && i < path->n; i++) { /* a line for each mapping on the way */
        for (size_t column = 2 * (i - up.n); column; column--)
            strbuf_add_char(&lines, ' ');
        yaml_write_string(&lines, path->at[i], YAML_IN_BLOCK);
        strbuf_add(&lines, i + 1 < path->n ? ":\n" : ": ");
    }
    if (good)
        new_write(&value, flow.at, false, true, 2 * (path->n - 1 - up.n), &lines);
    for (size_t i = path->n - 1; good && i > up.n; i--) { /* mappings on the way */
        struct strbuf around = {0};
        strbuf_add_char(&around, '{');
        yaml_write_string(&around, path->at[i], YAML_IN_FLOW);
        strbuf_printf(&around, ": %s}", flow.at);
        strbuf_free(&flow);
        flow = around;
    }
    good = good && member_add(e, &up, key, flow.at, lines.at, err);
    strbuf_free(&flow);
    strbuf_free(&lines);
    return good;
}

bool yaml_edit_insert_lines(struct yaml_edit *e, const struct yaml_path *mapping, const char *lines,
                            struct error *err)
{
    struct yaml y;
    yaml_ref v = yaml_edit_find(e, mapping);
    if (v == YAML_NONE || yaml_type(&e->y, v) == YAML_SEQUENCE)
        return edit_no_place(e, mapping, err);
    if (!yaml_load(&y, "the new entry", lines, strlen(lines), err))
        return false;
    bool good = yaml_type(&y, 0) == YAML_MAPPING && yaml_size(&y, 0) == 1;
    if (!good) {
        error_set(err, ERROR_INPUT, "the new entry has to be one key with its value");
    } else {
        struct strbuf flow = {0};
        yaml_edit_write(&y, yaml_value(yaml_first(&y, 0)), &flow);
        good = member_add(e, mapping, yaml_text(&y, yaml_first(&y, 0), NULL), flow.at, lines, err);
        strbuf_free(&flow);
    }
    yaml_free(&y);
    return good;
}

/* A list that is nothing yet is set, not appended to: see yaml_edit_set(). */
bool yaml_edit_append(struct yaml_edit *e, const struct yaml_path *list, struct yaml_new value,
                      struct error *err)
{
    yaml_ref v = yaml_edit_find(e, list);
    if (v == YAML_NONE || yaml_type(&e->y, v) != YAML_SEQUENCE)
        return edit_no_place(e, list, err);
    if (e->y.mark[v].start == YAML_NONE)
        return edit_unknown_place(e, v, err);
    struct strbuf flow = {0}, line = {0};
    bool good = new_read(&value, &flow, err);
    struct edit_change change = {EDIT_INSERT, v, NULL, flow.at};
    if (good && node_is_flow(e, v)) {
        good = entry_add_flow(e, v, flow.at, &change, err);
    } else if (good) {
        strbuf_printf(&line, "- %s", flow.at);
        good = entry_add_line(e, v, line.at, &change, err);
    }
    strbuf_free(&flow);
    strbuf_free(&line);
    return good;
}

/* ---- removing and renaming ---- */

/* The entry and its neighbours in brackets: the comma goes along. */
static bool entry_remove_flow(struct yaml_edit *e, yaml_ref container, yaml_ref entry,
                              const struct edit_change *change, struct error *err)
{
    const struct yaml *y = &e->y;
    bool mapping = yaml_type(y, container) == YAML_MAPPING;
    yaml_ref before = YAML_NONE, next = yaml_next(y, container, entry);
    for (yaml_ref k = yaml_first(y, container); k != entry; k = yaml_next(y, container, k))
        before = mapping ? yaml_value(k) : k;
    size_t from = y->mark[entry].start, to = y->mark[mapping ? yaml_value(entry) : entry].end;
    if (next != YAML_NONE)
        to = y->mark[next].start;
    else if (before != YAML_NONE)
        from = y->mark[before].end;
    struct strbuf nothing = {0};
    return edit_patch(e, from, to - from, &nothing, change, err);
}

/* Its lines go, from its own to the one in which its value ends. */
static bool entry_remove_lines(struct yaml_edit *e, yaml_ref container, yaml_ref entry,
                               struct edit_change *change, struct error *err)
{
    const struct yaml *y = &e->y;
    bool mapping = yaml_type(y, container) == YAML_MAPPING;
    size_t begin = y->mark[entry].start, line = text_line_begin(e, begin);
    size_t to = text_line_end(e, y->mark[mapping ? yaml_value(entry) : entry].end);
    size_t lead = line + strspn(e->text.at + line, " ");
    if (!mapping && e->text.at[lead] == '-')
        lead += 1 + strspn(e->text.at + lead + 1, " ");
    if (lead != begin)
        return edit_unknown_place(e, entry, err);
    to += to < e->text.n;
    if (yaml_size(y, container) == 1)
        *change = (struct edit_change){EDIT_EMPTY, container, NULL, NULL};
    struct strbuf nothing = {0};
    return edit_patch(e, line, to - line, &nothing, change, err);
}

/* Comments above it stay: they may be about what follows. */
bool yaml_edit_remove(struct yaml_edit *e, const struct yaml_path *path, struct error *err)
{
    yaml_ref v = yaml_edit_find(e, path);
    if (v == YAML_NONE || !path->n)
        return edit_no_place(e, path, err);
    yaml_ref container = edit_parent(e, path);
    yaml_ref entry = yaml_type(&e->y, container) == YAML_MAPPING ? v - 1 : v;
    if (e->y.mark[v].end == YAML_NONE || e->y.mark[entry].start == YAML_NONE)
        return edit_unknown_place(e, v, err);
    struct edit_change change = {EDIT_REMOVE, entry, NULL, NULL};
    return node_is_flow(e, container) ? entry_remove_flow(e, container, entry, &change, err)
                                      : entry_remove_lines(e, container, entry, &change, err);
}

/* Only the key's bytes: the order of a mapping is its author's. */
bool yaml_edit_rename(struct yaml_edit *e, const struct yaml_path *path, const char *key,
                      struct error *err)
{
    yaml_ref v = yaml_edit_find(e, path);
    yaml_ref container = v == YAML_NONE || !path->n ? YAML_NONE : edit_parent(e, path);
    if (container == YAML_NONE || yaml_type(&e->y, container) != YAML_MAPPING)
        return edit_no_place(e, path, err);
    yaml_ref other = yaml_get(&e->y, container, key);
    if (other != YAML_NONE)
        return other == v ||
               error_at(err, e->file, yaml_line(&e->y, other), "there is a '%.80s' already", key);
    if (e->y.mark[v - 1].start == YAML_NONE)
        return edit_unknown_place(e, v, err);
    struct strbuf text = {0};
    struct edit_change change = {EDIT_RENAME, v - 1, key, NULL};
    yaml_write_string(&text, key,
                      path_in_flow(e, path, path->n - 1) ? YAML_IN_FLOW : YAML_IN_BLOCK);
    struct yaml_mark mark = e->y.mark[v - 1];
    bool good = edit_patch(e, mark.start, mark.end - mark.start, &text, &change, err);
    strbuf_free(&text);
    return good;
}
