/* `weft sim --schedulers N`: weft_sim_schedulers() under one policy or all. */
#include "cli/sim_schedulers.h"
#include "api/inside.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "report/schedulers_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* FLOW, FLOW@TIME or FLOW@TIME:PRIORITY; what stands behind the last '@' and is no time belongs to the
 * name. */
static struct weft_workflow *beside_read(const struct arguments *a, const char *text,
                                         struct weft_sim_run *run, struct weft_error *error)
{
    const char *at = strrchr(text, '@'), *colon = at ? strchr(at, ':') : NULL;
    size_t name = strlen(text), time = at ? strlen(at + 1) : 0;
    if (colon && quantity_number(colon + 1, strlen(colon + 1), &run->priority))
        time = (size_t)(colon - at - 1);
    else
        colon = NULL;
    if (at && at > text && quantity_seconds(at + 1, time, &run->at))
        name = (size_t)(at - text);
    else
        run->at = run->priority = 0;
    char *path = mem_copy_bytes(text, name);
    struct weft_workflow *w = cli_workflow(a, path, error);
    free(path);
    return w;
}

/* --beside: the runs, of which the operand's is the first. The exit status; 0: read. */
static int beside_all(struct schedulers_question *q, const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    size_t at = 0;
    if (!arguments_given(a, "beside"))
        return 0;
    if (!q->workflow) {
        error_set(&err, ERROR_INPUT, "--beside needs a workflow to be beside: give FLOW");
        return cli_fail(&err);
    }
    q->runs = mem_new_zero(struct weft_sim_run, a->ngiven + 1);
    q->entry = mem_new_zero(struct schedulers_entry, a->ngiven + 1);
    q->run_name = mem_alloc((a->ngiven + 1) * sizeof *q->run_name);
    q->runs[q->nruns++].workflow = q->workflow;
    cli_workflow_title(q->workflow, q->run_name[0], sizeof q->run_name[0]);
    for (const char *text; (text = arguments_next(a, "beside", &at));) {
        struct weft_workflow *w = beside_read(a, text, &q->runs[q->nruns], &error);
        if (!w)
            return cli_failed(&error);
        cli_workflow_title(w, q->run_name[q->nruns], sizeof q->run_name[0]);
        q->entry[q->nruns].at = q->runs[q->nruns].at;
        q->entry[q->nruns].priority = q->runs[q->nruns].priority;
        q->runs[q->nruns++].workflow = w;
    }
    return 0;
}

/* --schedulers N, or all of a platform. */
static bool schedulers_count(const struct arguments *a, struct schedulers_question *q,
                             struct error *err)
{
    const char *text = arguments_value(a, "schedulers");
    int64_t nodes = 0;
    if (text && strcmp(text, "all") == 0) {
        if (!arguments_value(a, "on"))
            return error_set(err, ERROR_INPUT, "--schedulers all needs a platform: --on");
    } else if (!arguments_integer(a, "schedulers", 100, 1, 1 << 24, &nodes, err)) {
        return false;
    }
    q->options.schedulers = (uint32_t)nodes;
    return true;
}

int schedulers_question_read(struct schedulers_question *q, const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    int64_t cores, seed;
    struct weft_schedulers_options standard = WEFT_SCHEDULERS_INIT;
    *q = (struct schedulers_question){.options = standard};
    if (!schedulers_count(a, q, &err) ||
        !arguments_integer(a, "cores", 2, 1, 1 << 20, &cores, &err) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) ||
        !(q->settings = cli_list(a, "set", &err)))
        return cli_fail(&err);
    q->options.cores = (uint32_t)cores;
    q->options.seed = (uint64_t)seed;
    q->options.settings = q->settings;
    q->options.dag = arguments_value(a, "dag");
    if (arguments_value(a, "submit"))
        q->options.submit = arguments_value(a, "submit");
    if (a->noperands && !(q->workflow = cli_workflow(a, a->operand[0], &error)))
        return cli_failed(&error);
    const char *on = arguments_value(a, "on");
    if (on && !(q->platform = weft_platform_named(on, &error)))
        return cli_failed(&error);
    q->options.platform = q->platform;
    if (q->workflow)
        cli_workflow_title(q->workflow, q->name, sizeof q->name);
    else
        snprintf(q->name, sizeof q->name, "%s", q->options.dag ? q->options.dag : "");
    return beside_all(q, a);
}

void schedulers_question_free(struct schedulers_question *q)
{
    for (size_t i = 1; i < q->nruns; i++)
        weft_workflow_free((struct weft_workflow *)q->runs[i].workflow);
    weft_workflow_free(q->workflow);
    weft_platform_free(q->platform);
    free(q->runs);
    free(q->entry);
    free(q->run_name);
    free(q->settings);
}

