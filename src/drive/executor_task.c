/* One task from the scheduler's word to start it to its end: sandbox, command or call, result.
 *
 *     executor_start() -- reused, or a joint: over at once
 *           |  \------ executor_start_call()  ...  executor_call_ended() --+
 *           v                                                             v
 *     executor_start_command() ... executor_child_ended() ---> executor_task_over()
 *                                                                         |
 *     outputs out of the sandbox, on record (memo), counted (disk), in the outbox, reported to the
 *     driver
 *
 * A task counts as done only when its outputs are in place and on record: whatever fails in between
 * makes its attempt a failed one. */
#include "drive/executor_private.h"

#include "base/file.h"
#include "base/tree.h"
#include "exec/health.h"
#include "exec/sandbox.h"
#include "model/record.h"
#include "model/command.h"
#include "model/environment.h"
#include "model/memory_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    NOT_FOUND = 127, /* the status a shell gives to a command that is not there */
    REFUSED = 1,     /* what is given to all else that could not be started */
};

void executor_report(struct executor *x, uint32_t task, uint32_t slot, double start, double finish,
                     double bytes)
{
    driver_ended(x->driver,
                 &(struct sched_ended){
                     .task = task, .slot = slot, .start = start, .finish = finish, .bytes = bytes});
}

/* ---- failures ---- */

static void failure_free(struct run_failure *f)
{
    free(f->text);
    free(f->log);
}

/* A task may be tried ten thousand times: at most RUN_FAILURES are kept.
 * One that no attempt follows is shown to people: it takes the place of the failure before it when
 * there are too many. */
static void executor_keep_failure(struct executor *x, struct run_failure f)
{
    if (x->result->failures.n < RUN_FAILURES) {
        array_push(&x->result->failures, f);
        return;
    }
    struct run_failure *newest = &array_last(&x->result->failures);
    if (f.last && !newest->last) {
        failure_free(newest);
        *newest = f;
        return;
    }
    failure_free(&f);
}

/* A task that failed on a full disk cannot say so: its log is there too. */
static char *full_disk(const struct executor *x, const char *sandbox, int status)
{
    if (!health_is_full(sandbox ? sandbox : x->o->folder))
        return NULL;
    struct strbuf text = {0};
    strbuf_printf(&text, "status %d; no space left on the disk of %s", status, x->o->folder);
    return strbuf_steal(&text);
}

bool executor_is_last_attempt(const struct executor *x, uint32_t task, uint32_t attempt)
{
    return attempt > (x->retries ? x->retries[task] : 0);
}

static void executor_failed(struct executor *x, uint32_t task, bool last)
{
    if (last && !x->o->keep_going && !(x->w->flags[task] & TASK_MAY_FAIL))
        array_push(&x->failed, task);
}

/* NULL when there is nothing to say; the caller's. */
static char *error_copy_text(const struct error *err)
{
    return err->kind == ERROR_NONE ? NULL : mem_copy_string(err->text);
}

/* ---- starting ---- */

/* Without any it needs no folder of its own and leaves nothing to take: the short way. */
bool executor_has_files(const struct workflow *w, uint32_t task)
{
    if (!w->object_flags)
        return w->in_off[task] < w->in_off[task + 1] || w->object_off[task] < w->object_end[task];
    bool files = false;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && !files; i++)
        files = !workflow_stays_in_memory(w, w->in_object[i]);
    for (uint32_t o = w->object_off[task]; o < w->object_end[task] && !files; o++)
        files = !workflow_stays_in_memory(w, o);
    return files;
}

static bool wants_sandbox(const struct executor *x, uint32_t task)
{
    return x->o->state && !x->o->no_sandbox && !(x->w->flags[task] & TASK_IN_PLACE) &&
           (executor_has_files(x->w, task) || x->w->flags[task] & TASK_KEEP);
}

/* ---- room ---- */

/* Outputs that a task in place is going to write: their folders must be there. */
static bool make_output_folders(struct executor *x, uint32_t task, struct error *err)
{
    const struct workflow *w = x->w;
    char label[512];
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        const char *name = workflow_object_label(w, o, label, sizeof label);
        if (strchr(name, '/') && !workflow_object_is(w, o, OBJECT_INSIDE) &&
            !make_parents(path_in(x->o->folder, name, &x->path), err))
            return false;
    }
    return true;
}

