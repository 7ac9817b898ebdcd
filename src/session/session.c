/* The session: opening a workflow in its folder, what is expected of it, and the run.
 *
 *     session_begin ─▶ session_open ─▶ [session_predict, session_follow]
 *                                             │
 *       session_finish ◀─ session_step ◀─ session_go ◀─ session_prepare
 *
 * I1. The session owns the workflow; record and result point into it and into s->predicted, and
 *     take nothing of it along: session_close() cuts them loose before it frees the record.
 * I2. The memo stays open (and locked) from session_open() to session_close(): nobody else runs in the folder meanwhile.
 * I3. Every session_prepare() is followed by a session_finish(), also when session_go() failed: the mark
 *     of a run that goes on and the record in the history are closed there. */
#include "session/skipped_targets.h"
#include "session/session.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/plural.h"
#include "drive/order.h"
#include "exec/container.h"
#include "exec/measure.h"
#include "exec/sandbox.h"
#include "formats/format.h"
#include "formats/open_end.h"
#include "model/future.h"
#include "model/select.h"
#include "session/following.h"
#include "session/growing.h"
#include "session/hooks.h"
#include "session/place.h"
#include "session/data_memory.h"
#include "session/in_memory.h"
#include "session/kept_results.h"
#include "session/machine.h"
#include "session/recording.h"
#include "session/surroundings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double STANDARD_RETRY_DELAY = 0.1; /* seconds, doubled after each attempt */

/* ---- opening ---- */

/* What there is to run on, where the options do not say. */
static void session_take_options(struct session *s, const struct session_options *o)
{
    struct machine m;
    measure_inventory(&m);
    s->o = *o;
    s->flow = mem_copy_string(o->flow);
    s->o.flow = s->flow;
    s->cores = o->cores ? o->cores : m.cores;
    s->memory = o->memory > 0 ? o->memory : m.memory;
    s->disk = o->disk > 0 ? o->disk : INFINITY;
    s->retry_first = o->retry_first != 0 ? o->retry_first : STANDARD_RETRY_DELAY;
}

/* Starts the thread that reads the memo: the caller reads the workflow meanwhile. */
void session_begin(struct session *s, const struct session_options *o)
{
    *s = (struct session){0};
    session_take_options(s, o);
    workspace_begin(&s->ws, s->flow, o->folder, o->look);
    s->o.folder = s->ws.folder;
    s->targets = path_home_names(s->ws.folder, o->targets);
    s->since = path_home_names(s->ws.folder, o->since);
    s->o.targets = s->targets;
    s->o.since = s->since;
}

struct workflow *session_read(struct session *s, struct format_file *file, struct error *err)
{
    format_file_set_folder(file, s->ws.folder);
    format_file_let_grow(file);
    if (s->o.elsewhere) {
        outside_init(&s->source);
        format_file_note(file, &s->source);
    }
    return image_read_workflow(&s->image, s->ws.state, file, err);
}

static struct surroundings_request session_surroundings(const struct session *s)
{
    return (struct surroundings_request){.workflow = s->w,
                                         .folder = s->ws.folder,
                                         .needs = s->needs.task,
                                         .fetch = !s->o.look,
                                         .elsewhere = s->o.elsewhere};
}

bool session_surround(struct session *s, struct error *err)
{
    struct surroundings_request q = session_surroundings(s);
    q.rewritten = s->o.elsewhere;
    return surroundings_find_values(&q, &s->environment, err);
}

/* What must run. With targets, --force means them alone. */
static bool session_find_needs(struct session *s, struct error *err)
{
    const char *const *target = s->o.targets;
    bool some = target && *target;
    struct need_options need = {.all = s->o.force && !some,
                                .environment = &s->environment,
                                .elsewhere = s->o.elsewhere,
                                .keeping = kept_results_begin(s)};
    uint8_t *marks = some && s->o.force ? mem_new_zero(uint8_t, s->w->ntasks) : NULL;
    for (; marks && *target; target++)
        select_named(s->w, *target, marks, NULL); /* they are there: the part was made for them */
    need.forced = marks;
    struct surroundings_request around = session_surroundings(s);
    bool good = surroundings_find_contents(&around, &s->environment, err) &&
                needs_find(&s->needs, s->w, s->ws.folder, s->ws.memo, &need, err);
    free(marks);
    return good;
}

