/* `weft report`: what a run did, from the history or from a trace. */
#include "api/inside.h"
#include "cli/cli.h"
#include "report/record_json.h"
#include "report/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct cli_option report_options[] = {
    {"output", 'o', "FILE", "write the page (HTML) to this file"},
    {"workflow", 0, "FILE", "for a trace: the workflow that it is of"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART_ONLY,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule report_rules[] = {
    {"from read param params until since", "workflow", NULL},
    RULES_END,
};

/* A trace, with the graph of --workflow where it is given. NULL: an error. */
static struct weft_record *report_read_trace(const struct arguments *a, const char *path,
                                             struct weft_error *error)
{
    const char *flow = arguments_value(a, "workflow");
    if (!flow)
        return weft_record_of_trace(path, NULL, error);
    struct weft_file *file = cli_open(a, flow, error);
    struct weft_workflow *w = file ? weft_file_workflow(file, error) : NULL;
    weft_file_close(file);
    struct weft_record *r = w ? weft_record_of_trace(path, w, error) : NULL;
    weft_workflow_free(w);
    return r;
}

/* The Run view is the page's, whose program puts it into the file. Without it the report is whole, too, and it is said. */
static void report_add_view(const struct arguments *a, int64_t run, const char *path)
{
    char number[24], *program = cli_ui_program();
    snprintf(number, sizeof number, "%lld", (long long)run);
    char *words[] = {"weft-ui", "report", number, (char *)path, NULL};
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (arguments_flag(a, "quiet"))
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!program || posix_spawn(&pid, program, &files, NULL, words, environ) != 0) {
        if (!arguments_flag(a, "quiet"))
            fprintf(stderr,
                    "weft: this weft was built without its page: %s is the report without "
                    "the Run view\n",
                    path);
    } else {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ; /* it says itself what is wrong */
    }
    posix_spawn_file_actions_destroy(&files);
    free(program);
}

/* The page with -o, JSON with --json, the summary when neither is asked for. */
static int report_print(const struct arguments *a, const struct weft_record *r)
{
    struct weft_error error;
    struct strbuf out = {0};
    const char *path = arguments_value(a, "output");
    if (path && !weft_record_page(r, path, &error))
        return cli_failed(&error);
    if (path && r->run.run > 0)
        report_add_view(a, r->run.run, path);
    if (arguments_flag(a, "json"))
        record_json(&r->run, &out);
    else if (!path)
        report_summary(&r->run,
                       &(struct summary_options){.colour = cli_colour(), .columns = cli_columns()},
                       &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* What looks like a file's name is a trace; the history's runs are numbers. */
static int report_command(const struct arguments *a)
{
    struct weft_error error;
    const char *which = a->noperands ? a->operand[0] : "last";
    bool file = strchr(which, '.') || strchr(which, '/');
    struct error err = {0};
    if (!file && !arguments_refuse(a, "workflow", "a run of the history, which has its own", &err))
        return cli_fail(&err);
    struct weft_record *r =
        file ? report_read_trace(a, which, &error) : weft_record_load(which, &error);
    if (!r)
        return cli_failed(&error);
    int status = report_print(a, r);
    weft_record_free(r);
    return status;
}

const struct command command_report = {
    .name = "report",
    .operands = "[RUN]",
    .least = 0,
    .most = 1,
    .summary = "what a run did, and why it took as long as it did",
    .details =
        "RUN is a number from `weft history` or last (the default),\n"
        "or a trace that `weft sim --trace FILE` wrote. Prints the summary; with -o "
        "writes\n"
        "one HTML page that needs nothing else: timeline, load and memory over time, the graph\n"
        "coloured by time, the critical path that really happened, slowest kinds and tasks,\n"
        "failures, predicted against real, files.\n"
        "\n"
        "  weft report\n"
        "  weft report 12 -o run.html\n"
        "  weft sim flow.yaml --on 8 --trace t.json && weft report t.json -o sim.html\n",
    .options = report_options,
    .rules = report_rules,
    .run = report_command,
};
