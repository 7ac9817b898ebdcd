/* Pegasus 5 workflows in YAML. Keys that say nothing about the graph (catalogs, hooks ...) are
 * passed over.
 *
 *     pegasus: "5.0"
 *     name: diamond
 *     jobs:
 *       - type: job
 *         id: ID0000001                       a task
 *         name: preprocess                    its kind
 *         metadata: {runtime: "60"}           its work; or profiles.pegasus.runtime
 *         profiles: {pegasus: {cores: 1, memory: 2048}}
 *         uses:
 *           - {lfn: f.a, type: input, size: 1000}
 *           - {lfn: f.b1, type: output}
 *     jobDependencies:
 *       - {id: ID0000001, children: [ID0000002, ID0000003]} */
#include "base/quantity.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/uses.h"
#include "formats/yaml/yaml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A file being read; errors are the builder's. */
struct pegasus_reading {
    struct yaml y;
    struct builder *b;
    struct uses *uses;
    size_t without_runtime;
};

static bool pegasus_wrong_type(struct pegasus_reading *r, yaml_ref v, const char *what,
                               const char *expected)
{
    char found[80];
    return builder_error(r->b, yaml_line(&r->y, v), "%s is %s; expected %s", what,
                         yaml_found(&r->y, v, found, sizeof found), expected);
}

static bool pegasus_read_number(struct pegasus_reading *r, yaml_ref v, const char *what,
                                double *out)
{
    size_t length;
    const char *text = yaml_text(&r->y, v, &length);
    return quantity_number(text, length, out) || pegasus_wrong_type(r, v, what, "a finite number");
}

/* A text that must be there and not empty. */
static const char *read_text(struct pegasus_reading *r, yaml_ref mapping, const char *key,
                             const char *what, size_t *length)
{
    yaml_ref v = yaml_get(&r->y, mapping, key);
    if (v == YAML_NONE) {
        builder_error(r->b, yaml_line(&r->y, mapping), "%s has no '%s'", what, key);
        return NULL;
    }
    const char *text = yaml_text(&r->y, v, length);
    if (*length)
        return text;
    pegasus_wrong_type(r, v, key, "a text");
    return NULL;
}

/* The list under a key: YAML_NONE when absent or null, an error when it is something else. */
static yaml_ref get_list(struct pegasus_reading *r, yaml_ref mapping, const char *key)
{
    yaml_ref v = yaml_get(&r->y, mapping, key);
    if (v == YAML_NONE || yaml_is_null(&r->y, v))
        return YAML_NONE;
    if (yaml_type(&r->y, v) == YAML_SEQUENCE)
        return v;
    pegasus_wrong_type(r, v, key, "a list");
    return YAML_NONE;
}

/* An lfn with a type: what the job reads, writes, or both (a checkpoint survives a restart). */
static bool read_use(struct pegasus_reading *r, uint32_t task, yaml_ref use)
{
    const struct yaml *y = &r->y;
    if (yaml_type(y, use) != YAML_MAPPING)
        return pegasus_wrong_type(r, use, "an entry of uses", "a mapping with lfn and type");
    size_t length, line = yaml_line(y, use);
    const char *name = read_text(r, use, "lfn", "an entry of uses", &length);
    if (!name)
        return false;
    yaml_ref type = yaml_get(y, use, "type"), size = yaml_get(y, use, "size");
    const char *kind = type == YAML_NONE ? "none" : yaml_text(y, type, NULL);
    /* a checkpoint is written by one attempt and read by the next */
    bool both = strcmp(kind, "inout") == 0 || strcmp(kind, "checkpoint") == 0;
    bool in = both || strcmp(kind, "input") == 0, out = both || strcmp(kind, "output") == 0;
    if (!in && !out)
        return strcmp(kind, "none") == 0 ||
               pegasus_wrong_type(r, type, "type", "input, output, inout, checkpoint or none");
    uint32_t file = uses_file(r->uses, name, length);
    if (in)
        uses_input(r->uses, task, file, line);
    if (out)
        uses_output(r->uses, task, file, line);
    if (size == YAML_NONE)
        size = yaml_get(y, yaml_get(y, use, "metadata"), "size");
    double bytes;
    if (size != YAML_NONE) {
        if (!pegasus_read_number(r, size, "size", &bytes))
            return false;
        uses_size(r->uses, file, bytes, yaml_line(y, size));
    }
    return true;
}