/* Whoever comes after the task that was found out is told of it. */
static void name_who_changed(const struct executor *x, uint32_t object, struct error *err)
{
    for (size_t i = 0; i < x->changed.n; i++)
        if (x->changed.at[i].object == object) {
            struct error first = *err;
            error_clear(err);
            error_set(err, first.kind, "%.900s. It changed while task '%.100s' ran", first.text,
                      workflow_task_name(x->w, x->changed.at[i].task));
            return;
        }
}

/* What its key says that it reads must be what it will read. */
static bool check_inputs(struct executor *x, uint32_t task, struct input_marks *inputs,
                         struct error *err)
{
    uint32_t object = NONE;
    if (!x->o->needs || inputs_begin(x->o->needs, task, inputs, &object, err))
        return true;
    name_who_changed(x, object, err);
    return false;
}

bool executor_make_room(struct executor *x, uint32_t task, const char *kind, uint32_t number,
                        char **sandbox, struct input_marks *inputs, struct error *err)
{
    *sandbox = NULL;
    if (!check_inputs(x, task, inputs, err))
        return false;
    if (!executor_keep_standing(x, task, wants_sandbox(x, task), err))
        return false;
    if (!wants_sandbox(x, task))
        return make_output_folders(x, task, err);
    struct strbuf path = {0};
    if (!executor_make_sandbox(x, task, kind, number, &path, err) ||
        !executor_make_lists(x, task, path.at, err)) {
        x->is_short = child_is_shortage(errno);
        if (path.n)
            executor_drop_sandbox(x, task, path.at);
        strbuf_free(&path);
        return false;
    }
    *sandbox = strbuf_steal(&path);
    return true;
}

static bool is_not_found(const struct error *err)
{
    return strncmp(err->text, "command not found", 17) == 0;
}

/* The attempt ends before it began. */
static void refuse_start(struct executor *x, const struct sched_start *s, int status, bool last,
                         const struct error *err)
{
    double now = driver_now(x->driver);
    char *text = error_copy_text(err);
    bool passed = x->o->node && executor_pass_on_start(x, s, status, &text);
    x->lacks_shell = false;
    if (passed) {
        free(text);
        return;
    }
    executor_keep_failure(x, (struct run_failure){.task = s->task,
                                                  .attempt = s->attempt,
                                                  .outcome = TRACE_NOT_STARTED,
                                                  .status = status,
                                                  .text = text,
                                                  .last = last});
    outbox_event(x->outbox, &(struct trace_event){.kind = TRACE_TASK,
                                                  .id = s->task,
                                                  .start = now,
                                                  .finish = now,
                                                  .outcome = TRACE_NOT_STARTED,
                                                  .status = status,
                                                  .attempt = s->attempt});
    x->result->attempts++;
    executor_failed(x, s->task, last);
    executor_report_failure(x, s->task, s->slot, last, now, now);
}

void executor_refuse(struct executor *x, const struct sched_start *s, const struct error *err)
{
    int status = is_not_found(err) ? NOT_FOUND : REFUSED;
    refuse_start(x, s, status,
                 executor_is_last_failure(x, s->task, s->attempt, TRACE_NOT_STARTED, status), err);
}

void executor_refuse_for_good(struct executor *x, const struct sched_start *s,
                              const struct error *err)
{
    refuse_start(x, s, REFUSED, true, err);
}

/* What can go wrong: a template that does not fit, a folder that cannot be made, a program that is
 * not there. `a->sandbox` may be set either way. */
