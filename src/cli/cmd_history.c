#include "base/file.h"
#include "base/quantity.h"
#include "cli/history_view.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct cli_option options[] = {
    {"workflow", 0, "NAME", "list: only runs of workflows with this in their name"},
    {"failed", 0, NULL, "list: only runs that did not end well (failed, cancelled, lost)"},
    {"since", 0, "TIME", "list: only runs started since then: 2d, 12h, 30m, or 2026-11-15"},
    {"limit", 0, "N", "at most so many (default 20; 0: all)"},
    {"compare", 0, NULL, "two runs side by side: what got slower, by kind and by task"},
    {"file", 0, "PATH", "where a file comes from: run, task and inputs"},
    {"export", 0, "FILE", "write to FILE.csv or FILE.json: the runs, or the attempts of RUN"},
    OPTION_JSON,
    OPTION_END,
};

/* "2d" ago, or a day; as seconds since 1970. */
static bool since(const struct arguments *a, double *out, struct error *err)
{
    const char *text = arguments_value(a, "since");
    double age;
    struct tm tm = {.tm_isdst = -1};
    *out = 0;
    if (!text)
        return true;
    if (quantity_seconds(text, strlen(text), &age)) {
        *out = (double)time(NULL) - age;
        return true;
    }
    const char *rest = strptime(text, "%Y-%m-%d", &tm);
    if (!rest || *rest)
        return error_set(err, ERROR_INPUT,
                         "--since is '%s'; expected a time ago (2d, 12h) or a day (2026-11-15)",
                         text);
    *out = (double)mktime(&tm);
    return true;
}

/* json: 1 JSON, 0 CSV, -1 neither is asked for. */
static bool export_kind(const struct arguments *a, int *json, struct error *err)
{
    const char *path = arguments_value(a, "export");
    *json = -1;
    if (!path)
        return true;
    const char *dot = strrchr(file_basename(path), '.');
    if (dot && strcmp(dot, ".json") == 0)
        *json = 1;
    else if (dot && strcmp(dot, ".csv") == 0)
        *json = 0;
    else
        return error_set(err, ERROR_INPUT, "--export %s: expected a name in .csv or .json", path);
    return true;
}

static bool list(const struct arguments *a, struct history *h, int exported, struct strbuf *out,
                 struct error *err)
{
    struct history_filter filter = {
        .workflow = arguments_value(a, "workflow"),
        .failed = arguments_flag(a, "failed"),
    };
    int64_t limit;
    /* An export is complete unless it is limited. */
    if (!since(a, &filter.since, err) ||
        !arguments_integer(a, "limit", exported < 0 ? 20 : 0, 0, 1000000000, &limit, err))
        return false;
    filter.limit = (size_t)limit;
    history_runs runs;
    if (!history_list(h, &filter, &runs, err))
        return false;
    if (exported == 0)
        history_view_list_csv(&runs, out);
    else if (exported == 1 || arguments_flag(a, "json"))
        history_view_list_json(&runs, out);
    else if (runs.n)
        history_view_list(&runs, out);
    else
        strbuf_add(out, "no such run\n");
    history_runs_free(&runs);
    return true;
}

static bool show(const struct arguments *a, struct history *h, int exported, struct strbuf *out,
                 struct error *err)
{
    int64_t run;
    struct run_record r;
    struct history_tasks t;
    if (!recorded_number(h, a->operand[0], &run, err) || !history_load(h, run, &r, err))
        return false;
    bool ok = history_tasks(h, run, &t, err);
    if (ok) {
        if (exported == 0)
            history_view_run_csv(&r, &t, out);
        else if (exported == 1 || arguments_flag(a, "json"))
            history_view_run_json(&r, &t, out);
        else
            history_view_run(&r, &t, out);
        history_tasks_free(&t);
    }
    record_free(&r);
    return ok;
}

static bool compare(const struct arguments *a, struct history *h, bool json, struct strbuf *out,
                    struct error *err)
{
    int64_t first, second;
    if (a->noperands != 2)
        return error_set(err, ERROR_INPUT,
                         "--compare needs two runs: weft history --compare 3 last");
    return recorded_number(h, a->operand[0], &first, err) &&
           recorded_number(h, a->operand[1], &second, err) &&
           history_view_compare(h, first, second, json, out, err);
}

/* What was asked for, into `out`. */
static bool answer(const struct arguments *a, struct history *h, int exported, struct strbuf *out,
                   struct error *err)
{
    const char *file = arguments_value(a, "file");
    bool json = exported == 1 || arguments_flag(a, "json"), both = arguments_flag(a, "compare");
    if (exported == 0 && (file || both))
        return error_set(err, ERROR_INPUT, "--%s is exported as .json only",
                         file ? "file" : "compare");
    if (file && (both || a->noperands))
        return error_set(err, ERROR_INPUT, "--file stands alone: it looks at every run");
    if (both)
        return compare(a, h, json, out, err);
    if (a->noperands > 1)
        return error_set(err, ERROR_INPUT,
                         "two runs are shown with --compare: weft history --compare %s %s",
                         a->operand[0], a->operand[1]);
    if (file) {
        int64_t limit;
        return arguments_integer(a, "limit", 20, 0, 1000000000, &limit, err) &&
               history_view_file(h, file, (size_t)limit, json, out, err);
    }
    return a->noperands ? show(a, h, exported, out, err) : list(a, h, exported, out, err);
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct strbuf out = {0};
    int exported, status;
    struct history *h = export_kind(a, &exported, &err) ? recorded_require(&err) : NULL;
    bool ok = h && answer(a, h, exported, &out, &err);
    if (ok && exported >= 0)
        ok = cli_write_text(arguments_value(a, "export"), &out, &err);
    if (!ok)
        status = cli_fail(&err);
    else
        status = exported < 0 ? cli_print(&out) : 0;
    strbuf_free(&out);
    history_close(h);
    return status;
}

const struct command command_history = {
    .name = "history",
    .operands = "[RUN]",
    .least = 0,
    .most = 2,
    .summary = "past runs: list, look at one, compare two, where a file comes from",
    .details = "RUN is a number from the list, or last. The history is $WEFT_HISTORY, else\n"
               "$XDG_DATA_HOME/weft/history.db, else ~/.local/share/weft/history.db.\n\n"
               "examples:\n"
               "  weft history --failed --since 2d\n"
               "  weft history last\n"
               "  weft history --compare 3 last\n"
               "  weft history --file results/edges.pgm\n"
               "  weft history 3 --export attempts.csv\n",
    .options = options,
    .run = run,
};
