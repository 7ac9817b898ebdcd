/* Experiment files, read: a workflow's name and, for each substitution, what is replaced and by
 * what. Native YAML like workflows, and read with the same helpers, so that errors look the same.
 * What the names mean (is there such a task?) is checked when the workflow is there, by the room
 * `experiment`.
 *
 * Labels are what users see of an alternative, in names of files and in tables; they are made
 * from the file's words and then made different.
 *
 *     weft: 1
 *     experiment: edges
 *     workflow: edges.yaml
 *     substitute:
 *       image: {data: photo.pgm, by: [a.pgm, b.pgm]}
 *       detector: {task: edges, by: {sobel: {run: ...}, original: {}}}
 *       blur: {parameter: sigma, range: {from: 0.5, to: 3, step: 0.25}}
 *     combine: all                            or a list of rows, or {sample: 20, seed: 1}
 *     results: results */
#include "formats/native/experiment.h"
#include "base/pool.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "formats/native/native.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_LABEL = 60, MOST_IN_RANGE = 1000000 };

/* An experiment file being read. */
struct experiment_reading {
    struct native file;
    struct experiment *x;
};

static void experiment_set_place(struct experiment_reading *r, const char *fmt, const char *name)
{
    snprintf(r->file.where, sizeof r->file.where, fmt, name);
}

/* ---- labels ---- */

/* A text as part of a file name and of "name=label,name=label". */
static char *label_text(const char *text, size_t length)
{
    struct strbuf out = {0};
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (out.n >= LONGEST_LABEL && (c & 0xC0) != 0x80)
            break;
        strbuf_add_char(&out, isalnum(c) || c >= 0x80 || strchr("._+-%", c) ? (char)c : '_');
    }
    if (!out.n)
        strbuf_add(&out, "empty");
    return strbuf_steal(&out);
}

/* "data/region_a.pgm" -> "region_a": what a person would call the file. */
static char *label_of_path(const char *path)
{
    const char *base = file_basename(path);
    return label_text(base, file_stem_length(base));
}

/* Labels in a substitution are all different: files of one stem go by their whole paths, and what
 * is still alike gets a number. */
static void make_labels_differ(struct substitution *s, bool made_up)
{
    struct intern used;
    ARRAY(uint32_t) times = {0};
    intern_init(&used);
    for (size_t i = 0; made_up && s->target == SUBSTITUTE_DATA && i < s->by.n; i++) {
        uint32_t n = intern_number(&used, s->by.at[i].label, strlen(s->by.at[i].label));
        if (n == times.n)
            array_push(&times, 0);
        times.at[n]++;
    }
    for (size_t i = 0; times.n && i < s->by.n; i++) {
        struct alternative *a = &s->by.at[i];
        if (times.at[intern_find(&used, a->label, strlen(a->label))] > 1) {
            free(a->label);
            a->label = label_text(a->text, strlen(a->text));
        }
    }
    intern_free(&used);
    intern_init(&used);
    times.n = 0;
    struct strbuf text = {0};
    for (size_t i = 0; i < s->by.n; i++) {
        struct alternative *a = &s->by.at[i];
        uint32_t n = intern_number(&used, a->label, strlen(a->label));
        if (n == times.n) {
            array_push(&times, 1);
            continue;
        }
        do {
            strbuf_clear(&text);
            strbuf_printf(&text, "%s-%u", a->label, ++times.at[n]);
        } while (intern_find(&used, text.at, text.n) != UINT32_MAX);
        intern_number(&used, text.at, text.n);
        array_push(&times, 1);
        free(a->label);
        a->label = mem_copy_string(text.at);
    }
    strbuf_free(&text);
    array_free(&times);
    intern_free(&used);
}

/* ---- alternatives ---- */

/* NAN: the change does not speak of it. */
static struct alternative *add_alternative(struct experiment_reading *r, struct substitution *s,
                                           yaml_ref at)
{
    struct alternative *a = array_add(&s->by);
    a->line = (uint32_t)yaml_line(&r->file.y, at);
    struct task_change *c = &a->change;
    c->work = c->memory = c->cores = c->timeout = c->retries = NAN;
    return a;
}

/* The same rules as for a task of a workflow. */
static bool experiment_read_command(struct experiment_reading *r, struct task_change *c, yaml_ref v,
                                    bool call)
{
    const char *text;
    size_t length;
    if (c->command)
        return native_error(&r->file, v, "both run and call; a task does one of them");
    if (!native_text(&r->file, v, call ? "call" : "run", &text, &length))
        return false;
    const char *colon = strrchr(text, ':');
    if (call && (!colon || colon == text || !colon[1]))
        return native_error(&r->file, v, "call is '%.80s'; expected library:function", text);
    if (!call && !text[strspn(text, " \t\r\n")])
        return native_error(&r->file, v, "run is blank; expected a command");
    c->command = mem_copy_bytes(text, length);
    c->is_call = call;
    return true;
}

