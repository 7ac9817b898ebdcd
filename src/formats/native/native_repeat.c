/* What `repeat` says of a task: how often, until what, and which outputs of a round are which inputs of
 * the next. Everything is checked when the task becomes known, before anything of it runs.
 *
 *     in:  { state: start.txt, mesh: m.txt }      c->in    0 state  carried: output 0
 *                                                          1 mesh   carried: none, it stays
 *     out: { state: state.txt, log: log.txt }     c->out   0 state  inside the folder of a round
 *                                                          1 log    asked by `until`: it is never temporary
 *
 *     both have names      outputs and inputs of one name belong together
 *     neither has          the first output is the first input, and so on; there are as many
 *     a sub-workflow       likewise: its outputs cannot have the names of its inputs
 *     carry: { OUT: IN }   says it for all of them
 *
 * The files are walked here before the tasks are made, and again when each round is read: both walks
 * count them in the same order, so that a place means the same file. */
#include "base/path.h"
#include "base/suggest.h"
#include "base/tree.h"
#include "base/plural.h"
#include "formats/native/native_reading.h"
#include "model/condition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool native_is_repeated(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    return r->repeats && yaml_type(y, yaml_value(key)) == YAML_MAPPING &&
           yaml_get(y, yaml_value(key), "repeat") != YAML_NONE;
}

bool native_is_open_repeat(const struct native_reading *r, yaml_ref key)
{
    const struct yaml *y = &r->file.y;
    if (!native_is_repeated(r, key))
        return false;
    yaml_ref repeat = yaml_get(y, yaml_value(key), "repeat");
    return yaml_type(y, repeat) == YAML_MAPPING && yaml_get(y, repeat, "until") != YAML_NONE;
}

static void free_round_file(struct round_file *f)
{
    free(f->label);
    free(f->name);
    free(f->inside);
}

void native_free_chain(struct native_chain *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->in.n; i++)
        free_round_file(&c->in.at[i]);
    for (size_t i = 0; i < c->out.n; i++)
        free_round_file(&c->out.at[i]);
    array_free(&c->in);
    array_free(&c->out);
    free(c->name);
    free(c->condition);
    free(c->failure);
    free(c);
}

/* ---- names ---- */

void native_round_title(const struct native_chain *c, uint32_t round, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s%cround=%u", c->name, strchr(c->name, '@') ? ',' : '@', round);
}

void native_round_output(const struct native_chain *c, uint32_t round, uint32_t place,
                         struct strbuf *out)
{
    struct strbuf title = {0};
    native_round_title(c, round, &title);
    strbuf_clear(out);
    module_add_folder(title.at, out);
    strbuf_add(out, c->out.at[place].inside);
    strbuf_free(&title);
}

/* ---- files ---- */

struct round_walk {
    struct native_reading *r;
    struct native_chain *c;
    yaml_ref at, label; /* label: YAML_NONE: none */
    bool out, flow;
    double size;
    bool temporary;
};

/* A round's file must have a place in its folder. */
static bool check_round_output(const struct round_walk *walk, const char *name)
{
    struct strbuf plain = {0};
    path_add_canonical(name, strlen(name), &plain);
    strbuf_add(&plain, "");
    bool good = *plain.at != '/' && !strstr(plain.at, "://") && !path_leads_out(plain.at) &&
                strcmp(plain.at, ".") != 0;
    strbuf_free(&plain);
    return good || native_error(&walk->r->file, walk->at,
                                "repeat: '%.200s' lies outside of the workflow's folder, and each "
                                "round makes it in a folder of its own; name a file in it",
                                name);
}

static bool add_round_file(void *context, const char *name, size_t length)
{
    const struct round_walk *walk = context;
    const struct yaml *y = &walk->r->file.y;
    struct round_file f = {.carried = NONE, .size = walk->size, .temporary = walk->temporary};
    f.name = mem_copy_bytes(name, length);
    f.label = walk->label != YAML_NONE ? mem_copy_string(yaml_text(y, walk->label, NULL))
              : walk->flow             ? mem_copy_string(f.name)
                                       : NULL;
    f.inside = mem_copy_string(walk->flow ? f.label : f.name);
    if (walk->out)
        array_push(&walk->c->out, f);
    else
        array_push(&walk->c->in, f);
    return !walk->out || (check_round_output(walk, f.name) && check_round_output(walk, f.inside));
}

