/* The description of a run's crate: one flat graph of entities, each an object with "@id" and "@type"
 * that others refer to by "@id" alone.
 *
 *     "./" ──mainEntity──▶ workflow.yaml ──step──▶ #step/T ──workExample──▶ #tool/KIND
 *      │                     ▲ instrument            ▲ instrument             ▲ instrument
 *      └──mentions──▶ #run ──┘      #control/T ──────┘──object──▶ #attempt/T/N ┘
 *                     │ object, result                            │ object, result
 *                     └──▶ files, #value/P                        └──▶ files
 *
 * Names of tasks, kinds and parameters stand in ids as in addresses, with %XX for what those cannot
 * have. O(tasks + edges + attempts). */
#include "formats/crate/crate.h"
#include "base/instant.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pool.h"
#include "model/command.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct crate_writer {
    const struct run_record *r;
    const struct workflow *w;
    const struct crate_file *files;
    struct json_writer j;
    struct strbuf id, text;
    uint32_t *first;   /* of each task: its first attempt among the events; NONE: none */
    uint32_t *next;    /* beside the events: the next attempt of the same task; NONE: none */
    uint32_t *example; /* of each kind's name: the first task that has it + 1; by str_id */
};

/* ---- ids ---- */

/* As a part of an address: a slash separates, unless `all` counts it as one of the name's characters. */
static void crate_escape(struct strbuf *out, const char *text, bool all)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (isalnum(*p) || strchr("-._~", *p) || (*p == '/' && !all))
            strbuf_add_char(out, (char)*p);
        else
            strbuf_printf(out, "%%%02X", *p);
}

/* "#SORT/NAME"; valid until the next call of an id function. */
static const char *crate_named(struct crate_writer *c, const char *sort, const char *name)
{
    strbuf_clear(&c->id);
    strbuf_printf(&c->id, "#%s/", sort);
    crate_escape(&c->id, name, true);
    return c->id.at;
}

static const char *crate_attempt_id(struct crate_writer *c, uint32_t event)
{
    const struct trace_event *e = &c->r->events.at[event];
    crate_named(c, "attempt", workflow_task_name(c->w, e->id));
    strbuf_printf(&c->id, "/%u", e->attempt ? e->attempt : 1);
    /* what another machine failed counts no attempt: the place tells them apart */
    for (uint32_t k = c->first[e->id]; k != event && k != NONE; k = c->next[k])
        if (c->r->events.at[k].attempt == e->attempt)
            strbuf_add(&c->id, "-again");
    return c->id.at;
}

/* In the crate by its place there; else where it was, on the machine it was on. */
static const char *crate_file_id(struct crate_writer *c, uint32_t object)
{
    const struct crate_file *f = &c->files[object];
    strbuf_clear(&c->id);
    if (f->inside) {
        strbuf_add(&c->id, CRATE_FILES "/");
        crate_escape(&c->id, f->path + strspn(f->path, "/"), false);
        if (f->folder && c->id.at[c->id.n - 1] != '/')
            strbuf_add_char(&c->id, '/');
        return c->id.at;
    }
    strbuf_add(&c->id, "file://");
    crate_escape(&c->id, c->r->host ? c->r->host : "", true);
    if (*f->path != '/') {
        crate_escape(&c->id, c->r->folder ? c->r->folder : "", false);
        strbuf_add_char(&c->id, '/');
    }
    crate_escape(&c->id, f->path, false);
    return c->id.at;
}

/* ---- entities ---- */

/* An entity: its own members follow, and crate_end(). */
static void crate_begin(struct crate_writer *c, const char *id, const char *type)
{
    json_write_object(&c->j);
    json_put_string(&c->j, "@id", id);
    json_put_string(&c->j, "@type", type);
}

static void crate_end(struct crate_writer *c)
{
    json_write_end_object(&c->j);
}

/* Nothing is nested: what stands inside an entity is a reference to another. */
static void crate_refer(struct crate_writer *c, const char *id)
{
    json_write_object_inline(&c->j);
    json_put_string(&c->j, "@id", id);
    json_write_end_object(&c->j);
}

static void crate_put_reference(struct crate_writer *c, const char *key, const char *id)
{
    json_write_key(&c->j, key);
    crate_refer(c, id);
}

