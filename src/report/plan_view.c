/* plan_view.h: written member by member; nothing is looked up that the plan does not have. Linear but for one sort a node. */
#include "report/plan_view.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/gantt_kinds.h"
#include "report/kinds.h"
#include <math.h>
#include <stdlib.h>

/* What is on its way into the JSON. The writer is the caller's, in the middle of an object. */
struct plan_picture {
    struct json_writer *j;
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p;
    ARRAY(uint32_t) shown; /* placements that can be drawn, at most PLAN_VIEW_PLACEMENTS */
    size_t left_out;
};

/* ---- memory ---- */

struct plan_step {
    double time, bytes;
};

/* What ends goes before what begins at the same time: they do not run at once. */
static int plan_by_time(const void *a, const void *b)
{
    const struct plan_step *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

uint32_t plan_view_memory(const struct plan *plan, const struct workflow *w,
                          const struct platform *p, uint32_t node, double *time, double *bytes)
{
    ARRAY(struct plan_step) steps = {0};
    double end = 0, now = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *pl = &plan->placements.at[i];
        if (!gantt_usable(pl, w, p))
            continue;
        end = fmax(end, pl->finish);
        if (pl->node != node || !(w->memory[pl->task] > 0) || !(pl->finish > pl->start))
            continue;
        array_push(&steps, (struct plan_step){pl->start, w->memory[pl->task]});
        array_push(&steps, (struct plan_step){pl->finish, -w->memory[pl->task]});
    }
    uint32_t bin = 0;
    if (steps.n)
        qsort(steps.at, steps.n, sizeof *steps.at, plan_by_time);
    for (uint32_t i = 0; i < PLAN_VIEW_STEPS; i++) {
        time[i] = end * i / PLAN_VIEW_STEPS;
        bytes[i] = 0;
    }
    for (size_t i = 0; i < steps.n; i++) {
        uint32_t at = (uint32_t)fmin(steps.at[i].time / end * PLAN_VIEW_STEPS, PLAN_VIEW_STEPS - 1);
        while (bin < at)
            bytes[++bin] = now; /* what began before goes on into it */
        now = fmax(now + steps.at[i].bytes, 0);
        bytes[bin] = fmax(bytes[bin], now);
    }
    bool any = steps.n > 0;
    array_free(&steps);
    return any ? PLAN_VIEW_STEPS : 0;
}

/* Stretches of time are alike for all nodes, so that only their contents are written; a node without a task that
 * states its memory has no row. */
