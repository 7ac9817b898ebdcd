#include "base/array.h"
#include "cli/cli.h"
#include "generate/generate.h"
#include "report/table.h"

#include <stdio.h>
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

static int list_generators(void)
{
    struct strbuf out = {0};
    for (int kind = 0; kind < 2; kind++) {
        strbuf_add(&out, kind ? "\nplatforms:\n" : "workflows:\n");
        for (size_t i = 0; generator_registry[i]; i++)
            if ((int)generator_registry[i]->kind == kind)
                strbuf_printf(&out, "  %-14s %s\n", generator_registry[i]->name,
                              generator_registry[i]->summary);
    }
    strbuf_add(&out, "\n`weft generate NAME --options` lists what can be --set.\n");
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int list_options(const struct generator *g)
{
    struct strbuf out = {0};
    strbuf_printf(&out, "%s: %s\n\n", g->name, g->summary);
    struct table *t = table_new();
    table_column(t, "option", TABLE_LEFT);
    table_column(t, "default", TABLE_LEFT);
    table_column(t, "", TABLE_LEFT);
    for (const struct generator_option *o = g->options; o->name; o++) {
        table_row(t);
        table_cell(t, o->name);
        table_cell(t, o->standard);
        if (o->choices)
            table_printf(t, "%s (%s)", o->help, o->choices);
        else
            table_cell(t, o->help);
    }
    table_print(t, &out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int generate(const struct arguments *a, const struct generator *g)
{
    struct error err = {0};
    const char *output = arguments_value(a, "output"), *to = arguments_value(a, "to");
    const struct format *format = to       ? format_find(to)
                                  : output ? format_for_path(output, &err)
                                           : format_find("native");
    if (to && !format)
        error_set(&err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them", to);
    int64_t seed;
    size_t count;
    if (!format || !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err))
        return cli_fail(&err);
    struct pair *pairs = arguments_pairs(a, "set", &count, &err);
    if (!pairs)
        return cli_fail(&err);
    struct generator_value *values = mem_new_zero(struct generator_value, count + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct generator_value){pairs[i].name, pairs[i].text};
    struct strbuf dropped = {0};
    bool ok = false;
    if (!output)
        output = "-";
    if (g->kind == GENERATES_WORKFLOW) {
        struct workflow *w = generator_workflow(g, values, count, (uint64_t)seed, &err);
        ok = w && format_write_workflow(output, format, w, &dropped, &err);
        workflow_free(w);
    } else {
        struct platform *p = generator_platform(g, values, count, (uint64_t)seed, &err);
        ok = p && format_write_platform(output, format, p, &dropped, &err);
        platform_free(p);
    }
    if (ok && !arguments_flag(a, "quiet"))
        cli_dropped(&dropped);
    strbuf_free(&dropped);
    free(values);
    pairs_free(pairs);
    return ok ? 0 : cli_fail(&err);
}

static int run(const struct arguments *a)
{
    if (!a->noperands)
        return list_generators();
    const struct generator *g = generator_find(a->operand[0]);
    struct error err = {0};
    if (!g) {
        generator_unknown(a->operand[0], &err);
        return cli_fail(&err);
    }
    return arguments_flag(a, "options") ? list_options(g) : generate(a, g);
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
    .run = run,
};
