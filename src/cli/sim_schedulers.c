/* `weft sim --schedulers N`: weft_sim_schedulers() under one policy or all. */
#include "cli/sim_schedulers.h"
#include "api/inside.h"
#include "base/mem.h"
#include "report/schedulers_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int schedulers_question_read(struct schedulers_question *q, const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    int64_t nodes, cores, seed;
    struct weft_schedulers_options standard = WEFT_SCHEDULERS_INIT;
    *q = (struct schedulers_question){.options = standard};
    if (!arguments_integer(a, "schedulers", 100, 1, 1 << 24, &nodes, &err) ||
        !arguments_integer(a, "cores", 2, 1, 1 << 20, &cores, &err) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) ||
        !(q->settings = cli_list(a, "set", &err)))
        return cli_fail(&err);
    q->options.schedulers = (uint32_t)nodes;
    q->options.cores = (uint32_t)cores;
    q->options.seed = (uint64_t)seed;
    q->options.settings = q->settings;
    q->options.dag = arguments_value(a, "dag");
    if (arguments_value(a, "submit"))
        q->options.submit = arguments_value(a, "submit");
    if (a->noperands && !(q->workflow = cli_workflow(a, a->operand[0], &error)))
        return cli_failed(&error);
    if (q->workflow)
        cli_workflow_title(q->workflow, q->name, sizeof q->name);
    else
        snprintf(q->name, sizeof q->name, "%s", q->options.dag ? q->options.dag : "");
    return 0;
}

void schedulers_question_free(struct schedulers_question *q)
{
    weft_workflow_free(q->workflow);
    free(q->settings);
}

/* What belongs to the other simulations is refused, not passed over. */
static bool schedulers_only_ours(const struct arguments *a, struct error *err)
{
    static const char *const ours[] = {"schedulers", "dag",         "policy", "cores", "submit",
                                       "set",        "seed",        "from",   "read",  "json",
                                       "quiet",      "utilization", "param",  "params"};
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
    return a->noperands || arguments_refuse(a, "from read param params", "a benchmark", err);
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
                                .nodes = q->options.schedulers,
                                .cores = q->options.cores,
                                .seed = q->options.seed,
                                .colour = cli_colour()};
    v.n = schedulers_policies(a, v.policy);
    q->options.progress = cli_progress_of(a, "simulating");
    bool good = true;
    for (uint32_t i = 0; i < v.n && good; i++) {
        q->options.policy = v.policy[i];
        runs[i] = weft_sim_schedulers(q->workflow, &q->options, &error);
        good = runs[i] != NULL;
        v.result[i] = good ? &runs[i]->result : NULL;
        v.seconds[i] = good ? runs[i]->seconds : 0;
    }
    cli_progress_done();
    good = good && weft_schedulers_bound(q->workflow, &q->options, &bound, &error);
    if (good)
        v.bound = bound.timespan;
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
