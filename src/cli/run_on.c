#include "cli/run_on.h"

#include "base/mem.h"
#include "cli/cluster_signals.h"
#include "cluster/launch/fleet.h"
#include "cluster/launch/launch.h"
#include "base/tree.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Agents that nobody tells to leave (their client was killed, and nobody attached) do not stay for
 * ever; under Slurm idle ones are given back soon. */
static const double LINGER = 3600, LINGER_SLURM = 120;
static const double JOINING = 30, LEAVING = 30; /* seconds */

struct run_on {
    struct session *session;
    struct cluster_session c;
    struct cluster_place place;
    struct fleet *fleet; /* NULL: others' agents */
    char *state;         /* of the fleet */
    uint32_t nodes;      /* at most */
    uint32_t cores;      /* of a node; 0: not known */
};

bool run_on_check(const struct arguments *a, struct error *err)
{
    static const char *const only[] = {"nodes", "store", "key", "submit", "policy"};
    const char *on = arguments_value(a, "on");
    struct client_work work = {0};
    if (!on) {
        for (size_t i = 0; i < sizeof only / sizeof *only; i++)
            if (arguments_value(a, only[i]))
                return error_set(err, ERROR_INPUT, "--%s goes with --on", only[i]);
        if (arguments_flag(a, "shared") || arguments_flag(a, "no-shared"))
            return error_set(err, ERROR_INPUT, "--shared and --no-shared go with --on");
        return true;
    }
    if (strcmp(on, "cluster") != 0 && !launch_is_target(on))
        return error_set(err, ERROR_INPUT,
                         "--on is '%.100s'; expected local:N, ssh:HOST,HOST..., slurm or cluster",
                         on);
    if (arguments_value(a, "nodes") && strcmp(on, "slurm") != 0)
        return error_set(err, ERROR_INPUT, "--nodes goes with --on slurm");
    if (arguments_value(a, "disk"))
        return error_set(err, ERROR_INPUT,
                         "--disk limits a run on this machine; with --on, agents have --cache");
    return cluster_work_options(a, &work, err);
}

/* A run that was left going on in this folder: two at once would write the same files. One whose
 * cluster is gone has left nothing but the note. */
static bool nobody_else_runs(struct run_on *r, struct error *err)
{
    struct session *s = r->session;
    size_t n;
    bool good = true;
    uint64_t *runs = cluster_notes(s->state, &n);
    for (size_t i = 0; i < n && good; i++) {
        struct cluster_note note;
        struct cluster_place place = {0};
        struct client *client = NULL;
        bool there = cluster_note_read(s->state, runs[i], &note) &&
                     key_file_get(note.key, &place.key, NULL) &&
                     cluster_address(note.store, &place.key, &place.address, NULL) &&
                     (client = cluster_client(s->a, &place, NULL, NULL));
        const struct board_run *run = there ? client_run(client, runs[i]) : NULL;
        if (run && run->state != BOARD_RUN_COLLECTED)
            good = error_set(err, ERROR_FAILED,
                             "run %" PRIu64 " of this folder goes on at %s; `weft attach %" PRIu64
                             " -C %s` follows it, `weft cancel %" PRIu64 " -C %s` ends it",
                             runs[i], note.store, runs[i], s->folder, runs[i], s->folder);
        else
            cluster_note_remove(s->state, runs[i]);
        client_close(client);
        cluster_place_free(&place);
        cluster_note_free(&note);
    }
    free(runs);
    return good;
}

/* ---- agents of its own ---- */

static void say_launch(void *context, const char *line)
{
    struct session *s = context;
    if (!s->quiet)
        cli_say("", line);
}

/* Tasks that may start at once. */
static uint32_t ready_now(const struct session *s)
{
    const struct workflow *w = s->w;
    uint32_t ready = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool waits = s->needs.task[t] == NEED_NOT;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1] && !waits; e++)
            waits = s->needs.task[w->pred_task[e]] != NEED_NOT;
        ready += !waits;
    }
    return ready;
}

static uint32_t nodes_for(const struct run_on *r, uint32_t tasks)
{
    uint32_t cores = r->cores ? r->cores : 1;
    uint32_t nodes = tasks / cores + (tasks % cores != 0);
    nodes = nodes < 1 ? 1 : nodes;
    return nodes < r->nodes ? nodes : r->nodes;
}

/* Only for tasks that are ready or about to be; agents without work leave by themselves. */
static void on_load(void *context, const struct client_load *load)
{
    struct run_on *r = context;
    if (load->ending)
        return;
    if (!r->cores && load->agents)
        r->cores = load->cores / load->agents;
    uint64_t tasks = (uint64_t)load->ready + load->running + load->soon;
    if (r->cores && tasks)
        fleet_want(r->fleet, nodes_for(r, tasks < UINT32_MAX ? (uint32_t)tasks : UINT32_MAX));
}

static bool own_key(struct run_on *r, struct error *err)
{
    const char *key = arguments_value(r->session->a, "key");
    if (!key) {
        seal_key_random(&r->place.key);
        return true;
    }
    r->c.key_file = strcmp(key, "-") != 0 ? key : NULL;
    return key_file_get(key, &r->place.key, err);
}