/* A number of profiles.pegasus; YAML_NONE: not there. */
static yaml_ref pegasus_profile_value(const struct yaml *y, yaml_ref job, const char *key)
{
    return yaml_get(y, yaml_get(y, yaml_get(y, job, "profiles"), "pegasus"), key);
}

/* metadata.runtime is what the generators write, the profile what users state. */
static bool read_costs(struct pegasus_reading *r, uint32_t task, yaml_ref job)
{
    const struct yaml *y = &r->y;
    yaml_ref runtime = yaml_get(y, yaml_get(y, job, "metadata"), "runtime");
    yaml_ref cores = pegasus_profile_value(y, job, "cores"),
             memory = pegasus_profile_value(y, job, "memory");
    double value;
    if (runtime == YAML_NONE)
        runtime = pegasus_profile_value(y, job, "runtime");
    r->without_runtime += runtime == YAML_NONE;
    if (runtime != YAML_NONE) {
        if (!pegasus_read_number(r, runtime, "runtime", &value))
            return false;
        builder_work(r->b, task, value, yaml_line(y, runtime));
    }
    if (cores != YAML_NONE) {
        if (!pegasus_read_number(r, cores, "cores", &value))
            return false;
        builder_cores(r->b, task, value, yaml_line(y, cores));
    }
    if (memory != YAML_NONE) { /* in MB, says the manual */
        if (!pegasus_read_number(r, memory, "memory", &value))
            return false;
        builder_memory(r->b, task, value * 1e6, yaml_line(y, memory));
    }
    return true;
}

/* Sub-workflows have a `file` where jobs have a `name`. */
static bool read_job(struct pegasus_reading *r, yaml_ref job)
{
    const struct yaml *y = &r->y;
    if (yaml_type(y, job) != YAML_MAPPING)
        return pegasus_wrong_type(r, job, "an entry of jobs", "a mapping");
    size_t length;
    const char *id = read_text(r, job, "id", "a job", &length);
    if (!id)
        return false;
    uint32_t task = builder_task(r->b, id, length, yaml_line(y, job));
    yaml_ref name = yaml_get(y, job, "name");
    if (name == YAML_NONE)
        name = yaml_get(y, job, "file"); /* pegasusWorkflow and condorWorkflow */
    if (name != YAML_NONE) {
        const char *kind = yaml_text(y, name, &length);
        if (length)
            builder_kind(r->b, task, kind, length);
    }
    if (!read_costs(r, task, job))
        return false;
    yaml_ref uses = get_list(r, job, "uses");
    if (uses == YAML_NONE)
        return !builder_failed(r->b);
    for (yaml_ref e = yaml_first(y, uses); e != YAML_NONE; e = yaml_next(y, uses, e))
        if (!read_use(r, task, e))
            return false;
    return !builder_failed(r->b);
}

/* Children by id; they may be defined below, so uses.c resolves them. */
static bool read_dependency(struct pegasus_reading *r, yaml_ref entry)
{
    const struct yaml *y = &r->y;
    if (yaml_type(y, entry) != YAML_MAPPING)
        return pegasus_wrong_type(r, entry, "an entry of jobDependencies",
                                  "a mapping with id and children");
    size_t length;
    const char *id = read_text(r, entry, "id", "an entry of jobDependencies", &length);
    if (!id)
        return false;
    yaml_ref children = get_list(r, entry, "children");
    if (children == YAML_NONE)
        return !builder_failed(r->b);
    for (yaml_ref e = yaml_first(y, children); e != YAML_NONE; e = yaml_next(y, children, e)) {
        size_t child_length;
        const char *child = yaml_text(y, e, &child_length);
        if (!child_length)
            return pegasus_wrong_type(r, e, "an entry of children", "the id of a job");
        uses_edge(r->uses, id, length, child, child_length, yaml_line(y, e));
    }
    return true;
}