static void crate_begin_list(struct crate_writer *c, const char *key)
{
    json_write_key(&c->j, key);
    json_write_array(&c->j);
}

static void crate_end_list(struct crate_writer *c)
{
    json_write_end_array(&c->j);
}

/* What is not over has no end, rather than one of zero. */
static void crate_put_time(struct crate_writer *c, const char *key, double seconds)
{
    char when[INSTANT_TEXT];
    if (isfinite(seconds))
        json_put_string(&c->j, key, instant_text(seconds, when));
}

/* A file that no record has (a task that failed, an ordering edge) is not in the crate at all. */
static bool crate_knows(const struct crate_writer *c, uint32_t object)
{
    return c->files[object].path != NULL;
}

/* Which files it is about: what tasks read from outside, or what nobody reads any more. */
static bool crate_is_input(const struct crate_writer *c, uint32_t object)
{
    return c->w->producer[object] == NONE;
}

/* Intermediate files are neither: they appear as results and objects of attempts alone. */
static bool crate_is_output(const struct crate_writer *c, uint32_t object)
{
    uint32_t n = 0;
    workflow_consumers(c->w, object, &n);
    return !crate_is_input(c, object) && n == 0;
}

/* ---- the crate itself ---- */

static void crate_put_conforms(struct crate_writer *c, const char *const *profiles)
{
    crate_begin_list(c, "conformsTo");
    for (; *profiles; profiles++)
        crate_refer(c, *profiles);
    crate_end_list(c);
}

