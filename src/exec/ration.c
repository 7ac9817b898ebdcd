/* Admission of tasks to limited memory: see ration.h.
 *
 *     task     WAITS ── fits, its turn ──▶ ADMITTED ── begun ──▶ RUNS ──┐
 *                │ lost                      │ ended, lost              ▼ ended, lost and returned
 *                └──────────────────────────▶└───────────────────────▶ OVER
 *     object   ABSENT ── admitted ──▶ BOOKED ── ended ──▶ HELD ◀── put out, brought back ──▶ OUT
 *
 * I1. Everything is under the lock. `used` is what stands in memory or may: scratch memory of tasks that are
 *     admitted and not over, and objects that are BOOKED or HELD.
 * I2. An object is put out only when every admitted task that could touch one is over: nobody uses it then.
 * I3. `left` counts readers that have not ended; the object is gone with the last.
 * I4. A task that neither takes memory nor has an object in it is at liberty: it is admitted with its turn, as a
 *     crew wants it, or before, and nobody waits for its end. */
#include "exec/ration.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "exec/data.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum ration_object { ABSENT, BOOKED, HELD, OUT }; /* OUT: in a file */
enum ration_task {
    RATION_WAITS,
    RATION_ADMITTED,
    RATION_RUNS,
    RATION_DOOMED, /* lost, and still running */
    RATION_OVER
};

struct ration {
    struct ration_config o;
    const struct workflow *w;
    uint32_t ntasks;    /* of the workflow as it was: it may grow */
    uint32_t *position; /* by task, in the order */
    uint32_t *left;     /* by object: I3 */
    uint8_t *object;    /* by object: enum ration_object */
    uint8_t *task;      /* by task: enum ration_task */
    pthread_mutex_t lock;
    uint32_t next, admitted; /* of the order; admitted, not over, and not at liberty */
    double used;
    ARRAY(uint32_t) held; /* made, in memory, and read by somebody */
    _Atomic bool trouble;
    struct ration_figures figures;
};

static bool ration_calls(const struct ration *r, uint32_t task)
{
    return !r->o.called || r->o.called[task];
}

/* What the program lent is there in any case: it costs nothing to use it. Nor does what nobody makes in this run: its readers
 * are not called either. */
static bool ration_counts(const struct ration *r, uint32_t object)
{
    uint32_t producer = r->w->producer[object];
    return data_holds(r->o.data, object) && !data_is_lent(r->o.data, object) &&
           (producer == NONE || ration_calls(r, producer));
}

/* ---- what tasks take ---- */

/* For the time of the call alone: scratch memory, and room for what it writes to files when it returns (exec/data.h). */
static double ration_scratch(const struct ration *r, uint32_t task)
{
    const struct workflow *w = r->w;
    if (!ration_calls(r, task))
        return 0;
    double bytes = w->memory[task];
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        bytes += data_holds(r->o.data, w->out_object[i]) ? 0 : w->size[w->out_object[i]];
    return bytes;
}

static double ration_makes(const struct ration *r, uint32_t task)
{
    const struct workflow *w = r->w;
    double bytes = ration_scratch(r, task);
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        bytes += ration_counts(r, w->out_object[i]) ? w->size[w->out_object[i]] : 0;
    return bytes;
}

/* Inputs that are in a state. */
static double ration_reads(const struct ration *r, uint32_t task, enum ration_object state)
{
    const struct workflow *w = r->w;
    double bytes = 0;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        bytes += ration_counts(r, o) && r->object[o] == state ? w->size[o] : 0;
    }
    return bytes;
}

/* I4. */
static bool ration_is_at_liberty(const struct ration *r, uint32_t task)
{
    const struct workflow *w = r->w;
    bool touches = ration_scratch(r, task) > 0;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && !touches; i++)
        touches = ration_counts(r, w->in_object[i]);
    for (uint32_t i = w->object_off[task]; i < w->object_end[task] && !touches; i++)
        touches = ration_counts(r, w->out_object[i]);
    return !touches;
}

/* With all inputs: what no order and no file can spare. Before anything was admitted. */
static bool ration_fits(const struct ration *r, struct error *err)
{
    for (uint32_t t = 0; t < r->w->ntasks; t++) {
        double bytes = ration_makes(r, t) + (ration_calls(r, t) ? ration_reads(r, t, ABSENT) : 0);
        if (bytes > r->o.limit)
            return error_set(err, ERROR_INFEASIBLE,
                             "task '%s' takes %.10g bytes with its data, and memory is limited to "
                             "%.10g",
                             workflow_task_name(r->w, t), bytes, r->o.limit);
    }
    return true;
}

