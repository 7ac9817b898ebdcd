/* WfFormat, the document: which version it is, where its parts stand, which spelling of a member
 * counts. wfformat_read.c reads the graph, wfformat_execution.c the recorded run,
 * wfformat_write.c writes 1.6, wfformat_own.c keeps what the schema has no place for. */
#include "formats/wfformat/wfformat.h"

#include <ctype.h>
#include <string.h>

/* ---- the document ---- */

/* schemaVersion is certain; the words of older files are likely. A plan of weft is JSON with a
 * workflow in it, too. */
static int sniff_wfformat(const char *path, const char *text, size_t length)
{
    (void)path;
    size_t head = format_json_head(text, length);
    if (!head || memmem(text, head, "\"weft-plan/", 11))
        return 0;
    if (memmem(text, head, "\"schemaVersion\"", 15))
        return 3;
    if (!memmem(text, head, "\"workflow\"", 10))
        return 0;
    return memmem(text, head, "\"specification\"", 15) || memmem(text, head, "\"jobs\"", 6) ||
                   memmem(text, head, "\"tasks\"", 7) || memmem(text, head, "\"execution\"", 11)
               ? 2
               : 1;
}

json_ref wfformat_stated(const struct json *j, json_ref v)
{
    return v == JSON_NONE || json_type(j, v) == JSON_NULL ? JSON_NONE : v;
}

static bool wfformat_require_type(const struct json *j, json_ref v, enum json_type type,
                                  const char *what, struct error *err)
{
    if (json_type(j, v) == type)
        return true;
    return json_error(j, v, err, "%s is %s; expected %s", what, json_type_name(json_type(j, v)),
                      json_type_name(type));
}

void wfformat_begin(const struct wfformat_document *d, struct builder *b)
{
    if (d->doubt)
        builder_warn(b, 1, "%s", d->doubt);
    if (d->name != JSON_NONE) {
        size_t n;
        const char *name = json_string(&d->json, d->name, &n);
        builder_name(b, name, n);
    }
    wfformat_metrics_check(d, b);
    wfformat_unknown_remark(d, b);
}

/* The version by structure: what the file's shape needs, at least. */
static const char *version_by_structure(const struct json *j, bool split, json_ref workflow)
{
    if (split)
        return "1.5";
    if (json_get(j, workflow, "jobs") != JSON_NONE)
        return "1.2";
    return json_get(j, workflow, "makespanInSeconds") != JSON_NONE ? "1.4" : "1.3";
}

/* The shape decides, not the stated version: real files claim 1.4 and are 1.5. The claim counts
 * where it fits the shape, and a remark says when it does not. */
static bool find_parts(struct wfformat_document *d, struct error *err)
{
    const struct json *j = &d->json;
    if (!wfformat_require_type(j, 0, JSON_OBJECT, "the document", err))
        return false;
    json_ref workflow = wfformat_stated(j, json_get(j, 0, "workflow"));
    if (workflow == JSON_NONE)
        return json_error(j, 0, err, "there is no \"workflow\"; expected a WfFormat document");
    if (!wfformat_require_type(j, workflow, JSON_OBJECT, "\"workflow\"", err))
        return false;
    json_ref specification = wfformat_stated(j, json_get(j, workflow, "specification"));
    d->split = specification != JSON_NONE;
    d->files = d->execution_tasks = JSON_NONE;
    if (d->split) {
        if (!wfformat_require_type(j, specification, JSON_OBJECT, "\"specification\"", err))
            return false;
        d->tasks = wfformat_stated(j, json_get(j, specification, "tasks"));
        d->files = wfformat_stated(j, json_get(j, specification, "files"));
        d->execution = wfformat_stated(j, json_get(j, workflow, "execution"));
        if (d->execution != JSON_NONE &&
            !wfformat_require_type(j, d->execution, JSON_OBJECT, "\"execution\"", err))
            return false;
        d->execution_tasks = wfformat_stated(j, json_get(j, d->execution, "tasks"));
    } else {
        d->tasks = wfformat_stated(j, json_get(j, workflow, "tasks"));
        if (d->tasks == JSON_NONE)
            d->tasks = wfformat_stated(j, json_get(j, workflow, "jobs"));
        d->execution = workflow;
    }
    if (d->tasks == JSON_NONE)
        return json_error(j, d->split ? specification : workflow, err,
                          "there is no list of tasks; expected \"tasks\"%s",
                          d->split ? "" : " (\"jobs\" up to version 1.2)");
    if (!wfformat_require_type(j, d->tasks, JSON_ARRAY, "\"tasks\"", err) ||
        (d->files != JSON_NONE &&
         !wfformat_require_type(j, d->files, JSON_ARRAY, "\"files\"", err)) ||
        (d->execution_tasks != JSON_NONE &&
         !wfformat_require_type(j, d->execution_tasks, JSON_ARRAY, "\"tasks\" of \"execution\"",
                                err)))
        return false;

    const char *version = version_by_structure(j, d->split, workflow);
    json_ref said = wfformat_stated(j, json_get(j, 0, "schemaVersion"));
    const char *text =
        said != JSON_NONE && json_type(j, said) == JSON_STRING ? json_string(j, said, NULL) : "";
    bool known =
        strlen(text) == 3 && text[0] == '1' && text[1] == '.' && text[2] >= '0' && text[2] <= '6';
    if (known && (text[2] >= '5') == d->split)
        version = text;
    else if (known)
        d->doubt =
            d->split ? "the schemaVersion is older than the file's structure; read as 1.5"
                     : "the schemaVersion is newer than the file's structure; read as 1.4 or older";
    else
        d->doubt = "the schemaVersion is missing or not one of 1.0 to 1.6; read by its structure";
    snprintf(d->format, sizeof d->format, "wfformat-%.3s", version);

    d->name = wfformat_stated(j, json_get(j, 0, "name"));
    d->weft = wfformat_stated(j, json_get(j, 0, "weft"));
    return d->name == JSON_NONE || wfformat_require_type(j, d->name, JSON_STRING, "\"name\"", err);
}