/* The workflow as it was read once more. Numbers of tasks and files may differ from those of the first
 * reading: what must run is found again. */
static bool session_take_again(struct session *s, struct workflow *w, struct error *err)
{
    needs_free(&s->needs);
    workflow_free(s->w);
    image_free(&s->image);
    s->w = w;
    return session_find_needs(s, err);
}

/* Whoever runs it gets the workflow as a text, and reads its own numbers of tasks and files out of it: so do we. */
static bool session_take_as_text(struct session *s, struct error *err)
{
    const struct format *native = format_find("native");
    if (s->o.keep_results) /* so that who collects the results of a run that was left knows of it */
        for (uint32_t t = 0; t < s->w->ntasks; t++)
            s->w->flags[t] |= TASK_KEEPS_RESULTS;
    if (!native->write_workflow(s->w, &s->text, NULL, err))
        return false;
    char *copy = mem_copy_bytes(s->text.at, s->text.n); /* readers change their text */
    struct workflow *w = native->read_workflow(
        &(struct format_source){.path = s->flow, .text = copy, .length = s->text.n}, err);
    free(copy);
    if (w)
        place_put_image(w, &s->text);
    return w && session_take_again(s, workflow_take_lines(w, s->w), err);
}

/* One that grows is read again by everybody from what it was read from here, and so by us. */
static bool session_take_as_source(struct session *s, struct error *err)
{
    growing_put_source(s);
    struct workflow *w = place_read_workflow(s->text.at, s->text.n, err);
    return w && session_take_again(s, w, err);
}

/* A target that is not known yet, or not all of it: a list that is read later may bring it, or the next
 * round of a repeated task. NULL: there is none. What it needs is not known either. */
static const char *session_later_target(const struct session *s)
{
    const struct workflow *w = s->w;
    struct future *f = w->future;
    for (const char *const *t = s->o.targets; f && t && *t; t++) {
        uint32_t object = workflow_find_object(w, *t);
        bool known =
            workflow_find_task(w, *t) != NONE || (object != NONE && w->producer[object] != NONE);
        if (!known && f->ops->may_make(f, *t))
            return *t;
    }
    return NULL;
}

/* What depends on a list that is read while the workflow runs is not among the edges: nobody can say what comes after
 * `since` (NULL: nobody asks). */
bool session_knows_after(const struct session *s, const char *const *since, struct error *err)
{
    if (!since || !*since || !(s->w->growth || workflow_is_open(s->w)))
        return true;
    return error_set(err, ERROR_INPUT,
                     "%s: --since %.200s: what comes after it is not all known before a run, since "
                     "lists or tasks are read while it goes on; name targets as well (--until), or "
                     "leave --since out",
                     s->flow, *since);
}

/* Targets and what they need, where the options name some. No image is made of a part. */
static bool session_take_part(struct session *s, struct error *err)
{
    if ((!s->o.targets || !*s->o.targets) && (!s->o.since || !*s->o.since))
        return true;
    image_free(&s->image);
    const char *later = session_later_target(s);
    if (later && s->o.since && *s->o.since)
        return error_set(
            err, ERROR_INPUT,
            "%s: '%.200s' is not known yet, and --since needs to know what comes after "
            "what; leave one of them out",
            s->flow, later);
    if (!s->o.targets && !session_knows_after(s, s->o.since, err))
        return false;
    if (later) {
        remark(&s->o.remarks, REMARK_INFO,
               "'%s' is not known yet: all that is known runs, and what joins", later);
        return true;
    }
    struct workflow *part = workflow_select(s->w, s->o.targets, s->o.since, err);
    if (!part)
        return false;
    workflow_free(s->w);
    s->w = part;
    s->is_part = true;
    return true;
}