/* As if one thread followed the order: the same bookings, without a limit. O(edges). */
double ration_sequential(const struct ration *r)
{
    const struct workflow *w = r->w;
    uint32_t *left = mem_new(uint32_t, w->nobjects);
    double used = 0, peak = 0;
    for (uint32_t o = 0; o < w->nobjects; o++)
        workflow_consumers(w, o, &left[o]);
    for (uint32_t k = 0; k < w->ntasks; k++) {
        uint32_t t = r->o.order[k];
        used += ration_makes(r, t);
        peak = used > peak ? used : peak;
        used -= ration_scratch(r, t);
        for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++) {
            uint32_t o = w->in_object[i];
            if (ration_counts(r, o) && --left[o] == 0)
                used -= w->size[o];
        }
    }
    free(left);
    return peak;
}

/* ---- putting objects out ---- */

/* Where in the order it is read next; those before `next` are all over (I2). */
static uint32_t ration_next_use(const struct ration *r, uint32_t object)
{
    uint32_t n, first = UINT32_MAX;
    const uint32_t *reader = workflow_consumers(r->w, object, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = r->position[reader[i]];
        first = at >= r->next && at < first ? at : first;
    }
    return first;
}

/* The one that is read last (Belady 1966), but what the next task reads. False: there is none, or no file for it. */
static bool ration_evict(struct ration *r)
{
    uint32_t last = 0;
    size_t which = r->held.n;
    for (size_t i = 0; i < r->held.n; i++) {
        uint32_t use = ration_next_use(r, r->held.at[i]);
        if (use > r->next && use >= last) {
            last = use;
            which = i;
        }
    }
    if (which == r->held.n)
        return false;
    uint32_t o = r->held.at[which];
    struct strbuf path = {0};
    bool written;
    strbuf_printf(&path, "%s/object-%u", r->o.folder, o);
    bool good = data_evict(r->o.data, o, strbuf_text(&path), &written);
    strbuf_free(&path);
    if (!good)
        return false;
    r->held.at[which] = r->held.at[--r->held.n];
    r->object[o] = OUT;
    r->used -= r->w->size[o];
    r->figures.evicted += written ? r->w->size[o] : 0;
    r->figures.files += written;
    return true;
}

/* ---- admission ---- */

/* Everything that it will take is taken now: what it makes, and what it reads and is not there. Of one that is not called
 * nothing is: what it would read is not brought back. */
static void ration_admit(struct ration *r, uint32_t task, double bytes)
{
    const struct workflow *w = r->w;
    r->next++;
    r->admitted++;
    r->task[task] = RATION_ADMITTED;
    r->used += bytes;
    r->figures.peak = r->used > r->figures.peak ? r->used : r->figures.peak;
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        if (ration_counts(r, w->out_object[i]))
            r->object[w->out_object[i]] = BOOKED;
    for (uint32_t i = w->in_off[task]; ration_calls(r, task) && i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (r->object[o] != OUT)
            continue;
        r->object[o] = HELD; /* who reads it brings it back */
        array_push(&r->held, o);
    }
}

/* Strictly in the order: to admit a smaller one that comes later would fill the memory that the next one waits for, and
 * perhaps with something that is read long after. Under the lock. */
static uint32_t ration_next_locked(struct ration *r)
{
    while (r->next < r->ntasks && !r->trouble) {
        uint32_t task = r->o.order[r->next];
        if (r->task[task] == RATION_OVER || ration_is_at_liberty(r, task)) {
            r->next++;
            if (r->task[task] == RATION_OVER)
                continue; /* lost before its turn */
            r->task[task] = RATION_OVER;
            return task;
        }
        double bytes = ration_makes(r, task);
        bytes += ration_calls(r, task) ? ration_reads(r, task, OUT) : 0;
        if (r->used + bytes <= r->o.limit) {
            ration_admit(r, task, bytes);
            return task;
        }
        if (r->admitted)
            break; /* somebody will give some back */
        if (!ration_evict(r))
            r->trouble = true;
    }
    return NONE;
}

uint32_t ration_next(struct ration *r)
{
    pthread_mutex_lock(&r->lock);
    uint32_t found = ration_next_locked(r);
    pthread_mutex_unlock(&r->lock);
    return found;
}