/* After a failure there is nothing to free. */
bool wfformat_open(struct wfformat_document *d, const struct format_source *source,
                   struct error *err)
{
    *d = (struct wfformat_document){0};
    if (!json_parse(&d->json, source->path, source->text, source->length, err))
        return false;
    if (find_parts(d, err))
        return true;
    json_free(&d->json);
    return false;
}

/* One pass over an object's members against a table: files have dozens of members a task, of
 * which a handful count. Of two spellings the newer wins, wherever it stands. */
void wfformat_members(const struct json *j, json_ref object, struct wfformat_members *out)
{
    static const struct {
        const char *key;
        uint8_t length, priority; /* of two spellings of one thing, the newer counts */
        size_t field;
    } known[] = {
#define MEMBER(key, priority, field)                                                               \
    {key, sizeof key - 1, priority, offsetof(struct wfformat_members, field)}
        MEMBER("name", 1, name),
        MEMBER("id", 1, id),
        MEMBER("parents", 1, parents),
        MEMBER("children", 1, children),
        MEMBER("inputFiles", 1, input_files),
        MEMBER("outputFiles", 1, output_files),
        MEMBER("files", 1, files),
        MEMBER("runtimeInSeconds", 1, runtime),
        MEMBER("runtime", 0, runtime),
        MEMBER("memoryInBytes", 1, memory_bytes),
        MEMBER("memory", 1, memory_kb),
        MEMBER("coreCount", 1, cores),
        MEMBER("cores", 0, cores),
        MEMBER("count", 0, cores),
        MEMBER("command", 1, command),
        MEMBER("arguments", 1, arguments),
        MEMBER("category", 1, category),
        MEMBER("priority", 1, priority),
        MEMBER("machines", 1, machines),
        MEMBER("machine", 0, machines),
        MEMBER("executedAt", 1, executed_at),
        MEMBER("nodeName", 1, node_name),
        MEMBER("cpu", 1, cpu),
        MEMBER("speedInMHz", 1, speed),
        MEMBER("speed", 0, speed),
        MEMBER("avgCPU", 1, average_cpu),
        MEMBER("readBytes", 1, bytes_read),
        MEMBER("bytesRead", 0, bytes_read),
        MEMBER("writtenBytes", 1, bytes_written),
        MEMBER("bytesWritten", 0, bytes_written),
        MEMBER("weft", 1, weft),
#undef MEMBER
    };
    memset(out, 0xFF, sizeof *out); /* all JSON_NONE */
    for (json_ref k = json_first(j, object); k != JSON_NONE; k = json_next_member(j, object, k)) {
        size_t n;
        const char *key = json_string(j, k, &n);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (known[i].length != n || memcmp(known[i].key, key, n) != 0)
                continue;
            json_ref v = wfformat_stated(j, json_member_value(j, k));
            json_ref *field = (json_ref *)((char *)out + known[i].field);
            if (v != JSON_NONE && (known[i].priority || *field == JSON_NONE))
                *field = v;
            break;
        }
    }
}

/* ---- names ---- */

/* Trailing digits and the separator before them go: task names of recorded runs are a kind and a
 * number. */
size_t wfformat_stem(const char *name, size_t length)
{
    size_t n = length;
    while (n && isdigit((unsigned char)name[n - 1]))
        n--;
    if (n == length)
        return length;
    if (n >= 3 && memcmp(name + n - 3, "_ID", 3) == 0)
        n -= 3;
    else if (n && strchr("_-.#", name[n - 1]))
        n--;
    return n ? n : length;
}

/* The writer asks the same question, to know whether the kind must be stated. */
const char *wfformat_kind(const char *name, size_t name_length, const char *program,
                          size_t program_length, size_t *length)
{
    bool one_word = program_length > 0;
    for (size_t i = 0; i < program_length && one_word; i++)
        one_word = !isspace((unsigned char)program[i]);
    const char *slash = one_word ? memrchr(program, '/', program_length) : NULL;
    size_t skip = slash ? (size_t)(slash + 1 - program) : 0;
    if (one_word && skip < program_length) {
        *length = program_length - skip;
        return program + skip;
    }
    *length = wfformat_stem(name, name_length);
    return name;
}

/* A list of machines that names any. Reading a large file twice to learn that there is none would
 * double the time. */
static unsigned wfformat_holds(const char *text, size_t length)
{
    static const char key[] = "\"machines\"";
    const char *at = text, *end = text + length;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1))) {
        at += sizeof key - 1;
        const char *value = at + strspn(at, " \t\r\n:");
        if (*value == '[' && value[1 + strspn(value + 1, " \t\r\n")] != ']')
            return HOLDS_WORKFLOW | HOLDS_PLATFORM;
    }
    return HOLDS_WORKFLOW;
}

const struct format format_wfformat = {
    .name = "wfformat",
    .summary = "WfCommons WfFormat JSON 1.0 to 1.6 (written as 1.6)",
    .suffixes = ".json",
    .sniff = sniff_wfformat,
    .read_workflow = wfformat_read_workflow,
    .read_platform = wfformat_read_platform,
    .write_workflow = wfformat_write,
    .carries = (CARRIES_ALL_COLUMNS & ~(CARRIES(when) | CARRIES(retry_on) | CARRIES(optional))) |
               CARRIES_GRAPH | CARRIES_TITLE | CARRIES_PARAMETERS | CARRIES_ASSERTIONS |
               CARRIES_HOOKS,
    .holds = wfformat_holds,
};
