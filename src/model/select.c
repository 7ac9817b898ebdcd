/* Parts of workflows: finding what a name stands for, closing over edges, and copying what is left
 * through a builder, which checks it again. */
#include "model/select.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "model/builder.h"

#include <string.h>

/* Of a family, a module, a sub-workflow or an instance of one: count@doc=a, qc/count, align@s=a/sort. */
static bool is_member(const char *task, const char *family, size_t length)
{
    return strncmp(task, family, length) == 0 && (task[length] == '@' || task[length] == '/' ||
                                                  strncmp(task + length, ",round=", 7) == 0);
}

/* A repeated task goes with its rounds: `solve` with solve@round=1, solve@round=2/map ..., and
 * solve@s=a with solve@s=a,round=1 ... It is known by its kind, solve/last (formats/native). */
static void mark_rounds(const struct workflow *w, uint32_t task, uint8_t *marks)
{
    const char *name = workflow_task_name(w, task), *kind = workflow_text(w, w->kind[task]);
    const char *end = strrchr(kind, '/');
    size_t length = strlen(name);
    if (!end || strcmp(end, "/last") != 0)
        return;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *other = workflow_task_name(w, t);
        if (strncmp(other, name, length) == 0 && (other[length] == '@' || other[length] == ',') &&
            strncmp(other + length + 1, "round=", 6) == 0)
            marks[t] = 1;
    }
}

/* Always false. */
static bool unknown_target(const struct workflow *w, const char *name, struct error *err)
{
    size_t count = 0;
    const char **names = mem_new(const char *, 2 * (size_t)w->ntasks + w->nobjects);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *own = workflow_task_name(w, t), *kind = workflow_text(w, w->kind[t]);
        names[count++] = own;
        /* a family's members are of its kind, and stand beside each other */
        if (is_member(own, kind, strlen(kind)) && (!t || w->kind[t] != w->kind[t - 1]))
            names[count++] = kind;
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->producer[o] != NONE && w->object_name[o])
            names[count++] = workflow_text(w, w->object_name[o]);
    const char *near = suggest_nearest(name, names, count);
    error_set(err, ERROR_INPUT,
              "%s: '%.200s' is no task, no family and no file that a task makes%s%.200s%s",
              workflow_text(w, w->file), name,
              near ? "; did you mean '" : "; `weft show FLOW --tasks` lists them", near ? near : "",
              near ? "'?" : "");
    free(names);
    return false;
}

/* A task, a file that one makes, else every member of a family or module: in this order, so that a
 * name means one thing however many families there are. */
bool select_named(const struct workflow *w, const char *name, uint8_t *marks, struct error *err)
{
    uint32_t t = workflow_find_task(w, name);
    uint32_t object = t == NONE ? workflow_find_object(w, name) : NONE;
    if (object != NONE && w->producer[object] == NONE)
        return error_set(err, ERROR_INPUT, "%s: no task makes '%.200s': it is an input",
                         workflow_text(w, w->file), name);
    if (object != NONE)
        t = w->producer[object];
    if (t != NONE) {
        marks[t] = 1;
        mark_rounds(w, t, marks);
        return true;
    }
    bool any = false;
    size_t length = strlen(name);
    for (t = 0; t < w->ntasks; t++)
        if (is_member(workflow_task_name(w, t), name, length))
            marks[t] = any = true;
    return any || unknown_target(w, name, err);
}

/* One pass against the edges: a task is met after all that need it. */
void select_ancestors(const struct workflow *w, uint8_t *marks)
{
    for (uint32_t i = w->ntasks; i--;) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; marks[t] && e < w->pred_off[t + 1]; e++)
            marks[w->pred_task[e]] = 1;
    }
}

/* One pass along them: a task is met after all that it needs. By these, since what joined a workflow that grew is not
 * among the successors of what was there before (model/growth.h). */
void select_descendants(const struct workflow *w, uint8_t *marks)
{
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        for (uint32_t e = w->pred_off[t]; !marks[t] && e < w->pred_off[t + 1]; e++)
            marks[t] = marks[w->pred_task[e]];
    }
}

/* ---- copying ---- */

struct part_copy {
    const struct workflow *w;
    struct builder *b;
    uint32_t *task;   /* its number in the part; NONE: left out */
    uint32_t *object; /* the same; NONE: not met yet */
    const uint8_t *asked;
};

/* The object in the part, made on first use, with what is known about it. */
static uint32_t part_object(struct part_copy *c, uint32_t o)
{
    const struct workflow *w = c->w;
    char label[512];
    if (c->object[o] == NONE) {
        const char *name = workflow_object_label(w, o, label, sizeof label);
        c->object[o] = builder_object(c->b, name, strlen(name));
        if (w->size[o] > 0)
            builder_size(c->b, c->object[o], w->size[o], 0);
        bool asked = c->asked && w->producer[o] != NONE && c->asked[w->producer[o]];
        if (workflow_is_temporary(w, o) && !asked)
            builder_temporary(c->b, c->object[o]);
        if (workflow_object_is(w, o, OBJECT_IN_MEMORY) && !asked)
            builder_in_memory(c->b, c->object[o]);
    }
    return c->object[o];
}

