/* The table of attributes, and one state as the relations task, proc and dep: relations.h has the
 * contract. A push or pop is O(edges into the task); values are computed when asked for. */
#include "query/relations.h"
#include "base/mem.h"
#include <stdlib.h>

const char *const relation_name[RELATIONS] = {"task", "proc", "dep"};

#define TASK RELATION_TASK
#define PROC RELATION_PROC
#define DEP RELATION_DEP

const struct attribute_row attribute_table[ATTRIBUTES] = {
    [TASK_ID] = {"task_id", NULL, TASK, VALUE_INTEGER, false, false,
                 "1, 2, ... in the order of the workflow file"},
    [TASK_NAME] = {"task_name", NULL, TASK, VALUE_TEXT, false, false, "its name"},
    [TASK_KIND] = {"task_kind", NULL, TASK, VALUE_TEXT, false, false,
                   "its kind: what tasks of one sort share"},
    [TASK_ASSIGNED_PROC_ID] = {"task_assigned_proc_id", NULL, TASK, VALUE_INTEGER, true, false,
                               "the processor it is scheduled on"},
    [TASK_EXEC_TIME] = {"task_exec_time", "task_execution_time", TASK, VALUE_REAL, true, false,
                        "seconds on its processor; before that the mean over all that can run it"},
    [TASK_START_TIME] = {"task_start_time", NULL, TASK, VALUE_REAL, true, true, "when it starts"},
    [TASK_FINISH_TIME] = {"task_finish_time", NULL, TASK, VALUE_REAL, true, true, "when it ends"},
    [TASK_SCHEDULE_ORDER] = {"task_schedule_order", NULL, TASK, VALUE_INTEGER, true, true,
                             "1 for the task that was scheduled first, 2 for the next, ..."},
    [TASK_PATH_LENGTH] = {"task_path_length", NULL, TASK, VALUE_REAL, false, false,
                          "longest way to an output: execution and non-local communication"},
    [TASK_PATH_RANK] = {"task_path_rank", NULL, TASK, VALUE_INTEGER, false, false,
                        "1 for the longest path, 2 for the next, ... (ties: topological order)"},
    [TASK_WORK] = {"task_work", NULL, TASK, VALUE_REAL, false, false,
                   "operations; seconds at speed 1"},
    [TASK_MEMORY] = {"task_memory", NULL, TASK, VALUE_REAL, false, false, "bytes while it runs"},
    [TASK_CORES] = {"task_cores", NULL, TASK, VALUE_INTEGER, false, false, "cores it needs"},
    [TASK_DEADLINE] = {"task_deadline", NULL, TASK, VALUE_REAL, false, false,
                       "seconds; UNKNOWN without one"},
    [TASK_PRIORITY] = {"task_priority", NULL, TASK, VALUE_REAL, false, false,
                       "as the file says; 0 without one"},
    [PROC_ID] = {"proc_id", NULL, PROC, VALUE_INTEGER, false, false,
                 "1, 2, ... in the order of the platform"},
    [PROC_NAME] = {"proc_name", NULL, PROC, VALUE_TEXT, false, false, "its name"},
    [PROC_FINISH_TIME] = {"proc_finish_time", NULL, PROC, VALUE_REAL, true, true,
                          "end of its last task; without one UNKNOWN, 0 in a complete schedule"},
    [PROC_TOTAL_RUNNING_TIME] = {"proc_total_running_time", NULL, PROC, VALUE_REAL, true, true,
                                 "sum of its tasks' times, gaps left out; 0 without one"},
    [PROC_TASK_LIST] = {"proc_task_list", "proc_task_assignment_list", PROC, VALUE_TEXT, true,
                        false, "ids of its tasks by start ('3,1,7'); UNKNOWN when empty"},
    [PROC_TASK_COUNT] = {"proc_task_count", NULL, PROC, VALUE_INTEGER, true, true,
                         "how many tasks it has"},
    [PROC_UTILIZATION] = {"proc_utilization", "proc_utilisation", PROC, VALUE_REAL, false, false,
                          "load by others, 0 to 1 (3 percent is 0.03)"},
    [PROC_SPEED] = {"proc_speed", NULL, PROC, VALUE_REAL, false, false, "operations a second"},
    [PROC_MEMORY] = {"proc_memory", NULL, PROC, VALUE_REAL, false, false,
                     "bytes; UNKNOWN without a limit"},
    [PROC_CORES] = {"proc_cores", NULL, PROC, VALUE_INTEGER, false, false, "its cores"},
    [DEP_ID] = {"dep_id", NULL, DEP, VALUE_INTEGER, false, false, "1, 2, ..."},
    [DEP_FROM_TASK_ID] = {"dep_from_task_id", NULL, DEP, VALUE_INTEGER, false, false,
                          "the task that makes the data"},
    [DEP_TO_TASK_ID] = {"dep_to_task_id", NULL, DEP, VALUE_INTEGER, false, false,
                        "the task that needs it"},
    [DEP_OBJECT] = {"dep_object", NULL, DEP, VALUE_TEXT, false, false,
                    "the data's name; UNKNOWN for pure order and data without a name"},
    [DEP_SIZE] = {"dep_size", NULL, DEP, VALUE_REAL, false, false, "bytes"},
    [DEP_NON_LOCAL_COMM_TIME] = {"non_local_comm_time", "dep_non_local_comm_time", DEP, VALUE_REAL,
                                 false, false, "seconds between two processors (the mean pair)"},
    [DEP_COMM_TIME] = {"dep_comm_time", NULL, DEP, VALUE_REAL, true, true,
                       "seconds it takes: 0 on one processor, UNKNOWN before both are scheduled"},
};

