/* `weft show`: a workflow, a platform or a plan, whichever the file holds, as text, JSON or a
 * picture. */
#include "api/inside.h"
#include "base/json.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "report/families.h"
#include "report/gantt.h"
#include "report/graph_svg.h"
#include "report/human.h"
#include "report/table.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
    {"svg", 0, "FILE", "draw it: a workflow as a graph, a plan as a Gantt chart"},
    OPTION_ZOOM,
    {"tasks", 0, NULL, "list the tasks as well"},
    {"by", 0, "kind|module",
     "families and kinds, each as one: how many, their work, what they make; or modules"},
    {"expanded", 0, NULL, "write the graph out as native YAML, a task for every member"},
    {"workflow", 0, "FILE", "for a plan: its workflow, if not the one that it names"},
    OPTION_ON,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART,
    OPTION_ASSUME,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule show_rules[] = {
    {"json tasks", NULL, "svg=-"}, /* nothing follows the picture */
    {"zoom", "svg", "by"},
    {"tasks", NULL, "json"},
    {"expanded", NULL, "svg tasks by json"},
    {"tasks", NULL, "by"},
    RULES_END,
};

static void show_families_json(struct json_writer *j, const struct workflow *w, enum families_by by)
{
    struct families f;
    families_of(&f, w, by, false);
    json_write_key(j, by == FAMILIES_BY_MODULE ? "modules" : "kinds");
    json_write_array(j);
    for (size_t i = 0; i < f.at.n; i++) {
        const struct family_sum *x = &f.at.at[i];
        json_write_object_inline(j);
        json_put_string(j, "name", families_name(&f, w, (uint32_t)i));
        json_put_string(j, "kind", workflow_text(w, x->name));
        json_put_integer(j, "tasks", x->tasks);
        json_put_number(j, "work", x->work);
        json_put_number(j, "bytes", x->bytes);
        json_put_number(j, "memory", x->memory);
        json_put_integer(j, "cores", x->cores);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_key(j, "between");
    json_write_array(j);
    for (size_t i = 0; i < f.links.n; i++) {
        const struct family_link *x = &f.links.at[i];
        json_write_object_inline(j);
        json_put_string(j, "from", families_name(&f, w, x->from));
        json_put_string(j, "to", families_name(&f, w, x->to));
        json_put_integer(j, "edges", (int64_t)x->pairs);
        json_put_number(j, "bytes", x->bytes);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    families_free(&f);
}

/* Figures of the graph, not the graph: that is what `convert` writes. */
static void show_workflow_json(const struct weft_workflow *handle, const struct weft_statistics *s,
                               const enum families_by *by, struct strbuf *out)
{
    const struct workflow *w = inside_workflow(handle);
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-show/1");
    json_put_string(&j, "format", workflow_text(w, w->format));
    json_put_string(&j, "name", weft_workflow_name(handle));
    json_put_integer(&j, "tasks", s->tasks);
    json_put_integer(&j, "edges", s->edges);
    json_put_integer(&j, "objects", s->objects);
    json_put_integer(&j, "sources", s->sources);
    json_put_integer(&j, "sinks", s->sinks);
    json_put_integer(&j, "depth", s->depth);
    json_put_integer(&j, "width", s->width);
    json_put_bool(&j, "width_exact", s->width_exact);
    json_put_integer(&j, "components", s->components);
    json_put_number(&j, "work", s->work);
    json_put_number(&j, "data", s->data);
    json_put_number(&j, "largest_memory", s->largest_memory);
    json_put_number(&j, "critical_path", s->critical_path);
    json_put_number(&j, "ccr", s->ccr);
    json_write_key(&j, "is_tree");
    if (s->tree)
        json_write_string(&j, s->tree);
    else
        json_write_null(&j);
    json_write_key(&j, "warnings");
    json_write_array(&j);
    for (uint32_t i = 0; i < w->nwarnings; i++)
        json_write_string(&j, w->warnings[i]);
    json_write_end_array(&j);
    if (by)
        show_families_json(&j, w, *by);
    json_write_end_object(&j);
}

/* In topological order, so that a task stands below what it waits for. */
static void show_tasks(const struct workflow *w, struct strbuf *out)
{
    struct table *t = table_new();
    static const char *const left[] = {"task", "kind"};
    static const char *const right[] = {"work", "memory", "cores", "before", "after"};
    for (size_t i = 0; i < 2; i++)
        table_column(t, left[i], TABLE_LEFT);
    for (size_t i = 0; i < 5; i++)
        table_column(t, right[i], TABLE_RIGHT);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t k = w->topo[i];
        table_row(t);
        table_cell(t, workflow_task_name(w, k));
        table_cell(t, workflow_text(w, w->kind[k]));
        table_number(t, w->work[k]);
        if (w->memory[k] > 0)
            table_bytes(t, w->memory[k]);
        else
            table_cell(t, "-");
        table_printf(t, "%u", w->cores[k]);
        table_printf(t, "%u", w->pred_off[k + 1] - w->pred_off[k]);
        table_printf(t, "%u", w->succ_off[k + 1] - w->succ_off[k]);
    }
    strbuf_add_char(out, '\n');
    table_print(t, out, &(struct table_style){.colour = cli_colour(), .max_cell = 48});
    table_free(t);
}

/* Lines about what a graph does not have (components, memory, a shape) are left out. */
static void show_workflow_text(const struct weft_workflow *handle, const struct weft_statistics *s,
                               struct strbuf *out)
{
    const struct workflow *w = inside_workflow(handle);
    char name[256], a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_printf(out, "%s (%s)\n\n", cli_workflow_title(handle, name, sizeof name),
                  workflow_text(w, w->format));
    strbuf_printf(out, "  tasks           %s\n", human_count(a, s->tasks));
    strbuf_printf(out, "  edges           %s\n", human_count(a, s->edges));
    strbuf_printf(out, "  data objects    %s, %s\n", human_count(a, s->objects),
                  human_bytes(b, s->data));
    strbuf_printf(out, "  sources, sinks  %s, %s\n", human_count(a, s->sources),
                  human_count(b, s->sinks));
    strbuf_printf(out, "  depth, width    %s, %s%s\n", human_count(a, s->depth),
                  s->width_exact ? "" : "at least ", human_count(b, s->width));
    if (s->components > 1)
        strbuf_printf(out, "  components      %s\n", human_count(a, s->components));
    strbuf_printf(out, "  work            %.10g\n", s->work);
    strbuf_printf(out, "  critical path   %.10g", s->critical_path);
    if (s->critical_path > 0)
        strbuf_printf(out, " (parallelism %.2f)", s->work / s->critical_path);
    strbuf_printf(out, "\n  data / work     %.4g (at bandwidth and speed 1)\n", s->ccr);
    if (s->largest_memory > 0)
        strbuf_printf(out, "  largest memory  %s\n", human_bytes(a, s->largest_memory));
    if (s->tree)
        strbuf_printf(out, "  shape           %s\n",
                      strcmp(s->tree, "chain") == 0 ? "a chain"
                      : strcmp(s->tree, "out") == 0 ? "an out-tree"
                                                    : "an in-tree");
}

/* --by: each family or module as one, with the edges between them. */
static void show_families(const struct workflow *w, enum families_by by, struct strbuf *out)
{
    struct families f;
    families_of(&f, w, by, false);
    strbuf_add_char(out, '\n');
    families_text(&f, w, cli_colour(), out);
    families_free(&f);
}

/* *shown: there is a --by. A word that it does not know is not passed over. */
static bool show_grouping(const struct arguments *a, bool *shown, enum families_by *by,
                          struct error *err)
{
    const char *word = arguments_value(a, "by");
    *shown = word != NULL;
    *by = word && strcmp(word, "module") == 0 ? FAMILIES_BY_MODULE : FAMILIES_BY_KIND;
    return !word || *by == FAMILIES_BY_MODULE || strcmp(word, "kind") == 0 ||
           error_set(err, ERROR_INPUT, "--by is '%.100s'; expected kind or module", word);
}

/* What the lists, modules and parameters of the file came to. Frees the workflow. */
static int show_expanded(const struct arguments *a, struct weft_workflow *w)
{
    struct weft_write_options o = WEFT_WRITE_INIT;
    struct weft_error error;
    o.format = "native";
    o.dropped = cli_dropped;
    o.context = (void *)a;
    int status = weft_workflow_write(w, "-", &o, &error) ? 0 : cli_failed(&error);
    weft_workflow_free(w);
    return status;
}

/* A picture, a text or JSON; at most one of them on standard output. */
static int show_workflow(const struct arguments *a, struct weft_file *file)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_statistics s;
    bool grouped;
    enum families_by by;
    if (!show_grouping(a, &grouped, &by, &err))
        return cli_fail(&err);
    struct weft_workflow *w = weft_file_workflow(file, &error);
    if (!w)
        return cli_failed(&error);
    cli_warnings(a, w);
    if (arguments_flag(a, "expanded"))
        return show_expanded(a, w);
    struct strbuf out = {0};
    const char *svg = arguments_value(a, "svg");
    bool ok = true;
    if (svg) {
        if (grouped)
            families_svg(inside_workflow(w), by, false, &out);
        else
            report_graph_svg(inside_workflow(w), &out, NULL);
        ok = cli_write_text(svg, &out, &err);
        strbuf_clear(&out);
    }
    if (ok && !weft_workflow_statistics(w, &s, &error)) {
        ok = error_set(&err, ERROR_FAILED, "%s", error.text);
    } else if (svg && strcmp(svg, "-") == 0) {
        ; /* the picture is on standard output, and nothing may follow it */
    } else if (ok && arguments_flag(a, "json")) {
        show_workflow_json(w, &s, grouped ? &by : NULL, &out);
    } else if (ok) {
        show_workflow_text(w, &s, &out);
        if (arguments_flag(a, "tasks"))
            show_tasks(inside_workflow(w), &out);
        if (grouped)
            show_families(inside_workflow(w), by, &out);
    }
    int status = ok ? cli_print(&out) : cli_fail(&err);
    strbuf_free(&out);
    weft_workflow_free(w);
    return status;
}

