/* `weft attach`: follow a run on a cluster and take its results home. */
#include "cli/run_screen.h"

static const struct cli_option attach_options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where the results go (default: where the run was submitted from)"},
    OPTION_OVERWRITE,
    {"no-history", 0, NULL, "leave no record of this run"},
    OPTION_WAIT,
    OPTION_LOG,
    {"json", 0, NULL, "events as they happen, one JSON object a line on standard output"},
    OPTION_QUIET,
    OPTION_END,
};

/* Who reads JSON waits for no event: there is no run. The options were right, whatever they are. */
static int attach_nothing(const struct arguments *a)
{
    for (size_t i = 0; i < a->ngiven; i++)
        a->given[i].used = true;
    if (!arguments_given(a, "quiet") && !arguments_given(a, "json"))
        cli_say("", "no run to attach: nothing was to do");
    return 0;
}

/* Opening finds the run and its folder; following it is as with `weft run`. */
static int attach_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    struct run_screen s = {0};
    struct weft_run_options o;
    uint64_t number;
    if (!a->operand[0][0]) /* what `submit -q` prints when nothing was to do */
        return attach_nothing(a);
    if (!run_screen_number(a->operand[0], &number, &err) || !run_screen_options(&s, a, &o, &err))
        return run_screen_close(&s, cli_fail(&err));
    s.flow = "FLOW"; /* which file it was is known where it was submitted */
    s.run = weft_run_attach(number, &o, &error);
    int status = s.run ? run_screen_follow(&s) : cli_failed(&error);
    const struct weft_result *result = s.run ? weft_run_result(s.run) : NULL;
    if (result && result->detached)
        status = 0; /* as the user wished */
    return run_screen_close(&s, status);
}

const struct command command_attach = {
    .name = "attach",
    .operands = "RUN",
    .least = 1,
    .most = 1,
    .summary = "follow a run on a cluster and bring its results",
    .details =
        "Shows the run as `weft run` would, tells what happened before, and fetches final\n"
        "outputs as they are made. When all is here the agents may delete their copies. What\n"
        "was computed is recorded in the folder, so that nothing runs twice.\n\n"
        "Ctrl-C detaches: the run goes on, and may be attached again. `weft cancel RUN` ends it.\n"
        "A run that `weft run --on` left going on is found by the note in .weft/cluster: run it\n"
        "in that folder, or name it with -C. An empty RUN is what `weft submit -q` prints when\n"
        "nothing was to do: then there is nothing to attach, with status 0.\n\n"
        "Exit status: 0 all is done (or detached), 1 a task failed or the run was stopped or\n"
        "cancelled, 2 bad input (no such run, or its results were taken already).\n\n"
        "examples:\n"
        "  weft attach 3\n"
        "  weft attach 3 -C results\n"
        "  weft attach 3 --json | jq .\n",
    .options = attach_options,
    .run = attach_command,
};
