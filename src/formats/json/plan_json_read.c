/* Reading the plan file; writing is in plan_json.c.
 *
 * In two steps, because a plan names its workflow and platform: plan_file_open() parses the text
 * and finds the files it names, plan_file_read() makes names into numbers of the models that the
 * caller has read meanwhile. Whether the plan is any good is the checker's question. */
#include "base/mem.h"
#include "base/plural.h"
#include "formats/format.h"
#include "formats/json_field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A plan being read: its text, and the files that it names, as found from here. */
struct plan_file {
    struct text text;
    struct json j;
    char *path, *workflow, *platform;
};

/* ---- the file ---- */

/* A path as the plan states it, relative to the current folder or else to the plan's own. */
static char *plan_resolve_path(const char *plan_path, const char *stated)
{
    if (file_exists(stated))
        return mem_copy_string(stated);
    char *beside = file_beside(plan_path, stated);
    if (file_exists(beside))
        return beside;
    free(beside);
    return mem_copy_string(stated);
}

/* The file that the plan names under "workflow" or "platform"; absent is fine. */
static bool find_file(struct plan_file *f, const char *key, char **out, struct error *err)
{
    json_ref v = json_field(&f->j, 0, key);
    if (v == JSON_NONE)
        return true;
    const char *file;
    if (!json_field_is(&f->j, v, JSON_OBJECT, key, err) ||
        !json_field_string(&f->j, v, "file", &file, key, err))
        return false;
    if (file && *file)
        *out = plan_resolve_path(f->path, file);
    return true;
}

/* Enough to know that it is a plan, and which workflow and platform to read before the rest. */
static bool check_head(struct plan_file *f, struct error *err)
{
    const char *schema;
    if (!json_field_is(&f->j, 0, JSON_OBJECT, "the document", err) ||
        !json_field_string(&f->j, 0, "schema", &schema, "the plan", err))
        return false;
    if (!schema || strcmp(schema, "weft-plan/1") != 0)
        return json_error(&f->j, 0, err, "the schema is %s%s%s; expected a plan, \"weft-plan/1\"",
                          schema ? "'" : "", schema ? schema : "missing", schema ? "'" : "");
    return find_file(f, "workflow", &f->workflow, err) &&
           find_file(f, "platform", &f->platform, err);
}

/* Takes the text out of `file`, which the caller still closes. */
struct plan_file *plan_file_from(struct format_file *file, struct error *err)
{
    struct plan_file *f = mem_new_zero(struct plan_file, 1);
    f->path = mem_copy_string(format_file_path(file));
    f->text = format_file_take(file);
    if (json_parse(&f->j, f->path, f->text.at, f->text.n, err) && check_head(f, err))
        return f;
    plan_file_close(f);
    return NULL;
}

struct plan_file *plan_file_open(const char *path, struct error *err)
{
    struct format_file *file = format_file_open(path, NULL, NULL, err);
    struct plan_file *f = file ? plan_file_from(file, err) : NULL;
    format_file_close(file);
    return f;
}

const char *plan_file_workflow(const struct plan_file *f)
{
    return f->workflow;
}

const char *plan_file_platform(const struct plan_file *f)
{
    return f->platform;
}

void plan_file_close(struct plan_file *f)
{
    if (!f)
        return;
    json_free(&f->j);
    text_free(&f->text);
    free(f->path);
    free(f->workflow);
    free(f->platform);
    free(f);
}

/* ---- the plan ---- */

/* The second step: names become numbers of this workflow and platform. */
struct plan_reader {
    const struct json *j;
    const struct workflow *w;
    const struct platform *p;
    struct plan *plan;
    struct error *err;
};

/* The name under `key` of `row`; NULL after an error. */
static const char *need_name(struct plan_reader *r, json_ref row, const char *key, const char *what,
                             json_ref *at)
{
    *at = json_field_need(r->j, row, key, JSON_STRING, what, r->err);
    return *at == JSON_NONE ? NULL : json_string(r->j, *at, NULL);
}