/* A name, or {name, size, temporary}. What is wrong with its form, its reading tells. */
static bool walk_round_entry(struct round_walk *walk, yaml_ref v)
{
    struct native_reading *r = walk->r;
    const struct yaml *y = &r->file.y;
    struct error ignored = {0}, *err = r->file.err;
    walk->at = v;
    walk->size = NAN;
    walk->temporary = false;
    if (yaml_type(y, v) == YAML_MAPPING) {
        yaml_ref size = yaml_get(y, v, "size"), temporary = yaml_get(y, v, "temporary");
        r->file.err = &ignored;
        if (size != YAML_NONE && walk->out)
            native_bytes(&r->file, size, "size", &walk->size);
        if (temporary != YAML_NONE && walk->out)
            native_bool(&r->file, temporary, "temporary", &walk->temporary);
        r->file.err = err;
        v = yaml_get(y, v, "name");
    }
    if (v == YAML_NONE || yaml_type(y, v) != YAML_SCALAR || yaml_is_null(y, v))
        return true;
    return scope_fill(&r->scope, &r->file, v, walk->out ? "an entry of out" : "an entry of in",
                      !walk->out, add_round_file, walk);
}

/* In the order in which they are read: native_workflow.c of tasks, native_module.c of sub-workflows. */
static bool walk_round_files(struct round_walk *walk, yaml_ref v)
{
    const struct yaml *y = &walk->r->file.y;
    if (v == YAML_NONE || yaml_is_null(y, v))
        return true;
    enum yaml_type type = yaml_type(y, v);
    bool labelled =
        type == YAML_MAPPING && walk->label == YAML_NONE && yaml_get(y, v, "name") == YAML_NONE;
    if (type == YAML_SCALAR || (type == YAML_MAPPING && !labelled))
        return walk_round_entry(walk, v);
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e)) {
        bool good;
        if (labelled) {
            walk->label = e;
            good = walk_round_files(walk, yaml_value(e));
            walk->label = YAML_NONE;
        } else {
            good = walk_round_entry(walk, e);
        }
        if (!good)
            return false;
    }
    return true;
}

/* `temporary: true` of the task or the defaults is of all its outputs. */
static void take_temporary(struct native_reading *r, struct native_chain *c, yaml_ref body)
{
    const struct yaml *y = &r->file.y;
    struct error ignored = {0}, *err = r->file.err;
    bool all = false;
    r->file.err = &ignored;
    yaml_ref v = r->defaults == YAML_NONE ? YAML_NONE : yaml_get(y, r->defaults, "temporary");
    if (v != YAML_NONE)
        native_bool(&r->file, v, "temporary", &all);
    v = yaml_get(y, body, "temporary");
    if (v != YAML_NONE)
        native_bool(&r->file, v, "temporary", &all);
    r->file.err = err;
    for (size_t i = 0; i < c->out.n; i++)
        c->out.at[i].temporary |= all;
}

/* The last round's file cannot be where the first one reads. */
static bool check_own_input(const struct native_reading *r, const struct native_chain *c,
                            yaml_ref repeat)
{
    for (size_t i = 0; i < c->in.n; i++)
        for (size_t o = 0; o < c->out.n; o++)
            if (strcmp(c->in.at[i].name, c->out.at[o].name) == 0)
                return native_error(&r->file, repeat,
                                    "repeat: the first round reads '%.200s', and the last one's "
                                    "output would take its place; give the output another name",
                                    c->in.at[i].name);
    return true;
}

static bool read_round_files(struct native_reading *r, struct native_chain *c, yaml_ref repeat)
{
    const struct yaml *y = &r->file.y;
    yaml_ref body = yaml_value(c->key);
    struct round_walk walk = {
        .r = r, .c = c, .label = YAML_NONE, .flow = native_is_flow(r, c->key)};
    r->scope.round = "1";
    bool good = walk_round_files(&walk, yaml_get(y, body, "in"));
    r->scope.round = NULL; /* an output with it in its name would have no place at the end */
    walk.out = true;
    good = good && walk_round_files(&walk, yaml_get(y, body, "out"));
    if (!good)
        return false;
    if (!c->out.n)
        return native_error(&r->file, repeat,
                            "repeat: a round has no `out`, and so nothing for the next one");
    take_temporary(r, c, body);
    return check_own_input(r, c, repeat);
}

/* ---- from one round to the next ---- */

/* The files under a label, or the one of that name: the first, and how many. 0: none. */
static uint32_t find_labelled(const struct round_file *at, size_t n, const char *label,
                              uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (at[i].label && strcmp(at[i].label, label) == 0 && count++ == 0)
            *first = i;
    for (uint32_t i = 0; i < n && !count; i++)
        if (strcmp(at[i].name, label) == 0) {
            *first = i;
            count = 1;
        }
    return count;
}