/* In this order, so that the first complaint is about what the user gave: the workflow, then the
 * folder, then the files in it. */
bool session_open(struct session *s, struct workflow *w, struct error *err)
{
    char buffer[256];
    s->w = w;
    if (!w || !session_take_part(s, err))
        return false;
    w = s->w;
    s->name = mem_copy_string(workflow_display_name(w, buffer, sizeof buffer));
    if (!w->command) {
        bool native = strcmp(workflow_text(w, w->format), "native") == 0;
        return error_set(err, ERROR_INPUT,
                         "%s: no task has a command to run; an abstract graph can be planned "
                         "(`weft plan`) and simulated (`weft sim`)%s%.200s%s",
                         s->flow, native ? "" : ". To run it, `weft convert ",
                         native ? "" : s->flow,
                         native ? "" : " flow.yaml` and give its tasks `run:` there");
    }
    if (!s->o.no_sandbox && !sandbox_check_names(w, err))
        return false;
    if (!retention_read(&s->keep, err) || !workspace_open(&s->ws, s->o.wait, &s->o.remarks, err) ||
        !session_find_needs(s, err))
        return false;
    bool grows = s->o.elsewhere && w->future;
    if (grows && !session_take_as_source(s, err))
        return false;
    if (!growing_begin(s, err))
        return false;
    if (s->o.elsewhere && !grows && !session_take_as_text(s, err))
        return false;
    if (grows)
        growing_put_source(s);
    if (s->o.elsewhere && s->o.adds) {
        place_put_open_end(&s->text);
        open_end_begin(s->w);
    }
    s->state = SESSION_OPEN;
    return true;
}

/* Nothing is looked at in the folder: what is done there and what is not, the cluster tells. */
bool session_join(struct session *s, const struct session_options *o, struct workflow *w,
                  const uint32_t *done, size_t ndone, struct error *err)
{
    session_begin(s, o);
    s->o.elsewhere = true;
    s->w = w;
    s->name = mem_copy_string(o->flow);
    if (!retention_read(&s->keep, err) || !workspace_open(&s->ws, s->o.wait, &s->o.remarks, err))
        return false;
    s->ws.crashed = false; /* that it was cut off is why we join it */
    needs_blank(&s->needs, w, s->ws.folder, s->ws.memo, done, ndone);
    s->needs.keeping = kept_results_begin(s);
    s->state = SESSION_OPEN;
    return true;
}

void session_close(struct session *s)
{
    s->record.workflow = NULL; /* I1 */
    s->record.predicted = NULL;
    record_free(&s->record);
    run_result_free(&s->result);
    listeners_free(&s->listeners);
    hooks_abandon(s->hooks);
    now_end(s->now);
    growing_free(s);
    needs_free(&s->needs);
    kept_results_free(s);
    run_environment_free(&s->environment);
    workspace_close(&s->ws, &s->o.remarks);
    forecast_free(s->forecast);
    history_close(s->history);
    workflow_free(s->w);
    image_free(&s->image);
    session_drop_prediction(s);
    free(s->priority);
    free(s->order);
    free(s->planner);
    following_free(s->following);
    free(s->name);
    free(s->flow);
    free(s->targets);
    free(s->since);
    free(s->logs);
    strbuf_free(&s->text);
    outside_free(&s->source);
    *s = (struct session){0};
}

static void session_close_history(void *session)
{
    struct session *s = session;
    history_close(s->history);
    s->history = NULL;
}

/* The children first: nothing of ours may write into the folder once others may run there. The mark
 * of a run that goes on stays, and the next run says that this one was cut off: it was. The record's last
 * rows need memory, and are lost when there is none. */
void session_abandon(struct session *s)
{
    size_t asked;
    atomic_store(&s->steps, false);
    if (s->run)
        run_abandon(s->run);
    workspace_abandon(&s->ws);
    mem_try(NULL, session_close_history, s, &asked);
}