/* A plan for another workflow fails here, with the name it does not have. */
static bool plan_find_task(struct plan_reader *r, json_ref at, uint32_t *task)
{
    if (!json_field_is(r->j, at, JSON_STRING, "a task", r->err))
        return false;
    const char *name = json_string(r->j, at, NULL);
    *task = workflow_find_task(r->w, name);
    return *task != NONE || json_error(r->j, at, r->err, "the workflow has no task '%s'", name);
}

/* A plan may be read without a platform, as long as it names no node. */
static bool find_node(struct plan_reader *r, json_ref at, uint32_t *node)
{
    if (!json_field_is(r->j, at, JSON_STRING, "a node", r->err))
        return false;
    const char *name = json_string(r->j, at, NULL);
    if (!r->p)
        return json_error(r->j, at, r->err, "the plan uses node '%s', but no platform is given",
                          name);
    *node = platform_find_node(r->p, name);
    return *node != NONE || json_error(r->j, at, r->err, "the platform has no node '%s'", name);
}

static bool row_task(struct plan_reader *r, json_ref row, const char *key, const char *what,
                     uint32_t *task)
{
    json_ref at;
    return need_name(r, row, key, what, &at) && plan_find_task(r, at, task);
}

static bool row_node(struct plan_reader *r, json_ref row, const char *key, const char *what,
                     uint32_t *node)
{
    json_ref at;
    return need_name(r, row, key, what, &at) && find_node(r, at, node);
}

/* A count or a number of something; absent: *out stays. */
static bool row_index(struct plan_reader *r, json_ref row, const char *key, const char *what,
                      uint32_t *out)
{
    /* as a double first: a count past 2^32 must be refused, not wrapped */
    double value = *out;
    if (!json_field_number(r->j, row, key, 0, &value, what, r->err))
        return false;
    if (value != floor(value) || value >= NONE)
        return json_error(r->j, row, r->err, "%s: \"%s\" is %g; expected a whole number", what, key,
                          value);
    *out = (uint32_t)value;
    return true;
}

/* Any time is read, also a negative one: the checker says what is wrong with it. */
static bool row_times(struct plan_reader *r, json_ref row, const char *what, double *start,
                      double *finish)
{
    return json_field_need(r->j, row, "start", JSON_NUMBER, what, r->err) != JSON_NONE &&
           json_field_need(r->j, row, "finish", JSON_NUMBER, what, r->err) != JSON_NONE &&
           json_field_number(r->j, row, "start", -INFINITY, start, what, r->err) &&
           json_field_number(r->j, row, "finish", -INFINITY, finish, what, r->err);
}

/* `copy` and `core` default to 0, as docs/formats/plan.md says. */
static bool read_placement(struct plan_reader *r, json_ref row)
{
    struct placement x = {0};
    uint32_t pinned = 0;
    if (!row_task(r, row, "task", "a placement", &x.task) ||
        !row_index(r, row, "copy", "a placement", &x.copy) ||
        !row_node(r, row, "node", "a placement", &x.node) ||
        !row_index(r, row, "core", "a placement", &x.core) ||
        !row_times(r, row, "a placement", &x.start, &x.finish) ||
        !row_index(r, row, "pinned", "a placement", &pinned))
        return false;
    if (pinned)
        array_push(&r->plan->pins, (struct plan_pin){x.task, pinned});
    array_push(&r->plan->placements, x);
    return true;
}

static bool row_object(struct plan_reader *r, json_ref row, const char *what, uint32_t *object)
{
    json_ref at;
    const char *name = need_name(r, row, "object", what, &at);
    if (!name)
        return false;
    *object = workflow_find_object(r->w, name);
    return *object != NONE || json_error(r->j, at, r->err, "the workflow has no object '%s'", name);
}

static bool read_transfer(struct plan_reader *r, json_ref row)
{
    struct transfer x = {0};
    if (!row_object(r, row, "a transfer", &x.object) ||
        !row_node(r, row, "from", "a transfer", &x.from) ||
        !row_node(r, row, "to", "a transfer", &x.to) ||
        !row_times(r, row, "a transfer", &x.start, &x.finish))
        return false;
    array_push(&r->plan->transfers, x);
    return true;
}

