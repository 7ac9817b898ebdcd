/* `weft planners`: the list of weft_planner(), a planner's row, and docs/planners.md. */
#include "base/json.h"
#include "cli/cli.h"
#include "report/table.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_JSON,
    {"names", 0, NULL, "only the names, one a line"},
    {"markdown", 0, NULL, "all of it as Markdown, as in docs/planners.md"},
    OPTION_END,
};

static const struct cli_rule planners_rules[] = {
    {"names markdown", NULL, "NAME json names markdown"},
    RULES_END,
};

static const struct {
    unsigned bit;
    const char *name;
} accepted[] = {
    {WEFT_ACCEPTS_DAG, "dag"},     {WEFT_ACCEPTS_TREE, "tree"}, {WEFT_ACCEPTS_STREAM, "stream"},
    {WEFT_ACCEPTS_SMALL, "small"}, {WEFT_ACCEPTS_SLOW, "slow"}, {WEFT_ACCEPTS_META, "meta"},
    {WEFT_ACCEPTS_ORDER, "order"},
};

/* A planner with all its options: other programs build their own help from it. */
static void planners_put(struct json_writer *j, size_t number, const struct weft_planner *p)
{
    struct weft_option option, *o = &option;
    json_write_object(j);
    json_put_string(j, "name", p->name);
    json_put_string(j, "family", p->family);
    json_put_string(j, "summary", p->summary);
    json_put_string(j, "paper", p->paper ? p->paper : "");
    json_put_string(j, "guarantee", p->guarantee ? p->guarantee : "");
    json_put_string(j, "ties", p->tie_rule ? p->tie_rule : "");
    json_write_key(j, "accepts");
    json_write_array_inline(j);
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++)
        if (p->accepts & accepted[i].bit)
            json_write_string(j, accepted[i].name);
    json_write_end_array(j);
    json_write_key(j, "options");
    json_write_array(j);
    for (size_t k = 0; weft_planner_option(number, k, o); k++) {
        json_write_object_inline(j);
        json_put_string(j, "name", o->name);
        json_put_string(j, "type", o->type);
        json_put_string(j, "default", o->standard);
        if (o->choices)
            json_put_string(j, "choices", o->choices);
        json_put_string(j, "help", o->help);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_end_object(j);
}

/* One planner for a person who wants to use it: what it promises and what can be set. */
static void planners_describe(size_t number, const struct weft_planner *p, struct strbuf *out)
{
    struct weft_option option, *o = &option;
    char help[CLI_OPTION_HELP];
    strbuf_printf(out, "%s (%s): %s\n", p->name, p->family, p->summary);
    if (p->paper)
        strbuf_printf(out, "  paper:      %s\n", p->paper);
    if (p->guarantee)
        strbuf_printf(out, "  guarantee:  %s\n", p->guarantee);
    if (p->tie_rule)
        strbuf_printf(out, "  ties:       %s\n", p->tie_rule);
    for (size_t k = 0; weft_planner_option(number, k, o); k++)
        strbuf_printf(out, "  --set %s=%s  %s\n", o->name, o->standard,
                      cli_option_help(o, help, sizeof help));
}

/* docs/planners.md is this text, so that no planner is missing there. */
static void planners_markdown(struct strbuf *out)
{
    struct weft_planner planner, *p = &planner;
    struct weft_option option, *o = &option;
    char help[CLI_OPTION_HELP];
    for (size_t number = 0; weft_planner(number, p); number++) {
        strbuf_printf(out, "### `%s`\n\n%s.\n\n", p->name, p->summary);
        if (p->paper)
            strbuf_printf(out, "- **Paper**: %s\n", p->paper);
        strbuf_printf(out, "- **Guarantee**: %s\n",
                      p->guarantee ? p->guarantee : "a valid plan, nothing more");
        if (p->tie_rule)
            strbuf_printf(out, "- **Ties**: %s\n", p->tie_rule);
        if (p->accepts & WEFT_ACCEPTS_TREE)
            strbuf_add(out, "- For trees only; makes a partition: a part of the tree a node\n");
        if (p->accepts & WEFT_ACCEPTS_STREAM)
            strbuf_add(out,
                       "- For streams of data items: makes clusters, replicas and duplicates\n");
        if (p->accepts & WEFT_ACCEPTS_ORDER)
            strbuf_add(out, "- Makes an order, for simulations with clients and as priorities\n");
        if (p->accepts & WEFT_ACCEPTS_SMALL)
            strbuf_add(out, "- For small graphs: `compare` leaves it out past a few dozen tasks\n");
        if (p->accepts & WEFT_ACCEPTS_SLOW)
            strbuf_add(out, "- Slower than n log n: `compare` leaves it out past 20,000 tasks\n");
        for (size_t k = 0; weft_planner_option(number, k, o); k++)
            strbuf_printf(out, "- `--set %s=%s`: %s\n", o->name, o->standard,
                          cli_option_help(o, help, sizeof help));
        strbuf_add_char(out, '\n');
    }
}

/* `one`: only that planner; SIZE_MAX: all. */
static void planners_json(size_t one, struct strbuf *out)
{
    struct json_writer j;
    struct weft_planner p;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-planners/1");
    json_write_key(&j, "planners");
    json_write_array(&j);
    for (size_t i = 0; weft_planner(i, &p); i++)
        if (one == SIZE_MAX || one == i)
            planners_put(&j, i, &p);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* A line a planner, in the order of the registry, which goes by family. */
static void planners_table(struct strbuf *out)
{
    struct weft_planner p;
    struct table *t = table_new();
    table_column(t, "planner", TABLE_LEFT);
    table_column(t, "family", TABLE_LEFT);
    table_column(t, "what it does", TABLE_LEFT);
    for (size_t i = 0; weft_planner(i, &p); i++) {
        table_row(t);
        table_cell(t, p.name);
        table_cell(t, p.family);
        table_cell(t, p.summary);
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    strbuf_add(out, "\n`weft planners NAME` tells its paper, guarantee and options.\n");
}

static int planners_command(const struct arguments *a)
{
    struct strbuf out = {0};
    struct weft_error error;
    struct weft_planner p;
    size_t one = a->noperands ? weft_planner_find(a->operand[0], &error) : SIZE_MAX;
    if (a->noperands && one == SIZE_MAX)
        return cli_failed(&error);
    if (arguments_flag(a, "json")) {
        planners_json(one, &out);
    } else if (arguments_flag(a, "names")) {
        for (size_t i = 0; weft_planner(i, &p); i++)
            strbuf_printf(&out, "%s\n", p.name);
    } else if (arguments_flag(a, "markdown")) {
        planners_markdown(&out);
    } else if (one != SIZE_MAX) {
        weft_planner(one, &p);
        planners_describe(one, &p, &out);
    } else {
        planners_table(&out);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

const struct command command_planners = {
    .name = "planners",
    .operands = "[NAME]",
    .least = 0,
    .most = 1,
    .summary = "the planners, or one of them with paper, guarantee and options",
    .options = options,
    .rules = planners_rules,
    .run = planners_command,
};