/* From the widest to the narrowest: each builds on those before it. */
static const char *const crate_profiles[] = {
    "https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5",
    "https://w3id.org/ro/wfrun/provenance/0.5",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0", NULL};

/* The profiles ask for entities of their own, with name and version. */
static void crate_put_profiles(struct crate_writer *c)
{
    static const char *const names[] = {"Process Run Crate", "Workflow Run Crate",
                                        "Provenance Run Crate", "Workflow RO-Crate"};
    for (int i = 0; i < 4; i++) {
        crate_begin(c, crate_profiles[i], "CreativeWork");
        json_put_string(&c->j, "name", names[i]);
        json_put_string(&c->j, "version", strrchr(crate_profiles[i], '/') + 1);
        crate_end(c);
    }
}

/* The description of itself, then the folder that it describes. A license is demanded by the profile of
 * workflows; nobody states one to weft, and it says so rather than choose. */
static void crate_put_root(struct crate_writer *c)
{
    static const char *const itself[] = {"https://w3id.org/ro/crate/1.1",
                                         "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
                                         NULL};
    const struct run_record *r = c->r;
    crate_begin(c, CRATE_METADATA, "CreativeWork");
    crate_put_conforms(c, itself);
    crate_put_reference(c, "about", "./");
    crate_end(c);

    crate_begin(c, "./", "Dataset");
    crate_put_conforms(c, crate_profiles);
    strbuf_clear(&c->text);
    strbuf_printf(&c->text, "Run %lld of %s", (long long)r->run, r->name ? r->name : "a workflow");
    json_put_string(&c->j, "name", c->text.at);
    strbuf_printf(&c->text, ", %s, on %s, recorded by weft %s", record_outcome_name(r->outcome),
                  r->host ? r->host : "an unknown machine", r->version ? r->version : "");
    json_put_string(&c->j, "description", c->text.at);
    crate_put_time(c, "datePublished", r->started + (isfinite(r->seconds) ? r->seconds : 0));
    json_put_string(&c->j, "license",
                    "No license has been stated for what is in this crate; ask its author.");
    crate_begin_list(c, "hasPart");
    crate_refer(c, CRATE_WORKFLOW);
    for (uint32_t o = 0; o < c->w->nobjects; o++)
        if (crate_knows(c, o))
            crate_refer(c, crate_file_id(c, o));
    crate_end_list(c);
    crate_put_reference(c, "mainEntity", CRATE_WORKFLOW);
    crate_begin_list(c, "mentions");
    crate_refer(c, "#run");
    crate_end_list(c);
    /* what people said: names and tags are keywords, notes are comments */
    strbuf_clear(&c->text);
    for (size_t i = 0; i < r->facts.n; i++)
        if (r->facts.at[i].sort == FACT_TAG || r->facts.at[i].sort == FACT_NAME)
            strbuf_printf(&c->text, "%s%s", c->text.n ? ", " : "", r->facts.at[i].value);
    if (c->text.n)
        json_put_string(&c->j, "keywords", c->text.at);
    crate_begin_list(c, "comment");
    for (size_t i = 0; i < r->facts.n; i++)
        if (r->facts.at[i].sort == FACT_NOTE)
            json_write_string(&c->j, r->facts.at[i].value);
    crate_end_list(c);
    crate_end(c);
}

/* ---- the workflow, its parts and parameters ---- */

/* The types are those that a workflow with steps must have (Provenance Run Crate). */
static void crate_put_workflow(struct crate_writer *c)
{
    static const char *const types[] = {"File", "SoftwareSourceCode", "ComputationalWorkflow",
                                        "HowTo"};
    const struct workflow *w = c->w;
    json_write_object(&c->j);
    json_put_string(&c->j, "@id", CRATE_WORKFLOW);
    json_write_key(&c->j, "@type");
    json_write_array_inline(&c->j);
    for (int i = 0; i < 4; i++)
        json_write_string(&c->j, types[i]);
    json_write_end_array(&c->j);
    json_put_string(&c->j, "name", c->r->name && *c->r->name ? c->r->name : "workflow");
    crate_put_reference(c, "programmingLanguage", "#language");
    crate_begin_list(c, "input");
    for (uint32_t i = 0; i < w->nparameters; i++)
        crate_refer(c, crate_named(c, "parameter", workflow_text(w, w->parameter_name[i])));
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (crate_knows(c, o) && crate_is_input(c, o))
            crate_refer(c, crate_named(c, "input", c->files[o].path));
    crate_end_list(c);
    crate_begin_list(c, "output");
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (crate_knows(c, o) && crate_is_output(c, o))
            crate_refer(c, crate_named(c, "output", c->files[o].path));
    crate_end_list(c);
    crate_begin_list(c, "hasPart");
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (c->example[w->kind[t]] == t + 1)
            crate_refer(c, crate_named(c, "tool", workflow_text(w, w->kind[t])));
    crate_end_list(c);
    crate_begin_list(c, "step");
    for (uint32_t t = 0; t < w->ntasks; t++)
        crate_refer(c, crate_named(c, "step", workflow_task_name(w, t)));
    crate_end_list(c);
    crate_end(c);
    crate_begin(c, "#language", "ComputerLanguage");
    json_put_string(&c->j, "name", "weft");
    crate_end(c);
}

/* A place where something may stand: what stood there points at it by "exampleOfWork". */
static void crate_put_formal(struct crate_writer *c, const char *sort, const char *name,
                             const char *type)
{
    crate_begin(c, crate_named(c, sort, name), "FormalParameter");
    json_put_string(&c->j, "name", name);
    json_put_string(&c->j, "additionalType", type);
    crate_put_reference(c, "conformsTo",
                        "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE");
    crate_end(c);
}

/* What may be given to it, and the values it had. */
static void crate_put_parameters(struct crate_writer *c)
{
    const struct workflow *w = c->w;
    for (uint32_t i = 0; i < w->nparameters; i++) {
        const char *name = workflow_text(w, w->parameter_name[i]);
        crate_put_formal(c, "parameter", name, "Text");
        crate_begin(c, crate_named(c, "value", name), "PropertyValue");
        json_put_string(&c->j, "name", name);
        json_put_string(&c->j, "value", workflow_text(w, w->parameter_value[i]));
        crate_put_reference(c, "exampleOfWork", crate_named(c, "parameter", name));
        crate_end(c);
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (crate_knows(c, o) && (crate_is_input(c, o) || crate_is_output(c, o)))
            crate_put_formal(c, crate_is_input(c, o) ? "input" : "output", c->files[o].path,
                             c->files[o].folder ? "Dataset" : "File");
    for (size_t i = 0; i < c->r->facts.n; i++) {
        const struct record_fact *f = &c->r->facts.at[i];
        if (f->sort != FACT_VALUE)
            continue;
        strbuf_clear(&c->id);
        strbuf_printf(&c->id, "#stated/%zu", i);
        crate_begin(c, c->id.at, "PropertyValue");
        json_put_string(&c->j, "name", f->name);
        json_put_string(&c->j, "value", f->value);
        crate_end(c);
    }
}

/* A tool stands for all tasks of a kind, a step for each task. */
static void crate_put_steps(struct crate_writer *c)
{
    const struct workflow *w = c->w;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (c->example[w->kind[t]] != t + 1)
            continue;
        crate_begin(c, crate_named(c, "tool", workflow_text(w, w->kind[t])), "SoftwareApplication");
        json_put_string(&c->j, "name", workflow_text(w, w->kind[t]));
        if (w->command && w->command[t])
            json_put_string(&c->j, "description", workflow_text(w, w->command[t]));
        crate_end(c);
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t);
        crate_begin(c, crate_named(c, "step", name), "HowToStep");
        json_put_string(&c->j, "name", name);
        strbuf_clear(&c->text);
        strbuf_printf(&c->text, "%u", t);
        json_put_string(&c->j, "position", c->text.at);
        crate_put_reference(c, "workExample", crate_named(c, "tool", workflow_text(w, w->kind[t])));
        crate_end(c);
    }
}

