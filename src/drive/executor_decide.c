/* Decisions when a task could start, and after it has failed: is it taken (memo/decide.h), is it tried
 * again (`retry_on`), does the run go on without it (`may_fail`). A workflow in which nothing is
 * decided costs one look at a flag a task. */
#include "drive/executor_private.h"

#include "memo/decide.h"
#include "model/retry.h"

/* What is absent is kept with what is known of files; without that, here. */
void executor_prepare_decisions(struct executor *x)
{
    x->decides = workflow_decides(x->w);
    if (!x->decides)
        return;
    if (x->o->needs)
        needs_decide(x->o->needs);
    else
        x->own_absent = mem_new_zero(uint8_t, x->absent_count = x->w->nobjects);
    x->absent = x->o->needs ? x->o->needs->absent : x->own_absent;
}

/* The needs have their own, longer already; without them there is nothing that grows with the files. */
void executor_grow_decisions(struct executor *x)
{
    if (!x->own_absent) {
        executor_prepare_decisions(x);
        return;
    }
    x->absent = x->own_absent = mem_resize(x->own_absent, x->w->nobjects);
    for (; x->absent_count < x->w->nobjects; x->absent_count++)
        x->own_absent[x->absent_count] = 0;
}

void executor_set_absent(struct executor *x, uint32_t object)
{
    if (x->o->needs && x->o->needs->absent)
        need_absent(x->o->needs, object);
    else if (x->own_absent)
        x->own_absent[object] = 1;
}

/* Whatever an earlier run left stays where it is, and nobody of this run reads it. */
static void executor_without_outputs(struct executor *x, uint32_t task)
{
    const struct workflow *w = x->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        executor_set_absent(x, o);
}

/* Its readers go on, and each sees for itself. */
static void executor_skip(struct executor *x, const struct sched_start *s, uint32_t because)
{
    double now = driver_now(x->driver);
    if (x->data)
        data_skip(&x->data_slot, s->task);
    executor_without_outputs(x, s->task);
    outbox_event(
        x->outbox,
        &(struct trace_event){
            .kind = TRACE_SKIPPED, .id = s->task, .other = because, .start = now, .finish = now});
    executor_files_done(x, s->task, false);
    driver_ended(
        x->driver,
        &(struct sched_ended){
            .task = s->task, .slot = s->slot, .skipped = true, .start = now, .finish = now});
}

/* One that is computed again for its lost outputs was taken before. */
bool executor_decide(struct executor *x, const struct sched_start *s)
{
    struct needs *n = x->o->needs;
    enum need need = n ? (enum need)n->task[s->task] : NEED_NEVER;
    const struct deciding d = {
        .w = x->w, .needs = n, .absent = x->absent, .folder = x->o->folder, .starts = true};
    struct error err = {0};
    uint32_t because = NONE;
    if (need == NEED_NOT || need == NEED_RESTORE)
        return false;
    if (need == NEED_SKIPPED) {
        executor_skip(x, s, n->because[s->task]);
        return true;
    }
    switch (decide_task(&d, s->task, &because, &err)) {
    case DECISION_SKIPPED:
        if (n && because == NONE)
            need_decided(n, s->task, false);
        executor_skip(x, s, because);
        return true;
    case DECISION_FAILED:
        executor_refuse_for_good(x, s, &err);
        return true;
    default:
        if (n)
            need_decided(n, s->task, true);
        return false;
    }
}

bool executor_is_last_failure(const struct executor *x, uint32_t task, uint32_t attempt,
                              enum trace_outcome outcome, int status)
{
    const struct workflow *w = x->w;
    const char *list = w->retry_on ? workflow_text(w, w->retry_on[task]) : "";
    return executor_is_last_attempt(x, task, attempt) ||
           (*list && !retry_has(list, outcome, status));
}

void executor_report_failure(struct executor *x, uint32_t task, uint32_t slot, bool last,
                             double start, double finish)
{
    bool excused = x->w->flags[task] & TASK_MAY_FAIL;
    executor_attempt_failed(x, task);
    if (last && excused)
        executor_without_outputs(x, task);
    driver_ended(x->driver, &(struct sched_ended){.task = task,
                                                  .slot = slot,
                                                  .failed = true,
                                                  .last = last,
                                                  .excused = excused,
                                                  .start = start,
                                                  .finish = finish});
}
