/* weft/run.h: opening, running, results. Thin: the session (session/session.h) and the remote
 * (session/remote.h) do it; here are the boundary for memory, copies of options, results as public
 * structs.
 *
 * I1. A stop may come from a signal handler at any moment between open and close: it reads only
 *     run->on_agents, which is fixed at opening, and calls what is safe there.
 * I2. The remote is closed before the session: it looks at how the session ended. */
#include "api/inside.h"
#include "api/inside_run.h"
#include "api/run_handle.h"
#include "base/descriptor.h"
#include "base/strbuf.h"
#include "exec/child.h"
#include "formats/format.h"
#include "session/recorded.h"
#include "session/log_tail.h"
#include "session/resources.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */

void run_call_begin(struct run_call *call, struct weft_error *out, bool *broken)
{
    *call = (struct run_call){.out = out, .broken = broken};
    descriptors_occupy_standard();
    mem_boundary_enter(&call->boundary, NULL);
}

/* What a failed allocation left half done stays as it is and is never looked at again. */
bool run_call_end(struct run_call *call)
{
    mem_boundary_leave(&call->boundary);
    if (call->boundary.failed || *call->broken) {
        *call->broken = true;
        error_clear(&call->err);
        error_set(&call->err, ERROR_MEMORY,
                  "memory has run out; the handle is good for nothing but closing it");
        call->good = false;
    }
    if (call->good)
        error_clear(&call->err);
    else if (call->err.kind == ERROR_NONE)
        error_set(&call->err, ERROR_FAILED, "it failed without a reason");
    api_error_out(&call->err, call->out);
    return call->good;
}

/* ---- handles ---- */

/* The options are the caller's; what is needed after the call is copied and freed with the run. */
const char *run_keep_text(struct weft_run *run, const char *text)
{
    if (!text)
        return NULL;
    char *copy = mem_copy_string(text);
    array_push(&run->texts, copy);
    return copy;
}

/* A line each becomes a part; what is a comment or blank is left out. */
static void run_add_lines(struct strbuf *out, const char *text)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n"), blank = strspn(line, " \t\r");
        if (blank < n && line[blank] != '#') {
            strbuf_add(out, out->n ? "; " : "");
            strbuf_add_bytes(out, line + blank, n - blank);
        }
        line += n + (line[n] == '\n');
    }
}

/* What the record says was given: options of the reader, and what the file of --params says now: it
 * may say something else tomorrow. A file that cannot be read is an error soon enough. */
static const char *run_keep_given(struct weft_run *run, const char *const *read)
{
    static const char params[] = "--params=";
    struct strbuf out = {0};
    for (; read && *read; read++) {
        struct text text = {0};
        struct error ignored = {0};
        bool file = strncmp(*read, params, sizeof params - 1) == 0;
        strbuf_printf(&out, "%s%s", out.n ? "; " : "", *read);
        bool stream = strcmp(*read + (file ? sizeof params - 1 : 0), "-") == 0; /* read once */
        if (file && !stream && file_read(*read + sizeof params - 1, &text, &ignored)) {
            run_add_lines(&out, text.at);
            text_free(&text);
        }
    }
    if (!out.n)
        return NULL;
    char *given = strbuf_steal(&out);
    array_push(&run->texts, given);
    return given;
}

/* What `gpu=auto` stands for is another thing on another machine: over ssh agents find out, Slurm has to
 * be told how many. */
static bool run_resources(const struct weft_run_options *o, struct strbuf *out, struct error *err)
{
    bool automatic = o->resources && strstr(o->resources, "gpu=auto");
    if (automatic && o->on && strncmp(o->on, "ssh:", 4) == 0) {
        strbuf_add(out, o->resources);
        return true;
    }
    if (automatic && o->on && strcmp(o->on, "slurm") == 0)
        return error_set(err, ERROR_INPUT,
                         "--resources gpu=auto: Slurm has to be asked for so many; say how many an "
                         "agent gets: --resources gpu=2");
    return resources_resolve(o->resources, out, err);
}

