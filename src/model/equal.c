/* Are two workflows the same? Tasks and objects are matched by name, since a format may give them
 * other numbers; then every column of the table, every object, every edge and the workflow's own
 * texts are compared. The first difference is named. */
#include "base/mem.h"
#include "base/plural.h"
#include "model/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For qsort: task numbers ascending. */
static int equal_compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The same set of tasks, `map` translating those of a? */
static bool same_set(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb,
                     const uint32_t *map)
{
    if (na != nb)
        return false;
    uint32_t *x = mem_new(uint32_t, na), *y = mem_new(uint32_t, na);
    for (uint32_t i = 0; i < na; i++) {
        x[i] = map[a[i]];
        y[i] = b[i];
    }
    qsort(x, na, sizeof *x, equal_compare_numbers);
    qsort(y, na, sizeof *y, equal_compare_numbers);
    bool same = !na || memcmp(x, y, na * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

/* Ordering edges are the last of a task's run. */
static uint32_t first_ordering(const struct workflow *w, uint32_t task)
{
    uint32_t e = w->succ_off[task + 1];
    while (e > w->succ_off[task] && w->succ_object[e - 1] == NONE)
        e--;
    return e;
}

#define DIFFERS(...) error_set(why, ERROR_FAILED, __VA_ARGS__)

/* A column's value for a message. */
static const char *equal_show(const struct workflow *w, uint32_t task, enum column_id id,
                              char *buffer, size_t size)
{
    if (!column_is_set(w, task, id) && id != COLUMN_kind)
        return "none";
    double number;
    switch (id) {
    case COLUMN_run:
    case COLUMN_call:
        return workflow_text(w, w->command[task]);
    case COLUMN_kind:
        return workflow_text(w, w->kind[task]);
    case COLUMN_shell:
        return workflow_text(w, w->shell[task]);
#define SHOW_TEXT(name) case COLUMN_##name:
        TASK_TEXTS(SHOW_TEXT)
        return column_text(w, task, id);
    case COLUMN_when:
        return workflow_text(w, w->when[task]);
    case COLUMN_retry_on:
        return workflow_text(w, w->retry_on[task]);
    case COLUMN_work:
        number = w->work[task];
        break;
    case COLUMN_memory:
        number = w->memory[task];
        break;
    case COLUMN_cores:
        number = w->cores[task];
        break;
    default:
        if (task_column[id].sort != COLUMN_OPTIONAL)
            return "others";
        number = column_number(w, task, id);
    }
    snprintf(buffer, size, "%.17g", number);
    return buffer;
}

static bool same_task(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                      struct error *why)
{
    for (enum column_id id = 0; id < TASK_COLUMN_COUNT; id++)
        if (!column_is_equal(a, s, b, t, id)) {
            char one[40], two[40];
            return DIFFERS("task '%s': %s '%s' and '%s'", workflow_task_name(a, s),
                           task_column[id].key, equal_show(a, s, id, one, sizeof one),
                           equal_show(b, t, id, two, sizeof two));
        }
    return true;
}

/* The same names in the same order? */
static bool same_sequence(const struct workflow *a, const uint32_t *x, uint32_t nx,
                          const struct workflow *b, const uint32_t *y, uint32_t ny)
{
    bool same = nx == ny;
    for (uint32_t i = 0; i < nx && same; i++) {
        char one[8192], two[8192];
        same = strcmp(workflow_object_label(a, x[i], one, sizeof one),
                      workflow_object_label(b, y[i], two, sizeof two)) == 0;
    }
    return same;
}

/* `{in}` and `{out}` stand for files in the order of the file, so the order counts for a task that
 * has a command. */
static bool same_order(const struct workflow *a, uint32_t s, const struct workflow *b, uint32_t t,
                       struct error *why)
{
    if (!a->command || !a->command[s] || !b->command || !b->command[t])
        return true; /* whether both have one was compared before */
    if (!same_sequence(a, a->in_object + a->in_off[s], a->in_off[s + 1] - a->in_off[s], b,
                       b->in_object + b->in_off[t], b->in_off[t + 1] - b->in_off[t]))
        return DIFFERS("task '%s': its inputs stand in another order", workflow_task_name(a, s));
    if (!same_sequence(a, a->out_object + a->object_off[s], a->object_end[s] - a->object_off[s], b,
                       b->out_object + b->object_off[t], b->object_end[t] - b->object_off[t]))
        return DIFFERS("task '%s': its outputs stand in another order", workflow_task_name(a, s));
    return true;
}

/* Matched by label: an anonymous object and one that a writer named by that label are the same. */
static bool same_object(const struct workflow *a, uint32_t o, const struct workflow *b,
                        const uint32_t *map, struct error *why)
{
    char buffer[8192];
    const char *label = workflow_object_label(a, o, buffer, sizeof buffer);
    uint32_t p = workflow_find_object(b, label);
    if (p == NONE)
        return DIFFERS("object '%s' is in one only", label);
    if (a->size[o] != b->size[p])
        return DIFFERS("object '%s': size %.17g and %.17g", label, a->size[o], b->size[p]);
    if (workflow_is_temporary(a, o) != workflow_is_temporary(b, p))
        return DIFFERS("object '%s': temporary in one only", label);
    uint32_t maker = a->producer[o] == NONE ? NONE : map[a->producer[o]];
    if (maker != b->producer[p])
        return DIFFERS("object '%s' has another producer", label);
    uint32_t na, nb;
    const uint32_t *ca = workflow_consumers(a, o, &na), *cb = workflow_consumers(b, p, &nb);
    if (!same_set(ca, na, cb, nb, map))
        return DIFFERS("object '%s' has other consumers", label);
    return true;
}

/* Order counts: constraints and parameters are shown to people in it. */
static bool same_texts(const struct workflow *a, const struct workflow *b, struct error *why)
{
    const char *one = workflow_text(a, a->name), *two = workflow_text(b, b->name);
    if (strcmp(one, two) != 0)
        return DIFFERS("the name '%s' and '%s'", one, two);
    if (a->nparameters != b->nparameters || a->nassertions != b->nassertions)
        return DIFFERS("%u parameters and %u constraint%s against %u and %u", a->nparameters,
                       a->nassertions, plural(a->nassertions), b->nparameters, b->nassertions);
    for (uint32_t i = 0; i < a->nparameters; i++)
        if (strcmp(workflow_text(a, a->parameter_name[i]),
                   workflow_text(b, b->parameter_name[i])) != 0 ||
            strcmp(workflow_text(a, a->parameter_value[i]),
                   workflow_text(b, b->parameter_value[i])) != 0)
            return DIFFERS("parameter '%s'", workflow_text(a, a->parameter_name[i]));
    for (uint32_t i = 0; i < a->nassertions; i++)
        if (strcmp(workflow_text(a, a->assertion[i]), workflow_text(b, b->assertion[i])) != 0)
            return DIFFERS("constraint %u", i + 1);
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        if (strcmp(workflow_text(a, a->hook[i]), workflow_text(b, b->hook[i])) != 0)
            return DIFFERS("hook '%s'", workflow_hook_name[i]);
    return true;
}

/* Tasks first, since objects and edges are compared through the map of tasks. */
bool workflow_equal(const struct workflow *a, const struct workflow *b, struct error *why)
{
    if (a->ntasks != b->ntasks || a->npairs != b->npairs || a->nobjects != b->nobjects)
        return DIFFERS("%u task%s, %u edge%s, %u object%s against %u, %u, %u", a->ntasks,
                       plural(a->ntasks), a->npairs, plural(a->npairs), a->nobjects,
                       plural(a->nobjects), b->ntasks, b->npairs, b->nobjects);
    uint32_t *map = mem_new(uint32_t, a->ntasks);
    bool same = true;
    for (uint32_t t = 0; t < a->ntasks && same; t++) {
        map[t] = workflow_find_task(b, workflow_task_name(a, t));
        same = map[t] == NONE ? DIFFERS("task '%s' is in one only", workflow_task_name(a, t))
                              : same_task(a, t, b, map[t], why);
    }
    for (uint32_t o = 0; o < a->nobjects && same; o++)
        same = same_object(a, o, b, map, why);
    for (uint32_t t = 0; t < a->ntasks && same; t++)
        same = same_order(a, t, b, map[t], why);
    for (uint32_t t = 0; t < a->ntasks && same; t++) {
        uint32_t ea = first_ordering(a, t), eb = first_ordering(b, map[t]);
        if (!same_set(a->succ_task + ea, a->succ_off[t + 1] - ea, b->succ_task + eb,
                      b->succ_off[map[t] + 1] - eb, map))
            same = DIFFERS("task '%s' comes before other tasks", workflow_task_name(a, t));
    }
    free(map);
    return same && same_texts(a, b, why);
}
