/* Experiments made by hand, for the tests of this room. */
#pragma once
#include "base/array.h"
#include "model/builder.h"
#include "model/experiment.h"

#include <math.h>
#include <string.h>

__attribute__((unused)) static void start_experiment(struct experiment *x)
{
    experiment_init(x);
    x->file = mem_copy_string("exp.yaml");
    x->name = mem_copy_string("");
    x->workflow = mem_copy_string("flow.yaml");
    x->results = mem_copy_string("results");
}

/* Valid until the next one is added. */
__attribute__((unused)) static struct substitution *substitute(struct experiment *x,
                                                               const char *name,
                                                               enum substitution_target target,
                                                               const char *what)
{
    struct substitution *s = array_add(&x->substitutions);
    s->name = mem_copy_string(name);
    s->target = target;
    s->what = mem_copy_string(what);
    s->line = (uint32_t)x->substitutions.n;
    return s;
}

/* `text` is a file, a value, or a task's command (NULL: as it is). */
__attribute__((unused)) static struct alternative *by(struct substitution *s, const char *label,
                                                      const char *text)
{
    struct alternative *a = array_add(&s->by);
    a->label = mem_copy_string(label);
    a->change.work = a->change.memory = a->change.cores = a->change.timeout = a->change.retries =
        NAN;
    if (text && s->target == SUBSTITUTE_TASK)
        a->change.command = mem_copy_string(text);
    else if (text)
        a->text = mem_copy_string(text);
    return a;
}

/* ---- workflows made by hand ---- */

__attribute__((unused)) static void reads(struct builder *b, uint32_t t, const char *name)
{
    builder_consumes(b, t, builder_object(b, name, strlen(name)), 0);
}

__attribute__((unused)) static void makes(struct builder *b, uint32_t t, const char *name)
{
    builder_produces(b, t, builder_object(b, name, strlen(name)), 0);
}

__attribute__((unused)) static uint32_t task(struct builder *b, const char *name,
                                             const char *command)
{
    uint32_t t = builder_task(b, name, strlen(name), 0);
    if (command)
        builder_command(b, t, command, strlen(command));
    return t;
}
