/* weft/run.h: before a run starts. In which order tasks are preferred, what would run, why, and what it
 * is expected to take. Nothing here changes a file. */
#include "api/run_handle.h"
#include "base/strbuf.h"
#include "formats/format.h"
#include "plan/planner.h"
#include "session/following.h"
#include "session/machine.h"
#include "session/past.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- orders ---- */

/* The plan is of these tasks, under these numbers. */
static bool run_is_plan_of(const struct workflow *planned, const struct workflow *w,
                           struct error *err)
{
    for (uint32_t t = 0; t < planned->ntasks || t < w->ntasks; t++)
        if (t >= w->ntasks || t >= planned->ntasks ||
            strcmp(workflow_task_name(planned, t), workflow_task_name(w, t)) != 0)
            return error_set(err, ERROR_INPUT,
                             "the plan is of another workflow: task %u is not the same", t + 1);
    return true;
}

/* The plan's platform stays with the run: constraints ask about it afterwards. */
EXPORT bool weft_run_follow(struct weft_run *run, const struct weft_plan *plan,
                            struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        struct weft_platform *kept = api_platform_keep(plan->platform);
        weft_platform_free(run->platform);
        run->platform = kept;
        run->planned = true;
        call.good = run_is_plan_of(plan->workflow->model, run->session.w, &call.err) &&
                    following_take(&run->session, plan_copy(plan->model), kept->model, true,
                                   run->follow, &call.err);
    }
    return run_call_end(&call);
}

/* The plan is read against our workflow: one of another workflow is an error that names the task. */
static bool run_follow_file(struct weft_run *run, const char *path, struct error *err)
{
    struct plan_file *f = plan_file_open(path, err);
    if (!f)
        return false;
    const char *on = plan_file_platform(f);
    struct platform *p = on ? machine_named(on, err) : session_platform(&run->session, err);
    struct plan *plan = p ? plan_file_read(f, run->session.w, p, err) : NULL;
    plan_file_close(f);
    run->planned = true;
    if (!plan) {
        platform_free(p);
        return false;
    }
    struct error why = {0};
    if (following_take(&run->session, plan, p, false, run->follow, &why))
        return true;
    return error_set(err, why.kind, "%s: %s", path, why.text);
}

EXPORT bool weft_run_follow_file(struct weft_run *run, const char *path, struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    call.good = run_follow_file(run, path, &call.err);
    return run_call_end(&call);
}

/* A plan that is to be kept to must not be made of guesses. */
static bool run_knows_times(const struct weft_run *run, const struct planner *planner,
                            struct error *err)
{
    const struct session *s = &run->session;
    uint32_t unknown = 0, first = NONE;
    bool strict = run->follow == FOLLOW_STRICT ||
                  (run->follow == FOLLOW_DEFAULT && planner == planner_find("constraints"));
    for (uint32_t t = 0; strict && t < s->w->ntasks; t++) {
        bool seen = s->predicted && s->predicted[t].samples;
        if (seen || s->w->flags[t] & TASK_HAS_WORK || !s->w->command[t])
            continue;
        first = unknown++ ? first : t;
    }
    if (!unknown)
        return true;
    return error_set(err, ERROR_INFEASIBLE,
                     "%s: nobody knows how long task '%.100s' takes%s, so that a plan would be a "
                     "guess; state its `work:` in seconds, or run once with --follow hint, which "
                     "measures it",
                     s->flow, workflow_task_name(s->w, first), unknown > 1 ? " (and others)" : "");
}

/* Planned on the times that are expected (session_predict), not on those that the file states. */
static bool run_plan_by(struct weft_run *run, const struct planner *planner,
                        const struct plan_request *request, struct error *err)
{
    struct session *s = &run->session;
    struct plan_request mine = *request;
    bool processors = strcmp(planner->name, "constraints") == 0;
    session_predict(s);
    if (!run_knows_times(run, planner, err))
        return false;
    /* the session owns its workflow: its times may be set without anybody else seeing it */
    double *work = run_forecast_guesses(s->seconds, s->w->ntasks);
    workflow_set_work(s->w, work, NULL);
    free(work);
    uint32_t *agents = NULL;
    struct platform *p = run->on_agents ? following_agents(s, run->remote.client, &agents, err)
                                        : following_platform(s, processors, err);
    struct progress progress = {run_events_planning, run};
    mine.workflow = s->w;
    mine.platform = p;
    mine.progress = run->planning ? &progress : NULL;
    bool named = !p || !processors || following_names_nodes(s, &mine, p, err);
    struct plan *plan = p && named ? following_search(s, planner, &mine, p, err) : NULL;
    if (plan && following_take(s, plan, p, false, run->follow, err)) {
        s->following->agent = agents;
        return true;
    }
    if (!plan)
        platform_free(p);
    free(agents);
    return false;
}

/* Who will run it is known when the agents are there: until then what was asked for is remembered. The
 * texts of the options are the caller's: copies stay with the run. */
