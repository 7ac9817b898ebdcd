/* `weft submit`: hand a workflow to the agents of a cluster, and go. */
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/cluster_session.h"
#include "cli/cluster_signals.h"
#include "report/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    OPTION_STORE,
    OPTION_KEY,
    CLUSTER_WORK_OPTIONS,
    {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},
    {"keep-going", 'k', NULL, "after a failure, run what does not depend on it"},
    {"force", 'f', NULL, "run every task, done or not"},
    {"no-sandbox", 0, NULL, "run every task in the run's folder itself"},
    {"no-limits", 0, NULL, "measure the memory of tasks, but do not enforce it"},
    {"retry-delay", 0, "SECONDS", "before the second attempt, then doubled (default 0.1)"},
    {"no-history", 0, NULL, "predict nothing from past runs"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

static int report(const struct session *s, const struct client_submitted *in)
{
    struct strbuf out = {0};
    char size[HUMAN_SIZE];
    if (s->json) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-submitted/1");
        json_put_string(&j, "workflow", s->name);
        json_write_key(&j, "run");
        if (in->run)
            json_write_unsigned(&j, in->run);
        else
            json_write_null(&j); /* nothing to do */
        json_put_integer(&j, "tasks", s->w->ntasks);
        json_put_integer(&j, "to_run", s->needs.run);
        json_put_integer(&j, "agents", in->agents);
        json_put_bool(&j, "shared", in->shared);
        json_put_integer(&j, "files", in->files);
        json_put_integer(&j, "copies", in->copies);
        json_put_number(&j, "bytes", in->bytes);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!in->run) {
        strbuf_printf(&out, "%s: nothing to do: %s task%s up to date\n", s->name,
                      human_count(size, s->w->ntasks), s->w->ntasks == 1 ? " is" : "s are");
    } else if (s->quiet) {
        strbuf_printf(&out, "%" PRIu64 "\n", in->run);
    } else {
        strbuf_printf(&out, "run %" PRIu64 ": %u of %u tasks on %u agent%s", in->run, s->needs.run,
                      s->w->ntasks, in->agents, in->agents == 1 ? "" : "s");
        if (!in->shared && in->files)
            strbuf_printf(&out, "; %u file%s handed over, %s in %u cop%s", in->files,
                          in->files == 1 ? "" : "s", human_bytes(size, in->bytes), in->copies,
                          in->copies == 1 ? "y" : "ies");
        strbuf_printf(&out,
                      "\n`weft attach %" PRIu64 "` follows it and brings the results, `weft "
                      "status %" PRIu64 "` shows it\n",
                      in->run, in->run);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static struct workflow *read_flow(const struct arguments *a, struct error *err)
{
    struct format_file *f = cli_open(a, a->operand[0], err);
    struct workflow *w = f ? format_file_workflow(f, err) : NULL;
    format_file_close(f);
    if (w)
        cli_warnings(a, w);
    return w;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct session s = {0};
    struct cluster_place place = {0};
    struct client_submitted in = {0};
    struct client_work checked = {0};
    session_begin(&s, a, a->operand[0]);
    session_elsewhere(&s, NULL, NULL);
    struct cluster_session c = {.session = &s, .place = &place};
    bool good = cluster_work_options(a, &checked, &err) && cluster_place(a, 0, &place, &err) &&
                session_open(&s, read_flow(a, &err), &err);
    if (good && s.needs.run) {
        session_predict(&s);
        c.client = cluster_client(a, &place, NULL, &err);
        if (c.client)
            cluster_signals_client(c.client);
        good = c.client &&
               cluster_hand_in(&c,
                               &(struct run_options){.keep_going = arguments_flag(a, "keep-going"),
                                                     .no_sandbox = arguments_flag(a, "no-sandbox"),
                                                     .unlimited = arguments_flag(a, "no-limits"),
                                                     .retry_first = s.retry_first},
                               &in, &err);
        cluster_signals_release();
    }
    int status = good ? report(&s, &in) : cli_fail(&err);
    client_close(c.client);
    cluster_place_free(&place);
    session_close(&s);
    return status;
}

const struct command command_submit = {
    .name = "submit",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "hand a workflow to the agents of a cluster, and go",
    .details =
        "Tasks whose results are here already do not run. The others are shared out among the\n"
        "agents (`weft agent`), which get the files that they read; then the run is open and\n"
        "needs this machine no more. `weft attach RUN` follows it and brings the results, from\n"
        "anywhere and as often as you like; `weft status`, `weft cancel`.\n\n"
        "--submit as in section 2.2 of the MATRIX paper: best gives every agent an equal share,\n"
        "neighbours in the graph together; worst gives all tasks to one agent, from which the\n"
        "others steal; group:a,b gives shares to the agents on these hosts.\n"
        "Files are copied unless all agents see the workflow's folder (which is looked for):\n"
        "then they work in it. --shared and --no-shared decide.\n\n"
        "examples:\n"
        "  weft submit flow.yaml\n"
        "  weft submit flow.yaml --store redis://head:6379 --key cluster.key\n"
        "  weft submit flow.yaml --submit worst --policy auto\n"
        "  run=$(weft submit flow.yaml -q) && weft attach $run\n",
    .options = options,
    .run = run,
};
