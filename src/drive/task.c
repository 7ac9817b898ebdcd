/* One task from the scheduler's word to start it to its end: sandbox, command or call, result. */
#include "base/clock.h"
#include "model/command.h"
#include "exec/sandbox.h"
#include "drive/state.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MOST_WORDS = 256 };

/* ---- failures ---- */

static void failure_free(struct run_failure *f)
{
    free(f->text);
    free(f->log);
}

/* One that no attempt follows is told to people: it takes the place of the failure before it when
 * there are too many. */
static void keep_failure(struct run *r, struct run_failure f)
{
    if (r->result->failures.n < RUN_FAILURES) {
        array_push(&r->result->failures, f);
        return;
    }
    struct run_failure *newest = &array_last(&r->result->failures);
    if (f.last && !newest->last) {
        failure_free(newest);
        *newest = f;
        return;
    }
    failure_free(&f);
}

/* A task that failed on a full disk cannot say so: its log is there too. */
static char *full_disk(const struct run *r, const char *sandbox, int status)
{
    enum { BLOCKS = 16 };
    const char *at = sandbox ? sandbox : r->o->folder;
    struct statvfs s;
    if (statvfs(at, &s) != 0 || s.f_blocks == 0 ||
        (geteuid() == 0 ? s.f_bfree : s.f_bavail) >= BLOCKS)
        return NULL;
    struct strbuf text = {0};
    strbuf_printf(&text, "status %d; no space left on the disk of %s", status, r->o->folder);
    return strbuf_steal(&text);
}

static bool is_last(const struct run *r, uint32_t task, uint32_t attempt)
{
    return attempt > (r->retries ? r->retries[task] : 0);
}

static char *own_text(const struct error *err)
{
    return err->kind == ERROR_NONE ? NULL : mem_copy_string(err->text);
}

/* The task's next attempt gets more memory: what the workflow lists, else twice as much. */
void task_more_memory(struct run *r, uint32_t task)
{
    const struct workflow *w = r->w;
    if (!r->memory)
        return;
    uint32_t rungs = w->more_off ? w->more_off[task + 1] - w->more_off[task] : 0;
    if (rungs)
        r->memory[task] =
            w->more_memory[w->more_off[task] + (r->rung[task] < rungs ? r->rung[task] : rungs - 1)];
    else
        r->memory[task] *= 2;
    r->rung[task] += r->rung[task] < UINT8_MAX;
}

/* ---- starting ---- */

static bool has_files(const struct workflow *w, uint32_t task)
{
    return w->in_off[task] < w->in_off[task + 1] || w->object_off[task] < w->object_off[task + 1];
}

static bool wants_sandbox(const struct run *r, uint32_t task)
{
    return r->o->state && !r->o->no_sandbox && !(r->w->flags[task] & TASK_IN_PLACE) &&
           has_files(r->w, task);
}

static char *make_sandbox(struct run *r, uint32_t task, const char *kind, uint32_t number,
                          struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/sandbox/%s-%s%u", r->o->state, r->o->label ? r->o->label : "run", kind,
                  number);
    if (!sandbox_make(path.at, r->o->folder, r->w, task, err)) {
        tree_remove(path.at);
        strbuf_free(&path);
        return NULL;
    }
    return strbuf_steal(&path);
}

/* Outputs that a task in place is going to write: their folders must be there. */
static bool make_output_folders(struct run *r, uint32_t task, struct error *err)
{
    const struct workflow *w = r->w;
    char label[512];
    for (uint32_t o = w->object_off[task]; o < w->object_off[task + 1]; o++) {
        const char *name = workflow_object_label(w, o, label, sizeof label);
        if (strchr(name, '/') && !make_parents(path_in(r->o->folder, name, &r->path), err))
            return false;
    }
    return true;
}

