/* `weft predict`: weft_workflow_predictions(), as a table or JSON. */
#include "api/inside.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "report/families.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* tasks in the table; --tasks shows all */

static const struct cli_option options[] = {
    {"tasks", 0, NULL, "every task in the table, not only the 40 longest"},
    {"error", 0, NULL, "instead of FLOW: how well past runs were predicted, by run and kind"},
    {"limit", 0, "N", "with --error: so many runs (default 20)"},
    OPTION_RISK,
    OPTION_FROM,
    OPTION_READ,
    OPTION_PART_ONLY,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule predict_rules[] = {
    {"tasks", NULL, "json error"}, /* JSON has them all */
    {"limit", "error", NULL},
    {"risk from read param params until since", NULL, "error"},
    RULES_END,
};

/* All tasks, one by one: whoever reads JSON groups them as he likes. */
static void predict_json(const struct weft_workflow *handle, const struct forecast *f, double risk,
                         struct strbuf *out)
{
    const struct workflow *w = inside_workflow(handle);
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-predict/1");
    json_put_string(&j, "workflow", weft_workflow_name(handle));
    json_put_number(&j, "risk", risk > 0 ? risk : NAN);
    json_write_key(&j, "kinds");
    json_write_array(&j);
    for (uint32_t i = 0; i < forecast_kinds(f); i++) {
        struct forecast_kind k;
        forecast_kind(f, i, &k);
        json_write_object_inline(&j);
        json_put_string(&j, "kind", k.name);
        json_put_integer(&j, "tasks", k.tasks);
        json_put_integer(&j, "samples", k.samples);
        json_put_string(&j, "method", forecast_method_name(k.method));
        json_put_number(&j, "slope", k.slope);
        json_put_number(&j, "error", k.error);
        json_put_number(&j, "error90", k.error90);
        json_put_number(&j, "memory_error", k.memory_error);
        json_write_key(&j, "machines");
        json_write_array(&j);
        for (uint32_t h = 0; h < k.hosts; h++) {
            struct forecast_host host;
            forecast_host(f, i, h, &host);
            json_write_object_inline(&j);
            json_put_string(&j, "host", host.name);
            json_put_number(&j, "speed", host.speed > 0 ? host.speed : NAN);
            json_put_integer(&j, "samples", host.samples);
            json_write_end_object(&j);
        }
        json_write_end_array(&j);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_key(&j, "tasks");
    json_write_array(&j);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct forecast_task p;
        forecast_task(f, t, &p);
        json_write_object_inline(&j);
        json_put_string(&j, "task", workflow_task_name(w, t));
        json_put_string(&j, "kind", p.kind);
        json_put_string(&j, "method", forecast_method_name(p.method));
        json_put_integer(&j, "samples", p.prediction.samples);
        json_put_number(&j, "seconds", p.prediction.seconds);
        json_put_number(&j, "low", p.prediction.low);
        json_put_number(&j, "high", p.prediction.high);
        json_put_number(&j, "memory", p.prediction.memory);
        if (risk > 0)
            json_put_number(&j, "at_risk", forecast_seconds(f, t, risk));
        json_put_number(&j, "read", p.read);
        json_put_number(&j, "written", p.written);
        json_put_number(&j, "transfer", p.transfer);
        json_put_number(&j, "disk", p.disk);
        json_put_number(&j, "busy", p.busy);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

static void predict_share(struct table *t, double share)
{
    char text[HUMAN_SIZE];
    table_cell(t, human_percent(text, share));
}

/* "box 12, n3 (speed 1.8) 40": where the samples of a kind come from. */
static void predict_machines(struct table *t, const struct forecast *f, uint32_t kind,
                             uint32_t hosts)
{
    struct strbuf text = {0};
    for (uint32_t i = 0; i < hosts; i++) {
        struct forecast_host h;
        forecast_host(f, kind, i, &h);
        strbuf_printf(&text, "%s%s", i ? ", " : "", h.name);
        if (h.speed > 0)
            strbuf_printf(&text, " (speed %.3g)", h.speed);
        strbuf_printf(&text, " %u", h.samples);
    }
    table_cell(t, hosts ? strbuf_text(&text) : "-");
    strbuf_free(&text);
}

/* How far each kind can be trusted, next to what it predicts. */
static void predict_kinds(const struct forecast *f, struct strbuf *out)
{
    struct table *t = table_new();
    table_column(t, "kind", TABLE_LEFT);
    table_column(t, "method", TABLE_LEFT);
    static const char *const right[] = {"tasks", "samples", "error", "90 % within", "memory error"};
    for (size_t i = 0; i < 5; i++)
        table_column(t, right[i], TABLE_RIGHT);
    table_column(t, "samples from", TABLE_LEFT);
    for (uint32_t i = 0; i < forecast_kinds(f) && i < SHOWN; i++) {
        struct forecast_kind k;
        forecast_kind(f, i, &k);
        table_row(t);
        table_cell(t, k.name);
        table_cell(t, forecast_method_name(k.method));
        table_printf(t, "%u", k.tasks);
        table_printf(t, "%u", k.samples);
        predict_share(t, k.error);
        predict_share(t, k.error90);
        predict_share(t, k.memory_error);
        predict_machines(t, f, i, k.hosts);
    }
    strbuf_add(out, "\nhow well each kind is predicted (each sample from all the others)\n\n");
    table_print(t, out, &(struct table_style){.colour = cli_colour(), .max_cell = 40});
    table_free(t);
    if (forecast_kinds(f) > SHOWN)
        strbuf_printf(out, "and %u more kinds\n", forecast_kinds(f) - SHOWN);
}

struct predict_row {
    uint32_t task;
    double seconds;
};

/* Those of which nothing is known last; equal times by number, so that members of a family stand
 * together. */
static int predict_longest_first(const void *a, const void *b)
{
    const struct predict_row *x = a, *y = b;
    double s = isnan(x->seconds) ? -1 : x->seconds, t = isnan(y->seconds) ? -1 : y->seconds;
    if (s != t)
        return s > t ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* Two that are not known are alike. */
static bool predict_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* How many of the rows behind the first are of its family and predicted alike. */
static uint32_t predict_alike(const struct workflow *w, const struct forecast *f,
                              const struct predict_row *row, uint32_t n)
{
    struct forecast_task a, b;
    uint32_t first = row[0].task, k = 1;
    forecast_task(f, first, &a);
    for (; k < n && families_is_member(w, first) && predict_same(row[k].seconds, row[0].seconds);
         k++) {
        uint32_t t = row[k].task;
        forecast_task(f, t, &b);
        if (strcmp(a.kind, b.kind) != 0 || !families_is_member(w, t) || a.method != b.method ||
            !predict_same(a.prediction.memory, b.prediction.memory) ||
            !predict_same(a.read, b.read))
            break;
    }
    return k - 1;
}

/* "-" where something is not known. */
static void predict_task(struct table *table, const struct forecast *f, uint32_t task, double risk,
                         bool linked)
{
    struct forecast_task p;
    forecast_task(f, task, &p);
    table_cell(table, p.kind);
    if (p.method == FORECAST_NONE)
        table_cell(table, "unknown");
    else
        table_seconds(table, risk > 0 ? forecast_seconds(f, task, risk) : p.prediction.seconds);
    table_seconds(table, p.prediction.low);
    table_seconds(table, p.prediction.high);
    table_bytes(table, p.prediction.memory);
    table_bytes(table, p.read);
    if (linked)
        table_seconds(table, p.transfer);
    table_bytes(table, p.written);
    table_bytes(table, p.disk);
    if (isnan(p.busy))
        table_cell(table, "-");
    else
        table_printf(table, "%.2f", p.busy);
    table_printf(table, "%u", p.prediction.samples);
    table_cell(table, forecast_method_name(p.method));
}

static struct table *predict_table(double risk, bool linked)
{
    struct table *table = table_new();
    char time[32] = "time";
    if (risk > 0)
        snprintf(time, sizeof time, "time at %g %%", 100 * risk);
    table_column(table, "task", TABLE_LEFT);
    table_column(table, "kind", TABLE_LEFT);
    const char *const right[] = {time,     "from",   "to",   "memory", "reads",
                                 "coming", "writes", "disk", "cores",  "samples"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (linked || i != 5)
            table_column(table, right[i], TABLE_RIGHT);
    table_column(table, "method", TABLE_LEFT);
    return table;
}

/* The longest first, since they decide; members that are alike are one row unless `all`. */
static void predict_text(const struct workflow *w, const struct forecast *f, bool all, double risk,
                         struct strbuf *out)
{
    struct predict_row *order = mem_new(struct predict_row, w->ntasks + 1);
    struct forecast_task p;
    bool linked = false; /* transfers were measured */
    for (uint32_t t = 0; t < w->ntasks; t++) {
        forecast_task(f, t, &p);
        order[t] = (struct predict_row){t, p.prediction.seconds};
        linked = linked || !isnan(p.transfer);
    }
    if (w->ntasks)
        qsort(order, w->ntasks, sizeof *order, predict_longest_first);
    struct table *table = predict_table(risk, linked);
    struct strbuf label = {0};
    uint32_t shown = 0;
    for (uint32_t rows = 0; shown < w->ntasks && (all || rows < SHOWN); rows++) {
        uint32_t t = order[shown].task;
        uint32_t more = all ? 0 : predict_alike(w, f, order + shown, w->ntasks - shown);
        shown += 1 + more;
        table_row(table);
        strbuf_clear(&label);
        families_add_label(w, t, more, &label);
        table_cell(table, label.at);
        predict_task(table, f, t, risk, linked);
    }
    table_print(table, out, &(struct table_style){.colour = cli_colour(), .max_cell = 40});
    table_free(table);
    strbuf_free(&label);
    free(order);
    if (shown < w->ntasks)
        strbuf_printf(out, "and %u more task%s (--tasks shows all)\n", w->ntasks - shown,
                      plural(w->ntasks - shown));
    predict_kinds(f, out);
}

/* ---- what became of predictions ---- */

static void predict_error_rows(const struct weft_prediction_errors *e, bool json,
                               struct strbuf *out)
{
    struct weft_prediction_error at = WEFT_PREDICTION_ERROR_INIT;
    struct table *t = table_new();
    struct json_writer j;
    static const char *const heads[] = {"run",      "when",  "workflow",         "kind",
                                        "attempts", "error", "predicted / real", "inside"};
    for (size_t i = 0; i < 8; i++)
        table_column(t, heads[i], i >= 1 && i <= 3 ? TABLE_LEFT : TABLE_RIGHT);
    json_write_start(&j, out, true);
    if (json) {
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-prediction-errors/1");
        json_write_key(&j, "errors");
        json_write_array(&j);
    }
    for (size_t i = 0; weft_prediction_errors_get(e, i, &at); i++) {
        if (json) {
            json_write_object_inline(&j);
            json_put_integer(&j, "run", at.run);
            json_put_number(&j, "started", at.started);
            json_put_string(&j, "workflow", at.workflow);
            json_put_string(&j, "kind", at.kind);
            json_put_integer(&j, "attempts", at.attempts);
            json_put_number(&j, "error", at.error);
            json_put_number(&j, "ratio", at.ratio);
            json_put_number(&j, "inside", at.inside);
            json_write_end_object(&j);
            continue;
        }
        char when[HUMAN_SIZE];
        table_row(t);
        table_printf(t, "%lld", (long long)at.run);
        table_cell(t, human_when(when, at.started));
        table_cell(t, at.workflow ? at.workflow : "-");
        table_cell(t, at.kind);
        table_printf(t, "%u", at.attempts);
        predict_share(t, at.error);
        table_printf(t, "%.2f", at.ratio);
        predict_share(t, at.inside);
    }
    if (json) {
        json_write_end_array(&j);
        json_write_end_object(&j);
    } else if (weft_prediction_errors_get(e, 0, &at)) {
        table_print(t, out, &(struct table_style){.colour = cli_colour(), .max_cell = 40});
    } else {
        strbuf_add(out, "no run was predicted: `weft run` keeps what was expected of kinds that it "
                        "has seen before; a run that was imported was not expected\n");
    }
    table_free(t);
}

/* Newest first, so that what got better stands above what it was. */
static int predict_errors(const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    int64_t runs;
    if (!arguments_integer(a, "limit", 20, 1, 1000000, &runs, &err))
        return cli_fail(&err);
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_prediction_errors *e =
        h ? weft_history_prediction_errors(h, (size_t)runs, &error) : NULL;
    struct strbuf out = {0};
    if (e)
        predict_error_rows(e, arguments_flag(a, "json"), &out);
    int status = e ? cli_print(&out) : cli_failed(&error);
    strbuf_free(&out);
    weft_prediction_errors_free(e);
    weft_history_close(h);
    return status;
}

static int predict_command(const struct arguments *a)
{
    struct weft_error error;
    struct error err = {0};
    double risk;
    if (arguments_flag(a, "error") != !a->noperands) {
        error_set(&err, ERROR_INPUT, "predict takes a workflow, or --error instead of one");
        return cli_fail(&err);
    }
    if (arguments_flag(a, "error"))
        return predict_errors(a);
    if (!cli_risk(a, &risk, &err))
        return cli_fail(&err);
    struct weft_workflow *w = cli_workflow(a, a->operand[0], &error);
    struct weft_predictions *f = w ? weft_workflow_predictions(w, &error) : NULL;
    struct strbuf out = {0};
    int status;
    if (!f) {
        status = cli_failed(&error);
    } else {
        if (arguments_flag(a, "json"))
            predict_json(w, f->model, risk, &out);
        else
            predict_text(inside_workflow(w), f->model, arguments_flag(a, "tasks"), risk, &out);
        status = cli_print(&out);
    }
    strbuf_free(&out);
    weft_predictions_free(f);
    weft_workflow_free(w);
    return status;
}

const struct command command_predict = {
    .name = "predict",
    .operands = "[FLOW [TARGET...]]",
    .least = 0,
    .most = SIZE_MAX,
    .summary = "what each task will take, from past runs, with interval and error",
    .details = "Times are seconds at speed 1, with the interval in which 9 of 10 fall; memory and\n"
               "disk are what 19 of 20 stay below; `cores` is how many a task keeps busy. What no\n"
               "past run tells is unknown. The second table says how good predictions of a kind\n"
               "are, and which machines they come from.\n\n"
               "examples:\n"
               "  weft predict flow.yaml\n"
               "  weft predict flow.yaml --risk 0.9    times that 9 of 10 tasks stay below\n"
               "  weft predict flow.yaml --json\n"
               "  weft predict --error                 do predictions get better?\n",
    .options = options,
    .rules = predict_rules,
    .run = predict_command,
};
