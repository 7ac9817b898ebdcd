/* weft's own files: a workflow or a platform in YAML. */
#include "formats/native/native.h"
#include "base/quantity.h"
#include "base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Every message of a native file has one shape: file:line: task 'b': what is wrong; what was
 * expected. */
bool native_error(const struct native *n, yaml_ref at, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return error_at(n->err, n->y.file, yaml_line(&n->y, at) - n->y.base, "%s%s%s", n->where,
                    *n->where ? ": " : "", text);
}

/* Keys that people write where they are none: those of other tools, and ours in another place. */
static const struct {
    const char *key,
        *ours; /* `ours`: what it is called here, where that may stand; NULL: see `place` */
    const char *place;
} stray_keys[] = {
    {"input", "in", NULL},
    {"inputs", "in", NULL},
    {"output", "out", NULL},
    {"outputs", "out", NULL},
    {"command", "run", NULL},
    {"cmd", "run", NULL},
    {"script", "run", NULL},
    {"threads", "cores", NULL},
    {"cpus", "cores", NULL},
    {"mem", "memory", NULL},
    {"environment", "env", NULL},
    {"depends", "after", NULL},
    {"depends_on", "after", NULL},
    {"foreach", "each", NULL},
    {"matrix", "each", NULL},
    {"if", "when", NULL},
    {"rules", "tasks", NULL},
    {"jobs", "tasks", NULL},
    {"steps", "tasks", NULL},
    {"params", "parameters", NULL},
    {"config", "parameters", NULL},
    {"gpus", "resources", NULL},
    {"optional", NULL, "it is said of an input: in: [{ name: FILE, optional: true }]"},
    {"temporary", NULL, "it is said of an output: out: [{ name: FILE, temporary: true }]"},
    {"in_memory", NULL, "it is said of an output: out: [{ name: FILE, in_memory: true }]"},
    {"temp", NULL, "an output can be temporary: out: [{ name: FILE, temporary: true }]"},
    {"hooks", NULL, "it is the workflow's, and stands beside `tasks`"},
    {"lists", NULL, "they are the workflow's, and stand beside `tasks`"},
    {"parameters", NULL, "they are the workflow's, and stand beside `tasks`"},
    {"include", NULL, "it is the workflow's, and stands beside `tasks`; a task has `flow: FILE`"},
    {"run", NULL, "a task has it: tasks: { NAME: { run: COMMAND } }"},
    {"each", NULL, "a task has it: tasks: { NAME: { each: LIST, run: COMMAND } }"},
};

/* What another tool's key is called here; NULL: it is none. */
static const char *native_stray_name(const char *text)
{
    for (size_t i = 0; i < sizeof stray_keys / sizeof *stray_keys; i++)
        if (strcmp(text, stray_keys[i].key) == 0)
            return stray_keys[i].ours;
    return NULL;
}

/* What else it may be meant for; false: nobody knows. */
static bool native_stray_key(const struct native *n, yaml_ref key, const char *const *allowed)
{
    const char *text = yaml_text(&n->y, key, NULL);
    for (size_t i = 0; i < sizeof stray_keys / sizeof *stray_keys; i++) {
        if (strcmp(text, stray_keys[i].key) != 0)
            continue;
        if (stray_keys[i].place)
            return !native_error(n, key, "unknown key '%s' here; %s", text, stray_keys[i].place);
        for (const char *const *a = allowed; *a; a++)
            if (strcmp(*a, stray_keys[i].ours) == 0)
                return !native_error(n, key, "unknown key '%s'; did you mean '%s'?", text, *a);
    }
    return false;
}

/* Linear: a level has at most two dozen keys. */
int native_key(const struct native *n, yaml_ref key, const char *const *allowed)
{
    const char *text = yaml_text(&n->y, key, NULL);
    int count = 0;
    for (; allowed[count]; count++)
        if (strcmp(text, allowed[count]) == 0)
            return count;
    if (native_stray_key(n, key, allowed))
        return -1;
    const char *near = suggest_nearest(text, allowed, (size_t)count);
    if (near) {
        native_error(n, key, "unknown key '%.80s'; did you mean '%s'?", text, near);
        return -1;
    }
    char list[400] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", allowed[i]);
    }
    native_error(n, key, "unknown key '%.80s'; expected one of: %s", text, list);
    return -1;
}

bool native_is_mapping(const struct native *n, yaml_ref v, const char *what)
{
    char found[80];
    if (yaml_type(&n->y, v) == YAML_MAPPING)
        return true;
    return native_error(n, v, "%s is %s; expected a mapping (key: value)", what,
                        yaml_found(&n->y, v, found, sizeof found));
}

const char *native_scalar(const struct native *n, yaml_ref v, size_t *length)
{
    const char *text = yaml_text(&n->y, v, length);
    bool braces = n->fill && (memchr(text, '{', *length) || memchr(text, '}', *length));
    return braces ? n->fill(n->fill_context, v, length) : text;
}

