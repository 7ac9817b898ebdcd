/* An experiment as data: what stands for what. Read by formats/native/experiment.c, merged by the
 * room `experiment`. The struct owns all its texts. */
#include "model/experiment.h"

#include "base/mem.h"

#include <string.h>

/* Defaults of the file format: all combinations, seed 1. */
void experiment_init(struct experiment *x)
{
    memset(x, 0, sizeof *x);
    x->combine = COMBINE_ALL;
    x->seed = 1;
}

void experiment_assert(struct experiment *x, const char *text, size_t length, uint32_t line)
{
    struct experiment_assertion a = {mem_copy_bytes(text, length), line};
    array_push(&x->assertions, a);
}

static void free_change(struct task_change *c)
{
    free(c->command);
    free(c->kind);
    for (size_t i = 0; i < c->input.n; i++)
        free(c->input.at[i]);
    array_free(&c->input);
}

void experiment_free(struct experiment *x)
{
    for (size_t s = 0; s < x->substitutions.n; s++) {
        struct substitution *sub = &x->substitutions.at[s];
        for (size_t i = 0; i < sub->by.n; i++) {
            struct alternative *a = &sub->by.at[i];
            free(a->label);
            free(a->text);
            free_change(&a->change);
        }
        array_free(&sub->by);
        free(sub->name);
        free(sub->what);
    }
    array_free(&x->substitutions);
    array_free(&x->listed);
    for (size_t i = 0; i < x->assertions.n; i++)
        free(x->assertions.at[i].text);
    array_free(&x->assertions);
    free(x->file);
    free(x->name);
    free(x->workflow);
    free(x->results);
    memset(x, 0, sizeof *x);
}
