/* What the tasks of a native workflow say.
 *
 *     weft: 1
 *     name: two-steps
 *     defaults: {memory: 100M}                any key from COLUMN_FIRST_DEFAULT on
 *     parameters: {sigma: 1.4}
 *     assert: makespan < 100
 *     tasks:
 *       blur:
 *         run: blur -s {sigma} {in} {out}
 *         in: [photo.pgm]
 *         out: [{name: soft.pgm, size: 12M, temporary: true}]
 *         after: [setup]
 *         memory: [2G, 4G]                    a size, or one for each attempt */
#include "base/array.h"
#include "base/file.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/plural.h"
#include "formats/native/native_reading.h"
#include "model/command.h"
#include "model/shell.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The keys of a task, by column number; the table ends where the columns have no key. */
static const char *const task_keys[] = {
#define KEY_ROW(name, ...) #name,
    TASK_KEYS(KEY_ROW, KEY_ROW, KEY_ROW)
#undef KEY_ROW
        NULL,
};
#define DEFAULT_KEYS (task_keys + COLUMN_FIRST_DEFAULT)

/* A task may also have the keys of families, which no default can have. */
static const char *const member_keys[] = {
#define KEY_ROW(name, ...) #name,
    TASK_KEYS(KEY_ROW, KEY_ROW, KEY_ROW)
#undef KEY_ROW
        "each",
    "except",
    "repeat",
    NULL,
};
enum {
    KEY_EACH = sizeof task_keys / sizeof *task_keys - 1, /* where the columns end */
    KEY_EXCEPT,
    KEY_REPEAT,
};

/* The text is checked here, what it names (files, parameters) when it is expanded. */
static bool native_read_command(struct native_reading *r, uint32_t task, yaml_ref v, bool call)
{
    const char *text;
    size_t length;
    /* in a command, braces are the model's business but for variables */
    if (!(call ? native_text(&r->file, v, "call", &text, &length)
               : native_plain_text(&r->file, v, "run", &text, &length)))
        return false;
    if (!call && scope_concerns(text, length)) {
        if (!scope_fill_command(&r->scope, &r->file, v, text, length))
            return false;
        text = r->scope.text.at;
        length = r->scope.text.n;
        if (r->named.n) {
            if (!native_fill_named(r, v, text, length, &r->command))
                return false;
            text = r->command.at;
            length = r->command.n;
        }
        text = r->hidden ? native_own_inputs(r, text, &length) : text;
    }
    if (call) {
        const char *colon = strrchr(text, ':');
        if (!colon || colon == text || !colon[1])
            return native_error(&r->file, v, "call is '%.80s'; expected library:function", text);
        builder_flag(r->b, task, TASK_CALL);
    } else if (!text[strspn(text, " \t\r\n")]) {
        return native_error(&r->file, v, "run is blank; expected a command");
    }
    if (r->renamed.n && !call)
        native_warn_spelled(r, v, yaml_text(&r->file.y, v, NULL));
    builder_command(r->b, task, text, length);
    if (!call && memchr(text, '{', length))
        builder_command_line(r->b, task, yaml_line(&r->file.y, v));
    return true;
}

uint32_t native_object(struct native_reading *r, const char *name, size_t length)
{
    if (!r->module)
        return builder_object(r->b, name, length);
    native_outer_name(r, NULL, name, length, &r->full);
    if (r->full.n != length || memcmp(r->full.at, name, length) != 0) {
        strbuf_add_bytes(&r->renamed, name, length);
        strbuf_add_char(&r->renamed, 0);
    }
    return builder_object(r->b, r->full.at, r->full.n);
}

/* What is said of an object beside its name: of each that a pattern stands for. */
struct native_object {
    struct native_reading *r;
    uint32_t task;
    yaml_ref at;
    double size; /* NAN: not stated */
    bool out, temporary, optional, in_memory;
};