/* Always false. */
static bool unknown_carried(const struct native_reading *r, yaml_ref at, const struct round_file *f,
                            size_t n, bool out)
{
    const char **names = mem_new(const char *, n + 1);
    const char *text = yaml_text(&r->file.y, at, NULL);
    for (size_t i = 0; i < n; i++)
        names[i] = f[i].label ? f[i].label : f[i].name;
    const char *near = suggest_nearest(text, names, n);
    native_error(&r->file, at, "repeat: carry names '%.80s', which is no %sput of the task%s%s%s",
                 text, out ? "out" : "in", near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    free(names);
    return false;
}

/* The outputs under one name are the inputs under another, one by one. */
static bool carry_between(const struct native_reading *r, struct native_chain *c, yaml_ref at,
                          uint32_t out, uint32_t nout, uint32_t in, uint32_t nin)
{
    if (nout != nin)
        return native_error(&r->file, at,
                            "repeat: %u output%s of a round would be %u input%s of the next; there "
                            "must be as many",
                            nout, plural(nout), nin, plural(nin));
    for (uint32_t i = 0; i < nin; i++)
        c->in.at[in + i].carried = out + i;
    return true;
}

/* `carry: { OUT: IN }`. */
static bool read_carry(const struct native_reading *r, struct native_chain *c, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (!native_is_mapping(&r->file, v, "carry"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        uint32_t out = 0, in = 0, nin, nout;
        nout = find_labelled(c->out.at, c->out.n, yaml_text(y, k, NULL), &out);
        nin = find_labelled(c->in.at, c->in.n, yaml_text(y, yaml_value(k), NULL), &in);
        if (!nout)
            return unknown_carried(r, k, c->out.at, c->out.n, true);
        if (!nin)
            return unknown_carried(r, yaml_value(k), c->in.at, c->in.n, false);
        if (c->in.at[in].carried != NONE)
            return native_error(&r->file, yaml_value(k), "repeat: carry names '%.80s' twice",
                                yaml_text(y, yaml_value(k), NULL));
        if (!carry_between(r, c, k, out, nout, in, nin))
            return false;
    }
    return true;
}

/* Where nothing is said: by their names; without names, one by one. */
static bool carry_by_itself(const struct native_reading *r, struct native_chain *c, yaml_ref at)
{
    bool flow = native_is_flow(r, c->key);
    bool in_names = c->in.n && c->in.at[0].label, out_names = c->out.at[0].label;
    if (flow || (!in_names && !out_names)) {
        if (c->in.n != c->out.n)
            return native_error(&r->file, at,
                                "repeat: which outputs of a round are inputs of the next? It "
                                "has %zu output%s and %zu input%s; %s",
                                c->out.n, plural(c->out.n), c->in.n, plural(c->in.n),
                                flow ? "say `carry: { OUT: IN }`"
                                     : "name them, `in: { state: ... }` and `out: { state: ... "
                                       "}`, or say `carry: { OUT: IN }`");
        return carry_between(r, c, at, 0, (uint32_t)c->out.n, 0, (uint32_t)c->in.n);
    }
    for (uint32_t o = 0, n; in_names && out_names && o < c->out.n; o += n) {
        uint32_t out = 0, in = 0, nin = 0;
        n = find_labelled(c->out.at, c->out.n, c->out.at[o].label, &out);
        for (uint32_t i = 0; i < c->in.n; i++)
            if (strcmp(c->in.at[i].label, c->out.at[o].label) == 0 && nin++ == 0)
                in = i;
        if (nin && !carry_between(r, c, at, out, n, in, nin))
            return false;
    }
    return true;
}

static bool read_carried(const struct native_reading *r, struct native_chain *c, yaml_ref repeat,
                         yaml_ref carry)
{
    if (!(carry != YAML_NONE ? read_carry(r, c, carry) : carry_by_itself(r, c, repeat)))
        return false;
    for (size_t i = 0; i < c->in.n; i++)
        if (c->in.at[i].carried != NONE)
            return true;
    return native_error(&r->file, repeat,
                        "repeat: no output of a round is an input of the next, which would compute "
                        "the same; give both one name (`in: { state: ... }`, `out: { state: ... "
                        "}`), or say `carry: { OUT: IN }`");
}

/* ---- until ---- */

/* Named files as the condition's texts know them (native_named.c). */
static void name_round_files(struct native_reading *r, const struct native_chain *c, bool out)
{
    const struct round_file *f = out ? c->out.at : c->in.at;
    size_t n = out ? c->out.n : c->in.n;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i && f[i].label && strcmp(f[i].label, f[i - 1].label) == 0;
        if (f[i].label && !same)
            array_push(&r->named,
                       (struct native_named){f[i].label, out, (uint32_t)r->named_place.n, 0});
        if (f[i].label) {
            array_last(&r->named).count++;
            array_push(&r->named_place, i);
        }
    }
    r->places[out] = (uint32_t)n;
}

/* Filled in for each round, because it may name {round}; places are those of the tables above, so that
 * it can be asked long after the round was read. */
char *native_round_condition(struct native_reading *r, const struct native_chain *c, uint32_t round)
{
    char number[16];
    struct strbuf text = {0};
    snprintf(number, sizeof number, "%u", round);
    r->named.n = r->named_place.n = 0;
    name_round_files(r, c, false);
    name_round_files(r, c, true);
    r->scope.round = number;
    bool good = native_fill_condition(r, c->until, "until", &text);
    r->scope.round = NULL;
    if (good)
        return strbuf_steal(&text);
    strbuf_free(&text);
    return NULL;
}

struct round_world {
    struct native_reading *r;
    const struct native_chain *c;
    uint32_t round;
    struct strbuf name, whole, path, real;
};

/* An output lies in the round's folder, an input that was carried in that of the round before. */
static struct condition_file round_condition_file(void *context, bool out, uint32_t place)
{
    struct round_world *x = context;
    const struct native_chain *c = x->c;
    uint32_t carried = out ? place : c->in.at[place].carried, round = out ? x->round : x->round - 1;
    if (carried != NONE && round) {
        native_round_output(c, round, carried, &x->name);
    } else {
        strbuf_clear(&x->name);
        strbuf_add(&x->name, c->in.at[place].name);
    }
    native_outer_name(x->r, NULL, x->name.at, x->name.n, &x->whole);
    const struct native_reading *top = x->r;
    while (top->module)
        top = top->module->parent;
    path_in(top->folder, x->whole.at, &x->path);
    const struct outside *o = top->file.outside;
    return (struct condition_file){x->whole.at,
                                   o ? outside_path(o, x->path.at, &x->real) : x->path.at};
}

static bool ask_round(struct native_reading *r, const struct native_chain *c, uint32_t round,
                      const char *condition, bool *holds, struct error *err)
{
    struct round_world x = {.r = r, .c = c, .round = round};
    const struct condition_world world = {&x, round_condition_file};
    const struct condition_scope scope = {"until", (uint32_t)c->in.n, (uint32_t)c->out.n};
    struct condition *parsed = condition_parse(condition, &scope, err);
    bool good = parsed && condition_holds(parsed, &world, holds, err);
    condition_free(parsed);
    strbuf_free(&x.name);
    strbuf_free(&x.whole);
    strbuf_free(&x.path);
    strbuf_free(&x.real);
    return good;
}

/* Who notes what is read notes the answer: elsewhere the files need not be. */
bool native_round_holds(struct native_reading *r, const struct native_chain *c, uint32_t round,
                        const char *condition, bool *holds, struct error *err)
{
    const struct native_reading *top = r;
    while (top->module)
        top = top->module->parent;
    struct outside *o = top->file.outside;
    if (!o)
        return ask_round(r, c, round, condition, holds, err);
    struct strbuf name = {0};
    struct error why = {0};
    strbuf_printf(&name, "until %s%s %u", native_prefix(r), c->name, round);
    const struct outside_entry *e = outside_find(o, name.at);
    bool good = e ? e->there : !o->plays && ask_round(r, c, round, condition, holds, &why);
    if (!e && !o->plays)
        outside_note(o, name.at, good, good ? *holds ? "1" : "0" : why.text);
    else if (good)
        *holds = e->bytes[0] == '1';
    strbuf_free(&name);
    return good || error_set(err, ERROR_FAILED, "%s",
                             why.kind != ERROR_NONE ? why.text
                             : e                    ? e->bytes
                                                    : "nobody has asked");
}

/* Told before anything runs; and which outputs it asks. */
static bool check_until(struct native_reading *r, struct native_chain *c)
{
    const struct condition_scope scope = {"until", (uint32_t)c->in.n, (uint32_t)c->out.n};
    struct error err = {0};
    char *text = native_round_condition(r, c, 1);
    struct condition *parsed = text ? condition_parse(text, &scope, &err) : NULL;
    for (const char *p = parsed ? strstr(text, "{out[") : NULL; p; p = strstr(p + 1, "{out[")) {
        unsigned long place = strtoul(p + 5, NULL, 10);
        if (place < c->out.n)
            c->out.at[place].asked = true;
    }
    if (parsed && strstr(text, "{out}"))
        c->out.at[0].asked = true;
    if (text && !parsed)
        native_error(&r->file, c->until, "%s (written: %.200s)", err.text,
                     yaml_text(&r->file.y, c->until, NULL));
    bool good = parsed != NULL;
    condition_free(parsed);
    free(text);
    return good;
}

/* How many there were the last time, as the files tell: those up to the first of which `until` holds. */
static uint32_t count_last_time(struct native_reading *r, const struct native_chain *c)
{
    struct error ignored = {0}, *err = r->file.err;
    uint32_t round = 0;
    bool holds = false, known = true;
    r->file.err = &ignored;
    while (known && !holds && round < c->most) {
        char *text = native_round_condition(r, c, ++round);
        known = text && native_round_holds(r, c, round, text, &holds, &ignored);
        free(text);
    }
    r->file.err = err;
    return known && (holds || c->accepts) ? round : 0;
}

/* ---- all of it ---- */

static bool read_most(const struct native_reading *r, struct native_chain *c, yaml_ref v)
{
    double x;
    if (!native_number(&r->file, v, "most", &x))
        return false;
    if (x < 1 || x > ROUNDS_MOST || x != floor(x))
        return native_error(&r->file, v,
                            "most is %.15g; expected a whole number of rounds, 1 to %d", x,
                            ROUNDS_MOST);
    c->most = (uint32_t)x;
    return true;
}

static bool read_keep(const struct native_reading *r, struct native_chain *c, yaml_ref v)
{
    const char *text;
    size_t length;
    if (!native_text(&r->file, v, "keep", &text, &length))
        return false;
    c->keeps_last = strcmp(text, "last") == 0;
    return c->keeps_last || strcmp(text, "all") == 0 ||
           native_error(&r->file, v,
                        "keep is '%.80s'; expected all (the files of every round) or last", text);
}

/* {round} is its number, and members are told apart by it. */
static bool check_round_word(const struct native_reading *r, yaml_ref repeat)
{
    bool taken = lists_find_variable(&r->lists, "round", 5) != UINT32_MAX;
    for (size_t i = 0; i < r->scope.parameters.n; i++)
        taken |= strcmp(r->scope.parameters.at[i].name, "round") == 0;
    return !taken || native_error(&r->file, repeat,
                                  "repeat: {round} is the number of the round, and a variable or "
                                  "parameter is called 'round', too; give that another name");
}

static bool read_repeat_keys(struct native_reading *r, struct native_chain *c, yaml_ref repeat,
                             yaml_ref *carry)
{
    static const char *const keys[] = {"until", "most", "carry", "keep", "accept", NULL};
    const struct yaml *y = &r->file.y;
    if (yaml_type(y, repeat) == YAML_SCALAR)
        return read_most(r, c, repeat);
    if (!native_is_mapping(&r->file, repeat, "repeat"))
        return false;
    for (yaml_ref k = yaml_first(y, repeat); k != YAML_NONE; k = yaml_next(y, repeat, k)) {
        yaml_ref v = yaml_value(k);
        bool good = true;
        switch (native_key(&r->file, k, keys)) {
        case 0:
            c->until = v;
            break;
        case 1:
            good = read_most(r, c, v);
            break;
        case 2:
            *carry = v;
            break;
        case 3:
            good = read_keep(r, c, v);
            break;
        case 4:
            good = native_bool(&r->file, v, "accept", &c->accepts);
            break;
        default:
            good = false;
        }
        if (!good)
            return false;
    }
    if (c->accepts && c->until == YAML_NONE)
        return native_error(&r->file, repeat,
                            "repeat: accept goes with until; without it all rounds are wanted");
    return c->most ||
           native_error(&r->file, repeat,
                        "repeat: `most` is missing: after how many rounds is it enough?");
}

/* In this order, so that the first complaint is about what the user wrote under `repeat`. */
struct native_chain *native_read_repeat(struct native_reading *r, yaml_ref key, const char *name)
{
    struct native_chain *c = mem_new_zero(struct native_chain, 1);
    yaml_ref repeat = yaml_get(&r->file.y, yaml_value(key), "repeat"), carry = YAML_NONE;
    *c = (struct native_chain){.key = key, .until = YAML_NONE, .due = true};
    c->name = mem_copy_string(name);
    c->combination = r->combination;
    bool good = read_repeat_keys(r, c, repeat, &carry) && check_round_word(r, repeat) &&
                read_round_files(r, c, repeat) && read_carried(r, c, repeat, carry) &&
                (c->until == YAML_NONE || check_until(r, c));
    if (!good) {
        native_free_chain(c);
        return NULL;
    }
    c->last_time = c->until == YAML_NONE ? c->most : count_last_time(r, c);
    return c;
}
