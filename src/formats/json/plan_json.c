/* Writing the plan file; reading is in plan_json_read.c.
 *
 *     {"schema": "weft-plan/1",
 *      "workflow": {name, file, tasks, edges}, "platform": {name, file, nodes},
 *      "planner", "options", "seed", "planning_seconds", "kind", "memory", "objectives", "notes",
 *      static     "constraints", "placements": [...], "transfers": [...]
 *      partition  "parts": [...]
 *      stream     "pipelined", "rotating", "ports", "clusters": [...], "schedule": {...}
 *      order      "verdict", "proof", "order": [...], "eligible": [...]} */
#include "base/json.h"
#include "formats/format.h"

#include <math.h>
#include <string.h>

/* A plan being written; `label` is room for names of anonymous objects. */
struct writer {
    struct json_writer j;
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p; /* NULL: the plan is for none */
    struct strbuf label;
};

static const char *plan_object_label(struct writer *s, uint32_t object)
{
    const struct workflow *w = s->w;
    if (w->object_name[object])
        return workflow_text(w, w->object_name[object]);
    strbuf_clear(&s->label);
    strbuf_printf(&s->label, "%s->%s", workflow_task_name(w, w->producer[object]),
                  workflow_task_name(w, w->succ_task[w->object_edge[object]]));
    return s->label.at;
}

/* The plan's own word, else what the model says; nothing for an empty text. */
static void plan_put_text(struct json_writer *j, const char *key, const char *own,
                          const char *otherwise)
{
    const char *text = own ? own : otherwise;
    if (text && *text)
        json_put_string(j, key, text);
}

/* What every kind of plan has: for what, by whom, how good. Objectives that are not finite are
 * left out: JSON has no infinity. */
static void write_head(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    json_put_string(j, "schema", "weft-plan/1");
    json_write_key(j, "workflow");
    json_write_object_inline(j);
    plan_put_text(j, "name", plan->workflow_name, workflow_text(s->w, s->w->name));
    plan_put_text(j, "file", plan->workflow_file, workflow_text(s->w, s->w->file));
    json_put_integer(j, "tasks", s->w->ntasks);
    json_put_integer(j, "edges", s->w->npairs);
    json_write_end_object(j);
    if (s->p) {
        json_write_key(j, "platform");
        json_write_object_inline(j);
        plan_put_text(j, "name", plan->platform_name, pool_text(&s->p->text, s->p->name));
        plan_put_text(j, "file", plan->platform_file, pool_text(&s->p->text, s->p->file));
        json_put_integer(j, "nodes", s->p->nnodes);
        json_write_end_object(j);
    }
    plan_put_text(j, "planner", plan->planner, NULL);
    json_write_key(j, "options");
    json_write_object_inline(j);
    for (size_t i = 0; i < plan->options.n; i++)
        json_put_string(j, plan->options.at[i].name, plan->options.at[i].value);
    json_write_end_object(j);
    json_write_key(j, "seed");
    json_write_unsigned(j, plan->seed);
    json_put_number(j, "planning_seconds", plan->planning_seconds);
    json_put_string(j, "kind", plan_kind_name(plan->kind));
    if (plan->memory != MEMORY_UNSTATED)
        json_put_string(j, "memory", memory_rule_name(plan->memory));
    json_write_key(j, "objectives");
    json_write_object_inline(j);
    for (uint32_t i = 0; i < plan->nobjectives; i++) {
        if (isfinite(plan->objectives[i].value))
            json_put_number(j, plan->objectives[i].name, plan->objectives[i].value);
    }
    json_write_end_object(j);
}

/* Constraints are told where some placement refers to one. */
static void write_constraints(struct writer *s)
{
    json_write_key(&s->j, "constraints");
    json_write_array(&s->j);
    for (size_t i = 0; i < s->plan->constraints.n; i++)
        json_write_string(&s->j, s->plan->constraints.at[i]);
    json_write_end_array(&s->j);
}