/* "cores is 'many'; expected a whole number", with what its variables stand for. Always false. */
static bool native_wrong_value(const struct native *n, yaml_ref v, const char *what,
                               const char *expected)
{
    char found[80];
    size_t length;
    const char *written = yaml_text(&n->y, v, NULL),
               *text = yaml_type(&n->y, v) == YAML_SCALAR ? native_scalar(n, v, &length) : written;
    if (text && text != written)
        return native_error(n, v, "%s is '%.70s' ('%.70s'); expected %s", what, text, written,
                            expected);
    return native_error(n, v, "%s is %s; expected %s", what,
                        yaml_found(&n->y, v, found, sizeof found), expected);
}

/* A null is not a text: `run:` with nothing behind it is a slip, not an empty command. */
bool native_plain_text(const struct native *n, yaml_ref v, const char *what, const char **text,
                       size_t *length)
{
    if (yaml_type(&n->y, v) != YAML_SCALAR || yaml_is_null(&n->y, v))
        return native_wrong_value(n, v, what, "a text");
    *text = yaml_text(&n->y, v, length);
    return *length ? true : native_error(n, v, "%s is empty; expected a text", what);
}

bool native_text(const struct native *n, yaml_ref v, const char *what, const char **text,
                 size_t *length)
{
    if (!native_plain_text(n, v, what, text, length))
        return false;
    *text = native_scalar(n, v, length);
    if (!*text)
        return false;
    return *length ? true : native_error(n, v, "%s is empty; expected a text", what);
}

/* Quantities are parsed from the scalar's text, quoted or not: '4' and 4 are the same number. */
bool native_number(const struct native *n, yaml_ref v, const char *what, double *out)
{
    size_t length;
    const char *text = native_scalar(n, v, &length);
    if (!text)
        return false;
    return quantity_number(text, length, out) ||
           native_wrong_value(n, v, what, "a finite number such as 3.5 or 1e9");
}

bool native_bytes(const struct native *n, yaml_ref v, const char *what, double *out)
{
    size_t length;
    const char *text = native_scalar(n, v, &length);
    if (!text)
        return false;
    return quantity_bytes(text, length, out) ||
           native_wrong_value(n, v, what, "a size in bytes, 0 or more, such as 1500, 200M or 4Gi");
}

bool native_bytes_or_unlimited(const struct native *n, yaml_ref v, const char *what, double *out)
{
    if (strcmp(yaml_text(&n->y, v, NULL), "unlimited") != 0)
        return native_bytes(n, v, what, out);
    *out = INFINITY;
    return true;
}

bool native_seconds(const struct native *n, yaml_ref v, const char *what, double *out)
{
    size_t length;
    const char *text = native_scalar(n, v, &length);
    if (!text)
        return false;
    return quantity_seconds(text, length, out) ||
           native_wrong_value(n, v, what,
                              "a time, 0 or more, such as 3.5 (seconds), 20ms, 10m or 2h");
}

bool native_words(const struct native *n, yaml_ref v, const char *what, struct strbuf *out)
{
    const struct yaml *y = &n->y;
    const char *text = "";
    size_t length = 0;
    bool list = yaml_type(y, v) == YAML_SEQUENCE;
    yaml_ref e = list ? yaml_first(y, v) : v;
    for (; e != YAML_NONE; e = list ? yaml_next(y, v, e) : YAML_NONE) {
        if (!native_text(n, e, what, &text, &length))
            return false;
        if (strcspn(text, ", ") != length)
            return native_error(n, e, "%s has '%s'; expected a word, or a list of words", what,
                                text);
        strbuf_printf(out, "%s%s", out->n ? "," : "", text);
    }
    return true;
}

/* Only true and false: YAML's yes, on and their kin mean different things to different readers. */
bool native_bool(const struct native *n, yaml_ref v, const char *what, bool *out)
{
    size_t length;
    const char *text = native_scalar(n, v, &length);
    if (!text)
        return false;
    if (strcmp(text, "true") == 0)
        *out = true;
    else if (strcmp(text, "false") == 0)
        *out = false;
    else
        return native_wrong_value(n, v, what, "true or false");
    return true;
}

/* ---- which file is it ---- */

/* The version is a number of its own, so that a later weft can change meanings. */
static bool native_check_version(struct native *n)
{
    yaml_ref version = yaml_get(&n->y, 0, "weft");
    if (version == YAML_NONE)
        return native_error(n, 0, "the key 'weft' is missing; a native file begins with 'weft: 1'");
    size_t length;
    double number;
    const char *text = yaml_text(&n->y, version, &length);
    if (!quantity_number(text, length, &number))
        return native_wrong_value(n, version, "weft", "the version of the format, 1");
    if (number != 1)
        return native_error(n, version,
                            "weft: %.40s is not supported; this program reads version 1", text);
    return true;
}

/* The key by which each kind of native file is known. */
static const struct {
    const char *key, *kind, *article;
} contents[] = {
    {"tasks", "workflow", "a"}, {"nodes", "platform", "a"}, {"substitute", "experiment", "an"}};
enum { NCONTENTS = sizeof contents / sizeof *contents };

