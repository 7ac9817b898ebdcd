#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/keys.h"
#include "cli/front.h"
#include "model/check.h"
#include "model/graph.h"
#include "plan/planner.h"
#include "report/gantt.h"
#include "report/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_ON,
    {"with", 0, "PLANNER", "the planner (default auto, or tree for trees that must fit in memory)"},
    {"set", 0, "NAME=VALUE", "an option of the planner; may be repeated"},
    {"output", 'o', "FILE", "write the plan (JSON) here"},
    {"gantt", 0, "FILE", "draw the plan (SVG)"},
    {"trace", 0, "FILE", "write the plan as a Chrome/Perfetto trace"},
    {"front", 0, NULL, "streams: every trade-off of latency and throughput; --gantt draws it"},
    {"assert", 0, "CONSTRAINT",
     "with constraints: one more (docs/constraints.md); may be repeated"},
    {"assert-file", 0, "FILE", "with constraints: read these instead of the default ones"},
    {"explain", 0, NULL, "say how the plan came about"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static void summarise(const struct plan *plan, const struct workflow *w, const struct platform *p,
                      struct strbuf *out)
{
    char name[256], a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s tasks, %s edges, on %u node%s (%s)\n",
                  cli_workflow_title(w, name, sizeof name), human_count(a, w->ntasks),
                  human_count(b, w->npairs), p->nnodes, p->nnodes == 1 ? "" : "s",
                  p->name ? pool_text(&p->text, p->name) : pool_text(&p->text, p->file));
    strbuf_printf(out, "planned with %s in %s\n\n", plan->planner,
                  human_seconds(a, plan->planning_seconds));
    for (uint32_t i = 0; i < plan->nobjectives; i++)
        strbuf_printf(out, "  %-18s %.10g\n", plan->objectives[i].name, plan->objectives[i].value);
    if (plan->kind == PLAN_STATIC) {
        double bytes = 0;
        for (size_t i = 0; i < plan->transfers.n; i++)
            bytes += w->size[plan->transfers.at[i].object];
        strbuf_printf(out, "  %-18s %u of %u\n", "nodes used", plan_nodes_used(plan, p), p->nnodes);
        strbuf_printf(out, "  %-18s %s, %s\n", "transfers", human_count(a, plan->transfers.n),
                      human_bytes(b, bytes));
    }
    if (plan->verdict)
        strbuf_printf(out, "  %-18s %s\n", "verdict", plan->verdict);
    for (size_t i = 0; i < plan->notes.n; i++) {
        strbuf_add(out, "  note: ");
        utf8_add_visible(out, plan->notes.at[i]);
        strbuf_add_char(out, '\n');
    }
    strbuf_add_char(out, '\n');
    struct gantt_text_options style = {.columns = cli_columns(), .colour = cli_colour()};
    report_gantt_text(plan, w, p, out, &style);
}

/* Our own plans are judged too: a planner's mistake must never reach the user's work. */
static bool passes_check(const struct plan *plan, const struct workflow *w,
                         const struct platform *p, struct error *err)
{
    struct check_result result;
    bool ok = check_plan(plan, w, p, &result, err);
    if (ok && result.total)
        ok = error_set(
            err, ERROR_FAILED,
            "planner '%s' made a plan that is not valid (%zu violations, the first: %s); this "
            "is a bug in weft",
            plan->planner, result.total, result.violations.at[0].detail);
    check_result_free(&result);
    return ok;
}

static unsigned results_on_stdout(const struct arguments *a)
{
    static const char *const results[] = {"output", "gantt", "trace"};
    unsigned n = 0;
    for (size_t i = 0; i < 3; i++) {
        const char *path = arguments_value(a, results[i]);
        n += path && strcmp(path, "-") == 0;
    }
    return n;
}

static bool one_result_on_stdout(const struct arguments *a, struct error *err)
{
    const char *output = arguments_value(a, "output");
    /* --json is the plan as -o writes it, so that these two ask for the same. */
    bool also_json = arguments_flag(a, "json") && !(output && strcmp(output, "-") == 0);
    if (results_on_stdout(a) + also_json <= 1 || !results_on_stdout(a))
        return true;
    return error_set(err, ERROR_INPUT,
                     "only one result can go to standard output; write the others to files");
}

static bool write_outputs(const struct arguments *a, const struct plan *plan,
                          const struct workflow *w, const struct platform *p, struct error *err)
{
    const char *output = arguments_value(a, "output"), *gantt = arguments_value(a, "gantt");
    const char *trace = arguments_value(a, "trace");
    bool ok = true;
    if (output) {
        struct strbuf text = {0};
        plan_json_write(plan, w, p, &text);
        ok = cli_write_text(output, &text, err);
        strbuf_free(&text);
    }
    if (ok && gantt)
        ok = cli_write_gantt(gantt, plan, w, p, err);
    if (ok && trace) {
        struct strbuf text = {0};
        trace_json_write_plan(plan, w, p, &text);
        ok = cli_write_text(trace, &text, err);
        strbuf_free(&text);
    }
    return ok;
}

static const struct planner *choose(const struct arguments *a, struct error *err)
{
    const char *name = arguments_value(a, "with");
    bool constrained = arguments_value(a, "assert") || arguments_value(a, "assert-file");
    if (!name) /* what is asked for says which planner it takes */
        name = constrained ? "constraints" : arguments_flag(a, "front") ? "stream" : "auto";
    const struct planner *planner = planner_find(name);
    if (!planner)
        planner_unknown(name, err);
    return planner;
}

