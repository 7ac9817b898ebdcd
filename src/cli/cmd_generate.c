/* `weft generate`: workflows and platforms by weft_workflow_generate() and its sister. */
#include "cli/cli.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"set", 0, "NAME=VALUE", "an option of the generator; may be repeated"},
    OPTION_SEED,
    {"output", 'o', "FILE",
     "write here; the suffix says the format (default: native YAML on standard output)"},
    {"to", 0, "FORMAT", "the format to write"},
    {"options", 0, NULL, "list the options of this generator"},
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule generate_rules[] = {
    {"set seed output to options", "NAME", NULL},
    {"set seed output to", NULL, "options"},
    RULES_END,
};

static int generate_list(void)
{
    struct strbuf out = {0};
    struct weft_generator g;
    for (int kind = 0; kind < 2; kind++) {
        strbuf_add(&out, kind ? "\nplatforms:\n" : "workflows:\n");
        for (size_t i = 0; weft_generator(i, &g); i++)
            if (g.makes_platform == kind)
                strbuf_printf(&out, "  %-14s %s\n", g.name, g.summary);
    }
    strbuf_add(&out, "\n`weft generate NAME --options` lists what can be --set.\n");
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int generate_options(size_t number, const struct weft_generator *g)
{
    struct strbuf out = {0};
    struct weft_option o;
    char help[CLI_OPTION_HELP];
    strbuf_printf(&out, "%s: %s\n\n", g->name, g->summary);
    struct table *t = table_new();
    table_column(t, "option", TABLE_LEFT);
    table_column(t, "default", TABLE_LEFT);
    table_column(t, "", TABLE_LEFT);
    for (size_t k = 0; weft_generator_option(number, k, &o); k++) {
        table_row(t);
        table_cell(t, o.name);
        table_cell(t, o.standard);
        table_cell(t, cli_option_help(&o, help, sizeof help));
    }
    table_print(t, &out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static bool generate_write(const struct arguments *a, const struct weft_generator *g,
                           const char *const *list, uint64_t seed, struct weft_error *error)
{
    const char *output = arguments_value(a, "output");
    struct weft_write_options o = WEFT_WRITE_INIT;
    o.format = arguments_value(a, "to");
    if (!o.format && !output)
        o.format = "native";
    o.dropped = cli_dropped;
    o.context = (void *)a;
    if (!weft_format_for(o.format, output ? output : "-", error))
        return false;
    bool good;
    if (g->makes_platform) {
        struct weft_platform *p = weft_platform_generate(g->name, list, seed, error);
        good = p && weft_platform_write(p, output ? output : "-", &o, error);
        weft_platform_free(p);
    } else {
        struct weft_workflow *w = weft_workflow_generate(g->name, list, seed, error);
        good = w && weft_workflow_write(w, output ? output : "-", &o, error);
        weft_workflow_free(w);
    }
    return good;
}

static int generate_command(const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_generator g;
    int64_t seed;
    if (!a->noperands)
        return generate_list();
    size_t number = weft_generator_find(a->operand[0], &error);
    if (number == SIZE_MAX || !weft_generator(number, &g))
        return cli_failed(&error);
    if (arguments_flag(a, "options"))
        return generate_options(number, &g);
    const char **list = NULL;
    bool good = arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) &&
                (list = cli_list(a, "set", &err));
    int status;
    if (!good)
        status = cli_fail(&err);
    else
        status = generate_write(a, &g, list, (uint64_t)seed, &error) ? 0 : cli_failed(&error);
    free(list);
    return status;
}

const struct command command_generate = {
    .name = "generate",
    .operands = "[NAME]",
    .least = 0,
    .most = 1,
    .summary = "make workflows and platforms; without a name, list what can be made",
    .details = "The same seed gives the same file.\n\n"
               "examples:\n"
               "  weft generate layered --set n=1000 --set ccr=2 --seed 7 -o graph.yaml\n"
               "  weft generate fourfold -o cluster.yaml\n",
    .options = options,
    .rules = generate_rules,
    .run = generate_command,
};