/* What a name may not be, whatever its task does with it; what depends on the task is noted. */
static bool check_name(const struct native_object *o, uint32_t object)
{
    struct native_reading *r = o->r;
    if (object == NONE)
        return true; /* the builder has an error */
    const char *name = builder_object_name(r->b, object);
    if (o->out && builder_producer(r->b, object) == o->task)
        return native_error(&r->file, o->at, "out names '%.200s' twice", name);
    if (strchr(name, '*'))
        builder_warn(r->b, yaml_line(&r->file.y, o->at),
                     "%s: names are literal, and the `*` of '%.200s' stands for itself; lists of "
                     "files are made with `lists:`",
                     r->file.where, name);
    if (r->outside == YAML_NONE && (path_leads_out(name) || strcmp(name, ".") == 0)) {
        r->outside = o->at;
        r->outside_object = object;
        r->outside_is_made = o->out;
    }
    return true;
}

/* A sandbox has no place for what lies above the folder, nor for the folder itself. */
static bool refuse_outside(const struct native_reading *r)
{
    if (strcmp(builder_object_name(r->b, r->outside_object), ".") == 0)
        return native_error(&r->file, r->outside,
                            "%s names the workflow's folder itself, in which all files lie; name "
                            "those it %s",
                            r->outside_is_made ? "out" : "in",
                            r->outside_is_made ? "makes" : "reads");
    return native_error(&r->file, r->outside,
                        "%s '%.200s' lies above the workflow's folder, where a sandbox cannot %s "
                        "it; give its absolute name, or say `sandbox: false`",
                        r->outside_is_made ? "output" : "input",
                        builder_object_name(r->b, r->outside_object),
                        r->outside_is_made ? "put" : "link");
}

static bool add_object(void *context, const char *name, size_t length)
{
    const struct native_object *o = context;
    struct native_reading *r = o->r;
    size_t line = yaml_line(&r->file.y, o->at);
    const char *given = name;
    if (r->round)
        name = native_round_name(r, o->out, name, &length);
    const char *left_out = o->out ? NULL : native_left_out(r, name, length);
    if (left_out && r->scope.gathers)
        return true;
    if (left_out)
        return native_error(&r->file, o->at,
                            "it reads '%.200s', which '%s' would make but for its `except`", name,
                            left_out);
    if (!length)
        return native_error(&r->file, o->at, "the name of a file is empty");
    uint32_t object = native_object(r, name, length);
    if (!check_name(o, object))
        return false;
    uint32_t place = r->places[o->out]++;
    if (r->naming)
        array_push(&r->named_place, place);
    if (!isnan(o->size) && (o->out || name == given)) /* what a former round made has its own */
        builder_size(r->b, object, o->size, line);
    if (r->round ? o->out && native_round_is_temporary(r) : o->temporary)
        builder_temporary(r->b, object);
    if (o->in_memory)
        builder_in_memory(r->b, object);
    if (o->out)
        builder_produces(r->b, o->task, object, line);
    else
        builder_consumes(r->b, o->task, object, line);
    if (o->optional)
        builder_optional(r->b, o->task, object);
    return true;
}

/* One entry of in or out: a name, or {name, size}; of in also optional, of out temporary and in_memory. */
static bool read_object(struct native_reading *r, uint32_t task, yaml_ref v, bool out)
{
    static const char *const keys[] = {"name", "size", "temporary", "optional", "in_memory", NULL};
    const struct yaml *y = &r->file.y;
    const char *what = out ? "an entry of out" : "an entry of in", *name;
    size_t length;
    struct native_object o = {.r = r, .task = task, .at = v, .size = NAN, .out = out};
    bool *const mark[] = {&o.temporary, &o.optional, &o.in_memory};
    yaml_ref name_at = v;
    if (yaml_type(y, v) == YAML_MAPPING) {
        for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
            int key = native_key(&r->file, k, keys);
            if (key < 0 || (key == 1 && !native_bytes(&r->file, yaml_value(k), "size", &o.size)) ||
                (key > 1 && !native_bool(&r->file, yaml_value(k), keys[key], mark[key - 2])))
                return false;
            if (key > 1 && (key == 3) == out)
                return native_error(&r->file, k, "%s belongs to the task that %s", keys[key],
                                    out ? "reads the file, in in" : "makes the file, in out");
        }
        name_at = yaml_get(y, v, "name");
        if (name_at == YAML_NONE)
            return native_error(&r->file, v, "%s has no name", what);
    }
    /* free variables are run through */
    return native_plain_text(&r->file, name_at, what, &name, &length) &&
           scope_fill(&r->scope, &r->file, name_at, what, !out, add_object, &o);
}