/* The digest stands as an identifier: the vocabulary has a word for SHA-256 alone. */
static void crate_put_files(struct crate_writer *c)
{
    char digest[DIGEST_TEXT];
    for (uint32_t o = 0; o < c->w->nobjects; o++) {
        const struct crate_file *f = &c->files[o];
        if (!f->path)
            continue;
        crate_begin(c, crate_file_id(c, o), f->folder ? "Dataset" : "File");
        json_put_string(&c->j, "name", f->path);
        if (isfinite(f->size)) {
            strbuf_clear(&c->text);
            strbuf_printf(&c->text, "%.0f", f->size);
            json_put_string(&c->j, "contentSize", c->text.at);
        }
        if (!digest_is_zero(&f->digest)) {
            strbuf_clear(&c->text);
            strbuf_printf(&c->text, "blake2b-256:%s", digest_text(&f->digest, digest));
            json_put_string(&c->j, "identifier", c->text.at);
        }
        if (crate_is_input(c, o) || crate_is_output(c, o))
            crate_put_reference(c, "exampleOfWork",
                                crate_named(c, crate_is_input(c, o) ? "input" : "output", f->path));
        crate_end(c);
    }
}

/* ---- what happened ---- */

/* A run that was lost has no end on record: it counts as going on, as nobody knows better. */
static void crate_put_status(struct crate_writer *c, bool done, bool over)
{
    crate_put_reference(c, "actionStatus",
                        !over  ? "http://schema.org/ActiveActionStatus"
                        : done ? "http://schema.org/CompletedActionStatus"
                               : "http://schema.org/FailedActionStatus");
}

/* The whole run: it read its inputs and parameters and what it found done, and made the rest. */
static void crate_put_run(struct crate_writer *c)
{
    const struct run_record *r = c->r;
    bool over = isfinite(r->seconds);
    crate_begin(c, "#run", "CreateAction");
    strbuf_clear(&c->text);
    strbuf_printf(&c->text, "run %lld", (long long)r->run);
    json_put_string(&c->j, "name", c->text.at);
    crate_put_reference(c, "instrument", CRATE_WORKFLOW);
    crate_begin_list(c, "object");
    for (uint32_t i = 0; i < c->w->nparameters; i++)
        crate_refer(c, crate_named(c, "value", workflow_text(c->w, c->w->parameter_name[i])));
    for (uint32_t o = 0; o < c->w->nobjects; o++)
        if (crate_knows(c, o) && !c->files[o].made)
            crate_refer(c, crate_file_id(c, o));
    crate_end_list(c);
    crate_begin_list(c, "result");
    for (uint32_t o = 0; o < c->w->nobjects; o++)
        if (crate_knows(c, o) && c->files[o].made)
            crate_refer(c, crate_file_id(c, o));
    for (size_t i = 0; i < r->facts.n; i++)
        if (r->facts.at[i].sort == FACT_VALUE) {
            strbuf_clear(&c->id);
            strbuf_printf(&c->id, "#stated/%zu", i);
            crate_refer(c, c->id.at);
        }
    crate_end_list(c);
    crate_put_time(c, "startTime", r->started);
    crate_put_time(c, "endTime", r->started + r->seconds);
    crate_put_status(c, r->outcome == RECORD_DONE, over);
    if (over && r->outcome != RECORD_DONE)
        json_put_string(&c->j, "error", record_outcome_name(r->outcome));
    crate_end(c);
}

