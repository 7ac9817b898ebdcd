/* The program: finds the command, its help, or says what is wrong with the name. */
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void overview(struct strbuf *out)
{
    strbuf_add(out, "weft plans, simulates, runs and studies task graphs.\n\n"
                    "usage: weft COMMAND ... ; `weft help COMMAND` tells more\n\n");
    for (size_t i = 0; command_registry[i]; i++)
        strbuf_printf(out, "  %-10s %s\n", command_registry[i]->name, command_registry[i]->summary);
    strbuf_add(
        out,
        "  help       this, or help on one command\n"
        "  version    the version\n\n"
        "Every command takes --profile FILE, defaults for its options (`weft help profile`).\n"
        "Exit status: 0 done; 1 the run failed or the plan is not valid; 2 wrong usage or bad\n"
        "input; 3 infeasible: no plan can meet what was asked.\n");
}

static int unknown_command(const char *name)
{
    const char *names[64];
    size_t n = 0;
    while (command_registry[n] && n < 62) {
        names[n] = command_registry[n]->name;
        n++;
    }
    names[n++] = "help";
    names[n++] = "version";
    const char *near = suggest_nearest(name, names, n);
    struct error err = {0};
    if (near)
        error_set(&err, ERROR_INPUT, "there is no command '%s'; did you mean '%s'?", name, near);
    else
        error_set(&err, ERROR_INPUT, "there is no command '%s'; `weft help` lists them", name);
    return cli_fail(&err);
}

static int help(const char *name)
{
    struct strbuf out = {0};
    if (!name || strcmp(name, "help") == 0 || strcmp(name, "version") == 0) {
        overview(&out);
    } else {
        const struct command *c = command_find(name);
        if (!c)
            return unknown_command(name);
        command_help(c, cli_columns(), &out);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run_program(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        struct strbuf out = {0};
        overview(&out);
        fputs(strbuf_text(&out), stderr);
        strbuf_free(&out);
        return ERROR_INPUT;
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        puts("weft " WEFT_VERSION); /* cli_end() looks whether it arrived */
        return 0;
    }
    const struct command *c = command_find(name);
    if (!c)
        return unknown_command(name);
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return help(c->name);
    struct arguments a;
    struct error err = {0};
    bool good = arguments_parse(&a, c, argc - 2, argv + 2, &err);
    cli_arguments(good ? &a : NULL);
    int status = good ? c->run(&a) : cli_fail(&err);
    if (status == 0 && !arguments_used(&a, &err))
        status = cli_fail(&err);
    cli_arguments(NULL);
    arguments_free(&a);
    return status;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    cli_begin();
    /* help is there whatever a profile says */
    const char *name = argc > 1 ? argv[1] : "help";
    bool help_alone = strcmp(name, "help") == 0 || strcmp(name, "version") == 0 ||
                      strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
                      strcmp(name, "--version") == 0;
    bool good = help_alone || defaults_load(&argc, argv, &err);
    cli_hide_secrets(argc, argv); /* also those of a profile */
    defaults_check_environment();
    int status = cli_end(good ? run_program(argc, argv) : cli_fail(&err));
    defaults_free();
    return status;
}