/* Sorted already (plan_sort), so that equal plans are equal files. */
static void write_placements(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    uint32_t *pinned = plan_pins_by_task(plan, s->w->ntasks);
    if (pinned && plan->constraints.n)
        write_constraints(s);
    json_write_key(j, "placements");
    json_write_array(j);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        json_write_object_inline(j);
        json_put_string(j, "task", workflow_task_name(s->w, x->task));
        json_put_integer(j, "copy", x->copy);
        json_put_string(j, "node", platform_node_name(s->p, x->node));
        json_put_integer(j, "core", x->core);
        json_put_number(j, "start", x->start);
        json_put_number(j, "finish", x->finish);
        if (pinned && pinned[x->task])
            json_put_integer(j, "pinned", pinned[x->task]);
        json_write_end_object(j);
    }
    free(pinned);
    json_write_end_array(j);
    json_write_key(j, "transfers");
    json_write_array(j);
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *x = &plan->transfers.at[i];
        json_write_object_inline(j);
        json_put_string(j, "object", plan_object_label(s, x->object));
        json_put_string(j, "from", platform_node_name(s->p, x->from));
        json_put_string(j, "to", platform_node_name(s->p, x->to));
        json_put_number(j, "start", x->start);
        json_put_number(j, "finish", x->finish);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Only plans under constraints have any: files of other planners stay as they were. */
