/* `weft convert`: read, and write as another format. */
#include "cli/ordering.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_FROM,
    {"to", 0, "FORMAT", "write this format instead of the one that OUT's suffix says"},
    OPTION_READ,
    OPTION_PART_ONLY,
    {"order", 0, "PLANNER",
     "give the tasks priorities by this planner's order (ic, area, prio, ...: family order of "
     "`weft planners`)"},
    {"platform", 0, NULL, "convert the platform, where the file holds a workflow as well"},
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule convert_rules[] = {
    {"order until since", NULL, "platform"},
    RULES_END,
};

/* The priorities of --order: what DAGMan, weft's runtime and its simulator take first. */
static bool convert_order(const struct arguments *a, struct weft_workflow *w,
                          struct weft_error *error)
{
    const char *name = arguments_value(a, "order");
    if (!name)
        return true;
    struct weft_plan *plan = ordering_make("order", name, NULL, 1, w, error);
    if (plan && !arguments_flag(a, "quiet"))
        ordering_tell(name, plan);
    weft_plan_free(plan);
    return plan != NULL;
}

/* A translation of DAGMan into DAGMan leaves out what weft does not know: say what does not. */
static void convert_advise(const struct arguments *a, const struct weft_workflow *w,
                           const char *out)
{
    struct weft_error none;
    const char *to = weft_format_for(arguments_value(a, "to"), out, &none);
    bool left_out = false;
    for (size_t i = 0; weft_workflow_remark(w, i); i++)
        left_out |= strstr(weft_workflow_remark(w, i), "read and not carried over") != NULL;
    if (arguments_value(a, "order") && left_out && to && strcmp(to, "dagman") == 0 &&
        !arguments_flag(a, "quiet"))
        cli_say("note: ",
                "`weft order IN --annotate -o OUT` copies your file with all of that, and "
                "adds the priorities");
}

static bool convert_file(const struct arguments *a, struct weft_file *file, const char *out,
                         struct weft_error *error)
{
    struct weft_write_options o = WEFT_WRITE_INIT;
    o.format = arguments_value(a, "to");
    o.dropped = cli_dropped;
    o.context = (void *)a;
    bool good;
    struct error err = {0};
    if (weft_file_kind(file) == WEFT_FILE_PLATFORM &&
        !arguments_refuse(a, "order until since", "a platform", &err)) {
        error->status = WEFT_BAD_INPUT;
        snprintf(error->text, sizeof error->text, "%s", err.text);
        return false;
    }
    if (arguments_flag(a, "platform") || weft_file_kind(file) == WEFT_FILE_PLATFORM) {
        struct weft_platform *p = weft_file_platform(file, error);
        good = p && weft_platform_write(p, out, &o, error);
        weft_platform_free(p);
        return good;
    }
    struct weft_workflow *w = weft_file_workflow(file, error);
    if (w) {
        cli_warnings(a, w);
        convert_advise(a, w, out);
    }
    good = w && convert_order(a, w, error) && weft_workflow_write(w, out, &o, error);
    weft_workflow_free(w);
    return good;
}

static int convert_command(const struct arguments *a)
{
    const char *in = a->operand[0], *out = a->operand[1];
    struct weft_error error;
    /* A format that cannot be written is said before a large file is read. */
    if (!weft_format_for(arguments_value(a, "to"), out, &error))
        return cli_failed(&error);
    struct weft_file *file = cli_open(a, in, &error);
    bool good = file && convert_file(a, file, out, &error);
    weft_file_close(file);
    return good ? 0 : cli_failed(&error);
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
    .rules = convert_rules,
    .run = convert_command,
};