/* For the end of a task, or until a time. */
static bool read_wait(struct plan_reader *r, json_ref row)
{
    struct plan_wait x = {.after = NONE};
    if (!row_task(r, row, "task", "a wait", &x.task))
        return false;
    bool timed = json_field(r->j, row, "until") != JSON_NONE;
    if (timed ? !json_field_number(r->j, row, "until", 0, &x.until, "a wait", r->err)
              : !row_task(r, row, "after", "a wait", &x.after))
        return false;
    array_push(&r->plan->waits, x);
    return true;
}

/* Append the named tasks (or nodes) of a list to plan storage. An absent list has none. */
static bool read_names(struct plan_reader *r, json_ref row, const char *key, bool nodes,
                       uint32_t *first, uint32_t *count)
{
    struct plan *plan = r->plan;
    json_ref list = json_field(r->j, row, key);
    *first = (uint32_t)(nodes ? plan->nodes.n : plan->tasks.n);
    *count = 0;
    if (list == JSON_NONE)
        return true;
    if (!json_field_is(r->j, list, JSON_ARRAY, key, r->err))
        return false;
    for (json_ref v = json_first(r->j, list); v != JSON_NONE;
         v = json_next_element(r->j, list, v)) {
        uint32_t x;
        if (!(nodes ? find_node(r, v, &x) : plan_find_task(r, v, &x)))
            return false;
        if (nodes)
            array_push(&plan->nodes, x);
        else
            array_push(&plan->tasks, x);
        ++*count;
    }
    return true;
}

/* An order lists each task of the part once; whether it is a traversal is the checker's question.
 */
static bool read_part(struct plan_reader *r, json_ref row)
{
    struct part x = {.order = NONE, .memory = NAN};
    uint32_t ordered;
    if (!row_task(r, row, "root", "a part", &x.root) ||
        !row_node(r, row, "node", "a part", &x.node) ||
        json_field_need(r->j, row, "tasks", JSON_ARRAY, "a part", r->err) == JSON_NONE ||
        !read_names(r, row, "tasks", false, &x.tasks, &x.count) ||
        !json_field_number(r->j, row, "memory", 0, &x.memory, "a part", r->err))
        return false;
    json_ref order = json_field(r->j, row, "order");
    if (order != JSON_NONE) {
        if (!read_names(r, row, "order", false, &x.order, &ordered))
            return false;
        if (ordered != x.count)
            return json_error(r->j, order, r->err, "the part has %u task%s, but its order lists %u",
                              x.count, plural(x.count), ordered);
    }
    array_push(&r->plan->parts, x);
    return true;
}

static bool read_eviction(struct plan_reader *r, json_ref row)
{
    struct plan_eviction x;
    if (!row_task(r, row, "from", "an eviction", &x.from) ||
        !row_task(r, row, "to", "an eviction", &x.to) ||
        !row_task(r, row, "before", "an eviction", &x.before))
        return false;
    array_push(&r->plan->evictions, x);
    return true;
}

/* Without a stated number the replicas are as many as the nodes. */
static bool read_cluster(struct plan_reader *r, json_ref row)
{
    struct cluster x = {0};
    if (json_field_need(r->j, row, "tasks", JSON_ARRAY, "a cluster", r->err) == JSON_NONE ||
        !read_names(r, row, "tasks", false, &x.tasks, &x.ntasks) ||
        !read_names(r, row, "duplicates", false, &x.duplicates, &x.nduplicates) ||
        !read_names(r, row, "nodes", true, &x.nodes, &x.nnodes))
        return false;
    x.replicas = x.nnodes ? x.nnodes : 1;
    if (!json_field_number(r->j, row, "replicas", 0, &x.replicas, "a cluster", r->err))
        return false;
    array_push(&r->plan->clusters, x);
    return true;
}

/* Each element of a list of objects. An absent list is fine unless needed. */
static bool read_rows_of(struct plan_reader *r, json_ref owner, const char *key, bool needed,
                         const char *what, bool (*read_row)(struct plan_reader *, json_ref))
{
    const struct json *j = r->j;
    json_ref list = json_field(j, owner, key);
    if (list == JSON_NONE && !needed)
        return true;
    list = json_field_need(j, owner, key, JSON_ARRAY, "the plan", r->err);
    if (list == JSON_NONE)
        return false;
    for (json_ref v = json_first(j, list); v != JSON_NONE; v = json_next_element(j, list, v)) {
        if (!json_field_is(j, v, JSON_OBJECT, what, r->err) || !read_row(r, v))
            return false;
    }
    return true;
}