static void run_ask_later(struct weft_run *run, const struct planner *planner,
                          const char *const *options, uint64_t seed)
{
    size_t n = 0;
    while (options && options[n])
        n++;
    free(run->asked_options);
    run->asked_options = mem_new_zero(const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        run->asked_options[i] = run_keep_text(run, options[i]);
    run->asked = planner;
    run->asked_seed = seed;
}

/* The planner is looked at before anything is predicted: a wrong word costs no time. */
static bool run_plan(struct weft_run *run, const char *name, const char *const *options,
                     uint64_t seed, bool order_only, struct error *err)
{
    const struct planner *planner = planner_find(name ? name : "constraints");
    struct api_pairs pairs;
    run->planned = true;
    if (!name && !run->session.w->nassertions)
        return true;
    if (!planner)
        return planner_unknown(name, err);
    if (planner->accepts & ACCEPTS_STREAM)
        return error_set(err, ERROR_INPUT, "'%s' plans a stream of items; a run takes one", name);
    if (order_only && !(planner->accepts & ACCEPTS_ORDER))
        return error_set(err, ERROR_INPUT,
                         "--order %s: that planner makes plans, not orders; --with %s", name, name);
    if (!api_pairs_split(&pairs, options, err))
        return false;
    if (run->on_agents && !run->remote.client) {
        bool fine = planner_check_options(planner, pairs.at, pairs.n, err);
        api_pairs_free(&pairs);
        run_ask_later(run, planner, options, seed);
        return fine;
    }
    /* the texts stay where api_pairs_split() put them until the plan is made */
    bool good = run_plan_by(
        run, planner,
        &(struct plan_request){.options = pairs.at, .noptions = pairs.n, .seed = seed}, err);
    api_pairs_free(&pairs);
    return good;
}

/* Without work to do nobody was asked to come, and nothing is planned. */
bool run_plan_on_agents(struct weft_run *run, struct error *err)
{
    return !run->asked ||
           run_plan(run, run->asked->name, run->asked_options, run->asked_seed, false, err);
}

bool run_plan_asserted(struct weft_run *run, struct error *err)
{
    return run->planned || run_plan(run, NULL, NULL, 1, false, err);
}

EXPORT bool weft_run_plan(struct weft_run *run, const char *planner, const char *const *options,
                          uint64_t seed, bool order_only, struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    call.good = run_plan(run, planner, options, seed, order_only, &call.err);
    return run_call_end(&call);
}

/* ---- ahead ---- */

EXPORT bool weft_run_forecast(struct weft_run *run, struct weft_forecast *out,
                              struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        struct session *s = &run->session;
        session_predict(s);
        session_recall_failures(s);
        call.good = run->on_agents || session_fits(s, &call.err);
        *out = (struct weft_forecast){.tasks = s->w->ntasks,
                                      .to_run = s->needs.run,
                                      .done = s->needs.skip,
                                      .known = s->ahead.known,
                                      .cores = s->cores,
                                      .seconds = s->ahead.no_time ? NAN : s->ahead.seconds,
                                      .memory = s->ahead.no_memory ? NAN : s->ahead.memory,
                                      .disk = s->ahead.no_size ? NAN : s->ahead.disk};
    }
    return run_call_end(&call);
}

/* Without a forecast before, the expected time and memory are not known. */
EXPORT bool weft_run_need(struct weft_run *run, uint32_t task, struct weft_need *out,
                          struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        const struct session *s = &run->session;
        if (task >= s->w->ntasks) {
            error_set(&call.err, ERROR_INPUT, "there is no task %u", task);
        } else {
            bool runs = need_runs(&s->needs, task);
            *out = (struct weft_need){.runs = runs,
                                      .reason = runs || s->needs.task[task] == NEED_KEPT
                                                    ? need_name(s->needs.task[task])
                                                    : NULL,
                                      .seconds = s->seconds ? s->seconds[task] : NAN,
                                      .memory = s->task_memory ? s->task_memory[task] : NAN};
            call.good = true;
        }
    }
    return run_call_end(&call);
}

/* Asked for a family, the answer is about one of its members: which part of them would run. */
static void ahead_add_family(const struct session *s, const char *asked, uint32_t task,
                             struct strbuf *out)
{
    const struct workflow *w = s->w;
    size_t n = strlen(asked);
    uint32_t members = 0, run = 0;
    if (strcmp(workflow_task_name(w, task), asked) == 0 || workflow_find_object(w, asked) != NONE)
        return;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t);
        bool member = strncmp(name, asked, n) == 0 && name[n] == '@';
        members += member;
        run += member && need_runs(&s->needs, t);
    }
    if (members) /* a file, spelled in another way, has none */
        strbuf_printf(out, "(%u of the %u of '%s' would run) ", run, members, asked);
}

EXPORT const char *weft_run_why(struct weft_run *run, const char *task_or_file,
                                struct weft_error *error)
{
    RUN_CALL(call, error, &run->broken)
    {
        struct session *s = &run->session;
        uint32_t task = session_find_task(s, task_or_file, &call.err);
        strbuf_clear(&run->said);
        session_recall_failures(s);
        if (task != NONE) {
            strbuf_printf(&run->said, "%s ", workflow_task_name(s->w, task));
            ahead_add_family(s, task_or_file, task, &run->said);
            need_explain(&s->needs, task, &run->said);
            call.good = true;
        }
    }
    return run_call_end(&call) ? run->said.at : NULL;
}
