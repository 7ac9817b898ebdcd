/* Two runs side by side: facts and files that differ, times that changed. Of each task the last attempt that ended well counts. */
#include "history/changes.h"

#include "history/differences.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct changes_side {
    struct run_record run;
    struct history_tasks tasks;
    double *took, *memory; /* of the last attempt that ended well, per task; NAN: none */
};

/* Events come in the order of time, so a later attempt overwrites an earlier one. */
static bool changes_load(struct history *h, int64_t run, struct changes_side *s, struct error *err)
{
    if (!history_load(h, run, &s->run, err) || !history_tasks(h, s->run.run, &s->tasks, err))
        return false;
    s->took = mem_new(double, s->tasks.n + 1);
    s->memory = mem_new(double, s->tasks.n + 1);
    for (uint32_t t = 0; t < s->tasks.n; t++)
        s->took[t] = s->memory[t] = NAN;
    for (size_t i = 0; i < s->run.events.n; i++) {
        const struct trace_event *e = &s->run.events.at[i];
        if (e->kind == TRACE_TASK && e->outcome == TRACE_DONE && e->id < s->tasks.n) {
            s->took[e->id] = e->finish - e->start;
            s->memory[e->id] = e->memory;
        }
    }
    return true;
}

/* By how much longer it took, in seconds; what ran in one of them only comes last. */
static int changes_most(const void *a, const void *b)
{
    const struct history_change *x = a, *y = b;
    double s = history_change_of(x), t = history_change_of(y);
    if (isnan(s) != isnan(t))
        return isnan(s) ? 1 : -1;
    if (!isnan(s) && s != t)
        return s > t ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Tasks are matched by name: the two runs may be of different versions of a workflow. */
static void changes_add_side(const struct changes_side *s, bool second, struct intern *names,
                             history_change_list *tasks)
{
    for (uint32_t t = 0; t < s->tasks.n; t++) {
        const char *name = history_task_name(&s->tasks, t);
        uint32_t n = intern_number(names, name, strlen(name));
        if (n == tasks->n)
            array_push(tasks, (struct history_change){.name = name,
                                                      .kind = history_task_kind(&s->tasks, t),
                                                      .a = NAN,
                                                      .b = NAN,
                                                      .memory_a = NAN,
                                                      .memory_b = NAN});
        struct history_change *r = &tasks->at[n];
        *(second ? &r->b : &r->a) = s->took[t];
        *(second ? &r->memory_b : &r->memory_a) = s->memory[t];
    }
}

static void changes_sum_kinds(const history_change_list *tasks, struct intern *names,
                              history_change_list *kinds)
{
    for (size_t i = 0; i < tasks->n; i++) {
        const struct history_change *t = &tasks->at[i];
        uint32_t n = intern_number(names, t->kind, strlen(t->kind));
        if (n == kinds->n)
            array_push(kinds, (struct history_change){.name = t->kind, .kind = t->kind});
        struct history_change *k = &kinds->at[n];
        if (!isnan(t->a)) {
            k->a += t->a;
            k->n_a++;
            k->memory_a = fmax(k->memory_a, t->memory_a);
        }
        if (!isnan(t->b)) {
            k->b += t->b;
            k->n_b++;
            k->memory_b = fmax(k->memory_b, t->memory_b);
        }
    }
    /* Sums over different numbers of tasks do not compare: the mean of each does. */
    for (size_t i = 0; i < kinds->n; i++) {
        struct history_change *k = &kinds->at[i];
        k->a = k->n_a ? k->a / k->n_a : NAN;
        k->b = k->n_b ? k->b / k->n_b : NAN;
    }
}

bool history_compare(struct history *h, int64_t first, int64_t second, struct history_changes *out,
                     struct error *err)
{
    struct changes_side a = {0}, b = {0};
    *out = (struct history_changes){0};
    bool ok = changes_load(h, first, &a, err) && changes_load(h, second, &b, err);
    if (ok) {
        struct intern task_names, kind_names;
        intern_init(&task_names);
        intern_init(&kind_names);
        changes_add_side(&a, false, &task_names, &out->tasks);
        changes_add_side(&b, true, &task_names, &out->tasks);
        changes_sum_kinds(&out->tasks, &kind_names, &out->kinds);
        if (out->tasks.n)
            qsort(out->tasks.at, out->tasks.n, sizeof *out->tasks.at, changes_most);
        if (out->kinds.n)
            qsort(out->kinds.at, out->kinds.n, sizeof *out->kinds.at, changes_most);
        intern_free(&task_names);
        intern_free(&kind_names);
        differences_facts(out, &a.run, &a.tasks, &b.run, &b.tasks);
        ok = differences_files(h, out, &a.run, &b.run, err);
    }
    out->run[0] = a.run;
    out->run[1] = b.run;
    out->names[0] = a.tasks;
    out->names[1] = b.tasks;
    free(a.took);
    free(a.memory);
    free(b.took);
    free(b.memory);
    return ok;
}

void history_changes_free(struct history_changes *c)
{
    for (int i = 0; i < 2; i++) {
        record_free(&c->run[i]);
        history_tasks_free(&c->names[i]);
    }
    array_free(&c->tasks);
    array_free(&c->kinds);
    for (size_t i = 0; i < c->differences.n; i++) {
        free(c->differences.at[i].name);
        free(c->differences.at[i].a);
        free(c->differences.at[i].b);
    }
    array_free(&c->differences);
}
