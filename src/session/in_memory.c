/* Runs whose files are in memory (in_memory.h): what fits at all, and in which order. While it goes on, the scheduler counts
 * (drive/executor_memory.c): a task takes its memory and what it will leave, and what is there is taken already. */
#include "session/in_memory.h"
#include "drive/disk.h"
#include "drive/order.h"
#include "model/future.h"
#include "plan/memory/traversal.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* ---- files that a plan writes out ---- */

/* A folder, and not in the same memory: files would only change their place there. */
static bool in_memory_spill_folder(const struct session *s, struct error *err)
{
    struct stat there, here;
    struct statfs kind;
    if (!s->o.spill)
        return error_set(err, ERROR_INFEASIBLE,
                         "the plan writes files to disk, and this run keeps them in memory: "
                         "--spill DIR names a folder on a disk for them, or run it without "
                         "--in-memory");
    if (stat(s->o.spill, &there) != 0)
        return error_set(err, ERROR_INPUT, "--spill %s: %s", s->o.spill, strerror(errno));
    if (!S_ISDIR(there.st_mode))
        return error_set(err, ERROR_INPUT, "--spill %s: is no folder", s->o.spill);
    if (stat(s->ws.folder, &here) == 0 && statfs(s->ws.folder, &kind) == 0 &&
        kind.f_type == TMPFS_MAGIC && here.st_dev == there.st_dev)
        return error_set(err, ERROR_INPUT,
                         "--spill %s is in memory like the run's files: name a folder on a disk",
                         s->o.spill);
    return true;
}

/* Every file between the two tasks, when the task in front of `before` has ended. */
static bool in_memory_take_eviction(const struct session *s, struct following *f,
                                    const struct plan_eviction *e, uint32_t after,
                                    struct error *err)
{
    const struct workflow *w = s->w;
    for (uint32_t i = w->in_off[e->to]; i < w->in_off[e->to + 1]; i++) {
        uint32_t object = w->in_object[i], readers = 0;
        if (w->producer[object] != e->from)
            continue;
        workflow_consumers(w, object, &readers);
        const char *why = readers > 1                   ? "several tasks read it"
                          : w->flags[e->to] & TASK_CALL ? "a function reads it"
                                                        : NULL;
        char label[512];
        if (why)
            return error_set(err, ERROR_INFEASIBLE,
                             "the plan writes file '%s' out of memory, and %s: a run does that for "
                             "files of one reader, a command; run it without --in-memory",
                             workflow_object_label(w, object, label, sizeof label), why);
        array_push(&f->spilled, (struct run_spilled){object, after, e->to});
    }
    return true;
}

bool in_memory_spills(const struct session *s, struct following *f, struct error *err)
{
    const struct plan *plan = f->plan;
    if (!s->o.in_memory || s->o.elsewhere || !plan->evictions.n) {
        if (s->o.spill && s->o.in_memory)
            remark(&s->o.remarks, REMARK_INFO,
                   "the plan writes nothing out of memory: --spill has nothing to do");
        return true;
    }
    if (!in_memory_spill_folder(s, err))
        return false;
    if (f->follow != FOLLOW_STRICT)
        return error_set(err, ERROR_INFEASIBLE,
                         "the plan writes files out of memory between tasks of its order: that "
                         "needs --follow strict");
    /* placements of a part have their place in its order as start: its tasks stand one after the other */
    uint32_t *in_front = mem_new(uint32_t, (size_t)s->w->ntasks + 1);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i], *last = i ? x - 1 : NULL;
        in_front[x->task] = last && last->node == x->node ? last->task : NONE;
    }
    bool good = true;
    for (size_t i = 0; i < plan->evictions.n && good; i++) {
        const struct plan_eviction *e = &plan->evictions.at[i];
        if (in_front[e->before] == NONE)
            good =
                error_set(err, ERROR_INPUT,
                          "the plan writes a file out before task '%.100s', the first of its part",
                          workflow_task_name(s->w, e->before));
        else
            good = in_memory_take_eviction(s, f, e, in_front[e->before], err);
    }
    free(in_front);
    f->spill = (struct run_spill){s->o.spill, f->spilled.at, f->spilled.n};
    return good;
}

/* Where files are in memory: a task with all of its files must fit, or nothing else could ever make room. */
bool in_memory_fits(const struct session *s, struct error *err)
{
    const struct workflow *w = s->w;
    if (s->o.spill && (!s->o.in_memory || !s->following))
        return error_set(err, ERROR_INPUT,
                         "--spill is for files that a plan writes out of memory: it needs "
                         "--in-memory and a plan");
    for (uint32_t t = 0; s->o.in_memory && t < w->ntasks; t++) {
        double bytes = w->memory[t] + disk_expected(w, t);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            bytes += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
        if (need_runs(&s->needs, t) && bytes > s->memory)
            return error_set(err, ERROR_INFEASIBLE,
                             "task '%s' needs %.10g bytes with its files, and this run has %.10g "
                             "(-m); without --in-memory files count on the disk",
                             workflow_task_name(w, t), bytes, s->memory);
    }
    return true;
}

/* In place of the priorities that every run has, depth first: those of a plan, or of the workflow itself, stay. */
void in_memory_order(struct session *s, struct run_options *o)
{
    double peak;
    if (s->planner || s->w->priority || s->order || workflow_is_open(s->w))
        return;
    struct plan *plan = plan_new(PLAN_ORDER);
    s->order = traversal_best(s->w, &peak);
    for (uint32_t i = 0; i < s->w->ntasks; i++)
        array_push(&plan->order, s->order[i]);
    if (!s->priority)
        s->priority = mem_new(double, (size_t)s->w->ntasks + 1);
    order_of_plan(s->w, plan, s->priority);
    o->priority = s->priority;
    o->ordered = true;
    plan_free(plan);
}

/* What bounds files bounds them and the tasks together. Where no plan says otherwise, the order that needs little of it (plan/memory/traversal.h). Ranks
 * or depth would begin much at once, and fill all memory with files that wait. */
void in_memory_begin(struct session *s, struct run_options *o)
{
    if (!s->o.in_memory)
        return;
    o->disk = run_memory_of_tasks(o);
    o->in_memory = true;
    if (s->following && s->following->spill.n)
        o->spill = &s->following->spill;
    in_memory_order(s, o);
}

/* Where everything together fits, nothing can fill it. */
static bool in_memory_is_tight(const struct session *s, const struct run_options *o)
{
    double all = 0;
    for (uint32_t object = 0; object < s->w->nobjects; object++)
        all += workflow_is_intermediate(s->w, object) ? s->w->size[object] : 0;
    return o->in_memory || all > o->disk;
}

/* With the edges of a plan that is followed, which the traversal does not know: its own order. */
void in_memory_look_ahead(struct session *s, struct run_options *o)
{
    double peak;
    if (!(o->disk > 0) || workflow_is_open(s->w) || !in_memory_is_tight(s, o))
        return;
    if (!s->order)
        s->order = s->following && s->priority ? order_by_priority(s->w, s->priority)
                                               : traversal_best(s->w, &peak);
    o->order = s->order;
}