bool ration_lets(struct ration *r, uint32_t task)
{
    if (task >= r->ntasks)
        return true;
    pthread_mutex_lock(&r->lock);
    bool lets = r->task[task] != RATION_WAITS || ration_is_at_liberty(r, task);
    while (!lets && ration_next_locked(r) != NONE)
        lets = r->task[task] != RATION_WAITS;
    pthread_mutex_unlock(&r->lock);
    return lets;
}

/* From the list of those that could make room. Few are in memory at once: a search costs less than keeping places. */
static void ration_forget(struct ration *r, uint32_t object)
{
    for (size_t i = r->held.n; i--;)
        if (r->held.at[i] == object) {
            r->held.at[i] = r->held.at[--r->held.n];
            return;
        }
}

/* What it made is there, or what was booked for it is given back. */
static void ration_settle(struct ration *r, uint32_t task, bool made)
{
    const struct workflow *w = r->w;
    r->admitted--;
    r->task[task] = RATION_OVER;
    r->used -= ration_scratch(r, task);
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++) {
        uint32_t o = w->out_object[i];
        if (!ration_counts(r, o))
            continue;
        if (made)
            array_push(&r->held, o);
        else
            r->used -= w->size[o];
        r->object[o] = made ? HELD : ABSENT;
    }
}

/* Called before what waits for the task is released: else a reader could end first, and what is gone would be listed as
 * held. */
void ration_ended(struct ration *r, uint32_t task, bool made)
{
    const struct workflow *w = r->w;
    if (task >= r->ntasks)
        return;
    pthread_mutex_lock(&r->lock);
    bool counted = r->task[task] != RATION_OVER && r->task[task] != RATION_WAITS;
    for (uint32_t i = w->in_off[task]; counted && i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (!ration_counts(r, o) || --r->left[o])
            continue;
        if (r->object[o] == HELD) {
            r->used -= w->size[o];
            ration_forget(r, o);
        }
        r->object[o] = ABSENT;
    }
    if (counted)
        ration_settle(r, task, made && ration_calls(r, task));
    r->task[task] = RATION_OVER;
    pthread_mutex_unlock(&r->lock);
}

void ration_lost(struct ration *r, uint32_t task)
{
    if (task >= r->ntasks)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->task[task] == RATION_WAITS)
        r->task[task] = RATION_OVER;
    else if (r->task[task] == RATION_ADMITTED)
        ration_settle(r, task, false);
    else if (r->task[task] == RATION_RUNS)
        r->task[task] = RATION_DOOMED;
    pthread_mutex_unlock(&r->lock);
}

void ration_begun(struct ration *r, uint32_t task)
{
    if (task >= r->ntasks)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->task[task] == RATION_ADMITTED)
        r->task[task] = RATION_RUNS;
    pthread_mutex_unlock(&r->lock);
}

void ration_returned(struct ration *r, uint32_t task)
{
    if (task >= r->ntasks)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->task[task] == RATION_DOOMED)
        ration_settle(r, task, false);
    else if (r->task[task] == RATION_RUNS)
        r->task[task] = RATION_ADMITTED;
    pthread_mutex_unlock(&r->lock);
}

bool ration_trouble(struct ration *r)
{
    return atomic_load(&r->trouble);
}

void ration_figures(struct ration *r, struct ration_figures *out)
{
    pthread_mutex_lock(&r->lock);
    *out = r->figures;
    pthread_mutex_unlock(&r->lock);
}

struct ration *ration_new(const struct ration_config *config, struct error *err)
{
    const struct workflow *w = config->workflow;
    struct ration *r = mem_new_zero(struct ration, 1);
    r->o = *config;
    r->w = w;
    r->ntasks = w->ntasks;
    r->position = mem_new(uint32_t, w->ntasks);
    r->left = mem_new(uint32_t, w->nobjects);
    r->object = mem_new_zero(uint8_t, w->nobjects);
    r->task = mem_new_zero(uint8_t, w->ntasks);
    pthread_mutex_init(&r->lock, NULL);
    for (uint32_t k = 0; k < w->ntasks; k++)
        r->position[config->order[k]] = k;
    for (uint32_t o = 0; o < w->nobjects; o++)
        workflow_consumers(w, o, &r->left[o]);
    /* no thread of the crew allocates: there is room for all that may be in memory at once */
    array_reserve(&r->held, w->nobjects);
    if (ration_fits(r, err))
        return r;
    ration_free(r);
    return NULL;
}

void ration_free(struct ration *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    array_free(&r->held);
    free(r->position);
    free(r->left);
    free(r->object);
    free(r->task);
    free(r);
}
