/* `weft order`: in which order to hand tasks out, and that order in the user's own files. */
#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cli/ordering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
    {"with", 0, "PLANNER", "of the family order: ic (default), area, prio, criticalpath ..."},
    {"set", 0, "NAME=VALUE", "an option of the planner; may be repeated"},
    {"for", 0, "CLIENTS",
     "simulate and advise: which order when clients come like this: workers:N, single[/T], "
     "batches[:N][/T], poisson[:N][/T], or all of them (all). With --annotate, --scripts or "
     "--snakemake the best one is written"},
    {"repeat", 0, "N", "simulated runs of --for (default: up to 1000, a few seconds)"},
    OPTION_SEED,
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
    OPTION_PART,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule order_rules[] = {
    {"output", "annotate scripts snakemake", NULL},
    {"annotate", NULL, "scripts snakemake"},
    {"with", NULL, "for"}, /* --for tries the planners itself */
    {"set", NULL, "for"},
    {"repeat", "for", NULL},
    {"until since", NULL, "annotate snakemake"}, /* these are whole files of the user's */
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

/* DAGMan takes the names of files from the folder in which the DAG is submitted. */
static void order_moved(const struct arguments *a, const char *out)
{
    char *from = file_beside(a->operand[0], "."), *to = file_beside(out, ".");
    struct stat x, y;
    if (!arguments_flag(a, "quiet") && stat(from, &x) == 0 && stat(to, &y) == 0 &&
        (x.st_dev != y.st_dev || x.st_ino != y.st_ino))
        fprintf(stderr,
                "weft: note: %s names files as %s does; submit it from the folder of that\n", out,
                a->operand[0]);
    free(from);
    free(to);
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
    order_moved(a, out);
    if (overridden && !quiet)
        fprintf(stderr, "weft: %zu PRIORITY statement%s of yours no longer count%s\n", overridden,
                plural(overridden), overridden == 1 ? "s" : "");
    return 0;
}

/* Whether the user's files get the order, or it is shown. */
static bool order_is_written(const struct arguments *a)
{
    return arguments_flag(a, "annotate") || arguments_value(a, "scripts") ||
           arguments_value(a, "snakemake");
}

/* The status of the command. The table goes to standard output, and where files are written, to
 * standard error. */
static int order_for_clients(const struct arguments *a, struct weft_file *file,
                             struct weft_workflow *w, uint32_t repeat, uint64_t seed)
{
    const char *clients = arguments_value(a, "for");
    struct weft_error error;
    struct weft_advised best;
    struct strbuf text = {0};
    int status = 0;
    if (strcmp(clients, "all") == 0) {
        bool good = ordering_advise_all(w, repeat, seed, &text, &error);
        status = good ? cli_print(&text) : cli_failed(&error);
        strbuf_free(&text);
        return status;
    }
    struct weft_advice *advice = ordering_advise(w, clients, repeat, seed, &error);
    if (!advice)
        return cli_failed(&error);
    ordering_show_advice(advice, &text);
    if (!order_is_written(a))
        status = cli_print(&text);
    else if (!arguments_flag(a, "quiet"))
        fputs(strbuf_text(&text), stderr);
    strbuf_free(&text);
    weft_advice_order(advice, 0, &best);
    if (order_is_written(a))
        status = weft_workflow_prioritize(w, best.plan, &error) ? order_write(a, file, w, best.plan)
                                                                : cli_failed(&error);
    weft_advice_free(advice);
    return status;
}

/* The order by one planner, printed or written. */
static int order_by_planner(const struct arguments *a, struct weft_file *file,
                            struct weft_workflow *w, const char *const *settings, uint64_t seed)
{
    const char *planner = arguments_value(a, "with");
    struct weft_error error;
    planner = planner ? planner : "ic";
    struct weft_plan *order = ordering_make("with", planner, settings, seed, w, &error);
    if (order && !arguments_flag(a, "quiet"))
        ordering_tell(planner, order);
    int status = order ? order_write(a, file, w, order) : cli_failed(&error);
    weft_plan_free(order);
    return status;
}

static int order_command(const struct arguments *a)
{
    bool annotate = arguments_flag(a, "annotate");
    const char *clients = arguments_value(a, "for");
    struct error err = {0};
    struct weft_error error;
    int64_t repeat = 0, seed = 1;
    if (order_is_written(a) && !arguments_value(a, "output")) {
        error_set(&err, ERROR_INPUT, "where to? Give -o OUT; your own files stay as they are");
        return cli_fail(&err);
    }
    if (order_is_written(a) && clients && strcmp(clients, "all") == 0) {
        error_set(&err, ERROR_INPUT,
                  "--for all compares patterns of clients; to write an order, say which clients: "
                  "--for workers:8");
        return cli_fail(&err);
    }
    if (a->noperands > 1 && (annotate || arguments_value(a, "snakemake"))) {
        error_set(
            &err, ERROR_INPUT,
            "'%.200s' does nothing beside --%s: it writes a whole file; --scripts writes those "
            "of a part",
            a->operand[1], annotate ? "annotate" : "snakemake");
        return cli_fail(&err);
    }
    /* one run has no interval: nothing could be said */
    if ((arguments_value(a, "repeat") &&
         !arguments_integer(a, "repeat", 2, 2, 10000000, &repeat, &err)) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err))
        return cli_fail(&err);
    const char **settings = cli_list(a, "set", &err);
    if (!settings)
        return cli_fail(&err);
    struct weft_file *file = cli_open(a, a->operand[0], &error);
    struct weft_workflow *w = NULL;
    int status;
    if (file && (!annotate || weft_file_to_annotate(file, &error)))
        w = weft_file_workflow(file, &error);
    if (w && !annotate) /* there everything is carried over: it is the user's own file */
        cli_warnings(a, w);
    if (!w)
        status = cli_failed(&error);
    else if (clients)
        status = order_for_clients(a, file, w, (uint32_t)repeat, (uint64_t)seed);
    else
        status = order_by_planner(a, file, w, settings, (uint64_t)seed);
    weft_workflow_free(w);
    weft_file_close(file);
    free(settings);
    return status;
}

const struct command command_order = {
    .name = "order",
    .operands = "FLOW [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "the order in which to hand tasks out, also into your own files",
    .details =
        "Prints the tasks' names in an order that keeps as many of them eligible as it can "
        "be done, and on standard error what is proved of it. Your own files stay as they "
        "are: copies get the order, DAGMan's as PRIORITY, Slurm's as --nice, Snakemake's as "
        "priority. Where a format has no place for priorities (Makeflow), `weft run` follows "
        "them all the same: `weft convert IN OUT.yaml --order ic`.\n\n"
        "--for asks which order suits the clients that will come. Every planner makes one, all "
        "meet "
        "the same simulated clients, and the table says which differences can be seen.\n\n"
        "examples:\n"
        "  weft order flow.dag\n"
        "  weft order flow.dag --for workers:8\n"
        "  weft order flow.dag --for poisson:16/30s --annotate -o ordered.dag\n"
        "  weft order flow.dag --for all\n"
        "  weft order flow.dag --annotate -o ordered.dag\n"
        "  weft order flow.dot --scripts 'jobs/{task}.sh' -o ordered-jobs\n"
        "  snakemake --dag | weft order - --snakemake Snakefile -o ordered.smk\n",
    .options = options,
    .rules = order_rules,
    .run = order_command,
};
