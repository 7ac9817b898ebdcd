/* What tasks may have at most: how much memory their attempts get, more after each that ran out of it (a
 * rung), as long as somebody has so much; how many processes. */
#include "drive/executor_private.h"

#include <math.h>

/* The task's next attempt gets more memory: what the workflow lists, else twice as much. */
static double executor_next_memory(const struct executor *x, uint32_t task)
{
    const struct workflow *w = x->w;
    uint32_t rungs = w->more_off ? w->more_off[task + 1] - w->more_off[task] : 0;
    if (!rungs)
        return x->memory[task] * 2;
    return w->more_memory[w->more_off[task] + (x->rung[task] < rungs ? x->rung[task] : rungs - 1)];
}

/* Where files are in memory a task takes its own and what it leaves; its inputs are there already, and counted
 * (model/residence.h is the rule). */
double executor_room_needed(const struct executor *x, uint32_t task)
{
    double own = !x->o->in_memory ? 0 : x->memory ? x->memory[task] : x->w->memory[task];
    return disk_expected(x->w, task) + own + spill_room_needed(x->spill, task);
}

static void executor_more_memory(struct executor *x, uint32_t task)
{
    x->memory[task] = executor_next_memory(x, task);
    if (x->task_disk && x->o->in_memory)
        x->task_disk[task] = executor_room_needed(x, task);
    x->rung[task] += x->rung[task] < UINT8_MAX;
}

/* An attempt that ran out of memory, and what the next would get is nowhere to be had: there is no
 * next one. The caller's text; NULL: it may be tried again. */
char *executor_out_of_rungs(struct executor *x, uint32_t task, uint32_t attempt)
{
    double most = x->o->memory_most > 0 ? x->o->memory_most
                  : x->o->memory > 0    ? x->o->memory
                                        : INFINITY;
    double next = executor_next_memory(x, task);
    if (executor_is_last_attempt(x, task, attempt) || next <= most)
        return NULL;
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "it used more than the %.4g MB that it may have; the next attempt would get %.4g "
                  "MB, and no machine here gives a task more than %.4g MB (-m)",
                  x->memory[task] / 1e6, next / 1e6, most / 1e6);
    x->retries[task] = 0; /* the scheduler looks when it learns of the end */
    return strbuf_steal(&text);
}

/* ---- files that leave memory ---- */

static void executor_on_moved(void *context)
{
    struct executor *x = context;
    if (x->moved)
        x->moved(x->context);
    executor_retry_waiting(x);
}

static void executor_on_spill_trouble(void *context, const struct error *err)
{
    struct executor *x = context;
    x->trouble(x->context, err);
}

bool executor_open_spill(struct executor *x, uv_loop_t *loop, struct error *err)
{
    if (!x->o->spill || !x->o->needs)
        return true;
    x->spill = spill_new(&(struct spill_config){.loop = loop,
                                                .options = x->o,
                                                .disk = x->disk,
                                                .result = x->result,
                                                .moved = executor_on_moved,
                                                .trouble = executor_on_spill_trouble,
                                                .context = x},
                         err);
    return x->spill != NULL;
}

/* What came back for it is alive before it is taken off again; what leaves after it makes room for the next. */
void executor_files_done(struct executor *x, uint32_t task, bool produced)
{
    spill_attempt_over(x->spill, task);
    if (x->sequel) /* before what it read is gone */
        sequel_ended(x->sequel, task, produced);
    if (x->ration && !x->crewed) /* which tells of its own */
        ration_ended(x->ration, task, produced);
    disk_task_done(x->disk, task, produced);
    spill_task_done(x->spill, task);
}

void executor_attempt_failed(struct executor *x, uint32_t task)
{
    if (spill_attempt_over(x->spill, task))
        array_push(&x->roomed, task);
    if (x->sequel)
        sequel_waits(x->sequel, task); /* until it is lost, if no attempt follows */
}

void executor_task_lost(struct executor *x, uint32_t task)
{
    if (x->sequel)
        sequel_lost(x->sequel, task);
    if (x->ration)
        ration_lost(x->ration, task);
}

/* ---- room for what follows ---- */

/* The scheduler's gate, which stays when a workflow grows: nobody knows then what follows. */
static bool executor_lets(void *context, uint32_t task, double left)
{
    struct executor *x = context;
    return (!x->sequel || sequel_lets(x->sequel, task, left)) && executor_data_lets(x, task);
}

static void executor_takes(void *context, uint32_t task)
{
    const struct executor *x = context;
    if (x->sequel)
        sequel_started(x->sequel, task);
}

struct sched_gate executor_gate(struct executor *x)
{
    return x->sequel || x->ration ? (struct sched_gate){executor_lets, executor_takes, x}
                                  : (struct sched_gate){0};
}

/* What a plan moves out of memory is there again when nobody here can tell. */
void executor_prepare_sequel(struct executor *x)
{
    const struct run_options *o = x->o;
    if (o->order && x->w->in_off && x->w->nobjects && o->needs && x->task_disk && !x->spill)
        x->sequel = sequel_new(x->w, o->needs, o->order, x->task_disk, disk_live(x->disk), o->disk);
}

void executor_drop_sequel(struct executor *x)
{
    sequel_free(x->sequel);
    x->sequel = NULL;
}

bool executor_bring_files(struct executor *x, uint32_t task, struct error *err)
{
    if (spill_bring(x->spill, task, err))
        return true;
    x->is_short = err->kind == ERROR_NONE;
    return false;
}

bool executor_is_moving(const struct executor *x)
{
    return spill_is_moving(x->spill);
}

bool executor_end_moves(struct executor *x, struct error *err)
{
    return !x->spill || spill_end(x->spill, err);
}

/* Far more than a build or a parallel program has on one node, and far less than makes a machine useless. */
enum { PROCESSES_STANDARD = 4096 };

uint32_t executor_processes(const struct executor *x, uint32_t task)
{
    uint32_t stated = x->w->processes ? x->w->processes[task] : 0;
    return x->o->unlimited ? 0 : stated ? stated : PROCESSES_STANDARD;
}

char *executor_explain_processes(const struct executor *x, const struct child_result *c)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "it had %u processes at once, and may have %u: it was ended with all of them. If "
                  "that is no mistake of its own, `processes: %u` allows so many",
                  c->processes, executor_processes(x, c->task), 2 * c->processes);
    return strbuf_steal(&text);
}

double executor_task_memory(const struct executor *x, uint32_t task)
{
    return x->memory ? x->memory[task] : 0;
}

/* As many rungs up as it takes. */
void executor_set_task_memory(struct executor *x, uint32_t task, double memory)
{
    const struct workflow *w = x->w;
    if (!x->memory || !(memory > x->memory[task]))
        return;
    uint32_t rungs = w->more_off ? w->more_off[task + 1] - w->more_off[task] : 0;
    while (x->rung[task] < rungs && w->more_memory[w->more_off[task] + x->rung[task]] <= memory)
        x->rung[task]++;
    x->memory[task] = memory;
}

void executor_settle(struct executor *x)
{
    for (size_t i = 0; x->memory && i < x->out_of_memory.n; i++)
        executor_more_memory(x, x->out_of_memory.at[i]);
    x->out_of_memory.n = 0;
    for (size_t i = 0; x->task_disk && i < x->roomed.n; i++)
        x->task_disk[x->roomed.at[i]] = executor_room_needed(x, x->roomed.at[i]);
    x->roomed.n = 0;
}