/* ---- ahead ---- */

/* Later tasks of a plan may still start first: the order decides between tasks that are ready. */
void session_follow(struct session *s, const struct plan *plan)
{
    if (!s->priority)
        s->priority = mem_new(double, s->w->ntasks);
    order_of_plan(s->w, plan, s->priority);
    free(s->planner);
    s->planner = mem_copy_string(plan->planner ? plan->planner : "a plan");
}

/* For planners that make an order: one node with the cores and memory of this run. */
struct platform *session_platform(const struct session *s, struct error *err)
{
    struct platform_builder *b = platform_builder_new("this-machine");
    platform_builder_name(b, "this machine", strlen("this machine"));
    uint32_t node = platform_builder_node(b, "localhost", strlen("localhost"), 0);
    platform_builder_cores(b, node, s->cores, 0);
    platform_builder_memory(b, node, s->memory, 0);
    platform_builder_memory_rule(b, MEMORY_TASKS); /* files are on the disk */
    if (s->o.resources)
        platform_builder_resources(b, node, s->o.resources, strlen(s->o.resources), 0);
    return platform_builder_finish(b, err);
}

/* Of a family: the first that must run, else the first. NONE: there is no such family. */
static uint32_t session_first_member(const struct session *s, const char *family)
{
    uint32_t first = NONE;
    size_t n = strlen(family);
    for (uint32_t i = 0; i < s->w->ntasks; i++) {
        const char *task = workflow_task_name(s->w, i);
        if (strncmp(task, family, n) != 0 || task[n] != '@')
            continue;
        first = first == NONE ? i : first;
        if (!s->needs.task || s->needs.task[i] != NEED_NOT)
            return i;
    }
    return first;
}

/* Of a file, however its name is spelled: "./total.txt", "/home/me/flow/total.txt". */
static uint32_t session_find_maker(const struct session *s, const char *name)
{
    struct strbuf plain = {0};
    const char **own = path_home_names(s->ws.folder, (const char *[]){name, NULL});
    path_add_canonical(*own, strlen(*own), &plain);
    uint32_t object = workflow_find_object(s->w, strbuf_text(&plain));
    strbuf_free(&plain);
    free(own);
    return object != NONE ? s->w->producer[object] : NONE;
}