/* Without --with: trees whose tasks need memory, on nodes that limit it, are what the planner
 * `tree` is for. Where memory does not matter, or nodes have several cores (a partition keeps one
 * part a node), a plan of single tasks is the better answer. */
static bool wants_partition(const struct arguments *a, const struct workflow *w,
                            const struct platform *p)
{
    if (arguments_value(a, "with") || arguments_value(a, "assert") ||
        arguments_value(a, "assert-file") || p->nnodes < 2 || graph_tree_shape(w) == TREE_NOT)
        return false;
    bool limited = false, single = true, needs = false;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        limited |= isfinite(p->memory[n]);
        single &= p->cores[n] == 1;
    }
    for (uint32_t t = 0; t < w->ntasks && !needs; t++)
        needs = w->memory[t] > 0;
    return limited && single && needs;
}

/* --assert and --assert-file as options of the planner, behind `count` others. */
static bool add_asserts(const struct arguments *a, struct option_value *values, size_t *count,
                        struct strbuf *statements, struct text *file, struct error *err)
{
    for (size_t i = 0; i < a->ngiven; i++)
        if (strcmp(a->given[i].name, "assert") == 0)
            strbuf_printf(statements, "%s\n", a->given[i].value);
    if (statements->n)
        values[(*count)++] = (struct option_value){"assert", strbuf_text(statements)};
    const char *path = arguments_value(a, "assert-file");
    if (!path)
        return true;
    if (!file_read(path, file, err))
        return false;
    if (strlen(file->at) != file->n)
        return error_set(err, ERROR_INPUT, "%s: a NUL byte among the constraints, expected text",
                         path);
    values[(*count)++] = (struct option_value){"rules", file->at};
    values[(*count)++] = (struct option_value){"rules-name", path};
    return true;
}

static struct plan *make(const struct arguments *a, const struct planner *planner, int64_t seed,
                         const struct workflow *w, const struct platform *p, struct error *err)
{
    size_t count;
    struct pair *pairs = arguments_pairs(a, "set", &count, err);
    if (!pairs)
        return NULL;
    struct option_value *values = mem_new_zero(struct option_value, count + 4);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct option_value){pairs[i].name, pairs[i].text};
    struct strbuf statements = {0};
    struct text rules = {0};
    bool good = add_asserts(a, values, &count, &statements, &rules, err);
    struct progress progress = cli_progress("planning");
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .replayer = &cli_replayer,
                                   .options = values,
                                   .noptions = count,
                                   .seed = (uint64_t)seed,
                                   .progress = quiet ? NULL : &progress,
                                   .explain = arguments_flag(a, "explain")};
    struct plan *plan = NULL;
    if (good) {
        struct keys keys;
        keys_listen(&keys, quiet);
        request.haste = keys_haste;
        request.haste_context = &keys;
        plan = planner_run(planner, &request, err);
        keys_leave(&keys);
    }
    cli_progress_done();
    strbuf_free(&statements);
    text_free(&rules);
    free(values);
    pairs_free(pairs);
    if (plan) {
        cli_sign_plan(plan, w, p);
        if (!passes_check(plan, w, p, err)) {
            plan_free(plan);
            plan = NULL;
        }
    }
    return plan;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct workflow *w = NULL;
    struct platform *p = NULL;
    struct plan *plan = NULL;
    int64_t seed;
    /* What can be wrong with the options is said before a large file is read. */
    const struct planner *planner = choose(a, &err);
    if (planner && arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) &&
        one_result_on_stdout(a, &err) && cli_read_problem(a, a->operand[0], NULL, &w, &p, &err) &&
        !arguments_flag(a, "front")) {
        if (w->nassertions && !arguments_value(a, "with"))
            planner = planner_find("constraints"); /* the workflow itself has wishes */
        else if (wants_partition(a, w, p))
            planner = planner_find("tree");
        plan = make(a, planner, seed, w, p, &err);
        if (plan && w->nassertions && planner != planner_find("constraints"))
            plan_note(plan,
                      "%s does not look at the constraints of the workflow; --with "
                      "constraints does",
                      planner->name);
    }
    int status;
    if (p && arguments_flag(a, "front")) {
        status = front_run(a, planner, (uint64_t)seed, w, p);
    } else if (!plan || !write_outputs(a, plan, w, p, &err)) {
        status = cli_fail(&err);
    } else {
        struct strbuf out = {0};
        if (results_on_stdout(a))
            ; /* already there, and nothing may follow it */
        else if (arguments_flag(a, "json"))
            plan_json_write(plan, w, p, &out);
        else
            summarise(plan, w, p, &out);
        status = cli_print(&out);
        strbuf_free(&out);
    }
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
    return status;
}

const struct command command_plan = {
    .name = "plan",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "map a workflow onto a platform",
    .details =
        "Without --on, the platform in the workflow's own file is used if it has one, else this\n"
        "machine. The plan is checked by the same rules as `weft check` before it is shown.\n\n"
        "examples:\n"
        "  weft plan flow.yaml --on cluster.yaml --gantt plan.svg -o plan.json\n"
        "  weft plan graph.dot --on homogeneous:n=4,bandwidth=1 --with heft\n"
        "  weft plan flow.json --on 16 --with auto --set budget=5s\n"
        "  weft plan video.yaml --on 32 --with mos --set throughput=0.5Tmax\n"
        "  weft plan video.yaml --on 32 --with stream --front --gantt front.svg\n",
    .options = options,
    .run = run,
};
