/* A stream that plans as it goes: the first items without a plan, to measure; then by a plan for the throughput
 * or the latency that was asked for; and by another when times have left what that one assumed.
 *
 *     no plan ── some items, or seconds ──▶ plan ──▶ by it ── times have changed ──▶ plan again ...
 *                                                      └── the source ends ──▶ over
 *
 * I1. Flows that have paused stay until the stream is closed: figures and stops may come from other threads at
 *     any time, and find either the old flow or the new one. */
#include "api/stream_handle.h"

#include "base/clock.h"
#include "base/plural.h"
#include "plan/stream/mos.h"
#include "session/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t measured_items = 16; /* to begin with */
static const double measured_seconds = 3;  /* of which at least four are enough, after so long */
static const uint64_t judged_items = 20;   /* before times are compared with what was assumed */
static const double judged_every = 2;      /* seconds */
static const double too_slow = 1.25, too_fast = 0.6; /* of a cluster's time, as it was assumed */

struct stream_planned {
    double *assumed;          /* seconds by task; what the plan was made with */
    ARRAY(struct flow *) old; /* I1 */
    ARRAY(struct weft_plan *) plans;
    double judged;    /* when times were last looked at */
    bool measuring;   /* the first items */
    bool unplannable; /* as times are now: not tried again */
    char why[256];    /* that it pauses, for people */
};

/* Who gives few items, of which nothing is planned, hears as well of what is no throughput, or no time. What cannot be had is said when
 * it is planned. */
static bool planned_asks_well(const struct weft_stream_options *o, struct error *err)
{
    const struct planner *planner = planner_find("stream");
    struct option_value asked = o->throughput ? (struct option_value){"throughput", o->throughput}
                                              : (struct option_value){"latency", o->latency};
    struct plan_request request = {.options = &asked, .noptions = 1};
    struct stream_target target;
    struct error why = {0};
    if (stream_target_read(&request, planner, &target, &why) || why.kind == ERROR_INFEASIBLE)
        return true;
    return error_set(err, why.kind, "%s", why.text);
}

bool stream_planned_check(struct weft_stream *s, const struct weft_plan *plan, struct error *err)
{
    const struct weft_stream_options *o = &s->options;
    if (!o->throughput && !o->latency)
        return true;
    if (plan || s->helpers || (o->throughput && o->latency))
        return error_set(
            err, ERROR_INPUT,
            "a stream that plans as it goes asks for a throughput or a latency, has no "
            "plan, and its filters run here");
    if (!o->platform)
        return error_set(err, ERROR_INPUT, "a stream that plans as it goes needs a platform");
    if (!planned_asks_well(o, err))
        return false;
    s->planned = mem_new_zero(struct stream_planned, 1);
    s->planned->measuring = true;
    return true;
}

void stream_planned_free(struct weft_stream *s)
{
    struct stream_planned *p = s->planned;
    if (!p)
        return;
    for (size_t i = 0; i < p->old.n; i++)
        flow_close(p->old.at[i]);
    for (size_t i = 0; i < p->plans.n; i++)
        weft_plan_free(p->plans.at[i]);
    array_free(&p->old);
    array_free(&p->plans);
    free(p->assumed);
    free(p);
}

/* ---- looking ---- */

/* The mean of a task since the last plan; NAN: too few items. A task without a command takes what it says. */
static double planned_seconds(struct weft_stream *s, uint32_t task, uint64_t least)
{
    const struct workflow *w = s->workflow->model;
    struct flow_task_figures f;
    if (!w->command || !w->command[task])
        return w->work[task];
    flow_task_now(s->flow, task, &f);
    return f.items >= least && f.items ? f.seconds / (double)f.items : NAN;
}

/* A cluster decides how many items pass, so its time is what counts; the task that changed most is named. */
static bool planned_cluster_left(struct weft_stream *s, const struct plan *plan,
                                 const struct cluster *c)
{
    struct stream_planned *p = s->planned;
    double now = 0, then = 0, most = 0;
    uint32_t named = 0;
    for (uint32_t i = 0; i < c->ntasks + c->nduplicates; i++) {
        uint32_t task =
            plan->tasks.at[i < c->ntasks ? c->tasks + i : c->duplicates + i - c->ntasks];
        double seconds = planned_seconds(s, task, judged_items);
        if (isnan(seconds))
            return false;
        now += seconds;
        then += p->assumed[task];
        if (fabs(seconds - p->assumed[task]) >= most) {
            most = fabs(seconds - p->assumed[task]);
            named = task;
        }
    }
    if (now <= too_slow * then && now >= too_fast * then)
        return false;
    snprintf(p->why, sizeof p->why, "task '%.80s' takes %.3g ms, and %.3g ms were planned for",
             workflow_task_name(s->workflow->model, named),
             1000 * planned_seconds(s, named, judged_items), 1000 * p->assumed[named]);
    return true;
}