static bool read_objects(struct native_reading *r, uint32_t task, yaml_ref v, bool out);

/* {genome: ref.fa, reads: [...]}: each is what a task without names would have. */
static bool read_named(struct native_reading *r, uint32_t task, yaml_ref v, bool out)
{
    const struct yaml *y = &r->file.y;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        size_t length;
        const char *name = yaml_text(y, k, &length);
        if (!command_is_name(name, length) || strcmp(name, "list") == 0)
            return native_error(&r->file, k,
                                "'%.80s' cannot be the name of an %sput; expected letters, digits, "
                                "_ and -",
                                name, out ? "out" : "in");
        struct native_named named = {name, out, (uint32_t)r->named_place.n, 0};
        r->naming = true;
        bool good = read_objects(r, task, yaml_value(k), out);
        r->naming = false;
        if (!good)
            return false;
        named.count = (uint32_t)r->named_place.n - named.first;
        array_push(&r->named, named);
    }
    return true;
}

/* One entry may stand without a list: `in: photo.pgm`. */
static bool read_objects(struct native_reading *r, uint32_t task, yaml_ref v, bool out)
{
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) == YAML_MAPPING && !r->naming && yaml_get(y, v, "name") == YAML_NONE)
        return read_named(r, task, v, out);
    if (yaml_type(y, v) != YAML_SEQUENCE)
        return read_object(r, task, v, out);
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e))
        if (!read_object(r, task, e, out))
            return false;
    return true;
}

/* Only after a mistake: all names are gathered for the suggestion, as this file has them, families' too. */
static bool unknown_task(struct native_reading *r, yaml_ref at, const char *name)
{
    uint32_t count = builder_task_count(r->b), known = 0;
    size_t prefix = strlen(native_prefix(r)), keys = yaml_size(&r->file.y, native_tasks(r));
    const char **names = mem_new(const char *, count + keys);
    for (yaml_ref k = yaml_first(&r->file.y, native_tasks(r)); k != YAML_NONE;
         k = yaml_next(&r->file.y, native_tasks(r), k))
        names[known++] = yaml_text(&r->file.y, k, NULL);
    for (uint32_t t = r->first; t < count && (!r->module || t < r->first + r->ntasks); t++)
        names[known++] = builder_task_name(r->b, t) + prefix;
    const char *near = suggest_nearest(name, names, known);
    if (near)
        native_error(&r->file, at, "after names '%.80s', which is not a task; did you mean '%s'?",
                     name, near);
    else
        native_error(&r->file, at, "after names '%.80s', which is not a task", name);
    free(names);
    return false;
}

struct native_after {
    struct native_reading *r;
    uint32_t task;
    yaml_ref at;
};

enum { AFTER_EDGES = 10000000 }; /* of one family after another: more is a slip */

/* `there`: they were there before this part, and so are their numbers. */
static void add_after_range(struct native_reading *r, uint32_t task, const struct task_group *g,
                            bool there, size_t line)
{
    for (uint32_t t = g->first; t < g->first + g->count; t++)
        if (there)
            array_push(&r->shared->part->links, (struct growth_link){t, task});
        else
            builder_edge(r->b, t, task, line);
}