/* Only what the handle itself remembers; the session takes its part by run_handle_session(). */
struct weft_run *run_handle_new(const struct weft_run_options *options, struct error *err)
{
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    if (!api_options(&o, options, err))
        return NULL;
    if (!api_risk(o.risk, err))
        return NULL;
    struct strbuf resources = {0};
    enum plan_follow follow = FOLLOW_DEFAULT;
    if (o.follow && !plan_follow_parse(o.follow, &follow)) {
        error_set(err, ERROR_INPUT, "--follow is '%.100s'; expected strict, order or hint",
                  o.follow);
        return NULL;
    }
    if (!run_resources(&o, &resources, err)) {
        strbuf_free(&resources);
        return NULL;
    }
    struct weft_run *run = mem_new_zero(struct weft_run, 1);
    run->resources = resources.n ? run_keep_text(run, resources.at) : NULL;
    strbuf_free(&resources);
    run->to = (struct event_target){o.event, o.context};
    run->planning = o.planning;
    run->follow = follow;
    run->on_agents = o.on != NULL;
    run->place = (struct remote_options){
        .place = {.store = run_keep_text(run, o.store),
                  .key = run_keep_text(run, o.key),
                  .folder = run_keep_text(run, o.folder)},
        .on = run_keep_text(run, o.on),
        .nodes = o.nodes,
        .submit = run_keep_text(run, o.submit),
        .policy = run_keep_text(run, o.policy),
        .shared = o.shared       ? CLIENT_SHARED_YES
                  : o.not_shared ? CLIENT_SHARED_NO
                                 : CLIENT_SHARED_LOOK,
        .adds = o.adds,
        .later = o.later,
        .priority = o.priority,
        .program = run_keep_text(run, o.program),
    };
    return run;
}

void run_handle_free(struct weft_run *run)
{
    for (size_t i = 0; i < run->texts.n; i++)
        free(run->texts.at[i]);
    array_free(&run->texts);
    weft_platform_free(run->platform);
    free(run->asked_options);
    free(run->failures);
    free(run->task_state);
    strbuf_free(&run->said);
    free(run);
}

/* Texts in the result are still the caller's: session_begin() copies what it keeps. */
struct session_options run_handle_session(struct weft_run *run, const struct weft_run_options *o,
                                          const char *flow)
{
    struct weft_run_options mine = WEFT_RUN_OPTIONS_INIT;
    (api_options)(&mine, sizeof mine, o, NULL);
    return (struct session_options){
        .flow = flow,
        .folder = mine.folder,
        .targets = mine.targets,
        .since = mine.since,
        .cores = mine.cores,
        .memory = mine.memory,
        .given = run_keep_given(run, mine.read),
        .place = run->on_agents ? run_keep_text(run, mine.on ? mine.on : "cluster") : NULL,
        .has = run_keep_text(run, mine.has),
        .resources = run->resources,
        .disk = mine.disk,
        .in_memory = mine.in_memory,
        .spill = run_keep_text(run, mine.spill),
        .data_memory = mine.data_memory,
        .retry_first = mine.retry_delay,
        .force = mine.force,
        .resume = mine.resume,
        .keep_going = mine.keep_going,
        .unlimited = mine.no_limits,
        .no_sandbox = mine.no_sandbox,
        .overwrite = mine.overwrite,
        .keep_failed = mine.keep_failed,
        .keep_results = mine.keep_results,
        .no_history = mine.no_history,
        .risk = mine.risk,
        .look = mine.look,
        .wait = mine.wait,
        .adds = mine.adds,
        .elsewhere = run->on_agents,
        .remarks = api_remarks(&run->to),
    };
}

/* The workflow is the final one from here on (for agents it was read again out of its text). */
void run_handle_opened(struct weft_run *run)
{
    run->view = (struct weft_workflow){.model = run->session.w};
    run->task_state = mem_new_zero(uint8_t, (size_t)run->session.w->ntasks + 1);
    run->counts.tasks = run->session.w->ntasks;
    run->session.tick = run_events_on_tick;
    run->session.tick_context = run;
}

/* ---- opening ---- */