/* All that does not refer to other tasks. */
static void copy_settings(struct part_copy *c, uint32_t t)
{
    const struct workflow *w = c->w;
    uint32_t task = c->task[t];
    const char *kind = workflow_text(w, w->kind[t]);
    builder_usual_kind(c->b, task, kind, strlen(kind));
    builder_flag(c->b, task, w->flags[t] & TASK_KIND_STATED);
    if (w->flags[t] & TASK_HAS_WORK)
        builder_work(c->b, task, w->work[t], 0);
    for (uint32_t i = w->time_off ? w->time_off[t] : 0; w->time_off && i < w->time_off[t + 1];
         i++) {
        const char *node = workflow_text(w, w->time[i].node);
        builder_time(c->b, task, node, strlen(node), w->time[i].seconds, 0);
    }
    builder_memory(c->b, task, w->memory[t], 0);
    for (uint32_t i = w->more_off ? w->more_off[t] : 0; w->more_off && i < w->more_off[t + 1]; i++)
        builder_more_memory(c->b, task, w->more_memory[i], 0);
    builder_cores(c->b, task, w->cores[t], 0);
    builder_copy_columns(c->b, task, w, t, 0);
    if (w->command && w->command[t]) {
        const char *command = workflow_text(w, w->command[t]);
        builder_command(c->b, task, command, strlen(command));
        if (w->flags[t] & TASK_CALL)
            builder_flag(c->b, task, TASK_CALL);
    }
    builder_copy_texts(c->b, task, w, t);
    if (w->shell && w->shell[t]) {
        const char *shell = workflow_text(w, w->shell[t]);
        builder_shell(c->b, task, shell, strlen(shell), 0);
    }
}

/* Inputs and outputs in the order in which commands count them. */
static void copy_files(struct part_copy *c, uint32_t t)
{
    const struct workflow *w = c->w;
    uint32_t task = c->task[t];
    for (uint32_t i = w->object_off[t]; i < w->object_end[t]; i++)
        builder_produces(c->b, task, part_object(c, w->out_object ? w->out_object[i] : i), 0);
    if (w->in_off) {
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++) {
            builder_consumes(c->b, task, part_object(c, w->in_object[i]), 0);
            if (w->in_optional && w->in_optional[i])
                builder_optional(c->b, task, part_object(c, w->in_object[i]));
        }
    } else {
        for (uint32_t i = w->input_off ? w->input_off[t] : 0;
             w->input_off && i < w->input_off[t + 1]; i++)
            builder_consumes(c->b, task, part_object(c, w->input_object[i]), 0);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] != NONE)
                builder_consumes(c->b, task, part_object(c, w->pred_object[e]), 0);
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] == NONE && c->task[w->pred_task[e]] != NONE)
            builder_edge(c->b, c->task[w->pred_task[e]], task, 0);
}

/* What belongs to the whole stays whole: parameters, hooks and wishes. */
static void copy_head(struct builder *b, const struct workflow *w)
{
    const char *name = workflow_text(w, w->name);
    if (*name)
        builder_name(b, name, strlen(name));
    for (uint32_t i = 0; i < w->nparameters; i++)
        builder_parameter(b, workflow_text(w, w->parameter_name[i]),
                          workflow_text(w, w->parameter_value[i]));
    for (int h = 0; h < WORKFLOW_HOOKS; h++) {
        const char *command = workflow_text(w, w->hook[h]);
        if (*command)
            builder_hook(b, (enum workflow_hook)h, command, strlen(command));
    }
    for (uint32_t i = 0; i < w->nassertions; i++) {
        const char *text = workflow_text(w, w->assertion[i]);
        builder_assertion(b, text, strlen(text), w->assertion_line ? w->assertion_line[i] : 0);
    }
}

/* Tasks first: edges may lead to a later one. O(tasks, edges and files that are left). */
struct workflow *workflow_part(const struct workflow *w, const uint8_t *marks, const uint8_t *asked,
                               struct error *err)
{
    struct part_copy c = {.w = w,
                          .asked = asked,
                          .b = builder_new(workflow_text(w, w->file), workflow_text(w, w->format))};
    c.task = mem_new(uint32_t, w->ntasks);
    c.object = mem_new(uint32_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++)
        c.object[o] = NONE;
    copy_head(c.b, w);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t);
        c.task[t] =
            marks[t] ? builder_task(c.b, name, strlen(name), w->line ? w->line[t] : 0) : NONE;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (marks[t]) {
            copy_settings(&c, t);
            copy_files(&c, t);
        }
    free(c.task);
    free(c.object);
    return builder_finish(c.b, err);
}

static bool mark_all(const struct workflow *w, const char *const *names, uint8_t *marks,
                     struct error *err)
{
    for (; *names; names++)
        if (!select_named(w, *names, marks, err))
            return false;
    return true;
}

/* What the targets need, and of that what comes after `since`. */
bool select_part(const struct workflow *w, const char *const *targets, const char *const *since,
                 uint8_t *marks, uint8_t *asked, struct error *err)
{
    uint8_t *later = mem_new_zero(uint8_t, w->ntasks);
    bool good = true, wanted = targets && *targets, begun = since && *since;
    memset(marks, 0, w->ntasks);
    if (wanted && (good = mark_all(w, targets, marks, err))) {
        if (asked)
            memcpy(asked, marks, w->ntasks);
        select_ancestors(w, marks);
    }
    if (begun && good && (good = mark_all(w, since, later, err)))
        select_descendants(w, later);
    uint32_t count = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        marks[t] = (uint8_t)((!wanted || marks[t]) && (!begun || later[t]));
        count += marks[t];
    }
    free(later);
    return good &&
           (count || error_set(err, ERROR_INPUT,
                               "%s: no task is both needed for the targets and after --since",
                               workflow_text(w, w->file)));
}

struct workflow *workflow_select(const struct workflow *w, const char *const *targets,
                                 const char *const *since, struct error *err)
{
    uint8_t *marks = mem_new_zero(uint8_t, w->ntasks), *asked = mem_new_zero(uint8_t, w->ntasks);
    struct workflow *part = select_part(w, targets, since, marks, asked, err)
                                ? workflow_part(w, marks, asked, err)
                                : NULL;
    free(asked);
    free(marks);
    return part;
}