void task_not_started(struct run *r, const struct sched_start *s, const struct error *err)
{
    double now = run_now(r);
    keep_failure(r, (struct run_failure){.task = s->task,
                                         .attempt = s->attempt,
                                         .outcome = TRACE_NOT_STARTED,
                                         .status = 127,
                                         .text = own_text(err),
                                         .last = is_last(r, s->task, s->attempt)});
    run_tell(r, &(struct trace_event){.kind = TRACE_TASK,
                                      .id = s->task,
                                      .start = now,
                                      .finish = now,
                                      .outcome = TRACE_NOT_STARTED,
                                      .status = 127,
                                      .attempt = s->attempt});
    r->result->attempts++;
    run_ended(r, s->task, s->slot, true, now, now, 0);
}

static void start_command(struct run *r, const struct sched_start *s, uint32_t cores)
{
    const struct workflow *w = r->w;
    struct error err = {0};
    char *words[MOST_WORDS];
    uint32_t lane = array_pop(&r->lanes);
    struct active *a = &r->active[lane];
    *a = (struct active){.task = s->task, .slot = s->slot, .attempt = s->attempt, .cores = cores};
    strbuf_clear(&r->command);
    bool good = command_expand(w, s->task, &r->command, &err);
    if (good && wants_sandbox(r, s->task))
        good = (a->sandbox = make_sandbox(r, s->task, "", lane, &err)) != NULL;
    else if (good)
        good = make_output_folders(r, s->task, &err);
    if (good) {
        bool plain = command_words(r->command.at, words, MOST_WORDS) > 0;
        struct child_request request = {
            .task = s->task,
            .attempt = s->attempt,
            .name = workflow_task_name(w, s->task),
            .words = plain ? words : NULL,
            .shell = plain ? NULL : r->command.at,
            .folder = a->sandbox,
            .cores = cores,
            .memory = r->memory ? r->memory[s->task] : 0,
            .timeout = w->timeout ? w->timeout[s->task] : INFINITY,
        };
        good = child_start(r->children, lane, &request, &err);
    }
    if (!good) {
        if (a->sandbox)
            tree_remove(a->sandbox);
        free(a->sandbox);
        a->sandbox = NULL;
        array_push(&r->lanes, lane);
        task_not_started(r, s, &err);
        return;
    }
    a->used = true;
    r->running++;
    if (r->o->nsinks)
        run_tell(r, &(struct trace_event){.kind = TRACE_BEGIN,
                                          .id = s->task,
                                          .lane = lane,
                                          .start = run_now(r),
                                          .attempt = s->attempt});
}

/* ---- calls ---- */

static struct call_arguments *arguments_take(struct run *r, uint32_t *number)
{
    if (r->free_arguments != NONE) {
        *number = r->free_arguments;
        r->free_arguments = r->arguments.at[*number]->next;
    } else {
        *number = (uint32_t)r->arguments.n;
        array_push(&r->arguments, mem_new_zero(struct call_arguments, 1));
    }
    return r->arguments.at[*number];
}

static void arguments_give_back(struct run *r, uint32_t number)
{
    struct call_arguments *a = r->arguments.at[number];
    for (uint32_t i = 0; a->paths && i < a->task.nin + a->task.nout; i++)
        free(a->paths[i]);
    free(a->paths);
    free(a->sandbox);
    *a = (struct call_arguments){.next = r->free_arguments};
    r->free_arguments = number;
}

static void fill_paths(struct run *r, uint32_t task, struct call_arguments *a)
{
    const struct workflow *w = r->w;
    char label[512];
    uint32_t nin = w->in_off[task + 1] - w->in_off[task];
    uint32_t nout = w->object_off[task + 1] - w->object_off[task];
    const char *folder = a->sandbox ? a->sandbox : r->o->folder;
    a->paths = mem_new(char *, nin + nout);
    for (uint32_t i = 0; i < nin + nout; i++) {
        uint32_t object = i < nin ? w->in_object[w->in_off[task] + i]
                                  : w->out_object[w->object_off[task] + i - nin];
        const char *name = workflow_object_label(w, object, label, sizeof label);
        a->paths[i] = mem_copy_string(path_in(folder, name, &r->path));
    }
    a->task.nin = nin;
    a->task.nout = nout;
    a->task.in = (const char *const *)a->paths;
    a->task.out = (const char *const *)a->paths + nin;
}

