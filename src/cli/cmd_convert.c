#include "base/mem.h"
#include "cli/cli.h"
#include "plan/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_FROM,
    {"to", 0, "FORMAT", "write this format instead of the one that OUT's suffix says"},
    OPTION_READ,
    {"order", 0, "PLANNER",
     "give the tasks priorities by this planner's order (ic, area, prio, ...: family order of "
     "`weft planners`)"},
    {"platform", 0, NULL, "convert the platform, where the file holds a workflow as well"},
    OPTION_QUIET,
    OPTION_END,
};

static int report(bool ok, struct strbuf *dropped, const struct arguments *a,
                  const struct error *err)
{
    if (!ok)
        return cli_fail(err);
    if (!arguments_flag(a, "quiet"))
        cli_dropped(dropped);
    return 0;
}

/* The first of n tasks gets priority n, the last 1: what DAGMan, weft's runtime and its simulator
 * take first. */
static bool set_order(const struct arguments *a, struct workflow *w, struct error *err)
{
    const char *name = arguments_value(a, "order");
    if (!name)
        return true;
    const struct planner *planner = planner_find(name);
    if (!planner)
        return planner_unknown(name, err);
    if (!(planner->accepts & ACCEPTS_ORDER))
        return error_set(
            err, ERROR_INPUT,
            "--order %s: that planner maps tasks to nodes; an order is made by the planners of "
            "the family order (ic, area, prio, ...)",
            name);
    struct platform *p = machine_named("1", err); /* orders do not depend on it */
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct plan *plan = p ? planner_run(planner, &request, err) : NULL;
    if (plan) {
        double *priority = mem_new(double, w->ntasks);
        for (uint32_t i = 0; i < w->ntasks; i++)
            priority[plan->order.at[i]] = w->ntasks - i;
        workflow_set_priorities(w, priority);
        free(priority);
        if (!arguments_flag(a, "quiet"))
            fprintf(stderr, "weft: order by %s: %s%s%s\n", name, plan->verdict ? plan->verdict : "",
                    plan->proof ? "; " : "", plan->proof ? plan->proof : "");
    }
    bool ok = plan != NULL;
    plan_free(plan);
    platform_free(p);
    return ok;
}

static int run(const struct arguments *a)
{
    const char *in = a->operand[0], *out = a->operand[1];
    struct error err = {0};
    const char *to = arguments_value(a, "to");
    const struct format *format = to ? format_find(to) : format_for_path(out, &err);
    if (to && !format)
        error_set(&err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them", to);
    if (!format)
        return cli_fail(&err);
    struct strbuf dropped = {0};
    bool ok;
    struct format_file *file = cli_open(a, in, &err);
    if (!file) {
        ok = false;
    } else if (arguments_flag(a, "platform") || format_file_is_platform(file)) {
        struct platform *p = format_file_platform(file, &err);
        ok = p && format_write_platform(out, format, p, &dropped, &err);
        platform_free(p);
    } else {
        struct workflow *w = format_file_workflow(file, &err);
        if (w)
            cli_warnings(a, w);
        ok = w && set_order(a, w, &err) && format_write_workflow(out, format, w, &dropped, &err);
        workflow_free(w);
    }
    format_file_close(file);
    int status = report(ok, &dropped, a, &err);
    strbuf_free(&dropped);
    return status;
}

const struct command command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .least = 2,
    .most = 2,
    .summary = "translate a workflow or a platform into another format",
    .details = "What the format of OUT cannot carry is named on standard error. OUT may be `-` "
               "with --to.\n\n"
               "examples:\n"
               "  weft convert flow.dax flow.yaml\n"
               "  weft convert montage.json - --to dot\n"
               "  weft convert in.dag out.dag --order ic\n",
    .options = options,
    .run = run,
};