/* An empty list is a statement too: the task reads nothing. */
static bool experiment_read_inputs(struct experiment_reading *r, struct task_change *c, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    c->has_inputs = true;
    if (yaml_is_null(y, v))
        return true;
    bool list = yaml_type(y, v) == YAML_SEQUENCE;
    for (yaml_ref e = list ? yaml_first(y, v) : v; e != YAML_NONE;
         e = list ? yaml_next(y, v, e) : YAML_NONE) {
        if (!native_text(&r->file, e, "an entry of in", &text, &length))
            return false;
        array_push(&c->input, mem_copy_bytes(text, length));
    }
    return true;
}

static bool read_whole(struct experiment_reading *r, yaml_ref v, const char *what, double least,
                       double *out)
{
    if (!native_number(&r->file, v, what, out))
        return false;
    return (*out >= least && *out <= 1e9 && *out == floor(*out)) ||
           native_error(&r->file, v, "%s is %g; expected a whole number, %g or more", what, *out,
                        least);
}

/* What a task does instead: a command alone, or a description; an empty one leaves it as it is. */
static bool read_change(struct experiment_reading *r, struct task_change *c, yaml_ref v)
{
    static const char *const keys[] = {"run",    "call",  "in",      "kind",    "work",
                                       "memory", "cores", "timeout", "retries", NULL};
    const struct yaml *y = &r->file.y;
    const char *text;
    size_t length;
    if (yaml_is_null(y, v))
        return true;
    if (yaml_type(y, v) == YAML_SCALAR)
        return experiment_read_command(r, c, v, false);
    if (!native_is_mapping(&r->file, v, "the task's description"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        yaml_ref e = yaml_value(k);
        bool good = true;
        if (strcmp(yaml_text(y, k, NULL), "out") == 0)
            return native_error(&r->file, k,
                                "an alternative makes the same outputs as the task it replaces; "
                                "leave out 'out'");
        switch (native_key(&r->file, k, keys)) {
        case 0:
            good = experiment_read_command(r, c, e, false);
            break;
        case 1:
            good = experiment_read_command(r, c, e, true);
            break;
        case 2:
            good = experiment_read_inputs(r, c, e);
            break;
        case 3:
            good = native_text(&r->file, e, "kind", &text, &length);
            if (good)
                c->kind = mem_copy_bytes(text, length);
            break;
        case 4:
            good = native_number(&r->file, e, "work", &c->work);
            if (good && c->work < 0)
                good = native_error(&r->file, e, "work is %g; expected 0 or more", c->work);
            break;
        case 5:
            good = native_bytes(&r->file, e, "memory", &c->memory);
            break;
        case 6:
            good = read_whole(r, e, "cores", 1, &c->cores);
            break;
        case 7:
            good = native_seconds(&r->file, e, "timeout", &c->timeout);
            break;
        case 8:
            good = read_whole(r, e, "retries", 0, &c->retries);
            break;
        default:
            good = false;
        }
        if (!good)
            return false;
    }
    return true;
}

/* What stands for the original: a description for tasks, a text for files and parameters. */
static bool read_value(struct experiment_reading *r, struct substitution *s, struct alternative *a,
                       yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (s->target == SUBSTITUTE_TASK)
        return read_change(r, &a->change, v);
    if (yaml_type(y, v) != YAML_SCALAR || yaml_is_null(y, v)) {
        char found[80];
        return native_error(
            &r->file, v, "an alternative is %s; expected %s", yaml_found(y, v, found, sizeof found),
            s->target == SUBSTITUTE_DATA ? "the name of a file" : "a text or a number");
    }
    size_t length;
    const char *text = yaml_text(y, v, &length);
    if (!length && s->target == SUBSTITUTE_DATA)
        return native_error(&r->file, v, "an alternative is empty; expected the name of a file");
    a->text = mem_copy_bytes(text, length);
    return true;
}

/* A list (labels are made up) or a mapping from labels; tasks need labels, since a command is no
 * name. */
static bool read_by(struct experiment_reading *r, struct substitution *s, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    bool labelled = yaml_type(y, v) == YAML_MAPPING;
    if (s->target == SUBSTITUTE_TASK && !labelled)
        return native_error(&r->file, v,
                            "by of a task is a mapping from labels to commands or descriptions, "
                            "such as {sobel: {run: ...}, original: {}}");
    if (!labelled && yaml_type(y, v) != YAML_SEQUENCE)
        return native_error(&r->file, v,
                            "by is a list of alternatives, or a mapping from labels "
                            "to them");
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        struct alternative *a = add_alternative(r, s, k);
        if (!read_value(r, s, a, labelled ? yaml_value(k) : k))
            return false;
        size_t length;
        const char *label = yaml_text(y, k, &length);
        a->label = s->target == SUBSTITUTE_DATA && !labelled ? label_of_path(a->text)
                                                             : label_text(label, length);
    }
    make_labels_differ(s, !labelled);
    return s->by.n || native_error(&r->file, v, "by is empty; expected at least one alternative");
}