static bool spawn_command(struct executor *x, const struct sched_start *s, uint32_t lane,
                          struct error *err)
{
    const struct workflow *w = x->w;
    struct active *a = &x->active[lane];
    const char *program;
    strbuf_clear(&x->command);
    if (!wants_sandbox(x, s->task) && !executor_list_apart(x, s->task, lane, &a->lists, err))
        return false;
    const struct command_attempt attempt = {.number = s->attempt,
                                            .memory = x->memory ? x->memory[s->task] : 0,
                                            .absent = x->absent,
                                            .lists = a->lists};
    if (!executor_watch_children(x, err) || !executor_bring_files(x, s->task, err) ||
        !command_expand_attempt(w, s->task, &attempt, &x->command, err) ||
        !executor_make_room(x, s->task, "", lane, &a->sandbox, &a->inputs, err) ||
        !executor_find_words(x, s->task, a, &program, err) ||
        (x->o->gang && !executor_add_variables(x, s->task, &program, err)))
        return false;
    struct child_request request = {
        .task = s->task,
        .attempt = s->attempt,
        .name = workflow_task_name(w, s->task),
        .program = program,
        .words = x->words.at,
        .folder = a->sandbox,
        .cores = a->cores,
        .memory = x->memory ? x->memory[s->task] : 0,
        .processes = executor_processes(x, s->task),
        .timeout = w->timeout ? w->timeout[s->task] : INFINITY,
    };
    bool surrounded = environment_is_stated(w, s->task) || executor_holds_things(x, s->task);
    bool good = (!surrounded || executor_surround(x, s, a, &request, err)) &&
                child_start(x->children, lane, &request, err);
    x->is_short = x->is_short || (!good && children_short(x->children));
    return good;
}

/* A lane is free again: nothing of its task is left. */
static void active_clear(struct active *a)
{
    if (a->script)
        unlink(a->script);
    if (a->lists)
        tree_remove(a->lists);
    free(a->lists);
    free(a->script);
    free(a->sandbox);
    a->sandbox = a->script = a->lists = NULL;
    a->used = false;
}

void executor_clear_lane(struct executor *x, uint32_t lane)
{
    active_clear(&x->active[lane]);
    array_push(&x->lanes, lane);
}

static void executor_tell_began(struct executor *x, uint32_t lane)
{
    const struct active *a = &x->active[lane];
    outbox_event(x->outbox, &(struct trace_event){.kind = TRACE_BEGIN,
                                                  .id = a->task,
                                                  .lane = lane,
                                                  .start = a->began,
                                                  .attempt = a->attempt});
}

/* For who comes late: what runs now has begun. */
void executor_tell_running(struct executor *x)
{
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        if (x->active[lane].used)
            executor_tell_began(x, lane);
}

bool executor_begin_command(struct executor *x, const struct sched_start *s, uint32_t lane,
                            struct error *err)
{
    struct active *a = &x->active[lane];
    x->is_short = x->lacks_shell = false;
    if (!spawn_command(x, s, lane, err)) {
        x->lacks_shell = a->shelled && is_not_found(err);
        if (a->sandbox)
            executor_drop_sandbox(x, s->task, a->sandbox);
        active_clear(a);
        input_marks_free(&a->inputs);
        return false;
    }
    a->used = true;
    a->began = driver_now(x->driver);
    if (x->outbox->wanted)
        executor_tell_began(x, lane);
    return true;
}

/* A lane is free: the scheduler has as many cores as there are lanes, and a task takes one at
 * least. */
static bool executor_start_command(struct executor *x, const struct sched_start *s, uint32_t cores)
{
    struct error err = {0};
    uint32_t lane = array_pop(&x->lanes);
    x->active[lane] =
        (struct active){.task = s->task, .slot = s->slot, .attempt = s->attempt, .cores = cores};
    if (executor_begin_command(x, s, lane, &err)) {
        x->running++;
    } else if (x->is_short) {
        executor_wait(x, s, lane, &err);
    } else {
        array_push(&x->lanes, lane);
        executor_refuse(x, s, &err);
        return false;
    }
    return true;
}

/* ---- any task ---- */

/* Known by its key since the run began: its inputs turned out to be what they were. */
static bool is_reused(struct executor *x, uint32_t task)
{
    struct needs *n = x->o->needs;
    struct digest key;
    if (!n)
        return false;
    if (n->late)
        need_read_late(n, task);
    return n->task[task] == NEED_NOT ||
           (n->task[task] == NEED_PARENT && need_key(n, task, &key) && need_reuse(n, task, &key));
}

/* What a task has produced, with the key that others will find it by. */
static void report_files(struct executor *x, uint32_t task, bool made)
{
    const struct needs *n = x->o->needs;
    const struct workflow *w = x->w;
    if (!n || !x->outbox->wanted || w->object_off[task] == w->object_end[task])
        return;
    struct trace_file f = {.task = task, .produced = made};
    need_key(n, task, &f.key);
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++) {
        f.object = o;
        f.digest = n->content[o];
        f.size = n->bytes[o];
        f.restored = n->present[o] == NEED_RESTORED;
        f.path = w->object_name[o] ? workflow_text(w, w->object_name[o]) : NULL;
        if (f.path && !workflow_object_is(w, o, OBJECT_IN_MEMORY))
            array_push(&x->outbox->files, f);
    }
}