static bool start_agents(struct run_on *r, const char *where, struct error *err)
{
    struct session *s = r->session;
    char program[4096], folder[4096];
    struct strbuf state = {0};
    int64_t nodes;
    bool slurm = strcmp(where, "slurm") == 0;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    if (!arguments_integer(s->a, "nodes", 1, 1, 1000000, &nodes, err) || !own_key(r, err))
        return false;
    strbuf_printf(&state, "%s/agents-%d", realpath(s->state, folder) ? folder : s->state,
                  (int)getpid());
    r->state = strbuf_steal(&state);
    r->cores = arguments_value(s->a, "jobs") ? s->cores : 0;
    uint32_t here;
    if (!r->cores && sscanf(where, "local:%u", &here) == 1 && here) /* they share this machine */
        r->cores = s->cores > here ? s->cores / here : 1;
    else
        here = 0;
    r->fleet =
        fleet_new(&(struct fleet_config){.target = where,
                                         .key = r->place.key,
                                         .store = arguments_value(s->a, "store"),
                                         .state = r->state,
                                         .program = program,
                                         .cores = r->cores,
                                         .memory = arguments_value(s->a, "memory") ? s->memory
                                                   : here ? s->memory / here
                                                          : 0,
                                         .linger = slurm ? LINGER_SLURM : LINGER,
                                         .say = say_launch,
                                         .context = s},
                  err);
    if (!r->fleet)
        return false;
    r->nodes = slurm ? (uint32_t)nodes : fleet_most(r->fleet);
    fleet_want(r->fleet, slurm ? r->cores ? nodes_for(r, ready_now(s)) : 1 : r->nodes);
    if (slurm) {
        r->c.load = on_load;
        r->c.load_context = r;
    }
    cluster_signals_fleet(r->fleet);
    bool started = fleet_wait(r->fleet, err);
    cluster_signals_release();
    if (!started)
        return false;
    if (!fleet_store(r->fleet)[0])
        return error_set(err, ERROR_FAILED, "no agent has said where its store is");
    return cluster_address(fleet_store(r->fleet), &r->place.key, &r->place.address, err);
}

/* ---- from beginning to end ---- */

static bool connect_to(struct run_on *r, struct error *err)
{
    struct session *s = r->session;
    r->c.client = cluster_client(s->a, &r->place, r->fleet ? fleet_loop(r->fleet) : NULL, err);
    if (!r->c.client)
        return false;
    if (r->fleet)
        client_wait_agents(r->c.client, fleet_ready(r->fleet), JOINING);
    uint32_t cores = 0;
    double memory = 0;
    size_t n;
    const struct member *m = client_members(r->c.client, &n);
    for (size_t i = 0; i < n; i++) {
        if (!client_lives(r->c.client, &m[i]))
            continue;
        cores += m[i].cores;
        memory += m[i].memory;
    }
    if (!cores)
        return error_set(err, ERROR_FAILED,
                         "no agent is up at %s; `weft agent --store %s` on each machine starts one",
                         r->place.address.text, r->place.address.text);
    s->cores = cores;
    s->memory = memory;
    return true;
}

/* Our agents have nothing more to do. */
static void dismiss_agents(struct run_on *r, bool now)
{
    uint32_t n = 0;
    const uint32_t *nodes = fleet_nodes(r->fleet, &n);
    bool own_store = !arguments_value(r->session->a, "store");
    if (r->c.client &&
        n) { /* at a store of their own they have no other work, and no data to save */
        cluster_signals_client(r->c.client);
        client_leave(r->c.client, own_store ? NULL : nodes, n, now || own_store, LEAVING);
        cluster_signals_release();
    }
    client_close(r->c.client);
    r->c.client = NULL;
    fleet_end(r->fleet, 10);
    r->fleet = NULL;
    tree_remove(r->state);
}

int run_on(struct session *s, const char *where)
{
    struct error err = {0};
    struct run_on r = {.session = s};
    bool own = strcmp(where, "cluster") != 0;
    char *standard = NULL;
    int status;
    signal(SIGPIPE, SIG_IGN);
    if (!s->needs.run)
        return session_run(s); /* nothing to do, and nobody to do it */
    r.c = (struct cluster_session){.session = s,
                                   .place = &r.place,
                                   .target = own ? where : NULL,
                                   .interrupt = CLIENT_INTERRUPT_STOPS};
    bool good = nobody_else_runs(&r, &err) &&
                (own ? start_agents(&r, where, &err) : cluster_place(s->a, 0, &r.place, &err)) &&
                connect_to(&r, &err);
    if (good) {
        if (!own) {
            const char *key = arguments_value(s->a, "key");
            standard = key ? NULL : key_file_standard();
            r.c.key_file = key && strcmp(key, "-") != 0 ? key : standard;
        }
        s->execute = cluster_execute;
        s->where = &r.c;
        status = session_run(s);
    } else {
        status = cli_fail(&err);
    }
    if (s->detached) {
        cluster_say_detached(&r.c);
        client_close(r.c.client);
        fleet_abandon(r.fleet);
    } else if (r.fleet) {
        dismiss_agents(&r, r.c.stopped || !good);
    } else {
        client_close(r.c.client);
    }
    cluster_place_free(&r.place);
    free(r.state);
    free(standard);
    return status;
}
