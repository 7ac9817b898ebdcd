/* The Plan view's answers: plans made, judged, simulated and compared by the library, written by report. */
#include "api/inside.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/front_view.h"
#include "report/plan_view.h"
#include "ui/folder.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAN_SECONDS = 20,
    FRONT_POINTS = 20
}; /* longest that anybody waits for a plan; its points */

/* What a request is about. */
struct plan_question {
    struct weft_problem problem;
    const char *options[REQUEST_VALUES + 1]; /* "name=value", as `--set` gives them */
    double until;
};

/* Searches end with what they have when the time is over. */
static bool plan_in_time(void *context, double fraction, const char *what)
{
    (void)fraction, (void)what;
    return clock_seconds() < ((struct plan_question *)context)->until;
}

/* A file of the folder; else a number of nodes, a generator or "this-machine". False: `out` says why not. */
static bool plan_platform(const struct laboratory *lab, const char *on, char **path,
                          struct reply *out)
{
    size_t digits = on ? strspn(on, "0123456789") : 0;
    if (!on || strcmp(on, "this-machine") == 0 || (digits && !on[digits]) ||
        (strchr(on, ':') && !strchr(on, '/'))) {
        *path = on ? mem_copy_string(on) : NULL;
        return true;
    }
    return (*path = folder_file(lab, on, out)) != NULL;
}

static bool plan_ask(const struct laboratory *lab, const struct request *r, struct plan_question *q,
                     struct reply *out)
{
    const char *flow = request_value(r, "flow");
    struct weft_problem_options options = WEFT_PROBLEM_INIT;
    struct weft_error error;
    size_t n = 0;
    *q = (struct plan_question){.until = clock_seconds() + PLAN_SECONDS};
    if (!flow) {
        reply_fail(out, 400, "say which workflow: ?flow=FILE");
        return false;
    }
    for (size_t i = 0; i < r->nvalues; i++)
        if (strcmp(r->name[i], "set") == 0 && r->value[i] && *r->value[i])
            q->options[n++] = r->value[i];
    char *platform = NULL, *path = folder_file(lab, flow, out);
    bool good = path && plan_platform(lab, request_value(r, "on"), &platform, out);
    options.platform = platform;
    if (good && !weft_problem_read(path, &options, &q->problem, &error)) {
        reply_error(out, &error);
        good = false;
    }
    free(path);
    free(platform);
    return good;
}

static void plan_question_free(struct plan_question *q)
{
    weft_problem_free(&q->problem);
}

static struct weft_plan_options plan_options(struct plan_question *q)
{
    struct weft_plan_options o = WEFT_PLAN_INIT;
    o.options = q->options;
    o.explain = true;
    o.progress = plan_in_time;
    o.context = q;
    return o;
}

