/* `weft cancel`: end a run on a cluster, or one of its tasks with everything that depends on it. */
#include "base/json.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/cluster_options.h"
#include "cli/cluster_signals.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct cli_option options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where a `weft run --on` left its note (default: here)"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static bool find_task(const struct workflow *w, const char *name, uint32_t *task, struct error *err)
{
    *task = workflow_find_task(w, name);
    if (*task != NONE)
        return true;
    const char **names = mem_new(const char *, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        names[t] = workflow_task_name(w, t);
    const char *near = suggest_nearest(name, names, w->ntasks);
    error_set(err, ERROR_INPUT, "the run has no task '%.200s'%s%.200s%s", name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return false;
}

static int report(const struct arguments *a, uint64_t run, const char *told)
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
        json_put_string(&j, "told", told);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!arguments_flag(a, "quiet")) {
        if (task)
            strbuf_printf(&out, "run %" PRIu64 ": task %s and what depends on it: %s\n", run, task,
                          *told ? told : "cancelled");
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

static bool can_be_cancelled(const struct client *c, uint64_t run, struct error *err)
{
    const struct board_run *r = client_run(c, run);
    if (!r)
        return client_unknown(c, run, err);
    if (r->state >= BOARD_RUN_ENDED)
        return error_set(err, ERROR_FAILED, "run %" PRIu64 " has ended already", run);
    return true;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct cluster_place place = {0};
    struct ticket ticket = {0};
    struct client *client = NULL;
    struct workflow *w = NULL;
    struct strbuf told = {0};
    uint64_t number = 0;
    uint32_t task = NONE;
    bool good = cluster_run_number(a->operand[0], &number, &err) &&
                cluster_place(a, number, &place, &err) &&
                (client = cluster_client(a, &place, NULL, &err)) &&
                can_be_cancelled(client, number, &err);
    if (good && a->noperands > 1)
        good = client_ticket(client, number, &ticket, &err) &&
               (w = cluster_read_workflow(ticket.workflow.at, ticket.workflow.n, &err)) &&
               find_task(w, a->operand[1], &task, &err);
    if (good) {
        cluster_signals_client(client);
        good = client_cancel(client, number, task, &told, &err);
        cluster_signals_release();
    }
    int status = good ? report(a, number, strbuf_text(&told)) : cli_fail(&err);
    strbuf_free(&told);
    workflow_free(w);
    ticket_free(&ticket);
    client_close(client);
    cluster_place_free(&place);
    return status;
}

const struct command command_cancel = {
    .name = "cancel",
    .operands = "RUN [TASK]",
    .least = 1,
    .most = 2,
    .summary = "end a run on a cluster, or one of its tasks",
    .details = "Without TASK everything of the run ends now. With TASK only that one and all that\n"
               "depends on it, wherever they are; the rest of the run goes on. What is done stays\n"
               "done.\n\n"
               "examples:\n"
               "  weft cancel 3\n"
               "  weft cancel 3 align_7\n",
    .options = options,
    .run = run,
};
