/* `weft reproduce [STUDY]`: arguments in, what the study hands back out. The studies themselves
 * stand in src/study. */
#include "cli/cli.h"
#include "api/making.h"
#include "study/reproduction.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/weft.h>

static const struct cli_option options[] = {
    {"output", 'o', "FOLDER", "where the report and its pictures go (default reproduce-NAME)"},
    {"quick", 0, NULL, "a small version, in seconds"},
    {"runs", 0, "N", "repeats of every simulation (default: as many as the study needs)"},
    {"data", 0, "FOLDER[:FOLDER]",
     "instances to use beside generated ones (hetpart: trees, matrices)"},
    OPTION_SEED,
    OPTION_QUIET,
    OPTION_END,
};

static const struct cli_rule reproduce_rules[] = {
    {"output quick runs data seed quiet", "STUDY", NULL},
    RULES_END,
};

static int reproduce_list(void)
{
    struct strbuf out = {0};
    for (size_t i = 0; reproduction_registry[i]; i++)
        strbuf_printf(&out, "%-10s %s\n", reproduction_registry[i]->name,
                      reproduction_registry[i]->summary);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* What a run tells of its tasks, by their numbers. */
struct reproduce_events {
    uint32_t ntasks;
    double *finish;
    uint32_t *agent;
};

static void reproduce_event(void *context, const struct weft_event *e)
{
    struct reproduce_events *x = context;
    if (e->kind != WEFT_EVENT_ENDED || e->outcome != WEFT_OUTCOME_DONE || e->task >= x->ntasks)
        return;
    x->finish[e->task] = e->time;
    x->agent[e->task] = e->node;
}

/* Agents run the very program that starts them. No history: a study is no past of the user's. */
static bool reproduce_execute(const char *workflow, const char *plan, uint32_t agents,
                              uint32_t ntasks, double *finish, uint32_t *agent, struct error *err)
{
    struct weft_error error;
    struct reproduce_events x = {ntasks, finish, agent};
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    char program[4096], on[32];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    snprintf(on, sizeof on, "local:%u", agents);
    o.on = on;
    o.program = n > 0 ? program : NULL;
    o.cores = 1;
    o.force = true;
    o.no_history = true;
    o.follow = "strict";
    o.event = reproduce_event;
    o.context = &x;
    struct weft_run *run = weft_run_open(workflow, &o, &error);
    bool good = run && weft_run_follow_file(run, plan, &error) && weft_run_start(run, &error);
    /* a wish that did not hold makes it fail, and is what the study counts: all tasks ended well */
    if (good && !weft_run_wait(run, &error))
        good = weft_run_result(run) && weft_run_result(run)->done == ntasks;
    if (!good)
        error_set(err, ERROR_FAILED, "%s", error.text);
    weft_run_close(run);
    return good;
}

static const struct reproduction_runner reproduce_runner = {reproduce_execute};

static int reproduce_run(const struct arguments *a)
{
    if (!a->noperands)
        return reproduce_list();
    struct error err = {0};
    char folder[256];
    int64_t seed, runs;
    const struct reproduction *study = reproduction_find(a->operand[0], &err);
    if (!study || (study->ignores && !arguments_refuse(a, study->ignores, "this study", &err)) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, &err) ||
        !arguments_integer(a, "runs", 0, 0, 1000000, &runs, &err))
        return cli_fail(&err);
    snprintf(folder, sizeof folder, "reproduce-%s", study->name);
    const char *output = arguments_value(a, "output");
    struct progress progress = cli_progress(study->working_on);
    struct reproduction_options o = {.folder = output ? output : folder,
                                     .quick = arguments_flag(a, "quick"),
                                     .seed = (uint64_t)seed,
                                     .runs = (uint32_t)runs,
                                     .data = arguments_value(a, "data"),
                                     .progress = arguments_flag(a, "quiet") ? NULL : &progress,
                                     .replayer = &api_replayer,
                                     .runner = &reproduce_runner};
    if (mkdir(o.folder, 0777) && errno != EEXIST) {
        error_set(&err, ERROR_FAILED, "cannot make folder %s: %s", o.folder, strerror(errno));
        return cli_fail(&err);
    }
    struct strbuf out = {0};
    bool ok = study->run(&o, &out, &err);
    cli_progress_done();
    int status = ok ? cli_print(&out) : cli_fail(&err);
    strbuf_free(&out);
    return status;
}

const struct command command_reproduce = {
    .name = "reproduce",
    .operands = "[STUDY]",
    .least = 0,
    .most = 1,
    .summary = "repeat a published study and set its figures beside ours",
    .details =
        "Without STUDY: lists the studies. Writes a report (Markdown) and pictures (SVG).\n\n"
        "examples:\n"
        "  weft reproduce ic\n"
        "  weft reproduce hetpart --data trees:matrices\n"
        "  weft reproduce ic --quick -o report\n",
    .options = options,
    .rules = reproduce_rules,
    .run = reproduce_run,
};