static void start_call(struct run *r, const struct sched_start *s, uint32_t cores)
{
    const struct workflow *w = r->w;
    struct error err; /* cleared by hand: zeroing its text would cost as much as a short call */
    error_clear(&err);
    struct call_job job = {.task = s->task, .attempt = s->attempt};
    uint32_t text = w->command[s->task];
    job.function = r->call_function;
    if (text != r->call_text &&
        !calls_find(r->calls, workflow_text(w, text), &job.function, &err)) {
        task_not_started(r, s, &err);
        return;
    }
    r->call_text = text;
    r->call_function = job.function;
    uint32_t number;
    struct call_arguments *a = arguments_take(r, &number);
    a->task.name = workflow_task_name(w, s->task);
    a->task.attempt = s->attempt;
    a->task.folder = r->o->folder;
    a->lane = s->slot; /* the scheduler's mark; the job carries our own */
    a->cores = cores;
    if (has_files(w, s->task)) {
        if (wants_sandbox(r, s->task))
            a->sandbox = make_sandbox(r, s->task, "c", number, &err);
        if (err.kind != ERROR_NONE || (!a->sandbox && !make_output_folders(r, s->task, &err))) {
            arguments_give_back(r, number);
            task_not_started(r, s, &err);
            return;
        }
        fill_paths(r, s->task, a);
    }
    job.slot = number;
    job.with = &a->task;
    r->running++;
    if (calls_inline(r->calls, job.function)) {
        struct call_result result;
        /* what lies between two calls counts as the second's, unless it is a lot: records */
        calls_run(r->calls, &job, r->o->needs ? 0 : r->call_ended, &result);
        r->call_ended = result.finish;
        task_call_ended(r, &result);
    } else {
        array_push(&r->jobs, job);
    }
}

/* ---- any task ---- */

/* Known by its key since the run began: its inputs turned out to be what they were. */
static bool is_reused(struct run *r, uint32_t task)
{
    struct needs *n = r->o->needs;
    struct digest key;
    if (!n)
        return false;
    return n->task[task] == NEED_NOT ||
           (n->task[task] == NEED_PARENT && need_key(n, task, &key) && need_reuse(n, task, &key));
}

static void tell_files(struct run *r, uint32_t task, bool made)
{
    const struct needs *n = r->o->needs;
    const struct workflow *w = r->w;
    if (!n || !r->o->nsinks || w->object_off[task] == w->object_off[task + 1])
        return;
    struct trace_file f = {.task = task, .made = made};
    need_key(n, task, &f.key);
    for (uint32_t o = w->object_off[task]; o < w->object_off[task + 1]; o++) {
        f.object = o;
        f.digest = n->content[o];
        f.size = n->bytes[o];
        f.path = w->object_name[o] ? workflow_text(w, w->object_name[o]) : NULL;
        if (f.path)
            array_push(&r->files, f);
    }
}

static double bytes_read(const struct run *r, uint32_t task)
{
    const struct workflow *w = r->w;
    double sum = 0;
    for (uint32_t i = w->in_off[task]; r->o->needs && i < w->in_off[task + 1]; i++)
        sum += r->o->needs->bytes[w->in_object[i]];
    return sum;
}

static double bytes_written(const struct run *r, uint32_t task)
{
    const struct workflow *w = r->w;
    double sum = 0;
    for (uint32_t o = w->object_off[task]; r->o->needs && o < w->object_off[task + 1]; o++)
        sum += r->o->needs->bytes[o];
    return sum;
}

