/* What is set aside for data of functions: see data_memory.h. */
#include "session/data_memory.h"

#include "drive/order.h"
#include "plan/memory/traversal.h"
#include "session/in_memory.h"
#include "session/session.h"

#include <stdlib.h>

static bool data_memory_calls(const struct session *s, uint32_t task)
{
    return s->w->flags[task] & TASK_CALL && need_runs(&s->needs, task);
}

/* Agents have a limit of their own (cluster/agent/memory_files.c). O(tasks + objects). */
void data_memory_set_aside(const struct session *s, struct run_options *o)
{
    const struct workflow *w = s->w;
    double all = 0, task = 0, command = 0, given = s->o.data_memory;
    bool any = false, known = true;
    if (s->o.elsewhere)
        return;
    for (uint32_t i = 0; i < w->nobjects; i++) {
        if (!workflow_object_is(w, i, OBJECT_IN_MEMORY))
            continue;
        any = true;
        all += w->size[i];
        known = known && w->size[i] > 0;
    }
    if (!any)
        return;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double memory = need_runs(&s->needs, t) ? w->memory[t] : 0;
        task = memory > task ? memory : task;
        command = !(w->flags[t] & TASK_CALL) && memory > command ? memory : command;
    }
    bool fits = all + task <= s->memory;
    double rest = command < s->memory ? s->memory - command : 0; /* none: the command is refused */
    o->data_memory = given > 0 ? given : fits ? all : known ? rest : 0;
    o->data_limited = o->data_memory > 0 && (given > 0 || !fits);
}

/* A task is with all that it reads and makes in memory; what it writes to files is there until it returns. */
static double data_memory_of(const struct workflow *w, uint32_t task)
{
    double bytes = w->memory[task];
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++)
        bytes +=
            workflow_object_is(w, w->in_object[i], OBJECT_IN_MEMORY) ? w->size[w->in_object[i]] : 0;
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        bytes += w->size[w->out_object[i]];
    return bytes;
}

bool data_memory_fits(const struct session *s, const struct run_options *o, struct error *err)
{
    const struct workflow *w = s->w;
    char label[512];
    if (s->o.data_memory > 0 && !o->data_limited)
        return error_set(
            err, ERROR_INPUT,
            "--memory-for-data is for data that functions hand to each other in memory, and "
            "%s",
            s->o.elsewhere ? "each agent has its own limit for them: WEFT_MEMORY_FOR_DATA in its "
                             "environment"
                           : "this workflow has none (`in_memory: true` of an output, "
                             "weft_builder_in_memory())");
    if (!o->data_limited)
        return true;
    if (o->data_memory > s->memory)
        return error_set(err, ERROR_INFEASIBLE,
                         "--memory-for-data is %.10g bytes, and this run has %.10g (-m)",
                         o->data_memory, s->memory);
    for (uint32_t i = 0; i < w->nobjects; i++)
        if (workflow_object_is(w, i, OBJECT_IN_MEMORY) && !(w->size[i] > 0) &&
            data_memory_calls(s, w->producer[i]))
            return error_set(err, ERROR_INPUT,
                             "'%s' is in memory, and nobody says how large it is: with "
                             "--memory-for-data state its `size`",
                             workflow_object_label(w, i, label, sizeof label));
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double bytes = data_memory_calls(s, t) ? data_memory_of(w, t) : 0;
        if (bytes > o->data_memory)
            return error_set(
                err, ERROR_INFEASIBLE,
                "task '%s' takes %.10g bytes with its data, and data in memory have %.10g "
                "(--memory-for-data, -m)",
                workflow_task_name(w, t), bytes, o->data_memory);
    }
    return true;
}

void data_memory_begin(struct session *s, struct run_options *o)
{
    if (o->data_limited)
        in_memory_order(s, o);
}

void data_memory_look_ahead(struct session *s, struct run_options *o)
{
    double peak;
    if (!o->data_limited)
        return;
    if (!s->order)
        s->order = s->priority ? order_by_priority(s->w, s->priority) : traversal_best(s->w, &peak);
    o->order = s->order;
}