static bool read_rows(struct plan_reader *r, const char *key, bool needed, const char *what,
                      bool (*read_row)(struct plan_reader *, json_ref))
{
    return read_rows_of(r, 0, key, needed, what, read_row);
}

/* A cluster or a start that must be there. */
static bool row_needs(struct plan_reader *r, json_ref row, const char *key, const char *what)
{
    return json_field_need(r->j, row, key, JSON_NUMBER, what, r->err) != JSON_NONE;
}

static bool read_start(struct plan_reader *r, json_ref row)
{
    struct stream_start x = {0};
    static const char what[] = "a task of the schedule";
    if (!row_task(r, row, "task", what, &x.task) || !row_needs(r, row, "cluster", what) ||
        !row_index(r, row, "cluster", what, &x.cluster) || !row_needs(r, row, "start", what) ||
        !json_field_number(r->j, row, "start", -INFINITY, &x.start, what, r->err))
        return false;
    array_push(&r->plan->schedule.starts, x);
    return true;
}

static bool read_send(struct plan_reader *r, json_ref row)
{
    struct stream_send x = {0};
    static const char what[] = "a transfer of the schedule";
    if (!row_object(r, row, what, &x.object) || !row_needs(r, row, "from", what) ||
        !row_index(r, row, "from", what, &x.from) || !row_needs(r, row, "to", what) ||
        !row_index(r, row, "to", what, &x.to) || !row_needs(r, row, "start", what) ||
        !json_field_number(r->j, row, "start", -INFINITY, &x.start, what, r->err))
        return false;
    array_push(&r->plan->schedule.sends, x);
    return true;
}

/* Older plans have none. */
static bool read_schedule(struct plan_reader *r)
{
    json_ref v = json_field(r->j, 0, "schedule");
    double *period = &r->plan->schedule.period;
    if (v == JSON_NONE)
        return true;
    if (!json_field_is(r->j, v, JSON_OBJECT, "\"schedule\"", r->err) ||
        !row_needs(r, v, "period", "the schedule") ||
        !json_field_number(r->j, v, "period", 0, period, "the schedule", r->err))
        return false;
    if (!(*period > 0))
        return json_error(r->j, v, r->err, "the period of the schedule is %g; expected more than 0",
                          *period);
    return read_rows_of(r, v, "tasks", true, "a task of the schedule", read_start) &&
           read_rows_of(r, v, "transfers", false, "a transfer of the schedule", read_send);
}

static bool read_constraints(struct plan_reader *r)
{
    json_ref list = json_field(r->j, 0, "constraints");
    if (list == JSON_NONE)
        return true;
    if (!json_field_is(r->j, list, JSON_ARRAY, "\"constraints\"", r->err))
        return false;
    for (json_ref v = json_first(r->j, list); v != JSON_NONE;
         v = json_next_element(r->j, list, v)) {
        if (!json_field_is(r->j, v, JSON_STRING, "an entry of \"constraints\"", r->err))
            return false;
        array_push(&r->plan->constraints, mem_copy_string(json_string(r->j, v, NULL)));
    }
    return true;
}

/* Each name must be a task; that each comes once and in a possible order is the checker's to say.
 */
static bool read_order(struct plan_reader *r)
{
    const struct json *j = r->j;
    const char *verdict, *proof;
    json_ref order = json_field_need(j, 0, "order", JSON_ARRAY, "the plan", r->err);
    if (order == JSON_NONE || !json_field_string(j, 0, "verdict", &verdict, "the plan", r->err) ||
        !json_field_string(j, 0, "proof", &proof, "the plan", r->err))
        return false;
    r->plan->verdict = verdict ? mem_copy_string(verdict) : NULL;
    r->plan->proof = proof ? mem_copy_string(proof) : NULL;
    for (json_ref v = json_first(j, order); v != JSON_NONE; v = json_next_element(j, order, v)) {
        uint32_t task;
        if (!plan_find_task(r, v, &task))
            return false;
        array_push(&r->plan->order, task);
    }
    json_ref eligible = json_field(j, 0, "eligible");
    if (eligible == JSON_NONE)
        return true;
    if (!json_field_is(j, eligible, JSON_ARRAY, "\"eligible\"", r->err))
        return false;
    for (json_ref v = json_first(j, eligible); v != JSON_NONE;
         v = json_next_element(j, eligible, v)) {
        /* -1 stands for anything that is no number */
        double x = json_type(j, v) == JSON_NUMBER ? json_number(j, v) : -1;
        if (x < 0 || x >= NONE || x != floor(x))
            return json_error(j, v, r->err, "an entry of \"eligible\" must be a whole number");
        array_push(&r->plan->eligible, (uint32_t)x);
    }
    return true;
}

