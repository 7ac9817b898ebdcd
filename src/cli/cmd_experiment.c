/* `weft experiment`: the combinations of an experiment as one workflow: how much work it is with
 * and without reuse, which combination gives which files, and the run itself. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/experiment_output.h"
#include "cli/run_session.h"
#include "formats/native/experiment.h"
#include "history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNMERGED = 200000 }; /* tasks: past them the plan without reuse is not made */

static const struct cli_option options[] = {
    {"plan-only", 0, NULL, "only say what it takes: combinations, tasks, predicted time"},
    {"list", 0, NULL, "list the combinations, with the files that each gives"},
    {"values", 0, "RESULT", "list the figures in this result instead: its lines are `name value`"},
    {"output", 'o', "FILE", "write the merged workflow (native YAML, or by the suffix)"},
    RUN_OPTIONS,
    OPTION_ON,
    {"with", 0, "PLANNER", "predict with this planner (default auto); a run follows its plan"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* ---- figures ---- */

static double sum_work(const struct workflow *w)
{
    double sum = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        sum += w->work[t];
    return sum;
}

/* Does any task say how long it takes? */
static bool states_times(const struct workflow *w)
{
    bool any = w->time_off != NULL;
    for (uint32_t t = 0; t < w->ntasks && !any; t++)
        any = w->work[t] > 0;
    return any;
}

/* Times that past runs tell, in place of what the file states. */
static void learn(struct study *s, struct workflow *w)
{
    struct error err = {0};
    char *path = history_default_path(), *folder = file_beside(s->x.workflow, "."), name[256];
    struct history *h = path ? history_open_existing(path, &err) : NULL;
    struct forecast *f =
        h ? history_forecast(h, w, cli_workflow_name(w, name, sizeof name), folder, &err) : NULL;
    if (f && forecast_knows(f)) {
        double *work = mem_new(double, w->ntasks);
        s->measured = 0;
        for (uint32_t t = 0; t < w->ntasks; t++) {
            struct forecast_task task;
            forecast_task(f, t, &task);
            bool known = task.prediction.samples > 0;
            work[t] = known ? task.prediction.seconds : NAN;
            s->measured += known;
        }
        workflow_set_work(w, work, NULL);
        free(work);
    }
    forecast_free(f);
    history_close(h);
    free(path);
    free(folder);
}

static bool predict(const struct arguments *a, const struct study *s, const struct workflow *w,
                    double *time, struct error *err)
{
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    struct progress progress = cli_progress("predicting");
    struct plan_request request = {.workflow = w,
                                   .platform = s->platform,
                                   .seed = s->seed,
                                   .progress = quiet ? NULL : &progress};
    struct plan *plan = planner_run(s->planner, &request, err);
    cli_progress_done();
    if (plan)
        *time = plan_objective(plan, "makespan");
    plan_free(plan);
    return plan != NULL;
}

static bool measure(const struct arguments *a, struct study *s, struct error *err)
{
    bool past = !arguments_flag(a, "no-history");
    s->time = s->time_without = NAN;
    if (past)
        learn(s, s->merged->workflow);
    s->work = sum_work(s->merged->workflow);
    s->work_without = NAN;
    bool stated = states_times(s->merged->workflow);
    if (stated && !predict(a, s, s->merged->workflow, &s->time, err))
        return false;
    if (s->merged->tasks_without_reuse > MOST_UNMERGED)
        return true;
    struct merged *apart = experiment_merge(&s->x, s->original, false, err);
    if (!apart)
        return false;
    uint32_t measured = s->measured;
    if (past && measured)
        learn(s, apart->workflow);
    s->measured = measured;
    s->work_without = sum_work(apart->workflow);
    bool good = !stated || predict(a, s, apart->workflow, &s->time_without, err);
    merged_free(apart);
    return good;
}

/* ---- the run ---- */

/* Prefer tasks in the order of a plan, when --with asks for one. */
static bool follow_plan(const struct arguments *a, const struct study *s, struct session *run,
                        struct error *err)
{
    if (!arguments_value(a, "with"))
        return true;
    struct plan_request request = {.workflow = run->w, .platform = s->platform, .seed = s->seed};
    struct plan *plan = planner_run(s->planner, &request, err);
    if (plan)
        session_follow(run, plan);
    plan_free(plan);
    return plan != NULL;
}

/* Run the merged workflow in the folder of the original, then say where the results are. */
static int experiment_run(const struct arguments *a, struct study *s)
{
    struct error err = {0};
    struct session run = {0};
    struct merged *m = s->merged;
    bool show = arguments_flag(a, "dry-run");
    int status;
    session_begin(&run, a, s->x.workflow);
    if (!session_open(&run, m->workflow, &err) || !follow_plan(a, s, &run, &err)) {
        status = cli_fail(&err);
    } else {
        status = show ? session_show(&run) : session_run(&run);
        if (status == 0 && !show && !run.quiet) {
            struct strbuf out = {0};
            strbuf_add_char(&out, '\n');
            experiment_results(s, &out);
            status = cli_print(&out);
            strbuf_free(&out);
        }
    }
    session_close(&run);
    m->workflow = NULL; /* was the session's */
    return status;
}

/* ---- what has been run before ---- */

struct before {
    struct memo *memo;
    struct needs needs;
    struct known_results known;
};

static bool is_done(void *context, uint32_t task, const struct digest *key)
{
    (void)key; /* the runtime's own keys know the contents of files as well */
    const struct before *b = context;
    return b->needs.task[task] == NEED_NOT;
}

/* Is there a record in the workflow's folder? A folder in which nothing ran, an input that is not
 * there or a run that goes on: then nothing is known, which is no mistake of the user's. */
static void look_back(struct study *s, struct before *b)
{
    char *path = file_beside(s->x.workflow, ".weft/memo");
    char *folder = file_beside(s->x.workflow, ".");
    if (s->merged->workflow->command && file_exists(path))
        b->memo = memo_open(path, NULL, NULL);
    struct need_options need = {0};
    if (b->memo && needs_find(&b->needs, s->merged->workflow, folder, b->memo, &need, NULL)) {
        b->known = (struct known_results){is_done, b};
        s->known = &b->known;
    }
    double work;
    s->remaining = merged_remaining(s->merged, s->known, &work);
    needs_free(&b->needs);
    memo_close(b->memo, NULL);
    s->known = NULL;
    free(path);
    free(folder);
}

/* ---- the command ---- */

static bool read_all(const struct arguments *a, struct study *s, struct error *err)
{
    const char *with = arguments_value(a, "with"), *on = arguments_value(a, "on");
    int64_t seed;
    s->planner = planner_find(with ? with : "auto");
    if (!s->planner)
        return planner_unknown(with, err);
    if (s->planner->accepts & (ACCEPTS_ORDER | ACCEPTS_STREAM))
        return error_set(
            err, ERROR_INPUT,
            "--with %s: that planner predicts no makespan; auto or a list planner does", with);
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, err) ||
        !experiment_file_read(a->operand[0], &s->x, err))
        return false;
    s->seed = (uint64_t)seed;
    struct format_file *file = cli_open(a, s->x.workflow, err);
    if (file)
        s->original = format_file_workflow(file, err);
    format_file_close(file);
    if (!s->original)
        return false;
    cli_warnings(a, s->original);
    s->platform = machine_named(on ? on : "this-machine", err);
    double started = clock_seconds();
    s->merged = s->platform ? experiment_merge(&s->x, s->original, true, err) : NULL;
    s->seconds = clock_seconds() - started;
    s->values = arguments_value(a, "values");
    return s->merged && experiment_has_values(s, err);
}

