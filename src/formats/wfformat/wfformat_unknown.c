/* Members that no version of WfFormat has where they stand. The schema allows them, and what they say is
 * lost: a runtime that is spelled otherwise, or stands in the wrong half of the file, is a task without a
 * runtime. So each kind of them is told once, with how many objects have it.
 *
 *     document ── workflow ─┬─ specification ─┬─ tasks      1.5 and 1.6
 *                           │                 ├─ files
 *                           │                 └─ metrics
 *                           ├─ execution ─────┬─ tasks ── command
 *                           │                 ├─ machines ── cpu
 *                           │                 └─ metrics
 *                           └─ tasks, machines              up to 1.4: all of a task in one object
 *
 * The lists have what any version of the schema has there, what the reader takes besides, and what real
 * files of the WfCommons project and its library have (repo, launchDir). Contents of "author", "runtimeSystem" and "weft" are
 * not looked at. */
#include "base/plural.h"
#include "base/suggest.h"
#include "formats/wfformat/wfformat.h"

#include <string.h>

enum { MOST_KNOWN = 32, MOST_INSIDE = 4, MOST_KINDS = 8, LONGEST_SHOWN = 60 };

/* One sort of object. */
struct wfformat_place {
    const char *singular, *plural; /* of the objects, for the remark */
    const char *known[MOST_KNOWN]; /* names of members, up to the first NULL */
    struct {
        const char *key;
        const struct wfformat_place *place; /* of its object, or of each object of its list */
    } inside[MOST_INSIDE];
};

static const struct wfformat_place command_place = {
    .singular = "command", .plural = "commands", .known = {"program", "arguments"}};
static const struct wfformat_place cpu_place = {
    .singular = "cpu",
    .plural = "cpus",
    .known = {"coreCount", "cores", "count", "speedInMHz", "speed", "vendor"}};
static const struct wfformat_place machine_place = {
    .singular = "machine",
    .plural = "machines",
    .known = {"system", "architecture", "nodeName", "release", "memoryInBytes", "memory", "cpu"},
    .inside = {{"cpu", &cpu_place}}};
static const struct wfformat_place file_place = {
    .singular = "file",
    .plural = "files",
    .known = {"id", "name", "sizeInBytes", "size", "link", "weft"}};
static const struct wfformat_place structure_place = {
    .singular = "metrics of the specification",
    .plural = "metrics of the specification",
    .known = {"numberOfTasks", "numberOfFiles", "sumOfFileSizesInBytes", "numberOfLevels",
              "minimumWidth", "maximumWidth"}};
static const struct wfformat_place run_place = {
    .singular = "metrics of the execution",
    .plural = "metrics of the execution",
    .known = {"sumTaskRuntimesInSeconds", "totalNumBytesRead", "totalNumBytesWritten"}};

/* What a task has, and what its run has, by all their names in all versions. */
#define SPECIFIED "name", "id", "parents", "children", "category", "weft"
#define RECORD                                                                                     \
    "runtimeInSeconds", "runtime", "executedAt", "command", "arguments", "coreCount", "cores",     \
        "avgCPU", "readBytes", "bytesRead", "writtenBytes", "bytesWritten", "memoryInBytes",       \
        "memory", "energyInKWh", "energy", "avgPowerInW", "avgPower", "priority", "machines",      \
        "machine"
#define ABOUT_RUN "makespanInSeconds", "makespan", "executedAt", "machines", "tasks"
#define OF_WORKFLOW "repo", "runName"
#define OF_DOCUMENT                                                                                \
    .singular = "document", .plural = "documents",                                                 \
    .known = {"name", "description", "createdAt", "schemaVersion", "runtimeSystem",                \
              "wms",  "author",      "workflow",  "weft"}

/* What the library of WfCommons writes into executions, and the schema does not have. */
#define OF_LIBRARY "launchDir", "avgPowerInKWh"

/* ---- 1.5 and 1.6 ---- */

#define OF_SPECIFICATION                                                                           \
    .singular = "specification", .plural = "specifications", .known = {"tasks", "files", "metrics"}
#define OF_SPLIT                                                                                   \
    .singular = "workflow", .plural = "workflows",                                                 \
    .known = {"specification", "execution", OF_WORKFLOW}

static const struct wfformat_place specified_place = {
    .singular = "task of the specification",
    .plural = "tasks of the specification",
    .known = {SPECIFIED, "inputFiles", "outputFiles"}};
static const struct wfformat_place executed_place = {
    .singular = "task of the execution",
    .plural = "tasks of the execution",
    .known = {"id", RECORD, "category", OF_LIBRARY},
    .inside = {{"command", &command_place}}};
static const struct wfformat_place specification_place = {
    OF_SPECIFICATION,
    .inside = {{"tasks", &specified_place}, {"files", &file_place}, {"metrics", &structure_place}}};
static const struct wfformat_place execution_place = {
    .singular = "execution",
    .plural = "executions",
    .known = {ABOUT_RUN, "metrics"},
    .inside = {{"tasks", &executed_place}, {"machines", &machine_place}, {"metrics", &run_place}}};
static const struct wfformat_place split_place = {
    OF_SPLIT, .inside = {{"specification", &specification_place}, {"execution", &execution_place}}};
static const struct wfformat_place split_document = {OF_DOCUMENT,
                                                     .inside = {{"workflow", &split_place}}};