/* Catalogs are files of the same key without jobs: they are told apart here. */
static bool pegasus_read_file(struct pegasus_reading *r)
{
    const struct yaml *y = &r->y;
    if (yaml_type(y, 0) != YAML_MAPPING)
        return pegasus_wrong_type(r, 0, "the file", "a mapping with the key 'pegasus'");
    if (yaml_get(y, 0, "pegasus") == YAML_NONE)
        return builder_error(r->b, 1,
                             "the key 'pegasus' is missing; expected a Pegasus 5 workflow");
    yaml_ref name = yaml_get(y, 0, "name"), jobs_key = yaml_get(y, 0, "jobs");
    if (name != YAML_NONE) {
        size_t length;
        const char *text = yaml_text(y, name, &length);
        builder_name(r->b, text, length);
    }
    if (jobs_key == YAML_NONE)
        return builder_error(
            r->b, 1, "the key 'jobs' is missing; this is a Pegasus file without a workflow");
    yaml_ref jobs = get_list(r, 0, "jobs"), edges = get_list(r, 0, "jobDependencies");
    if (builder_failed(r->b))
        return false;
    if (jobs != YAML_NONE)
        for (yaml_ref e = yaml_first(y, jobs); e != YAML_NONE; e = yaml_next(y, jobs, e))
            if (!read_job(r, e))
                return false;
    if (edges != YAML_NONE)
        for (yaml_ref e = yaml_first(y, edges); e != YAML_NONE; e = yaml_next(y, edges, e))
            if (!read_dependency(r, e))
                return false;
    return true;
}

/* The label shows the version that the file states. */
static struct workflow *pegasus_read_workflow(const struct format_source *source, struct error *err)
{
    struct pegasus_reading r = {0};
    if (!yaml_load(&r.y, source->path, source->text, source->length, err))
        return NULL;
    char label[32] = "pegasus";
    yaml_ref version = yaml_get(&r.y, 0, "pegasus");
    if (version != YAML_NONE)
        snprintf(label, sizeof label, "pegasus-%.16s", yaml_text(&r.y, version, NULL));
    r.b = builder_new(source->path, label);
    builder_home(r.b, source->folder);
    r.uses = uses_new(r.b);
    if (pegasus_read_file(&r)) {
        uses_finish(r.uses);
        if (r.without_runtime)
            builder_warn(r.b, 0, "%zu of %u job%s no run time in this file; their work is 0",
                         r.without_runtime, builder_task_count(r.b),
                         plural_word(builder_task_count(r.b), " has", "s have"));
    }
    uses_free(r.uses);
    yaml_free(&r.y);
    return builder_finish(r.b, err);
}

/* The key at the start of some line: catalogs and workflows share it, and the reader tells them
 * apart. */
static int pegasus_sniff(const char *path, const char *text, size_t length)
{
    (void)path;
    enum { LOOK = 16384 };
    const char *end = text + (length < LOOK ? length : LOOK);
    static const char *const keys[] = {"pegasus:", "x-pegasus:", "\"pegasus\":", "'pegasus':"};
    for (const char *p = text; p && p < end;
         p = memchr(p, '\n', (size_t)(end - p)), p = p ? p + 1 : p)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            size_t n = strlen(keys[i]);
            if ((size_t)(end - p) >= n && memcmp(p, keys[i], n) == 0)
                return 3;
        }
    return 0;
}

const struct format format_pegasus = {
    .name = "pegasus",
    .summary = "Pegasus 5 workflows, YAML",
    .suffixes = NULL,
    .sniff = pegasus_sniff,
    .read_workflow = pegasus_read_workflow,
};