uint32_t session_find_task(const struct session *s, const char *name, struct error *err)
{
    uint32_t t = workflow_find_task(s->w, name);
    if (t == NONE)
        t = session_find_maker(s, name);
    if (t == NONE)
        t = session_first_member(s, name);
    if (t != NONE)
        return t;
    const char **names = mem_new(const char *, s->w->ntasks);
    for (uint32_t i = 0; i < s->w->ntasks; i++)
        names[i] = workflow_task_name(s->w, i);
    const char *near = suggest_nearest(name, names, s->w->ntasks);
    error_set(err, ERROR_INPUT, "there is no task '%.200s'%s%.200s%s", name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return NONE;
}

/* ---- running ---- */

void session_execute_by(struct session *s, const struct session_executor *executor, void *self)
{
    s->executor = executor;
    s->executor_self = self;
}

void session_listen(struct session *s, struct trace_sink sink)
{
    listeners_add(&s->listeners, sink);
}

/* The record of a run in which nothing had to run. It has no number: nothing happened, unless results
 * were restored. */
static void session_nothing_to_do(struct session *s)
{
    workspace_mark(&s->ws, false);
    recording_fill_head(s);
    s->record.predicted = NULL;
    s->record.seconds = 0;
    s->record.reused = s->result.reused = s->w->ntasks - s->needs.untaken;
    s->record.restored = s->keeping.restored;
    s->record.skipped = s->result.skipped = s->needs.untaken;
    s->record.untaken = s->result.untaken = s->needs.untaken;
    s->record.outcome = RECORD_DONE;
    s->state = SESSION_OVER;
    session_remark_skipped(s);
    kept_results_record_alone(s);
    kept_results_end(s);
}

void session_prepare(struct session *s)
{
    if (s->o.resume && !s->ws.crashed)
        remark(&s->o.remarks, REMARK_INFO, "no run was cut off here; what is left to do is done");
    else if (s->ws.crashed)
        remark(&s->o.remarks, REMARK_INFO,
               "the last run here was cut off; going on with %u of %u task%s done", s->needs.skip,
               s->w->ntasks, plural(s->w->ntasks));
    if (s->ws.crashed)
        workspace_clear_leftovers(&s->ws, &s->o.remarks);
    if (s->ws.crashed && s->w->container && !s->o.elsewhere) {
        char label[CONTAINER_LABEL];
        container_label(s->ws.state, label);
        container_end_all(label);
    }
    if (!s->seconds) /* a planner that was asked has set times that no file states */
        image_keep(&s->image, s->w);
    if (!s->needs.run) {
        session_nothing_to_do(s);
        return;
    }
    session_predict(s);
    forecast_free(s->forecast); /* has said all it knows, and holds hundreds of bytes a kind */
    s->forecast = NULL;
    recording_fill_head(s);
    recording_begin(s);
    kept_results_record(s);
    /* logs are named by the record's number, or by the process where nothing is recorded */
    struct strbuf logs = {0};
    snprintf(s->label, sizeof s->label, "%lld",
             s->record.run ? (long long)s->record.run : (long long)getpid());
    strbuf_printf(&logs, "%s/logs/%s", s->ws.state, s->label);
    s->logs = strbuf_steal(&logs);
    s->hooks = hooks_begin(s);
    workspace_mark(&s->ws, true);
    s->state = SESSION_RUNNING;
}

/* What a run on this machine is given of the session; the rest is added by session_go(). */
struct run_options session_run_options(const struct session *s)
{
    struct run_options o = {.workflow = s->w,
                            .folder = s->ws.folder,
                            .state = s->ws.state,
                            .needs = (struct needs *)&s->needs,
                            .environment = &s->environment,
                            .cores = s->cores,
                            .memory = s->memory,
                            .has = workflow_attribute_mask(s->w, s->o.has),
                            .resources = s->o.resources};
    data_memory_set_aside(s, &o);
    return o;
}

bool session_fits(const struct session *s, struct error *err)
{
    struct run_options o = session_run_options(s);
    return data_memory_fits(s, &o, err) && run_fits(&o, 0, err) && in_memory_fits(s, err);
}

/* Of people who look from outside (session/now.h). */
static void session_heed_wishes(struct session *s)
{
    bool goes_on = s->state == SESSION_RUNNING && (s->run || s->executor);
    for (uint32_t task; goes_on && (task = now_take_wish(s->now, NOW_CANCEL)) != NONE;) {
        if (task >= s->w->ntasks)
            continue;
        remark(&s->o.remarks, REMARK_NOTE, "task %s and what depends on it are being cancelled",
               workflow_task_name(s->w, task));
        if (s->run)
            run_cancel(s->run, task);
        else
            s->executor->cancel(s->executor_self, task);
    }
    for (uint32_t task; goes_on && (task = now_take_wish(s->now, NOW_SHOW)) != NONE;) {
        if (s->executor && task < s->w->ntasks)
            s->executor->show(s->executor_self, task);
    }
}

/* The run's heartbeat for displays. Never asks for a stop: that is session_stop(). */
static bool session_on_tick(void *context, int stopping)
{
    struct session *s = context;
    hooks_poll(s->hooks);
    session_heed_wishes(s);
    if (s->tick)
        s->tick(s->tick_context, stopping);
    return false;
}

/* Either an executor of somebody else's or run_open(). A stop that came before is passed on. */
bool session_go(struct session *s, struct error *err)
{
    if (s->state != SESSION_RUNNING)
        return true;
    s->fan = listeners_sink(&s->listeners), s->fan_at = &s->fan;
    struct run_options o = session_run_options(s);
    o.label = s->label;
    o.disk = isfinite(s->disk) ? s->disk : 0;
    o.priority = s->priority, o.ordered = s->planner != NULL;
    in_memory_begin(s, &o);
    data_memory_begin(s, &o);
    o.keep_going = s->o.keep_going;
    o.unlimited = s->o.unlimited;
    o.no_sandbox = s->o.no_sandbox;
    o.overwrite = s->o.overwrite;
    o.keep_failed = s->o.keep_failed;
    o.retry_first = s->retry_first;
    o.sinks = &s->fan_at, o.nsinks = 1;
    o.growth = growing_of(s);
    o.tick = session_on_tick;
    o.context = s;
    if (s->executor) {
        if (!s->executor->open(s->executor_self, s, &o, &s->failure)) {
            s->executor = NULL; /* nothing to step or close */
            s->state = SESSION_OVER;
        }
    } else {
        bool good = following_begin_here(s, &s->failure);
        in_memory_look_ahead(s, &o);
        data_memory_look_ahead(s, &o);
        s->run = good ? run_open(&o, &s->failure) : NULL;
        if (!s->run)
            s->state = SESSION_OVER;
    }
    if (s->state == SESSION_RUNNING) {
        atomic_store(&s->steps, true);
        for (int n = atomic_exchange(&s->stops, 0); n > 0; n--)
            session_stop(s);
        return true;
    }
    if (s->failure.kind == ERROR_NONE)
        error_set(&s->failure, ERROR_FAILED, "the run could not begin");
    return error_set(err, s->failure.kind, "%s", s->failure.text);
}

/* One descriptor for children, pipes, sockets and timers: see exec/stepper.h. */
int session_fd(const struct session *s)
{
    if (s->state != SESSION_RUNNING)
        return -1;
    return s->executor ? s->executor->fd(s->executor_self) : run_fd(s->run);
}

bool session_step(struct session *s, double wait)
{
    if (s->state != SESSION_RUNNING)
        return false;
    bool more = s->executor ? s->executor->step(s->executor_self, wait) : run_step(s->run, wait);
    if (!more) {
        atomic_store(&s->steps, false);
        s->state = SESSION_OVER;
    }
    return more;
}

/* From a signal handler: two atomics and run_stop(), which is made for it. */
void session_stop(struct session *s)
{
    if (!atomic_load(&s->steps)) { /* not yet, or no more */
        atomic_fetch_add(&s->stops, 1);
        return;
    }
    if (s->executor)
        s->executor->stop(s->executor_self);
    else
        run_stop(s->run);
}

/* Also without a session_step(): what still runs is ended then. */
bool session_finish(struct session *s, struct error *err)
{
    if (s->state == SESSION_ENDED || !s->needs.run) {
        if (s->state != SESSION_ENDED)
            growing_conclude(s);
        s->state = SESSION_ENDED;
        return true;
    }
    bool good = false;
    atomic_store(&s->steps, false); /* a stop must not reach what is being closed */
    if (s->executor)
        good = s->executor->close(s->executor_self, s, &s->result, &s->failure);
    else if (s->run)
        good = run_close(s->run, &s->result, &s->failure);
    s->run = NULL;
    if (good)
        growing_conclude(s);
    bool held = following_end(s, good, &s->failure);
    if (!s->detached)
        kept_results_end(s);
    recording_end(s, good);
    s->record.restored = s->keeping.restored;
    session_remark_skipped(s);
    workspace_clear_sandboxes(&s->ws);
    retention_apply(s);
    workspace_mark(&s->ws, false);
    hooks_end(s->hooks); /* they may look at the history, and start a run of their own elsewhere */
    s->hooks = NULL;
    s->state = SESSION_ENDED;
    return (good && held) ||
           error_set(err, s->failure.kind == ERROR_NONE ? ERROR_FAILED : s->failure.kind, "%s",
                     s->failure.text);
}
