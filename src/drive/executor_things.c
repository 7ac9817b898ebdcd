/* The machine's things in the hands of tasks, as the executor hands them out: taken when the scheduler
 * starts a task, in its order, and given back when it is about to learn of the end.
 *
 * I1. Between two events of the scheduler this count is its count: a task that it starts finds what it
 *     asks for. Where several runs share a machine, who starts tasks asks executor_has_things() before. */
#include "drive/executor_private.h"

#include "base/mem.h"

/* What a joint asks for, or a task whose result is there, is of no account. */
void executor_prepare_things(struct executor *x)
{
    const struct workflow *w = x->w;
    if (!w->asks)
        return;
    x->asks = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        x->asks[t] = executor_takes_room(x, t) ? w->asks[t] : 0;
    if (!x->o->holding)
        x->own_holding = holding_new(x->o->resources);
    x->holding = x->o->holding ? x->o->holding : x->own_holding;
    x->run = holding_run(x->holding);
}

void executor_grow_things(struct executor *x, uint32_t first)
{
    const struct workflow *w = x->w;
    if (!w->asks)
        return;
    if (!x->asks) {
        executor_prepare_things(x);
        return;
    }
    x->asks = mem_resize(x->asks, w->ntasks);
    for (uint32_t t = first; t < w->ntasks; t++)
        x->asks[t] = executor_takes_room(x, t) ? w->asks[t] : 0;
}

bool executor_has_things(const struct executor *x, uint32_t task)
{
    return !x->asks || !x->asks[task] || holding_has(x->holding, x->w, task);
}

bool executor_take_things(struct executor *x, const struct sched_start *s, struct error *err)
{
    if (!x->asks || !x->asks[s->task] || holding_take(x->holding, x->w, s->task, x->run | s->slot))
        return true;
    struct strbuf text = {0};
    workflow_resources_text(x->w, s->task, &text);
    error_set(err, ERROR_FAILED, "it asks for %s, which this machine has not", strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

/* Owners that are parts of tasks on several nodes, not slots: below the run's number, above all slots. */
static uint64_t part_owner(const struct executor *x, uint32_t part)
{
    return x->run | UINT32_C(0x80000000) | part;
}

bool executor_take_part(struct executor *x, uint32_t task, uint32_t part)
{
    return !x->asks || !x->asks[task] || holding_take(x->holding, x->w, task, part_owner(x, part));
}

void executor_give_part(struct executor *x, uint32_t part)
{
    if (x->asks)
        holding_give(x->holding, part_owner(x, part));
}

char **executor_part_variables(const struct executor *x, uint32_t task, uint32_t part)
{
    if (!x->asks || !x->asks[task])
        return NULL;
    for (uint32_t lane = 0; part == NONE && lane < x->o->cores; lane++)
        if (x->active[lane].used && x->active[lane].task == task)
            return executor_variables(x, task, x->active[lane].slot);
    return part == NONE ? NULL : holding_variables(x->holding, x->w, task, part_owner(x, part));
}

void executor_release(struct executor *x, const struct sched_ended *ended, size_t n)
{
    for (size_t i = 0; x->asks && i < n; i++)
        if (x->asks[ended[i].task])
            holding_give(x->holding, x->run | ended[i].slot);
}

char **executor_variables(const struct executor *x, uint32_t task, uint32_t slot)
{
    return x->asks && x->asks[task] ? holding_variables(x->holding, x->w, task, x->run | slot)
                                    : NULL;
}

void executor_free_things(struct executor *x)
{
    if (x->holding)
        holding_give_run(x->holding, x->run);
    holding_free(x->own_holding);
    free(x->asks);
}