/* A task, or a whole family. All tasks exist by now: the first pass made them. */
static bool add_after(void *context, const char *name, size_t length)
{
    const struct native_after *a = context;
    struct native_reading *r = a->r;
    size_t line = yaml_line(&r->file.y, a->at);
    uint32_t from = native_find_task(r, name, length);
    if (from != NONE) {
        builder_edge(r->b, from, a->task, line);
        return true;
    }
    const struct task_group *g = native_find_group(r, name, length);
    from = g ? NONE : native_find_base(r, name, length);
    if (from != NONE) {
        array_push(&r->shared->part->links, (struct growth_link){from, a->task});
        return true;
    }
    if (!g)
        return unknown_task(r, a->at, name);
    uint64_t mine = r->family == NONE ? 1 : r->families.at[r->family].count;
    if (mine * g->count > AFTER_EDGES)
        return native_error(&r->file, a->at,
                            "after: %u task%s of '%s' before each of %u; name the member that "
                            "matters, as in \"%s@...={...}\"",
                            g->count, plural(g->count), name, (unsigned)mine, name);
    const struct native_shared *s = r->shared;
    uint32_t number = (uint32_t)(g - s->groups.at);
    add_after_range(r, a->task, g, number < s->first_group, line);
    for (uint32_t i = 0; i < s->more_groups.n; i++)
        if (s->more_groups.at[i].group == number)
            add_after_range(r, a->task, &s->more_groups.at[i].range, i < s->first_more, line);
    return true;
}

static bool read_after_entry(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const char *name;
    size_t length;
    struct native_after a = {r, task, v};
    return native_plain_text(&r->file, v, "an entry of after", &name, &length) &&
           scope_fill(&r->scope, &r->file, v, "after", true, add_after, &a);
}

bool native_read_after(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) != YAML_SEQUENCE)
        return read_after_entry(r, task, v);
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e))
        if (!read_after_entry(r, task, e))
            return false;
    return true;
}