enum attribute relation_first(enum relation relation)
{
    return relation == TASK ? TASK_ID : relation == PROC ? PROC_ID : DEP_ID;
}

enum attribute relation_last(enum relation relation)
{
    return relation == TASK ? TASK_PRIORITY : relation == PROC ? PROC_CORES : DEP_COMM_TIME;
}

/* Mean over all pairs of processors; pairs without a link count as 0. */
static void fill_remote(struct relations *r)
{
    double latency, per_byte;
    const struct workflow *w = r->w;
    platform_mean_transfer(r->p, &latency, &per_byte);
    for (uint32_t e = 0; e < w->nedges; e++) {
        uint32_t object = w->pred_object[e];
        double seconds = object == NONE ? 0 : latency + w->size[object] * per_byte;
        r->remote_time[e] = seconds < INFINITY ? seconds : 0; /* pairs without a link */
    }
}

/* Nothing is scheduled: processors NONE, communication unknown. */
struct relations *relations_new(const struct costs *costs, const double *path_length,
                                const uint32_t *order)
{
    struct relations *r = mem_new_zero(struct relations, 1);
    r->costs = costs;
    r->w = costs->workflow;
    r->p = costs->platform;
    uint32_t n = r->w->ntasks;
    r->path_length = mem_new(double, n);
    r->path_rank = mem_new(uint32_t, n);
    r->mean_time = mem_new(double, n);
    r->remote_time = mem_new(double, r->w->nedges);
    r->proc = mem_new(uint32_t, n);
    r->start = mem_new_zero(double, n);
    r->finish = mem_new_zero(double, n);
    r->order = mem_new_zero(uint32_t, n);
    r->load = mem_new_zero(struct load, r->p->nnodes);
    r->comm = mem_new(double, r->w->nedges);
    r->stack = mem_new(uint32_t, n);
    r->undo = mem_new(struct load, n);
    for (uint32_t t = 0; t < n; t++) {
        r->path_length[t] = path_length[t];
        r->path_rank[order[t]] = t + 1;
        r->mean_time[t] = costs_mean(costs, t);
        r->proc[t] = NONE;
    }
    for (uint32_t e = 0; e < r->w->nedges; e++)
        r->comm[e] = NAN;
    fill_remote(r);
    return r;
}

void relations_free(struct relations *r)
{
    if (!r)
        return;
    free(r->path_length);
    free(r->path_rank);
    free(r->mean_time);
    free(r->remote_time);
    free(r->proc);
    free(r->start);
    free(r->finish);
    free(r->order);
    free(r->load);
    free(r->comm);
    free(r->stack);
    free(r->undo);
    strbuf_free(&r->list);
    free(r);
}

/* The processor's load is saved for the pop; communication into the task becomes known. */
void relations_push(struct relations *r, uint32_t task, uint32_t proc, double start, double finish)
{
    const struct workflow *w = r->w;
    struct load *load = &r->load[proc];
    r->undo[r->depth] = *load;
    r->stack[r->depth++] = task;
    r->proc[task] = proc;
    r->start[task] = start;
    r->finish[task] = finish;
    r->order[task] = r->depth;
    load->finish = load->tasks && load->finish > finish ? load->finish : finish;
    load->running += costs_time(r->costs, task, proc);
    load->tasks++;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = r->proc[w->pred_task[e]], object = w->pred_object[e];
        if (from == NONE)
            continue;
        bool local = object == NONE || from == proc;
        r->comm[e] = local ? 0 : platform_transfer(r->p, from, proc, w->size[object]);
    }
}

/* The last pushed, so that the saved load fits. */
uint32_t relations_pop(struct relations *r)
{
    const struct workflow *w = r->w;
    uint32_t task = r->stack[--r->depth];
    r->load[r->proc[task]] = r->undo[r->depth];
    r->proc[task] = NONE;
    r->order[task] = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        r->comm[e] = NAN;
    return task;
}

uint32_t relations_rows(const struct relations *r, enum relation relation)
{
    return relation == TASK ? r->w->ntasks : relation == PROC ? r->p->nnodes : r->w->nedges;
}

