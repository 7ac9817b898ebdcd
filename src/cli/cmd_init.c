/* `weft init`: a first workflow, which runs at once and whose comments explain the format. */
#include "base/file.h"
#include "base/mem.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option init_options[] = {OPTION_QUIET, OPTION_END};

/* Around the name, which may be anything that a file is called. */
static const char init_before[] =
    "# A workflow: tasks, the files that they read and the files that they make.\n"
    "#\n"
    "#     weft run %1$s        runs it; what is done is not done again\n"
    "#     weft run %1$s -n     says what would run, and why\n"
    "#     weft lint %1$s       says what looks wrong\n"
    "#     weft show %1$s --by kind\n"
    "#\n"
    "# A task runs in a folder of its own, in which it finds the files of its `in`, and from which "
    "the\n"
    "# files of its `out` are taken. The order follows from them: who reads a file comes after "
    "who\n"
    "# makes it.\n"
    "weft: 1\n"
    "name: ";

static const char init_after[] =
    "\n"
    "\n"
    "# Single values: {greeting} below. `-p greeting=hi` gives another one.\n"
    "parameters: { greeting: hello }\n"
    "\n"
    "# Values that tasks run through are called lists. Others come from files:\n"
    "#     name: { files: \"texts/{name}.txt\" }     what stands for {name} in the files that are "
    "there\n"
    "#     name: { lines: names.txt }              a line each\n"
    "#     sheet: { table: samples.tsv }           rows; the columns are variables\n"
    "lists: { name: [ada, grace, edsger] }\n"
    "\n"
    "tasks:\n"
    "  # `each` makes a family: a task for every value, greet@name=ada and so on.\n"
    "  # {out} is the task's file, quoted for the shell where that is needed.\n"
    "  greet:\n"
    "    each: name\n"
    "    run: echo {greeting}, {name} > {out}\n"
    "    out: greetings/{name}.txt\n"
    "\n"
    "  count:\n"
    "    each: name\n"
    "    run: wc -c < {in} > {out}\n"
    "    in: greetings/{name}.txt\n"
    "    out: { name: \"counts/{name}.txt\", temporary: true } # removed when nobody needs it any "
    "more\n"
    "\n"
    "  # A variable that is not in `each` gathers: all of counts/*.txt, in the order of the list.\n"
    "  total:\n"
    "    run: cat {in} | awk '{n += $1} END {print n, \"letters\"}' > {out}\n"
    "    in: counts/{name}.txt\n"
    "    out: total.txt\n";

/* As a YAML text, whatever it is. */
static void init_add_name(struct strbuf *out, const char *name, size_t n)
{
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off"};
    bool quote = plain < n || strspn(name, "0123456789-") > 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        quote |= n == strlen(words[i]) && strncasecmp(name, words[i], n) == 0;
    if (quote)
        strbuf_add_char(out, '\'');
    for (size_t i = 0; i < n; i++)
        strbuf_add(out, name[i] == '\'' ? "''" : (char[]){name[i], 0});
    if (quote)
        strbuf_add_char(out, '\'');
}

static int init_command(const struct arguments *a)
{
    const char *given = a->noperands ? a->operand[0] : "flow";
    struct error err = {0};
    struct strbuf path = {0}, text = {0}, out = {0};
    size_t n = strlen(given);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)given[i] < ' ') {
            error_set(&err, ERROR_INPUT, "a name with control characters would break the file");
            return cli_fail(&err);
        }
    bool suffix = (n > 5 && strcmp(given + n - 5, ".yaml") == 0) ||
                  (n > 4 && strcmp(given + n - 4, ".yml") == 0);
    strbuf_printf(&path, "%s%s", given, suffix ? "" : ".yaml");
    const char *base = file_basename(path.at), *dot = strrchr(base, '.');
    strbuf_printf(&text, init_before, base);
    init_add_name(&text, base, (size_t)(dot - base));
    strbuf_add(&text, init_after);
    int status =
        cli_write_new(path.at, &text, "`weft init NAME` writes another one (NAME.yaml)", &err)
            ? 0
            : cli_fail(&err);
    if (status == 0 && !arguments_flag(a, "quiet")) {
        strbuf_printf(&out, "%s is a workflow of seven tasks; look into it, and `weft run %s`\n",
                      path.at, path.at);
        status = cli_print(&out);
    }
    strbuf_free(&path);
    strbuf_free(&text);
    strbuf_free(&out);
    return status;
}

const struct command command_init = {
    .name = "init",
    .operands = "[NAME]",
    .least = 0,
    .most = 1,
    .summary = "write a first workflow, with comments",
    .details =
        "Writes NAME.yaml (flow.yaml), which runs at once and explains itself: tasks, files,\n"
        "parameters, lists, families, gathering. It never overwrites a file.\n\n"
        "examples:\n"
        "  weft init\n"
        "  weft init pipeline && weft run pipeline.yaml\n",
    .options = init_options,
    .run = init_command,
};
