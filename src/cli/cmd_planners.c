#include "base/json.h"
#include "cli/cli.h"
#include "plan/planner.h"
#include "report/table.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_JSON,
    {"names", 0, NULL, "only the names, one a line"},
    {"markdown", 0, NULL, "all of it as Markdown, as in docs/planners.md"},
    OPTION_END,
};

static const char *type_name(enum option_type type)
{
    static const char *const names[] = {"bool", "integer", "number", "seconds", "choice", "text"};
    return names[type];
}

static const struct {
    unsigned bit;
    const char *name;
} accepted[] = {
    {ACCEPTS_DAG, "dag"},     {ACCEPTS_TREE, "tree"}, {ACCEPTS_STREAM, "stream"},
    {ACCEPTS_SMALL, "small"}, {ACCEPTS_SLOW, "slow"}, {ACCEPTS_META, "meta"},
    {ACCEPTS_ORDER, "order"},
};

static void planner_json(struct json_writer *j, const struct planner *p)
{
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
    for (const struct planner_option *o = p->options; o && o->name; o++) {
        json_write_object_inline(j);
        json_put_string(j, "name", o->name);
        json_put_string(j, "type", type_name(o->type));
        json_put_string(j, "default", o->standard);
        if (o->choices)
            json_put_string(j, "choices", o->choices);
        json_put_string(j, "help", o->help);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_end_object(j);
}

static void describe(const struct planner *p, struct strbuf *out)
{
    strbuf_printf(out, "%s (%s): %s\n", p->name, p->family, p->summary);
    if (p->paper)
        strbuf_printf(out, "  paper:      %s\n", p->paper);
    if (p->guarantee)
        strbuf_printf(out, "  guarantee:  %s\n", p->guarantee);
    if (p->tie_rule)
        strbuf_printf(out, "  ties:       %s\n", p->tie_rule);
    for (const struct planner_option *o = p->options; o && o->name; o++)
        strbuf_printf(out, "  --set %s=%s  %s%s%s%s\n", o->name, o->standard, o->help,
                      o->choices ? " (" : "", o->choices ? o->choices : "", o->choices ? ")" : "");
}

static void as_markdown(struct strbuf *out)
{
    for (size_t i = 0; planner_registry[i]; i++) {
        const struct planner *p = planner_registry[i];
        strbuf_printf(out, "### `%s`\n\n%s.\n\n", p->name, p->summary);
        if (p->paper)
            strbuf_printf(out, "- **Paper**: %s\n", p->paper);
        strbuf_printf(out, "- **Guarantee**: %s\n",
                      p->guarantee ? p->guarantee : "a valid plan, nothing more");
        if (p->tie_rule)
            strbuf_printf(out, "- **Ties**: %s\n", p->tie_rule);
        if (p->accepts & ACCEPTS_TREE)
            strbuf_add(out, "- For trees only; makes a partition: a part of the tree a node\n");
        if (p->accepts & ACCEPTS_STREAM)
            strbuf_add(out,
                       "- For streams of data items: makes clusters, replicas and duplicates\n");
        if (p->accepts & ACCEPTS_ORDER)
            strbuf_add(out, "- Makes an order, for simulations with clients and as priorities\n");
        if (p->accepts & ACCEPTS_SMALL)
            strbuf_add(out, "- For small graphs: `compare` leaves it out past a few dozen tasks\n");
        if (p->accepts & ACCEPTS_SLOW)
            strbuf_add(out, "- Slower than n log n: `compare` leaves it out past 20,000 tasks\n");
        for (const struct planner_option *o = p->options; o && o->name; o++)
            strbuf_printf(out, "- `--set %s=%s`: %s%s%s%s\n", o->name, o->standard, o->help,
                          o->choices ? " (" : "", o->choices ? o->choices : "",
                          o->choices ? ")" : "");
        strbuf_add_char(out, '\n');
    }
}

static int run(const struct arguments *a)
{
    struct strbuf out = {0};
    struct error err = {0};
    int status = 0;
    const struct planner *one = a->noperands ? planner_find(a->operand[0]) : NULL;
    if (a->noperands && !one) {
        planner_unknown(a->operand[0], &err);
        return cli_fail(&err);
    }
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-planners/1");
        json_write_key(&j, "planners");
        json_write_array(&j);
        for (size_t i = 0; planner_registry[i]; i++)
            if (!one || one == planner_registry[i])
                planner_json(&j, planner_registry[i]);
        json_write_end_array(&j);
        json_write_end_object(&j);
    } else if (arguments_flag(a, "names")) {
        for (size_t i = 0; planner_registry[i]; i++)
            strbuf_printf(&out, "%s\n", planner_registry[i]->name);
    } else if (arguments_flag(a, "markdown")) {
        as_markdown(&out);
    } else if (one) {
        describe(one, &out);
    } else {
        struct table *t = table_new();
        table_column(t, "planner", TABLE_LEFT);
        table_column(t, "family", TABLE_LEFT);
        table_column(t, "what it does", TABLE_LEFT);
        for (size_t i = 0; planner_registry[i]; i++) {
            table_row(t);
            table_cell(t, planner_registry[i]->name);
            table_cell(t, planner_registry[i]->family);
            table_cell(t, planner_registry[i]->summary);
        }
        table_print(t, &out, &(struct table_style){.colour = cli_colour()});
        table_free(t);
        strbuf_add(&out, "\n`weft planners NAME` tells its paper, guarantee and options.\n");
    }
    status = cli_print(&out);
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
    .run = run,
};