/* A claim that could not be kept is an error: silently lost, it would never be judged. */
static bool read_objectives(struct plan_reader *r)
{
    const struct json *j = r->j;
    json_ref list = json_field(j, 0, "objectives");
    if (list == JSON_NONE)
        return true;
    if (!json_field_is(j, list, JSON_OBJECT, "\"objectives\"", r->err))
        return false;
    for (json_ref k = json_first(j, list); k != JSON_NONE; k = json_next_member(j, list, k)) {
        json_ref v = json_member_value(j, k);
        const char *name = json_string(j, k, NULL);
        if (json_type(j, v) == JSON_NULL)
            continue;
        if (json_type(j, v) != JSON_NUMBER)
            return json_error(j, v, r->err, "objective '%s' is %s; expected a number", name,
                              json_type_name(json_type(j, v)));
        /* names have a fixed room in the plan */
        if (strlen(name) >= sizeof r->plan->objectives[0].name ||
            (r->plan->nobjectives == PLAN_OBJECTIVES && isnan(plan_objective(r->plan, name))))
            return json_error(j, k, r->err,
                              "too many objectives (at most %d), or a name that is too long: '%s'",
                              PLAN_OBJECTIVES, name);
        plan_set_objective(r->plan, name, json_number(j, v));
    }
    return true;
}

/* Options are texts; numbers and truth values of foreign plans are taken as they print. */
static bool plan_read_options(struct plan_reader *r)
{
    const struct json *j = r->j;
    json_ref list = json_field(j, 0, "options");
    if (list == JSON_NONE)
        return true;
    if (!json_field_is(j, list, JSON_OBJECT, "\"options\"", r->err))
        return false;
    for (json_ref k = json_first(j, list); k != JSON_NONE; k = json_next_member(j, list, k)) {
        json_ref v = json_member_value(j, k);
        char number[32];
        const char *value = number;
        if (json_type(j, v) == JSON_STRING)
            value = json_string(j, v, NULL);
        else if (json_type(j, v) == JSON_NUMBER)
            number_format(number, json_number(j, v));
        else if (json_type(j, v) <= JSON_TRUE)
            value = json_type_name(json_type(j, v));
        else
            return json_error(j, v, r->err, "option '%s' is %s; expected a string",
                              json_string(j, k, NULL), json_type_name(json_type(j, v)));
        plan_set_option(r->plan, json_string(j, k, NULL), value);
    }
    return true;
}

static bool copy_text(struct plan_reader *r, json_ref object, const char *key, char **out)
{
    const char *text;
    if (!json_field_string(r->j, object, key, &text, "the plan", r->err))
        return false;
    if (text)
        *out = mem_copy_string(text);
    return true;
}

/* Plans from before files counted do not say what they counted. */
static bool read_memory_rule(struct plan_reader *r)
{
    const char *text;
    if (!json_field_string(r->j, 0, "memory", &text, "the plan", r->err))
        return false;
    return !text || memory_rule_parse(text, &r->plan->memory) ||
           json_error(r->j, json_field(r->j, 0, "memory"), r->err,
                      "\"memory\" is '%s'; expected \"tasks\" or \"tasks+files\"", text);
}

