/* Functions called at once by a crew of threads: see compute.h.
 *
 *     workflow ─▶ what each task calls ─▶ data (lent, in memory) ─▶ ration, if memory is limited ─▶ crew
 *
 * I1. Everything is allocated before the crew starts: a call that runs out of memory jumps out of
 *     here, and no thread may then use what is given back.
 * I2. The calling thread sleeps until the crew is over; it is woken under the lock of `struct compute`. One that is
 *     itself in a call of a crew starts no threads: it and the others of that crew do the work. */
#include "session/compute.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "drive/order.h"
#include "exec/calls.h"
#include "exec/crew.h"
#include "exec/data.h"
#include "exec/pins.h"
#include "exec/ration.h"
#include "plan/memory/traversal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct compute {
    const struct workflow *w;
    const struct compute_request *o;
    struct calls *calls; /* finds functions of libraries; starts no thread */
    weft_task_function *call;
    struct data *data;
    struct ration *ration;
    struct pins *pins;
    uint32_t *order; /* NULL: none is to be kept */
    double *priority;
    char folder[PATH_MAX]; /* of objects that make room; "": none */
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool woken;
    struct crew_end failure; /* the first; status 0: none */
};

static void compute_wake(void *context)
{
    struct compute *c = context;
    pthread_mutex_lock(&c->lock);
    c->woken = true;
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
}

/* ---- before ---- */

/* ":name" of this program, "lib.so:name" of a library. */
static bool compute_find_function(struct compute *c, uint32_t task, struct error *err)
{
    const char *text = workflow_text(c->w, c->w->command[task]);
    uint32_t number;
    if (text[0] != ':') {
        if (!calls_find(c->calls, text, &number, err))
            return false;
        c->call[task] = calls_function(c->calls, number);
        return true;
    }
    for (size_t i = 0; i < c->o->nfunctions; i++)
        if (strcmp(c->o->functions[i].name, text + 1) == 0) {
            c->call[task] = c->o->functions[i].call;
            return true;
        }
    return error_set(err, ERROR_INPUT, "task '%s' calls '%s', which is none of the functions given",
                     workflow_task_name(c->w, task), text + 1);
}

/* Of every task. Tasks without a command are joints: they order others, and the crew passes them. A command is
 * refused, since nobody here starts processes. O(tasks), and a search for each function that differs from the one
 * before it. */
static bool compute_find_functions(struct compute *c, struct error *err)
{
    const struct workflow *w = c->w;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!w->command || !w->command[t]) /* a joint: order alone */
            continue;
        if (!(w->flags[t] & TASK_CALL))
            return error_set(err, ERROR_INPUT,
                             "task '%s' is a command; only functions are called (weft_run_open() "
                             "runs both)",
                             workflow_task_name(w, t));
        uint32_t before = t ? t - 1 : 0; /* mostly they call the same */
        if (t && w->command[before] == w->command[t])
            c->call[t] = c->call[before];
        else if (!compute_find_function(c, t, err))
            return false;
    }
    return true;
}

/* What the program lent takes the place of what the workflow says; after that every object must be in memory, for there
 * is no folder in which a file could stand. */