/* In words where they are on record. */
static void crate_put_error(struct crate_writer *c, const struct trace_event *e)
{
    strbuf_clear(&c->text);
    strbuf_printf(&c->text, "%s, status %d", trace_outcome_name(e->outcome), e->status);
    for (size_t i = 0; i < c->r->failures.n; i++) {
        const struct record_failure *f = &c->r->failures.at[i];
        if (f->task == e->id && f->attempt == e->attempt && f->reason) {
            strbuf_clear(&c->text);
            strbuf_add(&c->text, f->reason);
        }
    }
    json_put_string(&c->j, "error", c->text.at);
}

/* Edges by the same object stand together: each file once. */
static void crate_put_reads(struct crate_writer *c, uint32_t t)
{
    const struct workflow *w = c->w;
    uint32_t before = NONE;
    crate_begin_list(c, "object");
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
        if (w->pred_object[e] != NONE && w->pred_object[e] != before &&
            crate_knows(c, w->pred_object[e]))
            crate_refer(c, crate_file_id(c, w->pred_object[e]));
        before = w->pred_object[e];
    }
    for (uint32_t i = w->input_off ? w->input_off[t] : 0; w->input_off && i < w->input_off[t + 1];
         i++)
        if (crate_knows(c, w->input_object[i]))
            crate_refer(c, crate_file_id(c, w->input_object[i]));
    crate_end_list(c);
}

/* What it took, as values with a unit; a name below the attempt's own id. */
static void crate_put_usage(struct crate_writer *c, uint32_t event, const char *what, double amount,
                            const char *unit)
{
    crate_attempt_id(c, event);
    strbuf_printf(&c->id, "/%s", what);
    crate_begin(c, c->id.at, "PropertyValue");
    json_put_string(&c->j, "name", what);
    strbuf_clear(&c->text);
    strbuf_printf(&c->text, "%.15g", amount);
    json_put_string(&c->j, "value", c->text.at);
    json_put_string(&c->j, "unitText", unit);
    crate_end(c);
}

static void crate_refer_usage(struct crate_writer *c, uint32_t event, const char *what)
{
    crate_attempt_id(c, event);
    strbuf_printf(&c->id, "/%s", what);
    crate_refer(c, c->id.at);
}

/* Files belong to the attempt that ended well: at most one of a task does. */
static void crate_put_attempt(struct crate_writer *c, uint32_t event)
{
    const struct trace_event *e = &c->r->events.at[event];
    const struct workflow *w = c->w;
    uint32_t t = e->id;
    crate_begin(c, crate_attempt_id(c, event), "CreateAction");
    json_put_string(&c->j, "name", workflow_task_name(w, t));
    strbuf_clear(&c->text);
    if (w->command && w->command[t] && command_readable(w, t, e->attempt, &c->text))
        json_put_string(&c->j, "description", strbuf_text(&c->text));
    crate_put_reference(c, "instrument", crate_named(c, "tool", workflow_text(w, w->kind[t])));
    crate_put_reads(c, t);
    crate_begin_list(c, "result");
    for (uint32_t o = w->object_off[t]; e->outcome == TRACE_DONE && o < w->object_end[t]; o++)
        if (crate_knows(c, o) && c->files[o].made)
            crate_refer(c, crate_file_id(c, o));
    crate_end_list(c);
    crate_put_time(c, "startTime", c->r->started + e->start);
    crate_put_time(c, "endTime", c->r->started + e->finish);
    crate_put_status(c, e->outcome == TRACE_DONE, true);
    if (e->outcome != TRACE_DONE)
        crate_put_error(c, e);
    crate_begin_list(c, "resourceUsage");
    if (e->cpu > 0)
        crate_refer_usage(c, event, "cpu");
    if (e->memory > 0)
        crate_refer_usage(c, event, "memory");
    crate_end_list(c);
    crate_end(c);
    if (e->cpu > 0)
        crate_put_usage(c, event, "cpu", e->cpu, "second");
    if (e->memory > 0)
        crate_put_usage(c, event, "memory", e->memory, "byte");
}