/* The workflow in a file, as the options want it read. NULL: an error. */
static struct workflow *run_read_workflow(struct session *s, const char *path,
                                          const struct weft_run_options *options, struct error *err)
{
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    (api_options)(&o, sizeof o, options, NULL);
    const struct format *format = o.format ? format_find(o.format) : NULL;
    struct api_pairs pairs = {0};
    if (o.format && !format) {
        error_set(err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them", o.format);
        return NULL;
    }
    if (!api_pairs_split(&pairs, o.read, err))
        return NULL;
    struct format_file *f = format_file_open(path, format, pairs.at, err);
    struct workflow *w = NULL;
    if (f && format_file_is_plan(f))
        error_set(err, ERROR_INPUT, "%s is a plan; `weft run FLOW --plan %s` runs it", path, path);
    else if (f)
        w = session_read(s, f, err);
    format_file_close(f);
    api_pairs_free(&pairs);
    for (uint32_t i = 0; w && i < w->nwarnings; i++)
        remark(&s->o.remarks, REMARK_INFO, "note: %s", w->warnings[i]);
    return w;
}

/* Mistakes in the options first, then the workflow, then its folder. The folder's memo is being read
 * by a thread while the workflow is: see session/workspace.h. */
static bool run_open_file(struct weft_run *run, const char *path,
                          const struct weft_run_options *options, struct error *err)
{
    struct session_options so = run_handle_session(run, options, path);
    if (run->on_agents && !remote_check(&run->place, err))
        return false;
    session_begin(&run->session, &so);
    struct workflow *w = run_read_workflow(&run->session, path, options, err);
    if (!session_open(&run->session, w, err))
        return false;
    run_handle_opened(run);
    return true;
}

struct workflow *run_copy_workflow(const struct workflow *w, const char *folder, struct error *err)
{
    const struct format *native = format_find("native");
    struct strbuf text = {0};
    struct workflow *copy = NULL;
    if (native->write_workflow(w, &text, NULL, err))
        copy = native->read_workflow(&(struct format_source){.path = workflow_text(w, w->file),
                                                             .text = text.at,
                                                             .length = text.n,
                                                             .folder = folder},
                                     err);
    strbuf_free(&text);
    return copy ? workflow_take_lines(copy, w) : NULL;
}

/* Its name stands for the file that it does not have, in messages and in the record. */
static bool run_open_model(struct weft_run *run, const struct workflow *w,
                           const struct weft_run_options *options, struct error *err)
{
    char name[256];
    struct session_options so =
        run_handle_session(run, options, workflow_display_name(w, name, sizeof name));
    if (!so.folder)
        so.folder = ".";
    if (run->on_agents && !remote_check(&run->place, err))
        return false;
    session_begin(&run->session, &so);
    if (!session_open(&run->session, run_copy_workflow(w, so.folder, err), err))
        return false;
    run_handle_opened(run);
    return true;
}

/* The name that it was recorded under stands for its file, as it does for built ones. */
static bool run_open_recorded(struct weft_run *run, const char *which,
                              const struct weft_run_options *options, struct error *err)
{
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    int64_t number = 0;
    char *folder = NULL;
    mem_guard_enter(&guard, recorded_abandon, h);
    struct workflow *w = h && recorded_number(h, which, &number, err)
                             ? recorded_graph(h, number, &folder, err)
                             : NULL;
    mem_guard_leave(&guard);
    history_close(h);
    bool ok = false;
    if (w) {
        struct weft_run_options own = WEFT_RUN_OPTIONS_INIT;
        ok = api_options(&own, options, err);
        own.folder = own.folder ? own.folder : folder;
        ok = ok && run_open_model(run, w, &own, err);
    }
    workflow_free(w);
    free(folder);
    return ok;
}

/* A failed opening is taken apart again, in the order of weft_run_close(). When memory ran out in it
 * the structures may be half made: their blocks are lost, but nothing keeps the folder. */
static struct weft_run *run_opened(struct run_call *call, struct weft_run *run)
{
    if (run_call_end(call))
        return run;
    if (run && !call->boundary.failed) {
        remote_close(&run->remote);
        session_close(&run->session);
        run_handle_free(run);
    } else if (run) {
        session_abandon(&run->session);
        run_handle_free(run);
    }
    return NULL;
}

/* `run` is volatile here and below: it is set inside the call and read after it may have been left by
 * a jump. A handle that does not exist yet cannot remember that it is broken, so a local does. */
EXPORT struct weft_run *weft_run_open(const char *path, const struct weft_run_options *options,
                                      struct weft_error *error)
{
    struct weft_run *volatile run = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        run = run_handle_new(options, &call.err);
        call.good = run && run_open_file(run, path, options, &call.err);
    }
    return run_opened(&call, run);
}

EXPORT struct weft_run *weft_run_open_workflow(const struct weft_workflow *w,
                                               const struct weft_run_options *options,
                                               struct weft_error *error)
{
    struct weft_run *volatile run = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        run = run_handle_new(options, &call.err);
        call.good = run && run_open_model(run, w->model, options, &call.err);
    }
    return run_opened(&call, run);
}