/* Sums over inputs and outputs; 0 when nothing is known of files. */
static double bytes_read(const struct executor *x, uint32_t task)
{
    const struct workflow *w = x->w;
    double sum = 0;
    for (uint32_t i = w->in_off[task]; x->o->needs && i < w->in_off[task + 1]; i++)
        sum += x->o->needs->bytes[w->in_object[i]];
    return sum;
}

static double bytes_written(const struct executor *x, uint32_t task)
{
    const struct workflow *w = x->w;
    double sum = 0;
    for (uint32_t o = w->object_off[task]; x->o->needs && o < w->object_end[task]; o++)
        sum += x->o->needs->bytes[o];
    return sum;
}

bool executor_start(struct executor *x, const struct sched_start *s)
{
    const struct workflow *w = x->w;
    if (x->stop != EXECUTOR_RUNS)
        return false; /* stays "running" for the scheduler, which then starts nothing more */
    if (x->verdict && s->task < x->verdicts && x->verdict[s->task]) {
        executor_crew_recall(x, s);
        return false;
    }
    if (x->asks) {
        struct error err = {0};
        if (!executor_take_things(x, s, &err)) {
            executor_refuse(x, s, &err);
            return false;
        }
    }
    if (x->decides && executor_decide(x, s))
        return false;
    if (is_reused(x, s->task)) {
        if (x->data)
            data_skip(&x->data_slot, s->task);
        double now = driver_now(x->driver);
        x->result->reused++;
        outbox_event(x->outbox,
                     &(struct trace_event){
                         .kind = TRACE_REUSED, .id = s->task, .start = now, .finish = now});
        executor_files_done(x, s->task, false);
        executor_report(x, s->task, s->slot, now, now, bytes_written(x, s->task));
        return false;
    }
    if (!w->command || !w->command[s->task]) { /* a joint in the graph: nothing to do */
        double now = driver_now(x->driver);
        outbox_event(
            x->outbox,
            &(struct trace_event){.kind = TRACE_TASK, .id = s->task, .start = now, .finish = now});
        spill_task_done(x->spill, s->task);
        executor_report(x, s->task, s->slot, now, now, 0);
        return false;
    }
    uint32_t cores = w->cores[s->task];
    if (w->flags[s->task] & TASK_CALL)
        executor_start_call(x, s, cores);
    else
        return executor_start_command(x, s, cores);
    return false;
}

/* O(lanes): stops are rare. */
bool executor_runs(const struct executor *x, uint32_t task)
{
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        if (x->active[lane].used && x->active[lane].task == task)
            return true;
    return false;
}

void executor_stop_task(struct executor *x, uint32_t task)
{
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        if (x->active[lane].used && x->active[lane].task == task)
            child_stop(x->children, lane, x->stop == EXECUTOR_ENDS_NOW);
    executor_judge(x, task, false);
    executor_lose_doubted(x, task);
    executor_cancel_waiting(x, task);
}

/* ---- ending ---- */

/* Another task that runs now and reads the same; NONE: there is none. */
static uint32_t another_reader(const struct executor *x, uint32_t task, uint32_t object)
{
    const struct workflow *w = x->w;
    for (uint32_t lane = 0; lane < x->o->cores; lane++) {
        uint32_t other = x->active[lane].task;
        for (uint32_t i = w->in_off[other]; x->active[lane].used && i < w->in_off[other + 1]; i++)
            if (other != task && w->in_object[i] == object)
                return other;
    }
    return NONE;
}

/* NULL: none of its inputs changed while it ran. Else what happened, for people: which input, how,
 * who it was as far as can be known, and what to do. */
