/* The plan as data: making, freeing, objectives, notes, the order in which it is written. A plan
 * owns its texts; tasks, nodes and objects are numbers of the workflow and platform it belongs
 * to. */
#include "model/plan.h"
#include "base/plural.h"

#include <stdio.h>
#include <string.h>

const char *plan_kind_name(enum plan_kind kind)
{
    static const char *const names[] = {"static", "partition", "stream", "order"};
    return names[kind];
}

bool plan_can_place(const struct workflow *w, struct error *err)
{
    uint32_t wide = workflow_first_wide(w);
    return wide == NONE ||
           error_set(err, ERROR_INFEASIBLE,
                     "task '%s' spans %u node%s, and a plan gives a task one: run it on agents "
                     "(--on), whose schedulers find its nodes, or simulate them with `weft sim "
                     "--schedulers N`",
                     workflow_task_name(w, wide), w->nodes[wide], plural(w->nodes[wide]));
}

double plan_eviction_bytes(const struct workflow *w, const struct plan_eviction *x)
{
    double bytes = 0;
    for (uint32_t e = w->pred_off[x->to]; e < w->pred_off[x->to + 1]; e++)
        if (w->pred_task[e] == x->from && w->pred_object[e] != NONE)
            bytes += w->size[w->pred_object[e]];
    return bytes;
}

struct plan *plan_new(enum plan_kind kind)
{
    struct plan *p = mem_new_zero(struct plan, 1);
    p->kind = kind;
    return p;
}

void stream_schedule_free(struct stream_schedule *s)
{
    array_free(&s->starts);
    array_free(&s->sends);
    *s = (struct stream_schedule){0};
}

void plan_free(struct plan *p)
{
    if (!p)
        return;
    free(p->planner);
    for (size_t i = 0; i < p->options.n; i++) {
        free(p->options.at[i].name);
        free(p->options.at[i].value);
    }
    array_free(&p->options);
    free(p->workflow_name);
    free(p->workflow_file);
    free(p->platform_name);
    free(p->platform_file);
    array_free(&p->placements);
    array_free(&p->transfers);
    array_free(&p->pins);
    array_free(&p->waits);
    for (size_t i = 0; i < p->constraints.n; i++)
        free(p->constraints.at[i]);
    array_free(&p->constraints);
    array_free(&p->parts);
    array_free(&p->evictions);
    array_free(&p->clusters);
    array_free(&p->tasks);
    array_free(&p->nodes);
    stream_schedule_free(&p->schedule);
    array_free(&p->order);
    array_free(&p->eligible);
    free(p->verdict);
    free(p->proof);
    for (size_t i = 0; i < p->notes.n; i++)
        free(p->notes.at[i]);
    array_free(&p->notes);
    free(p);
}

static char *plan_copy_text(const char *text)
{
    return text ? mem_copy_string(text) : NULL;
}

/* An array whose entries own nothing. */
#define PLAN_COPY_ARRAY(name)                                                                      \
    do {                                                                                           \
        c->name = (__typeof__(c->name)){0};                                                        \
        for (size_t i = 0; i < p->name.n; i++)                                                     \
            array_push(&c->name, p->name.at[i]);                                                   \
    } while (0)
#define PLAN_COPY_TEXTS(name)                                                                      \
    do {                                                                                           \
        c->name = (__typeof__(c->name)){0};                                                        \
        for (size_t i = 0; i < p->name.n; i++)                                                     \
            array_push(&c->name, mem_copy_string(p->name.at[i]));                                  \
    } while (0)

struct plan *plan_copy(const struct plan *p)
{
    struct plan *c = plan_new(p->kind);
    *c = *p;
    c->planner = plan_copy_text(p->planner);
    c->workflow_name = plan_copy_text(p->workflow_name);
    c->workflow_file = plan_copy_text(p->workflow_file);
    c->platform_name = plan_copy_text(p->platform_name);
    c->platform_file = plan_copy_text(p->platform_file);
    c->verdict = plan_copy_text(p->verdict);
    c->proof = plan_copy_text(p->proof);
    c->options = (__typeof__(c->options)){0};
    for (size_t i = 0; i < p->options.n; i++)
        plan_set_option(c, p->options.at[i].name, p->options.at[i].value);
    PLAN_COPY_ARRAY(placements);
    PLAN_COPY_ARRAY(transfers);
    PLAN_COPY_ARRAY(pins);
    PLAN_COPY_ARRAY(waits);
    PLAN_COPY_ARRAY(parts);
    PLAN_COPY_ARRAY(evictions);
    PLAN_COPY_ARRAY(clusters);
    PLAN_COPY_ARRAY(tasks);
    PLAN_COPY_ARRAY(nodes);
    PLAN_COPY_ARRAY(schedule.starts);
    PLAN_COPY_ARRAY(schedule.sends);
    PLAN_COPY_ARRAY(order);
    PLAN_COPY_ARRAY(eligible);
    PLAN_COPY_TEXTS(constraints);
    PLAN_COPY_TEXTS(notes);
    return c;
}

