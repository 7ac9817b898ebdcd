/* Own agents. How many: on this machine and over ssh as many as the target names, from the start;
 * under Slurm as many nodes as there are tasks ready, running or about to be ready, divided by the
 * cores of a node, at most --nodes. Nodes are only ever asked for: agents without work leave by
 * themselves (their `linger`), which gives the node back. */
#include "session/agents.h"

#include "base/mem.h"
#include "base/tree.h"
#include "session/key_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds without work after which an agent leaves that nobody tells to (its client was killed, and
 * nobody attached): they do not stay for ever. Under Slurm idle nodes cost others: soon. */
static const double LINGER = 3600, LINGER_SLURM = 120;
/* Seconds in which a ready agent has joined the board, in which one that was told to leave has left
 * it, and in which Slurm's jobs have ended: each takes a second or two when all is well. */
static const double JOINING = 30, LEAVING = 30, ENDING = 10;

static void agents_launch_says(void *context, const char *line)
{
    const struct remote *r = context;
    remark(&r->session->o.remarks, REMARK_INFO, "%s", line);
}

/* Tasks that may start at once. */
static uint32_t agents_ready_tasks(const struct session *s)
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

static uint32_t agents_nodes_for(const struct remote *r, uint32_t tasks)
{
    uint32_t cores = r->node_cores ? r->node_cores : 1;
    uint32_t nodes = tasks / cores + (tasks % cores != 0);
    nodes = nodes < 1 ? 1 : nodes;
    return nodes < r->nodes ? nodes : r->nodes;
}

void agents_on_load(void *context, const struct client_load *load)
{
    struct remote *r = context;
    if (load->ending || !r->fleet || strcmp(r->o.on, "slurm") != 0)
        return;
    if (!r->node_cores && load->agents)
        r->node_cores = load->cores / load->agents;
    uint64_t tasks = (uint64_t)load->ready + load->running + load->soon;
    if (r->node_cores && tasks)
        fleet_want(r->fleet,
                   agents_nodes_for(r, tasks < UINT32_MAX ? (uint32_t)tasks : UINT32_MAX));
}

static bool agents_key(struct remote *r, struct error *err)
{
    const char *key = r->o.place.key;
    if (!key) {
        seal_key_random(&r->place.key);
        return true;
    }
    r->key_file = strcmp(key, "-") != 0 ? mem_copy_string(key) : NULL;
    return key_file_get(key, &r->place.key, err);
}

/* Cores and memory of an agent: as the user says; on this machine, which they share, an equal part;
 * else whatever their machine has (0). */
static double agents_shape(struct remote *r)
{
    const struct session *s = r->session;
    uint32_t here = 0;
    r->node_cores = s->o.cores;
    if (!r->node_cores && sscanf(r->o.on, "local:%u", &here) == 1 && here)
        r->node_cores = s->cores > here ? s->cores / here : 1;
    else
        here = 0;
    return s->o.memory > 0 ? s->memory : here ? s->memory / here : 0;
}

bool agents_start(struct remote *r, struct error *err)
{
    const struct session *s = r->session;
    char folder[PATH_MAX];
    struct strbuf state = {0};
    bool slurm = strcmp(r->o.on, "slurm") == 0;
    if (!agents_key(r, err))
        return false;
    strbuf_printf(&state, "%s/agents-%d", realpath(s->ws.state, folder) ? folder : s->ws.state,
                  (int)getpid());
    r->fleet_state = strbuf_steal(&state);
    double memory = agents_shape(r);
    r->fleet = fleet_new(&(struct fleet_config){.target = r->o.on,
                                                .key = r->place.key,
                                                .store = r->o.place.store,
                                                .state = r->fleet_state,
                                                .program = r->o.program ? r->o.program : "weft",
                                                .cores = r->node_cores,
                                                .memory = memory,
                                                .linger = slurm ? LINGER_SLURM : LINGER,
                                                .say = agents_launch_says,
                                                .context = r},
                         err);
    if (!r->fleet)
        return false;
    atomic_store(&r->stop_fleet, r->fleet);
    r->nodes = slurm ? (r->o.nodes ? r->o.nodes : 1) : fleet_most(r->fleet);
    uint32_t first = !slurm          ? r->nodes
                     : r->node_cores ? agents_nodes_for(r, agents_ready_tasks(s))
                                     : 1; /* its size tells how many more are of use */
    fleet_want(r->fleet, first);
    bool started = fleet_wait(r->fleet, err);
    atomic_store(&r->stop_fleet, NULL);
    if (!started)
        return false;
    if (!fleet_store(r->fleet)[0])
        return error_set(err, ERROR_FAILED, "no agent has said where its store is");
    return place_address(fleet_store(r->fleet), &r->place.key, &r->place.address, err);
}

void agents_wait_joined(struct remote *r)
{
    client_wait_agents(r->client, fleet_ready(r->fleet), JOINING);
}

void agents_release(struct remote *r)
{
    uint32_t n = 0;
    const uint32_t *nodes = fleet_nodes(r->fleet, &n);
    bool own_store = !r->o.place.store;
    bool failed = r->session->state != SESSION_ENDED; /* it never began */
    if (r->client && n) /* at a store of their own they have no other work, and no data to save */
        client_leave(r->client, own_store ? NULL : nodes, n, r->stopped || failed || own_store,
                     LEAVING);
    atomic_store(&r->stop_client, NULL);
    client_close(r->client);
    r->client = NULL;
    fleet_end(r->fleet, ENDING);
    r->fleet = NULL;
    tree_remove(r->fleet_state);
}
