/* `weft report`: what a run did, from the history or from a trace. */
#include "api/inside.h"
#include "cli/cli.h"
#include "formats/json/trace_record.h"
#include "report/page.h"
#include "report/record_json.h"
#include "report/summary.h"
#include "session/recorded.h"

#include <string.h>

static const struct cli_option report_options[] = {
    {"output", 'o', "FILE", "write the page (HTML) to this file"},
    {"workflow", 0, "FILE", "for a trace: the workflow that it is of"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* ---- reading ---- */

static struct workflow *report_workflow(const struct arguments *a, const char *path,
                                        struct error *err)
{
    struct weft_error error;
    struct weft_file *file = cli_open(a, path, &error);
    struct weft_workflow *w = file ? weft_file_workflow(file, &error) : NULL;
    weft_file_close(file);
    if (!w)
        error_set(err, (enum error_kind)error.status, "%s", error.text);
    return inside_take_workflow(w);
}

static bool report_read_trace(const struct arguments *a, const char *path, struct run_record *r,
                              struct error *err)
{
    const char *flow = arguments_value(a, "workflow");
    struct workflow *w = NULL;
    if (flow) {
        w = report_workflow(a, flow, err);
        if (!w)
            return false;
    }
    return trace_record_read(path, w, r, err);
}

/* ---- the command ---- */

static int report_print(const struct arguments *a, const struct run_record *r)
{
    struct strbuf out = {0};
    struct error err = {0};
    const char *path = arguments_value(a, "output");
    int status = 0;
    if (path) {
        report_page(r, &out);
        if (!cli_write_text(path, &out, &err))
            status = cli_fail(&err);
        strbuf_clear(&out);
    }
    if (status == 0 && arguments_flag(a, "json"))
        record_json(r, &out);
    else if (status == 0 && !path)
        report_summary(
            r, &(struct summary_options){.colour = cli_colour(), .columns = cli_columns()}, &out);
    if (status == 0)
        status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int report_command(const struct arguments *a)
{
    struct error err = {0};
    struct run_record r = {0};
    const char *which = a->noperands ? a->operand[0] : "last";
    bool file = strchr(which, '.') || strchr(which, '/');
    if (!(file ? report_read_trace(a, which, &r, &err) : recorded_show(which, &r, &err)))
        return cli_fail(&err);
    int status = report_print(a, &r);
    record_free(&r);
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
    .run = report_command,
};