void task_start(struct run *r, const struct sched_start *s)
{
    const struct workflow *w = r->w;
    if (r->stopping)
        return; /* stays "running" for the scheduler, which then starts nothing more */
    if (is_reused(r, s->task)) {
        double now = run_now(r);
        r->result->reused++;
        run_tell(r, &(struct trace_event){
                        .kind = TRACE_REUSED, .id = s->task, .start = now, .finish = now});
        disk_task_done(r, s->task, false);
        run_ended(r, s->task, s->slot, false, now, now, bytes_written(r, s->task));
        return;
    }
    if (!w->command || !w->command[s->task]) { /* a joint in the graph: nothing to do */
        double now = run_now(r);
        run_tell(r, &(struct trace_event){
                        .kind = TRACE_TASK, .id = s->task, .start = now, .finish = now});
        run_ended(r, s->task, s->slot, false, now, now, 0);
        return;
    }
    uint32_t cores = w->cores[s->task] < r->o->cores ? w->cores[s->task] : r->o->cores;
    if (w->flags[s->task] & TASK_CALL)
        start_call(r, s, cores);
    else
        start_command(r, s, cores);
}

void task_stop(struct run *r, uint32_t task)
{
    for (uint32_t lane = 0; lane < r->o->cores; lane++)
        if (r->active[lane].used && r->active[lane].task == task)
            child_stop(r->children, lane, r->stopping > 1);
}

/* ---- ending ---- */

/* What both kinds of task do at their end. `failure` has the outcome; its text and log are taken
 * over. */
static void task_ended(struct run *r, const struct trace_event *e, uint32_t slot, uint32_t cores,
                       const char *sandbox, struct run_failure failure)
{
    struct error err;
    error_clear(&err);
    struct trace_event told = *e;
    if (told.outcome == TRACE_DONE) {
        struct strbuf remarks = {0};
        bool good = !has_files(r->w, e->id) ||
                    sandbox_take(sandbox, r->o->folder, r->w, e->id, &remarks, &err);
        if (good && r->o->needs)
            good = need_done(r->o->needs, e->id, &err);
        if (!good) {
            told.outcome = failure.outcome = TRACE_FAILED;
            failure.text = own_text(&err);
        }
        if (remarks.n && r->result->remarks.n < RUN_REMARKS) {
            struct strbuf line = {0};
            strbuf_printf(&line, "task '%s' left files that it does not declare as outputs: %s",
                          workflow_task_name(r->w, e->id), remarks.at);
            array_push(&r->result->remarks, strbuf_steal(&line));
        }
        strbuf_free(&remarks);
    }
    if (sandbox)
        tree_remove(sandbox);
    bool done = told.outcome == TRACE_DONE;
    if (done) {
        disk_task_done(r, e->id, true);
        if (r->o->nsinks) {
            told.read = bytes_read(r, e->id);
            told.written = bytes_written(r, e->id);
            tell_files(r, e->id, true);
        }
        free(failure.text);
        free(failure.log);
    } else {
        failure.last = is_last(r, e->id, e->attempt) || r->stopping > 1;
        keep_failure(r, failure);
    }
    r->result->attempts++;
    r->result->busy += (e->finish - e->start) * cores;
    r->result->cpu += e->cpu;
    r->running--;
    run_tell(r, &told);
    run_ended(r, e->id, slot, !done, e->start, e->finish, told.written);
}

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
    case CHILD_CANCELLED:
        break;
    }
    return TRACE_CANCELLED;
}

/* The name of a task as a file's: what a folder cannot hold becomes '_'. */
static void log_name(struct run *r, const struct child_result *c, struct strbuf *out)
{
    strbuf_printf(out, "%s/", r->logs.at);
    const char *name = workflow_task_name(r->w, c->task);
    for (size_t i = 0; name[i] && i < 180; i++)
        strbuf_add_char(out, name[i] == '/' || (unsigned char)name[i] < 32 ? '_' : name[i]);
    if (strlen(name) > 180 || strchr(name, '/'))
        strbuf_printf(out, "-%u", c->task); /* two names may have become one */
    if (c->attempt > 1)
        strbuf_printf(out, ".%u", c->attempt);
    strbuf_add(out, ".log");
}

