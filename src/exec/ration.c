/* Admission of tasks to limited memory: see ration.h.
 *
 * I1. Everything is under the lock. `used` is what stands in memory or may: outputs and scratch memory
 *     of admitted tasks, outputs of ended ones that are still read, inputs that are brought back.
 * I2. An object is put out only when no admitted task has not ended: nobody touches it then.
 * I3. `left` counts readers that have not ended; the object is gone with the last. */
#include "exec/ration.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "exec/data.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum ration_state { ABSENT, HELD, OUT }; /* of an object: not made or gone; in memory; in a file */

struct ration {
    const struct workflow *w;
    struct data *data;
    double limit;
    const uint32_t *order;
    const char *folder;
    uint32_t *position; /* by task, in the order */
    uint32_t *left;     /* by object: I3 */
    uint8_t *state;     /* by object */
    pthread_mutex_t lock;
    uint32_t next, admitted; /* of the order; admitted and not ended */
    double used;
    ARRAY(uint32_t) held; /* made, in memory, and read by somebody */
    _Atomic bool trouble;
    struct ration_figures figures;
};

/* What the program lent is there in any case: it costs nothing to use it. */
static bool ration_counts(const struct ration *r, uint32_t object)
{
    return data_holds(r->data, object) && !data_is_lent(r->data, object);
}

/* ---- what tasks take ---- */

/* Outputs and scratch memory. */
static double ration_makes(const struct ration *r, uint32_t task)
{
    const struct workflow *w = r->w;
    double bytes = w->memory[task];
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++)
        bytes += ration_counts(r, w->out_object[i]) ? w->size[w->out_object[i]] : 0;
    return bytes;
}

/* Inputs that are in a state. */
static double ration_reads(const struct ration *r, uint32_t task, enum ration_state state)
{
    const struct workflow *w = r->w;
    double bytes = 0;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        bytes += ration_counts(r, o) && r->state[o] == state ? w->size[o] : 0;
    }
    return bytes;
}

/* With all inputs: what no order and no file can spare. Before anything was admitted. */
static bool ration_fits(const struct ration *r, struct error *err)
{
    for (uint32_t t = 0; t < r->w->ntasks; t++) {
        double bytes = ration_makes(r, t) + ration_reads(r, t, ABSENT);
        if (bytes > r->limit)
            return error_set(err, ERROR_INFEASIBLE,
                             "task '%s' takes %.10g bytes with its data, and memory is limited to "
                             "%.10g",
                             workflow_task_name(r->w, t), bytes, r->limit);
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
        uint32_t t = r->order[k];
        used += ration_makes(r, t);
        peak = used > peak ? used : peak;
        used -= w->memory[t];
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

/* Where in the order it is read next; those before `next` have all ended (I2). */
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
    strbuf_printf(&path, "%s/object-%u", r->folder, o);
    bool good = data_evict(r->data, o, strbuf_text(&path), &written);
    strbuf_free(&path);
    if (!good)
        return false;
    r->held.at[which] = r->held.at[--r->held.n];
    r->state[o] = OUT;
    r->used -= r->w->size[o];
    r->figures.evicted += written ? r->w->size[o] : 0;
    r->figures.files += written;
    return true;
}

/* ---- admission ---- */

/* Everything that it will take is taken now: what it makes, and what it reads and is not there. */
static void ration_admit(struct ration *r, uint32_t task, double bytes)
{
    const struct workflow *w = r->w;
    r->next++;
    r->admitted++;
    r->used += bytes;
    r->figures.peak = r->used > r->figures.peak ? r->used : r->figures.peak;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (r->state[o] != OUT)
            continue;
        r->state[o] = HELD; /* who reads it brings it back */
        array_push(&r->held, o);
    }
}

/* Strictly in the order: to admit a smaller one that comes later would fill the memory that the next one waits for, and
 * perhaps with something that is read long after. */
uint32_t ration_next(struct ration *r)
{
    uint32_t found = NONE;
    pthread_mutex_lock(&r->lock);
    while (found == NONE && r->next < r->w->ntasks && !r->trouble) {
        uint32_t task = r->order[r->next];
        double bytes = ration_makes(r, task) + ration_reads(r, task, OUT);
        if (r->used + bytes <= r->limit) {
            ration_admit(r, task, bytes);
            found = task;
        } else if (r->admitted) {
            break; /* somebody will give some back */
        } else if (!ration_evict(r)) {
            r->trouble = true;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return found;
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

/* Called before what waits for the task is released: else a reader could end first, and what is gone would be listed as
 * held. */
void ration_ended(struct ration *r, uint32_t task)
{
    const struct workflow *w = r->w;
    pthread_mutex_lock(&r->lock);
    r->admitted--;
    r->used -= w->memory[task];
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (!ration_counts(r, o) || --r->left[o])
            continue;
        r->state[o] = ABSENT;
        r->used -= w->size[o];
        ration_forget(r, o);
    }
    for (uint32_t i = w->object_off[task]; i < w->object_end[task]; i++) {
        uint32_t o = w->out_object[i];
        if (!ration_counts(r, o))
            continue;
        r->state[o] = HELD;
        array_push(&r->held, o);
    }
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

struct ration *ration_new(const struct workflow *w, struct data *data, double limit,
                          const uint32_t *order, const char *folder, struct error *err)
{
    struct ration *r = mem_new_zero(struct ration, 1);
    r->w = w;
    r->data = data;
    r->limit = limit;
    r->order = order;
    r->folder = folder;
    r->position = mem_new(uint32_t, w->ntasks);
    r->left = mem_new(uint32_t, w->nobjects);
    r->state = mem_new_zero(uint8_t, w->nobjects);
    pthread_mutex_init(&r->lock, NULL);
    for (uint32_t k = 0; k < w->ntasks; k++)
        r->position[order[k]] = k;
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
    free(r->state);
    free(r);
}