/* For a processor's task list: by start, then by order of scheduling. */
struct listed {
    double start;
    uint32_t order, task;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Rarely asked for but to see whether it is empty, so that it is put together on the spot. */
static struct value task_list(struct relations *r, uint32_t proc)
{
    uint32_t count = 0, want = r->load[proc].tasks;
    if (!want)
        return value_unknown();
    struct listed *listed = mem_new(struct listed, want);
    for (uint32_t i = 0; i < r->depth; i++) {
        uint32_t task = r->stack[i];
        if (r->proc[task] == proc)
            listed[count++] = (struct listed){r->start[task], i, task};
    }
    qsort(listed, count, sizeof *listed, compare_listed);
    strbuf_clear(&r->list);
    for (uint32_t i = 0; i < count; i++)
        strbuf_printf(&r->list, "%s%u", i ? "," : "", listed[i].task + 1);
    free(listed);
    return value_text(strbuf_text(&r->list));
}

/* What is not known before a task is scheduled is UNKNOWN; its execution time is the mean until
 * then. */
static struct value task_value(struct relations *r, enum attribute a, uint32_t t)
{
    const struct workflow *w = r->w;
    bool scheduled = r->proc[t] != NONE;
    switch (a) {
    case TASK_ID:
        return value_integer(t + 1.0);
    case TASK_NAME:
        return value_text(workflow_task_name(w, t));
    case TASK_KIND:
        return value_text(workflow_text(w, w->kind[t] ? w->kind[t] : w->task_name[t]));
    case TASK_ASSIGNED_PROC_ID:
        return scheduled ? value_integer(r->proc[t] + 1.0) : value_unknown();
    case TASK_EXEC_TIME:
        return value_real(scheduled ? costs_time(r->costs, t, r->proc[t]) : r->mean_time[t]);
    case TASK_START_TIME:
        return scheduled ? value_real(r->start[t]) : value_unknown();
    case TASK_FINISH_TIME:
        return scheduled ? value_real(r->finish[t]) : value_unknown();
    case TASK_SCHEDULE_ORDER:
        return scheduled ? value_integer(r->order[t]) : value_unknown();
    case TASK_PATH_LENGTH:
        return value_real(r->path_length[t]);
    case TASK_PATH_RANK:
        return value_integer(r->path_rank[t]);
    case TASK_WORK:
        return value_real(w->work[t]);
    case TASK_MEMORY:
        return value_real(w->memory[t]);
    case TASK_CORES:
        return value_integer(w->cores[t]);
    case TASK_DEADLINE:
        return w->deadline && w->deadline[t] < INFINITY ? value_real(w->deadline[t])
                                                        : value_unknown();
    default:
        return value_real(w->priority ? w->priority[t] : 0);
    }
}

/* A processor without tasks has no task list; its finish time is unknown while it may still get
 * one. "calvin at least twice lillith" asks for a number of both. */
static struct value proc_value(struct relations *r, enum attribute a, uint32_t n)
{
    const struct platform *p = r->p;
    switch (a) {
    case PROC_ID:
        return value_integer(n + 1.0);
    case PROC_NAME:
        return value_text(platform_node_name(p, n));
    case PROC_FINISH_TIME:
        if (r->load[n].tasks)
            return value_real(r->load[n].finish);
        return r->unused_finish || relations_completed(r) ? value_real(0) : value_unknown();
    case PROC_TOTAL_RUNNING_TIME:
        return value_real(r->load[n].running);
    case PROC_TASK_LIST:
        return task_list(r, n);
    case PROC_TASK_COUNT:
        return value_integer(r->load[n].tasks);
    case PROC_UTILIZATION:
        return value_real(p->utilization[n]);
    case PROC_SPEED:
        return value_real(p->speed[n]);
    case PROC_MEMORY:
        return p->memory[n] < INFINITY ? value_real(p->memory[n]) : value_unknown();
    default:
        return value_integer(p->cores[n]);
    }
}

/* The consumer of an edge is found by bisection: edges are stored by consumer. */
static struct value dep_value(struct relations *r, enum attribute a, uint32_t e)
{
    const struct workflow *w = r->w;
    uint32_t object = w->pred_object[e];
    switch (a) {
    case DEP_ID:
        return value_integer(e + 1.0);
    case DEP_FROM_TASK_ID:
        return value_integer(w->pred_task[e] + 1.0);
    case DEP_TO_TASK_ID: {
        uint32_t low = 0, high = w->ntasks; /* the task whose edges contain e */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (w->pred_off[middle] <= e)
                low = middle;
            else
                high = middle;
        }
        return value_integer(low + 1.0);
    }
    case DEP_OBJECT:
        return object != NONE && w->object_name && w->object_name[object]
                   ? value_text(workflow_text(w, w->object_name[object]))
                   : value_unknown();
    case DEP_SIZE:
        return value_real(object == NONE ? 0 : w->size[object]);
    case DEP_NON_LOCAL_COMM_TIME:
        return value_real(r->remote_time[e]);
    default:
        return value_real(r->comm[e]);
    }
}

/* Attributes of a relation are contiguous. */
struct value relations_value(struct relations *r, enum attribute a, uint32_t row)
{
    if (a <= TASK_PRIORITY)
        return task_value(r, a, row);
    if (a <= PROC_CORES)
        return proc_value(r, a, row);
    return dep_value(r, a, row);
}
