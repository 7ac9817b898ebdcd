/* `weft cancel`: end a run on a cluster or on this machine, or one of its tasks with everything that depends on it. */
#include "base/json.h"
#include "cli/cluster_view.h"
#include "cli/run_screen.h"
#include "cli/signals.h"
#include "weft/watch.h"

#include <inttypes.h>
#include <string.h>

static const struct cli_option cancel_options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where a `weft run --on` left its note (default: here)"},
    {"here", 0, NULL, "RUN is a run of this machine, by its number in the history"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* "told" in the JSON is what the agent answered; it may be empty. */
static int cancel_report(const struct arguments *a, uint64_t run, const char *said)
{
    struct strbuf out = {0};
    const char *task = a->noperands > 1 ? a->operand[1] : NULL;
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-cancelled/1");
        json_put_integer(&j, "run", (int64_t)run);
        json_put_text(&j, "task", task);
        json_put_string(&j, "told", said);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!arguments_flag(a, "quiet")) {
        if (task)
            strbuf_printf(&out, "run %" PRIu64 ": task %s and what depends on it are %s\n", run,
                          task, *said ? said : "cancelled");
        else if (arguments_flag(a, "here"))
            strbuf_printf(&out,
                          "run %" PRIu64
                          " is stopping: nothing new starts; once more, and what runs is ended\n",
                          run);
        else
            strbuf_printf(&out,
                          "run %" PRIu64 " is cancelled; what it had made so far comes with "
                          "`weft attach %" PRIu64 "`\n",
                          run, run);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

/* By its name. */
static bool cancel_find(const struct weft_watch *w, const char *name, uint32_t *task)
{
    struct weft_watch_task t = WEFT_WATCH_TASK_INIT;
    for (*task = 0; weft_watch_task(w, *task, &t); ++*task)
        if (strcmp(t.name, name) == 0)
            return true;
    return false;
}

/* A run of this machine, which has no agents to tell: it looks itself at what it is asked. */
static int cancel_here(const struct arguments *a, uint64_t number)
{
    struct weft_error error;
    uint32_t task = 0;
    struct weft_watch *w = weft_watch_open((int64_t)number, &error);
    const char *name = a->noperands > 1 ? a->operand[1] : NULL;
    bool good = w != NULL;
    if (good && name && !cancel_find(w, name, &task)) {
        struct error err = {0};
        weft_watch_close(w);
        error_set(&err, ERROR_INPUT,
                  "run %" PRIu64 " has no task '%s'; `weft history %" PRIu64 "` lists them", number,
                  name, number);
        return cli_fail(&err);
    }
    if (good)
        good = name ? weft_watch_cancel(w, task, &error) : weft_watch_stop(w, &error);
    weft_watch_close(w);
    return good ? cancel_report(a, number, "being cancelled") : cli_failed(&error);
}

/* Ctrl-C meanwhile ends the waiting, not what was asked for. */
static int cancel_command(const struct arguments *a)
{
    struct error err = {0};
    struct weft_error error;
    uint64_t number = 0;
    if (!run_screen_number(a->operand[0], &number, &err))
        return cli_fail(&err);
    if (arguments_flag(a, "here"))
        return cancel_here(a, number);
    struct weft_cluster *cluster = cluster_view_open(a, number, &error);
    const char *said = "";
    bool good = cluster != NULL;
    if (good) {
        signals_stop_cluster(cluster);
        good = weft_cluster_cancel(cluster, number, a->noperands > 1 ? a->operand[1] : NULL, &said,
                                   &error);
        signals_release();
    }
    int status = good ? cancel_report(a, number, said) : cli_failed(&error);
    weft_cluster_close(cluster);
    return status;
}

const struct command command_cancel = {
    .name = "cancel",
    .operands = "RUN [TASK]",
    .least = 1,
    .most = 2,
    .summary = "end a run on a cluster or of this machine, or one of its tasks",
    .details =
        "Without TASK everything of the run ends now. With TASK only that one and all that\n"
        "depends on it, wherever they are; the rest of the run goes on. What is done stays\n"
        "done. Runs on a cluster have the number that `weft status` shows; with --here RUN is a\n"
        "run of this machine, by its number in the history, and without TASK it is stopped as by\n"
        "Ctrl-C in its terminal.\n\n"
        "examples:\n"
        "  weft cancel 3\n"
        "  weft cancel 3 align_7\n"
        "  weft cancel --here 41 align_7\n",
    .options = cancel_options,
    .run = cancel_command,
};