/* Set again, the value is replaced. */
void plan_set_objective(struct plan *p, const char *name, double value)
{
    uint32_t i = 0;
    while (i < p->nobjectives && strcmp(p->objectives[i].name, name) != 0)
        i++;
    if (i == PLAN_OBJECTIVES)
        return; /* a file may claim any number; only the first few names can be known ones */
    if (i == p->nobjectives) {
        snprintf(p->objectives[i].name, sizeof p->objectives[i].name, "%s", name);
        p->nobjectives++;
    }
    p->objectives[i].value = value + 0.0; /* -0, which no reader expects, becomes 0 */
}

/* NAN: the plan claims nothing of that name. */
double plan_objective(const struct plan *p, const char *name)
{
    for (uint32_t i = 0; i < p->nobjectives; i++)
        if (strcmp(p->objectives[i].name, name) == 0)
            return p->objectives[i].value;
    return NAN;
}

void plan_set_option(struct plan *p, const char *name, const char *value)
{
    array_push(&p->options, (struct plan_option){mem_copy_string(name), mem_copy_string(value)});
}

void plan_note(struct plan *p, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    array_push(&p->notes, mem_copy_string(text));
}

/* By task: the number, from 1, of the constraint that chose its node; 0: none. NULL when nothing
 * is pinned. The caller frees it. */
uint32_t *plan_pins_by_task(const struct plan *p, uint32_t ntasks)
{
    if (!p->pins.n)
        return NULL;
    uint32_t *pinned = mem_new_zero(uint32_t, ntasks);
    for (size_t i = 0; i < p->pins.n; i++)
        if (p->pins.at[i].task < ntasks)
            pinned[p->pins.at[i].task] = p->pins.at[i].constraint;
    return pinned;
}

static int compare_placements(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* Every field that tells two transfers apart, so that the order is total. */
static int compare_transfers(const void *a, const void *b)
{
    const struct transfer *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* By start, then by number: the same plan is written as the same text, whatever order a planner
 * made it in. */
void plan_sort(struct plan *p)
{
    if (p->placements.n)
        qsort(p->placements.at, p->placements.n, sizeof *p->placements.at, compare_placements);
    if (p->transfers.n)
        qsort(p->transfers.at, p->transfers.n, sizeof *p->transfers.at, compare_transfers);
}

/* 0 for a plan without placements. */
double plan_makespan(const struct plan *p)
{
    double latest = 0;
    for (size_t i = 0; i < p->placements.n; i++)
        if (p->placements.at[i].finish > latest)
            latest = p->placements.at[i].finish;
    return latest;
}

/* Of any kind of plan: by placements, parts or replicas. */
uint32_t plan_nodes_used(const struct plan *p, const struct platform *platform)
{
    uint8_t *used = mem_new_zero(uint8_t, platform->nnodes);
    uint32_t count = 0;
#define USE(node)                                                                                  \
    do {                                                                                           \
        uint32_t node_ = (node);                                                                   \
        if (node_ < platform->nnodes && !used[node_]) {                                            \
            used[node_] = 1;                                                                       \
            count++;                                                                               \
        }                                                                                          \
    } while (0)
    for (size_t i = 0; i < p->placements.n; i++)
        USE(p->placements.at[i].node);
    for (size_t i = 0; i < p->parts.n; i++)
        USE(p->parts.at[i].node);
    for (size_t i = 0; i < p->clusters.n; i++)
        for (uint32_t k = 0; k < p->clusters.at[i].nnodes; k++)
            USE(p->nodes.at[p->clusters.at[i].nodes + k]);
#undef USE
    free(used);
    return count;
}

bool plan_counts_files(const struct plan *p, const struct platform *platform)
{
    if (p->memory != MEMORY_UNSTATED)
        return p->memory == MEMORY_FILES;
    return platform->memory_rule == MEMORY_FILES;
}