static char *changed_input_text(struct executor *x, uint32_t task, const struct input_marks *inputs)
{
    struct input_change c;
    struct strbuf text = {0};
    char label[512];
    if (!x->o->needs || inputs_unchanged(x->o->needs, task, inputs, &c))
        return NULL;
    if (c.unread) {
        strbuf_printf(&text, "whether its input '%s' changed while it ran cannot be seen: %s",
                      workflow_object_label(x->w, c.object, label, sizeof label),
                      strbuf_text(&c.how));
        strbuf_free(&c.how);
        return strbuf_steal(&text);
    }
    array_push(&x->changed, (struct changed_input){c.object, task});
    uint32_t other = another_reader(x, task, c.object);
    strbuf_printf(&text, "its input '%s' changed while it ran: %s. The task itself did it",
                  workflow_object_label(x->w, c.object, label, sizeof label), strbuf_text(&c.how));
    if (other != NONE)
        strbuf_printf(&text, ", or '%s', which ran at the same time and reads it too",
                      workflow_task_name(x->w, other));
    strbuf_add(&text, ", or somebody else meanwhile. Nothing of this attempt is taken; a task that "
                      "must write works on a copy (cp {in} mine). ");
    input_remedy(x->o->needs, c.object, &text);
    strbuf_free(&c.how);
    return strbuf_steal(&text);
}

/* What both kinds of task do at their end. `failure` has the outcome; its text and log are taken
 * over. */
void executor_task_over(struct executor *x, const struct trace_event *e, uint32_t slot,
                        uint32_t cores, const char *sandbox, const struct input_marks *inputs,
                        struct run_failure failure)
{
    struct error err;
    error_clear(&err);
    struct trace_event event = *e;
    char *changed = inputs->all.n ? changed_input_text(x, e->id, inputs) : NULL;
    if (changed) { /* also of one that failed: it may be why */
        free(failure.text);
        failure.text = changed;
        if (event.outcome == TRACE_DONE)
            event.outcome = failure.outcome = TRACE_FAILED;
    }
    if (event.outcome == TRACE_DONE) { /* outputs into place, then on record; else it has failed */
        struct strbuf remarks = {0};
        struct sandbox_way way = {executor_clear_way, x};
        bool good = !executor_has_files(x->w, e->id) ||
                    sandbox_take(sandbox, x->o->folder, x->w, e->id, x->o->needs ? &way : NULL,
                                 &remarks, &err);
        if (good && x->o->needs)
            good = need_done(x->o->needs, e->id, &err);
        if (!good) {
            event.outcome = failure.outcome = TRACE_FAILED;
            failure.text = error_copy_text(&err);
        }
        if (remarks.n && x->result->remarks.n < RUN_REMARKS) {
            struct strbuf line = {0};
            strbuf_printf(&line, "task '%s' left files that it does not declare as outputs: %s",
                          workflow_task_name(x->w, e->id), remarks.at);
            array_push(&x->result->remarks, strbuf_steal(&line));
        }
        strbuf_free(&remarks);
    }
    bool done = event.outcome == TRACE_DONE;
    if (!done && event.outcome != TRACE_NOT_STARTED)
        executor_own_leftovers(x, e->id, wants_sandbox(x, e->id));
    if (!done && x->o->node && executor_pass_on(x, &event, slot, cores, sandbox, &failure))
        return;
    /* neither done nor failed: it is left, as what was not started */
    bool ended_by_us = event.outcome == TRACE_CANCELLED && x->stop == EXECUTOR_ENDS_NOW;
    bool last = !done && executor_is_last_failure(x, e->id, e->attempt,
                                                  (enum trace_outcome)event.outcome, e->status);
    if (sandbox)
        executor_leave_sandbox(x, e->id, sandbox, done, last);
    /* somebody cancelled it here (run_cancel()): the rest goes on; on an agent others are told of it */
    bool unwanted = event.outcome == TRACE_CANCELLED && !x->o->node;
    if (ended_by_us || unwanted) {
        free(failure.text);
        free(failure.log);
    } else if (done) {
        executor_files_done(x, e->id, true);
        if (x->outbox->wanted) {
            event.read = bytes_read(x, e->id);
            event.written = bytes_written(x, e->id);
            report_files(x, e->id, true);
        }
        if (failure.log && x->outbox->lists_logs)
            array_push(&x->outbox->logs, (struct outbox_log){e->id, e->attempt});
        free(failure.text);
        free(failure.log);
    } else {
        failure.last = last || x->stop == EXECUTOR_ENDS_NOW;
        executor_failed(x, e->id, failure.last);
        executor_keep_failure(x, failure);
    }
    x->result->attempts++;
    x->result->busy += (e->finish - e->start) * cores;
    x->result->cpu += e->cpu;
    x->running--;
    outbox_event(x->outbox, &event);
    if (done)
        executor_report(x, e->id, slot, e->start, e->finish, event.written);
    else if (!ended_by_us)
        executor_report_failure(x, e->id, slot, last, e->start, e->finish);
}