static bool compute_lend(struct compute *c, struct error *err)
{
    const struct workflow *w = c->w;
    char label[512];
    for (size_t i = 0; i < c->o->nlent; i++) {
        const struct compute_lent *l = &c->o->lent[i];
        if (l->object >= w->nobjects || !l->at)
            return error_set(err, ERROR_INPUT, "number %zu of what is lent is no object", i);
        data_lend(c->data, l->object, l->at, l->bytes);
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (!data_holds(c->data, o))
            return error_set(err, ERROR_INPUT,
                             "'%s' is a file here: an object that %s has to be lent",
                             workflow_object_label(w, o, label, sizeof label),
                             w->producer[o] == NONE ? "nobody makes"
                                                    : "nobody reads, or that is "
                                                      "not in memory,");
    return true;
}

/* ---- order ---- */

/* Every task after those that it waits for? */
static bool compute_order_holds(struct compute *c, struct error *err)
{
    const struct workflow *w = c->w;
    uint32_t *at = mem_new(uint32_t, w->ntasks);
    for (uint32_t k = 0; k < w->ntasks; k++)
        at[c->order[k]] = k;
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (at[w->pred_task[e]] > at[t]) {
                error_set(err, ERROR_INPUT, "the plan has '%s' before '%s', which it waits for",
                          workflow_task_name(w, t), workflow_task_name(w, w->pred_task[e]));
                free(at);
                return false;
            }
    free(at);
    return true;
}

/* A task and where it stands, to be sorted. */
struct compute_place {
    double priority;
    uint32_t task;
};

static int compute_compare(const void *a, const void *b)
{
    const struct compute_place *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* A part of a tree has its own order; other plans have times or positions. */
static void compute_order_of_plan(struct compute *c, const struct plan *plan)
{
    const struct workflow *w = c->w;
    c->order = mem_new(uint32_t, w->ntasks);
    if (plan->kind == PLAN_PARTITION && plan->parts.n == 1 && plan->parts.at[0].order != NONE &&
        plan->parts.at[0].count == w->ntasks) {
        memcpy(c->order, plan->tasks.at + plan->parts.at[0].order, w->ntasks * sizeof *c->order);
        return;
    }
    double *priority = mem_new(double, w->ntasks);
    struct compute_place *place = mem_new(struct compute_place, w->ntasks);
    order_of_plan(w, plan, priority);
    for (uint32_t t = 0; t < w->ntasks; t++)
        place[t] = (struct compute_place){priority[t], t};
    qsort(place, w->ntasks, sizeof *place, compute_compare);
    for (uint32_t k = 0; k < w->ntasks; k++)
        c->order[k] = place[k].task;
    free(place);
    free(priority);
}

/* A folder of this computation alone, removed with it. Nothing may be put out at all: it is made all the same, so that
 * a disk that cannot be written is told before hours of work and not after. */
static bool compute_make_folder(struct compute *c, struct error *err)
{
    const char *given = c->o->folder ? c->o->folder : getenv("TMPDIR");
    snprintf(c->folder, sizeof c->folder, "%s/weft-compute-XXXXXX",
             given && *given ? given : "/tmp");
    if (mkdtemp(c->folder))
        return true;
    error_set(err, ERROR_FAILED, "no folder for objects can be made, '%s': %s", c->folder,
              strerror(errno));
    c->folder[0] = 0;
    return false;
}

/* What goes first; and, with a limit, what is admitted when. */
static bool compute_prepare_order(struct compute *c, const struct plan *follow, struct error *err)
{
    const struct workflow *w = c->w;
    double peak;
    c->priority = mem_new(double, w->ntasks);
    if (follow)
        compute_order_of_plan(c, follow);
    else if (c->o->memory > 0)
        c->order = traversal_best(w, &peak);
    if (!c->order) {
        order_depth_first(w, c->priority);
        return true;
    }
    for (uint32_t k = 0; k < w->ntasks; k++)
        c->priority[c->order[k]] = -(double)k;
    if (!compute_order_holds(c, err))
        return false;
    if (!(c->o->memory > 0))
        return true;
    if (!compute_make_folder(c, err))
        return false;
    data_limit(c->data);
    c->ration = ration_new(&(struct ration_config){.workflow = w,
                                                   .data = c->data,
                                                   .limit = c->o->memory,
                                                   .order = c->order,
                                                   .folder = c->folder},
                           err);
    return c->ration != NULL;
}

/* ---- while it runs ---- */

/* The first failure is kept. */
static void compute_take(struct compute *c, struct crew *crew)
{
    struct crew_end end;
    while (crew_take(crew, &end, 1))
        if (end.status && !c->failure.status)
            c->failure = end;
}

/* Until nothing more will be called. */
static void compute_wait(struct compute *c, struct crew *crew)
{
    for (bool over = false; !over;) {
        pthread_mutex_lock(&c->lock);
        while (!c->woken)
            pthread_cond_wait(&c->news, &c->lock);
        c->woken = false;
        pthread_mutex_unlock(&c->lock);
        over = crew_over(crew);
        compute_take(c, crew);
    }
}

/* What went wrong is told by the first task that failed: those after it may have failed for want of what it makes. */
static bool compute_judge(struct compute *c, struct error *err)
{
    if (c->failure.status) {
        struct strbuf text = {0};
        data_explain(c->data, c->failure.task, &text);
        const char *task = workflow_task_name(c->w, c->failure.task);
        if (text.n)
            error_set(err, ERROR_FAILED, "task '%s' failed: %s", task, strbuf_text(&text));
        else
            error_set(err, ERROR_FAILED, "task '%s' failed: its function returned %d", task,
                      c->failure.status);
        strbuf_free(&text);
        return false;
    }
    return !c->ration || !ration_trouble(c->ration) ||
           error_set(err, ERROR_FAILED,
                     "an object that had to make room could not be written to '%s'", c->folder);
}

/* 0 inside a call: whatever threads its crew has. */
static uint32_t compute_threads(const struct compute_request *o, bool inside)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return o->threads || inside ? o->threads : cores > 0 ? (uint32_t)cores : 1;
}

static bool compute_pin(struct compute *c, bool inside, uint32_t threads, struct error *err)
{
    if (inside)
        return error_set(err, ERROR_INPUT,
                         "the threads that carry out work inside work are those of the outer "
                         "computation: ask there to pin them");
    c->pins = pins_new(threads, err);
    return c->pins != NULL;
}

/* From the first call to the last. The crew is gone when this returns, so that nobody touches what the caller frees. */
static bool compute_call(struct compute *c, struct compute_figures *f, struct error *err)
{
    struct crew_counts counts;
    struct ration_figures ration = {0};
    double began = clock_seconds();
    f->needed = c->ration ? ration_sequential(c->ration) : 0;
    if (c->o->look)
        return true;
    bool inside = crew_is_inside();
    uint32_t threads = compute_threads(c->o, inside);
    if (c->o->pin && !compute_pin(c, inside, threads, err))
        return false;
    struct crew_config config = {
        .workflow = c->w,
        .threads = threads,
        .call = c->call,
        .folder = c->folder,
        .priority = c->priority,
        .ordered = c->order || c->w->priority,
        .quiet = true,
        .data = c->data,
        .ration = c->ration,
        .pins = c->pins,
        .given = c->o->given,
        .wake = compute_wake,
        .context = c,
    };
    struct crew *crew = inside ? crew_new_guest(&config) : crew_new(&config);
    if (!crew)
        return error_set(err, ERROR_FAILED, "no thread can be started");
    if (inside)
        crew_attend(crew);
    else
        compute_wait(c, crew);
    compute_take(c, crew);
    crew_count(crew, &counts);
    if (inside)
        crew_free_guest(crew);
    else
        crew_free_within(crew, INFINITY);
    if (c->ration)
        ration_figures(c->ration, &ration);
    f->seconds = clock_seconds() - began;
    f->busy = counts.busy;
    f->done = (uint32_t)(counts.well + counts.passed);
    f->peak = (double)data_peak(c->data);
    f->evicted = ration.evicted;
    f->evictions = ration.files;
    return compute_judge(c, err);
}

/* Objects first: their files stand in the folder. */
static void compute_free(struct compute *c)
{
    ration_free(c->ration);
    pins_free(c->pins);
    data_free(c->data);
    calls_free(c->calls);
    free(c->call);
    free(c->order);
    free(c->priority);
    if (c->folder[0])
        tree_remove(c->folder);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->news);
}

bool compute_workflow(const struct compute_request *o, struct compute_figures *figures,
                      struct error *err)
{
    const struct workflow *w = o->workflow;
    const char *check = getenv("WEFT_CHECK_DATA");
    struct compute c = {.w = w, .o = o};
    *figures = (struct compute_figures){0};
    if (!w->ntasks)
        return true;
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.news, NULL);
    c.calls = calls_new(1, ".", compute_wake, &c);
    c.call = mem_new_zero(weft_task_function, w->ntasks);
    c.data = data_new(w, check && *check && strcmp(check, "0") != 0);
    data_count(c.data);
    bool good = compute_find_functions(&c, err) && compute_lend(&c, err) &&
                compute_prepare_order(&c, o->follow, err) && compute_call(&c, figures, err);
    compute_free(&c);
    return good;
}