static void show_plan_text(const struct weft_plan *handle, struct strbuf *out)
{
    const struct plan *plan = inside_plan(handle);
    strbuf_printf(out, "a %s plan%s%s\n", plan_kind_name(plan->kind), plan->planner ? " by " : "",
                  plan->planner ? plan->planner : "");
    for (uint32_t i = 0; i < plan->nobjectives; i++)
        strbuf_printf(out, "  %-12s %.10g\n", plan->objectives[i].name, plan->objectives[i].value);
    strbuf_add_char(out, '\n');
    struct gantt_text_options style = {.columns = cli_columns(), .colour = cli_colour()};
    report_gantt_text(plan, inside_workflow(weft_plan_workflow(handle)),
                      inside_platform(weft_plan_platform(handle)), out, &style);
}

static int show_plan(const struct arguments *a, struct weft_file *file)
{
    struct weft_error error;
    struct error err = {0};
    struct weft_problem problem;
    if (!cli_problem(a, NULL, file, &problem, &error))
        return cli_failed(&error);
    struct strbuf out = {0};
    const char *svg = arguments_value(a, "svg");
    int status = 0;
    if (svg && !cli_write_gantt(a, svg, problem.plan, &err)) {
        status = cli_fail(&err);
    } else if (svg && strcmp(svg, "-") == 0) {
        ; /* as above */
    } else if (arguments_flag(a, "json")) {
        if (!weft_plan_write(problem.plan, "-", &error))
            status = cli_failed(&error);
    } else {
        show_plan_text(problem.plan, &out);
        status = cli_print(&out);
    }
    strbuf_free(&out);
    weft_problem_free(&problem);
    return status;
}

