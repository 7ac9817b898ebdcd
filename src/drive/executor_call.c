/* Tasks that are functions: their arguments, their start on a thread or at once, their end.
 *
 * Three million short calls a second go through here: arguments are kept and used again, the
 * function found last is found again without a search, a call that is shorter than handing it over
 * is made on the spot, and one that leaves no trace ends by counting alone.
 *
 * Relies on exec/calls: a job's arguments are not touched here between calls_submit() and the
 * taking of its result. */
#include "drive/executor_private.h"

#include "base/tree.h"
#include "model/memory_file.h"

#include <stdlib.h>
#include <string.h>

/* Valid until it is given back: the list holds pointers, and may grow meanwhile. */
static struct call_arguments *call_take_arguments(struct executor *x, uint32_t *number)
{
    if (x->free_arguments != NONE) {
        *number = x->free_arguments;
        x->free_arguments = x->arguments.at[*number]->next;
    } else {
        *number = (uint32_t)x->arguments.n;
        array_push(&x->arguments, mem_new_zero(struct call_arguments, 1));
    }
    return x->arguments.at[*number];
}

void executor_give_arguments(struct executor *x, uint32_t number)
{
    struct call_arguments *a = x->arguments.at[number];
    for (uint32_t i = 0; a->paths && i < a->task.nin + a->task.nout; i++)
        free(a->paths[i]);
    free(a->paths);
    free(a->sandbox);
    holding_free_variables(a->variables);
    input_marks_free(&a->inputs);
    if (a->with_data)
        data_slot_free(&a->data);
    *a = (struct call_arguments){.next = x->free_arguments};
    x->free_arguments = number;
}

/* Inputs, then outputs, in the order of the file; in the sandbox if there is one. */
static void call_fill_paths(struct executor *x, uint32_t task, struct call_arguments *a)
{
    const struct workflow *w = x->w;
    char label[512];
    uint32_t nin = w->in_off[task + 1] - w->in_off[task];
    uint32_t nout = w->object_end[task] - w->object_off[task];
    const char *folder = a->sandbox ? a->sandbox : x->o->folder;
    a->paths = mem_new(char *, nin + nout);
    for (uint32_t i = 0; i < nin + nout; i++) {
        uint32_t object = i < nin ? w->in_object[w->in_off[task] + i]
                                  : w->out_object[w->object_off[task] + i - nin];
        const char *name = workflow_object_label(w, object, label, sizeof label);
        bool absent = i < nin && x->absent && x->absent[object]; /* "": it is not there */
        absent = absent || workflow_object_is(w, object, OBJECT_IN_MEMORY);
        bool memory = workflow_in_memory_file(w, object); /* in no sandbox */
        a->paths[i] =
            mem_copy_string(absent ? "" : path_in(memory ? x->o->folder : folder, name, &x->path));
    }
    a->task.nin = nin;
    a->task.nout = nout;
    a->task.in = (const char *const *)a->paths;
    a->task.out = (const char *const *)a->paths + nin;
}

char *executor_explain_call(struct executor *x, uint32_t task, int *status)
{
    struct strbuf text = {0};
    if (*status && x->data)
        data_explain(x->data, task, &text);
    if (text.n)
        *status = 1;
    return text.n ? strbuf_steal(&text) : NULL;
}

/* To a thread at the next executor_hand_over(), or made here and now, in which case it has ended
 * when this returns. */