void stream_planned_tick(struct weft_stream *s)
{
    struct stream_planned *p = s->planned;
    struct flow_figures f;
    double now = clock_seconds();
    if (!p || p->unplannable)
        return;
    if (p->measuring) {
        flow_figures(s->flow, &f);
        if (f.done >= 4 && f.seconds > measured_seconds)
            flow_pause_at(s->flow, 0);
        return;
    }
    if (now - p->judged < judged_every || !p->plans.n)
        return;
    p->judged = now;
    const struct plan *plan = p->plans.at[p->plans.n - 1]->model;
    for (size_t i = 0; i < plan->clusters.n; i++)
        if (planned_cluster_left(s, plan, &plan->clusters.at[i])) {
            flow_pause_at(s->flow, 0);
            return;
        }
}

/* ---- planning ---- */

/* The workflow with the times that were measured. */
static struct weft_workflow *planned_workflow(struct weft_stream *s, double *seconds,
                                              struct error *err)
{
    struct weft_error error;
    size_t n;
    char *text = weft_workflow_write_text(s->workflow, NULL, &n, &error);
    struct workflow *w = text ? place_read_workflow(text, n, err) : NULL;
    weft_text_free(text);
    if (!w || w->ntasks != s->workflow->model->ntasks) {
        workflow_free(w);
        error_set(err, ERROR_FAILED, "the workflow cannot be planned with measured times");
        return NULL;
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double now = planned_seconds(s, t, 1);
        seconds[t] = isnan(now) ? (s->planned->assumed ? s->planned->assumed[t] : w->work[t]) : now;
        w->work[t] = seconds[t];
    }
    return api_workflow(w);
}

/* What keeps state is not duplicated: a copy would begin without what the original knows. */
static struct weft_plan *planned_plan(struct weft_stream *s, const struct weft_workflow *w,
                                      struct error *err)
{
    const struct weft_stream_options *o = &s->options;
    struct weft_plan_options po = WEFT_PLAN_INIT;
    struct weft_error error;
    char asked[96];
    bool state = false;
    for (uint32_t t = 0; t < w->model->ntasks; t++)
        state |= w->model->flags[t] & TASK_NOT_REPLICABLE;
    snprintf(asked, sizeof asked, "%s=%.60s", o->throughput ? "throughput" : "latency",
             o->throughput ? o->throughput : o->latency);
    const char *set[] = {asked, state ? "duplication=off" : NULL, NULL};
    po.options = set;
    struct weft_plan *plan = weft_plan_make(w, s->platform, "stream", &po, &error);
    if (!plan)
        error_set(err, (enum error_kind)error.status, "%.1000s", error.text);
    return plan;
}

static void planned_say(struct weft_stream *s, const struct weft_plan *plan)
{
    struct stream_planned *p = s->planned;
    char text[512];
    snprintf(text, sizeof text, "%s%s: by a plan of %zu cluster%s for %.4g items/s", p->why,
             *p->why ? "; planned again" : "planned with the times of the first items",
             plan->model->clusters.n, plural(plan->model->clusters.n),
             plan_objective(plan->model, "throughput"));
    flow_remark(s->flow, text);
}

/* The next flow in place of the one that paused. False: an error. */
static bool planned_go_on(struct weft_stream *s, struct error *err)
{
    struct stream_planned *p = s->planned;
    double *seconds = mem_new_zero(double, s->workflow->model->ntasks + 1);
    struct weft_workflow *w = planned_workflow(s, seconds, err);
    struct weft_plan *plan = w ? planned_plan(s, w, err) : NULL;
    weft_workflow_free(w);
    struct flow *old = s->flow, *next = NULL;
    if (!plan && err->kind == ERROR_INFEASIBLE && p->plans.n) { /* with the old plan, then */
        flow_remark(old, err->text);
        error_clear(err);
        p->unplannable = true;
        next = flow_next(old, p->plans.at[p->plans.n - 1]->model, s->platform->model, err);
    } else if (plan) {
        planned_say(s, plan);
        array_push(&p->plans, plan);
        next = flow_next(old, plan->model, s->platform->model, err);
    }
    free(p->assumed);
    p->assumed = seconds;
    p->measuring = false;
    p->judged = clock_seconds();
    if (!next) {
        flow_end_paused(old);
        return false;
    }
    array_push(&p->old, old);
    atomic_store(&s->flow, next);
    if (flow_stopped(old)) /* I1: a stop that met the old one */
        flow_stop(next);
    return true;
}

/* Who asked for a rate should know that nothing was planned. */
static void planned_say_none(struct weft_stream *s)
{
    char text[256];
    struct flow_figures f;
    flow_figures(s->flow, &f);
    if (!s->planned->measuring || !f.done)
        return;
    snprintf(
        text, sizeof text,
        "nothing was planned: the stream ended after %llu item%s, and the first %llu are measured",
        (unsigned long long)f.done, plural(f.done), (unsigned long long)measured_items);
    flow_remark(s->flow, text);
}

bool stream_planned_run(struct weft_stream *s, struct error *err)
{
    flow_pause_at(s->flow, measured_items);
    for (;;) {
        if (!flow_run(s->flow, err))
            return false;
        if (!flow_paused(s->flow)) {
            planned_say_none(s);
            return true;
        }
        if (!planned_go_on(s, err))
            return false;
    }
}