/* A key of the file that may be a slip for `wanted`; NULL: none. */
static const char *nearest_key(const struct native *n, const char *wanted)
{
    for (yaml_ref k = yaml_first(&n->y, 0); k != YAML_NONE; k = yaml_next(&n->y, 0, k)) {
        const char *text = yaml_text(&n->y, k, NULL), *ours = native_stray_name(text);
        if (suggest_nearest(text, &wanted, 1) || (ours && strcmp(ours, wanted) == 0))
            return text;
    }
    return NULL;
}

/* One file, one kind of thing: the key that is there says which, and an error says what it is
 * instead. */
static bool check_contents(struct native *n, const char *wanted)
{
    /* a workflow may have the tasks of its modules alone */
    bool has_wanted = yaml_get(&n->y, 0, wanted) != YAML_NONE ||
                      (strcmp(wanted, "tasks") == 0 && yaml_get(&n->y, 0, "include") != YAML_NONE);
    int want = 0;
    while (strcmp(contents[want].key, wanted) != 0)
        want++;
    for (int i = 0; i < NCONTENTS; i++) {
        yaml_ref other = i == want ? YAML_NONE : yaml_get(&n->y, 0, contents[i].key);
        if (other == YAML_NONE)
            continue;
        if (has_wanted)
            return native_error(
                n, other, "both '%s' and '%s'; %s %s and %s %s are two files",
                contents[want < i ? want : i].key, contents[want < i ? i : want].key,
                contents[want < i ? want : i].article, contents[want < i ? want : i].kind,
                contents[want < i ? i : want].article, contents[want < i ? i : want].kind);
        return native_error(n, 0, "this is %s %s file; expected %s %s (a file with '%s:')",
                            contents[i].article, contents[i].kind, contents[want].article,
                            contents[want].kind, wanted);
    }
    const char *near = has_wanted ? NULL : nearest_key(n, wanted);
    return has_wanted ||
           native_error(n, 0, "the key '%s' is missing; expected %s %s%s%s%s%s", wanted,
                        contents[want].article, contents[want].kind,
                        strcmp(wanted, "tasks") == 0 && !near
                            ? ", as in tasks: { NAME: { run: COMMAND } }"
                            : "",
                        near ? "; did you mean it by '" : "", near ? near : "", near ? "'?" : "");
}

/* Everything that can be refused before any key is read. */
bool native_open(struct native *n, const struct format_source *source, const char *wanted,
                 struct error *err)
{
    n->err = err;
    n->where[0] = 0;
    n->fill = NULL;
    if (!yaml_load(&n->y, source->path, source->text, source->length, err))
        return false;
    if (native_is_mapping(n, 0, "the file") && native_check_version(n) && check_contents(n, wanted))
        return true;
    native_close(n);
    return false;
}

void native_close(struct native *n)
{
    yaml_free(&n->y);
}

/* Does a line of the first kilobytes begin with this key, as YAML or as the first key of a flow
 * mapping? */
static bool has_top_key(const char *text, size_t length, const char *key)
{
    enum { LOOK = 16384 };
    const char *end = text + (length < LOOK ? length : LOOK);
    size_t n = strlen(key);
    for (const char *p = text; p < end; p++) {
        const char *q = p;
        while (q < end && (*q == '{' || *q == '"' || *q == '\'' || (*q == ' ' && *p == '{')))
            q++;
        if ((size_t)(end - q) > n && memcmp(q, key, n) == 0) {
            q += n;
            while (q < end && (*q == '"' || *q == '\'' || *q == ' '))
                q++;
            if (q < end && *q == ':')
                return true;
        }
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return false;
    }
    return false;
}

/* `weft:` at the start of a line is certain. Without it, only the suffix makes it ours, to say
 * what is missing. */
static int native_sniff(const char *path, const char *text, size_t length)
{
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (has_top_key(text, length, "weft"))
        return 3;
    /* Ours in all but the version line: the reader says that it is missing. */
    size_t n = path ? strlen(path) : 0;
    bool suffix = (n > 5 && strcasecmp(path + n - 5, ".yaml") == 0) ||
                  (n > 4 && strcasecmp(path + n - 4, ".yml") == 0);
    return suffix && (has_top_key(text, length, "tasks") || has_top_key(text, length, "nodes"));
}

static unsigned native_holds(const char *text, size_t length)
{
    bool platform = has_top_key(text, length, "nodes") && !has_top_key(text, length, "tasks");
    return platform ? HOLDS_PLATFORM : HOLDS_WORKFLOW;
}

const struct format format_native = {
    .name = "native",
    .summary = "weft's own YAML: workflows and platforms",
    .suffixes = ".yaml .yml",
    .sniff = native_sniff,
    .read_workflow = native_read_workflow,
    .read_platform = native_read_platform,
    .write_workflow = native_write_workflow,
    .carries = (CARRIES_ALL_COLUMNS & ~CARRIES(done)) | CARRIES_GRAPH | CARRIES_TITLE |
               CARRIES_PARAMETERS | CARRIES_ASSERTIONS | CARRIES_HOOKS | CARRIES_IN_MEMORY,
    .write_platform = native_write_platform,
    .holds = native_holds,
    .has_parameters = true,
    .text_alone = true,
    .lint = native_lint,
};