void executor_start_call(struct executor *x, const struct sched_start *s, uint32_t cores)
{
    const struct workflow *w = x->w;
    struct error err; /* cleared by hand: zeroing its text would cost as much as a short call */
    error_clear(&err);
    struct call_job job = {.task = s->task, .attempt = s->attempt};
    uint32_t text = w->command[s->task];
    job.function = x->call_function;
    /* mostly the text of the call before: comparing its number saves comparing it */
    if (text != x->call_text &&
        !calls_find(x->calls, workflow_text(w, text), &job.function, &err)) {
        executor_refuse(x, s, &err);
        return;
    }
    x->call_text = text;
    x->call_function = job.function;
    uint32_t number;
    struct call_arguments *a = call_take_arguments(x, &number);
    a->task.name = workflow_task_name(w, s->task);
    a->task.attempt = s->attempt;
    a->task.number = s->task;
    a->task.folder = x->o->folder;
    a->slot = s->slot;
    a->cores = cores;
    if (x->asks && x->asks[s->task]) {
        a->variables = executor_variables(x, s->task, s->slot);
        a->task.variables = (const char *const *)a->variables;
    }
    if (executor_has_files(w, s->task)) {
        if (!executor_make_room(x, s->task, "c", number, &a->sandbox, &a->inputs, &err)) {
            executor_give_arguments(x, number);
            executor_refuse(x, s, &err);
            return;
        }
    }
    if (executor_has_objects(w, s->task)) {
        call_fill_paths(x, s->task, a);
    }
    a->task.data = &data_bare;
    a->with_data = x->data != NULL;
    if (a->with_data) {
        data_slot_init(&a->data, x->data, false);
        data_begin(&a->data, &a->task, s->task);
    }
    if (x->ration)
        ration_begun(x->ration, s->task);
    job.slot = number;
    job.with = &a->task;
    x->running++;
    if (calls_inline(x->calls, job.function)) {
        struct call_result result;
        /* what lies between two calls counts as the second's, unless it is a lot: records */
        calls_run(x->calls, &job, x->o->needs ? 0 : x->call_ended, &result);
        x->call_ended = result.finish;
        executor_call_ended(x, &result);
    } else {
        array_push(&x->jobs, job);
    }
}

/* A call that went well, made no files, and that nobody watches: nothing but counting. */
static bool call_ended_quietly(struct executor *x, const struct call_result *c,
                               struct call_arguments *a)
{
    if (c->status || x->outbox->wanted || x->o->needs || a->paths || a->sandbox || a->variables)
        return false;
    x->result->attempts++;
    x->result->busy += (c->finish - c->start) * a->cores;
    x->result->cpu += c->cpu;
    x->running--;
    executor_report(x, c->task, a->slot, c->start - driver_began(x->driver),
                    c->finish - driver_began(x->driver), 0);
    a->next = x->free_arguments;
    x->free_arguments = c->slot;
    return true;
}

/* On the loop's thread, wherever the call was made. */
void executor_call_ended(struct executor *x, const struct call_result *c)
{
    struct call_arguments *a = x->arguments.at[c->slot];
    struct call_result checked = *c;
    if (x->ration)
        ration_returned(x->ration, c->task);
    if (a->with_data) {
        checked.status = data_end(&a->data, &a->task, c->status);
        c = &checked;
    } else if (call_ended_quietly(x, c, a)) {
        return;
    }
    char *text = executor_explain_call(x, c->task, &checked.status);
    if (x->o->gang && a->paths && executor_doubts_call(x, c))
        return;
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->lane,
                            .start = c->start - driver_began(x->driver),
                            .finish = c->finish - driver_began(x->driver),
                            .outcome = c->status ? TRACE_FAILED : TRACE_DONE,
                            .status = c->status,
                            .attempt = c->attempt,
                            .cpu = c->cpu};
    struct run_failure failure = {.task = c->task,
                                  .attempt = c->attempt,
                                  .outcome = (enum trace_outcome)e.outcome,
                                  .status = c->status,
                                  .text = text};
    executor_task_over(x, &e, a->slot, a->cores, a->sandbox, &a->inputs, failure);
    executor_give_arguments(x, c->slot);
}

void executor_free_calls(struct executor *x)
{
    for (size_t i = 0; i < x->arguments.n; i++) {
        struct call_arguments *a = x->arguments.at[i];
        if (a->sandbox)
            tree_remove(a->sandbox);
        executor_give_arguments(x, (uint32_t)i);
        free(a);
    }
    array_free(&x->arguments);
    array_free(&x->jobs);
}
