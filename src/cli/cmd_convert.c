#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_FROM,
    {"to", 0, "FORMAT", "write this format instead of the one that OUT's suffix says"},
    OPTION_READ,
    {"platform", 0, NULL, "convert the platform, where the file holds a workflow as well"},
    OPTION_QUIET,
    OPTION_END,
};

static int report(bool ok, const struct strbuf *dropped, const struct arguments *a,
                  const struct error *err)
{
    if (!ok)
        return cli_fail(err);
    if (dropped->n && !arguments_flag(a, "quiet")) {
        /* One line each: what the format cannot carry is gone in OUT, and the user should know. */
        char *text = (char *)strbuf_text(dropped), *rest = NULL;
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            fprintf(stderr, "weft: dropped: %s\n", line);
    }
    return 0;
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
    if (arguments_flag(a, "platform") || (!arguments_value(a, "from") && format_is_platform(in))) {
        struct platform *p = format_read_platform(in, NULL, NULL, &err);
        ok = p && format_write_platform(out, format, p, &dropped, &err);
        platform_free(p);
    } else {
        struct workflow *w = cli_workflow(a, in, &err);
        ok = w && format_write_workflow(out, format, w, &dropped, &err);
        workflow_free(w);
    }
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
    .details = "What the format of OUT cannot carry is named on standard error. OUT may be `-` with --to.\n\n"
               "examples:\n"
               "  weft convert flow.dax flow.yaml\n"
               "  weft convert montage.json - --to dot\n",
    .options = options,
    .run = run,
};