/* What belongs to the other simulations is refused, not passed over. */
static bool schedulers_only_ours(const struct arguments *a, struct error *err)
{
    static const char *const ours[] = {"schedulers", "dag",         "policy", "cores",  "submit",
                                       "set",        "seed",        "from",   "read",   "json",
                                       "quiet",      "utilization", "param",  "params", "beside",
                                       "on",         "assume",      "until",  "since"};
    for (size_t i = 0; i < a->ngiven; i++) {
        const char *name = a->given[i].option->name;
        bool known = false;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            known |= strcmp(name, ours[k]) == 0;
        if (!known)
            return error_set(err, ERROR_INPUT,
                             "--%s does nothing for a cluster of schedulers; leave it out, or "
                             "--schedulers and --dag",
                             name);
    }
    if (arguments_given(a, "on") &&
        !arguments_refuse(a, "cores", "a platform (--on), which says what its nodes have", err))
        return false;
    const char *policy = arguments_value(a, "policy");
    if (policy && strcmp(policy, "all") == 0 && arguments_given(a, "beside"))
        return error_set(
            err, ERROR_INPUT,
            "--policy all compares policies on one run; with --beside give one of them");
    return a->noperands ||
           arguments_refuse(a, "from read param params on until since", "a benchmark", err);
}

/* --policy NAME, or all of them. */
static uint32_t schedulers_policies(const struct arguments *a, const char **names)
{
    const char *text = arguments_value(a, "policy");
    uint32_t n = 0;
    if (!text || strcmp(text, "all") != 0)
        names[n++] = text ? text : "flds";
    else
        while (n < SCHED_POLICY_CHOICES && weft_policy(n)) {
            names[n] = weft_policy(n);
            n++;
        }
    return n;
}

static int schedulers_show(const struct arguments *a, const struct schedulers_view *v)
{
    const char *path = arguments_value(a, "utilization");
    struct strbuf out = {0};
    struct error err = {0};
    bool good = true;
    if (path) {
        schedulers_view_chart(v, &out);
        good = cli_write_text(path, &out, &err);
        strbuf_clear(&out);
    }
    if (arguments_flag(a, "json"))
        schedulers_view_json(v, &out);
    else
        schedulers_view(v, &out);
    int status = good ? cli_print(&out) : cli_fail(&err);
    strbuf_free(&out);
    return status;
}

static int schedulers_run_all(const struct arguments *a, struct schedulers_question *q)
{
    struct weft_error error;
    struct weft_bound bound;
    struct weft_schedulers *runs[SCHED_POLICY_CHOICES] = {0};
    struct schedulers_view v = {.name = q->name,
                                .workflow = q->workflow ? inside_workflow(q->workflow) : NULL,
                                .nodes = q->options.schedulers,
                                .cores = q->options.cores,
                                .seed = q->options.seed,
                                .entries = q->entry,
                                .nruns = (uint32_t)q->nruns,
                                .run_name = (const char(*)[256])q->run_name,
                                .platform = q->platform != NULL,
                                .colour = cli_colour()};
    v.n = schedulers_policies(a, v.policy);
    q->options.progress = cli_progress_of(a, "simulating");
    bool good = true;
    for (uint32_t i = 0; i < v.n && good; i++) {
        q->options.policy = v.policy[i];
        runs[i] = q->nruns ? weft_sim_runs(q->runs, q->nruns, &q->options, &error)
                           : weft_sim_schedulers(q->workflow, &q->options, &error);
        good = runs[i] != NULL;
        v.result[i] = good ? &runs[i]->result : NULL;
        v.seconds[i] = good ? runs[i]->seconds : 0;
    }
    cli_progress_done();
    /* the bound is of one run on nodes that are alike */
    if (good && !q->nruns && !q->platform) {
        good = weft_schedulers_bound(q->workflow, &q->options, &bound, &error);
        v.bound = good ? bound.timespan : 0;
    }
    if (good && runs[0]) {
        v.figures = runs[0]->runs;
        v.nodes = runs[0]->nodes;
        v.all_cores = runs[0]->cores;
    }
    int status = good ? schedulers_show(a, &v) : cli_failed(&error);
    for (uint32_t i = 0; i < v.n; i++)
        weft_schedulers_free(runs[i]);
    return status;
}

int sim_schedulers_run(const struct arguments *a)
{
    struct schedulers_question q;
    struct error err = {0};
    if (!schedulers_only_ours(a, &err))
        return cli_fail(&err);
    int status = schedulers_question_read(&q, a);
    if (!status)
        status = schedulers_run_all(a, &q);
    schedulers_question_free(&q);
    return status;
}