/* Attempts, the step that each was a try of, and the engine that made them. Tasks that were found done
 * have no attempt here: another run's crate has it. */
static void crate_put_happened(struct crate_writer *c)
{
    const struct workflow *w = c->w;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (c->first[t] == NONE)
            continue;
        for (uint32_t k = c->first[t]; k != NONE; k = c->next[k])
            crate_put_attempt(c, k);
        crate_begin(c, crate_named(c, "control", workflow_task_name(w, t)), "ControlAction");
        json_put_string(&c->j, "name", workflow_task_name(w, t));
        crate_put_reference(c, "instrument", crate_named(c, "step", workflow_task_name(w, t)));
        crate_begin_list(c, "object");
        for (uint32_t k = c->first[t]; k != NONE; k = c->next[k])
            crate_refer(c, crate_attempt_id(c, k));
        crate_end_list(c);
        crate_end(c);
    }
    crate_begin(c, "#weft", "SoftwareApplication");
    json_put_string(&c->j, "name", "weft");
    if (c->r->version)
        json_put_string(&c->j, "softwareVersion", c->r->version);
    if (c->r->system)
        json_put_string(&c->j, "operatingSystem", c->r->system);
    crate_end(c);
    crate_begin(c, "#execution", "OrganizeAction");
    json_put_string(&c->j, "name", "execution by weft");
    crate_put_reference(c, "instrument", "#weft");
    crate_put_reference(c, "result", "#run");
    crate_begin_list(c, "object");
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (c->first[t] != NONE)
            crate_refer(c, crate_named(c, "control", workflow_task_name(w, t)));
    crate_end_list(c);
    crate_put_time(c, "startTime", c->r->started);
    crate_put_time(c, "endTime", c->r->started + c->r->seconds);
    crate_end(c);
}

/* ---- all of it ---- */

/* Attempts of a task in order of time, as chains through the events. */
static void crate_chain(struct crate_writer *c)
{
    const struct run_record *r = c->r;
    uint32_t ntasks = c->w->ntasks;
    c->first = mem_new(uint32_t, (size_t)ntasks + 1);
    c->next = mem_new(uint32_t, r->events.n + 1);
    for (uint32_t t = 0; t < ntasks; t++)
        c->first[t] = NONE;
    for (size_t i = r->events.n; i-- > 0;) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK || e->id >= ntasks)
            continue;
        c->next[i] = c->first[e->id];
        c->first[e->id] = (uint32_t)i;
    }
}

/* Kinds are numbered by their texts: the first task of each stands for its tool. */
void crate_write(const struct run_record *r, const struct crate_file *files, struct strbuf *out)
{
    struct crate_writer c = {.r = r, .w = r->workflow, .files = files};
    str_id most = 0;
    for (uint32_t t = 0; t < c.w->ntasks; t++)
        most = c.w->kind[t] > most ? c.w->kind[t] : most;
    c.example = mem_new_zero(uint32_t, (size_t)most + 1);
    for (uint32_t t = c.w->ntasks; t-- > 0;)
        c.example[c.w->kind[t]] = t + 1;
    crate_chain(&c);
    json_write_start(&c.j, out, true);
    json_write_object(&c.j);
    json_write_key(&c.j, "@context");
    json_write_array(&c.j);
    json_write_string(&c.j, "https://w3id.org/ro/crate/1.1/context");
    json_write_string(&c.j, "https://w3id.org/ro/terms/workflow-run/context");
    json_write_end_array(&c.j);
    json_write_key(&c.j, "@graph");
    json_write_array(&c.j);
    crate_put_root(&c);
    crate_put_profiles(&c);
    crate_put_workflow(&c);
    crate_put_parameters(&c);
    crate_put_steps(&c);
    crate_put_files(&c);
    crate_put_run(&c);
    crate_put_happened(&c);
    json_write_end_array(&c.j);
    json_write_end_object(&c.j);
    strbuf_free(&c.id);
    strbuf_free(&c.text);
    free(c.first);
    free(c.next);
    free(c.example);
}
