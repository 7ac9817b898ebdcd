/* `weft lint`: what is legal and suspicious in a workflow. */
#include "api/inside.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/run_screen.h"
#include "model/select.h"
#include "report/human.h"
#include "session/lint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option lint_options[] = {
    {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* FLOW:LINE: task 'NAME' (and 7 more): what, and what to do */
static void lint_print_text(const char *path, const struct workflow *w, const lint_findings *f,
                            struct strbuf *out)
{
    char more[HUMAN_SIZE];
    for (size_t i = 0; i < f->n; i++) {
        const struct lint_finding *x = &f->at[i];
        struct strbuf line = {0};
        strbuf_printf(&line, "%s:", path);
        if (x->line)
            strbuf_printf(&line, "%u:", x->line);
        if (x->task != NONE)
            strbuf_printf(&line, " task '%s'", workflow_task_name(w, x->task));
        if (x->more)
            strbuf_printf(&line, " and %s more", human_count(more, x->more));
        strbuf_printf(&line, "%s %s [%s]", x->task != NONE ? ":" : "", x->text, x->rule);
        utf8_add_visible(out, strbuf_text(&line));
        strbuf_add_char(out, '\n');
        strbuf_free(&line);
    }
}

static void lint_print_json(const char *path, const struct workflow *w, const lint_findings *f,
                            struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-lint/1");
    json_put_string(&j, "file", path);
    json_write_key(&j, "findings");
    json_write_array(&j);
    for (size_t i = 0; i < f->n; i++) {
        const struct lint_finding *x = &f->at[i];
        json_write_object(&j);
        json_put_string(&j, "rule", x->rule);
        json_put_integer(&j, "line", x->line);
        json_put_text(&j, "task", x->task != NONE ? workflow_task_name(w, x->task) : NULL);
        json_put_integer(&j, "more", x->more);
        json_put_string(&j, "text", x->text);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
    strbuf_add_char(out, '\n');
}

/* Marks what the arguments name: a part, of which alone is told. NULL: all of it, or an error. */
static uint8_t *lint_part(const struct arguments *a, const char *folder, const struct workflow *w,
                          struct error *err)
{
    const char **until = run_screen_names(a, "until", 1);
    const char **after = run_screen_names(a, "since", a->noperands);
    const char **targets = path_home_names(folder, until), **since = path_home_names(folder, after);
    uint8_t *only = targets || since ? mem_new_zero(uint8_t, w->ntasks) : NULL;
    if (only && !select_part(w, targets, since, only, NULL, err)) {
        free(only);
        only = NULL;
    }
    free(targets);
    free(since);
    free(until);
    free(after);
    return only;
}

static int lint_command(const struct arguments *a)
{
    const char *path = a->operand[0], *given = arguments_value(a, "directory");
    struct weft_error error;
    struct error err = {0};
    lint_findings found = {0};
    if (strcmp(path, "-") == 0) {
        error_set(&err, ERROR_INPUT, "weft lint reads a file; standard input has no folder");
        return cli_fail(&err);
    }
    struct weft_file *file = cli_open(a, path, &error);
    struct weft_workflow *w = file ? weft_file_workflow(file, &error) : NULL;
    weft_file_close(file);
    if (!w)
        return cli_failed(&error);
    char *folder = given ? mem_copy_string(given) : file_beside(path, ".");
    struct strbuf out = {0};
    int status;
    uint8_t *only = lint_part(a, folder, inside_workflow(w), &err);
    if (err.kind != ERROR_NONE ||
        !lint_workflow(inside_workflow(w), path, folder, only, &found, &err)) {
        status = cli_fail(&err);
    } else {
        if (arguments_flag(a, "json"))
            lint_print_json(path, inside_workflow(w), &found, &out);
        else if (!arguments_flag(a, "quiet"))
            lint_print_text(path, inside_workflow(w), &found, &out);
        status = cli_print(&out);
        status = status ? status : found.n > 0;
    }
    strbuf_free(&out);
    lint_findings_free(&found);
    free(only);
    free(folder);
    weft_workflow_free(w);
    return status;
}

const struct command command_lint = {
    .name = "lint",
    .operands = "FLOW [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .parts = true,
    .summary = "what is legal and suspicious in a workflow",
    .details =
        "Looks at commands, names and the folder, and runs nothing. A finding has its place, says\n"
        "what to do, and ends with the name of its rule: undeclared, missing, executable, quotes,\n"
        "positional, lost, folder, unread, cores, blanks, unused, remark.\n"
        "Of a part, that targets, --until and --since name, only what is about its tasks is said.\n"
        "Exit status: 0 nothing is suspicious, 1 something is, 2 the workflow cannot be read.\n\n"
        "examples:\n"
        "  weft lint flow.yaml\n"
        "  weft lint flow.yaml --json\n",
    .options = lint_options,
    .run = lint_command,
};