/* Nodes are names here: a workflow does not know its platform. */
static bool read_times(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (!native_is_mapping(&r->file, v, "times"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        size_t length;
        const char *node = yaml_text(y, k, &length);
        double seconds;
        char what[120];
        snprintf(what, sizeof what, "the time on node '%.80s'", node);
        if (!length)
            return native_error(&r->file, k, "times has an empty node name");
        if (!native_seconds(&r->file, yaml_value(k), what, &seconds))
            return false;
        builder_time(r->b, task, node, length, seconds, yaml_line(y, k));
    }
    return true;
}

/* memory: 2G, or [2G, 4G, 8G] for the first attempt, the second, the third. */
static bool read_memory(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const struct native *f = &r->file;
    double x, least = 0;
    if (yaml_type(&f->y, v) != YAML_SEQUENCE) {
        if (!native_bytes(f, v, "memory", &x))
            return false;
        builder_memory(r->b, task, x, yaml_line(&f->y, v));
        return true;
    }
    if (yaml_first(&f->y, v) == YAML_NONE)
        return native_error(f, v, "memory is an empty list; expected sizes, one an attempt");
    for (yaml_ref e = yaml_first(&f->y, v); e != YAML_NONE; e = yaml_next(&f->y, v, e)) {
        if (!native_bytes(f, e, "memory", &x))
            return false;
        if (x <= least)
            return native_error(
                f, e, "memory grows from one attempt to the next; this is %g after %g", x, least);
        if (e == yaml_first(&f->y, v))
            builder_memory(r->b, task, x, yaml_line(&f->y, e));
        else
            builder_more_memory(r->b, task, x, yaml_line(&f->y, e));
        least = x;
    }
    return true;
}

/* What a task says about itself in yes and no; the defaults first, the task's own word last. */
struct native_answers {
    uint16_t flags; /* of the switches: those that are not as usual */
    bool temporary;
    bool env, retry_on; /* the task says something of them */
};

/* `results: keep`, of a task, of the defaults or of the whole file. */
bool native_results(const struct native *f, yaml_ref v, const char *key, bool *out)
{
    const char *text;
    size_t length;
    if (!native_text(f, v, key, &text, &length))
        return false;
    *out = strcmp(text, "keep") == 0;
    return *out || strcmp(text, "leave") == 0 ||
           native_error(f, v, "%s is '%.100s'; expected keep or leave", key, text);
}

/* The bit is set when the value is not the usual one, and cleared when a task takes a default
 * back. */
static bool read_switch(struct native_reading *r, const struct column_row *c, yaml_ref v,
                        struct native_answers *answers)
{
    bool value;
    if (!(c->flag == TASK_KEEPS_RESULTS ? native_results : native_bool)(&r->file, v, c->key,
                                                                        &value))
        return false;
    answers->flags =
        (uint16_t)(value == c->usual ? answers->flags & ~c->flag : answers->flags | c->flag);
    return true;
}

/* The range is checked here, too, so that the message names the key's place in the file. */
static bool read_number(struct native_reading *r, uint32_t task, enum column_id id, yaml_ref v)
{
    const struct native *f = &r->file;
    const struct column_row *c = &task_column[id];
    double x;
    if (!(c->unit == COLUMN_SECONDS ? native_seconds : native_number)(f, v, c->key, &x))
        return false;
    double least = c->unit == COLUMN_SOME;
    if (column_is_whole(c->unit) && (x < least || x > 1e9 || x != floor(x)))
        return native_error(f, v, "%s is %g; expected a whole number, %g or more", c->key, x,
                            least);
    builder_number(r->b, task, id, x, yaml_line(&f->y, v));
    return true;
}

/* Checked here, too, so that the message names the key's place, in the defaults as well. */
static bool read_shell(struct native_reading *r, uint32_t task, yaml_ref v)
{
    const char *text;
    size_t length;
    struct shell_words words;
    struct error err = {0};
    if (!native_text(&r->file, v, "shell", &text, &length))
        return false;
    if (strcmp(text, "strict") == 0)
        length = 0; /* takes a default back */
    else if (!shell_parse(text, &words, &err))
        return native_error(&r->file, v, "%s", err.text);
    builder_shell(r->b, task, text, length, yaml_line(&r->file.y, v));
    return true;
}

static bool read_needs(struct native_reading *r, uint32_t task, yaml_ref v)
{
    struct strbuf words = {0};
    bool good = native_words(&r->file, v, "needs", &words);
    if (good)
        builder_needs(r->b, task, strbuf_text(&words), words.n, yaml_line(&r->file.y, v));
    strbuf_free(&words);
    return good;
}

/* A key that a task and the defaults may have. `task` is NONE when the defaults themselves are
 * checked: the builder lets values of such a task pass. */
static bool read_setting(struct native_reading *r, uint32_t task, enum column_id id, yaml_ref v,
                         struct native_answers *answers)
{
    const struct native *f = &r->file;
    const struct column_row *c = &task_column[id];
    size_t line = yaml_line(&f->y, v), length;
    const char *text;
    double x;
    if (c->sort == COLUMN_OPTIONAL)
        return read_number(r, task, id, v);
    if (c->sort == COLUMN_SWITCH)
        return read_switch(r, c, v, answers);
    switch (id) {
    case COLUMN_work:
        if (!native_number(f, v, c->key, &x))
            return false;
        if (x < 0)
            return native_error(f, v, "work is %g; expected 0 or more", x);
        builder_work(r->b, task, x, line);
        return true;
    case COLUMN_memory:
        return read_memory(r, task, v);
    case COLUMN_cores:
        if (!native_number(f, v, c->key, &x))
            return false;
        if (x < 1 || x > 1 << 24 || x != floor(x))
            return native_error(f, v, "cores is %g; expected a whole number, 1 or more", x);
        builder_cores(r->b, task, x, line);
        return true;
    case COLUMN_kind:
        if (!native_text(f, v, c->key, &text, &length))
            return false;
        builder_kind(r->b, task, text, length);
        return true;
    case COLUMN_shell:
        return read_shell(r, task, v);
    case COLUMN_retry_on:
        return native_read_retry_on(r, task, v);
    case COLUMN_needs:
        return read_needs(r, task, v);
    case COLUMN_resources:
        return native_read_resources(r, task, v);
#define CASE_SURROUNDINGS(name) case COLUMN_##name:
        TASK_TEXTS(CASE_SURROUNDINGS)
#undef CASE_SURROUNDINGS
        return native_read_surroundings(r, task, id, v);
    case COLUMN_temporary:
        return native_bool(f, v, c->key, &answers->temporary);
    default: /* a row of its own without a reader: the test of columns fails on it */
        return native_error(f, v, "%s cannot be read", c->key);
    }
}

/* Defaults are few: reading them anew for a million tasks costs less than keeping values apart. */
static bool apply_defaults(struct native_reading *r, uint32_t task, struct native_answers *answers)
{
    const struct yaml *y = &r->file.y;
    if (r->keeps_results)
        answers->flags |= TASK_KEEPS_RESULTS;
    if (r->defaults == YAML_NONE)
        return true;
    for (yaml_ref k = yaml_first(y, r->defaults); k != YAML_NONE;
         k = yaml_next(y, r->defaults, k)) {
        int key = native_key(&r->file, k, DEFAULT_KEYS);
        if (key < 0 || !read_setting(r, task, (enum column_id)key + COLUMN_FIRST_DEFAULT,
                                     yaml_value(k), answers))
            return false;
    }
    return true;
}

static bool make_temporary(void *context, const char *name, size_t length)
{
    struct native_reading *r = context;
    builder_temporary(r->b, native_object(r, name, length));
    return true;
}

/* `temporary: true` of a task: each of its outputs, which have been read already. */
static void all_temporary(struct native_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    yaml_ref name = yaml_type(y, v) == YAML_MAPPING ? yaml_get(y, v, "name") : YAML_NONE;
    v = name != YAML_NONE && yaml_type(y, name) == YAML_SCALAR ? name : v;
    if (yaml_type(y, v) == YAML_SCALAR) {
        if (!yaml_is_null(y, v))
            scope_fill(&r->scope, &r->file, v, "out", false, make_temporary, r);
        return;
    }
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e))
        all_temporary(r, yaml_type(y, v) == YAML_MAPPING ? yaml_value(e) : e);
}