EXPORT struct weft_run *weft_run_open_recorded(const char *which,
                                               const struct weft_run_options *options,
                                               struct weft_error *error)
{
    struct weft_run *volatile run = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        run = run_handle_new(options, &call.err);
        call.good = run && run_open_recorded(run, which, options, &call.err);
    }
    return run_opened(&call, run);
}

/* The remote opens the session itself: only the ticket on the board knows the workflow. */
static bool run_attach(struct weft_run *run, uint64_t number,
                       const struct weft_run_options *options, struct error *err)
{
    run->on_agents = run->attached = true;
    struct session_options so = run_handle_session(run, options, "");
    if (!remote_attach(&run->remote, &run->session, &run->place, &so, number, err))
        return false;
    run_handle_opened(run);
    return true;
}

EXPORT struct weft_run *weft_run_attach(uint64_t number, const struct weft_run_options *options,
                                        struct weft_error *error)
{
    struct weft_run *volatile run = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        run = run_handle_new(options, &call.err);
        call.good = run && run_attach(run, number, options, &call.err);
    }
    return run_opened(&call, run);
}

/* A broken run is not taken apart: what it held may be half changed. Its children end, the folder is
 * free for others, and the handle alone is freed. */
EXPORT void weft_run_close(struct weft_run *run)
{
    if (!run)
        return;
    RUN_CALL(call, NULL, &run->broken)
    {
        struct error ignored = {0};
        /* a run that was never waited for is stopped here: its record says cancelled */
        if (run->started && !run->over)
            session_finish(&run->session, &ignored); /* ends what still runs */
        remote_close(&run->remote);                  /* I2 */
        if (run->experiment)
            run->experiment->e.merged->workflow = NULL; /* it is the session's, and goes now */
        session_close(&run->session);
        call.good = true;
    }
    run_call_end(&call);
    if (run->broken)
        session_abandon(&run->session);
    run_handle_free(run);
}

EXPORT const struct weft_workflow *weft_run_workflow(const struct weft_run *run)
{
    return &run->view;
}

EXPORT const char *weft_run_name(const struct weft_run *run)
{
    return run->session.name;
}

EXPORT const char *weft_run_folder(const struct weft_run *run)
{
    return run->session.ws.folder;
}

/* ---- running ---- */

/* The start is reported before the first task can begin, and before our own listener: who adds
 * listeners of his own in that event hears everything. */
static bool run_start(struct weft_run *run, struct error *err)
{
    struct session *s = &run->session;
    if (run->started)
        return error_set(err, ERROR_FAILED, "the run was started already");
    if (s->o.look)
        return error_set(err, ERROR_FAILED, "the run was opened to look only");
    if (!run->attached && !session_restore(s, err))
        return false;
    if (!run->attached && !session_surround(s, err)) /* before anybody is started for it */
        return false;
    if (!run->attached && !run_plan_asserted(run, err))
        return false;
    if (run->on_agents && !run->attached && s->needs.run && /* nothing to do needs nobody */
        (!remote_open(&run->remote, s, &run->place, err) || !run_plan_on_agents(run, err)))
        return false;
    if (!run->on_agents && !session_fits(s, err))
        return false;
    session_prepare(s);
    run->started = true;
    run_events_report(run, WEFT_EVENT_STARTED);
    run_events_listen(run);
    /* From here on it has a record and a mark: whatever happens is completed by weft_run_wait(). */
    struct error late = {0};
    session_go(s, &late); /* a failure is the run's, told by its result */
    return true;
}

EXPORT bool weft_run_start(struct weft_run *run, struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    call.good = run_start(run, &call.err);
    return run_call_end(&call);
}

/* Made at the first call and the same from then on: an event loop keeps it. */
EXPORT int weft_run_fd(struct weft_run *run)
{
    return run->broken || run->over ? -1 : session_fd(&run->session);
}

/* `more` is volatile: it is read after the call may have been left by a jump. */
EXPORT bool weft_run_step(struct weft_run *run, double wait, struct weft_error *error)
{
    volatile bool more = false;
    RUN_CALL(call, error, &run->broken)
    {
        more = session_step(&run->session, wait);
        call.good = true;
    }
    return run_call_end(&call) && more;
}

EXPORT bool weft_run_add(struct weft_run *run, const struct weft_workflow *more,
                         struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        struct session *s = &run->session;
        struct workflow *copy = run_copy_workflow(more->model, s->ws.folder, &call.err);
        call.good = copy && session_add(s, copy, &call.err);
    }
    return run_call_end(&call);
}