/* GET /api/plan/planners */
static void answer_planners(const struct laboratory *lab, const struct request *r,
                            struct reply *out)
{
    (void)lab, (void)r;
    struct json_writer j;
    struct weft_planner planner;
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (size_t i = 0; weft_planner(i, &planner); i++) {
        json_write_object(&j);
        json_put_string(&j, "name", planner.name);
        json_put_string(&j, "family", planner.family);
        json_put_string(&j, "summary", planner.summary);
        json_put_text(&j, "paper", planner.paper);
        json_put_text(&j, "guarantee", planner.guarantee);
        json_put_bool(&j, "stream", planner.accepts & WEFT_ACCEPTS_STREAM);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
}

/* Every constraint, and whether the plan keeps it. */
static void plan_put_constraints(struct json_writer *j, const struct weft_plan *plan,
                                 struct plan_question *q)
{
    struct weft_error error;
    struct weft_constraint one;
    struct weft_plan_options o = plan_options(q);
    if (weft_plan_kind(plan) != WEFT_PLAN_STATIC)
        return;
    struct weft_constraints *all = weft_plan_constraints(plan, &o, &error);
    if (!all) {
        json_put_string(j, "constraints_problem", error.text);
        return;
    }
    json_write_key(j, "constraints");
    json_write_array(j);
    for (size_t i = 0; weft_constraints_get(all, i, &one); i++) {
        json_write_object(j);
        json_put_string(j, "text", one.text);
        json_put_bool(j, "requirement", one.requirement);
        json_put_bool(j, "wish", one.wish);
        json_put_bool(j, "held", one.held);
        json_put_number(j, "measure", one.measure);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    weft_constraints_free(all);
}

static void plan_put(struct json_writer *j, const struct weft_plan *plan)
{
    plan_view(j, inside_plan(plan), inside_workflow(weft_plan_workflow(plan)),
              inside_platform(weft_plan_platform(plan)));
}

/* The same in virtual time: what the simulation says happens, with its figures. */
static void plan_put_simulated(struct json_writer *j, const struct weft_plan *plan)
{
    struct weft_error error;
    struct weft_metric metric;
    struct weft_sim_options o = WEFT_SIM_INIT;
    o.keep = true;
    struct weft_sim *sim = weft_sim_plan(plan, &o, &error);
    json_write_key(j, "simulated");
    json_write_object(j);
    if (!sim) {
        json_put_string(j, "problem", error.text);
    } else {
        json_write_key(j, "figures");
        json_write_object(j);
        for (size_t i = 0; weft_sim_metric(sim, i, &metric); i++)
            json_put_number(j, metric.name, metric.value);
        json_write_end_object(j);
        if (weft_sim_happened(sim))
            plan_put(j, weft_sim_happened(sim));
    }
    json_write_end_object(j);
    weft_sim_free(sim);
}

/* GET /api/plan?flow=FILE&on=PLATFORM&with=PLANNER&set=NAME=VALUE&simulate=1 */
static void answer_plan(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct plan_question q;
    struct weft_error error;
    if (!plan_ask(lab, r, &q, out))
        return;
    struct weft_plan_options o = plan_options(&q);
    struct weft_plan *plan = weft_plan_make(q.problem.workflow, q.problem.platform,
                                            request_value(r, "with"), &o, &error);
    if (plan) {
        struct json_writer j;
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        plan_put(&j, plan);
        plan_put_constraints(&j, plan, &q);
        if (request_value(r, "simulate"))
            plan_put_simulated(&j, plan);
        json_write_end_object(&j);
    } else {
        reply_error(out, &error);
    }
    weft_plan_free(plan);
    plan_question_free(&q);
}

/* GET /api/plan/compare?flow=FILE&on=PLATFORM: every planner that suits, best first. */
static void answer_plan_compare(const struct laboratory *lab, const struct request *r,
                                struct reply *out)
{
    struct plan_question q;
    struct weft_error error;
    if (!plan_ask(lab, r, &q, out))
        return;
    struct weft_compare_options o = WEFT_COMPARE_INIT;
    struct weft_compare_row row;
    o.budget = "300ms"; /* of each that searches: a first look */
    o.progress = plan_in_time;
    o.context = &q;
    struct weft_compare *c = weft_compare_new(q.problem.workflow, q.problem.platform, &o, &error);
    if (c) {
        struct json_writer j;
        json_write_start(&j, &out->body, false);
        json_write_array(&j);
        for (size_t i = 0; weft_compare_row(c, i, &row); i++) {
            json_write_object(&j);
            json_put_string(&j, "planner", row.planner);
            json_put_number(&j, "makespan", row.makespan);
            json_put_number(&j, "speedup", row.speedup);
            json_put_number(&j, "efficiency", row.efficiency);
            json_put_number(&j, "slr", row.slr);
            json_put_number(&j, "seconds", row.seconds);
            json_put_integer(&j, "nodes_used", row.nodes_used);
            json_put_bool(&j, "valid", row.valid);
            json_put_text(&j, "failure", row.failure);
            json_write_end_object(&j);
        }
        json_write_end_array(&j);
    } else {
        reply_error(out, &error);
    }
    weft_compare_free(c);
    plan_question_free(&q);
}

/* GET /api/plan/front?flow=FILE&on=PLATFORM&with=stream: what `weft plan --front --json` prints. */
static void answer_plan_front(const struct laboratory *lab, const struct request *r,
                              struct reply *out)
{
    struct plan_question q;
    struct weft_error error;
    size_t n = 0;
    if (!plan_ask(lab, r, &q, out))
        return;
    const char *with = request_value(r, "with");
    struct weft_plan_options o = plan_options(&q);
    struct weft_plan **plans =
        weft_plan_front(q.problem.workflow, q.problem.platform, with ? with : "stream",
                        FRONT_POINTS, &o, &n, &error);
    if (plans) {
        const struct plan **models = mem_new(const struct plan *, n + 1);
        for (size_t i = 0; i < n; i++)
            models[i] = inside_plan(plans[i]);
        front_view_json(models, n, &out->body);
        free(models);
        weft_plans_free(plans, n);
    } else {
        reply_error(out, &error);
    }
    plan_question_free(&q);
}

const struct ui_route plan_routes[] = {
    {false, "~/api/plan", answer_plan},
    {false, "/api/plan/planners", answer_planners},
    {false, "~/api/plan/compare", answer_plan_compare},
    {false, "~/api/plan/front", answer_plan_front},
    {0},
};