/* range: {from: 0.5, to: 3, step: 0.25}, both ends included. */
static bool read_range(struct experiment_reading *r, struct substitution *s, yaml_ref v)
{
    static const char *const keys[] = {"from", "to", "step", NULL};
    const struct yaml *y = &r->file.y;
    double value[3] = {NAN, NAN, 1};
    if (s->target != SUBSTITUTE_PARAMETER)
        return native_error(&r->file, v, "range is for parameters; expected by");
    if (!native_is_mapping(&r->file, v, "range"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        int key = native_key(&r->file, k, keys);
        if (key < 0 || !native_number(&r->file, yaml_value(k), keys[key], &value[key]))
            return false;
    }
    double from = value[0], to = value[1], step = value[2];
    /* steps that should end on `to` do, in spite of rounding */
    double count = floor((to - from) / step * (1 + 1e-12) + 1e-9) + 1;
    if (isnan(from) || isnan(to) || step == 0)
        return native_error(&r->file, v, "a range has from, to and a step that is not 0");
    if (!(count >= 1 && count <= MOST_IN_RANGE))
        return native_error(&r->file, v, "from %g to %g by %g are %g values; expected 1 to %d",
                            from, to, step, count < 1 ? 0 : count, MOST_IN_RANGE);
    for (int i = 0; i < (int)count; i++) {
        char text[32], rounded[40];
        double x, exact = from + i * step;
        snprintf(rounded, sizeof rounded, "%.12g", exact); /* 0.1 + 2 * 0.1 is 0.3 to people */
        if (!quantity_number(rounded, strlen(rounded), &x))
            x = exact;
        number_format(text, x == 0 ? 0 : x);
        struct alternative *a = add_alternative(r, s, v);
        a->text = mem_copy_string(text);
        a->label = label_text(text, strlen(text));
    }
    make_labels_differ(s, true);
    return true;
}

/* ---- substitutions ---- */

/* Names become parts of file names and of "name=label". */
static bool check_name(struct experiment_reading *r, yaml_ref k)
{
    const char *name = yaml_text(&r->file.y, k, NULL);
    bool good = isalpha((unsigned char)name[0]) || name[0] == '_';
    for (const char *c = name; *c; c++)
        good &= isalnum((unsigned char)*c) || *c == '_' || *c == '-';
    return (good && strlen(name) <= LONGEST_LABEL) ||
           native_error(&r->file, k,
                        "substitution '%.80s': a name has up to %d letters, digits, '_' and '-', "
                        "a letter first",
                        name, LONGEST_LABEL);
}

/* Exactly one target, and exactly one of by and range. */
static bool read_substitution(struct experiment_reading *r, struct substitution *s, yaml_ref at,
                              yaml_ref body)
{
    static const char *const keys[] = {"data", "task", "parameter", "by", "range", NULL};
    const struct yaml *y = &r->file.y;
    /* the values are kept until all keys are seen: the target decides how `by` is read */
    yaml_ref value[5] = {YAML_NONE, YAML_NONE, YAML_NONE, YAML_NONE, YAML_NONE};
    const char *text;
    size_t length;
    int targets = 0;
    if (!native_is_mapping(&r->file, body, "its description"))
        return false;
    for (yaml_ref k = yaml_first(y, body); k != YAML_NONE; k = yaml_next(y, body, k)) {
        int key = native_key(&r->file, k, keys);
        if (key < 0)
            return false;
        value[key] = yaml_value(k);
        targets += key < 3;
    }
    if (targets != 1)
        return native_error(&r->file, at,
                            "%s of data, task and parameter; expected one, the name "
                            "of what is replaced",
                            targets ? "more than one" : "none");
    if ((value[3] == YAML_NONE) == (value[4] == YAML_NONE))
        return native_error(&r->file, at, "expected by (a list of alternatives)%s",
                            value[3] != YAML_NONE ? " or range, not both"
                                                  : ", or range for a parameter");
    s->target = value[0] != YAML_NONE   ? SUBSTITUTE_DATA
                : value[1] != YAML_NONE ? SUBSTITUTE_TASK
                                        : SUBSTITUTE_PARAMETER;
    if (!native_text(&r->file, value[s->target], keys[s->target], &text, &length))
        return false;
    s->what = mem_copy_bytes(text, length);
    return value[3] != YAML_NONE ? read_by(r, s, value[3]) : read_range(r, s, value[4]);
}

/* In the order of the file, which is the order of the combinations. */
static bool read_substitutions(struct experiment_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    if (!native_is_mapping(&r->file, v, "substitute"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        if (!check_name(r, k))
            return false;
        struct substitution *s = array_add(&r->x->substitutions);
        s->name = mem_copy_string(yaml_text(y, k, NULL));
        s->line = (uint32_t)yaml_line(y, k);
        experiment_set_place(r, "substitution '%.100s'", s->name);
        if (!read_substitution(r, s, k, yaml_value(k)))
            return false;
    }
    r->file.where[0] = 0;
    return r->x->substitutions.n ||
           native_error(&r->file, v, "substitute is empty; expected what is replaced by what");
}

/* ---- combinations ---- */

/* Frees `names`. */
static bool unknown_name(struct experiment_reading *r, yaml_ref at, const char *thing,
                         const char *given, const char **names, size_t count)
{
    const char *near = suggest_nearest(given, names, count);
    native_error(&r->file, at, "there is no %s '%.80s'%s%s%s", thing, given,
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return false;
}

/* A label, or the alternative's own text. */
static bool read_choice(struct experiment_reading *r, yaml_ref k, uint32_t *row)
{
    const struct experiment *x = r->x;
    const struct yaml *y = &r->file.y;
    const char *name = yaml_text(y, k, NULL), *text;
    size_t length, s = 0, n = x->substitutions.n;
    while (s < n && strcmp(x->substitutions.at[s].name, name) != 0)
        s++;
    if (s == n) {
        const char **names = mem_new(const char *, n);
        for (size_t i = 0; i < n; i++)
            names[i] = x->substitutions.at[i].name;
        return unknown_name(r, k, "substitution", name, names, n);
    }
    const struct substitution *sub = &x->substitutions.at[s];
    if (!native_text(&r->file, yaml_value(k), sub->name, &text, &length))
        return false;
    /* labels first: a label may equal another alternative's text */
    for (int by_text = 0; by_text < 2; by_text++)
        for (size_t i = 0; i < sub->by.n; i++) {
            const char *have = by_text ? sub->by.at[i].text : sub->by.at[i].label;
            if (have && strcmp(have, text) == 0) {
                row[s] = (uint32_t)i;
                return true;
            }
        }
    const char **labels = mem_new(const char *, sub->by.n);
    for (size_t i = 0; i < sub->by.n; i++)
        labels[i] = sub->by.at[i].label;
    char thing[120];
    snprintf(thing, sizeof thing, "alternative of '%s' called", sub->name);
    return unknown_name(r, yaml_value(k), thing, text, labels, sub->by.n);
}

/* A row for each combination, as wide as there are substitutions; what a row does not name stays
 * original. */
static bool read_listed(struct experiment_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    size_t width = r->x->substitutions.n;
    r->x->combine = COMBINE_LISTED;
    for (yaml_ref e = yaml_first(y, v); e != YAML_NONE; e = yaml_next(y, v, e)) {
        if (!native_is_mapping(&r->file, e, "a combination"))
            return false;
        size_t from = r->x->listed.n;
        for (size_t s = 0; s < width; s++)
            array_push(&r->x->listed, CHOICE_ORIGINAL);
        for (yaml_ref k = yaml_first(y, e); k != YAML_NONE; k = yaml_next(y, e, k))
            if (!read_choice(r, k, r->x->listed.at + from))
                return false;
    }
    return r->x->listed.n || native_error(&r->file, v, "combine lists no combination");
}

/* all, a list of rows, or a sample. */
static bool read_combine(struct experiment_reading *r, yaml_ref v)
{
    static const char *const keys[] = {"sample", "seed", NULL};
    const struct yaml *y = &r->file.y;
    char found[80];
    if (yaml_type(y, v) == YAML_SEQUENCE)
        return read_listed(r, v);
    if (yaml_type(y, v) == YAML_SCALAR) {
        if (strcmp(yaml_text(y, v, NULL), "all") == 0)
            return true;
        return native_error(&r->file, v,
                            "combine is %s; expected all, a list of combinations, or {sample: N}",
                            yaml_found(y, v, found, sizeof found));
    }
    /* sample and seed; a sample of 0 is none */
    double number[2] = {0, 1};
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        int key = native_key(&r->file, k, keys);
        if (key < 0 || !read_whole(r, yaml_value(k), keys[key], key ? 0 : 1, &number[key]))
            return false;
    }
    if (!number[0])
        return native_error(&r->file, v, "combine has no sample; expected {sample: N}");
    r->x->combine = COMBINE_SAMPLE;
    r->x->sample = (uint64_t)number[0];
    r->x->seed = (uint64_t)number[1];
    return true;
}

/* ---- the file ---- */

/* Without trailing slashes, so that paths below it are joined in one way. */
static bool read_folder(struct experiment_reading *r, yaml_ref v)
{
    const char *text;
    size_t length;
    if (!native_text(&r->file, v, "results", &text, &length))
        return false;
    while (length > 1 && text[length - 1] == '/')
        length--;
    r->x->results = mem_copy_bytes(text, length);
    return true;
}

static bool read_assertion(struct experiment_reading *r, yaml_ref v)
{
    const char *text;
    size_t length;
    if (!native_text(&r->file, v, "assert", &text, &length))
        return false;
    experiment_assert(r->x, text, length, (uint32_t)yaml_line(&r->file.y, v));
    return true;
}

/* A text or a list of them, as in a workflow. */
static bool read_assertions(struct experiment_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    bool ok = true;
    if (yaml_type(y, v) != YAML_SEQUENCE)
        return yaml_is_null(y, v) || read_assertion(r, v);
    for (yaml_ref e = yaml_first(y, v); ok && e != YAML_NONE; e = yaml_next(y, v, e))
        ok = read_assertion(r, e);
    return ok;
}

/* The substitutions are read before `combine`, which refers to them, wherever the two stand. */
static bool read_top(struct experiment_reading *r)
{
    static const char *const keys[] = {"weft",    "experiment", "workflow", "substitute",
                                       "combine", "results",    "assert",   NULL};
    const struct yaml *y = &r->file.y;
    yaml_ref value[7] = {YAML_NONE, YAML_NONE, YAML_NONE, YAML_NONE,
                         YAML_NONE, YAML_NONE, YAML_NONE};
    const char *text;
    size_t length;
    for (yaml_ref k = yaml_first(y, 0); k != YAML_NONE; k = yaml_next(y, 0, k)) {
        int key = native_key(&r->file, k, keys);
        if (key < 0)
            return false;
        value[key] = yaml_value(k);
    }
    if (value[1] != YAML_NONE) {
        if (!native_text(&r->file, value[1], "experiment", &text, &length))
            return false;
        r->x->name = mem_copy_bytes(text, length);
    } else {
        r->x->name = mem_copy_string("");
    }
    if (value[2] == YAML_NONE)
        return native_error(&r->file, 0,
                            "the key 'workflow' is missing; expected the file of the "
                            "workflow in which things are replaced");
    if (!native_text(&r->file, value[2], "workflow", &text, &length))
        return false;
    r->x->workflow = file_beside(y->file, text);
    if (value[5] == YAML_NONE)
        r->x->results = mem_copy_string("results");
    else if (!read_folder(r, value[5]))
        return false;
    return (value[6] == YAML_NONE || read_assertions(r, value[6])) &&
           read_substitutions(r, value[3]) && (value[4] == YAML_NONE || read_combine(r, value[4]));
}

/* After a failure there is nothing to free. */
bool experiment_file_parse(const char *name, char *text, size_t length, struct experiment *x,
                           struct error *err)
{
    struct format_source source = {.path = name, .text = text, .length = length};
    struct experiment_reading r = {.x = x};
    experiment_init(x);
    if (!format_require_utf8(&source, err) || !native_open(&r.file, &source, "substitute", err))
        return false;
    x->file = mem_copy_string(name);
    bool good = read_top(&r);
    native_close(&r.file);
    if (!good)
        experiment_free(x);
    return good;
}

bool experiment_file_read(const char *path, struct experiment *x, struct error *err)
{
    struct text text;
    if (!file_read(path, &text, err))
        return false;
    bool good = experiment_file_parse(strcmp(path, "-") == 0 ? "standard input" : path, text.at,
                                      text.n, x, err);
    text_free(&text);
    return good;
}