static void plan_memory(const struct plan_picture *v)
{
    double *time = mem_new(double, PLAN_VIEW_STEPS + 1),
           *bytes = mem_new(double, PLAN_VIEW_STEPS + 1);
    json_write_key(v->j, "memory");
    json_write_array(v->j);
    /* a row a node that needs some; a platform of thousands of nodes has too many to look at */
    for (uint32_t node = 0, rows = 0; node < v->p->nnodes && rows < 64; node++) {
        uint32_t n = plan_view_memory(v->plan, v->w, v->p, node, time, bytes);
        if (!n)
            continue;
        rows++;
        json_write_object(v->j);
        json_put_integer(v->j, "node", node);
        json_put_number(v->j, "limit", v->p->memory[node]);
        json_write_key(v->j, "bytes");
        json_write_array(v->j);
        for (uint32_t i = 0; i < n; i++)
            json_write_number(v->j, bytes[i]);
        json_write_end_array(v->j);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
    free(time);
    free(bytes);
}

/* ---- what every plan has ---- */

/* What a list of plans shows of each: who made it, what it promises, what the planner has to say. */
static void plan_head(const struct plan_picture *v)
{
    const struct plan *plan = v->plan;
    char name[256];
    json_put_string(v->j, "kind", plan_kind_name(plan->kind));
    json_put_text(v->j, "planner", plan->planner);
    json_put_number(v->j, "planning_seconds", plan->planning_seconds);
    json_put_string(v->j, "workflow", workflow_display_name(v->w, name, sizeof name));
    json_put_integer(v->j, "tasks", v->w->ntasks);
    json_write_key(v->j, "objectives");
    json_write_array(v->j);
    for (uint32_t i = 0; i < plan->nobjectives; i++) {
        json_write_object(v->j);
        json_put_string(v->j, "name", plan->objectives[i].name);
        json_put_number(v->j, "value", plan->objectives[i].value);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
    json_write_key(v->j, "notes");
    json_write_array(v->j);
    for (size_t i = 0; i < plan->notes.n; i++)
        json_write_string(v->j, plan->notes.at[i]);
    json_write_end_array(v->j);
}

/* Kinds in the order of their colours; the number of a task's kind is its colour. */
static void plan_kinds(const struct plan_picture *v, const struct kinds *k)
{
    json_write_key(v->j, "kinds");
    json_write_array(v->j);
    for (uint32_t i = 0; i <= KINDS_SHOWN; i++) {
        json_write_object(v->j);
        json_put_text(v->j, "name", k->name[i]);
        json_put_integer(v->j, "tasks", k->count[i]);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
}

/* Also those that do nothing, marked: whoever draws decides whether to fold them. */
static void plan_nodes(const struct plan_picture *v)
{
    uint8_t *used = mem_new_zero(uint8_t, v->p->nnodes + 1);
    for (size_t i = 0; i < v->plan->placements.n; i++)
        if (gantt_usable(&v->plan->placements.at[i], v->w, v->p))
            used[v->plan->placements.at[i].node] = 1;
    for (size_t i = 0; i < v->plan->parts.n; i++)
        if (v->plan->parts.at[i].node < v->p->nnodes)
            used[v->plan->parts.at[i].node] = 1;
    for (size_t i = 0; i < v->plan->nodes.n; i++)
        if (v->plan->nodes.at[i] < v->p->nnodes)
            used[v->plan->nodes.at[i]] = 1;
    json_write_key(v->j, "nodes");
    json_write_array(v->j);
    for (uint32_t n = 0; n < v->p->nnodes; n++) {
        json_write_object(v->j);
        json_put_string(v->j, "name", platform_node_name(v->p, n));
        json_put_integer(v->j, "cores", v->p->cores[n]);
        json_put_number(v->j, "speed", v->p->speed[n]);
        json_put_number(v->j, "memory", v->p->memory[n]);
        json_put_bool(v->j, "used", used[n]);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
    free(used);
}

/* ---- static plans ---- */

enum plan_column {
    COLUMN_NODE,
    COLUMN_CORE,
    COLUMN_CORES,
    COLUMN_COPY,
    COLUMN_START,
    COLUMN_FINISH
};

static void plan_column(const struct plan_picture *v, const char *name, enum plan_column column)
{
    json_write_key(v->j, name);
    json_write_array(v->j);
    for (size_t i = 0; i < v->shown.n; i++) {
        const struct placement *pl = &v->plan->placements.at[v->shown.at[i]];
        double value = 0;
        switch (column) {
        case COLUMN_NODE:
            value = pl->node;
            break;
        case COLUMN_CORE:
            value = pl->core;
            break;
        case COLUMN_CORES:
            value = gantt_cores(pl, v->w, v->p);
            break;
        case COLUMN_COPY:
            value = pl->copy;
            break;
        case COLUMN_START:
            value = pl->start;
            break;
        case COLUMN_FINISH:
            value = pl->finish;
            break;
        }
        json_write_number(v->j, value);
    }
    json_write_end_array(v->j);
}

/* Columns beside each other. What a plan from a file says of tasks or nodes that are not there is left out, as in
 * every picture: the checker tells it. */
static void plan_placements(struct plan_picture *v, const struct kinds *k)
{
    for (size_t i = 0; i < v->plan->placements.n; i++) {
        if (!gantt_usable(&v->plan->placements.at[i], v->w, v->p))
            continue;
        if (v->shown.n < PLAN_VIEW_PLACEMENTS)
            array_push(&v->shown, (uint32_t)i);
        else
            v->left_out++;
    }
    json_write_key(v->j, "placements");
    json_write_object(v->j);
    json_write_key(v->j, "name");
    json_write_array(v->j);
    for (size_t i = 0; i < v->shown.n; i++)
        json_write_string(v->j,
                          workflow_task_name(v->w, v->plan->placements.at[v->shown.at[i]].task));
    json_write_end_array(v->j);
    json_write_key(v->j, "colour");
    json_write_array(v->j);
    for (size_t i = 0; i < v->shown.n; i++)
        json_write_integer(v->j, k->colour[v->plan->placements.at[v->shown.at[i]].task]);
    json_write_end_array(v->j);
    plan_column(v, "node", COLUMN_NODE);
    plan_column(v, "core", COLUMN_CORE);
    plan_column(v, "cores", COLUMN_CORES);
    plan_column(v, "copy", COLUMN_COPY);
    plan_column(v, "start", COLUMN_START);
    plan_column(v, "finish", COLUMN_FINISH);
    json_write_end_object(v->j);
}

/* Objects by the names that people know: a file's, else whose it is. */
static void plan_transfers(struct plan_picture *v)
{
    json_write_key(v->j, "transfers");
    json_write_array(v->j);
    for (size_t i = 0; i < v->plan->transfers.n && i < PLAN_VIEW_TRANSFERS; i++) {
        const struct transfer *t = &v->plan->transfers.at[i];
        char label[256];
        if (t->object >= v->w->nobjects || t->from >= v->p->nnodes || t->to >= v->p->nnodes)
            continue;
        json_write_object(v->j);
        json_put_string(v->j, "object",
                        workflow_object_label(v->w, t->object, label, sizeof label));
        json_put_number(v->j, "bytes", v->w->size[t->object]);
        json_put_integer(v->j, "from", t->from);
        json_put_integer(v->j, "to", t->to);
        json_put_number(v->j, "start", t->start);
        json_put_number(v->j, "finish", t->finish);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
    if (v->plan->transfers.n > PLAN_VIEW_TRANSFERS)
        v->left_out += v->plan->transfers.n - PLAN_VIEW_TRANSFERS;
}

/* ---- the other kinds ---- */

/* Parts of a tree in time, as equation (1) of HetPart has it. */
static void plan_parts(const struct plan_picture *v)
{
    uint32_t n = (uint32_t)v->plan->parts.n;
    double *start = mem_new(double, n + 1), *arrived = mem_new(double, n + 1),
           *finish = mem_new(double, n + 1);
    gantt_part_times(v->plan, v->w, v->p, start, arrived, finish);
    json_write_key(v->j, "parts");
    json_write_array(v->j);
    for (uint32_t i = 0; i < n; i++) {
        const struct part *pt = &v->plan->parts.at[i];
        json_write_object(v->j);
        json_put_string(v->j, "root",
                        pt->root < v->w->ntasks ? workflow_task_name(v->w, pt->root) : "?");
        json_put_integer(v->j, "node", pt->node);
        json_put_integer(v->j, "tasks", pt->count);
        json_put_number(v->j, "memory", pt->memory);
        json_put_number(v->j, "start", start[i]);
        json_put_number(v->j, "arrived", arrived[i]);
        json_put_number(v->j, "finish", finish[i]);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
    free(start);
    free(arrived);
    free(finish);
}

static void plan_names(const struct plan_picture *v, const char *key, uint32_t first, uint32_t n)
{
    json_write_key(v->j, key);
    json_write_array(v->j);
    for (uint32_t i = first; i < first + n && i < v->plan->tasks.n; i++)
        if (v->plan->tasks.at[i] < v->w->ntasks)
            json_write_string(v->j, workflow_task_name(v->w, v->plan->tasks.at[i]));
    json_write_end_array(v->j);
}

/* Who works on which filter of a stream; duplicates are computed by more than one. */
static void plan_clusters(const struct plan_picture *v)
{
    json_write_key(v->j, "clusters");
    json_write_array(v->j);
    for (size_t i = 0; i < v->plan->clusters.n; i++) {
        const struct cluster *c = &v->plan->clusters.at[i];
        json_write_object(v->j);
        plan_names(v, "tasks", c->tasks, c->ntasks);
        plan_names(v, "duplicates", c->duplicates, c->nduplicates);
        json_write_key(v->j, "nodes");
        json_write_array(v->j);
        for (uint32_t k = c->nodes; k < c->nodes + c->nnodes && k < v->plan->nodes.n; k++)
            json_write_integer(v->j, v->plan->nodes.at[k]);
        json_write_end_array(v->j);
        json_write_end_object(v->j);
    }
    json_write_end_array(v->j);
}

/* The curve of eligible tasks is what orders are judged by (docs/order.md): higher is better, everywhere. */
static void plan_order(const struct plan_picture *v)
{
    double *eligible = gantt_eligible(v->plan, v->w);
    json_put_text(v->j, "verdict", v->plan->verdict);
    json_put_text(v->j, "proof", v->plan->proof);
    json_write_key(v->j, "eligible");
    json_write_array(v->j);
    for (size_t i = 0; i <= v->plan->order.n; i++)
        json_write_number(v->j, eligible[i]);
    json_write_end_array(v->j);
    json_write_key(v->j, "order");
    json_write_array(v->j);
    for (size_t i = 0; i < v->plan->order.n; i++)
        json_write_string(v->j, v->plan->order.at[i] < v->w->ntasks
                                    ? workflow_task_name(v->w, v->plan->order.at[i])
                                    : "?");
    json_write_end_array(v->j);
    free(eligible);
}

void plan_view(struct json_writer *j, const struct plan *plan, const struct workflow *w,
               const struct platform *p)
{
    struct plan_picture v = {.j = j, .plan = plan, .w = w, .p = p};
    struct kinds kinds;
    kinds_of_record(&kinds, w);
    plan_head(&v);
    plan_kinds(&v, &kinds);
    plan_nodes(&v);
    switch (plan->kind) {
    case PLAN_STATIC:
        plan_placements(&v, &kinds);
        plan_transfers(&v);
        plan_memory(&v);
        break;
    case PLAN_PARTITION:
        plan_parts(&v);
        break;
    case PLAN_STREAM:
        plan_clusters(&v);
        break;
    case PLAN_ORDER:
        plan_order(&v);
        break;
    }
    json_put_integer(j, "left_out", (int64_t)v.left_out);
    array_free(&v.shown);
    kinds_free(&kinds);
}
