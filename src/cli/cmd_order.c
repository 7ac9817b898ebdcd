/* `weft order`: in which order to hand tasks out, and that order in the user's own files. */
#include "base/mem.h"
#include "cli/ordering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"with", 0, "PLANNER", "of the family order: ic (default), area, prio, criticalpath ..."},
    {"set", 0, "NAME=VALUE", "an option of the planner; may be repeated"},
    {"annotate", 0, NULL,
     "write FLOW (a DAGMan file) to -o, byte for byte, with PRIORITY statements; files that it "
     "splices get copies beside them"},
    {"scripts", 0, "PATTERN",
     "write the Slurm job scripts of this name, {task} in it, to the folder -o, with a --nice "
     "each"},
    {"snakemake", 0, "SNAKEFILE",
     "write a Snakefile to -o that uses the rules of SNAKEFILE with priorities"},
    {"output", 'o', "OUT", "where --annotate, --scripts or --snakemake writes"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule order_rules[] = {
    {"output", "annotate scripts snakemake", NULL},
    {"annotate", NULL, "scripts snakemake"},
    {"scripts", NULL, "snakemake"},
    RULES_END,
};

/* The names of the tasks, a line each: for scripts and for people. */
static int order_print(const struct weft_workflow *w, const struct weft_plan *order)
{
    const uint32_t *tasks;
    size_t n = weft_plan_order(order, &tasks);
    struct strbuf out = {0};
    struct weft_task_info task;
    for (size_t i = 0; i < n; i++) {
        weft_workflow_task(w, tasks[i], &task);
        strbuf_printf(&out, "%s\n", task.name);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static void order_wrote(void *context, const char *path)
{
    if (!arguments_flag(context, "quiet"))
        fprintf(stderr, "weft: wrote %s\n", path);
}

/* The status of the command. */
static int order_write(const struct arguments *a, struct weft_file *file,
                       const struct weft_workflow *w, const struct weft_plan *order)
{
    const char *out = arguments_value(a, "output"), *scripts = arguments_value(a, "scripts");
    const char *snakefile = arguments_value(a, "snakemake");
    bool quiet = arguments_flag(a, "quiet"), annotate = arguments_flag(a, "annotate");
    struct error err = {0};
    if (!annotate && !scripts && !snakefile)
        return order_print(w, order);
    if (scripts)
        return ordering_slurm(w, scripts, out, quiet, &err) ? 0 : cli_fail(&err);
    if (snakefile)
        return ordering_snakemake(w, snakefile, out, quiet, &err) ? 0 : cli_fail(&err);
    struct weft_error error;
    size_t overridden;
    if (!weft_file_annotate(file, w, out, order_wrote, (void *)a, &overridden, &error))
        return cli_failed(&error);
    if (overridden && !quiet)
        fprintf(stderr, "weft: %zu PRIORITY statement%s of yours no longer count%s\n", overridden,
                overridden == 1 ? "" : "s", overridden == 1 ? "s" : "");
    return 0;
}

static int order_command(const struct arguments *a)
{
    const char *planner = arguments_value(a, "with");
    bool annotate = arguments_flag(a, "annotate");
    struct error err = {0};
    struct weft_error error;
    if ((annotate || arguments_value(a, "scripts") || arguments_value(a, "snakemake")) &&
        !arguments_value(a, "output")) {
        error_set(&err, ERROR_INPUT, "where to? Give -o OUT; your own files stay as they are");
        return cli_fail(&err);
    }
    const char **settings = cli_list(a, "set", &err);
    if (!settings)
        return cli_fail(&err);
    planner = planner ? planner : "ic";
    struct weft_file *file = cli_open(a, a->operand[0], &error);
    struct weft_workflow *w = NULL;
    struct weft_plan *order = NULL;
    if (file && (!annotate || weft_file_to_annotate(file, &error)))
        w = weft_file_workflow(file, &error);
    if (w) {
        if (!annotate) /* there everything is carried over: it is the user's own file */
            cli_warnings(a, w);
        order = ordering_make("with", planner, settings, w, &error);
    }
    if (order && !arguments_flag(a, "quiet"))
        ordering_tell(planner, order);
    int status = order ? order_write(a, file, w, order) : cli_failed(&error);
    weft_plan_free(order);
    weft_workflow_free(w);
    weft_file_close(file);
    free(settings);
    return status;
}

const struct command command_order = {
    .name = "order",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "the order in which to hand tasks out, also into your own files",
    .details =
        "Prints the tasks' names in an order that keeps as many of them eligible as it can "
        "be done, and on standard error what is proved of it. Your own files stay as they "
        "are: copies get the order, DAGMan's as PRIORITY, Slurm's as --nice, Snakemake's as "
        "priority. Where a format has no place for priorities (Makeflow), `weft run` follows "
        "them all the same: `weft convert IN OUT.yaml --order ic`.\n\n"
        "examples:\n"
        "  weft order flow.dag\n"
        "  weft order flow.dag --annotate -o ordered.dag\n"
        "  weft order flow.dot --scripts 'jobs/{task}.sh' -o ordered-jobs\n"
        "  snakemake --dag | weft order - --snakemake Snakefile -o ordered.smk\n",
    .options = options,
    .rules = order_rules,
    .run = order_command,
};
