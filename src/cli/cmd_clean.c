/* `weft clean`: away with what no run needs: logs and sandboxes of runs that are over, records of
 * computations that the workflow no longer has, temporary files that nobody will read. With --all
 * also what the tasks made. */
#include "base/json.h"
#include "base/plural.h"
#include "cli/run_screen.h"
#include "report/human.h"

#include <string.h>

static const struct cli_option clean_options[] = {
    {"all", 0, NULL, "also the outputs that tasks left, and every record of them"},
    {"kept", 0, NULL, "instead: the results that were kept (`results: keep`, `weft history keep`)"},
    {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},
    {"dry-run", 'n', NULL, "only say what would go"},
    OPTION_WAIT,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule clean_rules[] = {
    {"until since", "all", NULL}, /* of a part only its outputs can be told from the rest */
    {"kept", NULL, "all"},        /* the one takes what tasks left, the other what was kept of it */
    RULES_END,
};

/* "removed" is false for a dry run: the counts are then what would go. */
static int clean_report(const struct run_screen *s, bool dry, const struct weft_cleaned *c)
{
    struct strbuf out = {0};
    char size[HUMAN_SIZE];
    if (s->json) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-clean/1");
        json_put_bool(&j, "removed", !dry);
        json_put_integer(&j, "logs", c->logs);
        json_put_integer(&j, "sandboxes", c->sandboxes);
        json_put_integer(&j, "files", c->files);
        json_put_integer(&j, "records", c->records);
        json_put_number(&j, "bytes", c->bytes);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!s->quiet) {
        strbuf_printf(&out, "%s %s: logs of %u run%s, %u sandbox%s, %u file%s, %u record%s\n",
                      dry ? "would remove" : "removed", human_bytes(size, c->bytes), c->logs,
                      plural(c->logs), c->sandboxes, c->sandboxes == 1 ? "" : "es", c->files,
                      plural(c->files), c->records, plural(c->records));
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int clean_kept(const struct run_screen *s, bool dry, struct weft_error *error)
{
    struct strbuf out = {0};
    char size[HUMAN_SIZE];
    uint32_t count = 0;
    double bytes = 0;
    if (!weft_run_clean_kept(s->run, dry, &count, &bytes, error))
        return cli_failed(error);
    if (s->json) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-clean/1");
        json_put_bool(&j, "removed", !dry);
        json_put_integer(&j, "kept", count);
        json_put_number(&j, "bytes", bytes);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!s->quiet) {
        strbuf_printf(&out, "%s %s: %u kept result%s\n", dry ? "would remove" : "removed",
                      human_bytes(size, bytes), count, plural(count));
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* Remarks about the workflow itself are of no interest here. */
static void clean_event(void *context, const struct weft_event *e)
{
    if (e->kind == WEFT_EVENT_REMARK && strncmp(e->text, "note: ", 6) != 0)
        run_screen_event(context, e);
}

static int clean_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct run_screen s = {0};
    struct weft_run_options o;
    struct weft_cleaned cleaned;
    bool dry = arguments_flag(a, "dry-run");
    if (!run_screen_options(&s, a, &o, &err))
        return run_screen_close(&s, cli_fail(&err));
    run_screen_part(&s, &o, 1);
    o.targets = o.since = NULL; /* the whole is opened: names may be of tasks that joined it */
    o.event = clean_event;
    /* unless it only looks, the records are its own from here on: no run goes on in the folder */
    s.run = weft_run_open(a->operand[0], &o, &error);
    if (s.run && arguments_flag(a, "kept"))
        return run_screen_close(&s, clean_kept(&s, dry, &error));
    bool part = *s.targets || *s.since, all = arguments_flag(a, "all");
    if (part && !all) {
        error_set(&err, ERROR_INPUT, "'%.200s' does nothing without --all", *s.targets);
        return run_screen_close(&s, cli_fail(&err));
    }
    bool good =
        s.run && (part ? weft_run_clean_part(s.run, s.targets, s.since, dry, &cleaned, &error)
                       : weft_run_clean(s.run, all, dry, &cleaned, &error));
    int status = good ? clean_report(&s, dry, &cleaned) : cli_failed(&error);
    return run_screen_close(&s, status);
}

const struct command command_clean = {
    .name = "clean",
    .operands = "FLOW [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .parts = true,
    .summary = "remove what no run of a workflow needs",
    .details =
        "Logs and sandboxes of runs that are over, records of computations that the workflow\n"
        "no longer has, temporary files that nobody will read. Results stay, and stay known,\n"
        "unless --all takes them too. The history is not touched. Results that were kept stay;\n"
        "--kept removes them, and nothing else.\n"
        "Old logs and records also go by themselves: see WEFT_KEEP_LOGS in docs/running.md.\n\n"
        "What weft did not make it does not remove: a file at an output's name stays when no\n"
        "task left it, or when it was changed since, and is listed.\n\n"
        "With --all, targets, --until and --since say of which tasks the outputs go, and nothing\n"
        "else does.\n\n"
        "examples:\n"
        "  weft clean flow.yaml -n\n"
        "  weft clean flow.yaml --all\n"
        "  weft clean flow.yaml --all --since merge   what merge made, and what was made of it\n",
    .options = clean_options,
    .rules = clean_rules,
    .run = clean_command,
};
