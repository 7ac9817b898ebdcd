/* `weft bound`: weft_schedulers_bound(). */
#include "base/json.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cli/sim_schedulers.h"
#include "report/human.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"dag", 0, "NAME", "a benchmark: bot, fan-out, fan-in, pipeline, stacking or all-pairs"},
    {"schedulers", 0, "N", "nodes (default 100)"},
    {"cores", 0, "N", "cores of a node (default 2)"},
    {"set", 0, "NAME=VALUE",
     "tasks, degree, length, size, bandwidth, task-size ...; may be repeated"},
    {"wait", 0, "KIND", "of a level's tasks: last or mean, equation (1) (default last)"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART_ONLY,
    OPTION_ASSUME,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule bound_rules[] = {
    {"dag", NULL, "FLOW"},
    {"from read param params until since", "FLOW", NULL},
    RULES_END,
};

static void bound_json(const char *name, const struct weft_bound *r, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-bound/1");
    json_put_string(&j, "workflow", name);
    json_put_integer(&j, "tasks", (int64_t)r->tasks);
    json_put_integer(&j, "cores", (int64_t)r->cores);
    json_put_integer(&j, "levels", r->levels);
    json_put_number(&j, "work", r->work);
    json_put_number(&j, "recursion", r->recursion);
    json_put_number(&j, "area", r->area);
    json_put_number(&j, "path", r->path);
    json_put_number(&j, "timespan", r->timespan);
    json_put_number(&j, "throughput", r->throughput);
    json_write_end_object(&j);
}

static void bound_text(const char *name, const struct weft_bound *r, struct strbuf *out)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE], z[HUMAN_SIZE];
    strbuf_printf(out, "  %-18s %s: %s task%s in %u level%s, %s of work\n", "graph", name,
                  human_count(x, r->tasks), plural(r->tasks), r->levels, plural(r->levels),
                  human_seconds(y, r->work));
    strbuf_printf(out, "  %-18s %s core%s, %s/s\n", "cluster", human_count(x, r->cores),
                  plural(r->cores), human_bytes(y, r->bandwidth));
    strbuf_printf(out, "  %-18s %s by the recursion, %s by the work, %s without waiting\n",
                  "at least", human_seconds(x, r->recursion), human_seconds(y, r->area),
                  human_seconds(z, r->path));
    strbuf_printf(out, "  %-18s %s: at most %s tasks a second\n", "bound",
                  human_seconds(x, r->timespan), human_number(y, r->throughput));
}

/* Settings of the simulated schedulers, which the bound knows nothing of. */
static bool bound_settings_good(const struct arguments *a, struct error *err)
{
    static const char *const theirs[] = {"t",       "tt",       "steal-bound", "rigid",
                                         "latency", "servers",  "service",     "dispatch",
                                         "cache",   "prefetch", "drawn-files"};
    size_t at = 0;
    for (const char *text; (text = arguments_next(a, "set", &at));)
        for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
            if (strlen(theirs[i]) == strcspn(text, "=") &&
                strncmp(theirs[i], text, strlen(theirs[i])) == 0)
                return error_set(err, ERROR_INPUT,
                                 "--set %s does nothing for the bound: it is of the schedulers "
                                 "that `weft sim --schedulers` simulates",
                                 theirs[i]);
    return true;
}

static int bound_command(const struct arguments *a)
{
    struct schedulers_question q;
    struct weft_bound r;
    struct weft_error error;
    struct error err = {0};
    if (!bound_settings_good(a, &err))
        return cli_fail(&err);
    int status = schedulers_question_read(&q, a);
    if (!status) {
        const char *wait = arguments_value(a, "wait");
        if (wait)
            q.options.wait = wait;
        struct strbuf out = {0};
        if (!weft_schedulers_bound(q.workflow, &q.options, &r, &error)) {
            status = cli_failed(&error);
        } else {
            if (arguments_flag(a, "json"))
                bound_json(q.name, &r, &out);
            else
                bound_text(q.name, &r, &out);
            status = cli_print(&out);
        }
        strbuf_free(&out);
    }
    schedulers_question_free(&q);
    return status;
}

const struct command command_bound = {
    .name = "bound",
    .operands = "[FLOW [TARGET...]]",
    .least = 0,
    .most = SIZE_MAX,
    .summary = "the analytical bound of a graph on a cluster of schedulers",
    .details = "The earliest finishing times of section 3 of the MATRIX paper: no schedule on "
               "these cores\n"
               "is much faster (docs/cluster-simulation.md says what \"much\" means). For a "
               "benchmark DAG\n"
               "with the paper's setting (Table 3), or for any workflow.\n\n"
               "examples:\n"
               "  weft bound --dag fan-in\n"
               "  weft bound --dag pipeline --schedulers 65536 --set degree=20\n"
               "  weft bound flow.yaml --schedulers 8 --cores 16\n",
    .options = options,
    .rules = bound_rules,
    .run = bound_command,
};