static void show_platform_json(const struct platform *p, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-show-platform/1");
    json_put_string(&j, "name", pool_text(&p->text, p->name));
    json_put_integer(&j, "nodes", p->nnodes);
    json_put_integer(&j, "cores", (int64_t)platform_total_cores(p));
    json_put_number(&j, "bandwidth", p->bandwidth);
    json_put_number(&j, "latency", p->latency);
    json_put_integer(&j, "ports", p->ports);
    json_put_integer(&j, "links", (int64_t)p->nlinks);
    json_write_end_object(&j);
}

/* The first two hundred nodes: a platform may have millions. */
static void show_platform_text(const struct platform *p, struct strbuf *out)
{
    char text[HUMAN_SIZE];
    strbuf_printf(out, "%s: %u node%s, %llu core%s\n",
                  p->name ? pool_text(&p->text, p->name) : "platform", p->nnodes, plural(p->nnodes),
                  (unsigned long long)platform_total_cores(p),
                  plural((unsigned long long)platform_total_cores(p)));
    strbuf_printf(out, "network: %s a second", human_bytes(text, p->bandwidth));
    strbuf_printf(out, ", latency %s", human_seconds(text, p->latency));
    if (p->node_ports)
        strbuf_add(out, ", ports differ by node");
    else if (p->ports)
        strbuf_printf(out, ", %u ports a node", p->ports);
    if (p->nlinks)
        strbuf_printf(out, ", %zu pair%s", p->nlinks,
                      plural_word(p->nlinks, " differs", "s differ"));
    strbuf_add(out, "\n\n");
    struct table *t = table_new();
    table_column(t, "node", TABLE_LEFT);
    table_column(t, "speed", TABLE_RIGHT);
    table_column(t, "memory", TABLE_RIGHT);
    table_column(t, "cores", TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (uint32_t i = 0; i < p->nnodes && i < 200; i++) {
        table_row(t);
        table_cell(t, platform_node_name(p, i));
        table_number(t, p->speed[i]);
        table_bytes(t, p->memory[i]);
        table_printf(t, "%u", p->cores[i]);
        table_cell(t, p->up[i] ? "" : "down");
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    if (p->nnodes > 200)
        strbuf_printf(out, "and %u more\n", p->nnodes - 200);
    table_free(t);
}

static int show_platform(const struct arguments *a, struct weft_file *file)
{
    struct weft_error error;
    struct weft_platform *p = weft_file_platform(file, &error);
    if (!p)
        return cli_failed(&error);
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        show_platform_json(inside_platform(p), &out);
    else
        show_platform_text(inside_platform(p), &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    weft_platform_free(p);
    return status;
}

/* The file says what it holds, and options that are about another kind are refused. */
static int show_command(const struct arguments *a)
{
    struct weft_error error;
    struct weft_file *file = cli_open(a, a->operand[0], &error);
    if (!file)
        return cli_failed(&error);
    struct error err = {0};
    enum weft_file_kind kind = weft_file_kind(file);
    bool good = kind == WEFT_FILE_PLAN ? arguments_refuse(a, "tasks by expanded", "a plan", &err)
                : kind == WEFT_FILE_PLATFORM
                    ? arguments_refuse(a, "svg zoom tasks by expanded workflow on until since",
                                       "a platform", &err)
                    : arguments_refuse(a, "workflow on zoom", "a workflow", &err);
    if (good && kind == WEFT_FILE_PLATFORM && a->noperands > 1)
        good = error_set(&err, ERROR_INPUT,
                         "%s is a platform, which has no part called '%s'; give one file",
                         a->operand[0], a->operand[1]);
    int status = !good                        ? cli_fail(&err)
                 : kind == WEFT_FILE_PLAN     ? show_plan(a, file)
                 : kind == WEFT_FILE_PLATFORM ? show_platform(a, file)
                                              : show_workflow(a, file);
    weft_file_close(file);
    return status;
}

const struct command command_show = {
    .name = "show",
    .operands = "FILE [TARGET...]",
    .least = 1,
    .most = SIZE_MAX,
    .summary = "look at a workflow, a platform or a plan",
    .details = "examples:\n"
               "  weft show flow.yaml --svg flow.svg\n"
               "  weft show montage.json --json\n"
               "  weft show flow.yaml --by kind --svg flow.svg\n"
               "  weft show flow.yaml --expanded > all.yaml\n"
               "  weft show flow.yaml report.txt --tasks\n"
               "  weft show plan.json --svg plan.svg\n",
    .options = options,
    .rules = show_rules,
    .run = show_command,
};