/* Who made it, with what, and what it says of itself. */
static bool read_head(struct plan_reader *r)
{
    const struct json *j = r->j;
    struct plan *plan = r->plan;
    json_ref workflow = json_field(j, 0, "workflow"), platform = json_field(j, 0, "platform");
    if (!copy_text(r, 0, "planner", &plan->planner) ||
        !copy_text(r, workflow, "name", &plan->workflow_name) ||
        !copy_text(r, workflow, "file", &plan->workflow_file) ||
        !copy_text(r, platform, "name", &plan->platform_name) ||
        !copy_text(r, platform, "file", &plan->platform_file) ||
        !json_field_number(j, 0, "planning_seconds", 0, &plan->planning_seconds, "the plan",
                           r->err))
        return false;
    json_ref seed = json_field(j, 0, "seed");
    double unused = 0;
    if (!json_field_number(j, 0, "seed", 0, &unused, "the plan", r->err))
        return false;
    /* A seed may need all of its 64 bits: read it from the text, not as a double. */
    if (seed != JSON_NONE)
        plan->seed = strtoull(j->text + j->at[seed].offset, NULL, 10);
    json_ref notes = json_field(j, 0, "notes");
    if (notes != JSON_NONE && !json_field_is(j, notes, JSON_ARRAY, "\"notes\"", r->err))
        return false;
    for (json_ref v = notes == JSON_NONE ? JSON_NONE : json_first(j, notes); v != JSON_NONE;
         v = json_next_element(j, notes, v)) {
        if (!json_field_is(j, v, JSON_STRING, "a note", r->err))
            return false;
        array_push(&plan->notes, mem_copy_string(json_string(j, v, NULL)));
    }
    return read_memory_rule(r) && plan_read_options(r) && read_objectives(r);
}

static bool read_kind(const struct json *j, enum plan_kind *kind, struct error *err)
{
    json_ref v = json_field_need(j, 0, "kind", JSON_STRING, "the plan", err);
    if (v == JSON_NONE)
        return false;
    for (*kind = PLAN_STATIC; *kind <= PLAN_ORDER; ++*kind) {
        if (json_is_string(j, v, plan_kind_name(*kind)))
            return true;
    }
    return json_error(j, v, err, "the kind is '%s'; expected static, partition, stream or order",
                      json_string(j, v, NULL));
}

static bool read_flag(struct plan_reader *r, const char *name, bool standard, bool *out)
{
    const struct json *j = r->j;
    json_ref v = json_field(j, 0, name);
    *out = v == JSON_NONE ? standard : json_type(j, v) == JSON_TRUE;
    if (v != JSON_NONE && json_type(j, v) != JSON_TRUE && json_type(j, v) != JSON_FALSE)
        return json_error(j, v, r->err, "\"%s\" must be true or false", name);
    return true;
}

/* A mapping that does not say is pipelined: that is what streams are for. */
static bool read_stream_head(struct plan_reader *r)
{
    return read_flag(r, "pipelined", true, &r->plan->pipelined) &&
           read_flag(r, "rotating", false, &r->plan->rotating) &&
           row_index(r, 0, "ports", "the plan", &r->plan->ports);
}

/* A stream or an order may bring placements along. */
static bool read_lists(struct plan_reader *r)
{
    enum plan_kind kind = r->plan->kind;
    if (kind == PLAN_PARTITION && (!read_rows(r, "parts", true, "a part", read_part) ||
                                   !read_rows(r, "evictions", false, "an eviction", read_eviction)))
        return false;
    if (kind == PLAN_STREAM &&
        (!read_stream_head(r) || !read_rows(r, "clusters", true, "a cluster", read_cluster) ||
         !read_schedule(r)))
        return false;
    if (kind == PLAN_ORDER && !read_order(r))
        return false;
    return read_constraints(r) &&
           read_rows(r, "placements", kind == PLAN_STATIC, "a placement", read_placement) &&
           read_rows(r, "transfers", false, "a transfer", read_transfer) &&
           read_rows(r, "waits", false, "a wait", read_wait);
}

/* Sorted, so that a plan of any writer is written back in one order. */
struct plan *plan_file_read(struct plan_file *f, const struct workflow *w, const struct platform *p,
                            struct error *err)
{
    enum plan_kind kind;
    if (!read_kind(&f->j, &kind, err))
        return NULL;
    struct plan_reader r = {&f->j, w, p, plan_new(kind), err};
    if (!read_head(&r) || !read_lists(&r)) {
        plan_free(r.plan);
        return NULL;
    }
    plan_sort(r.plan);
    return r.plan;
}