static bool write_merged(const struct arguments *a, const struct study *s, struct error *err)
{
    const char *path = arguments_value(a, "output");
    const struct format *format =
        strcmp(path, "-") == 0 ? format_find("native") : format_for_path(path, err);
    struct strbuf dropped = {0};
    bool good = format && format_write_workflow(path, format, s->merged->workflow, &dropped, err);
    if (good && !arguments_flag(a, "quiet"))
        cli_dropped(&dropped);
    strbuf_free(&dropped);
    return good;
}

static int report(const struct arguments *a, struct study *s)
{
    struct error err = {0};
    const char *output = arguments_value(a, "output");
    bool to_stdout = output && strcmp(output, "-") == 0, json = arguments_flag(a, "json");
    bool list = arguments_flag(a, "list");
    if (to_stdout && (json || list)) {
        error_set(&err, ERROR_INPUT,
                  "only one result can go to standard output; write the others to files");
        return cli_fail(&err);
    }
    if (output && !write_merged(a, s, &err))
        return cli_fail(&err);
    if (to_stdout)
        return 0;
    look_back(s, &(struct before){0});
    if (!measure(a, s, &err))
        return cli_fail(&err);
    struct strbuf out = {0};
    if (json)
        experiment_json(s, list, &out);
    else
        experiment_text(s, list, &out);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    struct study s = {0};
    struct error err = {0};
    int status;
    if (!read_all(a, &s, &err))
        status = cli_fail(&err);
    else if (arguments_flag(a, "plan-only") || arguments_flag(a, "list") ||
             arguments_value(a, "output"))
        status = report(a, &s);
    else
        status = experiment_run(a, &s);
    merged_free(s.merged);
    platform_free(s.platform);
    workflow_free(s.original);
    experiment_free(&s.x);
    return status;
}

const struct command command_experiment = {
    .name = "experiment",
    .operands = "EXP",
    .least = 1,
    .most = 1,
    .summary = "try every combination of substitutions, computing nothing twice",
    .details = "EXP names a workflow and what is replaced in it: data, tasks or parameters. All\n"
               "combinations become one workflow in which each distinct computation stands once\n"
               "(docs/experiments.md). --plan-only, --list and -o run nothing.\n\n"
               "examples:\n"
               "  weft experiment edges.exp.yaml --plan-only --on 9\n"
               "  weft experiment edges.exp.yaml --list\n"
               "  weft experiment edges.exp.yaml -o merged.yaml\n",
    .options = options,
    .run = run,
};