/* A function runs in weft itself: no command runs in something, no process could be ended or counted. */
static bool refuse_for_call(const struct native_reading *r, uint32_t task, yaml_ref body)
{
    static const char *const of_commands[] = {"shell", "timeout", "processes",
#define SURROUNDINGS_KEY(name) #name,
                                              TASK_TEXTS(SURROUNDINGS_KEY)
#undef SURROUNDINGS_KEY
    };
    const struct yaml *y = &r->file.y;
    builder_forget_limits(r->b, task); /* of the defaults */
    if (yaml_type(y, body) != YAML_MAPPING || yaml_get(y, body, "call") == YAML_NONE)
        return true;
    for (size_t i = 0; i < sizeof of_commands / sizeof *of_commands; i++) {
        yaml_ref at = yaml_get(y, body, of_commands[i]);
        if (at != YAML_NONE)
            return native_error(&r->file, at, "%s goes with run; a call has none", of_commands[i]);
    }
    return true;
}

/* A family's body is read once for each member: which key it is need not be found a million times. */
static int member_key(struct native_reading *r, yaml_ref k)
{
    struct native_known_key *known = &r->known_keys[k % NATIVE_KNOWN_KEYS];
    if (known->at != k + 1)
        *known = (struct native_known_key){k + 1, native_key(&r->file, k, member_keys)};
    return known->key;
}