/* In the words of the trace. */
static enum trace_outcome outcome_of(const struct child_result *c)
{
    switch (c->end) {
    case CHILD_EXITED:
        return c->status ? TRACE_FAILED : TRACE_DONE;
    case CHILD_SIGNALLED:
        return TRACE_KILLED;
    case CHILD_TIMEOUT:
        return TRACE_TIMEOUT;
    case CHILD_MEMORY:
        return TRACE_MEMORY;
    case CHILD_PROCESSES:
        return TRACE_FAILED;
    case CHILD_CANCELLED:
        break;
    }
    return TRACE_CANCELLED;
}

/* An engine that limits a container says no more than that it was killed; `limited`: it did. */
static enum trace_outcome outcome_in(const struct child_result *c, bool limited)
{
    enum { KILLED = 128 + 9 };
    return limited && c->end == CHILD_EXITED && c->status == KILLED ? TRACE_MEMORY : outcome_of(c);
}

void executor_log_path(const struct executor *x, uint32_t task, uint32_t attempt,
                       struct strbuf *out)
{
    strbuf_printf(out, "%s/", x->logs.at);
    record_log_name(workflow_task_name(x->w, task), task, attempt, out);
}

/* The log first: it goes with the failure, and the slot's next task must not write into it. The
 * lane is free before the end is reported, since the report may start another task. */
void executor_child_over(struct executor *x, const struct child_result *c)
{
    struct active *a = &x->active[c->slot];
    struct run_failure failure = {
        .task = c->task,
        .attempt = c->attempt,
        .outcome = outcome_in(c, a->contained && x->limits && x->memory[c->task] > 0),
        .status = c->status};
    if (failure.outcome == TRACE_MEMORY)
        failure.limit = x->memory[c->task];
    else if (failure.outcome == TRACE_TIMEOUT)
        failure.limit = x->w->timeout[c->task];
    if (c->log > 0 && x->w->secret && (x->w->secret[c->task] || x->hidden.n > x->hidden_first))
        executor_mask_secrets(x, c->slot, c->task);
    if (c->log > 0) {
        struct strbuf path = {0};
        struct error err = {0};
        executor_log_path(x, c->task, c->attempt, &path);
        if (child_keep_log(x->children, c->slot, path.at, &err))
            failure.log = strbuf_steal(&path);
        else
            x->trouble(x->context, &err);
        strbuf_free(&path);
        x->result->log_bytes += c->log;
    }
    if (c->end == CHILD_PROCESSES)
        failure.text = executor_explain_processes(x, c);
    else if (failure.outcome == TRACE_FAILED || failure.outcome == TRACE_KILLED)
        failure.text = full_disk(x, a->sandbox, c->status);
    else if (failure.outcome == TRACE_MEMORY)
        failure.text = executor_out_of_rungs(x, c->task, c->attempt);
    if (failure.outcome == TRACE_FAILED && !failure.text && a->strict)
        failure.text = executor_explain_strict(x, c);
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->slot,
                            .start = c->start - driver_began(x->driver),
                            .finish = c->finish - driver_began(x->driver),
                            .outcome = failure.outcome,
                            .status = c->status,
                            .attempt = c->attempt,
                            .cpu = c->cpu,
                            .memory = c->memory};
    char *sandbox = a->sandbox;
    struct input_marks inputs = a->inputs;
    a->inputs = (struct input_marks){0};
    a->sandbox = NULL;
    executor_clear_lane(x, c->slot);
    if (failure.outcome == TRACE_MEMORY)
        array_push(&x->out_of_memory, c->task);
    executor_task_over(x, &e, a->slot, a->cores, sandbox, &inputs, failure);
    free(sandbox);
    input_marks_free(&inputs);
}

void executor_child_ended(struct executor *x, const struct child_result *c)
{
    if (x->o->gang && (executor_take_lost(x, c) || executor_doubts(x, c) || executor_excuse(x, c)))
        return;
    executor_child_over(x, c);
}