void task_child_ended(struct run *r, const struct child_result *c)
{
    struct active *a = &r->active[c->slot];
    struct run_failure failure = {
        .task = c->task, .attempt = c->attempt, .outcome = outcome_of(c), .status = c->status};
    if (failure.outcome == TRACE_MEMORY)
        failure.limit = r->memory[c->task];
    else if (failure.outcome == TRACE_TIMEOUT)
        failure.limit = r->w->timeout[c->task];
    if (c->log > 0) {
        struct strbuf path = {0};
        struct error err = {0};
        log_name(r, c, &path);
        if (child_keep_log(r->children, c->slot, path.at, &err))
            failure.log = strbuf_steal(&path);
        else
            run_broken(r, &err);
        strbuf_free(&path);
        r->result->log_bytes += c->log;
    }
    if (failure.outcome == TRACE_FAILED || failure.outcome == TRACE_KILLED)
        failure.text = full_disk(r, a->sandbox, c->status);
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->slot,
                            .start = c->start - r->began,
                            .finish = c->finish - r->began,
                            .outcome = failure.outcome,
                            .status = c->status,
                            .attempt = c->attempt,
                            .cpu = c->cpu,
                            .memory = c->memory};
    char *sandbox = a->sandbox;
    a->used = false;
    a->sandbox = NULL;
    array_push(&r->lanes, c->slot);
    if (failure.outcome == TRACE_MEMORY)
        array_push(&r->hungry, c->task);
    task_ended(r, &e, a->slot, a->cores, sandbox, failure);
    free(sandbox);
}

/* A call that went well, made no files, and of which nobody wants to hear: nothing but counting. */
static bool ended_quietly(struct run *r, const struct call_result *c, struct call_arguments *a)
{
    if (c->status || r->o->nsinks || r->o->needs || a->paths || a->sandbox)
        return false;
    r->result->attempts++;
    r->result->busy += (c->finish - c->start) * a->cores;
    r->result->cpu += c->cpu;
    r->running--;
    run_ended(r, c->task, a->lane, false, c->start - r->began, c->finish - r->began, 0);
    a->next = r->free_arguments;
    r->free_arguments = c->slot;
    return true;
}

void task_call_ended(struct run *r, const struct call_result *c)
{
    struct call_arguments *a = r->arguments.at[c->slot];
    if (ended_quietly(r, c, a))
        return;
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->lane,
                            .start = c->start - r->began,
                            .finish = c->finish - r->began,
                            .outcome = c->status ? TRACE_FAILED : TRACE_DONE,
                            .status = c->status,
                            .attempt = c->attempt,
                            .cpu = c->cpu};
    struct run_failure failure = {.task = c->task,
                                  .attempt = c->attempt,
                                  .outcome = (enum trace_outcome)e.outcome,
                                  .status = c->status};
    task_ended(r, &e, a->lane, a->cores, a->sandbox, failure);
    arguments_give_back(r, c->slot);
}

void tasks_free(struct run *r)
{
    for (uint32_t lane = 0; r->active && lane < r->o->cores; lane++) {
        if (r->active[lane].sandbox)
            tree_remove(r->active[lane].sandbox);
        free(r->active[lane].sandbox);
    }
    free(r->active);
    for (size_t i = 0; i < r->arguments.n; i++) {
        struct call_arguments *a = r->arguments.at[i];
        if (a->sandbox)
            tree_remove(a->sandbox);
        arguments_give_back(r, (uint32_t)i);
        free(a);
    }
    array_free(&r->arguments);
}