static void write_waits(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    if (!plan->waits.n)
        return;
    json_write_key(j, "waits");
    json_write_array(j);
    for (size_t i = 0; i < plan->waits.n; i++) {
        const struct plan_wait *x = &plan->waits.at[i];
        json_write_object_inline(j);
        json_put_string(j, "task", workflow_task_name(s->w, x->task));
        if (x->after != NONE)
            json_put_string(j, "after", workflow_task_name(s->w, x->after));
        else
            json_put_number(j, "until", x->until);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Task names in one line. */
static void write_names(struct writer *s, const char *key, const uint32_t *tasks, size_t count)
{
    json_write_key(&s->j, key);
    json_write_array_inline(&s->j);
    for (size_t i = 0; tasks && i < count; i++)
        json_write_string(&s->j, workflow_task_name(s->w, tasks[i]));
    json_write_end_array(&s->j);
}

/* `count` names from plan->tasks on; a plan without any has no array there to point into. */
static void write_tasks(struct writer *s, const char *key, uint32_t first, uint32_t count)
{
    write_names(s, key, count ? s->plan->tasks.at + first : NULL, count);
}

/* An infinite or unknown memory is left out. */
static void write_parts(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    json_write_key(j, "parts");
    json_write_array(j);
    for (size_t i = 0; i < plan->parts.n; i++) {
        const struct part *x = &plan->parts.at[i];
        json_write_object_inline(j);
        json_put_integer(j, "id", (int64_t)i);
        json_put_string(j, "root", workflow_task_name(s->w, x->root));
        json_put_string(j, "node", platform_node_name(s->p, x->node));
        write_tasks(s, "tasks", x->tasks, x->count);
        if (isfinite(x->memory))
            json_put_number(j, "memory", x->memory);
        if (x->order != NONE)
            write_tasks(s, "order", x->order, x->count);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Left out where nothing is written out, as in plans of versions that could not. */
static void write_evictions(struct writer *s)
{
    struct json_writer *j = &s->j;
    if (!s->plan->evictions.n)
        return;
    json_write_key(j, "evictions");
    json_write_array(j);
    for (size_t i = 0; i < s->plan->evictions.n; i++) {
        const struct plan_eviction *x = &s->plan->evictions.at[i];
        json_write_object_inline(j);
        json_put_string(j, "from", workflow_task_name(s->w, x->from));
        json_put_string(j, "to", workflow_task_name(s->w, x->to));
        json_put_string(j, "before", workflow_task_name(s->w, x->before));
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* `rotating` is written only where it is set: files of older versions had no such field. */
static void write_clusters(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    json_put_bool(j, "pipelined", plan->pipelined);
    if (plan->rotating)
        json_put_bool(j, "rotating", true);
    json_put_integer(j, "ports", plan->ports);
    json_write_key(j, "clusters");
    json_write_array(j);
    for (size_t i = 0; i < plan->clusters.n; i++) {
        const struct cluster *x = &plan->clusters.at[i];
        json_write_object_inline(j);
        json_put_integer(j, "id", (int64_t)i);
        write_tasks(s, "tasks", x->tasks, x->ntasks);
        write_tasks(s, "duplicates", x->duplicates, x->nduplicates);
        json_put_number(j, "replicas", x->replicas);
        json_write_key(j, "nodes");
        json_write_array_inline(j);
        for (uint32_t k = 0; k < x->nnodes; k++)
            json_write_string(j, platform_node_name(s->p, plan->nodes.at[x->nodes + k]));
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* The starts of item 0, by task and transfer; a plan without a schedule has no such field. */
static void write_schedule(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct stream_schedule *x = &s->plan->schedule;
    if (!(x->period > 0))
        return;
    json_write_key(j, "schedule");
    json_write_object(j);
    json_put_number(j, "period", x->period);
    json_write_key(j, "tasks");
    json_write_array(j);
    for (size_t i = 0; i < x->starts.n; i++) {
        json_write_object_inline(j);
        json_put_string(j, "task", workflow_task_name(s->w, x->starts.at[i].task));
        json_put_integer(j, "cluster", x->starts.at[i].cluster);
        json_put_number(j, "start", x->starts.at[i].start);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_key(j, "transfers");
    json_write_array(j);
    for (size_t i = 0; i < x->sends.n; i++) {
        json_write_object_inline(j);
        json_put_string(j, "object", plan_object_label(s, x->sends.at[i].object));
        json_put_integer(j, "from", x->sends.at[i].from);
        json_put_integer(j, "to", x->sends.at[i].to);
        json_put_number(j, "start", x->sends.at[i].start);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_end_object(j);
}

static void write_order(struct writer *s)
{
    struct json_writer *j = &s->j;
    const struct plan *plan = s->plan;
    plan_put_text(j, "verdict", plan->verdict, NULL);
    plan_put_text(j, "proof", plan->proof, NULL);
    write_names(s, "order", plan->order.at, plan->order.n);
    json_write_key(j, "eligible");
    json_write_array_inline(j);
    for (size_t i = 0; i < plan->eligible.n; i++)
        json_write_integer(j, plan->eligible.at[i]);
    json_write_end_array(j);
}

/* A plan of any kind may also have placements: an order that was replayed, a stream's first item.
 */
void plan_json_write(const struct plan *plan, const struct workflow *w, const struct platform *p,
                     struct strbuf *out)
{
    struct writer s = {.plan = plan, .w = w, .p = p};
    json_write_start(&s.j, out, true);
    json_write_object(&s.j);
    write_head(&s);
    if (plan->notes.n) {
        json_write_key(&s.j, "notes");
        json_write_array(&s.j);
        for (size_t i = 0; i < plan->notes.n; i++)
            json_write_string(&s.j, plan->notes.at[i]);
        json_write_end_array(&s.j);
    }
    if (plan->kind == PLAN_PARTITION) {
        write_parts(&s);
        write_evictions(&s);
    }
    if (plan->kind == PLAN_STREAM) {
        write_clusters(&s);
        write_schedule(&s);
    }
    if (plan->kind == PLAN_ORDER)
        write_order(&s);
    if (plan->kind == PLAN_STATIC || plan->placements.n || plan->transfers.n)
        write_placements(&s);
    write_waits(&s);
    json_write_end_object(&s.j);
    strbuf_free(&s.label);
}
