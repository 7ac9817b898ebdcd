/* `weft attach`: follow a run on a cluster and take its results home. */
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/cluster_session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
    OPTION_STORE,
    OPTION_KEY,
    {"directory", 'C', "DIR", "where the results go (default: where the run was submitted from)"},
    {"no-history", 0, NULL, "leave no record of this run"},
    {"json", 0, NULL, "events as they happen, one JSON object a line on standard output"},
    OPTION_QUIET,
    OPTION_END,
};

/* Where the results belong: as told, else the folder from which it came, if that is this machine's.
 */
static const char *choose_folder(const struct arguments *a, const struct ticket *t,
                                 struct error *err)
{
    const char *given = arguments_value(a, "directory");
    struct stat st;
    if (given)
        return given;
    if (stat(t->folder, &st) == 0 && S_ISDIR(st.st_mode))
        return t->folder;
    error_set(err, ERROR_INPUT,
              "the run was submitted on %s from %s, which is not here; -C DIR says where its "
              "results go",
              t->host, t->folder);
    return NULL;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct session s = {0};
    struct cluster_place place = {0};
    struct ticket ticket = {0};
    struct cluster_note note = {0};
    uint64_t number;
    struct client *client = NULL;
    const char *folder = NULL;
    struct workflow *w = NULL;
    bool good = cluster_run_number(a->operand[0], &number, &err) &&
                cluster_place(a, number, &place, &err) &&
                (client = cluster_client(a, &place, NULL, &err)) &&
                client_ticket(client, number, &ticket, &err) &&
                (folder = choose_folder(a, &ticket, &err)) &&
                (w = cluster_read_workflow(ticket.workflow.at, ticket.workflow.n, &err)) &&
                session_join(&s, a, ticket.name, folder, w, ticket.done.at, ticket.done.n, &err);
    int status;
    if (good) {
        struct cluster_session c = {.session = &s,
                                    .client = client,
                                    .place = &place,
                                    .run = number,
                                    .ticket = &ticket,
                                    .interrupt = CLIENT_INTERRUPT_DETACHES};
        bool own = place.noted && cluster_note_read(s.state, number, &note) && note.target;
        c.target = own ? note.target : NULL;
        s.execute = cluster_execute;
        s.where = &c;
        uint32_t cores = 0;
        size_t n;
        const struct member *m = client_members(client, &n);
        for (size_t i = 0; i < n; i++)
            cores += client_lives(client, &m[i]) ? m[i].cores : 0;
        s.cores = cores ? cores : 1;
        status = session_run(&s);
        if (s.detached) {
            cluster_say_detached(&c);
            status = 0;
        } else if (own && !c.followed.missing) {
            client_leave(client, NULL, 0, true, 20); /* they were started for this run alone */
        }
    } else {
        status = cli_fail(&err);
    }
    if (s.a)
        session_close(&s);
    else
        workflow_free(w);
    cluster_note_free(&note);
    ticket_free(&ticket);
    client_close(client);
    cluster_place_free(&place);
    return status;
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
        "in that folder, or name it with -C.\n"
        "Exit status: 0 all is done (or detached), 1 a task failed or the run was stopped.\n\n"
        "examples:\n"
        "  weft attach 3\n"
        "  weft attach 3 -C results\n"
        "  weft attach 3 --json | jq .\n",
    .options = options,
    .run = run,
};