/* The result in public structs, which point into the session's. */
/* The texts stay the session's, which lives as long as the run: nothing is copied but numbers. */
static void run_fill_result(struct weft_run *run)
{
    const struct session *s = &run->session;
    const struct run_result *x = &s->result;
    run->failures = mem_new_zero(struct weft_failure, x->failures.n + 1);
    for (size_t i = 0; i < x->failures.n; i++) {
        const struct run_failure *f = &x->failures.at[i];
        run->failures[i] = (struct weft_failure){.task = f->task,
                                                 .attempt = f->attempt,
                                                 .name = workflow_task_name(s->w, f->task),
                                                 .outcome = (enum weft_outcome)f->outcome,
                                                 .status = f->status,
                                                 .limit = f->limit,
                                                 .text = f->text,
                                                 .log = f->log,
                                                 .last = f->last};
    }
    run->result = (struct weft_result){.tasks = s->w->ntasks,
                                       .restored = s->record.restored,
                                       .done = x->done,
                                       .reused = x->reused,
                                       .failed = x->failed,
                                       .skipped = x->skipped,
                                       .attempts = x->attempts,
                                       .orphans = x->orphans,
                                       .stopped = x->interrupted,
                                       .detached = s->detached,
                                       .seconds = x->seconds,
                                       .busy = x->busy,
                                       .cpu = x->cpu,
                                       .peak_memory = s->record.peak_memory,
                                       .peak_disk = s->record.peak_disk,
                                       .log_bytes = x->log_bytes,
                                       .logs = s->logs,
                                       .failures = run->failures,
                                       .nfailures = x->failures.n,
                                       .remarks = (const char *const *)x->remarks.at,
                                       .nremarks = x->remarks.n,
                                       .untaken = x->untaken,
                                       .excused = x->excused};
}

/* Also the way to complete a run that was stepped to its end: session_step() then returns at once. */
static bool run_wait(struct weft_run *run, struct error *err)
{
    if (!run->started)
        return error_set(err, ERROR_FAILED, "the run was not started");
    while (session_step(&run->session, -1))
        ;
    /* ends what still runs, closes the record, takes the mark of a crash away */
    bool good = session_finish(&run->session, err);
    if (!run->over) {
        run->over = true;
        run_fill_result(run);
        run_events_report(run, WEFT_EVENT_OVER);
    }
    return good;
}

EXPORT bool weft_run_wait(struct weft_run *run, struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    call.good = run_wait(run, &call.err);
    return run_call_end(&call);
}

EXPORT void weft_run_stop(struct weft_run *run)
{
    /* I1. A remote that is not open yet counts the stop and passes it on once it is. */
    if (run->on_agents)
        remote_stop(&run->remote);
    else
        session_stop(&run->session);
}

EXPORT void weft_run_detach(struct weft_run *run)
{
    if (run->on_agents)
        remote_detach(&run->remote);
    else
        session_stop(&run->session);
}

/* Its number on the cluster is asked for afterwards, too. */
EXPORT void weft_run_release(struct weft_run *run)
{
    RUN_CALL(call, NULL, &run->broken)
    {
        run->cluster_number = run->remote.run ? run->remote.run : run->cluster_number;
        remote_close(&run->remote);
        call.good = true;
    }
    run_call_end(&call);
}

/* ---- results ---- */

EXPORT const struct weft_result *weft_run_result(struct weft_run *run)
{
    return run->over ? &run->result : NULL;
}

EXPORT bool weft_run_cause(struct weft_run *run, size_t i, struct weft_cause *out)
{
    return run->over && api_cause(&run->session.record, i, out);
}

EXPORT int64_t weft_run_number(const struct weft_run *run)
{
    return run->session.record.run;
}

EXPORT uint64_t weft_run_cluster_number(const struct weft_run *run)
{
    return run->remote.run ? run->remote.run : run->cluster_number;
}

EXPORT char *weft_log_tail(const char *path)
{
    return log_tail(path);
}

EXPORT void weft_adopt_orphans(void)
{
    children_adopt_orphans();
}

/* ---- inside ---- */

const struct session *inside_run(const struct weft_run *run)
{
    return &run->session;
}

void inside_explain_detached(const struct weft_run *run, struct strbuf *out)
{
    remote_explain_detached(&run->remote, out);
}

void inside_listen(struct weft_run *run, struct trace_sink sink)
{
    session_listen(&run->session, sink);
}
