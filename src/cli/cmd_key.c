/* `weft key`: make the one secret that the members of a cluster share, or tell which one a file
 * holds. */
#include "base/json.h"
#include "base/mem.h"
#include "cli/page_secret.h"
#include "cli/run_screen.h"

#include <stdlib.h>

static const struct cli_option key_options[] = {
    {"show", 0, NULL, "make nothing: check the file and print the eight digits of its key"},
    {"page", 0, NULL, "make nothing: print the password of a page that `weft ui --key` serves"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule key_rules[] = {
    {"show", NULL, "page"},
    {"page", NULL, "json quiet"},
    RULES_END,
};

/* Never the key itself. */
static int key_report(const struct arguments *a, const char *path, const char *name)
{
    struct strbuf out = {0};
    bool show = arguments_flag(a, "show");
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-key/1");
        json_put_string(&j, "file", path);
        json_put_string(&j, "name", name);
        json_put_bool(&j, "made", !show);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (show) {
        strbuf_printf(&out, "%s\n", name);
    } else if (!arguments_flag(a, "quiet")) {
        strbuf_printf(&out, "%s: key %s; copy the file to every machine of the cluster\n", path,
                      name);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* For a browser: it opens the page and does not tell the key. */
static int key_page(const char *path)
{
    struct error err = {0};
    struct strbuf out = {0};
    char secret[PAGE_SECRET];
    if (!page_secret_of_key(path, secret, &err))
        return cli_fail(&err);
    strbuf_printf(&out, "%s\n", secret);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int key_command(const struct arguments *a)
{
    struct weft_error error;
    if (arguments_flag(a, "page"))
        return key_page(a->noperands ? a->operand[0] : NULL);
    char name[WEFT_KEY_NAME];
    char *path = a->noperands ? mem_copy_string(a->operand[0]) : weft_key_file();
    if (!path || !*path) {
        struct error err = {0};
        error_set(&err, ERROR_INPUT, "there is no home folder to keep a key in: name a file");
        free(path);
        return cli_fail(&err);
    }
    bool good = (arguments_flag(a, "show") || weft_key_make(path, &error)) &&
                weft_key_name(path, name, &error);
    int status = good ? key_report(a, path, name) : cli_failed(&error);
    free(path);
    return status;
}

const struct command command_key = {
    .name = "key",
    .operands = "[FILE]",
    .least = 0,
    .most = 1,
    .summary = "make the key that the agents and clients of a cluster share",
    .details = "Whoever has the file can run commands on the cluster's nodes and read all of its "
               "data;\n"
               "who has not gets nothing. It is made for its owner alone (mode 0600; commands "
               "refuse\n"
               "one that others may read) and never overwritten. Without FILE it is $WEFT_KEY, "
               "else\n"
               "$XDG_CONFIG_HOME/weft/key, else ~/.config/weft/key. The eight digits tell keys "
               "apart\n"
               "and say nothing about them.\n\n"
               "examples:\n"
               "  weft key\n"
               "  weft key cluster.key\n"
               "  weft key --show cluster.key\n"
               "  weft key --page cluster.key\n",
    .options = key_options,
    .rules = key_rules,
    .run = key_command,
};