/* Defaults first, then the task's own keys over them; flags at the end, when both have spoken. */
bool native_read_task(struct native_reading *r, uint32_t task, yaml_ref body)
{
    const struct yaml *y = &r->file.y;
    yaml_ref command = YAML_NONE, when = YAML_NONE; /* read last: they name inputs and outputs */
    struct native_answers answers = {0};
    r->task = task;
    r->places[0] = r->places[1] = 0;
    r->named.n = r->named_place.n = 0;
    r->outside = YAML_NONE;
    strbuf_clear(&r->renamed);
    if (!apply_defaults(r, task, &answers))
        return false;
    for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k)) {
        yaml_ref v = yaml_value(k);
        int key = member_key(r, k);
        bool good = key >= 0;
        answers.env |= key == COLUMN_env;
        answers.retry_on |= key == COLUMN_retry_on;
        switch (key) {
        case -1:
            break;
        case KEY_EACH:
        case KEY_REPEAT:
            break; /* they were read when members and rounds were made */
        case KEY_EXCEPT:
            good = r->family != NONE ||
                   native_error(&r->file, k, "except goes with each; this task has none");
            break;
        case COLUMN_run:
        case COLUMN_call:
            if (command != YAML_NONE)
                return native_error(&r->file, k, "both run and call; a task does one of them");
            command = k;
            break;
        case COLUMN_in:
        case COLUMN_out:
            good = read_objects(r, task, v, key == COLUMN_out);
            break;
        case COLUMN_when:
            when = v;
            break;
        case COLUMN_times:
            good = read_times(r, task, v);
            break;
        case COLUMN_after: /* later rounds come after the first */
            good = (r->round && r->round->number > 1) || native_read_after(r, task, v);
            break;
        default:
            good = read_setting(r, task, (enum column_id)key, v, &answers);
        }
        if (!good)
            return false;
    }
    bool is_call = command != YAML_NONE && strcmp(yaml_text(y, command, NULL), "call") == 0;
    if ((r->module && !native_gate_task(r, task, is_call ? command : YAML_NONE)) ||
        (command != YAML_NONE && !native_read_command(r, task, yaml_value(command), is_call)))
        return false;
    if ((when != YAML_NONE || r->gate.n) && !native_read_when(r, task, when))
        return false;
    /* of what the task does not say nothing is looked up: a family has a million of them */
    if (answers.retry_on)
        native_check_retries(r, body);
    if ((answers.env || r->defaults != YAML_NONE) && !native_read_env(r, task, body))
        return false;
    if (is_call && !refuse_for_call(r, task, body))
        return false;
    if (r->outside != YAML_NONE && r->is_file && command != YAML_NONE &&
        !(answers.flags & TASK_IN_PLACE))
        return refuse_outside(r);
    if (answers.flags)
        builder_flag(r->b, task, answers.flags);
    if (answers.temporary && !r->round && yaml_get(y, body, "out") != YAML_NONE)
        all_temporary(r, yaml_get(y, body, "out"));
    return true;
}

/* Checked once by themselves, with task NONE, so that an error names the defaults and not the
 * first task. */
bool native_read_defaults(struct native_reading *r, yaml_ref defaults)
{
    struct native_answers answers = {0};
    const struct yaml *y = &r->file.y;
    if (yaml_is_null(y, defaults))
        return true;
    if (!native_is_mapping(&r->file, defaults, "defaults"))
        return false;
    r->defaults = defaults;
    for (yaml_ref v = defaults; v < y->at[defaults].next; v++)
        if (yaml_type(y, v) == YAML_SCALAR && strchr(yaml_text(y, v, NULL), '{'))
            return true; /* what they say, each task tells */
    snprintf(r->file.where, sizeof r->file.where, "defaults");
    bool good = apply_defaults(r, NONE, &answers);
    r->file.where[0] = 0;
    return good;
}