/* Without an execution the reader takes what is recorded from the specification. */
static const struct wfformat_place alone_place = {
    .singular = "task of the specification",
    .plural = "tasks of the specification",
    .known = {SPECIFIED, "inputFiles", "outputFiles", RECORD},
    .inside = {{"command", &command_place}}};
static const struct wfformat_place alone_specification = {
    OF_SPECIFICATION,
    .inside = {{"tasks", &alone_place}, {"files", &file_place}, {"metrics", &structure_place}}};
static const struct wfformat_place alone_workflow = {
    OF_SPLIT, .inside = {{"specification", &alone_specification}, {"execution", &execution_place}}};
static const struct wfformat_place alone_document = {OF_DOCUMENT,
                                                     .inside = {{"workflow", &alone_workflow}}};

/* ---- up to 1.4 ---- */

static const struct wfformat_place task_place = {
    .singular = "task",
    .plural = "tasks",
    .known = {SPECIFIED, "type", "files", RECORD},
    .inside = {{"files", &file_place}, {"command", &command_place}}};
static const struct wfformat_place whole_place = {
    .singular = "workflow",
    .plural = "workflows",
    .known = {ABOUT_RUN, "jobs", OF_WORKFLOW},
    .inside = {{"tasks", &task_place}, {"jobs", &task_place}, {"machines", &machine_place}}};
static const struct wfformat_place whole_document = {OF_DOCUMENT,
                                                     .inside = {{"workflow", &whole_place}}};

/* ---- what is found ---- */

struct wfformat_stranger {
    const struct wfformat_place *place;
    json_ref key; /* the first of its kind */
    size_t count;
};

struct wfformat_strangers {
    const struct json *j;
    struct wfformat_stranger kind[MOST_KINDS];
    size_t n, more; /* kinds; members of yet other kinds */
};

static size_t known_count(const struct wfformat_place *place)
{
    size_t n = 0;
    while (n < MOST_KNOWN && place->known[n])
        n++;
    return n;
}

/* Writers give all objects of a sort their members in one order, mostly the schema's: the one behind the
 * last is looked at first. */
static bool is_known(const struct wfformat_place *place, const char *key, size_t *guess)
{
    if (*guess < MOST_KNOWN && place->known[*guess] && strcmp(place->known[*guess], key) == 0) {
        ++*guess;
        return true;
    }
    for (size_t i = 0; i < MOST_KNOWN && place->known[i]; i++)
        if (strcmp(place->known[i], key) == 0) {
            *guess = i + 1;
            return true;
        }
    return false;
}

static void count_stranger(struct wfformat_strangers *s, const struct wfformat_place *place,
                           json_ref key)
{
    const char *name = json_string(s->j, key, NULL);
    for (size_t i = 0; i < s->n; i++)
        if (s->kind[i].place == place &&
            strcmp(json_string(s->j, s->kind[i].key, NULL), name) == 0) {
            s->kind[i].count++;
            return;
        }
    if (s->n < MOST_KINDS)
        s->kind[s->n++] = (struct wfformat_stranger){place, key, 1};
    else
        s->more++;
}

/* As deep as the places are. What is neither object nor list is told by whoever reads it. */
static void look_for_strangers(struct wfformat_strangers *s, const struct wfformat_place *place,
                               json_ref v)
{
    const struct json *j = s->j;
    if (json_type(j, v) == JSON_ARRAY)
        for (json_ref e = json_first(j, v); e != JSON_NONE; e = json_next_element(j, v, e))
            if (json_type(j, e) == JSON_OBJECT)
                look_for_strangers(s, place, e);
    if (json_type(j, v) != JSON_OBJECT)
        return;
    size_t guess = 0;
    for (json_ref k = json_first(j, v); k != JSON_NONE; k = json_next_member(j, v, k)) {
        const char *key = json_string(j, k, NULL);
        if (!is_known(place, key, &guess))
            count_stranger(s, place, k);
        json_ref value = json_member_value(j, k);
        bool deep = json_type(j, value) >= JSON_ARRAY;
        for (int i = 0; deep && i < MOST_INSIDE && place->inside[i].key; i++)
            if (strcmp(place->inside[i].key, key) == 0)
                look_for_strangers(s, place->inside[i].place, value);
    }
}

void wfformat_unknown_remark(const struct wfformat_document *d, struct builder *b)
{
    struct wfformat_strangers s = {.j = &d->json};
    look_for_strangers(&s,
                       !d->split                         ? &whole_document
                       : d->execution_tasks == JSON_NONE ? &alone_document
                                                         : &split_document,
                       0);
    for (size_t i = 0; i < s.n; i++) {
        const struct wfformat_stranger *k = &s.kind[i];
        const char *name = json_string(s.j, k->key, NULL);
        const char *near = suggest_nearest(name, k->place->known, known_count(k->place));
        builder_warn(b, json_line(s.j, k->key),
                     "'%.*s' of %zu %s is passed over: WfFormat has no such member there%s%s%s",
                     LONGEST_SHOWN, name, k->count,
                     plural_word(k->count, k->place->singular, k->place->plural),
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (s.more)
        builder_warn(b, 0, "%zu more member%s passed over that WfFormat does not have", s.more,
                     plural_word(s.more, " is", "s are"));
}
